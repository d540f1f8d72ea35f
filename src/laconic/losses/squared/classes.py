"""Classes of documents, which decide what topics a document may use: the mask of group models.

Every document may use the shared topics; those of a class are for its own documents alone. A model without
classes has one class with all topics for its own.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class Classes(NamedTuple):
    """The class of every document, and how many topics there are; shared topics come first.

    >>> Classes(np.array([0, 1, 1]), 2, (3, 1)).n_topics
    6
    """

    members: NDArray[np.int64]
    n_shared: int
    n_own: tuple[int, ...]
    merged: bool = False
    """Whether the only class stands for shared topics."""

    @classmethod
    def single(cls, n_documents: int, n_topics: int) -> Self:
        """One class of all documents."""
        return cls(np.zeros(n_documents, np.int64), 0, (n_topics,))

    @property
    def n_topics(self) -> int:
        """Number of all topics."""
        return self.n_shared + sum(self.n_own)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of documents of every class."""
        return np.bincount(self.members, minlength=len(self.n_own))

    def slices(self) -> list[slice]:
        """Where the topics of each class stand among all topics."""
        ends = self.n_shared + np.cumsum(self.n_own)
        return [slice(int(end) - n, int(end)) for n, end in zip(self.n_own, ends, strict=True)]

    def simplified(self) -> Classes:
        """The same problem as a single class, where nothing tells the classes apart."""
        if any(self.n_own):
            return self
        return Classes.single(self.members.size, self.n_shared)._replace(merged=True)
