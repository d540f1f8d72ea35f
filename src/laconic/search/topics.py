"""Topic matching: how well the topics of a document are those of a query."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_choice
from laconic.engines import even_blocks
from laconic.kernels.search import NOISE, topic_scores

if TYPE_CHECKING:
    from laconic.bundle import Documents

SIMILARITIES = ("gram", "cosine")
ROWS_PER_BLOCK = 1 << 16

Floats = NDArray[np.float32]


class Part(NamedTuple):
    """Documents that use the same topics: all of them or, with a group model, those of a class."""

    label: Any
    """The class, None if there are none."""
    documents: NDArray[np.int64]
    """Numbers of the documents, in order."""
    topics: NDArray[np.int64]
    """Numbers of the topics that these documents may have."""
    gram: NDArray[np.float64] | None
    """Inner products of these topics; None where topics are held to be orthogonal."""
    vectors: Floats
    """A row for each document: its weights, scaled."""


class TopicMatcher:
    r"""Documents by their topics.

    The score of a document with weights w for a query with weights v is a cosine: for "cosine" that of v and
    w; for "gram" that of what they stand for, vC and wC,

    .. math:: \frac{v G w^\top}{\sqrt{v G v^\top} \sqrt{w G w^\top}}, \qquad G = C C^\top,

    which takes into account that topics share words. The weights of queries are found like those of
    documents, by the model's ``transform``; for `SparseLSA` these are projections, of which wC is not the
    best approximation. With a group model, a query takes the class of the document it
    is compared with: for documents of class p it is folded in as one of class p.

    Parameters
    ----------
    model : TopicModel
        Fitted.
    rows : sparse array of shape (n_documents, n_terms)
        The documents, as the model takes them: counts or weights.
    labels : array-like of shape (n_documents,), optional
        For group models, the class of every document; predicted if not given, or not known to the model.
    weights : array of shape (n_documents, n_topics), optional
        The weights of the documents where they are known; otherwise ``model.transform`` gives them.
    similarity : {"gram", "cosine"}, default="gram"
        What is compared.
    modality : str, optional
        For a model of several modalities, the one that documents and queries are of.

    Attributes
    ----------
    parts : list of Part
        The documents' vectors. A score is the inner product of a query's vector and a document's.

    Notes
    -----
    A document or a query without any term that has weight in a topic has score 0: nothing is known of its
    topics, whatever weights the model gives it.

    Examples
    --------
    >>> from laconic import RLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = RLSI(2, topic_norm="l0", terms_per_topic=2, random_state=0).fit(X)
    >>> TopicMatcher(model, X).scores([[0, 1, 0, 0]]).round(2) + 0
    array([[1., 1., 0., 0.]], dtype=float32)
    """

    def __init__(
        self,
        model: Any,
        rows: Any,
        *,
        labels: Any = None,
        weights: Any = None,
        similarity: str = "gram",
        modality: str | None = None,
    ) -> None:
        check_choice("similarity", similarity, SIMILARITIES)
        check_is_fitted(model, "components_")
        self.model, self.similarity = model, similarity
        self.modality = checked_modality(model, modality)
        rows = csr_array(rows)
        self.n_documents = int(rows.shape[0])
        self.parts = []
        for label, documents, topics in self._members(rows, labels):
            gram, with_weight = self._gram(topics), self._terms_with_weight(topics)
            vectors = np.empty((documents.size, topics.size), np.float32)
            for block in even_blocks(documents.size, ROWS_PER_BLOCK):
                chosen = documents[block.start : block.stop]
                some = rows[chosen]
                taken = self._weights(some, label) if weights is None else weights[chosen]
                part = _dense(taken, topics)
                part[_without(some, with_weight)] = 0
                vectors[block.start : block.stop] = part / _norms(part, gram)[:, None]
            self.parts.append(Part(label, documents, topics, gram, vectors))

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take."""
        return sum(part.vectors.nbytes for part in self.parts)

    def queries(self, rows: Any) -> list[Floats]:
        """The vectors of queries, for each part.

        Parameters
        ----------
        rows : sparse array of shape (n_queries, n_terms)
            As the model takes documents.

        Returns
        -------
        list of ndarray of float32, shape (n_queries, number of topics of the part)
            Rows of zeros for queries without any term that has weight in a topic.
        """
        rows = rows if isinstance(rows, csr_array) else csr_array(rows)
        vectors = []
        for part, with_weight, weights in zip(
            self.parts, self._known_terms, self._by_part(rows), strict=True
        ):
            weights[_without(rows, with_weight)] = 0
            norms = _norms(weights, part.gram)[:, None]
            projected = weights if part.gram is None else weights @ part.gram
            vectors.append((projected / norms).astype(np.float32))
        return vectors

    def scores(self, rows: Any) -> Floats:
        """The score of every document for every query.

        Parameters
        ----------
        rows : sparse array of shape (n_queries, n_terms)
            As the model takes documents.

        Returns
        -------
        ndarray of float32, shape (n_queries, n_documents)
            From -1 to 1.
        """
        queries = self.queries(rows)
        scores = np.empty((csr_array(rows).shape[0], self.n_documents), np.float32)
        for part, vectors in zip(self.parts, queries, strict=True):
            scores[:, part.documents] = vectors @ part.vectors.T
        scores[np.abs(scores) < NOISE] = 0
        return np.clip(scores, -1, 1, out=scores)

    def scores_of(self, documents: NDArray[np.int64], vectors: Sequence[Floats]) -> Floats:
        """The scores of some documents for one query, whose vectors are given for each part."""
        scores = np.empty(documents.size, np.float32)
        if len(self.parts) == 1:
            topic_scores(self.parts[0].vectors, documents, vectors[0], scores)
            return scores
        for number, (part, vector) in enumerate(zip(self.parts, vectors, strict=True)):
            mine = np.flatnonzero(self._places[0][documents] == number)
            found = np.empty(mine.size, np.float32)
            topic_scores(part.vectors, self._places[1][documents[mine]], vector, found)
            scores[mine] = found
        return scores

    def contributions(self, document: int, vectors: Sequence[Floats]) -> tuple[NDArray[np.int64], Floats]:
        """The topics that a document may have, and what each adds to its score for one query."""
        number, row = (int(places[document]) for places in self._places)
        part = self.parts[number]
        return part.topics, vectors[number] * part.vectors[row]

    @cached_property
    def _places(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The part of each document, and its row there."""
        parts, rows = np.empty(self.n_documents, np.int32), np.empty(self.n_documents, np.int64)
        for number, part in enumerate(self.parts):
            parts[part.documents], rows[part.documents] = number, np.arange(part.documents.size)
        return parts, rows

    def _members(self, rows: Any, labels: Any) -> list[tuple[Any, NDArray[np.int64], NDArray[np.int64]]]:
        """Each class, its documents and the topics they may have."""
        n_topics = self.model.components_.shape[0]
        if not self.model.traits.classes:
            return [(None, np.arange(self.n_documents), np.arange(n_topics))]
        classes, owners = self.model.classes_, self.model.owner_numbers
        members = np.searchsorted(classes, self.model.classes_of(rows, labels))
        return [
            (
                label,
                np.flatnonzero(members == number),
                np.flatnonzero((owners < 0) | (owners == number)),
            )
            for number, label in enumerate(classes.tolist())
        ]

    def _gram(self, topics: NDArray[np.int64]) -> NDArray[np.float64] | None:
        if self.similarity == "cosine":
            return None
        chosen = self._chosen(topics)
        gram = chosen @ chosen.T
        return np.asarray(gram.toarray() if issparse(gram) else gram, np.float64)

    def _chosen(self, topics: NDArray[np.int64]) -> Any:
        """Some topics, over the terms that documents and queries have."""
        return self.model.components_of(self.modality)[topics]

    @cached_property
    def _known_terms(self) -> list[NDArray[np.bool_]]:
        """For each part, which terms have weight in its topics."""
        return [self._terms_with_weight(part.topics) for part in self.parts]

    def _terms_with_weight(self, topics: NDArray[np.int64]) -> NDArray[np.bool_]:
        chosen = self._chosen(topics)
        return np.asarray((chosen != 0).sum(0)).ravel() > 0

    def _weights(self, rows: Any, label: Any) -> Any:
        known: dict[str, Any] = {} if self.modality is None else {"modality": self.modality}
        if label is not None:
            known["y"] = np.full(rows.shape[0], label)
        if self.model.term_names(self.modality) is None:
            return self.model.transform(rows, **known)
        with names_compared():
            return self.model.transform(rows, **known)

    def _by_part(self, rows: Any) -> Iterator[NDArray[np.float64]]:
        """The weights of queries, as documents of each part."""
        labels = [part.label for part in self.parts]
        if labels == [None]:
            yield _dense(self._weights(rows, None), self.parts[0].topics)
            return
        # all classes at once: the rows are checked once, and those of a class are solved together
        n_queries = rows.shape[0]
        repeated = vstack([rows] * len(labels), format="csr")
        whole = self.model.transform(repeated, np.repeat(labels, n_queries))
        for number, part in enumerate(self.parts):
            yield _dense(whole[number * n_queries : (number + 1) * n_queries], part.topics)

    def extended(self, rows: Any, labels: Any = None, weights: Any = None) -> Self:
        """The same with more documents after those there are."""
        more = type(self)(
            self.model,
            rows,
            labels=labels,
            weights=weights,
            similarity=self.similarity,
            modality=self.modality,
        )
        parts = [
            old._replace(
                documents=np.concatenate([old.documents, new.documents + self.n_documents]),
                vectors=np.concatenate([old.vectors, new.vectors]),
            )
            for old, new in zip(self.parts, more.parts, strict=True)
        ]
        return self.restored(self.model, parts, similarity=self.similarity, modality=self.modality)

    @classmethod
    def restored(cls, model: Any, parts: Sequence[Part], *, similarity: str, modality: str | None) -> Self:
        """Documents whose vectors are known."""
        matcher = cls.__new__(cls)
        matcher.model, matcher.similarity, matcher.modality = model, similarity, modality
        matcher.parts = list(parts)
        matcher.n_documents = sum(part.documents.size for part in parts)
        return matcher


def topics_of(model: Any, documents: Documents, similarity: str, modality: str | None) -> TopicMatcher:
    """The topics of documents whose weights are known."""
    corpus = documents.corpus()
    return TopicMatcher(
        model,
        # Where weights and classes are known, all that is asked is which documents have which words.
        corpus.X if model.traits.classes and model.wants == "weights" else corpus.counts,
        labels=corpus.labels,
        weights=documents.weights,
        similarity=similarity,
        modality=modality,
    )


def checked_modality(model: Any, modality: str | None) -> str | None:
    """The modality that is searched, None for a model that has just one."""
    names = list(model.modalities)
    if modality is None and names:
        known = ", ".join(map(repr, names))
        raise ValueError(f"this model has several modalities: say which of {known} to search, with modality")
    if modality is not None and modality not in names:
        known = ", ".join(map(repr, names)) or "none"
        raise ValueError(f"the model has no modality {modality!r}; there are: {known}")
    return modality


@contextmanager
def names_compared() -> Iterator[None]:
    """A model of a data frame misses the names of columns, which the index has compared already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def _without(rows: Any, terms: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have none of some terms."""
    with_one = np.concatenate([[0], np.cumsum(terms[rows.indices])])
    return np.asarray(np.diff(with_one[rows.indptr]) == 0)


def _dense(weights: Any, topics: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights of some topics as an array of its own, exact enough for their norms."""
    if topics.size < weights.shape[1]:
        weights = weights[:, topics]
    return np.array(weights.toarray() if issparse(weights) else weights, np.float64)


def _norms(weights: NDArray[np.float64], gram: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The lengths of rows; infinite for those of length zero, so that they stay so when they are divided."""
    projected = weights if gram is None else weights @ gram
    squares = (projected * weights).sum(1)
    # Topics that cancel each other out leave a length of zero but for rounding.
    parts = np.abs(weights) if gram is None else np.abs(weights) * np.sqrt(np.diagonal(gram))
    return np.where(squares > 1e-12 * parts.sum(1) ** 2, np.sqrt(np.maximum(squares, 0)), np.inf)
