# ruff: noqa: T201 -- an audit prints its counts
"""True statements survive thousands of instances at each of four seeds; a recursion survives 100 at one seed."""

import pytest
import sympy as sp

import verify
from tests.verify.examples import example_of
from verify import Hypothesis, Inequality, Parameter, Source, Statement, Theorem, load_theorem

pytestmark = pytest.mark.audit

SEEDS = range(4)
INSTANCES, OF_A_RECURSION = 5000, 100
"""The number of instances for each seed; an instance takes up to a millisecond, or seconds for a recursion."""
SECONDS, FOR_A_RECURSION = 300, 40
"""Time limits: a search should take less than a tenth of SECONDS; one of a recursion takes all of FOR_A_RECURSION."""
x, y, z = sp.symbols("x y z", positive=True)
w = sp.Symbol("w", real=True)
n, m = sp.symbols("n m", integer=True, positive=True)
X, Y, Z = (Parameter(name, "rational", name, above=0) for name in "xyz")
W = Parameter("w", "rational", "w", minimum=-1)
N, M = (Parameter(name, "integer", name, minimum=1) for name in "nm")


def theorem(name, parameters, relation, *hypotheses):
    statement = Statement(parameters, (Inequality("claim", relation),), hypotheses)
    return Theorem(f"user.{name}", name, Source(name, "derived here"), statement, example_of(statement.parameters))


RECURSION = "wang2024.theorem1"
TRUE = {
    "x + 1/x >= 2": theorem("reciprocals", (X,), sp.Ge(x + 1 / x, 2)),
    "2/(1/x + 1/y) <= (x + y)/2": theorem("means", (X, Y), sp.Le(2 / (1 / x + 1 / y), (x + y) / 2)),
    "(1 + x)^n >= 1 + n x": theorem("bernoulli", (X, N), sp.Ge((1 + x) ** n, 1 + n * x), Hypothesis("h", sp.Le(n, 99))),
    "exp(x) >= 1 + x": theorem("exponential", (X,), sp.Ge(sp.exp(x), 1 + x)),
    # The sides are equal only at x = y.
    "(x - y)^2 (x + 2 y) >= 0": theorem("factors", (X, Y), sp.Ge(x**3 - 3 * x * y**2 + 2 * y**3, 0)),
    # The sides are equal at x = y = z, where float64 may round in either direction.
    "(x + y + z)^3 >= 27 x y z": theorem("three_means", (X, Y, Z), sp.Ge((x + y + z) ** 3, 27 * x * y * z)),
    "(1 + w)^n >= 1 + n w from w = -1 on": theorem(
        "bernoulli_below_0", (W, N), sp.Ge((1 + w) ** n, 1 + n * w), Hypothesis("h", sp.Le(n, 40))
    ),
    # Two regimes, with equality on the curve n = m² between them; the scope is bounded by a hyperbola.
    "n + m^2 >= 2 m sqrt(n)": theorem(
        "regimes", (N, M), sp.Ge(n + m**2, 2 * m * sp.sqrt(n)), Hypothesis("large", sp.Ge(n * m, 12))
    ),
    "x + y <= sqrt(2) in the unit disc": theorem(
        "disc", (X, Y), sp.Le((x + y) ** 2, 2), Hypothesis("disc", sp.Le(x**2 + y**2, 1))
    ),
    RECURSION: load_theorem(RECURSION),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_survives_thousands_of_instances(name, capsys):
    most, seconds = (OF_A_RECURSION, FOR_A_RECURSION) if name == RECURSION else (INSTANCES, SECONDS)
    examples, undecided = 0, 0
    for seed in SEEDS[:1] if name == RECURSION else SEEDS:
        result = verify.explore(TRUE[name], seconds=seconds, max_examples=most, seed=seed)
        # A search may end before `most` instances: with one parameter there are only some 4000 to draw.
        assert result.counterexample is None, result
        assert name == RECURSION or result.stopped == "examples", result
        examples, undecided = examples + result.examples, undecided + result.undecided
    with capsys.disabled():
        print(f"\n{name}: {examples} instances, none refutes it, {undecided} undecided")
    assert examples >= (5 if name == RECURSION else most * len(SEEDS) / 2)
