"""A statement in a line: domains, hypotheses, claims, and refusals."""

from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify.errors import InputError
from verify.language.lines.expressions import LONGEST
from verify.language.lines.statements import is_line, read_line, relation


def test_the_parts_of_a_line():
    said = read_line("a <= b**n and b < 2*a if a >= c, c == 1 for b > 0, 0 <= a < 3, integer n >= 2, c real")
    a, b = sp.Symbol("a", nonnegative=True), sp.Symbol("b", positive=True)
    n, c = sp.Symbol("n", integer=True, positive=True), sp.Symbol("c", real=True)
    assert said.claims == (sp.Le(a, b**n, evaluate=False), sp.Lt(b, 2 * a, evaluate=False))
    assert said.hypotheses == (sp.Ge(a, c, evaluate=False), sp.Eq(c, 1, evaluate=False))
    ends = [(each.name, each.kind, each.minimum, each.above, each.below) for each in said.parameters]
    assert ends == [
        ("a", "rational", 0, None, 3),
        ("b", "rational", None, 0, None),
        ("n", "integer", 2, None, None),
        ("c", "rational", None, None, None),
    ]


@pytest.mark.parametrize(
    ("domain", "lower", "upper"),
    [
        ("x > -1/2", (Fraction(-1, 2), "above"), None),
        ("0.5 <= x", (Fraction(1, 2), "minimum"), None),
        ("1 > x", None, "below"),
        ("x <= 1", None, "maximum"),
        ("1 > x >= -2", (Fraction(-2), "minimum"), "below"),
        ("real x < 1", None, "below"),
        ("x < 1 real", None, "below"),
    ],
)
def test_ends_of_a_domain(domain, lower, upper):
    said = read_line(f"x <= x + 1 for {domain}")
    (parameter,) = said.parameters
    ends = {name: getattr(parameter, name) for name in ("minimum", "above", "maximum", "below")}
    expected = dict([(lower[1], lower[0])] if lower else []) | ({upper: 1} if upper else {})
    assert {name: end for name, end in ends.items() if end is not None} == expected


def test_python_names_of_functions_are_read():
    assert read_line("max(x, y) >= min(x, abs(y))").claims == read_line("Max(x, y) >= Min(x, Abs(y))").claims
    assert read_line("arctan(x) <= 2 + ln(2)").claims == read_line("atan(x) <= 2 + log(2)").claims


def test_signs_of_mathematics_are_read():
    assert read_line("x**2 − y·z ≤ 1 for x ≥ 0") == read_line("x**2 - y*z <= 1 for x >= 0") and is_line("x ≤ 1")
    x = sp.Symbol("x", real=True)
    assert relation("x**3 ≥ −1", x) == sp.Ge(x**3, -1, evaluate=False)


def test_a_relation_stays_as_it_is_typed():
    n, x = sp.Symbol("n", nonnegative=True), sp.Symbol("x", real=True)
    assert relation("n >= 0", n) == sp.Ge(n, 0, evaluate=False)
    assert relation("x**2 + 1 > x", n, x) == sp.Gt(x**2 + 1, x, evaluate=False)
    with pytest.raises(InputError, match="column 6: y is not introduced; known: x"):
        relation("x <= y", x)
    with pytest.raises(InputError, match="has 2 comparisons: write a relation for each"):
        relation("0 <= x <= 1", x)
    with pytest.raises(InputError, match="column 1: a relation is needed here"):
        relation("x + 1", x)
    with pytest.raises(InputError, match="has 2001 characters, and may have 2000"):
        relation("x" * 2001, x)
    with pytest.raises(InputError, match="one line of printable characters"):
        relation("x <=\n1", x)
    with pytest.raises(InputError, match="relation = 3: must be text"):
        relation(3, x)
    for symbols in (["x"], [x, sp.Symbol("x", positive=True)]):
        with pytest.raises(InputError, match="relation = x: must be one symbol for each name"):
            relation("x <= 1", *symbols)


def test_names_before_a_domain_have_it_too():
    assert read_line("x*y <= z for x, y > 0, z real") == read_line("x*y <= z for x > 0, y > 0, z real")


@pytest.mark.parametrize(
    ("group", "each"),
    [
        ("integers n, m >= 1", "integer n >= 1, integer m >= 1"),
        ("integers n, m", "integer n, integer m"),
        ("integers n, 0 < m < 5", "integer n, integer 0 < m < 5"),
        ("integers n, real m", "integer n, real m"),
        ("reals n, m > 0", "n > 0, m > 0"),
        ("any n, m", "real n, real m"),
        ("any n, 0 <= m <= 1", "n real, 0 <= m <= 1"),
        ("all n, m > 0", "n > 0, m > 0"),
        ("every n, integers m", "real n, integer m"),
        ("all -1 <= n, any", "-1 <= n, real any"),
        ("integer n, n <= m", "integer n, n <= m, real m"),
    ],
)
def test_a_word_in_the_plural_is_about_the_names_up_to_an_end(group, each):
    line = "n*any >= 1" if "any" in each else "n*m >= 1"
    assert read_line(f"{line} for {group}") == read_line(f"{line} for {each}")


def test_a_name_may_be_a_word_of_a_group():
    assert [each.domain for each in read_line("all*x > 0 for all > 0, x > 0").parameters] == ["number > 0"] * 2


def test_other_relations_among_the_domains_are_hypotheses():
    said = read_line("x <= L if x < 2 for 0 < m <= L, x >= m, 0 <= x <= pi/2")
    m, x, L = sp.Symbol("m", positive=True), sp.Symbol("x", nonnegative=True), sp.Symbol("L", real=True)
    assert said.hypotheses == (x < 2, m <= L, sp.Ge(x, m, evaluate=False), sp.Le(x, sp.pi / 2))
    assert [each.domain for each in said.parameters] == ["number >= 0", "number", "number > 0"]


def test_hypotheses_may_come_after_domains():
    assert read_line("x < y for x > 0 if x + 1 < y") == read_line("x < y if x + 1 < y for x > 0")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "column 1: an expression is missing"),
        ("x > 1 if", "column 9: an expression is missing"),
        ("x > 1 for", "column 10: an expression is missing"),
        ("x > 1 if x > 2 if x > 3", "column 16: a second 'if'"),
        ("x > 1 for x", "column 11: x has no domain; a domain is written"),
        ("x > y for x, y", "column 11: x has no domain; a domain is written"),
        ("x > y for x, integer y >= 1", "column 11: x has no domain"),
        ("x > y for x, y > x", "column 14: a domain is written"),
        ("x > y for integer x <= y", "column 19: a domain is written"),
        ("x > y for x > 0, x, y > 1", "column 21: x has a second domain"),
        ("2x <= 3", "a product is written 2*x"),
        ("x >= 0 where x > 0", "hypotheses follow `if`, and domains `for`"),
        ("|x| <= 1", "an absolute value is written abs(x)"),
        ("x_{t+1} <= x_t", "formulas are written as in Python"),
        ("x + y = 1", "equality is written =="),
        ("x => 0", "comparisons are <, <=, >, >= and =="),
        ("x² >= 0", "a power is written x**2"),
        ("lambda_*x >= 2x", "a product is written 2*x"),
        ("x > 0 for 1 < 2", "column 11: a domain is written"),
        ("n! <= n**n", "a factorial is written factorial(n)"),
        ("lambda <= 1", "lambda is a word of Python and cannot be a name: write lambda_"),
        ("x < oo", "column 5: oo belongs in a limit alone"),
        (
            "Sum(x**k, (k, 0, oo)) < 9",
            "oo belongs in a limit alone: a sum without end is Limit(Sum(f, (k, a, n)), n, oo)",
        ),
        ("x > 1 for 0 < x, x < 3", "column 18: x has a second domain"),
        ("x > 1 for 0 < x > 1", "column 11: a domain is written"),
        ("x > 1 for x == 2", "column 11: a domain has ends"),
        ("x > 1 for integer x real", "column 19: a number is real or an integer"),
        ("n*m > 0 for integer n, m >= 1", "column 24: after integer n, m needs a kind too: integer or real"),
        ("n*m > 0 for x > 1, integer n, m", "column 31: after integer n, m needs a kind"),
        ("n*m > 0 for integers n, m >= 1, x > 1", "column 33: after integer m, x needs a kind"),
        ("n*m > 0 for every real n, m > 1", "column 27: after real n, m needs a kind"),
        ("n*m > 0 for n, m integer, x > 0", "column 16: a domain is written"),
        ("n*m > 0 for any n, m integer", "column 20: a domain is written"),
        ("n*m > 0 for n, integers m >= 1", "column 13: n has no domain"),
        ("n*m > 0 for any n, n, integer m", "column 20: n has a second domain"),
        ("x > 1 for y > 0", "y has a domain, and is in no claim"),
        ("x > z > 1 if w**2 for x > 0", "column 14: a relation is needed"),
        ("x > 1\n", "must be one line of printable characters"),
        ("x > " + "1" * LONGEST, f"has {LONGEST + 4} characters, and may have {LONGEST}"),
    ],
)
def test_a_malformed_line_is_refused(line, why):
    with pytest.raises(verify.InputError) as caught:
        read_line(line)
    assert why in caught.value.requirement


def test_ids_and_files_are_no_lines():
    assert [is_line(each) for each in ("wang2024.theorem1", "my_lemma.py:young", "x > 1", "x == 1")] == [0, 0, 1, 1]


def test_a_recursion_is_what_its_states_are_after_t_steps():
    said = read_line("x <= c*y along x -> x/2 + t from a, y -> Max(x, y) from b + 1 if a <= b for c > 0")
    ends = [(each.name, each.kind, each.minimum) for each in said.parameters]
    assert ends == [(name, "rational", None) for name in "cab"] + [("t", "integer", 0)]
    x, y = sp.symbols("x y", real=True)
    before, other = sp.symbols("x_before y_before", real=True)
    a, b = sp.symbols("a b", real=True)
    counter, steps = (sp.Symbol(name, integer=True, nonnegative=True) for name in ("t_before", "t"))
    bound = (counter, before, other)
    parts = (steps, bound, (a, b + 1), (before / 2 + counter, sp.Max(before, other)))
    assert said.states == {x: verify.Iterate(0, *parts), y: verify.Iterate(1, *parts)}
    assert said.claims == (sp.Le(x, sp.Symbol("c", positive=True) * y, evaluate=False),)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x <= 1 along", "column 13: a recursion is written x -> x/2 from 1"),
        ("x <= 1 along x -> x/2", "column 13: a recursion is written"),
        ("x <= 1 along x from 1", "column 13: a recursion is written"),
        ("x <= 1 along x -> from 1", "column 18: an expression is missing"),
        ("x <= 1 along x -> x/2 from", "column 27: an expression is missing"),
        ("x <= 1 along x -> x/2 from 1, x -> x from 1", "column 30: x is no new name for a state"),
        ("x <= 1 along t -> t/2 from 1", "column 13: t is no new name for a state"),
        ("x <= 1 along Max -> 1 from 1", "column 13: Max is no new name for a state"),
        ("x <= 1 along x -> x/2 from 1 for x > 0", "x belongs to the recursion, and cannot have a domain"),
        ("x <= 1 along x -> x/2 from 1 for integer t >= 2", "t belongs to the recursion, and cannot have a domain"),
        ("x <= 1 along x -> x/2 from t", "column 28: t belongs to the recursion, and has no value here"),
        ("x <= 1 along x -> x/2 from 1 if x > 2", "column 33: x belongs to the recursion, and has no value here"),
        ("x <= x_before along x -> x/2 from 1", "column 6: x_before is a name that a recursion takes"),
        ("x <= 1 along x -> x^2 from 1", "column 19: a power is written **"),
        ("x <= 1 along x -> x from 1 along y -> y from 1", "column 28: a second 'along'"),
    ],
)
def test_a_malformed_recursion_is_refused_with_its_column(line, why):
    with pytest.raises(verify.InputError) as caught:
        read_line(line)
    assert why in caught.value.requirement


def test_commas_separate_outside_parentheses_alone():
    said = read_line("x <= y if Max(x, y) <= 1, Sum(k, (k, 1, 2)) <= y for 0 <= x <= 1, y >= 0")
    assert len(said.hypotheses) == 2 and said.parameters[0].maximum == 1
    said = read_line("x <= 2 along x -> Min(x, 1) from 1, y -> Piecewise((x, x < 1), (y, True)) from Max(1, 2)")
    assert len(said.states) == 2
