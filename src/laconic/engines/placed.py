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
KNOWN = 1 << 30
"""Bytes of weights that a worker keeps in memory, at most."""


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

    def open(self, state: Mapping[str, str], known: KnownWeights, *, writable: bool) -> Shard:
        """The shard as a function sees it, with arrays of its own (weights) from the files of a state.

        Parameters
        ----------
        state : mapping of str to str
            The paths of arrays, by their names.
        known : KnownWeights
            Of this process.
        writable : bool
            Whether the function may write into the arrays; the files stay as they are.
        """
        return _PlacedView(self, state, known, writable=writable)


class KnownWeights:
    """Weights that a process has read or written lately, so that it need not read them again.

    Files are written once, so that what is known under a path stays true. Whoever writes takes what is known
    away, and the file remains. A process that is sent such an object gets an empty one of its own.

    Parameters
    ----------
    n_bytes : int, optional
        How much is kept at most.
    """

    def __init__(self, n_bytes: int = KNOWN) -> None:
        self._room = n_bytes
        self._arrays: dict[PlacedShard, tuple[str, NDArray[Any]]] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return KnownWeights, ()

    def get(self, place: PlacedShard, path: str) -> NDArray[Any] | None:
        """The array of a path, if it is known; not to be written into."""
        with self._lock:
            known, array = self._arrays.get(place, (None, None))
            return array if known == path else None

    def take(self, place: PlacedShard, path: str) -> NDArray[Any] | None:
        """The array of a path, if it is known, to be written into: it is known no more."""
        with self._lock:
            known, array = self._arrays.get(place, (None, None))
            if array is None or known != path:
                return None
            del self._arrays[place]
            self._room += array.nbytes
            return array

    def put(self, place: PlacedShard, path: str, array: NDArray[Any]) -> None:
        """Keep the weights of a shard in place of those before, if there is room.

        What is there stays: of more weights than there is room for, read one after another again and again,
        some are then known.
        """
        with self._lock:
            _, before = self._arrays.pop(place, (None, None))
            self._room += 0 if before is None else before.nbytes
            if array.nbytes <= self._room:
                self._room -= array.nbytes
                self._arrays[place] = path, array


class _PlacedView(Shard):
    """A shard of files; weights are read when they are first asked for."""

    def __init__(
        self, place: PlacedShard, state: Mapping[str, str], known: KnownWeights, *, writable: bool
    ) -> None:
        X, documents, columns = _opened(place)
        super().__init__(X, documents, klass=place.klass, columns=columns)
        self._place, self._state, self._known, self._writable = place, state, known, writable
        for name in state:
            vars(self).pop(name)

    def __getattr__(self, name: str) -> Any:
        path = vars(self).get("_state", {}).get(name)
        if path is None:
            raise AttributeError(name)
        find = self._known.take if self._writable else self._known.get
        array = find(self._place, path)
        if array is None:
            # in memory, since kernels jump about in them: pages of mapped files are small, and take longer
            array = open_array(path, mapped=False)
            if not self._writable and name == "weights":
                self._known.put(self._place, path, array)
        setattr(self, name, array)
        return array


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
