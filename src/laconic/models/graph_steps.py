"""Documents on a graph: the half step of linked documents, whose weights pull at each other.

Nodes of one colour have no edges between them, so they are solved side by side, each exactly, given the rows
of the others; colours follow one another. So the objective never rises, whatever the divergence and its
strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Threads, even_blocks, weighted_blocks
from laconic.kernels import edges, neighbours
from laconic.models import kl
from laconic.models.factor import Floats
from laconic.models.loop import Callback, alternate

DIVERGENCES = ("skl", "l2", "l1")
# a coupling this small is not felt by any document that a matrix of floats can hold
NOTHING = 1e-100
NODES_PER_BLOCK = 1024
# stages of a start with weak links
STAGE_FACTOR, STAGE_ITER, STAGE_TOL = 3.0, 100, 1e-4


def colours(graph: csr_array) -> NDArray[np.int64]:
    """A colour for every node such that neighbours differ: largest degrees first, so that there are few."""
    order = np.argsort(-np.diff(graph.indptr), kind="stable")
    return np.asarray(edges.greedy_colours(graph.indptr, graph.indices, order))


class OnGraph:
    """A `DocumentStep`: linked documents, for one of the divergences.

    Parameters
    ----------
    X : csr_array
        Nodes in the order of their colours.
    couplings : csr_array
        Strength times the weights of the edges, in the same order.
    sizes : sequence of int
        Number of nodes of every colour.
    weights : ndarray
        Where the fit begins; rows on the simplex.
    """

    def __init__(self, X: csr_array, couplings: csr_array, sizes: Sequence[int], weights: Floats) -> None:
        self.edges = couplings.indptr, couplings.indices, couplings.data
        self.stages: list[Sequence[Block]] = []
        start = 0
        for size in sizes:
            blocks = weighted_blocks(
                X.indptr[start : start + size + 1], kl.ROWS_PER_BLOCK, kl.NONZEROS_PER_BLOCK
            )
            self.stages.append([Block(block.start + start, block.stop + start) for block in blocks])
            start += size

    def solve(self, rows: Block, expected: Floats, weights: Floats) -> None:
        """An exact step for each of these nodes, given their neighbours."""
        self._solve(np.arange(*rows), expected, weights)

    def finish(self, weights: Floats, engine: Threads) -> float:
        """The divergence over the edges, each counted once."""
        blocks = even_blocks(len(weights), NODES_PER_BLOCK)
        return float(sum(engine.map(lambda rows: self._penalty(rows, weights), blocks)))

    def _solve(self, nodes: NDArray[np.int64], expected: Floats, weights: Floats) -> None:
        raise NotImplementedError

    def _penalty(self, rows: Block, weights: Floats) -> float:
        raise NotImplementedError


class Quadratic(OnGraph):
    """Half the squared distance."""

    def _solve(self, nodes: NDArray[np.int64], expected: Floats, weights: Floats) -> None:
        neighbours.quadratic_rows(nodes, *self.edges, expected, weights)

    def _penalty(self, rows: Block, weights: Floats) -> float:
        return float(edges.quadratic_penalty(*rows, *self.edges, weights))


class Logarithmic(OnGraph):
    """The symmetric Kullback-Leibler divergence; weights are kept positive."""

    def __init__(self, X: csr_array, couplings: csr_array, sizes: Sequence[int], weights: Floats) -> None:
        super().__init__(X, couplings, sizes, weights)
        np.maximum(weights, neighbours.FLOOR, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        self._logs = np.log(weights)

    def _solve(self, nodes: NDArray[np.int64], expected: Floats, weights: Floats) -> None:
        neighbours.logarithmic_rows(nodes, *self.edges, expected, weights, self._logs)

    def _penalty(self, rows: Block, weights: Floats) -> float:
        return float(edges.logarithmic_penalty(*rows, *self.edges, weights, self._logs))


class Absolute(OnGraph):
    """The sum of gaps. Rows may become equal, and then move together."""

    def __init__(self, X: csr_array, couplings: csr_array, sizes: Sequence[int], weights: Floats) -> None:
        super().__init__(X, couplings, sizes, weights)
        self.couplings = couplings
        self._expected = np.empty_like(weights)
        self._etas = np.asarray(X.sum(axis=1), np.float64).ravel()
        self._solved = False

    def solve(self, rows: Block, expected: Floats, weights: Floats) -> None:
        """An exact step for each of these nodes; remembers the expected counts for those that are tied."""
        self._expected[rows.start : rows.stop] = expected
        super().solve(rows, expected, weights)
        self._solved = True

    def _solve(self, nodes: NDArray[np.int64], expected: Floats, weights: Floats) -> None:
        neighbours.absolute_rows(nodes, *self.edges, expected, weights, self._etas)

    def _penalty(self, rows: Block, weights: Floats) -> float:
        return float(edges.absolute_penalty(*rows, *self.edges, weights))

    def finish(self, weights: Floats, engine: Threads) -> float:
        """Move tied rows together, then the divergence.

        Two equal rows hold each other where they are, even if both would rather be elsewhere: nodes that are
        joined by edges between equal rows take a step as one, with the sum of their counts, and with the
        edges that leave them.
        """
        if self._solved:
            leaders, labels = np.unique(edges.tied_nodes(*self.edges[:2], weights), return_inverse=True)
            if len(leaders) < len(weights):
                self._move_tied(leaders, labels, weights, engine)
        return super().finish(weights, engine)

    def _move_tied(
        self, leaders: NDArray[Any], labels: NDArray[Any], weights: Floats, engine: Threads
    ) -> None:
        n_nodes, n_groups = len(labels), len(leaders)
        members = csr_array((np.ones(n_nodes), labels, np.arange(n_nodes + 1)), shape=(n_nodes, n_groups))
        expected = members.T @ self._expected
        between = (members.T @ self.couplings @ members).tocoo()
        outside = between.row != between.col
        between = csr_array(
            (between.data[outside], (between.row[outside], between.col[outside])), shape=between.shape
        )
        rows, etas = weights[leaders], expected.sum(axis=1)
        tied = np.bincount(labels, minlength=n_groups) > 1
        shades = colours(between)
        for shade in range(shades.max() + 1):
            nodes = np.flatnonzero(tied & (shades == shade))

            def solve(part: Block, nodes: NDArray[Any] = nodes) -> None:
                some = nodes[part.start : part.stop]
                neighbours.absolute_rows(
                    some, between.indptr, between.indices, between.data, expected[some], rows, etas
                )

            for _ in engine.map(solve, even_blocks(len(nodes), kl.ROWS_PER_BLOCK)):
                continue
        moved = tied[labels]
        weights[moved] = rows[labels[moved]]


STEPS: dict[str, type[OnGraph]] = {"skl": Logarithmic, "l2": Quadratic, "l1": Absolute}


class ByColour(NamedTuple):
    """A problem with its nodes in the order of their colours."""

    X: csr_array
    weights: Floats
    documents: kl.DocumentStep
    order: NDArray[np.int64]

    def unsorted(self) -> Floats:
        """The weights in the order in which the nodes were given."""
        weights = np.empty_like(self.weights)
        weights[self.order] = self.weights
        return weights


def by_colour(X: csr_array, graph: csr_array, weights: Floats, divergence: str, strength: float) -> ByColour:
    """Put the nodes in the order of their colours."""
    couplings = _couplings(graph, strength)
    shades = colours(couplings)
    order = np.argsort(shades, kind="stable")
    X, weights = csr_array(X[order]), weights[order]
    if couplings.nnz == 0:
        return ByColour(X, weights, kl.Separate(kl.Mixture(simplex=True), X), order)
    couplings = csr_array(couplings[order][:, order])
    documents = STEPS[divergence](X, couplings, np.bincount(shades).tolist(), weights)
    return ByColour(X, weights, documents, order)


def fit_on_graph(
    X: csr_array,
    graph: csr_array,
    topics: Floats,
    weights: Floats,
    divergence: str,
    strength: float,
    engine: Threads,
    watch: Callback | None,
    *,
    segments: Sequence[Block] | None = None,
    max_iter: int,
    tol: float,
    phase: str = "fit",
) -> kl.Fit:
    """Topics, and weights of linked nodes, that minimise the loss plus strength times divergence over edges.

    Parameters
    ----------
    X : csr_array of shape (n_nodes, n_terms)
        Counts without stored zeros; rows may be empty.
    graph : csr_array of shape (n_nodes, n_nodes)
        Symmetric and non-negative, with nothing on its diagonal. An edge counts once, though it stands twice.
    topics : ndarray of shape (n_terms, n_topics)
        Where to begin; sums to one over every segment.
    weights : ndarray of shape (n_nodes, n_topics)
        Where to begin: positive rows on the simplex. Neighbours should not begin with equal rows, which the
        divergence "l1" would hold together.
    divergence : {"skl", "l2", "l1"}
    strength : float
    engine : Threads
    watch : callable or None
        Called after every half step.
    segments : sequence of Block, optional
        Columns of X that belong together; by default all.
    max_iter, tol
        When to stop.
    phase : str, default="fit"
        What the callback is told.

    Returns
    -------
    Fit
        With the weights in the order of the nodes given.
    """
    nodes = by_colour(X, graph, weights, divergence, strength)
    steps = kl.KLSteps(nodes.X, nodes.weights, topics.copy(), nodes.documents, engine, segments=segments)
    trace = alternate(steps, engine, max_iter=max_iter, tol=tol, callback=watch, phase=phase)
    return kl.Fit(trace, steps.topics, nodes.unsorted())


def strengthened_fit(
    X: csr_array,
    graph: csr_array,
    topics: Floats,
    weights: Floats,
    divergence: str,
    strength: float,
    engine: Threads,
    watch: Callback | None,
    *,
    max_iter: int,
    tol: float,
) -> kl.Fit:
    """As `fit_on_graph`, after a start in which links are weak at first and stronger from stage to stage.

    Rows that the divergence "l1" makes equal hardly part again: they should not meet before there are topics.
    """
    for weak in weaker_strengths(X, graph, strength):
        fit = fit_on_graph(
            *(X, graph, topics, weights, divergence, weak, engine, watch),
            max_iter=min(max_iter, STAGE_ITER),
            tol=max(tol, STAGE_TOL),
            phase="start",
        )
        topics, weights = fit.topics, fit.weights
        if fit.trace.interrupted:
            return fit._replace(trace=fit.trace._replace(history=[]))
    return fit_on_graph(
        X, graph, topics, weights, divergence, strength, engine, watch, max_iter=max_iter, tol=tol
    )


def weaker_strengths(X: csr_array, graph: csr_array, strength: float) -> list[float]:
    """Strengths for the stages of a start: none, then from where links weigh less than words."""
    words, links = float(X.sum(dtype=np.float64)), float(graph.sum())
    if strength == 0 or links == 0:
        return []
    stages = [0.0]
    weak = words / links / STAGE_FACTOR
    while weak < strength:
        stages.append(weak)
        weak *= STAGE_FACTOR
    return stages


def settle_on_graph(
    X: csr_array,
    graph: csr_array,
    topics: Floats,
    weights: Floats,
    divergence: str,
    strength: float,
    engine: Threads,
    *,
    max_iter: int,
    tol: float,
) -> Floats:
    """The weights of linked nodes for topics that are given and stay as they are; see `fit_on_graph`."""
    nodes = by_colour(X, graph, weights, divergence, strength)
    steps = kl.KLSteps(nodes.X, nodes.weights, topics, nodes.documents, engine)
    before = np.inf
    for _ in range(max_iter):
        stages = (engine.map(steps.solve_documents, blocks) for blocks in steps.document_stages)
        now = steps.reduce_documents(chain.from_iterable(stages))
        if before - now <= tol * abs(now):
            break
        before = now
    return nodes.unsorted()


def _couplings(graph: csr_array, strength: float) -> csr_array:
    """Strength times weight of every edge that can be felt, in float64."""
    couplings = graph.astype(np.float64)
    with np.errstate(over="ignore"):
        couplings.data *= strength
        total = couplings.data.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"strength={strength!r} times the weights of the edges is too large for float64: "
            "lower it, or scale the graph down."
        )
    couplings.data[couplings.data < NOTHING] = 0
    couplings.eliminate_zeros()
    return couplings
