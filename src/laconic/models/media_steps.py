"""How topics of several media are found: a start where they correspond, then steps on the graph of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from laconic.engines import Threads
from laconic.models import kl
from laconic.models.factor import Floats
from laconic.models.graph_steps import fit_on_graph
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.media import Nodes, columns_of, side_by_side

# Divergences of weights may have no value at zero.
LEAST_WEIGHT = 1e-12


class Start(NamedTuple):
    """Where to begin: at documents that are drawn (init is a word), or at given topics."""

    n_topics: int
    init: Any
    random_state: Any

    @property
    def drawn(self) -> bool:
        """Whether documents are drawn."""
        return isinstance(self.init, str)


def fit_media(
    matrices: Sequence[csr_array],
    links: csr_array | None,
    start: Start,
    divergence: str,
    strength: float,
    engine: Threads,
    watch: Callback | None,
    *,
    max_iter: int,
    tol: float,
    precision: float,
) -> tuple[kl.Fit, list[Floats]]:
    """Topics (terms of all media × topics), and the weights of the documents in every medium.

    `matrices` are documents × terms of each medium, without stored zeros; `links` is a graph of the
    documents.
    """
    fitter = _Fitter(matrices, start, engine, watch, max_iter, tol, precision)
    fit = fitter.tied("fit") if divergence == "tied" else fitter.begin()
    if divergence != "tied" and not fit.trace.interrupted:
        fit = fit_on_graph(
            fitter.nodes.counts,
            fitter.nodes.graph(links),
            fit.topics,
            _positive(fit.weights),
            divergence,
            strength,
            engine,
            watch,
            segments=fitter.segments,
            max_iter=max_iter,
            tol=tol,
        )
    return fit, fitter.nodes.by_medium(fit.weights)


class _Fitter:
    """What the parts of a fit share."""

    def __init__(
        self,
        matrices: Sequence[csr_array],
        start: Start,
        engine: Threads,
        watch: Callback | None,
        max_iter: int,
        tol: float,
        precision: float,
    ) -> None:
        self.matrices, self.nodes = matrices, Nodes(matrices)
        self.segments = columns_of([part.shape[1] for part in matrices])
        self.start, self.engine, self.watch = start, engine, watch
        self.max_iter, self.tol, self.precision = max_iter, tol, precision

    def first_topics(self, whole: csr_array) -> Floats:
        """Topics of the documents side by side; when drawn, each is the same document in every medium."""
        n_topics, init, random_state = self.start
        if not self.start.drawn:
            return kl.first_topics(whole, n_topics, init, None, self.segments)
        n_media = np.bincount(self.nodes.documents, minlength=self.nodes.n_documents)
        fullest = n_media == n_media.max()
        random = check_random_state(random_state)
        topics = kl.first_topics(whole[np.flatnonzero(fullest)], n_topics, init, random, self.segments)
        if not n_media[~fullest].any():
            return topics
        # words that only other documents have join as words that no topic has
        return kl.first_topics(whole, n_topics, topics.T, None, self.segments)

    def begin(self) -> kl.Fit:
        """Topics that correspond, and weights of the nodes that suit them; without a history."""
        if not self.start.drawn:
            topics = self.first_topics(side_by_side(self.matrices))
            weights = self._likely(self.nodes.counts, topics)
            return kl.Fit(Trace([], converged=False, interrupted=False), topics, weights)
        # Tied weights first: then topics correspond, and are found before strong links slow all weights down.
        fit = self.tied("start")
        return fit._replace(trace=fit.trace._replace(history=[]))

    def tied(self, phase: str) -> kl.Fit:
        """One composition for all media of a document; the weights are told for every node."""
        documents, place = np.unique(self.nodes.documents, return_inverse=True)
        X = side_by_side(self.matrices)
        topics = self.first_topics(X)
        X = X[documents]
        if self.start.drawn:
            weights = np.full((documents.size, topics.shape[1]), 1 / topics.shape[1], X.dtype)
        else:
            weights = self._likely(X, topics)
        rows = kl.Separate(kl.Mixture(simplex=True), X)
        steps = kl.KLSteps(X, weights, topics, rows, self.engine, segments=self.segments)
        trace = alternate(
            steps, self.engine, max_iter=self.max_iter, tol=self.tol, callback=self.watch, phase=phase
        )
        return kl.Fit(trace, steps.topics, steps.weights[place])

    def _likely(self, X: csr_array, topics: Floats) -> Floats:
        return kl.fold_in(X, topics, kl.Mixture(simplex=True), self.engine, self.precision)[0]


def _positive(weights: Floats) -> Floats:
    """Rows of sum one without zeros."""
    weights = np.maximum(weights, LEAST_WEIGHT)
    return weights / weights.sum(axis=1, keepdims=True)
