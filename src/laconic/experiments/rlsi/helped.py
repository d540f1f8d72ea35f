"""What makes sparse topics rank as well as dense ones: one choice changed at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laconic.experiments.figures import Chart, Line
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, fitted_entry, lsi_entries
from laconic.experiments.retrieval.contests import contest, describe
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.rlsi.ranking import SHARE, word_budget
from laconic.experiments.writing import decimal, list_of, table
from laconic.models import RLSI

NAMES = ("cranfield", "time")
SIZES = (50, 100, 200)
SHARES = (0.005, 0.01, 0.02, 0.05, 0.2)
ALPHAS = (0.02, 0.03, 0.05, 0.1, 0.2)
N_TOPICS = 200

BASE = "word budget"
CHANGES = {
    BASE: "5 % of the terms for each topic, non-negative, alpha_docs 1, log-entropy weights, Gram metric",
    "cosine": "weights compared, not what they stand for",
    "signed": "topics may have negative words",
    "alpha_docs 0.1": "a weaker penalty on documents' weights",
    "tf-idf": "sublinear tf-idf weights",
    "plain tf-idf": "tf-idf weights",
    "LSI": "dense: singular vectors of log-entropy weights",
    "LSI, tf-idf": "dense: singular vectors of sublinear tf-idf weights",
    "LSI, plain tf-idf": "dense: singular vectors of tf-idf weights",
}

_TEXT = """ The settings used above were first chosen on these two collections, so their numbers flatter the
first row. Each other row changes one setting, or is LSI; grids are {sizes} topics times 21 blends with
BM25, one random start each; mean average precision of the best, and of queries whose parameters were chosen
on others.

{table}

How many words does a topic need? On {first_name} with {n_topics} topics, the table compares the word budget
(each topic has this many words) with an l1 penalty (a topic has as many as it gets; also non-negative,
alpha_docs 0.1, penalties from {first:g} to {last:g}), best blend each.

![Mean average precision over density](figure:density)

{conclusions}
"""


def run(quick: bool, say: Say) -> Results:
    """Change one choice at a time, and the number of words."""
    found: Results = {}
    sizes = (10, 20) if quick else SIZES
    names = ("adi",) if quick else NAMES
    for name in names:
        collections = {
            "log-entropy": read_collection(name),
            "tf-idf": read_collection(name, weighting="tfidf"),
            "plain tf-idf": read_collection(name, weighting="tfidf", sublinear=False),
        }
        methods = {change: list(_changed(collections, change, sizes, say)) for change in CHANGES}
        compared = contest(collections["log-entropy"], methods, "BM25", {})
        del compared["average_precisions"]
        found[name] = describe(collections["log-entropy"]) | compared
    n_topics = 20 if quick else N_TOPICS
    curves = _curves(read_collection(names[0]), n_topics, say)
    return {"collections": found, "sizes": sizes, "changes": CHANGES, "n_topics": n_topics, "curves": curves}


def _changed(
    collections: dict[str, Collection], change: str, sizes: tuple[int, ...], say: Say
) -> Iterator[Entry]:
    weighting = next((name for name in ("plain tf-idf", "tf-idf") if change.endswith(name)), "log-entropy")
    collection = collections[weighting]
    say(f"{collection.name}: {change}")
    if change.startswith("LSI"):
        yield from lsi_entries(collection, sizes)
        return
    for size in sizes:
        model = word_budget(size, collection.n_terms, tol=TOL, random_state=SEED)
        if change == "signed":
            model.set_params(nonnegative=False)
        if change == "alpha_docs 0.1":
            model.set_params(alpha_docs=0.1)
        similarity = "cosine" if change == "cosine" else "gram"
        yield fitted_entry(collection, model, {"K": size}, similarity=similarity)


def _curves(collection: Collection, n_topics: int, say: Say) -> dict[str, list[Any]]:
    """Density and mean average precision of the best blend, for both ways to few words."""
    curves: dict[str, list[Any]] = {"word budget": [], "l1 penalty": []}
    common: Results = {"tol": TOL, "random_state": SEED}
    for share, alpha in zip(SHARES, ALPHAS, strict=True):
        say(f"{collection.name}: {share:.1%} of the terms, and l1 penalty {alpha:g}")
        budget = word_budget(n_topics, collection.n_terms, share, **common)
        penalty = RLSI(
            n_topics, alpha_topics=alpha, alpha_docs=0.1, nonnegative=True, init="documents", **common
        )
        for curve, model in zip(curves.values(), (budget, penalty), strict=True):
            entry = fitted_entry(collection, model, {})
            curve.append([entry.density, float(entry.precisions["BM25"].mean(axis=1).max())])
    dense = next(lsi_entries(collection, [n_topics]))
    curves["LSI"] = [[1.0, float(dense.precisions["BM25"].mean(axis=1).max())]]
    return {name: sorted(curve) for name, curve in curves.items()}


def render(results: Results) -> Section:
    """The section about what helped."""
    found = results["collections"]
    rows = [
        [
            change,
            what,
            *(
                cell
                for each in found.values()
                for cell in (decimal(each["grid"][change]["AP"]), decimal(each["held_out"][change]["AP"]))
            ),
        ]
        for change, what in results["changes"].items()
    ]
    headings = ["", "what"] + [f"{TITLES[name]}, {what}" for name in found for what in ("best", "held out")]
    curves = results["curves"]
    figure = Chart(
        f"{TITLES[next(iter(found))]}, {results['n_topics']} topics",
        "density (% of the terms)",
        "mean average precision (%)",
        {name: Line([(100 * x, 100 * y) for x, y in curves[name]]) for name in ("word budget", "l1 penalty")},
        {"LSI, dense": 100 * curves["LSI"][0][1]},
    )
    text = _TEXT.format(
        sizes=", ".join(map(str, results["sizes"])),
        table=table(headings, rows, "ll" + "rr" * len(found)),
        n_topics=results["n_topics"],
        first_name=TITLES[next(iter(found))],
        first=ALPHAS[0],
        last=ALPHAS[-1],
        conclusions=_conclusions(results),
    )
    return Section("What helped", text, [_finding(results)], {"density": figure})


def _conclusions(results: Results) -> str:
    curves = results["curves"]
    sparse = [(x, y) for x, y in curves["word budget"] if x <= SHARE + 1e-9]
    penalised = [(x, y) for x, y in curves["l1 penalty"] if x <= SHARE + 1e-9]
    dense = curves["LSI"][0][1]
    lines = [
        f"- With at most {SHARE:.0%} of the terms, the word budget reaches "
        f"{decimal(max(y for _, y in sparse))}"
        + (f", an l1 penalty {decimal(max(y for _, y in penalised))}" if penalised else "")
        + f"; LSI with as many topics {decimal(dense)}."
    ]
    for change in ("cosine", "signed", "alpha_docs 0.1", "tf-idf"):
        differences = ", ".join(
            f"{each['held_out'][change]['AP'] - each['held_out'][BASE]['AP']:+.3f} ({TITLES[name]})"
            for name, each in results["collections"].items()
        )
        lines.append(f"- {change} instead of the first row: {differences} held out.")
    return "\n".join(lines)


def _finding(results: Results) -> str:
    found = results["collections"]
    changes = [name for name in results["changes"] if name != BASE and not name.startswith("LSI")]
    losses = {
        change: [
            TITLES[name]
            for name, each in found.items()
            if each["held_out"][change]["AP"] < each["held_out"][BASE]["AP"]
        ]
        for change in changes
    }
    everywhere = [change for change in changes if len(losses[change]) == len(found)]
    some = [f"{change} ({list_of(where)})" for change, where in losses.items() if 0 < len(where) < len(found)]
    return (
        f"**What helped**: we changed one setting of the word budget at a time. Held out, "
        f"{list_of(everywhere) or 'no change'} made rankings worse on "
        f"{'both' if len(found) == 2 else 'all'} of {list_of(TITLES[name] for name in found)}; "
        f"{list_of(some) or 'no change'} did so on one of them only."
    )
