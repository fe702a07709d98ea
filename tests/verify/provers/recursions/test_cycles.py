"""Attracting cycles in closed form, certificates that are checked point by point, and recursions without a cycle."""

import math
import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

import verify
from verify import Dynamics, Evidence, Outcome, Reaches, Stays
from verify.language.expressions import primitive
from verify.provers.recursions.cycles import LONGEST_PERIOD, QUICK_CONTRACTION, _certify, approximate_cycle, avoids

x, y, r, start, level = sp.symbols("x y r start level", real=True)
LOGISTIC = Dynamics((x,), (start,), (r * x * (1 - x),), x)
# A spiral into (2, 0): the linear part turns by an eighth of a circle and shrinks by the factor 0.85.
u = x - 2
SPIRAL = Dynamics(
    (x, y), (start, sp.Integer(0)), (2 + (3 * u - 3 * y) / 5 + u**2 / 20, (3 * u + 3 * y) / 5 - u * y / 20), x
)
# The points of the logistic map's cycle of period two, (r + 1 ± √((r − 3)(r + 1)))/(2r), at r = 16/5.
LOW_OF_TWO, HIGH_OF_TWO = ((mpmath.mpf("4.2") + sign * mpmath.sqrt("0.84")) / mpmath.mpf("6.4") for sign in (-1, 1))


def find(dynamics, at, seconds=20, **values):
    return avoids(dynamics, Fraction(at), values, deadline=time.monotonic() + seconds)


class Exactly:
    """A recursion with polynomial steps at given values, computed in Fractions from the polynomials' coefficients."""

    def __init__(self, dynamics, values):
        numbers = {s: sp.Rational(*Fraction(values[s.name]).as_integer_ratio()) for s in (r, start) if s.name in values}

        def terms(expression):
            found = sp.Poly(sp.sympify(expression).subs(numbers), *dynamics.state).terms()
            return [(Fraction(int(c.p), int(c.q)), powers) for powers, c in found]

        self.steps, self.observed = [terms(step) for step in dynamics.step], terms(dynamics.observable)
        self.initial = [Fraction(str(sp.sympify(e).subs(numbers))) for e in dynamics.initial]

    @staticmethod
    def _value(terms, point, number=Fraction):
        return sum(
            number(c.numerator) / c.denominator * math.prod(z**k for z, k in zip(point, powers, strict=True))
            for c, powers in terms
        )

    def step(self, point, number=Fraction):
        return [self._value(terms, point, number) for terms in self.steps]

    def observable(self, point, number=Fraction):
        return self._value(self.observed, point, number)


def coordinates(cycle, point):
    """Return B⁻¹(z − c) exactly, for a point z and the axes B and centre c of a cycle."""
    axes = sp.Matrix([[sp.Rational(b.numerator, b.denominator) for b in row] for row in cycle.axes])
    moved = [z - c for z, c in zip(point, cycle.centre, strict=True)]
    solved = axes.LUsolve(sp.Matrix([sp.Rational(z.numerator, z.denominator) for z in moved]))
    return [Fraction(int(z.p), int(z.q)) for z in solved]


def points_of(cycle, source, count):
    """Yield points of a cycle's set, on its boundary (up to a thousandth) and inside."""
    size = len(cycle.centre)
    for number in range(count):
        towards = [source.randint(-1000, 1000) for _ in range(size)]
        length = Fraction(math.isqrt(1000**2 * sum(t * t for t in towards)) + 1, 1000)
        share = Fraction(1) if number % 2 else Fraction(source.randint(0, 8), 8)
        at = [cycle.radius * share * t / length for t in towards]
        yield [
            c + sum(b * a for b, a in zip(row, at, strict=True))
            for c, row in zip(cycle.centre, cycle.axes, strict=True)
        ]


def check_by_points(cycle, dynamics, at, values, count=20):
    """Compare a certificate with exact iterations of points of its set, and with the run that enters the set."""
    exact, source = Exactly(dynamics, values), random.Random(0)
    assert cycle.lowest > at and 1 <= cycle.period <= LONGEST_PERIOD
    for point in points_of(cycle, source, count):
        state = point
        for _ in range(cycle.period):
            assert exact.observable(state) >= cycle.lowest
            state = exact.step(state)
        assert sum(c * c for c in coordinates(cycle, state)) <= cycle.radius**2
    with mpmath.workdps(80 + cycle.entered_at // 2):
        state = [mpmath.mpf(z.numerator) / z.denominator for z in exact.initial]
        for _ in range(cycle.entered_at):
            assert exact.observable(state, mpmath.mpf) > mpmath.mpf(at.numerator) / at.denominator
            state = exact.step(state, mpmath.mpf)
        entered = [Fraction(str(mpmath.nstr(z, 70))) for z in state]
    # The tolerance covers the rounding to 70 digits.
    assert sum(c * c for c in coordinates(cycle, entered)) <= cycle.radius**2 * (1 + Fraction(1, 10**50))


@pytest.mark.parametrize(
    ("rate", "begin", "at", "period", "lowest"),
    [
        ("5/2", "1/2", "2/5", 1, mpmath.mpf("0.6")),
        ("5/2", "1/2", "499/1000", 1, mpmath.mpf("0.6")),
        ("16/5", "3/5", "2/5", 2, LOW_OF_TWO),
        # The level is 4·10^-5 below the cycle's lowest point.
        ("16/5", "3/5", "0.513", 2, LOW_OF_TWO),
        # The lowest point of the cycle of period four at r = 7/2 is 0.3828196830.
        ("7/2", "1/2", "19/50", 4, mpmath.mpf("0.3828196830")),
    ],
)
def test_the_logistic_map(rate, begin, at, period, lowest):
    values = {"r": Fraction(rate), "start": Fraction(begin)}
    cycle = find(LOGISTIC, at, **values)
    assert cycle is not None and cycle.period == period
    # The set is around the lowest point of the cycle or around one of the images of this point.
    assert Fraction(at) < cycle.lowest <= Fraction(str(lowest)) + Fraction(1, 10**9)
    around = mpmath.mpf(cycle.centre[0].numerator) / cycle.centre[0].denominator
    assert abs(_iterated(around, rate, period) - around) < 1e-9
    assert min(_iterated(around, rate, k) for k in range(period)) == pytest.approx(float(lowest), abs=1e-9)
    check_by_points(cycle, LOGISTIC, Fraction(at), values)


def _iterated(state, rate, times):
    for _ in range(times):
        state = mpmath.mpf(Fraction(rate).numerator) / Fraction(rate).denominator * state * (1 - state)
    return state


def test_the_centre_is_a_point_of_the_cycle():
    cycle = find(LOGISTIC, "2/5", r=Fraction(16, 5), start=Fraction(3, 5))
    assert min(abs(float(cycle.centre[0]) - float(point)) for point in (LOW_OF_TWO, HIGH_OF_TWO)) < 1e-9


@pytest.mark.parametrize("begin", ["2.1", "5/2", "3"])
def test_a_spiral_sink_in_the_plane(begin):
    values = {"start": Fraction(begin)}
    period, centre, axes = approximate_cycle(SPIRAL, 0.0, values)  # pyright: ignore[reportGeneralTypeIssues]
    assert period == 1 and centre == pytest.approx([2, 0], abs=1e-9) and abs(np.linalg.det(axes)) > 1e-3
    cycle = find(SPIRAL, "1/2", **values)
    assert cycle is not None and cycle.period == 1 and Fraction(1, 2) < cycle.lowest < 2
    check_by_points(cycle, SPIRAL, Fraction(1, 2), values, count=60)


def test_every_certificate_holds_point_by_point():
    certified = []

    @settings(max_examples=25)
    @given(
        st.fractions(Fraction(13, 5), Fraction(177, 50), max_denominator=50),
        st.fractions(Fraction(1, 5), Fraction(4, 5), max_denominator=20),
        st.fractions(Fraction(1, 10), Fraction(3, 5), max_denominator=40),
    )
    def hold(rate, begin, at):
        values = {"r": rate, "start": begin}
        cycle = find(LOGISTIC, at, seconds=5, **values)
        certified.append(cycle is not None)
        if cycle is not None:
            check_by_points(cycle, LOGISTIC, at, values, count=6)

    hold()
    # One run certified 15 of 25; the others have no attracting cycle above the level, or none was found in time.
    assert sum(certified) >= 9


# Recursions without an attracting cycle above the level, or with a run that reaches the level, with the reasons.
NONE = {
    # 1/x grows by about 1 per step: after 10^4 steps x falls by 10^-8 per step, and x reaches any level > 0.
    "parabolic": (Dynamics((x,), (sp.Rational(1, 2),), (x - x**2,), x), "1e-9", {}),
    # The run passes a bottleneck at 0 in π·10^6 steps, and then falls without bound.
    "bottleneck": (Dynamics((x,), (sp.Rational(1, 2),), (x - x**2 - sp.Rational(1, 10**12),), x), "-1", {}),
    # 1 − 10^-18 is 1 in float64: the run looks like a fixed point, but reaches 1/2 after 5·10^17 steps.
    "drift below rounding": (Dynamics((x,), (sp.Integer(1),), (x - sp.Rational(1, 10**18),), x), "1/2", {}),
    "drift beside a sink": (
        Dynamics((x, y), (sp.Integer(1), sp.Integer(3)), (x - sp.Rational(1, 10**18), y / 2 + x / 2), y),
        "1/2",
        {},
    ),
    "slow contraction": (Dynamics((x,), (sp.Integer(1),), (x - x / 10**7,), x), "1/10", {}),
    "a turn": (
        Dynamics((x, y), (sp.Integer(1), sp.Integer(0)), ((3 * x - 4 * y) / 5, (4 * x + 3 * y) / 5), x + y),
        "-3/2",
        {},
    ),
    "chaos": (LOGISTIC, "-1", {"r": 4, "start": Fraction(1, 3)}),
    "chaos below four": (LOGISTIC, "1/1000", {"r": Fraction(19, 5), "start": Fraction(1, 3)}),
    # The run stays exactly on the stable manifold of a saddle: the claim is true, but no cycle is attracting.
    "saddle": (Dynamics((x, y), (sp.Integer(0), sp.Integer(3)), (2 * x, (y + 1) / 2), x + y), "1/2", {}),
    "source": (Dynamics((x,), (sp.Integer(1),), (2 * x - 1,), x), "1/2", {}),
    # The run goes from 0.95 to 0.11875 at once, and then tends to 0.6.
    "dip on the way in": (LOGISTIC, "1/5", {"r": Fraction(5, 2), "start": Fraction(19, 20)}),
    "the start is below": (LOGISTIC, "1/5", {"r": Fraction(5, 2), "start": Fraction(1, 10)}),
    "a level above the fixed point": (LOGISTIC, "3/5", {"r": Fraction(5, 2), "start": Fraction(5, 8)}),
    "a level above the lower of two points": (LOGISTIC, "0.5131", {"r": Fraction(16, 5), "start": Fraction(3, 5)}),
    "divergence": (Dynamics((x,), (sp.Integer(2),), (x**2,), x), "1", {}),
    "a root of a negative number": (Dynamics((x,), (sp.Integer(2),), (sp.sqrt(x - 1),), x), "-1", {}),
    "a power of a negative number": (Dynamics((x,), (sp.Integer(2),), ((x - 3) ** r,), x), "-1", {"r": Fraction(1, 3)}),
}


@pytest.mark.parametrize("name", NONE)
def test_runs_without_attracting_cycles_above_the_level_get_no_certificate(name):
    dynamics, at, values = NONE[name]
    assert find(dynamics, at, **values) is None


def test_a_primitive_of_the_state_has_no_derivative():
    @primitive(1)
    def halved(arithmetic, number):
        return number * arithmetic.rational(1, 2)

    dynamics = Dynamics((x,), (sp.Integer(3),), (halved(x) + 1,), x)
    assert approximate_cycle(dynamics, 1.0, {}) is None and find(dynamics, 1) is None
    # A primitive of parameters, without states, is a number.
    other = Dynamics((x,), (sp.Integer(3),), (x / 2 + halved(r),), x)
    assert find(other, 1, r=2).lowest > 1


def _from_the_start(begin, at):
    """Return the certificate around 3/5 at r = 5/2 (or None), and the values; the candidate claims entry at step 0."""
    candidate = (1, 0, np.array([0.6]), np.array([[1.0]]), Fraction(1, 16))
    values = {"r": Fraction(5, 2), "start": Fraction(begin)}
    return _certify(LOGISTIC, Fraction(at), values, candidate, time.monotonic() + 20), values


def test_the_step_of_entry_is_not_taken_from_float64():
    cycle, values = _from_the_start("4/5", "1/5")
    # 0.8 → 0.4 → 0.6.
    assert cycle.entered_at == 2
    check_by_points(cycle, LOGISTIC, Fraction(1, 5), values)


def test_run_that_reaches_the_level_before_its_entry_has_no_certificate():
    # 0.95 → 0.11875 → 0.26 → 0.48 → 0.62.
    assert _from_the_start("19/20", "1/5")[0] is None
    assert _from_the_start("19/20", "1/10")[0].entered_at == 4


def test_without_time_there_is_no_certificate():
    values = {"r": Fraction(16, 5), "start": Fraction(3, 5)}
    assert find(LOGISTIC, "2/5", seconds=-1, **values) is None
    assert find(LOGISTIC, "2/5", **values) is not None


def test_a_quick_cycle_is_one_that_contracts_enough():
    # x' = c x + 1 − c contracts towards 1 by the factor c.
    def slow(contraction):
        return Dynamics((x,), (sp.Integer(2),), (contraction * (x - 1) + 1,), x)

    # A fixed point has every period up to eight, and eight steps contract by c^8: 0.97^8 < 0.98 < 0.999^8.
    for contraction, quick in ((sp.Rational(97, 100), True), (sp.Rational(999, 1000), False)):
        found = approximate_cycle(slow(contraction), 0.5, {}, QUICK_CONTRACTION)
        assert (found is not None) == quick
        assert approximate_cycle(slow(contraction), 0.5, {}) is not None


def _clause(make_theorem, dynamics, at, *, stays=False, **values):
    kind = Stays("s", dynamics, level, level) if stays else Reaches("c", dynamics, level)
    names = " ".join([*values, "level"])
    return verify.check(make_theorem(kind, names=names), seconds=20, level=at, **values).clauses[0]


def test_a_level_below_the_cycle_is_refuted_and_one_above_it_is_reached(make_theorem):
    values = {"r": "16/5", "start": "3/5"}
    never = _clause(make_theorem, LOGISTIC, "0.513", **values)
    assert (never.outcome, never.evidence) == (Outcome.REFUTED, Evidence.CERTIFIED)
    assert "never reached" in never.detail and "period 2" in never.detail
    assert never.witness["period"] == 2 and never.witness["lowest"] > Fraction("0.513")
    assert never.margin.lower is None and never.margin.upper == Fraction("0.513") - never.witness["lowest"] < 0
    reached = _clause(make_theorem, LOGISTIC, "0.5131", **values)
    assert (reached.outcome, reached.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    kept = _clause(make_theorem, LOGISTIC, "0.513", stays=True, **values)
    assert kept.outcome is Outcome.VERIFIED and "never reached" in kept.detail


def test_a_dip_on_the_way_in_is_reached(make_theorem):
    result = _clause(make_theorem, LOGISTIC, "1/5", r="5/2", start="19/20")
    assert result.outcome is Outcome.VERIFIED and result.values["steps"].lower == 1
