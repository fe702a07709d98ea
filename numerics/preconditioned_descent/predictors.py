r"""The predictors that the figures compare with: gradient descent with the best step sizes, and least squares.

L steps w' = w − a_l K ∇R(w) from w = 0, K = I or Σ^{-1}, leave w* − w = p(KS) w* with p(s) = ∏ (1 − a_l s),
S = XXᵀ/n. So the error at a query x is Σ_j c_j φ_j with φ_j = xᵀ (KS)^j w* and c_0 = 1, and the mean of its square a
quadratic form in c_1 … c_L: the best p for a sample of prompts is its least-squares fit, where a grid search over the
a_l would come near it. The a_l are the roots of s^L + c_1 s^{L−1} + … + c_L. They may be complex, in conjugate pairs:
no gradient descent takes such steps, and the fit is below that of any real ones. The real ones are then the best
that descent over them finds from several starts, the real parts among them: the loss is a polynomial in the a_l.

Least squares on noiseless labels finds w* once n ≥ d, almost surely: its error is 0. For fewer examples the solution of
least norm is w* projected on the span of the examples: orthogonally for the Euclidean norm, and after whitening,
Σ^{1/2} w* on the span of Σ^{-1/2} x_i, for the norm ‖Σ^{1/2} w‖.
"""

import numpy as np
import torch
from jaxtyping import Float, Float64, Inexact
from scipy.optimize import minimize
from torch import Tensor

from numerics.preconditioned_descent.reduced import Prompts, applied
from verify import InputError

_REAL = 1e-9
"""Imaginary parts below this share of a step size are rounding."""
_SLOPE = 1e-10
"""Share of the loss without a step, as which a slope is 0."""


def power_errors(K: Float[Tensor, "d d"], prompts: Prompts, steps: int) -> Float[Tensor, "{steps}+1 N"]:
    """Return φ_0 … φ_L = xᵀ (KS)^j w* of each prompt, (L+1, N); K is (d, d)."""
    S, v, x = prompts
    rows = [(x * v).sum(dim=0)]
    for _ in range(steps):
        v = K @ applied(S, v)
        rows.append((x * v).sum(dim=0))
    return torch.stack(rows)


def best_coefficients(errors: Float64[Tensor, "L_plus_1 N"]) -> Float64[Tensor, "L_plus_1"]:
    """Return 1, c_1 … c_L, (L+1,), of the p whose mean squared error over the prompts is least; errors are (L+1, N).

    Raises
    ------
    InputError
        For fewer prompts than coefficients: names n_fit.
    """
    if errors.shape[1] < len(errors):
        raise InputError("n_fit", errors.shape[1], f"must be at least {len(errors)}, the number of coefficients")
    # Normal equations, of sums: LAPACK's least squares of long columns is not the same from run to run.
    gram = torch.stack([(errors * row).mean(dim=1) for row in errors])
    fitted = torch.linalg.solve(gram[1:, 1:], -gram[1:, 0])
    return torch.cat([fitted.new_ones(1), fitted])


def step_sizes(coefficients: Float64[Tensor, "L_plus_1"]) -> Inexact[np.ndarray, "L"]:
    """Return the a_l, real or complex, with ∏ (1 − a_l s) = Σ c_j s^j."""
    return np.roots(coefficients.cpu().numpy())


def best_real_steps(errors: Float64[Tensor, "L_plus_1 N"]) -> tuple[Float64[np.ndarray, "L"], int]:
    """Return the best real a_l (L,) found for the prompts, and the number of the best p's that are not real.

    Errors are (L+1, N). Where the best p has real a_l, these are they.

    Raises
    ------
    InputError
        For no more prompts than steps: names n_fit.
    """
    steps = step_sizes(best_coefficients(errors))
    wrong = int((np.abs(steps.imag) > _REAL * np.abs(steps)).sum())  # pyright: ignore[reportAttributeAccessIssue]
    if not wrong:
        return steps.real, 0  # pyright: ignore[reportAttributeAccessIssue]
    gram = torch.stack([(errors * row).mean(dim=1) for row in errors]).cpu().numpy()

    def loss(a: np.ndarray) -> tuple[float, np.ndarray]:
        c = np.poly(a)
        # The slope of ∏ (1 − a_l s) in a_l is −s times the product of the others.
        slopes = np.array([-np.concatenate([[0.0], np.poly(np.delete(a, i))]) for i in range(len(a))])
        return float(c @ gram @ c), 2 * slopes @ gram @ c

    # A pair that is not real is led apart, too: equal steps stay equal.
    starts = [steps.real + spread * np.linspace(-1, 1, len(steps)) * np.abs(steps) for spread in (0, 0.1, -0.1, 0.5)]  # pyright: ignore[reportAttributeAccessIssue]
    ended = [minimize(loss, start, jac=True, method="BFGS", options={"gtol": _SLOPE * gram[0, 0]}) for start in starts]
    return min(ended, key=lambda each: each.fun).x, wrong


GRID = (0.001, 0.002, 0.004, 0.008, 0.01, 0.02, 0.04, 0.08, 0.16)
"""Steps that the authors' code tries, for the sum Σ_i ⟨w − w*, x_i⟩²/2, not its mean."""


def best_of_grid(errors: Float64[Tensor, "L_plus_1 N"], n: int) -> Float64[np.ndarray, "{len(errors)}-1"]:
    """Return the step of GRID whose mean squared error over the prompts is least, as equal a_l = n × step, (L,).

    Errors are (L+1, N), of prompts with n examples.
    """
    steps = [np.full(len(errors) - 1, n * step) for step in GRID]
    losses = [float((torch.tensor(np.poly(each)).to(errors) @ errors).square().mean()) for each in steps]
    return steps[int(np.argmin(losses))]


def conjugate_gradients(K: Float[Tensor, "d d"], prompts: Prompts, steps: int) -> Float[Tensor, "d N"]:
    """Return w* less the iterate of conjugate gradients, preconditioned by K, after some steps from 0, (d, N).

    K is (d, d), symmetric and positive definite; the equations are S w = S w*. Once they are solved w stays.
    """
    S, left, _ = prompts
    residual = applied(S, left)
    direction = K @ residual
    size = (residual * direction).sum(dim=0)
    solved = torch.finfo(size.dtype).eps ** 2 * size
    for _ in range(steps):
        along = applied(S, direction)
        going = size > solved
        step = torch.where(going, size / (direction * along).sum(dim=0).where(going, size.new_ones(())), 0.0)
        left, residual = left - step * direction, residual - step * along
        preconditioned = K @ residual
        size, before = (residual * preconditioned).sum(dim=0), size
        direction = preconditioned + (size / before.where(going, size.new_ones(()))) * direction
    return left


def solving_errors(tokens: Float[Tensor, "N d n_plus_1"], weights: Float[Tensor, "N d"]) -> Float[Tensor, "N"]:
    """Return each prompt's error at the query, (N,), of a least-squares solve, in units of the bound on rounding.

    Tokens (N, d, n+1) and weights (N, d) are as `sample` draws them, with n ≥ d. Labels and a stable solution are off
    as if X were, by a multiple of n d ε |X|, which the condition number amplifies (Higham 2002, theorem 20.3).
    """
    examples, query = tokens[:, :, :-1], tokens[:, :, -1]
    labels = torch.einsum("bdi,bd->bi", examples, weights)
    solved = torch.linalg.lstsq(examples.mT, labels[:, :, None]).solution[:, :, 0]
    singular = torch.linalg.svdvals(examples)
    roundings = 10 * examples[0].numel() * torch.finfo(tokens.dtype).eps * singular[:, 0] / singular[:, -1]
    return ((solved - weights) * query).sum(dim=1).abs() / (roundings * weights.norm(dim=1) * query.norm(dim=1))


def least_norm_losses(prompts: Prompts, n: int, root: Float[Tensor, "d d"]) -> Float[Tensor, "N"]:
    """Return the squared error of the least-squares solution of least norm ‖root w‖ of each prompt, (N,).

    `root` is (d, d) and symmetric, I or Σ^{1/2}. The span of the root^{-1} x_i is that of the eigenvectors of
    root^{-1} S root^{-1} with the n largest eigenvalues.
    """
    S, weights, query = prompts
    if n >= len(S):
        return torch.zeros_like(query[0])
    inverse = torch.linalg.inv(root)
    left, right = root @ weights, inverse @ query
    # On the processor: a card's solver of many small matrices takes a megabyte for each.
    vectors = torch.linalg.eigh((inverse @ S.permute(2, 0, 1) @ inverse).cpu())[1].to(S)
    # The d − n others span the complement of the examples.
    inside, against = ((vectors[:, :, : len(S) - n] * part.T[:, :, None]).sum(dim=1) for part in (left, right))
    return (inside * against).sum(dim=1).square()
