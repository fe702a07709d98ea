"""Trials of the componentwise problems detect a wrong minimiser, and a direction in which f_j is flat."""

from itertools import islice

import numpy as np
import pytest
import sympy as sp

from theorems.preconditioned_descent.trials.component_problems import DRAWS, convex, minimised_at

LAMBDA, TRACE, N = sp.symbols("lambda t n", positive=True)
BEST = N / ((N + 1) * LAMBDA + TRACE)


def tried(trials, n=20, prior="identity"):
    return list(islice(trials({"n": n, "prior": prior}, np.random.default_rng(0)), DRAWS))


def test_the_minimiser_stands_and_one_beside_it_is_found_by_losses_and_by_slopes():
    assert not any(trial.violates for trial in tried(minimised_at(BEST)))
    wrong = tried(minimised_at(sp.Rational(21, 20) * BEST))
    assert any(trial.violates for trial in wrong[::2])
    assert all(trial.violates for trial in wrong[1::2])


def test_under_the_other_prior_it_is_no_minimiser():
    assert any(trial.violates for trial in tried(minimised_at(BEST), prior="inverse"))


@pytest.mark.parametrize("prior", ["identity", "inverse"])
@pytest.mark.parametrize("n", [1, 20])
def test_f_is_strictly_convex_in_the_sum_and_not_in_the_difference(n, prior):
    right, wrong = (tried(convex(sign), n, prior) for sign in (1, -1))
    assert not any(trial.violates for trial in right)
    # The sign has no effect for a matrix M with only a last column, but it has one for nearly skew-symmetric matrices.
    assert sum(trial.violates for trial in wrong[2::3]) > DRAWS / 6
