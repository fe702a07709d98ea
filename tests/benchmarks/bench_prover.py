"""Time of a search for a proof as a function of the number of variables and of the degree."""

from itertools import count

import verify

_RUNS = count()
"""Numbers of runs, for new names in each: the engine keeps the proofs of claims that it has seen."""


def is_proved(line):
    """Search for a proof of a line, and check that one is found."""
    assert str(verify.prove(line).for_all_parameters.standing) == "proved", line


def cycle(variables):
    """Return the claim that Σ x_i x_{i+1} ≤ Σ x_i², with indices modulo the number of variables."""
    run = next(_RUNS)
    names = [f"x{run}_{i}" for i in range(variables)]
    products = " + ".join(f"{name}*{names[(i + 1) % variables]}" for i, name in enumerate(names))
    return f"{products} <= {' + '.join(f'{name}**2' for name in names)}"


def tangent(degree):
    """Return the claim that x^k is at least its tangent at 1."""
    name = f"x{next(_RUNS)}"
    return f"{name}**{degree} >= {degree}*{name} - {degree - 1}"


def bench_growth_with_variables(growth):
    growth(
        "A proof of a quadratic inequality: Σ x_i x_(i+1) ≤ Σ x_i²",
        "variables",
        {n: lambda n=n: is_proved(cycle(n)) for n in (2, 3, 4, 6, 8, 10, 12)},
    )


def bench_growth_with_degree(growth):
    growth(
        "A proof that x^k is above its tangent at 1, k even",
        "degree k",
        {k: lambda k=k: is_proved(tangent(k)) for k in (2, 4, 6, 8, 12, 16, 24)},
    )
