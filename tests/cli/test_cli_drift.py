"""``laconic drift``."""

import json

import pytest
from cli_documents import THEMES, documents, write_jsonl
from typer.testing import CliRunner

from laconic import load
from laconic.cli.app import app

NEW = {"violin": "guitar", "cello": "banjo", "flute": "ukulele"}


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """A model of documents of two years; music has other instruments in the second."""
    rows = documents(120)
    for number, row in enumerate(rows):
        row["day"] = "1999-03-01" if number < 60 else "2000-03-01"
        if number >= 60:
            row["body"] = " ".join(NEW.get(word, word) for word in row["body"].split())
    folder = tmp_path_factory.mktemp("dated")
    path = write_jsonl(folder / "texts.jsonl", rows)
    given = ["fit", path, "--text", "body", "--date", "day", "-k", 3, "--words", 20, "-o", folder / "model"]
    result = CliRunner().invoke(app, [str(argument) for argument in given])
    assert result.exit_code == 0, result.stderr
    return folder / "model"


def music(model):
    words = load(model).topic_words(20)
    return next(k for k, topic in enumerate(words) if "oboe" in dict(topic))


def test_table(laconic, dated):
    before = {path.name: path.read_bytes() for path in dated.rglob("*") if path.is_file()}
    done = laconic("drift", dated, "-n", 8)
    first = done.stdout.split("topic")[1]
    assert first.startswith(f" {music(dated)}, moved by 0.")
    rows = [line for line in first.splitlines() if line.split()[:1] in (["1999"], ["2000"])]
    assert len(rows) == 2
    assert all(new in rows[1] for new in NEW.values())
    assert not any(new in rows[0] for new in NEW.values())
    assert {path.name: path.read_bytes() for path in dated.rglob("*") if path.is_file()} == before


def test_one_topic(laconic, dated):
    done = laconic("drift", dated, "--topic", 0)
    assert done.stdout.count("moved by") == 1
    found = json.loads(laconic("drift", dated, "--topic", music(dated), "-n", 8, "--json").stdout)
    (course,) = found["topics"]
    assert course["topic"] == music(dated)
    assert set(course["moments"][1]["gained"]) == set(NEW.values())
    assert set(course["moments"][1]["lost"]) == set(NEW) <= set(THEMES["music"])


def test_usage(laconic, dated, saved, without_documents):
    assert "--by" in laconic("drift", dated, "--by", "fortnight", code=2).stderr
    assert "--topic" in laconic("drift", dated, "--topic", 9, code=2).stderr
    assert "fit the model with --date" in laconic("drift", saved, code=1).stderr
    assert "without its documents" in laconic("drift", without_documents, code=1).stderr
