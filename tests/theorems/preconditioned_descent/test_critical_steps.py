"""All critical points of Theorem 3's loss, compared with Newton's method from random starts and with the minimum."""

from itertools import pairwise

import numpy as np
import pytest

import verify
from theorems.preconditioned_descent.critical_steps import compositions, critical_points
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.wishart.trace_moments import trace_moments
from verify import InputError
from verify.outcomes import as_float


def integral(moments, *factors):
    """Return the integral of a product of polynomials, given by their coefficients in ascending order."""
    product = np.ones(1)
    for factor in factors:
        product = np.convolve(product, factor)
    return float(product @ moments[: len(product)])


def slopes(moments, steps):
    """Return ∫ s p²/(1 − a_l s) dμ for each l, divided by the sum of the absolute values of its terms."""
    base = [np.array([1, -a]) for a in steps]
    at = []
    for l in range(len(steps)):  # noqa: E741
        rest = [factor for j, factor in enumerate(base) if j != l]
        size = integral(moments, [0, 1], abs(base[l]), *map(abs, rest), *map(abs, rest))
        at.append(integral(moments, [0, 1], base[l], *rest, *rest) / size)
    return np.array(at)


def spelled_out(point):
    """Return the L steps of a point as floats."""
    return [as_float(step) for step, times in zip(point.steps, point.multiplicities, strict=True) for _ in range(times)]


@pytest.mark.parametrize(("d", "n"), [(5, 20), (1, 1), (2, 7), (30, 3)])
@pytest.mark.parametrize("L", [1, 2, 3, 4, 5])
def test_slopes_vanish_and_there_is_one_for_each_order_of_multiplicities(L, d, n):
    points, complete = critical_points(L, d, n)
    moments = np.array([float(m) for m in trace_moments(2 * L, n, d)])
    assert sorted(point.multiplicities for point in points) == sorted(compositions(L)) and len(points) == 2 ** (L - 1)
    assert complete == (L <= 3)
    for point in points:
        # The slopes are floating-point sums of terms of both signs.
        assert abs(slopes(moments, spelled_out(point))).max() < 1e-12
        assert all(x.upper < y.lower for x, y in pairwise(point.steps))
        assert all(x.upper - x.lower < 1e-15 for x in (*point.steps, point.loss))
        base = [np.array([1, -a]) for a in spelled_out(point)]
        assert np.isclose(as_float(point.loss), integral(moments, *base, *base), rtol=1e-6)


@pytest.mark.parametrize(("L", "d", "n"), [(2, 5, 20), (3, 5, 20), (4, 3, 2), (6, 5, 20)])
def test_the_lowest_is_theorem_3s_point_and_the_only_local_minimum(L, d, n):
    points, _ = critical_points(L, d, n)
    certified = verify.check(theorem3, L=L, d=d, n=n).values
    assert np.allclose(spelled_out(points[0]), [as_float(a) for a in certified["a"]], rtol=1e-13)
    assert points[0].loss.lower <= certified["minimum_loss"] <= points[0].loss.upper
    assert [point.local_minimum for point in points] == [True] + [False] * (len(points) - 1)
    assert all(one.loss.upper < other.loss.lower for one, other in pairwise(points))


def test_random_starts_find_these_four_and_no_others():
    # Newton's method in the three step sizes, with second derivatives by central differences of the slopes.
    moments, rng = np.array([float(m) for m in trace_moments(6, 20, 5)]), np.random.default_rng(0)
    known = np.array([sorted(spelled_out(point)) for point in critical_points(3, 5, 20).points])
    seen = set()
    for start in rng.uniform(-1, 4, (150, 3)):
        point = start
        for _ in range(60):
            jacobian = np.array([slopes(moments, point + h) - slopes(moments, point - h) for h in 1e-6 * np.eye(3)])
            step = np.linalg.lstsq(jacobian.T / 2e-6, slopes(moments, point), rcond=None)[0]
            point = point - step / max(1, 2 * abs(step).max())
            if abs(step).max() < 1e-9:
                break
        if abs(slopes(moments, point)).max() > 1e-10:
            continue
        near = np.abs(known - np.sort(point)).max(axis=1)
        assert near.min() < 1e-6
        seen.add(int(near.argmin()))
    assert seen == {0, 1, 2, 3}


def test_more_digits_are_had():
    points, _ = critical_points(3, 5, 20, digits=40)
    assert len(points) == 4 and all(x.upper - x.lower < 1e-38 for point in points for x in point.steps)


@pytest.mark.parametrize(("L", "message"), [(11, "L = 11: must be <= 10"), (0, "L = 0")])
def test_other_numbers_of_layers_are_refused(L, message):
    with pytest.raises(InputError, match=message):
        critical_points(L, 5, 20)
