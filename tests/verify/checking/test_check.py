"""Checking a theorem at an instance."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify import (
    ClauseValue,
    Dynamics,
    Enclosure,
    Evidence,
    Hypothesis,
    Identity,
    Inequality,
    InputError,
    Outcome,
    Parameter,
    Reaches,
    ValueWhere,
    load_theorem,
)
from verify.checking.certificates import certificate_text, write_certificate
from verify.checking.check import check
from verify.language.expressions import primitive
from verify.outcomes import ClauseResult
from verify.rechecker import Verdict, recheck_text

x, y, z = sp.symbols("x y z", real=True)
SMALL = Hypothesis("small", sp.Lt(x, 2))


@pytest.mark.parametrize(
    ("bound", "outcome", "evidence", "witness"),
    [
        (3, Outcome.VERIFIED, Evidence.PROVED, {}),
        (1, Outcome.REFUTED, Evidence.CERTIFIED, {"x": Fraction(3, 2)}),
    ],
)
def test_a_claim_in_scope_is_decided_and_a_false_one_has_its_witness(make_theorem, bound, outcome, evidence, witness):
    result = check(make_theorem(Inequality("c", sp.Lt(x, bound)), hypotheses=(SMALL,)), {"x": "3/2"})
    assert (result.outcome, result.evidence, result.in_scope) == (outcome, evidence, True)
    assert result.instance == {"x": Fraction(3, 2)} and result.clauses[0].margin == bound - Fraction(3, 2)
    assert result.clauses[0].witness == witness


@pytest.mark.parametrize(("bound", "claim"), [(3, Outcome.REFUTED), (9, Outcome.VERIFIED)])
def test_out_of_scope_the_clauses_are_evaluated_all_the_same(make_theorem, bound, claim):
    result = check(make_theorem(Inequality("c", sp.Lt(x, bound)), hypotheses=(SMALL,)), {"x": 5})
    assert (result.outcome, result.in_scope, result.claim_outcome) == (Outcome.OUT_OF_SCOPE, False, claim)
    assert result.clauses[0].margin == bound - 5
    # Out of scope the theorem has no witness; the witness belongs to the clause alone.
    assert result.witness is None and dict(result.clauses[0].witness) == ({"x": 5} if bound == 3 else {})
    assert result.detail == "small: x < 2 does not hold"


def test_the_weakest_clause_is_the_headline(make_theorem):
    true, false = Inequality("t", sp.Lt(x, 3)), Inequality("f", sp.Gt(x, 3))
    unknown = Inequality("u", sp.Eq(sp.sqrt(x) ** 2 * sp.sqrt(y) ** 2, sp.sqrt(x * y + 0) ** 2 + sp.sqrt(z) - 1))
    proved = Identity("p", (x + 1) ** 2, x**2 + 2 * x + 1)
    theorem = make_theorem(true, proved)
    assert (check(theorem, {"x": 1}).outcome, check(theorem, {"x": 1}).evidence) == (
        Outcome.VERIFIED,
        Evidence.CERTIFIED,
    )
    assert check(make_theorem(proved), {"x": 1}).evidence is Evidence.PROVED
    assert check(make_theorem(true, false, proved), {"x": 1}).outcome is Outcome.REFUTED
    values = {"x": 2, "y": 2, "z": 1}
    assert check(make_theorem(true, names="x y z"), values).outcome is Outcome.VERIFIED
    assert check(make_theorem(unknown, names="x y z"), values).outcome is Outcome.VERIFIED


def test_a_clause_without_a_value_is_inconclusive_and_spoils_the_headline(make_theorem):
    result = check(make_theorem(Inequality("t", sp.Lt(x, 3)), Inequality("u", sp.Lt(1 / x, 3))), {"x": 0})
    assert [clause.outcome for clause in result.clauses] == [Outcome.VERIFIED, Outcome.INCONCLUSIVE]
    assert (result.outcome, result.evidence) == (Outcome.INCONCLUSIVE, None)


def test_values_are_expressions_or_what_a_clause_finds(make_theorem):
    halving = Dynamics((z,), (sp.Integer(1),), (z / 2,), z)
    theorem = make_theorem(
        Reaches("r", halving, x),
        values={"steps": ClauseValue("r", "steps"), "double": 2 * x, "root": sp.sqrt(x), "none": ClauseValue("r", "?")},
    )
    values = check(theorem, {"x": "1/8"}, digits=30).values
    assert values["steps"] == Enclosure(3, 3) and values["double"] == Fraction(1, 4) and values["none"] is None
    low, high = values["root"].lower, values["root"].upper
    assert low**2 <= Fraction(1, 8) <= high**2 and high - low < Fraction(1, 10**29)


def test_a_value_that_does_not_exist_here_does_not_hide_the_outcome(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), values={"inverse": 1 / x})
    result = check(theorem, {"x": 0})
    assert result.outcome is Outcome.VERIFIED and result.values["inverse"] is None


CASES = (ValueWhere(-x, (sp.Lt(x, 0),)), ValueWhere(sp.Integer(7), (sp.Le(x, 1), sp.Eq(y, 1))), ValueWhere(y, ()))


@pytest.mark.parametrize(("given", "shown"), [((-2, 1), 2), ((1, 1), 7), ((1, 5), 5), ((3, 1), 1)])
def test_of_several_cases_the_first_that_applies_is_reported(make_theorem, given, shown):
    theorem = make_theorem(Inequality("c", sp.Lt(x, 9)), names="x y", values={"v": CASES, "none": CASES[:2]})
    values = check(theorem, dict(zip("xy", given, strict=True))).values
    assert values["v"] == shown and values["none"] == (shown if shown in (2, 7) else None)


def test_a_case_that_is_not_decided_lets_no_later_one_speak(make_theorem):
    cases = (ValueWhere(x, (sp.Gt(1 / x, 0),)), ValueWhere(y, ()))
    theorem = make_theorem(Inequality("c", sp.Lt(x, 9)), names="x y", values={"v": cases})
    assert check(theorem, {"x": 0, "y": 1}).values["v"] is None


def test_a_relation_among_the_values_says_whether_it_holds(make_theorem):
    values = {"small": sp.Lt(x, 1), "root": sp.Le(sp.sqrt(x), 2), "inverse": sp.Gt(1 / x, 0)}
    theorem = make_theorem(Inequality("c", sp.Lt(x, 9)), values=values)
    assert check(theorem, {"x": "1/2"}).values == {"small": True, "root": True, "inverse": True}
    assert check(theorem, {"x": 5}).values == {"small": False, "root": False, "inverse": True}
    shown = check(theorem, {"x": 0}).to_json()["values"]
    assert shown == {"small": True, "root": True, "inverse": None}


def test_a_float_among_the_values_is_refused(make_theorem):
    # The rules of the language also apply to reported values.
    with pytest.raises(ValueError, match="float"):
        check(make_theorem(Inequality("c", sp.Lt(x, 3)), values={"v": sp.Rational(0.1) * x}), {"x": 1})


@pytest.mark.parametrize(
    ("given", "message"),
    [({}, "x: missing"), ({"x": 1, "w": 2}, "w = 2: is not a parameter"), ({"x": "one"}, "x = one: must be a number")],
)
def test_an_instance_that_is_not_understood_is_an_input_error(make_theorem, given, message):
    with pytest.raises(InputError, match=message):
        check(make_theorem(Inequality("c", sp.Lt(x, 3))), given)


def test_a_broken_domain_is_an_input_error(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), names="x y", domain=(sp.Le(x, y),))
    assert check(theorem, {"x": 1, "y": 1}).outcome is Outcome.VERIFIED
    with pytest.raises(InputError, match=r"x = 2: must satisfy x <= y \(here y = 1\)"):
        check(theorem, {"x": 2, "y": 1})


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_seconds_are_positive(make_theorem, seconds):
    with pytest.raises(InputError, match=r"seconds = .*: must be a number > 0"):
        check(make_theorem(Inequality("c", sp.Lt(x, 3))), {"x": 1}, seconds=seconds)


def test_digits_are_from_1_to_1000(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)))
    for digits in (0, -1, 1001):
        with pytest.raises(InputError, match=r"digits = .*: must be an integer from 1 to 1000"):
            check(theorem, {"x": 1}, digits=digits)
    for digits in (1, 1000):
        assert check(theorem, {"x": 1}, digits=digits).digits == digits


POSITIVE = sp.Symbol("z", positive=True)
# No fact is deduced about a state that is assumed to be positive, so the run is iterated until the time is up.
STUCK = Dynamics((POSITIVE,), (sp.Integer(1),), (POSITIVE,), POSITIVE)


def test_the_time_is_kept(clock, make_theorem):
    started = clock.now
    result = check(make_theorem(Reaches("r", STUCK, x)), {"x": "1/2"}, seconds=0.2)
    assert result.outcome is Outcome.INCONCLUSIVE and not result.interrupted
    # The run may take four fifths of the budget; the rest is left for the later steps of the check.
    assert 0.16 <= result.seconds <= clock.now - started < 0.2


def test_the_seed_and_the_digest_are_reported(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)))
    result = check(theorem, {"x": 1}, seed=12)
    assert result.seed == 12 and result.statement_digest == theorem.statement.digest
    assert verify.check(theorem, x=1, seed=3).seed == 3


def test_bits_are_the_most_that_a_clause_needed(make_theorem):
    gap = Fraction(1, 10**60)
    exact, fine = Inequality("e", sp.Lt(x, 3)), Inequality("f", sp.Gt(sp.exp(x), sp.exp(y)))
    assert check(make_theorem(exact), {"x": 1}).bits is None
    assert check(make_theorem(exact, fine, names="x y"), {"x": 1 + gap, "y": 1}).bits == 256


def test_an_interrupted_check_says_so_and_keeps_what_was_found(make_theorem):
    def interrupt(step):
        if step:
            raise KeyboardInterrupt

    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), Reaches("r", STUCK, x))
    result = check(theorem, {"x": "1/2"}, progress=interrupt)
    assert result.interrupted
    assert [clause.outcome for clause in result.clauses] == [Outcome.VERIFIED, Outcome.INCONCLUSIVE]
    # The progress is reported after step 1024 is found to be above the level.
    assert result.clauses[1].values["steps"].lower in (1024, 1025)


p, v = sp.symbols("p v", positive=True)
POSITIVE = (Parameter("p", "rational", "p", above=0),)
PROVED = (
    Identity("identity", (p + 1) ** 2 * v, (p**2 + 2 * p + 1) * v),
    Inequality("inequality", sp.Gt(p + 1 / p, 0, evaluate=False)),
    Inequality("quantified", sp.Gt(p + v, 0, evaluate=False)),
)


def test_clauses_are_proved_only_if_the_rechecker_accepts_the_proof(make_theorem, monkeypatch):
    theorem = make_theorem(*PROVED, Inequality("not", sp.Lt(p, 5)), parameters=POSITIVE, variables=(v,))
    accepted = verify.check(theorem, p=2).clauses
    assert [clause.evidence for clause in accepted] == ["proved"] * 3 + ["certified"]
    asked = []

    def refuse(self, clause, stated):
        asked.append((clause["label"], stated["proof"]["kind"]))
        proved = stated["proof"]["kind"] in ("positive", "deduction") or stated["proof"].get("scope") == "all"
        return Verdict(None, "for a reason", rejected=True) if proved else Verdict("certified")

    monkeypatch.setattr("verify.rechecker.Instance.verdict", refuse)
    identity, inequality, quantified, other = verify.check(theorem, p=2).clauses
    assert {label for label, _ in asked} == {"identity", "inequality", "quantified", "not"} and other == accepted[3]
    for clause, kind, margin in ((identity, "identity", 0), (inequality, "exact", Fraction(5, 2))):
        assert (clause.outcome, clause.evidence, clause.margin) == (Outcome.VERIFIED, Evidence.CERTIFIED, margin)
        assert clause.proof["kind"] == kind and "not accepted: for a reason" in clause.detail
    assert identity.proof["scope"] == "instance"
    assert (quantified.outcome, quantified.evidence) == (Outcome.INCONCLUSIVE, None)
    assert "for all values of v" in quantified.detail and "not accepted: for a reason" in quantified.detail


def test_clause_without_a_value_at_a_point_is_not_proved_for_all(make_theorem):
    # 1/(p − 3) occurs on both sides, so neither side has a value at p = 3, although their difference simplifies.
    some = Identity("some", (p + 1) ** 2 + 1 / (p - 3), p**2 + 2 * p + 1 + 1 / (p - 3))
    theorem = make_theorem(*PROVED, some, parameters=POSITIVE, variables=(v,))
    result = verify.check(theorem, p=2)
    assert [clause.evidence for clause in result.clauses] == ["proved"] * 3 + ["certified"]
    recheck_text(certificate_text(theorem, result).encode())
    assert verify.check(theorem, p=3).clauses[3].outcome is Outcome.INCONCLUSIVE
    between = make_theorem(Inequality("c", sp.Lt(1 / (p - 3), 1 / (p - 3) + p)), parameters=POSITIVE)
    assert verify.check(between, p=3).clauses[0].outcome is Outcome.INCONCLUSIVE
    assert verify.check(between, p=2).clauses[0].outcome is Outcome.VERIFIED


def test_clause_with_a_primitive_unknown_to_the_rechecker_is_computed(make_theorem, tmp_path):
    @primitive(1)
    def doubled(arithmetic, number):
        return number + number

    theorem = make_theorem(PROVED[0], Inequality("doubled", sp.Lt(doubled(p), 5)), parameters=POSITIVE, variables=(v,))
    result = verify.check(theorem, p=2)
    assert [(c.evidence, c.rechecked) for c in result.clauses] == [("proved", True), ("computed", False)]
    assert "'doubled/1' is not known" in result.clauses[1].unchecked and result.evidence is Evidence.COMPUTED
    with pytest.raises(InputError, match=r"--certificate = doubled: this clause has no certificate: .*'doubled/1'"):
        write_certificate(theorem, result, tmp_path / "c.json")
    assert not list(tmp_path.iterdir())


def test_a_clause_does_not_say_how_sure_it_is(make_theorem):
    class Lying(Inequality):
        def evaluate(self, question):
            return replace(ClauseResult.verified(self, {"kind": "positive"}), evidence=Evidence.PROVED, rechecked=True)

        def to_data(self):
            return super().to_data() | self.more

    for more, outcome, evidence in (
        ({}, Outcome.INCONCLUSIVE, None),
        ({"kind": "of my own"}, Outcome.VERIFIED, Evidence.COMPUTED),
    ):
        Lying.more = more
        result = verify.check(make_theorem(Lying("c", sp.Lt(p, 1)), parameters=POSITIVE), p=2).clauses[0]
        assert (result.outcome, result.evidence, result.rechecked) == (outcome, evidence, False)


def test_an_interrupted_re_check_decides_nothing(make_theorem, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.rechecker.Instance.verdict", interrupt)
    result = verify.check(make_theorem(PROVED[0], parameters=POSITIVE, variables=(v,)), p=2)
    assert result.interrupted and result.evidence is None and result.outcome is Outcome.INCONCLUSIVE


def test_an_interrupt_at_a_value_or_the_scope_keeps_the_clauses(make_theorem, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), values={"v": primitive(1)(interrupt)(x), "w": x + 1})
    at_value = check(theorem, {"x": 1})
    assert at_value.interrupted and at_value.outcome is Outcome.VERIFIED and at_value.scope_confirmed
    assert (at_value.values, at_value.without) == ({"v": None, "w": 2}, {"v": "interrupted"})
    monkeypatch.setattr("verify.rechecker.Instance.in_scope", interrupt)
    at_scope = check(make_theorem(Inequality("c", sp.Lt(x, 3))), {"x": 1})
    assert at_scope.interrupted and (at_scope.scope_confirmed, at_scope.scope_doubt) == (None, "interrupted")
    assert at_scope.clauses[0].rechecked


def test_theorem_1_in_and_out_of_scope():
    theorem = load_theorem("wang2024.theorem1")
    instance = {"T": 9, "q": 2, "d": 1, "eps": "1/20"}
    inside = verify.check(theorem, eta="1/20", **instance)
    assert (inside.outcome, inside.evidence) == (Outcome.OUT_OF_SCOPE, Evidence.CERTIFIED)
    assert [h.label for h in inside.hypotheses if not h.holds] == ["accuracy"]
    assert verify.check(theorem, eta="1/20", **{**instance, "eps": "3/500"}).outcome is Outcome.VERIFIED
