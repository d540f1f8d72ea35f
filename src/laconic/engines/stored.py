"""Shards that are not in this process: documents in files, which every process that sees these can load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines.room import MEMORY
from laconic.engines.shards import Shard


class Collection(Protocol):
    """Documents in files, which every process that sees these can load for itself."""

    @property
    def n_terms(self) -> int:
        """Number of terms."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""

    def load(self, documents: NDArray[Any]) -> csr_array:
        """Some of them, by their numbers, as a canonical matrix."""

    def transformed(self, change: Callable[[csr_array], csr_array]) -> Collection:
        """The same documents with another matrix, made row by row of theirs."""


class StoredShard(Shard):
    """Documents that are loaded when they are asked for, and not kept: for an engine of other processes.

    Parameters
    ----------
    collection : Collection
        Where they are.
    documents : ndarray
        Their numbers in the collection, rising.
    nnz : int
        How many entries they have, at most.
    klass : int, default=0
        The class of all of them.
    """

    def __init__(self, collection: Collection, documents: NDArray[Any], nnz: int, *, klass: int = 0) -> None:
        self.collection: Collection = collection
        self.documents, self.klass, self.room = documents, klass, MEMORY
        self.weights, self.kept = np.zeros((len(documents), 0), collection.dtype), None
        self._nnz, self._given_columns = nnz, None

    @property
    def X(self) -> csr_array:  # noqa: N802
        """The matrix, which is loaded now."""
        return self.collection.load(self.documents)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return self.collection.n_terms

    @property
    def nnz(self) -> int:
        """Number of entries, at most."""
        return self._nnz

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return self.collection.dtype

    def rows(self, places: NDArray[Any]) -> csr_array:
        """Some of the documents; no others are loaded."""
        return self.collection.load(self.documents[places])

    def transformed(self, change: Callable[[csr_array], csr_array]) -> StoredShard:
        """The same documents with another matrix, when they are loaded."""
        collection = self.collection.transformed(change)
        return StoredShard(collection, self.documents, self._nnz, klass=self.klass)

    def of_class(self, klass: int) -> StoredShard:
        """The same documents as those of a class."""
        if self.klass == klass:
            return self
        return StoredShard(self.collection, self.documents, self._nnz, klass=klass)
