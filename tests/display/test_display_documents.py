"""Corpora, hits and explanations in a notebook; and that no text gets out of its place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from display_toys import read
from hypothesis import given
from hypothesis import strategies as st

from laconic import RLSI, Corpus, SearchIndex
from laconic.display import documents
from laconic.display.documents import CorpusView, corpus_view, view_html
from laconic.display.markup import MINUS, escaped, name
from laconic.display.topics import TopicRow, topics_table
from laconic.search.results import Explanation, Hit, Results, Snippet, TermMatch, TopicMatch

TEXTS = ["red fish, blue fish", "one fish", "", "red bird", "a bird & a <b>fish</b>"]

WORST = (
    ["<script>alert(1)</script>", "</td></table>", "\"' onload=x", "&lt;", "<!--", "]]>", "\x00\x1b[2J"],
    [
        "\ud800",
        "\u202eevil",
        "</style>",
        "\N{ZERO WIDTH JOINER}",
        "x" * 500,
        "\ufffe\uffff",
        "",
        " ",
        "{}",
        "%s",
    ],
)
hostile = st.one_of(st.text(st.characters(codec=None), max_size=80), *map(st.sampled_from, WORST))
harmless = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]))
numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(harmless)
def test_escaped_text_is_that_text(text):
    assert read(f"<p>{escaped(text)}</p>").text == text
    assert read(f'<p title="{escaped(text)}"></p>').titles == [text]


@given(hostile)
def test_escaped_text_is_text_and_nothing_else(text):
    page = read(f'<p title="{escaped(text)}">{name(text)}</p>')
    assert not set(page.text) & set("\x00\x1b\x7f\u202e\ud800\uffff")


def test_what_cannot_be_shown_is_spelt_out():
    assert read(f"<p>{escaped(WORST[0][-1] + WORST[1][0])}</p>").text == r"\x00\x1b[2J\ud800"


@given(st.lists(st.tuples(hostile, numbers), max_size=4), hostile, numbers)
def test_topics_of_any_words_are_well_formed(weighted, text, share):
    read(topics_table([TopicRow(0, 3, [weighted, []], text, share)], [text, "<b>"]))


@given(hostile, hostile, st.lists(st.tuples(st.integers(-5, 90), st.integers(-5, 90)), max_size=5), numbers)
def test_hits_and_explanations_of_any_texts_are_well_formed(text, other, matches, score):
    snippet = Snippet(text, tuple(matches))
    read(snippet)
    results = Results([Hit(other, score, score, -1.0, snippet), Hit(text, 0, 0, 0, None)])
    assert len(read(results).rows) == 3
    terms = (TermMatch(text, score, 1.0), TermMatch(other, 2.0, 0.5))
    topics = (TopicMatch(3, (text, other), score, 1.0), TopicMatch(4, (), -2.0, 1.0))
    read(Explanation(text, score, score, score, 0.2, score, terms, topics))


@given(hostile, hostile, st.integers(0, 10))
def test_corpora_of_any_words_are_well_formed(text, other, count):
    view = CorpusView(count, 2, 3, 1, 1, [(text, count)], 1, [other, text], {other: count}, text)
    assert len(read(view_html(view)).rows) == 4


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(
        TEXTS, labels=["<i>", "<i>", "b", "b", "b"], ids=list("vwxyz"), min_df=1, max_df=1.0, html=False
    )


def test_a_corpus_shows_its_sizes_labels_and_terms(corpus):
    page = read(corpus)
    assert "5 documents × 4 terms" in page.text  # noqa: RUF001
    assert "1 document without any term of the vocabulary" in page.text
    assert "weighted by log-entropy" in page.text
    assert ["b", "3", "60.0%"] in page.rows
    assert ["<i>", "2", "40.0%"] in page.rows
    assert ["fish", "3", "60.0%"] in page.rows
    assert page.text.endswith("bird\u2002blue\u2002fish\u2002red")


def test_frequencies_are_the_same_however_they_are_found(corpus, monkeypatch):
    rows = Corpus(corpus.counts, corpus.vectorizer)
    columns = Corpus(corpus.counts, corpus.vectorizer)
    assert columns.counts_csc.nnz
    assert "counts_csc" not in vars(rows)
    assert corpus_view(rows).frequent == corpus_view(columns).frequent
    monkeypatch.setattr(documents, "_MOST_COUNTED", 3)
    view = corpus_view(rows)
    assert (view.n_counted, dict(view.frequent)) == (1, {"blue": 1, "fish": 1, "red": 1})
    assert "of the first 1 documents" in read(rows).text


def test_dates_are_told_from_the_first_to_the_last():
    corpus = Corpus.from_texts(
        ["red fish", "red", "fish"], dates=["2021-05-01", None, "1999-12-31"], max_df=1.0
    )
    assert "from 1999-12-31 to 2021-05-01" in read(corpus).text
    undated = Corpus.from_texts(["red fish", "red", "fish"], dates=[None] * 3, max_df=1.0)
    assert "from" not in read(undated).text.split("average")[1].split("label")[0]


def test_many_labels_are_told_by_their_number():
    labels = [f"l{n // 2:02}" for n in range(60)]
    page = read(Corpus.from_texts(["sun moon"] * 60, labels=labels, max_df=1.0))
    assert ["18 more", "36", ""] in page.rows


def test_odd_corpora_are_shown_all_the_same(corpus):
    assert read(view_html(CorpusView(0, 0, 0))).rows == []
    none = Corpus._restored(
        corpus.counts[:0],
        corpus.counts_csc[:0],
        corpus.vectorizer,
        labels=corpus.labels[:0],
        ids=corpus.ids[:0],
        dates=None,
        texts=None,
    )
    assert "0 documents" in read(none).text
    empty = Corpus.from_counts(np.zeros((2, 1)), ["red"])
    assert "2 documents without any term" in read(empty).text


def test_hits_are_marked_where_their_words_are(corpus):
    model = RLSI(2, random_state=0).fit(corpus.X)
    index = SearchIndex(corpus, model, texts=TEXTS)
    results = index.search("red fish")
    page = read(results)
    assert [row[4] for row in page.rows[1:]] == results.ids
    assert [row[1] for row in page.rows[1:]] == [f"{score:.3f}" for score in results.scores]
    assert page.marks[:3] == ["red", "fish", "fish"]
    assert "a bird & a <b>fish</b>" in page.text
    assert "no document matches" in read(index.search("unheard")).text
    assert "no document matches" in read(Results([])).text
    assert len(read(results[:1]).rows) == 2
    explanation = index.explain("red fish", "v")
    page = read(explanation)
    assert "red" in [row[1] for row in page.rows]
    # what is shown adds up to the score
    assert sum(float(row[2].replace(MINUS, "-")) for row in page.rows[1:]) == pytest.approx(
        explanation.score, abs=2e-3
    )


def test_matches_that_overlap_or_lie_outside_are_marked_once():
    assert read(Snippet("red fish", ((4, 8), (0, 3)))).marks == ["red", "fish"]
    page = read(Snippet("red fish", ((0, 3), (1, 5), (4, 99), (-3, 2), (7, 2))))
    assert page.text == "red fish"
    assert page.marks == ["red fish"]


def test_what_counts_against_a_document_has_a_minus_and_its_own_bar():
    parts = (TopicMatch(0, ("sun",), 1.0, 1.0), TopicMatch(1, ("rain",), -0.5, -0.5))
    shown = Explanation("d", 0.1, 0.0, 0.5, 0.2, 1.0, (), parts)
    page = read(shown)
    assert [row[2] for row in page.rows[1:]] == ["+0.200", f"{MINUS}0.100"]
    assert 'class="laconic-bar laconic-minus" style="width:50.0%"' in shown._repr_html_()
    assert "no word and no topic in common" in read(Explanation("d", 0, 0, 0, 0.2, 0, (), ())).text


def test_labels_and_dates_of_hits_are_shown_where_there_are_any():
    @dataclass(frozen=True)
    class Labelled(Hit):
        label: str | None = None
        date: str | None = None

    hits = [Labelled("a", 1.0, 1.0, 1.0, label="<sea>", date="2020-01-01"), Labelled("b", 1.0, 1.0, 1.0)]
    page = read(Results(hits))
    assert [row[5] for row in page.rows] == ["about it", "<sea> · 2020-01-01", ""]


def test_many_hits_are_not_all_shown():
    page = read(Results([Hit(str(n), 1.0, 1.0, 0.0) for n in range(70)]))
    assert len(page.rows) == 51
    assert "results[50:]" in page.text
