"""Sums of squares with exact coefficients: the polynomial minus the squares has no negative coefficient."""

from fractions import Fraction

import pytest
import sympy as sp

from verify.provers.orthant_cases import Orthant
from verify.provers.sums_of_squares import squares_in, squares_with
from verify.provers.zeros import Zeros, zeros_on

x, y, z = sp.symbols("x y z")


def found(expression):
    symbols = sorted(expression.free_symbols, key=str)
    terms = {p: int(c) for p, c in sp.Poly(expression, *symbols).terms()}
    zeros = Orthant(terms, tuple(map(str, symbols)), (True,) * len(symbols), strict=False).zeros()
    return None if zeros is None else squares_in(terms, zeros), symbols


def value(terms, symbols):
    return sp.Add(
        *(sp.Rational(Fraction(c)) * sp.prod(s**k for s, k in zip(symbols, p, strict=True)) for p, c in terms.items())
    )


@pytest.mark.parametrize(
    ("expression", "least"),
    [
        (3 * x**2 - 3 * x + 1, 1),
        ((2 * x**2 - 6 * x + 5) * (x - 5) ** 2 + 2, 2),
        # Polynomials with a zero, at which all squares are 0.
        ((x**2 - 1) ** 2 + (x * y - 1) ** 2, 2),
        (x**4 + y**4 + z**4 + 1 - 4 * x * y * z, 3),
        # Polynomials that are nonnegative only on the orthant: squares times variables.
        (x**4 * y**2 + x**2 * y**4 + 1 - 3 * x**2 * y**2, 3),
        (x**3 + y**3 + z**3 - 3 * x * y * z, 3),
        (x * ((y - 1) ** 2 + (x - y) ** 2), 2),
    ],
    ids=str,
)
def test_squares_leave_no_negative_coefficient(expression, least):
    squares, symbols = found(expression)
    assert len(squares) >= least
    assert all(square.factor > 0 for square in squares)
    taken = sum(sp.Rational(s.factor) * value(s.weight, symbols) * value(s.root, symbols) ** 2 for s in squares)
    assert all(c >= 0 for c in sp.Poly(expression - taken, *symbols).coeffs())


@pytest.mark.parametrize(
    "expression",
    [(x - 1) * (x - 2), x**2 - 3 * x * y + y**2, x**2 * y + x * y**2 + 1 - 3 * x * y, x**40 - x + 1],
    ids=["negative", "indefinite", "no sum of squares", "too large"],
)
def test_where_there_are_none_none_are_found(expression):
    assert found(expression)[0] is None


def test_multiples_of_equations_have_any_sign():
    # On x² + y² = 1: 5 − 3x − 4y = (5/2)((x − 3/5)² + (y − 4/5)²) − (5/2)(x² + y² − 1).
    terms = {(0, 0): Fraction(5), (1, 0): Fraction(-3), (0, 1): Fraction(-4)}
    circle = {(2, 0): Fraction(1), (0, 2): Fraction(1), (0, 0): Fraction(-1)}
    zeros, real = zeros_on(terms, [circle], [], [True, True]), [True, True]
    one = {(0, 0): Fraction(1)}
    squares = squares_with(terms, [one], zeros, real, [False, False], [circle])
    total = sum(sp.Rational(s.factor) * value(s.weight, (x, y)) * value(s.root, (x, y)) ** 2 for s in squares)
    assert sp.expand(total - (5 - 3 * x - 4 * y)) == 0
    assert [s.factor for s in squares if s.place == 1] == [Fraction(-5, 2)]
    assert all(s.factor > 0 for s in squares if s.place == 0)
    assert squares_with(terms, [one], Zeros([]), real, [False, False]) is None
