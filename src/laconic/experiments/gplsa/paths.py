"""Fits that are looked at on their way: the weights of documents after some iterations, from one fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from laconic.engines import Engine, Shards, Threads
from laconic.experiments.gplsa.graph_nmf import Floats, GraphNMF
from laconic.losses.divergence.graphs import as_graph
from laconic.losses.divergence.likelihood import fold_in_shards
from laconic.losses.divergence.linked import by_colour
from laconic.losses.divergence.problems import SIMPLEX, START_PRECISION
from laconic.losses.divergence.starts import first_topics, random_weights
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.starts import Start

DOCUMENTS, RANDOM, CENTRES = "documents", "random", "k-means"
STARTS = (DOCUMENTS, RANDOM, CENTRES)


class Point(NamedTuple):
    """Where a fit is after some iterations."""

    iteration: int
    objective: float
    weights: Any
    """Of the documents."""


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
    """The fit of `GraphPLSA`, after each number of iterations in `marks`.

    Parameters
    ----------
    X : csr_array of shape (n_documents, n_terms)
        Documents that sum to one, or that do so on average.
    graph : csr_array of shape (n_documents, n_documents)
    n_topics : int
    divergence : {"skl", "l2", "l1"}
    strength : float
        At 0 there is no graph.
    start : {"documents", "random", "k-means"}
        The first two are those of `GraphPLSA` (for l1 without its stages). "k-means": the topics are centres
        of clusters, and weights suit them.
    marks : sequence of int
        Rising; the last is the end.
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

        for iteration in _marked(step, marks):
            yield Point(iteration, steps.objective(), nodes.unsorted())


def _plsa_start(X: csr_array, n_topics: int, start: str, seed: int, engine: Engine) -> tuple[Any, Any]:
    shards = Shards.whole(X)
    begin = Start(centres(X.toarray(), n_topics, seed) if start == CENTRES else start, seed)
    topics = first_topics(shards, engine, n_topics, begin)
    if start == RANDOM:
        return topics, random_weights(X.shape[0], n_topics, begin, X.dtype)
    fold_in_shards(shards, topics, SIMPLEX, engine, START_PRECISION, positive=True)
    return topics, shards[0].weights


def nmf_path(
    X: Floats, n_topics: int, problem: GraphNMF, *, start: str, marks: Sequence[int], seed: int
) -> Iterator[Point]:
    """The fit of graph regularised NMF: of the problem of X; the rest is as for `plsa_path`.

    The start "k-means" is that of the code that the authors of graph NMF released.
    """
    if start == CENTRES:
        C = normalize(centres(X, n_topics, seed))
        W = np.maximum(np.linalg.lstsq(C.T, X.T, rcond=None)[0].T, 0)
    elif start == RANDOM:
        rng = np.random.default_rng(seed)
        C, W = rng.random((n_topics, X.shape[1])), rng.random((X.shape[0], n_topics))
    else:
        with Threads(1) as engine:
            shards = Shards.whole(csr_array(X))
            C = first_topics(shards, engine, n_topics, Start(start, seed)).T.astype(np.float64)
        W = X @ C.T

    def step() -> None:
        nonlocal W, C
        W, C = problem.step(W, C)

    for iteration in _marked(step, marks):
        yield Point(iteration, problem.objective(W, C), problem.scaled(W, C))


def centres(X: Floats, n_topics: int, seed: int) -> Floats:
    """Centres of k-means after ten iterations; rounding may make some of their zeros negative."""
    clusters = KMeans(n_topics, n_init=1, max_iter=10, random_state=seed).fit(X)
    return np.asarray(np.maximum(clusters.cluster_centers_, 0))


def _marked(step: Callable[[], None], marks: Sequence[int]) -> Iterator[int]:
    """Iterate up to the last mark, and stop at each."""
    for iteration in range(1, marks[-1] + 1):
        step()
        if iteration in marks:
            yield iteration
