"""Topics with a word budget: the t largest entries of each row, one topic after the other."""

from __future__ import annotations

import math

import numpy as np

from laconic.kernels.compiling import njit


@njit(nogil=True, cache=True, fastmath={"contract"})
def budget_sweep(gram, products, terms, weights, sizes, budget, nonnegative, least, rounding):
    """Give each topic in turn its exact minimiser on the unit sphere with at most `budget` words.

    `products` is R (topics × terms). Topic k holds `weights[k, :sizes[k]]` at `terms[k, :sizes[k]]`,
    in increasing order of terms; it becomes the `budget` largest entries of  b = r_k - sum_{l != k} s_kl c_l,
    scaled to length one. A topic for which b is zero stays as it is. ``least[k]`` becomes the smallest entry
    of |b| that was taken, or zero if there were fewer than the budget. Entries of less than the `rounding`
    of the largest are what differences leave of zero, and no words.
    """
    n_topics = products.shape[0]
    chosen = np.empty(2 * budget, np.int64)
    size_of = np.empty(2 * budget, products.dtype)
    scratch = np.empty(2 * budget, products.dtype)
    b = np.empty(products.shape[1], products.dtype)
    for k in range(n_topics):
        for m in range(b.size):
            b[m] = products[k, m]
        for other in range(n_topics):
            coupling = products.dtype.type(gram[k, other])
            if other != k and coupling != 0:
                for j in range(sizes[other]):
                    b[terms[other, j]] -= coupling * weights[other, j]
        found = _largest(b, budget, nonnegative, chosen, size_of, scratch)
        least[k] = 0
        if found == budget:
            least[k] = size_of[0]
            for j in range(1, found):
                least[k] = min(least[k], size_of[j])
        if found == 0:
            best = 0
            for m in range(1, b.size):
                if b[m] > b[best]:
                    best = m
            if nonnegative and b[best] < 0:
                # nothing is positive: of all unit vectors that are allowed, this one loses least
                terms[k, 0], weights[k, 0], sizes[k] = best, 1, 1
            continue
        largest = size_of[0]
        for j in range(1, found):
            largest = max(largest, size_of[j])
        norm = 0.0
        kept = 0
        for j in range(found):
            if size_of[j] > rounding * largest:
                value = np.float64(b[chosen[j]])
                norm += value * value
                chosen[kept] = chosen[j]
                kept += 1
        norm = math.sqrt(norm)
        for j in range(kept):
            terms[k, j] = chosen[j]
            weights[k, j] = b[chosen[j]] / norm
        sizes[k] = kept


@njit(nogil=True, cache=True, makes_arrays=False)
def _largest(b, budget, nonnegative, chosen, size_of, scratch):
    """Places of the `budget` largest |b| (or positive b), rising; of equal ones the first. Returns how many.

    One pass with a rising bar: entries above it are collected, and whenever the buffer is full it is
    cut back to the best `budget` and the bar is raised. Almost every entry costs one comparison.
    """
    # of a type: while it might be a constant, numba would compile what it is handed to for that, too
    found = np.int64(0)
    bar = b.dtype.type(0)
    for m in range(b.size):
        value = b[m] if nonnegative else abs(b[m])
        if value > bar:
            chosen[found] = m
            size_of[found] = value
            found += 1
            if found == size_of.size:
                bar = _cut(chosen, size_of, found, budget, scratch)
                found = budget
    if found > budget:
        _cut(chosen, size_of, found, budget, scratch)
        found = budget
    return found


@njit(nogil=True, cache=True, makes_arrays=False)
def _cut(chosen, size_of, found, budget, scratch):
    """Keep the best `budget` of the buffer, in their order; returns the least of them, the new bar."""
    for j in range(found):
        scratch[j] = size_of[j]
    bar = _ranked(scratch, found, found - budget)
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
    return bar


@njit(nogil=True, cache=True, makes_arrays=False)
def _ranked(values, size, rank):
    """The value at this place, were the first `size` of them sorted; they are put into another order.

    Hoare's selection: `np.partition` would take longer to compile than all the rest of a fit.
    """
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return values[rank]
