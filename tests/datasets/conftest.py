import gzip
import json
import lzma

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz


def write_lines(path, rows):
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    path.parent.mkdir(exist_ok=True)
    with opened(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty folder of data sets, and no others."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("LACONIC_DATA", str(folder))
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    return folder


@pytest.fixture
def lines(data):
    """Write a file of JSON lines, compressed by the end of its name."""
    return lambda name, rows: write_lines(data / name, rows)


@pytest.fixture
def arrays(data):
    def write(name, **values):
        (data / name).parent.mkdir(exist_ok=True)
        np.savez_compressed(data / name, **values)

    return write


@pytest.fixture
def retrieval(data, lines):
    """ADI, in small."""
    documents = [
        {"id": "1", "title": "red fish", "text": "swim in the sea", "author": "A"},
        {"id": "2", "title": "blue bird", "text": "", "author": "B"},
        {"id": "3", "title": "", "text": "green tree", "author": ""},
    ]
    lines("adi/docs.jsonl.gz", documents)
    queries = [
        {"id": "q1", "text": "what swims", "split": "train"},
        {"id": "q2", "text": "?", "split": "test"},
    ]
    lines("adi/queries.jsonl", queries)
    (data / "adi" / "qrels.tsv").write_text("q1\t1\t2\nq1\t2\t0\n")
    return data / "adi"


@pytest.fixture
def counts(data, lines):
    """NIPS, in small."""
    folder = data / "nips12"
    folder.mkdir()
    save_npz(folder / "counts.npz", csr_array(np.array([[2, 1, 0], [1, 0, 0], [3, 0, 1]])))
    (folder / "vocab.txt").write_text("network\nlearning\nmodel\n")
    lines("nips12/papers.jsonl.gz", [{"id": n, "title": f"T{n} ", "authors": ["A", "B"]} for n in range(3)])
    return folder


@pytest.fixture
def graph():
    """The arrays of a graph of three papers, which cite each other in a chain."""
    return {
        "adj_indices": np.array([1, 2], np.int32),
        "adj_indptr": np.array([0, 1, 2, 2], np.int32),
        "adj_shape": np.array([3, 3]),
        "attr_data": np.array([1, 0.5, 2], np.float32),
        "attr_indices": np.array([0, 1, 1], np.int32),
        "attr_indptr": np.array([0, 2, 3, 3], np.int32),
        "attr_shape": np.array([3, 2]),
        "labels": np.array([0, 1, 1], np.int8),
        "class_names": np.array(["Theory", "Practice"]),
        "node_names": np.array(["p", "q", "r"]),
    }
