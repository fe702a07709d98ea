"""The descent certificate is found exactly in the expected cases, and is sound on drawn instances."""

import math
import random
import time
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp

from verify import Coordinate, Descent, Dynamics, load_theorem
from verify.provers.descent_lemma import MOST_BOXES, certify_descent

THEOREM = load_theorem("wang2024.theorem1")
DYNAMICS, NEVER_INCREASES = THEOREM.statement.clauses[0].dynamics, THEOREM.proofs["stays"]

x, y, s = sp.symbols("x y s", real=True)
QUADRATIC = (x**2 + 2 * y**2) / 2
BOX = tuple(Coordinate(sp.Integer(-1), sp.Integer(1)) for v in (x, y))


def _quadratic(step_size, start=(1, -1), step=None):
    gradient = (x - s * x, y - s * 2 * y) if step is None else step
    return (
        Dynamics((x, y), tuple(map(sp.Rational, start)), gradient, QUADRATIC),
        Descent((s, s), BOX),
        {"s": Fraction(step_size)},
    )


def _certify(dynamics, proof, values):
    # The limit on the number of boxes ends the bisection before the deadline, on a slow machine as well.
    return certify_descent(dynamics, proof, values, deadline=time.monotonic() + 600)


# The scaled Hessian is s·diag(1, 2): its Frobenius norm s√5 is ≤ 2 for s ≤ 2/√5 = 0.894…, and the box maps into
# itself for |1 − s| ≤ 1 and |1 − 2s| ≤ 1, that is 0 ≤ s ≤ 1.
@pytest.mark.parametrize("step_size", ["1/1000", "1/2", "3/4", "894/1000"])
def test_small_steps_down_a_quadratic_are_certified(step_size):
    result = _certify(*_quadratic(step_size))
    assert result.holds and result.boxes >= 1 and result.why == ""


@pytest.mark.parametrize("step_size", ["895/1000", "1", "3"])
def test_steps_that_are_too_large_are_not(step_size):
    result = _certify(*_quadratic(step_size))
    assert not result.holds and result.why == "the conditions fail at a point of the box"


@pytest.mark.parametrize("step_size", ["0", "-1/10"])
def test_a_metric_that_is_not_positive_is_named(step_size):
    assert _certify(*_quadratic(step_size)).why == "the metric is not positive"


@pytest.mark.parametrize(
    "step", [(x - s * x, y - s * y), (x + s * x, y - 2 * s * y), (x - s * x, y - 2 * s * y + s / 10**9), (x, y)]
)
def test_a_step_that_is_not_the_gradient_step_is_named(step):
    result = _certify(*_quadratic("1/10", step=step))
    assert not result.holds and result.why == "the step is not the scaled gradient step of the observable"


@pytest.mark.parametrize("start", [("2", "0"), ("0", "-1001/1000"), ("-2", "5")])
def test_a_start_outside_the_box_is_named(start):
    assert _certify(*_quadratic("1/10", start=start)).why == "the initial point is not in the box"


def test_a_box_that_the_step_leaves_is_not_certified():
    # The steps down L = (x − 3)²/2 go towards 3, out of [−1, 1]; s is dyadic, so the end 3 stays exact.
    dynamics = Dynamics((x,), (sp.Integer(0),), (x * (1 - s) + 3 * s,), (x - 3) ** 2 / 2)
    leaving = Descent((s,), (Coordinate(sp.Integer(-1), sp.Integer(1)),))
    staying = Descent((s,), (Coordinate(sp.Integer(-1), sp.Integer(3)),))
    values = {"s": Fraction(1, 8)}
    assert not _certify(dynamics, leaving, values).holds
    assert _certify(dynamics, staying, values).holds


def test_a_box_that_is_touched_on_its_edge_is_decided():
    # x' = (1 − s)x maps [0, √2] into itself and its end 0 to 0; neither √2 nor s is dyadic.
    dynamics = Dynamics((x,), (sp.Rational(1, 3),), (x * (1 - s),), x**2 / 2)
    proof = Descent((s,), (Coordinate(sp.Integer(0), sp.sqrt(2)),))
    assert _certify(dynamics, proof, {"s": Fraction(1, 3)}).holds


def test_a_compact_coordinate_reaches_to_infinity():
    # L = e^{−x} on x ≥ 0, u = e^{−x} in [0, 1]: L'' = u ≤ 1, so s ≤ 2 suffices, and x' = x + s e^{−x} only grows.
    dynamics = Dynamics((x,), (sp.Integer(0),), (x + s * sp.exp(-x),), sp.exp(-x))
    proof = Descent((s,), (Coordinate(sp.Integer(0), sp.Integer(1), "exponential"),))
    assert _certify(dynamics, proof, {"s": Fraction(19, 10)}).holds
    assert not _certify(dynamics, proof, {"s": Fraction(21, 10)}).holds


def test_no_time_means_no_certificate():
    values = {"T": 9, "q": 2, "d": 1, "eta": Fraction(1, 20)}
    assert _certify(DYNAMICS, NEVER_INCREASES, values).boxes > 1
    result = certify_descent(DYNAMICS, NEVER_INCREASES, values, deadline=time.monotonic() - 1)
    assert not result.holds and result.boxes == 0 and result.why.startswith("undecided on")


def test_box_that_bisection_does_not_decide_is_not_certified():
    # x' = (1 − s)x keeps the lower end of the box exactly, but written as x − s·x its enclosure extends below it.
    dynamics = Dynamics((x,), (sp.Integer(1),), (x - s * x,), x**2 / 2)
    proof = Descent((s,), (Coordinate(sp.Integer(0), sp.Integer(1)),))
    result = _certify(dynamics, proof, {"s": Fraction(1, 3)})
    assert not result.holds and result.boxes <= MOST_BOXES + 1 and result.why.startswith("undecided on")


def _losses(T, q, d, eta, steps):
    a = C = 0.0
    for _ in range(steps):
        w = math.exp(-C)
        N = q + (T - q) * w
        P, Q = q / N, (T - q) * w / N
        S = P + Q * w
        yield d / (2 * q) * ((1 - a * P) ** 2 + a * a * P * Q * w)
        a, C = a + eta * P / q * (1 - a * S), C + eta * d / (q * (T - 1)) * a * P * Q * (1 - a * P * (1 - w))


def test_where_descent_is_certified_no_simulated_run_rises():
    # L is computed as a sum of two squares (1 − 2aP + a²PS = (1 − aP)² + a²PQw), each with a relative error of a few
    # ulps. The difference 1 − aP also has the rounding errors of a and P, some 8·2^-53·(1 + aP) in all, so the error of
    # L is at most d/(2q)·2·|1 − aP|·2^-49·(1 + aP), and aP ≤ √(T/q). The last factor 2 is for the two compared losses.
    draw = random.Random(20240)
    certified = rejected = 0
    for _ in range(60):
        T = draw.randint(3, 60)
        values = {
            "T": T,
            "q": draw.randint(1, max(1, T // 2)),
            "d": draw.randint(1, 8),
            "eta": Fraction(draw.randint(1, 400), draw.randint(1, 100)),
            "eps": Fraction(1, 100),
        }
        if not _certify(DYNAMICS, NEVER_INCREASES, values).holds:
            rejected += 1
            continue
        certified += 1
        T, q, d = (values[name] for name in "Tqd")
        room = 2 * d / (2 * q) * 2 * 2.0**-49 * (1 + math.sqrt(T / q)) ** 2
        losses = list(_losses(T, q, d, float(values["eta"]), 2000))
        assert all(after <= before + room for before, after in pairwise(losses)), values
    # Both kinds of draws must occur, or else the test would show nothing.
    assert certified >= 15 and rejected >= 10


def test_a_run_that_does_rise_is_not_certified():
    # η = 1000 at T = 9, q = 2, d = 1: the run overshoots at its first steps.
    losses = list(_losses(9, 2, 1, 1000.0, 50))
    assert any(after > before for before, after in pairwise(losses))
    values = {"T": 9, "q": 2, "d": 1, "eta": 1000, "eps": Fraction(1, 100)}
    assert not _certify(DYNAMICS, NEVER_INCREASES, values).holds
