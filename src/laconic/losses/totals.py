"""Sums over all documents that every loss needs, shard by shard."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Engine, Shard, Shards, even_blocks, weighted_blocks
from laconic.engines.sums import tree_sum
from laconic.errors import CorpusError
from laconic.kernels.columns import count_columns

# Numbers that are squared at a time.
NORMED = 1 << 20


class Norms(NamedTuple):
    """Squared norms of documents (in the collection's order) and of terms, in float64."""

    documents: NDArray[np.float64]
    terms: NDArray[np.float64]


def term_norms(X: csr_array) -> NDArray[np.float64]:
    """Squared norms of columns, without a float64 copy of the data."""
    by_column = np.zeros(X.shape[1])
    for block in weighted_blocks(X.indptr, X.shape[0], NORMED):
        begin, end = X.indptr[block.start], X.indptr[block.stop]
        squares = X.data[begin:end].astype(np.float64) ** 2
        by_column += np.bincount(X.indices[begin:end], squares, minlength=X.shape[1])
    return by_column


def document_norms(X: csr_array) -> NDArray[np.float64]:
    """Squared norms of rows, alike."""
    by_row = np.zeros(X.shape[0])
    for block in weighted_blocks(X.indptr, X.shape[0], NORMED):
        ends = X.indptr[block.start : block.stop + 1]
        squares = X.data[ends[0] : ends[-1]].astype(np.float64) ** 2
        owner = np.repeat(np.arange(block.size), np.diff(ends))
        by_row[block.start : block.stop] = np.bincount(owner, squares, minlength=block.size)
    return by_row


def norms(shards: Shards, engine: Engine) -> Norms:
    """Squared norms of all documents and terms."""
    # those of the terms are added up as they come, rather than kept for every shard
    return Norms(norms_of_documents(shards, engine), tree_sum(engine.totals(shards, _term_norms)))


def norms_of_documents(shards: Shards, engine: Engine) -> NDArray[np.float64]:
    """Squared norms of all documents, in the collection's order."""
    return shards.in_order(engine.each(shards, _document_norms, None))


def _document_norms(shard: Shard, _: Any) -> NDArray[np.float64]:
    return document_norms(shard.X)


def _term_norms(shard: Shard, _: Any) -> NDArray[np.float64]:
    return term_norms(shard.X)


def squared_norm(X: csr_array) -> float:
    """||X||^2 in float64, without a float64 copy of the data."""
    blocks = even_blocks(X.nnz, 1 << 20)
    return sum((float(np.square(X.data[b.start : b.stop], dtype=np.float64).sum()) for b in blocks), 0.0)


class Energy(NamedTuple):
    """||X||^2 of some documents, and how many of their entries are not zero."""

    total: float
    n_nonzeros: int


def checked_energy(X: csr_array) -> float:
    """||X||^2, or an error if products of such numbers would leave the range of their type."""
    return _in_range(_energy(X), X.dtype)


def checked_energy_of(shards: Shards, engine: Engine) -> float:
    """The same of all documents of a collection, wherever these are."""
    return _in_range(tree_sum(engine.totals(shards, _energy_of)), shards.dtype)


def _energy_of(shard: Shard, _: Any) -> Energy:
    return _energy(shard.X)


def _energy(X: csr_array) -> Energy:
    with np.errstate(over="ignore"):
        return Energy(squared_norm(X), int(np.count_nonzero(X.data)))


def _in_range(energy: Energy, dtype: Any) -> float:
    limits = np.finfo(dtype)
    for wrong, what, remedy in (
        (not energy.total < float(limits.max) ** 0.5, "large", "down"),
        # the squares of numbers that are smaller still are zero
        (energy.total < float(limits.tiny) ** 0.5 and energy.n_nonzeros > 0, "small", "up"),
    ):
        if wrong:
            otherwise = ", or pass it as float64" if dtype == np.float32 else ""
            raise CorpusError(f"The values of X are too {what} for {dtype}: scale X {remedy}{otherwise}.")
    return energy.total


def above_rounding(loss: float, energy: float, dtype: Any) -> float:
    """A loss that is the small difference of large numbers: zero, where rounding alone could have left it.

    >>> above_rounding(-1e-9, 10.0, np.float32), above_rounding(0.5, 10.0, np.float32)
    (0.0, 0.5)
    """
    return loss if loss > 4 * float(np.finfo(dtype).eps) * energy else 0.0


def document_frequencies(shards: Shards, engine: Engine) -> NDArray[np.int64]:
    """In how many documents each term stands."""
    return np.asarray(tree_sum(engine.totals(shards, _frequencies)), np.int64)


def _frequencies(shard: Shard, _: Any) -> NDArray[np.int64]:
    sizes = np.zeros(shard.X.shape[1], np.int64)
    count_columns(shard.X.indices, sizes)
    return sizes


def by_falling_frequency(frequencies: NDArray[np.int64]) -> NDArray[Any]:
    """The terms that occur, the most frequent first: neighbours in this order share documents."""
    order = np.argsort(-frequencies, kind="stable")
    return order[: np.count_nonzero(frequencies)]


def term_sums(shards: Shards, engine: Engine) -> NDArray[np.float64]:
    """The sum of every column."""
    return np.asarray(tree_sum(engine.totals(shards, _term_sums)), np.float64)


def _term_sums(shard: Shard, _: Any) -> NDArray[np.float64]:
    return np.asarray(shard.X.sum(axis=0), np.float64).ravel()
