"""Blended search against bm25s: many queries at once and one at a time, at a million documents and at some.

    python -m benchmarks.search                       the whole table (some minutes, 8 GB of memory)
    python -m benchmarks.search --documents 50000     fewer documents, to see that it runs

The corpus is generated, Zipfian, with planted topics; queries are a few words of a document each. bm25s gets
the scores of our index (which are its own, as the tests show) and searches them with its compiled backend;
it and we work in one process, in turns, on the same number of threads. The ratios are what counts.

One query at a time is measured twice: at a million documents, from counted words to numbers of documents; and
on scifact (where the environment variable LACONIC_DATA names the folder of the data sets), from a string to
documents with their snippets, beside bm25s from a string to documents.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from benchmarks.machine import best
from benchmarks.report import Report
from benchmarks.zipf import zipf_corpus
from numpy.typing import NDArray
from scipy.sparse import csr_array

from laconic import RLSI, fit
from laconic.datasets import load
from laconic.search import BM25, TopicMatcher
from laconic.search.blend import BlendedMatcher
from laconic.search.index import BLEND

PAGE = """# Performance of search

How long a search by words and topics takes, compared with bm25s, which searches by words alone.

Measured by `make bench-search` in one run: {headline}. The corpus is generated, with a Zipfian vocabulary
and planted topics; each query is a few words of one document. bm25s searches the scores of our index with
its compiled backend, by terms alone. The contenders take turns several times, and the best time of each
counts. A blend costs more the more topics count and the more results are wanted, because more documents
could then be among the best and have to be checked. "Max" divides the term scores of a query by the best of
them (the default), "raw" takes them as they are.

Many queries at once run on all threads and share the work on topics; the time is wall time per query.
Single queries run on one thread; the time is CPU time, the best of ten for each query. On scifact, a search
starts from a string, and ours also makes the snippets of ten documents, which bm25s does not.
"""

N_TOPICS = 100
FITTED_ON = 20_000
WORDS = (2, 6)
# scaling, blend and number of documents
VARIANTS = (
    ("max", 0.0, 10),
    ("max", BLEND, 10),
    ("max", 0.3, 10),
    ("max", 0.5, 10),
    ("raw", 0.3, 10),
    ("raw", 0.8, 10),
    ("max", 1.0, 10),
    ("max", BLEND, 1000),
)
# one query at a time: how many of them
ONE_AT_A_TIME = 100
# a query takes so little that noise is most of it: what is measured in more turns has less
FEWEST_TURNS = 10
# and the blends
ONE_BY_ONE = (0.0, BLEND, 1.0)


def drawn_queries(counts: csr_array, n_queries: int, seed: int = 0) -> csr_array:
    """Some of the words of documents."""
    random = np.random.default_rng(seed)
    indptr, terms = [0], []
    for document in random.choice(counts.shape[0], n_queries, replace=False):
        words = counts.indices[counts.indptr[document] : counts.indptr[document + 1]]
        size = min(words.size, random.integers(WORDS[0], WORDS[1] + 1))
        terms.append(np.sort(random.choice(words, size, replace=False)))
        indptr.append(indptr[-1] + size)
    found = np.concatenate(terms).astype(np.int32)
    return csr_array((np.ones(found.size, np.float32), found, indptr), shape=(n_queries, counts.shape[1]))


def weighed(counts: csr_array, idf: NDArray[np.float32]) -> csr_array:
    """Tf-idf with rows of length one."""
    X = csr_array((counts.data * idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)
    squares = np.add.reduceat(X.data * X.data, X.indptr[:-1])
    X.data /= np.repeat(np.sqrt(squares), np.diff(X.indptr))
    return X


def peer(terms: BM25) -> Any:
    """A bm25s with the scores of our index: its own indexing takes lists of tokens, not counts."""
    found = bm25s.BM25(backend="numba", k1=terms.k1, b=terms.b)
    columns = terms.columns
    found.scores = {
        "data": terms.impacts,
        "indices": columns.indices,
        "indptr": columns.indptr,
        "num_docs": terms.n_documents,
    }
    found.vocab_dict = {}
    found.unique_token_ids_set = set(range(columns.shape[1]))
    found.nonoccurrence_array = None
    return found


def timed(name: str, make: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    value = make()
    print(f"{name:44} {time.perf_counter() - began:8.1f} s", flush=True)
    return value


def topics_of(X: csr_array) -> TopicMatcher:
    """The topics of documents, as found in a part of them."""
    sample, model = X[: min(FITTED_ON, X.shape[0])], RLSI(N_TOPICS, random_state=0, tol=1e-3)
    timed(f"fitting {N_TOPICS} topics on a sample", lambda: model.fit(sample))
    found: TopicMatcher = timed("the topics of all documents", lambda: TopicMatcher(model, X))
    return found


def compare(
    terms: BM25, topics: TopicMatcher, queries: csr_array, rows: csr_array, threads: int, repeat: int
) -> list[dict[str, Any]]:
    """Search with bm25s and with ours, in turns."""
    other = peer(terms)
    ends = zip(queries.indptr[:-1], queries.indptr[1:], strict=True)
    words = [queries.indices[start:stop].tolist() for start, stop in ends]

    def bm25s_alone() -> None:
        other.retrieve(
            words, k=10, n_threads=threads, show_progress=False, chunksize=None, backend_selection="numba"
        )

    def blended(scaling: str, blend: float, k: int) -> Callable[[], Any]:
        matcher = BlendedMatcher(terms, topics, scaling)
        return lambda: matcher.top(queries, rows, k, blend, threads)

    runs = {"bm25s, top 10": bm25s_alone}
    for scaling, blend, k in VARIANTS:
        runs[f"blend {blend:g} ({scaling}), top {k}"] = blended(scaling, blend, k)
    return measured(runs, len(words), repeat)


def one_by_one(
    terms: BM25, topics: TopicMatcher, queries: csr_array, rows: csr_array, repeat: int
) -> list[dict[str, Any]]:
    """The same, one query after the other, as they come from users."""
    other, matcher = peer(terms), BlendedMatcher(terms, topics, "max")
    single = [(queries[[q]], rows[[q]]) for q in range(queries.shape[0])]
    words = [counts.indices.tolist() for counts, _ in single]

    def bm25s_alone(q: int) -> None:
        other.retrieve([words[q]], k=10, n_threads=0, show_progress=False, backend_selection="numba")

    def blended(blend: float) -> Callable[[int], Any]:
        return lambda q: matcher.top(*single[q], 10, blend, 1)

    runs: dict[str, Callable[[int], Any]] = {"bm25s, top 10": bm25s_alone}
    for blend in ONE_BY_ONE:
        runs[f"blend {blend:g}, top 10"] = blended(blend)
    return measured_each(runs, len(words), repeat)


def from_strings(repeat: int) -> list[dict[str, Any]]:
    """One query after the other among the abstracts of scifact: strings in, documents out."""
    data = load("scifact")
    bundle = timed("50 topics of scifact", lambda: fit(list(data.texts), n_topics=50, random_state=0))
    index, queries = bundle.index, list(data.queries.values())
    other = bm25s.BM25(backend="numba")
    other.index(bm25s.tokenize(list(data.texts), stopwords="en", show_progress=False), show_progress=False)

    def bm25s_alone(q: int) -> None:
        tokens = bm25s.tokenize(queries[q], stopwords="en", show_progress=False)
        other.retrieve(tokens, k=10, n_threads=0, show_progress=False, backend_selection="numba")

    def blended(blend: float, k: int) -> Callable[[int], Any]:
        return lambda q: index.search(queries[q], k, blend=blend)

    runs: dict[str, Callable[[int], Any]] = {"bm25s, top 10, without snippets": bm25s_alone}
    for blend in ONE_BY_ONE:
        runs[f"blend {blend:g}, top 10, with snippets"] = blended(blend, 10)
    runs[f"blend {BLEND:g}, top 1, with its snippet"] = blended(BLEND, 1)
    return measured_each(runs, len(queries), repeat)


def measured_each(runs: dict[str, Callable[[int], Any]], n_queries: int, repeat: int) -> list[dict[str, Any]]:
    """The mean over queries of the best time of each, in turns; compared with the first."""
    seconds = {name: np.full(n_queries, np.inf) for name in runs}
    for _ in range(max(repeat, FEWEST_TURNS)):
        for name, run in runs.items():
            for q in range(n_queries):
                began = time.process_time()
                run(q)
                seconds[name][q] = min(seconds[name][q], time.process_time() - began)
    return compared({name: float(each.mean()) for name, each in seconds.items()})


def measured(runs: dict[str, Callable[[], Any]], n_queries: int, repeat: int) -> list[dict[str, Any]]:
    """The best time of each, in turns; the first of them is what the others are compared with."""
    for run in runs.values():
        run()
    seconds = dict.fromkeys(runs, np.inf)
    for _ in range(repeat):
        for name, run in runs.items():
            seconds[name] = min(seconds[name], best(run, 1))
    return compared({name: took / n_queries for name, took in seconds.items()})


def compared(seconds: dict[str, float]) -> list[dict[str, Any]]:
    base = next(iter(seconds.values()))
    return [{"what": name, "ms": 1000 * took, "ratio": took / base} for name, took in seconds.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--terms", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--length", type=float, default=100.0, help="tokens of a document")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    chosen = parser.parse_args()
    planted = timed(
        "drawing the documents",
        lambda: zipf_corpus(chosen.documents, chosen.terms, length=chosen.length, n_topics=N_TOPICS),
    )
    counts = planted.counts
    frequency = np.bincount(counts.indices, minlength=chosen.terms)
    idf = (np.log((1 + chosen.documents) / (1 + frequency)) + 1).astype(np.float32)
    topics = topics_of(weighed(counts, idf))
    terms = timed("the terms of all documents", lambda: BM25(counts))
    queries = drawn_queries(counts, chosen.queries)
    columns = terms.columns
    postings = columns.data.nbytes + columns.indices.nbytes + columns.indptr.nbytes + terms.impacts.nbytes
    report = Report(
        PAGE,
        f"{chosen.documents:,} documents, {counts.nnz:,} non-zeros, {N_TOPICS} topics, {chosen.queries:,} "
        f"queries of {queries.nnz / chosen.queries:.1f} words on average, {chosen.threads} threads; index of "
        f"{postings / 2**20:,.0f} MB for terms and {topics.nbytes / 2**20:,.0f} MB for topics",
    )
    columns_shown = {
        "what": ("what", str),
        "ms": ("ms", "{:.2f}".format),
        "ratio": ("times bm25s", "{:.2f}".format),
    }
    rows = weighed(queries, idf)
    report.add(
        f"{chosen.queries:,} queries at once",
        compare(terms, topics, queries, rows, chosen.threads, chosen.repeat),
        columns_shown,
    )
    some = slice(0, ONE_AT_A_TIME)
    report.add(
        "One query at a time",
        one_by_one(terms, topics, queries[some], rows[some], chosen.repeat),
        columns_shown,
    )
    if os.environ.get("LACONIC_DATA"):
        report.add(
            "One query at a time, from a string, among the 5,183 abstracts of scifact",
            from_strings(chosen.repeat),
            columns_shown,
        )
    report.write(chosen.json, chosen.page)


if __name__ == "__main__":
    main()
