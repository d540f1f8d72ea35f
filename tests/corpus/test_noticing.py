"""What is noticed while texts are counted: the wrong stop words, a script without spaces."""

import warnings

import pytest

from laconic.corpus import Vectorizer
from laconic.corpus.languages import english_words, stop_words_of
from laconic.corpus.noticing import SIGNS
from laconic.errors import CorpusError, InputWarning

GERMAN = [
    "Der Hund und die Katze sind nicht in dem Haus, das mit einer Mauer für sich steht.",
    "Es ist auch ein Baum auf der Wiese, und eine Bank wird von ihm verdeckt.",
    "Die Regierung hat das Gesetz mit einer Mehrheit beschlossen, und es wird nicht geändert werden.",
] * 10
ENGLISH = [
    "The dog and the cat are not in the house that stands with a wall of its own.",
    "There is a tree on the meadow, and the bench is hidden by it, which was for them.",
    "The government has passed the law with a majority and they have been told that this is final.",
] * 10


def noticed(texts, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Vectorizer(min_df=1, max_df=1.0, **options).fit_count(texts)
    assert all(issubclass(one.category, InputWarning) and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_stop_words_of_another_language_are_noticed():
    (told,) = noticed(GERMAN)
    assert told == (
        "the texts seem to be German, and the most common words of that language are among the terms, "
        "because those that were left out are English: use stop_words='german', or "
        "stop_words='english,german' for both"
    )
    (told,) = noticed(ENGLISH, stop_words="german")
    assert "seem to be English" in told
    assert "use stop_words='english'" in told


def test_nothing_is_told_of_stop_words_that_fit_or_are_not_wanted():
    assert not noticed(GERMAN, stop_words="german")
    assert not noticed(GERMAN + ENGLISH, stop_words="english,german")
    assert not noticed(GERMAN, stop_words=None)
    assert not noticed(ENGLISH)
    # two or three texts, or words of no language, are not enough to tell
    assert not noticed(GERMAN[:3])
    assert not noticed(["salt pepper chilli", "sun moon stars"] * 50)


@pytest.mark.parametrize("language", SIGNS)
def test_signs_of_a_language_are_among_its_stop_words_and_no_english_ones(language):
    words = english_words() if language == "english" else set(stop_words_of(language))
    assert len(SIGNS[language] & words) >= 0.7 * len(SIGNS[language]), SIGNS[language] - words
    if language != "english":
        assert len(SIGNS[language] & english_words()) <= 2


def test_scripts_without_spaces_are_noticed():
    chinese = [
        "我们今天讨论人工智能的发展。它改变了我们的生活方式。",
        "北京的天气很好。适合去公园散步和拍照。",
    ] * 5
    (told,) = noticed(chinese)
    assert "Chinese or Japanese" in told
    assert "jieba.lcut (pip install jieba)" in told
    assert noticed(["ประเทศไทยมีวัฒนธรรมที่หลากหลาย", "วันนี้อากาศดีมากเราไปเที่ยวทะเล"])[0].startswith(
        "the texts are Thai"
    )
    split = [" ".join(text[i : i + 2] for i in range(0, len(text), 2)) for text in chinese]
    assert not noticed(split)
    assert not noticed(chinese, tokenizer=list)
    # a name or two is no text
    assert not noticed([*ENGLISH, "北京的天气很好"])


def test_the_command_line_words_it_its_own_way(laconic_told):
    told = laconic_told(GERMAN)
    assert "use --stop-words german, or --stop-words english,german for both" in " ".join(told.split())


@pytest.fixture
def laconic_told(capsys):
    from laconic.cli.screen.reading import ReadingDisplay

    def run(texts):
        with ReadingDisplay():
            Vectorizer(min_df=1, max_df=1.0).fit_count(texts)
        return capsys.readouterr().err

    return run


def test_clauses_of_which_none_is_left_are_explained():
    """Each occurs once: the error says so, and the warning before it why."""
    texts = [f"今天天氣很好我們去公園{number}" for number in "一二三四五六七八九十"]
    with (
        pytest.warns(InputWarning, match=r"Japanese.* or give a tokenizer, for example with jieba"),
        pytest.raises(CorpusError, match="no terms are left of 10"),
    ):
        Vectorizer(min_df=2).fit_count(texts)
