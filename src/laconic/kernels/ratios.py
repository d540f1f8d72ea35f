"""Ratios of data and fit, summed against a factor: the heart of every model with Kullback-Leibler loss.

One kernel serves both factors by symmetry: with X by rows, the topics (terms × topics) and the weights of
documents it gives the sums that the documents' step needs; with X by columns, the weights and the topics,
those of the topics' step. Ratios live in registers: no array of non-zeros, let alone of non-zeros × topics,
is made.
"""

from __future__ import annotations

import math

import numpy as np

from laconic.kernels.compiling import njit

# sums may be taken in any order: that lets dot products run in vectors; the order is the same in every run
_SUMS = {"contract", "reassoc"}


@njit(nogil=True, cache=True, fastmath=_SUMS)
def ratio_sums(begins, ends, indices, data, factor, rows, out):
    """``out[i] = sum_j x_ij / <rows[i], factor[j]> factor[j]`` over the non-zeros of each row of a block.

    Those of row i stand from ``begins[i]`` to ``ends[i]``; `rows` and `out` hold the block's rows only.
    Returns the block's ``sum x log(x / <rows[i], factor[j]>)``. An entry that the fit gives no chance at
    all adds nothing to `out`.
    """
    zero = factor.dtype.type(0)
    least = factor.dtype.type(np.finfo(factor.dtype).tiny * 1e4)
    width = factor.shape[1]
    loss = 0.0
    for i in range(begins.size):
        row, total = rows[i], out[i]
        total[:] = 0
        j, end = begins[i], ends[i]
        # four at a time: independent dot products, and fewer loads and stores of the sum
        while j + 4 <= end:
            row_a, row_b = factor[indices[j]], factor[indices[j + 1]]
            row_c, row_d = factor[indices[j + 2]], factor[indices[j + 3]]
            a = b = c = d = zero
            for k in range(width):
                a += row[k] * row_a[k]
                b += row[k] * row_b[k]
                c += row[k] * row_c[k]
                d += row[k] * row_d[k]
            if min(min(a, b), min(c, d)) > least:
                x_a, x_b, x_c, x_d = data[j], data[j + 1], data[j + 2], data[j + 3]
                a, b, c, d = x_a / a, x_b / b, x_c / c, x_d / d
                loss += (x_a * math.log(a) + x_b * math.log(b)) + (x_c * math.log(c) + x_d * math.log(d))
                for k in range(width):
                    total[k] += (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
            else:
                for i_entry in range(j, j + 4):
                    loss += _add_one(row, factor[indices[i_entry]], data[i_entry], least, total)
            j += 4
        while j < end:
            loss += _add_one(row, factor[indices[j]], data[j], least, total)
            j += 1
    return loss


@njit(nogil=True, cache=True, fastmath=_SUMS)
def _add_one(row, other, x, least, total):
    """Add one entry's part to `total`; returns its part of the loss."""
    if x == 0:
        return 0.0
    fitted = row.dtype.type(0)
    for k in range(row.size):
        fitted += row[k] * other[k]
    if fitted <= least:
        return x * (math.log(x) - math.log(least))
    ratio = x / fitted
    for k in range(row.size):
        total[k] += ratio * other[k]
    return x * math.log(ratio)
