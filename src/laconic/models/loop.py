"""The loop that every model runs: document map, reduce, topic step, until the objective stops falling.

A family of models supplies `Steps`; the loop and the engine supply order, threads, watching and stopping.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from laconic.engines import Threads


class Steps(Protocol):
    """What a family of models tells the loop. The steps own the factors; shares are passed in block order.

    Blocks run while their shares are taken: a reduce takes all of them before it reads or replaces anything
    that the solves use. A stage begins when the one before it is reduced.

    Statistics are additive over blocks of documents. A separable topic step solves for its terms in
    `solve_terms`; a coupled one collects there and solves in `reduce_terms`.
    """

    @property
    def document_stages(self) -> Sequence[Sequence[Any]]:
        """Blocks of documents, in stages: a stage sees the results of the stages before it."""

    @property
    def term_stages(self) -> Sequence[Sequence[Any]]:
        """Blocks of terms, in stages: one, unless some topics wait for others."""

    def solve_documents(self, rows: Any) -> Any:
        """Solve for these rows of W and return their share of the statistics."""

    def reduce_documents(self, shares: Iterable[Any]) -> float:
        """Add up the shares; returns the objective after the document half step."""

    def solve_terms(self, columns: Any) -> Any:
        """Work on these columns of C, given the statistics."""

    def reduce_terms(self, stage: int, shares: Iterable[Any]) -> float:
        """Finish the topics of a stage; returns the objective, which the loop reads after the last one."""

    def summary(self) -> tuple[int, float]:
        """Number of topics alive, and the share of non-zeros in the topics."""


@runtime_checkable
class LateSteps(Steps, Protocol):
    """Steps whose reduces return the objective before the half step rather than after it.

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
    """Relative decrease of the objective over the last whole iteration (infinite in the first)."""
    tol: float
    n_alive: int
    density: float
    seconds: float


Callback = Callable[[Progress], bool | None]


class Trace(NamedTuple):
    """How a run of the loop went: the objective after every iteration, and why it ended."""

    history: list[float]
    converged: bool
    interrupted: bool


def alternate(
    steps: Steps,
    engine: Threads,
    *,
    max_iter: int,
    tol: float,
    callback: Callback | None = None,
    phase: str = "fit",
) -> Trace:
    """Alternate document and topic steps until the relative decrease of the objective is at most `tol`."""
    history: list[float] = []
    decrease = np.inf
    began = time.perf_counter()

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
    for half in _halves(steps, engine, max_iter):
        if half.name == "topics":
            if history:
                decrease = (history[-1] - half.objective) / abs(history[-1]) if history[-1] else 0.0
            history.append(half.objective)
        stop = watch(half.iteration, half.name, half.objective) or stop
        if half.name == "topics" and stop:
            return Trace(history, converged=False, interrupted=True)
        if half.name == "topics" and decrease <= tol:
            return Trace(history, converged=True, interrupted=False)
    return Trace(history, converged=False, interrupted=False)


class _Half(NamedTuple):
    """A half step that was done, and the objective after it."""

    iteration: int
    name: str
    objective: float


def _halves(steps: Steps, engine: Threads, max_iter: int) -> Iterator[_Half]:
    """The half steps as they are done; those of late steps are told when the next one is done."""
    late = isinstance(steps, LateSteps)
    done: _Half | None = None
    for iteration in range(1, max_iter + 1):
        for name in ("documents", "topics"):
            if name == "documents":
                objective = steps.reduce_documents(_stages(steps, engine))
            else:
                for stage, blocks in enumerate(steps.term_stages):
                    objective = steps.reduce_terms(stage, engine.map(steps.solve_terms, blocks))
            if not late:
                yield _Half(iteration, name, objective)
            elif done is not None:
                yield done._replace(objective=objective)
            done = _Half(iteration, name, objective)
    if isinstance(steps, LateSteps) and done is not None:
        yield done._replace(objective=steps.objective())


def _stages(steps: Steps, engine: Threads) -> Iterable[Any]:
    for blocks in steps.document_stages:
        yield from engine.map(steps.solve_documents, blocks)
