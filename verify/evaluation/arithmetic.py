"""The arithmetics in which the engine evaluates a clause.

Exact rationals and balls (Arb) certify. Intervals with exact endpoints certify that boxes are invariant, even if the
image of a box touches its boundary. float64 certifies nothing.
"""

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any, Protocol, TypeVar

import flint

from verify.errors import NotExactError, TheoremError, UndecidedError, UndefinedError
from verify.outcomes import Enclosure

Raw = TypeVar("Raw")
"""A number in the representation of an arithmetic's backend."""

FIRST_BITS = 128
"""Initial number of bits of the balls; it is doubled while a sign is undecided or digits are missing."""
LAST_BITS = 4096
"""Largest number of bits; an evaluation that balls of so many bits do not decide stays undecided."""
_LARGEST_POWER = 10_000
"""Largest size of the exponent of `Exact.power`; a power with a larger exponent is computed in balls."""
_SMALL_POWER = 8
"""Largest size of the exponent of an exact power that is computed without a check of its length."""
_LONGEST_POWER = 2**26
"""Maximum number of bits of an exact power; FLINT ends the process if memory does not suffice."""
_LARGEST_EXPONENT = 2**22
"""Largest size of a binary exponent in an end of a ball; an end beyond it, such as exp(−10^9), is not written out."""


class Arithmetic(Protocol[Raw]):
    """The operations of an arithmetic that a program needs; `raw` numbers are the backend's own numbers."""

    name: str

    def rational(self, numerator: int, denominator: int) -> Raw:
        """Return the quotient, exact, enclosed or rounded. Raises UndefinedError or ZeroDivisionError for p/0."""
        ...

    def number(self, value: Any) -> Raw:
        """Return an int, a Fraction or a raw number as a raw number. Raises TheoremError for anything else.

        In balls an Enclosure becomes the ball that its ends span; in exact arithmetic it raises NotExactError.
        """
        ...

    def sign(self, raw: Raw) -> int:
        """Return -1, 0 or 1. Raises UndecidedError if an enclosure contains 0 and other numbers."""
        ...

    exp: Callable[[Raw], Raw]
    log: Callable[[Raw], Raw]
    sqrt: Callable[[Raw], Raw]
    power: Callable[[Raw, Raw], Raw]


def quotient(numerator: int, denominator: int) -> flint.fmpq:
    """Return the quotient. Raises UndefinedError for denominator 0."""
    if denominator == 0:
        raise UndefinedError("division by zero")
    return flint.fmpq(numerator, denominator)


class Exact:
    """Exact rationals (FLINT's fmpq)."""

    name = "exact"

    def rational(self, numerator: int, denominator: int) -> flint.fmpq:
        return quotient(numerator, denominator)

    def number(self, value: object) -> flint.fmpq:
        if isinstance(value, Enclosure):
            raise NotExactError("an enclosure is not an exact number")
        return _number(self, value, flint.fmpq)

    def sign(self, raw: flint.fmpq) -> int:
        return (raw > 0) - (raw < 0)

    def checked(self, raw: object) -> flint.fmpq:
        """Return a program's result. Raises TheoremError if it is not rational, such as a primitive's approximation."""
        if not isinstance(raw, flint.fmpq):
            raise TheoremError(f"{type(raw).__name__}: not an exact rational")
        return raw

    def exp(self, raw: flint.fmpq) -> flint.fmpq:
        if raw == 0:
            return flint.fmpq(1)
        raise NotExactError("exp of a rational other than 0 is not rational")

    def log(self, raw: flint.fmpq) -> flint.fmpq:
        if raw == 1:
            return flint.fmpq(0)
        raise NotExactError("log of a rational other than 1 is not rational")

    def sqrt(self, raw: flint.fmpq) -> flint.fmpq:
        if raw < 0:
            raise UndefinedError("square root of a negative number")
        root = flint.fmpq(int(raw.p.isqrt()), int(raw.q.isqrt()))
        if root * root != raw:
            raise NotExactError("the square root is not rational")
        return root

    def power(self, base: flint.fmpq, exponent: flint.fmpq) -> flint.fmpq:
        if base == 1 or (base == 0 and exponent > 0):
            return base
        if exponent.q != 1 or abs(exponent) > _LARGEST_POWER:
            raise NotExactError("not a power with a small integer exponent")
        return self.raised(base, int(exponent.p))

    def raised(self, base: flint.fmpq, exponent: int) -> flint.fmpq:
        """Return a power with an integer exponent. Raises NotExactError for a power too long to be written out."""
        if abs(exponent) <= _SMALL_POWER:
            return base**exponent
        length = max(abs(int(base.p)), int(base.q)).bit_length()
        if length > 1 and abs(exponent) * length > _LONGEST_POWER:
            raise NotExactError("a power too long to be written out")
        return base**exponent


class Ball:
    """The arithmetic of real balls (Arb); `balls(bits)` yields it and sets the precision inside its `with` block."""

    def __init__(self, bits: int) -> None:
        self.name, self.bits = "ball", bits

    def rational(self, numerator: int, denominator: int) -> flint.arb:
        return flint.arb(quotient(numerator, denominator))

    def number(self, value: object) -> flint.arb:
        if isinstance(value, Enclosure):
            assert value.lower is not None and value.upper is not None
            return self.number(value.lower).union(self.number(value.upper))
        return _number(self, value, flint.arb)

    def sign(self, raw: flint.arb) -> int:
        if not (raw > 0 or raw < 0 or raw == 0):
            raise UndecidedError("the ball contains 0")
        return (raw > 0) - (raw < 0)

    exp = staticmethod(flint.arb.exp)
    log = staticmethod(flint.arb.log)
    sqrt = staticmethod(flint.arb.sqrt)

    def power(self, base: flint.arb, exponent: flint.arb) -> flint.arb:
        """Return base^exponent.

        If FLINT's power is not finite, and the exponent is a known integer of size at most _LARGEST_POWER, the power is
        computed by multiplications.
        """
        raised = base**exponent
        if raised.is_finite() or not (exponent.is_integer() and abs(exponent) <= _LARGEST_POWER):
            return raised
        power = int(exponent.unique_fmpz())
        return self.raised(base, power) if power >= 0 else 1 / self.raised(base, -power)

    def raised(self, base: Any, exponent: int) -> Any:
        """Return a power with an integer exponent >= 0, by multiplications if FLINT's power of a ball is not finite.

        The base may also be a polynomial over balls.
        """
        raised = base**exponent
        if isinstance(base, flint.arb) and not raised.is_finite() and base.is_finite():
            raised = flint.arb(1)
            for digit in bin(exponent)[2:]:
                raised = raised * raised * (base if digit == "1" else 1)
        return raised


def _of_complex(function: str, raw: float) -> float:
    """Return a NumPy function's value at an array or a complex number; a root of a negative number is complex."""
    import numpy as np

    return getattr(np, function)(raw)


class Float64:
    """IEEE doubles, for scans: fast, and no proof of anything.

    NumPy is imported by the methods that need it, so that a check in another arithmetic does not load it.
    """

    name = "float64"

    def rational(self, numerator: int, denominator: int) -> float:
        return numerator / denominator

    def number(self, value: object) -> float:
        return _number(self, value, float)

    def sign(self, raw: float) -> int:
        import numpy as np

        return int(np.sign(raw))

    def exp(self, raw: float) -> float:
        return math.exp(raw) if isinstance(raw, float) else _of_complex("exp", raw)

    def log(self, raw: float) -> float:
        return math.log(raw) if isinstance(raw, float) else _of_complex("log", raw)

    def sqrt(self, raw: float) -> float:
        return math.sqrt(raw) if isinstance(raw, float) else _of_complex("sqrt", raw)

    power = staticmethod(operator.pow)


def _number(arithmetic: Arithmetic[Raw], value: object, raw: type[Raw]) -> Raw:
    if isinstance(value, raw):
        return value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        exact = Fraction(value)
        return arithmetic.rational(exact.numerator, exact.denominator)
    raise TheoremError(f"{value!r}: not a number of the {arithmetic.name} arithmetic")


@cache
def self_test() -> None:
    """Raise RuntimeError if the backend's elementary operations are wrong (python-flint 0.8 negated wrongly)."""
    third, arb = flint.fmpq(1, 3), flint.arb
    ball = arb(third)
    right = (
        -third == flint.fmpq(-1, 3)
        and bool(-ball + ball == 0 or (-ball + ball).contains(0))
        and bool(-ball < 0)
        and ball.contains(third)
        and not ball.contains(flint.fmpq(1, 3) + flint.fmpq(1, 2**40))
        and bool(arb(1).exp() > arb("2.718281828"))
        and bool(arb(1).exp() < arb("2.718281829"))
        and arb(0).exp() == 1
        and (ball - ball).contains(0)
        and bool(arb(2).sqrt() ** 2 > arb("1.999999999"))
    )
    if not right:
        raise RuntimeError(f"python-flint {flint.__version__} fails its self-test; install another version")


def enclosure_of_ball(raw: flint.arb) -> Enclosure:
    """Return a ball's exact rational ends. Raises UndefinedError for an end too large or too small to write out."""
    return Enclosure(fraction_of_point(raw.lower()), fraction_of_point(raw.upper()))


def fraction_of_point(point: flint.arb) -> Fraction:
    """Return a ball of radius 0 as a Fraction. Raises UndefinedError as `enclosure_of_ball`."""
    mantissa, exponent = map(int, point.man_exp())
    if abs(exponent) > _LARGEST_EXPONENT:
        raise UndefinedError(f"a number of size 2^{exponent} is not written out")
    return Fraction(mantissa * 2**exponent) if exponent >= 0 else Fraction(mantissa, 2**-exponent)


def exact_fraction(raw: flint.fmpq) -> Fraction:
    """Return a FLINT rational as a Fraction."""
    return Fraction(int(raw.p), int(raw.q))


def flint_rational(value: Fraction) -> flint.fmpq:
    """Return a Fraction as a FLINT rational."""
    return flint.fmpq(value.numerator, value.denominator)


def positive_definite(matrix: flint.arb_mat) -> bool | None:
    """Return True if all symmetric matrices in the balls are shown positive definite, False if none is; else None.

    A negative pivot of elimination, or a negative 2×2 principal minor, shows that no matrix is positive definite.
    """
    size = matrix.nrows()
    rows = [[matrix[i, j] for j in range(size)] for i in range(size)]
    if any(rows[i][i] * rows[j][j] - rows[i][j] ** 2 < 0 for i in range(size) for j in range(i)):
        return False
    for k, row in enumerate(rows):
        if not row[k] > 0:
            return False if row[k] < 0 else None
        for other in rows[k + 1 :]:
            ratio = other[k] / row[k]
            for j in range(k, size):
                other[j] = other[j] - ratio * row[j]
    return True


@contextmanager
def balls(bits: int) -> Iterator[Ball]:
    """Yield the ball arithmetic at `bits`; the precision of the backend is restored afterwards."""
    self_test()
    with flint.ctx.workprec(bits):
        yield Ball(bits)
