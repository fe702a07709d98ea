"""Equations by two inequalities, by a slope of 0 and by addition formulas; false equations are refused."""

import pytest
import sympy as sp

from tests.verify.rechecker.deduction.trees import NOTHING, both, cases, data, known, slope, total, verdict

x, y, t = sp.symbols("x y t", real=True)
p, m = sp.Symbol("x", positive=True), sp.Symbol("x", nonnegative=True)


def root(x):
    """Return a proof that r = √(x² + 2x + 1) is a = x + 1.

    If r > a, then 0 = r² − a² = (r − a)² + 2a(r − a) > 0; if r < a, then 0 = (a − r)² + 2r(a − r) > 0. Both are false.
    """
    parts = [
        {"rule": "contradiction", "then": total((1, [0, 0]), (2 * a, [0]))} for a in (x + 1, sp.sqrt(x**2 + 2 * x + 1))
    ]
    return both(*parts)


def reciprocal(symbol, *lemmas):
    """Return a proof by slopes from 1 to both sides, in which the points t of each segment are shown to be > 0."""
    parts = [{"rule": "lemma", "relation": data(sp.Gt(t, 0)), "proof": lemma, "then": NOTHING} for lemma in lemmas]
    sides = (slope(part, start=1, side=side, value=part) for part, side in zip(parts, ("above", "below"), strict=True))
    return cases(symbol - 1, *sides)


DOUBLE = known("sin_sum", x, x, then=total((-1, [0])))
DIFFERENCE = known("cos_sum", x, -y, then=total((-1, [0])))

ACCEPTED = {
    "a root by two inequalities": ("sqrt(x**2 + 2*x + 1) == x + 1 for x >= 0", root(m), {"x": 2}),
    "a slope of 0": (
        "atan(x) + atan(1/x) == pi/2 for x > 0",
        reciprocal(p, total((1, [1]), (1, [])), total((1, [2]), (p, []))),
        {"x": 2},
    ),
    "a double angle": ("sin(2*x) == 2*sin(x)*cos(x)", DOUBLE, {"x": 1}),
    "a cosine of a difference": ("cos(x - y) == cos(x)*cos(y) + sin(x)*sin(y)", DIFFERENCE, {"x": 1, "y": 2}),
    "odd functions": ("atan(y - x) + sin(y - x) == -atan(x - y) - sin(x - y)", NOTHING, {"x": 1, "y": 2}),
    "an even function": ("cos(y - x) == cos(x - y)", NOTHING, {"x": 1, "y": 2}),
}
REFUSED = {
    "a root of a square of any sign": ("sqrt(x**2 + 2*x + 1) == x + 1", root(x), {"x": 2}, "does not hold here"),
    "one side twice": (
        "sqrt(x**2 + 2*x + 1) == x + 1 for x >= 0",
        both(root(m)["above"], root(m)["above"]),
        {"x": 2},
        "the sum is not",
    ),
    "an inequality by two": ("x + 1 <= sqrt(x**2 + 2*x + 1) for x >= 0", root(m), {"x": 2}, "only equations"),
    "another constant": ("atan(x) == atan(x) + 1 for x >= 0", slope(NOTHING), {"x": 1}, "the sum is not"),
    "a slope that is no 0": ("sin(x) == x for x >= 0", slope(NOTHING), {"x": 1}, "the sum is not"),
    "a slope that is at least 0": (
        "1 == exp(x) for x >= 0",
        slope(total((sp.exp(t), []))),
        {"x": 1},
        "do not show the sign",
    ),
    "a slope of 0 on the other side of a pole": (
        "atan(x) + atan(1/x) == pi/2",
        reciprocal(x, total((1, [1]), (1, [])), total((1, [2]), (1, []))),
        {"x": 1},
        "the sum is not",
    ),
    "a double angle with a wrong factor": ("sin(2*x) == sin(x)*cos(x)", DOUBLE, {"x": 1}, "the sum is not"),
    "a cosine of a difference as of a sum": (
        "cos(x - y) == cos(x)*cos(y) - sin(x)*sin(y)",
        DIFFERENCE,
        {"x": 1, "y": 2},
        "the sum is not",
    ),
    "an odd function as even": ("sin(y - x) == sin(x - y)", NOTHING, {"x": 1, "y": 2}, "the sum is not"),
    "an even function as odd": ("cos(y - x) == -cos(x - y)", NOTHING, {"x": 1, "y": 2}, "the sum is not"),
    "a formula of what has no value": (
        "sin(2*x) == 2*sin(x)*cos(x)",
        known("sin_sum", 1 / x, x, then=total((-1, [0]))),
        {"x": 1},
        "sign of a divisor",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_equation_is_accepted(name):
    line, tree, instance = ACCEPTED[name]
    found = verdict(line, tree, **instance)
    assert (found.evidence, found.why) == ("proved", "")


@pytest.mark.parametrize("name", REFUSED)
def test_a_false_equation_or_proof_is_refused(name):
    line, tree, instance, why = REFUSED[name]
    found = verdict(line, tree, **instance)
    assert found.evidence is None
    assert any(each in found.why for each in why.split("|")), found.why
