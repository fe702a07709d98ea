"""Theorem 1 for all sizes: the box, the Hessian's bound and the domination on grids, the steps against runs."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from theorems.sparse_token_selection.one_hot_convergence import REACHED
from theorems.sparse_token_selection.reduced_dynamics import C, alpha, loss
from theorems.sparse_token_selection.task import T, d, q
from verify import Evidence, InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.one_hot_descent")
SIZES = [(9, 2, 1), (9, 2, 40), (13, 3, 2), (41, 10, 3), (200, 3, 5), (1000, 2, 1)]


def softmax_loss(length, subset, a, c):
    """Return 2qL/d from the shares themselves: d/2 Σ_i (α p_i − 1_y/q)², and E over y is over in."""
    logits = np.where(np.arange(length) < subset, c, 0.0)
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    return subset * ((a * shares - (np.arange(length) < subset) / subset) ** 2).sum()


def test_it_is_the_layers_loss():
    value = sp.lambdify((T, q, d, alpha, C), 2 * q / d * loss)
    for length, subset, dimension in SIZES[:4]:
        for a, c in ((0.0, 0.0), (1.3, 0.4), (2.0, 3.0)):
            assert math.isclose(
                value(length, subset, dimension, a, c), softmax_loss(length, subset, a, c), rel_tol=1e-12
            )


@pytest.fixture(scope="module")
def derivatives():
    scaled = 2 * q / d * loss
    entries = [scaled, *(scaled.diff(*by) for by in ((alpha,), (C,), (alpha, 2), (alpha, 1, C, 1), (C, 2)))]
    return sp.lambdify((T, q, d, alpha, C), entries)


@pytest.mark.parametrize("sizes", SIZES)
def test_no_curvature_in_the_box_is_above_the_bound_and_slopes_dominate_the_loss(derivatives, sizes):
    length, subset, dimension = sizes
    bound = (1 + 2 * dimension / (5 * subset)) / subset
    kappa = dimension * subset**2 / (4 * length**2 * (length - 1 + dimension))
    late = dimension * subset / (16 * (dimension * length + subset * (length - 1)))
    seen = 0
    for a in np.linspace(0, math.sqrt(length / subset), 60):
        for c in np.concatenate([np.linspace(0, 3, 60), np.linspace(3, 30, 40)]):
            level, by_alpha, by_C, aa, ac, cc = (float(x) for x in derivatives(*sizes, a, c))
            # Steps η/d and η/(T−1), and L = d/(2q) ℓ; η is left out of both.
            scales = np.sqrt([1 / dimension, 1 / (length - 1)]) * math.sqrt(dimension / (2 * subset))
            hessian = np.array([[aa, ac], [ac, cc]]) * np.outer(scales, scales)
            assert np.linalg.eigvalsh(hessian).max() <= bound * (1 + 1e-12)
            if level <= 1:
                seen += 1
                slopes = (by_alpha**2 + dimension / (length - 1) * by_C**2) / 4
                assert slopes >= kappa * level**2 * (1 - 1e-9)
                if level <= 0.5:
                    assert slopes >= late * level**2 * (1 - 1e-9)
    assert seen > 500


@pytest.mark.parametrize("sizes", SIZES)
def test_runs_stay_in_the_box_and_are_below_their_bound_in_time(sizes):
    length, subset, dimension = sizes
    largest = verify.check(THEOREM, T=length, q=subset, d=dimension, eta="1/10000", eps=1).values["largest_step_size"]
    for eta in (float(largest), float(largest) / 7):
        a = c = 0.0
        losses = []
        for _ in range(3000):
            losses.append(softmax_loss(length, subset, a, c))
            spread = length - subset
            weight = math.exp(-c)
            share = subset / (subset + spread * weight)
            mass = share + (1 - share) * weight
            a, c = (
                a * (1 - eta * share * mass / subset) + eta * share / subset,
                c
                + eta * dimension / (subset * (length - 1)) * a * share * (1 - share) * (1 - a * share * (1 - weight)),
            )
            assert 0 <= a <= math.sqrt(length / subset) and c >= 0
        assert (np.diff(losses) < 0).all()
        growth = 6 * eta / (5 * subset) * dimension * subset**2 / (4 * length**2 * (length - 1 + dimension))
        assert (1 / np.array(losses) >= (1 + growth * np.arange(3000)) * (1 - 1e-9)).all()


def test_the_bound_on_the_steps_is_kept_by_the_certified_number():
    sizes = {"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"}
    steps = verify.check(load_theorem("wang2024.theorem1"), **sizes).values["steps_to_epsilon"]
    bound = verify.check(THEOREM, **sizes).values["steps_at_most"]
    # 10·81·9/(3·2/20) + 20·(8 + 9/2)/(3/20/200).
    assert bound == 24300 + Fraction(1000000, 3) > steps.upper


def test_its_steps_are_proved_and_the_papers_step_size_is_within_it():
    for sizes in (THEOREM.example, {"T": 200, "q": 3, "d": 5, "eta": "1/500", "eps": "1e-9"}):
        result = verify.check(THEOREM, **sizes)
        assert result.outcome is Outcome.VERIFIED
        proved = {
            clause.label: clause.evidence for clause in result.clauses if clause.label not in ("reached", "stays")
        }
        assert set(proved.values()) == {Evidence.PROVED} and result.evidence is Evidence.CERTIFIED
    # The figures' step size 1 is within it, where Theorem 1's is 1/500.
    assert verify.check(THEOREM, T=200, q=3, d=5, eta=1, eps="1/100").outcome is Outcome.VERIFIED
    assert verify.check(THEOREM, T=200, q=3, d=5, eta="3/2", eps="1/100").outcome is Outcome.OUT_OF_SCOPE


def test_a_last_step_before_the_run_is_down_is_not_kept():
    # From 2.48·10¹³ steps on, by the tube; 10¹³ could not be followed.
    sizes = {"T": 200, "q": 3, "d": 5, "eta": "1/500", "eps": "1e-9"}
    for within, holds in ((10**13, None), (25 * 10**12, True)):
        claim = replace(REACHED, within=sp.Integer(within), says="")
        result = verify.check(THEOREM.variant(THEOREM.statement.alone(claim)), sizes, seconds=15)
        assert result.clauses[0].holds is holds
    low, high = result.clauses[0].values["steps"].lower, result.clauses[0].values["steps"].upper
    assert 10**13 < low < high < 25 * 10**12


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 201}, {"eps": 0}, {"T": 1}):
        with pytest.raises(InputError):
            verify.check(THEOREM, **{"T": 200, "q": 3, "d": 5, "eta": 1, "eps": 1} | wrong)
