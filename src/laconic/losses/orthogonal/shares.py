"""What runs on shards, and on blocks of terms, for Sparse LSA; and the messages that go there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines import Shard
from laconic.kernels.rows import compress
from laconic.losses.factor import CompressedRows, Floats, weighed_terms


class Shrink(Protocol):
    """The proximal step of a penalty on topics."""

    alpha: float

    def blocks(self, frequencies: NDArray[np.int64], n_documents: int) -> list[NDArray[Any]]:
        """Terms that are shrunk together, in blocks that have all of a group."""

    def __call__(self, B: Floats, terms: NDArray[Any]) -> Floats:
        """Shrink the rows of a block of terms (in place, or not)."""

    def penalty(self, topics: csr_array) -> float:
        """The penalty of topics (terms × topics)."""


class TermMessage(NamedTuple):
    """What blocks of terms need: G^(-1/2), the penalty, and what stands for documents before."""

    whitening: Floats
    shrink: Shrink
    stand_ins: Floats | None
    before: Floats | None


def basis_products(shard: Shard, terms: NDArray[Any], message: Any) -> Floats:
    """Some rows of X'V."""
    return weighed_terms(shard, *shard.columns.find(terms))


def whole_products(terms: NDArray[Any], sums: Iterable[Floats], message: TermMessage) -> Floats:
    """R of these terms, with what stands for documents before."""
    (R,) = sums
    return R if message.stand_ins is None else R + message.stand_ins[terms] @ message.before


def turned_rows(terms: NDArray[Any], sums: Iterable[Floats], message: TermMessage) -> Floats:
    """B = G^(-1/2) R, of these terms."""
    return np.asarray(whole_products(terms, sums, message) @ message.whitening)


def shrunk_rows(terms: NDArray[Any], sums: Iterable[Floats], message: TermMessage) -> CompressedRows:
    """The new topics of these terms, in CSR parts."""
    return CompressedRows(*compress(message.shrink(turned_rows(terms, sums, message), terms)))
