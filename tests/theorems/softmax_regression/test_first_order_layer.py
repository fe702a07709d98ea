"""The layer with small scores, compared in NumPy with a gradient step; the inequalities of the proof."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import special

import verify
from theorems.softmax_regression.first_order_layer import first_order_layer
from verify import InputError
from verify.outcomes import as_float

softmax = partial(special.softmax, axis=-1)


def task(source, n, d):
    return source.normal(size=(n, d)), source.dirichlet(np.ones(n))


ON_THE_DIAGONAL = [(2, 1, "1"), (5, 3, "1/10"), (12, 4, "1/1000")]
BESIDE = [(n, d, w) for n, d, own in ON_THE_DIAGONAL for w in ("1", "1/10", "1/1000") if w != own]


@pytest.mark.parametrize(
    ("n", "d", "w"), [*ON_THE_DIAGONAL, *(pytest.param(*each, marks=pytest.mark.audit) for each in BESIDE)]
)
def test_within_the_stated_distance_with_any_preconditioner(n, d, w):
    source, eta = np.random.default_rng(0), 3
    for _ in range(8):
        A, b = task(source, n, d)
        H = source.normal(size=(d, d))
        scores = A @ H @ A.T
        spread, beta = np.ptp(scores, axis=1).max(), np.ptp(b)
        given = {"n": n, "eta": eta, "w": w, "G": Fraction(spread), "beta": Fraction(beta)}
        values = verify.check(first_order_layer, **given).values
        layer = softmax(float(values["v"]) * softmax(float(Fraction(w)) * scores) @ (n * b))
        # At x = 0 the loss has the slopes J (p - b) in the logits, with p = 1/n.
        slopes = (np.eye(n) / n - 1 / n**2) @ (1 / n - b)
        step = softmax(A @ (-eta * H @ A.T @ slopes))
        assert np.linalg.norm(layer - step) <= as_float(values["distance_at_most"]) * (1 + 1e-9)


def four_columns(n, kappa, w):
    """Return the layer's and the step's predictions in closed form, for four groups of columns, eta beta = kappa."""
    behind = kappa / (2 * w)
    first = behind * np.tanh(w / 4) ** 2
    logits = np.array([first, -first, *(n - 2) * [-behind * np.tanh(w / 2)]])
    return softmax(logits), softmax(np.array([0, 0, *(n - 2) * [-kappa / 4]]))


@pytest.mark.parametrize("n", [4, 8, 100])
def test_layers_reach_the_factor_that_is_needed_as_steps_grow(n):
    needed = as_float(verify.check(first_order_layer, **first_order_layer.example | {"n": n}).values["factor_needed"])
    assert needed == pytest.approx(2**0.5 / 64, rel=1e-12)
    ratios = []
    for kappa in (4, 40, 120):
        layer, step = four_columns(n, kappa, 1e-6)
        ratios.append(np.linalg.norm(layer - step) / (kappa * 1e-6))
    assert ratios[0] < 0.8 * needed and ratios[-1] == pytest.approx(needed, rel=1e-6)


def mixed_moment(c, s, p):
    """Return E (c - E c)(s - E s)^2 under the law p."""
    return p @ ((c - p @ c) * (s - p @ s) ** 2)


def test_the_mixed_moment_has_the_bound_that_the_proof_uses():
    source, most, found = np.random.default_rng(2), 3**0.5 / 18, []
    for _ in range(4000):
        size = source.integers(2, 5)
        c, s = (np.round(source.random(size)) if source.random() < 0.5 else source.random(size) for _ in range(2))
        found.append(mixed_moment(c, s, source.dirichlet(np.ones(size))))
    assert -most < min(found) < -0.95 * most and 0.95 * most < max(found) < most
    # The bound is attained if c = s, and both are 1 with probability m and 0 otherwise.
    m = (3 - 3**0.5) / 6
    assert mixed_moment(np.array([0, 1]), np.array([0, 1]), np.array([1 - m, m])) == pytest.approx(most, rel=1e-12)


def test_two_rows_differ_by_nine_sixty_fourths_at_most():
    source, most = np.random.default_rng(3), 0
    for _ in range(4000):
        c, first, second = np.round(source.random((3, 8)) * source.integers(1, 3, (3, 1)) * 2) / 4
        p = np.full(8, 1 / 8)
        most = max(most, mixed_moment(c, first, p) - mixed_moment(c, second, p))
    assert most <= 9 / 64
    # The bound is attained if one row is 1 in a quarter of the columns and 0 elsewhere, and the other row is 1/2 in
    # this quarter, and 0 and 1 in half of the other columns each.
    c, first = np.repeat([1, 0], [2, 6]), np.repeat([1, 0], [2, 6])
    second = np.array([0.5, 0.5, 0, 0, 0, 1, 1, 1])
    assert mixed_moment(c, first, p) - mixed_moment(c, second, p) == pytest.approx(9 / 64, rel=1e-12)


def test_one_row_is_not_in_its_domain():
    with pytest.raises(InputError, match="n = 1: must be an integer >= 2"):
        verify.check(first_order_layer, **first_order_layer.example | {"n": 1})


def test_the_mean_loss_tends_to_the_steps_on_data_without_a_bound():
    # The matrices are scaled by Cauchy variables, so |a_i|² has no finite mean.
    source, n, d, eta = np.random.default_rng(1), 6, 3, 3
    tasks = [(source.standard_cauchy() * A, b) for A, b in (task(source, n, d) for _ in range(2000))]

    def loss(output, b):
        return np.square(output - b).sum() / 2

    step = np.mean([loss(softmax(A @ A.T @ (eta / n * (b - 1 / n))), b) for A, b in tasks])
    gaps = []
    for w in (1e-2, 1e-4, 1e-6):
        layers = [loss(softmax(eta / (n * w) * softmax(w * (A @ A.T)) @ (n * b)), b) for A, b in tasks]
        gaps.append(abs(np.mean(layers) - step))
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 1e-3 < gaps[0]
