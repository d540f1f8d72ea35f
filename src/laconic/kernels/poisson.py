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
from laconic.kernels.mixtures import penalty, update_row
from laconic.kernels.ratios import ratio_sums

_SUMS = {"contract", "reassoc"}
# a coordinate falls to no less than this share of it in one go, unless it stands for less than half a count
STEEPEST = 0.1
HALF_A_COUNT = 0.5
# weights on the simplex sum to more than this; those of a checkpoint that was tampered with begin anew
NEXT_TO_NOTHING = 1e-15


@njit(nogil=True, cache=True, fastmath=_SUMS)
def gather(begin, end, indices, data, factor, w, others, fitted):
    """Put the rows of `factor` that a row meets side by side, by coordinate, and what `w` makes of them.

    Returns the smallest count.
    """
    size = end - begin
    for j in range(size):
        other = factor[indices[begin + j]]
        total = factor.dtype.type(0)
        for k in range(w.size):
            total += w[k] * other[k]
            others[k, j] = other[k]
        fitted[j] = total
    fewest = data[begin]
    for j in range(begin, end):
        fewest = min(fewest, data[j])
    return fewest


@njit(nogil=True, cache=True, fastmath=_SUMS)
def sweep(counts, others, fitted, inverse, ratios, w, slopes, fewest, least):
    """Every coordinate once, in order; `fitted` follows. Where `least` is positive, zeros stay zeros."""
    tiny = fitted.dtype.type(np.finfo(fitted.dtype).tiny * 1e4)
    one, zero = fitted.dtype.type(1), fitted.dtype.type(0)
    for j in range(counts.size):
        inverse[j] = one / max(fitted[j], tiny)
        ratios[j] = counts[j] * inverse[j]
    for k in range(w.size):
        if w[k] == 0 and least > 0:
            continue
        own = others[k]
        pull = zero
        for j in range(counts.size):
            pull += ratios[j] * own[j]
        if w[k] <= least and pull <= slopes[k]:
            continue
        bend = zero
        for j in range(counts.size):
            bend += (ratios[j] * own[j]) * (inverse[j] * own[j])
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
    """What sweeps over rows need, for the longest of them."""
    longest, width = 0, factor.shape[1]
    for i in range(begins.size):
        longest = max(longest, ends[i] - begins[i])
    others = np.empty((width, longest), factor.dtype)
    fitted, first = np.empty(longest, factor.dtype), np.empty(longest, factor.dtype)
    inverse, ratios = np.empty(longest, factor.dtype), np.empty(longest, factor.dtype)
    old, sums = np.empty((1, width), factor.dtype), np.empty((1, width), factor.dtype)
    return others, fitted, first, inverse, ratios, old, sums


@njit(nogil=True, cache=True)
def descend_mixtures(
    begins, ends, indices, data, factor, rows, simplex, rate, weight, eps, precision, max_sweeps
):
    """Sweeps for the weights of some documents; see `laconic.kernels.mixtures` for what these minimise.

    A document is done when a sweep changes no weight by more than `precision` times their sum.

    A concave prior is replaced by its tangent, which is nowhere below it. On the simplex there must be none;
    weights are then descended with the document's length as their price, and scaled to sum to one, which is
    exact. Returns the loss where it begins. A document that would be worse off takes a step of
    expectation-maximisation.
    """
    width = factor.shape[1]
    others, fitted, first, inverse, ratios, old, sums = _room(begins, ends, factor)
    slopes, last = np.empty(width, factor.dtype), np.empty(width, factor.dtype)
    loss = 0.0
    for i in range(begins.size):
        w, begin, end = rows[i], begins[i], ends[i]
        size = end - begin
        if size == 0:
            w[:] = 1 / w.size if simplex else 0
            continue
        own, counts = others[:, :size], data[begin:end]
        fewest = gather(begin, end, indices, data, factor, w, own, fitted)
        for k in range(width):
            old[0, k] = w[k]
        length = 0.0
        for j in range(size):
            first[j] = fitted[j]
            length += counts[j]
        for _ in range(max_sweeps):
            for k in range(width):
                last[k] = w[k]
                slopes[k] = length if simplex else 1 + rate + weight / (w[k] + eps)
            sweep(
                counts,
                own,
                fitted[:size],
                inverse[:size],
                ratios[:size],
                w,
                slopes,
                fewest,
                data.dtype.type(0),
            )
            largest, total = 0.0, 0.0
            for k in range(width):
                largest = max(largest, abs(w[k] - last[k]))
                total += w[k]
            if largest <= precision * total:
                break
        total = 0.0
        if simplex:
            for k in range(width):
                total += w[k]
        scaled = total > NEXT_TO_NOTHING
        if scaled:
            for k in range(width):
                w[k] /= total
        before, change = _losses(counts, first, fitted, total if scaled else 1.0)
        loss += before
        if not simplex:
            change += penalty(w, simplex, rate, weight, eps) - penalty(old[0], simplex, rate, weight, eps)
        if not change <= 0 or scaled != simplex:
            ratio_sums(begins[i : i + 1], ends[i : i + 1], indices, data, factor, old, sums)
            for k in range(width):
                w[k] = old[0, k]
                sums[0, k] *= old[0, k]
            update_row(sums[0], w, simplex, rate, weight, eps)
    return loss


@njit(nogil=True, cache=True)
def descend_topics(begins, ends, indices, data, factor, rows, slopes, sweeps, least):
    """Sweeps for the topics of some terms, whose `slopes` are what a topic's chances cost.

    Zeros stay zeros, and what is not zero stays above `least`. Returns the loss where it begins. A term that
    would be worse off takes a step of expectation-maximisation.
    """
    width = factor.shape[1]
    others, fitted, first, inverse, ratios, old, sums = _room(begins, ends, factor)
    loss = 0.0
    for i in range(begins.size):
        row, begin, end = rows[i], begins[i], ends[i]
        size = end - begin
        if size == 0:
            row[:] = 0
            continue
        own, counts = others[:, :size], data[begin:end]
        fewest = gather(begin, end, indices, data, factor, row, own, fitted)
        for k in range(width):
            old[0, k] = row[k]
        for j in range(size):
            first[j] = fitted[j]
        for _ in range(sweeps):
            sweep(counts, own, fitted[:size], inverse[:size], ratios[:size], row, slopes, fewest, least)
        before, change = _losses(counts, first, fitted, 1.0)
        loss += before
        for k in range(width):
            change += np.float64(slopes[k]) * (np.float64(row[k]) - np.float64(old[0, k]))
        if not change <= 0:
            ratio_sums(begins[i : i + 1], ends[i : i + 1], indices, data, factor, old, sums)
            for k in range(width):
                row[k] = old[0, k]
                if old[0, k] > 0 and slopes[k] > 0:
                    row[k] = max(least, old[0, k] * sums[0, k] / slopes[k])
    return loss


@njit(nogil=True, cache=True)
def _losses(counts, first, fitted, total):
    """The loss with the first fit, and what is added to it by another one that is divided by `total`."""
    least = first.dtype.type(np.finfo(first.dtype).tiny * 1e4)
    before, change = 0.0, 0.0
    for j in range(counts.size):
        # as in `ratio_sums`: no chance is smaller than this
        a = max(first[j], least)
        before += counts[j] * math.log(counts[j] / a)
        change -= counts[j] * math.log(fitted[j] / (a * total))
    return before, change
