"""Probabilistic latent semantic analysis of documents in several media or languages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.utils.validation import check_is_fitted

from laconic.checks import check_number
from laconic.deprecation import FormerAttribute
from laconic.engines import Block, Engine, Shards, Threads, even_blocks
from laconic.engines.checkpoints import CheckpointLike
from laconic.errors import Parameter, ParameterError
from laconic.losses.divergence.counts import check_counts, check_topics, from_independence, known_words
from laconic.losses.divergence.graphs import as_graph
from laconic.losses.divergence.likelihood import FixedMixtures
from laconic.losses.divergence.linked import DIVERGENCES
from laconic.losses.divergence.mixtures import Mixture
from laconic.losses.divergence.modalities import (
    check_mapping,
    check_rows,
    check_tied,
    columns_of,
    side_by_side,
)
from laconic.losses.divergence.problems import MultimodalLikelihood
from laconic.losses.factor import Factor, Floats
from laconic.losses.folding import Explained
from laconic.losses.loop import Callback
from laconic.models.plsa import PLSA, MixtureModel
from laconic.models.prepared import prepared
from laconic.models.state import Field, array, check_links
from laconic.models.traits import Traits
from laconic.steering.anchors import Anchors, joined

if TYPE_CHECKING:
    from laconic.matrices import Weights

ROWS_PER_BLOCK = 256


def _modalities(value: Any, model: Any) -> tuple[str, ...]:
    if not value or len(set(value)) != len(value) or not all(isinstance(name, str) for name in value):
        raise ValueError("modalities have no names, or not different ones")
    return tuple(value)


def _n_terms(value: Any, model: Any) -> dict[str, int]:
    if not all(isinstance(size, int) and size > 0 for size in value) or sum(value) != model.n_features_in_:
        raise ValueError(f"modalities of {value} terms do not fit {model.n_features_in_} columns")
    sizes = dict(zip(model.modalities_, value, strict=True))
    # topics came first, and were checked in sum: now the parts are known over each of which they sum to one
    for start, stop in columns_of(value):
        check_topics(model.components_[:, start:stop], 1)
    return sizes


def _term_names(value: Any, model: Any) -> dict[str, Any]:
    for name, terms in value.items():
        if len(terms) != model.n_terms_.get(name):
            raise ValueError(f"{len(terms)} names do not fit the terms of {name!r}")
    return {name: np.asarray(terms, object) for name, terms in value.items()}


def _weights(value: Any, model: Any) -> dict[str, Floats]:
    n_documents = len(value[0])
    check = array(lambda m: (n_documents, m.n_components), nonnegative=True)
    return dict(zip(model.modalities_, (check(part, model) for part in value), strict=True))


def _graph(value: Any, model: Any) -> Any:
    n_documents = len(next(iter(model.modality_weights_.values())))
    if value.shape[0] != n_documents:
        raise ValueError(f"links of {value.shape[0]} documents do not fit {n_documents}")
    return check_links(value, model)


class MultimodalPLSA(MixtureModel):
    r"""Topics of documents in several modalities: images and texts, or texts in several languages.

    Every modality l has its own matrix of counts X_l, whose row n is document n, and its own topics C_l;
    topic k of one modality corresponds to topic k of the others. The topics and the documents' weights W_l
    minimise

    .. math:: \sum_l \sum_{x_{lnm} > 0} x_{lnm} \log \frac{x_{lnm}}{(W_l C_l)_{nm}}
              + \lambda \sum_n \sum_{j < l} D(w_{jn}, w_{ln}),

    where every row of C_l and of W_l is a probability distribution, :math:`\lambda` is `strength`, and D the
    `divergence` of the weights that a document has in two modalities. A modality that a document lacks (an
    empty row) is left out of both sums. Steps are those of expectation-maximisation.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    divergence : {"skl", "l2", "l1", "tied"}, default="skl"
        How differences of weights a and b are measured: "skl" by the symmetric Kullback-Leibler divergence
        :math:`\sum_k (a_k - b_k) \log(a_k / b_k)`, "l2" by :math:`\frac12 \sum_k (a_k - b_k)^2`, "l1" by
        :math:`\sum_k |a_k - b_k|`. "tied" allows no difference: all modalities of a document share the same
        weights.
    strength : float, default=1.0
        The price of differences. At 0, the modalities are independent; the larger, the closer the weights
        of a document. "l2" needs about ten times the strength of "skl". Not used if `divergence` is "tied".
    row_normalize : bool, default=True
        Whether each document weighs the same in every modality, whatever its length (rows of X_l are scaled
        to sum to one). Otherwise, a given `strength` means less to longer documents.
    anchors : mapping of str to Anchors, optional
        What you know about the topics of each modality beforehand: targets to hold them to, topics to
        freeze, and forbidden words; see `laconic.steering.Anchors`.
    init : "documents" or array of shape (n_components, n_terms of all modalities), default="documents"
        Topics to start from. "documents": distinct documents drawn with `random_state` among those that
        have most modalities, with a little of every word. The solution with tied weights is found first,
        and the fit continues from there. A word that a given topic lacks can never enter it.
    max_iter : int, default=200
        Largest number of iterations of each phase, with tied weights and after that.
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
    modalities_ : tuple of str
        The names of the modalities, in the order given.
    n_terms_ : dict of str to int
        The number of terms of each modality.
    components_ : ndarray of shape (n_components, n_terms of all modalities)
        The topics, with the terms of the modalities side by side; each is a distribution in every modality.
        See `modality_topics`.
    modality_weights_ : dict of str to ndarray of shape (n_documents, n_components)
        The weights of the documents in each modality; zero where a document lacks it.
    graph_ : csr_array of shape (n_documents, n_documents)
        The links between documents that were given; empty without any.
    term_names_ : dict of str to ndarray of str
        The names of the columns, for modalities that were given as data frames.
    objective_history_ : ndarray, one entry per iteration
        The objective after every iteration; it never rises.
    n_iter_, n_alive_ : int
        Number of iterations, and of topics that have words.

    See Also
    --------
    PLSA : Documents in a single modality.
    GraphPLSA : Documents that are linked have similar weights.

    Notes
    -----
    `transform` uses no links: the weights of new documents follow from their words in one
    modality, or in several of them together. A document without known words has all topics equally,
    similarity 0 to every other, and no translation.

    Examples
    --------
    >>> from laconic import MultimodalPLSA
    >>> german = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]]
    >>> english = [[1, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2]]
    >>> model = MultimodalPLSA(n_components=2, random_state=0).fit({"de": german, "en": english})
    >>> new = [[1, 0, 0, 0], [0, 0, 0, 1]]
    >>> words = ["sun", "moon", "salt", "pepper"]
    >>> for keywords in model.translate(new, source="de", target="en", n_terms=2, vocabulary=words):
    ...     print(sorted(word for word, weight in keywords))
    ['moon', 'sun']
    ['pepper', 'salt']
    >>> model.similarity(new, [[0, 2, 0, 0]], "de", "en").round(2)
    array([[ 1.],
           [-1.]])

    References
    ----------
    Wang, Chang, Ying, Lyu: Co-regularized PLSA for multi-modal learning, AAAI 2016.
    """

    modalities_: tuple[str, ...]
    n_terms_: dict[str, int]
    term_names_: dict[str, Any]
    modality_weights_: dict[str, Floats]
    graph_: Any

    # the modalities first: they say over how many parts of the terms topics sum to one
    _schema = (
        Field("modalities", _modalities, stored=list),
        *MixtureModel._schema,
        Field("n_terms", _n_terms, stored=lambda sizes: list(sizes.values())),
        Field(
            "term_names",
            _term_names,
            stored=lambda names: {name: [str(term) for term in terms] for name, terms in names.items()},
        ),
        Field(
            "weights",
            _weights,
            attribute="modality_weights_",
            stored=lambda weights: list(weights.values()),
        ),
        Field("graph", _graph, optional=True),
    )
    weights_ = FormerAttribute("modality_weights_", until="0.3")
    _divergences: ClassVar[tuple[str, ...]] = (*DIVERGENCES, "tied")

    def __init__(
        self,
        n_components: int = 10,
        *,
        divergence: Literal["skl", "l2", "l1", "tied"] = "skl",
        strength: float = 1.0,
        row_normalize: bool = True,
        anchors: Mapping[str, Anchors] | None = None,
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
        self.row_normalize = row_normalize
        self.anchors = anchors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict, tags.input_tags.two_d_array = True, False
        return tags

    @property
    def traits(self) -> Traits:
        """Wants counts in several modalities, is non-negative, and takes a graph."""
        return replace(super().traits, modalities=True, links=True)

    @property
    def modalities(self) -> tuple[str, ...]:
        """The names of the modalities that the model was fitted on."""
        return vars(self).get("modalities_", ())

    @property
    def _n_segments(self) -> int:  # type: ignore[override]
        return len(self.modalities_)

    def _loss(self) -> MultimodalLikelihood:
        return MultimodalLikelihood(
            self.n_components,
            Mixture(simplex=True),
            self.tol,
            divergence=self.divergence,
            strength=self.strength,
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
        """Find the topics of X.

        Parameters
        ----------
        X : mapping of str to array-like or sparse array of shape (n_documents, n_terms of the modality)
            Counts, by the name of the modality. Row n of every matrix is document n; it is empty (all zero)
            where the document lacks the modality.
        y : ignored
        graph : optional
            Links between documents, as for `GraphPLSA`: linked documents have similar weights in every
            modality that both have. A link of weight 1 counts as much as that between two modalities of a
            document.
        engine, callback, checkpoint : optional
            As for `PLSA`.

        Returns
        -------
        self
            The fitted model.
        """
        return self._fit(X, engine, callback, checkpoint, graph=graph)

    def _given(self, data: dict[str, csr_array], given: dict[str, Any]) -> dict[str, Any]:
        graph = given["graph"]
        if graph is not None and self.divergence == "tied":
            raise ParameterError(
                Parameter("divergence", "tied"),
                " does not compare documents, so it cannot use a graph: choose 'skl', 'l2' or 'l1', "
                "or leave the ",
                Parameter("graph"),
                " out",
            )
        return {"graph": None if graph is None else as_graph(graph, check_rows(data))}

    def _anchoring(self, data: Any) -> dict[str, Any]:
        if self.anchors is None:
            return {}
        unknown = [name for name in self.anchors if name not in self.modalities_]
        if unknown:
            raise ParameterError(
                Parameter("anchors"), f" are for {unknown[0]!r}, but there are {', '.join(self.modalities_)}"
            )
        dtype = self.components_.dtype if self.fitted else next(iter(data.values())).dtype
        sizes = list(self.n_terms_.values())
        parts = []
        for name, n_terms in self.n_terms_.items():
            own, names = self.anchors.get(name), self.term_names_.get(name)
            topics = self._topic_places()
            known = topics, n_terms, names, dtype
            parts.append(None if own is None else own.resolve(*known, nonnegative=True))
        found = joined(parts, sizes, self.n_components, dtype)
        return {} if found is None else {"anchors": found}

    def _read(self, X: Any) -> dict[str, csr_array]:
        """Checked matrices without stored zeros, all of one type; takes over names and sizes."""
        modalities, names = {}, {}
        for name, part in check_mapping(X).items():
            reader = PLSA()
            with _naming(name):
                (shard,) = check_counts(Shards.whole(reader._check_matrix(part, reset=True)), Threads(1))
            modalities[name] = shard.X
            if hasattr(reader, "feature_names_in_"):
                names[name] = reader.feature_names_in_
        check_rows(modalities)
        check_tied(modalities)
        dtype = np.result_type(*(part.dtype for part in modalities.values()))
        self.modalities_, self.term_names_ = tuple(modalities), names
        self.n_terms_ = {name: int(part.shape[1]) for name, part in modalities.items()}
        self.n_features_in_ = sum(self.n_terms_.values())
        return {name: part.astype(dtype) for name, part in modalities.items()}

    def _hash(self, data: dict[str, csr_array]) -> str:
        digests = [(name, Shards.whole(part).hash()) for name, part in data.items()]
        return hashlib.sha256(repr(digests).encode()).hexdigest()

    def modality_model(self, modality: str) -> PLSA:
        """The topics of one modality as a separate model, to save with the vocabulary of that modality.

        Parameters
        ----------
        modality : str
            One of ``modalities_``.

        Returns
        -------
        PLSA
            With a copy of the modality's topics; its other attributes describe the fit of all modalities.
        """
        self._known(modality)
        weights = self.modality_weights_[modality]
        state = self._fitted_state() | {
            "components": np.ascontiguousarray(self.components_of(modality)),
            "n_features_in": self.n_terms_[modality],
            "doc_density": float(np.count_nonzero(weights) / max(1, weights.size)),
            "feature_names_in": self.term_names_.get(modality),
        }
        model = PLSA(
            self.n_components,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        return model._restore(state)

    def modality_topics(self, modality: str) -> Floats:
        """The topics of one modality: its columns of ``components_``.

        Parameters
        ----------
        modality : str
            One of ``modalities_``.

        Returns
        -------
        ndarray of shape (n_components, n_terms of the modality)
            Every row is a distribution over the terms of the modality.
        """
        self._known(modality)
        return np.asarray(self.components_of(modality))

    @property
    def topic_shares(self) -> NDArray[np.float64]:
        """The part of every topic in the documents of the fit: the mean over documents and modalities."""
        check_is_fitted(self, "components_")
        weights = self.modality_weights_.values()
        return np.mean([np.mean(part, axis=0, dtype=np.float64) for part in weights], axis=0)

    def term_names(self, modality: str | None = None) -> NDArray[np.object_] | None:
        """The names of the columns of a modality, if it was given as a data frame.

        Parameters
        ----------
        modality : str, optional
            One of ``modalities_``; by default the terms of all of them side by side, with numbers for those
            that have no names, if any modality has.

        Returns
        -------
        ndarray of str, or None
        """
        if modality is not None:
            return self.term_names_.get(self._known(modality))
        check_is_fitted(self, "components_")
        return np.asarray(self._term_names(self.term_names_), object) if self.term_names_ else None

    def _columns(self, modality: str | None) -> Block:
        check_is_fitted(self, "components_")
        if modality is None:
            return Block(0, int(self.n_features_in_))
        place = self.modalities_.index(self._known(modality))
        return columns_of(list(self.n_terms_.values()))[place]

    def _known(self, modality: Any) -> str:
        """A modality's name, checked."""
        check_is_fitted(self, "components_")
        if not isinstance(modality, str) or modality not in self.modalities_:
            known = ", ".join(map(repr, self.modalities_))
            raise ValueError(f"modality={modality!r} is not known; choose one of {known}")
        return modality

    def topics(
        self,
        vocabulary: Any = None,
        n_terms: int | None = 10,
        *,
        distinct: bool = False,
        modality: str | None = None,
    ) -> list[list[tuple[str, float]]]:
        """The words of every topic, largest weight first.

        Parameters
        ----------
        vocabulary : sequence of str, or mapping of str to sequence of str, optional
            The names of the columns: those of the modality if there is one, otherwise of all of them side by
            side, or by modality. Without it, the names of the columns seen in `fit` are used, or else
            numbers.
        n_terms : int or None
            At most this many words of each topic, or all; words without weight are not listed.
        distinct : bool, default=False
            Whether to list each word only in the topic where it is strongest.
        modality : str, optional
            Of which modality; by default words of all modalities are listed together.

        Returns
        -------
        list of list of (str, float)
            Entry k belongs to row k of ``components_``, and to topic k of every modality.
        """
        if modality is None:
            return super().topics(vocabulary, n_terms, distinct=distinct)
        model = self._model_of(modality)
        if isinstance(vocabulary, Mapping):
            vocabulary = vocabulary.get(modality)
        return model.topics(vocabulary, n_terms, distinct=distinct)

    def _term_names(self, vocabulary: Any) -> Any:
        if isinstance(vocabulary, Mapping):
            models = {name: self._model_of(name) for name in self.modalities_}
            vocabulary = [term for name in models for term in models[name]._term_names(vocabulary.get(name))]
        return super()._term_names(vocabulary)

    def transform(self, X: Any, modality: str | None = None) -> Weights:
        """The weights of documents for the topics found.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms of the modality), or mapping
            Documents in one modality; or several modalities of the same documents, as for `fit`: these
            together give each document one set of weights, to which every modality contributes equally if
            `row_normalize`.
        modality : str, optional
            The modality of the matrix X.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Each row sums to one. A document without known words has all topics equally.
        """
        with self._engine() as engine:
            if isinstance(X, Mapping):
                X, _, topics = self._together(X, modality, engine)
            else:
                model = self._single(modality)
                X = model._check_new(X)
                topics = model._prepared(X.dtype, engine)
            weights: Floats = topics.weights(X, engine)
            return weights

    def fit_weights(self, modality: str | None = None) -> Floats | None:
        """The weights of the documents of the fit in a modality (``modality_weights_``)."""
        check_is_fitted(self, "components_")
        found: Floats = self.modality_weights_[self._known(modality)]
        return found

    def fitted_to(self, X: Mapping[str, Any]) -> bool:
        """Whether X, one matrix for each modality, are the documents of the fit."""
        again = type(self)()
        return self._hash(again._read(X)) == self.data_hash_

    def take_weights(self, weights: Mapping[str, Floats]) -> None:
        """Have these weights of the documents of the fit, by modality."""
        self.modality_weights_ = dict(weights)

    def weights_of(self, X: Any, y: Any = None, *, modality: str | None = None) -> Factor:
        """The weights of documents, in one modality or several together: `transform`."""
        return self.transform(X, modality)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Weights:
        """The same as ``fit(X).transform(X)``: one set of weights for all modalities of a document.

        The weights in each modality are in ``modality_weights_``.
        """
        return super().fit_transform(X, y, **fit_params)

    def score(self, X: Any, y: Any = None, *, modality: str | None = None) -> float:
        """The share of the divergence from independence that the topics explain; see `PLSA.score`.

        Parameters
        ----------
        X : array-like or sparse array, or mapping
            As for `transform`; with several modalities, documents have one set of weights for all of them.
        y : ignored
        modality : str, optional
            The modality of the matrix X.

        Returns
        -------
        float
            At most 1; higher is better.
        """
        _, loss, whole = self._explained(X, modality=modality)
        return min(1.0, 1 - loss / whole) if whole > 0 else 0.0

    def perplexity(self, X: Any, modality: str | None = None) -> float:
        """How many words documents hesitate between, on average; see `PLSA.perplexity`.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms of the modality)
            Documents in one modality.
        modality : str
            Which modality they are in.

        Returns
        -------
        float
            At least 1; the smaller, the better.
        """
        if isinstance(X, Mapping):
            raise TypeError("perplexity is only defined for one modality at a time")
        return self._single(modality).perplexity(X)

    def _single(self, modality: str | None) -> PLSA:
        """The model of the modality that a matrix is of."""
        check_is_fitted(self, "components_")
        if modality is None and len(self.modalities_) > 1:
            raise ValueError(
                f"which modality is X? Pass modality= one of {', '.join(map(repr, self.modalities_))}, "
                "or a mapping from modalities to matrices"
            )
        return self._model_of(self.modalities_[0] if modality is None else modality)

    def _model_of(self, modality: str) -> PLSA:
        """The model of a modality, made once."""
        settings = self.n_components, self.max_iter, self.tol, self.random_state, self.n_jobs, self.verbose
        found: PLSA = prepared(
            self, ("modality", self._known(modality)), settings, lambda _: self.modality_model(modality)
        )
        return found

    def _explained(self, X: Any, y: Any = None, *, modality: str | None = None) -> Explained:
        if not isinstance(X, Mapping):
            return self._single(modality)._explained(X)
        with self._engine() as engine:
            whole, parts, topics = self._together(X, modality, engine)
            found = topics.explained(whole, engine)
        # topics explain the words of each modality, not the number of these, nor its share of all words
        lengths = np.stack([part.sum(axis=1, dtype=np.float64) for part in parts])
        shares = float(np.sum(xlogy(lengths.sum(0), lengths.sum(0))) - np.sum(xlogy(lengths, lengths)))
        return Explained(found.weights, found.loss + shares, sum(map(from_independence, parts)))

    def _together(
        self, X: Mapping[str, Any], modality: str | None, engine: Engine
    ) -> tuple[csr_array, list[csr_array], FixedMixtures]:
        """Known words of several modalities side by side, and in each; and the topics over all of these."""
        if modality is not None:
            raise ValueError("X is a mapping, which names its modalities: leave out modality=")
        check_is_fitted(self, "components_")
        models = {name: self._model_of(name) for name in check_mapping(X)}
        # in the order of the fit, so that the order of the mapping makes no difference to the last bit
        models = {name: models[name] for name in self.modalities_ if name in models}
        known = {}
        for name, model in models.items():
            with _naming(name):
                known[name] = model._check_new(X[name])
        check_rows(known)
        loss = self._loss()
        masks = {name: model._prepared(known[name].dtype, engine).known for name, model in models.items()}
        parts = loss.weighed([known_words(part, masks[name]) for name, part in known.items()])
        dtype = np.result_type(*(part.dtype for part in parts))
        whole = side_by_side([part.astype(dtype) for part in parts])

        def make(_: Any) -> FixedMixtures:
            side = np.concatenate([model.components_ for model in models.values()], axis=1)
            return loss.fold_in(side, dtype, engine)

        return whole, parts, prepared(self, ("together", tuple(models), dtype), loss, make)

    def similarity(self, Xa: Any, Xb: Any, modality_a: str, modality_b: str) -> Floats:
        """How similar documents are by their topics, across modalities or within one.

        Parameters
        ----------
        Xa : array-like or sparse array of shape (n_a, n_terms of modality_a)
            Documents in one modality.
        Xb : array-like or sparse array of shape (n_b, n_terms of modality_b)
            Documents in another.
        modality_a, modality_b : str
            Which modalities these are.

        Returns
        -------
        ndarray of shape (n_a, n_b)
            The correlation of weights over the topics (centred and normalised), from -1 to 1. Zero where a
            document has all topics equally, as one without known words.
        """
        a, b = _standardised(self.transform(Xa, modality_a)), _standardised(self.transform(Xb, modality_b))
        with self._engine() as engine:
            blocks = engine.map(partial(_correlations, a, b), even_blocks(a.shape[0], ROWS_PER_BLOCK))
            parts = list(blocks)
        similar = np.concatenate([np.zeros((0, b.shape[0]), np.result_type(a, b)), *parts])
        return np.clip(similar, -1, 1, out=similar)

    def translate(
        self,
        X: Any,
        source: str,
        target: str,
        n_terms: int = 10,
        vocabulary: Sequence[str] | Floats | None = None,
    ) -> list[list[tuple[str, float]]]:
        """What documents of one modality would say in another: its likeliest terms.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms of the source)
            Documents.
        source : str
            The modality they are in.
        target : str
            The modality of the terms.
        n_terms : int, default=10
            At most this many terms for each document.
        vocabulary : sequence of str, optional
            The terms of the target. Without it, the names of the columns seen in `fit` are used, or numbers.

        Returns
        -------
        list of list of (str, float)
            For every document, terms and their probabilities, the largest first; none for a document without
            known words.
        """
        check_number("n_terms", n_terms, Integral, 0)
        model, asked = self._model_of(source), self._model_of(target)
        names = asked._term_names(vocabulary)
        X = model._check_new(X)
        W = model.transform(X)
        with self._engine() as engine:
            known = np.diff(known_words(X, model._prepared(X.dtype, engine).known).indptr) > 0
            heaviest = partial(_heaviest, W, asked.components_, known, names, n_terms)
            blocks = engine.map(heaviest, even_blocks(W.shape[0], ROWS_PER_BLOCK))
            return [keywords for block in blocks for keywords in block]


def _correlations(a: Floats, b: Floats, rows: Block) -> Floats:
    """The products of some rows with all others."""
    return np.asarray(a[rows.start : rows.stop] @ b.T)


def _heaviest(
    W: Floats, components: Floats, known: NDArray[np.bool_], names: Any, n_terms: int, rows: Block
) -> list[list[tuple[str, float]]]:
    """The likeliest terms of some documents; none of those that are not known."""
    weights = W[rows.start : rows.stop] @ components
    # stable: equal weights stay in the vocabulary's order
    order = np.argsort(-weights, axis=1, kind="stable")[:, :n_terms]
    return [
        [(str(names[j]), float(row[j])) for j in best if row[j] > 0] if seen else []
        for row, best, seen in zip(weights, order, known[rows.start : rows.stop], strict=True)
    ]


@contextmanager
def _naming(modality: str) -> Iterator[None]:
    """Let errors of a matrix say which one it is."""
    try:
        yield
    except TypeError as error:
        raise TypeError(f"modality {modality!r}: {error}") from error
    except ValueError as error:
        raise ValueError(f"modality {modality!r}: {error}") from error


def _standardised(weights: Floats) -> Floats:
    """Rows of mean zero and length one; those whose entries are all equal become zero."""
    centred = weights - weights.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    equal = norms <= 16 * np.finfo(weights.dtype).eps
    return np.where(equal, 0, centred / np.where(equal, 1, norms))
