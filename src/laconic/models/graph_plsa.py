"""PLSA with a graph: documents that are linked have similar weights."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from laconic.checks import check_choice, check_number
from laconic.engines import Threads
from laconic.models import kl
from laconic.models.factor import Factor, Floats
from laconic.models.graph_steps import DIVERGENCES, fit_on_graph, settle_on_graph, strengthened_fit
from laconic.models.graphs import as_graph, neighbour_graph
from laconic.models.loop import Callback, Trace
from laconic.models.media import of_sum_one
from laconic.models.plsa import MixtureModel

STRENGTH = 0.3
START_PRECISION = 1e-3


class GraphPLSA(MixtureModel):
    r"""Probabilistic latent semantic analysis on a graph: linked documents have similar topics.

    With the counts of words as rows of X and weights :math:`r_{jl} \ge 0` of the links between documents, the
    topics C (``components_``) and the documents' weights W (``weights_``) minimise

    .. math:: \sum_{x_{nm} > 0} x_{nm} \log \frac{x_{nm}}{(WC)_{nm}}
              + \lambda \sum_{j < l} r_{jl} D(w_j, w_l),

    where every row of C and every row of W is a probability distribution. :math:`\lambda` is `strength`,
    every link counts once, and D is one of

    .. math:: \sum_k (a_k - b_k) \log \frac{a_k}{b_k} \; (\text{"skl"}), \quad
              \frac12 \sum_k (a_k - b_k)^2 \; (\text{"l2"}), \quad \sum_k |a_k - b_k| \; (\text{"l1"}).

    Every half step is exact or a step of expectation-maximisation, so the objective never rises.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    divergence : {"skl", "l2", "l1"}, default="skl"
        How far apart the weights of linked documents are. "skl", the symmetric Kullback-Leibler divergence,
        minds ratios of small weights too; "l2" large gaps; "l1" makes weights of linked documents exactly
        equal, or lets them differ.
    strength : float, default=0.3
        How much links count. At 0 the model is `PLSA`; the larger, the more alike linked documents are. The
        default suits texts; "l2" bears about ten times as much, and images up to thousands.
    n_neighbors : int, default=5
        Where no graph is given, every document is linked to this many that are most similar to it (by
        cosine).
    row_normalize : bool, default=True
        Whether every document counts the same, however long it is (rows of X are scaled to sum to one).
        Otherwise `strength` competes with the lengths of documents.
    init : "documents" or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`, with some of every
        word. A word that a given topic lacks, it will never have.
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
    components_ : ndarray of shape (n_components, n_terms)
        The topics: each is a distribution over the words.
    weights_ : ndarray of shape (n_documents, n_components)
        The weights of the documents of the fit, which the links have drawn together.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    n_iter_, n_alive_ : int
        Number of iterations, and of topics that have words.

    See Also
    --------
    PLSA : The same without links.
    MultimodalPLSA : Links between the languages or media of one document.

    Notes
    -----
    `fit_transform` returns ``weights_``. `transform` knows no links: it finds the weights of each document
    from its words alone, also for the documents of the fit.

    Under "l1" the fit starts without links and strengthens them in stages, since rows that have become equal
    hardly part again.

    Documents that strong links hold together move slowly, by steps as small as the links are strong: with a
    large `strength`, allow for more iterations.

    A document without words takes the weights that suit its neighbours best; without neighbours either, all
    topics equally. Weights under "skl" are at least 1e-12.

    Examples
    --------
    The third document has no words, but it is linked to the first.

    >>> from laconic import GraphPLSA
    >>> X = [[3, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 0], [0, 0, 3, 1]]
    >>> model = GraphPLSA(n_components=2, strength=1, random_state=0)
    >>> W = model.fit_transform(X, graph=[[0, 2], [1, 3]])
    >>> W.argmax(axis=1) == W.argmax(axis=1)[0]
    array([ True, False,  True, False])

    References
    ----------
    Wang, Chang, Lyu: Efficient algorithms for graph regularized PLSA for probabilistic topic modeling.
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        divergence: str = "skl",
        strength: float = STRENGTH,
        n_neighbors: int = 5,
        row_normalize: bool = True,
        init: Any = "documents",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.divergence = divergence
        self.strength = strength
        self.n_neighbors = n_neighbors
        self.row_normalize = row_normalize
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("divergence", self.divergence, DIVERGENCES)
        check_number("strength", self.strength, Real, 0)
        check_number("n_neighbors", self.n_neighbors, Integral, 1)
        check_choice("row_normalize", self.row_normalize, (True, False))

    def fit(self, X: Any, y: Any = None, *, graph: Any = None, callback: Callback | None = None) -> Self:
        """Find the topics of X, and the weights of its documents.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Counts of words.
        y : ignored
        graph : sparse or dense matrix, networkx.Graph or array of edges, optional
            The links between documents, by row numbers of X: *a matrix* of documents × documents (if it is
            not symmetric, the mean of it and its transpose is taken); *a networkx.Graph* (``weight`` weighs
            an edge); *edges*, an array with two columns, where a pair counts once however often it is listed,
            or with three, where the third has weights and those of a pair are added. Links of documents to
            themselves are left out. By default, every document is linked to the `n_neighbors` most similar to
            it.
        callback : callable, optional
            Called with a `Progress` after every half step; returning True ends the fit after the iteration,
            with the topics found so far.

        Returns
        -------
        self
            The fitted model.
        """
        # the base hands its y to `_fit_topics` as it is
        return super().fit(X, graph, callback=callback)

    def fit_transform(self, X: Any, y: Any = None, *, graph: Any = None, **fit_params: Any) -> Floats:
        """The weights of the documents of the fit, under the graph (``weights_``).

        `transform`, which knows no links, gives others.
        """
        return self.fit(X, y, graph=graph, **fit_params).weights_

    def _fit_topics(
        self, X: csr_array, y: Any, engine: Threads, watch: Callback | None
    ) -> tuple[Factor, Trace]:
        X = kl.check_counts(X)
        graph = neighbour_graph(X, self.n_neighbors) if y is None else as_graph(y, X.shape[0])
        if self.row_normalize:
            X = of_sum_one(X)
        topics = kl.first_topics(X, self.n_components, self.init, self.random_state)
        # from weights that suit the topics: neighbours that begin alike might never part
        weights = kl.fold_in(X, topics, self._mixture(), engine, START_PRECISION)[0]
        problem = self.divergence, self.strength, engine
        gentle = self.divergence == "l1"
        if not isinstance(self.init, str):
            weights = settle_on_graph(
                X, graph, topics, weights, *problem, max_iter=self.max_iter, tol=self.tol
            )
            gentle = False
        run = strengthened_fit if gentle else fit_on_graph
        fit = run(X, graph, topics, weights, *problem, watch, max_iter=self.max_iter, tol=self.tol)
        self.weights_ = fit.weights
        return np.ascontiguousarray(fit.topics.T), fit.trace

    def _fitted_state(self) -> dict[str, Any]:
        return super()._fitted_state() | {"weights": self.weights_}

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        weights = state["weights"]
        if weights.ndim != 2 or weights.shape[1] != self.n_components:
            raise ValueError(f"weights of shape {weights.shape} do not have {self.n_components} columns")
        if weights.dtype != self.components_.dtype:
            raise ValueError(f"weights are {weights.dtype}, but the topics are {self.components_.dtype}")
        if not (weights >= 0).all() or not np.allclose(weights.sum(axis=1), 1, atol=1e-3):
            raise ValueError("weights of documents must not be negative, and must sum to one")
        self.weights_ = weights
        return self
