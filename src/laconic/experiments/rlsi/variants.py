"""Figures 3 to 5 of the paper: which norms on topics and on documents are best for ranking."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, matched_entry
from laconic.experiments.retrieval.contests import contest, describe
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import marked
from laconic.experiments.writing import decimal, list_of, ranking, table
from laconic.models import RLSI

NAMES = ("cranfield", "cacm", "time")
NORMS = {"l1/l2": ("l1", "l2"), "l2/l1": ("l2", "l1"), "l1/l1": ("l1", "l1"), "l2/l2": ("l2", "l2")}
SIMILARITIES = ("cosine", "gram")
# The ends of the paper's ranges, [10, 50] and [0.01, 1], and what is between.
N_TOPICS = 50
ALPHAS = (0.01, 0.1, 1.0)

_TEXT = """
Four variants of RLSI, named by the norms on topics and on documents, with tf-idf weights as in the paper; the
largest number of topics of the paper's range ({n_topics}), and both penalties on the grid {alphas}. Scores of
topics are blended with those of BM25, which are divided by the best one of each query. The paper has no
collections of ours; its Figures 3 to 5 are charts without numbers, so that only what it concludes can be
compared. The paper shows the best of the grid; "held out" is the mean average precision of queries whose
parameters, blend included, were chosen on other queries (ten folds).

{table}

Marked + or - is what is significantly better or worse than BM25 alone (paired t-test, p < 0.05, corrected by
Holm's method). *Density* is the share of the topics' weights that are not zero, of the grid's best. *Gram*
compares what weights stand for in place of the weights: the cosine of vC and wC.

{conclusions}
"""


def run(quick: bool, say: Say) -> Results:
    """Rank by all variants, on the paper's grid."""
    found: Results = {}
    alphas = (0.1,) if quick else ALPHAS
    for name in ("adi",) if quick else NAMES:
        say(f"{name}: reading")
        collection = read_collection(name, weighting="tfidf", sublinear=False)
        methods: dict[str, list[Entry]] = {}
        for variant in NORMS:
            for similarity, entry in _entries(collection, variant, alphas, say):
                methods.setdefault(f"{variant}, {similarity}", []).append(entry)
        say(f"{name}: comparing")
        found[name] = describe(collection) | contest(collection, methods, "BM25", {})
        del found[name]["average_precisions"]
    return {"collections": found, "n_topics": N_TOPICS, "alphas": alphas, "variants": list(NORMS)}


def _entries(
    collection: Collection, variant: str, alphas: tuple[float, ...], say: Say
) -> Iterator[tuple[str, Entry]]:
    topic_norm, doc_norm = NORMS[variant]
    n_topics = min(N_TOPICS, collection.n_documents // 2)
    for alpha_topics, alpha_docs in product(alphas, alphas):
        say(f"{collection.name}: {variant}, penalties {alpha_topics:g} and {alpha_docs:g}")
        model = RLSI(
            n_topics,
            topic_norm=topic_norm,
            doc_norm=doc_norm,
            alpha_topics=alpha_topics,
            alpha_docs=alpha_docs,
            max_iter=50,
            tol=TOL,
            random_state=SEED,
        )
        with iterations_given():
            model.fit(collection.corpus.X)
        settings = {"alpha_topics": alpha_topics, "alpha_docs": alpha_docs}
        for similarity in SIMILARITIES:
            yield similarity, matched_entry(collection, model, settings, similarity=similarity)


def render(results: Results) -> Section:
    """The section about the variants."""
    found = results["collections"]
    text = _TEXT.format(
        n_topics=results["n_topics"],
        alphas=list_of(f"{alpha:g}" for alpha in results["alphas"]),
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
    return "\n".join(
        [
            "- *All variants improve on term matching, mostly significantly*: "
            f"{above} of {total * len(names)} are significantly above BM25 here.",
            f"- *l1/l2 is the best variant*: so on {first} of {total} collections here (best of the grid).",
            f"- *l2/l2 is the worst*: so on {last} of {total}.",
            "- To compare in the metric of the Gram matrix changes mean average precision by "
            f"{np.mean(gains):+.4f} on average.",
        ]
    )
