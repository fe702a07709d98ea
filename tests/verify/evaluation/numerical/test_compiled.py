"""A statement over arrays of points: values and truth of relations agree with rigorous arithmetic."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from tests.verify.evaluation.heads import STATEMENTS, instances
from tests.verify.searched import NOISE, STRUCTURAL, M, N, W, X, Y, m, n, noise, theorem, w, x, y
from verify import Case, Hypothesis, Parameter, claim
from verify.errors import UndecidedError, UndefinedError
from verify.evaluation.numerical.compiled import compiled
from verify.evaluation.values import evaluate_rising
from verify.outcomes import Enclosure

DRAWN = 60


def read(of, fixed=None):
    statement = of.statement.specialised(fixed or {})
    return compiled(statement, fixed or {}, statement.clauses, lambda: None)


def value(expression, instance):
    """Return an expression's value, or its enclosure's lower end, as a float; infinity if no value is found."""
    try:
        found, _ = evaluate_rising(expression, instance)
    except (UndefinedError, UndecidedError):
        return np.inf
    return float(found.lower if isinstance(found, Enclosure) else found)


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_head_has_its_value(name):
    of = claim(STATEMENTS[name])
    here, (clause,) = read(of), of.statement.claims
    drawn = list(instances(of.statement.parameters, random.Random(name), DRAWN))
    points = np.array([[float(each[p.name]) for p in here.free] for each in drawn])
    scores = here.scores(points)
    expected = [value(of.statement.expand(clause.relation.lhs), each) for each in drawn]
    inside = scores.violation == 0
    assert inside.sum() > DRAWN / 4 and np.isfinite(np.array(expected)[inside]).any()
    assert scores.absolute[inside, 0] == pytest.approx(np.array(expected)[inside], rel=1e-9, abs=1e-9)


def test_relations_and_domains_hold_where_they_do():
    of = theorem((N, X), sp.Le(n, 3 * x), Hypothesis("above", sp.Gt(x, 2)), Hypothesis("below", sp.Le(n + x, 5)))
    points = [(1, 2), (1, 2.5), (2, 3), (2, 3.5), (0, 3), (-1, 3)]
    violation = read(of).scores(np.array(points, float)).violation
    assert [v == 0 for v in violation] == [False, True, True, False, False, False]
    assert violation[3] < violation[3] + 1 and violation[5] > violation[4]


def test_margins_are_those_of_each_clause():
    of = claim("0 <= x <= 2*y")
    scores = read(of).scores(np.array([[3.0, 1.0], [-1.0, 1.0]]))
    assert scores.absolute.tolist() == [[3, -1], [-1, 3]]
    assert scores.relative.tolist() == [[1, -0.2], [-1, 1]]
    different = read(claim("x == y")).scores(np.array([[2.0, 1.0], [1.0, 1.0]])).relative
    assert different[0, 0] == pytest.approx(-1 / 3, abs=1e-8) and different[1, 0] > 0


def test_an_equation_is_solved_exactly():
    of = claim("x*z <= 1 if z == 1 - x - y, w == 2*z")
    here = read(of)
    assert {p.name for p in here.free} == {"x", "z"} and {p.name for p in here.solved} == {"y", "w"}
    third = Fraction(1, 3)
    assert here.instance([third, third]) == {"x": third, "y": third, "z": third, "w": 2 * third}
    # An irrational root gives no instance.
    root = read(claim("z <= 1 if z == sqrt(x) for x >= 0"))
    assert root.instance([Fraction(4)]) == {"x": 4, "z": 2} and root.instance([Fraction(2)]) is None
    # The integer parameter stays free, and the equation is solved for x.
    half = read(claim("n <= 1 if n == 2*x for integer n"))
    assert [p.name for p in half.solved] == ["x"] and half.instance([Fraction(3)]) == {"n": 3, "x": Fraction(3, 2)}


def test_an_equation_is_solved_for_what_leaves_the_other_relations_room():
    a, b, c = sp.symbols("a b c", real=True)

    def solved(*relations):
        statement = theorem((W,), sp.Le(w, 0), variables=(a, b, c)).statement
        read = compiled(statement, {"w": Fraction(1)}, statement.clauses, lambda: None, relations)
        return {parameter.name for parameter in read.solved}, {parameter.name for parameter in read.free}

    # a b = 0 with b^2 > 0 is solved for a, whatever the order of the symbols.
    assert solved(sp.Eq(a * b, 0), sp.Gt(b**2, 0)) == ({"a"}, {"b"})
    assert solved(sp.Eq(a * b, 0), sp.Gt(a**2, 0)) == ({"b"}, {"a"})
    # c = a b is solved for c without a division, and then b = a b is solved for b, because a is not 1.
    assert solved(sp.Eq(c - a * b, 0), sp.Eq(b - c, 0), sp.Gt((a - 1) ** 2, 0)) == ({"b", "c"}, {"a"})
    assert solved(sp.Eq(a, -a), sp.Eq(b * w, 3)) == ({"a", "b"}, set())


def test_words_and_given_values_are_fixed():
    of = theorem((X, NOISE), sp.Le(Case(noise, 1, 2) * x, y), STRUCTURAL, variables=(y,))
    for word, factor in (("gaussian", 1), ("uniform", 2)):
        here = read(of, {"noise": word})
        assert here.scores(np.array([[3.0, 1.0]])).absolute[0, 0] == 1 - 3 * factor
        assert here.variables == {"y"} and here.instance([Fraction(1), Fraction(2)])["noise"] == word
    fixed = read(theorem((X, Y), sp.Le(x, y)), {"x": Fraction(1, 2)})
    assert fixed.scores(np.array([[2.0]])).absolute[0, 0] == 1.5
    assert fixed.instance([Fraction(2)]) == {"x": Fraction(1, 2), "y": 2}


def test_statements_not_computed_over_arrays_are_left_out():
    listed = Parameter("l", "rationals", "numbers")
    defaulted = Parameter("m", "integer", "a size", minimum=1, default=2 * n)
    assert read(theorem((listed, X), sp.Le(x, 2))) is None
    assert read(theorem((N, defaulted), sp.Le(n, m))) is None and read(theorem((N, M), sp.Le(n, m))) is not None
    assert read(theorem((X,), sp.Le(x, 2)), {"x": Fraction(1)}) is None
    # Statements with numbers beyond float64 are left out.
    assert read(theorem((X, Y), sp.Le(x, y)), {"x": Fraction(10) ** 400}) is None
    assert read(claim("x + y <= 1 if x >= -10**400")) is None
    odd = sp.Symbol("o", integer=True, odd=True)
    assert read(theorem((W,), sp.Le(odd * w, 2), variables=(odd,))) is None
