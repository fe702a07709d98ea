"""Known facts about growth: tangents of exp and log at any point, integer powers, and integers."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal

from ..polynomials import Quotient
from .atoms import Atoms


def _exponential(field: Atoms, u: Quotient, v: Quotient) -> Quotient:
    """e^u ≥ e^v (1 + u − v)."""
    tangent = field.plus(field.number(Fraction(1)), field.minus(u, v))
    return field.minus(field.exp(u), field.times(field.exp(v), tangent))


def _logarithm(field: Atoms, u: Quotient, v: Quotient) -> Quotient:
    """For u, v > 0: log u ≤ log v + (u − v)/v."""
    logarithms = field.minus(field.log(v), field.log(u))
    return field.plus(logarithms, field.times(field.minus(u, v), field.inverse(v)))


def _rises(field: Atoms, u: Quotient, v: Quotient, n: Quotient) -> Quotient:
    """For u ≥ v ≥ 0 and an integer n ≥ 0: u^n ≥ v^n."""
    field.refuse_negative(field.minus(u, v), v)
    return field.minus(field.whole_exponent(u, n), field.whole_exponent(v, n))


def _three_terms(field: Atoms, u: Quotient, n: Quotient) -> Quotient:
    """(1 + u)^n ≥ 1 + n u + n (n − 1) u²/2 for u ≥ 0 and an integer n ≥ 0: the other terms are ≥ 0."""
    field.refuse_negative(u)
    one, first = field.number(Fraction(1)), field.times(n, u)
    second = field.times(field.number(Fraction(1, 2)), field.times(first, field.minus(first, u)))
    power = field.whole_exponent(field.plus(one, u), n)
    return field.minus(power, field.plus(one, field.plus(first, second)))


def _integer(field: Atoms, n: Quotient) -> Quotient:
    """For an integer n: n (n − 1) ≥ 0."""
    field.apart(n)
    return field.times(n, field.minus(n, field.number(Fraction(1))))


GROWTH: Mapping[str, tuple[int, Literal["Ge"], Callable[..., Quotient]]] = {
    "exp_from": (2, "Ge", _exponential),
    "log_from": (2, "Ge", _logarithm),
    "rises": (3, "Ge", _rises),
    "three_terms": (2, "Ge", _three_terms),
    "integer": (1, "Ge", _integer),
}
"""Known facts by name: the number of expressions, the sign, and the function for the value."""
