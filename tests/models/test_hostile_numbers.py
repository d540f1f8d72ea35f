"""Numbers and sizes at the edge of what floats and patience have."""

import logging
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from laconic import NMF, PLSA, RLSI, GroupRLSI, SparseLSA
from laconic.engines.workers import MOST, Workers
from laconic.errors import CorpusError, InputError
from laconic.losses.divergence.steps import DivergenceSteps
from laconic.losses.squared.rows import Ridge


@pytest.mark.parametrize("model", [RLSI(2), NMF(2), SparseLSA(2)], ids=["rlsi", "nmf", "sparse-lsa"])
@pytest.mark.parametrize(("scale", "remedy"), [(1e-200, "up"), (1e-90, "up"), (1e200, "down")])
def test_numbers_that_cannot_be_squared_are_refused(model, scale, remedy):
    X = scale * np.random.default_rng(0).random((10, 6))
    with pytest.raises(CorpusError, match=f"for float64: scale X {remedy}"):
        model.fit(X)


@pytest.mark.filterwarnings("ignore")
def test_zeros_are_no_small_numbers():
    assert RLSI(2, random_state=0).fit(np.zeros((4, 3))).objective_history_[-1] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_that_only_rounding_has_get_no_weight(dtype):
    """Of five topics in three dimensions: what is left of zero may be several times the type's rounding."""
    vectors = np.linalg.qr(np.random.default_rng(0).random((5, 5)))[0]
    values = np.array([1, 0.5, 0.3, 10 * np.finfo(dtype).eps, -10 * np.finfo(dtype).eps])
    inverse = Ridge(0.0).prepare((vectors * values) @ vectors.T, dtype)
    expected = (vectors[:, :3] / values[:3]) @ vectors[:, :3].T
    np.testing.assert_allclose(inverse, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_the_objective_of_an_exact_fit_is_not_negative_and_does_not_rise(dtype, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((30, 3)) @ rng.random((3, 12))).astype(dtype)
    settings = {"alpha_topics": 0.0, "alpha_docs": 0.0, "topic_norm": "l2"}
    drawn = RLSI(5, init="documents", **settings)
    for model in (drawn, RLSI(5, **settings), NMF(3), NMF(6), SparseLSA(4, alpha_topics=0.0)):
        model.set_params(random_state=0, max_iter=60, tol=0)
        with warnings.catch_warnings():
            # that it was still improving
            warnings.simplefilter("ignore")
            history = model.fit(X).objective_history_
        assert (history >= 0).all()
        # what rounding leaves of ||X||^2, of which the objective is a difference; more from the singular
        # vectors of an exact fit, beside which two topics of five have no direction of their own
        singular = isinstance(model, RLSI) and model is not drawn
        exactness = 1e3 if singular and dtype == np.float64 else 8
        noise = exactness * np.finfo(dtype).eps * float(np.square(X, dtype=np.float64).sum())
        assert (np.diff(history) <= noise + 1e-6 * history[:-1]).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_numbers_that_overflow_in_a_fit_of_counts_end_it(number, dtype, monkeypatch):
    """The loss of what is not finite must not look like a low one."""
    solve = DivergenceSteps.documents

    def overflowing(steps):
        loss = solve(steps)
        steps.shards[0].weights[0, 0] = number
        return loss

    monkeypatch.setattr(DivergenceSteps, "documents", overflowing)
    X = np.random.default_rng(0).poisson(2, (30, 12)).astype(dtype)
    with pytest.raises(CorpusError, match="not finite"):
        PLSA(3, random_state=0, solver="em").fit(X)


def test_given_topics_get_their_penalty_from_themselves():
    rng = np.random.default_rng(0)
    X = csr_array(rng.poisson(0.4, (80, 40)).astype(float))
    init = rng.random((4, 40))
    found = [RLSI(4, init=init, random_state=seed).fit(X).alpha_topics_ for seed in (None, 0, 1, 7)]
    assert len(set(found)) == 1
    mixed = X[rng.permutation(80)]
    assert RLSI(4, init=init).fit(mixed).alpha_topics_ == pytest.approx(found[0], rel=1e-6)


def test_more_topics_than_could_differ_are_told_before_the_fit(caplog):
    X = np.random.default_rng(0).random((5, 8))
    told = []

    def stop(progress):
        told.extend(caplog.messages)
        return True

    with caplog.at_level(logging.WARNING):
        RLSI(600, topic_norm="l2", alpha_topics=1.0, random_state=0).fit(X, callback=stop)
    assert told[0].startswith("600 topics for 5 documents")


def test_names_for_classes_are_told_before_the_fit(caplog):
    X = np.eye(1100, 4) + 1
    labels = [f"id-{n}" for n in range(1100)]
    with caplog.at_level(logging.WARNING):
        GroupRLSI(1, 1, random_state=0, topic_norm="l2", alpha_topics=1.0).fit(
            X, labels, callback=lambda _: True
        )
    assert any(message.startswith("1,100 classes, such as 'id-0'") for message in caplog.messages)


def test_a_million_labels_are_told_of_before_anything_that_takes_long(caplog, monkeypatch):
    class BegunError(Exception):
        pass

    def begin(*given):
        raise BegunError

    monkeypatch.setattr("laconic.losses.squared.steps.by_class", begin)
    n = 10**6
    X = csr_array((np.ones(n, np.float32), np.arange(n, dtype=np.int32) % 4, np.arange(n + 1)), shape=(n, 4))
    with caplog.at_level(logging.WARNING), pytest.raises(BegunError):
        GroupRLSI(1, 1, topic_norm="l2", alpha_topics=1.0, random_state=0).fit(X, np.arange(n))
    assert [message.split(",")[0] for message in caplog.messages] == ["1", "1"]
    assert "1,000,000 classes, such as '0', for 1,000,000 documents" in caplog.messages[0]
    assert "1,000,001 topics for 1,000,000 documents" in caplog.messages[1]


def test_no_saved_model_asks_for_a_million_threads():
    assert Workers(10**9).n_workers == MOST
    assert Workers(-(10**9)).n_workers == 1
    assert RLSI(2, n_jobs=10**12, random_state=0).fit(np.eye(6)).n_alive_ >= 0


def models_that_fit():
    X, y = np.random.default_rng(0).poisson(1.0, (12, 6)).astype(float), np.arange(12) % 2
    for model in (RLSI(2), NMF(2), SparseLSA(2)):
        yield pytest.param(model, "fit", (X,), id=f"{type(model).__name__}.fit")
        yield pytest.param(model, "partial_fit", (X,), id=f"{type(model).__name__}.partial_fit")
    yield pytest.param(GroupRLSI(1, 1), "fit", (X, y), id="GroupRLSI.fit")


@pytest.mark.parametrize(("model", "method", "given"), list(models_that_fit()))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_object_is_fitted_by_one_thread_at_a_time(model, method, given):
    model = clone(model).set_params(random_state=0, max_iter=3)
    begun, go_on = threading.Event(), threading.Event()

    def wait(progress):
        begun.set()
        assert go_on.wait(60)
        # and a fit may not call itself
        with pytest.raises(InputError, match="being fitted already"):
            getattr(model, method)(*given)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(getattr(model, method), *given, callback=wait)
        assert begun.wait(60)
        second = pool.submit(getattr(model, method), *given)
        with pytest.raises(InputError, match=r"this \w+ is being fitted already.*clone\(model\)"):
            second.result(60)
        # another one of the same parameters has nothing to do with it
        assert clone(model).fit(*given).components_.shape[1] == 6
        go_on.set()
        assert first.result(60) is model
    # nothing of it stays, also after a fit that has failed
    with pytest.raises(ValueError, match=r"NaN|nan"):
        model.fit(np.full((12, 6), np.nan), *given[1:])
    model.fit(*given)
