"""Ratios of data and fit, summed against a factor: the heart of every model with Kullback-Leibler loss.

One kernel serves both factors by symmetry: with X by rows, the topics (terms × topics) and the weights of
documents it gives the sums that the documents' step needs; with X by columns, the weights and the topics,
those of the topics' step. Only the ratios of one row are kept, for their logarithms: no array of non-zeros,
let alone of non-zeros × topics, is made.
"""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit
from laconic.kernels.logarithms import log, weighted_logs

# sums may be taken in any order: that lets dot products run in vectors; the order is the same in every run
_SUMS = {"contract", "reassoc"}


@njit(nogil=True, cache=True, makes_arrays=False)
def longest(begins, ends):
    """The largest number of entries of a row."""
    found = np.int64(0)
    for i in range(begins.size):
        found = max(found, np.int64(ends[i] - begins[i]))
    return found


@njit(nogil=True, cache=True, fastmath=_SUMS)
def ratio_sums(begins, ends, indices, data, factor, rows, out):
    """``out[i] = sum_j x_ij / <rows[i], factor[j]> factor[j]`` over the non-zeros of each row of a block.

    Those of row i stand from ``begins[i]`` to ``ends[i]``; `rows` and `out` hold the block's rows only.
    Returns the block's ``sum x log(x / <rows[i], factor[j]>)``. An entry that the fit gives no chance at
    all adds nothing to `out`.
    """
    ratios = np.empty(longest(begins, ends), data.dtype)
    loss = 0.0
    for i in range(begins.size):
        begin, end = np.int64(begins[i]), np.int64(ends[i])
        loss += row_ratios(begin, end, indices, data, factor, rows[i], out[i], ratios)
        loss += weighted_logs(data, begin, end, ratios)
    return loss


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def row_ratios(begin, end, indices, data, factor, row, total, ratios):
    """The sums of a row, and its ratios; returns the loss of entries without a chance, whose ratio is one."""
    zero = factor.dtype.type(0)
    least = factor.dtype.type(np.finfo(factor.dtype).tiny * 1e4)
    most = factor.dtype.type(np.finfo(factor.dtype).max)
    width = factor.shape[1]
    loss = 0.0
    total[:] = 0
    j = begin
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
        at = j - begin
        if min(min(a, b), min(c, d)) > least and max(max(a, b), max(c, d)) <= most:
            a, b, c, d = data[j] / a, data[j + 1] / b, data[j + 2] / c, data[j + 3] / d
            ratios[at], ratios[at + 1], ratios[at + 2], ratios[at + 3] = a, b, c, d
            for k in range(width):
                total[k] += (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
        else:
            for entry in range(j, j + 4):
                loss += _add_one(
                    row, factor[indices[entry]], data[entry], least, most, total, ratios, entry - begin
                )
        j += 4
    while j < end:
        loss += _add_one(row, factor[indices[j]], data[j], least, most, total, ratios, j - begin)
        j += 1
    return loss


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def _add_one(row, other, x, least, most, total, ratios, place):
    """Add one entry's part to `total`; returns its loss if it has no chance.

    A fit that overflows has an infinite one: its ratio would be 0, and its loss look like a low one.
    """
    ratios[place] = 1
    if x == 0:
        return 0.0
    fitted = row.dtype.type(0)
    for k in range(row.size):
        fitted += row[k] * other[k]
    if fitted <= least:
        return x * (log(x) - log(least))
    if not fitted <= most:
        return np.inf
    ratio = x / fitted
    for k in range(row.size):
        total[k] += ratio * other[k]
    ratios[place] = ratio
    return 0.0
