"""The table of terms that counting fills: tokens and n-grams by number, spelled only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from laconic.errors import CorpusError, InPython
from laconic.kernels import text as kernel

Bytes: TypeAlias = NDArray[np.uint8]
Ids: TypeAlias = NDArray[np.int32]
Words: TypeAlias = NDArray[np.uint64]
Stem: TypeAlias = Callable[[list[str]], list[bytes]]
Number = TypeVar("Number", bound=np.generic)

_FEWEST = 1024
_ABSORBED = 1 << 20  # at a time
_MOST_TERMS = 1 << 30
_MOST_WORDS = 1 << 31

# Every byte of a token that was found elsewhere is taken as it is.
_AS_IT_IS = np.arange(kernel.TOKEN_END, dtype=np.uint32) | np.uint32(kernel.WORD | kernel.OPENS)


class Rule(NamedTuple):
    """What a token is: the classes of characters, those below which a byte is one, and the shortest token."""

    classes: NDArray[np.uint32]
    plain: int
    shortest: int


GIVEN = Rule(_AS_IT_IS, plain=kernel.TOKEN_END, shortest=0)
"""Tokens as `given_tokens` writes them."""


class Found(NamedTuple):
    """The terms of a batch of texts: those of text i stand before ``ends[i]``, each of them once."""

    ids: Ids
    counts: NDArray[Any]
    ends: NDArray[np.int64]


def encoded(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates pass, so that they are counted, and refused only as terms."""
    return text.encode("utf-8", "surrogatepass")


def given_tokens(tokens: Iterable[str]) -> bytes:
    """Write tokens as a text of which `GIVEN` makes the same tokens."""
    return b"".join([encoded(token) + b"\xfe" for token in tokens])


class TermTable:
    r"""Terms by number, in the order of their first appearance.

    Parameters
    ----------
    stop_words : iterable of str
        Tokens that are not counted; they are the first terms.
    ngram_range : (int, int)
        Lengths of the n-grams that are counted. Others may get numbers too, as parts of longer ones.

    Examples
    --------
    >>> table = TermTable(["the"], (1, 1))
    >>> text = given_tokens(["the", "fish", "fish"]) + b"\xff"
    >>> found = table.count(np.frombuffer(text, np.uint8), 1, GIVEN)
    >>> found.ids.tolist(), found.counts.tolist(), table.spell(found.ids)
    ([1], [2], ['fish'])
    """

    def __init__(self, stop_words: Iterable[str] = (), ngram_range: tuple[int, int] = (1, 1)) -> None:
        self._sizes = np.zeros(2, np.int64)
        self._slots = np.zeros(2 * _FEWEST, np.int64)
        self._rows = np.empty((_FEWEST, 2), np.int64)
        self._notes = np.empty((_FEWEST, 2), np.int64)
        self._arena = np.empty(_FEWEST, np.uint64)
        self._n_noted = 0
        self._scratch = np.empty(_FEWEST, np.int64), np.empty(_FEWEST, np.int64), np.empty(_FEWEST, np.int32)
        self._ngram_range = ngram_range
        self.n_tokens = 0
        self.number(map(encoded, stop_words))
        self.n_stop = len(self)

    def __len__(self) -> int:
        return int(self._sizes[0])

    @property
    def documents(self) -> NDArray[np.int64]:
        """In how many texts each term was found."""
        return self._notes[: len(self), kernel.DOCUMENTS]

    @property
    def has_spaces(self) -> bool:
        """Whether a token has a space in it, so that two n-grams may be spelled alike."""
        rows = self._rows[self.n_stop : len(self)]
        parts = rows[rows[:, kernel.SECOND] >= 0, kernel.FIRST], self._arena[: self._sizes[1]]
        return any(bool((part.view(np.uint8) == ord(" ")).any()) for part in parts)

    def count(self, texts: Bytes, n_texts: int, rule: Rule) -> Found:
        """Count the terms of texts, each of which ends with the byte 0xFF."""
        terms, ends = self._numbered(texts, n_texts, rule)
        if self._ngram_range != (1, 1):
            counts_too = terms >= self.n_stop
            tokens = terms[counts_too]
            terms, ends = self._ngrams(tokens, np.append(0, np.cumsum(counts_too))[ends])
        ids, counts = np.empty(len(terms), np.int32), np.empty(len(terms), np.uint32)
        found_ends = np.empty(n_texts, np.int64)
        n_found, n_counted = kernel.note_terms(
            terms, ends, self.n_stop, self._n_noted, self._notes, ids, counts, found_ends
        )
        self._n_noted += n_found
        self.n_tokens += n_counted if self._ngram_range == (1, 1) else len(tokens)
        return Found(ids[:n_found], counts[:n_found], found_ends)

    def number(self, tokens: Iterable[bytes]) -> Ids:
        """Give the numbers of tokens, new ones where there are none yet."""
        text = b"".join([token + b"\xfe" for token in tokens]) + b"\xff"
        return self._numbered(np.frombuffer(text, np.uint8), 1, GIVEN)[0].copy()

    def absorb(self, other: TermTable, stem: Stem | None = None) -> Ids:
        """Take over the terms of another table, and say which number each of them has here.

        Its stop words get none (-1). With `stem`, the stems of tokens take their place. Tokens that have the
        same bytes then become one, and so do n-grams of the same tokens.
        """
        mapping = np.full(len(other), -1, np.int32)
        for start in range(other.n_stop, len(other), _ABSORBED):
            rows = other._rows[start : min(start + _ABSORBED, len(other))]
            firsts, seconds = rows[:, kernel.FIRST].copy(), rows[:, kernel.SECOND].copy()
            tokens, grams = np.flatnonzero(seconds >= 0), np.flatnonzero(seconds < 0)
            if stem is None:
                rest = other._arena[: other._sizes[1]]
                mapping[start + tokens] = self._find(firsts[tokens], seconds[tokens], rest)
            else:
                spelled = other.spell((start + tokens).astype(np.int32))
                mapping[start + tokens] = self.number(stem(spelled))
            while len(grams):
                # Those whose parts have their numbers: n-grams of two tokens, then of three, and so on.
                ready = mapping[firsts[grams]] >= 0
                known, grams = grams[ready], grams[~ready]
                mapping[start + known] = self._find_pairs(
                    mapping[firsts[known]], mapping[-1 - seconds[known]]
                )
        np.add.at(self.documents, mapping[other.n_stop :], other.documents[other.n_stop :])
        return mapping

    def spell(self, terms: Ids) -> list[str]:
        """Give terms as strings."""
        out = np.empty(64 + 16 * len(terms), np.uint8)
        ends = np.empty(len(terms), np.int64)
        done = used = 0
        while True:
            done, used = kernel.spell_terms(terms, done, self._rows, self._arena, out, used, ends)
            if done == len(terms):
                break
            out = _grown(out, 2 * len(out))
        text = out[:used].tobytes().decode("utf-8", "surrogatepass")
        return [text[start:end] for start, end in pairwise([0, *ends.tolist()])]

    def forget_slots(self) -> None:
        """Give back memory: from now on terms can be spelled, but not found."""
        self._slots = np.zeros(0, np.int64)
        self._scratch = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)

    def _numbered(self, texts: Bytes, n_texts: int, rule: Rule) -> tuple[Ids, NDArray[np.int64]]:
        """Give the numbers of all tokens of texts, good until the next call, and where texts end."""
        # A letter of two bytes may have a lower-case form of three.
        rest = np.empty(3 * len(texts) // 16 + 1, np.uint64)
        self._reserve(len(rest))
        ends = np.empty(n_texts, np.int64)
        progress = np.zeros(5, np.int64)
        while not kernel.number_tokens(
            texts, rule.classes, rule.plain, rule.shortest, progress, *self._scratch[:2], rest, ends,
            self._sizes, self._slots, self._rows, self._notes, self._arena, self._scratch[2],
        ):  # fmt: skip
            if progress[0] < len(texts):
                size = 2 * len(self._scratch[0])
                firsts, seconds, ids = self._scratch
                self._scratch = _grown(firsts, size), _grown(seconds, size), _grown(ids, size)
            else:
                self._more_terms()
        return self._scratch[2][: progress[1]], ends

    def _find(self, firsts: NDArray[np.int64], seconds: NDArray[np.int64], rest: Words) -> Ids:
        ids = np.empty(len(firsts), np.int32)
        self._reserve(len(rest))
        done = 0
        while True:
            done = kernel.find_terms(
                firsts, seconds, rest, done, len(firsts),
                self._sizes, self._slots, self._rows, self._notes, self._arena, ids,
            )  # fmt: skip
            if done == len(firsts):
                return ids
            self._more_terms()

    def _find_pairs(self, prefixes: Ids, tokens: Ids) -> Ids:
        return self._find(prefixes.astype(np.int64), -1 - tokens.astype(np.int64), np.empty(0, np.uint64))

    def _ngrams(self, tokens: Ids, ends: NDArray[np.int64]) -> tuple[Ids, NDArray[np.int64]]:
        """Give all n-grams of texts, from the tokens of each."""
        shortest, longest = self._ngram_range
        text = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        starts, grams = np.arange(len(tokens)), tokens
        found = [(text[:0], tokens[:0])]
        for length in range(1, longest + 1):
            if length > 1:
                goes_on = starts + length - 1 < ends[text[starts]]
                starts, grams = starts[goes_on], grams[goes_on]
                if len(starts) == 0:
                    # No text has as many tokens, however long the n-grams may be.
                    break
                grams = self._find_pairs(grams, tokens[starts + length - 1])
            if length >= shortest:
                found.append((text[starts], grams))
        texts, terms = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(texts, kind="stable")
        return terms[order], np.cumsum(np.bincount(texts, minlength=len(ends)))

    def _more_terms(self) -> None:
        if len(self._rows) >= _MOST_TERMS:
            raise CorpusError(f"there are more than {_MOST_TERMS:,} different terms; split the documents")
        slots = np.zeros(2 * len(self._slots), np.int64)
        kernel.refill_slots(self._slots, slots)
        self._slots = slots
        n_terms = len(self._rows)
        self._rows, self._notes = _grown(self._rows, 2 * n_terms), _grown(self._notes, 2 * n_terms)

    def _reserve(self, more: int) -> None:
        """Make room for more words in the arena."""
        n_words = int(self._sizes[1]) + more
        if n_words > _MOST_WORDS:
            raise CorpusError(
                "the terms are too long to be kept; look at the texts", InPython(", or at token_pattern")
            )
        if n_words > len(self._arena):
            self._arena = _grown(self._arena, max(n_words, 2 * len(self._arena)))


def _grown(array: NDArray[Number], size: int) -> NDArray[Number]:
    # Not by `resize`, which would fill the new part, and so take its memory before it is needed.
    larger: NDArray[Any] = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
