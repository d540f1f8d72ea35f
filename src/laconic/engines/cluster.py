"""A Dask cluster as a coordinator sees it: lost tasks are done again, those that fail end the fit."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import dask
import distributed
from distributed.scheduler import KilledWorker

from laconic.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client, Future

logger = logging.getLogger(__name__)

TICK = 1.0
"""Seconds after which somebody who waits looks whether there is still something to wait for."""
GONE = 25.0
"""Seconds without any answer after which a scheduler is gone."""
ALONE = 300.0
"""Seconds without any worker after which a fit ends."""
ATTEMPTS = 4
"""How often a task may take its workers along (several each time) until it is held to be the reason."""


class Cluster:
    """Submits tasks, and waits for what they find.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.n_tasks = 0
        """Tasks so far."""
        self.n_sent = 0
        """Bytes of messages so far."""
        self._run, self._numbers = token_hex(8), count()
        self._address = client.scheduler.address
        self._alone_since: float | None = None
        self._last: dict[str, int] = {}
        self.n_given_up = 0
        """How often all tasks that waited were given up: nobody should wait for those from before."""
        self._named: set[str] = set()
        self._naming = True

    def submit(
        self, name: str, function: Callable[..., Any], *given: Any, worker: str | None = None
    ) -> Future:
        """Have a function called somewhere; futures among what it is given stand for their results.

        The worker, where one is named, is asked first: another one does the task if it is lost or busy.
        """
        self.n_tasks += 1
        # a key of its own, so that nothing is taken for the same by chance
        key = f"laconic-{name}-{self._run}-{next(self._numbers)}"
        wanted: dict[str, Any] = {}
        if worker is not None and self._naming:
            wanted = {"workers": [worker], "allow_other_workers": True}
            self._named.add(worker)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return self.client.submit(function, *given, key=key, pure=False, **wanted)

    def results(self, n_results: int, submit: Callable[[Sequence[int]], Iterable[Future]]) -> Iterator[Any]:
        """What tasks find, in their order.

        Parameters
        ----------
        n_results : int
        submit : callable
            Called with the numbers of results that are wanted, it submits what gives them; again for those
            that are lost.
        """
        self._naming = True
        waiting: dict[int, Future] = dict(zip(range(n_results), submit(range(n_results)), strict=True))
        deaths: Counter[int] = Counter()
        for number in range(n_results):
            while True:
                asked, forgotten = time.monotonic(), False
                try:
                    distributed.wait(waiting[number], timeout=TICK)
                    if waiting[number].status == "finished":
                        found = waiting[number].result(timeout=GONE / 2)
                        break
                except (TimeoutError, CancelledError, OSError):
                    self.check(asked)
                    forgotten = self._forgotten(asked + GONE)
                lost = list(waiting) if forgotten else self._lost(waiting, deaths)
                if lost:
                    # not by the same workers, which may be on their way out
                    self._naming = False
                    self.check()
                    waiting.update(zip(lost, submit(lost), strict=True))
            del waiting[number]
            yield found

    def _lost(self, waiting: dict[int, Future], deaths: Counter[int]) -> list[int]:
        """What is lost with its workers; what has failed by itself is an error."""
        lost = [number for number, future in waiting.items() if future.status in ("cancelled", "lost")]
        for number, future in waiting.items():
            if future.status != "error":
                continue
            error = future.exception()
            if not isinstance(error, KilledWorker):
                future.result()
            deaths[number] += 1
            if deaths[number] == ATTEMPTS:
                raise ClusterError(
                    f"a task has ended {ATTEMPTS * (error.allowed_failures + 1)} workers, one after another: "
                    "most likely they lack memory for it; give each more, or cut the documents into smaller "
                    "shards"
                ) from error
            lost.append(number)
        return lost

    def _forgotten(self, deadline: float) -> bool:
        """Whether nobody will ever do the tasks that wait; if so, they are given up.

        When there is no worker at all for a moment, Dask keeps a task that names one until that very worker
        is back, even if others may do it.
        """
        if self._named <= self._last.keys():
            return False
        at_work = self._asked(self.client.scheduler.processing, deadline - time.monotonic())
        if any(self._run in str(key) for keys in at_work.values() for key in keys):
            return False
        self.n_given_up += 1
        self._named.clear()
        return True

    def check(self, asked: float | None = None) -> None:
        """Look whether there are a scheduler and workers to wait for, and wait for them, but not for ever.

        Parameters
        ----------
        asked : float, optional
            Since when there is no answer, by `time.monotonic`; by default since now.
        """
        deadline = (time.monotonic() if asked is None else asked) + GONE
        while self.client.status == "connecting" and time.monotonic() < deadline:
            time.sleep(TICK / 10)
        if self._workers(deadline - time.monotonic()):
            self._alone_since = None
        elif self._alone_since is None:
            logger.warning("the cluster at %s has no workers: waiting for some", self._address)
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > ALONE:
            raise ClusterError(
                f"the cluster at {self._address} has had no workers for {ALONE:.0f} seconds: start some, and "
                "fit again; with a checkpoint, the fit continues from there"
            )
        self._replace_workers()

    def _replace_workers(self) -> None:
        """Ask a cluster that starts its own workers for those that it has given up."""
        cluster: Any = self.client.cluster
        if cluster is not None and hasattr(cluster, "worker_spec"):
            missing = set(cluster.worker_spec) - set(cluster.workers)
            if missing:
                cluster.scale(len(cluster.worker_spec))

    def slots(self, *, ask: bool = True) -> list[str]:
        """A worker's address for each of its threads, for all workers that are there now.

        Without `ask`, those of the time when the scheduler was asked last, if there were any.
        """
        workers = self._workers(GONE) if ask or not self._last else self._last
        return [address for address in sorted(workers) for _ in range(workers[address])]

    def _workers(self, patience: float) -> dict[str, int]:
        """Workers that are there now, and their threads."""
        self._last = self._asked(self.client.scheduler.ncores, patience)
        return self._last

    def _asked(self, question: Callable[..., Any], patience: float) -> dict[str, Any]:
        """What the scheduler answers, by worker."""
        try:
            if self.client.status != "running":
                raise OSError(f"the client is {self.client.status}")  # noqa: TRY301
            return dict(self.client.sync(question, callback_timeout=max(TICK, patience)))
        except (OSError, TimeoutError) as error:
            raise ClusterError(
                f"the Dask scheduler at {self._address} does not answer any more: start it again, and fit "
                "again; with a checkpoint, the fit continues from there"
            ) from error
