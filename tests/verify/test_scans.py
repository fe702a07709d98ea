"""Scans: what float64 decides is what the exact check says; what it leaves, and all refutations, are the check's."""

from fractions import Fraction

import pytest
import sympy as sp

from verify import Hypothesis, Identity, Inequality, Parameter, ValueLargest, ValueLeast, ValueWhere, primitive
from verify.rows import Effort, checked_row
from verify.scans import scan_of

x, y = sp.symbols("x y", positive=True)
PARAMETERS = tuple(Parameter(name, "rational", name, above=0) for name in "xy")
MEANS = Inequality("means", sp.Le(sp.sqrt(x * y), (x + y) / 2))
EFFORT = Effort(10, 0)
POINTS = [{"x": Fraction(a, 7), "y": Fraction(b, 3)} for a in range(1, 12) for b in range(1, 12)]


@pytest.fixture
def means(make_theorem):
    def make(*clauses, **more):
        more.setdefault("parameters", PARAMETERS)
        return make_theorem(*(clauses or (MEANS,)), **more)

    return make


def rows_of(theorem, points=POINTS):
    return scan_of(theorem, points[0]).rows(points, EFFORT)


def test_rows_agree_with_the_check_and_say_computed(means):
    theorem = means(hypotheses=(Hypothesis("small", sp.Le(x, 1)),), domain=(sp.Le(y, 3),), values={"half": (x + y) / 2})
    rows = rows_of(theorem)
    scanned = [(point, row) for point, row in zip(POINTS, rows, strict=True) if row is not None]
    # Equality at x = y, and what is no instance, are left; x = y and y <= 3 at 1 and 2 hold here alone.
    assert {(p["x"], p["y"]) for p, row in zip(POINTS, rows, strict=True) if row is None} == {
        (p["x"], p["y"]) for p in POINTS if p["x"] == p["y"] or p["y"] > 3
    }
    for point, row in scanned:
        checked = checked_row(theorem, point, EFFORT)
        for name in ("instance", "in_scope", "outcome", "claim"):
            assert row[name] == checked[name]
        assert row["evidence"] == "computed" and checked["evidence"] == "certified"
        (mine,), (its,) = row["clauses"], checked["clauses"]
        assert mine["holds"] is True and mine["margin"] is None and mine["evidence"] == "computed"
        assert abs(mine["margin_float"] - its["margin_float"]) <= mine["error_float"] + 1e-15 < 1e-13
        assert row["values"]["half"] is None
        assert abs(row["values"]["half_float"] - checked["values"]["half_float"]) < 1e-14


def test_what_seems_refuted_is_left_to_the_check(means):
    wrong = means(Inequality("wrong", sp.Le((x + y) / 2, sp.sqrt(x * y) * sp.Rational(11, 10))))
    left = [point for point, row in zip(POINTS, rows_of(wrong), strict=True) if row is None]
    refuted = [point for point in POINTS if checked_row(wrong, point, EFFORT)["claim"] == "refuted"]
    assert refuted == left and 0 < len(left) < len(POINTS)


def test_a_margin_within_its_error_is_left(means):
    close = means(Inequality("close", sp.Lt(2 * x * y, x**2 + y**2 + sp.Rational(1, 10**6))))
    far = [{name: 10**7 * value for name, value in point.items()} for point in POINTS]
    assert None not in rows_of(close)
    assert [row is None for row in rows_of(close, far)] == [point["x"] == point["y"] for point in far]


def test_what_is_proved_once_is_proved_for_all(means):
    squares = Identity("squares", (x + y) * (x - y), x**2 - y**2)
    rows = rows_of(means(MEANS, squares))
    row = next(row for row in rows if row)
    assert [clause["evidence"] for clause in row["clauses"]] == ["computed", "proved"] and row["evidence"] == "computed"
    # With nothing but what is proved, and a scope that is decided exactly, nothing was computed.
    assert {row["evidence"] for row in rows_of(means(squares))} == {"proved"}


def test_a_clause_that_is_neither_leaves_all(means):
    assert rows_of(means(MEANS, Inequality("equal", sp.Eq(x * y, 1)))) == [None] * len(POINTS)
    assert rows_of(means(MEANS, Identity("wrong", x, x * (x + 2 - x)))) == [None] * len(POINTS)


def test_values_that_choose(means):
    cases = (ValueWhere(x, (sp.Lt(x, 1),)), ValueWhere(-x, (sp.Gt(x, 1),)))
    theorem = means(values={"which": cases, "largest": ValueLargest((x, y)), "above": sp.Gt(x, y), "only": cases[0]})
    for point, row in zip(POINTS, rows_of(theorem), strict=True):
        if row is None:
            # Whether x < 1 at 1 is not decided by an estimate.
            assert point["x"] == 1 or point["x"] == point["y"]
            continue
        number, values = float(point["x"]), row["values"]
        assert values["which_float"] == (number if number < 1 else -number)
        assert values["largest_float"] == max(number, float(point["y"])) and values["above"] is (
            point["x"] > point["y"]
        )
        assert ("only_float" in values) is (number < 1) and values["only"] is None


def test_what_cannot_be_scanned(means):
    made = primitive(1)(lambda arithmetic, a: a)
    n = Parameter("n", "integer", "a size", minimum=1)
    assert scan_of(means(Inequality("c", sp.Gt(made(x), 0))), POINTS[0]) is None
    least = ValueLeast((1 / sp.Symbol("n", integer=True, positive=True),), "n", x, sp.Integer(1), sp.Integer(9))
    assert scan_of(means(parameters=(*PARAMETERS, n), values={"least": least}), {**POINTS[0], "n": 1}) is None
    defaulted = (PARAMETERS[0], Parameter("y", "rational", "y", above=0, default=2 * x))
    assert scan_of(means(parameters=defaulted), {"x": Fraction(1)}) is None
    assert scan_of(means(domain=(sp.Lt(x, y),)), {"x": Fraction(2), "y": Fraction(1)}) is None
