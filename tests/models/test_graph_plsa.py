"""GraphPLSA: what links do for topics, how a graph is given, saving, and the parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import laconic
from laconic import PLSA, GraphPLSA
from laconic.losses.divergence.graphs import neighbour_graph

DIVERGENCES = ("skl", "l2", "l1")


def two_groups(n=40, seed=0):
    """Two groups of documents; the words of half of them are noise, so that only links tell their group."""
    random = np.random.default_rng(seed)
    groups = np.arange(n) % 2
    X = random.poisson(0.3, (n, 20)).astype(float)
    for i in range(0, n, 4):
        for j in (i, i + 1):
            X[j, 10 * groups[j] : 10 * groups[j] + 10] += random.poisson(4, 10)
    edges = [(i, (i + 2) % n) for i in range(n)] + [(i, (i + 6) % n) for i in range(n)]
    return X, np.array(edges), groups


def agreement(W, groups):
    share = np.mean(W.argmax(axis=1) == groups)
    return max(share, 1 - share)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_links_tell_what_words_do_not(divergence):
    X, edges, groups = two_groups()
    model = GraphPLSA(2, divergence=divergence, strength=1, max_iter=1000, random_state=0)
    assert agreement(model.fit_transform(X, graph=edges), groups) == 1
    assert agreement(PLSA(2, random_state=0).fit(X).transform(X), groups) < 0.95
    assert_allclose(model.weights_.sum(axis=1), 1, atol=1e-12)
    assert_allclose(model.components_.sum(axis=1), 1, atol=1e-12)


def test_fit_transform_knows_the_links_and_transform_does_not():
    X, edges, _ = two_groups()
    model = GraphPLSA(2, max_iter=1000, random_state=0)
    W = model.fit_transform(X, graph=edges)
    assert_array_equal(W, model.weights_)
    assert_array_equal(W, model.fit(X, graph=edges).weights_)
    words_alone = PLSA(2, init=model.components_)
    words_alone.components_, words_alone.n_features_in_ = model.components_, 20
    assert_allclose(model.transform(X), words_alone.transform(X), atol=1e-6)
    assert np.abs(model.transform(X) - W).max() > 0.1


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_without_strength_it_is_plsa(divergence):
    """From the same topics, on the same shares of words."""
    X, edges, _ = two_groups()
    shares = X / X.sum(axis=1, keepdims=True)
    init = np.random.default_rng(1).dirichlet(np.ones(20), 2)
    linked = GraphPLSA(2, divergence=divergence, strength=0, init=init, tol=1e-9, max_iter=5000)
    plain = PLSA(2, solver="em", init=init, tol=1e-9, max_iter=5000).fit(shares)
    assert_allclose(linked.fit(X, graph=edges).components_, plain.components_, atol=1e-4)
    assert linked.objective_history_[-1] == pytest.approx(plain.objective_history_[-1], rel=1e-6)


def test_without_a_graph_documents_are_linked_to_the_nearest():
    X, _, _ = two_groups()
    model = GraphPLSA(2, n_neighbors=3, random_state=0, max_iter=20, tol=0)
    with pytest.warns(match="max_iter"):
        found = model.fit_transform(X)
    with pytest.warns(match="max_iter"):
        given = model.fit_transform(X, graph=neighbour_graph(csr_array(X), 3))
    assert_array_equal(found, given)


def test_row_normalize_makes_documents_count_the_same():
    X, edges, _ = two_groups()
    lengths = np.linspace(1, 9, len(X)).round()[:, None]
    model = GraphPLSA(2, random_state=0, max_iter=1000)
    assert_allclose(
        model.fit_transform(X * lengths, graph=edges), model.fit_transform(X, graph=edges), atol=1e-6
    )
    counted = clone(model).set_params(row_normalize=False, strength=1)
    first, second = counted.fit_transform(X, graph=edges), counted.fit_transform(X * 100, graph=edges)
    assert np.abs(first - second).max() > 0.1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_objective_is_what_the_docstring_says(divergence):
    X, edges, _ = two_groups()
    model = GraphPLSA(2, divergence=divergence, strength=3, random_state=0, max_iter=4, tol=0)
    W, C = model.fit_transform(X, graph=edges), model.components_
    shares, (a, b) = X / X.sum(axis=1, keepdims=True), (W[ends] for ends in edges.T)
    gaps = {"skl": (a - b) * np.log(a / b), "l2": (a - b) ** 2 / 2, "l1": np.abs(a - b)}[divergence]
    seen = shares > 0
    loss = np.sum(shares[seen] * np.log(shares[seen] / (W @ C)[seen]))
    assert model.objective_history_[-1] == pytest.approx(loss + 3 * gaps.sum(), rel=1e-9)


def test_documents_without_words_or_links():
    X, edges, groups = two_groups()
    X[:3] = 0
    edges = edges[~(edges == 2).any(axis=1)]
    for divergence in DIVERGENCES:
        W = GraphPLSA(2, divergence=divergence, strength=1, max_iter=1000, random_state=0).fit_transform(
            X, graph=edges
        )
        assert_array_equal(W[2], [0.5, 0.5])
        assert agreement(W[[0, 1, *range(3, 40)]], groups[[0, 1, *range(3, 40)]]) == 1


def test_topics_that_are_given_are_where_the_fit_begins():
    X, edges, _ = two_groups()
    model = GraphPLSA(2, strength=1, max_iter=3000, tol=1e-7, random_state=0).fit(X, graph=edges)
    again = clone(model).set_params(init=model.components_).fit(X, graph=edges)
    assert again.objective_history_[0] <= model.objective_history_[-1] * (1 + 1e-5)
    assert again.n_iter_ <= 5


def test_saved_weights_are_checked(tmp_path):
    X, edges, _ = two_groups()
    model = GraphPLSA(2, max_iter=1000, random_state=0).fit(X, graph=edges)
    model.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert_array_equal(loaded.weights_, model.weights_)
    assert_array_equal(loaded.transform(X), model.transform(X))
    state = model._fitted_state()
    W = model.weights_
    for broken, message in (
        (W[:, :1], "weights: shape"),
        (W.astype(np.float32), "float32"),
        (-W, "negative"),
        (W * 2, "sum to one"),
        (W * np.nan, "negative"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model)._restore(state | {"weights": broken})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"divergence": "kl"}, "divergence='kl' is not known"),
        ({"strength": -1}, "strength must be a number of at least 0"),
        ({"strength": np.inf}, "strength"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"row_normalize": "yes"}, "row_normalize"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GraphPLSA(**parameters).fit(np.eye(3))


def test_bad_input():
    X, edges, _ = two_groups()
    with pytest.raises(ValueError, match="Negative values"):
        GraphPLSA(2).fit(-X)
    with pytest.raises(ValueError, match="no words"):
        GraphPLSA(2).fit(np.zeros((4, 5)))
    with pytest.raises(ValueError, match="negative weights"):
        GraphPLSA(2).fit(X, graph=np.c_[edges, -np.ones(len(edges))])
    with pytest.raises(ValueError, match="document 40"):
        GraphPLSA(2).fit(X, graph=[[0, 40]])


@pytest.mark.slow
def test_links_help_on_real_papers(data_dir):
    """Citations among the Cora papers: documents that cite each other are mostly of one field."""
    from laconic.evaluate.clustering import clustering_nmi

    data = np.load(data_dir / "cora_ml" / "cora_ml.npz")
    shape = tuple(data["attr_shape"])
    X = csr_array((data["attr_data"], data["attr_indices"], data["attr_indptr"]), shape=shape)
    n_edges = len(data["adj_indices"])
    graph = csr_array((np.ones(n_edges), data["adj_indices"], data["adj_indptr"]), shape=(shape[0], shape[0]))
    quality = {}
    for strength in (0, 0.3):
        model = GraphPLSA(7, strength=strength, max_iter=500, random_state=0)
        W = model.fit_transform(X, graph=graph)
        quality[strength] = clustering_nmi(data["labels"], W.argmax(axis=1))
    assert quality[0.3] > quality[0] + 0.05


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_a_random_start_has_random_weights_too(divergence):
    X, edges, _ = two_groups()
    one = {"divergence": divergence, "init": "random", "max_iter": 1, "tol": 0, "row_normalize": False}
    with pytest.warns(ConvergenceWarning):
        first, same, other = (GraphPLSA(2, random_state=s, **one).fit(X, graph=edges) for s in (0, 0, 1))
    assert_array_equal(first.weights_, same.weights_)
    assert np.abs(first.weights_ - other.weights_).max() > 0.1


def test_a_random_start_leaves_out_words_that_nobody_has():
    X, edges, _ = two_groups()
    X[:, 3] = 0
    model = GraphPLSA(2, init="random", random_state=0).fit(X, graph=edges)
    assert not model.components_[:, 3].any()
    assert (np.diff(model.objective_history_) <= 1e-9).all()
