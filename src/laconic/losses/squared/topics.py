"""The topic half of an iteration, for the squared loss: C from S = W'W and R = W'X.

A topic step stays with the coordinator. What a block of terms needs of it is a `TopicMessage`, small, that
solves the block, or picks from it, where its products have been added up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.kernels.budget import budget_sweep
from laconic.kernels.rows import compress, expand, inner, multiply
from laconic.losses.anchoring import placed
from laconic.losses.factor import ROUNDING, CompressedRows, Factor, scattered_rows, transposed
from laconic.losses.factor import explained as explained_by
from laconic.losses.squared.before import Before, Prepared
from laconic.losses.squared.rows import RowSolver
from laconic.storage.forms import AnyNumberOf, Form, Maybe, Number, Numbers

Floats = NDArray[Any]
Terms = NDArray[Any]
"""Sorted numbers of terms."""

# Words are candidates for a topic beyond this share of the least word that it took in the iteration before;
# once that was too large a share for some topic, beyond half of it, and so on down to the last. Blocks that
# are asked again take as long as the first time, and a few more candidates nothing to speak of.
SLACK, LEAST_SLACK = 0.5, 0.0625
# With fewer terms than this many times the budget, all of them are candidates.
FEW = 4


class TopicMessage(Protocol):
    """What a block of terms needs to know of topics; picklable."""

    @property
    def before(self) -> Before | None:
        """Statistics from before, which are added to the products."""

    def solve(
        self,
        terms: Terms,
        products: Floats,
        explained: Floats | None,
        wanted: NDArray[np.bool_] | None = None,
    ) -> Any:
        """Use the products of these terms (terms × topics), of which other topics explain some.

        Coupled steps pick the terms that are `wanted` in any case.
        """


class TopicStep(Protocol):
    """How topics are found from the products of all terms, which come block by block."""

    @property
    def alpha(self) -> float:
        """Weight of the penalty on topics, alpha times the sum of ``|c|**power``; zero if there is none."""

    @property
    def power(self) -> int:
        """1 or 2."""

    @property
    def sparse(self) -> bool:
        """Whether topics are kept without their zeros."""

    @property
    def nonnegative(self) -> bool:
        """Whether topics have positive words only."""

    @property
    def unit_length(self) -> bool:
        """Whether topics have length one, so that they must not be rescaled."""

    @property
    def coupled(self) -> bool:
        """Whether the terms of a topic depend on each other, so that blocks only pick candidates."""

    def part(self, gram: Floats, topics: Factor, before: Before | None = None) -> TopicMessage:
        """Take the Gram matrix S of the documents' weights, and tell what blocks of terms need.

        Statistics from before, where there are any, are added to S and R.
        """

    def take(self, found: Any, topics: Factor) -> None:
        """Take what the part made of a block of terms."""

    def finish(
        self, topics: Factor, explained: Callable[[Terms], Floats] | None = None
    ) -> tuple[Factor, float] | None:
        """The new topics (terms × topics; zero at terms that no block had) and <R, C>.

        Coupled steps take off here what other topics explain of their products, unless the blocks did. None:
        too little was picked; ask the blocks again.
        """

    def state(self) -> dict[str, Any]:
        """What the step knows from one iteration to the next, besides the topics."""

    def form(self) -> dict[str, Form]:
        """What a state must look like."""

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` told."""


class Rows(NamedTuple):
    """Solved rows of topics: their terms, <R, C>, and the rows, in CSR parts or dense."""

    terms: Terms
    cross: float
    rows: Any

    def add_to(self, coupling: Floats, places: NDArray[Any], out: Floats) -> None:
        """Add what these topics explain of others' products to some places of `out`."""
        if isinstance(self.rows, np.ndarray):
            out[places] += self.rows @ coupling
            return
        sizes, indices, data = self.rows
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        multiply(indptr, indices, data, np.arange(sizes.size), coupling, places, out)


class SeparablePart(NamedTuple):
    """The row problems of independent terms."""

    penalty: RowSolver
    prepared: Floats | list[Prepared]
    """What all rows share; with statistics from before, those with the same free topics."""
    topics: Factor
    before: Before | None = None

    def solve(
        self,
        terms: Terms,
        products: Floats,
        explained: Floats | None,
        wanted: NDArray[np.bool_] | None = None,
    ) -> Rows:
        """Solve the rows of these terms, warm-started."""
        dense = isinstance(self.topics, np.ndarray)
        if dense:
            rows = np.take(self.topics, terms, axis=0)
        else:
            rows = np.empty_like(products)
            expand(self.topics.indptr, self.topics.indices, self.topics.data, terms, rows)
        if self.before is None:
            assert isinstance(self.prepared, np.ndarray)
            self.penalty.solve(self.prepared, products, rows, explained)
        else:
            self._solve_anchored(self.before, terms, products, rows, explained)
        return Rows(terms, inner(products, rows), rows if dense else CompressedRows(*compress(rows)))

    def _solve_anchored(
        self, before: Before, terms: Terms, products: Floats, rows: Floats, explained: Floats | None
    ) -> None:
        """The terms of each pattern of free topics, with what was before."""
        targets, pattern_of = before.added(terms, products), before.pattern_of[terms]
        for number, pattern in enumerate(self.prepared):
            mine = np.flatnonzero(pattern_of == number)
            if mine.size == terms.size:
                pattern.solve(self.penalty, targets, rows, explained)
            elif mine.size:
                own = rows[mine]
                known = None if explained is None else explained[mine]
                pattern.solve(self.penalty, targets[mine], own, known)
                rows[mine] = own


class SeparableTopics:
    """Topics whose terms are independent: a block is solved while its products are in cache.

    R is never whole.

    Parameters
    ----------
    penalty : RowSolver
    dense : bool, default=False
        Whether topics are kept with their zeros: where there are few of them, or hardly any topics, that is
        sooner than to leave zeros out.
    """

    unit_length = False
    coupled = False

    def __init__(self, penalty: RowSolver, *, dense: bool = False) -> None:
        self.penalty = penalty
        self.alpha, self.power, self.sparse = penalty.alpha, penalty.power, penalty.sparse and not dense
        self.nonnegative = penalty.nonnegative

    def part(self, gram: Floats, topics: Factor, before: Before | None = None) -> SeparablePart:
        """Prepare what all rows share."""
        self._found: list[Rows] = []
        if before is None:
            return SeparablePart(self.penalty, self.penalty.prepare(gram, topics.dtype), topics)
        return SeparablePart(self.penalty, before.prepare(self.penalty, gram, topics.dtype), topics, before)

    def take(self, found: Rows, topics: Factor) -> None:
        """Keep sparse rows; put dense ones in their place, which no other block reads."""
        if not self.sparse:
            topics[found.terms] = found.rows
            found = found._replace(rows=None)
        self._found.append(found)

    def finish(
        self, topics: Factor, explained: Callable[[Terms], Floats] | None = None
    ) -> tuple[Factor, float]:
        """Join the blocks."""
        found, self._found = self._found, []
        cross = sum((each.cross for each in found), 0.0)
        terms = np.concatenate([np.zeros(0, np.int64), *(each.terms for each in found)])
        if not self.sparse:
            unsolved = np.ones(len(topics), bool)
            unsolved[terms] = False
            topics[unsolved] = 0
            return topics, cross
        return scattered_rows(terms, [each.rows for each in found], topics), cross

    def state(self) -> dict[str, Any]:
        """Nothing: topics are all that an iteration leaves."""
        return {}

    def form(self) -> dict[str, Form]:
        """Nothing."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing to take back."""


class Candidates(NamedTuple):
    """Terms of a block that may become words of a topic, and their rows of R."""

    terms: Terms
    rows: Floats


class BudgetPart(NamedTuple):
    """Picks the terms that are in topics already, and those whose products exceed a topic's bar."""

    bars: Floats
    used: NDArray[np.bool_]
    """Whether a term is in any topic."""
    before: Before | None = None

    def solve(
        self,
        terms: Terms,
        products: Floats,
        explained: Floats | None,
        wanted: NDArray[np.bool_] | None = None,
    ) -> Candidates:
        """Pick from these terms."""
        if self.before is not None:
            products = self.before.added(terms, products)
        rows = products if explained is None else products - explained
        picked = self.used[terms] | (np.abs(rows) > self.bars).any(axis=1)
        if wanted is not None:
            picked |= wanted
        return Candidates(terms[picked], rows[picked])


class LargestPart(NamedTuple):
    """The largest products of every topic in a block, to begin with."""

    budget: int
    before: Before | None = None

    def solve(
        self,
        terms: Terms,
        products: Floats,
        explained: Floats | None,
        wanted: NDArray[np.bool_] | None = None,
    ) -> Floats:
        """Sizes (at most `budget` × topics)."""
        if self.before is not None:
            products = self.before.added(terms, products)
        sizes = np.abs(products if explained is None else products - explained)
        return largest(sizes, self.budget)


def largest(sizes: Floats, count: int) -> Floats:
    """The largest entries of every column, in no order."""
    return sizes if len(sizes) <= count else np.partition(sizes, len(sizes) - count, axis=0)[-count:]


class BudgetTopics:
    """Topics of length one with at most `budget` words: the largest entries, chosen topic by topic.

    The choice couples all terms of a topic, but R need not be whole for it: a topic takes the largest entries
    of b = r_k - sum s_kl c_l, and b differs from r only where some topic has a word. So blocks send the rows
    of R of words that are in a topic, and of those beyond a bar for some topic. If the least entry that a
    topic takes is above its bar, nothing outside could have been taken, and the choice is exact; if not, the
    bar is lowered and the blocks are asked again.

    The length of one takes the place of a penalty: without it topics could grow and weights shrink.

    Parameters
    ----------
    n_topics : int
    budget : int
    nonnegative : bool
    n_terms : int
        Number of terms that occur.
    """

    alpha = 0.0
    power = 2
    sparse = True
    unit_length = True
    coupled = True

    def __init__(self, n_topics: int, budget: int, nonnegative: bool, n_terms: int) -> None:
        self.n_topics, self.budget = n_topics, budget
        self.nonnegative = nonnegative
        self.n_terms = n_terms
        self.slack = SLACK
        self.bars: Floats | None = None if n_terms > FEW * budget else np.full(n_topics, -1.0)
        self.watch: Callable[[Floats, Floats, csr_array, BudgetTopics], list[float]] | None = None
        """Called with S, R of the candidates, the new topics (each a row) and this step."""
        self.watched: list[float] = []
        """What `watch` has found in the last iteration."""

    def expect(self, sizes: Floats) -> None:
        """Set the first bars by the largest products of a number of terms."""
        count = min(self.budget, len(sizes))
        self.bars = self.slack * np.asarray(largest(sizes, count).min(axis=0, initial=np.inf), np.float64)

    def part(self, gram: Floats, topics: Factor, before: Before | None = None) -> TopicMessage:
        """Keep S for the sweep; without bars, ask what they might be."""
        self._gram = gram if before is None else gram + before.gram
        self._before = before
        self._found: list[Candidates] = []
        if self.bars is None:
            return LargestPart(self.budget, before)
        bars, used = self.bars.astype(topics.dtype), np.diff(topics.indptr) > 0
        if before is not None:
            # frozen topics take no words; words that differ from their products are asked for in any case
            bars[before.frozen] = np.inf
            used |= before.solved
        return BudgetPart(bars, used, before)

    def take(self, found: Candidates, topics: Factor) -> None:
        """Keep the candidates."""
        self._found.append(found)

    def finish(
        self, topics: Factor, explained: Callable[[Terms], Floats] | None = None
    ) -> tuple[Factor, float] | None:
        """Choose the words of each topic in turn."""
        assert self.bars is not None
        terms = np.concatenate([np.zeros(0, np.int64), *(each.terms for each in self._found)])
        order = np.argsort(terms)
        terms = terms[order]
        if terms.size == 0:
            return csr_array(topics.shape, dtype=topics.dtype), 0.0
        whole = np.concatenate([each.rows for each in self._found])[order]
        self._found = []
        products = np.ascontiguousarray((whole if explained is None else whole - explained(terms)).T)
        chosen, least = self._swept(products, transposed(csr_array(topics[terms])), terms)
        unsure = (self.bars > 0) & (least <= self.bars.astype(least.dtype)) & (least < np.inf)
        if unsure.any():
            # first twice as many, as it were; then all
            self.slack = max(LEAST_SLACK, self.slack / 2)
            self.bars = np.where(unsure, np.where(least > 0, self.slack * least, -1.0), self.bars)
            return None
        owner = np.repeat(np.arange(len(least)), np.diff(chosen.indptr))
        cross = float(np.dot(whole[chosen.indices, owner].astype(np.float64), chosen.data))
        if self.watch is not None:
            self.watched = self.watch(self._gram, products, chosen, self)
        if self.n_terms > FEW * self.budget:
            self.bars = np.where(least < np.inf, self.slack * least.astype(np.float64), self.bars)
        parts = chosen.data, terms[chosen.indices], chosen.indptr
        found = transposed(csr_array(parts, shape=(len(least), topics.shape[0])))
        # the blocks sent products with those from before
        return found, cross if self._before is None else cross - self._before.cross(found)

    def state(self) -> dict[str, Any]:
        """The bars, and what was found on the way."""
        return {"bars": self.bars, "watched": self.watched}

    def form(self) -> dict[str, Form]:
        """A bar for every topic, and penalties."""
        bars = Maybe(Numbers((self.n_topics,), np.float64, least=-1))
        return {"bars": bars, "watched": AnyNumberOf(Number(0))}

    def restore(self, state: dict[str, Any]) -> None:
        """Take them back."""
        self.bars, self.watched = state["bars"], state["watched"]

    def _swept(self, products: Floats, topics: csr_array, terms: Terms) -> tuple[csr_array, Floats]:
        """Topics × candidates after a sweep, and the least entry that each has taken."""
        before, free = self._before, np.ones(len(products), bool)
        gram, targets = self._gram, products
        if before is not None:
            free = ~before.frozen
            gram = self._gram[np.ix_(free, free)]
            targets = products[free]
            if not free.all():
                fixed = transposed(csr_array(topics[~free]))
                places = np.arange(terms.size)
                targets = targets - explained_by(fixed, places, self._gram[np.ix_(~free, free)]).T
            if before.forbidden is not None:
                # no number is ever among the largest; where only positive ones count, nor is minus infinity
                barred = before.forbidden[terms].toarray().T[free] != 0
                targets = np.where(
                    barred, targets.dtype.type(-np.inf if self.nonnegative else np.nan), targets
                )
        kept = csr_array(topics[free]) if before is not None else topics
        sizes = np.diff(kept.indptr).astype(np.int64)
        width = max(self.budget, int(sizes.max(initial=0)))
        words = np.zeros((len(sizes), width), np.int64)
        weights = np.zeros((len(sizes), width), topics.dtype)
        filled = np.arange(width) < sizes[:, None]
        words[filled], weights[filled] = kept.indices, kept.data
        least = np.full(len(free), np.inf, products.dtype)
        own = np.zeros(len(sizes), products.dtype)
        rounding = products.dtype.type(ROUNDING * np.finfo(products.dtype).eps)
        budget_sweep(
            gram,
            np.ascontiguousarray(targets),
            words,
            weights,
            sizes,
            self.budget,
            self.nonnegative,
            own,
            rounding,
        )
        least[free] = own
        filled = np.arange(width) < sizes[:, None]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        parts = weights[filled], words[filled].astype(np.int32), indptr
        chosen = csr_array(parts, shape=(len(sizes), terms.size))
        if not free.all():
            chosen = placed(topics, np.flatnonzero(free), chosen)
        return chosen, least
