"""Whether sparse topics rank like dense ones by luck: other random starts, and collections not looked at."""

from __future__ import annotations

from laconic.experiments.parts import Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, read_collection
from laconic.experiments.retrieval.contenders import TOL, fitted_entry, lsi_entries
from laconic.experiments.retrieval.contests import contest, pooled
from laconic.experiments.retrieval.tables import interval
from laconic.experiments.rlsi.ranking import ALPHA_DOCS, LSI, NAMES, SHARE, SIZES, UNSEEN, usable, word_budget
from laconic.experiments.writing import decimal, list_of, table

STARTS = (0, 1, 2)

_TEXT = """ The intervals above are over queries, with one random start per model. Here, RLSI with a word
budget is fitted from {n_starts} starts, on the same grids, and parameters are chosen again on other queries
for each; LSI has no random start. Mean average precision, held out, blended with BM25:

{table}

Of LSI's mean over the collections, with the bootstrap's 95 % interval over queries:

{ratios}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Compare LSI with the word budget, from several starts."""
    starts, all_sizes = (STARTS[:2], SIZES[:1]) if quick else (STARTS, SIZES)
    names = ("adi",) if quick else NAMES
    key = f"{starts}, {all_sizes}, {SHARE}, {ALPHA_DOCS}"
    contests = {name: desk.keep(f"{name}: {key}", _started, name, starts, all_sizes) for name in names}
    unseen = {name: found for name, found in contests.items() if name in UNSEEN}
    return {
        "held_out": {
            name: {method: scores["AP"] for method, scores in found["held_out"].items()}
            for name, found in contests.items()
        },
        "starts": starts,
        "unseen": list(unseen),
        "pooled": {str(start): pooled(contests, str(start), LSI) for start in starts},
        "pooled_unseen": {str(start): pooled(unseen, str(start), LSI) for start in starts},
    }


def _started(name: str, starts: tuple[int, ...], all_sizes: tuple[int, ...]) -> Results:
    collection = read_collection(name, terms=("BM25",))
    sizes = usable(collection, all_sizes)
    methods = {LSI: list(lsi_entries(collection, sizes))}
    for start in starts:
        methods[str(start)] = [
            fitted_entry(
                collection,
                word_budget(size, collection.n_terms, tol=TOL, random_state=start),
                {"K": size},
            )
            for size in sizes
        ]
    return contest(collection, methods, "BM25", {})


def render(results: Results) -> Section:
    """The section about starts."""
    starts = [str(start) for start in results["starts"]]
    rows = [
        [TITLES[name], *(decimal(found[key]) for key in ("BM25", LSI, *starts))]
        for name, found in results["held_out"].items()
    ]
    headings = ["", "BM25", LSI, *(f"start {start}" for start in starts)]
    names = list_of(TITLES[name] for name in results["unseen"])
    ratios = [
        [f"start {start}", *(_cell(results[kind][start]) for kind in ("pooled", "pooled_unseen"))]
        for start in starts
    ]
    text = _TEXT.format(
        n_starts=len(starts),
        table=table(headings, rows, "l" + "r" * (len(headings) - 1)),
        ratios=table(["", "all collections", f"{names} only"], ratios, "lrr"),
    )
    return Section("Other starts", text, [_finding(results, names)])


def _cell(found: Results) -> str:
    return f"{decimal(found['ratio'])} ({interval(found['interval'])})"


def _finding(results: Results, names: str) -> str:
    every, unseen = (
        [found["ratio"] for found in results[kind].values()] for kind in ("pooled", "pooled_unseen")
    )
    return (
        f"**Other starts**: over {len(every)} random starts, RLSI with a word budget reaches "
        f"{decimal(min(every))} to {decimal(max(every))} times LSI's mean average precision. On {names}, "
        f"which had no say in its settings, these are {decimal(min(unseen))} to {decimal(max(unseen))} times."
    )
