"""Critical points of integrated squares: cases whose critical points are known, and refusals."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from tests.verify.examples import example_of
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from verify import Dynamics, Evidence, InputError, Outcome, Parameter, Source, Statement, Theorem, TheoremError
from verify.errors import UndecidedError

L, k = sp.Symbol("L", integer=True, positive=True), sp.Symbol("k", integer=True, nonnegative=True)
q = sp.Symbol("q", positive=True)
p, a, b, s = sp.symbols("p a b s", real=True)
LAYERS = (Parameter("L", "integer", "layers", minimum=1), Parameter("q", "rational", "q", above=0))
UNIFORM = 1 / (k + 1)
"""The moment ∫_0^1 s^k ds of the uniform law on [0, 1]."""
PRODUCT = Dynamics((p,), (sp.S.One,), (p * (1 - a * s),), p)


def theorem_of(clause):
    source = Source("Lemma 7", "derived here")
    return Theorem("user.theorem", "a title", source, Statement(LAYERS, (clause,)), example_of(LAYERS))


@pytest.fixture
def clause():
    def make(recursion=PRODUCT, unknowns=(a,), moment=UNIFORM, **changes):
        return StationarySquare("critical", L, recursion, unknowns, s, moment, k, **changes)

    return make


@pytest.fixture
def check(clause):
    def run(layers, q=1, digits=17, **changes):
        return verify.check(theorem_of(clause(**changes)), L=layers, q=q, digits=digits).clauses[0]

    return run


def test_one_factor_by_hand(check):
    # f = 1 − a + a²/3 has the minimum 1/4 at a = 3/2.
    result = check(1)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    (point,) = result.values["critical_points"]
    assert point["a"][0].lower < Fraction(3, 2) < point["a"][0].upper
    assert point["loss"].lower <= Fraction(1, 4) <= point["loss"].upper and point["local_minimum"] is True
    assert result.values["complete"] is True


def test_two_factors_have_the_minimum_in_two_orders_and_a_double_saddle(check):
    # At the minimum p is orthogonal to s and s² on [0, 1], so a = 2 ± √(2/3), and the loss is 1/9. A double value a
    # satisfies ∫ s (1 − a s)³ = 0.
    result = check(2)
    points = result.values["critical_points"]
    assert result.values["complete"] is True and [point["local_minimum"] for point in points] == [True, True, False]
    values = [[float(x.midpoint) for x in point["a"]] for point in points]
    assert values[0] == values[1][::-1] and np.allclose(sorted(values[0]), [2 - (2 / 3) ** 0.5, 2 + (2 / 3) ** 0.5])
    assert all(point["loss"].lower <= Fraction(1, 9) <= point["loss"].upper for point in points[:2])
    (double,) = (root.real for root in np.roots([-1 / 5, 3 / 4, -1, 1 / 2]) if abs(root.imag) < 1e-9)
    assert np.allclose(values[2], double, atol=1e-12, rtol=0)


def test_three_factors_have_power_orthogonal_points_alone(check):
    # The minimum has 3! orders. Two points have a double and a single value, in 3 orders each. One has a triple value.
    result = check(3)
    points = result.values["critical_points"]
    losses = sorted({round(float(point["loss"].midpoint), 12) for point in points})
    assert len(losses) == 4 and abs(losses[0] - 1 / 16) < 1e-12
    minima = [point["local_minimum"] for point in points]
    assert minima.count(True) == 6 and minima == sorted(minima, reverse=True) and len(points) == 13
    assert result.values["complete"] is True


@pytest.mark.parametrize("digits", [5, 17, 60, 300])
def test_enclosures_are_as_narrow_as_asked_for(check, digits):
    result = check(2, digits=digits)
    assert result.values["complete"] is True
    for point in result.values["critical_points"]:
        for x in (*point["a"], point["loss"]):
            assert 0 <= x.upper - x.lower < Fraction(1, 10**digits)


def test_an_unknown_without_effect_is_null(check):
    # b scales s in the next layer, and there is only one layer.
    g = sp.Symbol("g", real=True)
    recursion = Dynamics((g, p), (sp.S.One, sp.S.One), (g * b, p * (1 - a * g * s)), p)
    result = check(1, recursion=recursion, unknowns=(a, b))
    (point,) = result.values["critical_points"]
    assert point["b"] == [None] and float(point["a"][0].midpoint) == 1.5


def test_a_curve_of_critical_points_is_not_certified_and_not_complete(check):
    recursion = Dynamics((p,), (sp.S.One,), (p * (1 - a * b * s),), p)
    result = check(1, recursion=recursion, unknowns=(a, b))
    # a = b = 0 is a saddle. The curve a b = 3/2 consists of minima, and the Hessian is singular there.
    (point,) = result.values["critical_points"]
    assert [float(point[name][0].midpoint) for name in "ab"] == pytest.approx([0, 0], abs=1e-12)
    assert point["local_minimum"] is False and result.values["complete"] is False


def test_a_line_of_critical_points_in_three_unknowns_is_not_complete(check):
    # c has no effect: it multiplies q1 - q2, which is 0 along the recursion. The formula does not show this.
    c, q1, q2 = sp.symbols("c q1 q2", real=True)
    step = (p * (1 - a * s - b * s**2) + c * (q1 - q2), q1, q2)
    recursion = Dynamics((p, q1, q2), (sp.S.One,) * 3, step, p)
    result = check(1, recursion=recursion, unknowns=(a, b, c))
    assert result.outcome is not Outcome.VERIFIED and result.values.get("complete") is not True


BOX = {"near": (sp.Rational(3, 2),), "radius": sp.Rational(1, 1000)}


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        (BOX, Outcome.VERIFIED),
        (BOX | {"minimum": True}, Outcome.VERIFIED),
        (BOX | {"near": (sp.Rational(8, 5),)}, Outcome.REFUTED),
        (BOX | {"near": (1 + q / 2,)}, Outcome.VERIFIED),
        (BOX | {"recursion": Dynamics((p,), (sp.S.One,), (p * (1 + a * s),), p)}, Outcome.REFUTED),
    ],
    ids=["in", "minimum", "apart", "of a parameter", "other sign"],
)
def test_a_box_is_decided(check, changes, outcome):
    result = check(1, **changes)
    assert result.outcome is outcome and result.evidence is Evidence.CERTIFIED
    assert (result.proof["kind"] == "stationary") == (outcome is Outcome.VERIFIED)


def test_a_saddle_is_no_minimum(check):
    double = next(root.real for root in np.roots([-1 / 5, 3 / 4, -1, 1 / 2]) if abs(root.imag) < 1e-9)
    near = (sp.Rational(str(round(double, 9))),) * 2
    box = {"near": near, "radius": sp.Rational(1, 10**6)}
    assert check(2, **box).outcome is Outcome.VERIFIED
    result = check(2, **box, minimum=True)
    assert result.outcome is Outcome.REFUTED and "positive definite" in result.detail


def test_a_box_for_other_layers_is_inconclusive(check):
    result = check(2, **BOX)
    assert result.outcome is Outcome.INCONCLUSIVE and "1 unknowns, not 2" in result.detail


def test_too_many_layers_are_refused_with_the_reason(check):
    with pytest.raises(InputError, match=r"L = 1000000000000: must be <= 30: one layer more .* degree 31 in s"):
        check(10**12)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recursion": Dynamics((p,), (sp.S.One,), (p / (1 - a * s),), p)}, "is no polynomial"),
        ({"near": (sp.S.One,)}, "needs an unknown, and a radius"),
        ({"unknowns": ()}, "needs an unknown"),
        ({"recursion": Dynamics((p,), (sp.S.One,), (p * (1 - s),), p)}, "the step uses no unknown, none of a"),
        # Without `near` any critical point satisfies the clause, and a minimum would be undetermined.
        ({"minimum": True}, "a minimum needs near"),
    ],
    ids=["quotient", "no radius", "no unknown", "a constant step", "a minimum anywhere"],
)
def test_malformed_clauses_are_refused(clause, changes, why):
    with pytest.raises(TheoremError, match=why):
        clause(**changes)


def test_layers_whose_end_is_a_number_are_inconclusive(check):
    r = sp.Symbol("r", real=True)
    # The end is r's start after one layer, and 1 - a s after two layers.
    late = Dynamics((p, r), (sp.S.One, sp.S.One), (p * (1 - a * s), p), r)
    early = check(1, recursion=late)
    assert early.outcome is Outcome.INCONCLUSIVE and early.detail.endswith(
        "nothing after these layers depends on an unknown"
    )
    assert check(2, recursion=late).outcome is Outcome.VERIFIED


def test_moments_of_two_points_leave_nothing_to_find(check):
    # The measure has mass 1/2 at each of 1 and 2. For two factors it would need more than 2 points.
    result = check(2, moment=(1 + 2**k) / 2)
    assert result.outcome is Outcome.INCONCLUSIVE and "more than 2 points" in result.detail


def test_the_scan_agrees_with_the_check(clause):
    right, wrong = clause(**BOX), clause(**BOX | {"near": (1 + q,)})
    for each, sign in ((right, 1), (wrong, -1)):
        statement = theorem_of(each).statement
        assert each.scan(statement, {"L": 1, "q": 1}) * sign > 0
        with pytest.raises(UndecidedError):
            each.scan(statement, {"L": 10**18, "q": 1})
    assert clause().scan(theorem_of(clause()).statement, {"L": 3, "q": 1}) == 1


def test_a_search_refutes_the_wrong_one(clause):
    result = verify.explore(theorem_of(clause(**BOX | {"near": (1 + q,)})), max_examples=50)
    assert result.counterexample is not None and result.counterexample["L"] == 1
