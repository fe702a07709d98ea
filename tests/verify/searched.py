"""Small theorems for the tests of the search: their symbols, parameters and clause."""

import sympy as sp

from tests.verify.examples import example_of
from verify import Hypothesis, Inequality, Parameter, Source, Statement, Theorem

n, m = sp.symbols("n m", integer=True, positive=True)
k = sp.Symbol("k", integer=True)
x, y = sp.symbols("x y", positive=True)
v, w, z, noise = sp.symbols("v w z noise", real=True)
N, M = (Parameter(name, "integer", "a size", minimum=1) for name in "nm")
K = Parameter("k", "integer", "a number")
X, Y = (Parameter(name, "rational", "a size", above=0) for name in "xy")
W = Parameter("w", "rational", "a number")
AT_LEAST_ONE = Parameter("x", "rational", "a size", minimum=1)
NOISE = Parameter("noise", "word", "the noise", words=("gaussian", "uniform"))


def theorem(parameters, relation, *hypotheses, **more):
    clause = relation if not isinstance(relation, sp.core.relational.Relational) else Inequality("claim", relation)
    statement = Statement(parameters, (clause,), hypotheses, **more)
    return Theorem("user.t", "t", Source("t", "derived here"), statement, example=example_of(parameters))


STRUCTURAL = Hypothesis("gaussian_noise", text="the noise is Gaussian", varies=NOISE)


def without_the_clock(result):
    """Return a result's JSON without the seconds."""
    return {name: value for name, value in result.to_json().items() if name != "seconds"}
