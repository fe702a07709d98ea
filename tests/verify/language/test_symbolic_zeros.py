"""Symbolic zeros, compared with known expansions and with high-precision values at fixed points."""

import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st

from verify.errors import TheoremError, UndefinedError
from verify.language.symbolic_zeros import carry_out, sample_points, share_exponentials, vanishes

x, y, C = sp.symbols("x y C", real=True)
n = sp.Symbol("n", integer=True, positive=True)

POLYNOMIALS = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(0, 2), st.integers(0, 2), st.integers(-2, 2)), min_size=1, max_size=4
).map(lambda terms: sum((c * x**i * y**j * sp.exp(k * C) for c, i, j, k in terms), sp.Integer(0)))


@pytest.mark.parametrize(
    "zero",
    [
        (x + y) ** 3 - (x**3 + 3 * x**2 * y + 3 * x * y**2 + y**3),
        (x**2 - 1) / (x - 1) - (x + 1),
        1 / (x * y) - (1 / x - 1 / y) / (y - x),
        sp.exp(2 * C) - sp.exp(C) ** 2,
        (sp.exp(C) - sp.exp(-C)) * (sp.exp(C) + sp.exp(-C)) - sp.exp(2 * C) + sp.exp(-2 * C),
        sp.exp(C / 2) * sp.exp(C / 3) - sp.exp(5 * C / 6),
        sp.exp(x + y) - sp.exp(x) * sp.exp(y),
        sp.exp(C) / (sp.exp(C) + x) + x * sp.exp(-C) / (1 + x * sp.exp(-C)) - 1,
        sp.Derivative(sp.exp(x**2), x) - 2 * x * sp.exp(x**2),
        sp.Limit((C**2 + x) / (C + 1), C, 0) - x,
        sp.Integer(0),
    ],
)
def test_an_identity_vanishes_and_a_perturbed_one_does_not(zero):
    assert vanishes(zero) is True
    assert vanishes(zero + sp.Rational(1, 10**12)) is False
    assert vanishes(zero + sp.exp(7 * C) / 10**12) is False


@settings(max_examples=60)
@given(POLYNOMIALS, POLYNOMIALS, POLYNOMIALS)
def test_products_and_quotients_expand(a, b, c):
    assert vanishes(a * (b + c) - sp.expand(a * b) - sp.expand(a * c))
    if not vanishes(b):
        assert vanishes(a / b + c / b - (a + c) / b)


@settings(max_examples=60)
@given(POLYNOMIALS, POLYNOMIALS)
def test_the_answer_is_that_of_values_at_a_point(a, b):
    # The coordinates of this point seem to be algebraically independent, so a non-zero exponential polynomial with
    # these small coefficients is not 0 there; 60 digits distinguish its value from 0.
    difference = sp.expand(a) - b * (1 + x)
    with mpmath.workdps(60):
        value = sp.lambdify((x, y, C), difference, "mpmath")(mpmath.pi, mpmath.sqrt(3), mpmath.log(7))
        assert vanishes(difference) is bool(abs(value) < mpmath.mpf(10) ** -40)


@pytest.mark.parametrize("expression", [sp.sqrt(1 + x**2) - x, sp.log(1 + x**2), (1 + x**2) ** n, sp.sin(x), x**n - x])
def test_expressions_that_are_not_rational_are_refused_and_not_guessed(expression):
    with pytest.raises(TheoremError, match="not rational"):
        vanishes(expression)


def test_no_rational_function_is_the_exponential_of_a_number():
    # e is transcendental.
    assert vanishes(sp.exp(2) - 7) is False and vanishes(sp.exp(x - 2) * sp.exp(2) - sp.exp(x)) is True


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 4), st.integers(-2, 2)), min_size=1, max_size=4))
def test_shared_exponentials_mean_what_they_replace(terms):
    expression = sum((sp.exp(sp.Rational(p, r) * C + k * x) * (i + 2) for i, (p, r, k) in enumerate(terms)), y)
    (shared,), meaning = share_exponentials([expression])
    for node in shared.atoms(sp.Pow):
        assert node.exp.is_Integer
    assert not shared.atoms(sp.exp)
    restored = shared.xreplace(meaning)
    with mpmath.workdps(50):
        at = (mpmath.mpf(2) / 3, mpmath.mpf(5) / 7, mpmath.mpf(-3) / 5)
        values = [sp.lambdify((x, y, C), e, "mpmath")(*at) for e in (expression, restored)]
        # The values are below e^20 ~ 10^9 and come from a few roundings to 50 digits.
        assert abs(values[0] - values[1]) < mpmath.mpf(10) ** -35


def test_exponentials_of_numbers_stay():
    (shared,), meaning = share_exponentials([sp.exp(2) + x])
    assert shared == sp.exp(2) + x and not meaning


def test_only_falling_exponentials_share_the_falling_one():
    (shared,), meaning = share_exponentials([sp.exp(-C) + sp.exp(-2 * C)])
    assert list(meaning.values()) == [sp.exp(-C)] and not shared.has(sp.Pow(sp.Wild("a"), -1))


def test_operations_are_carried_out_inside_each_other():
    nested = sp.Limit(sp.Derivative(x**3 * y, x) / x, x, 2)
    # (d/dx x³y)/x = 3xy, which is 6y at x = 2.
    assert sp.expand(carry_out(nested)[0] - 6 * y) == 0
    assert carry_out(sp.Subs(sp.Derivative(x**2, x), x, y))[0] == 2 * y
    assert carry_out(x + y) == (x + y, [])
    with pytest.raises(UndefinedError, match="infinite"):
        carry_out(sp.Limit(1 / x, x, 0))


def test_sample_points_fit_the_symbols_and_differ():
    points = list(sample_points([n, x, y], count=4))
    assert len({tuple(sorted(point.items(), key=str)) for point in points}) == 4
    for point in points:
        assert set(point) == {n, x, y}
        assert point[n].is_Integer and all(value > 0 and value.is_Rational for value in point.values())
    assert list(sample_points([], count=2)) == [{}, {}]


@given(POLYNOMIALS)
def test_a_nonzero_polynomial_differs_from_zero_at_some_sample_point(polynomial):
    expanded = sp.expand(polynomial.subs(C, 0))
    assume(expanded != 0)
    values = [expanded.subs(point) for point in sample_points([x, y])]
    # The points are on the line 3x = 4y, on which few of these polynomials vanish at six points.
    assert any(value != 0 for value in values) or sp.rem(expanded, 3 * x - 4 * y, x) == 0
