"""Certified iteration of recursions, compared with exact and naive high-precision iteration."""

import math
import time
from fractions import Fraction

import flint
import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from verify import Dynamics, TheoremError, load_theorem
from verify.evaluation.arithmetic import FIRST_BITS, Float64
from verify.evaluation.iteration import (
    EXACT_STEPS,
    INTERRUPTED,
    MOST_EVALUATIONS,
    first_excess,
    first_passage,
    scan_trajectory,
    used_symbols,
)
from verify.evaluation.programs import compile_program
from verify.language.expressions import primitive

z, a, b = sp.symbols("z a b", real=True)
alpha, C = sp.symbols("alpha C", real=True)
T, q, d, eta = sp.symbols("T q d eta", positive=True)

# The recursion of an attention layer, in textbook form and with the products multiplied out.
w = sp.exp(-C)
P = q / (q + (T - q) * w)
S = P + (1 - P) * w
LOSS = d / (2 * q) * (1 - 2 * alpha * P + alpha**2 * P * S)
STEP_C = C + eta * d / (q * (T - 1)) * alpha * P * (1 - P) * (1 - alpha * P * (1 - w))
CONTRACTING = Dynamics(
    (alpha, C), (sp.Integer(0), sp.Integer(0)), (alpha * (1 - eta * P * S / q) + eta * P / q, STEP_C), LOSS
)
EXPANDED = Dynamics(
    (alpha, C), (sp.Integer(0), sp.Integer(0)), (alpha - (eta * P * S * alpha / q - eta * P / q), STEP_C), LOSS
)

INSTANCES = st.fixed_dictionaries(
    {
        "T": st.integers(3, 12),
        "q": st.integers(1, 2),
        "d": st.integers(1, 3),
        "eta": st.fractions(Fraction(1, 10), 1, max_denominator=20),
    }
)


def _soon():
    """Return a deadline a minute from now: a right run ends earlier, and a wrong run ends then."""
    return time.monotonic() + 60


def _naive(values, steps, dps=50):
    """Return the losses at steps 0, 1, … by the textbook recursion, without rounding bounds."""
    with mpmath.workdps(dps):
        T, q, d = (mpmath.mpf(values[name]) for name in "Tqd")
        eta = mpmath.mpf(values["eta"].numerator) / values["eta"].denominator
        a = C = mpmath.mpf(0)
        for _ in range(steps + 1):
            w = mpmath.exp(-C)
            P = q / (q + (T - q) * w)
            S = P + (1 - P) * w
            yield d / (2 * q) * (1 - 2 * a * P + a * a * P * S)
            a, C = (
                a + eta * P / q * (1 - a * S),
                C + eta * d / (q * (T - 1)) * a * P * (1 - P) * (1 - a * P * (1 - w)),
            )


@settings(max_examples=25)
@given(INSTANCES, st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40))
def test_the_first_step_at_or_below_a_level_is_that_of_naive_iteration(values, part):
    level, last = part * Fraction(values["d"], 2 * values["q"]), 500
    losses = list(_naive(values, last))
    with mpmath.workdps(50):
        below = mpmath.mpf(level.numerator) / level.denominator
        expected = next((t for t, loss in enumerate(losses) if loss <= below), None)
    found = first_passage(CONTRACTING, level, values, deadline=_soon(), last_step=last)
    if expected is None:
        assert (found.reached, found.step, found.why) == (False, last, "last step")
    else:
        assert (found.reached, found.step, found.why) == (True, expected, "")
    with mpmath.workdps(50):
        lower, upper = (
            mpmath.mpf(e.numerator) / e.denominator for e in (found.observable.lower, found.observable.upper)
        )
        true = losses[found.step]
        # With 50 digits, at most 500 steps · 30 roundings have an error below 10^-44.
        assert lower - mpmath.mpf(10) ** -44 <= true <= upper + mpmath.mpf(10) ** -44
        # 128 bits and at most 500 steps · 40 roundings ≤ 2^15 in a contracting recursion give relative errors below
        # 2^-110 of values below 2^5; 2^-90 leaves 15 bits for the conditioning of a step.
        assert upper - lower < mpmath.mpf(2) ** -90
    again = first_passage(EXPANDED, level, values, deadline=_soon(), last_step=last)
    assert (again.reached, again.step) == (found.reached, found.step)
    assert again.bits >= found.bits == FIRST_BITS


def test_a_longer_run_stops_where_naive_iteration_does():
    values = {"T": 9, "q": 2, "d": 1, "eta": Fraction(1, 2)}
    level = Fraction(1, 100)
    with mpmath.workdps(50):
        expected = next(t for t, loss in enumerate(_naive(values, 3000)) if loss <= mpmath.mpf(1) / 100)
    found = first_passage(CONTRACTING, level, values, deadline=_soon())
    assert found.reached and found.step == expected > 400


@pytest.mark.parametrize("power", [10, 200, 700])
def test_an_expanding_form_gets_more_bits_and_the_same_answer(power):
    # z' = 2z/3 from z = 1 gives (2/3)^p at step p. In the second form, z − (a·z − a + 3a²) with a = 1/3, a step
    # multiplies the ball's radius by 4/3 and z by 2/3, so b − t of b bits are left after t steps.
    values, level = {"a": Fraction(1, 3)}, Fraction(2, 3) ** power * Fraction(6, 5)
    forms = (z * (1 - a), z - (a * z - a + 3 * a**2))
    runs = [
        first_passage(Dynamics((z,), (sp.Integer(1),), (form,), z), level, values, deadline=_soon()) for form in forms
    ]
    assert [(run.reached, run.step) for run in runs] == [(True, power)] * 2
    assert runs[0].bits == FIRST_BITS
    assert runs[1].bits == {10: 128, 200: 256, 700: 1024}[power]


def test_a_level_that_is_met_exactly_is_reached():
    halving = Dynamics((z,), (sp.Integer(1),), (z / 2,), z)
    found = first_passage(halving, Fraction(1, 8), {}, deadline=_soon())
    assert (found.reached, found.step, found.observable.lower, found.observable.upper) == (
        True,
        3,
        Fraction(1, 8),
        Fraction(1, 8),
    )
    assert first_passage(halving, Fraction(2), {}, deadline=_soon()).step == 0


def test_level_that_rounding_cannot_decide_is_not_reached():
    # √a·√b is equal to the level 2, but no number of bits shows this.
    constant = Dynamics((z,), (sp.sqrt(a) * sp.sqrt(b),), (z,), z)
    found = first_passage(constant, Fraction(2), {"a": 2, "b": 2}, deadline=_soon())
    assert (found.reached, found.step, found.why, found.bits) == (False, 0, "undecided", 4096)
    assert found.observable.lower < 2 < found.observable.upper


def test_the_last_step_is_included():
    falling = Dynamics((z,), (sp.Integer(5),), (z - 1,), z)
    assert first_passage(falling, Fraction(0), {}, deadline=_soon(), last_step=5).reached
    short = first_passage(falling, Fraction(0), {}, deadline=_soon(), last_step=4)
    assert (short.reached, short.step, short.why, short.observable.lower) == (False, 4, "last step", 1)


def test_time_runs_out_at_once_when_there_is_none():
    constant = Dynamics((z,), (sp.Integer(1),), (z,), z)
    found = first_passage(constant, Fraction(0), {}, deadline=time.monotonic() - 1)
    assert (found.reached, found.step, found.why) == (False, 0, "time")


def test_progress_is_told_the_steps():
    falling = Dynamics((z,), (sp.Integer(5000),), (z - 1,), z)
    told = []
    first_passage(falling, Fraction(0), {}, deadline=_soon(), progress=told.append)
    assert told == [0, 1024, 2048, 3072, 4096]


def test_an_interrupt_ends_the_run_with_what_was_found():
    def interrupt(step):
        if step:
            raise KeyboardInterrupt

    falling = Dynamics((z,), (sp.Integer(5000),), (z - 1,), z)
    found = first_passage(falling, Fraction(0), {}, deadline=_soon(), progress=interrupt)
    assert (found.reached, found.step, found.why) == (False, 1024, INTERRUPTED)


def test_an_enclosure_that_grows_without_bound_ends_the_run():
    # At step 3 the observable is √z at z = 0, and the balls enclose z as [−δ, δ].
    dynamics = Dynamics((z,), (sp.Integer(3),), (z - sp.sqrt(a) * sp.sqrt(b) / 2,), sp.sqrt(z))
    found = first_passage(dynamics, Fraction(1, 2), {"a": 2, "b": 2}, deadline=_soon())
    assert (found.reached, found.step, found.why, found.observable) == (False, 3, "undecided", None)


def test_a_recursion_may_use_primitives():
    @primitive(1)
    def halved(arithmetic, value):
        return value / 2

    found = first_passage(Dynamics((z,), (sp.Integer(1),), (halved(z),), z), Fraction(1, 100), {}, deadline=_soon())
    assert (found.reached, found.step) == (True, 7)


def test_first_excess_finds_the_first_later_step_above():
    # The observable (t − 3)² is 9, 4, 1 (reached), 0, 1, 4, 9, …: it falls to the level and rises again.
    up_again = Dynamics((z, b), (sp.Integer(-3), sp.Integer(0)), (z + 1, b), z**2)
    start = first_passage(up_again, Fraction(1), {}, deadline=_soon())
    assert start.step == 2
    step, value, _ = first_excess(up_again, Fraction(1), Fraction(8), {}, start, steps=100, deadline=_soon())  # pyright: ignore[reportGeneralTypeIssues]
    # z_t = t − 3, so the first t > 2 with z² > 8 is 6, where z² = 9.
    assert (step, value.lower, value.upper) == (6, 9, 9)
    assert first_excess(up_again, Fraction(1), Fraction(8), {}, start, steps=4, deadline=_soon()) is None
    assert first_excess(up_again, Fraction(1), Fraction(8), {}, start, steps=5, deadline=_soon()) is not None
    assert (
        first_excess(up_again, Fraction(1), Fraction(8), {}, start, steps=100, deadline=time.monotonic() - 1)
        is not None
    )


def test_first_excess_gives_up_without_time():
    constant = Dynamics((z,), (sp.Integer(1),), (z,), z)
    start = first_passage(constant, Fraction(1), {}, deadline=_soon())
    assert (
        first_excess(constant, Fraction(1), Fraction(1), {}, start, steps=10**9, deadline=time.monotonic() - 1) is None
    )


def test_the_precision_of_the_backend_is_left_alone():
    before = flint.ctx.prec
    first_passage(CONTRACTING, Fraction(1, 5), {"T": 4, "q": 1, "d": 1, "eta": Fraction(1)}, deadline=_soon())
    assert flint.ctx.prec == before


def test_a_recursion_needs_a_start_and_a_step_for_each_variable():
    for initial, step in (((), (z,)), ((sp.Integer(0),), ()), ((sp.Integer(0),) * 2, (z, z))):
        with pytest.raises(TheoremError, match="one initial value and one step for each"):
            Dynamics((z,), initial, step, z)


def test_the_data_of_a_recursion_shows_every_change():
    base = Dynamics((z,), (sp.Integer(1),), (z / 2,), z)
    changed = [
        Dynamics((z,), (sp.Integer(2),), (z / 2,), z),
        Dynamics((z,), (sp.Integer(1),), (z / 3,), z),
        Dynamics((z,), (sp.Integer(1),), (z / 2,), z**2),
    ]
    assert all(other.to_data() != base.to_data() for other in changed)
    assert Dynamics((z,), (sp.Integer(1),), (sp.Rational(1, 2) * z,), z).to_data() == base.to_data()


def test_used_symbols_are_those_with_values_in_order():
    found = used_symbols((a + z, b * C), {"a": 1, "b": 2, "z": 0, "T": 3}, without=[z])
    assert found == [a, b]


def _direct(dynamics, values, steps):
    """Return the observable at the steps from 0 to `steps`, in float64."""
    fixed = used_symbols((*dynamics.step, dynamics.observable), values, dynamics.state)
    program = compile_program((dynamics.observable, *dynamics.step), dynamics.state, fixed)
    advance = program.bind(Float64(), [float(values[s.name]) for s in fixed])
    state, observed = [float(e) for e in dynamics.initial], []
    for _ in range(steps + 1):
        here, *state = advance(*state)
        observed.append(here)
    return observed


PARABOLIC = Dynamics((z,), (sp.Integer(1),), (z - a * z**2,), z)


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10_000)])
def test_a_scan_by_leaps_follows_a_slow_run(rate):
    last = 200_000
    found, direct = scan_trajectory(PARABOLIC, {"a": rate}, last), _direct(PARABOLIC, {"a": rate}, last)
    assert [count for count, _ in found[: EXACT_STEPS + 1]] == list(range(EXACT_STEPS + 1))
    assert [value for _, value in found[: EXACT_STEPS + 1]] == direct[: EXACT_STEPS + 1]
    # A leap of n/50 steps from step n is an Euler step in log n; the leaps' errors are below 1/100 and have one sign.
    assert all(abs(value / direct[count] - 1) < 0.03 for count, value in found)
    assert len(found) < 5000 and 0.95 * last < found[-1][0] <= last
    # Each step adds a(1 + a z + …) to 1/z: after t steps 1/z is 1 + a t plus a logarithmic term.
    count, value = found[-1]
    assert 0.95 < value * (1 + float(rate) * (count + math.log(count))) < 1.05


@pytest.mark.parametrize(
    ("values", "furthest"),
    [
        # The difference of the two states decays fast; then the run is slow along the curve where the difference is 0.
        ({"T": 9, "q": 2, "d": 1, "eta": Fraction(1, 20)}, 4 * MOST_EVALUATIONS),
        ({"T": 200, "q": 3, "d": 5, "eta": Fraction(1, 500)}, 55_000),
    ],
)
def test_a_scan_by_leaps_follows_training(values, furthest):
    dynamics = load_theorem("wang2024.theorem1").statement.clauses[0].dynamics
    found, direct = scan_trajectory(dynamics, values, 60_000), _direct(dynamics, values, 60_000)
    assert len(found) <= MOST_EVALUATIONS and found[-1][0] > furthest
    assert all(abs(value / direct[count] - 1) < 0.03 for count, value in found)
    assert found[: EXACT_STEPS + 1] == tuple(enumerate(direct[: EXACT_STEPS + 1]))


@pytest.mark.parametrize("steps", [0, 1, 7, EXACT_STEPS, EXACT_STEPS + 3])
def test_a_scan_ends_at_its_last_step(steps):
    counts = [count for count, _ in scan_trajectory(PARABOLIC, {"a": Fraction(1, 3)}, steps)]
    assert counts == list(range(steps + 1))


@pytest.mark.parametrize(
    ("step", "ends"),
    [
        # The state is 2^(2^t): 2^512 is finite in float64, and its square is not.
        (z**2, 10),
        (1 / (z - 1), 1),
        (sp.sqrt(z - 2), 1),
        (sp.log(z - 1), 2),
        ((z - 3) ** a, 1),
    ],
    ids=["overflow", "division by zero", "root", "logarithm", "power"],
)
def test_a_scan_ends_with_infinity_where_there_is_no_value(step, ends):
    found = scan_trajectory(Dynamics((z,), (sp.Integer(2),), (step,), z), {"a": Fraction(1, 2)}, 1000)
    assert math.isinf(found[-1][1]) and all(math.isfinite(value) for _, value in found[:-1])
    assert found[-1][0] <= ends and [count for count, _ in found] == list(range(len(found)))


@pytest.mark.parametrize("rate", [4, Fraction(16, 5)], ids=["chaos", "period two"])
def test_a_run_that_does_not_become_steady_is_not_leapt_along(rate):
    logistic = Dynamics((z,), (sp.Rational(1, 3),), (a * z * (1 - z),), z)
    found = scan_trajectory(logistic, {"a": rate}, 10**6)
    assert [count for count, _ in found] == list(range(MOST_EVALUATIONS))
    assert [value for _, value in found] == _direct(logistic, {"a": rate}, MOST_EVALUATIONS - 1)


def test_a_run_that_stands_still_is_carried_to_the_end():
    still = Dynamics((z,), (sp.Integer(3),), (z,), z)
    found = scan_trajectory(still, {}, 10**6)
    assert {value for _, value in found} == {3.0} and found[-1][0] > 950_000 and len(found) < MOST_EVALUATIONS


def test_clauses_on_one_recursion_share_a_scan():
    calls = []

    @primitive(1)
    def counted(arithmetic, value):
        calls.append(None)
        return value

    dynamics = Dynamics((z,), (sp.Integer(1),), (z * (1 - a),), counted(z))
    first = scan_trajectory(dynamics, {"a": Fraction(1, 2)}, 50)
    assert len(calls) == 51 and scan_trajectory(dynamics, {"a": Fraction(1, 2)}, 50) is first
    assert len(calls) == 51
    assert scan_trajectory(dynamics, {"a": Fraction(1, 3)}, 50) != first and len(calls) == 102
    assert scan_trajectory(dynamics, {"a": Fraction(1, 2)}, 20) == first[:21]
