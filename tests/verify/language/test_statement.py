"""Ill-formed statements and theorems are refused when they are made."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

import verify
from tests.verify.examples import example_of
from verify import (
    Case,
    Dynamics,
    Hypothesis,
    Identity,
    Inequality,
    InputError,
    Outcome,
    Paper,
    Parameter,
    Reaches,
    Source,
    Statement,
    Stays,
    Theorem,
    TheoremError,
)
from verify.evaluation.values import evaluate_rising

x, y, w, v = sp.symbols("x y w v", real=True)
X = Parameter("x", "rational", "x")
CLAUSE = Inequality("c", sp.Lt(x, 2))


def test_a_statement_needs_a_clause():
    with pytest.raises(TheoremError, match="at least one claim"):
        Statement((X,), ())


def test_upper_ends_are_relations_of_the_domain():
    shares = (Parameter("x", "real", "", minimum=0, maximum=1), Parameter("n", "integer", "", below=Fraction(5, 2)))
    n = sp.Symbol("n", integer=True)
    made = Statement(shares, (CLAUSE,), domain=(sp.Lt(x, n),))
    ends = (sp.Le(x, 1, evaluate=False), sp.Lt(n, sp.Rational(5, 2), evaluate=False))
    assert made.domain == (*ends, sp.Lt(x, n)) == replace(made, claims=(Inequality("c", sp.Lt(x, 3)),)).domain
    written = Statement((Parameter("x", "real", ""),), (CLAUSE,), domain=ends[:1])
    assert written.digest != made.digest and written.domain == ends[:1]


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"parameters": (X, X)}, "parameter x"),
        ({"claims": (CLAUSE, Inequality("c", sp.Gt(x, 1)))}, "clause c"),
        ({"hypotheses": (Hypothesis("h", sp.Lt(x, 1)), Hypothesis("h", text="a sentence"))}, "hypothesis h"),
    ],
)
def test_labels_are_used_once(parts, what):
    with pytest.raises(TheoremError, match=f"{what}: named twice"):
        Statement(**{"parameters": (X,), "claims": (CLAUSE,), **parts})


@pytest.mark.parametrize(
    ("parts", "where"),
    [
        ({"claims": (Inequality("c", sp.Lt(x, y)),)}, "clause c uses y"),
        ({"claims": (Identity("i", x + y, w),)}, "clause i uses (w, y|y|w)"),
        ({"hypotheses": (Hypothesis("h", sp.Lt(y, 1)),)}, "a hypothesis uses y"),
        ({"hypotheses": (Hypothesis("h", sp.Lt(w, 1)),), "variables": (w,)}, "a hypothesis uses w"),
        ({"domain": (sp.Lt(y, 1),)}, "a hypothesis uses y"),
        ({"definitions": {w: y + 1}}, "definition w uses y"),
        ({"definitions": {w: v + 1, v: x}}, "definition w uses v"),
        ({"definitions": {w: w + 1}}, "definition w uses w"),
        ({"claims": (Reaches("r", Dynamics((y,), (x,), (y * w,), y), x),)}, "clause r uses w"),
    ],
)
def test_a_symbol_that_is_not_introduced_is_named(parts, where):
    with pytest.raises(TheoremError, match=f"{where}.*, which the statement does not introduce"):
        Statement(**{"parameters": (X,), "claims": (CLAUSE,), **parts})


@pytest.mark.parametrize(
    "parts",
    [
        {"claims": (Inequality("c", sp.Lt(0.5 * x, 2)),)},
        {"claims": (Inequality("c", sp.Lt(sp.Rational(0.1) * x, 2)),)},
        {"claims": (Inequality("c", sp.Lt(x, sp.sympify(Fraction(0.1)))),)},
        {"claims": (Inequality("c", sp.Lt(sp.asin(x), 2)),)},
        {"claims": (Identity("i", x, sp.Float(1)),)},
        {"hypotheses": (Hypothesis("h", sp.Lt(x, 0.5)),)},
        {"domain": (sp.Lt(x, 0.5),)},
        {"definitions": {w: 0.5 * x}},
        {"claims": (Reaches("r", Dynamics((y,), (sp.Integer(1),), (y * 0.5,), y), x),)},
        {"claims": (Reaches("r", Dynamics((y,), (sp.Integer(1),), (y / 2,), y), 0.5 * x),)},
    ],
)
def test_expressions_outside_the_language_are_refused_when_written(parts):
    with pytest.raises(TheoremError, match=r"outside the language|float's expansion"):
        Statement(**{"parameters": (X,), "claims": (CLAUSE,), **parts})


@pytest.mark.parametrize("expression", [sp.Derivative(w * v, w), sp.Subs(w * v, w, x), sp.Limit(w * v, w, 0)])
def test_a_definition_is_no_variable(expression):
    # With v substituted for w, the derivative v would become 2v.
    parts = {"variables": (v,), "definitions": {w: v}}
    for clause in (Identity("c", expression + x, x * v), Inequality("c", sp.Lt(expression, 2))):
        with pytest.raises(TheoremError, match="w is a definition, and cannot be bound"):
            Statement((X,), (clause,), **parts)
    with pytest.raises(TheoremError, match="w is a definition, and cannot be bound"):
        Statement((X,), (CLAUSE,), **parts | {"definitions": {w: v, y: expression}})
    with pytest.raises(TheoremError, match="w is a definition, and cannot be bound"):
        Theorem(
            "u", "u", Source("1", "derived here"), Statement((X,), (CLAUSE,), **parts), {"x": 1}, {"value": expression}
        )


def test_a_definition_may_not_take_the_name_of_a_parameter():
    # The definition would replace the parameter: x > 100 would be verified at x = 1, because 1000 > 100.
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
    # SymPy takes symbols of one name with different assumptions for different symbols: then the second claim, which is
    # true, would be refuted with a value of w.
    try:
        statement = Statement((X,), (clause,), **more)
    except TheoremError:
        return
    result = verify.check(Theorem("u", "u", Source("1", "derived here"), statement, {"x": 1}), x=Fraction(1, 2))
    assert result.outcome is Outcome.VERIFIED


def test_a_symbol_does_not_assume_more_than_its_parameter():
    # For a positive x SymPy writes √(x²) + 1 as x + 1 at once, and the true claim would be refuted at x = −3.
    positive = sp.Symbol("x", positive=True)
    try:
        statement = Statement((X,), (Inequality("c", sp.Gt(sp.sqrt(positive**2) + 1, 0, evaluate=False)),))
    except TheoremError:
        return
    result = verify.check(Theorem("u", "u", Source("1", "derived here"), statement, {"x": 1}), x=-3)
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
    assert [evaluate_rising(slack, {"x": value})[0] for value in (2, 3, 5)] == [-1, 0, -2]


def test_definitions_are_expanded_from_the_last_to_the_first():
    statement = Statement((X,), (CLAUSE,), definitions={w: x + 1, v: w**2 + x})
    assert statement.expand(v * w) == ((x + 1) ** 2 + x) * (x + 1)
    assert statement.expand(x) == x


def test_statements_are_equal_by_their_digest():
    first, second = (Statement((X,), (Inequality("c", sp.Lt(x, 2)),)) for _ in range(2))
    assert first == second and hash(first) == hash(second) and first.digest == second.digest
    assert len(first.digest) == 64 and int(first.digest, 16) >= 0
    assert replace(first, claims=(Inequality("c", sp.Lt(x, 3)),)).digest != first.digest


def test_a_source_is_written_out():
    paper = Paper("key", "A, B, Title, 2024", "2401.00001")
    assert str(Source("Theorem 1", "printed", paper)) == "A, B, Title, 2024, arXiv 2401.00001, Theorem 1 (printed)"
    assert str(Source("Lemma 2", "derived here", note="informally")) == "Lemma 2 (derived here: informally)"


def test_the_verbs_of_a_theorem(make_theorem):
    theorem = make_theorem(CLAUSE, hypotheses=(Hypothesis("h", sp.Gt(x, 0)),))
    assert verify.check(theorem, x=1, seconds=5, digits=9, seed=4).outcome is Outcome.VERIFIED
    assert verify.conditions(theorem, x=-1).in_scope is False
    weaker = theorem.variant(Statement((X,), (Inequality("c", sp.Lt(x, 1)),)))
    assert verify.check(weaker, x=1).outcome is Outcome.REFUTED and weaker.id == theorem.id
    assert verify.check(theorem, x=1).outcome is Outcome.VERIFIED


# --- parameters of kind word

kind = sp.Symbol("kind")
KIND = Parameter("kind", "word", "the noise", words=("gaussian", "uniform", "none"))
VARIED = Hypothesis("gaussian_noise", text="the noise is Gaussian", varies=KIND)


def _varied(expression, **parts):
    return Statement(**{"parameters": (X, KIND), "claims": (Inequality("c", sp.Lt(x, expression)),), **parts})


@pytest.mark.parametrize(("word", "bound"), [("gaussian", 1), ("uniform", x + 2), ("none", 3)])
def test_a_case_is_decided_by_the_word(word, bound):
    statement = _varied(Case(kind, 1, x + 2, 3))
    decided = statement.specialised({"x": 0, "kind": word})
    assert decided.clauses[0].relation == sp.Lt(x, bound, evaluate=False)
    assert not any(expression.has(Case) for clause in decided.clauses for expression in clause.expressions())


def test_a_case_is_decided_wherever_it_stands():
    inside = Case(kind, x, 2 * x, 3 * x)
    dynamics = Dynamics((y,), (inside,), (y * Case(kind, sp.Rational(1, 2), y, 1) + 1,), y + inside)
    statement = Statement(
        (X, KIND),
        (
            Reaches("r", dynamics, 2 * inside, within=inside + 1),
            Stays("s", dynamics, inside, 4 * inside),
            Identity("i", Case(kind, w, 1, 2) * w + Case(kind, 1, Case(kind, 5, 6, 7), 1), v),
        ),
        definitions={w: 1 + inside, v: w**2},
    )
    decided = statement.specialised({"x": 1, "kind": "uniform"})
    reaches, stays, identity = decided.clauses
    assert reaches.dynamics == stays.dynamics == Dynamics((y,), (2 * x,), (y**2 + 1,), y + 2 * x)
    assert (reaches.level, reaches.within) == (4 * x, 2 * x + 1)
    assert (stays.reached, stays.level) == (2 * x, 8 * x)
    assert (identity.left, identity.right) == (w + 6, v)
    assert decided.definitions == {w: 1 + 2 * x, v: w**2}
    # The original statement is unchanged.
    assert statement.definitions[w] == 1 + inside and statement.clauses[0].dynamics == dynamics


def test_a_relation_that_a_word_makes_trivial_stays_a_relation():
    n = sp.Symbol("n", positive=True)
    statement = Statement(
        (Parameter("n", "integer", "n", minimum=1), KIND), (Inequality("c", sp.Le(n * Case(kind, 1, 3, 2), 2 * n)),)
    )
    theorem = Theorem("u", "u", Source("1", "derived here"), statement, example_of(statement.parameters))
    outcomes = {word: verify.check(theorem, n=2, kind=word).outcome for word in KIND.words}
    assert outcomes == {"gaussian": Outcome.VERIFIED, "uniform": Outcome.REFUTED, "none": Outcome.VERIFIED}


def test_without_words_there_is_nothing_to_decide():
    statement = Statement((X,), (CLAUSE,))
    assert statement.specialised({"x": 1}) is statement


def test_the_papers_word_stands_where_none_is_given():
    statement = _varied(Case(kind, 1, 2, 3), hypotheses=(VARIED,))
    theorem = Theorem("u", "u", Source("1", "derived here"), statement, example_of(statement.parameters))
    given = verify.check(theorem, x=0)
    assert given.in_scope and given.instance["kind"] == "gaussian"
    other = verify.check(theorem, x=0, kind="uniform")
    assert not other.in_scope and [h.holds for h in other.hypotheses] == [False]
    assert (other.outcome, other.clauses[0].outcome) == (Outcome.OUT_OF_SCOPE, Outcome.VERIFIED)
    with pytest.raises(InputError, match="must be one of gaussian, uniform, none"):
        verify.check(theorem, x=0, kind="cauchy")
    assert verify.conditions(theorem, kind="uniform").in_scope is False
    assert verify.conditions(theorem, kind="gaussian", x=0).in_scope is True


@pytest.mark.parametrize(
    "changed",
    [
        _varied(Case(kind, 1, 2, 4)),
        _varied(Case(kind, 2, 1, 3)),
        _varied(Case(kind, 1, 2, 3), hypotheses=(VARIED,)),
        _varied(Case(kind, 1, 2, 3), hypotheses=(replace(VARIED, varies=None),)),
        _varied(
            Case(kind, 1, 2, 3),
            parameters=(X, Parameter("kind", "word", "the noise", words=("uniform", "gaussian", "none"))),
        ),
    ],
)
def test_the_digest_covers_cases_words_and_what_varies(changed):
    assert changed.digest != _varied(Case(kind, 1, 2, 3)).digest
    assert changed.digest != _varied(sp.Integer(1)).digest


def test_statements_with_and_without_a_variation_differ():
    digests = {
        _varied(Case(kind, 1, 2, 3), hypotheses=hypotheses).digest
        for hypotheses in ((), (VARIED,), (replace(VARIED, varies=None),), (replace(VARIED, text="another"),))
    }
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (kind + 1, "uses the word kind other than in Case"),
        (Case(kind, kind, 1, 2), "uses the word kind other than in Case"),
        (Case(kind, 1, 2, 3) * kind, "uses the word kind other than in Case"),
        (Case(kind, 1, 2), "needs one expression for each word of kind"),
        (Case(kind, 1, 2, 3, 4), "needs one expression for each word of kind"),
        (Case(x, 1, 2, 3), "needs one expression for each word of x"),
        (1 + Case(kind, 1, 2, Case(kind, 1, 2)), "needs one expression for each word of kind"),
        (Case(y, 1, 2, 3), "uses y, which the statement does not introduce"),
        (Case(kind, 1, y, 3), "uses y, which the statement does not introduce"),
        (Case(kind, 1, 0.5, 3), "outside the language"),
    ],
)
def test_a_word_stands_in_a_case_of_all_its_words_alone(expression, message):
    with pytest.raises(TheoremError, match=message):
        _varied(expression)
    with pytest.raises(TheoremError, match=message):
        Statement((X, KIND), (CLAUSE,), definitions={w: expression})


def test_a_hypothesis_may_depend_on_a_word_and_the_domain_may_not():
    relation = sp.Lt(x, Case(kind, 1, 2, 3))
    assert _varied(sp.Integer(1), hypotheses=(Hypothesis("h", relation),)).hypotheses[0].relation == relation
    with pytest.raises(TheoremError, match="Case belongs in a hypothesis, a definition or the claim"):
        _varied(sp.Integer(1), domain=(relation,))


@pytest.mark.parametrize(
    "varies",
    [
        X,
        Parameter("other", "word", "not a parameter here", words=("a", "b")),
        # The same parameter with another first word: it would be unclear which word the paper means.
        Parameter("kind", "word", "the noise", words=("uniform", "gaussian", "none")),
    ],
)
def test_a_hypothesis_varies_by_a_word_of_the_statement(varies):
    with pytest.raises(TheoremError, match=f"hypothesis h: {varies.name} is not a parameter of kind word"):
        _varied(sp.Integer(1), hypotheses=(Hypothesis("h", text="a sentence", varies=varies),))


def test_a_relation_is_varied_by_dropping_it():
    with pytest.raises(TheoremError, match="hypothesis h: a relation is varied by dropping it, not by kind"):
        Hypothesis("h", sp.Lt(x, 1), varies=KIND)
    assert VARIED.kind == "structural" and VARIED.to_data()["varies"] == "kind"
    assert "varies" not in Hypothesis("h", text="a sentence").to_data()


SUPPOSED = Hypothesis("named", sp.Lt(Case(kind, 0, 1, 0), 1), supposed_at=("kind", "none"))


@pytest.mark.parametrize(("word", "status"), [("gaussian", "holds"), ("uniform", "fails"), ("none", "assumed")])
def test_a_relation_is_assumed_at_the_word_that_supposes_it(word, status):
    statement = _varied(Case(kind, 1, 2, 3), hypotheses=(SUPPOSED,))
    theorem = Theorem("u", "u", Source("1", "derived here"), statement, example_of(statement.parameters))
    for result in (verify.check(theorem, x=0, kind=word), verify.conditions(theorem, x=0, kind=word)):
        assert [h.status for h in result.hypotheses] == [status] and result.in_scope is (status != "fails")


def test_a_relation_that_fails_is_not_supposed():
    told = replace(SUPPOSED, supposed_at=("kind", "uniform"))
    statement = _varied(Case(kind, 1, 2, 3), hypotheses=(told,))
    theorem = Theorem("u", "u", Source("1", "derived here"), statement, example_of(statement.parameters))
    (hypothesis,) = verify.conditions(theorem, kind="uniform").hypotheses
    assert hypothesis.status == "fails"


def test_a_supposed_hypothesis_is_a_relation_at_a_word_of_the_statement():
    with pytest.raises(TheoremError, match="hypothesis h: supposed_at needs a relation"):
        Hypothesis("h", text="a sentence", supposed_at=("kind", "none"))
    for supposed_at in (("kind", "cauchy"), ("other", "none"), ("x", "none")):
        with pytest.raises(TheoremError, match=r"hypothesis named: \w+ has no word"):
            _varied(sp.Integer(1), hypotheses=(replace(SUPPOSED, supposed_at=supposed_at),))
    digests = {
        _varied(sp.Integer(1), hypotheses=(replace(SUPPOSED, supposed_at=each),)).digest
        for each in (None, ("kind", "none"), ("kind", "gaussian"))
    }
    assert len(digests) == 3


def test_a_boundary_is_a_relation_of_the_parameters(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Lt(sp.Symbol("x"), 1)))
    for hypothesis, message in (
        (Hypothesis("structural", text="in words"), "structural is not a relation"),
        (Hypothesis("other", sp.Lt(sp.Symbol("z"), 1)), "boundary user.other uses z"),
        (Hypothesis("float", sp.Lt(sp.Symbol("x"), 0.1)), "a float is outside the language"),
    ):
        with pytest.raises(TheoremError, match=message):
            replace(theorem, boundaries={"user.other": hypothesis})
    with_boundary = replace(theorem, boundaries={"user.other": Hypothesis("other", sp.Lt(sp.Symbol("x"), 2))})
    # A boundary is a line in a plot, and not part of the statement.
    assert with_boundary.statement.digest == theorem.statement.digest


def test_data_that_are_changed_change_no_statement():
    first = Statement((X,), (Inequality("c", sp.Lt(x, 2)),))
    data = first.to_data()
    data["claims"][0]["relation"][1] = ["Integer", "0"]
    again = Statement((X,), (Inequality("c", sp.Lt(x, 2)),))
    assert again.to_data() == first.to_data() != data and again.digest == first.digest


def test_a_float_is_refused_beside_what_is_kept():
    Statement((X,), (Inequality("c", sp.Lt(x + 2, 5)),))
    with pytest.raises(TheoremError, match="float"):
        Statement((X,), (Inequality("c", sp.Lt(x + 2.0, 5)),))
