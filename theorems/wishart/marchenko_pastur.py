r"""Moments of the Marchenko–Pastur law: the limits of E tr S^k / d for S = X Xᵀ/n, as n and d grow with d/n → c.

    m_k(c) = Σ_{r=0}^{k−1} c^r/(r+1) · binom(k, r) binom(k−1, r),    m_0 = 1.

The coefficients are Narayana's numbers: they count the non-crossing pairings of 2k Gaussian factors, whose terms have
the highest order in n and d.
"""

from math import comb
from typing import Any

from theorems.wishart.trace_moments import whole_order
from verify import InputError, primitive


def marchenko_pastur(k: int, c: Any) -> Any:
    """Return m_k at a ratio c, a number or a SymPy expression. Raises InputError unless k is a non-negative int."""
    if not isinstance(k, int) or k < 0:
        raise InputError("k", k, "must be a non-negative integer")
    return sum((comb(k, r) * comb(k - 1, r) // (r + 1) * c**r for r in range(k)), start=0) if k else 1


@primitive(version=1)
def marchenko_pastur_moment(arithmetic: Any, k: Any, c: Any) -> Any:
    """Return m_k; UndefinedError unless k is an integer from 0 to 60."""
    return arithmetic.rational(1) * marchenko_pastur(whole_order(k), c)
