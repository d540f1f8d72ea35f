"""What the models with squared loss have in common: the fit, and folding documents in."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from laconic.models.base import TopicModel, data_hash
from laconic.models.checks import check_choice, check_number
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

    n_components: int
    init: Any
    max_iter: int
    tol: float
    random_state: Any

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Find the topics of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Best weighted by tf-idf with rows of length one.
        y : ignored
        callback : callable, optional
            Called with a `Progress` after every half step; returning True ends the fit after the iteration,
            with the topics found so far.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        self._forget()
        X = self._check_matrix(X, reset=True)
        checked_energy(X)
        groups = self._groups(X, y).simplified()
        self._prepare(X, groups)
        self.data_hash_ = data_hash(X)
        with self._engine() as engine, self._watching(callback) as watch:
            steps = SquaredSteps(X, groups, engine)
            trace = self._start(X, steps, watch)
            if not trace.interrupted:
                trace = alternate(steps, engine, max_iter=self.max_iter, tol=self.tol, callback=watch)
        if not trace.converged and not trace.interrupted:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations before the "
                f"decrease fell below tol={self.tol}: raise max_iter, or tol if the topics are good enough.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.components_ = upright(steps.components())
        self.objective_history_ = np.array(trace.history)
        self.n_iter_ = len(trace.history)
        return self

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, Integral, 1)
        check_number("tol", self.tol, Real, 0)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("documents",))

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

    def transform(self, X: Any) -> Factor:
        """The weights of documents for the topics found: the document half step with the topics fixed.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray or csr_array of shape (n_documents, n_components)
            Sparse where weights have exact zeros (dense if `set_output` asks for data frames).
            A document without known words has only zeros.
        """
        W, _, _ = self._fold_in(X)
        return self._output(W, sparse=self._document_solver(1, W.dtype).sparse)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Factor:
        """The same as ``fit(X, y).transform(X)``."""
        return self.fit(X, y, **fit_params).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the squared norm of X that the topics explain: 1 - ||X - WC||^2 / ||X||^2.

        Higher is better, at most 1, so that a grid search can compare numbers of topics and penalties on
        held-out documents. Zero if X is zero.
        """
        _, loss, energy = self._fold_in(X, y)
        return min(1.0, 1 - loss / energy) if energy > 0 else 0.0

    def _fold_in(self, X: Any, y: Any = None) -> tuple[Any, float, float]:
        """The weights of documents, the squared loss, and ||X||^2; `y` is for models with classes."""
        X = self._check_new(X)
        components = self.components_.astype(X.dtype, copy=False)
        with self._engine() as engine:
            return fold_in(
                X, transposed(components), self._document_solver(SWEEPS_TRANSFORM, X.dtype), engine
            )

    def _check_new(self, X: Any) -> csr_array:
        """The matrix of documents that are to be folded in."""
        check_is_fitted(self, "components_")
        X = self._check_matrix(X, reset=False)
        if X.shape[1] != self.components_.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the topics have {self.components_.shape[1]}")
        return X

    @property
    def _n_topics(self) -> int:
        return self.n_components

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        self._check_parameters()
        if self.components_.shape[0] != self._n_topics:
            raise ValueError(f"components have {self.components_.shape[0]} rows, not {self._n_topics}")
        return self

    def _precision(self, dtype: Any) -> float:
        """How exactly rows are solved: in step with `tol`, within the limits of the type."""
        return float(np.clip(10 * self.tol, 32 * np.finfo(dtype).eps, 1e-4))
