"""Documents in groups, which decide what topics a document may use: the class mask of group models.

Every document may use the shared topics; those of a group are for its own documents alone. A model without
classes is one group with all topics for its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Block, even_blocks, weighted_blocks
from laconic.models.factor import ROWS_PER_BLOCK

# A block of terms goes through the weights tile by tile. Blocks are heavy enough to make good use of a tile,
# and light enough to keep several threads busy. Measured: the gather of 100 to 500 topics is 1.6 times as
# fast as without tiles, and faster than memory could be read once for each non-zero.
TERMS_PER_BLOCK = 512
PASSES_PER_BLOCK = 8
TILE_BYTES = 4_000_000
# Many groups have few documents for a term each, so that their blocks of terms are light.
TERMS_PER_GROUP_BLOCK = 2048


class Groups(NamedTuple):
    """The group of every document, and how many topics there are; shared topics come first.

    >>> Groups(np.array([0, 1, 1]), 2, (3, 1)).n_topics
    6
    """

    members: NDArray[np.int64]
    n_shared: int
    n_own: tuple[int, ...]

    @classmethod
    def single(cls, n_documents: int, n_topics: int) -> Self:
        """One group of all documents."""
        return cls(np.zeros(n_documents, np.int64), 0, (n_topics,))

    @property
    def n_topics(self) -> int:
        """Number of all topics."""
        return self.n_shared + sum(self.n_own)

    def slices(self) -> list[slice]:
        """Where the topics of each group stand among all topics."""
        ends = self.n_shared + np.cumsum(self.n_own)
        return [slice(int(end) - n, int(end)) for n, end in zip(self.n_own, ends, strict=True)]

    def simplified(self) -> Groups:
        """The same problem as a single group, where nothing tells the groups apart."""
        return self if any(self.n_own) else Groups.single(self.members.size, self.n_shared)


class GroupData:
    """The documents of one group by rows and by columns, and their weights (shared topics first).

    Parameters
    ----------
    X : csr_array
        Documents × terms.
    n_shared, n_own : int
        Numbers of topics.
    single : bool
        Whether there are no other groups.
    """

    def __init__(self, X: csr_array, n_shared: int, n_own: int, single: bool) -> None:
        self.X = X
        self.n_own = n_own
        self.weights = np.zeros((X.shape[0], n_shared + n_own), X.dtype)
        columns = X.tocsc()
        self.indices, self.data = columns.indices, columns.data
        # the terms of the group, and where the entries of each begin
        self.terms = np.flatnonzero(np.diff(columns.indptr)).astype(X.indices.dtype)
        self.indptr = np.append(columns.indptr[self.terms], columns.indptr[-1]).astype(columns.indptr.dtype)
        self.tile = max(1, TILE_BYTES // (X.dtype.itemsize * max(1, self.weights.shape[1])))
        self.document_blocks = even_blocks(X.shape[0], ROWS_PER_BLOCK)
        self.term_blocks = self._term_blocks(TERMS_PER_BLOCK if single else TERMS_PER_GROUP_BLOCK)

    def _term_blocks(self, most: int) -> list[Block]:
        """Ranges of all terms with about equally much of the group's own in each."""
        own = weighted_blocks(self.indptr, most, PASSES_PER_BLOCK * self.X.shape[0])
        starts = [0, *(int(self.terms[block.start]) for block in own[1:])]
        return [Block(*ends) for ends in zip(starts, [*starts[1:], self.X.shape[1]], strict=True)]

    def columns(self, block: Block, others: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """The group's terms in a range, with some others, and where the entries of each begin and end."""
        begin, end = np.searchsorted(self.terms, block)
        terms = self.terms[begin:end]
        if others is None:
            return terms, self.indptr[begin : end + 1]
        first, last = np.searchsorted(others, block)
        terms = np.union1d(terms, others[first:last])
        # a term that is not the group's own begins where it ends
        places = begin + np.searchsorted(self.terms[begin:end], terms)
        return terms, self.indptr[np.append(places, end)]


def grouped_rows(X: csr_array, groups: Groups) -> list[csr_array]:
    """The documents of each group, in their order."""
    if len(groups.n_own) == 1:
        return [X]
    X = X[np.argsort(groups.members, kind="stable")]
    ends = np.cumsum(np.bincount(groups.members, minlength=len(groups.n_own)))
    rows = []
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        first, last = X.indptr[begin], X.indptr[end]
        parts = X.data[first:last], X.indices[first:last], X.indptr[begin : end + 1] - first
        rows.append(csr_array(parts, shape=(end - begin, X.shape[1])))
    return rows
