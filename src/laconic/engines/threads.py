"""The thread engine: blocks side by side on one machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Share = TypeVar("Share")


class Threads:
    """Run a function over blocks on a number of threads, and hand back the results in the blocks' order.

    Kernels release the interpreter lock, and BLAS is held to one thread inside, so that a block's result
    depends on the block alone. Together with the fixed order of the results this makes every sum,
    and so every model, the same to the bit for any number of threads.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads. None or -1 takes every core this process may use; -2 all but one.

    Examples
    --------
    >>> with Threads(2) as engine:
    ...     list(engine.map(lambda x: x * x, [1, 2, 3]))
    [1, 4, 9]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if n_jobs is None:
            n_jobs = -1
        if n_jobs == 0:
            raise ValueError("n_jobs=0 leaves nobody to work: give a positive number, or -1 for all cores")
        self.n_workers = n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)

    def __enter__(self) -> Self:
        self._limits = threadpool_limits(1, user_api="blas")
        self._pool = ThreadPoolExecutor(self.n_workers) if self.n_workers > 1 else None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._limits.restore_original_limits()

    def map(self, function: Callable[[Item], Share], items: Iterable[Item]) -> Iterator[Share]:
        """Yield ``function(item)`` for every item, in order."""
        if self._pool is None:
            return map(function, items)
        return self._pool.map(function, items)
