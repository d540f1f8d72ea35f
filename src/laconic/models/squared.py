"""The steps of every model with squared loss: W and C in turn, through S = W'W, R = W'X and G = CC'.

The objective never needs the residual:  ||X - WC||^2 = ||X||^2 - 2<R, C> + <S, G>.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from laconic.engines import Block, Threads, even_blocks, weighted_blocks
from laconic.kernels.accumulate import gather
from laconic.kernels.rows import inner
from laconic.models.factor import (
    ROWS_PER_BLOCK,
    Factor,
    Floats,
    Projector,
    gram,
    power_sums,
    squared_norm,
    transposed,
)
from laconic.models.solvers import RowSolver
from laconic.models.topic_steps import TopicStep

# A block of terms goes through the weights tile by tile. Blocks are heavy enough to make good use of a tile,
# and light enough to keep several threads busy. Measured: the gather of 100 to 500 topics is 1.6 times as
# fast as without tiles, and faster than memory could be read once for each non-zero.
TERMS_PER_BLOCK = 512
PASSES_PER_BLOCK = 8
TILE_BYTES = 4_000_000


class DocumentShare(NamedTuple):
    """What a block of documents adds: W'W, <X, WC>, and the sums of |w|**power for every topic."""

    gram: Floats
    cross: float
    norms: Floats


class SquaredSteps:
    """Documents and topics in turn for  ||X - WC||^2 + penalties; `begin` says which, and from where.

    When both factors have a penalty, topics are rescaled against weights after each document step, to the
    scale at which the penalties add up to least: without it a badly scaled start can collapse to no topics.

    Inside, terms are ordered by falling frequency, so that the terms of a block use the same documents.

    Parameters
    ----------
    X : csr_array
    n_topics : int
    engine : Threads
    """

    def __init__(self, X: csr_array, n_topics: int, engine: Threads) -> None:
        self.order = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
        self.place = np.empty(X.shape[1], X.indices.dtype)
        self.place[self.order] = np.arange(X.shape[1])
        self.X = csr_array((X.data, self.place[X.indices], X.indptr), shape=X.shape)
        self.columns = self.X.tocsc()
        self.engine = engine
        self.energy = checked_energy(X)
        self.weights = np.zeros((X.shape[0], n_topics), X.dtype)
        self.document_stages = [even_blocks(X.shape[0], ROWS_PER_BLOCK)]
        heaviest = PASSES_PER_BLOCK * X.shape[0]
        self.term_blocks = weighted_blocks(self.columns.indptr, TERMS_PER_BLOCK, heaviest)
        self.tile = max(1, TILE_BYTES // (X.dtype.itemsize * n_topics))

    def begin(self, components: csr_array, documents: RowSolver, step: TopicStep) -> None:
        """Set the problem and its first topics (topics × terms)."""
        self.documents = documents
        self.step = step
        self.weights[:] = 0
        topics = transposed(components)[self.order]
        self._set_topics(topics if step.sparse else topics.toarray())

    def components(self) -> Factor:
        """The topics as topics × terms, the terms in their own order."""
        return transposed(self.topics[self.place])

    def _set_topics(self, topics: Factor) -> None:
        self.topics = topics
        self._project = Projector(topics)
        self.topic_gram = gram(topics, self.engine)
        self._prepared = self.documents.prepare(self.topic_gram, self.X.dtype)

    def solve_documents(self, rows: Block) -> DocumentShare:
        """Fold these documents in."""
        products = self._project(self.X, rows)
        weights = self.weights[rows.start : rows.stop]
        self.documents.solve(self._prepared, products, weights)
        own_gram = weights.T @ weights
        if self.documents.power == 2:
            norms = np.diagonal(own_gram)
        else:
            norms = np.abs(weights).sum(0, dtype=np.float64)
        return DocumentShare(own_gram, inner(products, weights), norms)

    def reduce_documents(self, shares: Iterable[DocumentShare]) -> float:
        """Add up S, balance the factors, and hand S to the topic step."""
        n_topics = self.weights.shape[1]
        self.document_gram, norms, cross = np.zeros((n_topics, n_topics)), np.zeros(n_topics), 0.0
        for share in shares:
            self.document_gram += share.gram
            norms += share.norms
            cross += share.cross
        # the loss does not change with the balance: W and C are scaled against each other
        loss = self.energy - 2 * cross + float(np.vdot(self.document_gram, self.topic_gram))
        topic_norms = power_sums(self.topics, self.step.power)
        if self.step.alpha > 0 and self.documents.alpha > 0:
            self._balance(norms, topic_norms)
        self.document_penalty = self.documents.alpha * float(norms.sum())
        self.step.begin(self.document_gram, self.X.dtype)
        return loss + self.document_penalty + self.step.alpha * float(topic_norms.sum())

    def _balance(self, norms: Floats, topic_norms: Floats) -> None:
        """Multiply topics and divide weights, and all that was computed from them, norms included."""
        p, q = self.step.power, self.documents.power
        weight_side, topic_side = q * self.documents.alpha * norms, p * self.step.alpha * topic_norms
        scale = np.ones(len(norms))
        alive = (weight_side > 0) & (topic_side > 0)
        scale[alive] = (weight_side[alive] / topic_side[alive]) ** (1 / (p + q))
        self.document_gram /= np.outer(scale, scale)
        norms /= scale**q
        topic_norms *= scale**p
        factor = scale.astype(self.X.dtype)
        if isinstance(self.topics, np.ndarray):
            self.topics *= factor
        else:
            self.topics.data *= factor[self.topics.indices]

        def divide(rows: Block) -> None:
            self.weights[rows.start : rows.stop] /= factor

        for _ in self.engine.map(divide, self.document_stages[0]):
            continue

    def solve_terms(self, columns: Block) -> Any:
        """Gather the products of these terms and pass them on to the topic step."""
        products = np.empty((columns.size, self.weights.shape[1]), self.X.dtype)
        matrix = self.columns
        gather(matrix.indptr, matrix.indices, matrix.data, *columns, self.weights, self.tile, products)
        return self.step.solve(columns, products, self.topics)

    def reduce_terms(self, shares: Iterable[Any]) -> float:
        """Take over the new topics."""
        topics, cross = self.step.finish(shares, self.topics)
        self._set_topics(topics)
        loss = self.energy - 2 * cross + float(np.vdot(self.document_gram, self.topic_gram))
        topic_penalty = self.step.alpha * float(power_sums(topics, self.step.power).sum())
        return loss + self.document_penalty + topic_penalty

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        n_terms, n_topics = self.topics.shape
        n_alive = int(np.count_nonzero(np.diagonal(self.topic_gram)))
        return n_alive, self.topics.size / (n_terms * n_topics)  # a sparse array's size: its stored entries


def checked_energy(X: csr_array) -> float:
    """||X||^2, or an error if products of such numbers would leave the range of their type."""
    with np.errstate(over="ignore"):
        energy = squared_norm(X)
    limits = np.finfo(X.dtype)
    for wrong, what, remedy in (
        (not energy < float(limits.max) ** 0.5, "large", "down"),
        (0 < energy < float(limits.tiny) ** 0.5, "small", "up"),
    ):
        if wrong:
            otherwise = ", or pass it as float64" if X.dtype == np.float32 else ""
            raise ValueError(f"The values of X are too {what} for {X.dtype}: scale X {remedy}{otherwise}.")
    return energy


def fold_in(
    X: csr_array, topics: Factor, documents: RowSolver, engine: Threads
) -> tuple[Floats, float, float]:
    """The weights of documents for fixed topics (terms × topics), the squared loss, and ||X||^2."""
    energy = checked_energy(X)
    topic_gram = gram(topics, engine)
    prepared = documents.prepare(topic_gram, X.dtype)
    project = Projector(topics)
    weights = np.zeros((X.shape[0], topics.shape[1]), X.dtype)

    def solve(rows: Block) -> float:
        products = project(X, rows)
        block = weights[rows.start : rows.stop]
        documents.solve(prepared, products, block)
        exact = block.astype(np.float64)
        return float(np.vdot(exact @ topic_gram, exact)) - 2 * float(inner(products, block))

    loss = sum(engine.map(solve, even_blocks(X.shape[0], ROWS_PER_BLOCK)), 0.0)
    return weights, energy + loss, energy
