"""Fits of collections that are larger than the memory they may take, under a hard limit.

    python -m benchmarks.out_of_core                     all of it, at full size (hours, 100 GB of disk)
    python -m benchmarks.out_of_core --scale 10          a tenth of the documents
    python -m benchmarks.out_of_core --only web text     some parts

Every fit is a process of its own. Its limit is RLIMIT_DATA, which holds for all that a process owns; files
that are mapped are the system's, which keeps of them what memory is free. Peaks of both are printed: memory
of the process itself, and what was resident with the files.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
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
from scipy.sparse import issparse

from laconic import RLSI, Corpus, GroupRLSI
from laconic.engines import Room

GIGABYTE = 10**9
ITERATIONS = 3
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
        "l1": RLSI(order["topics"], alpha_topics=0.3, alpha_docs=ALPHA_DOCS, **SHARED),
        "budget": RLSI(order["topics"], topic_norm="l0", terms_per_topic=40, **SHARED),
    }[order["model"]]
    room = Room(order["folder"]) if order["folder"] else None
    times: list[tuple[str, float, float, int]] = []

    def watch(progress: Any) -> None:
        if progress.half == "topics":
            times.append((progress.phase, time.perf_counter(), time.process_time(), read_bytes()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(corpus.shards(model.wants, room), corpus.labels, callback=watch)
    whole = time.perf_counter() - began
    stop.set()
    fits = [row for row in times if row[0] == "fit"]
    topics = model.components_
    parts = (topics.data, topics.indices, topics.indptr) if issparse(topics) else (topics,)
    return {
        "seconds": whole,
        "iteration": min(b[1] - a[1] for a, b in pairwise(fits)),
        "cpu": min(b[2] - a[2] for a, b in pairwise(fits)),
        "read": max(b[3] - a[3] for a, b in pairwise(fits)),
        "bits": sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16],
        "peaks": found,
        "shards": len(corpus.shards(model.wants, room)) if room else None,
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


def write_texts(path: Path, n_bytes: int, n_words: int) -> None:
    """A file of texts with a Zipfian vocabulary, every word of which occurs."""
    rng = np.random.default_rng(0)
    words = np.array([f"{'aeiou'[n % 5]}{n:x}{'rstln'[n % 5]}" for n in range(n_words)])
    cumulated = np.cumsum((np.arange(n_words) + 2.7) ** -1.07)
    cumulated /= cumulated[-1]
    written = number = rare = 0
    with path.open("w") as file:
        while written < n_bytes:
            drawn = np.searchsorted(cumulated, rng.random(200_000))
            # some of the rare ones in turn: twice, so that they are terms
            drawn[::50] = (rare + np.arange(drawn[::50].size) // 2) % n_words
            rare += drawn[::50].size // 2
            for row in words[drawn].reshape(-1, 1000):
                line = json.dumps({"id": f"d{number}", "text": " ".join(row)}) + "\n"
                written += file.write(line)
                number += 1


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
        f"{name}: limit {limit / GIGABYTE:.1f} GB, own memory {most['RssAnon']:.2f} GB (VmData "
        f"{most['VmData']:.2f}), resident with files {most['VmRSS']:.2f} GB; {found['iteration']:.1f} s an "
        f"iteration ({found['cpu']:.1f} of CPU), {found['read'] / GIGABYTE:.2f} GB read in one, "
        f"{found['seconds']:.0f} s in all; bits {found['bits']}",
        flush=True,
    )


def compare(name: str, order: dict[str, Any], limit: int, folder: Path) -> None:
    """A fit in files under a limit, beside the same in memory."""
    far = run({**order, "limit": limit, "folder": str(folder)})
    told(f"{name}, in files", far, limit)
    near = run({**order, "limit": 0, "folder": None})
    told(f"{name}, in memory", near, 0)
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
        for _ in range(64):
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


def texts(folder: Path, scale: int, limit: int) -> None:
    """From a file of texts to topics, by the command line."""
    path = folder / "texts.jsonl"
    write_texts(path, 10 * GIGABYTE // scale, 2_000_000)
    print(f"text: {path.stat().st_size / GIGABYTE:.2f} GB", flush=True)
    script = (
        "import resource, sys, threading\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}))\n"
        "from benchmarks.out_of_core import peaks\n"
        "from laconic.cli.app import app\n"
        "found, stop = {}, threading.Event()\n"
        "threading.Thread(target=peaks, args=(stop, found), daemon=True).start()\n"
        "try:\n"
        "    app(sys.argv[1:], standalone_mode=False)\n"
        "finally:\n"
        "    print('peaks', found, file=sys.stderr)\n"
    )
    command = ["fit", path, "--id", "id", "-k", 20, "--max-iter", 3, "--min-df", 2, "--max-df", 1.0]
    command += ["--memory", f"{limit}", "-o", folder / "model"]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    seconds = time.perf_counter() - began
    print(f"text: limit {limit / GIGABYTE:.1f} GB, exit code {done.returncode}, {seconds:.0f} s", flush=True)
    for line in done.stderr.splitlines():
        if line.startswith(("read", "plan", "model", "peaks", "laconic: error", "fitted")):
            print(f"text: {line}", flush=True)


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description="Fits under a hard limit of memory.")
    parser.add_argument("--only", nargs="+", choices=("wikipedia", "web", "text"))
    parser.add_argument("--scale", type=int, default=1, help="a part of the documents")
    parser.add_argument("--topics", type=int, default=500, help="of the shape of the web")
    parser.add_argument("--folder", type=Path, help="where corpora, texts and temporary files are")
    parser.add_argument("--order", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.order:
        print(json.dumps(make_child(given.order) if "shape" in given.order else fit_child(given.order)))
        return
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    parts = given.only or ["wikipedia", "web", "text"]
    try:
        print(f"disk: {disk_speed(folder) / GIGABYTE:.2f} GB/s", flush=True)
        if "wikipedia" in parts:
            order = {"corpus": str(folder / "wikipedia"), "model": "groups", "topics": 0}
            print("wikipedia:", run({**order, "shape": "wikipedia", "scale": given.scale}), flush=True)
            limit = max(4 * GIGABYTE // given.scale, 3 * GIGABYTE // 2)
            compare("wikipedia, GroupRLSI", order, limit, folder)
            shutil.rmtree(folder / "wikipedia", ignore_errors=True)
        if "web" in parts:
            order = {"corpus": str(folder / "web"), "topics": given.topics}
            print("web:", run({**order, "shape": "web", "scale": given.scale}), flush=True)
            for model in ("l1", "budget"):
                compare(f"web, RLSI {model}", {**order, "model": model}, 12 * GIGABYTE, folder)
        if "text" in parts:
            texts(folder, given.scale, 2 * GIGABYTE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
