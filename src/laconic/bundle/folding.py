"""New documents folded in batch by batch: here, or on a cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from laconic.bundle.reading import BATCH, Batch
from laconic.engines.blocks import Block, even_blocks

if TYPE_CHECKING:
    from laconic.corpus import Corpus
    from laconic.engines.dask import DaskEngine
    from laconic.engines.stored import Collection
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
        classes = model.predict(batch.X) if batch.labels is None else model.classes_of(batch.X, batch.labels)
        options = {**options, "y": classes}
    return Folded(batch.ids, model.transform(batch.X, **options), batch.kept, batch.empty, classes)


class StoredFolding(NamedTuple):
    """The same for documents in files, which whoever folds them in loads."""

    folding: Folding
    collection: Collection


class StoredBatch(NamedTuple):
    """The numbers of some documents in files and, where they are known, their labels."""

    rows: Block
    labels: NDArray[Any] | None = None


def fold_stored(stored: StoredFolding, batch: StoredBatch) -> Folded:
    """The weights of some documents that are loaded here; their ids are not.

    Parameters
    ----------
    stored : StoredFolding
    batch : StoredBatch
    """
    X = stored.collection.load(np.arange(*batch.rows))
    return fold(stored.folding, Batch((), X, labels=batch.labels))


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
    return engine.flow(fold, _alone(folding), batches)


def fold_collection(
    folding: Folding,
    collection: Collection,
    ids: NDArray[Any],
    engine: DaskEngine,
    labels: NDArray[Any] | None = None,
) -> Iterator[Folded]:
    """The weights of all documents of a collection, in their order, on a cluster: its workers load them.

    Parameters
    ----------
    folding : Folding
    collection : Collection
        Of rows as the model takes them.
    ids : ndarray of str
        One for each document.
    engine : DaskEngine
    labels : ndarray of str, optional
        Their classes, where these are known.
    """
    blocks = even_blocks(len(ids), BATCH)
    parts = (StoredBatch(rows, None if labels is None else labels[rows.start : rows.stop]) for rows in blocks)
    found = engine.flow(fold_stored, StoredFolding(_alone(folding), collection), parts)
    for rows, one in zip(blocks, found, strict=True):
        yield one._replace(ids=ids[rows.start : rows.stop].tolist())


def weights_from(model: TopicModel, corpus: Corpus, engine: Any, modality: str | None = None) -> Any:
    """The weights of the documents of a corpus, folded in on a cluster.

    Parameters
    ----------
    model : TopicModel
        Fitted.
    corpus : Corpus
        With the columns of the model; if it was loaded, workers load the documents by its path.
    engine : DaskEngine
    modality : str, optional
        Of the corpus, for a model of several.
    """
    folding = Folding(model, {} if modality is None else {"modality": modality})
    weigh = corpus.vectorizer.weigher()
    labels = corpus.labels if model.traits.classes else None
    if corpus.stored is not None:
        collection = corpus.stored if model.wants == "counts" else corpus.stored.transformed(weigh)
        found = fold_collection(folding, collection, corpus.ids, engine, labels)
    else:
        batches = (
            Batch(
                (),
                model.rows(corpus.counts[rows.start : rows.stop], weigh),
                labels=None if labels is None else labels[rows.start : rows.stop],
            )
            for rows in even_blocks(corpus.shape[0], BATCH)
        )
        found = fold_all(folding, batches, engine)
    parts = [one.weights for one in found]
    return csr_array(vstack(parts, "csr")) if issparse(parts[0]) else np.concatenate(parts)


def _alone(folding: Folding) -> Folding:
    """For a worker, which has one thread for it."""
    model: Any = copy.copy(folding.model)
    model.n_jobs = 1
    return folding._replace(model=model)
