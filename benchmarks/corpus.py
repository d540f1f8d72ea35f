"""Counting terms against scikit-learn's CountVectorizer, on generated text of several sizes.

    python -m benchmarks.corpus                    300 MB and 3 GB (half an hour, nearly all of it the peer's)
    python -m benchmarks.corpus --megabytes 30     to see that it runs
    python -m benchmarks.corpus --megabytes        only the real collections (half a minute; needs data sets)

The text is drawn once for each size, one document a line, into a temporary file. Each vectoriser reads it as
a stream of lines, in a process of its own, so that the peak of memory is its own too; both must give the same
matrix.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from benchmarks.machine import PeakMemory
from benchmarks.report import Columns, Report
from numba import njit
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from laconic import datasets
from laconic.corpus import Vectorizer
from laconic.corpus.vectorizer import TOKEN_PATTERN
from laconic.datasets.folders import lookup

OPTIONS: dict[str, Any] = {
    "min_df": 2,
    "max_df": 0.5,
    "stop_words": "english",
    "token_pattern": TOKEN_PATTERN,
}

PAGE = """# Performance of counting

How fast laconic turns texts into counts, compared with scikit-learn's `CountVectorizer`.

Measured by `python -m benchmarks.corpus` in one run: {headline}. The words are drawn from a Zipf-Mandelbrot
distribution over {ranks} ranks, so the vocabulary keeps growing with the text. One word type in six is not
ASCII (Latin with accents, Greek, Cyrillic, Arabic, Chinese). Documents have lognormal lengths, one per
line. Both vectorisers read the same lines and give the same vocabulary and the same matrix. Memory is the
peak beyond what the process used before. *Only reading* is the loop over the lines without any counting.

Collections of ordinary size are counted in one process, where both take turns; the best CPU time of five
counts.
"""

COLLECTIONS = ("octis_m10", "ohsumed23", "bbc_news", "20newsgroups")
CONTENDERS = ("ours", "CountVectorizer")
TURNS = 5

RANKS = 1 << 27
SLOPE = 1.3
SHIFT = 2.7
PIECE = 32 << 20  # bytes drawn at a time

# Letters by script, the first one twice: five of six word types are in it.
SCRIPTS = (
    "bcdfghjklmnpqrstvwxzaeiouy",
    "bcdfghjklmnpqrstvwxzaéioüñ",
    "βγδζθκλμνξπρσφχψαεηιουωτάό",
    "бвгджзйклмнпрстфхцчшаеиоуя",
    "ابتثجحخدذرزسشصضطظعغفقكلمنه",
    "的一是了我不人在他有这个上们来到时大地为子中你说生",
)
_LETTERS = np.array([[ord(letter) for letter in (script * 2)[:26]] for script in SCRIPTS], np.int32)
_CAPITALS = np.array([[ord(chr(code).upper()) for code in row] for row in _LETTERS], np.int32)


@njit(cache=True)
def _put(out, used, code):
    """Write a character as UTF-8."""
    if code < 0x80:
        out[used] = code
        return used + 1
    if code < 0x800:
        out[used] = 0xC0 | code >> 6
        out[used + 1] = 0x80 | code & 0x3F
        return used + 2
    out[used] = 0xE0 | code >> 12
    out[used + 1] = 0x80 | code >> 6 & 0x3F
    out[used + 2] = 0x80 | code & 0x3F
    return used + 3


@njit(cache=True)
def _draw(seed, ranks, slope, shift, letters, capitals, common, common_ends, out):
    """Fill `out` with whole lines of words, and return how many bytes they take."""
    np.random.seed(seed)  # noqa: NPY002
    power = 1 - slope
    low, high = shift**power, (ranks + shift) ** power
    used = kept = 0
    while True:
        for _ in range(int(np.exp(np.random.normal(4.5, 0.8))) + 1):  # noqa: NPY002
            if used + 256 > out.size:
                return kept
            chance, place = np.random.random(), np.random.random()  # noqa: NPY002
            rank = int((low + place * (high - low)) ** (1 / power) - shift)
            if chance < 0.02:
                used = _put(out, used, ord("0") + rank % 10)
                used = _put(out, used, ord("0") + rank // 10 % 10)
            elif rank < common_ends.size - 1:
                for k in range(common_ends[rank], common_ends[rank + 1]):
                    used = _put(out, used, np.int64(common[k]))
            else:
                mixed = rank * 2654435761 >> 7
                script = mixed % 30
                script = script if script < 5 else -1
                # 20 consonants and 6 vowels: syllables spell the rank, and a tail gives words of all lengths.
                left, k = rank, 0
                while left > 0 or k < 2:
                    digit = left % 20 if k % 2 == 0 else 20 + left % 6
                    source = capitals if k == 0 and chance < 0.12 else letters
                    used = _put(out, used, source[script + 1, digit])
                    left //= 20 if k % 2 == 0 else 6
                    k += 1
                for _ in range(mixed // 30 % 4):
                    used = _put(out, used, letters[script + 1, mixed % 26])
                    mixed //= 26
            if chance > 0.9:
                used = _put(out, used, ord(",") if chance > 0.95 else ord("."))
            used = _put(out, used, ord(" "))
        out[used - 1] = ord("\n")
        kept = used


def write_texts(file: IO[bytes], n_bytes: int, seed: int = 0) -> int:
    """Write about as many bytes of generated documents, one a line, and return how many lines."""
    stop_words = sorted(ENGLISH_STOP_WORDS, key=len)[:60]
    common = np.frombuffer("".join(stop_words).encode(), np.uint8)
    common_ends = np.cumsum([0, *map(len, stop_words)])
    n_pieces = -(-n_bytes // PIECE)
    out = np.empty(n_bytes // n_pieces, np.uint8)
    n_lines = 0
    for piece in range(n_pieces):
        used = _draw(seed + piece, RANKS, SLOPE, SHIFT, _LETTERS, _CAPITALS, common, common_ends, out)
        file.write(out[:used].data)
        n_lines += int(np.count_nonzero(out[:used] == ord("\n")))
    return n_lines


class Run(NamedTuple):
    """One vectoriser on one file."""

    seconds: float
    memory: int
    shape: list[int]
    n_entries: int
    digest: str


def lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as file:
        yield from file


class Counting(NamedTuple):
    """A vectoriser: from texts to counts, and the terms then."""

    fit: Callable[[Iterable[str]], Any]
    vocabulary: Callable[[], Iterable[str]]


def contender(name: str) -> Counting:
    if name == "ours":
        own = Vectorizer(**OPTIONS, weighting="count")
        return Counting(own.fit_count, lambda: own.vocabulary)
    peer = CountVectorizer(**OPTIONS)
    return Counting(peer.fit_transform, peer.get_feature_names_out)


def digest_of(X: Any, vocabulary: Iterable[str]) -> str:
    X.sort_indices()
    digest = hashlib.sha256("\n".join(vocabulary).encode())
    for part, dtype in ((X.indptr, np.int64), (X.indices, np.int32), (X.data, np.float32)):
        digest.update(np.ascontiguousarray(part, dtype).data)
    return digest.hexdigest()


def measure_collection(name: str) -> dict[str, Any]:
    """CPU time of both on a real collection, in this process; they take turns."""
    texts = list(datasets.load(name).texts)
    best, digests = dict.fromkeys(CONTENDERS, math.inf), set()
    for _ in range(TURNS):
        for who in CONTENDERS:
            counting = contender(who)
            began = time.process_time()
            X = counting.fit(texts)
            best[who] = min(best[who], time.process_time() - began)
            digests.add(digest_of(X, counting.vocabulary()))
    if len(digests) > 1:
        raise RuntimeError(f"the matrices of {name} differ")
    ours, peer = (best[who] for who in CONTENDERS)
    words = sum(len(text.split()) for text in texts) / len(texts)
    what = f"{name}, {len(texts):,} texts of {words:.0f} words"
    return {"what": what, "ours": ours, "peer": peer, "ratio": peer / ours}


def run(name: str, path: Path) -> Run:
    """Count the lines of a file, in this process."""
    if name == "reading":
        began = time.perf_counter()
        n_lines = sum(1 for _ in lines(path))
        return Run(time.perf_counter() - began, 0, [n_lines, 0], 0, "")
    counting = contender(name)
    counting.fit(islice(lines(path), 5000))  # compiles the kernels
    with PeakMemory() as memory:
        began = time.perf_counter()
        X = counting.fit(lines(path))
        seconds = time.perf_counter() - began
    return Run(seconds, memory.bytes, list(X.shape), int(X.nnz), digest_of(X, counting.vocabulary()))


def in_a_process(name: str, path: Path) -> Run:
    command = [sys.executable, "-m", "benchmarks.corpus", "--run", name, str(path)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Run(*json.loads(found.stdout))


def measure(megabytes: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "texts.txt")
        with path.open("wb") as file:
            n_lines = write_texts(file, megabytes * 1_000_000)
        size = path.stat().st_size
        runs = {name: in_a_process(name, path) for name in ("reading", "ours", "CountVectorizer")}
    ours, peer = runs["ours"], runs["CountVectorizer"]
    if ours.digest != peer.digest:
        raise RuntimeError(f"the matrices differ: {ours} and {peer}")
    facts = {
        "reading": f"{n_lines:,} lines",
        "ours": f"{ours.shape[1]:,} terms, {ours.n_entries:,} non-zeros",
        "CountVectorizer": "the same matrix",
    }
    return [
        {
            "what": f"{'laconic' if name == 'ours' else 'only reading' if name == 'reading' else name}, "
            f"{size / 1e6:,.0f} MB",
            "seconds": result.seconds,
            "speed": size / 1e6 / result.seconds,
            "ratio": peer.seconds / result.seconds,
            "size": size,
            "memory": result.memory / 2**20,
            "facts": facts[name],
        }
        for name, result in runs.items()
    ]


def growth(first: list[dict[str, Any]], last: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How time and memory grow from one size of the text to another."""
    rows = []
    for before, after in zip(first[1:], last[1:], strict=True):
        grows = {what: after[what] / before[what] for what in ("size", "seconds", "memory")}
        rows.append({"what": f"{before['what']} to {after['size'] / 1e6:,.0f} MB", **grows})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, nargs="*", default=[300, 3000], help="sizes of the text")
    parser.add_argument("--collections", nargs="*", default=[*COLLECTIONS], help="real ones, if at hand")
    parser.add_argument("--page", type=Path, help="also write the tables to this Markdown file")
    parser.add_argument("--run", nargs=2, metavar=("NAME", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.run[0], Path(options.run[1]))))
        return
    sizes = " and ".join(f"{size:,} MB" for size in options.megabytes)
    headline = (
        f"{sizes + ' of generated text, ' if sizes else ''}"
        f"options `{', '.join(f'{name}={value}' for name, value in OPTIONS.items())}`"
    )
    report = Report(PAGE.replace("{ranks}", f"{RANKS:,}"), headline)
    columns: Columns = {
        "what": ("what", str),
        "seconds": ("s", "{:.1f}".format),
        "speed": ("MB/s", "{:.0f}".format),
    }
    columns |= {"ratio": ("times as fast", "{:.1f}".format), "memory": ("peak MB", "{:,.0f}".format)}
    columns |= {"facts": ("", str)}
    measured = []
    for megabytes in options.megabytes:
        measured.append(measure(megabytes))
        report.add(f"{megabytes:,} MB", measured[-1], columns)
    if len(measured) > 1:
        times = "{:.1f} x".format
        grown: Columns = {"what": ("what", str), "size": ("text", times), "seconds": ("time", times)}
        report.add("Growth", growth(measured[0], measured[-1]), grown | {"memory": ("memory", times)})
    found = [measure_collection(name) for name in options.collections if lookup(name).present]
    if found:
        milliseconds = lambda seconds: f"{1000 * seconds:,.0f}"  # noqa: E731
        small: Columns = {"what": ("what", str), "ours": ("laconic, CPU ms", milliseconds)}
        small |= {"peer": ("CountVectorizer, CPU ms", milliseconds)}
        small |= {"ratio": ("times as fast", "{:.1f}".format)}
        report.add("Collections of ordinary size", found, small)
    report.write(None, options.page)


if __name__ == "__main__":
    main()
