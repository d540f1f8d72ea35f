"""Cells of tables that hold scores of rankings."""

from __future__ import annotations

from laconic.experiments.parts import Results


def marked(contest: Results, name: str, measure: str) -> str:
    """A held-out mean, with "+" or "-" where it differs significantly from term matching.

    >>> marked({"held_out": {"LSI": {"AP": 0.3512}}, "significant": {"LSI": {"AP": "+"}}}, "LSI", "AP")
    '0.351+'
    """
    return f"{contest['held_out'][name][measure]:.3f}{contest['significant'][name][measure]}"


def interval(ends: list[float] | None) -> str:
    """An interval, such as that of a ratio.

    >>> interval([0.9812, 1.0234]), interval(None)
    ('0.981 to 1.023', '')
    """
    return "" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"
