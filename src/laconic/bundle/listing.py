"""The topics of a model as they are listed: of a bundle, or of a saved one without the model's class.

What has to be imported for a model takes seconds, and reading its topics does not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.bundle.kind import MODEL, PREFIX, class_in
from laconic.bundle.notes import Notes, restored_notes
from laconic.corpus.described import described_vectorizer
from laconic.models.listing import by_weight, strongest_only
from laconic.reading.strings import as_vocabulary
from laconic.storage.arrays import read_array, read_csr_parts
from laconic.storage.lines import read_lines
from laconic.storage.manifest import Json
from laconic.storage.reading import StoredDirectory, read_directory

if TYPE_CHECKING:
    from laconic.bundle.bundle import Bundle

Topic = Sequence[tuple[str, float]]

PLAIN = frozenset({"RLSI", "NMF", "PLSA", "GraphPLSA", "SparseLSA"})
"""Models that have neither classes nor modalities: their topics are rows over one vocabulary."""


@dataclass(frozen=True)
class Listing:
    """What there is to tell about topics.

    Attributes
    ----------
    model : str
        The name of the model's class.
    sizes : ndarray of int
        How many words each topic has.
    n_terms : int
        How many words there are.
    dtype : dtype
        Of the weights.
    named : bool
        Whether words have names; if not, they are the numbers of columns.
    words : callable
        From a number of words, or None for all, to the words of every topic, by the name of a modality; "" if
        there is just one.
    owners : list of str
        The class of every topic, for a model that has classes.
    notes : Notes
        What is known about topics besides their words.
    distinct : bool
        Whether words are listed only in the topic where they are strongest.
    """

    model: str
    sizes: NDArray[np.int64]
    n_terms: int
    dtype: Any
    named: bool
    words: Callable[[int | None], dict[str, list[Topic]]]
    owners: list[str]
    notes: Notes
    distinct: bool

    @classmethod
    def of(cls, bundle: Bundle, *, distinct: bool = False) -> Listing:
        """The listing of a bundle's topics; with `distinct`, of each word where it is strongest only."""
        model = bundle.model

        def words(n_terms: int | None) -> dict[str, list[Topic]]:
            if not bundle.modalities:
                return {"": list(bundle.shown_words(n_terms, distinct=distinct))}
            return {
                name: list(bundle.shown_words(n_terms, modality=name, distinct=distinct))
                for name in bundle.modalities
            }

        return cls(
            model=type(model).__name__,
            sizes=model.topic_sizes_,
            n_terms=model.n_features_in_,
            dtype=model.components_.dtype,
            named=bundle.vocabulary is not None or bool(bundle.vectorizers) or model.term_names() is not None,
            words=words,
            owners=model.topic_owners,
            notes=bundle.notes,
            distinct=distinct,
        )

    @property
    def n_alive(self) -> int:
        """How many topics have words."""
        return int(np.count_nonzero(self.sizes))

    def no_words(self, topic: int) -> str:
        """What is shown in place of the words of a topic that has none, or none that are strongest there."""
        return "no words of its own" if self.distinct and self.sizes[topic] else "no words"

    @property
    def density(self) -> float:
        """The share of weights that are not zero."""
        return float(self.sizes.sum() / max(1, self.sizes.size * self.n_terms))


def read_listing(path: str | os.PathLike[str], *, distinct: bool = False) -> Listing:
    """Read the topics of a saved model; all that is listed is checked as `load` checks it.

    Parameters
    ----------
    path : path-like
        The directory that was given to ``save``.
    distinct : bool, default=False
        Whether words are listed only in the topic where they are strongest.

    Returns
    -------
    Listing
        The same as that of the bundle that `load` reads.

    Raises
    ------
    BundleError
        If the directory is not a saved model, or is damaged, or from a newer version.
    """
    stored = read_directory(path, MODEL, later=PREFIX)
    n_topics = stored.object("parameters").get("n_components")
    if class_in(stored) not in PLAIN or type(n_topics) is not int or "vectorizers" in stored.document:
        from laconic.bundle.loading import load

        return Listing.of(load(path), distinct=distinct)
    try:
        return _plain(stored, n_topics, distinct)
    except MODEL.error:
        raise
    except ValueError as error:
        raise stored.misdescribed(class_in(stored), error) from error


def _plain(stored: StoredDirectory, n_topics: int, distinct: bool) -> Listing:
    """The topics of a model that has neither classes nor modalities."""
    state = stored.object("state")
    rows, shape, dtype = _rows(state.get("components"), stored)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"components: components are {dtype}, not float32 or float64")
    if shape[0] != n_topics:
        raise ValueError(f"components: components have {shape[0]} rows, not {n_topics}")
    n_terms = state.get("n_features_in")
    if type(n_terms) is not int or n_terms != shape[1]:
        raise ValueError(f"n_features_in: components of shape {shape} do not have {n_terms} columns")
    names = _names(state.get("feature_names_in"), stored, n_terms)
    named: Sequence[Any] | NDArray[Any] = np.arange(n_terms) if names is None else names

    shown = strongest_only(rows) if distinct else rows

    def words(n_words: int | None) -> dict[str, list[Topic]]:
        return {"": [by_weight(terms, weights, named, n_words) for terms, weights in shown]}

    return Listing(
        model=class_in(stored),
        sizes=np.array([len(terms) for terms, _ in rows], np.int64),
        n_terms=n_terms,
        dtype=dtype,
        named=names is not None,
        words=words,
        owners=[],
        notes=restored_notes(stored, n_topics),
        distinct=distinct,
    )


def _rows(
    described: Json, stored: StoredDirectory
) -> tuple[list[tuple[NDArray[Any], NDArray[Any]]], tuple[int, int], Any]:
    """The columns and weights of every topic; how many topics and columns there are; the type of weights."""
    if not isinstance(described, dict) or len(described) != 1:
        raise ValueError("components: components are no matrix")
    ((kind, content),) = described.items()
    if kind == "csr" and isinstance(content, dict):
        parts = read_csr_parts(content, "state.components", stored)
        ends = zip(parts.indptr[:-1].tolist(), parts.indptr[1:].tolist(), strict=True)
        rows = [(parts.indices[start:stop], parts.data[start:stop]) for start, stop in ends]
        return rows, parts.shape, parts.data.dtype
    components: NDArray[Any] = read_array(content, stored) if kind == "array" else np.zeros(0)
    if components.ndim != 2:
        raise ValueError("components: components are no matrix")
    filled = [np.flatnonzero(components[k]) for k in range(len(components))]
    rows = [(terms, components[k, terms]) for k, terms in enumerate(filled)]
    return rows, (components.shape[0], components.shape[1]), components.dtype


def _names(seen: Json, stored: StoredDirectory, n_terms: int) -> Sequence[Any] | NDArray[Any] | None:
    """The names of the columns: the vocabulary, or else those that the fit has seen, if there are any."""
    if seen is not None and (not isinstance(seen, list) or len(seen) != n_terms):
        raise ValueError(f"feature_names_in: the feature names do not fit {n_terms} terms")
    described = stored.document.get("vectorizer", {})
    if described is None:
        return seen
    parts, terms = described_vectorizer(stored, described)
    vocabulary = as_vocabulary(terms)
    if len(vocabulary) != n_terms:
        raise stored.error(
            f"the vocabulary has {len(vocabulary)} terms, but the model was fitted on {n_terms}; "
            "give the vectoriser that made the model's input"
        )
    if "forms" not in parts:
        return vocabulary
    # stems are shown in their commonest form
    forms = read_lines(parts["forms"], "forms of stems", stored)
    if len(forms) != n_terms:
        raise stored.error(f"has {len(forms)} forms for {n_terms} terms")
    return forms
