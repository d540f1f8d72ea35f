"""The topic models that are compared, each on its grid."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD

from laconic.errors import InputWarning
from laconic.experiments.fitting import finite, iterations_given
from laconic.experiments.parts import SEED
from laconic.experiments.retrieval.collections import Collection
from laconic.experiments.retrieval.grids import Entry, entry
from laconic.models.base import TopicModel
from laconic.search.topics import TopicMatcher

# Rankings do not change any more long before the objective stops falling.
TOL = 1e-4
# What counts as a topic model: so large a share of the topics have words, and they have so many on average.
LIVING, WORDS = 0.9, 5


class Peer(TopicModel):
    """A fitted decomposition of scikit-learn, which can be asked what our own models can."""

    def __init__(self, decomposition: Any) -> None:
        self.decomposition = decomposition
        self.components_ = decomposition.components_
        self.n_features_in_ = decomposition.components_.shape[1]

    def transform(self, X: Any) -> Any:
        """What the decomposition makes of documents."""
        return finite(lambda: self.decomposition.transform(X))


def fitted_entry(
    collection: Collection,
    model: Any,
    settings: dict[str, Any],
    *,
    counts: bool = False,
    labels: Any = None,
    **matching: Any,
) -> Entry:
    """Fit a model, and see how its topics rank.

    Parameters
    ----------
    collection : Collection
    model : estimator
        Not fitted; with `labels`, a group model.
    settings : dict
        What sets it apart on the grid.
    counts : bool
        Whether it takes counts; weights otherwise.
    labels : array-like, optional
        Classes of the documents.
    **matching
        As in `TopicMatcher`.
    """
    documents = collection.corpus.counts if counts else collection.corpus.X
    with iterations_given():
        finite(lambda: (model.fit(documents) if labels is None else model.fit(documents, labels)).components_)
    return matched_entry(collection, model, settings, counts=counts, labels=labels, **matching)


def matched_entry(
    collection: Collection, model: Any, settings: dict[str, Any], *, counts: bool = False, **matching: Any
) -> Entry:
    """See how the topics of a fitted model rank; `matching` is as in `TopicMatcher`."""
    documents, queries = (
        (collection.corpus.counts, collection.counts) if counts else (collection.corpus.X, collection.rows)
    )
    ours = model if isinstance(model, TopicModel) else Peer(model)
    matcher = TopicMatcher(ours, documents, **matching)
    return entry(collection, settings, matcher.scores(queries), density_of(model.components_))


def lives(model: TopicModel) -> bool:
    """Whether the topics of a fitted model have words: nearly all of them, and more than a few.

    The blend of any other with term matching is hardly more than term matching.
    """
    sizes = model.topic_sizes_
    return bool(np.mean(sizes > 0) >= LIVING and np.mean(sizes) >= WORDS)


@contextmanager
def topics_may_be_lost() -> Iterator[None]:
    """On a grid of penalties, a model without topics is nothing to warn about: it does not count."""
    with iterations_given():
        warnings.filterwarnings("ignore", "no topic has a word", InputWarning)
        yield


def density_of(components: Any) -> float:
    """The share of weights that are not zero (the paper's average topic compactness).

    >>> density_of([[0.5, 0.0], [0.0, 0.0]])
    0.25
    """
    if issparse(components):
        return float(components.count_nonzero() / np.prod(components.shape))
    return float(np.mean(np.asarray(components) != 0))


def lsi_entries(collection: Collection, sizes: Sequence[int]) -> Iterator[Entry]:
    """LSI: the leading singular vectors, all numbers of them from one decomposition."""
    largest = TruncatedSVD(max(sizes), algorithm="arpack", random_state=SEED).fit(collection.corpus.X)
    for size in sizes:
        model = copy(largest)
        model.components_ = largest.components_[:size]
        yield matched_entry(collection, model, {"K": size}, similarity="cosine")


def lda(n_topics: int, n_iterations: int = 20) -> LatentDirichletAllocation:
    """scikit-learn's LDA by variational Bayes, in batch: online, its topics are less coherent here."""
    return LatentDirichletAllocation(
        n_topics, max_iter=n_iterations, max_doc_update_iter=30, random_state=SEED, n_jobs=1
    )
