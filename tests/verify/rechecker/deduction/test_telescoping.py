"""Sums whose terms are differences, and powers and factorials of n - k, which have values only up to k = n."""

import pytest
import sympy as sp

from tests.verify.rechecker.deduction.trees import NOTHING, induction, telescope, total, verdict

n = sp.Symbol("n", integer=True, nonnegative=True)
z = sp.Symbol("n", integer=True)
k = sp.Symbol("k", integer=True)
x, y = sp.symbols("x y", real=True)


def binomial_theorem(last=n, share=-(x + y), of=None):
    """Return a proof of the binomial theorem by induction.

    With a_k = C(n + 1, k) x^k y^(n + 1 − k) and b_k = −k a_k/(n + 1), the difference b_(k + 1) − b_k is
    a_k − (x + y) C(n, k) x^k y^(n − k).
    """
    after, before = (sp.binomial(i, k) * x**k * y ** (i - k) for i in (n + 1, n))
    then = total((-1, [2]), (x + y, [1]))
    return induction(
        telescope((0, last), -k / (n + 1) * after if of is None else of, (1, after), (share, before), then=then)
    )


def reciprocals(first=n + 1, last=2 * n, of=-1 / k):
    """Return a proof in which 1/(k (k + 1)) is the difference, from k to k + 1, of −1/k."""
    return telescope((first, last), of, (1, 1 / (k * (k + 1))), then=total((-1, [0])))


LINE = "Sum(binomial(n, k)*x**k*y**(n - k), (k, 0, n)) == (x + y)**n for integer n >= 0"
RECIPROCALS = "Sum(1/(k*(k + 1)), (k, n + 1, 2*n)) == 1/(n + 1) - 1/(2*n + 1) for integer n >= 0"
ALTERNATING = "Sum((-1)**k, (k, 0, n)) == (1 + (-1)**n)/2 for integer n >= 0"
HALF = -sp.Pow(-1, k, evaluate=False) / 2

PASCAL = "binomial(n, k) == binomial(n - 1, k - 1) + binomial(n - 1, k)"

ACCEPTED = {
    "the binomial theorem": (LINE, binomial_theorem(), {"n": 3, "x": 1, "y": -1}),
    "the binomial theorem by a sum that is shorter": (LINE, binomial_theorem(last=n - 1), {"n": 3, "x": 1, "y": -1}),
    "an end that is no number": (RECIPROCALS, reciprocals(), {"n": 3}),
    "powers of -1": (
        ALTERNATING,
        telescope((0, n), HALF, (1, sp.Pow(-1, k, evaluate=False)), then=total((-1, [0]))),
        {"n": 2},
    ),
    "a difference as an exponent": (
        "x*x**(n - k) == x**(n - k + 1) if k <= n for integer n >= 0, integer k >= 0",
        NOTHING,
        {"n": 2, "k": 1, "x": -1},
    ),
    "a divisor that is above a fact": ("1/(y - x + 1) == 1/(y - x + 1) if x <= y", NOTHING, {"x": 1, "y": 1}),
    "a divisor of which a fact is short": ("1/(y - x) == 1/(y - x) if x <= y - 1", NOTHING, {"x": 1, "y": 2}),
    "Pascal's rule": (
        f"{PASCAL} if k <= n - 1 for integer n >= 1, integer k >= 1",
        NOTHING,
        {"n": 3, "k": 1},
    ),
    "a factorial of a difference": (
        "factorial(n - k + 1) == (n - k + 1)*factorial(n - k) if k <= n for integer n >= 0, integer k >= 0",
        NOTHING,
        {"n": 2, "k": 1},
    ),
}
NOT_THE_SUM = "the sum is not"
REFUSED = {
    "another sum": (
        LINE.replace("(x + y)**n", "(x + 2*y)**n"),
        binomial_theorem(),
        {"n": 0, "x": 1, "y": 0},
        NOT_THE_SUM,
    ),
    "another factor": (LINE, binomial_theorem(share=-(x + 2 * y)), {"n": 1, "x": 1, "y": 1}, NOT_THE_SUM),
    "another difference": (LINE, binomial_theorem(of=k), {"n": 1, "x": 1, "y": 1}, NOT_THE_SUM),
    # At k = n + 1, n − k ≥ 0 fails.
    "an end too far": (LINE, binomial_theorem(last=n + 1), {"n": 1, "x": 1, "y": 1}, "a number of terms"),
    "a factor that depends on the symbol": (
        LINE,
        binomial_theorem(share=-k),
        {"n": 1, "x": 1, "y": 1},
        "not introduced",
    ),
    "a difference with another pole": (
        RECIPROCALS,
        reciprocals(of=-1 / k + (k**2 - 9) / (k - 3) - k),
        {"n": 3},
        "sign of a divisor",
    ),
    "a pole between the ends": (
        "Sum(1/(k*(k + 1)), (k, n, 2*n)) == 1/n - 1/(2*n + 1) for integer n >= -3",
        reciprocals(first=z, last=2 * z),
        {"n": 3},
        "the number of terms is not shown",
    ),
    "ends the wrong way round": (
        "Sum(1, (k, n + 2, n)) == -1 for integer n >= 0",
        telescope((n + 2, n), k, (1, sp.Integer(1)), then=total((1, [0]))),
        {"n": 3},
        "the number of terms is not shown",
    ),
    "an end that is no integer": (
        "Sum(1, (k, 0, n)) == n + 1/2 for integer n >= 0",
        telescope((0, n - sp.Rational(1, 2)), k, (1, sp.Integer(1)), then=total((1, [0]))),
        {"n": 3},
        "not shown to be integers",
    ),
    "a symbol of the statement": (
        RECIPROCALS,
        {**reciprocals(), "in": ["Symbol", "n", "integer"]},
        {"n": 3},
        "different assumptions|new",
    ),
    "a symbol that assumes more": (
        RECIPROCALS,
        {**reciprocals(), "in": ["Symbol", "k", "integer", "positive"]},
        {"n": 3},
        "different assumptions|assumed",
    ),
    "a power of 0 below": (
        "x**(n - k) == x**n/x**k if k <= n for integer n >= 0, integer k >= 0",
        NOTHING,
        {"n": 2, "k": 1, "x": 1},
        "a number of terms",
    ),
    "an exponent that may be negative": (
        "x**(n - k) == x**(n - k) for integer n >= 0, integer k >= 0",
        NOTHING,
        {"n": 2, "k": 1, "x": 1},
        "a number of terms",
    ),
    "a divisor that is a fact": (
        "1/(y - x) == 1/(y - x) if x <= y",
        NOTHING,
        {"x": 1, "y": 2},
        "sign of a divisor",
    ),
    "a divisor that is below a fact": (
        "1/(y - x - 1) == 1/(y - x - 1) if x < y",
        NOTHING,
        {"x": 1, "y": 3},
        "sign of a divisor",
    ),
    "a multiple of a fact and a constant": (
        "1/(2*y - 2*x - 1) == 1/(2*y - 2*x - 1) if x <= y + 1",
        NOTHING,
        {"x": 1, "y": 3},
        "sign of a divisor",
    ),
    "Pascal's rule at the end": (
        f"{PASCAL} if k <= n for integer n >= 1, integer k >= 1",
        NOTHING,
        {"n": 3, "k": 1},
        "a number of terms",
    ),
    "a factorial that may be of -1": (
        "factorial(n - k) == factorial(n - k) if k <= n + 1 for integer n >= 0, integer k >= 0",
        NOTHING,
        {"n": 2, "k": 1},
        "a number of terms",
    ),
    "a factorial one too low": (
        "factorial(n - k + 1) == (n - k + 1)*factorial(n - k) if k <= n + 1 for integer n >= 0, integer k >= 0",
        NOTHING,
        {"n": 2, "k": 1},
        "a number of terms",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_sums_that_telescope_are_accepted(name):
    line, tree, instance = ACCEPTED[name]
    found = verdict(line, tree, [0] if " if " in line else [], **instance)
    assert (found.evidence, found.why) == ("proved", "")


@pytest.mark.parametrize("name", REFUSED)
def test_sums_that_do_not_telescope_are_refused(name):
    line, tree, instance, why = REFUSED[name]
    found = verdict(line, tree, [0] if " if " in line else [], **instance)
    assert found.evidence is None
    assert any(each in found.why for each in why.split("|")), found.why
