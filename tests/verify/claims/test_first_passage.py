"""Clauses about recursions: reaching a level within a number of steps, staying below it, and witnesses."""

from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify import Coordinate, Descent, Dynamics, Enclosure, Evidence, Outcome, Reaches, Stays
from verify.language.expressions import primitive

z, y = sp.symbols("z y", real=True)
x, a, b = sp.symbols("x a b", real=True)
DOWN = Dynamics((z,), (sp.Integer(100),), (z - 1,), z)
# The state rotates by about 10⁻⁹ radians per step, so the observable is about cos(10⁻⁹ t). No proof covers this
# recursion, so it is iterated.
SLOW = Dynamics((z, y), (sp.Integer(1), sp.Integer(0)), (z - y / 10**9, y + z / 10**9), z)
HALVING = Dynamics((z,), (sp.Integer(1),), (z * sp.Rational(1, 2),), z)
# The observable is (t − 3)²: 9, 4, 1, 0, 1, 4, …
BACK_UP = Dynamics((z,), (sp.Integer(-3),), (z + 1,), z**2)
# z' = z − s z is the gradient step of z²/2 with the step size s = 1/4; the observable is (3/4)^(2t)/2.
BOWL = Dynamics((z,), (sp.Integer(1),), (z * sp.Rational(3, 4),), z**2 / 2)
BOWL_PROOF = Descent((sp.Rational(1, 4),), (Coordinate(sp.Integer(-1), sp.Integer(1)),))


@pytest.fixture
def evaluate(make_theorem):
    def run(*clauses, proofs=None, seconds=20.0, **instance):
        theorem = make_theorem(*clauses, names=" ".join(instance), proofs=proofs)
        results = verify.check(theorem, seconds=seconds, **instance).clauses
        return results[0] if len(results) == 1 else results

    return run


@pytest.mark.parametrize(
    ("level", "step"), [("1", 0), ("1/2", 1), ("0.3", 2), ("1/1024", 10), ("1/1000", 10), ("1/1025", 11)]
)
def test_a_level_is_reached_at_its_first_step(evaluate, level, step):
    result = evaluate(Reaches("r", HALVING, x), x=level)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    assert result.values["steps"] == Enclosure(step, step)
    # The margin is exactly the level minus 2^-t.
    assert result.margin.lower == result.margin.upper == Fraction(level) - Fraction(1, 2**step)


def test_reached_within_a_number_of_steps_is_decided_to_the_step(evaluate):
    clause = Reaches("r", DOWN, sp.Integer(0), within=x)
    assert evaluate(clause, x=100).outcome is Outcome.VERIFIED
    assert evaluate(clause, x="100.5").outcome is Outcome.VERIFIED
    late = evaluate(clause, x=99)
    assert (late.outcome, late.evidence) == (Outcome.REFUTED, Evidence.CERTIFIED)
    assert late.witness == {"x": 99, "step": 99, "observable": Enclosure(1, 1)}
    assert late.values["steps"] == Enclosure(100, None)
    assert late.margin == Enclosure(-1, -1)
    assert evaluate(clause, x="99.999").witness["step"] == 99


def test_not_reached_before_a_number_of_steps_is_decided_to_the_step(evaluate):
    clause = Reaches("r", DOWN, sp.Integer(0), not_before=x)
    assert evaluate(clause, x=100).outcome is Outcome.VERIFIED
    assert evaluate(clause, x="99.5").outcome is Outcome.VERIFIED
    early = evaluate(clause, x="100.5")
    assert (early.outcome, early.evidence) == (Outcome.REFUTED, Evidence.CERTIFIED)
    assert early.witness == {"x": Fraction(201, 2), "step": 100, "observable": Enclosure(0, 0)}
    assert early.detail == "reached at step 100, before step 101"
    between = Reaches("r", DOWN, sp.Integer(0), within=x, not_before=x)
    assert [evaluate(between, x=x).outcome for x in ("99", "100", "101")] == [
        Outcome.REFUTED,
        Outcome.VERIFIED,
        Outcome.REFUTED,
    ]


def test_the_search_sees_a_level_that_is_reached_too_soon(make_theorem):
    clause = Reaches("r", HALVING, x, not_before=y)
    theorem = make_theorem(clause, names="x y")
    # 2^(-10) < 1/1000 < 2^(-9)
    for first, margin in ((20, -0.5), (10, 0.0), (5, 1.0), (-1, 1.0)):
        assert clause.scan(theorem.statement, {"x": Fraction(1, 1000), "y": Fraction(first)}) == margin


def test_a_number_of_steps_that_is_enclosed_is_not_rounded_down_to_a_refutation(evaluate):
    # 50·√a·√b is 100 at a = b = 2, but every enclosure of this number begins below 100.
    clause = Reaches("r", DOWN, sp.Integer(0), within=50 * sp.sqrt(a) * sp.sqrt(b))
    assert evaluate(clause, a=2, b=2).outcome is not Outcome.REFUTED
    assert evaluate(clause, a=2, b="1.9").outcome is Outcome.REFUTED
    assert evaluate(clause, a=2, b="2.1").outcome is Outcome.VERIFIED


def test_running_out_of_time_is_inconclusive(clock, evaluate):
    result = evaluate(Reaches("r", SLOW, x), seconds=0.1, x="1/2")
    assert (result.outcome, result.evidence, result.holds) == (Outcome.INCONCLUSIVE, None, None)
    assert "the time ran out" in result.detail
    assert result.values["steps"].lower >= 1 and result.values["steps"].upper is None
    assert Fraction(-1, 2) <= result.margin.lower <= result.margin.upper < 0


@pytest.mark.parametrize(
    ("dynamics", "level", "at"),
    [
        (Dynamics((z,), (sp.sqrt(a) * sp.sqrt(b),), (z,), z), sp.Integer(2), 0),
        # √z_t with z_t = 3 − t is 0 ≤ 1/2 at t = 3, but the ball about 0 has no square root.
        (Dynamics((z,), (sp.Integer(3),), (z - sp.sqrt(a) * sp.sqrt(b) / 2,), sp.sqrt(z)), sp.Rational(1, 2), 3),
    ],
)
def test_undecided_rounding_is_inconclusive_and_counts_only_what_was_certified(evaluate, dynamics, level, at):
    result = evaluate(Reaches("r", dynamics, level), a=2, b=2)
    assert (result.outcome, result.bits) == (Outcome.INCONCLUSIVE, 4096)
    assert f"undecided at 4096 bits at step {at}" in result.detail
    assert result.values["steps"].lower <= at and result.values["steps"].upper is None


def test_a_step_that_was_interrupted_is_not_counted_as_above(evaluate):
    # The evaluation of 10 − z is interrupted at step 5, where its value 5 is below 11/2.
    @primitive(1)
    def interrupted_at_five(arithmetic, value):
        if value == 5:
            raise KeyboardInterrupt
        return value

    dynamics = Dynamics((z,), (sp.Integer(0),), (z + 1,), 10 - interrupted_at_five(z))
    result = evaluate(Reaches("r", dynamics, x), x="11/2")
    assert result.outcome is Outcome.INCONCLUSIVE and "interrupted at step 5" in result.detail
    assert result.values["steps"].lower <= 5


def test_a_run_that_comes_down_for_good_stays(evaluate):
    reached, stays = evaluate(
        Reaches("r", BOWL, x), Stays("s", BOWL, reached=x, level=x), proofs={"s": BOWL_PROOF}, x="1/10"
    )
    assert (stays.outcome, stays.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    # The first t with ½(9/16)^t ≤ 1/10 is 3, where the observable is 729/8192.
    assert reached.values["steps"] == Enclosure(3, 3)
    assert stays.margin.lower <= Fraction(1, 10) - Fraction(729, 8192) <= stays.margin.upper
    # The width comes from a few roundings, to 128 bits, of values below 1.
    assert stays.margin.upper - stays.margin.lower < Fraction(1, 2**115)
    assert "never increases on an invariant box" in stays.detail


def test_without_a_proof_staying_is_inconclusive(evaluate):
    result = evaluate(Stays("s", BOWL, reached=x, level=x), x="1/10")
    assert (result.outcome, result.evidence) == (Outcome.INCONCLUSIVE, None)
    assert "no invariant region is known" in result.detail


def test_a_proof_that_fails_proves_nothing(evaluate):
    narrow = Descent((sp.Rational(1, 4),), (Coordinate(sp.Integer(-1), sp.Rational(1, 2)),))
    other = Descent((sp.Rational(1, 2),), (Coordinate(sp.Integer(-1), sp.Integer(1)),))
    for proof, why in ((narrow, "initial point is not in the box"), (other, "not the scaled gradient step")):
        result = evaluate(Stays("s", BOWL, reached=x, level=x), proofs={"s": proof}, x="1/10")
        assert result.outcome is Outcome.INCONCLUSIVE and why in result.detail


def test_a_proof_is_not_used_for_a_level_below_the_one_reached(evaluate):
    clause = Stays("s", BOWL, reached=x, level=x / 2)
    result = evaluate(clause, proofs={"s": BOWL_PROOF}, x="1/10")
    # At step 3 the observable is 729/8192 > 1/20.
    assert result.outcome is Outcome.REFUTED
    assert (result.witness["reached_at"], result.witness["above_at"]) == (3, 3)


def test_a_run_that_comes_back_up_is_refuted_by_its_first_step_above(evaluate):
    result = evaluate(Stays("s", BACK_UP, reached=x, level=x), x="3/2")
    assert (result.outcome, result.evidence, result.holds) == (Outcome.REFUTED, Evidence.CERTIFIED, False)
    assert result.witness == {
        "x": Fraction(3, 2),
        "reached_at": 2,
        "above_at": 5,
        "observable": Enclosure(4, 4),
    }
    assert result.margin == Enclosure(Fraction(-5, 2), Fraction(-5, 2))
    assert result.detail == "reached at step 2, above 3/2 at step 5"


def test_an_undecided_comparison_does_not_refute(evaluate):
    # The state is 1 at step 0 and √a·√b = 2 at all later steps: it is never above 2, but no precision shows this.
    touching = Dynamics((z,), (sp.Integer(1),), (sp.sqrt(a) * sp.sqrt(b) + 0 * z,), z)
    result = evaluate(Stays("s", touching, sp.Rational(3, 2), sp.Integer(2)), a=2, b=2)
    assert result.outcome is Outcome.INCONCLUSIVE
    above = evaluate(Stays("s", touching, sp.Rational(3, 2), sp.Integer(2)), a=2, b="2.0000001")
    assert (above.outcome, above.witness["above_at"]) == (Outcome.REFUTED, 1)


def test_a_level_that_was_not_reached_says_nothing_about_staying(clock, evaluate):
    result = evaluate(Stays("s", SLOW, reached=x, level=x), seconds=0.1, x="1/2")
    assert result.outcome is Outcome.INCONCLUSIVE and "the level was not reached" in result.detail


@pytest.mark.parametrize(
    ("dynamics", "period"),
    [
        (Dynamics((z,), (sp.Integer(1),), (z,), z), 1),
        (Dynamics((z,), (sp.Integer(1),), (-z,), z**2), 2),
        (Dynamics((z,), (sp.Integer(1),), (-2 * z,), z**2), None),
        (Dynamics((z,), (sp.Integer(1),), (z + x,), z), None),
        (Dynamics((z,), (sp.Integer(1),), (z**2 + z,), z), None),
    ],
)
def test_a_run_that_stays_above_the_level_never_reaches_it(evaluate, dynamics, period):
    result = evaluate(Reaches("r", dynamics, x), seconds=5, x="1/2")
    assert (result.outcome, result.evidence, result.proof["kind"]) == (Outcome.REFUTED, Evidence.CERTIFIED, "kept")
    assert result.witness["observable_at_start"] == 1 and result.witness.get("period") == period
    assert result.detail.startswith("never reached: at every step ") and ("back at its start" in result.detail) == bool(
        period
    )
    kept = evaluate(Stays("s", dynamics, reached=x, level=x), seconds=5, x="1/2")
    assert (kept.outcome, kept.proof["kind"]) == (Outcome.VERIFIED, "kept")


def test_staying_may_be_certified_before_the_level_is_reached(clock, evaluate):
    slow = Dynamics((z,), (sp.Integer(1),), (z * (1 - x),), z**2 / 2)
    proof = Descent((x,), (Coordinate(sp.Integer(-1), sp.Integer(1)),))
    level = sp.Rational(1, 10)
    result = evaluate(Stays("s", slow, level, level), proofs={"s": proof}, seconds=0.05, x="1e-9")
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    # At the later steps, only the bound 1/10 on the observable is known.
    assert result.margin == Enclosure(0, None)


def test_the_margin_of_what_is_not_reached_yet_supposes_nothing_about_the_sign(clock, evaluate):
    slow = Dynamics((z,), (sp.Integer(1),), (z * (1 - x),), z**2 / 2 - 1)
    proof = Descent((x,), (Coordinate(sp.Integer(-1), sp.Integer(1)),))
    level = sp.Rational(-3, 4)
    result = evaluate(Stays("s", slow, level, level), proofs={"s": proof}, seconds=0.05, x="1e-9")
    assert result.outcome is Outcome.VERIFIED
    if result.margin is not None and result.margin.upper is not None:
        # The observable tends to −1, where the margin is 1/4.
        assert result.margin.lower <= Fraction(1, 4) <= result.margin.upper


def test_clauses_on_one_recursion_follow_it_once(evaluate):
    calls = []

    @primitive(1)
    def counted(arithmetic, value):
        calls.append(None)
        return value

    dynamics = Dynamics((z,), (sp.Integer(1),), (z / 2,), counted(z))
    evaluate(Reaches("r", dynamics, x), Reaches("again", dynamics, x), x="1/100")
    # 2^-7 ≤ 1/100 < 2^-6: steps 0 to 7 are each computed once.
    assert len(calls) == 8


def test_a_recursion_may_use_the_definitions_of_the_statement(make_theorem):
    falling = Dynamics((z,), (sp.Integer(3),), (z - y,), z)
    theorem = make_theorem(Reaches("r", falling, sp.Integer(0)), definitions={y: x / 2})
    assert verify.check(theorem, x=1).clauses[0].values["steps"] == Enclosure(6, 6)


def test_the_clauses_say_what_they_claim():
    assert Reaches("r", DOWN, x).text == "z <= x at some step t"
    assert Reaches("r", DOWN, x, within=a).text == "z <= x at some step t, with t <= a"
    assert Reaches("r", DOWN, x, says="down").text == "down"
    assert Stays("s", DOWN, x, a).text == "z <= a at all steps s >= t, where t is the first step with z <= x"
    assert Stays("s", DOWN, x, a, says="down").text == "down"


def test_the_data_of_a_clause_shows_every_change():
    variants = [
        Reaches("r", DOWN, x),
        Reaches("q", DOWN, x),
        Reaches("r", DOWN, a),
        Reaches("r", BOWL, x),
        Reaches("r", DOWN, x, within=a),
        Stays("r", DOWN, x, x),
        Stays("r", DOWN, x, a),
        Stays("r", DOWN, a, x),
    ]
    data = [str(clause.to_data()) for clause in variants]
    assert len(set(data)) == len(data)
    assert Reaches("r", DOWN, x, says="in words").to_data() != variants[0].to_data()


def test_a_clause_names_its_state_and_its_expressions():
    clause = Reaches("r", DOWN, x, within=a)
    assert clause.bound_names() == {"z"} == Stays("s", DOWN, x, a).bound_names()
    assert set().union(*(e.free_symbols for e in clause.expressions())) == {z, x, a}
    assert set().union(*(e.free_symbols for e in Stays("s", DOWN, x, a).expressions())) == {z, x, a}
