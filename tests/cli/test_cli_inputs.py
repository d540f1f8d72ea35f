"""Every kind of input of `fit`: formats of texts, several files, counts and saved corpora."""

import gzip
import re

import numpy as np
import pytest
from cli_documents import (
    documents,
    write_csv,
    write_docword,
    write_jsonl,
    write_lines,
    write_matrix_market,
    write_parquet,
    write_svmlight,
)

from laconic import Corpus, load
from laconic.corpus import Reading


@pytest.fixture
def fit(laconic, tmp_path):
    """Fit three topics; gives what was said, and the saved bundle."""

    def run(*arguments):
        result = laconic("fit", *arguments, "-k", 3, "--words", 8, "-o", tmp_path / "m")
        return result.stderr, load(tmp_path / "m")

    return run


def same_topics(bundle, other):
    ours, theirs = bundle.model.components_, other.model.components_
    return ours.shape == theirs.shape and (ours != theirs).nnz == 0


def compressed(path):
    target = path.with_name(f"{path.name}.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


@pytest.mark.parametrize("kind", ["csv", "tsv", "semicolons", "parquet", "txt", "jsonl.gz"])
def test_texts_of_every_format_give_the_same_topics(fit, rows, saved, tmp_path, kind):
    options = ["--text", "body"]
    if kind == "csv":
        path = write_csv(tmp_path / "t.csv", rows)
    elif kind == "tsv":
        path = write_lines(tmp_path / "t.tsv", ["body\tkind", *(f"{r['body']}\t{r['kind']}" for r in rows)])
    elif kind == "semicolons":
        path = write_lines(tmp_path / "t.csv", ["kind;body", *(f"{r['kind']};{r['body']}" for r in rows)])
        options += ["--delimiter", ";"]
    elif kind == "parquet":
        path = write_parquet(tmp_path / "t.parquet", rows)
    elif kind == "txt":
        path, options = write_lines(tmp_path / "t.txt", [row["body"] for row in rows]), []
    else:
        path = compressed(write_jsonl(tmp_path / "t.jsonl", rows))
    said, bundle = fit(path, *options)
    assert same_topics(bundle, load(saved))
    assert said.startswith("read 90 documents, ")


def test_a_tab_can_be_typed(fit, rows, saved, tmp_path):
    lines = ["body\tkind", *(f"{row['body']}\t{row['kind']}" for row in rows)]
    said, bundle = fit(write_lines(tmp_path / "t.csv", lines), "--text", "body", "--delimiter", r"\t")
    assert same_topics(bundle, load(saved))
    assert r"NEW-FILE --text body --delimiter '\t' -o weights.parquet" in said


@pytest.mark.parametrize("how", ["names", "pattern"])
def test_several_files_are_one_collection(fit, rows, saved, tmp_path, how):
    (tmp_path / "parts").mkdir()
    files = [
        write_jsonl(tmp_path / "parts" / "a.jsonl", rows[:30]),
        compressed(write_jsonl(tmp_path / "parts" / "b.jsonl", rows[30:60])),
        write_csv(tmp_path / "parts" / "c.csv", rows[60:]),
    ]
    (tmp_path / "parts" / "b.jsonl").unlink()
    paths = files if how == "names" else [tmp_path / "parts" / "[a-c].*"]
    _, bundle = fit(*paths, "--text", "body", "--label", "kind")
    assert same_topics(bundle, load(saved))


@pytest.mark.parametrize("kind", ["svm", "mtx", "docword", "corpus"])
def test_counts_of_every_format_give_the_same_topics(laconic, fit, corpus, saved, tmp_path, kind):
    vocabulary = write_lines(tmp_path / "terms.txt", corpus.vocabulary)
    options = ["--vocabulary", vocabulary]
    if kind == "svm":
        path = write_svmlight(tmp_path / "c.svm", corpus.counts, corpus.labels)
        options += ["--label", "label"]
    elif kind == "mtx":
        path = compressed(write_matrix_market(tmp_path / "c.mtx", corpus.counts))
    elif kind == "docword":
        path, options = write_docword(tmp_path / "docword.toy.txt", corpus.counts), []
        vocabulary.rename(tmp_path / "vocab.toy.txt")
    else:
        path, options = tmp_path / "saved-corpus", []
        corpus.save(path)
    said, bundle = fit(path, *options)
    assert same_topics(bundle, load(saved))
    assert list(bundle.vocabulary) == list(corpus.vocabulary)
    labels = "3 labels, " if kind in ("svm", "corpus") else ""
    total = int(corpus.counts.sum())
    assert said.startswith(f"read 90 documents, {labels}{total:,} tokens; 24 terms\n")
    assert bundle.topic_words(1)[0][0][0] in laconic("topics", tmp_path / "m").stdout


def test_the_weighting_of_counts_can_be_chosen(fit, corpus, tmp_path):
    path = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
    _, bundle = fit(path, "--weighting", "log-entropy")
    assert bundle.vectorizer.weighting == "log-entropy"
    assert list(bundle.vocabulary) == [str(number + 1) for number in range(24)]


def test_a_saved_corpus_is_where_the_next_fit_starts(fit, jsonl, tmp_path, corpus):
    options = ["--text", "body", "--label", "kind"]
    said, first = fit(jsonl, *options, "--save-corpus", tmp_path / "c")
    assert f"corpus saved to {tmp_path / 'c'}; `laconic fit {tmp_path / 'c'}` starts from it\n" in said
    assert np.array_equal(Corpus.load(tmp_path / "c").counts.toarray(), corpus.counts.toarray())
    said, second = fit(tmp_path / "c")
    assert same_topics(first, second)
    assert second.vectorizer.to_dict() == first.vectorizer.to_dict()
    assert "3 labels" in said


def test_where_a_corpus_cannot_be_saved_is_refused_before_the_work(
    laconic, jsonl, saved, tmp_path, monkeypatch
):
    monkeypatch.setattr(Corpus, "read", None)
    monkeypatch.setenv("COLUMNS", "300")
    fit = ["fit", jsonl, "-o", tmp_path / "m", "--save-corpus"]
    assert "holds no laconic corpus" in laconic(*fit, saved, code=1).stderr
    assert "the model is saved to" in laconic(*fit, tmp_path / "m", code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_several_columns_of_text_are_joined(fit, rows, saved, tmp_path):
    halves = [{"title": row["body"][:20], "body": row["body"][20:]} for row in rows]
    wholes = [{"body": f"{half['title']} {half['body']}"} for half in halves]
    _, joined = fit(write_jsonl(tmp_path / "a.jsonl", halves), "--text", "title", "--text", "body")
    _, whole = fit(write_jsonl(tmp_path / "b.jsonl", wholes), "--text", "body")
    assert same_topics(joined, whole)


def test_rows_that_cannot_be_used_are_left_out_and_told(fit, rows, saved, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", rows)
    with path.open("a") as file:
        file.write('no json\n{"body": {"a": 3}}\n[]\n{"text": "x"}\n')
    said, bundle = fit(path, "--text", "body", "--on-error", "skip")
    assert same_topics(bundle, load(saved))
    lines = said.splitlines()
    assert lines[1] == "laconic: warning: 4 of 94 rows could not be used and were skipped:"
    assert lines[2].startswith(f"  {path}, line 91: not JSON")
    assert lines[3].startswith(f"  {path}, line 92: the text is of type")
    assert lines[5] == "  and 1 more"


def test_what_was_read_has_a_public_name():
    assert Reading((), 0, 0, ()).n_rows == 0


def test_large_collections_are_told_in_millions(fit, tmp_path):
    path = write_lines(tmp_path / "c.mtx", ["%%MatrixMarket matrix coordinate integer general", "3 2 3"])
    with path.open("a") as file:
        file.write("1 1 1234567\n2 2 7\n3 1 1\n")
    said, _ = fit(path)
    assert re.match(r"read 3 documents, 1\.2 million tokens; 2 terms\n", said)


def test_documents_without_terms_are_told(fit, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", [*documents(), {"body": "", "kind": "x"}])
    said, _ = fit(path, "--text", "body", "--max-features", 20)
    assert "; the 20 most frequent); 1 document without any kept term\n" in said
