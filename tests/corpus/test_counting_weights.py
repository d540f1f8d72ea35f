"""Weights by entropy, beside the formula written out, and what weighing shares with the counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from laconic import CorpusError
from laconic.corpus import Corpus, Vectorizer, counting, spool
from laconic.corpus.weighting import term_weights
from laconic.matrices import as_counts

COUNTS = npst.arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(0, 5))


def naive_entropy(counts):
    """The global weight of each term, as the formula has it."""
    n_documents = len(counts)
    weights = []
    for column in counts.T:
        shares = [count / column.sum() for count in column if count]
        spread = sum(p * math.log(p) for p in shares)
        weights.append(1 + spread / math.log(n_documents) if n_documents > 1 else 1.0)
    return np.array(weights)


@given(COUNTS)
def test_log_entropy_is_the_formula(counts):
    expected = naive_entropy(counts)
    weights = term_weights(as_counts(counts), "log-entropy")
    np.testing.assert_allclose(weights, expected, atol=1e-9)
    assert (weights >= 0).all()
    assert (weights <= 1).all()
    vectorizer = Vectorizer.from_dict(
        {"weighting": "log-entropy"}, [f"t{k}" for k in range(counts.shape[1])], weights
    )
    X = vectorizer.weigh(counts)
    rows = np.log1p(counts) * weights
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(X.toarray(), rows / np.where(norms, norms, 1), atol=1e-6)
    assert X.data.all()
    assert X.has_canonical_format


@pytest.mark.parametrize("times", [1, 3, 7])
@pytest.mark.parametrize("n_documents", [2, 3, 10, 1000])
def test_a_term_spread_evenly_has_no_weight_and_no_entry(times, n_documents):
    vectorizer = Vectorizer(min_df=1, max_df=1.0, weighting="log-entropy")
    counts = vectorizer.fit_count([f"fish bird{k} {'frog ' * times}" for k in range(n_documents)])
    weight = dict(zip(vectorizer.vocabulary, vectorizer.idf, strict=True))
    assert weight["frog"] == weight["fish"] == 0
    assert weight["bird0"] == 1
    X = vectorizer.weigh(counts)
    assert X.nnz == n_documents
    np.testing.assert_allclose(X.data, 1)
    assert counts.nnz == 3 * n_documents
    restored = Vectorizer.from_dict(vectorizer.to_dict(), vectorizer.vocabulary, vectorizer.idf)
    assert restored.transform(["fish frog"]).nnz == 0


def test_one_document_has_weights_of_one():
    vectorizer = Vectorizer(min_df=1, max_df=1.0, weighting="log-entropy")
    vectorizer.fit_count(["fish fish bird"])
    assert vectorizer.idf.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("idf", "message"),
    [([-1e-9], "finite and not negative"), ([np.nan], "finite and not negative"), (None, "needs idf")],
)
def test_weights_that_cannot_be(idf, message):
    with pytest.raises(ValueError, match=message):
        Vectorizer.from_dict({"weighting": "log-entropy"}, ["fish"], idf)


@given(COUNTS)
def test_bm25_is_the_formula(counts):
    n_documents, n_terms = counts.shape
    frequencies = (counts > 0).sum(axis=0)
    idf = np.log1p((n_documents - frequencies + 0.5) / (frequencies + 0.5))
    lengths = counts.sum(axis=1, keepdims=True)
    mean = lengths[lengths > 0].mean() if lengths.any() else 1.0
    rows = idf * counts / (counts + 1.2 * (0.25 + 0.75 * lengths / mean))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    X = Corpus.from_counts(counts, [f"t{k}" for k in range(n_terms)], weighting="bm25").X
    np.testing.assert_allclose(X.toarray(), rows / np.where(norms, norms, 1), atol=1e-5)


@pytest.mark.parametrize("length", [None, 0, -1.0, np.nan, np.inf, "2", True])
def test_bm25_needs_a_length(length):
    with pytest.raises(ValueError, match="mean_length"):
        Vectorizer.from_dict({"weighting": "bm25"}, ["fish"], [1.0], length)
    if length is not None:
        with pytest.raises(ValueError, match="mean_length must be None"):
            Vectorizer.from_dict({"weighting": "tfidf"}, ["fish"], [1.0], length)


@pytest.mark.parametrize("weighting", ["binary", "tfidf", "log-entropy", "bm25"])
def test_weights_share_the_indices_of_the_counts(weighting):
    vectorizer = Vectorizer(min_df=1, max_df=1.0, weighting=weighting)
    counts = vectorizer.fit_count(["fish fish bird", "fish", "frog"])
    X = vectorizer.weigh(counts)
    assert np.shares_memory(X.indices, counts.indices)
    assert np.shares_memory(X.indptr, counts.indptr)
    assert not np.shares_memory(X.data, counts.data)


@pytest.mark.parametrize(
    "options",
    [{}, {"weighting": "tfidf", "sublinear_tf": True}, {"weighting": "log-entropy"}, {"weighting": "bm25"}],
)
def test_weights_in_blocks_and_in_files_are_the_same(monkeypatch, options):
    texts = [f"fish{k % 7} bird{k % 11} " * (1 + k % 3) for k in range(200)]
    vectorizer = Vectorizer(min_df=1, **options)
    expected = vectorizer.weigh(vectorizer.fit_count(texts))
    monkeypatch.setattr("laconic.corpus.weighting._BLOCK", 37)
    monkeypatch.setattr(counting, "BATCH_BYTES", 300)
    monkeypatch.setattr(spool, "ARRAY_BYTES", 100)
    again = Vectorizer(min_df=1, **options)
    X = again.weigh(again.fit_count(texts))
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(expected, part))
    np.testing.assert_allclose(again.idf, vectorizer.idf, rtol=1e-13)


@pytest.mark.parametrize("weighting", ["count", "binary", "tfidf", "log-entropy", "bm25"])
def test_no_count_becomes_infinite_or_undefined(weighting):
    vectorizer = Vectorizer(min_df=1, max_df=1.0, weighting=weighting)
    counts = vectorizer.fit_count(["fish fish bird", "fish", "frog"])
    counts.data[0] = np.finfo(np.float32).max
    if weighting in ("tfidf", "bm25"):
        with pytest.raises(CorpusError, match=r"a count of 3\.4e\+38 is too large to be weighed"):
            vectorizer.weigh(counts)
        counts.data[0] = 1e29
    assert np.isfinite(vectorizer.weigh(counts).data).all()
