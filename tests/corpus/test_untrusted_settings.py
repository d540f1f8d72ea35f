"""Settings of a saved vectoriser that could make new texts take for ever."""

import re
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import laconic
from laconic import Corpus
from laconic.bundle import BundleError
from laconic.corpus import Vectorizer, matching
from laconic.corpus.options import LONGEST_NGRAM
from laconic.corpus.tokens import is_harmless
from laconic.errors import CorpusError
from laconic.search import SearchIndex
from stored_files import edit, npy, swap

HERE = Path(__file__).parent
CATASTROPHE = r"(?:\w+)+!"
# It would take a day without the refusal.
LETTERS = "a" * 40


@pytest.fixture
def bundle(tmp_path):
    shutil.copytree(HERE.parent / "bundle/format-3", tmp_path / "bundle")
    return tmp_path / "bundle"


def change(path, **settings):
    edit(path, lambda document: document["vectorizer"]["settings"].update(settings))


def test_a_pattern_of_a_file_is_not_run(bundle):
    change(bundle, token_pattern=CATASTROPHE)
    loaded = laconic.load(bundle)
    assert len(loaded.topic_words()) == 2
    for use in (
        lambda: loaded.transform([LETTERS]),
        lambda: loaded.search(LETTERS),
        lambda: loaded.vectorizer.count([LETTERS, "sun " * 100_000]),
        lambda: loaded.vectorizer.find(LETTERS, [0]),
    ):
        with pytest.raises(CorpusError, match=r"load it with trust_patterns=True"):
            use()


def test_who_trusts_it_has_it_run(bundle):
    change(bundle, token_pattern=r"(?:sun|moon)(?=\W|$)")
    with pytest.raises(CorpusError, match="trust_patterns"):
        SearchIndex.load(bundle).search("sun")
    assert SearchIndex.load(bundle, trust_patterns=True).search("sun").ids
    assert laconic.load(bundle, trust_patterns=True).transform(["sun"]).any()


def test_a_pattern_that_is_trusted_has_a_limit_of_time(bundle, monkeypatch):
    monkeypatch.setattr(matching, "SECONDS", 0.2)
    change(bundle, token_pattern=CATASTROPHE)
    loaded = laconic.load(bundle, trust_patterns=True)
    for use in (
        lambda: loaded.transform([LETTERS]),
        lambda: loaded.vectorizer.count([LETTERS, "sun " * 100]),
        lambda: loaded.vectorizer.find(LETTERS + "é", [0]),
        lambda: Corpus.from_texts([LETTERS], token_pattern=CATASTROPHE, min_df=1, max_df=1.0),
    ):
        with pytest.raises(CorpusError, match="might never end"):
            use()
        # The clock is put back as it was.
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_the_clock_of_somebody_else_is_left_alone(monkeypatch):
    monkeypatch.setattr(matching, "SECONDS", 0.2)
    pattern = matching.TimedPattern(r"(?:\w|-)+")
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(True))
    signal.setitimer(signal.ITIMER_REAL, 3600)
    try:
        assert pattern.findall("well-known") == ["well-known"]
        assert 3000 < signal.getitimer(signal.ITIMER_REAL)[0] <= 3600
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard == []
    # In other threads, too, a pattern is used, without a limit.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(pattern.findall, "well-known").result() == ["well-known"]


def test_what_a_user_gives_is_trusted_until_it_is_loaded(tmp_path):
    pattern = r"(?:\w|-)+"
    corpus = Corpus.from_texts(["well-known fact", "a fact"], token_pattern=pattern, min_df=1, max_df=1.0)
    corpus.save(tmp_path)
    assert "well-known" in corpus.vocabulary
    saved = Corpus.load(tmp_path)
    assert np.array_equal(saved.counts.toarray(), corpus.counts.toarray())
    with pytest.raises(CorpusError, match="trust_patterns"):
        saved.vectorize(["a fact"])
    assert Corpus.load(tmp_path, trust_patterns=True).vectorize(["well-known"]).nnz
    # words are needed where there are no texts to split
    assert saved.vectorizer.count([["fact"]]).nnz


def test_long_sequences_of_words_are_refused(bundle, tmp_path):
    change(bundle, ngram_range=[1, 10**9])
    with pytest.raises(BundleError, match=f"last <= {LONGEST_NGRAM}"):
        laconic.load(bundle)
    with pytest.raises(ValueError, match="ngram_range must be two integers"):
        Vectorizer(ngram_range=(1, LONGEST_NGRAM + 1))
    name = " ".join(["long"] * 60)
    corpus = Corpus.from_counts([[1, 2]], ["short", name])
    corpus.save(tmp_path / "corpus")
    assert Corpus.load(tmp_path / "corpus").vocabulary.tolist() == ["short", name]


def test_weights_of_terms_that_nothing_could_be_multiplied_with_are_refused(bundle):
    idf = np.ones(6)
    idf[2] = 1e300
    swap(bundle, "vectorizer.idf", npy(idf))
    with pytest.raises(BundleError, match="idf must be at most"):
        laconic.load(bundle)


HARMLESS = [
    r"(?u)\b[^\W\d_]\w+\b",
    r"(?u)\b\w\w+\b",
    r"\b\w+\b",
    r"\S+",
    r"[a-z]\w+",
    r"(\w)\w*",
    r"[\w-]+",
    r"\w",
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_simple_patterns_are_known_and_quick(pattern):
    assert is_harmless(pattern)
    # Whatever the text: each character is looked at once or twice.
    for text in ("a" * 10**6, "a1_-" * 250_000, "- " * 500_000):
        re.findall(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        CATASTROPHE,
        r"\w+\w+x",
        r"(\w+)x",
        r"\w+!",
        r"(a|a)+",
        r"a{1,1000}",
        r".*x",
        r"(?=\w+)x",
        r"[a-z]+\b",
        "a" * 101,
    ],
)
def test_others_are_not(pattern):
    assert not is_harmless(pattern)
