"""The counted random numbers of `philox` as PyTorch's tensors: the same words on every device.

A card draws what the CPU draws: words and subsets to the bit, Gaussians to rounding. Words are kept in int64.
"""

import math

import numpy as np
import torch
from torch import Tensor

from numerics.philox import gaussian_rows, rows

_LOW = 2**32 - 1
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)


def _product(multiplier: int, word: Tensor) -> tuple[Tensor, Tensor]:
    """Return the upper and the lower 32 bits of a product of words."""
    # Of 64 bits, the highest of which is a sign here.
    whole = multiplier * word
    return (whole >> 32) & _LOW, whole & _LOW


def words(key: int, steps: range, samples: range, count: int, device: str) -> Tensor:
    """Return words of a key of 64 bits at the counters (block, sample, step), (steps, samples, count).

    Each sample of a step has as many blocks of four words as it needs, in the order of `philox`. Steps are below 2⁶³,
    samples below 2³².
    """
    blocks = -(-count // 4)
    if torch.device(device).type == "cpu":
        found = np.empty((len(steps), len(samples), 4, blocks), np.uint32)
        rows(np.uint64(key), np.array(steps, np.uint64), np.array(samples, np.uint64), found)
        drawn = torch.from_numpy(found.astype(np.int64))
    else:
        drawn = by_tensors(key, steps, samples, blocks, device)
    return drawn.flatten(2)[:, :, :count]


def by_tensors(key: int, steps: range, samples: range, blocks: int, device: str) -> Tensor:
    """Return whole blocks of words, (steps, samples, 4, blocks), by operations on tensors."""
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


def signed(found: Tensor) -> Tensor:
    """Return words as integers from -2³¹ to 2³¹ - 1."""
    return found - ((found >> 31) << 32)


def uniforms(found: Tensor) -> Tensor:
    """Turn words into uniform numbers from 2⁻³³ to 1 - 2⁻³³, float64."""
    return (signed(found).to(torch.float64) + 2147483648.5) * 2.0**-32


def exponentials(found: Tensor) -> Tensor:
    """Turn rows of words, (n, k), into sums of k independent exponential variables of mean 1, (n,), float64."""
    # A product of thirty is above 10⁻³⁰⁰.
    products = [part.prod(dim=-1) for part in uniforms(found).split(30, dim=-1)]
    return -sum(map(_log, products), start=found.new_zeros(len(found), dtype=torch.float64))


def _log(found: Tensor) -> Tensor:
    return torch.from_numpy(np.log(found.numpy())) if found.device.type == "cpu" else found.log()


def gaussians(found: Tensor) -> Tensor:
    """Turn rows of words, (n, 2m), into independent N(0, 1), float64, as `philox.gaussians` does."""
    if found.device.type != "cpu":
        return gaussians_by_tensors(found)
    # By the kernel: on several threads PyTorch's sine and cosine have been seen to be off by 10⁻¹² and more.
    words, out = found.numpy().astype(np.uint32), np.empty(tuple(found.shape))
    gaussian_rows(words, out)
    return torch.from_numpy(out)


def gaussians_by_tensors(found: Tensor) -> Tensor:
    """Return `gaussians` by operations on tensors."""
    radius, angle = found.chunk(2, dim=-1)
    radius, angle = (-2 * uniforms(radius).log()).sqrt(), signed(angle).to(torch.float64) * (2 * math.pi * 2.0**-32)
    return torch.cat([radius * angle.cos(), radius * angle.sin()], dim=-1)


def subsets(found: Tensor, T: int) -> Tensor:
    """Turn words (…, 2q) into uniformly random subsets of [T], T ≤ 2³¹, (…, q), by Floyd's algorithm."""
    members: list[Tensor] = []
    for i in range(found.shape[-1] // 2):
        largest = T - found.shape[-1] // 2 + i
        low, high = found[..., 2 * i] * (largest + 1), found[..., 2 * i + 1] * (largest + 1)
        drawn = (high + (low >> 32)) >> 32
        taken = [member == drawn for member in members]
        members.append(torch.where(torch.stack(taken).any(dim=0), largest, drawn) if taken else drawn)
    return torch.stack(members, dim=-1)
