"""Every kind of input of `transform`: several files, rows left out, and counts matched by their terms."""

import numpy as np
import pyarrow.parquet as pq
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
from laconic.bundle import reading
from laconic.engines.shards import ROWS_PER_BLOCK


@pytest.fixture(scope="module")
def new():
    return documents(40, seed=1)


@pytest.fixture(scope="module")
def counted(new):
    """Counts of the new documents, with terms in an order of their own, one of them unknown to the model."""
    corpus = Corpus.from_texts([row["body"] for row in new], min_df=1, max_df=1.0, stop_words=["thing"])
    order = np.random.default_rng(0).permutation(corpus.shape[1])
    terms = corpus.vocabulary[order]
    return Corpus.from_counts(corpus.counts[:, order], terms, labels=[row["kind"] for row in new])


@pytest.fixture
def run(laconic, saved, tmp_path):
    """Transform; gives what was said, the ids and the weights."""

    def transformed(*arguments, model=saved):
        output = tmp_path / "out.parquet"
        said = laconic("transform", model, *arguments, "-o", output).stderr
        table = pq.read_table(output)
        weights = np.column_stack([table[name].to_numpy() for name in table.column_names[1:]])
        return said, table["id"].to_pylist(), weights

    return transformed


def test_several_files_have_running_ids(run, saved, new, tmp_path):
    write_jsonl(tmp_path / "a.jsonl", new[:10])
    write_parquet(tmp_path / "b.parquet", new[10:25])
    write_csv(tmp_path / "c.csv", new[25:])
    _, ids, weights = run(tmp_path / "[abc].*", "--text", "body")
    assert ids == [str(number) for number in range(40)]
    assert np.array_equal(weights, load(saved).transform([row["body"] for row in new]).toarray())


def test_rows_that_cannot_be_used_are_left_out_and_told(run, saved, new, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", new)
    with path.open("a") as file:
        file.write("no json\n")
    said, ids, weights = run(path, "--text", "body", "--on-error", "skip")
    assert len(ids) == 40
    assert np.array_equal(weights, load(saved).transform([row["body"] for row in new]).toarray())
    assert "laconic: warning: 1 of 41 rows could not be used and was skipped:\n" in said
    assert f"  {path}, line 41: not JSON" in said


def test_a_delimiter(run, new, tmp_path):
    path = write_lines(tmp_path / "a.csv", ["kind;body", *(f"{row['kind']};{row['body']}" for row in new)])
    _, ids, weights = run(path, "--text", "body", "--delimiter", ";")
    assert len(ids) == len(weights) == 40


@pytest.mark.parametrize("kind", ["svm", "mtx", "docword", "corpus"])
def test_counts_are_matched_by_their_terms(run, saved, counted, tmp_path, kind):
    bundle = load(saved)
    known = {term: column for column, term in enumerate(counted.vocabulary)}
    counts = np.zeros((40, len(bundle.vocabulary)), np.float32)
    for column, term in enumerate(bundle.vocabulary):
        if term in known:
            counts[:, column] = counted.counts.toarray()[:, known[term]]
    expected = bundle.model.transform(bundle.vectorizer.weigh(counts)).toarray()

    vocabulary = write_lines(tmp_path / "terms.txt", counted.vocabulary)
    options = ["--vocabulary", vocabulary]
    if kind == "svm":
        path = write_svmlight(tmp_path / "c.svm", counted.counts, counted.labels)
    elif kind == "mtx":
        path = write_matrix_market(tmp_path / "c.mtx", counted.counts)
    elif kind == "docword":
        path, options = write_docword(tmp_path / "docword.c.txt", counted.counts), []
        vocabulary.rename(tmp_path / "vocab.c.txt")
    else:
        path, options = tmp_path / "corpus", []
        Corpus(counted.counts, counted.vectorizer, ids=[f"n{number}" for number in range(40)]).save(path)
    said, ids, weights = run(path, *options)
    assert ids == [f"{'n' if kind == 'corpus' else ''}{number}" for number in range(40)]
    assert np.array_equal(weights, expected)
    assert expected.any()
    n_unknown = len(set(counted.vocabulary) - set(bundle.vocabulary))
    assert n_unknown > 0
    terms = len(counted.vocabulary)
    assert f"{n_unknown} of {terms} terms ignored, because the model does not know them\n" in said


def test_counts_without_terms_fit_a_model_without_terms(laconic, run, counted, corpus, tmp_path):
    path = write_matrix_market(tmp_path / "c.mtx", corpus.counts)
    laconic("fit", path, "-k", 3, "-o", tmp_path / "numbered")
    said, _, weights = run(path, model=tmp_path / "numbered")
    assert np.array_equal(weights, load(tmp_path / "numbered").model.transform(corpus.X).toarray())
    assert said == f"90 documents written to {tmp_path / 'out.parquet'}\n"
    assert "words are shown as column numbers" not in laconic("topics", tmp_path / "numbered").stderr


def test_parts_of_counts_are_the_whole_to_the_bit(run, tmp_path, monkeypatch):
    corpus = Corpus.from_texts([row["body"] for row in documents(2 * ROWS_PER_BLOCK + 100, seed=2)])
    corpus.save(tmp_path / "corpus")
    _, _, whole = run(tmp_path / "corpus")
    monkeypatch.setattr(reading, "BATCH", ROWS_PER_BLOCK)
    _, ids, parts = run(tmp_path / "corpus")
    assert np.array_equal(whole, parts)
    assert ids == corpus.ids.tolist()


def test_refusals(laconic, saved, counted, tmp_path):
    path = write_matrix_market(tmp_path / "c.mtx", counted.counts)
    output = tmp_path / "w.csv"

    def refused(*arguments):
        error = laconic("transform", saved, *arguments, "-o", output, code=1).stderr
        assert error.count("\n") == 1
        assert not output.exists()
        return error

    message = refused(path)
    assert (
        f"{path} has terms such as '1', '2', '3', and the model such as 'apple', 'axle', 'brake'" in message
    )
    assert "none in common; name its terms with --vocabulary" in message
    assert "holds counts, not texts: leave --text and --id out" in refused(path, "--text", "x", "--id", "y")
    short = write_lines(tmp_path / "short.txt", ["apple"])
    assert "but the vocabulary has 1; give the vocabulary" in refused(path, "--vocabulary", short)
    texts = write_lines(tmp_path / "a.txt", ["apple"])
    assert "holds texts, whose vocabulary is found in them" in refused(texts, "--vocabulary", short)
    assert "only one such file can be read" in refused(texts, path)
    assert "no file matches" in refused(tmp_path / "no*.csv")


def test_no_input_is_overwritten(laconic, saved, new, tmp_path):
    first, second = write_csv(tmp_path / "a.csv", new), write_csv(tmp_path / "b.csv", new)
    result = laconic("transform", saved, first, second, "--text", "body", "-o", second, code=1)
    assert "is the file of the documents" in result.stderr
    assert second.read_bytes() == first.read_bytes()
