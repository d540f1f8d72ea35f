"""Figures 3 to 5 of the paper: which norms on topics and on documents are best for ranking."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np

from laconic.errors import InputWarning
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, matched_entry
from laconic.experiments.retrieval.contests import contest, describe
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import marked
from laconic.experiments.writing import decimal, list_of, ranking, table
from laconic.models import RLSI

NAMES = ("cranfield", "cacm", "time", "adi", "npl", "scifact")
NORMS = {"l1/l2": ("l1", "l2"), "l2/l1": ("l2", "l1"), "l1/l1": ("l1", "l1"), "l2/l2": ("l2", "l2")}
SIMILARITIES = ("cosine", "gram")
# The ends of the paper's ranges, [10, 50] and [0.01, 1], and what is between.
N_TOPICS = 50
ALPHAS = (0.01, 0.1, 1.0)
# Of the penalty that leaves no topics: what l1 on topics is given, since that depends on the collection.
SHARES = (0.02, 0.1, 0.4)
# At least this share of the topics must have words; otherwise what is blended is hardly a topic model.
LIVING = 0.9
# Below this density, a model has hardly any words.
HOLLOW = 0.003

_TEXT = """ Four variants of RLSI, named by the norms on topics and on documents, with tf-idf weights as in
the paper; the largest number of topics of the paper's range ({n_topics}); {penalties}. Scores of topics are
blended with those of BM25, which are divided by the best one of each query. The paper used other
collections, and its Figures 3 to 5 are charts without numbers, so only its conclusions can be compared. The
paper shows the best of the grid; "held out" is the mean average precision of queries whose parameters,
blend included, were chosen on other queries (ten folds).

{table}

A + or - marks results that are significantly better or worse than BM25 alone (paired t-test, p < 0.05,
corrected by Holm's method). *Density* is the share of the topics' weights that are not zero, of the grid's
best. *Gram* compares what the weights stand for instead of the weights: the cosine of vC and wC.

{conclusions}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Rank by all variants, on the paper's grid."""
    alphas, shares = (ALPHAS[1:2], SHARES[:1]) if quick else (ALPHAS, SHARES)
    names = ("adi",) if quick else NAMES
    key = f"{N_TOPICS} topics, {alphas}, {shares}, {LIVING}"
    return {
        "collections": {name: desk.keep(f"{name}: {key}", _compared, name, alphas, shares) for name in names},
        "n_topics": N_TOPICS,
        "alphas": alphas,
        "shares": shares,
        "living": LIVING,
        "variants": list(NORMS),
    }


def _compared(name: str, alphas: tuple[float, ...], shares: tuple[float, ...]) -> Results:
    collection = read_collection(name, weighting="tfidf", sublinear=False)
    methods: dict[str, list[Entry]] = {}
    dead = {}
    for variant in NORMS:
        fits = list(_fits(collection, variant, alphas, shares))
        # Of fits that all have too few topics, the one with most.
        most = max(living for _, living in fits)
        kept = [model for model, living in fits if living >= min(LIVING, most)]
        dead[variant] = len(fits) - len(kept)
        for model, similarity in product(kept, SIMILARITIES):
            parameters = model.get_params()
            settings = {key: parameters[key] for key in ("alpha_topics", "alpha_docs")}
            entry = matched_entry(collection, model, settings, similarity=similarity)
            methods.setdefault(f"{variant}, {similarity}", []).append(entry)
    found = describe(collection) | contest(collection, methods, "BM25", {}) | {"dead": dead}
    del found["average_precisions"]
    return found


def _fits(
    collection: Collection, variant: str, alphas: tuple[float, ...], shares: tuple[float, ...]
) -> Iterator[tuple[RLSI, float]]:
    """Fitted models of the grid, each with the share of its topics that have words."""
    topic_norm, doc_norm = NORMS[variant]
    n_topics = min(N_TOPICS, collection.n_documents // 2)
    for number, alpha_docs in product(range(len(alphas)), alphas):
        common: Results = {"topic_norm": topic_norm, "doc_norm": doc_norm, "alpha_docs": alpha_docs}
        common |= {"tol": TOL, "random_state": SEED}
        alpha_topics = alphas[number]
        with iterations_given():
            # A model without topics is counted, and left out.
            warnings.filterwarnings("ignore", "no topic has a word", InputWarning)
            if topic_norm == "l1":
                first = RLSI(n_topics, max_iter=1, **common).fit(collection.corpus.X)
                alpha_topics = shares[number] * first.alpha_max_
            model = RLSI(n_topics, alpha_topics=alpha_topics, max_iter=50, **common)
            model.fit(collection.corpus.X)
        yield model, model.n_alive_ / n_topics


def render(results: Results) -> Section:
    """The section about the variants."""
    found = results["collections"]
    text = _TEXT.format(
        n_topics=results["n_topics"],
        penalties=_penalties(results),
        table=_table(results),
        conclusions=_conclusions(results),
    )
    best = {name: _order(results, name) for name in found}
    findings = [
        f"**Norms**: by the paper l1 on topics and l2 on documents rank best, and l2 on both worst. Here, "
        f"held out and with the paper's cosine: "
        f"{'; '.join(f'{TITLES[name]} {order}' for name, order in best.items())}."
    ]
    return Section("Which norms (Figures 3 to 5)", text, findings)


def _penalties(results: Results) -> str:
    alphas = list_of(f"{alpha:g}" for alpha in results["alphas"])
    if "shares" not in results:
        return f"both penalties on the grid {alphas}"
    shares = list_of(f"{share:g}" for share in results["shares"])
    return (
        f"penalties of {alphas} on documents and, for l2, on topics; l1 on topics is {shares} of the "
        "penalty that leaves no topics at all (`alpha_max_`), since what is too much depends on the "
        f"collection. Models of which less than {results['living']:.0%} of the topics have words do not "
        "count"
    )


def hollow(results: Results) -> list[str]:
    """Where the best of the grid is a model without topics to speak of: its blend is term matching."""
    return [
        f"{variant} on {TITLES[name]}"
        for name, each in results["collections"].items()
        for variant in results["variants"]
        if each["chosen"][f"{variant}, cosine"]["density"] < HOLLOW
    ]


def _table(results: Results) -> str:
    rows = []
    for name, each in results["collections"].items():
        rows.append([TITLES[name], "BM25", *[decimal(each["held_out"]["BM25"]["AP"])] * 2, "", "", ""])
        for variant in results["variants"]:
            cosine, gram = (f"{variant}, {similarity}" for similarity in SIMILARITIES)
            chosen = each["chosen"][cosine]
            rows.append(
                [
                    TITLES[name],
                    variant,
                    decimal(each["grid"][cosine]["AP"]),
                    marked(each, cosine, "AP"),
                    marked(each, gram, "AP"),
                    f"{100 * chosen['density']:.1f}",
                    f"{chosen['settings']['alpha_topics']:g}, {chosen['settings']['alpha_docs']:g}",
                ]
            )
    headings = ["collection", "variant", "best", "held out", "held out, Gram", "density (%)", "penalties"]
    return table(headings, rows, "llrrrrr")


def _order(results: Results, name: str) -> str:
    held_out = results["collections"][name]["held_out"]
    return ranking({v: held_out[f"{v}, cosine"]["AP"] for v in results["variants"]}, close=0.002)


def _conclusions(results: Results) -> str:
    found = results["collections"].values()
    best = {v: [each["grid"][f"{v}, cosine"]["AP"] for each in found] for v in results["variants"]}
    winners = np.array(list(best.values())).argmax(axis=0)
    losers = np.array(list(best.values())).argmin(axis=0)
    names = list(best)
    first, last = int((winners == names.index("l1/l2")).sum()), int((losers == names.index("l2/l2")).sum())
    above = sum(each["significant"][f"{v}, cosine"]["AP"] == "+" for each in found for v in names)
    gains = [
        each["held_out"][f"{v}, gram"]["AP"] - each["held_out"][f"{v}, cosine"]["AP"]
        for each in found
        for v in names
    ]
    total = len(winners)
    empty = hollow(results)
    return "\n".join(
        [
            *(
                [f"- The best of {list_of(empty)} has hardly any words, so it is not a topic model."]
                if empty
                else []
            ),
            "- *All variants improve on term matching, mostly significantly*: "
            f"{above} of {total * len(names)} are significantly above BM25 here.",
            f"- *l1/l2 is the best variant*: so on {first} of {total} collections here (best of the grid).",
            f"- *l2/l2 is the worst*: so on {last} of {total}.",
            "- To compare in the metric of the Gram matrix changes mean average precision by "
            f"{np.mean(gains):+.4f} on average.",
        ]
    )
