"""Tables 12 and 13 of the paper: topics of classes and shared ones, against flat and class-wise topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES, Collection, read_collection
from laconic.experiments.retrieval.contenders import TOL, matched_entry
from laconic.experiments.retrieval.contests import MEASURES, contest, describe, pooled
from laconic.experiments.retrieval.grids import Entry
from laconic.experiments.retrieval.tables import interval, marked
from laconic.experiments.writing import decimal, list_of, table
from laconic.models import NMF, RLSI, GroupNMF, GroupRLSI

NAMES = ("cranfield", "cacm", "npl", "time")
N_CLASSES = 8
N_DIRECTIONS = 50
# Shared topics and those of each class; flat models have as many as there are in all.
SIZES = ((10, 5), (20, 10))
ALPHAS = (0.02, 0.1)  # of the paper's 0.01 to 0.1
ALPHA_DOCS = 0.1  # the paper's
FAMILIES = ("RLSI", "NMF")
KINDS = ("flat", "class-wise", "group")
SIMILARITIES = ("cosine", "gram")
# What counts as "only slightly worse": the paper loses less than half a per cent.
SLIGHTLY = 0.98

# Tables 12 and 13: Web-II, MAP and nDCG at 1, 3, 5 and 10.
PAPER: dict[str, tuple[float, ...]] = {
    "BM25": (0.3006, 0.3043, 0.3490, 0.3910, 0.4805),
    "flat RLSI": (0.3050, 0.3076, 0.3539, 0.3943, 0.4858),
    "class-wise RLSI": (0.3027, 0.3051, 0.3509, 0.3927, 0.4840),
    "group RLSI": (0.3039, 0.3066, 0.3520, 0.3934, 0.4855),
    "flat NMF": (0.3057, 0.3091, 0.3546, 0.3960, 0.4895),
    "class-wise NMF": (0.3033, 0.3055, 0.3512, 0.3934, 0.4869),
    "group NMF": (0.3046, 0.3080, 0.3530, 0.3955, 0.4887),
}

_TEXT = """ The paper's data, three million web pages in 204 categories with 30,000 queries, are not
available. None of the collections with queries has classes, so we use **clusters**: {n_classes} by k-means
on the leading {n_directions} singular vectors. Weights are log-entropy. As in the paper, the query takes the
class of each document it is compared with, and topic scores (cosines of weights) are blended with BM25.

Grids: group models have {sizes}. Flat models have as many topics in all; class-wise models only lack the
shared ones. RLSI is fitted with penalties of {alphas} on topics, and {alpha_docs:g} on documents. Parameters
and blend for every query were chosen on other queries (ten folds; the paper has validation queries). A + or
- marks results that are significantly better or worse than BM25 alone (paired t-test, p < 0.05, corrected
by Holm's method). Intervals are over queries, with one random start and one set of clusters.

### Mean average precision, cosine of weights

{cosine}

### Mean average precision, metric of the Gram matrix

{gram}

### All measures, mean over the collections (cosine), and the paper's on Web-II

{measures}

{conclusions}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Rank by models of all kinds."""
    names, n_classes = (("adi",), 2) if quick else (NAMES, N_CLASSES)
    key = f"{n_classes} clusters, {SIZES}, {ALPHAS}, {quick}"
    found = {name: desk.keep(f"{name}: {key}", _clustered, name, n_classes, quick) for name in names}
    return summed_up(found) | {"n_classes": N_CLASSES}


def _clustered(name: str, n_classes: int, quick: bool) -> Results:
    collection = read_collection(name, terms=("BM25",))
    return compared(collection, classes_of(collection, n_classes), quick)


def compared(collection: Collection, classes: NDArray[np.int64], quick: bool) -> Results:
    """Rank a collection by models of all kinds, given the classes of its documents as numbers from 0."""
    methods: dict[str, dict[str, list[Entry]]] = {similarity: {} for similarity in SIMILARITIES}
    sizes = np.bincount(classes)
    for family in FAMILIES:
        for kind in KINDS:
            for model in _models(family, kind, sizes.size, quick):
                for similarity, entry in _entries(collection, model, kind, classes):
                    methods[similarity].setdefault(f"{kind} {family}", []).append(entry)
    return describe(collection) | {
        "class_sizes": sorted(sizes.tolist()),
        "contests": {s: contest(collection, entered, "BM25", {}) for s, entered in methods.items()},
    }


def summed_up(found: dict[str, Results]) -> Results:
    """What several collections say together, without the values of single queries."""
    contests = {
        similarity: {name: each["contests"][similarity] for name, each in found.items()}
        for similarity in SIMILARITIES
    }
    return {
        "collections": {
            name: {key: value for key, value in each.items() if key != "contests"}
            for name, each in found.items()
        },
        "contests": {
            similarity: {
                name: {key: value for key, value in each.items() if key != "average_precisions"}
                for name, each in by_name.items()
            }
            for similarity, by_name in contests.items()
        },
        "pairs": {
            similarity: {
                family: {
                    other: pooled(by_name, f"group {family}", f"{other} {family}") for other in KINDS[:2]
                }
                for family in FAMILIES
            }
            for similarity, by_name in contests.items()
        },
        "paper": PAPER,
        "sizes": SIZES,
        "alphas": ALPHAS,
        "alpha_docs": ALPHA_DOCS,
    }


def classes_of(collection: Collection, n_classes: int) -> NDArray[np.int64]:
    """Classes where there are none: clusters of documents by their leading singular vectors."""
    size = min(N_DIRECTIONS, collection.n_documents // 4)
    directions = TruncatedSVD(size, algorithm="arpack", random_state=SEED)
    points = normalize(directions.fit_transform(collection.corpus.X))
    return np.asarray(KMeans(n_classes, n_init=10, random_state=SEED).fit_predict(points), np.int64)


def _models(family: str, kind: str, n_classes: int, quick: bool) -> Iterator[Any]:
    common: Results = {"tol": TOL, "random_state": SEED, "max_iter": 10 if quick else 100}
    for shared, own in SIZES[:1] if quick else SIZES:
        total = shared + n_classes * own
        n_shared = shared if kind == "group" else 0
        if family == "NMF":
            yield NMF(total, **common) if kind == "flat" else GroupNMF(n_shared, own, **common)
            continue
        for alpha in ALPHAS[:1] if quick else ALPHAS:
            alphas: Results = {"alpha_topics": alpha, "alpha_docs": ALPHA_DOCS}
            yield (
                RLSI(total, init="documents", **alphas, **common)
                if kind == "flat"
                else GroupRLSI(n_shared, own, **alphas, **common)
            )


def _entries(
    collection: Collection, model: Any, kind: str, classes: NDArray[np.int64]
) -> Iterator[tuple[str, Entry]]:
    labels = None if kind == "flat" else classes
    with iterations_given():
        model.fit(collection.corpus.X, labels)
    settings = {"topics": model.components_.shape[0]}
    parameters = model.get_params()
    if "alpha_topics" in parameters:
        settings["alpha"] = parameters["alpha_topics"]
    for similarity in SIMILARITIES:
        yield similarity, matched_entry(collection, model, settings, similarity=similarity, labels=labels)


def render(results: Results) -> Section:
    """The section about rankings."""
    text = _TEXT.format(
        n_classes=results["n_classes"],
        n_directions=N_DIRECTIONS,
        sizes=" or ".join(
            f"{shared} shared topics and {own} of each class" for shared, own in results["sizes"]
        ),
        alphas=list_of(f"{alpha:g}" for alpha in results["alphas"]),
        alpha_docs=results["alpha_docs"],
        cosine=across(results, "cosine"),
        gram=across(results, "gram"),
        measures=_measures(results),
        conclusions=conclusions(results),
    )
    where = f"{len(results['collections'])} collections"
    return Section("Rankings (Tables 12 and 13)", text, findings(results, "clusters as classes", where))


def across(results: Results, similarity: str) -> str:
    """Mean average precision of all methods, held out."""
    contests = results["contests"][similarity]
    rows = [
        [
            name if name == "BM25" else f"BM25 + {name}",
            *(marked(each, name, "AP") for each in contests.values()),
        ]
        for name in results["paper"]
    ]
    return table(["", *(TITLES[name] for name in contests)], rows, "l" + "r" * len(contests))


def _measures(results: Results) -> str:
    contests = results["contests"]["cosine"].values()
    rows = []
    for name, paper in results["paper"].items():
        ours = [np.mean([each["held_out"][name][measure] for each in contests]) for measure in MEASURES]
        cells = [decimal(float(value)) for value in ours] + [decimal(value, 4) for value in paper]
        rows.append([name, *cells])
    names = ["MAP", *MEASURES[1:]]
    return table(["", *names, *(f"{name}, paper" for name in names)], rows, "l" + "r" * (2 * len(names)))


def conclusions(results: Results) -> str:
    """What the numbers say about the paper's claims."""
    contests = results["contests"]["cosine"].values()
    methods = [name for name in results["paper"] if name != "BM25"]
    above = sum(each["significant"][name]["AP"] == "+" for each in contests for name in methods)
    lines = [
        f"- *All methods significantly improve on BM25*: {above} of {len(contests) * len(methods)} do "
        f"here.{rests_on(results)}"
    ]
    for family in FAMILIES:
        for other, claim in (
            ("class-wise", "is better than class-wise"),
            ("flat", "is only slightly worse than flat"),
        ):
            paper = results["paper"][f"group {family}"][0] / results["paper"][f"{other} {family}"][0]
            ours = results["pairs"]["cosine"][family][other]
            gram = results["pairs"]["gram"][family][other]
            lines.append(
                f"- *Group {family} {claim} {family}*: {_verdict(other, ours)}. Its mean average precision "
                f"is {decimal(ours['ratio'])} of the other's over the collections "
                f"({interval(ours['interval'])}); {decimal(paper)} in the paper; {decimal(gram['ratio'])} "
                f"({interval(gram['interval'])}) in the metric of the Gram matrix."
            )
    return "\n".join(lines)


def rests_on(results: Results) -> str:
    """Which collections ratios rest on: where no method improves on term matching, all are nearly alike."""
    contests = results["contests"]["cosine"]
    helped = [
        name
        for name, each in contests.items()
        if any(each["significant"][method]["AP"] == "+" for method in results["paper"])
    ]
    if not helped or len(helped) == len(contests):
        return ""
    others = list_of(TITLES[name] for name in contests if name not in helped)
    return (
        f" On {others} none does, so the ratios over all collections rest mostly on "
        f"{list_of(TITLES[name] for name in helped)}."
    )


def _verdict(other: str, pair: Results) -> str:
    low, high = pair["interval"]
    if other == "class-wise":
        return "confirmed" if low > 1 else "refuted" if high < 1 else "undecided (the interval contains 1)"
    if low > SLIGHTLY:
        return "confirmed"
    return "refuted" if high < SLIGHTLY else f"undecided (the loss may exceed {100 * (1 - SLIGHTLY):.0f} %)"


def findings(results: Results, classes: str, where: str) -> list[str]:
    """A sentence or two about each family of models."""
    pairs = results["pairs"]["cosine"]
    return [
        f"**{family}, {classes}**: blended with BM25, group topics reach "
        f"{decimal(pairs[family]['class-wise']['ratio'])} times the mean average precision of class-wise "
        f"topics, and {decimal(pairs[family]['flat']['ratio'])} times that of flat ones, over {where}. "
        f"The claim that shared topics help is {_verdict('class-wise', pairs[family]['class-wise'])}. "
        "The claim that group topics lose little against flat ones is "
        f"{_verdict('flat', pairs[family]['flat'])}."
        for family in FAMILIES
    ]
