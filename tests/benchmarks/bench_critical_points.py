"""Benchmark of certifying all critical points of Theorem 3's loss, compared with training."""

import numpy as np

from tests.benchmarks.timing import on_threads
from theorems.preconditioned_descent.critical_steps import critical_points
from theorems.wishart.trace_moments import trace_moments

L, D, N = 3, 5, 20
EXAMPLES, STEPS = 20_000, 30_000
STARTS, NEWTON, MERGED = 100, 100, 1e-6


def adam():
    """Return a function that takes one step of Adam on a batch, with full attention and autograd."""
    import torch

    from numerics.preconditioned_descent.reference import in_context_errors, pattern, sample

    generator = torch.Generator().manual_seed(0)
    identity = torch.eye(D, dtype=torch.float64)
    batch = sample(EXAMPLES, N, identity, identity, generator)
    A = (0.1 * torch.randn(L, D, D, generator=generator, dtype=torch.float64)).requires_grad_()
    optimiser = torch.optim.Adam([A], lr=1e-2)

    def step():
        optimiser.zero_grad()
        in_context_errors(pattern(A), *batch).mean().backward()
        optimiser.step()

    return step


def newton():
    """Return the points where Newton's method from random starts ends; all starts are iterated at once, in NumPy.

    The loss is ∫ p² dμ with p = ∏(1 − a_l s), where μ is given by its moments. Its derivative in a_l is −2 ∫ s p p_l dμ
    with p_l = p/(1 − a_l s).
    """
    moments = np.array([float(moment) for moment in trace_moments(2 * L, N, D)])
    a = np.random.default_rng(0).uniform(0, 3, (STARTS, L))

    def without(*left_out):
        p = np.zeros((STARTS, L + 1 - len(left_out)))
        p[:, 0] = 1
        for i in set(range(L)) - set(left_out):
            p[:, 1:] -= a[:, i, None] * p[:, :-1]
        return p

    def integral(p, q, power):
        places = power + np.add.outer(np.arange(p.shape[1]), np.arange(q.shape[1]))
        return ((p @ moments[places]) * q).sum(1)

    for _ in range(NEWTON):
        p, each, second = without(), [without(i) for i in range(L)], np.empty((STARTS, L, L))
        slopes = -2 * np.stack([integral(p, q, 1) for q in each], axis=1)
        for i in range(L):
            for k in range(i + 1):
                both = integral(each[i], each[k], 2)
                second[:, i, k] = second[:, k, i] = 2 * (both if k == i else both + integral(p, without(k, i), 2))
        step = np.linalg.solve(second, slopes[:, :, None])[:, :, 0]
        a = a - step
        if np.abs(step).max() < 1e-9:
            break
    ends = np.sort(a[np.abs(step).max(axis=1) < 1e-9], axis=1)
    return np.unique((ends / MERGED).round(), axis=0) * MERGED


def bench_critical_points(pair):
    found = critical_points(L, D, N)
    assert len(found.points) == 4 and found.complete
    pair(
        f"all critical points of Theorem 3's loss, L = {L}, d = {D}, n = {N}",
        lambda: critical_points(L, D, N),
        on_threads("PyTorch", adam()),
        best=newton,
        reach=0.5,
        definition_times=STEPS,
        note=f"The definition is one training: a step of Adam on {EXAMPLES} examples, by autograd, times {STEPS}. It"
        f" ends in one of the points, and with a sample's error. The best plain way is Newton's method in NumPy from"
        f" {STARTS} random starts on the loss as a polynomial in the steps: it found {len(newton())} of the"
        f" {len(found.points)} points, and certifies nothing, neither a point nor that there are no others."
        " Certainty may cost at most twice the time.",
    )


def bench_growth_with_layers(growth):
    growth(
        "All critical points, d = 5, n = 20",
        "layers L",
        {k: lambda k=k: critical_points(k, D, N) for k in (1, 2, 3, 4, 5, 6)},
    )


def bench_growth_with_examples(growth):
    growth(
        "All critical points, L = 3, d = 5",
        "examples n",
        {n: lambda n=n: critical_points(L, D, n) for n in (10, 20, 40, 80)},
    )
