"""Values at an instance: exact, enclosed to the requested digits, or missing; signs, and values in float64."""

import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from verify import Enclosure, TheoremError
from verify.errors import UndefinedError
from verify.evaluation.values import evaluate_rising, scan_values, sign_of, symbols_by_name

x, y = sp.symbols("x y", real=True)
a, b = sp.symbols("a b", real=True)


@pytest.mark.parametrize(
    ("expression", "instance", "value"),
    [
        (x + y / 3, {"x": 1, "y": 2}, Fraction(5, 3)),
        (sp.sqrt(x), {"x": Fraction(9, 4)}, Fraction(3, 2)),
        (sp.exp(x), {"x": 0}, 1),
        (sp.Integer(7), {}, 7),
    ],
)
def test_a_rational_value_is_exact_and_has_no_bits(expression, instance, value):
    assert evaluate_rising(expression, instance) == (value, None)


@pytest.mark.parametrize("digits", [5, 17, 50, 300])
def test_digits_are_what_was_asked_for(digits):
    found, bits = evaluate_rising(sp.exp(x), {"x": 1}, digits=digits)
    assert isinstance(found, Enclosure) and bits >= 128
    with mpmath.workdps(400):
        lower, upper = (mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        assert lower <= mpmath.e <= upper
        # The relative width is at most 10^(1 − digits), and e < 3.
        assert upper - lower <= 3 * mpmath.mpf(10) ** (-digits + 1)


def test_digits_survive_cancellation():
    # The value is e·(e^gap − 1) with gap = 10^-60, where 200 bits cancel. 17 digits are 57 bits, so the
    # relative width of the enclosure is at most 2^-55.
    gap = Fraction(1, 10**60)
    found, bits = evaluate_rising(sp.exp(a) - sp.exp(b), {"a": 1 + gap, "b": 1}, digits=17)
    assert bits in (256, 512)
    with mpmath.workdps(200):
        true = mpmath.e * mpmath.expm1(mpmath.mpf(10) ** -60)
        lower, upper = (mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        assert lower <= true <= upper and upper - lower <= true * mpmath.mpf(2) ** -55


def test_a_value_that_does_not_exist_is_undefined():
    for expression, at in ((1 / x, 0), (sp.log(x), 0), (sp.log(x), -1), (sp.sqrt(x), -1)):
        with pytest.raises(UndefinedError):
            evaluate_rising(expression, {"x": at})


def test_a_symbol_without_a_value_is_named():
    with pytest.raises(TheoremError, match="y has no value here"):
        evaluate_rising(x + y, {"x": 1})


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (Fraction(1, 9), 1),
        (Fraction(0), 0),
        (Fraction(-3), -1),
        (Enclosure(Fraction(1, 9), Fraction(1)), 1),
        (Enclosure(Fraction(-2), Fraction(-1, 9)), -1),
        (Enclosure(Fraction(0), Fraction(0)), 0),
        (Enclosure(Fraction(-1), Fraction(1)), None),
        (Enclosure(Fraction(0), Fraction(1)), None),
    ],
)
def test_a_sign_is_what_both_ends_say(value, sign):
    assert sign_of(value) == sign


def test_symbols_are_found_by_their_names():
    assert symbols_by_name(b * sp.exp(a) + x) == {"a": a, "b": b, "x": x}
    assert symbols_by_name(sp.Integer(3)) == {}


def test_values_for_a_search_are_those_of_float64():
    found = scan_values((sp.exp(x) + y, x / y), {"x": Fraction(1, 2), "y": 3, "unused": 7})
    assert found == pytest.approx((math.exp(0.5) + 3, 1 / 6), rel=1e-15)
    with pytest.raises(KeyError):
        scan_values((x + y,), {"x": 1})
