r"""Moving the weights: the target shifts by at most R/2 for each unit of the move, far less than the claimed M.

Let f(x) = softmax(Ax), and let b̃ be the target for which f(x) − b̃ = f(x') − b. For ‖A‖ ≤ R and any x, x' of norm at
most R,

    ‖b̃ − b‖ = ‖f(x') − f(x)‖ ≤ ½ ‖A(x' − x)‖ ≤ (R/2) ‖x' − x‖,

which is the claimed bound with R/2 in place of M = n^{3/2} e^{10R²}; neither R ≥ 4 nor small moves are needed. For one
row (n = 1) the prediction never moves: f = 1.

With J the Jacobian of softmax at the logits Ax, *the best constant* at given n, d, R is the largest ‖J A‖ (the ball of
x is convex, so that the slopes determine it).
- n = 2: it is R/2, at x = 0 and A = R (1, −1)ᵀ/√2 times a unit row.
- d ≥ 2: it is R times the largest eigenvalue of J over all logits of norm R² or less: given z and a unit eigenvector u,
  let A be R times an isometry of a plane onto a plane that contains z and u; then z = Ax with ‖x‖ ≤ R, and R u = A v,
  ‖v‖ = 1. For n ≥ 3 it is below R/2. If log(n−1) ≤ R² √(n/(2(n−2))), in particular for R ≥ 4 and n up to 81 000, it is
  R/(2 + (n−2) exp(−R² √(n/(2(n−2))))), reached by two equal logits as far above the others as R² allows
  (`best_factor`). Otherwise `reached_factor` is the larger of two factors: this one, and the one that a single logit
  above the others reaches if the logits move along e_1 − 1/n. The second factor is R n/(4(n−1)) if R² allows this logit
  the probability ½, else the value at the largest logit that R² allows. It is the larger one if R² is small relative to
  log n (at R = 4 from n = 163 886 on). In this case neither of the two factors need be the best: at n = 50, R = 2 the
  larger is 0.5102, and two unequal logits reach 0.511.
- d = 1: A is one column a, so that the logits are x a and move along a. `reached_factor` is the factor that
  a = e_1 − 1/n, scaled to norm R, reaches. If log(n−1) ≤ R² √(n/(n−1)), it is R n/(4(n−1)), between R/4 and 3R/8
  (n = 3) for n ≥ 3; otherwise it is the value at |x| = R. It is not proved to be the best, either.
`paper_checks/li2024` compares both values of `reached_factor` with an ascent over A and x of norm R by autograd.

Source: Li et al. 2024, main theorem (its constant is recalled, not read); the constants and families are derived here.
"""

from dataclasses import replace

import sympy as sp

from theorems.papers import LI2024
from theorems.softmax_regression.setting import DEFINITIONS, d, derivation_steps, formal
from theorems.softmax_regression.shifts import (
    ARGUMENT,
    BEST,
    BETTER_CASES,
    ROW_CASES,
    VALUES,
    canaries,
    evaluations,
    statement,
)
from theorems.softmax_regression.trials.moves import weight_move, weight_pair
from verify import Derivation, Hypothesis, InWords, Source, Theorem, ValueWhere

NORMS = Hypothesis("norms", text="|A| <= R (spectral), |x_t| <= R and |x_{t+1}| <= R")
SMALL_MOVE = Hypothesis("small_move", text="no logit moves by 0.01: |A(x_{t+1} - x_t)|_inf < 0.01")
SHIFT = InWords(
    "shift",
    "|b' - b| <= (R/2) |x_{t+1} - x_t| <= n^(3/2) exp(10 R^2) |x_{t+1} - x_t| for the target b' of the same residual",
)
STATEMENT = statement(SHIFT, NORMS, SMALL_MOVE)

REACHED = tuple(ValueWhere(case.expression, (sp.Eq(d, 1), *case.relations)) for case in ROW_CASES) + BETTER_CASES

WIDE = (*BEST[:2], *(ValueWhere(case.expression, (sp.Ge(d, 2), *case.relations)) for case in BEST[2:]))

weight_shift = Theorem(
    id="li2024.weight_shift",
    title="Moving the weights shifts the target by at most R/2 times the move; the claimed factor beside it",
    source=Source("Main theorem, weight shift", "recalled", LI2024, "sharp, reached and free bounds: derived here"),
    statement=replace(
        STATEMENT,
        formal={
            "shift": formal(
                weight_shift_shift="shifts.weight_shift_holds", spectral_norm_is_lub="sums.spectral_norm_is_lub"
            ),
            "sharp": formal(weight_shift_sharp="shifts.weight_shift_is_sharp"),
            "free": formal(free="total_variation.free_bounds"),
        },
    ),
    example={"n": 50, "d": 20, "R": 4},
    values=VALUES | {"reached_factor": REACHED, "best_factor": WIDE},
    derivation=lambda: Derivation(derivation_steps(), DEFINITIONS),
    canaries=canaries(STATEMENT),
    evaluations=evaluations(weight_move, weight_pair),
    argument=ARGUMENT,
)
