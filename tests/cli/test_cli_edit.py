"""``laconic edit``."""

import csv

import pytest

from laconic import load


@pytest.fixture
def model(saved, tmp_path):
    load(saved).save(tmp_path / "model")
    return tmp_path / "model"


def test_steps_log_and_undo(laconic, model, jsonl, tmp_path):
    first = load(model).version
    done = laconic("edit", model, "merge", 0, 2, "+", "rename", 0, "all", "of", "it")
    assert "done: merge 0 2" in done.stderr
    found = load(model)
    assert found.names == ["all of it", None, None]
    assert [line.split()[0] for line in done.stdout.splitlines() if line.split()[0].isdecimal()] == ["0", "1"]
    laconic("transform", model, jsonl, "--text", "body", "-o", tmp_path / "weights.csv")
    with (tmp_path / "weights.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["id", "topic0 all of it", "topic1"]
    log = laconic("edit", model, "--log").stdout.splitlines()
    assert log == [f"{first}: merge 0 2 + rename 0 all of it", f"{found.version}: now"]
    assert first in laconic("edit", model, "--undo").stderr
    assert load(model).version == first
    assert "nothing to undo" in laconic("edit", model, "--undo", code=1).stderr


def test_prune_and_parent(laconic, model):
    first = load(model).version
    laconic("edit", model, "drop", 1, "--parent", first)
    assert "by now" in laconic("edit", model, "drop", 2, "--parent", first, code=1).stderr
    assert "1 version" in laconic("edit", model, "--prune").stderr
    assert laconic("edit", model, "--log").stdout.splitlines()[0].startswith(f"{first} (not kept): drop 1")


def test_reduce(laconic, model):
    laconic("edit", model, "reduce", 2)
    assert len(load(model).notes.living) == 2
    assert "to how many" in laconic("edit", model, "reduce", code=2).stderr


def test_words(laconic, model):
    word = load(model).topic_words(1)[1][0][0]
    laconic("edit", model, "forbid", 1, word, "--keep", "anchored")
    assert word not in dict(load(model).topic_words(None)[1])
    laconic("edit", model, "seed", word)
    assert load(model).topic_words(1)[3][0][0] == word


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "say what to do"),
        (["--undo", "--log"], "say what to do"),
        (["paint", "3"], "no step"),
        (["merge", "0", "1", "+"], "no step"),
        (["rename"], "which topic"),
        (["split", "0", "1", "2"], "split one topic"),
        (["merge", "0"], "two topics or more"),
        (["drop", "nobody"], "no topic 'nobody'"),
        (["drop", "0", "--keep", "well"], "not one of frozen, anchored"),
    ],
)
def test_usage(laconic, model, arguments, why):
    told = laconic("edit", model, *arguments, code=2).stderr.replace("│", " ")
    assert why in " ".join(told.split())
