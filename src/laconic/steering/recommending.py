"""One number of topics, and the reason for it, from what was measured for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from laconic.words import enumerated

MEASURES = {
    "held_out": "held-out score",
    "coherence": "coherence",
    "redundancy": "redundancy",
    "stability": "stability",
}
"""What is measured, and how it is called."""

LOWER_IS_BETTER = frozenset({"redundancy"})

# A difference counts if it is more than so many standard errors.
_CERTAIN = 2.0
# Topics of which less than this comes back are nothing to rely on.
_UNSTABLE = 0.4


@dataclass(frozen=True)
class Measured:
    """A measure of several fits.

    Parameters
    ----------
    mean, error : float
        The mean over the fits, and its standard error.
    runs : tuple of float
        The value of each.
    """

    mean: float
    error: float
    runs: tuple[float, ...]

    @classmethod
    def of(cls, runs: Sequence[float]) -> Self:
        """Mean and standard error.

        >>> Measured.of([1.0, 3.0])
        Measured(mean=2.0, error=1.0, runs=(1.0, 3.0))
        """
        values = np.asarray(runs, np.float64)
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        return cls(float(values.mean()), float(error), tuple(values.tolist()))


class Recommendation(NamedTuple):
    """A number of topics, why, and what to be careful about."""

    recommended: int
    reason: str
    warnings: tuple[str, ...]


def overall(measured: Sequence[Mapping[str, Measured]]) -> list[Measured]:
    """The mean of all measures, each from 0 (the worst number of topics) to 1 (the best).

    A measure that differs between numbers of topics by no more than it does between fits of one number does
    not have the whole range: it has less to say.

    Parameters
    ----------
    measured : sequence of mapping of str to Measured
        What was measured for each number of topics, with as many runs for all.
    """
    parts = []
    for name in MEASURES:
        values = np.array([one[name].runs for one in measured])
        if name in LOWER_IS_BETTER:
            values = -values
        means = values.mean(axis=1)
        noise = 2 * _CERTAIN * float(values.std(axis=1, ddof=1).mean())
        scale = max(float(np.ptp(means)), noise)
        parts.append((values - means.min()) / scale if scale > 0 else np.zeros_like(values))
    return [Measured.of(runs.tolist()) for runs in np.mean(parts, axis=0)]


def recommend(
    numbers: Sequence[int], measured: Sequence[Mapping[str, Measured]], together: Sequence[Measured]
) -> Recommendation:
    """The number of topics with the best mean of all measures, with the reason and with warnings.

    Parameters
    ----------
    numbers : sequence of int
        Of topics, the smallest first.
    measured : sequence of mapping of str to Measured
        For each number.
    together : sequence of Measured
        As in `overall`.
    """
    best = int(np.argmax([one.mean for one in together]))
    return Recommendation(
        numbers[best],
        _reason(numbers, measured, best),
        tuple(_warnings(numbers, measured, together, best)),
    )


def _reason(numbers: Sequence[int], measured: Sequence[Mapping[str, Measured]], best: int) -> str:
    good, ahead = [], []
    for name, called in MEASURES.items():
        means = np.array([one[name].mean for one in measured])
        first = int(np.argmin(means) if name in LOWER_IS_BETTER else np.argmax(means))
        if first == best or not _certain(measured[first][name].runs, measured[best][name].runs):
            good.append(f"{called} ({_number(means[best])})")
        else:
            better = "less" if name in LOWER_IS_BETTER else "a better"
            there, here = _number(means[first]), _number(means[best])
            ahead.append(f"{numbers[first]} topics have {better} {called} ({there} instead of {here})")
    sentences = [f"{numbers[best]} topics have the best balance of the four measures"]
    if good:
        sentences.append(f"No other number does better in {enumerated(good, 'or')}")
    # the price of the balance, one measure a sentence
    return " ".join(f"{sentence}." for sentence in [*sentences, *ahead])


def _warnings(
    numbers: Sequence[int],
    measured: Sequence[Mapping[str, Measured]],
    together: Sequence[Measured],
    best: int,
) -> list[str]:
    found = []
    close = [
        number
        for place, number in enumerate(numbers)
        if place != best and not _certain(together[best].runs, together[place].runs)
    ]
    if close:
        found.append(
            f"{numbers[best]} is not clearly the best: {enumerated([str(number) for number in close])} "
            f"{'does' if len(close) == 1 else 'do'} as well, as far as {len(together[best].runs)} runs can "
            f"tell"
        )
    if best in (0, len(numbers) - 1):
        side, beyond = ("smallest", "fewer") if best == 0 else ("largest", "more")
        found.append(f"{numbers[best]} is the {side} number that was tried: try {beyond} topics, too")
    if max(one["stability"].mean for one in measured) < _UNSTABLE:
        found.append("topics hardly come back for any of these numbers: give more documents, or fewer topics")
    return found


def _certain(better: Sequence[float], worse: Sequence[float]) -> bool:
    """Whether a difference, run by run, is more than chance."""
    difference = Measured.of([a - b for a, b in zip(better, worse, strict=True)])
    return abs(difference.mean) > _CERTAIN * difference.error


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"
