"""Room for what is larger than memory: arrays that spill into temporary files.

The files are made in the folder that Python's `tempfile` takes: that of the environment variable TMPDIR, or
``/tmp``. They have no name and vanish with the process. Where ``/tmp`` is itself held in memory, set
TMPDIR to a folder on a disk.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

SPOOLED_BYTES = 256 << 20
"""How much of a spool stays in memory."""

ARRAY_BYTES = 1 << 30
"""The largest array that `roomy` puts in memory."""

Number = TypeVar("Number", bound=np.generic)

_SHARE = ContextVar("_SHARE", default=ARRAY_BYTES)


@contextmanager
def within(memory: int | None) -> Iterator[None]:
    """Let spools and arrays that are made in this block go to files sooner, if there is little memory.

    Parameters
    ----------
    memory : int, optional
        Bytes that all of it may take; a sixteenth of them for one spool or array.
    """
    token = _SHARE.set(ARRAY_BYTES if memory is None else min(ARRAY_BYTES, memory // 16))
    try:
        yield
    finally:
        _SHARE.reset(token)


def spooled_bytes() -> int:
    """How much of a spool stays in memory, here and now."""
    return min(SPOOLED_BYTES, _SHARE.get())


class Spool:
    """Arrays that are written once and read in the same order, any number of times.

    Examples
    --------
    >>> spool = Spool()
    >>> spool.add(np.arange(3), np.zeros(2, np.uint8))
    >>> [[array.tolist() for array in arrays] for arrays in spool]
    [[[0, 1, 2], [0, 0]]]
    """

    def __init__(self) -> None:
        self._kept: list[tuple[NDArray[Any], ...]] = []
        self._n_bytes = 0
        self._file: IO[bytes] | None = None
        self._written: list[list[tuple[np.dtype[Any], int]]] = []

    def add(self, *arrays: NDArray[Any]) -> None:
        """Append some one-dimensional arrays, which belong together."""
        self._n_bytes += sum(array.nbytes for array in arrays)
        if self._file is None and self._n_bytes <= spooled_bytes():
            self._kept.append(arrays)
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            for array in arrays:
                self._file.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise no_room(error) from error
        self._written.append([(array.dtype, len(array)) for array in arrays])

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        yield from self._kept
        yield from self._read()

    def drain(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Read for the last time, giving back memory on the way."""
        self._kept.reverse()
        while self._kept:
            yield self._kept.pop()
        yield from self._read()

    def _read(self) -> Iterator[tuple[NDArray[Any], ...]]:
        if self._file is None:
            return
        position = 0
        for described in self._written:
            arrays = []
            for dtype, size in described:
                array = np.empty(size, dtype)
                self._file.seek(position)
                position += self._file.readinto(array.data)  # type: ignore[attr-defined]
                arrays.append(array)
            yield tuple(arrays)


def roomy(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Make an array, in memory or, if it is large, mapped to a temporary file; its contents are arbitrary.

    Parameters
    ----------
    size : int
        Number of elements.
    dtype : dtype
        Their type.

    Returns
    -------
    numpy.ndarray
        One-dimensional. The file of a mapped one lives as long as the array.

    Examples
    --------
    >>> roomy(3, np.float32).shape
    (3,)
    """
    n_bytes = size * np.dtype(dtype).itemsize
    if n_bytes <= min(ARRAY_BYTES, _SHARE.get()):
        return np.empty(size, dtype)
    try:
        with tempfile.TemporaryFile() as file:
            # A mapped file with holes kills the process when the disk has no room to fill one.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.memmap(file, dtype, "w+", shape=(size,))
    except OSError as error:
        raise no_room(error) from error


def no_room(error: OSError) -> OSError:
    """The error to raise when a temporary file cannot be written."""
    folder = tempfile.gettempdir()
    return OSError(
        error.errno,
        f"{error.strerror} in {folder}, where data too large for memory is kept; free some space, or set the "
        "environment variable TMPDIR to a folder that has some",
    )
