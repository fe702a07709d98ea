"""An integer is at least 0 if it is above -1: a rule for symbols, floors, factorials and powers of integers only."""

import pytest
import sympy as sp

from tests.verify.rechecker.deduction.trees import NOTHING, known, total, verdict, whole

x, y = sp.symbols("x y", real=True)
n = sp.Symbol("n", integer=True, nonnegative=True)


def floors(*of, then):
    """Return a tree that adds the facts ⌊u⌋ ≤ u and u < ⌊u⌋ + 1 for each u."""
    for each in reversed(of):
        then = known("floor_above", each, then=known("floor_below", each, then=then))
    return then


# The tree adds the facts ⌊x + y⌋ + 1 − x − y > 0, x − ⌊x⌋ ≥ 0 and y − ⌊y⌋ ≥ 0.
SUM = floors(x, y, x + y, then=whole(total((1, [0]), (1, [2]), (1, [5]))))

ACCEPTED = {
    "floors": ("floor(x) + floor(y) <= floor(x + y)", SUM, {"x": 1, "y": 2}),
    "a symbol": ("n >= 1 if n > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 1}),
    "a symbol of any sign": ("n >= 1 if n > 0 for integer n >= -9", whole(total((1, [0]))), {"n": 1}),
    "a polynomial": ("n**2 - 2*n >= 1 if n**2 > 2*n for integer n >= 0", whole(total((1, [0]))), {"n": 3}),
    "a power": ("2**n >= 1 if 2**n > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 3}),
    "a factorial": ("factorial(n) >= 1 if factorial(n) > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 3}),
}
REFUSED = {
    # ⌊x⌋ + ⌊y⌋ may be ⌊x + y⌋ − 1.
    "floors the other way": ("floor(x + y) <= floor(x) + floor(y)", SUM, {"x": 1, "y": 2}, "the sum is not"),
    "a number that is no integer": (
        "x >= 1 if x > 0",
        whole(total((1, [0]))),
        {"x": 1},
        "only that an integer is >=",
    ),
    "half an integer": ("n/2 >= 1 if n > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 2}, "an integer is"),
    "a reciprocal": ("1/n >= 1 if 1/n > 0 for integer n >= 1", whole(total((1, [0]))), {"n": 1}, "an integer is"),
    "a root": ("sqrt(n) >= 1 if sqrt(n) > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 1}, "an integer is"),
    "a sine": ("sin(n) >= 1 if sin(n) > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 1}, "an integer is"),
    "a power of no integer": (
        "(1/2)**n >= 1 if (1/2)**n > 0 for integer n >= 0",
        whole(total((1, [0]))),
        {"n": 0},
        "an integer is",
    ),
    "a product with no integer": (
        "x*floor(x) >= 1 if x*floor(x) > 0",
        whole(total((1, [0]))),
        {"x": 1},
        "an integer is",
    ),
    "a strict goal": ("n > 0 if n > -1 for integer n >= 0", whole(total((1, [0]))), {"n": 1}, "an integer is"),
    "an equation": ("n == 0 if n > -1 for integer n >= 0", whole(total((1, [0]))), {"n": 0}, "an equation"),
    "at least -1": ("n >= 0 if n >= -1 for integer n >= -9", whole(total((1, [0]))), {"n": 0}, "do not show the sign"),
    "a step too far": ("n >= 2 if n > 0 for integer n >= 0", whole(total((1, [0]))), {"n": 2}, "the sum is not"),
    "a floor with a wrong lower end": (
        "x - 1/2 <= floor(x)",
        floors(x, then=total((1, [1]))),
        {"x": 1},
        "the sum is not",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_integers_are_rounded(name):
    line, tree, instance = ACCEPTED[name]
    found = verdict(line, tree, [0] if " if " in line else [], **instance)
    assert (found.evidence, found.why) == ("proved", "")


@pytest.mark.parametrize("name", REFUSED)
def test_non_integers_and_wrong_bounds_are_refused(name):
    line, tree, instance, why = REFUSED[name]
    found = verdict(line, tree, [0] if " if " in line else [], **instance)
    assert found.evidence is None and why in found.why


def test_a_point_of_a_segment_is_no_integer():
    # On the segment from 0 to n the points t are real, so t > 0 does not imply t >= 1.
    step = {"rule": "slope", "in": "n", "as": "t", "from": ["Integer", "0"], "side": "above", "strict": "start"}
    tree = {**step, "value": NOTHING, "start": NOTHING, "slope": whole(total((1, [0]), (2, [])))}
    found = verdict("n <= n**2 for integer n >= 0", tree, n=2)
    assert found.evidence is None and "an integer is" in found.why
