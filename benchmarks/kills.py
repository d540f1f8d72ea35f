"""Fits that are killed by SIGKILL at random moments, and continued from their checkpoints, to the same bits.

    python benchmarks/kills.py [--kills 10] [--seed 0] [FAMILY ...]

Every family is fitted once undisturbed, in memory. Then processes fit it with a checkpoint after every
iteration, with documents and weights in files where the family allows it, and each is killed after a random
time, wherever it is: in its start, in an iteration, in the middle of a write.
When a process gets to the end, its topics and its history are compared with those of the undisturbed fit, and
another fit begins, until there were as many kills as asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from laconic import NMF, PLSA, RLSI, GraphPLSA, GroupNMF, GroupRLSI, MultimodalPLSA, SparseLSA, priors
from laconic.engines import Checkpoint, Room, Shard, Shards, room
from laconic.losses.squared import starts
from laconic.steering import Anchors

LONG = {"random_state": 0, "max_iter": 40, "tol": 0, "n_jobs": 2}
FAMILIES: dict[str, Any] = {
    "rlsi: narrowing, penalty, extrapolation": RLSI(10, init="documents", **LONG),
    "rlsi: svd, l1 weights, anchors": RLSI(
        10, doc_norm="l1", nonnegative=True, init="svd", anchors=Anchors({0: [3, 4]}, forbidden=[7]), **LONG
    ),
    "rlsi: word budget, settling, l1 weights": RLSI(
        10, topic_norm="l0", doc_norm="l1", nonnegative="both", init="svd", **LONG
    ),
    "group-rlsi: narrowing from a sample": GroupRLSI(4, 3, topic_norm="l0", nonnegative="both", **LONG),
    "nmf: svd, extrapolation": NMF(10, **LONG),
    "group-nmf: extrapolation": GroupNMF(4, 3, **LONG),
    "nmf-kl: extrapolation": NMF(10, loss="kl", **LONG),
    "plsa: extrapolation, prior after a start": PLSA(10, prior=priors.Pareto(2.0), **LONG),
    "graph-plsa: strengthened links": GraphPLSA(10, divergence="l1", **LONG),
    "multimodal-plsa: tied start": MultimodalPLSA(10, **LONG),
    "sparse-lsa: steps ahead, revival": SparseLSA(20, alpha_topics=2.0, **LONG),
}


def documents(n_documents: int, n_terms: int, seed: int) -> csr_array:
    """Counts with planted topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_terms, 0.05), 10)
    weights = rng.dirichlet(np.full(10, 0.2), n_documents)
    return csr_array(rng.poisson(60 * weights @ topics).astype(np.float32))


def fitted(model: Any, checkpoint: Checkpoint | None) -> str:
    """Fit, and tell a checksum of all that was found; with a checkpoint, arrays are in files if they can."""
    # so that a small collection has a start from a sample, of some of its terms, too
    starts.SAMPLE, starts.SAMPLE_PER_TOPIC, starts.ENTRIES = 600, 10, 300 * 20
    room.SMALL = 1
    X = documents(1500, 400, seed=1)
    data: Any = X
    if not model._loss().whole:
        place = Room(None if checkpoint is None else tempfile.gettempdir())
        cut = Shards.cut(X, 3)
        data = Shards([Shard(place.matrix(shard.X), shard.documents, room=place) for shard in cut])
    if isinstance(model, MultimodalPLSA):
        data = {"one": X, "other": documents(1500, 300, seed=2)}
    labels = np.where(np.arange(1500) % 3 == 0, "sea", "sky")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = {} if isinstance(model, MultimodalPLSA | GraphPLSA) else {"y": labels}
        model.fit(data, **arguments, checkpoint=checkpoint)
    found = model.components_
    parts = (found.data, found.indices, found.indptr) if issparse(found) else (found,)
    content = b"".join(part.tobytes() for part in parts) + model.objective_history_.tobytes()
    return hashlib.sha256(content).hexdigest()


def child(model: Any, folder: str, answer: str) -> None:
    """A process that fits with a checkpoint, and writes down what it found."""
    found = fitted(model, Checkpoint(folder, every=0))
    Path(answer + ".new").write_text(found)
    Path(answer + ".new").replace(answer)


def place(folder: Path) -> str:
    """Where the fit was when it was killed, by its checkpoint."""
    try:
        state = json.loads((folder / "checkpoint.json").read_text())["states"][0]
    except FileNotFoundError:
        return "before the first checkpoint"
    return f"run {state['run']}"


def survive(name: str, model: Any, n_kills: int, rng: random.Random) -> tuple[int, int, Counter[str]]:
    """Kill fits of a family; tells how many ended, how many with other bits, and where kills were."""
    expected = fitted(model, None)
    context = multiprocessing.get_context("fork")
    folder, answer = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp(), "answer")
    shutil.rmtree(folder)
    began = time.perf_counter()
    process = context.Process(target=child, args=(model, str(folder), str(answer)))
    process.start()
    process.join()
    longest = time.perf_counter() - began
    ended, wrong, places = 1, int(answer.read_text() != expected), Counter[str]()
    while places.total() < n_kills or folder.exists():
        answer.unlink(missing_ok=True)
        process = context.Process(target=child, args=(model, str(folder), str(answer)))
        process.start()
        if places.total() < n_kills:
            # short ones, too: a fit that goes on has little left
            process.join(rng.uniform(0, longest) * rng.choice((0.2, 1.0)))
            if process.is_alive():
                os.kill(process.pid or 0, signal.SIGKILL)
                process.join()
                places[place(folder)] += 1
                continue
        process.join()
        if process.exitcode != 0 or not answer.exists():
            raise SystemExit(f"{name}: a fit that went on failed with {process.exitcode}")
        ended += 1
        wrong += answer.read_text() != expected
    shutil.rmtree(answer.parent)
    found = f"{n_kills:3} kills  {ended:2} fits ended  {wrong} with other bits"
    print(f"{name:45} {found}  {dict(places)}", flush=True)
    return ended, wrong, places


def main() -> None:
    """Kill them all."""
    parser = argparse.ArgumentParser(description="Kill fits, continue them, compare bits.")
    parser.add_argument("families", nargs="*", help="parts of names; by default all")
    parser.add_argument("--kills", type=int, default=10, help="for each family")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    chosen = {
        name: model
        for name, model in FAMILIES.items()
        if not given.families or any(part in name for part in given.families)
    }
    outcomes = [survive(name, model, given.kills, rng) for name, model in chosen.items()]
    ended, wrong = (sum(outcome[i] for outcome in outcomes) for i in (0, 1))
    print(f"{given.kills * len(chosen)} kills, {ended} fits ended, {wrong} with other bits")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
