"""Figures 6 to 8 again: the same numbers of topics for all models, and a wide grid for the paper's RLSI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import (
    LIVING,
    TOL,
    WORDS,
    lda,
    lives,
    lsi_entries,
    matched_entry,
    topics_may_be_lost,
)
from laconic.experiments.retrieval.contests import contest, describe, pooled
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import interval, marked
from laconic.experiments.rlsi.ranking import BUDGET, LSI, PAPER, entry_of, usable, word_budget
from laconic.experiments.writing import decimal, list_of, percent, table
from laconic.models import NMF, PLSA, RLSI

NAMES = ("cranfield", "cacm", "time", "adi", "npl", "scifact")
SIZES = (25, 50, 100, 200)
ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0)
ALPHA_DOCS = 0.1
MAX_ITER = 100
# On other texts it came to rest after 35 to 70 (the page about Sparse LSA).
LDA_ITERATIONS = 100
METHODS = (LSI, "PLSA", "LDA", "NMF", PAPER, BUDGET)

_TEXT = """
Above, some models had fewer numbers of topics to choose from than LSI. Here all have {sizes} topics, as far
as a collection has twice as many documents. The paper's RLSI is also fitted with penalties on topics of
{alphas}, with topics that may be negative and with topics that may not. So its grid is {times} times as large
as LSI's, and held-out queries guard against what a longer search finds by chance. Its models count only if at
least {living:.0%} of their topics have words, and {words} words on average. alpha_docs is {alpha_docs:g},
except for the word budget, which keeps its own settings from above. Fits end after at most {max_iter}
iterations, those of LDA after {lda_iterations}. All else is as above.

### Mean average precision, blended with BM25, held out

{held_out}

### Mean average precision, blended with BM25, best of the grid

{grid}

### The paper's RLSI and LSI

{ratios}

*Density* is that of the topics of the grid's best. Ratios and intervals are held out.

{conclusion}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Rank by every model of the grids."""
    sizes, alphas = ((10,), (0.1,)) if quick else (SIZES, ALPHAS)
    names = ("adi",) if quick else NAMES
    key = f"{sizes}, {alphas}, {ALPHA_DOCS}, {METHODS}, {LIVING}, {WORDS}, {MAX_ITER}, {LDA_ITERATIONS}"
    found = {name: desk.keep(f"{name}: {key}", _contest, name, sizes, alphas) for name in names}
    return {
        "collections": {
            name: {key: value for key, value in each.items() if key != "average_precisions"}
            for name, each in found.items()
        },
        "pooled": {method: pooled(found, method, LSI) for method in METHODS if method != LSI},
        "living": LIVING,
        "words": WORDS,
        "alpha_docs": ALPHA_DOCS,
        "max_iter": MAX_ITER,
        "lda_iterations": LDA_ITERATIONS,
        "sizes": sizes,
        "alphas": alphas,
        "methods": METHODS,
    }


def _contest(name: str, sizes: tuple[int, ...], alphas: tuple[float, ...]) -> Results:
    collection = read_collection(name, terms=("BM25",))
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
            found = {"K": size} | settings
            if method == PAPER:
                with topics_may_be_lost():
                    model.fit(collection.corpus.X)
                if lives(model):
                    yield matched_entry(collection, model, found)
            else:
                yield entry_of(collection, method, model, found)


def models(method: str, size: int, n_terms: int, alphas: tuple[float, ...]) -> Iterator[tuple[Any, Results]]:
    """The models of a method's grid with so many topics, and what sets each apart."""
    common: Results = {"tol": TOL, "random_state": SEED, "max_iter": MAX_ITER}
    if method == BUDGET:
        yield word_budget(size, n_terms, **common), {}
    elif method == PAPER:
        for alpha in alphas:
            for nonnegative in (False, True):
                model = RLSI(
                    size,
                    alpha_topics=alpha,
                    alpha_docs=ALPHA_DOCS,
                    nonnegative=nonnegative,
                    init="documents",
                    **common,
                )
                yield model, {"alpha": alpha, "nonnegative": nonnegative}
    elif method == "LDA":
        yield lda(size, LDA_ITERATIONS), {}
    else:
        yield (PLSA if method == "PLSA" else NMF)(size, **common), {}


def render(results: Results) -> Section:
    """The section of the page."""
    found, every = results["collections"], results["pooled"][PAPER]
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
        **{key: results[key] for key in ("living", "words", "alpha_docs", "max_iter", "lda_iterations")},
        sizes=list_of(map(str, results["sizes"])),
        alphas=list_of(f"{alpha:g}" for alpha in results["alphas"]),
        times=2 * len(results["alphas"]),
        **tables,
        ratios=_ratios(results),
        conclusion=_conclusion(results),
    )
    finding = (
        f"**The same grids**: with as many topics to choose from as LSI, the paper's RLSI reaches "
        f"{decimal(every['ratio'])} times LSI's mean average precision ({interval(every['interval'])}) over "
        f"{len(names)} collections, held out, and {decimal(every['all_queries']['ratio'])} times over all "
        f"queries together ({interval(every['all_queries']['interval'])})."
    )
    return Section("The same grids for all (Figures 6 to 8)", text, [finding])


def sides(results: Results) -> str:
    """On which collections the paper's RLSI is above LSI and below, held out, beyond chance or not."""
    pairs = {TITLES[name]: each["pairs"][PAPER] for name, each in results["collections"].items()}
    above = [name for name, pair in pairs.items() if pair["interval"][0] > 1]
    below = [name for name, pair in pairs.items() if pair["interval"][1] < 1]
    return (
        f"The interval of a single collection is above 1 on {list_of(above) or 'none'} and below 1 on "
        f"{list_of(below) or 'none'}."
    )


def _conclusion(results: Results) -> str:
    """Each method against LSI, over all collections."""
    lines = [
        f"- {method}: {decimal(each['ratio'])} of LSI's mean over the collections "
        f"({interval(each['interval'])}); over all queries together {decimal(each['all_queries']['ratio'])} "
        f"({interval(each['all_queries']['interval'])})."
        for method, each in results["pooled"].items()
    ]
    heading = "Over all collections, each method against LSI, held out:"
    return f"{sides(results)}\n\n{heading}\n\n" + "\n".join(lines)


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
