"""What the paper on Sparse LSA claims, and how our results judge it."""

from __future__ import annotations

import numpy as np

from laconic.experiments.parts import Claim, Results, Verdict, judged, untested
from laconic.experiments.sparse_lsa.projections import CODING, LDA, LSA, NONNEGATIVE, SPARSE
from laconic.experiments.sparse_lsa.texts_verdicts import SLIGHTLY
from laconic.experiments.writing import decimal, list_of, percent

TEXTS = ("20newsgroups", "20newsgroups-bare", "reuters21578")


def _loses_little(*data: Results) -> Verdict:
    gaps = [_points(each["whole"]["rows"], LSA, SPARSE) for each in data]
    theirs = [_points(each["paper"]["efficiency"], LSA, SPARSE) for each in data]
    shown = list_of(
        f"{gap:.1f} (paper {paper:.1f}; {each['name']})"
        for gap, paper, each in zip(gaps, theirs, data, strict=True)
    )
    return judged(
        [gap < SLIGHTLY for gap in gaps],
        f"With 1,000 dimensions of all documents it loses this many points of accuracy: {shown}.",
    )


def _points(rows: Results, better: str, worse: str) -> float:
    return float(100 * (rows[better]["accuracy"] - rows[worse]["accuracy"]))


def _sparser(*data: Results) -> Verdict:
    runs = [[run["density"] for run in each["dimensions"][SPARSE].values()] for each in data]
    shown = list_of(f"{100 * each[0]:.2f} to {100 * each[-1]:.2f} %" for each in runs)
    return judged(
        [each == sorted(each, reverse=True) for each in runs],
        f"From the fewest dimensions to the most, {shown} of the weights are not zero.",
    )


def _memory(*data: Results) -> Verdict:
    times = [
        each["whole"]["rows"][LSA]["megabytes"] / each["whole"]["rows"][SPARSE]["megabytes"] for each in data
    ]
    return judged(
        [value >= 10 for value in times],
        f"LSA's topics take {list_of(f'{value:.0f}' for value in times)} times as much memory.",
    )


def _time(*data: Results) -> Verdict:
    times = [each["whole"]["rows"][LSA]["many"] / each["whole"]["rows"][SPARSE]["many"] for each in data]
    dense = [each["whole"]["dense_product"] / each["whole"]["rows"][SPARSE]["one"] for each in data]
    return judged(
        [value >= 10 for value in times],
        f"LSA takes {list_of(f'{value:.1f}' for value in times)} times as long: it reads only the weights "
        "of a document's words. For documents as dense vectors, which the paper seems to have timed, it "
        f"takes {list_of(f'{value:.0f}' for value in dense)} times as long as Sparse LSA.",
    )


def _same_size(*data: Results) -> Verdict:
    holds, ahead = [], []
    for each in data:
        runs = each["dimensions"][LSA]
        sizes, scores = [float(n) for n in runs], [run["accuracy"] for run in runs.values()]
        for run in each["strengths"][SPARSE].values():
            size = max(run["effective"], sizes[0])
            gap = run["accuracy"] - float(np.interp(np.log(size), np.log(sizes), scores))
            holds.append(gap > 0)
            ahead.append(100 * gap)
    return judged(
        holds,
        f"Ahead in {sum(holds)} of {len(holds)} comparisons, by {min(ahead):+.1f} to {max(ahead):+.1f} "
        "points.",
    )


def _nonnegative(*data: Results) -> Verdict:
    rows = [each["whole"]["rows"] for each in data]
    gaps = [_points(each, NONNEGATIVE, SPARSE) for each in rows]
    return judged(
        [
            abs(gap) < SLIGHTLY and each[NONNEGATIVE]["density"] < each[SPARSE]["density"]
            for gap, each in zip(gaps, rows, strict=True)
        ],
        f"Accuracy differs by {list_of(f'{gap:+.1f}' for gap in gaps)} points, and topics are "
        f"{list_of(percent(1 - e[NONNEGATIVE]['density'] / e[SPARSE]['density']) for e in rows)} % sparser.",
    )


def _coding(*data: Results) -> Verdict:
    gaps = []
    for each in data:
        runs = each["dimensions"]
        largest = list(runs[CODING])[-1]
        gaps.append(100 * (runs[CODING][largest]["accuracy"] - runs[LSA][largest]["accuracy"]))
    slower = [each["whole"]["rows"][CODING]["many"] / each["whole"]["rows"][SPARSE]["many"] for each in data]
    return judged(
        [abs(gap) <= 3.5 for gap in gaps] + [value >= 10 for value in slower],
        f"Against LSA {list_of(f'{gap:+.1f}' for gap in gaps)} points (paper: -3.4 and -0.6), with the "
        "penalty chosen at the dimension where it is measured or at the next smaller one; it takes "
        f"{list_of(f'{value:,.0f}' for value in slower)} times as long as Sparse LSA.",
    )


def _lda(*data: Results) -> Verdict:
    gaps = [
        100 * (each["dimensions"][SPARSE][n]["accuracy"] - run["accuracy"])
        for each in data
        for n, run in each["dimensions"][LDA].items()
    ]
    return judged(
        [gap > 0 for gap in gaps],
        f"Sparse LSA is ahead by {min(gaps):+.1f} to {max(gaps):+.1f} points in {len(gaps)} comparisons; LDA "
        "had a fixed number of iterations, not necessarily to its end.",
    )


def _distinct(nips: Results) -> Verdict:
    ours, lda = nips["ours"]["non-negative Sparse LSA"], nips["ours"]["LDA"]
    return judged(
        [ours["different"] > lda["different"], ours["neural"] < lda["neural"]],
        f"{percent(ours['different'])} % of the leading words are different against "
        f"{percent(lda['different'])} %, {decimal(ours['neural'], 1)} against {decimal(lda['neural'], 1)} "
        "of 7 topics are about neural networks.",
    )


def _pathways(genes: Results) -> Verdict:
    grouped, plain = (genes["models"][name] for name in ("with pathways", "plain, the same λ"))
    whole = sum(component["whole"] for component in grouped["components"])
    none = sum(component["whole"] for component in plain["components"])
    return judged(
        [whole > none, grouped["explained"] >= plain["explained"]],
        f"Components take {whole} pathways whole, without groups {none}; but they explain "
        f"{percent(grouped['explained'])} % instead of {percent(plain['explained'])} % at the same λ.",
    )


CLAIMS = (
    Claim("Sparse LSA loses less than a point of accuracy", "Figure 2, Table 3", _loses_little, TEXTS),
    Claim("Topics become sparser as they become more", "Table 2", _sparser, TEXTS),
    Claim("They take less memory by orders of magnitude", "Table 3", _memory, TEXTS),
    Claim("Projection is faster by orders of magnitude", "Table 3", _time, TEXTS),
    Claim("Better than LSA of the same effective dimension", "Figure 3", _same_size, TEXTS),
    Claim("Without negative weights it does as well, sparser still", "Tables 2 and 3", _nonnegative, TEXTS),
    Claim("Sparse coding is comparable with LSA, and slow", "Figure 2, Table 3", _coding, TEXTS),
    Claim("LDA does worse", "Figure 2", _lda, TEXTS),
    Claim("Topics differ more from each other than LDA's", "Tables 4 and 5", _distinct, ("nips12",)),
    Claim("Groups make components easier to read", "Section 5.4", _pathways, ("p53_pathways",)),
    Claim(
        "The numbers for RCV1 and for breast cancer",
        "Section 5",
        untested("Neither is available; Reuters-21578 and 50 cell lines replace them."),
    ),
)
CHANGED = (
    "**Sparse coding.** Its penalty was chosen at 100 dimensions and kept for 1,000 in "
    "Table 3, where the result is poor; this was noticed and is noted there, but has not been fixed yet.",
    "Whether other settings were changed before the first results were stored was not recorded.",
)
FUTURE = (
    "*Online learning*: `SparseLSA.partial_fit` takes documents in batches ([Sparse LSA](../sparse-lsa.md)).",
)
