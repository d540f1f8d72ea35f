"""The steps of every model with Kullback-Leibler loss: expectation-maximisation, documents, then topics.

With the ratios r = X / (WC) on the non-zeros, the documents' half step sees the expected counts W * (r C'),
the topics' half step C * (W' r). Each half passes over the non-zeros once and finds the loss where it begins
on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.utils import check_random_state

from laconic.engines import Block, Threads, weighted_blocks
from laconic.kernels import mixtures
from laconic.kernels.ratios import ratio_sums
from laconic.models.factor import Floats, transposed
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.squared import checked_energy
from laconic.models.starts import document_topics, given_topics

ROWS_PER_BLOCK, NONZEROS_PER_BLOCK = 1024, 1 << 17
# The share of the collection's own words in every topic at the start. Expectation-maximisation never leaves
# zero, so every topic has to begin with a little of every word.
COMMON_SHARE = 0.2
CYCLES = 1000
# Weights below this share of a document's are tried at zero, where a prior rewards zeros.
SMALL_SHARE = 1e-3


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


class DocumentStep(Protocol):
    """How the weights of documents follow from the expected counts of their topics."""

    @property
    def stages(self) -> Sequence[Sequence[Block]]:
        """Blocks of documents; those of a stage do not depend on each other."""

    def solve(self, rows: Block, expected: Floats, weights: Floats) -> None:
        """Replace these rows of the weights (of all documents)."""

    def finish(self, weights: Floats, engine: Threads) -> float:
        """Do what is left to do when all rows are solved; returns what the weights add to the objective."""


class Separate:
    """Every document for itself."""

    def __init__(self, mixture: Mixture, X: csr_array) -> None:
        self.mixture = mixture
        self.stages = [document_blocks(X)]

    def solve(self, rows: Block, expected: Floats, weights: Floats) -> None:
        """A step for each of these documents."""
        mixtures.update_rows(expected, weights[rows.start : rows.stop], *self.mixture)

    def finish(self, weights: Floats, engine: Threads) -> float:
        """The penalties."""
        if self.mixture.simplex and self.mixture.weight == 0:
            return 0.0
        parts = (weights[rows.start : rows.stop] for rows in self.stages[0])
        return float(sum(engine.map(lambda part: mixtures.penalties(part, *self.mixture), parts)))


def document_blocks(X: csr_array) -> list[Block]:
    """Blocks of rows with about the same number of non-zeros."""
    return weighted_blocks(X.indptr, ROWS_PER_BLOCK, NONZEROS_PER_BLOCK)


class OverDocuments:
    """A prior on the documents of each topic: P(d|z), which sums to one over the documents.

    The weights stand for the expected counts of a topic in a document, n P(z) P(d|z) with n the number of
    words.
    """

    def __init__(self, prior: Mixture, X: csr_array) -> None:
        self.prior = prior
        self.stages = [document_blocks(X)]
        self._expected: Floats | None = None

    def solve(self, rows: Block, expected: Floats, weights: Floats) -> None:
        """Wait for the other documents."""
        assert self._expected is not None
        self._expected[rows.start : rows.stop] = expected

    def finish(self, weights: Floats, engine: Threads) -> float:
        """A step for each topic; returns the penalties."""
        expected = self._expected

        def solve(topic: int) -> float:
            column = np.ascontiguousarray(weights[:, topic], np.float64)
            column /= max(column.sum(), np.finfo(np.float64).tiny)
            if expected is not None:
                counts = np.ascontiguousarray(expected[:, topic], np.float64)
                mixtures.update_row(counts, column, *self.prior)
                weights[:, topic] = column * counts.sum()
            return float(mixtures.penalty(column, *self.prior))

        penalty = sum(engine.map(solve, range(weights.shape[1])), 0.0)
        if expected is None:
            self._expected = np.empty_like(weights)
        return penalty


class TermShare(NamedTuple):
    """What a block of terms adds: its loss, and the expected counts of every topic."""

    segment: int
    loss: float
    totals: Floats


class KLSteps:
    """Documents and topics in turn for  sum x log(x / (WC)) + penalties, with topics that sum to one.

    Terms may come in segments (of several media); every topic then sums to one in each of them.

    Parameters
    ----------
    X : csr_array
    weights : ndarray of shape (n_documents, n_topics)
        Where to begin; changed in place.
    topics : ndarray of shape (n_terms, n_topics)
        Where to begin; its memory is used for later ones.
    documents : DocumentStep
    engine : Threads
    segments : sequence of Block, optional
        Columns of X that belong together; by default all.
    offset : float, default=0
        A constant of the objective.
    """

    def __init__(
        self,
        X: csr_array,
        weights: Floats,
        topics: Floats,
        documents: DocumentStep,
        engine: Threads,
        *,
        segments: Sequence[Block] | None = None,
        offset: float = 0.0,
    ) -> None:
        self.X, self.by_term = X, csr_array(X.T.tocsr())
        self.weights, self.topics = weights, topics
        self.documents, self.engine, self.offset = documents, engine, offset
        self.segments = [Block(0, X.shape[1])] if segments is None else list(segments)
        self.document_stages = documents.stages
        self.term_stages = [
            [
                (s, Block(block.start + segment.start, block.stop + segment.start))
                for s, segment in enumerate(self.segments)
                for block in weighted_blocks(
                    self.by_term.indptr[segment.start : segment.stop + 1], ROWS_PER_BLOCK, NONZEROS_PER_BLOCK
                )
            ]
        ]
        self._counts = np.empty_like(topics)
        self.penalty = documents.finish(weights, engine)

    def solve_documents(self, rows: Block) -> float:
        """A step of these documents; returns their loss before it."""
        weights = self.weights[rows.start : rows.stop]
        expected = np.empty_like(weights)
        loss = _ratio_sums(self.X, rows, self.topics, weights, expected)
        expected *= weights
        self.documents.solve(rows, expected, self.weights)
        return loss

    def reduce_documents(self, shares: Iterable[float]) -> float:
        """Finish the documents' half step; returns the objective before it."""
        before = sum(shares) + self.penalty + self.offset
        self.penalty = self.documents.finish(self.weights, self.engine)
        return before

    def solve_terms(self, columns: tuple[int, Block]) -> TermShare:
        """The expected counts of these terms."""
        segment, terms = columns
        topics = self.topics[terms.start : terms.stop]
        counts = self._counts[terms.start : terms.stop]
        loss = _ratio_sums(self.by_term, terms, self.weights, topics, counts)
        counts *= topics
        return TermShare(segment, loss, counts.sum(0, dtype=np.float64))

    def reduce_terms(self, stage: int, shares: Iterable[TermShare]) -> float:
        """Scale the topics to sum to one; returns the objective before their half step."""
        totals = np.zeros((len(self.segments), self.topics.shape[1]))
        loss = 0.0
        for share in shares:
            totals[share.segment] += share.totals
            loss += share.loss
        for segment, total in zip(self.segments, totals, strict=True):
            counts = self._counts[segment.start : segment.stop]
            unused = total <= 0
            if unused.any():
                # no document has the topic: it may as well stay what it was
                counts[:, unused] = self.topics[segment.start : segment.stop][:, unused]
                total[unused] = 1
            counts /= total.astype(counts.dtype)
        self.topics, self._counts = self._counts, self.topics
        return loss + self.penalty + self.offset

    def objective(self) -> float:
        """The objective at the current weights and topics."""

        def loss(rows: Block) -> float:
            weights = self.weights[rows.start : rows.stop]
            return _ratio_sums(self.X, rows, self.topics, weights, np.empty_like(weights))

        return sum(self.engine.map(loss, document_blocks(self.X)), self.penalty + self.offset)

    def summary(self) -> tuple[int, float]:
        """Topics that some document has, and the density of the topics."""
        n_alive = int(np.count_nonzero(self.weights.any(axis=0)))
        return n_alive, np.count_nonzero(self.topics) / max(1, self.topics.size)


def _ratio_sums(X: csr_array, rows: Block, factor: Floats, own: Floats, out: Floats) -> float:
    return float(ratio_sums(X.indptr, X.indices, X.data, *rows, factor, own, out))


def check_counts(X: csr_array) -> csr_array:
    """X without stored zeros; refuses what has no likelihood, or leaves the range of its type."""
    checked_energy(X)
    X = without_zeros(X)
    if X.nnz == 0:
        raise ValueError("X has no words: all its entries are zero, so there is nothing to find topics in.")
    return X


def without_zeros(X: csr_array) -> csr_array:
    """X with its non-zeros only."""
    if X.data.all():
        return X
    X = X.copy()
    X.eliminate_zeros()
    return X


def first_topics(
    X: csr_array, n_topics: int, init: Any, random_state: Any, segments: Sequence[Block] | None = None
) -> Floats:
    """Topics (terms × topics) to start from, with some of every word of the collection in each.

    Given topics are taken as they are, except for words that none of them has.
    """
    common = np.asarray(X.sum(axis=0), np.float64).ravel()
    if isinstance(init, str):
        drawn = document_topics(X, n_topics, check_random_state(random_state))
        topics = transposed(drawn).toarray().astype(np.float64)
        lacking = np.full(X.shape[1], fill_value=True)
    else:
        topics = transposed(given_topics(init, n_topics, X, nonnegative=True)).toarray().astype(np.float64)
        lacking = ~topics.any(axis=1)
    for segment in [Block(0, X.shape[1])] if segments is None else segments:
        part, words = topics[segment.start : segment.stop], common[segment.start : segment.stop]
        # a topic without words begins as the collection
        part += words[:, None] * (part.sum(axis=0) == 0)
        part /= np.maximum(part.sum(axis=0), np.finfo(np.float64).tiny)
        words = np.where(lacking[segment.start : segment.stop], words, 0) * (
            COMMON_SHARE / max(1e-300, words.sum())
        )
        part *= 1 - COMMON_SHARE * (words.sum() > 0)
        part += words[:, None]
        part /= np.maximum(part.sum(axis=0), np.finfo(np.float64).tiny)
    # a chance so small that its products vanish is lost for good
    least = np.sqrt(np.finfo(X.dtype).tiny)
    topics[(topics > 0) & (topics < least)] = least
    return np.ascontiguousarray(topics, X.dtype)


class Fit(NamedTuple):
    """How topics (terms × topics) and the weights of the documents were found, and these."""

    trace: Trace
    topics: Floats
    weights: Floats


def fit(
    X: csr_array,
    topics: Floats,
    mixture: Mixture,
    engine: Threads,
    watch: Callback | None,
    *,
    given: bool,
    max_iter: int,
    tol: float,
    precision: float,
    over_documents: Mixture | None = None,
) -> Fit:
    """Maximum likelihood, then, if there is a prior, its steps from there.

    Topics that were given first get their most likely weights; a prior then begins from these.
    """
    plain = mixture.plain
    weights = np.full((X.shape[0], topics.shape[1]), 1 / topics.shape[1], X.dtype)
    lengths = X.sum(axis=1, dtype=np.float64)
    by_length = lengths.astype(X.dtype)[:, None]
    if not mixture.simplex:
        weights *= by_length
    if given:
        weights = fold_in(X, topics, plain, engine, precision)[0]
    # On the simplex, weights explain the words of a document, not their number. Off it, the loss is the
    # divergence with its linear terms; the weights' sum is in the penalty.
    offset = -float(xlogy(lengths, lengths).sum() if mixture.simplex else lengths.sum())

    def run(phase: str, documents: DocumentStep, offset: float = offset) -> Trace:
        nonlocal topics, weights
        steps = KLSteps(X, weights, topics, documents, engine, offset=offset)
        trace = alternate(steps, engine, max_iter=max_iter, tol=tol, callback=watch, phase=phase)
        topics, weights = steps.topics, steps.weights
        return trace

    if over_documents is None and mixture == plain:
        return Fit(run("fit", Separate(plain, X)), topics, weights)
    if not given:
        trace = run("start", Separate(plain, X))
        if trace.interrupted:
            return Fit(trace._replace(history=[]), topics, weights)
    if over_documents is not None:
        weights = weights * by_length
        return Fit(run("fit", OverDocuments(over_documents, X), offset=0.0), topics, weights)
    trace = run("fit", Separate(mixture, X))
    if mixture.weight > 0:

        def prune(rows: Block) -> None:
            part = weights[rows.start : rows.stop]
            mixtures.prune(X.indptr, X.indices, X.data, *rows, topics, part, *mixture, SMALL_SHARE)

        for _ in engine.map(prune, document_blocks(X)):
            continue
    return Fit(trace, topics, weights)


def fold_in(
    X: csr_array, topics: Floats, mixture: Mixture, engine: Threads, precision: float
) -> tuple[Floats, float, float]:
    """Weights for fixed topics (terms × topics), and the divergence of X from them and from independence.

    Words that no topic has are left out. With a prior, a document starts from its most likely weights, and
    small weights become zero where that is a stationary value.
    """
    checked_energy(X)
    X = known_words(X, topics)
    lengths = np.asarray(X.sum(axis=1, dtype=np.float64))
    weights = np.full((X.shape[0], topics.shape[1]), 1 / topics.shape[1], X.dtype)
    if not mixture.simplex:
        weights *= lengths.astype(X.dtype)[:, None]

    def solve(rows: Block) -> float:
        part = weights[rows.start : rows.stop]
        matrix = X.indptr, X.indices, X.data, *rows, topics, part
        mixtures.fold_in(*matrix, *mixture.plain, precision, CYCLES)
        if mixture != mixture.plain:
            mixtures.fold_in(*matrix, *mixture, precision, CYCLES)
        if mixture.weight > 0:
            mixtures.prune(*matrix, *mixture, SMALL_SHARE)
        loss = _ratio_sums(X, rows, topics, part, np.empty_like(part))
        if mixture.simplex:
            # the topics explain the words of a document, not their number
            length = lengths[rows.start : rows.stop]
            return loss - float(np.sum(xlogy(length, length)))
        return loss + float(part.sum(dtype=np.float64)) - float(lengths[rows.start : rows.stop].sum())

    loss = sum(engine.map(solve, document_blocks(X)), 0.0)
    return weights, loss, from_independence(X)


def known_words(X: csr_array, topics: Floats) -> csr_array:
    """X without the words that no topic has, and without stored zeros."""
    known = np.asarray(topics.any(axis=1))[X.indices]
    if not known.all():
        X = csr_array((np.where(known, X.data, 0), X.indices, X.indptr), shape=X.shape)
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


def density(weights: Floats) -> float:
    """Share of non-zeros."""
    return float(np.count_nonzero(weights) / max(1, weights.size))


def check_density(value: Any) -> float:
    """A density that was stored."""
    if not isinstance(value, float | int) or not 0 <= value <= 1:
        raise ValueError(f"a density is between 0 and 1, not {value!r}")
    return float(value)


def check_topics(components: Any, n_segments: int) -> None:
    """Refuse stored topics that are no distributions, one over each segment."""
    if not isinstance(components, np.ndarray):
        raise ValueError("components are sparse, but those of this model are dense")  # noqa: TRY004
    if not components.min(initial=0) >= 0:
        raise ValueError("components are negative, but these are chances")
    if np.abs(components.sum(axis=1, dtype=np.float64) - n_segments).max(initial=0) > 1e-3:
        raise ValueError("components do not sum to one")
