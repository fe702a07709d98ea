"""Polynomials on an orthant: shown to be ≥ 0 or > 0 by a multiplier or by splits, or not if this is false somewhere."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from verify.provers.orthant_cases import Orthant, Spent, Work

x, y, z = sp.symbols("x y z")


def orthant(expression, *, strict=False, positive=True, work=12_000):
    symbols = sorted(expression.free_symbols, key=str)
    terms = sp.Poly(expression, *symbols).terms()
    signs = (positive,) * len(symbols)
    return Orthant({p: int(c) for p, c in terms}, tuple(map(str, symbols)), signs, strict, Work(work))


def splits(tree):
    """Return the number of splits of a tree at points other than 0."""
    if tree is None or "at" not in tree:
        return 0
    return (tree["at"] != "0") + splits(tree["below"]) + splits(tree["above"])


def leaves(tree, point):
    """Return the leaf of a tree that contains a point, and the point's coordinates there, as a list of one pair."""
    if "at" not in tree:
        return [(tree, point)]
    name, times = tree["slack"], tree["times"]
    top = Fraction(tree["at"]) * (point[times] if times is not None else 1)
    if not top and tree["at"] == "0":
        side, value = ("above", point[name]) if point[name] else ("below", Fraction(0))
    elif point[name] < top:
        side, value = "below", top / point[name] - 1
    else:
        side, value = "above", point[name] - top
    return leaves(tree[side], {**point, name: value})


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize(
    ("expression", "strict", "least"),
    [
        (3 * x**2 - 3 * x + 1, True, 1),
        ((x - 1) ** 2, False, 1),
        (100 * (x - 1) ** 2 + 1, True, 1),
        # The inequality of means for three numbers, directly and as Motzkin's polynomial, which is no sum of squares.
        (x**2 * y + x * y**2 + 1 - 3 * x * y, False, 3),
        (x**4 * y**2 + x**2 * y**4 + 1 - 3 * x**2 * y**2, False, 3),
        # Cases by the order of two variables.
        ((x - y) ** 2 * (x + y) + 1, True, 1),
        (x**3 + y**3 + z**3 - 3 * x * y * z, False, 3),
        ((3 * x - 1) ** 2 * (y - 2) ** 2, False, 3),
        # Local minima at 5 and near 3/2.
        ((2 * x**2 - 6 * x + 5) * (x - 5) ** 2 + 2, True, 2),
    ],
    ids=str,
)
def test_splits_show_what_coefficients_and_multipliers_do_not(expression, strict, least, positive):
    given = orthant(expression, strict=strict, positive=positive, work=40_000)
    assert not given.is_shown() and given.multiplied() is None
    tree = given.tree()
    assert splits(tree) >= least
    draw = random.Random(0)
    for _ in range(30):
        point = {name: Fraction(draw.randint(1, 30), draw.randint(1, 10)) for name in given.names}
        ((_, at),) = leaves(tree, point)
        assert min(at.values()) >= 0


@pytest.mark.parametrize(
    ("expression", "power"),
    [(x**2 - x * y + y**2 + 1, 2), (x**2 - x + 1, 1), (x**2 + x + 1, 0)],
    ids=str,
)
def test_the_least_multiplier_is_found(expression, power):
    (found,) = orthant(expression, strict=True).multiplied()["multipliers"] or [{"power": 0}]
    assert found["power"] == power


@pytest.mark.parametrize(
    "expression",
    [
        (x - 1) * (x - 2),
        (1000 * x - 1000) * (1000 * x - 1001),
        x**2 - 3 * x * y + y**2,
        x**2 + y**2 - 1,
        -x,
        -x - 1 + y,
    ],
    ids=str,
)
def test_nothing_is_found_for_what_is_negative_somewhere(expression):
    assert orthant(expression, strict=False).tree() is None
    assert orthant(expression**3, strict=False).tree() is None


def test_polynomials_with_a_zero_are_not_positive():
    for expression in ((x - 1) ** 2, x**2 * y + x * y**2 + 1 - 3 * x * y):
        assert orthant(expression, strict=True).zeros() is None
        assert orthant(expression, strict=True).tree() is None
    # The zero is at x = 0, which is excluded only if x > 0.
    assert orthant(x * ((x - 1) ** 2 + 1), strict=True).tree() is not None
    assert orthant(x * ((x - 1) ** 2 + 1), strict=True, positive=False).tree() is None


def test_zeros_are_found_exactly():
    assert orthant((3 * x - 1) ** 2 + (y - 2) ** 2).zeros() == [(Fraction(1, 3), 2)]
    assert orthant((x - 1) ** 2 + 1).zeros() == []
    assert orthant((x - 1) * (x - 2)).zeros() is None


def test_the_work_ends_the_search():
    expression = x**2 * y + x * y**2 + 1 - 3 * x * y
    given, again = orthant(expression), orthant(expression)
    assert given.tree() is not None
    # The work is the same each time, whatever else runs.
    assert again.tree() == replace(given, work=Work()).tree()
    assert again.work.left == given.work.left > 0
    with pytest.raises(Spent):
        replace(given, work=Work(2000)).tree()
    with pytest.raises(Spent):
        replace(given, work=Work(0)).zeros()
