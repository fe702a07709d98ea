"""Proofs in slacks, in words: each equation is true, and its right side has no negative coefficient."""

import re
from fractions import Fraction

import pytest
import sympy as sp

import verify
from tests.verify.typeset import faults, faults_of_document
from verify.claims.line import statement_of
from verify.provers.deduction.text import lines_of
from verify.provers.inequalities import in_slacks
from verify.provers.slack_text import KINDS
from verify.reports.display.latex import ascii_maths

_STEP = re.compile(r"with (\w+) = (.+), (s_\d+) (?:>=|>) 0(?:, since .*)?:")
_ZERO = re.compile(r"if (\w+) = 0:")
_SQUARE = re.compile(r"\((?:[^()]|\([^()]*\))*\)\*\*2")
LINES = {
    "p*(1 - p) <= 1/4 + p for p >= 0": "positive",
    "n - 1 <= x**2 if x >= n for x > 0, integer n >= 1": "positive",
    "x < 3*y if x <= 2*y for x > 0, y > 0": "positive",
    "1/(n + 1) <= 1/n for integer n >= 2": "positive",
    "2*p*(1 - p) <= 1/2 for 0 <= p <= 1": "squares",
    "x/(1 + x)**3 <= 4/27 for x > 0": "squares",
    "2*x*y < x**2 + y**2 + 1 for x > 0, y > 0": "squares",
    "2*x*n <= x**2 + n**2 + n - 2 for x > 0, integer n >= 2": "squares",
    "3*x**2*y**2 <= x**4*y**2 + x**2*y**4 + 1 for x > 0, y > 0": "squares",
    "2*(p*(1 - p))**2 <= 1/8 if 0 <= p <= 1": "cases",
    "3*x*y <= x**2*y + x*y**2 + 1 for x > 0, y > 0": "cases",
    "m + y <= 1 + m*y if m <= 1, y <= 1 for m >= 0, y > 0": "cases",
    "0 <= (x - 1)*(3 - x) if 1 <= x <= 3 for x > 0": "cases",
    "x*y < x**3 + y**3 + 3 for x > 0, y > 0": "cases",
    "0 < x*(2 - x*(1 + y)) if x*(1 + y) < 2 for x > 0, y > 0": "cases",
}
"""Inequalities, each with the kind of its proof."""


def told(line, *, explain=False):
    statement = statement_of(line)
    (claim,) = statement.claims
    proof = in_slacks(claim.relation, statement, hypotheses=True)
    lines = lines_of(proof, statement, {} if explain else None, relation=claim.relation)
    assert [fault for _, latex in lines for fault in faults(ascii_maths(latex))] == []
    return proof, [text for text, _ in lines], claim.relation.gts - claim.relation.lts


def equations(lines):
    """Yield the two sides of each equation, as printed, and the substitutions of the steps above it."""
    steps = []
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 2
        steps = [(at, step) for at, step in steps if at <= depth]
        if (found := _STEP.search(line)) or (found := _ZERO.search(line)):
            value = sp.sympify(found[2] if found.re is _STEP else "0")
            # A step in a heading holds for the lines under the heading.
            steps.append((depth + line.strip().startswith("if"), {sp.Symbol(found[1]): value}))
        elif " = " in line:
            left, right = line.strip().split(" = ")
            yield left, right, [step for _, step in steps]


def is_true(left, right, steps, names):
    stated = sp.sympify(left, locals=names) - sp.sympify(right)
    for step in steps:
        stated = stated.subs(step, simultaneous=True)
    return sp.expand(sp.fraction(sp.together(stated))[0]) == 0


@pytest.mark.parametrize("line", LINES)
def test_each_equation_is_true_and_has_no_negative_coefficient(line):
    proof, lines, margin = told(line, explain=True)
    assert proof["kind"] == LINES[line] and lines[0].startswith(f"[{proof['kind']}] ")
    stated = list(equations(lines[1:]))
    assert stated and lines[-1].strip().startswith(("margin = ", "("))
    for left, right, steps in stated:
        assert is_true(left, right, steps, {"margin": sp.sympify(str(margin))})
        assert "-" not in _SQUARE.sub("", right)


def test_a_false_equation_is_seen():
    _, lines, margin = told("n - 1 <= x**2 if x >= n for x > 0, integer n >= 1")
    ((left, right, steps),) = equations(lines)
    assert not is_true(left, f"{right} + s_1", steps, {"margin": sp.sympify(str(margin))})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2*p*(1 - p) <= 1/2 for 0 <= p <= 1", ["margin = 1/2*(2*p - 1)**2"]),
        (
            "n - 1 <= x**2 if x >= n for x > 0, integer n >= 1",
            [
                "with x = n + s_1, s_1 >= 0:",
                "with n = s_2 + 1, s_2 >= 0:",
                "margin = s_1**2 + 2*s_1*s_2 + 2*s_1 + s_2**2 + s_2 + 1",
            ],
        ),
        (
            "2*(p*(1 - p))**2 <= 1/8 if 0 <= p <= 1",
            ["margin: no negative coefficient in slacks, in each of 4 cases; --explain has them"],
        ),
        ("x*y < x**3 + y**3 + 3 for x > 0, y > 0", ["((x + y + 1)**6)*(margin) = [55 terms with coefficients > 0]"]),
        # The name of a slack differs from every name of the statement.
        ("1 <= s_1 if s_1 >= 1", ["with s_1 = s_2 + 1, s_2 >= 0:", "margin = s_2"]),
        (
            "log(1 + x) <= x for x > 0",
            [
                "log(u) <= u - 1 for u = x + 1, which is > 0",
                "margin >= the rest, with these bounds for the logarithms:",
                "  the rest = 0",
            ],
        ),
        ("2 < exp(1)", ["margin = 0.7182818285 ± 1e-10, at 192 bits"]),
    ],
)
def test_what_is_said_without_explanations(line, said):
    assert told(line)[1] == said


def test_the_bounds_of_logarithms_are_shown():
    proof, lines, _ = told("log(x)/2 <= x + log(y) if y >= 1 for x > 0, y > 0", explain=True)
    assert proof["kind"] == "logarithms"
    assert sorted(line for line in lines[1:-2] if not line.startswith(" ")) == [
        "log(u) <= u - 1 for u = x, which is > 0",
        "log(u) >= 0 for u = y, which is >= 1",
    ]
    assert {"  u = x", "  with y = s_1 + 1, s_1 >= 0:", "  u - 1 = s_1"} < set(lines)
    # The last line states the margin after substituting the bounds.
    x = sp.Symbol("x")
    assert sp.expand(sp.sympify(lines[-1].split(" = ")[1]) - (x - (x - 1) / 2)) == 0


def test_the_ball_of_a_constant_holds_its_margin():
    proof, (line,), _ = told("log(2) < 7/10*exp(3)")
    middle, radius = map(Fraction, re.fullmatch(r"margin = (\S+) ± (\S+), at \d+ bits", line).groups())
    low, high = map(Fraction, proof["margin"])
    assert proof["kind"] == "constant" and 0 < middle - radius <= low <= high <= middle + radius


def test_a_long_margin_is_not_written_out():
    line = f"0 <= {' + '.join(f'x**{i}*y**{j}' for i in range(9) for j in range(9))} for x > 0, y > 0"
    assert told(line)[1] == ["margin: too long to be written out; in slacks it has no negative coefficient"]


def test_each_kind_has_a_meaning():
    firsts = {line: told(line, explain=True) for line in [*LINES, "log(1 + x) <= x for x > 0", "2 < exp(1)"]}
    assert {proof["kind"] for proof, _, _ in firsts.values()} == set(KINDS)


@pytest.mark.parametrize("line", LINES)
def test_prove_prints_and_typesets_the_lines(line, cli):
    _, lines, _ = told(line)
    assert list(verify.prove(line).deductions["claim"]) == lines
    code, out, _ = cli("prove", line, "--format", "latex", "--explain")
    assert code == 0 and list(faults_of_document(out)) == []
    assert "textless{}" not in out and "** " not in out
