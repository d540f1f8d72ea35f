"""The problem that `PLSA` and ``NMF(loss="kl")`` pose: likelihood, with priors on documents' weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from laconic.engines import Block, Engine, Shard, Shards, release
from laconic.engines.shards import row_range, writes
from laconic.kernels import mixtures, poisson
from laconic.losses.anchoring import Anchoring
from laconic.losses.divergence.counts import check_counts, from_independence, known_words
from laconic.losses.divergence.mixtures import (
    Descended,
    DocumentStep,
    Mixture,
    OverDocuments,
    Separate,
    density,
    document_ratios,
    weighted_rows,
)
from laconic.losses.divergence.pools import joined, pooled
from laconic.losses.divergence.pseudocounts import PseudoCounts, pseudo_counts, without_impossible
from laconic.losses.divergence.sooner import MEMORY, PLAIN, DescentSteps, ExtrapolatedSteps
from laconic.losses.divergence.starts import (
    even_weights,
    first_topics,
    lengths,
    lift_weights,
    weigh_by_length,
)
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.factor import Factor, Floats
from laconic.losses.folding import Explained
from laconic.losses.loop import Found, Patience, Trace, alternate, precision
from laconic.losses.memory import Sizes, beyond
from laconic.losses.starts import Start
from laconic.losses.totals import checked_energy

CYCLES = 1000
# Weights below this share of a document's are tried at zero, where a prior rewards zeros.
SMALL_SHARE = 1e-3


@dataclass(frozen=True)
class Likelihood:
    """Maximum likelihood, or with a prior the most probable weights; topics sum to one.

    Parameters
    ----------
    n_topics : int
    mixture : Mixture
        What the weights of a document may be, and their prior.
    tol : float
        Of the fit: documents are folded in as exactly.
    over_documents : Mixture, optional
        A prior over the documents of each topic, in place of one over the topics of a document.
    solver : {"extrapolated", "em", "cd"}
        By which steps; all but "em" begin with some of "em". Under a concave prior, "cd" is "extrapolated".
    """

    n_topics: int
    mixture: Mixture
    tol: float
    over_documents: Mixture | None = None
    solver: str = "extrapolated"

    @property
    def whole(self) -> bool:
        """Whether documents depend on each other, or topics are solved by what all of them say."""
        return self.over_documents is not None or self.solver == "cd"

    def fit(
        self,
        shards: Shards,
        start: Start,
        engine: Engine,
        patience: Patience,
        *,
        anchors: Anchoring | None = None,
        seen: csr_array | None = None,
        remember: bool = False,
    ) -> Found:
        """Maximum likelihood, then, if there is a prior, its steps from there.

        Topics that were given first get their most likely weights; a prior then begins from these. Of a
        batch, `seen` are the pools of documents before, and what to `remember` is a fact.
        """
        if seen is not None:
            shards = joined(seen, shards)
        shards = check_counts(without_impossible(shards, anchors), engine)
        topics = first_topics(shards, engine, self.n_topics, start, anchors=anchors, spread=seen is not None)
        before = pseudo_counts(anchors, shards, engine, [Block(0, shards.n_terms)])
        mixture, plain = self.mixture, self.mixture.plain
        if start.drawn:
            engine.each(shards, even_weights, (self.n_topics, mixture.simplex))
        else:
            exactness = precision(self.tol, shards.dtype)
            positive = self.solver == "em" or self.over_documents is not None or mixture != plain
            fold_in_shards(shards, topics, plain, engine, exactness, positive=positive)
        (offset,) = engine.totals(shards, _offset, mixture.simplex)

        def run(phase: str, documents: DocumentStep, topics: Floats, offset: float = offset) -> _Run:
            begun = PLAIN if start.drawn else 0
            steps = self._steps(shards, topics, documents, engine, offset, begun, before)
            memory = MEMORY if isinstance(steps, ExtrapolatedSteps) else patience.memory
            return _Run(alternate(steps, patience._replace(memory=memory), phase), steps.components)

        prior = self.over_documents is not None or mixture != plain
        found = _Run(Trace([]), topics)
        if prior and start.drawn:
            found = run("start", Separate(plain), topics)
        if found.trace.interrupted:
            found = found._replace(trace=found.trace._replace(history=[]))
            return self._found(found, shards, engine, remember)
        if prior and mixture.simplex and self.solver != "em":
            # steps of expectation-maximisation never leave a zero that coordinate descent has found
            engine.each(shards, lift_weights, SMALL_SHARE**2)
        if self.over_documents is not None:
            engine.each(shards, weigh_by_length, None)
            found = run("fit", OverDocuments(self.over_documents), found.topics, offset=0.0)
        else:
            found = run("fit", Separate(mixture), found.topics)
            if mixture.weight > 0:
                message = Folding(found.topics, mixture, precision(self.tol, shards.dtype))
                engine.documents(shards, prune_rows, message, weighted_rows)
        return self._found(found, shards, engine, remember)

    def _found(self, found: _Run, shards: Shards, engine: Engine, remember: bool) -> Found:
        facts: dict[str, Any] = {"doc_density": density(shards, engine)}
        if remember:
            # of weights that are found for the last topics to the end
            exactness = precision(self.tol, shards.dtype)
            fold_in_shards(shards, found.topics, self.mixture, engine, exactness)
            facts["seen"] = pooled(shards, engine)
        engine.each(shards, release, None)
        return Found(np.ascontiguousarray(found.topics.T), found.trace, facts)

    def _steps(
        self,
        shards: Shards,
        topics: Floats,
        documents: DocumentStep,
        engine: Engine,
        offset: float,
        plain: int,
        before: PseudoCounts | None = None,
    ) -> DivergenceSteps:
        """The solver's steps, the first of them plain."""
        known: dict[str, Any] = {"offset": offset, "before": before}
        if self.solver == "em":
            return DivergenceSteps(shards, topics, documents, engine, **known)
        if not isinstance(documents, Separate):
            return ExtrapolatedSteps(shards, topics, documents, documents, engine, plain=plain, **known)
        mixture = documents.mixture
        if self.solver == "cd" and mixture.weight == 0:
            return DescentSteps(shards, topics, documents, mixture, engine, plain=plain, **known)
        concave_on_simplex = mixture.simplex and mixture.weight > 0
        later = documents if concave_on_simplex else Descended(mixture)
        return ExtrapolatedSteps(shards, topics, documents, later, engine, plain=plain, **known)

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """What a fit adds in bytes."""
        # a prior over documents sees the expected counts of all of them; extrapolation may come back
        copies = 1 + (self.over_documents is not None) + (self.solver == "extrapolated")
        parts = {
            "documents by columns": sizes.columns,
            "weights of documents": copies * sizes.weights,
        }
        parts["sums over documents"] = beyond(sizes.norms, parts)
        topics = topics_memory(sizes)
        if self.solver != "em":
            # where they began; and, to be extrapolated, those before and ahead
            topics += (3 if self.solver == "extrapolated" else 1) * sizes.topics
        return parts | {"topics": topics}

    def fold_in(self, components: Factor, dtype: Any, engine: Engine) -> FixedMixtures:
        """Prepare topics × terms for documents of a type."""
        living = np.asarray(components.any(axis=1))
        topics = np.ascontiguousarray(components[living].T, dtype)
        known = np.asarray(topics.any(axis=1))
        return FixedMixtures(topics, known, self.mixture, precision(self.tol, dtype), living)


class _Run(NamedTuple):
    """How a run of the loop went, and its topics."""

    trace: Trace
    topics: Floats


def topics_memory(sizes: Sizes) -> int:
    """Topics, their expected counts and, in the end, their transpose; at the start, topics in float64."""
    return max(3 * sizes.topics, sizes.topics + sizes.n_terms * sizes.n_topics * 8)


def _offset(shard: Shard, simplex: bool) -> float:
    """What the loss lacks of the divergence, whatever the weights and topics.

    On the simplex, weights explain the words of a document, not their number. Off it, the loss is the
    divergence with its linear terms; the weights' sum is in the penalty.
    """
    length = lengths(shard)
    return -float(xlogy(length, length).sum() if simplex else length.sum())


class Folding(NamedTuple):
    """What a new document needs: the topics (terms × topics), what its weights may be, how exactly."""

    topics: Floats
    mixture: Mixture
    precision: float
    positive: bool = False
    """Whether no weight may be zero: steps of expectation-maximisation that follow would not leave it."""


class FixedMixtures(NamedTuple):
    """What documents need of topics (terms × topics) that are fixed: a `FoldIn`.

    Words that no topic has are left out, and so are topics that have no words: no document has any of them.
    With a prior, a document starts from its most likely weights, and
    small weights become zero where that is a stationary value.
    """

    topics: Floats
    known: NDArray[np.bool_]
    """Which terms any topic has."""
    mixture: Mixture
    precision: float
    living: NDArray[np.bool_]
    """Which of all topics these are."""

    @property
    def sparse(self) -> bool:
        """Whether weights have exact zeros."""
        return self.mixture.weight > 0

    def weights(self, X: csr_array, engine: Engine) -> Floats:
        """The weights of documents."""
        return self._spread(self._folded(X, engine)[0].weights)

    def explained(self, X: csr_array, engine: Engine) -> Explained:
        """The weights of documents, the divergence of X from them, and that from independence."""
        shards = self._folded(X, engine)
        message = Folding(self.topics, self.mixture, self.precision)
        (loss,) = engine.documents(shards, row_divergences, message, weighted_rows)
        return Explained(self._spread(shards[0].weights), float(loss or 0.0), from_independence(shards[0].X))

    def _spread(self, weights: Floats) -> Floats:
        """The same with columns of zeros for topics without words."""
        if self.living.all():
            return weights
        spread = np.zeros((len(weights), len(self.living)), weights.dtype)
        spread[:, self.living] = weights
        return spread

    def _folded(self, X: csr_array, engine: Engine) -> Shards:
        checked_energy(X)
        shards = Shards.whole(known_words(X, self.known))
        fold_in_shards(shards, self.topics, self.mixture, engine, self.precision)
        return shards


def fold_in_shards(
    shards: Shards,
    topics: Floats,
    mixture: Mixture,
    engine: Engine,
    exactness: float,
    *,
    positive: bool = False,
) -> None:
    """Find the weights of the shards' documents for fixed topics; `positive` ones to go on from by EM."""
    engine.each(shards, even_weights, (topics.shape[1], mixture.simplex))
    engine.documents(shards, fold_rows, Folding(topics, mixture, exactness, positive), weighted_rows)


@writes("weights")
def fold_rows(shard: Shard, rows: Block, message: Folding) -> None:
    """Solve for these documents to the end."""
    X, topics, mixture = shard.X, message.topics, message.mixture
    weights = shard.weights[rows.start : rows.stop]
    if mixture == mixture.plain and not message.positive:
        ends = X.indptr[rows.start : rows.stop + 1]
        documents = ends[:-1], ends[1:], X.indices, X.data
        poisson.descend_mixtures(*documents, topics, weights, *mixture, message.precision, CYCLES)
        return
    # a prior, too, begins from likely weights that are not zero
    matrix = X.indptr, X.indices, X.data, *rows, topics, weights
    mixtures.fold_in(*matrix, *mixture.plain, message.precision, CYCLES)
    if mixture != mixture.plain:
        mixtures.fold_in(*matrix, *mixture, message.precision, CYCLES)
    if mixture.weight > 0:
        mixtures.prune(*matrix, *mixture, SMALL_SHARE)


def row_divergences(shard: Shard, rows: Block, message: Folding) -> float:
    """The divergence of these documents from their weights."""
    X, topics, mixture = shard.X, message.topics, message.mixture
    weights = shard.weights[rows.start : rows.stop]
    loss = document_ratios(shard, rows, topics, weights, np.empty_like(weights))
    length = row_range(X, rows).sum(axis=1, dtype=np.float64)
    if mixture.simplex:
        # the topics explain the words of a document, not their number
        return loss - float(np.sum(xlogy(length, length)))
    return loss + float(weights.sum(dtype=np.float64)) - float(length.sum())


@writes("weights")
def prune_rows(shard: Shard, rows: Block, message: Folding) -> None:
    """Set small weights to zero, where zero is a stationary value of them."""
    X, weights = shard.X, shard.weights[rows.start : rows.stop]
    mixture = message.mixture
    mixtures.prune(X.indptr, X.indices, X.data, *rows, message.topics, weights, *mixture, SMALL_SHARE)
