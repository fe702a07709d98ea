r"""Moving the data: the target shifts by at most R/2 for each unit of the move, in any dimension.

For ‖x‖ ≤ R and any A, A' of spectral norm at most R, with the predictions f at A and f' at A',

    ‖b̃ − b‖ = ‖f' − f‖ ≤ ½ ‖(A' − A)x‖ ≤ (R/2) ‖A' − A‖,

which is the claimed bound with R/2 in place of M = n^{3/2} e^{10R²}; neither R ≥ 4 nor small moves are needed.

*The best constant* at given n and R is R times the largest eigenvalue of J over all logits z of norm R² or less, for
every d ≥ 1: A = z xᵀ/R² with ‖x‖ = R has Ax = z, and the move u xᵀ/R of norm 1 moves the logits by R u, in any
direction u. This includes d = 1, because the move does not depend on the logits. (The norms are bounded after the move,
too: the constant is a supremum, approached from logits inside the ball.) For n = 2 it is R/2. For n ≥ 3 it is below
R/2, and known exactly if log(n−1) ≤ R² √(n/(2(n−2))), as for R ≥ 4 and n up to 81 000 (`best_factor`).
`reached_factor` is, for every d, the value that `weight_shift` has for d ≥ 2.

Source: Li et al. 2024, main theorem (its constant is recalled, not read); the constants and families are derived here.
"""

from dataclasses import replace

from theorems.papers import LI2024
from theorems.softmax_regression.setting import DEFINITIONS, derivation_steps, formal
from theorems.softmax_regression.shifts import ARGUMENT, BEST, BETTER_CASES, VALUES, canaries, evaluations, statement
from theorems.softmax_regression.trials.moves import data_move, data_pair
from verify import Derivation, Hypothesis, InWords, Source, Theorem

NORMS = Hypothesis("norms", text="|A_t| <= R and |A_{t+1}| <= R (spectral), |x| <= R")
SMALL_MOVE = Hypothesis("small_move", text="no logit moves by 0.01: |(A_{t+1} - A_t)x|_inf < 0.01")
SHIFT = InWords(
    "shift",
    "|b' - b| <= (R/2) |A_{t+1} - A_t| <= n^(3/2) exp(10 R^2) |A_{t+1} - A_t| for the target b' of the same residual",
)
STATEMENT = statement(SHIFT, NORMS, SMALL_MOVE)

data_shift = Theorem(
    id="li2024.data_shift",
    title="Moving the data shifts the target by at most R/2 times the move; the claimed factor beside it",
    source=Source("Main theorem, data shift", "recalled", LI2024, "sharp, reached and free bounds: derived here"),
    statement=replace(
        STATEMENT,
        formal={
            "shift": formal(
                data_shift_shift="shifts.data_shift_holds", spectral_norm_is_lub="sums.spectral_norm_is_lub"
            ),
            "sharp": formal(data_shift_sharp="shifts.data_shift_is_sharp"),
            "free": formal(free="total_variation.free_bounds"),
        },
    ),
    example={"n": 50, "d": 20, "R": 4},
    values=VALUES | {"reached_factor": BETTER_CASES, "best_factor": BEST},
    derivation=lambda: Derivation(derivation_steps(), DEFINITIONS),
    canaries=canaries(STATEMENT),
    evaluations=evaluations(data_move, data_pair),
    argument=ARGUMENT,
)
