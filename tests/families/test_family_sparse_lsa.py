"""Sparse LSA through the loop, beside polar factors of whole matrices."""

import numpy as np
import pytest
from family_toys import ALPHA, K, assert_never_rises, run, sparse_lsa, unit_rows
from naive_sparse_lsa import SparseLSASteps, soft
from numpy.testing import assert_allclose


def objective(X, U, A, alpha):
    return np.sum((X - U @ A) ** 2) / 2 + alpha * np.abs(A).sum()


def straight(X, A, alpha, n_iter):
    """U by an SVD, and the objective by its definition."""
    halves = []
    for _ in range(n_iter):
        left, _, right = np.linalg.svd(X @ A.T, full_matrices=False)
        U = left @ right
        halves.append(objective(X, U, A, alpha))
        A = soft(U.T @ X, alpha)
        halves.append(objective(X, U, A, alpha))
    return U, A, halves


def test_equals_whole_matrices():
    steps = sparse_lsa()
    start = steps.A.copy()
    trace, told = run(steps)
    U, A, halves = straight(unit_rows(), start, ALPHA, 12)
    assert_allclose([p.objective for p in told], halves, rtol=1e-10)
    assert_allclose(trace.history, halves[1::2], rtol=1e-10)
    assert_allclose(steps.A, A, atol=1e-10)
    assert 0 < told[-1].density < 1
    assert_allclose(U.T @ U, np.eye(K), atol=1e-10)


def test_every_half_step_descends():
    steps = sparse_lsa()
    start = objective(steps.X, np.eye(*steps.X.shape)[:, :K], steps.A, ALPHA)
    _, told = run(steps, max_iter=30)
    assert_never_rises([start, *(p.objective for p in told)], start)
    assert told[-1].objective < start


E1 = np.array([[2.0, 0, 0], [0, 2, 0], [1, 2, 1]])


@pytest.mark.parametrize("block", [1, 2, 3])
def test_worked_example_e1(block):
    steps = SparseLSASteps(E1, soft(E1[:2], 1), 1.0, block=block)
    start = objective(E1, np.eye(3)[:, :2], steps.A, 1.0)
    _, told = run(steps, max_iter=1)
    assert_allclose([start, *(p.objective for p in told)], [6, 5, 4.66], rtol=1e-14)
    assert_allclose(steps.polar, np.array([[14, -2], [-2, 11]]) / 30, rtol=1e-13)
    assert_allclose(steps.polar @ steps.R, [[2.2, 0.4, 1 / 3], [0.4, 2.8, 2 / 3]], rtol=1e-13)
    assert_allclose(steps.A, [[1.2, 0, 0], [0, 1.8, 0]], rtol=1e-14)
    assert [(p.n_alive, p.density) for p in told] == [(2, 1 / 3)] * 2


def test_a_dead_topic_stays_dead_and_the_others_live_on():
    X = unit_rows()
    A = soft(X[:K], ALPHA)
    A[1] = 0
    _, told = run(dead := SparseLSASteps(X, A, ALPHA))
    run(alone := SparseLSASteps(X, np.delete(A, 1, axis=0), ALPHA))
    assert {p.n_alive for p in told} == {K - 1}
    assert_allclose(np.delete(dead.A, 1, axis=0), alone.A, atol=1e-10)
    assert_never_rises([p.objective for p in told], told[0].objective)


def test_alpha_above_every_column_leaves_nothing():
    steps = sparse_lsa()
    steps.alpha = np.linalg.norm(steps.X, axis=0).max() * 1.01
    trace, told = run(steps, max_iter=1)
    assert told[-1].n_alive == 0
    assert_allclose(trace.history, [steps.half_energy])
