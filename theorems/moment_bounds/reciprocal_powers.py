r"""Rigorous bounds on E[w/X] and E[w/X²] from moments m_k = E[w X^k], w ≥ 0 and X > 0; upper bounds need X ≥ x₀ > 0.

For any positive nodes x_1 … x_n let π(x) = ∏ (1 − x/x_i)², so that π(0) = 1. Then

    1/x − (1 − π(x))/x = π(x)/x ≥ 0,
    1/x² − (1 − (1 + cx) π(x))/x² = (1 + cx) π(x)/x² ≥ 0,    c = 2 Σ 1/x_i,

and the subtracted term on the left is a polynomial, because (1 + cx) π has no linear term: its mean is a lower bound.
With one more factor 1 − x/x₀ in π, c grows by 1/x₀ and both inequalities are reversed for x ≥ x₀, which gives upper
bounds. The bounds hold at any nodes. The nodes used are the roots, computed in floating point, of the orthogonal
polynomial of the moments; at the exact roots the bounds are those of Gauss and Radau quadrature.
"""

from collections.abc import Sequence
from itertools import pairwise

import flint
from flint import arb

from verify.errors import UndecidedError


def lower_bound(moments: Sequence[arb], power: int) -> arb:
    """Return a ball whose lower end is a lower bound on E[w X^{−power}]; power is 1 or 2.

    The moments are m_0 … m_K, K ≥ 1, in balls. Raises UndecidedError if no nodes are found.
    """
    return _bound(moments, power, None)


def upper_bound(moments: Sequence[arb], power: int, least: arb) -> arb:
    """Return a ball whose upper end is an upper bound on E[w X^{−power}], for X ≥ `least` > 0; power is 1 or 2.

    The moments are m_0 … m_K, K ≥ 2, in balls. Raises UndecidedError if no nodes are found.
    """
    return _bound(moments, power, least)


def _bound(moments: Sequence[arb], power: int, least: arb | None) -> arb:
    assert power in (1, 2)
    weighted = moments if least is None else [m - least * k for k, m in pairwise(moments)]
    most = len(weighted) // 2
    for count in range(most, 0, -1):
        nodes = _nodes(weighted, count)
        if nodes is not None:
            return _interpolated(moments, power, nodes, least)
    raise UndecidedError("no nodes were found: the moments are too wide")


def _interpolated(moments: Sequence[arb], power: int, nodes: Sequence[arb], least: arb | None) -> arb:
    """Return the mean of the interpolating polynomial."""
    polynomial = flint.arb_poly([1])
    for node in nodes:
        polynomial *= flint.arb_poly([1, -1 / node]) ** 2
    if least is not None:
        polynomial *= flint.arb_poly([1, -1 / least])
    if power == 2:
        polynomial *= flint.arb_poly([1, -polynomial[1]])
    terms = (polynomial[k] * moments[k - power] for k in range(power, polynomial.length()))
    return -sum(terms, arb(0))


def _nodes(moments: Sequence[arb], count: int) -> list[arb] | None:
    """Return approximate roots of the orthogonal polynomial of degree `count`; None if one is not real and positive."""
    import numpy as np

    scale = (moments[1] / moments[0]).mid()
    if not scale > 0:
        return None
    middle = [(m / moments[0] / scale**k).mid() for k, m in enumerate(moments[: 2 * count])]
    hankel = flint.arb_mat(count, count, [middle[i + j] for i in range(count) for j in range(1, count + 1)])
    try:
        solved = hankel.solve(flint.arb_mat(count, 1, [-middle[i] for i in range(count)]))
    except ZeroDivisionError:
        return None
    coefficients = [float(solved[j, 0]) for j in range(count)]
    if not np.isfinite(coefficients).all():
        return None
    inverses = np.roots([1.0, *coefficients])
    if np.abs(inverses.imag).max() > 1e-6 * np.abs(inverses).max() or inverses.real.min() <= 0:
        return None
    return [scale / arb(float(x)) for x in inverses.real]
