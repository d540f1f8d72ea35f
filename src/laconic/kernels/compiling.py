"""How kernels are compiled: numba's `njit`, with a cache on disk that several processes may fill at once."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from laconic.locking import locked


class SharedCacheFile(IndexDataCacheFile):
    """The compiled versions of a kernel on disk.

    Numba numbers them without a lock: two processes that compile a kernel for different types at the same
    moment take the same number, and a third then runs the one for the types of the other.
    """

    def save(self, key: Any, data: Any) -> None:
        """Store one more version: first what was compiled, then the index that leads there."""
        lock = Path(f"{self._index_path}.lock")
        lock.parent.mkdir(parents=True, exist_ok=True)
        with locked(lock, os.O_RDWR | os.O_CREAT):
            overloads = self._load_index()
            name = overloads.get(key)
            if name is None:
                taken = set(overloads.values())
                name = next(one for one in map(self._data_name, itertools.count(1)) if one not in taken)
            self._save_data(name, data)
            if key not in overloads:
                self._save_index({**overloads, key: name})


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel when it is first called; ``cache=True`` keeps it on disk, for all processes.

    Parameters
    ----------
    **options
        Those of `numba.njit`.

    Returns
    -------
    callable
        A decorator.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        # There is none where numba is told not to compile, or has no place to keep anything.
        cache = getattr(dispatcher, "_cache", None)
        file = getattr(cache, "_cache_file", None)
        if file is not None:
            base = file._index_name.removesuffix(".nbi")
            cache._cache_file = SharedCacheFile(file._cache_path, base, file._source_stamp)  # type: ignore[union-attr]
        return dispatcher

    return compiled


def folder_of(kernel: Any) -> Path | None:
    """The folder on disk where a kernel is kept; None where it is not."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return None if file is None else Path(file._cache_path)


class _Compiling(event.Listener):
    """Tells when compiling begins and ends, and not of what is compiled on the way."""

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self._begins, self._ends = begins, ends
        # Numba compiles one thing at a time, whatever the thread.
        self._depth = 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._begins()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._ends()


@contextlib.contextmanager
def watched(begins: Callable[[], None], ends: Callable[[], None]) -> Iterator[None]:
    """Tell of kernels that have to be compiled, by any thread; those that are read from disk are not told.

    Parameters
    ----------
    begins, ends : callable
        Called before and after each of them.

    Yields
    ------
    None
        A kernel that is compiled when the block begins or ends is not told.
    """
    with event.install_listener("numba:compile", _Compiling(begins, ends)):
        yield
