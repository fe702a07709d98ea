r"""A gradient step and an attention layer may move the prediction apart, by the sum of their shifts.

Both shifts are bounded: a step x' = x − η AᵀJ(p − b) has ‖x' − x‖ ≤ η ‖A‖ ‖J(p − b)‖ ≤ η R/√2, and one self-attention
layer with values A V moves A by at most √n ‖A‖ ‖V‖ (its weights have rows of sum 1). For the two predictions the same
slope bound gives only

    ‖f(x'; A) − f(x; A')‖ ≤ ½ ‖A(x' − x) − (A' − A)x‖ ≤ (R/2)(‖x' − x‖ + ‖A' − A‖):

the predictions are close if the two moves of the logits are close to each other; bounds on each move do not imply this.
In the following family the two moves have opposite directions. Let A = (a, −a)ᵀ, d = 1 and b = (1, 0), and let row i of
the layer attend with logits a_i w a_j to values −v a_j:

    logits' difference D = 2ax;   gradient step: D' = D + 8ηa² p(1−p)²;   layer: D'' = D (1 − v tanh(wa²)),

p = 1/(1 + e^{−D}). For x, v, w > 0 the step moves the prediction towards the target and the layer away from it, however
small η and v are: p' > p > p'', so that the distance √2 (p' − p'') of the two predictions is the sum of the two shifts.
By the bound above it is at most (√2/4)(D' − D''). So at every instance the two predictions are farther from each other
than either is from the prediction before the moves. The loss L = (1 − p)² has the slope −2p(1 − p)² in D and the second
derivative 2p(1 − p)²(3p − 1), at most 1/6 in absolute value. So each move alone changes L to first order by

    step: −(D' − D)²/(4ηa²), which is −η (dL/dx)²;   layer: +2p(1 − p)²(D − D''),

with an error of at most (D' − D)²/12 or (D − D'')²/12. The hypotheses are those of both shifts, small moves included;
the clauses need none of them.

Source: Li et al. 2024 conclude from the boundedness of both shifts that the two models are close; derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import LI2024
from theorems.softmax_regression.setting import R, formal
from verify import (
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

a, x, eta, w, v = sp.symbols("a x eta w v", positive=True)
# s is the odds p/(1 − p) = e^D, u is exp(wa²); the step multiplies s by 1 + rise, the layer divides s by 1 + fall.
s, u, rise, fall = sp.symbols("s u rise fall", positive=True)
# Three probabilities; the move of D, and the loss's slope and second derivative in D.
higher, middle, lower = sp.symbols("higher middle lower", real=True)
moved, slope, bend = sp.symbols("moved slope bend", real=True)
difference = sp.Symbol("difference", real=True)

PARAMETERS = (
    Parameter("a", "rational", "the two rows of A are a and -a", above=0),
    Parameter("x", "rational", "the weight before the moves", above=0),
    Parameter("eta", "rational", "step size of the gradient step", above=0),
    Parameter("w", "rational", "the layer's query-key weight", above=0),
    Parameter("v", "rational", "minus the layer's value weight", above=0),
    Parameter("R", "rational", "bound on the norms", above=0),
)


def probability(difference: sp.Expr) -> sp.Expr:
    """Return the first row's probability at a difference of the logits."""
    return 1 / (1 + sp.exp(-difference))


D = 2 * a * x
STEP = 8 * eta * a**2 * probability(D) * (1 - probability(D)) ** 2
LAYER = D * v * (1 - sp.exp(-2 * w * a**2)) / (1 + sp.exp(-2 * w * a**2))

# p(1 − p)² ≤ 4/27 and tanh ≤ 1 make these relations rational; the logits are ±D/2, and move by half the move of D.
HYPOTHESES = (
    Hypothesis("large_radius", sp.Ge(R, 4)),
    Hypothesis("data_norm", sp.Ge(R**2, 2 * a**2), "|A| = sqrt(2) a <= R"),
    Hypothesis("moved_data_norm", sp.Ge(R**2, 2 * a**2 * (v - 1) ** 2), "|A'| <= sqrt(2) a max(1, v - 1) <= R"),
    Hypothesis("weight_norm", sp.Ge(R, x + 16 * eta * a / 27), "|x| < |x'| <= x + 16 eta a/27 <= R"),
    Hypothesis("small_step", sp.Lt(1600 * eta * a**2, 27), "the step moves each logit by at most 16 eta a^2/27 < 0.01"),
    Hypothesis("small_layer", sp.Lt(100 * a * x * v, 1), "the layer moves each logit by less than a x v < 0.01"),
)

# L = (1 − p)² with p = s/(1 + s) at e^D = s, whose slope in x is 2a s dL/ds.
SLOPE = Identity(
    "gradient",
    2 * a * s * sp.Derivative((1 - s / (1 + s)) ** 2, s),
    -4 * a * s / (1 + s) ** 3,
    "dL/dx = -4 a p (1 - p)^2",
)
ATTENTION = Identity(
    "attention",
    (u * (-v * a) + (-v * (-a)) / u) / (u + 1 / u),
    -v * a * (u**2 - 1) / (u**2 + 1),
    "the layer adds -v a tanh(w a^2) to the first row, and its negative to the second; u = exp(w a^2)",
)
ALWAYS_DOWN = Implication(
    "layer_moves_down",
    (sp.Gt(u, 1),),
    sp.Gt(D * v * (u**2 - 1) / (u**2 + 1), 0, evaluate=False),
    "D'' < D at all u > 1",
)
_before = s / (1 + s)
MOVED_BY_THE_STEP = Identity(
    "moved_by_the_step",
    2 * a * (x + eta * 4 * a * s / (1 + s) ** 3) - 2 * a * x,
    8 * eta * a**2 * _before * (1 - _before) ** 2,
    "with x' = x - eta dL/dx, D' - D = 8 eta a^2 p(1 - p)^2",
)
ALWAYS = Inequality("step_moves_up", sp.Gt(MOVED_BY_THE_STEP.right, 0, evaluate=False), "D' > D at all odds s")
MOVED_BY_THE_LAYER = Identity(
    "moved_by_the_layer",
    2 * (a - v * a * (u**2 - 1) / (u**2 + 1)) * x - D,
    -D * v * (u**2 - 1) / (u**2 + 1),
    "with a - v a tanh(w a^2) in the place of a, D'' - D = -D v tanh(w a^2)",
)
IN_ODDS = (
    Identity(
        "in_odds",
        probability(difference),
        sp.exp(difference) / (1 + sp.exp(difference)),
        "p = s/(1 + s) at the odds s = e^D",
    ),
    Identity(
        "odds_after_the_step",
        probability(difference + moved),
        sp.exp(difference) * sp.exp(moved) / (1 + sp.exp(difference) * sp.exp(moved)),
        "at D + y the odds are s e^y, at the odds s = e^D",
    ),
    Identity(
        "odds_after_the_layer",
        probability(difference - moved),
        sp.exp(difference) / (sp.exp(moved) + sp.exp(difference)),
        "at D - y the probability is s/(e^y + s), at the odds s = e^D",
    ),
    Identity(
        "tangent",
        (1 - sp.exp(-2 * moved)) / (1 + sp.exp(-2 * moved)),
        (sp.exp(moved) ** 2 - 1) / (sp.exp(moved) ** 2 + 1),
        "(1 - e^-2y)/(1 + e^-2y) = (u^2 - 1)/(u^2 + 1) at u = e^y",
    ),
)
ABOVE_ONE = Implication("above_one", (sp.Gt(moved, 0),), sp.Gt(sp.exp(moved), 1), "e^y > 1 for y > 0")
# Odds s before the moves, s(1 + rise) after the step and s/(1 + fall) after the layer.
UP = Inequality(
    "towards_the_target",
    sp.Gt(s * (1 + rise) / (1 + s * (1 + rise)), s / (1 + s), evaluate=False),
    "D' > D: the step raises p",
)
DOWN = Inequality("away_from_it", sp.Lt(s / (1 + fall + s), s / (1 + s), evaluate=False), "D'' < D: the layer lowers p")
first, step, layer = (probability(D), probability(D + STEP), probability(D - LAYER))
# The paper's conclusion fails at every instance: both new predictions are closer to the old one than to each other.
FURTHER = (
    Inequality(
        "further_than_the_step",
        sp.Gt(sp.sqrt(2) * (step - layer), sp.sqrt(2) * (step - first), evaluate=False),
        "the two new predictions are further apart than the step moves the prediction: the layer moves the other way",
    ),
    Inequality(
        "further_than_the_layer",
        sp.Gt(sp.sqrt(2) * (step - layer), sp.sqrt(2) * (first - layer), evaluate=False),
        "the two new predictions are further apart than the layer moves the prediction",
    ),
)
DISTANCE = Identity(
    "distance",
    (higher - lower) ** 2 + ((1 - higher) - (1 - lower)) ** 2,
    2 * (higher - lower) ** 2,
    "two predictions p' and p'' of the first row are at the distance sqrt(2) |p' - p''|",
)
ABOVE = Implication(
    "below_the_first",
    (sp.Gt(middle, lower),),
    sp.Gt(sp.sqrt(2) * (higher - lower), sp.sqrt(2) * (higher - middle)),
    "sqrt(2) (p' - p'') > sqrt(2) (p' - p) where p > p''",
)
BELOW = Implication(
    "above_the_first",
    (sp.Gt(higher, middle),),
    sp.Gt(sp.sqrt(2) * (higher - lower), sp.sqrt(2) * (middle - lower)),
    "sqrt(2) (p' - p'') > sqrt(2) (p - p'') where p' > p",
)
# Second derivative and slope in D of the loss (1 − p)² = 1/(1 + s)², e^D = s; a slope in D is s times the slope in s.
_bend = 2 * s * (2 * s - 1) / (1 + s) ** 4
_loss_slope = -2 * _before * (1 - _before) ** 2
LOSS_SLOPE = Identity("loss_slope", s * sp.Derivative((1 - _before) ** 2, s), _loss_slope, "dL/dD = -2p(1 - p)^2")
LOSS_BEND = Identity(
    "loss_bend", s * sp.Derivative(_loss_slope, s), _bend, "d^2L/dD^2 = 2s(2s - 1)/(1 + s)^4 at the odds s"
)
BEND_AT_MOST = Inequality("bend_at_most", sp.Le(_bend, sp.Rational(1, 6), evaluate=False), "d^2L/dD^2 <= 1/6")
BEND_AT_LEAST = Inequality("bend_at_least", sp.Ge(_bend, -sp.Rational(1, 6), evaluate=False), "d^2L/dD^2 >= -1/6")
LOSSES = (
    Inequality(
        "step_lowers_the_loss",
        sp.Le((1 - step) ** 2, (1 - first) ** 2 - STEP**2 / (4 * eta * a**2) + STEP**2 / 12, evaluate=False),
        "the step alone lowers the loss by (D' - D)^2 (1/(4 eta a^2) - 1/12) or more",
    ),
    Inequality(
        "layer_raises_the_loss",
        sp.Ge((1 - layer) ** 2, (1 - first) ** 2 + 2 * first * (1 - first) ** 2 * LAYER - LAYER**2 / 12),
        "the layer alone raises the loss by 2p(1 - p)^2 (D - D'') - (D - D'')^2/12 or more",
    ),
)
LOWERS = Implication(
    "second_order_of_the_step",
    (sp.Eq(4 * eta * a**2 * slope, -moved), sp.Le(bend, sp.Rational(1, 6))),
    sp.Le(slope * moved + bend * moved**2 / 2, -(moved**2) / (4 * eta * a**2) + moved**2 / 12),
    "slope (D' - D) + bend (D' - D)^2/2 <= -(D' - D)^2 (1/(4 eta a^2) - 1/12) where D' - D = -4 eta a^2 slope, "
    "bend <= 1/6",
)
RAISES = Implication(
    "second_order_of_the_layer",
    (sp.Ge(bend, -sp.Rational(1, 6)),),
    sp.Ge(-slope * moved + bend * moved**2 / 2, -slope * moved - moved**2 / 12),
    "-slope (D - D'') + bend (D - D'')^2/2 >= -slope (D - D'') - (D - D'')^2/12 where bend >= -1/6",
)
STATEMENT = Statement(
    parameters=PARAMETERS,
    hypotheses=HYPOTHESES,
    variables=(u, s, rise, fall, higher, middle, lower, moved, slope, bend, difference),
    claims=(*FURTHER, *LOSSES),
    steps=(
        *(SLOPE, ATTENTION, MOVED_BY_THE_STEP, MOVED_BY_THE_LAYER, ALWAYS, ALWAYS_DOWN, ABOVE_ONE, *IN_ODDS, UP, DOWN),
        DISTANCE,
        *(ABOVE, BELOW, LOSS_SLOPE, LOSS_BEND, BEND_AT_MOST, BEND_AT_LEAST, LOWERS, RAISES),
    ),
)
ARGUMENT = (
    Inference(
        "odds",
        "D' − D > 0 at the odds s = e^D, and D − D'' > 0 with u = exp(wa²) > 1. The step multiplies the odds by 1 + "
        "rise = exp(D' − D), and the layer divides them by 1 + fall = exp(D − D''); both factors are above 1",
        (
            *("gradient", "attention", "moved_by_the_step", "moved_by_the_layer"),
            *("step_moves_up", "layer_moves_down", "above_one", *(step.label for step in IN_ODDS)),
        ),
        "application",
    ),
    Inference(
        "sides",
        "at these odds p' > p > p'', and the distance of two predictions is √2 times the difference of these "
        "probabilities",
        ("odds", "towards_the_target", "away_from_it", "distance"),
        "application",
    ),
    Inference("further_than_the_step", "p > p'': p' − p'' > p' − p", ("sides", "below_the_first"), "application"),
    Inference("further_than_the_layer", "p' > p: p' − p'' > p − p''", ("sides", "above_the_first"), "application"),
    Inference(
        "step_lowers_the_loss",
        "the slope of the loss in D is −2p(1 − p)², and its second derivative is at most 1/6 between D and D'",
        (
            *("odds", "moved_by_the_step", "loss_slope", "loss_bend", "bend_at_most"),
            "second_order_of_the_step",
        ),
        rules.TAYLOR_THEOREM,
    ),
    Inference(
        "layer_raises_the_loss",
        "the slope of the loss in D is −2p(1 − p)², and its second derivative is at least −1/6 between D'' and D",
        ("odds", "loss_slope", "loss_bend", "bend_at_least", "second_order_of_the_layer"),
        rules.TAYLOR_THEOREM,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the gradient at two rows, the step, the layer, the sum of the shifts."""
    t = sp.Symbol("t", real=True)
    q = sp.exp(t) / (1 + sp.exp(t))
    return Derivation(
        (
            Step("L = ½‖p − b‖² with b = (1, 0), two rows", ((q - 1) ** 2 + (1 - q) ** 2) / 2, (1 - q) ** 2),
            Step("its slope in the difference t of the logits", sp.Derivative((1 - q) ** 2, t), -2 * q * (1 - q) ** 2),
            Step(
                "t = 2ax, so that a step in x moves t by −2aη times the slope in x",
                -2 * a * eta * sp.Derivative((1 - q.subs(t, 2 * a * x)) ** 2, x),  # pyright: ignore[reportOperatorIssue]
                8 * eta * a**2 * (q * (1 - q) ** 2).subs(t, 2 * a * x),
            ),
            Step(
                "the loss's second derivative in t",
                sp.Derivative((1 - q) ** 2, (t, 2)),
                2 * q * (1 - q) ** 2 * (3 * q - 1),
            ),
            Step("the same in the odds s", LOSS_BEND.left, LOSS_BEND.right),
            Step("the layer's row, u = exp(wa²)", ATTENTION.left, ATTENTION.right),
            Step(
                "p' − p, where the odds are multiplied by 1 + rise",
                UP.relation.lhs - UP.relation.rhs,  # pyright: ignore[reportOperatorIssue]
                rise * s / ((1 + s) * (1 + s + s * rise)),
            ),
        )
    )


_canary = partial(with_changes, STATEMENT)


opposite_moves = Theorem(
    id="li2024.opposite_moves",
    title="A gradient step and an attention layer may move the prediction in opposite directions",
    source=Source("closeness of the two shifts", "derived here", LI2024),
    statement=replace(
        STATEMENT,
        formal={
            "further_than_the_step": formal(
                further_than_the_step="opposite_moves.further_than_the_step_holds",
                moves_exist="opposite_moves.moves_exist_holds",
                moved_probabilities="opposite_moves.probabilities_of_the_moves",
            ),
            "further_than_the_layer": formal(
                further_than_the_layer="opposite_moves.further_than_the_layer_holds",
            ),
            "step_lowers_the_loss": formal(step_lowers_the_loss="opposite_moves.step_lowers_the_loss_holds"),
            "layer_raises_the_loss": formal(layer_raises_the_loss="opposite_moves.layer_raises_the_loss_holds"),
        },
    ),
    example={"a": 1, "x": "1/2", "eta": "1/60", "w": 1, "v": "1/100", "R": 4},
    values={
        "gradient_shift": sp.sqrt(2) * (step - first),
        "layer_shift": sp.sqrt(2) * (first - layer),
        "difference": sp.sqrt(2) * (step - layer),
        "gradient_loss_change": (1 - step) ** 2 - (1 - first) ** 2,
        "layer_loss_change": (1 - layer) ** 2 - (1 - first) ** 2,
        # ½ ‖A‖ ‖x' − x‖ and ½ ‖A' − A‖ |x|, ‖(a, −a)‖ = √2 a.
        "gradient_shift_at_most": sp.sqrt(2) * STEP / 4,
        "layer_shift_at_most": sp.sqrt(2) * LAYER / 4,
        "gradient_shift_claimed_log10": (sp.log(STEP / (2 * a)) + 3 * sp.log(2) / 2 + 10 * R**2) / sp.log(10),
        "layer_shift_claimed_log10": (sp.log(LAYER / (sp.sqrt(2) * x)) + 3 * sp.log(2) / 2 + 10 * R**2) / sp.log(10),
    },
    derivation=derivation,
    canaries=(
        _canary(
            "both move the same way", "away_from_it", relation=sp.Gt(s / (1 + fall + s), s / (1 + s), evaluate=False)
        ),
        _canary(
            "closer than the step has moved",
            "further_than_the_step",
            relation=sp.Le(sp.sqrt(2) * (step - layer), sp.sqrt(2) * (step - first), evaluate=False),
        ),
        _canary(
            "the layer lowers the loss",
            "layer_raises_the_loss",
            relation=sp.Le((1 - layer) ** 2, (1 - first) ** 2 - LAYER**2 / 12, evaluate=False),
        ),
        _canary("a tenth for a sixth", "bend_at_most", relation=sp.Le(_bend, sp.Rational(1, 10), evaluate=False)),
        _canary("the gradient without p", "gradient", right=-4 * a / (1 + s) ** 2),
        _canary("the layer's plain mean", "attention", right=sp.Integer(0)),
    ),
    argument=ARGUMENT,
)
