"""How well the weights of documents tell their labels apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from laconic.evaluate.classification import classification_accuracy
from laconic.evaluate.clustering import kmeans_scores
from laconic.words import plural

# A classifier of more documents takes minutes, and so do larger values of C.
MOST_LABELLED = 5_000
N_SPLITS = 3
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
FEWEST = 2 * N_SPLITS
"""Documents that a label has to have: each split has some in both parts and in the folds."""


@dataclass(frozen=True)
class LabelScores:
    """What `label_scores` found.

    Attributes
    ----------
    labels, labelled_documents : int
        How many labels and documents were used.
    clustering_accuracy, clustering_nmi : float
        For k-means with as many clusters as labels.
    svm_accuracy, svm_accuracy_std : float
        For a linear support vector machine: the mean over random splits, and the standard deviation.
    """

    labels: int
    labelled_documents: int
    clustering_accuracy: float
    clustering_nmi: float
    svm_accuracy: float
    svm_accuracy_std: float

    def rows(self) -> list[list[str]]:
        """The rows of a table: a measure, its value, and what it is."""
        documents = plural(self.labelled_documents, "document")
        clusters = f"k-means of unit rows, {self.labels} clusters of {documents}"
        machine = f"linear SVM, {N_SPLITS} random splits 2:1, sd {self.svm_accuracy_std:.2%}"
        return [
            ["clustering accuracy", f"{self.clustering_accuracy:.2%}", clusters],
            ["clustering NMI", f"{self.clustering_nmi:.4f}", "divided by the larger entropy"],
            ["classification accuracy", f"{self.svm_accuracy:.2%}", machine],
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as values that JSON can hold."""
        return asdict(self)


def label_scores(
    weights: Any,
    labels: Iterable[object],
    *,
    random_state: int = 0,
    say: Callable[[str], Any] = str,
) -> LabelScores | None:
    """Measure how well the weights of documents tell their labels apart: by clusters, and by a classifier.

    Parameters
    ----------
    weights : array or sparse array of shape (n_documents, n_topics)
        From a model that has not seen the labels.
    labels : iterable of str
        One for each document. Labels with fewer than 6 documents are left out, and if there are more than
        5,000 documents, 5,000 are drawn at random.
    random_state : int, default=0
        Seed of the sample, the clusters and the splits.
    say : callable, optional
        Called with a description of the next step.

    Returns
    -------
    LabelScores or None
        None if fewer than two labels have enough documents.

    Examples
    --------
    >>> scores = label_scores([[1, 0], [0, 1]] * 6, ["sea", "sky"] * 6)
    >>> scores.clustering_accuracy, scores.svm_accuracy
    (1.0, 1.0)
    >>> label_scores([[1, 0], [0, 1]], ["sea", "sky"]) is None
    True
    """
    named = np.asarray(list(labels), str)
    names, sizes = np.unique(named, return_counts=True)
    large = names[sizes >= FEWEST]
    if len(large) < 2:
        return None
    kept = np.flatnonzero(np.isin(named, large))
    if len(kept) > MOST_LABELLED:
        kept = np.sort(np.random.default_rng(random_state).choice(kept, MOST_LABELLED, replace=False))
    weights = (weights if hasattr(weights, "shape") else np.asarray(weights))[kept]
    say("clusters of the documents")
    # By their length alone, documents of many topics and of few words would be far apart.
    clusters = kmeans_scores(normalize(weights), named[kept], random_state=random_state)
    say("classifying the documents")
    classified = classification_accuracy(
        weights, named[kept], N_SPLITS, costs=COSTS, random_state=random_state
    )
    return LabelScores(
        labels=len(set(named[kept])),
        labelled_documents=len(kept),
        clustering_accuracy=clusters["accuracy"],
        clustering_nmi=clusters["nmi"],
        svm_accuracy=classified.mean,
        svm_accuracy_std=classified.std,
    )
