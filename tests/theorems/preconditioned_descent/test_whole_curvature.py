"""Second derivatives over all matrices, compared with differences of the quadrature's gradient, for each kind."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from numerics.preconditioned_descent.reference import exact_gradient, pattern
from theorems.preconditioned_descent.two_layer_loss import WORDS, in_traces
from theorems.preconditioned_descent.whole_curvature import curvature, second_derivatives, theorem4_curvatures
from theorems.wishart import trace_moments as traced
from verify import InputError

STEPS, RATES = (Fraction(2, 5), Fraction(7, 10)), (Fraction(1, 2), Fraction(0))
DIRECTIONS = [(0, [[1, 0], [0, 1]]), (1, [[1, 0], [0, -1]]), (1, [[3, 4], [4, -3]]), (2, [[0, 1], [-1, 0]])]
"""Pairs of a kind's number and a direction of this kind; the number is the index in the list of second derivatives."""
IN_THREE = 2, [[0, 1, 2], [-1, 0, 2], [-2, -2, 0]]
MOVE = 1e-5


def by_differences(direction, *, tokens, n):
    """Return second derivatives along M in each A_l, and in B_0 if tokens move; and the largest component off M."""
    M = torch.as_tensor(direction, dtype=torch.float64)
    identity, M = torch.eye(len(M), dtype=torch.float64), M / M.norm()
    at = torch.tensor([*map(float, STEPS), *(map(float, RATES) if tokens else ())], dtype=torch.float64)

    def gradient(point):
        A, B = point[:2], (point[2:] if tokens else None)
        found = exact_gradient(pattern(A, B), n, identity, identity, nodes=(9 if tokens else 5, 2, 2))
        return torch.cat([found.A, found.B]) if tokens else found.A

    rows, rest, base = [], 0.0, at[:, None, None] * identity
    for place in range(3 if tokens else 2):
        step = torch.zeros_like(base)
        step[place] = MOVE * M
        change = (gradient(base + step) - gradient(base - step)) / (2 * MOVE)
        along = (change * M).sum(dim=(1, 2))
        rows.append(along[: 3 if tokens else 2].numpy())
        rest = max(rest, float((change - along[:, None, None] * M).abs().max()))
    return np.array(rows), rest


@pytest.mark.parametrize(
    ("tokens", "n", "kind", "direction"),
    [(False, 1, *each) for each in DIRECTIONS]
    + [(True, 1, *each) for each in DIRECTIONS[2:]]
    + [(False, 2, *DIRECTIONS[3]), (False, 1, *IN_THREE)],
)
def test_they_are_those_of_the_definition(tokens, n, kind, direction):
    found = [
        np.array([[float(x.mid()) for x in row] for row in matrix.tolist()])
        for matrix in second_derivatives(STEPS, RATES if tokens else None, len(direction), n)
    ]
    measured, rest = by_differences(direction, tokens=tokens, n=n)
    # The error of central differences is of the order of MOVE² times fourth derivatives.
    assert np.allclose(measured, found[kind], rtol=1e-5, atol=1e-4) and rest < 1e-4
    assert not np.allclose(measured, found[kind - 1], rtol=1e-2)


@pytest.mark.parametrize(("d", "n"), [(2, 2), (3, 2), (3, 20)])
def test_along_symmetric_matrices_they_are_those_of_two_layers_in_traces(d, n):
    x, y = sp.symbols("x y")
    # Diagonal matrices commute, so traces of words are power sums.
    for kind, diagonal in enumerate(([1] * d, [1, -1] + [0] * (d - 2))):
        size = sp.sqrt(sum(m * m for m in diagonal))
        entries = [(sp.Rational(2, 5) + x * m / size, sp.Rational(7, 10) + y * m / size) for m in diagonal]
        traces = {word: sum(a ** word.count("A") * b ** word.count("B") for a, b in entries) for word in WORDS}
        loss = sp.expand(in_traces(traces).subs({traced.d: d, traced.n: n}))
        found = second_derivatives(STEPS, None, d, n)[kind]
        for i, one in enumerate((x, y)):
            for j, other in enumerate((x, y)):
                expected = sp.diff(loss, one, other).subs({x: 0, y: 0})
                assert float(found[i, j].mid()) == pytest.approx(float(expected), rel=1e-12)


def test_one_dimension_has_no_other_directions():
    # For L = d = 1, f = 1 − 2 a m_1 + a² m_2, so f'' = 2 E s² = 2 (n + 2)/n.
    (single,) = second_derivatives((Fraction(1, 3),), None, 1, 4)
    assert single[0, 0].contains(3) and float(single[0, 0].rad()) < 1e-50
    assert curvature((Fraction(1, 3),), None, 1, 4).local_minimum is True


def test_a_direction_down_on_the_set_makes_it_no_minimum():
    # The loss decreases if equal steps are moved apart.
    found = curvature((Fraction(1, 2), Fraction(1, 2)), None, 2, 20)
    assert found.on_set is False and found.local_minimum is False


@pytest.mark.parametrize("layers", [0, 4])
def test_numbers_of_layers_out_of_range_are_refused(layers):
    with pytest.raises(InputError, match="must be from 1 to 3"):
        second_derivatives((Fraction(1),) * layers, None, 2, 2)


@pytest.mark.audit
def test_with_three_layers_the_four_lowest_points_found_are_local_minima_over_all_matrices():
    found = theorem4_curvatures(3, 5, 20, most=4)
    assert [kind.local_minimum for _, kind in found] == [True] * 4
    assert [point["local_minimum"] for point, _ in found] == [True] * 4
