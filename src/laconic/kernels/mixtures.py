"""The weights of a document as a mixture of topics: one step of expectation-maximisation, or all of them.

A document's weights w minimise, over the simplex or over w >= 0,

    sum_m x_m log(x_m / (wC)_m)  [+ (1 + rate) sum_k w_k  if not on the simplex]  +  weight sum_k log(w_k +
    eps).

`simplex`, `rate`, `weight` and `eps` say which of these; rate and weight zero is maximum likelihood.
"""

from __future__ import annotations

import math

import numpy as np

from laconic.kernels.compiling import njit
from laconic.kernels.logarithms import weighted_logs
from laconic.kernels.ratios import longest, ratio_sums, row_ratios

MAX_NEWTON = 60
# an extrapolated weight falls by no more than this in one go: from zero there is no way back
STEEPEST = 0.1


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def update_rows(expected, weights, simplex, rate, weight, eps):
    """One step for every row: new weights from the expected counts of topics and the old weights."""
    for i in range(weights.shape[0]):
        update_row(expected[i], weights[i], simplex, rate, weight, eps)


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def update_row(expected, w, simplex, rate, weight, eps):
    """The weights that lower the bound on the objective most, in place of `w`.

    The bound is tight at the old weights. Off the simplex its minimiser is exact; on the simplex the concave
    prior is replaced by its tangent.
    """
    total = 0.0
    for k in range(w.size):
        total += expected[k]
    if simplex:
        if total <= 0:
            w[:] = 1 / w.size
        elif weight > 0:
            _on_simplex(expected, w, total, weight, eps)
        else:
            for k in range(w.size):
                w[k] = expected[k] / total
    elif weight > 0:
        for k in range(w.size):
            q = np.float64(expected[k])
            slope = (1 + rate) * eps + weight - q
            root = math.sqrt(slope * slope + 4 * (1 + rate) * q * eps)
            # the form of the positive root that does not cancel
            w[k] = 2 * q * eps / (slope + root) if slope > 0 else (root - slope) / (2 * (1 + rate))
    else:
        for k in range(w.size):
            w[k] = expected[k] / (1 + rate)


@njit(nogil=True, cache=True, error_model="numpy")
def _on_simplex(expected, w, total, weight, eps):
    """``w_k = q_k / (eta + a_k)`` with ``a_k = weight / (w_k + eps)``, and eta such that they sum to one."""
    pull = np.empty(w.size)
    least, largest = np.inf, 0.0
    for k in range(w.size):
        pull[k] = weight / (w[k] + eps)
        if expected[k] > 0:
            least, largest = min(least, pull[k]), max(largest, pull[k])
    # what all have in common is part of eta: so no denominator is the difference of large numbers
    eta = total - (largest - least)
    for k in range(w.size):
        pull[k] -= least
        if expected[k] > 0:
            eta = max(eta, expected[k] - pull[k])
    # the sum falls and is convex: Newton's steps from the left never pass the root
    for _ in range(MAX_NEWTON):
        excess, slope = -1.0, 0.0
        for k in range(w.size):
            if expected[k] > 0:
                share = expected[k] / (eta + pull[k])
                excess += share
                slope += share / (eta + pull[k])
        if excess <= 1e-15 * w.size:
            break
        eta += excess / slope
    rest = 0.0
    for k in range(w.size):
        w[k] = expected[k] / (eta + pull[k]) if expected[k] > 0 else 0
        rest += w[k]
    for k in range(w.size):
        w[k] /= rest


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def penalty(w, simplex, rate, weight, eps):
    """What a row of weights adds to the objective, apart from the data."""
    total = 0.0
    if not simplex:
        for k in range(w.size):
            total += (1 + rate) * w[k]
    if weight > 0:
        for k in range(w.size):
            total += weight * math.log(w[k] + eps)
    return total


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def penalties(weights, simplex, rate, weight, eps):
    """The sum of `penalty` over rows."""
    total = 0.0
    for i in range(weights.shape[0]):
        total += penalty(weights[i], simplex, rate, weight, eps)
    return total


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def _step(begin, end, indices, data, factor, w, sums, ratios, simplex, rate, weight, eps, new):
    """`new` is one step from `w`; returns the objective at `w`."""
    loss = row_ratios(begin, end, indices, data, factor, w, sums, ratios)
    loss += weighted_logs(data, begin, end, ratios)
    for k in range(w.size):
        sums[k] *= w[k]
    for k in range(w.size):
        new[k] = w[k]
    update_row(sums, new, simplex, rate, weight, eps)
    return loss + penalty(w, simplex, rate, weight, eps)


@njit(nogil=True, cache=True, error_model="numpy")
def fold_in(
    indptr, indices, data, start, stop, factor, weights, simplex, rate, weight, eps, precision, max_cycles
):
    """Take steps from the given weights until they no longer change; rows `start` to `stop` only.

    After every two steps the way goes on as far as their change of pace suggests (SQUAREM, squared
    extrapolation); a leap after which the objective is higher is taken back. So the objective never rises.
    """
    width = factor.shape[1]
    sums, first, second = (
        np.empty(width, data.dtype),
        np.empty(width, data.dtype),
        np.empty(width, data.dtype),
    )
    leap = np.empty(width, data.dtype)
    ratios = np.empty(longest(indptr[start:stop], indptr[start + 1 : stop + 1]), data.dtype)
    for i in range(start, stop):
        w, begin, end = weights[i - start], np.int64(indptr[i]), np.int64(indptr[i + 1])
        at_leap = np.inf
        for cycle in range(max_cycles):
            before = _step(
                begin, end, indices, data, factor, w, sums, ratios, simplex, rate, weight, eps, first
            )
            if before > at_leap:
                # the leap, to where w is now, was too wide
                for k in range(w.size):
                    w[k] = second[k]
                at_leap = np.inf
                continue
            middle = _step(
                begin, end, indices, data, factor, first, sums, ratios, simplex, rate, weight, eps, second
            )
            pace, turn, size, largest = 0.0, 0.0, 0.0, 0.0
            for k in range(width):
                r = first[k] - w[k]
                v = second[k] - first[k] - r
                pace += r * r
                turn += v * v
                size += second[k]
                largest = max(largest, abs(second[k] - w[k]))
            if largest <= precision * size or turn == 0 or cycle == max_cycles - 1:
                for k in range(w.size):
                    w[k] = second[k]
                break
            ahead = max(1.0, math.sqrt(pace / turn))
            total = 0.0
            for k in range(width):
                r = first[k] - w[k]
                v = second[k] - first[k] - r
                leap[k] = max(STEEPEST * second[k], w[k] + 2 * ahead * r + ahead * ahead * v)
                total += leap[k]
            for k in range(width):
                w[k] = leap[k] * (size / total)
            at_leap = middle


@njit(nogil=True, cache=True, error_model="numpy")
def prune(indptr, indices, data, start, stop, factor, weights, simplex, rate, weight, eps, share):
    """Set weights below this share of the document's to zero, where zero is a stationary value of them.

    Weights are tried at zero (and the rest rescaled on the simplex), all small ones at first, then the
    smaller half of them, and so on. They stay there if the objective would not fall by raising one of them
    again, every word keeps a chance, and the objective is not higher, but for rounding.
    """
    width = factor.shape[1]
    slack = 64 * np.finfo(factor.dtype).eps
    sums, trial = np.empty((1, width), data.dtype), np.empty((1, width), data.dtype)
    for i in range(start, stop):
        w = weights[i - start]
        order = np.argsort(w)
        limit = share * w.sum()
        first, last = 0, 0
        for k in order:
            first += w[k] == 0
            last += w[k] < limit
        if first == last or indptr[i] == indptr[i + 1]:
            continue
        begin, end = indptr[i : i + 1], indptr[i + 1 : i + 2]
        loss = ratio_sums(begin, end, indices, data, factor, weights[i - start : i - start + 1], sums)
        value = loss + penalty(w, simplex, rate, weight, eps)
        size = last - first
        while first < last:
            size = min(size, last - first)
            tried = order[first : first + size]
            for k in range(width):
                trial[0, k] = w[k]
            for k in tried:
                trial[0, k] = 0
            if simplex:
                trial[0] /= trial[0].sum()
            loss = ratio_sums(begin, end, indices, data, factor, trial, sums)
            new = loss + penalty(trial[0], simplex, rate, weight, eps)
            if new <= value + slack * (abs(loss) + abs(value)) and _stationary(
                trial[0], sums[0], tried, simplex, rate, weight, eps
            ):
                for k in range(w.size):
                    w[k] = trial[0, k]
                value = new
                first += size
            elif size > 1:
                size //= 2
            else:
                first += 1


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def _stationary(w, sums, zeros, simplex, rate, weight, eps):
    """Whether the objective would not fall by raising one of the weights that are zero."""
    level = 1 + rate
    if simplex:
        level = 0.0
        for k in range(w.size):
            level += w[k] * (sums[k] - weight / (w[k] + eps))
    steepest = sums[zeros[0]]
    for k in zeros:
        steepest = max(steepest, sums[k])
    return steepest - weight / eps <= level
