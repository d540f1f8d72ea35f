"""Checks of parameters: a clear error before any work."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse what is not among the choices.

    >>> check_choice("norm", "l3", ("l1", "l2"))
    Traceback (most recent call last):
    ValueError: norm='l3' is not known; choose one of 'l1', 'l2'
    """
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")


def check_number(name: str, value: Any, kind: Any, least: float, most: float = np.inf) -> None:
    """Refuse what is no finite number of a kind, or too small or too large.

    >>> check_number("n_components", 0, Integral, 1)
    Traceback (most recent call last):
    ValueError: n_components must be a whole number of at least 1, not 0
    """
    fits = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(float(value))
    if not fits or not least <= float(value) <= most:
        what = "a whole number" if kind is Integral else "a number"
        limits = f"of at least {least}" if most == np.inf else f"from {least} to {most}"
        raise ValueError(f"{name} must be {what} {limits}, not {value!r}")
