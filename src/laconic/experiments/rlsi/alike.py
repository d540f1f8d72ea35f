"""Figures 6 to 8 again: the same numbers of topics for all models, and a wide grid for the paper's RLSI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from laconic.evaluate.comparison import paired_test
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, fitted_entry, lsi_entries
from laconic.experiments.retrieval.contests import contest, describe
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import interval, marked
from laconic.experiments.rlsi.ranking import BUDGET, LSI, PAPER, usable, word_budget
from laconic.experiments.writing import decimal, list_of, percent, table
from laconic.models import NMF, PLSA, RLSI

NAMES = ("cranfield", "cacm", "time", "adi")
SIZES = (25, 50, 100, 200)
ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0)
METHODS = (LSI, "PLSA", "NMF", PAPER, BUDGET)

_TEXT = """
Above, the paper's RLSI had fewer numbers of topics to choose from than LSI. Here all models have {sizes}
topics (as far as there are twice as many documents), and the paper's RLSI also penalties on topics of
{alphas}, times topics that may or may not be negative; alpha_docs is 0.1, weights are log-entropy, topics
are compared in the metric of the Gram matrix. So its grid is {times} times that of LSI: held-out queries
guard against what a longer search finds by chance. NPL and SciFact are left out, whose fits take too long.

### Mean average precision, blended with BM25, held out

{held_out}

### Mean average precision, blended with BM25, best of the grid

{grid}

### The paper's RLSI and LSI

{ratios}

{conclusion}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Rank by every model of the grids."""
    sizes, alphas = ((10,), (0.1,)) if quick else (SIZES, ALPHAS)
    names = NAMES[-1:] if quick else NAMES
    key = f"{sizes}, {alphas}"
    return {
        "collections": {name: desk.keep(f"{name}: {key}", _contest, name, sizes, alphas) for name in names},
        "sizes": sizes,
        "alphas": alphas,
        "methods": METHODS,
    }


def _contest(name: str, sizes: tuple[int, ...], alphas: tuple[float, ...]) -> Results:
    collection = read_collection(name)
    methods = {method: list(_entries(collection, method, sizes, alphas)) for method in METHODS}
    pairs = {method: LSI for method in METHODS if method != LSI}
    found = contest(collection, methods, "BM25", pairs)
    return describe(collection) | found


def _entries(
    collection: Collection, method: str, sizes: tuple[int, ...], alphas: tuple[float, ...]
) -> Iterator[Entry]:
    possible = usable(collection, sizes)
    if method == LSI:
        yield from lsi_entries(collection, possible)
        return
    for size in possible:
        for model, settings in models(method, size, collection.n_terms, alphas):
            yield fitted_entry(collection, model, {"K": size} | settings, counts=method == "PLSA")


def models(method: str, size: int, n_terms: int, alphas: tuple[float, ...]) -> Iterator[tuple[Any, Results]]:
    """The models of a method's grid with so many topics, and what sets each apart."""
    common: Results = {"tol": TOL, "random_state": SEED, "max_iter": 100}
    if method == BUDGET:
        yield word_budget(size, n_terms, **common), {}
    elif method == PAPER:
        for alpha in alphas:
            for nonnegative in (False, True):
                model = RLSI(size, alpha_topics=alpha, alpha_docs=0.1, nonnegative=nonnegative, **common)
                yield model, {"alpha": alpha, "nonnegative": nonnegative}
    else:
        yield (PLSA if method == "PLSA" else NMF)(size, **common), {}


def together(results: Results) -> Results:
    """The paper's RLSI against LSI, over the queries of all collections."""
    ours, theirs = (
        np.concatenate([each["average_precisions"][method] for each in results["collections"].values()])
        for method in (PAPER, LSI)
    )
    test = paired_test(ours.tolist(), theirs.tolist())
    return {"ratio": test.ratio, "interval": test.ratio_interval, "p_value": test.p_value}


def render(results: Results) -> Section:
    """The section of the page."""
    found, every = results["collections"], together(results)
    names = [TITLES[name] for name in found]
    tables = {}
    for kind in ("held_out", "grid"):
        rows = []
        for method in ("BM25", *results["methods"]):
            cells = [
                marked(each, method, "AP") if kind == "held_out" else decimal(each[kind][method]["AP"])
                for each in found.values()
            ]
            rows.append([method if method == "BM25" else f"BM25 + {method}", *cells])
        tables[kind] = table(["", *names], rows, "l" + "r" * len(names))
    text = _TEXT.format(
        sizes=list_of(map(str, results["sizes"])),
        alphas=list_of(f"{alpha:g}" for alpha in results["alphas"]),
        times=2 * len(results["alphas"]),
        **tables,
        ratios=_ratios(results),
        conclusion=(
            f"Over all queries together, the paper's RLSI reaches {decimal(every['ratio'])} times LSI's mean "
            f"average precision ({interval(every['interval'])}), held out."
        ),
    )
    finding = (
        f"**The same grids**: with as many topics to choose from as LSI, the paper's RLSI has "
        f"{decimal(every['ratio'])} of its mean average precision ({interval(every['interval'])}) over the "
        f"queries of {list_of(names)}, held out."
    )
    return Section("The same grids for all (Figures 6 to 8)", text, [finding])


def _ratios(results: Results) -> str:
    rows = []
    for name, each in results["collections"].items():
        pair, chosen = each["pairs"][PAPER], each["chosen"][PAPER]
        settings = chosen["settings"]
        sign = "non-negative" if settings["nonnegative"] else "signed"
        rows.append(
            [
                TITLES[name],
                decimal(each["grid"][LSI]["AP"]),
                decimal(each["grid"][PAPER]["AP"]),
                decimal(pair["ratio"]),
                interval(pair["interval"]),
                percent(chosen["density"]),
                f"{settings['K']} topics, {settings['alpha']:g}, {sign}",
                str(each["chosen"][LSI]["settings"]["K"]),
            ]
        )
    headings = ["", "LSI, best", "RLSI, best", "ratio held out", "interval", "density (%)"]
    return table([*headings, "best RLSI", "topics, best LSI"], rows, "lrrrrrlr")
