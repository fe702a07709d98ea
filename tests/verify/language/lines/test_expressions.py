"""Expressions in text: some are read, others are refused with the column; no text is run."""

import pytest
import sympy as sp

import verify
from verify.language.definedness import Provided, rebuilt
from verify.language.lines.expressions import LONGEST, Part, expression, names_in, relations

x, y = sp.symbols("x y", real=True)
SYMBOLS = {"x": x, "y": y, "p": sp.Symbol("p", positive=True)}


def part(text):
    return Part(f"1 < 2 and {text}", text, 11)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x", x),
        ("-x + 2*y", 2 * y - x),
        ("x**2/3", x**2 / 3),
        ("(x - y)**-1", 1 / (x - y)),
        ("exp(log(p) + 1)", sp.E * sp.Symbol("p", positive=True)),
        ("sqrt(x)*E", sp.sqrt(x) * sp.E),
        # A decimal is the exact number that is written, and not a binary fraction.
        ("0.1", sp.Rational(1, 10)),
        (".5e-3", sp.Rational(1, 2000)),
        ("1e400", sp.Integer(10) ** 400),
        ("12_000", sp.Integer(12000)),
        ("2**0.5", sp.sqrt(2)),
        ("2**3**2", sp.Integer(512)),
        # Long powers, which have at most 1200 digits.
        ("10**999", sp.Integer(10) ** 999),
        ("7**-1400", sp.Integer(7) ** -1400),
        ("9*10**1199", 9 * sp.Integer(10) ** 1199),
        ("(-1)**(10**999)", sp.S.One),
        # A positive factor may cancel.
        ("p/p + sqrt(p)**2", 1 + sp.Symbol("p", positive=True)),
    ],
)
def test_expressions(text, value):
    assert expression(part(text), SYMBOLS) == value


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("", 11, "an expression is missing"),
        ("x +", 13, "invalid syntax"),
        ("x + z", 15, "z is not introduced"),
        ("x^2", 11, "a power is written **"),
        ("x + y % 2", 15, "the remainder of x by y is x - y*floor(x/y)"),
        ("x // y", 11, "write floor(x/y)"),
        ("x if x < y else y", 11, "write Piecewise((value, condition), …, (value, True))"),
        ("1 + asin(x)", 15, "asin is no function of the language; did you mean sin or sinh? `verify language` lists"),
        ("1 + zeta(x)", 15, "zeta is no function of the language; it has exp, log, sqrt, abs, sign, Max, Min"),
        ("1 + zeta(x)", 15, ", … (22 in all); `verify language` lists all"),
        ("exp(x, y)", 11, "write exp(x): exp has 2 arguments here"),
        ("Max(x)", 11, "write Max(x, y, ...): Max has 1 argument here"),
        ("factorial(1/2)", 11, "a number in it must be an integer up to 500"),
        ("factorial(501)", 11, "a number in it must be an integer up to 500"),
        ("binomial(-1, 0)", 11, "binomial(-1, 0) has no value"),
        ("tan(pi/2)", 11, "tan(pi/2) has no real value"),
        ("tan(x) - tan(x)", 11, "cancels"),
        ("Sum(x, (k, 1))", 11, "write Sum(f, (k, a, b))"),
        ("Sum(x, (x, 1, 2))", 19, "x has another meaning"),
        ("Sum(k, (k, 1, k))", 25, "k is not introduced"),
        ("Sum(Sum(k, (k, 1, 2)), (k, 1, 2))", 23, "k has another meaning"),
        ("Limit(x, 1, oo)", 11, "write Limit(f, x, a)"),
        ("Limit(n*x, x, oo)", 22, "x has another meaning"),
        ("Limit(oo, n, 1)", 17, "oo is not introduced"),
        ("Piecewise((x, x < 1), (y, x >= 1))", 37, "the last piece, and no other, has the condition True"),
        ("Piecewise((x, True), (y, True))", 25, "the last piece, and no other, has the condition True"),
        ("Piecewise((x, 0 < x < 1), (y, True))", 25, "a condition is one comparison"),
        ("Piecewise(x, (y, True))", 21, "write Piecewise((f, x < 0), ..., (g, True))"),
        ("exp(x=y)", 11, "outside the language"),
        ("x/(1 - 1)", 11, "x/(1 - 1) has no real value"),
        ("0**-1", 11, "0**-1 has no real value"),
        ("1 + (-2)**0.5", 15, "(-2)**0.5 has no real value"),
        ("sqrt(1 - 2)", 11, "sqrt(1 - 2) has no real value"),
        ("1 + x/x", 15, "x/x cancels, and may have no value at some x"),
        ("(x + y)*x**-1*x", 11, "cancels"),
        ("1/y - 1/y", 11, "cancels, and may have no value at some y"),
        ("sqrt(x)**2", 11, "cancels"),
        ("log(x) - log(x)", 11, "cancels"),
        ("exp(log(x) + 1)", 11, "cancels"),
        ("x*log(0)", 13, "log(0) has no real value"),
        ("1e401", 11, "decimal exponents are limited to ±400"),
        ("2**10**10", 11, "more than 1200 digits"),
        ("10**1200", 11, "more than 1200 digits"),
        ("(2/10**300)**-5.5", 11, "more than 1200 digits"),
        ("(10**700)*10**700", 11, "more than 1200 digits"),
        ("'x'", 11, "this is no number"),
        ("True", 11, "this is no number"),
        ("1j", 11, "this is no number"),
        ("x.real", 11, "outside the language"),
        ("x[0]", 11, "outside the language"),
        ("(x := 1)", 12, "outside the language"),
        ("[x for x in y]", 11, "outside the language"),
        ("f'{x}'", 11, "outside the language"),
        ("(lambda: x)()", 11, "outside the language"),
        ("__import__('os').system('true')", 11, "outside the language"),
        ("__import__('os')", 11, "__import__ is no function of the language"),
        # The column counts characters, some of which have several bytes.
        ("exp('é') + z", 15, "this is no number"),
        ("é + z", 11, "é is not introduced"),
        ("-" * 200 + "x", 11, "more than 150 deep"),
        ("(" * 300 + "x" + ")" * 300, 210, "too many nested parentheses"),
        ("9" * 61 + "**0.5", 11, "a number under a root has more than 60 digits"),
    ],
)
def test_a_refused_part_is_named_with_its_column(text, column, why):
    with pytest.raises(verify.InputError) as caught:
        expression(part(text), SYMBOLS)
    assert caught.value.requirement.startswith(f"column {column}: ") and why in caught.value.requirement


def test_relations_are_kept_as_they_are_typed():
    chain = relations(part("0 <= x < 1 and x == x"), SYMBOLS)
    assert [type(each) for each in chain] == [sp.Le, sp.Lt, sp.Eq]
    assert [each.args for each in chain] == [(0, x), (x, 1), (x, x)]
    assert [str(each) for each in relations(part("x > 1, y >= x"), SYMBOLS)] == ["x > 1", "y >= x"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "a relation is needed here"),
        ("x != y", "an inequation has no sign"),
        ("x in y", "relations are <, <=, >, >= and =="),
        ("x < 1 or x > 2", "alternatives are outside"),
        ("not x < 1", "write the opposite relation"),
        ("(x < 1) < 2", "outside the language"),
    ],
)
def test_text_that_is_no_relation_is_refused(text, why):
    with pytest.raises(verify.InputError, match=why):
        relations(part(text), SYMBOLS)


def test_names_stand_where_they_are_used_first():
    assert names_in(part("y + exp(x)*E <= y")) == [("y", 11), ("x", 19), ("y", 27)]
    with pytest.raises(verify.InputError, match=r"exp is a function: write exp\(…\)"):
        names_in(part("exp <= 1"))


def test_a_bound_name_is_none_of_the_statement():
    assert names_in(part("Sum(k*x, (k, 1, y)) + pi")) == [("x", 17), ("y", 27)]
    assert names_in(part("Sum(k, (k, 1, 2))*k")) == [("k", 29)]
    assert names_in(part("Limit(n*x, n, oo)")) == [("x", 19)]


def test_a_function_that_sympy_rewrites_keeps_its_needs():
    symbols = {"n": sp.Symbol("n", integer=True), "x": x}
    kept = expression(part("abs(x**n)"), symbols)
    assert isinstance(kept, sp.Abs) and isinstance(rebuilt(kept), Provided)
    with pytest.raises(verify.InputError, match=r"binomial\(n, 0\) cancels, and may have no value at some n"):
        expression(part("binomial(n, 0)"), symbols)
    assert expression(part("binomial(n, 0)"), {"n": sp.Symbol("n", integer=True, positive=True)}) == 1


def test_no_line_takes_long():
    # The worst texts of admitted length: SymPy multiplies out, takes roots or compares.
    for text in ("*".join(["(x + y)"] * 140), "+".join(["x"] * 140), f"{'9' * 60}**0.5", "x**y" + "**x" * 100):
        assert len(text) <= LONGEST
        expression(part(text), SYMBOLS)
