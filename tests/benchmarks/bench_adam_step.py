"""Benchmarks of steps of Adam for a three-layer linear transformer, without and with the draw of the batch."""

import shutil
from functools import partial

import numpy as np
import pytest
import torch

from numerics.preconditioned_descent.reduced import Prompts, applied, losses, reduced
from numerics.preconditioned_descent.reference import in_context_errors, pattern, sample
from numerics.preconditioned_descent.trainer import Plan, Training
from tests.benchmarks.limits import Limit
from tests.benchmarks.timing import on_threads

# PyTorch's compiler calls functions that PyTorch has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

L, D, N, BATCH, RESAMPLE, ETA = 3, 5, 20, 20_000, 100, 0.01
SEED = 1
STEPS = 10
"""Number of steps in a row that are timed together, as in a training."""


def ours(trained, device, resample=10**9):
    """Return a training whose batch is drawn."""
    training = Training(
        Plan(L, D, N, trained, "printed", 0.25, BATCH, resample, 0.01, ETA, 10**9, 0.01, (0,)), SEED, device
    )
    training.advance()
    return training


def definition(training, device):
    """Return a function that takes a step of PyTorch's Adam on a fixed batch, with full attention and autograd."""
    generator = torch.Generator(device).manual_seed(SEED)
    batch = sample(BATCH, N, training.task.covariance, training.task.inverse, generator)

    def gradient(*leaves):
        return torch.autograd.grad(in_context_errors(pattern(*leaves), *batch).mean(), leaves)

    return on_threads("PyTorch", adam_of_torch(training.matrices, gradient))


def adam_of_torch(matrices, gradient):
    """Return a function that takes a step of PyTorch's Adam."""
    leaves = [matrix.clone().requires_grad_() for matrix in matrices]
    optimiser = torch.optim.Adam(leaves, lr=ETA, betas=(0.9, 0.9))

    def step():
        for leaf, slope in zip(leaves, gradient(*leaves), strict=True):
            leaf.grad = slope
        optimiser.step()

    return step


def adam_of_numpy(A, gradient):
    """Return a function that takes a step of Adam in NumPy."""
    A, mean, square, count = A.numpy().copy(), 0.0, 0.0, 0

    def step():
        nonlocal mean, square, count
        (slope,) = gradient(A)
        count, mean, square = count + 1, 0.9 * mean + 0.1 * slope, 0.9 * square + 0.1 * slope**2
        A[:] -= ETA * mean / (1 - 0.9**count) / (np.sqrt(square / (1 - 0.9**count)) + 1e-8)

    return step


def closed_form(A, S, weights, x, *, product, stack):
    """Return the gradient of the mean of r² in all A_l, where e_0 = w*, e_{l+1} = e_l − A_lᵀ S e_l and r = e_Lᵀ x.

    dr/dA_l = −(S e_l) b_{l+1}ᵀ with b_L = x and b_l = b_{l+1} − S A_l b_{l+1}.
    """
    e, moved, slopes = weights, [], []
    for matrix in A:
        moved.append(product(S, e))
        e = e - matrix.T @ moved[-1]
    b = x * ((e * x).sum(0) * (2 / x.shape[1]))
    for matrix, Se in zip(reversed(A), reversed(moved), strict=True):
        slopes.insert(0, -Se @ b.T)
        b = b - product(S, matrix @ b) if len(slopes) < len(A) else b
    return (stack(slopes),)


def gradients(training):
    """Return two dicts of functions that compute the gradient on the training's batch: by PyTorch, and by NumPy."""
    batch, compiles = training._batch, shutil.which("g++") is not None
    if len(training.matrices) == 2:

        def loss(A, B, *prompts):
            return losses(A, B, Prompts(*prompts)).mean()

        ways = {"autograd on d by d matrices": loss} | ({"the same compiled": torch.compile(loss)} if compiles else {})
        by_torch = {
            name: lambda *leaves, way=way: torch.autograd.grad(way(*leaves, *batch), leaves)
            for name, way in ways.items()
        }
        return by_torch, {}

    def gradient(A, *prompts):
        return closed_form(A, *prompts, product=applied, stack=torch.stack)

    ways = {"its gradient written out": gradient} | ({"the same compiled": torch.compile(gradient)} if compiles else {})
    by_torch = {name: torch.no_grad()(lambda A, way=way: way(A.unbind(), *batch)) for name, way in ways.items()}
    if training.device != "cpu":
        return by_torch, {}
    arrays, einsum = [part.numpy() for part in batch], partial(np.einsum, "ijn,jn->in")
    return by_torch, {
        "its gradient written out": lambda A: closed_form(list(A), *arrays, product=einsum, stack=np.stack)
    }


def best(training, draw=None):
    """Return, by name, functions that take a step of Adam, with gradients from the prompts' second moments.

    With `draw`, a function calls it before every `RESAMPLE` steps.
    """
    by_torch, by_numpy = gradients(training)
    _, exact = training.gradient()
    ways = {}
    for name, gradient in by_torch.items():
        assert close(gradient(*[matrix.clone().requires_grad_() for matrix in training.matrices]), exact)
        ways |= on_threads(f"PyTorch, {name}", drawing(adam_of_torch(training.matrices, gradient), draw))
    for name, gradient in by_numpy.items():
        assert close([torch.from_numpy(slope) for slope in gradient(training.matrices[0].numpy())], exact)
        ways[f"NumPy, {name}"] = drawing(adam_of_numpy(training.matrices[0], gradient), draw)
    return ways


def drawing(step, draw):
    """Return a function that takes a step, and calls `draw`, if there is one, before every `RESAMPLE` steps."""
    taken = 0

    def run():
        nonlocal taken
        if draw is not None and taken % RESAMPLE == 0:
            draw()
        taken += 1
        step()

    return run


def close(found, slopes):
    """Return whether two gradients agree up to rounding."""
    return all(
        torch.allclose(one, other, rtol=0, atol=1e-11 * float(other.abs().max()))
        for one, other in zip(found, slopes, strict=True)
    )


def gradients_agree(training, device):
    """Return whether the training's gradient agrees up to rounding with the reference's on the same draw."""
    generator = torch.Generator(device).manual_seed(SEED)
    tokens, weights = sample(BATCH, N, training.task.covariance, training.task.inverse, generator)
    leaves = [matrix.clone().requires_grad_() for matrix in training.matrices]
    slopes = torch.autograd.grad(in_context_errors(pattern(*leaves), tokens, weights).mean(), leaves)
    training._batch = reduced(tokens, weights)
    _, found = training.gradient()
    return close(found, slopes)


WORDS = {"A": "A alone", "A_and_B": "A and B"}
BEST = {
    "A": "The best plain way has the prompts' second moments, and the gradient written out.",
    "A_and_B": "The best plain way has the prompts' second moments, d by d products in place of n tokens.",
}
BOUND = {
    "A": "The bound, presumably (nothing was profiled): there are five products with the second moments to do, and a"
    " plain way does them without copies.",
    "A_and_B": "The bound, presumably (nothing was profiled): compiled, the plain way's products are fused as ours are,"
    " and at three layers they are few, 13 of a matrix and a vector.",
}
ON_A_CARD = (
    "The bound, profiled on an H200: launches of small kernels, which ran for 0.14 ms of a step's 2.4 (A alone) and"
    " 0.77 of 8.1 (A and B)."
)


def bound(trained, device):
    """Return the note on what bounds the ratio."""
    return BOUND[trained] if device == "cpu" else ON_A_CARD


@pytest.mark.parametrize("trained", WORDS)
def bench_adam_step(pair, device, trained):
    training = ours(trained, device)
    assert gradients_agree(training, device)
    # Half of the symmetric matrix S, w* and the query's token are each read once.
    amount = STEPS * 8 * BATCH * (D * (D + 1) / 2 + 2 * D)
    pair(
        f"{STEPS} steps of Adam, {WORDS[trained]}: L = {L}, d = {D}, n = {N}, batch {BATCH}",
        training.advance,
        definition(training, device),
        best=best(training),
        repeat=STEPS,
        limit=Limit(f"{amount / 2**20:.0f} MiB, a batch's second moments, weights and queries", amount, "bytes"),
        note=f"The definition: full attention, autograd in float64, PyTorch's Adam. {BEST[trained]} "
        f"{bound(trained, device)}",
    )


@pytest.mark.parametrize("trained", WORDS)
def bench_adam_steps_with_the_draw(pair, device, trained):
    training = ours(trained, device, RESAMPLE)

    def draw():
        # The steps go on with the first batch, which takes as long.
        reduced(*sample(BATCH, N, training.task.covariance, training.task.inverse, generator))

    generator = torch.Generator(device).manual_seed(SEED)
    pair(
        f"{RESAMPLE} steps of Adam and the draw of their batch, {WORDS[trained]}",
        training.advance,
        definition(training, device),
        best=best(training, draw),
        repeat=RESAMPLE,
        definition_times=RESAMPLE / STEPS,
        rounds=5,
        note=f"The definition takes {STEPS} steps, times {RESAMPLE // STEPS}, without the draw. The best plain way"
        f" draws tokens, and takes their second moments. {bound(trained, device)}",
    )
