import json
import shutil

import numpy as np
import pytest
from cli_documents import write_jsonl

from laconic import SearchIndex
from laconic.reading.rankings import read_run


@pytest.fixture
def model(saved, tmp_path):
    """A model of its own, so that each test may add an index to it."""
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def indexed(laconic, model, jsonl):
    laconic("search", model, "--corpus", jsonl, "--text", "body", "--id", "key", "--label", "kind")
    return model


def test_the_documents_are_named_once(laconic, model, jsonl, rows):
    first = laconic(
        "search", model, "violin and cello", "--corpus", jsonl, "--text", "body", "--id", "key", "-k", 5
    )
    assert "read 90 documents" in first.stderr
    assert f"90 documents saved with {model}; from now on, these are searched" in first.stderr
    again = laconic("search", model, "violin", "and", "cello", "-k", 5)
    assert again.stdout == first.stdout
    assert again.stderr == ""
    header, _, *lines = first.stdout.splitlines()
    assert header.split() == ["rank", "score", "words", "topics", "document", "text"]
    assert [line.split()[0] for line in lines] == list("12345")
    kinds = {row["key"]: row["kind"] for row in rows}
    assert {kinds[line.split()[4]] for line in lines} == {"music"}


def test_an_index_can_be_made_without_a_query(laconic, indexed):
    index = SearchIndex.load(indexed)
    assert index.n_documents == 90
    assert index.texts is not None


def test_what_was_found_as_json(laconic, indexed):
    shown = json.loads(laconic("search", indexed, "größe", "--json", "-k", 3).stdout)
    found = SearchIndex.load(indexed).search("größe", 3)
    assert shown["query"] == "größe"
    assert shown["documents"] == 90
    assert [hit["id"] for hit in shown["hits"]] == found.ids
    assert [hit["score"] for hit in shown["hits"]] == found.scores
    start, stop = shown["hits"][0]["snippet"]["matches"][0]
    assert shown["hits"][0]["snippet"]["text"][start:stop] == "größe"
    assert "topics" not in shown["hits"][0]


def test_explanations(laconic, indexed):
    shown = laconic("search", indexed, "violin", "--explain", "-k", 2, "--blend", 0.5).stdout
    assert shown.count("= 0.5 x topics") == 2
    assert "term violin: " in shown
    assert "topic " in shown
    hit = json.loads(laconic("search", indexed, "violin", "--explain", "--json", "-k", 1).stdout)["hits"][0]
    assert hit["terms"][0]["term"] == "violin"
    assert sum(part["contribution"] for part in hit["topics"]) == pytest.approx(hit["topic_score"], abs=1e-5)


def test_the_blend_may_be_chosen(laconic, indexed):
    alone = json.loads(laconic("search", indexed, "violin", "--blend", 0, "--json", "-k", 90).stdout)
    topics = json.loads(laconic("search", indexed, "violin", "--blend", 1, "--json", "-k", 90).stdout)
    assert all(hit["term_score"] > 0 for hit in alone["hits"])
    assert len(topics["hits"]) > 0
    assert any(hit["term_score"] == 0 for hit in topics["hits"])
    assert "--blend" in laconic("search", indexed, "violin", "--blend", 1.5, code=2).stderr


def test_nothing_is_found(laconic, indexed):
    result = laconic("search", indexed, "unheardof")
    assert result.stdout == ""
    assert result.stderr.strip() == "no word of the query is in the vocabulary of the model"
    for empty in ("", " "):
        assert "the query is empty" in laconic("search", indexed, empty).stderr
    assert json.loads(laconic("search", indexed, "", "--json").stdout)["hits"] == []


def test_texts_need_not_be_kept(laconic, model, jsonl):
    shown = laconic("search", model, "violin", "--corpus", jsonl, "--text", "body", "--no-texts").stdout
    assert "text" not in shown.splitlines()[0]
    assert SearchIndex.load(model).texts is None


def test_a_saved_corpus(laconic, jsonl, tmp_path):
    laconic("fit", jsonl, "--text", "body", "-k", 3, "--save-corpus", tmp_path / "c", "-o", tmp_path / "m")
    own = laconic("search", tmp_path / "m", "violin").stdout
    assert laconic("search", tmp_path / "m", "violin", "--corpus", tmp_path / "c").stdout == own
    assert own.splitlines()[0].split() == ["rank", "score", "words", "topics", "document", "text"]


def test_a_model_of_several_modalities(laconic, rows, tmp_path):
    pairs = write_jsonl(tmp_path / "pairs.jsonl", [{"a": row["body"], "b": row["body"]} for row in rows])
    model = tmp_path / "m"
    laconic(
        "fit", pairs, "--model", "multimodal-plsa", "--text-de", "a", "--text-en", "b", "-k", 3, "-o", model
    )  # fmt: skip
    wrong = laconic("search", model, "violin", "--corpus", pairs, code=2).stderr
    assert "say which one the column holds" in " ".join(wrong.split())
    two = laconic("search", model, "violin", "--corpus", pairs, "--text-de", "a", "--text-en", "b", code=2)
    assert "only one modality can be searched" in " ".join(two.stderr.split())
    assert "one with --modality" in " ".join(laconic("search", model, "violin", code=2).stderr.split())
    own = laconic("search", model, "violin", "--modality", "en").stdout
    assert "violin" in own
    assert "has no modality" in laconic("search", model, "violin", "--modality", "fr", code=1).stderr
    first = laconic("search", model, "violin", "--corpus", pairs, "--text-en", "b").stdout
    assert laconic("search", model, "violin", "--modality", "en").stdout == first


def test_a_model_without_documents_says_how_to_name_them(laconic, without_documents):
    error = laconic("search", without_documents, "violin", code=1).stderr
    said = f"has no documents to search; add them once with laconic search {without_documents} --corpus FILE"
    assert said in error


def test_a_model_is_searched_with_the_documents_of_its_own_fit(laconic, indexed, jsonl, rows):
    laconic("fit", jsonl, "--text", "body", "--id", "key", "-k", 2, "-o", indexed)
    found = json.loads(laconic("search", indexed, "violin", "--json").stdout)["hits"]
    kinds = {row["key"]: row["kind"] for row in rows}
    assert {kinds[hit["id"]] for hit in found} == {"music"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to search for"),
        (["violin", "--text", "body"], "--text needs documents: name them"),
        (["violin", "-k", "0"], "Invalid value for"),
        (["violin", "--query-vectors", "q.npy"], "the documents have no vectors"),
        (["violin", "--vector-blend", "0.3"], "the documents have no vectors"),
        (["--similar", "x", "--query-vectors", "q.npy"], "is about a QUERY, or --queries"),
    ],
)
def test_usage(laconic, saved, arguments, message):
    assert message in " ".join(laconic("search", saved, *arguments, code=2).stderr.split())


def test_a_model_that_is_not_there(laconic, tmp_path):
    assert "does not exist" in laconic("search", tmp_path / "nothing", "violin", code=1).stderr


def test_only_documents_with_a_label_or_like_another(laconic, indexed):
    found = json.loads(laconic("search", indexed, "apple motor", "--only-label", "fruit", "--json").stdout)
    assert found["hits"]
    assert {hit["label"] for hit in found["hits"]} == {"fruit"}
    like = json.loads(laconic("search", indexed, "--similar", "doc-0", "-k", 3, "--json").stdout)
    assert [hit["id"] for hit in like["hits"]] == SearchIndex.load(indexed).similar("doc-0", 3).ids
    assert "no dates to choose by" in laconic("search", indexed, "apple", "--since", "2026", code=1).stderr


def test_documents_are_added_replaced_and_removed(laconic, indexed, tmp_path):
    new = [{"key": "doc-0", "body": "mango mango pear"}, {"key": "new", "body": "mango quince"}]
    path = write_jsonl(tmp_path / "new.jsonl", new)
    said = laconic(
        "search", indexed, "--add", path, "--text", "body", "--id", "key", "--remove", "doc-5"
    ).stderr
    assert "1 document removed, 1 document added, 1 document replaced: 90 documents in" in " ".join(
        said.split()
    )
    found = SearchIndex.load(indexed).search("mango", 90).ids
    assert {"doc-0", "new"} <= set(found)
    assert "doc-5" not in SearchIndex.load(indexed).ids
    assert "no document 'doc-5'" in laconic("search", indexed, "--remove", "doc-5", code=1).stderr
    assert "--id" in laconic("search", indexed, "--add", path, "--text", "body", code=2).stderr


def test_added_documents_keep_their_dates(laconic, tmp_path):
    rows = [{"key": n, "body": f"{w} apple", "day": f"2025-0{n + 1}-01"} for n, w in enumerate(["pear"] * 4)]
    options = "--text", "body", "--id", "key", "--date", "day"
    path = write_jsonl(tmp_path / "first.jsonl", rows)
    laconic("fit", path, *options, "-k", 2, "--min-df", 1, "--max-df", 1.0, "-o", tmp_path / "model")
    new = write_jsonl(tmp_path / "new.jsonl", [{"key": "new", "body": "pear", "day": "2026-03-01"}])
    laconic("search", tmp_path / "model", "--add", new, *options)
    assert SearchIndex.load(tmp_path / "model").search("pear", since="2026").ids == ["new"]


def test_many_queries_are_answered_and_tuned_by(laconic, indexed, tmp_path):
    queries, qrels, run = tmp_path / "q.tsv", tmp_path / "qrels.tsv", tmp_path / "run.txt"
    queries.write_text("q1\tmango apple\nq2\tviolin cello\n")
    laconic("search", indexed, "--queries", queries, "--run", run, "-k", 7)
    expected = SearchIndex.load(indexed).run({"q1": "mango apple", "q2": "violin cello"}, 7)
    assert read_run(run) == {name: pytest.approx(scores) for name, scores in expected.items()}
    qrels.write_text("q1 0 doc-2 1\nq2 0 doc-1 1\n")
    said = laconic("search", indexed, "--tune", "--queries", queries, "--qrels", qrels).stderr
    assert "mean average precision" in said
    assert f"blend {SearchIndex.load(indexed).blend:g}," in said
    assert "--queries" in laconic("search", indexed, "--run", run, code=2).stderr
    assert "--qrels" in laconic("search", indexed, "--tune", "--queries", queries, code=2).stderr


def test_documents_without_texts_are_told(laconic, jsonl, model, tmp_path):
    laconic(
        "fit", jsonl, "--text", "body", "--no-texts", "--save-corpus", tmp_path / "c", "-o", tmp_path / "m"
    )
    said = laconic("search", model, "--corpus", tmp_path / "c").stderr
    assert "counts but no texts, so no excerpts will be shown" in " ".join(said.split())


def test_vectors_of_your_own_are_saved_and_searched(laconic, indexed, tmp_path):
    rng = np.random.default_rng(0)
    vectors, asked = rng.normal(size=(90, 4)), rng.normal(size=(2, 4))
    for name, array in (("docs", vectors), ("both", asked), ("one", asked[0])):
        np.save(tmp_path / f"{name}.npy", array)
    said = laconic("search", indexed, "--vectors", tmp_path / "docs.npy", "--vector-blend", 0.4).stderr
    assert "vectors of 90 documents (4 numbers each) saved with" in " ".join(said.split())
    index = SearchIndex.load(indexed)
    assert index.vector_blend == 0.4
    one = ["--query-vectors", tmp_path / "one.npy"]
    found = json.loads(laconic("search", indexed, "violin", *one, "--json").stdout)
    expected = index.search("violin", vector=asked[0])
    assert [hit["id"] for hit in found["hits"]] == expected.ids
    assert [hit["vector_score"] for hit in found["hits"]] == [hit.vector_score for hit in expected]
    assert found["vector_blend"] == 0.4
    # the table, and why
    shown = laconic("search", indexed, "violin", *one, "--explain", "-k", 2, "--vector-blend", 0.9).stdout
    assert shown.split()[:5] == ["rank", "score", "words", "topics", "vectors"]
    assert shown.count("= 0.9 x vectors") == 2
    # many queries, tuned, too
    queries, qrels, run = tmp_path / "q.tsv", tmp_path / "qrels.tsv", tmp_path / "run.txt"
    queries.write_text("q1\tmango apple\nq2\tviolin cello\n")
    qrels.write_text("q1 0 doc-2 1\nq2 0 doc-1 1\n")
    both = ["--queries", queries, "--query-vectors", tmp_path / "both.npy"]
    laconic("search", indexed, *both, "--run", run, "-k", 7)
    texts = {"q1": "mango apple", "q2": "violin cello"}
    expected = index.run(texts, 7, vectors=asked)
    assert read_run(run) == {name: pytest.approx(scores) for name, scores in expected.items()}
    said = laconic("search", indexed, *both, "--tune", "--qrels", qrels).stderr
    tuned = SearchIndex.load(indexed)
    assert f"blend {tuned.blend:g}, vectors {tuned.vector_blend:g}, k1" in said
    # without a vector, words and topics find as before, and it is said
    words = laconic("search", indexed, "violin", "--json")
    assert "without --query-vectors, only words and topics count" in " ".join(words.stderr.split())
    assert {hit["vector_score"] for hit in json.loads(words.stdout)["hits"]} == {None}
    assert "2 rows for one query" in " ".join(
        laconic("search", indexed, "x", "--query-vectors", tmp_path / "both.npy", code=2).stderr.split()
    )


def test_vectors_follow_documents_that_are_added_and_removed(laconic, indexed, tmp_path):
    np.save(tmp_path / "docs.npy", np.eye(90, 3, dtype=np.float32))
    np.save(tmp_path / "new.npy", np.ones((1, 3), np.float32))
    laconic("search", indexed, "--vectors", tmp_path / "docs.npy")
    path = write_jsonl(tmp_path / "new.jsonl", [{"key": "new", "body": "mango quince"}])
    added = ["search", indexed, "--add", path, "--text", "body", "--id", "key", "--remove", "doc-5"]
    assert "give --vectors" in laconic(*added, code=1).stderr
    laconic(*added, "--vectors", tmp_path / "new.npy")
    vectors = SearchIndex.load(indexed).documents.vectors
    assert vectors.shape == (90, 3)
    assert vectors[-1].tolist() == [1, 1, 1]
    np.save(tmp_path / "few.npy", np.ones((7, 3)))
    said = laconic("search", indexed, "--vectors", tmp_path / "few.npy", code=1).stderr
    assert "--vectors must be one row of numbers for each of 90 documents" in " ".join(said.split())
