"""Labels, ids and terms: how they become arrays of strings, and which strings are refused.

The arrays have dtype object, as scikit-learn's ``get_feature_names_out``: numpy's fixed-width strings
take the room of the longest one for every entry, and drop NUL characters at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.errors import CorpusError, InPython

Strings: TypeAlias = NDArray[np.object_]

UNKNOWN = "unknown"
"""The label of documents without one, among others that have labels."""

# Everything that `str.splitlines` or a text file read line by line would split at.
_LINE_BREAK = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


def as_name(value: object, what: str) -> str:
    """Give a label or an id as a string, and refuse what names nothing.

    Parameters
    ----------
    value : object
        A string, a number or a bool.
    what : str
        ``"label"`` or ``"id"``, for the message.

    Returns
    -------
    str
        The value, spelled as ``str`` spells it.

    Examples
    --------
    >>> as_name(7, "label")
    '7'
    >>> as_name(None, "id")
    Traceback (most recent call last):
    laconic.errors.CorpusError: the id is missing; give every document an id, or none of them
    """
    if type(value) is str and value and value.isascii():
        return value
    if isinstance(value, str):
        name = str(value)
    elif value is None or (isinstance(value, float | np.floating | Decimal) and math.isnan(value)):
        name = ""
    elif isinstance(value, Real | Decimal | np.bool_):
        name = str(value)
    else:
        raise CorpusError(f"the {what} must be a string or a number, not {kind(value)}")
    if not name:
        raise CorpusError(f"the {what} is missing; give every document {_an(what)}, or none of them")
    if not is_unicode(name):
        raise CorpusError(f"the {what} {name!r} is not valid Unicode; rename it")
    return name


def as_names(values: Iterable[object], what: str) -> Strings:
    """Give labels or ids as an array of strings; the position of a bad one is in the message."""
    if isinstance(values, str | bytes):
        raise CorpusError(f"{what}s must be a list with {_an(what)} for every document, not one string")
    names: list[str] = []
    try:
        for value in values:
            names.append(as_name(value, what))
    except CorpusError as error:
        raise CorpusError(f"document {len(names)}: ", error) from error
    return np.array(names, dtype=object)


def check_unique(ids: Strings) -> None:
    """Refuse ids that occur twice, and name both places."""
    seen: dict[str, int] = {}
    for position, name in enumerate(ids):
        first = seen.setdefault(name, position)
        if first != position:
            raise CorpusError(f"documents {first} and {position} have the same id {name!r}; ids must differ")


def as_vocabulary(terms: Iterable[object]) -> Strings:
    """Give terms as an array of strings that can be written one to a line.

    Parameters
    ----------
    terms : iterable of str, or mapping
        In the order of the columns. A mapping is from terms to columns, or from columns to terms.

    Returns
    -------
    numpy.ndarray of object
        The terms as ``str``.

    Raises
    ------
    CorpusError
        For no terms, a term that is not a string, is empty, has a line break, is not valid Unicode, or
        occurs twice.

    Examples
    --------
    >>> as_vocabulary(["fish", "topic model"])
    array(['fish', 'topic model'], dtype=object)
    >>> as_vocabulary({"red": 1, "fish": 0})
    array(['fish', 'red'], dtype=object)
    """
    if isinstance(terms, str | bytes):
        raise CorpusError("the vocabulary must be a list of terms, not one string")
    if isinstance(terms, Mapping):
        by_number = terms_by_number(terms)
        if list(by_number) != list(range(len(by_number))):
            raise CorpusError(
                f"the {len(by_number)} terms of the vocabulary must have the numbers of all columns, "
                "from 0 on; there are gaps"
            )
        terms = by_number.values()
    columns: dict[str, int] = {}
    for column, term in enumerate(terms):
        if not isinstance(term, str):
            raise CorpusError(f"term {column} of the vocabulary must be a string, not {kind(term)}")
        if not term:
            raise CorpusError(
                f"term {column} of the vocabulary is empty",
                InPython("; use a token_pattern that matches no empty string"),
            )
        if _LINE_BREAK.search(term):
            raise CorpusError(
                f"the term {term!r} contains a line break; terms are saved one to a line",
                InPython(", so use a token_pattern that does not match line breaks"),
            )
        if not is_unicode(term):
            raise CorpusError(f"the term {term!r} is not valid Unicode; it cannot be saved")
        first = columns.setdefault(str(term), column)
        if first != column:
            raise CorpusError(f"terms {first} and {column} of the vocabulary are the same: {term!r}")
    if not columns:
        raise CorpusError("the vocabulary is empty")
    return np.array(list(columns), dtype=object)


def terms_by_number(vocabulary: Mapping[Any, Any]) -> dict[int, Any]:
    """Give a vocabulary from numbers to terms, in the order of the numbers.

    Parameters
    ----------
    vocabulary : mapping
        From terms to numbers, as scikit-learn's ``vocabulary_``, or from numbers to terms, as gensim's
        ``Dictionary``.

    Returns
    -------
    dict of int to object
        The terms are not checked.

    Examples
    --------
    >>> terms_by_number({"red": 7, "fish": 2})
    {2: 'fish', 7: 'red'}
    """
    pairs = [
        (value, key) if isinstance(key, str) else (key, value) for key, value in list(vocabulary.items())
    ]
    for number, term in pairs:
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 0:
            raise CorpusError(
                f"the vocabulary gives the term {term!r:.40} the number {number!r:.40}; "
                "numbers must be whole and not negative"
            )
    found = {int(number): term for number, term in sorted(pairs, key=lambda pair: pair[0])}
    if len(found) < len(pairs):
        raise CorpusError("two terms of the vocabulary have the same number; numbers must differ")
    return found


def is_unicode(text: str) -> bool:
    """Whether the string can be written as UTF-8, that is, has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def kind(value: object) -> str:
    """Name the type of a value, None as null."""
    return "null" if value is None else type(value).__name__


def _an(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
