"""The steps of every model with Kullback-Leibler loss: expectation-maximisation, documents, then topics.

With the ratios r = X / (WC) on the non-zeros, the documents' half step sees the expected counts W * (r C'),
the topics' half step C * (W' r). Each half passes over the non-zeros once and finds the loss where it begins
on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.engines import Block, Engine, Shard, Shards, weighted_blocks
from laconic.kernels.ratios import ratio_sums
from laconic.losses.divergence.mixtures import (
    NONZEROS_PER_BLOCK,
    ROWS_PER_BLOCK,
    DocumentStep,
    document_ratios,
    weighted_rows,
)
from laconic.losses.divergence.pseudocounts import PseudoCounts
from laconic.losses.factor import Floats
from laconic.losses.totals import document_frequencies
from laconic.storage.forms import Form, Number, Numbers


class DivergenceSteps:
    """Documents and topics in turn for  sum x log(x / (WC)) + penalties, with topics that sum to one.

    Terms may come in segments (of several modalities); every topic then sums to one in each of them.

    Parameters
    ----------
    shards : Shards
        Without stored zeros; their weights are where to begin.
    topics : ndarray of shape (n_terms, n_topics)
        Where to begin; changed in place.
    documents : DocumentStep
    engine : Engine
    segments : sequence of Block, optional
        Columns of X that belong together; by default all.
    offset : float, default=0
        A constant of the objective.
    before : PseudoCounts, optional
        Counts that topics have before the documents.
    """

    def __init__(
        self,
        shards: Shards,
        topics: Floats,
        documents: DocumentStep,
        engine: Engine,
        *,
        segments: Sequence[Block] | None = None,
        offset: float = 0.0,
        before: PseudoCounts | None = None,
    ) -> None:
        self.shards, self.engine, self.offset, self.before = shards, engine, offset, before
        self.components, self.document_step = topics, documents
        self.segments = [Block(0, shards.n_terms)] if segments is None else list(segments)
        ends = np.concatenate([[0], np.cumsum(document_frequencies(shards, engine))])
        self.blocks = [
            SegmentBlock(s, Block(block.start + segment.start, block.stop + segment.start))
            for s, segment in enumerate(self.segments)
            for block in weighted_blocks(
                ends[segment.start : segment.stop + 1], ROWS_PER_BLOCK, NONZEROS_PER_BLOCK
            )
        ]
        engine.each(shards, see_by_columns, None)
        self.penalty = documents.begin(shards, engine)

    def documents(self) -> float:
        """A step of all documents; returns the objective before it."""
        before = self.penalty + self.offset + self._held(self.components)
        loss, self.penalty = self.document_step.solve(self.shards, self.components, self.engine)
        return loss + before

    def topics(self) -> float:
        """A step of the topics, scaled to sum to one; returns the objective before it."""
        expected = self.expected(self.components)
        self.scale(expected, self.components)
        return expected.loss + self.penalty + self.offset

    def state(self) -> dict[str, Any]:
        """Topics, what the weights add to the objective, and what the documents' step knows."""
        return {
            "components": self.components,
            "penalty": self.penalty,
            "documents": self.document_step.state(),
        }

    def form(self) -> dict[str, Form]:
        """Chances for topics."""
        topics = Numbers(self.components.shape, self.components.dtype, least=0)
        return {"components": topics, "penalty": Number(), "documents": self.document_step.form()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.components, self.penalty = state["components"], state["penalty"]
        self.document_step.restore(state["documents"])

    def held(self) -> tuple[str, ...]:
        """Weights, which the next ones begin from."""
        return ("weights",)

    def expected(self, topics: Floats) -> Expected:
        """The expected counts of all terms, given topics and the documents' weights, and those of before."""
        totals = np.zeros((len(self.segments), topics.shape[1]))
        loss = 0.0
        shares = list(self.engine.terms(self.shards, self.blocks, term_ratios, expected_counts, topics))
        for block, share in zip(self.blocks, shares, strict=True):
            totals[block.segment] += share.totals
            loss += share.loss
        counts = [share.counts for share in shares]
        if self.before is not None:
            totals += self.before.totals
            for block, part in zip(self.blocks, counts, strict=True):
                self.before.add(block.terms, part)
        return Expected(loss + self._held(topics), totals, counts)

    def _held(self, topics: Floats) -> float:
        """What the distance of topics from where they are held adds to the objective."""
        return 0.0 if self.before is None else self.before.divergence(topics, self.segments)

    def scale(self, expected: Expected, topics: Floats) -> None:
        """Put expected counts, scaled to sum to one, in the place of topics."""
        # a topic that no document has may as well stay what it was
        used = expected.totals > 0
        if self.before is not None:
            used &= ~self.before.frozen
        divisors = np.where(used, expected.totals, 1).astype(topics.dtype)
        for block, counts in zip(self.blocks, expected.counts, strict=True):
            part, s = topics[block.terms.start : block.terms.stop], block.segment
            if used[s].all():
                np.divide(counts, divisors[s], out=part)
            else:
                np.divide(counts, divisors[s], out=part, where=used[s])

    def objective(self) -> float:
        """The objective at the current weights and topics."""
        (loss,) = self.engine.documents(self.shards, row_losses, self.components, weighted_rows)
        return float(loss) + self.penalty + self.offset + self._held(self.components)

    def summary(self) -> tuple[int, float]:
        """Topics that some document has, and the density of the topics."""
        (used,) = self.engine.totals(self.shards, used_topics)
        return int(np.count_nonzero(used)), np.count_nonzero(self.components) / max(1, self.components.size)


class SegmentBlock(NamedTuple):
    """Some terms of a segment."""

    segment: int
    terms: Block


class TermShare(NamedTuple):
    """The expected counts of a block of terms, their sums for every topic, and the loss."""

    loss: float
    totals: Floats
    counts: Floats


class Expected(NamedTuple):
    """The loss, and the expected counts of every block of terms with their sums over each segment."""

    loss: float
    totals: Floats
    counts: list[Floats]


def used_topics(shard: Shard, _: Any) -> NDArray[np.bool_]:
    """Which topics some document has; the sum of such answers is whether any has."""
    return np.asarray(shard.weights.any(axis=0))


def see_by_columns(shard: Shard, _: Any) -> None:
    """Make sure that a shard is there by columns."""
    assert shard.columns is not None


def term_ratios(shard: Shard, block: SegmentBlock, topics: Floats) -> tuple[Floats, float]:
    """The sums of ratios against the weights of a shard's documents, and their loss, for some terms."""
    columns, own = shard.columns, topics[block.terms.start : block.terms.stop]
    out = np.empty_like(own)
    begins, ends = columns.find(np.arange(*block.terms))
    weights = shard.weights
    return out, float(ratio_sums(begins, ends, columns.indices, columns.data, weights, own, out))


def expected_counts(block: SegmentBlock, sums: Iterable[Any], topics: Floats) -> TermShare:
    """The expected counts of these terms."""
    ((counts, loss),) = sums
    counts *= topics[block.terms.start : block.terms.stop]
    return TermShare(loss, counts.sum(0, dtype=np.float64), counts)


def row_losses(shard: Shard, rows: Block, topics: Floats) -> float:
    """The loss of these documents."""
    weights = shard.weights[rows.start : rows.stop]
    return document_ratios(shard, rows, topics, weights, np.empty_like(weights))
