"""Documents on a graph: the half step of linked documents, whose weights pull at each other.

Nodes of one colour have no edges between them, so they are solved side by side, each exactly, given the rows
of the others; colours follow one another. So the objective never rises, whatever the divergence and its
strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
STAGE_FACTOR = 10.0
START_TOL, START_ITER = 1e-3, 50


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


class Linked:
    """Nodes in the order of their colours, and the links between them.

    Parameters
    ----------
    X : csr_array of shape (n_nodes, n_terms)
    graph : csr_array of shape (n_nodes, n_nodes)
    divergence : {"skl", "l2", "l1"}
    strength : float
    """

    def __init__(self, X: csr_array, graph: csr_array, divergence: str, strength: float) -> None:
        couplings = _couplings(graph, strength)
        shades = colours(couplings)
        self.order = np.argsort(shades, kind="stable")
        self._sizes = np.bincount(shades).tolist()
        self.X, self._couplings = csr_array(X[self.order]), csr_array(couplings[self.order][:, self.order])
        self._divergence = divergence

    def step(self, share: float, weights: Floats) -> kl.DocumentStep:
        """The half step of the documents, at a share of the full strength."""
        if share == 0 or self._couplings.nnz == 0:
            return kl.Separate(kl.Mixture(simplex=True), self.X)
        return STEPS[self._divergence](self.X, self._couplings * share, self._sizes, weights)

    def shares(self) -> list[float]:
        """Stages of a gentle start: no links, then from where they weigh as much as words do."""
        if self._couplings.nnz == 0:
            return []
        share = float(self.X.sum(dtype=np.float64) / self._couplings.sum())
        shares = [0.0]
        while share < 1:
            shares.append(share)
            share *= STAGE_FACTOR
        return shares


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
    gentle: bool = False,
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
    gentle : bool, default=False
        Whether to start without links and to strengthen them in stages (which the callback sees as the phase
        "start"). Strong links leave nodes together where they were when they met: from there they move by
        steps that are as small as the strength is large.

    Returns
    -------
    Fit
        With the weights in the order of the nodes given.
    """
    linked = Linked(X, graph, divergence, strength)
    topics, weights = topics.copy(), weights[linked.order]
    for share in [*(linked.shares() if gentle else ()), 1.0]:
        documents = linked.step(share, weights)
        steps = kl.KLSteps(linked.X, weights, topics, documents, engine, segments=segments)
        if share < 1:
            trace = alternate(
                steps,
                engine,
                max_iter=min(max_iter, START_ITER),
                tol=START_TOL,
                callback=watch,
                phase="start",
            )
        else:
            trace = alternate(steps, engine, max_iter=max_iter, tol=tol, callback=watch)
        topics = steps.topics
        if share < 1 and trace.interrupted:
            trace = trace._replace(history=[])
            break
    return kl.Fit(trace, topics, _unsorted(weights, linked.order))


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
    """The weights of linked nodes for given topics, strengthening the links as in `fit_on_graph`."""
    linked = Linked(X, graph, divergence, strength)
    weights = weights[linked.order]
    for share in [*linked.shares()[1:], 1.0]:
        steps = kl.KLSteps(linked.X, weights, topics, linked.step(share, weights), engine)
        before = np.inf
        for _ in range(max_iter):
            shares = (
                part for blocks in steps.document_stages for part in engine.map(steps.solve_documents, blocks)
            )
            now = steps.reduce_documents(shares)
            if before - now <= tol * abs(now):
                break
            before = now
    return _unsorted(weights, linked.order)


def _unsorted(rows: Floats, order: NDArray[Any]) -> Floats:
    """Rows that were sorted in this order, as they were before."""
    found = np.empty_like(rows)
    found[order] = rows
    return found


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
