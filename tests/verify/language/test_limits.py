"""Limits of rational functions, compared with degrees, leading coefficients and known series."""

import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st

from verify.errors import TheoremError, UndefinedError
from verify.language import limits


def rational_limit(*arguments):
    return limits.rational_limit(*arguments)[0]


x, a, b = sp.symbols("x a b", real=True)
COEFFICIENTS = st.lists(st.integers(-4, 4), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("expression", "point", "limit"),
    [
        ((x**2 - 1) / (x - 1), 1, 2),
        ((x**2 - a**2) / (x - a), a, 2 * a),
        (x * (1 / x + 1), 0, 1),
        ((a * x + 1) / (b * x - 1), sp.oo, a / b),
        ((a * x + 1) / (b * x - 1), -sp.oo, a / b),
        (x / (x**2 + 1), sp.oo, 0),
        ((x + 1) ** 5 - x**5 - 5 * x**4 - 10 * x**3 - 10 * x**2 - 5 * x, sp.oo, 1),
        ((1 / (1 - x) - 1 - x) / x**2, 0, 1),
        ((1 / (a + x) - 1 / a) / x, 0, -1 / a**2),
        (x, 0, 0),
        (a + 0 * x, sp.oo, a),
        (1 / (x - 2) - 4 / (x**2 - 4), 2, sp.Rational(1, 4)),
        (x - x**2 / (x + a), sp.oo, a),
    ],
)
def test_a_known_limit_is_found(expression, point, limit):
    assert sp.expand(sp.together(rational_limit(sp.sympify(expression), x, point) - limit)) == 0


@pytest.mark.parametrize("depth", [1, 6, 7, 12, 13, 20])
def test_cancellation_of_any_depth_up_to_the_last_is_seen_through(depth):
    # 1/(1 − x) = Σ x^k, so the remainder after `depth` terms begins with x^depth.
    tail = 1 / (1 - x) - sp.Add(*(x**k for k in range(depth)))
    assert rational_limit(tail / x**depth, x, 0) == 1
    assert rational_limit(tail / x ** (depth - 1), x, 0) == 0
    with pytest.raises(UndefinedError, match="infinite"):
        rational_limit(tail / x ** (depth + 1), x, 0)


@pytest.mark.parametrize("power", [1, 2, 9, 30, 200])
def test_high_powers_beside_a_constant(power):
    assert rational_limit(a + x**power, x, sp.Integer(0)) == a
    assert rational_limit(a + 1 / x**power, x, sp.oo) == a


def test_cancellation_deeper_than_the_last_terms_is_not_guessed():
    tail = 1 / (1 - x) - sp.Add(*(x**k for k in range(40)))
    with pytest.raises(TheoremError, match="was not found"):
        rational_limit(tail / x**40, x, 0)


@settings(max_examples=60)
@given(COEFFICIENTS, COEFFICIENTS)
def test_the_limit_at_infinity_is_that_of_the_leading_coefficients(above, below):
    assume(above[0] and below[0])
    p, q = (sp.Poly(coefficients, x).as_expr() for coefficients in (above, below))
    degree = len(above) - len(below)
    if degree > 0:
        with pytest.raises(UndefinedError, match="infinite"):
            rational_limit(p / q, x, sp.oo)
    else:
        expected = sp.Rational(above[0], below[0]) if degree == 0 else 0
        assert rational_limit(p / q, x, sp.oo) == expected


@settings(max_examples=60)
@given(COEFFICIENTS, COEFFICIENTS, st.integers(-2, 2), st.integers(0, 3), st.integers(0, 3))
def test_the_limit_at_a_common_root_is_that_of_the_cofactors(above, below, root, zeros, poles):
    p, q = (sp.Poly(coefficients, x).as_expr() for coefficients in (above, below))
    top, bottom = p.subs(x, root), q.subs(x, root)
    assume(top and bottom)
    # The numerator and the denominator are expanded, so that SymPy does not cancel the factors (x − root).
    quotient = sp.expand(p * (x - root) ** zeros) / sp.expand(q * (x - root) ** poles)
    if poles > zeros:
        with pytest.raises(UndefinedError, match="infinite"):
            rational_limit(quotient, x, sp.Integer(root))
    else:
        expected = sp.Rational(top, bottom) if poles == zeros else 0
        assert rational_limit(quotient, x, sp.Integer(root)) == expected


@pytest.mark.parametrize("expression", [1 / x, x + 1 / x**3, 1 / (x**2 * (a + x))])
def test_an_infinite_limit_is_an_error(expression):
    with pytest.raises(UndefinedError, match="infinite"):
        rational_limit(expression, x, sp.Integer(0))


@pytest.mark.parametrize("expression", [sp.exp(x), sp.sqrt(x) / x, sp.log(x), x * sp.exp(a), sp.sqrt(2) * x / (1 + x)])
def test_an_expression_that_is_not_rational_is_an_error(expression):
    with pytest.raises(TheoremError, match="not rational"):
        rational_limit(expression, x, sp.Integer(0))


def test_a_quotient_by_what_vanishes_identically_is_an_error():
    hidden_zero = (x + 1) ** 2 - x**2 - 2 * x - 1
    with pytest.raises(TheoremError):
        rational_limit(a / hidden_zero, x, sp.Integer(0))
