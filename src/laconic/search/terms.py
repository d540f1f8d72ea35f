"""Term matching: BM25, and the cosine of tf-idf weights (the vector space model)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, vstack

from laconic.checks import check_choice, check_number
from laconic.corpus.weighting import rarity, weighed
from laconic.kernels.search import add_impacts, best_positive, bm25_impacts, unit_impacts
from laconic.matrices import as_counts, counts_to_read

if TYPE_CHECKING:
    from laconic.matrices import CSR

    Counts = ArrayLike | CSR

Floats = NDArray[np.float32]


class TermQuery(NamedTuple):
    """The terms of a query, in the order of the columns, and their weights."""

    terms: NDArray[np.int64]
    weights: NDArray[np.float32]


class TermMatcher(ABC):
    """Documents by their terms: what each term is worth in each document that has it.

    The score of a document is the sum, over the terms of the query, of the term's weight in the query times
    what it is worth in the document.
    """

    def __init__(self, columns: Any, idf: NDArray[np.float64]) -> None:
        self.columns = columns
        self.idf = idf
        self.impacts = np.empty(columns.nnz, np.float32)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.columns.shape[0])

    @abstractmethod
    def queries(self, counts: Counts) -> list[TermQuery]:
        """The weights of the terms of queries, given as rows of counts."""

    @abstractmethod
    def with_columns(self, columns: Any) -> Self:
        """The same statistics of terms with other documents: counts by columns."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The parameters and the statistics of terms, as plain values: what `matcher_of` takes."""

    def add_scores(self, query: TermQuery, scores: Floats) -> None:
        """Add the score of every document for a query to `scores`."""
        columns = self.columns
        add_impacts(columns.indptr, columns.indices, self.impacts, query.terms, query.weights, scores)

    def scores(self, counts: Counts) -> Floats:
        """The score of every document for every query.

        Parameters
        ----------
        counts : sparse array or array-like of shape (n_queries, n_terms)
            How often each term occurs in each query.

        Returns
        -------
        ndarray of float32, shape (n_queries, n_documents)
            Zero for documents that have no term of the query.
        """
        queries = self.queries(counts)
        scores = np.zeros((len(queries), self.n_documents), np.float32)
        for query, row in zip(queries, scores, strict=True):
            self.add_scores(query, row)
        return scores

    def top(self, counts: Counts, k: int = 10) -> list[tuple[NDArray[np.int64], Floats]]:
        """The best documents of every query.

        Parameters
        ----------
        counts : sparse array or array-like of shape (n_queries, n_terms)
            How often each term occurs in each query.
        k : int, default=10
            At most this many documents.

        Returns
        -------
        list of (ndarray of int, ndarray of float32)
            For each query the numbers of documents and their scores, best first; of equal ones the earlier
            document. Documents without any term of the query are not among them.
        """
        scores = np.empty(self.n_documents, np.float32)
        found = []
        for query in self.queries(counts):
            scores[:] = 0
            self.add_scores(query, scores)
            best, documents = np.empty(k, np.float32), np.empty(k, np.int64)
            size = best_positive(scores, best, documents)
            found.append((documents[:size].copy(), best[:size].copy()))
        return found

    def contributions(self, query: TermQuery, document: int) -> Floats:
        """What each term of a query adds to the score of a document."""
        columns = self.columns
        shares = np.zeros(query.terms.size, np.float32)
        for t, term in enumerate(query.terms):
            start, stop = columns.indptr[term], columns.indptr[term + 1]
            place = start + np.searchsorted(columns.indices[start:stop], document)
            if place < stop and columns.indices[place] == document:
                shares[t] = query.weights[t] * self.impacts[place]
        return shares

    def extended(self, counts: Counts) -> Self:
        """The same with more documents after those there are; terms keep the idf they have."""
        return self.with_columns(csc_array(vstack([self.columns, csc_array(as_counts(counts))], "csc")))


class BM25(TermMatcher):
    r"""BM25, in the form of Lucene.

    A term that occurs c times in a document of length l, and in df of n documents, is worth

    .. math:: \ln\left(1 + \frac{n - df + 1/2}{df + 1/2}\right)
              \frac{c}{c + k_1 (1 - b + b\, l / \bar l)},

    times its count in the query. Lengths are sums of counts, so that words outside the vocabulary do not
    count.

    Parameters
    ----------
    counts : sparse array or array-like of shape (n_documents, n_terms)
        How often each term occurs in each document.
    k1 : float, default=1.2
        How much more a term is worth that occurs more often; 0 counts it once.
    b : float, default=0.75
        How much long documents are held to be long-winded, from 0 to 1.

    Examples
    --------
    >>> matcher = BM25([[2, 0], [1, 1], [0, 3]])
    >>> matcher.scores([[1, 0]]).round(2)
    array([[0.31, 0.23, 0.  ]], dtype=float32)
    """

    def __init__(self, counts: Counts, *, k1: float = 1.2, b: float = 0.75) -> None:
        columns = _by_columns(counts)
        n_documents = columns.shape[0]
        frequency = np.diff(columns.indptr)
        idf = rarity(n_documents, frequency)
        mean_length = float(columns.data.sum(dtype=np.float64)) / max(1, n_documents)
        self._set(columns, idf, mean_length, k1, b)

    def _set(self, columns: Any, idf: NDArray[np.float64], mean_length: float, k1: float, b: float) -> None:
        check_number("mean_length", mean_length, Real, 0)
        check_number("k1", k1, Real, 0)
        check_number("b", b, Real, 0, 1)
        super().__init__(columns, idf)
        self.mean_length, self.k1, self.b = mean_length, float(k1), float(b)
        lengths = np.bincount(columns.indices, columns.data, columns.shape[0])
        saturation = self.k1 * (1 - self.b + self.b * lengths / (mean_length or 1.0))
        bm25_impacts(columns.indptr, columns.indices, columns.data, idf, saturation, self.impacts)

    def queries(self, counts: Counts) -> list[TermQuery]:
        """The terms of queries, given as rows of counts; a term's weight is its count."""
        return _rows(counts_to_read(counts))

    def with_columns(self, columns: Any) -> Self:
        """The same statistics of terms with other documents: counts by columns."""
        return self._with(columns, self.k1, self.b)

    def settings(self) -> dict[str, Any]:
        """The parameters and the statistics of terms."""
        return {"kind": "bm25", "k1": self.k1, "b": self.b, "mean_length": self.mean_length, "idf": self.idf}

    def with_parameters(self, k1: float, b: float) -> Self:
        """The same documents with other parameters."""
        return self._with(self.columns, k1, b)

    def _with(self, columns: Any, k1: float, b: float) -> Self:
        return self.restored(columns, self.idf, self.mean_length, k1, b)

    @classmethod
    def restored(
        cls, columns: Any, idf: NDArray[np.float64], mean_length: float, k1: float, b: float
    ) -> Self:
        """Documents, as counts by columns, with statistics that are known."""
        matcher = cls.__new__(cls)
        matcher._set(columns, idf, mean_length, k1, b)
        return matcher


class VSM(TermMatcher):
    r"""The vector space model: the cosine of tf-idf weights.

    A term that occurs c times in a document, and in df of n documents, has the weight
    :math:`c\,(\ln\frac{1 + n}{1 + df} + 1)`; with `sublinear_tf`, :math:`1 + \ln c` takes the place of c.

    Parameters
    ----------
    counts : sparse array or array-like of shape (n_documents, n_terms)
        How often each term occurs in each document.
    sublinear_tf : bool, default=False
        Whether counts are taken by their logarithm, in documents and queries; they must then be 1 or more.

    Examples
    --------
    >>> VSM([[2, 0], [1, 1], [0, 3]]).scores([[1, 0]]).round(2)
    array([[1.  , 0.71, 0.  ]], dtype=float32)
    """

    def __init__(self, counts: Counts, *, sublinear_tf: bool = False) -> None:
        columns = _by_columns(counts)
        idf = np.log((1 + columns.shape[0]) / (1 + np.diff(columns.indptr))) + 1
        self._set(columns, idf, sublinear_tf)

    def _set(self, columns: Any, idf: NDArray[np.float64], sublinear_tf: bool) -> None:
        check_choice("sublinear_tf", sublinear_tf, (True, False))
        if sublinear_tf and columns.data.min(initial=1) < 1:
            raise ValueError("sublinear_tf needs counts of 1 or more; there are smaller ones")
        super().__init__(columns, idf)
        self.sublinear_tf = bool(sublinear_tf)
        squares = np.zeros(columns.shape[0])
        unit_impacts(
            columns.indptr, columns.indices, columns.data, idf, self.sublinear_tf, squares, self.impacts
        )

    def queries(self, counts: Counts) -> list[TermQuery]:
        """The terms of queries, given as rows of counts; weights are those of documents."""
        return _rows(weighed(counts_to_read(counts), "tfidf", self.idf, sublinear_tf=self.sublinear_tf))

    def with_columns(self, columns: Any) -> Self:
        """The same statistics of terms with other documents: counts by columns."""
        return self.restored(columns, self.idf, self.sublinear_tf)

    def settings(self) -> dict[str, Any]:
        """The parameters and the statistics of terms."""
        return {"kind": "vsm", "sublinear_tf": self.sublinear_tf, "idf": self.idf}

    @classmethod
    def restored(cls, columns: Any, idf: NDArray[np.float64], sublinear_tf: bool) -> Self:
        """Documents, as counts by columns, with statistics that are known."""
        matcher = cls.__new__(cls)
        matcher._set(columns, idf, sublinear_tf)
        return matcher


def matcher_of(columns: Any, settings: Mapping[str, Any]) -> TermMatcher:
    """Documents, as counts by columns, with the settings of a matcher; everything is checked.

    >>> matcher = BM25([[2, 0], [1, 1], [0, 3]], k1=2.0)
    >>> matcher_of(matcher.columns, matcher.settings()).k1
    2.0
    """
    given = dict(settings)
    kind, idf = given.pop("kind", None), given.pop("idf", None)
    known: dict[Any, Any] = {"bm25": BM25, "vsm": VSM}
    if kind not in known:
        raise ValueError("there is no valid way to match terms")
    n_terms = columns.shape[1]
    if not isinstance(idf, np.ndarray) or idf.dtype != np.float64 or idf.shape != (n_terms,):
        raise ValueError(f"there are no weights of {n_terms} terms")
    found: TermMatcher = known[kind].restored(columns, idf, **given)
    return found


def _by_columns(counts: Counts) -> Any:
    """Counts by columns, without a copy where they are so already."""
    if isinstance(counts, csc_array) and counts.dtype == np.float32 and counts.has_canonical_format:
        return counts
    return csc_array(as_counts(counts))


def _rows(matrix: CSR) -> list[TermQuery]:
    ends = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [
        TermQuery(matrix.indices[start:stop].astype(np.int64), matrix.data[start:stop])
        for start, stop in ends
    ]
