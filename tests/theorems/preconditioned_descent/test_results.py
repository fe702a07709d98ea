"""Theorems 1, 3 and 5, compared with independent values: grids, closed forms and limits."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import verify
from theorems.preconditioned_descent import components, relu_any_last_row, relu_layer
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.preconditioned_descent.one_layer import theorem1
from theorems.preconditioned_descent.proportional_limit import proportional_limit
from theorems.wishart.trace_moments import trace_moments
from verify import Outcome


def on_a_grid(L, d, n, points):
    """Return the least ∫ ∏(1 − a_l s)² dμ over a grid of steps, computed in floats from the moments."""
    moments = np.array([float(m) for m in trace_moments(2 * L, n, d)])
    steps = np.linspace(0, 3, points)
    best = math.inf
    for index in np.ndindex(*[points] * L):
        if list(index) == sorted(index):
            p = np.polynomial.polynomial.polyfromroots(1 / np.maximum(steps[list(index)], 1e-12))
            p = p / p[0]
            best = min(best, float(np.polynomial.polynomial.polymul(p, p) @ moments))
    return best


@pytest.mark.parametrize(("L", "d", "n"), [(1, 2, 3), (2, 2, 3), (2, 3, 2), (2, 5, 20)])
def test_no_step_on_a_grid_does_better(L, d, n):
    least = float(verify.check(theorem3, L=L, d=d, n=n).values["minimum_loss"])
    found = on_a_grid(L, d, n, 121)
    # The grid's spacing is 1/40, so its minimum exceeds the true one by a few times (1/80)² times the curvature, which
    # is of order d.
    assert least <= found <= least * (1 + 0.01)


def test_one_step_by_hand():
    # E tr S = d and E tr S² = d(n + d + 1)/n.
    for d, n in ((1, 1), (5, 20), (3, 2)):
        values = verify.check(theorem3, L=1, d=d, n=n).values
        assert values["a"] == [Fraction(n, n + d + 1)] and values["minimum_loss"] == Fraction(d * (d + 1), n + d + 1)


def test_more_layers_are_better_and_few_examples_leave_what_they_do_not_see():
    losses = [verify.check(theorem3, L=L, d=3, n=2).values["minimum_loss"] for L in range(1, 6)]
    assert all(one > other for one, other in pairwise(losses))
    # S has rank 2 in dimension 3, and p(0) = 1 contributes 1 to the loss on the kernel.
    assert losses[-1] > 1


@pytest.mark.parametrize("c", ["1/4", "1/3", "7/8"])
@pytest.mark.parametrize("L", [1, 2, 3, 6])
def test_the_limit_is_chebyshevs(L, c):
    values, ratio = verify.check(proportional_limit, L=L, c=c).values, float(Fraction(c))
    expected = sorted(1 / (1 + ratio + 2 * math.sqrt(ratio) * math.cos(math.pi * l / (L + 1))) for l in range(1, L + 1))  # noqa: E741
    found = [float(getattr(a, "midpoint", a)) for a in values["a"]]
    assert np.allclose(found, expected, rtol=1e-13, atol=0)
    assert math.isclose(values["minimum_loss_per_dimension"], 1 / sum(ratio**-i for i in range(L + 1)), rel_tol=1e-13)


def test_finite_sizes_tend_to_the_limit_like_their_inverse():
    limit = verify.check(proportional_limit, L=3, c="1/4").values["minimum_loss_per_dimension"]
    gaps = [
        verify.check(theorem3, L=3, d=5 * k, n=20 * k).values["minimum_loss"] / (5 * k) - limit for k in (8, 16, 32)
    ]
    # The gap is a power series in 1/n without constant term, so halving 1/n nearly halves it.
    assert all(1.9 < one / other < 2.2 for one, other in pairwise(gaps))


def test_the_proportional_formula_holds_for_more_dimensions_too_and_is_not_defined_between():
    assert verify.check(proportional_limit, L=3, c=2).claim_outcome is Outcome.VERIFIED
    assert verify.check(proportional_limit, L=3, c=1).claim_outcome is Outcome.INCONCLUSIVE


def test_theorem_1_by_least_squares_on_samples_of_one_dimension():
    # For d = 1, E(β S w + w)² is least at β = −E S/E S², where E S² = λ²(n + 2)/n.
    for n, eigenvalue in ((1, 1), (4, Fraction(3, 2))):
        values = verify.check(theorem1, n=n, eigenvalues=[eigenvalue]).values
        assert values["preconditioner"] == [Fraction(n, n + 2) / eigenvalue]
        assert values["minimum_loss"] == eigenvalue * (1 - Fraction(n, n + 2))


def test_the_order_given_is_kept():
    values = verify.check(theorem1, n=20, eigenvalues="1,1,1/4,1/16,1").values
    # The preconditioner is 1/((21/20) λ + t/20) with the trace t = 53/16.
    trace = Fraction(1) * 3 + Fraction(1, 4) + Fraction(1, 16)
    expected = [1 / (Fraction(21, 20) * x + trace / 20) for x in (1, 1, Fraction(1, 4), Fraction(1, 16), 1)]
    assert values["preconditioner"] == expected


def test_under_the_other_prior_the_components_are_stationary_elsewhere():
    result = verify.check(components.lemma2, n=20, prior="inverse")
    assert result.outcome is Outcome.OUT_OF_SCOPE and result.claim_outcome is Outcome.REFUTED


def test_the_component_by_gaussian_quadrature_in_one_dimension():
    # For d = n = 1, S = λ z² with a standard Gaussian z, so E (w(S c + 1))² = 1 + 2cλ + 3c²λ².
    for c, eigenvalue in ((-0.3, 1.5), (0.4, 0.5)):
        found = components.component(sp.Float(c), sp.Float(eigenvalue), sp.S.One, sp.Float(eigenvalue)).subs(
            components.n, 1
        )
        assert math.isclose(found, 1 + 2 * c * eigenvalue + 3 * (c * eigenvalue) ** 2)


def test_the_relu_loss_in_one_dimension_and_one_example():
    # With s = x_1 x, E (a w x_1 σ(s) − w x)² = 1 − a + 3a²/2.
    for a in (sp.Rational(1, 3), sp.Rational(2)):
        assert relu_layer.loss(a).subs({relu_layer.d: 1, relu_layer.n: 1}) == 1 - a + sp.Rational(3, 2) * a**2


@pytest.mark.parametrize("seed", range(5))
def test_no_last_row_of_q_does_better(seed):
    # For all norms u, v and |ρ| ≤ uv the excess over the lower bound is nonnegative.
    source = np.random.default_rng(seed)
    for d in (1, 2, 3, 10):
        u, v, s = abs(source.normal()), abs(source.normal()), source.uniform(-1, 1)
        excess = u**2 + d * (d + 2) * v**2 - 2 * (d - 2) * s * u * v
        symbols = {relu_any_last_row.u: u, relu_any_last_row.v: v, relu_any_last_row.rho: s * u * v, relu_layer.d: d}
        assert math.isclose(relu_any_last_row.excess.subs(symbols), excess, rel_tol=1e-12) and excess >= 0
