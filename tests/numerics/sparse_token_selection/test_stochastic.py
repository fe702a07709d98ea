"""The layer with near-orthogonal encodings, compared with NumPy loops, hand calculations, symmetries and samples."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats

from numerics.sparse_token_selection.experiments import ground_truth
from numerics.sparse_token_selection.reference import (
    cubature_gradient,
    layer_output,
    loss,
    sample_batch,
    sampled_gradient,
)
from numerics.sparse_token_selection.stochastic import (
    averaged_losses,
    enumerated_signs,
    loss_averaged_over_tokens,
    measurement,
    sampled_losses,
    sign_encodings,
    sphere_encodings,
)
from tests.numerics.devices import DEVICES
from tests.numerics.sparse_token_selection.test_reference import random_parameters
from verify import InputError, agreement

pytestmark = pytest.mark.usefixtures("one_thread")

EPS = np.finfo(float).eps
FALSE_ALARM = 1e-6  # probability of a false alarm in a test, divided among its comparisons (Bonferroni)
ATTENDS = ["tokens", "tokens_and_query"]
DRAWS = [sign_encodings, sphere_encodings]


def generator(seed, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


def naive_loss(W, V, encodings, tokens, subset, attend):
    """Return 1/2 ||f - STS||^2 of one sample, by scalar loops; complex W or V give complex results."""
    (d, D), T = V.shape, encodings.shape[1]
    columns = [[*tokens[:, t], *encodings[:, t]] for t in range(T)]
    query = [0.0] * d + [sum(encodings[a, t] for t in subset) for a in range(D - d)]
    if attend == "tokens_and_query":
        columns.append(query)
    weights = [np.exp(sum(z[i] * W[i, j] * query[j] for i in range(D) for j in range(D))) for z in columns]
    value = 0
    for a in range(d):
        f = sum(V[a, i] * z[i] * p for z, p in zip(columns, weights, strict=True) for i in range(D)) / sum(weights)
        value += (f - sum(tokens[a, t] for t in subset) / len(subset)) ** 2 / 2
    return value


def naive_gradients(W, V, *sample):
    """Return the gradients in W and V of one sample's loss, by complex steps: Im L(W + i h u) / h = dL/du - O(h^2)."""
    h, gradients = 1e-30, (np.zeros(W.shape), np.zeros(V.shape))
    for which, gradient in enumerate(gradients):
        for entry in np.ndindex(gradient.shape):
            shifted = [W.astype(complex), V.astype(complex)]
            shifted[which][entry] += 1j * h
            gradient[entry] = naive_loss(*shifted, *sample).imag / h
    return gradients


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("draw", DRAWS)
def test_encodings_are_independent_unit_vectors(draw, device):
    n, T, d_e = 20_000, 3, 4
    drawn = draw(n, T, d_e, generator(1, device))
    assert drawn.shape == (n, d_e, T) and drawn.dtype == torch.float64 and drawn.device.type == device
    # The rounding errors come from a square root, a division and a sum of four squares.
    assert (drawn.square().sum(dim=1) - 1).abs().max() < 8 * EPS
    if draw is sign_encodings:
        assert set(drawn.unique().tolist()) == {-1 / 2, 1 / 2}
    else:
        # The square of one coordinate has the distribution Beta(1/2, 3/2).
        share = drawn[:, 0, 0].square().cpu().numpy()
        assert stats.kstest(share, stats.beta(1 / 2, 3 / 2).cdf).pvalue > FALSE_ALARM
    # Entries, products of two entries, and inner products of two encodings have mean 0. Squared inner products have
    # mean 1/d_e.
    flat = drawn.reshape(n, -1)
    pairs = torch.triu_indices(T * d_e, T * d_e, 1, device=device)
    inner = torch.stack([drawn[:, :, s].mul(drawn[:, :, t]).sum(dim=1) for s, t in ((0, 1), (0, 2), (1, 2))], dim=1)
    values = torch.cat([flat, flat[:, pairs[0]] * flat[:, pairs[1]], inner, inner.square() - 1 / d_e], dim=1)
    z = values.mean(dim=0) / (values.std(dim=0) / math.sqrt(n))
    assert z.abs().max() < stats.norm.isf(FALSE_ALARM / 2 / len(z))


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seed_repeats_and_every_call_draws_anew(draw):
    random = generator(2)
    first, second = draw(2, 3, 5, random), draw(2, 3, 5, random)
    assert torch.equal(first, draw(2, 3, 5, generator(2)))
    assert not torch.equal(first, second) and not torch.equal(first[0], first[1])
    assert draw(1, 3, 5, random, dtype=torch.float32).dtype == torch.float32


@pytest.mark.parametrize("attend", ATTENDS)
@pytest.mark.parametrize(("T", "q", "d", "d_e"), [(4, 2, 3, 5), (5, 1, 2, 1), (3, 3, 1, 2)])
def test_the_loss_equals_scalar_loops(T, q, d, d_e, attend):
    W, V = random_parameters(3, d, d_e, block_only=False)
    tokens, subsets = sample_batch(6, T, q, d, generator(4))
    fresh, members = sphere_encodings(6, T, d_e, generator(5)), [y.nonzero()[:, 0].tolist() for y in subsets]
    for encodings in (fresh, fresh[0]):
        found = loss(W, V, encodings, tokens, subsets, attend=attend)
        expected = [
            naive_loss(W.numpy(), V.numpy(), e.numpy(), x.numpy(), y, attend)
            for e, x, y in zip(encodings.expand(6, -1, -1), tokens, members, strict=True)
        ]
        # Sums have <= 300 products, and logits and losses are <= 50: the error is <= 300 * 50 * 50 EPS.
        assert np.allclose(found.numpy(), expected, rtol=0, atol=300 * 50 * 50 * EPS)


@pytest.mark.parametrize("attend", ATTENDS)
def test_sampled_gradients_are_made_of_naive_gradients(attend):
    T, q, d, d_e, random = 3, 2, 1, 2, generator(7)
    W, V = random_parameters(6, d, d_e, block_only=False)
    encodings = partial(sign_encodings, T=T, d_e=d_e, generator=random)
    sampled = sampled_gradient(W, V, encodings, q, batches=3, batch_size=2, generator=random, attend=attend)
    again = generator(7)
    for batch in range(3):
        samples = zip(sign_encodings(2, T, d_e, again), *sample_batch(2, T, q, d, again), strict=True)
        naive = [
            naive_gradients(W.numpy(), V.numpy(), e.numpy(), x.numpy(), y.nonzero()[:, 0].tolist(), attend)
            for e, x, y in samples
        ]
        for found, expected in zip(sampled.batches[1:], zip(*naive, strict=True), strict=True):
            # There are two samples, each from <= 100 operations with a condition number <= 50 on terms of size <= 100.
            assert np.allclose(found[batch].numpy(), np.mean(expected, axis=0), rtol=0, atol=10 * 50 * 100 * EPS)


def test_attention_to_one_token_and_the_query_by_hand():
    # For T = q = d = d_e = 1, e² = 1 and z_query = (0; e). Both logits are C and both weights 1/2: f = (αx + 2βe)/2.
    alpha, beta = 3.0, 0.5
    V = torch.tensor([[alpha, beta]], dtype=torch.float64)
    e, x, y = sign_encodings(9, 1, 1, generator(8)), *sample_batch(9, 1, 1, 1, generator(9))
    found = layer_output(2.0 * ground_truth(1, 1).W, V, e, x, y, attend="tokens_and_query")
    assert (found - (alpha * x + 2 * beta * e)[:, :, 0] / 2).abs().max() < 20 * EPS
    # Without attention to the query, the only weight is 1.
    found = layer_output(2.0 * ground_truth(1, 1).W, V, e, x, y)
    assert (found - (alpha * x + beta * e)[:, :, 0]).abs().max() < 20 * EPS


@pytest.mark.parametrize("attend", ATTENDS)
def test_symmetries(attend):
    T, q, d, d_e = 6, 2, 2, 4
    W, V = random_parameters(10, d, d_e, block_only=False)
    e, (x, y) = sphere_encodings(5, T, d_e, generator(11)), sample_batch(5, T, q, d, generator(12))
    output = layer_output(W, V, e, x, y, attend=attend)
    # The sums have <= 300 products of size <= 50.
    tolerance = 300 * 50 * EPS
    order = torch.randperm(T, generator=generator(13))
    assert (layer_output(W, V, e[:, :, order], x[:, :, order], y[:, order], attend=attend) - output).abs().max() < (
        tolerance
    )
    # A change S of the signs of the encodings' coordinates can be moved to W and V. Multiples of the ground truth are
    # invariant under S.
    S = torch.cat([torch.ones(d), torch.tensor([1, -1, -1, 1])]).double().diag()
    turned = S[d:, d:] @ e
    assert (layer_output(S @ W @ S, V @ S, turned, x, y, attend=attend) - output).abs().max() < tolerance
    truth = ground_truth(d_e, d)
    values = [layer_output(3 * truth.W, 2 * truth.V, encodings, x, y, attend=attend) for encodings in (e, turned)]
    assert (values[0] - values[1]).abs().max() < tolerance
    # At multiples of the ground truth f is exactly odd in X.
    assert torch.equal(layer_output(3 * truth.W, 2 * truth.V, e, -x, y, attend=attend), -values[0])


@pytest.mark.parametrize("attend", ATTENDS)
def test_the_average_over_tokens_is_cubature_s(attend):
    # f - STS is affine in X, and its square is a polynomial of degree 2. Its mean over the points ±sqrt(Td) u_k, with
    # unit vectors u_k, is its mean under N(0, I).
    T, q, d, d_e = 5, 2, 3, 4
    W, V = random_parameters(14, d, d_e, block_only=True)
    e, (_, y) = sign_encodings(3, T, d_e, generator(15)), sample_batch(3, T, q, d, generator(16))
    points = math.sqrt(T * d) * torch.cat([torch.eye(T * d), -torch.eye(T * d)]).double().view(-1, d, T)
    found = loss_averaged_over_tokens(W, V, e, y, attend=attend)
    for sample in range(3):
        exact = loss(W, V, e[sample], points, y[sample].expand(len(points), -1), attend=attend).mean()
        # The means have 30 terms of size <= 100, each from <= 100 operations.
        assert abs(found[sample] - exact) < 30 * 100 * EPS
    # Because x_query = 0, the first d columns of W have no effect.
    W[:, :d] = 1
    assert torch.equal(found, loss_averaged_over_tokens(W, V, e, y, attend=attend))


def test_the_average_over_tokens_and_subsets_is_the_exact_population_loss():
    T, q, d, d_e = 3, 2, 2, 4
    W, V = random_parameters(17, d, d_e, block_only=True)
    fixed = sphere_encodings(1, T, d_e, generator(18))[0]
    y = 1 - torch.eye(T).double()
    # The means have 36 terms of size <= 100, each from <= 100 operations.
    assert abs(loss_averaged_over_tokens(W, V, fixed, y).mean() - cubature_gradient(W, V, fixed, q).loss) < (
        36 * 100 * EPS
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("attend", ATTENDS)
@pytest.mark.parametrize("fixed", [False, True])
def test_plain_sampling_agrees_with_the_average_over_tokens(fixed, attend, device):
    T, q, d, d_e, random = 8, 2, 2, 10, generator(19, device)
    truth = ground_truth(d_e, d, device)
    W, V = 3 * truth.W, truth.V * (4 if attend == "tokens_and_query" else 1)
    encodings = (
        sphere_encodings(1, T, d_e, random)[0] if fixed else partial(sphere_encodings, T=T, d_e=d_e, generator=random)
    )
    plain, averaged = (
        measurement(losses(W, V, encodings, q, samples=20_000, generator=random, attend=attend))
        for losses in (sampled_losses, averaged_losses)
    )
    assert plain.samples == averaged.samples == 20_000
    assert averaged.standard_error < plain.standard_error
    error = math.hypot(plain.standard_error, averaged.standard_error)
    assert abs(plain.value - averaged.value) < stats.norm.isf(FALSE_ALARM / 2) * error < averaged.value / 10


def test_the_loss_at_zero_value():
    # At V = 0 the loss averaged over X is ½ E‖STS‖² = d/(2q), for all encodings and subsets.
    W, V = random_parameters(20, 3, 4, block_only=True)
    encodings = partial(sign_encodings, T=6, d_e=4, generator=generator(21))
    options = {"samples": 300, "generator": generator(22)}
    found = averaged_losses(W, 0 * V, encodings, 2, **options)
    assert found.shape == (300,) and (found - 3 / 4).abs().max() < 20 * EPS
    assert agreement(3 / 4, measurement(sampled_losses(W, 0 * V, encodings, 2, **options)), comparisons=1).holds


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("attend", ATTENDS)
@pytest.mark.parametrize("draw", DRAWS)
def test_the_gradient_at_multiples_of_the_ground_truth_is_along_the_identity_blocks(draw, attend, device):
    # Changes of the signs of X and of coordinates of x and of e, and permutations of the coordinates, preserve the
    # distribution and the point.
    T, q, d, d_e, batches, random = 6, 2, 2, 4, 200, generator(23, device)
    truth = ground_truth(d_e, d, device)
    encodings = partial(draw, T=T, d_e=d_e, generator=random)
    _, gW, gV = sampled_gradient(
        *(1.5 * truth.W, truth.V, encodings, q),
        batches=batches,
        batch_size=400,
        generator=random,
        attend=attend,
    ).batches
    assert (gW[:, :, :d] == 0).all()
    blocks = []
    for block, size in ((gW[:, d:, d:], d_e), (gV[:, :, :d], d)):
        diagonal = block.diagonal(dim1=1, dim2=2)
        mean = diagonal.mean(dim=1)
        assert mean.mean().abs() > 10 * mean.std() / math.sqrt(batches)
        off = block[:, ~torch.eye(size, dtype=torch.bool, device=device)]
        blocks += [off, diagonal[:, 1:] - diagonal[:, :1]]
    zero = torch.cat([gW[:, :d, d:].flatten(1), gV[:, :, d:].flatten(1), *blocks], dim=1)
    t = zero.mean(dim=0) / (zero.std(dim=0) / math.sqrt(batches))
    assert t.abs().max() < stats.t.isf(FALSE_ALARM / 2 / len(t), batches - 1)


W, V = random_parameters(24, 1, 2, block_only=False)
X, Y = sample_batch(2, 3, 1, 1, generator(25))
E = sign_encodings(2, 3, 2, generator(26))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("n", lambda: sign_encodings(0, 3, 2, generator(0))),
        ("T", lambda: sphere_encodings(1, 0, 2, generator(0))),
        ("d_e", lambda: sign_encodings(1, 3, 0, generator(0))),
        ("d_e", lambda: sphere_encodings(1, 3, 0, generator(0))),
        ("d_e", lambda: sphere_encodings(1, 3, 1.5, generator(0))),
        ("attend", lambda: loss(W, V, E, X, Y, attend="query")),
        ("attend", lambda: loss_averaged_over_tokens(0 * W, V, E, Y, attend="query")),
        ("encodings", lambda: loss(W, V, E[:1], X, Y)),
        ("encodings", lambda: loss(W, V, E[None], X, Y)),
        ("T d_e", lambda: enumerated_signs(3, 6)),
        ("d_e", lambda: enumerated_signs(3, 0)),
        ("V", lambda: loss(W, V, E[:, :1], X, Y)),
        ("tokens", lambda: loss(W, V, E[:, :, :2], X, Y)),
        ("W", lambda: loss_averaged_over_tokens(W, V, E, Y)),
        ("tokens", lambda: loss_averaged_over_tokens(0 * W, V, E, Y[:, :2])),
        ("q", lambda: sampled_losses(W, V, E[0], 4, samples=2, generator=generator(0))),
        ("samples", lambda: sampled_losses(W, V, E[0], 1, samples=0, generator=generator(0))),
        ("samples", lambda: averaged_losses(0 * W, V, E[0], 1, samples=0, generator=generator(0))),
        ("q", lambda: sampled_gradient(W, V, lambda _: E, 4, batches=2, batch_size=2, generator=generator(0))),
        ("encodings", lambda: sampled_gradient(W, V, lambda _: E, 1, batches=2, batch_size=3, generator=generator(0))),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_named(name, call):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.name == name


def test_enumerated_signs_are_all_that_may_be_drawn():
    signs = enumerated_signs(2, 3)
    assert signs.shape == (64, 3, 2) and len({tuple(map(tuple, each.tolist())) for each in signs}) == 64
    assert torch.allclose(signs.abs(), torch.full_like(signs, 3**-0.5))
    drawn = sign_encodings(50, 2, 3, generator(0))
    assert all((signs == each).all(dim=(1, 2)).any() for each in drawn)


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_cubature_over_all_signs_is_the_mean_of_those_over_each(attend):
    W, V = torch.zeros(4, 4, dtype=torch.float64), torch.zeros(1, 4, dtype=torch.float64)
    W[1:, 1:], V[:, :1] = torch.randn(3, 3, generator=generator(1), dtype=torch.float64), 0.7
    signs = enumerated_signs(2, 3)
    whole = cubature_gradient(W, V, signs, 1, attend=attend)
    each = [cubature_gradient(W, V, encodings, 1, attend=attend) for encodings in signs]
    for found, parts in zip(whole, zip(*each, strict=True), strict=True):
        assert torch.allclose(found, torch.stack(parts).mean(dim=0), rtol=0, atol=1e-14)
    sampled = sampled_gradient(
        W,
        V,
        lambda n: sign_encodings(n, 2, 3, source),
        1,
        batches=50,
        batch_size=2000,
        generator=(source := generator(2)),
        attend=attend,
    )
    # With 50 batches, a chance deviation of 8 standard errors is very unlikely in any of 17 entries or the loss.
    for found, mean, error in zip(whole, sampled.mean, sampled.standard_error, strict=True):
        assert bool(((found - mean).abs() <= 8 * error + 1e-12).all())
