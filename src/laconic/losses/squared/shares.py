"""What runs on shards, and on blocks of terms, for the squared loss; and the messages that go there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Shard
from laconic.engines.shards import allot, writes
from laconic.kernels.rows import inner, split
from laconic.losses.factor import Factor, Floats, Projector, explained, weighed_terms
from laconic.losses.squared.rows import RowSolver
from laconic.losses.squared.topics import Candidates, Rows, TopicMessage


class First(NamedTuple):
    """How documents get weights for the first topics: a solver, and the least share of the largest weight."""

    documents: RowSolver
    least: float


@writes("weights")
def allot_by_class(shard: Shard, widths: Sequence[int]) -> None:
    """Give the documents of a shard weights for the topics of their class."""
    allot(shard, widths[shard.klass])


class ClassTopics(NamedTuple):
    """What documents of a class need of the topics."""

    shared: Projector | None
    own: Projector
    prepared: Floats
    scale: Floats | None
    """What the weights of before are still to be divided by."""
    first: Floats | None
    """What a first solver shares, in the first iteration."""

    def products(self, X: csr_array, rows: Block) -> Floats:
        """The products of documents with shared topics and those of the class."""
        products = self.own(X, rows)
        return products if self.shared is None else np.concatenate([self.shared(X, rows), products], axis=1)


class DocumentMessage(NamedTuple):
    """What documents need: the topics of every class, and how weights are found."""

    classes: list[ClassTopics]
    solver: RowSolver
    first: First | None


class DocumentShare(NamedTuple):
    """What a block of documents adds: W'W, <X, WC>, and the sums of |w|**power for every topic."""

    gram: Any
    cross: float
    norms: Any


@writes("weights")
def solve_documents(shard: Shard, rows: Block, message: DocumentMessage) -> DocumentShare:
    """Fold these documents in."""
    topics, solver = message.classes[shard.klass], message.solver
    products = topics.products(shard.X, rows)
    weights = shard.weights[rows.start : rows.stop]
    if topics.scale is not None and not (solver.closed_form and topics.first is None):
        weights /= topics.scale
    if message.first is not None and topics.first is not None:
        message.first.documents.solve(topics.first, products, weights)
        np.maximum(weights, message.first.least * weights.max(axis=1, keepdims=True), out=weights)
    solver.solve(topics.prepared, products, weights)
    gram = (weights.T @ weights).astype(np.float64, copy=False)
    norms = np.diagonal(gram) if solver.power == 2 else np.abs(weights).sum(0, dtype=np.float64)
    return DocumentShare(gram, inner(products, weights), norms)


class Products:
    """Rows of R = W'X for some places of a block of terms; at the others, it is zero."""

    def __init__(self, places: NDArray[Any], rows: Floats) -> None:
        self.places, self.rows = places, rows

    def __add__(self, other: Products) -> Products:
        places = np.union1d(self.places, other.places)
        rows = np.zeros((places.size, self.rows.shape[1]), self.rows.dtype)
        for each in (self, other):
            rows[np.searchsorted(places, each.places)] += each.rows
        return Products(places, rows)


class TermMessage(NamedTuple):
    """What blocks of terms need: the topic steps' parts, and how topics hang together."""

    own: list[TopicMessage | None]
    shared: TopicMessage | None
    scales: list[Floats | None]
    couplings: list[Floats]
    corrected: NDArray[np.bool_] | None
    shared_topics: Factor | None
    seen: list[Floats] | None = None
    """Products of documents of earlier batches, terms by topics, of every class."""

    def with_seen(self, terms: NDArray[Any], sums: Iterable[Products | None]) -> Iterator[Products | None]:
        """The products of some terms for every class, with those of earlier batches."""
        if self.seen is None:
            yield from sums
            return
        for products, seen in zip(sums, self.seen, strict=True):
            rows = seen[terms]
            places = np.flatnonzero(rows.any(axis=1))
            before = Products(places, rows[places])
            yield before if products is None else products + before


def class_products(shard: Shard, terms: NDArray[Any], message: TermMessage) -> Products:
    """The products of a shard's weights with some terms."""
    places, begins, ends = shard.columns.present(terms)
    rows = weighed_terms(shard, begins, ends)
    scale = message.scales[shard.klass]
    if scale is not None:
        rows /= scale
    return Products(places, rows)


def solve_terms(terms: NDArray[Any], sums: Iterable[Products | None], message: TermMessage) -> list[Any]:
    """What the topic steps make of a block of terms: of every class's topics, then of the shared ones."""
    sums = message.with_seen(terms, sums)
    if message.shared is None:
        return [_solve_class(part, terms, products) for part, products in zip(message.own, sums, strict=True)]
    assert message.shared_topics is not None
    n_shared, dtype = message.shared_topics.shape[1], message.shared_topics.dtype
    common, known = np.zeros((2, terms.size, n_shared), dtype)
    found: list[Any] = []
    picked = np.zeros(terms.size, bool)
    corrected = np.zeros(terms.size, bool) if message.corrected is None else message.corrected[terms]
    for part, products, coupling in zip(message.own, sums, message.couplings, strict=True):
        wanted = corrected.copy()
        if products is not None:
            wanted[products.places] = True
        if part is not None and part.before is not None:
            wanted |= part.before.solved[terms]
        places = np.flatnonzero(wanted)
        targets = np.zeros((places.size, coupling.shape[1]), dtype)
        if products is not None:
            rank = np.cumsum(wanted) - 1
            split(products.rows, products.places, rank[products.places], common, targets)
        if part is None:
            found.append(None)
            continue
        own = part.solve(terms[places], targets, explained(message.shared_topics, terms[places], coupling))
        found.append(own)
        if isinstance(own, Rows):
            own.add_to(np.ascontiguousarray(coupling.T), places, known)
        elif isinstance(own, Candidates):
            picked[np.searchsorted(terms, own.terms)] = True
    found.append(message.shared.solve(terms, common, known, picked))
    return found


def collect_products(
    terms: NDArray[Any], sums: Iterable[Products | None], message: TermMessage
) -> list[Products | None]:
    """The products of a block of terms themselves."""
    return list(message.with_seen(terms, sums))


def _solve_class(part: TopicMessage | None, terms: NDArray[Any], products: Products | None) -> Any:
    """What the topics of a class make of a block of terms: of those that it has, and of those from before."""
    if part is not None and part.before is not None:
        places = np.flatnonzero(part.before.solved[terms])
        rows = np.zeros((places.size, len(part.before.gram)), part.before.products.dtype)
        anchored = Products(places, rows)
        products = anchored if products is None else products + anchored
    if part is None or products is None:
        return None
    return part.solve(terms[products.places], products.rows, None)
