"""The problems that `GraphPLSA` and `MultimodalPLSA` pose: documents, or modalities, that are linked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shards
from laconic.losses.anchoring import Anchoring
from laconic.losses.divergence.counts import check_counts, known_words, of_sum_one
from laconic.losses.divergence.graphs import neighbour_graph, neighbours_memory
from laconic.losses.divergence.likelihood import Likelihood, fold_in_shards, topics_memory
from laconic.losses.divergence.linked import (
    LinkedFit,
    fit_on_graph,
    settle_on_graph,
    strengthened_fit,
)
from laconic.losses.divergence.mixtures import Mixture, Separate
from laconic.losses.divergence.modalities import Nodes, columns_of, side_by_side
from laconic.losses.divergence.pseudocounts import pseudo_counts, without_impossible
from laconic.losses.divergence.sooner import MEMORY, PLAIN, ExtrapolatedSteps
from laconic.losses.divergence.starts import RANDOM, even_weights, first_topics, random_weights
from laconic.losses.factor import Floats
from laconic.losses.loop import Found, Patience, Trace, alternate, precision
from laconic.losses.memory import Sizes, beyond
from laconic.losses.starts import Start

START_PRECISION = 1e-3
# Divergences of weights may have no value at zero.
LEAST_WEIGHT = 1e-12
SIMPLEX = Mixture(simplex=True)
# As measured: a link stands twice, with its weight and its ends, in some copies while colours are found.
BYTES_PER_LINK = 116


@dataclass(frozen=True)
class LinkedLikelihood(Likelihood):
    """Likelihood, and a divergence between documents that are linked; parameters as in `GraphPLSA`."""

    divergence: str = "skl"
    strength: float = 0.3
    n_neighbors: int = 5
    row_normalize: bool = True

    whole: ClassVar[bool] = True

    def fit(  # type: ignore[override]
        self,
        shards: Shards,
        start: Start,
        engine: Engine,
        patience: Patience,
        *,
        anchors: Anchoring | None = None,
        graph: csr_array | None = None,
    ) -> Found:
        """Find topics × terms, and the weights of the documents under their links (as in `as_graph`)."""
        shards = check_counts(without_impossible(shards, anchors), engine)
        (shard,) = shards
        links = neighbour_graph(shard.X, self.n_neighbors) if graph is None else graph
        if self.row_normalize:
            shards = shards.transformed(of_sum_one)
        X = shards[0].X
        topics = first_topics(shards, engine, self.n_topics, start, anchors=anchors)
        before = pseudo_counts(anchors, shards, engine, [Block(0, shards.n_terms)])
        random = start.drawn and start.init == RANDOM
        if random:
            weights = random_weights(X.shape[0], self.n_topics, start, X.dtype)
        else:
            # weights that suit the topics: neighbours that begin alike might never part
            fold_in_shards(shards, topics, SIMPLEX, engine, START_PRECISION, positive=True)
            weights = shards[0].weights
        how = self.divergence, self.strength, engine, patience
        run = strengthened_fit if self.divergence == "l1" and start.drawn and not random else fit_on_graph
        if not start.drawn:
            weights = settle_on_graph(X, links, topics, weights, *how)
        fit = run(X, links, topics, weights, *how, before=before)
        return Found(np.ascontiguousarray(fit.topics.T), fit.trace, {"weights": fit.weights, "graph": links})

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """What a fit adds in bytes."""
        given = sizes.n_links is not None
        n_links = sizes.n_links if sizes.n_links is not None else sizes.n_documents * self.n_neighbors
        # in the order of colours, and scaled to sum to one before
        copies = 2 if self.row_normalize else 1
        parts = {
            "documents by columns": sizes.columns,
            "documents by colour": copies * sizes.matrix,
            # of the start, by colour, with their logarithms or expected counts, and as they were given
            "weights of documents": (3 if self.divergence == "l2" else 4) * sizes.weights,
            "links": n_links * BYTES_PER_LINK,
            "topics": topics_memory(sizes),
        }
        search = 0 if given else neighbours_memory(sizes.n_documents, sizes.itemsize)
        return parts | {"search for neighbours": beyond(search, parts)}


@dataclass(frozen=True)
class MultimodalLikelihood(Likelihood):
    """Likelihood in every modality, and a divergence between them; parameters as in `MultimodalPLSA`."""

    divergence: str = "skl"
    strength: float = 1.0
    row_normalize: bool = True

    whole: ClassVar[bool] = True

    def fit(  # type: ignore[override]
        self,
        modalities: Mapping[str, csr_array],
        start: Start,
        engine: Engine,
        patience: Patience,
        *,
        anchors: Anchoring | None = None,
        graph: csr_array | None = None,
    ) -> Found:
        """Find topics × terms of all modalities, and the weights of the documents in each.

        `modalities` are documents × terms, without stored zeros; `graph` links documents.
        """
        matrices = self.weighed(_possible(list(modalities.values()), anchors))
        fitter = _Fitter(matrices, self, start, engine, patience, anchors)
        fit = fitter.tied("fit") if self.divergence == "tied" else fitter.begin()
        if self.divergence != "tied" and not fit.trace.interrupted:
            fit = fit_on_graph(
                fitter.nodes.counts,
                fitter.nodes.graph(graph),
                fit.topics,
                _positive(fit.weights),
                self.divergence,
                self.strength,
                engine,
                patience,
                segments=fitter.segments,
                before=fitter.before,
            )
        weights = dict(zip(modalities, fitter.nodes.by_modality(fit.weights), strict=True))
        n_documents = matrices[0].shape[0]
        links = csr_array((n_documents, n_documents)) if graph is None else graph
        facts = {"modality_weights": weights, "graph": links}
        return Found(np.ascontiguousarray(fit.topics.T), fit.trace, facts)

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """What a fit adds in bytes, if every document has every modality."""
        n = sizes.n_modalities
        # checked, scaled to sum to one, side by side, and by document, or by node and then by colour
        copies = 3 + self.row_normalize
        parts = {
            "documents by columns": sizes.columns,
            "documents side by side": copies * sizes.matrix,
            # those before and ahead, too, and where they began
            "topics": topics_memory(sizes) + 3 * sizes.topics,
        }
        if self.divergence == "tied":
            return parts | {"weights of documents": (2 + n) * sizes.weights}
        n_links = sizes.n_documents * n * (n - 1) // 2 + n * (sizes.n_links or 0)
        # of nodes: of the start, by colour, with their logarithms, and as they were given; then by modality
        of_nodes = (4 if self.divergence == "l2" else 5) * n * sizes.weights
        return parts | {"weights of documents": of_nodes, "links": n_links * BYTES_PER_LINK}

    def weighed(self, matrices: list[csr_array]) -> list[csr_array]:
        """Documents of sum one in every modality, if they are to weigh the same."""
        return [of_sum_one(part) for part in matrices] if self.row_normalize else matrices


class _Fitter:
    """What the parts of a fit of several modalities share."""

    def __init__(
        self,
        matrices: list[csr_array],
        problem: MultimodalLikelihood,
        start: Start,
        engine: Engine,
        patience: Patience,
        anchors: Anchoring | None,
    ) -> None:
        self.matrices, self.nodes, self.anchors = matrices, Nodes(matrices), anchors
        self.segments = columns_of([part.shape[1] for part in matrices])
        self.n_topics, self.start, self.engine, self.patience = problem.n_topics, start, engine, patience
        self.precision = precision(problem.tol, matrices[0].dtype)
        self.before = None
        if anchors is not None:
            whole = Shards.whole(side_by_side(matrices))
            self.before = pseudo_counts(anchors, whole, engine, self.segments)

    def first_topics(self, whole: csr_array) -> Floats:
        """Topics of the documents side by side; when drawn, each is the same document in every modality."""
        shards = Shards.whole(whole)
        how = self.segments, self.anchors
        if not self.start.drawn:
            return first_topics(shards, self.engine, self.n_topics, self.start, *how)
        n_modalities = np.bincount(self.nodes.documents, minlength=self.nodes.n_documents)
        fullest = n_modalities == n_modalities.max()
        fullest_rows = Shards.whole(csr_array(whole[np.flatnonzero(fullest)]))
        topics = first_topics(fullest_rows, self.engine, self.n_topics, self.start, *how)
        if not n_modalities[~fullest].any():
            return topics
        # words that only other documents have join as words that no topic has
        given = Start(topics.T, None)
        return first_topics(shards, self.engine, self.n_topics, given, *how)

    def begin(self) -> LinkedFit:
        """Topics that correspond, and weights of the nodes that suit them; without a history."""
        if not self.start.drawn:
            topics = self.first_topics(side_by_side(self.matrices))
            shards = Shards.whole(self.nodes.counts)
            fold_in_shards(shards, topics, SIMPLEX, self.engine, self.precision, positive=True)
            return LinkedFit(Trace([]), topics, shards[0].weights)
        # Tied weights first: then topics correspond, and are found before strong links slow all weights down.
        fit = self.tied("start")
        return fit._replace(trace=fit.trace._replace(history=[]))

    def tied(self, phase: str) -> LinkedFit:
        """One composition for all modalities of a document; the weights are told for every node."""
        documents, place = np.unique(self.nodes.documents, return_inverse=True)
        X = side_by_side(self.matrices)
        topics = self.first_topics(X)
        shards = Shards.whole(csr_array(X[documents]))
        if self.start.drawn:
            self.engine.each(shards, even_weights, (self.n_topics, True))
        else:
            fold_in_shards(shards, topics, SIMPLEX, self.engine, self.precision, positive=True)
        known: dict[str, Any] = {"segments": self.segments, "before": self.before}
        # documents of sum one by plain steps: coordinate descent of them costs more than it saves
        step, plain = Separate(SIMPLEX), PLAIN if self.start.drawn else 0
        steps = ExtrapolatedSteps(shards, topics, step, step, self.engine, plain=plain, **known)
        trace = alternate(steps, self.patience._replace(memory=MEMORY), phase)
        return LinkedFit(trace, steps.components, shards[0].weights[place])


def _possible(matrices: list[csr_array], anchors: Anchoring | None) -> list[csr_array]:
    """Modalities without the words that no topic may have."""
    if anchors is None:
        return matrices
    segments = columns_of([part.shape[1] for part in matrices])
    return [
        known_words(part, anchors.possible(slice(*segment), s))
        for s, (part, segment) in enumerate(zip(matrices, segments, strict=True))
    ]


def _positive(weights: Floats) -> Floats:
    """Rows of sum one without zeros."""
    weights = np.maximum(weights, LEAST_WEIGHT)
    return weights / weights.sum(axis=1, keepdims=True)
