"""The words of a topic, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = tuple[NDArray[Any], NDArray[Any]]
"""The columns where a topic is not zero, rising, and what it has there."""


def by_weight(
    terms: NDArray[Any], weights: NDArray[Any], names: Sequence[Any] | NDArray[Any], n_terms: int | None
) -> list[tuple[str, float]]:
    """The words of a topic, largest absolute weight first.

    Parameters
    ----------
    terms : ndarray of int
        The columns where the topic is not zero, rising.
    weights : ndarray of float
        What it has there.
    names : sequence
        The name of every column.
    n_terms : int or None
        At most this many, or all.

    Returns
    -------
    list of (str, float)

    Examples
    --------
    >>> by_weight(np.array([0, 2, 3]), np.array([0.5, -2.0, 0.5]), ["sun", "sea", "rain", "snow"], 2)
    [('rain', -2.0), ('sun', 0.5)]
    """
    # stable: equal weights stay in the vocabulary's order
    order = np.argsort(-np.abs(weights), kind="stable")
    order = order if n_terms is None else order[: max(0, n_terms)]
    return [(str(names[terms[j]]), float(weights[j])) for j in order]


def strongest_only(rows: Sequence[Row]) -> list[Row]:
    """The words of topics, each only in the topic where it is strongest: lists that do not repeat each other.

    Parameters
    ----------
    rows : sequence of (ndarray of int, ndarray of float)
        The columns where each topic is not zero, and what it has there.

    Returns
    -------
    list of (ndarray of int, ndarray of float)
        A word is strongest where its weight is the largest share of the topic's length (Euclidean norm); of
        equal shares, the first topic's counts. A word that speaks for some topics is strongest in one of
        them, however much it speaks against another.

    Examples
    --------
    >>> sea, sky = (np.array([0, 1]), np.array([3.0, 4.0])), (np.array([1, 2]), np.array([0.3, 0.4]))
    >>> [terms.tolist() for terms, weights in strongest_only([sea, sky])]
    [[0, 1], [2]]
    """
    n_columns = 1 + max((int(terms.max(initial=-1)) for terms, _ in rows), default=-1)
    most, owner = np.zeros(n_columns), np.full(n_columns, -1)
    for k, (terms, weights) in enumerate(rows):
        largest = np.abs(weights).max(initial=0)
        shares = (weights / (largest or 1)).astype(float)
        shares /= np.linalg.norm(shares) or 1
        # of length one at most, so that all weights for a topic come before those against one
        strengths = np.where(shares > 0, 1 + shares, -shares)
        more = strengths > most[terms]
        most[terms[more]], owner[terms[more]] = strengths[more], k
    own = [owner[terms] == k for k, (terms, _) in enumerate(rows)]
    return [(terms[mine], weights[mine]) for mine, (terms, weights) in zip(own, rows, strict=True)]


def names_in(vocabulary: Any) -> Any:
    """The names of columns: as they are given, or those that a corpus, a bundle or a vectoriser has.

    >>> from laconic import Corpus
    >>> names_in(Corpus.from_texts(["red fish", "red fish"], max_df=1.0)).tolist(), names_in(["red"])
    (['fish', 'red'], ['red'])
    """
    own = getattr(vocabulary, "vocabulary", None)
    if own is not None:
        return own
    if hasattr(vocabulary, "get_feature_names_out"):
        return vocabulary.get_feature_names_out()
    if isinstance(vocabulary, Mapping):
        # from words to columns, as scikit-learn's vocabulary_ has them
        return sorted(vocabulary, key=vocabulary.__getitem__)
    if not hasattr(vocabulary, "__len__") or isinstance(vocabulary, str):
        raise TypeError(
            "vocabulary must be a list with the name of every column, or a corpus or vectoriser that has "
            f"them, not {type(vocabulary).__name__}"
        )
    return vocabulary
