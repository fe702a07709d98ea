"""The counter-based random numbers of `philox` as PyTorch tensors, the same words on every device.

A GPU draws the same words and subsets as the CPU to the bit, and the same Gaussians up to rounding. Words are int64.
"""

import math

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from numerics.philox import gaussian_rows, rows

_LOW = 2**32 - 1
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)


def _product(multiplier: int, word: Int64[Tensor, "*shape"]) -> tuple[Int64[Tensor, "*shape"], Int64[Tensor, "*shape"]]:
    """Return the upper and the lower 32 bits of a product of words."""
    # The product has 64 bits; as int64, its highest bit is the sign.
    whole = multiplier * word
    return (whole >> 32) & _LOW, whole & _LOW


def words(
    key: int, steps: range, samples: range, count: int, device: str
) -> Int64[Tensor, "{len(steps)} {len(samples)} {count}"]:
    """Return the words of a key of 64 bits at the counters (block, sample, step), shape (steps, samples, count).

    Each sample of a step has ⌈count/4⌉ blocks of four words; its words are the first `count` entries, row by row, of
    the array that `philox` fills. Steps are below 2⁶³, samples below 2³².
    """
    blocks = -(-count // 4)
    if torch.device(device).type == "cpu":
        filled = np.empty((len(steps), len(samples), 4, blocks), np.uint32)
        rows(np.uint64(key), np.array(steps, np.uint64), np.array(samples, np.uint64), filled)
        drawn = torch.from_numpy(filled.astype(np.int64))
    else:
        drawn = by_tensors(key, steps, samples, blocks, device)
    return drawn.flatten(2)[:, :, :count]


def by_tensors(
    key: int, steps: range, samples: range, blocks: int, device: str
) -> Int64[Tensor, "{len(steps)} {len(samples)} 4 {blocks}"]:
    """Return whole blocks of words, (steps, samples, 4, blocks), computed by tensor operations."""
    like = {"dtype": torch.int64, "device": device}
    shape = len(steps), len(samples), blocks
    step = torch.tensor(list(steps), **like)[:, None, None].expand(shape)
    c0 = torch.arange(blocks, **like).expand(shape)
    c1 = torch.arange(samples.start, samples.stop, **like)[:, None].expand(shape)
    c2, c3 = step & _LOW, step >> 32
    k0, k1 = key & _LOW, key >> 32
    for _ in range(10):
        (high, low), (upper, lower) = _product(_MULTIPLIERS[0], c0), _product(_MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = upper ^ c1 ^ k0, lower, high ^ c3 ^ k1, low
        k0, k1 = (k0 + _WEYL[0]) & _LOW, (k1 + _WEYL[1]) & _LOW
    return torch.stack([c0, c1, c2, c3], dim=2)


def signed(words: Int64[Tensor, "*shape"]) -> Int64[Tensor, "*shape"]:
    """Return words as integers from -2³¹ to 2³¹ - 1."""
    return words - ((words >> 31) << 32)


def uniforms(words: Int64[Tensor, "*shape"]) -> Float64[Tensor, "*shape"]:
    """Turn words into uniform numbers from 2⁻³³ to 1 - 2⁻³³, float64."""
    return (signed(words).to(torch.float64) + 2147483648.5) * 2.0**-32


def exponentials(words: Int64[Tensor, "n k"]) -> Float64[Tensor, "n"]:
    """Turn rows of words, (n, k), into sums of k independent exponential variables of mean 1, (n,), float64."""
    # A product of thirty uniform numbers is above 10⁻³⁰⁰.
    products = [part.prod(dim=-1) for part in torch.split(uniforms(words), 30, dim=-1)]
    return -sum(map(_log, products), start=words.new_zeros(len(words), dtype=torch.float64))


def _log(values: Float64[Tensor, "n"]) -> Float64[Tensor, "n"]:
    return torch.from_numpy(np.log(values.numpy())) if values.device.type == "cpu" else values.log()


def gaussians(words: Int64[Tensor, "n count"]) -> Float64[Tensor, "n count"]:
    """Turn rows of words, (n, 2m), into independent N(0, 1), float64, as `philox.gaussians` does."""
    if words.device.type != "cpu":
        return gaussians_by_tensors(words)
    # The kernel computes them: on several threads, PyTorch's sine and cosine have had errors of 10⁻¹² and more.
    out = np.empty(tuple(words.shape))
    gaussian_rows(words.numpy().astype(np.uint32), out)
    return torch.from_numpy(out)


def gaussians_by_tensors(words: Int64[Tensor, "*rows count"]) -> Float64[Tensor, "*rows count"]:
    """Return `gaussians` computed by tensor operations."""
    radius, angle = words.chunk(2, dim=-1)
    radius, angle = (-2 * uniforms(radius).log()).sqrt(), signed(angle).to(torch.float64) * (2 * math.pi * 2.0**-32)
    return torch.cat([radius * angle.cos(), radius * angle.sin()], dim=-1)


def subsets(words: Int64[Tensor, "*rows count"], T: int) -> Int64[Tensor, "*rows count//2"]:
    """Turn words (…, 2q) into uniformly random subsets of 0 to T - 1, T ≤ 2³¹, (…, q), by Floyd's algorithm."""
    members: list[Tensor] = []
    for i in range(words.shape[-1] // 2):
        largest = T - words.shape[-1] // 2 + i
        low, high = words[..., 2 * i] * (largest + 1), words[..., 2 * i + 1] * (largest + 1)
        drawn = (high + (low >> 32)) >> 32
        taken = [member == drawn for member in members]
        members.append(torch.where(torch.stack(taken).any(dim=0), largest, drawn) if taken else drawn)
    return torch.stack(members, dim=-1)
