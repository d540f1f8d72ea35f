"""A fitted model, and the vectoriser that feeds it, in memory and on disk."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.bundle.parameters import decode_parameters, encode_parameters
from laconic.corpus.saving import add_vectorizer, read_vectorizer
from laconic.display import bundle_html
from laconic.errors import BundleError
from laconic.storage.manifest import Json, Kind, quoted
from laconic.storage.reading import StoredDirectory, read_directory
from laconic.storage.values import decode, encode
from laconic.storage.writing import DirectoryWriter, replacing

if TYPE_CHECKING:
    from laconic.corpus import Vectorizer
    from laconic.matrices import CSR
    from laconic.models.base import TopicModel
    from laconic.reading.strings import Strings

# Format 2 added priors among the parameters, and vectorisers of several modalities.
MODEL = Kind(noun="model", manifest="model.json", format="laconic-bundle", version=2, error=BundleError)


@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A fitted model and, if it was fitted on texts, the vectoriser that turns texts into its input.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    vectorizer : Vectorizer or None, default=None
        Whose vocabulary names the model's terms.
    vectorizers : mapping of str to Vectorizer, optional
        For a model of several modalities, in place of `vectorizer`: those of its modalities that are texts.

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
    vectorizers: Mapping[str, Vectorizer] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        self._check_names()
        ordered = {name: self.vectorizers[name] for name in self.modalities if name in self.vectorizers}
        object.__setattr__(self, "vectorizers", ordered)
        self._check_sizes()

    def __repr__(self) -> str:
        parts = [
            f"vectoriser of {len(vectorizer.vocabulary):,} terms{f' for {name}' if name else ''}"
            for name, vectorizer in [("", self.vectorizer), *self.vectorizers.items()]
            if vectorizer is not None
        ]
        return f"<Bundle: {self.model!r}, {', '.join(parts) or 'no vectoriser'}>"

    def _repr_html_(self) -> str:
        return bundle_html(self)

    @property
    def modalities(self) -> list[str]:
        """The names of the model's modalities; none, if its documents have just one."""
        return list(self.model.modalities)

    @property
    def vocabulary(self) -> Strings | None:
        """The terms in the order of the model's columns, or None without a vectoriser for all of them."""
        if self.vectorizers and len(self.vectorizers) == len(self.modalities):
            return np.concatenate([vectorizer.vocabulary for vectorizer in self.vectorizers.values()])
        return None if self.vectorizer is None else self.vectorizer.vocabulary

    def topics(self, n_terms: int = 10, *, modality: str | None = None) -> list[list[tuple[str, float]]]:
        """List the heaviest terms of every topic.

        Parameters
        ----------
        n_terms : int, default=10
            At most that many terms of a topic.
        modality : str, optional
            Only terms of this one.

        Returns
        -------
        list of list of (str, float)
            Terms and weights, topic by topic; without a vocabulary, what the model itself calls its columns
            (the feature names it was fitted with, or else their numbers).
        """
        if modality is None:
            listed: list[list[tuple[str, float]]] = self.model.topics(self.vocabulary, n_terms)
            return listed
        vectorizer = self.vectorizers.get(self._known(modality))
        vocabulary = None if vectorizer is None else vectorizer.vocabulary
        return self.model.topics(vocabulary, n_terms, modality=modality)  # type: ignore[call-arg]

    def vectorize(self, texts: Iterable[str], *, modality: str | None = None) -> CSR:
        """Turn texts into the rows that the model takes: counts for models of counts, else weights.

        Parameters
        ----------
        texts : iterable of str
            New documents.
        modality : str, optional
            Which one the texts are of, for a model of several.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text.
        """
        return self.weigh(self.vectorizer_of(modality).count(texts), modality=modality)

    def weigh(self, counts: CSR, *, modality: str | None = None) -> CSR:
        """Turn counts into the rows that the model takes: the counts themselves, or weights.

        Parameters
        ----------
        counts : sparse array of shape (n_texts, n_terms)
            How often each term of the vocabulary occurs in each text.
        modality : str, optional
            Which one the texts are of, for a model of several.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n_texts, n_terms)
            One row for every text.
        """
        # not every bundle has a vectoriser, and not every model needs one here
        rows: CSR = self.model.rows(counts, lambda counts: self.vectorizer_of(modality).weigh(counts))
        return rows

    def transform(
        self, texts: Iterable[str] | Mapping[str, Iterable[str]], *, modality: str | None = None
    ) -> Any:
        """Describe texts by the model's topics.

        Parameters
        ----------
        texts : iterable of str, or mapping of str to iterable of str
            New documents. For a model of several modalities, also their texts in more than one of them, by
            modality.
        modality : str, optional
            Which one the texts are of, for a model of several.

        Returns
        -------
        array of shape (n_texts, n_topics)
            What the model's ``transform`` returns, one row for every text.
        """
        if isinstance(texts, Mapping):
            return self.model.transform({n: self.vectorize(part, modality=n) for n, part in texts.items()})
        X = self.vectorize(texts, modality=modality)
        if modality is None:
            return self.model.transform(X)
        return self.model.transform(X, modality=modality)  # type: ignore[call-arg]

    def vectorizer_of(self, modality: str | None = None) -> Vectorizer:
        """The vectoriser for texts of a modality, or that of a model which has just one.

        Parameters
        ----------
        modality : str, optional
            Needed if the model has several.

        Returns
        -------
        Vectorizer
            With a vocabulary.

        Raises
        ------
        ValueError
            If there is none.
        """
        if modality is None and self.modalities:
            names = ", ".join(map(repr, self.modalities))
            raise ValueError(f"this model has several modalities: say which of {names} the texts are of")
        found = self.vectorizer if modality is None else self.vectorizers.get(self._known(modality))
        if found is None:
            raise ValueError(
                "this bundle has no vectoriser, so it cannot read texts; pass a matrix of documents and "
                "terms to bundle.model.transform, or give the vectoriser when you make the bundle"
            )
        return found

    def _known(self, modality: str) -> str:
        if modality not in self.modalities:
            names = ", ".join(map(repr, self.modalities)) or "none"
            raise ValueError(f"the model has no modality {modality!r}; there are: {names}")
        return modality

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
        self._check_names()
        self._check_sizes()
        state = self.model._fitted_state()
        with replacing(path, MODEL) as writer:
            writer.commit(
                {
                    "class": name,
                    "parameters": encode_parameters(self.model.get_params(deep=False), writer),
                    "state": {k: encode(v, k, writer) for k, v in state.items()},
                    **self._add_vectorizers(writer),
                }
            )

    def _add_vectorizers(self, writer: DirectoryWriter) -> dict[str, Json]:
        """Store the vectoriser or vectorisers, if there are any."""
        if self.vectorizers:
            return {
                "vectorizers": {
                    # Only for people: which file belongs to which modality stands in the document.
                    name: add_vectorizer(vectorizer, writer, f".{re.sub('[^A-Za-z0-9_]', '_', name)[:40]}")
                    for name, vectorizer in self.vectorizers.items()
                }
            }
        return {"vectorizer": None if self.vectorizer is None else add_vectorizer(self.vectorizer, writer)}

    def _check_names(self) -> None:
        for name in self.vectorizers:
            self._known(name)
        if self.vectorizer is not None and self.modalities:
            names = ", ".join(map(repr, self.modalities))
            raise ValueError(
                f"the model has modalities ({names}): give vectorizers, a mapping with their names"
            )

    def _check_sizes(self) -> None:
        for name, vectorizer in self.vectorizers.items():
            n_columns = self.model.n_terms_of(name)
            if len(vectorizer.vocabulary) != n_columns:
                raise ValueError(
                    f"the vocabulary of {name!r} has {len(vectorizer.vocabulary)} terms, but the model was "
                    f"fitted on {n_columns}; give the vectoriser that made the model's input"
                )
        vocabulary = self.vocabulary
        if vocabulary is None or not self.model.fitted:
            return
        n_terms = self.model.n_terms_of()
        if len(vocabulary) != n_terms:
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
    laconic.errors.BundleError: no-model: does not exist; give the directory a model was saved to
    """
    stored = read_directory(path, MODEL)
    model = _restored_model(stored)
    try:
        return Bundle(model, **_restored_vectorizers(stored))
    except BundleError:
        raise
    except ValueError as error:
        raise stored.error(str(error)) from error


def _restored_vectorizers(stored: StoredDirectory) -> dict[str, Any]:
    """The vectoriser or vectorisers, as the arguments of a bundle."""
    document = stored.document
    if "vectorizers" in document:
        described = stored.object("vectorizers")
        if not described:
            raise stored.error("has no valid 'vectorizers'")
        return {"vectorizers": {name: read_vectorizer(stored, one) for name, one in described.items()}}
    if "vectorizer" in document and document["vectorizer"] is None:
        return {}
    return {"vectorizer": read_vectorizer(stored, document.get("vectorizer"))}


def _models() -> Mapping[str, type[Any]]:
    # Models import this module to save themselves.
    from laconic.models import MODELS

    return MODELS


def _restored_model(stored: StoredDirectory) -> TopicModel:
    name, writer = stored.document.get("class"), stored.object("versions").get("laconic")
    if not isinstance(name, str) or name not in _models():
        from laconic import __version__

        raise BundleError(
            f"{stored.path}: holds a model of class {quoted(name)}, which laconic {__version__} does not "
            f"know (it knows {', '.join(_models())}); use the laconic that wrote it, {quoted(writer)}"
        )
    parameters = decode_parameters(stored)
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
