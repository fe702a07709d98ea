"""The least second derivative at Theorem 3's least point, compared with the definition and with the re-checker."""

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import torch

from numerics.preconditioned_descent.reference import exact_gradient, pattern
from theorems.preconditioned_descent.least_point_curvature import curvature_at_least_point, least_point_curvature
from theorems.preconditioned_descent.rechecked import RECHECKS
from verify import check, load_theorem
from verify.checking.certificates import certificate_text
from verify.checking.doors import door
from verify.errors import UndefinedError
from verify.rechecker import recheck_text
from verify.rechecker.reading import Effort, Rejected

HALF = Fraction(1, 2)
DIRECTIONS = ([[1, 0], [0, 1]], [[3, 4], [4, -3]], [[0, 1], [-1, 0]])
"""A direction of each kind at d = 2."""
MOVE = 1e-5


def value(*at):
    return curvature_at_least_point.evaluate(*map(Fraction, at))


def rechecked(*at):
    encloses = RECHECKS.primitives["curvature_at_least_point/1"].encloses
    assert encloses is not None
    return encloses(Effort(), *map(Fraction, at))


def by_differences(steps, direction, n):
    """Return, by differences, the least eigenvalue of the Hessian along one direction M in each A_l."""
    identity, M = torch.eye(2, dtype=torch.float64), torch.tensor(direction, dtype=torch.float64)
    M, base = M / M.norm(), torch.tensor(steps, dtype=torch.float64)[:, None, None] * identity
    # With one example the squared error has degree 4L in a coordinate of the example's token.
    nodes = (2 * len(steps) + 1, 2, 2)

    def along(x):
        gradient = exact_gradient(pattern(base + x * M, None), n, identity, identity, nodes=nodes)
        return (gradient.A * M).sum(dim=(1, 2))

    moves = MOVE * torch.eye(len(steps), dtype=torch.float64)[:, :, None, None]
    rows = torch.stack([(along(move) - along(-move)) / (2 * MOVE) for move in moves])
    return float(np.linalg.eigvalsh((rows + rows.T).numpy() / 2)[0])


@pytest.mark.parametrize(
    ("L", "kind", "scale"),
    [
        *((2, 1, 1.5), (2, 2, 1.0)),
        *(
            pytest.param(*each, marks=pytest.mark.audit)
            for each in ((2, 0, 1.5), (3, 0, 1.0), (3, 1, 1.0), (3, 2, 1.0))
        ),
    ],
)
def test_curvature_is_that_of_the_definition(L, kind, scale):
    steps = [float(a.midpoint) for a in check(load_theorem("ahn2023.theorem3"), L=L, d=2, n=1).values["a"]]
    orders = [by_differences([scale * a for a in order], DIRECTIONS[kind], 1) for order in permutations(steps)]
    # The error of central differences is of the order of MOVE² times fourth derivatives.
    assert min(orders) == pytest.approx(float(value(L, 1, 2, kind, scale).midpoint), rel=1e-5, abs=1e-4)
    if kind:
        assert max(orders) - min(orders) > 0.1


def test_one_layer_has_the_mean_of_the_square():
    # f'' = 2 E tr S²/d = 2 (n + d + 1)/n for every M of norm 1.
    for kind in range(3):
        found = value(1, 3, 2, kind, 1)
        assert found.lower <= 4 <= found.upper and found.upper - found.lower < Fraction(1, 10**7)


@pytest.mark.parametrize(
    ("L", "n", "d"),
    [(1, 3, 2), (2, 20, 5), (3, 1, 2), (2, 3, 50), pytest.param(3, 20, 5, marks=pytest.mark.audit)],
)
def test_the_re_checker_finds_the_same(L, n, d):
    for kind in range(3):
        for scale in (1, -1, HALF, 3 * HALF):
            found, (lower, upper) = value(L, n, d, kind, scale), rechecked(L, n, d, kind, scale)
            assert found.lower <= upper and lower <= found.upper and upper - lower < Fraction(1, 10**15)


@pytest.mark.parametrize("at", [(4, 2, 2, 0, 1), (2, 2, 1, 0, 1), (2, 2, 2, 3, 1), (2, 2, 2, HALF, 1), (2, 2, 2, 0, 0)])
def test_arguments_out_of_range_are_refused(at):
    with pytest.raises(UndefinedError, match=r"L <= 3 and d >= 2|kind|scale"):
        value(*at)
    with pytest.raises(Rejected, match="L ≤ 3, 2 ≤ d"):
        rechecked(*at)


def test_in_a_search_it_is_about_the_same():
    assert curvature_at_least_point.scan is not None
    assert curvature_at_least_point.scan(3.0, 20.0, 5.0, 2.0, 1.0) == pytest.approx(
        float(value(3, 20, 5, 2, 1).midpoint)
    )


@pytest.mark.parametrize(
    ("changes", "why"), [({"margin": ["1/10", "1/5"]}, "meet"), ({"margin": ["-1/10", "3/10"]}, "does not decide")]
)
def test_a_certificate_with_another_margin_is_rejected(changes, why):
    data = json.loads(certificate_text(least_point_curvature, check(least_point_curvature, L=2, d=2, n=20)))
    assert [outcome for _, outcome, *_ in recheck_text(json.dumps(data).encode(), door=door).clauses] == [
        "verified"
    ] * 3
    data["clauses"][0]["proof"] |= changes
    with pytest.raises(Rejected, match=why):
        recheck_text(json.dumps(data).encode(), door=door)
