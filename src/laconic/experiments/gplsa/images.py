"""Images in clusters, by topics that follow a graph of neighbours: Tables 1 and 2 of the paper.

How long a fit runs matters as much as the strength of its graph. So one fit is looked at after several
numbers of iterations, and all of start, strength and iterations are chosen, by the same rule for every
method, on classes that are not among those reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.datasets.registry import ImagesName
from laconic.evaluate import kmeans_scores
from laconic.experiments.fitting import iterations_given, summary
from laconic.experiments.gplsa.graph_nmf import (
    DivergenceGraphNMF,
    GraphNMF,
    Spectrum,
    SquaredGraphNMF,
    spectrum_of,
)
from laconic.experiments.gplsa.paper import CLUSTERING
from laconic.experiments.gplsa.paths import Point, nmf_path, plsa_path
from laconic.experiments.parts import SEED, Desk, Results
from laconic.models import PLSA

KMEANS, PLAIN = "k-means", "PLSA"
WITH_GRAPH = ("graph NMF", "graph NMF KL", "GraphPLSA l1", "GraphPLSA l2", "GraphPLSA skl")
METHODS = (KMEANS, PLAIN, *WITH_GRAPH)
STARTS = ("documents", "random")
N_NEIGHBORS = 5
# The key of the last point of a fit: converged, or as far as it was allowed to go.
END = "end"
L1_SCALE = 0.01
CURVE_MARKS = (1, 2, 3, 5, 10, 20, 30)


class Setting(NamedTuple):
    """What is chosen for a method."""

    start: str
    strength: float
    iterations: int | str
    """A number, or `END`."""


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
    most : int
        Of iterations, if a fit does not converge before.
    seeds : int
        Random starts of every reported fit.
    tuning_seeds : int
        Random starts of every fit that settings are chosen by.
    curve : int
        For how many classes scores are shown against iterations.
    l1_most : float
        The largest strength to choose from for l1, which makes rows equal much sooner.
    plain_seeds : int
        Random starts of PLSA without a graph, which the paper does not have, if there are fewer of them.
    """

    tuning: dict[int, int]
    strengths: tuple[float, ...]
    marks: tuple[int, ...]
    most: int
    seeds: int
    tuning_seeds: int
    curve: int
    l1_most: float = 10.0
    plain_seeds: int = 5


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


def path(method: str, drawn: Drawn, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Point]:
    """The fit of a method that has a graph, on its way."""
    name, kind = method.rsplit(" ", 1)
    fixed: Results = {"start": setting.start, "marks": marks, "seed": seed}
    if name == "GraphPLSA":
        # Every image weighs the same, as in the paper.
        X = csr_array(normalize(drawn.X, norm="l1").astype(np.float32))
        return plsa_path(X, drawn.graph, drawn.n_classes, kind, setting.strength, **fixed)
    X = normalize(drawn.X, norm="l1" if kind == "KL" else "l2")
    problem: GraphNMF = (
        DivergenceGraphNMF(X, drawn.graph, setting.strength, drawn.spectrum)
        if kind == "KL"
        else SquaredGraphNMF(X, drawn.graph, setting.strength)
    )
    return nmf_path(X, drawn.n_classes, problem, **fixed)


def scored(
    method: str, drawn: Drawn, setting: Setting, marks: Sequence[int], seed: int
) -> dict[str, Results]:
    """Accuracy, NMI and objective of one fit, by numbers of iterations; the last point also as `END`."""
    found: dict[str, Results] = {}
    for point in path(method, drawn, setting, marks, seed):
        run = kmeans_scores(point.weights, drawn.labels, random_state=seed)
        run |= {"objective": point.objective}
        found[str(point.iteration)] = run
        if point.last:
            found[END] = run | {"iterations": point.iteration}
    # A fit that has converged stays where it is.
    return {str(mark): found.get(str(mark), found[END]) for mark in marks} | {END: found[END]}


def run_images(name: ImagesName, plan: Plan, desk: Desk) -> Results:
    """Choose settings on some classes, and cluster others."""
    data = datasets.load(name)
    tuning: Results = {}
    chosen: dict[int, dict[str, Setting]] = {}
    ended: dict[int, dict[str, Setting]] = {}
    for n_tuning in dict.fromkeys(plan.tuning.values()):
        drawn = draw(data, apart(data.labels, n_tuning, 0)[0])
        grids = {method: _grid(name, method, drawn, plan, desk) for method in WITH_GRAPH}
        tuning[str(n_tuning)] = {method: _table(grid) for method, grid in grids.items()}
        chosen[n_tuning] = {method: best_setting(grid) for method, grid in grids.items()}
        ended[n_tuning] = {method: best_setting(grid, [END]) for method, grid in grids.items()}
    ours: Results = {}
    for n_classes, n_tuning in plan.tuning.items():
        drawn = draw(data, apart(data.labels, n_tuning, n_classes)[1])
        settings = chosen[n_tuning]
        runs = {method: _runs(name, method, drawn, settings.get(method), plan, desk) for method in METHODS}
        ours[str(n_classes)] = {method: summary(each) for method, each in runs.items()}
    curve = draw(data, apart(data.labels, plan.tuning[plan.curve], plan.curve)[1])
    curves = _curves(name, curve, chosen[plan.tuning[plan.curve]], plan, desk)
    return {
        "dataset": name,
        "n_neighbors": N_NEIGHBORS,
        "strengths": plan.strengths,
        "marks": plan.marks,
        "most": plan.most,
        "seeds": plan.seeds,
        "tuning_seeds": plan.tuning_seeds,
        "tuning_classes": plan.tuning,
        "overlap": [n for n, m in plan.tuning.items() if n + m > len(np.unique(data.labels))],
        "tuning": tuning,
        "chosen": {n: {m: s._asdict() for m, s in each.items()} for n, each in chosen.items()},
        "chosen_end": {n: {m: s._asdict() for m, s in each.items()} for n, each in ended.items()},
        "ours": ours,
        "paper": {n: CLUSTERING[name].get(n, {}) for n in plan.tuning},
        "curve_classes": plan.curve,
        "curves": curves,
    }


Grid = dict[Setting, Results]


def strengths_of(method: str, plan: Plan) -> list[float]:
    """The strengths to choose from: for l1, which makes rows equal, they are smaller."""
    if not method.endswith("l1"):
        return list(plan.strengths)
    return [strength * L1_SCALE for strength in plan.strengths if strength * L1_SCALE <= plan.l1_most]


def _grid(name: str, method: str, drawn: Drawn, plan: Plan, desk: Desk) -> Grid:
    """Mean scores of a method for every start, strength and number of iterations."""
    grid: Grid = {}
    marks = (*plan.marks, plan.most)
    for start in STARTS:
        for strength in strengths_of(method, plan):
            setting = Setting(start, strength, END)
            runs = []
            for seed in range(SEED, SEED + plan.tuning_seeds):
                what = f"{method}, {start}, {strength:g}, {marks}, {seed}"
                key = f"{name}, {drawn.n_classes} classes to choose on: {what}"
                runs.append(desk.keep(key, scored, method, drawn, setting, marks, seed))
            for mark in (*map(str, plan.marks), END):
                at = [{key: run[mark][key] for key in ("accuracy", "nmi")} for run in runs]
                grid[setting._replace(iterations=mark)] = summary(at)
    return grid


def best_setting(grid: Grid, marks: Sequence[Any] | None = None) -> Setting:
    """The setting whose accuracy and NMI are largest together; of equals, the first."""
    possible = [setting for setting in grid if marks is None or setting.iterations in marks]
    return max(possible, key=lambda setting: grid[setting]["accuracy"] + grid[setting]["nmi"])


def _table(grid: Grid) -> list[Results]:
    """The grid as JSON holds it."""
    return [
        setting._asdict() | {"accuracy": run["accuracy"], "nmi": run["nmi"]} for setting, run in grid.items()
    ]


def _runs(
    name: str, method: str, drawn: Drawn, setting: Setting | None, plan: Plan, desk: Desk
) -> list[Results]:
    """Scores of a method from every start."""
    n_seeds = min(plan.seeds, plan.plain_seeds) if method == PLAIN else plan.seeds
    seeds = range(SEED + 1, SEED + 1 + n_seeds)
    what = f"{name}, {drawn.n_classes} classes: {method}"
    if setting is None:
        return [desk.keep(f"{what}, {seed}", _without_graph, method, drawn, seed) for seed in seeds]
    last = plan.most if setting.iterations == END else int(setting.iterations)
    what += f", {setting.start}, {setting.strength:g}, {last}"
    runs = [desk.keep(f"{what}, {seed}", scored, method, drawn, setting, [last], seed) for seed in seeds]
    return [{key: run[END][key] for key in ("accuracy", "nmi")} for run in runs]


def _without_graph(method: str, drawn: Drawn, seed: int) -> Results:
    points = normalize(drawn.X)
    if method == PLAIN:
        X = csr_array(normalize(drawn.X, norm="l1").astype(np.float32))
        with iterations_given():
            plsa = PLSA(drawn.n_classes, solver="em", max_iter=200, random_state=seed, n_jobs=1)
            points = np.asarray(plsa.fit_transform(X))
    return kmeans_scores(points, drawn.labels, random_state=seed)


def _curves(name: str, drawn: Drawn, chosen: dict[str, Setting], plan: Plan, desk: Desk) -> Results:
    """Scores and objectives along one fit of every method, with its chosen start and strength."""
    marks = (*CURVE_MARKS, *(mark for mark in (60, 100, 200, 300) if mark <= plan.most))
    found = {}
    for method in WITH_GRAPH:
        setting = chosen[method]
        what = f"{method}, {setting.start}, {setting.strength:g}, {marks}"
        key = f"{name}, {drawn.n_classes} classes, on the way: {what}"
        points = desk.keep(key, scored, method, drawn, setting, marks, SEED + 1)
        found[method] = [
            {"iterations": mark} | {key: points[str(mark)][key] for key in ("accuracy", "nmi", "objective")}
            for mark in marks
        ]
    return found
