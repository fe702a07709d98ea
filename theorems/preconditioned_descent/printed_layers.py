r"""At the weights that Figures 4 and 5 print, the expected loss for up to 20 examples is above 1/50.

The figures print, after training three layers of pattern (11) at d = 5, the diagonals of B_0 (0.90 to 0.91) and B_1
(0.56 to 0.57) and of Σ^{1/2} A_l Σ^{1/2} (−0.38; −2.38 to −2.42; −9.46 to −9.65, with the sign as in Q). Let
A_l = a_l Σ^{-1} and B_l = b_l I, with each number in the printed range widened by half a unit of its last digit. Then

    f = E tr r_3(S)² = Σ_{i,j} p_i p_j E tr S^{i+j},    r_3(s) = Σ_i p_i s^i,

where r_3, of degree 13, is the polynomial of Theorem 4's recursion (`preconditioned_tokens`). r_3 is small on most of
the spectrum of S and grows like s^13 beyond it: f is dominated by rare prompts, with an unusually large eigenvalue of
S. So a mean over prompts, even over 20 000 as in a batch of the paper, says nothing about f:
`pytest paper_checks -k printed` compares the two. At n = 10 and n = 20 all slopes of f are positive on the whole box of
printed ranges (shown in balls in `paper_checks`), so that f is least on this box where all five weights are least.

Source: the weights are printed in Figures 4 and 5; the text says n = 10. The loss is derived here.
"""

from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp

from theorems.canaries import with_changes
from theorems.papers import AHN2023
from theorems.preconditioned_descent.layers_of_tokens import THREE, polynomials, rates, s, steps
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR
from theorems.preconditioned_descent.preconditioned_tokens import MULTIPLES, PATTERN
from theorems.preconditioned_descent.setting import DIMENSION, EXAMPLES, GAUSSIAN_TOKENS, LINEAR_ATTENTION, d, n, r
from theorems.wishart.trace_moments import trace_moment, trace_moments
from verify import Derivation, Hypothesis, Inequality, Parameter, Source, Statement, Step, Theorem, primitive

PRINTED = {
    "a0": ("0.38", "0.38"),
    "a1": ("2.38", "2.42"),
    "a2": ("9.46", "9.65"),
    "b0": ("0.90", "0.91"),
    "b1": ("0.56", "0.57"),
}
"""The least and the largest printed value of each weight, to two decimals."""
HALF = Fraction(1, 200)


def interval(name: str) -> tuple[Fraction, Fraction]:
    """Return the interval of a weight: the printed numbers, widened by half a unit of the last digit."""
    low, high = map(Fraction, PRINTED[name])
    return low - HALF, high + HALF


def _within(symbol: sp.Symbol) -> Hypothesis:
    low, high = (sp.Rational(x) for x in interval(symbol.name))
    inside = sp.Le((symbol - (low + high) / 2) ** 2, ((high - low) / 2) ** 2)
    return Hypothesis(f"printed_{symbol}", inside, f"{symbol} within the printed {' to '.join(PRINTED[symbol.name])}")


WEIGHTS = (*steps, *rates)


@primitive(version=1)
def three_layer_loss(arithmetic: Any, n: Any, d: Any, a0: Any, a1: Any, a2: Any, b0: Any, b1: Any) -> Any:
    """Return E tr r_3(S)² for S = XXᵀ/n, where Theorem 4's recursion at these weights gives r_3."""
    one = arithmetic.rational(1)
    tokens, label = [one], [one]
    for step, rate in zip((a0, a1, a2), (b0, b1, arithmetic.rational(0)), strict=True):
        seen = [arithmetic.rational(0), *(step * c for c in _product(tokens, tokens))]
        tokens, label = (
            _product(part, [one, *(-(x * c) for c in seen[1:])]) for part, x in ((tokens, rate), (label, one))
        )
    moments = trace_moments(2 * len(label) - 2, n, d)
    return sum((c * m for c, m in zip(_product(label, label), moments, strict=True)), arithmetic.rational(0))


def _product(one: list[Any], other: list[Any]) -> list[Any]:
    ends = range(len(one) + len(other) - 1)
    return [sum(one[i] * other[k - i] for i in range(len(one)) if 0 <= k - i < len(other)) for k in ends]


loss = three_layer_loss(n, d, *WEIGHTS)
ABOVE = Inequality("above", sp.Gt(loss, sp.Rational(1, 50)), "f = E tr r_3(S)^2 > 1/50")
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES, *(Parameter(x.name, "rational", f"weight {x}") for x in WEIGHTS)),
    hypotheses=(
        LINEAR_ATTENTION,
        PATTERN,
        GAUSSIAN_TOKENS,
        INVERSE_PRIOR,
        MULTIPLES,
        Hypothesis("dimension", sp.Eq(d, 5)),
        Hypothesis("few_examples", sp.Le(n, 20)),
        *map(_within, WEIGHTS),
    ),
    variables=(r,),
    claims=(THREE, ABOVE),
)


def derivation() -> Derivation:
    """Return the steps: the first and the last coefficient of r_3, its value if no token moves, a moment."""
    (a0, a1, a2), (b0, b1) = steps, rates
    r3 = polynomials(3, s)
    first, last = (sp.Subs(sp.Derivative(r3, (s, k)), s, 0) / sp.factorial(k) for k in (1, 13))
    one = sp.Subs(sp.Subs(r3, b0, 0), b1, 0)
    return Derivation(
        (
            Step("p_1, the slope at 0", first, -(a0 + a1 + a2)),
            Step("p_13, the last", last, -(a0**9) * a1**3 * a2 * b0**8 * b1**2),
            Step("with b_0 = b_1 = 0 the layers only move labels", one, (1 - a0 * s) * (1 - a1 * s) * (1 - a2 * s)),
            Step("E tr S²", trace_moment([2], n, d), d * (n + d + 1) / n),
        )
    )


_canary = partial(with_changes, STATEMENT)

printed_layers = Theorem(
    id="ahn2023.printed_layers",
    title="At the weights printed in Figures 4 and 5 the expected loss is above 1/50 for up to 20 examples",
    source=Source("Figures 4 and 5", "derived here", AHN2023, "the weights are printed, the loss is derived here"),
    statement=STATEMENT,
    example={"d": 5, "n": 20, "a0": "0.38", "a1": "2.4", "a2": "9.55", "b0": "0.905", "b1": "0.565"},
    values={"loss": loss, "log_loss": sp.log(loss)},
    derivation=derivation,
    canaries=(
        _canary("above 1/10", "above", relation=sp.Gt(loss, sp.Rational(1, 10))),
        _canary(
            "at five examples more",
            "above",
            relation=sp.Gt(three_layer_loss(n + 5, d, *WEIGHTS), sp.Rational(1, 50)),
        ),
        _canary("one eigenvalue's square for five", "above", relation=sp.Gt(loss / 5, sp.Rational(1, 50))),
        _canary("below Figure 3's level", "above", relation=sp.Lt(loss, sp.exp(-6))),
    ),
    statement_uses=("ahn2023.theorem4",),
    proof_uses=("ahn2023.lemma5",),
)
