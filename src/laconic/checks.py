"""Checks of parameters: a clear error before any work."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from laconic.errors import Parameter, ParameterError


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse what is not among the choices.

    >>> check_choice("norm", "l3", ("l1", "l2"))
    Traceback (most recent call last):
    laconic.errors.ParameterError: norm='l3' is not known; choose one of 'l1', 'l2'
    """
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        known = ", ".join(map(repr, choices))
        raise ParameterError(Parameter(name, value), f" is not known; choose one of {known}")


def check_number(name: str, value: Any, kind: Any, least: float, most: float = math.inf) -> None:
    """Refuse what is no finite number of a kind, or too small or too large.

    >>> check_number("n_components", 0, Integral, 1)
    Traceback (most recent call last):
    laconic.errors.ParameterError: n_components must be a whole number of at least 1, not 0
    """
    fits = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(float(value))
    if not fits or not least <= float(value) <= most:
        what = "a whole number" if kind is Integral else "a number"
        limits = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise ParameterError(Parameter(name), f" must be {what} {limits}, not {value!r}")
