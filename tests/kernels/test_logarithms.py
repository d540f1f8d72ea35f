"""Logarithms of our own beside numpy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.kernels.logarithms import log, weighted_logs


def close(x, found):
    """To about two units in the last place: numpy's own may be off by almost one."""
    return abs(found - np.log(x)) <= 3 * np.spacing(abs(np.log(x)))


@given(st.floats(np.finfo(float).tiny, np.finfo(float).max))
def test_a_logarithm_is_that_of_numpy_but_for_rounding(x):
    assert close(x, log(x))


@given(st.floats(np.finfo(float).tiny, np.finfo(float).max))
def test_compiled_and_plain_logarithms_agree(x):
    assert close(x, log.py_func(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("x", [np.inf, np.nan, -np.nan])
def test_what_is_not_finite_stays_so(x, dtype):
    """An objective that is not finite would otherwise look like a good one."""
    assert not np.isfinite(log(dtype(x)))
    assert not np.isfinite(weighted_logs(np.ones(9), 0, 9, np.append(np.ones(8), x).astype(dtype)))


def test_counts_of_nothing_times_the_logarithm_of_nothing_are_nothing():
    assert weighted_logs(np.zeros(5), 0, 5, np.zeros(5)) == 0


@given(st.floats(-1e-3, 1e-3))
def test_logarithms_near_one_are_as_exact(step):
    x = 1 + step
    assert close(x, log(x))


@pytest.mark.parametrize("x", [1.0, np.sqrt(0.5), np.sqrt(2), 2.0, 0.5, np.finfo(float).tiny, 1e300])
def test_logarithms_where_the_series_changes_sides(x):
    for near in (np.nextafter(x, 0), x, np.nextafter(x, np.inf)):
        if near >= np.finfo(float).tiny:
            assert close(near, log(near))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 31, 32, 100, 1001])
def test_sums_of_any_length(size, dtype):
    rng = np.random.default_rng(size)
    weights = rng.integers(0, 5, size + 9).astype(dtype)
    numbers = np.exp(rng.normal(0, 8, size + 3)).astype(dtype)
    expected = np.sum(weights[4 : 4 + size] * np.log(numbers[:size].astype(float)))
    found = weighted_logs(weights, 4, 4 + size, numbers)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
