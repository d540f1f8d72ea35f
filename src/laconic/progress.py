"""A progress display for long fits: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import math
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from laconic.words import clock

if TYPE_CHECKING:
    from laconic.losses.loop import Progress as Report


class ProgressDisplay:
    """A callback for `fit` that shows objective, density and an estimate of the time left.

    Written to standard error, and only if that is a terminal: logs and pipes stay clean.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[facts]}"),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self._decreases: list[float] = []

    def __enter__(self) -> Self:
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None, facts="", left="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, report: Report) -> bool | None:
        """Show one report; never asks the fit to stop."""
        if report.half != "topics":
            return None
        facts = f"objective {report.objective:,.6g}  density {report.density:.2%}  {report.n_alive} alive"
        if report.phase == "start":
            self._bar.update(self._task, description="finding a start", total=None, facts=facts)
            return None
        self._decreases.append(report.decrease)
        expected = expected_iterations(self._decreases, report.tol, report.max_iter)
        left = report.seconds / report.iteration * (expected - report.iteration)
        self._bar.update(
            self._task,
            description=f"iteration {report.iteration}",
            total=float(expected),
            completed=float(report.iteration),
            facts=facts,
            left=Text(f"~{clock(left)} left"),
        )
        return None

    def show_stopping(self) -> None:
        """Tell that the fit ends after this iteration. Writes nothing itself: for signal handlers, too."""
        words = "stopping after this iteration; Ctrl-C again to abort"
        self._bar.update(self._task, description=words, facts="", left="")


def expected_iterations(decreases: list[float], tol: float, max_iter: int) -> int:
    """How many iterations a fit will take: the decreases fall about geometrically towards the tolerance.

    >>> expected_iterations([math.inf, 1e-2, 1e-3], tol=1e-5, max_iter=200)
    5
    >>> expected_iterations([math.inf], tol=1e-5, max_iter=200)
    200
    """
    done = len(decreases)
    recent = [d for d in decreases[-6:] if math.isfinite(d) and d > 0]
    if tol <= 0 or len(recent) < 2 or recent[-1] >= recent[0]:
        return max_iter
    rate = (math.log(recent[0]) - math.log(recent[-1])) / (len(recent) - 1)
    more = math.ceil(round(max(0.0, math.log(recent[-1] / tol)) / rate, 9))
    return max(done, min(max_iter, done + more))
