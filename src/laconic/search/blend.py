"""The blend of term and topic matching: the best documents of queries, found without scoring all of them.

The topic score of a document is at most 1. So once k documents are known to score a certain amount, topics
need be looked at only for documents whose terms bring them within reach of it. Where those are many, the
topic scores of all documents are computed for several queries at once, tile by tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.engines import Block, Workers, even_blocks
from laconic.kernels.search import (
    best_positive,
    blend_all,
    count_within,
    scan_blend,
    tile_blend,
)
from laconic.search.terms import TermMatcher, TermQuery
from laconic.search.topics import Part, TopicMatcher

Floats = NDArray[np.float32]

# How many documents more than are wanted are compared first: the best of them leave fewer in reach.
MORE_BY_TERMS = 100
# How many more are taken from tiles, so that those whose place rounding could have changed are among them.
MORE_BY_TILES = 100
# Queries that a thread takes at a time, or scores together; the room for the latter's term scores; and the
# documents of a tile, which with its scores fits a cache.
QUERIES_PER_BLOCK = 8
WIDE_QUERIES_PER_BLOCK = 32
BYTES_PER_BLOCK = 1 << 27
DOCUMENTS_PER_TILE = 4096
# From this share of the documents on, and for this many queries, one product for all takes less time than one
# for each document.
WIDE = 1 / 12
FEWEST_WIDE = 6
# What rounding may take from a score that was computed elsewhere, as a part of the largest there can be.
_MARGIN = np.float32(1e-5)


class Ranked(NamedTuple):
    """The best documents of a query, best first: their numbers, scores, and both parts of each score."""

    documents: NDArray[np.int64]
    scores: Floats
    terms: Floats
    topics: Floats


class Query(NamedTuple):
    """The terms of a query, and its vector of topics for each part of the documents."""

    terms: TermQuery
    vectors: list[Floats]


class Search(NamedTuple):
    """One query on its way: the scores of its terms, how both parts are weighted, and what is found."""

    query: Query
    scores: Floats
    blend: np.float32
    unit: np.float32
    floor: np.float32
    """A score that as many documents reach as are wanted."""
    margin: np.float32
    """What rounding may take from a score, or add to it."""
    k: int
    """How many documents are wanted."""


class BlendedMatcher:
    """Rank documents by ``blend * topic + (1 - blend) * term``.

    Parameters
    ----------
    terms : TermMatcher
    topics : TopicMatcher
        Of the same documents.
    scaling : {"raw", "max"}
        Whether term scores are taken as they are, or divided by the best one of the query.
    """

    def __init__(self, terms: TermMatcher, topics: TopicMatcher, scaling: str) -> None:
        self.terms, self.topics, self.scaling = terms, topics, scaling

    def unit(self, best: float | np.float32) -> np.float32:
        """What the term scores of a query are divided by, given the best of them."""
        return np.float32(best if self.scaling == "max" and best > 0 else 1)

    def top(self, counts: Any, rows: Any, k: int, blend: float, n_jobs: int | None = None) -> list[Ranked]:
        """The best documents of every query.

        Parameters
        ----------
        counts : sparse array of shape (n_queries, n_terms)
            How often each term occurs in each query.
        rows : sparse array of shape (n_queries, n_terms)
            The same as the model takes documents.
        k : int
            At most this many documents; those without a positive score are left out.
        blend : float
            The part of topics, from 0 to 1.
        n_jobs : int, optional
            Number of threads; by default all cores.

        Returns
        -------
        list of Ranked
            One for each query, the same whatever the number of threads.
        """
        if counts.shape[0] == 0:
            return []
        terms, vectors = self.terms.queries(counts), self.topics.queries(rows)
        queries = [Query(one, [part[q] for part in vectors]) for q, one in enumerate(terms)]
        k, weight = min(k, self.terms.n_documents), np.float32(blend)
        if len(queries) == 1:
            return self._narrow(queries, k, weight)

        def narrow(block: Block) -> list[Ranked]:
            return self._narrow(queries[block.start : block.stop], k, weight, WIDE)

        def wide(block: Block) -> list[Ranked]:
            search = self._wide if len(late) >= FEWEST_WIDE else self._narrow
            return search([queries[q] for q in late[block.start : block.stop]], k, weight)

        with Workers(n_jobs) as engine:
            found = [
                one
                for some in engine.map(narrow, even_blocks(len(queries), QUERIES_PER_BLOCK))
                for one in some
            ]
            late = [q for q, one in enumerate(found) if one is None]
            room = max(1, BYTES_PER_BLOCK // (4 * self.terms.n_documents))
            blocks = even_blocks(len(late), min(room, WIDE_QUERIES_PER_BLOCK))
            for q, one in zip(late, (one for some in engine.map(wide, blocks) for one in some), strict=True):
                found[q] = one
        return found

    def _narrow(self, queries: Sequence[Query], k: int, blend: np.float32, wide: float = 1.0) -> list[Any]:
        """The best documents of queries; None where more than a share of all could be among them."""
        scores = np.empty(self.terms.n_documents, np.float32)
        found = []
        for query in queries:
            search = self._begun(query, scores, k, blend)
            n_within = count_within(scores, blend, search.unit, search.floor) if wide < 1 else 0
            found.append(None if n_within > wide * scores.size else self._scanned(search))
        return found

    def _wide(self, queries: Sequence[Query], k: int, blend: np.float32) -> list[Ranked]:
        """The best documents of queries, whose topic scores are computed together."""
        scores = np.empty((len(queries), self.terms.n_documents), np.float32)
        searches = [self._begun(query, row, k, blend) for query, row in zip(queries, scores, strict=True)]
        units = np.array([one.unit for one in searches])
        floors = np.array([one.floor - one.margin for one in searches])
        room = min(self.terms.n_documents, k + MORE_BY_TILES)
        best, documents = np.empty((len(queries), room), np.float32), np.empty((len(queries), room), np.int64)
        sizes = np.zeros(len(queries), np.int64)
        for number, part in enumerate(self.topics.parts):
            vectors = np.stack([query.vectors[number] for query in queries])
            terms = self._of_part(scores, part)
            for start, stop in even_blocks(part.documents.size, DOCUMENTS_PER_TILE):
                tile_blend(
                    terms[:, start:stop], vectors @ part.vectors[start:stop].T, part.documents[start:stop],
                    blend, units, floors, best, documents, sizes,
                )  # fmt: skip
        return [
            self._settled(search, best[q, : sizes[q]], documents[q, : sizes[q]])
            for q, search in enumerate(searches)
        ]

    def _settled(self, search: Search, scores: Floats, documents: NDArray[np.int64]) -> Ranked:
        """The best documents of a query, out of those whose scores are known but for rounding."""
        found = self._ranked(search, documents)
        n_enough = search.k + MORE_BY_TILES
        if documents.size < n_enough or n_enough >= self.terms.n_documents:
            return found
        # The heap was full: what was left out could be better only by rounding, if it is that near.
        last = found.scores[-1] if found.scores.size == search.k else np.float32(0)
        if scores.min() + search.margin < last:
            return found
        return self._scanned(search._replace(floor=max(search.floor, last - search.margin)))

    def _begun(self, query: Query, scores: Floats, k: int, blend: np.float32) -> Search:
        """Score the terms of a query, and find a score that k documents reach: some of the best by terms."""
        scores[:] = 0
        self.terms.add_scores(query.terms, scores)
        room = min(scores.size, k + MORE_BY_TERMS)
        best, documents = np.empty(room, np.float32), np.empty(room, np.int64)
        size = best_positive(scores, best, documents)
        most = best[0] if size else np.float32(0)
        unit, floor = self.unit(most), np.float32(0)
        margin = _MARGIN * max(np.float32(1), most / unit)
        if size >= k and blend < 1:
            known = self.score(scores, query.vectors, documents[:size], blend, unit)
            floor = max(floor, np.float32(np.partition(known.scores, size - k)[size - k] - margin))
        return Search(query, scores, blend, unit, floor, margin, k)

    def _scanned(self, search: Search) -> Ranked:
        """Look at the topics of the documents that they could bring among the best."""
        best, documents, size = np.empty(search.k, np.float32), np.empty(search.k, np.int64), 0
        for part, vector in zip(self.topics.parts, search.query.vectors, strict=True):
            size = scan_blend(
                self._of_part(search.scores, part), part.documents, part.vectors, vector, search.blend,
                search.unit, search.floor, best, documents, size,
            )  # fmt: skip
        return self._ranked(search, documents[:size])

    def _of_part(self, scores: Floats, part: Part) -> Floats:
        return scores if len(self.topics.parts) == 1 else scores[..., part.documents]

    def _ranked(self, search: Search, documents: NDArray[np.int64]) -> Ranked:
        """The best of what was found, with scores that do not depend on how it was found."""
        found = self.score(search.scores, search.query.vectors, documents, search.blend, search.unit)
        order = np.lexsort((found.documents, -found.scores))
        order = order[found.scores[order] > 0][: search.k]
        return Ranked(found.documents[order], found.scores[order], found.terms[order], found.topics[order])

    def score(
        self,
        scores: Floats,
        vectors: Sequence[Floats],
        documents: NDArray[np.int64],
        blend: float | np.float32,
        unit: np.float32,
    ) -> Ranked:
        """The scores of some documents for one query, in the order given.

        Parameters
        ----------
        scores : ndarray of shape (n_documents,)
            The term scores of all documents.
        vectors : sequence of ndarray
            The query's vector of topics, for each part of the documents.
        documents : ndarray of int
            Numbers of documents.
        blend : float
            The part of topics.
        unit : float
            What term scores are divided by; see `unit`.

        Returns
        -------
        Ranked
            The documents as given.
        """
        terms, topics = scores[documents], self.topics.scores_of(documents, vectors)
        out = np.empty(documents.size, np.float32)
        blend_all(terms, topics, np.float32(blend), unit, out)
        return Ranked(documents, out, terms, topics)
