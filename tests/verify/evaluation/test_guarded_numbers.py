"""Guarded numbers: their operations are right, and they refuse floats and numbers of other arithmetics."""

import cmath
import math
import operator
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, strategies as st

from verify.errors import ArithmeticLeftError, NotExactError, TheoremError
from verify.evaluation.arithmetic import Exact, balls, exact_fraction
from verify.evaluation.guarded_numbers import GuardedArithmetic, Number, call_primitive

EXACT = Exact()
THREE = Number(flint.fmpq(3), EXACT)
RATIONALS = st.fractions(-9, 9, max_denominator=30)


def _value(number):
    return exact_fraction(number._raw)


@given(
    RATIONALS,
    RATIONALS,
    st.integers(-9, 9),
    st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv]),
)
def test_numbers_compute_as_fractions_do(a, b, k, operation):
    p, q = (Number(EXACT.number(value), EXACT) for value in (a, b))
    for left, right, x, y in ((p, q, a, b), (p, k, a, k), (k, p, k, a)):
        try:
            expected = operation(Fraction(x), Fraction(y))
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                operation(left, right)
        else:
            assert _value(operation(left, right)) == expected


@given(RATIONALS, RATIONALS)
def test_numbers_compare_as_fractions_do(a, b):
    p, q = (Number(EXACT.number(value), EXACT) for value in (a, b))
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        assert compare(p, q) is compare(a, b)


@given(RATIONALS, st.integers(0, 6))
def test_negation_and_powers(a, k):
    number = Number(EXACT.number(a), EXACT)
    assert _value(-number) == -a and _value(number**k) == a**k
    if a:
        assert _value(number**-k) == a**-k


@pytest.mark.parametrize(
    "leave",
    [
        float, int, complex, bool, round, math.trunc, math.floor, math.ceil, math.exp, math.sqrt, cmath.exp, np.exp,
        np.float64, np.array([1.0, 2.0]).__getitem__, range, hash, lambda n: [0, 1, 2, 3][n], lambda n: 2.0**n,
        lambda n: float(str(n)), Fraction, lambda n: "x" * n, lambda n: f"{n:.3f}", lambda n: n**0.5,
        lambda n: n**n, abs, divmod, lambda n: n % 2, lambda n: n // 2,
    ],
)  # fmt: skip
def test_a_number_cannot_be_turned_into_a_python_number(leave):
    with pytest.raises((TypeError, ValueError, IndexError)):
        leave(THREE)


@pytest.mark.parametrize("leave", [float, int, complex, bool, round, math.trunc, math.floor, math.ceil, math.exp])
def test_leaving_says_which_arithmetic_was_left(leave):
    with pytest.raises(ArithmeticLeftError, match="exact arithmetic was turned into a Python number"):
        leave(THREE)


@pytest.mark.parametrize("other", [0.5, Fraction(1, 2), True, 1j, "1", None, np.float64(1)])
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt])
def test_a_number_meets_only_ints_and_numbers(other, operation):
    with pytest.raises(ArithmeticLeftError, match="was combined with a number of the exact arithmetic"):
        operation(THREE, other)
    with pytest.raises((ArithmeticLeftError, TypeError)):
        operation(other, THREE)


def test_numbers_of_two_arithmetics_do_not_mix():
    with balls(64) as first, balls(128) as second:
        one, two = Number(flint.arb(1), first), Number(flint.arb(2), second)
        for other in (two, THREE, Number(flint.fmpq(3), Exact())):
            with pytest.raises(ArithmeticLeftError, match="a Number was combined with"):
                one + other  # pyright: ignore[reportUnusedExpression]
        assert (one + Number(flint.arb(2), first))._raw == 3
        with pytest.raises(ArithmeticLeftError):
            GuardedArithmetic(first).exp(two)


def test_constants_are_built_from_two_ints():
    guarded = GuardedArithmetic(EXACT)
    assert _value(guarded.rational(6, -4)) == Fraction(-3, 2) and _value(guarded.rational(7)) == 7
    for arguments in ((0.5,), (1, 2.0), (Fraction(1, 2),), (True,), (np.int64(3),), ("1", "2")):
        with pytest.raises(ArithmeticLeftError, match="takes two ints"):
            guarded.rational(*arguments)


@pytest.mark.parametrize("times", [1, 3, -1])
def test_constants_are_not_the_expansion_of_a_float(times):
    # The fractions (3p)/(3q) and (−p)/(−q), which are equal to p/q, are refused too.
    p, q = (0.1).as_integer_ratio()
    with pytest.raises(TheoremError, match="float's expansion"):
        GuardedArithmetic(EXACT).rational(times * p, times * q)


def test_functions_apply_to_numbers_of_the_arithmetic_only():
    guarded = GuardedArithmetic(EXACT)
    assert _value(guarded.sqrt(guarded.rational(9, 4))) == Fraction(3, 2)
    assert _value(guarded.exp(guarded.rational(0))) == 1 and _value(guarded.log(guarded.rational(1))) == 0
    with pytest.raises(NotExactError):
        guarded.exp(THREE)
    for wrong in (2, 2.0, flint.fmpq(2), None):
        with pytest.raises(ArithmeticLeftError, match="not a number of the exact arithmetic"):
            guarded.exp(wrong)


def test_a_primitive_gets_guarded_numbers_and_gives_a_raw_one():
    def half_sum(arithmetic, a, b):
        assert isinstance(a, Number) and isinstance(arithmetic, GuardedArithmetic)
        return (a + b) * arithmetic.rational(1, 2)

    result = call_primitive(half_sum, EXACT)(flint.fmpq(1), flint.fmpq(2))
    assert type(result) is flint.fmpq and result == flint.fmpq(3, 2)


@pytest.mark.parametrize("result", [1, 0.5, Fraction(1, 2), flint.fmpq(1), None, Number(flint.fmpq(1), Exact())])
def test_a_primitive_that_returns_anything_else_is_refused(result):
    def wrong(arithmetic, a):
        return result

    with pytest.raises(TheoremError, match=rf"primitive wrong returned a {type(result).__name__}"):
        call_primitive(wrong, EXACT)(flint.fmpq(1))
