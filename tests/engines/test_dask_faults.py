"""Faults on a real cluster of processes: the bits of threads, or an error that says what happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from planting import planted
from test_contract import bits

from laconic import RLSI
from laconic.engines import Checkpoint, Shards, cluster, connecting, dividing, tasks
from laconic.engines.connecting import connected
from laconic.engines.dask import DaskEngine
from laconic.errors import ClusterError, CorpusError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PATIENCE = 600


@pytest.fixture(scope="module")
def client():
    # not less: on a busy machine, workers that are well may be silent for a while
    with connected("local:2", {"distributed.scheduler.worker-ttl": "20s"}) as client:
        yield client


@pytest.fixture
def X():
    return planted(240, 100, seed=4, dtype=np.float32)


def model(max_iter=2):
    return RLSI(3, doc_norm="l1", random_state=0, max_iter=max_iter, tol=0)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Watched(DaskEngine):
    """The first tasks of a kind wait until the fault has happened; they say where they do."""

    def __init__(self, client, folder, function, fault):
        super().__init__(client, folder, least=0)
        self.sign, self.gate = folder / "sign", folder / "gate"
        self.function, self.fault = function, fault
        self.thread = threading.Thread(target=self._act)
        self.thread.start()

    def _act(self):
        wait_until(lambda: self.sign.exists() and self.sign.read_text())
        self.fault(int(self.sign.read_text()))
        self.gate.touch()

    def _submit(self, name, function, given, *results, worker=None):
        if function is self.function and not self.gate.exists():
            given, function = (function, given, str(self.sign), str(self.gate)), waiting_task()
        return super()._submit(name, function, given, *results, worker=worker)


def waiting_task():
    def wait(function, given, sign, gate, *results):
        # a function of its own, as workers do not know this module
        import os
        import time
        from pathlib import Path

        if not Path(gate).exists():
            Path(f"{sign}.{os.getpid()}").write_text(str(os.getpid()))
            Path(f"{sign}.{os.getpid()}").replace(sign)
        while not Path(gate).exists():
            time.sleep(0.01)
        return function(*given, *results)

    return wait


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def hang(pid):
    os.kill(pid, signal.SIGSTOP)


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (tasks.share_of_shard, kill),
        (tasks.add_shares, kill),
        (tasks.solve_blocks, kill),
        (tasks.share_of_shard, hang),
    ],
    ids=["document map", "sum", "solve", "hangs"],
)
def test_a_worker_that_is_lost_changes_nothing(client, X, tmp_path, monkeypatch, function, fault):
    # as with more documents than terms, so that products are moved
    monkeypatch.setattr(dividing.Sizes, "spans", lambda self, shards, threads: [slice(0, 2), slice(2, 3)])
    expected = bits(model().fit(Shards.cut(X, 3)))
    engine = Watched(client, tmp_path, function, fault)
    found = bits(model().fit(Shards.cut(X, 3), engine=engine))
    engine.thread.join()
    assert found == expected


def test_all_workers_restart(client, X, tmp_path):
    def restart(pid):
        client.restart(wait_for_workers=False)

    expected = bits(model().fit(Shards.cut(X, 3)))
    engine = Watched(client, tmp_path, tasks.share_of_shard, restart)
    found = bits(model().fit(Shards.cut(X, 3), engine=engine))
    engine.thread.join()
    assert found == expected


@pytest.mark.parametrize("function", [tasks.share_of_shard, tasks.solve_here], ids=["documents", "terms"])
def test_all_workers_are_killed_at_once(client, X, tmp_path, function):
    """Those that come in their place have other addresses: no worker is there that tasks have named."""

    def kill_all(pid):
        for each in client.run(os.getpid).values():
            kill(each)

    expected = bits(model().fit(Shards.cut(X, 3)))
    engine = Watched(client, tmp_path, function, kill_all)
    found = bits(model().fit(Shards.cut(X, 3), engine=engine))
    engine.thread.join()
    assert found == expected


def test_a_damaged_or_missing_shard_is_named(client, X, tmp_path):
    def spoilt(spoil):
        class Spoiling(DaskEngine):
            def _write(self, shard):
                place = super()._write(shard)
                spoil(Path(place.rows[0].path))
                return place

        return model().fit(Shards.cut(X, 3), engine=Spoiling(client, tmp_path, least=0))

    def damage(path):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)

    with pytest.raises(CorpusError, match=r"shard\d+\.data\.npy: is damaged"):
        spoilt(damage)
    with pytest.raises(CorpusError, match=r"shard\d+\.data\.npy: is damaged"):
        spoilt(lambda path: os.truncate(path, 200))
    with pytest.raises(FileNotFoundError, match=r"shard\d+\.data\.npy"):
        spoilt(Path.unlink)
    assert list(tmp_path.iterdir()) == []


SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()

asyncio.run(main())
"""


@pytest.fixture
def scheduler():
    """A process with a scheduler and a worker, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_scheduler_that_is_gone_is_told_of_and_the_checkpoint_goes_on(scheduler, X, tmp_path, monkeypatch):
    process, address = scheduler
    expected = bits(model(4).fit(Shards.cut(X, 3)))
    pages = Checkpoint(tmp_path / "checkpoint", every=0)
    assert cluster.GONE + 2 * cluster.TICK < 30

    def watch(progress):
        if progress.phase == "fit" and progress.iteration == 2 and progress.half == "topics":
            process.kill()
            process.wait()
            # not before: on a busy machine, an answer may take longer
            monkeypatch.setattr(cluster, "GONE", 2.0)

    with connected(address) as client:
        engine = DaskEngine(client, tmp_path, least=0)
        with pytest.raises(ClusterError, match="does not answer any more"):
            model(4).fit(Shards.cut(X, 3), engine=engine, checkpoint=pages, callback=watch)
    assert pages.exists
    assert bits(model(4).fit(Shards.cut(X, 3), checkpoint=pages)) == expected


def test_a_fit_on_a_cluster_goes_on_from_a_checkpoint(client, X, tmp_path):
    expected = bits(model(4).fit(Shards.cut(X, 3)))
    pages = Checkpoint(tmp_path / "checkpoint", every=0)
    engine = DaskEngine(client, tmp_path, least=0)
    model(4).fit(
        Shards.cut(X, 3),
        engine=engine,
        checkpoint=pages,
        callback=lambda progress: progress.phase == "fit" and progress.iteration == 2,
    )
    assert pages.exists
    found = model(4).fit(Shards.cut(X, 3), engine=engine, checkpoint=pages)
    assert bits(found) == expected
    assert not pages.exists


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(connecting, "CONNECTING", 1)
    nowhere = pytest.raises(ClusterError, match=r"no Dask scheduler with workers at tcp://127\.0\.0\.1:9")
    with nowhere, connected("tcp://127.0.0.1:9"):
        pass
    with pytest.raises(ValueError, match="dask='elsewhere' is neither"), connected("elsewhere"):
        pass
