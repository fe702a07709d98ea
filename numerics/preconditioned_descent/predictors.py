r"""The predictors that the figures compare with: gradient descent with the best step sizes, and least squares.

For a prompt with S = XXᵀ/n, take L steps w' = w − a_l K ∇R(w) from w = 0 on R(w) = (w − w*)ᵀ S (w − w*)/2, with K = I
or Σ^{-1}. They end at a w with w* − w = p(KS) w*, where p(s) = ∏ (1 − a_l s) = Σ_j c_j s^j. So the error at a query x
is Σ_j c_j φ_j with φ_j = xᵀ (KS)^j w* and c_0 = 1. Its mean square is a quadratic form in c_0 … c_L: least squares
gives the best p for a sample of prompts exactly, without a grid search over the a_l. The a_l are the roots of
s^L + c_1 s^{L−1} + … + c_L. They may be complex, in conjugate pairs. Gradient descent cannot take complex steps, with
which the loss is lower than with any real steps. In that case the figures use the best real steps that a descent over
the a_l finds from several starts, such as the real parts.

For n ≥ d, least squares on noiseless labels finds w* almost surely, with error 0. For fewer examples it finds the
solution of least norm, which depends on the norm. For the Euclidean norm it is the orthogonal projection of w* on the
span of the examples. For the norm ‖Σ^{1/2} w‖ it is the same after whitening: Σ^{1/2} w* is projected on the span of
the Σ^{-1/2} x_i.
"""

import numpy as np
import torch
from jaxtyping import Float, Float64, Inexact
from scipy.optimize import minimize
from torch import Tensor

from numerics.preconditioned_descent.reduced import Prompts, applied
from verify import InputError

_REAL = 1e-9
"""An imaginary part below this fraction of the step size's modulus counts as 0."""
_SLOPE = 1e-10
"""A gradient below this fraction of the loss at w = 0 counts as 0."""


def power_errors(K: Float[Tensor, "d d"], prompts: Prompts, steps: int) -> Float[Tensor, "{steps}+1 N"]:
    """Return φ_0 … φ_L = xᵀ (KS)^j w* of each prompt, (L+1, N); K is (d, d)."""
    S, v, x = prompts
    rows = [(x * v).sum(dim=0)]
    for _ in range(steps):
        v = K @ applied(S, v)
        rows.append((x * v).sum(dim=0))
    return torch.stack(rows)


def best_coefficients(errors: Float64[Tensor, "L_plus_1 N"]) -> Float64[Tensor, "L_plus_1"]:
    """Return 1, c_1 … c_L, (L+1,), of the p with the least mean squared error over the prompts; errors are (L+1, N).

    Raises
    ------
    InputError
        If there are fewer prompts than coefficients; the error names n_fit.
    """
    if errors.shape[1] < len(errors):
        raise InputError("n_fit", errors.shape[1], f"must be at least {len(errors)}, the number of coefficients")
    # The normal equations are solved, because LAPACK's least squares of long columns is not reproducible.
    gram = torch.stack([(errors * row).mean(dim=1) for row in errors])
    fitted = torch.linalg.solve(gram[1:, 1:], -gram[1:, 0])
    return torch.cat([fitted.new_ones(1), fitted])


def step_sizes(coefficients: Float64[Tensor, "L_plus_1"]) -> Inexact[np.ndarray, "L"]:
    """Return the a_l, real or complex, with ∏ (1 − a_l s) = Σ c_j s^j."""
    return np.roots(coefficients.cpu().numpy())


def best_real_steps(errors: Float64[Tensor, "L_plus_1 N"]) -> tuple[Float64[np.ndarray, "L"], int]:
    """Return the best real a_l (L,) found for the prompts, and the number of complex a_l of the best p.

    Errors are (L+1, N). If the best p has real a_l, they are returned.

    Raises
    ------
    InputError
        If there are no more prompts than steps; the error names n_fit.
    """
    steps = step_sizes(best_coefficients(errors))
    wrong = int((np.abs(steps.imag) > _REAL * np.abs(steps)).sum())  # pyright: ignore[reportAttributeAccessIssue]
    if not wrong:
        return steps.real, 0  # pyright: ignore[reportAttributeAccessIssue]
    gram = torch.stack([(errors * row).mean(dim=1) for row in errors]).cpu().numpy()

    def loss(a: np.ndarray) -> tuple[float, np.ndarray]:
        c = np.poly(a)
        # The derivative of ∏ (1 − a_l s) in a_l is −s times the product of the other factors.
        slopes = np.array([-np.concatenate([[0.0], np.poly(np.delete(a, i))]) for i in range(len(a))])
        return float(c @ gram @ c), 2 * slopes @ gram @ c

    # The real parts of a conjugate pair are equal, and a descent keeps equal a_l equal: some starts spread them.
    starts = [steps.real + spread * np.linspace(-1, 1, len(steps)) * np.abs(steps) for spread in (0, 0.1, -0.1, 0.5)]  # pyright: ignore[reportAttributeAccessIssue]
    ended = [minimize(loss, start, jac=True, method="BFGS", options={"gtol": _SLOPE * gram[0, 0]}) for start in starts]
    return min(ended, key=lambda each: each.fun).x, wrong


GRID = (0.001, 0.002, 0.004, 0.008, 0.01, 0.02, 0.04, 0.08, 0.16)
"""Step sizes that the authors' code tries, for the sum Σ_i ⟨w − w*, x_i⟩²/2, not its mean."""


def best_of_grid(errors: Float64[Tensor, "L_plus_1 N"], n: int) -> Float64[np.ndarray, "{len(errors)}-1"]:
    """Return the step of GRID with the least mean squared error over the prompts, as equal a_l = n × step, (L,).

    Errors are (L+1, N), of prompts with n examples.
    """
    steps = [np.full(len(errors) - 1, n * step) for step in GRID]
    losses = [float((torch.tensor(np.poly(each)).to(errors) @ errors).square().mean()) for each in steps]
    return steps[int(np.argmin(losses))]


def conjugate_gradients(K: Float[Tensor, "d d"], prompts: Prompts, steps: int) -> Float[Tensor, "d N"]:
    """Return w* minus the iterate of conjugate gradients, preconditioned by K, after `steps` steps from 0, (d, N).

    K is (d, d), symmetric and positive definite. The equations are S w = S w*; once they are solved, w does not change.
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
    """Return the error of a least-squares solve at each prompt's query, (N,), divided by a bound on its rounding error.

    Tokens (N, d, n+1) and weights (N, d) are as `sample` draws them, with n ≥ d. The rounding of the labels and of a
    stable solver acts like a perturbation of X by a multiple of n d ε |X|, which the condition number amplifies (Higham
    2002, theorem 20.3).
    """
    examples, query = tokens[:, :, :-1], tokens[:, :, -1]
    labels = torch.einsum("bdi,bd->bi", examples, weights)
    solved = torch.linalg.lstsq(examples.mT, labels[:, :, None]).solution[:, :, 0]
    singular = torch.linalg.svdvals(examples)
    roundings = 10 * examples[0].numel() * torch.finfo(tokens.dtype).eps * singular[:, 0] / singular[:, -1]
    return ((solved - weights) * query).sum(dim=1).abs() / (roundings * weights.norm(dim=1) * query.norm(dim=1))


def least_norm_losses(prompts: Prompts, n: int, root: Float[Tensor, "d d"]) -> Float[Tensor, "N"]:
    """Return the squared error of the least-squares solution of least norm ‖root w‖ of each prompt, (N,).

    `root` is (d, d) and symmetric, I or Σ^{1/2}. The root^{-1} x_i span the same space as the eigenvectors of
    root^{-1} S root^{-1} with the n largest eigenvalues.
    """
    S, weights, query = prompts
    if n >= len(S):
        return torch.zeros_like(query[0])
    inverse = torch.linalg.inv(root)
    left, right = root @ weights, inverse @ query
    # The CPU is used, because a GPU's solver for many small matrices takes a megabyte for each.
    vectors = torch.linalg.eigh((inverse @ S.permute(2, 0, 1) @ inverse).cpu())[1].to(S)
    # The other d − n eigenvectors span the complement of the examples.
    inside, against = ((vectors[:, :, : len(S) - n] * part.T[:, :, None]).sum(dim=1) for part in (left, right))
    return (inside * against).sum(dim=1).square()
