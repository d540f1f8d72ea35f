"""The solvers of PLSA and of NMF with divergence: the same problem, sooner."""

from __future__ import annotations

import numpy as np
import pytest
from planting import planted
from scipy.sparse import csr_array

import laconic
from laconic import NMF, PLSA, priors
from laconic.engines import Block, Shards, Threads
from laconic.losses.divergence.mixtures import Descended, Mixture, Separate
from laconic.losses.divergence.sooner import DescentSteps, ExtrapolatedSteps
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.loop import Patience, alternate

SOLVERS = ("extrapolated", "cd")
SIMPLEX = Mixture(True)


@pytest.fixture(scope="module")
def X():
    return planted(300, 120, seed=5, dtype=np.float64)


def divergence(X, W, C):
    X = X.toarray()
    seen = X > 0
    return np.sum(X[seen] * np.log((X / X.sum(axis=1, keepdims=True).clip(1e-300))[seen] / (W @ C)[seen]))


def steps_of(solver, X, engine, n_topics=4, n_shards=1, plain=3):
    shards = Shards.cut(csr_array(X), n_shards)
    for shard in shards:
        shard.allot(n_topics, 1 / n_topics)
    topics = np.random.default_rng(2).random((X.shape[1], n_topics)).astype(X.dtype)
    topics /= topics.sum(axis=0)
    first = Separate(SIMPLEX)
    if solver == "em":
        return DivergenceSteps(shards, topics, first, engine)
    if solver == "cd":
        return DescentSteps(shards, topics, first, SIMPLEX, engine, plain=plain)
    return ExtrapolatedSteps(shards, topics, first, Descended(SIMPLEX), engine, plain=plain)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_first_steps_are_plain(X, solver):
    with Threads(1) as engine:
        plain, ours = (steps_of(name, X, engine) for name in ("em", solver))
        for _ in range(3):
            assert plain.documents() == ours.documents()
            assert plain.topics() == pytest.approx(ours.topics(), rel=1e-14)
        np.testing.assert_allclose(ours.components, plain.components, atol=1e-15)
        np.testing.assert_array_equal(ours.shards[0].weights, plain.shards[0].weights)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_sooner_than_expectation_maximisation(X, solver):
    plain = PLSA(5, solver="em", random_state=1, tol=1e-9, max_iter=3000).fit(X)
    goal = plain.objective_history_[-1] * 1.001
    iterations = int(np.argmax(plain.objective_history_ <= goal))
    ours = PLSA(5, solver=solver, random_state=1, tol=0, max_iter=10 + iterations // 2).fit(X)
    assert ours.objective_history_[-1] <= goal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bits_do_not_depend_on_threads_after_many_iterations(solver, dtype):
    X = planted(2500, 1200, seed=3, dtype=dtype)
    fits = [PLSA(6, solver=solver, random_state=0, n_jobs=n, max_iter=25, tol=0).fit(X) for n in (1, 3)]
    assert fits[0].components_.tobytes() == fits[1].components_.tobytes()
    assert fits[0].objective_history_.tobytes() == fits[1].objective_history_.tobytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extrapolation_is_additive_over_shards(X):
    whole = PLSA(4, random_state=0, max_iter=30, tol=0).fit(X)
    cut = PLSA(4, random_state=0, max_iter=30, tol=0).fit(Shards.cut(X.copy(), 5))
    np.testing.assert_allclose(cut.objective_history_, whole.objective_history_, rtol=1e-9)
    np.testing.assert_allclose(cut.components_, whole.components_, atol=1e-6)


@pytest.mark.parametrize("n_shards", [1, 3])
def test_the_objective_never_rises_and_is_that_of_what_was_found(X, n_shards):
    """Whenever the loop ends, after a step that was taken back too."""
    for max_iter in range(3, 60, 4):
        told = []
        with Threads(2) as engine:
            steps = steps_of("extrapolated", X, engine, n_shards=n_shards)
            patience = Patience(max_iter, 1e-5, lambda p, told=told: told.append(p.objective) and None)
            trace = alternate(steps, patience)
        assert np.all(np.diff(told) <= 1e-12 * told[0])
        W = np.concatenate([shard.weights for shard in steps.shards])
        lengths = X.sum(axis=1)
        found = divergence(X, W, steps.components.T) + np.sum(lengths * np.log(lengths.clip(1e-300)))
        assert trace.history[-1] == pytest.approx(found, rel=1e-10)


def test_topics_that_go_too_far_are_taken_back(X):
    """From topics that were made worse, the step is done again from the last ones."""
    with Threads(1) as engine:
        steps = steps_of("extrapolated", X, engine, plain=1)
        for _ in range(8):
            steps.documents()
            last = steps.topics()
        kept, weights = steps.components, steps.shards[0].weights.copy()
        steps.documents()
        assert steps._ahead is not steps.components
        steps._ahead = np.full_like(kept, 1 / len(kept))
        before = steps.components
        assert steps.topics() <= last
        assert steps._before is before
        fresh = DivergenceSteps(steps.shards, kept.copy(), Separate(SIMPLEX), engine)
        fresh.shards[0].weights = weights
        Descended(SIMPLEX).solve(fresh.shards, kept, engine)
        fresh.topics()
        np.testing.assert_allclose(steps.components, fresh.components, atol=1e-15)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["plsa", "nmf"])
def test_words_that_a_topic_may_not_have_stay_away(X, solver, kind):
    init = np.random.default_rng(0).random((4, X.shape[1]))
    init[0, :40] = init[2, 60:] = 0
    model = PLSA(4, solver=solver) if kind == "plsa" else NMF(4, loss="kl", solver=solver)
    found = model.set_params(init=init, max_iter=40, tol=0).fit(X).components_
    assert not found[0, :40].any()
    assert not found[2, 60:].any()
    assert (found[1] > 0).sum() > 100


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_segments_sum_to_one_each(X):
    segments = [Block(0, 50), Block(50, X.shape[1])]
    shards = Shards.whole(csr_array(X))
    shards[0].allot(3, 1 / 3)
    topics = np.random.default_rng(2).random((X.shape[1], 3))
    for segment in segments:
        topics[slice(*segment)] /= topics[slice(*segment)].sum(axis=0)
    told = []
    with Threads(1) as engine:
        steps = ExtrapolatedSteps(
            shards, topics, Separate(SIMPLEX), Descended(SIMPLEX), engine, segments=segments
        )
        alternate(steps, Patience(40, 0, lambda p: told.append(p.objective) and None))
    assert np.all(np.diff(told) <= 1e-12 * told[0])
    for segment in segments:
        np.testing.assert_allclose(steps.components[slice(*segment)].sum(axis=0), 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_nmf_has_the_weights_that_plsa_has_times_the_lengths(X, solver):
    exact = {"random_state": 0, "tol": 1e-12, "max_iter": 5000}
    ours = NMF(3, loss="kl", solver=solver, **exact).fit(X)
    theirs = PLSA(3, solver=solver, **exact).fit(X)
    assert ours.objective_history_[-1] == pytest.approx(theirs.objective_history_[-1], rel=1e-5)


def test_nmf_calls_expectation_maximisation_multiplicative_updates(X):
    fits = [NMF(3, loss="kl", solver=name, random_state=0, tol=1e-3).fit(X) for name in ("em", "mu")]
    assert fits[0].components_.tobytes() == fits[1].components_.tobytes()
    default = NMF(3, loss="kl", random_state=0, tol=1e-3).fit(X)
    named = NMF(3, loss="kl", solver="extrapolated", random_state=0, tol=1e-3).fit(X)
    assert default.components_.tobytes() == named.components_.tobytes()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PLSA(solver="mu"), "solver='mu'"),
        (NMF(solver="em"), "solver='em'"),
        (NMF(solver="extrapolated"), "solver='extrapolated'"),
    ],
)
def test_solvers_that_a_model_lacks_are_named(X, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X)


@pytest.mark.parametrize("solver", ["em", *SOLVERS])
@pytest.mark.parametrize("prior", [priors.Pareto(0.5), priors.PseudoDirichlet(0.05, weight=0.1)])
def test_priors_end_about_where_they_do_by_plain_steps(X, solver, prior):
    ends = []
    for name in ("em", solver):
        model = PLSA(3, prior=prior, solver=name, random_state=0, tol=1e-8, max_iter=3000).fit(X)
        assert np.all(np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_history_[0]))
        ends.append(model.objective_history_[-1])
    assert ends[1] <= ends[0] + 0.01 * abs(ends[0])


def test_the_solver_is_saved(X, tmp_path):
    model = PLSA(3, solver="cd", random_state=0).fit(X)
    model.save(tmp_path / "model")
    assert laconic.load(tmp_path / "model").model.solver == "cd"
