"""Messages to the tasks of a cluster: small ones on the wire, large arrays as files that all workers see."""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic.engines.cluster import Cluster
from laconic.engines.placed import open_array, write_array

if TYPE_CHECKING:
    from distributed import Future

LARGE = 1 << 20
"""Bytes from which on an array of a message is a file."""


class Resident:
    """What many tasks need, as a task itself: it reaches each worker once, and is made again if lost."""

    def __init__(
        self, cluster: Cluster, name: str, content: bytes, take: Callable[[bytes], Any] | None = None
    ) -> None:
        self._cluster, self._name, self._content = cluster, name, content
        self._receive = receive if take is None else take
        self._future: Future | None = None
        self._n_given_up = 0

    def __call__(self, worker: str | None = None) -> Future:
        """The task, which a worker is asked to keep, if one is named and there was none before."""
        cluster = self._cluster
        known = self._future is not None and self._future.status in ("pending", "finished")
        if not known or self._n_given_up != cluster.n_given_up:
            self._n_given_up = cluster.n_given_up
            self._future = cluster.submit(self._name, self._receive, self._content, worker=worker)
            cluster.n_sent += len(self._content)
        return self._future


class Message:
    """A message as workers pass it on to each other: every process reads the large arrays for itself, once.

    Parameters
    ----------
    content : bytes
        Of `packed`.
    """

    def __init__(self, content: bytes) -> None:
        self._content, self._found = content, None
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return Message, (self._content,)

    def open(self) -> Any:
        """What was sent."""
        with self._lock:
            if self._found is None:
                self._found = receive(self._content)
            return self._found


@contextmanager
def sending(cluster: Cluster, message: Any, name: str) -> Iterator[Resident]:
    """A message for the tasks of a verb; its large arrays are files, whose paths begin with a name."""
    paths: list[Path] = []

    def place(array: NDArray[Any]) -> str:
        paths.append(Path(f"{name}.{len(paths)}.npy"))
        write_array(array, paths[-1])
        cluster.n_sent += array.nbytes
        return str(paths[-1])

    try:
        yield Resident(cluster, "message", packed(message, place), Message)
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def packed(message: Any, place: Callable[[NDArray[Any]], str] | None = None) -> bytes:
    """A message as it goes over the wire.

    Parameters
    ----------
    message : object
    place : callable, optional
        Writes a large array to a file that workers see, and returns its path: on the wire, an array is copied
        a dozen times from here through the scheduler to a worker.
    """
    content = io.BytesIO()
    _Packer(content, place).dump(message)
    return content.getvalue()


def receive(message: bytes) -> Any:
    """A message, as it was before it went over the wire."""
    return pickle.loads(message)


class _Packer(pickle.Pickler):
    """Sends topics of few terms without the terms that they lack: of a class, these are nearly all."""

    def __init__(self, content: io.BytesIO, place: Callable[[NDArray[Any]], str] | None) -> None:
        super().__init__(content, protocol=pickle.HIGHEST_PROTOCOL)
        self._place = place

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, np.ndarray):
            return self._array(thing)
        if not isinstance(thing, csr_array):
            return NotImplemented
        sizes = np.diff(thing.indptr)
        rows = np.flatnonzero(sizes)
        if 2 * rows.size > sizes.size:
            return NotImplemented
        return unpacked_csr, (thing.shape, rows, sizes[rows], thing.indices, thing.data)

    def _array(self, array: NDArray[Any]) -> Any:
        large = array.nbytes >= LARGE and array.flags.c_contiguous and not array.dtype.hasobject
        if self._place is None or not large:
            return NotImplemented
        return read_array, (self._place(array),)


def read_array(path: str) -> NDArray[Any]:
    """A large array of a message."""
    return open_array(path, mapped=False)


def unpacked_csr(
    shape: tuple[int, int],
    rows: NDArray[Any],
    sizes: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
) -> csr_array:
    """A sparse array of the rows that are not empty."""
    indptr = np.zeros(shape[0] + 1, sizes.dtype)
    indptr[1 + rows] = sizes
    np.cumsum(indptr, out=indptr)
    return csr_array((data, indices, indptr), shape=shape)
