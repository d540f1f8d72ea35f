"""The loop that every model runs: documents, then topics, until the objective stops falling.

A loss supplies `Steps`; the loop supplies order, watching and stopping.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np


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


class Progress(NamedTuple):
    """What a callback is told after every half step; it ends the fit early by returning True."""

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


class Found(NamedTuple):
    """What a fit has found: topics × terms, how it went, and what else is to be known of it, by name."""

    components: Any
    trace: Trace
    facts: dict[str, Any]


class Patience(NamedTuple):
    """When a fit ends, and who watches it."""

    max_iter: int
    tol: float
    watch: Callback | None = None
    memory: int = 1
    """Over how many iterations the objective has to fall slowly: several, where steps differ in length."""


def precision(tol: float, dtype: Any) -> float:
    """How exactly rows are solved: in step with the `tol` of a fit, within the limits of the type."""
    return float(np.clip(10 * tol, 32 * np.finfo(dtype).eps, 1e-4))


def alternate(steps: Steps, patience: Patience, phase: str = "fit") -> Trace:
    """Alternate document and topic steps until the relative decrease of the objective is at most `tol`.

    Where the objective is told late, the end is noticed when the documents have moved once more: the last
    entry of the history is then the objective with these weights, so that the two belong together.
    """
    history: list[float] = []
    decrease = np.inf
    began = time.perf_counter()
    max_iter, tol, callback, memory = patience
    decreases: list[float] = []

    def watch(iteration: int, half: str, objective: float) -> bool:
        if not np.isfinite(objective):
            raise ValueError(
                "The objective is not finite: the numbers grew beyond what their type can hold. "
                "Scale X down, or pass it as float64."
            )
        if callback is None:
            return False
        n_alive, density = steps.summary()
        seconds = time.perf_counter() - began
        report = Progress(
            phase, iteration, max_iter, half, objective, decrease, tol, n_alive, density, seconds
        )
        return bool(callback(report))

    stop = False
    for half in _halves(steps, max_iter):
        if half.name == "topics":
            if history:
                fall = (history[-1] - half.objective) / abs(history[-1]) if history[-1] else 0.0
                decreases.append(fall)
                decrease = max(decreases[-memory:]) if len(decreases) >= memory else np.inf
            history.append(half.objective)
        stop = watch(half.iteration, half.name, half.objective) or stop
        if half.name == "topics" and (stop or decrease <= tol):
            if half.overtaken and isinstance(steps, LateSteps):
                history[-1] = min(history[-1], steps.objective())
            return Trace(history, converged=not stop, interrupted=stop)
    return Trace(history)


class _Half(NamedTuple):
    """A half step that was done, the objective after it, and whether the next one is done as well."""

    iteration: int
    name: str
    objective: float
    overtaken: bool = False


def _halves(steps: Steps, max_iter: int) -> Iterator[_Half]:
    """The half steps as they are done; those of late steps are told when the next one is done."""
    late = isinstance(steps, LateSteps)
    done: _Half | None = None
    for iteration in range(1, max_iter + 1):
        for name, step in (("documents", steps.documents), ("topics", steps.topics)):
            objective = step()
            if not late:
                yield _Half(iteration, name, objective)
            elif done is not None:
                yield done._replace(objective=objective, overtaken=True)
            done = _Half(iteration, name, objective)
    if isinstance(steps, LateSteps) and done is not None:
        yield done._replace(objective=steps.objective())
