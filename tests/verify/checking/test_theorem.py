"""Theorems: an ill-formed part is refused when the theorem is made, in one line that says what to do."""

from dataclasses import replace

import pytest
import sympy as sp

from tests.verify.command_line import assert_one_line
from verify import (
    Canary,
    Case,
    ClauseValue,
    Hypothesis,
    Identity,
    Inequality,
    InWords,
    Paper,
    Parameter,
    Source,
    Statement,
    Theorem,
    TheoremError,
)
from verify.checking.theorem import unused_hypotheses

x, y = sp.symbols("x y", positive=True)
PARAMETERS = tuple(Parameter(name, "rational", "a size", above=0) for name in "xy")
CLAUSE = Inequality("small", sp.Le(x, 3))
WORD = Parameter("noise", "word", "the noise", words=("gaussian", "uniform"))


def theorem(**more):
    given = {
        "id": "user.t",
        "title": "t",
        "source": Source("1", "derived here"),
        "statement": Statement(PARAMETERS, (CLAUSE,)),
        "example": {"x": 1, "y": 2},
    }
    return Theorem(**(given | more))


def test_a_whole_one_is_made():
    made = theorem(proofs={"small": 1}, values={"steps": ClauseValue("small", "steps")})
    assert made.example == {"x": 1, "y": 2} and not made.is_variant


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"example": {"x": 1}}, "example: y missing; it must give a value for each parameter"),
        ({"example": {}}, "example: x, y missing"),
        ({"example": {"x": 1, "y": 0}}, "example: y = 0: must be a number .* > 0"),
        ({"example": {"x": 1, "y": 1, "Z": 1}}, "example: Z is not a parameter; known: x, y"),
        ({"example": {"X": 1, "y": 1}}, r"example: X is not a parameter; did you mean x\?"),
        ({"example": None}, "example: is a NoneType, where a Mapping is needed"),
        ({"source": "Lemma 4"}, "source: is a str, where a Source is needed, such as Source"),
        ({"statement": CLAUSE}, "statement: is a Inequality, where a Statement is needed"),
        ({"proofs": {"smal": 1}}, r"proofs: there is no clause smal; did you mean small\?"),
        ({"values": {"v": ClauseValue("other", "steps")}}, "value v: there is no clause other; known: small"),
    ],
)
def test_incomplete_or_superfluous_parts_are_refused(parts, said):
    with pytest.raises(TheoremError, match=said):
        theorem(**parts)


def test_a_default_and_a_word_may_be_left_out():
    defaulted = Parameter("z", "rational", "a size", default=x + 1)
    statement = Statement((PARAMETERS[0], WORD, defaulted), (CLAUSE,))
    assert theorem(statement=statement, example={"x": 1}).statement is statement


@pytest.mark.parametrize(
    ("hypotheses", "unused"),
    [
        ([Hypothesis("low", sp.Le(x, 1))], []),
        ([Hypothesis("low", sp.Le(y, 1))], ["low"]),
        # The hypothesis on y matters: y is a bound of x, and the clause is about x.
        ([Hypothesis("low", sp.Le(y, 1)), Hypothesis("below", sp.Le(x, y))], []),
        ([Hypothesis("text", text="of anything")], []),
        ([Hypothesis("noise", text="the noise is Gaussian", varies=WORD)], ["noise"]),
    ],
)
def test_a_hypothesis_on_what_nothing_depends_on_is_refused(hypotheses, unused):
    statement = Statement((*PARAMETERS, WORD), (CLAUSE,), tuple(hypotheses))
    assert [hypothesis.label for hypothesis in unused_hypotheses(statement)] == unused
    if unused:
        with pytest.raises(TheoremError, match=f"hypothesis {unused[0]}: none of its parameters appears in a claim"):
            theorem(statement=statement)
    # A claim in words may be about anything.
    said = replace(statement, claims=(CLAUSE, InWords("said", "for all y")))
    assert unused_hypotheses(said) == [] and theorem(statement=said).statement is said


def test_hypothesis_that_varies_a_word_of_a_case_is_used():
    chosen = Inequality("small", sp.Le(x, Case(sp.Symbol("noise"), 3, 4), evaluate=False))
    varied = Hypothesis("noise", text="the noise is Gaussian", varies=WORD)
    assert unused_hypotheses(Statement((*PARAMETERS, WORD), (chosen,), (varied,))) == []


def test_a_variant_may_have_labels_left_over():
    large = Inequality("large", sp.Ge(y, 1))
    made = theorem(
        statement=Statement(PARAMETERS, (CLAUSE, large), (Hypothesis("low", sp.Le(y, 1)),)), proofs={"large": 1}
    )
    variant = made.variant(made.statement.alone(CLAUSE))
    assert variant.is_variant and variant.proofs == made.proofs
    with pytest.raises(TheoremError, match="proofs: there is no clause large"):
        replace(made, statement=made.statement.alone(CLAUSE))


@pytest.mark.parametrize("label", ["a.b", "a:b", "", " ", None])
def test_a_label_that_ids_would_be_taken_apart_by_is_refused(label):
    with pytest.raises(TheoremError, match="label must"):
        Statement(PARAMETERS, (replace(CLAUSE, label=label),))
    with pytest.raises(TheoremError, match="label must"):
        Statement(PARAMETERS, (CLAUSE,), (Hypothesis(label, sp.Le(x, 1)),))


@pytest.mark.parametrize(
    ("given", "way"),
    [
        (sp.Gt(x, 0), r"True is not a relation .*SymPy decided it .* as text, such as relation\("),
        (sp.Lt(x, 0), r"False is not a relation .*SymPy decided it .* as text, such as relation\("),
        (x == y, r"False is not a relation .*== asks .* write sp.Eq\(left, right\), or relation\("),
        (x, r"x is not a relation .*; write one, such as sp.Le\(left, right\)"),
    ],
)
def test_values_that_are_no_relation_are_refused_with_the_remedy(given, way):
    for make in (
        lambda: Hypothesis("h", given),
        lambda: Inequality("h", given),
        lambda: Statement(PARAMETERS, (CLAUSE,), domain=(given,)),
    ):
        with pytest.raises(TheoremError, match=way):
            make()


def test_a_source_says_how_it_is_known():
    with pytest.raises(TheoremError, match=r"source: 'Printed' is not a provenance; did you mean printed\?"):
        Source("1", "Printed")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TheoremError, match="source: paper is a str, where a Paper is needed"):
        Source("1", "printed", "wang2024")  # pyright: ignore[reportArgumentType]
    assert str(Source("1", "printed", Paper("p", "P 2024", "1"))) == "P 2024, arXiv 1, 1 (printed)"


@pytest.mark.parametrize(
    ("citation", "title", "name"),
    [
        ("Doe, On 1999 sums, JMLR 2025", "On 1999 sums", "Doe 2025"),
        ("Doe, Roe, Sums, COLT 2025, pages 2001 to 2024, 2025", "Sums", "Doe and Roe 2025"),
        ("Doe, Roe, Poe, Sums, COLT 2025", "Sums", "Doe et al. 2025"),
        ("Doe, Roe, Sums, COLT 2025", "", "key2025"),
        ("Doe, Sums", "Sums", "key2025"),
        ("Sums, COLT 2025", "Sums", "key2025"),
    ],
)
def test_a_paper_is_named_by_its_authors_and_year(citation, title, name):
    assert Paper("key2025", citation, title=title).authors_and_year == name


def test_the_line_of_a_file_is_named(cli, theorem_file):
    path = theorem_file(
        "mine = theorem_of(\n    Inequality(\n        'c',\n        sp.Gt(x, 0),\n    ),\n)\n", header=LINES
    )
    assert_one_line(cli("check", path, "x=1"), "line 13: clause c: True is not a relation", "relation(")


LINES = """import sympy as sp

from verify import *

x = sp.Symbol("x", positive=True)


def theorem_of(*clauses):
    return clauses


"""


def test_a_symbol_mistyped_is_told():
    alpha = Parameter("alpha", "rational", "a size", above=0)
    clause = Identity("c", sp.Symbol("alpa") + 1, sp.Integer(2))
    with pytest.raises(TheoremError, match=r"uses alpa, which the statement does not introduce; did you mean alpha\?"):
        Statement((alpha,), (clause,))


def test_a_canarys_statement_is_made_when_it_is_read_and_its_errors_are_raised_then():
    statement, made = Statement(PARAMETERS, (CLAUSE,)), []

    def stated():
        made.append(1)
        return statement

    canary = Canary("an error", stated, "small")
    assert theorem(canaries=(canary,)).canaries[0] is canary and not made
    assert canary.statement is canary.statement is statement and made == [1]
    for wrong in (lambda: statement.alone(replace(CLAUSE, label="other")), lambda: CLAUSE):
        late = Canary("an error", wrong, "small")
        with pytest.raises(TheoremError, match="canary an error: its statement"):
            _ = late.statement


@pytest.mark.parametrize(("stated", "label"), [(Statement(PARAMETERS, (CLAUSE,)), "smal"), ("x <= 3", "small")])
def test_a_canary_of_no_statement_or_of_another_clause_is_refused_as_it_is_made(stated, label):
    with pytest.raises(TheoremError, match=r"canary an error: its statement (has no clause smal|is a str)"):
        Canary("an error", stated, label)
