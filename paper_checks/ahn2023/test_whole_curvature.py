"""Theorems 3 and 4: critical points on S that are local minima over all matrices of the pattern, by ball arithmetic."""

import pytest

from paper_checks.lazily import lazily
from theorems.preconditioned_descent.least_point_curvature import least_point_curvature

whole = lazily("theorems.preconditioned_descent.whole_curvature")


@pytest.mark.parametrize(("L", "d", "n"), [(1, 5, 20), (2, 5, 20), (3, 5, 20), (2, 2, 1), (3, 2, 1), (3, 10, 3)])
def test_theorem_3s_minimum_on_S_is_a_local_minimum_over_all_A_in_every_order(ledger, L, d, n):  # noqa: N802
    assert ledger.check(least_point_curvature, L=L, d=d, n=n).evidence == "certified"


def test_wrong_curvatures_are_refuted(ledger):
    ledger.canaries(least_point_curvature)


@pytest.mark.parametrize(("d", "n"), [(5, 20), (2, 3)])
def test_with_two_layers_the_local_minima_on_S_are_those_over_all_A_and_B(d, n):  # noqa: N802
    found = whole.theorem4_curvatures(2, d, n)
    kinds = [kind.local_minimum for _, kind in found]
    assert kinds == [point["local_minimum"] for point, _ in found]
    assert len(kinds) == 7 and kinds.count(True) == 3


def test_where_layers_are_idle_every_kind_of_direction_has_one_down():
    *_, (point, kind) = whole.theorem4_curvatures(2, 5, 20)
    assert abs(point["a"][0].midpoint) < 1e-9
    assert (kind.on_set, kind.symmetric, kind.antisymmetric) == (False, False, False)
