r"""What the weight shift and the data shift have in common: their statement, their constants, their canaries.

Both are best constants of the same function. A move of x by a unit vector v moves the prediction by J A v, one of A by
E with ‖E‖ = 1 by J E x; with ‖A‖, ‖x‖ ≤ R both are at most R times the largest eigenvalue of J at logits of norm R² or
less. The claimed factor is M = n^{3/2} e^{10R²}.
"""

from dataclasses import replace

import sympy as sp

from theorems.softmax_regression.setting import (
    BOUND,
    DEFINITIONS,
    DIMENSION,
    EIGENVALUE,
    ELEMENTARY,
    HALF,
    LARGE_RADIUS,
    PAIR,
    RADIUS,
    RESIDUAL,
    ROWS,
    VARIABLES,
    R,
    after,
    b,
    before,
    d,
    e,
    log_claimed,
    n,
    norm,
    target,
    tau,
    variance,
)
from verify import Canary, Hypothesis, Statement, ValueWhere
from verify.claims import Clause

SMALL_MOVE = sp.Rational(1, 100)
"""What no logit moves by in the small-move hypothesis."""

# The pair with its logits at mean 0, so that R² is all difference; the best at two rows; what no choice exceeds.
gap = R**2 * sp.sqrt(n / (2 * (n - 2)))
PAIR_FACTOR = R / (2 + (n - 2) * sp.exp(-gap))
ONE_ROW = ValueWhere(sp.Integer(0), (sp.Eq(n, 1),))
TWO_ROWS = ValueWhere(HALF, (sp.Eq(n, 2),))
least_probability = 1 / (1 + (n - 1) * sp.exp(sp.sqrt(2) * R**2))
AT_MOST = (
    ONE_ROW,
    ValueWhere(HALF * (1 - (n - 2) * least_probability), (sp.Ge(sp.sqrt(2) * R**2, sp.log(3)),)),
    ValueWhere(HALF, ()),
)

log_bites = sp.log(2) / 2 - log_claimed
log_bites_small_move = log_bites + sp.log((sp.exp(SMALL_MOVE) - 1) / (sp.exp(SMALL_MOVE) + 1))
VALUES = {
    "claimed_factor_log10": log_claimed / sp.log(10),
    "sharp_factor": (ONE_ROW, ValueWhere(HALF, ())),
    "best_factor_at_most": AT_MOST,
    "bites_below_log10": log_bites / sp.log(10),
    "bites_below_small_move_log10": log_bites_small_move / sp.log(10),
    "vacuous": sp.Lt(log_bites, sp.log(R) - 12 * sp.log(10)),
}


def statement(*hypotheses: Hypothesis) -> Statement:
    """Return the statement of a shift under its structural hypotheses."""
    return Statement(
        parameters=(ROWS, DIMENSION, RADIUS),
        hypotheses=(LARGE_RADIUS, *hypotheses),
        variables=VARIABLES,
        definitions=DEFINITIONS,
        clauses=(RESIDUAL, EIGENVALUE, ELEMENTARY, BOUND, PAIR),
    )


def canaries(of: Statement) -> tuple[Canary, ...]:
    """Return the statement's false variants."""

    def variant(name: str, clause: Clause, *more: Hypothesis) -> Canary:
        clauses = tuple(clause if k.label == clause.label else k for k in of.clauses)
        return Canary(name, replace(of, clauses=clauses, hypotheses=(*of.hypotheses, *more)), clause.label)

    # At this n and R: logits R²/√2 on two rows and 0 on the others have norm R².
    pair = R / (2 + (n - 2) * sp.exp(-(R**2) / sp.sqrt(2)))
    less = sp.Le(pair, sp.Rational(99, 100) * HALF)
    sizes = (
        Hypothesis("three_rows", sp.Ge(n, 3)),
        Hypothesis("moderate_length", sp.Le(n, 200)),
        Hypothesis("two_columns", sp.Ge(d, 2)),
    )
    range_for_norm = sp.Le(variance, ((2 * b + e) / 2) ** 2 / 2)
    one_more = sp.Le(variance, norm * (1 - (n - 1) * tau) / 2)
    return (
        variant("the constant times 0.99", replace(PAIR, relation=less, says=""), *sizes),
        variant("half the range of v for its norm", replace(EIGENVALUE, relation=range_for_norm, says="")),
        variant("n - 1 for n - 2 in the eigenvalue", replace(EIGENVALUE, relation=one_more, says="")),
        variant(
            "the residual with the wrong sign", replace(RESIDUAL, right=before - (target + after - before), says="")
        ),
    )
