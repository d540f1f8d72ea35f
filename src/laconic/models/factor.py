"""Topics as a factor: terms × topics, sparse (CSR) where a model has exact zeros, dense otherwise.

Terms are rows, so that a block of terms is a block of rows and a document's product with the topics
walks over whole rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Threads, even_blocks
from laconic.kernels.accumulate import fuller_rows, gather, gather_sparse
from laconic.kernels.rows import sparse_gram

Floats = NDArray[Any]
Factor = Any
"""A `csr_array` or a dense row-major array."""

ROWS_PER_BLOCK = 1024


class Projector:
    """Products C x of documents with fixed topics (terms × topics)."""

    def __init__(self, topics: Factor) -> None:
        self.topics = topics
        if not isinstance(topics, np.ndarray):
            self._fuller = fuller_rows(topics.indptr, topics.indices, topics.data, topics.shape[1])

    def __call__(self, X: csr_array, rows: Block) -> Floats:
        """The products of a block of documents."""
        topics = self.topics
        out = np.zeros((rows.size, topics.shape[1]), X.dtype)
        if X.nnz == 0:
            return out
        if isinstance(topics, np.ndarray):
            gather(X.indptr, X.indices, X.data, *rows, topics, len(topics), out)
        else:
            slots, dense = self._fuller
            factor = topics.indptr, topics.indices, topics.data, slots, dense
            gather_sparse(X.indptr, X.indices, X.data, *rows, *factor, out)
        return out


def gram(topics: Factor, engine: Threads) -> Floats:
    """G = CC' in float64."""
    n_terms, n_topics = topics.shape

    def outer(rows: Block) -> Floats:
        out = np.zeros((n_topics, n_topics))
        if isinstance(topics, np.ndarray):
            for start in range(rows.start, rows.stop, ROWS_PER_BLOCK):
                chunk = topics[start : min(start + ROWS_PER_BLOCK, rows.stop)]
                out += chunk.T @ chunk
        else:
            sparse_gram(topics.indptr, topics.indices, topics.data, *rows, out)
        return out

    # few pieces, and always the same number: each makes a topics × topics array
    total = np.zeros((n_topics, n_topics))
    for share in engine.map(outer, even_blocks(n_terms, -(-n_terms // 8))):
        total += share
    return total if isinstance(topics, np.ndarray) else np.triu(total) + np.triu(total, 1).T


def power_sums(topics: Factor, power: int) -> Floats:
    """The sum of |c|**power for every topic, in float64."""
    if isinstance(topics, np.ndarray):
        total = np.zeros(topics.shape[1])
        for block in even_blocks(len(topics), ROWS_PER_BLOCK):
            total += (np.abs(topics[block.start : block.stop]) ** power).sum(0, dtype=np.float64)
        return total
    values = np.abs(topics.data.astype(np.float64)) ** power
    return np.bincount(topics.indices, values, minlength=topics.shape[1]).astype(np.float64)


def transposed(matrix: Any) -> Factor:
    """Topics × terms to terms × topics and back: canonical CSR, or a contiguous dense array."""
    if isinstance(matrix, np.ndarray):
        return np.ascontiguousarray(matrix.T)
    turned = csr_array(matrix.T)
    turned.sort_indices()
    return turned


def upright(components: Factor) -> Factor:
    """Topics × terms with every topic turned so that its large weights are positive (in place)."""
    if isinstance(components, np.ndarray):
        lean = np.einsum("km,km->k", components, np.abs(components))
        components[lean < 0] *= -1
        return components
    owner = np.repeat(np.arange(components.shape[0]), np.diff(components.indptr))
    lean = np.bincount(owner, components.data * np.abs(components.data), components.shape[0])
    components.data *= np.where(lean < 0, -1, 1).astype(components.dtype)[owner]
    return components


def squared_norm(X: csr_array) -> float:
    """||X||^2 in float64, without a float64 copy of the data."""
    blocks = even_blocks(X.nnz, 1 << 20)
    return sum((float(np.square(X.data[b.start : b.stop], dtype=np.float64).sum()) for b in blocks), 0.0)


def squared_norms(X: csr_array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Squared norms of rows and columns, in float64, without a float64 copy of the data."""
    by_row, by_column = np.zeros(X.shape[0]), np.zeros(X.shape[1])
    for block in even_blocks(X.shape[0], 1 << 14):
        begin, end = X.indptr[block.start], X.indptr[block.stop]
        squares = X.data[begin:end].astype(np.float64) ** 2
        owner = np.repeat(np.arange(block.size), np.diff(X.indptr[block.start : block.stop + 1]))
        by_row[block.start : block.stop] = np.bincount(owner, squares, minlength=block.size)
        by_column += np.bincount(X.indices[begin:end], squares, minlength=X.shape[1])
    return by_row, by_column
