"""The means, compared with the enumeration of a finite distribution, index by index."""

from itertools import product

import pytest
import sympy as sp

from theorems.symmetrisation.token_sums import mean_of_product

VALUES = {sp.Integer(-1): sp.Rational(1, 2), sp.Integer(0): sp.Rational(1, 3), sp.Integer(2): sp.Rational(1, 6)}
MOMENTS = {k: sum(p * x**k for x, p in VALUES.items()) for k in range(9)}
IN, OUT = 2, 3
FIRST, SECOND, THIRD = (
    (sp.Integer(3), sp.Integer(-1)),
    (sp.Rational(1, 2), sp.Integer(5)),
    (sp.Integer(1), sp.Integer(7)),
)


def total(coefficients):
    return IN * coefficients[0] + OUT * coefficients[1]


def enumerated(forms):
    mean = sp.Integer(0)
    for point in product(VALUES.items(), repeat=IN + OUT):
        weight = sp.Mul(*(p for _, p in point))
        entries = [x for x, _ in point]
        sums = (sum(c[i >= IN] * x**n for i, x in enumerate(entries)) for c, n in forms)
        mean += weight * sp.Mul(*sums)
    return mean


@pytest.mark.parametrize(
    "forms",
    [
        [(FIRST, 1)],
        [(FIRST, 1), (SECOND, 1)],
        [(FIRST, 2), (SECOND, 1)],
        [(FIRST, 1), (SECOND, 1), (THIRD, 1)],
        [(FIRST, 1), (FIRST, 1), (SECOND, 2), (THIRD, 1)],
    ],
)
def test_by_enumeration(forms):
    assert mean_of_product(forms, MOMENTS, total) == enumerated(forms)


def test_no_forms():
    with pytest.raises(ValueError, match="at least one"):
        mean_of_product([], MOMENTS, total)


def test_a_moment_that_is_missing():
    with pytest.raises(KeyError):
        mean_of_product([(FIRST, 9)], MOMENTS, total)
