"""Probabilistic latent semantic analysis: documents as mixtures of topics, with priors on the mixtures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import xlogy

from laconic.losses.divergence.counts import check_topics, known_words
from laconic.losses.divergence.likelihood import Likelihood
from laconic.losses.divergence.mixtures import Mixture
from laconic.models.base import TopicModel
from laconic.models.batches import SEEN, BatchModel
from laconic.models.state import COMMON, Field, number
from laconic.models.traits import Traits
from laconic.priors import Prior, PseudoDirichlet
from laconic.steering.anchors import Anchors

DOC_DENSITY = Field("doc_density", number(0, 1))


def check_distributions(value: Any, model: Any) -> Any:
    """Stored topics, each a distribution over the terms (of every modality)."""
    found = COMMON[0].check(value, model)
    check_topics(found, model._n_segments)
    return found


class MixtureModel(TopicModel):
    """Base of the models whose documents are mixtures: topics and weights sum to one."""

    _schema: ClassVar[tuple[Field, ...]] = (Field("components", check_distributions), *COMMON[1:])
    _n_segments: int = 1
    """Over how many parts of the terms topics sum to one each."""

    @property
    def traits(self) -> Traits:
        """Wants counts, and is non-negative."""
        return Traits(wants="counts", nonnegative=True)

    def perplexity(self, X: Any) -> float:
        """Perplexity: exp of minus the log-likelihood per word.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Documents are folded in with all their words, so this is not a held-out likelihood. Words that
            no topic has are ignored.

        Returns
        -------
        float
            At least 1; smaller is better. Never NaN: documents without known words are an error.
        """
        X = self._check_new(X)
        with self._engine() as engine:
            topics = self._prepared(X.dtype, engine)
            known = known_words(X, topics.known)
            total = float(known.sum(dtype=np.float64))
            if total <= 0:
                raise ValueError("X has no words that the topics know, so there is no perplexity")
            divergence = topics.explained(X, engine).loss
        lengths = known.sum(axis=1, dtype=np.float64)
        data = known.data.astype(np.float64)
        surprise = divergence + np.sum(xlogy(lengths, lengths)) - np.sum(xlogy(data, data))
        return float(np.exp(surprise / total))


class PLSA(MixtureModel, BatchModel):
    r"""Probabilistic latent semantic analysis.

    With the counts of words as rows of X, the topics C (``components_``) and the documents' weights W
    minimise

    .. math:: \sum_{x_{nm} > 0} x_{nm} \log \frac{x_{nm}}{\ell_n (WC)_{nm}} + \sum_{n,k} g(w_{nk}),

    where :math:`\ell_n` is the length of a document (the sum of its counts), every row of C and every row of
    W is a probability distribution, and g is the prior, if there is one. Without a prior this is maximum
    likelihood; with a prior, steps start from the solution without it.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    prior : None, `priors.Pareto` or `priors.PseudoDirichlet`, default=None
        A penalty that favours documents with few topics. `priors.Exponential` is refused: it would have no
        effect, because weights sum to one.
    solver : {"extrapolated", "em", "cd"}, default="extrapolated"
        "em" is expectation-maximisation, the plain reference. "extrapolated" takes over after ten
        iterations of it: documents are solved by coordinate descent (by EM if there is a prior), and topics
        take EM steps from extrapolated topics as long as the objective falls. "cd" is coordinate descent
        for both: it needs the fewest iterations, but all documents must be in one place (with a prior it is
        the same as "extrapolated").
    anchors : Anchors, optional
        What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden
        words; see `laconic.steering.Anchors`.
    init : "documents" or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`, with a little of
        every word. A word that a given topic lacks can never enter it.
    max_iter : int, default=500
        Largest number of iterations; with a prior, of each phase, without and with it.
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
    components_ : ndarray of shape (n_components, n_terms)
        The topics: each is a distribution over the words.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    doc_density_ : float
        Share of non-zeros in the weights of the documents at the end of the fit: coordinate descent finds
        exact zeros. With a prior (over topics), small weights are set to zero where that is a stationary
        point.
    n_iter_, n_alive_ : int
        Number of iterations, and of topics that have words.

    See Also
    --------
    GraphPLSA : Documents that are linked have similar weights.
    MultimodalPLSA : Documents in several languages or media.
    NMF : With ``loss="kl"`` the same without the constraint on weights.

    Notes
    -----
    A document without known words has all topics equally. `transform` runs until the weights of each
    document have converged; its result is sparse if there is a prior over topics.

    Examples
    --------
    >>> from laconic import PLSA
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> model = PLSA(n_components=2, random_state=0).fit(X)
    >>> model.components_.sum(axis=1).round(6)
    array([1., 1.])
    >>> round(float(model.transform([[1, 1, 0, 0]]).max()), 3)
    1.0

    References
    ----------
    Hofmann: Probabilistic latent semantic analysis, UAI 1999.
    """

    _schema = (*MixtureModel._schema, DOC_DENSITY, *SEEN)
    _solvers: ClassVar[tuple[str, ...]] = ("extrapolated", "em", "cd")

    def __init__(
        self,
        n_components: int = 10,
        *,
        prior: Prior | None = None,
        solver: Literal["extrapolated", "em", "cd"] = "extrapolated",
        anchors: Anchors | None = None,
        init: Any = "documents",
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
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
    def traits(self) -> Traits:
        """Wants counts, and is non-negative; with or without a prior."""
        return replace(super().traits, prior=self.prior is not None)

    def _loss(self) -> Likelihood:
        prior = None if self.prior is None else Mixture(True, *self.prior.terms)
        if isinstance(self.prior, PseudoDirichlet) and self.prior.over == "documents":
            return Likelihood(self.n_components, Mixture(simplex=True), self.tol, prior, self.solver)
        return Likelihood(self.n_components, prior or Mixture(simplex=True), self.tol, solver=self.solver)
