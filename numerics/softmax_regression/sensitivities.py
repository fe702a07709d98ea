r"""Sensitivities of the two models to the data: norms and inner products of their Jacobians in A, without forming them.

Row k of A, a_k, enters the logit z_i of row i in two ways: as row i itself if k = i, and through a product of rows i
and k. So

    ∂z_i/∂a_k = δ_ik own_i + through_ik along_i,

and with p = softmax(z) the Jacobian is p_m (∂z_m/∂a_k − s_k), where s_k = Σ_i p_i ∂z_i/∂a_k. A Jacobian has n² d
entries, but an inner product of two is computed from arrays of at most n² or n d entries. The tests compare the results
with autograd's full Jacobians.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.softmax_regression.reference import attention_layer, gradient, gradient_step


class Sensitivity(NamedTuple):
    """A model's prediction (count, n), and the parts of its logits' derivatives that the module's docstring defines."""

    output: Float64[Tensor, "count n"]
    own: Float64[Tensor, "count n d"]
    through: Float64[Tensor, "count n n"]
    along: Float64[Tensor, "count n d"]


def of_gradient_step(A: Float64[Tensor, "count n d"], b: Float64[Tensor, "count n"], eta: float) -> Sensitivity:
    """Return the gradient step's sensitivity: at x = 0 the logits are 0 for every A, so that x_1 is linear in A."""
    n = A.shape[1]
    start = A.new_zeros(len(A), n)
    # With the identity as A, the gradient in x consists of the loss's derivatives in the logits.
    slopes = gradient(torch.eye(n).to(A), start, b).detach()
    x = -eta * (A.mT @ slopes[..., None])[..., 0]
    through = (-eta * slopes)[:, None, :].expand(-1, n, -1)
    return Sensitivity(gradient_step(A, b, eta).detach(), x[:, None, :].expand_as(A), through, A)


def of_layer(
    A: Float64[Tensor, "count n d"], b: Float64[Tensor, "count n"], W: Float64[Tensor, "d d"], v: Float64[Tensor, ""]
) -> Sensitivity:
    """Return the attention layer's sensitivity, from autograd's derivatives in the scores a_iᵀ W a_k."""
    scores = (A @ W @ A.mT).detach().requires_grad_()
    # A row's logit depends only on its own scores, so that the gradient of the sum gives all derivatives.
    logits = v * (torch.softmax(scores, dim=-1) @ (A.shape[1] * b)[..., None])
    through = torch.autograd.grad(logits.sum(), scores)[0]
    return Sensitivity(attention_layer(A, b, W, v).detach(), through @ A @ W.mT, through, A @ W)


def inner(one: Sensitivity, other: Sensitivity) -> Float64[Tensor, "count"]:
    """Return for each task the inner product of two models' Jacobians in A."""
    tops, means, offsets = zip(*map(_means, (one, other)), strict=True)
    diagonals = [m.through.diagonal(dim1=1, dim2=2) for m in (one, other)]
    rows = (
        _dot(one.own, other.own)
        + diagonals[1] * _dot(one.own, other.along)
        + diagonals[0] * _dot(one.along, other.own)
        + _dot(one.through, other.through) * _dot(one.along, other.along)
        + _dot(*means).sum(dim=-1, keepdim=True)
    )
    for m, mean in ((one, means[1]), (other, means[0])):
        rows = rows - _dot(m.own, mean) - _dot(m.along, m.through @ mean)
    # If the largest output is close to 1, the derivatives of its logit are close to the mean s: −offset is the
    # difference, computed without cancellation.
    for row in tops:
        slopes = [
            torch.where((row == top)[:, None, None], -offset, _slopes(m, row) - mean)
            for m, top, mean, offset in zip((one, other), tops, means, offsets, strict=True)
        ]
        rows = rows.scatter(1, row[:, None], _dot(*slopes).sum(dim=-1, keepdim=True))
    return (one.output * other.output * rows).sum(dim=-1)


def _dot(left: Tensor, right: Tensor) -> Tensor:
    return (left * right).sum(dim=-1)


def _slopes(model: Sensitivity, row: Tensor) -> Tensor:
    """Return the derivatives of one row's logit for each task, (count, n, d)."""
    of, here = torch.arange(len(row)), torch.nn.functional.one_hot(row, model.output.shape[1])
    along = model.through[of, row][..., None] * model.along[of, row][:, None]
    return along + here[..., None] * model.own[of, row][:, None]


def _means(model: Sensitivity) -> tuple[Tensor, Tensor, Tensor]:
    """Return the row of the largest output, the mean s, and s minus this row's derivatives, a sum over other rows."""
    top = model.output.argmax(dim=1)
    rest = model.output.scatter(1, top[:, None], 0.0)[..., None]
    slopes = _slopes(model, top)
    others = rest * model.own + model.through.mT @ (rest * model.along)
    offset = others - rest.sum(dim=1, keepdim=True) * slopes
    return top, slopes + offset, offset


def compared(one: Sensitivity, other: Sensitivity) -> tuple[Float64[Tensor, "count"], Float64[Tensor, "count"]]:
    """Return for each task the Frobenius norm of the difference of two Jacobians in A, and their cosine."""
    first, second, mixed = inner(one, one), inner(other, other), inner(one, other)
    difference = (first + second - 2 * mixed).clamp(min=0).sqrt()
    # Norms below 10⁻¹⁴⁰ occur for predictions that are one-hot to 140 digits; the cosine is then set to 0.
    lost = torch.minimum(first, second) < 1e-280
    return difference, (mixed / (first.sqrt() * second.sqrt())).masked_fill(lost, 0.0)
