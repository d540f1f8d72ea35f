"""Statistics from before, for the divergence: counts that are added to the expected counts of topics.

An anchor  tau KL(z_k || c_k)  is a document of tau words, distributed as z_k, that is all of topic k: it adds
tau z_k to the topic's expected counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shards
from laconic.losses.anchoring import Anchoring, seeded_topics, settle
from laconic.losses.divergence.counts import known_words
from laconic.losses.factor import Floats, transposed
from laconic.losses.totals import term_sums

# The share of its target that an anchored topic has at the start: it must have some of every word of it.
TARGET_SHARE = 0.1


class PseudoCounts(NamedTuple):
    """Counts of topics that are there before the documents; terms in segments, as those of the steps."""

    counts: csr_array
    """Terms by topics."""
    totals: NDArray[np.float64]
    """Segments by topics: their sums."""
    frozen: NDArray[np.bool_]
    """Segments by topics: those that stay as they are."""

    def divergence(self, topics: Floats, segments: Sequence[Block]) -> float:
        """How far topics are from where they are held."""
        total = 0.0
        for s, segment in enumerate(segments):
            own = self.counts[segment.start : segment.stop]
            terms = np.repeat(np.arange(segment.start, segment.stop), np.diff(own.indptr))
            counts = own.data.astype(np.float64)
            chances = topics[terms, own.indices].astype(np.float64)
            least = np.finfo(topics.dtype).tiny
            expected = np.maximum(chances, least) * self.totals[s][own.indices]
            total += float(np.sum(counts * np.log(counts / expected)))
        return total

    def add(self, terms: Block, counts: Floats) -> None:
        """Add the counts of some terms to those expected."""
        if self.counts.indptr[terms.start] != self.counts.indptr[terms.stop]:
            counts += self.counts[terms.start : terms.stop].toarray()


def pseudo_counts(
    anchors: Anchoring | None, shards: Shards, engine: Engine, segments: Sequence[Block]
) -> PseudoCounts | None:
    """What anchors add: strength times all counts of a segment, divided by the number of topics."""
    if anchors is None:
        return None
    n_topics, words = anchors.targets.shape[0], term_sums(shards, engine)
    shares = _shares(anchors, segments)
    totals = np.zeros((len(segments), n_topics))
    counts = csr_array(transposed(shares), dtype=np.float64)
    for s, segment in enumerate(segments):
        own = slice(segment.start, segment.stop)
        held = ~anchors.frozen[s] & (np.asarray(shares[:, own].sum(axis=1)).ravel() > 0)
        totals[s] = np.where(held, anchors.strengths[s] * words[own].sum() / n_topics, 0)
        entries = slice(counts.indptr[segment.start], counts.indptr[segment.stop])
        counts.data[entries] *= totals[s][counts.indices[entries]]
    counts.eliminate_zeros()
    return PseudoCounts(counts.astype(shards.dtype), totals, anchors.frozen)


def _shares(anchors: Anchoring, segments: Sequence[Block]) -> csr_array:
    """Targets (topics × terms) that sum to one over every segment, where they have any word of it."""
    shares = csr_array(anchors.targets, dtype=np.float64, copy=True)
    owner = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    for segment in segments:
        mine = (shares.indices >= segment.start) & (shares.indices < segment.stop)
        sums = np.bincount(owner[mine], shares.data[mine], minlength=shares.shape[0])
        shares.data[mine] /= sums[owner[mine]]
    return shares


def without_impossible(shards: Shards, anchors: Anchoring | None) -> Shards:
    """Documents without the words that no topic may have."""
    if anchors is None:
        return shards
    possible = anchors.possible()
    return shards if possible.all() else shards.transformed(partial(known_words, known=possible))


def seed(topics: Floats, shards: Shards, engine: Engine, anchors: Anchoring | None) -> None:
    """Put sums of documents (terms × topics) in the place of topics that are seeded."""
    if anchors is None or anchors.held.size == 0:
        return
    rows, n_topics = anchors.held, topics.shape[1]
    seeded = seeded_topics(shards, engine, csr_array(anchors.targets[rows], dtype=shards.dtype))
    places = [slice(0, 0), slice(0, n_topics)]
    drawn = csr_array(topics.T, dtype=shards.dtype)
    begun = settle(shards, engine, drawn, rows, seeded, places)
    topics[:] = begun.toarray().T


def hold(topics: Floats, anchors: Anchoring | None, segments: Sequence[Block], dtype: Any) -> None:
    """Let topics (terms × topics) that sum to one have some of their targets, and no forbidden words."""
    if anchors is None:
        return
    shares = _shares(anchors, segments)
    least = np.sqrt(np.finfo(dtype).tiny)
    for s, segment in enumerate(segments):
        own = slice(segment.start, segment.stop)
        part, target = topics[own], shares[:, own].toarray().T
        if anchors.forbidden is not None:
            part[anchors.forbidden[:, own].toarray().T != 0] = 0
            # a topic that has lost all its words begins with those that it may have
            lost = np.flatnonzero(part.sum(axis=0) == 0)
            part[:, lost] = anchors.forbidden[lost][:, own].toarray().T == 0
            part /= part.sum(axis=0)
        held = target.any(axis=0) & ((anchors.strengths[s] > 0) | anchors.frozen[s])
        share = np.where(held, np.where(anchors.frozen[s], 1, TARGET_SHARE), 0)
        part *= 1 - share
        part += share * target
        np.maximum(part, least, out=part, where=part > 0)
        # as they were given, to the bit, where they sum to one
        given = anchors.targets[:, own].toarray().T
        sums = given.sum(axis=0, dtype=np.float64)
        exact = np.flatnonzero(anchors.frozen[s] & (np.abs(sums - 1) < 1e-5))
        part[:, exact] = given[:, exact]
