"""The steps of Sparse LSA: topics and an orthonormal basis of documents in turn, without the basis.

With U the polar factor of V = XA', the topics are B = U'X, shrunk. Neither U nor V is needed: with R = AX'X
and G = V'V = RA',  B = G^(-1/2) R. So an iteration is one pass over the documents, and a small eigenproblem.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from laconic.engines import Block, Threads, even_blocks
from laconic.kernels.accumulate import gather
from laconic.kernels.rows import compress, sparse_products
from laconic.models.factor import CompressedRows, Floats, Projector, squared_norms, stacked

# Topics are taken in slices, so that the products of all documents with a slice stay in cache.
WIDEST_SLICE, MOST_SLICES = 64, 16
DOCUMENTS_PER_BLOCK, TERMS_PER_BLOCK = 1024, 512
# Documents that are looked at for each topic that died.
CANDIDATES, FEWEST_CANDIDATES, MOST_CANDIDATES = 4, 16, 256
# A document of which less than this share is outside of the basis has no direction of its own.
INSIDE = 1e-6


class Shrink(Protocol):
    """The proximal step of a penalty on topics."""

    blocks: list[Block]
    """Terms that are shrunk together."""

    def __call__(self, B: Floats, block: Block) -> Floats:
        """Shrink the rows of a block of terms (in place, or not)."""

    def penalty(self, topics: csr_array) -> float:
        """The penalty of topics (terms × topics)."""


class SliceShare(NamedTuple):
    """The part of some topics in AR' = G."""

    topics: Block
    gram: Floats


class Seen(NamedTuple):
    """What is kept of documents that are gone: B = U'X (as terms × topics), and their squares by term.

    A basis of all documents whose part for these is UQ has the products Q'B with them. So the rows of U'X can
    stand for the documents: with them, the objective is exact for every basis that is made of U.
    """

    products: Floats
    squares: NDArray[np.float64]


class SparseLSASteps:
    """Topics and basis in turn for  1/2 ||X - UA||^2 + penalty(A)  with U'U = I.

    From the second iteration on, the basis is that of topics a step ahead: as far beyond the last ones as
    those are beyond the ones before. It takes half as many iterations. If the objective rises by it, the step
    is done again from where it was; so it never does.

    Parameters
    ----------
    X : csr_array
    topics : csr_array of shape (n_terms, n_topics)
        Where to begin.
    shrink : Shrink
    engine : Threads
    seen : Seen, optional
        Documents before X.
    """

    def __init__(
        self, X: csr_array, topics: csr_array, shrink: Shrink, engine: Threads, seen: Seen | None = None
    ) -> None:
        self.X, self.by_term = X, csr_array(X.T.tocsr())
        self.topics, self.shrink, self.engine = topics, shrink, engine
        self._ahead = topics
        self._objective = np.inf
        self.by_document, by_term = squared_norms(X)
        self.seen = seen
        self.squares = by_term if seen is None else by_term + seen.squares
        self.half_energy = float(self.squares.sum()) / 2
        n_topics = topics.shape[1]
        width = min(WIDEST_SLICE, max(8, -(-n_topics // MOST_SLICES)))
        self.document_stages = [even_blocks(n_topics, width)]
        self.term_stages = [shrink.blocks]
        self.products = np.empty(topics.shape, X.dtype)
        self.revivals = 0

    def solve_documents(self, topics: Block) -> SliceShare:
        """One pass over all documents for some topics: their part of R, and of G."""
        X, R = self.X, self.products[:, topics.start : topics.stop]
        own = csr_array(self._ahead[:, topics.start : topics.stop])
        project = Projector(own)
        V = np.empty((X.shape[0], topics.size), X.dtype)
        for rows in even_blocks(X.shape[0], DOCUMENTS_PER_BLOCK):
            V[rows.start : rows.stop] = project(X, rows)
        A = self._ahead
        if self.seen is not None:
            stand_ins = self.seen.products
            before = np.zeros((topics.size, stand_ins.shape[1]))
            sparse_products(own.indptr, own.indices, own.data, 0, len(stand_ins), stand_ins, before)
            before = np.ascontiguousarray(before.T, X.dtype)
        total = np.zeros((A.shape[1], topics.size))
        for terms in even_blocks(A.shape[0], TERMS_PER_BLOCK):
            block = np.zeros((terms.size, topics.size), X.dtype)
            if X.nnz:
                gather(self.by_term.indptr, self.by_term.indices, self.by_term.data, *terms, V, len(V), block)
            if self.seen is not None:
                block += stand_ins[terms.start : terms.stop] @ before
            R[terms.start : terms.stop] = block
            sparse_products(A.indptr, A.indices, A.data, *terms, block, total)
        return SliceShare(topics, total)

    def reduce_documents(self, shares: Iterable[SliceShare]) -> float:
        """The basis, as G^(-1/2); returns the objective with it (ahead, that before it)."""
        n_topics = self.topics.shape[1]
        G = np.empty((n_topics, n_topics))
        for share in shares:
            G[:, share.topics.start : share.topics.stop] = share.gram
        if not np.isfinite(G).all():
            return np.nan
        self.whitening, cross = inverse_root((G + G.T) / 2, self.X.dtype)
        if self._ahead is not self.topics:
            # the basis goes with topics that are not taken yet
            return self._objective
        return self.half_energy - cross + _squares(self.topics) / 2 + self.shrink.penalty(self.topics)

    def solve_terms(self, terms: Block) -> CompressedRows:
        """The new topics of these terms."""
        B = self.products[terms.start : terms.stop] @ self.whitening.astype(self.products.dtype)
        return CompressedRows(*compress(self.shrink(B, terms)))

    def reduce_terms(self, stage: int, shares: Iterable[CompressedRows]) -> float:
        """Take over the new topics, and give those without words another document."""
        found, objective = self._found(shares)
        if objective > self._objective and self._ahead is not self.topics:
            self.restart()
            found, objective = self._found(self.engine.map(self.solve_terms, self.term_stages[0]))
        before, self.topics = self.topics, found
        self._ahead = self.topics if np.isinf(self._objective) else csr_array(2 * found - before)
        self._objective = objective
        return objective

    def restart(self) -> None:
        """Find the basis of the topics themselves."""
        self._ahead = self.topics
        self.reduce_documents(self.engine.map(self.solve_documents, self.document_stages[0]))

    def remember(self) -> Seen:
        """What to keep of all documents, once the basis is that of the last topics (`restart`)."""
        whitening = self.whitening.astype(self.products.dtype)

        def turn(terms: Block) -> None:
            self.products[terms.start : terms.stop] = self.products[terms.start : terms.stop] @ whitening

        for _ in self.engine.map(turn, even_blocks(len(self.products), TERMS_PER_BLOCK)):
            continue
        return Seen(self.products, self.squares)

    def _found(self, shares: Iterable[CompressedRows]) -> tuple[csr_array, float]:
        """The new topics, and the objective with them."""
        topics = stacked(shares, self.topics.shape[1])
        dead = np.flatnonzero(np.bincount(topics.indices, minlength=topics.shape[1]) == 0)
        if dead.size:
            topics = self._revived(topics, dead)
        return topics, self.half_energy - _squares(topics) / 2

    def _revived(self, topics: csr_array, dead: NDArray[Any]) -> csr_array:
        """Give topics without words to documents that the basis lacks most.

        The part of a document that is orthogonal to the basis becomes a new direction of it; what it explains
        is known exactly before it is taken.
        """
        leverage = np.empty(self.X.shape[0])
        project = Projector(self._ahead)
        whitening = self.whitening.astype(self.X.dtype)

        def look(rows: Block) -> None:
            basis = project(self.X, rows) @ whitening
            leverage[rows.start : rows.stop] = np.square(basis, dtype=np.float64).sum(1)

        for _ in self.engine.map(look, even_blocks(self.X.shape[0], DOCUMENTS_PER_BLOCK)):
            continue
        lacking = np.maximum(1 - leverage, 0) * self.by_document
        count = min(MOST_CANDIDATES, max(CANDIDATES * dead.size, FEWEST_CANDIDATES))
        candidates = np.argsort(-lacking, kind="stable")[:count]
        candidates = candidates[lacking[candidates] > INSIDE * self.by_document[candidates]]
        if candidates.size == 0:
            return topics
        shrunk = self._directions(candidates, project, dead.size)
        useful = np.flatnonzero(shrunk.any(axis=0))
        self.revivals += useful.size
        added = np.zeros(topics.shape, self.X.dtype)
        added[:, dead[: useful.size]] = shrunk[:, useful]
        return csr_array(topics + csr_array(added))

    def _directions(self, candidates: NDArray[Any], project: Projector, most: int) -> Floats:
        """Shrunk topics of new directions, orthogonal to U and each other: the best of some documents."""
        rows = csr_array(self.X[candidates])
        basis = project(rows, Block(0, rows.shape[0])).astype(np.float64) @ self.whitening
        lengths = np.sqrt(np.maximum(1 - np.square(basis).sum(1), INSIDE))
        gains = np.zeros(len(candidates))
        for terms in self.shrink.blocks:
            part = self._outside(rows, basis, terms) / lengths
            gains += np.square(self.shrink(part.astype(self.X.dtype), terms), dtype=np.float64).sum(0)
        order = np.argsort(-gains, kind="stable")
        order = order[gains[order] > 0][:most]
        # the parts of documents that are orthogonal to the basis have the products I - WW' with each other
        gram = np.eye(len(order)) - basis[order] @ basis[order].T
        kept = _independent(gram)
        lower = np.linalg.cholesky(gram[np.ix_(kept, kept)])
        best = order[kept]
        rows, basis = csr_array(rows[best]), basis[best]
        shrunk = np.empty((self.X.shape[1], len(best)), self.X.dtype)
        for terms in self.shrink.blocks:
            directions = solve_triangular(lower, self._outside(rows, basis, terms).T, lower=True).T
            shrunk[terms.start : terms.stop] = self.shrink(directions.astype(self.X.dtype, order="C"), terms)
        return shrunk

    def _outside(self, rows: csr_array, basis: Floats, terms: Block) -> Floats:
        """What documents have of some terms beyond the basis, as columns."""
        own = rows[:, terms.start : terms.stop].toarray().T.astype(np.float64)
        outside: Floats = own - self.products[terms.start : terms.stop] @ (self.whitening @ basis.T)
        return outside

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        sizes = np.bincount(self.topics.indices, minlength=self.topics.shape[1])
        return int(np.count_nonzero(sizes)), self.topics.nnz / max(1, np.prod(self.topics.shape))


def _squares(topics: csr_array) -> float:
    return float(np.square(topics.data, dtype=np.float64).sum())


def _independent(gram: Floats) -> list[int]:
    """Rows, first come first served, that are far from the span of those before."""
    kept: list[int] = []
    for i in range(len(gram)):
        left = gram[i, i]
        if kept:
            own = gram[np.ix_(kept, kept)]
            left -= gram[i, kept] @ np.linalg.solve(own, gram[kept, i])
        if left > INSIDE:
            kept.append(i)
    return kept


def inverse_root(G: Floats, dtype: Any) -> tuple[Floats, float]:
    """G^(-1/2) on the range of G, and the trace of G^(1/2); `dtype` says how exact G is."""
    values, vectors = np.linalg.eigh(G)
    noise = max(len(G) * np.finfo(np.float64).eps, np.finfo(dtype).eps)
    kept = values > noise * max(values[-1], 0)
    roots = np.sqrt(values[kept])
    return vectors[:, kept] / roots @ vectors[:, kept].T, float(roots.sum())
