"""Logarithms that run in vectors: those of the C library are calls, one number at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from laconic.kernels.compiling import njit

_ROOT = int(np.float64(math.sqrt(0.5)).view(np.int64))
_LOG_2 = math.log(2)


def _bitcast(kind: Any) -> Any:
    """A generator of code that takes the bits of a number for those of one of another kind."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], context.get_value_type(kind))

    return generate


def _as_integer(typing_context: Any, number: Any) -> Any:
    """The bits of a float64, as an int64."""
    return types.int64(types.float64), _bitcast(types.int64)


def _as_float(typing_context: Any, bits: Any) -> Any:
    """The float64 that has these bits."""
    return types.float64(types.int64), _bitcast(types.float64)


_bits: Any = intrinsic(_as_integer)
_from_bits: Any = intrinsic(_as_float)


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath={"contract"})
def log(x):
    """The natural logarithm of a positive number (no subnormal one), to two units in the last place.

    With x = 2^e m, m from sqrt(1/2) to sqrt(2), and s = (m - 1) / (m + 1): log x = e log 2 + 2 artanh s, of
    which the series converges soon.
    """
    bits = _bits(np.float64(x))
    exponent = (bits - _ROOT) >> 52
    m = _from_bits(bits - (exponent << 52))
    s = (m - 1) / (m + 1)
    z = s * s
    q = z * z
    odd = 1 / 3 + q * (1 / 7 + q * (1 / 11 + q * (1 / 15 + q * (1 / 19 + q / 23))))
    even = q * (1 / 5 + q * (1 / 9 + q * (1 / 13 + q * (1 / 17 + q / 21))))
    return np.float64(np.int32(exponent)) * _LOG_2 + 2 * (s + s * (z * odd + even))


@njit(nogil=True, cache=True, makes_arrays=False, error_model="numpy", fastmath={"contract", "reassoc"})
def weighted_logs(weights, begin, end, numbers):
    """The sum of weights times logarithms; weights from `begin` on, numbers from their first on."""
    total = 0.0
    for j in range(end - begin):
        total += np.float64(weights[begin + j]) * log(numbers[j])
    return total
