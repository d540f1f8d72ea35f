"""The options of a vectoriser, checked in one place for keyword arguments and for saved settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from laconic.corpus.languages import english_words, read_words, stemmers, words_named
from laconic.errors import InPython, Parameter, ParameterError

Weighting: TypeAlias = Literal["count", "binary", "tfidf", "log-entropy", "bm25"]

WEIGHTINGS: tuple[Weighting, ...] = ("count", "binary", "tfidf", "log-entropy", "bm25")


LONGEST_NGRAM = 50
"""Words in a sequence that is a term: every one more is another term for each word of a text."""


class VectorizerOptions(TypedDict, total=False):
    """The keyword arguments of `Vectorizer`, for functions that pass them on."""

    token_pattern: str
    tokenizer: Callable[[str], Iterable[str]] | None
    emoji: bool
    lowercase: bool
    html: bool | None
    ngram_range: tuple[int, int]
    min_df: int | float
    max_df: int | float
    max_features: int | None
    stop_words: str | Path | Iterable[str | Path | Iterable[str]] | None
    stemmer: str | None
    weighting: Weighting
    sublinear_tf: bool


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check every option, and give them as plain Python values that JSON can hold.

    Parameters
    ----------
    options : mapping
        From the names of `VectorizerOptions` to values.

    Returns
    -------
    dict
        The same keys; numbers as int and float, sequences as lists.

    Raises
    ------
    ParameterError
        For an unknown name or a wrong value; the message names it and says what is allowed.

    Examples
    --------
    >>> check_options({"ngram_range": (1, 2), "min_df": 3})
    {'ngram_range': [1, 2], 'min_df': 3}
    """
    unknown = sorted(str(name) for name in options if name not in _CHECKS)
    if unknown:
        raise ParameterError(
            f"unknown vectorizer option {', '.join(map(repr, unknown))}; the options are {', '.join(_CHECKS)}"
        )
    checked = {name: _CHECKS[name](name, value) for name, value in options.items()}
    if checked.get("emoji") and re.compile(str(checked.get("token_pattern", ""))).groups:
        raise ParameterError(
            Parameter("emoji"),
            " goes with a ",
            Parameter("token_pattern"),
            " without capturing groups: write (?:...)",
        )
    weighting = checked.get("weighting", "log-entropy")
    if checked.get("sublinear_tf") and weighting != "tfidf":
        raise ParameterError(
            Parameter("sublinear_tf"),
            " goes with ",
            Parameter("weighting", "tfidf"),
            f", not with {weighting}",
        )
    return checked


def _wrong(name: str, value: Any, what: str) -> ParameterError:
    return ParameterError(Parameter(name), f" must be {what}, not {value!r}")


def _pattern(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, "a regular expression as a string")
    try:
        groups = re.compile(value).groups
    except re.error as error:
        raise ParameterError(Parameter(name, value), f" is not a regular expression: {error}") from error
    if groups > 1:
        message = f" has {groups} groups; at most one, which is then the token"
        raise ParameterError(Parameter(name, value), message)
    return value


def _tokenizer(name: str, value: Any) -> str | None:
    """The name of a function, which is all that is saved of it: nothing that is loaded is ever called."""
    if value is None:
        return None
    if callable(value):
        module, known = (
            getattr(value, "__module__", None),
            getattr(value, "__qualname__", type(value).__name__),
        )
        return f"{module}.{known}" if module else str(known)
    raise _wrong(name, value, "a function from a text to a list of its words, or None")


def _flag(name: str, value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise _wrong(name, value, "True or False")


def _flag_or_none(name: str, value: Any) -> bool | None:
    if value is None or value is True or value is False:
        return value
    raise _wrong(name, value, "True, False or None (decide by the texts)")


def _range(name: str, value: Any) -> list[int]:
    if isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_integer, value)):
        first, last = map(int, value)
        if 1 <= first <= last <= LONGEST_NGRAM:
            return [first, last]
    raise _wrong(name, value, f"two integers, 1 <= first <= last <= {LONGEST_NGRAM}, such as (1, 2)")


def _frequency(name: str, value: Any) -> int | float:
    if _is_integer(value) and value >= 1:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 <= float(value) <= 1:
        return float(value)
    what = "a number of documents (an integer >= 1) or a part of them (a float from 0.0 to 1.0)"
    raise _wrong(name, value, what)


def _limit(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if _is_integer(value) and value >= 1:
        return int(value)
    raise _wrong(name, value, "an integer >= 1 or None")


def _words(name: str, value: Any) -> str | list[str] | None:
    if value is None:
        return value
    if isinstance(value, str):
        # As words, so that saved settings mean the same wherever they are loaded.
        return words_named(value)
    if isinstance(value, Path):
        return read_words(value)
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        words = list(value)
        if all(isinstance(word, str) for word in words):
            # Sorted, since a set has no order of its own and settings should be the same in every run.
            return sorted({str(word) for word in words})
        # A list with a list or a Path in it adds up what its members name.
        if words and all(isinstance(word, str | Path | list | tuple | set | frozenset) for word in words):
            return sorted(set().union(*(_all_words(name, word) for word in words)))
    raise _wrong(
        name,
        value,
        "a language, a Path, a list of words, several of them (['english', ['inc']]) or None",
    )


def _all_words(name: str, value: Any) -> Iterable[str]:
    found = _words(name, value)
    return english_words() if isinstance(found, str) else found or ()


def _stemmer(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value in stemmers():
        return str(value)
    raise ParameterError(
        Parameter(name, value), f" is not known; there are {', '.join(stemmers())}", InPython(", and None")
    )


def _weighting(name: str, value: Any) -> str:
    if isinstance(value, str) and value in WEIGHTINGS:
        return value
    raise _wrong(name, value, f"one of {', '.join(map(repr, WEIGHTINGS))}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_CHECKS = {
    "token_pattern": _pattern,
    "tokenizer": _tokenizer,
    "emoji": _flag,
    "lowercase": _flag,
    "html": _flag_or_none,
    "ngram_range": _range,
    "min_df": _frequency,
    "max_df": _frequency,
    "max_features": _limit,
    "stop_words": _words,
    "stemmer": _stemmer,
    "weighting": _weighting,
    "sublinear_tf": _flag,
}

OPTIONS = tuple(_CHECKS)
"""The names of all options of a vectoriser."""
