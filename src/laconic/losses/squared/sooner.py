"""Steps that arrive sooner: documents are solved for topics ahead of the last ones."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from laconic.engines import Block, even_blocks
from laconic.engines.shards import keep_weights, restore_weights
from laconic.kernels.rows import rows_ahead
from laconic.losses.factor import Factor, Floats
from laconic.losses.squared.steps import Place, SquaredSteps
from laconic.storage.forms import Form, Maybe, Number

TERMS_PER_BLOCK = 4096


class Extrapolated:
    """Steps of the squared loss whose topics are extrapolated (Nesterov), with restarts.

    Documents are solved for topics that lie ahead of the last ones, on from where these came from, and by
    Nesterov's sequence ever farther. If the objective is higher after the topics have followed, both halves
    are done again from the last topics and the weights that belong to them, and the sequence starts over: so
    the objective never rises. Words that a topic does not have are not extrapolated. All sums are those of
    plain steps, additive over shards.

    While topics are extrapolated, what is told as the objective after the documents is that before them.

    Parameters
    ----------
    steps : SquaredSteps
        They have begun.
    nonnegative : bool
        Whether topics have positive words alone.
    """

    def __init__(self, steps: SquaredSteps, nonnegative: bool) -> None:
        self.steps, self.nonnegative = steps, nonnegative
        self.shards, self.engine = steps.shards, steps.engine
        self._before: list[Factor] | None = None
        self._kept: Place | None = None
        """Where the steps come back to, while they are ahead."""
        self._pace, self._objective = 1.0, np.inf

    def documents(self) -> float:
        """Solve for the documents' weights, with topics ahead."""
        now = self.steps.place()
        pace = (1 + math.sqrt(1 + 4 * self._pace**2)) / 2
        share = (self._pace - 1) / pace
        self._pace, self._kept = pace, None
        if self._before is not None and share > 0:
            self._kept = now
            if not self.steps.solver.closed_form:
                self.engine.each(self.shards, keep_weights, None)
            pairs = zip(self._before, now.topics, strict=True)
            ahead = [self._ahead(before, last, share) for before, last in pairs]
            self.steps.go_to(now._replace(topics=ahead))
        self._before = [topics.copy() for topics in now.topics] if self._kept is None else now.topics
        objective = self.steps.documents()
        return objective if self._kept is None else self._objective

    def topics(self) -> float:
        """Solve for the topics that follow; if they are no better than the last ones, go back to these."""
        objective = self.steps.topics()
        if self._kept is not None and objective > self._objective:
            # dense topics are changed in place
            self._before = [topics.copy() for topics in self._kept.topics]
            self.steps.go_to(self._kept)
            if not self.steps.solver.closed_form:
                self.engine.each(self.shards, restore_weights, None)
            self._pace = 1.0
            self.steps.documents()
            objective = self.steps.topics()
        assert self._before is not None
        self.steps.scale_before(self._before)
        self._objective = objective
        return objective

    def _ahead(self, before: Factor, now: Factor, share: float) -> Factor:
        """Topics on from now as they came from before."""
        if isinstance(now, np.ndarray):
            out = np.empty_like(now)
            work = partial(_extrapolate, before, now, share, self.nonnegative, out)
            for _ in self.engine.map(work, even_blocks(len(now), TERMS_PER_BLOCK)):
                continue
            return out
        ahead = now.copy()
        former = before.indptr, before.indices, before.data
        rows_ahead(*former, ahead.indptr, ahead.indices, ahead.data, now.dtype.type(share), self.nonnegative)
        return ahead

    def summary(self) -> tuple[int, float]:
        """Topics alive and density."""
        return self.steps.summary()

    def state(self) -> dict[str, Any]:
        """Also the topics before, the pace and the objective."""
        known = {"before": self._before, "pace": self._pace, "objective": self._objective}
        return self.steps.state() | known

    def form(self) -> dict[str, Form]:
        """Topics before are like those of now; the pace grows by about a half in every iteration."""
        form = self.steps.form()
        return form | {"before": Maybe(form["topics"]), "pace": Number(1, 1e9), "objective": Number()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.steps.restore(state)
        self._before, self._pace, self._objective = state["before"], state["pace"], state["objective"]

    def held(self) -> tuple[str, ...]:
        """What the steps themselves begin from: after an iteration, nothing is ahead."""
        return self.steps.held()


def _extrapolate(
    before: Floats, now: Floats, share: float, nonnegative: bool, out: Floats, block: Block
) -> None:
    rows = slice(*block)
    found = out[rows]
    np.subtract(now[rows], before[rows], out=found)
    found *= found.dtype.type(share)
    found += now[rows]
    if nonnegative:
        # where a topic does not have a word, this is not positive
        np.maximum(found, 0, out=found)
    else:
        found[now[rows] == 0] = 0
