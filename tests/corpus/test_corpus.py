import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from laconic.corpus import Corpus, CorpusError, Vectorizer

TEXTS = ["red fish blue fish", "one fish", "", "red bird"]


def test_from_texts():
    corpus = Corpus.from_texts(iter(TEXTS), labels=["a", 1, True, 2.5], ids=np.array([3, 1, 4, 5]))
    assert corpus.shape == corpus.X.shape == corpus.counts.shape == (4, 2)
    assert list(corpus.vocabulary) == ["fish", "red"]
    assert list(corpus.labels) == ["a", "1", "True", "2.5"]
    assert list(corpus.ids) == ["3", "1", "4", "5"]
    assert corpus.n_empty == 1
    np.testing.assert_array_equal(corpus.counts.toarray(), [[2, 1], [1, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(corpus.vectorize(TEXTS).toarray(), corpus.X.toarray())
    np.testing.assert_allclose((corpus.X.toarray() ** 2).sum(axis=1), [1, 1, 0, 1], rtol=1e-6)


def test_weights_are_computed_once():
    corpus = Corpus.from_texts(TEXTS)
    assert corpus.X is corpus.X


def test_defaults():
    corpus = Corpus.from_texts(TEXTS)
    assert corpus.labels is None
    assert list(corpus.ids) == ["0", "1", "2", "3"]
    assert corpus.vectorizer.weighting == "log-entropy"


def test_repr():
    assert repr(Corpus.from_texts(TEXTS)) == "Corpus(4 documents x 2 terms, 4 non-zeros, 1 empty document)"
    one = Corpus.from_counts([[3]], ["fish"], labels=["a"])
    assert repr(one) == "Corpus(1 document x 1 term, 1 non-zero, 1 label)"
    many = Corpus.from_counts(sparse.eye_array(1234), [f"w{i}" for i in range(1234)], labels=range(1234))
    assert repr(many) == "Corpus(1,234 documents x 1,234 terms, 1,234 non-zeros, 1,234 labels)"


def test_read(tmp_path):
    path = tmp_path / "fish.csv"
    path.write_text("id,body,colour\n" + "".join(f"d{i},{text},c{i % 2}\n" for i, text in enumerate(TEXTS)))
    corpus = Corpus.read(str(path), text="body", label="colour", id="id", weighting="count")
    assert list(corpus.labels) == ["c0", "c1", "c0", "c1"]
    assert list(corpus.ids) == ["d0", "d1", "d2", "d3"]
    np.testing.assert_array_equal(corpus.X.toarray(), Corpus.from_texts(TEXTS).counts.toarray())
    assert Corpus.read(path, text="body").labels is None
    with pytest.raises(
        CorpusError, match=r"fish\.csv, line 1: no column 'text'; there are: 'id', 'body', 'colour'"
    ):
        Corpus.read(path)


def test_read_folder(tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"c{i % 2}").mkdir(exist_ok=True)
        (tmp_path / f"c{i % 2}" / f"{i}.txt").write_text(text)
    corpus = Corpus.read(tmp_path, label="folder")
    assert list(corpus.ids) == ["c0/0", "c0/2", "c1/1", "c1/3"]
    assert list(corpus.labels) == ["c0", "c0", "c1", "c1"]
    assert corpus.n_empty == 1


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("red fish", {}, r"not one string: write \[text\]"),
        ([], {}, "there are no texts"),
        (TEXTS, {"labels": ["a"]}, "there are 1 labels for 4 documents"),
        (iter(TEXTS), {"labels": ["a"]}, "there are 1 labels for 4 documents"),
        (TEXTS, {"ids": range(5)}, "there are 5 ids for 4 documents"),
        (TEXTS, {"ids": ["a", "b", "c", "b"]}, "documents 1 and 3 have the same id 'b'"),
        (TEXTS, {"ids": [1, "1", 2, 3]}, "documents 0 and 1 have the same id '1'"),
        (TEXTS, {"labels": ["a", "b", None, "c"]}, "document 2: the label is missing"),
        (TEXTS, {"labels": ["a", "b", np.nan, "c"]}, "document 2: the label is missing"),
        (
            TEXTS,
            {"labels": ["a", [], "b", "c"]},
            "document 1: the label must be a string or a number, not list",
        ),
        (TEXTS, {"labels": "abcd"}, "labels must be a list"),
        (TEXTS, {"ids": ["a", "b", "c", "\udc80"]}, "document 3: the id .* is not valid Unicode"),
        (TEXTS, {"min_df": 4}, "lower min_df"),
    ],
)
def test_from_texts_refuses(texts, options, message):
    with pytest.raises(CorpusError, match=message):
        Corpus.from_texts(texts, **options)


def test_options_are_those_of_the_vectorizer():
    with pytest.raises(TypeError, match="stemming"):
        Corpus.from_texts(TEXTS, stemming=True)
    assert Corpus.from_texts(TEXTS, ngram_range=(1, 2), min_df=1).shape[1] > 2


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_from_counts_agrees_with_from_texts(data):
    texts = data.draw(
        st.lists(st.lists(st.sampled_from(["fish", "red bird", "x"]), max_size=4).map(" ".join), min_size=1)
    )
    weighting = data.draw(st.sampled_from(["count", "binary", "tfidf"]))
    sublinear_tf = weighting == "tfidf" and data.draw(st.booleans())
    try:
        corpus = Corpus.from_texts(
            texts, min_df=1, max_df=1.0, weighting=weighting, sublinear_tf=sublinear_tf
        )
    except CorpusError:
        return
    made = data.draw(
        st.sampled_from(
            [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_matrix]
        )
    )
    dtype = data.draw(st.sampled_from([np.int64, np.float64, np.uint8]))
    X = made(corpus.counts.toarray().astype(dtype))
    again = Corpus.from_counts(X, corpus.vocabulary, weighting=weighting, sublinear_tf=sublinear_tf)
    assert again.counts.dtype == np.float32
    assert again.counts.indices.dtype == np.int32
    np.testing.assert_array_equal(again.counts.toarray(), corpus.counts.toarray())
    np.testing.assert_array_equal(again.X.toarray(), corpus.X.toarray())
    np.testing.assert_array_equal(again.vectorize(texts).toarray(), corpus.X.toarray())


def test_from_counts_makes_counts_canonical_and_leaves_the_callers_alone():
    X = sparse.csr_array(
        (np.array([1.0, 2, 0, 4], dtype=np.float32), np.array([1, 1, 0, 0]), np.array([0, 3, 4])),
        shape=(2, 2),
    )
    before = [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    corpus = Corpus.from_counts(X, ["a", "b"], weighting="count")
    np.testing.assert_array_equal(corpus.counts.toarray(), [[0, 3], [4, 0]])
    assert corpus.counts.nnz == 2
    assert corpus.counts.has_canonical_format
    for part, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_from_counts_vectorizes_as_its_vocabulary_tells():
    corpus = Corpus.from_counts(np.eye(3), ["the", "topic model", "fish"], weighting="count")
    np.testing.assert_array_equal(corpus.vectorize(["The topic model"]).toarray(), [[1, 1, 0]])
    corpus = Corpus.from_counts(np.eye(2), ["Fish", "bird"], weighting="count")
    np.testing.assert_array_equal(corpus.vectorize(["Fish fish BIRD"]).toarray(), [[1, 0]])


def damaged():
    X = sparse.csr_array(np.eye(2))
    X.indices[0] = 7
    return X


@pytest.mark.parametrize(
    ("X", "vocabulary", "options", "message"),
    [
        ([1, 2], ["a", "b"], {}, "2 dimensions"),
        (np.zeros((1, 1, 1)), ["a"], {}, "2 dimensions"),
        ([[np.nan, 1]], ["a", "b"], {}, "must be finite"),
        ([[np.inf, 1]], ["a", "b"], {}, "must be finite"),
        ([[1e300, 1]], ["a", "b"], {}, "document 0, column 0: .* too large for float32"),
        ([[-1, 1]], ["a", "b"], {}, "must not be negative"),
        ([["x", "y"]], ["a", "b"], {}, "must be real numbers"),
        ([[1j]], ["a"], {}, "must be real numbers"),
        (damaged(), ["a", "b"], {}, "damaged"),
        ([[1, 1]], ["a"], {}, "2 columns, but the vocabulary has 1 terms"),
        ([[1, 1]], ["a", "a"], {}, "terms 0 and 1 of the vocabulary are the same: 'a'"),
        (np.zeros((0, 1)), ["a"], {}, "there are no documents"),
        (np.zeros((1, 0)), [], {}, "the vocabulary is empty"),
        ([[1]], ["a"], {"labels": []}, "0 labels for 1 documents"),
        ([[1]], ["a"], {"ids": ["x", "y"]}, "2 ids for 1 documents"),
        ([[1]], ["a"], {"weighting": "bm26"}, "weighting must be one of"),
    ],
)
def test_from_counts_refuses(X, vocabulary, options, message):
    with pytest.raises(ValueError, match=message):
        Corpus.from_counts(X, vocabulary, **options)


def test_a_corpus_is_made_again_from_its_parts():
    corpus = Corpus.from_texts(TEXTS, labels=["a", "b", "a", "b"])
    again = Corpus(corpus.counts, corpus.vectorizer, labels=corpus.labels, ids=corpus.ids)
    assert repr(again) == repr(corpus)
    with pytest.raises(CorpusError, match="1 columns, but the vocabulary has 2 terms"):
        Corpus([[1]], corpus.vectorizer)
    with pytest.raises(AttributeError, match="fit_count"):
        Corpus([[1]], Vectorizer())


def test_a_corpus_is_saved_and_loaded(tmp_path):
    corpus = Corpus.from_texts(TEXTS, labels=["a", "b", "a", "b"])
    corpus.save(tmp_path / "corpus")
    for verify in (True, False):
        again = Corpus.load(tmp_path / "corpus", verify=verify)
        assert repr(again) == repr(corpus)
        assert again.reading is None
        np.testing.assert_array_equal(again.X.toarray(), corpus.X.toarray())
