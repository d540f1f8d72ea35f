"""``laconic choose``: a table, a recommendation, pictures and numbers."""

import json

import pytest

from laconic import load
from laconic.steering import Choice


def run(laconic, jsonl, *options, code=0):
    given = ("--text", "body", "-k", "2,3,6", "--runs", 2, "--words", 8)
    return laconic("choose", jsonl, *given, *options, code=code)


def test_table_and_reason(laconic, jsonl, tmp_path):
    done = run(laconic, jsonl, "-o", tmp_path / "choice.json")
    lines = done.stdout.splitlines()
    assert lines[0].split() == [
        "topics", "held-out", "coherence", "redundancy", "stability", "return", "overall",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[2:]] == ["2", "3", "6"]
    choice = Choice.from_dict(json.loads((tmp_path / "choice.json").read_text()))
    assert choice.reason in done.stderr
    assert all(warning in done.stderr for warning in choice.warnings)
    chosen = next(line for line in lines if line.split()[0] == str(choice.recommended))
    assert chosen.endswith("*")


def test_json_and_pictures(laconic, jsonl, tmp_path):
    printed = json.loads(run(laconic, jsonl, "--json", "-o", tmp_path / "choice.svg").stdout)
    run(laconic, jsonl, "-o", tmp_path / "choice.html")
    picture = Choice.from_dict(printed).to_svg()
    assert (tmp_path / "choice.svg").read_text() == picture
    page = (tmp_path / "choice.html").read_text()
    assert page.startswith("<!doctype html>")
    assert picture in page


def test_what_was_found_is_kept_in_a_model(laconic, jsonl, tmp_path):
    laconic("fit", jsonl, "--text", "body", "-k", 3, "-o", tmp_path / "model")
    done = run(laconic, jsonl, "--into", tmp_path / "model", "-o", tmp_path / "choice.json")
    assert "kept in" in done.stderr
    choice = Choice.from_dict(json.loads((tmp_path / "choice.json").read_text()))
    assert load(tmp_path / "model").chosen == choice.record()
    done = run(laconic, jsonl, "--into", tmp_path / "nowhere", code=1)
    assert "does not exist" in done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-k", "2,x"], "not a list of whole numbers"),
        (["-k", "2"], "two numbers or more"),
        (["-k", "0,2"], "whole number of at least 1"),
        (["-o", "choice.png"], "suffix"),
        (["--model", "graph-plsa"], "links"),
        (["--runs", "1"], "--runs"),
    ],
)
def test_usage(laconic, jsonl, options, why):
    done = laconic("choose", jsonl, "--text", "body", *options, code=2)
    assert why in " ".join(done.stderr.replace("│", " ").split())
