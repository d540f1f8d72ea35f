"""Sums of decision trees."""

from laconic.kernels.compiling import njit


@njit(nogil=True, cache=True, makes_arrays=False)
def add_trees(roots, features, thresholds, left, right, leaves, rows, out):
    """Add to every row's score the leaf that it reaches in each tree, tree after tree.

    Nodes and leaves of all trees are numbered together; a child below 0 is the leaf ``-1 - child``. Children
    have larger numbers than their parents, or this would not end.
    """
    for row in range(rows.shape[0]):
        values = rows[row]
        score = 0.0
        for tree in range(roots.shape[0]):
            node = roots[tree]
            while node >= 0:
                # the comparison is one of float64, as in training
                smaller = float(values[features[node]]) <= thresholds[node]
                node = left[node] if smaller else right[node]
            score += leaves[-1 - node]
        out[row] += score
