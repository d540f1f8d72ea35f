"""Graphs of documents: colours, ties, and the divergence over edges."""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit

# weights that differ by no more are equal
CLOSE = 1e-12
# sums may be taken in any order: that lets them run in vectors; the order is the same in every run
_SUMS = {"contract", "reassoc"}


@njit(nogil=True, cache=True)
def greedy_colours(indptr, indices, order):
    """A colour for every node, none the same as a neighbour's: the first that is free, in the given order."""
    n_nodes = order.size
    colours = np.full(n_nodes, -1, np.int64)
    taken_by = np.full(n_nodes + 1, -1, np.int64)
    for node in order:
        for e in range(indptr[node], indptr[node + 1]):
            if colours[indices[e]] >= 0:
                taken_by[colours[indices[e]]] = node
        colour = 0
        while taken_by[colour] == node:
            colour += 1
        colours[node] = colour
    return colours


@njit(nogil=True, cache=True)
def tied_nodes(indptr, indices, weights):
    """For every node the smallest one it is tied to: by a path of edges between rows as good as equal.

    Weights that fade away do so at their own pace, and may differ by orders of magnitude.
    """
    close = max(CLOSE, np.finfo(weights.dtype).eps)
    parents = np.arange(indptr.size - 1)
    for node in range(parents.size):
        for e in range(indptr[node], indptr[node + 1]):
            if indices[e] < node and _equal(weights[node], weights[indices[e]], close):
                first, second = _root(parents, node), _root(parents, indices[e])
                parents[max(first, second)] = min(first, second)
    for node in range(parents.size):
        parents[node] = _root(parents, node)
    return parents


@njit(nogil=True, cache=True, makes_arrays=False)
def _root(parents, node):
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@njit(nogil=True, cache=True, makes_arrays=False)
def _equal(first, second, close):
    k = 0
    while k < first.size and abs(first[k] - second[k]) <= close:
        k += 1
    return k == first.size


@njit(nogil=True, cache=True, makes_arrays=False, fastmath=_SUMS)
def quadratic_penalty(start, stop, indptr, indices, couplings, weights):
    """The divergence over the edges from these nodes to later ones."""
    total = 0.0
    for i in range(start, stop):
        row = weights[i]
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] > i:
                other = weights[indices[e]]
                gaps = 0.0
                for k in range(row.size):
                    gap = np.float64(row[k]) - other[k]
                    gaps += gap * gap
                total += 0.5 * couplings[e] * gaps
    return total


@njit(nogil=True, cache=True, makes_arrays=False, fastmath=_SUMS)
def logarithmic_penalty(start, stop, indptr, indices, couplings, weights, logs):
    """As `quadratic_penalty`, for the symmetric divergence."""
    total = 0.0
    for i in range(start, stop):
        row, log_row = weights[i], logs[i]
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] > i:
                other, log_other = weights[indices[e]], logs[indices[e]]
                gaps = 0.0
                for k in range(row.size):
                    gaps += (np.float64(row[k]) - other[k]) * (np.float64(log_row[k]) - log_other[k])
                total += couplings[e] * gaps
    return total


@njit(nogil=True, cache=True, makes_arrays=False, fastmath=_SUMS)
def absolute_penalty(start, stop, indptr, indices, couplings, weights):
    """As `quadratic_penalty`, for the sum of gaps."""
    total = 0.0
    for i in range(start, stop):
        row = weights[i]
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] > i:
                other = weights[indices[e]]
                gaps = 0.0
                for k in range(row.size):
                    gaps += abs(np.float64(row[k]) - other[k])
                total += couplings[e] * gaps
    return total
