import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic import Corpus
from laconic.evaluate import coherence, diversity
from laconic.evaluate.windows import count_in_windows

WORDS = [f"w{letter}" for letter in "abcdefghij"]
MEASURES = ("npmi", "umass", "c_v")
EPSILON = 1e-12


def as_corpus(texts, **options):
    options = {"stop_words": None, "min_df": 1, "max_df": 1.0, **options}
    return Corpus.from_texts([" ".join(text) for text in texts], **options)


def drawn_texts(seed, n_texts=60, repeated=True):
    """Texts about two themes: the first half of the words, and the second."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n_texts):
        theme = WORDS[:5] if rng.random() < 0.5 else WORDS[5:]
        words = rng.choice(theme, 3, replace=repeated).tolist()
        words += [word for word in rng.choice(WORDS, 4).tolist() if repeated or word not in words]
        texts.append(words if repeated else list(dict.fromkeys(words)))
    return texts


def windows_of(texts, size):
    return [
        set(text[start : start + size]) for text in texts for start in range(max(1, len(text) - size + 1))
    ]


def share(units, *words):
    return sum(all(word in unit for word in words) for unit in units) / len(units)


def naive_npmi(units, v, w, smoothing):
    if not (share(units, v) and share(units, w)):
        return -1.0
    joint = share(units, v, w)
    if joint == 1:
        return 1.0
    if joint + smoothing == 0:
        return -1.0
    return math.log((joint + smoothing) / (share(units, v) * share(units, w))) / -math.log(joint + smoothing)


def naive(units, topic, measure, smoothing):
    if measure == "npmi":
        return np.mean([naive_npmi(units, v, w, smoothing) for v, w in combinations(topic, 2)])
    if measure == "umass":
        return np.mean(
            [
                math.log((share(units, v, w) + smoothing) / (share(units, v) or 1))
                for v, w in combinations(topic, 2)
            ]
        )
    rows = np.array([[naive_npmi(units, v, w, smoothing) for w in topic] for v in topic])
    total = rows.sum(axis=0)
    cosines = [
        row @ total / np.linalg.norm(row) / np.linalg.norm(total) if share(units, word) else 0.0
        for word, row in zip(topic, rows, strict=True)
    ]
    return np.mean(cosines)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("window", [None, 1, 2, 4, 50])
@pytest.mark.parametrize("seed", range(2))
def test_against_loops(measure, window, seed):
    texts = drawn_texts(seed)
    topics = [WORDS[:4], WORDS[3:8], ["wa", "wj", "never"]]
    units = [set(text) for text in texts] if window is None else windows_of(texts, window)
    found = coherence(
        topics,
        as_corpus(texts),
        measure=measure,
        smoothing=EPSILON,
        texts=map(" ".join, texts),
        window=window,
    )
    expected = [naive(units, topic, measure, EPSILON) for topic in topics]
    assert found.per_topic == pytest.approx(expected, abs=1e-9)
    assert found.mean == pytest.approx(np.mean(expected), abs=1e-9)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=1, max_size=6), st.integers(1, 9))
def test_windows_are_counted_as_by_hand(texts, size):
    topics = [WORDS[:3], WORDS[2:]]
    vectorizer = as_corpus([*texts, WORDS]).vectorizer
    n_windows, together = count_in_windows(map(" ".join, texts), vectorizer, topics, size)
    windows = windows_of(texts, size)
    assert n_windows == len(windows)
    for topic in topics:
        expected = [[sum(v in window and w in window for window in windows) for w in topic] for v in topic]
        assert together(topic).tolist() == expected


def test_tables_in_parts_are_the_same(monkeypatch):
    texts = drawn_texts(0)
    options = {"texts": [" ".join(text) for text in texts], "window": 3}
    topics = [WORDS[:4], WORDS[2:9], WORDS[5:]]
    whole = coherence(topics, as_corpus(texts), **options)
    monkeypatch.setattr("laconic.evaluate.windows._WORDS", 5)
    parts = coherence(topics, as_corpus(texts), **options)
    assert parts.per_topic.tolist() == whole.per_topic.tolist()


def gensim_values(topics, texts, measure, window):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gensim.corpora import Dictionary
        from gensim.models import CoherenceModel

        dictionary = Dictionary(texts)
        name = {"npmi": "c_npmi", "umass": "u_mass", "c_v": "c_v"}[measure]
        if measure == "umass":
            source = {"corpus": [dictionary.doc2bow(text) for text in texts]}
        else:
            source = {"texts": texts, "window_size": window}
        model = CoherenceModel(
            topics=topics, dictionary=dictionary, coherence=name, topn=10, processes=1, **source
        )
        return model.get_coherence_per_topic()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_whole_documents_are_those_of_gensim(measure, seed):
    """Whose windows are as long as the longest text."""
    texts = drawn_texts(seed)
    topics = [WORDS[:4], WORDS[3:8], WORDS]
    found = coherence(topics, as_corpus(texts), measure=measure, smoothing=EPSILON)
    assert found.per_topic == pytest.approx(gensim_values(topics, texts, measure, 100), abs=1e-9)


@pytest.mark.parametrize("measure", ["npmi", "c_v"])
@pytest.mark.parametrize("window", [2, 3, 5])
def test_windows_are_those_of_gensim_without_repeated_words(measure, window):
    texts = drawn_texts(1, repeated=False)
    topics = [WORDS[:4], WORDS[3:8], WORDS]
    found = coherence(
        topics,
        as_corpus(texts),
        measure=measure,
        smoothing=EPSILON,
        texts=map(" ".join, texts),
        window=window,
    )
    assert found.per_topic == pytest.approx(gensim_values(topics, texts, measure, window), abs=1e-9)


@pytest.mark.parametrize("measure", ["npmi", "c_v"])
@pytest.mark.parametrize("window", [2, 4])
def test_repeated_words_are_all_that_gensim_takes_for_gone(measure, window, monkeypatch):
    """With its windows looked at as a whole, the values are the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gensim.topic_coherence.text_analysis import WordOccurrenceAccumulator

    def look(self, words, number):
        self._uniq_words[:] = False
        self._uniq_words[np.unique(words)] = True

    texts = drawn_texts(2)
    topics = [WORDS[:4], WORDS[3:8], WORDS]
    options = {"smoothing": EPSILON, "texts": [" ".join(text) for text in texts], "window": window}
    found = coherence(topics, as_corpus(texts), measure=measure, **options).per_topic
    assert found != pytest.approx(gensim_values(topics, texts, measure, window), abs=1e-3)
    monkeypatch.setattr(WordOccurrenceAccumulator, "_slide_window", look)
    assert found == pytest.approx(gensim_values(topics, texts, measure, window), abs=1e-9)


def test_words_are_those_of_the_vectoriser():
    """Without stop words, as stems, and in lower case; unknown words keep their place."""
    texts = ["The Fishes of oddity swim", "a fishing boat swims", "boats"]
    corpus = Corpus.from_texts(texts, stemmer="english", min_df=2, max_df=1.0)
    assert corpus.vocabulary.tolist() == ["boat", "fish", "swim"]
    n_windows, together = count_in_windows(texts, corpus.vectorizer, [["fish", "swim"]], 2)
    assert n_windows == 2 + 2 + 1
    assert together(["fish", "swim"]).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize(("measure", "lowest"), [("npmi", -1.0), ("umass", math.log(1 / 60)), ("c_v", 0.0)])
def test_topics_without_two_words_have_the_lowest_value_and_no_share_in_the_mean(measure, lowest):
    corpus = as_corpus(drawn_texts(0))
    found = coherence([WORDS[:3], ["wa"], []], corpus, measure=measure)
    assert found.per_topic[1:] == pytest.approx(lowest)
    assert found.mean == found.per_topic[0]
    assert found.n_short == 2
    nothing = coherence([[], ["wa"]], corpus, measure=measure)
    assert (nothing.mean, nothing.n_short) == (pytest.approx(lowest), 2)
    assert coherence([], corpus, measure=measure).mean == pytest.approx(lowest)


def test_limits():
    texts = [["all", "even", "too"], ["all", "odd", "too"]] * 3
    corpus = as_corpus(texts)
    npmi = coherence([["all", "too"], ["even", "odd"], ["even", "nowhere"], ["all", "odd"]], corpus)
    assert npmi.per_topic.tolist() == [1.0, -1.0, -1.0, 0.0]
    for measure in MEASURES:
        for smoothing in (1e-12, 0.1, 0.5, 3.0):
            topics = [["all", "too"], ["even", "odd", "nowhere"], ["nowhere", "neither"]]
            found = coherence(topics, corpus, measure=measure, smoothing=smoothing)
            assert np.isfinite(found.per_topic).all()


@pytest.mark.parametrize("smoothing", [0.1, 0.5, 0.9, 0.99])
def test_smoothing_does_not_lift_npmi_above_1(smoothing):
    found = coherence([WORDS[:4], WORDS], as_corpus(drawn_texts(0)), smoothing=smoothing)
    assert (np.abs(found.per_topic) <= 1).all()


def test_umass_of_the_authors():
    """One document is added to those with both words."""
    texts = [["a1", "b1"], ["a1", "b1"], ["a1"], ["c1"]]
    found = coherence([["a1", "b1"], ["a1", "c1"]], as_corpus(texts), measure="umass")
    assert found.per_topic == pytest.approx([math.log((2 + 1) / 3), math.log((0 + 1) / 3)])


def test_signed_topics_have_the_words_of_the_first_sign():
    corpus = as_corpus(drawn_texts(0))
    signed = [[("wa", -3.0), ("wf", 2.0), ("wb", -1.0), ("wc", -0.5)]]
    plain = coherence([["wa", "wb", "wc"]], corpus)
    assert coherence(signed, corpus).mean == plain.mean
    assert coherence(signed, corpus, n_terms=2).mean == coherence([["wa", "wb"]], corpus).mean


def test_diversity():
    assert diversity([["a", "b"], ["c", "d"]]) == 1
    assert diversity([["a", "b"], ["a", "b"], []]) == 0.5
    assert diversity([["a", "b"], ["a", "c"]], n_terms=1) == 0.5
    assert diversity([[], []]) == 0
    assert diversity([[("a", 1.0), ("b", -1.0)], [("b", 1.0)]]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "uci"}, "measure='uci' is not known"),
        ({"n_terms": 0}, "n_terms"),
        ({"window": 0, "texts": []}, "window"),
        ({"window": 10}, "windows need texts"),
        ({"window": 5, "texts": []}, "0 texts for the corpus's 60 documents"),
        ({"window": 5, "texts": [""], "measure": "umass"}, "1 texts for the corpus's 60 documents"),
        ({"window": 5, "texts": ["wa"] * 61}, "61 texts for the corpus's 60 documents"),
        ({"window": 5, "texts": "wa wb"}, "not a single string"),
        ({"window": 5, "texts": ["wa", b"wb"]}, "text 2 is bytes, not a string"),
        ({"smoothing": -1}, "smoothing"),
        ({"smoothing": 0, "measure": "umass"}, "UMass needs a smoothing above 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        coherence([WORDS], as_corpus(drawn_texts(0)), **options)


def test_texts_in_place_of_a_corpus_are_answered_in_words():
    with pytest.raises(TypeError, match=r"not in a list: give the corpus .* or Corpus\.from_texts\(texts\)"):
        coherence([["sun", "moon"]], ["sun and moon", "salt"])
