"""A relation under conditions: deduced for all values of its variables, or refuted where the conditions hold."""

import json
from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify import Evidence, Hypothesis, Implication, Outcome, Parameter, TheoremError
from verify.checking.certificates import certificate, certificate_text
from verify.evaluation.numerical import suspects
from verify.rechecker import Rejected, recheck_text

u, v = sp.symbols("u v", real=True)
n = sp.Symbol("n", integer=True, positive=True)
N = (Parameter("n", "integer", "a number", minimum=2),)
HALF = sp.Rational(1, 2)
# If u > 0 and u v² ≤ u, then v ≤ 1, and 1 is attained.
BOUNDED = Implication("bounded", (u > 0, sp.Le(u * v**2, u)), sp.Le(v, 1))
SHARPER = Implication("bounded", (u > 0, sp.Le(u * v**2, u)), sp.Le(v, HALF))
NEAR = Implication("near", (sp.Le((u - sp.Rational(5, 7)) ** 2, sp.Rational(1, 10**6)),), sp.Le(u**2, HALF))


@pytest.fixture
def theorem(make_theorem):
    def make(*clauses, **statement):
        return make_theorem(*clauses, parameters=N, variables=(u, v), **statement)

    return make


@pytest.fixture
def decided(theorem):
    return lambda clause, **statement: verify.check(theorem(clause, **statement), n=3).clauses[0]


@pytest.mark.parametrize(
    "clause",
    [
        BOUNDED,
        Implication("equal", (sp.Eq(u * n, 1 + v), sp.Gt(v, 0)), sp.Eq(u**2 * n, u * (1 + v))),
        Implication("of_the_parameter", (sp.Ge(u, HALF),), sp.Ge(n * u, 1)),
        Implication("strict", (u > v, v > 0), sp.Gt(u**2, v**2)),
        Implication("the_second_needs_the_first", (u > 0, sp.Le(sp.sqrt(u), v)), sp.Le(u, v**2)),
    ],
)
def test_conclusions_that_follow_are_deduced_for_all_parameters(decided, clause):
    result = decided(clause)
    assert (result.outcome, result.evidence, result.proof["kind"]) == (Outcome.VERIFIED, Evidence.PROVED, "deduction")
    assert result.rechecked and result.detail == "deduced from its conditions, for all parameters"


def test_a_false_conclusion_is_refuted_at_a_point_under_the_conditions(decided):
    result = decided(SHARPER)
    assert (result.outcome, result.evidence) == (Outcome.REFUTED, Evidence.CERTIFIED)
    at = result.witness
    assert at["u"] > 0 and at["v"] ** 2 <= 1 and at["v"] > Fraction(1, 2) and at["n"] == 3
    assert result.margin == Fraction(1, 2) - at["v"]


def test_a_point_under_narrow_conditions_is_searched(decided):
    # The condition leaves an interval of length 2/1000 around 5/7, on which u² is above 1/2.
    result = decided(NEAR)
    assert result.outcome is Outcome.REFUTED
    assert abs(result.witness["u"] - Fraction(5, 7)) <= Fraction(1, 1000) and result.witness["u"] ** 2 > Fraction(1, 2)


def test_without_its_conditions_it_is_false(decided):
    assert decided(Implication("bounded", (u > 0,), sp.Le(v, 1))).outcome is Outcome.REFUTED


def test_a_hypothesis_counts_as_used_and_a_condition_does_not(theorem):
    large = Hypothesis("large", sp.Ge(n, 5))
    needs = Implication("needs", (u > 0,), sp.Ge(n * u, 5 * u))
    inside, outside = (verify.check(theorem(needs, hypotheses=(large,)), n=k) for k in (6, 3))
    assert inside.clauses[0].evidence is Evidence.PROVED
    # If the hypothesis fails, the clause is false at every u > 0.
    assert (outside.in_scope, outside.clauses[0].outcome) == (False, Outcome.REFUTED)
    without = verify.check(theorem(BOUNDED, needs, hypotheses=(large,)), n=3).clauses[0]
    assert without.evidence is Evidence.PROVED


def test_a_search_finds_where_it_fails(theorem):
    # The clause is true only for n = 2.
    only = Implication("only", (u > 0,), sp.Le(n * u, 2 * u))
    found = verify.explore(theorem(only), max_examples=20)
    assert found.certified and found.counterexample["n"] > 2
    assert verify.explore(theorem(BOUNDED), max_examples=5).counterexample is None


def test_without_parameters_it_is_searched_once_and_falls_at_the_first_instance(theorem, monkeypatch):
    found = verify.explore(theorem(NEAR), max_examples=20)
    assert (found.examples, found.clause.label, found.certified) == (1, "near", True)
    searched = []
    monkeypatch.setattr(suspects, "points_against", lambda *parts: searched.append(parts) or iter(()))
    true = Implication("true", (sp.Ge(u, 3),), sp.Ge(u**2, 9))
    assert verify.explore(theorem(true), max_examples=50).counterexample is None
    assert len(searched) == 1


def test_the_search_does_not_depend_on_what_else_a_statement_has(theorem, make_theorem):
    far = Implication("far", (sp.Ge(u, 100),), sp.Ge((u - 123) ** 2, sp.Rational(1, 10**4)))
    negative = sp.Symbol("k", negative=True)
    with_more = make_theorem(far, parameters=N, variables=(u, negative))
    for each in (with_more, theorem(far)):
        assert verify.check(each, n=3).clauses[0].outcome is Outcome.REFUTED


def test_its_proof_is_told_with_its_conditions(theorem):
    told = verify.prove(theorem(Implication("sum", (sp.Ge(u, 1), sp.Ge(v, 2)), sp.Ge(u + v, 3)))).deductions["sum"]
    assert told == ("margin = (u - 1) + (v - 2)",)


def _forged(made, change):
    """Return the certificate of a check with a changed proof."""
    data = certificate(made, verify.check(made, n=3))
    change(data["clauses"][0]["proof"])
    return json.dumps(data).encode()


def test_the_re_checker_accepts_it_and_refuses_forgeries(theorem):
    made = theorem(BOUNDED)
    assert recheck_text(certificate_text(made, verify.check(made, n=3)).encode()).claims[0].evidence == "proved"
    refused = (
        ([0], r"terms\[2\]\[1\]: 2 is not an integer from 0 to 1"),
        ([0, 1, 2], r"relations\[2\]: 2 is not an integer from 0 to 1"),
        ([0, 0], "the sum is not what is to be shown"),
        ([1, 0], "the sum is not what is to be shown"),
    )
    for relations, why in refused:
        with pytest.raises(Rejected, match=why):
            recheck_text(_forged(made, lambda proof, relations=relations: proof.update(relations=relations)))
    # u = −1 violates the first condition, v = 2 the second; at u = 1, v = 1/4 the relation holds.
    for point, why in (
        ({"u": "-1", "v": "3/4"}, r"does not keep clause.conditions\[0\]"),
        ({"u": "1", "v": "2"}, r"does not keep clause.conditions\[1\]"),
        ({"u": "1", "v": "1/4"}, "refutes nothing"),
    ):
        margin = Fraction(1, 2) - Fraction(point["v"])

        def move(proof, point=point, margin=margin):
            proof.update(point=point, difference=str(margin), bits=None)

        with pytest.raises(Rejected, match=why):
            recheck_text(_forged(theorem(SHARPER), move))


def test_a_condition_is_decided_in_balls_where_it_is_not_rational(theorem):
    root = Implication("root", (sp.Ge(sp.sqrt(u), 1), u <= 2), sp.Le(u, 1))
    made = theorem(root)
    data = certificate(made, verify.check(made, n=3))
    assert data["clauses"][0]["outcome"] == "refuted"
    accepted = recheck_text(json.dumps(data).encode())
    assert accepted.claims[0].outcome == "refuted"
    data["clauses"][0]["proof"].update(point={"u": "3"}, difference="-2")
    with pytest.raises(Rejected, match=r"does not keep clause.conditions\[1\]"):
        recheck_text(json.dumps(data).encode())


@pytest.mark.parametrize(
    ("conditions", "conclusion", "why"),
    [
        ((), u > 0, "must be a tuple of at least one relation"),
        ([u > 0], u > 0, "must be a tuple of at least one relation"),
        ((u,), v > 0, "clause c"),
        ((u > 0,), v, "clause c"),
    ],
)
def test_malformed_implications_are_refused(conditions, conclusion, why):
    with pytest.raises(TheoremError, match=why):
        Implication("c", conditions, conclusion)


def test_its_data_cover_the_conditions(theorem):
    other = Implication("bounded", (sp.Ge(u, 0), sp.Le(u * v**2, u)), sp.Le(v, 1))
    assert theorem(BOUNDED).statement.digest != theorem(other).statement.digest
    assert BOUNDED.text == "v <= 1 where u > 0, u*v**2 <= u"


@pytest.mark.parametrize(
    ("conditions", "point"),
    [
        # The equations determine these values, except u in the last case: u² > 0 implies v = 0, and u = 1 is simple.
        ((sp.Eq(u, -u),), {"u": 0}),
        ((sp.Eq(u * n, 7), sp.Eq(v, 2 * u)), {"u": Fraction(7, 3), "v": Fraction(14, 3)}),
        ((sp.Gt(u**2, 0), sp.Eq(u * v, 0)), {"u": 1, "v": 0}),
    ],
)
def test_conditions_that_are_equations_are_kept_exactly(decided, conditions, point):
    result = decided(Implication("false", conditions, sp.Lt(1, 0, evaluate=False)))
    assert (result.outcome, result.evidence) == (Outcome.REFUTED, Evidence.CERTIFIED)
    assert {name: result.witness[name] for name in point} == point
    # If no point satisfies the conditions, nothing refutes the clause.
    never = Implication("never", (*conditions, sp.Lt(u**2, 0, evaluate=False)), sp.Lt(1, 0, evaluate=False))
    assert decided(never).outcome is not Outcome.REFUTED
