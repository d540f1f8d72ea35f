"""What goes in and comes out: standard input and output, Excel, columns that are kept, predicted classes."""

import csv
import io
import json

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest
from cli_documents import write_csv, write_jsonl
from typer.testing import CliRunner

from laconic import load
from laconic.cli.app import app

NEW = [
    {"key": "a", "body": "clutch gear motor", "author": "Ann", "year": 1999},
    {"key": "b", "body": "mango apple pear", "author": None, "year": 2001},
    {"key": "c", "body": "apple motor", "author": "=SUM(A1)", "year": 2002},
]


@pytest.fixture(scope="module")
def classes(jsonl, tmp_path_factory):
    """A model of the classes that the labels are."""
    path = tmp_path_factory.mktemp("models") / "classes"
    arguments = ["fit", jsonl, "--text", "body", "--label", "kind", "--model", "group-rlsi"]
    arguments += ["--shared", 1, "--per-class", 1, "-o", path]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.stderr
    return path


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_of_the_input_are_kept(laconic, saved, tmp_path):
    new = write_jsonl(tmp_path / "new.jsonl", NEW)
    out = tmp_path / "w.parquet"
    laconic("transform", saved, new, "--text", "body", "--id", "key", "--keep", "author,year", "-o", out)
    table = pq.read_table(out)
    assert table.column_names[:4] == ["id", "author", "year", "topic0"]
    assert table["author"].to_pylist() == ["Ann", None, "=SUM(A1)"]
    assert table["year"].to_pylist() == [1999, 2001, 2002]
    # the order of columns is that of the words typed, and ids are there once
    typed = ("--keep", "year", "--keep", "key", "--keep", "author")
    printed = laconic("transform", saved, new, "--text", "body", "--id", "key", *typed, "-o", "-").stdout
    assert printed.splitlines()[0].startswith("id,year,author,topic0")
    missing = laconic("transform", saved, new, "--text", "body", "--keep", "autor", "-o", out, code=1).stderr
    assert "did you mean --keep author?" in " ".join(missing.split())
    plain = tmp_path / "plain.txt"
    plain.write_text("apple\n")
    assert "leave" in laconic("transform", saved, plain, "--keep", "year", "-o", out, code=1).stderr


def test_excel_goes_in_and_comes_out(laconic, saved, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(list(NEW[0]))
    for row in NEW:
        book.active.append([value if value != "=SUM(A1)" else "'=SUM(A1)" for value in row.values()])
    book.save(tmp_path / "new.xlsx")
    out = tmp_path / "w.xlsx"
    arguments = (tmp_path / "new.xlsx", "--text", "body", "--id", "key", "--keep", "author,year")
    laconic("transform", saved, *arguments, "-o", out)
    header, *found = openpyxl.load_workbook(out).active.iter_rows(values_only=True)
    assert header == ("id", "author", "year", "topic0", "topic1", "topic2")
    assert [row[:3] for row in found] == [("a", "Ann", 1999), ("b", None, 2001), ("c", "'=SUM(A1)", 2002)]
    # a text is no formula
    write_jsonl(tmp_path / "new.jsonl", NEW)
    laconic("transform", saved, tmp_path / "new.jsonl", *arguments[1:], "-o", tmp_path / "again.xlsx")
    again = openpyxl.load_workbook(tmp_path / "again.xlsx").active.iter_rows(values_only=True)
    assert list(again)[1:] == found
    weights = load(saved).transform([row["body"] for row in NEW]).toarray()
    np.testing.assert_allclose([row[3:] for row in found], weights, rtol=1e-6)


def test_documents_come_from_standard_input(saved, tmp_path, rows):
    expected = load(saved).model.components_
    table = "body,kind\n" + "".join(f"{row['body']},{row['kind']}\n" for row in rows)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    for typed in (lines, json.dumps(rows), table):
        arguments = [
            "fit",
            "-",
            "--text",
            "body",
            "--label",
            "kind",
            "-k",
            3,
            "--words",
            8,
            "-o",
            tmp_path / "m",
        ]
        result = CliRunner().invoke(app, list(map(str, arguments)), input=typed)
        assert result.exit_code == 0, result.stderr
        assert (load(tmp_path / "m").model.components_ != expected).nnz == 0
    together = ["transform", str(saved), "-", "other.csv", "-o", "-"]
    assert "cannot be combined with other paths" in CliRunner().invoke(app, together, input="x").stderr


def test_weights_go_to_standard_output(laconic, saved, tmp_path):
    new = write_csv(tmp_path / "new.csv", NEW)
    result = laconic("transform", saved, new, "--text", "body", "--id", "key", "-o", "-")
    assert [row["id"] for row in rows_of(result.stdout)] == ["a", "b", "c"]
    assert result.stderr == ""


def test_classes_are_predicted(laconic, classes, saved, tmp_path):
    new = write_jsonl(tmp_path / "new.jsonl", NEW)
    expected = load(classes).predict([row["body"] for row in NEW]).tolist()
    assert expected[:2] == ["cars", "fruit"]
    printed = laconic("predict", classes, new, "--text", "body", "--id", "key", "--keep", "year").stdout
    assert [(row["id"], row["class"], row["year"]) for row in rows_of(printed)] == [
        ("a", expected[0], "1999"),
        ("b", expected[1], "2001"),
        ("c", expected[2], "2002"),
    ]
    out = tmp_path / "w.jsonl"
    laconic("transform", classes, new, "--text", "body", "-o", out)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["class"] for row in found] == expected
    assert all(row["topics"] for row in found)
    refused = laconic("predict", saved, new, "--text", "body", code=1).stderr
    assert "has no classes to predict" in " ".join(refused.split())


def test_documents_without_a_known_word_are_told(laconic, saved, tmp_path):
    new = write_jsonl(tmp_path / "new.jsonl", [{"body": "unheard"}, {"body": "of"}])
    said = laconic("transform", saved, new, "--text", "body", "-o", tmp_path / "w.csv").stderr
    assert "none of 2 documents has a word that the model knows" in " ".join(said.split())
