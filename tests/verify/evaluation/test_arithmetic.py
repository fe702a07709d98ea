"""The arithmetics: exact rationals against Fraction, balls against mpmath, and their refusals."""

from fractions import Fraction
from types import SimpleNamespace

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import verify.evaluation.arithmetic as module
from verify.errors import NotExactError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import (
    Exact,
    Float64,
    balls,
    enclosure_of_ball,
    exact_fraction,
    positive_definite,
    self_test,
)

EXACT = Exact()
RATIONALS = st.fractions(-50, 50, max_denominator=10**6)
POSITIVE = st.fractions(Fraction(1, 10**6), 50, max_denominator=10**6)


def _mp(value):
    return mpmath.mpf(value.numerator) / value.denominator


@given(RATIONALS, RATIONALS)
def test_exact_operations_agree_with_fractions(a, b):
    p, q = EXACT.number(a), EXACT.number(b)
    assert (exact_fraction(p + q), exact_fraction(p - q), exact_fraction(p * q)) == (a + b, a - b, a * b)
    if b:
        assert exact_fraction(p / q) == a / b
    assert EXACT.sign(p) == (a > 0) - (a < 0)


def test_exact_functions_have_the_rational_values_only():
    assert EXACT.exp(flint.fmpq(0)) == 1 and EXACT.log(flint.fmpq(1)) == 0
    assert EXACT.sqrt(flint.fmpq(9, 49)) == flint.fmpq(3, 7) and EXACT.sqrt(flint.fmpq(0)) == 0
    for function, argument in ((EXACT.exp, 1), (EXACT.log, 2), (EXACT.sqrt, 2)):
        with pytest.raises(NotExactError):
            function(flint.fmpq(argument))
    with pytest.raises(UndefinedError):
        EXACT.sqrt(flint.fmpq(-1))


@pytest.mark.parametrize("arithmetic", [EXACT, Float64()])
@pytest.mark.parametrize("value", [True, "1", None, 1j])
def test_values_that_are_no_numbers_are_refused(arithmetic, value):
    with pytest.raises(TheoremError, match="not a number of the"):
        arithmetic.number(value)


def test_floats_enter_no_arithmetic_that_certifies():
    with balls(64) as ball:
        for arithmetic in (EXACT, ball):
            with pytest.raises(TheoremError, match="not a number of the"):
                arithmetic.number(0.5)


def test_division_by_zero_is_undefined():
    with balls(64) as ball:
        for arithmetic in (EXACT, ball):
            with pytest.raises(UndefinedError, match="division by zero"):
                arithmetic.rational(1, 0)


def test_checked_lets_only_numbers_of_the_arithmetic_pass():
    assert EXACT.checked(flint.fmpq(1, 3)) == flint.fmpq(1, 3)
    with pytest.raises(TheoremError, match="float: not an exact rational"):
        EXACT.checked(0.5)


@settings(max_examples=60)
@given(RATIONALS, st.sampled_from([64, 128, 500]))
def test_a_ball_of_a_rational_contains_it_and_is_narrow(value, bits):
    with balls(bits) as ball:
        found = enclosure_of_ball(ball.number(value))
    assert found.lower <= value <= found.upper
    # Rounding to `bits` bits has an error below 1 ulp ≤ 2^(1−bits)|x| on both sides, and each end is rounded outwards
    # by at most 1 ulp more: together 4 · 2^(1−bits)|x|. A factor 2 allows for the 30 bits of the radius.
    assert found.upper - found.lower <= abs(value) * Fraction(1, 2 ** (bits - 4))


@settings(max_examples=60)
@given(POSITIVE, st.sampled_from(["exp", "log", "sqrt"]), st.sampled_from([64, 200]))
def test_a_function_of_a_ball_contains_the_true_value_and_is_narrow(value, name, bits):
    with balls(bits) as ball:
        found = enclosure_of_ball(getattr(ball, name)(ball.number(value)))
    with mpmath.workprec(2 * bits + 100):
        true = getattr(mpmath, name)(_mp(value))
        # mpmath has a relative error of 2^-(2·bits) at values within e^±50, far less than the width of the ball.
        slop = mpmath.mpf(2) ** (-2 * bits) * (1 + abs(true))
        assert _mp(found.lower) - slop <= true <= _mp(found.upper) + slop
        # The argument's relative error δ = 2^(1−bits) changes exp by δ·x·e^x, log by δ and sqrt by δ·√x/2; the
        # function's own rounding adds δ times its value. The factor 2^5 covers both errors, and the outward rounding
        # of the ends.
        scale = {"exp": (1 + _mp(value)) * true, "log": 1 + abs(true), "sqrt": true}[name]
        assert _mp(found.upper) - _mp(found.lower) <= scale * mpmath.mpf(2) ** (5 - bits)


def test_the_sign_of_a_ball_is_decided_or_refused():
    with balls(64) as ball:
        assert [ball.sign(ball.rational(p, 3)) for p in (1, -1, 0)] == [1, -1, 0]
        root = ball.sqrt(ball.rational(2, 1))
        with pytest.raises(UndecidedError, match="contains 0"):
            ball.sign(root * root - 2)


@given(st.integers(-(2**40), 2**40), st.integers(0, 2**20), st.integers(-60, 60))
def test_the_ends_of_a_ball_are_exact(middle, radius, power):
    mid, rad = Fraction(middle) * Fraction(2) ** power, Fraction(radius) * Fraction(2) ** power
    with balls(200):
        arb = flint.arb(flint.arb(middle) * flint.arb(2) ** power, flint.arb(radius) * flint.arb(2) ** power)
        found = enclosure_of_ball(arb)
    # The ends are exact at 200 bits; the radius keeps 30 bits and is rounded up when it is set.
    room = rad * Fraction(1, 2**28)
    assert mid - rad - room <= found.lower <= mid - rad and mid + rad <= found.upper <= mid + rad + room


def test_balls_restore_the_precision_of_the_backend():
    before = flint.ctx.prec
    with balls(321) as ball:
        assert flint.ctx.prec == 321 == ball.bits
        with balls(77):
            assert flint.ctx.prec == 77
        assert flint.ctx.prec == 321
    with pytest.raises(ZeroDivisionError), balls(99):
        raise ZeroDivisionError
    assert flint.ctx.prec == before


def test_more_bits_make_a_narrower_ball():
    widths = []
    for bits in (64, 128, 256):
        with balls(bits) as ball:
            found = enclosure_of_ball(ball.exp(ball.rational(1, 3)))
            widths.append(found.upper - found.lower)
    assert widths[0] > 2**50 * widths[1] > 2**150 * widths[2] > 0


def test_float64_computes_scalars_and_takes_arrays():
    floats = Float64()
    assert floats.rational(1, 10) == 0.1 and floats.number(Fraction(1, 4)) == 0.25
    array = np.array([0.0, 1.0])
    assert floats.exp(array)[0] == 1.0 and floats.log(np.float64(1)) == 0.0 and floats.sqrt(np.float64(4)) == 2.0
    assert [floats.sign(np.float64(v)) for v in (-2.0, 0.0, 2.0)] == [-1, 0, 1]


def test_the_self_test_accepts_this_backend_and_refuses_wrong_ones(monkeypatch):
    self_test.__wrapped__()
    wrong = (
        lambda *value: flint.arb(*value) * 2,
        lambda *value: flint.arb(*value) + flint.arb("1e-3"),
        lambda *value: flint.arb(0, 1) + flint.arb(*value),
    )
    for arb in wrong:
        monkeypatch.setattr(module, "flint", SimpleNamespace(arb=arb, fmpq=flint.fmpq, __version__="0.0"))
        with pytest.raises(RuntimeError, match="fails its self-test"):
            self_test.__wrapped__()


def test_ends_that_would_fill_the_memory_are_refused():
    with balls(64) as ball:
        # exp(10^9) = 2^(10^9/log 2) has some 1.4·10^9 bits.
        for exponent in (10**9, -(10**9)):
            with pytest.raises(UndefinedError, match="not written out"):
                enclosure_of_ball(ball.exp(ball.number(exponent)))
        small = enclosure_of_ball(ball.exp(ball.number(-(10**6))))
    assert 0 < small.lower <= small.upper < Fraction(1, 2**1_000_000)


def test_definiteness_is_decided_in_balls():
    def form(rows):
        return positive_definite(flint.arb_mat([[flint.arb(x) for x in row] for row in rows]))

    assert form([[2, 1], [1, 1]]) is True and form([[1, 2], [2, 1]]) is False
    assert form([[0, 1], [1, 5]]) is False and form([[0, 0], [0, 1]]) is None
    assert form([["0 +/- 1", 0], [0, 1]]) is None and form([[1, 0], [0, "0 +/- 1"]]) is None


def test_a_power_of_a_ball_around_0_is_multiplied_out():
    with balls(64) as ball:
        around = ball.number(-1).union(ball.number(2))
        for exponent in (0, 1, 2, 3, 9):
            raised = ball.raised(around, exponent)
            assert raised.is_finite() and raised.contains(2**exponent) and raised.contains((-1) ** exponent)
            assert ball.power(around, ball.number(exponent)).contains(2**exponent)
        assert not ball.power(around, ball.number(-2)).is_finite() and not ball.raised(around, 2).contains(9)
