"""Non-negative matrix factorisation, flat and grouped."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state

from laconic.checks import check_choice, check_number
from laconic.engines import Threads
from laconic.models import kl
from laconic.models.factor import Factor
from laconic.models.grouped import GroupedModel
from laconic.models.loop import Callback, Trace
from laconic.models.plsa import check_prior, fit_mixture, fold_in_mixture
from laconic.models.solvers import Descent, Multiplicative, RowSolver
from laconic.models.squared import SquaredSteps
from laconic.models.squared_model import SWEEPS_FIT, SquaredModel
from laconic.models.starts import drawn_topics, given_topics, svd_topics
from laconic.models.topic_steps import SeparableTopics
from laconic.priors import Prior, PseudoDirichlet

# Rows are warm-started and need not be solved in full in any iteration. It does not even pay: where each side
# is fitted to the other in full too soon, the optimum that is found is often a worse one.
SWEEPS = 1
# Multiplicative updates never leave zero, so at the start every word of the collection gets a little weight
# in every topic; every topic gets one in each document, an equal one unless topics are given.
FLOOR = 0.01


class _NMFModel(SquaredModel):
    """What NMF and GroupNMF have in common: everything non-negative, no penalties."""

    _nonnegative_input: ClassVar[bool] = True
    solver: str

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, ("cd", "mu"))

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        values = self.components_.data if issparse(self.components_) else self.components_
        if not values.min(initial=0) >= 0:
            raise ValueError("components are negative, but topics of this model are not")
        return self

    def _start(self, X: csr_array, steps: SquaredSteps, watch: Callback | None) -> Trace:
        groups = steps.members
        if isinstance(self.init, str) and self.init == "svd":
            topics = svd_topics(X, groups.n_topics, check_random_state(self.random_state))
        elif isinstance(self.init, str):
            topics = drawn_topics(X, groups, check_random_state(self.random_state))
        else:
            topics = given_topics(self.init, groups.n_topics, X, nonnegative=True)
        solver = self._document_solver(SWEEPS, X.dtype)
        if self.solver == "mu":
            solver = Multiplicative()
            if isinstance(self.init, str):
                topics = csr_array(topics.toarray() + FLOOR * np.asarray(X.mean(axis=0)).astype(X.dtype))
        own = [SeparableTopics(solver) for _ in groups.n_own]
        shared = SeparableTopics(solver) if groups.n_shared else None
        steps.begin(topics, solver, own, shared)
        drawn = isinstance(self.init, str)
        first = self._document_solver(SWEEPS if drawn and self.solver == "cd" else SWEEPS_FIT, X.dtype)
        least = 0.0 if self.solver == "cd" else 1.0 if drawn else FLOOR
        steps.solve_first(first, least)
        return Trace([], converged=False, interrupted=False)

    def _document_solver(self, max_sweeps: int, dtype: Any) -> RowSolver:
        return Descent(
            0.0, power=1, nonnegative=True, precision=self._precision(dtype), max_sweeps=max_sweeps
        )


class NMF(_NMFModel):
    r"""Non-negative matrix factorisation.

    With documents as rows of X, the topics C (``components_``) and the documents' weights W minimise

    .. math:: \|X - WC\|^2 \quad\text{with}\quad W \ge 0,\; C \ge 0,

    or, with ``loss="kl"``,

    .. math::

        \sum_{n,m} \left( x_{nm} \log \frac{x_{nm}}{(WC)_{nm}} - x_{nm} + (WC)_{nm} \right)
        + \sum_{n,k} g(w_{nk}),

    where topics sum to one (which is no restriction, as weights do not) and g is the prior, if there is one.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    loss : {"squared", "kl"}, default="squared"
        What is minimised: the squared error, best for tf-idf, or the Kullback-Leibler divergence, best for
        counts.
    prior : None or one of `laconic.priors`, default=None
        With ``loss="kl"``: a penalty that rewards documents with few topics. The fit then starts from the
        solution without it.
    solver : {"cd", "mu"}, default="cd"
        For the squared loss. "cd" is coordinate descent, a few exact updates of every weight in turn. "mu"
        are the multiplicative updates of the literature: slower to converge, without exact zeros, and stuck
        where a weight is zero.
    init : {"documents", "svd"} or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`. "svd" (for the
        squared loss): the positive or negative parts of singular vectors; it takes the time of some
        iterations, and may end in a better optimum.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when an iteration lowers the objective by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the start. The same seed gives the same bits, whatever `n_jobs` is.
    n_jobs : int, optional
        Number of threads; by default all cores.
    verbose : int, default=0
        Whether to show the progress of the fit.

    Attributes
    ----------
    components_ : csr_array or ndarray of shape (n_components, n_terms)
        The topics; sparse with "cd", dense with "mu" and with ``loss="kl"``.
    doc_density_ : float
        With ``loss="kl"``: share of non-zeros in the weights of the documents.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    n_iter_, n_alive_ : int
        Number of iterations, and of topics that have words.

    See Also
    --------
    GroupNMF : Topics that all classes share, and topics of each class.
    RLSI : Topics with a penalty or a word budget.

    Examples
    --------
    >>> from laconic import NMF
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = NMF(n_components=2, random_state=0).fit(X)
    >>> model.transform([[1, 1, 0, 0]]).nnz
    1
    """

    _starts: ClassVar[tuple[str, ...]] = ("documents", "svd")

    def __init__(
        self,
        n_components: int = 10,
        *,
        loss: str = "squared",
        prior: Prior | None = None,
        solver: str = "cd",
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.prior = prior
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, Integral, 1)
        check_choice("loss", self.loss, ("squared", "kl"))
        check_prior(self.prior)
        if self.prior is not None and self.loss != "kl":
            raise ValueError("a prior goes with loss='kl'")
        if self.loss == "kl" and isinstance(self.init, str) and self.init == "svd":
            raise ValueError("init='svd' goes with loss='squared': use init='documents'")
        if isinstance(self.prior, PseudoDirichlet) and self.prior.over == "documents":
            raise ValueError("a prior over documents goes with PLSA, not with NMF")
        super()._check_parameters()

    @property
    def wants(self) -> str:  # type: ignore[override]
        """What X best holds: counts if the loss is the divergence, else weights."""
        return "counts" if self.loss == "kl" else "weights"

    def _mixture(self) -> kl.Mixture:
        return kl.Mixture(False, *(() if self.prior is None else self.prior.terms))

    def _fit_topics(
        self, X: csr_array, y: Any, engine: Threads, watch: Callback | None
    ) -> tuple[Factor, Trace]:
        if self.loss != "kl":
            return super()._fit_topics(X, y, engine, watch)
        components, fit = fit_mixture(self, X, self._mixture(), engine, watch)
        self.doc_density_ = kl.density(fit.weights)
        return components, fit.trace

    def _fold_in(self, X: Any, y: Any = None) -> tuple[Any, float, float]:
        if self.loss != "kl":
            return super()._fold_in(X, y)
        return fold_in_mixture(self, self._check_new(X), self._mixture())

    @property
    def _sparse_weights(self) -> bool:
        return self._mixture().weight > 0 if self.loss == "kl" else super()._sparse_weights

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()
        return state | {"doc_density": self.doc_density_} if self.loss == "kl" else state

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        if self.loss == "kl":
            kl.check_topics(self.components_, 1)
            self.doc_density_ = kl.check_density(state["doc_density"])
        return self


class GroupNMF(GroupedModel, _NMFModel):
    r"""Non-negative matrix factorisation with topics shared by all classes and topics of each class.

    For the documents :math:`X_p` of every class p, the shared topics :math:`C_0`, the topics :math:`C_p` of
    the class and the documents' weights :math:`H_p, Z_p` minimise

    .. math:: \sum_p \|X_p - H_p C_0 - Z_p C_p\|^2, \quad\text{all non-negative.}

    With ``n_shared=0`` this is an `NMF` for each class, with ``n_per_class=0`` it is one `NMF`.

    Parameters
    ----------
    n_shared : int, default=5
        Number of topics that documents of all classes may use.
    n_per_class : int or mapping of class to int, default=3
        Number of topics of each class.
    solver : {"cd", "mu"}, default="cd"
        As for `NMF`.
    init : "documents" or array of shape (n_topics, n_terms), default="documents"
        Topics to start from, shared ones first, then those of each class in the order of `classes_`.
        "documents": shared topics start from documents of all classes, the others from their own class's.
    max_iter, tol, random_state, n_jobs, verbose
        As for `NMF`.

    Attributes
    ----------
    components_ : csr_array or ndarray of shape (n_topics, n_terms)
        Shared topics first, then those of each class in the order of `classes_`.
    classes_ : ndarray
        The classes, sorted.
    topic_group_ : ndarray of shape (n_topics,)
        The class that owns each topic, "shared" for those of all.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.

    See Also
    --------
    GroupRLSI : The same with sparse topics.

    Examples
    --------
    >>> from laconic import GroupNMF
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 1], [0, 0, 1, 2], [1, 0, 2, 1]]
    >>> model = GroupNMF(n_shared=1, n_per_class=1, random_state=0).fit(X, ["sky", "sky", "sea", "sea"])
    >>> model.get_feature_names_out()
    array(['shared0', 'sea0', 'sky0'], dtype=object)
    >>> model.predict([[1, 1, 0, 0]])
    array(['sky'], dtype='<U3')

    References
    ----------
    Wang, Cao, Xu, Li: Group matrix factorization for scalable topic modeling, SIGIR 2012.
    """

    def __init__(
        self,
        n_shared: int = 5,
        n_per_class: int | Mapping[Any, int] = 3,
        *,
        solver: str = "cd",
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_shared = n_shared
        self.n_per_class = n_per_class
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
