"""How far a fit is: a bar on a terminal, a line kept up to date in a notebook, a few lines in a log."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from laconic.display.markup import frame, paragraph, progress
from laconic.words import COMPILING, figure, plural
from laconic.words import clock as in_words

if TYPE_CHECKING:
    from laconic.losses.loop import Progress as Report

SECONDS_BETWEEN_LINES = (10.0, 600.0)
"""Lines in a log are at least, and while iterations end at most, about this far apart."""
SECONDS_BETWEEN_UPDATES = 0.2
"""A notebook is not told more often than people can read."""


class State(NamedTuple):
    """How far a fit is."""

    phase: str = "start"
    iteration: int = 0
    expected: int = 0
    """How many iterations there will probably be."""
    facts: str = ""
    objective: float | None = None
    seconds: float = 0.0
    left: float | None = None

    @property
    def doing(self) -> str:
        """What goes on, in a word or two."""
        if self.objective is None:
            return "starting"
        return f"iteration {self.iteration}" if self.phase == "fit" else "finding a start"

    @property
    def ended(self) -> str:
        """What a fit that has ended took, and came to."""
        n_iter = self.iteration if self.phase == "fit" else 0
        end = "" if self.objective is None else f", objective {figure(self.objective)}"
        return f"{plural(n_iter, 'iteration')} in {self.seconds:.1f} s{end}"


class Surface(Protocol):
    """Where progress is shown."""

    def begin(self) -> None:
        """The fit begins."""

    def show(self, state: State) -> None:
        """An iteration has ended."""

    def compiling(self) -> None:
        """A kernel is compiled, which takes as long as many iterations; any thread may call this."""

    def stopping(self, words: str) -> None:
        """The fit will end after this iteration; called in signal handlers, which must not write."""

    def end(self, state: State, outcome: str) -> None:
        """The fit has ended: "done", or why it was stopped."""


class ProgressDisplay:
    """A callback for `fit` that shows objective, density and an estimate of the time left.

    On a terminal it is a bar, written to standard error, that leaves no trace. In a notebook it is one line,
    which stays. Elsewhere (logs, pipes) it is a line at the beginning, one at the end, and in between one
    every ten seconds at most, and ever fewer: each when a tenth more of the time has passed.

    Parameters
    ----------
    console : Console, optional
        Where to write; by default standard error, or the notebook.
    title : str
        What lines in logs and notebooks begin with.
    lines : bool, optional
        Whether to write lines where there is no terminal; by default not to a console of the caller's.
    clock : callable
        Tells the time in seconds.
    """

    def __init__(
        self,
        console: Console | None = None,
        *,
        title: str = "fit",
        lines: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._decreases: list[float] = []
        self._state = State()
        self._surface = _surface(console, title, console is None if lines is None else lines)

    def __enter__(self) -> Self:
        # A display can be made without it, and a fit cannot.
        from laconic.kernels.compiling import watched

        self._began = self._clock()
        self._surface.begin()
        self._watching = contextlib.ExitStack()
        self._watching.enter_context(watched(self._surface.compiling, lambda: None))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watching.close()
        outcome = "done" if kind is None else f"stopped by {kind.__name__}"
        self._surface.end(self._state._replace(seconds=self._clock() - self._began), outcome)

    def __call__(self, report: Report) -> bool | None:
        """Show one report; never asks the fit to stop."""
        if report.half != "topics":
            return None
        facts = f"objective {figure(report.objective)}  density {report.density:.2%}  {report.n_alive} alive"
        seconds = self._clock() - self._began
        self._state = State(report.phase, report.iteration, 0, facts, report.objective, seconds)
        if report.phase != "start":
            self._decreases.append(report.decrease)
            expected = expected_iterations(self._decreases, report.tol, report.max_iter)
            left = report.seconds / report.iteration * (expected - report.iteration)
            self._state = self._state._replace(expected=expected, left=left)
        self._surface.show(self._state)
        return None

    def show_stopping(self) -> None:
        """Tell that the fit ends after this iteration. Writes nothing itself: for signal handlers, too."""
        self._surface.stopping("stopping after this iteration; Ctrl-C again to abort")


def _surface(console: Console | None, title: str, lines: bool) -> Surface:
    if console is None and (display := _notebook_display()) is not None:
        return Line(display, title)
    console = Console(stderr=True) if console is None else console
    # where nothing can be overwritten, rich shows no bar; in a notebook, it would ask for ipywidgets
    overwrites = console.is_terminal and not console.is_dumb_terminal and not console.is_jupyter
    return Lines(console, title) if lines and not overwrites else Bar(console, disable=not overwrites)


class Bar:
    """A bar on a terminal; gone when the fit has ended."""

    def __init__(self, console: Console, *, disable: bool) -> None:
        self.console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[facts]}"),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=disable,
        )

    def begin(self) -> None:
        """Start to draw."""
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None, facts="", left="")

    def show(self, state: State) -> None:
        """Fill it as far as the fit is."""
        if state.left is None:
            self._bar.update(self._task, description=state.doing, total=None, facts=state.facts)
            return
        self._bar.update(
            self._task,
            description=state.doing,
            total=float(state.expected),
            completed=float(state.iteration),
            facts=state.facts,
            left=Text(f"~{in_words(state.left)} left"),
        )

    def compiling(self) -> None:
        """Say so until an iteration has ended."""
        self._bar.update(self._task, description=COMPILING)

    def stopping(self, words: str) -> None:
        """Say so in place of the facts, when the bar is next drawn."""
        self._bar.update(self._task, description=words, facts="", left="")

    def end(self, state: State, outcome: str) -> None:
        """Take it away."""
        self._bar.stop()


class Lines:
    """Lines in a log."""

    def __init__(self, console: Console, title: str) -> None:
        self._file, self._title = console.file, title
        self._told = 0.0
        self._compiles = False

    def begin(self) -> None:
        """Say that the fit begins."""
        self._write("fit begins")

    def show(self, state: State) -> None:
        """Say how far it is, if that was not said lately."""
        least, most = SECONDS_BETWEEN_LINES
        if state.seconds - self._told < min(most, max(least, self._told / 10)):
            return
        self._told = state.seconds
        left = "" if state.left is None else f"  ~{in_words(state.left)} left"
        self._write(f"{state.doing}  {in_words(state.seconds)}  {state.facts}{left}")

    def compiling(self) -> None:
        """Say so, the first time."""
        if not self._compiles:
            self._compiles = True
            self._write(COMPILING)

    def stopping(self, words: str) -> None:
        """Nothing: the end is near."""

    def end(self, state: State, outcome: str) -> None:
        """Say what it took, and came to."""
        self._write(f"{outcome}, {state.ended}")

    def _write(self, line: str) -> None:
        # a fit does not fail because nobody reads about it any longer
        with contextlib.suppress(OSError, ValueError):
            self._file.write(f"{self._title}: {line}\n")
            self._file.flush()


class Line:
    """A line in a notebook that is kept up to date."""

    def __init__(self, display: Callable[..., Any], title: str) -> None:
        self._display, self._title = display, title
        self._told = -math.inf

    def begin(self) -> None:
        """Show the line."""
        self._handle = self._display(self._line("starting", None), raw=True, display_id=True)

    def show(self, state: State) -> None:
        """Bring it up to date, unless that was done a moment ago."""
        if state.seconds - self._told < SECONDS_BETWEEN_UPDATES:
            return
        self._told = state.seconds
        left = "" if state.left is None else f"  ~{in_words(state.left)} left"
        share = state.iteration / state.expected if state.expected else None
        self._update(f"{state.doing}  {state.facts}{left}", share)

    def compiling(self) -> None:
        """Say so until an iteration has ended."""
        self._update(COMPILING, None)

    def stopping(self, words: str) -> None:
        """Nothing: the end is near."""

    def end(self, state: State, outcome: str) -> None:
        """Leave what it took, and came to."""
        self._update(f"{outcome}, {state.ended}", None)

    def _update(self, words: str, share: float | None) -> None:
        # none if the shell has no such display
        if self._handle is not None:
            self._handle.update(self._line(words, share), raw=True)

    def _line(self, words: str, share: float | None) -> dict[str, str]:
        shown = progress(self._title, words, share)
        return {"text/plain": f"{self._title}: {words}", "text/html": frame(paragraph(shown))}


def _notebook_display() -> Callable[..., Any] | None:
    """What shows things in the notebook that this process is the kernel of, if it is one."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython  # type: ignore[import-not-found]
    from IPython.display import display  # type: ignore[import-not-found]

    shell = type(get_ipython())
    kernel = shell.__name__ == "ZMQInteractiveShell" or shell.__module__.startswith("google.colab")
    return display if kernel else None


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
