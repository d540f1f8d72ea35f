"""Probabilistic latent semantic analysis: documents as mixtures of topics, with priors on the mixtures."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from laconic.checks import check_number
from laconic.engines import Threads
from laconic.models import kl
from laconic.models.base import TopicModel
from laconic.models.factor import Factor, Floats
from laconic.models.loop import Callback, Trace
from laconic.priors import Exponential, Prior, PseudoDirichlet


def check_prior(prior: Any) -> None:
    """Refuse what is no prior."""
    if prior is not None and not isinstance(prior, Prior):
        raise ValueError(f"prior must be None or one of laconic.priors, such as Pareto(1.0), not {prior!r}")


def fit_mixture(
    model: TopicModel,
    X: csr_array,
    mixture: kl.Mixture,
    engine: Threads,
    watch: Callback | None,
    over_documents: kl.Mixture | None = None,
) -> tuple[Floats, kl.Fit]:
    """Topics × terms by the model's own start and patience, and how they were found."""
    X = kl.check_counts(X)
    fit = kl.fit(
        X,
        kl.first_topics(X, model.n_components, model.init, model.random_state),
        mixture,
        engine,
        watch,
        given=not isinstance(model.init, str),
        max_iter=model.max_iter,
        tol=model.tol,
        precision=model._precision(X.dtype),
        over_documents=over_documents,
    )
    return np.ascontiguousarray(fit.topics.T), fit


def fold_in_mixture(model: TopicModel, X: csr_array, mixture: kl.Mixture) -> tuple[Floats, float, float]:
    """What `kl.fold_in` finds for documents that were checked, with the model's topics."""
    topics = np.ascontiguousarray(model.components_.T, X.dtype)
    with model._engine() as engine:
        return kl.fold_in(X, topics, mixture, engine, model._precision(X.dtype))


class MixtureModel(TopicModel):
    """Base of the models whose documents are mixtures: topics and weights sum to one."""

    wants: ClassVar[str] = "counts"
    _nonnegative_input: ClassVar[bool] = True

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, Integral, 1)
        super()._check_parameters()

    def _mixture(self) -> kl.Mixture:
        """What the weights of a new document may be."""
        return kl.Mixture(simplex=True)

    @property
    def _sparse_weights(self) -> bool:
        return self._mixture().weight > 0

    def _fold_in(self, X: Any, y: Any = None) -> tuple[Any, float, float]:
        return self._fold_in_checked(self._check_new(X))

    def _fold_in_checked(self, X: csr_array) -> tuple[Any, float, float]:
        return fold_in_mixture(self, X, self._mixture())

    def _restore(self, state: dict[str, Any]) -> Self:
        kl.check_topics(state["components"], self._n_segments(state))
        return super()._restore(state)

    def _n_segments(self, state: dict[str, Any]) -> int:
        """Over how many parts of the terms topics sum to one each."""
        return 1

    def perplexity(self, X: Any) -> float:
        """How many words documents hesitate between, on average: exp of minus the log-likelihood per word.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Documents are folded in with all their words, so that this is not a held-out likelihood. Words
            that no topic has are left out.

        Returns
        -------
        float
            At least 1; the smaller, the better. NaN never: without known words it is an error.
        """
        X = self._check_new(X)
        known = kl.known_words(X, self.components_.T)
        total = float(known.sum(dtype=np.float64))
        if total <= 0:
            raise ValueError("X has no words that the topics know, so there is no perplexity")
        _, divergence, _ = self._fold_in_checked(X)
        lengths = known.sum(axis=1, dtype=np.float64)
        data = known.data.astype(np.float64)
        surprise = divergence + np.sum(xlogy(lengths, lengths)) - np.sum(xlogy(data, data))
        return float(np.exp(surprise / total))


class PLSA(MixtureModel):
    r"""Probabilistic latent semantic analysis.

    With the counts of words as rows of X, the topics C (``components_``) and the documents' weights W
    minimise

    .. math:: \sum_{x_{nm} > 0} x_{nm} \log \frac{x_{nm}}{\ell_n (WC)_{nm}} + \sum_{n,k} g(w_{nk}),

    where :math:`\ell_n` is the length of a document (the sum of its counts), every row of C and every row of
    W is a probability distribution, and g is the prior, if there is one. Without a prior this is maximum
    likelihood. Steps are those of expectation-maximisation; with a prior they start from the solution without
    it.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    prior : None, `priors.Pareto` or `priors.PseudoDirichlet`, default=None
        A penalty that rewards documents with few topics. `priors.Exponential` would do nothing here, since
        weights sum to one, and is refused.
    init : "documents" or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`, with some of every
        word. A word that a given topic lacks, it will never have.
    max_iter : int, default=200
        Largest number of iterations; with a prior, before and after it sets in.
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
    components_ : ndarray of shape (n_components, n_terms)
        The topics: each is a distribution over the words.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    doc_density_ : float
        Share of non-zeros in the weights of the documents. With a prior (over topics), small weights are zero
        where that is a stationary value of the objective.
    n_iter_, n_alive_ : int
        Number of iterations, and of topics that have words.

    See Also
    --------
    GraphPLSA : Documents that are linked have similar weights.
    MultimodalPLSA : Documents in several languages or media.
    NMF : With ``loss="kl"`` the same without the constraint on weights.

    Notes
    -----
    A document without known words has all topics equally (there is nothing to tell them apart). `transform`
    finds the weights of each document to the end; it is sparse if there is a prior over topics.

    Examples
    --------
    >>> from laconic import PLSA
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = PLSA(n_components=2, random_state=0).fit(X)
    >>> model.components_.sum(axis=1).round(6)
    array([1., 1.])
    >>> model.transform([[1, 1, 0, 0]]).max().round(3)
    np.float64(1.0)

    References
    ----------
    Hofmann: Probabilistic latent semantic analysis, UAI 1999.
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        prior: Prior | None = None,
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.prior = prior
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_prior(self.prior)
        if isinstance(self.prior, Exponential):
            raise ValueError(  # noqa: TRY004
                "the exponential prior is a constant where weights sum to one: use priors.Pareto or "
                "priors.PseudoDirichlet, or NMF with loss='kl'"
            )

    @property
    def _over_documents(self) -> bool:
        return isinstance(self.prior, PseudoDirichlet) and self.prior.over == "documents"

    def _mixture(self) -> kl.Mixture:
        if self.prior is None or self._over_documents:
            return kl.Mixture(simplex=True)
        return kl.Mixture(True, *self.prior.terms)

    def _fit_topics(
        self, X: csr_array, y: Any, engine: Threads, watch: Callback | None
    ) -> tuple[Factor, Trace]:
        over = kl.Mixture(True, *self.prior.terms) if self.prior and self._over_documents else None
        components, fit = fit_mixture(self, X, self._mixture(), engine, watch, over)
        self.doc_density_ = kl.density(fit.weights)
        return components, fit.trace

    def _fitted_state(self) -> dict[str, Any]:
        return super()._fitted_state() | {"doc_density": self.doc_density_}

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        self.doc_density_ = kl.check_density(state["doc_density"])
        return self
