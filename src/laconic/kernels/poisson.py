"""Coordinate descent for one factor of a divergence: the rows of weights, or of topics, each for itself.

A row w >= 0 with the counts x and the rows c of the other factor minimises

    sum_j x_j log(x_j / <w, c_j>)  +  sum_k slope_k w_k,

a Poisson regression with coefficients that are not negative. Along one coordinate, the sum of the ratios
A(d) = sum_j x_j c_jk / (f_j + d c_jk) falls from A; the hyperbola A / (1 + d H / A) with the same value and
slope (H = sum_j x_j c_jk^2 / f_j^2) is nowhere above it, and meets `slope_k` where the coordinate goes. A
step upwards never passes the minimum; one downwards may, so that it is bounded, and rows that are worse off
after all their coordinates take a step of expectation-maximisation instead.
"""

from __future__ import annotations

import math

import numpy as np

from laconic.kernels.compiling import njit
from laconic.kernels.logarithms import log
from laconic.kernels.mixtures import penalty, update_row
from laconic.kernels.ratios import longest, ratio_sums

# beside it `error_model="numpy"`: divisors are kept from zero, and loops that might raise run in no vectors
_SUMS = {"contract", "reassoc"}
# a coordinate falls to no less than this share of it in one go, unless it stands for less than half a count
STEEPEST = 0.1
HALF_A_COUNT = 0.5
# weights on the simplex sum to more than this; those of a checkpoint that was tampered with begin anew
NEXT_TO_NOTHING = 1e-15


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def survey(begin, end, indices, data, factor, w, fitted, pulls):
    """What `w` makes of the rows of `factor` that a row meets, and how every coordinate is pulled upwards.

    Returns the smallest count.
    """
    tiny = fitted.dtype.type(np.finfo(fitted.dtype).tiny * 1e4)
    zero, width = factor.dtype.type(0), w.size
    pulls[:] = 0
    fewest = data[begin]
    j = begin
    # four at a time, as in `ratio_sums`; an entry without a chance has to pull here, so that it gets one
    while j + 4 <= end:
        row_a, row_b = factor[indices[j]], factor[indices[j + 1]]
        row_c, row_d = factor[indices[j + 2]], factor[indices[j + 3]]
        a = b = c = d = zero
        for k in range(width):
            a += w[k] * row_a[k]
            b += w[k] * row_b[k]
            c += w[k] * row_c[k]
            d += w[k] * row_d[k]
        at = j - begin
        fitted[at], fitted[at + 1], fitted[at + 2], fitted[at + 3] = a, b, c, d
        x_a, x_b, x_c, x_d = data[j], data[j + 1], data[j + 2], data[j + 3]
        fewest = min(fewest, min(min(x_a, x_b), min(x_c, x_d)))
        a, b, c, d = x_a / max(a, tiny), x_b / max(b, tiny), x_c / max(c, tiny), x_d / max(d, tiny)
        for k in range(width):
            pulls[k] += (a * row_a[k] + b * row_b[k]) + (c * row_c[k] + d * row_d[k])
        j += 4
    while j < end:
        row_a, a = factor[indices[j]], zero
        for k in range(width):
            a += w[k] * row_a[k]
        fitted[j - begin] = a
        fewest = min(fewest, data[j])
        a = data[j] / max(a, tiny)
        for k in range(width):
            pulls[k] += a * row_a[k]
        j += 1
    return fewest


@njit(nogil=True, cache=True, makes_arrays=False)
def gather(begin, end, indices, factor, w, chosen, others, own):
    """Put some coordinates of the rows of `factor` that a row meets side by side, and those of `w`.

    Returns how many are `chosen`.
    """
    n_chosen = 0
    for k in range(w.size):
        if chosen[k]:
            column = others[n_chosen]
            for j in range(begin, end):
                column[j - begin] = factor[indices[j], k]
            own[n_chosen] = w[k]
            n_chosen += 1
    return n_chosen


@njit(nogil=True, cache=True, makes_arrays=False)
def _put_back(w, chosen, own):
    """The coordinates that were chosen, from `gather`'s places."""
    place = 0
    for k in range(w.size):
        if chosen[k]:
            w[k] = own[place]
            place += 1


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def sweep(counts, others, fitted, inverse, ratios, w, slopes, fewest, least):
    """Every coordinate once, in order; `fitted` follows. Where `least` is positive, zeros stay zeros.

    Rows of `others` may be longer than needed: of a part of them, numba would not know that numbers are
    neighbours, and take them one at a time.
    """
    tiny = fitted.dtype.type(np.finfo(fitted.dtype).tiny * 1e4)
    one, zero = fitted.dtype.type(1), fitted.dtype.type(0)
    for j in range(counts.size):
        inverse[j] = one / max(fitted[j], tiny)
        ratios[j] = counts[j] * inverse[j]
    for k in range(w.size):
        if w[k] == 0 and least > 0:
            continue
        own = others[k]
        pull = bend = zero
        for j in range(counts.size):
            part = ratios[j] * own[j]
            pull += part
            bend += part * (inverse[j] * own[j])
        if w[k] <= least and pull <= slopes[k]:
            continue
        if not (bend > 0 and slopes[k] > 0 and math.isfinite(bend)):
            continue
        new = w[k] + (pull / slopes[k] - one) * (pull / bend)
        lowest = least if w[k] * pull <= HALF_A_COUNT * fewest else STEEPEST * w[k]
        new = fitted.dtype.type(max(new, max(lowest, least)))
        change = new - w[k]
        if change != 0 and math.isfinite(new):
            w[k] = new
            for j in range(counts.size):
                fitted[j] += change * own[j]
                inverse[j] = one / max(fitted[j], tiny)
                ratios[j] = counts[j] * inverse[j]


@njit(nogil=True, cache=True)
def _room(begins, ends, factor):
    """What sweeps over rows need, for the longest of them: by entry, by coordinate, and by both."""
    most, width = longest(begins, ends), factor.shape[1]
    # what the row has made of its entries, and makes of them now; their inverse, and the ratios
    by_entry = np.empty((4, most), factor.dtype)
    # what a row was, what pulls its coordinates, what they cost, and what they were in the last sweep
    by_coordinate = np.empty((4, width), factor.dtype)
    return by_entry, by_coordinate, np.empty((width, most), factor.dtype), np.empty(width, np.bool_)


@njit(nogil=True, cache=True)
def descend_mixtures(
    begins, ends, indices, data, factor, rows, simplex, rate, weight, eps, precision, max_sweeps
):
    """Sweeps for the weights of some documents; see `laconic.kernels.mixtures` for what these minimise.

    Weights of zero that nothing pulls upwards are left out until the others are done. A document is done when
    a sweep changes no weight by more than `precision` times their sum, and none that was left out is pulled.

    A concave prior is replaced by its tangent, which is nowhere below it. On the simplex there must be none;
    weights are then descended with the document's length as their price, and scaled to sum to one, which is
    exact. Returns the loss where it begins. A document that would be worse off takes a step of
    expectation-maximisation.
    """
    room = _room(begins, ends, factor)
    terms = simplex, rate, weight, eps
    loss = 0.0
    for i in range(begins.size):
        begin, end = np.int64(begins[i]), np.int64(ends[i])
        matrix = begin, end, indices, data, factor
        before, good = _descend_mixture(matrix, rows[i], room, terms, precision, max_sweeps)
        loss += before
        if not good:
            _, by_coordinate, _, _ = room
            old, sums = by_coordinate[0:1], by_coordinate[1:2]
            ratio_sums(begins[i : i + 1], ends[i : i + 1], indices, data, factor, old, sums)
            for k in range(old.size):
                rows[i, k] = old[0, k]
                sums[0, k] *= old[0, k]
            update_row(sums[0], rows[i], simplex, rate, weight, eps)
    return loss


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def _descend_mixture(matrix, w, room, terms, precision, max_sweeps):
    """Sweeps for the weights of a document; the loss where it begins, and whether it is better off."""
    begin, end, indices, data, factor = matrix
    by_entry, by_coordinate, others, chosen = room
    simplex, rate, weight, eps = terms
    size, width = end - begin, w.size
    if size == 0:
        w[:] = 1 / w.size if simplex else 0
        return 0.0, True
    counts, nothing = data[begin:end], data.dtype.type(0)
    first, fitted, inverse, ratios = (
        by_entry[0][:size],
        by_entry[1][:size],
        by_entry[2][:size],
        by_entry[3][:size],
    )
    old, pulls, slopes, last = by_coordinate[0], by_coordinate[1], by_coordinate[2], by_coordinate[3]
    length = 0.0
    for j in range(size):
        length += counts[j]
    for k in range(width):
        old[k] = w[k]
        chosen[k] = False
    left = max_sweeps
    while True:
        fewest = survey(begin, end, indices, data, factor, w, fitted, pulls)
        if left == max_sweeps:
            for j in range(size):
                first[j] = fitted[j]
        more = False
        for k in range(width):
            slope = length if simplex else 1 + rate + weight / (w[k] + eps)
            if not chosen[k] and (w[k] > 0 or pulls[k] > slope):
                chosen[k] = more = True
        if left == 0 or not more:
            break
        n_chosen = gather(begin, end, indices, factor, w, chosen, others, pulls)
        own = pulls[:n_chosen]
        while left > 0:
            for k in range(n_chosen):
                last[k] = own[k]
                slopes[k] = length if simplex else 1 + rate + weight / (own[k] + eps)
            sweep(counts, others, fitted, inverse, ratios, own, slopes, fewest, nothing)
            left -= 1
            largest, total = 0.0, 0.0
            for k in range(n_chosen):
                largest = max(largest, abs(own[k] - last[k]))
                total += own[k]
            if largest <= precision * total:
                break
        _put_back(w, chosen, own)
        if left == 0:
            break
    total = 0.0
    if simplex:
        for k in range(width):
            total += w[k]
    scaled = total > NEXT_TO_NOTHING
    if scaled:
        for k in range(width):
            w[k] /= total
    before, change, slack = _losses(counts, first, fitted, total if scaled else 1.0)
    if not simplex:
        change += penalty(w, simplex, rate, weight, eps) - penalty(old, simplex, rate, weight, eps)
    return before, change <= slack and scaled == simplex


@njit(nogil=True, cache=True)
def descend_topics(begins, ends, indices, data, factor, rows, slopes, sweeps, least):
    """Sweeps for the topics of some terms, whose `slopes` are what a topic's chances cost.

    Zeros stay zeros, and what is not zero stays above `least`. Returns the loss where it begins. A term that
    would be worse off takes a step of expectation-maximisation.
    """
    room = _room(begins, ends, factor)
    loss = 0.0
    for i in range(begins.size):
        begin, end = np.int64(begins[i]), np.int64(ends[i])
        before, good = _descend_topic(
            (begin, end, indices, data, factor), rows[i], room, slopes, sweeps, least
        )
        loss += before
        if not good:
            _, by_coordinate, _, _ = room
            old, sums = by_coordinate[0:1], by_coordinate[1:2]
            ratio_sums(begins[i : i + 1], ends[i : i + 1], indices, data, factor, old, sums)
            for k in range(old.size):
                rows[i, k] = old[0, k]
                if old[0, k] > 0 and slopes[k] > 0:
                    rows[i, k] = max(least, old[0, k] * sums[0, k] / slopes[k])
    return loss


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def _descend_topic(matrix, row, room, slopes, sweeps, least):
    """Sweeps for the topics of a term; the loss where it begins, and whether it is better off."""
    begin, end, indices, data, factor = matrix
    by_entry, by_coordinate, others, chosen = room
    size, width = end - begin, row.size
    if size == 0:
        row[:] = 0
        return 0.0, True
    counts = data[begin:end]
    first, fitted, inverse, ratios = (
        by_entry[0][:size],
        by_entry[1][:size],
        by_entry[2][:size],
        by_entry[3][:size],
    )
    old, pulls, prices = by_coordinate[0], by_coordinate[1], by_coordinate[2]
    fewest = survey(begin, end, indices, data, factor, row, fitted, pulls)
    for j in range(size):
        first[j] = fitted[j]
    n_chosen = 0
    for k in range(width):
        old[k] = row[k]
        chosen[k] = row[k] > least or (row[k] > 0 and pulls[k] > slopes[k])
        if chosen[k]:
            prices[n_chosen] = slopes[k]
            n_chosen += 1
    gather(begin, end, indices, factor, row, chosen, others, pulls)
    own = pulls[:n_chosen]
    for _ in range(sweeps):
        sweep(counts, others, fitted, inverse, ratios, own, prices, fewest, least)
    _put_back(row, chosen, own)
    before, change, slack = _losses(counts, first, fitted, 1.0)
    for k in range(width):
        change += np.float64(slopes[k]) * (np.float64(row[k]) - np.float64(old[k]))
    return before, change <= slack


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def _losses(counts, first, fitted, total):
    """The loss with the first fit, and what is added to it by another one that is divided by `total`.

    Also how much of that may be rounding: half of the rows that no longer change seem worse off by less.
    """
    least = first.dtype.type(np.finfo(first.dtype).tiny * 1e4)
    before, change, length, whole = 0.0, 0.0, 0.0, 0.0
    for j in range(counts.size):
        # as in `ratio_sums`: no chance is smaller than this
        x, a = np.float64(counts[j]), np.float64(max(first[j], least))
        before += x * log(x / a)
        change -= x * log(max(fitted[j], least) / a)
        length += x
        whole += a
    if not whole < np.inf:
        # the ratios of a fit that overflows are 0, and the loss would look like a low one
        before = np.inf
    return before, change + length * math.log(total), length * np.finfo(first.dtype).eps
