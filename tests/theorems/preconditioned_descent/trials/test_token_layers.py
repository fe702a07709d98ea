"""Token-preconditioning layers: the loss compared with layers on random prompts, and slopes with differences."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from tests.theorems.preconditioned_descent.trials.layers import block, residuals, within_error
from theorems.preconditioned_descent.trials import token_layers
from verify import UndecidedError, UndefinedError

TWO = {"d": 2, "n": 3}
POINT = (Fraction(1, 4), Fraction(1, 2), Fraction(-3, 8))


def test_the_loss_is_that_of_layers_on_prompts():
    random, root = np.random.default_rng(0), np.array([[1.0, 0.5], [0, 0.75]])
    inverse, (first, second, rate) = np.linalg.inv(root @ root.T), map(float, POINT)
    steps = [block(first * inverse, 0), block(second * inverse, 0)]
    parameters = [(block(rate * np.eye(2), 1), -steps[0]), (block(np.eye(2), 1), -steps[1])]
    squares = residuals(random, 400_000, 3, parameters, root) ** 2
    layers = token_layers.Layers(2, TWO)
    exact = float(layers.loss(POINT))
    assert within_error(squares, exact) and not within_error(squares, 1.2 * exact)
    assert layers.value(np.array([first, second, rate]))[0] == pytest.approx(exact, rel=1e-12)


def test_slopes_are_those_of_differences_and_rates_without_effect_change_nothing():
    layers = token_layers.Layers(3, TWO)
    point = np.array([0.3, 0.4, 0.2, -0.5, 0.7])
    differences = [(layers.value(point + h)[0] - layers.value(point - h)[0]) / 2e-6 for h in 1e-6 * np.eye(5)]
    assert np.allclose(layers.value(point)[1], differences, rtol=1e-6)
    at_rest = token_layers.Layers(2, TWO).loss((Fraction(1, 3), Fraction(1, 4), Fraction(0)))
    assert layers.loss((Fraction(1, 3), Fraction(1, 4), *[Fraction(0)] * 3)) == at_rest


def test_critical_points_are_critical():
    layers = token_layers.Layers(2, TWO)
    for point, error in islice(token_layers.critical_points(layers, np.random.default_rng(0), lambda point: 0), 5):
        assert abs(layers.value(point)[1]).max() < 1e-9 and error < 1e-6


def test_a_point_that_would_violate_is_searched_again_in_more_digits():
    # At the known critical point a_1 = n/(n + d + 1) = 1/2. The slope in a_0 is a multiple of 1 + 2 b_0.
    known = [0, 0.5, -0.5]
    found = token_layers.critical_points(
        token_layers.Layers(2, TWO), np.random.default_rng(0), lambda point: -1 if point.min() < -0.4 else 0
    )
    for point, error in islice((pair for pair in found if pair[0].min() < -0.4), 2):
        assert abs(point - known).max() <= 1e-16 and error < 2e-16


def test_critical_points_in_floats_alone_have_no_verdict():
    # The nonzero eigenvalues differ by less than 10⁻⁴, so residuals near 10⁻⁸ yield false critical points in floats.
    layers = token_layers.Layers(2, {"d": 34359738369, "n": 445})
    with pytest.raises(UndecidedError, match="a critical point in float64 was not confirmed in more digits"):
        list(islice(token_layers.critical_points(layers, np.random.default_rng(0), lambda point: point.min()), 50))


def test_eigenvalues_of_0_are_left_out_of_floats_alone():
    layers, point = token_layers.Layers(2, {"d": 7, "n": 3}), (0.125, 0.25, -0.5)
    assert layers.value(np.array(point))[0] == pytest.approx(float(layers.loss(point)) - 4, rel=1e-12)
    assert layers.least_without_rates(1) == 7 - Fraction(7, 1 + Fraction(8, 3))


def test_the_descents_of_one_layer_end_at_its_best_step():
    layers = token_layers.Layers(1, TWO)
    # The best step is n/(n + d + 1) = 1/2 for d = 2 and n = 3. With step 0 the loss is d.
    assert layers.best(np.random.default_rng(0), [(0, token_layers.INFINITY)]) == pytest.approx([1 / 2], rel=1e-6)
    assert layers.loss([Fraction(1, 2)]) == Fraction(2 * 3, 6) < layers.loss([0])


def test_too_many_layers_and_too_many_examples_have_no_verdict():
    with pytest.raises(UndefinedError, match="L = 4: the loss over S is computed up to L = 3"):
        token_layers.Layers(4, TWO)
    with pytest.raises(
        UndefinedError, match="n = 100000000000, d = 2: the least mean square at eigenvalues above 0 is too small"
    ):
        token_layers.Layers(2, {"d": 2, "n": 10**11})
