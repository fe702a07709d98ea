r"""Common parts of the weight shift and the data shift: the statement, the constants and the canaries.

The best constants of both shifts come from the same function. To first order, moving x by a unit vector v moves the
prediction by J A v, and moving A by E, ‖E‖ = 1, moves it by J E x. For ‖A‖, ‖x‖ ≤ R both have norm at most R times the
largest eigenvalue of J over logits of norm R² or less. The claimed factor is M = n^{3/2} e^{10R²}.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.softmax_regression.best_factor import AT_MOST, IN_REACH, gap
from theorems.softmax_regression.setting import (
    ALONG_THE_PAIR,
    BOUND,
    CHORD,
    CHORD_ABOVE,
    CHORD_VALUE,
    DEFINITIONS,
    DIMENSION,
    EIGENVALUE,
    HALF,
    HALF_TANGENT,
    JACOBIAN,
    JACOBIAN_VARIABLES,
    LARGE_RADIUS,
    MOVED_SHARE,
    PAIR,
    RADIUS,
    RESIDUAL,
    ROWS,
    VARIABLES,
    R,
    after,
    apart,
    b,
    before,
    c,
    e,
    k,
    log_claimed,
    mean,
    n,
    norm,
    target,
    tau,
    variance,
)
from theorems.softmax_regression.trials.moves import (
    Draw,
    Pair,
    needed_at_two_rows,
    predictions_within,
    shift_within,
)
from verify import (
    Canary,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    Statement,
    ValueWhere,
)

SMALL_MOVE = sp.Rational(1, 100)
"""The small-move hypothesis: every logit moves by less than this."""

# 1/p_1 for two equal logits above the others; the logits have mean 0 and norm R².
pair = 2 + (n - 2) * sp.exp(-gap)
# One logit above the others, at probability ½ if the norm R² allows ½, else at the largest probability that R² allows.
highest = R**2 * sp.sqrt(n / (n - 1))
largest = 1 / (1 + (n - 1) * sp.exp(-highest))
row_at_half, row_below = R * n / (4 * (n - 1)), R * largest * (1 - largest) * n / (n - 1)
HALF_IN_REACH = sp.Le(sp.log(n - 1), highest)
ONE_ROW = ValueWhere(sp.Integer(0), (sp.Eq(n, 1),))
TWO_ROWS = ValueWhere(HALF, (sp.Eq(n, 2),))
ROW_CASES = (ONE_ROW, TWO_ROWS, ValueWhere(row_at_half, (HALF_IN_REACH,)), ValueWhere(row_below, ()))
"""The factor that a single logit above the others reaches."""
BETTER_CASES = (
    ONE_ROW,
    TWO_ROWS,
    ValueWhere(row_at_half, (HALF_IN_REACH, sp.Ge(n * pair, 4 * (n - 1)))),
    ValueWhere(row_below, (sp.Gt(sp.log(n - 1), highest), sp.Ge(largest * (1 - largest) * n * pair, n - 1))),
    ValueWhere(R / pair, ()),
)
"""The larger of the factors that a single logit and a pair of equal logits above the others reach."""
BEST = (ONE_ROW, TWO_ROWS, ValueWhere(R / pair, (IN_REACH,)))
"""The best factor, in the cases in which it is known exactly."""

log_bites = sp.log(2) / 2 - log_claimed
log_bites_small_move = log_bites + sp.log((sp.exp(SMALL_MOVE) - 1) / (sp.exp(SMALL_MOVE) + 1))
VALUES = {
    "claimed_factor_log10": log_claimed / sp.log(10),
    "sharp_factor": (ONE_ROW, ValueWhere(HALF, ())),
    "best_factor_at_most": (ONE_ROW, TWO_ROWS, *AT_MOST),
    "bites_below_log10": log_bites / sp.log(10),
    "bites_below_small_move_log10": log_bites_small_move / sp.log(10),
    "vacuous": sp.Lt(log_bites, sp.log(R) - 12 * sp.log(10)),
}


# The norms of the moves of the prediction, of the logits, and of x or A.
predicted, logits, length = sp.symbols("predicted logits length", nonnegative=True)
factor = sp.Symbol("factor", positive=True)
WITHIN = Implication(
    "within_half_the_radius",
    (sp.Le(predicted, logits / 2), sp.Le(logits, R * length)),
    sp.Le(predicted, HALF * length),
    "if the prediction moves by at most half as much as the logits, and the logits by at most R times the move, the "
    "prediction moves by at most R/2 times the move",
)
CLAIMED = Implication(
    "within_the_claim",
    (sp.Le(HALF, factor),),
    sp.Le(HALF * length, factor * length),
    "R/2 times the move is at most c times the move where c >= R/2",
)
share, largest_v, least_v, own_v = sp.symbols("p max min v", real=True)
positive, negative = sp.symbols("positive negative", nonnegative=True)
ENTRY = Identity(
    "entry",
    (share - tau) * (largest_v - own_v) * (own_v - least_v),
    (largest_v + least_v) * share * own_v
    - share * own_v**2
    - largest_v * least_v * share
    - tau * ((largest_v + least_v) * own_v - own_v**2 - largest_v * least_v),
    "(p_i - tau)(max - v_i)(v_i - min), term by term",
)
# The mean μ of v under p, and ‖v‖²; M = μ + b + e and m = μ − b.
mean_v, norm_v = sp.symbols("mu norm_v", real=True)
_highest, _lowest = mean_v + b + e, mean_v - b
VARIANCE = (
    Identity(
        "variance_in_parts",
        (_highest + _lowest) * mean_v - _highest * _lowest - c + tau * (norm_v + n * _highest * _lowest) - mean_v**2,
        b * (b + e) - c + tau * (norm_v + n * ((2 * mean_v + e) ** 2 - (2 * b + e) ** 2) / 4),
        "(M + m) mu - M m - c + tau (N + n M m) - mu^2 is the variance of `eigenvalue`, with q = (M + m)^2, at the "
        "norm^2 N, where m = mu - b, M = mu + b + e",
    ),
    Identity(
        "norm_in_parts",
        _highest**2 + _lowest**2 + k,
        k + (2 * mean_v + e) ** 2 / 2 + (2 * b + e) ** 2 / 2,
        "M^2 + m^2 + k is the norm^2 of `eigenvalue`, with q = (M + m)^2",
    ),
)
SQUARE_OF_THE_SUM = Inequality(
    "square_of_the_sum",
    sp.Ge((positive + negative) ** 2, positive**2 + negative**2),
    "(x + y)^2 >= x^2 + y^2 for x, y >= 0",
)
SQUARES = Implication(
    "squares",
    (sp.Le(positive, mean), sp.Le(negative, mean)),
    sp.Le(positive**2 + negative**2, 2 * mean**2),
    "two parts of at most g have squares that add up to at most 2 g^2",
)
FREE = InWords(
    "free",
    "any two predictions are within sqrt(2), and within sqrt(2) tanh(1/200) where no logit moves by 0.01",
)
SHARP = InWords("sharp", "at n = 2 no factor smaller than R/2 is enough")
ARGUMENT = (
    Inference(
        "variance",
        "v'Jv is the variance of v under p. With M and m the largest and the least v_i, the sum c of all (p_i − τ)(M − "
        "v_i)(v_i − m) is not negative, and by `entry`, with Σ p_i = 1 and Σ v_i = 0, it gives the mean of the v_i²: "
        "the variance is that in `eigenvalue` if the mean of v is in the lower half of its range; otherwise take −v",
        ("eigenvalue", "entry", *(step.label for step in VARIANCE)),
        "nonnegative terms",
    ),
    Inference(
        "slope",
        "the Jacobian of softmax is J = diag(p) − pp', which is symmetric; J1 = 0, and by `eigenvalue` with τ = 0 the "
        "variance v'Jv is at most ½|v|² for every v orthogonal to 1: |J| ≤ ½",
        ("variance", "eigenvalue", *(step.label for step in JACOBIAN)),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "prediction",
        "the prediction moves by at most half as much as the logits",
        ("slope",),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference("logits", "the logits move by at most R times the move", ("norms",), rules.OPERATOR_NORM),
    Inference(
        "shift",
        "the target shifts by as much as the prediction moves, and the claimed factor is at least R/2",
        ("residual", "prediction", "logits", "bound", "within_half_the_radius", "within_the_claim"),
        "application",
    ),
    Inference(
        "sharp",
        "let n = 2 and both logits be equal. A move of length √2 t that moves the logits by R t and −R t moves the "
        "entries of the prediction by s and −s with s/t → R/2, and so the prediction by √2 s. With u = (1, −1)/√2 and "
        "a unit v there are such moves: √2 t v of x = 0 with A = R u v', and √2 t u v' of A = 0 with x = R v. They are "
        "within the norms, and small for small t",
        ("pair", "along_the_pair", "norms", "small_move"),
        rules.DERIVATIVE,
    ),
    Inference(
        "total_variation",
        "the exponentials y of the moves of the logits are between 1/B and B, B = exp(1/100); let g be their mean "
        "under f. Then f' = f y/g, so that the total variation between f' and f is the mean of max(1 − y/g, 0) under "
        "f. This function is convex in y: its mean is at most the value at g of its chord on [1/B, B]",
        ("small_move", "moved_share", "chord_value"),
        rules.CHORD,
    ),
    Inference(
        "at_most_tanh",
        "this value of the chord is at most (B − 1)/(B + 1) = tanh(1/200)",
        ("total_variation", "chord", "chord_above", "half_tangent"),
        "nonnegative terms",
    ),
    Inference(
        "free",
        "the positive entries of f' − f add up to the total variation, which is at most 1, and so do the absolute "
        "values of the negative ones; the squares of either add up to at most the square of the total variation",
        ("at_most_tanh", "square_of_the_sum", "squares"),
        "nonnegative terms",
    ),
)


def statement(shift: InWords, *hypotheses: Hypothesis) -> Statement:
    """Return the statement of a shift, in words, under its structural hypotheses."""
    return Statement(
        parameters=(ROWS, DIMENSION, RADIUS),
        hypotheses=(LARGE_RADIUS, *hypotheses),
        variables=(
            *(*VARIABLES, predicted, logits, length, factor),
            *(share, largest_v, least_v, own_v, positive, negative, mean_v, norm_v, apart, *JACOBIAN_VARIABLES),
        ),
        definitions=DEFINITIONS,
        claims=(shift, SHARP, FREE),
        steps=(
            *(RESIDUAL, *JACOBIAN, EIGENVALUE, ENTRY, *VARIANCE, BOUND, PAIR, ALONG_THE_PAIR),
            *(MOVED_SHARE, CHORD_VALUE, CHORD, CHORD_ABOVE, HALF_TANGENT, WITHIN, CLAIMED, SQUARE_OF_THE_SUM, SQUARES),
        ),
    )


def evaluations(move: Draw, pair: Pair) -> dict[str, Evaluation]:
    """Return the evaluations of a shift's claims: `move` draws moves, and `pair` returns the steepest one at n = 2."""
    return {
        "shift": Evaluation(
            shift_within(move),
            "|b' - b| is at most 9/20 R times the move",
            shift_within(move, factor=0.45),
            draws=40,
        ),
        "sharp": Evaluation(
            needed_at_two_rows(pair),
            "at n = 2 no factor smaller than 51/100 R is enough",
            needed_at_two_rows(pair, factor=0.51),
            sampled=True,
        ),
        "free": Evaluation(
            predictions_within(move),
            "any two predictions are within sqrt(2) tanh(1/220) where no logit moves by 0.01",
            predictions_within(move, widest=1 / 220),
            draws=40,
        ),
    }


def canaries(of: Statement) -> tuple[Canary, ...]:
    """Return the statement's false variants."""
    range_for_norm = sp.Le(variance, ((2 * b + e) / 2) ** 2 / 2)
    one_more = sp.Le(variance, norm * (1 - (n - 1) * tau) / 2)
    return (
        with_clause(of, "the constant times 0.99", replace(PAIR, right=sp.Rational(99, 200), says="")),
        with_clause(of, "half the range of v for its norm", replace(EIGENVALUE, relation=range_for_norm, says="")),
        with_clause(of, "n - 1 for n - 2 in the eigenvalue", replace(EIGENVALUE, relation=one_more, says="")),
        with_clause(
            of, "the residual with the wrong sign", replace(RESIDUAL, right=before - (target + after - before), says="")
        ),
    )
