"""Coordinate descent for rows of a divergence: beside a naive version, and beside the minimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from laconic.kernels.mixtures import fold_in
from laconic.kernels.poisson import HALF_A_COUNT, STEEPEST, descend_mixtures, descend_topics


def problem(seed, n_rows=12, n_others=9, width=4, scale=1.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.5, 2.0, (n_rows, n_others))) * scale
    factor = rng.gamma(0.3, 1.0, (n_others, width)) + 1e-6
    rows = rng.gamma(0.5, 1.0, (n_rows, width)) + 1e-3
    return X.astype(dtype), factor.astype(dtype), rows.astype(dtype)


def loss(x, factor, w):
    seen = x > 0
    return np.sum(x[seen] * np.log(x[seen] / (factor[seen] @ w)))


def naive_sweep(x, factor, w, slopes, least=0.0):
    """One coordinate after the other, with the fit made anew every time."""
    seen, w = x > 0, w.copy()
    x, factor = x[seen], factor[seen]
    left_out = (w == 0) & ((factor / (factor @ w)[:, None] * x[:, None]).sum(0) <= slopes)
    for k in range(len(w)):
        if left_out[k] or (w[k] == 0 and least > 0):
            continue
        fitted = factor @ w
        pull, bend = np.sum(x * factor[:, k] / fitted), np.sum(x * factor[:, k] ** 2 / fitted**2)
        new = w[k] + (pull / slopes[k] - 1) * pull / bend
        small = w[k] * pull <= HALF_A_COUNT * x.min()
        w[k] = max(new, least if small else STEEPEST * w[k], least)
    return w


def descend(X, factor, rows, sweeps, *, simplex=False, rate=0.0, weight=0.0, eps=1.0, precision=0.0):
    X, found = csr_array(X), rows.copy()
    ends = X.indptr
    before = descend_mixtures(
        ends[:-1], ends[1:], X.indices, X.data, factor, found, simplex, rate, weight, eps, precision, sweeps
    )
    return found, before


@pytest.mark.parametrize("seed", range(10))
def test_a_sweep_off_the_simplex(seed):
    X, factor, rows = problem(seed)
    found, before = descend(X, factor, rows, 1, rate=0.5, weight=0.3, eps=0.1)
    assert before == pytest.approx(sum(loss(x, factor, w) for x, w in zip(X, rows, strict=True)))

    def objective(x, w):
        return loss(x, factor, w) + 1.5 * w.sum() + 0.3 * np.log(w + 0.1).sum()

    for x, w, new in zip(X, rows, found, strict=True):
        if not x.any():
            np.testing.assert_array_equal(new, 0)
            continue
        expected = naive_sweep(x, factor, w, 1.5 + 0.3 / (w + 0.1))
        assert objective(x, new) <= objective(x, w)
        if objective(x, expected) < objective(x, w):
            np.testing.assert_allclose(new, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weight", [0.0, 1e-300])
def test_weights_of_nothing_begin_anew_on_the_simplex(weight):
    """No fit has them, but a checkpoint that was tampered with may."""
    X, factor, rows = problem(0)
    found, before = descend(X, factor, np.full_like(rows, weight), 1, simplex=True)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.isfinite(before)
    again, after = descend(X, factor, found, 1, simplex=True)
    assert after < before
    np.testing.assert_allclose(again.sum(axis=1), 1)


@pytest.mark.parametrize("seed", range(10))
def test_a_sweep_on_the_simplex(seed):
    X, factor, rows = problem(seed)
    rows /= rows.sum(axis=1, keepdims=True)
    found, _ = descend(X, factor, rows, 1, simplex=True)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for x, w, new in zip(X, rows, found, strict=True):
        if not x.any():
            np.testing.assert_allclose(new, 1 / 4)
            continue
        expected = naive_sweep(x, factor, w, np.full(4, x.sum()))
        expected /= expected.sum()
        assert loss(x, factor, new) <= loss(x, factor, w)
        if loss(x, factor, expected) < loss(x, factor, w):
            np.testing.assert_allclose(new, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-3, 1.0, 50.0]),
    simplex=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_no_document_is_ever_worse_off(seed, scale, simplex, dtype):
    X, factor, rows = problem(seed, scale=scale, dtype=dtype)
    if simplex:
        rows /= rows.sum(axis=1, keepdims=True)
    slack = 1e-5 if dtype == np.float32 else 1e-12
    for _ in range(5):
        found, _ = descend(X, factor, rows, 1, simplex=simplex)
        assert np.isfinite(found).all()
        assert found.min() >= 0
        for x, w, new in zip(X, rows, found, strict=True):
            price = 0.0 if simplex else new.sum(dtype=float) - w.sum(dtype=float)
            change = loss(x, factor, new) - loss(x, factor, w) + price
            assert change <= slack * (1 + x.sum() + w.sum())
        rows = found


@pytest.mark.parametrize("seed", range(10))
def test_a_sweep_leaves_out_zeros_that_nothing_pulls(seed):
    X, factor, rows = problem(seed, width=8)
    rows *= np.random.default_rng(seed).random(rows.shape) < 0.4
    rows[:, 0] += 0.1
    found, _ = descend(X, factor, rows, 1)
    left_out = compared = 0
    for x, w, new in zip(X, rows, found, strict=True):
        if not x.any():
            continue
        expected = naive_sweep(x, factor, w, np.ones(8))
        if loss(x, factor, expected) + expected.sum() < loss(x, factor, w) + w.sum():
            np.testing.assert_allclose(new, expected, rtol=1e-9, atol=1e-12)
            compared += 1
        left_out += np.count_nonzero((w == 0) & (new == 0))
    assert left_out
    assert compared >= len(X) // 2


@pytest.mark.parametrize("simplex", [False, True])
def test_weights_that_were_left_out_come_back_where_they_are_pulled(simplex):
    """From one weight alone, which leaves the others out at first, to the minimum: no pull is left."""
    X, factor, rows = problem(4, n_rows=40, width=8)
    rows[:] = np.eye(8)[np.argmin(factor.sum(axis=0))]
    found, _ = descend(X, factor, rows, 10_000, simplex=simplex, precision=1e-9)
    more = 0
    for x, w in zip(X, found, strict=True):
        if x.any():
            pulls = (factor / (factor @ w)[:, None] * x[:, None]).sum(axis=0)
            price = x.sum() if simplex else 1
            assert pulls.max() <= price * (1 + 1e-5)
            np.testing.assert_allclose(pulls[w > 1e-6], price, rtol=1e-4)
            more += np.count_nonzero(w) > 1
    assert more > 10


def test_the_end_is_the_minimum():
    X, factor, rows = problem(3)
    found, _ = descend(X, factor, rows, 400)
    for x, new in zip(X, found, strict=True):
        seen = x > 0

        def objective(w, x=x, seen=seen):
            fitted = factor[seen] @ w
            return w.sum() - np.sum(x[seen] * np.log(fitted)), 1 - factor[seen].T @ (x[seen] / fitted)

        best = minimize(objective, np.ones(4), jac=True, bounds=[(0, None)] * 4, method="L-BFGS-B", tol=1e-14)
        assert objective(new)[0] <= best.fun + 1e-8 * (1 + abs(best.fun))


def test_the_same_minimum_as_expectation_maximisation():
    X, factor, rows = problem(5)
    factor /= factor.sum(axis=0)
    rows /= rows.sum(axis=1, keepdims=True)
    found, _ = descend(X, factor, rows, 300, simplex=True)
    X = csr_array(X)
    fold_in(X.indptr, X.indices, X.data, 0, 12, factor, rows, True, 0.0, 0.0, 1.0, 1e-12, 5000)
    np.testing.assert_allclose(found, rows, atol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_topics_of_terms(seed):
    X, factor, rows = problem(seed)
    least, prices = 1e-100, factor.sum(axis=0)
    rows[:, 2] *= np.arange(12) % 2
    columns, found = csr_array(X), rows.copy()
    ends = columns.indptr
    before = descend_topics(
        ends[:-1], ends[1:], columns.indices, columns.data, factor, found, prices, 1, least
    )
    assert before == pytest.approx(sum(loss(x, factor, w) for x, w in zip(X, rows, strict=True)))
    assert not found[rows == 0].any()
    for x, w, new in zip(X, rows, found, strict=True):
        if not x.any():
            np.testing.assert_array_equal(new, 0)
            continue
        assert (new[w > 0] >= least).all()
        expected = naive_sweep(x, factor, w, prices, least)
        started = loss(x, factor, w) + prices @ w
        assert loss(x, factor, new) + prices @ new <= started
        if loss(x, factor, expected) + prices @ expected < started:
            np.testing.assert_allclose(new, expected, rtol=1e-9, atol=1e-90)
