"""What a small file can ask of memory: a few bytes of a compressed one stand for any number."""

import gzip
import os
import re
import subprocess
import sys
import time
import tracemalloc
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
import pytest

from laconic import Corpus
from laconic.errors import CorpusError
from laconic.reading import files, read_documents
from laconic.reading.links import read_links
from laconic.reading.queries import read_queries
from laconic.reading.rankings import read_qrels

LIMIT = files.LARGEST_LINE
MEGABYTE = 2**20
# A gigabyte of each with ``make attack``.
ENDLESS = (32 if os.environ.get("LACONIC_ATTACK") == "long" else 3) * LIMIT


def bomb(path, start, unit, size, end=b""):
    """A compressed file of a few kilobytes that stands for a great many."""
    block = unit * (MEGABYTE // len(unit))
    with path.open("wb") as raw, pa.CompressedOutputStream(raw, "zstd") as file:
        file.write(start)
        for _ in range(size // len(block) + 1):
            file.write(block)
        file.write(end)
    assert path.stat().st_size < size / 500
    return path


@contextmanager
def peak_below(megabytes):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * MEGABYTE
    finally:
        tracemalloc.stop()


def read(path, **options):
    return list(read_documents(path, **options))


@pytest.mark.parametrize(
    ("name", "start", "reader"),
    [
        ("a.jsonl.zst", b'{"text": "', read),
        ("a.json.zst", b'[{"text": "', read),
        ("a.csv.zst", b"text,k\nx,", read),
        ("a.csv.zst", b'text,k\nx,"', read),
        ("a.tsv.zst", b"", read),
        ("a.txt.zst", b"", read),
        ("a.svm.zst", b"1 1:1 ", Corpus.read),
        ("a.mtx.zst", b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 ", Corpus.read),
        ("a.mtx.zst", b"%%MatrixMarket matrix coordinate real general\n%", Corpus.read),
        ("docword.a.txt.zst", b"2\n2\n2\n1 1 ", Corpus.read),
        ("links.zst", b"a b\na ", partial(read_links, ids=["a", "b"])),
        ("links.csv.zst", b"a,b\na,", partial(read_links, ids=["a", "b"])),
        ("queries.zst", b"1\t", read_queries),
        ("queries.jsonl.zst", b'{"_id": "', read_queries),
        ("qrels.zst", b"1 0 a ", read_qrels),
    ],
)
def test_lines_without_end_are_not_read_to_their_end(name, start, reader, tmp_path):
    path = bomb(tmp_path / name, start, b"0", ENDLESS)
    limit = re.escape(f"{LIMIT:,}")
    expected = rf"more than ({limit}|4,194,304) bytes|the file ends before its sizes|cut off or damaged"
    with peak_below(6 * LIMIT / MEGABYTE), pytest.raises(CorpusError, match=expected):
        reader(path)


def test_a_document_of_a_folder_is_not_longer(tmp_path):
    bomb(tmp_path / "a.txt.zst", b"", b"0", 2 * LIMIT)
    (tmp_path / "b.txt").write_text("a fine document")
    with peak_below(4 * LIMIT / MEGABYTE):
        with pytest.raises(CorpusError, match=f"more than {LIMIT:,} bytes"):
            read(tmp_path)
        assert [one.text for one in read(tmp_path, on_error="skip")] == ["a fine document"]


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("a.jsonl.zst", b'{"text": "one"}\n{"text": "', b'"}\n{"text": "two"}\n'),
        ("a.csv.zst", b"text\none\n", b"\ntwo\n"),
        ("a.txt.zst", b"one\n", b"\ntwo\n"),
    ],
)
def test_a_line_that_is_too_long_can_be_left_out(name, start, end, tmp_path):
    path = bomb(tmp_path / name, start, b"0", 2 * LIMIT, end)
    documents = read_documents(path, on_error="skip")
    with peak_below(4 * LIMIT / MEGABYTE):
        assert [document.text for document in documents] == ["one", "two"]
    assert documents.reading.n_skipped == 1
    assert f"line {2 if 'csv' not in name else 3}: " in documents.reading.problems[0]


def test_long_lines_below_the_limit_are_read(tmp_path):
    with gzip.open(tmp_path / "a.txt.gz", "wb", compresslevel=1) as file:
        file.write(b"0" * (LIMIT - 1) + b"\nend\n")
    assert [len(one.text) for one in read(tmp_path / "a.txt.gz")] == [LIMIT - 1, 3]


def test_lines_of_nothing_are_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_TOLD", 2**18)
    path = bomb(tmp_path / "a.jsonl.zst", b'{"text": "x"}\n', b"\n", MEGABYTE)
    told = []
    read(path, progress=lambda done, total, n_documents: told.append((done, n_documents)))
    assert len(told) >= 3
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("name", "line"),
    [("a.jsonl", '{"text": "sea"}\n'), ("a.csv", "sea\n"), ("a.txt", "sea\n"), ("a.svm", "1 1:2 3:1\n")],
)
def test_the_first_documents_alone(name, line, tmp_path):
    path = tmp_path / name
    path.write_text(("text\n" if name.endswith("csv") else "") + line * 7 + "{")
    options = {} if name.endswith("svm") else {"min_df": 1, "max_df": 1.0}
    corpus = Corpus.read(path, max_documents=5, **options)
    assert corpus.shape[0] == corpus.reading.n_rows == 5
    with pytest.raises(ValueError, match="max_documents must be a whole number"):
        Corpus.read(path, max_documents=0)


def test_the_first_documents_of_several_files_and_of_a_matrix(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("sea\nsun\n")
    stream = read_documents([tmp_path / "a.txt", tmp_path / "b.txt"], max_documents=3)
    assert [one.text for one in stream] == ["sea", "sun", "sea"]
    assert len(read(tmp_path, max_documents=1)) == 1
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    with pytest.raises(CorpusError, match="leave max_documents out"):
        Corpus.read(tmp_path / "m.mtx", max_documents=1)


@pytest.mark.skipif(os.name == "nt", reason="no signals here")
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_a_bomb_of_short_lines_can_be_interrupted(tmp_path):
    path = bomb(tmp_path / "a.jsonl.zst", b"", b"\n", 2**31)
    command = [sys.executable, "-m", "laconic", "fit", str(path), "-o", str(tmp_path / "m")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    # It reads as soon as it has its file open.
    limit = time.monotonic() + 120
    opened = f"/proc/{process.pid}/fd"
    while time.monotonic() < limit and process.poll() is None:
        try:
            links = [os.readlink(f"{opened}/{one}") for one in os.listdir(opened)]  # noqa: PTH115, PTH208
        except OSError:
            links = []
        if str(path) in links:
            break
        time.sleep(0.05)
    process.send_signal(2)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert not (tmp_path / "m").exists()
