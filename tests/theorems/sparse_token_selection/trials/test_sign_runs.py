"""Runs with sign encodings: true claims, similar false claims that are refuted, and runs that do not converge."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theorems.sparse_token_selection.descent_on_the_set import EVALUATIONS as ON_THE_SET
from theorems.sparse_token_selection.descent_with_the_query import EVALUATIONS as WITH_THE_QUERY
from theorems.sparse_token_selection.trials import sign_runs as runs
from verify.errors import UndefinedError

FINITE = {"T": 20, "q": 3, "d": 2, "d_e": 60, "eta": Fraction(1, 2)}
RISING = {"T": 7, "q": 1, "d": 1, "d_e": 30, "eta": Fraction(1, 5)}


def tried(trials, instance, seed=0):
    return list(trials(instance, np.random.default_rng(seed)))


@pytest.mark.parametrize("label", sorted(ON_THE_SET))
@pytest.mark.parametrize(("evaluations", "eta"), [(ON_THE_SET, "1/2"), (WITH_THE_QUERY, "1/30")])
def test_a_claim_stands_and_its_wrong_variant_does_not(evaluations, eta, label):
    instance, evaluation = {**FINITE, "eta": Fraction(eta)}, evaluations[label]
    found = tried(evaluation.trials, instance)
    assert len(found) >= 3 and not any(trial.violates for trial in found)
    assert any(trial.violates for trial in tried(evaluation.wrong_trials, instance))


def test_nothing_is_claimed_of_signs_at_large_steps():
    (trial,) = tried(runs.nonnegative(False, slack=1 - 4 * sp.Symbol("eta")), FINITE)
    assert (trial.margin, trial.error) == (1, 0)


def test_logits_that_rise_without_end_are_one_of_the_alternatives():
    found = tried(runs.converges(False), RISING)
    assert len(found) == 4 and not any(trial.violates for trial in found)
    with pytest.raises(UndefinedError, match="there is no limit at which a rate is claimed"):
        tried(ON_THE_SET["geometric"].trials, RISING)


def test_logits_that_rise_where_they_may_not_are_a_violation():
    assert tried(runs.converges(False, bounded=lambda instance: True), RISING)[0].violates
