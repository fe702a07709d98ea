"""All critical points of Theorem 3's loss, certified, against training."""

from theorems.preconditioned_descent.critical_steps import critical_points

L, D, N = 3, 5, 20
EXAMPLES, STEPS = 20_000, 30_000


def adam():
    """Return one step of Adam on a batch of full attention, by autograd."""
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


def bench_critical_points(pair):
    found = critical_points(L, D, N)
    assert len(found.points) == 4 and found.complete
    pair(
        f"all critical points of Theorem 3's loss, L = {L}, d = {D}, n = {N}",
        lambda: critical_points(L, D, N),
        adam(),
        reach=1e5,
        rounds=5,
        plain_times=STEPS,
        torch=True,
        note=f"The plain way is one training: a step of Adam on {EXAMPLES} examples, by autograd, times {STEPS}."
        " It ends in one of the points, and with a sample's error.",
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
