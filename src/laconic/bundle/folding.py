"""New documents folded in batch by batch: here, or on a cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.bundle.reading import Batch

if TYPE_CHECKING:
    from laconic.engines.dask import DaskEngine
    from laconic.models.base import TopicModel


class Folding(NamedTuple):
    """A model, and what its `transform` is told of documents."""

    model: TopicModel
    options: dict[str, Any]

    @classmethod
    def of(cls, model: TopicModel, columns: Mapping[str, str] = {}) -> Folding:
        """For documents of these columns of texts, by modality."""
        return cls(model, {"modality": next(iter(columns))} if len(columns) == 1 else {})


class Folded(NamedTuple):
    """Some documents: ids, weights, what is kept of them, which have no known word, and their classes."""

    ids: Sequence[str]
    weights: Any
    kept: Sequence[Sequence[object]]
    empty: NDArray[np.bool_]
    classes: NDArray[Any] | None


def fold(folding: Folding, batch: Batch) -> Folded:
    """The weights of some documents; a model with classes predicts theirs first.

    Parameters
    ----------
    folding : Folding
    batch : Batch
    """
    model: Any = folding.model
    options, classes = folding.options, None
    if model.traits.classes:
        classes = model.predict(batch.X)
        options = {**options, "y": classes}
    return Folded(batch.ids, model.transform(batch.X, **options), batch.kept, batch.empty, classes)


def fold_all(
    folding: Folding, batches: Iterable[Batch], engine: DaskEngine | None = None
) -> Iterator[Folded]:
    """The weights of documents as they come, in their order; with an engine, on its cluster.

    Parameters
    ----------
    folding : Folding
    batches : iterable of Batch
    engine : DaskEngine, optional
    """
    if engine is None:
        return (fold(folding, batch) for batch in batches)
    alone: Any = copy.copy(folding.model)
    alone.n_jobs = 1
    return engine.flow(fold, folding._replace(model=alone), batches)
