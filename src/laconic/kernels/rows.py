"""Row problems of the squared loss: each row c minimises  c'Gc - 2 r'c + 2 t |c|_1 + a |c|_2^2.

G is the Gram matrix of the other factor, r the row of products with it. The same kernel solves for topics
(a row per term) and for documents (a row per document), signed or non-negative; t is half of the l1 penalty.
"""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit


@njit(nogil=True, cache=True, fastmath={"contract"})
def descend(gram, targets, rows, threshold, ridge, nonnegative, precision, max_sweeps):
    """Coordinate descent on every row, warm-started from `rows` and written there.

    A row is zero exactly when no |r_k| (no r_k, if non-negative) exceeds the threshold: most terms end
    there. Otherwise the sweeps visit the active coordinates only, and all are checked again before a row is
    left. A row is solved when its KKT violation is at most `precision` times its largest |r_k|. Returns the
    number of rows that were left earlier, after `max_sweeps`.
    """
    width = gram.shape[0]
    gradient = np.empty(width, rows.dtype)
    active = np.empty(width, np.int64)
    unsolved = 0
    for i in range(rows.shape[0]):
        target, row = targets[i], rows[i]
        largest, reach = _extent(target, nonnegative)
        if reach <= threshold:
            row[:] = 0
            continue
        tolerance = precision * largest
        for k in range(width):
            gradient[k] = target[k]
        for k in range(width):
            if row[k] != 0:
                _subtract(gradient, row[k], gram[k])
                gradient[k] -= ridge * row[k]
        sweeps = 0
        while True:
            n_active, violation = _find_active(gradient, row, threshold, nonnegative, active)
            if violation <= tolerance:
                break
            if sweeps >= max_sweeps:
                unsolved += 1
                break
            while sweeps < max_sweeps:
                sweeps += 1
                if _sweep(gram, gradient, row, active[:n_active], threshold, ridge, nonnegative) <= tolerance:
                    break
    return unsolved


# Rows that are updated side by side: what they need of a topic is a few vector registers.
ROWS_AT_ONCE = 64


@njit(nogil=True, cache=True, fastmath={"contract"})
def update_once(gram, targets, rows):
    """One exact non-negative update of every entry, a coordinate after the other: HALS.

    Whole rows are cheap to update side by side, so zeros are not looked for: that only pays where rows are
    solved to their end.
    """
    width = gram.shape[0]
    products = np.zeros((width, ROWS_AT_ONCE), rows.dtype)
    turned = np.zeros((width, ROWS_AT_ONCE), rows.dtype)
    left = np.empty(ROWS_AT_ONCE, rows.dtype)
    zero = rows.dtype.type(0)
    for start in range(0, rows.shape[0], ROWS_AT_ONCE):
        n_rows = min(ROWS_AT_ONCE, rows.shape[0] - start)
        for i in range(n_rows):
            for k in range(width):
                products[k, i] = targets[start + i, k]
                turned[k, i] = rows[start + i, k]
        for k in range(width):
            target, row = products[k], turned[k]
            for i in range(ROWS_AT_ONCE):
                left[i] = target[i]
                row[i] = 0
            curvature = gram[k, k]
            if curvature <= 0:
                continue
            for other in range(width):
                weight, known = gram[k, other], turned[other]
                for i in range(ROWS_AT_ONCE):
                    left[i] -= weight * known[i]
            for i in range(ROWS_AT_ONCE):
                row[i] = max(left[i] / curvature, zero)
        for i in range(n_rows):
            for k in range(width):
                rows[start + i, k] = turned[k, i]


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"nnan", "nsz", "reassoc"})
def _extent(target, nonnegative):
    """Largest |r_k|, and what the zero screen compares with the threshold."""
    high, low = target[0], target[0]
    for k in range(1, target.size):
        high = max(high, target[k])
        low = min(low, target[k])
    largest = max(high, -low)
    return largest, high if nonnegative else largest


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
def _subtract(gradient, step, direction):
    for k in range(gradient.size):
        gradient[k] -= step * direction[k]


@njit(nogil=True, cache=True, makes_arrays=False)
def _find_active(gradient, row, threshold, nonnegative, active):
    """List the coordinates that are non-zero or violate optimality, and the largest violation."""
    n_active = 0
    worst = gradient.dtype.type(0)
    for k in range(row.size):
        if row[k] > 0:
            violation = abs(gradient[k] - threshold)
        elif row[k] < 0:
            violation = abs(gradient[k] + threshold)
        elif nonnegative:
            violation = gradient[k] - threshold
        else:
            violation = abs(gradient[k]) - threshold
        if row[k] != 0 or violation > 0:
            active[n_active] = k
            n_active += 1
            worst = max(worst, violation)
    return n_active, worst


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
def _sweep(gram, gradient, row, active, threshold, ridge, nonnegative):
    """One exact update of each active coordinate; returns the largest change of a gradient's own entry."""
    largest = gradient.dtype.type(0)
    zero = gradient.dtype.type(0)
    for k in active:
        curvature = gram[k, k] + ridge
        old = row[k]
        new = zero
        if curvature > 0:
            b = gradient[k] + curvature * old
            if b > threshold:
                new = (b - threshold) / curvature
            elif b < -threshold and not nonnegative:
                new = (b + threshold) / curvature
        step = new - old
        if step != 0:
            row[k] = new
            _subtract(gradient, step, gram[k])
            gradient[k] -= ridge * step
            largest = max(largest, abs(step) * curvature)
    return largest


@njit(nogil=True, cache=True, makes_arrays=False)
def expand(indptr, indices, data, rows, out):
    """Some rows of a CSR matrix as dense rows."""
    out[:] = 0
    for i in range(rows.size):
        row = out[i]
        for j in range(indptr[rows[i]], indptr[rows[i] + 1]):
            row[indices[j]] = data[j]


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
def multiply(indptr, indices, data, rows, factor, places, out):
    """Add some rows of a CSR matrix times a small dense factor to these places of `out`."""
    for i in range(rows.size):
        total = out[places[i]]
        for j in range(indptr[rows[i]], indptr[rows[i] + 1]):
            weight, direction = data[j], factor[indices[j]]
            for k in range(total.size):
                total[k] += weight * direction[k]


@njit(nogil=True, cache=True, makes_arrays=False)
def rows_ahead(before_indptr, before_indices, before_data, indptr, indices, data, share, nonnegative):
    """Move the values of a CSR matrix on, by this share of the way that they came from those before.

    Both are canonical; what stands nowhere is zero, and stays zero.
    """
    zero = data.dtype.type(0)
    for i in range(indptr.size - 1):
        j, end = before_indptr[i], before_indptr[i + 1]
        for place in range(indptr[i], indptr[i + 1]):
            while j < end and before_indices[j] < indices[place]:
                j += 1
            former = before_data[j] if j < end and before_indices[j] == indices[place] else zero
            moved = data[place] + share * (data[place] - former)
            data[place] = max(moved, zero) if nonnegative else moved


@njit(nogil=True, cache=True, makes_arrays=False)
def split(products, shared_rows, own_rows, shared, own):
    """Add the first columns of `products` to some rows of `shared`, and copy the others to rows of `own`."""
    width = shared.shape[1]
    for i in range(products.shape[0]):
        source, total, target = products[i], shared[shared_rows[i]], own[own_rows[i]]
        for k in range(width):
            total[k] += source[k]
        for k in range(target.size):
            target[k] = source[width + k]


@njit(nogil=True, cache=True, makes_arrays=False)
def sound_rows(indptr, indices, data, n_columns, least):
    """Whether a CSR matrix is canonical, and its values are finite and at least `least`."""
    if indptr[0] != 0 or indptr[-1] != indices.size or indices.size != data.size:
        return False
    for i in range(indptr.size - 1):
        last = -1
        if not indptr[i] <= indptr[i + 1] <= indices.size:
            return False
        for j in range(indptr[i], indptr[i + 1]):
            column, value = indices[j], data[j]
            # written so that it does not hold for NaN
            if not (last < column < n_columns and least <= value and -np.inf < value < np.inf):
                return False
            last = column
    return True


@njit(nogil=True, cache=True)
def compress(rows):
    """Dense rows in CSR parts: the non-zeros of each row, their columns and values."""
    sizes = np.empty(rows.shape[0], np.int64)
    total = 0
    for i in range(rows.shape[0]):
        row, count = rows[i], 0
        for k in range(row.size):
            count += row[k] != 0
        sizes[i] = count
        total += count
    # Every entry is written, and the next one over it if it was zero: no branch to guess, one place to spare.
    indices = np.empty(total + 1, np.int32)
    data = np.empty(total + 1, rows.dtype)
    j = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        for k in range(row.size):
            indices[j] = k
            data[j] = row[k]
            j += row[k] != 0
    return sizes, indices[:total], data[:total]


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract", "reassoc"})
def inner(a, b):
    """The inner product of two dense blocks, summed in float64 whatever their type."""
    total = 0.0
    for i in range(a.shape[0]):
        x, y = a[i], b[i]
        for k in range(x.size):
            total += np.float64(x[k]) * np.float64(y[k])
    return total


@njit(nogil=True, cache=True, makes_arrays=False)
def sparse_gram(indptr, indices, data, start, stop, out):
    """Add the outer products of rows start to stop of a CSR matrix to `out` (upper triangle, float64)."""
    for i in range(start, stop):
        begin, end = indptr[i], indptr[i + 1]
        for j in range(begin, end):
            row = out[indices[j]]
            value = np.float64(data[j])
            for l in range(j, end):  # noqa: E741
                row[indices[l]] += value * data[l]


@njit(nogil=True, cache=True, makes_arrays=False)
def sparse_cross(indptr, indices, data, other_indptr, other_indices, other_data, out):
    """Add the outer products of the rows of two CSR matrices to `out` (float64)."""
    for i in range(indptr.size - 1):
        for j in range(indptr[i], indptr[i + 1]):
            row = out[indices[j]]
            value = np.float64(data[j])
            for l in range(other_indptr[i], other_indptr[i + 1]):  # noqa: E741
                row[other_indices[l]] += value * other_data[l]


@njit(nogil=True, cache=True, makes_arrays=False, fastmath={"contract"})
def sparse_products(indptr, indices, data, start, stop, block, out):
    """Add ``A' block`` to `out`; A are rows `start` to `stop` of a CSR matrix, beside those of `block`."""
    for i in range(start, stop):
        row = block[i - start]
        for j in range(indptr[i], indptr[i + 1]):
            total, a = out[indices[j]], data[j]
            for k in range(row.size):
                total[k] += a * row[k]
