"""What the paper on graph regularised PLSA claims, and how our results judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laconic.experiments.gplsa import efficiency, joint_page
from laconic.experiments.gplsa.images import KMEANS, LATER, RULES
from laconic.experiments.gplsa.images_page import (
    NAMES,
    RIVALS,
    best_on_the_way,
    better_than_nmf,
    by_rule,
    of_both,
)
from laconic.experiments.gplsa.joint import SEMANTIC, TOPIC, WITH_PAIR
from laconic.experiments.parts import Claim, Results, Verdict, judged, untested
from laconic.experiments.writing import decimal, first_or_level, list_of, percent, ranking

# As many steps as the paper's nested loops of ten take at most; so near to the last objective is at rest.
NESTED, AT_REST = 100, 0.01


def _beats_nmf(*data: Results) -> Verdict:
    holds, parts = [], []
    for results in data:
        won, best = {}, {}
        rows = [runs for n, runs in results["ours"].items() if results["paper"][n]]
        for rule in RULES:
            tallies = better_than_nmf(results, rule)
            holds += [tally.here > tally.total / 2 for tally in tallies.values()]
            won[rule] = of_both(tallies)
            leads = [_lead(row[rule]) for row in rows]
            first, clearly = sum(lead > 0 for lead, _ in leads), sum(lead > spread for lead, spread in leads)
            best[rule] = f"{first} of {len(rows)} rows" + (f", {clearly} of them clearly" if first else "")
        parts.append(
            f"{NAMES[results['dataset']]}: it wins {' and '.join(by_rule(won))}, and is the best of all "
            f"methods in {' and '.join(by_rule(best))}."
        )
    theirs = [tally for results in data for tally in better_than_nmf(results, LATER).values()]
    return judged(
        holds,
        f"Comparisons of {list_of(f'{ours} with {rival}' for ours, rival in RIVALS.items())}, in this order, "
        f'by accuracy and NMI, with the same options for all. {" ".join(parts)} "Clearly" is by more than a '
        f"standard deviation. In the paper it wins {sum(tally.paper for tally in theirs)} of "
        f"{sum(tally.total for tally in theirs)}. More than half of each would count as confirmed.",
    )


def _lead(runs: Results) -> tuple[float, float]:
    """How far the best divergence is ahead of the best graph NMF, and the larger of their deviations."""
    ours, theirs = (
        max((run for name, run in runs.items() if name.startswith(kind)), key=lambda run: run["accuracy"])
        for kind in ("GraphPLSA", "graph NMF")
    )
    return ours["accuracy"] - theirs["accuracy"], max(ours["accuracy_sd"], theirs["accuracy_sd"])


def _skl_first(*data: Results) -> Verdict:
    holds, parts = [], []
    for results in data:
        rows = [n for n, paper in results["paper"].items() if paper]
        accuracy, nmi = (
            _overall([_of_graphs(results["ours"][n][LATER], measure) for n in rows])
            for measure in ("accuracy", "nmi")
        )
        paper = [_overall([_of_graphs(results["paper"][n], number) for n in rows]) for number in (0, 1)]
        bests, theirs = (
            [max(means, key=means.__getitem__) for means in two] for two in ([accuracy, nmi], paper)
        )
        holds += [name == "skl" for name in bests]
        shown = list_of(f"{percent(value)} ({name})" for name, value in accuracy.items())
        parts.append(
            f"{shown} on {NAMES[results['dataset']]}; best by accuracy and by NMI are {list_of(bests)} "
            f"(paper: {list_of(theirs)})"
        )
    return judged(
        holds,
        '"Best overall" is read as the best mean over the rows of a table. Mean accuracy: '
        f"{'. '.join(parts)}.",
    )


def _of_graphs(row: Mapping[str, Any], measure: str | int) -> dict[str, float]:
    """The scores of GraphPLSA, by divergence."""
    begin = "GraphPLSA "
    return {name.removeprefix(begin): run[measure] for name, run in row.items() if name.startswith(begin)}


def _overall(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means over rows."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def _l1_above_baseline(*data: Results) -> Verdict:
    holds, parts = [], []
    for results in data:
        pairs = [
            (runs[LATER]["GraphPLSA l1"]["accuracy"], runs[LATER][KMEANS]["accuracy"])
            for runs in results["ours"].values()
        ]
        holds += [ours > base for ours, base in pairs]
        shown = list_of(f"{percent(ours)} against {percent(base)}" for ours, base in pairs)
        parts.append(f"{shown} on {NAMES[results['dataset']]} ({list_of(results['ours'])} classes)")
    return judged(holds, f"Accuracy with {LATER}: {'; '.join(parts)}.")


def _few_steps(*data: Results) -> Verdict:
    holds, parts = [], []
    for results in data:
        curves = {
            method.removeprefix("GraphPLSA "): curve
            for method, curve in results["curves"].items()
            if method.startswith("GraphPLSA")
        }

        def above_the_last(steps: int, curves: Results = curves) -> dict[str, float]:
            return {
                name: _at(curve, steps)["objective"] / curve[-1]["objective"]
                for name, curve in curves.items()
            }

        holds += [ratio < 1 + AT_REST for ratio in above_the_last(NESTED).values()]
        shown = " and ".join(
            f"{list_of(f'{ratio:.2f} ({name})' for name, ratio in above_the_last(steps).items())} after "
            f"{steps}"
            for steps in (10, NESTED)
        )
        when = list_of(f"{best_on_the_way(curve)['iterations']} ({name})" for name, curve in curves.items())
        parts.append(
            f"{NAMES[results['dataset']]}: the objective is {shown} steps, times that after "
            f"{results['marks'][-1]}; clusters are best after {when}."
        )
    return judged(
        holds,
        "The paper's loops are nested, and ours are not: five to ten rounds of five to ten steps are up to "
        f"{NESTED} of ours, each a step of expectation-maximisation. {' '.join(parts)} It would count as "
        f"confirmed within {AT_REST:.0%} after {NESTED}.",
    )


def _at(curve: Sequence[Results], steps: int) -> Results:
    return next(point for point in curve if point["iterations"] == steps)


def _efficient(timing: Results) -> Verdict:
    strengths = [f"{strength:g}" for strength in timing["strengths"]]
    times = timing["seconds"]
    ratios = list_of(f"{times['l1'][s] / times['l2'][s]:.1f} (strength {s})" for s in strengths)
    return judged(
        [efficiency.slowest(timing, s) != "l1" for s in strengths],
        f"An iteration with l1 takes {ratios} times as long as one with l2. With several neighbours a "
        "weight is a median, the sum of weights has plateaus, and equal rows have to be moved together.",
    )


def _better_search(alone: Results, together: Results) -> Verdict:
    holds, parts = [], []
    for where, ours in _orders(alone, together):
        better = [name for name in ("l1", "l2", "skl") if ours[name] > ours["tied"]]
        holds += [name in better for name in ("l1", "l2", "skl")]
        parts.append(f"{list_of(better) or 'none'} ({where})")
    return judged(
        holds,
        f"Of l1, l2 and skl, better than the tied model: {'; '.join(parts)}, with one start each.",
    )


def _better_than_scm(alone: Results, together: Results) -> Verdict:
    holds: list[bool | None] = []
    parts = []
    for space in (TOPIC, SEMANTIC):
        run = together["scm"][space][WITH_PAIR]
        base = (run["i2t"] + run["t2i"]) / 2
        ours = {name: value for name, value in _means(alone, space).items() if name != "tied"}
        holds += [value > base for value in ours.values()]
        shown = list_of(f"{decimal(value)} ({name})" for name, value in ours.items())
        parts.append(f"{shown} against {decimal(base)} in {space}")
    raw = alone["without_topics"]
    return judged(
        # of the paper's baseline with kernels, nothing can be told
        [*holds, None],
        f"Mean of both directions, folded in one by one, against linear SCM: {'; '.join(parts)}. The "
        "paper's baseline has kernels, which was not tried. Without any topics, the correlation of two "
        f"logistic regressions has {decimal((raw['i2t'] + raw['t2i']) / 2)}.",
    )


def _skl_search(alone: Results, together: Results) -> Verdict:
    orders = _orders(alone, together)
    holds = ["skl" in first_or_level(means) for _, means in orders]
    shown = "; ".join(f"{ranking(means)} ({where})" for where, means in orders)
    return judged(holds, f"First, alone or level (≈), in {sum(holds)} of {len(holds)} orders: {shown}.")


def _orders(alone: Results, together: Results) -> list[tuple[str, dict[str, float]]]:
    """The models' means in both spaces, for items folded in one by one and for pairs inferred together."""
    return [
        (f"{space}, {how}", means)
        for space in (TOPIC, SEMANTIC)
        for how, means in (
            ("one by one", _means(alone, space)),
            ("together", joint_page.means(together, space, WITH_PAIR)),
        )
    ]


def _means(results: Results, space: str) -> dict[str, float]:
    return {name: (run[space]["i2t"] + run[space]["t2i"]) / 2 for name, run in results["ours"].items()}


def _semantic(alone: Results, together: Results) -> Verdict:
    gains = [
        semantic[name] - topic[name]
        for topic, semantic in (
            (_means(alone, TOPIC), _means(alone, SEMANTIC)),
            *(
                (joint_page.means(together, TOPIC, kind), joint_page.means(together, SEMANTIC, kind))
                for kind in (WITH_PAIR,)
            ),
        )
        for name in topic
    ]
    return judged(
        [gain > 0 for gain in gains],
        f"Mean average precision is higher by {decimal(min(gains))} to {decimal(max(gains))} over all four "
        "models, folded in one by one and together.",
    )


def _both_directions(alone: Results, together: Results) -> Verdict:
    def widest(ours: Results, kind: str | None) -> float:
        runs = [run[space] if kind is None else run[space][kind] for run in ours.values() for space in run]
        return float(max(abs(run["i2t"] - run["t2i"]) for run in runs))

    gaps = widest(alone["ours"], None), widest(together["ours"], WITH_PAIR)
    return judged(
        [gap < 0.05 for gap in gaps],
        f"The directions differ by up to {decimal(gaps[0])} where items are folded in one by one, and by "
        f"up to {decimal(gaps[1])} where pairs are inferred together, which is why we think the paper did "
        "that.",
    )


def _languages(europarl: Results) -> Verdict:
    skl, chance = europarl["mates"]["skl"], europarl["random"]
    return judged(
        [skl["first"] > 10 * chance["first"]],
        f"The paper shows examples only. Of held-out speeches, {percent(skl['first'])} % find their "
        f"translation in first place (chance {percent(chance['first'])} %).",
    )


CLAIMS = (
    Claim(
        "GraphPLSA clusters images better than graph NMF",
        "Tables 1 and 2",
        _beats_nmf,
        ("coil20", "pie"),
    ),
    Claim("The symmetric divergence is the best for clusters", "Section 5.1", _skl_first, ("coil20", "pie")),
    Claim(
        "l1 is better than k-means on pixels throughout", "Section 5.1", _l1_above_baseline, ("coil20", "pie")
    ),
    Claim("All loops converge within 5 to 10 steps", "Section 4.1", _few_steps, ("coil20", "pie")),
    Claim("l1 is the most efficient", "Section 4.1", _efficient, ("efficiency",)),
    Claim(
        "Linked modalities find more than tied ones",
        "Table 3",
        _better_search,
        ("wikipedia", "wikipedia-joint"),
    ),
    Claim(
        "Linked modalities find more than semantic correlation matching",
        "Table 3",
        _better_than_scm,
        ("wikipedia", "wikipedia-joint"),
    ),
    Claim(
        "The symmetric divergence is the best for search",
        "Table 3",
        _skl_search,
        ("wikipedia", "wikipedia-joint"),
    ),
    Claim(
        "Semantic space finds more than topic space", "Table 3", _semantic, ("wikipedia", "wikipedia-joint")
    ),
    Claim(
        "Both directions of search do equally well",
        "Section 5.2",
        _both_directions,
        ("wikipedia", "wikipedia-joint"),
    ),
    Claim("Topics of two languages correspond", "Section 5.3", _languages, ("europarl",)),
    Claim("The numbers for TVGraz", "Table 3", untested("The data set is not available.")),
    Claim(
        "Topics give images fitting tags",
        "Figure 3",
        untested("The copy of the data used here has neither pictures nor the names of its words."),
    ),
)

CHANGED = (
    "**Images.** The first version of this page ran 200 iterations from drawn documents and chose the "
    "strength alone, on classes that were also reported. Its numbers were below the paper's. They had been "
    "seen, and some 25 settings had been tried on overlapping draws of the same data, before start and "
    "iterations became part of the choice, graph NMF got its second loss, and the classes to choose on were "
    "kept apart from those reported.",
    "**Images.** In the second version, l2 and skl on PIE had their best strength at the edge of the grid, "
    "and graph NMF KL was far below the paper there. More than a hundred settings of it were then tried on "
    "the classes to choose on, and it was run again with images as they are, starts from k-means and ends "
    "before ten iterations, which GraphPLSA was not given.",
    "**Images.** In this version all methods choose among all of that. Before it ran, one fit of each method "
    "with some of the settings was looked at on the classes to choose on, to see how long it would take; "
    "after that, settings about as good as the best were told apart by the strength of their graph, since "
    "from some strength on nothing changes. PIE chose by one start of each fit, for time; then it was run "
    "again with three, like COIL-20. COIL-20 was run again with up to 500 iterations, because four methods "
    "had chosen 200, the most that had been tried.",
    "**Images.** Which divergence is best was first counted by rows and accuracy, with ties for the one "
    "listed first (in part), then with ties for both (confirmed, by one tie). Now it is the mean over "
    "rows, by "
    'accuracy and NMI, which is how we read the paper\'s "best overall performance".',
    "**Images.** The paper's five to ten steps were at first compared with as many of ours, though its loops "
    "are nested.",
    "**Wikipedia.** Pairs that are inferred together were added after the numbers of items that are "
    "folded in one by one had been seen to be far below the paper's.",
    "**Wikipedia, Europarl and networks.** Strengths got wider after some of the best had been seen to be at "
    "the edge of the grid.",
    "**Wikipedia.** That linked modalities find more than semantic correlation matching was called confirmed "
    "at first; it is in part, since ours is linear. Divergences less than 0.005 behind the first now share "
    "its place.",
    "**Wikipedia.** In the run before, by an earlier version of the library, the tied model, which has no "
    "strength, had other numbers in semantic space, one by one; so small gaps there say little.",
)
FUTURE = (
    "*A graph that is learned*: not here. A graph can be given, or made of nearest neighbours: "
    "[PLSA with a graph](../graph-plsa.md).",
    "*A hierarchy of topics*: of any fitted model, `laconic topics MODEL --tree` and `bundle.tree()` join "
    "the topics that share most words ([steering](../steering.md)); the model itself knows no levels.",
    "*Sparse weights where there are several modalities*: not here. With one, the priors of `PLSA` make them "
    "sparse ([PLSA](../plsa.md)).",
    "*Whether the algorithm ends at a stationary point*: not proven here either; every half step is "
    "exact or a step of expectation-maximisation, and tests see to it that the objective never rises.",
)
