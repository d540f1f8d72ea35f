"""The proximal steps of Sparse LSA: every topic's weights are shrunk, one by one or in groups of terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, even_blocks, weighted_blocks
from laconic.losses.factor import Floats
from laconic.losses.totals import by_falling_frequency

TERMS_PER_BLOCK = 512
# Blocks of terms use each document at most so often.
PASSES_PER_BLOCK = 8


class Soft:
    """Weights one by one: alpha times the sum of their sizes."""

    def __init__(self, alpha: float, nonnegative: bool, n_terms: int) -> None:
        self.alpha, self.nonnegative = alpha, nonnegative
        self.ranges = even_blocks(n_terms, TERMS_PER_BLOCK)

    def blocks(self, frequencies: NDArray[np.int64], n_documents: int) -> list[NDArray[Any]]:
        """Terms of about the same frequency together: they use the same documents."""
        order = by_falling_frequency(frequencies)
        ends = np.concatenate([[0], np.cumsum(frequencies[order])])
        parts = weighted_blocks(ends, TERMS_PER_BLOCK, PASSES_PER_BLOCK * max(1, n_documents))
        return [np.sort(order[part.start : part.stop]) for part in parts]

    def __call__(self, B: Floats, terms: NDArray[Any]) -> Floats:
        """Every weight nearer to zero by alpha."""
        alpha = B.dtype.type(self.alpha)
        if self.nonnegative:
            B -= alpha
            return np.maximum(B, 0, out=B)
        # what is cut off on either side of [-alpha, alpha]
        return B - np.clip(B, -alpha, alpha)

    def stretch(self, topics: csr_array) -> csr_array:
        """What weights other than zero were before they were shrunk."""
        return _with_data(topics, topics.data + self.alpha * np.sign(topics.data))

    def penalty(self, topics: csr_array) -> float:
        """The penalty of topics (terms × topics)."""
        return self.alpha * float(np.abs(topics.data).sum(dtype=np.float64))


class GroupSoft:
    """Groups of consecutive terms together: alpha times the weighted sum of the groups' lengths.

    Parameters
    ----------
    alpha : float
    nonnegative : bool
    starts : ndarray of int
        The first term of every group, and the number of terms.
    weights : ndarray
        The weight of each group.
    """

    def __init__(
        self, alpha: float, nonnegative: bool, starts: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> None:
        self.alpha, self.nonnegative = alpha, nonnegative
        self.starts, self.weights = starts, weights
        self.ranges = self._whole_groups()

    def blocks(self, frequencies: NDArray[np.int64], n_documents: int) -> list[NDArray[Any]]:
        """Consecutive terms: a group is shrunk as a whole."""
        return [np.arange(*block) for block in self.ranges]

    def _whole_groups(self) -> list[Block]:
        """Blocks of about as many terms as usual that cut no group."""
        ends = self.starts[1:]
        blocks, start = [], 0
        while start < self.starts[-1]:
            fit = int(np.searchsorted(ends, start + TERMS_PER_BLOCK, side="right")) - 1
            if fit < 0 or ends[fit] <= start:
                fit = int(np.searchsorted(ends, start, side="right"))
            blocks.append(Block(start, int(ends[fit])))
            start = blocks[-1].stop
        return blocks

    def _groups(self, terms: NDArray[Any]) -> slice:
        ends = terms[0], terms[-1] + 1
        return slice(*(int(i) for i in np.searchsorted(self.starts, ends)))

    def __call__(self, B: Floats, terms: NDArray[Any]) -> Floats:
        """Every group nearer to zero by alpha times its weight."""
        if self.nonnegative:
            np.maximum(B, 0, out=B)
        groups = self._groups(terms)
        starts = self.starts[groups] - terms[0]
        norms = np.sqrt(np.add.reduceat(np.square(B, dtype=np.float64), starts, axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            keep = np.maximum(1 - self.alpha * self.weights[groups, None] / norms, 0)
        keep[norms == 0] = 0
        B *= np.repeat(keep, np.diff(np.append(starts, terms.size)), axis=0).astype(B.dtype)
        return B

    def stretch(self, topics: csr_array) -> csr_array:
        """What groups other than zero were before they were shrunk."""
        group = np.repeat(np.arange(len(self.weights)), np.diff(self.starts))
        of_entry = np.repeat(group, np.diff(topics.indptr))
        norms = self.group_norms(topics)[of_entry, topics.indices]
        return _with_data(topics, topics.data * (1 + self.alpha * self.weights[of_entry] / norms))

    def penalty(self, topics: csr_array) -> float:
        """The penalty of topics (terms × topics)."""
        return self.alpha * float((self.weights[:, None] * self.group_norms(topics)).sum())

    def group_norms(self, topics: csr_array) -> NDArray[np.float64]:
        """The length of every group in every topic (groups × topics)."""
        squares = csr_array(
            (np.square(topics.data, dtype=np.float64), topics.indices, topics.indptr), shape=topics.shape
        )
        n_terms = int(self.starts[-1])
        member = csr_array(
            (np.ones(n_terms), np.arange(n_terms), self.starts), shape=(len(self.weights), n_terms)
        )
        return np.sqrt((member @ squares).toarray())


def _with_data(topics: csr_array, data: Floats) -> csr_array:
    return csr_array((data.astype(topics.dtype), topics.indices, topics.indptr), shape=topics.shape)
