"""Matrices of counts: what they look like inside this package, and how others become so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from laconic.errors import CorpusError
from laconic.kernels.columns import count_columns, take_columns
from laconic.kernels.rows import sound_rows

if TYPE_CHECKING:
    Weights: TypeAlias = NDArray[Any] | sparse.csr_array[Any, tuple[int, int]]
    """What documents are described by: dense, or sparse where a model gives exact zeros."""
    CSR: TypeAlias = sparse.csr_array[np.float32, tuple[int, int]]
    CSC: TypeAlias = sparse.csc_array[np.float32, tuple[int, int]]


# Non-zeros of a few rows; and the least of them, since zeros are not stored.
_FEW = 10_000
_LEAST = np.float32(np.finfo(np.float32).smallest_subnormal)


def as_counts(X: object) -> CSR:
    """Give documents × terms counts as a canonical float32 CSR array.

    Parameters
    ----------
    X : sparse array, sparse matrix or array-like of shape (n_documents, n_terms)
        Finite and non-negative; whole numbers are not required.

    Returns
    -------
    scipy.sparse.csr_array of float32
        Sorted indices, no duplicates, no stored zeros, int32 indices where they suffice. The memory is
        that of `X` where `X` is already so; `X` itself is never changed.

    Examples
    --------
    >>> counts = as_counts([[0, 2], [1, 0]])
    >>> counts.dtype, counts.nnz
    (dtype('float32'), 2)
    """
    given: Any = X if sparse.issparse(X) else np.asarray(X)
    if given.ndim != 2:
        raise CorpusError(f"counts must have 2 dimensions (documents, terms), not {given.ndim}")
    if given.dtype.kind not in "buif":
        raise CorpusError(f"counts must be real numbers, not dtype {given.dtype}")
    check_indices(given, "the matrix of counts")
    with np.errstate(over="ignore"):
        counts: CSR = sparse.csr_array(given, dtype=np.float32)
    lowest, highest = (counts.data.min(), counts.data.max()) if counts.nnz else (0, 0)
    if not (lowest >= 0 and np.isfinite(highest)):
        raise CorpusError(_first_bad(counts))
    return _canonical(counts)


def check_indices(X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose indices lead out of it; anything else passes.

    Compiled code, also that of scipy, trusts indices: one out of bounds would read or write anywhere. It
    takes a look at each of them, a small part of the time of one iteration.

    Parameters
    ----------
    X : object
        What somebody gave; not changed.
    name : str
        What it is called in the message.

    Raises
    ------
    CorpusError
        If it is broken, which nothing but writing into its arrays makes it.
    """
    problem = _index_problem(X)
    if problem:
        raise CorpusError(f"{name} is a damaged sparse matrix ({problem}): make it again")


def _index_problem(X: Any) -> str | None:
    kind = getattr(X, "format", None)
    if kind in ("csr", "csc", "bsr"):
        try:
            # A wrapper of its own: to check one cuts spare room off its arrays.
            own = type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
            own.check_format(full_check=True)
        except ValueError as error:
            return str(error)
    if kind == "coo":
        for axis, size in zip(X.coords, X.shape, strict=True):
            if len(axis) != len(X.data) or (len(axis) and not 0 <= axis.min() <= axis.max() < size):
                return f"indices are not all from 0 to {size - 1}"
    return None


def counts_to_read(X: Any) -> CSR:
    """As `as_counts`, for who only reads them: X itself, where it is a few rows that are so already.

    A look at these costs little, so that a query does not wait for all that `as_counts` makes sure of.
    """
    sound = (
        type(X) is sparse.csr_array
        and X.ndim == 2
        and X.nnz <= _FEW
        and X.dtype == np.float32
        and X.indices.dtype == X.indptr.dtype == index_dtype(max(X.nnz, *X.shape))
        and len(X.indptr) == X.shape[0] + 1
        and sound_rows(X.indptr, X.indices, X.data, X.shape[1], _LEAST)
    )
    return X if sound else as_counts(X)


def as_wanted(wants: str, counts: Any, weigh: Callable[[Any], Any]) -> Any:
    """What a model takes of documents whose words are counted: the counts themselves, or weights."""
    return counts if wants == "counts" else weigh(counts)


def document_frequency(counts: CSR) -> NDArray[np.int64]:
    """Count the documents that each term occurs in; `counts` is canonical."""
    return np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.int64)


def csr(
    data: NDArray[np.float32], indices: NDArray[np.int32], indptr: NDArray[np.int64], n_columns: int
) -> CSR:
    """Join the arrays of a CSR matrix, with int32 indices where they suffice, and sort its rows."""
    index = index_dtype(len(indices))
    parts = (data, indices.astype(index, copy=False), indptr.astype(index, copy=False))
    X: CSR = sparse.csr_array(parts, shape=(len(indptr) - 1, n_columns))
    X.sort_indices()
    return X


def canonical_csr(
    data: NDArray[np.float32], indices: NDArray[Any], indptr: NDArray[Any], n_columns: int
) -> CSR:
    """Join the arrays of a CSR matrix that is canonical already, without a look at them or a copy."""
    X: CSR = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    X.has_canonical_format = True
    return X


def by_columns(X: CSR) -> CSC:
    """A canonical matrix by columns; where it is large, in temporary files."""
    from laconic.corpus.spool import roomy

    sizes = np.zeros(X.shape[1], np.int64)
    count_columns(X.indices, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    indices, data = roomy(X.nnz, X.indices.dtype), roomy(X.nnz, X.dtype)
    for entries, out in ((None, indices), (X.data, data)):
        place, done = starts[:-1].copy(), X.indptr[:-1].astype(np.int64)
        take_columns(X.indptr, X.indices, entries, 0, X.shape[1], done, place, out)
    found: CSC = sparse.csc_array((data, indices, starts.astype(X.indices.dtype)), shape=X.shape)
    found.has_canonical_format = True
    return found


def index_dtype(largest: int) -> np.dtype[Any]:
    """Give the type of indices: int32 where that suffices for the number of entries."""
    return np.dtype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)


def _first_bad(counts: CSR) -> str:
    """Say which count is NaN, infinite or negative."""
    entry = np.flatnonzero(~((counts.data >= 0) & np.isfinite(counts.data)))[0]
    document = np.searchsorted(counts.indptr, entry, side="right") - 1
    where = f"document {document}, column {counts.indices[entry]}"
    if counts.data[entry] < 0:
        return f"{where}: counts must not be negative; mend it or leave it out"
    return f"{where}: counts must be finite, and not too large for float32; mend it or leave it out"


def _canonical(counts: CSR) -> CSR:
    if not (counts.has_canonical_format and counts.data.all()):
        # The arrays may be the caller's own, and both operations work in place.
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    largest = max(counts.nnz, *counts.shape)
    index = index_dtype(largest)
    if counts.indices.dtype != index:
        parts = (counts.data, counts.indices.astype(index), counts.indptr.astype(index))
        counts = sparse.csr_array(parts, shape=counts.shape)
    return counts
