"""Limits by series of exponentials, logarithms, sines, cosines, roots and powers; refusals where there is no series."""

import pytest

from tests.verify.rechecker.deduction.trees import NOTHING, verdict
from verify.claims.line import example_of, statement_of

ACCEPTED = {
    "compound interest": "Limit((1 + x/n)**n, n, oo) == exp(x)",
    "a second order": "Limit((1 + x/n + y/n**2)**n, n, oo) == exp(x)",
    "a root of n": "Limit(n*(a**(1/n) - 1), n, oo) == log(a) for a > 0",
    "a geometric mean": "Limit(((a**(1/n) + b**(1/n))/2)**n, n, oo) == sqrt(a*b) for a > 0, b > 0",
    "a difference of roots": "Limit(sqrt(n**2 + x*n) - n, n, oo) == x/2",
    "a cube root": "Limit(n*((1 + x/n)**(1/3) - 1), n, oo) == x/3",
    "a sine": "Limit(sin(x*u)/u, u, 0) == x",
    "a cosine": "Limit((1 - cos(x*u))/u**2, u, 0) == x**2/2",
    "a third order": "Limit((sin(u) - u)/u**3, u, 0) == -1/6",
    "a tangent": "Limit(tan(x*u)/u, u, 0) == x",
    "a hyperbolic sine": "Limit((sinh(u) - u)/u**3, u, 0) == 1/6",
    "a hyperbolic cosine": "Limit((cosh(u) - 1)/u**2, u, 0) == 1/2",
    "a hyperbolic tangent": "Limit(tanh(n/(n + 1)), n, oo) == tanh(1)",
    "a slope of an exponential": "Limit((exp(u) - exp(x))/(u - x), u, x) == exp(x)",
    "a slope of a sine": "Limit((sin(x + u) - sin(x))/u, u, 0) == cos(x)",
    "a slope of a cosine": "Limit((cos(x + u) - cos(x))/u, u, 0) == -sin(x)",
    "a slope of a logarithm": "Limit((log(a + u) - log(a))/u, u, 0) == 1/a for a > 0",
    "a slope of a root": "Limit((sqrt(a + u) - sqrt(a))/u, u, 0) == 1/(2*sqrt(a)) for a > 0",
    "an exponent that tends to 0": "Limit(a**u, u, 0) == 1 for a > 0",
}
REFUSED = {
    "another value": ("Limit((1 + x/n)**n, n, oo) == exp(2*x)", "the sum is not"),
    "the arithmetic mean": (
        "Limit(((a**(1/n) + b**(1/n))/2)**n, n, oo) == (a + b)/2 for a > 0, b > 0",
        "the sum is not",
    ),
    "another order": ("Limit((sin(u) - u)/u**3, u, 0) == -1/3", "the sum is not"),
    # From below, sqrt(u**2 + u**3)/u tends to -1.
    "a root that is not smooth": ("Limit(sqrt(u**2 + u**3)/u, u, 0) == 1", "a root where it has no series"),
    "a root of a negative number": ("Limit(sqrt(u - 1), u, 0) == 0", "the argument of a root"),
    "a root at 0": ("Limit(sqrt(u), u, 0) == 0", "a root where it has no series"),
    "a root of what need not be positive": ("Limit(sqrt(x + u), u, 0) == sqrt(x) for x >= 0", "the sign of a divisor"),
    "a logarithm at 0": ("Limit(u*log(u), u, 0) == 0", "log where it has no Taylor series"),
    "a logarithm of any number": ("Limit(log(x + u), u, 0) == log(x)", "the sign of a divisor"),
    "a power of a negative number": ("Limit(x**(1/n), n, oo) == 1", "the sign of a divisor"),
    "an exponential at infinity": ("Limit(exp(n), n, oo) == 0", "exp where it has no Taylor series"),
    "a sine at infinity": ("Limit(sin(n), n, oo) == 0", "sin where it has no Taylor series"),
    "a sine of a pole": ("Limit(u*sin(1/u), u, 0) == 0", "sin where it has no Taylor series"),
    "a tangent of any number": ("Limit(tan(x + u), u, 0) == tan(x)", "the sign of a divisor"),
    "a hyperbolic tangent at infinity": ("Limit(tanh(n), n, oo) == 0", "exp where it has no Taylor series"),
    "an infinite limit": ("Limit(exp(u)/u, u, 0) == 0", "infinite"),
    "an absolute value": ("Limit(abs(u)/u, u, 0) == 1", "without a series here"),
    "a divisor that may vanish": ("Limit(u/(x*u + u**2), u, 0) == 1/x", "the sign of a divisor"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_limit_is_known_by_its_series(name):
    found = at_an_instance(ACCEPTED[name])
    assert (found.evidence, found.why) == ("proved", "")


@pytest.mark.parametrize("name", REFUSED)
def test_a_limit_of_another_value_or_without_a_series_is_refused(name):
    line, why = REFUSED[name]
    found = at_an_instance(line)
    assert found.evidence is None and why in found.why


def at_an_instance(line):
    """Return the verdict on a line at its example, with the empty sum as the proof."""
    example = example_of(statement_of(line))
    return verdict(line, NOTHING, **example)
