"""Comparisons: outcomes, evidence, the bound on chance, and drawn instances."""

import math
from dataclasses import replace

import pytest
from hypothesis import strategies as st

from verify import (
    Comparison,
    Evidence,
    InputError,
    Measurement,
    Outcome,
    TheoremError,
    Verdict,
    agreement,
    all_of,
    over_drawn,
    over_instances,
    student_bound,
)

VERIFIED = Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "agrees")
REFUTED = Verdict(Outcome.REFUTED, Evidence.SIMULATED, "differs")
UNSURE = Verdict(Outcome.INCONCLUSIVE, Evidence.COMPUTED, "too wide")


def comparison(compare, **more):
    return Comparison("user.compare", "a title", "user.theorem", None, compare, **more)


def test_a_comparison_runs_where_it_is_asked_to():
    def compare(*, device, full, seed):
        return Verdict(Outcome.VERIFIED, Evidence.COMPUTED, f"{device} {full} {seed}", 3)

    found = comparison(compare).run(device="cpu", full=True, seed=5)
    assert (found.id, found.theorem, found.outcome) == ("user.compare", "user.theorem", Outcome.VERIFIED)
    assert (found.evidence, found.detail, found.instances) == (Evidence.COMPUTED, "cpu True 5", 3)
    assert (found.device, found.seed) == ("cpu", 5) and found.seconds >= 0


def test_a_comparison_says_so_where_it_runs_elsewhere(monkeypatch):
    monkeypatch.setattr("verify.runs.comparisons.device_named", lambda asked: asked)
    alone = comparison(lambda **_: VERIFIED, devices=("cpu",))
    assert alone.run(device="cuda").device == "cpu"
    assert comparison(lambda **_: VERIFIED).run(device="cuda").device == "cuda"


def test_a_device_that_is_not_known():
    with pytest.raises(InputError, match="device = tpu"):
        comparison(lambda **_: VERIFIED).run(device="tpu")


@pytest.mark.parametrize(
    ("outcome", "evidence", "why"),
    [
        (Outcome.VERIFIED, Evidence.PROVED, "computed or simulated, not proved"),
        (Outcome.VERIFIED, Evidence.CERTIFIED, "computed or simulated, not certified"),
        (Outcome.OUT_OF_SCOPE, Evidence.COMPUTED, "verified, refuted or inconclusive, not out_of_scope"),
    ],
)
def test_a_comparison_has_no_scope_and_nothing_above_its_evidence(outcome, evidence, why):
    with pytest.raises(TheoremError, match=why):
        Verdict(outcome, evidence, "")


def test_a_verdict_of_a_truth_value():
    assert Verdict.when(True, "d", Evidence.COMPUTED) == Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "d")
    assert Verdict.when(False, "d", Evidence.COMPUTED).outcome is Outcome.REFUTED
    assert VERIFIED.holds and not REFUTED.holds and not UNSURE.holds


SHARE = 1e-6 / 10
"""The false-alarm rate of one of ten comparisons."""


@pytest.mark.parametrize(
    ("samples", "comparisons", "bound", "error"),
    [
        # For one degree of freedom (Cauchy), P(|t| > x) = 1 − 2 atan(x)/π, so x = cot(πp/2) with p = 10⁻⁶/4.
        (2, 4, 1 / math.tan(math.pi * 1e-6 / 4 / 2), 1e-9),
        # For two degrees of freedom, P(|t| > x) = 1 − x/√(2 + x²) = p, so x² = 2 (1 − p)²/(1 − (1 − p)²).
        (3, 10, math.sqrt(2 * (1 - SHARE) ** 2 / (SHARE * (2 - SHARE))), 1e-6),
        # P(|z| > 4.8916) = 10⁻⁶ (tables of the normal distribution).
        (10**7, 1, 4.8916, 1e-3 / 4.8916),
    ],
)
def test_the_bound_of_few_and_of_many_samples(samples, comparisons, bound, error):
    assert student_bound(samples, comparisons) == pytest.approx(bound, rel=error)
    assert student_bound(64, 10**6) > student_bound(64, 1) > student_bound(640, 1)


@pytest.mark.parametrize(("samples", "comparisons"), [(1, 1), (2, 0)])
def test_a_bound_needs_samples_and_comparisons(samples, comparisons):
    with pytest.raises(TheoremError, match="at least two samples and one comparison"):
        student_bound(samples, comparisons)


# For two samples and one comparison the bound is 2/(π 10⁻⁶) = 636619.8 standard errors.
WIDE = Measurement(1.0, 1e-6, 2)


@pytest.mark.parametrize(
    ("theory", "measured", "options", "outcome", "evidence"),
    [
        (1.6, WIDE, {}, Outcome.VERIFIED, Evidence.SIMULATED),
        (0.4, WIDE, {}, Outcome.VERIFIED, Evidence.SIMULATED),
        (1.7, WIDE, {}, Outcome.REFUTED, Evidence.SIMULATED),
        (0.3, WIDE, {}, Outcome.REFUTED, Evidence.SIMULATED),
        (1.7, WIDE, {"comparisons": 2}, Outcome.VERIFIED, Evidence.SIMULATED),
        (1.7, WIDE, {"rounding": 0.1}, Outcome.VERIFIED, Evidence.SIMULATED),
        (1.0, WIDE, {"resolution": 0.5}, Outcome.INCONCLUSIVE, Evidence.SIMULATED),
        (1.0, WIDE, {"resolution": 0.7}, Outcome.VERIFIED, Evidence.SIMULATED),
        (9.0, WIDE, {"resolution": 0.5}, Outcome.REFUTED, Evidence.SIMULATED),
        (1.0, Measurement(1.0), {}, Outcome.VERIFIED, Evidence.COMPUTED),
        (1.0, Measurement(1.0 + 1e-15), {}, Outcome.REFUTED, Evidence.COMPUTED),
        (1.0, Measurement(1.0 + 1e-15), {"rounding": 1e-14}, Outcome.VERIFIED, Evidence.COMPUTED),
        (1.0, Measurement(math.nan), {}, Outcome.INCONCLUSIVE, Evidence.COMPUTED),
        (math.inf, Measurement(1.0), {}, Outcome.INCONCLUSIVE, Evidence.COMPUTED),
        (1.0, Measurement(1.0, math.inf, 3), {}, Outcome.INCONCLUSIVE, Evidence.SIMULATED),
        (1.0, Measurement(1.0, math.nan, 3), {}, Outcome.INCONCLUSIVE, Evidence.SIMULATED),
    ],
)
def test_agreement(theory, measured, options, outcome, evidence):
    found = agreement(theory, measured, **({"comparisons": 1} | options))
    assert (found.outcome, found.evidence) == (outcome, evidence)
    assert found.detail.startswith(f"{measured.value:.6g} against {theory:.6g}: difference ")


@pytest.mark.parametrize(
    ("verdicts", "outcome", "detail"),
    [
        ([VERIFIED, VERIFIED], Outcome.VERIFIED, "1: agrees"),
        ([VERIFIED, UNSURE, VERIFIED], Outcome.INCONCLUSIVE, "1: too wide"),
        ([UNSURE, REFUTED], Outcome.REFUTED, "1: differs"),
        ([], Outcome.INCONCLUSIVE, "there is nothing to compare"),
    ],
)
def test_the_worst_verdict_speaks_for_all(verdicts, outcome, detail):
    found = all_of(enumerate(verdicts))
    assert (found.outcome, found.detail, found.instances) == (outcome, detail, bool(verdicts))


def test_sub_verdicts_are_not_counted_as_instances():
    several = all_of([("a", replace(VERIFIED, trainings=2, ratio=0.5)), ("b", replace(VERIFIED, ratio=0.25))])
    assert (several.instances, several.trainings, several.ratio) == (1, 2, 0.5)
    over = over_instances([(1, several), (2, several), (2, several)])
    assert (over.outcome, over.instances, over.trainings, over.ratio) == (Outcome.VERIFIED, 2, 6, 0.5)
    assert over_instances([(1, UNSURE), (2, REFUTED), (3, VERIFIED)]).detail == "2: differs"


@pytest.mark.parametrize(
    ("deviation", "allowed", "outcome", "ratio"),
    [
        (1.0, 2.0, Outcome.VERIFIED, 0.5),
        (2.0, 2.0, Outcome.VERIFIED, 1.0),
        (3.0, 2.0, Outcome.REFUTED, 1.5),
        (math.nan, 2.0, Outcome.REFUTED, math.inf),
        (math.inf, 2.0, Outcome.REFUTED, math.inf),
        (1.0, math.inf, Outcome.REFUTED, math.inf),
        (1.0, math.nan, Outcome.REFUTED, math.inf),
        (1.0, 0.0, Outcome.REFUTED, math.inf),
    ],
)
def test_a_deviation_within_what_is_allowed(deviation, allowed, outcome, ratio):
    found = Verdict.within(deviation, allowed, "it is", Evidence.COMPUTED)
    assert (found.outcome, found.ratio) == (outcome, ratio) and found.detail.startswith("it is off by ")


def test_the_weakest_evidence_is_that_of_all():
    weak = Verdict(Outcome.VERIFIED, Evidence.SIMULATED, "agrees")
    assert all_of([("a", VERIFIED)]).evidence is Evidence.COMPUTED
    assert all_of([("a", VERIFIED), ("b", weak), ("c", VERIFIED)]).evidence is Evidence.SIMULATED


def test_nothing_is_asked_after_a_refuted_one():
    def verdicts():
        yield "a", REFUTED
        raise AssertionError

    assert all_of(verdicts()).outcome is Outcome.REFUTED


def test_drawn_instances_repeat_for_a_seed():
    def drawn(seed):
        seen = []
        found = over_drawn(st.integers(0, 10**9), lambda n: seen.append(n) or VERIFIED, examples=20, seed=seed)
        assert (found.outcome, found.instances) == (Outcome.VERIFIED, 20)
        return seen

    assert drawn(1) == drawn(1) != drawn(2)


def test_the_instance_that_fails_is_shrunk_and_named():
    def compare(n):
        return Verdict.when(n < 1000, f"{n} is too large", Evidence.COMPUTED)

    found = over_drawn(st.integers(0, 10**9), compare, examples=50, seed=0)
    assert (found.outcome, found.evidence) == (Outcome.REFUTED, Evidence.COMPUTED)
    assert found.detail == "1000: 1000 is too large"


def test_an_instance_that_fails_only_once_is_not_forgotten():
    failed = []

    def compare(n):
        if failed or n < 1000:
            return VERIFIED
        failed.append(n)
        return REFUTED

    found = over_drawn(st.integers(0, 10**9), compare, examples=50, seed=0)
    assert found.outcome is Outcome.REFUTED and found.detail == f"{failed[0]}: differs"


@pytest.mark.parametrize(
    ("odd", "examples", "detail"), [(UNSURE, 2, "True: too wide"), (VERIFIED, 10, "2 of 10 instances drawn")]
)
def test_an_inconclusive_instance_or_too_few_are_inconclusive(odd, examples, detail):
    found = over_drawn(st.booleans(), lambda drawn: odd if drawn else VERIFIED, examples=examples, seed=0)
    assert (found.outcome, found.detail) == (Outcome.INCONCLUSIVE, detail)


def test_an_error_in_a_comparison_is_an_error():
    def compare(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        over_drawn(st.booleans(), compare, examples=2, seed=0)
