"""A goal is shown to be positive by balls on a box; the facts give the ends of the box for each symbol."""

import pytest
import sympy as sp

from tests.verify.rechecker.deduction.trees import cases, verdict
from verify.claims.line import statement_of


def box(cuts=None, bits=64):
    return {"rule": "box", "bits": bits, "cuts": cuts}


HALVES = ["x", "1/2", None, None]
QUARTERS = ["x", "1/2", ["x", "1/4", None, None], ["x", "3/4", None, None]]

ACCEPTED = {
    # On [0, 1] a ball around e^x − x reaches from 0 to e.
    "two halves": ("x < exp(x) for 0 <= x <= 1", box(HALVES), {"x": 1}),
    "four quarters": ("x < exp(x) for 0 <= x <= 1", box(QUARTERS), {"x": 1}),
    "a lower end that is the sign": ("x*cos(x) < 2 for 0 < x < 1", box(), {"x": "1/2"}),
    "two symbols": ("exp(x)*cos(y) < 3 for 0 <= x <= 1, -1 <= y <= 1", box(), {"x": 1, "y": 0}),
    "a cut in each": (
        "exp(x)*y < exp(y)*(x + 2) + x for 0 <= x <= 1, 0 <= y <= 1",
        box(["x", "1/2", ["y", "1/2", None, None], ["y", "1/2", None, ["y", "3/4", None, None]]]),
        {"x": 1, "y": 0},
    ),
    "ends that are hypotheses": ("x**2 < 5 if 2*x <= 4, 3*x >= -1", box(), {"x": 1}),
    "the nearest ends": ("x**2 < 5 if x <= 2, x >= -2, x <= 9, x >= -9", box(), {"x": 1}),
    "a sum with a number of terms": ("Sum(x**k, (k, 0, 3)) < 4.1 for 0 <= x <= 1", box(), {"x": 1}),
    "a negative domain": ("exp(x) < 1 for -2 <= x <= -1", box(), {"x": -1}),
}
REFUSED = {
    "one ball where two are needed": ("x < exp(x) for 0 <= x <= 1", box(), {"x": 1}, "not shown to be positive"),
    "no upper end": ("x*exp(-x) < 9 for x >= 0", box(), {"x": 1}, "'x' is not between two numbers"),
    "no lower end": ("exp(x) < 3 for x <= 1", box(), {"x": 1}, "'x' is not between two numbers"),
    "an end with another symbol": ("x < 3 if x <= y for x >= 0, 0 <= y <= 2", box(), {"x": 0, "y": 0}, "'x' is not"),
    "a curved end": ("x < 3 if x**2 <= 4", box(), {"x": 1}, "'x' is not between two numbers"),
    "a cut of a symbol without ends": ("x < 3 for x <= 2", box(["x", "1", None, None]), {"x": 0}, "'x' is not between"),
    "a cut of no symbol": ("x < 3 for 0 <= x <= 2", box(["z", "1", None, None]), {"x": 0}, "'z' is not between"),
    "a cut outside": ("x < 3 for 0 <= x <= 2", box(["x", "2", None, None]), {"x": 0}, "not between the ends of 'x'"),
    "a cut of the other half": (
        "x < 3 for 0 <= x <= 2",
        box(["x", "1", ["x", "3/2", None, None], None]),
        {"x": 0},
        "not between the ends of 'x'",
    ),
    "a cut with three parts": ("x < 3 for 0 <= x <= 2", box(["x", "1", None, None, None]), {"x": 0}, "not 4"),
    "a number that is not in lowest terms": (
        "x < 3 for 0 <= x <= 2",
        box(["x", "2/2", None, None]),
        {"x": 0},
        "lowest",
    ),
    "few bits": ("x < 3 for 0 <= x <= 2", box(bits=8), {"x": 0}, "bits"),
    "a touching point": ("x*(1 - x) <= 1/4 for 0 <= x <= 1", box(HALVES), {"x": 1}, "not shown to be positive"),
    "an end too far": ("x**2 < 5 if x <= 3, x >= -2", box(), {"x": 1}, "not shown to be positive"),
    "a divisor that may be 0": ("0 < 2 + x/(x + 1) if x <= 1, x >= -1, x > -1", box(), {"x": 1}, "unbounded"),
    "a logarithm at 0": ("log(x) < 1 for 0 < x <= 1", box(), {"x": 1}, "logarithm"),
    "a factorial": ("factorial(n) < 9 for integer 0 <= n <= 3", box(), {"n": 1}, "an integer, where one is needed"),
    "an equation": ("x == x for 0 <= x <= 1", box(), {"x": 1}, "does not show an equation"),
}


def facts_of(line):
    """Return the places of all suppositions of a line, and the names of its parameters with a nonzero lower end."""
    statement = statement_of(line)
    listed = [*range(len(statement.domain) + len(statement.hypotheses))]
    least = {p.name: p.minimum if p.minimum is not None else p.above for p in statement.parameters}
    return [*listed, *(name for name, end in least.items() if end)]


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_goal_is_positive_on_a_box(name):
    line, tree, instance = ACCEPTED[name]
    found = verdict(line, tree, facts_of(line), **instance)
    assert (found.evidence, found.why) == ("proved", "")


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_ball_does_not_show_is_refused(name):
    line, tree, instance, why = REFUSED[name]
    found = verdict(line, tree, facts_of(line), **instance)
    assert found.evidence != "proved" and why in found.why


def test_a_fact_that_the_proof_does_not_list_is_no_end():
    line = "x**2 < 5 if x <= 2, x >= -2"
    assert verdict(line, box(), [0, 1], x=1).evidence == "proved"
    for listed in ([], [0], [1], [0, 0]):
        assert "'x' is not between two numbers" in verdict(line, box(), listed, x=1).why


def test_a_limit_has_no_value_on_a_box():
    # The limit at h = 0 is 1/x.
    found = verdict("0 < 2 + Limit(h/(h*x + h**2), h, 0) for 1 <= x <= 2", box(), [0, "x"], x=1)
    assert found.evidence != "proved" and "limit" in found.why


def test_a_fact_in_a_case_is_an_end():
    # In each case one end of the box is 1/2, and the other end is an end of the domain.
    x = sp.Symbol("x", nonnegative=True)
    halves = cases(x - sp.Rational(1, 2), box(), box())
    assert verdict("x < exp(x) for 0 <= x <= 1", halves, [0], x=1).evidence == "proved"
    # In the case x >= 1 the box is the point 1, where e^x − x > 0; in the case x <= 1 it is all of [0, 1].
    assert verdict("x < exp(x) for 0 <= x <= 1", cases(x - 1, box(), box()), [0], x=1).evidence != "proved"
    assert verdict("x < exp(x) for 0 <= x <= 1", cases(x - 1, box(), box(HALVES)), [0], x=1).evidence == "proved"
