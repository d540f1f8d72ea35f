"""Dates of documents: how they are written, and how they become seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.errors import CorpusError
from laconic.reading.strings import kind

Dates: TypeAlias = NDArray[np.datetime64]
"""One for each document, to the second; NaT where a document has none."""

UNKNOWN = np.datetime64("NaT", "s")

# Years of a column with gaps become 2001.0 in some tables.
_YEAR = re.compile(r"([0-9]{4})(?:\.0)?")
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_SLASHES = re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})(?=\b)")
# "Mon, 16 Nov 2026 ...": what mail and news have; days and months by name leave no doubt about their order.
_MAIL = re.compile(r"(?:[A-Za-z]{3}, *)?[0-9]{1,2} [A-Za-z]{3} [0-9]{4}\b")


def out_of_calendar(dates: Any) -> Any:
    """Which dates of numpy are not of the years 1 to 9999: Python has no others, and nobody means them.

    >>> out_of_calendar(np.array(["2026-11-16", "NaT", "-0001-01-01"], "datetime64[s]"))
    array([False, False,  True])
    """
    # by years, which no unit of numpy has more of than it can count
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    return ~np.isnat(dates) & ((years < 1) | (years > 9999))


def as_date(value: object) -> np.datetime64:
    """Give a date as seconds; NaT for what is missing.

    Parameters
    ----------
    value : object
        A date or time of Python, numpy or pandas; a year; or a text: ISO 8601 (2026, 2026-11, 2026-11-16,
        2026-11-16T17:53:07Z and so on), 2026/11/16, or as mail has it (Mon, 16 Nov 2026 17:53:07 +0000).
        Times with a zone are turned into UTC. None, an empty text and NaN are missing.

    Returns
    -------
    numpy.datetime64
        To the second.

    Raises
    ------
    CorpusError
        For anything else: 03/04/2026 is another day in every other country. Years are from 1 to 9999.

    Examples
    --------
    >>> [str(as_date(value)) for value in ("2026-11", 1999, "2026-11-16T18:00:00+01:00")]
    ['2026-11-01T00:00:00', '1999-01-01T00:00:00', '2026-11-16T17:00:00']
    """
    if (
        value is None
        or type(value).__name__ == "NAType"
        or (isinstance(value, float | np.floating) and math.isnan(value))
    ):
        return UNKNOWN
    try:
        found = _understood(value)
    except (ValueError, OverflowError, TypeError, IndexError):
        found = None
    if found is None or out_of_calendar(found):
        shown = repr(value) if isinstance(value, str | Real) else kind(value)
        raise CorpusError(f"the date {shown:.60} is not understood; write it as 2026-11-16 (ISO 8601)")
    return found


def _understood(value: object) -> np.datetime64 | None:
    if isinstance(value, str):
        return _parsed(value.strip())
    if isinstance(value, np.datetime64):
        return None if out_of_calendar(value) else value.astype("datetime64[s]")
    if isinstance(value, datetime):
        return _seconds(value)
    if isinstance(value, date):
        return np.datetime64(value, "s")
    if isinstance(value, Real) and not isinstance(value, bool) and _YEAR.fullmatch(f"{float(value):g}"):
        return np.datetime64(f"{float(value):g}", "s")
    return None


def _parsed(text: str) -> np.datetime64:
    if not text:
        return UNKNOWN
    whole = _YEAR.fullmatch(text)
    if whole is not None or _MONTH.fullmatch(text):
        return np.datetime64(text if whole is None else whole[1], "s")
    if _MAIL.match(text):
        return _seconds(parsedate_to_datetime(text))
    slashes = _SLASHES.match(text)
    if slashes is not None:
        year, month, day = slashes.groups()
        text = f"{year}-{int(month):02}-{int(day):02}" + text[slashes.end() :]
    return _seconds(datetime.fromisoformat(text))


def _seconds(moment: datetime) -> np.datetime64:
    if moment != moment:
        return UNKNOWN
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment.replace(microsecond=0), "s")


def as_dates(values: Iterable[Any]) -> Dates:
    """Give dates as an array; the position of a bad one is in the message.

    >>> as_dates(["2026-11-16", None])
    array(['2026-11-16T00:00:00',                 'NaT'],
          dtype='datetime64[s]')
    """
    if isinstance(values, str | bytes):
        raise CorpusError("dates must be a list with a date for every document, not one string")
    dtype: Any = getattr(values, "dtype", None)
    # Those of pandas that have a zone are of a type of their own, and are turned one by one.
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        given = np.asarray(values)
        strange = np.flatnonzero(out_of_calendar(given))
        if strange.size:
            raise CorpusError(f"document {strange[0]}: its date is not in the years 1 to 9999")
        return given.astype("datetime64[s]")
    dates: list[np.datetime64] = []
    try:
        for value in values:
            dates.append(as_date(value))
    except CorpusError as error:
        raise CorpusError(f"document {len(dates)}: ", error) from error
    return np.array(dates, dtype="datetime64[s]")
