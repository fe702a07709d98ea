"""A statement in a line is checked, proved, searched and certified like any other statement."""

import json
from fractions import Fraction

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line
from verify.claims.line import example_of, statement_of
from verify.language.heads.table import CONSTANTS, FUNCTIONS

YOUNG = "2*x*y <= x**2 + y**2 for x > 0, y > 0"


def test_a_line_is_checked_and_proved(cli, tmp_path):
    path = tmp_path / "young.json"
    code, out, _ = cli("check", YOUNG, "x=1/3", "y=2", "--certificate", str(path))
    assert code == 0 and "2*x*y <= x**2 + y**2" in out
    code, out, _ = cli("recheck", str(path))
    assert code == 0 and "accepted" in out
    assert cli("prove", YOUNG)[0] == 0 and verify.prove(YOUNG).to_json()["for_all_parameters"] == "proved"


def test_a_false_one_is_refuted(cli):
    code, out, _ = cli("explore", "x**2 >= x for x > 0", "--seconds", "20", "--json")
    assert code == 1 and '"certified": true' in out


def test_a_line_is_the_same_theorem_each_time():
    theorem = verify.claim(YOUNG)
    assert verify.claim(YOUNG) is theorem is verify.load_theorem(YOUNG)
    assert theorem.id == f"line.{theorem.statement.digest[:12]}" and theorem.title == YOUNG


def test_an_example_is_in_scope():
    # Only x = −2 satisfies x² = 4 and x < 0; this number is in the list of simple numbers.
    assert example_of(statement_of("x < y if x**2 == 4, x < 0 for y >= 1")) == {"x": -2, "y": 1}
    found = example_of(statement_of("x < y if y <= x + 1/9 for 5/2 <= x < 3"))
    assert found and Fraction(5, 2) <= found["x"] < 3 and found["y"] <= found["x"] + Fraction(1, 9)
    assert example_of(statement_of("x < 1 if x > 2, x < 1")) is None


def test_a_parameter_that_is_equal_to_irrational_numbers_becomes_a_definition():
    line = "2*exp(-2*n*s**2) <= d if n == log(2/d)/(2*s**2) for 0 < d < 1, s > 0, 0 < n < 9"
    theorem = verify.claim(line)
    d, s, n = sp.Symbol("d", positive=True), sp.Symbol("s", positive=True), sp.Symbol("n", real=True)
    assert [each.name for each in theorem.statement.parameters] == ["s", "d"]
    assert theorem.statement.definitions == {n: sp.log(2 / d) / (2 * s**2)}
    relations = {each.label: each.relation for each in theorem.statement.hypotheses}
    value = sp.log(2 / d) / (2 * s**2)
    same = sp.Eq(value, value, evaluate=False)
    assert relations == {"domain 1 of n": sp.Gt(value, 0), "domain 2 of n": sp.Lt(value, 9), "hypothesis 1": same}
    assert theorem.statement.domain == (sp.Lt(d, 1),)
    assert verify.prove(line).to_json()["for_all_parameters"] == "proved"
    assert verify.check(line, s="1/2", d="1/3").outcome == "verified"
    with pytest.raises(verify.InputError, match="n = 5: is not a parameter of this theorem; its parameters are s, d"):
        verify.check(line, s=1, d="1/2", n=5)


@pytest.mark.parametrize(
    "line", ["y > 0 if x == log(y) + pi", "y >= 0 if x == sqrt(y) + log(2)", "y*y > 0 if x == pi/y for y >= 0"]
)
def test_without_a_value_of_the_definition_nothing_is_refuted(line):
    assert verify.prove(line).counterexample is None and verify.explore(line, seconds=2).counterexample is None


@pytest.mark.parametrize(
    ("line", "standing"),
    [
        ("x + y <= 1 if x == log(2), y == x/3 for 0 <= x <= 1", "proved"),
        ("exp(x)*x == 2*log(2) if log(2) == x", "proved"),
        ("x**2 <= 1 if x == sqrt(2)", "refuted"),
        ("x <= a*r**t along x -> r*x from a if r == log(2) for a > 0", "proved"),
        # √4 is equal to a rational number, so x stays a parameter.
        ("x <= 2 if x == sqrt(4)", "proved"),
    ],
)
def test_such_a_line_is_proved_or_refuted(line, standing):
    result = verify.prove(line)
    assert (result.to_json()["for_all_parameters"] == "proved") == (standing == "proved")
    assert (result.counterexample is not None) == (standing == "refuted")
    assert bool(verify.claim(line).statement.parameters) == ("a > 0" in line or "sqrt(4)" in line)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 <= 2 if x == log(2), x == log(3)", "no instance in scope was found"),
        ("x <= 2 if x == log(2) for x >= 1", "no instance in scope was found"),
        ("n <= 2 if n == log(2) for integer n >= 0", "no instance in scope was found"),
        ("x^2 > 1", "column 1: a power is written **"),
        ("x < 1 if x > 2, x < 1", "no instance in scope was found"),
        ("x < 1 if x > 2, y > 3", "hypothesis 2"),
        ("x >= sqrt(-2)", "column 6: sqrt(-2) has no real value"),
    ],
)
def test_a_refused_line_is_a_one_line_error(cli, line, why):
    assert_one_line(cli("prove", line), why)


def test_jobs_search_it_in_other_processes():
    from verify.checking.theorem import reference_of

    assert reference_of(verify.claim(YOUNG)) == (YOUNG, "verify")


def test_the_language_of_a_line_is_listed(cli):
    code, out, _ = cli("language")
    assert code == 0 and "binomial(n, k)" in out and "along x -> f from a" in out
    code, out, _ = cli("language", "--json")
    rows = json.loads(out)["language"]
    assert code == 0 and rows == verify.list_language() and all(row["form"] and row["says"] for row in rows)
    forms = " ".join(row["form"] for row in rows)
    # A refusal says how many functions there are, and this listing has all of them.
    with pytest.raises(verify.InputError, match=rf"{len(FUNCTIONS)} in all"):
        verify.claim("zeta(x) <= 1")
    assert all(f"{name}(" in forms for name in FUNCTIONS) and all(f" {name} " in forms for name in CONSTANTS)


def test_along_a_recursion_a_step_is_checked_and_certified(cli, tmp_path):
    line, path = "x <= 1/(t + 2) along x -> x*(1 - x) from a for 0 <= a <= 501/1000", str(tmp_path / "made.json")
    code, out, _ = cli("check", line, "a=501/1000", "t=0", "--certificate", path)
    assert code == 1 and "refuted (certified)" in out and cli("recheck", path)[0] == 0
    code, out, _ = cli("check", line, "a=1/2", "t=7", "--certificate", path)
    assert code == 0 and "verified (certified)" in out and cli("recheck", path)[0] == 0
    assert cli("check", line, "a=1/2", "t=-1")[0] == 2
    assert verify.explore(line, seconds=20).counterexample


def test_an_example_has_what_hypotheses_set_equal():
    found = example_of(
        statement_of("p*u <= u**2 if r == 1 - p - q, s == exp(p - 1) for 0 < p <= 1, 0 <= q <= 1, r <= 0")
    )
    assert found and found["r"] == 1 - found["p"] - found["q"] and found["p"] == found["s"] == 1


def test_an_example_solves_equations_for_what_is_affine_in_them():
    found = example_of(statement_of("u*x <= 1 if p + q + r == 1, x*y + 2*u == p for p >= 0, q >= 0, r >= 0, x >= 1"))
    assert found and found["p"] + found["q"] + found["r"] == 1
    assert found["x"] * found["y"] + 2 * found["u"] == found["p"]
    # The equation is affine in neither parameter; it holds at the simple values p = q = 1/2.
    found = example_of(statement_of("p <= 1 if p**2 + q**2 == 1/2 for p >= 0, q >= 0"))
    assert found and found["p"] ** 2 + found["q"] ** 2 == Fraction(1, 2)


def test_the_norm_of_the_softmax_jacobian_for_three_classes_is_proved_as_typed():
    square = "p1*v1**2 + p2*v2**2 + p3*v3**2 - (p1*v1 + p2*v2 + p3*v3)**2"
    simplex = "if p1 + p2 + p3 == 1 for p1 >= 0, p2 >= 0, p3 >= 0"
    assert verify.prove(f"{square} <= (v1**2 + v2**2 + v3**2)/2 {simplex}").for_all_parameters.standing == "proved"
    assert verify.explore(f"{square} <= 0.49*(v1**2 + v2**2 + v3**2) {simplex}", {}).counterexample is not None
