"""A fitted model, and the vectoriser that feeds it, in memory and on disk."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.bundle.errors import BundleError
from laconic.corpus.saving import add_vectorizer, read_vectorizer
from laconic.stored.manifest import Kind, quoted
from laconic.stored.reading import StoredDirectory, read_directory
from laconic.stored.values import decode, encode
from laconic.stored.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from laconic.corpus import Vectorizer
    from laconic.corpus.strings import Strings
    from laconic.models.base import TopicModel


MODEL = Kind(noun="model", manifest="model.json", format="laconic-bundle", version=1, error=BundleError)


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
    def vocabulary(self) -> Strings | None:
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
        with replacing(path, MODEL) as writer:
            writer.commit(
                {
                    "class": name,
                    "parameters": {k: encode(v, f"parameters.{k}", writer) for k, v in parameters.items()},
                    "state": {k: encode(v, k, writer) for k, v in state.items()},
                    "vectorizer": None
                    if self.vectorizer is None
                    else add_vectorizer(self.vectorizer, writer),
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
    laconic.bundle.errors.BundleError: no-model: does not exist; give the directory a model was saved to
    """
    stored = read_directory(path, MODEL)
    model = _restored_model(stored)
    without = "vectorizer" in stored.document and stored.document["vectorizer"] is None
    vectorizer = None if without else read_vectorizer(stored)
    try:
        return Bundle(model, vectorizer)
    except ValueError as error:
        raise stored.error(str(error)) from error


def _models() -> Mapping[str, type[Any]]:
    # Models import this module to save themselves.
    from laconic.models import MODELS

    return MODELS


def _without_generators(parameters: Mapping[str, object]) -> dict[str, object]:
    """Replace random generators by None: their state is not that of the start of the fit any more."""
    generators = (np.random.RandomState, np.random.Generator)
    return {name: None if isinstance(value, generators) else value for name, value in parameters.items()}


def _restored_model(stored: StoredDirectory) -> TopicModel:
    name, writer = stored.document.get("class"), stored.object("versions").get("laconic")
    if not isinstance(name, str) or name not in _models():
        from laconic import __version__

        raise BundleError(
            f"{stored.path}: holds a model of class {quoted(name)}, which laconic {__version__} does not "
            f"know (it knows {', '.join(_models())}); use the laconic that wrote it, {quoted(writer)}"
        )
    parameters = {k: decode(v, f"parameters.{k}", stored) for k, v in stored.object("parameters").items()}
    state = {k: decode(v, f"state.{k}", stored) for k, v in stored.object("state").items()}
    unknown = sorted(parameters.keys() - inspect.signature(_models()[name]).parameters.keys())
    if unknown:
        raise stored.error(f"has the parameter {quoted(unknown[0])}, which {name} does not have")
    try:
        model: TopicModel = _models()[name](**parameters)
        model._restore(state)
    except Exception as error:
        # Whatever a state that is not a model's makes go wrong, the file is at fault.
        raise stored.misdescribed(name, error) from error
    return model
