"""RLSI against its peers and against the machine.

    python -m benchmarks.rlsi            the whole table (some minutes)
    python -m benchmarks.rlsi --quick    a tenth of the size, to see that it runs

Everything is measured in one process, peers beside us; times are medians or best of several, and the ratios
are what counts: the machine's own speed varies.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.machine import PeakMemory, best, gemm_peak, memory_bandwidth
from benchmarks.paper_rlsi import paper_rows, paper_rows_simd, paper_topic_step
from benchmarks.report import Columns, Report
from benchmarks.zipf import ZipfCorpus, zipf_corpus
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from laconic import RLSI
from laconic.engines import Block, Shards, Threads, even_rows
from laconic.losses.factor import Factor, transposed
from laconic.losses.loop import Progress
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.rows import Descent, Ridge
from laconic.losses.squared.shares import class_products
from laconic.losses.squared.steps import SquaredSteps
from laconic.losses.squared.topics import SeparableTopics

SIZE = 100_000
LENGTH = 122.0  # tokens a document; makes about 9 million non-zeros
ALPHA_DOCS = 0.3
TOL = 1e-5
# chosen so that 0.5 to 2 % of the weights are not zero, with every topic alive
ALPHA_TOPICS = {100: 0.1, 200: 0.04, 400: 0.035, 500: 0.03, 800: 0.03}

PAGE = """# Performance

How long an iteration of RLSI takes, compared with scikit-learn's NMF, with the algorithm of its paper and
with the limits of the machine.

Measured by `make bench` in one run: {headline}. The corpus is generated, with a Zipfian vocabulary and
planted topics. Times of iterations are medians from the fourth on, those of kernels the best of several.
The machine is shared and noisy, so look at the ratios.

The paper's algorithm forms R and runs coordinate descent from zero over all topics, on the same threads and
to the same tolerance. *Compiled as written* keeps the order of its sums. *Vectorised by hand* lets the
inner product over topics use the whole vector unit. The cost of the dense products grows with the square of
the number of topics, so from a few hundred topics on, twice as many topics cost more than twice as much. A
planted topic counts as found if its cosine with one of the model's topics is above 0.9.

For quality and time of whole fits on real texts, see [laconic and its peers](performance-peers.md).
"""


class Timing(NamedTuple):
    """One fit: seconds of the first iteration, median from the fourth on, and what came out."""

    model: RLSI
    first: float
    later: float
    memory: int

    @property
    def facts(self) -> str:
        """Density and life of the topics."""
        sizes = self.model.topic_sizes_
        return f"density {self.model.density_:.2%}, {self.model.n_alive_}/{sizes.size} alive"


def corpus(n: int, m: int, k: int) -> ZipfCorpus:
    return zipf_corpus(n, m, length=LENGTH, n_topics=k)


def timed_fit(X: csr_array, iterations: int = 9, **parameters: Any) -> Timing:
    ends: list[float] = []

    def note(progress: Progress) -> None:
        if progress.half == "topics":
            ends.append(time.perf_counter())
            if progress.phase == "start":
                ends[:] = ends[-1:]

    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # the tol of a user's fit, because it sets how exactly rows are solved; none ends by it this soon
        model = RLSI(max_iter=iterations, tol=TOL, random_state=0, **parameters)
        model.fit(X, callback=note)
    steps = np.diff(ends)
    return Timing(model, float(steps[0]), float(np.median(steps[3:])), memory.bytes)


def l1(k: int) -> dict[str, Any]:
    return {"n_components": k, "alpha_topics": ALPHA_TOPICS[k], "alpha_docs": ALPHA_DOCS}


def nmf_iteration(X: csr_array, k: int) -> float:
    """Seconds of one iteration of scikit-learn's NMF by coordinate descent: the slope over iterations."""

    def run(iterations: int) -> float:
        model = NMF(k, solver="cd", init="random", tol=0, max_iter=iterations, random_state=0)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        return time.perf_counter() - began

    return min((run(7) - run(3)) / 4 for _ in range(2))


def against_scikit_learn(X: csr_array, k: int) -> list[dict[str, Any]]:
    peer = nmf_iteration(X, k)
    rows = [{"what": f"scikit-learn NMF(cd), K={k}", "iteration": peer, "ratio": 1.0, "facts": ""}]
    budget = {"n_components": k, "topic_norm": "l0"}
    for name, parameters in ((f"RLSI l1, K={k}", l1(k)), (f"RLSI 40 words, K={k}", budget)):
        ours = timed_fit(X, **parameters)
        rows.append(
            {
                "what": name,
                "iteration": ours.later,
                "ratio": ours.later / peer,
                "facts": f"{ours.facts}; first iteration {ours.first / ours.later:.1f}x the later; "
                f"peak memory {ours.memory / 2**20:,.0f} MB on top of X",
            }
        )
    again = nmf_iteration(X, k)
    rows.append(
        {"what": "the same NMF once more", "iteration": again, "ratio": again / peer, "facts": "noise"}
    )
    return rows


class Prepared(NamedTuple):
    """Steps in the middle of a fit, with the document half step done."""

    steps: SquaredSteps
    topics: Factor
    document_half: float


def prepare(X: csr_array, k: int, engine: Threads) -> Prepared:
    start = timed_fit(X, iterations=4, **l1(k)).model.components_
    steps = SquaredSteps(Shards.whole(X), Classes.single(X.shape[0], k), engine)
    step = SeparableTopics(Descent(ALPHA_TOPICS[k], precision=1e-4, max_sweeps=200))
    times = []
    for _ in range(4):
        # from the same topics every time: the half step scales them against the weights that it finds
        steps.begin(start, Ridge(ALPHA_DOCS), [step])
        times.append(best(steps.documents, 1))
    return Prepared(steps, steps.own[0].topics, min(times[1:]))


def against_the_paper(X: csr_array, k: int, engine: Threads) -> list[dict[str, Any]]:
    """One whole iteration from the same topics and weights: ours, and the paper's topic step."""
    steps, topics, document_half = prepare(X, k, engine)
    alpha = ALPHA_TOPICS[k]
    times = []
    for _ in range(3):
        steps.own[0].topics = topics
        began = time.perf_counter()
        ours = steps.topics()
        times.append(time.perf_counter() - began)
    seconds = document_half + min(times)
    rows = [{"what": f"RLSI l1, K={k}", "iteration": seconds, "ratio": 1.0, "facts": ""}]
    for name, kernel in (("compiled as written", paper_rows), ("vectorised by hand", paper_rows_simd)):
        one = np.ones((1, 1), np.float32)
        kernel(one, one, one.copy(), np.float32(0), np.float32(1), 1)  # compiles it
        began = time.perf_counter()
        dense, cross = paper_topic_step(steps, kernel, alpha, 1e-4)
        paper_seconds = document_half + time.perf_counter() - began
        paper = steps.energy - 2 * cross + float(np.vdot(steps.document_grams[0], _gram(dense)))
        paper += steps.document_penalty + alpha * float(np.abs(dense).sum(dtype=np.float64))
        rows.append(
            {
                "what": f"the paper's, {name}",
                "iteration": paper_seconds,
                "ratio": paper_seconds / seconds,
                "facts": f"objectives differ by {abs(ours / paper - 1):.1e}",
            }
        )
    return rows


def _gram(rows: NDArray[Any]) -> NDArray[Any]:
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), 4096):
        chunk = rows[start : start + 4096].astype(np.float64)
        total += chunk.T @ chunk
    return total


def against_the_machine(X: csr_array, k: int, engine: Threads) -> list[dict[str, Any]]:
    """The two halves that have a limit: sums over non-zeros (memory) and dense products (arithmetic)."""
    steps, _, _ = prepare(X, k, engine)
    shard = steps.shards[0]
    # the sums over non-zeros alone, without the scale that the weights are still to be divided by
    message = steps.term_message()._replace(scales=[None])
    bandwidth, peak = memory_bandwidth(engine), gemm_peak(engine)

    def accumulate(terms: NDArray[Any]) -> None:
        class_products(shard, terms, message)

    seconds = best(lambda: list(engine.map(accumulate, steps.blocks)))
    moved = X.nnz * (4 * k + 8)
    products = np.random.default_rng(0).random((1024, k), dtype=np.float32)
    ridge = steps.solver.prepare(steps.topic_grams[0], np.float32)

    def dense(block: Block) -> None:
        rows = products[: block.size] @ ridge
        rows.T @ rows

    dense_seconds = best(lambda: list(engine.map(dense, even_rows(shard))))
    # the second product is symmetric: BLAS computes half of it
    operations = X.shape[0] * k * k * (2 + 1)
    return [
        {
            "what": f"accumulate, K={k}",
            "seconds": seconds,
            "reached": f"{moved / seconds / 1e9:.1f} GB/s",
            "limit": f"{bandwidth / 1e9:.1f} GB/s read in order",
            "fraction": moved / seconds / bandwidth,
        },
        {
            "what": f"dense products, K={k}",
            "seconds": dense_seconds,
            "reached": f"{operations / dense_seconds / 1e9:.0f} Gflop/s",
            "limit": f"{peak / 1e9:.0f} Gflop/s matrix product",
            "fraction": operations / dense_seconds / peak,
        },
    ]


def growth(size: int) -> list[dict[str, Any]]:
    """Time of an iteration when one dimension doubles, with alphas that keep the density about the same."""
    cases = [
        ("base", size, size, 100, ALPHA_TOPICS[100]),
        ("documents x 2", 2 * size, size, 100, 0.14),
        ("terms x 2", size, 2 * size, 100, 0.04),
        ("topics x 2", size, size, 200, ALPHA_TOPICS[200]),
        ("topics x 4", size, size, 400, ALPHA_TOPICS[400]),
        ("topics x 8", size, size, 800, ALPHA_TOPICS[800]),
    ]
    rows: list[dict[str, Any]] = []
    for what, n, m, k, alpha in cases:
        X = corpus(n, m, 100).tfidf()
        timing = timed_fit(X, iterations=7, **(l1(k) | {"alpha_topics": alpha}))
        base = rows[0]["iteration"] if rows else timing.later
        rows.append(
            {
                "what": f"{what} (N={n:,}, M={m:,}, K={k})",
                "iteration": timing.later,
                "ratio": timing.later / base,
                "facts": f"{X.nnz:,} non-zeros, {timing.facts}, peak memory {timing.memory / 2**20:,.0f} MB",
            }
        )
    return rows


def recovered(X: ZipfCorpus, k: int) -> list[dict[str, Any]]:
    """How many planted topics a fit to the end finds: best cosine above 0.9."""
    rows = []
    weights = X.tfidf()
    for name, parameters in (("40 words", {"topic_norm": "l0"}), ("l1", l1(k))):
        parameters["n_components"] = k
        began = time.perf_counter()
        model = RLSI(random_state=0, **parameters).fit(weights)
        seconds = time.perf_counter() - began
        C = transposed(transposed(model.components_.astype(np.float64)))
        C.data /= np.repeat(np.sqrt(C.power(2).sum(axis=1)), np.diff(C.indptr))
        cosines = np.abs((X.topics @ C.T).toarray()).max(axis=1)
        rows.append(
            {
                "what": f"RLSI {name}, K={k}",
                "iteration": seconds,
                "ratio": float((cosines > 0.9).mean()),
                "facts": f"{model.n_iter_} iterations after the start",
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--jobs", type=int, default=2, help="threads (default 2)")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    options = parser.parse_args()
    size = SIZE // 10 if options.quick else SIZE
    X = corpus(size, size, 100).tfidf()
    report = Report(PAGE, f"N = M = {size:,}, {X.nnz:,} non-zeros, float32, {options.jobs} threads")
    seconds, share = "{:.3f}".format, "{:.2f}".format
    columns: Columns = {"what": ("what", str), "iteration": ("s / iteration", seconds)}
    columns |= {"ratio": ("ratio", share), "facts": ("", str)}
    limits: Columns = {"what": ("what", str), "seconds": ("s", seconds), "reached": ("reached", str)}
    limits |= {"limit": ("limit", str), "fraction": ("fraction", share)}
    timed_fit(corpus(2000, 2000, 100).tfidf(), **l1(100))  # compiles the kernels

    report.add("An iteration, compared with scikit-learn's NMF", against_scikit_learn(X, 100), columns)
    with Threads(options.jobs) as engine:
        X500 = corpus(size, size, 500).tfidf()
        kernels = against_the_machine(X, 100, engine) + against_the_machine(X500, 500, engine)
        report.add("Kernels, compared with the machine", kernels, limits)
        report.add(
            "An iteration, compared with the paper's algorithm", against_the_paper(X500, 500, engine), columns
        )
    del X500
    report.add("Growth of an iteration", growth(size), columns)
    planted = columns | {"iteration": ("s in total", "{:.1f}".format), "ratio": ("found", "{:.0%}".format)}
    report.add("Planted topics found by whole fits", recovered(corpus(size, size, 100), 100), planted)
    report.write(options.json, options.page)


if __name__ == "__main__":
    main()
