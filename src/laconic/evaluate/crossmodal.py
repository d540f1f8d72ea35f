"""Finding in one modality (a language, a medium) what belongs to something in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def mean_average_precision(
    scores: ArrayLike,
    query_labels: ArrayLike,
    item_labels: ArrayLike,
    *,
    n_relevant: int | None = None,
    depth: int | None = None,
) -> float:
    """Mean of the queries' average precision, where an item is relevant if it is of the query's class.

    The average precision of a query is the mean of the precisions at the ranks of its relevant items. Items
    of equal score stay in their order; a query without any relevant item (in the first `depth`) counts as 0.

    Parameters
    ----------
    scores : array-like of shape (n_queries, n_items)
        Similarities; more is better.
    query_labels : array-like of shape (n_queries,)
        Classes of the queries.
    item_labels : array-like of shape (n_items,)
        Classes of the items.
    n_relevant : int, optional
        Average over this many relevant items, however far down they are. By default over all of them.
    depth : int, optional
        Look only at this many ranks. By default at all.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    The relevant items have ranks 1, 3 and 4: precisions 1, 2/3 and 3/4.

    >>> scores = [[0.9, 0.8, 0.7, 0.6]]
    >>> round(mean_average_precision(scores, ["a"], ["a", "b", "a", "a"]), 4)
    0.8056
    >>> round(mean_average_precision(scores, ["a"], ["a", "b", "a", "a"], n_relevant=2), 4)
    0.8333
    >>> mean_average_precision(scores, ["a"], ["a", "b", "a", "a"], depth=2)
    1.0
    """
    similar = _checked(scores)
    asked, found = np.asarray(query_labels), np.asarray(item_labels)
    if similar.shape != (len(asked), len(found)):
        raise ValueError(
            f"scores have shape {similar.shape}, but there are {len(asked)} labels of queries and "
            f"{len(found)} of items; give a row for each query and a column for each item"
        )
    order = np.argsort(-similar, axis=1, kind="stable")[:, :depth]
    relevant = found[order] == asked[:, None]
    so_far = np.cumsum(relevant, axis=1)
    precision = so_far / np.arange(1, order.shape[1] + 1)
    counted = relevant if n_relevant is None else relevant & (so_far <= n_relevant)
    averages = (precision * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return float(averages.mean())


def mate_ranks(scores: ArrayLike) -> NDArray[np.int64]:
    """Rank of each query's mate: query n looks for item n.

    Parameters
    ----------
    scores : array-like of shape (n_queries, n_items)
        Similarities; more is better. There are at least as many items as queries.

    Returns
    -------
    numpy.ndarray of int, shape (n_queries,)
        From 1. Items with the same score count as ranked before the mate, so ties are no advantage.

    Examples
    --------
    The mean reciprocal rank, and the share of mates that come first:

    >>> ranks = mate_ranks([[0.9, 0.1], [0.8, 0.2]])
    >>> ranks
    array([1, 2])
    >>> float((1 / ranks).mean()), float((ranks == 1).mean())
    (0.75, 0.5)
    """
    similar = _checked(scores)
    n_queries, n_items = similar.shape
    if n_items < n_queries:
        raise ValueError(f"there are {n_queries} queries and only {n_items} items; each query needs its mate")
    mates = similar[np.arange(n_queries), np.arange(n_queries)]
    ranks: NDArray[np.int64] = np.count_nonzero(similar >= mates[:, None], axis=1)
    return ranks


def _checked(scores: ArrayLike) -> NDArray[np.float64]:
    similar = np.asarray(scores, dtype=np.float64)
    if similar.ndim != 2 or similar.size == 0:
        raise ValueError(f"scores must be an array of queries x items, not one of shape {similar.shape}")
    if np.isnan(similar).any():
        raise ValueError("some scores are NaN; give a number for every query and item")
    return similar
