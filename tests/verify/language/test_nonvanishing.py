"""The signs of the coefficients of polynomials, which imply the signs of their values at nonnegative symbols."""

from fractions import Fraction

import pytest
import sympy as sp

from verify import Identity, Outcome, Parameter, Source, Statement, Theorem, check
from verify.language.nonvanishing import factored, nowhere_zero, sign_of

x, y = sp.symbols("x y", nonnegative=True)
z = sp.Symbol("z", positive=True)


@pytest.mark.parametrize(
    ("polynomial", "symbols", "known"),
    [
        # `known` is (the sign of all coefficients, whether some term is never 0), or None.
        ((x + 1) * (y + 2) - x, (x, y), (1, True)),
        (x * y + y**2, (x, y), (1, False)),
        (-x * z - z**3, (x, z), (-1, True)),
        (x - y, (x, y), None),
        ((x + 1) ** 2 - x**2 - 2 * x - 1, (x,), (0, False)),
        (sp.Rational(-3, 7), (), (-1, True)),
        (sp.Integer(0), (), (0, False)),
        # Expressions with a symbol in an exponent or an irrational coefficient are not analysed.
        (2**x + 1, (x,), None),
        (sp.sqrt(2) * x, (x,), None),
        (1 / z, (z,), None),
    ],
)
def test_the_sign_of_all_coefficients(polynomial, symbols, known):
    assert sign_of(polynomial, symbols) == known


def test_a_long_product_is_no_trouble():
    # The product has some 10 000 terms, for which SymPy's expand takes half a minute.
    product = (1 + x + y + z) ** 12 * (2 + x * y + z**2) ** 8
    assert sign_of(product, (x, y, z)) == (1, True)


def test_polynomials_of_high_degree_are_not_factored():
    E = sp.Symbol("E", positive=True)
    assert factored(3 * (E**2 - 1)) == (3, [(E - 1, 1), (E + 1, 1)])
    large = E**100_001 + 7 * E**50_000 + 1
    assert factored(large) == (1, [(large, 1)]) and nowhere_zero(large, [], [])
    assert not nowhere_zero(sp.Integer(0), [], [])
    # The sign of a product is found factor by factor, without multiplying out.
    assert factored((E + 1) ** 100_000) == (1, [(E + 1, 100_000)])


def test_an_identity_with_high_exponents_is_shown_without_factoring():
    # FLINT would factor for hours here, and an alarm cannot interrupt it.
    r, s, u, t, K, y = sp.symbols("r s u t K y", positive=True)
    parameters = tuple(Parameter(name, "rational", "", above=0) for name in ("r", "s", "u", "K", "y"))
    rate = r * s * u + r * u + s
    curve = K / (1 + (K / y - 1) * sp.exp(-rate * t))
    solves = Identity("solves", sp.Derivative(curve, t), rate * curve * (1 - curve / K))
    example = {"r": Fraction(9999, 100), "s": 1, "u": 1, "K": 2, "y": 1}
    statement = Statement(parameters, (solves,), variables=(t,))
    theorem = Theorem("user.logistic", "a logistic curve", Source("t", "derived here"), statement, example)
    assert check(theorem, example).outcome is Outcome.VERIFIED
