"""Shards: documents that live together, by rows and by columns, with their own weights.

Shards are cut by the data, never by the number of workers. A function that runs on a shard sees this shard
and a message; it may write the shard's weights, which nobody else touches, and returns a share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, get_index_dtype, vstack

from laconic.engines.blocks import Block, even_blocks, weighted_blocks
from laconic.engines.room import MEMORY, Room
from laconic.kernels.columns import count_columns, take_columns

ROWS_PER_BLOCK = 1024
NONZEROS_PER_SHARD = 1 << 25
"""Collections are cut into shards of at most so many entries; a longer document is a shard of its own."""
# Entries that are hashed at a time.
HASHED = 1 << 17


class Columns(NamedTuple):
    """A shard's matrix by columns, of the terms that it has."""

    terms: NDArray[Any] | None
    """Their numbers, sorted; None stands for all."""
    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]

    def find(self, terms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the entries of some terms begin and end; a term that the shard lacks ends where it begins."""
        if self.terms is None:
            return self.indptr[terms], self.indptr[terms + 1]
        places = np.searchsorted(self.terms, terms)
        found = np.zeros(terms.size, bool)
        if self.terms.size:
            found = self.terms[np.minimum(places, self.terms.size - 1)] == terms
        return self.indptr[np.where(found, places, 0)], self.indptr[np.where(found, places + 1, 0)]

    def present(self, terms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Which of some terms (sorted) the shard has, and where the entries of these begin and end."""
        if self.terms is not None and terms.size and terms[-1] - terms[0] + 1 == terms.size:
            # neighbours: a range of the shard's own
            begin, end = np.searchsorted(self.terms, (terms[0], terms[-1] + 1))
            return self.terms[begin:end] - terms[0], self.indptr[begin:end], self.indptr[begin + 1 : end + 1]
        begins, ends = self.find(terms)
        places = np.flatnonzero(ends > begins)
        return places, begins[places], ends[places]

    def weighed(self, X: csr_array, room: Room) -> Columns:
        """The columns of a matrix whose entries stand where these do: only the numbers are new."""
        data = room.empty(X.nnz, X.dtype)
        self.fill(X, X.data, data)
        return self._replace(data=data)

    def fill(self, X: csr_array, data: NDArray[Any] | None, out: NDArray[Any]) -> None:
        """Put the entries of a matrix, or without `data` their rows, into the order of these columns."""
        place = np.zeros(X.shape[1], np.int64)
        place[slice(None) if self.terms is None else self.terms] = self.indptr[:-1]
        take_columns(X.indptr, X.indices, data, 0, X.shape[1], X.indptr[:-1].astype(np.int64), place, out)


class Shard:
    """Some documents.

    Parameters
    ----------
    X : csr_array
        Documents × all terms, canonical.
    documents : ndarray, optional
        Their numbers in the collection, rising; by default they are counted from zero.
    klass : int, default=0
        The class of all of them.
    columns : csc_array, Columns or callable, optional
        The same matrix by columns, where it is at hand, or what finds it when it is first needed: documents
        that are sorted by class never need it.
    room : Room, default=MEMORY
        Where the weights are, and what else a fit makes of the documents.
    """

    def __init__(
        self,
        X: csr_array,
        documents: NDArray[Any] | None = None,
        *,
        klass: int = 0,
        columns: csc_array | Columns | Callable[[], Columns] | None = None,
        room: Room = MEMORY,
    ) -> None:
        self.X = X
        self.documents = np.arange(X.shape[0]) if documents is None else documents
        self.klass = klass
        self.room = room
        self.weights: NDArray[Any] = np.zeros((X.shape[0], 0), X.dtype)
        """The documents' weights, a column a topic: written by the functions that run on the shard."""
        self.kept: NDArray[Any] | None = None
        """Weights that a step may come back to."""
        self._given_columns = columns

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.documents)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return int(self.X.shape[1])

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self.X.nnz)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return np.dtype(self.X.dtype)

    def rows(self, places: NDArray[Any]) -> csr_array:
        """Some of the documents, by their places in the shard."""
        return csr_array(self.X[places])

    def transformed(self, change: Callable[[csr_array], csr_array]) -> Shard:
        """The same documents with another matrix, made row by row of theirs."""
        X = change(self.X)
        if X is self.X:
            return self
        return Shard(self.room.matrix(X), self.documents, klass=self.klass, room=self.room)

    def of_class(self, klass: int) -> Shard:
        """The same documents as those of a class, with weights of their own."""
        return self if self.klass == klass else Shard(self.X, self.documents, klass=klass, room=self.room)

    @cached_property
    def columns(self) -> Columns:
        """The matrix by columns."""
        given = self._given_columns
        if isinstance(given, Columns):
            return given
        if callable(given):
            return given()
        if given is None and self.room.mapped:
            return columns_of(self.X, self.room)
        by_column = self.X.tocsc() if given is None else given
        terms = np.flatnonzero(np.diff(by_column.indptr))
        indptr = by_column.indptr
        if given is not None or terms.size == self.X.shape[1]:
            return Columns(None, indptr, by_column.indices, by_column.data)
        # of a small shard of many terms, most columns are empty
        ends = np.append(indptr[terms], indptr[-1]).astype(indptr.dtype)
        return Columns(terms, ends, by_column.indices, by_column.data)

    def allot(self, width: int, value: float = 0.0) -> None:
        """Give every document this many weights."""
        self.weights = self.room.full((self.X.shape[0], width), value, self.X.dtype)

    def keep(self) -> None:
        """Put a copy of the weights aside."""
        if self.kept is None or self.kept.shape != self.weights.shape:
            self.kept = self.room.copy(self.weights)
        else:
            self.kept[:] = self.weights

    def take_back(self) -> None:
        """Take the weights that were put aside."""
        assert self.kept is not None
        self.weights[:] = self.kept

    def release(self) -> None:
        """Let go of the weights, and of columns that were made for a fit."""
        self.weights, self.kept = self.weights[:0].copy(), None
        vars(self).pop("columns", None)


def columns_of(X: csr_array, room: Room) -> Columns:
    """A matrix by the columns that it has, in a room: of many shards, even lists of terms would be felt."""
    sizes = np.zeros(X.shape[1], np.int64)
    count_columns(X.indices, sizes)
    terms = room.copy(np.flatnonzero(sizes))
    indptr = room.empty(terms.size + 1, np.int64)
    indptr[0] = 0
    np.cumsum(sizes[terms], out=indptr[1:])
    indices, data = room.empty(X.nnz, np.int32), room.empty(X.nnz, X.dtype)
    columns = Columns(terms, indptr, indices, data)
    columns.fill(X, None, indices)
    columns.fill(X, X.data, data)
    return columns


Function = TypeVar("Function", bound=Callable[..., Any])


def writes(*names: str) -> Callable[[Function], Function]:
    """Say of a function that runs on shards which of their arrays it writes: "weights", "kept".

    Where shards are not in this process, an engine keeps what is written, and nothing else.

    >>> @writes("weights")
    ... def double(shard, _):
    ...     shard.weights *= 2
    >>> written_by(double)
    ('weights',)
    """

    def say(function: Function) -> Function:
        vars(function)["writes"] = names
        return function

    return say


def written_by(function: Callable[..., Any]) -> tuple[str, ...]:
    """What a function writes of a shard."""
    return getattr(function, "writes", ())


@writes("weights")
def allot(shard: Shard, width: int) -> None:
    """Make room for a shard's weights, and columns: once, not by each of the threads that need them."""
    shard.allot(width)
    assert shard.columns is not None


@writes("kept")
def keep_weights(shard: Shard, _: None) -> None:
    """Put a copy of the weights aside."""
    shard.keep()


@writes("weights")
def restore_weights(shard: Shard, _: None) -> None:
    """Take the weights that were put aside."""
    shard.take_back()


@writes("weights", "kept")
def release(shard: Shard, _: Any) -> None:
    """What an engine runs on every shard when a fit has what it needs of the weights."""
    shard.release()


class Shards(Sequence[Shard]):
    """A collection of documents in shards; what `fit` takes in place of a matrix, one fit at a time.

    Parameters
    ----------
    shards : sequence of Shard
        All over the same terms, and of one type.
    n_classes : int, default=1
        Number of classes.

    Examples
    --------
    >>> shards = Shards.cut(csr_array([[1.0, 0], [0, 2], [3, 0]]), 2)
    >>> len(shards), shards.shape
    (2, (3, 2))
    >>> shards.rows([2, 0]).toarray()
    array([[3., 0.],
           [1., 0.]])
    """

    def __init__(self, shards: Sequence[Shard], n_classes: int = 1) -> None:
        if not shards:
            raise ValueError("there are no shards: give at least one")
        self._shards = list(shards)
        self.n_classes = n_classes
        self.dtype = self._shards[0].dtype
        self.n_terms = self._shards[0].n_terms
        for shard in self._shards:
            if shard.n_terms != self.n_terms or shard.dtype != self.dtype:
                raise ValueError("shards must all have the same terms and the same type of numbers")

    @classmethod
    def whole(cls, X: csr_array, columns: csc_array | None = None) -> Self:
        """All documents in one shard; `columns` is the same matrix by columns, where it is at hand."""
        return cls([Shard(X, columns=columns)])

    @classmethod
    def cut(cls, X: csr_array, n_shards: int) -> Self:
        """Documents in shards of consecutive rows, with about as many non-zeros in each."""
        X = csr_array(X)
        wanted = np.arange(1, n_shards) * X.nnz // n_shards
        ends = np.unique([0, *np.searchsorted(X.indptr, wanted), X.shape[0]])
        parts = [Shard(row_range(X, Block(int(a), int(b))), np.arange(a, b)) for a, b in pairwise(ends)]
        return cls(parts or [Shard(X)])

    def __len__(self) -> int:
        return len(self._shards)

    def __getitem__(self, index: Any) -> Any:
        return self._shards[index]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return sum(shard.n_documents for shard in self._shards)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and of terms."""
        return self.n_documents, self.n_terms

    @property
    def nnz(self) -> int:
        """Number of non-zeros."""
        return sum(shard.nnz for shard in self._shards)

    def of_class(self, klass: int) -> list[Shard]:
        """The shards of one class."""
        return [shard for shard in self._shards if shard.klass == klass]

    def transformed(self, change: Callable[[csr_array], csr_array]) -> Shards:
        """The same documents with another matrix, made row by row of theirs."""
        return Shards([shard.transformed(change) for shard in self._shards], self.n_classes)

    def rows(self, documents: Any) -> csr_array:
        """Some documents, by their numbers in the collection, in the order asked for."""
        documents = np.asarray(documents, np.int64)
        parts, places = [], []
        for shard in self._shards:
            at = np.searchsorted(shard.documents, documents)
            here = np.flatnonzero(at < len(shard.documents))
            here = here[shard.documents[at[here]] == documents[here]]
            parts.append(shard.rows(at[here]))
            places.append(here)
        if len(parts) == 1:
            return csr_array(parts[0])
        found, order = vstack(parts, format="csr"), np.concatenate(places)
        if (order[1:] > order[:-1]).all():
            return csr_array(found)
        return csr_array(found[np.argsort(order, kind="stable")])

    def in_order(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """One array of a row for every document, in the collection's order, from those of the shards."""
        if len(parts) == 1:
            return parts[0]
        whole = np.empty((self.n_documents, *parts[0].shape[1:]), parts[0].dtype)
        for shard, part in zip(self._shards, parts, strict=True):
            whole[shard.documents] = part
        return whole

    def hash(self) -> str:
        """SHA-256 of the collection as one matrix, however it was cut into consecutive shards."""
        digest = hashlib.sha256(repr((self.shape, self.dtype.str)).encode())
        for part in _parts_of_matrix(self._shards):
            digest.update(part.data)
        return digest.hexdigest()


def _parts_of_matrix(shards: Sequence[Shard]) -> Iterator[NDArray[Any]]:
    """Row pointers, indices and data of the shards as if of one matrix, in blocks."""
    done = 0
    for number, shard in enumerate(shards):
        indptr = shard.X.indptr
        ends = indptr if number == 0 else indptr[1:]
        for block in even_blocks(ends.size, HASHED):
            # indices of either width name the same places
            yield np.ascontiguousarray(ends[block.start : block.stop].astype(np.int64) + done)
        done += int(indptr[-1])
    for name, dtype in (("indices", np.int64), ("data", shards[0].dtype)):
        for shard in shards:
            array = getattr(shard.X, name)
            for block in even_blocks(array.size, HASHED):
                yield np.ascontiguousarray(array[block.start : block.stop], dtype)


def shard_rows(indptr: NDArray[Any], entries: int | None = None) -> list[Block]:
    """How the rows of a matrix are cut into shards: by its entries alone."""
    return weighted_blocks(indptr, max(1, indptr.size - 1), entries or NONZEROS_PER_SHARD)


def shard_entries(n_entries: int) -> int:
    """How many entries a shard best has for a cluster: by the data alone, whatever the number of workers.

    Few enough for many workers, many enough that a scheduler has no more than some thousand shards to think
    of.

    >>> shard_entries(10**6), shard_entries(10**11)
    (4194304, 24414062)
    """
    return max(1 << 22, n_entries // (1 << 12))


def even_rows(shard: Shard) -> list[Block]:
    """A shard's documents in blocks of equally many."""
    return even_blocks(shard.X.shape[0], ROWS_PER_BLOCK)


def row_range(X: csr_array, rows: Block) -> csr_array:
    """Consecutive rows: views of the matrix's arrays."""
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    index = get_index_dtype(maxval=max(int(last - first), X.shape[1]))
    part = csr_array((rows.size, X.shape[1]), dtype=X.dtype)
    # given to the constructor, small parts of large arrays would be copied
    part.data, part.indices = X.data[first:last], X.indices[first:last].astype(index, copy=False)
    part.indptr = (X.indptr[rows.start : rows.stop + 1] - first).astype(index, copy=False)
    part.has_canonical_format = True
    return part
