"""Topics with a word budget: the t largest entries of each row, one topic after the other."""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit


@njit(nogil=True, cache=True, fastmath={"contract"})
def budget_sweep(gram, products, terms, weights, sizes, budget, nonnegative, least):
    """Give each topic in turn its exact minimiser on the unit sphere with at most `budget` words.

    `products` is R (topics × terms). Topic k holds `weights[k, :sizes[k]]` at `terms[k, :sizes[k]]`,
    in increasing order of terms; it becomes the `budget` largest entries of  b = r_k - sum_{l != k} s_kl c_l,
    scaled to length one. A topic for which b is zero stays as it is. ``least[k]`` becomes the smallest entry
    of |b| that was taken, or zero if there were fewer than the budget.
    """
    n_topics = products.shape[0]
    chosen = np.empty(2 * budget, np.int64)
    size_of = np.empty(2 * budget, products.dtype)
    b = np.empty(products.shape[1], products.dtype)
    for k in range(n_topics):
        b[:] = products[k]
        for other in range(n_topics):
            coupling = products.dtype.type(gram[k, other])
            if other != k and coupling != 0:
                for j in range(sizes[other]):
                    b[terms[other, j]] -= coupling * weights[other, j]
        found = _largest(b, budget, nonnegative, chosen, size_of)
        least[k] = size_of[:found].min() if found == budget else 0
        if found == 0:
            best = np.argmax(b)
            if nonnegative and b[best] < 0:
                # nothing is positive: of all unit vectors that are allowed, this one loses least
                terms[k, 0], weights[k, 0], sizes[k] = best, 1, 1
            continue
        keep = np.sort(chosen[:found])
        norm = 0.0
        for j in range(found):
            norm += np.float64(b[keep[j]]) ** 2
        norm = np.sqrt(norm)
        for j in range(found):
            terms[k, j] = keep[j]
            weights[k, j] = b[keep[j]] / norm
        sizes[k] = found


@njit(nogil=True, cache=True)
def _largest(b, budget, nonnegative, chosen, size_of):
    """Places of the `budget` largest |b| (or positive b); of equal ones the first. Returns how many.

    One pass with a rising bar: entries above it are collected, and whenever the buffer is full it is
    cut back to the best `budget` and the bar is raised. Almost every entry costs one comparison.
    """
    found = 0
    bar = b.dtype.type(0)
    for m in range(b.size):
        value = b[m] if nonnegative else abs(b[m])
        if value > bar:
            chosen[found] = m
            size_of[found] = value
            found += 1
            if found == size_of.size:
                found, bar = _cut(chosen, size_of, found, budget)
    if found > budget:
        found, bar = _cut(chosen, size_of, found, budget)
    return found


@njit(nogil=True, cache=True)
def _cut(chosen, size_of, found, budget):
    """Keep the best `budget` of the buffer, in their order; the bar is the least of them."""
    bar = np.partition(size_of[:found], found - budget)[found - budget]
    above = 0
    for j in range(found):
        if size_of[j] > bar:
            above += 1
    ties = budget - above
    kept = 0
    for j in range(found):
        if size_of[j] > bar or (size_of[j] == bar and ties > 0):
            if size_of[j] == bar:
                ties -= 1
            chosen[kept] = chosen[j]
            size_of[kept] = size_of[j]
            kept += 1
    return kept, bar
