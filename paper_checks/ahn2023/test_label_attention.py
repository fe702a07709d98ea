"""Theorem 3's point over all P and Q: argued, and by exact quadrature of the loss from its definition."""

import math

import numpy as np
import pytest

import verify
from paper_checks.lazily import lazily
from verify.outcomes import as_float

torch = lazily("torch")
moved = lazily("theorems.preconditioned_descent.label_attention")
SIZES = [(5, 20), (40, 3), pytest.param(1, 1, marks=pytest.mark.audit)]
"""Sizes (d, n) at which a claim that is argued for all sizes is checked."""


def steps_of(d, n):
    """Return Theorem 3's two steps, ascending."""
    return [as_float(a) for a in verify.check("ahn2023.theorem3", L=2, d=d, n=n).values["a"]]


def layers(steps, rates, d, corner=0.0):
    """Return two layers of pattern (11), but with `corner` as the last diagonal entry of Q_1."""
    from numerics.preconditioned_descent.reference import pattern

    identity = torch.eye(d, dtype=torch.float64)
    A, B = (torch.tensor(x, dtype=torch.float64)[:, None, None] * identity for x in (steps, rates))
    P, Q = pattern(A, B)
    Q[1, d, d] = corner
    return P, Q


@pytest.mark.parametrize(("d", "n"), SIZES)
def test_theorem_is_certified_and_argued_for_all_sizes(ledger, d, n):
    result = ledger.check(moved.label_attention, d=d, n=n)
    assert result.for_all_parameters.standing == "argued" and result.evidence == "certified"


def slope_in_the_rate(steps, d, n):
    """Return ∂f/∂b at B_0 = b I, b = 0.

    With r = (1 − a_0 s)(1 − a_1 s (1 − a_0 b s)²) it is 4 a_0 a_1 ∫ (1 − a_0 s) s² r dμ. If d or n is 1, S has one
    nonzero eigenvalue, 1/n times a χ² of d n degrees of freedom.
    """
    first, second = steps
    moments = [math.prod(range(d * n, d * n + 2 * k, 2)) / n**k for k in range(6)]
    inside = np.polynomial.Polynomial([1, -first]) ** 2 * np.polynomial.Polynomial([0, 0, 1, -second])
    return 4 * first * second * float(inside.coef @ moments)


@pytest.mark.parametrize(("d", "n"), [(1, 2), (2, 1)])
def test_the_gradient_over_all_entries_by_quadrature(d, n):
    from numerics.preconditioned_descent.reference import exact_gradient

    identity, values = torch.eye(d, dtype=torch.float64), verify.check(moved.label_attention, d=d, n=n).values
    steps = steps_of(d, n)
    for name, order in (("slope_smaller_first", steps), ("slope_larger_first", steps[::-1])):
        found = exact_gradient(layers(order, (0.0, 0.0), d), n, identity, identity)
        slope = as_float(values[name])
        assert float(found.Q[1, d, d]) == pytest.approx(slope, rel=1e-9) and slope < -0.1
        # All slopes vanish except those in B_0, in the corner of Q_1 and, for d > 1, in the corner of Q_0.
        in_rate = slope_in_the_rate(order, d, n)
        assert float(found.P[0, :d, :d].trace()) == pytest.approx(in_rate, rel=1e-8) and abs(in_rate) > 0.1
        assert found.A.abs().max() < 1e-9
        found.Q[:, d, d] = 0
        found.P[0, :d, :d] = 0
        assert max(float(part.abs().max()) for part in (found.P, found.Q)) < 1e-9


def test_the_gain_of_one_entry_by_quadrature():
    from numerics.preconditioned_descent.reference import exact_loss

    d, n = 1, 1
    identity, values = torch.eye(d, dtype=torch.float64), verify.check(moved.label_attention, d=d, n=n).values
    for order, steps in (("smaller", steps_of(d, n)), ("larger", steps_of(d, n)[::-1])):
        slope, gain = (as_float(values[f"{name}_{order}_first"]) for name in ("slope", "gain"))
        at, best = (
            float(exact_loss(layers(steps, (0.0, 0.0), d, t), n, identity, identity)) for t in (0.0, -2 * gain / slope)
        )
        assert at - best == pytest.approx(gain, rel=1e-8)


def test_theorem_4s_best_point_is_not_critical_over_all_entries():
    from numerics.preconditioned_descent.reference import exact_gradient

    d, n = 1, 1
    best = verify.check("ahn2023.theorem4", L=2, d=d, n=n).values["critical_points"][0]
    identity, rate = torch.eye(d, dtype=torch.float64), as_float(best["b"][0])
    found = exact_gradient(layers([as_float(a) for a in best["a"]], (rate, 0.0), d), n, identity, identity)
    assert max(float(part.abs().max()) for part in (found.A, found.B)) < 1e-9
    assert float(found.Q[1, d, d]) > 1e-2


def test_other_entries_have_a_lower_loss_than_theorem_4s_best_point():
    from numerics.preconditioned_descent.reference import exact_loss

    # The end of a descent over all entries of P and Q at d = n = 1, to four decimals: only diagonal entries are not 0.
    P = torch.diag_embed(torch.tensor([[2.6375, 1.0066], [0.0, 1.0044]], dtype=torch.float64))
    Q = torch.diag_embed(torch.tensor([[-0.0492, 0.0001], [-1.27, -0.0245]], dtype=torch.float64))
    identity = torch.eye(1, dtype=torch.float64)
    best = verify.check("ahn2023.theorem4", L=2, d=1, n=1).values
    assert best["complete"] is True and float(best["critical_points"][0]["loss"].lower) > 0.40685
    assert float(exact_loss((P, Q), 1, identity, identity)) < 0.40665
