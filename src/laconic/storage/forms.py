"""What a stored value must look like before it is used: names, shapes, types and ranges.

What comes from a file may have been written by anybody, and goes to compiled code, which looks at no index
twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.sparse import csr_array


class Part(Protocol):
    """The form of one value."""

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value; None if it fits."""


Form: TypeAlias = "Part | Mapping[str, Form] | Sequence[Form]"


@dataclass(frozen=True)
class Numbers:
    """An array of this shape and type, of numbers that a fit can calculate with.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    sparse : bool, default=False
        Whether it is a CSR array.
    least : float, optional
        The least number that there may be.

    Examples
    --------
    >>> Numbers((2,), np.float64).problem(np.ones(2))
    >>> Numbers((2,), np.float64).problem(np.ones(3))
    'has the shape (3,) and not (2,)'
    >>> Numbers((2,), np.float64, least=0).problem(-np.ones(2))
    'has numbers from -1 to 0'
    """

    shape: tuple[int, ...]
    dtype: Any
    sparse: bool = False
    least: float = -math.inf

    def problem(self, value: Any) -> str | None:
        """The first of: another kind, another shape, another type, numbers out of range."""
        if not isinstance(value, csr_array if self.sparse else np.ndarray):
            return f"is no {'sparse ' if self.sparse else ''}array"
        if value.shape != self.shape:
            return f"has the shape {value.shape} and not {self.shape}"
        if value.dtype != self.dtype:
            return f"is of {value.dtype} and not of {np.dtype(self.dtype)}"
        numbers: Any = value.data if self.sparse else value
        low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0))
        if not max(self.least, -_most(self.dtype)) <= low <= high <= _most(self.dtype):
            return f"has numbers from {low:g} to {high:g}"
        return None


def _most(dtype: Any) -> float:
    """The largest number whose products with two others stay within the range of their type."""
    return float(np.finfo(dtype).max) ** (1 / 3)


@dataclass(frozen=True)
class Number:
    """A number from `least` to `most`; a whole one on demand.

    Examples
    --------
    >>> Number(0, 9, whole=True).problem(3), Number(0, 9, whole=True).problem(0.5)
    (None, 'is 0.5 and no whole number from 0 to 9')
    """

    least: float = -1e300
    most: float = 1e300
    whole: bool = False

    def problem(self, value: Any) -> str | None:
        """Another kind, or out of range."""
        kinds = int if self.whole else int | float
        if isinstance(value, bool) or not isinstance(value, kinds) or not self.least <= value <= self.most:
            kind = "whole number" if self.whole else "number"
            return f"is {value!r:.60} and no {kind} from {self.least:g} to {self.most:g}"
        return None


@dataclass(frozen=True)
class Maybe:
    """What may also be missing: None."""

    form: Form

    def problem(self, value: Any) -> str | None:
        """As of the form."""
        return None if value is None else misfit(value, self.form)


@dataclass(frozen=True)
class AnyNumberOf:
    """A list of values that are alike."""

    form: Form

    def problem(self, value: Any) -> str | None:
        """The first one that does not fit."""
        if not isinstance(value, list):
            return "is no list"
        return misfit(value, [self.form] * len(value))


@dataclass(frozen=True)
class Named:
    """Values that are alike, by names that are not known beforehand."""

    form: Form

    def problem(self, value: Any) -> str | None:
        """The first one that does not fit."""
        if not isinstance(value, dict):
            return "is no mapping"
        return misfit(value, dict.fromkeys(value, self.form))


@dataclass(frozen=True)
class Kinds:
    """Any value of some types.

    Examples
    --------
    >>> Kinds((str,)).problem("x"), Kinds((str, list)).problem(3)
    (None, 'is no str or list')
    """

    kinds: tuple[type, ...]

    def problem(self, value: Any) -> str | None:
        """Another type."""
        if isinstance(value, self.kinds):
            return None
        return f"is no {' or '.join(kind.__name__ for kind in self.kinds)}"


@dataclass(frozen=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def problem(self, value: Any) -> str | None:
        """Another one."""
        return None if isinstance(value, str) and value in self.words else f"is none of {self.words}"


def misfit(value: Any, form: Form) -> str | None:
    """What keeps a value from having a form, with the names of parts that lead there; None if nothing does.

    Examples
    --------
    >>> form = {"pace": Number(1), "bars": [Maybe(Numbers((2,), np.float64))]}
    >>> misfit({"pace": 2.0, "bars": [None]}, form)
    >>> misfit({"pace": 2.0, "bars": [np.ones(3)]}, form)
    'bars: 0: has the shape (3,) and not (2,)'
    >>> misfit({"pace": 2.0}, form)
    "has the parts ['pace'] and not ['bars', 'pace']"
    """
    if isinstance(form, Mapping):
        if not isinstance(value, Mapping) or value.keys() != form.keys():
            known = sorted(map(str, value)) if isinstance(value, Mapping) else []
            return f"has the parts {known!r:.200} and not {sorted(form)}"
        pairs = [(name, value[name], form[name]) for name in form]
    elif isinstance(form, Sequence):
        if not isinstance(value, list) or len(value) != len(form):
            return f"is no list of {len(form)}"
        pairs = [(str(n), *pair) for n, pair in enumerate(zip(value, form, strict=True))]
    else:
        return form.problem(value)
    for name, part, wanted in pairs:
        problem = misfit(part, wanted)
        if problem is not None:
            return f"{name}: {problem}"
    return None
