"""The layer with one-hot encodings: moments, gradient and loss by enumeration, and wrong claims that are refuted."""

from itertools import combinations, islice, product

import numpy as np
import pytest

from theorems.sparse_token_selection.reduced_dynamics import alpha, loss, step_alpha, step_C
from theorems.sparse_token_selection.trials import one_hot_layer as layer
from verify.errors import UndefinedError

T, q, d = 4, 2, 2


def indicators(T, q):
    return [np.isin(np.arange(T), subset).astype(float) for subset in combinations(range(T), q)]


def losses(X, V, W, y):
    """Return ½‖f − STS‖² for each X, from the definition of the layer."""
    found = []
    for x in X:
        Z = np.vstack([x, np.eye(len(y))])
        f = V @ Z @ layer.softmax(Z.T @ W @ np.concatenate([np.zeros(len(x)), y]))
        found.append(np.square(f - x @ y / y.sum()).sum() / 2)
    return np.array(found)


def population_slopes(V, W):
    """Return the slopes averaged over all subsets, and averaged over the permutations of one subset."""
    one_by_one = []
    for y in indicators(T, q):
        slope_V, column = layer.slopes(layer.tokens(T, d), V, layer.softmax(W[d:, d:] @ y), y)
        one_by_one.append((slope_V, np.outer(column, np.concatenate([np.zeros(d), y])), y, column))
    means = [np.mean([each[i] for each in one_by_one], axis=0) for i in (0, 1)]
    slope_V, _, y, column = one_by_one[3]
    return means, layer.over_subsets(slope_V, column, y)


def test_the_tokens_have_gaussian_moments_up_to_the_third():
    X = layer.tokens(3, 2).reshape(12, 6)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(X.T @ X / 12, np.eye(6), atol=1e-15)
    assert all(abs(np.mean(X[:, i] * X[:, j] * X[:, k])) < 1e-15 for i, j, k in product(range(6), repeat=3))


def test_the_permutations_of_a_subset_are_all_subsets():
    (slope_V, slope_W), (found_V, found_W) = population_slopes(*layer.on_the_set(T, d, 0.7, 1.3))
    np.testing.assert_allclose(found_V, slope_V, atol=1e-14)
    np.testing.assert_allclose(found_W, slope_W, atol=1e-14)


def test_the_slopes_are_those_of_the_layers_loss():
    random = np.random.default_rng(0)
    V, W = layer.on_the_set(T, d, 0.7, 1.3)
    toward_V, toward_W = random.standard_normal(V.shape), random.standard_normal(W.shape)
    (slope_V, slope_W), _ = population_slopes(V, W)
    h = 1e-4
    ends = [
        np.mean([losses(layer.tokens(T, d), V + s * toward_V, W + s * toward_W, y) for y in indicators(T, q)])
        for s in (-h, h)
    ]
    # The errors of differences are about h² times a third derivative.
    assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(
        np.sum(toward_V * slope_V) + np.sum(toward_W * slope_W), abs=1e-5
    )


def test_the_loss_is_the_mean_over_gaussian_tokens():
    random = np.random.default_rng(1)
    V, W = layer.on_the_set(T, d, 0.7, 1.3)
    y = indicators(T, q)[2]
    sampled = losses(random.standard_normal((20_000, d, T)), V, W, y)
    exact = losses(layer.tokens(T, d), V, W, y).mean()
    assert abs(sampled.mean() - exact) < 6 * sampled.std() / np.sqrt(len(sampled))


def drawn(trials, T, q, count=6):
    return list(islice(trials({"T": T, "q": q}, np.random.default_rng(2)), count))


@pytest.mark.parametrize(("T", "q"), [(2, 1), (5, 3), (6, 6), (40, 7)])
def test_lemma_1_is_not_violated(T, q):
    assert not any(trial.violates for trial in drawn(layer.kept(step_alpha, step_C), T, q))
    assert not any(trial.violates for trial in drawn(layer.population_loss(loss), T, q))


def test_a_thousandth_is_a_violation():
    assert any(trial.violates for trial in drawn(layer.kept(step_alpha * 1.001, step_C), 5, 3))
    assert any(trial.violates for trial in drawn(layer.kept(step_alpha, step_C * 1.001), 5, 3))
    assert all(trial.violates for trial in drawn(layer.population_loss(loss + alpha**2 / 1000), 5, 3))


@pytest.mark.parametrize("trials", [layer.kept(step_alpha, step_C), layer.population_loss(loss)])
def test_many_tokens_are_left_undecided(trials):
    with pytest.raises(UndefinedError, match="T = 1001: the layer is evaluated for T <= 1000"):
        drawn(trials, 1001, 3)
