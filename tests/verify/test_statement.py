"""Statements and theorems: what is not well formed is refused when it is written."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from verify import (
    Dynamics,
    Hypothesis,
    Identity,
    Inequality,
    Outcome,
    Paper,
    Parameter,
    Reaches,
    Source,
    Statement,
    Theorem,
    TheoremError,
)

x, y, w, v = sp.symbols("x y w v", real=True)
X = Parameter("x", "rational", "x")
CLAUSE = Inequality("c", sp.Lt(x, 2))


def test_a_statement_needs_a_clause():
    with pytest.raises(TheoremError, match="at least one clause"):
        Statement((X,), ())


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"parameters": (X, X)}, "parameter x"),
        ({"clauses": (CLAUSE, Inequality("c", sp.Gt(x, 1)))}, "clause c"),
        ({"hypotheses": (Hypothesis("h", sp.Lt(x, 1)), Hypothesis("h", text="a sentence"))}, "hypothesis h"),
    ],
)
def test_labels_are_used_once(parts, what):
    with pytest.raises(TheoremError, match=f"{what}: named twice"):
        Statement(**{"parameters": (X,), "clauses": (CLAUSE,), **parts})


@pytest.mark.parametrize(
    ("parts", "where"),
    [
        ({"clauses": (Inequality("c", sp.Lt(x, y)),)}, "clause c uses y"),
        ({"clauses": (Identity("i", x + y, w),)}, "clause i uses (w, y|y|w)"),
        ({"hypotheses": (Hypothesis("h", sp.Lt(y, 1)),)}, "a hypothesis uses y"),
        ({"hypotheses": (Hypothesis("h", sp.Lt(w, 1)),), "variables": (w,)}, "a hypothesis uses w"),
        ({"domain": (sp.Lt(y, 1),)}, "a hypothesis uses y"),
        ({"definitions": {w: y + 1}}, "definition w uses y"),
        ({"definitions": {w: v + 1, v: x}}, "definition w uses v"),
        ({"definitions": {w: w + 1}}, "definition w uses w"),
        ({"clauses": (Reaches("r", Dynamics((y,), (x,), (y * w,), y), x),)}, "clause r uses w"),
    ],
)
def test_a_symbol_that_is_not_introduced_is_named(parts, where):
    with pytest.raises(TheoremError, match=f"{where}.*, which the statement does not introduce"):
        Statement(**{"parameters": (X,), "clauses": (CLAUSE,), **parts})


@pytest.mark.parametrize(
    "parts",
    [
        {"clauses": (Inequality("c", sp.Lt(0.5 * x, 2)),)},
        {"clauses": (Inequality("c", sp.Lt(sp.Rational(0.1) * x, 2)),)},
        {"clauses": (Inequality("c", sp.Lt(x, sp.sympify(Fraction(0.1)))),)},
        {"clauses": (Inequality("c", sp.Lt(sp.sin(x), 2)),)},
        {"clauses": (Identity("i", x, sp.Float(1)),)},
        {"hypotheses": (Hypothesis("h", sp.Lt(x, 0.5)),)},
        {"domain": (sp.Lt(x, 0.5),)},
        {"definitions": {w: 0.5 * x}},
        {"clauses": (Reaches("r", Dynamics((y,), (sp.Integer(1),), (y * 0.5,), y), x),)},
        {"clauses": (Reaches("r", Dynamics((y,), (sp.Integer(1),), (y / 2,), y), 0.5 * x),)},
    ],
)
def test_what_is_outside_the_language_is_refused_when_it_is_written(parts):
    with pytest.raises(TheoremError, match=r"outside the language|float's expansion"):
        Statement(**{"parameters": (X,), "clauses": (CLAUSE,), **parts})


def test_a_definition_may_not_take_the_name_of_a_parameter():
    # It would replace the parameter: x > 100 would be verified at x = 1, as 1000 > 100.
    with pytest.raises(TheoremError):
        Statement((X,), (Inequality("c", sp.Gt(x, 100)),), definitions={x: sp.Integer(1000)})


@pytest.mark.parametrize(
    ("clause", "more"),
    [
        (Inequality("c", sp.Lt(sp.Symbol("x") + x, 2)), {}),
        (Identity("i", sp.Symbol("w"), 2 * x), {"definitions": {w: 2 * x}}),
    ],
)
def test_one_name_is_one_symbol(clause, more):
    # SymPy takes symbols of one name and different assumptions for two: as such, the second claim, which is true,
    # would be refuted with a value of w.
    try:
        statement = Statement((X,), (clause,), **more)
    except TheoremError:
        return
    result = Theorem("u", "u", Source("1", "derived here"), statement, {}).check(x=Fraction(1, 2))
    assert result.outcome is Outcome.VERIFIED


def test_a_symbol_does_not_assume_more_than_its_parameter():
    # SymPy writes √(x²) + 1 as x + 1 at once for a positive x; the true claim would be refuted at x = −3.
    positive = sp.Symbol("x", positive=True)
    try:
        statement = Statement((X,), (Inequality("c", sp.Gt(sp.sqrt(positive**2) + 1, 0, evaluate=False)),))
    except TheoremError:
        return
    result = Theorem("u", "u", Source("1", "derived here"), statement, {}).check(x=-3)
    assert result.outcome is Outcome.VERIFIED


def test_a_level_does_not_use_the_state():
    with pytest.raises(TheoremError):
        Statement((X,), (Reaches("r", Dynamics((y,), (sp.Integer(3),), (y / 2,), y), y),))


def test_hypotheses_have_a_relation_or_a_text():
    with pytest.raises(TheoremError, match="needs a relation or a text"):
        Hypothesis("h")
    for relation in (sp.true, sp.Ne(x, 1), x):
        with pytest.raises(TheoremError, match="is not a relation between expressions"):
            Hypothesis("h", relation)
    assert Hypothesis("h", text="a sentence").kind == "structural"
    assert Hypothesis("h", sp.Lt(x, 1)).kind == "parametric"
    assert Hypothesis("h", sp.Lt(x, 1)).statement == "x < 1"
    assert Hypothesis("h", sp.Lt(x, 1), "as printed").statement == "as printed"


@pytest.mark.parametrize(
    ("relation", "slack"),
    [(sp.Lt(x, 3), 3 - x), (sp.Le(x, 3), 3 - x), (sp.Gt(x, 3), x - 3), (sp.Ge(x, 3), x - 3)],
)
def test_slack_is_positive_inside(relation, slack):
    assert Hypothesis("h", relation).slack == slack
    assert Hypothesis("h", relation).slack.subs(x, 3) == 0


def test_the_slack_of_an_equation_is_never_positive():
    slack = Hypothesis("h", sp.Eq(x, 3)).slack
    assert [slack.subs(x, value) for value in (2, 3, 5)] == [-1, 0, -2]


def test_definitions_are_expanded_from_the_last_to_the_first():
    statement = Statement((X,), (CLAUSE,), definitions={w: x + 1, v: w**2 + x})
    assert statement.expand(v * w) == ((x + 1) ** 2 + x) * (x + 1)
    assert statement.expand(x) == x


def test_statements_are_equal_by_their_digest():
    first, second = (Statement((X,), (Inequality("c", sp.Lt(x, 2)),)) for _ in range(2))
    assert first == second and hash(first) == hash(second) and first.digest == second.digest
    assert len(first.digest) == 64 and int(first.digest, 16) >= 0
    assert replace(first, clauses=(Inequality("c", sp.Lt(x, 3)),)).digest != first.digest


def test_a_source_is_written_out():
    paper = Paper("key", "A, B, Title, 2024", "2401.00001")
    assert str(Source("Theorem 1", "printed", paper)) == "A, B, Title, 2024, arXiv 2401.00001, Theorem 1 (printed)"
    assert str(Source("Lemma 2", "derived here", note="informally")) == "Lemma 2 (derived here: informally)"


def test_the_verbs_of_a_theorem(make_theorem):
    theorem = make_theorem(CLAUSE, hypotheses=(Hypothesis("h", sp.Gt(x, 0)),))
    assert theorem.check(x=1, seconds=5, digits=9, seed=4).outcome is Outcome.VERIFIED
    assert theorem.conditions(x=-1).in_scope is False
    weaker = theorem.variant(Statement((X,), (Inequality("c", sp.Lt(x, 1)),)))
    assert weaker.check(x=1).outcome is Outcome.REFUTED and weaker.id == theorem.id
    assert theorem.check(x=1).outcome is Outcome.VERIFIED
