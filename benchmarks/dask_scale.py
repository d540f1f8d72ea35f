"""The same fit on threads and on a Dask cluster of this machine: time, tasks and bytes of an iteration.

    python -m benchmarks.dask_scale --folder DIR                       all of it
    python -m benchmarks.dask_scale --folder DIR --only small          one of small, large, groups, nmf
    python -m benchmarks.dask_scale --folder DIR --scale 100           a hundredth of the documents

One thread is set beside one worker of one thread, and two beside two, over the same shards. What counts is
the time of the processor in all processes together, scheduler and coordinator included, since the machine may
be busy otherwise; the topics have to be the same, to the bit.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from contextlib import ExitStack
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from benchmarks.group_scale import ALPHA_DOCS, WIKIPEDIA, class_sizes
from benchmarks.group_scale import corpus as group_corpus
from benchmarks.zipf import zipf_corpus
from scipy.sparse import csr_array, issparse

from laconic import RLSI, GroupNMF, GroupRLSI
from laconic.engines import Shards, Threads
from laconic.engines.connecting import connected
from laconic.engines.dask import DaskEngine

N_TERMS, N_TOPICS = 100_000, 100
SHARED = {"tol": 0, "random_state": 0}
GROUPS = WIKIPEDIA.smaller(10)


class Collection(NamedTuple):
    """Documents, their classes, and what is fitted to them."""

    X: csr_array
    labels: Any
    model: Any
    n_shards: int


def made(name: str, scale: int, iterations: int) -> Collection:
    given = {**SHARED, "max_iter": iterations}
    if name in ("small", "large"):
        n_documents = (100_000 if name == "small" else 1_000_000) // scale
        X = zipf_corpus(n_documents, N_TERMS, n_topics=N_TOPICS).tfidf()
        # drawn documents, so that most of the time is that of iterations of the fit
        start = csr_array(X[np.random.RandomState(0).permutation(n_documents)[:N_TOPICS]])
        model: Any = RLSI(N_TOPICS, alpha_topics=0.3, alpha_docs=ALPHA_DOCS, init=start, **given)
        return Collection(X, None, model, 8)
    shape = GROUPS.smaller(scale)
    shape = shape._replace(n_documents=int(class_sizes(shape).sum()))
    planted = group_corpus(shape)
    sizes = {"n_shared": shape.n_shared, "n_per_class": shape.n_per_class}
    if name == "nmf":
        return Collection(planted.tfidf(), planted.labels, GroupNMF(**sizes, **given), 4)
    alphas = {"alpha_topics": shape.alpha, "alpha_docs": ALPHA_DOCS}
    return Collection(planted.tfidf(), planted.labels, GroupRLSI(**sizes, **alphas, **given), 4)


class Meter:
    """What an engine, and all processes of this one, have taken so far."""

    def __init__(self, engine: Any, client: Any) -> None:
        self.engine, self.client = engine, client
        own = psutil.Process()
        # nannies have workers as children
        self.processes = [own, *own.children(recursive=True)]

    def read(self) -> dict[str, float]:
        """All of it."""
        times = [process.cpu_times() for process in self.processes]
        found = {"cpu": sum(each.user + each.system for each in times), "wall": time.perf_counter()}
        if self.client is not None:
            moved = self.client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
            cluster = self.engine.cluster
            found |= {"tasks": cluster.n_tasks, "sent": cluster.n_sent, "moved": sum(moved.values())}
        return found


def fit(collection: Collection, engine: Any, client: Any) -> dict[str, Any]:
    meter = Meter(engine, client)
    rows: list[dict[str, float]] = []

    def watch(progress: Any) -> None:
        if progress.half == "topics" and progress.phase == "fit":
            rows.append(meter.read())

    X, labels, model, n_shards = collection
    began = meter.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(Shards.cut(X, n_shards), labels, engine=engine, callback=watch)
    steps = [{name: after[name] - before[name] for name in after} for before, after in pairwise(rows)]
    topics = model.components_
    parts = (topics.data, topics.indices, topics.indptr) if issparse(topics) else (topics,)
    found = {name: min(step[name] for step in steps) for name in steps[0]}
    found["whole cpu"] = meter.read()["cpu"] - began["cpu"]
    return found | {"bits": sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]}


def run(name: str, scale: int, iterations: int, folder: Path) -> dict[str, Any]:
    collection = made(name, scale, iterations)
    shape = collection.X.shape
    print(f"{name}: {shape[0]:,} documents, {shape[1]:,} terms, {collection.X.nnz:,} entries", flush=True)
    found: dict[str, Any] = {"shape": shape, "entries": int(collection.X.nnz), "shards": collection.n_shards}
    fit(Collection(collection.X[:2000], None, RLSI(2, max_iter=2), 2), Threads(1), None)  # compiles
    for n_workers in (1, 2):
        found[f"{n_workers} threads"] = fit(collection, Threads(n_workers), None)
        with ExitStack() as stack:
            client = stack.enter_context(connected(f"local:{n_workers}"))
            engine = DaskEngine(client, folder, n_jobs=n_workers)
            found[f"{n_workers} workers"] = fit(collection, engine, client)
        near, far = found[f"{n_workers} threads"], found[f"{n_workers} workers"]
        if near["bits"] != far["bits"]:
            raise SystemExit(f"{name}: other bits on {n_workers} workers: {found}")
        line = (
            f"{n_workers}: processor {near['cpu']:.1f} s on threads, {far['cpu']:.1f} s on workers",
            f"({far['cpu'] / near['cpu']:.2f}x); time {near['wall']:.1f} s, {far['wall']:.1f} s",
            f"({far['wall'] / near['wall']:.2f}x); {far['tasks']:.0f} tasks,",
            f"{far['sent'] / 1e6:.1f} MB of messages, {far['moved'] / 1e6:.1f} MB between workers and back;",
            f"whole fit {near['whole cpu']:.0f} s, {far['whole cpu']:.0f} s of the processor",
        )
        print(" ", *line, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=["small", "large", "groups", "nmf"])
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=4)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    kept = given.folder / "dask_scale.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    for name in given.only:
        found[f"{name}/{given.scale}"] = run(name, given.scale, given.iterations, given.folder)
        kept.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
