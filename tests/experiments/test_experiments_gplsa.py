import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic.experiments.gplsa.graph_nmf import graph_nmf
from laconic.experiments.gplsa.images import best_strength, draw, neighbours
from laconic.experiments.gplsa.images_page import render_images
from laconic.experiments.gplsa.paper import CLUSTERING, CROSS_MODAL
from laconic.experiments.running import plain


def objective(X, W, C, graph, strength):
    gaps = ((W[:, None] - W[None]) ** 2).sum(axis=2)
    return ((X - W @ C) ** 2).sum() + strength * (graph.toarray() * gaps).sum() / 2


def test_graph_nmf_lowers_its_objective_and_joins_neighbours():
    rng = np.random.default_rng(0)
    X = rng.random((30, 12))
    graph = neighbours(X)
    plain, strong = (graph_nmf(X, graph, 4, strength, 200, 0) for strength in (0.0, 10.0))
    for strength, (W, C) in ((0.0, plain), (10.0, strong)):
        assert (W >= 0).all()
        assert np.linalg.norm(C, axis=1) == pytest.approx(np.ones(4))
        early = graph_nmf(X, graph, 4, strength, 1, 0)
        assert objective(X, W, C, graph, 0) < objective(X, *early, graph, 0)
    gaps = [objective(X, W, C, graph, 1) - objective(X, W, C, graph, 0) for W, C in (plain, strong)]
    assert gaps[1] < gaps[0]


def test_graph_of_neighbours():
    rng = np.random.default_rng(0)
    X = rng.random((20, 6))
    graph = neighbours(X, 3)
    assert isinstance(graph, csr_array)
    dense = graph.toarray()
    assert (dense == dense.T).all()
    assert set(np.unique(dense)) == {0, 1}
    assert (dense.diagonal() == 0).all()
    assert (dense.sum(axis=1) >= 3).all()
    assert (neighbours(5 * X, 3).toarray() == dense).all()


def test_draws_are_of_whole_classes():
    from laconic.datasets import Images

    rng = np.random.default_rng(0)
    data = Images(name="toy", X=rng.random((60, 4)), labels=np.repeat(np.arange(6), 10), scale=1.0)
    drawn = draw(data, 2, seed=3)
    assert drawn.n_classes == 2
    assert drawn.X.shape == (20, 4)
    assert drawn.graph.shape == (20, 20)
    assert (draw(data, 2, seed=3).labels == drawn.labels).all()


def test_best_strength_prefers_the_smaller_of_equals():
    runs = [{"strength": s, "accuracy": a, "nmi": 0.5} for s, a in ((1, 0.1), (10, 0.4), (100, 0.4))]
    assert best_strength(runs) == 10


def test_the_numbers_of_the_paper():
    """The ones that its text and abstract rest on."""
    assert CLUSTERING["coil20"][20]["GraphPLSA skl"] == (0.8181, 0.9014)
    assert CLUSTERING["pie_pose27"][68]["GraphPLSA l2"] == (0.7766, 0.8914)
    assert CROSS_MODAL["semantic space"]["skl"] == (0.726, 0.724)


def scores(accuracy):
    return {"accuracy": accuracy, "accuracy_sd": 0.0, "nmi": accuracy, "nmi_sd": 0.0, "runs": 1}


def test_section_compares_with_the_paper():
    """Ours are the paper's, but for l2, which is below graph NMF."""
    paper = CLUSTERING["coil20"][20]
    ours = {method: scores(values[0]) for method, values in paper.items()} | {"PLSA": scores(0.5)}
    ours["GraphPLSA l2"] = scores(0.7)
    tuned = [{"strength": 10.0, **scores(0.9)}, {"strength": 100.0, **scores(0.8)}]
    section = render_images(
        plain(
            {
                "dataset": "coil20",
                "n_neighbors": 5,
                "iterations": 7,
                "tuning_classes": 3,
                "tuning": {"GraphPLSA l2": tuned},
                "strengths": {"GraphPLSA l2": 10.0},
                "ours": {20: ours},
                "paper": {20: paper},
                "sensitivity": {"n_classes": 20, "scores": {"GraphPLSA l2": tuned}},
            }
        )
    )
    assert "| 20 | GraphPLSA skl | 81.8 | 81.8 | 81.8 | 90.1 |" in section.text
    assert "it is the best of 10 and 100 on" in " ".join(section.text.split())
    assert "8 of 10 pairs of methods are in the same order" in section.text
    assert "better than graph NMF in 2 of 4 comparisons here, and in 4 in the paper" in section.text
    assert "GraphPLSA skl clusters 81.8 % of the images rightly" in section.findings[0]
    assert "GraphPLSA l2 11.0 points below the paper" in section.findings[1]
    assert list(section.figures) == ["coil20-strength"]
