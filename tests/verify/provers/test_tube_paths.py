"""Nodes of a tube, and the edges through them: the run stays between the edges, which are short dyadic numbers.

The estimated number of steps is near the expected one.
"""

import math
import time
from fractions import Fraction
from itertools import pairwise

import pytest

from verify import load_theorem
from verify.evaluation.arithmetic import balls
from verify.evaluation.iteration import first_passage
from verify.provers.tube_cells import Builder
from verify.provers.tube_paths import estimate
from verify.provers.tubes import Horizon, certify_tube

THEOREM = load_theorem("wang2024.theorem1")
DYNAMICS, TUBE = THEOREM.statement.clauses[0].dynamics, THEOREM.proofs["reached"]
VALUES = {"T": 9, "q": 2, "d": 1, "eta": Fraction(1, 20)}
LEVEL = Fraction(1, 1000)


@pytest.fixture(scope="module")
def start():
    return first_passage(DYNAMICS, LEVEL, VALUES, deadline=time.monotonic() + 60, last_step=2000)


@pytest.fixture(scope="module")
def horizon(start):
    found = certify_tube(DYNAMICS, TUBE, LEVEL, VALUES, start, deadline=time.monotonic() + 60, near=0)
    assert isinstance(found, Horizon), found
    return found


def test_the_run_goes_between_the_edges(start, horizon):
    (alpha, C), nodes = (float(x.mid()) for x in start.state), iter(pairwise(horizon.nodes))
    here, there = next(nodes)
    inside = 0
    for _ in range(horizon.steps[0] - start.step):
        while C >= there.slow:
            here, there = next(nodes)
        along = (C - float(here.slow)) / float(there.slow - here.slow)
        low, high = (
            float(one) + along * float(other - one)
            for one, other in ((here.lower[0], there.lower[0]), (here.upper[0], there.upper[0]))
        )
        assert low < alpha < high
        inside += 1
        alpha, C = _stepped(alpha, C)
    assert inside > 30_000


def _stepped(alpha, C):
    T, q, d, eta = (float(VALUES[name]) for name in ("T", "q", "d", "eta"))
    w = math.exp(-C)
    P = q / (q + (T - q) * w)
    S = P + (1 - P) * w
    moved = C + eta * d / (q * (T - 1)) * alpha * P * (1 - P) * (1 - alpha * P * (1 - w))
    return alpha * (1 - eta * P * S / q) + eta * P / q, moved


def test_the_nodes_go_up_and_are_short(horizon):
    assert all(a.slow < b.slow for a, b in pairwise(horizon.nodes))
    for node in horizon.nodes:
        for number in (node.slow, *node.lower, *node.upper):
            assert number.denominator & (number.denominator - 1) == 0 and number.denominator < 2**60
        assert node.lower < node.upper


def test_the_estimate_is_near_and_nothing_where_the_level_is_not_met(start):
    with balls(192) as arithmetic:
        builder = Builder(DYNAMICS, TUBE, VALUES, LEVEL, arithmetic)
        state = [start.state[i] for i in builder.order]
        guessed = estimate(builder.values, builder.slopes, state, start.step, builder.level)
        assert estimate(builder.values, builder.slopes, state, start.step, arithmetic.number(-1)) == 0
    # 1/L_t finally grows by 4 eta/(T − 1) = 1/40 per step, so it reaches 1000 after about 40 000 steps; the slower
    # start adds less than a tenth.
    assert 36_000 < guessed < 48_000
