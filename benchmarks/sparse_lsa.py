"""Sparse LSA against truncated singular vectors and the algorithm of its paper, on 20 Newsgroups.

    python -m benchmarks.sparse_lsa                    the whole table (some fifteen minutes)
    python -m benchmarks.sparse_lsa --only projection  some parts
    python -m benchmarks.sparse_lsa --quick            a tenth of documents and topics, to see that it runs

It needs the data set 20newsgroups (``laconic datasets``). Everything is measured in one process on the same
matrix; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.machine import best, gemm_peak
from benchmarks.report import Columns, Report
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Lasso

from laconic import SparseLSA, datasets
from laconic.engines import Workers
from laconic.losses.loop import Progress
from laconic.losses.orthogonal.steps import inverse_root

ALPHA = 0.05
N_TOPICS = 1000
N_PROJECTED = 1000
N_LASSOS = 40
N_BATCHES = 10
BATCH_TOL = 1e-4
ROUNDS = 2

PAGE = """# Performance of Sparse LSA

Measured by `make bench-sparse-lsa` in one run on 20 Newsgroups, headers stripped, with tf-idf weights of
all words in at least two documents: {headline}. The first two tables compare with scikit-learn's
`TruncatedSVD` with the same number of components, the best of its runs.

- *The paper's algorithm* solves a lasso for every term and computes the singular vectors of a matrix of
  documents by topics in each iteration. We measured the lassos of some terms (scikit-learn's, started from
  zero) and extrapolated to all of them.
- *A fit to a tolerance* ends when an iteration lowers the objective by less than that share.
- *Projection.* The paper projects one document after another, as a dense vector. We measured that, too,
  along with what scikit-learn does with sparse documents.
- *Batches* are shuffled and passed once each to `partial_fit`. The objective is that of the resulting
  topics on all documents.
"""


class Clock:
    """A callback that times the iterations of a fit."""

    def __init__(self) -> None:
        self.marks = [time.perf_counter()]

    def __call__(self, progress: Progress) -> None:
        """Note when an iteration ends."""
        if progress.half == "topics":
            self.marks.append(time.perf_counter())

    @property
    def iteration(self) -> float:
        """Seconds of an iteration: the median of all but the first, which contains the start."""
        return float(np.median(np.diff(self.marks)[1:]))


class Newsgroups:
    """The matrix, and what several tables need of it."""

    def __init__(self, factor: int) -> None:
        texts = datasets.load("20newsgroups", strip=("headers",)).texts[::factor]
        self.X = csr_array(TfidfVectorizer(min_df=2, dtype=np.float32).fit_transform(texts))
        self.n_topics = N_TOPICS // factor
        self._fits: dict[tuple[float, int], tuple[SparseLSA, Clock, float]] = {}
        self._svd: tuple[TruncatedSVD, float] | None = None

    def svd(self) -> tuple[TruncatedSVD, float]:
        """Singular vectors, and the seconds that they took."""
        if self._svd is None:
            model = TruncatedSVD(self.n_topics, random_state=0)
            self._svd = model, best(lambda: model.fit(self.X), ROUNDS)
        return self._svd

    def fit(self, tol: float, n_topics: int | None = None) -> tuple[SparseLSA, Clock, float]:
        """A fit to this tolerance, its iterations, and its seconds."""
        key = tol, n_topics or self.n_topics
        if key not in self._fits:
            clock = Clock()
            model = SparseLSA(key[1], alpha_topics=ALPHA, tol=tol, max_iter=500, random_state=0)
            began = time.perf_counter()
            model.fit(self.X, callback=clock)
            self._fits[key] = model, clock, time.perf_counter() - began
        return self._fits[key]

    def objective(self, topics: csr_array) -> float:
        """The least objective that these topics have with any basis."""
        gram = np.zeros((topics.shape[0], topics.shape[0]))
        for start in range(0, self.X.shape[0], 2000):
            products = (self.X[start : start + 2000] @ topics.T).toarray().astype(np.float64)
            gram += products.T @ products
        _, cross = inverse_root(gram, np.float32)
        weights = topics.data.astype(np.float64)
        energy = np.square(self.X.data, dtype=np.float64).sum()
        return float((energy + weights @ weights) / 2 - cross + ALPHA * np.abs(weights).sum())


def paper_seconds(X: csr_array, topics: csr_array) -> float:
    """Seconds of an iteration of the paper's algorithm, from those of some of its lassos."""
    products = (X @ topics.T).toarray()
    began = time.perf_counter()
    left, _, right = np.linalg.svd(products, full_matrices=False)
    basis = np.asfortranarray(left @ right)
    decomposition = time.perf_counter() - began
    terms = np.random.default_rng(0).choice(X.shape[1], N_LASSOS, replace=False)
    columns = X[:, terms].toarray()
    lasso = Lasso(alpha=ALPHA / X.shape[0], fit_intercept=False, copy_X=False)
    began = time.perf_counter()
    for column in columns.T:
        lasso.fit(basis, column)
    return decomposition + (time.perf_counter() - began) / N_LASSOS * X.shape[1]


def iterations(corpus: Newsgroups, report: Report) -> None:
    """An iteration beside the singular vectors and the paper's."""
    model, clock, _ = corpus.fit(1e-3)
    _, whole = corpus.svd()
    paper = paper_seconds(corpus.X, model.components_)
    with Workers() as workers:
        peak = gemm_peak(workers)
    # the basis applied to the products of all terms, and the products V'V of the documents' projections with
    # each other: that is symmetric, and BLAS computes half of it
    n_documents, n_terms = corpus.X.shape
    dense = (2 * n_terms + n_documents) * corpus.n_topics**2
    rows = [
        {"what": "SparseLSA, an iteration", "seconds": clock.iteration},
        {"what": "TruncatedSVD, whole", "seconds": whole},
        {"what": "the paper's algorithm, an iteration", "seconds": paper},
        {"what": "limit: the dense products of an iteration at the machine's peak", "seconds": dense / peak},
    ]
    for row in rows:
        row |= {"svd": row["seconds"] / whole, "ours": row["seconds"] / clock.iteration}
    columns: Columns = {
        "what": ("what", str),
        "seconds": ("s", "{:,.2f}".format),
        "svd": ("times TruncatedSVD", "{:,.3f}".format),
        "ours": ("times our iteration", "{:,.2f}".format),
    }
    report.add("An iteration", rows, columns)


def fits(corpus: Newsgroups, report: Report) -> None:
    """Whole fits."""
    _, whole = corpus.svd()
    final = corpus.fit(1e-5)[0].objective_history_[-1]
    rows = []
    for tol in (1e-3, 1e-4, 1e-5):
        model, _, seconds = corpus.fit(tol)
        objective = model.objective_history_[-1]
        rows.append(
            {
                "what": f"fit to {tol:g}",
                "iterations": model.n_iter_,
                "seconds": seconds,
                "svd": seconds / whole,
                "alive": model.n_alive_ / corpus.n_topics,
                "objective": objective,
                "above": objective / final - 1,
                "density": model.density_,
            }
        )
    columns: Columns = {
        "what": ("what", str),
        "iterations": ("iterations", str),
        "seconds": ("s", "{:,.1f}".format),
        "svd": ("times TruncatedSVD", "{:,.2f}".format),
        "alive": ("topics alive", "{:.1%}".format),
        "objective": ("objective", "{:,.1f}".format),
        "above": ("above the last", "{:.2%}".format),
        "density": ("density", "{:.3%}".format),
    }
    report.add("Whole fits", rows, columns)


def projection(corpus: Newsgroups, report: Report) -> None:
    """Documents described by topics, and the memory of topics."""
    model, _, _ = corpus.fit(1e-3)
    svd, _ = corpus.svd()
    documents = csr_array(corpus.X[:: max(1, corpus.X.shape[0] // N_PROJECTED)][:N_PROJECTED])
    topics, loads = model.components_, svd.components_
    sparse = topics.data.nbytes + topics.indices.nbytes + topics.indptr.nbytes
    few = [document.toarray().ravel() for document in documents[:20]]
    one_by_one = best(lambda: [loads @ document for document in few], 5) / len(few) * documents.shape[0]
    dense = documents.toarray()
    timed = {
        "SparseLSA.transform": (best(lambda: model.transform(documents), 20), sparse),
        "TruncatedSVD.transform": (best(lambda: svd.transform(documents), 5), loads.nbytes),
        "dense product, all documents": (best(lambda: dense @ loads.T, 5), loads.nbytes),
        "dense products, one by one": (one_by_one, loads.nbytes),
    }
    rows = [
        {
            "what": name,
            "seconds": seconds,
            "slower": seconds / timed["SparseLSA.transform"][0],
            "bytes": size,
            "larger": size / sparse,
        }
        for name, (seconds, size) in timed.items()
    ]
    columns: Columns = {
        "what": ("what", str),
        "seconds": ("ms", lambda s: f"{1e3 * s:,.2f}"),
        "slower": ("ratio", "{:,.1f}".format),
        "bytes": ("topics, MB", lambda b: f"{b / 2**20:,.2f}"),
        "larger": ("ratio", "{:,.0f}".format),
    }
    report.add(f"Projection of {documents.shape[0]:,} documents", rows, columns)


def batches(corpus: Newsgroups, report: Report) -> None:
    """One pass over shuffled batches against a fit of all documents."""
    order = np.random.default_rng(0).permutation(corpus.X.shape[0])
    rows = []
    for n_topics in (corpus.n_topics // 50, corpus.n_topics // 10, corpus.n_topics):
        whole = corpus.fit(1e-5, n_topics)[0]
        rows.append(_one_pass(corpus, order, whole))
    columns: Columns = {
        "what": ("topics", str),
        "seconds": ("s", "{:,.1f}".format),
        "iterations": ("iterations, all batches", str),
        "objective": ("objective", "{:,.1f}".format),
        "above": ("above a fit of all to 1e-5", "{:.2%}".format),
        "alive": ("topics alive", "{:.1%}".format),
    }
    report.add(f"{N_BATCHES} batches, one pass", rows, columns)


def _one_pass(corpus: Newsgroups, order: NDArray[Any], whole: SparseLSA) -> dict[str, Any]:
    model = SparseLSA(whole.n_components, alpha_topics=ALPHA, tol=BATCH_TOL, random_state=0)
    iterations, began = 0, time.perf_counter()
    for rows in np.array_split(order, N_BATCHES):
        iterations += model.partial_fit(corpus.X[rows]).n_iter_
    seconds = time.perf_counter() - began
    objective = corpus.objective(model.components_)
    return {
        "what": str(whole.n_components),
        "seconds": seconds,
        "iterations": iterations,
        "objective": objective,
        "above": objective / whole.objective_history_[-1] - 1,
        "alive": model.n_alive_ / whole.n_components,
    }


PARTS: dict[str, Callable[[Newsgroups, Report], None]] = {
    "iterations": iterations,
    "fits": fits,
    "projection": projection,
    "batches": batches,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of documents and topics")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    options = parser.parse_args()
    corpus = Newsgroups(10 if options.quick else 1)
    # the kernels are compiled by the time that anything is measured
    few = corpus.X[:100]
    SparseLSA(4, alpha_topics=ALPHA, tol=BATCH_TOL, random_state=0).fit(few).transform(few)
    size = f"{corpus.X.shape[0]:,} documents, {corpus.X.shape[1]:,} terms, {corpus.X.nnz:,} non-zeros"
    report = Report(PAGE, f"{size}, {corpus.n_topics:,} topics, alpha = {ALPHA}; float32")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for part in options.only:
            PARTS[part](corpus, report)
    report.write(options.json, options.page)


if __name__ == "__main__":
    main()
