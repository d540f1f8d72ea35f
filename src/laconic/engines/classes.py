"""Documents sorted by class: shards cut again, so that the documents of each are of one class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines.blocks import Block, weighted_blocks
from laconic.engines.engine import Engine
from laconic.engines.shards import Shard, Shards, shard_rows
from laconic.engines.stored import StoredShard

# Entries that are copied at a time.
COPIED = 1 << 22


def by_class(
    shards: Shards, engine: Engine, members: NDArray[np.int64], n_classes: int, places: NDArray[Any]
) -> Shards:
    """Cut shards again, so that the documents of each are of one class: by the data alone, in bounded memory.

    `members` holds the class of every document of the collection, `places` a new number for every term:
    documents are copied anyway, and terms that are used together are best near each other. Documents in files
    stay there.
    """
    lengths = engine.each(shards, _lengths, None)
    cut: list[Shard] = []
    for klass in range(n_classes):
        own = [
            _Rows(shard, rows, sizes[rows])
            for shard, sizes in zip(shards, lengths, strict=True)
            if (rows := np.flatnonzero(members[shard.documents] == klass)).size
        ]
        if own:
            cut += _of_class(own, klass, places)
    return Shards(cut, n_classes)


class _Rows(NamedTuple):
    """Some documents of a shard, by their places, and how many entries each has."""

    shard: Shard
    places: NDArray[Any]
    lengths: NDArray[Any]


def _lengths(shard: Shard, _: None) -> NDArray[np.int64]:
    """How many entries every document of a shard has."""
    return np.diff(shard.X.indptr).astype(np.int64)


def _of_class(own: Sequence[_Rows], klass: int, places: NDArray[Any]) -> list[Shard]:
    """Some documents of shards in shards of their own, with other numbers for terms."""
    ends = np.concatenate([[0], np.cumsum(np.concatenate([each.lengths for each in own]), dtype=np.int64)])
    documents = np.concatenate([each.shard.documents[each.places] for each in own])
    blocks = shard_rows(ends)
    first = own[0].shard
    if not isinstance(first, StoredShard):
        return [_copy_of_class(own, klass, places, documents, ends, block) for block in blocks]
    renamed = first.collection.transformed(partial(rename_terms, places=places))
    return [
        StoredShard(
            renamed,
            documents[block.start : block.stop],
            int(ends[block.stop] - ends[block.start]),
            klass=klass,
        )
        for block in blocks
    ]


def _copy_of_class(
    own: Sequence[_Rows],
    klass: int,
    places: NDArray[Any],
    documents: NDArray[Any],
    ends: NDArray[np.int64],
    block: Block,
) -> Shard:
    """A block of the documents of a class, copied."""
    room, dtype = own[0].shard.room, own[0].shard.dtype
    size = int(ends[block.stop] - ends[block.start])
    data, indices = room.empty(size, dtype), room.empty(size, np.int32)
    done = first = 0
    for each in own:
        wanted = each.places[max(0, block.start - first) : max(0, block.stop - first)]
        for part in _copied(each.shard.X, wanted, places):
            data[done : done + part.nnz], indices[done : done + part.nnz] = part.data, part.indices
            done += part.nnz
        first += each.places.size
    indptr = ends[block.start : block.stop + 1] - ends[block.start]
    index = np.int32 if size <= np.iinfo(np.int32).max else np.int64
    X = csr_array((data, indices, indptr.astype(index)), shape=(block.size, places.size))
    X.has_canonical_format = True
    return Shard(X, documents[block.start : block.stop], klass=klass, room=room)


def _copied(X: csr_array, rows: NDArray[Any], places: NDArray[Any]) -> Iterator[csr_array]:
    """Some rows, a few at a time, with other numbers for terms."""
    ends = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[rows], dtype=np.int64)])
    for block in weighted_blocks(ends, max(1, rows.size), COPIED):
        yield rename_terms(csr_array(X[rows[block.start : block.stop]]), places)


def rename_terms(X: csr_array, places: NDArray[Any]) -> csr_array:
    """The same documents with a new number for every term."""
    index = np.int32 if X.nnz <= np.iinfo(np.int32).max else np.int64
    indices, indptr = places[X.indices].astype(np.int32), X.indptr.astype(index)
    renamed = csr_array((X.data.copy(), indices, indptr), shape=X.shape)
    renamed.sort_indices()
    return renamed
