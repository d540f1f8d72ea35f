"""What every topic model has in common for its users: checked input, readable topics, a place on disk."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from laconic.display import model_html
from laconic.engines import Block, Engine, Shards, Threads
from laconic.engines.checkpoints import Checkpoint, CheckpointLike, described
from laconic.engines.stored import StoredShard
from laconic.errors import InputError, InputWarning, InPython, Parameter, ParameterError
from laconic.losses.factor import Factor, compressed
from laconic.losses.folding import Explained, FoldIn
from laconic.losses.loop import Callback, Found, Patience
from laconic.losses.memory import Sizes
from laconic.losses.starts import Start
from laconic.matrices import as_wanted
from laconic.models.alone import one_at_a_time
from laconic.models.checking import checked_matrix
from laconic.models.listing import by_weight, names_in, strongest_only
from laconic.models.parameters import check_parameters
from laconic.models.prepared import forget, prepared
from laconic.models.state import COMMON, Field, fitted_state, restore
from laconic.models.traits import Traits
from laconic.progress import ProgressDisplay
from laconic.storage.forms import Number

if TYPE_CHECKING:
    from laconic.matrices import Weights

logger = logging.getLogger(__name__)

MANY_TOPICS = 500
"""So many topics of fewer documents are told before the fit."""

Floats = NDArray[Any]

SHORT_TOPIC = 5
"""Topics of fewer words than this are reported: they rarely say anything."""


class Loss(Protocol):
    """What a model minimises, with all that its parameters say about it.

    Losses are equal if these are: what was prepared with one serves the other.
    """

    @property
    def whole(self) -> bool:
        """Whether documents depend on each other, so that they have to be in one shard."""

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """What a fit adds to memory in bytes, by named parts."""

    @property
    def fit(self) -> Callable[..., Found]:
        """Find the topics: of documents, a start, an engine, patience, and what else a loss takes."""

    def fold_in(self, components: Factor, dtype: Any, engine: Engine) -> FoldIn:
        """Prepare topics × terms for documents of a type of floats."""


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all models. Documents are rows; ``components_`` is topics × terms.

    A model adds ``__init__`` (which only stores) and `_loss`, the problem that its parameters pose. See
    CONTRIBUTING for the whole recipe.
    """

    _schema: ClassVar[tuple[Field, ...]] = COMMON
    """What a fitted model consists of."""
    _starts: ClassVar[tuple[str, ...]] = ("documents",)

    n_components: int
    init: Any
    max_iter: int
    tol: float
    random_state: Any
    components_: Factor
    objective_history_: Floats
    n_iter_: int
    n_features_in_: int
    data_hash_: str

    @property
    def traits(self) -> Traits:
        """What the model is, by its parameters: wants counts or weights, has classes, modalities, links."""
        return Traits()

    @property
    def wants(self) -> str:
        """What X should hold: "weights" (tf-idf), or "counts"."""
        return self.traits.wants

    @property
    def whole(self) -> bool:
        """Whether documents depend on each other, so that they have to be in one shard."""
        return self._loss().whole

    def rows(self, counts: Any, weigh: Callable[[Any], Any]) -> Any:
        """The rows of X for documents whose words are counted: the counts, or weights.

        Parameters
        ----------
        counts : sparse array of shape (n_documents, n_terms)
            How often each term of the vocabulary occurs in each document.
        weigh : callable
            Turns counts into weights, such as ``vectorizer.weigh``; called for a model that wants weights.

        Returns
        -------
        sparse array of shape (n_documents, n_terms)
            For `fit` and `transform`.
        """
        return as_wanted(self.wants, counts, weigh)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        engine: Engine | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Self:
        """Find the topics of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms), or Shards
            Preferably tf-idf weights with rows of unit length; counts for models that want counts.
        y : ignored
        engine : Engine, optional
            What runs the fit; by default `n_jobs` threads of this process.
        callback : callable, optional
            Called with a `Progress` after every half step; returning True ends the fit after the iteration,
            with the topics found so far.
        checkpoint : path-like or Checkpoint, optional
            A directory where the progress of the fit is saved every minute. If the process dies, the same
            call continues from there and ends with the same bits. A finished fit removes the checkpoint.

        Returns
        -------
        self
            The fitted model.
        """
        return self._fit(X, engine, callback, checkpoint)

    @one_at_a_time
    def _fit(
        self,
        X: Any,
        engine: Engine | None,
        callback: Callback | None,
        checkpoint: CheckpointLike | None = None,
        **given: Any,
    ) -> Self:
        """The fit of every model; `given` is what the loss of this one takes besides the documents."""
        check_parameters(self)
        self._forget()
        data = self._read(X)
        loss = self._loss()
        if loss.whole:
            self._check_whole(data, engine)
        given = self._given(data, given) | self._anchoring(data)
        if isinstance(data, Shards):
            self._caution(data.n_documents)
        pages, saved, data_hash = None, None, None
        if checkpoint is not None:
            saved, data_hash = Checkpoint.of(checkpoint), self._hash(data)
            pages = saved.open(self._identity(data_hash, data, given))
        with engine or self._engine() as running, self._watching(callback) as watch:
            patience = Patience(self.max_iter, self.tol, watch, journal=pages)
            seed = self.random_state
            if pages is not None and seed is None:
                # chance, but the same one when the fit goes on
                seed = patience.note(
                    "seed",
                    lambda: int(np.random.RandomState().randint(2**31)),
                    Number(0, 2**31 - 1, whole=True),
                )
            found = loss.fit(data, Start(self._start, seed), running, patience, **given)
        self._conclude(found)
        self.data_hash_ = self._hash(data) if data_hash is None else data_hash
        if saved is not None and not saved.keep and not found.trace.interrupted:
            saved.remove()
        return self

    def _check_whole(self, data: Any, engine: Engine | None) -> None:
        """Refuse to fit documents that depend on each other where they are not together."""
        couples = f"{type(self).__name__} couples documents with each other (whole=True), so it cannot be "
        if isinstance(data, Shards) and len(data) > 1:
            raise ValueError(f"{couples}fitted on {len(data)} shards: pass all documents as one matrix")
        if engine is not None and engine.remote:
            raise ValueError(f"{couples}fitted on a cluster: fit it on one machine, without an engine")

    def _caution(self, n_documents: int) -> None:
        """Say before a long fit, and not after it, what was hardly meant."""
        if self._n_topics > max(MANY_TOPICS, n_documents):
            logger.warning(
                "%s topics for %s documents: they cannot all be different, and the fit takes long; choose "
                "fewer",
                f"{self._n_topics:,}",
                f"{n_documents:,}",
            )

    def _identity(self, data_hash: str, data: Any, given: Mapping[str, Any]) -> dict[str, str]:
        """What tells this fit from others: all that its bits depend on."""
        own = {name: value for name, value in self.get_params().items() if name not in ("n_jobs", "verbose")}
        parts = {name: described(value) for name, value in own.items()}
        parts |= {"model": type(self).__name__, "data": data_hash}
        if isinstance(data, Shards):
            parts["shards"] = described([shard.n_documents for shard in data])
        for name, value in given.items():
            parts["y" if name == "classes" else name] = described(value)
        return parts

    @property
    def _start(self) -> Any:
        """What a fit starts from: a word, or topics."""
        return self.init

    def _given(self, data: Any, given: dict[str, Any]) -> dict[str, Any]:
        """What a caller gave besides the documents, checked, as the loss takes it."""
        return given

    def _anchoring(self, data: Any) -> dict[str, Any]:
        """What is known of the topics, as the loss takes it; nothing, if the model takes no anchors."""
        anchors = self.get_params(deep=False).get("anchors")
        if anchors is None:
            return {}
        names = vars(self).get("feature_names_in_")
        sizes = self._topic_places(), int(self.n_features_in_), names, data.dtype
        found = anchors.resolve(*sizes, nonnegative=self._positive_topics)
        return {} if found is None else {"anchors": found}

    def topic_place(self, topic: Any) -> int:
        """The row of ``components_`` of a topic.

        Parameters
        ----------
        topic : int or tuple
            As anchors call it: a number, or of a model with classes ``("shared", 0)`` or ``(class, 1)``.
        """
        return self._topic_places()[topic]

    def _topic_places(self) -> dict[Any, int]:
        """The rows of ``components_``, by all that topics may be called."""
        return {k: k for k in range(self._n_topics)}

    @property
    def _positive_topics(self) -> bool:
        """Whether topics have positive words only."""
        return self.traits.nonnegative

    def memory(
        self,
        n_documents: int,
        n_terms: int,
        n_nonzeros: int,
        *,
        n_classes: int = 1,
        n_modalities: int = 1,
        n_links: int | None = None,
        dtype: Any = np.float32,
    ) -> dict[str, int]:
        """About how much memory a fit adds to that of X, in bytes.

        Parameters
        ----------
        n_documents, n_terms, n_nonzeros : int
            Size of X; with several modalities, terms and non-zeros of all of them.
        n_classes : int, default=1
            How many classes the labels have, for a model of classes.
        n_modalities : int, default=1
            How many modalities there are, for a model of several.
        n_links : int, optional
            How many links the graph has that is given to `fit`.
        dtype : dtype, default=float32
            Of X.

        Returns
        -------
        dict of str to int
            By purpose; the sum is an estimate of the peak, with as many and as dense topics as there may
            be.
        """
        n_shared, n_own = self._topics_by_class(n_classes)
        return self._memory(
            Sizes(
                n_documents,
                n_terms,
                n_nonzeros,
                n_shared,
                n_own,
                n_modalities,
                n_links,
                np.dtype(dtype).itemsize,
                svd=isinstance(self._start, str) and self._start == "svd",
            )
        )

    def _memory(self, sizes: Sizes) -> dict[str, int]:
        return self._loss().memory(sizes)

    def _topics_by_class(self, n_classes: int) -> tuple[int, tuple[int, ...]]:
        """How many topics all documents share, and how many each class has; without classes, one has all."""
        return 0, (self.n_components,)

    def _loss(self) -> Loss:
        """What the model minimises: the problem that its parameters pose."""
        raise NotImplementedError

    def _conclude(self, found: Found) -> None:
        """Store what a fit has found."""
        trace = found.trace
        if not trace.converged and not trace.interrupted:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations before the "
                f"decrease fell below tol={self.tol}: raise max_iter, or tol if the topics are good enough.",
                ConvergenceWarning,
                stacklevel=4,
            )
        forget(self)
        self.components_ = found.components
        self.objective_history_ = np.array(trace.history)
        self.n_iter_ = len(trace.history)
        for name, value in found.facts.items():
            setattr(self, f"{name}_", value)
        if not trace.interrupted and not self.n_alive_:
            self._warn_of_nothing(found.facts.get("alpha_max"))

    def _warn_of_nothing(self, alpha_max: float | None) -> None:
        """Say that there are no topics: what was asked for can be computed, and is of no use."""
        remedy: list[object] = ["look at X: there may be nothing in it to explain"]
        # a penalty of nothing can be no lower
        if self.topic_penalty:
            most = "" if alpha_max is None else f" (from {alpha_max:.4g} on, there can be none)"
            remedy = ["lower ", Parameter("alpha_topics"), f", which was {self.topic_penalty:.4g}{most}"]
        warnings.warn(InputWarning(InputError("no topic has a word: ", *remedy)), stacklevel=5)

    def transform(self, X: Any) -> Weights:
        """The topic weights of documents: the document half step with the topics fixed.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray or csr_array of shape (n_documents, n_components)
            Sparse where weights have exact zeros (dense if `set_output` asks for data frames).
            A document without known words has only zeros, or, where weights sum to one, all topics equally.
        """
        X = self._check_new(X)
        with self._engine() as engine:
            topics = self._prepared(X.dtype, engine)
            return self._output(topics.weights(X, engine), sparse=topics.sparse)

    def shares(self, weights: Any) -> Factor:
        """Weights of documents as shares: which part of a document each topic has.

        Parameters
        ----------
        weights : ndarray or sparse array of shape (n_documents, n_topics)
            As from `transform`; not changed.

        Returns
        -------
        ndarray or csr_array of shape (n_documents, n_topics)
            Rows that sum to one; those of documents without any weight stay zero.

        Raises
        ------
        ParameterError
            If weights of this model may be negative, so that they cannot be shares.
        """
        if not self.traits.nonnegative:
            raise ParameterError(
                "weights of this model may be negative, so they cannot be shares: choose rlsi with "
                "non-negative weights",
                InPython(" (nonnegative='both')"),
                ", nmf, plsa or group-nmf",
            )
        weights = weights if issparse(weights) else np.asarray(weights)
        n_topics = self.components_.shape[0]
        if weights.ndim != 2 or weights.shape[1] != n_topics:
            raise ValueError(
                f"weights must have a column for each of {n_topics} topics, as those of `transform` do; they "
                f"are of shape {weights.shape}"
            )
        if not (weights.data if issparse(weights) else weights).min(initial=0) >= 0:
            raise ValueError("weights must be non-negative numbers to be shares, as those of `transform` are")
        totals = np.asarray(weights.sum(axis=1), np.float64).ravel()
        factors = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0).astype(weights.dtype)
        if not issparse(weights):
            return np.asarray(weights * factors[:, None])
        found = csr_array(weights, copy=True)
        found.data *= np.repeat(factors, np.diff(found.indptr))
        return found

    def weights_of(self, X: Any, y: Any = None, *, modality: str | None = None) -> Factor:
        """The weights of documents: those of the fit where the model has kept them, else by `transform`.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms), or mapping
            As for `transform`.
        y : array-like of shape (n_documents,), optional
            The classes of the documents, for a model that has classes; predicted if not given.
        modality : str, optional
            Which one the matrix X is of, for a model of several.

        Returns
        -------
        ndarray or csr_array of shape (n_documents, n_topics)
        """
        self._columns(modality)
        kept = self.kept_weights(X)
        return self.transform(X) if kept is None else kept

    def fit_weights(self, modality: str | None = None) -> Floats | None:
        """The weights of the documents of the fit, if the model keeps them.

        Parameters
        ----------
        modality : str, optional
            Needed for a model of several.

        Returns
        -------
        ndarray of shape (n_documents, n_components), or None
        """
        self._columns(modality)
        return None

    def kept_weights(self, X: Any) -> Floats | None:
        """The weights of the fit, if X are its documents and the weights use more than their words.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray of shape (n_documents, n_components), or None
            None for a model that finds the weights of documents by their words alone.
        """
        return None

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Weights:
        """The same as ``fit(X, y).transform(X)``."""
        return self.fit(X, y, **fit_params).transform(X)

    def _explained(self, X: Any, y: Any = None) -> Explained:
        """The weights of documents, the loss, and the loss of a model without topics."""
        X = self._check_new(X)
        with self._engine() as engine:
            return self._prepared(X.dtype, engine).explained(X, engine)

    def _prepared(self, dtype: Any, engine: Engine) -> Any:
        """The topics as documents of a type need them."""
        loss = self._loss()
        return prepared(self, dtype, loss, lambda components: loss.fold_in(components, dtype, engine))

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the loss that the topics explain.

        At most 1: 1 - ||X - WC||^2 / ||X||^2 for models with squared loss; for the others, the same with the
        divergence of X from WC and from independence of documents and terms. Zero if there is nothing to
        explain.

        Use it to compare fits of the same size, such as two starts. Do not choose the number of topics or a
        penalty by it: more topics and smaller penalties always explain more, even of held-out documents, so
        a grid search would pick the largest model. For the number of topics, use ``laconic.choose``; for
        anything else, score what you need the topics for, with ``laconic.evaluate.coherence`` for example.
        """
        _, loss, whole = self._explained(X, y)
        return min(1.0, 1 - loss / whole) if whole > 0 else 0.0

    def _read(self, X: Any) -> Any:
        """The documents of a fit, checked, in shards."""
        if not isinstance(X, Shards):
            return Shards.whole(self._check_matrix(X, reset=True))
        for number, shard in enumerate(X):
            if number > 0 and isinstance(shard, StoredShard):
                # whoever loads it looks at it
                continue
            matrix = shard.X
            checked = self._check_matrix(matrix, reset=number == 0)
            if checked.dtype != matrix.dtype or not matrix.has_canonical_format:
                raise ValueError("shards must have canonical matrices of float32 or float64")
        return X

    def _hash(self, data: Any) -> str:
        """Tells whether another fit has seen the same data."""
        return str(data.hash())

    def _check_matrix(self, X: Any, *, reset: bool) -> csr_array:
        return checked_matrix(self, X, reset=reset)

    def _check_new(self, X: Any) -> csr_array:
        """The matrix of documents that are to be folded in."""
        if not self.fitted:
            check_is_fitted(self, "components_")
        X = self._check_matrix(X, reset=False)
        if X.shape[1] != self.components_.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the topics have {self.components_.shape[1]}")
        return X

    def _forget(self) -> None:
        """Drop what an earlier fit found: if this one fails, there is no model, rather than half of each."""
        forget(self)
        for name in [name for name in vars(self) if name.endswith("_") and not name.endswith("__")]:
            delattr(self, name)

    def _engine(self) -> Engine:
        return Threads(self.n_jobs)

    def _watching(self, callback: Callback | None) -> AbstractContextManager[Callback | None]:
        """The caller's callback; without one, a progress display if `verbose` asks for it."""
        if callback is not None or not self.verbose:
            return nullcontext(callback)
        return ProgressDisplay(title=type(self).__name__)

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the topics, or scikit-learn's diagram of a model that has none yet."""
        return model_html(self) if self.fitted else super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same with the text beside it; scikit-learn's setting `display` says whether there is HTML."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return shown | {"text/html": self._repr_html_inner()} if "text/html" in shown else shown

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.traits.nonnegative
        tags.target_tags.required = self.traits.classes
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def fitted(self) -> bool:
        """Whether there are topics."""
        return "components_" in vars(self)

    @property
    def modalities(self) -> tuple[str, ...]:
        """The names of the modalities that the model was fitted to; empty if there is only one."""
        return ()

    @property
    def topic_owners(self) -> list[str]:
        """The class of every topic, or "shared"; empty, if the model has no classes."""
        return []

    @property
    def owner_numbers(self) -> NDArray[np.int64]:
        """The number of the class that owns each topic; -1 for those of all documents."""
        return np.full(self._n_topics, -1)

    def of_owners(self, owners: NDArray[np.int64]) -> Self:
        """The same model, not fitted yet, with a topic for each of these owners (as `owner_numbers`)."""
        again: Self = clone(self).set_params(n_components=len(owners))
        return again

    def in_order(self, owners: NDArray[np.int64]) -> NDArray[np.int64]:
        """Topics of these owners in the order in which a fit finds them."""
        return np.arange(len(owners))

    def take_topics(self, components: Any, owners: NDArray[np.int64]) -> None:
        """Have these topics, of these owners, in place of those found."""
        forget(self)
        self.components_ = components

    @property
    def topic_shares(self) -> NDArray[np.float64] | None:
        """The part of every topic in the documents of the fit, where their weights are kept as mixtures."""
        return None

    @property
    def topic_penalty(self) -> float | None:
        """The weight of the penalty that takes words from topics, as it was used; None without one."""
        return None

    @property
    def word_budget(self) -> int | None:
        """How many words a topic may have; None without a limit."""
        return None

    def components_of(self, modality: str | None = None) -> Factor:
        """The topics over the terms of a modality: its columns of ``components_``.

        Parameters
        ----------
        modality : str, optional
            One of `modalities`; by default all terms.

        Returns
        -------
        csr_array or ndarray of shape (n_topics, n_terms of the modality)
        """
        columns = self._columns(modality)
        return self.components_[:, columns.start : columns.stop] if self.modalities else self.components_

    def n_terms_of(self, modality: str | None = None) -> int:
        """The number of terms that the model was fitted on.

        Parameters
        ----------
        modality : str, optional
            One of `modalities`; by default all terms.
        """
        return self._columns(modality).size

    def term_names(self, modality: str | None = None) -> NDArray[np.object_] | None:
        """The names of the columns that the model was fitted on, if these had names.

        Parameters
        ----------
        modality : str, optional
            One of `modalities`; by default all terms.

        Returns
        -------
        ndarray of str, or None
        """
        self._columns(modality)
        return vars(self).get("feature_names_in_")

    def _columns(self, modality: str | None) -> Block:
        """The columns of a modality, or all."""
        if not self.fitted:
            check_is_fitted(self, "components_")
        if modality is not None:
            raise ValueError(
                f"modality={modality!r} is not known: {type(self).__name__} has only one modality, so leave "
                "it out"
            )
        return Block(0, int(self.n_features_in_))

    @property
    def n_alive_(self) -> int:
        """Number of topics with at least one word."""
        return int(np.count_nonzero(self.topic_sizes_))

    @property
    def topic_sizes_(self) -> NDArray[np.int64]:
        """Number of words (non-zero weights) of every topic."""
        check_is_fitted(self, "components_")
        if issparse(self.components_):
            return np.asarray(np.diff(self.components_.indptr), np.int64)
        return np.asarray(np.count_nonzero(self.components_, axis=1), np.int64)

    @property
    def density_(self) -> float:
        """Share of non-zero weights in ``components_``."""
        sizes = self.topic_sizes_
        return float(sizes.sum() / max(1, sizes.size * self.components_.shape[1]))

    @property
    def n_short_(self) -> int:
        """Number of living topics with fewer than five words."""
        sizes = self.topic_sizes_
        return int(np.count_nonzero((sizes > 0) & (sizes < SHORT_TOPIC)))

    @property
    def max_cosine_(self) -> float:
        """Largest absolute cosine between two topics; near 1, two topics say the same."""
        check_is_fitted(self, "components_")
        gram = self.components_ @ self.components_.T
        gram = np.asarray(gram.toarray() if issparse(gram) else gram, np.float64)
        norms = np.sqrt(np.diagonal(gram))
        gram /= np.outer(np.where(norms > 0, norms, 1), np.where(norms > 0, norms, 1))
        np.fill_diagonal(gram, 0)
        return float(min(1.0, np.abs(gram).max(initial=0)))

    @property
    def distinct_terms_(self) -> float:
        """Share of distinct words among all words of all topics: 1 if no two topics share a word."""
        check_is_fitted(self, "components_")
        total = int(self.topic_sizes_.sum())
        if issparse(self.components_):
            used = np.unique(self.components_.indices).size
        else:
            used = int(np.count_nonzero(self.components_.any(axis=0)))
        return used / total if total else 0.0

    def topics(
        self,
        vocabulary: Sequence[str] | Floats | None = None,
        n_terms: int | None = 10,
        *,
        distinct: bool = False,
    ) -> list[list[tuple[str, float]]]:
        """The words of every topic, largest absolute weight first.

        Parameters
        ----------
        vocabulary : sequence of str, optional
            The name of every column, or something that has them: a corpus, a bundle, or a vectoriser of
            laconic or scikit-learn. By default, the feature names seen in `fit`, or else numbers.
        n_terms : int or None
            At most this many words of each topic, or all; words without weight are not listed.
        distinct : bool, default=False
            Whether to list each word only in the topic where it is strongest (for its share of the topic's
            length). The lists then do not repeat each other; the topics themselves stay what they are.

        Returns
        -------
        list of list of (str, float)
            Entry k belongs to row k of ``components_``, even if it has no words, so topic numbers never
            change.
        """
        check_is_fitted(self, "components_")
        names = self._term_names(vocabulary)
        found = (self.components_[[k]] for k in range(self.components_.shape[0]))
        rows = (
            (row.indices, row.data) if issparse(row) else (np.flatnonzero(row), row[row != 0])
            for row in found
        )
        return [
            by_weight(terms, weights, names, n_terms)
            for terms, weights in (strongest_only(list(rows)) if distinct else rows)
        ]

    def _term_names(self, vocabulary: Sequence[str] | Floats | None) -> Any:
        if vocabulary is None:
            names = self.term_names()
            return np.arange(self.n_features_in_) if names is None else names
        vocabulary = names_in(vocabulary)
        if len(vocabulary) != self.n_features_in_:
            raise ValueError(
                f"The vocabulary has {len(vocabulary)} terms, but the model was fitted on "
                f"{self.n_features_in_}: it is not the vocabulary of this model."
            )
        return vocabulary

    def inverse_transform(self, X: Any) -> Weights:
        """The documents that weights describe: W C (sparse if the topics are).

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_components)

        Returns
        -------
        csr_array or ndarray of shape (n_documents, n_terms)
        """
        check_is_fitted(self, "components_")
        W = csr_array(X) if issparse(X) or issparse(self.components_) else np.asarray(X)
        if W.ndim != 2 or W.shape[1] != self.components_.shape[0]:
            raise ValueError(
                f"Weights of shape {W.shape} do not fit {self.components_.shape[0]} topics: "
                "give one row per document and one column per topic."
            )
        return W @ self.components_

    def _output(self, W: Any, sparse: bool) -> Weights:
        """Sparse weights stay sparse, except for containers that hold dense columns only."""
        default = get_config()["transform_output"]
        if getattr(self, "_sklearn_output_config", {}).get("transform", default) != "default":
            return W.toarray() if issparse(W) else W
        return compressed(W) if sparse and not issparse(W) else W

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as a directory (readable, checksummed, no pickle); see `laconic.load`.

        Parameters
        ----------
        path : path-like
            A new or empty directory, or that of a saved model, which is replaced.

        Warns
        -----
        UserWarning
            If the model does not know the words of its columns (it does if `fit` was given a data frame).
            `Bundle` saves a model with the vectoriser that made its input.
        """
        from laconic.bundle import Bundle

        Bundle(self).save(path)
        if self.term_names() is None:
            warnings.warn(
                "the model was saved without a vocabulary, so its topics will consist of column numbers: to "
                "keep the words and to read texts, save Bundle(model, corpus.vectorizer), or fit a data "
                "frame",
                stacklevel=2,
            )

    @property
    def _n_topics(self) -> int:
        return self.n_components

    def _fitted_state(self) -> dict[str, Any]:
        """What a bundle stores besides the parameters."""
        check_is_fitted(self, "components_")
        if self.components_.shape[0] != self._n_topics:
            raise ValueError(
                f"the parameters now ask for {self._n_topics} topics, but the fit found "
                f"{self.components_.shape[0]}: restore them or fit again, so that the saved model can be "
                "loaded"
            )
        return fitted_state(self, self._schema)

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take over a stored state; raises ValueError if its parts do not fit each other."""
        check_parameters(self)
        restore(self, self._schema, state)
        self._anchoring(self.components_)
        return self
