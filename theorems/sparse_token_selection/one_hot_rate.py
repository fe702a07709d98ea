r"""The rate of every run in the scope of Theorem 1: 1/(t L_t) tends to 4η/(T−1), for all q and d.

For q < T and η ≤ 4q²/(5q+2d) the loss is at most any ε from some step on (`one_hot_descent`), and so it tends
to 0. These step sizes are below 2q: along the run 1/(t L_t) → 4η/(T−1) (`inverse_loss_rate`). If N is the first step
with L_N ≤ ε, then N → ∞ for ε → 0, because the loss is never 0. From L_N ≤ ε < L_{N−1} it follows that

    N ε → (T−1)/(4η).

Source: derived here; the caption of the paper's Figure 1 says "inverse loss increases linearly".
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.inverse_loss_rate import (
    EVALUATION_OF_THE_SLOPE,
    SLOPE,
    inverse_loss_slope,
)
from theorems.sparse_token_selection.one_hot_descent import LARGEST_STEP, PAPERS_STEP, SCOPE, K, Y
from theorems.sparse_token_selection.task import (
    DESCENT_ON_MEANS,
    LENGTH,
    ONE_HOT_RUN_LABELS,
    RUNS_EXIST,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    eps,
    eta,
    formal,
    q,
)
from theorems.sparse_token_selection.trials import one_hot_runs
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Implication,
    Inequality,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

ATTRACTS = Inequality("attracts", sp.Lt(LARGEST_STEP, 2 * q, evaluate=False), says="4 q^2/(5 q + 2 d) < 2 q")
first = sp.Symbol("N", integer=True, positive=True)
here, before = sp.symbols("here before", positive=True)
COUNTING = (
    Implication(
        "at_the_step",
        (sp.Le(here, eps),),
        sp.Le(first * here, first * eps),
        says="N x <= N eps where x <= eps, as for x = L_N",
    ),
    Implication(
        "a_step_before",
        (sp.Lt(eps, before), sp.Ge(first, 2)),
        sp.Lt(first * eps, (1 + 1 / (first - 1)) * ((first - 1) * before)),
        says="N eps < (1 + 1/(N-1)) (N-1) y where eps < y, N >= 2, as for y = L_(N-1)",
    ),
)
STEPS_TO_EPSILON = InWords("steps", "for eps -> 0 the first step with L_t <= eps is (T-1)/(4 eta eps) (1 + o(1))")
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE),
    domain=(SUBSET_FITS,),
    hypotheses=(Hypothesis("others", sp.Ge(T, q + 1), text="q < T, of integers: T >= q + 1"), *SCOPE),
    variables=(eps, first, here, before),
    claims=(SLOPE, STEPS_TO_EPSILON, PAPERS_STEP),
    steps=(ATTRACTS, *COUNTING),
)
ARGUMENT = (
    Inference(
        "vanishes",
        "for every ε > 0 the loss is at most ε from some step on: it tends to 0",
        (
            *("wang2024.one_hot_descent:reached", "wang2024.one_hot_descent:stays"),
            *("small_step", *ONE_HOT_RUN_LABELS),
        ),
        rules.DEFINITION_OF_A_LIMIT,
    ),
    Inference(
        "slope",
        "as η < 2q and the loss tends to 0, 1/(t L_t) tends to 4η/(T−1)",
        ("wang2024.inverse_loss_rate:slope", "vanishes", "attracts", "small_step", "others", *ONE_HOT_RUN_LABELS),
        "application",
    ),
    Inference(
        "steps",
        "let N be the first step with L_N ≤ ε. The loss is never 0: it would stay 0, and 1/(t L_t) would have no "
        "limit. So N → ∞ as ε → 0. Nε is between N L_N and (1 + 1/(N−1)) (N−1) L_{N−1}, and both tend to (T−1)/(4η)",
        (
            "slope",
            *(step.label for step in COUNTING),
            "wang2024.one_hot_descent:stays",
            "small_step",
            *ONE_HOT_RUN_LABELS,
        ),
        "squeeze",
    ),
)


def derivation() -> Derivation:
    """Return the steps on the largest step size and on the bound's sharpness.

    The steps give the differences of the largest step size from 2q and from Theorem 1's step size, and the ratio of the
    bound in `one_hot_descent` to (T − 1)/(4ηε).
    """
    return Derivation(
        (
            Step(
                "the largest step size is below 2q by",
                2 * q - LARGEST_STEP,
                2 * q * (3 * q + 2 * d) / (5 * q + 2 * d),
            ),
            Step(
                "Theorem 1's largest step size is below it by",
                LARGEST_STEP - 1 / (20 * d**2),
                (80 * d**2 * q**2 - 5 * q - 2 * d) / (20 * d**2 * (5 * q + 2 * d)),
            ),
            Step(
                "the bound on the steps in `one_hot_descent`, Y/k to first order, over this number, (T − 1)/(4ηε)",
                Y / K / ((T - 1) / (4 * eta * eps)),
                10 * q**2 / (10 * q**2 - eta * (5 * q + 2 * d)),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


one_hot_rate = Theorem(
    id="wang2024.one_hot_rate",
    title="One-hot encoding, q < T, η ≤ 4q²/(5q + 2d): along the run 1/(t L_t) tends to 4η/(T − 1)",
    source=Source("Figure 1's reading", "derived here", WANG2024, 'the caption says "inverse loss increases linearly"'),
    statement=replace(
        STATEMENT,
        formal={
            "slope": formal(DESCENT_ON_MEANS, small_steps_slope="one_hot_rate.slope_for_small_steps", **RUNS_EXIST),
            "steps": formal(DESCENT_ON_MEANS, small_steps_number="one_hot_rate.number_of_small_steps"),
        },
    ),
    example={"T": 200, "q": 3, "d": 5, "eta": "1"},
    values={"inverse_loss_slope": inverse_loss_slope, "steps_times_epsilon": 1 / inverse_loss_slope},
    derivation=derivation,
    canaries=(
        _canary("3q/4 for 2q", replace(ATTRACTS, relation=sp.Lt(LARGEST_STEP, 3 * q / 4), says="")),
        _canary("the step size itself below 1", replace(ATTRACTS, relation=sp.Lt(eta, 1), says="")),
        _canary(
            "half the limit, and 1/d for the paper's step",
            replace(PAPERS_STEP, relation=sp.Le(1 / d, LARGEST_STEP / 2)),
        ),
    ),
    evaluations={
        "slope": EVALUATION_OF_THE_SLOPE,
        "steps": Evaluation(
            one_hot_runs.steps(1 / inverse_loss_slope),
            "for eps -> 0 the first step with L_t <= eps is T/(4 eta eps) (1 + o(1))",
            one_hot_runs.steps(T / (4 * eta)),
            limit=True,
        ),
    },
    proof_uses=("wang2024.one_hot_descent", "wang2024.inverse_loss_rate"),
    argument=ARGUMENT,
)
