"""In-context linear regression by layers of linear or ReLU attention, from the definitions alone (arXiv 2306.00297).

Prompt: x_1..x_{n+1} ~ N(0, Sigma) and w* ~ N(0, prior) on R^d, independent; y_i = <x_i, w*>; Z_0 has the columns
(x_i; y_i), i <= n, and (x_{n+1}; 0). Layer: Z_{l+1} = Z_l + (1/n) P_l Z_l M s(Z_l^T Q_l Z_l), M = diag(I_n, 0), s the
identity or ReLU. Prediction: TF(Z_0) = -(Z_L)_{d+1,n+1}. In-context loss: f = E (TF(Z_0) - <w*, x_{n+1}>)^2.
Autograd computes all gradients. Shapes: tokens (batch, d, n+1), weights w* (batch, d), Z (batch, d+1, n+1), P and Q
(L, d+1, d+1), A and B (L, d, d), covariance Sigma and prior (d, d); one dtype and one device throughout. Other
shapes raise InputError, a ValueError. In annotations d+1 and n+1 are `d_plus_1` and `n_plus_1`.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from numerics.settings import at_least
from verify.errors import InputError

MOST_QUADRATURE_NODES = 10_000_000
_CHUNK_ELEMENTS = 2**20

Activation = Literal["relu"] | None

LayerMatrices = tuple[Float[Tensor, "L d_plus_1 d_plus_1"], Float[Tensor, "L d_plus_1 d_plus_1"]]
"""P_0..P_{L-1} and Q_0..Q_{L-1}: `Layers`, or two tensors."""


class Layers(NamedTuple):
    """P_0..P_{L-1} and Q_0..Q_{L-1}, each (L, d+1, d+1)."""

    P: Float[Tensor, "L d_plus_1 d_plus_1"]
    Q: Float[Tensor, "L d_plus_1 d_plus_1"]


class Estimate(NamedTuple):
    """A sample mean (), and its standard error ()."""

    mean: Float[Tensor, ""]
    standard_error: Float[Tensor, ""]


class Gradient(NamedTuple):
    """Loss (), and its gradients in P and Q (L, d+1, d+1), and in the A and B of `pattern` (L, d, d).

    The values of several groups have a leading axis.
    """

    loss: Float[Tensor, "*groups"]
    P: Float[Tensor, "*groups L d_plus_1 d_plus_1"]
    Q: Float[Tensor, "*groups L d_plus_1 d_plus_1"]
    A: Float[Tensor, "*groups L d d"]
    B: Float[Tensor, "*groups L d d"]


@dataclass(frozen=True)
class SampledGradient:
    """Monte Carlo estimate: independent `groups` (leading axis), their `mean`, and its `standard_error`.

    (mean - truth) / standard_error has Student's t distribution with groups - 1 degrees of freedom, up to the
    non-normality of group means. To estimate a linear functional, apply it to `groups`.
    """

    groups: Gradient
    mean: Gradient
    standard_error: Gradient


class Nodes(NamedTuple):
    """Numbers of quadrature nodes for each coordinate of x_1..x_n, of x_{n+1} and of w*."""

    tokens: int
    query: int
    weights: int


def sample(
    batch: int, n: int, covariance: Float[Tensor, "d d"], prior: Float[Tensor, "d d"], generator: torch.Generator
) -> tuple[Float[Tensor, "{batch} d {n}+1"], Float[Tensor, "{batch} d"]]:
    """Return independent tokens (batch, d, n+1) ~ N(0, covariance) and weights (batch, d) ~ N(0, prior).

    Raises
    ------
    InputError
        If `batch` or `n` is below 1, the generator is on another device than the matrices, or `roots` raises it.
    """
    at_least("batch", batch, 1)
    at_least("n", n, 1)
    root, prior_root = roots(covariance, prior)
    if generator.device.type != covariance.device.type:
        raise InputError("generator", generator.device, f"must be on the device of covariance, {covariance.device}")
    options = {"generator": generator, "dtype": covariance.dtype, "device": covariance.device}
    tokens = torch.randn(batch, len(root), n + 1, **options)
    weights = torch.randn(batch, len(root), **options)
    return root @ tokens, weights @ prior_root.T


def prompt(
    tokens: Float[Tensor, "batch d n_plus_1"],
    weights: Float[Tensor, "batch d"],
    label: Float[Tensor, "batch"] | None = None,
) -> Float[Tensor, "batch d+1 n_plus_1"]:
    """Return Z_0 (batch, d+1, n+1), with `label` (batch,) as the query's label y_{n+1}, or 0 if `label` is None."""
    _batch(tokens, weights)
    if label is None:
        label = tokens.new_zeros(len(tokens))
    if label.shape != tokens.shape[:1]:
        raise InputError("label", tuple(label.shape), f"must have the shape ({len(tokens)},)")
    labels = torch.einsum("bdi,bd->bi", tokens[:, :, :-1], weights)
    return torch.cat([tokens, torch.cat([labels, label[:, None]], dim=1)[:, None]], dim=1)


def pattern(A: Float[Tensor, "L d d"], B: Float[Tensor, "L d d"] | None = None) -> Layers:
    """Return P_l = diag(B_l, 1) and Q_l = -diag(A_l, 0), pattern (11); if B is None, B_l = 0, pattern (8).

    The result is differentiable in A and B.

    Raises
    ------
    InputError
        If A is empty or not of shape (L, d, d), or B has another shape than A.
    """
    if A.ndim != 3 or 0 in A.shape or A.shape[1] != A.shape[2]:
        raise InputError("A", tuple(A.shape), "must have the shape (L, d, d) with L, d >= 1")
    B = torch.zeros_like(A) if B is None else B
    if B.shape != A.shape:
        raise InputError("B", tuple(B.shape), f"must have the shape of A, {tuple(A.shape)}")
    d = A.shape[1]
    corner = A.new_zeros(d + 1, d + 1)
    corner[d, d] = 1
    return Layers(_bordered(B) + corner, -_bordered(A))


def attention(
    Z: Float[Tensor, "batch d_plus_1 n_plus_1"],
    P: Float[Tensor, "d_plus_1 d_plus_1"],
    Q: Float[Tensor, "d_plus_1 d_plus_1"],
    activation: Activation = None,
    *,
    last: bool = False,
) -> Float[Tensor, "batch rows columns"]:
    """Return P Z M s(Z^T Q Z), (batch, d+1, n+1); P and Q are (d+1, d+1). With `last`, its last entry, (batch, 1, 1).

    Column n+1 of Z M is zero, so the product runs over the other n columns. Without an activation the product is
    computed as P (Z M Z^T) Q Z, which is less work.
    """
    _prompts(Z)
    D = Z.shape[1]
    for name, matrix in (("P", P), ("Q", Q)):
        if matrix.shape != (D, D):
            raise InputError(name, tuple(matrix.shape), f"must have the shape ({D}, {D})")
    keys, queries = Z[:, :, :-1], Z
    if last:
        P, queries = P[-1:], Z[:, :, -1:]
    if activation is None:
        return (P @ (keys @ keys.mT) @ Q) @ queries
    if activation != "relu":
        raise InputError("activation", activation, "must be None or relu")
    return P @ keys @ torch.relu(keys.mT @ Q @ queries)


def forward(
    Z0: Float[Tensor, "batch d_plus_1 n_plus_1"],
    layers: LayerMatrices,
    *,
    activation: Activation = None,
    all_states: bool = False,
) -> Float[Tensor, "*states batch d_plus_1 n_plus_1"]:
    """Return Z_L (batch, d+1, n+1), or with `all_states` Z_0..Z_L (L+1, batch, d+1, n+1)."""
    _prompts(Z0)
    P, Q = _layers(layers, Z0.shape[1])
    states = [Z0]
    for P_l, Q_l in zip(P, Q, strict=True):
        after = states[-1] + attention(states[-1], P_l, Q_l, activation) / (Z0.shape[2] - 1)
        states = [*states, after] if all_states else [after]
    return torch.stack(states) if all_states else states[-1]


def prediction(
    Z0: Float[Tensor, "batch d_plus_1 n_plus_1"], layers: LayerMatrices, *, activation: Activation = None
) -> Float[Tensor, "batch"]:
    """Return TF(Z_0) = -(Z_L)_{d+1,n+1} of each prompt, (batch,); only this entry of the last layer is computed."""
    _prompts(Z0)
    P, Q = _layers(layers, Z0.shape[1])
    before = forward(Z0, (P[:-1], Q[:-1]), activation=activation) if len(P) > 1 else Z0
    added = attention(before, P[-1], Q[-1], activation, last=True) / (Z0.shape[2] - 1)
    return -(before[:, -1, -1] + added[:, 0, 0])


def preconditioned_descent(
    tokens: Float[Tensor, "batch d n_plus_1"], weights: Float[Tensor, "batch d"], A: Float[Tensor, "L d d"]
) -> Float[Tensor, "batch L+1 d"]:
    """Return w_0 = 0 and w_{l+1} = w_l - A_l grad R(w_l) of each prompt, (batch, L+1, d).

    R(w) = (1/2n) sum_{i<=n} <w - w*, x_i>^2.
    """
    _batch(tokens, weights)
    d = tokens.shape[1]
    if A.ndim != 3 or A.shape[1:] != (d, d):
        raise InputError("A", tuple(A.shape), f"must have the shape (L, {d}, {d})")
    iterates = [torch.zeros_like(weights)]
    for A_l in A.detach():
        with torch.enable_grad():
            w = iterates[-1].clone().requires_grad_()
            residuals = torch.einsum("bdi,bd->bi", tokens[:, :, :-1], w - weights)
            # Prompts do not share terms: the gradient of the sum contains the gradient of each.
            (gradient,) = torch.autograd.grad(residuals.square().mean(dim=1).sum() / 2, w)
        iterates.append(iterates[-1] - gradient @ A_l.T)
    return torch.stack(iterates, dim=1)


def in_context_errors(
    layers: LayerMatrices,
    tokens: Float[Tensor, "batch d n_plus_1"],
    weights: Float[Tensor, "batch d"],
    *,
    activation: Activation = None,
) -> Float[Tensor, "batch"]:
    """Return (TF(Z_0) - <w*, x_{n+1}>)^2 of each prompt, (batch,)."""
    predicted = prediction(prompt(tokens, weights), layers, activation=activation)
    return (predicted - (weights * tokens[:, :, -1]).sum(dim=1)).square()


def in_context_loss(
    layers: LayerMatrices,
    tokens: Float[Tensor, "batch d n_plus_1"],
    weights: Float[Tensor, "batch d"],
    *,
    activation: Activation = None,
) -> Estimate:
    """Return the mean squared error over at least two prompts, and its standard error.

    Raises
    ------
    InputError
        If there are fewer than two prompts, or shapes do not fit.
    """
    errors = in_context_errors(layers, tokens, weights, activation=activation)
    at_least("batch", len(errors), 2)
    return Estimate(errors.mean(), errors.std(correction=1) / math.sqrt(len(errors)))


def in_context_gradient(
    layers: LayerMatrices,
    tokens: Float[Tensor, "batch d n_plus_1"],
    weights: Float[Tensor, "batch d"],
    *,
    groups: int,
    activation: Activation = None,
) -> SampledGradient:
    """Return the sampled loss and its gradient, from `groups` >= 2 equal parts of the batch.

    Raises
    ------
    InputError
        If `groups` is below 2 or does not divide the batch, or shapes do not fit.
    """
    _batch(tokens, weights)
    at_least("groups", groups, 2)
    if len(tokens) % groups:
        raise InputError("groups", groups, f"must divide the batch, {len(tokens)}")
    P, Q = _layers(layers, tokens.shape[1] + 1)
    rows = []
    for part in zip(tokens.chunk(groups), weights.chunk(groups), strict=True):
        with torch.enable_grad():
            leaves = Layers(P.detach().requires_grad_(), Q.detach().requires_grad_())
            rows.append(_gradient(in_context_errors(leaves, *part, activation=activation).mean(), leaves))
    each = Gradient(*(torch.stack(values) for values in zip(*rows, strict=True)))
    return SampledGradient(
        each,
        Gradient(*(values.mean(dim=0) for values in each)),
        Gradient(*(values.std(dim=0, correction=1) / math.sqrt(groups) for values in each)),
    )


def quadrature_nodes(layers: LayerMatrices, *, gradient: bool) -> Nodes:
    """Return numbers of nodes with which a product rule is exact for the loss, and with `gradient` for its gradient.

    With linear attention the squared error is a polynomial in the independent N(0, 1) coordinates of x_1..x_{n+1}
    and w*, and Gauss-Hermite's rule with m nodes is exact to degree 2m - 1. Degrees are bounded in one coordinate at
    a time, for each entry of Z_0..Z_L: degrees of factors add up, a sum has at most the largest degree of its terms,
    and a zero entry of P or Q contributes nothing. Column n+1 is never a key, because of M. The bounds for the
    squared error are:

    - in a coordinate of x_i, i <= n, column i of Z_l has degree 3^l (three factors a layer). Layer l adds 2 · 3^l to
      the degree of column n+1, which ends at 3^L - 1. So the squared error has degree 2 (3^L - 1), and needs 3^L nodes;
    - in a coordinate of w* the degrees are the same, because w* enters with the labels; the target has degree 1;
    - in a coordinate of x_{n+1}, column n+1 stays linear in every layer: degree 2, with 2 nodes;
    - with P_l = diag(0, 1), Q_l = -diag(A_l, 0) tokens do not change, and labels gain two factors a layer: degree 4L,
      with 2L + 1 nodes for x_i. Labels stay linear in w*, with 2 nodes. With P_l = diag(B_l, 1) tokens change too, with
      3^L nodes for x_i.

    The derivative of the squared error in an entry of P or Q, zero or not, is twice the error times the error's
    derivative, whose degree follows by the product rule, in which the derivative of an entry has degree 0.
    """
    P, Q = _layers(layers)
    zeros = [((P_l != 0).cpu().numpy(), (Q_l != 0).cpu().numpy()) for P_l, Q_l in zip(P, Q, strict=True)]
    # Each tuple has the degrees of the tokens and the label in the key's column, of the tokens in column n+1, and of
    # the target. The tuples are for a coordinate of x_i, of x_{n+1} and of w*.
    starts = (1, 1, 0, 0), (0, 0, 1, 1), (0, 1, 0, 1)
    return Nodes(*(_degree(zeros, *start, gradient=gradient) // 2 + 1 for start in starts))


def exact_loss(
    layers: LayerMatrices,
    n: int,
    covariance: Float[Tensor, "d d"],
    prior: Float[Tensor, "d d"],
    *,
    nodes: tuple[int, int, int] | None = None,
) -> Float[Tensor, ""]:
    """Return the in-context loss of linear attention by Gauss-Hermite product quadrature, exact up to rounding.

    By default `nodes` are those of `quadrature_nodes`, which are also exact for all first derivatives if P or Q
    requires a gradient. The result is differentiable.

    Raises
    ------
    InputError
        If there are more than 10 000 000 nodes in all, `n` or a number of nodes is below 1, shapes do not fit, or
        `roots` raises it.
    """
    P, Q = _layers(layers)
    at_least("n", n, 1)
    root, prior_root = roots(covariance, prior)
    d = len(root)
    if P.shape[1] != d + 1:
        raise InputError("covariance", tuple(covariance.shape), f"must have the shape {(P.shape[1] - 1,) * 2}")
    each = Nodes(*(nodes or quadrature_nodes(layers, gradient=P.requires_grad or Q.requires_grad)))
    for name, value in each._asdict().items():
        at_least(f"nodes of {name}", value, 1)
    factors = [each.tokens] * (n * d) + [each.query] * d + [each.weights] * d
    size = sum(map(math.log10, factors))
    count = math.prod(factors) if size < 18 else f"about 10^{size:.0f}"
    if not isinstance(count, int) or count > MOST_QUADRATURE_NODES:
        raise InputError("quadrature nodes", count, f"must be at most {MOST_QUADRATURE_NODES}")
    rules = {m: [torch.from_numpy(part).to(P) for part in _gauss_hermite(m)] for m in set(factors)}

    def part(P: Tensor, Q: Tensor, start: int, stop: int) -> Tensor:
        index = torch.arange(start, stop, device=P.device)
        points, chance = P.new_empty(len(index), len(factors)), P.new_ones(len(index))
        for k, m in enumerate(factors):
            x, weight = rules[m]
            points[:, k], chance = x[index % m], chance * weight[index % m]
            index = index // m
        tokens = root @ points[:, : (n + 1) * d].view(-1, n + 1, d).mT
        return chance @ in_context_errors((P, Q), tokens, points[:, (n + 1) * d :] @ prior_root.T)

    total = P.new_zeros(())
    step = max(1, _CHUNK_ELEMENTS // ((d + 1) * (n + 1)))
    for start in range(0, count, step):
        # Chunks are recomputed for the gradient, so that only one of them is in memory.
        stop = min(start + step, count)
        total = total + checkpoint(part, P, Q, start, stop, use_reentrant=False, preserve_rng_state=False)
    return total


def exact_gradient(
    layers: LayerMatrices,
    n: int,
    covariance: Float[Tensor, "d d"],
    prior: Float[Tensor, "d d"],
    *,
    nodes: tuple[int, int, int] | None = None,
) -> Gradient:
    """Return the in-context loss of linear attention and its gradient, exact up to rounding (see `exact_loss`)."""
    P, Q = _layers(layers)
    with torch.enable_grad():
        leaves = Layers(P.detach().requires_grad_(), Q.detach().requires_grad_())
        return _gradient(exact_loss(leaves, n, covariance, prior, nodes=nodes), leaves)


def _gradient(loss: Float[Tensor, ""], leaves: Layers) -> Gradient:
    P, Q = torch.autograd.grad(loss, leaves)
    return Gradient(loss.detach(), P, Q, -Q[:, :-1, :-1], P[:, :-1, :-1])


def _degree(
    nonzero: list[tuple[Bool[np.ndarray, "d_plus_1 d_plus_1"], Bool[np.ndarray, "d_plus_1 d_plus_1"]]],
    token: int,
    label: int,
    query: int,
    target: int,
    *,
    gradient: bool,
) -> int:
    """Return a bound on the degree of the squared error, and with `gradient` of its derivatives too.

    A pair of arrays has the degrees of entries, and the largest degrees of their derivatives in an entry of P or Q. The
    degree of 0 is -inf.
    """

    def product(one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray]) -> tuple:
        (a, da), (b, db) = one, two
        return _largest_sums(a, b), np.maximum(_largest_sums(da, b), _largest_sums(a, db))

    d = len(nonzero[0][0]) - 1
    # The first column is the coordinate's key, whose degrees no other key exceeds; the second is n+1, with label 0.
    start = np.array([[token, query]] * d + [[label, -math.inf]], dtype=float)
    Z: tuple[np.ndarray, ...] = (start, np.full_like(start, -math.inf))
    for masks in nonzero:
        P, Q = ((np.where(mask, 0.0, -math.inf), np.zeros(mask.shape)) for mask in masks)
        keys = tuple(part[:, :1] for part in Z)
        update = product(product(P, product(keys, tuple(part.T for part in keys))), product(Q, Z))
        Z = tuple(np.maximum(old, new) for old, new in zip(Z, update, strict=True))
    error = max(Z[0][-1, -1], target)
    return int(error + (max(error, Z[1][-1, -1]) if gradient else error))


def _largest_sums(
    a: Float64[np.ndarray, "rows inner"], b: Float64[np.ndarray, "inner columns"]
) -> Float64[np.ndarray, "rows columns"]:
    """Return the max-plus matrix product: maxima in place of sums, and sums in place of products."""
    return (a[:, :, None] + b[None]).max(axis=1)


def _gauss_hermite(nodes: int) -> tuple[Float64[np.ndarray, "{nodes}"], Float64[np.ndarray, "{nodes}"]]:
    """Return the points and weights of a rule under N(0, 1) that is exact for polynomials of degree <= 2 nodes - 1."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return points, weights / weights.sum()


def _bordered(matrices: Float[Tensor, "L d d"]) -> Float[Tensor, "L d+1 d+1"]:
    return torch.nn.functional.pad(matrices, (0, 1, 0, 1))


def roots(
    covariance: Float[Tensor, "d d"], prior: Float[Tensor, "d d"]
) -> tuple[Float[Tensor, "d d"], Float[Tensor, "d d"]]:
    """Return the lower triangular C with C C^T = covariance, and the same factor of the prior.

    Raises
    ------
    InputError
        Unless the matrices are square, of the same shape, symmetric up to rounding, and positive definite.
    """
    root, prior_root = _root("covariance", covariance), _root("prior", prior)
    if prior.shape != covariance.shape:
        raise InputError("prior", tuple(prior.shape), f"must have the shape of covariance, {tuple(covariance.shape)}")
    return root, prior_root


def _root(name: str, matrix: Float[Tensor, "d d"]) -> Float[Tensor, "d d"]:
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.shape[0] != matrix.shape[1]:
        raise InputError(name, tuple(matrix.shape), "must have the shape (d, d) with d >= 1")
    rounding = 100 * torch.finfo(matrix.dtype).eps * matrix.abs().max()
    # A comparison with NaN is false.
    if not bool((matrix - matrix.T).abs().max() <= rounding):
        raise InputError(name, "", "must be symmetric, and finite")
    root, failed = torch.linalg.cholesky_ex(matrix)
    if failed:
        raise InputError(name, "", "must be positive definite")
    return root


def _layers(layers: LayerMatrices, D: int | None = None) -> Layers:
    P, Q = layers
    if P.ndim != 3 or len(P) < 1 or P.shape[1] < 2 or P.shape[1] != P.shape[2]:
        raise InputError("P", tuple(P.shape), "must have the shape (L, d+1, d+1) with L, d >= 1")
    if D is not None and P.shape[1] != D:
        raise InputError("P", tuple(P.shape), f"must have the shape (L, {D}, {D})")
    if Q.shape != P.shape:
        raise InputError("Q", tuple(Q.shape), f"must have the shape of P, {tuple(P.shape)}")
    return Layers(P, Q)


def _batch(tokens: Float[Tensor, "batch d n_plus_1"], weights: Float[Tensor, "batch d"]) -> None:
    if tokens.ndim != 3 or 0 in tokens.shape or tokens.shape[2] < 2:
        raise InputError("tokens", tuple(tokens.shape), "must have the shape (batch, d, n+1) with batch, d, n >= 1")
    if weights.shape != tokens.shape[:2]:
        raise InputError("weights", tuple(weights.shape), f"must have the shape {tuple(tokens.shape[:2])}")


def _prompts(Z: Float[Tensor, "batch d_plus_1 n_plus_1"]) -> None:
    if Z.ndim != 3 or len(Z) < 1 or Z.shape[1] < 2 or Z.shape[2] < 2:
        raise InputError("Z", tuple(Z.shape), "must have the shape (batch, d+1, n+1) with batch, d, n >= 1")
