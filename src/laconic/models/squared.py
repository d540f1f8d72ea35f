"""The steps of every model with squared loss: W and C in turn, through S = W'W, R = W'X and G = CC'.

The objective never needs the residual:  ||X - WC||^2 = ||X||^2 - 2<R, C> + <S, G>.
Topics are kept as terms × topics, so that a block of terms is a block of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, Threads, even_blocks, weighted_blocks
from laconic.kernels.accumulate import gather, gather_sparse
from laconic.kernels.budget import budget_sweep
from laconic.kernels.rows import compress, expand, inner, sparse_gram
from laconic.models.solvers import RowSolver

Floats = NDArray[Any]

DOCUMENTS_PER_BLOCK = 1024
TERMS_PER_BLOCK = 512
NONZEROS_PER_BLOCK = 1 << 16


class TopicStep(Protocol):
    """The topic half of an iteration: what happens to the products R of a block of terms, and in the end."""

    penalty: RowSolver | None

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Take the Gram matrix S of the documents' weights."""

    def solve(self, columns: Block, products: Floats, topics: csr_array | Floats) -> Any:
        """Use the products of these terms (terms × topics)."""

    def finish(self, shares: Iterable[Any], topics: csr_array | Floats) -> tuple[csr_array | Floats, float]:
        """Return the new topics and <R, C>."""


class SeparableTopics:
    """Topics whose terms are independent: a block is solved while its products are in cache."""

    def __init__(self, penalty: RowSolver) -> None:
        self.penalty = penalty

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Prepare the rows' common part."""
        self._prepared = self.penalty.prepare(gram, dtype)

    def solve(self, columns: Block, products: Floats, topics: csr_array | Floats) -> Any:
        """Solve the rows of these terms, warm-started."""
        if not self.penalty.sparse:
            rows = topics[columns.start : columns.stop]
            self.penalty.solve(self._prepared, products, rows)
            return inner(products, rows)
        rows = np.empty_like(products)
        expand(topics.indptr, topics.indices, topics.data, *columns, rows)
        self.penalty.solve(self._prepared, products, rows)
        return inner(products, rows), *compress(rows)

    def finish(self, shares: Iterable[Any], topics: csr_array | Floats) -> tuple[csr_array | Floats, float]:
        """Join the blocks."""
        if not self.penalty.sparse:
            return topics, sum(shares)
        cross, sizes, indices, data = zip(*shares, strict=True)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        parts = np.concatenate(data), np.concatenate(indices), indptr
        return csr_array(parts, shape=topics.shape), sum(cross)


class BudgetTopics:
    """Topics of length one with at most `budget` words: the largest entries, chosen topic by topic."""

    penalty = None

    def __init__(self, steps: SquaredSteps, budget: int, nonnegative: bool) -> None:
        self.budget = budget
        self.nonnegative = nonnegative
        n_terms, n_topics = steps.X.shape[1], steps.weights.shape[1]
        self._products = np.zeros((n_topics, n_terms), steps.X.dtype)
        self._scratch = np.empty(n_terms, steps.X.dtype)

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Keep S for the sweep."""
        self._gram = gram

    def solve(self, columns: Block, products: Floats, topics: csr_array | Floats) -> Any:
        """Collect R: the choice of words couples all terms of a topic."""
        self._products[:, columns.start : columns.stop] = products.T

    def finish(self, shares: Iterable[Any], topics: csr_array | Floats) -> tuple[csr_array | Floats, float]:
        """Choose the words of each topic in turn."""
        for _ in shares:
            continue
        by_topic = csr_array(topics.T)
        sizes = np.diff(by_topic.indptr).astype(np.int64)
        width = max(self.budget, int(sizes.max(initial=0)))
        terms = np.zeros((len(sizes), width), np.int64)
        weights = np.zeros((len(sizes), width), topics.dtype)
        filled = np.arange(width) < sizes[:, None]
        terms[filled], weights[filled] = by_topic.indices, by_topic.data
        budget_sweep(
            self._gram, self._products, terms, weights, sizes, self.budget, self.nonnegative, self._scratch
        )
        filled = np.arange(width) < sizes[:, None]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        chosen = csr_array((weights[filled], terms[filled], indptr), shape=self._products.shape)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        cross = np.dot(self._products[owner, chosen.indices].astype(np.float64), chosen.data)
        return by_term(chosen), float(cross)


class DocumentShare(NamedTuple):
    """What a block of documents adds: W'W, <X, WC>, the l1 norms of its weights, rows not fully solved."""

    gram: Floats
    cross: float
    norms: Floats | None
    unsolved: int


class SquaredSteps:
    """Documents and topics in turn for  ||X - WC||^2 + penalties; `begin` says which, and from where.

    Parameters
    ----------
    X : csr_array
    n_topics : int
    engine : Threads
    """

    def __init__(self, X: csr_array, n_topics: int, engine: Threads) -> None:
        self.X = X
        self.columns = X.tocsc()
        self.engine = engine
        self.energy = squared_norm(X)
        self.weights = np.zeros((X.shape[0], n_topics), X.dtype)
        self.document_stages = [even_blocks(X.shape[0], DOCUMENTS_PER_BLOCK)]
        self.term_blocks = weighted_blocks(self.columns.indptr, TERMS_PER_BLOCK, NONZEROS_PER_BLOCK)

    def begin(
        self, topics: csr_array, documents: RowSolver, step: TopicStep, *, balance: bool = False
    ) -> None:
        """Set the problem and its first topics (topics × terms).

        With `balance`, topics are rescaled against weights after each document step, to the scale at which the
        two penalties add up to least: without it a badly scaled start can collapse to no topics at all.
        """
        self.documents = documents
        self.step = step
        self.balance = balance
        self.weights[:] = 0
        by_terms = by_term(topics)
        dense = step.penalty is not None and not step.penalty.sparse
        self._set_topics(by_terms.toarray() if dense else by_terms)

    def _set_topics(self, topics: csr_array | Floats) -> None:
        self.topics = topics
        self.topic_gram = gram_of_rows(topics, self.engine)
        self._prepared = self.documents.prepare(self.topic_gram, self.X.dtype)

    def solve_documents(self, rows: Block) -> DocumentShare:
        """Fold these documents in."""
        products = project(self.X, rows, self.topics)
        weights = self.weights[rows.start : rows.stop]
        unsolved = self.documents.solve(self._prepared, products, weights)
        norms = np.abs(weights).sum(0, dtype=np.float64) if self.documents.power == 1 else None
        return DocumentShare(weights.T @ weights, inner(products, weights), norms, unsolved)

    def reduce_documents(self, shares: Iterable[DocumentShare]) -> float:
        """Sum S, balance the factors, and hand S to the topic step."""
        n_topics = self.weights.shape[1]
        gram, norms, cross = np.zeros((n_topics, n_topics)), np.zeros(n_topics), 0.0
        for share in shares:
            gram += share.gram
            cross += share.cross
            norms += np.diagonal(share.gram) if share.norms is None else share.norms
        loss = self.energy - 2 * cross + float(np.vdot(gram, self.topic_gram))
        topic_norms = power_sums(self.topics, self.step.penalty.power) if self.step.penalty else None
        if self.balance and topic_norms is not None:
            scale = self._balancing_scale(norms, topic_norms)
            gram /= np.outer(scale, scale)
            norms /= scale**self.documents.power
            topic_norms *= scale**self.step.penalty.power
            self._rescale(scale)
        self.document_penalty = self.documents.alpha * norms.sum()
        topic_penalty = self.step.penalty.alpha * topic_norms.sum() if topic_norms is not None else 0.0
        self.document_gram = gram
        self.step.begin(gram, self.X.dtype)
        return loss + self.document_penalty + topic_penalty

    def _balancing_scale(self, norms: Floats, topic_norms: Floats) -> Floats:
        p, q = self.step.penalty.power, self.documents.power
        weight_side, topic_side = q * self.documents.alpha * norms, p * self.step.penalty.alpha * topic_norms
        scale = np.ones(len(norms))
        both = (weight_side > 0) & (topic_side > 0)
        scale[both] = (weight_side[both] / topic_side[both]) ** (1 / (p + q))
        return scale

    def _rescale(self, scale: Floats) -> None:
        """Multiply topics and divide weights. G is rescaled with the topics' next change."""
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
        gather(matrix.indptr, matrix.indices, matrix.data, *columns, self.weights, products)
        return self.step.solve(columns, products, self.topics)

    def reduce_terms(self, shares: Iterable[Any]) -> float:
        """Take over the new topics."""
        topics, cross = self.step.finish(shares, self.topics)
        self._set_topics(topics)
        loss = self.energy - 2 * cross + float(np.vdot(self.document_gram, self.topic_gram))
        topic_penalty = 0.0
        if self.step.penalty:
            topic_penalty = self.step.penalty.alpha * power_sums(topics, self.step.penalty.power).sum()
        return loss + self.document_penalty + topic_penalty

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        nonzeros = self.topics.nnz if not isinstance(self.topics, np.ndarray) else self.topics.size
        return int(np.count_nonzero(np.diagonal(self.topic_gram))), nonzeros / max(1, np.prod(self.topics.shape))


def fold_in(
    X: csr_array, topics: csr_array | Floats, documents: RowSolver, engine: Threads
) -> tuple[Floats, float]:
    """The weights of documents for fixed topics, and the squared loss."""
    gram = gram_of_rows(topics, engine)
    prepared = documents.prepare(gram, X.dtype)
    weights = np.zeros((X.shape[0], topics.shape[1]), X.dtype)

    def solve(rows: Block) -> float:
        products = project(X, rows, topics)
        block = weights[rows.start : rows.stop]
        documents.solve(prepared, products, block)
        fitted = block.astype(np.float64)
        return float(np.vdot(fitted @ gram, fitted)) - 2 * inner(products, block)

    loss = sum(engine.map(solve, even_blocks(X.shape[0], DOCUMENTS_PER_BLOCK)))
    return weights, squared_norm(X) + loss


def project(X: csr_array, rows: Block, topics: csr_array | Floats) -> Floats:
    """The products C x of a block of documents."""
    out = np.empty((rows.size, topics.shape[1]), X.dtype)
    if isinstance(topics, np.ndarray):
        gather(X.indptr, X.indices, X.data, *rows, topics, out)
    else:
        gather_sparse(X.indptr, X.indices, X.data, *rows, topics.indptr, topics.indices, topics.data, out)
    return out


def gram_of_rows(topics: csr_array | Floats, engine: Threads) -> Floats:
    """G = CC', from terms × topics, in float64."""
    n_terms, n_topics = topics.shape

    def outer(rows: Block) -> Floats:
        out = np.zeros((n_topics, n_topics))
        if isinstance(topics, np.ndarray):
            block = topics[rows.start : rows.stop]
            for part in even_blocks(rows.size, DOCUMENTS_PER_BLOCK):
                chunk = block[part.start : part.stop]
                out += chunk.T @ chunk
        else:
            sparse_gram(topics.indptr, topics.indices, topics.data, *rows, out)
        return out

    # a fixed number of pieces: each is a topics × topics array
    gram = sum(engine.map(outer, even_blocks(n_terms, -(-n_terms // 8))))
    if isinstance(topics, np.ndarray):
        return np.asarray(gram)
    return np.asarray(np.triu(gram) + np.triu(gram, 1).T)


def power_sums(topics: csr_array | Floats, power: int) -> Floats:
    """The sums of |c|**power of every topic, from terms × topics."""
    if isinstance(topics, np.ndarray):
        total = np.zeros(topics.shape[1])
        for block in even_blocks(len(topics), DOCUMENTS_PER_BLOCK):
            total += (np.abs(topics[block.start : block.stop]) ** power).sum(0, dtype=np.float64)
        return total
    values = np.abs(topics.data.astype(np.float64)) ** power
    return np.bincount(topics.indices, values, minlength=topics.shape[1])


def by_term(components: csr_array) -> csr_array:
    """Topics × terms to terms × topics, with sorted rows."""
    transposed = csr_array(components.T)
    transposed.sort_indices()
    return transposed


def squared_norm(X: csr_array) -> float:
    """||X||^2 in float64, without a float64 copy of the data."""
    return sum(
        float(np.square(X.data[b.start : b.stop], dtype=np.float64).sum()) for b in even_blocks(X.nnz, 1 << 20)
    )
