"""A CSR matrix seen by columns: how many entries each has, blocks of them, and a comparison with all of them.

All read the rows in order, so that a matrix may be mapped from a file.
"""

from __future__ import annotations

from laconic.kernels.compiling import njit


@njit(nogil=True, cache=True, makes_arrays=False)
def count_columns(indices, sizes):
    """Add to `sizes` how many entries each column has."""
    for j in range(indices.size):
        sizes[indices[j]] += 1


@njit(nogil=True, cache=True, makes_arrays=False)
def take_columns(indptr, indices, data, first, last, done, place, out):
    """Put the entries of the columns first to last - 1 into `out`, column by column and by rows within one.

    ``place[j]`` is where the next entry of column ``first + j`` goes, ``done[i]`` where row i goes on after
    the columns before; both move on. An entry is its number, or that of its row if there are no `data`.
    """
    for i in range(done.size):
        j, end = done[i], indptr[i + 1]
        while j < end and indices[j] < last:
            column = indices[j] - first
            if data is None:
                out[place[column]] = i
            else:
                out[place[column]] = data[j]
            place[column] += 1
            j += 1
        done[i] = j


@njit(nogil=True, cache=True, makes_arrays=False)
def same_by_columns(indptr, indices, data, column_rows, column_data, place, ends):
    """Whether the matrix has these entries column by column.

    ``place[j]`` is where column j begins, and moves on, and ``ends[j]`` where it ends.
    """
    for i in range(indptr.size - 1):
        for j in range(indptr[i], indptr[i + 1]):
            column = indices[j]
            p = place[column]
            if p >= ends[column] or column_rows[p] != i or column_data[p] != data[j]:
                return False
            place[column] = p + 1
    return True
