"""The mathematics of PLSA and of NMF with divergence: worked examples, optimality, limits, whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn import decomposition
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import laconic
from laconic import NMF, PLSA
from laconic.engines import Block, Shards, Threads
from laconic.losses.divergence.likelihood import Likelihood
from laconic.losses.divergence.mixtures import Mixture, Separate
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.loop import Patience, alternate

SIMPLEX = Mixture(True)
EXACT = {"max_iter": 20_000, "tol": 1e-13, "random_state": 0}


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.4, 2.0, (40, 25))).astype(float)
    X[np.arange(40), np.arange(40) % 25] += 1
    return X


def simplex(rows, columns, seed):
    A = np.random.default_rng(seed).random((rows, columns)) + 0.1
    return A / A.sum(axis=1, keepdims=True)


def ratio(X, fitted):
    return np.divide(X, fitted, out=np.zeros_like(X), where=X > 0)


def divergence(X, fitted):
    seen = X > 0
    return np.sum(X[seen] * np.log(X[seen] / fitted[seen]))


def run(X, W, C, *, max_iter, mixture=SIMPLEX, threads=2, segments=None):
    """The steps from a start, with what the callback was told."""
    told = []
    shards = Shards.whole(csr_array(X))
    shards[0].weights = W.copy()
    with Threads(threads) as engine:
        topics = np.ascontiguousarray(C.T)
        steps = DivergenceSteps(shards, topics, Separate(mixture), engine, segments=segments)
        patience = Patience(max_iter, -np.inf, lambda p: told.append(p.objective) and None)
        trace = alternate(steps, patience)
    return shards[0].weights, steps.components.T, trace, told


def naive(X, W, C, n_iter):
    """Whole matrices; the objective after every half step."""
    objectives = []
    for _ in range(n_iter):
        W = W * (ratio(X, W @ C) @ C.T)
        W = W / W.sum(axis=1, keepdims=True)
        objectives.append(divergence(X, W @ C))
        C = C * (W.T @ ratio(X, W @ C))
        C = C / C.sum(axis=1, keepdims=True)
        objectives.append(divergence(X, W @ C))
    return W, C, objectives


class TestWorkedExample:
    X = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    W = np.full((2, 2), 0.5)
    C = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])

    def test_documents(self):
        W, _, _, _ = run(self.X, self.W, self.C, max_iter=1)
        np.testing.assert_allclose(W, [[11 / 18, 7 / 18], [3 / 8, 5 / 8]], rtol=1e-14)

    def test_topics_from_the_same_ratios(self):
        """The example updates both sides at once: the topics' step at the first weights."""
        shards = Shards.whole(csr_array(self.X))
        shards[0].weights = self.W.copy()
        with Threads(1) as engine:
            steps = DivergenceSteps(shards, np.ascontiguousarray(self.C.T), Separate(SIMPLEX), engine)
            loss = steps.topics()
        expected = [[0.4, 0.3, 0.3], [2 / 11, 3 / 11, 6 / 11]]
        np.testing.assert_allclose(steps.components.T, expected, rtol=1e-14)
        likelihood = np.sum(self.X[self.X > 0] * np.log(self.X[self.X > 0])) - loss
        assert likelihood == pytest.approx(-7.676734987298, abs=1e-12)


def test_equals_whole_matrices(counts):
    W, C = simplex(40, 4, 1), simplex(4, 25, 2)
    ours = run(counts, W, C, max_iter=15)
    theirs = naive(counts, W, C, 15)
    np.testing.assert_allclose(ours[3], theirs[2], rtol=1e-12)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-12)
    np.testing.assert_allclose(ours[2].history, theirs[2][1::2], rtol=1e-12)


def test_topics_and_weights_are_distributions(counts):
    model = PLSA(4, **EXACT).fit(counts)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1, atol=1e-12)
    assert model.components_.min() >= 0


def test_nothing_is_left_to_gain(counts):
    """KKT of both sides: what is there gains as much as any other, what is not no more."""
    model = PLSA(3, **EXACT).fit(counts)
    W, C = model.transform(counts), model.components_
    r = ratio(counts, W @ C)
    s, lengths = r @ C.T, counts.sum(axis=1, keepdims=True)
    assert np.abs(W * (s - lengths)).max() < 1e-3 * lengths.max()
    assert (s - lengths).max() < 1e-2 * lengths.max()
    t = W.T @ r
    shared = np.sum(C * t, axis=1, keepdims=True)
    assert np.abs(C * (t - shared)).max() < 1e-4 * shared.max()


def test_folding_in_finds_the_most_likely_weights(counts):
    model = PLSA(4, random_state=0).fit(counts)
    C = model.components_
    for x, w in zip(counts[:6], model.set_params(tol=1e-10).transform(counts[:6]), strict=True):
        seen = x > 0

        def loss(v, x=x, seen=seen):
            p = np.exp(v - v.max())
            return -np.sum(x[seen] * np.log((p / p.sum()) @ C[:, seen]))

        best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
        assert -np.sum(x[seen] * np.log(w @ C[:, seen])) <= best.fun + 1e-6 * abs(best.fun)


def test_squared_extrapolation_never_ends_worse_than_plain_steps(counts):
    C = simplex(6, 25, 5)
    with Threads(1) as engine:
        W = Likelihood(6, SIMPLEX, 1e-10).fold_in(C, float, engine).weights(csr_array(counts), engine)
    plain = np.full((40, 6), 1 / 6)
    for _ in range(3000):
        plain = plain * (ratio(counts, plain @ C) @ C.T)
        plain /= plain.sum(axis=1, keepdims=True)
    for x, fast, slow in zip(counts, W @ C, plain @ C, strict=True):
        assert divergence(x, fast) <= divergence(x, slow) * (1 + 1e-9) + 1e-9


def test_nmf_with_divergence_is_plsa_times_the_lengths(counts):
    plsa = PLSA(4, **EXACT).fit(counts)
    nmf = NMF(4, loss="kl", **EXACT).fit(counts)
    fitted = counts.sum(axis=1, keepdims=True) * plsa.inverse_transform(plsa.transform(counts))
    # not the same bits, so perhaps not the same number of slow last iterations
    np.testing.assert_allclose(nmf.inverse_transform(nmf.transform(counts)), fitted, atol=2e-2)
    np.testing.assert_allclose(nmf.transform(counts).sum(axis=1), counts.sum(axis=1), rtol=1e-6)
    assert nmf.score(counts) == pytest.approx(plsa.score(counts), abs=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nmf_with_divergence_beside_scikit_learn(counts):
    """From the same start to the same divergence (the steps differ: topics sum to one here at all times)."""
    W, C = simplex(40, 4, 1), simplex(4, 25, 2)
    W = W * counts.sum(axis=1, keepdims=True)
    peer = decomposition.NMF(
        4, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=3000, tol=0
    )
    theirs = peer.fit_transform(counts, W=W.copy(), H=C.copy()) @ peer.components_
    ours = run(counts, W, C, max_iter=3000, mixture=Mixture(False))
    # both are slow in the end, and not equally
    assert divergence(counts, ours[0] @ ours[1]) == pytest.approx(divergence(counts, theirs), rel=1e-3)


def test_segments_have_topics_of_their_own(counts):
    """Columns side by side whose topics each sum to one: one model for each modality, tied weights."""
    segments = [Block(0, 10), Block(10, 25)]
    C = np.hstack([simplex(4, 10, 2), simplex(4, 15, 3)])
    W, C, trace, told = run(counts, simplex(40, 4, 1), C, max_iter=20, segments=segments)
    np.testing.assert_allclose(C[:, :10].sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(C[:, 10:].sum(axis=1), 1, atol=1e-12)
    assert (np.diff(told) <= 1e-10).all()
    assert trace.history[-1] == pytest.approx(divergence(counts, W @ C), rel=1e-12)


def test_perplexity(counts):
    model = PLSA(4, random_state=0).fit(counts)
    seen = counts > 0
    chances = (model.transform(counts) @ model.components_)[seen]
    expected = np.exp(-np.sum(counts[seen] * np.log(chances)) / counts.sum())
    assert model.perplexity(counts) == pytest.approx(expected, rel=1e-10)
    assert 1 < expected < 25
    with pytest.raises(ValueError, match="no words"):
        model.perplexity(np.zeros((2, 25)))


def test_words_that_no_topic_knows_are_left_out(counts):
    X = counts.copy()
    X[:, 3] = 0
    model = PLSA(4, random_state=0).fit(X)
    new = X[:5].copy()
    known = model.transform(new)
    new[:, 3] = 7
    np.testing.assert_array_equal(model.transform(new), known)
    assert np.isfinite(model.perplexity(new))
    assert np.isfinite(model.score(new))


def test_given_topics_get_the_words_that_all_of_them_lack(counts):
    topics = simplex(3, 25, 0)
    topics[:, :2] = 0
    model = PLSA(3, init=topics, random_state=0).fit(counts)
    assert model.components_[:, :2].max() > 0
    assert np.isfinite(model.objective_history_).all()


def test_stored_zeros_are_not_words(counts):
    X = csr_array(counts)
    X.data[::7] = 0
    clean = X.copy()
    clean.eliminate_zeros()
    stored, without = PLSA(3, random_state=0).fit(X), PLSA(3, random_state=0).fit(clean)
    np.testing.assert_array_equal(stored.components_, without.components_)
    np.testing.assert_array_equal(stored.transform(X), without.transform(clean))


def test_documents_of_one_word_and_very_long_ones():
    X = np.zeros((4, 3))
    X[0, 0] = 1
    X[1] = [1e6, 1, 1]
    X[2, 2] = 1e-3
    for dtype in (np.float32, np.float64):
        model = PLSA(2, random_state=0).fit(X.astype(dtype))
        assert np.isfinite(model.components_).all()
        assert np.isfinite(model.transform(X.astype(dtype))).all()
        assert np.isfinite(model.score(X.astype(dtype)))


def test_a_topic_that_no_document_has_stays_what_it_was(counts):
    W, C = simplex(40, 3, 1), simplex(3, 25, 2)
    W[:, 1] = 0
    _, topics, _, told = run(counts, W / W.sum(axis=1, keepdims=True), C, max_iter=5)
    np.testing.assert_allclose(topics[1], C[1], atol=1e-15)
    assert np.isfinite(told).all()


@pytest.mark.parametrize("model", [PLSA(3), NMF(3, loss="kl")])
def test_a_given_topic_without_words_begins_as_the_collection(counts, model):
    init = simplex(3, 25, 0)
    init[2] = 0
    fitted = clone(model).set_params(init=init).fit(counts)
    np.testing.assert_allclose(fitted.components_.sum(axis=1), 1, atol=1e-12)


def test_words_with_hardly_a_chance_are_not_lost():
    X = np.float32([[1, 2, 50_000], [2, 1, 0]])
    model = PLSA(2, init=[[0.5, 0.5, 0], [0.5, 0.5, 1e-36]]).fit(X)
    assert model.components_[:, 2].max() > 0.9


@pytest.mark.parametrize("scale", [1e-6, 0.0139, 1.0, 1e3])
def test_when_a_fit_stops_does_not_depend_on_the_scale(counts, scale):
    expected = PLSA(4, random_state=0).fit(counts)
    model = PLSA(4, random_state=0).fit(scale * counts)
    assert model.n_iter_ == expected.n_iter_
    assert model.objective_history_[-1] == pytest.approx(scale * expected.objective_history_[-1], rel=1e-9)


def test_the_objective_is_the_divergence(counts):
    model = PLSA(4, random_state=0, max_iter=5, tol=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(counts)
    assert model.objective_history_[-1] > 0
    lengths = counts.sum(axis=1, keepdims=True)
    best = divergence(counts, lengths * model.inverse_transform(model.transform(counts)))
    assert best <= model.objective_history_[-1] <= 1.2 * best


def tampered(change, tmp_path, model):
    """Save the model with other components, and load it."""
    broken = clone(model).fit([[1, 2, 0], [2, 1, 1], [0, 1, 3]])
    broken.components_ = change(broken.components_)
    broken.save(tmp_path / "model")
    return laconic.load(tmp_path / "model")


@pytest.mark.parametrize("model", [PLSA(2, random_state=0), NMF(2, loss="kl", random_state=0)])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda C: -C, "negative"),
        (lambda C: 1e5 * C, "sum to one"),
        (lambda C: 0 * C, "no topic has a word"),
        (csr_array, "sparse"),
    ],
)
def test_stored_topics_that_are_no_distributions_are_refused(tmp_path, model, change, message):
    with pytest.raises(laconic.BundleError, match=message):
        tampered(change, tmp_path, model)
