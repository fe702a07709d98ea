"""The numerical search: the witness that it finds first, at each seed, and the points that it leaves out."""

import math
from fractions import Fraction
from itertools import islice

import pytest
import sympy as sp

from tests.verify.searched import W, X, Y, theorem, v, w, x, y, z
from verify import Dynamics, Hypothesis, Implication, Reaches, check, claim, explore
from verify.errors import OutOfTimeError
from verify.evaluation.instances import simplicity
from verify.evaluation.numerical.compiled import Compiled
from verify.evaluation.numerical.limits import NUMERICAL
from verify.evaluation.numerical.suspects import suspects

FIRST = {
    # The least value, 0, is attained only at (3, 9).
    "1/1000000 <= 100*(y - x**2)**2 + (3 - x)**2": {"x": 3, "y": 9},
    # The witness is the smallest Pythagorean triple.
    "1 <= abs(x**2 + y**2 - z**2) for integer x >= 1, integer y >= 1, integer z >= 1": {"x": 3, "y": 4, "z": 5},
    # The witnesses are the simplest positive numbers.
    "a*b*c*d*e <= 0.99*((a + b + c + d + e)/5)**5 for a > 0, b > 0, c > 0, d > 0, e > 0": dict.fromkeys("abcde", 1),
    "2*x*y <= 0.999*(x**2 + y**2)": {"x": 1, "y": 1},
    # Euler's polynomial has its least value, 41, at n = 39 and n = 40.
    "n**2 - 79*n + 1601 >= 42 for integer n >= 1": {"n": 39},
}
"""Statements and their simplest counterexamples, which a search finds at every seed."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("line", FIRST)
def test_a_simple_witness_is_found(line, seed):
    found = explore(claim(line), {}, seed=seed, seconds=20)
    assert found.counterexample == FIRST[line] and found.examples <= 2


@pytest.mark.parametrize("seed", range(3))
def test_a_heavy_balls_energy_rises_at_the_simplest_momentum(seed):
    # At x = 0 a step multiplies the energy by b² (1 + a). At a = 1/4 it rises for b² > 4/5; the simplest b is 9/10.
    energy = "a*X**2 + (X - x)**2 <= a*x**2 + (x - y)**2 if X == x - a*x + b*(x - y), a <= 1/4 for a > 0, 0 < b < 1"
    found = explore(claim(energy), {}, seed=seed, seconds=20).counterexample
    assert (found["a"], found["b"]) == (Fraction(1, 4), Fraction(9, 10))


@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_one_is_found_too(seed):
    centre = {"x": Fraction(37, 10), "y": Fraction(11, 10)}
    near = explore(claim("1/1000 <= (x - 3.7)**2 + (y - 1.1)**2"), {}, seed=seed, seconds=20).counterexample
    assert sum((near[name] - centre[name]) ** 2 for name in "xy") < Fraction(1, 1000)
    assert simplicity(near) < simplicity(centre)
    disc = explore(claim("x + y <= 1.41421 if x**2 + y**2 <= 1"), {}, seed=seed, seconds=20).counterexample
    assert disc["x"] + disc["y"] > Fraction(141421, 100000) and disc["x"] ** 2 + disc["y"] ** 2 <= 1
    mean, squares = "(exp(a)*u + exp(b)*v + w)/(exp(a) + exp(b) + 1)", "exp(a)*u**2 + exp(b)*v**2 + w**2"
    softmax = f"({squares})/(exp(a) + exp(b) + 1) - ({mean})**2 <= 0.495*(u**2 + v**2 + w**2)"
    steep = explore(claim(softmax), {}, seed=seed, seconds=20).counterexample
    # Two classes have equal odds and opposite entries, and the third has almost no weight.
    weights = [math.exp(steep["a"]), math.exp(steep["b"]), 1.0]
    entries = [float(steep[name]) for name in "uvw"]
    average = sum(p * e for p, e in zip(weights, entries, strict=True)) / sum(weights)
    variance = sum(p * (e - average) ** 2 for p, e in zip(weights, entries, strict=True)) / sum(weights)
    assert variance > 0.495 * sum(e**2 for e in entries) and min(weights) < 0.02 * max(weights)


@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_one_of_a_recursion_is_found(clock, seed):
    # For one in 1500 of the starts in [2/5, 9/20), Newton's method for z^3 = z takes more than 16 steps to a root:
    # for the starts near 1/sqrt(5), a point of a cycle, and for the starts whose runs come near this point.
    newton = Dynamics((z,), (x,), (2 * z**3 / (3 * z**2 - 1),), (z**3 - z) ** 2)
    within = Reaches("claim", newton, sp.Rational(1, 10**6), within=sp.Integer(16))
    between = Hypothesis("low", sp.Ge(x, sp.Rational(2, 5))), Hypothesis("high", sp.Lt(x, sp.Rational(9, 20)))
    found = explore(theorem((X,), within, *between), {}, seed=seed, seconds=20)
    start = state = found.counterexample["x"]
    for _ in range(17):
        assert (state**3 - state) ** 2 > Fraction(1, 10**6)
        # Exact numbers would have three times as many digits after each step.
        state = (2 * state**3 / (3 * state**2 - 1)).limit_denominator(10**40)
    assert Fraction(4472, 10**4) < start < Fraction(4478, 10**4) and found.needed <= 8 and found.certified


@pytest.mark.parametrize("seed", range(3))
def test_a_step_size_that_is_too_large_is_found(clock, seed):
    descent = Dynamics((z,), (sp.Integer(1),), ((1 - x) * z,), z**2 / 2)
    of = theorem((X, Y), Reaches("claim", descent, y), Hypothesis("step_size", sp.Lt(x, sp.Rational(2001, 1000))))
    found = explore(of, {}, seed=seed, seconds=60)
    assert found.counterexample == {"x": 2, "y": Fraction(1, 3)} and found.needed == 1 and found.certified


def test_an_equation_with_few_rational_solutions_has_instances():
    circle = explore(claim("x*y <= 1/2 if x**2 + y**2 == 1"), {}, seconds=20, max_examples=60)
    assert circle.counterexample is None and 0 < circle.clean == circle.examples
    assert explore(claim("x*y <= 12/25 - 1/100 if x**2 + y**2 == 1"), {}, seconds=20).counterexample == {
        "x": Fraction(3, 5),
        "y": Fraction(4, 5),
    }


@pytest.mark.parametrize(
    ("relation", "point"),
    [
        (sp.Ge((v - sp.Rational(37, 10)) ** 2, w / 10**6), {"v": Fraction(37, 10)}),
        (sp.Le(v * y, sp.Rational(499, 1000) * (v**2 + y**2) + w - 1), {"v": 1, "y": 1}),
    ],
)
def test_claims_for_all_values_are_searched_over_the_variables(relation, point):
    variables = tuple(sorted(relation.free_symbols - {w}, key=str))
    of = theorem((W,), relation, variables=variables)
    checked = check(of, {"w": 1})
    assert (checked.outcome, checked.clauses[0].evidence) == ("refuted", "certified")
    assert dict(checked.clauses[0].witness) == {"w": 1, **point}
    assert explore(of, {}, seconds=20).counterexample is not None


def test_a_variable_keeps_what_it_assumes():
    odd = sp.Symbol("o", integer=True, odd=True)
    assert check(theorem((W,), sp.Ge((odd - 2) ** 2, w), variables=(odd,)), {"w": 1}).outcome != "refuted"
    # (o - 2)^2 >= 1 is false at o = 2, and x >= 1 is false at small positive x.
    whole = sp.Symbol("o", integer=True)
    assert check(theorem((W,), sp.Ge((whole - 2) ** 2, w), variables=(whole,)), {"w": 1}).clauses[0].witness["o"] == 2
    assert check(theorem((W,), sp.Ge(x, w), variables=(x,)), {"w": 0}).outcome != "refuted"
    assert check(theorem((W,), sp.Ge(x, w), variables=(x,)), {"w": 1}).outcome == "refuted"


def test_the_nearest_miss_comes_last_and_nothing_else_of_what_is_true():
    (nearest,) = suspects(claim("2*x*y <= x**2 + y**2 + 1").statement, {}, 20_000, 0, lambda: None)
    assert nearest.label == "claim" and not nearest.silent
    a, b = nearest.instance["x"], nearest.instance["y"]
    assert ((a - b) ** 2 + 1) / (a**2 + b**2 + 1 + 2 * abs(a * b)) < Fraction(1, 10**5)


def test_points_without_a_float_value_are_yielded_at_all_sizes():
    found = list(suspects(claim("n**n <= 2**(n**2) for integer n >= 1").statement, {}, 20_000, 0, lambda: None))
    unseen = [each.instance["n"] for each in found if each.silent]
    assert len(unseen) == NUMERICAL.silent and unseen == sorted(unseen) and unseen[0] < 1000 < 10**6 < unseen[-1]


def test_search_ends_with_the_time_and_repeats_itself():
    def over():
        raise OutOfTimeError("over")

    of = claim("x + y <= 1.41421 if x**2 + y**2 <= 1").statement
    with pytest.raises(OutOfTimeError):
        next(suspects(of, {}, 1000, 0, over))
    one, other = (list(islice(suspects(of, {}, 20_000, 3, lambda: None), 3)) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("most", [1, 100, 5000, 200_000])
def test_the_points_are_bounded(monkeypatch, most):
    evaluated, scores = [], Compiled.scores

    def counted(read, points):
        evaluated.append(len(points))
        return scores(read, points)

    monkeypatch.setattr(Compiled, "scores", counted)
    # More than `most` points may be evaluated: a search that has begun is finished, and the nearest miss is rounded.
    for line in ("0 <= x + 1 for x > 0", "x + y <= 1.5 if x**2 + y**2 <= 1"):
        evaluated.clear()
        list(suspects(claim(line).statement, {}, most, 0, lambda: None))
        assert sum(evaluated) <= 1.1 * most + 300 and max(evaluated) <= NUMERICAL.batch


@pytest.mark.parametrize("seed", [-1, 0, 2**70])
def test_any_seed_will_do(seed):
    assert explore(claim("x <= 1"), {}, seed=seed).counterexample is not None


def test_the_rest_of_a_search_has_its_time(clock, monkeypatch):
    scores = Compiled.scores

    def slow(read, points):
        clock.sleep(0.1)
        return scores(read, points)

    monkeypatch.setattr(Compiled, "scores", slow)
    searched = explore(claim("x*y <= x**2 + y**2"), {}, seconds=2, max_examples=10**6)
    assert searched.stopped == "seconds" or searched.examples > 100


@pytest.mark.parametrize(
    "line",
    [
        "x <= 10 if exp(exp(x)) <= y",
        "x + y >= -10**308 if x >= -10**307",
        "x <= 2 if log(y) >= 1/x",
        "binomial(n, k**2) <= 1 for integer n >= 0, integer k >= 0",
    ],
)
def test_numbers_beyond_float64_raise_nothing(line):
    explore(claim(line), {}, seconds=5, max_examples=50)


@pytest.mark.parametrize("seed", range(3))
def test_a_box_of_few_integers_is_searched_whole(seed):
    # The claim fails at only one of the 68 921 points, (37, 38, 39).
    line = "1 <= abs(a**3 + 2*b**3 + 3*c**3 - 338354) if a <= 40, b <= 40, c <= 40 for "
    line += ", ".join(f"integer {name} >= 0" for name in "abc")
    assert explore(claim(line), {}, seed=seed, seconds=20).counterexample == {"a": 37, "b": 38, "c": 39}


def test_a_solved_variable_outside_its_assumptions_is_no_point():
    c = sp.Symbol("c", nonnegative=True)
    concluded = sp.Ge((c + 1) ** 2 * (x**2 + 1), x**2 + 1, evaluate=False)
    made = theorem((X, Y), Implication("claim", (sp.Eq(c, y - x),), concluded), variables=(c,))
    (clause,) = check(made, x=2, y=1).clauses
    assert clause.outcome == "inconclusive" and "re-checker" not in clause.detail
