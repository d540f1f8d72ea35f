"""The sections of the page about clusters of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from laconic.experiments.figures import Chart, Line, Picture
from laconic.experiments.gplsa.images import (
    ALIKE,
    ANY,
    AS_THEY_ARE,
    IMAGES,
    KMEANS,
    LATER,
    METHODS,
    PLAIN,
    RULES,
    WITH_GRAPH,
    Grid,
    Setting,
    grid_of,
    strengths_of,
)
from laconic.experiments.gplsa.paths import STARTS
from laconic.experiments.parts import Results, Section
from laconic.experiments.writing import concordance, count, edges, list_of, percent, ranking, table

NAMES = {"coil20": "COIL-20", "pie_pose27": "CMU PIE, pose 27"}
_TABLES = {"coil20": "Table 2", "pie_pose27": "Table 1"}
# The rows of the paper, in its own words: which of ours each is compared with.
RIVALS = {"GraphPLSA l2": "graph NMF", "GraphPLSA skl": "graph NMF KL"}
# So many points are more than draws and starts explain.
UNLIKE = 15.0

_PROTOCOL = """
**The task.** Images of 32 by 32 grey pixels are documents, and pixels are terms. Two images are joined if
one is among the {n_neighbors} nearest neighbours of the other (by cosine); all edges weigh 1. A fit has as
many topics as there are classes. K-means (best of ten starts) then clusters the documents' topics.

**The measures**, in per cent. Accuracy is that of the best matching of clusters and classes. NMI is divided
by the larger entropy. Numbers are means ± standard deviations over {seeds} random starts, on one draw of
classes.

**The rivals.** Graph NMF is that of Cai et al., with both of its losses: squared (the paper's rows "L2")
and Kullback-Leibler ("KL"). GraphPLSA l1 runs without the stages that the library adds to it. PLSA is
GraphPLSA without a graph, which the paper has no rows for; "k-means" is on pixels.

**What is chosen.** The paper chooses the strength of the graph "by cross-validation on a subset", and says
neither how images are scaled nor where fits start. It says that its loops end after five to ten steps, but
they are nested: topics and the graph's side have loops of their own in every round. An iteration here is one
step of expectation-maximisation of each, so up to a hundred of them are as much work. Here all methods
choose among the same options:

- the images: "{alike}" (each sums to one; for squared loss, each has length one), or "{raw}" (they do so on
  average, so that dark images count for less);
- the start: drawn documents, random topics and weights, or the centres of k-means after ten iterations;
- the strength: {strengths}; for l1, which makes rows equal much sooner, a hundredth of these;
- the iterations: {marks}. Since one iteration is hardly a fit, settings are chosen twice: among those of
  {later}, and of {any}.

The best setting has the largest mean of accuracy and NMI on {tuning} ({starts} of
each fit, for all methods alike); of settings less than half a point below it, the one with the weakest graph
is taken. So labels of these classes are used.{overlap}

{scores}

### Which method is ahead

{verdict}

Methods by accuracy, from the best to the worst; "≈" joins those that are less than half a point apart.

{orders}

### What was chosen

{chosen}

Strengths: {edges}

Iterations: {iterations}

What the choices are worth: the best mean of accuracy and NMI, on the classes to choose on, that a method
reaches if one option is fixed and all others are free.

{worth}

### Clusters come before minima

Accuracy and objective along one fit of each method, on {curve_classes} classes, with the settings of
{later}. Objectives are divided by the last of their fit.

![Accuracy against iterations](figure:{figure}-iterations)

![Objective against iterations](figure:{figure}-objective)

{ways}"""


def render_images(results: Results) -> Section:
    """The section of one data set."""
    groups: dict[int, list[str]] = {}
    for n_classes, n_tuning in results["tuning_classes"].items():
        groups.setdefault(n_tuning, []).append(n_classes)
    overlap = " They are not among the classes reported."
    if results["overlap"]:
        rows = list_of(map(str, results["overlap"]))
        overlap = f"{overlap[:-1]}, except in the rows of {rows}, which have all."
    text = _PROTOCOL.format(
        **{key: results[key] for key in ("n_neighbors", "seeds", "curve_classes")},
        starts=count(results["tuning_seeds"], "random start"),
        alike=ALIKE,
        raw=AS_THEY_ARE,
        strengths=list_of(f"{value:,.9g}" for value in results["strengths"]),
        marks=list_of(map(str, results["marks"])),
        later=LATER,
        any=ANY,
        tuning=list_of(f"{n} classes for the rows of {list_of(rows)}" for n, rows in groups.items()),
        overlap=overlap,
        scores=_scores(results),
        verdict=_verdict(results),
        orders=_orders(results),
        chosen=_chosen(results),
        edges=_edges(results),
        iterations=_first_marks(results),
        worth=_worth(results),
        figure=_short(results),
        ways=_ways(results),
    )
    title = f"Images in clusters: {NAMES[results['dataset']]}"
    return Section(title, text, _findings(results), _charts(results))


def _scores(results: Results) -> str:
    rows = []
    for n_classes, runs in results["ours"].items():
        for method in METHODS:
            paper = results["paper"][n_classes].get(method, (None, None))
            late, early = (runs[rule][method] for rule in (LATER, ANY))
            cells = []
            for measure, theirs in zip(("accuracy", "nmi"), paper, strict=True):
                shown = [percent(run[measure], run[f"{measure}_sd"]) for run in (late, early)]
                cells += [shown[0], "" if early == late else shown[1], percent(theirs)]
            rows.append([n_classes, method, *cells])
    where = f"paper ({_TABLES[results['dataset']]})"
    headings = ["classes", "method", "accuracy", "any number", where, "NMI", "any number", where]
    said = f'Scores are for {LATER}; those of "any number" are shown where they are others.'
    return f"{said}\n\n{table(headings, rows, 'rlrrrrrr')}"


def by_rule(shown: Mapping[str, str]) -> list[str]:
    """What is said of each rule, once where it is the same for both.

    >>> by_rule({LATER: "5 of 6", ANY: "5 of 6"}), by_rule({LATER: "5 of 6", ANY: "4 of 6"})[1]
    (['5 of 6 (with both rules)'], '4 of 6 (any number of iterations)')
    """
    if len(set(shown.values())) == 1:
        return [f"{shown[LATER]} (with both rules)"]
    return [f"{text} ({rule})" for rule, text in shown.items()]


class Tally(NamedTuple):
    """In how many comparisons GraphPLSA is better than graph NMF: here, in the paper, and of how many."""

    here: int
    paper: int
    total: int


def better_than_nmf(results: Results, rule: str, without: Sequence[str] = ()) -> dict[str, Tally]:
    """By the divergence of GraphPLSA; by both measures, for the numbers of classes that the paper has."""
    found = {}
    for method, rival in RIVALS.items():
        ours, theirs, total = 0, 0, 0
        for n_classes, paper in results["paper"].items():
            runs = results["ours"][n_classes][rule]
            for number, measure in enumerate(("accuracy", "nmi")):
                if method in paper and rival in paper and n_classes not in without:
                    ours += runs[method][measure] > runs[rival][measure]
                    theirs += paper[method][number] > paper[rival][number]
                    total += 1
        found[method] = Tally(ours, theirs, total)
    return found


def of_both(tallies: Mapping[str, Tally]) -> str:
    """How many comparisons each divergence wins.

    >>> of_both({"GraphPLSA l2": Tally(1, 6, 6), "GraphPLSA skl": Tally(3, 6, 6)})
    '1 and 3 of 6'
    """
    total = next(iter(tallies.values())).total
    return f"{list_of(str(tally.here) for tally in tallies.values())} of {total}"


def best_of(runs: Results, kind: str) -> float:
    """The largest accuracy among the methods whose names begin so."""
    return float(max(run["accuracy"] for method, run in runs.items() if method.startswith(kind)))


def _verdict(results: Results) -> str:
    lines = []
    for rule in RULES:
        shown = list_of(
            f"{method} beats {RIVALS[method]} in {tally.here} of {tally.total} comparisons "
            f"(paper: {tally.paper})"
            for method, tally in better_than_nmf(results, rule).items()
        )
        bests = list_of(
            f"{percent(best_of(runs[rule], 'GraphPLSA'))} against {percent(best_of(runs[rule], 'graph NMF'))}"
            for runs in results["ours"].values()
        )
        lines.append(f"- With {rule}: {shown}. The best accuracies of both are {bests}.")
    lines += [*_apart(results), *_unlike_the_paper(results)] if any(results["paper"].values()) else []
    how = (
        "GraphPLSA and graph NMF, by accuracy and NMI, for all numbers of classes "
        f"({list_of(results['ours'])}); each penalty against that of the same kind:"
    )
    return "\n\n".join([how, "\n".join(lines)])


def _shared(results: Results) -> list[str]:
    """The rows whose classes are also among those that settings are chosen on."""
    return [str(n) for n in results["overlap"]]


def _apart(results: Results) -> list[str]:
    """The same comparisons, without those rows."""
    shared = _shared(results)
    if not shared:
        return []
    won = {rule: of_both(better_than_nmf(results, rule, shared)) for rule in RULES}
    return [
        f"- Without the row of {list_of(shared)}, which shares classes with those settings are chosen on, "
        f"these are {' and '.join(by_rule(won))}."
    ]


def _unlike_the_paper(results: Results) -> list[str]:
    """Methods whose accuracy changes otherwise than in the paper with the number of classes."""
    rows = [n for n, paper in results["paper"].items() if paper]
    first, last = rows[0], rows[-1]
    shown = []
    for method, (accuracy, _) in results["paper"][last].items():
        ours, before = (results["ours"][n][LATER][method]["accuracy"] for n in (last, first))
        here, there = 100 * (ours - before), 100 * (accuracy - results["paper"][first][method][0])
        if abs(here - there) > UNLIKE:
            shown.append(f"{here:+.1f} here and {there:+.1f} in the paper ({method})")
    what = f"- Not explained: from {first} to {last} classes, accuracy changes by"
    return [f"{what} {'; '.join(shown)}."] if shown else []


def _orders(results: Results) -> str:
    rows: list[list[str]] = []
    for n_classes, paper in results["paper"].items():
        theirs = {method: values[0] for method, values in paper.items()}
        for rule in RULES if paper else ():
            ours = {method: results["ours"][n_classes][rule][method]["accuracy"] for method in paper}
            same, pairs = concordance(ours, theirs)
            row = [n_classes, rule, ranking(ours), f"{same} of {pairs}"]
            if rule == ANY and row[2] == rows[-1][2]:
                rows[-1][1] = "both rules"
            else:
                rows.append(row)
        if paper:
            rows.append([n_classes, "paper", ranking(theirs), ""])
    return table(["classes", "with", "order", "pairs as in the paper"], rows, "rllr")


def grids_of(results: Results, n_tuning: str) -> dict[str, Grid]:
    """What methods chose from, by their names."""
    return {m: grid_of(rows, results["marks"]) for m, rows in results["tuning"][n_tuning].items()}


def _chosen(results: Results) -> str:
    rows = []
    for n_tuning, rules in results["chosen"].items():
        grids = grids_of(results, n_tuning)
        for method in grids:
            late, early = (Setting(**rules[rule][method]) for rule in (LATER, ANY))
            cells = [_shown(late), percent(grids[method][late])]
            cells += [_shown(early), percent(grids[method][early])] if early != late else ["", ""]
            rows.append([n_tuning, method, *cells])
    mean = "mean of accuracy and NMI"
    headings = ["classes", "method", *(cell for rule in RULES for cell in (rule, mean))]
    said = (
        "Settings are images, start, strength and iterations; the second ones are shown if they are others."
    )
    return f"{said}\n\n{table(headings, rows, 'rllrlr')}"


def _shown(setting: Setting) -> str:
    strength = f", {setting.strength:g}" if setting.strength else ""
    return f"{setting.images}, {setting.start}{strength}, {setting.iterations}"


def _settings(results: Results) -> Iterator[tuple[str, str, str, Setting]]:
    """What was chosen, with a name, the rule and the method; once where it is the same by both rules."""
    for rules in results["chosen"].values():
        for rule, settings in rules.items():
            for method, setting in settings.items():
                same = rules[LATER][method] == rules[ANY][method]
                if rule == LATER or not same:
                    yield method if same else f"{method} ({rule})", rule, method, Setting(**setting)


def _edges(results: Results) -> str:
    """Whether chosen strengths are at the edge of their grids."""
    chosen, choices = {}, {}
    for name, _, method, setting in _settings(results):
        if method != PLAIN:
            chosen[name], choices[name] = setting.strength, strengths_of(method, results["strengths"])
    return _small(edges(chosen, choices))


def _first_marks(results: Results) -> str:
    """Whether fewer or more iterations than there were to choose from might be better."""
    chosen, choices = {}, {}
    for name, rule, _, setting in _settings(results):
        chosen[name] = setting.iterations
        choices[name] = [mark for mark in results["marks"] if mark >= RULES[rule]]
    return _small(edges(chosen, choices))


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _worth(results: Results) -> str:
    """The best score of every method with each option."""
    rows = []
    for n_tuning in results["tuning"]:
        for method, grid in grids_of(results, n_tuning).items():
            cells = [percent(max(grid[s] for s in grid if s.images == images)) for images in IMAGES]
            cells += [percent(max(grid[s] for s in grid if s.start == start)) for start in STARTS]
            cells += [percent(max(grid[s] for s in grid if s.iterations >= n)) for n in RULES.values()]
            rows.append([n_tuning, method, *cells])
    headings = ["classes", "method", *IMAGES, *STARTS, *RULES]
    return table(headings, rows, "rl" + "r" * (len(headings) - 2))


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
    # the largest that shares no class with those that settings are chosen on
    apart = [n for n in results["ours"] if n not in _shared(results)]
    n_classes = (apart or list(results["ours"]))[-1]
    rules = results["ours"][n_classes]
    where = f"**{NAMES[results['dataset']]}**, {n_classes} classes"
    firsts = by_rule(
        {rule: list_of(_first(rules[rule], kind) for kind in ("GraphPLSA", "graph NMF")) for rule in RULES}
    )
    others = [f"{method} {percent(rules[LATER][method]['accuracy'])} %" for method in (PLAIN, KMEANS)]
    sentences = [f"{where}, images clustered correctly: {'; '.join([*firsts, *others])}."]
    paper = results["paper"][n_classes]
    compared = [
        f"{method} {100 * (rules[LATER][method]['accuracy'] - paper[method][0]):+.1f}"
        for method in WITH_GRAPH
        if method in paper
    ]
    if compared:
        sentences.append(f"{where}, {LATER}: accuracy against the paper's, in points: {list_of(compared)}.")
    return sentences


def _first(runs: Results, kind: str) -> str:
    """The best method of a kind, with its accuracy."""
    best = max((m for m in runs if m.startswith(kind)), key=lambda m: float(runs[m]["accuracy"]))
    return f"{best} {percent(runs[best]['accuracy'])} %"
