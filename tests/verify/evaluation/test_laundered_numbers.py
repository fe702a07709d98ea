"""Numbers that left the engine's arithmetic, or were never in it, lead to no certified or proved clause."""

import pytest

from tests.verify.command_line import assert_one_line, body_of

LAUNDERED = {
    "a Fraction of a float in a primitive": "return p + Fraction(0.1)",
    "a float constant": "return p * 0.1",
    "a Fraction of the float of a number": "return arithmetic.rational(1) * Fraction(float(p))",
    "float of a number": "return arithmetic.rational(int(float(p) * 10), 10)",
    "int of a number": "return arithmetic.rational(int(p))",
    "round of a number": "return arithmetic.rational(round(p))",
    "a float returned": "return 0.5",
    "a Fraction returned": "return Fraction(1, 2)",
    "an int returned": "return 1",
    "nothing returned": "pass",
    "math.exp": "return arithmetic.rational(1) * math.exp(p)",
    "the ratio of a float": "return p * arithmetic.rational(*(0.1).as_integer_ratio())",
    "numpy": "import numpy as np\n    return np.exp(p)",
    "a number saved from another arithmetic": "SAVED.append(p)\n    return p + SAVED[0] - SAVED[0]",
    "a number of another arithmetic returned": "SAVED.append(p)\n    return SAVED[0]",
}
PRIMITIVE = """
SAVED = []


@primitive(1)
def laundered(arithmetic, p):
    {body}


mine = theorem_of(Inequality("c", sp.Gt(sp.sqrt(1 + laundered(x)), sp.Rational(1, 100))))
"""


@pytest.mark.parametrize("what", LAUNDERED)
def test_a_laundered_number_is_never_certified(cli, theorem_file, what):
    path = theorem_file(PRIMITIVE.format(body=LAUNDERED[what]))
    code, out, err = cli("check", path, "x=2", "--json")
    # NumPy sees the number before the guard does, and raises its own error.
    assert code == 2 or (what == "numpy" and code == 70)
    assert out == "" and err.count("\n") == 1
    assert any(word in err for word in ("arithmetic", "float", "Number", "rational"))


def test_an_honest_primitive_is_computed_as_the_re_checker_does_not_know_it(cli, theorem_file):
    path = theorem_file(PRIMITIVE.format(body="return p * arithmetic.rational(1, 10)"))
    code, out, _ = cli("check", path, "x=2", "--json")
    body = body_of(out)
    assert (code, body["evidence"], body["clauses"][0]["rechecked"]) == (0, "computed", False)
    assert "'laundered/1' is not known" in body["clauses"][0]["unchecked"]


@pytest.mark.parametrize(
    "statement",
    [
        "sp.Gt(x, sp.Float('0.1'))",
        "sp.Gt(x, 0.1)",
        "sp.Gt(0.1 * x, 1)",
        "sp.Gt(x, sp.Rational(0.1))",
        "sp.Gt(x, Fraction(0.1))",
        "sp.Gt(x ** 0.5, 1)",
        "sp.Gt(x, math.exp(1))",
        "sp.Gt(x, sp.pi.evalf())",
        "sp.Gt(x, sp.nsimplify(sp.Float(1) / 3) + sp.Float(0))",
    ],
)
def test_a_float_in_a_statement_is_an_error_of_the_file(cli, theorem_file, statement):
    path = theorem_file(f'mine = theorem_of(Inequality("c", {statement}))\n')
    assert_one_line(cli("check", path, "x=2"), "line ", "float")
