"""Every column has the value of the product that it denotes, and no two columns are the same."""

import pytest
import sympy as sp

from verify.provers.deduction.columns import Columns
from verify.provers.deduction.facts import Fact

x, y, s = sp.symbols("x y s")
ROOT = {s: ("root", x**2 + y, 2)}
AT = {x: sp.Rational(3, 2), y: sp.Rational(7, 4), s: sp.Integer(2)}
"""A point at which s² = x² + y."""
BELOW, EQUAL, NONE = (
    Fact(x - 2 * y * x, sp.S.One, "Ge", 0, None),
    Fact(x * y - 1, sp.S.One, "Eq", 1, None),
    Fact(sp.S.Zero, sp.S.One, "Ge", 2, None),
)


def columns(goal, facts, keys, level, free=False):
    symbols = [x, y, *keys]
    ring = sp.ring(symbols, sp.QQ)[0]
    polynomials = [ring.from_expr(fact.above) for fact in facts]
    signs = ["nonnegative", "real", *["nonnegative"] * len(keys)]
    return Columns(signs, keys, ring, ring.from_expr(goal), facts, polynomials, level, free=free)


def value(polynomial):
    return sum(c * AT[x] ** k[0] * AT[y] ** k[1] * AT[s] ** sum(k[2:]) for k, c in polynomial.items())


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("keys", [{}, ROOT], ids=["polynomials", "with a root"])
@pytest.mark.parametrize("facts", [[], [BELOW], [BELOW, EQUAL], [NONE, BELOW]], ids=len)
@pytest.mark.parametrize("goal", [x**2 + 3 * x * y + y**2, sp.S.Zero], ids=["a goal", "0"])
def test_a_column_is_the_product_that_it_says(goal, facts, keys, level):
    made = columns(goal, facts, keys, level)
    found = list(made.all())
    assert len({frozenset(each.polynomial.items()) | {("strict", each.strict)} for each in found}) == len(found) > 0
    for each in found:
        monomial, used, root = made.in_symbols(each).says
        said = monomial * sp.Mul(*(fact.above for fact in used)) * (1 if root is None else root**2)
        assert value(each.polynomial) == said.subs(AT)
        assert each.free == (EQUAL in used) and not (each.strict and used)


def test_facts_that_are_0_make_free_columns_alone():
    made = columns(x**2, [BELOW, EQUAL], {}, 1, free=True)
    assert {made.in_symbols(each).says[1] for each in made.all()} == {(EQUAL,)}


def test_a_root_of_what_is_no_polynomial_is_no_power_of_its_order():
    made = columns(x * s, [], {s: ("root", sp.exp(x), 2)}, 1)
    assert all(powers[2] < 2 for each in made.all() for powers in each.polynomial)
