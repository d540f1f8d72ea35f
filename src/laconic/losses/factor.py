"""Topics as a factor: terms × topics, sparse (CSR) where a model has exact zeros, dense otherwise.

Terms are rows, so that a block of terms is a block of rows and a document's product with the topics
walks over whole rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shard, even_blocks
from laconic.engines.shards import writes
from laconic.kernels.accumulate import gather, gather_sparse
from laconic.kernels.rows import compress, multiply, sparse_cross, sparse_gram

Floats = NDArray[Any]
Factor = Any
"""A `csr_array` or a dense row-major array."""

ROWS_PER_BLOCK = 1024
TILE_BYTES = 4_000_000
# Numbers that are less than so many roundings of the largest are zero.
ROUNDING = 32


class Projector:
    """Products C x of documents with fixed topics (terms × topics).

    `order` lists the terms, the most frequent first, where that is known: it makes for fewer cache misses.
    """

    def __init__(self, topics: Factor, order: NDArray[Any] | None = None) -> None:
        self.topics, self._order = topics, order
        self._fuller: tuple[NDArray[np.int32], Floats] | None = None
        self._lock = Lock()

    def __reduce__(self) -> Any:
        """What is made of the topics alone is made again where it is needed, rather than sent there."""
        return Projector, (self.topics, self._order)

    def __call__(self, X: csr_array, rows: Block, out: Floats | None = None) -> Floats:
        """The products of a block of documents."""
        topics = self.topics
        if out is None:
            out = np.empty((rows.size, topics.shape[1]), X.dtype)
        if X.nnz == 0:
            out[:] = 0
            return out
        if isinstance(topics, np.ndarray):
            ends = X.indptr[rows.start : rows.stop + 1]
            gather(ends[:-1], ends[1:], X.indices, X.data, topics, len(topics), out)
        else:
            slots, dense = self._dense_rows()
            factor = topics.indptr, topics.indices, topics.data, slots, dense
            gather_sparse(X.indptr, X.indices, X.data, *rows, *factor, out)
        return out

    def _dense_rows(self) -> tuple[NDArray[np.int32], Floats]:
        """The fuller rows of sparse topics; made once, and only where there are documents."""
        with self._lock:
            if self._fuller is None:
                order = np.arange(self.topics.shape[0]) if self._order is None else self._order
                self._fuller = fuller_rows(self.topics, order)
            return self._fuller


def fuller_rows(factor: csr_array, order: NDArray[Any]) -> tuple[NDArray[np.int32], Floats]:
    """The rows that are more than an eighth full: a slot for every row, -1 for the others, and dense rows.

    Slots are given in this order of rows, which need not name all: those that are used most should be
    neighbours in memory.
    """
    sizes = np.diff(factor.indptr)
    chosen = order[8 * sizes[order] > factor.shape[1]]
    slots = np.full(factor.shape[0], -1, np.int32)
    slots[chosen] = np.arange(chosen.size, dtype=np.int32)
    dense = np.zeros((chosen.size, factor.shape[1]), factor.dtype)
    slot_of_entry = np.repeat(slots, sizes)
    entries = np.flatnonzero(slot_of_entry >= 0)
    dense[slot_of_entry[entries], factor.indices[entries]] = factor.data[entries]
    return slots, dense


@writes("weights")
def project_rows(shard: Shard, rows: Block, project: Projector) -> Floats:
    """Make the products of these documents with topics their weights; returns their share of W'W."""
    weights = project(shard.X, rows, shard.weights[rows.start : rows.stop])
    return np.asarray(weights.T @ weights, np.float64)


def weighed_terms(shard: Shard, begins: NDArray[Any], ends: NDArray[Any]) -> Floats:
    """Rows of X'W: sums of a shard's weights over the documents of terms, whose entries begin and end there.

    The weights are taken in tiles that fit into cache. Measured: with terms of about the same frequency, 100
    to 500 topics are summed 1.6 times as fast as without tiles, and faster than memory could be read once
    for each non-zero.
    """
    weights, columns = shard.weights, shard.columns
    out = np.empty((begins.size, weights.shape[1]), weights.dtype)
    tile = tile_rows(weights.shape[1], weights.dtype)
    gather(begins, ends, columns.indices, columns.data, weights, tile, out)
    return out


def tile_rows(width: int, dtype: Any) -> int:
    """How many rows of a factor a tile has."""
    return max(1, TILE_BYTES // (np.dtype(dtype).itemsize * max(1, width)))


def gram(topics: Factor, rows: Block) -> Floats:
    """The share of some terms in G = CC', in float64; of sparse topics the upper triangle."""
    out = np.zeros((topics.shape[1], topics.shape[1]))
    if isinstance(topics, np.ndarray):
        for start in range(rows.start, rows.stop, ROWS_PER_BLOCK):
            chunk = topics[start : min(start + ROWS_PER_BLOCK, rows.stop)]
            out += chunk.T @ chunk
    else:
        sparse_gram(topics.indptr, topics.indices, topics.data, *rows, out)
    return out


def whole_gram(topics: Factor, engine: Engine | None = None) -> Floats:
    """G = CC' in float64; with an engine, pieces of it side by side."""
    if engine is None:
        total = gram(topics, Block(0, topics.shape[0]))
    else:
        # few pieces, and always the same number: each makes a topics × topics array
        pieces = even_blocks(topics.shape[0], -(-topics.shape[0] // 8))
        total = np.zeros((topics.shape[1], topics.shape[1]))
        for share in engine.map(partial(gram, topics), pieces):
            total += share
    return total if isinstance(topics, np.ndarray) else np.triu(total) + np.triu(total, 1).T


def cross_gram(topics: Factor, others: Factor) -> Floats:
    """The products of two sets of topics over the same terms, in float64."""
    out = np.zeros((topics.shape[1], others.shape[1]))
    if isinstance(topics, np.ndarray):
        for rows in even_blocks(len(topics), ROWS_PER_BLOCK):
            out += topics[rows.start : rows.stop].T @ others[rows.start : rows.stop]
    else:
        first = topics.indptr, topics.indices, topics.data
        sparse_cross(*first, others.indptr, others.indices, others.data, out)
    return out


def power_sums(topics: Factor, power: int) -> Floats:
    """The sum of |c|**power for every topic, in float64."""
    if isinstance(topics, np.ndarray):
        total = np.zeros(topics.shape[1])
        for block in even_blocks(len(topics), ROWS_PER_BLOCK):
            total += (np.abs(topics[block.start : block.stop]) ** power).sum(0, dtype=np.float64)
        return total
    values = np.abs(topics.data.astype(np.float64)) ** power
    return np.bincount(topics.indices, values, minlength=topics.shape[1]).astype(np.float64)


def scale_topics(topics: Factor, scale: Floats) -> None:
    """Multiply every topic (terms × topics) by a number, in place."""
    factor = scale.astype(topics.dtype)
    if isinstance(topics, np.ndarray):
        topics *= factor
    else:
        topics.data *= factor[topics.indices]


def explained(topics: Factor, terms: NDArray[Any], coupling: Floats) -> Floats:
    """What these topics explain of other topics' products at some terms: C'B, B the coupling."""
    coupling = np.ascontiguousarray(coupling, topics.dtype)
    if isinstance(topics, np.ndarray):
        return np.asarray(topics[terms] @ coupling)
    out = np.zeros((terms.size, coupling.shape[1]), topics.dtype)
    multiply(topics.indptr, topics.indices, topics.data, terms, coupling, np.arange(terms.size), out)
    return out


def transposed(matrix: Any) -> Factor:
    """Topics × terms to terms × topics and back: canonical CSR, or a contiguous dense array."""
    if isinstance(matrix, np.ndarray):
        return np.ascontiguousarray(matrix.T)
    turned = csr_array(matrix.T)
    turned.sort_indices()
    return narrow(turned)


def narrow(matrix: csr_array) -> csr_array:
    """The same matrix with indices of 32 bits, if they will do: kernels are compiled for one width only."""
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max or matrix.indptr.dtype == np.int32:
        return matrix
    indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return csr_array((matrix.data, indices, indptr), shape=matrix.shape)


class CompressedRows(NamedTuple):
    """Some rows of a sparse matrix."""

    sizes: NDArray[Any]
    indices: NDArray[Any]
    data: Floats


def compressed(rows: Floats) -> csr_array:
    """A dense matrix as a sparse one."""
    return stacked([CompressedRows(*compress(rows))], rows.shape[1])


def stacked(parts: Iterable[CompressedRows], n_columns: int) -> csr_array:
    """The matrix of rows that were compressed in blocks."""
    parts = list(parts)
    sizes = np.concatenate([part.sizes for part in parts])
    indices = np.concatenate([part.indices for part in parts])
    data = np.concatenate([part.data for part in parts])
    width = np.int32 if data.size <= np.iinfo(np.int32).max else np.int64
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(width)
    return csr_array((data, indices.astype(width, copy=False), indptr), shape=(len(sizes), n_columns))


def scattered_rows(terms: NDArray[Any], parts: Iterable[CompressedRows], like: Factor) -> csr_array:
    """The matrix of rows that were compressed in blocks, each in its place; other rows are empty."""
    if terms.size == 0:
        return csr_array(like.shape, dtype=like.dtype)
    rows = stacked(parts, like.shape[1])
    if (terms[1:] < terms[:-1]).any():
        order = np.argsort(terms)
        rows, terms = csr_array(rows[order]), terms[order]
    indptr = np.zeros(like.shape[0] + 1, rows.indptr.dtype)
    indptr[1 + terms] = np.diff(rows.indptr)
    np.cumsum(indptr, out=indptr)
    return csr_array((rows.data, rows.indices, indptr), shape=like.shape)


def upright(components: Factor, held: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    """Turn every topic (of topics × terms) so that its large weights are positive; returns the signs.

    Those that are `held` stay as they are.
    """
    kept = np.zeros(components.shape[0], bool) if held is None else held
    if isinstance(components, np.ndarray):
        signs = np.where((np.einsum("km,km->k", components, np.abs(components)) < 0) & ~kept, -1, 1)
        components *= signs.astype(components.dtype)[:, None]
        return signs
    owner = np.repeat(np.arange(components.shape[0]), np.diff(components.indptr))
    lean = np.bincount(owner, components.data * np.abs(components.data), components.shape[0])
    signs = np.where((lean < 0) & ~kept, -1, 1)
    components.data *= signs.astype(components.dtype)[owner]
    return signs


def without_rounding(components: Factor) -> csr_array:
    """Topics × terms in sparse form, without words of less weight than the rounding of a topic's heaviest.

    What is given may be changed.
    """
    least = ROUNDING * np.finfo(components.dtype).eps
    if isinstance(components, np.ndarray):
        for topic in components:
            topic[np.abs(topic) <= least * np.abs(topic).max(initial=0)] = 0
        return compressed(components)
    for begin, end in pairwise(components.indptr.tolist()):
        topic = components.data[begin:end]
        topic[np.abs(topic) <= least * np.abs(topic).max(initial=0)] = 0
    components.eliminate_zeros()
    return components
