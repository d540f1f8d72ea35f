"""Stems and stop words of languages, beside a stemmer that goes token by token."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from laconic.corpus import CorpusError, Vectorizer, languages
from laconic.corpus.stdlib import standard_library
from laconic.corpus.vectorizer import TOKEN_PATTERN

WORDS = [
    "fish",
    "fishes",
    "fishing",
    "the",
    "runs",
    "running",
    "ran",
    "generous",
    "generously",
    "don't",
    "Bücher",
]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join), min_size=1, max_size=8)


def naive(language, ngram_range, token_pattern=TOKEN_PATTERN, stop_words=ENGLISH_STOP_WORDS):
    """An analyser that stems every token, one after the other."""
    stem = Stemmer.Stemmer(language).stemWord
    shortest, longest = ngram_range

    def analyse(text):
        tokens = [stem(t) for t in re.findall(token_pattern, text.lower()) if t not in stop_words]
        return [
            " ".join(tokens[start : start + length])
            for length in range(shortest, longest + 1)
            for start in range(len(tokens) - length + 1)
        ]

    return analyse


def assert_as_naive(texts, language, ngram_range, **options):
    vectorizer = Vectorizer(stemmer=language, ngram_range=ngram_range, **options)
    kept = {name: options[name] for name in ("min_df", "max_df") if name in options}
    analyser = naive(language, ngram_range, options.get("token_pattern", TOKEN_PATTERN))
    peer = CountVectorizer(analyzer=analyser, **{"min_df": 2, "max_df": 0.5} | kept)
    try:
        expected = peer.fit_transform(texts).toarray()
    except ValueError:
        with pytest.raises(CorpusError, match="term"):
            vectorizer.fit_count(texts)
        return
    np.testing.assert_array_equal(vectorizer.fit_count(texts).toarray(), expected)
    assert vectorizer.vocabulary.tolist() == peer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(vectorizer.count(texts).toarray(), expected)


@given(
    TEXTS,
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([TOKEN_PATTERN, r"[\w']+", r"\w+ \w+"]),
)
def test_stems_are_those_of_every_token(texts, ngram_range, min_df, token_pattern):
    assert_as_naive(texts, "english", ngram_range, min_df=min_df, max_df=0.9, token_pattern=token_pattern)


@pytest.mark.parametrize("language", ["english", "porter", "german"])
def test_stems_of_real_text(language):
    assert_as_naive(standard_library()[0][:500], language, (1, 2))


def test_max_features_counts_stems():
    texts = ["fish fishes", "fishing bird", "bird", "frog frog frog"]
    vectorizer = Vectorizer(stemmer="english", min_df=1, max_df=1.0, max_features=1)
    assert vectorizer.fit_count([*texts, "fish"]).toarray().ravel().tolist() == [2, 1, 0, 0, 1]
    assert vectorizer.vocabulary.tolist() == ["fish"]


def test_new_texts_are_stemmed_too():
    vectorizer = Vectorizer(stemmer="english", min_df=1, max_df=1.0, weighting="count")
    vectorizer.fit_count(["fishes", "birds"])
    saved = json.loads(json.dumps(vectorizer.to_dict()))
    restored = Vectorizer.from_dict(saved, vectorizer.vocabulary)
    for each in (vectorizer, restored):
        np.testing.assert_array_equal(
            each.transform(["Fishing for a bird", "frogs"]).toarray(), [[1, 1], [0, 0]]
        )
    assert "stemmer='english'" in repr(restored)


def test_half_a_character_has_no_stem():
    vectorizer = Vectorizer(stemmer="english", min_df=2, max_df=1.0, token_pattern=r"\S+")
    counts = vectorizer.fit_count(["fishes \ud800s", "fishing"])
    assert (vectorizer.vocabulary.tolist(), counts.toarray().tolist()) == (["fish"], [[1], [1]])


def test_a_stem_is_never_empty(monkeypatch):
    class Nothing:
        def __init__(self, language):
            self.stemWords = lambda words: [b"" for _ in words]

    monkeypatch.setattr(Stemmer, "Stemmer", Nothing)
    vectorizer = Vectorizer(stemmer="english", min_df=1, max_df=1.0)
    vectorizer.fit_count(["fish"])
    assert vectorizer.vocabulary.tolist() == ["fish"]


def test_stop_words_of_a_language_are_stored_as_words():
    vectorizer = Vectorizer(stop_words="german", min_df=1, max_df=1.0)
    vectorizer.fit_count(["der Fisch und die Vögel", "für Fische"])
    assert vectorizer.vocabulary.tolist() == ["fisch", "fische", "vögel"]
    stored = vectorizer.to_dict()["stop_words"]
    assert isinstance(stored, list)
    assert "und" in stored
    assert stored == sorted(stored)


def test_stop_words_come_from_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\ufefffish\r\n\r\n  bird \nfish\n", encoding="utf-8")
    vectorizer = Vectorizer(stop_words=path, min_df=1, max_df=1.0)
    assert vectorizer.to_dict()["stop_words"] == ["bird", "fish"]
    vectorizer.fit_count(["the fish", "bird"])
    assert vectorizer.vocabulary.tolist() == ["the"]


def test_a_file_of_words_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"stop_words: .*absent\.txt cannot be read"):
        Vectorizer(stop_words=tmp_path / "absent.txt")
    (tmp_path / "latin.txt").write_bytes("für".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.txt cannot be read as a UTF-8 file"):
        Vectorizer(stop_words=tmp_path / "latin.txt")


def test_unknown_languages_are_refused_with_a_list():
    with pytest.raises(ValueError, match=r"stop_words='klingon' is not known; there are .*french, german"):
        Vectorizer(stop_words="klingon")
    with pytest.raises(ValueError, match=r"stemmer='klingon' is not known; there are .*english.*german"):
        Vectorizer(stemmer="klingon")


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    languages._imported.cache_clear()
    for module in ("Stemmer", "stop_words"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=r'stemmer needs .* pip install "laconic\[languages\]"'):
        Vectorizer(stemmer="english")
    with pytest.raises(ValueError, match=r"stop_words='german' needs .* pip install"):
        Vectorizer(stop_words="german")
    assert Vectorizer(stop_words="english").to_dict()["stop_words"] == "english"
