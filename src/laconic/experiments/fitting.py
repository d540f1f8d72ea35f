"""What experiments do with models: a fixed number of iterations, and clusters of the weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from laconic.evaluate import clustering_accuracy, clustering_nmi
from laconic.experiments.parts import Results


@contextmanager
def iterations_given() -> Iterator[None]:
    """Fits end when their iterations are used up: that is the protocol here, and nothing to warn about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def cluster(points: Any, n_clusters: int, seed: int) -> NDArray[Any]:
    """Clusters by k-means: the best of ten starts."""
    with warnings.catch_warnings():
        # Links make weights equal, so that there may be fewer different points than clusters.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return np.asarray(KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(points))


def cluster_scores(points: Any, labels: NDArray[Any], seed: int) -> Results:
    """Accuracy and NMI of as many clusters as there are classes."""
    clusters = cluster(points, len(np.unique(labels)), seed)
    return {"accuracy": clustering_accuracy(labels, clusters), "nmi": clustering_nmi(labels, clusters)}


def summary(runs: Sequence[Results]) -> Results:
    """Means and standard deviations of what several runs measured.

    Examples
    --------
    >>> summary([{"accuracy": 0.5}, {"accuracy": 0.7}])
    {'accuracy': 0.6, 'accuracy_sd': 0.1, 'runs': 2}
    """
    measured: Results = {}
    for key in runs[0]:
        values = [run[key] for run in runs]
        measured |= {key: round(float(np.mean(values)), 6), f"{key}_sd": round(float(np.std(values)), 6)}
    return measured | {"runs": len(runs)}
