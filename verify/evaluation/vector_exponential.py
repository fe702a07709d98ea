"""The exponential in float64, built from operations with vector instructions, for code that Numba compiles."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

_TO_INTEGER = 1.5 * 2.0**52
"""Constant c such that for |x| < 2^51 the last bits of c + x are the nearest integer to x."""
_PER_LOG2 = 1.4426950408889634
"""1/log 2."""
_HIGH, _LOW = 0.6931471803691238, 1.9082149292705877e-10
"""log 2 in two parts; the product of the first part with an integer up to 2^11 is exact."""
_A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9, _A10, _A11, _A12, _A13 = (1 / math.factorial(k) for k in range(2, 14))


@cache
def compiled_exponential() -> Callable[[float], float]:
    """Return exp as a function of float64 that Numba compiles.

    The result is exp(x) to two units in the last place, 0 for x < −708 and infinite for x > 709.4. It is 2^k exp(r),
    with x = k log 2 + r and |r| <= log(2)/2. The Taylor polynomial of order 13 is within 1e-17 of exp(r), and 2^k is
    built from its bits.
    """
    from numba import njit

    # Without this flag, the caller's flags would apply; flags that allow sums in any order would make k wrong.
    @njit(nogil=True, error_model="numpy", fastmath={"contract"})
    def exponential(x: float) -> float:
        shifted = x * _PER_LOG2 + _TO_INTEGER
        k = shifted - _TO_INTEGER
        r = (x - k * _HIGH) - k * _LOW
        p = _A8 + r * (_A9 + r * (_A10 + r * (_A11 + r * (_A12 + r * _A13))))
        p = _A2 + r * (_A3 + r * (_A4 + r * (_A5 + r * (_A6 + r * (_A7 + r * p)))))
        p = 1.0 + (r + r * r * p)
        value = p * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
        value = 0.0 if x < -708.0 else value
        return math.inf if x > 709.4 else value

    return exponential
