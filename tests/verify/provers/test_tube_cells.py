"""Cells of a tube: the enclosures contain the values at points, and an edge that a step crosses is refused."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from verify import Dynamics, Tube
from verify.evaluation.arithmetic import balls
from verify.provers.tube_cells import Builder
from verify.provers.tube_paths import Node

z, u, x, y = sp.symbols("z u x y", real=True)
# The recursion is rational: z' = z + x/(1 + z), u' = (u + 1/(1 + z))/2.
DYNAMICS = Dynamics((u, z), (sp.S.One, sp.S.Zero), ((u + 1 / (1 + z)) / 2, z + x / (1 + z)), u**2 / (1 + z))
VALUES = {"x": Fraction(1, 100)}
# The nodes are around the curve u = 1/(1 + z), which is 1/2 at z = 1, 4/9 at 5/4 and 2/5 at 3/2.
NODES = [
    Node(Fraction(1), (Fraction(9, 20),), (Fraction(11, 20),)),
    Node(Fraction(5, 4), (Fraction(2, 5),), (Fraction(22, 45),)),
    Node(Fraction(3, 2), (Fraction(9, 25),), (Fraction(11, 25),)),
]


def enclosed(here, there, tube=None):
    with balls(128) as arithmetic:
        return Builder(DYNAMICS, tube or Tube(z), VALUES, Fraction(1, 10), arithmetic).enclose(here, there)


@settings(max_examples=50)
@given(st.fractions(0, 1, max_denominator=50), st.fractions(0, 1, max_denominator=50))
def test_cell_enclosures_contain_the_values_at_points(along, across):
    cell = enclosed(*NODES[:2])
    at = NODES[0].slow + along * (NODES[1].slow - NODES[0].slow)
    low, high = (
        one + along * (other - one)
        for one, other in ((NODES[0].lower[0], NODES[1].lower[0]), (NODES[0].upper[0], NODES[1].upper[0]))
    )
    inside = low + across * (high - low)
    move = VALUES["x"] / (1 + at)
    assert cell.lo <= _number(move) <= cell.hi
    assert cell.observed.contains(_number(inside**2 / (1 + at)))
    for (f, d), edge in zip(cell.faces[0], (low, high), strict=True):
        assert f.contains(_number((1 / (1 + at) - edge) / 2)) and d.contains(_number(move))


def _number(value):
    with balls(256) as arithmetic:
        return arithmetic.number(value).mid()


def test_the_enclosures_are_no_wider_than_the_cell_asks_for():
    cell = enclosed(*NODES[:2])
    # The increment of z in a step, x/(1 + z), falls by a ninth along the cell.
    assert float(cell.hi / cell.lo) < 9 / 8 * 1.1
    assert float(cell.faces[0][0][0].rad()) < 0.02


def test_edges_around_the_slow_curve_are_kept_and_others_are_not():
    cell, after = (enclosed(*pair) for pair in pairwise(NODES))
    assert cell.keeps(cell.slopes) and cell.keeps(after.slopes)
    above = [replace(node, lower=tuple(edge + Fraction(1, 10) for edge in node.lower)) for node in NODES]
    below = [replace(node, upper=tuple(edge - Fraction(1, 10) for edge in node.upper)) for node in NODES]
    for nodes in (above, below):
        moved = enclosed(*nodes[:2])
        assert not moved.keeps(moved.slopes)
    # If an edge turns up steeply at the next node, a step crosses it.
    steep = [(slope + 100, high) for slope, high in cell.slopes]
    assert not cell.keeps(steep)


def test_a_cell_where_something_is_unbounded_is_none():
    beyond = Node(Fraction(-3, 2), (Fraction(1, 2),), (Fraction(1),))
    assert enclosed(beyond, NODES[0]) is None


def test_a_tube_takes_in_the_definitions_of_a_statement():
    tube = Tube(z, observable=y * u**2)
    assert tube.expanded(lambda e: e.subs(y, 1 / (1 + z))).observable == u**2 / (1 + z)
    assert Tube(z).expanded(lambda e: pytest.fail("nothing to expand")) == Tube(z)
    cell, plain = enclosed(*NODES[:2], tube=Tube(z, observable=u * u / (1 + z))), enclosed(*NODES[:2])
    assert cell.observed.overlaps(plain.observed)
