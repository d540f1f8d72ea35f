"""Which divergence is the cheapest: the time of an iteration."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.experiments.gplsa.images import draw
from laconic.experiments.gplsa.paths import plsa_path
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.writing import count, list_of, ranking, table

STRENGTHS = (1.0, 100.0)
NO_GRAPH = "no graph"
ITERATIONS, REPEATS = 10, 2

_TEXT = """
The paper says of l1 that "the computation only involves arithmetic operations and thresholding, which is
substantially more simple and efficient". The table has the CPU time of an iteration on all of COIL-20
({n_documents:,} images, {n_topics} topics) from random numbers, on one core: the best of {repeats} runs of
{iterations} iterations each.

{table}

{conclusion}

The reason is that the paper's closed form for l1 is for one neighbour. With several, each weight is the
median of the neighbours' weights and of a value that depends on the multiplier. The sum of weights then has
plateaus, so the multiplier has to be searched between bounds. And rows that have become equal only move
together, which takes another step. For l2 and skl a weight is a square root or a value of the Wright omega
function, and Newton's method finds the multiplier in a few steps. So the arithmetic of l1 is simpler, but
there is more of it. On images most of the time goes into the pixels; on sparse texts the gap is wider
([PLSA with a graph](../graph-plsa.md)).
"""


def run(quick: bool, desk: Desk) -> Results:
    """Time iterations on images."""
    data = datasets.load("coil20")
    drawn = draw(data, np.unique(data.labels)[: 4 if quick else None].tolist())
    X = csr_array(normalize(drawn.X, norm="l1").astype(np.float32))
    seconds: dict[str, dict[str, float]] = {}
    for divergence in ("l2", "skl", "l1"):
        for strength in (0.0, *STRENGTHS):
            if strength == 0 and divergence != "l2":
                continue
            key = f"{divergence}, {strength:g}, {X.shape}"
            found = desk.keep(key, _seconds, X, drawn.graph, drawn.n_classes, divergence, strength)
            row = seconds.setdefault(divergence if strength else NO_GRAPH, {})
            row[f"{strength:g}"] = found
    return {
        "n_documents": X.shape[0],
        "n_topics": drawn.n_classes,
        "iterations": ITERATIONS,
        "repeats": REPEATS,
        "strengths": STRENGTHS,
        "seconds": seconds,
    }


def _seconds(X: csr_array, graph: Any, n_topics: int, divergence: str, strength: float) -> float:
    """Of an iteration: between the first, which may compile kernels, and the last."""
    best = np.inf
    for seed in range(SEED, SEED + REPEATS):
        marks = [1, 1 + ITERATIONS]
        moments = [
            time.process_time()
            for _ in plsa_path(
                X, graph, n_topics, divergence, strength, start="random", marks=marks, seed=seed
            )
        ]
        best = min(best, (moments[1] - moments[0]) / ITERATIONS)
    return best


def slowest(results: Results, strength: str) -> str:
    """The divergence whose iterations take longest."""
    times = {name: row[strength] for name, row in results["seconds"].items() if strength in row}
    return max(times, key=lambda name: times[name])


def render(results: Results) -> Section:
    """The section of the page."""
    base = results["seconds"][NO_GRAPH]["0"]
    strengths = [f"{strength:g}" for strength in results["strengths"]]
    rows = [[NO_GRAPH, f"{1000 * base:.0f}", *[""] * (2 * len(strengths) - 1)]]
    for name, row in results["seconds"].items():
        if name != NO_GRAPH:
            cells = [(f"{1000 * row[s]:.0f}", f"{row[s] / base:.1f}") for s in strengths]
            rows.append([name, *(cell for pair in cells for cell in pair)])
    headings = ["divergence"] + [what for s in strengths for what in (f"strength {s}: ms", "of no graph")]
    orders = [
        f"{ranking({n: r[s] for n, r in results['seconds'].items() if s in r}, 0.0)} at strength {s}"
        for s in strengths
    ]
    n_slowest = [slowest(results, s) for s in strengths].count("l1")
    conclusion = (
        f"From the slowest to the fastest: {list_of(orders)}. l1 is the slowest at {n_slowest} of "
        f"{count(len(strengths), 'strength')}."
    )
    text = _TEXT.format(
        **{key: results[key] for key in ("n_documents", "n_topics", "repeats", "iterations")},
        table=table(headings, rows, "l" + "r" * (2 * len(strengths))),
        conclusion=conclusion,
    )
    worst = results["strengths"][-1]
    times = {name: row[f"{worst:g}"] for name, row in results["seconds"].items() if name != NO_GRAPH}
    findings = [
        "**Efficiency**: an iteration with l1, which the paper calls the most efficient, takes "
        f"{times['l1'] / times['l2']:.1f} times as long as one with l2 and {times['l1'] / times['skl']:.1f} "
        f"times as long as one with skl (strength {worst:g})."
    ]
    return Section("Which divergence is the cheapest", text, findings)
