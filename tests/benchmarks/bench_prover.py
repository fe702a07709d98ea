"""Time of a search for a proof as a function of the number of variables and of the degree."""

import verify


def is_proved(line):
    """Search for a proof of a line, and check that one is found."""
    assert str(verify.prove(line).for_all_parameters.standing) == "proved", line


def cycle(count):
    """Return the claim that Σ x_i x_{i+1} ≤ Σ x_i², with indices modulo `count`."""
    names = [f"x{i}" for i in range(count)]
    products = " + ".join(f"{name}*{names[(i + 1) % count]}" for i, name in enumerate(names))
    return f"{products} <= {' + '.join(f'{name}**2' for name in names)} for any {', '.join(names)}"


def bench_growth_with_variables(growth):
    growth(
        "A proof of a quadratic inequality: Σ x_i x_(i+1) ≤ Σ x_i²",
        "variables",
        {n: lambda n=n: is_proved(cycle(n)) for n in (2, 3, 4, 6, 8, 10, 12)},
        note="With 16 variables the claim stays open: a sum of squares has at most some twenty rows.",
    )


def bench_growth_with_degree(growth):
    growth(
        "A proof of Bernoulli's inequality on the whole line: x^k ≥ kx − k + 1, k even",
        "degree k",
        {k: lambda k=k: is_proved(f"x**{k} >= {k}*x - {k - 1} for any x") for k in (2, 4, 6, 8, 12, 16, 24)},
    )
