"""Polynomials as sums of columns: exact coefficients, strict and free columns; no result if there is no such sum."""

from fractions import Fraction

from verify.provers.deduction.cone import Column, combination


def column(polynomial, *, strict=False, free=False, says=None):
    return Column({powers: Fraction(c) for powers, c in polynomial.items()}, strict, free, says)


ONE = column({(0, 0): 1}, strict=True, says="1")
X = column({(1, 0): 1}, says="x")
Y = column({(0, 1): 1}, says="y")


def weights(found):
    return {each.says: c for c, each in found}


def adds_up(found, goal):
    total = dict.fromkeys(goal, Fraction(0))
    for c, each in found:
        for powers, value in each.polynomial.items():
            total[powers] = total.get(powers, Fraction(0)) + c * value
    return {powers: c for powers, c in total.items() if c} == goal


def test_coefficients_are_exact():
    goal = {(1, 0): Fraction(1, 3), (0, 1): Fraction(2, 7)}
    found = combination(goal, [ONE, X, Y], strict=False)
    assert weights(found) == {"x": Fraction(1, 3), "y": Fraction(2, 7)} and adds_up(found, goal)


def test_a_negative_coefficient_is_not_found():
    assert combination({(1, 0): Fraction(-1)}, [ONE, X, Y], strict=False) is None
    assert combination({(2, 0): Fraction(1)}, [ONE, X, Y], strict=False) is None


def test_a_free_column_may_be_subtracted():
    difference = column({(1, 0): 1, (0, 1): -1}, free=True, says="x - y")
    goal = {(0, 1): Fraction(3), (1, 0): Fraction(-2)}
    found = combination(goal, [X, Y, difference], strict=False)
    assert weights(found)["x - y"] < 0 and adds_up(found, goal)


def test_a_strict_sum_has_a_strict_column():
    goal = {(0, 0): Fraction(1), (1, 0): Fraction(1)}
    assert weights(combination(goal, [ONE, X], strict=True)) == {"1": 1, "x": 1}
    assert combination({(1, 0): Fraction(1)}, [ONE, X], strict=True) is None


def test_zero_is_a_strict_sum_only_of_what_contradicts_itself():
    negative = column({(1, 0): -1, (0, 0): -1}, says="-x - 1")
    found = combination({}, [ONE, X, negative], strict=True)
    assert weights(found) == {"1": 1, "x": 1, "-x - 1": 1} and adds_up(found, {})
    assert combination({}, [ONE, X], strict=True) is None
    assert combination({}, [], strict=False) == [] and combination({}, [], strict=True) is None


def test_strict_columns_may_have_large_coefficients():
    goal = {(0, 0): Fraction(3), (1, 0): Fraction(5)}
    strict = column({(1, 0): 1}, strict=True, says="x")
    assert weights(combination(goal, [ONE, strict], strict=True)) == {"1": 3, "x": 5}
