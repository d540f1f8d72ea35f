"""What the start of a fit costs, in iterations of the fit.

    python -m benchmarks.starts                          collections of ordinary size (needs data sets)
    python -m benchmarks.starts --only bbc_news scale    some of them, or of those that are generated: scale
                                                         (100,000 documents), half-groups and groups (280,000)
    python -m benchmarks.starts --l1                     under a penalty in place of a word budget

The start is all that a fit does before its first iteration, checks and columns of the matrix included. Times
are CPU time on one thread, of the fastest of several fits; kernels have been compiled before.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.defaults import CHOSEN_ON, CONFIRMED_ON, corpus_of
from benchmarks.group_scale import WIKIPEDIA, class_sizes
from benchmarks.group_scale import corpus as group_corpus
from benchmarks.report import Columns, Report
from benchmarks.zipf import zipf_corpus
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from laconic import RLSI, GroupRLSI
from laconic.losses.loop import Progress

BUDGET = {"topic_norm": "l0", "nonnegative": "both"}
"""What `laconic.fit` starts with."""
SHARED = {"random_state": 0, "n_jobs": 1}
REPEATS = 6
GROUP_ITERATIONS = 3
PAGE = "# What the start of a fit costs\n\n{headline}\n"


class Case(NamedTuple):
    """What is fitted, and how often."""

    model: Any
    X: csr_array
    labels: Any = None
    repeats: int = 1


def of_collection(name: str, penalised: bool) -> Case:
    """A collection with the weights and the model of `laconic.fit`, or with that of the class."""
    model = RLSI(20, **({} if penalised else BUDGET), **SHARED)
    return Case(model, corpus_of(name, "log-entropy").X, repeats=REPEATS)


def of_scale() -> Case:
    """The word budget on many documents."""
    return Case(RLSI(100, **BUDGET, **SHARED), zipf_corpus(100_000, 100_000).tfidf(), repeats=2)


def of_groups(n_documents: int, n_terms: int) -> Case:
    """1,100 topics of 25 classes, from documents."""
    shape = WIKIPEDIA.smaller(WIKIPEDIA.n_documents // n_documents)._replace(n_terms=n_terms)
    made = group_corpus(shape._replace(n_documents=int(class_sizes(shape).sum())))
    model = GroupRLSI(shape.n_shared, shape.n_per_class, max_iter=GROUP_ITERATIONS, **SHARED)
    return Case(model, made.tfidf(), made.labels)


GENERATED = {
    "scale": of_scale,
    "half-groups": lambda: of_groups(140_000, 100_000),
    "groups": lambda: of_groups(280_000, 200_000),
}


def timed(case: Case) -> dict[str, Any]:
    """One fit."""
    marks = [time.process_time()]

    def note(progress: Progress) -> None:
        if progress.phase == "fit":
            marks.append(time.process_time())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        case.model.fit(case.X, *([] if case.labels is None else [case.labels]), callback=note)
    whole = time.process_time() - marks[0]
    first, *halves = np.diff(marks)
    # the first half of the first iteration is not told apart from the start
    documents, topics = np.mean(halves[1::2]), np.mean(halves[::2])
    iteration, start = float(documents + topics), float(first - documents)
    return {
        "start": start,
        "iteration": iteration,
        "ratio": start / iteration,
        "iterations": len(case.model.objective_history_),
        "whole": whole,
        "objective": float(case.model.objective_history_[-1]),
    }


COLUMNS: Columns = {
    "what": ("what", str),
    "start": ("start, ms", lambda seconds: f"{1000 * seconds:,.1f}"),
    "iteration": ("iteration, ms", lambda seconds: f"{1000 * seconds:,.1f}"),
    "ratio": ("start in iterations", "{:.1f}".format),
    "iterations": ("iterations", str),
    "whole": ("whole fit, s", "{:.2f}".format),
    "objective": ("objective", "{:,.2f}".format),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = (*CHOSEN_ON, *CONFIRMED_ON)
    parser.add_argument("--only", nargs="+", choices=(*names, *GENERATED), default=names)
    parser.add_argument("--json", type=Path, help="where the numbers are written")
    parser.add_argument("--l1", action="store_true", help="collections under an l1 penalty")
    options = parser.parse_args()
    report = Report(PAGE, "CPU time on one thread")
    # compile
    for parameters in ({}, BUDGET):
        RLSI(3, **parameters, **SHARED).fit(zipf_corpus(300, 2000, n_topics=5).tfidf())
    rows = []
    for name in options.only:
        case = GENERATED[name]() if name in GENERATED else of_collection(name, options.l1)
        size = f"{case.X.shape[0]:,} x {case.X.shape[1]:,}"
        if case.labels is not None:
            few = np.arange(0, case.X.shape[0], 200)
            timed(case._replace(X=csr_array(case.X[few]), labels=case.labels[few]))
        runs = [timed(case) for _ in range(case.repeats)]
        rows.append({"what": f"{name}, {size}", **min(runs, key=lambda run: run["start"])})
    report.add("The start of a fit", rows, COLUMNS)
    report.write(options.json, None)


if __name__ == "__main__":
    main()
