"""Runs at many points at once: their margins have the signs of the margins of single runs in exact numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from tests.verify.searched import AT_LEAST_ONE, M, N, W, X, Y, m, n, theorem, w, x, y, z
from verify import Dynamics, Reaches, Stays, load_theorem
from verify.errors import OutOfTimeError
from verify.evaluation.numerical.compiled import compiled
from verify.evaluation.numerical.limits import NUMERICAL

HALVING = Dynamics((z,), (x,), (z / 2,), z)
DESCENT = Dynamics((z,), (sp.Integer(1),), ((1 - x) * z,), z**2)
VALLEY = Dynamics((z,), (w,), (z + 1,), z**2)


def margins(of, points, tick=lambda: None):
    statement = of.statement
    return compiled(statement, {}, statement.clauses, tick).scores(np.array(points, float)).relative[:, 0]


@pytest.mark.parametrize("early", [False, True])
def test_a_level_that_is_reached_in_time_or_not(early):
    # For x >= 1, the first t with x/2^t <= 1 is ceil(log2 x).
    claimed = {"not_before": n} if early else {"within": n - sp.Rational(1, 2)}
    of = theorem((N, X), Reaches("claim", HALVING, sp.Integer(1), **claimed))
    points = [(k, Fraction(numerator, 3)) for k in range(1, 9) for numerator in range(1, 400, 7)]
    found = margins(of, points)
    for margin, (k, start) in zip(found, points, strict=True):
        first = next(t for t in range(20) if start / 2**t <= 1)
        assert (margin >= 0) == (first >= k if early else first <= k - 1), (k, start)
    assert -1 <= found.min() < 0 < found.max() <= 1


def test_the_margin_is_what_is_left_of_the_steps():
    of = theorem((N, X), Reaches("claim", HALVING, sp.Integer(1), within=n))
    three, seven, twenty = margins(of, [(3, 5), (7, 5), (20, 5)])
    assert 0 < three < seven < twenty < 1
    # If two runs reach the level at the same step, the run that starts further above it has the smaller margin.
    (soon, late) = margins(of, [(3, Fraction(41, 10)), (3, Fraction(79, 10))])
    assert 0 < late < soon
    # No run reaches the level before step 0; a run that is too long to be computed refutes nothing.
    before = theorem((W, X), Reaches("claim", HALVING, sp.Integer(1), within=w))
    endless = Fraction(10) ** 300
    assert margins(before, [(-1, Fraction(1, 2)), (NUMERICAL.run_steps + 1, endless)]).tolist() == [-1, 1]


def test_a_level_that_is_left_again():
    # (w + t)^2 is at most x while w + t is between -sqrt(x) and sqrt(x). Later (w + t)^2 exceeds y = 1. It would exceed
    # y = 1 + 600^2 only after the last step that is computed.
    of = theorem((W, X, Y), Stays("claim", VALLEY, x, y))
    points = [(-start, level, 1 + 600**2 * share) for start in (2, 5, 9) for level in (1, 4, 30) for share in (0, 1)]
    found = margins(of, points)
    assert [margin < 0 for margin in found] == [bound == 1 for _, _, bound in points]
    assert margins(of, [(3, 1, 1)])[0] > 1


@pytest.mark.parametrize(
    ("size", "suspected"),
    [("1/1000", False), ("3/2", False), ("199/100", False), ("2", True), ("5/2", True), ("3/10000000", False)],
)
def test_a_run_is_suspected_where_it_does_not_fall(size, suspected):
    of = theorem((X, Y), Reaches("claim", DESCENT, y))
    (margin,) = margins(of, [(Fraction(size), Fraction(1, 10**300))])
    assert (margin < 0) == suspected and -1 < margin <= 1


@pytest.mark.parametrize(("power", "floor", "suspected"), [(1, 0, False), (2, 0, False), (0, 0, False), (0, 1, True)])
def test_a_run_is_suspected_where_it_settles_above_the_level(power, floor, suspected):
    # 1/t, 1/t^2 and 0.95^t fall to 0; 1 + 0.95^t settles above the level.
    t = sp.Symbol("z", positive=True)
    falls = floor + (sp.Rational(95, 100) ** t if not power else t**-power)
    of = theorem((X,), Reaches("claim", Dynamics((t,), (sp.Integer(1),), (t + 1,), falls), x))
    (margin,) = margins(of, [(Fraction(1, 10**20),)])
    assert (margin < 0) == suspected and -1 < margin <= 1


def test_a_run_that_leaves_the_reals_or_diverges_shows_no_error():
    leaving = Dynamics((z,), (sp.Integer(2),), (sp.log(z - x),), z)
    (left,) = margins(theorem((X,), Reaches("claim", leaving, sp.Integer(-9), within=sp.Integer(9))), [(1,)])
    growing = theorem(
        (X,), Stays("claim", Dynamics((z,), (sp.Integer(1),), (z**2 + x,), z), sp.Integer(1), sp.Integer(2))
    )
    assert left == -1 and margins(growing, [(1,)])[0] == -1
    # If the bound has no value, the claim has none.
    nowhere = theorem((W,), Reaches("claim", Dynamics((z,), (sp.Integer(1),), (z / 2,), z), sp.log(w)))
    assert margins(nowhere, [(-1,)])[0] == math.inf and margins(nowhere, [(2,)])[0] == 1


def test_runs_are_followed_in_scope_alone():
    followed = []
    of = theorem((N, X), Reaches("claim", HALVING, sp.Integer(1), within=n))
    outside, inside = ((-1, 10**90), (2, 10**90))
    assert margins(of, [outside], lambda: followed.append(1))[0] == math.inf and not followed
    margins(of, [inside], lambda: followed.append(1))
    assert len(followed) == 3


def test_the_time_ends_a_run():
    left = [100]

    def tick():
        left[0] -= 1
        if not left[0]:
            raise OutOfTimeError("over")

    with pytest.raises(OutOfTimeError):
        margins(theorem((X, Y), Reaches("claim", DESCENT, y)), [(3, 0.5)], tick)


def test_clauses_stand_in_their_order():
    first = load_theorem("wang2024.theorem1").statement
    words = {p.name: p.words[0] for p in first.parameters if p.words}
    read = compiled(first.specialised(words), words, first.specialised(words).claims, lambda: None)
    assert read.labels == ("reached", "stays") and set(read.runs) == {0, 1}
    both = theorem((AT_LEAST_ONE, M), sp.Le(x, m)).statement
    runs = Reaches("run", HALVING, sp.Integer(1), within=m)
    of = compiled(both, {}, (runs, *both.clauses), lambda: None)
    scores = of.scores(np.array([[8.0, 2], [8, 3], [8, 8]]))
    assert [(a < 0, b < 0) for a, b in scores.relative] == [(True, True), (False, True), (False, False)]
