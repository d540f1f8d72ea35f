"""Fits that are looked at on their way: the weights of documents after some iterations, from one fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Engine, Shards, Threads
from laconic.experiments.gplsa.graph_nmf import Floats, GraphNMF
from laconic.losses.divergence.graphs import as_graph
from laconic.losses.divergence.likelihood import fold_in_shards
from laconic.losses.divergence.linked import by_colour
from laconic.losses.divergence.problems import SIMPLEX, START_PRECISION
from laconic.losses.divergence.starts import first_topics
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.starts import Start

# An iteration that lowers the objective by less than this share of it is the last.
CONVERGED = 1e-5


class Point(NamedTuple):
    """Where a fit is after some iterations."""

    iteration: int
    objective: float
    weights: Any
    """Of the documents."""
    last: bool
    """Whether the fit ends here."""


def plsa_path(
    X: csr_array,
    graph: csr_array,
    n_topics: int,
    divergence: str,
    strength: float,
    *,
    start: str,
    marks: Sequence[int],
    seed: int,
) -> Iterator[Point]:
    """The fit of `GraphPLSA`, after each number of iterations in `marks` and at its end.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_terms)
        Documents that sum to one.
    graph : csr_array of shape (n_documents, n_documents)
    n_topics : int
    divergence : {"skl", "l2", "l1"}
    strength : float
    start : {"documents", "random"}
        "documents" is that of `GraphPLSA` (for l1 without its stages); "random": topics and weights drawn at
        random, as is usual for NMF.
    marks : sequence of int
        Rising; the last is the end, unless the fit converges before.
    seed : int

    Yields
    ------
    Point
    """
    with Threads(1) as engine:
        topics, weights = _plsa_start(X, n_topics, start, seed, engine)
        nodes = by_colour(X, as_graph(graph, X.shape[0]), weights, divergence, strength)
        steps = DivergenceSteps(nodes.shards, topics, nodes.documents, engine)

        def step() -> None:
            steps.documents()
            steps.topics()

        for iteration, objective, last in _watched(step, steps.objective, marks):
            yield Point(iteration, objective, nodes.unsorted(), last)


def _plsa_start(X: csr_array, n_topics: int, start: str, seed: int, engine: Engine) -> tuple[Any, Any]:
    if start == "random":
        topics, weights = _random(X, n_topics, seed)
        topics /= topics.sum(axis=1, keepdims=True)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.ascontiguousarray(topics.T, X.dtype), weights.astype(X.dtype)
    shards = Shards.whole(X)
    drawn = first_topics(shards, engine, n_topics, Start("documents", seed))
    fold_in_shards(shards, drawn, SIMPLEX, engine, START_PRECISION, positive=True)
    return drawn, shards[0].weights


def nmf_path(
    X: Floats, n_topics: int, problem: GraphNMF, *, start: str, marks: Sequence[int], seed: int
) -> Iterator[Point]:
    """The fit of graph regularised NMF: of the problem of X; the rest is as for `plsa_path`."""
    C, W = _random(X, n_topics, seed)
    if start == "documents":
        with Threads(1) as engine:
            shards = Shards.whole(csr_array(X))
            C = first_topics(shards, engine, n_topics, Start("documents", seed)).T.astype(np.float64)
        W = X @ C.T

    def step() -> None:
        nonlocal W, C
        W, C = problem.step(W, C)

    for iteration, objective, last in _watched(step, lambda: problem.objective(W, C), marks):
        yield Point(iteration, objective, problem.scaled(W, C), last)


def _random(X: Any, n_topics: int, seed: int) -> tuple[Floats, Floats]:
    """Topics × terms and documents × topics, uniform."""
    rng = np.random.default_rng(seed)
    return rng.random((n_topics, X.shape[1])), rng.random((X.shape[0], n_topics))


def _watched(
    step: Callable[[], None], objective: Callable[[], float], marks: Sequence[int]
) -> Iterator[tuple[int, float, bool]]:
    """Iterate, and stop at the marks; every tenth iteration tells whether the fit has converged."""
    checked, before = 0, np.inf
    for iteration in range(1, marks[-1] + 1):
        step()
        if iteration not in marks and iteration % 10:
            continue
        now = objective()
        converged = before - now <= CONVERGED * (iteration - checked) * abs(now)
        checked, before = iteration, now
        last = converged or iteration == marks[-1]
        if last or iteration in marks:
            yield iteration, now, last
        if last:
            return
