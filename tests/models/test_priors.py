"""Priors on documents' weights: worked examples, the exact steps, and the zeros they lead to."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.sparse import issparse

import laconic
from laconic import NMF, PLSA, priors
from laconic.kernels import mixtures
from laconic.losses.divergence.mixtures import Mixture

RUN = {"max_iter": 5000, "tol": 1e-10, "random_state": 0}


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(30, 0.1), 5)
    weights = rng.dirichlet(np.full(5, 0.3), 60)
    return rng.poisson(80 * weights @ topics).astype(float)


def updated(expected, w, mixture):
    new = np.array([w], float)
    mixtures.update_rows(np.array([expected], float), new, *mixture)
    return new[0]


class TestWorkedExample:
    q, w = (2.0, 2.0), (1.0, 1.0)

    def test_maximum_likelihood(self):
        np.testing.assert_allclose(updated(self.q, self.w, Mixture(False)), [2, 2])

    def test_exponential(self):
        mixture = Mixture(False, *priors.Exponential(1.0).terms)
        np.testing.assert_allclose(updated(self.q, self.w, mixture), [1, 1])

    def test_pareto(self):
        mixture = Mixture(False, *priors.Pareto(2.0).terms)
        np.testing.assert_allclose(updated(self.q, self.w, mixture), np.sqrt(3) - 1)

    def test_pseudo_dirichlet(self):
        mixture = Mixture(True, *priors.PseudoDirichlet(1.0).terms)
        w = updated((3.0, 1.0), (0.5, 0.5), mixture)
        np.testing.assert_allclose(w, [0.75, 0.25], rtol=1e-14)
        w = updated((3.0, 1.0), w, mixture)
        np.testing.assert_allclose(w, [0.76041065, 0.23958935], atol=1e-8)
        for _ in range(200):
            w = updated((3.0, 1.0), w, mixture)
        np.testing.assert_allclose(w, [0.76087672, 0.23912328], atol=1e-8)


@pytest.mark.parametrize("eps", [1e-3, 0.3, 1.0])
@pytest.mark.parametrize("q", [1e-6, 0.2, 5.0, 300.0])
def test_the_free_step_is_the_exact_minimiser(q, eps):
    mixture = Mixture(False, 0.0, 1.5, eps)
    (w,) = updated((q,), (1.0,), mixture)
    best = minimize_scalar(
        lambda u: -q * np.log(u) + u + 1.5 * np.log(u + eps),
        bounds=(1e-12, 400),
        method="bounded",
        options={"xatol": 1e-12},
    )
    value = -q * np.log(w) + w + 1.5 * np.log(w + eps)
    assert value <= best.fun + 1e-9 * max(1, abs(best.fun))


@pytest.mark.parametrize("seed", range(20))
def test_the_step_on_the_simplex_against_bisection(seed):
    rng = np.random.default_rng(seed)
    q = rng.gamma(0.3, 10, 7)
    q[rng.integers(7)] = 0
    w = rng.dirichlet(np.ones(7))
    weight, eps = rng.gamma(1, 2), 10.0 ** rng.uniform(-4, 0)
    pull = weight / (w + eps)
    low = (q - pull)[q > 0].max()
    # the largest term alone is at least one there, and at the right end no term can be left over
    eta = brentq(lambda e: np.sum(q / (e + pull)) - 1, low, q.sum() + 1, xtol=1e-15, rtol=1e-15)
    new = updated(q, w, Mixture(True, 0.0, weight, eps))
    np.testing.assert_allclose(new, q / (eta + pull), atol=1e-9)
    assert new.sum() == pytest.approx(1, abs=1e-14)


def test_the_exponential_prior_only_rescales(counts):
    plain = NMF(5, loss="kl", **RUN).fit(counts)
    model = NMF(5, loss="kl", prior=priors.Exponential(3.0), **RUN).fit(counts)
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-4)
    np.testing.assert_allclose(4 * model.transform(counts), plain.transform(counts), atol=1e-3)
    assert (model.transform(counts[counts.any(axis=1)]) > 0).mean() > 0.9
    with pytest.raises(ValueError, match="constant"):
        PLSA(5, prior=priors.Exponential(3.0)).fit(counts)


MODELS = {
    "plsa": PLSA(5, prior=priors.PseudoDirichlet(0.02), **RUN),
    "plsa-pareto": PLSA(5, prior=priors.Pareto(20.0), **RUN),
    "nmf": NMF(5, loss="kl", prior=priors.Pareto(2.0), **RUN),
    "nmf-pseudo-dirichlet": NMF(5, loss="kl", prior=priors.PseudoDirichlet(0.5), **RUN),
}


@pytest.mark.parametrize("name", MODELS)
def test_documents_have_fewer_topics_than_the_most_likely_ones(counts, name):
    model = MODELS[name].fit(counts)
    W = model.transform(counts)
    assert issparse(W)
    assert W.nnz / (60 * 5) < 0.75
    assert model.doc_density_ < 0.75
    if name.startswith("plsa"):
        np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_stationary_and_zero_only_where_that_pays(counts, name):
    model = MODELS[name].fit(counts)
    W, C = dense(model.transform(counts)), model.components_
    rate, weight, eps = model.prior.terms
    words = counts.sum(axis=1) > 0
    W, X = W[words], counts[words]
    fitted = W @ C
    assert (fitted[X > 0] > 0).all()
    s = np.divide(X, fitted, out=np.zeros_like(X), where=X > 0) @ C.T
    gain = s - weight / (W + eps)
    level = (
        np.sum(W * gain, axis=1, keepdims=True) if name.startswith("plsa") else np.full((len(W), 1), 1 + rate)
    )
    size = X.sum(axis=1, keepdims=True)
    scaled = W if name.startswith("plsa") else W / size
    assert np.abs(scaled * (gain - level)).max() < 2e-3 * size.max()
    assert (gain - level)[W == 0].max() <= 1e-6 * size.max()
    assert (W == 0).any()


def test_few_documents_for_each_topic(counts):
    plain = PLSA(5, **RUN).fit(counts)
    model = PLSA(5, prior=priors.PseudoDirichlet(1 / 60, weight=2.0, over="documents"), **RUN).fit(counts)
    assert (np.diff(model.objective_history_) <= 1e-9).all()
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, atol=1e-12)
    assert not issparse(model.transform(counts))
    assert np.abs(model.components_ - plain.components_).max() > 1e-3
    with pytest.raises(ValueError, match="over documents"):
        NMF(5, loss="kl", prior=priors.PseudoDirichlet(over="documents")).fit(counts)


def test_the_start_is_maximum_likelihood_and_not_in_the_history(counts):
    phases = []
    model = PLSA(5, prior=priors.PseudoDirichlet(0.02), **RUN)
    model.fit(counts, callback=lambda p: phases.append(p.phase) and None)
    switch = phases.index("fit")
    assert set(phases[:switch]) == {"start"}
    assert set(phases[switch:]) == {"fit"}
    assert len(phases) - switch in (2 * model.n_iter_, 2 * model.n_iter_ + 1)
    stopped = PLSA(5, prior=priors.PseudoDirichlet(0.02), **RUN).fit(counts, callback=lambda p: True)
    assert stopped.n_iter_ == 0
    assert np.isfinite(stopped.components_).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: priors.Pareto(-1), "shape"),
        (lambda: priors.Exponential(np.nan), "rate"),
        (lambda: priors.PseudoDirichlet(0.0), "eps"),
        (lambda: priors.PseudoDirichlet(0.1, weight=-1), "weight"),
        (lambda: priors.PseudoDirichlet(0.1, over="words"), "over"),
        (lambda: PLSA(2, prior="pareto").fit([[1, 2], [2, 1]]), "laconic.priors"),
    ],
)
def test_bad_priors_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_priors_can_be_imported_first():
    subprocess.run([sys.executable, "-c", "import laconic.priors"], check=True)


def test_a_prior_is_saved_with_its_model(counts, tmp_path):
    model = MODELS["plsa"].fit(counts)
    model.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert loaded.prior == model.prior
    assert loaded.doc_density_ == model.doc_density_
    np.testing.assert_array_equal(dense(loaded.transform(counts)), dense(model.transform(counts)))


@pytest.mark.parametrize("prior", [priors.Pareto(1.0), priors.PseudoDirichlet(1e-6, weight=1e17)])
def test_tiny_documents_have_weights_too(counts, prior):
    X = counts.copy()
    X[3] = 0
    X[3, 4] = 1e-18
    model = PLSA(3, prior=prior, random_state=0).fit(X)
    W = dense(model.transform(X))
    assert np.isfinite(W).all()
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_sharp_prior_over_documents_never_raises_the_objective(counts):
    prior = priors.PseudoDirichlet(1e-18, over="documents")
    model = PLSA(3, prior=prior, random_state=0, tol=0, max_iter=60).fit(counts)
    assert (np.diff(model.objective_history_) <= 1e-10 * np.abs(model.objective_history_[:-1])).all()


def test_zeros_do_not_depend_on_the_type():
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(60, 0.1), 12)
    X = rng.poisson(60 * rng.dirichlet(np.full(12, 0.1), 100) @ topics).astype(float)
    model = PLSA(12, prior=priors.PseudoDirichlet(0.02), random_state=0).fit(X)
    exact = model.transform(X)
    model.components_ = model.components_.astype(np.float32)
    single = model.transform(X.astype(np.float32))
    assert abs(single.nnz - exact.nnz) <= 0.02 * exact.nnz
    assert exact.data.min() > 1e-9


def test_without_weight_there_is_no_second_fit(counts):
    plain = PLSA(5, **RUN).fit(counts)
    model = PLSA(5, prior=priors.PseudoDirichlet(0.5, weight=0.0), **RUN).fit(counts)
    np.testing.assert_array_equal(model.components_, plain.components_)
