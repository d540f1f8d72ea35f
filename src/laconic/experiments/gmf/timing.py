"""Tables 6 to 9 of the paper: the time of an iteration, flat and in groups, over penalties and topics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from laconic import datasets
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.writing import list_of, table
from laconic.losses.loop import Progress
from laconic.models import NMF, RLSI, GroupNMF, GroupRLSI

# The numbers of topics that are shared and of each class, as in the paper; the penalties as well.
SIZES = ((10, 4), (20, 8), (50, 20))
ALPHAS = (0.01, 0.02, 0.05, 0.1)
ALPHA_DOCS = 0.1
ITERATIONS = 4
FLAT, GROUP = "RLSI", "GroupRLSI"
NMFS = ("NMF", "GroupNMF")
# The paper's NMF has multiplicative updates; the library's default is coordinate descent.
SOLVERS: dict[Literal["mu", "cd"], str] = {"mu": "multiplicative updates", "cd": "coordinate descent"}

# Minutes of an iteration with 110, 220, 550 and 1,100 topics, by penalty: Wikipedia, Tables 6 and 7.
PAPER: dict[str, dict[str, tuple[float, ...]]] = {
    FLAT: {
        "0.01": (19.49, 44.13, 110.35, 342.59),
        "0.02": (19.02, 43.64, 93.47, 332.33),
        "0.05": (16.73, 34.63, 90.45, 318.27),
        "0.1": (14.91, 27.26, 89.92, 307.67),
    },
    GROUP: {
        "0.01": (14.99, 23.27, 51.95, 106.13),
        "0.02": (14.01, 22.88, 50.17, 104.13),
        "0.05": (13.95, 22.68, 48.25, 99.03),
        "0.1": (14.05, 22.47, 48.07, 97.13),
    },
}
PAPER_TOPICS = (110, 220, 550, 1100)
PAPER_DOCUMENTS = 2_807_535
# The same on a web crawl in 204 categories, Web-I: Tables 8 and 9. Numbers of topics differ.
PAPER_WEB: dict[str, dict[str, tuple[float, ...]]] = {
    FLAT: {
        "0.01": (26.57, 49.79, 123.45, 324.58),
        "0.02": (26.79, 39.24, 117.54, 313.49),
        "0.05": (23.23, 34.64, 110.67, 303.24),
        "0.1": (14.19, 32.68, 100.25, 301.74),
    },
    GROUP: {
        "0.01": (35.48, 57.50, 104.37, 438.29),
        "0.02": (35.30, 55.60, 99.46, 427.22),
        "0.05": (35.36, 52.63, 94.78, 414.37),
        "0.1": (34.86, 50.44, 92.15, 409.25),
    },
}
PAPER_WEB_TOPICS = {FLAT: (100, 200, 500, 1000), GROUP: (1030, 2060, 4120, 10300)}

# On generated documents: how many times as long flat models take (docs/performance-groups.md).
GENERATED = {"at_scale": 9.38, "at_tenth": 7.79, "nmf_at_tenth": 4.74}

_TEXT = """ The paper times an iteration on {whole:,} articles of Wikipedia in 25 classes, with 24
threads. We use {n_documents:,} articles of 20 Newsgroups in {n_classes} classes, {n_terms:,} terms, tf-idf,
on one core: as many shared topics and topics of each class as in the paper ({sizes}), flat models with the
same total number, the paper's penalties on topics, alpha_docs {alpha_docs:g}. Times are CPU seconds, the
median over all of {iterations} iterations but the first. The seconds cannot be compared with the paper's
minutes, so the table compares the ratio of the two models with the paper's.

{table}

The paper's minutes (Tables 6 and 7; 24 threads):

{paper}

The paper's minutes on a web crawl in 204 categories (Tables 8 and 9; 24 threads). Its flat models could not
be run with more than {web_most:,} topics, so no two columns have the same number:

{web}

{conclusion}

NMF in the same way, without penalties; the paper's Figures 3 and 5 show its times as bars without numbers:

{nmf}

### At the size of the paper's collections

Neither collection is available, so [another page](../performance-groups.md) times iterations on generated
corpora with as many documents, terms, classes and topics. There, flat and group RLSI with {most:,} topics run
on all {whole:,} documents of the shape of Wikipedia; the weights of documents, which are dense in a flat
model, take {gigabytes:.1f} GB (float32). An iteration of flat RLSI takes {at_scale} times as long as one of
group RLSI; in the paper {ratio:.1f}. On {tenth:,} documents, a tenth, it is {at_tenth}, and NMF, which is
compared there only, {nmf_at_tenth}.
"""


def run(quick: bool, desk: Desk) -> Results:
    """Time iterations over penalties and numbers of topics."""
    data: Any = datasets.load("20newsgroups")
    if quick:
        data = data.where(np.random.default_rng(SEED).permutation(len(data))[:400])
    corpus = data.corpus(min_df=5, max_df=0.5, weighting="tfidf")
    labels = np.asarray(data.labels)
    n_classes = len(set(labels))
    sizes, alphas = (SIZES[:2], ALPHAS[:1]) if quick else (SIZES, ALPHAS)
    seconds: dict[str, dict[str, list[float]]] = {FLAT: {}, GROUP: {}}
    for alpha in alphas:
        for shared, own in sizes:
            total = shared + n_classes * own
            common: Results = {
                "alpha_topics": alpha,
                "alpha_docs": ALPHA_DOCS,
                "max_iter": ITERATIONS,
                "tol": 0,
                "random_state": SEED,
                "n_jobs": 1,
            }
            models: dict[str, Any] = {
                FLAT: RLSI(total, init="documents", **common),
                GROUP: GroupRLSI(shared, own, **common),
            }
            for name, model in models.items():
                key = f"{name}, {total} topics, {alpha:g}, {corpus.shape}"
                found = desk.keep(key, _seconds, model, corpus.X, None if name == FLAT else labels)
                seconds[name].setdefault(f"{alpha:g}", []).append(found)
    nmf: dict[str, dict[str, list[float]]] = {name: {solver: [] for solver in SOLVERS} for name in NMFS}
    settings: Results = {"max_iter": ITERATIONS, "tol": 0, "random_state": SEED, "n_jobs": 1}
    for solver in SOLVERS:
        for shared, own in sizes:
            total = shared + n_classes * own
            pair = (
                NMF(total, solver=solver, init="documents", **settings),
                GroupNMF(shared, own, solver=solver, **settings),
            )
            for name, model, given in zip(NMFS, pair, (None, labels), strict=True):
                key = f"{name}, {solver}, {total} topics, {corpus.shape}"
                nmf[name][solver].append(desk.keep(key, _seconds, model, corpus.X, given))
    return {
        "n_documents": corpus.shape[0],
        "n_terms": corpus.shape[1],
        "n_classes": n_classes,
        "sizes": sizes,
        "topics": [shared + n_classes * own for shared, own in sizes],
        "alphas": alphas,
        "iterations": ITERATIONS,
        "seconds": seconds,
        "nmf": nmf,
        "paper": PAPER,
    }


def _seconds(model: Any, X: Any, labels: Any) -> float:
    """Processor time of an iteration: the median of those after the first."""
    moments: list[float] = []

    def watch(progress: Progress) -> None:
        if progress.phase == "fit" and progress.half == "topics":
            moments.append(time.process_time())

    with iterations_given():
        model.fit(X, labels, callback=watch)
    return float(np.median(np.diff(moments)))


def ratios(results: Results) -> dict[str, float]:
    """How many times as long an iteration of the flat model takes, by topics, at the smallest penalty."""
    alpha = f"{results['alphas'][0]:g}"
    pairs = zip(results["seconds"][FLAT][alpha], results["seconds"][GROUP][alpha], strict=True)
    return {str(n): flat / group for n, (flat, group) in zip(results["topics"], pairs, strict=True)}


def nmf_ratios(results: Results, solver: Literal["mu", "cd"]) -> list[float]:
    """The same of NMF, in the order of `ratios`."""
    flat, group = (results["nmf"][name][solver] for name in NMFS)
    return [a / b for a, b in zip(flat, group, strict=True)]


def paper_ratios() -> list[float]:
    """The same in the paper."""
    return [a / b for a, b in zip(PAPER[FLAT]["0.01"], PAPER[GROUP]["0.01"], strict=True)]


def render(results: Results) -> Section:
    """The section of the page."""
    found = ratios(results)
    text = _TEXT.format(
        **{key: results[key] for key in ("n_documents", "n_terms", "n_classes", "iterations")},
        sizes=list_of(f"{shared} and {own}" for shared, own in results["sizes"]),
        alpha_docs=ALPHA_DOCS,
        table=_table(results["seconds"], results["topics"], "s"),
        nmf=_nmf_table(results),
        paper=_table(results["paper"], PAPER_TOPICS, "min"),
        web=_web_table(),
        web_most=PAPER_WEB_TOPICS[FLAT][-1],
        most=PAPER_TOPICS[-1],
        whole=PAPER_DOCUMENTS,
        tenth=PAPER_DOCUMENTS // 10,
        **{name: f"{found:.1f}" for name, found in GENERATED.items()},
        gigabytes=PAPER_DOCUMENTS * PAPER_TOPICS[-1] * np.dtype(np.float32).itemsize / 1e9,
        ratio=paper_ratios()[-1],
        conclusion=(
            "With the smallest penalty, the flat model takes "
            + list_of(f"{ratio:.1f} times as long ({n} topics)" for n, ratio in found.items())
            + "; in the paper "
            + list_of(f"{ratio:.1f} ({n})" for n, ratio in zip(PAPER_TOPICS, paper_ratios(), strict=True))
            + "."
        ),
    )
    last = list(found)[-1]
    finding = (
        f"**Time**: with {last} topics in all, an iteration of flat RLSI takes {found[last]:.1f} times as "
        f"long as one of group RLSI on 20 Newsgroups (the paper, on Wikipedia, {paper_ratios()[2]:.1f} "
        f"with {PAPER_TOPICS[2]})."
    )
    return Section("The time of an iteration (Tables 6 to 9)", text, [finding])


def _web_table() -> str:
    rows = [
        [alpha, *(f"{minutes:.3g}" for name in (FLAT, GROUP) for minutes in PAPER_WEB[name][alpha])]
        for alpha in PAPER_WEB[FLAT]
    ]
    headings = [
        f"{kind} {n}" for name, kind in ((FLAT, "flat"), (GROUP, "group")) for n in PAPER_WEB_TOPICS[name]
    ]
    return table(["penalty", *headings], rows, "r" * (1 + len(headings)))


def _nmf_table(results: Results) -> str:
    seconds = {
        name: {SOLVERS[solver]: found for solver, found in by_solver.items()}
        for name, by_solver in results["nmf"].items()
    }
    return _table(seconds, results["topics"], "s", NMFS, "solver")


def _table(
    seconds: Results, topics: Any, unit: str, names: Sequence[str] = (FLAT, GROUP), what: str = "penalty"
) -> str:
    rows = []
    for setting in seconds[names[0]]:
        cells = []
        for a, b in zip(*(seconds[name][setting] for name in names), strict=True):
            cells += [f"{a:.3g}", f"{b:.3g}", f"{a / b:.1f}"]
        rows.append([setting, *cells])
    headings = [what]
    for n in topics:
        headings += [f"K = {n}: flat ({unit})", f"group ({unit})", "ratio"]
    return table(headings, rows, "r" * len(headings))
