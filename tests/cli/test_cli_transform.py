import csv
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_documents import documents, write_csv, write_jsonl

from laconic import load
from laconic.bundle import reading, weights
from laconic.engines.shards import ROWS_PER_BLOCK


@pytest.fixture(scope="module")
def new():
    rows = documents(40, seed=1)
    rows[5]["body"] = ""
    rows[7]["body"] = "unheardof"
    rows[9]["key"] = 'a "quoted", größer\nkey'
    return rows


@pytest.fixture
def expected(saved, new):
    return load(saved).transform([row["body"] for row in new]).toarray()


@pytest.fixture
def run(laconic, saved, new, tmp_path):
    def transformed(name, *, model=saved, source=None):
        source = source or write_jsonl(tmp_path / "new.jsonl", new)
        result = laconic("transform", model, source, "--text", "body", "--id", "key", "-o", tmp_path / name)
        first, second = result.stderr.splitlines()
        assert first == f"40 documents written to {tmp_path / name}"
        assert second == "2 documents without any known word: all weights are zero"
        assert result.stdout == ""
        return tmp_path / name

    return transformed


def test_parquet(run, new, expected):
    table = pq.read_table(run("weights.parquet"))
    assert table.column_names == ["id", "topic0", "topic1", "topic2"]
    assert table["id"].to_pylist() == [row["key"] for row in new]
    found = np.column_stack([table[f"topic{number}"].to_numpy() for number in range(3)])
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)
    assert not found[[5, 7]].any()


def test_csv(run, new, expected):
    with run("weights.CSV").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["id", "topic0", "topic1", "topic2"]
    assert [row[0] for row in rows] == [row["key"] for row in new]
    assert np.array_equal(np.array([row[1:] for row in rows], np.float32), expected)


def test_jsonl(run, new, expected):
    lines = run("weights.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows] == [row["key"] for row in new]
    assert rows[5]["topics"] == {}
    for row, values in zip(rows, expected, strict=True):
        assert {int(topic): np.float32(weight) for topic, weight in row["topics"].items()} == {
            int(topic): values[topic] for topic in np.flatnonzero(values)
        }


def test_sparse_weights(laconic, run, jsonl, new, tmp_path):
    model = tmp_path / "sparse"
    laconic("fit", jsonl, "--text", "body", "-k", 3, "--words", 8, "--doc-norm", "l1", "-o", model)
    expected = load(model).transform([row["body"] for row in new]).toarray()
    assert (expected == 0).any()
    table = pq.read_table(run("w.parquet", model=model))
    assert np.array_equal(
        np.column_stack([table[f"topic{number}"].to_numpy() for number in range(3)]), expected
    )
    lines = [
        json.loads(line) for line in run("w.jsonl", model=model).read_text(encoding="utf-8").splitlines()
    ]
    assert [len(line["topics"]) for line in lines] == list(np.count_nonzero(expected, axis=1))


def test_csv_input_in_another_encoding(laconic, saved, new, tmp_path, expected):
    source = write_csv(tmp_path / "new.csv", new, encoding="latin-1")
    arguments = ["transform", saved, source, "--text", "body", "-o", tmp_path / "w.parquet"]
    laconic(*arguments, "--encoding", "latin-1")
    table = pq.read_table(tmp_path / "w.parquet")
    assert table["id"].to_pylist() == [str(number) for number in range(40)]
    assert np.array_equal(table["topic1"].to_numpy(), expected[:, 1])


def test_folder_input(laconic, saved, tmp_path):
    (tmp_path / "texts" / "b").mkdir(parents=True)
    (tmp_path / "texts" / "a.txt").write_text("apple pear")
    (tmp_path / "texts" / "b" / "c.txt").write_text("motor")
    laconic("transform", saved, tmp_path / "texts", "-o", tmp_path / "w.parquet")
    assert pq.read_table(tmp_path / "w.parquet")["id"].to_pylist() == ["a", "b/c"]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_parts_are_the_whole_to_the_bit(laconic, saved, tmp_path, monkeypatch, suffix):
    assert reading.BATCH % ROWS_PER_BLOCK == 0
    source = write_jsonl(tmp_path / "many.jsonl", documents(2 * ROWS_PER_BLOCK + 100, seed=2))
    for name, size in (("whole", reading.BATCH), ("parts", ROWS_PER_BLOCK)):
        monkeypatch.setattr(reading, "BATCH", size)
        laconic("transform", saved, source, "--text", "body", "-o", tmp_path / f"{name}{suffix}")
    if suffix == ".parquet":
        whole, parts = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("whole", "parts"))
        assert parts.equals(whole)
    else:
        assert (tmp_path / f"parts{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_a_failure_leaves_no_half_file(laconic, saved, tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(reading, "BATCH", 10)
    source = write_jsonl(tmp_path / "bad.jsonl", documents(50))
    with source.open("a") as file:
        file.write("no json\n")
    output = tmp_path / f"out{suffix}"
    result = laconic("transform", saved, source, "--text", "body", "-o", output, code=1)
    assert f"{source}, line 51: not JSON" in result.stderr
    assert list(tmp_path.iterdir()) == [source]
    output.write_text("before")
    laconic("transform", saved, source, "--text", "body", "-o", output, code=1)
    assert output.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_interrupt_leaves_no_half_file(laconic, saved, jsonl, tmp_path, monkeypatch):
    def interrupt(file):
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "sync", interrupt)
    result = laconic("transform", saved, jsonl, "--text", "body", "-o", tmp_path / "w.csv", code=130)
    assert result.stderr == "laconic: interrupted\n"
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from laconic.bundle import weights
from laconic.cli.app import app
weights.sync = lambda file: (file.flush(), os.kill(os.getpid(), signal.SIGKILL))
app(sys.argv[1:])
"""


@pytest.mark.skipif(os.name == "nt", reason="no such signals and locks here")
def test_what_a_killed_transform_leaves_is_removed_by_the_next_one(laconic, saved, jsonl, tmp_path):
    command = ["transform", saved, jsonl, "--text", "body", "-o", tmp_path / "out.csv"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], timeout=300, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out-")
    assert left.stat().st_size
    laconic(*command)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_refusals(laconic, saved, jsonl, tmp_path):
    def refused(output, *, model=saved, source=jsonl):
        return laconic("transform", model, source, "--text", "body", "-o", output, code=1).stderr

    assert "weights are written as .parquet, .csv, .jsonl" in refused(tmp_path / "w.doc")
    (tmp_path / "d.csv").mkdir()
    assert "is a directory" in refused(tmp_path / "d.csv")
    assert "there is no directory" in refused(tmp_path / "no" / "w.csv")
    assert "does not exist" in refused(tmp_path / "w.csv", source=tmp_path / "no.jsonl")
    assert "does not exist" in refused(tmp_path / "w.csv", model=tmp_path / "no")
    assert "is the file of the documents" in refused(jsonl)
    assert jsonl.stat().st_size > 0
    load(saved).model.save(tmp_path / "bare")
    assert "was saved without a vocabulary" in refused(tmp_path / "w.csv", model=tmp_path / "bare")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare", "d.csv"]
