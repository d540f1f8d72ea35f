"""Batches: models that go on with more documents, without those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from laconic.checks import check_number
from laconic.engines import Engine, Shards
from laconic.errors import Parameter, ParameterError
from laconic.losses.divergence.likelihood import Likelihood
from laconic.losses.loop import Callback, Patience
from laconic.losses.squared.problems import Regularised
from laconic.losses.squared.seen import Seen
from laconic.losses.starts import Start
from laconic.models.alone import one_at_a_time
from laconic.models.base import TopicModel
from laconic.models.parameters import check_parameters
from laconic.models.state import Field, number

_PARTS = ("grams", "products", "norms")


def _stored(seen: Any) -> dict[str, Any]:
    """What is stored of documents that are gone."""
    if isinstance(seen, Seen):
        return {name: list(getattr(seen, name)) for name in _PARTS} | {"energy": float(seen.energy)}
    return {"pools": seen}


def _floats(value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype != dtype:
        raise ValueError(f"it is no array of shape {shape} and type {np.dtype(dtype)}")
    if not np.isfinite(value).all():
        raise ValueError("numbers are not finite")
    return value


def _checked(value: Any, model: Any) -> Any:
    """Sums over documents that fit the topics of a model."""
    if not isinstance(value, dict):
        raise ValueError("it is no mapping")  # noqa: TRY004
    n_terms, dtype = model.n_features_in_, model.components_.dtype
    if model.wants == "counts":
        return _pools(value, n_terms, model._n_topics)
    if value.keys() != {*_PARTS, "energy"}:
        raise ValueError("parts are missing, or strange")
    widths = model._batch_widths()
    for name in _PARTS:
        if not isinstance(value[name], list) or len(value[name]) != len(widths):
            raise ValueError(f"{name} are not one for each class")
    energy = number(0)(value["energy"], model)
    return Seen(
        [_floats(each, (n, n), np.float64) for each, n in zip(value["grams"], widths, strict=True)],
        [_floats(each, (n_terms, n), dtype) for each, n in zip(value["products"], widths, strict=True)],
        [_floats(each, (n,), np.float64) for each, n in zip(value["norms"], widths, strict=True)],
        energy,
    )


def _pools(value: dict[str, Any], n_terms: int, n_topics: int) -> csr_array:
    """Pools of documents (pools × terms)."""
    if value.keys() == {"counts"}:
        # of an earlier version: what each topic was expected to have is a pool of its own
        pools = csr_array(_floats(value["counts"], (n_terms, n_topics), np.float64).T)
    elif value.keys() == {"pools"}:
        pools = value["pools"]
    else:
        raise ValueError("it has no pools of documents")
    if not isinstance(pools, csr_array) or pools.shape[1] != n_terms or pools.dtype != np.float64:
        raise ValueError(f"pools are no sparse matrix of numbers with {n_terms} columns")
    if pools.nnz and not (np.isfinite(pools.data).all() and pools.data.min() >= 0):
        raise ValueError("counts are negative or not finite")
    return pools


SEEN = (
    Field("seen", _checked, optional=True, stored=_stored),
    Field("n_documents_seen", number(0, kind=Integral), optional=True),
)
"""What a model of batches keeps of documents that are gone."""


class BatchModel(TopicModel):
    """Base of the models that can be fitted batch by batch."""

    seen_: Any
    n_documents_seen_: int

    @one_at_a_time
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        decay: float = 1.0,
        engine: Engine | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Continue the fit with another batch of documents, without the earlier ones.

        Only sums over the earlier documents are kept: for the squared loss W'W and W'X with the weights W
        they had, for the divergence the words of documents that mixed the topics alike, in some hundred
        pools. With squared loss, the objective is that of all documents, the earlier ones with these weights.
        With divergence, it is that of the batch and the pools, each of which is one document and gets new
        weights as topics change. Topics keep their numbers.

        The first batch is fitted as in `fit`; every batch is iterated until `tol` or `max_iter`. After
        `fit`, which keeps no sums, a batch starts from the topics found, but nothing holds them there.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_documents, n_terms)
            Preferably a random sample: the topics of the first batch are the start for the others.
        y : array-like of shape (n_documents,), optional
            The class of every document, for a model that has classes. The first batch must have documents of
            all classes.
        decay : float in [0, 1], default=1.0
            How much earlier documents count relative to those of this batch. 1 forgets nothing, so the
            order of shuffled batches hardly matters; less follows a changing stream (with n documents in a
            batch, about n / (1 - decay) of them are remembered).
        engine, callback : optional
            As in `fit`.

        Returns
        -------
        self
            The model of all documents so far. ``objective_history_`` is that of the last batch, and
            ``n_documents_seen_`` counts all documents.

        Examples
        --------
        >>> import numpy as np
        >>> from laconic import NMF
        >>> X = np.random.default_rng(0).poisson(0.5, (60, 12))
        >>> model = NMF(n_components=3, random_state=0)
        >>> for batch in np.split(X, 3):
        ...     model = model.partial_fit(batch)
        >>> model.n_documents_seen_
        60
        """
        check_parameters(self)
        check_number("decay", decay, Real, 0, 1)
        loss = self._batch_loss()
        first = not self.fitted
        matrix = self._check_matrix(X, reset=first)
        if not first:
            self._check_unchanged()
            matrix = matrix.astype(self.components_.dtype, copy=False)
        data = Shards.whole(matrix)
        known = self._batch_given(data, y) | self._anchoring(data)
        seen = getattr(self, "seen_", None)
        if seen is not None:
            seen = seen.faded(decay) if isinstance(seen, Seen) else decay * seen
        count, own = getattr(self, "n_documents_seen_", 0), data.hash()
        start = Start(self._start if first else self.components_, self.random_state)
        with engine or self._engine() as running, self._watching(callback) as watch:
            patience = Patience(self.max_iter, self.tol, watch)
            found = loss.fit(data, start, running, patience, seen=seen, remember=True, **known)
        # an iteration more or less in a batch is no reason to warn
        self._conclude(found._replace(trace=found.trace._replace(converged=True)))
        self.n_documents_seen_ = count + data.n_documents
        self.data_hash_ = own if first else sha256((self.data_hash_ + own).encode()).hexdigest()
        return self

    def _batch_loss(self) -> Any:
        """The problem of a batch; refuses those that know no batches."""
        loss: Any = self._loss()
        if getattr(self, "solver", None) == "mu" and self.wants == "weights":
            raise ParameterError(
                "partial_fit needs ",
                Parameter("solver", "cd"),
                ": multiplicative updates cannot add a word that the first batch lacks",
            )
        if isinstance(loss, Likelihood) and loss.over_documents is not None:
            raise ParameterError(
                "partial_fit cannot use ",
                Parameter("prior"),
                " over documents: they are not all available at once",
            )
        if getattr(self, "scale_by_class_size", False):
            raise ParameterError(
                "partial_fit cannot be combined with ",
                Parameter("scale_by_class_size", True),
                ": the sizes of the classes are not known until the last batch",
            )
        if isinstance(loss, Regularised) and self.fitted:
            settled = loss.alpha_topics if loss.alpha_topics is not None else vars(self).get("alpha_topics_")
            loss = replace(loss, alpha_topics=settled)
        return loss

    def _check_unchanged(self) -> None:
        """Refuse another number of topics than before."""
        if self._n_topics != self.components_.shape[0]:
            raise ParameterError(
                Parameter("n_components"),
                " has changed since the last batch: restore it, or start again with an unfitted model "
                "(sklearn's clone)",
            )

    def _batch_given(self, data: Any, y: Any) -> dict[str, Any]:
        """What the loss takes besides the documents."""
        return self._given(data, {"y": y} if self.traits.classes else {})

    def _batch_widths(self) -> Sequence[int]:
        """How many topics the documents of each class have."""
        return (self._n_topics,)
