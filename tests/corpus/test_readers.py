import csv
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from laconic.corpus import CorpusError
from laconic.reading import Document, read_documents


def write(folder, name, content, encoding="utf-8"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def read(path, **options):
    return list(read_documents(path, **options))


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".JSONL"])
def test_jsonl(tmp_path, suffix):
    rows = [{"body": "Füße 日本", "year": 1960, "key": "a"}, {"body": None, "year": True, "key": 7.5}]
    lines = [json.dumps(rows[0], ensure_ascii=False), "", "  \r", json.dumps(rows[1])]
    path = write(tmp_path, "fish" + suffix, "\n".join(lines))
    assert read(path, text="body", label="year", id="key") == [
        Document("Füße 日本", "1960", "a"),
        Document("", "True", "7.5"),
    ]
    assert [document.id for document in read(path, text="body")] == ["0", "1"]
    assert [document.label for document in read(path, text="body")] == [None, None]


def test_jsonl_lines_end_at_newlines_only(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "one\u2028two\x85three\\nfour\\u0000"}\r\n{"text": ""}')
    assert [document.text for document in read(path)] == ["one\u2028two\x85three\nfour\0", ""]


def test_numbers_of_any_size_are_labels_and_ids(tmp_path):
    number = "9" * 400
    path = write(tmp_path, "a.jsonl", f'{{"text": "red", "n": {number}}}\n')
    assert read(path, label="n", id="n") == [Document("red", number, number)]


def test_half_a_character_in_json_is_replaced(tmp_path):
    path = write(tmp_path, "a.jsonl", r'{"text": "fish \ud83d", "id": "\ud83d\udc1f"}')
    assert read(path, id="id") == [Document("fish \ufffd", None, "🐟")]
    with pytest.raises(CorpusError, match=r"line 1: the id 'x.udc1f' is not valid Unicode"):
        read(write(tmp_path, "b.jsonl", r'{"text": "fish", "id": "x\udc1f"}'), id="id")


def test_csv(tmp_path):
    content = 'id,text,label\r\n1,"red, ""fish""\r\nand bird",a\r\n\r\n2,,b\r\n3,nul\0 日本,007\r\n'
    assert read(write(tmp_path, "fish.csv", content), label="label", id="id") == [
        Document('red, "fish"\r\nand bird', "a", "1"),
        Document("", "b", "2"),
        Document("nul\0 日本", "007", "3"),
    ]


def test_csv_with_old_line_ends(tmp_path):
    assert [document.text for document in read(write(tmp_path, "a.csv", "text\rone\rtwo"))] == ["one", "two"]


def test_csv_fields_may_be_large(tmp_path):
    before = csv.field_size_limit(131_072)
    try:
        path = write(tmp_path, "a.csv", 'text,b\n"' + "fish " * 100_000 + '",1\n')
        assert len(read(path)[0].text) == 500_000
    finally:
        csv.field_size_limit(before)


def test_folder(tmp_path):
    for name in (
        "b/two.txt",
        "b/c/deep.txt",
        "a/one.TXT",
        "a.b/x.y.txt",
        "a/skip.md",
        ".git/no.txt",
        "b/.no.txt",
    ):
        write(tmp_path, name, "text of " + name)
    assert read(tmp_path) == [
        Document("text of a.b/x.y.txt", None, "a.b/x.y"),
        Document("text of a/one.TXT", None, "a/one"),
        Document("text of b/c/deep.txt", None, "b/c/deep"),
        Document("text of b/two.txt", None, "b/two"),
    ]
    assert [document.label for document in read(tmp_path, label="folder")] == ["a.b", "a", "c", "b"]


def test_files_directly_in_a_folder(tmp_path):
    write(tmp_path, "a.txt", "one\r\ntwo")
    assert read(tmp_path) == [Document("one\r\ntwo", None, "a")]
    with pytest.raises(CorpusError, match=r"a\.txt: is not in a sub-folder"):
        read(tmp_path, label="folder")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_byte_order_marks_are_skipped(tmp_path, encoding):
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"
    jsonl = write(tmp_path, "a.jsonl", mark + '{"text": "füße"}\n', encoding)
    table = write(tmp_path, "a.csv", mark + '"text",b\nfüße,1\n', encoding)
    folder = write(tmp_path, "folder/a.txt", mark + "füße", encoding).parent
    for path in (jsonl, table, folder):
        assert read(path, encoding=encoding)[0].text == "füße"
        if encoding == "utf-8-sig":
            assert read(path)[0].text == "füße"


def test_encodings(tmp_path):
    path = write(tmp_path, "a.csv", "text\nfüße\n", "latin-1")
    assert read(path, encoding="latin-1")[0].text == "füße"
    for encoding in ("no-such", "rot13", "utf\0", None):
        with pytest.raises(CorpusError, match="not an encoding that Python knows"):
            read_documents(path, encoding=encoding)


def test_reading_is_lazy_and_paths_are_checked_at_once(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "one"}\nbroken')
    documents = read_documents(path)
    assert next(documents).text == "one"
    with pytest.raises(CorpusError, match=r"a\.jsonl, line 2: not JSON"):
        next(documents)
    with pytest.raises(CorpusError, match=r"nowhere\.csv does not exist"):
        read_documents(tmp_path / "nowhere.csv")
    with pytest.raises(
        CorpusError, match=r"suffix '\.xls', .* \.jsonl, \.ndjson, \.json, \.csv, .* and folders of \.txt"
    ):
        read_documents(write(tmp_path, "a.xls", ""))


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.jsonl", "", {}, r"a\.jsonl has no documents"),
        ("a.jsonl", "\n \n", {}, r"a\.jsonl has no documents"),
        (
            "a.jsonl",
            '{"text": "x"}\n\n{"text": "x"',
            {},
            "line 3: not JSON .* every line must be one JSON object",
        ),
        ("a.jsonl", "[" * 100_000, {}, "line 1: not JSON"),
        ("a.jsonl", '{"text": "x", "n": ' + "1" * 5000 + "}", {}, "line 1: not JSON"),
        ("a.jsonl", "[1]", {}, "line 1: a JSON list; every line must be one JSON object"),
        ("a.jsonl", "null", {}, "line 1: a JSON null"),
        ("a.jsonl", '{"body": "x", "b": 1}', {}, "line 1: no column 'text'; there are: 'body', 'b'"),
        ("a.jsonl", "{}", {}, "line 1: no column 'text'; there are: none"),
        ("a.jsonl", '{"text": "x", "y": 1}\n{"text": "x"}', {"label": "y"}, "line 2: no column 'y'"),
        ("a.jsonl", '{"text": {"a": 7}}', {}, "line 1: the text is of type dict; it must be a string"),
        ("a.jsonl", '{"text": [7]}', {}, "line 1: the text is of type list"),
        ("a.jsonl", '{"text": "x", "y": null}', {"label": "y"}, "line 1: the label is missing"),
        ("a.jsonl", '{"text": "x", "y": NaN}', {"label": "y"}, "line 1: the label is missing"),
        ("a.jsonl", '{"text": "x", "y": ""}', {"label": "y"}, "line 1: the label is missing"),
        (
            "a.jsonl",
            '{"text": "x", "y": []}',
            {"label": "y"},
            "line 1: the label must be a string or a number",
        ),
        ("a.jsonl", '{"text": "x", "y": null}', {"id": "y"}, "line 1: the id is missing"),
        (
            "a.jsonl",
            '{"text": "x", "y": 1}\n{"text": "x", "y": 2}\n{"text": "x", "y": "1"}',
            {"id": "y"},
            "line 3: the id '1' is already that of line 1",
        ),
        (
            "a.jsonl",
            b'{"text": "x"}\n{"text": "f\xfc"}\n',
            {},
            "line 2: bytes that are not valid utf-8; set the right",
        ),
        (
            "a.jsonl",
            b'{"text": "x"}\0',
            {"encoding": "utf-16-le"},
            "bytes that are not valid utf-16-le|not JSON",
        ),
        (
            "a.jsonl",
            b"\x00\xd8a\x00a",
            {"encoding": "utf-16-le"},
            "line 1: bytes that are not valid utf-16-le",
        ),
        ("a.csv", "", {}, r"a\.csv is empty; a CSV file must start with a row of column names"),
        ("a.csv", "\n\n", {}, r"a\.csv is empty"),
        ("a.csv", "text\n", {}, r"a\.csv has no documents"),
        ("a.csv", "body;b\nx;y", {}, "line 1: no column 'text'; there are: 'body;b'"),
        ("a.csv", ",".join("abcdefghijklmnopqrstuvwxyz"), {}, r"'s', 't', \.\.\. \(text says which\)$"),
        ("a.csv", "text,text\nx,y", {}, "line 1: two columns are named 'text'"),
        ("a.csv", 'text,b\n"x\ny",1\nx\n', {}, "line 4: 1 fields, but the header has 2"),
        ("a.csv", "text,b\nx,1,2\n", {}, "line 2: 3 fields, but the header has 2; .* in double quotes"),
        ("a.csv", 'text,b\nx,1\n"x,2\nx,3\n', {}, "line 3: not CSV .unexpected end of data"),
        ("a.csv", 'text,b\n"x"y,1\n', {}, "line 2: not CSV"),
        ("a.csv", "text,b\nx,\n", {"label": "b"}, "line 2: the label is missing"),
        ("a.csv", "text,b\nx,1\ny,1\n", {"id": "b"}, "line 3: the id '1' is already that of line 2"),
        ("a.csv", b"text\nx\nf\xfc\n", {}, "line 3: bytes that are not valid utf-8"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, content, options, message):
    path = write(tmp_path, name, content)
    with pytest.raises(CorpusError, match=message) as raised:
        read(path, **options)
    assert str(path) in str(raised.value)


def test_folders_that_cannot_be_used(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=r"empty has no \.txt files"):
        read(tmp_path / "empty")
    file = write(tmp_path, "bad/a.txt", b"x\n\xff")
    with pytest.raises(CorpusError, match=r"a\.txt, line 2: bytes that are not valid utf-8"):
        read(file.parent)
    for option in ({"text": "body"}, {"id": "key"}, {"label": "year"}):
        with pytest.raises(CorpusError, match="a folder, which has no columns"):
            read(file.parent, **option)
    write(tmp_path, "twice/a.TXT", "x")
    write(tmp_path, "twice/a.txt", "x")
    if len(list((tmp_path / "twice").iterdir())) == 2:  # not so where names have no case
        with pytest.raises(CorpusError, match=r"a\.txt: the id 'a' is already that of .*a\.TXT"):
            read(tmp_path / "twice")


def rows_or_corpus_error(name, content, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            rows = read(path, **options)
        except CorpusError as error:
            message = str(error)
            return str(path) in message
    for row in rows:
        row.text.encode()
    return 0 < len(rows) == len({row.id for row in rows})


PIECES = st.sampled_from(
    b'{"text": | " | } | { | null | 1e999 | [ | , | - | \\u | d800 | text | fish | {"text":"x"} | text,id '
    b"| \n | \r |   | \0 | \xff | \xef\xbb\xbf | \xc3\xbc | \xe2\x80\xa8".split(b" | ")
)
CONTENT = st.binary(max_size=60) | st.lists(PIECES, max_size=12).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(CONTENT, st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-7"]), st.booleans())
@example(b'{"text":"\\ud800"}', "utf-8", False)
@example(b'{"text":"+2AA-"}', "utf-7", False)
def test_any_bytes_as_jsonl(content, encoding, keyed):
    assert rows_or_corpus_error("a.jsonl", content, encoding=encoding, id="id" if keyed else None)


@settings(max_examples=300, deadline=None)
@given(CONTENT, st.booleans(), st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-7"]), st.booleans())
def test_any_bytes_as_csv(content, headed, encoding, keyed):
    head = "text,id\n".encode(encoding) if headed else b""
    assert rows_or_corpus_error("a.csv", head + content, encoding=encoding, id="id" if keyed else None)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(min_size=1, max_size=5)), min_size=1, max_size=5))
def test_what_others_write_is_read_back(rows):
    expected = [Document(text, label, str(i)) for i, (text, label) in enumerate(rows)]
    with tempfile.TemporaryDirectory() as folder:
        jsonl, table = Path(folder, "a.jsonl"), Path(folder, "a.csv")
        jsonl.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in rows))
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([("text", "label"), *rows])
        assert read(jsonl, label="label") == expected
        assert read(table, label="label") == expected
