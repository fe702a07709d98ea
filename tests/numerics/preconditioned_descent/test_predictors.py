"""Gradient descent with the best step sizes, and least squares, compared with their definitions."""

import math

import numpy as np
import pytest
import torch

from numerics.preconditioned_descent.experiments import random_rotation
from numerics.preconditioned_descent.predictors import (
    best_coefficients,
    best_real_steps,
    conjugate_gradients,
    least_norm_losses,
    power_errors,
    solving_errors,
    step_sizes,
)
from numerics.preconditioned_descent.reduced import draw, losses, reduced
from numerics.preconditioned_descent.reference import preconditioned_descent, sample
from verify import InputError, Measurement, agreement

D = torch.tensor([1.0, 0.5, 0.2], dtype=torch.float64)
U = random_rotation(3, torch.Generator().manual_seed(1))
SIGMA, INVERSE, ROOT = (U.T @ (D**power).diag() @ U for power in (1, -1, 0.5))
IDENTITY = torch.eye(3, dtype=torch.float64)


def sampled(count, n, seed=0):
    return sample(count, n, SIGMA, INVERSE, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("K", [IDENTITY, INVERSE], ids=["I", "inverse"])
def test_the_errors_are_those_of_gradient_steps(K):
    tokens, weights = sampled(6, 4)
    steps = torch.tensor([0.3, 1.1, 0.7], dtype=torch.float64)
    w = preconditioned_descent(tokens, weights, steps[:, None, None] * K)[:, -1]
    expected = ((weights - w) * tokens[:, :, -1]).sum(dim=1)
    coefficients = torch.tensor(np.poly(steps.numpy()), dtype=torch.float64)
    found = coefficients @ power_errors(K, reduced(tokens, weights), 3)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_step_sizes_are_the_factors_of_the_polynomial():
    for steps in ([0.4], [0.4, 1.7], [0.2, 0.5, 1.5], [0.5 + 0.1j, 0.5 - 0.1j, 1.0]):
        coefficients = torch.tensor(np.poly(steps).real)
        assert np.allclose(np.sort_complex(step_sizes(coefficients)), np.sort_complex(steps), atol=1e-9, rtol=0)


@pytest.mark.parametrize("K", [IDENTITY, INVERSE], ids=["I", "inverse"])
@pytest.mark.parametrize("n", [2, 9])
def test_no_other_step_sizes_are_better_on_the_prompts(K, n):
    prompts = draw(4000, n, SIGMA, INVERSE, 3)
    errors = power_errors(K, prompts, 2)
    best = best_coefficients(errors)
    least = float((best @ errors).square().mean())
    steps = step_sizes(best)
    assert best[0] == 1 and np.isrealobj(steps)
    A = torch.tensor(steps.real)[:, None, None] * K
    assert float(losses(A, None, prompts).mean()) == pytest.approx(least, rel=1e-10)
    grid = np.linspace(0.02, 3, 150)
    searched = min(
        float((torch.tensor(np.poly([a, b])) @ errors).square().mean()) for i, a in enumerate(grid) for b in grid[i:]
    )
    # The grid's spacing is 1/50, so a grid point is within 1/100 of each best step size.
    assert least <= searched <= least * 1.02
    # The derivative in each coefficient is 0.
    slopes = errors[1:] @ (best @ errors) / errors.shape[1]
    assert float(slopes.abs().max()) < 1e-10 * float(errors.square().mean())


@pytest.mark.parametrize("steps", [(0.5 + 0.1j, 0.5 - 0.1j), (0.5 + 0.3j, 0.5 - 0.3j, 2.0)], ids=["two", "three"])
def test_where_the_best_polynomial_has_complex_roots_the_best_real_steps_are_found(steps):
    # The polynomial of these steps is best for these errors: φ_0 = −Σ c_j φ_j plus a part orthogonal to all φ_j.
    c = np.poly(np.array(steps)).real
    rows = torch.randn(len(steps), 400, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    rest = torch.randn(400, generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    rest -= rows.T @ torch.linalg.lstsq(rows.T, rest[:, None]).solution[:, 0]
    errors = torch.cat([(0.1 * rest - torch.tensor(c[1:]) @ rows)[None], rows])
    assert np.allclose(best_coefficients(errors).numpy(), c)
    found, wrong = best_real_steps(errors)

    def loss(a):
        return float((torch.tensor(np.poly(a)) @ errors).square().mean())

    least = float((best_coefficients(errors) @ errors).square().mean())
    assert wrong == 2 and np.isrealobj(found) and found.shape == (len(steps),) and loss(found) > 1.005 * least
    near = found + 0.05 * np.random.default_rng(0).standard_normal((200, len(steps)))
    spread = np.random.default_rng(1).uniform(-1, 3, (3000, len(steps)))
    assert loss(found) <= min(map(loss, [*near, *spread]))
    # If the best polynomial has real steps, these are the best real steps.
    real, none = best_real_steps(power_errors(IDENTITY, reduced(*sampled(500, 9)), 2))
    expected = step_sizes(best_coefficients(power_errors(IDENTITY, reduced(*sampled(500, 9)), 2)))
    assert none == 0 and np.allclose(real, expected)


@pytest.mark.parametrize("K", [IDENTITY, INVERSE], ids=["I", "inverse"])
@pytest.mark.parametrize("n", [2, 6])
def test_conjugate_gradients_are_the_best_of_their_krylov_space(K, n):
    tokens, weights = sampled(30, n)
    S, target, _ = prompts = reduced(tokens, weights)
    for steps in (1, 2):
        left = conjugate_gradients(K, prompts, steps)
        for i in range(30):
            matrix, w = S[:, :, i], target[:, i]
            columns = [K @ matrix @ w]
            if steps == 2:
                columns.append(K @ matrix @ columns[0])
            basis = torch.stack(columns, dim=1)
            # The normal equations give the w in the Krylov space that minimises (w* − w)'S(w* − w).
            best = w - basis @ torch.linalg.solve(basis.T @ matrix @ basis, basis.T @ matrix @ w)
            torch.testing.assert_close(matrix @ left[:, i], matrix @ best, rtol=0, atol=1e-8)


def test_conjugate_gradients_end_at_the_solution_and_stay():
    prompts = reduced(*sampled(200, 9))
    left = conjugate_gradients(INVERSE, prompts, 6)
    # The errors are of the order of the rounding unit times the squared condition numbers of 200 random 9×3 matrices.
    assert float(left.abs().max()) < 1e-6 and bool(torch.isfinite(left).all())
    one = reduced(*sampled(5, 1))
    after = conjugate_gradients(INVERSE, one, 4)
    torch.testing.assert_close((one.second_moment * after).sum(dim=1), torch.zeros(3, 5).double(), rtol=0, atol=1e-10)


def test_solving_errors_are_rounding_or_not():
    tokens, weights = sampled(300, 4)
    assert float(solving_errors(tokens, weights).max()) <= 1
    # With fewer examples than entries of w, the error exceeds rounding.
    tokens, weights = sampled(300, 2)
    assert float(solving_errors(tokens, weights).median()) > 1e6


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("root", [IDENTITY, ROOT], ids=["Euclidean", "Sigma"])
def test_least_squares_of_least_norm_with_few_examples(n, root):
    tokens, weights = sampled(40, n)
    examples = tokens[:, :, :-1]
    labels = torch.einsum("bdi,bd->bi", examples, weights)
    # The pseudo-inverse gives the v = root w of least norm that solves (root^{-1} x_i)'v = y_i.
    v = (torch.linalg.pinv((torch.linalg.inv(root) @ examples).mT) @ labels[:, :, None])[:, :, 0]
    w = v @ torch.linalg.inv(root)
    expected = ((weights - w) * tokens[:, :, -1]).sum(dim=1).square()
    torch.testing.assert_close(least_norm_losses(reduced(tokens, weights), n, root), expected, rtol=1e-8, atol=1e-10)


def test_least_squares_with_enough_examples_is_exact():
    tokens, weights = sampled(200, 4)
    examples = tokens[:, :, :-1]
    labels = torch.einsum("bdi,bd->bi", examples, weights)
    w = torch.linalg.lstsq(examples.mT, labels[:, :, None]).solution[:, :, 0]
    # The errors are of the order of the rounding unit times the condition numbers of 200 random 4×3 matrices.
    torch.testing.assert_close(w, weights, rtol=0, atol=1e-8)
    assert not least_norm_losses(reduced(tokens, weights), 4, IDENTITY).any()
    assert not least_norm_losses(reduced(*sampled(5, 3)), 3, ROOT).any()


@pytest.mark.parametrize("n", [1, 2])
def test_the_loss_of_least_sigma_norm_by_hand(n):
    # After whitening, the loss is the mean squared norm of an N(0, I) vector's projection onto a random space of
    # dimension d − n: the loss is d − n.
    errors = least_norm_losses(reduced(*sampled(100_000, n)), n, ROOT)
    loss = Measurement(float(errors.mean()), float(errors.std()) / math.sqrt(len(errors)), len(errors))
    assert agreement(3 - n, loss, comparisons=2, resolution=0.1).holds


def test_too_few_prompts_are_refused():
    with pytest.raises(InputError, match="n_fit = 3: must be at least 4, the number of coefficients"):
        best_coefficients(torch.ones(4, 3, dtype=torch.float64))
