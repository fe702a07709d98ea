"""Losses of one layer with any P and Q, compared with the layer's definition on random prompts."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from theorems.preconditioned_descent.trials.one_layer_losses import (
    MOST_DIMENSIONS,
    component_loss,
    exact_data,
    float_data,
    gaussian_rule,
    half_line,
    linear_loss,
    relu_loss,
)
from verify import UndefinedError

LOSSES = {"linear": linear_loss, "relu": relu_loss}


def prompts(count, n, eigenvalues, random):
    """Return Z_0 of random prompts, and the queries' true labels."""
    tokens = random.normal(size=(count, len(eigenvalues), n + 1)) * np.sqrt(eigenvalues)[:, None]
    labels = (random.normal(size=(count, 1, len(eigenvalues))) @ tokens)[:, 0]
    wanted = labels[:, -1].copy()
    labels[:, -1] = 0
    return np.concatenate((tokens, labels[:, None]), axis=1), wanted


def squares(kind, n, eigenvalues, P, Q, random, count=100_000):
    """Return (TF − <w*, x>)² for random prompts, with the layer Z + (1/n) P Z M (Zᵀ Q Z)."""
    Z, wanted = prompts(count, n, eigenvalues, random)
    seen = np.swapaxes(Z, 1, 2) @ Q @ Z
    seen = np.maximum(seen, 0) if kind == "relu" else seen
    after = Z + P @ Z @ np.diag([1] * n + [0]) @ seen / n
    return (-after[:, -1, -1] - wanted) ** 2


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_rule_has_the_moments_of_a_gaussian(d):
    rule = list(zip(*gaussian_rule(d), strict=True))
    normal = {0: 1, 1: 0, 2: 1, 3: 0, 4: 3, 5: 0}
    for powers in product(range(6), repeat=d):
        if sum(powers) <= 5:
            mean = sum(w * np.prod([x**k for x, k in zip(at, powers, strict=True)]) for at, w in rule)
            assert mean == np.prod([normal[k] for k in powers])


@pytest.mark.parametrize("power", [2, 4])
def test_moments_on_the_half_line_by_a_sum(power):
    # The trapezium rule on [0, 12] with 12 000 steps has an error below 1e-6, because the slopes at both ends are 0 or
    # nearly 0.
    s = np.linspace(0, 12, 12001)
    assert half_line(power) == pytest.approx(
        (s**power * np.exp(-(s**2) / 2)).sum() / 1000 / np.sqrt(2 * np.pi), abs=1e-6
    )


@pytest.mark.parametrize(
    ("kind", "n", "eigenvalues"),
    [("linear", 3, (1, 0.5)), ("linear", 1, (0.5,)), ("relu", 3, (1, 1)), ("relu", 1, (1,))],
)
def test_a_loss_is_the_mean_over_drawn_prompts(kind, n, eigenvalues):
    random, d = np.random.default_rng(3), len(eigenvalues)
    data = float_data(n, [Fraction(value) for value in eigenvalues])
    for _ in range(3):
        P, Q = random.normal(size=(2, d + 1, d + 1)) / 2
        drawn = squares(kind, n, eigenvalues, P, Q, random)
        # The loss is within 6 standard errors, and a standard error is below 2 percent of the mean.
        error = drawn.std() / len(drawn) ** 0.5
        assert error < 0.02 * drawn.mean()
        assert LOSSES[kind](data, P[-1], Q[:, :-1]).value == pytest.approx(drawn.mean(), abs=6 * error)


def test_a_component_is_the_mean_over_drawn_prompts():
    random, n, eigenvalues, variances = np.random.default_rng(4), 3, (1, 0.5), (1, 2)
    M = random.normal(size=(3, 3))
    tokens = random.normal(size=(100_000, 2, n)) * np.sqrt(eigenvalues)[:, None]
    targets = random.normal(size=(100_000, 1, 2)) * np.sqrt(variances)
    Z = np.concatenate((tokens, targets @ tokens), axis=1)
    drawn = (np.trace(Z @ np.swapaxes(Z, 1, 2) @ M / n, axis1=1, axis2=2) + targets[:, 0, 1]) ** 2
    data = float_data(n, [Fraction(value) for value in eigenvalues], [Fraction(value) for value in variances])
    error = drawn.std() / len(drawn) ** 0.5
    assert error < 0.02 * drawn.mean()
    assert component_loss(data, 1, M) == pytest.approx(drawn.mean(), abs=6 * error)


@pytest.mark.parametrize("kind", LOSSES)
def test_slopes_are_those_of_the_loss(kind):
    random, loss = np.random.default_rng(5), LOSSES[kind]
    data = float_data(4, [Fraction(1)] * 3)
    row, columns = random.normal(size=4), random.normal(size=(4, 3))
    found = loss(data, row, columns)
    # The loss is a quadratic function of each single entry, so its central difference is exactly its slope.
    for i in range(4):
        e = np.eye(4)[i]
        up, down = (loss(data, row + s * e, columns).value for s in (1, -1))
        assert (up - down) / 2 == pytest.approx(found.in_row[i], rel=1e-9)
        for j in range(3):
            move = np.outer(e, np.eye(3)[j])
            up, down = (loss(data, row, columns + s * move).value for s in (1, -1))
            assert (up - down) / 2 == pytest.approx(found.in_columns[i, j], rel=1e-9)


def test_the_rounding_is_bounded_and_the_bound_is_small():
    random, eigenvalues = np.random.default_rng(6), [Fraction(1), Fraction(1, 1000), Fraction(30)]
    data, exact = float_data(7, eigenvalues), exact_data(7, eigenvalues)
    for _ in range(5):
        row, columns = random.normal(size=4), random.normal(size=(4, 3))
        whole = [np.vectorize(Fraction, otypes=[object])(part) for part in (row, columns)]
        value = linear_loss(data, row, columns).value
        bound = data.rounding * linear_loss(data.absolute, abs(row), abs(columns)).value
        assert abs(Fraction(float(value)) - linear_loss(exact, *whole).value) <= bound < 1e-10 * value


@pytest.mark.parametrize(
    ("n", "eigenvalues", "why"),
    [
        (3, [Fraction(1)] * (MOST_DIMENSIONS + 1), f"is tried up to d = {MOST_DIMENSIONS}"),
        (3, [Fraction(1, 10**101)], "between 1e-100 and 1e100"),
        (10**101, [Fraction(1)], "between 1e-100 and 1e100"),
    ],
)
def test_too_many_dimensions_and_too_wide_a_range_have_no_value(n, eigenvalues, why):
    with pytest.raises(UndefinedError, match=why):
        float_data(n, eigenvalues)
