"""Losses of layers at the figures' sizes by sampled signs: from the softmax and the residual, without P and R."""

import math
from functools import cache

import numpy as np

from verify import Enclosure

T, D, D_E = 200, 5, 170
SAMPLES = 10_000
CHUNK = 500


@cache
def scores(q: int) -> tuple[np.ndarray, np.ndarray]:
    """Return e_i·u (SAMPLES, T) and |u|² (SAMPLES,) for SAMPLES draws of the encodings, u the sum of the first q."""
    random, found = np.random.default_rng(q), []
    for _ in range(SAMPLES // CHUNK):
        bits = np.unpackbits(np.frombuffer(random.bytes(CHUNK * T * D_E // 8), np.uint8))
        signs = 2 * bits.reshape(CHUNK, T, D_E).astype(np.float32) - 1
        u = signs[:, :q].sum(axis=1)
        # These are sums of 170 integers of size at most q, which are exact in float32.
        found.append((np.matmul(signs, u[:, :, None])[:, :, 0], (u**2).sum(axis=1)))
    own, norms = (np.concatenate(each).astype(float) / D_E for each in zip(*found, strict=True))
    return own, norms


def shares(q: int, C: float, query: bool) -> np.ndarray:
    """Return the softmax's weights of the T tokens, (SAMPLES, T); if `query`, the query's token is attended to too."""
    own, norm = scores(q)
    logits = np.concatenate([C * own, C * norm[:, None]], axis=1) if query else C * own
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights[:, :T] / weights.sum(axis=1, keepdims=True)


def layer_losses(q: int, alpha: float, C: float, query: bool) -> np.ndarray:
    """Return d/2 Σ r_i², r_i = αp_i − 1{i ≤ q}/q, of each draw: the mean over X ~ N(0, I) of ½‖Σ r_i x_i‖²."""
    residual = alpha * shares(q, C, query)
    residual[:, :q] -= 1 / q
    return D / 2 * (residual**2).sum(axis=1)


@cache
def best_layer(query: bool) -> tuple[float, float]:
    """Return the best α and C for the sampled draws at q = 3, with C from a grid on [−2, 8]."""

    def gain(C: float) -> float:
        p = shares(3, C, query)
        return p[:, :3].sum(axis=1).mean() ** 2 / (3 * (p**2).sum(axis=1).mean())

    C = max(np.arange(-8, 33) / 4, key=gain)
    p = shares(3, C, query)
    return p[:, :3].sum(axis=1).mean() / (3 * (p**2).sum(axis=1).mean()), C


def is_sampled(wanted: Enclosure, losses: np.ndarray) -> bool:
    """Return whether an interval of five standard errors to each side agrees with sampled losses.

    The difference has to be at most five of its standard errors, and these five below a fifteenth of the loss.
    """
    lower, upper = float(wanted.lower), float(wanted.upper)
    error = math.hypot((upper - lower) / 10, losses.std(ddof=1) / math.sqrt(SAMPLES))
    # The false-alarm rate of a difference of five standard errors is 6·10⁻⁷.
    return abs(losses.mean() - (lower + upper) / 2) <= 5 * error < losses.mean() / 15
