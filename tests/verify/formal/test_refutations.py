"""False statements are proved to be false in Rocq, and a translation that says less is refused."""

from fractions import Fraction

import pytest
import sympy as sp

import verify
from tests.verify.formal.refutations import Refuted, refutations
from verify import Hypothesis, Identity, Parameter, Statement
from verify.formal.kernel.compiling import compiled
from verify.formal.kernel.running import AXIOMS

u, x = sp.Symbol("u", real=True), sp.Symbol("x", positive=True)
SCOPED = "x**2 >= x if x >= 1/4 for x > 0"


def made(folder, line, witness, difference=0, change=("", "")):
    """Write the negation of a false statement at a witness, replace a text in the statement, and compile the files."""
    statement = verify.claim(line).statement
    found = refutations("a test", [Refuted(statement, "claim", witness, {}, Fraction(difference))])
    old, new = change
    assert not found.left_out and old in found.files["Statement.v"]
    for name, text in found.files.items():
        (folder / name).write_text(text.replace(old, new) if old and name == "Statement.v" else text, encoding="utf-8")
    return compiled(folder)


@pytest.mark.formal
@pytest.mark.parametrize(
    ("line", "witness", "difference"),
    [
        ("x**2 >= x for x > 0", {"x": "1/2"}, 0),
        ("x**2 > 0", {"x": "0"}, 0),
        (SCOPED, {"x": "1/2"}, 0),
        ("n**2 < 2**n for integer n >= 1", {"n": "3"}, 0),
        ("x == y if x <= y", {"x": "-1/2", "y": "1"}, Fraction(-3, 2)),
        ("x == y if x >= y", {"x": "1", "y": "1/3"}, Fraction(2, 3)),
    ],
)
def test_a_false_statement_is_proved_to_be_false(tmp_path, line, witness, difference):
    found = made(tmp_path, line, witness, difference)
    assert found.accepted and found.axioms <= AXIOMS


@pytest.mark.formal
@pytest.mark.parametrize(
    ("left", "right", "difference", "false"),
    [
        (sp.Derivative(x**3 / (1 + x), x), 3 * x**2, Fraction(-7, 4), True),
        (sp.Limit((x * u + u**2) / (u + 3 * u**2), u, 0, "+"), 2 * x, Fraction(-1), True),
        # These claims are true at x = 1.
        (sp.Derivative(x**3 / (1 + x), x), 5 * x**2 / 4, Fraction(-1), False),
        (sp.Limit((x * u + u**2) / (u + 3 * u**2), u, 0, "+"), x**2, Fraction(-1), False),
    ],
)
def test_false_claims_of_derivatives_and_limits_are_proved_false(tmp_path, left, right, difference, false):
    statement = Statement((Parameter("x", "rational", "x", above=0),), (Identity("claim", left, right),))
    made = refutations("a test", [Refuted(statement, "claim", {"x": "1"}, {}, difference)])
    for name, text in made.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert not made.left_out and compiled(tmp_path).accepted == false


@pytest.mark.formal
@pytest.mark.parametrize(("right", "false"), [(10 * x**2, True), (12 * x**2, False), (12 * x**3, False)])
def test_a_false_second_derivative_is_proved_false_by_the_true_one(tmp_path, right, false):
    def stated(right):
        claim = Identity("claim", sp.Derivative(x**4, x, 2), right)
        return Statement((Parameter("x", "rational", "x", above=0),), (claim,))

    true, variant = stated(12 * x**2), stated(right)
    proof = true.claims[0].prove(true, hypotheses=False)
    made = refutations("a test", [Refuted(variant, "claim", {"x": "1"}, {}, Fraction(2), (true, proof))])
    for name, text in made.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert not made.left_out and compiled(tmp_path).accepted == false


@pytest.mark.formal
@pytest.mark.parametrize(("right", "false"), [(2 * x, True), (x**2, False), (x, False)])
def test_a_false_long_limit_is_proved_false_by_the_true_one(tmp_path, monkeypatch, right, false):
    def stated(right):
        claim = Identity("claim", sp.Limit((x * u + u**2) / (u + 3 * u**2), u, 0, "+"), right)
        return Statement((Parameter("x", "rational", "x", above=0),), (claim,))

    monkeypatch.setattr("tests.verify.formal.refutations._LONG", 0)
    true, variant = stated(x), stated(right)
    proof = true.claims[0].prove(true, hypotheses=False)
    made = refutations("a test", [Refuted(variant, "claim", {"x": "1"}, {}, Fraction(-1), (true, proof))])
    for name, text in made.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert not made.left_out and "by_the_true H K." in made.files["Proof.v"]
    assert compiled(tmp_path).accepted == false


@pytest.mark.parametrize("changed", ["derivative", "hypothesis"])
def test_a_variant_about_another_derivative_is_left_out(changed):
    def stated(power, *hypotheses):
        claim = Identity("claim", sp.Derivative(x**power, x, 2), 12 * x**2)
        return Statement((Parameter("x", "rational", "x", above=0),), (claim,), hypotheses=hypotheses)

    true = stated(4)
    variant = stated(5) if changed == "derivative" else stated(4, Hypothesis("small", sp.Lt(x, 2)))
    proof = true.claims[0].prove(true, hypotheses=False)
    found = refutations("a test", [Refuted(variant, "claim", {"x": "1"}, {}, Fraction(8), (true, proof))])
    assert found.left_out == {0: "the true clause is about another derivative or limit, or has other hypotheses"}


def test_a_false_second_derivative_without_a_true_one_is_left_out():
    claim = Identity("claim", sp.Derivative(x**4, x, 2), 10 * x**2)
    variant = Statement((Parameter("x", "rational", "x", above=0),), (claim,))
    found = refutations("a test", [Refuted(variant, "claim", {"x": "1"}, {}, Fraction(2))])
    assert found.left_out == {0: "the true clause of a derivative of higher order or a long limit is not proved"}


@pytest.mark.formal
def test_numbers_with_exponentials_are_compared_in_machine_arithmetic(tmp_path):
    found = made(tmp_path, "exp(x) <= 1 + x + x**2/2 for x >= 0", {"x": "1"})
    assert not found.accepted and "PrimInt63.add" in found.axioms


@pytest.mark.formal
@pytest.mark.parametrize(
    ("witness", "change"),
    [
        # The relation, the hypothesis or the domain differs from the statement's.
        ("1/2", ("x ^ 2 >= x", "x ^ 2 >= - x")),
        ("1/2", ("x >= 1 / 4", "x >= 3 / 4")),
        ("1/2", ("0 < x", "1 < x")),
        # The statement is true at 2, and 1/8 is out of scope.
        ("2", ("", "")),
        ("1/8", ("", "")),
    ],
)
def test_refutations_of_statements_not_false_at_the_witness_are_refused(tmp_path, witness, change):
    assert "Proof.v" in made(tmp_path, SCOPED, {"x": witness}, change=change).refused


def test_a_clause_that_is_not_exported_is_left_out():
    statement = verify.claim("x + 1 >= Limit((1 + x/n)**n, n, oo)").statement
    found = refutations("a test", [Refuted(statement, "claim", {"x": "1"}, {}, Fraction(0))])
    assert found.left_out.keys() == {0} and "refuted_0" not in found.files["Check.v"]
