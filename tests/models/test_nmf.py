"""The mathematics of NMF: worked examples, optimality, limits, and scikit-learn beside it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array, issparse
from sklearn import decomposition

from laconic import NMF, priors
from laconic.engines import Shards
from laconic.losses.factor import without_rounding
from laconic.losses.squared.rows import Descent, Multiplicative

EXACT = {"max_iter": 20_000, "tol": 1e-14, "random_state": 0}


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


class TestWorkedExample:
    """One update of all-ones topics, for weights [[1, 0], [0, 1], [1, 1]]; a row per term."""

    S = np.array([[2.0, 1.0], [1.0, 2.0]])
    R = np.array([[3.0, 1.0], [3.0, 3.0]])

    def test_multiplicative_update(self):
        rows = np.ones((2, 2))
        Multiplicative().solve(self.S, self.R, rows)
        np.testing.assert_allclose(rows.T, [[1, 1], [1 / 3, 1]], rtol=1e-14)

    def test_sweep_of_coordinate_descent(self):
        rows = np.ones((2, 2))
        unsolved = Descent(0.0, nonnegative=True, precision=1e-14, max_sweeps=1).solve(self.S, self.R, rows)
        np.testing.assert_allclose(rows.T, [[1, 1], [0, 1]], rtol=1e-14)
        # one sweep does not tell which rows it has solved
        assert unsolved == 2

    def test_what_other_topics_explain_adds_to_what_is_reached(self):
        rows = np.ones((1, 2))
        Multiplicative().solve(self.S, self.R[:1], rows, np.array([[3.0, 1.0]]))
        np.testing.assert_allclose(rows, [[0.5, 0.25]])


def residuals(X, W, C):
    """Distance from the KKT conditions of either side."""
    topics = np.minimum(C, 2 * (W.T @ W @ C - W.T @ X))
    weights = np.minimum(W, 2 * (W @ C @ C.T - X @ C.T))
    return np.abs(topics).max(), np.abs(weights).max()


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_kkt_at_the_end(X, n_components):
    model = NMF(n_components, **EXACT).fit(X)
    W, C = dense(model.transform(X)), dense(model.components_)
    of_topics, of_weights = residuals(X.toarray(), W, C)
    assert of_topics < 1e-4
    assert of_weights < 1e-8
    assert ((X.toarray() - W @ C) ** 2).sum() == pytest.approx(model.objective_history_[-1], rel=1e-9)


def test_weights_are_those_of_nonnegative_least_squares(X):
    for solver in ("cd", "mu"):
        model = NMF(4, solver=solver, random_state=0, tol=1e-9, max_iter=200_000).fit(X)
        W, C = dense(model.transform(X)), dense(model.components_)
        expected = np.array([nnls(C.T, x)[0] for x in X.toarray()])
        np.testing.assert_allclose(W, expected, rtol=1e-5, atol=1e-7)


def test_coordinate_descent_leaves_a_zero_and_multiplicative_updates_do_not(X):
    m = int((X.toarray() ** 2).sum(0).argmax())
    init = np.ones((1, X.shape[1]))
    init[0, m] = 0
    free = NMF(1, init=init, **EXACT).fit(X)
    stuck = NMF(1, init=init, solver="mu", **EXACT).fit(X)
    assert dense(free.components_)[0, m] > 0.5
    W, C = dense(stuck.transform(X)), dense(stuck.components_)
    assert C[0, m] == 0
    # the gradient would have it grow: no optimum, though nothing moves
    assert 2 * (W.T @ W @ C - W.T @ X.toarray())[0, m] < -1
    assert residuals(X.toarray(), W, C)[0] > 1
    assert free.objective_history_[-1] < 0.99 * stuck.objective_history_[-1]


def test_multiplicative_updates_from_documents_have_no_locked_zeros(X):
    """The start lifts every word of the collection off zero, so that both solvers can end alike."""
    model = NMF(3, solver="mu", random_state=0, tol=1e-9, max_iter=50_000).fit(X)
    best = NMF(3, random_state=0, tol=1e-9, max_iter=50_000).fit(X)
    assert model.objective_history_[-1] == pytest.approx(best.objective_history_[-1], rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_ends_at_the_same_objective_from_the_same_start(X, seed):
    init = np.random.default_rng(seed).uniform(0.1, 1, (4, X.shape[1]))
    ours = NMF(4, init=init, max_iter=20_000, tol=1e-12).fit(X)
    theirs = decomposition.NMF(4, init="custom", solver="cd", tol=1e-9, max_iter=20_000)
    first = np.array([nnls(init.T, x)[0] for x in X.toarray()])
    W = theirs.fit_transform(X.toarray(), W=first, H=init.copy())
    loss = ((X.toarray() - W @ theirs.components_) ** 2).sum()
    assert ours.objective_history_[-1] == pytest.approx(loss, rel=1e-6)


def test_one_topic_is_the_first_singular_vector(X):
    model = NMF(1, **EXACT).fit(X)
    _, sigma, V = np.linalg.svd(X.toarray())
    assert model.objective_history_[-1] == pytest.approx((sigma[1:] ** 2).sum(), rel=1e-9)
    topic = dense(model.components_)[0]
    np.testing.assert_allclose(topic / np.linalg.norm(topic), np.abs(V[0]), atol=1e-6)


def test_topics_that_were_planted_apart_are_found():
    random = np.random.default_rng(0)
    topics = np.kron(np.eye(3), random.uniform(0.5, 1.5, 5))
    X = random.uniform(0.1, 1, (60, 3)) * (random.random((60, 3)) < 0.4) @ topics
    model = NMF(3, **EXACT).fit(X)
    found = {tuple(np.flatnonzero(row > 1e-2 * row.max())) for row in dense(model.components_)}
    assert found == {tuple(range(start, start + 5)) for start in (0, 5, 10)}
    assert model.score(X) == pytest.approx(1, abs=1e-6)


def test_the_scale_of_a_start_does_not_matter(X):
    init = np.random.default_rng(4).uniform(0.1, 1, (3, X.shape[1]))
    scales = np.array([[2.0**-40], [1.0], [2.0**40]])
    plain, scaled = NMF(3, init=init, **EXACT).fit(X), NMF(3, init=init * scales, **EXACT).fit(X)
    assert scaled.objective_history_[-1] == pytest.approx(plain.objective_history_[-1], rel=1e-9)
    norms = np.linalg.norm(dense(scaled.components_), axis=1, keepdims=True)
    assert norms.max() < 100 * norms.min()
    unit = dense(plain.components_) / np.linalg.norm(dense(plain.components_), axis=1, keepdims=True)
    np.testing.assert_allclose(dense(scaled.components_) / norms, unit, atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"loss": "absolute"}, "loss='absolute'"),
        ({"prior": priors.Pareto(1.0)}, "loss='kl'"),
        ({"loss": "kl", "prior": 3}, "laconic.priors"),
        ({"solver": "als"}, "solver='als'"),
        ({"init": -np.ones((10, 80))}, "negative words"),
        ({"init": "random"}, "init='random'"),
        ({"tol": -1}, "tol"),
    ],
)
def test_bad_parameters_are_named(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        NMF(**parameters).fit(X)


def test_singular_vectors_as_a_start(X):
    drawn = NMF(6, random_state=0).fit(X)
    model = NMF(6, init="svd", random_state=0).fit(X)
    assert model.n_alive_ == 6
    assert model.objective_history_[-1] <= 1.05 * drawn.objective_history_[-1]
    assert (np.diff(model.objective_history_) <= 1e-10).all()
    again = NMF(6, init="svd", random_state=0).fit(X)
    np.testing.assert_array_equal(dense(again.components_), dense(model.components_))
    with pytest.raises(ValueError, match="init='svd' goes with loss='squared'"):
        NMF(6, loss="kl", init="svd").fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rows", [1, 3, 30])
def test_more_topics_than_singular_vectors(X, rows):
    model = NMF(12, init="svd", random_state=0).fit(X[1 : 1 + rows, :9])
    assert model.components_.shape == (12, 9)
    assert np.isfinite(dense(model.components_)).all()


def test_negative_documents_are_refused(X):
    negative = X.copy()
    negative.data[5] = -0.1
    with pytest.raises(ValueError, match="Negative values"):
        NMF(2).fit(negative)
    with pytest.raises(ValueError, match="Negative values"):
        NMF(2, random_state=0).fit(X).transform(negative)


def test_multiplicative_updates_of_weights_that_fade_away_stay_finite():
    solver = Multiplicative()
    tiny = np.finfo(np.float32).tiny
    rows = np.array([[tiny / 8, 0], [1, tiny / 4]], np.float32)
    targets = np.array([[1, 1], [1e-3, 1e-3]], np.float32)
    gram = np.array([[1, 0], [0, 1e-3]], np.float32)
    for _ in range(3):
        solver.solve(gram, targets, rows)
        assert np.isfinite(rows).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_topics_have_no_words_that_rounding_leaves(X):
    for dtype in (np.float32, np.float64):
        model = NMF(6, random_state=0, tol=1e-7).fit(X.astype(dtype))
        topics = model.components_
        assert topics.has_canonical_format
        heaviest = topics.max(axis=1).toarray().ravel()
        owner = np.repeat(np.arange(6), np.diff(topics.indptr))
        assert (topics.data > np.finfo(dtype).eps * heaviest[owner]).all()


@pytest.mark.parametrize("form", [csr_array, np.array])
def test_words_at_the_rounding_of_the_heaviest_are_none(form):
    topics = np.array([[1, 1e-19, 0.5], [0, 0, 0], [1e-19, 0, 2e-19]], np.float32)
    found = without_rounding(form(topics))
    assert found.nnz == 4
    np.testing.assert_array_equal(found.toarray(), [[1, 0, 0.5], [0, 0, 0], topics[2]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_shards", [1, 3])
def test_zeros_that_are_kept_change_nothing_but_rounding(X, n_shards, monkeypatch):
    data = X.astype(np.float64)
    few = NMF(6, random_state=0, max_iter=20, tol=0).fit(Shards.cut(data, n_shards))
    monkeypatch.setattr("laconic.losses.squared.problems.NARROW", 1)
    many = NMF(6, random_state=0, max_iter=20, tol=0).fit(Shards.cut(data, n_shards))
    np.testing.assert_allclose(many.objective_history_, few.objective_history_, rtol=1e-9)
    np.testing.assert_allclose(dense(many.components_), dense(few.components_), atol=1e-6)
