"""Commands on a cluster: the same files as without."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from local_workers import two_workers

from laconic import Corpus, load
from laconic.engines import Threads
from laconic.engines import dask as dask_engine
from laconic.models.making import make_model


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

    def count(self, name, *given):
        sent.append(name)
        return submit(self, name, *given)

    monkeypatch.setattr(dask_engine.Cluster, "submit", count)
    return sent


def test_a_fit_on_a_cluster(laconic, jsonl, address, tasks, tmp_path, monkeypatch):
    monkeypatch.setattr("laconic.engines.shards.shard_entries", lambda entries: 300)
    monkeypatch.setattr("laconic.bundle.fitting.shard_entries", lambda entries: 300)
    (tmp_path / "shared").mkdir()
    arguments = ["fit", jsonl, "--text", "body", "-k", 3, "--words", 8, "--max-iter", 2]
    laconic(
        *arguments, "-o", tmp_path / "far", "--dask", address, "--dask-folder", tmp_path / "shared",
        "--save-corpus", tmp_path / "corpus",
    )  # fmt: skip
    assert "solve" in tasks
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
