"""HTML in texts: what is taken out, what stays, and when it is taken out unasked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import laconic
from laconic.corpus import Corpus, Vectorizer
from laconic.corpus.markup import ENOUGH, SAMPLE, has_markup, looked_at, without_markup
from laconic.datasets import load

EVERYTHING = {"min_df": 1, "max_df": 1.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<p>Red&nbsp;fish</p><p>blue</p>", "Red fish blue"),
        ("one<br/>two<BR>three<hr />", "one two three"),
        ('<a href="http://x.org/?a=1&amp;b=2" title="no">link</a>', "link"),
        ("<STYLE type='text/css'>p {color: red}</STYLE>seen<script>if (a < b) {}</script >", "seen"),
        ("<!doctype html><!-- hidden <b>words</b> -->shown", "shown"),
        ("AT&amp;T, &lt;AAPL.O&gt; &#39;s &#x2019; &eacute;", "AT&T, <AAPL.O> 's \u2019 é"),
        ("escaped &amp;amp; twice: &amp;quot;yes&amp;quot;", 'escaped & twice: "yes"'),
        ("&lt;b&gt;bold&lt;/b&gt; &lt;FONT size=&quot;-2&quot;&gt;small&lt;/FONT&gt;", "bold small"),
        # what AG News has: entities whose ampersand became a space
        ("Oracle #39;s  quot;offer quot; for  #36;10", 'Oracle \'s "offer " for $10'),
        ("Johnson  amp; Johnson   hellip; lt;b gt;now lt;/b gt;", "Johnson & Johnson \u2026 now"),
    ],
)
def test_markup_is_taken_out(text, words):
    assert without_markup(text).split() == words.split()


@pytest.mark.parametrize(
    "text",
    [
        "if a < b and c > d: return;",
        "x <b and c> y; z",
        "#include <stdio.h>\nvector<int> v; map<string, Table> t;",
        "From: Ann <ann@example.org>; see <URL> & others; R&D;",
        "DoD #0821; BMWMOA #11522; issue #12, colour #666666;",
        "result; multiamp; vault; default;",
        "",
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert without_markup(text) == text
    assert not has_markup(text)


@given(st.text(st.sampled_from("<>&;#/!-= abpqu39ltgx\n'\"") | st.characters(), max_size=60))
def test_any_text_can_be_looked_at(text):
    plain = without_markup(text)
    assert isinstance(plain, str)
    if not set("<&;") & set(text):
        assert plain == text


def test_enough_texts_have_to_show_it():
    few = int(ENOUGH * SAMPLE) - 1
    stray, plenty = ["R&amp;D"] * few + ["plain"] * SAMPLE, ["R&amp;D"] * (few + 1) + ["plain"] * SAMPLE
    assert [looked_at(texts)[0] for texts in (stray, plenty, [])] == [False, True, False]
    # texts may be a stream, and none of them is lost
    assert list(looked_at(iter(plenty))[1]) == plenty
    assert not looked_at(["plain"] * SAMPLE + ["R&amp;D"] * SAMPLE)[0]


@pytest.mark.parametrize("name", ["20newsgroups", "reuters21578", "bbc_news", "scifact", "dblp4"])
def test_plain_collections_are_left_alone(data_dir, name):
    assert not looked_at(load(name).texts)[0]


def test_texts_that_come_later_are_treated_alike(tmp_path):
    texts = ["<b>red</b> fish", "blue&nbsp;fish", "the bird #39;s"]
    vectorizer = Vectorizer(**EVERYTHING)
    vectorizer.fit_count(texts)
    assert vectorizer.vocabulary.tolist() == ["bird", "blue", "fish", "red"]
    assert vectorizer.to_dict()["html"] is True
    later = ["<b>fish</b><script>bird</script>", "&#98;ird"]
    expected = [[0, 0, 1, 0], [1, 0, 0, 0]]
    assert vectorizer.count(later).toarray().tolist() == expected
    assert vectorizer.count(iter(later)).toarray().tolist() == expected
    settings = json.loads(json.dumps(vectorizer.to_dict()))
    again = Vectorizer.from_dict(settings, vectorizer.vocabulary, vectorizer.idf, vectorizer.mean_length)
    assert again.count(later).toarray().tolist() == expected
    corpus = Corpus.from_texts(texts, **EVERYTHING)
    corpus.save(tmp_path / "corpus")
    assert Corpus.load(tmp_path / "corpus").vectorizer.count(later).toarray().tolist() == expected


def test_one_may_ask_for_either():
    texts = ["<b>red</b> fish", "em fish"]
    assert "em" in Corpus.from_texts(["<em>red</em>", "em"], html=False, **EVERYTHING).vocabulary
    assert Vectorizer(html=False, **EVERYTHING).fit_count(texts).shape == (2, 3)
    plain = Vectorizer(html=True, **EVERYTHING)
    plain.fit_count(["plain words only", "plain"])
    assert plain.to_dict()["html"] is True
    # what was seen in some texts is not held against others
    auto = Vectorizer(**EVERYTHING)
    auto.fit_count(texts)
    auto.fit_count(["plain words", "plain"])
    assert auto.to_dict()["html"] is False
    with pytest.raises(ValueError, match="html must be True, False or None"):
        Vectorizer(html="yes")


def test_settings_without_it_take_nothing_out():
    old = Vectorizer.from_dict({"weighting": "count"}, ["bold", "fish"])
    assert old.to_dict()["html"] is False
    assert old.plain("<b>fish</b>") == "<b>fish</b>"


def test_snippets_are_without_markup():
    texts = ["<p>red <b>fish</b> &amp; bird</p>", "blue fish", "red bird", "a storm", "no storm"]
    bundle = laconic.fit(texts, n_topics=2, min_df=1, max_df=1.0, random_state=0)
    found = bundle.search("<i>fish</i> bird")
    assert found[0].snippet.text == "red fish & bird"
    assert [found[0].snippet.text[start:stop] for start, stop in found[0].snippet.matches] == ["fish", "bird"]


def test_words_in_nearly_every_text_are_told():
    texts = ["said reuters red"] * 95 + ["said blue"] * 5
    vectorizer = Vectorizer(max_df=1.0)
    vectorizer.fit_count(texts)
    assert vectorizer.tally.common == ("said", "reuters", "red")
    default = Vectorizer()
    default.fit_count(texts)
    assert default.tally.common == ("said", "reuters", "red")
    assert default.vocabulary.tolist() == ["blue"]
    few = Vectorizer(max_df=1.0)
    few.fit_count(texts[:99])
    assert few.tally.common == ()
