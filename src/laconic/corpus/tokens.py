"""Where texts become tokens: by a kernel for the patterns that mean words, by `re` for all others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from laconic.corpus.matching import TimedPattern
from laconic.corpus.terms import GIVEN, Rule, encoded, given_tokens
from laconic.errors import CorpusError
from laconic.kernels.text import OPENS, WORD

_ASCII = 0x80
# Up to which byte of UTF-8 characters have code points below which number.
_CODES = ((0x7F, _ASCII), (0xDF, 0x800), (0xEF, 0x10000), (0xFF, 0x110000))

# Words for the kernel: the least number of characters, and whether the first one must be a letter.
_WORD_PATTERNS = {
    r"\b[^\W\d_]\w+\b": (2, True),
    r"\b\w\w+\b": (2, False),
    r"\b\w+\b": (1, False),
}

# The only characters whose lower-case form is not one character, or depends on what stands around them.
_DOTTED_I, _SIGMA = "\u0130", "\u03a3"


class Tokens(Protocol):
    """Turns texts into bytes for `TermTable.count`, and says by which rule to read them."""

    only_words: bool
    """Whether tokens are made of word characters, so that they can be terms without a further look."""

    def encode(self, text: str) -> bytes:
        """The bytes of a text."""

    def rule(self, highest: int) -> Rule:
        """What is a token in the bytes, none of which is above the highest."""

    def split(self, text: str) -> list[str]:
        """The tokens themselves: for a text so short that arrays would cost more than its words."""


EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f300-\U0001faff]"
    "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*"
    "(?:\u200d[\u2640\u2642\u2695-\u2764\U0001f300-\U0001faff][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*)*)"
)
"""An emoji: a flag, or a picture with its skin tone, and those that are joined to it."""


def with_emoji(pattern: str) -> str:
    r"""A pattern that takes emoji for tokens, too.

    >>> import re
    >>> re.findall(with_emoji(r"\b\w+\b"), "so good \U0001f44d\U0001f3fd\U0001f600!")
    ['so', 'good', '👍🏽', '😀']
    """
    return f"{EMOJI}|{pattern.removeprefix('(?u)')}"


# One character, or a class of them.
_ONE = r"(?:\\[wWdDsS]|\[\^?(?:\\[wWdDsS\-\]\[\\^.]|[^\]\[\\])+\]|[A-Za-z0-9_])"
# Characters, of which the last may be repeated: to try it takes a look at each character of a text, or two.
_PLAIN = re.compile(rf"(?:\\b)?(?:\({_ONE}\)|{_ONE})?{_ONE}*{_ONE}[+*]?")


def is_harmless(pattern: str) -> bool:
    r"""Whether a pattern is known to take no longer than a look at each character of a text.

    >>> is_harmless(r"(?u)\b\w\w+\b"), is_harmless(r"\S+"), is_harmless(r"[a-z]\w*"), is_harmless(r"(\w)\w*")
    (True, True, True, True)
    >>> is_harmless(r"(?:\w+)+!"), is_harmless(r"\w+\w+x")
    (False, False)
    """
    bare = pattern.removeprefix("(?u)")
    return bare in _WORD_PATTERNS or (len(bare) <= 100 and _PLAIN.fullmatch(bare) is not None)


class Untrusted:
    """In place of tokens, where a saved pattern might never end.

    Parameters
    ----------
    pattern : str
        As it was saved.
    """

    only_words = False

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def encode(self, text: str) -> bytes:
        """Refuse."""
        raise self.error()

    def rule(self, highest: int) -> Rule:
        """That of nothing: there never are tokens."""
        return GIVEN

    def split(self, text: str) -> list[str]:
        """Refuse."""
        raise self.error()

    def error(self) -> CorpusError:
        """What to say of it."""
        return CorpusError(
            f"the saved vectoriser splits texts into words by the pattern {self._pattern!r:.80}, which may "
            "take "
            "forever on some texts: if you trust its author, load it with trust_patterns=True (in Python)"
        )


def find_tokens(
    pattern: str, *, lowercase: bool, tokenizer: Callable[[str], Iterable[str]] | None = None
) -> Tokens:
    """Choose the fast way for patterns that mean words, and `re` for others; the tokens are the same.

    Parameters
    ----------
    pattern : str
        A regular expression.
    lowercase : bool
        Whether texts are lower-cased first.
    tokenizer : callable, optional
        What gives the tokens of a text, in place of the pattern.

    Returns
    -------
    Tokens
        Of the tokens ``re.findall(pattern, text.lower())``.
    """
    if tokenizer is not None:
        return GivenTokens(tokenizer, lowercase=lowercase)
    words = _WORD_PATTERNS.get(pattern.removeprefix("(?u)"))
    return _Matches(pattern, lowercase) if words is None else _Words(pattern, *words, lowercase)


class _Matches:
    only_words = False

    def __init__(self, pattern: str, lowercase: bool) -> None:
        # What is known to be quick needs no clock.
        self._find = (re.compile(pattern) if is_harmless(pattern) else TimedPattern(pattern)).findall
        self._lowercase = lowercase

    def encode(self, text: str) -> bytes:
        return given_tokens(self.split(text))

    def rule(self, highest: int) -> Rule:
        return GIVEN

    def split(self, text: str) -> list[str]:
        return self._find(text.lower() if self._lowercase else text)


class GivenTokens:
    """Texts that are lists of tokens, or that a function splits.

    Parameters
    ----------
    tokenizer : callable or None
        From a text to its tokens; None if there are lists only.
    lowercase : bool
        Whether tokens are lower-cased.
    """

    only_words = False

    def __init__(self, tokenizer: Callable[[str], Iterable[str]] | None, *, lowercase: bool) -> None:
        self._tokenizer = tokenizer
        self._lowercase = lowercase

    def encode(self, text: Any) -> bytes:
        """The bytes of a text."""
        return given_tokens(self.split(text))

    def rule(self, highest: int) -> Rule:
        """Tokens are what they are."""
        return GIVEN

    def split(self, text: Any) -> list[str]:
        """The tokens of a text, or of a list of them."""
        if isinstance(text, str):
            if self._tokenizer is None:
                raise CorpusError("some texts are lists of words and others strings: give one or the other")
            found = list(self._tokenizer(text))
        else:
            found = list(text)
        for token in found:
            if not isinstance(token, str):
                raise CorpusError(f"tokens must be strings, not {type(token).__name__}: {token!r:.40}")
        # what is only white space is no term
        tokens = [token for token in found if token.strip()]
        return [token.lower() for token in tokens] if self._lowercase else tokens


class _Words(_Matches):
    only_words = True

    def __init__(self, pattern: str, shortest: int, letter_first: bool, lowercase: bool) -> None:
        super().__init__(pattern, lowercase)
        self._shortest = shortest
        self._letter_first = letter_first

    def encode(self, text: str) -> bytes:
        if self._lowercase and not lowers_one_by_one(text):
            text = text.lower()
        return encoded(text)

    def rule(self, highest: int) -> Rule:
        # To look at all of Unicode takes longer than to count some thousand short texts.
        size = next(size for last, size in _CODES if highest <= last)
        return Rule(character_classes(size, self._letter_first, self._lowercase), _ASCII, self._shortest)


def lowers_one_by_one(text: str) -> bool:
    """Whether the lower-case form of a text is that of its characters, each of them one character.

    >>> lowers_one_by_one("Ärger"), lowers_one_by_one("\u0130stanbul")
    (True, False)
    """
    return text.isascii() or (_DOTTED_I not in text and _SIGMA not in text)


@cache
def character_classes(size: int, letter_first: bool, lowercase: bool) -> NDArray[np.uint32]:
    r"""Say of the first code points which belong to words, which may open one, and what their lower case is.

    Parameters
    ----------
    size : int
        How many code points; the fewer, the faster they are made.
    letter_first : bool
        Whether a word opens with what is neither ``\d`` nor ``_``.
    lowercase : bool
        Whether characters are lower-cased before all else.

    Returns
    -------
    numpy.ndarray of uint32, shape (size,)
        The code point of the lower-case form, with the bits WORD and OPENS.
    """
    codes = np.arange(size, dtype=np.uint32)
    if lowercase:
        text = codes.tobytes().decode("utf-32-le", "surrogatepass")
        # Neither comes here: texts that have one are lower-cased before.
        text = text.replace(_DOTTED_I, "i").replace(_SIGMA, "s").lower()
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    letters = codes.view("U1")
    is_word = np.char.isalnum(letters) | (codes == ord("_"))
    opens = is_word & ~(np.char.isdecimal(letters) | (codes == ord("_"))) if letter_first else is_word
    return (
        codes
        | np.where(is_word, np.uint32(WORD), np.uint32(0))
        | np.where(opens, np.uint32(OPENS), np.uint32(0))
    )
