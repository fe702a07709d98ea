"""Admissible ranges agree with direct evaluation at roots and poles, beside irrational ends, and at many rationals."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given, settings, strategies as st

from verify.evaluation.admissible_ranges import Range, meet, satisfied, solvable
from verify.language.expressions import primitive

a, b, n, x = sp.symbols("a b n x", real=True)
RELATIONS = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "==": sp.Eq}
HOLDS = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
}
WHOLE = Range(None, None)
EVERYTHING = (WHOLE,)
HALVES = sorted({Fraction(p, q) for q in (1, 2, 3, 4, 7) for p in range(-5 * q, 5 * q + 1)})


def value(expression, values):
    """Return an expression's exact value by three rules: for sums, products and integer powers."""
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    if expression.is_Symbol:
        return Fraction(values[expression.name])
    parts = [value(part, values) for part in expression.args]
    if expression.is_Add:
        return sum(parts, Fraction(0))
    if expression.is_Mul:
        return math.prod(parts, start=Fraction(1))
    assert expression.is_Pow and parts[1].denominator == 1
    return parts[0] ** int(parts[1])


def holds(operator, left, right, values):
    try:
        return HOLDS[operator](value(left, values), value(right, values))
    except ZeroDivisionError:
        return False


def relation(operator, left, right=0):
    return RELATIONS[operator](left, right, evaluate=False)


def solve(found, unknown="x", within=WHOLE, **values):
    return solvable(found, unknown, frozenset(values)).ranges(values, within)


def contains(ranges, point):
    return any(point in part for part in ranges)


def ends(ranges):
    return [end for part in ranges for end in (part.low, part.high) if end is not None]


def in_order(ranges):
    """Whether the intervals are nonempty, ascending and disjoint."""
    apart = all(
        one.high is not None and other.low is not None and (one.high < other.low or one.meet(other).empty)
        for one, other in pairwise(ranges)
    )
    return apart and not any(part.empty for part in ranges)


BOUNDS = st.one_of(st.none(), st.fractions(-3, 3, max_denominator=3))
RANGES = st.builds(Range, BOUNDS, BOUNDS, st.booleans(), st.booleans())


@given(RANGES, RANGES)
def test_points_of_the_intersection_are_those_in_both(one, other):
    for point in HALVES:
        assert (point in one.meet(other)) == (point in one and point in other)
    assert one.meet(other).empty == other.meet(one).empty


@given(RANGES)
def test_a_range_is_empty_where_nothing_is_in_it(found):
    # A range between two different ends with denominators up to 3 contains a fraction p/7, or an end.
    assert found.empty == (not any(point in found for point in HALVES))


@given(RANGES)
def test_the_integers_of_a_range(found):
    whole = found.integers()
    for point in range(-5, 6):
        assert (point in whole) == (point in found)
    assert all(end is None or end.denominator == 1 for end in (whole.low, whole.high))
    assert whole.low is None or whole.empty or whole.low in found
    assert whole.high is None or whole.empty or whole.high in found


@given(st.lists(RANGES, max_size=3), st.lists(RANGES, max_size=3))
def test_unions_meet_point_by_point(one, other):
    found = meet(tuple(one), tuple(other))
    for point in HALVES:
        assert contains(found, point) == (contains(one, point) and contains(other, point))
    assert not any(part.empty for part in found)
    assert all(contains(EVERYTHING, point) for point in HALVES)


def test_no_bound_is_no_end():
    assert 10**400 in WHOLE and Fraction(-1, 10**400) in WHOLE and not WHOLE.empty
    assert not Range(None, Fraction(0)).empty and 1 not in Range(None, Fraction(0))


COEFFICIENTS = st.lists(st.integers(-6, 6), min_size=1, max_size=6)
ROOTS = st.lists(st.fractions(-4, 4, max_denominator=4), max_size=2)


@st.composite
def products(draw):
    """Draw a polynomial of degree at most 5, often with rational, double and irrational roots."""
    roots = draw(ROOTS)
    powers = [draw(st.integers(1, 2)) for _ in roots]
    rest = draw(COEFFICIENTS)[: 6 - sum(powers)]
    factors = [(x - sp.Rational(r.numerator, r.denominator)) ** k for r, k in zip(roots, powers, strict=True)]
    return sp.Mul(*factors, sum((c * x**k for k, c in enumerate(rest)), sp.Integer(0)))


def agrees(operator, left, right, more=(), **values):
    """Solve a relation, and compare the solution with the relation's truth at fractions, and at and beside the ends."""
    found = solve(relation(operator, left, right), **values)
    assert in_order(found)
    # Irrational ends are enclosed to 10^-150, so a point at a distance of 10^-120 is on the same side of the root.
    exact = [end for end in ends(found) if end.denominator < 10**20]
    near = exact + [end + step for end in ends(found) for step in (Fraction(1, 10**120), -Fraction(1, 10**120))]
    for point in (*HALVES, *more, *near):
        assert contains(found, point) == holds(operator, left, right, {**values, "x": point}), (point, found)
    return found


@settings(max_examples=120)
@given(products(), st.sampled_from(list(RELATIONS)), st.fractions(-2, 2, max_denominator=3))
def test_polynomial_relations(left, operator, right):
    assume(left.free_symbols)
    agrees(operator, left, sp.Rational(right.numerator, right.denominator))


@settings(max_examples=80)
@given(products(), products(), products(), st.sampled_from(list(RELATIONS)))
def test_rational_relations(above, below, right, operator):
    assume(below != 0)
    left = sp.Mul(above, sp.Pow(below, -1))
    assume(left.has(x) or right.has(x))
    agrees(operator, left, right)


@pytest.mark.parametrize("operator", RELATIONS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        # As written, these expressions have no value at 0, −1 or 1, where their simplified forms have a value.
        (1 / (1 / x + 1), sp.Rational(1, 3)),
        ((x - 1) * (1 / (x - 1) + 1), 2),
        ((x - 1) * (1 / (x - 1) + 1), 0),
        (x**2 * (1 / x - 1 / (x + 1)), 0),
        (1 / (1 / (1 / x - 1) + 2), 0),
    ],
)
def test_where_a_written_divisor_is_zero_no_relation_holds(operator, left, right):
    agrees(operator, left, sp.sympify(right))


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (relation(">=", x**2 * (x - 1)), (Range(Fraction(0), Fraction(0)), Range(Fraction(1), None, high_open=True))),
        (relation("<=", -((x**2 - 4) ** 2)), EVERYTHING),
        (relation("<", -((x**2 - 4) ** 2)), "all but -2 and 2"),
        (relation("<", (x - 3) ** 2), ()),
        (relation("<=", (x - 3) ** 2), (Range(Fraction(3), Fraction(3)),)),
        (relation("<=", 1 / (x - 2)), (Range(None, Fraction(2), True, True),)),
        (relation("<=", (x - 1) / (x - 2)), (Range(Fraction(1), Fraction(2), False, True),)),
        (relation("==", (x - 1) / (x - 2)), (Range(Fraction(1), Fraction(1)),)),
        (relation("==", x**2, 2), ()),
        (relation("==", 1 / x), ()),
    ],
)
def test_ends_points_and_poles(left, expected):
    found = solve(left)
    if expected == "all but -2 and 2":
        assert [(part.low, part.high) for part in found] == [(None, -2), (-2, 2), (2, None)]
        assert not contains(found, -2) and not contains(found, 2)
    else:
        assert [(part.low, part.high) for part in found] == [(part.low, part.high) for part in expected]
        agrees(left.rel_op, *left.args)


@pytest.mark.parametrize("end", [Fraction(0), Fraction(1, 3), Fraction(-2)])
def test_only_what_is_within_is_returned(end):
    found = solve(relation(">", x**2, 1), within=Range(end, Fraction(5), low_open=True))
    for point in HALVES:
        assert contains(found, point) == (point > end and point**2 > 1)


@given(st.integers(2, 5), st.integers(1, 2 * 10**17), st.booleans())
def test_integers_beside_an_irrational_end_are_exact(power, level, strict):
    (found,) = solve(relation("<" if strict else "<=", x**power, level), within=Range(Fraction(0), Fraction(10**18)))
    high = int(found.integers().high)
    assert high**power < level + (not strict) <= (high + 1) ** power


def test_a_square_root_of_many_digits():
    (found,) = solve(relation("<=", n**2, 2 * 10**17), "n")
    assert (found.integers().low, found.integers().high) == (-447213595, 447213595)
    # By integer arithmetic √(2·10^17) = 447213595.4999…; with 512 bits the error is about 10^-145.
    root = math.isqrt(2 * 10**17 * 10**300)
    assert abs(found.high * 10**150 - root) < 10**7 and found.high**2 < 2 * 10**17


SMALL = st.one_of(st.integers(-2, 2), st.fractions(-2, 2, max_denominator=3))
COUPLED = [
    ((a - 1) * x**2 + x / b, 3),
    (a * x, b),
    ((x - a) * (x - b) / (x - a * b), 0),
    (a * x**3 - b * x, a - b),
    (x / (a * x + b), 1),
    ((a - b) / x, a * b),
    (1 / (a * x) + 1 / (b - 1), x),
]


@settings(max_examples=150)
@given(st.sampled_from(COUPLED), SMALL, SMALL, st.sampled_from(list(RELATIONS)))
def test_coefficients_that_depend_on_other_parameters(sides, one, other, operator):
    # At some of these values coefficients vanish and divisors are zero.
    agrees(operator, sides[0], sp.sympify(sides[1]), (Fraction(one), Fraction(other)), a=one, b=other)


def test_where_a_coefficient_has_no_value_nothing_is_admissible():
    assert solve(relation("<", x / a, 1), a=0) == ()
    assert solve(relation("<", x, sp.sqrt(a)), a=-1) == ()
    assert solve(relation("<", x, sp.log(a)), a=0) == ()
    assert solve(relation("<", x, sp.log(a)), a=-1) == ()
    (found,) = solve(relation("<", x, sp.sqrt(a)), a=Fraction(9, 4))
    assert (found.low, found.high, found.high_open) == (None, Fraction(3, 2), True)


def test_where_a_number_of_the_relation_has_no_value_nothing_is_admissible():
    log_of_1 = sp.log(1, evaluate=False)
    for no_value in (sp.Pow(log_of_1, -1, evaluate=False), sp.Pow(sp.Add(1, -2, evaluate=False), -sp.S.Half)):
        assert solve(sp.Lt(x, no_value, evaluate=False)) == ()
        assert not satisfied(sp.Lt(0, no_value, evaluate=False), {})
    (found,) = solve(sp.Lt(x, log_of_1, evaluate=False))
    assert found.high == 0 and satisfied(sp.Le(0, log_of_1, evaluate=False), {})


def test_a_parameter_that_the_relation_does_not_use_is_free_or_has_no_value():
    kept = solvable(relation("<", a**2, 4), "x", frozenset("a"))
    assert kept.ranges({"a": 1}, WHOLE)[0].low is None and len(kept.ranges({"a": 1}, WHOLE)) == 1
    assert kept.ranges({"a": 3}, WHOLE) == ()


POSITIVE = Range(Fraction(0), None, low_open=True)
INEXACT = {
    # name: (relation, the range that is searched, the true ends)
    "log": (relation("<=", sp.log(x), 2), POSITIVE, (0, mpmath.e**2)),
    "log, strict": (relation(">", sp.log(x), 2), POSITIVE, (mpmath.e**2, None)),
    "exp": (relation(">=", sp.exp(-x), sp.Rational(1, 10)), POSITIVE, (0, mpmath.log(10))),
    "exp of both signs": (relation("<", sp.exp(x) + sp.exp(-x), 4), WHOLE, (-mpmath.acosh(2), mpmath.acosh(2))),
    "sqrt": (relation("<", sp.sqrt(x), 3), Range(Fraction(0), Fraction(100)), (0, 9)),
    "sqrt of a difference": (relation("<=", sp.sqrt(x - 1), 2), Range(Fraction(0), Fraction(100)), (1, 5)),
    "irrational coefficient": (relation("<=", sp.sqrt(2) * x, 3), POSITIVE, (0, 3 / mpmath.sqrt(2))),
    "below": (relation("<", sp.exp(x), sp.Rational(1, 8)), Range(None, Fraction(0)), (None, -mpmath.log(8))),
}


@pytest.mark.parametrize("name", INEXACT)
def test_relations_that_are_not_rational_are_solved_from_inside(name):
    found, within, (low, high) = INEXACT[name]
    solved = solvable(found, "x", frozenset()) if name == "irrational coefficient" else None
    (part,) = solve(found, within=within)
    assert solved is None or solved.exact
    points = [part.low, part.high]
    if None not in points:
        points += [part.low + (part.high - part.low) * Fraction(k, 97) for k in range(97)]
    for point in points:
        if point is not None and (point not in (within.low, within.high) or point in part):
            assert _true(found, x=point), point
    # The error comes from sixty halvings of a gap between probes, and from the 53 bits of `low` and `high` here.
    for end, true in ((part.low, low), (part.high, high)):
        if true is not None and end not in (within.low, within.high):
            assert abs(mpmath.mpf(end.numerator) / end.denominator - true) < 1e-11 * max(1, abs(true))


def _true(found, **values):
    """Whether a relation holds, computed with 60 digits."""
    with mpmath.workdps(60):
        numbers = {s: sp.Rational(values[s.name].numerator, values[s.name].denominator) for s in found.free_symbols}
        left, right = (sp.N(side.subs(numbers), 60) for side in found.args)
        return bool(left.is_real) and HOLDS[found.rel_op](left, right)


@pytest.mark.parametrize("exponent", [3, 7, Fraction(1, 2), Fraction(-2, 3)])
@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_a_power_whose_exponent_is_a_parameter(operator, exponent):
    found = relation(operator, x**n, 100)
    assert not solvable(found, "x", frozenset("n")).exact
    (part,) = solve(found, within=Range(Fraction(0), Fraction(10**6), low_open=True), n=exponent)
    true = Fraction(10) ** 6 if exponent == Fraction(1, 2) and operator in ("<", "<=") else None
    crossing = mpmath.mpf(100) ** (1 / mpmath.mpf(float(exponent)))
    for point in (part.low, part.high, (part.low + part.high) / 2):
        values = {"x": point, "n": Fraction(exponent)}
        assert point not in part or point == 10**4 or _true(found, **values), point
    inner = [end for end in (part.low, part.high) if 1e-5 < end < 10**5]
    assert true or any(abs(float(end) / float(crossing) - 1) < 1e-9 for end in inner) or crossing < 1e-2


def test_an_exponent_may_be_the_unknown():
    (part,) = solve(relation("<=", 2**n, 1000), "n", within=Range(Fraction(0), Fraction(10**18)))
    assert part.integers().high == 9 and 2.0 ** float(part.high) == pytest.approx(1000)


def test_nothing_is_claimed_beyond_the_furthest_probe():
    # The relation holds at all probes, but not beyond e^100.
    above = solve(relation("<", sp.log(x), 100), within=POSITIVE)
    assert above and all(part.high is not None and sp.log(part.high).evalf() < 100 for part in above)
    below = solve(relation("<", sp.log(-x), 100), within=Range(None, Fraction(-1)))
    assert below and all(part.low is not None and sp.log(-part.low).evalf() < 100 for part in below)


def test_equations_that_are_not_rational_have_no_range():
    assert solve(relation("==", sp.exp(x), 1)) == ()
    assert solve(relation("==", x, sp.log(a)), a=3) == ()
    # At a = 1 the coefficient is rational.
    assert solve(relation("==", x, sp.log(a)), a=1) == (Range(Fraction(0), Fraction(0)),)


def test_a_primitive_is_solved_by_bisection():
    @primitive(1)
    def doubled(arithmetic, number):
        return number + number

    found = relation("<=", doubled(x), 5)
    assert not solvable(found, "x", frozenset()).exact
    (part,) = solve(found, within=Range(Fraction(0), Fraction(10)))
    assert Fraction(5, 2) - Fraction(1, 10**9) < part.high <= Fraction(5, 2)
