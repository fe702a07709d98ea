"""The end of descent from zero, in balls: the least loss over all α and C, at one instance; and undecided ends."""

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from paper_checks.wang2024 import on_the_set
from paper_checks.wang2024.descent_in_balls import Sizes, end_of_descent, is_least, means
from paper_checks.wang2024.stochastic_encoding import Exactly, trained
from verify.errors import UndecidedError

SIZES, ETA = Sizes(4, 2, 1, 2, query=True), 0.5
HALF, FAR = 0.004, 12.0


@pytest.fixture(scope="module")
def end():
    return end_of_descent(SIZES, arb(ETA), 400, radius=0.012, curvature=0.03)


def test_end_of_descent_is_the_point_of_least_loss(end):
    assert is_least(SIZES, end, half=HALF, far=FAR)
    # The theorem's enclosure of the least loss over C >= 0 contains the loss at this end.
    _, q, d, _, _ = SIZES
    (P, *_), (R, *_) = means(SIZES, arb(end.C))
    low, high = on_the_set.layer(*SIZES).floor(Fraction(1, 10))
    assert low <= float(d / 2 * (end.alpha**2 * R - 2 * end.alpha * P / q + 1 / q)) <= high
    # Another C with its best α, or another α, is not shown to be least.
    (P, *_), (R, *_) = means(SIZES, arb(end.C + 0.1))
    assert not is_least(SIZES, replace(end, C=end.C + 0.1, alpha=float(P / (q * R))), half=HALF, far=FAR)
    assert not is_least(SIZES, replace(end, alpha=end.alpha + 0.1), half=HALF, far=FAR)


def test_the_training_of_the_full_matrices_goes_there(end):
    steps = 150
    W, V, _ = trained(Exactly(*SIZES[:4], "tokens_and_query", ETA), steps, "cpu")[steps]
    # In the end each step multiplies an error by at most 1 - eta * curvature.
    left = 4 * (1 - ETA * end.curvature) ** steps
    assert float(V[0, 0]) == pytest.approx(end.alpha, abs=left)
    assert float(W[1:, 1:].diagonal().mean()) == pytest.approx(end.C, abs=left)


def test_ends_of_descent_that_are_not_shown_are_undecided():
    with pytest.raises(UndecidedError, match="Hessian"):
        end_of_descent(SIZES, arb(ETA), 400, radius=0.01, curvature=0.06)
    with pytest.raises(UndecidedError, match="into itself"):
        end_of_descent(SIZES, arb(ETA), 60, radius=0.01, curvature=0.04)
    # With two selected tokens and attention to Z the loss falls with C without end.
    with pytest.raises(UndecidedError):
        end_of_descent(Sizes(3, 2, 1, 3, query=False), arb("0.25"), 300, radius=0.01, curvature=0.001)


def test_the_derivatives_by_differences():
    h = 1e-4
    low, at, high = (means(SIZES, arb(0.7) + s * arb(h)) for s in (-1, 0, 1))
    for below, here, above in zip(low, at, high, strict=True):
        assert float((above[0] - below[0]) / (2 * h)) == pytest.approx(float(here[1]), abs=1e-6)
        assert float((above[1] - below[1]) / (2 * h)) == pytest.approx(float(here[2]), abs=1e-6)
