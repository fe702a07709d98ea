"""The best factor, compared with eigenvalues on grids of logits and at logits with a known value."""

import math
from fractions import Fraction

import numpy as np
import pytest

import verify
from theorems.softmax_regression.best_factor import best_factor
from verify import InputError, Outcome


def largest(z):
    """Return the largest eigenvalue of J = diag(p) − pp' with p = softmax(z)."""
    p = np.exp(z - z.max())
    p /= p.sum()
    return np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]


def as_number(value):
    return float(getattr(value, "midpoint", value))


@pytest.mark.parametrize("R", ["17/20", 1, 2])
def test_of_three_rows_no_angle_of_the_logits_is_better(R):
    radius = float(Fraction(R))
    u, w = np.array([1, 1, -2]) / math.sqrt(6), np.array([1, -1, 0]) / math.sqrt(2)
    angles = np.linspace(0, 2 * math.pi, 2001)
    found = max(radius * largest(radius**2 * (math.cos(a) * u + math.sin(a) * w)) for a in angles)
    # The grid contains the angle 0, at which two logits are equal. These logits are best.
    assert math.isclose(as_number(verify.check(best_factor, n=3, R=R).values["best_factor"]), found, rel_tol=1e-12)


@pytest.mark.parametrize(("n", "R"), [(4, "11/10"), (5, "3/2"), (8, 2)])
def test_no_random_logits_are_better(n, R):
    source, radius = np.random.default_rng(0), float(Fraction(R))
    best = as_number(verify.check(best_factor, n=n, R=R).values["best_factor"])
    found = 0.0
    for _ in range(2000):
        z = source.normal(size=n) * source.choice([1, 5], size=n)
        z[: source.integers(0, 3)] += source.uniform(0, 2 * n)
        z -= z.mean()
        found = max(found, radius * largest(radius**2 * z / np.linalg.norm(z)))
    assert 0.9 * best < found <= best * (1 + 1e-12)


@pytest.mark.parametrize(("n", "R"), [(4, "7/10"), (6, 1), (40, 1), (50, 2)])
def test_out_of_reach_it_is_enclosed(n, R):
    values, radius = verify.check(best_factor, n=n, R=R).values, float(Fraction(R))
    levels = (np.r_[1, second, np.zeros(n - 2)] for second in np.linspace(0, 1, 21))
    found = max(radius * largest(radius**2 * z / np.linalg.norm(z)) for z in (z - z.mean() for z in levels))
    assert found <= as_number(values["best_factor_at_most"]) < min(2 * found, radius / 2)
    assert values["best_factor"] is None


@pytest.mark.parametrize(("n", "logarithm"), [(3, -3), (10, 0), (1000, 0), (1000, 3), (10**5, 5)])
def test_no_two_logits_above_the_others_are_better_at_any_radius(n, logarithm):
    """Compute the eigenvalues of J at logits with three levels, for values of R² below and above log n."""
    for squared in math.exp(logarithm / 3) * np.array([0.3, 1, 3]):
        R = Fraction(math.sqrt(squared)).limit_denominator(1000)
        most = as_number(verify.check(best_factor, n=n, R=R).values["best_factor_at_most"])
        for second in np.linspace(0, 1, 41):
            z, counts = np.array([1, second, 0]), np.array([1, 1, n - 2])
            z = z - z @ counts / n
            z *= float(R) ** 2 / math.sqrt(z**2 @ counts)
            p = np.exp(z - z.max()) / (np.exp(z - z.max()) @ counts)
            # This is J restricted to vectors that are constant on equal logits, in an orthonormal basis of them.
            J = np.diag(p) - np.outer(p * np.sqrt(counts), p * np.sqrt(counts))
            assert float(R) * np.linalg.eigvalsh(J)[-1] <= most * (1 + 1e-12)


def test_with_many_rows_both_ends_are_near():
    values = verify.check("li2024.data_shift", n=10**6, d=1, R=3).values
    reached, most = (as_number(values[name]) for name in ("reached_factor", "best_factor_at_most"))
    assert 0.0239 < reached < most < 0.0259


def test_in_reach_of_the_papers_radius():
    inside, outside = (verify.check(best_factor, n=n, R=4) for n in (81_000, 83_000))
    assert inside.values["best_factor"] == inside.values["best_factor_at_most"]
    assert outside.values["best_factor"] is None
    assert outside.clauses[1].outcome is Outcome.INCONCLUSIVE
    # The condition M_0 = 16 √(n/(2(n−2))) ≥ log(n − 1) changes in between: M_0 = 11.3138, log 80 999 = 11.302 and
    # log 82 999 = 11.327.
    assert math.log(80_999) < 16 * math.sqrt(0.5) < math.log(82_999)


def test_two_rows_are_not_in_its_domain():
    with pytest.raises(InputError, match="n = 2: must be an integer >= 3"):
        verify.check(best_factor, n=2, R=4)
