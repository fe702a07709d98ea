"""Findings about Li et al. 2024.

`test_findings.py` derives the expected numbers a second time.
"""

from fractions import Fraction

from paper_checks.expected import between
from theorems.papers import LI2024
from verify import Enclosure, Finding, Premise, Weight

REGRESSION = Premise("softmax regression: f(x) = softmax(Ax), loss ½‖f(x) − b‖²", "printed")
CLAIM = Premise(
    "the main theorem: M = n^1.5 exp(10 R²), for ‖A‖ ≤ R, ‖x‖ ≤ R, R ≥ 4 and moves of the logits below 0.01", "recalled"
)
SHIFT = Premise("the new target b̃ leaves the residual as it is: f(x') − b = f(x) − b̃", "recalled")
EIGENVALUE = Premise(
    "the eigenvalue bound of the softmax Jacobian, proved in the step `eigenvalue`, and the theorems' arguments from "
    "it",
    "derived here",
)
CLOSENESS = Premise("closeness as the abstract has it: both shifts are bounded, so the models are close", "our reading")
START = Premise("the gradient step starts at x = 0; the paper's start is not known to us", "our reading")
LAYER = Premise("a self-attention layer moves the data: A' = A + softmax(A W Aᵀ) A V", "our reading")

constant_is_half_the_radius = Finding(
    id="li2024.constant_is_half_the_radius",
    paper=LI2024,
    title="Both shifts are at most R/2 times the move, where the paper has n^1.5 exp(10 R²)",
    weight=Weight.STRONGER,
    summary="The paper bounds both shifts by n^1.5 exp(10 R²) times the move; R/2 times suffices, for every n, as "
    "Rocq's kernel accepts, and the best factor is known exactly for R ≥ 4 and up to 81 000 rows, by an argument "
    "from proved steps.",
    text="‖b̃ − b‖ ≤ ½‖A(x' − x)‖ ≤ (R/2)‖x' − x‖, and the same for the data, without R ≥ 4 and for moves of any "
    "size. At n = 2 no factor below R/2 suffices. For n ≥ 3 the best factor is R/(2 + (n−2) exp(−R² √(n/(2(n−2))))) "
    "where log(n−1) ≤ R² √(n/(2(n−2))), so for R ≥ 4 and n up to 81 000 (`li2024.best_factor`; for the weights d ≥ 2): "
    "two equal logits as far above the others as the norms allow. At n = 50, d = 20, R = 4 it is 1.99953…, where the "
    "claimed factor is 10^72.03….",
    command="verify check li2024.weight_shift n=50 d=20 R=4",
    expect={
        "for_all_parameters": "formal",
        "clauses.eigenvalue.evidence": "proved",
        "clauses.bound.evidence": "proved",
        "clauses.sharp.for_all_parameters": "formal",
        "values.sharp_factor": 2,
        "values.reached_factor": between("1.99953", "1.99954"),
        "values.best_factor": between("1.99953", "1.99954"),
        "values.best_factor_at_most": between("1.99953", "1.99954"),
        "values.claimed_factor_log10": between("72.035", "72.036"),
    },
    rests_on=(REGRESSION, CLAIM, SHIFT, EIGENVALUE),
)

claimed_bound_is_vacuous = Finding(
    id="li2024.claimed_bound_is_vacuous",
    paper=LI2024,
    title="The claimed bound is vacuous for moves longer than 10^−69: any two predictions are within √2 of each other",
    weight=Weight.VACUOUS,
    summary="Any two predictions are within √2 of each other, and the claimed bound, enclosed at the smallest sizes, "
    "is larger than that for every move longer than 10^−69.",
    text="Two softmax outputs differ by less than √2, and by at most √2 tanh(1/200) where no logit moves by 0.01. "
    "The claimed bound is below the first for moves shorter than 10^−69.78… at n = 2 and R = 4, the smallest case in "
    "scope in which anything moves, and below the second for moves shorter than 10^−72.08….",
    command="verify check li2024.data_shift n=2 d=1 R=4",
    expect={
        "values.vacuous": True,
        "values.bites_below_log10": between("-69.789", "-69.788"),
        "values.bites_below_small_move_log10": between("-72.090", "-72.089"),
    },
    rests_on=(REGRESSION, CLAIM, SHIFT),
)

one_column = Finding(
    id="li2024.one_column",
    paper=LI2024,
    title="With one column of 200 rows a move of the data shifts the target further than any weight move we found",
    weight=Weight.OBSERVED,
    summary="With a single column and 200 rows, the weight moves that we found shift the target half as far as a move "
    "of the data does; that none does better is not proved.",
    text="For d = 1 a move of the weight moves the logits along the logits themselves. One row at probability ½ "
    "reaches a factor of R n/(4(n−1)), which at n = 200 and R = 4 is 200/199 = 1.005…; an ascent finds nothing better "
    "at small n (`li2024.reached_by_ascent`), which is not a proof. A move of the data is not so restricted: "
    "`li2024.data_shift` reaches 1.9977… there.",
    command="verify check li2024.weight_shift n=200 d=1 R=4",
    expect={"values.reached_factor": Fraction(200, 199), "values.sharp_factor": 2},
    rests_on=(REGRESSION, EIGENVALUE),
)

bounded_shifts_are_not_closeness = Finding(
    id="li2024.bounded_shifts_are_not_closeness",
    paper=LI2024,
    title="Bounded shifts do not make the two models close: a gradient step and a layer may move the prediction in "
    "opposite directions",
    weight=Weight.CONTRADICTED,
    summary="The paper calls the two models close because both shifts are bounded; a gradient step and a layer within "
    "all the bounds move the prediction in opposite directions, certified for one explicit pair and formal for the "
    "whole family of such pairs.",
    text="Two rows (1, −1)ᵀ, target (1, 0), weight ½: the gradient step of size 1/60 moves the prediction towards the "
    "target by 0.00195…, a self-attention layer with query-key weight 1 and value weight −1/100 moves it away by "
    "0.00212…; their distance is the sum, within all the hypotheses, small moves included. Alone the step lowers "
    "the loss by 0.00074…, and the layer raises it by 0.00080…, both to first order. The directions are opposite for "
    "all step sizes and value weights of these signs, however small. The claimed bounds on the two shifts "
    "are 10^67 or more. The distance is at most half that of the moved logits, and so at most "
    "(R/2)(‖x' − x‖ + ‖A' − A‖).",
    command="verify check li2024.opposite_moves a=1 x=1/2 eta=1/60 w=1 v=1/100 R=4",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "for_all_parameters": "formal",
        "clauses.further_than_the_step.evidence": "certified",
        "clauses.further_than_the_layer.evidence": "certified",
        "values.gradient_shift": between("0.00195", "0.00196"),
        "values.layer_shift": between("0.00212", "0.00213"),
        "values.difference": between("0.00407", "0.00408"),
        "values.gradient_loss_change": between("-0.00075", "-0.00074"),
        "values.layer_loss_change": between("0.0008", "0.00081"),
        "values.gradient_shift_claimed_log10": Enclosure(67, None),
        "values.layer_shift_claimed_log10": Enclosure(67, None),
    },
    rests_on=(REGRESSION, SHIFT, LAYER, CLOSENESS),
)

small_scores_make_a_step = Finding(
    id="li2024.small_scores_make_a_step",
    paper=LI2024,
    title="A self-attention layer with small scores and a matching value weight comes as close to a gradient step as "
    "one wants",
    weight=Weight.STRONGER,
    summary="The paper infers closeness from two bounded shifts; it holds for layers with small scores and a matching "
    "value weight, with an explicit distance whose best factor is enclosed, by arguments from proved steps.",
    text="With W = wI and v = η/(nw) the layer's prediction is within √6/72 η β w G², √6/72 = 0.0340, of that of a "
    "gradient step of size η from x = 0 for every n, G the largest range of a_iᵀa_j over j and β that of the targets; "
    "the same holds for preconditioned steps. As w falls the factor is at most 9√2/512 = 0.0249 in the limit; by an "
    "explicit family, with preconditioners that are not symmetric, none below √2/64 = 0.0221 will do for all n, "
    "however small w is. Between these the best factor is "
    "open; in the family η grows while ηw tends to 0. As w falls the distance tends to 0, on all tasks of bounded data "
    "at once; under every law of the tasks, bounded or not, the infimum of the layers' mean loss is at most the mean "
    "loss of the best gradient step. At n = 25, η = 100, w = 1/10000, G = 4, β = 1/2 the distance is at most 0.0028. "
    "The layer is that of the experiment as we read it.",
    command="verify check li2024.first_order_layer n=25 eta=100 w=1/10000 G=4 beta=1/2",
    expect={
        "for_all_parameters": "argued",
        "clauses.close.for_all_parameters": "argued",
        "clauses.least.for_all_parameters": "argued",
        "clauses.in_the_limit.for_all_parameters": "argued",
        "clauses.needed.for_all_parameters": "argued",
        "clauses.bend.evidence": "proved",
        "clauses.top.evidence": "proved",
        "clauses.two_rows.evidence": "proved",
        # With ηβwG² = 100 · 1/2 · 16/10000: √6/72 times this, 9√2/512 times this, and 24/25 √2/64.
        "values.distance_at_most": between("0.002721", "0.002722"),
        "values.small_scores_at_most": between("0.001988", "0.001989"),
        "values.factor_needed": between("0.021213", "0.021214"),
        "values.v": 40000,
    },
    rests_on=(
        REGRESSION,
        START,
        Premise(
            "the layer: row i attends with scores a_iᵀWa_j to values n b_j, a softmax over the rows", "our reading"
        ),
    ),
)

readings_depend_on_the_tasks = Finding(
    id="li2024.readings_depend_on_the_tasks",
    paper=LI2024,
    title="Whether the trained layer comes close to the gradient step depends on the tasks",
    weight=Weight.OBSERVED,
    summary="In the paper's figures the trained layer comes close to the gradient step; on targets that no weights "
    "explain it does not, as simulated.",
    text="The paper concludes from its figures that losses and predictions come close and that the sensitivities' "
    "cosine rises towards 1, in words; our thresholds for “close” were set after runs had been seen. On targets "
    "softmax(A x*) training here agrees (`li2024.losses_come_close`, `.predictions_come_close`, "
    "`.sensitivities_align`). On targets drawn uniformly from the simplex, which no weights explain, the layer "
    "overtakes the gradient step: after 2000 steps at n = 25 and d = 5 its loss is about 0.012 where the gradient "
    "step's is 0.015, the cosine is 0.4, and the predictions are about as far apart as before training.",
    command="verify simulate li2024.closeness tasks=simplex n=25 d=5 steps=2000 repetitions=2 search=50 test=50 "
    "--device cpu --seed 0",
    expect={
        # The values are means over runs; their spread over seeds is a third of the width of these intervals.
        "measurements.gradient_loss_end.value": between("0.0135", "0.0175"),
        "measurements.layer_loss_end.value": between("0.009", "0.0132"),
        "measurements.cosine_end.value": between("0.3", "0.55"),
        "measurements.prediction_difference_end.value": between("0.06", "0.09"),
        "measurements.prediction_difference_start.value": between("0.065", "0.095"),
    },
    rests_on=(
        REGRESSION,
        START,
        Premise("what the paper concludes from the figures, in the abstract's words", "recalled"),
        Premise("the tasks, the layer's parameterisation and Adam: the paper's are not known to us", "our reading"),
    ),
)
