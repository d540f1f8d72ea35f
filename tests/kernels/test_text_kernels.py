"""Characters, tokens and tables of terms, each beside what Python itself makes of them."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.corpus.terms import GIVEN, TermTable, encoded, given_tokens
from laconic.corpus.tokens import character_classes, find_tokens
from laconic.kernels.text import CODE, OPENS, WORD

EVERYTHING = [chr(code) for code in range(0x110000)]
IN_CONTEXT = {"\u0130", "\u03a3"}  # dotted capital i, capital sigma
WILD = st.text(
    # Letters whose case, width or class is out of the ordinary.
    st.sampled_from("aZ_9 .éÉßİΣσςKÅǅⅣ½²٣١ａＡ我的𝔸𐐀𐐨\u0345\u0307\u200d\ud800\udc00\0Ⱥ")  # noqa: RUF001
    | st.characters(codec=None),
    max_size=40,
)
PATTERNS = [r"(?u)\b[^\W\d_]\w+\b", r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"[^,]*", r"(\w)\w*"]


def as_bytes(texts):
    return np.frombuffer(b"".join(text + b"\xff" for text in texts), np.uint8)


def counters(table, texts, rule):
    """What a table finds in each text, as a Counter of strings."""
    found = table.count(as_bytes(texts), len(texts), rule)
    terms = table.spell(found.ids)
    starts = [0, *found.ends[:-1]]
    return [
        Counter(dict(zip(terms[start:end], found.counts[start:end].tolist(), strict=True)))
        for start, end in zip(starts, found.ends, strict=True)
    ]


@pytest.mark.parametrize("letter_first", [False, True])
def test_classes_are_those_of_re(letter_first):
    classes = character_classes(0x110000, letter_first, False)
    opening = re.compile(r"[^\W\d_]" if letter_first else r"\w").match
    word = re.compile(r"\w").match
    assert (classes & CODE == np.arange(0x110000)).all()
    assert (classes & WORD != 0).tolist() == [word(letter) is not None for letter in EVERYTHING]
    assert (classes & OPENS != 0).tolist() == [opening(letter) is not None for letter in EVERYTHING]


def test_lower_case_is_that_of_python_but_for_two_letters():
    lowered = [chr(code) for code in (character_classes(0x110000, False, True) & CODE).tolist()]
    differ = {
        letter
        for letter, lower in zip(EVERYTHING, lowered, strict=True)
        if not lower == letter.lower() == ("a" + letter).lower()[1:] == (letter + "a").lower()[:-1]
    }
    assert differ == IN_CONTEXT
    assert all(lower == lower.lower() for lower in lowered)


def test_lower_case_needs_no_more_room_than_is_reserved():
    for letter in EVERYTHING:
        assert 2 * len(encoded(letter.lower())) <= 3 * len(encoded(letter))


def test_the_classes_of_ascii_are_the_first_of_all():
    for letter_first in (False, True):
        for lowercase in (False, True):
            for size in (0x80, 0x800, 0x10000):
                few = character_classes(size, letter_first, lowercase)
                np.testing.assert_array_equal(
                    few, character_classes(0x110000, letter_first, lowercase)[:size]
                )


@given(st.lists(WILD, min_size=1, max_size=5), st.sampled_from(PATTERNS), st.booleans())
def test_tokens_are_those_of_re(texts, pattern, lowercase):
    tokens = find_tokens(pattern, lowercase=lowercase)
    parts = [tokens.encode(text) for text in texts]
    highest = max(max(part, default=0) for part in [*parts, b""])
    found = counters(TermTable(), parts, tokens.rule(min(highest, 0xFF)))
    expected = [re.findall(pattern, text.lower() if lowercase else text) for text in texts]
    assert found == [Counter(words) for words in expected]


@pytest.mark.parametrize("length", range(40))
def test_tokens_of_all_lengths(length):
    words = ["x" * length, "x" * length + "y", "y" + "x" * length, "é" * length, "x" * length + "我"]
    assert counters(TermTable(), [given_tokens(words + words)], GIVEN) == [Counter(words + words)]


def test_nul_bytes_do_not_make_terms_alike():
    words = ["", "\0", "\0\0", "a", "a\0", "\0a", "x" * 8, "x" * 8 + "\0", "x" * 16, "x" * 16 + "\0" * 8]
    assert counters(TermTable(), [given_tokens(words)], GIVEN) == [Counter(words)]


def test_a_table_grows_in_the_middle_of_a_text():
    words = [f"word{k % 50_000}" * (1 + k % 5) for k in range(120_000)]
    assert counters(TermTable(), [given_tokens(words), given_tokens(words[:10])], GIVEN) == [
        Counter(words),
        Counter(words[:10]),
    ]


def test_terms_with_the_same_tag_are_told_apart():
    words = [f"{k}" for k in range(300_000)]
    table = TermTable()
    assert counters(table, [given_tokens(words)], GIVEN) == [Counter(words)]
    tags = table._slots[table._slots != 0] >> 32
    assert len(tags) == len(words)
    assert len(np.unique(tags)) < len(words)


def test_slots_that_are_taken_send_terms_to_the_next():
    # Until a table grows it has 2048 slots, which 1000 terms cannot share without meeting.
    words = [f"{k:04}" for k in range(1000)]
    table = TermTable()
    assert counters(table, [given_tokens(words)], GIVEN) == [Counter(words)]
    slots = np.flatnonzero(table._slots)
    wanted = (table._slots[slots] >> 32) & (len(table._slots) - 1)
    assert (slots != wanted).sum() > 50


def test_stop_words_are_not_counted():
    table = TermTable(["the", "don't", ""])
    assert counters(table, [given_tokens(["the", "fish", "", "don't"]), b""], GIVEN) == [
        Counter(["fish"]),
        Counter(),
    ]
    assert table.n_tokens == 1
    assert table.documents.tolist() == [0, 0, 0, 1]


def test_ngrams_stay_in_their_text():
    table = TermTable(["the"], (1, 3))
    texts = [given_tokens(text.split()) for text in ("a the b c a b", "", "c", "a b")]
    assert counters(table, texts, GIVEN) == [
        Counter(["a", "b", "c", "a", "b", "a b", "b c", "c a", "a b", "a b c", "b c a", "c a b"]),
        Counter(),
        Counter(["c"]),
        Counter(["a", "b", "a b"]),
    ]


def test_absorbing_keeps_every_term(monkeypatch):
    monkeypatch.setattr("laconic.corpus.terms._ABSORBED", 7)
    one, other = TermTable(["the"], (1, 3)), TermTable(["the"], (1, 3))
    counters(one, [given_tokens(f"a{k}" for k in range(3000))], GIVEN)
    words = [f"a{k * 7 % 4000}" * (1 + k % 3) for k in range(3000)]
    expected = counters(other, [given_tokens(words)], GIVEN)[0]
    mapping = one.absorb(other)
    assert mapping[0] == -1
    assert one.spell(mapping[1:]) == other.spell(np.arange(1, len(other), dtype=np.int32))
    assert len(np.unique(mapping[1:])) == len(other) - 1
    assert one.documents[mapping[1:]].min() >= 1
    assert set(expected) <= set(one.spell(np.arange(len(one), dtype=np.int32)))
