"""Topic models on a grid, blended with term matching: the best, and the one that other queries choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.experiments.retrieval.collections import Collection, Floats

Precisions = NDArray[np.float64]

BLENDS = np.round(np.linspace(0, 1, 21), 2)


@dataclass(frozen=True, eq=False)
class Entry:
    """A topic model of the grid.

    Attributes
    ----------
    settings : dict
        What sets it apart from the others, as the page names it.
    scores : ndarray of float32, shape (n_queries, n_documents)
        Scores of topic matching.
    precisions : dict of str to ndarray of shape (n_blends, n_queries)
        From the names of term scores to average precisions for each of `BLENDS`.
    density : float or None
        The share of the topics' weights that are not zero.
    """

    settings: dict[str, Any]
    scores: Floats
    precisions: dict[str, Precisions]
    density: float | None = None


@dataclass(frozen=True)
class Choice:
    """An entry of the grid, the terms' scores it is blended with, and the part that topics have."""

    entry: Entry
    terms: str
    place: int

    @property
    def blend(self) -> float:
        """The part of topics, from 0 to 1."""
        return float(BLENDS[self.place])

    def scores(self, collection: Collection, rows: Any = slice(None)) -> Floats:
        """The blend of topics and terms, for these queries."""
        return blended(collection.terms[self.terms][rows], self.entry.scores[rows], self.blend)


def blended(terms: Floats, topics: Floats, blend: float) -> Floats:
    """``blend * topics + (1 - blend) * terms``."""
    return np.float32(blend) * topics + np.float32(1 - blend) * terms


def average_precisions(
    terms: Floats, topics: Floats, relevant: Sequence[NDArray[np.int64]], blends: NDArray[Any] = BLENDS
) -> Precisions:
    """The average precision of every blend for every query, over all documents.

    Of documents with equal scores, all have the mean of their ranks: what an arbitrary order gives on
    average, nearly.

    Parameters
    ----------
    terms, topics : ndarray of float32, shape (n_queries, n_documents)
        Scores of both kinds.
    relevant : sequence of ndarray of int
        The numbers of each query's relevant documents.
    blends : ndarray
        Parts of topics, from 0 to 1.

    Returns
    -------
    ndarray of float64, shape (n_blends, n_queries)

    Examples
    --------
    >>> import numpy as np
    >>> terms = np.array([[3, 2, 1]], np.float32)
    >>> average_precisions(terms, -terms, [np.array([0, 2])], np.array([0.0])).round(3)
    array([[0.833]])
    """
    precisions = np.empty((len(blends), len(relevant)))
    for query, places in enumerate(relevant):
        scores = np.stack([blended(terms[query], topics[query], float(blend)) for blend in blends])
        ranks = np.empty((len(blends), places.size))
        for column, place in enumerate(places):
            own = scores[:, place, None]
            above, equal = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
            ranks[:, column] = above + (equal + 1) / 2
        ranks.sort(axis=1)
        found = np.arange(1, places.size + 1)
        # Relevant documents with equal scores share a rank, but no two are found there.
        precisions[:, query] = (found / np.maximum(ranks, found)).mean(axis=1)
    return precisions


def entry(
    collection: Collection, settings: dict[str, Any], scores: Floats, density: float | None = None
) -> Entry:
    """A topic model's place on the grid."""
    precisions = {
        name: average_precisions(terms, scores, collection.relevant)
        for name, terms in collection.terms.items()
    }
    return Entry(settings, scores, precisions, density)


def best(entries: Sequence[Entry], terms: str, queries: Any = slice(None)) -> Choice:
    """The entry and the blend of the largest mean average precision; of equals, the first."""
    means = np.stack([each.precisions[terms][:, queries].mean(axis=1) for each in entries])
    number, place = np.unravel_index(np.argmax(means), means.shape)
    return Choice(entries[int(number)], terms, int(place))


def cross_validated(
    collection: Collection, entries: Sequence[Entry], terms: str
) -> tuple[Floats, list[Choice]]:
    """Score each query by the entry and the blend that are best for the queries of other folds.

    Returns
    -------
    scores : ndarray of float32, shape (n_queries, n_documents)
        Blended.
    choices : list of Choice
        One for each fold.
    """
    scores = np.empty_like(collection.terms[terms])
    choices = []
    for fold in np.unique(collection.folds):
        held_out = np.flatnonzero(collection.folds == fold)
        choices.append(best(entries, terms, np.flatnonzero(collection.folds != fold)))
        scores[held_out] = choices[-1].scores(collection, held_out)
    return scores, choices
