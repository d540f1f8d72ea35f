"""What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden words.

Every topic step is a function of sums over documents. So whatever is known beforehand is added to these sums,
as documents would be: each loss does so in one place (`squared.before`, `divergence.pseudocounts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, vstack

from laconic.engines import Block, Engine, Shard, Shards, even_rows
from laconic.engines.shards import row_range
from laconic.losses.factor import Floats, narrow, transposed
from laconic.losses.starts import unit_budget

# Words that a seeded topic begins with, at most: as many as a drawn document has, about.
SEEDED_WORDS = 360
# Topics whose documents are added up in one go.
SEEDED_AT_ONCE = 64


class Anchoring(NamedTuple):
    """Topics that are held, in rows and columns of the model; picklable."""

    targets: csr_array
    """Topics by terms: where topics are held; an empty row for those that are not."""
    strengths: NDArray[np.float64]
    """Segments by topics: how strongly; zero for those that are free, and for frozen ones."""
    frozen: NDArray[np.bool_]
    """Segments by topics: those that stay at their targets to the bit."""
    forbidden: csr_array | None = None
    """Topics by terms: non-zero where a topic may not have a word."""
    words_only: NDArray[np.bool_] | None = None
    """Topics whose targets are words without weights, so that they may have any scale."""

    @property
    def held(self) -> NDArray[np.int64]:
        """The topics that are held, or frozen."""
        return np.flatnonzero((self.strengths > 0).any(axis=0) | self.frozen.any(axis=0))

    def permitted(self, topics: csr_array, rows: Any = slice(None)) -> csr_array:
        """Topics × terms without forbidden words; `rows` says which topics these are."""
        if self.forbidden is None:
            return topics
        return without(topics, csr_array(self.forbidden[rows]))

    def possible(self, columns: slice = slice(None), segment: int = 0) -> NDArray[np.bool_]:
        """Which terms of a segment any topic may have."""
        frozen = self.frozen[segment]
        known = np.asarray((self.targets[frozen][:, columns] != 0).sum(axis=0)).ravel() > 0
        free = np.flatnonzero(~frozen)
        if free.size == 0:
            return known
        if self.forbidden is None:
            return np.ones(known.size, bool)
        return known | (np.asarray(self.forbidden[free][:, columns].sum(axis=0)).ravel() < free.size)


def without(topics: csr_array, forbidden: csr_array) -> csr_array:
    """Topics × terms with zeros where `forbidden` is not zero."""
    kept = csr_array(topics - topics.multiply(forbidden != 0))
    kept.eliminate_zeros()
    kept.sort_indices()
    return narrow(csr_array(kept, dtype=topics.dtype))


def seeded_topics(
    shards: Shards, engine: Engine, targets: csr_array, owners: NDArray[np.int64] | None = None
) -> csr_array:
    """Sums of the documents, each as often as it has the words of a target: where seeded topics begin.

    Parameters
    ----------
    shards : Shards
    engine : Engine
    targets : csr_array of shape (n_seeded, n_terms)
    owners : ndarray of shape (n_seeded,), optional
        The class whose documents count; -1 stands for all of them.

    Returns
    -------
    csr_array of shape (n_seeded, n_terms)
        The largest words of each sum, and those of the target, of length one.
    """
    parts = [csr_array((0, targets.shape[1]), dtype=targets.dtype)]
    for first in range(0, targets.shape[0], SEEDED_AT_ONCE):
        some = slice(first, first + SEEDED_AT_ONCE)
        seeds = csr_array(targets[some])
        by_class = engine.documents(shards, weighed_documents, transposed(seeds), even_rows)
        own = np.full(seeds.shape[0], -1) if owners is None else owners[some]
        total = csr_array(seeds.shape, dtype=targets.dtype)
        for klass, share in enumerate(by_class):
            if share is not None:
                mine = ((own < 0) | (own == klass)).astype(targets.dtype)
                total = total + diags_array(mine, dtype=targets.dtype) @ share
        total = csr_array(total)
        total.sum_duplicates()
        total.eliminate_zeros()
        parts.append(unit_budget(total, SEEDED_WORDS, nonnegative=False))
    unit = unit_budget(targets, targets.shape[1], nonnegative=False)
    begun = csr_array(vstack(parts, format="csr") + unit)
    return unit_budget(begun, targets.shape[1], nonnegative=False)


def settle(
    shards: Shards,
    engine: Engine,
    drawn: csr_array,
    rows: NDArray[Any],
    seeded: csr_array,
    places: Sequence[slice],
    names: NDArray[Any] | None = None,
) -> csr_array:
    """Topics × terms: seeded ones in some rows, in others those drawn that leave these their documents.

    For each seeded topic, the one drawn goes that has most of its documents: otherwise two topics would begin
    at the same place and none at another, to which a seeded one might then move.

    Parameters
    ----------
    shards, engine
    drawn : csr_array of shape (n_topics, n_terms)
    rows : ndarray
        Of the seeded topics, rising.
    seeded : csr_array of shape (n_seeded, n_terms)
    places : sequence of slice
        Topics that may take each other's place: those that all documents share, and then those of each class.
    names : ndarray, optional
        The terms in the order in which shards call them.
    """
    order = np.arange(drawn.shape[0])
    called = slice(None) if names is None else names
    both = [
        transposed(unit_budget(csr_array(each[:, called]), drawn.shape[1], nonnegative=False))
        for each in (seeded, drawn)
    ]
    by_class = engine.documents(shards, shared_documents, (both[0], both[1]), even_rows)
    nothing = np.zeros((rows.size, drawn.shape[0]))
    shares = [nothing if share is None else share for share in by_class]
    for place, share in zip(places, [np.sum(shares, axis=0), *shares], strict=True):
        mine = np.flatnonzero((rows >= place.start) & (rows < place.stop))
        if mine.size == 0:
            continue
        size = place.stop - place.start
        from scipy.optimize import linear_sum_assignment

        _, gone = linear_sum_assignment(share[mine][:, place], maximize=True)
        left = np.setdiff1d(np.arange(size), gone)
        free = np.setdiff1d(np.arange(size), rows[mine] - place.start)
        order[place.start + free] = place.start + left
    return placed(csr_array(drawn[order]), rows, seeded)


def shared_documents(shard: Shard, rows: Block, topics: tuple[csr_array, csr_array]) -> Floats:
    """How much two sets of topics (terms × topics) have in common, by these documents' products with them."""
    X = row_range(shard.X, rows)
    one, other = ((X @ each).toarray().astype(np.float64) for each in topics)
    return np.asarray(np.abs(one).T @ np.abs(other))


def weighed_documents(shard: Shard, rows: Block, seeds: csr_array) -> csr_array:
    """The sum of these documents for every seed (terms × seeds), weighted by its words."""
    X = row_range(shard.X, rows)
    return csr_array((X @ seeds).T @ X)


def placed(topics: csr_array, rows: NDArray[Any], others: csr_array) -> csr_array:
    """Topics × terms with others in the place of some rows."""
    rest = np.ones(topics.shape[0], topics.dtype)
    rest[rows] = 0
    spread = csr_array(
        (np.ones(rows.size, topics.dtype), (rows, np.arange(rows.size))), shape=(topics.shape[0], rows.size)
    )
    # products of one and of zero: the bits of both stay
    whole = csr_array(diags_array(rest, dtype=topics.dtype) @ topics + spread @ others.astype(topics.dtype))
    whole.eliminate_zeros()
    whole.sort_indices()
    return narrow(csr_array(whole))


def rows_of(matrix: Any, terms: NDArray[Any]) -> Floats:
    """Some rows of a sparse or dense matrix, dense."""
    return np.asarray(matrix[terms] if isinstance(matrix, np.ndarray) else matrix[terms].toarray())
