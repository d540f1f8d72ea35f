"""The probabilistic models against their peers, iteration by iteration.

    python -m benchmarks.plsa            the whole table (a few minutes)
    python -m benchmarks.plsa --quick    a tenth of the size, to see that it runs

Everything is measured in one process on the same matrix. The machine is shared: each is measured in turn,
several times over, and the best counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import plsa_solvers
from benchmarks.machine import PeakMemory, gemm_peak
from benchmarks.report import Columns, Report
from benchmarks.zipf import zipf_corpus
from scipy.sparse import csr_array
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from laconic.engines import Engine, Shards, Threads
from laconic.losses.divergence.mixtures import DocumentStep, Mixture, Separate
from laconic.losses.divergence.starts import first_topics
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.factor import Floats
from laconic.losses.starts import Start

N_DOCUMENTS, N_TERMS, N_TOPICS = 20_000, 30_000, 50
LENGTH = 113.0  # tokens a document; makes about 1.7 million non-zeros
N_NEIGHBORS = 5
STRENGTH = 0.3
ROUNDS, ITERATIONS = 5, 4
START = Start("documents", 0)

PAGE = """# Performance of the probabilistic models

What an iteration costs, compared with other packages, and how many iterations the solvers of PLSA take,
compared with expectation-maximisation (EM).

Measured by `make bench-plsa` in one run: {headline}. The corpus is generated, with a Zipfian vocabulary and
planted topics. An iteration updates documents and topics once; for `GraphPLSA`, the neighbours are already
known. The contenders take turns several times, and the best time of each counts. LDA is tomotopy's
collapsed Gibbs sampler. One of its iterations does not make the same progress as one of EM, so the ratio
only compares the cost of one pass over the words. The limit for the kernel is the speed of dense matrix
products on this machine. It cannot be reached, because the kernel gathers its sums from memory in no
particular order.

The table of solvers is about whole fits on real texts (the data sets that are available). All solvers
start from the same topics, in float32, on one thread. EM runs until an iteration lowers the objective by
less than a millionth, and the table counts what each solver takes to get within .1 % of that. "By
default" means a fit with the default `tol` and `max_iter`. `python -m benchmarks.plsa_solvers` measures
this table alone.
"""

Iterations = Callable[[int], float]
"""Seconds of that many iterations."""


def first_weights(X: csr_array) -> Floats:
    return np.random.default_rng(0).dirichlet(np.ones(N_TOPICS), X.shape[0]).astype(X.dtype)


def laconic_steps(shards: Shards, documents: DocumentStep, engine: Engine) -> Iterations:
    """Iterations of the loop's steps, from the weights that the shards have."""
    topics = first_topics(shards, engine, N_TOPICS, START)
    steps = DivergenceSteps(shards, topics, documents, engine)

    def run(iterations: int) -> float:
        began = time.perf_counter()
        for _ in range(iterations):
            steps.documents()
            steps.topics()
        return time.perf_counter() - began

    return run


def plsa(X: csr_array, engine: Engine) -> Iterations:
    shards = Shards.whole(X)
    shards[0].weights = first_weights(X)
    return laconic_steps(shards, Separate(Mixture(simplex=True)), engine)


def scikit_learn(X: csr_array, engine: Engine) -> Iterations:
    weights = first_weights(X)
    topics = np.ascontiguousarray(first_topics(Shards.whole(X), engine, N_TOPICS, START).T)

    def run(iterations: int) -> float:
        model = NMF(
            N_TOPICS,
            init="custom",
            solver="mu",
            beta_loss="kullback-leibler",
            tol=0,
            max_iter=iterations,
        )
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit_transform(X, W=weights.copy(), H=topics.copy())
        return time.perf_counter() - began

    return run


def tomotopy_lda(X: csr_array, workers: int) -> Iterations:
    import tomotopy

    model = tomotopy.LDAModel(k=N_TOPICS, seed=1)
    names = np.array([str(m) for m in range(X.shape[1])])
    for n in range(X.shape[0]):
        part = slice(X.indptr[n], X.indptr[n + 1])
        model.add_doc(np.repeat(names[X.indices[part]], X.data[part].astype(int)).tolist())
    model.train(0)

    def run(iterations: int) -> float:
        began = time.perf_counter()
        with warnings.catch_warnings():
            # that threads change its result
            warnings.simplefilter("ignore", RuntimeWarning)
            model.train(iterations, workers=workers, show_progress=False)
        return time.perf_counter() - began

    return run


def iteration_seconds(runs: dict[str, Iterations]) -> dict[str, float]:
    """Seconds of an iteration of each: measured in turn, the best of several."""
    for run in runs.values():
        run(1)
    measured: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            measured[name].append(run(ITERATIONS) / ITERATIONS)
    return {name: min(each) for name, each in measured.items()}


def on_graph(X: csr_array, engine: Engine) -> dict[str, Iterations]:
    from laconic.losses.divergence.counts import of_sum_one
    from laconic.losses.divergence.graphs import neighbour_graph
    from laconic.losses.divergence.linked import by_colour

    graph = neighbour_graph(X, N_NEIGHBORS)
    rows = of_sum_one(X)
    runs = {}
    for divergence in ("l2", "skl", "l1"):
        nodes = by_colour(rows, graph, first_weights(X), divergence, STRENGTH)
        runs[f"GraphPLSA ({divergence})"] = laconic_steps(nodes.shards, nodes.documents, engine)
    return runs


def kernel_rows(X: csr_array, seconds: float, peak: float) -> list[dict[str, Any]]:
    """How far the kernel of an iteration is from what dense products reach here."""
    # two products of length K for each non-zero and half step
    work = 2 * 2 * 2 * X.nnz * N_TOPICS
    return [
        {
            "what": "ratio_sums, both halves",
            "rate": work / seconds / 1e9,
            "limit": peak / 1e9,
            "ratio": work / seconds / peak,
        }
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    options = parser.parse_args()
    factor = 10 if options.quick else 1
    X = zipf_corpus(N_DOCUMENTS // factor, N_TERMS // factor, length=LENGTH, n_topics=N_TOPICS).counts
    X = csr_array(X.astype(np.float32))
    with Threads() as engine:
        size = f"{X.shape[0]:,} documents, {X.shape[1]:,} terms, {X.nnz:,} non-zeros, K = {N_TOPICS}"
        report = Report(PAGE, f"{size}; float32, {engine.n_workers} threads")
        with PeakMemory() as memory:
            ours = {"PLSA": plsa(X, engine)}
            ours["PLSA"](1)
        runs = {
            **ours,
            "scikit-learn NMF (mu, KL)": scikit_learn(X, engine),
            f"tomotopy LDA ({engine.n_workers} workers)": tomotopy_lda(X, engine.n_workers),
            **on_graph(X, engine),
        }
        seconds = iteration_seconds(runs)
        peak = gemm_peak(engine)
    base = seconds["PLSA"]
    rows = [
        {"what": name, "iteration": each, "ratio": each / base, "facts": ""} for name, each in seconds.items()
    ]
    rows[0]["facts"] = f"{memory.bytes / 2**20:,.0f} MB on top of X"
    columns: Columns = {
        "what": ("what", str),
        "iteration": ("s / iteration", "{:.4f}".format),
        "ratio": ("times PLSA", "{:.2f}".format),
        "facts": ("", str),
    }
    report.add("An iteration", rows, columns)
    report.add(
        "The kernel",
        kernel_rows(X, base, peak),
        {
            "what": ("what", str),
            "rate": ("Gflop/s", "{:.1f}".format),
            "limit": ("matrix product, Gflop/s", "{:.0f}".format),
            "ratio": ("fraction", "{:.2f}".format),
        },
    )
    if not options.quick:
        report.add(plsa_solvers.TITLE, plsa_solvers.table(), plsa_solvers.COLUMNS)
    report.write(options.json, options.page)


if __name__ == "__main__":
    main()
