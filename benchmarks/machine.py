"""What this machine can do: the limits that kernels are measured against, and memory in use."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from laconic.engines import Workers


def best(run: Callable[[], Any], repeat: int = 5) -> float:
    """Seconds of the fastest of several runs: the machine is noisy, and noise only adds."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _read(a):
    total = np.float32(0)
    for i in range(a.size):
        total += a[i]
    return total


def memory_bandwidth(workers: Workers) -> float:
    """Bytes per second that all threads together read from memory in order."""
    a = np.ones(64 << 20, np.float32)
    parts = np.array_split(a, 4 * workers.n_workers)
    _read(parts[0])
    return a.nbytes / best(lambda: list(workers.map(_read, parts)))


def gemm_peak(workers: Workers, n: int = 1500) -> float:
    """Float32 operations per second of matrix products, one on each thread."""
    a = np.random.default_rng(0).random((n, n), dtype=np.float32)
    jobs = range(workers.n_workers)
    return workers.n_workers * 2 * n**3 / best(lambda: list(workers.map(lambda _: a @ a, jobs)))


class PeakMemory:
    """Largest resident memory while inside, beyond what was resident before, in bytes."""

    def __enter__(self) -> PeakMemory:
        self._done = threading.Event()
        self._before = self._peak = resident()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()

    def _look(self) -> None:
        while not self._done.wait(0.02):
            self._peak = max(self._peak, resident())

    @property
    def bytes(self) -> int:
        """What was added at the peak."""
        return self._peak - self._before


def resident() -> int:
    """Resident memory of this process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
