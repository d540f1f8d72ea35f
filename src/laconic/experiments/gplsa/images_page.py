"""The sections of the page about clusters of images."""

from __future__ import annotations

from typing import NamedTuple

from laconic.experiments.figures import Chart, Line, Picture
from laconic.experiments.gplsa.images import END, WITH_GRAPH
from laconic.experiments.parts import Results, Section
from laconic.experiments.writing import concordance, edges, list_of, percent, ranking, table

NAMES = {"coil20": "COIL-20", "pie_pose27": "CMU PIE, pose 27"}
_TABLES = {"coil20": "Table 2", "pie_pose27": "Table 1"}
# The rows of the paper, in its own words: which of ours each is compared with.
RIVALS = {"GraphPLSA l2": "graph NMF", "GraphPLSA skl": "graph NMF KL"}

_PROTOCOL = """
**The task.** Images of 32 by 32 grey pixels are documents, and pixels are terms. Two images are joined if
one is among the {n_neighbors} nearest neighbours of the other (by cosine); all edges weigh 1. A fit has as
many topics as there are classes. K-means (best of ten starts) then clusters the documents' topics.

**The measures**, in per cent. Accuracy is that of the best matching of clusters and classes. NMI is divided
by the larger entropy. Numbers are means ± standard deviations over {seeds} random starts{plain}, on one draw
of classes.

**The rivals.** Graph NMF is that of Cai et al., with both of its losses: squared (the paper's rows "L2")
and Kullback-Leibler ("KL"). GraphPLSA l1 runs without the stages that the library adds to it. The paper has
no rows for PLSA without a graph.

**What is chosen.** The paper chooses the strength of the graph "by cross-validation on a subset", and says
that its loops end after five to ten steps. Here three settings are chosen, for every method by the same
rule:

- the start: drawn documents, or random topics and weights (`init="random"` of `GraphPLSA`, other numbers);
- the strength: {strengths}; for l1, which makes rows equal much sooner, {l1};
- the iterations: {marks}, or "to the end": until one lowers the objective by less than 1e-5 of it, at most
  {most}.

The best setting has the largest sum of accuracy and NMI on {tuning} (mean of {tuning_seeds} starts). So
labels of these classes are used.{overlap}
"""
_CURVES = """

### Clusters come before minima

Accuracy and objective along one fit of each method, on {classes} classes, with the start and the strength
named above. Objectives are divided by the last of their fit.

![Accuracy against iterations](figure:{figure}-iterations)

![Objective against iterations](figure:{figure}-objective)

{table}"""

_AGREES = """

### What agrees, and what does not

Methods by accuracy, from the best to the worst; "≈" joins those that are less than half a point apart.

{table}

GraphPLSA and graph NMF with the same kind of penalty, by both measures and for all numbers of classes:
{rivals}."""

_CHOSEN = """

### What was chosen

Settings are the start, the strength and the iterations. The last two columns are for fits that may not be
stopped early: the best setting among fits that ran to the end, and its score on the same classes.

{table}

Strengths: {edges}"""


def render_images(results: Results) -> Section:
    """The section of one data set."""
    text = _protocol(results) + "\n" + _scores(results)
    text += _AGREES.format(table=_orders(results), rivals=_rivals(results))
    text += _CHOSEN.format(table=_chosen(results), edges=_edges(results))
    text += _CURVES.format(classes=results["curve_classes"], figure=_short(results), table=_ways(results))
    title = f"Images in clusters: {NAMES[results['dataset']]}"
    return Section(title, text, _findings(results), _charts(results))


def _protocol(results: Results) -> str:
    groups: dict[int, list[str]] = {}
    for n_classes, n_tuning in results["tuning_classes"].items():
        groups.setdefault(n_tuning, []).append(n_classes)
    overlap = ""
    if results["overlap"]:
        rows = list_of(map(str, results["overlap"]))
        overlap = f" They are not among the classes reported, except in the rows of {rows}, which have all."
    l1 = {run["strength"] for grids in results["tuning"].values() for run in grids.get("GraphPLSA l1", ())}
    plain = {runs["PLSA"]["runs"] for runs in results["ours"].values()} - {results["seeds"]}
    return _PROTOCOL.format(
        plain=f" ({list_of(map(str, sorted(plain)))} for PLSA)" if plain else "",
        l1=list_of(f"{value:,g}" for value in sorted(l1)),
        **{key: results[key] for key in ("n_neighbors", "seeds", "tuning_seeds", "most")},
        strengths=list_of(f"{value:,g}" for value in results["strengths"]),
        marks=list_of(map(str, results["marks"])),
        tuning=list_of(f"{n} classes for the rows of {list_of(rows)}" for n, rows in groups.items()),
        overlap=overlap,
    )


def _scores(results: Results) -> str:
    rows = []
    for n_classes, runs in results["ours"].items():
        for method, run in runs.items():
            accuracy, nmi = results["paper"][n_classes].get(method, (None, None))
            ours = percent(run["accuracy"], run["accuracy_sd"]), percent(run["nmi"], run["nmi_sd"])
            rows.append([n_classes, method, ours[0], percent(accuracy), ours[1], percent(nmi)])
    where = _TABLES[results["dataset"]]
    headings = ["classes", "method", "accuracy", f"paper ({where})", "NMI", f"paper ({where})"]
    return table(headings, rows, "rlrrrr")


def _chosen(results: Results) -> str:
    rows = []
    for n_tuning, settings in results["chosen"].items():
        grid = results["tuning"][n_tuning]
        for method, setting in settings.items():
            end = results["chosen_end"][n_tuning][method]
            rows.append(
                [
                    n_tuning,
                    method,
                    _setting(setting),
                    _score(grid[method], setting),
                    _setting(end),
                    _score(grid[method], end),
                ]
            )
    headings = ["classes", "method", "chosen", "accuracy / NMI", "if run to the end", "accuracy / NMI"]
    return table(headings, rows, "rllrlr")


def _setting(setting: Results) -> str:
    iterations = "to the end" if setting["iterations"] == END else f"{setting['iterations']} iterations"
    return f"{setting['start']}, {setting['strength']:g}, {iterations}"


def _found(grid: list[Results], setting: Results) -> Results:
    return next(run for run in grid if all(run[key] == setting[key] for key in setting))


def _score(grid: list[Results], setting: Results) -> str:
    run = _found(grid, setting)
    return f"{percent(run['accuracy'])} / {percent(run['nmi'])}"


def _edges(results: Results) -> str:
    """Whether chosen strengths are at the edge of their grids, and what a step inward would change."""
    chosen, choices, inward = {}, {}, []
    for n_tuning, settings in results["chosen"].items():
        for method, setting in settings.items():
            grid = results["tuning"][n_tuning][method]
            name = f"{method} ({n_tuning} classes)" if len(results["chosen"]) > 1 else method
            chosen[name], choices[name] = setting["strength"], [run["strength"] for run in grid]
            if setting["strength"] == max(choices[name]) > min(choices[name]):
                less = setting | {"strength": setting["strength"] / 10}
                inward.append(f"{percent(_found(grid, less)['accuracy'])} % ({name})")
    said = edges(chosen, choices)
    tenth = f" With a tenth of it, accuracy on these classes is {list_of(inward)}." if inward else ""
    return said[0].lower() + said[1:] + tenth


def _rivals(results: Results) -> str:
    return list_of(
        f"{method} beats {RIVALS[method]} in {tally.here} of {tally.total} comparisons (paper: {tally.paper})"
        for method, tally in better_than_nmf(results).items()
    )


def _orders(results: Results) -> str:
    rows = []
    for n_classes, paper in results["paper"].items():
        ours = {method: results["ours"][n_classes][method]["accuracy"] for method in paper}
        theirs = {method: values[0] for method, values in paper.items()}
        same, pairs = concordance(ours, theirs)
        if paper:
            rows.append([n_classes, ranking(ours), ranking(theirs), f"{same} of {pairs}"])
    return table(["classes", "here", "paper", "pairs in the same order"], rows, "rllr")


class Tally(NamedTuple):
    """In how many comparisons GraphPLSA is better than graph NMF: here, in the paper, and of how many."""

    here: int
    paper: int
    total: int


def better_than_nmf(results: Results) -> dict[str, Tally]:
    """By the divergence of GraphPLSA; by both measures, for all numbers of classes that the paper has."""
    found = {}
    for method, rival in RIVALS.items():
        ours, theirs, total = 0, 0, 0
        for n_classes, paper in results["paper"].items():
            runs = results["ours"][n_classes]
            for number, measure in enumerate(("accuracy", "nmi")):
                if method in paper and rival in paper:
                    ours += runs[method][measure] > runs[rival][measure]
                    theirs += paper[method][number] > paper[rival][number]
                    total += 1
        found[method] = Tally(ours, theirs, total)
    return found


def best_on_the_way(curve: list[Results]) -> Results:
    """Where accuracy is largest along a fit; of equals, the first."""
    return max(curve, key=lambda point: point["accuracy"])


def _ways(results: Results) -> str:
    rows = []
    for method, curve in results["curves"].items():
        best, last = best_on_the_way(curve), curve[-1]
        lower = 100 * (1 - last["objective"] / best["objective"])
        shown = (
            percent(best["accuracy"]),
            str(best["iterations"]),
            percent(last["accuracy"]),
            f"{lower:.1f} %",
        )
        rows.append([method, *shown])
    headings = ["method", "best accuracy", "after iterations", "accuracy at the end"]
    return table([*headings, "the objective falls in between by"], rows, "lrrrr")


def _charts(results: Results) -> dict[str, Picture]:
    title = f"{NAMES[results['dataset']]}, {results['curve_classes']} classes"
    accuracy = {
        method: Line([(point["iterations"], 100 * point["accuracy"]) for point in curve])
        for method, curve in results["curves"].items()
    }
    objective = {
        method: Line([(point["iterations"], point["objective"] / curve[-1]["objective"]) for point in curve])
        for method, curve in results["curves"].items()
    }
    name = _short(results)
    return {
        f"{name}-iterations": Chart(title, "iterations", "accuracy (%)", accuracy),
        f"{name}-objective": Chart(title, "iterations", "objective / objective at the end", objective),
    }


def _short(results: Results) -> str:
    return str(results["dataset"]).split("_")[0]


def _findings(results: Results) -> list[str]:
    name = NAMES[results["dataset"]]
    n_classes, runs = list(results["ours"].items())[-1]
    paper = results["paper"][n_classes]
    best = max((m for m in runs if m.startswith("GraphPLSA")), key=lambda m: runs[m]["accuracy"])
    plain = runs["PLSA"]
    sentences = [
        f"**{name}**, {n_classes} classes: {best} clusters {percent(runs[best]['accuracy'])} % of the images "
        f"correctly and has an NMI of {percent(runs[best]['nmi'])} %; PLSA without the graph "
        f"{percent(plain['accuracy'])} and {percent(plain['nmi'])}, k-means on pixels "
        f"{percent(runs['k-means']['accuracy'])} and {percent(runs['k-means']['nmi'])}."
    ]
    compared = [
        f"{method} {100 * (runs[method]['accuracy'] - paper[method][0]):+.1f}"
        for method in WITH_GRAPH
        if method in paper
    ]
    if compared:
        sentences.append(
            f"**{name}**, {n_classes} classes, accuracy against the paper's, in points: {list_of(compared)}."
        )
    return sentences
