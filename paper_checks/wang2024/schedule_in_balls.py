"""Population gradient descent on the set at the figures' sizes, every step enclosed, and the point of the least loss.

A step maps (α, C) to (α − ηf, C − ηg), with f = (∂L/∂α)/d and g = (∂L/∂C)/d_e. The run is enclosed in a rectangle: a
centre, and bounds r_α and r_C on the distances of α and C from it. After a step the distances from the centre's image
are at most

    |1 − ηR| r_α + η|m| r_C,    η(d/d_e)|m| r_α + |1 − ηh| r_C,

where m = αR' − P'/q and h = d/(2d_e)(α²R'' − 2αP''/q), and R, m and h are enclosed over the rectangle. `share_curves`
encloses P and R. The two mixed terms have the same sign. So if 1 − ηR and 1 − ηh are positive and m has one sign, the
bounds grow no faster than the distances between two runs.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import flint
from flint import arb, fmpq

from paper_checks.wang2024.descent_in_balls import Sizes
from theorems.sparse_token_selection.share_curve_primitives import gain_bend, gain_slope
from theorems.sparse_token_selection.share_curves import Jet, share_curves
from verify.errors import UndecidedError

BITS, _PLACES, _TRISECTIONS = 192, 96, 100
_HALF = fmpq(1, 2)


class Place(NamedTuple):
    """Enclosures of α, C and the loss after a step."""

    step: int
    alpha: arb
    C: arb
    loss: arb


class Least(NamedTuple):
    """Enclosures at the point of the least loss: α, C, the loss, and the Hessian's eigenvalues in (√d α, √d_e C)."""

    alpha: arb
    C: arb
    loss: arb
    slow: arb
    fast: arb


class SetCurves:
    """Enclosures of P and R over intervals of C, at given sizes."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes, self.curves = sizes, share_curves(sizes.T, sizes.q, sizes.d_e, sizes.query)

    def over(self, low: fmpq, high: fmpq) -> Jet:
        """Return P and R over an interval, which may extend over several cells of the enclosures."""
        end = ((low / _HALF).floor() + 1) * _HALF
        if high <= end:
            return self.curves.over(low, high)
        parts = self.curves.over(low, end), self.over(end, high)
        return Jet(*(getattr(parts[0], name).union(getattr(parts[1], name)) for name in Jet.__annotations__))

    def slopes(self, alpha: arb, jet: Jet) -> tuple[arb, arb]:
        """Return f and g."""
        _, q, d, D, _ = self.sizes
        return alpha * jet.R - jet.P / q, (alpha * alpha * jet.R1 - 2 * alpha * jet.P1 / q) * d / (2 * D)

    def curvatures(self, alpha: arb, jet: Jet) -> tuple[arb, arb, arb]:
        """Return R, m and h."""
        _, q, d, D, _ = self.sizes
        return jet.R, alpha * jet.R1 - jet.P1 / q, (alpha * alpha * jet.R2 - 2 * alpha * jet.P2 / q) * d / (2 * D)

    def loss(self, alpha: arb, jet: Jet) -> arb:
        """Return d/2 (α²R − 2αP/q + 1/q)."""
        _, q, d, _, _ = self.sizes
        return (alpha * alpha * jet.R - 2 * alpha * jet.P / q + fmpq(1, q)) * d / 2


def _rounded(x: arb) -> tuple[fmpq, arb]:
    """Return a number of few digits near a ball's middle, and the largest distance of the ball's points from it."""
    near = fmpq((x.mid() * 2**_PLACES).floor().unique_fmpz(), 2**_PLACES)
    return near, abs(x - near).upper()


def places(sizes: Sizes, rates: Iterable[Fraction], read: set[int]) -> list[Place]:
    """Return the places of descent from zero with these step sizes, after the numbers of steps in `read`.

    Raises UndecidedError if the enclosures become too wide, or if C falls below 0.
    """
    curve, found = SetCurves(sizes), list[Place]()
    a, c, off_a, off_c = fmpq(0), fmpq(0), arb(0), arb(0)
    ratio = fmpq(sizes.d, sizes.d_e)
    with flint.ctx.workprec(BITS):
        for step, rate in enumerate(rates, 1):
            eta = fmpq(rate.numerator, rate.denominator)
            R, m, h = curve.curvatures(arb(a) + arb(0, off_a), curve.over(*_ends(c, off_c)))
            f, g = curve.slopes(arb(a), curve.over(c, c))
            (a, more_a), (c, more_c) = _rounded(a - eta * f), _rounded(c - eta * g)
            off_a, off_c = (
                (abs(1 - eta * R) * off_a + eta * abs(m) * off_c + more_a).upper(),
                (eta * ratio * abs(m) * off_a + abs(1 - eta * h) * off_c + more_c).upper(),
            )
            if step in read:
                alpha, over = arb(a) + arb(0, off_a), curve.over(*_ends(c, off_c))
                found.append(Place(step, alpha, arb(c) + arb(0, off_c), curve.loss(alpha, over)))
    return found


def _ends(c: fmpq, off: arb) -> tuple[fmpq, fmpq]:
    """Return the ends of an interval in C >= 0 that contains all C within the distance `off` of a number."""
    if off == 0:
        return c, c
    if not off < c:
        raise UndecidedError("the enclosure of the descent is too wide")
    reach = off.fmpq()
    return c - reach, c + reach


def least(sizes: Sizes, end: Fraction) -> Least:
    """Enclose the point of the least loss, at the one zero of (log G)' on [0, end]; G = P²/(qR) is the gain.

    log G has to be concave on [0, end]. If the hypotheses of the least-loss theorems hold with C_1 = `end`, it is
    concave, and the point has the least loss over α and C >= 0. Raises UndecidedError unless (log G)' is enclosed above
    0 at C = 0 and below 0 at the end.
    """
    _, q, d, D, _ = sizes
    curve, low, high = SetCurves(sizes), fmpq(0), fmpq(end.numerator, end.denominator)
    with flint.ctx.workprec(BITS):
        if not (gain_slope(curve.over(low, low), q) > 0 and gain_slope(curve.over(high, high), q) < 0):
            raise UndecidedError("the slope of the gain does not change its sign")
        # log G is concave, so that its slope's sign at either of two points excludes a third of the interval.
        for _ in range(_TRISECTIONS):
            third = (high - low) / 3
            first, second = low + third, high - third
            if gain_slope(curve.over(first, first), q) > 0:
                low = first
            elif gain_slope(curve.over(second, second), q) < 0:
                high = second
            else:
                break
        C = arb((low + high) / 2, (high - low) / 2)
        jet = curve.over(low, high)
        alpha = jet.P / (q * jet.R)
        R, m, h = curve.curvatures(alpha, jet)
        half, root = (R + h) / 2, (((R - h) / 2) ** 2 + m * m * d / D).sqrt()
        # The smaller eigenvalue is the determinant, by a formula for (log G)' = 0, over the larger eigenvalue.
        slow = -(jet.P**2) / q**2 * gain_bend(jet, q) * d / (2 * D) / (half + root)
        return Least(alpha, C, d * (1 - jet.P * jet.P / (q * jet.R)) / (2 * q), slow, half + root)
