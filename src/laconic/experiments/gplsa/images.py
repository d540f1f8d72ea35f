"""Images in clusters, by topics that follow a graph of neighbours: Tables 1 and 2 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.datasets.registry import ImagesName
from laconic.evaluate import kmeans_scores
from laconic.experiments.fitting import iterations_given, summary
from laconic.experiments.gplsa.graph_nmf import graph_nmf
from laconic.experiments.gplsa.paper import CLUSTERING
from laconic.experiments.parts import SEED, Results, Say
from laconic.models import PLSA, GraphPLSA

METHODS = ("k-means", "graph NMF", "PLSA", "GraphPLSA l1", "GraphPLSA l2", "GraphPLSA skl")
WITH_GRAPH = tuple(method for method in METHODS if method.lower().startswith("graph"))
N_NEIGHBORS = 5


@dataclass(frozen=True)
class Plan:
    """How much of an experiment is run.

    Attributes
    ----------
    draws : dict of int to int
        From numbers of classes to how often so many are drawn; if all are taken, only the start differs.
    tuning_classes : int
        On how many classes the strength of the graph is chosen.
    strengths : tuple of float
        To choose from.
    iterations : int
        Of every fit.
    sensitivity_classes : int
        On how many classes all strengths are compared; 0 for none.
    """

    draws: dict[int, int]
    tuning_classes: int
    strengths: tuple[float, ...]
    iterations: int
    sensitivity_classes: int = 0


@dataclass(frozen=True)
class Drawn:
    """Some classes of a data set of images, and the graph of neighbours among them."""

    X: NDArray[np.float64]
    labels: NDArray[np.int64]
    graph: csr_array

    @property
    def n_classes(self) -> int:
        """How many classes were drawn."""
        return len(np.unique(self.labels))


def neighbours(X: NDArray[np.float64], n_neighbors: int = N_NEIGHBORS) -> csr_array:
    """The graph that joins two rows if one is among the nearest neighbours of the other: zeros and ones."""
    nearest = csr_array(kneighbors_graph(normalize(X), n_neighbors))
    return csr_array(nearest.maximum(nearest.T))


def draw(data: datasets.Images, n_classes: int, seed: int) -> Drawn:
    """Take some classes at random."""
    classes = np.unique(data.labels)
    chosen = np.random.default_rng(seed).choice(classes, n_classes, replace=False)
    rows = np.isin(data.labels, chosen)
    X = data.X[rows]
    return Drawn(X, data.labels[rows], neighbours(X))


def embed(method: str, drawn: Drawn, strength: float, iterations: int, seed: int) -> NDArray[Any]:
    """What k-means is to cluster: pixels, or as many topics as there are classes."""
    n_topics = drawn.n_classes
    if method == "k-means":
        return normalize(drawn.X)
    if method == "graph NMF":
        return graph_nmf(normalize(drawn.X), drawn.graph, n_topics, strength, iterations, seed)[0]
    # Every image weighs the same, as in the paper.
    X = csr_array(normalize(drawn.X, norm="l1").astype(np.float32))
    with iterations_given():
        if method == "PLSA":
            plsa = PLSA(n_topics, solver="em", max_iter=iterations, random_state=seed)
            return np.asarray(plsa.fit_transform(X))
        model = GraphPLSA(
            n_topics,
            divergence=method.removeprefix("GraphPLSA "),
            strength=strength,
            max_iter=iterations,
            tol=0,
            random_state=seed,
        )
        return np.asarray(model.fit_transform(X, graph=drawn.graph))


def score(method: str, drawn: Drawn, strength: float, plan: Plan, seed: int) -> Results:
    """Accuracy and NMI of the clusters that a method finds."""
    return kmeans_scores(
        embed(method, drawn, strength, plan.iterations, seed), drawn.labels, random_state=seed
    )


def run_images(name: ImagesName, plan: Plan, say: Say) -> Results:
    """Choose strengths on a few classes, then cluster draws of many."""
    data = datasets.load(name)
    tuning = _strengths(draw(data, plan.tuning_classes, SEED), plan, say)
    chosen = {method: best_strength(tuning[method]) for method in WITH_GRAPH}
    sizes = {}
    for n_classes, n_draws in plan.draws.items():
        runs: dict[str, list[Results]] = {method: [] for method in METHODS}
        for number in range(1, n_draws + 1):
            drawn = draw(data, n_classes, SEED + number)
            for method in METHODS:
                say(f"{name}, {n_classes} classes, draw {number} of {n_draws}: {method}")
                runs[method].append(score(method, drawn, chosen.get(method, 0.0), plan, SEED + number))
        sizes[n_classes] = {method: summary(runs[method]) for method in METHODS}
    sensitivity: Results = {}
    if plan.sensitivity_classes:
        drawn = draw(data, plan.sensitivity_classes, SEED)
        sensitivity = {"n_classes": plan.sensitivity_classes, "scores": _strengths(drawn, plan, say)}
    return {
        "dataset": name,
        "n_neighbors": N_NEIGHBORS,
        "iterations": plan.iterations,
        "tuning_classes": plan.tuning_classes,
        "tuning": tuning,
        "strengths": chosen,
        "ours": sizes,
        "paper": {n: CLUSTERING[name].get(n, {}) for n in plan.draws},
        "sensitivity": sensitivity,
    }


def best_strength(scores: list[Results]) -> float:
    """The strength whose accuracy and NMI are largest together; of equal ones, the smallest."""
    return float(max(scores, key=lambda run: (run["accuracy"] + run["nmi"], -run["strength"]))["strength"])


def _strengths(drawn: Drawn, plan: Plan, say: Say) -> Results:
    scores: dict[str, list[Results]] = {method: [] for method in WITH_GRAPH}
    for method in WITH_GRAPH:
        for strength in plan.strengths:
            say(f"{drawn.n_classes} classes, strength {strength:g}: {method}")
            scores[method].append({"strength": strength, **score(method, drawn, strength, plan, SEED)})
    return scores
