"""Numbers as people say them."""

from __future__ import annotations

import math
from collections.abc import Sequence

COMPILING = "compiling, once"
"""What is said while kernels are compiled: the next fit finds them on disk."""


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "word"), plural(2000, "word")
    ('1 word', '2,000 words')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def enumerated(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> enumerated(["a"]), enumerated(["a", "b", "c"]), enumerated(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def size(n_bytes: float) -> str:
    """A number of bytes in the largest unit that it fills.

    >>> size(900), size(45_200_000), size(3_100_000_000)
    ('900 bytes', '45.2 MB', '3.1 GB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes:.0f} bytes"


def rounded(number: int) -> str:
    """A number, to a tenth of a million or billion if it is so large.

    >>> rounded(2_512_345), rounded(20_512)
    ('2.5 million', '20,512')
    """
    if number < 1_000_000:
        return f"{number:,}"
    return f"{number / 1e6:.1f} million" if number < 1_000_000_000 else f"{number / 1e9:.1f} billion"


def figure(value: float) -> str:
    """A measured number to six digits, or to the unit if it has more.

    >>> figure(0.1234567), figure(2063.789), figure(12_345_678.9)
    ('0.123457', '2,063.79', '12,345,679')
    """
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"


def clock(seconds: float) -> str:
    """A duration in the words of a clock.

    >>> clock(75), clock(3.2)
    ('1:15', '0:04')
    """
    whole = math.ceil(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
