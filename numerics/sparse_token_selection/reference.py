"""Sparse token selection by one softmax attention layer, from the definitions alone (arXiv 2406.06893).

Task: X = (x_1..x_T), x_i ~ N(0, I_d) independent; y a uniformly random q-subset of [T]; target
STS(X, y) = (1/q) sum_{i in y} x_i. Layer, with encodings e_1..e_T in R^{d_e}, z_i = (x_i; e_i) and
z_query = (0_d; sum_{i in y} e_i): f(X, y) = V Z softmax(Z^T W z_query), or the same with [Z, z_query] in place
of Z, with the query as one more column. Loss: L = 1/2 E||f - STS||^2.
All matrices are full, and autograd computes all gradients. Shapes, with D = d + d_e: W (D, D); V (d, D);
encodings (d_e, T) if all samples share them, else (n, d_e, T); tokens (n, d, T); subsets (n, T). There is one
dtype and one device throughout. Other shapes raise InputError.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from numerics.settings import at_least
from verify.errors import InputError

MOST_CUBATURE_POINTS = 2_000_000
_CHUNK_ELEMENTS = 2**21
_VANISHES = 1e-12

Attend = Literal["tokens", "tokens_and_query"]
"""The columns that the layer attends to: Z, or [Z, z_query]."""

Encodings = Float[Tensor, "... d_e _T"] | Callable[[int], Float[Tensor, "n d_e _T"]]
"""Encodings (d_e, T), shared by all samples; or a function that draws encodings of n samples, (n, d_e, T), per call.

The annotation has `_T`, which is not checked, because training and test may have different T.
"""


class Gradient(NamedTuple):
    """Loss (), dL/dW (D, D) and dL/dV (d, D); the values of several batches have a leading axis.

    In a training, the field `W` has only dL/dW[:, d:], (D, d_e), because the other columns are 0.
    """

    loss: Float[Tensor, "*batches"]
    W: Float[Tensor, "*batches D _"]
    V: Float[Tensor, "*batches d D"]


@dataclass(frozen=True)
class SampledGradient:
    """Monte Carlo estimate: independent `batches` (leading axis), their `mean`, and its `standard_error`.

    (mean - truth) / standard_error has Student's t distribution with batches - 1 degrees of freedom, up to the
    non-normality of batch means. To estimate a linear functional, apply it to `batches`.
    """

    batches: Gradient
    mean: Gradient
    standard_error: Gradient


class Iterate(NamedTuple):
    """The state of gradient descent after `step` steps: W (D, D), V (d, D), and the loss () there."""

    step: int
    W: Float[Tensor, "D D"]
    V: Float[Tensor, "d D"]
    loss: Float[Tensor, ""]


def one_hot_encodings(
    T: int, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float64
) -> Float[Tensor, "{T} {T}"]:
    """Return e_1..e_T as the columns of the identity, (T, T)."""
    at_least("T", T, 1)
    return torch.eye(T, device=device, dtype=dtype)


def sample_batch(
    n: int, T: int, q: int, d: int, generator: torch.Generator, *, dtype: torch.dtype = torch.float64
) -> tuple[Float[Tensor, "{n} {d} {T}"], Float[Tensor, "{n} {T}"]]:
    """Return n independent samples, tokens X (n, d, T) and indicators of y (n, T), on the generator's device.

    Raises
    ------
    InputError
        If a size is below 1, or q is not from 1 to T.
    """
    for name, value in (("n", n), ("T", T), ("d", d)):
        at_least(name, value, 1)
    _subset_size(q, T)
    device = generator.device
    tokens = torch.randn(n, d, T, generator=generator, device=device, dtype=dtype)
    # The first q places of a uniformly random permutation are a uniformly random q-subset.
    keys = torch.rand(n, T, generator=generator, device=device, dtype=torch.float64)
    subsets = torch.zeros(n, T, device=device, dtype=dtype).scatter_(1, keys.argsort(dim=1)[:, :q], 1.0)
    return tokens, subsets


def target(tokens: Float[Tensor, "n d T"], subsets: Float[Tensor, "n T"]) -> Float[Tensor, "n d"]:
    """Return STS(X, y), (n, d)."""
    _batch(tokens, subsets)
    return torch.einsum("ndt,nt->nd", tokens, subsets) / subsets.sum(dim=1, keepdim=True)


def layer_output(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Float[Tensor, "... d_e T"],
    tokens: Float[Tensor, "n d T"],
    subsets: Float[Tensor, "n T"],
    *,
    attend: Attend = "tokens",
) -> Float[Tensor, "n d"]:
    """Return f(X, y) = V Z softmax(Z^T W z_query), (n, d), with Z replaced by [Z, z_query] if `attend` says so."""
    d, T = _dimensions(W, V, encodings)
    _batch(tokens, subsets)
    if tokens.shape[1:] != (d, T):
        raise InputError("tokens", tuple(tokens.shape), f"must have the shape (n, {d}, {T}) that V and encodings imply")
    n, shared = len(tokens), encodings.ndim == 2
    if not shared and len(encodings) != n:
        raise InputError("encodings", tuple(encodings.shape), f"must be shared or one for each of {n} samples")
    if attend not in get_args(Attend):
        raise InputError("attend", attend, f"must be one of {', '.join(get_args(Attend))}")
    Z = torch.cat([tokens, encodings.expand(n, -1, -1)], dim=1)
    selected = torch.einsum("et,nt->ne" if shared else "net,nt->ne", encodings, subsets)
    z_query = torch.cat([tokens.new_zeros(n, d), selected], dim=1)
    if attend == "tokens_and_query":
        Z = torch.cat([Z, z_query[:, :, None]], dim=2)
    logits = ((z_query @ W.T)[:, None, :] @ Z)[:, 0]
    return (Z @ torch.softmax(logits, dim=1)[:, :, None])[:, :, 0] @ V.T


def loss(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Float[Tensor, "... d_e T"],
    tokens: Float[Tensor, "n d T"],
    subsets: Float[Tensor, "n T"],
    *,
    attend: Attend = "tokens",
) -> Float[Tensor, "n"]:
    """Return 1/2 ||f(X, y) - STS(X, y)||^2 of each sample, (n,)."""
    output = layer_output(W, V, encodings, tokens, subsets, attend=attend)
    return (output - target(tokens, subsets)).square().sum(dim=1) / 2


def sampled_gradient(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Encodings,
    q: int,
    *,
    batches: int,
    batch_size: int,
    generator: torch.Generator,
    attend: Attend = "tokens",
) -> SampledGradient:
    """Return loss and gradient estimated from `batches` >= 2 independent batches of `batch_size` >= 2 samples.

    Raises
    ------
    InputError
        If there are fewer batches or samples, the generator is on another type of device than W, q is not from
        1 to T, or shapes do not fit.
    """
    at_least("batches", batches, 2)
    at_least("batch_size", batch_size, 2)
    if generator.device.type != W.device.type:
        raise InputError("generator", generator.device, f"must be on the device of W, {W.device}")
    sums = []
    for _ in range(batches):
        drawn = encodings if isinstance(encodings, Tensor) else encodings(batch_size)
        d, T = _dimensions(W, V, drawn)
        tokens, subsets = sample_batch(batch_size, T, q, d, generator, dtype=W.dtype)
        sums.append(_summed(W, V, drawn, tokens, subsets, attend))
    means = Gradient(*(torch.stack(values) / batch_size for values in zip(*sums, strict=True)))
    return SampledGradient(
        means,
        Gradient(*(values.mean(dim=0) for values in means)),
        Gradient(*(values.std(dim=0, correction=1) / math.sqrt(batches) for values in means)),
    )


def cubature_gradient(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Float[Tensor, "... d_e T"],
    q: int,
    *,
    attend: Attend = "tokens",
) -> Gradient:
    """Return the population loss and gradient, exact up to rounding, if W[:d, d:] = 0.

    Then the logits do not depend on X (x_query = 0 already removes W[:, :d]). So f is affine in X, the loss
    and dL/dV are quadratic, and dL/dW is cubic, through d logits/dW = Z z_query^T. The mean over
    the 2 T d points ±sqrt(T d) u_k, with u_k the unit vectors of R^{T d}, equals E under N(0, I_{T d}) for every
    polynomial of degree <= 3: odd and mixed moments vanish, squares of coordinates have mean 2 T d / (2 T d) = 1.
    y runs over all q-subsets, and encodings (n, d_e, T) over n equally likely draws (`enumerated_signs`).

    Raises
    ------
    InputError
        If W[:d, d:] != 0, n C(T, q) 2 T d > 2 000 000, q is not from 1 to T, or shapes do not fit.
    """
    d, T = _dimensions(W, V, encodings)
    _subset_size(q, T)
    logits_are_free_of_tokens(W, d, "no exact rule there")
    draws = encodings[None] if encodings.ndim == 2 else encodings
    count = len(draws) * math.comb(T, q) * T * d
    if 2 * count > MOST_CUBATURE_POINTS:
        raise InputError("subsets times points", 2 * count, f"must be at most {MOST_CUBATURE_POINTS}")
    members = torch.tensor(list(combinations(range(T), q)), device=W.device)
    subsets = W.new_zeros(len(members), T).scatter_(1, members, 1.0)
    total = Gradient(W.new_zeros(()), torch.zeros_like(W), torch.zeros_like(V))
    chunk = max(1, _CHUNK_ELEMENTS // (W.shape[0] * T))
    for start in range(0, count, chunk):
        index = torch.arange(start, min(start + chunk, count), device=W.device)
        tokens = W.new_zeros(len(index), T * d).scatter_(1, (index % (T * d))[:, None], math.sqrt(T * d))
        tokens, case = tokens.view(-1, d, T), index // (T * d)
        chosen, drawn = subsets[case % len(subsets)], encodings if encodings.ndim == 2 else draws[case // len(subsets)]
        # Antipodal points take two passes of the same operations: odd terms cancel exactly, so zero blocks stay 0.
        pair = zip(*(_summed(W, V, drawn, points, chosen, attend) for points in (tokens, -tokens)), strict=True)
        total = Gradient(*(old + (up + down) for old, (up, down) in zip(total, pair, strict=True)))
    return Gradient(*(value / (2 * count) for value in total))


def train(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    *,
    eta: float,
    steps: int,
    gradient: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]],
) -> Iterator[Iterate]:
    """Return a lazy iterator of the iterates 0..steps of W <- W - eta dL/dW, V <- V - eta dL/dV.

    `gradient`, (W, V) -> (loss, dL/dW, dL/dV), is called once at every iterate.

    Raises
    ------
    InputError
        If `steps` is below 0, or eta is not finite and above 0.
    """
    at_least("steps", steps, 0)
    if not 0 < eta < math.inf:
        raise InputError("eta", eta, "must be a finite number > 0")
    return _iterates(W.detach(), V.detach(), eta, steps, gradient)


def cosine_similarity(A: Float[Tensor, "*shape"], B: Float[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """Return <A, B> / (||A|| ||B||) in the Frobenius inner product, ().

    Raises
    ------
    InputError
        If the shapes differ, or a matrix is 0.
    """
    if A.shape != B.shape:
        raise InputError("B", tuple(B.shape), f"must have the shape of A, {tuple(A.shape)}")
    for name, matrix in (("A", A), ("B", B)):
        if not matrix.any():
            raise InputError(name, "", "must not be the zero matrix")
    return (A * B).sum() / (torch.linalg.vector_norm(A) * torch.linalg.vector_norm(B))


def _iterates(
    W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], eta: float, steps: int, gradient: Callable
) -> Iterator[Iterate]:
    for step in range(steps + 1):
        value, gW, gV = gradient(W, V)
        yield Iterate(step, W, V, value)
        W, V = W - eta * gW, V - eta * gV


def _summed(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Float[Tensor, "... d_e T"],
    tokens: Float[Tensor, "n d T"],
    subsets: Float[Tensor, "n T"],
    attend: Attend = "tokens",
) -> Gradient:
    with torch.enable_grad():
        leaves = W.detach().requires_grad_(), V.detach().requires_grad_()
        value = loss(*leaves, encodings, tokens, subsets, attend=attend).sum()
        return Gradient(value.detach(), *torch.autograd.grad(value, leaves))


def _dimensions(
    W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], encodings: Float[Tensor, "... d_e T"]
) -> tuple[int, int]:
    if encodings.ndim not in (2, 3) or 0 in encodings.shape:
        raise InputError("encodings", tuple(encodings.shape), "must be (d_e, T) or (n, d_e, T) with n, d_e, T >= 1")
    d_e, T = encodings.shape[-2:]
    if V.ndim != 2 or V.shape[0] < 1 or V.shape[1] != V.shape[0] + d_e:
        raise InputError("V", tuple(V.shape), f"must have the shape (d, d + {d_e}) with d >= 1")
    d, D = V.shape
    if W.shape != (D, D):
        raise InputError("W", tuple(W.shape), f"must have the shape ({D}, {D})")
    return d, T


def _batch(tokens: Float[Tensor, "n d T"], subsets: Float[Tensor, "n T"]) -> None:
    if tokens.ndim != 3 or 0 in tokens.shape:
        raise InputError("tokens", tuple(tokens.shape), "must have the shape (n, d, T) with n, d, T >= 1")
    if subsets.shape != (tokens.shape[0], tokens.shape[2]):
        raise InputError("subsets", tuple(subsets.shape), f"must have the shape {(tokens.shape[0], tokens.shape[2])}")


def _subset_size(q: int, T: int) -> None:
    if not isinstance(q, int) or not 1 <= q <= T:
        raise InputError("q", q, f"must be an integer from 1 to T = {T}")


def logits_are_free_of_tokens(W: Float[Tensor, "D D"], d: int, why: str) -> None:
    """Check that W[:d, d:] vanishes up to the rounding of sums.

    Raises
    ------
    InputError
        If it does not; the message ends with `why`.
    """
    # A comparison with NaN is false.
    if not bool(W[:d, d:].abs().max() <= _VANISHES * W.abs().max().clamp(min=1)):
        raise InputError("W", "", f"must vanish on W[:{d}, {d}:] (token rows, positional columns): {why}")
