"""Sums of factor rows over the non-zeros of a sparse matrix: the memory-bound half of every iteration.

One kernel serves both factors by symmetry: with X by rows and the topics (terms × topics) it gives the
products C x of documents; with X by columns and the weights (documents × topics) it gives the rows of X'W.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Long sums are cut into runs of this many entries: float32 rounding then grows with the length of
# a run and the number of runs, not with their product.
RUN = 512


@njit(nogil=True, cache=True, fastmath={"contract"})
def gather(indptr, indices, data, start, stop, factor, out):
    """``out[i] = sum_j X[start + i, j] factor[j]`` for a dense row-major factor."""
    width = factor.shape[1]
    partial = np.empty(width, factor.dtype)
    for i in range(start, stop):
        total = out[i - start]
        total[:] = 0
        begin, end = indptr[i], indptr[i + 1]
        while begin < end:
            stop_run = min(begin + RUN, end)
            partial[:] = 0
            j = begin
            # four rows at a time: a quarter of the loads and stores of the running sum
            while j + 4 <= stop_run:
                a, b, c, d = data[j], data[j + 1], data[j + 2], data[j + 3]
                row_a, row_b = factor[indices[j]], factor[indices[j + 1]]
                row_c, row_d = factor[indices[j + 2]], factor[indices[j + 3]]
                for k in range(width):
                    partial[k] += (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
                j += 4
            while j < stop_run:
                a = data[j]
                row_a = factor[indices[j]]
                for k in range(width):
                    partial[k] += a * row_a[k]
                j += 1
            for k in range(width):
                total[k] += partial[k]
            begin = stop_run


@njit(nogil=True, cache=True, fastmath={"contract"})
def gather_sparse(indptr, indices, data, start, stop, f_indptr, f_indices, f_data, slots, dense, out):
    """`gather` for a factor in CSR form, of which the fuller rows are there as dense rows too.

    `slots` holds the place of a row in `dense`, or -1. The words of topics are frequent ones, so that a few
    rows do most of the work: those run at the speed of `gather`.
    """
    width = out.shape[1]
    for i in range(start, stop):
        total = out[i - start]
        total[:] = 0
        waiting = 0
        slot_a, slot_b, slot_c = 0, 0, 0
        a, b, c = data[0], data[0], data[0]
        for j in range(indptr[i], indptr[i + 1]):
            term = indices[j]
            slot = slots[term]
            if slot < 0:
                x = data[j]
                begin, end = f_indptr[term], f_indptr[term + 1]
                f_index = f_indices[begin:end]
                f_value = f_data[begin:end]
                for k in range(f_index.size):
                    total[f_index[k]] += x * f_value[k]
            elif waiting == 0:
                slot_a, a, waiting = slot, data[j], 1
            elif waiting == 1:
                slot_b, b, waiting = slot, data[j], 2
            elif waiting == 2:
                slot_c, c, waiting = slot, data[j], 3
            else:
                d = data[j]
                row_a, row_b, row_c, row_d = dense[slot_a], dense[slot_b], dense[slot_c], dense[slot]
                for k in range(width):
                    total[k] += (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
                waiting = 0
        if waiting > 0:
            _add(total, a, dense[slot_a])
        if waiting > 1:
            _add(total, b, dense[slot_b])
        if waiting > 2:
            _add(total, c, dense[slot_c])


@njit(nogil=True, cache=True, fastmath={"contract"})
def _add(total, weight, row):
    for k in range(total.size):
        total[k] += weight * row[k]


@njit(nogil=True, cache=True)
def fuller_rows(indptr, indices, data, width):
    """The rows of a CSR matrix that are more than an eighth full: a slot for every row, and dense rows."""
    slots = np.full(indptr.size - 1, -1, np.int32)
    count = 0
    for i in range(slots.size):
        if 8 * (indptr[i + 1] - indptr[i]) > width:
            slots[i] = count
            count += 1
    dense = np.zeros((count, width), data.dtype)
    for i in range(slots.size):
        if slots[i] >= 0:
            row = dense[slots[i]]
            for j in range(indptr[i], indptr[i + 1]):
                row[indices[j]] = data[j]
    return slots, dense
