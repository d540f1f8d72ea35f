"""Every fast kernel beside a naive one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from sklearn.linear_model import Lasso

from laconic.kernels.accumulate import gather, gather_sparse
from laconic.kernels.budget import _ranked, budget_sweep
from laconic.kernels.compiling import njit
from laconic.kernels.rows import compress, descend, expand, inner, sparse_gram
from laconic.losses.factor import fuller_rows


def sparse(n_rows, n_columns, density, seed, dtype=np.float64):
    random = np.random.default_rng(seed)
    return csr_array(random_array((n_rows, n_columns), density=density, rng=random, dtype=dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("start", "stop"), [(0, 30), (7, 8), (11, 11), (3, 29)])
def test_gather_is_a_matrix_product(dtype, start, stop):
    X = sparse(30, 40, 0.3, 0, dtype)
    factor = np.random.default_rng(1).normal(size=(40, 7)).astype(dtype)
    out = np.full((stop - start, 7), np.nan, dtype)
    for tile in (1, 3, 16, 40, 1000):
        out[:] = np.nan
        ends = X.indptr[start : stop + 1]
        gather(ends[:-1], ends[1:], X.indices, X.data, factor, tile, out)
        np.testing.assert_allclose(out, (X.toarray() @ factor)[start:stop], rtol=1e-5, atol=1e-6)
    factor[np.abs(factor) < 0.7] = 0
    topics = csr_array(factor)
    slots, rows = fuller_rows(topics, np.arange(40)[::-1])
    none = np.full_like(slots, -1)
    for choice in (slots, none):
        out[:] = np.nan
        factor_parts = topics.indptr, topics.indices, topics.data
        gather_sparse(X.indptr, X.indices, X.data, start, stop, *factor_parts, choice, rows, out)
        np.testing.assert_allclose(out, (X.toarray() @ factor)[start:stop], rtol=1e-5, atol=1e-6)


def test_fuller_rows_are_those_of_more_than_an_eighth():
    matrix = csr_array(np.array([[1.0] + [0] * 15, [1, 2] + [0] * 14, [1, 2, 3] + [0] * 13, [0] * 16]))
    slots, rows = fuller_rows(matrix, np.arange(4))
    np.testing.assert_array_equal(slots, [-1, -1, 0, -1])
    np.testing.assert_array_equal(rows, matrix.toarray()[[2]])


def test_fuller_rows_are_of_the_terms_in_order_alone():
    """Terms that no document has are in no order, and may be full in topics that were given."""
    matrix = csr_array(np.arange(1.0, 13).reshape(4, 3))
    slots, rows = fuller_rows(matrix, np.array([3, 0]))
    np.testing.assert_array_equal(slots, [1, -1, -1, 0])
    np.testing.assert_array_equal(rows, matrix.toarray()[[3, 0]])


def test_gather_takes_unsorted_rows_in_one_tile():
    X = sparse(5, 40, 0.5, 0)
    turned = csr_array((X.data[::-1], X.indices[::-1], X.nnz - X.indptr[::-1]), shape=X.shape)
    factor = np.random.default_rng(1).normal(size=(40, 3))
    out = np.empty((5, 3))
    gather(turned.indptr[:-1], turned.indptr[1:], turned.indices, turned.data, factor, 40, out)
    np.testing.assert_allclose(out, (X.toarray() @ factor)[::-1], rtol=1e-12)


def test_gather_of_a_very_long_row_loses_little_in_float32():
    n = 20_003
    random = np.random.default_rng(0)
    row = csr_array(random.uniform(0.5, 1, (1, n)).astype(np.float32))
    factor = random.uniform(0.5, 1, (n, 3)).astype(np.float32)
    out = np.empty((1, 3), np.float32)
    gather(row.indptr[:-1], row.indptr[1:], row.indices, row.data, factor, 500, out)
    exact = row.toarray().astype(np.float64) @ factor.astype(np.float64)
    assert np.abs(out / exact - 1).max() < 2e-6


def problem(n_rows=60, width=8, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    A = random.normal(size=(30, width))
    gram = A.T @ A
    targets = random.normal(size=(n_rows, 30)) @ A
    return gram.astype(dtype), targets.astype(dtype), A, random


def kkt(gram, targets, rows, threshold, ridge, nonnegative):
    """Largest violation of optimality of  c'Gc - 2 r'c + 2t|c|_1 + a|c|^2, halved."""
    gradient = rows @ gram + ridge * rows - targets
    if nonnegative:
        return np.abs(np.minimum(rows, gradient + threshold)).max()
    return np.where(
        rows != 0, np.abs(gradient + threshold * np.sign(rows)), np.maximum(np.abs(gradient) - threshold, 0)
    ).max()


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize(("threshold", "ridge"), [(4.0, 0.0), (0.0, 2.0), (3.0, 1.0), (0.0, 0.0)])
def test_descent_reaches_the_optimum(threshold, ridge, nonnegative):
    gram, targets, _, random = problem()
    for start in (np.zeros_like(targets), random.normal(size=targets.shape) * (not nonnegative)):
        rows = start.copy()
        unsolved = descend(gram, targets, rows, threshold, ridge, nonnegative, 1e-12, 10_000)
        assert unsolved == 0
        assert kkt(gram, targets, rows, threshold, ridge, nonnegative) < 1e-9 * np.abs(targets).max()
        if nonnegative:
            assert rows.min() >= 0


def test_descent_agrees_with_scikit_learn():
    _, _, A, random = problem()
    observed = random.normal(size=30) * 3
    threshold = 5.0
    # scikit-learn's objective is |y - Ax|^2 / (2n) + alpha |x|_1
    expected = Lasso(alpha=threshold / 30, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(A, observed)
    rows = np.zeros((1, 8))
    descend(A.T @ A, (observed @ A)[None], rows, threshold, 0.0, False, 1e-13, 10_000)
    np.testing.assert_allclose(rows[0], expected.coef_, atol=1e-8)
    assert 0 < np.count_nonzero(rows) < 8


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_zero_screen_is_exact(nonnegative):
    gram, targets, _, _ = problem(n_rows=300)
    reach = targets.max(axis=1) if nonnegative else np.abs(targets).max(axis=1)
    threshold = float(np.median(reach))
    rows = np.zeros_like(targets)
    descend(gram, targets, rows, threshold, 0.0, nonnegative, 1e-12, 10_000)
    np.testing.assert_array_equal(rows.any(axis=1), reach > threshold)


def test_few_sweeps_from_a_warm_start_never_raise_the_objective():
    gram, targets, _, random = problem(n_rows=200)

    def objective(rows):
        quadratic = np.einsum("ij,jk,ik->i", rows, gram, rows) - 2 * np.einsum("ij,ij->i", rows, targets)
        return quadratic + 2 * 3.0 * np.abs(rows).sum(1)

    rows = random.normal(size=targets.shape)
    before = objective(rows)
    for _ in range(5):
        descend(gram, targets, rows, 3.0, 0.0, False, 1e-12, 1)
        after = objective(rows)
        assert (after <= before + 1e-9 * np.abs(before)).all()
        before = after


def test_a_topic_without_weight_gets_zero():
    gram, targets, _, _ = problem()
    gram[2] = gram[:, 2] = targets[:, 2] = 0
    rows = np.ones_like(targets)
    descend(gram, targets, rows, 0.5, 0.0, False, 1e-10, 1000)
    assert (rows[:, 2] == 0).all()
    assert np.isfinite(rows).all()


def test_expand_and_compress_are_inverse():
    matrix = sparse(20, 9, 0.2, 3)
    rows = np.full((13, 9), np.nan)
    expand(matrix.indptr, matrix.indices, matrix.data, np.arange(4, 17), rows)
    np.testing.assert_array_equal(rows, matrix.toarray()[4:17])
    sizes, indices, data = compress(rows)
    back = csr_array((data, indices, np.concatenate([[0], np.cumsum(sizes)])), shape=rows.shape)
    np.testing.assert_array_equal(back.toarray(), rows)


def test_inner_and_sparse_gram():
    matrix = sparse(20, 9, 0.4, 4, np.float32)
    dense = matrix.toarray()
    assert inner(dense, dense) == pytest.approx((dense.astype(float) ** 2).sum(), rel=1e-14)
    out = np.zeros((9, 9))
    sparse_gram(matrix.indptr, matrix.indices, matrix.data, 0, 20, out)
    expected = dense.T.astype(float) @ dense.astype(float)
    np.testing.assert_allclose(np.triu(out), np.triu(expected), rtol=1e-12)
    assert not np.tril(out, -1).any()


@njit()
def ranked(values, size, rank):
    """What only kernels can call."""
    return _ranked(values, size, rank)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60), st.data())
def test_the_value_of_a_rank_is_that_of_a_sorted_list(values, data):
    rank = data.draw(st.integers(0, len(values) - 1))
    scratch = np.array([*values, -9], np.float32)
    assert ranked(scratch, len(values), rank) == sorted(values)[rank]
    assert sorted(scratch[:-1]) == sorted(values)


def sweep(gram, products, C, budget, nonnegative):
    """Run the kernel on dense topics and return dense topics."""
    terms = np.tile(np.arange(C.shape[1]), (len(C), 1))
    weights, sizes = C.copy(), np.full(len(C), C.shape[1], np.int64)
    least = np.zeros(len(products), products.dtype)
    budget_sweep(gram, products, terms, weights, sizes, budget, nonnegative, least, 0.0)
    out = np.zeros_like(C)
    for k, size in enumerate(sizes):
        assert (np.diff(terms[k, :size]) > 0).all()
        out[k, terms[k, :size]] = weights[k, :size]
    return out


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("budget", [1, 2, 3, 6])
def test_each_topic_is_the_best_of_all_choices_of_words(budget, nonnegative):
    """Brute force: on a support the best unit vector is parallel to b (or to its positive part)."""
    random = np.random.default_rng(5)
    for _ in range(20):
        W, X = random.normal(size=(12, 3)), random.normal(size=(12, 6))
        C = random.normal(size=(3, 6))
        C = np.abs(C) if nonnegative else C
        C /= np.linalg.norm(C, axis=1, keepdims=True)
        S, R = W.T @ W, W.T @ X
        expected = C.copy()
        for k in range(3):
            b = R[k] - S[k] @ expected + S[k, k] * expected[k]
            best = -np.inf
            for support in itertools.combinations(range(6), budget):
                v = np.zeros(6)
                v[list(support)] = np.maximum(b[list(support)], 0) if nonnegative else b[list(support)]
                if not v.any():
                    v[support[int(np.argmax(b[list(support)]))]] = 1
                v /= np.linalg.norm(v)
                if b @ v > best + 1e-12:
                    best, expected[k] = b @ v, v
        np.testing.assert_allclose(sweep(S, R, C, budget, nonnegative), expected, atol=1e-12)


def test_of_equal_words_the_first_are_kept():
    R = np.array([[1.0, -1.0, 1.0, 1.0, 0.5]])
    np.testing.assert_allclose(
        sweep(np.ones((1, 1)), R, np.eye(1, 5), 2, False), [[0.5**0.5, -(0.5**0.5), 0, 0, 0]]
    )


def test_a_topic_without_products_stays():
    C = np.array([[0.6, 0.8, 0.0]])
    np.testing.assert_array_equal(sweep(np.zeros((1, 1)), np.zeros((1, 3)), C, 2, False), C)
    np.testing.assert_array_equal(sweep(np.zeros((1, 1)), np.zeros((1, 3)), C, 2, True), C)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_rising_bar_chooses_as_a_sort_does(nonnegative):
    random = np.random.default_rng(6)
    for size, budget in [(1000, 7), (1000, 400), (5, 5), (64, 1)]:
        R = np.round(random.normal(size=(1, size)), 1)  # rounded: many ties
        value = R[0] if nonnegative else np.abs(R[0])
        order = np.argsort(-value, kind="stable")[:budget]
        expected = np.zeros(size)
        expected[order] = R[0, order] * (value[order] > 0)
        expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(
            sweep(np.ones((1, 1)), R, np.eye(1, size), budget, nonnegative)[0], expected
        )
