"""The signs of polynomials' coefficients: what they say of values at symbols that are not negative."""

import pytest
import sympy as sp

from verify.language.nonvanishing import sign_of

x, y = sp.symbols("x y", nonnegative=True)
z = sp.Symbol("z", positive=True)


@pytest.mark.parametrize(
    ("polynomial", "symbols", "known"),
    [
        # (sign of all coefficients, whether a term is never 0)
        ((x + 1) * (y + 2) - x, (x, y), (1, True)),
        (x * y + y**2, (x, y), (1, False)),
        (-x * z - z**3, (x, z), (-1, True)),
        (x - y, (x, y), None),
        ((x + 1) ** 2 - x**2 - 2 * x - 1, (x,), (0, False)),
        (sp.Rational(-3, 7), (), (-1, True)),
        (sp.Integer(0), (), (0, False)),
        # Neither a symbol in an exponent nor a coefficient that is not rational is looked into.
        (2**x + 1, (x,), None),
        (sp.sqrt(2) * x, (x,), None),
        (1 / z, (z,), None),
    ],
)
def test_the_sign_of_all_coefficients(polynomial, symbols, known):
    assert sign_of(polynomial, symbols) == known


def test_a_long_product_is_no_trouble():
    # Some 10 000 terms, which SymPy's expand takes half a minute for.
    product = (1 + x + y + z) ** 12 * (2 + x * y + z**2) ** 8
    assert sign_of(product, (x, y, z)) == (1, True)
