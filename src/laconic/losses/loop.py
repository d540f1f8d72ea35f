"""The loop that every model runs: documents, then topics, until the objective stops falling.

A loss supplies `Steps`; the loop supplies order, watching and stopping. With a journal it also writes down
where it is, and goes on from there: steps tell what they know by `state`, and take it back by `restore`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from laconic.errors import CorpusError

if TYPE_CHECKING:
    from laconic.engines import Engine, Shards
    from laconic.storage.forms import Form

Value = TypeVar("Value")


class Steps(Protocol):
    """What a loss tells the loop. Steps keep what the coordinator knows, and ask an engine for the rest."""

    def documents(self) -> float:
        """Solve for the documents' weights; returns the objective after it."""

    def topics(self) -> float:
        """Solve for the topics; returns the objective after it."""

    def summary(self) -> tuple[int, float]:
        """Number of topics alive, and the share of non-zeros in the topics."""


@runtime_checkable
class LateSteps(Steps, Protocol):
    """Steps that return the objective before the half step rather than after it.

    Where the objective is a sum over the non-zeros, that is free: it would otherwise take a pass of its own.
    """

    def objective(self) -> float:
        """The objective where the steps are now; asked for after the last half step."""


@runtime_checkable
class ResumableSteps(Steps, Protocol):
    """Steps that can be written down after an iteration, and taken up by others of the same problem.

    What the shards hold is theirs to write: `held` names it.
    """

    shards: Shards
    engine: Engine

    def state(self) -> dict[str, Any]:
        """What the coordinator knows and could not find again: plain numbers, arrays and sparse arrays."""

    def form(self) -> dict[str, Form]:
        """What a state must look like that these steps can go on from."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` told, whatever was done before; it has the form that was asked for."""

    def held(self) -> tuple[str, ...]:
        """Which arrays of the shards the next half step begins from: "weights", "kept", or none."""


class Progress(NamedTuple):
    """What a callback receives after every half step; it ends the fit early by returning True."""

    phase: str
    """``"start"`` (not in the history) or ``"fit"``."""
    iteration: int
    max_iter: int
    half: str
    """``"documents"`` or ``"topics"``."""
    objective: float
    decrease: float
    """Relative decrease of the objective over the last whole iteration, or the largest of the last few, where
    steps differ in length (infinite in the first)."""
    tol: float
    n_alive: int
    density: float
    seconds: float


Callback = Callable[[Progress], bool | None]


class Trace(NamedTuple):
    """How a run of the loop went: the objective after every iteration, and why it ended."""

    history: list[float]
    converged: bool = False
    interrupted: bool = False


class Course(NamedTuple):
    """How far a run of the loop is."""

    iteration: int
    half: str
    """The last half step that was done: "documents" or "topics"."""
    history: list[float]
    falls: list[float]
    """Relative decreases of the objective, one for every iteration but the first."""


class Journal(Protocol):
    """Where a fit is written down. A fit may run the loop several times: runs are told by their order."""

    def begin(self, steps: Steps) -> Trace | Course | None:
        """What is known of a run that begins: how it ended, where it was (and steps are), or nothing."""

    def due(self) -> bool:
        """Whether it is time to write."""

    def save(self, course: Course, steps: ResumableSteps) -> None:
        """Write down where a run is."""

    def end(self, trace: Trace) -> None:
        """A run has ended."""

    def note(self, name: str, find: Callable[[], Any], form: Form) -> Any:
        """A value that is found once: what runs of the loop left outside of their steps."""


class Found(NamedTuple):
    """What a fit has found: topics × terms, how it went, and what else is to be known of it, by name."""

    components: Any
    trace: Trace
    facts: dict[str, Any]


class Patience(NamedTuple):
    """When a fit ends, who watches it, and where it is written down."""

    max_iter: int
    tol: float
    watch: Callback | None = None
    memory: int = 1
    """Over how many iterations the objective has to fall slowly: several, where steps differ in length."""
    journal: Journal | None = None

    def note(self, name: str, find: Callable[[], Value], form: Form) -> Value:
        """A value of some form that depends on a run of the loop that is over, but not on its steps alone."""
        return find() if self.journal is None else self.journal.note(name, find, form)


def precision(tol: float, dtype: Any) -> float:
    """How exactly rows are solved: in step with the `tol` of a fit, within the limits of the type."""
    return float(np.clip(10 * tol, 32 * np.finfo(dtype).eps, 1e-4))


def alternate(steps: Steps, patience: Patience, phase: str = "fit") -> Trace:
    """Alternate document and topic steps until the relative decrease of the objective is at most `tol`.

    Where the objective is told late, the end is noticed when the documents have moved once more: the last
    entry of the history is then the objective with these weights, so that the two belong together.

    With a journal, a run that has ended before is not done again: its steps stay as they are, since those of
    the run that is taken up replace all that they would have led to.
    """
    journal = patience.journal
    known = None if journal is None else journal.begin(steps)
    if isinstance(known, Trace):
        return known
    trace = _Run(steps, patience, phase).through(known)
    if journal is not None:
        journal.end(trace)
    return trace


class _Half(NamedTuple):
    """A half step that was done, the objective after it, and whether the next one is done as well."""

    iteration: int
    name: str
    objective: float
    overtaken: bool = False


class _Run:
    """A run of the loop."""

    def __init__(self, steps: Steps, patience: Patience, phase: str) -> None:
        self.steps, self.patience, self.phase = steps, patience, phase
        self.late = isinstance(steps, LateSteps)
        self.history: list[float] = []
        self.falls: list[float] = []
        self.began = time.perf_counter()

    def through(self, known: Course | None) -> Trace:
        """To the end, from the beginning or from where it was."""
        last = None
        if known is not None:
            self.history, self.falls = list(known.history), list(known.falls)
            last = _Half(known.iteration, known.half, np.nan)
            # who asked for the end that was near is gone; but it may have been the end anyway
            told = "documents" if self.late else "topics"
            if known.half == told and self.history and self.decrease <= self.patience.tol:
                return self._ended(self.late, stop=False)
        stop = False
        for half in self._halves(last):
            if half.name == "topics":
                if self.history:
                    before = self.history[-1]
                    self.falls.append((before - half.objective) / abs(before) if before else 0.0)
                self.history.append(half.objective)
            stop = self._watched(half) or stop
            over = half.name == "topics" and (stop or self.decrease <= self.patience.tol)
            self._write_down(half, stop=stop, over=over)
            if over:
                return self._ended(half.overtaken, stop)
        return Trace(self.history)

    @property
    def decrease(self) -> float:
        """The largest relative decrease of the last iterations; infinite before there are enough."""
        memory = self.patience.memory
        return max(self.falls[-memory:]) if len(self.falls) >= memory else np.inf

    def _ended(self, overtaken: bool, stop: bool) -> Trace:
        if overtaken and isinstance(self.steps, LateSteps):
            self.history[-1] = min(self.history[-1], self.steps.objective())
        return Trace(self.history, converged=not stop, interrupted=stop)

    def _watched(self, half: _Half) -> bool:
        if not np.isfinite(half.objective):
            raise CorpusError(
                "The objective is not finite: the numbers grew beyond what their type can hold. "
                "Scale X down, or pass it as float64."
            )
        max_iter, tol, callback = self.patience[:3]
        if callback is None:
            return False
        n_alive, density = self.steps.summary()
        report = Progress(
            self.phase,
            half.iteration,
            max_iter,
            half.name,
            half.objective,
            self.decrease,
            tol,
            n_alive,
            density,
            time.perf_counter() - self.began,
        )
        return bool(callback(report))

    def _write_down(self, half: _Half, *, stop: bool, over: bool) -> None:
        """Tell the journal after an iteration, if it is time, or if the fit is stopped here."""
        journal = self.patience.journal
        if journal is None or (self.late and not half.overtaken):
            return
        # late steps have done the next half step when they tell of one
        done = _following(half) if half.overtaken else half
        after_an_iteration = done.name == "topics" and not over
        if (over and stop) or (after_an_iteration and (stop or journal.due())):
            if not isinstance(self.steps, ResumableSteps):
                kind = type(self.steps).__name__
                lacking = "its steps lack state(), form() or restore()"
                raise TypeError(f"a fit by {kind} has no checkpoints: {lacking}")
            journal.save(Course(done.iteration, done.name, self.history, self.falls), self.steps)

    def _halves(self, done: _Half | None) -> Iterator[_Half]:
        """The half steps as they are done; those of late steps are told when the next one is done."""
        halves = self.steps.documents, self.steps.topics
        first = 0 if done is None else 2 * done.iteration - (done.name == "documents")
        for number in range(first, 2 * self.patience.max_iter):
            objective = halves[number % 2]()
            now = _Half(number // 2 + 1, ("documents", "topics")[number % 2], objective)
            if not self.late:
                yield now
            elif done is not None:
                yield done._replace(objective=objective, overtaken=True)
            done = now
        if isinstance(self.steps, LateSteps) and done is not None:
            yield done._replace(objective=self.steps.objective())


def _following(half: _Half) -> _Half:
    if half.name == "documents":
        return half._replace(name="topics")
    return half._replace(iteration=half.iteration + 1, name="documents")
