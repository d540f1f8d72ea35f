"""The mathematics of RLSI: worked examples, optimality, symmetries, limits."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from planting import planted
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from laconic import RLSI
from laconic.engines import Shards, Threads
from laconic.errors import InputWarning
from laconic.losses.squared.classes import Classes
from laconic.losses.squared.rows import Descent, Ridge
from laconic.losses.squared.steps import SquaredSteps
from laconic.losses.squared.topics import SeparableTopics
from laconic.losses.starts import unit_budget

EXACT = {"max_iter": 20_000, "tol": 1e-12, "random_state": 0}


def objective(X, W, C, p, q, alpha_topics, alpha_docs):
    loss = ((X - W @ C) ** 2).sum()
    return loss + alpha_topics * (np.abs(C) ** p).sum() + alpha_docs * (np.abs(W) ** q).sum()


def solved(model, X):
    """Dense X, W and C of a fitted model."""
    W = model.transform(X)
    return (np.asarray(m.toarray() if hasattr(m, "toarray") else m) for m in (X, W, model.components_))


class TestWorkedExample:
    """The numbers of a small problem, step by step."""

    X = np.array([[2.0, 2.0], [0.0, 2.0], [1.0, 1.0]])
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    C = np.array([[5 / 4, 5 / 6], [0, 5 / 6]])

    def test_statistics_and_topics(self):
        S, R = self.W.T @ self.W, self.W.T @ self.X
        lasso = Descent(1.0, precision=1e-14, max_sweeps=1000)
        rows = np.zeros((2, 2))
        lasso.solve(S, np.ascontiguousarray(R.T), rows)
        np.testing.assert_allclose(rows.T, self.C, rtol=1e-12)
        np.testing.assert_allclose(2 * (S @ rows.T - R), [[-1, -1], [0.5, -1]], atol=1e-12)
        assert objective(self.X, self.W, rows.T, 1, 2, 1, 1) == pytest.approx(257 / 24, rel=1e-12)
        ridge = Ridge(1.0)
        ridge.solve(ridge.prepare(S, float), np.ascontiguousarray(R.T), rows)
        np.testing.assert_allclose(rows.T, [[1, 0.75], [0, 0.75]], atol=1e-12)

    def test_document_step(self):
        with Threads(1) as engine:
            steps = SquaredSteps(Shards.whole(csr_array(self.X)), Classes.single(3, 2), engine)
            topics = SeparableTopics(Descent(1.0, precision=1e-14, max_sweeps=1000))
            steps.begin(csr_array(self.C), Ridge(1.0), [topics])
            weights = np.array([[1.17200965, 0.50327473], [0.33092037, 0.84798345], [0.58600483, 0.25163737]])
            balanced = steps.documents()
            found = steps.shards[0].weights
            np.testing.assert_allclose(found, weights, rtol=1e-7)
            assert objective(self.X, found, self.C, 1, 2, 1, 1) == pytest.approx(7.79912099276, rel=1e-10)
        # the balance lowers the penalties and leaves the product as it is; the weights' scale is pending
        C = steps.components().toarray()
        found = found / steps._scales[0]
        np.testing.assert_allclose(found @ C, weights @ self.C, rtol=1e-7)
        assert balanced == pytest.approx(objective(self.X, found, C, 1, 2, 1, 1), rel=1e-12)
        assert balanced < 7.79912099276
        np.testing.assert_allclose(np.abs(C).sum(1), 2 * (found**2).sum(0), rtol=1e-12)

    def test_one_topic(self):
        X = np.diag([2.0, 1.0])
        W = np.ones((2, 1))
        assert objective(X, W, np.zeros((1, 2)), 1, 2, 2, 1) == 7
        rows = np.zeros((2, 1))
        Descent(2.0, precision=1e-14, max_sweeps=100).solve(W.T @ W, X.T @ W, rows)
        np.testing.assert_allclose(rows.T, [[0.5, 0]])
        assert objective(X, W, rows.T, 1, 2, 2, 1) == pytest.approx(6.5)
        ridge, weights = Ridge(1.0), np.zeros((2, 1))
        ridge.solve(ridge.prepare(rows.T @ rows, float), X @ rows, weights)
        np.testing.assert_allclose(weights, [[0.8], [0]])
        assert objective(X, weights, rows.T, 1, 2, 2, 1) == pytest.approx(5.2)

    def test_two_ridges(self):
        model = RLSI(1, topic_norm="l2", alpha_topics=1, alpha_docs=1, init=[[1, 1]], **EXACT)
        model.fit(np.diag([3.0, 1.0]))
        W = model.transform(np.diag([3.0, 1.0]))
        np.testing.assert_allclose(W @ model.components_, np.diag([2.0, 0.0]), atol=1e-5)
        assert (model.components_**2).sum() == pytest.approx(2, rel=1e-5)
        assert model.objective_history_[-1] == pytest.approx(6)


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_two_ridges_reach_the_closed_form_optimum(X, n_components):
    """Singular values shrink by mu: F* is known."""
    alpha_topics, alpha_docs = 2.0, 0.3
    model = RLSI(
        n_components, topic_norm="l2", alpha_topics=alpha_topics, alpha_docs=alpha_docs, **EXACT
    ).fit(X)
    sigma = np.linalg.svd(X.toarray(), compute_uv=False)
    mu = np.sqrt(alpha_topics * alpha_docs)
    kept = np.minimum(sigma, mu) ** 2 + 2 * mu * np.maximum(sigma - mu, 0)
    best = kept[:n_components].sum() + (sigma[n_components:] ** 2).sum()
    assert model.objective_history_[-1] == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize(("topic_norm", "doc_norm"), list(itertools.product(["l1", "l2"], repeat=2)))
@pytest.mark.parametrize("nonnegative", [False, True])
def test_objective_kkt_and_balance_at_the_end(X, topic_norm, doc_norm, nonnegative):
    alpha_topics, alpha_docs = 0.6, 0.4
    p, q = int(topic_norm[1]), int(doc_norm[1])
    model = RLSI(
        3,
        topic_norm=topic_norm,
        doc_norm=doc_norm,
        alpha_topics=alpha_topics,
        alpha_docs=alpha_docs,
        nonnegative=nonnegative,
        **EXACT,
    ).fit(X)
    assert model.n_alive_ == 3
    dense, W, C = solved(model, X)
    value = objective(dense, W, C, p, q, alpha_topics, alpha_docs)
    assert value == pytest.approx(model.objective_history_[-1], rel=1e-7)
    assert value <= model.objective_history_[-1] * (1 + 1e-12)
    gradient_c = 2 * (W.T @ W @ C - W.T @ dense)
    gradient_w = 2 * (W @ C @ C.T - dense @ C.T)
    assert residual(gradient_c, C, p, alpha_topics, nonnegative) < 2e-4
    assert residual(gradient_w, W, q, alpha_docs, False) < 1e-6
    topic_side = p * alpha_topics * (np.abs(C) ** p).sum(1)
    doc_side = q * alpha_docs * (np.abs(W) ** q).sum(0)
    np.testing.assert_allclose(topic_side, doc_side, rtol=1e-4)


def residual(gradient, factor, power, alpha, nonnegative):
    if power == 2:
        gradient = gradient + 2 * alpha * factor
        alpha = 0.0
    if nonnegative:
        return np.abs(np.minimum(factor, gradient + alpha)).max()
    return np.where(
        factor != 0, np.abs(gradient + alpha * np.sign(factor)), np.maximum(np.abs(gradient) - alpha, 0)
    ).max()


def test_without_penalties_the_optimum_is_the_truncated_svd(X):
    model = RLSI(4, alpha_topics=0, alpha_docs=0, topic_norm="l2", **EXACT).fit(X)
    sigma = np.linalg.svd(X.toarray(), compute_uv=False)
    assert model.objective_history_[-1] == pytest.approx((sigma[4:] ** 2).sum(), rel=1e-6)


@pytest.mark.parametrize(("topic_norm", "doc_norm"), list(itertools.product(["l1", "l2"], repeat=2)))
def test_alpha_max_leaves_no_topics(X, topic_norm, doc_norm):
    shape = {"topic_norm": topic_norm, "doc_norm": doc_norm, "alpha_docs": 0.7, **EXACT}
    bound = RLSI(3, **shape).fit(X).alpha_max_
    # ridge weights go to zero from the bound on, but slowly near it
    margin = 1 + 1e-9 if topic_norm == "l1" else 1.2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        gone = RLSI(3, alpha_topics=bound * margin, **shape).fit(X)
    _, W, C = solved(gone, X)
    assert np.abs(W @ C).max() < 1e-5
    if topic_norm == "l1":
        assert gone.n_alive_ == 0


def test_scaling_the_data_scales_the_weights(X):
    """(aX; a^2 lambda_1, lambda_2) has the solution (aW, C)."""
    a = 8.0  # a power of two: rounding is the same
    model = RLSI(3, alpha_topics=0.5, alpha_docs=0.4, tol=1e-7, max_iter=2000, random_state=0).fit(X)
    scaled = RLSI(3, alpha_topics=0.5 * a * a, alpha_docs=0.4, tol=1e-7, max_iter=2000, random_state=0).fit(
        X * a
    )
    np.testing.assert_allclose(
        scaled.components_.toarray(), model.components_.toarray(), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(scaled.transform(X * a), a * model.transform(X), rtol=1e-6, atol=1e-9)
    # and the defaults follow the scale
    plain = RLSI(3, tol=1e-7, max_iter=2000, random_state=0).fit(X)
    default = RLSI(3, tol=1e-7, max_iter=2000, random_state=0).fit(X * a)
    np.testing.assert_allclose(
        default.components_.toarray(), plain.components_.toarray(), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_permuted_documents_and_terms_give_permuted_factors(X, norm):
    random = np.random.default_rng(0)
    rows, columns = random.permutation(X.shape[0]), random.permutation(X.shape[1])
    start = random.normal(size=(3, X.shape[1]))
    shape = {"topic_norm": norm, "tol": 1e-7, "max_iter": 2000}
    shape |= {"terms_per_topic": 10} if norm == "l0" else {"alpha_topics": 0.5}
    model = RLSI(3, init=start, **shape).fit(X)
    moved = RLSI(3, init=start[:, columns], **shape).fit(X[rows][:, columns])
    np.testing.assert_allclose(
        moved.components_.toarray(), model.components_.toarray()[:, columns], rtol=1e-5, atol=1e-8
    )
    np.testing.assert_allclose(
        moved.transform(X[rows][:, columns]), model.transform(X)[rows], rtol=1e-5, atol=1e-8
    )


def test_a_start_of_the_wrong_scale_does_not_collapse(X):
    start = np.random.default_rng(1).normal(size=(4, X.shape[1])) * 100
    model = RLSI(4, alpha_topics=0.5, alpha_docs=0.5, init=start, **EXACT).fit(X)
    assert model.n_alive_ == 4
    assert model.objective_history_[-1] < 0.9 * (X.toarray() ** 2).sum()


def test_signs_are_free_to_flip(X):
    """Turning the topics of a start upside down turns the weights, not the result."""
    start = np.random.default_rng(2).normal(size=(3, X.shape[1]))
    for norm in ("l1", "l0"):
        one = RLSI(3, topic_norm=norm, init=start, tol=1e-6, max_iter=2000).fit(X)
        other = RLSI(3, topic_norm=norm, init=-start, tol=1e-6, max_iter=2000).fit(X)
        np.testing.assert_array_equal(one.components_.toarray(), other.components_.toarray())


class TestWordBudget:
    def test_every_topic_keeps_to_it(self, X):
        for budget, nonnegative in itertools.product([1, 5, 12, 1000], [False, True]):
            model = RLSI(
                6, topic_norm="l0", terms_per_topic=budget, nonnegative=nonnegative, tol=1e-6, max_iter=2000,
                random_state=0,
            ).fit(X)  # fmt: skip
            C = model.components_
            assert model.topic_sizes_.max() <= budget
            np.testing.assert_allclose(np.sqrt((C.toarray() ** 2).sum(1)), 1, rtol=1e-12)
            assert model.n_alive_ == 6
            if budget <= 12:
                assert (model.topic_sizes_ == budget).mean() > 0.5
            if nonnegative:
                assert C.data.min() > 0

    @pytest.mark.parametrize("max_iter", [1, 2])
    def test_it_holds_after_any_number_of_iterations(self, X, max_iter):
        with pytest.warns(ConvergenceWarning):
            model = RLSI(4, topic_norm="l0", terms_per_topic=6, max_iter=max_iter, tol=0, random_state=0).fit(
                X
            )
        assert model.topic_sizes_.max() <= 6

    def test_the_objective_is_the_one_stated(self, X):
        model = RLSI(4, topic_norm="l0", terms_per_topic=6, alpha_docs=0.3, **EXACT).fit(X)
        dense, W, C = solved(model, X)
        value = ((dense - W @ C) ** 2).sum() + 0.3 * (W**2).sum()
        assert value == pytest.approx(model.objective_history_[-1], rel=1e-6)
        assert model.alpha_topics_ is None

    @pytest.mark.parametrize("alpha_docs", [0.05, 1.0])
    def test_without_a_limit_it_reaches_the_known_optimum(self, X, alpha_docs):
        """For t = M the penalty is a squared nuclear norm: z = (sigma - mu)+, mu = alpha/K sum z."""
        K = 3
        model = RLSI(K, topic_norm="l0", terms_per_topic=X.shape[1], alpha_docs=alpha_docs, **EXACT).fit(X)
        sigma = np.linalg.svd(X.toarray(), compute_uv=False)
        top = sigma[:K]
        low, high = 0.0, float(top[0])
        for _ in range(200):
            mu = (low + high) / 2
            low, high = (mu, high) if alpha_docs / K * np.maximum(top - mu, 0).sum() > mu else (low, mu)
        z = np.maximum(top - mu, 0)
        best = ((top - z) ** 2).sum() + alpha_docs / K * z.sum() ** 2 + (sigma[K:] ** 2).sum()
        assert model.objective_history_[-1] == pytest.approx(best, rel=1e-6)

    def test_planted_topics_are_found(self):
        """Documents of one topic each: the budget finds exactly its words."""
        random = np.random.default_rng(0)
        X = np.zeros((90, 60))
        for n in range(90):
            X[n, (n % 3) * 20 + random.choice(8, 6, replace=False)] = 1
        expected = {tuple(range(start, start + 8)) for start in (0, 20, 40)}
        found = 0
        for seed in range(20):
            model = RLSI(3, topic_norm="l0", terms_per_topic=8, nonnegative=True, random_state=seed).fit(X)
            found += expected == {tuple(np.flatnonzero(row)) for row in model.components_.toarray()}
        # documents drawn without regard to each other would hit all three groups in 2 of 9 cases
        assert found >= 17


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_components": 0}, "n_components"),
            ({"n_components": 2.5}, "n_components"),
            ({"n_components": True}, "n_components"),
            ({"topic_norm": "l3"}, "topic_norm='l3'"),
            ({"doc_norm": "l0"}, "doc_norm='l0'"),
            ({"alpha_topics": -1}, "alpha_topics"),
            ({"alpha_docs": np.nan}, "alpha_docs"),
            ({"alpha_topics": 0}, "alpha_docs=0 as well"),
            ({"alpha_docs": 0}, "alpha_topics=0 as well"),
            ({"alpha_docs": 0, "alpha_topics": 1}, "alpha_topics=0 as well"),
            ({"topic_norm": "l0", "alpha_topics": 1}, "word budget takes its place"),
            ({"terms_per_topic": 5}, "goes with topic_norm='l0'"),
            ({"topic_norm": "l0", "terms_per_topic": 0}, "terms_per_topic"),
            ({"max_iter": 0}, "max_iter"),
            ({"tol": -1e-3}, "tol"),
            ({"n_jobs": 0}, "n_jobs"),
            ({"init": [[1, 2]]}, "init has shape"),
            ({"nonnegative": True, "init": -np.ones((10, 80))}, "negative words"),
        ],
    )
    def test_bad_ones_are_named(self, X, parameters, message):
        with pytest.raises(ValueError, match=message):
            RLSI(**parameters).fit(X)

    def test_fit_changes_no_parameter(self, X):
        model = RLSI(3, random_state=0)
        before = model.get_params()
        model.fit(X)
        assert model.get_params() == before


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("doc_norm", ["l1", "l2"])
@pytest.mark.parametrize(("shape", "K"), [((2000, 50), 100), ((50, 80), 100), ((50, 80), 60)])
@pytest.mark.parametrize("alpha", [1e-4, 1e-12, 0])
def test_hardly_any_penalty_and_more_topics_than_dimensions_in_single_precision(shape, K, alpha, doc_norm):
    """Gram matrices that are singular to rounding must not make the objective rise."""
    X = planted(*shape, dtype=np.float32)
    shape_of = {"topic_norm": "l2", "doc_norm": doc_norm, "alpha_topics": alpha, "alpha_docs": alpha}
    model = RLSI(K, **shape_of, max_iter=20, tol=0, random_state=0).fit(X)
    energy = float((X.toarray().astype(np.float64) ** 2).sum())
    assert np.diff(model.objective_history_).max(initial=0) <= 1e-5 * energy
    assert model.objective_history_[-1] < energy


def test_signed_data_whose_rows_add_up_to_zero():
    random = np.random.default_rng(0)
    X = np.zeros((40, 10))
    for row in X:
        row[random.choice(10, 2, replace=False)] = 1, -1
    model = RLSI(2, random_state=0, max_iter=2000).fit(X)
    spectral = np.linalg.norm(X, 2)
    largest = np.linalg.norm(X, axis=0).max()
    assert model.alpha_max_ == pytest.approx(spectral * largest / np.sqrt(0.1), rel=1e-9)


def test_the_default_penalty_suits_collections_with_one_dominant_topic(X):
    """Boilerplate in a fifth of all documents must not cost the other topics their words."""
    boilerplate = np.zeros((X.shape[0], 5))
    boilerplate[::5] = 20.0
    model = RLSI(4, random_state=0, max_iter=2000).fit(np.hstack([X.toarray(), boilerplate]))
    assert model.n_alive_ == 4
    assert np.median(model.topic_sizes_) >= 5


def test_unit_budget_keeps_the_largest_words():
    topics = csr_array(np.array([[3.0, -4.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, -5.0]]))
    kept = unit_budget(topics, 2, nonnegative=False).toarray()
    np.testing.assert_allclose(kept[0], [0.6, -0.8, 0, 0])
    np.testing.assert_array_equal(kept[1], 0)
    np.testing.assert_allclose(kept[2], np.array([1, 0, 0, -5]) / np.sqrt(26))
    positive = unit_budget(topics, 2, nonnegative=True).toarray()
    np.testing.assert_allclose(positive[0], np.array([3, 0, 1, 0]) / np.sqrt(10))
    np.testing.assert_allclose(positive[2], np.array([1, 1, 0, 0]) / np.sqrt(2))


def test_sparse_weights_are_sparse(X):
    model = RLSI(3, doc_norm="l1", alpha_docs=0.3, alpha_topics=0.3, random_state=0).fit(X)
    W = model.transform(X)
    assert isinstance(W, csr_array)
    assert 0 < W.nnz < 0.8 * W.shape[0] * W.shape[1]


def test_the_default_start_uses_distinct_documents_and_survives_duplicates():
    X = np.vstack([np.tile([1.0, 1, 0, 0, 0], (50, 1)), [[0, 0, 1, 1, 0]], [[0, 0, 0, 1, 1]]])
    model = RLSI(3, topic_norm="l0", terms_per_topic=2, nonnegative=True, random_state=0).fit(X)
    assert {tuple(np.flatnonzero(row)) for row in model.components_.toarray()} == {(0, 1), (2, 3), (3, 4)}


def test_of_nothing_no_penalty_can_be_lowered():
    with pytest.warns(InputWarning, match="no topic has a word: look at X"):
        RLSI(4, random_state=0).fit(np.zeros((10, 8)))


def test_the_start_is_not_part_of_the_history(X):
    steps = {("l0", "documents"): 12, ("l0", "svd"): 0, ("l1", "documents"): 12, ("l1", "svd"): 2}
    for (norm, init), n_steps in steps.items():
        phases = []
        model = RLSI(3, topic_norm=norm, init=init, random_state=0)
        model.fit(X, callback=lambda p, phases=phases: phases.append((p.phase, p.half)))
        assert phases.count(("fit", "topics")) == model.n_iter_
        assert phases.count(("start", "topics")) == n_steps
    model = RLSI(3, topic_norm="l0", terms_per_topic=5, random_state=0).fit(X)
    warm = []
    RLSI(3, topic_norm="l0", terms_per_topic=5, init=model.components_).fit(
        X, callback=lambda p: warm.append(p.phase)
    )
    assert set(warm) == {"fit"}


def test_planted_topics_at_scale_in_single_precision():
    X = planted(3000, 1500, n_topics=8, seed=5, dtype=np.float32)
    seen = []
    model = RLSI(8, random_state=0).fit(
        X, callback=lambda p: seen.append(p.objective) if p.phase == "fit" else None
    )
    assert model.n_alive_ == 8
    assert (np.diff(seen) <= 1e-6 * np.array(seen[:-1])).all()
