"""Papers that cite each other and authors who write together: graphs that come with the data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from laconic import datasets
from laconic.datasets.registry import GraphName
from laconic.errors import InputWarning
from laconic.evaluate import kmeans_scores
from laconic.experiments.figures import Chart, Line
from laconic.experiments.fitting import iterations_given, summary
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.writing import count, edges, list_of, percent, table
from laconic.models import PLSA, GraphPLSA

WORDS = "k-means"
NAMES: tuple[GraphName, ...] = ("cora_ml", "dblp4")
DIVERGENCES = ("l1", "l2", "skl")
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)

_TITLES = {"cora_ml": "Cora-ML (papers, citations)", "dblp4": "DBLP (authors, common papers)"}
_TEXT = """
The paper has no such experiment. Here the graph is not made of neighbours in X, but comes with the data:

{what}

Every document weighs the same, and edges weigh 1. There are as many topics as classes. After {iterations}
iterations, k-means clusters the documents' topics, as above. Numbers are means ± standard deviations over
{starts}. No strength is chosen: the table has all of them. "k-means" is on the documents' words, with rows
of length one.

{table}

By accuracy, the best strength of each divergence:

{edges}

{figures}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Compare PLSA with and without the graph, for several strengths."""
    n_starts, iterations, strengths = (1, 5, (1.0, 10.0)) if quick else (3, 100, STRENGTHS)
    found: Results = {"starts": n_starts, "iterations": iterations, "datasets": {}}
    for name in NAMES:
        data = datasets.load(name)
        X, graph, labels = _narrow(data.features), data.undirected(), np.asarray(data.labels)
        rows: dict[str, list[Results]] = {}
        for method, divergence, strength in _methods(strengths):
            what = f"{name}, {method}, {iterations}"
            setting = X, graph, labels, divergence, strength, iterations
            rows[method] = [
                desk.keep(f"{what}, {seed}", _clusters, *setting, seed)
                for seed in range(SEED, SEED + n_starts)
            ]
        found["datasets"][name] = {
            "n_documents": X.shape[0],
            "n_terms": X.shape[1],
            "n_edges": graph.nnz // 2,
            "isolated": float((np.diff(graph.indptr) == 0).mean()),
            "n_classes": len(set(labels)),
            "scores": {key: summary(runs) for key, runs in rows.items()},
        }
    return found | {"strengths": strengths}


def _methods(strengths: Sequence[float]) -> list[tuple[str, str | None, float]]:
    """Names, divergences and strengths."""
    with_graph = [(f"GraphPLSA {d} {strength:g}", d, strength) for d in DIVERGENCES for strength in strengths]
    return [(WORDS, WORDS, 0.0), ("PLSA", None, 0.0), *with_graph]


def _clusters(
    X: csr_array,
    graph: csr_array,
    labels: NDArray[Any],
    divergence: str | None,
    strength: float,
    iterations: int,
    seed: int,
) -> Results:
    if divergence == WORDS:
        points = normalize(X)
    else:
        points = _weights(X, graph, labels, divergence, strength, iterations, seed)
    return kmeans_scores(points, labels, random_state=seed)


def _narrow(X: csr_array) -> csr_array:
    """The same with 32-bit indices, which is all that scikit-learn's k-means takes."""
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return csr_array((X.data, indices, indptr), shape=X.shape)


def _weights(
    X: csr_array,
    graph: csr_array,
    labels: NDArray[Any],
    divergence: Any,
    strength: float,
    iterations: int,
    seed: int,
) -> NDArray[Any]:
    n_topics = len(set(labels))
    with iterations_given():
        # Of the authors there are only weights.
        warnings.filterwarnings("ignore", "X looks like tf-idf", InputWarning)
        if divergence is None:
            model = PLSA(n_topics, solver="em", max_iter=iterations, random_state=seed)
            return np.asarray(model.fit_transform(normalize(X, norm="l1")))
        graphed = GraphPLSA(
            n_topics,
            divergence=divergence,
            strength=strength,
            max_iter=iterations,
            tol=0,
            random_state=seed,
        )
        return np.asarray(graphed.fit_transform(X, graph=graph))


def render(results: Results) -> Section:
    """The section of the page."""
    what = [
        f"- {_TITLES[name]}: {data['n_documents']:,} documents, {data['n_terms']:,} terms, "
        f"{data['n_edges']:,} edges ({percent(data['isolated'])} % of the documents have none), "
        f"{data['n_classes']} classes"
        for name, data in results["datasets"].items()
    ]
    figures = {f"{name.split('_')[0]}-strength": _chart(results, name) for name in results["datasets"]}
    shown = [f"![Accuracy against the strength of the graph](figure:{figure})" for figure in figures]
    text = _TEXT.format(
        what="\n".join(what),
        iterations=results["iterations"],
        starts=count(results["starts"], "random start"),
        table=_table(results),
        edges="\n".join(_edges(results, name) for name in results["datasets"]),
        figures="\n\n".join(shown),
    )
    return Section(
        "Graphs that come with the data: citations and co-authors", text, _findings(results), figures
    )


def _table(results: Results) -> str:
    strengths = [f"{strength:g}" for strength in results["strengths"]]
    rows = []
    for name, data in results["datasets"].items():
        scores = data["scores"]
        for method in ("k-means", "PLSA"):
            rows.append([_TITLES[name], method, _cell(scores[method]), *("" for _ in strengths)])
        for method in (f"GraphPLSA {divergence}" for divergence in DIVERGENCES):
            cells = [_cell(scores[f"{method} {strength}"]) for strength in strengths]
            rows.append([_TITLES[name], method, "", *cells])
    headings = ["accuracy / NMI (%)", "method", "no graph", *strengths]
    return table(headings, rows, "llr" + "r" * len(strengths))


def _best_strengths(results: Results, name: str) -> dict[str, float]:
    """By divergence, the strength of the largest accuracy; of equals, the smallest."""
    scores = results["datasets"][name]["scores"]
    return {
        divergence: max(
            results["strengths"], key=lambda s: scores[f"GraphPLSA {divergence} {s:g}"]["accuracy"]
        )
        for divergence in DIVERGENCES
    }


def _edges(results: Results, name: str) -> str:
    strengths: list[float] = results["strengths"]
    best = _best_strengths(results, name)
    shown = list_of(f"{strength:g} ({divergence})" for divergence, strength in best.items())
    return f"- {_TITLES[name]}: {shown}. {edges(best, dict.fromkeys(best, strengths))}"


def _cell(run: Results) -> str:
    return f"{percent(run['accuracy'], run['accuracy_sd'])} / {percent(run['nmi'])}"


def _chart(results: Results, name: str) -> Chart:
    scores = results["datasets"][name]["scores"]
    lines = {}
    for method in (f"GraphPLSA {divergence}" for divergence in DIVERGENCES):
        runs = {strength: scores[f"{method} {strength:g}"] for strength in results["strengths"]}
        lines[method] = Line(
            [(strength, 100 * run["accuracy"]) for strength, run in runs.items()],
            [100 * run["accuracy_sd"] for run in runs.values()],
        )
    levels = {method: 100 * scores[method]["accuracy"] for method in ("PLSA", "k-means")}
    return Chart(_TITLES[name], "strength of the graph", "accuracy ± standard deviation (%)", lines, levels)


def _findings(results: Results) -> list[str]:
    sentences = []
    for name, data in results["datasets"].items():
        scores = data["scores"]
        graphed = {key: run for key, run in scores.items() if key.startswith("GraphPLSA")}
        best = max(graphed, key=lambda key: graphed[key]["accuracy"])
        better = sum(run["accuracy"] > scores["PLSA"]["accuracy"] for run in graphed.values())
        method, strength = best.rsplit(" ", 1)
        ends = {f"{min(results['strengths']):g}": "smallest", f"{max(results['strengths']):g}": "largest"}
        edge = f", the {ends[strength]} tried" if strength in ends else ""
        sentences.append(
            f"**{_TITLES[name]}**: PLSA clusters {percent(scores['PLSA']['accuracy'])} % correctly (NMI "
            f"{percent(scores['PLSA']['nmi'])} %), with the graph up to "
            f"{percent(graphed[best]['accuracy'])} % (NMI {percent(graphed[best]['nmi'])} %; {method}, "
            f"strength {strength}{edge}); {better} of {len(graphed)} divergences and strengths do better "
            "than PLSA."
        )
    return sentences
