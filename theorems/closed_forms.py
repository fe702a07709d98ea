"""Evaluation of closed forms at an instance, to 60 digits."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import sympy as sp

if TYPE_CHECKING:
    from verify.language.parameters import Instance

DIGITS = 60
ROUNDED = Fraction(1, 10**50)
"""Upper bound for the relative error of a closed form's value."""

Values: TypeAlias = "Callable[[Instance], list[Fraction]]"


def values_of(*expressions: sp.Expr, factors: Sequence[Fraction] = ()) -> Values:
    """Return a function that evaluates the expressions at an instance, and multiplies them by the factors, if any."""

    def values(instance: "Instance") -> list[Fraction]:
        found = []
        for expression in expressions:
            known = {symbol: sp.Rational(str(instance[str(symbol)])) for symbol in expression.free_symbols}
            value = expression.xreplace(known)
            found.append(Fraction(str(value if value.is_Rational else sp.N(value, DIGITS))))
        return [value * factor for value, factor in zip(found, factors or [Fraction(1)] * len(found), strict=True)]

    return values


def roots_of(symmetric: Values) -> Values:
    """Return a function that gives, at an instance, the real roots of x^L − e_1 x^{L−1} + e_2 x^{L−2} − …, ascending.

    `symmetric` gives the coefficients e_1 … e_L, the elementary symmetric functions of all roots.
    """

    def values(instance: "Instance") -> list[Fraction]:
        import mpmath

        coefficients = [Fraction(1), *((-1) ** k * value for k, value in enumerate(symmetric(instance), 1))]
        with mpmath.workdps(DIGITS):
            numbers = [mpmath.mpf(c.numerator) / c.denominator for c in coefficients]
            roots = mpmath.polyroots(numbers, maxsteps=500, extraprec=10 * DIGITS)
            real = sorted(mpmath.re(root) for root in roots if abs(mpmath.im(root)) < mpmath.mpf(10) ** (-DIGITS // 2))
            return [Fraction(str(mpmath.nstr(root, DIGITS))) for root in real]

    return values
