"""Regularised latent semantic indexing, flat and grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from laconic.checks import check_choice, check_number
from laconic.models.alphas import SHARE, Lasting, alpha_max
from laconic.models.grouped import GroupedModel
from laconic.models.groups import Groups, grouped_rows
from laconic.models.loop import Callback, Trace, alternate
from laconic.models.solvers import Descent, Ridge, RowSolver
from laconic.models.squared import SquaredSteps
from laconic.models.squared_model import SWEEPS_FIT, SquaredModel
from laconic.models.starts import drawn_topics, given_topics, unit_budget
from laconic.models.topic_steps import BudgetTopics, SeparableTopics, TopicStep

DEFAULT_BUDGET = 40
DEFAULT_ALPHA_DOCS = 0.1
# The start narrows the topics from many words to few over this many iterations: topics that begin wide find
# their place before they have to choose their words, and fewer of them end as a word or two.
NARROWING = 12
WIDEST = 9


class _RLSIModel(SquaredModel):
    """What RLSI and GroupRLSI have in common: the penalties, their default weights, and the start."""

    topic_norm: str
    doc_norm: str = "l2"
    alpha_topics: float | None
    alpha_docs: float | None
    terms_per_topic: int | None
    nonnegative: bool

    alpha_topics_: float | None
    alpha_docs_: float
    alpha_max_: float

    def _start(self, X: csr_array, steps: SquaredSteps, watch: Callback | None) -> Trace:
        trace = Trace([], converged=False, interrupted=False)
        groups = steps.members
        budget = min(self.terms_per_topic or DEFAULT_BUDGET, X.shape[1])
        drawn = isinstance(self.init, str)
        needs_alpha = self.topic_norm != "l0" and self.alpha_topics_ is None
        if drawn or needs_alpha:
            # a penalty that only accompanies given topics is not left to chance
            seed = 0 if not drawn and self.random_state is None else self.random_state
            topics = drawn_topics(X, groups, check_random_state(seed))
            topics = unit_budget(topics, X.shape[1], self.nonnegative)
        if needs_alpha or (drawn and self.topic_norm != "l2"):
            lasting = Lasting(self.alpha_docs_, self.nonnegative) if needs_alpha else None
            trace = narrow(steps, topics, budget, self.nonnegative, lasting, watch)
            # a fit that is stopped while topics are still wide keeps to its budget, too
            topics = unit_budget(steps.components(), budget, self.nonnegative)
        if needs_alpha:
            assert lasting is not None
            share = SHARE[self.topic_norm, self.doc_norm]
            self.alpha_topics_ = lasting.alpha() or share * self.alpha_max_
        if not drawn:
            topics = given_topics(self.init, groups.n_topics, X, self.nonnegative)
            if self.topic_norm == "l0":
                topics = unit_budget(topics, budget, self.nonnegative)
        documents = self._document_solver(SWEEPS_FIT, X.dtype)
        own: Sequence[TopicStep]
        shared: TopicStep | None
        if self.topic_norm == "l0":
            own, shared = budgets(groups, X, budget, self.nonnegative)
        else:
            alphas, alpha_shared = self._alphas(groups)
            own = [SeparableTopics(self._topic_penalty(alpha, X.dtype)) for alpha in alphas]
            shared = SeparableTopics(self._topic_penalty(alpha_shared, X.dtype)) if groups.n_shared else None
        steps.begin(topics, documents, own, shared)
        return trace

    def _alphas(self, groups: Groups) -> tuple[list[float], float]:
        """The weight of the penalty on the topics of every group, and on the shared ones."""
        assert self.alpha_topics_ is not None
        return [self.alpha_topics_] * len(groups.n_own), self.alpha_topics_

    def _document_solver(self, max_sweeps: int, dtype: Any) -> RowSolver:
        if self.doc_norm == "l2":
            return Ridge(self.alpha_docs_)
        return Descent(self.alpha_docs_, precision=self._precision(dtype), max_sweeps=max_sweeps)

    def _topic_penalty(self, alpha: float, dtype: Any) -> RowSolver:
        power = 1 if self.topic_norm == "l1" else 2
        if power == 2 and not self.nonnegative:
            return Ridge(alpha)
        return Descent(
            alpha,
            power=power,
            nonnegative=self.nonnegative,
            precision=self._precision(dtype),
            max_sweeps=SWEEPS_FIT,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("topic_norm", self.topic_norm, ("l1", "l2", "l0"))
        check_choice("nonnegative", self.nonnegative, (False, True))
        for name in ("alpha_topics", "alpha_docs"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), Real, 0)
        if self.topic_norm == "l0":
            if self.alpha_topics is not None:
                raise ValueError(
                    "alpha_topics does not go with topic_norm='l0': the word budget takes its place. "
                    "Set terms_per_topic, or choose topic_norm='l1'."
                )
            if self.terms_per_topic is not None:
                check_number("terms_per_topic", self.terms_per_topic, Integral, 1)
        elif self.terms_per_topic is not None:
            raise ValueError(
                f"terms_per_topic goes with topic_norm='l0', not with {self.topic_norm!r}: "
                "choose topic_norm='l0', or set alpha_topics."
            )

    def _prepare(self, X: csr_array, groups: Groups) -> None:
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
        self.alpha_max_ = alpha_max(
            X, grouped_rows(X, groups), self.topic_norm, self.doc_norm, self.alpha_docs_
        )
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
        wanted = ["alpha_docs"] if self.topic_norm == "l0" else ["alpha_docs", "alpha_topics"]
        for name in wanted + ["alpha_max"] * ("alpha_max" in state):
            check_number(name, state[name], Real, 0)
            setattr(self, name + "_", state[name])
        if self.topic_norm == "l0":
            self.alpha_topics_ = None
        return self


class RLSI(_RLSIModel):
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

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, Integral, 1)
        check_choice("doc_norm", self.doc_norm, ("l2", "l1"))
        super()._check_parameters()


class GroupRLSI(GroupedModel, _RLSIModel):
    r"""Regularised latent semantic indexing with topics shared by all classes and topics of each class.

    For the documents :math:`X_p` of every class p, the shared topics :math:`C_0`, the topics :math:`C_p` of
    the class and the documents' weights :math:`H_p, Z_p` minimise

    .. math:: \sum_p \|X_p - H_p C_0 - Z_p C_p\|^2 + \lambda_s \|C_0\|_1 + \lambda_c \sum_p \|C_p\|_1
              + \lambda_2 \sum_p (\|H_p\|^2 + \|Z_p\|^2)

    with :math:`\lambda_c` = `alpha_topics`, :math:`\lambda_s` = `alpha_shared` and :math:`\lambda_2` =
    `alpha_docs`, nothing normalised. With ``n_shared=0`` this is an `RLSI` for each class, with
    ``n_per_class=0`` it is one `RLSI`.

    Parameters
    ----------
    n_shared : int, default=5
        Number of topics that documents of all classes may use.
    n_per_class : int or mapping of class to int, default=3
        Number of topics of each class.
    topic_norm : {"l1", "l2", "l0"}, default="l1"
        Penalty on the topics, or the word budget "l0", as for `RLSI`.
    alpha_topics : float, optional
        Weight of the penalty on the topics of classes; by default as for `RLSI`.
    alpha_shared : float, optional
        Weight of the penalty on shared topics; by default the same.
    alpha_docs : float, optional
        Weight of the squared norm of the documents' weights, 0.1 by default.
    terms_per_topic : int, optional
        The word budget of "l0", 40 by default.
    nonnegative : bool, default=False
        Whether topics may only have positive words.
    scale_by_class_size : bool, default=False
        Whether the penalty on the topics of a class grows with its number of documents: `alpha_topics` is
        then that of a class of average size. Otherwise topics of small classes have fewer words.
    init : "documents" or array of shape (n_topics, n_terms), default="documents"
        Topics to start from, shared ones first, then those of each class in the order of `classes_`.
        "documents": shared topics start from documents of all classes, the others from their own class's.
    max_iter, tol, random_state, n_jobs, verbose
        As for `RLSI`.

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
    alpha_topics_, alpha_docs_, alpha_max_ : float
        As for `RLSI`.

    See Also
    --------
    GroupNMF : The same with non-negative factors and no penalties.

    Examples
    --------
    >>> from laconic import GroupRLSI
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 1], [0, 0, 1, 2], [1, 0, 2, 1]]
    >>> model = GroupRLSI(n_shared=1, n_per_class=1, alpha_topics=0.1, random_state=0)
    >>> model = model.fit(X, ["sky", "sky", "sea", "sea"])
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
        topic_norm: str = "l1",
        alpha_topics: float | None = None,
        alpha_shared: float | None = None,
        alpha_docs: float | None = None,
        terms_per_topic: int | None = None,
        nonnegative: bool = False,
        scale_by_class_size: bool = False,
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_shared = n_shared
        self.n_per_class = n_per_class
        self.topic_norm = topic_norm
        self.alpha_topics = alpha_topics
        self.alpha_shared = alpha_shared
        self.alpha_docs = alpha_docs
        self.terms_per_topic = terms_per_topic
        self.nonnegative = nonnegative
        self.scale_by_class_size = scale_by_class_size
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _alphas(self, groups: Groups) -> tuple[list[float], float]:
        assert self.alpha_topics_ is not None
        shared = self.alpha_topics_ if self.alpha_shared is None else float(self.alpha_shared)
        if not any(self._n_own):
            return [shared], shared
        sizes = np.bincount(groups.members, minlength=len(groups.n_own))
        relative = sizes / sizes.mean() if self.scale_by_class_size else np.ones(sizes.size)
        return [self.alpha_topics_ * float(size) for size in relative], shared

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("scale_by_class_size", self.scale_by_class_size, (False, True))
        if self.alpha_shared is None:
            return
        check_number("alpha_shared", self.alpha_shared, Real, 0)
        if self.topic_norm == "l0":
            raise ValueError("alpha_shared does not go with topic_norm='l0': a word budget has no penalty.")
        if (self.alpha_shared == 0) != (self.alpha_topics == 0):
            raise ValueError(
                "alpha_shared=0 goes with alpha_topics=0 and alpha_docs=0 alone: without a penalty shared "
                "topics could grow and their weights shrink without end. Make all positive, or all zero."
            )


def budgets(
    groups: Groups, X: csr_array, budget: int, nonnegative: bool
) -> tuple[list[BudgetTopics], BudgetTopics | None]:
    """The word budgets of every group and of the shared topics; one room for R serves all in turn."""
    room = np.empty((max(groups.n_shared, *groups.n_own), X.shape[1]), X.dtype)
    own = [BudgetTopics(room, n, budget, nonnegative) for n in groups.n_own]
    shared = BudgetTopics(room, groups.n_shared, budget, nonnegative) if groups.n_shared else None
    return own, shared


def narrow(
    steps: SquaredSteps,
    topics: csr_array,
    budget: int,
    nonnegative: bool,
    lasting: Lasting | None,
    watch: Callback | None,
) -> Trace:
    """A start that keeps topics alive and even: word budgets from wide to `budget`, an iteration each."""
    own, shared = budgets(steps.members, topics, budget, nonnegative)
    steps.begin(topics, Ridge(DEFAULT_ALPHA_DOCS), own, shared)
    for width in np.geomspace(WIDEST * budget, budget, NARROWING):
        for step in [*own, *([shared] if shared else [])]:
            step.budget = min(round(width), topics.shape[1])
            step.watch = lasting
        if lasting is not None:
            lasting.forget()
        stopped = alternate(steps, steps.engine, max_iter=1, tol=0, callback=watch, phase="start").interrupted
        if stopped:
            break
    # the start has an objective of its own, which is not part of the history
    return Trace([], converged=False, interrupted=stopped)
