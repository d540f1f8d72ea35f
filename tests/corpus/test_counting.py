"""Counting in batches, threads and temporary files: the same matrix as without any of them."""

from __future__ import annotations

import gc
import mmap
import os
import tempfile
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from laconic.corpus import CorpusError, Vectorizer, counting, spool
from laconic.corpus.spool import Spool, roomy
from laconic.corpus.stdlib import standard_library
from laconic.corpus.vectorizer import TOKEN_PATTERN
from laconic.datasets import load

WILD = st.text(
    st.sampled_from("aBcé Σσ Σ.İßK Åǅ½²٣,我的𐐀𐐨\u0345\0_7Ⱥ")
    | st.characters(codec="utf-8", exclude_categories=("Zl", "Zp", "Cc")),
    max_size=40,
)
EVERYTHING = {"min_df": 1, "max_df": 1.0, "stop_words": None}


@pytest.fixture(scope="module")
def docstrings():
    return standard_library()[0]


@pytest.fixture
def small_batches(monkeypatch):
    """Batches so small that there are many of them."""
    monkeypatch.setattr(counting, "BATCH_BYTES", 5000)


def is_mapped(array):
    """Whether an array is a view of a file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def assert_same(one, other):
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


def assert_as_count_vectorizer(texts, **options):
    options = {"min_df": 2, "max_df": 0.5, "stop_words": "english", "token_pattern": TOKEN_PATTERN} | options
    vectorizer, peer = Vectorizer(**options), CountVectorizer(**options)
    counts, expected = vectorizer.fit_count(texts), peer.fit_transform(texts)
    expected.sort_indices()
    assert vectorizer.vocabulary.tolist() == peer.get_feature_names_out().tolist()
    assert_same(counts, expected)
    assert_same(vectorizer.count(texts), expected)
    return vectorizer


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("token_pattern", [TOKEN_PATTERN, r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"[a-z]\w+"])
def test_counts_of_real_text_are_those_of_count_vectorizer(docstrings, ngram_range, token_pattern):
    assert_as_count_vectorizer(docstrings[:1500], ngram_range=ngram_range, token_pattern=token_pattern)


def test_counts_of_german_are_those_of_count_vectorizer(data_dir, small_batches):
    if not (data_dir / "europarl_de_en").is_dir():
        pytest.skip("needs the data set europarl_de_en")
    assert_as_count_vectorizer(load("europarl_de_en").texts["de"][:3000], stop_words=None, ngram_range=(1, 2))


@settings(max_examples=200)
@given(
    st.lists(WILD, min_size=1, max_size=6),
    st.sampled_from([TOKEN_PATTERN, r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"[^,]+", r"\S+"]),
    st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 2)]),
    st.booleans(),
)
def test_counts_of_wild_text_are_those_of_count_vectorizer(texts, token_pattern, ngram_range, lowercase):
    options = {
        **EVERYTHING,
        "token_pattern": token_pattern,
        "ngram_range": ngram_range,
        "lowercase": lowercase,
    }
    analyse = CountVectorizer(**options).build_analyzer()
    if any(map(analyse, texts)):
        assert_as_count_vectorizer(texts, **options)
    else:
        with pytest.raises(CorpusError, match="no terms found"):
            Vectorizer(**options).fit_count(texts)


def test_ngrams_that_are_spelled_alike_are_one_term():
    texts = ["a b,c", "a,b c", "a b c", "a b c,c"]
    vectorizer = assert_as_count_vectorizer(
        texts, token_pattern="[^,]+", ngram_range=(1, 2), **{**EVERYTHING, "min_df": 3}
    )
    assert vectorizer.vocabulary.tolist() == ["a b c"]


@pytest.mark.parametrize(
    "options", [{}, {"ngram_range": (1, 2)}, {"stemmer": "english"}, {"max_features": 50}]
)
def test_batches_and_threads_change_nothing(docstrings, monkeypatch, options):
    texts = docstrings[:800]
    one = Vectorizer(**options)
    expected = one.fit_count(texts)
    for n_workers in (1, 2, 3):
        monkeypatch.setattr(counting, "BATCH_BYTES", 3000)
        monkeypatch.setattr(counting, "n_workers", lambda n_workers=n_workers: n_workers)
        vectorizer = Vectorizer(**options)
        assert_same(vectorizer.fit_count(iter(texts)), expected)
        assert vectorizer.vocabulary.tolist() == one.vocabulary.tolist()
        assert vectorizer.tally == one.tally
        assert_same(vectorizer.count(texts), expected)


@pytest.mark.parametrize("options", [{}, {"stemmer": "english"}])
def test_files_change_nothing(docstrings, monkeypatch, small_batches, options):
    texts = docstrings[:800]
    expected = Vectorizer(**options).fit_count(texts)
    monkeypatch.setattr(spool, "SPOOLED_BYTES", 20_000)
    monkeypatch.setattr(spool, "ARRAY_BYTES", 1000)
    vectorizer = Vectorizer(**options)
    counts = vectorizer.fit_count(texts)
    assert all(is_mapped(part) for part in (counts.data, counts.indices, counts.indptr))
    assert_same(counts, expected)
    assert counts.has_canonical_format


def test_a_text_may_be_larger_than_a_batch(small_batches):
    words = [f"word{k * k % 3001}" for k in range(30_000)]
    texts = ["fish bird", " ".join(words), "", "word1 fish", " ".join(words[:2000])]
    assert_as_count_vectorizer(texts, **EVERYTHING)


@pytest.mark.parametrize("ngram_range", [(1, 50), (3, 50)])
def test_ngrams_may_be_longer_than_any_text(ngram_range):
    assert_as_count_vectorizer(
        ["one fish two fish", "", "fish one fish"], **EVERYTHING, ngram_range=ngram_range
    )
    with pytest.raises(CorpusError, match="no terms found in 1 text"):
        Vectorizer(ngram_range=(50, 50)).fit_count(["red fish"])


def test_counts_above_255_survive(small_batches):
    texts = ["fish " * 300 + "bird", "bird " * 70_000, "fish"]
    vectorizer = Vectorizer(min_df=1, max_df=1.0)
    np.testing.assert_array_equal(vectorizer.fit_count(texts).toarray(), [[1, 300], [70_000, 0], [0, 1]])


def test_the_tally_says_what_was_found():
    vectorizer = Vectorizer(min_df=2, max_df=1.0)
    assert vectorizer.tally is None
    vectorizer.fit_count(["the fish and the bird", "a fish", "", "fish bird frog"])
    assert vectorizer.tally == counting.Tally(n_texts=4, n_tokens=6, n_terms_found=3, n_terms=2)
    restored = Vectorizer.from_dict(
        vectorizer.to_dict(), vectorizer.vocabulary, vectorizer.idf, vectorizer.mean_length
    )
    assert restored.tally is None


def test_progress_is_told_batch_by_batch(small_batches):
    calls = []
    texts = ["fish bird " * 100] * 20 + ["é"]
    Vectorizer(max_df=1.0).fit_count(iter(texts), progress=lambda *numbers: calls.append(numbers))
    assert len(calls) >= 4
    assert calls == sorted(calls)
    assert calls[-1] == (21, 20_001)


def test_a_stream_is_read_once_and_not_kept(small_batches):
    alive = []

    class Text(str):
        __slots__ = ("__weakref__",)

    def stream():
        for k in range(400):
            text = Text(f"fish{k % 7} bird " * 20)
            alive.append(weakref.ref(text))
            yield text

    Vectorizer(max_df=1.0).fit_count(stream())
    gc.collect()
    assert not any(reference() for reference in alive)


def test_an_error_of_the_stream_ends_the_threads(small_batches):
    def stream():
        for _ in range(50):
            yield "fish bird " * 100
        raise ValueError("the network is down")

    with pytest.raises(ValueError, match="the network is down"):
        Vectorizer().fit_count(stream())


def test_a_bad_text_after_many_is_named(small_batches):
    with pytest.raises(CorpusError, match="text 50 is of type int"):
        Vectorizer().fit_count(["fish bird " * 100] * 50 + [7])


def test_a_text_of_more_than_two_gigabytes_is_refused(monkeypatch):
    monkeypatch.setattr(counting, "_LONGEST_TEXT", 10)
    with pytest.raises(CorpusError, match="text 1 has more than 2 GB"):
        Vectorizer().fit_count(["fish", "fish fish fish"])


@given(st.lists(st.lists(st.integers(0, 200), max_size=30), max_size=8), st.integers(0, 200))
def test_a_spool_gives_back_what_it_got(rows, budget):
    kept = Spool()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "SPOOLED_BYTES", budget)
        for row in rows:
            kept.add(np.array(row, np.uint8), np.array(row, np.int64))
    for _ in range(2):
        assert [(one.tolist(), other.tolist()) for one, other in kept] == [(row, row) for row in rows]
    assert [(one.tolist(), other.tolist()) for one, other in kept.drain()] == [(row, row) for row in rows]


def test_a_full_disk_is_explained(monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setattr(spool, "SPOOLED_BYTES", 0)
    monkeypatch.setattr(spool, "ARRAY_BYTES", 0)
    with pytest.raises(OSError, match=r"No space left on device in .*TMPDIR"):
        Spool().add(np.arange(3))
    with pytest.raises(OSError, match="TMPDIR"):
        roomy(3, np.float32)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system cannot reserve room on a disk")
def test_room_on_the_disk_is_reserved_before_it_is_mapped(monkeypatch):
    def full(descriptor, start, size):
        assert (start, size) == (0, 12_000)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "ARRAY_BYTES", 0)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"No space left on device in .*TMPDIR"):
        roomy(3000, np.float32)
