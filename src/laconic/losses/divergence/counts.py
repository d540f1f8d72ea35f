"""Counts, and what their divergence from a model is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from laconic.engines import Engine, Shards
from laconic.losses.totals import checked_energy_of


def check_counts(X: Shards, engine: Engine) -> Shards:
    """X without stored zeros; refuses what has no likelihood, or leaves the range of its type."""
    X = X.transformed(without_zeros)
    if checked_energy_of(X, engine) == 0:
        raise ValueError("X has no words: all its entries are zero, so there is nothing to find topics in.")
    return X


def without_zeros(X: csr_array) -> csr_array:
    """X with its non-zeros only."""
    if X.data.all():
        return X
    X = X.copy()
    X.eliminate_zeros()
    return X


def of_sum_one(X: csr_array) -> csr_array:
    """Every document scaled to sum to one; empty ones stay empty."""
    from sklearn.preprocessing import normalize

    return csr_array(normalize(X, norm="l1"))


def known_words(X: csr_array, known: NDArray[np.bool_]) -> csr_array:
    """X without the words that are not known (to any topic), and without stored zeros."""
    kept = known[X.indices]
    if not kept.all():
        X = csr_array((np.where(kept, X.data, 0), X.indices, X.indptr), shape=X.shape)
    return without_zeros(X)


def from_independence(X: csr_array) -> float:
    """The divergence of X from what documents of these lengths have of words this frequent."""
    data = X.data.astype(np.float64)
    lengths, words = X.sum(axis=1, dtype=np.float64), X.sum(axis=0, dtype=np.float64)
    return float(
        np.sum(xlogy(data, data))
        - np.sum(xlogy(lengths, lengths))
        - np.sum(xlogy(words, words))
        + xlogy(data.sum(), data.sum())
    )


def check_topics(components: Any, n_segments: int) -> None:
    """Refuse stored topics that are no distributions, one over each segment; those without words are none."""
    if not isinstance(components, np.ndarray):
        raise ValueError("components are sparse, but those of this model are dense")  # noqa: TRY004
    if not components.min(initial=0) >= 0:
        raise ValueError("components are negative, but they are probabilities")
    sums = components.sum(axis=1, dtype=np.float64)
    if not sums.any():
        raise ValueError("components are all zero: no topic has a word")
    if np.abs(sums[sums > 0] - n_segments).max(initial=0) > 1e-3:
        raise ValueError("components do not sum to one")
