r"""The words in which descent to the least loss is stated, as primitives of the language.

Arguments are exact: T tokens, the encodings' dimension d_e, d where it is needed, `query`, 1 where the query's token is
attended to, else 0, and `reach`, a C > 0. Three tokens are selected. UndefinedError where there is no such model, or it
is larger than is computed with; UndecidedError where the enclosures do not say enough.

With α = (1 + z) P/(3R), so that L ≤ L(0) is |z| ≤ 1, and G = P²/(3R),

    L = d/6 (1 − G + G z²),    ∂L/∂α = d P z/3,    ∂L/∂C = −d/6 (1 + z)(G' − z G R'/R).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from theorems.sparse_token_selection.attention_curves import Curves, Range, close, curves
from theorems.sparse_token_selection.attention_gain import gain_from
from theorems.sparse_token_selection.three_selected import Floats, Sizes
from verify import Enclosure, enclosed
from verify.errors import UndecidedError, UndefinedError

MOST_TOKENS, MOST_DIMENSIONS, FURTHEST = 10**4, 400, 16
_SHARES, _WIDEST, _GRID = 100, 0.1, 1024


def _sizes(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Sizes:
    """Return a model's sizes. Raises UndefinedError where there is no such model."""
    if not all(part.denominator == 1 for part in (T, D, query)) or T < 4 or D < 1 or query not in (0, 1):
        raise UndefinedError(f"T = {T}, d_e = {D}, query = {query}: integers with T >= 4, d_e >= 1, 0 or 1")
    if T > MOST_TOKENS or D > MOST_DIMENSIONS or not 0 < reach <= FURTHEST:
        raise UndefinedError(
            f"T = {T}, d_e = {D}, reach = {reach}: at most {MOST_TOKENS}, {MOST_DIMENSIONS}, {FURTHEST}"
        )
    return Sizes(int(T), int(D), int(query))


def _outside(low: float, high: float) -> Enclosure:
    """Return an enclosure, rounded outwards."""
    return Enclosure(Fraction(float(np.nextafter(low, -np.inf))), Fraction(float(np.nextafter(high, np.inf))))


def _curves(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Curves:
    return curves(_sizes(T, D, query, reach), float(reach))


def _norm(a: Floats, m: Floats, c: Floats) -> Floats:
    """Return the largest eigenvalues of [[a, m], [m, c]], which rise in all three where these are not negative."""
    return (a + c) / 2 + np.hypot((a - c) / 2, m)


def _curvature(T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    there, ratio = _curves(T, D, query, reach).everywhere, float(d / D)
    (P, P1, P2), (R, R1, R2) = there.P, there.R
    best = P / R.times(3)
    # αR' − P'/3 is between its values at α = 0 and 2P/(3R), and so is αR'' − 2P''/3.
    mixed = np.maximum(P1.times(1 / 3).size, (best * R1.times(2) - P1.times(1 / 3)).size)
    bend = np.maximum(P2.times(2 / 3).size, (best * R2.times(2) - P2.times(2 / 3)).size) * 2 * best.high
    upper = _norm(R.high, np.sqrt(ratio) * mixed, ratio / 2 * bend)
    return _outside(float(R.low.max()), float(upper.max()))


@enclosed(version=1, scan=lambda *at: _scanned(_curvature, *at))
def largest_curvature(T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the largest absolute eigenvalue of the Hessian in (√d α, √d_e C) where L ≤ L(0) and 0 ≤ C ≤ reach."""
    return _curvature(T, d, D, query, reach)


def _fall(T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    found = _curves(T, D, query, reach)
    gain, _, P = found.gain, found.everywhere, found.everywhere.P[0]
    slope, tilt = gain * found.slope, gain * found.everywhere.logarithmic[1]
    across = P.times(2 * float(D / d) ** 0.5)
    # Finer near 0, where the least value is.
    z = np.linspace(-1, 1, 2 * _SHARES + 1)
    z *= np.abs(z)
    lower = upper = np.full(len(found.start), np.inf)
    for first, last in pairwise(z):
        ends = Range(np.minimum(first * tilt.low, first * tilt.high), np.maximum(first * tilt.low, first * tilt.high))
        more = Range(np.minimum(last * tilt.low, last * tilt.high), np.maximum(last * tilt.low, last * tilt.high))
        drift = slope - Range(np.minimum(ends.low, more.low), np.maximum(ends.high, more.high))
        lower = np.minimum(lower, np.hypot(across.low * min(abs(first), abs(last)), (1 + first) * drift.least))
        upper = np.minimum(upper, np.hypot(across.high * abs(last), (1 + last) * (slope - more).size))
    wide = found.stop - found.start
    return _outside(float(lower @ wide) * (1 - 1e-12), float(upper @ wide) * (1 + 1e-12))


@enclosed(version=1, scan=lambda *at: _scanned(_fall, *at))
def least_fall(T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the integral over 0 ≤ C ≤ reach of the least √(4d_e/d P²z² + (1 + z)²(G' − zGR'/R)²) over |z| ≤ 1.

    That is 6 √d_e/d times the least |∇L| at this C where L ≤ L(0), the gradient in (√d α, √d_e C).
    """
    return _fall(T, d, D, query, reach)


@lru_cache(maxsize=64)
def _turn(sizes: Sizes, reach: float) -> Curves | None:
    """Return curves on what may hold the one zero of G' on [0, reach]; None where G' > 0 throughout.

    Raises UndecidedError where that was not shown.
    """
    found = curves(sizes, reach)
    slope = found.slope
    undecided = np.flatnonzero(slope.least <= 0)
    if (slope.low > 0).all():
        return None
    first, last = (int(undecided[i]) for i in (0, -1)) if len(undecided) else (0, len(slope.low))
    if not (
        (slope.low[:first] > 0).all() and (slope.high[last + 1 :] < 0).all() and 0 < first <= last < len(slope.low) - 1
    ):
        raise UndecidedError("the gain is not shown to rise and then to fall")
    start, stop = float(found.start[first]), float(found.stop[last])
    room = max(0.0, _WIDEST - (stop - start) / 2)
    near = close(sizes, max(0.0, start - room), min(reach, stop + room))
    if not (near.everywhere.bend.high < 0).all():
        raise UndecidedError("the gain is not shown to turn once")
    return near.only((near.slope.low <= 0) & (near.slope.high >= 0))


@enclosed(version=1, scan=lambda *at: _scanned(_turning_points, *at))
def turning_points(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Fraction:
    """Return how many zeros G' has on [0, reach]; each is simple."""
    return _turning_points(T, D, query, reach)


def _turning_points(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Fraction:
    return Fraction(_turn(_sizes(T, D, query, reach), float(reach)) is not None)


def _turned(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Curves:
    found = _turn(_sizes(T, D, query, reach), float(reach))
    if found is None:
        raise UndefinedError(f"reach = {reach}: the gain rises up to there")
    return found


def _turning_point(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    found = _turned(T, D, query, reach)
    return _outside(float(found.start[0]), float(found.stop[-1]))


@enclosed(version=1, scan=lambda *at: _scanned(_turning_point, *at))
def turning_point(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the one zero of G' on [0, reach]."""
    return _turning_point(T, D, query, reach)


def _turning_gain(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    gain = _turned(T, D, query, reach).gain
    return _outside(float(gain.low.min()), float(gain.high.max()))


@enclosed(version=1, scan=lambda *at: _scanned(_turning_gain, *at))
def turning_gain(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose G where G' vanishes."""
    return _turning_gain(T, D, query, reach)


def _least_curvature(T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    there, ratio = _turned(T, D, query, reach).everywhere, float(d / D)
    slope, bend = there.logarithmic[0], there.bend
    # The Hessian's entries there, as R'/R = 2P'/P; its determinant is d/(2d_e) R G/3 times −(log G)''.
    corner = there.gain.times(ratio / 6) * (slope * slope.times(2) - bend)
    determinant = (there.R[0] * there.gain).times(ratio / 6) * Range(-bend.high, -bend.low)
    trace = there.R[0] + corner
    low = determinant.low / trace.high
    high = 2 * determinant.high / trace.low
    return _outside(float(low.min()), float(high.max()))


@enclosed(version=1, scan=lambda *at: _scanned(_least_curvature, *at))
def least_curvature(T: Fraction, d: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the least eigenvalue of the Hessian in (√d α, √d_e C) where G' vanishes and α = P/(3R)."""
    return _least_curvature(T, d, D, query, reach)


def _rise(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    found = _curves(T, D, query, reach)
    of_P, of_R = found.everywhere.logarithmic
    bound, rises = float(reach), (of_P.low > 0) & (of_P.low > of_R.high)
    falls = (of_P.high < 0) | (of_P.high < of_R.low)
    low = bound if rises.all() else float(found.start[int(np.argmin(rises))])
    return _outside(low, float(found.stop[int(np.argmax(falls))]) if falls.any() else bound)


@enclosed(version=1, scan=lambda *at: _scanned(_rise, *at))
def rise(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose the largest C ≤ reach up to which P and P/R do not fall."""
    return _rise(T, D, query, reach)


def _gain_at(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    gain = _curves(T, D, query, reach).gain
    return _outside(float(gain.low[-1]), float(gain.high[-1]))


@enclosed(version=1, scan=lambda *at: _scanned(_gain_at, *at))
def gain_at(T: Fraction, D: Fraction, query: Fraction, reach: Fraction) -> Enclosure:
    """Enclose G at C = reach."""
    return _gain_at(T, D, query, reach)


def _gain_from(T: Fraction, D: Fraction, query: Fraction, C: Fraction) -> Enclosure:
    sizes = _sizes(T, D, query, C)
    return Enclosure(*gain_from(sizes.T, 3, sizes.D, bool(query), C))


@enclosed(version=1, scan=lambda *at: _scanned(_gain_from, *at))
def largest_gain_from(T: Fraction, D: Fraction, query: Fraction, C: Fraction) -> Enclosure:
    """Enclose sup G over all C from a positive one on."""
    return _gain_from(T, D, query, C)


def _scanned(function: Callable[..., Enclosure | Fraction], *at: float) -> float:
    """Return about a primitive's value, in the middle of what encloses it."""
    value = function(*(Fraction(argument).limit_denominator(_GRID) for argument in at))
    return float(value if isinstance(value, Fraction) else value.midpoint)
