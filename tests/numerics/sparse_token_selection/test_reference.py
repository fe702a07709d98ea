"""The simulator, compared with NumPy loops, Gauss-Hermite quadrature, hand calculations and its standard errors."""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
import torch
from scipy import stats

from numerics.sparse_token_selection.reference import (
    Gradient,
    cosine_similarity,
    cubature_gradient,
    layer_output,
    loss,
    one_hot_encodings,
    sample_batch,
    sampled_gradient,
    target,
    train,
)
from tests.numerics.devices import DEVICES
from verify.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

EPS = np.finfo(float).eps
FALSE_ALARM = 1e-6  # probability of a false alarm in a test, divided among its comparisons (Bonferroni)


def generator(seed, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


def random_parameters(seed, d, d_e, *, block_only):
    """Return W (D, D), V (d, D) ~ N(0, 1/4); with block_only, W vanishes outside the positional block."""
    random = generator(seed)
    W = torch.randn(d + d_e, d + d_e, generator=random, dtype=torch.float64) / 2
    V = torch.randn(d, d + d_e, generator=random, dtype=torch.float64) / 2
    if block_only:
        W[:d], W[:, :d] = 0, 0
    return W, V


def naive_sample(W, V, encodings, tokens, subset):
    """Return f and 1/2 ||f - STS||^2 of one sample, by scalar loops; complex W or V give complex results."""
    (d, D), T = V.shape, encodings.shape[1]
    Z = [[*tokens[:, t], *encodings[:, t]] for t in range(T)]
    query = [0.0] * d + [sum(encodings[a, t] for t in subset) for a in range(D - d)]
    logits = [sum(Z[t][i] * W[i, j] * query[j] for i in range(D) for j in range(D)) for t in range(T)]
    weights = [np.exp(logit) for logit in logits]
    f = [sum(V[a, i] * Z[t][i] * weights[t] for t in range(T) for i in range(D)) / sum(weights) for a in range(d)]
    return f, sum((f[a] - sum(tokens[a, t] for t in subset) / len(subset)) ** 2 for a in range(d)) / 2


def naive_gradient(W, V, encodings, tokens, subset):
    """Return one sample's loss and its gradients in W and V, by complex steps through the scalar loops."""
    h = 1e-30  # Im L(W + i h u) / h = dL/du - O(h^2): no truncation error, no cancellation
    gradients = np.zeros(W.shape), np.zeros(V.shape)
    for which, gradient in enumerate(gradients):
        for entry in np.ndindex(gradient.shape):
            shifted = [W.astype(complex), V.astype(complex)]
            shifted[which][entry] += 1j * h
            gradient[entry] = naive_sample(*shifted, encodings, tokens, subset)[1].imag / h
    return naive_sample(W, V, encodings, tokens, subset)[1], *gradients


def quadrature_gradient(W, V, encodings, q, nodes):
    """Return the mean naive loss and gradients over all subsets and a tensor-product Gauss-Hermite rule."""
    d, T = len(V), encodings.shape[1]
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights /= weights.sum()
    subsets = list(combinations(range(T), q))
    total = [0.0, np.zeros(W.shape), np.zeros(V.shape)]
    for where in product(range(nodes), repeat=T * d):
        tokens, weight = points[list(where)].reshape(d, T), weights[list(where)].prod() / len(subsets)
        for subset in subsets:
            sample = naive_gradient(W, V, encodings, tokens, subset)
            total = [old + weight * new for old, new in zip(total, sample, strict=True)]
    return total


@pytest.mark.parametrize(("T", "q", "d", "d_e"), [(4, 2, 3, 4), (5, 1, 2, 3), (3, 3, 1, 2)])
def test_output_target_and_loss_equal_scalar_loops(T, q, d, d_e):
    W, V = random_parameters(1, d, d_e, block_only=False)
    encodings = torch.randn(d_e, T, generator=generator(2), dtype=torch.float64)
    tokens, subsets = sample_batch(7, T, q, d, generator(3))
    outputs, losses = layer_output(W, V, encodings, tokens, subsets), loss(W, V, encodings, tokens, subsets)
    assert outputs.shape == target(tokens, subsets).shape == (7, d)
    assert losses.shape == (7,)
    # Rounding: a sum has <= D^2 T < 300 products of <= 4 factors. Logits and their exponentials are <= 50 and amplify
    # errors by <= 50, so the relative error of quantities of size <= 50 is below 300 * 50 EPS = 3.4e-12.
    tolerance = 50 * 300 * 50 * EPS
    for n in range(7):
        subset = [t for t in range(T) if subsets[n, t] == 1]
        f, half_square = naive_sample(W.numpy(), V.numpy(), encodings.numpy(), tokens[n].numpy(), subset)
        assert np.allclose(outputs[n].numpy(), f, rtol=0, atol=tolerance)
        assert np.allclose(
            target(tokens, subsets)[n].numpy(), tokens[n].numpy()[:, subset].mean(axis=1), atol=tolerance
        )
        assert abs(losses[n].item() - half_square) < tolerance


@pytest.mark.parametrize("device", DEVICES)
def test_sample_batch_draws_uniform_subsets_and_standard_tokens(device):
    n, T, q, d = 40_000, 5, 2, 3
    tokens, subsets = sample_batch(n, T, q, d, generator(4, device))
    assert tokens.shape == (n, d, T)
    assert tokens.dtype == torch.float64
    assert tokens.device.type == device
    assert ((subsets == 0) | (subsets == 1)).all()
    assert (subsets.sum(dim=1) == q).all()
    tokens, subsets = tokens.cpu().numpy().reshape(n, -1), subsets.cpu().numpy()
    # There are T inclusion frequencies, C(T, q) subset frequencies, d T means and (d T)^2 second moments. Each is a
    # mean of n = 40 000 terms of known variance, and nearly normal.
    comparisons = T + math.comb(T, q) + d * T + (d * T) ** 2
    z = stats.norm.isf(FALSE_ALARM / 2 / comparisons)
    for frequencies, p in (
        (subsets.mean(axis=0), q / T),
        (np.array([subsets[:, pair].prod(axis=1).mean() for pair in combinations(range(T), q)]), 1 / math.comb(T, q)),
    ):
        assert np.all(abs(frequencies - p) < z * math.sqrt(p * (1 - p) / n))
    assert np.all(abs(tokens.mean(axis=0)) < z / math.sqrt(n))
    # Var(x_i x_j) = 1 + [i = j].
    identity = np.eye(d * T)
    assert np.all(abs(tokens.T @ tokens / n - identity) < z * np.sqrt((1 + identity) / n))


def test_sample_batch_is_a_function_of_the_seed():
    first, second, other = (sample_batch(5, 4, 2, 3, generator(seed), dtype=torch.float32) for seed in (5, 5, 6))
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])
    assert not torch.equal(first[0], other[0])
    assert first[0].dtype == first[1].dtype == torch.float32


@pytest.mark.parametrize(("T", "q", "d", "d_e", "nodes"), [(3, 1, 1, 3, 4), (3, 2, 1, 2, 3), (2, 1, 2, 2, 3)])
def test_cubature_equals_gauss_hermite_quadrature(T, q, d, d_e, nodes):
    W, V = random_parameters(7, d, d_e, block_only=True)
    encodings = torch.eye(T) if d_e == T else torch.randn(d_e, T, generator=generator(8))
    encodings = encodings.to(torch.float64)
    expected = quadrature_gradient(W.numpy(), V.numpy(), encodings.numpy(), q, nodes)
    found = cubature_gradient(W, V, encodings, q)
    # >= 3 nodes are exact to degree 5 >= 3, so only rounding differs. The sums have <= 200 samples of size <= 100, each
    # from <= 100 operations with a condition number <= 50: 200 * 100 * 50 * 100 EPS = 2.3e-8 in the worst case. For
    # rounding errors of random sign, the number of operations, 200 * 100, is replaced by its square root.
    tolerance = math.sqrt(200 * 100) * 50 * 100 * EPS
    for name, value, reference in zip(Gradient._fields, found, expected, strict=True):
        assert np.allclose(value.numpy(), reference, rtol=0, atol=tolerance), name
    # Every block is compared at nonzero values, except the columns of W that have no effect because x_query = 0.
    assert found.W[:, :d].abs().max() == 0
    assert min(block.abs().max() for block in (found.W[:d, d:], found.W[d:, d:], found.V[:, :d], found.V[:, d:])) > 1e-3


def test_cubature_ignores_columns_that_the_zero_query_removes():
    W, V = random_parameters(9, 2, 3, block_only=True)
    first = cubature_gradient(W, V, one_hot_encodings(3), 2)
    W[:, :2] = torch.randn(5, 2, generator=generator(10), dtype=torch.float64)
    # The changed columns only add 0 * finite = 0, so the results are equal to the last bit.
    assert all(torch.equal(*pair) for pair in zip(first, cubature_gradient(W, V, one_hot_encodings(3), 2), strict=True))


def test_cubature_is_the_same_in_chunks(monkeypatch):
    W, V = random_parameters(11, 2, 3, block_only=True)
    whole = cubature_gradient(W, V, one_hot_encodings(3), 2)
    monkeypatch.setattr("numerics.sparse_token_selection.reference._CHUNK_ELEMENTS", 5 * 3 * 7)
    parts = cubature_gradient(W, V, one_hot_encodings(3), 2)
    # The means have 36 terms of size <= 100, in another order.
    assert all(torch.allclose(*pair, rtol=0, atol=36 * 100 * EPS) for pair in zip(whole, parts, strict=True))
    # If V's positional block is 0, f - STS is odd in X. These blocks are then means of odd terms, and exactly 0.
    V[:, 2:] = 0
    parts = cubature_gradient(W, V, one_hot_encodings(3), 2)
    assert (parts.W[:2, 2:] == 0).all()
    assert (parts.V[:, 2:] == 0).all()


@pytest.mark.parametrize("device", DEVICES)
def test_sampled_gradient_agrees_with_cubature_and_rejects_a_tenth_more(device):
    T, q, d, batches = 4, 2, 2, 64
    W, V = (matrix.to(device) for matrix in random_parameters(12, d, T, block_only=True))
    encodings = one_hot_encodings(T, device=device)
    exact = cubature_gradient(W, V, encodings, q)
    sampled = sampled_gradient(W, V, encodings, q, batches=batches, batch_size=4000, generator=generator(13, device))
    for value, per_batch in zip(exact, sampled.batches, strict=True):
        assert per_batch.shape == (batches, *value.shape)
    # Student's t has batches - 1 degrees of freedom; means of 4000 samples are nearly normal for |t| < 7. A tenth of
    # the gradient is >= 14 standard errors of the functionals below, more than twice the quantile t = 6.43.
    comparisons = 1 + W.numel() + V.numel() + 2
    t = stats.t.isf(FALSE_ALARM / 2 / comparisons, batches - 1)
    for value, mean, error in zip(exact, sampled.mean, sampled.standard_error, strict=True):
        assert ((mean - value).abs() <= t * error).all()
    for value, per_batch in zip(exact[1:], sampled.batches[1:], strict=True):
        # With the exact gradient G, the functional g -> <g, G> / ||G|| has the value ||G|| at g = G.
        norm = value.norm()
        along = (per_batch * value).sum(dim=(1, 2)) / norm
        error = along.std() / math.sqrt(batches)
        assert abs(along.mean() - norm) < t * error
        assert abs(along.mean() - 1.1 * norm) > t * error


def test_sampled_gradient_is_made_of_naive_gradients_and_their_standard_errors():
    W, V = random_parameters(14, 1, 3, block_only=False)
    encodings, random = one_hot_encodings(3), generator(15)
    sampled = sampled_gradient(W, V, encodings, 2, batches=5, batch_size=2, generator=generator(15))
    drawn = [sample_batch(2, 3, 2, 1, random) for _ in range(5)]
    expected = [
        [
            naive_gradient(W.numpy(), V.numpy(), encodings.numpy(), x.numpy(), y.nonzero()[:, 0].tolist())
            for x, y in zip(*batch, strict=True)
        ]
        for batch in drawn
    ]
    # The tolerance is derived as in the comparison with quadrature, for <= 10 samples of <= 100 operations.
    tolerance = math.sqrt(10 * 100) * 50 * 100 * EPS
    for which, name in enumerate(Gradient._fields):
        batches = np.array([np.mean([sample[which] for sample in batch], axis=0) for batch in expected])
        found = [getattr(part, name).numpy() for part in (sampled.batches, sampled.mean, sampled.standard_error)]
        for value, reference in zip(found, (batches, batches.mean(axis=0), stats.sem(batches, axis=0)), strict=True):
            assert np.allclose(value, reference, rtol=0, atol=tolerance), name


@pytest.mark.parametrize(("T", "q", "d"), [(3, 1, 1), (4, 2, 2)])
def test_first_step_from_zero_by_hand(T, q, d):
    # At W = V = 0, f = 0, p = (1/T, ..., 1/T), L = 1/2 E||STS||^2 = d / (2 q), and dL/dW = 0 because it has the factor
    # V = 0. In dL/dV = -E[STS (Z p)^T], the token block is -E[(1/q) sum_{i in y} x_i (1/T) sum_j x_j^T] = -I/T, and the
    # positional block is 0 because E[STS] = 0 for each subset.
    W, V = torch.zeros(d + T, d + T, dtype=torch.float64), torch.zeros(d, d + T, dtype=torch.float64)
    by_hand = torch.cat([-torch.eye(d, dtype=torch.float64) / T, torch.zeros(d, T, dtype=torch.float64)], dim=1)
    value, gW, gV = cubature_gradient(W, V, one_hot_encodings(T), q)
    # The means have C(T, q) 2 T d <= 96 terms of size <= T d.
    tolerance = 96 * T * d * EPS
    assert abs(value - d / (2 * q)) < tolerance
    assert (gW == 0).all()
    assert (gV - by_hand).abs().max() < tolerance
    if (T, q, d) == (3, 1, 1):
        assert abs(gV[0, 0] + 1 / 3) < tolerance
    run = train(W, V, eta=0.5, steps=1, gradient=lambda W, V: cubature_gradient(W, V, one_hot_encodings(T), q))
    start, end = run
    assert (start.step, end.step) == (0, 1)
    assert torch.equal(start.V, V)
    assert (end.W == 0).all()
    assert (end.V + 0.5 * by_hand).abs().max() < tolerance


def test_training_from_zero_lowers_the_loss_and_stays_where_cubature_is_exact():
    T, q, d = 4, 2, 2
    W, V = torch.zeros(d + T, d + T, dtype=torch.float64), torch.zeros(d, d + T, dtype=torch.float64)
    run = list(train(W, V, eta=0.5, steps=60, gradient=lambda W, V: cubature_gradient(W, V, one_hot_encodings(T), q)))
    assert [iterate.step for iterate in run] == list(range(61))
    assert (W == 0).all()
    assert (V == 0).all()
    losses = [iterate.loss.item() for iterate in run]
    assert all(later < earlier for earlier, later in pairwise(losses))
    assert losses[-1] < losses[0] / 2
    # Odd moments cancel exactly; otherwise cubature_gradient would have refused the second W.
    assert all((iterate.W[:d, d:] == 0).all() and (iterate.V[:, d:] == 0).all() for iterate in run)
    assert run[-1].W[d:, d:].abs().max() > 0.1


def test_train_accepts_sampled_gradients_and_asks_for_them_one_by_one():
    random, calls = generator(16), []

    def gradient(W, V):
        calls.append(1)
        return sampled_gradient(W, V, one_hot_encodings(3), 1, batches=2, batch_size=500, generator=random).mean

    W, V = torch.zeros(4, 4, dtype=torch.float64), torch.zeros(1, 4, dtype=torch.float64)
    run = train(W, V, eta=1.0, steps=20, gradient=gradient)
    first = next(run)
    assert len(calls) == 1
    *_, last = run
    assert len(calls) == 21
    # A loss is a mean of 1000 terms. At the start a term is x^2 / 2 with x ~ N(0, 1) and has variance 1/2; at the end
    # the variance is smaller. The test rejects the hypothesis that the population loss has not decreased.
    assert first.loss - last.loss > stats.norm.isf(FALSE_ALARM) * math.sqrt(2 * 0.5 / 1000)


def test_cosine_similarity():
    A = torch.tensor([[3.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    B = torch.tensor([[0.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    # <A, B> = 4, ||A|| = 5 and ||B|| = sqrt 2; there are five rounding errors.
    assert abs(cosine_similarity(A, B) - 4 / (5 * math.sqrt(2))) < 5 * EPS
    assert abs(cosine_similarity(A, -2 * A) + 1) < 5 * EPS


Z44, Z14, Z33 = torch.zeros(4, 4).double(), torch.zeros(1, 4).double(), torch.zeros(3, 3).double()
I3, X, Y = torch.eye(3).double(), torch.zeros(2, 1, 3).double(), torch.tensor([[1.0, 0, 0], [0, 1, 0]]).double()


def sampled(*, W=Z44, V=Z14, q=1, batches=2, batch_size=2):
    return sampled_gradient(W, V, I3, q, batches=batches, batch_size=batch_size, generator=generator(0))


def token_row(value):
    W = Z44.clone()
    W[0, 2] = value
    return W


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("T", lambda: one_hot_encodings(0)),
        ("n", lambda: sample_batch(0, 3, 1, 1, generator(0))),
        ("T", lambda: sample_batch(2, 0, 1, 1, generator(0))),
        ("d", lambda: sample_batch(2, 3, 1, 0, generator(0))),
        ("q", lambda: sample_batch(2, 3, 4, 1, generator(0))),
        ("q", lambda: sample_batch(2, 3, 0, 1, generator(0))),
        ("q", lambda: sample_batch(2, 3, 1.5, 1, generator(0))),
        ("tokens", lambda: target(X[0], Y)),
        ("subsets", lambda: target(X, Y[:, :2])),
        ("tokens", lambda: layer_output(Z44, Z14, I3, X[:, :, :2], Y[:, :2])),
        ("encodings", lambda: layer_output(Z44, Z14, I3[0], X, Y)),
        ("V", lambda: layer_output(Z44, Z14[:, :3], I3, X, Y)),
        ("W", lambda: layer_output(Z33, Z14, I3, X, Y)),
        ("subsets", lambda: loss(Z44, Z14, I3, X, Y[:1])),
        ("W", lambda: sampled(W=Z33)),
        ("V", lambda: sampled(V=Z33)),
        ("q", lambda: sampled(q=4)),
        ("q", lambda: sampled(q=0)),
        ("batches", lambda: sampled(batches=1)),
        ("batch_size", lambda: sampled(batch_size=1)),
        ("W", lambda: cubature_gradient(Z33, Z14, I3, 1)),
        ("W", lambda: cubature_gradient(token_row(1e-9), Z14, I3, 1)),
        ("W", lambda: cubature_gradient(token_row(math.nan), Z14, I3, 1)),
        ("V", lambda: cubature_gradient(Z44, Z14[0], I3, 1)),
        ("q", lambda: cubature_gradient(Z44, Z14, I3, 4)),
        ("q", lambda: cubature_gradient(Z44, Z14, I3, 0)),
        # The cubature would have C(24, 12) * 48 = 1.3e8 points.
        ("subsets times points", lambda: cubature_gradient(torch.zeros(25, 25), torch.zeros(1, 25), torch.eye(24), 12)),
        ("eta", lambda: train(Z44, Z14, eta=0, steps=1, gradient=None)),
        ("eta", lambda: train(Z44, Z14, eta=math.nan, steps=1, gradient=None)),
        ("steps", lambda: train(Z44, Z14, eta=1, steps=-1, gradient=None)),
        ("B", lambda: cosine_similarity(Z33 + 1, Z44 + 1)),
        ("A", lambda: cosine_similarity(Z33, I3)),
        ("B", lambda: cosine_similarity(I3, Z33)),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_named(name, call):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.name == name
