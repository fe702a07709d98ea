"""Benchmark of steps of SGD on fresh sign encodings, including the draws of the batches."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController

from numerics.sparse_token_selection.reference import loss, sample_batch
from numerics.sparse_token_selection.stochastic import sign_encodings
from numerics.sparse_token_selection.trainer import Plan, Training, batch_gradient
from numerics.sparse_token_selection.validation import SignEncodings, draw_batch
from tests.benchmarks.limits import Limit
from tests.benchmarks.timing import on_threads

T, Q, D, D_E, N = 200, 3, 5, 170, 256
STEPS = 10
"""Number of steps in a row that are timed together, as in a training."""
SEED, ETA = 1, 1.0
BOUND = {
    "cpu": "The bound, presumably (no profile is kept): the bits of a batch are looked up twice and summed twice,"
    " four at a time, which takes as long in both floating-point types.",
    "cuda": "Profiled on an H200, kernels ran for 1.1 ms of a step's 1.6, and for 0.71 of these a table of bytes was"
    " read; our program no longer has this table.",
}


def ours(device, dtype="float32", attend="tokens", T=T, d_e=D_E):
    """Return a training at the paper's setting."""
    return Training(Plan(T, Q, D, d_e, "stochastic", attend, "sgd", ETA, ETA, 0, N, 0.02, dtype, (0,)), SEED, device)


def definition(device, dtype):
    """Return a function that takes a step with dense signs, the layer's definition, autograd and PyTorch's SGD."""
    begun, generator = ours(device, dtype), torch.Generator(device).manual_seed(SEED)
    W, V = begun.W.clone().requires_grad_(), begun.V.clone().requires_grad_()
    optimiser = torch.optim.SGD([W, V], lr=ETA)

    def step():
        encodings = sign_encodings(N, T, D_E, generator, dtype=W.dtype)
        tokens, subsets = sample_batch(N, T, Q, D, generator, dtype=W.dtype)
        optimiser.zero_grad()
        loss(W, V, encodings, tokens, subsets).mean().backward()
        optimiser.step()

    return step


def by_torch(device, dtype):
    """Return a function that takes a step with the gradient written out; a table maps a random byte to eight signs."""
    begun, generator = ours(device, dtype), torch.Generator(device).manual_seed(SEED)
    W, V, source = begun.W.clone(), begun.V.clone(), SignEncodings(D_E, begun.W.dtype, device)

    def step():
        batch = draw_batch(N, Q, D, source(N, T, generator), generator, W.dtype)
        _, slope_W, slope_V = batch_gradient(W, V, batch, "tokens")
        W[:, D:].sub_(ETA * slope_W)
        V.sub_(ETA * slope_V)

    return step


@cache
def numba_gradient():
    """Return a function that gives the gradient of a batch in W[:, d:] and V.

    Samples are processed one at a time, so that a sample's signs are in cache when they are used. The shapes are
    `table` (256, 8), the signs of each byte, `octets` (n, d_e T/8), tokens (n, d, T) and members (n, q).
    """
    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def parts(W, V, table, octets, tokens, members):
        (n, d, t), (D, d_e), q = tokens.shape, W.shape, members.shape[1]
        u, r = np.zeros((n, d_e), W.dtype), np.empty((n, d), W.dtype)
        mean, change = np.empty((n, D), W.dtype), np.empty((n, D), W.dtype)
        for chunk in prange(8):
            Z, rows = np.empty((D, t), W.dtype), np.empty((d + 1, D), W.dtype)
            rows[:d] = V
            for i in range(chunk * n // 8, (chunk + 1) * n // 8):
                Z[:d] = tokens[i]
                signs, words = Z[d:].reshape(-1), octets[i]
                for k in range(len(words)):
                    for bit in range(8):
                        signs[8 * k + bit] = table[words[k], bit]
                for place in members[i]:
                    u[i] += Z[d:, place]
                rows[d] = W @ u[i]
                products = rows @ Z
                values, p = products[:d], np.exp(products[d] - products[d].max())
                p /= p.sum()
                r[i] = values @ p
                for place in members[i]:
                    for k in range(d):
                        r[i, k] -= tokens[i, k, place] / q
                slopes = r[i] @ values
                mean[i], change[i] = Z @ p, Z @ (p * (slopes - p @ slopes))
        return u, r, mean, change

    def gradient(W, V, *drawn):
        u, r, mean, change = parts(W, V, *drawn)
        return change.T @ u / len(u), r.T @ mean / len(u)

    return gradient


def by_numba(dtype, blas=None):
    """Return a function that takes a step in NumPy and Numba; `blas` limits BLAS's threads, which spin when idle."""
    begun, rng, gradient = ours("cpu", dtype), np.random.default_rng(SEED), numba_gradient()
    libraries = ThreadpoolController()
    W, V, table = np.ascontiguousarray(begun.W[:, D:]), begun.V.numpy().copy(), signs_of_bytes(dtype)

    def drawn():
        octets = np.frombuffer(rng.bytes(N * D_E * T // 8), np.uint8).reshape(N, -1)
        members = np.ascontiguousarray(rng.random((N, T)).argpartition(Q, axis=1)[:, :Q])
        return table, octets, rng.standard_normal((N, D, T), dtype), members

    def step():
        with libraries.limit(limits=blas, user_api="blas"):
            slope_W, slope_V = gradient(W, V, *drawn())
        W[:] -= ETA * slope_W
        V[:] -= ETA * slope_V

    batch = drawn()
    encodings, tokens = table[batch[1]].reshape(N, D_E, T), batch[2]
    whole = torch.from_numpy(np.hstack([np.zeros((D + D_E, D), dtype), W]))
    exact = exact_slopes(whole, torch.from_numpy(V), *map(torch.from_numpy, (encodings, tokens, batch[3])))
    assert close(map(torch.from_numpy, gradient(W, V, *batch)), exact)
    return step


def signs_of_bytes(dtype):
    """Return a table whose row b holds the eight signs ±1/√d_e that byte b encodes."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return ((2.0 * bits - 1) / math.sqrt(D_E)).astype(dtype)


def exact_slopes(W, V, encodings, tokens, members):
    """Return the reference's gradient in W[:, d:] and V, in float64."""
    subsets = torch.zeros_like(tokens[:, 0]).scatter_(1, members, 1.0)
    leaves = tuple(matrix.to(torch.float64, copy=True).requires_grad_() for matrix in (W, V))
    slopes = torch.autograd.grad(loss(*leaves, encodings.double(), tokens.double(), subsets.double()).mean(), leaves)
    return slopes[0][:, D:], slopes[1]


def close(found, exact):
    """Return whether gradients agree with those in float64 up to the rounding of their data type."""
    # Four successive sums have 2 (D + D_E) + T terms, each at most twice the sum, with rounding errors of random sign.
    times = 8 * math.sqrt(2 * (D + D_E) + T)
    return all(
        bool((slope - expected).norm() <= times * torch.finfo(slope.dtype).eps * expected.norm())
        for slope, expected in zip(found, exact, strict=True)
    )


def gradients_agree(device, dtype):
    """Return whether the gradients agree with the reference's in float64 on the same draw, up to `dtype`'s rounding."""
    training = ours(device, dtype)
    _, *found = training.gradient()
    return close(found, exact_slopes(training.W, training.V, *training.batches.drawn(training.step)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def bench_sgd_step(pair, device, dtype):
    assert gradients_agree(device, dtype)
    size = {"float32": 4, "float64": 8}[dtype]
    # A sign takes one bit. All data are written once and read once, as in a copy.
    amount = STEPS * 2 * N * (T * D_E / 8 + T * D * size)

    best = on_threads("PyTorch, its gradient written out", by_torch(device, dtype))
    if device == "cpu":
        best |= {"NumPy and Numba": by_numba(dtype), "NumPy and Numba, BLAS on one thread": by_numba(dtype, blas=1)}
    pair(
        f"{STEPS} steps of SGD on fresh signs, draws included, {dtype}: T = {T}, q = {Q}, d = {D}, d_e = {D_E},"
        f" batch {N}",
        ours(device, dtype).advance,
        on_threads("PyTorch", definition(device, dtype)),
        best=best,
        repeat=STEPS,
        limit=Limit(f"{amount / 2**20:.0f} MiB of random bits and tokens, once through memory", amount, "bytes"),
        note="The definition: dense signs, the layer by its definition, autograd, PyTorch's SGD. The best plain way"
        " has the gradient written out, as ours has; it looks up eight signs per random byte in a table."
        f" {BOUND[device]}",
    )
