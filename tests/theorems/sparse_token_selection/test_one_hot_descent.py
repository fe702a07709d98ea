"""Theorem 1 for all sizes: the box, the Hessian's bound, gradient domination and the decrease, on grids and runs."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import verify
from theorems.sparse_token_selection.one_hot_convergence import REACHED
from theorems.sparse_token_selection.one_hot_descent import LEAST_FALL, STEPS, level
from theorems.sparse_token_selection.reduced_dynamics import C, alpha, loss
from theorems.sparse_token_selection.task import T, d, eps, eta, q
from verify import Evidence, InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.one_hot_descent")
SIZES = [(9, 2, 1), (9, 2, 40), (13, 3, 2), (41, 10, 3), (200, 3, 5), (1000, 2, 1)]
SMALL = [(2, 1, 1), (2, 1, 30), (2, 2, 3), (3, 1, 2), (3, 2, 100), (4, 3, 1), (5, 1, 7), (7, 6, 2)]
"""Sizes (T, q, d) with q = 1 or q not below T/4, which Theorem 1 excludes."""


def softmax_loss(length, subset, a, c):
    """Return 2qL/d from the shares p_i, where L = d/2 Σ_i (α p_i − 1_y/q)² is the same for every y."""
    logits = np.where(np.arange(length) < subset, c, 0.0)
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    return subset * ((a * shares - (np.arange(length) < subset) / subset) ** 2).sum()


def test_reduced_loss_is_the_layers_loss():
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


@pytest.mark.parametrize("sizes", [*SIZES, *SMALL])
def test_no_curvature_in_the_box_is_above_the_bound_and_slopes_dominate_the_loss(derivatives, sizes):
    length, subset, dimension = sizes
    bound = (1 + 2 * dimension / (5 * subset)) / subset
    excess = (3 + 7 * dimension * length / (subset * (length - 1))) / 2
    seen, nearest = 0, 0.0
    for a in np.linspace(0, math.sqrt(length / subset), 60):
        for c in np.concatenate([np.linspace(0, 3, 60), np.linspace(3, 16, 40)]):
            level, by_alpha, by_C, aa, ac, cc = (float(x) for x in derivatives(*sizes, a, c))
            # The step sizes are η/d and η/(T−1), and L = d/(2q) ℓ; the factor η is left out.
            scales = np.sqrt([1 / dimension, 1 / (length - 1)]) * math.sqrt(dimension / (2 * subset))
            hessian = np.array([[aa, ac], [ac, cc]]) * np.outer(scales, scales)
            assert np.linalg.eigvalsh(hessian).max() <= bound * (1 + 1e-12)
            if 1e-12 < level <= 1:
                seen += 1
                slopes = (by_alpha**2 + dimension / (length - 1) * by_C**2) / 4
                least = dimension / (length - 1) * (level * (1 - level)) ** 2 / (1 + excess * level)
                assert slopes >= least * (1 - 1e-9)
                nearest = max(nearest, least / slopes if slopes else 0)
    assert seen > 300 and (nearest > 1e-3 or length == subset)


def run(length, subset, dimension, step_size, steps):
    """Yield α, C and ℓ at the recursion's steps; ℓ is a sum of nonnegative terms, which avoids cancellation."""
    a = c = 0.0
    for _ in range(steps):
        weight = math.exp(-c)
        spread = (length - subset) * weight
        share = subset / (subset + spread)
        mass = share + (1 - share) * weight
        best = 1 - subset / (subset + spread * weight)
        yield a, c, best + share * mass * (a - 1 / mass) ** 2
        a, c = (
            a * (1 - step_size * share * mass / subset) + step_size * share / subset,
            c
            + step_size
            * dimension
            / (subset * (length - 1))
            * a
            * share
            * (1 - share)
            * (1 - a * share * (1 - weight)),
        )


@pytest.mark.parametrize("sizes", [*SIZES, *SMALL])
def test_runs_stay_in_the_box_and_fall_at_least_as_bounded(sizes):
    length, subset, dimension = sizes
    largest = 4 * subset**2 / (5 * subset + 2 * dimension)
    for step_size in (largest, largest / 7):
        points = list(run(*sizes, step_size, 3000))
        assert all(0 <= a <= math.sqrt(length / subset) + 1e-12 and c >= 0 for a, c, _ in points)
        least_fall = sp.lambdify(level, LEAST_FALL.subs({T: length, q: subset, d: dimension, eta: step_size}))
        losses = [loss for _, _, loss in points if loss > 1e-12]
        for now, following in pairwise(losses):
            assert now - following >= least_fall(now) * (1 - 1e-6) > -1e-15 and now > following


@pytest.mark.parametrize("sizes", [*SIZES[:4], *SMALL])
def test_no_level_is_reached_after_the_bound(sizes):
    length, subset, dimension = sizes
    step_size = 4 * subset**2 / (5 * subset + 2 * dimension)
    bound = sp.lambdify(eps, STEPS.subs({T: length, q: subset, d: dimension, eta: step_size}))
    for step, (_, _, value) in enumerate(run(*sizes, step_size, 3000)):
        if value > 1e-12:
            assert step <= bound(dimension / (2 * subset) * value)


def test_the_bound_on_the_steps_is_kept_by_the_certified_number_and_sharp_at_small_eps():
    sizes = {"T": 9, "q": 2, "d": 1, "eta": "1/20"}
    for accuracy, factor in (("1/200", 5), ("1e-6", 1.02)):
        steps = verify.check(load_theorem("wang2024.theorem1"), **sizes, eps=accuracy).values["steps_to_epsilon"]
        bound = verify.check(THEOREM, **sizes, eps=accuracy).values["steps_at_most"]
        assert steps.upper < bound.lower and bound.upper < factor * steps.lower
        # The values are Y = 1/(4 eps), A = 9/16 and k = 1/160 · (1 − 3/200).
        level_inverse, growth = 1 / (4 * float(Fraction(accuracy))), 1 / 160 * (1 - 3 / 200)
        expected = (level_inverse + 3.5 * 25 / 16 * math.log1p(level_inverse) + (30 + 25 * 9 / 16) * 4.5) / growth
        assert math.isclose(float(bound.midpoint), expected, rel_tol=1e-9)


@pytest.mark.parametrize("sizes", [(2, 1, "4/3"), (2, 1, "13/10"), (3, 2, "1/2")])
def test_with_all_tokens_selected_it_is_reached_and_stays(sizes):
    subset, dimension, step_size = sizes
    result = verify.check(THEOREM, T=subset, q=subset, d=dimension, eta=step_size, eps="1/100")
    assert result.outcome is Outcome.VERIFIED
    # Each share is 1/q, so L = d/(2q) (1 − α)², and a step multiplies 1 − α by 1 − η/q.
    factor, least = (1 - Fraction(step_size) / subset) ** 2, Fraction(2 * subset, 100 * dimension)
    first = next(step for step in range(100) if factor**step <= least)
    steps = next(clause for clause in result.clauses if clause.label == "reached").values["steps"]
    assert steps.lower <= first <= steps.upper


@pytest.mark.audit
def test_its_steps_are_proved_and_the_papers_step_size_is_within_it():
    # At η = 1/500 the bound would be closer to the number of steps than the width of the tube's enclosure.
    for sizes in (THEOREM.example, {"T": 200, "q": 3, "d": 5, "eta": "1/20", "eps": "1e-9"}):
        result = verify.check(THEOREM, **sizes)
        assert result.outcome is Outcome.VERIFIED
        proved = {
            clause.label: clause.evidence for clause in result.clauses if clause.label not in ("reached", "stays")
        }
        assert set(proved.values()) == {Evidence.PROVED} and result.evidence is Evidence.CERTIFIED
    # The figures' step size 1 is in scope, whereas Theorem 1 admits step sizes up to 1/500.
    assert verify.check(THEOREM, T=200, q=3, d=5, eta=1, eps="1/100").outcome is Outcome.VERIFIED
    assert verify.check(THEOREM, T=200, q=3, d=5, eta="3/2", eps="1/100").outcome is Outcome.OUT_OF_SCOPE


def test_a_last_step_before_the_run_is_down_is_refuted():
    # By the tube, the level is reached after about 2.48·10¹³ steps.
    sizes = {"T": 200, "q": 3, "d": 5, "eta": "1/500", "eps": "1e-9"}
    for within, holds in ((10**13, False), (25 * 10**12, True)):
        claim = replace(REACHED, within=sp.Integer(within), says="")
        result = verify.check(THEOREM.variant(THEOREM.statement.alone(claim)), sizes)
        assert result.clauses[0].holds is holds
    low, high = result.clauses[0].values["steps"].lower, result.clauses[0].values["steps"].upper
    assert 10**13 < low < high < 25 * 10**12


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 201}, {"eps": 0}, {"T": 1}):
        with pytest.raises(InputError):
            verify.check(THEOREM, **{"T": 200, "q": 3, "d": 5, "eta": 1, "eps": 1} | wrong)
