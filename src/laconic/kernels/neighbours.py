"""The weights of a document whose neighbours pull at them: one step, exact, for each of three divergences.

With the expected counts q of its topics and neighbours v_l at couplings c_l, a document's row u minimises,
over the simplex,

    -sum_k q_k log u_k + sum_l c_l D(u, v_l),    D: half the squared distance, symmetric KL, or the sum of
    gaps.

For a fixed multiplier eta of the constraint every weight has a closed form that falls as eta rises, and eta
is the root of sum_k u_k(eta) = 1. Rows are solved in double precision, whatever their type.
"""

from __future__ import annotations

import math

import numpy as np

from laconic.kernels.compiling import njit
from laconic.kernels.mixtures import update_row

MAX_STEPS = 100
# how far from one a sum of weights may be before it is scaled to one: Newton's next step would be of its
# square
CLOSE = 1e-11
# logarithms are taken of weights: none is smaller than this
FLOOR = 1e-12
# sums may be taken in any order: that lets them run in vectors; the order is the same in every run
_SUMS = {"contract", "reassoc"}
# `error_model`: a division that gives infinity is an answer here, and loops that might raise an error do not
# run in vectors


@njit(nogil=True, cache=True)
def quadratic_rows(nodes, indptr, indices, couplings, expected, weights):
    """Solve the rows of some nodes, none of them neighbours; `expected` has their rows only."""
    width = weights.shape[1]
    counts, pull, u = np.empty(width), np.empty(width), np.empty(width)
    for i in range(nodes.size):
        row = weights[nodes[i]]
        begin, end = indptr[nodes[i]], indptr[nodes[i] + 1]
        if begin == end:
            update_row(expected[i], row, True, 0.0, 0.0, 1.0)
            continue
        for k in range(width):
            counts[k] = expected[i, k]
        coupling = _add_neighbours(indices[begin:end], couplings[begin:end], weights, pull)
        for k in range(width):
            u[k] = row[k]
        quadratic_row(counts, pull, coupling, u)
        for k in range(width):
            row[k] = u[k]


@njit(nogil=True, cache=True, makes_arrays=False)
def _add_neighbours(neighbours, couplings, values, total):
    """`total` becomes the weighted sum of the neighbours' rows; returns the sum of the couplings."""
    total[:] = 0
    coupling = 0.0
    for e in range(neighbours.size):
        value, c = values[neighbours[e]], couplings[e]
        coupling += c
        for k in range(total.size):
            total[k] += c * value[k]
    return coupling


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def quadratic_row(counts, pull, coupling, u):
    """The row for half the squared distance, in place of `u`, which is where to look first; returns eta.

    `pull` is the weighted sum of the neighbours; it and `counts` are spoilt.
    """
    total = 0.0
    for k in range(u.size):
        total += counts[k]
    # everything of order one: squares neither overflow nor vanish
    scale = total + coupling
    total, coupling = total / scale, coupling / scale
    lean = 0.0
    for k in range(u.size):
        counts[k] *= 4 * coupling / scale
        pull[k] /= scale
        lean += (pull[k] - coupling * u[k]) * u[k]
    lowest = total - coupling
    eta = max(lowest, total + lean)
    for _ in range(MAX_STEPS):
        excess, slope = _quadratic_at(eta, counts, pull, coupling, u)
        following = max(lowest, eta + excess / slope)
        # the sum is convex: whatever side the first step comes from, the others come from the left
        if abs(excess) <= CLOSE or following == eta:
            break
        eta = following
    excess += 1
    for k in range(u.size):
        u[k] /= excess
    return eta * scale


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath=_SUMS)
def _quadratic_at(eta, counts, pull, coupling, u):
    """The weights for this eta; returns how far their sum is above one, and how fast it falls.

    Weights are positive roots of ``coupling u^2 + (eta - pull) u = q``; `counts` are four times coupling
    times q.
    """
    half = 0.5 / coupling
    excess, slope = -1.0, 0.0
    for k in range(u.size):
        gap = eta - pull[k]
        root = math.sqrt(gap * gap + counts[k])
        # the form that does not cancel, and no division by zero where there is neither count nor gap
        far = abs(gap) + root + 1e-300
        weight = half * (counts[k] / far if gap > 0 else far)
        u[k] = weight
        excess += weight
        slope += weight / (root + 1e-300)
    return excess, slope


@njit(nogil=True, cache=True, error_model="numpy")
def logarithmic_rows(nodes, indptr, indices, couplings, expected, weights, logs):
    """As `quadratic_rows`, for the symmetric divergence; keeps the logarithms of the weights as well."""
    width = weights.shape[1]
    counts, pull, log_pull = np.empty(width), np.empty(width), np.empty(width)
    u, log_u = np.empty(width), np.empty(width)
    for i in range(nodes.size):
        row, log_row = weights[nodes[i]], logs[nodes[i]]
        begin, end = indptr[nodes[i]], indptr[nodes[i] + 1]
        if begin == end:
            update_row(expected[i], row, True, 0.0, 0.0, 1.0)
            continue
        for k in range(width):
            counts[k] = expected[i, k]
        coupling = _add_neighbours(indices[begin:end], couplings[begin:end], weights, pull)
        _add_neighbours(indices[begin:end], couplings[begin:end], logs, log_pull)
        for k in range(width):
            u[k] = row[k]
            log_u[k] = log_row[k]
        logarithmic_row(counts, pull, log_pull, coupling, u, log_u)
        for k in range(width):
            row[k] = u[k]
            log_row[k] = log_u[k]


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def logarithmic_row(counts, pull, log_pull, coupling, u, log_u):
    """The row for the symmetric divergence, no weight below `FLOOR`, in place of `u` (where to look first).

    `log_u` are the logarithms of `u`, before and after. `counts`, `pull` and `log_pull` are spoilt. Returns
    eta.

    With ``t = (q + pull) / coupling`` and ``z = log t + (eta - log_pull) / coupling + 1``, a weight is ``t /
    omega``, where ``omega + log omega = z``.
    """
    total, lean, lowest = 0.0, 0.0, np.inf
    for k in range(u.size):
        total += counts[k]
        lean += u[k] * (log_pull[k] - coupling * log_u[k])
        lowest = min(lowest, log_pull[k])
    lowest += total
    eta = min(max(total + lean, lowest), total)
    for k in range(u.size):
        pull[k] = (pull[k] + counts[k]) / coupling
        counts[k] = math.log(pull[k])
        log_pull[k] = counts[k] + 1 - log_pull[k] / coupling
        log_u[k] = counts[k] - log_u[k]
    for _ in range(MAX_STEPS):
        excess, slope = -1.0, 0.0
        shift = eta / coupling
        for k in range(u.size):
            log_u[k], omega = log_omega(log_pull[k] + shift, log_u[k])
            weight = pull[k] / omega
            counts[k] = 1 / (coupling * (1 + omega))
            if weight > FLOOR:
                slope += weight * counts[k]
            else:
                weight = FLOOR
            u[k] = weight
            excess += weight
        if abs(excess) <= CLOSE or slope == 0:
            break
        following = max(lowest, eta + excess / slope)
        if following == eta:
            break
        # where the solutions will be, to first order
        for k in range(u.size):
            log_u[k] += (following - eta) * counts[k]
        eta = following
    excess += 1
    for k in range(u.size):
        u[k] /= excess
        log_u[k] = math.log(u[k])
    return eta


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def log_omega(z, guess):
    """``y`` with ``exp(y) + y = z``, and exp(y), the Wright omega function of z.

    Newton's method from a guess, never beyond an upper bound of y.
    """
    most = z if z <= 1 else math.log(z)
    y = min(guess, most)
    for _ in range(MAX_STEPS):
        omega = math.exp(y)
        step = (z - y - omega) / (1 + omega)
        if abs(step) < 1e-8:
            return y + step, omega * (1 + step)
        y = min(y + step, most)
    return y, math.exp(y)


@njit(nogil=True, cache=True)
def absolute_rows(nodes, indptr, indices, couplings, expected, weights, etas):
    """As `quadratic_rows`, for the sum of gaps; `etas` says where to look first, and is updated."""
    width = weights.shape[1]
    most = 0
    for node in nodes:
        most = max(most, indptr[node + 1] - indptr[node])
    levels, pulls = np.empty((width, most)), np.empty((width, most + 1))
    counts, u, other = np.empty(width), np.empty(width), np.empty(width)
    # rows of neighbours sum to one only as far as their type goes
    close = max(4 * np.finfo(weights.dtype).eps, 1e-13)
    for i in range(nodes.size):
        row = weights[nodes[i]]
        begin, end = indptr[nodes[i]], indptr[nodes[i] + 1]
        if begin == end:
            update_row(expected[i], row, True, 0.0, 0.0, 1.0)
            continue
        for k in range(width):
            counts[k] = expected[i, k]
        degree = end - begin
        sort_levels(indices[begin:end], couplings[begin:end], weights, levels, pulls)
        etas[nodes[i]] = absolute_row(
            counts, levels[:, :degree], pulls[:, : degree + 1], etas[nodes[i]], close, u, other
        )
        for k in range(width):
            row[k] = u[k]


@njit(nogil=True, cache=True)
def sort_levels(neighbours, couplings, weights, levels, pulls):
    """The neighbours' weights of every topic in increasing order, and how the neighbours pull between them.

    ``pulls[k, s]`` is the slope of their divergence where s of them are below: from -coupling to +coupling.
    """
    degree = neighbours.size
    values, order = np.empty(degree), np.empty(degree, np.int64)
    for k in range(weights.shape[1]):
        for e in range(degree):
            values[e] = weights[neighbours[e], k]
        if degree <= 32:
            for e in range(degree):
                at = e
                while at > 0 and values[order[at - 1]] > values[e]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = e
        else:
            order[:] = np.argsort(values, kind="mergesort")
        level, pull = levels[k], pulls[k]
        total = 0.0
        for s in range(degree):
            level[s] = values[order[s]]
            pull[s] = total
            total += 2 * couplings[order[s]]
        pull[degree] = total
        for s in range(degree + 1):
            pull[s] -= total / 2


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def absolute_row(counts, levels, pulls, eta, close, u, other):
    """The row for the sum of gaps, as `u`; returns eta, which is looked for first where the given one is.

    Weights that equal a neighbour's are that neighbour's to the bit. `other` is scratch.
    """
    total = 0.0
    for k in range(u.size):
        total += counts[k]
    coupling = pulls[0, pulls.shape[1] - 1]
    low, high = total - coupling, total + coupling
    eta = min(max(eta, low), high)
    width = np.inf
    for step in range(MAX_STEPS):
        excess, slope = _absolute_at(eta, counts, levels, pulls, u)
        if abs(excess) <= close:
            _fill_up(levels, excess, u)
            return eta
        if excess > 0:
            low = eta
        else:
            high = eta
        eta += excess / slope if slope > 0 else np.inf
        # the sum has plateaus and jumps: where Newton does not halve the bracket in three steps, do
        if step % 3 == 2:
            if high - low > width / 2:
                eta = low + (high - low) / 2
            width = high - low
        if not low < eta < high:
            eta = low + (high - low) / 2
            if not low < eta < high:
                break
    # a jump: some weights may have any value between the limits from the left and from the right
    above, _ = _absolute_at(low, counts, levels, pulls, u)
    below, _ = _absolute_at(high, counts, levels, pulls, other)
    share = min(max(above / (above - below), 0.0), 1.0) if above > below else 0.0
    for k in range(u.size):
        if other[k] != u[k]:
            u[k] += share * (other[k] - u[k])
    return eta


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def _absolute_at(eta, counts, levels, pulls, u):
    """The weights for this eta, at most one; returns how far their sum is above one, and how fast it falls.

    Between two levels a weight is ``q / (eta + pull)``; it rests on a level where that is too low above and
    too high below it.
    """
    excess, slope = -1.0, 0.0
    degree = levels.shape[1]
    for k in range(u.size):
        q, level, pull = counts[k], levels[k], pulls[k]
        # the first s such that q / (eta + pull[s]) is no more than the level above
        s, end = 0, degree
        while s < end:
            middle = (s + end) // 2
            force = eta + pull[middle]
            if force > 0 and q <= level[middle] * force:
                end = middle
            else:
                s = middle + 1
        force = eta + pull[s]
        weight = q / force if force > 0 else np.inf
        if s > 0 and weight < level[s - 1]:
            weight = level[s - 1]
        elif weight < 1:
            slope += weight / force
        u[k] = min(weight, 1.0)
        excess += u[k]
    return excess, slope


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy")
def _fill_up(levels, excess, u):
    """Take what a row has too much from the weights that rest on no level."""
    free = 0.0
    for k in range(u.size):
        if not _rests(levels[k], u[k]):
            free += u[k]
    if free > abs(excess):
        for k in range(u.size):
            if not _rests(levels[k], u[k]):
                u[k] *= 1 - excess / free


@njit(nogil=True, cache=True)
def _rests(level, weight):
    """Whether a weight is one of the neighbours'."""
    at = np.searchsorted(level, weight)
    return at < level.size and level[at] == weight
