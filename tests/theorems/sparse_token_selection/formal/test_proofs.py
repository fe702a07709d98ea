"""Rocq accepts the proofs with only the axioms of the classical reals, and refuses them if a definition is wrong."""

import pytest

from tests.theorems import rocq

AREA = rocq.Area("sparse_token_selection", "SparseTokenSelection")
LEMMA1 = {
    "layer.reduced_dynamics.lemma1_kept": "kept",
    "layer.reduced_dynamics.lemma1_loss_on_the_set": "loss_on_the_set",
    "layer.reduced_dynamics.lemma1_step": "step_from_the_set",
    "layer.reduced_dynamics.lemma1_step_exists": "step_exists",
    "layer.reduced_dynamics.lemma1_run_exists": "run_exists",
    "layer.sign_tables.sign_tables_are_a_mean": "mean_exists",
}
RUNS = {
    "one_hot_convergence.theorem1_reaches": "theorem1_reached",
    "one_hot_convergence.theorem1_stay": "theorem1_stays",
    "one_hot_convergence.larger_steps_reach": "larger_steps_reached",
    "one_hot_convergence.larger_steps_stay": "larger_steps_stays",
    "one_hot_convergence.small_steps_reach": "small_steps_reached",
    "one_hot_convergence.small_steps_stay": "small_steps_stays",
    "one_hot_rate.slope_of_inverse_loss": "rate_slope",
    "one_hot_rate.limits_of_odds_and_lag": "rate_limits",
    "run.step_at_odds.step_in_odds": "rate_step",
    "run.step_at_odds.lag_of_a_step": "rate_lag",
    "run.step_at_odds.rate_of_a_step": "rate_rate",
    "run.step_at_odds.curve_of_lags": "rate_curve",
    "run.step_at_odds.correction_of_the_rate": "rate_correction",
    "run.step_at_odds.phi_of_the_recursion": "rate_phi",
    "one_hot_rate.slope_for_small_steps": "small_steps_slope",
    "one_hot_rate.slope_for_larger_steps": "larger_steps_slope",
    "one_hot_rate.number_of_small_steps": "small_steps_number",
    "stationary_points.slope_alpha_holds": "stationary_slope_alpha",
    "stationary_points.slope_C_holds": "stationary_slope_C",
    "stationary_points.none_finite_holds": "stationary_none_finite",
    "stationary_points.alpha_at_plus_infinity_holds": "stationary_alpha_at_plus_infinity",
    "stationary_points.slope_C_at_plus_infinity_holds": "stationary_slope_C_at_plus_infinity",
    "stationary_points.loss_at_plus_infinity_holds": "stationary_loss_at_plus_infinity",
    "stationary_points.alpha_at_minus_infinity_holds": "stationary_alpha_at_minus_infinity",
    "stationary_points.slope_C_at_minus_infinity_holds": "stationary_slope_C_at_minus_infinity",
    "stationary_points.loss_at_minus_infinity_holds": "stationary_loss_at_minus_infinity",
    "stationary_points.cosine_holds": "stationary_cosine",
}


@pytest.fixture(scope="module")
def lemma1(tmp_path_factory):
    """Return the folder in which Lemma 1 is compiled."""
    folder = AREA.copied(tmp_path_factory.mktemp("lemma1"))
    failure = AREA.compiled(folder, "formal/layer/reduced_dynamics.v", "formal/layer/sign_tables.v")
    assert failure is None, failure
    return folder


def test_nothing_is_left_unproved():
    assert len(AREA.sources()) > 10
    assert AREA.unproved() == []


@pytest.mark.parametrize(
    "text", ["Proof. Admitted.", "Axiom bad : False.", "Parameter x : R.", "Unset Guard Checking."]
)
def test_an_unproved_statement_is_found(text):
    assert rocq.UNPROVED.search(text)


@pytest.mark.formal
def test_lemma_1_follows_from_the_layer(lemma1):
    good, answer = AREA.asked(lemma1, AREA.statements(LEMMA1))
    assert good and rocq.axioms(answer) == rocq.ALLOWED


@pytest.mark.formal
def test_a_theorem_of_another_claim_is_refused(lemma1):
    good, answer = AREA.asked(lemma1, AREA.statements({"layer.reduced_dynamics.lemma1_kept": "loss_on_the_set"}))
    assert not good and "loss_on_the_set" in answer


@pytest.mark.formal
def test_an_axiom_more_is_seen(lemma1):
    text = "Axiom bad : False.\nTheorem worse : 1 = 2. Proof. destruct bad. Qed.\nPrint Assumptions worse."
    good, answer = AREA.asked(lemma1, text)
    assert good and rocq.axioms(answer) == {"bad"}


# With each planted error the changed file still compiles, and the proof that uses the changed definition fails.
ONE_ENTRY = "is_derive (fun t => sample_loss q (with_entry W r c t) V X y) (W r c) "
PLANTED = {
    "one entry of the gradient doubled": (
        "definitions",
        ONE_ENTRY + "g.",
        ONE_ENTRY + "(if r =? d then 2 * g else g).",
        "layer/gradient",
    ),
    "a second moment of 2": (
        "definitions",
        "S (S j) => INR (S j) *",
        "S (S j) => INR (S (S j)) *",
        "layer/expectation",
    ),
    "a sign of one entry of V's step": (
        "definitions",
        "V' a r = V a r - eta * population_mean q E g",
        "V' a r = V a r - (if a =? 0 then - eta else eta) * population_mean q E g",
        "layer/reduced_dynamics",
    ),
    "the target not divided by q": ("definitions", "X a i) / INR q.", "X a i).", "layer/reduced_dynamics"),
    "T for T - 1 in the step of C": ("recursion", "(q * (T - 1))", "(q * T)", "layer/reduced_dynamics"),
    "W along the identity": ("claims", "C * (one_hot r c - / INR T)", "C * one_hot r c", "layer/reduced_dynamics"),
    "w left out of the move of C": (
        "claims",
        "(1 - alpha_with_lag / (1 + r) * (1 - w_at_odds))",
        "(1 - alpha_with_lag / (1 + r))",
        "run/step_at_odds",
    ),
    "T for T - 1 in the limit of the increment": (
        "claims",
        "0 (4 * eta * phi0 / (INR T - 1))",
        "0 (4 * eta * phi0 / INR T)",
        "run/step_at_odds",
    ),
    "odds that rise by a step": (
        "claims",
        "Definition odds_after : R := r * (1 - phi * move).",
        "Definition odds_after : R := r * (1 + phi * move).",
        "run/step_at_odds",
    ),
    "a curve with d in the place of T - 1 - d": (
        "claims",
        "q / (T - q) + q * (T - 1 - d) /",
        "q / (T - q) + q * d /",
        "run/step_at_odds",
    ),
    "phi without its half": (
        "claims",
        "eta (h r) r / 2)) / r ^ 2) 0 0",
        "eta (h r) r)) / r ^ 2) 0 0",
        "run/step_at_odds",
    ),
    "a correction without 2q": (
        "claims",
        "+ 2 * INR q * (INR T - 1)) / (",
        "+ INR q * (INR T - 1)) / (",
        "run/step_at_odds",
    ),
}
QUICK = {
    "one entry of the gradient doubled",
    "a second moment of 2",
    "w left out of the move of C",
    "a correction without 2q",
}


@pytest.mark.formal
@pytest.mark.parametrize(
    "error", [pytest.param(error, marks=[] if error in QUICK else [pytest.mark.audit]) for error in PLANTED]
)
def test_a_wrong_definition_is_refused(tmp_path, error):
    assert AREA.refuses(tmp_path, *PLANTED[error])


@pytest.mark.formal
@pytest.mark.audit
def test_theorem_1_and_the_rate_follow_from_the_layer(lemma1):
    failure = AREA.compiled(lemma1, *AREA.sources())
    assert failure is None, failure
    good, answer = AREA.asked(lemma1, AREA.statements(LEMMA1 | RUNS))
    assert good and rocq.axioms(answer) == rocq.ALLOWED


@pytest.mark.formal
@pytest.mark.audit
def test_the_checker_lists_no_other_axiom(lemma1):
    assert AREA.compiled(lemma1, *AREA.sources()) is None
    assert AREA.checked(lemma1) == rocq.ALLOWED
