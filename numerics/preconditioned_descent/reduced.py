r"""Linear attention of patterns (8) and (11) from the d×d second moment of each prompt, for prompts of any length.

The model is defined in `reference`; the tests compare the loss and the gradient here with its autograd. A layer maps
each column z to z + (1/n) P Z M (Zᵀ Q z). With P_l = diag(B_l, 1) and Q_l = −diag(A_l, 0), all columns change in the
same way. The examples' tokens X_l and labels Y_l become

    X_{l+1} = X_l − B_l (X_l X_lᵀ/n) A_l X_l,    Y_{l+1} = Y_l − (Y_l X_lᵀ/n) A_l X_l.

So X_l = G_l X and Y_l = e_lᵀ X for a matrix G_l and a vector e_l of the prompt. The same holds for the query x if its
label is ⟨w*, x⟩ instead of 0. This adds ⟨w*, x⟩ to the last output, and the mask M keeps the query from changing the
other columns. With S = XXᵀ/n, G_0 = I and e_0 = w*,

    G_{l+1} v = g − B_l G_l S G_lᵀ A_l g,  g = G_l v,      e_{l+1} = e_l − G_lᵀ A_lᵀ G_l S e_l,

and TF(Z_0) − ⟨w*, x⟩ = −e_Lᵀ x: the loss is the mean of (e_Lᵀ x)². Under (8) all G_l = I, and L products with S are
enough; under (11) there are (3^L − 1)/2 products, 13 for three layers.

Shapes: S (d, d, N), w* and x (d, N), the prompts last; A and B (L, d, d). One dtype, one device.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from numerics import philox_tensors
from numerics.preconditioned_descent.reference import roots
from numerics.settings import at_least, counted
from verify import InputError

_CHUNK_ELEMENTS = 2**21


class Prompts(NamedTuple):
    """The arrays that the error depends on: S = XXᵀ/n (d, d, N), w* (d, N) and the query's token x (d, N)."""

    second_moment: Float[Tensor, "d d N"]
    weights: Float[Tensor, "d N"]
    query: Float[Tensor, "d N"]


def reduced(tokens: Float[Tensor, "N d n_plus_1"], weights: Float[Tensor, "N d"]) -> Prompts:
    """Return the parts of prompts that determine their error, from `sample`'s tokens (N, d, n+1) and weights (N, d)."""
    examples = tokens[:, :, :-1]
    second_moment = examples @ examples.mT / examples.shape[2]
    return Prompts(second_moment.permute(1, 2, 0).contiguous(), weights.T.contiguous(), tokens[:, :, -1].T.contiguous())


def draw(
    count: int, n: int, covariance: Float[Tensor, "d d"], prior: Float[Tensor, "d d"], key: int, step: int = 0
) -> Prompts:
    """Return the prompts of a key's step, distributed as in `sample`, and the same on all devices up to rounding.

    For n ≥ d the second moments are drawn by Bartlett's decomposition: with Σ = RRᵀ, S = (RT)(RT)ᵀ/n for a lower
    triangular T with entries N(0, 1) below the diagonal and χ_{n−i} on it, i = 0 … d − 1, all independent. For n < d
    tokens are drawn. Words of 32 bits limit an exponential to 23 and a Gaussian to 6.764.

    Raises
    ------
    InputError
        If `count` or `n` is below 1, the key is not of 64 bits, the step is not below 2⁶³, or `roots` raises it.
    """
    at_least("count", count, 1)
    at_least("n", n, 1)
    counted(key, step)
    root, prior_root = roots(covariance, prior)
    d, device = len(root), str(covariance.device)
    half, normals, uniforms = _words_a_prompt(n, d)
    most = max(1, _CHUNK_ELEMENTS // (normals + uniforms))
    parts = []
    for start in range(0, count, most):
        samples = range(start, min(start + most, count))
        words = philox_tensors.words(key, range(step, step + 1), samples, normals + uniforms, device)[0]
        gaussian = philox_tensors.gaussians(words[:, :normals]).T
        T = _half(n, d, gaussian[:half], words[:, normals:]).to(covariance)
        T = (root @ T.reshape(d, -1)).view(d, -1, len(samples)) / math.sqrt(n)
        second_moment = T.new_zeros(d, d, len(samples))
        for column in T.unbind(dim=1):
            second_moment.addcmul_(column[:, None], column[None])
        free = (gaussian[half + i * d : half + (i + 1) * d].to(covariance) for i in range(2))
        parts.append(Prompts(second_moment, *(R @ z for R, z in zip((prior_root, root), free, strict=True))))
    return parts[0] if len(parts) == 1 else Prompts(*(torch.cat(part, dim=-1) for part in zip(*parts, strict=True)))


def _words_a_prompt(n: int, d: int) -> tuple[int, int, int]:
    """Return the number of Gaussians that `_half` uses, the even number drawn, and the number of further words."""
    if n < d:
        half, uniforms = n * d, 0
    else:
        half, uniforms = d * (d + 1) // 2, sum((n - i) // 2 for i in range(d))
    return half, half + 2 * d + half % 2, uniforms


def _half(
    n: int, d: int, gaussian: Float64[Tensor, "half N"], words: Int64[Tensor, "N uniforms"]
) -> Float64[Tensor, "{d} _ N"]:
    """Return T with TTᵀ ~ Wishart(I, n), (d, d, N), or (d, n, N) for n < d."""
    if n < d:
        return gaussian.reshape(d, n, -1)
    T = gaussian.new_zeros(d, d, gaussian.shape[1])
    below = torch.tril_indices(d, d, -1, device=gaussian.device)
    T[below[0], below[1]] = gaussian[d:]
    # A χ² with 2 degrees of freedom is twice an exponential; one with 1 degree is the square of a Gaussian.
    freedom = [n - i for i in range(d)]
    parts = zip(freedom, words.split([k // 2 for k in freedom], dim=1), gaussian[:d], strict=True)
    squares = [2 * philox_tensors.exponentials(part) + k % 2 * z.square() for k, part, z in parts]
    T.diagonal().copy_(torch.stack(squares, dim=-1).sqrt())
    return T


def applied(second_moment: Float[Tensor, "d d N"], vectors: Float[Tensor, "d N"]) -> Float[Tensor, "d N"]:
    """Return S v of each prompt, (d, N)."""
    return (second_moment * vectors).sum(dim=1)


def _last_error(
    A: Float[Tensor, "L d d"], B: Float[Tensor, "L d d"] | None, S: Float[Tensor, "d d N"], e: Float[Tensor, "d N"]
) -> Float[Tensor, "d N"]:
    """Return e_L of each prompt, (d, N), from e = w*."""
    if A.ndim != 3 or A.shape[1:] != S.shape[:2]:
        raise InputError("A", tuple(A.shape), f"must have the shape (L, {len(S)}, {len(S)})")
    if B is not None and B.shape != A.shape:
        raise InputError("B", tuple(B.shape), f"must have the shape of A, {tuple(A.shape)}")

    def moved(layer: int, v: Tensor) -> Tensor:
        """Return G_l v."""
        if B is None or layer == 0:
            return v
        g = moved(layer - 1, v)
        return g - B[layer - 1] @ moved(layer - 1, applied(S, moved_back(layer - 1, A[layer - 1] @ g)))

    def moved_back(layer: int, v: Tensor) -> Tensor:
        """Return G_lᵀ v."""
        if B is None or layer == 0:
            return v
        inner = moved(layer - 1, applied(S, moved_back(layer - 1, B[layer - 1].T @ v)))
        return moved_back(layer - 1, v - A[layer - 1].T @ inner)

    for layer, matrix in enumerate(A):
        e = e - moved_back(layer, matrix.T @ moved(layer, applied(S, e)))
    return e


def residuals(A: Float[Tensor, "L d d"], B: Float[Tensor, "L d d"] | None, prompts: Prompts) -> Float[Tensor, "N"]:
    """Return ⟨w*, x⟩ − TF(Z_0) = e_Lᵀ x of each prompt, (N,), differentiable in A and B; B is None under (8).

    Raises
    ------
    InputError
        If A does not fit the prompts, or B has another shape than A.
    """
    S, weights, x = prompts
    return (_last_error(A, B, S, weights) * x).sum(dim=0)


def mean_losses(
    A: Float[Tensor, "L d d"],
    B: Float[Tensor, "L d d"] | None,
    second_moment: Float[Tensor, "d d N"],
    root: Float[Tensor, "d d"],
) -> Float[Tensor, "N"]:
    """Return the mean of each prompt's loss over x ~ N(0, Σ) and w* ~ N(0, Σ^{-1}), (N,); Σ = root², root symmetric.

    e_L is linear in w*, e_L = M w*, so that E (e_Lᵀ x)² = |root M root^{-1}|² in the Frobenius norm.

    Raises
    ------
    InputError
        If A does not fit the second moments, or B has another shape than A.
    """
    count = second_moment.shape[2]
    columns = (column[:, None].expand(-1, count) for column in torch.linalg.inv(root).unbind(dim=1))
    return sum(
        ((root @ _last_error(A, B, second_moment, column)).square().sum(dim=0) for column in columns),
        start=second_moment.new_zeros(count),
    )


def losses(A: Float[Tensor, "L d d"], B: Float[Tensor, "L d d"] | None, prompts: Prompts) -> Float[Tensor, "N"]:
    """Return (TF(Z_0) − ⟨w*, x⟩)² of each prompt, (N,).

    Raises
    ------
    InputError
        If `residuals` raises it.
    """
    return residuals(A, B, prompts).square()
