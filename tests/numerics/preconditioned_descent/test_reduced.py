"""The reduced errors and their gradients are the reference's on the same draw; second moments have a Wishart law."""

import math

import pytest
import torch
from scipy import stats

from numerics.preconditioned_descent import reduced as module
from numerics.preconditioned_descent.experiments import random_rotation
from numerics.preconditioned_descent.reduced import Prompts, draw, losses, mean_losses, reduced, residuals
from numerics.preconditioned_descent.reference import in_context_errors, pattern, prediction, prompt, sample
from tests.numerics.devices import DEVICES
from verify import InputError

EPS = torch.finfo(torch.float64).eps


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def gaussian(source, *shape):
    return torch.randn(*shape, generator=source, dtype=torch.float64)


def sigma(d, source):
    """Return a covariance that is not diagonal, and its inverse."""
    U = random_rotation(d, source)
    D = torch.linspace(0.5, 1.5, d, dtype=torch.float64)
    return U.T @ D.diag() @ U, U.T @ (1 / D).diag() @ U


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("with_B", [False, True])
@pytest.mark.parametrize(("L", "d", "n"), [(1, 1, 1), (1, 3, 2), (2, 3, 5), (3, 2, 4), (4, 2, 3), (3, 5, 20)])
def test_losses_and_gradients_are_the_references(L, d, n, with_B, device):
    source = generator(L + 10 * d)
    covariance, inverse = sigma(d, source)
    tokens, weights = sample(7, n, covariance, inverse, source)
    leaves = [(gaussian(source, L, d, d) / 3).requires_grad_() for _ in range(1 + with_B)]
    A, B = leaves[0], leaves[1] if with_B else None
    errors = in_context_errors(pattern(A, B), tokens, weights)
    # The leaves are on the CPU; copies on the device are made from them.
    moved = [leaf.to(device) for leaf in leaves]
    found = losses(moved[0], moved[1] if with_B else None, reduced(tokens.to(device), weights.to(device))).cpu()
    # The tolerances allow for a thousand rounding errors, relative to the largest number.
    close = {"rtol": 1e-11, "atol": 1e-11 * float(errors.detach().max())}
    torch.testing.assert_close(found, errors, **close)
    expected, slopes = (torch.autograd.grad(each.mean(), leaves, materialize_grads=True) for each in (errors, found))
    for one, other in zip(slopes, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11 * float(other.abs().max()))
    assert float(expected[0].abs().max()) > 1e-3


@pytest.mark.parametrize("with_B", [False, True])
def test_the_mean_over_weights_and_query_is_the_average_of_losses(with_B):
    source = generator(3)
    covariance, inverse = sigma(2, source)
    values, vectors = torch.linalg.eigh(covariance)
    root = vectors @ values.sqrt().diag() @ vectors.T
    A, B = 0.4 * gaussian(source, 2, 2, 2), 0.4 * gaussian(source, 2, 2, 2) if with_B else None
    S = draw(3, 4, covariance, inverse, 3).second_moment
    # The error is bilinear in w* and x, so the mean of its square is a sum of squares at the columns w* of root^{-1}
    # and x of root.
    expected = torch.zeros(3, dtype=torch.float64)
    for w in torch.linalg.inv(root).T:
        for x in root.T:
            expected += losses(A, B, Prompts(S, *(v[:, None].expand(-1, 3) for v in (w, x))))
    torch.testing.assert_close(mean_losses(A, B, S, root), expected, rtol=1e-12, atol=1e-14)
    fresh = list(draw(200_000, 4, covariance, inverse, 4)[1:])
    sampled = losses(A, B, Prompts(S[:, :, :1].expand(-1, -1, 200_000), *fresh))
    error = float(sampled.std()) / math.sqrt(len(sampled))
    assert abs(float(sampled.mean()) - float(expected[0])) < 5 * error < 0.1 * float(expected[0])


def test_the_sign_of_a_residual():
    source = generator(1)
    covariance, inverse = sigma(2, source)
    tokens, weights = sample(5, 3, covariance, inverse, source)
    A = gaussian(source, 2, 2, 2)
    label = (tokens[:, :, -1] * weights).sum(dim=1)
    expected = label - prediction(prompt(tokens, weights), pattern(A))
    torch.testing.assert_close(residuals(A, None, reduced(tokens, weights)), expected, rtol=0, atol=1e-12)


def test_a_layer_in_another_order_would_be_seen():
    source = generator(2)
    tokens, weights = sample(5, 3, *sigma(2, source), source)
    A, B = gaussian(source, 2, 2, 2), gaussian(source, 2, 2, 2)
    right, wrong = (losses(A, each, reduced(tokens, weights)) for each in (B, B.mT))
    assert (right - wrong).abs().max() > 1e-3
    torch.testing.assert_close(right, in_context_errors(pattern(A, B), tokens, weights), rtol=1e-11, atol=1e-11)


def entries(prompts):
    """Return, by name, the values that are compared, per prompt: entries and functions of S, w* and x."""
    S, w, x = prompts
    d = len(S)
    matrices = S.permute(2, 0, 1)
    found = {f"S{i}{j}": S[i, j] for i in range(d) for j in range(i + 1)}
    found |= {f"w{i}": w[i] for i in range(d)} | {f"x{i}": x[i] for i in range(d)}
    found |= {"trace": torch.einsum("nii->n", matrices), "determinant": torch.linalg.det(matrices)}
    return found | {"square": matrices.square().sum(dim=(1, 2)), "w S x": torch.einsum("in,ijn,jn->n", w, S, x)}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 20])
def test_bartletts_second_moments_have_the_distribution_of_sampled_ones(n):
    covariance, inverse = sigma(3, generator(5))
    count = 20_000
    drawn = entries(draw(count, n, covariance, inverse, 6))
    sampled = entries(reduced(*sample(count, n, covariance, inverse, generator(7))))
    # A Kolmogorov-Smirnov test of each value. A false alarm in any of the five sizes has probability at most 10⁻⁶.
    for name, values in drawn.items():
        found = stats.ks_2samp(values.numpy(), sampled[name].numpy(), method="asymp")
        assert found.pvalue > 1e-6 / 5 / len(drawn), name
    # S, weights and query are uncorrelated, so each sample correlation is approximately N(0, 1/count).
    cross = torch.corrcoef(torch.stack([drawn["S10"], drawn["w0"], drawn["x0"], drawn["trace"]]))
    assert (cross - torch.diag(cross.diagonal()))[1:3].abs().max() < 6 / math.sqrt(count)


def test_a_wrong_number_of_degrees_of_freedom_would_be_seen():
    covariance, inverse = sigma(3, generator(5))
    drawn, other = (entries(draw(20_000, n, covariance, inverse, 6))["trace"].numpy() for n in (20, 21))
    assert stats.ks_2samp(drawn, other * 21 / 20, method="asymp").pvalue < 1e-6


def test_second_moments_are_symmetric_and_for_few_examples_singular():
    covariance, inverse = sigma(3, generator(5))
    for n in (1, 2, 3, 9):
        S = draw(50, n, covariance, inverse, n).second_moment.permute(2, 0, 1)
        assert torch.allclose(S, S.mT, rtol=0, atol=20 * EPS)
        assert set(torch.linalg.matrix_rank(S, hermitian=True).tolist()) == {min(n, 3)}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [2, 5])
def test_prompts_are_counted(monkeypatch, n, device):
    covariance, inverse = sigma(3, generator(5))
    whole = draw(40, n, covariance, inverse, 3)
    monkeypatch.setattr(module, "_CHUNK_ELEMENTS", 100)
    for count in (40, 7):
        parts = draw(count, n, covariance.to(device), inverse.to(device), 3)
        for one, other in zip(whole, parts, strict=True):
            torch.testing.assert_close(one[..., :count], other.cpu(), rtol=0, atol=100 * EPS)
    for other in (draw(40, n, covariance, inverse, 4), draw(40, n, covariance, inverse, 3, 1)):
        assert not any(torch.isclose(one, two).any() for one, two in zip(whole, other, strict=True))


@pytest.mark.usefixtures("unchecked")
def test_invalid_shapes_counts_and_covariances_are_refused():
    covariance, inverse = sigma(3, generator(5))
    prompts = draw(4, 5, covariance, inverse, 0)
    A = torch.zeros(2, 3, 3, dtype=torch.float64)
    for name, layers in (("A", (A[:, :2, :2], None)), ("A", (A[0], None)), ("B", (A, A[:1]))):
        with pytest.raises(InputError, match=f"{name} = .*: must have the shape"):
            residuals(*layers, prompts)
    with pytest.raises(InputError, match="count = 0: must be an integer >= 1"):
        draw(0, 5, covariance, inverse, 0)
    for n in (2, 5):
        with pytest.raises(InputError, match="covariance: must be positive definite"):
            draw(4, n, -covariance, inverse, 0)
    assert isinstance(prompts, Prompts)
