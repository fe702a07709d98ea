"""The output of a test whose check has another outcome than expected."""

import sympy as sp

import verify
from verify import Hypothesis, Identity, Inequality, Parameter, Source, Statement, Theorem, load_theorem
from verify.checking.check import check
from verify.reports.formats.failures import command_of, failure_text, sides

x, y = sp.symbols("x y", positive=True)
v = sp.Symbol("v", real=True)
HALF = sp.Symbol("h")
MADE = Theorem(
    "user.t",
    "t",
    Source("1", "derived here"),
    Statement(
        (Parameter("x", "rational", "a size", above=0),),
        (
            Inequality("small", sp.Le(x * HALF, 3)),
            Identity("square", (v + x) ** 2, v**2 + x**2),
            Inequality("true", sp.Ge(x, 0, evaluate=False)),
            Inequality("no_value", sp.Ge(1 / (x - 8), 0)),
        ),
        (Hypothesis("low", sp.Le(x, 7)),),
        variables=(v,),
        definitions={HALF: x / 2},
    ),
    {"x": 1},
)


def test_a_failure_shows_both_sides_the_instance_and_the_command():
    text = failure_text(MADE, check(MADE, {"x": 8}), "verified", 30)
    lines = text.splitlines()
    assert lines[0] == "user.t at x=8: out_of_scope, expected verified"
    assert lines[1] == "  fails low: x <= 7, slack -1"
    assert "  refuted (certified) small: h*x <= 3" in lines and "    left = h*x = 32" in lines
    assert "    right = 3 = 3" in lines and not any("true" in line for line in lines)
    square = next(i for i, line in enumerate(lines) if "square" in line)
    assert lines[square + 1].startswith("    left = (v + x)**2 = ") and lines[square + 2].startswith("    right = ")
    assert any(line.startswith("    left = 1/(x - 8), without a value: ") for line in lines)
    assert lines[-1].startswith("rerun: verify check ") and lines[-1].endswith(":MADE x=8 --seconds 30")


def test_a_clause_without_two_sides_has_none():
    theorem = load_theorem("wang2024.theorem1")
    result = check(theorem, theorem.example)
    assert not any(list(sides(theorem, clause, {}, result)) for clause in theorem.statement.claims)
    assert command_of(theorem, result.instance, 60).startswith("verify check wang2024.theorem1 T=9 q=2 d=1 eta=1/20 ")


def test_a_theorem_that_no_module_holds_has_no_command():
    made = MADE.variant(MADE.statement)
    assert command_of(made, {"x": 1}, 60) == "none: this theorem is not a named variable of a module"
    assert verify.check(made, x=1).theorem == "user.t"
