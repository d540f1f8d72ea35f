"""Sums of ratios beside numpy's, and what happens to fits that are nothing or too large."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic.kernels.poisson import descend_topics
from laconic.kernels.ratios import ratio_sums


def summed(counts, factor, rows):
    """The loss of all rows, and their sums."""
    X = csr_array(counts)
    out = np.empty_like(rows)
    return ratio_sums(X.indptr[:-1], X.indptr[1:], X.indices, X.data, factor, rows, out), out


@pytest.mark.parametrize("n_terms", [1, 3, 4, 7, 33])
def test_sums_are_those_of_numpy(n_terms):
    random = np.random.default_rng(n_terms)
    counts = random.poisson(1, (20, n_terms)).astype(float)
    factor, rows = random.random((n_terms, 5)), random.random((20, 5))
    loss, out = summed(counts, factor, rows)
    ratios = counts / (rows @ factor.T)
    np.testing.assert_allclose(out, ratios @ factor, rtol=1e-12)
    np.testing.assert_allclose(loss, np.sum(counts[counts > 0] * np.log(ratios[counts > 0])), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", range(6))
def test_an_entry_without_a_chance_has_a_large_loss(dtype, place):
    factor = np.ones((6, 2), dtype)
    factor[place] = 0
    loss, out = summed(np.ones((1, 6), dtype), factor, np.ones((1, 2), dtype))
    np.testing.assert_allclose(out, 2.5, rtol=1e-6)
    assert 70 < loss < 1000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", range(6))
def test_a_fit_that_overflows_has_no_low_loss(dtype, place):
    """Its ratio is nothing, whose logarithm would lower the loss."""
    factor = np.ones((6, 2), dtype)
    factor[place] = np.finfo(dtype).max
    counts, rows = np.full((1, 6), 3, dtype), np.full((1, 2), 2, dtype)
    loss, out = summed(counts, factor, rows)
    assert loss == np.inf
    assert np.isfinite(out).all()
    X = csr_array(counts)
    loss = descend_topics(
        X.indptr[:-1], X.indptr[1:], X.indices, X.data, factor, rows, np.ones(2, dtype), 2, dtype(1e-20)
    )
    assert not np.isfinite(loss)
