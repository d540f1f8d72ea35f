"""Shards by their place: arrays in files that every worker sees, so that whoever needs one can open it.

Files are written once, under a temporary name first, and never changed: a file that two workers write has the
same content from both.
"""

from __future__ import annotations

import secrets
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines.shards import Columns, Shard
from laconic.errors import CorpusError

CHECKED = 1 << 24
"""Bytes of a file that are looked at together."""
OPENED = 256
"""Shards that a worker keeps open. They are mapped: what is open takes no memory by itself."""


class PlacedArray(NamedTuple):
    """An array in a file, and the checksum of its content."""

    path: str
    checksum: int

    def open(self) -> NDArray[Any]:
        """The array, mapped; its content is read once to check it."""
        array = open_array(self.path)
        if checksum(array) != self.checksum:
            raise CorpusError(
                f"{self.path}: is damaged, its checksum differs; fit again, and see to the disk"
            )
        return array


class PlacedShard(NamedTuple):
    """A shard in files."""

    n_terms: int
    klass: int
    documents: PlacedArray
    rows: tuple[PlacedArray, PlacedArray, PlacedArray]
    """Data, indices and row pointers."""
    columns: tuple[PlacedArray, PlacedArray, PlacedArray]
    """Data, indices and column pointers."""
    terms: PlacedArray | None
    """Which columns these are; None stands for all."""

    def open(self, state: Mapping[str, str]) -> Shard:
        """The shard as a function sees it, with arrays of its own (weights) from the files of a state.

        What a function writes into them is its own, too: the files stay as they are.
        """
        X, documents, columns = _opened(self)
        shard = Shard(X, documents, klass=self.klass, columns=columns)
        for name, path in state.items():
            # in memory, since kernels jump about in them: pages of mapped files are small, and take longer
            setattr(shard, name, open_array(path, mapped=False))
        return shard


class _Opened(NamedTuple):
    X: csr_array
    documents: NDArray[Any]
    columns: Columns


_open: OrderedDict[PlacedShard, _Opened] = OrderedDict()
_lock = threading.Lock()


def _opened(place: PlacedShard) -> _Opened:
    """The documents of a shard, which are opened, and checked, once in a process."""
    with _lock:
        found = _open.get(place)
        if found is None:
            data, indices, indptr = (each.open() for each in place.rows)
            X = csr_array((data, indices, indptr), shape=(indptr.size - 1, place.n_terms))
            X.has_canonical_format = True
            by_columns = [each.open() for each in place.columns]
            terms = None if place.terms is None else place.terms.open()
            columns = Columns(terms, by_columns[2], by_columns[1], by_columns[0])
            found = _open[place] = _Opened(X, place.documents.open(), columns)
            while len(_open) > OPENED:
                _open.popitem(last=False)
        _open.move_to_end(place)
        return found


def place_shard(shard: Shard, folder: Path, name: str) -> PlacedShard:
    """Write the documents of a shard into files of a folder."""

    def write(part: str, array: NDArray[Any]) -> PlacedArray:
        path = folder / f"{name}.{part}.npy"
        write_array(array, path)
        return PlacedArray(str(path), checksum(array))

    X, columns = shard.X, shard.columns
    return PlacedShard(
        int(X.shape[1]),
        shard.klass,
        write("documents", shard.documents),
        (write("data", X.data), write("indices", X.indices), write("indptr", X.indptr)),
        (
            write("columns.data", columns.data),
            write("columns.indices", columns.indices),
            write("columns.indptr", columns.indptr),
        ),
        None if columns.terms is None else write("columns.terms", columns.terms),
    )


def open_array(path: str, *, mapped: bool = True) -> NDArray[Any]:
    """An array of a file, mapped or read; what is written into it is seen by nobody else."""
    try:
        # kernels take plain arrays
        return np.asarray(np.load(path, mmap_mode="c" if mapped else None, allow_pickle=False))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            error.errno,
            f"{error.strerror}: it was removed, or its folder is not one that all workers see",
            path,
        ) from error
    except (ValueError, EOFError) as error:
        raise CorpusError(f"{path}: is damaged ({error}); fit again, and see to the disk") from error


def write_array(array: NDArray[Any], path: Path) -> None:
    """Write an array once: under its name, there is all of it or nothing."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
        if not path.exists():
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def checksum(array: NDArray[Any]) -> int:
    """Of an array's content."""
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    found = 0
    for start in range(0, content.size, CHECKED):
        found = zlib.crc32(content[start : start + CHECKED].data, found)
    return found
