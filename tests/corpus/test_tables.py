"""Parquet files and tables in memory."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from laconic.corpus import Corpus, CorpusError
from laconic.reading import Document, read_documents, read_table

TEXTS = ["red fish blue fish", "one fish", None, "red bird"]
COLUMNS = {
    "body": TEXTS,
    "year": [1960, 1961, 1961, 1960],
    "key": ["a", "b", "c", "d"],
    "nested": [{"x": 1}, {"x": 2}, None, {"x": 3}],
}
ROWS = [
    Document("red fish blue fish", "1960", "a"),
    Document("one fish", "1961", "b"),
    Document("", "1961", "c"),
    Document("red bird", "1960", "d"),
]


def parquet(folder, table, name="a.parquet", **options):
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), folder / name, **options)
    return folder / name


def read(path, **options):
    return list(read_documents(path, **options))


def test_parquet(tmp_path):
    path = parquet(tmp_path, COLUMNS, row_group_size=3)
    documents = read_documents(path, text="body", label="year", id="key")
    assert list(documents) == ROWS
    assert documents.reading.n_rows == 4
    assert [document.id for document in read(path, text="body")] == ["0", "1", "2", "3"]
    corpus = Corpus.read(path, text="body", label="year", weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), [[2, 1], [1, 0], [0, 0], [0, 1]])


def test_parquet_in_many_batches_tells_its_progress(tmp_path):
    path = parquet(tmp_path, {"text": [f"fish {i}" for i in range(30_000)]}, row_group_size=7000)
    told = []
    found = read(path, progress=lambda *numbers: told.append(numbers))
    assert [document.text for document in found] == [f"fish {i}" for i in range(30_000)]
    size = path.stat().st_size
    assert told == sorted(told)
    assert len(told) >= 3
    assert told[-1] == (size, size, 30_000)


def test_parquet_beside_other_files(tmp_path):
    path = parquet(tmp_path, {"text": ["one"], "extra": [1]})
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"text": "two"}')
    assert read([path, lines, path]) == [
        Document("one", None, "0"),
        Document("two", None, "1"),
        Document("one", None, "2"),
    ]


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_all_kinds_of_strings(kind):
    plain = pa.array(TEXTS)
    text = plain.dictionary_encode() if kind == "dictionary" else plain.cast(getattr(pa, kind)())
    table = pa.table({"text": text, "label": pa.array(["x", "y", "x", "y"]).dictionary_encode()})
    found = list(read_table(table, label="label"))
    assert [document.text for document in found] == ["red fish blue fish", "one fish", "", "red bird"]
    assert [document.label for document in found] == ["x", "y", "x", "y"]


def test_all_kinds_of_labels():
    labels = [
        pa.array([1, 2], pa.int8()),
        pa.array([1.5, 2.0]),
        pa.array([True, False]),
        pa.array([decimal.Decimal("7"), decimal.Decimal("8")]),
    ]
    expected = [["1", "2"], ["1.5", "2.0"], ["True", "False"], ["7", "8"]]
    for label, names in zip(labels, expected, strict=True):
        table = pa.table({"text": ["x", "y"], "label": label})
        assert [document.label for document in read_table(table, label="label")] == names


def test_columns_of_nothing_but_nulls_are_empty_texts():
    table = pa.table({"text": pa.nulls(2)})
    assert [document.text for document in read_table(table)] == ["", ""]


def test_the_same_column_may_be_label_and_id():
    table = pa.table({"text": ["x", "y"], "key": [1, 2]})
    assert list(read_table(table, label="key", id="key")) == [
        Document("x", "1", "1"),
        Document("y", "2", "2"),
    ]
    frame = table.to_pandas()
    assert list(read_table(frame, label="key", id="key")) == list(read_table(table, label="key", id="key"))


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"body": ["x"], "b": [1]}, {}, "no column 'text'; there are: 'body', 'b'"),
        ({"text": [1]}, {}, "the column 'text' holds int64; texts must be strings"),
        ({"text": [["x"]]}, {}, "the column 'text' holds list"),
        ({"text": [{"x": "y"}]}, {}, "the column 'text' holds struct"),
        ({"text": [b"x"]}, {}, "the column 'text' holds binary"),
        ({"text": ["x"], "y": [None]}, {"label": "y"}, "row 0: the label is missing"),
        ({"text": ["x", "x"], "y": [1.0, float("nan")]}, {"label": "y"}, "row 1: the label is missing"),
        (
            {"text": ["x"], "y": [[1]]},
            {"label": "y"},
            "row 0: the label must be a string or a number, not list",
        ),
        (
            {"text": ["x"], "y": [datetime.date(1960, 1, 1)]},
            {"label": "y"},
            "row 0: the label must be a string",
        ),
        ({"text": ["x", "x"], "y": [1, 1]}, {"id": "y"}, "row 1: the id '1' is already that of row 0"),
        ({"text": pa.array([], pa.string())}, {}, "has no documents"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, table, options, message):
    path = parquet(tmp_path, table)
    with pytest.raises(CorpusError, match=message) as raised:
        read(path, **options)
    assert str(path) in str(raised.value)
    for made in (pa.table(table), pa.table(table).to_pandas()):
        with pytest.raises(CorpusError, match=message):
            list(read_table(made, **options))


def test_two_columns_of_the_same_name(tmp_path):
    table = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["text", "text"])
    with pytest.raises(CorpusError, match=r"two columns are named 'text'"):
        read(parquet(tmp_path, table))
    with pytest.raises(CorpusError, match="two columns are named 'text'"):
        list(read_table(table))
    with pytest.raises(CorpusError, match=r"two columns|[Dd]uplicate"):
        list(read_table(pd.DataFrame([["x", "y"]], columns=["text", "text"])))


def test_bytes_that_are_no_text_in_a_column_of_strings(tmp_path):
    offsets, content = np.array([0, 1, 2, 3], np.int32), b"a\xffb"
    text = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(content))
    path = parquet(tmp_path, {"text": text})
    with pytest.raises(CorpusError, match=r"a\.parquet, row 1: bytes that are not utf-8"):
        read(path)
    documents = read_documents(path, on_error="skip")
    assert [document.text for document in documents] == ["a", "b"]
    assert documents.reading.n_skipped == 1


def test_bad_rows_of_parquet_are_skipped(tmp_path):
    path = parquet(tmp_path, {"text": ["a", "b", "c", "d"], "k": ["x", None, "x", "y"]})
    documents = read_documents(path, id="k", on_error="skip")
    assert [document.text for document in documents] == ["a", "d"]
    assert [problem.split(", ")[1].split(":")[0] for problem in documents.reading.problems] == [
        "row 1",
        "row 2",
    ]


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_damaged_parquet(tmp_path, on_error):
    path = parquet(tmp_path, {"text": [f"fish {i}" for i in range(1000)]})
    whole = path.read_bytes()
    for content in (b"", b"PAR1", b"x" * 100, whole[:-10], whole[len(whole) // 2 :]):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=r"a\.parquet is damaged, truncated"):
            read(path, on_error=on_error)


def test_from_table_of_pandas_and_arrow():
    frame = pd.DataFrame(COLUMNS | {"mixed": ["x", 1, None, 2.5]}, index=[7, 7, 8, 9])
    table = pa.table(COLUMNS)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))
    for made in (frame, table, reader, frame.astype({"key": "category"})):
        corpus = Corpus.from_table(made, text="body", label="year", id="key", weighting="count")
        assert list(corpus.ids) == ["a", "b", "c", "d"]
        assert list(corpus.labels) == ["1960", "1961", "1961", "1960"]
        assert corpus.reading is None
        np.testing.assert_array_equal(corpus.counts.toarray(), [[2, 1], [1, 0], [0, 0], [0, 1]])


def test_from_table_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: COLUMNS[name] for name in ("body", "year", "key")})
    for made in (frame, frame.with_columns(pl.col("body").cast(pl.Categorical))):
        corpus = Corpus.from_table(made, text="body", label="year", id="key", weighting="count")
        assert list(corpus.ids) == ["a", "b", "c", "d"]
        np.testing.assert_array_equal(corpus.counts.toarray(), [[2, 1], [1, 0], [0, 0], [0, 1]])
    with pytest.raises(CorpusError, match=r"pass table\.collect\(\)"):
        Corpus.from_table(frame.lazy(), text="body")
    with pytest.raises(CorpusError, match="no column 'text'"):
        Corpus.from_table(frame)
    series = frame["body"].fill_null("")
    assert Corpus.from_texts(series, labels=frame["year"], ids=frame["key"]).shape == (4, 2)


def test_from_table_refuses_what_is_no_table():
    for table in (["red fish"], {"text": ["red fish"]}, "a.csv", None):
        with pytest.raises(CorpusError, match="a table must be a pandas"):
            Corpus.from_table(table)
    with pytest.raises(CorpusError, match="the table cannot be read"):
        Corpus.from_table(pd.DataFrame({"text": ["x", {1}]}))
    with pytest.raises(CorpusError, match=r"a single column, not a table: pass it to Corpus\.from_texts"):
        Corpus.from_table(pd.Series(TEXTS))


def test_numbers_among_the_texts_of_a_data_frame_become_strings():
    frame = pd.DataFrame({"text": ["red", 1984, None, 2.5, "red"]})
    corpus = Corpus.from_table(frame, keep_texts=True, min_df=1)
    assert list(corpus.texts) == ["red", "1984", "", "2.5", "red"]
    with pytest.raises(CorpusError, match=r"holds int64; texts must be strings \(text says which"):
        Corpus.from_table(pd.DataFrame({"text": [1, 2]}))


def test_parts_of_structures_are_columns():
    table = pa.table({"meta": [{"body": "red fish", "year": 1960}, None, {"body": "fish", "year": 1961}]})
    for made in (table, table.to_pandas()):
        corpus = Corpus.from_table(made, text="meta.body", min_df=1, max_df=1.0, keep_texts=True)
        assert list(corpus.texts) == ["red fish", "", "fish"]
        with pytest.raises(CorpusError, match=r"no column 'meta\.bdy'"):
            Corpus.from_table(made, text="meta.bdy")


def test_tables_in_other_places_point_to_from_table():
    frame = pd.DataFrame({"text": TEXTS})
    for made in (frame, pa.table(frame)):
        with pytest.raises(CorpusError, match=r"Corpus\.from_table takes tables in memory"):
            Corpus.read(made)
    with pytest.raises(CorpusError, match=r"Corpus\.from_table takes tables"):
        Corpus.from_texts(frame)


def test_columns_of_data_frames_are_texts_labels_and_ids():
    frame = pd.DataFrame(COLUMNS)
    corpus = Corpus.from_texts(frame["body"].fillna(""), labels=frame["year"], ids=frame["key"])
    assert list(corpus.labels) == ["1960", "1961", "1961", "1960"]
    assert corpus.shape == (4, 2)
    with pytest.raises(CorpusError, match="text 2 is of type"):
        Corpus.from_texts(frame["body"])
    with pytest.raises(CorpusError, match="document 1: the label is missing"):
        Corpus.from_texts(["x", "y"], labels=pd.Series(["a", None]))
