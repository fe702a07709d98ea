"""Sines and arctangents between ends, values at multiples of π/4 and π/6, logarithms of numbers and exponentials."""

import pytest
import sympy as sp

from tests.verify.rechecker.deduction.trees import NOTHING, data, known as known_of, total, verdict

x, y = sp.Symbol("x", real=True), sp.Symbol("y", positive=True)
POSITIVE = sp.Symbol("x", positive=True)
ARC = "0 < sin(x) if x < pi for x > 0"
CLOSED = "0 <= sin(x) if x <= pi for x >= 0"
HALF = "0 < cos(x) if x < pi/2, -pi/2 < x"
CLOSED_HALF = "0 <= cos(x) if x <= pi/2, -pi/2 <= x"
NONNEGATIVE = sp.Symbol("x", nonnegative=True)
FIRST, SECOND, THIRD = total((1, [0])), total((1, [1])), total((1, [2]))


def known(name, of, then):
    return known_of(name, of, then=then)


ACCEPTED = {
    "a sine": (ARC, known("sin_positive", POSITIVE, SECOND), [0]),
    "a sine to the ends": (CLOSED, known("sin_nonnegative", NONNEGATIVE, SECOND), [0]),
    "a cosine": (HALF, known("cos_positive", x, THIRD), [0, 1]),
    "a cosine to the ends": (CLOSED_HALF, known("cos_nonnegative", x, THIRD), [0, 1]),
    "an arctangent": ("atan(x) < pi/2", known("atan_above", x, FIRST), []),
    "an arctangent below": ("-pi/2 < atan(x)", known("atan_below", x, FIRST), []),
    "a logarithm of a number": ("log(12/7) + x == 2*log(2) + log(3) - log(7) + x", NOTHING, []),
    "a logarithm of large primes": ("log(103/101) + x == log(103) - log(101) + x", NOTHING, []),
    "a logarithm above 0": ("x < x + log(103)", total((sp.log(103), [])), []),
    "a logarithm of a number by a value": (
        "x + log(3/(2 + 2*y)) == x + log(3) - log(2) - log(1 + y) for y > 0",
        NOTHING,
        [],
    ),
    "a logarithm below 0": ("x + log(2/4) < x", total((sp.log(2), [])), []),
    "a logarithm of an exponential's multiple": ("log(y*exp(x)) == x + log(y) for y > 0", NOTHING, []),
    "a logarithm over an exponential": ("log(y*exp(-x)/(1 + y)) + x == log(y/(1 + y)) for y > 0", NOTHING, []),
    "an exponential of a sum over a number": ("exp(x*log(y) + 1/E) == exp(1/E)*y**x for y > 0", NOTHING, []),
}
REFUSED = {
    "a sine that is 0 at 0": (CLOSED, known("sin_positive", NONNEGATIVE, SECOND), [0], "between the ends"),
    "a sine that is strict": (
        CLOSED.replace("0 <= s", "0 < s"),
        known("sin_nonnegative", NONNEGATIVE, SECOND),
        [0],
        "sign",
    ),
    "a sine up to 2 pi": (
        ARC.replace("pi", "2*pi"),
        known("sin_positive", POSITIVE, SECOND),
        [0],
        "ends",
    ),
    "a sine without an end": (ARC, known("sin_positive", POSITIVE, FIRST), [], "between the ends"),
    "a sine of a negative number": (
        HALF.replace("cos", "sin"),
        known("sin_positive", x, THIRD),
        [0, 1],
        "between the ends",
    ),
    "a sine below": ("0 <= -sin(x) if x <= pi for x >= 0", known("sin_nonnegative", NONNEGATIVE, SECOND), [0], "sum"),
    "a cosine up to pi": (
        ARC.replace("sin", "cos"),
        known("cos_positive", POSITIVE, SECOND),
        [0],
        "ends",
    ),
    "a cosine at its end": (CLOSED_HALF, known("cos_positive", x, THIRD), [0, 1], "between the ends"),
    "an arctangent at a lower end": ("atan(x) < pi/3", known("atan_above", x, FIRST), [], "the sum is not"),
    "an arctangent as a tangent": ("pi/2 < atan(x)", known("atan_below", x, FIRST), [], "the sum is not"),
    "a logarithm of a wrong number": ("log(12/7) + x == log(2) + log(3) - log(7) + x", NOTHING, [], "the sum is not"),
    "a logarithm of another number by a value": (
        "x + log(2/y) == x + log(3) - log(y) for y > 0",
        NOTHING,
        [],
        "the sum is not",
    ),
    "a logarithm of a number by what may be negative": (
        "log(1/x) == -log(x) if x**2 >= 1",
        NOTHING,
        [0],
        "sign of a divisor",
    ),
    "a logarithm of 1/2 above 0": ("x < x + log(1/2)", total((sp.log(2), [])), [], "the sum is not"),
    "a logarithm of 1/2 as a factor": ("x < x - log(2)", total((-sp.log(2), [])), [], "at least 0"),
    "a logarithm of a negative multiple": (
        "log(-y*exp(x)) == x + log(-y) for y > 0",
        NOTHING,
        [],
        "the argument of a log",
    ),
    "a logarithm of what may be 0": ("log(y*exp(x)) == x + log(y) for y >= 0", NOTHING, [], "the argument of a log"),
}
TWELFTHS = [(head, k) for head in ("sin", "cos") for k in range(-13, 28) if k % 2 == 0 or k % 3 == 0]
"""Multiples of π/12 that are multiples of π/4 or π/6."""


def instance_of(line):
    return {"x": 1, "y": 2} if "y" in line else {"x": 1}


@pytest.mark.parametrize("name", ACCEPTED)
def test_known_signs_bounds_and_logarithms_are_accepted(name):
    line, tree, relations = ACCEPTED[name]
    found = verdict(line, tree, relations, **instance_of(line))
    assert (found.evidence, found.why) == ("proved", "")


@pytest.mark.parametrize("name", REFUSED)
def test_unshown_signs_bounds_and_logarithms_are_refused(name):
    line, tree, relations, why = REFUSED[name]
    found = verdict(line, tree, relations, **instance_of(line))
    assert found.evidence is None and why in found.why


def stated(head, share, value):
    """Return a proof of x <= x + 1 that first states the sine, or the cosine, of a multiple of π."""
    relation = ["Eq", [head, ["Mul", data(sp.Rational(share)), ["pi"]]], data(value)]
    return {"rule": "lemma", "relation": relation, "proof": NOTHING, "then": total((1, []))}


@pytest.mark.parametrize(("head", "k"), TWELFTHS)
def test_a_sine_of_a_quarter_or_a_sixth_of_pi_is_its_value(head, k):
    # SymPy computes these values by another method than the re-checker.
    right = getattr(sp, head)(sp.Rational(k, 12) * sp.pi)
    assert verdict("x <= x + 1", stated(head, sp.Rational(k, 12), right), x=1).evidence == "proved"
    for wrong in (-right, right + sp.Rational(1, 2), right * sp.sqrt(2)):
        if wrong != right:
            assert "the sum is not" in verdict("x <= x + 1", stated(head, sp.Rational(k, 12), wrong), x=1).why


@pytest.mark.parametrize(
    ("head", "share", "value"), [("sin", "1/12", "0"), ("cos", "1/12", "1"), ("sin", "1/5", "1/2")]
)
def test_no_other_sine_is_known(head, share, value):
    assert "the sum is not" in verdict("x <= x + 1", stated(head, share, value), x=1).why
