r"""The smallest loss over all functions of y and of m linear measurements of X, for every width m.

*Class.* f(X, y) = g(y, A vec X) with A ∈ R^{m×Td} fixed before y is drawn, and any function g. Every fully-connected
net whose first layer has m units is in the class, whatever its depth, activations and training, because the outputs of
the first layer are functions of A vec X + B e(y) + b. Units that do not read X are not counted. Later layers may read
y, and may not read X. Weights may be shared (a convolution), drawn at random, or learnt from other samples.

    inf_{A, g} ½ E‖g(y, A vec X) − STS_q(X, y)‖² = ½ (λ_2 (Td − m) + (λ_1 − λ_2) max(0, d − m)),
    λ_1 = 1/T,    λ_2 = (T − q)/(q T (T − 1)):

This is ½ (d/q − m/T) for m ≤ d and (Td − m)(T − q)/(2 q T (T − 1)) for m ≥ d, always the larger of the two. A loss of
c d/(2q), c times the loss of f = 0, takes at least Td (1 − c (T−1)/(T−q)) units (q < T), and at least (1 − c) Td/q.

*Idea.* A vec X determines the part of vec X in A's row space U, and is independent of the rest. So the loss is a trace,
½ tr (I − Π)(Γ ⊗ I_d) with Π the projection onto U and Γ = E u uᵀ, u = 1_y/q. By the symmetry of tokens Γ has the
eigenvalue λ_1 on the sums of tokens and the eigenvalue λ_2 on their complement. The smallest loss is attained if and
only if U has rank k = m (or λ_2 = 0), and overlap p = min(m, d) with the sums (or q = 1). For general eigenvalues this
is Ky Fan's inequality.

For q << T a random first layer is nearly as good: for a span drawn uniformly E Π = I m/(Td), and the mean loss is
d/(2q) (1 − m/(Td)), which is (T−1)/(T−q) times the smallest for m ≥ d.

*A larger class.* A may depend on random numbers that are independent of (X, y), and each row of A on the values that
the earlier rows measured: given these, the rest of vec X is standard Gaussian on the complement of their span, and y is
uniform. A may not depend on y: d measurements of the target itself leave no loss. Measurements must be linear: one
nonlinear measurement can contain the digits of many numbers. If X is not Gaussian but has the same covariance, the
formula is the least loss of predictions that are linear in X for each y.

*One layer that reads both X and y.* Nets in which m units read X and y are in the class, so the formula bounds their
loss. The bound is nearly attained. Let y be coded by c = Σ_{i∈y} a_i for integers a_i such that different q-subsets
have different sums. One choice is a_i = 2^i. Another one has a_i of order T^q (Bose and Chowla's B_q sets), so that c
has about q log2 T bits instead of T. A third one has slightly larger a_i, whose digits, in a base above q(r − 1), are
i, i², …, i^q modulo a prime r ≥ T; power sums determine a set by Newton's identities.
- With m + 1 units the formula is attained for strictly monotone activations (linear, leaky ReLU, ELU, sigmoid, tanh,
  softplus): m units read A vec X, one reads c, and later layers are any function of these.
- With 2m + 1 units it is attained if σ(b + x) − σ(b − x) is strictly monotone in x for some b, and σ is strictly
  monotone on some interval. For ReLU, GELU and SiLU b = 0, and the difference is x. For a polynomial that is not
  constant, b is beyond the real roots of all its derivatives, so that each of them has one sign there (for x² at b = 1
  the difference is 4x).
- With m units it is approached: a unit reads x + Kc instead of the measurement x. The multiple of K nearest to x + Kc
  is Kc unless |x| ≥ K/2, so that the loss tends to the formula as K grows. The same holds for any activation that is
  continuous and strictly monotone on some interval, and so for ReLU with a large bias: all but a vanishing share of the
  measurements are scaled and shifted into the interval. So the infimum is the formula for every width m ≥ 1.
Such weights have many digits: they are of order K T^q in one unit, or of order K T in each of q ≤ m units that read one
power sum each.

Not proved here: that wide later layers of the same units approximate the function needed (linear units do not); the
cost of bounded weights, of finite precision, or of later layers of bounded size; any claim on activations that are
constant between jumps; that m units do not attain the infimum; where training ends.

*The worst case.* The paper extends a worst-case bound to the average case: a net that computes the mean of the selected
tokens for every X and y to a small error needs a first layer of Ω(Td) units (Sanford, Hsu and Telgarsky 2023; recalled,
its constants are not known to us). The bound here is for the mean over Gaussian X and uniform y. At a loss of σ d/(2q)
it is Td (1 − σ(T−1)/(T−q)) units if this is at least d. It tends to Td as the loss tends to 0, as in the worst case,
and is d at the loss of predictions from the sum of the tokens alone.

Source: according to its abstract the paper's lower bound for fully-connected nets is Ω̃(Td) in the average case. The
class, the formula and the constants are derived here.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.reduced_dynamics import (
    BOTH_SELECTED,
    CHANCES,
    LAW_OF_THE_SUBSET,
    OF_TWO_SUMS,
    PRODUCT_OF_SUMS,
    SELECTED,
    over_tokens,
)
from theorems.sparse_token_selection.task import (
    ACCURACY,
    GAUSSIAN_TOKENS,
    LENGTH,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    eps,
    q,
)
from theorems.sparse_token_selection.trials import linear_measurements
from theorems.symmetrisation.token_sums import mean_of_product
from verify import (
    Canary,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    ValueLargest,
    ValueLeast,
)

m = sp.Symbol("m", integer=True, nonnegative=True)
v, total, p, k, s = sp.symbols("v total p k s", real=True)

WIDTH = Parameter("m", "integer", "number of linear measurements of X, or units of the first layer", minimum=0)
MEASUREMENTS_EXIST = sp.Le(m, T * d)
CLASS = Hypothesis(
    "linear_measurements", text="f is any function of y and of m linear measurements of X, fixed before y is drawn"
)

# These are the entries of Γ = E u uᵀ, u = 1_y/q, on and off its diagonal, and its eigenvalues.
diagonal = SELECTED / q**2
beside = BOTH_SELECTED / q**2
largest = diagonal + (T - 1) * beside
other = diagonal - beside


def loss_with(overlap: sp.Expr, rank: sp.Expr = m) -> sp.Expr:
    """Return the loss of measurements whose span has a given rank and a given overlap with the d sums of tokens."""
    return (other * (T * d - rank) + (largest - other) * (d - overlap)) / 2


few = (d / q - m / T) / 2
many = (T * d - m) * (T - q) / (2 * q * T * (T - 1))
SMALLEST = (few, many)
"""The smallest loss at any m is the larger of the two."""

CLAUSES = (
    Identity(
        "second_moment",
        diagonal * v + beside * (total - v),
        (T - q) / (q * T * (T - 1)) * v + (q - 1) / (q * (T - 1)) * total / T,
        says="E uu' = lambda_2 I + (lambda_1 - lambda_2) 11'/T for u = 1_y/q, lambda_2 = (T-q)/(qT(T-1))",
    ),
    Identity("sums", largest, 1 / T, says="lambda_1 = 1/T, d times: on the sums of tokens"),
    Identity("contrasts", (T - 1) * other, 1 / q - 1 / T, says="(T-1) lambda_2 = 1/q - 1/T: (T-1)d times, on the rest"),
    Implication(
        "above_few",
        (sp.Le(p, k), sp.Le(k, m)),
        sp.Ge(loss_with(p, k), few),
        says="L(p, k) = (lambda_2 (Td-k) + (lambda_1-lambda_2)(d-p))/2 >= (d/q - m/T)/2 for p <= k <= m",
    ),
    Implication(
        "above_many",
        (sp.Le(p, d), sp.Le(k, m)),
        sp.Ge(loss_with(p, k), many),
        says="L(p, k) >= (Td-m)(T-q)/(2qT(T-1)) for p <= d, k <= m",
    ),
    Identity("few", loss_with(m, m), few, says="L(m, m) = (d/q - m/T)/2"),
    Identity("many", loss_with(d, m), many, says="L(d, m) = (Td-m)(T-q)/(2qT(T-1))"),
    Implication(
        "few_is_larger",
        (sp.Le(m, d),),
        sp.Ge(few, many),
        says="(d/q - m/T)/2 >= (Td-m)(T-q)/(2qT(T-1)) for m <= d",
    ),
    Implication(
        "many_is_larger",
        (sp.Ge(m, d),),
        sp.Ge(many, few),
        says="(Td-m)(T-q)/(2qT(T-1)) >= (d/q - m/T)/2 for m >= d",
    ),
    Identity(
        "few_falls",
        few - few.subs(m, m + s),
        s / (2 * T),
        says="the first falls by s/(2T) as m rises by s",
    ),
    Identity(
        "many_falls",
        many - many.subs(m, m + s),
        s * (T - q) / (2 * q * T * (T - 1)),
        says="the second falls by s(T-q)/(2qT(T-1)): what m measurements are enough for, more are",
    ),
    Identity(
        "width_few",
        2 * T * (eps - few),
        m - T * (d / q - 2 * eps),
        says="the first is <= eps exactly where m >= T (d/q - 2 eps)",
    ),
    Identity(
        "width_many",
        2 * q * T * (T - 1) * (eps - many),
        2 * q * T * (T - 1) * eps - (T * d - m) * (T - q),
        says="the second is <= eps exactly where (Td-m)(T-q) <= 2qT(T-1) eps",
    ),
)

SMALLEST_LOSS = InWords(
    "smallest",
    "the infimum of E |f - STS|^2/2 over the class is (d/q - m/T)/2 for m <= d, (Td-m)(T-q)/(2qT(T-1)) for m >= d",
)
NETS = InWords("nets", "no fully-connected net whose first layer has m units that read X has a smaller loss")
EVALUATIONS = {
    "smallest": Evaluation(
        linear_measurements.smallest(few, many),
        "the infimum of E |f - STS|^2/2 over the class is (d/q - m/T)/2 for m <= d, (Td-m)/(2q(T-1)) for m >= d",
        linear_measurements.smallest(few, (T * d - m) / (2 * q * (T - 1))),
        draws=7,
    ),
    "nets": Evaluation(
        linear_measurements.nets(few, many),
        "no fully-connected net whose first layer has m units that read X has a loss below 5/4 of it",
        linear_measurements.nets(5 * few / 4, 5 * many / 4),
        draws=7,
    ),
}
STEPS, CLAIMS = (PRODUCT_OF_SUMS, *LAW_OF_THE_SUBSET[:2], *CLAUSES[:9]), CLAUSES[9:]
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, WIDTH, ACCURACY),
    domain=(SUBSET_FITS, MEASUREMENTS_EXIST),
    hypotheses=(GAUSSIAN_TOKENS, CLASS),
    variables=(v, total, p, k, s, *CHANCES, *OF_TWO_SUMS),
    claims=(SMALLEST_LOSS, NETS, *CLAIMS),
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "conditional_mean",
        "for given y and A, the function of A vec X nearest to STS in mean square is the conditional mean of STS",
        ("linear_measurements",),
        rules.CONDITIONAL_MEAN,
    ),
    Inference(
        "remainder",
        "let Π be the projection onto A's row space and u = 1_y/q: the conditional mean is linear in A vec X, and "
        "component k of STS minus this mean has the variance |(I − Π)(u ⊗ e_k)|²",
        ("conditional_mean", "gaussian_tokens", "product_of_sums"),
        rules.GAUSSIAN_CONDITIONING,
    ),
    Inference(
        "second_moment_of_the_subset",
        "all tokens, and all pairs of tokens, are equally likely to be selected. The T indicators of i ∈ y add up to "
        "q, and so do their squares; all their products, squares included, add up to q²: E uu' has (q/T)/q² on its "
        "diagonal and (q(q−1)/(T(T−1)))/q² off it",
        ("gaussian_tokens", *(step.label for step in LAW_OF_THE_SUBSET[:2])),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "mean_loss",
        "A is fixed before y is drawn, so that the mean loss is ½ tr (I − Π)(E uu' ⊗ I_d)",
        ("remainder", "second_moment_of_the_subset", "linear_measurements"),
        "linearity of expectation",
    ),
    Inference(
        "in_overlap",
        "let S be the projection onto the d sums, k the rank of Π and p = tr ΠS: then "
        "½ tr (I − Π)(λ_2 I + (λ_1 − λ_2) S) = L(p, k)",
        ("mean_loss", "second_moment", "sums", "contrasts"),
        rules.LINEARITY_OF_THE_TRACE,
    ),
    Inference(
        "overlap", "0 ≤ p ≤ k, p ≤ d, and k ≤ m", ("in_overlap", "linear_measurements"), rules.TRACE_OF_PROJECTIONS
    ),
    Inference(
        "below",
        "L(p, k) is at least either formula",
        ("in_overlap", "overlap", "above_few", "above_many"),
        "application",
    ),
    Inference(
        "attained",
        "for m ≤ d, m sums have p = k = m; for m ≥ d, all d sums and m − d contrasts have p = d, k = m: their loss is "
        "the larger of the two formulas",
        ("in_overlap", "few", "many", "few_is_larger", "many_is_larger"),
        "case distinction",
    ),
    Inference(
        "smallest", "the larger formula is a lower bound, and attained", ("below", "attained"), "lower bound attained"
    ),
    Inference(
        "nets",
        "the first layer computes functions of A vec X + B e(y) + b, and later layers read these and y: the net is in "
        "the class",
        ("smallest", "linear_measurements"),
        "definition",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the subset's law, the second moment, the trace, the losses of the best measurements."""
    one, both = sp.symbols("P_1 P_2", positive=True)
    law = {one: SELECTED, both: BOTH_SELECTED}
    # These are the moments of N(0, 1), and the coefficients of a selected and of another token in the target, and in
    # the target minus the mean of all tokens.
    gaussian = {0: sp.Integer(1), 1: sp.Integer(0), 2: sp.Integer(1)}
    target, with_sum = (1 / q, sp.Integer(0)), (1 / q - 1 / T, -1 / T)

    def variance(coefficients: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
        return mean_of_product([(coefficients, 1)] * 2, gaussian, lambda values: over_tokens(*values))

    return Derivation(
        (
            Step("Σ_i [i ∈ y] = q, and tokens are alike: T P(i ∈ y) = q", T * one, q),
            Step("the square of this sum is q², and pairs are alike", T * one + T * (T - 1) * both, q**2),
            Step("Γ = E u uᵀ, u = 1_y/q, on 1: its rows sum to λ_1", (one + (T - 1) * both) / q**2, 1 / T),
            Step("Γ on vectors of sum 0: λ_2", (one - both) / q**2, (T - q) / (q * T * (T - 1))),
            Step("λ_1 − λ_2, not negative", largest - other, (q - 1) / (q * (T - 1))),
            Step("the target's variance, a component: E over X, the trace of Γ", variance(target), T * one / q**2),
            Step(
                "the target's variance given the mean of all tokens: (T − 1) λ_2",
                variance(with_sum),
                (T - 1) * other,
            ),
            Step(
                "the loss at overlap p minus the loss at p = m",
                loss_with(p) - loss_with(m),
                (q - 1) * (m - p) / (2 * q * (T - 1)),
            ),
            Step(
                "the loss at overlap p minus the loss at p = d",
                loss_with(p) - loss_with(d),
                (q - 1) * (d - p) / (2 * q * (T - 1)),
            ),
            Step("p = m: all measurements are of sums", loss_with(m), few),
            Step("p = d: all sums are measured", loss_with(d), many),
            Step("at m = d they meet", few.subs(m, d), many.subs(m, d)),
        ),
        law,
    )


MANY_MEASURED, FEW_MEASURED = Hypothesis("many_measured", sp.Ge(m, d)), Hypothesis("few_measured", sp.Le(m, d))


def _canary(label: str, clause: str, *case: Hypothesis, **changes: object) -> Canary:
    """Return a canary: the statement with `changes` to one clause, under the hypotheses `case` as well."""
    return with_changes(replace(STATEMENT, hypotheses=(*STATEMENT.hypotheses, *case)), label, clause, **changes)


fcn_width = Theorem(
    id="wang2024.fcn_width",
    title="A lower bound on the loss of fully-connected nets at every width: the least loss over all functions of y "
    "and m linear measurements",
    source=Source(
        "Lower bound on the width of fully-connected nets, average case",
        "derived here",
        WANG2024,
        "the paper's abstract has the order Ω̃(Td)",
    ),
    statement=STATEMENT,
    example={"T": 200, "q": 3, "d": 5, "m": 500, "eps": "1/10"},
    values={
        "loss_lower_bound": ValueLargest(SMALLEST),
        "width_lower_bound": ValueLeast(SMALLEST, "m", eps, sp.Integer(0), T * d),
    },
    derivation=derivation,
    canaries=(
        _canary("T(d - 1) for Td", "many", MANY_MEASURED, right=many.subs(T * d, T * (d - 1))),
        _canary("without the half", "many", MANY_MEASURED, right=2 * many),
        _canary("T for T - q", "many", MANY_MEASURED, right=many.subs(T - q, T)),
        _canary("the case m <= d forgotten", "few", FEW_MEASURED, right=many),
        _canary("an overlap beyond the rank", "above_few", conditions=(sp.Le(k, m),)),
        _canary("more measurements than there are", "above_many", conditions=(sp.Le(p, d),)),
    ),
    evaluations=EVALUATIONS,
    argument=ARGUMENT,
)
