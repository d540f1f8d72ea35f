"""Models of counts from the command line: plsa and nmf-kl, their priors, and what they are fitted to."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_documents import THEMES, documents, write_jsonl, write_matrix_market

from laconic import NMF, PLSA, Corpus, load
from laconic.bundle import reading
from laconic.engines.shards import ROWS_PER_BLOCK
from laconic.priors import Exponential, Pareto, PseudoDirichlet, as_text, from_text

MODELS = {
    "plsa": PLSA(3, random_state=0),
    "nmf-kl": NMF(3, loss="kl", random_state=0),
}


def fit(laconic, path, output, *arguments, code=0):
    return laconic("fit", path, "--text", "body", "-k", 3, "-o", output, *arguments, code=code)


@pytest.mark.parametrize("name", MODELS)
def test_counts_are_what_is_fitted(laconic, corpus, jsonl, tmp_path, name):
    expected = MODELS[name].fit(corpus.counts)
    result = fit(laconic, jsonl, tmp_path / "m", "--model", name, "--label", "kind")
    bundle = load(tmp_path / "m")
    assert bundle.model.get_params() == expected.get_params()
    assert bundle.model.components_.dtype == np.float32
    assert np.array_equal(bundle.model.components_, expected.components_)
    # each theme has a label of its own, by the weights of the counts
    rows = result.stdout.splitlines()[2:]
    assert {row.split("   ")[-1].split()[0] for row in rows} == set(THEMES)
    assert "distinct words" not in result.stderr
    topics = json.loads(laconic("topics", tmp_path / "m", "--json", "-n", 1).stdout)
    assert [topic["terms"][0]["term"] for topic in topics] == [topic[0][0] for topic in bundle.topic_words(1)]
    texts = ["apple plum", "", "motor diesel gear"]
    counted = bundle.model.transform(corpus.vectorizer.count(texts))
    assert np.array_equal(bundle.transform(texts), counted)


@pytest.mark.parametrize("name", MODELS)
def test_a_corpus_serves_models_of_counts_and_of_weights(laconic, corpus, tmp_path, name):
    corpus.save(tmp_path / "c")
    laconic("fit", tmp_path / "c", "--model", name, "-k", 3, "-o", tmp_path / "m")
    assert np.array_equal(load(tmp_path / "m").model.components_, MODELS[name].fit(corpus.counts).components_)
    laconic("transform", tmp_path / "m", tmp_path / "c", "-o", tmp_path / "w.parquet")
    table = pq.read_table(tmp_path / "w.parquet")
    weights = np.column_stack([table[f"topic{number}"].to_numpy() for number in range(3)])
    assert np.array_equal(weights, MODELS[name].transform(corpus.counts))


def test_counts_of_a_file_stay_counts(laconic, corpus, tmp_path):
    path = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
    laconic("fit", path, "--model", "plsa", "-k", 3, "-o", tmp_path / "m", "--weighting", "count")
    expected = MODELS["plsa"].fit(corpus.counts)
    assert np.array_equal(load(tmp_path / "m").model.components_, expected.components_)


def test_documents_without_words_are_told_as_the_model_has_them(laconic, jsonl, tmp_path):
    new = write_jsonl(tmp_path / "new.jsonl", [{"body": "apple"}, {"body": "unheardof"}])
    for name, said in (("plsa", "all topics have the same weight"), ("nmf-kl", "all weights are zero")):
        fit(laconic, jsonl, tmp_path / name, "--model", name)
        result = laconic("transform", tmp_path / name, new, "--text", "body", "-o", tmp_path / "w.csv")
        assert f"1 document without any known word: {said}\n" in result.stderr
        last = (tmp_path / "w.csv").read_text().splitlines()[-1].split(",")[1:]
        assert len(set(last)) == 1


def test_parts_are_the_whole_to_the_bit(laconic, jsonl, tmp_path, monkeypatch):
    fit(laconic, jsonl, tmp_path / "m", "--model", "plsa", "--prior", "pareto:1")
    source = write_jsonl(tmp_path / "many.jsonl", documents(2 * ROWS_PER_BLOCK + 100, seed=2))
    for name, size in (("whole", reading.BATCH), ("parts", ROWS_PER_BLOCK)):
        monkeypatch.setattr(reading, "BATCH", size)
        laconic("transform", tmp_path / "m", source, "--text", "body", "-o", tmp_path / f"{name}.csv")
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("typed", "prior"),
    [
        ("pareto:2", Pareto(2.0)),
        ("Pareto:0", Pareto(0.0)),
        ("exponential:.5", Exponential(0.5)),
        ("pseudo-dirichlet", PseudoDirichlet()),
        ("pseudo-dirichlet:0.1", PseudoDirichlet(0.1)),
        ("pseudo-dirichlet:0.1:3", PseudoDirichlet(0.1, 3.0)),
        ("pseudo-dirichlet:0.1:3:documents", PseudoDirichlet(0.1, 3.0, "documents")),
    ],
)
def test_priors_as_they_are_typed(typed, prior):
    assert from_text(typed) == prior
    assert from_text(as_text(prior)) == prior


def test_a_prior_makes_documents_of_few_topics(laconic, jsonl, tmp_path):
    result = fit(laconic, jsonl, tmp_path / "m", "--model", "plsa", "--prior", "pseudo-dirichlet:0.02:2")
    model = load(tmp_path / "m").model
    assert model.prior == PseudoDirichlet(0.02, 2.0)
    assert f"{model.doc_density_ * 3:.1f} topics in a document on average" in result.stderr
    assert model.doc_density_ < 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "pareto:2"], "for --prior: --model rlsi does not take --prior; use it with"),
        (
            ["--model", "plsa", "--prior", "laplace:1"],
            "there is no 'laplace'; there are exponential, ",
        ),
        (["--model", "plsa", "--prior", "pareto"], " lacks a number: it should be pareto:SHAPE"),
        (["--model", "plsa", "--prior", "pareto:much"], "is not as pareto:SHAPE: could not convert"),
        (["--model", "plsa", "--prior", "pareto:1:2"], " has too many numbers: it should be pareto:SHAPE"),
        (["--model", "plsa", "--prior", "pareto:-1"], "shape must be a number of at least 0"),
        (["--model", "plsa", "--prior", "pareto:nan"], "shape must be a number of at least 0"),
        (["--model", "plsa", "--prior", "pseudo-dirichlet:0"], "eps must be positive"),
        (["--model", "plsa", "--prior", "pseudo-dirichlet:1:1:all"], "over='all' is not known"),
        (
            ["--model", "plsa", "--prior", "exponential:1"],
            "use --prior pareto:1 or --prior pseudo-dirichlet, or --model nmf-kl",
        ),
        (["--model", "nmf-kl", "--prior", "pseudo-dirichlet:1:1:documents"], "goes with PLSA, not with NMF"),
        (
            ["--model", "plsa", "--weighting", "tfidf"],
            "PLSA is fitted to the counts themselves: leave --weighting",
        ),
        (
            ["--model", "nmf-kl", "--sublinear-tf"],
            "NMF is fitted to the counts themselves: leave --sublinear-tf",
        ),
        (
            ["--model", "graph-plsa", "--solver", "cd"],
            "for --solver: --model graph-plsa does not take --solver",
        ),
        (["--model", "plsa", "--solver", "mu"], "choose one of 'extrapolated', 'em', 'cd'"),
        (
            ["--model", "plsa", "--words", "9"],
            "for --words: --model plsa has no word budget: leave",
        ),
    ],
)
def test_usage_errors_come_before_the_reading(laconic, jsonl, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(Corpus, "read", None)
    result = fit(laconic, jsonl, tmp_path / "m", *arguments, code=2)
    assert message in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "m").exists()


def test_the_plan_counts(laconic, corpus, jsonl, tmp_path):
    shown = fit(laconic, jsonl, tmp_path / "m", "--model", "plsa", "--prior", "pareto:2", "--dry-run").stdout
    assert "english stop words; counted" in shown
    assert "prior Pareto(shape=2.0)" in shown
    assert "weights of terms" not in shown
    path = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
    shown = laconic("fit", path, "--model", "plsa", "--dry-run", "-o", tmp_path / "m").stdout
    assert "terms  all\n" in " ".join(shown.split(" ")).replace("    ", "  ").replace("terms   ", "terms  ")


@pytest.mark.parametrize("name", ["rlsi", "plsa"])
def test_weights_of_the_documents_are_saved_beside_the_model(laconic, rows, jsonl, tmp_path, name):
    out = tmp_path / "w.parquet"
    result = fit(laconic, jsonl, tmp_path / "m", "--model", name, "--id", "key", "--save-weights", out)
    assert f"weights of 90 documents written to {out}\n" in result.stderr
    laconic("transform", tmp_path / "m", jsonl, "--text", "body", "--id", "key", "-o", tmp_path / "t.parquet")
    assert pq.read_table(out).equals(pq.read_table(tmp_path / "t.parquet"))


def test_weights_are_not_written_over_the_documents(laconic, rows, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", rows)
    result = fit(laconic, path, tmp_path / "m", "--save-weights", path, code=1)
    assert "is the file of the documents" in result.stderr
    assert (
        "weights are written as"
        in fit(laconic, path, tmp_path / "m", "--save-weights", "w.xls", code=1).stderr
    )
    assert not (tmp_path / "m").exists()


def test_the_fit_that_needs_more_iterations_says_so(laconic, jsonl, tmp_path):
    result = fit(laconic, jsonl, tmp_path / "m", "--model", "plsa", "--max-iter", 1, "--tol", 0)
    assert "the fit was still improving after 1 iteration: raise --max-iter" in result.stderr
