"""A step of Adam for a linear transformer of three layers, on a batch that is there and with its draw."""

import pytest
import torch

from numerics.preconditioned_descent.reduced import reduced
from numerics.preconditioned_descent.reference import in_context_errors, pattern, sample
from numerics.preconditioned_descent.trainer import Plan, Training
from tests.benchmarks.limits import Limit
from tests.benchmarks.timing import awaited

L, D, N, BATCH, RESAMPLE, ETA = 3, 5, 20, 20_000, 100, 0.01
SEED = 1


def ours(trained, device, resample=10**9):
    """A training whose batch is drawn."""
    training = Training(
        Plan(L, D, N, trained, "printed", 0.25, BATCH, resample, 0.01, ETA, 10**9, 0.01, (0,)), SEED, device
    )
    training.advance()
    return training


def plain(training, device):
    """Return a step of PyTorch's Adam on full attention by autograd, on a batch that is there."""
    generator = torch.Generator(device).manual_seed(SEED)
    leaves = [matrix.clone().requires_grad_() for matrix in training.matrices]
    optimiser = torch.optim.Adam(leaves, lr=ETA, betas=(0.9, 0.9))
    batch = sample(BATCH, N, training.task.covariance, training.task.inverse, generator)

    def step():
        optimiser.zero_grad()
        in_context_errors(pattern(*leaves), *batch).mean().backward()
        optimiser.step()

    return step


def gradients_agree(training, device):
    """Whether gradients are the reference's on the same draw, to rounding."""
    generator = torch.Generator(device).manual_seed(SEED)
    tokens, weights = sample(BATCH, N, training.task.covariance, training.task.inverse, generator)
    leaves = [matrix.clone().requires_grad_() for matrix in training.matrices]
    slopes = torch.autograd.grad(in_context_errors(pattern(*leaves), tokens, weights).mean(), leaves)
    training._batch = reduced(tokens, weights)
    _, found = training.gradient()
    return all(
        torch.allclose(one, other, rtol=0, atol=1e-11 * float(other.abs().max()))
        for one, other in zip(found, slopes, strict=True)
    )


WORDS = {"A": "A alone", "A_and_B": "A and B"}


@pytest.mark.parametrize("trained", WORDS)
def bench_adam_step(pair, device, trained):
    training = ours(trained, device)
    assert gradients_agree(training, device)
    # Of S, which is symmetric, half, w* and the query's token: read once.
    amount = 8 * BATCH * (D * (D + 1) / 2 + 2 * D)
    pair(
        f"a step of Adam, {WORDS[trained]}: L = {L}, d = {D}, n = {N}, batch {BATCH}",
        awaited(device, training.advance),
        awaited(device, plain(training, device)),
        reach=20,
        limit=Limit(f"{amount / 2**20:.1f} MiB, a batch's second moments, weights and queries", amount, "bytes"),
        torch=True,
        note="The plain way: full attention by its definition, autograd in float64, PyTorch's Adam.",
    )


@pytest.mark.parametrize("trained", WORDS)
def bench_adam_steps_with_the_draw(pair, device, trained):
    training = ours(trained, device, RESAMPLE)

    def steps():
        # From a draw to before the next.
        training.step = 0
        for _ in range(RESAMPLE):
            training.advance()

    pair(
        f"{RESAMPLE} steps of Adam and the draw of their batch, {WORDS[trained]}",
        awaited(device, steps),
        awaited(device, plain(training, device)),
        reach=20,
        rounds=3,
        plain_times=RESAMPLE,
        torch=True,
        note="Of the plain way, the steps alone: its draw is left out.",
    )
