"""The topic half of an iteration, for the squared loss: C from S = W'W and R = W'X."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.kernels.budget import budget_sweep
from laconic.kernels.rows import compress, expand, inner
from laconic.models.factor import Factor, contiguous, transposed
from laconic.models.solvers import RowSolver

Floats = NDArray[Any]
Terms = NDArray[Any]
"""Sorted row numbers."""


class TopicStep(Protocol):
    """What happens to the products R of each block of terms, and when all are there."""

    @property
    def alpha(self) -> float:
        """Weight of the penalty on topics, alpha times the sum of ``|c|**power``; zero if there is none."""

    @property
    def power(self) -> int:
        """1 or 2."""

    @property
    def sparse(self) -> bool:
        """Whether topics have exact zeros."""

    @property
    def nonnegative(self) -> bool:
        """Whether topics have positive words only."""

    @property
    def unit_length(self) -> bool:
        """Whether topics have length one, so that they must not be rescaled."""

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Take the Gram matrix S of the documents' weights."""

    def solve(self, terms: Terms, products: Floats, explained: Floats | None, topics: Factor) -> Any:
        """Use the products of these terms (terms × topics), less what other topics explain of them.

        The result is passed to `finish`.
        """

    def finish(self, shares: Iterable[Any], topics: Factor) -> tuple[Factor, float]:
        """Return the new topics (terms × topics; zero at terms that were not solved) and <R, C>."""


class SeparableTopics:
    """Topics whose terms are independent: a block is solved while its products are in cache.

    R is never whole.
    """

    unit_length = False

    def __init__(self, penalty: RowSolver) -> None:
        self.penalty = penalty
        self.alpha, self.power, self.sparse = penalty.alpha, penalty.power, penalty.sparse
        self.nonnegative = penalty.nonnegative

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Prepare what all rows share."""
        self._prepared = self.penalty.prepare(gram, dtype)

    def solve(self, terms: Terms, products: Floats, explained: Floats | None, topics: Factor) -> Any:
        """Solve the rows of these terms, warm-started."""
        if self.sparse:
            rows = np.empty_like(products)
            expand(topics.indptr, topics.indices, topics.data, terms, rows)
        else:
            place = contiguous(terms)
            rows = topics[place]
        self.penalty.solve(self._prepared, products, rows, explained)
        cross = inner(products, rows) - (0.0 if explained is None else inner(explained, rows))
        if self.sparse:
            return terms, cross, *compress(rows)
        topics[place] = rows
        return terms, cross

    def finish(self, shares: Iterable[Any], topics: Factor) -> tuple[Factor, float]:
        """Join the blocks."""
        solved, cross, *parts = zip(*shares, strict=True) if (shares := list(shares)) else ((), ())
        if not self.sparse:
            unsolved = np.ones(len(topics), bool)
            for terms in solved:
                unsolved[terms] = False
            topics[unsolved] = 0
            return topics, sum(cross, 0.0)
        if not solved:
            return csr_array(topics.shape, dtype=topics.dtype), 0.0
        sizes, indices, data = parts
        indptr = np.zeros(topics.shape[0] + 1, np.int64)
        indptr[1 + np.concatenate(solved)] = np.concatenate(sizes)
        np.cumsum(indptr, out=indptr)
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        joined = np.concatenate(data), np.concatenate(indices), indptr
        return csr_array(joined, shape=topics.shape), sum(cross, 0.0)


class BudgetTopics:
    """Topics of length one with at most `budget` words: the largest entries, chosen topic by topic.

    The choice couples all terms of a topic, so R is kept whole (topics × terms) while it is needed. The
    length of one takes the place of a penalty: without it topics could grow and weights shrink.

    Parameters
    ----------
    room : array of shape (n_topics or more, n_terms)
        For R; steps that run one after the other may share it.
    n_topics : int
    budget : int
    nonnegative : bool
    """

    alpha = 0.0
    power = 2
    sparse = True
    unit_length = True

    def __init__(self, room: Floats, n_topics: int, budget: int, nonnegative: bool) -> None:
        self.budget = budget
        self.nonnegative = nonnegative
        self._room = room[:n_topics]
        self.watch: Callable[[Floats, Floats, csr_array, int], None] | None = None
        """Called with S, R, the new topics (each a row) and the budget, while R is still there."""

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Keep S for the sweep."""
        self._gram = gram

    def solve(self, terms: Terms, products: Floats, explained: Floats | None, topics: Factor) -> Any:
        """Take what is to be chosen from, topic by topic."""
        return terms, np.ascontiguousarray((products if explained is None else products - explained).T)

    def finish(self, shares: Iterable[Any], topics: Factor) -> tuple[Factor, float]:
        """Choose the words of each topic in turn."""
        blocks, size = [np.zeros(0, np.int32)], 0
        for terms, part in shares:
            self._room[:, size : size + terms.size] = part
            blocks.append(terms)
            size += terms.size
        places, products = np.concatenate(blocks), self._room[:, :size]
        if size == 0:
            return csr_array(topics.shape, dtype=topics.dtype), 0.0
        by_topic = transposed(topics[places])
        sizes = np.diff(by_topic.indptr).astype(np.int64)
        width = max(self.budget, int(sizes.max(initial=0)))
        words = np.zeros((len(sizes), width), np.int64)
        weights = np.zeros((len(sizes), width), topics.dtype)
        filled = np.arange(width) < sizes[:, None]
        words[filled], weights[filled] = by_topic.indices, by_topic.data
        budget_sweep(self._gram, products, words, weights, sizes, self.budget, self.nonnegative)
        filled = np.arange(width) < sizes[:, None]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        chosen = csr_array((weights[filled], words[filled].astype(np.int32), indptr), shape=products.shape)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        cross = float(np.dot(products[owner, chosen.indices].astype(np.float64), chosen.data))
        if self.watch is not None:
            self.watch(self._gram, products, chosen, self.budget)
        parts = chosen.data, places[chosen.indices], indptr
        return transposed(csr_array(parts, shape=(len(sizes), topics.shape[0]))), cross
