import numpy as np
import pytest

from laconic.corpus import Vectorizer
from laconic.search.snippets import make_snippet


@pytest.fixture(scope="module")
def vectorizer():
    vectorizer = Vectorizer(min_df=1, max_df=1.0, stemmer="english")
    vectorizer.fit_count(["fishing boats in the harbour", "a storm"])
    return vectorizer


def columns(vectorizer, *words):
    return np.array([vectorizer.vocabulary.tolist().index(word) for word in words])


def marked(snippet):
    return [snippet.text[start:stop] for start, stop in snippet.matches]


def test_words_match_as_the_vectoriser_sees_them(vectorizer):
    snippet = make_snippet("The Fishes,\n fished;  FISHING", vectorizer, columns(vectorizer, "fish"))
    assert snippet.text == str(snippet) == "The Fishes, fished; FISHING"
    assert marked(snippet) == ["Fishes", "fished", "FISHING"]


def test_the_piece_has_most_of_the_words(vectorizer):
    text = "fish. " + "filler " * 100 + "a storm in the harbour " + "more " * 100
    snippet = make_snippet(text, vectorizer, columns(vectorizer, "fish", "storm", "harbour"), 100)
    assert marked(snippet) == ["storm", "harbour"]
    assert snippet.text.startswith("… filler")
    assert snippet.text.endswith("more …")
    assert len(snippet.text) <= 104


@pytest.mark.parametrize("text", ["", "nothing of it", "x" * 1000, "word " * 1000, "fish " * 100_000])
def test_any_text_has_a_piece(vectorizer, text):
    snippet = make_snippet(text, vectorizer, columns(vectorizer, "fish"))
    assert len(snippet.text) <= 170
    assert all(word == "fish" for word in marked(snippet))
    assert bool(snippet.matches) == ("fish" in text)


def test_a_query_without_words_gives_the_beginning(vectorizer):
    snippet = make_snippet("a storm " * 50, vectorizer, np.array([], int))
    assert snippet.text.startswith("a storm")
    assert snippet.matches == ()


@pytest.mark.parametrize(
    "text",
    [
        "word " * 50 + "x" * 90 + "-fish " + "more " * 50,
        "word " * 50 + "x" * 90 + "-fish",
        "word " * 50 + "fish-" + "x" * 400,
        "-" * 500 + "fish" + "-" * 500,
    ],
)
def test_a_match_beside_a_long_run_is_shown(vectorizer, text):
    snippet = make_snippet(text, vectorizer, columns(vectorizer, "fish"))
    assert marked(snippet) == ["fish"]
    assert len(snippet.text) <= 170
