"""Sums of factor rows over the non-zeros of a sparse matrix: the memory-bound half of every iteration.

One kernel serves both factors by symmetry: with X by rows and the topics (terms × topics) it gives the
products C x of documents; with X by columns and the weights (documents × topics) it gives the rows of X'W.
"""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit

# From this many entries of a row in a tile on, they are summed apart from the rest: float32 rounding then
# grows with the entries of a tile and the number of tiles, not with their product.
RUN = 32


@njit(nogil=True, cache=True, fastmath={"contract"})
def gather(begins, ends, indices, data, factor, tile, out):
    """``out[i] = sum_j x_ij factor[j]`` for a dense row-major factor, over the entries of rows of X.

    Those of row i stand from ``begins[i]`` to ``ends[i]``. The factor is taken in tiles of `tile` rows. A
    tile that fits into cache serves all rows of the block before the next one is read, which pays where a
    row of the factor is used several times in a block. With less than all of the factor in a tile, the
    indices of each row of X must be sorted.
    """
    out[:] = 0
    if tile >= factor.shape[0]:
        for i in range(begins.size):
            _add_run(out[i], indices, data, np.int64(begins[i]), np.int64(ends[i]), factor)
        return
    partial = np.empty(factor.shape[1], factor.dtype)
    done = begins.copy()
    for tile_start in range(0, factor.shape[0], tile):
        tile_stop = tile_start + tile
        for i in range(done.size):
            # Integers of one kind, whatever X has: `_add_run` takes seconds to compile for each.
            begin, end = np.int64(done[i]), np.int64(ends[i])
            j = begin
            while j < end and indices[j] < tile_stop:
                j += 1
            done[i] = j
            if j - begin < RUN:
                _add_run(out[i], indices, data, begin, j, factor)
            else:
                partial[:] = 0
                _add_run(partial, indices, data, begin, j, factor)
                total = out[i]
                for k in range(total.size):
                    total[k] += partial[k]


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
def _add_run(total, indices, data, j, end, factor):
    """Add the weighted rows of the factor that the entries j to end name.

    Eight at a time: fewer loads and stores of the sum, and eight rows on their way from memory at once. Of
    unsigned indices numba need not ask whether they count from the end.
    """
    while j + 8 <= end:
        a, b, c, d = data[j], data[j + 1], data[j + 2], data[j + 3]
        e, f, g, h = data[j + 4], data[j + 5], data[j + 6], data[j + 7]
        row_a, row_b = factor[np.uint32(indices[j])], factor[np.uint32(indices[j + 1])]
        row_c, row_d = factor[np.uint32(indices[j + 2])], factor[np.uint32(indices[j + 3])]
        row_e, row_f = factor[np.uint32(indices[j + 4])], factor[np.uint32(indices[j + 5])]
        row_g, row_h = factor[np.uint32(indices[j + 6])], factor[np.uint32(indices[j + 7])]
        for k in range(total.size):
            first = (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
            second = (e * row_e[k] + f * row_f[k]) + (g * row_g[k] + h * row_h[k])
            total[k] += first + second
        j += 8
    if j + 4 <= end:
        a, b, c, d = data[j], data[j + 1], data[j + 2], data[j + 3]
        row_a, row_b = factor[np.uint32(indices[j])], factor[np.uint32(indices[j + 1])]
        row_c, row_d = factor[np.uint32(indices[j + 2])], factor[np.uint32(indices[j + 3])]
        for k in range(total.size):
            total[k] += (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
        j += 4
    while j < end:
        _add(total, data[j], factor[np.uint32(indices[j])])
        j += 1


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
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


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
def _add(total, weight, row):
    for k in range(total.size):
        total[k] += weight * row[k]
