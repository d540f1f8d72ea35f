"""Work side by side on one machine: a pool of threads, and BLAS held to one thread meanwhile."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from numbers import Integral
from types import TracebackType
from typing import Self, TypeVar

from threadpoolctl import LibController, ThreadpoolController

from laconic.cores import available_cores
from laconic.errors import Parameter, ParameterError

MOST = max(256, available_cores())
"""Threads beyond these would only wait for each other; a saved model may ask for any number."""
AHEAD = 4
"""Blocks in flight for each thread."""

Item = TypeVar("Item")
Share = TypeVar("Share")


@cache
def _libraries() -> list[LibController]:
    """The BLAS of numpy and scipy. To look for them takes milliseconds, too long for a single document."""
    import scipy.linalg  # noqa: F401 - brings the second of them

    found: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


class _SingleThreadedBLAS:
    """Hold BLAS to one thread while any engine is at work: the limit is the process's, not a fit's.

    Whoever comes first sets the limit, and whoever goes last takes it back, from whatever thread: fits that
    overlap may end in any order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engines = 0
        self._former: list[tuple[LibController, int | None]] = []
        self._left_at_one = False

    def hold(self) -> None:
        with self._lock:
            if self._engines == 0:
                # Not by threadpoolctl's own limit, which asks for much more: too long for a single document.
                if not self._left_at_one:
                    self._former = [(library, library.get_num_threads()) for library in _libraries()]
                self._left_at_one = False
                _set_threads([(library, 1) for library, former in self._former if former != 1])
            self._engines += 1

    def release(self) -> None:
        with self._lock:
            self._engines -= 1
            if self._engines == 0:
                _set_threads([(library, former) for library, former in self._former if former != 1])

    def begin_again(self) -> None:
        """In a process that was just forked: the threads that held the lock, or BLAS, are not in it.

        To set the threads of BLAS is not safe here; whoever uses it next, does.
        """
        self._lock = threading.Lock()
        if self._engines:
            self._engines, self._left_at_one = 0, True


def _set_threads(numbers: list[tuple[LibController, int | None]]) -> None:
    for library, number in numbers:
        # Newer versions of threadpoolctl heed only the thread that came first.
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
        if number is not None:
            library.set_num_threads(number)


_blas = _SingleThreadedBLAS()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.begin_again)


class Workers:
    """Run a function over items on a number of threads, and hand back the results in the items' order.

    Kernels release the interpreter lock, and BLAS is held to one thread inside, so that a block's result
    depends on the block alone. Together with the fixed order of the results this makes every sum,
    and so every model, the same to the bit for any number of threads.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads. None or -1 takes every core this process may use; -2 all but one.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     list(workers.map(lambda x: x * x, [1, 2, 3]))
    [1, 4, 9]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        cores = available_cores()
        if n_jobs is None:
            n_jobs = -1
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
            raise ParameterError(Parameter("n_jobs"), f" must be a whole number or None, not {n_jobs!r}")
        if n_jobs == 0:
            raise ParameterError(
                Parameter("n_jobs", 0),
                " leaves no threads: give a positive number, or -1 for all cores",
            )
        self.n_workers: int = min(int(n_jobs), MOST) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))
        self._pool: ThreadPoolExecutor | None = None
        self._at_work: bool = False

    def __enter__(self) -> Self:
        _blas.hold()
        self._at_work = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)
        finally:
            self._pool, self._at_work = None, False
            _blas.release()

    def map(self, function: Callable[[Item], Share], items: Iterable[Item]) -> Iterator[Share]:
        """Yield ``function(item)`` for every item, in order; outside of ``with``, one after the other.

        Only a few blocks run ahead of the one that is wanted next, so that results which are large do not
        pile up when they are taken more slowly than they are made.
        """
        alone = self.n_workers == 1 or not self._at_work
        if alone or (isinstance(items, Sized) and len(items) < 2):
            yield from map(function, items)
            return
        if self._pool is None:
            # not before: a document now and then should not wait for threads
            self._pool = ThreadPoolExecutor(self.n_workers)
        pool = self._pool
        waiting: deque[Future[Share]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > AHEAD * self.n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
