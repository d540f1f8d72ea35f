"""Groups of terms that a topic takes or leaves as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


class TermGroups(NamedTuple):
    """Columns of X in the order of their groups; one that is in several groups stands in each of them."""

    names: list[Any]
    """One for every group; terms without a group are groups of their own, called by name or number."""
    n_given: int
    """How many of the groups, the first ones, were described."""
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where each group begins in `columns`, and the number of them."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of terms of every group."""
        return np.diff(self.starts)

    def expand(self, X: csr_array) -> csr_array:
        """The columns of X, each as often as it is in a group."""
        expanded = csr_array(X[:, self.columns])
        expanded.sort_indices()
        return expanded

    def fold(self, topics: csr_array) -> csr_array:
        """Topics × terms, with the copies of a term added up."""
        n_terms = int(self.columns.max()) + 1
        copies = csr_array(
            (np.ones(self.columns.size, topics.dtype), (np.arange(self.columns.size), self.columns)),
            shape=(self.columns.size, n_terms),
        )
        folded = csr_array(topics @ copies)
        folded.sum_duplicates()
        folded.eliminate_zeros()
        return folded


def term_groups(groups: Any, n_terms: int, names: Any = None) -> TermGroups:
    """The groups that a caller describes: an id for every term, or a mapping of names to terms."""
    if isinstance(groups, Mapping):
        return _from_mapping(groups, n_terms, names)
    ids = np.asarray(groups)
    if ids.shape != (n_terms,):
        raise ValueError(f"groups has shape {ids.shape}, but there are {n_terms} terms: give each an id")
    labels, members = np.unique(ids, return_inverse=True)
    order = np.argsort(members, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=labels.size))])
    return TermGroups(labels.tolist(), labels.size, order.astype(np.int64), starts.astype(np.int64))


def _from_mapping(groups: Mapping[Any, Any], n_terms: int, names: Any) -> TermGroups:
    places = {} if names is None else {str(name): m for m, name in enumerate(names)}
    columns, starts, labels = [], [0], []
    covered = np.zeros(n_terms, bool)
    for label, terms in groups.items():
        own = np.unique([_column(term, label, n_terms, places) for term in terms])
        if own.size == 0:
            raise ValueError(f"the group {label!r} has no terms: leave it out")
        covered[own] = True
        columns.append(own)
        labels.append(label)
        starts.append(starts[-1] + own.size)
    n_given = len(labels)
    alone = np.flatnonzero(~covered)
    columns.append(alone)
    labels += [f"term {m}" if names is None else str(names[m]) for m in alone.tolist()]
    whole = np.concatenate([starts, starts[-1] + np.arange(1, alone.size + 1)])
    return TermGroups(labels, n_given, np.concatenate(columns).astype(np.int64), whole.astype(np.int64))


def _column(term: Any, label: Any, n_terms: int, places: Mapping[str, int]) -> int:
    if isinstance(term, str):
        if term not in places:
            hint = "" if places else "; X has no feature names, so give the numbers of columns"
            raise ValueError(f"the group {label!r} has the term {term!r}, which X does not have{hint}")
        return places[term]
    if not isinstance(term, Integral):
        raise ValueError(  # noqa: TRY004
            f"the group {label!r} has the term {term!r}: give names, or column numbers"
        )
    if not 0 <= int(term) < n_terms:
        raise ValueError(f"the group {label!r} has the term {term!r}, but there are {n_terms} terms")
    return int(term)
