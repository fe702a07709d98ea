"""Balls of Arb: conversion from and to rational numbers, columns and matrices of balls, and the cost of operations."""

from collections.abc import Iterable
from fractions import Fraction

from flint import arb, arb_mat, fmpq

from .reading import Rejected, TooLarge

_MOST_BITS = 2**20
"""Largest binary exponent of a ball's endpoint that is converted to a fraction: some 300 000 digits."""
_LARGEST_EXPONENT = 4096
"""Maximum length, in bits, of the exponent of a ball's midpoint or radius; each step x ← x² adds one bit."""


def ball(value: Fraction | int) -> arb:
    """Return the enclosure of a rational number at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def measured(value: arb) -> arb:
    """Return a ball unchanged. Raises TooLarge if its exponents are too long."""
    for part in (value.mid(), value.rad()):
        if part.is_finite() and part.man_exp()[1].bit_length() > _LARGEST_EXPONENT:
            raise TooLarge("bits in the exponent of a ball", _LARGEST_EXPONENT)
    return value


def midpoint(point: arb) -> Fraction:
    """Return a ball's midpoint. Raises Rejected if the ball is not finite, or the midpoint has too many digits."""
    if not point.is_finite():
        raise Rejected("an end of a ball is not finite")
    mantissa, exponent = map(int, point.mid().man_exp())
    if abs(exponent) > _MOST_BITS:
        raise Rejected("an end of a ball is too large or too small")
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def low(value: arb) -> Fraction:
    """Return a ball's lower endpoint."""
    return midpoint(value.lower())


def high(value: arb) -> Fraction:
    """Return a ball's upper endpoint."""
    return midpoint(value.upper())


def inverse(matrix: arb_mat, where: str) -> arb_mat:
    """Return the inverse of a matrix of balls. Raises Rejected if it may have none."""
    try:
        return matrix.inv()
    except ZeroDivisionError:
        raise Rejected(f"{where}: a matrix is not shown to be invertible") from None


def listed(vector: arb_mat) -> list[arb]:
    """Return the entries of a column."""
    return [vector[i, 0] for i in range(vector.nrows())]


def column(values: Iterable[arb]) -> arb_mat:
    """Return a column of balls."""
    return arb_mat([[x] for x in values])


def cost(bits: int, weight: int = 1) -> float:
    """Return the nominal microseconds of an operation on balls that costs `weight` multiplications."""
    return 0.25 + weight * (0.02 + 0.0004 * (bits / 64) ** 2)
