r"""Lemma 1: population gradient descent from zero is a recursion of two numbers, α and C.

With one-hot encoding and V(0) = 0, W(0) = 0, every iterate of population gradient descent has

    V = (α I_d, 0),    W = diag(0_{d×d}, C (I_T − 11ᵀ/T)),

so that a selected token's logit exceeds the others' by C. With w = e^{−C}, N = q + (T−q) w,
P = q/N (the attention that the selected tokens receive) and S = P + (1−P) w,

    L = d/(2q) · (1 − 2αP + α² P S),
    α' = α (1 − ηPS/q) + ηP/q,
    C' = C + ηd/(q(T−1)) · α P (1−P) (1 − αP(1−w)),   α(0) = C(0) = 0.

The sums over subsets are exact: a token is selected with probability q/T, two given tokens are
both selected with probability q(q−1)/(T(T−1)), and the first but not the second with q(T−q)/(T(T−1)).
The other blocks stay zero because odd Gaussian moments vanish, or because they multiply x_query = 0.

Source: Wang et al. 2024, Lemma 1 (informal); the closed forms are derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.share_slopes import OF_A_SHARE, SHARE_SLOPE, mean
from theorems.sparse_token_selection.task import (
    DESCENT_ON_MEANS,
    LENGTH,
    LOSS_ON_THE_SET,
    MEAN_EXISTS,
    NORMAL_MEAN,
    ONE_HOT_RUN,
    RUNS_EXIST,
    SUBSET_FITS,
    SUBSET_SIZE,
    T,
    d,
    eta,
    formal,
    q,
)
from theorems.sparse_token_selection.trials import one_hot_layer
from theorems.symmetrisation.token_sums import mean_of_product
from verify import (
    Derivation,
    Evaluation,
    Identity,
    Implication,
    Inference,
    InWords,
    Source,
    Statement,
    Step,
    Theorem,
)

alpha, C = sp.symbols("alpha C", real=True)
a, p_k = sp.symbols("a p_k", real=True)
shift = sp.Symbol("shift", positive=True)

# The moments of N(0, 1) are symbols in the claim, so that each use of them is visible.
mu_1, mu_2, mu_3 = sp.symbols("mu_1 mu_2 mu_3", real=True)

w = sp.exp(-C)
N = q + (T - q) * w
P = q / N
Q = (T - q) * w / N
S = P + Q * w

loss = d / (2 * q) * (1 - 2 * alpha * P + alpha**2 * P * S)
step_alpha = alpha * (1 - eta * P * S / q) + eta * P / q
step_C = C + eta * d / (q * (T - 1)) * alpha * P * Q * (1 - alpha * P * (1 - w))

SHORTHANDS = (
    (sp.Function("L")(alpha, C), loss),
    (sp.Symbol("w"), w),
    (sp.Symbol("N"), q + (T - q) * sp.Symbol("w")),
)
"""The replacements that shorten the steps as they are shown, in this order."""

# These are the attention p on a selected and on another token, and the entries of r = αp − u there: the target is X u,
# u = 1_y/q, and on the set f − STS = X r.
p_in, p_out, r_in, r_out = sp.symbols("p_in p_out r_in r_out", real=True)
x_query = sp.Symbol("x_query", real=True)


def over_tokens(selected: sp.Expr, other: sp.Expr) -> sp.Expr:
    """Return the sum over all tokens of a quantity that depends only on whether the token is selected."""
    return q * selected + (T - q) * other


DEFINITIONS = {
    mu_1: sp.Integer(0),
    mu_2: sp.Integer(1),
    mu_3: sp.Integer(0),
    p_in: sp.exp(C) / (q * sp.exp(C) + T - q),
    p_out: 1 / (q * sp.exp(C) + T - q),
    r_in: alpha * p_in - 1 / q,
    r_out: alpha * p_out,
    x_query: sp.Integer(0),
}

_MOMENTS = {0: sp.Integer(1), 1: mu_1, 2: mu_2, 3: mu_3}
_ONE, _P, _R = (sp.Integer(1), sp.Integer(1)), (p_in, p_out), (r_in, r_out)


def _mean(*forms: tuple[tuple[sp.Expr, sp.Expr], int]) -> sp.Expr:
    """Return E of the product, over forms (c, n), of Σ_i c(i) x_i^n, where x_i is one coordinate of token i."""
    return mean_of_product(forms, _MOMENTS, lambda values: over_tokens(*values))


def _loss_of_logits(counts_and_logits: list[tuple[sp.Expr, sp.Expr, bool]]) -> sp.Expr:
    """Return d/2 ‖αp − u‖² for `count` tokens at each logit, selected or not: E over X of ½‖X(αp − u)‖²."""
    total = sum(count * sp.exp(logit) for count, logit, _ in counts_and_logits)
    squares = (
        count * (alpha * sp.exp(logit) / total - (1 / q if selected else 0)) ** 2
        for count, logit, selected in counts_and_logits
    )
    return mu_2 * d / 2 * sum(squares)


# One token's logit is a separate symbol a: the derivative in a, at a = C or 0, is the derivative in one logit.
LOSS_IN_SELECTED_LOGIT = _loss_of_logits([(sp.Integer(1), a, True), (q - 1, C, True), (T - q, sp.Integer(0), False)])
LOSS_IN_OTHER_LOGIT = _loss_of_logits([(q, C, True), (sp.Integer(1), a, False), (T - q - 1, sp.Integer(0), False)])
slope_selected = sp.Subs(sp.Derivative(LOSS_IN_SELECTED_LOGIT, a), a, C)
slope_other = sp.Subs(sp.Derivative(LOSS_IN_OTHER_LOGIT, a), a, 0)

# The law of a uniformly random q-subset on one and on two given tokens.
BOTH_SELECTED = q * (q - 1) / (T * (T - 1))
ONE_SELECTED = q * (T - q) / (T * (T - 1))
SELECTED = q / T

# ∂L/∂W in its positional block, entries (i, i) and (i, j): E_y[∂ℓ/∂(logit i) · 1(j ∈ y)].
W_DIAGONAL = SELECTED * slope_selected
W_OFF_DIAGONAL = BOTH_SELECTED * slope_selected + ONE_SELECTED * slope_other
LOSS = d / 2 * _mean((_R, 1), (_R, 1))
# ∂L/∂V in its token block: E[(Xr)_b (Xp)_c]; different coordinates are independent.
V_DIAGONAL = _mean((_R, 1), (_P, 1))
V_OFF_DIAGONAL = _mean((_R, 1)) * _mean((_P, 1))
# ∂L/∂V in its positional block: E[(Xr)_b] p_k.
V_POSITIONAL = _mean((_R, 1)) * p_k
# ∂L/∂W in its (token, positional) block, entry (a, j): E[1(j ∈ y) α Σ_b Σ_k x_ka p_k (Xr)_b (x_kb − (Xp)_b)],
# the coordinate b = a, and the d − 1 others, for which x_ka has mean μ_1 and leaves Σ_k p_k x_kb (Xr)_b.
W_TOKEN_ROWS = (
    SELECTED
    * alpha
    * (
        _mean((_P, 2), (_R, 1))
        - _mean((_P, 1), (_R, 1), (_P, 1))
        + (d - 1) * mu_1 * (_mean((_P, 1), (_R, 1)) - over_tokens(*_P) * _mean((_P, 1), (_R, 1)))
    )
)
# ∂L/∂W in the columns of x_query: the slope in a logit times a token's or an encoding's entry, times x_query.
W_QUERY_COLUMNS = slope_selected * x_query

CHANCE, CHANCE_OF_BOTH = CHANCES = sp.symbols("chance chance_of_both", real=True)
LAW_OF_THE_SUBSET = (
    Implication(
        "chance_of_one",
        (sp.Eq(T * CHANCE, q),),
        sp.Eq(CHANCE, SELECTED),
        says="P(i in y) = q/T where T P(i in y) = q",
    ),
    Implication(
        "both_selected",
        (sp.Eq(q + T * (T - 1) * CHANCE_OF_BOTH, q**2),),
        sp.Eq(CHANCE_OF_BOTH, BOTH_SELECTED),
        says="P(i, j in y) = q(q-1)/(T(T-1)) where q + T(T-1) P(i, j in y) = q^2",
    ),
    Identity(
        "one_selected",
        SELECTED - BOTH_SELECTED,
        ONE_SELECTED,
        says="P(j in y, i not in y) = q/T - q(q-1)/(T(T-1)) = q(T-q)/(T(T-1))",
    ),
)
"""The probabilities that one and that two given tokens are selected: the T indicators add up to q, and so all their
products in pairs add up to q²."""
OF_TWO_SUMS = g_1, g_2, h_1, h_2, x_1, x_2 = sp.symbols("g_1 g_2 h_1 h_2 x_1 x_2", real=True)
PRODUCT_OF_SUMS = Identity(
    "product_of_sums",
    (g_1 * x_1 + g_2 * x_2) * (h_1 * x_1 + h_2 * x_2),
    g_1 * h_1 * x_1**2 + g_2 * h_2 * x_2**2 + (g_1 * h_2 + g_2 * h_1) * x_1 * x_2,
    says="(g x + g' x')(h x + h' x') = g h x^2 + g' h' x'^2 + (g h' + g' h) x x', as for each pair of the terms of "
    "longer sums",
)

slope_alpha = sp.Derivative(loss, alpha)
slope_C = sp.Derivative(loss, C)

KEPT = InWords(
    "kept",
    "gradient descent from zero stays where V = (alpha I, 0) and W = diag(0, C (I - 11'/T)); alpha and C move by the "
    "recursion",
)
POPULATION_LOSS = InWords("population_loss", "there E ½‖f - STS‖² = d/(2q) (1 - 2 alpha P + alpha² P S)")
EVALUATIONS = {
    "kept": Evaluation(
        one_hot_layer.kept(step_alpha, step_C),
        "the same with T for T - 1 in the step of C",
        one_hot_layer.kept(step_alpha, C + (step_C - C) * (T - 1) / T),
        draws=8,
    ),
    "population_loss": Evaluation(
        one_hot_layer.population_loss(loss),
        "there E ½‖f - STS‖² = d/(2q) (1 - alpha P)²",
        one_hot_layer.population_loss(d / (2 * q) * (1 - alpha * P) ** 2),
        draws=8,
    ),
}
STEPS = (
    Identity(
        "exponents",
        sp.exp(C - mean),
        sp.exp(C) * sp.exp(-mean),
        says="e^(C - x) = e^C e^(-x), as for x = Cq/T",
    ),
    SHARE_SLOPE,
    PRODUCT_OF_SUMS,
    *LAW_OF_THE_SUBSET,
    Identity(
        "logit_selected",
        C * ((1 - 1 / T) - (q - 1) / T),
        C - C * q / T,
        says="C times a row of I - 11'/T, summed over y, is C - Cq/T for a selected token",
    ),
    Identity(
        "share_selected",
        sp.exp(C) * shift / (q * sp.exp(C) * shift + (T - q) * shift),
        p_in,
        says="softmax of the logit C among q of C and T - q of 0, moved by a common shift, is p_in",
    ),
    Identity(
        "share_other",
        shift / (q * sp.exp(C) * shift + (T - q) * shift),
        p_out,
        says="and of the logit 0 it is p_out",
    ),
    Identity("loss", LOSS, loss, says="the mean of d/2 (Xr)_b² is d/(2q) (1 - 2 alpha P + alpha² P S)"),
    Identity("value_block_diagonal", V_DIAGONAL, slope_alpha / d, says="dL/dV, token block: diagonal (1/d) dL/dalpha"),
    Identity("value_block_off_diagonal", V_OFF_DIAGONAL, sp.Integer(0), says="dL/dV, token block: 0 off the diagonal"),
    Identity("value_positional_block", V_POSITIONAL, sp.Integer(0), says="dL/dV, positional block: 0"),
    Identity(
        "positional_block_diagonal",
        W_DIAGONAL,
        (1 - 1 / T) * slope_C / (T - 1),
        says="dL/dW, positional block: diagonal of (I - 11'/T) (dL/dC)/(T-1)",
    ),
    Identity(
        "positional_block_off_diagonal",
        W_OFF_DIAGONAL,
        -slope_C / (T * (T - 1)),
        says="dL/dW, positional block: off the diagonal of (I - 11'/T) (dL/dC)/(T-1)",
    ),
    Identity("token_rows", W_TOKEN_ROWS, sp.Integer(0), says="dL/dW, (token, positional) block: 0"),
    Identity("query_columns", W_QUERY_COLUMNS, sp.Integer(0), says="dL/dW, columns of x_query: 0"),
)
RECURSION = (
    Identity("step_alpha", alpha - eta * V_DIAGONAL, step_alpha, says="alpha' = alpha (1 - eta P S/q) + eta P/q"),
    Identity(
        "step_C",
        C - eta * (W_DIAGONAL - W_OFF_DIAGONAL),
        step_C,
        says="C' = C + eta d/(q(T-1)) alpha P (1-P) (1 - alpha P (1-w))",
    ),
)

STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE),
    domain=(SUBSET_FITS,),
    hypotheses=ONE_HOT_RUN,
    variables=(alpha, C, p_k, shift, d, eta, *CHANCES, *OF_TWO_SUMS, *OF_A_SHARE),
    definitions=DEFINITIONS,
    claims=(KEPT, POPULATION_LOSS, *RECURSION),
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "attention",
        "at a point of the set token j has the logit C times row j of I − 11'/T, summed over y: C − Cq/T for a "
        "selected one, and −Cq/T for another. The common factor e^{−Cq/T} cancels: softmax gives p_in to a selected "
        "token and p_out to another",
        ("one_hot", "zero_query", "logit_selected", "exponents", "share_selected", "share_other"),
        "definition",
    ),
    Inference(
        "under_the_mean",
        "each entry of the gradient of the loss is the mean of that entry for one prompt, as softmax is bounded and "
        "the tokens have all moments",
        ("gaussian_tokens", "population_gradient"),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "of_the_tokens",
        "a share p has the slope p(v − v̄) if the logits move along v. So, for a given subset, the mean of the loss "
        "and of each entry of the gradient over the tokens, whose entries are independent, is the polynomial in the "
        "entries' moments in the steps",
        (
            *("attention", "under_the_mean", "gaussian_tokens", "product_of_sums", "share_slope", "loss"),
            *("value_block_diagonal", "value_block_off_diagonal", "value_positional_block", "token_rows"),
        ),
        "independent factors",
    ),
    Inference(
        "of_the_subset",
        "every q-subset is equally likely. The T indicators of i ∈ y add up to q, and so do their squares; all their "
        "products, squares included, add up to q². In the entry (i, j) of W's positional block the mean over y weights "
        "the slopes in a selected and in another token's logit with P(i, j ∈ y) and P(j ∈ y, i ∉ y), as the steps do",
        ("of_the_tokens", "gaussian_tokens", *(step.label for step in LAW_OF_THE_SUBSET)),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "population_loss",
        "the loss is d times the mean of ½ (Xr)_b², and the same for every subset",
        ("of_the_tokens", "loss"),
        "linearity of expectation",
    ),
    Inference(
        "on_the_set",
        "at a point of the set the gradient is (dL/dalpha)/d on the diagonal of V's token block, (dL/dC)/(T − 1) times "
        "I − 11'/T in W's positional block, and 0 elsewhere",
        (
            *("of_the_subset", "value_block_diagonal", "value_block_off_diagonal", "value_positional_block"),
            *("positional_block_diagonal", "positional_block_off_diagonal", "token_rows", "query_columns"),
        ),
        "application",
    ),
    Inference(
        "kept",
        "zero is in the set, with alpha = C = 0, and a step from a point of the set ends in it",
        ("on_the_set", "step_alpha", "step_C", "zero_initialisation", "population_gradient"),
        "induction",
    ),
)


def derivation() -> Derivation:
    """Return the steps from the layer's loss to the recursion, with T, q, d, η, α and C as symbols."""
    rest = sp.Symbol("rest", positive=True)
    own_slope = sp.Subs(sp.Derivative(sp.exp(a) / (sp.exp(a) + rest), a), a, C)
    attended = over_tokens(r_in * p_in, r_out * p_out)
    slope_in = alpha * d * p_in * (r_in - attended)
    slope_out = alpha * d * p_out * (r_out - attended)
    return Derivation(
        (
            Step(
                "Softmax on the set: q selected tokens with logit C above the T − q others (the shift −Cq/T cancels); "
                "the selected tokens' attention is P = q p_in",
                q * p_in,
                P,
            ),
            Step("the others' attention is 1 − P", (T - q) * p_out, 1 - P),
            Step(
                "a softmax entry's slope in its own logit is p(1 − p)",
                own_slope,
                sp.exp(C) * rest / (sp.exp(C) + rest) ** 2,
            ),
            Step(
                "E over X: E[x_ia x_jb] is 1 for the same entry and else 0, so L = E ½‖X r‖² = d/2 Σ r_i²; "
                "the same for every subset",
                LOSS,
                loss,
            ),
            Step(
                "V, token block: E[(Xr)_b (Xp)_c] = (Σ r_i p_i) δ_bc, so V stays a multiple of (I_d, 0)",
                V_DIAGONAL,
                slope_alpha / d,
            ),
            Step("V, positional block: E[(Xr)_b] p_k is an odd moment", V_POSITIONAL, sp.Integer(0)),
            Step("W, (token, positional) block: third moments, all of them odd", W_TOKEN_ROWS, sp.Integer(0)),
            Step("W, positional block: the loss's slope in a selected token's logit", slope_selected, slope_in),
            Step("and in another token's logit", slope_other, slope_out),
            Step(
                "softmax does not see a common shift: the slopes sum to 0",
                q * slope_in + (T - q) * slope_out,
                sp.Integer(0),
            ),
            Step(
                "law of the subset on two tokens: given that j is selected, i is selected with probability (q−1)/(T−1)",
                BOTH_SELECTED + ONE_SELECTED,
                SELECTED,
            ),
            Step("entry (i, i) of W's positional gradient", W_DIAGONAL, (1 - 1 / T) * slope_C / (T - 1)),
            Step(
                "entry (i, j): together they are ∂L/∂C /(T − 1) times I − 11ᵀ/T, so W stays on it",
                W_OFF_DIAGONAL,
                -slope_C / (T * (T - 1)),
            ),
            Step("gradient step on α, written as a contraction towards 1/S", alpha - eta * slope_alpha / d, step_alpha),
            Step("gradient step on C", C - eta * slope_C / (T - 1), step_C),
        ),
        DEFINITIONS,
        SHORTHANDS,
    )


_canary = partial(with_changes, STATEMENT)


lemma1 = Theorem(
    id="wang2024.lemma1",
    title="One-hot encoding: gradient descent from zero stays on V = (αI, 0), W = diag(0, C(I − 11ᵀ/T)), where α and C "
    "follow a recursion",
    source=Source("Lemma 1", "derived here", WANG2024, "the paper's lemma is known to us informally"),
    statement=replace(
        STATEMENT,
        formal={
            "kept": formal(DESCENT_ON_MEANS, kept="layer.reduced_dynamics.lemma1_kept", **RUNS_EXIST),
            "population_loss": formal(NORMAL_MEAN, **LOSS_ON_THE_SET),
            **dict.fromkeys(
                ("step_alpha", "step_C"),
                formal(
                    DESCENT_ON_MEANS,
                    step_from_the_set="layer.reduced_dynamics.lemma1_step",
                    step_exists="layer.reduced_dynamics.lemma1_step_exists",
                    **MEAN_EXISTS,
                ),
            ),
        },
    ),
    example={"T": 200, "q": 3},
    derivation=derivation,
    canaries=(
        _canary("sign flipped in the step of C", "step_C", right=2 * C - step_C),
        _canary("T - 1 replaced by T in the step of C", "step_C", right=C + (step_C - C) * (T - 1) / T),
        _canary("factor q dropped in the step of alpha", "step_alpha", right=alpha + (step_alpha - alpha) * q),
        _canary("the 1/2 dropped from the loss", "loss", right=2 * loss),
        _canary("the identity instead of I - 11'/T", "positional_block_off_diagonal", right=sp.Integer(0)),
    ),
    evaluations=EVALUATIONS,
    argument=ARGUMENT,
)
