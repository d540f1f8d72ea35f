"""The thread engine: blocks side by side on one machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from numbers import Integral
from types import TracebackType
from typing import Self, TypeVar

from threadpoolctl import threadpool_limits

AHEAD = 4
"""Blocks in flight for each thread."""

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
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
            raise ValueError(f"n_jobs must be a whole number or None, not {n_jobs!r}")  # noqa: TRY004
        if n_jobs == 0:
            raise ValueError("n_jobs=0 leaves nobody to work: give a positive number, or -1 for all cores")
        self.n_workers: int = int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + n_jobs)

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
        """Yield ``function(item)`` for every item, in order.

        Only a few blocks run ahead of the one that is wanted next, so that results which are large do not
        pile up when they are taken more slowly than they are made.
        """
        if self._pool is None:
            yield from map(function, items)
            return
        waiting: deque[Future[Share]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) > AHEAD * self.n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
