"""Documents that come one by one: how long `transform` takes for each, checks included.

    python -m benchmarks.bench_fold_in                     100 topics over 100,000 terms (some minutes)
    python -m benchmarks.bench_fold_in --terms 5000        fewer terms, to see that it runs

The corpus is generated, Zipfian, with planted topics; models are fitted on one part of it for a few
iterations, and given the documents of the other part in a loop.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.machine import best
from benchmarks.report import Report
from benchmarks.zipf import zipf_corpus
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from laconic import NMF, PLSA, RLSI, GroupRLSI, SparseLSA

PAGE = """# One document at a time

Measured by `make bench-fold-in` in one run: {headline}. One thread calls `model.transform`
with a row at a time, as it comes; the time includes all checks of the input.
"""

N_TOPICS = 100
N_SHARED, N_CLASSES = 20, 10
ITERATIONS = 5


def models(n_topics: int) -> Iterator[tuple[str, Any]]:
    """What is compared."""
    common: dict[str, Any] = {"random_state": 0, "max_iter": ITERATIONS, "tol": 1e-5}
    n_own = (n_topics - N_SHARED) // N_CLASSES
    yield "RLSI 40 words", RLSI(n_topics, topic_norm="l0", **common)
    yield "RLSI 40 words, l1 weights", RLSI(n_topics, topic_norm="l0", doc_norm="l1", **common)
    yield "RLSI l1", RLSI(n_topics, **common)
    yield "RLSI l1, l1 weights", RLSI(n_topics, doc_norm="l1", **common)
    yield "NMF", NMF(n_topics, **common)
    yield "NMF kl", NMF(n_topics, loss="kl", **common)
    yield "PLSA", PLSA(n_topics, **common)
    yield "SparseLSA", SparseLSA(n_topics, **common)
    yield "GroupRLSI, labels known", GroupRLSI(N_SHARED, n_own, **common)
    yield "GroupRLSI, labels predicted", GroupRLSI(N_SHARED, n_own, **common)


def one_by_one(X: csr_array) -> list[csr_array]:
    """The rows of a matrix, each a matrix of its own."""
    return [csr_array(X[[n]]) for n in range(X.shape[0])]


def microseconds(model: Any, documents: list[csr_array], labels: list[list[Any]] | None) -> float:
    """Of each document, in the best of several loops."""

    def loop() -> None:
        if labels is None:
            for document in documents:
                model.transform(document)
            return
        for document, label in zip(documents, labels, strict=True):
            model.transform(document, label)

    loop()
    return best(loop) / len(documents) * 1e6


def main() -> None:
    """Measure and print; write a page where asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fitted", type=int, default=20_000, help="documents that models are fitted on")
    parser.add_argument("--documents", type=int, default=200, help="documents that come one by one")
    parser.add_argument("--terms", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=N_TOPICS)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the table to this Markdown file")
    chosen = parser.parse_args()
    drawn = zipf_corpus(chosen.fitted + chosen.documents, chosen.terms, n_topics=chosen.topics)
    weights = drawn.tfidf()
    classes = np.arange(chosen.fitted + chosen.documents) % N_CLASSES
    known = [[label] for label in classes[chosen.fitted :].tolist()]
    words = np.diff(drawn.counts.indptr[chosen.fitted :]).mean()
    report = Report(
        PAGE,
        f"{chosen.topics} topics, {chosen.terms:,} terms, documents of {words:.0f} different words on "
        "average, float32",
    )
    rows = []
    for name, model in models(chosen.topics):
        X = drawn.counts if model.wants == "counts" else weights
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[: chosen.fitted], classes[: chosen.fitted])
        documents = one_by_one(X[chosen.fitted :])
        time = microseconds(model, documents, known if "known" in name else None)
        rows.append({"what": name, "time": time})
    report.add("A document", rows, {"what": ("what", str), "time": ("microseconds", "{:.0f}".format)})
    report.write(chosen.json, chosen.page)


if __name__ == "__main__":
    main()
