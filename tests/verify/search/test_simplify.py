"""Readable instances: a path of admitted, ever simpler instances; the simplest fraction, by brute force."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from verify import InputError, Parameter
from verify.evaluation.instances import simplicity
from verify.language.parameters import simplest_between
from verify.search.limits import EXPLORE
from verify.search.plans import plan
from verify.search.simplify import simpler_values, simplest, smaller_values

x, y = sp.symbols("x y", real=True)
n, m = sp.symbols("n m", integer=True)
X, Y = (Parameter(name, "rational", "", above=0) for name in "xy")
REAL = Parameter("x", "rational", "")
N, M = (Parameter(name, "integer", "", minimum=1) for name in "nm")
WHOLE = Parameter("n", "integer", "")
WORD = Parameter("kind", "word", "", words=("one", "two"))


def follow(found, start, holds, **more):
    """Simplify an instance, check that the path is admitted and ever simpler, and return its end."""
    path = simplest(found, start, holds, **more)
    assert path[0] == start
    for before, after in pairwise(path):
        assert simplicity(after) < simplicity(before)
        assert found.admits(after) and holds(after)
        assert list(after) == list(start)
    return path[-1]


@pytest.mark.parametrize(
    ("low", "high"), [("1/3", "2/5"), ("-7/2", "-10/3"), ("-1", "1"), ("3", "3"), ("31/100", "32/100")]
)
def test_the_simplest_fraction_by_trying_all(low, high):
    low, high = Fraction(low), Fraction(high)
    tried = (Fraction(p, q) for q in range(1, 200) for p in range(-4 * q, 4 * q + 1) if low <= Fraction(p, q) <= high)
    assert simplest_between(low, high).denominator == next(tried).denominator
    assert low <= simplest_between(low, high) <= high


@given(st.fractions(-9, 9, max_denominator=50), st.fractions(0, 1, max_denominator=50))
def test_no_smaller_denominator_lies_between(low, width):
    found = simplest_between(low, low + width)
    assert low <= found <= low + width
    for q in range(1, found.denominator):
        assert (low * q).__ceil__() > (low + width) * q


def test_an_empty_interval_has_no_fraction():
    with pytest.raises(InputError, match="low"):
        simplest_between(Fraction(2), Fraction(1))


def test_simplicity_counts_digits_first():
    assert simplicity({"a": 9}) < simplicity({"a": 10}) < simplicity({"a": Fraction(1, 11)})
    assert simplicity({"a": 3, "kind": "one"}) == simplicity({"a": 3, "kind": "two"})
    assert simplicity({"a": 3}) < simplicity({"a": 4}) < simplicity({"a": -3})
    assert simplicity({"a": 3, "b": 2}) < simplicity({"a": Fraction(3, 2), "b": Fraction(1)})


def test_numbers_that_python_does_not_write_out_are_compared_as_others():
    huge = 10**5000
    assert simplicity({"a": huge - 1}) < simplicity({"a": huge}) < simplicity({"a": Fraction(1, 10 * huge)})
    assert huge // 2 in set(simpler_values(huge)) and huge - 1 in set(smaller_values(huge))


def test_a_ratio_is_written_in_whole_numbers():
    found = plan([X, Y], [], {})
    same = follow(found, {"x": Fraction(3, 2), "y": Fraction(1)}, lambda at: at["x"] * 2 == at["y"] * 3)
    assert same == {"x": 3, "y": 2}
    same = follow(found, {"x": Fraction(1, 2), "y": Fraction(1, 3)}, lambda at: at["x"] * 2 == at["y"] * 3)
    assert same == {"x": 3, "y": 2}
    # Neither value can become simpler by itself.
    start = {"x": Fraction(83, 31), "y": Fraction(8300592, 31)}
    same = follow(found, start, lambda at: at["y"] > 10**5 * at["x"])
    assert same == {"x": 1, "y": 100_001}


@given(st.one_of(st.integers(-(10**18), 10**18), st.fractions(-(10**6), 10**6)))
def test_simpler_values_are_simpler_and_of_the_same_kind(value):
    for some in (simpler_values, smaller_values):
        found = list(some(value))
        assert len(set(found)) == len(found) < 100
        for other in found:
            assert simplicity({"": other}) < simplicity({"": value})
            assert isinstance(other, type(value))


def test_a_word_has_nothing_simpler():
    assert list(simpler_values("one")) == list(smaller_values("one")) == []


def test_a_list_has_entries_that_are_a_little_smaller():
    assert list(smaller_values((Fraction(3, 2), Fraction(3)))) == [(Fraction(3, 2), Fraction(2))]


@pytest.mark.parametrize("least", [1, 7, 8, 13, 99, 100, 101, 1234, 99_999, 100_001, 10**9 + 1])
@pytest.mark.parametrize("start", [10**9 + 2, 123_456_789_012, 2**59 + 1])
def test_the_least_integer_above_a_bound_is_found(least, start):
    assert follow(plan((N,), [], {}), {"n": start}, lambda i: i["n"] >= least) == {"n": least}


def test_a_single_integer_stays():
    assert simplest(plan((N,), [], {}), {"n": 1237}, lambda i: i["n"] == 1237) == [{"n": 1237}]


@pytest.mark.parametrize("least", [7, 50, 1234, 100_001])
def test_a_whole_number_among_fractions_becomes_the_least(least):
    start = {"x": Fraction(10**9 + 1, 3)}
    assert follow(plan((X,), [], {}), start, lambda i: i["x"] >= least) == {"x": least}


def test_fractions_become_short():
    start = {"x": Fraction(2718281828, 1000000007)}
    found = plan((X,), [], {})
    assert follow(found, start, lambda _: True) == {"x": Fraction(1)}
    assert follow(found, start, lambda i: i["x"] > 2) == {"x": Fraction(3)}
    # Between 2 and 3 the simplest fraction is 5/2.
    assert follow(found, start, lambda i: 2 < i["x"] < 3) == {"x": Fraction(5, 2)}
    small = {"x": Fraction(1001, 10**9 + 7)}
    short = follow(found, small, lambda i: 0 < i["x"] < Fraction(1, 500))["x"]
    assert short == Fraction(1, 501)


def test_two_values_are_replaced_together():
    # On the diagonal neither value can change by itself.
    start = {"n": 4001, "m": 4001}
    assert follow(plan((N, M), [], {}), start, lambda i: i["n"] == i["m"]) == {"n": 1, "m": 1}
    pair = {"x": Fraction(355, 113), "y": Fraction(355, 113)}
    assert follow(plan((X, Y), [], {}), pair, lambda i: i["x"] == i["y"]) == {"x": Fraction(1), "y": Fraction(1)}


def test_later_values_are_carried_into_their_new_range():
    # n ≤ m ≤ 2n: if n becomes smaller, m is outside its range and moves to the nearer end.
    found = plan((N, M), [sp.Le(n, m), sp.Le(m, 2 * n)], {})
    assert [p.name for p in found.parameters] == ["n", "m"]
    assert follow(found, {"n": 5000, "m": 9000}, lambda i: i["m"] >= i["n"] + 3) == {"n": 3, "m": 6}
    # n ≤ m ≤ 2n with m at its end 2n: m stays at the end, although it could keep its value.
    assert follow(found, {"n": 5000, "m": 10_000}, lambda i: i["m"] == 2 * i["n"] > 12) == {"n": 7, "m": 14}
    # 0 < y ≤ 1/(20 x²): y is at the end of its range, and stays at the end.
    steps = plan((X, Y), [sp.Le(y, 1 / (20 * x**2))], {})
    start = {"x": Fraction(317, 100), "y": 1 / (20 * Fraction(317, 100) ** 2)}
    end = follow(steps, start, lambda i: 20 * i["x"] ** 2 * i["y"] == 1)
    assert end == {"x": Fraction(1), "y": Fraction(1, 20)}


def test_a_value_beyond_an_end_keeps_its_share_of_it():
    # y is 1001/1000 of its least value x: if y became x + 1/2, x would be halved again and again.
    found = plan([X, Y], [sp.Ge(y, x)], {})
    start = {"x": Fraction(10**6), "y": Fraction(1001 * 10**3)}
    end = follow(found, start, lambda instance: 0 < instance["y"] - instance["x"] < instance["x"] / 100, most_trials=20)
    assert end["x"] < 1000


def test_an_open_end_is_not_carried_to():
    # (x − n)/(x − 2) ≥ 0 holds from x = n on; for n = 2 only for x > 2, because the quotient has no value at x = 2.
    two = Fraction(2)
    found = plan(
        (Parameter("n", "integer", "", minimum=2), Parameter("x", "rational", "", minimum=two)),
        [sp.Ge((x - n) / (x - 2), 0), sp.Le(x, 10), sp.Le(n, 9)],
        {},
    )
    assert [p.name for p in found.parameters] == ["n", "x"]
    assert follow(found, {"n": 5, "x": Fraction(5)}, lambda _: True) == {"n": 2, "x": 3}
    assert follow(found, {"n": 5, "x": Fraction(5)}, lambda i: i["x"] == i["n"]) == {"n": 3, "x": 3}
    assert follow(found, {"n": 5, "x": Fraction(10)}, lambda i: i["x"] > 9) == {"n": 2, "x": 10}


def test_negative_values_become_short_and_may_change_sign():
    whole = plan((WHOLE,), [], {})
    assert follow(whole, {"n": -987_654}, lambda i: i["n"] < -5) == {"n": -6}
    assert follow(whole, {"n": -987_654}, lambda i: abs(i["n"]) > 5) == {"n": 6}
    real = plan((REAL,), [], {})
    assert follow(real, {"x": Fraction(-987_654, 1001)}, lambda i: i["x"] < -5)["x"].denominator == 1
    assert follow(real, {"x": Fraction(-987_654, 1001)}, lambda i: i["x"] ** 2 > 4) == {"x": Fraction(3)}


def test_given_values_and_words_stay():
    found = plan((WORD, N, M), [], {"n": 5000})
    start = {"n": 5000, "kind": "two", "m": 700}
    assert follow(found, {p.name: start[p.name] for p in found.parameters}, lambda _: True) == {
        "kind": "two",
        "n": 5000,
        "m": 1,
    }


def test_the_number_of_trials_is_capped():
    tried = []

    def never(instance):
        tried.append(dict(instance))
        return False

    start = {"n": 10**17 + 3, "m": 10**16 + 7}
    found = plan((N, M), [], {})
    assert simplest(found, start, never, most_trials=10) == [start]
    # The start counts as one of the trials.
    assert len(tried) == 10
    tried.clear()
    assert simplest(found, start, never) == [start]
    assert len(tried) <= EXPLORE.simpler
    assert len({tuple(instance.values()) for instance in tried}) == len(tried)


RELATIONS = [
    sp.Le(x * y, 4), sp.Ge(x**2 - y, 0), sp.Le((x - 1) * (x - 2) * (y - x), 0), sp.Lt(x, y), sp.Lt(y, 5 * x**2),
    sp.Ge((y - 1) / (y - x), 0), sp.Ge(x * (x - 1) * (x - y), 0),
]  # fmt: skip


def test_paths_are_admitted_whatever_the_ranges():
    started, simplified = [], []

    @settings(max_examples=40)
    @given(st.lists(st.sampled_from(RELATIONS), min_size=1, max_size=2, unique=True), st.integers(0, 10**6))
    def hold(relations, seed):
        planned, source = plan((X, Y), relations, {}), random.Random(seed)
        starts = (
            {p.name: Fraction(source.randint(1, 400), source.randint(1, 100)) for p in planned.parameters}
            for _ in range(200)
        )
        start = next(filter(planned.admits, starts), None)
        started.append(start is not None)
        if start is not None:
            level = start["x"] + start["y"]
            above = follow(planned, start, lambda i: i["x"] + i["y"] >= level, most_trials=60)
            below = follow(planned, start, lambda i: i["x"] + i["y"] <= level, most_trials=60)
            simplified.extend([above != start, below != start])

    hold()
    # In one run all 40 draws had a start, and 79 of 80 paths led to a simpler instance.
    assert sum(started) >= 36 and sum(simplified) >= 65
