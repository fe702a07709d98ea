"""Closed forms at an instance: exact where rational, to sixty digits elsewhere."""

from fractions import Fraction

import sympy as sp

from theorems.closed_forms import ROUNDED, roots_of, values_of

n = sp.Symbol("n", integer=True, positive=True)


def test_rational_values_are_exact_and_others_close():
    third, root = values_of(n / 3, sp.sqrt(n))({"n": 2})
    assert third == Fraction(2, 3) and abs(root**2 - 2) < 4 * ROUNDED and root**2 != 2
    assert values_of(n, factors=(Fraction(21, 20),))({"n": Fraction(1, 3)}) == [Fraction(7, 20)]


def test_roots_are_those_of_the_symmetric_functions_and_only_the_real_ones():
    # The polynomials are (x - 1)(x - 2)(x - n) and x² + 1.
    found = roots_of(values_of(n + 3, 3 * n + 2, 2 * n))({"n": 5})
    assert all(abs(root - at) < ROUNDED * 10 for root, at in zip(found, (1, 2, 5), strict=True))
    assert roots_of(values_of(sp.S.Zero, sp.S.One))({}) == []
