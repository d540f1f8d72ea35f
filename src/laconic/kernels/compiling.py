"""How kernels are compiled: numba's `njit`, with a cache on disk that several processes may fill at once.

The cache is a convenience: where it cannot be written, or is damaged, kernels are compiled anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

from laconic.locking import locked

SWITCH = "LACONIC_KERNEL_CACHE"
"""The environment variable that turns the cache off, where it is "0": numba keeps machine code as pickle."""
_DIGEST = hashlib.sha256().digest_size


class SharedCacheFile(IndexDataCacheFile):
    """The compiled versions of a kernel on disk.

    Numba numbers them without a lock: two processes that compile a kernel for different types at the same
    moment take the same number, and a third then runs the one for the types of the other. It also trusts what
    it reads, so that a file that was cut off, by a full disk perhaps, ends every run.
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

    def load(self, key: Any) -> Any:
        """A version that is there and whole, or None."""
        name = self._load_index().get(key)
        if not isinstance(name, str):
            return None
        try:
            content = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        # What was damaged may be machine code, which would be run.
        if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
            return None
        return pickle.loads(content[_DIGEST:])

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_index(self) -> dict[Any, Any]:
        try:
            found = super()._load_index()
        except Exception:
            # Whatever a damaged index makes go wrong: it is written again with the next version.
            return {}
        return found if isinstance(found, dict) else {}


class SharedCache(FunctionCache):
    """What numba asks for versions of a kernel, and gives them to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        file = self._cache_file
        base = file._index_name.removesuffix(".nbi")
        self._cache_file = SharedCacheFile(file._cache_path, base, (file._source_stamp, _sources()))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a version, if there is room for it."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _tell_not_kept(error)


@functools.cache
def _sources(folder: Path = Path(__file__).parent) -> tuple[tuple[str, float, int], ...]:
    """When the files of kernels were changed, and how long they are.

    Numba looks at the file of a kernel alone, but the kernels that it calls are compiled into it. Without
    this, an update that changes one of those would go on with the old one.
    """
    files = sorted(folder.glob("*.py"))
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


def _tell_not_kept(reason: object) -> None:
    """Warn, once in a process: every kernel has the same reason."""
    if not _told:
        _told.append(reason)
        warnings.warn(
            f"compiled kernels cannot be kept ({reason}), so every process compiles them again, which takes "
            "a few seconds: set the environment variable NUMBA_CACHE_DIR to a writable folder",
            RuntimeWarning,
            stacklevel=3,
        )


_told: list[object] = []


def njit(
    *, cache: bool = False, makes_arrays: bool = True, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel when it is first called; ``cache=True`` keeps it on disk, for all processes.

    Of `laconic.kernels`, a function whose name begins with an underscore can only be called by kernels: from
    Python, the call would crash. Wrappers that nobody calls are not made: they would take a tenth of the time
    to compile.

    Parameters
    ----------
    cache : bool, default=False
        Where nothing can be written, the kernel is compiled anew in every process, and a warning says so.
    makes_arrays : bool, default=True
        Whether arrays are made in the kernel itself. One that makes none need not count who refers to those
        that it was given, and must not return one. Numba counts each row that is taken from a matrix,
        atomically: in an inner loop that can take longer than the row's arithmetic.
    **options
        Those of `numba.njit`.

    Returns
    -------
    callable
        A decorator.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        only_kernels = function.__name__.startswith("_") and function.__module__.startswith(
            "laconic.kernels."
        )
        own: dict[str, Any] = {
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": only_kernels,
            "_nrt": makes_arrays,
            # What a kernel does not say, it would inherit from the first that calls it: its last bits would
            # depend on what happened to be compiled before.
            "fastmath": False,
            "error_model": "python",
        }
        dispatcher = numba.njit(**(own | options))(function)
        # There is none where numba is told not to compile.
        if cache and os.environ.get(SWITCH) != "0" and hasattr(dispatcher, "_cache"):
            try:
                dispatcher._cache = SharedCache(function)
            except RuntimeError:
                # Neither the folder of the package nor one of the user's can be written to.
                _tell_not_kept("there is no folder for them that can be written to")
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
