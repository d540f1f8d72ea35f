"""PLSA with a graph: documents that are linked have similar weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from laconic.engines import Engine, Shards
from laconic.engines.checkpoints import CheckpointLike
from laconic.losses.divergence.graphs import as_graph
from laconic.losses.divergence.linked import DIVERGENCES
from laconic.losses.divergence.mixtures import Mixture
from laconic.losses.divergence.problems import LinkedLikelihood
from laconic.losses.divergence.starts import RANDOM
from laconic.losses.factor import Floats
from laconic.losses.loop import Callback
from laconic.models.plsa import MixtureModel
from laconic.models.state import Field, array, check_links
from laconic.models.traits import Traits
from laconic.steering.anchors import Anchors

STRENGTH = 0.3


def _weights(value: Any, model: Any) -> Floats:
    found: Floats = array(lambda m: (None, m.n_components), nonnegative=True)(value, model)
    if not np.allclose(found.sum(axis=1), 1, atol=1e-3):
        raise ValueError("weights of documents must not be negative, and must sum to one")
    return found


def _graph(value: Any, model: Any) -> Any:
    if value.shape[0] != len(model.weights_):
        raise ValueError(f"links of {value.shape[0]} documents do not fit {len(model.weights_)}")
    return check_links(value, model)


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
        How the difference between the weights of linked documents is measured. "skl", the symmetric
        Kullback-Leibler divergence, is sensitive to ratios of small weights, too, and "l2" to large gaps.
        "l1" makes weights of linked documents exactly equal, or lets them differ.
    strength : float, default=0.3
        How much links count. At 0 the model is `PLSA`; the larger, the more similar linked documents
        become. The default suits texts; "l2" takes about ten times as much, and images up to thousands.
    n_neighbors : int, default=5
        Without a graph, every document is linked to this many of the most similar ones (by cosine).
    row_normalize : bool, default=True
        Whether every document counts the same, whatever its length (rows of X are scaled to sum to one).
        Otherwise, a given `strength` means less to longer documents.
    anchors : Anchors, optional
        What you know about topics beforehand: targets to hold them to, topics to freeze, and forbidden
        words; see `laconic.steering.Anchors`.
    init : {"documents", "random"} or array of shape (n_components, n_terms), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state`, with a little of
        every word. "random": random topics and random weights of documents, which strong links then sort
        into clusters; stop such a fit early. A word that a given topic lacks can never enter it.
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
    components_ : ndarray of shape (n_components, n_terms)
        The topics: each is a distribution over the words.
    weights_ : ndarray of shape (n_documents, n_components)
        The weights of the documents of the fit, which take the links into account.
    graph_ : csr_array of shape (n_documents, n_documents)
        The links between these documents: those that were given, or those that were found.
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
    `fit_transform` returns ``weights_``. `transform` ignores links: it finds the weights of each document
    from its words alone, even for documents of the fit.

    With "l1" and ``init="documents"`` the fit starts without links and strengthens them in stages, because
    rows that have become equal hardly separate again.

    Documents held together by strong links move in small steps: with a large `strength`, allow for more
    iterations. For clusters of images, in contrast, stop early (about 60 iterations): see the manual.

    A document without words takes the weights that suit its neighbours best. If it has no neighbours
    either, it has all topics equally. With "skl", weights are at least 1e-12.

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

    weights_: Floats
    graph_: Any

    _schema = (*MixtureModel._schema, Field("weights", _weights), Field("graph", _graph, optional=True))
    _divergences: ClassVar[tuple[str, ...]] = DIVERGENCES
    _starts: ClassVar[tuple[str, ...]] = ("documents", RANDOM)

    def __init__(
        self,
        n_components: int = 10,
        *,
        divergence: Literal["skl", "l2", "l1"] = "skl",
        strength: float = STRENGTH,
        n_neighbors: int = 5,
        row_normalize: bool = True,
        anchors: Anchors | None = None,
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
        self.anchors = anchors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def traits(self) -> Traits:
        """Wants counts, is non-negative, and takes a graph."""
        return replace(super().traits, links=True)

    def _loss(self) -> LinkedLikelihood:
        return LinkedLikelihood(
            self.n_components,
            Mixture(simplex=True),
            self.tol,
            divergence=self.divergence,
            strength=self.strength,
            n_neighbors=self.n_neighbors,
            row_normalize=self.row_normalize,
        )

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        graph: Any = None,
        engine: Engine | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Self:
        """Find the topics of X, and the weights of its documents.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Counts of words.
        y : ignored
        graph : sparse or dense matrix, networkx.Graph or array of edges, optional
            The links between documents, by row numbers of X: *a matrix* of documents × documents (if it is
            not symmetric, the mean of it and its transpose is used); *a networkx.Graph* (``weight`` weighs
            an edge); *edges*, an array with two columns, where a pair counts once however often it is
            listed, or with three, where the third has weights and those of a pair are added. Links of
            documents to themselves are ignored. By default, every document is linked to the `n_neighbors`
            most similar ones.
        engine, callback, checkpoint : optional
            As for `PLSA`.

        Returns
        -------
        self
            The fitted model.
        """
        return self._fit(X, engine, callback, checkpoint, graph=graph)

    def _given(self, data: Any, given: dict[str, Any]) -> dict[str, Any]:
        graph = given["graph"]
        return {"graph": None if graph is None else as_graph(graph, data.n_documents)}

    def fit_weights(self, modality: str | None = None) -> Floats | None:
        """``weights_``, which take the links into account."""
        self._columns(modality)
        return self.weights_

    @property
    def topic_shares(self) -> NDArray[np.float64]:
        """The part of every topic in the documents of the fit: the mean of their weights."""
        check_is_fitted(self, "components_")
        return np.mean(self.weights_, axis=0, dtype=np.float64)

    def kept_weights(self, X: Any) -> Floats | None:
        """``weights_``, if X are the documents of the fit."""
        return self.weights_ if self.fitted_to(X) else None

    def fitted_to(self, X: Any) -> bool:
        """Whether X are the documents of the fit."""
        checked = self._check_new(X)
        same_number = checked.shape[0] == len(self.weights_)
        return same_number and self._hash(Shards.whole(checked)) == self.data_hash_

    def take_weights(self, weights: Mapping[str, Floats]) -> None:
        """Have these weights of the documents of the fit."""
        self.weights_ = weights[""]

    def fit_transform(self, X: Any, y: Any = None, *, graph: Any = None, **fit_params: Any) -> Floats:
        """The weights of the documents of the fit, under the graph (``weights_``).

        `transform`, which ignores links, gives different ones.
        """
        return self.fit(X, y, graph=graph, **fit_params).weights_
