"""Commands on a cluster: the same files as without."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import psutil
import pytest
from cli_documents import write_jsonl
from local_workers import two_workers
from planting import planted
from sklearn.exceptions import ConvergenceWarning

from laconic import RLSI, Corpus, load
from laconic.engines import Shards, Threads, connecting
from laconic.engines import dask as dask_engine
from laconic.engines.connecting import connected
from laconic.engines.dask import DaskEngine
from laconic.errors import ClusterError
from laconic.models.making import make_model

PATIENCE = 600


@pytest.fixture(scope="module")
def address():
    with two_workers() as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def nothing_is_too_few(monkeypatch):
    monkeypatch.setattr(dask_engine, "LEAST", 0)


@pytest.fixture
def tasks(monkeypatch):
    """How many tasks were sent to a cluster."""
    sent = []
    submit = dask_engine.Cluster.submit

    def count(self, name, *given, **wanted):
        sent.append(name)
        return submit(self, name, *given, **wanted)

    monkeypatch.setattr(dask_engine.Cluster, "submit", count)
    return sent


def test_a_fit_on_a_cluster(laconic, jsonl, address, tasks, tmp_path, monkeypatch):
    monkeypatch.setattr("laconic.bundle.fitting.shard_entries", lambda entries: 300)
    (tmp_path / "shared").mkdir()
    arguments = ["fit", jsonl, "--text", "body", "-k", 3, "--words", 8, "--max-iter", 2]
    laconic(
        *arguments, "-o", tmp_path / "far", "--dask", address, "--dask-folder", tmp_path / "shared",
        "--save-corpus", tmp_path / "corpus",
    )  # fmt: skip
    # texts are counted here, and then handed over by their path
    assert {"place", "solve"} <= set(tasks)
    assert list((tmp_path / "shared").iterdir()) == []
    far = load(tmp_path / "far")
    near = make_model("rlsi", 3, 8, max_iter=2, random_state=0)
    near.fit(Corpus.load(tmp_path / "corpus").shards(entries=300), engine=Threads(1))
    np.testing.assert_array_equal(near.components_.toarray(), far.model.components_.toarray())
    assert far.documents is not None


@pytest.mark.parametrize("output", ["weights.csv", "weights.jsonl"])
def test_transform_on_a_cluster(laconic, saved, jsonl, address, tasks, tmp_path, output):
    (tmp_path / "far").mkdir()
    near, far = tmp_path / output, tmp_path / "far" / output
    laconic("transform", saved, jsonl, "--text", "body", "--keep", "kind", "-o", near)
    assert tasks == []
    laconic("transform", saved, jsonl, "--text", "body", "--keep", "kind", "-o", far, "--dask", address)
    assert "item" in tasks
    assert near.read_bytes() == far.read_bytes()


def test_a_saved_corpus_is_loaded_by_workers(laconic, saved, jsonl, address, tasks, tmp_path, monkeypatch):
    arguments = ["fit", jsonl, "--text", "body", "--label", "kind", "-k", 3, "--words", 8, "--max-iter", 2]
    laconic(*arguments, "-o", tmp_path / "first", "--save-corpus", tmp_path / "corpus")
    shared = tmp_path / "shared"
    shared.mkdir()
    arguments[1:4] = [tmp_path / "corpus"]
    del arguments[2:4]
    laconic(*arguments, "-o", tmp_path / "far", "--dask", address, "--dask-folder", shared)
    assert {"place", "solve", "item"} <= set(tasks)
    laconic(*arguments, "-o", tmp_path / "near")
    near, far = load(tmp_path / "near"), load(tmp_path / "far")
    np.testing.assert_array_equal(near.model.components_.toarray(), far.model.components_.toarray())
    np.testing.assert_array_equal(near.documents.weights.toarray(), far.documents.weights.toarray())
    del tasks[:]
    laconic("transform", saved, tmp_path / "corpus", "-o", tmp_path / "near.csv")
    assert tasks == []
    # what the command itself has of the documents is not what it folds in
    monkeypatch.delattr("laconic.bundle.reading.match_terms")
    laconic("transform", saved, tmp_path / "corpus", "-o", tmp_path / "far.csv", "--dask", address)
    assert "item" in tasks
    assert (tmp_path / "near.csv").read_bytes() == (tmp_path / "far.csv").read_bytes()


COMMAND = """
import sys
from laconic.cli import main
from laconic.engines import dask

if __name__ == "__main__":
    dask.LEAST = 0
    main()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a group of processes")
def test_ctrl_c_saves_the_topics_and_leaves_no_process(tmp_path, heeds_ctrl_c):
    """As a terminal does, it reaches all processes."""
    rng = random.Random(0)
    words = [f"word{number}" for number in range(500)]
    rows = [{"text": " ".join(rng.choices(words, k=30))} for _ in range(600)]
    script, shared = tmp_path / "command.py", tmp_path / "shared"
    script.write_text(COMMAND)
    shared.mkdir()
    arguments = [
        "fit", write_jsonl(tmp_path / "t.jsonl", rows), "-k", 20, "--alpha-topics", 0.01, "--tol", 0,
        "--max-iter", 100_000, "-o", tmp_path / "m", "--dask", "local:2", "--dask-folder", shared,
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + PATIENCE
        # the folder of the fit, and weights in it
        while not list(shared.glob("*/weights.*")):
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < end
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 130, told
        _, left = psutil.wait_procs(children, timeout=PATIENCE)
        assert left == []
    finally:
        # what is left of a test that failed
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert "stopped early by Ctrl-C" in " ".join(told.split())
    assert list(shared.iterdir()) == []
    assert load(tmp_path / "m").model.n_alive_ > 0


def test_tls(tmp_path, monkeypatch):
    """As the manual says: certificates in files, which Dask's configuration names."""
    pytest.importorskip("cryptography")
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    security = distributed.Security.temporary()
    names = {"ca-file": "tls_ca_file", "client.cert": "tls_client_cert", "client.key": "tls_client_key"}
    for name, attribute in names.items():
        (tmp_path / name).write_text(getattr(security, attribute))
    files = {f"distributed.comm.tls.{name}": str(tmp_path / name) for name in names}
    X = planted(240, 100, seed=4, dtype=np.float32)
    model = RLSI(3, random_state=0, max_iter=2, tol=0)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, protocol="tls://", security=security,
            host="127.0.0.1", dashboard_address="127.0.0.1:0",
        ) as cluster,
    ):  # fmt: skip
        warnings.simplefilter("ignore", ConvergenceWarning)
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with dask.config.set(files), connected(address) as client:
            far = model.fit(Shards.cut(X, 3), engine=DaskEngine(client, tmp_path, least=0)).components_
        with pytest.raises(ClusterError, match=r"certificates.*comm\.tls\.ca-file"), connected(address):
            pass
        # who speaks no TLS, or has certificates of others, gets nowhere
        monkeypatch.setattr(connecting, "CONNECTING", 2)
        refused = pytest.raises(ClusterError, match="no Dask scheduler with workers")
        with refused, connected(address.replace("tls", "tcp")):
            pass
        others = distributed.Security.temporary()
        for name, attribute in names.items():
            (tmp_path / name).write_text(getattr(others, attribute))
        with dask.config.set(files), refused, connected(address):
            pass
        near = model.fit(Shards.cut(X, 3)).components_
    np.testing.assert_array_equal(near.toarray(), far.toarray())


def test_what_couples_documents_is_refused_before_the_work(laconic, jsonl, tmp_path):
    arguments = ["fit", jsonl, "--text", "body", "-o", tmp_path / "m", "--dask", "tcp://127.0.0.1:9"]
    told = laconic(*arguments, "--model", "graph-plsa", code=2).stderr
    assert "GraphPLSA couples documents with each other" in told
    assert "--dask" in laconic(*arguments[:-2], "--dask-folder", tmp_path, code=2).stderr
    assert "is neither an address" in laconic(*arguments[:-1], "somewhere", code=1).stderr


def test_without_the_extra(laconic, jsonl, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = laconic("fit", jsonl, "--text", "body", "-o", tmp_path / "m", "--dask", "local:2", code=1).stderr
    assert 'pip install "laconic[dask]"' in " ".join(told.split())
