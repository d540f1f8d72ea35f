"""Any bytes, and damaged files of every format: documents or a clear error, and nothing else."""

import bz2
import gzip
import lzma
import tempfile
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic.corpus import CorpusError
from laconic.reading import holds_counts, read_counts, read_documents
from laconic.reading.strings import is_unicode

ROWS = [(f"füße {i} fish", f"k{i}") for i in range(30)]
JSONL = "".join(f'{{"text": "{text}", "key": "{key}"}}\n' for text, key in ROWS).encode()
CSV = ("text,key\n" + "".join(f'"{text}, ""x""\ny",{key}\n' for text, key in ROWS)).encode()
SVMLIGHT = "".join(f"{key} {i + 1}:{i} 40:1\n" for i, (_, key) in enumerate(ROWS)).encode()
DOCWORD = ("30\n40\n60\n" + "".join(f"{i + 1} {i + 1} 2\n{i + 1} 40 1.5\n" for i in range(30))).encode()
MARKET = b"%%MatrixMarket matrix coordinate real general\n% x\n30 40 60\n" + DOCWORD.split(b"\n", 3)[3]


def parquet(**options):
    texts, keys = zip(*ROWS, strict=True)
    file = BytesIO()
    pq.write_table(pa.table({"text": texts, "key": keys, "n": [[1]] * len(texts)}), file, **options)
    return file.getvalue()


FILES = {
    "a.jsonl": JSONL,
    "a.csv": CSV,
    "a.tsv": CSV.replace(b",", b"\t"),
    "a.txt": JSONL,
    "a.parquet": parquet(),
    "b.parquet": parquet(compression="zstd", use_dictionary=False, row_group_size=7, data_page_version="2.0"),
    "a.jsonl.gz": gzip.compress(JSONL),
    "a.csv.xz": lzma.compress(CSV),
    "a.jsonl.bz2": bz2.compress(JSONL),
    "a.csv.zst": pa.compress(CSV, codec="zstd", asbytes=True),
    "a.svm": SVMLIGHT,
    "a.mtx": MARKET,
    "docword.a.txt": DOCWORD,
    "a.mtx.gz": gzip.compress(MARKET),
}
CUTS = st.tuples(st.floats(0, 1), st.integers(0, 12), st.binary(max_size=6) | st.just(None))


def damaged(content, cuts):
    """Replace pieces; None repeats what stands before the piece."""
    for place, length, piece in cuts:
        start = int(place * len(content))
        new = content[max(start - length, 0) : start] if piece is None else piece
        content = content[:start] + new + content[start + length :]
    return content


def read(path, **options):
    """Read a file, and give what was read and the number of documents."""
    if holds_counts(path):
        counted = read_counts(path, label="label" if path.suffix == ".svm" else None, **options)
        counted.counts.check_format(full_check=True)
        assert len(counted.vocabulary) == counted.counts.shape[1]
        return counted.reading, counted.counts.shape[0]
    documents = read_documents(path, id=None if path.suffix == ".txt" else "key", **options)
    found = list(documents)
    assert len({document.id for document in found}) == len(found)
    assert all(is_unicode(document.text) for document in found)
    return documents.reading, len(found)


def check(name, content, **options):
    """Read a file, from which may come documents or an error that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            reading, n_documents = read(path, **options)
        except CorpusError as error:
            named = str(path) in str(error)
        else:
            named = True
            assert reading.n_rows == n_documents + reading.n_skipped > 0
            assert len(reading.problems) == min(reading.n_skipped, 20)
        assert named


def test_the_files_are_whole():
    for name, content in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(content)
            reading, n_documents = read(path)
            assert reading.n_rows == n_documents == 30


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@settings(max_examples=40)
@given(cuts=st.lists(CUTS, min_size=1, max_size=4))
def test_damaged_files(name, on_error, cuts):
    check(name, damaged(FILES[name], cuts), on_error=on_error)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25)
@given(content=st.binary(max_size=80), kept=st.integers(0, 60))
def test_any_bytes(name, content, kept):
    check(name, FILES[name][:kept] + content, on_error="skip")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.svm", "docword.a.txt"])
@settings(max_examples=40)
@given(
    encoding=st.sampled_from(
        ["utf-16", "utf-16-be", "utf-32", "utf-7", "gb18030", "cp1252", "shift_jis", "ascii"]
    ),
    cuts=st.lists(CUTS, max_size=3),
)
def test_damaged_files_of_any_encoding(name, encoding, cuts):
    content = FILES[name].decode().encode(encoding, errors="replace")
    check(name, damaged(content, cuts), encoding=encoding, on_error="skip")


NUMBERS = st.sampled_from(
    [b"0", b"-1", b"1e9", b"2147483647", b"2147483648", b"4194400", b"9" * 18, b"9" * 40]
)


@settings(max_examples=100)
@given(name=st.sampled_from(["a.mtx", "docword.a.txt", "a.svm"]), number=NUMBERS, place=st.integers(0, 200))
def test_numbers_that_promise_too_much(name, number, place):
    words = FILES[name].replace(b"\n", b" \n ").replace(b":", b" : ").split(b" ")
    words[place % len(words)] = number
    content = b" ".join(words).replace(b" : ", b":").replace(b" \n ", b"\n")
    check(name, content, on_error="skip")
