"""JSON arrays, keys within others, several columns of a text, Excel, and columns that are mistyped."""

import datetime
import json
import sys

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic import Corpus, CorpusError
from laconic.reading import jsonl, read_documents
from laconic.reading.columns import columns_of

ROWS = [
    {"id": 7, "meta": {"title": "Red", "body": "red fish", "year": 1960}},
    {"id": 8, "meta": {"title": None, "body": "blue fish", "year": 1961}},
    {"id": 9, "meta": {"title": "Bird", "body": None, "year": 1962}},
]


def texts(path, **options):
    return [document.text for document in read_documents(path, **options)]


@pytest.fixture(params=["a.json", "a.jsonl", "a.parquet"])
def nested(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        lines = [json.dumps(row) for row in ROWS]
        path.write_text("\n".join(lines) if path.suffix == ".jsonl" else json.dumps(ROWS, indent=2))
    return path


def test_keys_within_others_are_columns(nested):
    found = list(read_documents(nested, text="meta.body", label="meta.year", id="id"))
    assert [(one.text, one.label, one.id) for one in found] == [
        ("red fish", "1960", "7"),
        ("blue fish", "1961", "8"),
        ("", "1962", "9"),
    ]
    with pytest.raises(CorpusError, match=r"did you mean text='meta.body'\?"):
        texts(nested, text="meta.bodi")
    if nested.suffix != ".parquet":
        assert columns_of(nested) == ["id", "meta.title", "meta.body", "meta.year"]


def test_several_columns_are_joined(nested):
    assert texts(nested, text=["meta.title", "meta.body"]) == ["Red\n\nred fish", "blue fish", "Bird"]
    corpus = Corpus.read(nested, text=["meta.title", "meta.body"], min_df=1, max_df=1.0)
    assert corpus.vocabulary.tolist() == ["bird", "blue", "fish", "red"]
    with pytest.raises(CorpusError, match=r"no column 'none'; there are: .*\(text says which\)"):
        texts(nested, text=["meta.title", "none"])
    for wrong in ([], [7], 7):
        with pytest.raises(CorpusError, match="text must be the name of a column, or a list of names"):
            texts(nested, text=wrong)


def test_a_key_with_a_dot_comes_before_a_key_within_another(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a.b": "flat", "a": {"b": "deep"}}\n{"a": {"b": "deep"}}\n{"a": null}\n')
    assert texts(path, text="a.b") == ["flat", "deep", ""]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({"text": st.text(max_size=30), "n": st.floats(allow_nan=False)}), min_size=1
    ),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
)
def test_arrays_are_read_the_same_however_they_are_cut(tmp_path_factory, rows, block, indent):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_BLOCK", block)
        assert texts(path) == [row["text"] for row in rows]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "has no documents"),
        ("", "has no documents"),
        ('[{"text": "x"}, {"text"]', "object 2: not JSON"),
        ('[{"text": "x"}', "object 2: the array does not end"),
        ('[{"text": "x"} {"text": "y"}]', "object 2: the array does not end"),
        ("[1]", "object 1: a JSON int; there must be objects"),
        ('[{"txt": "x"}]', r"object 1: no column 'text'; did you mean text='txt'\? there are: 'txt'"),
    ],
)
def test_json_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(CorpusError, match=message):
        texts(path)


def test_json_lines_by_the_name_of_json_are_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"text": "x"}\n{"text": ["red", "fish"]}\n{"text": 7}\n')
    assert texts(path) == ["x", "red fish", "7"]


def test_a_mistyped_column_does_not_advise_to_skip_every_row(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"Body": "x", "year": 1}\n{"Body": "y"}\n')
    with pytest.raises(CorpusError, match=r"did you mean text='Body'\?") as raised:
        texts(path, text="body")
    assert "on_error" not in str(raised.value)
    # what only some rows lack is another matter
    with pytest.raises(CorpusError, match=r"line 2: no column 'year'.*on_error='skip' skips such rows"):
        texts(path, text="Body", label="year")


def test_excel_is_read(tmp_path):
    book = openpyxl.Workbook()
    for row in (
        ["title", "body", "day", None],
        ["Red", "red fish", datetime.datetime(2026, 11, 17), None],
        [None, None, None, None],
        ["Number", 1984, None, None],
    ):
        book.active.append(row)
    path = tmp_path / "a.xlsx"
    book.save(path)
    assert columns_of(path) == ["title", "body", "day"]
    found = list(read_documents(path, text="body", label="title", date="day"))
    assert [(one.text, one.label) for one in found] == [("red fish", "Red"), ("1984", "Number")]
    assert str(found[0].date) == "2026-11-17T00:00:00"
    with pytest.raises(CorpusError, match=r"row 1: no column 'bdy'; did you mean text='body'\?"):
        texts(path, text="bdy")
    damaged = tmp_path / "b.xlsx"
    damaged.write_text("no workbook")
    with pytest.raises(CorpusError, match=r"b\.xlsx is damaged, truncated, or not what its suffix says"):
        texts(damaged)


def test_excel_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"")
    with pytest.raises(CorpusError, match=r'pip install "laconic\[excel\]"'):
        texts(path)
