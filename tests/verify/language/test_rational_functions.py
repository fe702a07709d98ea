"""Rational functions in lowest terms, compared with SymPy's own cancellation."""

import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st

from verify.errors import TheoremError, UndefinedError
from verify.language.rational_functions import QuotientField

x, y = sp.symbols("x y", real=True)
FIELD = QuotientField([x, y])
EXPRESSIONS = st.recursive(
    st.sampled_from([x, y, sp.Integer(2), sp.Rational(-1, 3)]),
    lambda inner: (
        st.builds(sp.Add, inner, inner)
        | st.builds(sp.Mul, inner, inner)
        | st.builds(lambda e, k: e**k, inner, st.integers(0, 2))
        | st.builds(lambda e, k: (e**2 + 1) ** -k, inner, st.integers(1, 2))
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(EXPRESSIONS, EXPRESSIONS)
def test_the_field_agrees_with_sympy(first, second):
    p, q = FIELD.from_sympy(sp.sympify(first)), FIELD.from_sympy(sp.sympify(second))
    for element, expected in ((p + q, first + second), (p * q, first * second), (-p, -first)):
        assert sp.cancel(FIELD.to_sympy(element) - expected) == 0
        numerator, denominator = sp.fraction(sp.cancel(expected))
        # In lowest terms, the degrees are the same as SymPy's.
        shown = sp.fraction(sp.together(FIELD.to_sympy(element)))
        for mine, theirs in zip(shown, (numerator, denominator), strict=True):
            assert sp.Poly(mine, x, y).total_degree() == sp.Poly(theirs, x, y).total_degree()
    assert bool(p) is (sp.cancel(first) != 0)


@settings(max_examples=30)
@given(EXPRESSIONS)
def test_an_inverse_times_its_element_is_one(expression):
    element = FIELD.from_sympy(sp.sympify(expression))
    assume(element)
    assert FIELD.to_sympy(element * FIELD.inverse(element)) == 1


def test_a_hidden_zero_is_false_and_has_no_inverse():
    zero = FIELD.from_sympy((x + y) ** 2 - x**2 - 2 * x * y - y**2)
    assert not zero and FIELD.one
    with pytest.raises(UndefinedError, match="division by zero"):
        FIELD.inverse(zero)
    with pytest.raises(UndefinedError, match="division by zero"):
        FIELD.from_sympy(1 / ((x + 1) ** 2 - x**2 - 2 * x - 1))


@pytest.mark.parametrize("expression", [sp.sqrt(x), sp.exp(x), sp.Symbol("z"), x**y, sp.pi * x, sp.Float(0.5), sp.oo])
def test_expressions_not_rational_in_the_symbols_are_refused(expression):
    with pytest.raises(TheoremError, match="not rational"):
        FIELD.from_sympy(expression)


def test_a_field_without_symbols_is_the_rationals():
    field = QuotientField([])
    assert field.to_sympy(field.from_sympy(sp.Rational(2, 3)) + field.one) == sp.Rational(5, 3)
    with pytest.raises(TheoremError):
        field.from_sympy(x)


def test_an_element_is_a_product_of_powers_of_irreducible_polynomials():
    element = FIELD.from_sympy((6 * x**3 * y - 6 * x**3) / (4 * x * (x**2 + 2 * x * y + y**2)))
    powers = FIELD.in_factors(element).as_powers_dict()
    assert {(factor, power) for factor, power in powers.items() if factor.free_symbols} == {
        (x, 2),
        (y - 1, 1),
        (x + y, -2),
    }
    assert sp.expand(FIELD.in_factors(element) * 2 * (x + y) ** 2 - 3 * x**2 * (y - 1)) == 0
    assert FIELD.in_factors(FIELD.zero) == 0
