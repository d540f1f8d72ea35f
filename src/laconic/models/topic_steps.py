"""The topic half of an iteration, for the squared loss: C from S = W'W and R = W'X."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block
from laconic.kernels.budget import budget_sweep
from laconic.kernels.rows import compress, expand, inner
from laconic.models.factor import Factor, transposed
from laconic.models.solvers import RowSolver

Floats = NDArray[Any]


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

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Take the Gram matrix S of the documents' weights."""

    def solve(self, columns: Block, products: Floats, topics: Factor) -> Any:
        """Use the products of these terms (terms × topics); the result is passed to `finish`."""

    def finish(self, shares: Iterable[Any], topics: Factor) -> tuple[Factor, float]:
        """Return the new topics (terms × topics) and <R, C>."""


class SeparableTopics:
    """Topics whose terms are independent: a block is solved while its products are in cache.

    R is never whole.
    """

    def __init__(self, penalty: RowSolver) -> None:
        self.penalty = penalty
        self.alpha, self.power, self.sparse = penalty.alpha, penalty.power, penalty.sparse

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Prepare what all rows share."""
        self._prepared = self.penalty.prepare(gram, dtype)

    def solve(self, columns: Block, products: Floats, topics: Factor) -> Any:
        """Solve the rows of these terms, warm-started."""
        if not self.sparse:
            rows = topics[columns.start : columns.stop]
            self.penalty.solve(self._prepared, products, rows)
            return inner(products, rows)
        rows = np.empty_like(products)
        expand(topics.indptr, topics.indices, topics.data, *columns, rows)
        self.penalty.solve(self._prepared, products, rows)
        return inner(products, rows), *compress(rows)

    def finish(self, shares: Iterable[Any], topics: Factor) -> tuple[Factor, float]:
        """Join the blocks."""
        if not self.sparse:
            return topics, sum(shares)
        cross, sizes, indices, data = zip(*shares, strict=True)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        parts = np.concatenate(data), np.concatenate(indices), indptr
        return csr_array(parts, shape=topics.shape), sum(cross)


class BudgetTopics:
    """Topics of length one with at most `budget` words: the largest entries, chosen topic by topic.

    The choice couples all terms of a topic, so R is kept whole (topics × terms). The length of one takes the
    place of a penalty: without it topics could grow and weights shrink.
    """

    alpha = 0.0
    power = 2
    sparse = True

    def __init__(self, shape: tuple[int, int], dtype: Any, budget: int, nonnegative: bool) -> None:
        self.budget = budget
        self.nonnegative = nonnegative
        self.products = np.zeros(shape, dtype)
        self._scratch = np.empty(shape[1], dtype)

    def begin(self, gram: Floats, dtype: Any) -> None:
        """Keep S for the sweep."""
        self._gram = gram

    def solve(self, columns: Block, products: Floats, topics: Factor) -> None:
        """Collect R."""
        self.products[:, columns.start : columns.stop] = products.T

    def finish(self, shares: Iterable[None], topics: Factor) -> tuple[Factor, float]:
        """Choose the words of each topic in turn."""
        for _ in shares:
            continue
        by_topic = transposed(topics)
        sizes = np.diff(by_topic.indptr).astype(np.int64)
        width = max(self.budget, int(sizes.max(initial=0)))
        terms = np.zeros((len(sizes), width), np.int64)
        weights = np.zeros((len(sizes), width), topics.dtype)
        filled = np.arange(width) < sizes[:, None]
        terms[filled], weights[filled] = by_topic.indices, by_topic.data
        budget_sweep(
            self._gram, self.products, terms, weights, sizes, self.budget, self.nonnegative, self._scratch
        )
        filled = np.arange(width) < sizes[:, None]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        chosen = csr_array(
            (weights[filled], terms[filled].astype(np.int32), indptr), shape=self.products.shape
        )
        owner = np.repeat(np.arange(len(sizes)), sizes)
        cross = float(np.dot(self.products[owner, chosen.indices].astype(np.float64), chosen.data))
        return transposed(chosen), cross
