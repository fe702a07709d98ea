"""Loss and gradient of a batch with fresh sign encodings on the CPU, computed from the random bits.

The tests compare the loss and the gradient with autograd's of `reference.loss`, on the batch of `Batches.drawn`. The
rows of Z are a sample's tokens (x_t; e_t). If the query is attended to, z = (0; u) is one more row; u is the sum of the
selected encodings. With p the softmax of the logits Z W z,

    r = V Zᵀp − target,    s = Z Vᵀr,    l = p ∘ (s − pᵀs),    dL/dV = r (Zᵀp)ᵀ,    dL/dW = (Zᵀl) zᵀ.

The encodings are not written out as numbers. For a product Z v, a table holds the 16 signed sums of every four entries
of v, and four bits of an encoding are looked up at once: the method of the four Russians (Arlazarov, Dinic, Kronrod and
Faradzhev 1970). A sum Zᵀw is its transpose: a token's weight is added to one of 16 buckets for every four bits, and the
buckets are combined at the end. The encodings are padded to whole squares of bits: vectors are 0 in the padding, and
sums are cut off there.

A step's gradient depends on the key, the step's number and the matrices, not on earlier draws or threads.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from numerics.compiled import compiled
from numerics.repeatable import one_thread
from numerics.settings import counted
from numerics.sparse_token_selection.batches import SIDE, Batches, block_count, draw, fitting, plane_words, squares
from numerics.sparse_token_selection.reference import Attend, Gradient
from verify import InputError
from verify.cores import on_all_cores

_CHUNK = 16
"""Number of samples that a thread takes at a time."""
_WORTH_A_THREAD = 2**20
"""Minimum number of entries of encodings in a batch for which several threads are started."""
# With unsigned numbers, Numba does not check whether an index is negative.
_LOW, _FOUR, _SIXTEEN, _TWO_TABLES = np.uint64(15), np.uint64(4), np.uint64(16), np.uint64(32)


class _Samples(NamedTuple):
    """The words (n, 4, blocks) of n samples, their tokens' numbers (n, ≥ d T), members (n, q) and u (n, d_e)."""

    words: Any
    tokens: Any
    members: Any
    u: Any


class _Found(NamedTuple):
    """The vectors r (n, d), Zᵀp (n, padded) and Zᵀl (n, padded) of n samples."""

    residual: Any
    mean: Any
    change: Any


class _Tokens(NamedTuple):
    """A sample's Z: the bits as bytes, the first byte of each token, x (d, T), u, 1/√d_e and memory for a table."""

    octets: Any
    firsts: Any
    x: Any
    u: Any
    scale: Any
    table: Any


@compiled
def _tabulate(vector: Any, scale: Any, table: Any) -> None:
    """Write the sums ±v_0 ± v_1 ± v_2 ± v_3 of every four entries, times `scale`; a bit 1 is a plus."""
    twice = scale + scale
    for k in range(len(vector) // 4):
        sums, four = table[16 * k : 16 * k + 16], vector[4 * k : 4 * k + 4]
        sums[0] = -scale * four.sum()
        for i in range(4):
            for value in range(1 << i):
                sums[(1 << i) + value] = sums[value] + twice * four[i]


@compiled
def _look_up(octets: Any, firsts: Any, table: Any, out: Any) -> None:
    """Add the sums that the table has for each token's bits; the sums of the tokens do not wait for each other."""
    for k in range(len(table) // 32):
        column = np.uint64(k)
        low = _TWO_TABLES * column
        for t in range(len(firsts)):
            octet = np.uint64(octets[firsts[t] + column])
            out[t] += table[low + (octet & _LOW)] + table[low + _SIXTEEN + (octet >> _FOUR)]


@compiled
def _fill(octets: Any, firsts: Any, weights: Any, table: Any) -> None:
    """Add each token's weight to the bucket of every four of its bits; no bucket is added to twice in a row."""
    for t in range(len(firsts)):
        first, weight = firsts[t], weights[t]
        for k in range(len(table) // 32):
            column = np.uint64(k)
            octet, low = np.uint64(octets[first + column]), _TWO_TABLES * column
            table[low + (octet & _LOW)] += weight
            table[low + _SIXTEEN + (octet >> _FOUR)] += weight


@compiled
def _combine(table: Any, scale: Any, out: Any) -> None:
    """Write for each bit `scale` times the weights of the tokens with bit 1, less those with bit 0; use up buckets."""
    for k in range(len(out) // 4):
        buckets = table[16 * k : 16 * k + 16]
        for i in range(3, -1, -1):
            difference = table.dtype.type(0)
            for value in range(1 << i):
                one, other = buckets[(1 << i) + value], buckets[value]
                difference += one - other
                buckets[value] = one + other
            out[4 * k + i] = scale * difference


@compiled
def _add_combination(weights: Any, rows: Any, out: Any) -> None:
    """Add the weighted sum of the rows."""
    for i in range(len(rows)):
        row, weight = rows[i], weights[i]
        for j in range(len(row)):
            out[j] += weight * row[j]


@compiled
def _product(a: Any, b: Any) -> Any:
    """Return the scalar product of two vectors; the second may be longer."""
    total = a.dtype.type(0)
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@compiled
def _times(Z: Any, vector: Any, query: bool) -> Any:
    """Return Z v."""
    d, T = Z.x.shape
    out = np.zeros(T + query, vector.dtype)
    _tabulate(vector[d:], Z.scale, Z.table)
    _look_up(Z.octets, Z.firsts, Z.table, out)
    _add_combination(vector[:d], Z.x, out)
    if query:
        out[T] = _product(Z.u, vector[d:])
    return out


@compiled
def _weighted(Z: Any, weights: Any, query: bool, out: Any) -> None:
    """Write Zᵀw."""
    d, T = Z.x.shape
    Z.table[:] = 0
    _fill(Z.octets, Z.firsts, weights, Z.table)
    _combine(Z.table, Z.scale, out[d:])
    for c in range(d):
        out[c] = _product(Z.x[c], weights)
    if query:
        _add_combination(weights[T:], Z.u.reshape(1, -1), out[d:])


@compiled
def _draw_samples(ends: Any, key: Any, step: int, firsts: Any, scale: Any, out: _Samples) -> None:
    """Draw the samples of a step in a range (first, end), and add up their selected encodings in u.

    `firsts` are the indices of the tokens' first bytes, (T,).
    """
    d_e, work, one = out.u.shape[1], np.empty(out.tokens.shape[1] // 2), np.uint8(1)
    plane = plane_words(len(firsts), d_e)
    for i in range(*ends):
        draw(key, step, i, len(firsts), plane, out.words[i], work, out.tokens[i], out.members[i])
        octets = out.words[i].reshape(-1).view(np.uint8)
        out.u[i] = 0
        for t in out.members[i]:
            for j in range(d_e):
                bit = octets[firsts[t] + np.uint64(j // 8)] >> np.uint8(j % 8) & one
                out.u[i, j] += scale if bit else -scale


@compiled
def _differentiate(
    ends: Any, firsts: Any, scale: Any, samples: _Samples, Wz: Any, query: bool, V: Any, out: _Found
) -> None:
    """Write r, Zᵀp and Zᵀl of the samples in a range (first, end).

    W[:, d:] u, (n, padded), and V, (d, padded), are padded with zeros to d plus a multiple of 16 columns.
    """
    d, dtype, T = len(V), V.dtype, len(firsts)
    table, back = np.empty(4 * (V.shape[1] - d), dtype), np.empty(V.shape[1], dtype)
    for i in range(*ends):
        octets, x, members = samples.words[i].reshape(-1).view(np.uint8), samples.tokens[i], samples.members[i]
        Z = _Tokens(octets, firsts, x[: d * T].reshape(d, T), samples.u[i], scale, table)
        p = _times(Z, Wz[i], query)
        p = np.exp(p - p.max())
        p /= p.sum()
        _weighted(Z, p, query, out.mean[i])
        r = out.residual[i]
        for c in range(d):
            r[c] = _product(V[c], out.mean[i])
            for t in members:
                r[c] -= Z.x[c, t] / dtype.type(len(members))
        back[:] = 0
        _add_combination(r, V, back)
        s = _times(Z, back, query)
        _weighted(Z, p * (s - (p * s).sum()), query, out.change[i])


def _memory(batches: Batches) -> list[Any]:
    """Let batches have memory for the samples of a step and for their vectors, and return it."""
    n, T, q, d, d_e = batches.sizes
    pairs, padded = -(-d * T // 2), d + SIDE * squares(d_e)
    words = np.empty((n, 4, block_count(plane_words(T, d_e), pairs, q)), np.uint32)
    shapes = (n, 2 * pairs), (n, d_e), (n, d), (n, padded), (n, padded)
    tokens, u, *found = (torch.empty(shape, dtype=batches.dtype).numpy() for shape in shapes)
    batches.memory[:] = _Samples(words, tokens, np.empty((n, q), np.int64), u), _Found(*found)
    return batches.memory


def gradient(batches: Batches, W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], step: int, attend: Attend) -> Gradient:
    """Return the mean loss () of a step's batch, and its gradients in W[:, d:], (D, d_e), and in V.

    The batch takes an eighth of a byte for each entry of its encodings, and d numbers for each of its tokens. This
    memory is used again at the next step.

    Raises
    ------
    InputError
        If the batches are not on the CPU or share their encodings, the step is not from 0 to 2⁶³ - 1, the matrices do
        not have the batches' shape, type and device, or `attend` is not one of `Attend`.
    """
    if not batches.on_cpu:
        raise InputError("device", batches.device, "must be cpu")
    if batches.encodings is not None:
        raise InputError("encodings", tuple(batches.encodings.shape), "must be None: each sample has its own")
    counted(batches.key, step)
    n, T, _, d, d_e = batches.sizes
    D, padding = d + d_e, SIDE * squares(d_e) - d_e
    for name, matrix, shape in (("W", W, (D, D)), ("V", V, (d, D))):
        fitting(name, matrix, shape, batches.dtype, "cpu")
    if attend not in get_args(Attend):
        raise InputError("attend", attend, f"must be one of {', '.join(get_args(Attend))}")

    def on_chunks(work: Callable[..., None], *arguments: Any) -> None:
        chunks = [(first, min(first + _CHUNK, n)) for first in range(0, n, _CHUNK)]
        on_all_cores(len(chunks), lambda k: work(chunks[k], *arguments), alone=n * T * d_e < _WORTH_A_THREAD)

    samples, found = batches.memory or _memory(batches)
    scale, t = samples.u.dtype.type(1 / math.sqrt(d_e)), np.arange(T, dtype=np.uint64)
    firsts = 2 * (t % SIDE * plane_words(T, d_e) + t // SIDE * squares(d_e))
    on_chunks(_draw_samples, np.uint64(batches.key), step, firsts, scale, samples)
    u, (residual, mean, change) = torch.from_numpy(samples.u), map(torch.from_numpy, found)
    # On one thread, because the rounding of products may depend on the number of threads.
    with one_thread():
        Wz, padded = (pad(matrix.detach(), (0, padding)).contiguous().numpy() for matrix in (u @ W[:, d:].T, V))
        on_chunks(_differentiate, firsts, scale, samples, Wz, attend == "tokens_and_query", padded, found)
        loss = residual.square().sum() / (2 * n)
        return Gradient(loss, change[:, :D].T @ u / n, residual.T @ mean[:, :D] / n)
