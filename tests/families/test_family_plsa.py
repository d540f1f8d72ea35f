"""PLSA through the loop, beside EM on whole matrices."""

import numpy as np
import pytest
from family_toys import K, M, N, assert_never_rises, counts, plsa, run, simplex_rows
from naive_plsa import PLSASteps, StreamedPLSASteps
from numpy.testing import assert_allclose


def objective(X, W, C):
    fitted = np.where(X > 0, W @ C, 1)
    return np.sum(X * np.log(np.where(X > 0, X, 1) / fitted))


def straight(X, W, C, n_iter, simultaneous):
    halves = []
    for _ in range(n_iter):
        P = C * (W.T @ (X / (W @ C)))
        W = W * ((X / (W @ C)) @ C.T)
        W = W / W.sum(axis=1, keepdims=True)
        halves.append(objective(X, W, C))
        if not simultaneous:
            P = C * (W.T @ (X / (W @ C)))
        C = P / P.sum(axis=1, keepdims=True)
        halves.append(objective(X, W, C))
    return W, C, halves


def start():
    return counts(), simplex_rows(N, K, 1), simplex_rows(K, M, 2)


@pytest.mark.parametrize("simultaneous", [False, True])
def test_equals_whole_matrices(simultaneous):
    steps = PLSASteps(*start(), simultaneous=simultaneous)
    trace, told = run(steps)
    W, C, halves = straight(*start(), 12, simultaneous)
    assert_allclose([p.objective for p in told], halves, rtol=1e-10)
    assert_allclose(trace.history, halves[1::2], rtol=1e-10)
    assert_allclose(steps.W, W, atol=1e-10)
    assert_allclose(steps.C, C, atol=1e-10)
    assert_allclose(steps.W.sum(axis=1), 1, atol=1e-12)
    assert_allclose(steps.C.sum(axis=1), 1, atol=1e-12)


def test_every_half_step_descends():
    first = objective(*start())
    _, told = run(plsa(), max_iter=60)
    assert_never_rises([first, *(p.objective for p in told)], first)
    assert told[-1].objective < 0.9 * told[0].objective


def test_simultaneous_steps_descend_over_whole_iterations():
    first = objective(*start())
    trace, told = run(PLSASteps(*start(), simultaneous=True), max_iter=60)
    assert_never_rises([first, *trace.history], first)
    # the documents' half alone still descends from the last whole iteration
    documents = [p.objective for p in told[::2]]
    assert np.all(np.array(documents) <= np.array([first, *trace.history[:-1]]) + 1e-12 * first)


def test_a_topic_step_without_documents_reports_a_bound_that_descends():
    streamed = StreamedPLSASteps(*start())
    _, told = run(streamed, max_iter=30)
    _, exact = run(whole := plsa(), max_iter=30)
    assert np.array_equal(streamed.C, whole.C)
    assert_never_rises([p.objective for p in told], told[0].objective)
    assert [p.objective for p in told[::2]] == [p.objective for p in exact[::2]]
    bounds, values = (np.array([p.objective for p in half[1::2]]) for half in (told, exact))
    assert np.all(bounds >= values)
    assert_allclose(bounds[-1], values[-1], rtol=1e-3)


E5_X = np.array([[2.0, 1, 0], [0, 1, 3]])
E5_C = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])


@pytest.mark.parametrize("block", [1, 2, 3])
def test_worked_example_e5(block):
    steps = PLSASteps(E5_X, np.full((2, 2), 0.5), E5_C, block=block, simultaneous=True)
    constant = objective(E5_X, np.eye(2), np.ones((2, 3)))
    assert_allclose(constant - objective(E5_X, steps.W, E5_C), -7.676734987298, atol=1e-12)
    trace, _ = run(steps, max_iter=1)
    assert_allclose(steps.P, [[4 / 3, 1, 1], [2 / 3, 1, 2]], rtol=1e-15)
    assert_allclose(steps.W, [[11 / 18, 7 / 18], [3 / 8, 5 / 8]], rtol=1e-15)
    assert_allclose(steps.C, [[0.4, 0.3, 0.3], [2 / 11, 3 / 11, 6 / 11]], rtol=1e-15)
    assert_allclose(constant - trace.history[0], -7.184720400367, atol=1e-12)


def test_empty_documents_and_terms_and_dead_topics_poison_nothing():
    X, W, C = start()
    X[5], X[:, 3] = 0, 0
    C[2] = 0
    steps = PLSASteps(X, W, C)
    _, told = run(steps)
    assert_allclose(steps.W[5], 1 / K)
    assert not steps.C[:, 3].any()
    assert not steps.C[2].any()
    assert {p.n_alive for p in told} == {K - 1}
    assert_never_rises([p.objective for p in told], told[0].objective)
