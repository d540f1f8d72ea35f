"""Figures 3 to 5 of the paper: which norms on topics and on documents are best for ranking."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import (
    LIVING,
    TOL,
    WORDS,
    lives,
    matched_entry,
    topics_may_be_lost,
)
from laconic.experiments.retrieval.contests import contest, describe, pooled
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import interval, marked
from laconic.experiments.writing import decimal, list_of, percent, table
from laconic.models import RLSI

NAMES = ("cranfield", "cacm", "time", "adi", "npl", "scifact")
NORMS = {"l1/l2": ("l1", "l2"), "l2/l1": ("l2", "l1"), "l1/l1": ("l1", "l1"), "l2/l2": ("l2", "l2")}
SIMILARITIES = ("cosine", "gram")
# The largest number of topics of the paper's range, [10, 50].
N_TOPICS = 50
ALPHA_DOCS = 0.1
# Topics with a larger share of their weights are as good as dense.
DENSE = 0.9
# Penalties on topics, as shares of the one that leaves no topics. That on documents need not be varied: to
# multiply topics by a number and divide weights by it changes the size of both penalties and nothing else.
SHARES = tuple(10.0 ** (half / 2) for half in range(-14, 0))
# What the paper claims: the first of each pair ranks better.
PAIRS = (
    ("l1/l2", "l2/l1"),
    ("l1/l2", "l1/l1"),
    ("l1/l2", "l2/l2"),
    ("l2/l1", "l2/l2"),
    ("l1/l1", "l2/l2"),
)

_TEXT = """ Four variants of RLSI, named by the norms on topics and on documents, with tf-idf weights as in
the paper and the largest number of topics of the paper's range ({n_topics}). The penalty on topics is a
share of the one that leaves no topics at all (`alpha_max_`), since what is too much depends on the
collection and on the norms: {n_shares} shares from {least} to {most}, evenly spaced on a logarithmic
scale, for all variants alike. The penalty on documents is {alpha_docs:g}. The paper varies it too, but that
adds nothing: topics that are twice as large, with weights half as large, make the same product, so a change
of one penalty makes up for a change of the other. A model counts only if at least {living:.0%} of its topics
have words, and if topics have {words} words on average. The blend of any other is hardly more than term
matching.

Scores of topics are blended with those of BM25, which are divided by the best one of each query. The paper
used other collections, and its Figures 3 to 5 are charts without numbers, so only its conclusions can be
compared. The paper shows the best of the grid; "held out" is the mean average precision of queries whose
parameters, blend included, were chosen on other queries (ten folds).

{table}

A + or - marks results that are significantly better or worse than BM25 alone (paired t-test, p < 0.05,
corrected by Holm's method). *Gram* compares what the weights stand for instead of the weights: the cosine of
vC and wC. *Density* is the share of the topics' weights that are not zero, and *share* the penalty as a share
of `alpha_max_`, both of the grid's best by the cosine of weights. *Count* is how many models of the grid
count.

Pairs of variants over all collections, held out, with the cosine of weights: ratios of mean average
precision, with the bootstrap's 95 % interval over queries. By the paper, all are above 1.

{pairs}

{conclusions}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Rank by all variants, on the same grid."""
    shares = SHARES[8:9] if quick else SHARES
    names = ("adi",) if quick else NAMES
    key = f"{N_TOPICS} topics, {ALPHA_DOCS}, {shares}, {LIVING}, {WORDS}"
    found = {name: desk.keep(f"{name}: {key}", _compared, name, shares) for name in names}
    return {
        "collections": {
            name: {key: value for key, value in each.items() if key != "average_precisions"}
            for name, each in found.items()
        },
        "pairs": {
            f"{one} : {other}": pooled(found, f"{one}, cosine", f"{other}, cosine") for one, other in PAIRS
        },
        "n_topics": N_TOPICS,
        "alpha_docs": ALPHA_DOCS,
        "shares": shares,
        "living": LIVING,
        "words": WORDS,
        "variants": list(NORMS),
    }


def _compared(name: str, shares: tuple[float, ...]) -> Results:
    collection = read_collection(name, weighting="tfidf", sublinear=False, terms=("BM25",))
    methods: dict[str, list[Entry]] = {}
    counted = {}
    for variant in NORMS:
        fits = [(share, model) for share, model in _fits(collection, variant, shares) if lives(model)]
        counted[variant] = len(fits)
        for (share, model), similarity in product(fits, SIMILARITIES):
            entry = matched_entry(collection, model, {"share": share}, similarity=similarity)
            methods.setdefault(f"{variant}, {similarity}", []).append(entry)
    return describe(collection) | contest(collection, methods, "BM25", {}) | {"counted": counted}


def _fits(collection: Collection, variant: str, shares: tuple[float, ...]) -> Iterator[tuple[float, RLSI]]:
    """Fitted models of the grid, each with its penalty as a share of `alpha_max_`."""
    topic_norm, doc_norm = NORMS[variant]
    n_topics = min(N_TOPICS, collection.n_documents // 2)
    common: Results = {"topic_norm": topic_norm, "doc_norm": doc_norm, "alpha_docs": ALPHA_DOCS}
    common |= {"init": "documents", "tol": TOL, "random_state": SEED}
    with iterations_given():
        largest = RLSI(n_topics, max_iter=1, **common).fit(collection.corpus.X).alpha_max_
    for share in shares:
        model = RLSI(n_topics, alpha_topics=share * largest, max_iter=50, **common)
        with topics_may_be_lost():
            model.fit(collection.corpus.X)
        yield share, model


def render(results: Results) -> Section:
    """The section about the variants."""
    found, shares = results["collections"], results["shares"]
    text = _TEXT.format(
        **{key: results[key] for key in ("n_topics", "alpha_docs", "living", "words")},
        n_shares=len(shares),
        least=f"{shares[0]:.2g}",
        most=f"{shares[-1]:.2g}",
        table=_table(results),
        pairs=_pairs(results),
        conclusions=_conclusions(results),
    )
    pairs = [results["pairs"][f"l1/l2 : {other}"] for other in results["variants"] if other != "l1/l2"]
    others = list_of(other for other in results["variants"] if other != "l1/l2")
    findings = [
        "**Norms**: by the paper l1 on topics and l2 on documents rank best, and l2 on both worst. Here, "
        f"over {len(found)} collections, held out and with the paper's cosine, l1/l2 reaches "
        f"{list_of(decimal(pair['ratio']) for pair in pairs)} times the mean average precision of {others}."
    ]
    return Section("Which norms (Figures 3 to 5)", text, findings)


def _table(results: Results) -> str:
    rows = []
    for name, each in results["collections"].items():
        alone = decimal(each["held_out"]["BM25"]["AP"])
        rows.append([TITLES[name], "BM25", alone, alone, *[""] * 4])
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
                    percent(chosen["density"]),
                    f"{chosen['settings']['share']:.2g}",
                    f"{each['counted'][variant]} of {len(results['shares'])}",
                ]
            )
    headings = [
        "collection",
        "variant",
        "best",
        "held out",
        "held out, Gram",
        "density (%)",
        "share",
        "count",
    ]
    return table(headings, rows, "llrrrrrr")


def _pairs(results: Results) -> str:
    rows = [
        [
            pair,
            *(
                cell
                for found in (each, each["all_queries"])
                for cell in (decimal(found["ratio"]), interval(found["interval"]))
            ),
        ]
        for pair, each in results["pairs"].items()
    ]
    headings = ["pair", "ratio", "interval", "ratio, all queries together", "interval"]
    return table(headings, rows, "lrrrr")


def _conclusions(results: Results) -> str:
    found, names = results["collections"].values(), results["variants"]
    total = len(found)
    best = [{v: each["grid"][f"{v}, cosine"]["AP"] for v in names} for each in found]
    first = sum(max(scores, key=scores.__getitem__) == "l1/l2" for scores in best)
    last = sum(min(scores, key=scores.__getitem__) == "l2/l2" for scores in best)
    above = sum(each["significant"][f"{v}, cosine"]["AP"] == "+" for each in found for v in names)
    gains = [
        each["held_out"][f"{v}, gram"]["AP"] - each["held_out"][f"{v}, cosine"]["AP"]
        for each in found
        for v in names
    ]
    chosen = [each["chosen"][f"{v}, cosine"] for each in found for v in names]
    shares = [f"{one['settings']['share']:.2g}" for one in chosen]
    weakest, strongest = (shares.count(f"{results['shares'][end]:.2g}") for end in (0, -1))
    hardly = [
        f"{v} on {TITLES[name]}"
        for name, each in results["collections"].items()
        for v in names
        if v.startswith("l1") and each["chosen"][f"{v}, cosine"]["density"] > DENSE
    ]
    return "\n".join(
        [
            "- *All variants improve on term matching, mostly significantly*: "
            f"{above} of {total * len(names)} are significantly above BM25 here.",
            f"- *l1/l2 is the best variant*: so on {first} of {total} collections here (best of the grid).",
            f"- *l2/l2 is the worst*: so on {last} of {total}.",
            f"- The best has the smallest penalty on topics in {weakest} of {total * len(names)} cases, "
            f"and the largest in {strongest}: there, more or less of it would perhaps do better.",
            f"- With so small a penalty l1 leaves more than {DENSE:.0%} of the weights: it hardly acts in "
            f"the best of {list_of(hardly) or 'none'}.",
            "- To compare in the metric of the Gram matrix changes mean average precision by "
            f"{np.mean(gains):+.4f} on average.",
        ]
    )
