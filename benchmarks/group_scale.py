"""Group models at the scale of Wikipedia, on one machine.

    python -m benchmarks.group_scale                    the whole table (an hour and a half, 24 GB of memory)
    python -m benchmarks.group_scale --only growth nmf  some parts
    python -m benchmarks.group_scale --quick            a hundredth of the size, to see that it runs

The corpora are generated, Zipfian, with planted shared and class topics, and classes as skewed as in the
published experiments. Everything is measured in one process, peers beside us; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.machine import PeakMemory, best, resident
from benchmarks.report import Columns, Report
from benchmarks.zipf import ZipfCorpus, zipf_corpus
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

from laconic import NMF, RLSI, GroupNMF, GroupRLSI
from laconic.engines import Shards, Threads
from laconic.experiments.figures import Chart, Charts, Line, write_pictures
from laconic.losses.loop import Progress
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.starts import drawn_topics

LENGTH = 98.0  # tokens a document; makes about 75 non-zeros
ALPHA_DOCS = 0.3
TOL = 1e-5

PAGE = """# Group models at scale

How long group models take on millions of documents, and how that grows with documents and topics.

Measured by `make bench-groups`, each table in one run: {headline}. Corpora are generated, with a Zipfian
vocabulary, planted topics that all classes share, planted topics of each class, and classes as skewed as in
the published experiments. Times are medians of the last iterations, after the kernels were compiled. The
machine is shared and noisy, so look at the ratios.

The first tables compare with one product `X.T @ W` of scipy, single-threaded, with as many columns as a
document has topics (shared ones and those of its class). Any algorithm on these data has to do at least
that much work. A planted topic counts as found if its cosine with one of the model's topics is above 0.9.
Topics are counted after a few iterations only, to show that the fit is making progress. Memory is what a
fit adds to the process; memory left over from an earlier fit and used again is not counted.
"""


class Shape(NamedTuple):
    """The size of a collection and of its model."""

    name: str
    n_documents: int
    n_terms: int
    n_classes: int
    smallest: int
    largest: int
    n_shared: int
    n_per_class: int
    alpha: float

    def smaller(self, factor: int) -> Shape:
        """The same with fewer documents."""
        return self._replace(
            n_documents=self.n_documents // factor,
            smallest=max(2, self.smallest // factor),
            largest=self.largest // factor,
        )

    @property
    def n_topics(self) -> int:
        """Number of all topics."""
        return self.n_shared + self.n_classes * self.n_per_class


WIKIPEDIA = Shape("wikipedia", 2_807_535, 610_035, 25, 185, 991_695, 100, 40, 0.3)
WEB = Shape("web", 3_184_138, 530_905, 204, 226, 29_999, 100, 50, 0.1)


def class_sizes(shape: Shape) -> NDArray[np.int64]:
    """Sizes from the smallest to the largest, as skewed as it takes to add up to all documents."""
    low, high = 1e-3, 1e3
    ranks = np.linspace(0, 1, shape.n_classes)
    for _ in range(200):
        power = np.sqrt(low * high)
        sizes = shape.smallest * (shape.largest / shape.smallest) ** (ranks**power)
        low, high = (power, high) if sizes.sum() > shape.n_documents else (low, power)
    whole = np.maximum(1, np.round(sizes).astype(np.int64))
    whole[len(whole) // 2] += shape.n_documents - whole.sum()
    return whole


def corpus(shape: Shape) -> ZipfCorpus:
    return zipf_corpus(
        shape.n_documents,
        shape.n_terms,
        length=LENGTH,
        n_topics=shape.n_shared,
        n_per_class=shape.n_per_class,
        class_sizes=class_sizes(shape),
    )


class Timing(NamedTuple):
    """A fit: the seconds of a later iteration, of all of it, and the memory it added."""

    model: Any
    iteration: float
    whole: float
    memory: int


def timed_fit(model: Any, X: csr_array, labels: Any, iterations: int) -> Timing:
    ends: list[float] = []

    def note(progress: Progress) -> None:
        if progress.half == "topics":
            ends.append(time.perf_counter())
            if progress.phase == "start":
                ends[:] = ends[-1:]

    # the tol of a user's fit, because it sets how exactly rows are solved; none ends by it this soon
    model.set_params(max_iter=iterations, tol=TOL, random_state=0)
    began = time.perf_counter()
    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, labels, callback=note)
    steps = np.diff(ends)
    return Timing(model, float(np.median(steps[-3:])), time.perf_counter() - began, memory.bytes)


def facts(timing: Timing) -> str:
    model = timing.model
    sizes = model.topic_sizes_
    return (
        f"density {model.density_:.2%}, {model.n_alive_:,}/{sizes.size:,} alive, "
        f"peak memory {timing.memory / 2**30:.1f} GB on top of X"
    )


def found(planted: ZipfCorpus, components: Any) -> float:
    """Share of the planted topics with a cosine above 0.9 to one of the model's."""
    C = csr_array(components).astype(np.float64)
    lengths = np.sqrt(np.asarray(C.power(2).sum(axis=1)).ravel())
    C.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(C.indptr))
    cosines = (planted.topics @ C.T).tocsr()
    return float((abs(cosines).max(axis=1).toarray() > 0.9).mean())


def scipy_product(X: csr_array, width: int) -> float:
    """Seconds of X.T @ W."""
    W = np.random.default_rng(0).random((X.shape[0], width), dtype=np.float32)
    turned = X.T
    return best(lambda: turned @ W, 2)


def documents_as_topics(X: csr_array, labels: NDArray[Any], shape: Shape) -> csr_array:
    """A start without the narrowing of the default one, which takes a dozen iterations."""
    classes = Classes(labels.astype(np.int64), shape.n_shared, (shape.n_per_class,) * shape.n_classes)
    with Threads() as engine:
        return drawn_topics(Shards.whole(X), engine, classes, np.random.RandomState(0))


def at_scale(shape: Shape, iterations: int, narrowed: bool) -> list[dict[str, Any]]:
    """Iterations of the group models against one product of scipy."""
    planted = corpus(shape)
    X = planted.tfidf()
    labels = planted.labels
    topics, owner = planted.topics, planted.owner
    planted = ZipfCorpus(X[:1], labels[:1], topics, owner)  # the counts are not needed any more
    width = shape.n_shared + shape.n_per_class
    product = scipy_product(X, width)
    rows = [
        {
            "what": f"scipy's X.T @ W, {width} columns",
            "iteration": product,
            "ratio": 1.0,
            "facts": f"{X.nnz:,} non-zeros, {X.nnz / X.shape[0]:.0f} a document",
        }
    ]
    parameters = {"n_shared": shape.n_shared, "n_per_class": shape.n_per_class}
    start = "documents" if narrowed else documents_as_topics(X, labels, shape)
    alphas = {"alpha_topics": shape.alpha, "alpha_docs": ALPHA_DOCS}
    for name, model in (
        ("GroupRLSI", GroupRLSI(**parameters, **alphas, init=start)),
        ("GroupNMF (cd)", GroupNMF(**parameters)),
    ):
        timing = timed_fit(model, X, labels, iterations)
        rows.append(
            {
                "what": name,
                "iteration": timing.iteration,
                "ratio": timing.iteration / product,
                "facts": f"{facts(timing)} ({resident() / 2**30:.1f} GB resident), "
                f"{iterations} iterations and the start in {timing.whole:.0f} s, "
                f"{found(planted, model.components_):.0%} of planted topics found",
            }
        )
    return rows


def against_flat(shape: Shape, iterations: int, with_nmf: bool) -> list[dict[str, Any]]:
    """Group models against flat ones with the same number of topics."""
    planted = corpus(shape)
    X, labels = planted.tfidf(), planted.labels
    del planted  # at full size, flat weights leave no room for it
    rows = []
    sizes = {"n_shared": shape.n_shared, "n_per_class": shape.n_per_class}
    alphas = {"alpha_topics": shape.alpha / 3, "alpha_docs": ALPHA_DOCS}
    alphas["init"] = documents_as_topics(X, labels, shape)
    pairs: list[tuple[Any, Any]] = [(GroupRLSI(**sizes, **alphas), RLSI(shape.n_topics, **alphas))]
    if with_nmf:
        pairs.append((GroupNMF(**sizes), NMF(shape.n_topics)))
    for pair in pairs:
        timings = [timed_fit(model, X, labels, iterations) for model in pair]
        for timing in timings:
            rows.append(
                {
                    "what": f"{type(timing.model).__name__}, {shape.n_topics:,} topics",
                    "iteration": timing.iteration,
                    "ratio": timing.iteration / timings[0].iteration,
                    "facts": facts(timing),
                }
            )
    return rows


def growth(shape: Shape, iterations: int) -> list[dict[str, Any]]:
    """An iteration of both group models as documents, and as topics, grow."""
    rows = []
    for what, parts in (("documents", (1, 2, 4)), ("topics", (1, 2, 4))):
        for part in parts:
            case = (
                shape.smaller(4 // part)
                if what == "documents"
                else shape._replace(
                    n_shared=shape.n_shared * part // 4, n_per_class=shape.n_per_class * part // 4
                )
            )
            planted = corpus(shape.smaller(4 // part) if what == "documents" else shape)
            X = planted.tfidf()
            sizes = {"n_shared": case.n_shared, "n_per_class": case.n_per_class}
            alphas = {"alpha_topics": shape.alpha / 3, "alpha_docs": ALPHA_DOCS}
            alphas["init"] = documents_as_topics(X, planted.labels, case)
            for model in (GroupRLSI(**sizes, **alphas), GroupNMF(**sizes)):
                timing = timed_fit(model, X, planted.labels, iterations)
                name = type(model).__name__
                first = next((r for r in rows if (r["varied"], r["model"]) == (what, name)), None)
                rows.append(
                    {
                        "varied": what,
                        "model": name,
                        "nonzeros": X.nnz,
                        "topics": case.n_topics,
                        "iteration": timing.iteration,
                        "ratio": timing.iteration / (first["iteration"] if first else timing.iteration),
                        "facts": facts(timing),
                    }
                )
    return rows


def growth_figure(rows: list[dict[str, Any]], path: Path) -> None:
    """The curves as a figure: seconds of an iteration against non-zeros, and against topics."""

    def chart(what: str, key: str, label: str, unit: float) -> Chart:
        lines = {
            name: Line(
                [
                    (row[key] / unit, row["iteration"])
                    for row in rows
                    if (row["varied"], row["model"]) == (what, name)
                ]
            )
            for name in ("GroupRLSI", "GroupNMF")
        }
        title = f"More {what}"
        return Chart(title, label, "seconds an iteration", lines, logarithmic=False)

    charts = [
        chart("documents", "nonzeros", "non-zeros (millions)", 1e6),
        chart("topics", "topics", "topics", 1),
    ]
    write_pictures({path.name: Charts(charts)}, path.parent)


def nmf_race(name: str, X: csr_array, k: int, max_iter: int) -> list[dict[str, Any]]:
    """How soon NMF comes within 0.1 % of where scikit-learn's ends."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = decomposition.NMF(k, init="nndsvd", random_state=0, max_iter=max_iter).fit(X)
    seconds = time.perf_counter() - began
    goal = peer.reconstruction_err_**2
    rows = [
        {
            "what": f"{name}: scikit-learn (cd, from svd)",
            "iteration": seconds,
            "ratio": 1.0,
            "facts": f"objective {goal:,.1f} after {peer.n_iter_} iterations",
        }
    ]
    for solver, init in (("cd", "documents"), ("cd", "svd"), ("mu", "svd")):
        model = NMF(k, solver=solver, init=init, random_state=0)
        reached, objective = time_to(model, X, 1.001 * goal, seconds)
        there = objective <= 1.001 * goal
        late = "the peer's time was over" if reached > seconds else "it ended there"
        rows.append(
            {
                "what": f"{name}: NMF ({solver}, from {init})",
                "iteration": reached,
                "ratio": seconds / reached if there else np.nan,
                "facts": f"objective {objective:,.1f}" + ("" if there else f", not within 0.1 %: {late}"),
            }
        )
    return rows


def time_to(model: NMF, X: csr_array, goal: float, patience: float) -> tuple[float, float]:
    """Seconds until the objective is at most `goal` (or until patience ends), and the objective then."""
    last = (0.0, np.inf)
    began = time.perf_counter()

    def note(progress: Progress) -> bool:
        nonlocal last
        last = time.perf_counter() - began, progress.objective
        return last[1] <= goal or last[0] > patience

    model.set_params(tol=0, max_iter=100_000).fit(X, callback=note)
    return last


def races(quick: bool) -> list[dict[str, Any]]:
    from laconic import Corpus, datasets

    size = 10_000 if quick else 100_000
    generated = zipf_corpus(size, size, length=122.0, n_topics=100).tfidf()
    rows = nmf_race(f"{size:,} x {size:,}", generated, 100, 200)
    try:
        news = datasets.load("20newsgroups")
    except datasets.DatasetError:
        return rows
    texts = news.texts[:2000] if quick else news.texts
    return nmf_race("20newsgroups", Corpus.from_texts(texts, weighting="tfidf").X, 100, 200) + rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("wikipedia", "web", "flat", "flat-whole", "growth", "nmf")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="some parts")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the size")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    parser.add_argument("--figure", type=Path, help="also write the curves of growth to this SVG file")
    options = parser.parse_args()
    factor = 100 if options.quick else 1
    report = Report(PAGE, "float32, 2 threads" + (", a hundredth of the size" if options.quick else ""))
    seconds, share = "{:.2f}".format, "{:.2f}".format
    columns: Columns = {"what": ("what", str), "iteration": ("s / iteration", seconds)}
    columns |= {"ratio": ("ratio", share), "facts": ("", str)}
    small = zipf_corpus(2000, 2000, n_topics=5, n_per_class=2, class_sizes=np.array([1500, 500]))
    for model in (GroupRLSI(5, 2), GroupRLSI(5, 2, topic_norm="l0"), GroupNMF(5, 2)):  # compiles the kernels
        timed_fit(model, small.tfidf(), small.labels, 4)
    tables: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "wikipedia": lambda: at_scale(WIKIPEDIA.smaller(factor), 4, narrowed=True),
        "web": lambda: at_scale(WEB.smaller(factor), 4, narrowed=False),
        "flat": lambda: against_flat(WIKIPEDIA.smaller(10 * factor), 4, with_nmf=True),
        "flat-whole": lambda: against_flat(WIKIPEDIA.smaller(factor), 3, with_nmf=False),
    }
    for name, title in (
        ("wikipedia", f"An iteration at the shape of Wikipedia {tuple(WIKIPEDIA.smaller(factor)[1:4])}"),
        ("web", f"An iteration at the shape of a web directory {tuple(WEB.smaller(factor)[1:4])}"),
        ("flat", "Group models against flat ones, a tenth of the documents (ratio: to the group model)"),
        ("flat-whole", "A group model against a flat one, all documents (ratio: to the group model)"),
    ):
        if name in options.only:
            report.add(title, tables[name](), columns)
    if "growth" in options.only:
        rows = growth(WIKIPEDIA.smaller(10 * factor), 4)
        curve: Columns = {key: (key, str) for key in ("varied", "model")}
        curve |= {"nonzeros": ("non-zeros", "{:,}".format), "topics": ("topics", "{:,}".format)}
        report.add(
            "Growth of an iteration", rows, curve | {k: columns[k] for k in ("iteration", "ratio", "facts")}
        )
        if options.figure:
            growth_figure(rows, options.figure)
    if "nmf" in options.only:
        race = columns | {"iteration": ("s", seconds)}
        race |= {"ratio": ("times as fast", lambda ratio: "" if np.isnan(ratio) else share(ratio))}
        report.add(
            "Time to scikit-learn's final objective, within 0.1 %, K = 100", races(options.quick), race
        )
    report.write(options.json, options.page)


if __name__ == "__main__":
    main()
