"""Near-orthogonal positional encodings, fresh or fixed, and the layer's loss under them (arXiv 2406.06893).

Definition 3, fixed encoding: one draw of unit vectors e_1, e_2, ... is kept for all samples, and a sequence of length T
uses the first T. Definition 5, stochastic encoding: a fresh draw for every sample. As `reference.Encodings`, the first
is `sign_encodings(1, T_max, d_e, generator)[0][:, :T]` and the second is
`partial(sign_encodings, T=T, d_e=d_e, generator=generator)`. Shapes are as in `reference`.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from numerics.settings import at_least
from numerics.sparse_token_selection.reference import (
    Attend,
    Encodings,
    layer_output,
    logits_are_free_of_tokens,
    loss,
    sample_batch,
    target,
)
from verify import InputError, Measurement

_CHUNK_SAMPLES = 256
_MOST_SIGNS = 16


def sign_encodings(
    n: int, T: int, d_e: int, generator: torch.Generator, *, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "{n} {d_e} {T}"]:
    """Return n draws of T encodings with independent entries ±1/sqrt(d_e), (n, d_e, T).

    Raises
    ------
    InputError
        If a size is below 1.
    """
    _sizes(n, T, d_e)
    bits = torch.randint(2, (n, d_e, T), generator=generator, device=generator.device, dtype=torch.int8)
    return bits.to(dtype).mul_(2).sub_(1).div_(math.sqrt(d_e))


def enumerated_signs(
    T: int, d_e: int, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float64
) -> Float[Tensor, "2**({T}*{d_e}) {d_e} {T}"]:
    """Return all equally likely draws of `sign_encodings`, (2^(T d_e), d_e, T).

    Raises
    ------
    InputError
        If a size is below 1, or T d_e > 16.
    """
    _sizes(1, T, d_e)
    if T * d_e > _MOST_SIGNS:
        raise InputError("T d_e", T * d_e, f"must be at most {_MOST_SIGNS}")
    bits = torch.arange(2 ** (T * d_e), device=device)[:, None] >> torch.arange(T * d_e, device=device) & 1
    return (2 * bits - 1).to(dtype).view(-1, d_e, T) / math.sqrt(d_e)


def sphere_encodings(
    n: int, T: int, d_e: int, generator: torch.Generator, *, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "{n} {d_e} {T}"]:
    """Return n draws of T independent encodings, uniform on the unit sphere of R^{d_e}, (n, d_e, T).

    Raises
    ------
    InputError
        If a size is below 1.
    """
    _sizes(n, T, d_e)
    gaussian = torch.randn(n, d_e, T, generator=generator, device=generator.device, dtype=dtype)
    return gaussian / torch.linalg.vector_norm(gaussian, dim=1, keepdim=True)


def loss_averaged_over_tokens(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Float[Tensor, "... d_e T"],
    subsets: Float[Tensor, "n T"],
    *,
    attend: Attend = "tokens",
) -> Float[Tensor, "n"]:
    """Return E[1/2 ||f - STS||^2 | encodings, y] of each sample, (n,), if W[:d, d:] = 0.

    Then the logits do not depend on X (x_query = 0 already removes W[:, :d]), so f - STS is affine in X. Its squared
    norm at X = 0 plus the squared norm of its Jacobian in X, which autograd computes, is twice the mean loss over
    X ~ N(0, I).

    Raises
    ------
    InputError
        If W[:d, d:] != 0, or shapes do not fit.
    """
    d = len(V)
    with torch.enable_grad():
        tokens = W.new_zeros(len(subsets), d, subsets.shape[-1]).requires_grad_()
        output = layer_output(W.detach(), V.detach(), encodings, tokens, subsets, attend=attend)
        logits_are_free_of_tokens(W, d, "the logits depend on X")
        residual = output - target(tokens, subsets)
        squares = residual.detach().square().sum(dim=1)
        for component in residual.sum(dim=0):
            # A sample's residual depends only on its own tokens: the sum's gradient has one row for each sample.
            (row,) = torch.autograd.grad(component, tokens, retain_graph=True)
            squares = squares + row.square().sum(dim=(1, 2))
    return squares / 2


def sampled_losses(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Encodings,
    q: int,
    *,
    samples: int,
    generator: torch.Generator,
    attend: Attend = "tokens",
) -> Float[Tensor, "{samples}"]:
    """Return the losses of fresh samples, (samples,)."""
    chunks = _draws(V, encodings, q, samples, generator)
    with torch.no_grad():
        return torch.cat([loss(W, V, *chunk, attend=attend) for chunk in chunks])


def averaged_losses(
    W: Float[Tensor, "D D"],
    V: Float[Tensor, "d D"],
    encodings: Encodings,
    q: int,
    *,
    samples: int,
    generator: torch.Generator,
    attend: Attend = "tokens",
) -> Float[Tensor, "{samples}"]:
    """Return `loss_averaged_over_tokens` of fresh samples, (samples,).

    They have the same mean as `sampled_losses`, and a smaller variance.
    """
    chunks = _draws(V, encodings, q, samples, generator)
    return torch.cat([loss_averaged_over_tokens(W, V, drawn, subsets, attend=attend) for drawn, _, subsets in chunks])


def measurement(values: Float[Tensor, "n"]) -> Measurement:
    """Return the mean of independent values (n,), and its standard error."""
    return Measurement(float(values.mean()), float(values.std(correction=1)) / math.sqrt(len(values)), len(values))


def _draws(
    V: Float[Tensor, "d D"], encodings: Encodings, q: int, samples: int, generator: torch.Generator
) -> Iterator[tuple[Float[Tensor, "... d_e T"], Float[Tensor, "n d T"], Float[Tensor, "n T"]]]:
    """Yield encodings, tokens and subsets of fresh samples, in chunks."""
    at_least("samples", samples, 1)
    for start in range(0, samples, _CHUNK_SAMPLES):
        n = min(_CHUNK_SAMPLES, samples - start)
        drawn = encodings if isinstance(encodings, Tensor) else encodings(n)
        yield drawn, *sample_batch(n, drawn.shape[-1], q, len(V), generator, dtype=V.dtype)


def _sizes(n: int, T: int, d_e: int) -> None:
    for name, value in (("n", n), ("T", T), ("d_e", d_e)):
        at_least(name, value, 1)
