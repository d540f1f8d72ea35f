"""Texts that are gone through word by word: the same counts, and the same places, as by all other ways."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic.corpus import CorpusError, Vectorizer
from laconic.corpus.short import are_short
from laconic.corpus.vectorizer import TOKEN_PATTERN

WILD = st.text(
    st.sampled_from("aAbB cC the Σσ.İßK\u017f,我的\u0345_7\n") | st.characters(codec="utf-8"), max_size=30
)
PATTERNS = (TOKEN_PATTERN, r"(?u)\b\w+\b", r"(?u)\b\w\w+\b", r"\S+")
TEXTS = ["Fishing boats in the harbour", "a storm, a STORM; red_fish", "aa bb aa", "Straße Ärger σς"]


def fitted(texts, **options):
    vectorizer = Vectorizer(min_df=1, max_df=1.0, **options)
    vectorizer.fit_count([*TEXTS, *texts])
    return vectorizer


def assert_same(one, other):
    assert one.shape == other.shape
    for part in ("data", "indices", "indptr"):
        mine, others = getattr(one, part), getattr(other, part)
        assert mine.dtype == others.dtype
        np.testing.assert_array_equal(mine, others)


@settings(deadline=None)
@given(
    texts=st.lists(WILD, max_size=4),
    query=WILD,
    pattern=st.sampled_from(PATTERNS),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 3), (1, 9)]),
    lowercase=st.booleans(),
    stemmer=st.sampled_from([None, "english"]),
    stop_words=st.sampled_from([None, "english", ["aa", "b"]]),
)
def test_a_list_counts_like_a_stream(texts, query, pattern, ngram_range, lowercase, stemmer, stop_words):
    try:
        vectorizer = fitted(
            texts,
            token_pattern=pattern,
            ngram_range=ngram_range,
            lowercase=lowercase,
            stemmer=stemmer,
            stop_words=stop_words,
        )
    except CorpusError:
        return
    queries = [query, *texts[:2], "the aa BB storm fishes"]
    assert are_short(queries)
    # what is no list is counted in batches, by kernels
    assert_same(vectorizer.count(queries), vectorizer.count(iter(queries)))


def places_one_by_one(vectorizer, text, terms):
    """What `find` finds: every token by itself, counted by itself."""
    pattern = re.compile(vectorizer.to_dict()["token_pattern"])
    found = []
    for match in pattern.finditer(text):
        counts = vectorizer.count(iter([match[0]]))
        found += [(match.start(), match.end(), int(term)) for term in counts.indices if term in terms][-1:]
    return found


@settings(deadline=None)
@given(
    text=st.lists(st.sampled_from(TEXTS) | WILD, max_size=4).map(" ".join),
    pattern=st.sampled_from(PATTERNS),
    ngram_range=st.sampled_from([(1, 1), (1, 2)]),
    lowercase=st.booleans(),
    stemmer=st.sampled_from([None, "english"]),
)
def test_words_are_found_where_they_stand(text, pattern, ngram_range, lowercase, stemmer):
    vectorizer = fitted(
        [text], token_pattern=pattern, ngram_range=ngram_range, lowercase=lowercase, stemmer=stemmer
    )
    terms = set(range(0, len(vectorizer.vocabulary), 2))
    assert vectorizer.find(text, terms) == places_one_by_one(vectorizer, text, terms)


def test_long_ones_many_and_streams_are_counted_in_batches():
    assert are_short([])
    assert are_short(("a", "b"))
    assert not are_short(["word " * 1000])
    assert not are_short(["word"] * 100)
    assert not are_short("word")
    assert not are_short([b"word"])


def test_what_is_no_text_is_named():
    with pytest.raises(CorpusError, match="text 1 is of type int"):
        fitted([]).count(["one", 2])
