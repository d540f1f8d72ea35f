"""The corpus generator keeps its word: benchmarks stand on it."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.zipf import zipf_corpus

from laconic import RLSI


def test_shape_length_and_determinism():
    one, other = (zipf_corpus(2000, 3000, length=60, n_topics=5, seed=3) for _ in range(2))
    assert one.counts.shape == (2000, 3000)
    assert one.counts.has_canonical_format
    assert one.counts.sum() / 2000 == pytest.approx(60, rel=0.05)
    np.testing.assert_array_equal(one.counts.data, other.counts.data)
    np.testing.assert_array_equal(one.counts.indices, other.counts.indices)
    assert (zipf_corpus(2000, 3000, length=60, n_topics=5, seed=4).counts != one.counts).nnz > 0


def test_words_are_zipfian():
    corpus = zipf_corpus(5000, 5000, length=100, topic_share=0.0)
    total = np.asarray(corpus.counts.sum(axis=0))
    slope = np.polyfit(np.log(np.arange(10, 1000) + 2.7), np.log(total[10:1000]), 1)[0]
    assert slope == pytest.approx(-1.07, abs=0.05)


def test_classes_use_shared_topics_and_their_own():
    sizes = np.array([300, 100, 600])
    corpus = zipf_corpus(1000, 4000, n_topics=3, n_per_class=2, class_sizes=sizes, topic_share=1.0)
    np.testing.assert_array_equal(np.bincount(corpus.labels), sizes)
    assert list(corpus.owner) == [-1, -1, -1, 0, 0, 1, 1, 2, 2]
    for label in range(3):
        used = set(corpus.counts[corpus.labels == label].indices)
        allowed = set(corpus.topics[np.isin(corpus.owner, [-1, label])].indices)
        assert used <= allowed
    with pytest.raises(ValueError, match="class_sizes"):
        zipf_corpus(10, 4000, class_sizes=sizes)


def test_tfidf_rows_have_length_one():
    X = zipf_corpus(500, 1000).tfidf()
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.sqrt(X.power(2).sum(axis=1)), 1, rtol=1e-5)


def test_planted_topics_are_found_again():
    corpus = zipf_corpus(4000, 4000, length=120, n_topics=10)
    model = RLSI(10, topic_norm="l0", nonnegative=True, random_state=0).fit(corpus.tfidf())
    cosines = (corpus.topics @ model.components_.T.astype(np.float64)).toarray().max(axis=1)
    assert (cosines > 0.9).mean() >= 0.8
