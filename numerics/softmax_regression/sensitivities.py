r"""How sensitive the two models are to the data: their Jacobians in A beside each other, without forming them.

Row k of A enters row i's logit as row i itself, and through a product of rows i and k,

    ∂z_i/∂a_k = δ_ik own_i + through_ik along_i,

so that with p = softmax(z) the Jacobian is p_m (∂z_m/∂a_k − s_k), s_k = Σ_i p_i ∂z_i/∂a_k, and inner products of two
such Jacobians, n² d numbers each, are sums over n² of them. The tests hold it against autograd's full Jacobians.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.softmax_regression.reference import attention_layer, gradient, gradient_step


class Sensitivity(NamedTuple):
    """A model's prediction (count, n), and the parts of its logits' slopes: see above."""

    output: Float64[Tensor, "count n"]
    own: Float64[Tensor, "count n d"]
    through: Float64[Tensor, "count n n"]
    along: Float64[Tensor, "count n d"]


def of_gradient_step(A: Float64[Tensor, "count n d"], b: Float64[Tensor, "count n"], eta: float) -> Sensitivity:
    """Return the gradient step's: from x = 0 the logits before it are 0, whatever A is, and x_1 is linear in A."""
    n = A.shape[1]
    start = A.new_zeros(len(A), n)
    # The loss's slopes in the logits: gradient in x where the data are the identity.
    slopes = gradient(torch.eye(n).to(A), start, b).detach()
    x = -eta * (A.mT @ slopes[..., None])[..., 0]
    through = (-eta * slopes)[:, None, :].expand(-1, n, -1)
    return Sensitivity(gradient_step(A, b, eta).detach(), x[:, None, :].expand_as(A), through, A)


def of_layer(
    A: Float64[Tensor, "count n d"], b: Float64[Tensor, "count n"], W: Float64[Tensor, "d d"], v: Float64[Tensor, ""]
) -> Sensitivity:
    """Return the attention layer's: autograd's slopes in the scores a_iᵀ W a_k, and the scores' in the rows."""
    scores = (A @ W @ A.mT).detach().requires_grad_()
    # A row's logit depends on its own scores alone, so that one sum has all slopes.
    logits = v * (torch.softmax(scores, dim=-1) @ (A.shape[1] * b)[..., None])
    through = torch.autograd.grad(logits.sum(), scores)[0]
    return Sensitivity(attention_layer(A, b, W, v).detach(), through @ A @ W.mT, through, A @ W)


def inner(one: Sensitivity, other: Sensitivity) -> Float64[Tensor, "count"]:
    """Return for each task the inner product of two models' Jacobians in A."""
    means = [m.output[..., None] * m.own + m.through.mT @ (m.output[..., None] * m.along) for m in (one, other)]
    diagonals = [m.through.diagonal(dim1=1, dim2=2) for m in (one, other)]

    def dot(left: Tensor, right: Tensor) -> Tensor:
        return (left * right).sum(dim=-1)

    same = (
        dot(one.own, other.own)
        + diagonals[1] * dot(one.own, other.along)
        + diagonals[0] * dot(one.along, other.own)
        + dot(one.through, other.through) * dot(one.along, other.along)
    )
    mixed = [dot(m.own, mean) + dot(m.along, m.through @ mean) for m, mean in ((one, means[1]), (other, means[0]))]
    rows = same - mixed[0] - mixed[1] + dot(*means).sum(dim=-1, keepdim=True)
    return (one.output * other.output * rows).sum(dim=-1)


def compared(one: Sensitivity, other: Sensitivity) -> tuple[Float64[Tensor, "count"], Float64[Tensor, "count"]]:
    """Return for each task the Frobenius norm of the difference of two models' Jacobians in A, and their cosine."""
    first, second, mixed = inner(one, one), inner(other, other), inner(one, other)
    difference = (first + second - 2 * mixed).clamp(min=0).sqrt()
    return difference, mixed / (first * second).sqrt().clamp(min=1e-300)
