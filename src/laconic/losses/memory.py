"""What a fit adds to memory: sizes of a problem, and of the arrays that every loss makes of one.

Estimates follow what is allocated, copy by copy. They are sums of named parts; where something is large only
before the rest is there, the part is what it takes beyond the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from laconic.cores import available_cores
from laconic.losses.totals import NORMED

# Squares, the document and the term of each entry, while norms are found: float64 and int64.
BYTES_PER_NORMED = 24
# As measured. Topics of a class have lists of their own.
BYTES_PER_TERM = 64
BYTES_PER_CLASS_TERM = 24


class Sizes(NamedTuple):
    """How large a problem is, and what numbers are made of."""

    n_documents: int
    n_terms: int
    n_nonzeros: int
    n_shared: int
    n_own: tuple[int, ...]
    """Number of topics of every class; a model without classes has one of them."""
    n_modalities: int = 1
    n_links: int | None = None
    """Links of documents that are given; None if there are none."""
    itemsize: int = 4
    svd: bool = False
    """Whether the start is made of singular vectors."""

    @property
    def n_topics(self) -> int:
        """Number of all topics."""
        return self.n_shared + sum(self.n_own)

    @property
    def index_size(self) -> int:
        """Bytes of an index."""
        return 4 if self.n_nonzeros < 2**31 else 8

    @property
    def weights(self) -> int:
        """Bytes of the documents' weights, for the topics of their class."""
        return round(self.n_documents * (self.n_shared + sum(self.n_own) / len(self.n_own)) * self.itemsize)

    @property
    def topics(self) -> int:
        """Bytes of all topics, without zeros left out."""
        return self.n_terms * self.n_topics * self.itemsize

    @property
    def matrix(self) -> int:
        """Bytes of the documents' entries: a copy of X by rows, or by columns."""
        return self.n_nonzeros * (self.itemsize + self.index_size)

    @property
    def columns(self) -> int:
        """Bytes of X by columns."""
        return self.matrix + self.n_terms * self.index_size

    @property
    def lists(self) -> int:
        """Bytes of what is known of every term: where its entries are, how frequent it is, its order."""
        n_classes = len(self.n_own)
        return self.n_terms * (BYTES_PER_TERM + (n_classes * BYTES_PER_CLASS_TERM if n_classes > 1 else 0))

    @property
    def norms(self) -> int:
        """Bytes that it takes for a moment to find norms of documents and terms, by every thread."""
        return BYTES_PER_NORMED * min(self.n_nonzeros, NORMED * available_cores()) + 16 * self.n_terms


def beyond(before: int, parts: Mapping[str, int]) -> int:
    """What is taken for a moment, before these parts are there, beyond what they take."""
    return max(0, before - sum(parts.values()))
