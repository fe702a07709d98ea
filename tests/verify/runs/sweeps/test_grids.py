"""Grids: exact points, both ends included; a text that is not a grid is refused in one line."""

import math
from fractions import Fraction

import pytest

from verify import InputError, Parameter
from verify.runs.sweeps.grids import grid, read_over
from verify.runs.sweeps.limits import SWEEP

N = Parameter("n", "integer", "a size", minimum=1)
X = Parameter("x", "rational", "a rate", above=0)
Z = Parameter("z", "rational", "a number")
HOW = Parameter("how", "word", "a choice", words=("one", "two", "three"))
MANY = Parameter("many", "rationals", "a list")
ALL = (N, X, Z, HOW, MANY)


def values(**over):
    (axis,) = grid(ALL, over, {}).axes
    return axis.values


def test_a_linear_grid_is_exact_and_has_both_ends():
    assert values(x="1/3:2:6") == tuple(Fraction(k, 3) for k in range(1, 7))
    assert values(z="1:-1:5") == (1, Fraction(1, 2), 0, Fraction(-1, 2), -1)
    assert values(x="0.1:0.1:1") == (Fraction(1, 10),)
    assert values(n="9:45:10") == tuple(range(9, 46, 4)) and all(type(value) is int for value in values(n="1:3:3"))


def test_an_integer_axis_is_rounded_to_distinct_integers():
    assert values(n="1:10:4") == (1, 4, 7, 10) and values(n="1:10:3") == (1, 6, 10)
    assert values(n="1:100:9:log") == (1, 2, 3, 6, 10, 18, 32, 56, 100)
    # 1, 1.19, 1.41, 1.68, 2 …: points that are rounded to the same integer count once.
    assert values(n="1:16:17:log") == (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16)


@pytest.mark.parametrize("text", ["1/40:16:20:log", "1e-9:1e9:37:log", "16:1/40:20:log", "1:1.001:1000:log"])
def test_a_logarithmic_grid_is_of_simple_fractions_near_equal_ratios(text):
    found = values(x=text)
    low, high, count = (Fraction(part) for part in text.split(":")[:3])
    assert (found[0], found[-1], len(found)) == (low, high, count) and len(set(found)) == count
    step = abs(math.log(high / low)) / (int(count) - 1)
    for i, value in enumerate(found):
        exact = math.log(low) + math.log(high / low) * i / (int(count) - 1)
        assert abs(math.log(value) - exact) <= min(1.1e-4, step / 99)
        # The simplest fraction within a relative error of 1e-4 has a denominator of at most about 1/(1e-4 value).
        assert value.denominator <= 4e4 / min(1, 100 * step) ** 2 / min(1, value) or i in (0, len(found) - 1)


def test_a_logarithmic_grid_outside_of_float64():
    found = values(x="1e-400:1e400:3:log")
    assert found == (Fraction(10) ** -400, 1, Fraction(10) ** 400)
    assert all(a < b for a, b in zip(found, values(x="1e-400:1e-398:3:log")[1:], strict=False) if a == found[0])


def test_values_may_be_listed_words_too():
    assert values(x="1/2, 3,0.25") == (Fraction(1, 2), 3, Fraction(1, 4)) and values(n=[4, 2]) == (4, 2)
    assert values(how="one,three") == ("one", "three")


def test_points_are_all_combinations_the_last_axis_fastest():
    found = grid(ALL, {"n": "1:2:2", "how": "two,one"}, {})
    assert len(found) == 4
    assert list(found.points()) == [
        {"n": 1, "how": "two"}, {"n": 1, "how": "one"}, {"n": 2, "how": "two"}, {"n": 2, "how": "one"},
    ]  # fmt: skip
    assert found.axes[0].to_json() == {"start": 1, "stop": 2, "count": 2, "spacing": "linear"}
    assert found.axes[1].to_json()["values"] == ["two", "one"]


def test_points_are_made_when_they_are_asked_for():
    found = grid(ALL, {"x": "1:2:1000", "z": "1:2:1000"}, {})
    assert len(found) == SWEEP.most_points and next(found.points()) == {"x": 1, "z": 1}


@pytest.mark.parametrize(
    ("over", "requirement"),
    [
        ({"y": "1:2:3"}, "is not a parameter"),
        ({"x": "1:2"}, "START:STOP:COUNT"),
        ({"x": "1:2:3:lin"}, "START:STOP:COUNT"),
        ({"x": "1:2:3:log:4"}, "START:STOP:COUNT"),
        ({"x": "1::3"}, "START:STOP:COUNT"),
        ({"x": "1:2:0"}, "COUNT must be an integer from 1"),
        ({"x": "1:2:-3"}, "COUNT must be an integer from 1"),
        ({"x": "1:2:2.5"}, "COUNT must be an integer from 1"),
        ({"x": f"1:2:{10**30}"}, "COUNT must be an integer from 1"),
        ({"x": "1:2:²"}, "COUNT must be an integer from 1"),
        ({"x": "1:2:1"}, "COUNT must be >= 2"),
        ({"x": "1:1:2"}, "COUNT must be 1"),
        ({"x": "0:1:2"}, "> 0"),
        ({"x": "a:1:2"}, "must be a number"),
        ({"z": "0:1:3:log"}, "START > 0"),
        ({"z": "1:-1:3:log"}, "START > 0"),
        ({"n": "1:5/2:2"}, "must be an integer"),
        ({"n": "1:3:4"}, "only 3 integers"),
        ({"n": "0:3:2"}, ">= 1"),
        ({"x": "1,1"}, "all different"),
        ({"x": ""}, "is empty"),
        ({"x": []}, "one or more"),
        ({"how": "one:two:2"}, "is a word"),
        ({"how": "four"}, "must be one of"),
        ({"many": "1,2"}, "is a list"),
        ({"x": "1:2:1001", "z": "1:2:1000"}, "at most 1000000"),
        ({}, "at least one parameter"),
        (None, "must be grids"),
        ({"x": 5}, "START:STOP:COUNT"),
        ({"x": None}, "START:STOP:COUNT"),
    ],
)
def test_malformed_grids_are_refused_in_one_line(over, requirement):
    with pytest.raises(InputError, match=requirement) as error:
        grid(ALL, over, {})
    assert "\n" not in str(error.value)


def test_a_grid_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("verify.runs.sweeps.grids._axis", lambda *_: pytest.fail("an axis was made"))
    with pytest.raises(InputError, match="at most 1000000"):
        grid(ALL, {"x": "1:2:1000000:log", "z": "1,2"}, {})


def test_fixed_parameters_are_not_swept():
    with pytest.raises(InputError, match="x = 3: is swept"):
        grid(ALL, {"x": "1:2:3"}, {"x": "3"})


def test_words_of_the_command_line():
    assert read_over(["x=1:2:3", "how = one,two"]) == {"x": "1:2:3", "how": "one,two"}
    for words, message in ((["x"], "NAME=START"), (["=1"], "NAME=START"), (["x=1:2:3", "x=4"], "given twice")):
        with pytest.raises(InputError, match=message):
            read_over(words)
