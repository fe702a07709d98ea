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

Prompts are processed in blocks that fit into the cache; the prompt is the last index of an array. Sums are taken over
the blocks of a chunk, then over chunks.
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
_CHUNK = 16
"""Number of blocks that a thread takes at a time; it is fixed because the rounding of sums depends on it."""


@compiled
def _dots(
    d: int, u: Any, ui: int, us: int, v: Any, vi: int, vs: int, sign: float, add: bool, out: Any, oi: int
) -> None:
    """Write (with `add`: add) sign · Σ_k u_k v_k of each prompt; row k of u is at ui + k us, row k of v at vi + k vs.

    For d ≥ 5 the first five terms are written out; these are all terms for the paper's d = 5.
    """
    ui, us, vi, vs, oi = np.uintp(ui), np.uintp(us), np.uintp(vi), np.uintp(vs), np.uintp(oi)  # pyright: ignore[reportAssignmentType]
    k, P = 0, np.uintp(_BLOCK)
    if d >= 5:
        u1, u2, u3, u4 = ui + us, ui + us + us, ui + us + us + us, ui + us + us + us + us
        v1, v2, v3, v4 = vi + vs, vi + vs + vs, vi + vs + vs + vs, vi + vs + vs + vs + vs
        if add:
            for p in range(P):
                total = u[ui + p] * v[vi + p] + u[u1 + p] * v[v1 + p] + u[u2 + p] * v[v2 + p]
                out[oi + p] += sign * (total + u[u3 + p] * v[v3 + p] + u[u4 + p] * v[v4 + p])
        else:
            for p in range(P):
                total = u[ui + p] * v[vi + p] + u[u1 + p] * v[v1 + p] + u[u2 + p] * v[v2 + p]
                out[oi + p] = sign * (total + u[u3 + p] * v[v3 + p] + u[u4 + p] * v[v4 + p])
        k = 5
    elif not add:
        for p in range(P):
            out[oi + p] = 0
    for m in range(np.uintp(k), np.uintp(d)):
        um, vm = ui + m * us, vi + m * vs
        for p in range(P):
            out[oi + p] += sign * (u[um + p] * v[vm + p])


@compiled
def _mixed(
    d: int, a: Any, ai: int, step: int, v: Any, vi: int, vs: int, sign: float, add: bool, out: Any, oi: int
) -> None:
    """Write (with `add`: add) sign · Σ_k a_k v_k of each prompt; a_k, at ai + k step, is the same for all prompts."""
    vi, vs, oi = np.uintp(vi), np.uintp(vs), np.uintp(oi)  # pyright: ignore[reportAssignmentType]
    k, P = 0, np.uintp(_BLOCK)
    if d >= 5:
        a0, a1, a2 = sign * a[ai], sign * a[ai + step], sign * a[ai + 2 * step]
        a3, a4 = sign * a[ai + 3 * step], sign * a[ai + 4 * step]
        v1, v2, v3, v4 = vi + vs, vi + vs + vs, vi + vs + vs + vs, vi + vs + vs + vs + vs
        if add:
            for p in range(P):
                total = a0 * v[vi + p] + a1 * v[v1 + p] + a2 * v[v2 + p]
                out[oi + p] += total + a3 * v[v3 + p] + a4 * v[v4 + p]
        else:
            for p in range(P):
                total = a0 * v[vi + p] + a1 * v[v1 + p] + a2 * v[v2 + p]
                out[oi + p] = total + a3 * v[v3 + p] + a4 * v[v4 + p]
        k = 5
    elif not add:
        for p in range(P):
            out[oi + p] = 0
    for m in range(k, d):
        number, vm = sign * a[ai + m * step], vi + np.uintp(m) * vs
        for p in range(P):
            out[oi + p] += number * v[vm + p]


@compiled
def _sum(d: int, u: Any, ui: int, us: int, v: Any, vi: int, vs: int) -> float:
    """Return Σ_k u_k v_k summed over prompts."""
    ui, us, vi, vs = np.uintp(ui), np.uintp(us), np.uintp(vi), np.uintp(vs)  # pyright: ignore[reportAssignmentType]
    total, k, P = 0.0, 0, np.uintp(_BLOCK)
    if d >= 5:
        u1, u2, u3, u4 = ui + us, ui + us + us, ui + us + us + us, ui + us + us + us + us
        v1, v2, v3, v4 = vi + vs, vi + vs + vs, vi + vs + vs + vs, vi + vs + vs + vs + vs
        for p in range(P):
            some = u[ui + p] * v[vi + p] + u[u1 + p] * v[v1 + p] + u[u2 + p] * v[v2 + p]
            total += some + u[u3 + p] * v[v3 + p] + u[u4 + p] * v[v4 + p]
        k = 5
    for m in range(np.uintp(k), np.uintp(d)):
        um, vm = ui + m * us, vi + m * vs
        for p in range(P):
            total += u[um + p] * v[vm + p]
    return total


@compiled
def _step(d: int, A: Any, B: Any, a: int, S: Any, s: int, C: Any, M: Any) -> None:
    """Write C = S A and M = I − B C of a layer, whose A and B begin at `a` and whose prompts' matrices begin at `s`."""
    P = _BLOCK
    D = d * P
    for i in range(d):
        for j in range(d):
            # S is symmetric: its row i is its column i.
            _mixed(d, A, a + j, d, S, s + i * D, P, 1.0, False, C, s + i * D + j * P)
    for i in range(d):
        for j in range(d):
            _mixed(d, B, a + i * d, 1, C, s + j * P, D, -1.0, False, M, s + i * D + j * P)
        M[s + i * D + i * P : s + i * D + (i + 1) * P] += 1


@compiled
def _move(d: int, M: Any, s: int, S: Any, T: Any) -> None:
    """Write T = M S and the next layer's S = T Mᵀ."""
    P = _BLOCK
    D, Q = d * P, d * d * P
    for i in range(d):
        for j in range(d):
            _dots(d, M, s + i * D, P, S, s + j * D, P, 1.0, False, T, s + i * D + j * P)
    for i in range(d):
        for j in range(i + 1):
            there, mirror = s + Q + i * D + j * P, s + Q + j * D + i * P
            _dots(d, T, s + i * D, P, M, s + j * D, P, 1.0, False, S, there)
            if i != j:
                S[mirror : mirror + P] = S[there : there + P]


@compiled
def _forward(
    L: int, d: int, moving: bool, A: Any, B: Any, w: Any, S: Any, h: Any, x: Any, g: Any, k: Any, C: Any, M: Any,
    T: Any, r: Any,
) -> None:  # fmt: skip
    """Write the arrays that `_backward` reads, and r = e_Lᵀ x; S and x begin with the prompts' S_0 and x_0."""
    P = _BLOCK
    D, Q = d * P, d * d * P
    for i in range(d):
        _dots(d, S, i * D, P, w, 0, P, 1.0, False, h, i * P)
    _dots(d, w, 0, P, x, 0, P, 1.0, False, r, 0)
    for l in range(L):  # noqa: E741
        s, n, a = (l * Q if moving else 0), (l * D if moving else 0), l * d * d
        v = l * D
        for i in range(d):
            _mixed(d, A, a + i, d, h, v, P, 1.0, False, g, v + i * P)
        _dots(d, g, v, P, x, n, P, -1.0, True, r, 0)
        if l == L - 1:
            break
        k[v : v + D] = h[v : v + D]
        for i in range(d):
            _dots(d, S, s + i * D, P, g, v, P, -1.0, True, k, v + i * P)
        if not moving:
            h[v + D : v + 2 * D] = k[v : v + D]
            continue
        _step(d, A, B, a, S, s, C, M)
        for i in range(d):
            _dots(d, M, s + i * D, P, x, v, P, 1.0, False, x, v + D + i * P)
            _dots(d, M, s + i * D, P, k, v, P, 1.0, False, h, v + D + i * P)
        if l < L - 2:
            _move(d, M, s, S, T)


@compiled
def _slopes_in_step(
    d: int, on: bool, x: Any, k: Any, v: int, T: Any, s: int, bar_S: Any, bar_x: Any, bar_h: Any, twice: Any,
    bar_M: Any,
) -> None:  # fmt: skip
    """Write M̄; if `on`, the loss depends on the next layer's S, and `twice` = S̄ + S̄ᵀ of that S is written too."""
    P = _BLOCK
    D = d * P
    if on:
        for i in range(d):
            for j in range(d):
                for p in range(P):
                    twice[i * D + j * P + p] = bar_S[i * D + j * P + p] + bar_S[j * D + i * P + p]
    for i in range(d):
        for j in range(d):
            e = i * D + j * P
            for p in range(P):
                bar_M[e + p] = bar_x[i * P + p] * x[v + j * P + p] + bar_h[i * P + p] * k[v + j * P + p]
            if on:
                _dots(d, twice, i * D, P, T, s + j * P, D, 1.0, True, bar_M, e)


@compiled
def _slopes_in_product(
    d: int, B: Any, a: int, S: Any, s: int, C: Any, bar_M: Any, bar_C: Any, slopes_A: Any, slopes_B: Any
) -> None:  # fmt: skip
    """Write C̄, add B̄ to `slopes_B`, and add the term S C̄ of Ā to `slopes_A`."""
    P = _BLOCK
    D = d * P
    for i in range(d):
        for j in range(d):
            slopes_B[a + i * d + j] -= _sum(d, bar_M, i * D, P, C, s + j * D, P)
            _mixed(d, B, a + i, d, bar_M, j * P, D, -1.0, False, bar_C, i * D + j * P)
    for i in range(d):
        for j in range(d):
            slopes_A[a + i * d + j] += _sum(d, S, s + i * D, P, bar_C, j * P, D)


@compiled
def _slopes_in_moment(
    d: int, on: bool, A: Any, a: int, g: Any, v: int, M: Any, s: int, bar_C: Any, bar_k: Any, twice: Any, memory: Any,
    bar_S: Any,
) -> None:  # fmt: skip
    """Write S̄ from C̄, k̄ and, if `on`, from `twice` = S̄ + S̄ᵀ of the next layer."""
    P = _BLOCK
    D = d * P
    if on:
        # (S̄ + S̄ᵀ)/2 may replace S̄, because S is symmetric.
        for i in range(d):
            for j in range(d):
                _dots(d, twice, i * D, P, M, s + j * P, D, 0.5, False, memory, i * D + j * P)
        for i in range(d):
            for j in range(d):
                _dots(d, M, s + i * P, D, memory, j * P, D, 1.0, False, bar_S, i * D + j * P)
    else:
        bar_S[:] = 0
    for i in range(d):
        for j in range(d):
            e = i * D + j * P
            _mixed(d, A, a + j * d, 1, bar_C, i * D, P, 1.0, True, bar_S, e)
            for p in range(P):
                bar_S[e + p] -= bar_k[i * P + p] * g[v + j * P + p]


@compiled
def _slopes_in_g(
    d: int, on: bool, S: Any, s: int, x: Any, n: int, h: Any, v: int, r: Any, a: int, bar_k: Any, bar_g: Any,
    slopes_A: Any,
) -> None:  # fmt: skip
    """Write ḡ, with its term −S k̄ if `on`, and add the term h ḡᵀ of Ā to `slopes_A`."""
    P = _BLOCK
    D = d * P
    if on:
        for i in range(d):
            _dots(d, S, s + i * D, P, bar_k, 0, P, -1.0, False, bar_g, i * P)
    for p in range(D):
        bar_g[p] -= r[p % P] * x[n + p]
    for i in range(d):
        for j in range(d):
            slopes_A[a + i * d + j] += _sum(1, h, v + i * P, P, bar_g, j * P, P)


@compiled
def _backward(
    L: int, d: int, moving: bool, A: Any, B: Any, S: Any, h: Any, x: Any, g: Any, k: Any, C: Any, M: Any, T: Any,
    r: Any, bar_S: Any, bar_M: Any, bar_C: Any, twice: Any, bar_h: Any, bar_x: Any, bar_g: Any, bar_k: Any,
    slopes_A: Any, slopes_B: Any,
) -> None:  # fmt: skip
    """Add a block's derivatives to `slopes_A` and `slopes_B`; `r` holds the derivative of the loss in e_Lᵀ x."""
    P = _BLOCK
    D, Q = d * P, d * d * P
    bar_k[:] = 0
    bar_g[:] = 0
    bar_x[:] = 0
    for l in range(L - 1, -1, -1):  # noqa: E741
        s, n, a = (l * Q if moving else 0), (l * D if moving else 0), l * d * d
        v = l * D
        if l < L - 1 and not moving:
            bar_k[:] = bar_h
        elif l < L - 1:
            _slopes_in_step(d, l < L - 2, x, k, v, T, s, bar_S, bar_x, bar_h, twice, bar_M)
            for i in range(d):
                _dots(d, M, s + i * P, D, bar_h, 0, P, 1.0, False, bar_k, i * P)
            _slopes_in_product(d, B, a, S, s, C, bar_M, bar_C, slopes_A, slopes_B)
            if l:
                bar_g[:] = bar_x
                for i in range(d):
                    _dots(d, M, s + i * P, D, bar_g, 0, P, 1.0, False, bar_x, i * P)
                _slopes_in_moment(d, l < L - 2, A, a, g, v, M, s, bar_C, bar_k, twice, bar_M, bar_S)
        _slopes_in_g(d, l < L - 1, S, s, x, n, h, v, r, a, bar_k, bar_g, slopes_A)
        if l:
            for i in range(d):
                bar_h[i * P : (i + 1) * P] = bar_k[i * P : (i + 1) * P]
                _mixed(d, A, a + i * d, 1, bar_g, 0, P, 1.0, True, bar_h, i * P)
            for p in range(D):
                bar_x[p] -= r[p % P] * g[v + p]


@compiled
def gradients(
    A: Any, B: Any, moving: bool, second_moment: Any, weights: Any, query: Any, first: int, last: int,
    slopes_A: Any, slopes_B: Any,
) -> float:  # fmt: skip
    """Return the sum of the losses of prompts `first` to `last` − 1, and add its derivatives to the slopes.

    B is used only if `moving`. A, B and the slopes are flat, with L d d entries. The arrays of a block are flat too,
    ordered by layer, row, column and prompt.
    """
    d = len(query)
    L = len(A) // (d * d)
    D, Q, count = d * _BLOCK, d * d * _BLOCK, (L if moving else 1)
    dtype = query.dtype
    w, r = np.zeros(D, dtype), np.zeros(_BLOCK, dtype)
    S, x = np.zeros(count * Q, dtype), np.zeros(count * D, dtype)
    C, M, T = np.empty(count * Q, dtype), np.empty(count * Q, dtype), np.empty(count * Q, dtype)
    h, g, k = np.empty(L * D, dtype), np.empty(L * D, dtype), np.empty(L * D, dtype)
    bar_S, bar_M, bar_C, twice = np.empty(Q, dtype), np.empty(Q, dtype), np.empty(Q, dtype), np.empty(Q, dtype)
    bar_h, bar_x, bar_g, bar_k = np.empty(D, dtype), np.empty(D, dtype), np.empty(D, dtype), np.empty(D, dtype)
    loss = 0.0
    for start in range(first, last, _BLOCK):
        m = min(_BLOCK, last - start)
        if m < _BLOCK:
            # The block is filled up with prompts of zeros, whose loss is 0.
            S[:] = 0
            w[:] = 0
            x[:] = 0
        for i in range(d):
            w[i * _BLOCK : i * _BLOCK + m] = weights[i, start : start + m]
            x[i * _BLOCK : i * _BLOCK + m] = query[i, start : start + m]
            for j in range(d):
                e = (i * d + j) * _BLOCK
                S[e : e + m] = second_moment[i, j, start : start + m]
        _forward(L, d, moving, A, B, w, S, h, x, g, k, C, M, T, r)
        for p in range(_BLOCK):
            loss += r[p] * r[p]
            r[p] += r[p]
        _backward(
            L, d, moving, A, B, S, h, x, g, k, C, M, T, r, bar_S, bar_M, bar_C, twice, bar_h, bar_x, bar_g, bar_k,
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
    numbers = [each.detach().contiguous().view(-1).numpy() for each in (A, A if B is None else B)]
    numbers += [each.detach().contiguous().numpy() for each in (S, weights, query)]
    size = _CHUNK * _BLOCK
    chunks = -(-N // size)
    losses, slopes = np.zeros(chunks), np.zeros((chunks, 2, A.numel()))

    def work(chunk: int) -> None:
        ends = chunk * size, min(N, (chunk + 1) * size)
        losses[chunk] = gradients(*numbers[:2], B is not None, *numbers[2:], *ends, *slopes[chunk])

    on_all_cores(chunks, work)
    mean_slopes = torch.from_numpy(slopes.sum(axis=0) / N).view(2, *A.shape)
    return torch.tensor(losses.sum() / N, dtype=query.dtype), list(mean_slopes.to(query.dtype)[: 1 if B is None else 2])
