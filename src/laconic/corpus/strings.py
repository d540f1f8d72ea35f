"""Labels, ids and terms: how they become arrays of strings, and which strings are refused.

The arrays have dtype object, as scikit-learn's ``get_feature_names_out``: numpy's fixed-width strings
take the room of the longest one for every entry, and drop NUL characters at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.corpus.errors import CorpusError

Strings: TypeAlias = NDArray[np.object_]

# Everything that `str.splitlines` or a text file read line by line would split at.
_LINE_BREAK = re.compile("[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


def as_name(value: object, what: str, where: Callable[[], str]) -> str:
    """Give a label or an id as a string, and refuse what names nothing.

    Parameters
    ----------
    value : object
        A string, a number or a bool.
    what : str
        ``"label"`` or ``"id"``, for the message.
    where : callable
        Says where the value stands; only called when the value is refused.

    Returns
    -------
    str
        The value, spelled as ``str`` spells it.

    Examples
    --------
    >>> as_name(7, "label", lambda: "line 1")
    '7'
    >>> as_name(None, "id", lambda: "line 1")
    Traceback (most recent call last):
    laconic.corpus.errors.CorpusError: line 1: the id is missing; give every document an id, or none of them
    """
    if isinstance(value, str):
        name = str(value)
    elif value is None or (isinstance(value, Real) and math.isnan(value)):
        name = ""
    elif isinstance(value, Real | np.bool_):
        name = str(value)
    else:
        raise CorpusError(f"{where()}: the {what} must be a string or a number, not {kind(value)}")
    if not name:
        raise CorpusError(
            f"{where()}: the {what} is missing; give every document {_an(what)}, or none of them"
        )
    if not is_unicode(name):
        raise CorpusError(f"{where()}: the {what} {name!r} is not valid Unicode; rename it")
    return name


def as_names(values: Iterable[object], what: str) -> Strings:
    """Give labels or ids as an array of strings; the position of a bad one is in the message."""
    if isinstance(values, str | bytes):
        raise CorpusError(f"{what}s must be a list with {_an(what)} for every document, not one string")
    names = [as_name(value, what, partial("document {}".format, i)) for i, value in enumerate(values)]
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
    terms : iterable of str
        In the order of the columns.

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
    """
    if isinstance(terms, str | bytes):
        raise CorpusError("the vocabulary must be a list of terms, not one string")
    columns: dict[str, int] = {}
    for column, term in enumerate(terms):
        if not isinstance(term, str):
            raise CorpusError(f"term {column} of the vocabulary must be a string, not {kind(term)}")
        if not term:
            raise CorpusError(
                f"term {column} of the vocabulary is empty; use a token_pattern that matches no empty string"
            )
        if _LINE_BREAK.search(term):
            raise CorpusError(
                f"the term {term!r} contains a line break; terms are saved one to a line, "
                "so use a token_pattern that does not match line breaks"
            )
        if not is_unicode(term):
            raise CorpusError(f"the term {term!r} is not valid Unicode; it cannot be saved")
        first = columns.setdefault(str(term), column)
        if first != column:
            raise CorpusError(f"terms {first} and {column} of the vocabulary are the same: {term!r}")
    if not columns:
        raise CorpusError("the vocabulary is empty")
    return np.array(list(columns), dtype=object)


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
