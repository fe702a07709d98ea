"""Scans: float64's verdicts agree with the exact check, which decides refutations and instances that are left open."""

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from verify import Hypothesis, Identity, Inequality, Parameter, ValueLargest, ValueLeast, ValueWhere, primitive
from verify.evaluation.running_errors import SAFETY, Estimates
from verify.runs.sweeps.blocks import decoded, parts
from verify.runs.sweeps.float_rows import Scans, scan_of
from verify.runs.sweeps.grids import Axis, Grid
from verify.runs.sweeps.rows import Effort, checked_row

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
    """Return the rows of the instances that are decided, and None for the others."""
    known = {parameter.name: parameter for parameter in theorem.statement.parameters}
    values = {name: tuple(dict.fromkeys(point[name] for point in points)) for name in points[0]}
    (part,) = parts(Grid(tuple(Axis(known[name], some, "listed") for name, some in values.items())), {})
    block = Scans(theorem, EFFORT).block(part)
    places = {tuple(point.items()): place for place, point in enumerate(part.points())}
    found = [places[tuple(point.items())] for point in points]
    if block is None:
        return [None] * len(points)
    kept = decoded(theorem, part, *block.encoded())
    assert kept is not None and (kept.kinds == block.kinds).all()
    return [kept.row(at, part.point(at), [*known]) if kept.kinds[at] >= 0 else None for at in found]


def test_rows_agree_with_the_check_and_say_computed(means, no_deduction):
    theorem = means(hypotheses=(Hypothesis("small", sp.Le(x, 1)),), domain=(sp.Le(y, 3),), values={"half": (x + y) / 2})
    rows = rows_of(theorem)
    scanned = [(point, row) for point, row in zip(POINTS, rows, strict=True) if row is not None]
    # Points with equality, x = y, and points that violate y <= 3 are left to the check.
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


def test_seeming_refutations_are_left_to_the_check(means):
    wrong = means(Inequality("wrong", sp.Le((x + y) / 2, sp.sqrt(x * y) * sp.Rational(11, 10))))
    left = [point for point, row in zip(POINTS, rows_of(wrong), strict=True) if row is None]
    refuted = [point for point in POINTS if checked_row(wrong, point, EFFORT)["claim"] == "refuted"]
    assert refuted == left and 0 < len(left) < len(POINTS)


def test_a_margin_within_its_error_is_left(means):
    # The claim has roots, so nothing is proved for all parameters.
    close = means(Inequality("close", sp.Lt(2 * sp.sqrt(x * y), x + y + sp.Rational(1, 10**10))))
    far = [{name: 10**7 * value for name, value in point.items()} for point in POINTS]
    assert None not in rows_of(close)
    assert [row is None for row in rows_of(close, far)] == [point["x"] == point["y"] for point in far]


def test_clause_proved_once_is_proved_in_all_rows(means, no_deduction):
    squares = Identity("squares", (x + y) * (x - y), x**2 - y**2)
    rows = rows_of(means(MEANS, squares))
    row = next(row for row in rows if row)
    assert [clause["evidence"] for clause in row["clauses"]] == ["computed", "proved"] and row["evidence"] == "computed"
    # If all clauses are proved and there is no hypothesis, nothing is computed.
    assert {row["evidence"] for row in rows_of(means(squares))} == {"proved"}


def test_a_clause_that_is_neither_leaves_all(means):
    assert rows_of(means(MEANS, Inequality("equal", sp.Eq(x * y, 1)))) == [None] * len(POINTS)
    assert rows_of(means(MEANS, Identity("wrong", x, x * (x + 2 - x)))) == [None] * len(POINTS)


def test_values_that_choose(means):
    cases = (ValueWhere(x, (sp.Lt(x, 1),)), ValueWhere(-x, (sp.Gt(x, 1),)))
    theorem = means(values={"which": cases, "largest": ValueLargest((x, y)), "above": sp.Gt(x, y), "only": cases[0]})
    for point, row in zip(POINTS, rows_of(theorem), strict=True):
        if row is None:
            # An estimate does not decide whether x < 1 at x = 1.
            assert point["x"] == 1 or point["x"] == point["y"]
            continue
        number, values = float(point["x"]), row["values"]
        assert values["which_float"] == (number if number < 1 else -number)
        assert values["largest_float"] == max(number, float(point["y"])) and values["above"] is (
            point["x"] > point["y"]
        )
        assert ("only_float" in values) is (number < 1) and values["only"] is None


def test_theorems_that_cannot_be_scanned_have_no_scan(means):
    made = primitive(1)(lambda arithmetic, a: a)
    n = Parameter("n", "integer", "a size", minimum=1)
    assert scan_of(means(Inequality("c", sp.Gt(made(x), 0))), POINTS[0]) is None
    least = ValueLeast((1 / sp.Symbol("n", integer=True, positive=True),), "n", x, sp.Integer(1), sp.Integer(9))
    assert scan_of(means(parameters=(*PARAMETERS, n), values={"least": least}), {**POINTS[0], "n": 1}) is None
    defaulted = (PARAMETERS[0], Parameter("y", "rational", "y", above=0, default=2 * x))
    assert scan_of(means(parameters=defaulted), {"x": Fraction(1)}) is None
    assert scan_of(means(domain=(sp.Lt(x, y),)), {"x": Fraction(2), "y": Fraction(1)}) is None


def test_underflowing_clauses_are_not_verified(means):
    z = sp.Symbol("z", positive=True)
    theorem = means(
        Inequality("small", sp.Lt(10**300 * (1 + z) ** (y - x), 10**4)),
        parameters=(*PARAMETERS, Parameter("z", "rational", "z", above=0)),
    )
    point = {"x": Fraction(10**18 + 1217), "y": Fraction(10**18 + 63), "z": Fraction(4, 5)}
    assert checked_row(theorem, point, EFFORT)["claim"] == "refuted"
    assert rows_of(theorem, [point, {**point, "y": Fraction(10**18)}])[0] is None


def test_a_value_that_is_all_rounding_is_left(means):
    one = (x + y) ** 2 - x**2 - 2 * x * y - y**2 + 1
    point = {"x": Fraction(3000000001, 3), "y": Fraction(7000000001, 7)}
    for value in (one, ValueLargest((one, one / 2)), ValueWhere(one, (sp.Gt(x, sp.Rational(1, 10)),))):
        theorem = means(Inequality("plain", sp.Gt(x + y, 1)), values={"one": value})
        left, plain = rows_of(theorem, [point, {"x": Fraction(1, 3), "y": Fraction(3)}])
        assert left is None and abs(plain["values"]["one_float"] - 1) < 1e-9
    (zero,) = rows_of(
        means(Inequality("plain", sp.Gt(x + y, 1)), values={"zero": x - y}), [dict.fromkeys("xy", Fraction(2))]
    )
    assert zero["values"]["zero_float"] == 0


def test_a_proved_margin_that_overflows_is_not_shown(means):

    a, b = sp.symbols("x y", real=True)
    positive = means(Inequality("positive", sp.Gt(a**2, -a * b - b**2 - 1)))
    points = [{"x": Fraction(12 * 10**e), "y": Fraction(8 * 10**e)} for e in (0, 153)]
    rows = rows_of(positive, points)
    (shown,), (hidden,) = (row["clauses"] for row in rows)
    assert shown["margin_float"] == 144 + 96 + 64 + 1 and shown["error_float"] < 1e-12
    assert "margin_float" not in hidden and hidden["margin"] is None and hidden["holds"] is True
    assert {row["evidence"] for row in rows} == {"proved"}
    json.dumps(rows, allow_nan=False)


def test_an_exponential_that_underflows_is_decided(means):
    # If exp(-x) were computed as 1/exp(x), it would be 1/inf.
    theorem = means(Inequality("small", sp.Lt(sp.exp(-x) * y, y / 2)), values={"share": 1 / (1 + sp.exp(-x)), "up": y})
    rows = rows_of(theorem, [{"x": Fraction(n), "y": Fraction(1)} for n in (1, 1000)])
    assert [row["values"]["share_float"] for row in rows][1] == 1 and rows[1]["evidence"] == "computed"


def test_a_value_beyond_float64_is_left(means):
    points = [{"x": Fraction(n), "y": Fraction(1, 2)} for n in (1, 10**400)]
    assert [row is None for row in rows_of(means(values={"x": x}), points)] == [False, True]
    # Proved clauses without hypotheses need no number.
    assert [row["evidence"] for row in rows_of(means(), points)] == ["proved", "proved"]


def test_the_error_that_is_shown_is_the_one_that_decided(means):
    point = {"x": Fraction(1, 3), "y": Fraction(5)}
    theorem = means()
    with np.errstate(all="ignore"):
        low, high = scan_of(theorem, point).sides(*(Estimates().numbers([point[name]]) for name in "xy"))
    (row,) = rows_of(theorem, [point])
    assert row["clauses"][0]["error_float"] == SAFETY * (high - low).error[0] > 0


def test_a_constant_beyond_float64_is_left_to_the_check(means, no_deduction):
    theorem = means(Inequality("below", sp.Lt(x, 10**400)))
    assert scan_of(theorem, POINTS[0]) is None
    result = verify.sweep(theorem, {"x": "1:3:3"}, y=1)
    assert (result.failed, result.counts, result.evidence) == (0, {"verified": 3}, {"certified": 3})


def test_an_estimated_scope_is_computed_at_best(means):
    squares = Identity("squares", (x + y) * (x - y), x**2 - y**2)
    for scope in ({"hypotheses": (Hypothesis("small", sp.Le(x, 1)),)}, {"domain": (sp.Le(x, 2),)}):
        found = {row["evidence"] for row in rows_of(means(squares, **scope)) if row}
        assert found == {"computed"}


def test_a_scope_with_a_primitive_is_left_to_the_check(means):
    g = primitive(1)(lambda arithmetic, a: arithmetic.exp(a))
    theorem = means(Identity("squares", (x + y) * (x - y), x**2 - y**2), hypotheses=(Hypothesis("h", sp.Le(g(x), 5)),))
    assert scan_of(theorem, POINTS[0]) is None


def test_a_head_that_estimates_lack_is_decided_exactly(means):
    theorem = means(hypotheses=(Hypothesis("h", sp.Le(sp.Max(x, 1), sp.Rational(8, 7))),))
    rows = rows_of(theorem)
    assert {row["in_scope"] for row in rows if row} == {True, False}
    assert all(row["in_scope"] is (p["x"] <= Fraction(8, 7)) for p, row in zip(POINTS, rows, strict=True) if row)
