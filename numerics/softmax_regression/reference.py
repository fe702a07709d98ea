"""Softmax regression and one softmax self-attention layer, from the definitions alone (arXiv 2304.13276).

*Regression*: A (n, d), target b (n), f(x) = exp(Ax)/<exp(Ax), 1> (n), loss 1/2 ||f(x) - b||^2. *Shift*: if x or A
moves, the new target keeps the residual unchanged. Autograd computes all gradients and Jacobians. Leading axes are
batches: A (..., n, d), x (..., d), b (..., n); one dtype and device.

*In context*, two models read (A, b) and predict a point of the simplex. The gradient step predicts f(x_1), where x_1 is
one step of size eta on the loss from x = 0. In the layer, row i attends to all rows j with logits a_i^T W a_j and
values n b_j, and the prediction (n) is the softmax of v times the attention outputs of the rows. The paper's own
parameterisation is not known to us: this one is ours. With W = w I and v w = eta/n its logits are, to first order in w
and up to a common constant, those of the gradient step, (eta/n) sum_j a_i^T a_j (b_j - 1/n).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from verify.errors import InputError


def prediction(A: Float[Tensor, "*#batch n d"], x: Float[Tensor, "*#batch d"]) -> Float[Tensor, "*batch n"]:
    """Return f(x), (..., n).

    Raises
    ------
    InputError
        If A is not of shape (..., n, d) with n, d >= 1, or x does not fit A.
    """
    if A.ndim < 2 or 0 in A.shape:
        raise InputError("A", tuple(A.shape), "must have the shape (..., n, d) with n, d >= 1")
    if x.ndim < 1 or x.shape[-1] != A.shape[-1]:
        raise InputError("x", tuple(x.shape), f"must have the shape (..., {A.shape[-1]}) that A implies")
    return torch.softmax((A @ x[..., None])[..., 0], dim=-1)


def loss(
    A: Float[Tensor, "*#batch n d"], x: Float[Tensor, "*#batch d"], b: Float[Tensor, "*#batch n"]
) -> Float[Tensor, "*batch"]:
    """Return 1/2 ||f(x) - b||^2, (...).

    Raises
    ------
    InputError
        If x or b does not fit A.
    """
    output = prediction(A, x)
    if b.shape[-1:] != output.shape[-1:]:
        raise InputError("b", tuple(b.shape), f"must have the shape (..., {A.shape[-2]}) that A implies")
    return (output - b).square().sum(dim=-1) / 2


def gradient(
    A: Float[Tensor, "*#batch n d"], x: Float[Tensor, "*#batch d"], b: Float[Tensor, "*#batch n"]
) -> Float[Tensor, "*batch d"]:
    """Return the loss's gradient in x, (..., d); differentiable in A and b."""
    with torch.enable_grad():
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        return torch.autograd.grad(loss(A, leaf, b).sum(), leaf, create_graph=True)[0]


def new_target(
    b: Float[Tensor, "*#batch n"], before: Float[Tensor, "*#batch n"], after: Float[Tensor, "*#batch n"]
) -> Float[Tensor, "*batch n"]:
    """Return the target b' with before - b' = after - b: b' gives `before` the residual that b gives `after`."""
    return b - after + before


def gradient_step(
    A: Float[Tensor, "*#batch n d"], b: Float[Tensor, "*#batch n"], eta: float
) -> Float[Tensor, "*batch n"]:
    """Return f(x_1), (..., n), where x_1 is one gradient step of size eta from x = 0."""
    start = A.new_zeros((*A.shape[:-2], A.shape[-1]))
    return prediction(A, start - eta * gradient(A, start, b))


def attention_layer(
    A: Float[Tensor, "*#batch n d"], b: Float[Tensor, "*#batch n"], W: Float[Tensor, "d d"], v: Float[Tensor, ""]
) -> Float[Tensor, "*batch n"]:
    """Return the layer's prediction, (..., n).

    Raises
    ------
    InputError
        If W does not fit A.
    """
    n, d = A.shape[-2:]
    if W.shape != (d, d):
        raise InputError("W", tuple(W.shape), f"must have the shape ({d}, {d})")
    weights = torch.softmax(A @ W @ A.mT, dim=-1)
    return torch.softmax(v * (weights @ (n * b)[..., None])[..., 0], dim=-1)


def data_after_attention(
    A: Float[Tensor, "*batch n d"], W: Float[Tensor, "d d"], V: Float[Tensor, "d d"]
) -> Float[Tensor, "*batch n d"]:
    """Return A + softmax(A W A^T) A V, (..., n, d): the data after one self-attention layer.

    Raises
    ------
    InputError
        If W or V does not fit A.
    """
    d = A.shape[-1]
    for name, matrix in (("W", W), ("V", V)):
        if matrix.shape != (d, d):
            raise InputError(name, tuple(matrix.shape), f"must have the shape ({d}, {d})")
    return A + torch.softmax(A @ W @ A.mT, dim=-1) @ A @ V
