"""Images in clusters, by topics that follow a graph of neighbours: Tables 1 and 2 of the paper.

How images weigh, where a fit starts and how long it runs matter as much as the strength of its graph. So one
fit is looked at after several numbers of iterations, and all four are chosen, among the same options and by
the same rule for every method, on classes that are not among those reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.datasets.registry import ImagesName
from laconic.evaluate import kmeans_scores
from laconic.experiments.fitting import summary
from laconic.experiments.gplsa.graph_nmf import (
    DivergenceGraphNMF,
    GraphNMF,
    Spectrum,
    SquaredGraphNMF,
    spectrum_of,
)
from laconic.experiments.gplsa.paper import CLUSTERING
from laconic.experiments.gplsa.paths import STARTS, Point, nmf_path, plsa_path
from laconic.experiments.parts import SEED, Desk, Results

KMEANS, PLAIN = "k-means", "PLSA"
WITH_GRAPH = ("graph NMF", "graph NMF KL", "GraphPLSA l1", "GraphPLSA l2", "GraphPLSA skl")
FITTED = (PLAIN, *WITH_GRAPH)
METHODS = (KMEANS, *FITTED)
ALIKE, AS_THEY_ARE = "alike", "as they are"
IMAGES = (ALIKE, AS_THEY_ARE)
N_NEIGHBORS = 5
# The strengths of l1, which makes rows equal much sooner, are so much smaller.
L1_SCALE = 0.01
# Fits are chosen twice: among those of at least so many iterations, and among all.
LATER, ANY = "at least 10 iterations", "any number of iterations"
RULES = {LATER: 10, ANY: 1}
# Settings whose scores differ by less are equally good.
EQUAL = 0.005


class Setting(NamedTuple):
    """What is chosen for a method."""

    images: str
    start: str
    strength: float
    iterations: int


Grid = dict[Setting, float]
"""The mean of accuracy and NMI by settings."""


@dataclass(frozen=True)
class Plan:
    """How much of an experiment is run.

    Attributes
    ----------
    tuning : dict of int to int
        From the numbers of classes that are reported to the number of others on which settings are chosen.
    strengths : tuple of float
        To choose from.
    marks : tuple of int
        Numbers of iterations to choose from.
    seeds : int
        Random starts of every reported fit.
    tuning_seeds : int
        Random starts of every fit that settings are chosen by.
    curve : int
        For how many classes scores are shown against iterations.
    """

    tuning: dict[int, int]
    strengths: tuple[float, ...]
    marks: tuple[int, ...]
    seeds: int
    tuning_seeds: int
    curve: int


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

    @cached_property
    def spectrum(self) -> Spectrum:
        """That of the graph: for one method only, but for all of its fits."""
        return spectrum_of(self.graph)


def neighbours(X: NDArray[np.float64], n_neighbors: int = N_NEIGHBORS) -> csr_array:
    """The graph that joins two rows if one is among the nearest neighbours of the other: zeros and ones."""
    nearest = csr_array(kneighbors_graph(normalize(X), n_neighbors))
    return csr_array(nearest.maximum(nearest.T))


def draw(data: datasets.Images, classes: Sequence[Any]) -> Drawn:
    """The images of some classes."""
    rows = np.isin(data.labels, classes)
    X = data.X[rows]
    return Drawn(X, data.labels[rows], neighbours(X))


def apart(labels: NDArray[Any], n_tuning: int, n_reported: int) -> tuple[list[Any], list[Any]]:
    """Classes to choose settings on, and classes to report: disjoint, where there are enough classes."""
    shuffled = np.random.default_rng(SEED + n_tuning).permutation(np.unique(labels)).tolist()
    others = shuffled[n_tuning:] if n_reported <= len(shuffled) - n_tuning else shuffled
    return shuffled[:n_tuning], others[:n_reported]


def scaled(X: NDArray[np.float64], images: str, norm: str) -> NDArray[np.float64]:
    """Images of norm one: each, or on average."""
    if images == ALIKE:
        return np.asarray(normalize(X, norm=norm))
    sizes = np.linalg.norm(X, ord={"l1": 1, "l2": 2}[norm], axis=1)
    return X / sizes.mean()


def path(method: str, drawn: Drawn, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Point]:
    """The fit of a method, on its way."""
    loss = "l2" if method == "graph NMF" else "l1"
    X, n_topics, strength = scaled(drawn.X, setting.images, loss), drawn.n_classes, setting.strength
    fixed: Results = {"start": setting.start, "marks": marks, "seed": seed}
    if method in ("graph NMF", "graph NMF KL"):
        problem: GraphNMF = (
            SquaredGraphNMF(X, drawn.graph, strength)
            if method == "graph NMF"
            else DivergenceGraphNMF(X, drawn.graph, strength, drawn.spectrum)
        )
        return nmf_path(X, n_topics, problem, **fixed)
    # Without a graph, any divergence will do.
    divergence = "l2" if method == PLAIN else method.removeprefix("GraphPLSA ")
    return plsa_path(csr_array(X.astype(np.float32)), drawn.graph, n_topics, divergence, strength, **fixed)


def scored(method: str, drawn: Drawn, setting: Setting, marks: Sequence[int], seed: int) -> list[Results]:
    """Accuracy, NMI and objective of one fit, after each number of iterations in `marks`."""
    return [
        {
            "iterations": point.iteration,
            "objective": point.objective,
            **kmeans_scores(point.weights, drawn.labels, random_state=seed),
        }
        for point in path(method, drawn, setting, marks, seed)
    ]


def run_images(name: ImagesName, plan: Plan, desk: Desk) -> Results:
    """Choose settings on some classes, and cluster others."""
    data = datasets.load(name)
    tuning: Results = {}
    chosen: dict[int, dict[str, dict[str, Setting]]] = {}
    for n_tuning in dict.fromkeys(plan.tuning.values()):
        drawn = draw(data, apart(data.labels, n_tuning, 0)[0])
        trials = {method: _trials(name, method, drawn, plan, desk) for method in FITTED}
        tuning[str(n_tuning)] = trials
        grids = {method: grid_of(rows, plan.marks) for method, rows in trials.items()}
        chosen[n_tuning] = {
            rule: {method: best_setting(grid, least) for method, grid in grids.items()}
            for rule, least in RULES.items()
        }
    ours: Results = {}
    for n_classes, n_tuning in plan.tuning.items():
        drawn = draw(data, apart(data.labels, n_tuning, n_classes)[1])
        pixels = _on_pixels(name, drawn, plan, desk)
        ours[str(n_classes)] = {
            rule: {KMEANS: pixels}
            | {method: _reported(name, method, drawn, s, plan, desk) for method, s in settings.items()}
            for rule, settings in chosen[n_tuning].items()
        }
    curve = draw(data, apart(data.labels, plan.tuning[plan.curve], plan.curve)[1])
    return {
        "dataset": name,
        "n_neighbors": N_NEIGHBORS,
        "strengths": plan.strengths,
        "marks": plan.marks,
        "seeds": plan.seeds,
        "tuning_seeds": plan.tuning_seeds,
        "tuning_classes": plan.tuning,
        "overlap": [n for n, m in plan.tuning.items() if n + m > len(np.unique(data.labels))],
        "tuning": tuning,
        "chosen": {
            n: {rule: {m: s._asdict() for m, s in each.items()} for rule, each in rules.items()}
            for n, rules in chosen.items()
        },
        "ours": ours,
        "paper": {n: CLUSTERING[name].get(n, {}) for n in plan.tuning},
        "curve_classes": plan.curve,
        "curves": _curves(name, curve, chosen[plan.tuning[plan.curve]][LATER], plan, desk),
    }


def strengths_of(method: str, strengths: Sequence[float]) -> list[float]:
    """The strengths to choose from: for l1 they are smaller."""
    if method == PLAIN:
        return [0.0]
    scale = L1_SCALE if method.endswith("l1") else 1.0
    return [strength * scale for strength in strengths]


def _trials(name: str, method: str, drawn: Drawn, plan: Plan, desk: Desk) -> list[Results]:
    """Mean scores of a method for all images, starts and strengths, along the numbers of iterations."""
    rows = []
    for images, start, strength in product(IMAGES, STARTS, strengths_of(method, plan.strengths)):
        setting = Setting(images, start, strength, plan.marks[-1])
        runs = []
        for seed in range(SEED, SEED + plan.tuning_seeds):
            what = f"{method}, {tuple(setting)}, {plan.marks}, {seed}"
            key = f"{name}, {drawn.n_classes} classes to choose on: {what}"
            runs.append(desk.keep(key, scored, method, drawn, setting, plan.marks, seed))
        means = [summary(points) for points in zip(*runs, strict=True)]
        scores = {key: [mean[key] for mean in means] for key in ("accuracy", "nmi")}
        rows.append({"images": images, "start": start, "strength": strength, **scores})
    return rows


def grid_of(rows: Sequence[Results], marks: Sequence[int]) -> Grid:
    """The grid of a method, from the scores that its trials had along the numbers of iterations."""
    return {
        Setting(row["images"], row["start"], row["strength"], mark): (accuracy + nmi) / 2
        for row in rows
        for mark, accuracy, nmi in zip(marks, row["accuracy"], row["nmi"], strict=True)
    }


def best_setting(grid: Grid, least: int = 1) -> Setting:
    """The best with at least so many iterations; of those about as good, one with the weakest graph."""
    possible = {setting: score for setting, score in grid.items() if setting.iterations >= least}
    enough = max(possible.values()) - EQUAL
    good = [setting for setting, score in possible.items() if score > enough]
    return min(good, key=lambda setting: (setting.strength, -possible[setting]))


def _on_pixels(name: str, drawn: Drawn, plan: Plan, desk: Desk) -> Results:
    """Scores of k-means on the images themselves, all of the same length."""

    def scores(seed: int) -> Results:
        return kmeans_scores(normalize(drawn.X), drawn.labels, random_state=seed)

    what = f"{name}, {drawn.n_classes} classes: {KMEANS}"
    seeds = range(SEED + 1, SEED + 1 + plan.seeds)
    return summary([desk.keep(f"{what}, {seed}", scores, seed) for seed in seeds])


def _reported(name: str, method: str, drawn: Drawn, setting: Setting, plan: Plan, desk: Desk) -> Results:
    """Scores of a method from every start."""
    marks = (setting.iterations,)
    what = f"{name}, {drawn.n_classes} classes: {method}, {tuple(setting)}"
    runs = [
        desk.keep(f"{what}, {seed}", scored, method, drawn, setting, marks, seed)[-1]
        for seed in range(SEED + 1, SEED + 1 + plan.seeds)
    ]
    return summary([{key: run[key] for key in ("accuracy", "nmi")} for run in runs])


def _curves(name: str, drawn: Drawn, chosen: dict[str, Setting], plan: Plan, desk: Desk) -> Results:
    """Scores and objectives along one fit of every method, with its chosen images, start and strength."""
    found = {}
    for method, setting in chosen.items():
        what = f"{method}, {tuple(setting)}, {plan.marks}"
        key = f"{name}, {drawn.n_classes} classes, on the way: {what}"
        found[method] = desk.keep(key, scored, method, drawn, setting, plan.marks, SEED + 1)
    return found
