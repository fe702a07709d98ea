"""The harmonic numbers H_n = 1 + 1/2 + … + 1/n, and their bound 1 + log n."""

from fractions import Fraction

import sympy as sp

from verify import Inequality, Inference, Paper, Parameter, Rule, Source, Statement, Theorem, UndefinedError, enclosed

HARDY = Paper("hardy", "Hardy and Wright, An Introduction to the Theory of Numbers, 5th edition, 1979")


MOST_TERMS = 3000
"""The largest number of terms for which the sum is computed exactly."""


@enclosed(version=1, scan=lambda n: float(harmonic_number.evaluate(Fraction(round(n)))))
def harmonic_number(n: Fraction) -> Fraction:
    """Return H_n exactly for an integer n from 1 to `MOST_TERMS`; raise UndefinedError for other numbers."""
    if n.denominator != 1 or not 1 <= n <= MOST_TERMS:
        raise UndefinedError(f"harmonic_number: is known for an integer from 1 to {MOST_TERMS}")
    return sum((Fraction(1, k) for k in range(1, int(n) + 1)), Fraction(0))


n = sp.Symbol("n", integer=True, positive=True)
BELOW_THE_INTEGRAL = Rule(
    "sum below an integral",
    "f(2) + … + f(n) is at most the integral of f from 1 to n where f falls",
    "Hardy and Wright 1979, section 22.5",
    "analysis",
)
harmonic_bound = Theorem(
    id="hardy.harmonic",
    title="The harmonic numbers are at most 1 + log n",
    source=Source("Theorem 422", "derived here", HARDY),
    statement=Statement(
        (Parameter("n", "integer", "the number of terms", minimum=1),),
        (Inequality("at_most", sp.Le(harmonic_number(n), 1 + sp.log(n))),),
    ),
    example={"n": 10},
    values={"sum": harmonic_number(n), "gap": 1 + sp.log(n) - harmonic_number(n)},
    argument=(
        Inference("at_most", "1/2 + … + 1/n is at most the integral of 1/x from 1 to n", (), BELOW_THE_INTEGRAL),
    ),
)
