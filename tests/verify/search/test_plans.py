"""Drawn instances satisfy their relations by construction; they include ends and extreme ratios."""

import random
from fractions import Fraction
from functools import partial
from itertools import islice

import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings, strategies as st

from verify import Case, Inequality, Parameter, Statement, TheoremError, load_theorem
from verify.evaluation.admissible_ranges import Range
from verify.evaluation.instances import completed
from verify.language.parameters import LARGEST_INTEGER
from verify.search.plans import drawn_integer, drawn_rational, plan, quick_plan

THEOREM = load_theorem("wang2024.theorem1")
RELATIONS = [*THEOREM.statement.domain, *(h.relation for h in THEOREM.statement.hypotheses if h.relation is not None)]
x, y, w = sp.symbols("x y w", real=True)
n, m = sp.symbols("n m", integer=True)
X, Y = (Parameter(name, "rational", "", above=0) for name in "xy")
W = Parameter("w", "rational", "")
N, M = (Parameter(name, "integer", "", minimum=1) for name in "nm")
WHOLE = Parameter("n", "integer", "")
WORD = Parameter("kind", "word", "", words=("one", "two", "three"))


def ge(left, right):
    return sp.Ge(left, right, evaluate=False)


def le(left, right):
    return sp.Le(left, right, evaluate=False)


def in_scope(instance):
    T, q, d, eta, eps = (instance[name] for name in ("T", "q", "d", "eta", "eps"))
    whole = all(isinstance(size, int) for size in (T, q, d)) and all(isinstance(e, Fraction) for e in (eta, eps))
    return (
        whole
        and 2 <= q < Fraction(T, 4)
        and d >= 1
        and 0 < eta <= Fraction(1, 20 * d * d)
        and 0 < eps < Fraction(d * T, 100 * (T - q) * q)
    )


def drawn(planned, count=200):
    """Return up to `count` instances; fewer if most draws are dead ends."""
    source = random.Random(0)
    instances = (planned.draw(source) for _ in range(10 * count))
    return list(islice((instance for instance in instances if instance is not None), count))


def numbers(draw, part, count):
    """Return a list of numbers drawn from a range."""
    source = random.Random(0)
    return [draw(part, source) for _ in range(count)]


def defaulted(default, relations, first=W):
    """Return a plan for a parameter and for z, which has a default."""
    parameters = (first, Parameter("z", "rational", "", default=default))
    (symbol,) = default.free_symbols
    statement = Statement(parameters, (Inequality("claim", le(0, symbol**2)),))
    return plan(parameters, relations, {}, completed=partial(completed, statement, scan=True))


@pytest.mark.parametrize(
    "fixed",
    [
        {},
        {"T": 40, "d": 5},
        # Solved for d, the relations are 20 d² ≤ 1/η and d > 100 ε (T − q) q/T.
        {"eta": Fraction(1, 1000)},
        {"eta": Fraction(1, 1000), "eps": Fraction(1, 100)},
        # q is bounded by a quadratic: 100 ε (T − q) q < d T.
        {"eps": Fraction(1, 50)},
        {"eps": Fraction(1, 50), "T": 1000},
        {"eps": Fraction(1, 50), "T": 1000, "d": 50},
    ],
    ids=str,
)
def test_every_drawn_instance_is_in_scope_and_keeps_what_is_given(fixed):
    found = plan(THEOREM.statement.parameters, RELATIONS, fixed)
    seen = drawn(found, 30)
    assert all(in_scope(instance) and found.admits(instance) for instance in seen)
    assert all(instance[name] == value for instance in seen for name, value in fixed.items())
    assert len({tuple(instance.values()) for instance in seen}) >= 15


def test_a_parameter_that_occurs_squared_is_bounded():
    found = plan(THEOREM.statement.parameters, RELATIONS, {"eta": Fraction(1, 2000)})
    # The relation is 20 d² ≤ 2000.
    assert found.ranges(THEOREM.statement.parameters[2], found.given) == (Range(Fraction(1), Fraction(10)),)
    seen = {instance["d"] for instance in drawn(found, 60)}
    assert {1, 10} <= seen <= set(range(1, 11))


def test_a_parameter_in_a_quadratic_is_bounded():
    found = plan(THEOREM.statement.parameters, RELATIONS, {"eps": Fraction(1, 50), "T": 1000, "d": 50})
    # (1000 − q) q < 25000 holds up to q = 25, and again from 975 on, where q < T/4 fails.
    seen = {instance["q"] for instance in drawn(found, 60)}
    assert {2, 25} <= seen <= set(range(2, 26))


def test_unions_of_intervals_are_drawn_from_each_part():
    # (w² − 1)(w² − 9) ≥ 0 holds up to −3, from −1 to 1, and from 3 on.
    found = plan((W,), [ge((w**2 - 1) * (w**2 - 9), 0)], {})
    seen = [instance["w"] for instance in drawn(found)]
    assert all(abs(v) <= 1 or abs(v) >= 3 for v in seen)
    assert {-3, -1, 1, 3} <= set(seen)
    for low, high in ((-(10**6), -3), (-1, 1), (3, 10**6)):
        assert any(low < v < high for v in seen)


def test_integers_of_a_union():
    found = plan((WHOLE,), [ge((n**2 - 1) * (n**2 - 9), 0)], {})
    assert {instance["n"] for instance in drawn(found)} >= {-4, -3, -1, 0, 1, 3, 4}


def test_admits_says_whether_domain_relations_and_given_values_are_kept():
    found = plan((N, X, WORD), [le(n * x, 12), sp.Gt(x, n)], {"kind": "two"})
    good = {"kind": "two", "n": 3, "x": Fraction(4)}
    assert found.admits(good)
    bad = [{"kind": "one"}, {"n": 4}, {"n": 0}, {"n": -1}, {"x": Fraction(3)}, {"x": Fraction(401, 100)}]
    for change in [*bad, {"n": LARGEST_INTEGER + 1, "x": Fraction(1)}, {"kind": "four"}]:
        assert not found.admits(good | change), change


def test_words_are_drawn_and_given():
    assert {instance["kind"] for instance in drawn(plan((WORD,), [], {}), 30)} == {"one", "two", "three"}
    assert {i["kind"] for i in drawn(plan((WORD, N), [], {"kind": "three"}), 30)} == {"three"}


def test_a_relation_between_all_given_values_is_not_solved():
    found = plan((N, M), [le(n, m)], {"n": 1, "m": 2})
    assert drawn(found, 5) == [{"n": 1, "m": 2}] * len(drawn(found, 5))


ENDS = st.fractions(-5, 5, max_denominator=3)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    ENDS, st.fractions(0, 4, max_denominator=3), st.booleans(), st.booleans(), st.sampled_from(["both", "low", "high"])
)
def test_values_lie_in_their_range_and_reach_its_ends(low, width, low_open, high_open, bounded):
    part = Range(
        low if bounded != "high" else None, low + width if bounded != "low" else None,
        low_open and width > 0, high_open and width > 0,
    )  # fmt: skip
    seen = numbers(drawn_rational, part, 60)
    assert all(value in part for value in seen)
    for end, is_open in ((part.low, part.low_open), (part.high, part.high_open)):
        if end is not None:
            assert (end in seen) == (not is_open)
            assert any(0 < abs(value - end) < Fraction(1, 100) for value in seen) or width == 0 or len(seen) < 60


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.integers(-40, 40), st.integers(0, 60))
def test_integers_lie_in_their_range_and_reach_its_ends(low, width):
    # An end is drawn about once in 33 draws, so in 2 of 10^7 ranges all 500 draws miss it.
    seen = numbers(drawn_integer, Range(Fraction(low), Fraction(low + width)), 500)
    assert all(isinstance(value, int) and low <= value <= low + width for value in seen)
    assert {low, low + width} <= set(seen) and (not low <= 0 <= low + width or 0 in seen)


def test_integers_of_every_size_are_drawn():
    limits = Fraction(LARGEST_INTEGER)
    seen = numbers(drawn_integer, Range(-limits, limits), 500)
    for sign in (1, -1):
        for size in (1, 10, 10**3, 10**5, 10**9, 10**15):
            assert any(size <= sign * value < 9 * size for value in seen), (sign, size)
    # Not only powers of 2, and not only small integers, are drawn.
    assert any(10**6 < value < 10**9 and value % 64 not in (0, 1) for value in seen)
    assert all(abs(value) <= LARGEST_INTEGER for value in seen)


@pytest.mark.parametrize(
    "part", [Range(None, None), Range(Fraction(0), None, True), Range(None, Fraction(0), False, True)], ids=str
)
def test_rationals_of_every_size_are_drawn(part):
    sign = -1 if part.low is None and part.high is not None else 1
    seen = numbers(drawn_rational, part, 500)
    for size in (Fraction(1, 10**6), Fraction(1, 100), 1, 10, 10**4, 10**7):
        assert any(size <= sign * value < 9 * size for value in seen), size
    assert {sign * Fraction(simple) for simple in (1, 2, 3, "1/2")} <= set(seen)


def test_ratios_of_parameters_are_extreme():
    seen = drawn(plan((X, Y), [], {}), 100)
    assert any(i["x"] > 10**6 * i["y"] for i in seen) and any(i["y"] > 10**6 * i["x"] for i in seen)
    pairs = drawn(plan((N, M), [le(m, n)], {}), 100)
    assert any(i["n"] > 10**6 * i["m"] for i in pairs) and any(i["n"] == i["m"] > 1 for i in pairs)


def test_relations_that_contradict_each_other_have_no_plan():
    with pytest.raises(TheoremError, match="no instance was found, by this method, that satisfies x < y, x > y"):
        plan((X, Y), [sp.Lt(x, y), sp.Gt(x, y)], {})
    with pytest.raises(TheoremError, match=r"no instance was found, by this method, that satisfies .*, with x = 3"):
        plan((X, Y), [sp.Lt(x, y), sp.Lt(y, 2)], {"x": Fraction(3)})


def test_relations_that_no_real_number_satisfies_have_no_plan():
    for relation in (sp.Lt(x**2, -1, evaluate=False), sp.Eq(x**2, 2), le(sp.log(x), -(10**9))):
        with pytest.raises(TheoremError, match="no instance was found"):
            plan((X,), [relation], {})


def test_an_order_without_dead_ends_is_chosen():
    # If n is drawn first, there is an m with m² = n only if n is a square; if m is drawn first, there always is an n.
    found = plan((N, M), [sp.Eq(m**2, n)], {})
    assert [parameter.name for parameter in found.parameters] == ["m", "n"]
    assert all(instance["n"] == instance["m"] ** 2 for instance in drawn(found, 40))


def test_an_order_that_is_solved_exactly_comes_first():
    # n log(m + 1) ≤ 20 is affine in n.
    found = plan((M, N), [le(n * sp.log(m + 1), 20)], {})
    assert all(sp.N(i["n"] * sp.log(i["m"] + 1)) <= 20 for i in drawn(found, 12))


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        (le(sp.log(x), 2), lambda v: sp.log(v) <= 2),
        (ge(sp.sqrt(x), 3), lambda v: sp.sqrt(v) >= 3),
        # The solution has two parts, whose ends are between probes of the bisection.
        (ge((sp.log(x) - 1) ** 2, sp.Rational(1, 100)), lambda v: (sp.log(v) - 1) ** 2 >= sp.Rational(1, 100)),
        (sp.Gt((sp.exp(x) - 3) ** 2, 0, evaluate=False), lambda v: sp.exp(v) != 3),
    ],
)
def test_relations_that_are_not_rational_hold_at_what_is_drawn(relation, holds):
    seen = [instance["x"] for instance in drawn(plan((X,), [relation], {}), 30)]
    assert len(set(seen)) > 10
    assert all(holds(sp.Rational(v.numerator, v.denominator)) for v in seen)


def test_a_range_between_two_probes_is_not_drawn_from():
    # The relation fails near x = 1.69, between two probes 2^k: a draw there is rejected.
    narrow = sp.Gt((sp.sqrt(x) - sp.Rational(13, 10)) ** 2, sp.Rational(1, 10**6), evaluate=False)
    found = plan((X,), [narrow], {})
    assert not found.admits({"x": Fraction(169, 100)})
    assert found.admits({"x": Fraction(2)})


def test_a_value_that_has_too_many_digits_to_be_given_is_not_drawn():
    found = plan((N, X), [ge(x, sp.Pow(2, n, evaluate=False)), ge(n, 3000)], {})
    instances = drawn(found, 20)
    assert all(instance["x"] >= 2**3000 and instance["x"] in X for instance in instances)
    start = {"n": 3000, "x": Fraction(10**1199)}
    assert found.leap(start, "x", up=True) is None
    assert found.leap({**start, "x": Fraction(2**3100)}, "x", up=True) is not None


CURVES = [
    x**2 + y**2,
    x * y,
    x**2 - x * y + y**2,
    x / y + y / x,
    (x - y) ** 2 / (x + 1),
    x**3 - y,
    x * (y - 1) * (y - 2),
]


def test_drawn_instances_satisfy_random_relations():
    satisfied = []

    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.sampled_from(CURVES), min_size=1, max_size=2), st.integers(2, 9), st.booleans())
    def hold(curves, level, upward):
        relations = [ge(curve, level) if upward else le(curve, level) for curve in curves]
        try:
            planned = plan((X, Y), relations, {})
        except TheoremError:
            satisfied.append(0)
            return
        instances = drawn(planned, 15)
        satisfied.append(len(instances))
        for instance in instances:
            numbers = {symbol: sp.Rational(*instance[symbol.name].as_integer_ratio()) for symbol in (x, y)}
            assert all(relation.subs(numbers) == sp.true for relation in relations)
            assert planned.admits(instance)

    hold()
    # In one run all 12 draws had a plan and 15 instances each.
    assert sum(count == 15 for count in satisfied) >= 10


def test_an_end_of_many_digits_is_drawn_from():
    end = Fraction(1, 7**6000)
    assert any(value > 2 * end for value in numbers(drawn_rational, Range(end, None), 20))


@pytest.mark.parametrize("seed", range(20))
def test_general_positions_are_in_scope_and_away_from_what_is_simple(seed):
    (found,) = plan(THEOREM.statement.parameters, RELATIONS, {}).in_general_position(random.Random(seed))
    assert in_scope(found) and found["d"] > 1 and found["q"] > 2 and found["T"] > 4 * found["q"] + 1
    # η is neither at the end of its range nor at half of it.
    assert found["eta"] * 20 * found["d"] ** 2 not in (1, Fraction(1, 2)) and found["eta"].denominator > 20
    free = plan((X, W, N, M), [], {"n": 7}).in_general_position(random.Random(seed))
    for instance in free:
        assert instance["n"] == 7 and 3 <= instance["m"] <= 5
        assert all(Fraction(1, 2) < abs(instance[name]) < 4 for name in "xw")


def test_every_word_has_its_turn_in_a_general_position():
    several = [list(plan((N, WORD), [], {}).in_general_position(random.Random(seed))) for seed in range(9)]
    assert all(sorted(at["kind"] for at in found) == ["one", "three", "two"] for found in several)
    assert len({found[0]["kind"] for found in several}) > 1
    assert len(list(plan((N, WORD), [], {"kind": "two"}).in_general_position(random.Random(0)))) == 1


def test_general_positions_and_the_simplest_may_be_dead_ends():
    # In the first plan no word is possible, and in the second no default is defined.
    asked = Case(sp.Symbol("kind"), 2, 3, 5)
    for found in (
        plan((WORD, N), [ge(n, asked)], {"n": 1}),
        defaulted(1 / w, [le(w, 0), ge(w, 0)]),
    ):
        assert list(found.in_general_position(random.Random(0))) == [] and found.simplest_instance() is None


def test_a_word_that_what_is_given_leaves_no_place_is_not_drawn():
    found = plan((WORD, N), [ge(n, Case(sp.Symbol("kind"), 2, 3, 5))], {"n": 3})
    assert {at["kind"] for at in drawn(found)} == {"one", "two"}
    assert {at["kind"] for at in found.in_general_position(random.Random(0))} == {"one", "two"}
    last = plan((WORD, N), [ge(n, Case(sp.Symbol("kind"), 5, 3, 2))], {"n": 2})
    assert last.simplest_instance() == {"n": 2, "kind": "three"}


def test_of_seven_parameters_those_without_a_bound_are_drawn_last():
    # There are more orders than are tried, and every order that begins with u has many dead ends.
    u = Parameter("u", "rational", "")
    bounded = [Parameter(name, "rational", "", above=0) for name in "abcdef"]
    a, b, c, d, e, f, last = sp.symbols("a b c d e f u", real=True)
    relations = [sp.Eq(last, a - b * c - d * e - f, evaluate=False), le(c, a / b)]
    found = plan([u, *bounded], relations, {})
    assert found.parameters[-1] == u
    assert all(found.draw(random.Random(seed)) is not None for seed in range(20))


def test_the_simplest_instance_is_at_ends():
    found = plan(THEOREM.statement.parameters, RELATIONS, {}).simplest_instance()
    assert in_scope(found) and (found["T"], found["q"], found["d"]) == (9, 2, 1) and found["eta"] == Fraction(1, 20)
    assert plan((X, W, WHOLE, WORD), [], {}).simplest_instance() == {"x": 1, "w": 0, "n": 0, "kind": "one"}
    assert plan((W,), [le(w, -3)], {}).simplest_instance() == {"w": -3}
    assert plan((X,), [sp.Lt(x, 3, evaluate=False)], {}).simplest_instance() == {"x": Fraction(3, 2)}


def test_a_leap_goes_to_an_end_or_far():
    found = plan((N, M, X), [le(n, 20), sp.Lt(x, 3, evaluate=False)], {"m": 5})
    at = {"n": 4, "m": 5, "x": Fraction(1)}
    assert found.leap(at, "n", up=True) == at | {"n": 20} and found.leap(at, "n", up=False) == at | {"n": 1}
    # A leap does not reach an open end: the distance to the end becomes a sixteenth.
    assert found.leap(at, "x", up=True) == at | {"x": Fraction(23, 8)}
    assert found.leap(at, "x", up=False) == at | {"x": Fraction(1, 16)}
    assert found.leap(at, "m", up=True) is None and found.leap(at | {"n": 20}, "n", up=True) is None
    endless = plan((WHOLE, W, WORD), [], {})
    here = {"n": 0, "w": Fraction(-3), "kind": "one"}
    assert endless.leap(here, "n", up=False) == here | {"n": -16}
    assert endless.leap(here, "w", up=True) == here | {"w": 45} and endless.leap(here, "kind", up=True) is None
    # A leap does not exceed the largest integer that is drawn.
    assert endless.leap(here | {"n": LARGEST_INTEGER - 1}, "n", up=True)["n"] == LARGEST_INTEGER


def test_a_leap_takes_defaults_along():
    found = defaulted(n + 1, [le(n, 50)], Parameter("n", "integer", "", minimum=1))
    assert found.leap({"n": 3, "z": Fraction(4)}, "n", up=True) == {"n": 50, "z": 51}
    assert found.leap({"n": 3, "z": Fraction(4)}, "z", up=True) is None


@pytest.mark.parametrize(
    ("relations", "against"),
    [
        # If two relations together leave no value, the last one is named.
        ([sp.Ge(x, 2 * y), sp.Le(x, y)], sp.Le(x, y)),
        # A relation that leaves no value by itself is named.
        ([sp.Lt(x**2, -y), sp.Le(x, y)], sp.Lt(x**2, -y)),
        # If the interval has no integer, the last relation is named.
        ([sp.Ge(2 * n, 2 * y + 1), sp.Le(2 * n, 2 * y + 1)], sp.Le(2 * n, 2 * y + 1)),
    ],
)
def test_a_dead_end_names_the_relation_that_leaves_no_value(relations, against):
    symbols = {symbol.name for relation in relations for symbol in relation.free_symbols}
    parameters = [parameter for parameter in (Y, X, N) if parameter.name in symbols]
    met = []
    planned = quick_plan(parameters, relations, {"y": Fraction(1)})
    assert planned.draw(random.Random(0), rejected=met.append) is None and met == [against]
