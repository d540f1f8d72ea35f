"""Fits on a local cluster whose workers are killed, stopped, restarted and joined by others meanwhile.

    python -m benchmarks.dask_faults --log FILE                     20 of every kind
    python -m benchmarks.dask_faults --log FILE --only "kill in a sum" --each 3

Every fit has to end with the bits of a fit on threads that nobody disturbed. Each is told as it ends, and
written to the log; a run with the same log goes on after the faults that it has.

Tasks of one kind say in a file when they are at work, and wait for a moment; a fault happens in such a
moment, so that it hits what it is meant to hit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import distributed
import numpy as np
from benchmarks.zipf import zipf_corpus
from scipy.sparse import csr_array

from laconic import RLSI
from laconic.engines import Shards, dask, dividing, tasks
from laconic.engines.connecting import connected
from laconic.engines.dask import DaskEngine

N_WORKERS = 4
SETTINGS = {"distributed.scheduler.worker-ttl": "10s"}
PHASES = {
    "documents": (tasks.share_of_shard,),
    "products": (tasks.term_products,),
    "sum": (tasks.add_shares, tasks.add_products),
    "solve": (tasks.solve_blocks,),
}
SECONDS = 0.1
"""How long a task waits that may be hit."""


class Slowed(DaskEngine):
    """Tasks of one phase say where they run, and wait for a moment."""

    def __init__(self, client: Any, folder: Path, phase: str) -> None:
        super().__init__(client, folder, least=0)
        self.signs, self.phase = folder / f"signs-{token_hex(4)}", phase
        self.signs.mkdir()

    def _submit(
        self, name: str, function: Callable[..., Any], given: Any, *results: Any, worker: str | None = None
    ) -> Any:
        if function in PHASES[self.phase]:
            given, function = (function, given, str(self.signs)), slowly
        return super()._submit(name, function, given, *results, worker=worker)


def slowly(function: Callable[..., Any], given: Any, signs: str, *results: Any) -> Any:
    """Say that this process is at work, wait, and work."""
    sign = Path(signs) / f"{os.getpid()}-{token_hex(4)}"
    sign.touch()
    time.sleep(SECONDS)
    found = function(*given, *results)
    sign.unlink()
    return found


def at_work(signs: Path, count: int, over: threading.Event) -> list[int]:
    """Processes that are at work, when the phase was seen so many times; none if the fit is over before."""
    seen: set[str] = set()
    while not over.is_set():
        now = {sign.name for sign in signs.iterdir()}
        seen |= now
        if len(seen) >= count and now:
            return sorted({int(name.split("-")[0]) for name in now})
        time.sleep(0.002)
    return []


def came(client: Any) -> bool:
    """Wait for all workers; Dask's nannies give up now and then, and the worker is lost for good."""
    try:
        client.wait_for_workers(N_WORKERS, timeout=120)
    except TimeoutError:
        return False
    return True


class Nannied:
    """Workers of ``local:N``: others are started in place of those that end."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Any]:
        """The workers, while they are needed."""
        with connected(f"local:{N_WORKERS}", SETTINGS) as client:
            yield cls(client)

    def complete(self) -> bool:
        """As many workers as there were to begin with; whether they came."""
        self.client.cluster.scale(N_WORKERS)
        return came(self.client)

    def others(self) -> None:
        """Some that come in place of those that are lost, if these are not replaced by themselves."""


class Bare:
    """Workers without nannies, somewhere: nobody starts others when they end."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._processes: list[subprocess.Popen[bytes]] = []

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Any]:
        """The workers, while they are needed."""
        given = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        with (
            distributed.LocalCluster(n_workers=0, processes=True, **given) as scheduler,
            distributed.Client(scheduler.scheduler_address) as client,
        ):
            workers = cls(client)
            try:
                yield workers
            finally:
                for process in workers._processes:
                    process.kill()
                    process.wait()

    def complete(self) -> bool:
        """As many workers as there were to begin with; whether they came."""
        self._start(N_WORKERS - len(self._processes))
        return came(self.client)

    def others(self) -> None:
        """Start as many as were killed, at addresses of their own."""
        for process in self._processes:
            process.wait()
        self._processes.clear()
        self._start(N_WORKERS)

    def _start(self, n_workers: int) -> None:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.client.scheduler.address]
        options = ["--no-nanny", "--nthreads=1", "--memory-limit=0", "--no-dashboard", "--host=127.0.0.1"]
        for _ in range(n_workers):
            self._processes.append(
                subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )


def kill(pids: list[int], workers: Any) -> None:
    os.kill(pids[0], signal.SIGKILL)


def kill_two(pids: list[int], workers: Any) -> None:
    others = [pid for pid in workers.client.run(os.getpid).values() if pid != pids[0]]
    for pid in (pids[0], others[0]):
        os.kill(pid, signal.SIGKILL)


def kill_all(pids: list[int], workers: Any) -> None:
    for pid in workers.client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)
    workers.others()


def hang(pids: list[int], workers: Any) -> None:
    os.kill(pids[0], signal.SIGSTOP)


def join(pids: list[int], workers: Any) -> None:
    workers.client.cluster.scale(len(workers.client.cluster.workers) + 1)


def restart(pids: list[int], workers: Any) -> None:
    workers.client.restart(wait_for_workers=False)


class Fault(NamedTuple):
    """What happens, and in which phase, to workers of a kind."""

    phase: str
    act: Callable[[list[int], Any], None]
    workers: Any = Nannied


FAULTS = {
    "kill in the document map": Fault("documents", kill),
    "kill in the products": Fault("products", kill),
    "kill in a sum": Fault("sum", kill),
    "kill in a solve": Fault("solve", kill),
    "two killed at once": Fault("documents", kill_two),
    "a worker hangs": Fault("documents", hang),
    "a worker hangs in the products": Fault("products", hang),
    "a worker comes": Fault("documents", join),
    "all workers restart": Fault("products", restart),
    "all killed in the document map": Fault("documents", kill_all),
    "all killed in the products": Fault("products", kill_all),
    "all killed in a sum": Fault("sum", kill_all),
    "all killed in a solve": Fault("solve", kill_all),
    "all killed in the document map, others come": Fault("documents", kill_all, Bare),
    "all killed in the products, others come": Fault("products", kill_all, Bare),
}


def fitted(X: Any, engine: Any = None) -> Any:
    # documents to begin with, so that faults happen in iterations, and not while a start is found
    start = csr_array(X[:20])
    model = RLSI(20, alpha_topics=0.1, init=start, random_state=0, max_iter=4, tol=0)
    return model.fit(Shards.cut(X, 8), engine=engine)


def bits(found: Any) -> tuple[bytes, ...]:
    topics = found.components_
    return topics.data.tobytes(), topics.indices.tobytes(), found.objective_history_.tobytes()


def disturbed(X: Any, workers: Any, fault: Fault, count: int, folder: Path) -> tuple[bool, Any]:
    """A fit that a fault happens to; whether it did, and what was found."""
    engine, over = Slowed(workers.client, folder, fault.phase), threading.Event()
    hit: list[int] = []

    def act() -> None:
        hit.extend(at_work(engine.signs, count, over))
        if hit:
            fault.act(hit, workers)

    thread = threading.Thread(target=act)
    thread.start()
    try:
        found = fitted(X, engine)
    finally:
        over.set()
        thread.join()
    return bool(hit), bits(found)


class Log:
    """What became of fits, a line for each: the kind of fault, and whether the bits were right."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.fits: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def add(self, name: str, right: bool, seconds: float) -> None:
        """A fit has ended."""
        self.fits.append({"fault": name, "right": right, "seconds": round(seconds, 1)})
        with self._path.open("a") as file:
            file.write(json.dumps(self.fits[-1]) + "\n")
        print(f"{name}: {self.told(name)}", flush=True)

    def count(self, name: str) -> int:
        """How many faults of a kind there were."""
        return sum(one["fault"] == name for one in self.fits)

    def told(self, name: str) -> str:
        """How fits with a kind of fault ended."""
        own = [one for one in self.fits if one["fault"] == name]
        longest = max((one["seconds"] for one in own), default=0)
        right = sum(one["right"] for one in own)
        return f"{right} of {len(own)} ended with the same bits, at most {longest:.0f} s for a fit"


def run(name: str, each: int, X: Any, expected: Any, log: Log) -> None:
    """Fits with a fault, until there were so many; those that were over before it do not count."""
    fault = FAULTS[name]
    chance = random.Random(f"{name} {log.count(name)}")
    while log.count(name) < each:
        with tempfile.TemporaryDirectory() as folder, fault.workers.started() as workers:
            # another cluster where a worker stays away
            while log.count(name) < each and workers.complete():
                began = time.perf_counter()
                hit, found = disturbed(X, workers, fault, chance.randint(1, 24), Path(folder))
                if hit:
                    log.add(name, found == expected, time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(FAULTS))
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--log", type=Path, required=True)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    # so that a small fit has sums of sums of products, too
    dask.FAN_IN, dividing.MOVING = 2, 1
    X = zipf_corpus(4000, 500, n_topics=20, length=40).tfidf().astype(np.float32)
    expected = bits(fitted(X))
    log = Log(given.log)
    for name in given.only:
        if log.count(name) < given.each:
            run(name, given.each, X, expected, log)
    print("\n".join(f"{name}: {log.told(name)}" for name in given.only))
    sys.exit(sum(not one["right"] for one in log.fits))


if __name__ == "__main__":
    main()
