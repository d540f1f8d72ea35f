"""Measures of topics and of rankings from the command line."""

import json

import numpy as np
import pytest
from cli_documents import THEMES, write_jsonl, write_lines, write_svmlight
from sklearn.preprocessing import normalize

from laconic import Corpus, load
from laconic.evaluate import (
    coherence,
    compare,
    diversity,
    read_run,
    retrieval_scores,
    write_run,
)
from laconic.search import SearchIndex


@pytest.fixture(scope="module")
def documents(saved, rows):
    """The documents as the saved model counts them."""
    vectorizer = load(saved).vectorizer
    counts = vectorizer.count(row["body"] for row in rows)
    kinds, keys = [row["kind"] for row in rows], [row["key"] for row in rows]
    return Corpus(counts, vectorizer, labels=kinds, ids=keys)


@pytest.fixture(scope="module")
def asked(rows, tmp_path_factory):
    """Files of queries about the themes, and of judgements."""
    folder = tmp_path_factory.mktemp("queries")
    queries = {f"{theme}{n}": words[n] for theme, words in THEMES.items() for n in range(4)}
    qrels = {name: {row["key"]: 1 for row in rows if name.startswith(row["kind"])} for name in queries}
    lines = [f"{name} 0 {key} {grade}" for name, grades in qrels.items() for key, grade in grades.items()]
    records = [{"_id": name, "text": text} for name, text in queries.items()]
    write_jsonl(folder / "queries.jsonl", records)
    write_lines(folder / "qrels.txt", lines)
    return folder, queries, qrels


def arguments(folder):
    return ["--queries", folder / "queries.jsonl", "--qrels", folder / "qrels.txt"]


def rows_of(table):
    """The lines of a table, by their first words."""
    cells = [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in table.splitlines()]
    return {row[0]: row[1:] for row in cells if len(row) > 1}


def test_topics(laconic, saved, jsonl, documents):
    result = laconic("evaluate", saved, "--corpus", jsonl, "--text", "body", "--label", "kind", "--id", "key")
    assert "read 90 documents, 3 labels" in result.stderr
    found = rows_of(result.stdout)
    bundle = load(saved)
    topics = bundle.topic_words(100)
    assert found["topics"] == ["3", "3 with words"]
    assert found["words per topic"] == ["8", "median; from 8 to 8"]
    assert found["density"][0] == f"{bundle.model.density_:.2%}"
    assert found["diversity"][0] == f"{diversity(topics):.2%}"
    for name, measure in (("NPMI", "npmi"), ("UMass", "umass"), ("C_v", "c_v")):
        expected = coherence(topics, documents, measure=measure).mean
        assert found[f"coherence {name}"][0] == f"{expected:.4f}"
    assert found["clustering accuracy"][0] == "100.00%"
    assert found["clustering NMI"][0] == "1.0000"
    assert found["classification accuracy"][0] == "100.00%"


def test_json_of_topics(laconic, saved, jsonl, documents):
    reading = ["--corpus", jsonl, "--text", "body", "--label", "kind"]
    found = json.loads(laconic("evaluate", saved, *reading, "--json", "--terms", 3).stdout)
    expected = coherence(load(saved).topic_words(100), documents, n_terms=3)
    assert found["coherence"]["npmi"]["per_topic"] == expected.per_topic.tolist()
    assert found["coherence"]["npmi"]["mean"] == expected.mean
    assert (found["n_topics"], found["n_terms"], found["words"]) == (3, 3, [8, 8.0, 8])
    assert (found["labels"], found["labelled_documents"], found["svm_accuracy"]) == (3, 90, 1.0)


def test_without_documents_there_is_no_coherence(laconic, without_documents):
    result = laconic("evaluate", without_documents)
    assert "name them with --corpus" in result.stderr
    assert "diversity" in result.stdout
    assert "coherence" not in result.stdout


def test_a_saved_corpus_and_counts(laconic, saved, documents, tmp_path):
    """Columns are matched by name."""
    order = np.random.default_rng(0).permutation(documents.shape[1])
    counts = documents.counts[:, order].tocsr()
    shuffled = Corpus.from_counts(counts, documents.vocabulary[order], labels=documents.labels)
    shuffled.save(tmp_path / "corpus")
    write_svmlight(tmp_path / "counts.svm", shuffled.counts, shuffled.labels)
    write_lines(tmp_path / "terms.txt", shuffled.vocabulary)
    counted = [
        "--corpus",
        tmp_path / "counts.svm",
        "--vocabulary",
        tmp_path / "terms.txt",
        "--label",
        "label",
    ]
    found = [
        json.loads(laconic("evaluate", saved, *source, "--json").stdout)
        for source in (["--corpus", tmp_path / "corpus"], counted)
    ]
    assert found[0] == found[1]
    assert (
        found[0]["coherence"]["c_v"]["mean"]
        == coherence(load(saved).topic_words(100), documents, measure="c_v").mean
    )


def test_documents_of_the_index(laconic, saved, documents, asked, tmp_path):
    folder, queries, qrels = asked
    index = SearchIndex(documents, load(saved).model, blend=0.6)
    index.save(tmp_path / "model")
    found = json.loads(laconic("evaluate", tmp_path / "model", "--json").stdout)
    assert found["coherence"]["npmi"]["mean"] == coherence(load(saved).topic_words(100), documents).mean
    ranked = json.loads(laconic("evaluate", tmp_path / "model", *arguments(folder), "--json").stdout)
    expected = retrieval_scores(qrels, index.run(queries), ["AP"]).mean["AP"]
    assert ranked["runs"]["blend 0.6"]["mean"]["AP"] == expected


def test_labels_that_the_model_has_seen_do_not_judge_it(laconic, jsonl, tmp_path):
    fit = ["--text", "body", "--label", "kind", "--model", "group-rlsi", "--shared", 2, "--per-class", 1]
    laconic("fit", jsonl, *fit, "-o", tmp_path / "model")
    reading = ["--corpus", jsonl, "--text", "body", "--label", "kind"]
    result = laconic("evaluate", tmp_path / "model", *reading)
    assert "labels were used to fit this model" in result.stderr
    assert "accuracy" not in result.stdout


def test_labels_of_few_documents(laconic, saved, rows, tmp_path):
    some = [{**row, "kind": "rare" if n < 5 else row["kind"]} for n, row in enumerate(rows)]
    reading = ["--text", "body", "--label", "kind", "--json"]
    path = write_jsonl(tmp_path / "some.jsonl", some)
    found = json.loads(laconic("evaluate", saved, "--corpus", path, *reading).stdout)
    assert (found["labels"], found["labelled_documents"]) == (3, 85)
    alone = write_jsonl(tmp_path / "alone.jsonl", [{**row, "kind": "one"} for row in rows])
    assert "too few documents" in laconic("evaluate", saved, "--corpus", alone, *reading).stderr


def test_linked_documents_keep_the_weights_of_the_fit(laconic, jsonl, documents, tmp_path, monkeypatch):
    fit = ["--text", "body", "--label", "kind", "--model", "graph-plsa", "-k", 3]
    laconic("fit", jsonl, *fit, "--save-corpus", tmp_path / "corpus", "-o", tmp_path / "model")
    judged = []

    def judge(weights, labels, *, random_state):
        judged.append(weights)
        return {"accuracy": 0.5, "nmi": 0.5}

    monkeypatch.setattr("laconic.evaluate.labels.kmeans_scores", judge)
    laconic("evaluate", tmp_path / "model", "--corpus", tmp_path / "corpus")
    assert np.allclose(judged[0], normalize(load(tmp_path / "model").model.weights_))


def test_retrieval(laconic, saved, jsonl, documents, asked, tmp_path):
    folder, queries, qrels = asked
    reading = ["--corpus", jsonl, "--text", "body", "--id", "key"]
    result = laconic(
        "evaluate", saved, *reading, *arguments(folder), "--blend", 0.5, "--run", tmp_path / "blend.trec"
    )
    index = SearchIndex(documents, load(saved).model)
    runs = {
        name: index.run(queries, blend=part)
        for name, part in (("terms", 0), ("topics", 1), ("blend 0.5", 0.5))
    }
    expected = compare(qrels, runs, measures=["AP", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10"])
    found = rows_of(result.stdout)
    assert found["run"] == expected.measures
    for name, *cells in expected.cells():
        assert found[name] == [cell.strip() for cell in cells]
    assert expected.mark("AP", "topics") == "+"
    for note in expected.notes():
        assert note in result.stderr
    assert read_run(tmp_path / "blend.trec") == runs["blend 0.5"]


def test_measures_depth_and_json(laconic, saved, jsonl, asked):
    folder, *_ = asked
    reading = ["--corpus", jsonl, "--text", "body", "--id", "key", "--depth", 2]
    result = laconic("evaluate", saved, *reading, *arguments(folder), "--measure", "P@10", "--json")
    found = json.loads(result.stdout)
    assert found["baseline"] == "terms"
    assert found["runs"]["terms"]["mean"] == {"P@10": pytest.approx(0.2)}
    assert found["runs"]["topics"]["against_baseline"]["P@10"]["p_value"] == 1


def test_rankings_without_a_model(laconic, asked, tmp_path):
    folder, _, qrels = asked
    perfect = {name: dict.fromkeys(grades, 1.0) for name, grades in qrels.items()}
    (tmp_path / "other").mkdir()
    write_run(perfect, tmp_path / "perfect.trec")
    write_run({name: {"nothing": 1.0} for name in list(qrels)[1:]}, tmp_path / "poor.trec")
    write_run({**perfect, "unasked": {"a": 1.0}}, tmp_path / "other" / "poor.trec")
    files = [tmp_path / "perfect.trec", tmp_path / "poor.trec", tmp_path / "other" / "poor.trec"]
    typed = [argument for path in files for argument in ("--run-file", path)]
    result = laconic("evaluate", "--qrels", folder / "qrels.txt", *typed, "--measure", "AP")
    found = rows_of(result.stdout)
    assert found["perfect"] == ["1.0000"]
    assert found[str(files[1])] == ["0.0000-"]
    assert found[str(files[2])] == ["1.0000"]
    assert f"{files[1]}: judged queries without results (they count 0): 1;" in result.stderr
    assert "(they are left out): 1." in result.stderr


def test_rankings_beside_a_model(laconic, saved, jsonl, asked, tmp_path):
    folder, _, qrels = asked
    write_run({name: dict.fromkeys(grades, 1.0) for name, grades in qrels.items()}, tmp_path / "topics.trec")
    reading = ["--corpus", jsonl, "--text", "body", "--id", "key", "--run-file", tmp_path / "topics.trec"]
    found = json.loads(laconic("evaluate", saved, *reading, *arguments(folder), "--json").stdout)
    assert list(found["runs"])[:2] == ["terms", "topics"]
    assert found["runs"][str(tmp_path / "topics.trec")]["mean"]["AP"] == 1


def test_a_file_called_like_a_ranking_of_the_model(laconic, saved, jsonl, asked, tmp_path, monkeypatch):
    folder, _, qrels = asked
    monkeypatch.chdir(tmp_path)
    write_run({name: {"nothing": 1.0} for name in qrels}, "terms")
    reading = ["--corpus", jsonl, "--text", "body", "--id", "key", "--run-file", "terms"]
    found = json.loads(laconic("evaluate", saved, *reading, *arguments(folder), "--json").stdout)
    assert found["runs"]["terms"]["mean"]["AP"] > 0
    assert found["runs"]["./terms"]["mean"]["AP"] == 0


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([], "name a saved model, or rankings"),
        (["--queries", "q"], "name a saved model"),
        (["--run-file", "r"], "name the file of the judgements"),
        (["--run-file", "r", "--queries", "q"], "queries are for a model"),
        (["--run-file", "r", "--qrels", "q", "--corpus", "c"], "documents are for a model"),
        (
            ["--run-file", "r", "--run-file", "./r", "--qrels", "q"],
            "r is named twice; name every ranking once",
        ),
        (["DIR", "--queries", "q"], "name the file of the judgements"),
        (["DIR", "--qrels", "q"], "give --queries or --run-file"),
        (["DIR", "--qrels", "q", "--run-file", "r"], "give --queries"),
        (["DIR", "--run", "r"], "no ranking without --queries"),
        (["DIR", "--queries", "laconic:x", "--run", "no/r"], "there is no directory no"),
        (["DIR", "--queries", "laconic:x", "--run", "r.gz"], "leave .gz out"),
        (["DIR", "--text", "body"], "--text needs documents"),
    ],
)
def test_wrong_usage(laconic, saved, typed, message):
    typed = [saved if argument == "DIR" else argument for argument in typed]
    result = laconic("evaluate", *typed, code=2)
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_names_of_documents(laconic, saved, jsonl, asked, tmp_path):
    folder, *_ = asked
    reading = ["--corpus", jsonl, "--text", "body"]
    stderr = laconic("evaluate", saved, *reading, *arguments(folder), code=1).stderr
    assert "none in common; name the column of the ids with --id" in stderr
    numbered = write_lines(tmp_path / "numbered.txt", ["fruit0 0 1 1", "fruit0 0 90 1"])
    typed = ["--queries", folder / "queries.jsonl", "--qrels", numbered]
    stderr = laconic("evaluate", saved, *reading, *typed).stderr
    assert "1 of 2 judged documents are not in the collection" in stderr
    assert "numbered from 0" in stderr


def test_errors(laconic, saved, without_documents, jsonl, asked, tmp_path):
    folder, *_ = asked
    failed = laconic("evaluate", without_documents, *arguments(folder), code=1)
    assert "has no documents to search" in failed.stderr
    broken = write_lines(tmp_path / "broken.txt", ["q 0 d 1", "q 0 d"])
    files = ["--queries", folder / "queries.jsonl", "--qrels", broken]
    stderr = laconic("evaluate", saved, "--corpus", jsonl, *files, code=1).stderr
    assert f"{broken}, line 2: 3 columns" in stderr
    typed = ["--qrels", folder / "qrels.txt", "--run-file", broken, "--measure", "AP"]
    assert f"{broken}, line 1: 4 columns; a run has" in laconic("evaluate", *typed, code=1).stderr
    write_run({"fruit0": {"doc-1": 1.0}}, tmp_path / "a.trec")
    typed = ["--qrels", folder / "qrels.txt", "--run-file", tmp_path / "a.trec", "--measure", "map"]
    assert "'map' is not a measure of trec_eval" in laconic("evaluate", *typed, code=1).stderr
    other = Corpus.from_counts([[1, 2]], ["hic", "haec"])
    other.save(tmp_path / "other")
    stderr = laconic("evaluate", saved, "--corpus", tmp_path / "other", code=1).stderr
    assert "none in common" in stderr
    load(saved).model.save(tmp_path / "bare")
    assert "without a vocabulary" in laconic("evaluate", tmp_path / "bare", code=1).stderr


def test_models_of_several_modalities_are_refused(laconic, rows, tmp_path):
    pairs = write_jsonl(tmp_path / "pairs.jsonl", [{"a": row["body"], "b": row["body"]} for row in rows])
    laconic(
        "fit",
        pairs,
        "--model",
        "multimodal-plsa",
        "--text-a",
        "a",
        "--text-b",
        "b",
        "-k",
        3,
        "-o",
        tmp_path / "m",
    )
    assert "is a model with several modalities (a, b)" in laconic("evaluate", tmp_path / "m", code=1).stderr
