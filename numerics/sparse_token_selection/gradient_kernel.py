"""Loss and gradient of a batch on the CPU, drawn sample by sample, so that a sample's encodings stay in the cache.

The tests compare the loss and the gradient with those of `trainer.batch_gradient` on the batch of `Batches.drawn`. The
rows of Z are a sample's tokens z_t, and the query z = (0; u) if it is attended to; u is the sum of the selected
encodings. With p the softmax of the logits Z W z,

    r = V Zᵀp − target,    s = Z Vᵀr,    l = p ∘ (s − pᵀs),    dL/dV = r (Zᵀp)ᵀ,    dL/dW = (Zᵀl) zᵀ.

A step's gradient depends only on the key, the step's number and the matrices, not on earlier draws or threads.
"""

from typing import Any, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from numerics.compiled import compiled
from numerics.settings import counted
from numerics.sparse_token_selection.batches import SIDE, Batches, block_count, draw, fitting, plane_words, squares
from numerics.sparse_token_selection.reference import Attend, Gradient
from verify import InputError
from verify.cores import on_all_cores

_CHUNK = 32
"""Number of samples in a chunk, whose gradients are summed first; it is fixed because the rounding depends on it."""
_WORTH_A_THREAD = 2**20
"""Minimum number of entries of encodings in a batch for which several threads are started."""


@compiled
def _product(rows: Any, vector: Any) -> Any:
    """Return the products of rows and a vector; two rows at a time, so that the vector is loaded half as often."""
    out, last = np.empty(len(rows), vector.dtype), len(rows) - 1
    for i in range(0, len(rows), 2):
        k = min(i + 1, last)
        one, two, first, second = rows[i], rows[k], vector.dtype.type(0), vector.dtype.type(0)
        for j in range(len(vector)):
            first += one[j] * vector[j]
            second += two[j] * vector[j]
        out[i], out[k] = first, second
    return out


@compiled
def _combination(weights: Any, rows: Any) -> Any:
    """Return the weighted sum of the rows; four rows at a time, so that the sum is loaded a quarter as often."""
    out, fours = np.zeros(rows.shape[1], rows.dtype), len(rows) // 4 * 4
    for i in range(0, fours, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        of_a, of_b, of_c, of_d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(len(out)):
            out[j] += of_a * a[j] + of_b * b[j] + of_c * c[j] + of_d * d[j]
    for i in range(fours, len(rows)):
        row, weight = rows[i], weights[i]
        for j in range(len(out)):
            out[j] += weight * row[j]
    return out


@compiled
def _add_outer(a: Any, b: Any, out: Any) -> None:
    """Add a bᵀ to `out`."""
    for i in range(len(a)):
        row, number = out[i], a[i]
        for j in range(len(b)):
            row[j] += number * b[j]


@compiled
def _write_signs(octets: Any, plane: int, signs: Any, d: int, Z: Any) -> None:
    """Write the encodings into all rows of Z but the last, from entry `d` on; `octets` are the bytes of the planes."""
    d_e = Z.shape[1] - d
    for t in range(len(Z) - 1):
        row, first = Z[t], 2 * (t % SIDE * plane + t // SIDE * squares(d_e))
        for k in range(d_e // 8):
            eight, known = row[d + 8 * k : d + 8 * k + 8], signs[octets[first + k]]
            # All eight are read first, so that the compiler need not suppose that a write changes what is read next.
            k0, k1, k2, k3 = known[0], known[1], known[2], known[3]
            k4, k5, k6, k7 = known[4], known[5], known[6], known[7]
            eight[0], eight[1], eight[2], eight[3] = k0, k1, k2, k3
            eight[4], eight[5], eight[6], eight[7] = k4, k5, k6, k7
        for j in range(d_e // 8 * 8, d_e):
            row[d + j] = signs[octets[first + j // 8], j % 8]


@compiled
def _sample(Z: Any, members: Any, attended: int, W: Any, V: Any, slopes_W: Any, slopes_V: Any) -> Any:
    """Add a sample's gradients to the slopes, and return its loss; the last row of Z is memory for the query."""
    d, query, seen = len(V), Z[-1], Z[:attended]
    query[:] = 0
    target = np.zeros(d, Z.dtype)
    for t in members:
        query[d:] += Z[t, d:]
        target += Z[t, :d]
    p = _product(seen, _product(W, query))
    p = np.exp(p - p.max())
    p /= p.sum()
    mean = _combination(p, seen)
    r = _product(V, mean) - target / Z.dtype.type(len(members))
    s = _product(seen, _combination(r, V))
    _add_outer(_combination(p * (s - (p * s).sum()), seen), query, slopes_W)
    _add_outer(r, mean, slopes_V)
    return (r * r).sum() / 2


@compiled
def gradients(
    key: Any, step: int, chunk: int, n: int, T: int, q: int, query: bool, shared: Any, signs: Any, W: Any, V: Any,
    losses: Any, slopes_W: Any, slopes_V: Any,
) -> None:  # fmt: skip
    """Write the loss of each sample of a chunk, and the sums of their gradients.

    Parameters
    ----------
    shared
        The encodings (T, d_e) that all samples share; (0, d_e) if each sample has its own.
    signs
        The eight entries that the byte k stands for, in row k, (256, 8).
    losses, slopes_W, slopes_V
        The outputs, (n,), (chunks, D, D) and (chunks, d, D), zero at the start.
    """
    (d, D), dtype = V.shape, V.dtype
    plane, pairs = 0 if len(shared) else plane_words(T, D - d), -(-d * T // 2)
    words, work = np.empty((4, block_count(plane, pairs, q)), np.uint32), np.empty(pairs)
    tokens, members, Z = np.empty(2 * pairs, dtype), np.empty(q, np.int64), np.empty((T + 1, D), dtype)
    Z[: len(shared), d:] = shared
    for i in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, n)):
        draw(key, step, i, T, plane, words, work, tokens, members)
        Z[:T, :d] = tokens[: d * T].reshape(d, T).T
        if plane:
            _write_signs(words.reshape(-1).view(np.uint8), plane, signs, d, Z)
        losses[i] = _sample(Z, members, T + query, W, V, slopes_W[chunk], slopes_V[chunk])


def gradient(batches: Batches, W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], step: int, attend: Attend) -> Gradient:
    """Return the mean loss () of a step's batch, and its gradients in W[:, d:], (D, d_e), and in V.

    Raises
    ------
    InputError
        If the batches are not on the CPU, the step is not from 0 to 2⁶³ - 1, the matrices do not have the batches'
        shape, type and device, or `attend` is not one of `Attend`.
    """
    if not batches.on_cpu:
        raise InputError("device", batches.device, "must be cpu")
    counted(batches.key, step)
    n, T, q, d, d_e = batches.sizes
    D, chunks = d + d_e, -(-n // _CHUNK)
    for name, matrix, shape in (("W", W, (D, D)), ("V", V, (d, D))):
        fitting(name, matrix, shape, batches.dtype, "cpu")
    if attend not in get_args(Attend):
        raise InputError("attend", attend, f"must be one of {', '.join(get_args(Attend))}")
    shared = batches.encodings.T if batches.encodings is not None else W.new_empty(0, d_e)
    given = (part.detach().contiguous().numpy() for part in (shared, batches.signs, W, V))
    sums = [torch.zeros(shape, dtype=batches.dtype) for shape in ((n,), (chunks, D, D), (chunks, d, D))]
    arguments = n, T, q, attend == "tokens_and_query", *given, *(part.numpy() for part in sums)
    on_all_cores(
        chunks,
        lambda chunk: gradients(np.uint64(batches.key), step, chunk, *arguments),
        alone=n * T * d_e < _WORTH_A_THREAD,
    )
    loss, slopes_W, slopes_V = (part.sum(dim=0) / n for part in sums)
    return Gradient(loss, slopes_W[:, d:], slopes_V)
