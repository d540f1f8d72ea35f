import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from laconic.corpus import CorpusError, Vectorizer
from laconic.corpus.vectorizer import TOKEN_PATTERN
from laconic.errors import ParameterError

WORDS = ["the", "The", "fish", "Fish", "füße", "über", "日本語", "c3po", "a", "x1", "don't", "42", "naïve"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=20)
TEXTS = st.lists(TEXT, min_size=1, max_size=8)

OPTIONS = st.fixed_dictionaries(
    {
        "lowercase": st.booleans(),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "min_df": st.sampled_from([1, 2, 0.3]),
        "max_df": st.sampled_from([0.5, 0.9, 1.0, 3]),
        "stop_words": st.sampled_from(["english", None, ["fish", "the"]]),
        "token_pattern": st.sampled_from([TOKEN_PATTERN, r"(?u)\b\w\w+\b", r"(\w)\w*"]),
    }
)


def fitted(texts, **options):
    """Fit, or None where no term is left: the peers refuse these texts too."""
    vectorizer = Vectorizer(**options)
    try:
        return vectorizer, vectorizer.fit_count(texts)
    except CorpusError:
        return vectorizer, None


def assert_canonical(X):
    assert isinstance(X, sparse.csr_array)
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_canonical_format
    assert X.data.all()
    X.check_format(full_check=True)


@settings(max_examples=150, deadline=None)
@given(TEXTS, OPTIONS, TEXTS)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent:UserWarning")
@pytest.mark.filterwarnings("ignore::laconic.errors.InputWarning")
def test_counts_are_those_of_count_vectorizer(texts, options, others):
    vectorizer, counts = fitted(texts, **options)
    peer = CountVectorizer(**options)
    if counts is None:
        with pytest.raises(ValueError, match=r"no terms remain|empty vocabulary|max_df corresponds"):
            peer.fit(texts)
        return
    expected = peer.fit_transform(texts)
    assert list(vectorizer.vocabulary) == list(peer.get_feature_names_out())
    assert_canonical(counts)
    np.testing.assert_array_equal(counts.toarray(), expected.toarray())
    again = vectorizer.count(others)
    assert_canonical(again)
    np.testing.assert_array_equal(again.toarray(), peer.transform(others).toarray())
    np.testing.assert_array_equal(vectorizer.count(texts).toarray(), counts.toarray())


@settings(max_examples=100, deadline=None)
@given(TEXTS, OPTIONS, st.booleans(), TEXTS)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent:UserWarning")
def test_weights_are_those_of_tfidf_vectorizer(texts, options, sublinear_tf, others):
    vectorizer, counts = fitted(texts, weighting="tfidf", sublinear_tf=sublinear_tf, **options)
    if counts is None:
        return
    peer = TfidfVectorizer(sublinear_tf=sublinear_tf, **options)
    expected = peer.fit_transform(texts).toarray()
    np.testing.assert_allclose(vectorizer.idf, peer.idf_, rtol=1e-12)
    X = vectorizer.weigh(counts)
    assert_canonical(X)
    np.testing.assert_allclose(X.toarray(), expected, atol=1e-6)
    np.testing.assert_allclose(
        vectorizer.transform(others).toarray(), peer.transform(others).toarray(), atol=1e-6
    )


@settings(max_examples=50, deadline=None)
@given(TEXTS, st.integers(1, 5))
def test_max_features_keeps_the_most_frequent(texts, limit):
    everything, counts = fitted(texts, min_df=1, max_df=1.0)
    if counts is None:
        return
    vectorizer, fewer = fitted(texts, min_df=1, max_df=1.0, max_features=limit)
    frequency = counts.sum(axis=0)
    ranked = sorted(range(len(frequency)), key=lambda j: (-frequency[j], everything.vocabulary[j]))
    kept = sorted(ranked[:limit])
    assert list(vectorizer.vocabulary) == list(everything.vocabulary[kept])
    np.testing.assert_array_equal(fewer.toarray(), counts.toarray()[:, kept])


def test_count_and_binary_are_not_normalised():
    texts = ["fish fish bird", "fish", ""]
    for weighting, row in (("count", [1, 2]), ("binary", [1, 1])):
        vectorizer = Vectorizer(min_df=1, max_df=1.0, weighting=weighting)
        counts = vectorizer.fit_count(texts)
        assert vectorizer.idf is None
        np.testing.assert_array_equal(vectorizer.weigh(counts).toarray(), [row, [0, 1], [0, 0]])
        np.testing.assert_array_equal(counts.toarray(), [[1, 2], [0, 1], [0, 0]])


def test_weigh_leaves_the_counts_alone():
    vectorizer = Vectorizer(min_df=1, max_df=1.0, weighting="tfidf", sublinear_tf=True)
    counts = vectorizer.fit_count(["fish fish bird", "fish"])
    before = counts.copy()
    X = vectorizer.weigh(counts)
    X.data[:] = 0
    np.testing.assert_array_equal(counts.toarray(), before.toarray())


def test_rows_in_are_rows_out():
    vectorizer = Vectorizer(min_df=1, max_df=1.0)
    vectorizer.fit_count(["fish", "", "the"])
    assert vectorizer.transform([]).shape == (0, 1)
    X = vectorizer.transform(["", "unknown words", "fish"])
    np.testing.assert_array_equal(X.toarray(), [[0], [0], [1]])
    assert vectorizer.transform(["bird"]).nnz == 0


def test_stop_words_never_warn():
    # "don't" is two tokens, neither of them a stop word; scikit-learn warns, and there is nothing to do.
    vectorizer = Vectorizer(stop_words=["don't"], min_df=1, max_df=1.0)
    vectorizer.fit_count(["I don't fish"])
    assert list(vectorizer.vocabulary) == ["don", "fish"]
    Vectorizer(token_pattern=r"\w", min_df=1, max_df=1.0).fit_count(["i am"])


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "there are no texts"),
        (["", " "], {}, "no terms found in 2 texts"),
        (["the", "and"], {}, "change stop_words or token_pattern"),
        (["fish", "bird"], {}, r"lower min_df \(such as min_df=1\) or raise max_df"),
        (["fish", "fish"], {}, r"max_df=0.5 in at most 1"),
        ("fish", {}, r"not one string: write \[text\]"),
        (b"fish", {}, "not one string"),
        (["fish", None], {}, "text 1 is of type NoneType"),
        ([None, "fish"], {}, "text 0 is of type NoneType"),
        (["fish", float("nan")], {}, "text 1 is of type float"),
        ([b"fish"], {}, "text 0 is of type bytes"),
        (["a\nb"], {"token_pattern": r"(?s).+", "min_df": 1, "max_df": 1.0}, "contains a line break"),
        (["a\u2028b"], {"token_pattern": r"\S\s\S", "min_df": 1, "max_df": 1.0}, "contains a line break"),
        (["fish"], {"token_pattern": r"x*", "min_df": 1, "max_df": 1.0}, "matches no empty string"),
        (["\ud800"], {"token_pattern": r"\S", "min_df": 1, "max_df": 1.0}, "not valid Unicode"),
    ],
)
def test_texts_that_cannot_be_used(texts, options, message):
    with pytest.raises(CorpusError, match=message):
        Vectorizer(**options).fit_count(texts)


def test_an_error_of_the_stream_is_not_disguised():
    def stream():
        yield "fish"
        raise ValueError("the network is down")

    with pytest.raises(ValueError, match="the network is down"):
        Vectorizer().fit_count(stream())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("token_pattern", "("),
        ("token_pattern", "(a)(b)"),
        ("token_pattern", None),
        ("lowercase", 1),
        ("ngram_range", (2, 1)),
        ("ngram_range", (0, 1)),
        ("ngram_range", 2),
        ("ngram_range", (1, 1.5)),
        ("min_df", 0),
        ("min_df", True),
        ("min_df", 1.5),
        ("min_df", "2"),
        ("max_df", -0.1),
        ("max_df", float("nan")),
        ("max_features", 0),
        ("max_features", 10.0),
        ("stop_words", "klingon"),
        ("stop_words", "words.txt"),
        ("stemmer", "klingon"),
        ("stemmer", True),
        ("stop_words", [1, 2]),
        ("stop_words", {"the": 1}),
        ("weighting", "bm26"),
        ("weighting", ["tfidf"]),
        ("sublinear_tf", None),
    ],
)
def test_wrong_options_are_named(option, value):
    with pytest.raises(ValueError, match=option):
        Vectorizer(**{option: value})
    with pytest.raises(ValueError, match=option):
        Vectorizer.from_dict({option: value}, ["fish"], [1.0])


@pytest.mark.parametrize("weighting", ["count", "binary", "log-entropy", "bm25"])
def test_sublinear_counts_go_with_tfidf_alone(weighting):
    with pytest.raises(ParameterError, match=f"goes with weighting='tfidf', not with {weighting}"):
        Vectorizer(weighting=weighting, sublinear_tf=True)
    # settings that were saved when it had no effect
    saved = Vectorizer.from_dict({"weighting": "count", "sublinear_tf": True}, ["fish"])
    assert saved.transform(["fish fish"]).toarray().tolist() == [[2]]


@settings(max_examples=50, deadline=None)
@given(TEXTS, OPTIONS, st.sampled_from(["count", "binary", "tfidf", "log-entropy", "bm25"]))
def test_settings_survive_json(texts, options, weighting):
    vectorizer, counts = fitted(texts, weighting=weighting, **options)
    if counts is None:
        return
    saved = json.loads(json.dumps(vectorizer.to_dict()))
    loaded = Vectorizer.from_dict(saved, list(vectorizer.vocabulary), vectorizer.idf, vectorizer.mean_length)
    assert loaded.to_dict() == vectorizer.to_dict()
    assert repr(loaded) == repr(vectorizer)
    expected, X = vectorizer.transform(texts), loaded.transform(texts)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(expected, part))


def test_settings_cannot_be_changed_from_outside():
    vectorizer = Vectorizer(stop_words=["the"])
    vectorizer.to_dict()["stop_words"].append("fish")
    assert vectorizer.to_dict()["stop_words"] == ["the"]


def test_numpy_numbers_are_plain_in_the_settings():
    vectorizer = Vectorizer(min_df=np.int64(3), max_df=np.float32(0.5), max_features=np.int32(7))
    assert json.loads(json.dumps(vectorizer.to_dict())) == vectorizer.to_dict()
    assert repr(vectorizer) == "Vectorizer(min_df=3, max_features=7)"


@pytest.mark.parametrize(
    ("saved", "vocabulary", "idf", "message"),
    [
        ({"stemming": True}, ["fish"], [1.0], "unknown vectorizer option 'stemming'"),
        ({7: True}, ["fish"], [1.0], "unknown vectorizer option '7'"),
        ([], ["fish"], [1.0], "settings must be a mapping"),
        ({}, ["fish"], None, "needs idf"),
        ({}, ["fish"], [1.0, 2.0], r"shape \(2,\); the vocabulary has 1 terms"),
        ({}, ["fish"], [[1.0]], r"shape \(1, 1\)"),
        ({"weighting": "tfidf"}, ["fish"], [np.nan], "finite and positive"),
        ({"weighting": "tfidf"}, ["fish"], [np.inf], "finite and positive"),
        ({"weighting": "tfidf"}, ["fish"], [0.0], "finite and positive"),
        ({}, ["fish"], ["heavy"], "idf must be numbers"),
        ({"weighting": "count"}, ["fish"], [1.0], "idf must be None"),
        ({}, ["fish", "bird", "fish"], [1.0] * 3, "terms 0 and 2 of the vocabulary are the same: 'fish'"),
        ({}, [], [], "vocabulary is empty"),
        ({}, "fish", [1.0] * 4, "must be a list of terms"),
        ({}, ["fish", 3], [1.0] * 2, "term 1 of the vocabulary must be a string, not int"),
        ({}, ["fish", None], [1.0] * 2, "must be a string, not null"),
        ({}, ["fi\rsh"], [1.0], "contains a line break"),
        ({}, [""], [1.0], "term 0 of the vocabulary is empty"),
    ],
)
def test_saved_vectorizers_that_are_wrong(saved, vocabulary, idf, message):
    with pytest.raises(ValueError, match=message):
        Vectorizer.from_dict(saved, vocabulary, idf)


def test_unfitted():
    for method in ("count", "transform", "weigh"):
        with pytest.raises(NotFittedError, match="call fit_count"):
            getattr(Vectorizer(), method)(["fish"])


def test_weigh_refuses_what_does_not_fit():
    vectorizer = Vectorizer.from_dict(
        {"weighting": "tfidf", "sublinear_tf": True}, ["fish", "bird"], [1.0, 1.0]
    )
    with pytest.raises(CorpusError, match="3 columns; the vocabulary has 2 terms"):
        vectorizer.weigh([[1, 0, 0]])
    with pytest.raises(CorpusError, match="sublinear_tf needs counts of 1 or more"):
        vectorizer.weigh([[0.1, 0]])


def test_only_the_kept_vocabulary_is_stored():
    vectorizer = Vectorizer()
    vectorizer.fit_count(["fish secret", "fish", "bird", "bird"])
    stored = repr(vars(vectorizer))
    assert "fish" in stored
    assert "secret" not in stored


def test_terms_keep_their_length_and_their_nul():
    vectorizer = Vectorizer(token_pattern=r"\S+", min_df=1, max_df=1.0, stop_words=None)
    vectorizer.fit_count(["a\0 a " + "x" * 10_000])
    assert list(vectorizer.vocabulary) == ["a", "a\0", "x" * 10_000]
    assert vectorizer.vocabulary.nbytes < 100
