r"""Theorem 1: joint training with one-hot encoding reaches any small loss ε and stays below it.

For 2 ≤ q < T/4, 0 < ε < dT/(100 (T−q) q), 0 < η ≤ 1/(20 d²), x_query = 0, population gradient
descent from W(0) = 0, V(0) = 0 has a step t with L_t ≤ ε, and L_s ≤ ε for all s ≥ t.

By Lemma 1 the run is a recursion of two numbers (α, C). Both steps are scaled gradient steps of
L, by η/d in α and η/(T−1) in C. On the box 0 ≤ α ≤ √(T/q) + 1/16, C ≥ 0, which the recursion
never leaves, the scaled Hessian is at most 2, so that L never increases: once L ≤ ε, L stays ≤ ε.
The run's α is at most √(T/q). At q = T a step maps [0, 1] onto [η/q, 1], which has the same upper
end, so that no enclosure shows that α stays in [0, 1]: hence the 1/16.

Source: Wang et al. 2024, Theorem 1; the hypotheses are the paper's. The paper's time bound is
not known to us; the number of steps is computed here. `one_hot_descent` bounds this number for all
sizes. It needs only η ≤ 4q²/(5q+2d), a larger bound than here, and neither q ≥ 2, nor q < T/4, nor the bound on ε.
`one_hot_larger_steps` needs none of these three either; it needs only η < 2q(T−1)/(T−1+6d). If ε is too small to follow
the run step by step, a tube around the run encloses the run and its number of steps: C changes slowly there, and α
tracks it.
"""

from dataclasses import replace

import sympy as sp

from theorems.papers import WANG2024
from theorems.sparse_token_selection import reduced_dynamics as reduced
from theorems.sparse_token_selection.inverse_loss_rate import LAG_ATTRACTS, RATE_HOLDS, inverse_loss_slope
from theorems.sparse_token_selection.reduced_dynamics import C, N, P, Q, S, alpha, loss, step_alpha, step_C, w
from theorems.sparse_token_selection.task import (
    ACCURACY,
    DESCENT_ON_MEANS,
    LENGTH,
    ONE_HOT_RUN,
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
from verify import (
    Canary,
    ClauseValue,
    Coordinate,
    Derivation,
    Descent,
    Dynamics,
    Hypothesis,
    Inequality,
    Inference,
    Reaches,
    Source,
    Statement,
    Stays,
    Step,
    Theorem,
    Tube,
    ValueWhere,
)

DYNAMICS = Dynamics(
    state=(alpha, C),
    initial=(sp.Integer(0), sp.Integer(0)),
    step=(step_alpha, step_C),
    observable=loss,
    name="L",
)

REACHED = Reaches("reached", DYNAMICS, eps, says="L_t <= eps at some step t")
STAYS = Stays(
    "stays", DYNAMICS, reached=eps, level=eps, says="L_s <= eps at every step s from the first with L_t <= eps on"
)

LARGER_STEP = 2 * q * (T - 1) / (T - 1 + 6 * d)
"""The bound on η in `one_hot_larger_steps`."""
PAPERS_STEP = Inequality(
    "papers_step",
    sp.Lt(1 / (20 * d**2), LARGER_STEP, evaluate=False),
    says="1/(20 d^2) < 2q(T-1)/(T-1+6d)",
)
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, STEP_SIZE, ACCURACY),
    domain=(SUBSET_FITS,),
    hypotheses=(
        Hypothesis("subset_of_two", sp.Ge(q, 2)),
        Hypothesis("subset_below_quarter", sp.Lt(q, T / 4)),
        Hypothesis("accuracy", sp.Lt(eps, d * T / (100 * (T - q) * q)), "eps < d*T/(100*(T - q)*q)"),
        Hypothesis("step_size", sp.Le(eta, 1 / (20 * d**2))),
        *ONE_HOT_RUN,
    ),
    claims=(REACHED, STAYS),
    steps=(PAPERS_STEP,),
)

ARGUMENT = tuple(
    Inference(
        label,
        "η ≤ 1/(20 d²) is below the bound 2q(T−1)/(T−1+6d) of `one_hot_larger_steps`",
        (f"wang2024.one_hot_larger_steps:{label}", "papers_step", "step_size", *ONE_HOT_RUN_LABELS),
        "application",
    )
    for label in ("reached", "stays")
)

EXTENSIONS = tuple(
    Inference(label, says, (f"wang2024.{result}:{label}", *ONE_HOT_RUN_LABELS), "application")
    for result, label, says in (
        ("one_hot_larger_steps", "reached", "the premise is the same claim"),
        ("one_hot_larger_steps", "stays", "the premise is the same claim"),
        ("one_hot_descent", "reached", "the run reaches ε within a number of steps, and so at some step"),
        ("one_hot_descent", "stays", "the premise is the same claim"),
    )
)

largest_alpha = sp.sqrt(T / q) + sp.Rational(1, 16)

NEVER_INCREASES = Descent(
    metric=(eta / d, eta / (T - 1)),
    coordinates=(
        Coordinate(sp.Integer(0), largest_alpha),
        # C ≥ 0 is unbounded; e^{−C} is in [0, 1].
        Coordinate(sp.Integer(0), sp.Integer(1), "exponential"),
    ),
)

# At small ε the lag of α behind its limit is of the order of e^{−C}: L is written as a sum of nonnegative terms.
SLOW = Tube(slow=C, observable=d / (2 * q) * ((1 - alpha * P) ** 2 + alpha**2 * P * Q * w))


def derivation() -> Derivation:
    """Return the steps from the recursion to the invariant box, the direction of descent and α's range."""
    r = sp.Symbol("r", positive=True)
    least_alpha = N / (q + (T - q) * w**2)
    return Derivation(
        (
            Step(
                "the step of α is the gradient step of L, scaled by η/d",
                alpha - eta / d * sp.Derivative(loss, alpha),
                step_alpha,
            ),
            Step(
                "the step of C is the gradient step of L, scaled by η/(T − 1)",
                C - eta / (T - 1) * sp.Derivative(loss, C),
                step_C,
            ),
            Step(
                "α moves towards 1/S, by the factor 1 − ηPS/q, so it stays between 0 and the largest 1/S",
                step_alpha - 1 / S,
                (1 - eta * P * S / q) * (alpha - 1 / S),
            ),
            Step("1/S in terms of w", 1 / S, least_alpha),
            Step(
                "1/S ≤ (1 + √(T/q))/2 ≤ √(T/q): with r = √(T/q), the difference is a square over a positive number",
                (1 + r) / 2 - (1 + (r**2 - 1) * w) / (1 + (r**2 - 1) * w**2),
                (r - 1) * (1 - (r + 1) * w) ** 2 / (2 * (1 + (r**2 - 1) * w**2)),
            ),
            Step(
                "as T = q r², 1/S is the fraction subtracted in the step before",
                least_alpha.subs(T, q * r**2),
                (1 + (r**2 - 1) * w) / (1 + (r**2 - 1) * w**2),
            ),
            Step(
                "C moves up where α P (1 − w) < 1, so it rises from C = 0, where w = 1",
                sp.Subs(step_C - C, C, 0),
                eta * d * alpha * (T - q) / ((T - 1) * T**2),
            ),
            Step("the first step: α leaves 0", sp.Subs(sp.Subs(step_alpha, alpha, 0), C, 0), eta / T),
            Step("the loss at the start", sp.Subs(loss, alpha, 0), d / (2 * q)),
        ),
        shorthands=reduced.SHORTHANDS,
    )


def _canary(label: str, clause: str, *clauses: Reaches | Stays) -> Canary:
    return Canary(label, lambda: replace(STATEMENT, claims=clauses), clause)


theorem1 = Theorem(
    id="wang2024.theorem1",
    title="One-hot encoding: gradient descent reaches any small loss and stays below it",
    source=Source("Theorem 1", "printed", WANG2024, "hypotheses as printed; its time bound is not known to us"),
    statement=replace(
        STATEMENT,
        formal={
            "reached": formal(DESCENT_ON_MEANS, theorem1_reached="one_hot_convergence.theorem1_reaches", **RUNS_EXIST),
            "stays": formal(DESCENT_ON_MEANS, theorem1_stays="one_hot_convergence.theorem1_stay"),
        },
    ),
    example={"T": 9, "q": 2, "d": 1, "eta": "1/20", "eps": "1/200"},
    values={
        "steps_to_epsilon": ClauseValue("reached", "steps"),
        "inverse_loss_slope": ValueWhere(inverse_loss_slope, RATE_HOLDS),
    },
    derivation=derivation,
    proofs={"reached": SLOW, "stays": NEVER_INCREASES},
    canaries=(
        _canary(
            "stays below eps/2 from the first step with L <= eps",
            "stays",
            REACHED,
            replace(STAYS, level=eps / 2, says=""),
        ),
        _canary(
            "reached within (T-1)/(4 eta eps) steps, the slope's reading without its start",
            "reached",
            replace(REACHED, within=(T - 1) / (4 * eta * eps), says=""),
        ),
        _canary("reached at once", "reached", replace(REACHED, within=sp.Integer(0), says="")),
    ),
    statement_uses=("wang2024.lemma1",),
    proof_uses=("wang2024.one_hot_larger_steps",),
    argument=ARGUMENT,
    extensions=EXTENSIONS,
    # Beyond this bound the end of the run, α = 1 as C → ∞, repels along α: see the clause `lag` of that theorem.
    boundaries={"wang2024.inverse_loss_rate": LAG_ATTRACTS},
)
