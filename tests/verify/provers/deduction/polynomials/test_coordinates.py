"""Coordinates: linear facts that imply the other facts; a polynomial is homogeneous in them if they add up to 1."""

import pytest
import sympy as sp

from verify.provers.deduction.atoms import Atoms
from verify.provers.deduction.polynomials.coordinates import coordinates
from verify.provers.deduction.scope import Scope, Work

a, b, c = sp.symbols("a b c", positive=True)
p, q = sp.symbols("p q", nonnegative=True)
x, y = sp.symbols("x y", real=True)


def told(above, *facts):
    """Return coordinates for some expressions that are ≥ 0, and a polynomial in them; assert that it is unchanged."""
    scope = Scope(Atoms({}), Work(1000))
    for fact in facts:
        scope = scope.with_fact(fact, "Ge")
    found = coordinates(scope, sp.expand(above), {})
    polynomial = found.polynomial(sp.expand(above))
    assert sp.expand(found.expression(polynomial) - above) == 0
    for part in found.parts:
        of = part.form if part.fact is None else part.scale * part.fact.above
        assert sp.expand(of - part.form) == 0
    return found, polynomial


def forms(found):
    return {sp.expand(part.form) for part in found.parts}


def test_the_sides_of_a_triangle_are_sums_of_coordinates():
    sides = b + c - a, c + a - b, a + b - c
    found, polynomial = told(a * b + b * c + c * a, *sides)
    assert forms(found) == set(sides) and found.sums == () and set(found.signs) == {"nonnegative"}
    assert all(coefficient > 0 for coefficient in polynomial.coeffs())


def test_on_a_simplex_a_polynomial_is_homogeneous():
    found, polynomial = told(p * q - p + 1, 1 - p - q, 1 - p, 1 - q)
    assert forms(found) == {p, q, 1 - p - q} and len(found.sums) == 1 and found.rest == ()
    assert {sum(powers) for powers in polynomial} == {2}


def test_intervals_are_homogeneous_one_by_one():
    found, polynomial = told(p**2 * q, 3 - p, 1 - q)
    assert forms(found) == {p / 3, 1 - p / 3, q, 1 - q} and len(found.sums) == 2
    assert {sum(powers) for powers in polynomial} == {3}


def test_a_symbol_over_its_bound_is_a_coordinate():
    found, _ = told(x**2 + y, x - 2)
    assert forms(found) == {x - 2, y} and sorted(found.signs) == ["nonnegative", "real"]


def test_where_facts_depend_on_each_other_symbols_are_coordinates():
    found, _ = told(x + y, 1 - x - y, 1 + x - y, 1 - x + y, 1 + x + y)
    assert forms(found) == {x, y} and len(found.rest) == 4


def test_other_facts_are_kept():
    found, _ = told(p * x, 1 - x**2, x - p)
    assert forms(found) == {p, x - p} and [fact.above for fact, _ in found.rest] == [1 - x**2]


@pytest.mark.parametrize("powers", [(1, 0, 0), (0, 2, 1)])
def test_a_product_of_coordinates_says_what_it_is_of(powers):
    found, _ = told(p + q, 1 - p - q)
    factor, facts = found.says(powers)
    product = sp.Mul(factor, *(fact.above for fact in facts))
    assert sp.expand(product - found.expression(found.ring({powers: 1}))) == 0
