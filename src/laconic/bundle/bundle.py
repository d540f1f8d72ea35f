"""A fitted model, and the vectoriser that feeds it, in memory and on disk."""

from __future__ import annotations

import inspect
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from laconic.bundle.manifest import BundleError, Json, quoted
from laconic.bundle.reading import StoredDirectory, read_directory
from laconic.bundle.values import decode, encode
from laconic.bundle.writing import DirectoryWriter, replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from laconic.bundle.values import Array
    from laconic.corpus import Vectorizer
    from laconic.models.base import TopicModel


@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A fitted model and, if it was fitted on texts, the vectoriser that turns texts into its input.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    vectorizer : Vectorizer or None, default=None
        Whose vocabulary names the model's terms.

    Raises
    ------
    ValueError
        If the vocabulary does not fit the model.

    See Also
    --------
    load : Read a bundle that was saved.

    Examples
    --------
    >>> import tempfile
    >>> from laconic import RLSI, Bundle, load
    >>> from laconic.corpus import Vectorizer
    >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]
    >>> vectorizer = Vectorizer()
    >>> X = vectorizer.weigh(vectorizer.fit_count(texts))
    >>> model = RLSI(n_components=2, topic_norm="l0", terms_per_topic=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as path:
    ...     Bundle(model, vectorizer).save(path)
    ...     loaded = load(path)
    >>> [sorted(term for term, weight in topic) for topic in loaded.topics()]
    [['moon', 'sun'], ['pepper', 'salt']]
    >>> loaded.transform(["the sun", "salted"]).shape
    (2, 2)
    """

    model: TopicModel
    vectorizer: Vectorizer | None = None

    def __post_init__(self) -> None:
        self._check_sizes()

    def __repr__(self) -> str:
        vocabulary = self.vocabulary
        terms = "no vectoriser" if vocabulary is None else f"vectoriser of {len(vocabulary):,} terms"
        return f"<Bundle: {self.model!r}, {terms}>"

    @property
    def vocabulary(self) -> Array | None:
        """The terms in the order of the model's columns, or None without a vectoriser."""
        return None if self.vectorizer is None else self.vectorizer.vocabulary

    def topics(self, n_terms: int = 10) -> list[list[tuple[str, float]]]:
        """List the heaviest terms of every topic.

        Parameters
        ----------
        n_terms : int, default=10
            At most that many terms of a topic.

        Returns
        -------
        list of list of (str, float)
            Terms and weights, topic by topic; without a vocabulary, what the model itself calls its columns
            (the feature names it was fitted with, or else their numbers).
        """
        listed: list[list[tuple[str, float]]] = self.model.topics(self.vocabulary, n_terms)
        return listed

    def transform(self, texts: Iterable[str]) -> Any:
        """Describe texts by the model's topics.

        Parameters
        ----------
        texts : iterable of str
            New documents.

        Returns
        -------
        array of shape (n_texts, n_topics)
            What the model's ``transform`` returns, one row for every text.
        """
        if self.vectorizer is None:
            raise ValueError(
                "this bundle has no vectoriser, so it cannot read texts; pass a matrix of documents and "
                "terms to bundle.model.transform, or make the bundle with Bundle(model, vectorizer)"
            )
        return self.model.transform(self.vectorizer.transform(texts))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save as a directory; a crash at any time leaves what was there before, or the new model.

        Parameters
        ----------
        path : path-like
            A new or empty directory, or that of a saved model, which is replaced. Files that are not part of
            a model are left alone.

        Raises
        ------
        BundleError
            If the directory holds something else, or a value cannot be saved.
        OSError
            If the disk is full, or the like; what was there before is then still valid.

        Notes
        -----
        Saving twice gives the same bytes. A parameter that is a random generator is saved as None.
        """
        name = type(self.model).__name__
        if _models().get(name) is not type(self.model):
            raise BundleError(
                f"{path}: a {type(self.model).__module__}.{name} could not be loaded, so it is not saved; "
                f"laconic's own models are {', '.join(_models())}"
            )
        self._check_sizes()
        state = self.model._fitted_state()
        parameters = _without_generators(self.model.get_params(deep=False))
        with replacing(path) as writer:
            writer.commit(
                {
                    "class": name,
                    "parameters": {k: encode(v, f"parameters.{k}", writer) for k, v in parameters.items()},
                    "state": {k: encode(v, k, writer) for k, v in state.items()},
                    "vectorizer": _encode_vectorizer(self.vectorizer, writer),
                    "versions": _versions(),
                }
            )

    def _check_sizes(self) -> None:
        vocabulary, n_terms = self.vocabulary, getattr(self.model, "n_features_in_", None)
        if vocabulary is not None and n_terms is not None and len(vocabulary) != n_terms:
            raise ValueError(
                f"the vocabulary has {len(vocabulary)} terms, but the model was fitted on {n_terms}; "
                "give the vectoriser that made the model's input"
            )


def load(path: str | os.PathLike[str]) -> Bundle:
    """Read a saved model; everything is checked, and nothing in the directory is executed.

    Parameters
    ----------
    path : path-like
        The directory that was given to ``save``.

    Returns
    -------
    Bundle
        Its ``model`` gives the same results as the one that was saved, bit for bit.

    Raises
    ------
    BundleError
        If the directory is not a saved model, or is damaged, or from a newer version; the message names the
        file and says what is wrong with it.

    Examples
    --------
    >>> from laconic.bundle import load
    >>> load("no-model")
    Traceback (most recent call last):
    ...
    laconic.bundle.manifest.BundleError: no-model: does not exist; give the directory a model was saved to
    """
    stored = read_directory(path)
    model = _restored_model(stored)
    vectorizer = _restored_vectorizer(stored)
    try:
        return Bundle(model, vectorizer)
    except ValueError as error:
        raise stored.error(str(error)) from error


def _models() -> Mapping[str, type[Any]]:
    # Models import this module to save themselves.
    from laconic.models import MODELS

    return MODELS


def _versions() -> dict[str, Json]:
    from laconic import __version__

    return {
        "laconic": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "scipy": scipy.__version__,
    }


def _without_generators(parameters: Mapping[str, object]) -> dict[str, object]:
    """Replace random generators by None: their state is not that of the start of the fit any more."""
    generators = (np.random.RandomState, np.random.Generator)
    return {name: None if isinstance(value, generators) else value for name, value in parameters.items()}


def _encode_vectorizer(vectorizer: Vectorizer | None, writer: DirectoryWriter) -> Json:
    if vectorizer is None:
        return None
    terms = [str(term) for term in vectorizer.vocabulary]
    for term in terms:
        if "\n" in term:
            raise BundleError(f"{writer.path}: the term {quoted(term)} has a line break, so it is not saved")
    lines = "".join(f"{term}\n" for term in terms)
    settings = vectorizer.to_dict()
    return {
        "settings": {k: encode(v, f"vectorizer.{k}", writer) for k, v in settings.items()},
        "vocabulary": writer.add("vocabulary", "txt", lambda sink: sink.write(lines.encode("utf-8"))),
        "idf": encode(vectorizer.idf, "vectorizer.idf", writer),
    }


def _object(stored: StoredDirectory, key: str) -> dict[str, Json]:
    value = stored.document.get(key)
    if not isinstance(value, dict):
        raise stored.error(f"has no valid {key!r}")
    return value


def _restored_model(stored: StoredDirectory) -> TopicModel:
    name, writer = stored.document.get("class"), _object(stored, "versions").get("laconic")
    if not isinstance(name, str) or name not in _models():
        from laconic import __version__

        raise BundleError(
            f"{stored.path}: holds a model of class {quoted(name)}, which laconic {__version__} does not "
            f"know (it knows {', '.join(_models())}); use the laconic that wrote it, {quoted(writer)}"
        )
    parameters = {k: decode(v, f"parameters.{k}", stored) for k, v in _object(stored, "parameters").items()}
    state = {k: decode(v, f"state.{k}", stored) for k, v in _object(stored, "state").items()}
    unknown = sorted(parameters.keys() - inspect.signature(_models()[name]).parameters.keys())
    if unknown:
        raise stored.error(f"has the parameter {quoted(unknown[0])}, which {name} does not have")
    try:
        model: TopicModel = _models()[name](**parameters)
        model._restore(state)
    except Exception as error:
        # Whatever a state that is not a model's makes go wrong, the file is at fault.
        raise stored.error(f"does not describe a {name} ({_reason(error)})") from error
    return model


def _restored_vectorizer(stored: StoredDirectory) -> Vectorizer | None:
    if "vectorizer" in stored.document and stored.document["vectorizer"] is None:
        return None
    from laconic.corpus import Vectorizer

    described = _object(stored, "vectorizer")
    if described.keys() != {"settings", "vocabulary", "idf"} or not isinstance(described["settings"], dict):
        raise stored.error("has no valid 'vectorizer'")
    settings = {k: decode(v, f"vectorizer.{k}", stored) for k, v in described["settings"].items()}
    vocabulary = _read_terms(described["vocabulary"], stored)
    idf = decode(described["idf"], "vectorizer.idf", stored)
    try:
        return Vectorizer.from_dict(settings, vocabulary, idf)
    except Exception as error:
        # As for the model: the file is at fault.
        raise stored.error(f"does not describe a vectoriser ({_reason(error)})") from error


def _read_terms(file: Json, stored: StoredDirectory) -> list[str]:
    content = stored.take(file)
    if not str(file).endswith(".txt"):
        raise stored.error(f"refers to {quoted(file)} as a vocabulary")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise stored.error("is not UTF-8", file) from error
    if text and not text.endswith("\n"):
        raise stored.error("does not end in a line break", file)
    return text.split("\n")[:-1]


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
