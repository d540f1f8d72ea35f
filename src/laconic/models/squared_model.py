"""What the models with squared loss have in common: the fit, and folding documents in."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array

from laconic.engines import Threads
from laconic.models.base import TopicModel
from laconic.models.factor import Factor, transposed, upright
from laconic.models.groups import Groups
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.solvers import RowSolver
from laconic.models.squared import SquaredSteps, checked_energy, fold_in

# Documents are folded in to the end, not until the patience of a warm-started iteration runs out.
SWEEPS_FIT, SWEEPS_TRANSFORM = 200, 10_000


class SquaredModel(TopicModel):
    """Base of the models that minimise ||X - WC||^2 with penalties or constraints.

    A model says what its parameters may be, where it starts, and how a document's weights are found.
    """

    def _fit_topics(
        self, X: csr_array, y: Any, engine: Threads, watch: Callback | None
    ) -> tuple[Factor, Trace]:
        checked_energy(X)
        groups = self._groups(X, y).simplified()
        self._prepare(X, groups)
        steps = SquaredSteps(X, groups, engine)
        trace = self._start(X, steps, watch)
        if not trace.interrupted:
            trace = alternate(steps, engine, max_iter=self.max_iter, tol=self.tol, callback=watch)
        components = steps.components()
        upright(components)
        return components, trace

    def _groups(self, X: csr_array, y: Any) -> Groups:
        """Which documents may use which topics."""
        return Groups.single(X.shape[0], self.n_components)

    def _prepare(self, X: csr_array, groups: Groups) -> None:
        """Settle what depends on the data, but not on the start."""

    def _start(self, X: csr_array, steps: SquaredSteps, watch: Callback | None) -> Trace:
        """Begin the steps at their first topics; tells how finding those went."""
        raise NotImplementedError

    def _document_solver(self, max_sweeps: int, dtype: Any) -> RowSolver:
        """How weights are found when topics are fixed."""
        raise NotImplementedError

    @property
    def _sparse_weights(self) -> bool:
        return self._document_solver(1, self.components_.dtype).sparse

    def _fold_in(self, X: Any, y: Any = None) -> tuple[Any, float, float]:
        """The weights of documents, the squared loss, and ||X||^2; `y` is for models with classes."""
        X = self._check_new(X)
        components = self.components_.astype(X.dtype, copy=False)
        with self._engine() as engine:
            return fold_in(
                X, transposed(components), self._document_solver(SWEEPS_TRANSFORM, X.dtype), engine
            )
