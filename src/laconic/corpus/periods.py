"""Dates cut into periods: decades, years, quarters, months or days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laconic.checks import check_choice

if TYPE_CHECKING:
    from laconic.reading.dates import Dates

# the unit of numpy, and how many of them; 1970, where numpy begins to count, begins each of them
_UNITS = {"decade": ("Y", 10), "year": ("Y", 1), "quarter": ("M", 3), "month": ("M", 1), "day": ("D", 1)}
PERIODS = tuple(_UNITS)


@dataclass(frozen=True, eq=False)
class Periods:
    """Which period every document is of.

    Parameters
    ----------
    by : {"decade", "year", "quarter", "month", "day"}
    first : int
        The first period, counted from that of 1970.
    numbers : ndarray of int
        The period of each document, counted from the first; -1 without a date.
    """

    by: str
    first: int
    numbers: NDArray[np.int64]

    def name(self, number: int) -> str:
        """What people call a period."""
        unit, size = _UNITS[self.by]
        start = str(np.array((self.first + number) * size).astype(f"datetime64[{unit}]"))
        if self.by == "quarter":
            return f"{start[:-3]}-Q{(int(start[-2:]) + 2) // 3}"
        return f"{start}s" if self.by == "decade" else start


def cut(dates: Dates, by: str) -> Periods:
    """Cut dates into periods.

    Parameters
    ----------
    dates : ndarray of datetime64
        One at least is not NaT.
    by : {"decade", "year", "quarter", "month", "day"}

    Returns
    -------
    Periods

    Examples
    --------
    >>> import numpy as np
    >>> dates = np.array(["1999-12-31", "NaT", "2000-05-01"], "datetime64[s]")
    >>> found = cut(dates, "quarter")
    >>> found.numbers.tolist(), found.name(0), found.name(2)
    ([0, -1, 2], '1999-Q4', '2000-Q2')
    """
    check_choice("by", by, PERIODS)
    unit, size = _UNITS[by]
    known = ~np.isnat(dates)
    counted = dates[known].astype(f"datetime64[{unit}]").astype(np.int64) // size
    numbers = np.full(len(dates), -1, np.int64)
    numbers[known] = counted - counted.min()
    return Periods(by, int(counted.min()), numbers)
