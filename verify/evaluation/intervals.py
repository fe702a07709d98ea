"""Intervals with exact endpoints and outward rounding.

The radius of a ball is coarse, so that the ball around [0, A] contains negative numbers. An interval keeps the end 0
exactly: 0 · x is 0, and a comparison with a bound that is attained is decided. Intervals are slower than balls, and
are used for few boxes only.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import flint

from verify.errors import TheoremError, UndecidedError
from verify.evaluation.arithmetic import quotient, self_test

FIRST_BITS = 256
"""Initial number of bits of the endpoints; it is doubled while a box is undecided."""
LAST_BITS = 1024
"""Largest number of bits; a box that intervals of so many bits do not decide stays undecided."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The closed interval [lo, hi]; both ends are exact binary numbers."""

    lo: flint.arb
    hi: flint.arb

    def __add__(self, other: "Interval") -> "Interval":
        return Interval((self.lo + other.lo).lower(), (self.hi + other.hi).upper())

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval((self.lo - other.hi).lower(), (self.hi - other.lo).upper())

    def __neg__(self) -> "Interval":
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other: "Interval") -> "Interval":
        products = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(min(p.lower() for p in products), max(p.upper() for p in products))

    def __truediv__(self, other: "Interval") -> "Interval":
        if not (other.lo > 0 or other.hi < 0):
            raise UndecidedError("division by an interval that contains 0")
        return self * Interval((1 / other.hi).lower(), (1 / other.lo).upper())

    def __pow__(self, exponent: int) -> "Interval":
        if exponent < 0:
            raise TheoremError("negative powers of intervals are written as divisions")
        low, high = self.lo**exponent, self.hi**exponent
        if exponent % 2 or self.lo >= 0:
            return Interval(low.lower(), high.upper())
        if self.hi <= 0:
            return Interval(high.lower(), low.upper())
        return Interval(flint.arb(0), max(low.upper(), high.upper()))


class IntervalArithmetic:
    """The arithmetic of `Interval`s; make one with `intervals()`."""

    name = "interval"

    def rational(self, numerator: int, denominator: int) -> Interval:
        ball = flint.arb(quotient(numerator, denominator))
        return Interval(ball.lower(), ball.upper())

    def number(self, value: Fraction | int | Interval) -> Interval:
        if isinstance(value, Interval):
            return value
        return self.rational(value.numerator, value.denominator)

    def sign(self, raw: Interval) -> int:
        if not (raw.lo > 0 or raw.hi < 0 or (raw.lo == 0 and raw.hi == 0)):
            raise UndecidedError("the interval contains 0")
        return (raw.lo > 0) - (raw.hi < 0)

    def exp(self, raw: Interval) -> Interval:
        return _monotone(flint.arb.exp, raw)

    def log(self, raw: Interval) -> Interval:
        if not raw.lo > 0:
            raise UndecidedError("logarithm of an interval that contains 0")
        return _monotone(flint.arb.log, raw)

    def sqrt(self, raw: Interval) -> Interval:
        if not raw.lo >= 0:
            raise UndecidedError("square root of an interval that contains negative numbers")
        return _monotone(flint.arb.sqrt, raw)

    def power(self, base: Interval, exponent: Interval) -> Interval:
        return self.exp(exponent * self.log(base))


def _monotone(function: Callable[[flint.arb], flint.arb], raw: Interval) -> Interval:
    return Interval(function(raw.lo).lower(), function(raw.hi).upper())


@contextmanager
def intervals(bits: int = FIRST_BITS) -> Iterator[IntervalArithmetic]:
    """Yield the interval arithmetic at `bits`; the precision of the backend is restored afterwards."""
    self_test()
    with flint.ctx.workprec(bits):
        yield IntervalArithmetic()
