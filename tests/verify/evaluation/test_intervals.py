"""Interval arithmetic: a result contains every value; if no end is rounded, it is the exact hull of the values."""

import operator
from fractions import Fraction

import flint
import mpmath
import pytest
from hypothesis import given, settings, strategies as st

from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.intervals import FIRST_BITS as BITS, Interval, intervals

DYADIC = st.integers(-64, 64).map(lambda k: Fraction(k, 8))
PAIRS = st.tuples(DYADIC, DYADIC).map(sorted)
TENTHS = st.integers(-60, 60).map(lambda k: Fraction(k, 7))


def _arb(value):
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _fraction(end):
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _interval(pair):
    return Interval(_arb(pair[0]), _arb(pair[1]))


def _ends(interval):
    return [_fraction(interval.lo), _fraction(interval.hi)]


@given(PAIRS, PAIRS, st.sampled_from([operator.add, operator.sub, operator.mul]))
def test_an_operation_gives_the_exact_hull_of_all_values(left, right, operation):
    # Sums, differences and products are extreme at the ends; a few dozen bits represent them exactly.
    values = [operation(a, b) for a in left for b in right]
    with intervals():
        assert _ends(operation(_interval(left), _interval(right))) == [min(values), max(values)]


@given(PAIRS, st.integers(0, 5))
def test_a_power_gives_the_exact_hull(pair, exponent):
    values = [value**exponent for value in pair]
    if exponent and exponent % 2 == 0 and pair[0] <= 0 <= pair[1]:
        values.append(Fraction(0))
    with intervals():
        found = _ends(_interval(pair) ** exponent)
    if exponent == 0:
        assert found[0] <= 1 <= found[1]
    else:
        assert found == [min(values), max(values)]


@given(PAIRS, PAIRS)
def test_division_contains_the_hull_and_is_narrow(left, right):
    with intervals():
        if right[0] <= 0 <= right[1]:
            with pytest.raises(UndecidedError, match="contains 0"):
                _interval(left) / _interval(right)  # pyright: ignore[reportUnusedExpression]
            return
        found = _ends(_interval(left) / _interval(right))
    values = [a / b for a in left for b in right]
    assert found[0] <= min(values) and max(values) <= found[1]
    # 1/b is rounded outwards once and the product once more: 2 roundings of 96 bits at each end, and |a/b| ≤ 64.
    assert min(values) - found[0] <= Fraction(64 * 4, 2**BITS) and found[1] - max(values) <= Fraction(64 * 4, 2**BITS)


@given(PAIRS)
def test_negation_is_exact(pair):
    with intervals():
        assert _ends(-_interval(pair)) == [-pair[1], -pair[0]]


@given(
    st.tuples(*[st.fractions(-9, 9, max_denominator=999)] * 2),
    st.sampled_from([operator.add, operator.sub, operator.mul]),
)
def test_ends_that_are_rounded_are_points_outside_the_value(values, operation):
    with intervals() as arithmetic:
        result = operation(*map(arithmetic.number, values))
        assert result.lo.is_exact() and result.hi.is_exact()
        low, high = _ends(result)
    assert low <= operation(*values) <= high
    # Two enclosures of width 8·2^-96·9, times 9 for a product; the rounding of the result is less.
    assert high - low <= Fraction(9 * 9 * 8 * 4, 2**BITS)


def test_zero_times_anything_is_zero_and_a_touched_bound_is_decided():
    with intervals() as arithmetic:
        zero, wide = arithmetic.rational(0, 1), _interval([Fraction(-5), Fraction(7)])
        assert _ends(zero * wide) == [0, 0]
        assert arithmetic.sign(zero * wide) == 0
        box = _interval([Fraction(0), Fraction(3)])
        # These intervals are made so that (1 − s)·[0, A] does not extend below 0.
        assert (box * arithmetic.rational(2, 3)).lo == 0


@given(TENTHS)
def test_a_rational_is_enclosed_outwards_by_one_rounding(value):
    with intervals() as arithmetic:
        low, high = _ends(arithmetic.rational(value.numerator, value.denominator))
        assert _ends(arithmetic.number(value)) == [low, high]
    assert low <= value <= high
    # The ball has the radius 1 ulp ≤ 2^(1−96)|x|, and its ends are rounded outwards by 1 ulp each.
    assert high - low <= abs(value) * Fraction(8, 2**BITS)
    if value.denominator == 1:
        assert low == value == high


@settings(max_examples=50)
@given(
    st.tuples(*[st.fractions(Fraction(1, 50), 20, max_denominator=50)] * 2).map(sorted),
    st.sampled_from(["exp", "log", "sqrt"]),
)
def test_a_function_contains_its_values_at_the_ends_and_is_narrow(pair, name):
    with intervals() as arithmetic:
        argument = Interval(_arb(pair[0]).lower(), _arb(pair[1]).upper())
        low, high = _ends(getattr(arithmetic, name)(argument))
    with mpmath.workprec(300):
        true = [getattr(mpmath, name)(mpmath.mpf(v.numerator) / v.denominator) for v in pair]
        ends = [mpmath.mpf(v.numerator) / v.denominator for v in (low, high)]
        assert ends[0] <= true[0] and true[1] <= ends[1]
        # The ends of the argument have an error of 3 ulp ≤ 3·2^-95·20. The slopes exp' ≤ e^20 < 2^29, log' ≤ 50 and
        # sqrt' ≤ 4 magnify it to less than 2^(-95+7+29) = 2^-59 for exp and 2^-80 for the others; roundings add less.
        room = mpmath.mpf(2) ** (-59 if name == "exp" else -80)
        assert true[0] - ends[0] <= room and ends[1] - true[1] <= room


def test_functions_undefined_at_a_point_of_the_interval_are_refused():
    with intervals() as arithmetic:
        with pytest.raises(UndecidedError, match="logarithm"):
            arithmetic.log(_interval([Fraction(0), Fraction(1)]))
        with pytest.raises(UndecidedError, match="square root"):
            arithmetic.sqrt(_interval([Fraction(-1), Fraction(1)]))
        assert _ends(arithmetic.sqrt(_interval([Fraction(0), Fraction(4)]))) == [0, 2]
        with pytest.raises(TheoremError, match="negative powers"):
            _interval([Fraction(1), Fraction(2)]) ** -1  # pyright: ignore[reportUnusedExpression]
        with pytest.raises(UndefinedError):
            arithmetic.rational(1, 0)


def test_signs_are_decided_or_refused():
    with intervals() as arithmetic:
        for pair, sign in (([1, 2], 1), ([-2, -1], -1), ([0, 0], 0)):
            assert arithmetic.sign(_interval([Fraction(v) for v in pair])) == sign
        for pair in ([-1, 1], [0, 1], [-1, 0]):
            with pytest.raises(UndecidedError):
                arithmetic.sign(_interval([Fraction(v) for v in pair]))


def test_the_precision_is_set_and_restored():
    before = flint.ctx.prec
    with intervals():
        assert flint.ctx.prec == BITS
    assert flint.ctx.prec == before
