"""Random expressions of two positive symbols, for comparison with another program."""

import sympy as sp

from verify import Parameter

A, B = sp.symbols("x y", positive=True)
FREE = tuple(Parameter(name, "rational", name, above=0) for name in "xy")


def random_expression(draw, depth, *, rational):
    """Return a random expression of x and y; at positive x and y it has a value, which is positive."""
    if depth == 0:
        return draw.choice([A, B, sp.Integer(draw.randint(1, 5)), sp.Rational(draw.randint(1, 9), draw.randint(2, 9))])
    parts = [random_expression(draw, depth - 1, rational=rational) for _ in range(draw.randint(2, 3))]
    choices = [sp.Add(*parts), sp.Mul(*parts), parts[0] / parts[1], parts[0] ** draw.choice([-2, -1, 2, 3])]
    if not rational:
        choices += [sp.exp(-parts[0] / 9), sp.log(1 + parts[0]), sp.sqrt(parts[0]), (1 + parts[0]) ** (parts[1] / 9)]
    return draw.choice(choices)
