"""float64 decides an inequality only where the margin exceeds its error bound."""

from fractions import Fraction

import pytest
import sympy as sp

from tests.verify.searched import N, W, X, n, theorem, v, w, x
from verify import Identity, InWords
from verify.claims.float_signs import floats_decide, has_float_sides, smaller_first, surely_hold
from verify.language.expressions import primitive


def clause_of(claim, **more):
    """Return a clause, its statement, and the names of the statement's parameters."""
    statement = theorem((N, W, X), claim, **more).statement
    return statement.claims[0], statement, {"n", "w", "x"}


@primitive(1)
def plus_one(arithmetic, number):
    return number + 1


@pytest.mark.parametrize(
    ("claim", "sides", "decided"),
    [
        (sp.Ge(x, w), True, True),
        (sp.Ge(plus_one(x), w), True, False),
        (sp.Eq(x, w), False, False),
        (sp.Ge(v * x, w), False, False),
        (Identity("claim", x + w, w + x - 0 * n + 1), False, False),
        (InWords("claim", "something"), False, False),
    ],
    ids=["inequality", "primitive", "equation", "for all values", "identity", "in words"],
)
def test_floats_decide_inequalities_without_primitives_or_variables(claim, sides, decided):
    made = clause_of(claim, variables=(v,))
    assert (has_float_sides(*made), floats_decide(*made)) == (sides, decided)


def test_the_smaller_side_comes_first():
    assert smaller_first(clause_of(sp.Ge(x, w))[0]) == (w, x) == smaller_first(clause_of(sp.Lt(w, x))[0])


def test_a_margin_beyond_its_error_is_sure_and_another_is_not():
    clause, statement, _ = clause_of(sp.Gt(w**2, x))
    points = [(3, 2), (3, 9), (3, Fraction(9) - Fraction(1, 10**15)), (1, 2), (3, 10**400), (0, Fraction(1, 10**9))]
    instances = [{"n": 1, "w": Fraction(a), "x": Fraction(b)} for a, b in points]
    # The points after the first: equal sides, a margin within rounding, a false claim, a value beyond float64, and
    # another false claim.
    assert surely_hold(clause, statement, instances) == [True, False, False, False, False, False]
    assert surely_hold(clause, statement, []) == []


def test_nothing_is_sure_where_there_is_no_value():
    clause, statement, _ = clause_of(sp.Lt(sp.log(w), x))
    instances = [{"n": 1, "w": Fraction(a), "x": Fraction(5)} for a in (2, 0, -1)]
    assert surely_hold(clause, statement, instances) == [True, False, False]
    clause, statement, _ = clause_of(sp.Lt(sp.exp(sp.Integer(10**6), evaluate=False) * w, x))
    # If a constant is beyond float64, no instance is decided.
    assert surely_hold(clause, statement, instances) == [False] * 3
