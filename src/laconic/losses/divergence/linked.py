"""Documents on a graph: the half step of linked documents, whose weights pull at each other.

Nodes of one colour have no edges between them, so they are solved side by side, each exactly, given the rows
of the others; colours follow one another. So the objective never rises, whatever the divergence and its
strength. The root that puts a node's weights on the simplex is found by Newton's method; for the symmetric
divergence, a weight is a value of the Wright omega function.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Engine, Shard, Shards, even_blocks, weighted_blocks
from laconic.engines.shards import writes
from laconic.errors import Parameter, ParameterError
from laconic.kernels import edges, neighbours
from laconic.losses.divergence.mixtures import (
    NONZEROS_PER_BLOCK,
    ROWS_PER_BLOCK,
    DocumentShare,
    DocumentStep,
    Mixture,
    Separate,
    document_ratios,
    staged,
)
from laconic.losses.divergence.pseudocounts import PseudoCounts
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.factor import Floats
from laconic.losses.loop import Patience, Trace, alternate
from laconic.storage.forms import Form, Numbers

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


class Links(NamedTuple):
    """Strengths of the edges between nodes (CSR), and what the divergences keep beside the weights."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    couplings: NDArray[np.float64]
    logs: Floats
    """Of the weights; for the symmetric divergence."""
    etas: NDArray[np.float64]
    """Where roots were found last; for the sum of gaps."""
    expected: Floats
    """Expected counts of all nodes; for the sum of gaps."""

    @property
    def edges(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """The edges as a kernel takes them."""
        return self.indptr, self.indices, self.couplings


class LinkedMessage(NamedTuple):
    """What nodes need: topics, links, and which divergence."""

    topics: Floats
    links: Links
    divergence: str


@writes("weights")
def pull_rows(shard: Shard, rows: Block, message: LinkedMessage) -> float:
    """An exact step for each of these nodes, given their neighbours; returns their loss before it."""
    own = shard.weights[rows.start : rows.stop]
    expected = np.empty_like(own)
    loss = document_ratios(shard, rows, message.topics, own, expected)
    expected *= own
    nodes, links = np.arange(*rows), message.links
    if message.divergence == "l2":
        neighbours.quadratic_rows(nodes, *links.edges, expected, shard.weights)
    elif message.divergence == "skl":
        neighbours.logarithmic_rows(nodes, *links.edges, expected, shard.weights, links.logs)
    else:
        # those that are tied will be moved together
        links.expected[rows.start : rows.stop] = expected
        neighbours.absolute_rows(nodes, *links.edges, expected, shard.weights, links.etas)
    return loss


def edge_penalties(shard: Shard, rows: Block, message: LinkedMessage) -> float:
    """The divergence over the edges from these nodes to later ones."""
    links, weights = message.links, shard.weights
    if message.divergence == "l2":
        return float(edges.quadratic_penalty(*rows, *links.edges, weights))
    if message.divergence == "skl":
        return float(edges.logarithmic_penalty(*rows, *links.edges, weights, links.logs))
    return float(edges.absolute_penalty(*rows, *links.edges, weights))


def even_nodes(shard: Shard) -> list[Block]:
    """Nodes in blocks of equally many."""
    return even_blocks(len(shard.weights), NODES_PER_BLOCK)


class Linked:
    """A `DocumentStep`: linked documents, for one of the divergences.

    "skl" is the symmetric Kullback-Leibler divergence, for which weights are kept positive; "l2" half the
    squared distance; "l1" the sum of gaps, under which rows may become equal, and then move together.

    Parameters
    ----------
    X : csr_array
        Nodes in the order of their colours.
    couplings : csr_array
        Strength times the weights of the edges, in the same order.
    sizes : sequence of int
        Number of nodes of every colour.
    weights : ndarray
        Where the fit begins; rows on the simplex. Those that are too small become larger.
    divergence : {"skl", "l2", "l1"}
    """

    def __init__(
        self, X: csr_array, couplings: csr_array, sizes: Sequence[int], weights: Floats, divergence: str
    ) -> None:
        self.couplings, self.divergence = couplings, divergence
        self.colours: list[list[Block]] = []
        start = 0
        for size in sizes:
            ends = X.indptr[start : start + size + 1]
            blocks = weighted_blocks(ends, ROWS_PER_BLOCK, NONZEROS_PER_BLOCK)
            self.colours.append([Block(block.start + start, block.stop + start) for block in blocks])
            start += size
        nothing = np.zeros((0, weights.shape[1]), weights.dtype)
        logs, expected, etas = nothing, nothing, np.zeros(0)
        if divergence == "skl":
            np.maximum(weights, neighbours.FLOOR, out=weights)
            weights /= weights.sum(axis=1, keepdims=True)
            logs = np.log(weights)
        elif divergence == "l1":
            expected, etas = np.empty_like(weights), np.asarray(X.sum(axis=1), np.float64).ravel()
        self.links = Links(couplings.indptr, couplings.indices, couplings.data, logs, etas, expected)

    def state(self) -> dict[str, Any]:
        """Logarithms of the weights, and where roots were found: neither follows from the weights exactly."""
        return {"logs": self.links.logs, "etas": self.links.etas}

    def form(self) -> dict[str, Form]:
        """As many as there are."""
        logs, etas = self.links.logs, self.links.etas
        return {"logs": Numbers(logs.shape, logs.dtype), "etas": Numbers(etas.shape, etas.dtype)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take them back."""
        self.links = self.links._replace(logs=state["logs"], etas=state["etas"])

    def begin(self, shards: Shards, engine: Engine) -> float:
        """The divergence over the edges, each counted once."""
        message = LinkedMessage(shards[0].weights[:0], self.links, self.divergence)
        (penalty,) = engine.documents(shards, edge_penalties, message, even_nodes)
        return float(penalty)

    def solve(self, shards: Shards, topics: Floats, engine: Engine) -> DocumentShare:
        """Colour after colour; then those that are tied."""
        message = LinkedMessage(topics, self.links, self.divergence)
        loss = 0.0
        for blocks in self.colours:
            (share,) = engine.documents(shards, pull_rows, message, staged(blocks))
            loss += share
        if self.divergence == "l1":
            self._move_tied(shards[0].weights, engine)
        return DocumentShare(loss, self.begin(shards, engine))

    def _move_tied(self, weights: Floats, engine: Engine) -> None:
        """Move tied rows together.

        Two equal rows hold each other where they are, even if both would rather be elsewhere: nodes that are
        joined by edges between equal rows take a step as one, with the sum of their counts, and with the
        edges that leave them.
        """
        indptr, indices, _ = self.links.edges
        leaders, labels = np.unique(edges.tied_nodes(indptr, indices, weights), return_inverse=True)
        n_nodes, n_parts = len(labels), len(leaders)
        if n_parts == n_nodes:
            return
        members = csr_array((np.ones(n_nodes), labels, np.arange(n_nodes + 1)), shape=(n_nodes, n_parts))
        expected = members.T @ self.links.expected
        between = (members.T @ self.couplings @ members).tocoo()
        outside = between.row != between.col
        between = csr_array(
            (between.data[outside], (between.row[outside], between.col[outside])), shape=between.shape
        )
        rows, etas = weights[leaders], expected.sum(axis=1)
        tied = np.bincount(labels, minlength=n_parts) > 1
        shades = colours(between)
        for shade in range(shades.max() + 1):
            nodes = np.flatnonzero(tied & (shades == shade))
            parts = [nodes[block.start : block.stop] for block in even_blocks(len(nodes), ROWS_PER_BLOCK)]
            for _ in engine.map(partial(_move_parts, between, expected, rows, etas), parts):
                continue
        moved = tied[labels]
        weights[moved] = rows[labels[moved]]


def _move_parts(
    between: csr_array, expected: Floats, rows: Floats, etas: Floats, nodes: NDArray[np.int64]
) -> None:
    links = between.indptr, between.indices, between.data
    neighbours.absolute_rows(nodes, *links, expected[nodes], rows, etas)


class ByColour(NamedTuple):
    """A problem with its nodes in the order of their colours; their weights are the only shard's."""

    shards: Shards
    documents: DocumentStep
    order: NDArray[np.int64]

    def unsorted(self) -> Floats:
        """The weights in the order in which the nodes were given."""
        weights = np.empty_like(self.shards[0].weights)
        weights[self.order] = self.shards[0].weights
        return weights


def by_colour(X: csr_array, graph: csr_array, weights: Floats, divergence: str, strength: float) -> ByColour:
    """Put the nodes in the order of their colours."""
    couplings = _couplings(graph, strength)
    shades = colours(couplings)
    order = np.argsort(shades, kind="stable")
    shards = Shards.whole(csr_array(X[order]))
    shards[0].weights = weights[order]
    if couplings.nnz == 0:
        return ByColour(shards, Separate(Mixture(simplex=True)), order)
    couplings = csr_array(couplings[order][:, order])
    sizes = np.bincount(shades).tolist()
    documents = Linked(shards[0].X, couplings, sizes, shards[0].weights, divergence)
    return ByColour(shards, documents, order)


class LinkedFit(NamedTuple):
    """How topics (terms × topics) and the weights of nodes were found, and these."""

    trace: Trace
    topics: Floats
    weights: Floats


def fit_on_graph(
    X: csr_array,
    graph: csr_array,
    topics: Floats,
    weights: Floats,
    divergence: str,
    strength: float,
    engine: Engine,
    patience: Patience,
    *,
    segments: Sequence[Block] | None = None,
    phase: str = "fit",
    before: PseudoCounts | None = None,
) -> LinkedFit:
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
    engine : Engine
    patience : Patience
    segments : sequence of Block, optional
        Columns of X that belong together; by default all.
    phase : str, default="fit"
        What the callback is told.
    before : PseudoCounts, optional
        Counts that topics have before the documents.

    Returns
    -------
    LinkedFit
        With the weights in the order of the nodes given.
    """
    nodes = by_colour(X, graph, weights, divergence, strength)
    known: dict[str, Any] = {"segments": segments, "before": before}
    steps = DivergenceSteps(nodes.shards, topics.copy(), nodes.documents, engine, **known)
    trace = alternate(steps, patience, phase)
    return LinkedFit(trace, steps.components, nodes.unsorted())


def strengthened_fit(
    X: csr_array,
    graph: csr_array,
    topics: Floats,
    weights: Floats,
    divergence: str,
    strength: float,
    engine: Engine,
    patience: Patience,
    *,
    before: PseudoCounts | None = None,
) -> LinkedFit:
    """As `fit_on_graph`, after a start in which links are weak at first and stronger from stage to stage.

    Rows that the divergence "l1" makes equal hardly part again: they should not meet before there are topics.
    """
    hasty = patience._replace(max_iter=min(patience.max_iter, STAGE_ITER), tol=max(patience.tol, STAGE_TOL))
    for weak in weaker_strengths(X, graph, strength):
        fit = fit_on_graph(
            X, graph, topics, weights, divergence, weak, engine, hasty, phase="start", before=before
        )
        topics, weights = fit.topics, fit.weights
        if fit.trace.interrupted:
            return fit._replace(trace=fit.trace._replace(history=[]))
    return fit_on_graph(X, graph, topics, weights, divergence, strength, engine, patience, before=before)


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
    engine: Engine,
    patience: Patience,
) -> Floats:
    """The weights of linked nodes for topics that are given and stay as they are; see `fit_on_graph`."""
    nodes = by_colour(X, graph, weights, divergence, strength)
    steps = DivergenceSteps(nodes.shards, topics, nodes.documents, engine)
    before = np.inf
    for _ in range(patience.max_iter):
        now = steps.documents()
        if before - now <= patience.tol * abs(now):
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
        raise ParameterError(
            Parameter("strength", strength),
            " times the weights of the edges is too large for float64: lower it, or scale the graph down.",
        )
    couplings.data[couplings.data < NOTHING] = 0
    couplings.eliminate_zeros()
    return couplings
