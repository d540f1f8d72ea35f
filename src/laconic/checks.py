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


def check_number(name: str, value: Any, kind: Any, least: float) -> None:
    """Refuse what is no finite number of a kind, or too small.

    >>> check_number("n_components", 0, Integral, 1)
    Traceback (most recent call last):
    ValueError: n_components must be a whole number of at least 1, not 0
    """
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= float(value) < np.inf:
        what = "a whole number" if kind is Integral else "a number"
        raise ValueError(f"{name} must be {what} of at least {least}, not {value!r}")
