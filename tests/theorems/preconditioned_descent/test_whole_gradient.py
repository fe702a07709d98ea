"""The gradient in all entries: moments by sums over indices, and squares by quadrature and by the re-checker."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
import torch

from numerics.preconditioned_descent.reference import exact_gradient, pattern
from theorems.preconditioned_descent.rechecked import RECHECKS
from theorems.preconditioned_descent.whole_gradient import (
    gradient_at_idle_layers,
    gradient_at_least_point,
    power_entries,
)
from theorems.wishart.trace_moments import trace_moments
from verify.errors import UndefinedError
from verify.rechecker.reading import Effort, Rejected

HALF = Fraction(1, 2)


def entry_by_indices(k, n, d, i, j):
    """Return E (S^k)_ij: a sum over all indices of products of moments of independent normal variables."""
    total = Fraction(0)
    for between in itertools.product(range(d), repeat=k - 1):
        rows = (i, *between, j)
        for samples in itertools.product(range(n), repeat=k):
            powers = Counter((row, t) for a, b, t in zip(rows, rows[1:], samples, strict=False) for row in (a, b))
            if not any(power % 2 for power in powers.values()):
                total += math.prod(math.prod(range(1, power, 2)) for power in powers.values())
    return total / n**k


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 2), (3, 2), (2, 3)])
def test_entries_of_powers_are_sums_over_indices(n, d):
    for diagonal, (i, j) in ((True, (0, 0)), (True, (1, 1)), (False, (0, 1))):
        expected = [entry_by_indices(k, n, d, i, j) for k in range(1, 4)]
        assert power_entries(3, n, d, diagonal=diagonal)[1:] == expected


@pytest.mark.parametrize(("n", "d"), [(1, 1), (20, 5), (2, 9)])
def test_the_diagonal_adds_up_to_the_trace(n, d):
    assert [d * entry for entry in power_entries(12, n, d, diagonal=True)] == trace_moments(12, n, d)


def squares(A, B, n):
    """Return, by quadrature, the squared norm of the gradient in all A_l, and in all B_l if B is given."""
    identity = torch.eye(A.shape[1], dtype=torch.float64)
    found = exact_gradient(pattern(A, B), n, identity, identity)
    return float(found.A.square().sum()) + (0 if B is None else float(found.B.square().sum()))


def exact(primitive, *arguments):
    return primitive.evaluate(*map(Fraction, arguments))


@pytest.mark.parametrize(("d", "n"), [(1, 2), (2, 1)])
def test_at_idle_layers_it_is_that_of_the_definition(d, n):
    identity = torch.eye(d, dtype=torch.float64)
    for b, a in ((HALF, Fraction(3, 4)), (-HALF, Fraction(n, n + d + 1)), (Fraction(-1), Fraction(2))):
        A = torch.stack([0 * identity, float(a) * identity])
        B = torch.stack([float(b) * identity, 0.3 * identity])
        value = exact(gradient_at_idle_layers, 2, n, d, b, a)
        assert squares(A, B, n) == pytest.approx(float(value), rel=1e-9, abs=1e-18)
        assert (value == 0) == (b == -HALF)


@pytest.mark.parametrize(("L", "d", "n"), [(2, 1, 2), (2, 2, 1), (3, 1, 1)])
def test_at_the_steps_of_theorem_3_it_is_that_of_the_definition(L, d, n):
    from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
    from verify import check

    steps = torch.tensor([float(a.midpoint) for a in check(theorem3, L=L, d=d, n=n).values["a"]], dtype=torch.float64)
    assert exact(gradient_at_least_point, L, n, d, 1, 1) == 0
    for scale in (Fraction(21, 20), Fraction(-1, 2)):
        A = float(scale) * steps[:, None, None] * torch.eye(d, dtype=torch.float64)
        value = exact(gradient_at_least_point, L, n, d, 1, scale)
        assert value > 0 and squares(A, None, n) == pytest.approx(float(value), rel=1e-9)


AT = {
    "gradient_at_least_point": (
        gradient_at_least_point,
        [(L, n, d, *more) for L, n, d in ((1, 3, 2), (2, 20, 5), (4, 2, 3)) for more in ((1, 1), (0, 2), (2, HALF))],
    ),
    "gradient_at_idle_layers": (
        gradient_at_idle_layers,
        [(L, 20, 5, *more) for L in (1, 3) for more in ((-HALF, Fraction(10, 13)), (2, 3), (HALF, 0))],
    ),
}


def rechecked(name, *arguments):
    encloses = RECHECKS.primitives[f"{name}/1"].encloses
    assert encloses is not None
    return encloses(Effort(), *map(Fraction, arguments))


@pytest.mark.parametrize("name", AT)
def test_the_re_checker_finds_the_same(name):
    primitive, points = AT[name]
    for point in points:
        value = exact(primitive, *point)
        assert rechecked(name, *point) == (value, value)


@pytest.mark.parametrize("name", AT)
@pytest.mark.parametrize("sizes", [(21, 2, 2), (HALF, 2, 2), (2, 0, 2), (2, 2, HALF)])
def test_invalid_sizes_are_refused(name, sizes):
    with pytest.raises(UndefinedError, match="integers >= 1"):
        exact(AT[name][0], *sizes, 1, 1)
    with pytest.raises(Rejected, match="linear attention asks for integers"):
        rechecked(name, *sizes, 1, 1)


@pytest.mark.parametrize("shift", [-1, 11, HALF])
def test_a_shift_out_of_range_is_refused(shift):
    with pytest.raises(UndefinedError, match="shift"):
        exact(gradient_at_least_point, 2, 2, 2, shift, 1)
    with pytest.raises(Rejected, match="shift"):
        rechecked("gradient_at_least_point", 2, 2, 2, shift, 1)
