"""Figures 2 and 3 of the paper."""

from __future__ import annotations

from laconic.experiments.figures import Chart, Line
from laconic.experiments.parts import Results
from laconic.experiments.sparse_lsa.projections import CODING, LDA, LSA, NONNEGATIVE, SPARSE

# The same colours and marks in both figures.
STYLES = {LSA: 0, SPARSE: 1, NONNEGATIVE: 2, CODING: 3, LDA: 4}


def figures(results: Results, title: str) -> dict[str, Chart]:
    """Accuracy against the dimension and against the effective dimension."""
    name = results["name"]
    levels = {"words, without projection": 100 * results["words"]["accuracy"]}
    dimensions = {method: [(float(n), run) for n, run in runs.items()] for method, runs in _shown(results)}
    effective = {method: runs for method, runs in dimensions.items() if method != NONNEGATIVE} | {
        method: sorted((run["effective"], run) for run in runs.values())
        for method, runs in results["strengths"].items()
    }
    return {
        f"{name}-dimensions": Chart(
            f"{title}: accuracy and dimension",
            "dimensions",
            "accuracy ± standard deviation (%)",
            {method: _line(method, points) for method, points in dimensions.items()},
            levels,
        ),
        f"{name}-effective": Chart(
            f"{title}: accuracy and effective dimension",
            "effective dimension (non-zero weights for each word)",
            "accuracy ± standard deviation (%)",
            {method: _line(method, points) for method, points in effective.items()},
            levels,
        ),
    }


def _shown(results: Results) -> list[tuple[str, Results]]:
    return [(method, runs) for method, runs in results["dimensions"].items() if method in STYLES and runs]


def _line(method: str, points: list[tuple[float, Results]]) -> Line:
    return Line(
        # A logarithmic axis has no place for a model without any weights.
        [(x, 100 * run["accuracy"]) for x, run in points if x > 0],
        [100 * run["accuracy_sd"] for x, run in points if x > 0],
        STYLES[method],
    )
