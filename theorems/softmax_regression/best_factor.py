r"""The best factor of both shifts for three rows or more: two equal logits as far above the others as the norms allow.

The best factor is R times the largest eigenvalue λ of J = diag(p) − ppᵀ over all logits z of norm R² or less (for the
data shift at every d, for the weight shift at d ≥ 2; see `weight_shift` and `data_shift`). Let n ≥ 3.

*Three levels.* At a maximiser z let v be a unit eigenvector and μ = Σ p_i v_i, so that p_i (v_i − μ) = λ v_i. In the
logits the variance of v under p has the slopes

    p_i ((v_i − μ)² − λ) = κ z_i,   κ ≥ 0.

If μ ≠ 0, one p_i is above λ and the others are below. The others are zeros on (0, λ) of the strictly convex

    ψ(p) = p (μ²λ²/(λ − p)² − λ) − κ log p − constant,

so they take at most two values. Moving two equal logits apart changes λ at second order with the sign of ψ'. Because
ψ' > 0 at the larger zero, only one p_i takes this value. If μ = 0, two logits are equal, and all others are equal, too.
So the largest eigenvalue is attained at logits (α, β, γ, …, γ), α ≥ β ≥ γ, of sum 0 and norm R²: one angle is free.

*The angle.* With M = (α + β)/2 − γ and m = (α − β)/2 the squared norm is 2m² + 2(n−2)M²/n = R⁴. With σ = p_1 + p_2,
σt = p_1 − p_2 and c = n/(2(n−2)) the eigenvalues other than p_3 and 0 are the roots of

    Q(λ) = (λ − σ/2)(λ − cσ(1 − σ)) + ½t²σ²(λ − c(1 − σ)).

- If σ ≥ n/(2(n−1)), Q(σ/2) ≥ 0 and λ ≤ σ/2; otherwise λ ≤ n/(4(n−1)).
- At m = 0, M = M_0 = R² √(n/(2(n−2))), σ = σ_0 = 1/(1 + ½(n−2)e^{−M_0}) and λ = σ_0/2. If M_0 ≥ log(n−1), this λ is at
  least n/(4(n−1)), and Q(σ_0/2) ≥ 0 for every σ > σ_0: it is the maximum.

So if M_0 ≥ log(n−1), the best factor is R/(2 + (n−2) exp(−M_0)). For R ≥ 4, as in the paper, this covers n up to
81 000. Otherwise the factors reached by one logit, or a pair of equal logits, above the others (`shifts`) bound the
best factor from below, and the largest σ bounds it from above. As M + m ≤ S = R² √((n−1)/(n−2)) and M − m ≤ M_0, σ is
at most σ̄ = 1/(1 + (n−2)/E), E = e^S + e^{M_0}. Also λ ≤ σ, because the roots of Q are not negative. So λ ≤ σ̄/2 if E ≥
n; otherwise λ ≤ σ̄ and λ ≤ n/(4(n−1)). At n = 10⁶ and R = 3 the best factor is between 0.0239 and 0.0259.

Source: derived here.
"""

from fractions import Fraction
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.closed_forms import values_of
from theorems.papers import LI2024
from theorems.softmax_regression.eigenvalue_slopes import (
    APART,
    CONVEX,
    EIGENVECTOR,
    MEAN_ZERO,
    ON_THE_SPHERE,
    ONE_ZERO,
    SLOPE,
    SUM_OF_THE_LOGITS,
    S,
    above,
    centre,
    first,
    kappa,
    mu,
    p,
    second,
    value,
    x,
)
from theorems.softmax_regression.setting import JACOBIAN, RADIUS, R, n, other_logit, own_logit
from theorems.softmax_regression.three_levels import (
    AT_MOST_STEPS,
    AT_THE_SECOND,
    DETERMINANT,
    FEW,
    HALF_C,
    HALF_ROOT,
    HEIGHT,
    LARGER_OF_TWO,
    LARGEST_SHARE,
    LOW,
    LOW_ROOT,
    LOW_STEPS,
    MANY,
    NORM,
    ODDS,
    ORDER_STEPS,
    PAIR_STEPS,
    ROOT_SUM,
    ROOTS_BELOW,
    SECULAR,
    SHARE,
    SHARE_BY_SUMS,
    SPAN,
    SUM_IN_Q,
    SUM_STEPS,
    TANH,
    THIRD,
    VARIABLES,
    M,
    characteristic,
    level,
    lowest,
    m,
    sigma,
    t,
)
from theorems.softmax_regression.trials.largest_slope import at_most, best_is, largest_at, one_row_above, three_levels
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    ValueWhere,
)

ROWS = Parameter("n", "integer", "rows of A: length of the document", minimum=3)

gap = R**2 * sp.sqrt(n / (2 * (n - 2)))
"""M_0, the largest value of M: the difference between two equal logits and the others, also equal, at norm R²."""
PAIR = R / (2 + (n - 2) * sp.exp(-gap))
IN_REACH = sp.Ge(gap, sp.log(n - 1))

steepest = R**2 * sp.sqrt((n - 1) / (n - 2))
"""An upper bound of α − γ."""
exponentials = sp.exp(steepest) + sp.exp(gap)
"""An upper bound of e^(α−γ) + e^(β−γ)."""
largest = 1 / (1 + (n - 2) / exponentials)
"""An upper bound of p_1 + p_2."""
AT_MOST = (
    ValueWhere(PAIR, (IN_REACH,)),
    ValueWhere(R * largest / 2, (sp.Ge(exponentials, n),)),
    ValueWhere(R * largest, (sp.Le((3 * n - 4) * exponentials, n * (n - 2)),)),
    ValueWhere(R * n / (4 * (n - 1)), ()),
)

# The odds (1 − σ)/σ are e_0 = (n−2)/(2(n−1)(1+room)) at the pair (m = 0), and e_0 f, f = 1/(1 + below), elsewhere.
room, below, extra = sp.symbols("room below extra", nonnegative=True)
y = sp.Symbol("y", real=True)
odds = sp.Symbol("odds", positive=True)

_f = 1 / (1 + below)


def apart(e_0: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """Return σ_0, σ and the two parts of Q(σ_0/2), at odds e_0 of the pair and e_0 f elsewhere."""
    at_pair, elsewhere = 1 / (1 + e_0), 1 / (1 + e_0 * _f)
    last = at_pair / 2 - HALF_C * (1 - elsewhere)
    here = at_pair * e_0 * (at_pair / 2 - HALF_C * elsewhere * (1 - elsewhere))
    return at_pair, elsewhere, (1 + _f) * elsewhere * last - here, last


at_pair, elsewhere, _bracket, _last = apart((n - 2) / (2 * (n - 1) * (1 + room)))


LOW_SIGMA = Implication(
    "low_sigma",
    (sp.Ge(2 * (n - 1) * y, n - 2), sp.Le(n * y, n - 2)),
    sp.Le(y * (1 - y) + (1 - n * y / (n - 2)) ** 2, (n - 2) / (2 * (n - 1))),
    "y(1-y) + (1 - ny/(n-2))^2 <= (n-2)/(2(n-1)) for y = 1 - sigma, (n-2)/(2(n-1)) <= y <= (n-2)/n",
)
AT_THE_PAIR = Identity(
    "at_the_pair",
    characteristic(at_pair / 2, elsewhere, (1 - _f) * (1 + _f) + extra),
    (1 - _f) * elsewhere / 2 * _bracket + extra * elsewhere**2 / 2 * _last,
    "Q(sigma_0/2) at odds e_0 f and t^2 = 1 - f^2 + extra, as a sum of two parts",
)
BRACKET = Inequality(
    "bracket", sp.Ge(_bracket, 0, evaluate=False), "the first part is not negative where e_0 <= (n-2)/(2(n-1))"
)
LAST = Inequality(
    "last", sp.Ge(_last, 0, evaluate=False), "the second part is not negative where e_0 <= (n-2)/(2(n-1))"
)
LEAST_PAIR = Inequality(
    "least_pair", sp.Ge((n - 1) / (3 * n - 4), LOW, evaluate=False), "1/(2 + (n-2)/(n-1)) >= n/(4(n-1))"
)
LEAST_SUM = Inequality(
    "least_sum",
    sp.Le((n - 1) ** 2 / (2 * n * (n - 2)), 2 * (n - 1) / (3 * n - 4), evaluate=False),
    "(n-1)^2/(2n(n-2)) <= 2/(2 + (n-2)/(n-1))",
)

# The two parts of Q(σ_0/2), which are not negative by the steps `bracket` and `last`.
_parts = sp.symbols("part_1:3", nonnegative=True)
PAIR_FORMS = (
    Identity(
        "factor_of_the_pair",
        R * (1 / (1 + (n - 2) * lowest / 2)) / 2,
        R / (2 + (n - 2) * lowest),
        "R sigma_0/2 = R/(2 + (n-2) e^-M_0) for 1/sigma_0 = 1 + (n-2) e^-M_0/2",
    ),
    Inequality(
        "sum_of_parts",
        sp.Ge((1 - _f) * elsewhere / 2 * _parts[0] + extra * elsewhere**2 / 2 * _parts[1], 0, evaluate=False),
        "(1 - f) sigma/2 times one part plus extra sigma^2/2 times another is at least 0, if neither part is negative",
    ),
)

NORMS = Hypothesis("norms", text="|A| <= R (spectral) and |x| <= R, before and after the move; weights: d >= 2")
THREE_LEVELS = InWords(
    "three_levels",
    "the largest eigenvalue of J over logits of norm at most R^2 is attained where n - 2 logits are equal and least, "
    "the logits add up to 0 and their norm is R^2",
)
BEST = InWords(
    "best",
    "where log(n-1) <= R^2 sqrt(n/(2(n-2))) the best factor of both shifts is R/(2 + (n-2) exp(-R^2 "
    "sqrt(n/(2(n-2))))): this factor is enough, and no smaller factor is",
)
ALWAYS_AT_MOST = InWords(
    "at_most",
    "with E = exp(R^2 sqrt((n-1)/(n-2))) + exp(R^2 sqrt(n/(2(n-2)))) the best factor is at most "
    "R/(2(1 + (n-2)/E)) where E >= n, and at most R/(1 + (n-2)/E) and R n/(4(n-1)) where E <= n",
)
BELOW_HALF = Inequality(
    "below_half", sp.Lt(R / (2 + (n - 2) * odds), R / 2), "R/(2 + (n-2) e) < R/2 for every e > 0, such as e = exp(-M_0)"
)
STATEMENT = Statement(
    parameters=(ROWS, RADIUS),
    hypotheses=(NORMS,),
    variables=(
        *(own_logit, other_logit, room, below, extra, y, p, above, mu, kappa),
        *(x, value, first, second, S, odds, centre, *_parts, *VARIABLES),
    ),
    claims=(THREE_LEVELS, BEST, ALWAYS_AT_MOST, BELOW_HALF),
    steps=(
        *(
            *JACOBIAN,
            SLOPE,
            SECULAR,
            CONVEX,
            NORM,
            ROOT_SUM,
            ROOTS_BELOW,
            HALF_ROOT,
            LOW_ROOT,
            LOW_SIGMA,
            AT_THE_PAIR,
            BRACKET,
            LAST,
        ),
        *(LEAST_PAIR, LEAST_SUM, APART, ON_THE_SPHERE, ONE_ZERO, DETERMINANT, AT_THE_SECOND, HEIGHT, SPAN, SHARE, ODDS),
        *(TANH, THIRD, LARGEST_SHARE, MANY, FEW, SUM_IN_Q, LARGER_OF_TWO, *LOW_STEPS, *SUM_STEPS, *PAIR_STEPS),
        *(SUM_OF_THE_LOGITS, *AT_MOST_STEPS),
        *(*EIGENVECTOR, *MEAN_ZERO, *ORDER_STEPS, SHARE_BY_SUMS, *PAIR_FORMS),
    ),
)

ARGUMENT = (
    Inference(
        "factor",
        "J is the Jacobian of softmax, and the logits of norm R² or less are a convex ball: the best factor is R times "
        "the largest eigenvalue λ of J over this ball. It is not smaller, because from any logits of norm below R² a "
        "unit move of A moves the logits by R in any direction; for d ≥ 2 so does a unit move of x, with an A that "
        "maps onto a plane that contains the logits and the direction; and λ is continuous",
        ("norms", *(step.label for step in JACOBIAN)),
        rules.MEAN_VALUE_INEQUALITY,
    ),
    Inference(
        "maximiser",
        "λ is continuous and the ball compact: there is a maximiser z. Let v be any unit eigenvector of λ at z, and μ "
        "its mean under p: p_i (v_i − μ) = λ v_i. On the ball the variance of v under p is at most the maximum, with "
        "equality at z, so that its slopes at z are p_i ((v_i − μ)² − λ) = κ z_i with κ ≥ 0, and κ = 0 inside the "
        "ball. The slopes add up to Var v − λ = 0, so that the z_i add up to 0 if κ > 0",
        ("slope", "sum_of_the_logits"),
        rules.MULTIPLIERS_ON_A_BALL,
    ),
    Inference(
        "mean_zero",
        "let μ = 0: v is 0 off the set S of the rows with p_i = λ, which are two or more. On S the z_i are equal, and "
        "so are the v_i². The latter holds for every v on S with Σ v_i = 0, so that S has exactly two rows; as n ≥ 3, "
        "these are not all rows. Off S the slope −λ p_i = κ z_i is not 0, so that κ > 0, and −λ e^z/Z = κ z has one "
        "solution: z has three levels with α = β, and norm R² and sum 0 because κ > 0",
        ("maximiser", *(step.label for step in MEAN_ZERO)),
        "case distinction",
    ),
    Inference(
        "one_above",
        "let μ ≠ 0: no p_i is λ, `entry_of_v` gives v up to a factor, and λ is simple. Because Σ v_i = 0, v has "
        "entries of both signs, and some p_i is above λ. Only one is: on two such rows a vector w with mean 0 would "
        "have a variance above λ|w|²",
        ("maximiser", "entry_of_v", "two_above"),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "two_values",
        "the other p_i are in (0, λ), where p_i ((v_i − μ)² − λ) = κ z_i reads φ(p_i) = κ (log p_i + log Z), with φ(p) "
        "= p (μ²λ²/(λ − p)² − λ): they are zeros of ψ(p) = φ(p) − κ log p − κ log Z, which is strictly convex and so "
        "has at most two",
        ("maximiser", "one_above", "square_of_the_entry", "bend_of_psi", "convex"),
        rules.SECOND_DERIVATIVE,
    ),
    Inference(
        "slopes_of_the_eigenvalue",
        "λ is simple, so that it is smooth near z, with the slope p_i ((v_i − μ)² − λ) = φ(p_i) in z_i. If two equal "
        "logits with probability p < λ are moved apart, to z_i + h and z_j − h, λ and μ are even in h, and the slope "
        "of λ in h, φ(p_i) − φ(p_j), changes by 2 p φ'(p) h to first order",
        ("one_above", "two_values", "slope", "apart", "slope_of_phi"),
        rules.DERIVATIVE_OF_A_SIMPLE_EIGENVALUE,
    ),
    Inference(
        "bent_down",
        "the direction in which two equal logits are moved apart is orthogonal to z, a maximiser on the ball: 2 p "
        "φ'(p) ≤ 2κ, so that ψ'(p) ≤ 0 if two logits have the same probability p < λ",
        ("slopes_of_the_eigenvalue", "maximiser", "on_the_sphere"),
        rules.SECOND_ORDER_NECESSARY_CONDITION,
    ),
    Inference(
        "once",
        "for κ = 0 ψ has one zero, with ψ' > 0 there, which n − 1 ≥ 2 of the p_i would take: so κ > 0, and z has norm "
        "R² and sum 0. At the larger of two zeros of the strictly convex ψ, ψ' > 0: at most one p_i takes it",
        ("bent_down", "maximiser", "two_values", "convex", "one_zero"),
        rules.SECOND_DERIVATIVE,
    ),
    Inference(
        "three_levels",
        "in both cases z is (α, β, γ, …, γ), α ≥ β ≥ γ, of sum 0 and norm R²",
        ("mean_zero", "once"),
        "case distinction",
    ),
    Inference(
        "angle",
        "let M = (α + β)/2 − γ, m = (α − β)/2, σ = p_1 + p_2 and σt = p_1 − p_2. Then 2m² + 2(n−2)M²/n = R⁴, so that M "
        "≤ M_0; t = tanh m; and 1/σ = 1 + e with e = (n−2)e^{−M}/(2 cosh m) = e_0 f, e_0 = (n−2)e^{−M_0}/2. Because "
        "p_3 ≤ p_2 ≤ p_1, σ ≥ 2/n and σt ≤ 1 − ny/(n−2), y = 1 − σ",
        ("three_levels", "norm", "height", "share", "odds_at_least", "third", "two_at_least"),
        "application",
    ),
    Inference(
        "secular_form",
        "because Σ p_i = 1, det(λI − J) = λ Σ_i p_i ∏_{j≠i} (λ − p_j); at three levels the sum is (λ − p_3)^{n−3} "
        "Q(λ), also if α = β",
        ("three_levels", "determinant", "secular"),
        rules.MATRIX_DETERMINANT_LEMMA,
    ),
    Inference(
        "larger_root",
        "because Q(p_2) ≤ 0 and Q(x) → ∞ as x → ∞, the larger root of Q is at least p_2 ≥ p_3: it is the largest "
        "eigenvalue λ",
        ("secular_form", "three_levels", "at_the_second", "not_positive_at_the_second", "sum_in_Q"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "within",
        "let λ' be the other root of Q: if Q(x) = (x − λ)(x − λ') ≥ 0 and 2x ≥ λ + λ', then λ ≤ x",
        ("larger_root", "sum_in_Q", "larger_of_two"),
        "application",
    ),
    Inference(
        "half_of_two",
        "2/n ≤ σ ≤ 1, so that the roots of Q add up to at most σ; if σ ≥ n/(2(n−1)), Q(σ/2) ≥ 0 and λ ≤ σ/2",
        ("angle", "within", "roots_below", "half_root"),
        "nonnegative terms",
    ),
    Inference(
        "low",
        "if σ < n/(2(n−1)), y = 1 − σ is between (n−2)/(2(n−1)) and (n−2)/n, and σ²t² ≤ (1 − ny/(n−2))²: so "
        "Q(n/(4(n−1))) ≥ 0 and λ ≤ n/(4(n−1))",
        ("angle", "within", "roots_below", "low_root", "low_sigma", *(step.label for step in LOW_STEPS)),
        "application",
    ),
    Inference(
        "pair_is_enough",
        "let M_0 ≥ log(n−1): then e_0 ≤ (n−2)/(2(n−1)), so that σ_0/2 ≥ (n−1)/(3n−4) ≥ n/(4(n−1)), σ_0 = 1/(1 + e_0). "
        "If σ ≤ σ_0, λ ≤ σ_0/2 by `half_of_two` and `low`. If σ > σ_0, f < 1 and t² ≥ 1 − f², so that Q(σ_0/2) ≥ 0, "
        "and the roots of Q add up to at most (n−1)²/(2n(n−2)) ≤ σ_0: again λ ≤ σ_0/2",
        (
            *("half_of_two", "low", "least_pair", "at_the_pair", "bracket", "last", "sum_of_parts", "within"),
            *("angle", "odds_at_least", "tanh", "root_sum", "least_sum", *(step.label for step in PAIR_STEPS)),
        ),
        "case distinction",
    ),
    Inference(
        "best",
        "at m = 0 two logits are M_0 above the others, and λ = σ_0/2 with the eigenvector (1, −1, 0, …)/√2: if M_0 ≥ "
        "log(n−1), the best factor is R σ_0/2",
        ("factor", "pair_is_enough", "angle", "factor_at_most", "factor_of_the_pair"),
        "lower bound attained",
    ),
    Inference(
        "largest_share",
        "at norm R², α − γ = M + m ≤ S = R² √((n−1)/(n−2)) and β − γ = M − m ≤ M_0, so that e^{α−γ} + e^{β−γ} ≤ E = "
        "e^S + e^{M_0}, and σ = 1/(1 + (n−2)/(e^{α−γ} + e^{β−γ})) ≤ σ̄ = 1/(1 + (n−2)/E)",
        ("angle", "span", "share_by_sums", "largest_sum", *(step.label for step in SUM_STEPS)),
        "application",
    ),
    Inference(
        "below_the_sum",
        "the roots of Q are eigenvalues of J, which are variances and so not negative; they add up to at most σ: λ ≤ σ",
        ("secular_form", "larger_root", "half_of_two", "sum_in_Q"),
        "nonnegative terms",
    ),
    Inference(
        "at_most",
        "λ ≤ σ/2 or λ ≤ n/(4(n−1)), and σ ≤ σ̄. If E ≥ n, n/(4(n−1)) ≤ σ̄/2, so that λ ≤ σ̄/2 in both cases. If E ≤ n, "
        "σ̄/2 ≤ n/(4(n−1)), so that λ ≤ n/(4(n−1)) in both cases, and λ ≤ σ ≤ σ̄. The best factor is R times the "
        "largest λ",
        (
            *("factor", "largest_share", "half_of_two", "low", "below_the_sum"),
            *("large_exponentials", "small_exponentials", *(step.label for step in AT_MOST_STEPS)),
        ),
        "case distinction",
    ),
)


def derivation() -> Derivation:
    """Return the steps: slopes and eigenvectors at a maximiser, the second derivative of ψ, the pair."""
    lam = sp.Symbol("lambda", positive=True)
    psi = p * (mu**2 * lam**2 / (lam - p) ** 2 - lam) - kappa * sp.log(p)
    v = -mu * p / (lam - p)
    # Two rows have the logits z ± x, and the exponentials of the other logits add up to S. λ and μ are held fixed,
    # because they are even in x.
    z = sp.Symbol("z", real=True)
    share = sp.exp(z + x) / (sp.exp(z + x) + sp.exp(z - x) + S)
    return Derivation(
        (
            Step("the variance's slope in a logit", SLOPE.left, SLOPE.right),
            Step("v_i = −μ p_i/(λ − p_i) solves p_i (v_i − μ) = λ v_i", p * (v - mu), lam * v),
            Step("and v_i − μ = −μλ/(λ − p_i)", v - mu, -mu * lam / (lam - p)),
            Step(
                "ψ'' = 2μ²λ²(p + 2λ)/(λ − p)⁴ + κ/p²",
                sp.Derivative(psi, (p, 2)),
                2 * mu**2 * lam**2 * (p + 2 * lam) / (lam - p) ** 4 + kappa / p**2,
            ),
            Step(
                "ψ' = 2pμ²λ²/(λ − p)³ where κ = 0 and ψ = 0: the difference is 0 there, because (λ − p)² = μ²λ",
                sp.Derivative(psi.subs(kappa, 0), p) - 2 * p * mu**2 * lam**2 / (lam - p) ** 3,
                mu**2 * lam**2 / (lam - p) ** 2 - lam,
            ),
            Step(
                "moving two equal logits apart: p_i has the slope p_i",
                sp.Derivative(share, x).subs(x, 0),
                share.subs(x, 0),
            ),
            Step("Q is the secular equation", SECULAR.left, SECULAR.right),
            Step("the norm of three levels", NORM.left, NORM.right),
            Step(
                "at norm R², α − γ = M + m is at most R²√((n−1)/(n−2)), because the last term is a square",
                (2 * m**2 + 2 * (n - 2) * M**2 / n) * (n - 1) / (n - 2),
                (M + m) ** 2 + (n * m - (n - 2) * M) ** 2 / (n * (n - 2)),
            ),
            Step("Q at the pair's eigenvalue", AT_THE_PAIR.left, AT_THE_PAIR.right),
        )
    )


_canary = partial(with_changes, STATEMENT)

_BOUNDS = values_of(R * largest / 2, R * largest, R * n / (4 * (n - 1)), 1 / exponentials)
_ROOM = values_of(gap - sp.log(n - 1))
EVALUATIONS = {
    "three_levels": Evaluation(
        largest_at(three_levels),
        "the largest eigenvalue of J over logits of norm R^2 or less is that of n - 1 logits equal and least",
        largest_at(one_row_above),
        draws=20,
    ),
    "best": Evaluation(
        best_is(values_of(PAIR), _ROOM),
        "where log(n-1) <= R^2 sqrt(n/(2(n-2))) the best factor of both shifts is 49/50 R/(2 + (n-2) exp(-R^2 "
        "sqrt(n/(2(n-2)))))",
        best_is(values_of(PAIR, factors=(Fraction(49, 50),)), _ROOM),
        draws=40,
    ),
    "at_most": Evaluation(
        at_most(_BOUNDS),
        "the best factor is at most 99/100 of the claimed bounds",
        at_most(_BOUNDS, factor=0.99),
        draws=20,
    ),
}

best_factor = Theorem(
    id="li2024.best_factor",
    title="The best factor for three rows or more: two equal logits as far above the others as the norms allow",
    source=Source("the best constant of both shifts", "derived here", LI2024),
    statement=STATEMENT,
    example={"n": 50, "R": 4},
    values={"best_factor": (ValueWhere(PAIR, (IN_REACH,)),), "best_factor_at_most": AT_MOST},
    derivation=derivation,
    canaries=(
        _canary(
            "six times the odds",
            "bracket",
            relation=sp.Ge(apart(3 * (n - 2) / ((n - 1) * (1 + room)))[2], 0, evaluate=False),
        ),
        _canary("twice Q", "secular", right=characteristic(level, sigma, t**2) * 2),
        _canary("one of the two squares left out", "root_sum", right=sigma**2 * t**2 / 2),
        _canary("7/20 for n/(4(n-1))", "least_pair", relation=sp.Ge((n - 1) / (3 * n - 4), sp.Rational(7, 20))),
        _canary("above half the radius", "below_half", relation=sp.Ge(R / (2 + (n - 2) * odds), R / 2)),
    ),
    evaluations=EVALUATIONS,
    argument=ARGUMENT,
)
