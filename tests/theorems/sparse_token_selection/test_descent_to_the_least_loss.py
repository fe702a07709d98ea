"""Descent to the least loss: its primitives against sums over all signs, both computations, and what is refused."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import verify
from tests.theorems.sparse_token_selection.test_descent_with_the_query import means as means_with_the_query
from theorems.sparse_token_selection import descent_primitives
from theorems.sparse_token_selection.attention_curves import close, curves
from theorems.sparse_token_selection.rechecked import RECHECKS
from theorems.sparse_token_selection.three_selected import Sizes, left_out, means
from verify import InputError, Outcome, load_theorem
from verify.errors import UndefinedError
from verify.rechecker import Rejected
from verify.rechecker.reading import Effort
from verify.rechecker.registry import computed

THEOREM = load_theorem("wang2024.descent_to_the_least_loss")
SIZES = [(4, 3, 0), (4, 3, 1), (5, 2, 0), (5, 2, 1)]
D_TOKEN = 2
SMALL = (8, 8, 1, 4)
STEPS = ("small_step", "not_back", "not_reached", "one_turn", "largest", "curved")


@cache
def logits(T, D):
    """Return the tokens' logits over C, attending to them alone, for all signs."""
    signs = np.array(list(itertools.product((1, -1), repeat=T * D))).reshape(-1, D, T)
    return np.einsum("nbt,nb->nt", signs, signs[:, :, :3].sum(axis=2)) / D


def exact(T, D, query, C):
    """Return P, R and two slopes of each from the definition of the softmax, over all signs."""
    if query:
        return means_with_the_query(T, 3, D, C)
    v = logits(T, D)
    p = np.exp(C * (v - v.max(axis=1, keepdims=True)))
    p /= p.sum(axis=1, keepdims=True)
    x = v - (p * v).sum(axis=1, keepdims=True)
    spread = (p * x**2).sum(axis=1, keepdims=True)
    selected = [f[:, :3].sum(axis=1).mean() for f in (p, p * x, p * (x**2 - spread))]
    return selected, [f.sum(axis=1).mean() for f in (p**2, 2 * p**2 * x, p**2 * (4 * x**2 - 2 * spread))]


def second(name, *arguments):
    """Return what the re-checker's own computation encloses."""
    return computed(Effort(), RECHECKS.primitives[f"{name}/1"], tuple(map(Fraction, arguments)))


def ends(name, *arguments):
    """Return the first computation's ends."""
    value = getattr(descent_primitives, name).evaluate(*map(Fraction, arguments))
    return (value, value) if isinstance(value, Fraction) else (value.lower, value.upper)


@pytest.mark.parametrize("sizes", SIZES)
def test_means_are_those_over_all_signs(sizes):
    for C in (0.0, 0.7, 2.5):
        found, missed = means(Sizes(*sizes), C), left_out(Sizes(*sizes), C)
        for value, (truth, *_), more in zip((found.P, found.R), exact(*sizes, C), missed, strict=True):
            assert value * (1 - found.error) <= truth <= value * (1 + found.error) + more
            assert found.error < 1e-7 and more < 1e-6


@pytest.mark.parametrize("sizes", SIZES)
def test_curves_and_slopes_are_those_over_all_signs(sizes):
    found = curves(Sizes(*sizes), 2.0)
    assert found.start[0] == 0 and found.stop[-1] == pytest.approx(2)
    for i in range(0, len(found.start), 37):
        for C in (found.start[i], found.stop[i]):
            for ranges, truth in zip(found.everywhere, exact(*sizes, float(C)), strict=True):
                for order, (each, value) in enumerate(zip(ranges, truth, strict=True)):
                    assert each.low[i] - 1e-12 <= value <= each.high[i] + 1e-12
                    assert each.high[i] - each.low[i] < (0.01, 0.05, 1.0)[order]
    near = close(Sizes(*sizes), 0.9, 1.1)
    (P, P1, _), (R, R1, _) = exact(*sizes, 0.9)
    assert near.slope.low[0] - 1e-9 <= 2 * P1 / P - R1 / R <= near.slope.high[0] + 1e-9


@pytest.mark.parametrize("sizes", SIZES)
def test_curvature_and_fall_are_those_over_all_signs(sizes):
    T, D, query = sizes
    ratio, largest, fall = D_TOKEN / D, 0.0, []
    grid = np.linspace(0, 2, 21)
    for C in grid:
        (P, P1, P2), (R, R1, R2) = exact(*sizes, float(C))
        for alpha in np.linspace(0, 2 * P / (3 * R), 9):
            mixed = math.sqrt(ratio) * (alpha * R1 - P1 / 3)
            hessian = [[R, mixed], [mixed, ratio / 2 * (alpha**2 * R2 - 2 * alpha * P2 / 3)]]
            largest = max(largest, float(np.abs(np.linalg.eigvalsh(hessian)).max()))
        gain, z = P**2 / (3 * R), np.linspace(-1, 1, 2001)
        slope = gain * (2 * P1 / P - R1 / R)
        fall.append(np.hypot(2 * P * z / math.sqrt(ratio), (1 + z) * (slope - z * gain * R1 / R)).min())
    integral = float(np.trapezoid(fall, grid))
    for by in (ends, second):
        low, high = by("largest_curvature", T, D_TOKEN, D, query, 2)
        assert low <= high and largest <= high < 1.5 * largest + 0.2
        low, high = by("least_fall", T, D_TOKEN, D, query, 2)
        # The trapezia are off by some 1 %.
        assert low <= 1.02 * integral and 0.98 * integral <= high and high - low < 0.2 * integral


@pytest.mark.parametrize("name", ["turning_point", "turning_gain", "rise", "gain_at", "largest_gain_from"])
def test_both_computations_agree(name):
    (low, high), (less, more) = ends(name, *SMALL), second(name, *SMALL)
    assert max(low, less) <= min(high, more)
    assert high - low < Fraction(1, 50) and more - less < Fraction(1, 10)


def test_one_turn_and_the_curvature_there():
    assert ends("turning_points", *SMALL) == second("turning_points", *SMALL) == (1, 1)
    # Up to C = 1/2 the gain rises.
    assert ends("turning_points", 8, 8, 1, "1/2") == second("turning_points", 8, 8, 1, "1/2") == (0, 0)
    with pytest.raises(UndefinedError, match="the gain rises up to there"):
        ends("turning_point", 8, 8, 1, "1/2")
    with pytest.raises(Rejected, match="the gain rises up to there"):
        second("turning_point", 8, 8, 1, "1/2")
    (low, high), (less, more) = (by("least_curvature", 8, D_TOKEN, 8, 1, 4) for by in (ends, second))
    assert 0 < max(low, less) <= min(high, more)


def test_the_run_over_all_signs_ends_where_it_is_said_to():
    T, D, d, eta, reach, steps = 4, 3, 1, 1 / 4, 5, 2500
    largest, fall = (ends(name, T, d, D, 0, reach) for name in ("largest_curvature", "least_fall"))
    assert math.sqrt(1 - (eta * largest[1]) ** 2) * fall[0] > ends("gain_at", T, D, 0, reach)[1]
    assert ends("rise", T, D, 0, reach)[0] ** 2 > eta * d / (3 * D)
    alpha = C = 0.0
    loss = before = math.inf
    for _ in range(steps):
        (P, P1, _), (R, R1, _) = exact(T, D, 0, C)
        loss = d / 2 * (alpha**2 * R - 2 * alpha * P / 3 + 1 / 3)
        assert loss < before + 1e-15 and 0 <= C < reach
        before = loss
        alpha, C = alpha - eta * (alpha * R - P / 3), C - eta * d / (2 * D) * (alpha**2 * R1 - 2 * alpha * P1 / 3)
    (low, high), (less, more) = (ends(name, T, D, 0, reach) for name in ("turning_point", "turning_gain"))
    # λ is at least 0.0239 there: errors fall by e^(-0.0239/4) a step, to below 10^-6.
    assert low - 1e-5 <= C <= high + 1e-5 and high - low < Fraction(1, 100)
    assert d / 6 * (1 - more) - 1e-9 <= loss <= d / 6 * (1 - less) + 1e-9 and more - less < Fraction(1, 1000)


def test_the_example_is_shown_step_by_step():
    result = verify.check(THEOREM, **THEOREM.example, seconds=600)
    held = {clause.label: clause for clause in result.clauses}
    for label in STEPS:
        assert held[label].holds and str(held[label].evidence).startswith("certified"), label
    assert result.outcome is Outcome.VERIFIED


def test_where_a_step_is_too_large_nothing_is_shown():
    result = verify.check(THEOREM, **THEOREM.example | {"eta": 12})
    held = {clause.label: clause.holds for clause in result.clauses}
    assert held["small_step"] is False


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 9}, {"d_e": 0}, {"reach": 0}):
        with pytest.raises(InputError):
            verify.check(THEOREM, **THEOREM.example | wrong)
    for wrong in ((3, 8, 1, 4), (8, 0, 1, 4), (8, 8, 2, 4), (8, 401, 1, 4), (8, 8, 1, 17), (8, 8, 1, 0)):
        with pytest.raises(UndefinedError):
            ends("turning_points", *wrong)
        with pytest.raises(Rejected):
            second("turning_points", *wrong)


def test_other_numbers_of_selected_tokens_are_out_of_scope():
    result = verify.check(THEOREM, **THEOREM.example | {"q": 4})
    assert result.outcome is Outcome.OUT_OF_SCOPE
