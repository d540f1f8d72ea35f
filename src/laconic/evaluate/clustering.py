"""Clusters against classes. The numbers of clusters mean nothing, so all measures ignore them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


def kmeans_scores(points: Any, labels: ArrayLike, *, random_state: Any = None) -> dict[str, float]:
    """Accuracy and NMI of as many clusters as there are classes, by k-means: the best of ten starts.

    Parameters
    ----------
    points : array-like or sparse array of shape (n_documents, n_topics)
        Such as the weights of documents, best scaled to unit length unless their lengths mean something.
    labels : array-like of shape (n_documents,)
        Their classes.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Returns
    -------
    dict
        With ``"accuracy"`` and ``"nmi"``.

    Examples
    --------
    >>> kmeans_scores([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0]], ["a", "a", "b"], random_state=0)["accuracy"]
    1.0
    """
    with warnings.catch_warnings():
        # There may be fewer different points than clusters: linked documents can have equal weights.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        n_clusters = len(np.unique(np.asarray(labels)))
        clusters = KMeans(n_clusters, n_init=10, random_state=random_state).fit_predict(points)
    return {"accuracy": clustering_accuracy(labels, clusters), "nmi": clustering_nmi(labels, clusters)}


def clustering_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Share of documents whose cluster is that of their class, when classes and clusters are matched best.

    Every cluster is matched with at most one class and every class with at most one cluster, so that the
    share is as large as it can be (the Hungarian method).

    Parameters
    ----------
    labels : array-like of shape (n_documents,)
        Their classes.
    clusters : array-like of shape (n_documents,)
        Their clusters; there may be more or fewer than classes.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [7, 7, 3, 7])
    0.75
    """
    table = _contingency(labels, clusters)
    matched = table[linear_sum_assignment(table, maximize=True)]
    return float(matched.sum() / table.sum())


def clustering_nmi(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Mutual information of classes and clusters, as a share of the larger of their entropies.

    Parameters
    ----------
    labels, clusters : array-like of shape (n_documents,)
        Classes and clusters of the documents.

    Returns
    -------
    float
        From 0 (independent) to 1 (the same but for the names).

    Examples
    --------
    >>> round(clustering_nmi(["a", "a", "b", "b"], [7, 7, 3, 3]), 6)
    1.0
    >>> round(clustering_nmi(["a", "a", "b", "b"], [7, 3, 7, 3]), 6)
    0.0
    """
    return float(normalized_mutual_info_score(labels, clusters, average_method="max"))


def purity(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Share of documents that are of the most frequent class of their cluster.

    In contrast to accuracy, several clusters may stand for the same class: of more clusters than classes,
    such as the strongest topics of documents, this says whether each is about one class.

    Parameters
    ----------
    labels, clusters : array-like of shape (n_documents,)
        Classes and clusters of the documents.

    Returns
    -------
    float
        Above 0, and at most 1.

    Examples
    --------
    >>> purity(["a", "a", "b", "b"], [1, 2, 3, 3])
    1.0
    >>> purity(["a", "a", "b", "b"], [1, 1, 1, 1])
    0.5
    """
    table = _contingency(labels, clusters)
    return float(table.max(axis=0).sum() / table.sum())


def _contingency(labels: ArrayLike, clusters: ArrayLike) -> NDArray[np.int64]:
    """How many documents there are of each class (rows) in each cluster (columns)."""
    n_labels, n_clusters = len(np.asarray(labels)), len(np.asarray(clusters))
    if n_labels != n_clusters or n_labels == 0:
        raise ValueError(
            f"there are {n_labels} labels and {n_clusters} clusters; give one of each for every document, "
            "and at least one document"
        )
    return contingency_matrix(labels, clusters)
