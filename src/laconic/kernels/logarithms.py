"""Logarithms that run in vectors: those of the C library are calls, one number at a time."""

from __future__ import annotations

import math

import numpy as np

from laconic.kernels.compiling import njit

_ROOT = int(np.float64(math.sqrt(0.5)).view(np.int64))
_LOG_2 = math.log(2)
_LARGEST = float(np.finfo(np.float64).max)


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath={"contract"})
def log(x):
    """The natural logarithm of a positive number (no subnormal one), to about two units in the last place.

    With x = 2^e m, m from sqrt(1/2) to sqrt(2), and s = (m - 1) / (m + 1): log x = e log 2 + 2 artanh s, of
    which the series converges soon. That of 0 is finite, so that a count of 0 times it is 0. What is not
    finite stays so: else the loss of a fit that overflows would look like a low one.
    """
    y = np.float64(x)
    bits = y.view(np.int64)
    exponent = (bits - _ROOT) >> 52
    m = np.int64(bits - (exponent << 52)).view(np.float64)
    s = (m - 1) / (m + 1)
    z = s * s
    q = z * z
    odd = 1 / 3 + q * (1 / 7 + q * (1 / 11 + q * (1 / 15 + q * (1 / 19 + q / 23))))
    even = q * (1 / 5 + q * (1 / 9 + q * (1 / 13 + q * (1 / 17 + q / 21))))
    found = np.float64(np.int32(exponent)) * _LOG_2 + 2 * (s + s * (z * odd + even))
    return found if y <= _LARGEST else y


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath={"contract", "reassoc"})
def weighted_logs(weights, begin, end, numbers):
    """The sum of weights times logarithms; weights from `begin` on, numbers from their first on."""
    total = 0.0
    for j in range(end - begin):
        total += np.float64(weights[begin + j]) * log(numbers[j])
    return total
