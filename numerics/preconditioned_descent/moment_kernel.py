r"""Loss and gradient of the model of `reduced`, with hand-written derivatives, on the CPU, for any number of layers.

In the notation of `reduced`, layer l acts on a prompt through the d×d matrix S_l = X_l X_lᵀ/n, the vector
h_l = X_l Y_lᵀ/n and the query x_l. With S_0 = S, h_0 = S w*, x_0 = x, g_l = A_lᵀ h_l and M_l = I − B_l S_l A_l (which
is I under pattern (8)),

    h_{l+1} = M_l k_l,  k_l = h_l − S_l g_l,    x_{l+1} = M_l x_l,    S_{l+1} = M_l S_l M_lᵀ,
    e_Lᵀ x = ⟨w*, x⟩ − Σ_l g_lᵀ x_l,

so that the work grows like L; under (11) the work of `reduced` grows like 3^L. In the backward pass a bar denotes
the derivative of the loss in a variable, with r = e_Lᵀ x and C_l = S_l A_l:

    M̄_l = x̄_{l+1} x_lᵀ + h̄_{l+1} k_lᵀ + (S̄_{l+1} + S̄_{l+1}ᵀ) M_l S_l,    k̄_l = M_lᵀ h̄_{l+1},    C̄_l = −B_lᵀ M̄_l,
    ḡ_l = −S_l k̄_l − r̄ x_l,    h̄_l = k̄_l + A_l ḡ_l,    x̄_l = M_lᵀ x̄_{l+1} − r̄ g_l,
    S̄_l = M_lᵀ S̄_{l+1} M_l + C̄_l A_lᵀ − k̄_l g_lᵀ,    Ā_l = h_l ḡ_lᵀ + S_l C̄_l,    B̄_l = −M̄_l (S_l A_l)ᵀ.

Prompts are processed in blocks that fit into the cache. The arrays of a block are flat. They consist of rows, and a row
has one number for each prompt of the block: a vector has d rows, a matrix d² rows in row-major order, and those of
layer 0 come first. A product of a matrix and a vector reads rows that follow one another, so the arrays CT, MT and TT
hold the transposes of C_l, M_l and T_l = M_l S_l. A row of the symmetric S_l is read as its column; for l > 0 the two
agree up to rounding. Sums are taken over the blocks of a chunk, then over chunks.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from numerics.compiled import compiled
from numerics.preconditioned_descent.reduced import Prompts
from verify import InputError
from verify.cores import on_all_cores

_BLOCK = 64
"""Number of prompts in a block, whose matrices fit into the cache."""
_UNROLLED = 5
"""Dimension for which the compiler unrolls the loops over rows and columns: the dimension of the paper's figures."""
_CHUNK = 16
"""Number of blocks that a thread takes at a time; it is fixed because the rounding of sums depends on it."""


@compiled
def _fill(number: float, out: Any, oi: int, count: int) -> None:
    """Write a number into `count` rows of `out` from row oi on."""
    for p in range(np.uintp(oi * _BLOCK), np.uintp((oi + count) * _BLOCK)):
        out[p] = number


@compiled
def _copy(v: Any, vi: int, out: Any, oi: int, count: int) -> None:
    """Copy `count` rows of v from row vi on into `out` from row oi on."""
    one, there = np.uintp(vi * _BLOCK), np.uintp(oi * _BLOCK)
    for p in range(np.uintp(count * _BLOCK)):
        out[there + p] = v[one + p]


@compiled
def _transpose(d: int, v: Any, vi: int, out: Any, oi: int) -> None:
    """Write the transpose of the matrix that begins at row vi of v."""
    for i in range(d):
        for j in range(d):
            _copy(v, vi + j * d + i, out, oi + i * d + j, 1)


@compiled
def _add_products(wide: Any, d: int, M: Any, m: int, v: Any, vi: int, sign: float, out: Any, oi: int) -> None:
    """Add sign · M v of each prompt to `out`; the length of `wide` is d or 1, here and below."""
    n, P, rows, factor = np.uintp(len(wide)), np.uintp(_BLOCK), np.uintp(d), out.dtype.type(sign)
    for i in range(np.uintp(0), rows, n):
        for k in range(np.uintp(0), rows, n):
            at, one, there = (np.uintp(m) + i * rows + k) * P, (np.uintp(vi) + k) * P, (np.uintp(oi) + i) * P
            for p in range(P):
                for a in range(n):
                    total = M[at + a * n * P + p] * v[one + p]
                    for b in range(np.uintp(1), n):
                        total += M[at + (a * n + b) * P + p] * v[one + b * P + p]
                    out[there + a * P + p] += factor * total


@compiled
def _add_mixtures(wide: Any, d: int, N: Any, m: int, v: Any, vi: int, sign: float, out: Any, oi: int) -> None:
    """Add sign · N v of each prompt to `out`; the matrix N, which begins at entry m, is the same for all prompts."""
    n, P, rows, factor = np.uintp(len(wide)), np.uintp(_BLOCK), np.uintp(d), out.dtype.type(sign)
    for i in range(np.uintp(0), rows, n):
        for k in range(np.uintp(0), rows, n):
            at, one, there = np.uintp(m) + i * rows + k, (np.uintp(vi) + k) * P, (np.uintp(oi) + i) * P
            for p in range(P):
                for a in range(n):
                    total = N[at + a * n] * v[one + p]
                    for b in range(np.uintp(1), n):
                        total += N[at + a * n + b] * v[one + b * P + p]
                    out[there + a * P + p] += factor * total


@compiled
def _add_outer(wide: Any, d: int, u: Any, ui: int, v: Any, vi: int, sign: float, sums: Any, m: int) -> None:
    """Add sign · u vᵀ, summed over the prompts, to the matrix that begins at entry m of `sums`."""
    n, P, rows = np.uintp(len(wide)), np.uintp(_BLOCK), np.uintp(d)
    for i in range(rows):
        for j in range(np.uintp(0), rows, n):
            one, other, entry = (np.uintp(ui) + i) * P, (np.uintp(vi) + j) * P, np.uintp(m) + i * rows + j
            for b in range(n):
                total = 0.0
                for p in range(P):
                    total += u[one + p] * v[other + b * P + p]
                sums[entry + b] += sign * total


@compiled
def _add_dots(d: int, u: Any, ui: int, v: Any, vi: int, sign: float, out: Any) -> None:
    """Add sign · ⟨u, v⟩ of each prompt to the row `out`."""
    P, factor = np.uintp(_BLOCK), out.dtype.type(sign)
    for i in range(np.uintp(d)):
        one, other = (np.uintp(ui) + i) * P, (np.uintp(vi) + i) * P
        for p in range(P):
            out[p] += factor * (u[one + p] * v[other + p])


@compiled
def _add_scaled(d: int, u: Any, ui: int, v: Any, vi: int, sign: float, out: Any, oi: int) -> None:
    """Add sign · u v of each prompt to d rows of `out`; u is one row, v has d."""
    first, P, factor = np.uintp(ui * _BLOCK), np.uintp(_BLOCK), out.dtype.type(sign)
    for i in range(np.uintp(d)):
        one, there = (np.uintp(vi) + i) * P, (np.uintp(oi) + i) * P
        for p in range(P):
            out[there + p] += factor * (u[first + p] * v[one + p])


@compiled
def _forward(
    wide: Any, L: int, d: int, moving: bool, AT: Any, B: Any, w: Any, S: Any, h: Any, x: Any, g: Any, k: Any,
    CT: Any, MT: Any, TT: Any, C: Any, M: Any, T: Any, r: Any,
) -> None:  # fmt: skip
    """Write S_l, the vectors, the transposes of C_l, M_l and T_l = M_l S_l of all layers, and r = e_Lᵀ x."""
    Q = d * d
    _fill(0.0, h, 0, d)
    _add_products(wide, d, S, 0, w, 0, 1.0, h, 0)
    _fill(0.0, r, 0, 1)
    _add_dots(d, w, 0, x, 0, 1.0, r)
    for l in range(L):  # noqa: E741
        s, v, n = (l * Q, l * d, l * d) if moving else (0, l * d, 0)
        _fill(0.0, g, v, d)
        _add_mixtures(wide, d, AT, l * Q, h, v, 1.0, g, v)
        _add_dots(d, g, v, x, n, -1.0, r)
        if l == L - 1:
            break
        _copy(h, v, k, v, d)
        _add_products(wide, d, S, s, g, v, -1.0, k, v)
        if not moving:
            _copy(k, v, h, v + d, d)
            continue
        _fill(0.0, C, 0, Q)
        for i in range(0, Q, d):
            _add_mixtures(wide, d, AT, s, S, s + i, 1.0, C, i)
        _transpose(d, C, 0, CT, s)
        _fill(0.0, MT, s, Q)
        for i in range(d):
            _fill(1.0, MT, s + i * d + i, 1)
            _add_mixtures(wide, d, B, s, CT, s + i * d, -1.0, MT, s + i * d)
        _transpose(d, MT, s, M, 0)
        _fill(0.0, x, v + d, d)
        _add_products(wide, d, M, 0, x, v, 1.0, x, v + d)
        _fill(0.0, h, v + d, d)
        _add_products(wide, d, M, 0, k, v, 1.0, h, v + d)
        if l < L - 2:
            _fill(0.0, T, 0, Q)
            _fill(0.0, S, s + Q, Q)
            for i in range(0, Q, d):
                _add_products(wide, d, S, s, M, i, 1.0, T, i)
                _add_products(wide, d, M, 0, T, i, 1.0, S, s + Q + i)
            _transpose(d, T, 0, TT, s)


@compiled
def _backward_in_moment(
    wide: Any, d: int, on: bool, A: Any, s: int, g: Any, v: int, MT: Any, bar_C: Any, bar_k: Any, memory: Any,
    turned: Any, bar_S: Any, twice: Any,
) -> None:  # fmt: skip
    """Write S̄_l + S̄_lᵀ in `twice`; if `on`, it holds the sum for layer l + 1 at the start."""
    _fill(0.0, bar_S, 0, d * d)
    if on:
        # S is symmetric, so (S̄ + S̄ᵀ)/2 of layer l + 1 may replace S̄.
        _fill(0.0, memory, 0, d * d)
        for i in range(0, d * d, d):
            _add_products(wide, d, MT, s, twice, i, 0.5, memory, i)
        _transpose(d, memory, 0, turned, 0)
        for i in range(0, d * d, d):
            _add_products(wide, d, MT, s, turned, i, 1.0, bar_S, i)
    for i in range(d):
        _add_mixtures(wide, d, A, s, bar_C, i * d, 1.0, bar_S, i * d)
        _add_scaled(d, bar_k, i, g, v, -1.0, bar_S, i * d)
    _transpose(d, bar_S, 0, twice, 0)
    for p in range(len(twice)):
        twice[p] += bar_S[p]


@compiled
def _backward_through_step(
    wide: Any, d: int, on: bool, A: Any, BT: Any, l: int, S: Any, x: Any, g: Any, k: Any, CT: Any, MT: Any, TT: Any,  # noqa: E741
    twice: Any, bar_S: Any, bar_M: Any, bar_C: Any, turned: Any, bar_h: Any, bar_x: Any, bar_k: Any, slopes_A: Any,
    slopes_B: Any,
) -> None:  # fmt: skip
    """Write k̄_l, M_lᵀ x̄_{l+1} in place of x̄_{l+1} and, for l > 0, S̄_l + S̄_lᵀ in `twice`; add B̄_l and S_l C̄_l.

    S_l C̄_l is a term of Ā_l. If the loss depends on S_{l+1}, which `on` says, `twice` holds S̄_{l+1} + S̄_{l+1}ᵀ at the
    start. `bar_h` is used as memory.
    """
    Q = d * d
    s, v = l * Q, l * d
    _fill(0.0, bar_M, 0, Q)
    for i in range(d):
        _add_scaled(d, bar_x, i, x, v, 1.0, bar_M, i * d)
        _add_scaled(d, bar_h, i, k, v, 1.0, bar_M, i * d)
        if on:
            _add_products(wide, d, TT, s, twice, i * d, 1.0, bar_M, i * d)
    _fill(0.0, bar_k, 0, d)
    _add_products(wide, d, MT, s, bar_h, 0, 1.0, bar_k, 0)
    _copy(bar_x, 0, bar_h, 0, d)
    _fill(0.0, bar_x, 0, d)
    _add_products(wide, d, MT, s, bar_h, 0, 1.0, bar_x, 0)
    _transpose(d, bar_M, 0, turned, 0)
    _fill(0.0, bar_M, 0, Q)
    for i in range(0, Q, d):
        _add_outer(wide, d, turned, i, CT, s + i, -1.0, slopes_B, s)
        _add_mixtures(wide, d, BT, s, turned, i, -1.0, bar_M, i)
    _transpose(d, bar_M, 0, bar_C, 0)
    for i in range(0, Q, d):
        _add_outer(wide, d, S, s + i, bar_C, i, 1.0, slopes_A, s)
    if l:
        _backward_in_moment(wide, d, on, A, s, g, v, MT, bar_C, bar_k, bar_M, turned, bar_S, twice)


@compiled
def _backward(
    wide: Any, L: int, d: int, moving: bool, A: Any, BT: Any, S: Any, h: Any, x: Any, g: Any, k: Any, CT: Any, MT: Any,
    TT: Any, r: Any, twice: Any, bar_S: Any, bar_M: Any, bar_C: Any, turned: Any, bar_h: Any, bar_x: Any, bar_g: Any,
    bar_k: Any, slopes_A: Any, slopes_B: Any,
) -> None:  # fmt: skip
    """Add a block's derivatives to `slopes_A` and `slopes_B`; `r` holds the derivative of the loss in e_Lᵀ x."""
    _fill(0.0, bar_x, 0, d)
    _fill(0.0, bar_h, 0, d)
    for l in range(L - 1, -1, -1):  # noqa: E741
        s, v, n = (l * d * d, l * d, l * d) if moving else (0, l * d, 0)
        if moving and l < L - 1:
            _backward_through_step(
                wide, d, l < L - 2, A, BT, l, S, x, g, k, CT, MT, TT, twice, bar_S, bar_M, bar_C, turned, bar_h, bar_x,
                bar_k, slopes_A, slopes_B,
            )  # fmt: skip
        else:
            _copy(bar_h, 0, bar_k, 0, d)
        _fill(0.0, bar_g, 0, d)
        _add_scaled(d, r, 0, x, n, -1.0, bar_g, 0)
        if l < L - 1:
            _add_products(wide, d, S, s, bar_k, 0, -1.0, bar_g, 0)
        _add_outer(wide, d, h, v, bar_g, 0, 1.0, slopes_A, l * d * d)
        _copy(bar_k, 0, bar_h, 0, d)
        _add_mixtures(wide, d, A, l * d * d, bar_g, 0, 1.0, bar_h, 0)
        _add_scaled(d, r, 0, g, v, -1.0, bar_x, 0)


@compiled
def gradients(
    wide: Any, A: Any, B: Any, moving: bool, second_moment: Any, weights: Any, query: Any, first: int, last: int,
    slopes_A: Any, slopes_B: Any,
) -> float:  # fmt: skip
    """Return the sum of the losses of prompts `first` to `last` − 1, and add its derivatives to the slopes.

    B is used only if `moving`. A and B have the shape (L, d, d); the slopes are flat. The tuple `wide` has d entries or
    one. Its length belongs to its type, so the compiler unrolls the loops over that many rows and columns.
    """
    L, d, _ = A.shape
    D, Q, count = d * _BLOCK, d * d * _BLOCK, (L if moving else 1)
    dtype = query.dtype
    AT, BT = np.empty_like(A), np.empty_like(B)
    for l in range(L):  # noqa: E741
        AT[l], BT[l] = A[l].T, B[l].T
    A, B, AT, BT = A.reshape(-1), B.reshape(-1), AT.reshape(-1), BT.reshape(-1)
    w, r = np.zeros(D, dtype), np.zeros(_BLOCK, dtype)
    S, x = np.zeros(count * Q, dtype), np.zeros(count * D, dtype)
    CT, MT, TT = np.empty(count * Q, dtype), np.empty(count * Q, dtype), np.empty(count * Q, dtype)
    C, M, T = np.empty(Q, dtype), np.empty(Q, dtype), np.empty(Q, dtype)
    h, g, k = np.empty(L * D, dtype), np.empty(L * D, dtype), np.empty(L * D, dtype)
    bar_h, bar_x, bar_g, bar_k = np.empty(D, dtype), np.empty(D, dtype), np.empty(D, dtype), np.empty(D, dtype)
    twice, bar_S = np.empty(Q, dtype), np.empty(Q, dtype)
    loss = 0.0
    for start in range(first, last, _BLOCK):
        m = min(_BLOCK, last - start)
        if m < _BLOCK:
            # The block is filled up with prompts of zeros, whose loss is 0.
            S[:] = 0
            w[:] = 0
            x[:] = 0
        for i in range(d):
            for p in range(m):
                w[i * _BLOCK + p], x[i * _BLOCK + p] = weights[i, start + p], query[i, start + p]
            for j in range(d):
                for p in range(m):
                    S[(i * d + j) * _BLOCK + p] = second_moment[i, j, start + p]
        _forward(wide, L, d, moving, AT, B, w, S, h, x, g, k, CT, MT, TT, C, M, T, r)
        for p in range(_BLOCK):
            loss += r[p] * r[p]
            r[p] += r[p]
        _backward(
            wide, L, d, moving, A, BT, S, h, x, g, k, CT, MT, TT, r, twice, bar_S, M, C, T, bar_h, bar_x, bar_g, bar_k,
            slopes_A, slopes_B,
        )  # fmt: skip
    return loss


def mean_gradient(
    A: Float[Tensor, "L d d"], B: Float[Tensor, "L d d"] | None, prompts: Prompts
) -> tuple[Float[Tensor, ""], list[Float[Tensor, "L d d"]]]:
    """Return the mean of the losses of prompts (), and its gradients in A and, if given, in B.

    The second moments are taken to be symmetric, without a check. If the inputs are float32, each prompt is computed in
    float32; sums over prompts are float64.

    Raises
    ------
    InputError
        If A, B and the prompts do not fit together, are empty, or are not of one dtype on the CPU.
    """
    S, weights, query = prompts
    for name, given, count in (("A", A, 3), ("query", query, 2)):
        if given.ndim != count or not given.numel():
            raise InputError(name, tuple(given.shape), f"must have {count} dimensions, and none of them 0")
    d, N = query.shape
    shapes = {"A": (A, (len(A), d, d)), "second_moment": (S, (d, d, N)), "weights": (weights, (d, N))}
    shapes |= {"query": (query, (d, N))} | ({} if B is None else {"B": (B, A.shape)})
    for name, (given, shape) in shapes.items():
        alike = given.dtype == A.dtype and A.dtype in (torch.float64, torch.float32) and given.device.type == "cpu"
        if given.shape != torch.Size(shape) or not alike:
            received = tuple(given.shape), given.dtype, given.device.type
            requirement = f"must be of shape {tuple(shape)} and torch.float64, or all torch.float32, on the CPU"
            raise InputError(name, received, requirement)
    numbers = [each.detach().contiguous().numpy() for each in (A, A if B is None else B)]
    numbers += [each.detach().contiguous().numpy() for each in (S, weights, query)]
    wide = (0,) * (d if d == _UNROLLED else 1)
    size = _CHUNK * _BLOCK
    chunks = -(-N // size)
    losses, slopes = np.zeros(chunks), np.zeros((chunks, 2, A.numel()))

    def work(chunk: int) -> None:
        ends = chunk * size, min(N, (chunk + 1) * size)
        losses[chunk] = gradients(wide, *numbers[:2], B is not None, *numbers[2:], *ends, *slopes[chunk])

    on_all_cores(chunks, work)
    mean_slopes = torch.from_numpy(slopes.sum(axis=0) / N).view(2, *A.shape)
    return torch.tensor(losses.sum() / N, dtype=query.dtype), list(mean_slopes.to(query.dtype)[: 1 if B is None else 2])
