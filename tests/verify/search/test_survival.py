# ruff: noqa: T201 -- the counts are what is asked of an audit
"""True statements survive: as many instances as fit into a minute each; the counts are printed."""

import time

import pytest
import sympy as sp

import verify
from tests.verify.examples import example_of
from verify import Hypothesis, Inequality, Parameter, Source, Statement, Theorem, load_theorem

pytestmark = pytest.mark.audit

SECONDS = 60
x, y, z = sp.symbols("x y z", positive=True)
w = sp.Symbol("w", real=True)
n, m = sp.symbols("n m", integer=True, positive=True)
X, Y, Z = (Parameter(name, "rational", name, above=0) for name in "xyz")
W = Parameter("w", "rational", "w", minimum=-1)
N, M = (Parameter(name, "integer", name, minimum=1) for name in "nm")


def theorem(name, parameters, relation, *hypotheses):
    statement = Statement(parameters, (Inequality("claim", relation),), hypotheses)
    return Theorem(f"user.{name}", name, Source(name, "derived here"), statement, example_of(statement.parameters))


TRUE = {
    "x + 1/x >= 2": theorem("reciprocals", (X,), sp.Ge(x + 1 / x, 2)),
    "2/(1/x + 1/y) <= (x + y)/2": theorem("means", (X, Y), sp.Le(2 / (1 / x + 1 / y), (x + y) / 2)),
    "(1 + x)^n >= 1 + n x": theorem("bernoulli", (X, N), sp.Ge((1 + x) ** n, 1 + n * x), Hypothesis("h", sp.Le(n, 99))),
    "exp(x) >= 1 + x": theorem("exponential", (X,), sp.Ge(sp.exp(x), 1 + x)),
    # Equality at x = y alone, inside the range that the hypothesis leaves.
    "(x - y)^2 (x + 2 y) >= 0": theorem("factors", (X, Y), sp.Ge(x**3 - 3 * x * y**2 + 2 * y**3, 0)),
    # Equality at x = y = z, where float64 rounds either way.
    "(x + y + z)^3 >= 27 x y z": theorem("three_means", (X, Y, Z), sp.Ge((x + y + z) ** 3, 27 * x * y * z)),
    "(1 + w)^n >= 1 + n w from w = -1 on": theorem(
        "bernoulli_below_0", (W, N), sp.Ge((1 + w) ** n, 1 + n * w), Hypothesis("h", sp.Le(n, 40))
    ),
    # Two regimes, with equality on the curve n = m² between them; in scope beyond a hyperbola.
    "n + m^2 >= 2 m sqrt(n)": theorem(
        "regimes", (N, M), sp.Ge(n + m**2, 2 * m * sp.sqrt(n)), Hypothesis("large", sp.Ge(n * m, 12))
    ),
    "x + y <= sqrt(2) in the unit disc": theorem(
        "disc", (X, Y), sp.Le((x + y) ** 2, 2), Hypothesis("disc", sp.Le(x**2 + y**2, 1))
    ),
    "wang2024.theorem1": load_theorem("wang2024.theorem1"),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_survives_a_minute(name, capsys):
    end, examples, undecided, seed = time.monotonic() + SECONDS, 0, 0, 0
    while (left := end - time.monotonic()) > 1:
        result = verify.explore(TRUE[name], seconds=left, max_examples=10**6, seed=seed)
        assert result.counterexample is None, result
        examples, undecided, seed = examples + result.examples, undecided + result.undecided, seed + 1
    with capsys.disabled():
        print(f"\n{name}: {examples} instances in {SECONDS} s, none refutes it, {undecided} undecided")
    # A scan of a recursion takes some ten milliseconds, all others less than one.
    assert examples >= 200
