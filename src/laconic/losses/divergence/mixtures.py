"""The documents' half step of expectation-maximisation: mixtures of topics, one by one or under a prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from laconic.engines import Block, Engine, Shard, Shards, weighted_blocks
from laconic.engines.shards import writes
from laconic.kernels import mixtures, poisson
from laconic.kernels.ratios import ratio_sums
from laconic.losses.factor import Floats
from laconic.storage.forms import Form

ROWS_PER_BLOCK, NONZEROS_PER_BLOCK = 1024, 1 << 17


class Mixture(NamedTuple):
    """What a document's weights may be, and the prior on them; see `laconic.kernels.mixtures`."""

    simplex: bool
    rate: float = 0.0
    weight: float = 0.0
    eps: float = 1.0

    @property
    def plain(self) -> Mixture:
        """The same without a prior."""
        return self._replace(rate=0.0, weight=0.0)


class DocumentShare(NamedTuple):
    """What a block of documents adds: its loss before its step, and its penalty after it."""

    loss: float
    penalty: float


class DocumentStep(Protocol):
    """How the weights of documents follow from the expected counts of their topics."""

    def begin(self, shards: Shards, engine: Engine) -> float:
        """Look at the weights where the fit begins; returns what they add to the objective."""

    def solve(self, shards: Shards, topics: Floats, engine: Engine) -> DocumentShare:
        """Replace the weights; returns the loss before, and what the weights add after it."""

    def state(self) -> dict[str, Any]:
        """What is known beside the weights from one step to the next."""

    def form(self) -> dict[str, Form]:
        """What a state must look like."""

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` told."""


class Stateless:
    """A step that knows nothing but the weights."""

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def form(self) -> dict[str, Form]:
        """Nothing."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing to take back."""


def weighted_rows(shard: Shard) -> list[Block]:
    """A shard's documents in blocks with about the same number of non-zeros."""
    return weighted_blocks(shard.X.indptr, ROWS_PER_BLOCK, NONZEROS_PER_BLOCK)


def document_ratios(shard: Shard, rows: Block, topics: Floats, weights: Floats, out: Floats) -> float:
    """The sums of ratios x / (WC) against the topics, and the loss of these documents."""
    X, ends = shard.X, shard.X.indptr[rows.start : rows.stop + 1]
    return float(ratio_sums(ends[:-1], ends[1:], X.indices, X.data, topics, weights, out))


class MixtureMessage(NamedTuple):
    """What a document needs: the topics (terms × topics), and what its weights may be."""

    topics: Floats
    mixture: Mixture


class Separate(Stateless):
    """Every document for itself."""

    def __init__(self, mixture: Mixture) -> None:
        self.mixture = mixture

    def begin(self, shards: Shards, engine: Engine) -> float:
        """The penalties."""
        return float(sum(engine.documents(shards, row_penalties, self.mixture, weighted_rows)))

    def solve(self, shards: Shards, topics: Floats, engine: Engine) -> DocumentShare:
        """A step for each document."""
        message = MixtureMessage(topics, self.mixture)
        (share,) = engine.documents(shards, mix_rows, message, weighted_rows)
        return DocumentShare(*share)


@writes("weights")
def mix_rows(shard: Shard, rows: Block, message: MixtureMessage) -> DocumentShare:
    """A step of expectation-maximisation for each of these documents."""
    weights = shard.weights[rows.start : rows.stop]
    expected = np.empty_like(weights)
    loss = document_ratios(shard, rows, message.topics, weights, expected)
    expected *= weights
    mixtures.update_rows(expected, weights, *message.mixture)
    return DocumentShare(loss, row_penalties(shard, rows, message.mixture))


def row_penalties(shard: Shard, rows: Block, mixture: Mixture) -> float:
    """What the weights of these documents add to the objective."""
    if mixture.simplex and mixture.weight == 0:
        return 0.0
    return float(mixtures.penalties(shard.weights[rows.start : rows.stop], *mixture))


class Descended(Separate):
    """Every document for itself, weight by weight; not for a prior on the simplex.

    Weights may become zero, and leave it again. It costs one to two steps of
    expectation-maximisation, and goes much further.
    """

    def solve(self, shards: Shards, topics: Floats, engine: Engine) -> DocumentShare:
        """A sweep over the weights of each document."""
        message = MixtureMessage(topics, self.mixture)
        (share,) = engine.documents(shards, descend_rows, message, weighted_rows)
        return DocumentShare(*share)


@writes("weights")
def descend_rows(shard: Shard, rows: Block, message: MixtureMessage) -> DocumentShare:
    """A sweep of coordinate descent for each of these documents."""
    X, ends = shard.X, shard.X.indptr[rows.start : rows.stop + 1]
    weights = shard.weights[rows.start : rows.stop]
    matrix = ends[:-1], ends[1:], X.indices, X.data, message.topics, weights
    loss = float(poisson.descend_mixtures(*matrix, *message.mixture, 0.0, 1))
    return DocumentShare(loss, row_penalties(shard, rows, message.mixture))


class StoreMessage(NamedTuple):
    """The topics, and where to put the expected counts of all documents."""

    topics: Floats
    expected: Floats


def store_expected(shard: Shard, rows: Block, message: StoreMessage) -> float:
    """Keep the expected counts of these documents; returns their loss."""
    weights, out = shard.weights[rows.start : rows.stop], message.expected[rows.start : rows.stop]
    loss = document_ratios(shard, rows, message.topics, weights, out)
    out *= weights
    return loss


class OverDocuments(Stateless):
    """A prior on the documents of each topic: P(d|z), which sums to one over the documents.

    The weights stand for the expected counts of a topic in a document, n P(z) P(d|z) with n the number of
    words.
    """

    def __init__(self, prior: Mixture) -> None:
        self.prior = prior

    def begin(self, shards: Shards, engine: Engine) -> float:
        """The penalties."""
        weights = shards[0].weights
        self._expected = np.empty_like(weights)
        topics = range(weights.shape[1])
        return sum(engine.map(partial(_column_penalty, weights, self.prior), topics), 0.0)

    def solve(self, shards: Shards, topics: Floats, engine: Engine) -> DocumentShare:
        """The expected counts of all documents, then a step for each topic."""
        weights, message = shards[0].weights, StoreMessage(topics, self._expected)
        (loss,) = engine.documents(shards, store_expected, message, weighted_rows)
        step = partial(_column_step, weights, self._expected, self.prior)
        return DocumentShare(loss, sum(engine.map(step, range(weights.shape[1])), 0.0))


def _shares(weights: Floats, topic: int) -> Floats:
    column = np.ascontiguousarray(weights[:, topic], np.float64)
    return column / max(column.sum(), np.finfo(np.float64).tiny)


def _column_penalty(weights: Floats, prior: Mixture, topic: int) -> float:
    return float(mixtures.penalty(_shares(weights, topic), *prior))


def _column_step(weights: Floats, expected: Floats, prior: Mixture, topic: int) -> float:
    """A step for the documents of a topic; returns the penalty."""
    column = _shares(weights, topic)
    counts = np.ascontiguousarray(expected[:, topic], np.float64)
    mixtures.update_row(counts, column, *prior)
    weights[:, topic] = column * counts.sum()
    return float(mixtures.penalty(column, *prior))


def staged(blocks: Sequence[Block]) -> Callable[[Shard], Sequence[Block]]:
    """Just these rows, of a collection that is one shard."""
    return partial(_given_rows, blocks)


def _given_rows(blocks: Sequence[Block], shard: Shard) -> Sequence[Block]:
    return blocks


def density(shards: Shards, engine: Engine) -> float:
    """Share of non-zeros in the weights."""
    (counts,) = engine.totals(shards, _count_weights)
    return float(counts[0] / max(1, counts[1]))


def _count_weights(shard: Shard, _: Any) -> tuple[int, int]:
    """How many weights are not zero, and how many there are."""
    return int(np.count_nonzero(shard.weights)), shard.weights.size
