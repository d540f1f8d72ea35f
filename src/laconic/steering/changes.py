"""Changes of a model that is there: topics are merged, split, seeded, dropped, frozen or kept from words.

The other topics are held where they are, and the documents find their place anew: a fit that starts from the
topics there were, with `Anchors`. Numbers of topics never move: a topic that is merged into another or
dropped stays as one without words, and a new one comes after all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from laconic.bundle.bundle import Bundle
from laconic.bundle.fitting import bundle_of
from laconic.errors import InputError
from laconic.steering.anchors import STRENGTH, Anchors

if TYPE_CHECKING:
    from laconic.losses.loop import Callback
    from laconic.models.base import TopicModel

KINDS = ("rename", "merge", "split", "seed", "drop", "forbid", "freeze")
HELD = 1.0
"""How strongly topics are held that are not to change: as much as the data of an average topic weigh."""

SEEDED = max(STRENGTH, 0.2)
"""How strongly a topic is held at the words that somebody gives it."""

_DOCUMENTS = 2_000
"""So many of a topic's documents say how it is split."""


@dataclass(frozen=True)
class Change:
    """What somebody wants changed.

    Attributes
    ----------
    kind : {"rename", "merge", "split", "seed", "drop", "forbid", "freeze"}
    topics : tuple of int
        Which topics it is about: two to merge (the first stays), one to rename, split, drop or freeze; those
        that words are forbidden to, or none for all.
    words : tuple of str
        Of a seed, or forbidden.
    name : str
        Of a topic that is renamed or seeded.
    """

    kind: str
    topics: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    name: str = ""

    @property
    def refits(self) -> bool:
        """Whether the model has to be fitted again."""
        return self.kind != "rename"

    def __str__(self) -> str:
        topics, words = " and ".join(map(str, self.topics)), ", ".join(self.words)
        said = {
            "rename": f"topic {topics} is called {self.name!r}"
            if self.name
            else f"topic {topics} has no name",
            "merge": f"topics {topics} merged",
            "split": f"topic {topics} split",
            "seed": f"a new topic {self.name!r}" if self.name else "a new topic",
            "drop": f"topic {topics} dropped",
            "forbid": f"words forbidden to {f'topic {topics}' if topics else 'all topics'}",
            "freeze": f"topic {topics} frozen",
        }[self.kind]
        return f"{said}: {words}" if words else said


def changed(bundle: Bundle, change: Change, *, callback: Callback | None = None) -> Bundle:
    """Make another bundle, in which something is changed; this one stays what it is.

    Parameters
    ----------
    bundle : Bundle
        With documents, unless a topic is only renamed.
    change : Change
    callback : callable, optional
        As of the model's ``fit``.

    Returns
    -------
    Bundle

    Raises
    ------
    InputError
        If that cannot be done to this model; the message says why.
    """
    _check(bundle, change)
    if change.kind == "rename":
        return _copied(bundle, bundle.model).rename(change.topics[0], change.name or None)
    problem = _Problem(bundle, change)
    model = problem.fitted(callback)
    assert bundle.documents is not None
    found = bundle_of(model, bundle.documents.corpora)
    found.search_settings = bundle.search_settings
    for topic, name in enumerate(problem.names):
        if name is not None:
            found.rename(topic, name)
    return found


def _copied(bundle: Bundle, model: TopicModel) -> Bundle:
    copied = Bundle(
        model,
        bundle.vectorizer,
        vectorizers=bundle.vectorizers or None,
        documents=bundle.documents,
        search_settings=bundle.search_settings,
    )
    copied.notes = bundle.notes
    return copied


def _check(bundle: Bundle, change: Change) -> None:
    if change.kind not in KINDS:
        raise InputError(f"there is no change {change.kind!r}: there are {', '.join(KINDS)}")
    wanted = {"rename": 1, "merge": 2, "split": 1, "drop": 1, "freeze": 1, "seed": 0}.get(change.kind)
    if wanted is not None and len(set(change.topics)) != wanted:
        raise InputError(f"to {change.kind}, name {wanted or 'no'} topic{'s' if wanted != 1 else ''}")
    sizes = bundle.model.topic_sizes_
    for topic in change.topics:
        if not 0 <= topic < len(sizes):
            raise InputError(f"there is no topic {topic}: they are numbered from 0 to {len(sizes) - 1}")
        if change.kind != "rename" and not sizes[topic]:
            raise InputError(f"topic {topic} has no words")
    if not change.refits:
        return
    model = bundle.model
    if "anchors" not in model.get_params(deep=False):
        raise InputError(f"topics of {type(model).__name__} cannot be held, so only names can be changed")
    if model.traits.modalities or model.traits.links:
        raise InputError("models of several modalities or of links cannot be changed yet, only their names")
    if model.traits.classes and change.kind not in ("forbid", "freeze"):
        raise InputError(
            "topics of classes can be renamed, frozen and kept from words, but not yet " + change.kind
        )
    if bundle.documents is None:
        raise InputError("to fit again, the model needs its documents: keep them when you fit")
    if change.kind in ("seed", "forbid") and not change.words:
        raise InputError("name some words")
    if change.kind == "split" and sizes[change.topics[0]] < 2:
        raise InputError(f"topic {change.topics[0]} has too few words to be split")
    if change.kind in ("merge", "drop") and np.count_nonzero(sizes) < 2:
        raise InputError("the last topic stays")


class _Problem:
    """What a change asks of a fit: where topics begin, which are held and how strongly."""

    def __init__(self, bundle: Bundle, change: Change) -> None:
        self.bundle, self.change = bundle, change
        components = bundle.model.components_
        self.start = csr_array(components, dtype=np.float64)
        n_topics = self.start.shape[0]
        self.names: list[str | None] = list(bundle.names)
        self.strengths = np.full(n_topics, HELD)
        self.targets = self.start.copy()
        self.forbidden, self.frozen = _before(bundle)
        getattr(self, f"_{change.kind}")()

    def _columns(self) -> list[int]:
        vectorizer = self.bundle.vectorizer_of()
        columns = {str(term): column for column, term in enumerate(vectorizer.vocabulary)}
        found = []
        for word in self.change.words:
            read = [columns[word]] if word in columns else vectorizer.count([word]).indices.tolist()
            if not read:
                raise InputError(f"the word {word[:80]!r} is not in the vocabulary")
            found += [int(column) for column in read]
        return sorted(set(found))

    def _set(self, topic: int, row: NDArray[np.float64], strength: float) -> None:
        """Give a topic, or one after all others, a place to begin and to be held at."""
        rows = [self.start[[k]] for k in range(self.start.shape[0])]
        targets = [self.targets[[k]] for k in range(self.start.shape[0])]
        new = csr_array(row[None])
        if topic == len(rows):
            rows.append(new)
            targets.append(new)
            self.strengths = np.append(self.strengths, strength)
            self.names.append(None)
        else:
            rows[topic], targets[topic], self.strengths[topic] = new, new, strength
        self.start = csr_array(vstack(rows, format="csr"))
        self.targets = csr_array(vstack(targets, format="csr"))

    def _dense(self, topic: int) -> NDArray[np.float64]:
        row: NDArray[np.float64] = self.start[[topic]].toarray()[0]
        return row

    def _merge(self) -> None:
        first, second = self.change.topics
        documents = self.bundle.documents
        assert documents is not None
        shares = documents.shares()
        both = shares[[first, second]].sum() or 1.0
        row = (shares[first] * self._dense(first) + shares[second] * self._dense(second)) / both
        self._set(first, row, STRENGTH)
        self._empty(second)

    def _drop(self) -> None:
        self._empty(self.change.topics[0])

    def _empty(self, topic: int) -> None:
        self._set(topic, np.zeros(self.start.shape[1]), 0.0)
        self.frozen.discard(topic)
        self.names[topic] = None

    def _split(self) -> None:
        (topic,) = self.change.topics
        row = self._dense(topic)
        words = np.flatnonzero(row)
        first = _one_side(self.bundle, topic, words)
        one, other = row.copy(), row.copy()
        one[words[~first]], other[words[first]] = 0, 0
        self.frozen.discard(topic)
        self._set(topic, one, STRENGTH)
        self._set(self.start.shape[0], other, STRENGTH)

    def _seed(self) -> None:
        row = np.zeros(self.start.shape[1])
        length = float(np.sqrt(np.mean((self.start.multiply(self.start)).sum(axis=1)))) or 1.0
        columns = self._columns()
        row[columns] = length / np.sqrt(len(columns))
        self._set(self.start.shape[0], row, SEEDED)
        self.names[-1] = self.change.name or None

    def _forbid(self) -> None:
        for topic in self.change.topics or range(self.start.shape[0]):
            self.forbidden.setdefault(topic, set()).update(self._columns())
            self.strengths[topic] = STRENGTH
            if topic in self.frozen:
                raise InputError(f"topic {topic} is frozen")

    def _freeze(self) -> None:
        self.frozen.update(self.change.topics)

    def fitted(self, callback: Callback | None) -> TopicModel:
        """The model, fitted again; topics without words are not part of the fit."""
        old, documents = self.bundle.model, self.bundle.documents
        assert documents is not None
        given = old.get_params(deep=False)
        n_topics = self.start.shape[0]
        living = np.flatnonzero(np.diff(self.start.indptr))
        place = {int(topic): number for number, topic in enumerate(living)}
        if old.traits.classes:
            # topics of classes keep their places, with words or without
            living, place = np.arange(n_topics), {topic: topic for topic in range(n_topics)}
        anchors = Anchors(
            targets=self.targets[living],
            strength=self.strengths[living].tolist(),
            frozen=[place[topic] for topic in sorted(self.frozen) if topic in place],
            forbidden={
                place[topic]: sorted(columns) for topic, columns in self.forbidden.items() if topic in place
            },
        )
        start = self.start[living].toarray()
        for topic, columns in self.forbidden.items():
            if topic in place:
                start[place[topic], sorted(columns)] = 0
        sizes = {} if old.traits.classes else {"n_components": len(living)}
        model = type(old)(**{**given, **sizes, "init": start, "anchors": anchors})
        corpus = documents.corpus()
        model.fit(corpus.shards(model.wants), corpus.labels, callback=callback)
        if not old.traits.classes and len(living) < n_topics:
            model.components_ = _spread(model.components_, living, n_topics)
        # what it was asked for: the next fit begins where this one did, and names topics by their numbers
        whole = Anchors(
            targets=self.targets,
            strength=self.strengths.tolist(),
            frozen=sorted(topic for topic in self.frozen if topic in place),
            forbidden={topic: sorted(columns) for topic, columns in self.forbidden.items()},
        )
        sizes = {} if old.traits.classes else {"n_components": n_topics}
        model.set_params(init=given["init"], anchors=whole, **sizes)
        return model


def _before(bundle: Bundle) -> tuple[dict[int, set[int]], set[int]]:
    """What was forbidden and frozen before, by numbers of topics and columns."""
    model = bundle.model
    anchors = model.get_params(deep=False)["anchors"]
    if anchors is None:
        return {}, set()
    places = model._topic_places()
    n_topics = model.components_.shape[0]
    vocabulary = bundle.vocabulary
    columns = {} if vocabulary is None else {str(term): column for column, term in enumerate(vocabulary)}
    barred = anchors.forbidden if isinstance(anchors.forbidden, Mapping) else {None: anchors.forbidden}
    forbidden: dict[int, set[int]] = {}
    for topic, words in barred.items():
        found = {columns[word] if isinstance(word, str) else int(word) for word in words}
        for row in range(n_topics) if topic is None else [places[topic]]:
            if found:
                forbidden.setdefault(row, set()).update(found)
    return forbidden, {places[topic] for topic in anchors.frozen}


def _one_side(bundle: Bundle, topic: int, words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which words of a topic go together: by the main direction in which its documents differ."""
    documents = bundle.documents
    assert documents is not None
    weights = documents.weights[:, [topic]]
    column = np.asarray(weights.toarray() if issparse(weights) else weights).ravel()
    rows = np.argsort(-column, kind="stable")[:_DOCUMENTS]
    rows = np.sort(rows[column[rows] > 0])
    counts = documents.corpus().counts[rows][:, words].toarray()
    present = np.log1p(counts).astype(np.float64)
    present -= present.mean(axis=0)
    covariance = present.T @ present
    direction = np.linalg.eigh(covariance)[1][:, -1]
    side = direction > 0
    if side.all() or not side.any():
        side = np.arange(len(words)) % 2 == 0
    # the heaviest word stays with the topic's number
    row = bundle.model.components_[[topic]]
    heavy = np.abs(np.asarray(row.toarray() if issparse(row) else row)[0, words]).argmax()
    return side if side[heavy] else ~side


def _spread(components: Any, living: NDArray[np.int64], n_topics: int) -> Any:
    """Topics at their own numbers, with empty ones between them."""
    if not issparse(components):
        whole = np.zeros((n_topics, components.shape[1]), components.dtype)
        whole[living] = components
        return whole
    sizes = np.zeros(n_topics, np.int64)
    sizes[living] = np.diff(components.indptr)
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(components.indptr.dtype)
    return csr_array((components.data, components.indices, ends), shape=(n_topics, components.shape[1]))
