"""What is known of a document and a query, for learning to rank."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.checks import check_number
from laconic.kernels.search import add_impacts
from laconic.search.arguments import checked_queries
from laconic.search.index import SearchIndex
from laconic.search.terms import BM25, VSM

if TYPE_CHECKING:
    from laconic.search.blend import Ranked

TOPICS = "topics"
FEATURES = (
    "bm25",
    "bm25_share",
    "vsm",
    TOPICS,
    "length",
    "query_length",
    "coverage",
    "idf_coverage",
)
"""What is known of a document and a query: scores of terms, also as a share of the best of the query; the
topic score; the logarithm of the document's length, the number of the query's words; the share of these that
the document has, also weighted by idf."""

Qrels = Mapping[str, Mapping[str, int]]


class Candidates(NamedTuple):
    """Documents that could be relevant, and what is known of them.

    A row for each document of each query, query after query.
    """

    queries: list[str]
    """The ids of the queries."""
    sizes: NDArray[np.int64]
    """How many documents each query has."""
    documents: NDArray[np.int64]
    """The number of each row's document in the index."""
    values: NDArray[np.float32]
    """A column for each feature."""
    names: tuple[str, ...]
    """The features."""

    def grades(self, index: SearchIndex, qrels: Qrels) -> NDArray[np.int64]:
        """How relevant each row's document is; 0 where that was not judged."""
        owners = np.repeat(np.arange(len(self.queries)), self.sizes)
        ids = index.ids[self.documents]
        found = (qrels.get(self.queries[q], {}).get(id, 0) for q, id in zip(owners, ids, strict=True))
        return np.maximum(np.fromiter(found, np.int64, len(ids)), 0)


def features(
    index: SearchIndex,
    queries: Mapping[str, str],
    *,
    depth: int = 200,
    topics: bool = True,
    blend: float | None = None,
) -> Candidates:
    """What is known of the best documents of queries.

    Parameters
    ----------
    index : SearchIndex
        Finds them.
    queries : mapping of str to str
        The text of each query by its id.
    depth : int, default=200
        How many documents of each query.
    topics : bool, default=True
        Whether the topic score is among the features.
    blend : float, optional
        What documents are found by: by default the index's own blend, and 0 without topics, so that these
        have no part in it.

    Returns
    -------
    Candidates
        A row for each document of each query.

    Examples
    --------
    >>> from laconic import RLSI, Corpus
    >>> from laconic.search.ltr import features
    >>> corpus = Corpus.from_texts(["sun moon", "moon stars", "sun stars", "salt"], min_df=1)
    >>> index = SearchIndex(corpus, RLSI(2, random_state=0).fit(corpus.X))
    >>> found = features(index, {"q": "the moon"})
    >>> found.sizes, found.values.shape
    (array([3]), (3, 8))
    """
    check_number("depth", depth, Integral, 1)
    texts = checked_queries(queries)
    weight = index.blend if topics else 0.0
    counts = index.vectorizer.count(texts.values())
    ranked = index.ranked(counts, depth, weight if blend is None else blend)
    rows = _Rows(index)
    values = [rows.of(counts[[q]], found) for q, found in enumerate(ranked)]
    chosen = [column for column, name in enumerate(FEATURES) if topics or name != TOPICS]
    return Candidates(
        queries=list(texts),
        sizes=np.array([found.documents.size for found in ranked], np.int64),
        documents=np.concatenate([found.documents for found in ranked] or [np.empty(0, np.int64)]),
        values=np.concatenate([*values, np.empty((0, len(FEATURES)), np.float32)])[:, chosen],
        names=tuple(FEATURES[column] for column in chosen),
    )


class _Rows:
    """Features of documents, query by query."""

    def __init__(self, index: SearchIndex) -> None:
        terms = index.matcher.terms
        self._columns = terms.columns
        self._bm25 = terms if isinstance(terms, BM25) else BM25(terms.columns)
        self._vsm = terms if isinstance(terms, VSM) else VSM(terms.columns)
        lengths = np.bincount(self._columns.indices, self._columns.data, self._columns.shape[0])
        self._lengths = np.log1p(lengths).astype(np.float32)
        self._present = np.ones(self._columns.nnz, np.float32)

    def of(self, counts: Any, found: Ranked) -> NDArray[np.float32]:
        """The features of what was found for a query."""
        bm25, vsm = self._bm25.scores(counts)[0], self._vsm.scores(counts)[0]
        terms = counts.indices.astype(np.int64)
        idf = self._bm25.idf[terms].astype(np.float32)
        documents, out = found.documents, np.empty((found.documents.size, len(FEATURES)), np.float32)
        columns = {
            "bm25": bm25[documents],
            "bm25_share": bm25[documents] / max(bm25.max(), np.finfo(np.float32).tiny),
            "vsm": vsm[documents],
            TOPICS: found.topics,
            "length": self._lengths[documents],
            "query_length": counts.sum(),
            "coverage": self._covered(terms, np.ones(terms.size, np.float32))[documents],
            "idf_coverage": self._covered(terms, idf)[documents],
        }
        for column, name in enumerate(FEATURES):
            out[:, column] = columns[name]
        return out

    def _covered(self, terms: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """The share of the terms, by weight, that each document has."""
        scores = np.zeros(self._columns.shape[0], np.float32)
        share = weights / max(weights.sum(), np.finfo(np.float32).tiny)
        add_impacts(self._columns.indptr, self._columns.indices, self._present, terms, share, scores)
        return scores
