"""The sections of the page about clusters of images."""

from __future__ import annotations

from laconic.experiments.figures import Chart, Line
from laconic.experiments.parts import Results, Section
from laconic.experiments.writing import concordance, count, list_of, percent, points, ranking, table

_NAMES = {"coil20": "COIL-20", "pie_pose27": "CMU PIE, pose 27"}
_TABLES = {"coil20": "Table 2", "pie_pose27": "Table 1"}

_PROTOCOL = """
Images of 32 by 32 grey pixels are documents, pixels are terms, and two images are joined if one is among the
{n_neighbors} nearest neighbours of the other (by cosine; all edges weigh 1). As many topics as classes,
{iterations} iterations, then k-means (best of ten starts) on the documents' topics. Accuracy is of the best
matching of clusters and classes; NMI is divided by the larger entropy. Both in per cent, means ± standard
deviations over random draws of classes (over random starts where all classes are taken): {draws}.

The paper chooses the strength of the graph "by cross-validation on a subset"; here it is the best of {grid}
on {tuning_classes} classes drawn at random: {strengths}. Labels of these few classes are thus used. Graph
NMF is that of Cai et al. with squared loss (the paper's rows "L2"), with its strength chosen in the same
way.
"""

_STRENGTHS = """

### How much the strength matters

The {tuning_classes} classes on which the strength was chosen, one start each; the paper has no such table.

{tuning}"""
_SENSITIVITY = """

The same on {n_classes} classes:

![Accuracy against the strength of the graph](figure:{figure})

{table}"""


def render_images(results: Results) -> Section:
    """The section of one data set."""
    name = results["dataset"]
    title = f"Images in clusters: {_NAMES[name]}"
    figures = {}
    text = _protocol(results) + "\n" + _scores(results)
    text += _STRENGTHS.format(
        tuning_classes=results["tuning_classes"], tuning=_strength_table(results["tuning"])
    )
    if results["sensitivity"]:
        figure = f"{name.split('_')[0]}-strength"
        figures[figure] = _chart(results)
        text += _sensitivity(results, figure)
    return Section(title, text + _comparison(results), _findings(results), figures)


def _protocol(results: Results) -> str:
    draws = [f"{count(runs['k-means']['runs'], 'draw')} of {n}" for n, runs in results["ours"].items()]
    grid = [f"{run['strength']:g}" for run in next(iter(results["tuning"].values()))]
    strengths = [f"{value:g} for {method}" for method, value in results["strengths"].items()]
    return _PROTOCOL.format(
        **{key: results[key] for key in ("n_neighbors", "iterations", "tuning_classes")},
        draws=list_of(draws),
        grid=list_of(grid),
        strengths=list_of(strengths),
    )


def _scores(results: Results) -> str:
    rows = []
    for n_classes, runs in results["ours"].items():
        for method, run in runs.items():
            accuracy, nmi = results["paper"][n_classes].get(method, (None, None))
            rows.append(
                [
                    n_classes,
                    method,
                    percent(run["accuracy"], run["accuracy_sd"]),
                    percent(accuracy),
                    percent(run["nmi"], run["nmi_sd"]),
                    percent(nmi),
                ]
            )
    where = _TABLES[results["dataset"]]
    headings = ["classes", "method", "accuracy", f"paper ({where})", "NMI", f"paper ({where})"]
    return table(headings, rows, "rlrrrr")


def _comparison(results: Results) -> str:
    lines = []
    for n_classes, paper in results["paper"].items():
        if not paper:
            continue
        ours = results["ours"][n_classes]
        accuracy = {method: ours[method]["accuracy"] for method in paper}
        theirs = {method: values[0] for method, values in paper.items()}
        same, pairs = concordance(accuracy, theirs)
        lines += [
            f"- {n_classes} classes, by accuracy. Ours: {ranking(accuracy)}. Paper: {ranking(theirs)}. "
            f"{same} of {count(pairs, 'pair')} of methods are in the same order."
        ]
    if not lines:
        return ""
    here, there, total = _better_than_nmf(results)
    lines.append(
        f"- That the graph helps PLSA more than NMF: GraphPLSA l2 or skl is better than graph NMF in "
        f"{here} of {total} comparisons here, and in {there} in the paper (both measures, all numbers of "
        "classes)."
    )
    return "\n".join(["\n\n### What agrees, and what does not", "", *lines])


def _better_than_nmf(results: Results) -> tuple[int, int, int]:
    """In how many comparisons GraphPLSA is better than graph NMF: here, in the paper, and of how many."""
    ours, theirs, total = 0, 0, 0
    for n_classes, paper in results["paper"].items():
        runs = results["ours"][n_classes]
        for method in ("GraphPLSA l2", "GraphPLSA skl"):
            for number, measure in enumerate(("accuracy", "nmi")):
                if method in paper:
                    ours += runs[method][measure] > runs["graph NMF"][measure]
                    theirs += paper[method][number] > paper["graph NMF"][number]
                    total += 1
    return ours, theirs, total


def _findings(results: Results) -> list[str]:
    name = _NAMES[results["dataset"]]
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
        f"{method} {points(runs[method]['accuracy'], paper[method][0])}"
        for method in runs
        if method in paper and method != "k-means"
    ]
    if compared:
        sentences.append(f"**{name}**, accuracy: {list_of(compared)}.")
    return sentences


def _chart(results: Results) -> Chart:
    scores = results["sensitivity"]["scores"]
    lines = {
        method: Line([(run["strength"], 100 * run["accuracy"]) for run in runs])
        for method, runs in scores.items()
    }
    n_classes = str(results["sensitivity"]["n_classes"])
    runs = results["ours"].get(n_classes, {})
    levels = {m: 100 * runs[m]["accuracy"] for m in ("PLSA", "k-means") if m in runs}
    title = f"{_NAMES[results['dataset']]}, {n_classes} classes"
    return Chart(title, "strength of the graph", "accuracy (%)", lines, levels)


def _sensitivity(results: Results, figure: str) -> str:
    measured = results["sensitivity"]
    return _SENSITIVITY.format(
        n_classes=measured["n_classes"], figure=figure, table=_strength_table(measured["scores"])
    )


def _strength_table(scores: Results) -> str:
    strengths = [f"{run['strength']:g}" for run in next(iter(scores.values()))]
    rows = [
        [method, *(f"{percent(run['accuracy'])} / {percent(run['nmi'])}" for run in runs)]
        for method, runs in scores.items()
    ]
    return table(["accuracy / NMI", *strengths], rows, "l" + "r" * len(strengths))
