"""A batch with fresh encodings of random signs, drawn and differentiated in one pass over its bits, on the CPU.

The loss and the gradient are those of `trainer.batch_gradient`, which is what they are tested against, on the batch
that `SignBatches.drawn` writes out; as there, with (a; b) = W[:, d:] u and p the softmax of the logits aᵀX + bᵀE,

    r = V Z p − target,    s = ZᵀVᵀr,    l = p ∘ (s − pᵀs),    dL/dV = r (Z p)ᵀ,    dL/dW[:, d:] = (Z l) uᵀ.

So E is multiplied by four vectors alone, bᵀE, E p, (Vᵀr)ᵀE and E l, and stays bits: a word is a block of eight
dimensions by eight tokens, and a product with a vector looks up, for each byte, the sum of the eight entries of the
vector with the byte's signs in a table of 256. Bytes are along the dimensions of a token or, with all blocks
transposed, along the tokens of a dimension. Samples are taken in chunks, which stay in cache.

Draws are by Philox4x64-10, as NumPy's, keyed by the seed: its counter is (block, sample, step, 0), so that a batch
depends on the seed and the number of the step alone, not on what was drawn before nor on the number of threads.
Gaussians are by Box and Muller's transform of 32 bits for the radius and 32 for the angle: their tails end at 6.76,
beyond which N(0, 1) has a mass of 1.4e-11.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numba
import numpy as np
import torch
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from torch import Tensor

from numerics.sparse_token_selection.reference import Attend, Gradient, at_least
from verify import InputError
from verify.cores import on_all_cores

_CHUNK = 32
"""Samples whose gradients are summed before those of chunks are: fixed, as sums depend on it."""
_WORTH_A_THREAD = 2**20
"""Entries of encodings in a batch from which on threads are worth their start."""
_SIGNS = np.array([[1.0 if byte >> bit & 1 else -1.0 for bit in range(8)] for byte in range(256)])
"""Row k holds the eight signs that the byte k stands for."""

# Sums as they stand; and with sums in any order. Products are fused with sums; infinities and NaN are kept.
_exactly = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
_compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@intrinsic
def _high(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the upper 64 bits of the product of two words."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = [builder.zext(argument, ir.IntType(128)) for argument in arguments]
        return builder.trunc(builder.lshr(builder.mul(*wide), ir.IntType(128)(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), code


@_exactly
def philox(key: Any, step: Any, sample: Any, out: Any) -> None:
    """Fill `out`, of a multiple of four words, with Philox4x64-10 of a key (2,) at counters (1 …, sample, step, 0)."""
    M0, M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
    W0, W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
    for block in range(len(out) // 4):
        c0, c1, c2, c3 = np.uint64(block + 1), np.uint64(sample), np.uint64(step), np.uint64(0)
        k0, k1 = key[0], key[1]
        for _ in range(10):
            h0, l0, h1, l1 = _high(M0, c0), M0 * c0, _high(M1, c2), M1 * c2
            c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
            k0 += W0
            k1 += W1
        out[4 * block], out[4 * block + 1], out[4 * block + 2], out[4 * block + 3] = c0, c1, c2, c3


@_exactly
def gaussians(words: Any, work: Any, out: Any) -> None:
    """Turn words (m,) into independent N(0, 1), `out` (2m,); `work` is (m,) of float64."""
    m = len(words)
    halves, bits = words.view(np.int32), work.view(np.uint64)
    for i in range(m):
        work[i] = (np.float64(halves[i]) + 2147483648.5) * 2.0**-32
    # log u = k log 2 + log z with z from √½ to √2, and log z = 2 artanh((z − 1)/(z + 1)), to s²¹/21.
    least, exponent = np.uint64(0x3FE6A09E667F3BCD), np.uint64(0xFFF0000000000000)
    bias, mantissa = np.uint64(64 << 52), np.uint64(0x4330000000000000)
    for i in range(m):
        t = bits[i] - least
        z = np.uint64(bits[i] - (t & exponent)).view(np.float64)
        # An integer below 2⁵² in the lowest bits of the number 2⁵².
        k = np.uint64(((t + bias) >> np.uint64(52)) | mantissa).view(np.float64) - (2.0**52 + 64)
        s = (z - 1) / (z + 1)
        y = s * s
        series = 1 / 21
        series = series * y + 1 / 19
        series = series * y + 1 / 17
        series = series * y + 1 / 15
        series = series * y + 1 / 13
        series = series * y + 1 / 11
        series = series * y + 1 / 9
        series = series * y + 1 / 7
        series = series * y + 1 / 5
        series = series * y + 1 / 3
        work[i] = np.sqrt(-2 * (k * 0.6931471805599453 + 2 * (s + s * y * series)))
    for i in range(m):
        # A quarter turn, and an angle from −π/4 to π/4.
        raw = halves[m + i]
        quarter = (raw + np.int32(1 << 29)) >> np.int32(30)
        x = np.float64(np.int32(raw - (quarter << np.int32(30)))) * (2 * np.pi * 2.0**-32)
        y = x * x
        sine = -1 / 1307674368000
        sine = sine * y + 1 / 6227020800
        sine = sine * y - 1 / 39916800
        sine = sine * y + 1 / 362880
        sine = sine * y - 1 / 5040
        sine = sine * y + 1 / 120
        sine = sine * y - 1 / 6
        sine = x + x * y * sine
        cosine = 1 / 20922789888000
        cosine = cosine * y - 1 / 87178291200
        cosine = cosine * y + 1 / 479001600
        cosine = cosine * y - 1 / 3628800
        cosine = cosine * y + 1 / 40320
        cosine = cosine * y - 1 / 720
        cosine = cosine * y + 1 / 24
        cosine = cosine * y - 1 / 2
        cosine = 1 + y * cosine
        odd = (quarter & np.int32(1)) != 0
        first, second = (-sine, cosine) if odd else (cosine, sine)
        radius = -work[i] if (quarter & np.int32(2)) != 0 else work[i]
        out[i], out[m + i] = radius * first, radius * second


@_exactly
def transposed(words: Any, out: Any) -> None:
    """Transpose words as blocks of eight by eight bits."""
    a, b, c = np.uint64(0x00AA00AA00AA00AA), np.uint64(0x0000CCCC0000CCCC), np.uint64(0x00000000F0F0F0F0)
    for i in range(len(words)):
        x = words[i]
        t = (x ^ (x >> np.uint64(7))) & a
        x ^= t ^ (t << np.uint64(7))
        t = (x ^ (x >> np.uint64(14))) & b
        x ^= t ^ (t << np.uint64(14))
        t = (x ^ (x >> np.uint64(28))) & c
        out[i] = x ^ t ^ (t << np.uint64(28))


@_compiled
def _tables(vector: Any, tables: Any) -> None:
    """Write the sum of eight entries of a vector (8m,) with the signs of each byte, (m, 256)."""
    for block in range(len(vector) // 8):
        row, v = tables[block], vector[8 * block : 8 * block + 8]
        total = v[0]
        for j in range(1, 8):
            total += v[j]
        row[0] = -total
        for j in range(8):
            change = v[j] + v[j]
            for byte in range(1 << j):
                row[(1 << j) + byte] = row[byte] + change


@_compiled
def _products(words: Any, along: Any, across: Any, tables: Any, out: Any) -> None:
    """Write the products of signs with a vector; rows 8i to 8i + 7 are in the words `along` k + `across` i."""
    low = np.uint64(255)
    for i in range(len(out) // 8):
        a0 = tables.dtype.type(0)
        a1 = a2 = a3 = a4 = a5 = a6 = a7 = a0
        for k in range(len(tables)):
            word = words[along * k + across * i]
            a0 += tables[k, np.intp(word & low)]
            a1 += tables[k, np.intp((word >> np.uint64(8)) & low)]
            a2 += tables[k, np.intp((word >> np.uint64(16)) & low)]
            a3 += tables[k, np.intp((word >> np.uint64(24)) & low)]
            a4 += tables[k, np.intp((word >> np.uint64(32)) & low)]
            a5 += tables[k, np.intp((word >> np.uint64(40)) & low)]
            a6 += tables[k, np.intp((word >> np.uint64(48)) & low)]
            a7 += tables[k, np.intp(word >> np.uint64(56))]
        out[8 * i], out[8 * i + 1], out[8 * i + 2], out[8 * i + 3] = a0, a1, a2, a3
        out[8 * i + 4], out[8 * i + 5], out[8 * i + 6], out[8 * i + 7] = a4, a5, a6, a7


@_exactly
def _subset(words: Any, T: int, out: Any) -> None:
    """Turn q words into a uniformly random subset of [T], `out` (q,), by Floyd's algorithm."""
    q = len(out)
    for i in range(q):
        largest = T - q + i
        # A number from 0 to `largest`, each with probability 1/(largest + 1) to a factor of 1 ± T/2⁶⁴.
        found = np.int64(_high(words[i], np.uint64(largest + 1)))
        for j in range(i):
            if out[j] == found:
                found = largest
                break
        out[i] = found


@_compiled
def draw(key: Any, step: Any, sample: Any, T: int, d_e: int, words: Any, work: Any, tokens: Any, members: Any) -> None:
    """Draw a sample: its encodings' bits, the first words; tokens (at least d T,), of which d T are used; members."""
    count, pairs, q = -(-T // 8) * -(-d_e // 8), len(tokens) // 2, len(members)
    philox(key, step, sample, words)
    gaussians(words[count : count + pairs], work, tokens)
    _subset(words[count + pairs : count + pairs + q], T, members)


@_compiled
def _added(matrix: Any, columns: Any, rows: Any) -> None:
    """Add columnsᵀ rows to a matrix (a, b); columns (m, a), rows (m, at least b), of which b columns are used."""
    m, b = len(rows), matrix.shape[1]
    for i in range(len(matrix)):
        for s in range(0, m - 3, 4):
            c0, c1, c2, c3 = columns[s, i], columns[s + 1, i], columns[s + 2, i], columns[s + 3, i]
            for j in range(b):
                matrix[i, j] += c0 * rows[s, j] + c1 * rows[s + 1, j] + c2 * rows[s + 2, j] + c3 * rows[s + 3, j]
        for s in range(m - m % 4, m):
            for j in range(b):
                matrix[i, j] += columns[s, i] * rows[s, j]


@_compiled
def _averages(
    X: Any, turned: Any, p: Any, p_query: Any, u: Any, size: Any, tables: Any, work: Any, out: Any
) -> None:  # fmt: skip
    """Write Z p, with the query's column where its weight is not 0."""
    d, T = X.shape
    for k in range(d):
        total = X.dtype.type(0)
        for t in range(T):
            total += p[t] * X[k, t]
        out[k] = total
    _tables(p, tables)
    _products(turned, len(work) // 8, 1, tables, work)
    encoded = out[d:]
    for j in range(len(u)):
        encoded[j] = size * work[j] + p_query * u[j]


@_compiled
def _keys(selected: Any, transpose: Any, out: Any) -> None:
    """Write W[:, d:] u of samples, (m, D), given the transpose of W[:, d:], (d_e, D)."""
    d_e, D = transpose.shape
    m = len(out)
    out[:] = 0
    for e in range(0, d_e - 3, 4):
        for i in range(m):
            u0, u1, u2, u3 = selected[i, e], selected[i, e + 1], selected[i, e + 2], selected[i, e + 3]
            for j in range(D):
                first = u0 * transpose[e, j] + u1 * transpose[e + 1, j]
                out[i, j] += first + u2 * transpose[e + 2, j] + u3 * transpose[e + 3, j]
    for e in range(d_e - d_e % 4, d_e):
        for i in range(m):
            for j in range(D):
                out[i, j] += selected[i, e] * transpose[e, j]


@_compiled
def _selected(words: Any, members: Any, signs: Any, out: Any) -> None:
    """Write u, (8 octets,)."""
    octets = len(out) // 8
    out[:] = 0
    for place in members:
        shift = np.uint64(8 * (place % 8))
        for k in range(octets):
            row = signs[np.intp((words[place // 8 * octets + k] >> shift) & np.uint64(255))]
            for j in range(8):
                out[8 * k + j] += row[j]


@_compiled
def _softmax(logits: Any, T: int, query: bool, logit_query: Any) -> Any:
    """Turn the first T logits into weights, with the query's; return the query's weight. Other weights are 0."""
    largest, weight = logits[:T].max(), logits.dtype.type(0)
    if query:
        largest = max(largest, logit_query)
        weight = np.exp(logit_query - largest)
    total = weight
    for t in range(T):
        logits[t] = np.exp(logits[t] - largest)
        total += logits[t]
    logits[:T] /= total
    logits[T:] = 0
    return weight / total


@_compiled
def _sample(
    words: Any, turned: Any, X: Any, members: Any, u: Any, key: Any, V: Any, size: Any, query: bool,
    by_token: Any, by_dimension: Any, p: Any, slopes: Any, entry: Any, r: Any, mean: Any, change: Any,
) -> Any:  # fmt: skip
    """Write a sample's r, Z p and Z l, and return its loss; `turned`, tables, p, slopes and `entry` are memory."""
    (d, T), d_e, octets, zero = X.shape, len(u), len(by_dimension), X.dtype.type(0)
    logit_query = zero
    entry[d_e:] = 0
    # Slices, so that indices begin at 0: loops over others are not vectorised.
    encoded = key[d:]
    for j in range(d_e):
        logit_query += u[j] * encoded[j]
        entry[j] = size * encoded[j]
    _tables(entry, by_dimension)
    _products(words, 1, octets, by_dimension, p)
    for k in range(d):
        for t in range(T):
            p[t] += key[k] * X[k, t]
    p_query = _softmax(p, T, query, logit_query)
    transposed(words, turned)
    _averages(X, turned, p, p_query, u, size, by_token, entry, mean)
    for k in range(d):
        total, value = zero, zero
        for place in members:
            total += X[k, place]
        for j in range(d + d_e):
            value += V[k, j] * mean[j]
        r[k] = value - total / len(members)
    loss, slope_query = zero, zero
    entry[:] = 0
    for k in range(d):
        loss += r[k] * r[k]
        encoded = V[k, d:]
        for j in range(d_e):
            entry[j] += r[k] * encoded[j]
    for j in range(d_e):
        slope_query += u[j] * entry[j]
        entry[j] *= size
    _tables(entry, by_dimension)
    _products(words, 1, octets, by_dimension, slopes)
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
    _averages(X, turned, slopes, p_query * (slope_query - center), u, size, by_token, entry, change)
    return loss / 2


@_compiled
def gradients(
    key: Any, step: int, first: int, last: int, n: int, T: int, q: int, query: bool, transpose: Any, V: Any,
    signs: Any, losses: Any, slopes_W: Any, slopes_V: Any,
) -> None:  # fmt: skip
    """Write each sample's loss (n,) and, for the chunks from `first` to `last`, the sums of gradients over a chunk.

    Parameters
    ----------
    transpose
        That of W[:, d:], (d_e, D).
    signs
        The signs of each byte, ±1/√d_e, (256, 8).
    slopes_W, slopes_V
        (chunks, D, d_e) and (chunks, d, D).
    """
    d_e, D = transpose.shape
    d, dtype = D - d_e, transpose.dtype
    groups, octets = -(-T // 8), -(-d_e // 8)
    bits, pairs = groups * octets, -(-d * T // 2)
    words, work = np.empty((_CHUNK, -(-(bits + pairs + q) // 4) * 4), np.uint64), np.empty(pairs)
    turned = np.empty(bits, np.uint64)
    tokens, members = np.empty((_CHUNK, 2 * pairs), dtype), np.empty((_CHUNK, q), np.int64)
    selected, keys = np.empty((_CHUNK, 8 * octets), dtype), np.empty((_CHUNK, D), dtype)
    by_token, by_dimension = np.empty((groups, 256), dtype), np.empty((octets, 256), dtype)
    p, slopes, entry = np.empty(8 * groups, dtype), np.empty(8 * groups, dtype), np.empty(8 * octets, dtype)
    residuals = np.empty((_CHUNK, d), dtype)
    means, changes = np.empty((_CHUNK, D), dtype), np.empty((_CHUNK, D), dtype)
    for chunk in range(first, last):
        start = chunk * _CHUNK
        m = min(_CHUNK, n - start)
        for i in range(m):
            draw(key, step, start + i, T, d_e, words[i], work, tokens[i], members[i])
            _selected(words[i], members[i], signs, selected[i])
        _keys(selected[:m], transpose, keys[:m])
        for i in range(m):
            losses[start + i] = _sample(
                words[i, :bits], turned, tokens[i, : d * T].reshape(d, T), members[i], selected[i, :d_e], keys[i], V,
                signs[255, 0], query, by_token, by_dimension, p, slopes, entry, residuals[i], means[i], changes[i],
            )  # fmt: skip
        slopes_W[chunk] = 0
        slopes_V[chunk] = 0
        _added(slopes_W[chunk], changes[:m], selected[:m])
        _added(slopes_V[chunk], residuals[:m], means[:m])


class Sizes(NamedTuple):
    """Samples in a batch, tokens, selected ones, their dimension and that of encodings."""

    n: int
    T: int
    q: int
    d: int
    d_e: int


@dataclass(frozen=True)
class SignBatches:
    """The batches of a key, of two words: step by step, whatever is asked for first.

    Raises InputError for sizes below 1, a subset of more than T tokens, a key of anything but two words of 64 bits, and
    numbers other than float32 and float64.
    """

    sizes: Sizes
    key: tuple[int, int]
    dtype: torch.dtype

    def __post_init__(self) -> None:
        for name, size in self.sizes._asdict().items():
            at_least(name, size, 1)
        if self.sizes.q > self.sizes.T:
            raise InputError("q", self.sizes.q, f"must be at most T = {self.sizes.T}")
        if len(self.key) != 2 or not all(isinstance(word, int) and 0 <= word < 2**64 for word in self.key):
            raise InputError("key", self.key, "must be two integers from 0 to 2^64 - 1")
        if self.dtype not in (torch.float32, torch.float64):
            raise InputError("dtype", self.dtype, "must be torch.float32 or torch.float64")

    @cached_property
    def _words(self) -> np.ndarray:
        return np.array(self.key, np.uint64)

    @cached_property
    def _signs(self) -> np.ndarray:
        return torch.from_numpy(_SIGNS / np.sqrt(self.sizes.d_e)).to(self.dtype).numpy()

    @property
    def _chunks(self) -> int:
        return -(-self.sizes.n // _CHUNK)

    def drawn(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the encodings (n, d_e, T), the tokens (n, d, T) and the members (n, q) of a step's batch."""
        _counted(step)
        n, T, q, d, d_e = self.sizes
        groups, octets, pairs = -(-T // 8), -(-d_e // 8), -(-d * T // 2)
        bits = groups * octets
        encodings, tokens = np.empty((n, d_e, T), self._signs.dtype), np.empty((n, d, T), self._signs.dtype)
        members = np.empty((n, q), np.int64)
        words, work = np.empty(-(-(bits + pairs + q) // 4) * 4, np.uint64), np.empty(pairs)
        drawn = np.empty(2 * pairs, self._signs.dtype)
        for sample in range(n):
            draw(self._words, step, sample, T, d_e, words, work, drawn, members[sample])
            tokens[sample] = drawn[: d * T].reshape(d, T)
            # Of a group of eight tokens and eight dimensions, a word's bytes are the tokens, their bits the dimensions.
            octet = words[:bits].astype("<u8").view(np.uint8).reshape(groups, octets, 8)
            signs = self._signs[octet].transpose(1, 3, 0, 2).reshape(8 * octets, 8 * groups)
            encodings[sample] = signs[:d_e, :T]
        return torch.from_numpy(encodings), torch.from_numpy(tokens), torch.from_numpy(members)

    def gradient(self, W: Tensor, V: Tensor, step: int, attend: Attend) -> Gradient:
        """Return the mean loss () of a step's batch, and its slopes in W[:, d:], (D, d_e), and in V."""
        _counted(step)
        n, T, q, d, d_e = self.sizes
        for name, matrix, shape in (("W", W, (d + d_e, d + d_e)), ("V", V, (d, d + d_e))):
            if matrix.shape != shape or matrix.dtype != self.dtype or matrix.device.type != "cpu":
                found = tuple(matrix.shape), matrix.dtype, matrix.device.type
                raise InputError(name, found, f"must be of shape {shape} and {self.dtype}, on the CPU")
        if attend not in get_args(Attend):
            raise InputError("attend", attend, f"must be one of {', '.join(get_args(Attend))}")
        keys, values = W.detach()[:, d:].T.contiguous().numpy(), V.detach().contiguous().numpy()
        losses = np.empty(n, keys.dtype)
        slopes_W = np.empty((self._chunks, d + d_e, d_e), keys.dtype)
        slopes_V = np.empty((self._chunks, d, d + d_e), keys.dtype)
        given = n, T, q, attend == "tokens_and_query", keys, values, self._signs, losses, slopes_W, slopes_V
        on_all_cores(
            self._chunks,
            lambda chunk: gradients(self._words, step, chunk, chunk + 1, *given),
            alone=n * T * d_e < _WORTH_A_THREAD,
        )
        loss, *slopes = (
            torch.from_numpy(sums.sum(axis=0, keepdims=True) / n)[0] for sums in (losses, slopes_W, slopes_V)
        )
        return Gradient(loss, *slopes)


def _counted(step: int) -> None:
    """Raise InputError for what is no number of a step."""
    if not isinstance(step, int) or not 0 <= step < 2**63:
        raise InputError("step", step, "must be an integer from 0 to 2^63 - 1")
