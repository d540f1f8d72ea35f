"""Non-negative matrix factorisation, flat and with classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from scipy.sparse import issparse

from laconic.losses.divergence.likelihood import Likelihood
from laconic.losses.divergence.mixtures import Mixture
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.problems import NonNegative
from laconic.models.batches import SEEN, BatchModel
from laconic.models.class_topics import ClassTopicsModel
from laconic.models.plsa import DOC_DENSITY, check_distributions
from laconic.models.state import COMMON, Field
from laconic.models.traits import Traits
from laconic.priors import Prior
from laconic.steering.anchors import Anchors


def _nonnegative(value: Any, model: Any) -> Any:
    found = COMMON[0].check(value, model)
    if not (found.data if issparse(found) else found).min(initial=0) >= 0:
        raise ValueError("components are negative, but topics of this model are not")
    return found


def _topics(value: Any, model: Any) -> Any:
    return check_distributions(value, model) if model.loss == "kl" else _nonnegative(value, model)


class NMF(BatchModel):
    r"""Non-negative matrix factorisation.

    With documents as rows of X, the topics C (``components_``) and the documents' weights W minimise

    .. math:: \|X - WC\|^2 \quad\text{with}\quad W \ge 0,\; C \ge 0,

    or, with ``loss="kl"``,

    .. math::

        \sum_{n,m} \left( x_{nm} \log \frac{x_{nm}}{(WC)_{nm}} - x_{nm} + (WC)_{nm} \right)
        + \sum_{n,k} g(w_{nk}),

    where topics sum to one (no restriction, because weights need not) and g is the prior, if there is one.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    loss : {"squared", "kl"}, default="squared"
        What is minimised: the squared error, best for tf-idf, or the Kullback-Leibler divergence, best for
        counts.
    prior : None or one of `laconic.priors`, default=None
        With ``loss="kl"``: a penalty that favours documents with few topics. The fit then starts from the
        solution without it.
    solver : {"auto", "cd", "mu", "extrapolated", "em"}, default="auto"
        "cd" is coordinate descent (HALS), a few exact updates of every weight in turn. "mu" are the
        multiplicative updates of the literature: they converge slowly, give no exact zeros, and can never
        raise a weight from zero. "auto" is "cd" for the squared loss. With ``loss="kl"`` it is
        "extrapolated", as for `PLSA`; "em" is then the same as "mu", and "cd" needs all documents in one
        place.
    anchors : Anchors, optional
        What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden
        words; see `laconic.steering.Anchors`.
    init : {"svd", "documents"} or array of shape (n_components, n_terms), optional
        Topics to start from. "svd", for the squared loss, where it is the default: singular vectors, turned
        until each has few large words (varimax), of the most frequent terms (12,000, or 160 for every topic,
        but no more than documents, or 4,000 if these are fewer), and of a sample if there are more than
        20,000 documents; topics hardly depend on chance. "documents", the default for the divergence:
        distinct documents drawn with `random_state`.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when an iteration lowers the objective by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the start. The same seed gives the same bits for any `n_jobs`.
    n_jobs : int, optional
        Number of threads; by default all cores.
    verbose : int, default=0
        Whether to show the progress of the fit.

    Attributes
    ----------
    components_ : csr_array or ndarray of shape (n_components, n_terms)
        The topics; for the squared loss sparse with "cd" and dense with "mu", with ``loss="kl"`` dense.
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
    >>> int((model.transform([[1, 1, 0, 0]]).toarray() > 1e-9).sum())
    1
    """

    _starts: ClassVar[tuple[str, ...]] = ("documents", "svd")
    _n_segments = 1
    _schema = (Field("components", _topics), *COMMON[1:], DOC_DENSITY._replace(optional=True), *SEEN)

    def __init__(
        self,
        n_components: int = 10,
        *,
        loss: Literal["squared", "kl"] = "squared",
        prior: Prior | None = None,
        solver: Literal["auto", "cd", "mu", "extrapolated", "em"] = "auto",
        anchors: Anchors | None = None,
        init: Any = None,
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
        self.anchors = anchors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _solvers(self) -> tuple[str, ...]:
        return ("auto", "extrapolated", "em", "mu", "cd") if self.loss == "kl" else ("auto", "cd", "mu")

    @property
    def traits(self) -> Traits:
        """Non-negative; wants counts if the loss is the divergence, else weights."""
        wants = "counts" if self.loss == "kl" else "weights"
        return Traits(wants=wants, nonnegative=True, prior=self.prior is not None)

    @property
    def _start(self) -> Any:
        if self.init is None:
            return "documents" if self.loss == "kl" else "svd"
        return self.init

    def _loss(self) -> Likelihood | NonNegative:
        if self.loss != "kl":
            return NonNegative("cd" if self.solver == "auto" else self.solver, self.tol)
        mixture = Mixture(False, *(() if self.prior is None else self.prior.terms))
        # of the divergence, multiplicative updates are those of expectation-maximisation
        solver = {"auto": "extrapolated", "mu": "em"}.get(self.solver, self.solver)
        return Likelihood(self.n_components, mixture, self.tol, solver=solver)

    def _given(self, data: Any, given: dict[str, Any]) -> dict[str, Any]:
        if isinstance(self._loss(), Likelihood):
            return {}
        return {"classes": Classes.single(data.n_documents, self.n_components)}


class GroupNMF(ClassTopicsModel):
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
        As for `NMF` with the squared loss.
    anchors : Anchors, optional
        What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden
        words; see `laconic.steering.Anchors`.
    init : "documents" or array of shape (n_topics, n_terms), default="documents"
        Topics to start from, shared ones first, then those of each class in the order of `classes_`.
        "documents": shared topics start from documents of all classes, the others from documents of their
        own class.
    max_iter, tol, random_state, n_jobs, verbose
        As for `NMF`.

    Attributes
    ----------
    components_ : csr_array or ndarray of shape (n_topics, n_terms)
        Shared topics first, then those of each class in the order of `classes_`.
    classes_ : ndarray
        The classes, sorted.
    topic_class_ : ndarray of shape (n_topics,)
        The class of each topic, or "shared".
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

    _solvers: ClassVar[tuple[str, ...]] = ("cd", "mu")
    _schema = (
        ClassTopicsModel._schema[0],
        Field("components", _nonnegative),
        *ClassTopicsModel._schema[2:],
        *SEEN,
    )

    def __init__(
        self,
        n_shared: int = 5,
        n_per_class: int | Mapping[Any, int] = 3,
        *,
        solver: Literal["cd", "mu"] = "cd",
        anchors: Anchors | None = None,
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
        self.anchors = anchors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def traits(self) -> Traits:
        """Non-negative, with classes."""
        return Traits(classes=True, nonnegative=True)

    def _loss(self) -> NonNegative:
        return NonNegative(self.solver, self.tol)
