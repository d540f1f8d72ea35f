"""What every topic model has in common for its users: checked input, readable topics, a place on disk."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from laconic.checks import check_choice, check_number
from laconic.engines import Threads, even_blocks
from laconic.models.factor import Factor
from laconic.models.loop import Callback, Trace
from laconic.progress import ProgressDisplay

Floats = NDArray[Any]

SHORT_TOPIC = 5
"""Topics of fewer words than this are reported: they rarely say anything."""


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all models. Documents are rows; ``components_`` is topics × terms.

    A model adds ``__init__`` (which only stores), `_fit_topics` and `_fold_in`. See CONTRIBUTING for the
    whole recipe.
    """

    wants: ClassVar[str] = "weights"
    """What X best holds: "weights" (tf-idf), or "counts"."""
    _nonnegative_input: ClassVar[bool] = False
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

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Find the topics of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Best weighted by tf-idf with rows of length one; counts for models that want counts.
        y : ignored
        callback : callable, optional
            Called with a `Progress` after every half step; returning True ends the fit after the iteration,
            with the topics found so far.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        self._forget()
        X = self._check_matrix(X, reset=True)
        with self._engine() as engine, self._watching(callback) as watch:
            components, trace = self._fit_topics(X, y, engine, watch)
        self._conclude(components, trace)
        self.data_hash_ = data_hash(X)
        return self

    def _fit_topics(
        self, X: csr_array, y: Any, engine: Threads, watch: Callback | None
    ) -> tuple[Factor, Trace]:
        """Find topics × terms; tells how it went."""
        raise NotImplementedError

    def _conclude(self, components: Factor, trace: Trace) -> None:
        """Store what a fit has found."""
        if not trace.converged and not trace.interrupted:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations before the "
                f"decrease fell below tol={self.tol}: raise max_iter, or tol if the topics are good enough.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.components_ = components
        self.objective_history_ = np.array(trace.history)
        self.n_iter_ = len(trace.history)

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, Integral, 1)
        check_number("tol", self.tol, Real, 0)
        if isinstance(self.init, str):
            check_choice("init", self.init, self._starts)

    def transform(self, X: Any) -> Factor:
        """The weights of documents for the topics found: the document half step with the topics fixed.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)

        Returns
        -------
        ndarray or csr_array of shape (n_documents, n_components)
            Sparse where weights have exact zeros (dense if `set_output` asks for data frames).
            A document without known words has only zeros, or, where weights sum to one, all topics equally.
        """
        W, _, _ = self._fold_in(X)
        return self._output(W, sparse=self._sparse_weights)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Factor:
        """The same as ``fit(X, y).transform(X)``."""
        return self.fit(X, y, **fit_params).transform(X)

    def _fold_in(self, X: Any, y: Any = None) -> tuple[Any, float, float]:
        """The weights of documents, the loss, and the loss of a model without topics."""
        raise NotImplementedError

    @property
    def _sparse_weights(self) -> bool:
        """Whether documents' weights have exact zeros."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the loss that the topics take away.

        Higher is better, at most 1, so that a grid search can compare numbers of topics and penalties on
        held-out documents: 1 - ||X - WC||^2 / ||X||^2 for models with squared loss; for the others, the same
        with the divergence of X from WC and from independence of documents and terms. Zero if there is
        nothing to explain.
        """
        _, loss, whole = self._fold_in(X, y)
        return min(1.0, 1 - loss / whole) if whole > 0 else 0.0

    def _check_matrix(self, X: Any, *, reset: bool) -> csr_array:
        """Finite, two-dimensional, float32 or float64, canonical CSR; the caller's X is never changed."""
        if isinstance(getattr(X, "X", None), csr_array):
            raise TypeError("This is a corpus; pass its matrix: corpus.X, or corpus.counts.")
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=reset,
            accept_large_sparse=True,
        )
        X = csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if self._nonnegative_input:
            check_non_negative(X, type(self).__name__)
        return X

    def _check_new(self, X: Any) -> csr_array:
        """The matrix of documents that are to be folded in."""
        check_is_fitted(self, "components_")
        X = self._check_matrix(X, reset=False)
        if X.shape[1] != self.components_.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the topics have {self.components_.shape[1]}")
        return X

    def _forget(self) -> None:
        """Drop what an earlier fit found: if this one fails, there is no model, rather than half of each."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.endswith("__")]:
            delattr(self, name)

    def _engine(self) -> Threads:
        return Threads(self.n_jobs)

    def _watching(self, callback: Callback | None) -> AbstractContextManager[Callback | None]:
        """The caller's callback; without one, a progress display if `verbose` asks for it."""
        if callback is not None or not self.verbose:
            return nullcontext(callback)
        return ProgressDisplay()

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._nonnegative_input
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

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
        """Largest absolute cosine between two topics: near 1, the model says something twice."""
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
        self, vocabulary: Sequence[str] | Floats | None = None, n_terms: int | None = 10
    ) -> list[list[tuple[str, float]]]:
        """The words of every topic, largest absolute weight first.

        Parameters
        ----------
        vocabulary : sequence of str, optional
            The name of every column. Without it, the feature names seen in `fit` are used, or else numbers.
        n_terms : int or None
            At most this many words of each topic, or all; words without weight are not listed.

        Returns
        -------
        list of list of (str, float)
            Entry k belongs to row k of ``components_``, alive or not: the numbers of topics never move.
        """
        check_is_fitted(self, "components_")
        names = self._term_names(vocabulary)
        listed = []
        for k in range(self.components_.shape[0]):
            row = self.components_[[k]]
            terms, weights = (
                (row.indices, row.data) if issparse(row) else (np.flatnonzero(row), row[row != 0])
            )
            # stable: equal weights stay in the vocabulary's order
            order = np.argsort(-np.abs(weights), kind="stable")
            order = order if n_terms is None else order[: max(0, n_terms)]
            listed.append([(str(names[terms[j]]), float(weights[j])) for j in order])
        return listed

    def _term_names(self, vocabulary: Sequence[str] | Floats | None) -> Any:
        if vocabulary is None:
            names = getattr(self, "feature_names_in_", None)
            return np.arange(self.n_features_in_) if names is None else names
        if len(vocabulary) != self.n_features_in_:
            raise ValueError(
                f"The vocabulary has {len(vocabulary)} terms, but the model was fitted on "
                f"{self.n_features_in_}: it is not the vocabulary of this model."
            )
        return vocabulary

    def inverse_transform(self, X: Any) -> Factor:
        """The documents that weights stand for: W C (sparse where the topics are).

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

    def _output(self, W: Any, sparse: bool) -> Factor:
        """Sparse weights stay sparse, except for containers that hold dense columns only."""
        default = get_config()["transform_output"]
        if getattr(self, "_sklearn_output_config", {}).get("transform", default) != "default":
            return W.toarray() if issparse(W) else W
        return csr_array(W) if sparse else W

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as a directory (readable, checksummed, no pickle); see `laconic.load`."""
        from laconic.bundle import Bundle

        Bundle(self).save(path)

    @property
    def _n_topics(self) -> int:
        return self.n_components

    def _precision(self, dtype: Any) -> float:
        """How exactly rows are solved: in step with `tol`, within the limits of the type."""
        return float(np.clip(10 * self.tol, 32 * np.finfo(dtype).eps, 1e-4))

    def _fitted_state(self) -> dict[str, Any]:
        """What a bundle stores besides the parameters."""
        check_is_fitted(self, "components_")
        if self.components_.shape[0] != self._n_topics:
            raise ValueError(
                f"the parameters now ask for {self._n_topics} topics, but {self.components_.shape[0]} were "
                "found: set them back or fit again, so that the saved model can be loaded"
            )
        state = {
            "components": self.components_,
            "objective_history": self.objective_history_,
            "n_iter": self.n_iter_,
            "n_features_in": self.n_features_in_,
            "data_hash": self.data_hash_,
        }
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            state["feature_names_in"] = [str(name) for name in names]
        return state

    def _restore(self, state: dict[str, Any]) -> Self:
        """Take over a stored state; raises ValueError if its parts do not fit each other."""
        components, n_terms = state["components"], state["n_features_in"]
        if components.ndim != 2 or components.shape[1] != n_terms:
            raise ValueError(f"components of shape {components.shape} do not have {n_terms} columns")
        if components.dtype not in (np.float32, np.float64):
            raise ValueError(f"components are {components.dtype}, not float32 or float64")
        history, n_iter = state["objective_history"], state["n_iter"]
        if history.ndim != 1 or len(history) != n_iter:
            raise ValueError(f"a history of shape {history.shape} does not fit {n_iter} iterations")
        names = state.get("feature_names_in")
        if names is not None:
            if len(names) != n_terms:
                raise ValueError(f"{len(names)} feature names do not fit {n_terms} terms")
            self.feature_names_in_ = np.asarray(names, object)
        self.components_, self.objective_history_ = components, history
        self.n_iter_, self.n_features_in_ = int(n_iter), int(n_terms)
        if not isinstance(state["data_hash"], str):
            raise ValueError(f"a data hash is text, not {state['data_hash']!r}")  # noqa: TRY004
        self.data_hash_ = state["data_hash"]
        self._check_parameters()
        if components.shape[0] != self._n_topics:
            raise ValueError(f"components have {components.shape[0]} rows, not {self._n_topics}")
        return self


def data_hash(X: csr_array) -> str:
    """SHA-256 of a canonical matrix: two fits with the same one have seen the same data.

    >>> data_hash(csr_array([[0.0, 1.0]])) == data_hash(csr_array([[0.0, 1.0]]))
    True
    """
    digest = hashlib.sha256(repr((X.shape, X.dtype.str)).encode())
    for part in (X.indptr, X.indices, X.data):
        # indices of either width name the same places
        dtype = part.dtype if part is X.data else np.int64
        for block in even_blocks(part.size, 1 << 20):
            digest.update(np.ascontiguousarray(part[block.start : block.stop], dtype).data)
    return digest.hexdigest()
