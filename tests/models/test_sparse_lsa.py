"""Sparse LSA: worked example, the paper's algorithms beside it, limits, groups, revival."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Lasso

import laconic
from laconic import SparseLSA
from laconic.engines import Shards, Threads
from laconic.errors import InputWarning
from laconic.losses.orthogonal import steps as orthogonal_steps
from laconic.losses.orthogonal.shrinkage import GroupSoft, Soft
from laconic.losses.orthogonal.steps import OrthogonalSteps
from laconic.losses.rotation import varimax

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LONG = {"max_iter": 3000, "tol": 1e-12, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.maximum(rng.normal(size=(40, 30)), 0) * (rng.random((40, 30)) < 0.5)


def soft(B, alpha):
    return np.sign(B) * np.maximum(np.abs(B) - alpha, 0)


def polar(V):
    left, _, right = np.linalg.svd(V, full_matrices=False)
    return left @ right


def objective(X, U, A, alpha):
    return np.sum((X - U @ A) ** 2) / 2 + alpha * np.abs(A).sum()


class TestWorkedExample:
    X = np.array([[2.0, 0, 0], [0, 2, 0], [1, 2, 1]])

    def fit(self, **parameters):
        told = []
        model = SparseLSA(2, alpha_topics=1.0, init="identity", max_iter=1, tol=0, **parameters)
        return model.fit(self.X, callback=lambda p: told.append(p.objective) and None), told

    @pytest.mark.parametrize("nonnegative", [False, True])
    def test_topics(self, nonnegative):
        model, told = self.fit(nonnegative=nonnegative)
        np.testing.assert_allclose(model.components_.toarray(), [[1.2, 0, 0], [0, 1.8, 0]], rtol=1e-13)
        np.testing.assert_allclose(told, [5, 4.66], rtol=1e-13)

    def test_groups(self):
        model, _ = self.fit(groups=[0, 0, 1])
        first = (1 - np.sqrt(0.4)) * np.array([2.2, 0.4])
        np.testing.assert_allclose(model.components_.toarray(), [[*first, 0], [0.2, 1.4, 0]], rtol=1e-12)
        assert [name for name, _, _ in model.group_table(0)] == [0]

    def test_projection(self):
        model, _ = self.fit()
        expected = [[2.4, 0], [0, 3.6], [1.2, 3.6]]
        np.testing.assert_allclose(model.transform(self.X).toarray(), expected, rtol=1e-13)


def the_papers(X, A, alpha, n_iter):
    """A lasso for every term, and the singular vectors of XA' for the basis."""
    values = []
    for _ in range(n_iter):
        U = polar(X @ A.T)
        lasso = Lasso(alpha=alpha / len(X), fit_intercept=False, tol=1e-13, max_iter=100_000)
        A = np.stack([lasso.fit(U, column).coef_ for column in X.T], axis=1)
        values.append(objective(X, U, A, alpha))
    return A, values


def test_equals_the_papers_algorithm(X):
    start = np.random.default_rng(1).normal(size=(4, 30))
    expected, values = the_papers(X, start, 0.3, 8)
    ours, told = start, []
    for _ in range(4):
        # the first two iterations of a fit take no step ahead
        model = SparseLSA(4, alpha_topics=0.3, init=ours, max_iter=2, tol=0).fit(X)
        ours = model.components_.toarray()
        told += model.objective_history_.tolist()
    signs = np.sign(np.sum(ours * expected, axis=1, keepdims=True))
    np.testing.assert_allclose(signs * ours, expected, atol=1e-8)
    np.testing.assert_allclose(told, values, rtol=1e-10)


def test_steps_ahead_take_fewer_iterations_and_never_raise_the_objective(X):
    """Against as many iterations without: fits of two that start where the last one ended."""
    model = SparseLSA(8, alpha_topics=0.2, max_iter=12, tol=0, random_state=0).fit(X)
    assert (np.diff(model.objective_history_) <= 1e-12).all()
    topics = SparseLSA(8, alpha_topics=0.2, max_iter=2, tol=0, random_state=0).fit(X).components_
    for _ in range(5):
        plain = SparseLSA(8, alpha_topics=0.2, init=topics, max_iter=2, tol=0).fit(X)
        topics = plain.components_
    assert model.objective_history_[-1] < plain.objective_history_[-1]


def test_equals_the_papers_algorithm_for_groups(X):
    """Block coordinate descent over the groups of each topic; its second sweep changes nothing."""
    ids, alpha = np.arange(30) // 4, 0.3
    start = np.random.default_rng(2).normal(size=(4, 30))
    model = SparseLSA(4, alpha_topics=alpha, groups=ids, init=start, max_iter=1, tol=0).fit(X)

    def shrunk(B):
        A = np.zeros_like(B)
        for g in np.unique(ids):
            own = ids == g
            norms = np.linalg.norm(B[:, own], axis=1, keepdims=True)
            A[:, own] = np.maximum(1 - alpha * np.sqrt(own.sum()) / norms, 0) * B[:, own]
        return A

    U = polar(X @ start.T)
    expected = np.zeros((4, 30))
    for _ in range(2):
        for k in range(4):
            rest = U[:, k] @ (X - U @ expected + np.outer(U[:, k], expected[k]))
            expected[k] = shrunk(rest[None])[0]
    ours = model.components_.toarray()
    signs = np.sign(np.sum(ours * expected, axis=1, keepdims=True))
    np.testing.assert_allclose(signs * ours, expected, atol=1e-10)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("groups", [None, np.arange(30) // 4])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
def test_basis_topics_and_objective_belong_together(X, nonnegative, groups, alpha):
    model = SparseLSA(5, alpha_topics=alpha, nonnegative=nonnegative, groups=groups, **LONG).fit(X)
    U, A = model.transform(X, mode="orthogonal"), model.components_.toarray()
    np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-8)
    cross = U.T @ X @ A.T
    np.testing.assert_allclose(cross, cross.T, atol=1e-8)
    assert np.linalg.eigvalsh(cross).min() > 0
    # at the end the topics are the shrunk products with the basis
    B = U.T @ X
    shrink = Soft(alpha, nonnegative, 30)
    if groups is not None:
        sizes = np.bincount(groups)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shrink = GroupSoft(alpha, nonnegative, starts, np.sqrt(sizes))
    shrunk = np.vstack([shrink(B.T[slice(*b)].copy(), np.arange(*b)) for b in shrink.ranges]).T
    np.testing.assert_allclose(A, shrunk, atol=2e-4)
    assert model.objective_history_[-1] == pytest.approx((np.sum(X**2) - np.sum(A**2)) / 2, rel=1e-12)
    if nonnegative:
        assert A.min() >= 0


def test_without_a_penalty_it_is_the_svd(X):
    model = SparseLSA(5, alpha_topics=0.0, **LONG).fit(X)
    values = np.linalg.svd(X, compute_uv=False)
    assert model.objective_history_[-1] == pytest.approx(np.sum(values[5:] ** 2) / 2, rel=1e-6)


def test_from_alpha_max_on_there_are_no_topics(X):
    model = SparseLSA(3, alpha_topics=0.1, random_state=0).fit(X)
    assert model.alpha_max_ == pytest.approx(np.linalg.norm(X, axis=0).max())
    with pytest.warns(InputWarning, match="no topic has a word: lower alpha_topics"):
        nothing = SparseLSA(3, alpha_topics=1.0001 * model.alpha_max_, random_state=0).fit(X)
    assert nothing.n_alive_ == 0
    assert nothing.objective_history_[-1] == pytest.approx(np.sum(X**2) / 2)
    assert np.isfinite(nothing.transform(X, mode="orthogonal")).all()
    assert nothing.score(X) == 0


def test_scaling_documents_and_penalty_together(X):
    one = SparseLSA(4, alpha_topics=0.3, **LONG).fit(X)
    ten = SparseLSA(4, alpha_topics=3.0, **LONG).fit(10 * X)
    np.testing.assert_allclose(ten.components_.toarray(), 10 * one.components_.toarray(), atol=1e-6)
    by_default = [SparseLSA(4, random_state=0).fit(c * X).alpha_topics_ for c in (1, 10)]
    assert by_default[1] == pytest.approx(10 * by_default[0])


def test_groups_of_one_term_are_no_groups(X):
    plain = SparseLSA(4, alpha_topics=0.3, **LONG).fit(X)
    grouped = SparseLSA(4, alpha_topics=0.3, groups=np.arange(30), **LONG).fit(X)
    np.testing.assert_allclose(grouped.components_.toarray(), plain.components_.toarray(), atol=1e-9)


class TestGroups:
    def test_a_topic_takes_or_leaves_a_group(self, X):
        ids = np.arange(30) // 5
        A = SparseLSA(4, alpha_topics=0.8, groups=ids, random_state=0).fit(X).components_.toarray()
        taken = np.array([(A[:, ids == g] != 0).mean(axis=1) for g in range(6)])
        assert set(np.unique(taken)) <= {0.0, 1.0}
        assert 0 < taken.mean() < 1

    def test_groups_that_overlap(self, X):
        groups = {"first": [0, 1, 2, 3], "second": [3, 4, 5], "rest": range(6, 30)}
        model = SparseLSA(4, alpha_topics=0.2, groups=groups, random_state=0).fit(X)
        copied = np.hstack([X[:, :4], X[:, 3:]])
        flat = SparseLSA(4, alpha_topics=0.2, groups=np.repeat([0, 1, 2], [4, 3, 24]), random_state=0).fit(
            copied
        )
        A, B = model.components_.toarray(), flat.components_.toarray()
        np.testing.assert_allclose(A[:, 3], B[:, 3] + B[:, 4], atol=1e-9)
        np.testing.assert_allclose(model.transform(X).toarray(), flat.transform(copied).toarray(), atol=1e-9)
        assert {name for name, _, _ in model.group_table(0)} <= {"first", "second", "rest"}

    def test_terms_by_name(self, X):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=[f"gene{m}" for m in range(30)])
        model = SparseLSA(3, alpha_topics=0.3, groups={"pathway": ["gene2", "gene4"]}, random_state=0).fit(
            frame
        )
        by_number = SparseLSA(3, alpha_topics=0.3, groups={"pathway": [2, 4]}, random_state=0).fit(X)
        np.testing.assert_array_equal(model.components_.toarray(), by_number.components_.toarray())
        sizes = {name: size for k in range(3) for name, _, size in model.group_table(k)}
        assert sizes.get("pathway", 2) == 2
        assert all(name == "pathway" or name.startswith("gene") for name in sizes)

    def test_weights_of_groups(self, X):
        ids = np.arange(30) // 5
        heavy = SparseLSA(3, alpha_topics=0.3, groups=ids, group_weights={2: 1000.0}, random_state=0).fit(X)
        assert not heavy.components_.toarray()[:, ids == 2].any()

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"groups": [0, 1]}, "30 terms"),
            ({"groups": {"a": []}}, "no terms"),
            ({"groups": {"a": [30]}}, "30 terms"),
            ({"groups": {"a": ["x"]}}, "no feature names"),
            ({"group_weights": {"a": 1}}, "groups"),
            ({"groups": {"a": [1]}, "group_weights": {"b": 1}}, "no group"),
            ({"groups": {"a": [1]}, "group_weights": {"a": -1}}, "group_weights"),
        ],
    )
    def test_what_is_wrong_with_groups(self, X, parameters, message):
        with pytest.raises(ValueError, match=message):
            SparseLSA(2, alpha_topics=0.1, **parameters).fit(X)

    def test_without_groups_there_is_no_table(self, X):
        with pytest.raises(ValueError, match="no groups"):
            SparseLSA(2, alpha_topics=0.1, random_state=0).fit(X).group_table(0)

    def test_saved_with_the_model(self, X, tmp_path):
        model = SparseLSA(3, alpha_topics=0.3, groups={"a": [0, 1], "b": [1, 2]}, random_state=0).fit(X)
        model.save(tmp_path / "model")
        loaded = laconic.load(tmp_path / "model").model
        assert loaded.group_table(1) == model.group_table(1)
        for mode in ("orthogonal", "lsq"):
            np.testing.assert_array_equal(loaded.transform(X, mode=mode), model.transform(X, mode=mode))


class TestDeadTopics:
    def test_a_topic_without_words_is_given_to_a_document(self, X):
        start = np.zeros((4, 30))
        start[0, 3] = start[1, 7] = 1
        model = SparseLSA(4, alpha_topics=0.3, init=start, random_state=0, tol=1e-6).fit(X)
        assert model.n_alive_ == 4
        assert (np.diff(model.objective_history_) <= 1e-10).all()

    def test_the_gain_is_what_was_foreseen(self, X):
        """New directions are orthonormal to the basis and to each other."""
        data = csr_array(X)
        start = np.zeros((30, 5))
        start[3, 0] = start[7, 1] = 1
        with Threads(1) as engine:
            steps = OrthogonalSteps(Shards.whole(data), csr_array(start), Soft(0.3, False, 30), engine)
            steps.documents()
            value = steps.topics()
            assert steps.revivals == 3
            steps.restart()
        A = steps.components.toarray().T
        U = polar(X @ A.T)
        assert objective(X, U, A, 0.3) <= value + 1e-10

    def test_empty_leading_documents_do_not_kill_topics(self, X):
        led = np.vstack([np.zeros((5, 30)), X])
        for init in ("identity", "documents", "svd"):
            model = SparseLSA(4, alpha_topics=0.3, init=init, random_state=0).fit(led)
            assert model.n_alive_ == 4

    def test_equal_documents_have_one_direction(self):
        X = np.repeat(np.eye(3, 6), [4, 4, 4], axis=0)
        model = SparseLSA(5, alpha_topics=0.1, random_state=0).fit(X)
        assert np.isfinite(model.whitening_).all()
        assert (np.diff(model.objective_history_) <= 1e-10).all()
        # nothing is left but what was shrunk
        assert model.score(X) == pytest.approx(1)


def test_more_topics_than_documents_are_refused(X):
    with pytest.raises(ValueError, match="n_components=41"):
        SparseLSA(41, alpha_topics=0.1).fit(X)


@pytest.mark.parametrize("rotate", [None, "varimax"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_singular_vectors_as_a_start(X, rotate, nonnegative):
    drawn = SparseLSA(4, alpha_topics=0.1, nonnegative=nonnegative, random_state=0).fit(X)
    model = SparseLSA(
        4, alpha_topics=0.1, init="svd", rotate=rotate, nonnegative=nonnegative, random_state=0
    ).fit(X)
    assert model.n_alive_ == 4
    assert model.objective_history_[-1] <= 1.1 * drawn.objective_history_[-1]
    with pytest.raises(ValueError, match="init='svd'"):
        SparseLSA(4, alpha_topics=0.1, rotate="varimax").fit(X)


def test_varimax_finds_simple_loads():
    rng = np.random.default_rng(3)
    simple = np.kron(np.eye(3), np.ones((5, 1))) * rng.uniform(1, 2, (15, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turned = simple @ turn
    found = turned @ varimax(turned, np.eye(turned.shape[1]))
    assert np.abs(np.sort(np.abs(found), axis=1)[:, :2]).max() < 0.05


def test_projections(X):
    model = SparseLSA(4, alpha_topics=0.3, random_state=0).fit(X)
    A = model.components_.toarray()
    np.testing.assert_allclose(model.transform(X).toarray(), X @ A.T, atol=1e-12)
    best = np.linalg.lstsq(A.T, X.T, rcond=None)[0].T
    np.testing.assert_allclose(model.transform(X, mode="lsq"), best, atol=1e-9)
    share = 1 - np.sum((X - best @ A) ** 2) / np.sum(X**2)
    assert model.score(X) == pytest.approx(share, abs=1e-12)
    with pytest.raises(ValueError, match="mode"):
        model.transform(X, mode="fold")


def test_pseudo_probabilities(X):
    model = SparseLSA(4, alpha_topics=0.3, nonnegative=True, random_state=0).fit(X)
    P = model.probabilities()
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(P.indices, model.components_.indices)
    with pytest.raises(ValueError, match="nonnegative"):
        SparseLSA(4, alpha_topics=0.3, random_state=0).fit(X).probabilities()


@pytest.mark.parametrize("n_topics", [20, 30])
def test_more_topics_than_directions_in_single_precision(n_topics):
    """Directions that are only rounding are not taken for real ones."""
    rng = np.random.default_rng(0)
    X = (rng.poisson(3, (80, 15)) * (rng.random((80, 15)) < 0.2)).astype(np.float32)
    single = SparseLSA(n_topics, alpha_topics=0.01, random_state=0).fit(X)
    exact = SparseLSA(n_topics, alpha_topics=0.01, random_state=0).fit(X.astype(float))
    energy = np.sum(X.astype(float) ** 2) / 2
    assert np.diff(single.objective_history_).max(initial=0) <= 1e-6 * energy
    assert single.objective_history_[-1] == pytest.approx(exact.objective_history_[-1], abs=1e-3 * energy)


def test_labels_of_groups_that_are_numbers(X):
    heavy = SparseLSA(
        2, alpha_topics=0.1, groups={0: [1, 2], 1: [3, 4]}, group_weights={0: 500.0}, random_state=0
    ).fit(X)
    A = heavy.components_.toarray()
    assert not A[:, [1, 2]].any()
    assert A[:, 0].any()
    with pytest.raises(ValueError, match="column numbers"):
        SparseLSA(2, alpha_topics=0.1, groups={"a": [1.7]}).fit(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("whitening_", csr_array(np.eye(3))),
        ("whitening_", np.eye(4)),
        ("components_", -np.ones((3, 30))),
        ("components_", csr_array(-np.ones((3, 30)))),
        ("group_norms_", csr_array(-np.ones((3, 8)))),
    ],
)
def test_stored_parts_that_do_not_fit_are_refused(X, tmp_path, name, value):
    model = SparseLSA(
        3, alpha_topics=0.3, nonnegative=True, groups=(np.arange(30) // 4).tolist(), random_state=0
    ).fit(X)
    setattr(model, name, value)
    model.save(tmp_path / "model")
    with pytest.raises(laconic.BundleError):
        laconic.load(tmp_path / "model")


def test_sums_of_earlier_batches_are_stored_together_or_not_at_all(X, tmp_path):
    model = SparseLSA(3, random_state=0).partial_fit(X)
    state = model._fitted_state()
    with pytest.raises(ValueError, match="seen_squares are missing"):
        SparseLSA(3)._restore({name: value for name, value in state.items() if name != "seen_squares"})
    assert SparseLSA(3)._restore(state).n_documents_seen_ == len(X)


def test_one_document_at_a_time_gives_the_same_topics(X):
    """R = AX'X is a sum over documents; U is needed nowhere."""
    A = X[:4].copy()
    model = SparseLSA(4, alpha_topics=0.2, init=A, max_iter=2, tol=0).fit(X)
    for _ in range(2):
        R = np.zeros((4, 30))
        for x in X:
            R += np.outer(A @ x, x)
        values, vectors = np.linalg.eigh(R @ A.T)
        A = soft(vectors / np.sqrt(values) @ vectors.T @ R, 0.2)
    signs = np.sign(np.sum(A * model.components_.toarray(), axis=1, keepdims=True))
    np.testing.assert_allclose(signs * model.components_.toarray(), A, atol=1e-10)


def test_streamed_from_disk_is_as_stored(tmp_path):
    """A corpus that is read from disk while it is fitted gives the bits of one in memory."""
    words = np.array(["ant", "bee", "cat", "dog", "elk", "fox"])
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 5)) for _ in range(30)]
    corpus = laconic.Corpus.from_texts(texts)
    corpus.save(tmp_path / "corpus")
    streamed = laconic.Corpus.load(tmp_path / "corpus")
    models = [SparseLSA(3, alpha_topics=0.1, random_state=0).fit(c.X) for c in (corpus, streamed)]
    np.testing.assert_array_equal(models[0].components_.toarray(), models[1].components_.toarray())


class TestPartialFit:
    def batches(self, X):
        return np.split(X, 4)

    def test_first_batch_is_a_fit(self, X):
        model = SparseLSA(5, alpha_topics=0.2, random_state=0)
        whole, part = SparseLSA(5, alpha_topics=0.2, random_state=0).fit(X), model.partial_fit(X)
        np.testing.assert_array_equal(whole.components_.toarray(), part.components_.toarray())
        np.testing.assert_array_equal(whole.objective_history_, part.objective_history_)
        assert whole.data_hash_ == part.data_hash_

    @pytest.mark.parametrize("groups", [None, {"even": range(0, 30, 2), "few": [0, 1, 2, 3]}])
    @pytest.mark.parametrize("nonnegative", [False, True])
    def test_objective_is_that_of_an_orthonormal_basis_of_all_documents(self, X, groups, nonnegative):
        """It is the objective of a basis UQ for documents before, so no basis of all has a higher one."""
        model = SparseLSA(
            5, alpha_topics=0.2, groups=groups, nonnegative=nonnegative, random_state=0, tol=1e-9
        )
        for n, batch in enumerate(self.batches(X), 1):
            model.partial_fit(batch)
            assert (np.diff(model.objective_history_) <= 1e-9).all()
            if groups is None:
                seen, A = X[: n * len(batch)], model.components_.toarray()
                best = objective(seen, polar(seen @ A.T), A, 0.2)
                assert best <= model.objective_history_[-1] + 1e-9
        assert model.n_documents_seen_ == 40

    def test_loses_little(self, X):
        rng = np.random.default_rng(3)
        X = np.maximum(rng.gamma(0.3, size=(200, 4)) @ rng.gamma(0.2, size=(4, 30)), 0)
        model = SparseLSA(4, alpha_topics=0.2, random_state=0)
        for batch in np.split(X, 10):
            model.partial_fit(batch)
        A = model.components_.toarray()
        whole = SparseLSA(4, alpha_topics=0.2, **LONG).fit(X).objective_history_[-1]
        assert objective(X, polar(X @ A.T), A, 0.2) <= 1.02 * whole

    def test_keeps_the_products_of_a_basis_and_of_the_best_directions_beyond(self, X):
        """With all documents in one batch, they are U'X, and those of leading directions outside of U."""
        model = SparseLSA(5, alpha_topics=0.2, random_state=0).partial_fit(X)
        U = model.transform(X, mode="orthogonal")
        own, further = np.split(model.seen_products_, [5], axis=1)
        np.testing.assert_allclose(np.abs(own), np.abs(X.T @ U), atol=1e-9)
        outside = np.square(np.linalg.svd(X - U @ (U.T @ X), compute_uv=False))
        # the leading values stand hardly out from the others here
        assert outside[:5].sum() >= np.square(further).sum() > 0.9 * outside[:5].sum() > 10 * outside.mean()

    def test_what_is_kept_are_products_with_orthonormal_directions(self, X):
        """B'B is nowhere more than X'X then, which is why the objective is an upper bound."""
        model = SparseLSA(5, alpha_topics=0.2, random_state=0)
        for n, batch in enumerate(self.batches(X), 1):
            model.partial_fit(batch)
            seen, kept = X[: 10 * n], model.seen_products_
            assert kept.shape == (30, 10)
            assert np.linalg.eigvalsh(seen.T @ seen - kept @ kept.T).min() > -1e-9

    def test_keeps_nothing_beyond_a_basis_that_has_all(self, X):
        model = SparseLSA(5, alpha_topics=1e-3, random_state=0).partial_fit(X[:5])
        assert model.seen_products_.shape == (30, 5)

    def test_directions_beyond_the_basis_bring_batches_nearer_to_a_fit(self, monkeypatch):
        rng = np.random.default_rng(0)
        X = rng.gamma(0.2, size=(200, 10)) @ rng.gamma(0.1, size=(10, 60)) + rng.gamma(0.1, size=(200, 60))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        whole = SparseLSA(10, alpha_topics=0.05, **LONG).fit(X).objective_history_[-1]
        lost = []
        for further in (0, 1):
            monkeypatch.setattr(orthogonal_steps, "FURTHER_PER_TOPIC", further)
            model = SparseLSA(10, alpha_topics=0.05, random_state=0)
            for batch in np.split(X, 10):
                model.partial_fit(batch)
            A = model.components_.toarray()
            lost.append(objective(X, polar(X @ A.T), A, 0.05) - whole)
        assert lost[1] < 0.7 * lost[0]

    @pytest.mark.parametrize("scale", [1e-8, 1e7])
    def test_directions_beyond_the_basis_do_not_depend_on_the_scale(self, X, scale):
        models = [
            SparseLSA(5, random_state=0).partial_fit((X * factor).astype(np.float32)) for factor in (1, scale)
        ]
        energies = [np.square(model.seen_products_.astype(float)).sum() for model in models]
        assert energies[1] / scale**2 == pytest.approx(energies[0], rel=1e-3)

    def test_goes_on_from_what_earlier_versions_kept(self, X):
        """They kept the directions of the topics alone."""
        model = SparseLSA(5, alpha_topics=0.2, random_state=0).partial_fit(X[:20])
        state = model._fitted_state()
        state["seen_products"] = state["seen_products"][:, :5].copy()
        old = SparseLSA(5, alpha_topics=0.2, random_state=0)._restore(state).partial_fit(X[20:])
        assert old.n_documents_seen_ == 40
        A = old.components_.toarray()
        assert objective(X, polar(X @ A.T), A, 0.2) <= old.objective_history_[-1] + 1e-9
        for columns in (4, 11):
            wrong = state | {"seen_products": np.ones((30, columns))}
            with pytest.raises(ValueError, match=f"there are {columns} directions, not 5 to 10"):
                SparseLSA(5)._restore(wrong)

    def test_decay_of_zero_forgets(self, X):
        first, second = X[:20], X[20:]
        model = SparseLSA(5, alpha_topics=0.2, random_state=0).partial_fit(first).partial_fit(second, decay=0)
        U = model.transform(second, mode="orthogonal")
        np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-8)
        np.testing.assert_allclose(
            model.objective_history_[-1],
            objective(second, U, model.components_.toarray(), 0.2),
            rtol=1e-4,
        )

    def test_the_same_bits_after_loading_and_for_any_number_of_threads(self, X, tmp_path):
        parts = self.batches(X)
        model = (
            SparseLSA(5, alpha_topics=0.2, random_state=0, n_jobs=1)
            .partial_fit(parts[0])
            .partial_fit(parts[1])
        )
        model.save(tmp_path / "model")
        loaded = laconic.load(tmp_path / "model").model.set_params(n_jobs=2)
        for other in (model, loaded):
            other.partial_fit(parts[2])
        np.testing.assert_array_equal(model.components_.toarray(), loaded.components_.toarray())
        assert loaded.n_documents_seen_ == 30
        assert loaded.data_hash_ == model.data_hash_

    def test_parameters_changed_between_batches(self, X):
        first, second = X[:20], X[20:]
        model = SparseLSA(3, alpha_topics=0.1, random_state=0).partial_fit(first)
        for change in ({"n_components": 5}, {"n_components": 2}, {"groups": np.arange(30) // 3}):
            changed = copy.deepcopy(model).set_params(**change)
            with pytest.raises(ValueError, match="changed since the last batch"):
                changed.partial_fit(second)
        few = copy.deepcopy(model).set_params(alpha_topics=2.0).partial_fit(second)
        assert few.alpha_topics_ == 2
        assert few.density_ < model.partial_fit(second).density_

    def test_topics_keep_their_numbers_however_much_is_forgotten(self, X):
        """What decay leaves of the products may be less than the penalty: topics start as they were."""
        blocks = np.kron(np.eye(3), np.ones((1, 10)))
        documents = np.repeat(blocks, 10, axis=0) * np.random.default_rng(0).random((30, 30))
        model = SparseLSA(3, alpha_topics=0.5, random_state=0).partial_fit(documents)
        before = model.components_.toarray()
        after = model.partial_fit(documents, decay=0.01).components_.toarray()
        cosines = (before * after).sum(1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
        assert cosines.min() > 0.9

    def test_a_batch_may_be_small_or_empty_of_words(self, X):
        model = SparseLSA(5, alpha_topics=0.2, random_state=0).partial_fit(X)
        before = model.objective_history_[-1]
        model.partial_fit(np.zeros((1, 30)))
        assert model.objective_history_[-1] <= before
        assert model.partial_fit(X[:1]).n_documents_seen_ == 42

    def test_a_bad_batch_changes_nothing(self, X):
        model = SparseLSA(5, alpha_topics=0.2, random_state=0).partial_fit(X)
        topics = model.components_.toarray()
        for bad, complaint in [(X[:, :7], "features"), (X * np.nan, "NaN"), (X * 1e200, "scale X down")]:
            with pytest.raises(ValueError, match=complaint):
                model.partial_fit(bad)
        with pytest.raises(ValueError, match="decay must be a number from 0 to 1"):
            model.partial_fit(X, decay=1.5)
        np.testing.assert_array_equal(topics, model.components_.toarray())
        assert model.n_documents_seen_ == 40

    def test_first_batch_needs_as_many_documents_as_topics(self, X):
        with pytest.raises(ValueError, match="n_samples=3"):
            SparseLSA(5).partial_fit(X[:3])

    @pytest.mark.parametrize("groups", [None, np.arange(30) // 4])
    def test_goes_on_from_the_topics_of_a_fit(self, X, groups):
        """Without a word in the new documents, topics explain nearly as much as before."""
        model = SparseLSA(5, alpha_topics=0.2, groups=groups, random_state=0).fit(X)
        before = model.score(X)
        model.partial_fit(np.zeros((1, 30)))
        assert model.score(X) > 0.97 * before
        assert model.n_documents_seen_ == 1
        assert not hasattr(model.fit(X), "seen_products_")


def test_penalties_just_below_the_largest_leave_something():
    """No document alone outweighs the penalty, but a word of many does."""
    rng = np.random.default_rng(0)
    X = (rng.random((300, 12)) < 0.3) / 3.0
    limit = SparseLSA(2, alpha_topics=0.1, random_state=0).fit(X).alpha_max_
    assert SparseLSA(2, alpha_topics=0.6 * limit, random_state=0).fit(X).n_alive_ == 2


def test_groups_as_an_array_of_names_can_be_saved(X, tmp_path):
    groups = np.array(["front", "back"])[np.arange(30) // 15]
    model = SparseLSA(3, alpha_topics=0.1, groups=groups, random_state=0).fit(X)
    model.save(tmp_path / "model")
    assert laconic.load(tmp_path / "model").model.group_table(0) == model.group_table(0)


def test_group_table_is_that_of_the_fit(X):
    model = SparseLSA(3, alpha_topics=0.1, random_state=0).fit(X).set_params(groups=np.arange(30) // 15)
    with pytest.raises(ValueError, match="no groups of terms"):
        model.group_table(0)


def test_the_number_of_topics_is_that_of_the_fit(X, tmp_path):
    model = SparseLSA(3, alpha_topics=0.1, random_state=0).fit(X).set_params(n_components=7)
    assert model.transform(X).shape == (40, 3)
    with pytest.raises(ValueError, match="ask for 7 topics, but the fit found 3"):
        model.save(tmp_path / "model")
