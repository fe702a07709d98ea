"""A box is halved until balls show that the goal is positive on each part, or too many parts would be needed."""

from dataclasses import replace
from fractions import Fraction
from math import cos, exp

import pytest

from tests.verify.provers.deduction.test_search import searched
from verify.provers.deduction.functions import boxes


def leaves(cuts):
    return [None] if cuts is None else [*leaves(cuts[2]), *leaves(cuts[3])]


def box_of(line):
    proof = searched(line)
    return None if proof is None or proof["tree"]["rule"] != "box" else proof["tree"]["cuts"]


def test_parts_are_halves_near_the_maximum():
    cuts = box_of("exp(x)*cos(x) <= 1.56 for 0 <= x <= 1")
    # The function rises from 1 to 1.5509 at π/4 and falls to 1.4687: the parts near π/4 are the smallest.
    widths, found = [], [(0.0, 1.0, cuts)]
    while found:
        low, high, inside = found.pop()
        if inside is None:
            # A ball around the product contains this number, because the exponential rises and the cosine falls.
            assert exp(high) * cos(low) < 1.56
            widths.append((high - low, abs((low + high) / 2 - 0.7853981)))
        else:
            middle = float(Fraction(inside[1]))
            assert middle == (low + high) / 2
            found += [(low, middle, inside[2]), (middle, high, inside[3])]
    assert sum(width for width, _ in widths) == pytest.approx(1)
    assert min(widths, key=lambda pair: pair[1])[0] == min(widths)[0]


def test_two_symbols_are_cut_in_turn():
    cuts = box_of("4*x**6 + 2*x**4*y**3 + 5*x*y**7 >= -3.84 for -1 <= x <= 1, -1 <= y <= 1")
    assert cuts[0] == "x" and {part[0] for part in cuts[2:] if part} == {"y"} and len(leaves(cuts)) > 9


@pytest.mark.parametrize(
    "line",
    [
        # The left side is 0 at x = 1/2, so no ball over a part that contains 1/2 is positive.
        "cos(x)*(2*x - 1)**2 + exp(x)*(2*x - 1)**4 >= 0 for 0 <= x <= 1",
        # The symbol has no upper end, or it is an integer.
        "exp(-x)*cos(x) <= 1.01 for x >= 0",
        "exp(-n)*cos(n) <= 1.01 for integer 0 <= n <= 9",
    ],
)
def test_other_proofs_are_not_on_a_box(line):
    assert box_of(line) is None


def test_too_many_parts_are_no_proof(monkeypatch):
    line = "4*x**6 + 2*x**4*y**3 + 5*x*y**7 >= -3.84 for -1 <= x <= 1, -1 <= y <= 1"
    count = len(leaves(box_of(line)))
    for parts, found in ((2 * count - 1, True), (2 * count - 2, False)):
        monkeypatch.setattr(boxes, "BOX", replace(boxes.BOX, parts=parts))
        assert (box_of(line) is not None) == found
