"""Group models, NMF and Sparse LSA from the command line."""

from __future__ import annotations

import csv
import json

import pytest

from laconic import SparseLSA, load

CLASSES = {"sea": "salt wave ship harbour", "sky": "cloud wing rain storm"}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Two classes with words of their own and words that they share."""
    path = tmp_path_factory.mktemp("groups") / "nature.jsonl"
    lines = []
    for label, words in CLASSES.items():
        own = words.split()
        for i in range(12):
            text = f"{own[i % 4]} {own[(i + 1) % 4]} wind {'blue' if i % 2 else 'weather'}"
            lines.append(json.dumps({"text": text, "kind": label}))
    path.write_text("\n".join(lines) + "\n")
    return path


def fit(laconic, documents, output, *arguments, code=0):
    return laconic("fit", documents, "-o", output, "--max-df", "1.0", *arguments, code=code)


@pytest.mark.parametrize("model", ["group-rlsi", "group-nmf"])
def test_topics_are_listed_shared_ones_first_then_by_class(laconic, documents, tmp_path, model):
    made = tmp_path / "model"
    arguments = ("--label", "kind", "--model", model, "--shared", "1", "--per-class", "2")
    printed = fit(laconic, documents, made, *arguments).stdout
    assert printed.index("shared") < printed.index("sea") < printed.index("sky")
    topics = json.loads(laconic("topics", made, "--json").stdout)
    assert [topic["class"] for topic in topics] == ["shared", "sea", "sea", "sky", "sky"]
    for topic in topics[1:]:
        words = {term["term"] for term in topic["terms"] if term["weight"] > 0.05}
        other = "sky" if topic["class"] == "sea" else "sea"
        assert not words & set(CLASSES[other].split())
    rows = list(csv.DictReader(laconic("topics", made, "--csv").stdout.splitlines()))
    assert {row["class"] for row in rows} == {"shared", "sea", "sky"}


def test_weights_have_the_names_of_topics(laconic, documents, tmp_path):
    made = tmp_path / "model"
    fit(
        laconic,
        documents,
        made,
        "--label",
        "kind",
        "--model",
        "group-nmf",
        "--shared",
        "1",
        "--per-class",
        "1",
    )
    laconic("transform", made, documents, "-o", tmp_path / "weights.csv")
    rows = list(csv.DictReader((tmp_path / "weights.csv").read_text().splitlines()))
    assert list(rows[0]) == ["id", "class", "shared0", "sea0", "sky0"]
    assert all(float(row["sky0"]) == 0 for row in rows[:12])
    assert all(float(row["sea0"]) == 0 for row in rows[12:])
    laconic("transform", made, documents, "-o", tmp_path / "weights.jsonl")
    first = json.loads((tmp_path / "weights.jsonl").read_text().splitlines()[0])
    assert set(first["topics"]) <= {"shared0", "sea0"}


def test_classes_come_from_a_saved_corpus_too(laconic, documents, tmp_path):
    corpus = tmp_path / "corpus"
    fit(laconic, documents, tmp_path / "flat", "--label", "kind", "-k", "2", "--save-corpus", corpus)
    printed = laconic("fit", corpus, "--model", "group-rlsi", "--shared", "1", "-o", tmp_path / "m").stdout
    assert "sea" in printed
    unlabelled = tmp_path / "unlabelled"
    fit(laconic, documents, tmp_path / "flat", "-k", "2", "--save-corpus", unlabelled)
    failed = laconic("fit", unlabelled, "--model", "group-rlsi", "-o", tmp_path / "m", code=1)
    assert "these have no labels: read them with --label" in failed.stderr


def test_nmf(laconic, documents, tmp_path):
    printed = fit(laconic, documents, tmp_path / "m", "--model", "nmf", "-k", "3", "--solver", "mu").stderr
    assert "fitted 3 topics" in printed


def test_sparse_lsa(laconic, documents, tmp_path):
    arguments = ("--model", "sparse-lsa", "-k", "2", "--alpha-topics", "0.1")
    assert "fitted 2 topics" in fit(laconic, documents, tmp_path / "m", *arguments).stderr
    model = load(tmp_path / "m").model
    assert model.get_params() == SparseLSA(2, alpha_topics=0.1, nonnegative=True, random_state=0).get_params()
    fit(laconic, documents, tmp_path / "m", *arguments, "--signed", "--tol", "0.01")
    assert load(tmp_path / "m").model.get_params()["nonnegative"] is False


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--model", "sparse-lsa", "--words", "4"), "--words"),
        (("--model", "group-rlsi"), "--label"),
        (("--model", "nmf", "--words", "4"), "--words"),
        (("--model", "rlsi", "--shared", "4"), "--shared"),
        (("--model", "group-nmf", "--label", "kind", "-k", "4"), "--topics"),
        (("--model", "group-nmf", "--label", "kind", "--alpha-shared", "1"), "--alpha-shared"),
    ],
)
def test_options_of_other_models_are_refused_by_name(laconic, documents, tmp_path, arguments, named):
    failed = fit(laconic, documents, tmp_path / "m", *arguments, code=2)
    assert f"for {named}" in failed.stderr
    assert not (tmp_path / "m").exists()


def test_the_plan_of_a_group_model(laconic, documents, tmp_path):
    arguments = ("--label", "kind", "--model", "group-rlsi", "--shared", "3", "--dry-run")
    assert "GroupRLSI: " in fit(laconic, documents, tmp_path / "m", *arguments).stdout
