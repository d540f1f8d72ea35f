"""The sections of the page about clusters of images."""

from __future__ import annotations

from laconic.experiments.figures import Chart, Line, Picture
from laconic.experiments.gplsa.images import END, WITH_GRAPH
from laconic.experiments.parts import Results, Section
from laconic.experiments.writing import concordance, count, list_of, percent, points, ranking, table

NAMES = {"coil20": "COIL-20", "pie_pose27": "CMU PIE, pose 27"}
_TABLES = {"coil20": "Table 2", "pie_pose27": "Table 1"}
# The rows of the paper, in its own words: which of ours each is compared with.
RIVALS = {"GraphPLSA l2": "graph NMF", "GraphPLSA skl": "graph NMF KL"}

_PROTOCOL = """
Images of 32 by 32 grey pixels are documents, pixels are terms, and two images are joined if one is among the
{n_neighbors} nearest neighbours of the other (by cosine; all edges weigh 1). As many topics as classes, then
k-means (best of ten starts) on the documents' topics. Accuracy is of the best matching of clusters and
classes; NMI is divided by the larger entropy. Both in per cent; {seeds} on one draw of classes.

{choice} Graph NMF is that of Cai et al., with both of its losses: squared (the paper's rows "L2") and
Kullback-Leibler ("KL"). GraphPLSA l1 runs without the stages that the library adds to it.
"""
_CHOICE = """
The paper chooses the strength of the graph "by cross-validation on a subset", and says that its loops end
after five to ten steps. Here, for every method alike, the start (drawn documents, or random numbers), the
strength ({strengths}; a hundredth of that for l1, up to {l1_most:g}, since it joins documents sooner) and the
iterations ({marks}, or until an iteration lowers the objective by less than 1e-5 of it, {most} at most) are
those of the largest accuracy and NMI, on {tuning}, mean of {tuning_seeds} starts. Labels of these classes
are thus used.{overlap}
"""
_CURVES = """

### Clusters come before minima

Accuracy and objective along one fit of each method, on {classes} classes, with the start and the strength
named above. Objectives are divided by the last of their fit.

![Accuracy against iterations](figure:{figure}-iterations)

![Objective against iterations](figure:{figure}-objective)

{findings}"""

_CHOSEN = """

### What was chosen

"If run to the end" are settings chosen among fits that have converged (or had {most} iterations), and their
score on the same classes: what is lost where fits may not be stopped early.

{table}"""


def render_images(results: Results) -> Section:
    """The section of one data set."""
    name = results["dataset"]
    text = _protocol(results) + "\n" + _scores(results)
    text += "\n\n### What agrees, and what does not\n\n" + "\n".join(_comparison(results))
    text += _CHOSEN.format(most=results["most"], table=_chosen(results))
    text += _CURVES.format(
        classes=results["curve_classes"], figure=_short(results), findings="\n".join(_ways(results))
    )
    title = f"Images in clusters: {NAMES[name]}"
    return Section(title, text, _findings(results), _charts(results))


def _protocol(results: Results) -> str:
    seeds = results["seeds"]
    return _PROTOCOL.format(
        n_neighbors=results["n_neighbors"],
        seeds=f"means ± standard deviations over {seeds} random starts" if seeds > 1 else "one random start",
        choice=_choice(results).strip(),
    )


def _choice(results: Results) -> str:
    groups: dict[int, list[str]] = {}
    for n_classes, n_tuning in results["tuning_classes"].items():
        groups.setdefault(n_tuning, []).append(n_classes)
    overlap = ""
    if results["overlap"]:
        rows = list_of(map(str, results["overlap"]))
        overlap = f" They are not among the classes reported, except for the rows of {rows}, which have all."
    l1 = [run["strength"] for grids in results["tuning"].values() for run in grids.get("GraphPLSA l1", [])]
    return _CHOICE.format(
        l1_most=max(l1, default=0),
        **{key: results[key] for key in ("tuning_seeds", "most")},
        strengths=list_of(f"{value:g}" for value in results["strengths"]),
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


def _score(grid: list[Results], setting: Results) -> str:
    run = next(run for run in grid if all(run[key] == setting[key] for key in setting))
    return f"{percent(run['accuracy'])} / {percent(run['nmi'])}"


def _comparison(results: Results) -> list[str]:
    lines = []
    for n_classes, paper in results["paper"].items():
        if not paper:
            continue
        ours = results["ours"][n_classes]
        accuracy = {method: ours[method]["accuracy"] for method in paper}
        theirs = {method: values[0] for method, values in paper.items()}
        same, pairs = concordance(accuracy, theirs)
        lines.append(
            f"- {n_classes} classes, by accuracy. Ours: {ranking(accuracy)}. Paper: {ranking(theirs)}. "
            f"{same} of {count(pairs, 'pair')} of methods are in the same order."
        )
    here, there, total = better_than_nmf(results)
    lines.append(
        "- GraphPLSA beats graph NMF with the same kind of penalty (l2 against squared, skl against KL) in "
        f"{here} of {total} comparisons here, and in {there} in the paper (both measures, all numbers of "
        "classes)."
    )
    return lines


def better_than_nmf(results: Results) -> tuple[int, int, int]:
    """In how many comparisons GraphPLSA is better than graph NMF: here, in the paper, and of how many."""
    ours, theirs, total = 0, 0, 0
    for n_classes, paper in results["paper"].items():
        runs = results["ours"][n_classes]
        for method, rival in RIVALS.items():
            for number, measure in enumerate(("accuracy", "nmi")):
                if method in paper and rival in paper and rival in runs:
                    ours += runs[method][measure] > runs[rival][measure]
                    theirs += paper[method][number] > paper[rival][number]
                    total += 1
    return ours, theirs, total


def best_on_the_way(curve: list[Results]) -> Results:
    """Where accuracy is largest along a fit; of equals, the first."""
    return max(curve, key=lambda point: point["accuracy"])


def _ways(results: Results) -> list[str]:
    lines = []
    for method, curve in results["curves"].items():
        best, last = best_on_the_way(curve), curve[-1]
        lines.append(
            f"- {method}: {percent(best['accuracy'])} % after {best['iterations']} iterations, "
            f"{percent(last['accuracy'])} % at the end, where the objective is "
            f"{100 * (1 - last['objective'] / best['objective']):.1f} % lower."
        )
    return lines


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
        f"{method} {points(runs[method]['accuracy'], paper[method][0])}"
        for method in WITH_GRAPH
        if method in paper
    ]
    if compared:
        sentences.append(f"**{name}**, accuracy: {list_of(compared)}.")
    return sentences
