"""How soon the solvers of PLSA come within .1 % of the limit of expectation-maximisation, on real text.

    python -m benchmarks.plsa_solvers [--page FILE] [collections, such as bbc_news]

Needs the data sets: `laconic datasets` says where they are looked for. Counted are iterations, and CPU
seconds of one thread, which depend less on who else uses the machine than time does.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.report import Columns, Report
from sklearn.exceptions import ConvergenceWarning

from laconic import PLSA, datasets

COLLECTIONS = ("octis_m10", "cacm", "cranfield", "bbc_news")
SIZES = (20, 50)
SOLVERS = ("em", "extrapolated", "cd")
NEAR = 1.001
LIMIT = {"tol": 1e-6, "max_iter": 2000}

TITLE = "To within .1 % of the limit of expectation-maximisation"
PAGE = """# How soon PLSA is there

{headline}
"""
COLUMNS: Columns = {
    "what": ("collection", str),
    "topics": ("K", str),
    "solver": ("solver", str),
    "iterations": ("iterations", str),
    "seconds": ("CPU s", "{:.2f}".format),
    "fewer": ("times fewer iterations", "{:.1f}".format),
    "sooner": ("times as fast", "{:.1f}".format),
    "default_iterations": ("iterations by default", str),
    "end": ("final objective by default, % above the limit", "{:+.2f}".format),
}


class Run(NamedTuple):
    """The objective after every iteration, and the CPU seconds that had passed."""

    objectives: list[float]
    seconds: list[float]

    def until(self, goal: float) -> tuple[int, float]:
        """Iterations and seconds until the objective was no more than this; infinite if it never was."""
        for number, objective in enumerate(self.objectives):
            if objective <= goal:
                return number + 1, self.seconds[number]
        return len(self.objectives), float("inf")


def run(X: Any, solver: str, n_topics: int, seed: int, goal: float = -float("inf"), **limits: Any) -> Run:
    """Fit until the goal is reached, or the limits are."""
    found = Run([], [])
    began = time.process_time()

    def watch(progress: Any) -> bool:
        if progress.half != "topics":
            return False
        found.objectives.append(progress.objective)
        found.seconds.append(time.process_time() - began)
        return bool(progress.objective <= goal)

    model = PLSA(n_topics, solver=solver, random_state=seed, n_jobs=1, **limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, callback=watch)
    return found


def rows_of(name: str, n_topics: int, seed: int = 0) -> list[dict[str, Any]]:
    """All solvers on one collection, from the same start."""
    closed = name.startswith("octis")
    limits = {"min_df": 1, "max_df": 1.0} if closed else {"min_df": 5, "max_df": 0.5}
    X = datasets.load(name).corpus(**limits).counts
    for solver in SOLVERS:
        run(X[:100], solver, 3, seed, max_iter=15, tol=0)
    plain = run(X, "em", n_topics, seed, **LIMIT)
    limit = plain.objectives[-1]
    rows = []
    base = plain.until(NEAR * limit)
    for solver in SOLVERS:
        reached = base
        if solver != "em":
            sought = run(X, solver, n_topics, seed, NEAR * limit, tol=0, max_iter=base[0])
            reached = sought.until(NEAR * limit)
        default = run(X, solver, n_topics, seed)
        rows.append(
            {
                "what": name,
                "topics": n_topics,
                "solver": solver,
                "iterations": reached[0],
                "seconds": reached[1],
                "fewer": base[0] / reached[0],
                "sooner": base[1] / reached[1],
                "default_iterations": len(default.objectives),
                "end": 100 * (default.objectives[-1] / limit - 1),
            }
        )
    return rows


def table(collections: Sequence[str] = COLLECTIONS, sizes: Sequence[int] = SIZES) -> list[dict[str, Any]]:
    """All solvers on the collections that are there."""
    there = {info.name for info in datasets.available() if info.present}
    return [
        row for n_topics in sizes for name in collections if name in there for row in rows_of(name, n_topics)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--topics", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--page", type=Path, help="also write the table to this Markdown file")
    options = parser.parse_args()
    report = Report(PAGE, "PLSA from the same start, float32, one thread")
    rows = table(options.collections, options.topics)
    report.add(TITLE, rows, COLUMNS)
    report.write(options.json, options.page)


if __name__ == "__main__":
    main()
