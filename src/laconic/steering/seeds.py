"""Seeds: topics that are wanted, by a few words of each; read from a file, and looked up in a vocabulary."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from laconic.errors import CorpusError, Parameter, ParameterError
from laconic.steering.anchors import Anchors
from laconic.steering.contexts import context_target

if TYPE_CHECKING:
    from laconic.corpus import Corpus, Vectorizer

LARGEST_FILE = 10_000_000
"""Bytes of a file of seeds: it is written by hand."""
STRENGTH = 0.2
"""How strongly seeded topics are held, unless somebody says otherwise; see the page on steering."""
_OF_A_SEED = ("words", "avoid", "strength", "class")
_OF_ALL = ("topics", "avoid", "strength")


@dataclass(frozen=True)
class Seed:
    """A topic that is wanted.

    Parameters
    ----------
    name : str
        What it is called.
    words : tuple of str, or mapping of str to tuple of str
        Some of its words, or phrases; for several modalities also by modality.
    avoid : tuple of str
        Words that it may not have.
    strength : float, optional
        How strongly it is held.
    owner : str, optional
        Whose topic it is, for a model of classes; by default it is shared by all.
    """

    name: str
    words: tuple[str, ...] | Mapping[str, tuple[str, ...]]
    avoid: tuple[str, ...] = ()
    strength: float | None = None
    owner: str | None = None

    def words_of(self, modality: str) -> tuple[str, ...]:
        """Its words in a modality."""
        return self.words.get(modality, ()) if isinstance(self.words, Mapping) else self.words


@dataclass(frozen=True)
class Seeds:
    """Topics that are wanted, in the order in which they come.

    Parameters
    ----------
    topics : tuple of Seed
    avoid : tuple of str
        Words that no topic may have.
    strength : float, default=0.2
        How strongly topics are held, unless a seed says otherwise.
    """

    topics: tuple[Seed, ...]
    avoid: tuple[str, ...] = ()
    strength: float = field(default=STRENGTH)

    @classmethod
    def of(cls, given: Any, strength: float | None = None) -> Seeds:
        """Seeds as they are given: these, a mapping, or the path of a file.

        Parameters
        ----------
        given : Seeds, mapping or path
            A mapping of names to lists of words, or to mappings with "words", "avoid", "strength" and
            "class"; or one with "topics" (such a mapping) and, for all of them, "avoid" and "strength". A
            file has the same as YAML or JSON.
        strength : float, optional
            In place of that of all.

        Raises
        ------
        ParameterError
            If it is nothing of the kind; the message says where.
        """
        if isinstance(given, cls):
            found = given
        elif isinstance(given, str | os.PathLike):
            found = cls._read(_load(Path(given)), f" of {os.fspath(given)}")
        else:
            found = cls._read(given, "")
        if strength is None:
            return found
        return cls(found.topics, found.avoid, _strength(strength, "all topics", ""))

    @classmethod
    def _read(cls, given: Any, where: str) -> Seeds:
        if not isinstance(given, Mapping) or not given:
            raise ParameterError(
                Parameter("seeds"),
                f"{where} must be a mapping of names to lists of words, such as "
                "{'tennis': ['tennis', 'wimbledon']}",
            )
        whole = dict(given)
        # a topic may be called "topics": then its value is a list of words
        structured = isinstance(whole.get("topics"), Mapping) and set(whole) <= set(_OF_ALL)
        topics = whole["topics"] if structured else whole
        found = tuple(_seed(name, one, where) for name, one in topics.items())
        if not structured:
            return cls(found)
        strength = _strength(whole.get("strength", STRENGTH), "all topics", where)
        return cls(found, _words(whole.get("avoid", ()), "all topics", where), strength)


def _load(path: Path) -> Any:
    """What a file of seeds says; nothing in it is executed."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ParameterError(
                f"{path} is larger than {LARGEST_FILE // 1_000_000} MB: is it a file of ",
                Parameter("seeds"),
                "?",
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError("cannot read the ", Parameter("seeds"), f" of {path}: {error}") from error
    if path.suffix.lower() == ".json":
        try:
            return json.loads(text)
        except ValueError as error:
            raise ParameterError(f"{path} is not JSON: {error}") from error
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ParameterError(f"{path} is not YAML: {error}") from error


def _seed(name: Any, given: Any, where: str) -> Seed:
    # YAML reads some names as numbers or truth values
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(
            Parameter("seeds"), f"{where} have a topic called {name!r}: names are texts, in quotes if need be"
        )
    if not isinstance(given, Mapping):
        return Seed(name, _words(given, repr(name), where))
    strange = [key for key in given if key not in _OF_A_SEED]
    if strange or "words" not in given:
        what = f"has {strange[0]!r}" if strange else "has no words"
        raise ParameterError(
            Parameter("seeds"), f"{where}: {name!r} {what}; a topic has {', '.join(_OF_A_SEED)}"
        )
    words = given["words"]
    if isinstance(words, Mapping):
        words = {str(key): _words(value, repr(name), where) for key, value in words.items()}
    else:
        words = _words(words, repr(name), where)
    strength = given.get("strength")
    owner = given.get("class")
    return Seed(
        name,
        words,
        _words(given.get("avoid", ()), repr(name), where),
        None if strength is None else _strength(strength, repr(name), where),
        None if owner is None else str(owner),
    )


def _words(given: Any, of: str, where: str) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Collection) or isinstance(given, Mapping | bytes):
        raise ParameterError(Parameter("seeds"), f"{where}: the words of {of} must be a list, not {given!r}")
    for word in given:
        if not isinstance(word, str) or not word.strip():
            raise ParameterError(
                Parameter("seeds"),
                f"{where}: {of} has the word {word!r}, which is not text: put it in quotes",
            )
    return tuple(given)


def _strength(given: Any, of: str, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= float(given) < float("inf"):
        raise ParameterError(
            Parameter("seeds"), f"{where}: the strength of {of} must be a number from 0 on, not {given!r}"
        )
    return float(given)


class Sown(NamedTuple):
    """Anchors for a model, and what the topics are called that they are for."""

    anchors: Any
    """`Anchors`, by modality for a model of several."""
    names: dict[Any, str]
    """By what anchors call topics."""


def sow(seeds: Seeds, model: Any, corpora: Mapping[str, Corpus]) -> Sown:
    """Look the words of seeds up, and hold the first topics of a model there, and at the words beside them.

    Parameters
    ----------
    seeds : Seeds
    model : TopicModel
        Not fitted yet.
    corpora : mapping of str to Corpus
        The documents by modality; ``""`` if they have just one. Words are counted as those of documents are:
        in lower case, by their stems, as n-grams.

    Returns
    -------
    Sown

    Warns
    -----
    UserWarning
        If there are words that the vocabulary lacks.

    Raises
    ------
    ParameterError
        If a topic is left without words, there are more seeds than topics, or the model takes none.
    """
    _check_model(seeds, model)
    places = _places(seeds, model)
    missing: list[str] = []
    by_modality = {}
    for modality, corpus in corpora.items():
        vectorizer = corpus.vectorizer
        targets: dict[Any, Any] = {}
        strengths: dict[Any, float] = {}
        forbidden: dict[Any, list[int]] = {}
        for seed, place in zip(seeds.topics, places, strict=True):
            columns = look_up(seed.words_of(modality), vectorizer, missing)
            barred = look_up(seed.avoid, vectorizer, [])
            both = sorted(set(columns) & set(barred))
            if both:
                word = vectorizer.vocabulary[both[0]]
                raise ParameterError(
                    Parameter("seeds"),
                    f": {seed.name!r} has {word!r} both among its words and among those to avoid: remove one",
                )
            if columns:
                targets[place] = _target(model, corpus, columns, seed.owner)
                strengths[place] = seeds.strength if seed.strength is None else seed.strength
            if barred:
                forbidden[place] = barred
        nobody = look_up(seeds.avoid, vectorizer, [])
        if nobody:
            forbidden[None] = nobody
        by_modality[modality] = Anchors(targets, strengths, forbidden=forbidden)
    _check_found(seeds, places, by_modality, missing)
    names = {place: seed.name for seed, place in zip(seeds.topics, places, strict=True)}
    return Sown(by_modality if model.traits.modalities else by_modality[""], names)


def _target(model: Any, corpus: Corpus, columns: list[int], owner: str | None) -> Any:
    """Where the topic of a seed is held: its words, and those beside them in documents of its owner."""
    members = None
    if owner is not None and corpus.labels is not None:
        members = np.asarray([str(label) == owner for label in corpus.labels])
    n_classes = len(set(corpus.labels)) if model.traits.classes and corpus.labels is not None else 1
    n_shared, n_own = model._topics_by_class(n_classes)
    energy = float(np.square(corpus.X.data, dtype=np.float64).sum())
    # of about the length that topics get which are scaled against their weights
    scale = (energy / max(1, n_shared + sum(n_own))) ** 0.25
    found = context_target(corpus.X, columns, members=members, scale=scale)
    return columns if found is None else found


def _check_model(seeds: Seeds, model: Any) -> None:
    parameters = model.get_params(deep=False)
    if "anchors" not in parameters:
        raise ParameterError(
            f"{type(model).__name__} takes no ",
            Parameter("seeds"),
            ": its topics are rotated together, so none can be held in place. Choose another model, such as ",
            Parameter("model", "rlsi"),
        )
    if parameters["anchors"] is not None:
        raise ParameterError(Parameter("seeds"), " and ", Parameter("anchors"), " say the same: give one")
    owned = next((seed for seed in seeds.topics if seed.owner is not None), None)
    if owned is not None and not model.traits.classes:
        raise ParameterError(
            Parameter("seeds"), f": {owned.name!r} is of a class, and {type(model).__name__} has none"
        )


def _places(seeds: Seeds, model: Any) -> list[Any]:
    """What anchors call the topic of every seed: the first ones, of its owner."""
    if not model.traits.classes:
        places: list[Any] = list(range(len(seeds.topics)))
        _check_room(len(places), model.n_components, "", "n_components")
        return places
    places = []
    taken: dict[str, int] = {}
    for seed in seeds.topics:
        owner = "shared" if seed.owner is None else seed.owner
        number = taken.get(owner, 0)
        places.append((owner, number))
        taken[owner] = number + 1
    for owner, count in taken.items():
        room = model.n_shared if owner == "shared" else model.n_per_class
        if isinstance(room, Mapping):
            room = room.get(owner, 0)
        _check_room(count, room, f" of {owner}", "n_shared" if owner == "shared" else "n_per_class")
    return places


def _check_room(count: int, room: int, of: str, name: str) -> None:
    if count > room:
        raise ParameterError(
            Parameter("seeds"), f" are {count} topics{of}, but there are {room}: raise ", Parameter(name)
        )


def look_up(words: Collection[str], vectorizer: Vectorizer, missing: list[str]) -> list[int]:
    """The columns of some words and phrases; those that the vocabulary lacks are added to `missing`."""
    found: set[int] = set()
    if not words:
        return []
    counts = vectorizer.count(list(words))
    for n, word in enumerate(words):
        columns = counts.indices[counts.indptr[n] : counts.indptr[n + 1]].tolist()
        # of a phrase, the longest n-grams: "davis cup" is not "davis"
        lengths = [vectorizer.vocabulary[column].count(" ") for column in columns]
        found.update(c for c, length in zip(columns, lengths, strict=True) if length == max(lengths))
        if not columns:
            missing.append(word)
    return sorted(found)


def _check_found(
    seeds: Seeds, places: list[Any], by_modality: Mapping[str, Anchors], missing: list[str]
) -> None:
    """Refuse seeds without words, and tell of words that are not there."""
    told = ", ".join(map(repr, dict.fromkeys(missing)))
    for seed, place in zip(seeds.topics, places, strict=True):
        if not any(place in anchors.targets for anchors in by_modality.values()):
            raise CorpusError(
                Parameter("seeds"),
                f": no word of {seed.name!r} is in the vocabulary of these documents: give others, or lower ",
                Parameter("min_df"),
            )
    if missing:
        warnings.warn(f"seed words that are not in the vocabulary are ignored: {told}", stacklevel=2)
