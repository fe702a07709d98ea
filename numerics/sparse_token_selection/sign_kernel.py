"""A batch with encodings of random signs, fresh or shared, drawn and differentiated over its bits, on the CPU.

The loss and the gradient are those of `trainer.batch_gradient`, which is what they are tested against, on the batch
that `Batches.drawn` writes out; as there, with (a; b) = W[:, d:] u and p the softmax of the logits aᵀX + bᵀE,

    r = V Z p − target,    s = ZᵀVᵀr,    l = p ∘ (s − pᵀs),    dL/dV = r (Z p)ᵀ,    dL/dW[:, d:] = (Z l) uᵀ.

So E is multiplied by four vectors alone, bᵀE, E p, (Vᵀr)ᵀE and E l, and stays bits: sixteen entries of a vector are
added, each where its bit is set, at a time. All squares of bits, as `batches` has them in planes, are transposed at
once. Samples are taken in chunks, which stay in cache.

A gradient depends on the key and the number of the step alone, not on what was drawn before nor on the number of
threads.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
import torch
from jaxtyping import Float, UInt16
from torch import Tensor

from numerics.compiled import compiled, exactly
from numerics.lanes import LANES, padded, product, signed_sums
from numerics.settings import counted
from numerics.sparse_token_selection.batches import Batches, block_count, draw, fitting, plane_words
from numerics.sparse_token_selection.reference import Attend, Gradient
from verify import InputError
from verify.cores import on_all_cores
from verify.evaluation.vector_exponential import compiled_exponential

_CHUNK = 32
"""Samples whose gradients are summed before those of chunks are: fixed, as sums depend on it."""
_WIDE = 2 * LANES
"""What rows of a product are padded to."""
_WORTH_A_THREAD = 2**20
"""Entries of encodings in a batch from which on threads are worth their start."""

_exponential = compiled_exponential()


@exactly
def transposed(planes: Any, out: Any) -> None:
    """Transpose squares of sixteen by sixteen bits; planes (16, m) of uint64, each four words of 16 bits."""
    # Four times in a word: the lower half of sixteen bits, of eight, of four, of two.
    masks = (0x00FF00FF00FF00FF, 0x0F0F0F0F0F0F0F0F, 0x3333333333333333, 0x5555555555555555)
    out[:] = planes
    for level in range(4):
        size, mask = np.uint64(8 >> level), np.uint64(masks[level])
        for i in range(16):
            if i & (8 >> level):
                continue
            upper, lower = out[i], out[i + (8 >> level)]
            for k in range(out.shape[1]):
                exchanged = ((upper[k] >> size) ^ lower[k]) & mask
                upper[k] ^= exchanged << size
                lower[k] ^= exchanged


@compiled
def _selected(bits: Any, plane: int, members: Any, size: Any, out: Any) -> None:
    """Write u, padded."""
    across = len(out) // LANES
    out[:] = 0
    for place in members:
        first = place % LANES * plane + place // LANES * across
        for k in range(across):
            word = np.int32(bits[first + k])
            for j in range(LANES):
                out[LANES * k + j] += size if word >> np.int32(j) & np.int32(1) else -size


@compiled
def _softmax(logits: Any, T: int, query: bool, logit_query: Any) -> Any:
    """Turn the first T logits into weights, with the query's; return the query's weight. Other weights are 0."""
    largest, weight = logits[0], logits.dtype.type(0)
    for t in range(1, T):
        largest = max(largest, logits[t])
    if query:
        largest = max(largest, logit_query)
        weight = logits.dtype.type(_exponential(np.float64(logit_query - largest)))
    total = weight
    for t in range(T):
        logits[t] = _exponential(np.float64(logits[t] - largest))
        total += logits[t]
    logits[:T] /= total
    logits[T:] = 0
    return weight / total


@compiled
def _averages(
    X: Any, bits: Any, plane: int, p: Any, twice: Any, p_query: Any, u: Any, double: Any, out: Any
) -> None:  # fmt: skip
    """Write Z p, with the query's column where its weight is not 0, d and d_e padded.

    `double` is 2/√d_e, `twice` memory.
    """
    d, T = X.shape
    across = len(u) // LANES
    for k in range(d):
        total = X.dtype.type(0)
        for t in range(T):
            total += p[t] * X[k, t]
        out[k] = total
    for t in range(len(p)):
        twice[t] = double * p[t]
    encoded = out[d : d + len(u)]
    signed_sums(bits, plane, across, 1, twice, encoded)
    for j in range(len(u)):
        encoded[j] += p_query * u[j]


@compiled
def _logits(
    turned: Any, plane: int, X: Any, u: Any, d_e: int, key: Any, double: Any, entry: Any, out: Any
) -> Any:  # fmt: skip
    """Write the tokens' logits aᵀX + bᵀE, and return the query's; `entry` is memory."""
    (d, T), across, logit_query = X.shape, len(u) // LANES, X.dtype.type(0)
    entry[d_e:] = 0
    # Slices, so that indices begin at 0: loops over others are not vectorised.
    encoded = key[d:]
    for j in range(d_e):
        logit_query += u[j] * encoded[j]
        entry[j] = double * encoded[j]
    signed_sums(turned, plane, 1, across, entry, out)
    for k in range(d):
        for t in range(T):
            out[t] += key[k] * X[k, t]
    return logit_query


@compiled
def _residual(X: Any, members: Any, V: Any, mean: Any, out: Any) -> None:
    """Write r = V Z p − target, of which Z p is `mean`."""
    d, D = V.shape
    for k in range(d):
        total, value = X.dtype.type(0), X.dtype.type(0)
        for place in members:
            total += X[k, place]
        for j in range(D):
            value += V[k, j] * mean[j]
        out[k] = value - total / X.dtype.type(len(members))


@compiled
def _sample(
    bits: Any, turned: Any, plane: int, X: Any, members: Any, u: Any, d_e: int, key: Any, V: Any, double: Any,
    query: bool, p: Any, slopes: Any, twice: Any, entry: Any, r: Any, mean: Any, change: Any,
) -> Any:  # fmt: skip
    """Write a sample's r, Z p and Z l, and return its loss.

    `double` is 2/√d_e; p, slopes, `twice` and `entry` are memory.
    """
    (d, T), across, zero = X.shape, len(u) // LANES, X.dtype.type(0)
    logit_query = _logits(turned, plane, X, u, d_e, key, double, entry, p)
    p_query = _softmax(p, T, query, logit_query)
    _averages(X, bits, plane, p, twice, p_query, u, double, mean)
    _residual(X, members, V, mean, r)
    loss, slope_query = zero, zero
    entry[:] = 0
    for k in range(d):
        loss += r[k] * r[k]
        encoded = V[k, d:]
        for j in range(d_e):
            entry[j] += r[k] * encoded[j]
    for j in range(d_e):
        slope_query += u[j] * entry[j]
        entry[j] *= double
    signed_sums(turned, plane, 1, across, entry, slopes)
    for k in range(d):
        along = zero
        for j in range(d):
            along += r[j] * V[j, k]
        for t in range(T):
            slopes[t] += along * X[k, t]
    center = p_query * slope_query
    for t in range(T):
        center += p[t] * slopes[t]
    for t in range(T):
        slopes[t] = p[t] * (slopes[t] - center)
    slopes[T:] = 0
    _averages(X, bits, plane, slopes, twice, p_query * (slope_query - center), u, double, change)
    return loss / 2


@compiled
def gradients(
    key: Any, step: int, chunk: int, n: int, T: int, q: int, query: bool, shared: Any, transpose: Any,
    V: Any, losses: Any, slopes_W: Any, slopes_V: Any,
) -> None:  # fmt: skip
    """Write the loss of each of a chunk's samples and the sums of their gradients.

    Parameters
    ----------
    shared
        Planes of bits (16, plane) of uint16 that all samples share; (16, 0) where each has its own.
    transpose
        That of W[:, d:], (d_e, D padded).
    losses, slopes_W, slopes_V
        (n,), (chunks, D padded to 4, d_e padded) and (chunks, d padded to 4, D padded).
    """
    (d_e, wide), dtype = transpose.shape, transpose.dtype
    d, across, lanes, size = V.shape[1] - d_e, padded(d_e), padded(T), dtype.type(1 / np.sqrt(d_e))
    plane, pairs, fresh = plane_words(T, d_e), -(-d * T // 2), shared.shape[1] == 0
    drawn = plane if fresh else 0
    words = np.empty((_CHUNK, 4, block_count(drawn, pairs, q)), np.uint32)
    bits, turned, work = shared.reshape(-1), np.empty((16, plane // 4), np.uint64), np.empty(pairs)
    if not fresh:
        transposed(bits.view(np.uint64).reshape(turned.shape), turned)
    tokens, members = np.empty((_CHUNK, 2 * pairs), dtype), np.empty((_CHUNK, q), np.int64)
    # What is beyond the sizes is not used; it is a number all the same.
    selected, keys = np.zeros((_CHUNK, slopes_W.shape[2]), dtype), np.zeros((_CHUNK, wide), dtype)
    means, changes = np.zeros((_CHUNK, wide), dtype), np.zeros((_CHUNK, wide), dtype)
    residuals = np.zeros((_CHUNK, slopes_V.shape[1]), dtype)
    p, slopes, twice = np.empty(lanes, dtype), np.empty(lanes, dtype), np.empty(lanes, dtype)
    entry = np.empty(across, dtype)
    start = chunk * _CHUNK
    m = min(_CHUNK, n - start)
    for i in range(m):
        draw(key, step, start + i, T, drawn, words[i], work, tokens[i], members[i])
        if fresh:
            bits = words[i].reshape(-1).view(np.uint16)
        _selected(bits, plane, members[i], size, selected[i, :across])
    product(selected, selected.shape[1], 1, transpose, keys)
    for i in range(m):
        if fresh:
            bits = words[i].reshape(-1).view(np.uint16)
            transposed(bits[: 16 * plane].view(np.uint64).reshape(turned.shape), turned)
        losses[start + i] = _sample(
            bits, turned.reshape(-1).view(np.uint16), plane, tokens[i, : d * T].reshape(d, T),
            members[i], selected[i, :across], d_e, keys[i], V, size + size, query, p, slopes, twice, entry,
            residuals[i], means[i], changes[i],
        )  # fmt: skip
    product(changes, 1, wide, selected[:m], slopes_W[chunk])
    product(residuals, 1, residuals.shape[1], means[:m], slopes_V[chunk])


@dataclass(frozen=True, eq=False)
class SignBatches:
    """Gradients of batches whose encodings are of random signs, on the CPU.

    Raises
    ------
    InputError
        For batches on another device, and for shared encodings whose entries are not ±1/√d_e.
    """

    batches: Batches

    def __post_init__(self) -> None:
        if not self.batches.on_cpu:
            raise InputError("device", self.batches.device, "must be cpu")
        encodings, size = self.batches.encodings, 1 / math.sqrt(self.batches.sizes.d_e)
        if encodings is not None:
            rounding = torch.finfo(encodings.dtype).eps
            if not bool(((encodings.abs() - size).abs() <= 2 * rounding * size).all()):
                raise InputError("encodings", "", "must have entries 1/sqrt(d_e) and -1/sqrt(d_e)")

    @cached_property
    def _shared(self) -> UInt16[np.ndarray, "16 words"]:
        """The planes of the shared encodings' bits."""
        (_, T, _, _, d_e), encodings = self.batches.sizes, self.batches.encodings
        if encodings is None:
            return np.empty((16, 0), np.uint16)
        bits = np.zeros((padded(d_e), padded(T)), np.uint16)
        bits[:d_e, :T] = encodings.numpy() > 0
        squares = bits.reshape(padded(d_e) // LANES, LANES, padded(T) // LANES, LANES)
        words = (squares << np.arange(LANES, dtype=np.uint16)[:, None, None]).sum(axis=1, dtype=np.uint16)
        planes = np.zeros((16, plane_words(T, d_e)), np.uint16)
        planes[:, : words[..., 0].size] = words.transpose(2, 1, 0).reshape(LANES, -1)
        return planes

    @property
    def _chunks(self) -> int:
        return -(-self.batches.sizes.n // _CHUNK)

    def gradient(self, W: Float[Tensor, "D D"], V: Float[Tensor, "d D"], step: int, attend: Attend) -> Gradient:
        """Return the mean loss () of a step's batch, and its slopes in W[:, d:], (D, d_e), and in V.

        Raises
        ------
        InputError
            For a step that is not a number from 0 to 2⁶³ - 1, matrices of another shape, type or device than the
            batches', and an `attend` that is not one of `Attend`.
        """
        counted(self.batches.key, step)
        n, T, q, d, d_e = self.batches.sizes
        for name, matrix, shape in (("W", W, (d + d_e, d + d_e)), ("V", V, (d, d + d_e))):
            fitting(name, matrix, shape, self.batches.dtype, "cpu")
        if attend not in get_args(Attend):
            raise InputError("attend", attend, f"must be one of {', '.join(get_args(Attend))}")
        D, wide = d + d_e, padded(d + padded(d_e), _WIDE)
        values = V.detach().contiguous().numpy()
        transpose = np.zeros((d_e, wide), values.dtype)
        transpose[:, :D] = W.detach().numpy()[:, d:].T
        losses = np.empty(n, values.dtype)
        slopes_W = np.empty((self._chunks, padded(D, 4), padded(d_e, _WIDE)), values.dtype)
        slopes_V = np.empty((self._chunks, padded(d, 4), wide), values.dtype)
        given = n, T, q, attend == "tokens_and_query", self._shared, transpose, values, losses, slopes_W, slopes_V
        on_all_cores(
            self._chunks,
            lambda chunk: gradients(np.uint64(self.batches.key), step, chunk, *given),
            alone=n * T * d_e < _WORTH_A_THREAD,
        )
        loss, *slopes = (torch.from_numpy(sums.sum(axis=0) / n) for sums in (losses[:, None], slopes_W, slopes_V))
        return Gradient(loss[0], slopes[0][:D, :d_e], slopes[1][:d, :D])
