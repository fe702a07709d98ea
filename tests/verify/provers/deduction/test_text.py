"""A deduction in words: each line of a sum is an equation that holds, and each rule has its lines."""

import json
import sys

import pytest
import sympy as sp

import verify
from tests.verify.typeset import faults, faults_of_document
from verify.claims.line import statement_of
from verify.provers.deduction.account.styles import formula
from verify.provers.deduction.proofs import deduction_proof
from verify.provers.deduction.text import lines_of
from verify.rechecker.kinds.deductions import RULES
from verify.reports.display.latex import ascii_maths

WORK = 20_000


def told(line):
    statement = statement_of(line)
    (claim,) = statement.claims
    proof = deduction_proof(claim.relation, statement, WORK, hypotheses=True)
    return [text for text, _ in lines_of(proof, statement)], claim.relation


@pytest.mark.parametrize(
    "line",
    [
        "2*x*y <= x**2 + y**2",
        "f <= g - e*s**2/2 if f <= g - e*s**2 + L*e**2*s**2/2, e <= 1/L for e > 0, L > 0",
        "(x + y)**4 <= 8*(x**4 + y**4)",
    ],
)
def test_a_sum_is_an_equation(line):
    (said,), relation = told(line)
    left, right = said.split(" = ")
    names = {str(s): s for s in relation.free_symbols}
    margin = relation.rhs - relation.lhs
    stated = sp.sympify(left, locals=names | {"margin": margin}) - sp.sympify(right, locals=names)
    assert sp.simplify(stated) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 + x <= exp(x)", ["fact 0: exp(u) >= 1 + u for u = x", "margin = [fact 0]"]),
        (
            "1 + x + x**2/2 <= exp(x) for x >= 0",
            [
                "at x = 0:",
                "  margin = 0",
                "the slope at t_0, between 0 and x:",
                "  fact 2: exp(u) >= 1 + u for u = t_0",
                "  the slope = [fact 2]",
            ],
        ),
        (
            "sin(2*x) == 2*sin(x)*cos(x)",
            [
                "fact 0: sin(u + v) = sin(u)*cos(v) + cos(u)*sin(v) for u = x, v = x",
                "margin = -1*[fact 0]",
            ],
        ),
        ("x <= abs(x)", ["if x >= 0:", "  margin = 0", "if x < 0:", "  margin = 2*(-x)"]),
        ("atan(x) < pi/2", ["fact 0: atan(u) < pi/2 for u = x", "margin = [fact 0]"]),
        (
            "0 <= sin(x) if x <= pi for x >= 0",
            ["fact 1: sin(u) >= 0 for 0 <= u <= pi for u = x", "margin = [fact 1]"],
        ),
        (
            "3*x*y*z <= x**3 + y**3 + z**3 for x >= 0, y >= 0, z >= 0",
            [
                "fact 0: n*v <= u_1 + ... + u_n for v = x*y*z, u_1 = x**3, u_2 = y**3, u_3 = z**3",
                "margin = [fact 0]",
            ],
        ),
        (
            "Sum(k, (k, 1, n)) == n*(n + 1)/2 for integer n >= 0",
            ["for the least n:", "  margin = 0", "for n + 1, if for n:", "  margin at n + 1 = [margin at n]"],
        ),
        (
            "0 < x along x -> 1/x from 1",
            [
                "of the states s_0 after t steps, always:",
                "  s_0 > 0",
                "at the start, s_0:",
                "  its margin = 1",
                "for t + 1, if for t, s_0:",
                "  (s_0)*(its margin) = 1",
                "so:",
                "  margin = s_0",
            ],
        ),
    ],
)
def test_each_rule_has_its_lines(line, said):
    assert told(line)[0] == said


def test_prove_prints_them_under_the_clause():
    shown = str(verify.prove("2*x*y <= x**2 + y**2")).splitlines()
    assert shown[2:4] == ["  proved by deduction  claim: 2*x*y <= x**2 + y**2", "      margin = (x - y)**2"]


def test_a_hypothesis_that_the_author_names_is_its_slack():
    eta, ell, f, g, s = sp.symbols("eta L f g s")
    parameters = [verify.Parameter(name, "rational", name, above=0) for name in ("eta", "L")]
    parameters += [verify.Parameter(name, "rational", name) for name in ("f", "g", "s")]
    smooth = verify.Hypothesis("smooth", sp.Le(f, g - eta * s**2 + ell * eta**2 * s**2 / 2))
    step = verify.Hypothesis("step", sp.Le(eta, 1 / ell))
    claim = verify.Inequality("descends", sp.Le(f, g - eta * s**2 / 2))
    statement = verify.Statement(tuple(parameters), (claim,), (smooth, step))
    proof = deduction_proof(claim.relation, statement, WORK, hypotheses=True)
    ((text, latex),) = lines_of(proof, statement)
    assert text == "margin = slack(smooth) + L*eta*s**2/2*slack(step)"
    assert latex == (
        r"\text{margin }=\text{ slack}\left(\text{smooth}\right)+\frac{L \eta s^{2}}{2}\cdot \text{slack}"
        r"\left(\text{step}\right)"
    )


@pytest.mark.parametrize(
    ("line", "latex"),
    [
        ("2*x*y <= x**2 + y**2", [r"\text{margin }=\left(x - y\right)^{2}"]),
        (
            "x <= abs(x)",
            [
                r"\text{if }x\ge 0\text{:}",
                r"\quad \text{margin }=0",
                r"\text{if }x<0\text{:}",
                r"\quad \text{margin }=2\cdot \left(- x\right)",
            ],
        ),
        (
            "1 + x <= exp(x)",
            [
                r"\text{fact }0\text{: }\exp \left(u\right)\ge 1+\text{ }u\text{ for }u\text{ }=x",
                r"\text{margin }=\text{ [fact }0\text{]}",
            ],
        ),
    ],
)
def test_each_line_is_written_in_latex(line, latex):
    statement = statement_of(line)
    proof = deduction_proof(statement.claims[0].relation, statement, WORK, hypotheses=True)
    assert [formula for _, formula in lines_of(proof, statement)] == latex


def test_every_inference_is_explained_where_that_is_asked_for():
    rules = {"induction": "By induction.", "sum": "A sum."}
    statement = statement_of("n <= 2**n if x >= 1 for integer n >= 0, x real")
    proof = {
        "kind": "deduction",
        "relations": [0],
        "tree": {
            "rule": "induction",
            "in": "n",
            "first": {"rule": "sum", "times": ["Integer", "1"], "terms": []},
            "step": {
                "rule": "sum",
                "times": ["Integer", "1"],
                "terms": [[["Integer", "2"], [2], None], [["Symbol", "x", "real"], [0], ["Symbol", "x", "real"]]],
            },
        },
    }
    told = [text for text, _ in lines_of(proof, statement, rules)]
    assert told == [
        "fact 0: x - 1",
        "[induction] By induction.",
        "for the least n:",
        "  [sum] A sum.",
        "  margin = 0",
        "for n + 1, if for n:",
        "  [sum]",
        "  a term: [margin at n]",
        "  a term: x by the signs in it, x - 1, a square",
        "  margin at n + 1 = 2*[margin at n] + x*(x - 1)*(x)**2",
    ]
    # Without explanations the text has none of these lines.
    assert not [line for line, _ in lines_of(proof, statement) if line.strip().startswith(("[", "a term", "fact"))]


SUM = {"rule": "sum", "times": ["Integer", "1"], "terms": []}
BY_RULE = {
    "2*x*y <= x**2 + y**2": "sum",
    "1 + x + x**2/2 <= exp(x) for x >= 0": "slope",
    "x <= abs(x)": "cases",
    "sqrt(x**2 + 2*x + 1) == x + 1 for x >= 0": "both",
    "sqrt(x**2 + 4*x + 4) == x + 2 for x >= 0": "contradiction",
    "floor(x) + floor(-x) <= 0": "whole",
    "floor(x) + floor(-x) < 1": "lemma",
    "Sum(1/(k*(k + 1)), (k, n, 2*n)) == 1/n - 1/(2*n + 1) for integer n >= 1": "telescope",
    "0 < x along x -> 1/x from 1": "invariants",
    "Sum(k, (k, 1, n)) == n*(n + 1)/2 for integer n >= 0": "induction",
    "2*x/pi <= sin(x) if x <= pi/2 for x >= 0": "concave",
    "7 < exp(2)": "number",
    "exp(x)*cos(x) <= 1.56 for 0 <= x <= 1": "box",
    "abs(x) < 4 if x == 3": "replace",
    "atan(x) < pi/2": "known",
}


@pytest.mark.parametrize("line", BY_RULE)
def test_each_rule_is_explained_in_latex_that_compiles(line, cli):
    statement = statement_of(line)
    proof = deduction_proof(statement.claims[0].relation, statement, WORK, hypotheses=True)
    assert f'"rule": "{BY_RULE[line]}"' in json.dumps(proof)
    rules = {name: rule.__doc__.partition("\n")[0] for name, (_, rule) in RULES.items()}
    for explained in (rules, None):
        lines = lines_of(proof, statement, explained)
        assert lines and [fault for _, latex in lines for fault in faults(ascii_maths(latex))] == []
    for asked in ((), ("--explain",)):
        code, out, _ = cli("prove", line, "--format", "latex", *asked)
        assert code == 0 and list(faults_of_document(out)) == []


def test_every_rule_has_latex():
    assert set(BY_RULE.values()) | {"range"} == RULES.keys()
    zero, end = ["Integer", "0"], ["Integer", "9"]
    tree = {"rule": "range", "in": "n", "from": zero, "to": end, "first": SUM, "step": SUM}
    statement = statement_of("n >= 0 for integer n >= 0")
    for explained in ({name: rule.__doc__ for name, (_, rule) in RULES.items()}, None):
        lines = lines_of({"kind": "deduction", "relations": [], "tree": tree}, statement, explained)
        assert [fault for _, latex in lines for fault in faults(ascii_maths(latex))] == []


def test_no_letter_is_a_command_in_a_text():
    letters = (chr(code) for code in range(32, sys.maxunicode) if chr(code).isprintable())
    assert [c for c in letters if c not in "()" and any(faults(ascii_maths(formula(f"word {c} word {c}x"))))] == []


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (
            "is Σ λ · Π facts · root², for λ ≥ 0",
            r"\text{is }Σ λ · Π \text{ facts }· \text{ root}^{2}\text{, for }λ ≥ 0",
        ),
        ("n*v <= u_1 + u_n", r"n\cdot v\text{ }\le u_{1}+u_{n}"),
        ("u**(n - 1) >= 10⁻¹²", r"u^{n\text{ }-1}\ge 10^{−12}"),
        ("small_step ~ 2.5e-10", r"\text{small\_step }\sim 2.5\cdot 10^{-10}"),
    ],
)
def test_signs_and_indices_are_set_outside_of_the_text(text, latex):
    assert formula(text) == latex


@pytest.mark.parametrize(
    "latex", [r"\text{a \ge b}", r"\text{a^2}", r"\text{a", "a}", "$a", r"\left(a", "a_{b", r"\text{$a}$"]
)
def test_a_fault_of_latex_is_seen(latex):
    assert list(faults(latex)) and not list(faults(r"\text{a \# $\ge$}\left(b\right)^{2}"))


@pytest.mark.parametrize("line", ["1 + x + x**2/2 <= exp(x) for x >= 0", "x <= abs(x)"])
def test_prove_explains_and_typesets_a_proof(line, cli):
    explained = verify.prove(line, explain=True)
    rules = {text.split("]")[0] + "]" for text in map(str.strip, explained.deductions["claim"]) if text.startswith("[")}
    assert {"[sum]"} < rules and all(
        line.strip() in str(explained) for line in explained.deductions["claim"] if len(line) < 60
    )
    code, out, _ = cli("prove", line, "--explain", "--json")
    assert code == 0 and json.loads(out)["clauses"][0]["lines"] == list(explained.deductions["claim"])
    code, out, _ = cli("prove", line, "--format", "latex")
    assert code == 0 and r"\subsection*{proof of claim}" in out and r"$\quad \text{margin }" in out


def test_decrease_of_an_observable_is_told(tmp_path):
    verify.new(str(tmp_path / "r.py"), kind="recursion")
    told = verify.prove(str(tmp_path / "r.py")).deductions["reached"]
    assert told == (
        "above the level each step lowers the observable by -eps*eta*(eta - 2), which is positive, since",
        "  it = eps*eta*slack(small_step)",
        "the decrease in a step, minus that amount:",
        "  margin = eta*slack(small_step)*(-eps + x**2/2)",
    )


def test_a_rule_that_there_is_not_is_an_error():
    with pytest.raises(KeyError):
        lines_of({"kind": "deduction", "relations": [], "tree": {"rule": "magic"}}, statement_of("x <= x + 1"))


def test_two_inequalities_are_told_one_after_the_other():
    lines, _ = told("sqrt(x**2 + 2*x + 1) == x + 1 for x >= 0")
    assert [line for line in lines if not line.startswith(" ")] == ["margin >= 0:", "-(margin) >= 0:"]


def test_an_integer_is_rounded_in_words():
    lines, _ = told("floor(x) + floor(-x) <= 0")
    assert lines[2:5] == [
        "-floor(-x) - floor(x) >= 0, since",
        "  an integer that is > -1 is >= 0: (its margin) + 1 > 0, since",
        "    (its margin + 1) = 1 + [fact 0] + [fact 1]",
    ]


def test_a_sum_that_telescopes_is_told():
    lines, _ = told("Sum(1/(k*(k + 1)), (k, n, 2*n)) == 1/n - 1/(2*n + 1) for integer n >= 1")
    assert lines[:2] == [
        "with G(k) = -1/k, the difference G(k + 1) - G(k) is 1/(k*(k + 1)) at k from n to 2*n:",
        "  what is left = 0",
    ]
    assert lines[2].startswith("fact ") and lines[2].endswith(": the sum of these is G(2*n + 1) - G(n)")
