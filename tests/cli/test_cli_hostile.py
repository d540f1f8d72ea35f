"""Inputs and paths that should not cost a fit, or be obeyed by a terminal."""

import os

import pytest
from cli_documents import documents, write_jsonl

from laconic import load

ESCAPE = "\x1b[2J"


@pytest.fixture
def folder(tmp_path, rows):
    texts = tmp_path / "texts"
    texts.mkdir()
    for number, row in enumerate(rows[:60]):
        (texts / f"{number:03}.txt").write_text(row["body"])
    return texts


def test_a_corpus_inside_of_the_model_is_refused_before_the_fit(laconic, jsonl, tmp_path):
    for model, corpus in (("m", "m/corpus"), ("c/m", "c"), ("m", "m")):
        result = laconic(
            "fit", jsonl, "--text", "body", "-o", tmp_path / model, "--save-corpus", tmp_path / corpus, code=2
        )
        assert "--save-corpus" in result.stderr
        assert "read" not in result.stderr
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(os.name == "nt", reason="no links here")
def test_a_link_to_nothing_is_refused_before_the_fit(laconic, jsonl, tmp_path):
    (tmp_path / "m").symlink_to(tmp_path / "nowhere")
    result = laconic("fit", jsonl, "--text", "body", "-o", tmp_path / "m", code=1)
    assert "is a broken link" in " ".join(result.stderr.split())
    assert "documents" not in result.stderr


def test_a_model_among_its_own_texts_is_not_read_as_one(laconic, folder):
    for _ in range(2):
        laconic("fit", folder, "-k", 2, "-o", folder / "m")
        assert len(load(folder / "m").documents) == 60
    # a text that only looks like one of ours is a text
    (folder / "notes-0123456789abcdef.txt").write_text("sun moon")
    laconic("fit", folder, "-k", 2, "-o", folder / "m")
    assert len(load(folder / "m").documents) == 61


def test_nothing_that_was_read_is_obeyed_by_the_terminal(laconic, tmp_path):
    rows = [
        {**row, "kind": f"{row['kind']}{ESCAPE}", "id": f"{n}{ESCAPE}"} for n, row in enumerate(documents())
    ]
    path = write_jsonl(tmp_path / f"a{ESCAPE}.jsonl", rows)
    model = tmp_path / f"m{ESCAPE}"
    said = laconic("fit", path, "--text", "body", "--label", "kind", "--id", "id", "-k", 3, "-o", model)
    commands = [
        said,
        laconic("topics", model),
        laconic("search", model, "sun moon"),
        laconic("evaluate", model),
        laconic("topics", tmp_path / f"none{ESCAPE}", code=1),
    ]
    for one in commands:
        assert "\x1b" not in one.stdout + one.stderr
    assert r"\x1b[2J" in said.stdout
