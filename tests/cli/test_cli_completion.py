"""What the Tab key completes, asked for as a shell does."""

import os
import subprocess
import sys

import pytest
from cli_documents import write_csv, write_jsonl, write_lines, write_parquet
from typer.testing import CliRunner

from laconic.cli import completion
from laconic.cli.app import app
from laconic.corpus import CorpusError
from laconic.reading.columns import columns_of


def asked(line):
    """What a shell's environment says to the command, to be told how to go on with a line."""
    words = line.split(" ")
    return {"_LACONIC_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


def completed(line):
    """The words that bash is offered for the last word of a line."""
    result = CliRunner().invoke(app, [], prog_name="laconic", env=asked(line))
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("laconic tr", ["transform", "translate"]),
        ("laconic fit --dry", ["--dry-run"]),
        ("laconic fit a.csv --model g", ["group-rlsi", "group-nmf", "graph-plsa"]),
        ("laconic fit a.csv --prior pa", ["pareto:"]),
        ("laconic fit a.csv --divergence ti", ["tied"]),
        ("laconic fit a.csv --text-", ["--text-NAME"]),
        ("laconic fit a.csv --text-de ", ["body", "key", "kind"]),
        ("laconic fit a.csv --text-de body --text-en ke", ["key"]),
        ("laconic fit a.csv --text-de body --label ki", ["kind"]),
        ("laconic translate model a.csv --text-de bo", ["body"]),
        ("laconic fit a.csv --stemmer en", ["english"]),
        ("laconic fit a.csv --stop-words ger", ["german"]),
        ("laconic fit a.csv --weighting l", ["log-entropy"]),
        ("laconic fit a.csv --text ", ["body", "key", "kind"]),
        ("laconic transform model a.csv --id ke", ["key"]),
        ("laconic fit no.csv --text ", []),
        ("laconic fit broken.csv.gz --text ", []),
    ],
)
def test_completion(rows, tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "a.csv", rows)
    write_lines(tmp_path / "broken.csv.gz", ["text"])
    assert completed(line) == words


def test_completion_in_a_process_as_a_shell_starts_it(rows, tmp_path):
    write_csv(tmp_path / "a.csv", rows)
    result = subprocess.run(
        [sys.executable, "-m", "laconic"],
        env={**os.environ, **asked("laconic fit a.csv --text ")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == ["body", "key", "kind"]


def test_the_script_for_a_shell():
    result = CliRunner().invoke(app, [], prog_name="laconic", env={"_LACONIC_COMPLETE": "source_bash"})
    assert "complete -o default -F _laconic_completion laconic" in result.stdout


def test_columns_of_every_table(rows, tmp_path):
    expected = ["body", "kind", "key"]
    assert columns_of(write_csv(tmp_path / "a.csv", rows)) == expected
    assert columns_of(write_jsonl(tmp_path / "a.jsonl", rows)) == expected
    assert columns_of(write_parquet(tmp_path / "a.parquet", rows)) == expected
    assert columns_of(write_lines(tmp_path / "b.csv", ["body;kind"]), delimiter=";") == ["body", "kind"]
    assert columns_of(write_lines(tmp_path / "a.txt", ["red fish"])) == []
    assert columns_of(write_lines(tmp_path / "list.jsonl", ["[1]"])) == []
    for name in ("no.jsonl", "no.parquet"):
        with pytest.raises(CorpusError, match=name):
            columns_of(write_lines(tmp_path / name, ["{"]))


def test_languages_without_their_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    monkeypatch.setitem(sys.modules, "stop_words", None)
    assert completion.stemmer_languages("") == completion.stop_word_languages("") == []
