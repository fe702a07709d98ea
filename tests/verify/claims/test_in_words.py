"""Claims in words: their trials' verdict at an instance, its evidence, and refusals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import verify
from verify import Enclosure, Evaluation, Evidence, InputError, InWords, Outcome, TheoremError, Trial
from verify.checking.certificates import certificate
from verify.checking.check import check_wrong

CLAIM = InWords("above", "u^2 + x >= 0 for all u in [-1, 1]")


def above(least):
    """Return the trials of u² + x ≥ `least`, with u drawn from [−1, 1]."""

    def trials(instance, random):
        while True:
            u = random.uniform(-1, 1)
            yield Trial(u**2 + float(instance["x"]) - least, 1e-15, {"u": u})

    return trials


def listed(*margins, error=0):
    """Return trials that have these margins at every instance."""
    return lambda instance, random: (Trial(m, error, {"place": i}) for i, m in enumerate(margins))


DRAWN = Evaluation(above(0), "u^2 + x >= 1 for all u in [-1, 1]", above(1), draws=50)


@pytest.fixture
def evaluate(make_theorem):
    def run(evaluation, x=Fraction(1, 8), **options):
        theorem = make_theorem(CLAIM, evaluations={"above": evaluation})
        return verify.check(theorem, x=x, **options).clauses[0]

    return run


def test_a_claim_that_no_drawn_trial_violates_is_verified_by_simulation(evaluate):
    result = evaluate(DRAWN)
    assert (result.outcome, result.evidence, result.rechecked) == (Outcome.VERIFIED, Evidence.SIMULATED, False)
    assert (result.draws, result.detail) == (50, "no violation in 50 trials")
    # u² + 1/8 is at least 1/8; with probability 1 − 2⁻⁵⁰ at least one of 50 draws of u is within 1/2 of 0.
    assert Fraction(1, 8) <= result.margin.upper and result.margin.lower < Fraction(3, 8)


def test_a_violation_refutes_with_what_was_tried(evaluate):
    result = evaluate(DRAWN, x=Fraction(-1, 2))
    assert (result.outcome, result.evidence) == (Outcome.REFUTED, Evidence.SIMULATED)
    assert result.witness["x"] == Fraction(-1, 2) and float(result.witness["u"]) ** 2 < 0.5
    assert result.detail == f"violated at trial {result.draws}" and result.margin.upper < 0


def test_the_draws_are_the_same_for_a_seed(evaluate):
    first, again, other = (evaluate(DRAWN, seed=seed).margin for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize(
    ("margins", "error", "outcome", "count"),
    [
        ((1, 2), 0, Outcome.VERIFIED, 2),
        ((0,), 0, Outcome.VERIFIED, 1),
        ((1, Fraction(-1, 3), 2), 0, Outcome.REFUTED, 2),
        ((1, -0.1), 0.2, Outcome.VERIFIED, 2),
        ((1, -0.3), 0.2, Outcome.REFUTED, 2),
        ((Fraction(10**400, 3), 10**500), 0, Outcome.VERIFIED, 2),
        ((), 0, Outcome.INCONCLUSIVE, 0),
    ],
)
def test_trials_that_are_not_drawn_are_computed(evaluate, margins, error, outcome, count):
    result = evaluate(Evaluation(listed(*margins, error=error), "wrong", listed(-1)))
    assert result.outcome is outcome and result.draws == 0
    if count:
        assert result.evidence is Evidence.COMPUTED and str(count) in result.detail
        least = min(margins)
        assert result.margin == Enclosure(Fraction(least) - Fraction(error), Fraction(least) + Fraction(error))
    else:
        assert (result.evidence, result.detail) == (None, "nothing is tried at this instance")


def test_without_an_evaluation_nothing_is_decided(make_theorem):
    result = verify.check(make_theorem(CLAIM), x=1).clauses[0]
    assert (result.outcome, result.detail) == (Outcome.INCONCLUSIVE, "in words: no evaluation is given")


def test_the_time_ends_the_trials(clock, evaluate):
    result = evaluate(Evaluation(above(0), "wrong", above(1), draws=10**6), seconds=0.5)
    assert result.outcome is Outcome.INCONCLUSIVE and result.evidence is None
    assert result.detail.startswith("the time ran out after ") and result.margin.lower >= Fraction(1, 8) - 1


@pytest.mark.parametrize(
    ("trial", "why"),
    [
        (Trial(math.nan), "the margin of trial 1 is not a number"),
        (Trial(1, math.nan), "the error of trial 1 is nan"),
        # A trial with an infinite error is refused, because it decides nothing.
        (Trial(-5, math.inf), "the error of trial 1 is inf, and must be finite and at least 0"),
        (Trial(1, -2), "the error of trial 1 is -2"),
    ],
)
def test_trials_with_an_invalid_margin_or_error_decide_nothing(evaluate, trial, why):
    result = evaluate(Evaluation(lambda instance, random: iter([trial]), "wrong", listed(-1)))
    assert result.outcome is Outcome.INCONCLUSIVE and why in result.detail


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_trials_have_one_thread_of_blas_and_give_the_others_back(evaluate):
    seen = []

    def trials(instance, random):
        seen.append(blas_threads())
        yield Trial(1, 0, {})

    with threadpool_limits(2, "blas"):
        evaluate(Evaluation(trials, "wrong", listed(-1)))
        assert (seen, blas_threads()) == ([{1}], {2})


def test_trials_within_the_error_are_counted(evaluate):
    result = evaluate(Evaluation(listed(1, -1, -2, error=2), "wrong", listed(-1)))
    assert (result.outcome, result.detail) == (
        Outcome.VERIFIED,
        "no violation in 3 trials, 2 of them within the error",
    )


def test_a_margin_may_be_a_number_of_numpy(evaluate):
    result = evaluate(Evaluation(listed(np.float32(0.5), error=np.float64(0.25)), "wrong", listed(-1)))
    assert result.margin == Enclosure(Fraction(1, 4), Fraction(3, 4))


def test_trials_that_are_some_of_what_is_claimed_are_simulated(evaluate):
    assert evaluate(Evaluation(listed(1), "wrong", listed(-1), sampled=True)).evidence is Evidence.SIMULATED


def test_a_trial_refutes_no_limit_and_its_wrong_variant_still_falls(evaluate, make_theorem):
    limit = Evaluation(listed(1, -1), "wrong", listed(-1), limit=True)
    result = evaluate(limit)
    assert (result.outcome, result.detail) == (
        Outcome.INCONCLUSIVE,
        "trial 2 violates it, which does not refute a limit",
    )
    assert evaluate(replace(limit, trials=listed(1))).evidence is Evidence.SIMULATED
    wrong = check_wrong(make_theorem(CLAIM, evaluations={"above": limit}), "above", {"x": 1})
    assert (wrong.outcome, wrong.evidence) == (Outcome.REFUTED, Evidence.SIMULATED)


def test_an_evaluation_that_draws_says_how_many_trials(evaluate):
    drawn = lambda instance, random: iter([Trial(random.uniform())])  # noqa: E731
    with pytest.raises(TheoremError, match=r"without draws uses random\.uniform: say how many trials it draws"):
        evaluate(Evaluation(drawn, "wrong", listed(-1)))


@pytest.mark.parametrize("error", [OverflowError, MemoryError])
def test_trials_without_room_in_floats_or_memory_decide_nothing(evaluate, error):
    def trials(instance, random):
        yield Trial(1)
        raise error("too large")

    result = evaluate(Evaluation(trials, "wrong", listed(-1)))
    assert result.outcome is Outcome.INCONCLUSIVE
    assert f"evaluation of above: {error.__name__}: too large" in result.detail


def test_a_variant_keeps_what_evaluates_the_claims_that_it_keeps(make_theorem):
    made = make_theorem(CLAIM, evaluations={"above": DRAWN})
    other = make_theorem(InWords("above", "something else")).statement
    assert made.variant(made.statement).evaluations and not made.variant(other).evaluations


def test_an_evaluation_that_fails_is_the_theorems_fault(evaluate):
    with pytest.raises(TheoremError, match="evaluation of above: KeyError: 'y'"):
        evaluate(Evaluation(lambda instance, random: iter([Trial(instance["y"])]), "wrong", listed(-1)))


def test_the_wrong_variant_is_tried_the_same_way(make_theorem):
    theorem = make_theorem(CLAIM, evaluations={"above": DRAWN})
    wrong = check_wrong(theorem, "above", {"x": "1/8"})
    assert (wrong.outcome, wrong.evidence, wrong.claim) == (Outcome.REFUTED, Evidence.SIMULATED, DRAWN.wrong)
    with pytest.raises(InputError, match="below"):
        check_wrong(theorem, "below", {"x": "1/8"})


@pytest.mark.parametrize(
    ("wrong", "draws", "why"), [(" ", 0, "the wrong variant has no text"), ("w", -1, "draws -1 must be at least 0")]
)
def test_an_evaluation_says_its_wrong_variant_and_draws(wrong, draws, why):
    with pytest.raises(TheoremError, match=why):
        Evaluation(listed(1), wrong, listed(-1), draws)


def test_an_evaluation_is_of_a_claim_in_words(make_theorem):
    with pytest.raises(TheoremError, match="evaluations: there is no claim in words abvoe; did you mean above"):
        make_theorem(CLAIM, evaluations={"abvoe": DRAWN})


def test_a_certificate_states_nothing_of_a_claim_in_words(make_theorem):
    theorem = make_theorem(CLAIM, evaluations={"above": DRAWN})
    (stated,) = certificate(theorem, verify.check(theorem, x=1))["clauses"]
    assert stated == {"label": "above", "outcome": "inconclusive", "evidence": None, "proof": None}
