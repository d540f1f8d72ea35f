"""Steps that arrive sooner than expectation-maximisation: extrapolated topics, or coordinate descent.

Both begin with some plain steps. From weights that are all alike, the first topics to stand out win every
word, and a method that goes far in one step ends in a worse place: slow steps are the better judges there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from laconic.engines import Block, Engine, Shard, Shards
from laconic.engines.shards import keep_weights, restore_weights, writes
from laconic.kernels import poisson
from laconic.losses.divergence.mixtures import Descended, DocumentStep, Mixture
from laconic.losses.divergence.pseudocounts import PseudoCounts
from laconic.losses.divergence.starts import lengths
from laconic.losses.divergence.steps import DivergenceSteps, Expected, SegmentBlock, TermShare
from laconic.losses.factor import Floats
from laconic.storage.forms import Form, Maybe, Number

MEMORY = 2
"""Iterations of which the largest decrease counts: one that goes back to the last topics wins little."""
PLAIN = 10
"""Iterations before extrapolation, or descent, sets in."""
PLAIN_LEFT = Number(-1e9, PLAIN, whole=True)
"""How many of these are left; what is below zero tells how long ago they ended."""
FARTHEST = 3.0
"""How far a chance is extrapolated at most, as a logarithm."""


def least_chance(dtype: Any) -> float:
    """A chance whose product with another one like it does not vanish, nor slow the machine down."""
    return float(np.sqrt(np.finfo(dtype).tiny))


class ExtrapolatedSteps(DivergenceSteps):
    """Documents by a step of their own; topics by expectation-maximisation that is extrapolated.

    Documents are solved for topics ahead of the last ones: on the way from the ones before, on the scale of
    logarithms, and by Nesterov's sequence ever farther. If the objective is higher there, the step is done
    again from the last topics, and the sequence starts over; so the objective never rises. All sums are
    those of expectation-maximisation, additive over shards.

    What is told as the objective after a topic step is, while topics are extrapolated, that before it.

    Parameters
    ----------
    shards, topics, engine, segments, offset, before
        As in `DivergenceSteps`; topics are not changed in place.
    first : DocumentStep
        Of the plain steps at the start.
    documents : DocumentStep
        Of all others; it keeps nothing but the weights.
    plain : int, default=PLAIN
        Number of plain iterations.
    """

    def __init__(
        self,
        shards: Shards,
        topics: Floats,
        first: DocumentStep,
        documents: DocumentStep,
        engine: Engine,
        *,
        segments: Sequence[Block] | None = None,
        offset: float = 0.0,
        before: PseudoCounts | None = None,
        plain: int = PLAIN,
    ) -> None:
        super().__init__(
            shards, topics.copy(), first, engine, segments=segments, offset=offset, before=before
        )
        self._later, self._plain = documents, plain
        self._before = self._ahead = self.components
        self._pace, self._objective = 1.0, np.inf
        self._kept_penalty = self.penalty

    def documents(self) -> float:
        """A step of all documents, for the topics ahead; returns the objective before it."""
        if self._plain <= 0:
            self.document_step = self._later
            self._look_ahead()
        self._plain -= 1
        if self._ahead is self.components:
            return super().documents()
        self.engine.each(self.shards, keep_weights, None)
        self._kept_penalty = self.penalty
        _, self.penalty = self.document_step.solve(self.shards, self._ahead, self.engine)
        return self._objective

    def topics(self) -> float:
        """The topics that follow from those ahead; returns the objective before it."""
        expected = self.expected(self._ahead)
        if self._told(expected) > self._objective and self._ahead is not self.components:
            self._return()
            _, self.penalty = self.document_step.solve(self.shards, self.components, self.engine)
            expected = self.expected(self.components)
        self._objective = self._told(expected)
        found = self._ahead.copy()
        self.scale(expected, found)
        np.maximum(found, least_chance(found.dtype), out=found, where=self._ahead > 0)
        self._before, self.components = self.components, found
        self._ahead = found
        return self._objective

    def objective(self) -> float:
        """The objective at the current weights and topics: those ahead, if the documents have gone there."""
        last = self.components
        if self._ahead is not last:
            self.components = self._ahead
            found = super().objective()
            if found <= self._objective:
                return found
            self.components = last
            self._return()
        return super().objective()

    def state(self) -> dict[str, Any]:
        """Also the topics before and ahead, the pace, and how many plain steps are left."""
        return super().state() | {
            "before": self._unless_last(self._before),
            "ahead": self._unless_last(self._ahead),
            "pace": self._pace,
            "objective": self._objective,
            "plain": self._plain,
            "kept_penalty": self._kept_penalty,
        }

    def form(self) -> dict[str, Form]:
        """Topics before and ahead are like those of now."""
        form = super().form()
        others = Maybe(form["components"])
        return form | {
            "before": others,
            "ahead": others,
            "pace": Number(1, 1e9),
            "objective": Number(),
            "plain": PLAIN_LEFT,
            "kept_penalty": Number(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._plain = state["plain"]
        if self._plain < 0:
            self.document_step = self._later
        super().restore(state)
        self._before = self.components if state["before"] is None else state["before"]
        self._ahead = self.components if state["ahead"] is None else state["ahead"]
        self._pace, self._objective = state["pace"], state["objective"]
        self._kept_penalty = state["kept_penalty"]

    def held(self) -> tuple[str, ...]:
        """Weights; also those to come back to, once documents have gone ahead."""
        return ("weights",) if self._ahead is self.components else ("weights", "kept")

    def _unless_last(self, topics: Floats) -> Floats | None:
        """Other topics than the last ones: it matters whether they are the same."""
        return None if topics is self.components else topics

    def _told(self, expected: Expected) -> float:
        return expected.loss + self.penalty + self.offset

    def _return(self) -> None:
        """Go back to the last topics, and the weights that were found with them."""
        self.engine.each(self.shards, restore_weights, None)
        self.penalty = self._kept_penalty
        self._ahead, self._pace = self.components, 1.0

    def _look_ahead(self) -> None:
        """Choose the topics for which documents are solved next."""
        pace = (1 + math.sqrt(1 + 4 * self._pace**2)) / 2
        share = (self._pace - 1) / pace
        self._pace = pace
        if share == 0:
            return
        ahead = np.empty_like(self.components)
        totals = np.zeros((len(self.segments), ahead.shape[1]))
        step = partial(_extrapolate, self._before, self.components, ahead, share)
        for block, part in zip(self.blocks, self.engine.map(step, self.blocks), strict=True):
            totals[block.segment] += part
        totals[totals == 0] = 1
        for s, segment in enumerate(self.segments):
            own = slice(segment.start, segment.stop)
            ahead[own] /= totals[s].astype(ahead.dtype)
            if self.before is not None:
                ahead[own][:, self.before.frozen[s]] = self.components[own][:, self.before.frozen[s]]
        self._ahead = ahead


def _extrapolate(before: Floats, now: Floats, ahead: Floats, share: float, block: SegmentBlock) -> Floats:
    """Put the topics of these terms ahead: on from now as they came from before; returns their sums."""
    rows = slice(*block.terms)
    own, out = now[rows], ahead[rows]
    known = own > 0
    out[:] = 0
    np.divide(own, before[rows], out=out, where=known)
    np.log(out, out=out, where=known)
    out *= out.dtype.type(share)
    np.clip(out, -FARTHEST, FARTHEST, out=out, where=known)
    np.exp(out, out=out, where=known)
    out *= own
    np.maximum(out, least_chance(out.dtype), out=out, where=known)
    return np.asarray(out.sum(axis=0, dtype=np.float64))


class DescentSteps(DivergenceSteps):
    """Coordinate descent for documents and topics in turn, each row of them for itself.

    Topics are descended without the constraint that they sum to one, at the price of the weight that all
    documents have of them; then they are scaled, and the weights with them, so that the fit stays the same.
    On the simplex, weights are scaled to sum to one, which is exact. Rows of topics meet all documents: the
    collection must be one shard. No prior but one that is linear. Topics that are anchored take steps of
    expectation-maximisation.

    Parameters
    ----------
    shards, topics, first, engine, offset, before, plain
        As in `ExtrapolatedSteps`.
    mixture : Mixture
        What the weights of a document may be.
    """

    def __init__(
        self,
        shards: Shards,
        topics: Floats,
        first: DocumentStep,
        mixture: Mixture,
        engine: Engine,
        *,
        offset: float = 0.0,
        before: PseudoCounts | None = None,
        plain: int = PLAIN,
    ) -> None:
        super().__init__(shards, topics.copy(), first, engine, offset=offset, before=before)
        self._mixture, self._plain = mixture, plain

    def state(self) -> dict[str, Any]:
        """Also how many plain steps are left."""
        return super().state() | {"plain": self._plain}

    def form(self) -> dict[str, Form]:
        """Also a number."""
        return super().form() | {"plain": PLAIN_LEFT}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._plain = state["plain"]
        if self._plain < 0:
            self.document_step = Descended(self._mixture)
        super().restore(state)

    def documents(self) -> float:
        """A sweep over the weights of every document; returns the objective before it."""
        self._plain -= 1
        if self._plain < 0:
            self.document_step = Descended(self._mixture)
        return super().documents()

    def topics(self) -> float:
        """A sweep over the topics of every term; returns the objective before it."""
        if self._plain >= 0 or self.before is not None:
            # descent changes the scale of topics, and frozen or anchored ones have theirs
            return super().topics()
        topics, before = self.components, self.penalty + self.offset
        (prices,) = self.engine.totals(self.shards, priced_weights, self._mixture)
        message = DescentMessage(topics, prices.astype(topics.dtype), least_chance(topics.dtype))
        loss, scales = 0.0, np.zeros(topics.shape[1])
        shares = list(self.engine.terms(self.shards, self.blocks, descend_terms, descended, message))
        for share in shares:
            loss += share.loss
            scales += share.totals
        for block, share in zip(self.blocks, shares, strict=True):
            np.divide(share.counts, scales.astype(topics.dtype), out=topics[slice(*block.terms)])
        self.engine.each(self.shards, scale_weights, (scales, self._mixture.simplex))
        self.penalty = self.document_step.begin(self.shards, self.engine)
        return loss + before


class DescentMessage(NamedTuple):
    """What terms need: their topics, what a chance costs in each, and how small it may be."""

    topics: Floats
    prices: Floats
    least: float


def priced_weights(shard: Shard, mixture: Mixture) -> Floats:
    """What the weights of a shard's documents cost, by topic."""
    if mixture.simplex:
        return np.asarray(lengths(shard) @ shard.weights)
    return np.asarray((1 + mixture.rate) * shard.weights.sum(axis=0, dtype=np.float64))


def descend_terms(shard: Shard, block: SegmentBlock, message: DescentMessage) -> tuple[Floats, float]:
    """A sweep over the topics of these terms, and the loss before it."""
    columns, rows = shard.columns, message.topics[slice(*block.terms)].copy()
    begins, ends = columns.find(np.arange(*block.terms))
    matrix = begins, ends, columns.indices, columns.data, shard.weights, rows
    least = rows.dtype.type(message.least)
    return rows, float(poisson.descend_topics(*matrix, message.prices, 1, least))


def descended(block: SegmentBlock, sums: Any, message: DescentMessage) -> TermShare:
    """The topics of these terms, and their sums."""
    ((rows, loss),) = sums
    return TermShare(loss, rows.sum(0, dtype=np.float64), rows)


@writes("weights")
def scale_weights(shard: Shard, message: tuple[Floats, bool]) -> None:
    """Multiply the weights by what topics are divided by; on the simplex, scale them to sum to one."""
    scales, simplex = message
    shard.weights *= scales.astype(shard.weights.dtype)
    if simplex:
        totals = shard.weights.sum(axis=1, keepdims=True)
        np.divide(shard.weights, totals, out=shard.weights, where=totals > 0)
