"""Words that are given: lists in place of texts, a tokenizer, emoji, and stop words that add up."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import laconic
from laconic import Corpus, CorpusError, load
from laconic.corpus import Vectorizer, languages
from laconic.corpus.languages import english_words, stop_words_of
from laconic.errors import ParameterError

TEXTS = ["Red fish, blue fish", "one red bird", "", "blue bird and red fish"]
LOOSE = {"min_df": 1, "max_df": 1.0}


def characters(text):
    return [sign for sign in text if sign.isalpha()]


def test_lists_of_words_are_counted_like_the_texts():
    texts, lists = Vectorizer(**LOOSE), Vectorizer(**LOOSE)
    ours = texts.fit_count(TEXTS)
    theirs = lists.fit_count([text.replace(",", "").split() for text in TEXTS])
    assert texts.vocabulary.tolist() == lists.vocabulary.tolist()
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    # what comes later may be either
    np.testing.assert_array_equal(
        lists.count(["red fish"]).toarray(), lists.count([["Red", "fish"]]).toarray()
    )


def test_words_of_lists_stay_whole_and_need_no_letters():
    vectorizer = Vectorizer(stop_words=None, lowercase=False, **LOOSE)
    vectorizer.fit_count([["New York", "C++", "7", " "], ["C++"]])
    assert vectorizer.vocabulary.tolist() == ["7", "C++", "New York"]


def test_texts_and_lists_are_not_mixed():
    with pytest.raises(CorpusError, match="lists of words and others strings"):
        Vectorizer(**LOOSE).fit_count([["red"], "fish"])
    with pytest.raises(CorpusError, match="tokens must be strings, not int"):
        Vectorizer(**LOOSE).fit_count([["red", 7]])
    with pytest.raises(CorpusError, match="text 1 is of type list"):
        Vectorizer(**LOOSE).fit_count(["fish", ["red"]])


def test_lists_of_words_make_a_bundle_with_texts():
    bundle = laconic.fit(
        [["sun", "moon"], ["moon", "sun"], ["salt", "pepper"], ["pepper", "salt"]], n_topics=2
    )
    assert bundle.documents.texts[2] == "salt pepper"
    assert bundle.search("pepper").ids == ["2", "3"]


def test_a_tokenizer_splits_texts_and_queries():
    corpus = Corpus.from_texts(["红鱼", "红鸟", "蓝鸟"], tokenizer=characters, stop_words=None, **LOOSE)
    assert corpus.vocabulary.tolist() == ["红", "蓝", "鱼", "鸟"]
    np.testing.assert_array_equal(corpus.vectorize(["蓝"]).toarray()[0] > 0, [False, True, False, False])
    assert corpus.vectorizer.find("红鱼", [2]) == [(1, 2, 2)]


def test_a_tokenizer_is_saved_by_its_name_and_never_called_from_a_file(tmp_path):
    texts = ["红鱼", "红鱼", "蓝鸟", "蓝鸟"]
    bundle = laconic.fit(texts, n_topics=2, tokenizer=characters, stop_words=None)
    bundle.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    with pytest.raises(
        CorpusError,
        match=r"splits texts into words with the function .*characters, which is not saved with it",
    ):
        loaded.transform(["红鱼"])
    expected = bundle.transform(["红鱼"]).toarray()
    np.testing.assert_array_equal(loaded.transform([["红", "鱼"]]).toarray(), expected)
    loaded.vectorizer.tokenizer = characters
    np.testing.assert_array_equal(loaded.transform(["红鱼"]).toarray(), expected)


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(ParameterError, match="tokenizer must be a function"):
        Vectorizer(tokenizer="jieba.lcut")


def test_emoji_are_words_on_demand():
    texts = ["so good \U0001f44d\U0001f3fd\U0001f600!", "bad \U0001f44e \U0001f1e9\U0001f1ea", "good"]
    vectorizer = Vectorizer(emoji=True, stop_words=None, **LOOSE)
    vectorizer.fit_count(texts)
    found = set(vectorizer.vocabulary)
    assert {"\U0001f44d\U0001f3fd", "\U0001f600", "\U0001f44e", "\U0001f1e9\U0001f1ea", "good"} <= found
    column = vectorizer.vocabulary.tolist().index("\U0001f600")
    assert vectorizer.count(["\U0001f600\U0001f600"]).toarray()[0, column] == 2
    assert vectorizer.find(texts[0], [column])[0][2] == column
    plain = Vectorizer(stop_words=None, **LOOSE)
    plain.fit_count(texts)
    assert plain.vocabulary.tolist() == ["bad", "good", "so"]
    with pytest.raises(ParameterError, match="emoji goes with a token_pattern without capturing groups"):
        Vectorizer(emoji=True, token_pattern=r"(\w)\w+")


def test_stop_words_add_up(tmp_path):
    path = tmp_path / "my.txt"
    path.write_text("inc\nltd\n")
    both = set(english_words()) | set(stop_words_of("german"))
    assert set(Vectorizer(stop_words="english,german").to_dict()["stop_words"]) == both
    assert set(Vectorizer(stop_words=f"english, {path}").to_dict()["stop_words"]) == {
        *english_words(),
        "inc",
        "ltd",
    }
    extended = Vectorizer(stop_words=["english", Path(path), ["gmbh"]]).to_dict()["stop_words"]
    assert set(extended) == {*english_words(), "inc", "ltd", "gmbh"}
    assert Vectorizer(stop_words="english").to_dict()["stop_words"] == "english"
    assert Vectorizer(stop_words=["english", "german"]).to_dict()["stop_words"] == ["english", "german"]
    for wrong, message in (("english,none.txt", "there is no file none.txt"), (",", "is neither a language")):
        with pytest.raises(ParameterError, match=message):
            Vectorizer(stop_words=wrong)


def test_english_stop_words_are_those_of_scikit_learn_and_need_none_of_its_imports():
    assert english_words() == ENGLISH_STOP_WORDS
    code = "import sys; from laconic.corpus.languages import english_words as words; words()"
    loaded = "print(len(words()), 'sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {loaded}"], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(len(ENGLISH_STOP_WORDS)), "False"]


def test_english_stop_words_that_have_moved_are_found_where_scikit_learn_offers_them(monkeypatch):
    monkeypatch.setattr(languages, "find_spec", lambda name: None)
    assert english_words.__wrapped__() == ENGLISH_STOP_WORDS
