"""Regularised latent semantic indexing."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from laconic.engines import Threads
from laconic.models.alphas import SHARE, alpha_max, lasting_alpha
from laconic.models.base import TopicModel, data_hash
from laconic.models.factor import Factor, transposed, upright
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.solvers import Descent, Ridge, RowSolver
from laconic.models.squared import SquaredSteps, checked_energy, fold_in
from laconic.models.starts import document_topics, given_topics, unit_budget
from laconic.models.topic_steps import BudgetTopics, SeparableTopics

DEFAULT_BUDGET = 40
DEFAULT_ALPHA_DOCS = 0.1
# The start narrows the topics from many words to few over this many iterations: topics that begin wide find
# their place before they have to choose their words, and fewer of them end as a word or two.
NARROWING = 12
WIDEST = 9
# Documents are folded in to the end, not until the patience of a warm-started iteration runs out.
SWEEPS_FIT, SWEEPS_TRANSFORM = 200, 10_000


class RLSI(TopicModel):
    r"""Regularised latent semantic indexing: sparse topics by penalised least squares.

    With documents as rows of X, the topics C (``components_``) and the documents' weights W minimise

    .. math:: \|X - WC\|^2 + \lambda_1 \|C\|_p^p + \lambda_2 \|W\|_q^q,

    with :math:`\lambda_1` = `alpha_topics`, :math:`\lambda_2` = `alpha_docs`, and p and q = 1 (``"l1"``) or 2
    (``"l2"``), nothing normalised. The loss has no factor 1/2, so an l1 weight of alpha sets entries to zero
    up to alpha / 2. With ``topic_norm="l0"`` there is a **word budget** instead of the first penalty: every
    topic has length one and at most `terms_per_topic` words.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    topic_norm : {"l1", "l2", "l0"}, default="l1"
        Penalty on the topics. "l1" and "l0" give exact zeros, "l2" dense topics.
    doc_norm : {"l2", "l1"}, default="l2"
        Penalty on the documents' weights. "l1" gives sparse weights.
    alpha_topics : float, optional
        Weight of the topics' penalty. By default, for l1 topics with l2 weights, a sixth of what would leave
        the median topic of the start its 40 words; for the other norms a share of `alpha_max_` (l1 with l1
        1/20,000, l2 with l2 1/50, l2 with l1 1/10,000). See `alpha_topics_`. Not for "l0".
    alpha_docs : float, optional
        Weight of the documents' penalty, 0.1 by default. With l1 or l2 topics either both alphas are positive
        or both are zero: with one of them zero, its factor could grow and the other shrink without end.
    terms_per_topic : int, optional
        The word budget of "l0", 40 by default.
    nonnegative : bool, default=False
        Whether topics may only have positive words. Weights of documents keep their sign.
    init : "documents" or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`; l1 and l0 topics are
        then narrowed from many words to few over a dozen iterations, which are not part of the history.
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
        The topics; sparse unless they are dense by nature ("l2"). A factorisation knows a topic only up to
        its sign: topics are turned so that their large weights are positive.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    n_iter_ : int
        Number of iterations.
    n_alive_ : int
        Number of topics that have words.
    topic_sizes_ : ndarray of shape (n_components,)
        Number of words of each topic; `n_short_` counts the living ones with fewer than five.
    max_cosine_, distinct_terms_ : float
        Largest cosine between two topics, and share of distinct words among all words of the topics.
    data_hash_ : str
        SHA-256 of X: tells whether another model was fitted on the same data.
    alpha_topics_, alpha_docs_ : float
        The weights that were used (`alpha_topics_` is None for "l0").
    alpha_max_ : float
        With `alpha_topics` of this size or more, given `alpha_docs`, there are no topics (with l2 on both
        sides, they tend to zero). Not for "l0".

    Examples
    --------
    >>> from laconic import RLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = RLSI(n_components=2, topic_norm="l0", terms_per_topic=2, random_state=0).fit(X)
    >>> for topic in model.topics(["sun", "moon", "salt", "pepper"]):
    ...     print(sorted(term for term, weight in topic))
    ['moon', 'sun']
    ['pepper', 'salt']

    References
    ----------
    Wang, Xu, Li, Craswell: Regularized latent semantic indexing, SIGIR 2011.
    """

    alpha_topics_: float | None
    alpha_docs_: float
    alpha_max_: float

    def __init__(
        self,
        n_components: int = 10,
        *,
        topic_norm: str = "l1",
        doc_norm: str = "l2",
        alpha_topics: float | None = None,
        alpha_docs: float | None = None,
        terms_per_topic: int | None = None,
        nonnegative: bool = False,
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.topic_norm = topic_norm
        self.doc_norm = doc_norm
        self.alpha_topics = alpha_topics
        self.alpha_docs = alpha_docs
        self.terms_per_topic = terms_per_topic
        self.nonnegative = nonnegative
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Find the topics of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Best weighted by tf-idf with rows of length one. Negative values are allowed.
        y : ignored
        callback : callable, optional
            Called with a `Progress` after every half step; returning True ends the fit after the iteration,
            with the topics found so far.

        Returns
        -------
        RLSI
            The fitted model.
        """
        self._check_parameters()
        self._forget()
        X = self._check_matrix(X, reset=True)
        checked_energy(X)
        self._set_alphas(X)
        self.data_hash_ = data_hash(X)
        with self._engine() as engine, self._watching(callback) as watch:
            steps, trace = self._start(X, engine, watch)
            if not trace.interrupted:
                trace = alternate(steps, engine, max_iter=self.max_iter, tol=self.tol, callback=watch)
        if not trace.converged and not trace.interrupted:
            warnings.warn(
                f"RLSI stopped after max_iter={self.max_iter} iterations before the decrease fell below "
                f"tol={self.tol}: raise max_iter, or tol if the topics are good enough.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.components_ = upright(steps.components())
        self.objective_history_ = np.array(trace.history)
        self.n_iter_ = len(trace.history)
        return self

    def _start(self, X: csr_array, engine: Threads, watch: Callback | None) -> tuple[SquaredSteps, Trace]:
        """The steps of the model at its first topics, and how finding those went."""
        steps = SquaredSteps(X, self.n_components, engine)
        trace = Trace([], converged=False, interrupted=False)
        budget = min(self.terms_per_topic or DEFAULT_BUDGET, X.shape[1])
        drawn = isinstance(self.init, str)
        needs_alpha = self.topic_norm != "l0" and self.alpha_topics_ is None
        if drawn or needs_alpha:
            # a penalty that only accompanies given topics is not left to chance
            seed = 0 if not drawn and self.random_state is None else self.random_state
            topics = document_topics(X, self.n_components, check_random_state(seed))
            topics = unit_budget(topics, X.shape[1], self.nonnegative)
        if needs_alpha or (drawn and self.topic_norm != "l2"):
            step, trace = narrow(steps, topics, budget, self.nonnegative, watch)
            # a fit that is stopped while topics are still wide keeps to its budget, too
            topics = unit_budget(steps.components(), budget, self.nonnegative)
        if needs_alpha:
            lasting = lasting_alpha(steps, step, self.alpha_docs_)
            share = SHARE[self.topic_norm, self.doc_norm]
            self.alpha_topics_ = share * self.alpha_max_ if lasting is None else lasting
        if not drawn:
            topics = given_topics(self.init, self.n_components, X, self.nonnegative)
            if self.topic_norm == "l0":
                topics = unit_budget(topics, budget, self.nonnegative)
        documents = self._document_solver(SWEEPS_FIT, X.dtype)
        if self.topic_norm == "l0":
            steps.begin(topics, documents, BudgetTopics(topics.shape, X.dtype, budget, self.nonnegative))
        else:
            steps.begin(topics, documents, SeparableTopics(self._topic_penalty(X.dtype)))
        return steps, trace

    def transform(self, X: Any) -> Factor:
        """The weights of documents for the topics found: the document half step with the topics fixed.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray or csr_array of shape (n_documents, n_components)
            Dense with `doc_norm` "l2", sparse with "l1" (dense if `set_output` asks for data frames).
            A document without known words has only zeros.
        """
        W, _, _ = self._fold_in(X)
        return self._output(W, sparse=self.doc_norm == "l1")

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Factor:
        """The same as ``fit(X).transform(X)``."""
        return self.fit(X, y, **fit_params).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the squared norm of X that the topics explain: 1 - ||X - WC||^2 / ||X||^2.

        Higher is better, at most 1, so that a grid search can compare numbers of topics and penalties on
        held-out documents. Zero if X is zero.
        """
        _, loss, energy = self._fold_in(X)
        return min(1.0, 1 - loss / energy) if energy > 0 else 0.0

    def _fold_in(self, X: Any) -> tuple[NDArray[Any], float, float]:
        check_is_fitted(self, "components_")
        X = self._check_matrix(X, reset=False)
        if X.shape[1] != self.components_.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the topics have {self.components_.shape[1]}")
        components = self.components_.astype(X.dtype, copy=False)
        with self._engine() as engine:
            return fold_in(
                X, transposed(components), self._document_solver(SWEEPS_TRANSFORM, X.dtype), engine
            )

    def _precision(self, dtype: Any) -> float:
        """How exactly rows are solved: in step with `tol`, within the limits of the type."""
        return float(np.clip(10 * self.tol, 32 * np.finfo(dtype).eps, 1e-4))

    def _document_solver(self, max_sweeps: int, dtype: Any) -> RowSolver:
        if self.doc_norm == "l2":
            return Ridge(self.alpha_docs_)
        return Descent(self.alpha_docs_, precision=self._precision(dtype), max_sweeps=max_sweeps)

    def _topic_penalty(self, dtype: Any) -> RowSolver:
        assert self.alpha_topics_ is not None
        power = 1 if self.topic_norm == "l1" else 2
        if power == 2 and not self.nonnegative:
            return Ridge(self.alpha_topics_)
        return Descent(
            self.alpha_topics_,
            power=power,
            nonnegative=self.nonnegative,
            precision=self._precision(dtype),
            max_sweeps=SWEEPS_FIT,
        )

    def _check_parameters(self) -> None:
        _check_number("n_components", self.n_components, Integral, 1)
        _check_choice("topic_norm", self.topic_norm, ("l1", "l2", "l0"))
        _check_choice("doc_norm", self.doc_norm, ("l2", "l1"))
        _check_choice("nonnegative", self.nonnegative, (False, True))
        _check_number("max_iter", self.max_iter, Integral, 1)
        _check_number("tol", self.tol, Real, 0)
        for name in ("alpha_topics", "alpha_docs"):
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name), Real, 0)
        if isinstance(self.init, str):
            _check_choice("init", self.init, ("documents",))
        if self.topic_norm == "l0":
            if self.alpha_topics is not None:
                raise ValueError(
                    "alpha_topics does not go with topic_norm='l0': the word budget takes its place. "
                    "Set terms_per_topic, or choose topic_norm='l1'."
                )
            if self.terms_per_topic is not None:
                _check_number("terms_per_topic", self.terms_per_topic, Integral, 1)
        elif self.terms_per_topic is not None:
            raise ValueError(
                f"terms_per_topic goes with topic_norm='l0', not with {self.topic_norm!r}: "
                "choose topic_norm='l0', or set alpha_topics."
            )

    def _set_alphas(self, X: csr_array) -> None:
        """Settle the weights of the penalties, but for what depends on the start."""
        self.alpha_docs_ = DEFAULT_ALPHA_DOCS if self.alpha_docs is None else float(self.alpha_docs)
        self.alpha_topics_ = None
        if self.topic_norm == "l0":
            return
        if self.alpha_docs_ == 0 and self.alpha_topics == 0:
            self.alpha_topics_ = 0.0
            return
        if self.alpha_docs_ == 0 or self.alpha_topics == 0:
            one, other = (
                ("alpha_docs", "alpha_topics") if self.alpha_docs_ == 0 else ("alpha_topics", "alpha_docs")
            )
            raise ValueError(
                f"{one}=0 needs {other}=0 as well: otherwise one factor could grow and the other shrink "
                "without end, and the objective has no minimum. Make both positive, or both zero."
            )
        self.alpha_max_ = alpha_max(X, self.topic_norm, self.doc_norm, self.alpha_docs_)
        if self.alpha_topics is not None:
            self.alpha_topics_ = float(self.alpha_topics)
        elif (self.topic_norm, self.doc_norm) != ("l1", "l2"):
            self.alpha_topics_ = SHARE[self.topic_norm, self.doc_norm] * self.alpha_max_

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()
        state |= {"alpha_topics": self.alpha_topics_, "alpha_docs": self.alpha_docs_}
        if hasattr(self, "alpha_max_"):
            state["alpha_max"] = self.alpha_max_
        return state

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        self._check_parameters()
        wanted = ["alpha_docs"] if self.topic_norm == "l0" else ["alpha_docs", "alpha_topics"]
        for name in wanted + ["alpha_max"] * ("alpha_max" in state):
            _check_number(name, state[name], Real, 0)
            setattr(self, name + "_", state[name])
        if self.topic_norm == "l0":
            self.alpha_topics_ = None
        if self.components_.shape[0] != self.n_components:
            raise ValueError(f"components have {self.components_.shape[0]} rows, not {self.n_components}")
        return self


def narrow(
    steps: SquaredSteps, topics: csr_array, budget: int, nonnegative: bool, watch: Callback | None
) -> tuple[BudgetTopics, Trace]:
    """A start that keeps topics alive and even: word budgets from wide to `budget`, an iteration each."""
    step = BudgetTopics(topics.shape, topics.dtype, budget, nonnegative)
    steps.begin(topics, Ridge(DEFAULT_ALPHA_DOCS), step)
    for width in np.geomspace(WIDEST * budget, budget, NARROWING):
        step.budget = min(round(width), topics.shape[1])
        stopped = alternate(steps, steps.engine, max_iter=1, tol=0, callback=watch, phase="start").interrupted
        if stopped:
            break
    # the start has an objective of its own, which is not part of the history
    return step, Trace([], converged=False, interrupted=stopped)


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")


def _check_number(name: str, value: Any, kind: Any, least: float) -> None:
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= float(value) < np.inf:
        what = "a whole number" if kind is Integral else "a number"
        raise ValueError(f"{name} must be {what} of at least {least}, not {value!r}")
