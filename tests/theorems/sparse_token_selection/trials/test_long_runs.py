"""Long runs: a linear recursion with a known number of steps, and runs that are refused with UndefinedError."""

import math

import pytest

from theorems.sparse_token_selection.trials.long_runs import ACCURACY, Reached, after, reached, smooth
from verify.errors import UndefinedError


def shrinking(a, b):
    """Return a function that gives the changes of x and y in a step x' = (1 − a) x, y' = (1 − b) y."""
    return lambda x, y: (-a * x, -b * y)


@pytest.mark.parametrize("a", [1e-3, 1e-5, 1e-9])
def test_a_geometric_sequence_is_followed(a):
    start = smooth(shrinking(a, 0.4), (1.0, 1.0))
    levels = [start.state[0] * 10.0**-k for k in (1, 3)]
    found = reached(shrinking(a, 0.4), start, [lambda x, _, level=level: x - level for level in levels], (0.0, 1.0))
    for level, at in zip(levels, found, strict=True):
        assert at.state[0] == pytest.approx(level, rel=1e-10)
        assert at.step == pytest.approx(math.log(level) / math.log1p(-a), rel=ACCURACY / 10)


def test_a_run_step_by_step_is_that():
    assert after(shrinking(0.5, 0.25), (1.0, 1.0), 3) == (0.125, 0.75**3)


def test_an_oscillation_is_not_joined():
    with pytest.raises(UndefinedError, match="not smooth after 100000 steps"):
        smooth(shrinking(1.9999999, 0.1), (1.0, 1.0))


def test_overflowing_runs_are_not_followed():
    with pytest.raises(UndefinedError, match="leaves the range"):
        after(shrinking(-1.0, 0.1), (1.0, 1.0), 2000)
    with pytest.raises(UndefinedError, match="leaves the range"):
        after(lambda x, y: (math.exp(x), y), (1.0, 1.0), 2000)


def test_a_mark_that_is_not_reached_is_said():
    with pytest.raises(UndefinedError, match=r"not reached its last mark after 1e\+05 steps"):
        reached(shrinking(1e-9, 0.1), Reached(10.0, (1.0, 1.0)), [lambda x, _: x - 0.5], (0.0, 1.0), last_step=1e5)
