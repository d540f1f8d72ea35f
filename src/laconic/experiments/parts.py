"""What an experiment is made of: parts that run on their own, and what a page shows of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from laconic.experiments.figures import Picture

Results: TypeAlias = dict[str, Any]
"""What a part found, and what the paper says: only what JSON holds."""

Say: TypeAlias = Callable[[str], None]
"""Told what is being done now."""

SEED = 0


class Desk(Protocol):
    """What a part works at: it says what is being done, and keeps what has been found."""

    def __call__(self, message: str) -> None:
        """Say what is being done now."""

    def keep(self, key: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """What `compute` gives of its arguments; if the part was interrupted after it, what it gave then.

        `key` names what is computed with all settings, so that other settings are never mistaken for it.
        """


@dataclass(frozen=True)
class Section:
    """A part, on the page.

    Attributes
    ----------
    title : str
        Its heading.
    text : str
        Markdown. Numbers come from results, and so do conclusions.
    findings : list of str
        What to say about it at the head of the page, a sentence each.
    figures : dict of str to Chart, Charts or HeatMaps
        By name. The text shows a figure as ``![what it shows](figure:name)``.
    """

    title: str
    text: str
    findings: list[str] = field(default_factory=list)
    figures: Mapping[str, Picture] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A part of an experiment.

    Attributes
    ----------
    run : callable
        ``run(quick, desk)`` gives the results. With `quick`, on little data and in less than a minute. `desk`
        is told what is being done, and keeps what takes long (`Desk.keep`).
    render : callable
        ``render(results)`` gives the section of the page.
    """

    run: Callable[[bool, Desk], Results]
    render: Callable[[Results], Section]


CONFIRMED, IN_PART, NOT_CONFIRMED = "confirmed", "in part", "not confirmed"
UNDECIDED = "undecided"
UNTESTED = "cannot be tested here"


class Verdict(NamedTuple):
    """What our results say of a claim, and why, in a sentence."""

    state: str
    reason: str


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes
    ----------
    text : str
        What the paper says, in short.
    where : str
        Where it says so.
    judge : callable
        Takes the results of `parts`, in their order, and gives the `Verdict`.
    parts : tuple of str
        On which the verdict rests; none if the claim cannot be tested here.
    """

    text: str
    where: str
    judge: Callable[..., Verdict]
    parts: tuple[str, ...] = ()


def judged(holds: Sequence[bool | None], reason: str) -> Verdict:
    """A verdict by whether a claim holds in all cases, in some or in none; None is a case that cannot tell.

    Examples
    --------
    >>> judged([True, False], "On one of two.")
    Verdict(state='in part', reason='On one of two.')
    >>> judged([None, None], "Too few queries.").state, judged([None, False], "One is worse.").state
    ('undecided', 'not confirmed')
    """
    if all(holds):
        return Verdict(CONFIRMED, reason)
    if any(holds):
        return Verdict(IN_PART, reason)
    return Verdict(UNDECIDED if all(one is None for one in holds) else NOT_CONFIRMED, reason)


def above(interval: Sequence[float], bound: float) -> bool | None:
    """Whether what an interval is about is above a bound; None where the bound lies in the interval.

    Examples
    --------
    >>> above([1.01, 1.04], 1), above([0.97, 0.99], 1), above([0.98, 1.02], 1)
    (True, False, None)
    """
    low, high = interval
    return True if low > bound else False if high < bound else None


def untested(reason: str) -> Callable[[], Verdict]:
    """The judge of a claim that cannot be tested here."""
    return lambda: Verdict(UNTESTED, reason)


def plain(value: Any) -> Any:
    """What JSON holds: keys as strings, numpy's numbers as Python's, with six digits.

    Examples
    --------
    >>> import numpy as np
    >>> plain({10: np.float64(2 / 3), "rows": (np.int64(1), None, "a", True)})
    {'10': 0.666667, 'rows': [1, None, 'a', True]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, float) else value
