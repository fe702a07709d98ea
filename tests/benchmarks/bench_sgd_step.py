"""A step of SGD on fresh sign encodings, its draw included."""

import math

import pytest
import torch

from numerics.sparse_token_selection.reference import loss, sample_batch
from numerics.sparse_token_selection.stochastic import sign_encodings
from numerics.sparse_token_selection.trainer import Plan, Training
from numerics.sparse_token_selection.validation import SignEncodings, draw_batch
from tests.benchmarks.limits import Limit
from tests.benchmarks.timing import awaited, on_the_best_threads

T, Q, D, D_E, N = 200, 3, 5, 170, 256
SEED, ETA = 1, 1.0


def ours(device, dtype="float32", attend="tokens", T=T, d_e=D_E):
    """A training at the paper's setting."""
    return Training(Plan(T, Q, D, d_e, "stochastic", attend, "sgd", ETA, ETA, 0, N, 0.02, dtype, (0,)), SEED, device)


def plain(device, dtype, *, by_tables=False):
    """Return a step with dense signs, the layer by its definition, autograd and PyTorch's SGD.

    `by_tables`: signs are drawn by a table of a byte's eight, and subsets by the largest of random numbers.
    """
    begun, generator = ours(device, dtype), torch.Generator(device).manual_seed(SEED)
    W, V = begun.W.clone().requires_grad_(), begun.V.clone().requires_grad_()
    optimiser, source = torch.optim.SGD([W, V], lr=ETA), SignEncodings(D_E, W.dtype, device)

    def step():
        if by_tables:
            encodings, tokens, members = draw_batch(N, Q, D, source(N, T, generator), generator, W.dtype)
            subsets = torch.zeros_like(tokens[:, 0]).scatter_(1, members, 1.0)
        else:
            encodings = sign_encodings(N, T, D_E, generator, dtype=W.dtype)
            tokens, subsets = sample_batch(N, T, Q, D, generator, dtype=W.dtype)
        optimiser.zero_grad()
        loss(W, V, encodings, tokens, subsets).mean().backward()
        optimiser.step()

    return step


def gradients_agree(device, dtype):
    """Whether the gradients are those of the reference in float64 on the same draw, to the rounding of `dtype`."""
    training = ours(device, dtype)
    encodings, tokens, members = training.batches.drawn(training.step)
    subsets = torch.zeros_like(tokens[:, 0]).scatter_(1, members, 1.0)
    leaves = tuple(matrix.to(torch.float64, copy=True).requires_grad_() for matrix in (training.W, training.V))
    exact = torch.autograd.grad(loss(*leaves, encodings.double(), tokens.double(), subsets.double()).mean(), leaves)
    found = training.gradient()
    # Roundings of either sign, of sums of so many terms, four after each other and of terms twice as large.
    close = 8 * math.sqrt(2 * (D + D_E) + T) * torch.finfo(training.plan.precision).eps
    return all(
        bool((slope - expected).norm() <= close * expected.norm())
        for slope, expected in ((found.W, exact[0][:, D:]), (found.V, exact[1]))
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def bench_sgd_step(pair, device, dtype):
    assert gradients_agree(device, dtype)
    size = {"float32": 4, "float64": 8}[dtype]
    # A sign is a bit; written and read, as a copy is.
    amount = 2 * N * (T * D_E / 8 + T * D * size)
    _, other = on_the_best_threads(awaited(device, plain(device, dtype, by_tables=True)))
    pair(
        f"a step of SGD on fresh signs, draw included, {dtype}: T = {T}, q = {Q}, d = {D}, d_e = {D_E}, batch {N}",
        awaited(device, ours(device, dtype).advance),
        awaited(device, plain(device, dtype)),
        reach=20,
        limit=Limit(f"{amount / 2**20:.1f} MiB of random bits and tokens, once through memory", amount, "bytes"),
        torch=True,
        note="The plain way: dense signs, the layer by its definition, autograd, PyTorch's SGD. Where it draws its"
        f" signs by a table of a byte's eight and its subsets by top-k, it takes {other.seconds * 1e3:.0f} ms.",
    )
