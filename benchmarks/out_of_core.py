"""Fits of collections that are larger than the memory they may take, under a hard limit.

    python -m benchmarks.out_of_core --folder DIR                 all of it, at full size (60 GB of disk)
    python -m benchmarks.out_of_core --folder DIR --scale 100     a hundredth of the documents
    python -m benchmarks.out_of_core --folder DIR --only web --steps make      one collection, part by part:
    python -m benchmarks.out_of_core --folder DIR --only web --steps files     in files, under the limit,
    python -m benchmarks.out_of_core --folder DIR --only web --steps memory    and in memory
    python -m benchmarks.out_of_core --folder DIR --only web --steps remove

Every fit is a process of its own. Its limit is RLIMIT_DATA, which holds for all that a process owns; files
that are mapped are the system's, which keeps of them what memory is free. Peaks of both are printed: memory
of the process itself, and what was resident with the files. What was found is kept in DIR, so that parts can
be run one by one. A fit in files that was killed goes on from its checkpoint; logs tell of every iteration.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
import warnings
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.group_scale import ALPHA_DOCS, WIKIPEDIA, class_sizes
from benchmarks.group_scale import corpus as group_corpus
from benchmarks.zipf import zipf_corpus
from numba import njit
from scipy.sparse import issparse

from laconic import RLSI, Corpus, GroupRLSI
from laconic.bundle.fitting import plan_of
from laconic.corpus.spool import within
from laconic.engines import Room

GIGABYTE = 10**9
ITERATIONS = 3
"""Of each fit, after its start."""
# Texts are written so many lines at a time; words are drawn from a table of so many.
LINES, WORDS_PER_LINE, TABLE = 1000, 1000, 1 << 24
SHARED = {"max_iter": ITERATIONS, "tol": 0, "random_state": 0}


def peaks(stop: threading.Event, found: dict[str, int]) -> None:
    """Watch what the process owns, and what is resident with mapped files, in bytes."""
    while not stop.wait(0.05):
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        for name in ("RssAnon", "VmRSS", "VmData"):
            found[name] = max(found.get(name, 0), int(status[name].split()[0]) * 1024)


def read_bytes() -> int:
    """What this process has had the disk read."""
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(lines["read_bytes"])


def fit_child(order: dict[str, Any]) -> dict[str, Any]:
    """Fit a saved corpus in this process, and tell what it took."""
    if order["limit"]:
        resource.setrlimit(resource.RLIMIT_DATA, (order["limit"], order["limit"]))
    found: dict[str, int] = {}
    stop = threading.Event()
    threading.Thread(target=peaks, args=(stop, found), daemon=True).start()
    began = time.perf_counter()
    corpus = Corpus.load(order["corpus"], verify=False)
    model: Any = {
        "groups": GroupRLSI(
            WIKIPEDIA.n_shared,
            WIKIPEDIA.n_per_class,
            alpha_topics=WIKIPEDIA.alpha,
            alpha_docs=ALPHA_DOCS,
            **SHARED,
        ),
        "l1": RLSI(order["topics"], alpha_topics=0.3, alpha_docs=ALPHA_DOCS, init="documents", **SHARED),
        "budget": RLSI(order["topics"], topic_norm="l0", terms_per_topic=40, init="documents", **SHARED),
    }[order["model"]]
    room = Room(order["folder"]) if order["folder"] else None
    planned = plan_of(model, {"": corpus}, order["limit"] or None).total
    times: list[tuple[str, float, float, int]] = []

    def watch(progress: Any) -> None:
        if progress.half == "topics":
            times.append((progress.phase, time.perf_counter(), time.process_time(), read_bytes()))
            with Path(order["log"]).open("a") as log:
                print(*times[-1], progress.objective, found, file=log)

    checkpoint = {"checkpoint": order["log"] + ".checkpoint"} if room else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(corpus.shards(model.wants, room), corpus.labels, callback=watch, **checkpoint)
    whole = time.perf_counter() - began
    stop.set()
    fits = [row for row in times if row[0] == "fit"]
    topics = model.components_
    parts = (topics.data, topics.indices, topics.indptr) if issparse(topics) else (topics,)
    return {
        "planned": planned,
        "objective": float(model.objective_history_[-1]),
        "seconds": whole,
        "all_cpu": time.process_time(),
        "iteration": min(b[1] - a[1] for a, b in pairwise(fits)),
        "cpu": min(b[2] - a[2] for a, b in pairwise(fits)),
        "read": max(b[3] - a[3] for a, b in pairwise(fits)),
        "bits": sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16],
        "peaks": found,
    }


def make_child(order: dict[str, Any]) -> dict[str, Any]:
    """Generate a corpus, and save it."""
    if order["shape"] == "wikipedia":
        shape = WIKIPEDIA.smaller(order["scale"])
        shape = shape._replace(n_documents=int(class_sizes(shape).sum()))
        made = group_corpus(shape)
    else:
        made = zipf_corpus(200_000 // order["scale"], 7_000_000, length=300.0, n_topics=500)
    terms = [f"w{number}" for number in range(made.counts.shape[1])]
    corpus = Corpus.from_counts(made.counts.astype(np.float32), terms, made.labels, weighting="tfidf")
    corpus.save(order["corpus"])
    return {"shape": made.counts.shape, "nonzeros": int(made.counts.nnz)}


@njit(nogil=True, cache=True)
def _spell(drawn, ends, letters, prefix, suffix, per_line, out):  # type: ignore[no-untyped-def]
    """Write lines of words as bytes; returns how many bytes."""
    position = 0
    for place in range(drawn.size):
        if place % per_line == 0:
            for letter in prefix:
                out[position] = letter
                position += 1
        for at in range(ends[drawn[place]], ends[drawn[place] + 1]):
            out[position] = letters[at]
            position += 1
        if place % per_line == per_line - 1:
            for letter in suffix:
                out[position] = letter
                position += 1
        else:
            out[position] = 32
            position += 1
    return position


def write_texts(path: Path, n_bytes: int, n_words: int) -> None:
    """A file of texts with a Zipfian vocabulary, every word of which occurs."""
    rng = np.random.default_rng(0)
    words = [f"{'aeiou'[n % 5]}{n:x}{'rstln'[n % 5]}".encode() for n in range(n_words)]
    ends = np.concatenate([[0], np.cumsum([len(word) for word in words])])
    letters = np.frombuffer(b"".join(words), np.uint8)
    prefix, suffix = (np.frombuffer(part, np.uint8) for part in (b'{"text": "', b'"}\n'))
    cumulated = np.cumsum((np.arange(n_words) + 2.7) ** -1.07)
    # words in proportion to how frequent they are
    table = np.searchsorted(cumulated, (np.arange(TABLE) + 0.5) / TABLE * cumulated[-1])
    out = np.empty(20 * LINES * WORDS_PER_LINE, np.uint8)
    written = rare = 0
    with path.open("wb") as file:
        while written < n_bytes:
            drawn = table[rng.integers(0, TABLE, LINES * WORDS_PER_LINE)]
            # some of the rare ones in turn: twice, so that they are terms
            drawn[::50] = (rare + np.arange(drawn[::50].size) // 2) % n_words
            rare += drawn[::50].size // 2
            size = _spell(drawn, ends, letters, prefix, suffix, WORDS_PER_LINE, out)
            written += file.write(out[:size].data)


def run(order: dict[str, Any]) -> dict[str, Any]:
    """One order in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--order", json.dumps(order)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def told(name: str, found: dict[str, Any], limit: int) -> None:
    """A line about a fit."""
    if "failed" in found:
        print(f"{name}: {found['failed']}", flush=True)
        return
    most = {key: value / GIGABYTE for key, value in found["peaks"].items()}
    print(
        f"{name}: limit {limit / GIGABYTE:.1f} GB, planned {found['planned'] / GIGABYTE:.2f}, own memory "
        f"{most['RssAnon']:.2f} GB (VmData {most['VmData']:.2f}), with files {most['VmRSS']:.2f} GB; "
        f"{found['iteration']:.1f} s an iteration ({found['cpu']:.1f} of CPU), "
        f"{found['read'] / GIGABYTE:.2f} GB read in one, {found['seconds']:.0f} s in all "
        f"({found['all_cpu']:.0f} of CPU); objective {found['objective']:.6g}, bits {found['bits']}",
        flush=True,
    )


def fit_both(name: str, order: dict[str, Any], limit: int, steps: list[str], folder: Path) -> None:
    """A fit in files under a limit, and the same in memory; beside each other, when both are there."""
    path = folder / f"{name}.found.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for step, allowed, room in (("files", limit, str(folder)), ("memory", 0, None)):
        if step in steps:
            log = str(folder / f"{name}.{step}.log")
            found[step] = run({**order, "limit": allowed, "folder": room, "log": log})
            told(f"{name}, in {step}", found[step], allowed)
            path.write_text(json.dumps(found))
    far, near = (found.get(step, {"failed": ""}) for step in ("files", "memory"))
    if "failed" not in far and "failed" not in near:
        print(
            f"{name}: {far['cpu'] / near['cpu']:.2f} times the CPU of an iteration in memory, "
            f"{far['iteration'] / near['iteration']:.2f} times the time; "
            f"bits are {'the same' if far['bits'] == near['bits'] else 'OTHERS'}",
            flush=True,
        )


def disk_speed(folder: Path) -> float:
    """Bytes a second that are read from a file of the folder that is not in memory."""
    path = folder / "speed"
    with path.open("wb") as file:
        for _ in range(16):
            file.write(os.urandom(1 << 24))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    began = time.perf_counter()
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass
    speed = path.stat().st_size / (time.perf_counter() - began)
    path.unlink()
    return speed


def count_child(order: dict[str, Any]) -> dict[str, Any]:
    """Count a file of texts in this process, save the counts, and tell what it took."""
    resource.setrlimit(resource.RLIMIT_DATA, (order["limit"], order["limit"]))
    found: dict[str, int] = {}
    threading.Thread(target=peaks, args=(threading.Event(), found), daemon=True).start()
    began = time.perf_counter()
    with within(order["limit"]):
        corpus = Corpus.read(order["texts"], min_df=2, max_df=1.0)
        read = time.perf_counter() - began
        corpus.save(order["corpus"])
    return {
        "shape": corpus.shape,
        "nonzeros": int(corpus.counts.nnz),
        "reading": read,
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time(),
        "peaks": found,
    }


def fit_texts(path: Path, limit: int, topics: int) -> None:
    """From texts, or from their counts, to topics, by the command line."""
    script = (
        "import resource, sys, threading, time\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}))\n"
        "from benchmarks.out_of_core import peaks\n"
        "from laconic.cli.app import app\n"
        "found, stop = {}, threading.Event()\n"
        "threading.Thread(target=peaks, args=(stop, found), daemon=True).start()\n"
        "try:\n"
        "    app(sys.argv[1:], standalone_mode=False)\n"
        "finally:\n"
        "    print('peaks', found, 'CPU', time.process_time(), file=sys.stderr)\n"
    )
    corpus = path.with_suffix(".corpus")
    command = ["fit", corpus] if corpus.exists() else ["fit", path, "--min-df", 2, "--max-df", 1.0]
    command += ["-k", topics, "--max-iter", ITERATIONS, "--memory", limit, "-o", path.with_suffix(".model")]
    command += ["--checkpoint", path.with_suffix(".checkpoint")]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, command)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(path.parent)},
    )
    seconds = time.perf_counter() - began
    print(f"text: limit {limit / GIGABYTE:.1f} GB, exit code {done.returncode}, {seconds:.0f} s", flush=True)
    print(done.stderr, flush=True)


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description="Fits under a hard limit of memory.")
    parts, steps = ("wikipedia", "web", "text"), ("make", "count", "files", "memory", "remove")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--steps", nargs="+", choices=steps, default=steps)
    parser.add_argument("--models", nargs="+", choices=("l1", "budget"), default=("l1", "budget"))
    parser.add_argument("--scale", type=int, default=1, help="a part of the documents")
    parser.add_argument("--topics", type=int, default=500, help="of the shape of the web")
    parser.add_argument("--folder", type=Path, help="where corpora, texts and temporary files are")
    parser.add_argument("--order", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.order:
        children = {"shape": make_child, "texts": count_child, "model": fit_child}
        print(json.dumps(next(child for key, child in children.items() if key in given.order)(given.order)))
        return
    if given.folder is None:
        parser.error("say where: --folder DIR")
    given.folder.mkdir(exist_ok=True)
    folder = given.folder.resolve()
    print(f"disk: {disk_speed(folder) / GIGABYTE:.2f} GB/s", flush=True)
    for shape in ("wikipedia", "web"):
        if shape in given.only:
            collection(folder, shape, given)
    if "text" in given.only:
        path = folder / "texts.jsonl"
        if "make" in given.steps:
            write_texts(path, 10 * GIGABYTE // given.scale, 2_000_000)
            print(f"text: {path.stat().st_size / GIGABYTE:.2f} GB", flush=True)
        if "count" in given.steps:
            order = {"texts": str(path), "corpus": str(path.with_suffix(".corpus")), "limit": 2 * GIGABYTE}
            print("text:", run(order), flush=True)
        if "files" in given.steps:
            fit_texts(path, 2 * GIGABYTE, topics=50)
        if "remove" in given.steps:
            path.unlink(missing_ok=True)
            for suffix in (".corpus", ".model", ".checkpoint"):
                shutil.rmtree(path.with_suffix(suffix), ignore_errors=True)


def collection(folder: Path, shape: str, given: argparse.Namespace) -> None:
    """Make a collection of counts, fit it, remove it."""
    order = {"corpus": str(folder / shape), "topics": given.topics}
    if "make" in given.steps:
        print(f"{shape}:", run({**order, "shape": shape, "scale": given.scale}), flush=True)
    if shape == "wikipedia":
        limit = max(4 * GIGABYTE // given.scale, 2 * GIGABYTE)
        fit_both("wikipedia", {**order, "model": "groups"}, limit, given.steps, folder)
    else:
        for model in given.models:
            fit_both(f"web-{model}", {**order, "model": model}, 12 * GIGABYTE, given.steps, folder)
    if "remove" in given.steps:
        shutil.rmtree(folder / shape, ignore_errors=True)


if __name__ == "__main__":
    main()
