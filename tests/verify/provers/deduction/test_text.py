"""A deduction in words: each line of a sum is an equation that holds, and each rule has its lines."""

import pytest
import sympy as sp

import verify
from verify.claims.line import statement_of
from verify.provers.deduction.search import deduction_proof
from verify.provers.deduction.text import lines_of

WORK = 20_000


def told(line):
    statement = statement_of(line)
    (claim,) = statement.claims
    proof = deduction_proof(claim.relation, statement, WORK, hypotheses=True)
    return lines_of(proof, statement), claim.relation


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
        ("x <= abs(x)", ["if x >= 0:", "  margin = 0", "if x < 0:", "  margin = 2*(-x)"]),
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
    ],
)
def test_each_rule_has_its_lines(line, said):
    assert told(line)[0] == said


def test_prove_prints_them_under_the_clause():
    shown = str(verify.prove("2*x*y <= x**2 + y**2")).splitlines()
    assert shown[2:4] == ["  proved by deduction  claim: 2*x*y <= x**2 + y**2", "      margin = (x - y)**2"]


def test_a_rule_that_there_is_not_is_an_error():
    with pytest.raises(KeyError):
        lines_of({"relations": [], "tree": {"rule": "magic"}}, statement_of("x <= x + 1"))
