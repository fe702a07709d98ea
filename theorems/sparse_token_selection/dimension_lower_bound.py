r"""A lower bound of the loss on the set, and the dimension that encodings need for a given loss.

For q ≥ 3 the selected logits differ among themselves. A layer needs a large C to separate the selected tokens from the
others, but a large C also makes it prefer some selected tokens to others. For all α, C and s ≥ 0, and whether the
query's token is attended to or not,

    L ≥ d/(32q) · (q−2)s²/(d_e + (q−2)s² (3 + 4^s q/(T−q))).

At 4^s = (T−q)/q, for T ≥ 2q, and with p = 2s, this is d/(128q) · (q−2)p²/(d_e + (q−2)p²), p = log₂((T−q)/q). Solved for
d_e, the bound gives the dimension that a loss of at most ε needs: with 4^s = (T−q)d/(64q²ε), if this is at least 1,

    d_e ≥ (q−2)/4 · (d/(64qε) − 3) · log₂²((T−q)d/(64q²ε)).

So for fixed q, and ε below d/(192q), the width d + d_e grows at least like (d/ε) log²(T/ε), the same order as the
approximation in `approximate_gain`. The constant is smaller: as ε → 0 with T and q fixed, the bound is 15.4 (q−1)/q
times smaller than the approximation. For q = 2 the bound is 0, and the least loss is exponentially small
(`two_selected`).

*Proof.* For the weights 2^{r v_i}, r = C/ln 2, let A be their sum over y and B the sum of all their squares. With P, R
of `sign_attention`, P² ≤ R E[A²/B] by Cauchy and Schwarz: the softmax's denominator cancels, with the query's token or
without. So 1 − P²/(qR) ≥ E m, where

    m = 1 − A²/(qB) = min over β > 0 of (1/q) (Σ_y (1 − β 2^{r v_i})² + β² Σ_{j∉y} 4^{r v_j}).

*The selected tokens.* |1 − 2^x| ≥ ½ min(1, |x|), so that E m ≥ (1/8) E min(1, Y) with Y = r²(v_1 − v_2)²/2 for two
selected tokens. v_1 − v_2 is 2/d_e times a sum of M(q−2) independent signs, M the number of coordinates in which e_1
and e_2 differ: E Y = y = r²(q−2)/d_e and E Y² ≤ 6y². Because min(1, Y) is at least Y − Y²/4, and does not fall if |r|
grows, E m ≥ min(y, 1/3)/16.

*The others.* Either β 2^r ≥ ½, and the last sum alone is enough, or (1 − β 2^{r v_i})² ≥ ¼ for each selected token with
r(v_i − 1) ≤ 0. A change of the sign of e_i, or of all e_j with j ∉ y at once, does not change the law:
E m ≥ min(1, 4^{−r}(T−q)/q)/16.

*Together.* For r < s the second bound is at least its value at r = s; for r ≥ s the first bound is at least its value
at r = s. With y and x = 4^{−s}(T−q)/q at r = s, min(y, x, 1/3) is at least 1/(1/y + 1/x + 3).

The proof does not use C ≥ 0. Encodings that are uniform on the unit sphere have the same symmetries and the same bound
of E Y² (a step of the derivation), so the bound of L holds for them too. Matrices off the set are not covered.

Source: Wang et al. 2024, Theorem 2 has the width Õ(d + q log T); its constants, and whether ε is in them, are not known
to us. The bound and its proof are derived here.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection import sums_of_signs
from theorems.sparse_token_selection.gain_primitives import attention_gain
from theorems.sparse_token_selection.invariant_set import SQUARE_OF_THE_RESIDUAL, share
from theorems.sparse_token_selection.task import (
    ATTEND,
    ENCODING_DIMENSION,
    LENGTH,
    QUERY,
    SIGNS_ON_THE_SET,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    TWO_SELECTED,
    T,
    d,
    d_e,
    eps,
    q,
)
from verify import (
    Derivation,
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

A, B, beta, Y, x, y, spread, power = sp.symbols("A B beta Y x y spread power", positive=True)
weight, gain, second, capped, part, least = sp.symbols("weight gain second capped part least", nonnegative=True)
distance, another, count, count_squared = sp.symbols("distance another count count_squared", nonnegative=True)
s = sp.Symbol("s", nonnegative=True)
x_1, x_2, c, rate = sp.symbols("x_1 x_2 c rate", real=True)
alpha, P, R = sp.Symbol("alpha", real=True), sp.Symbol("P", real=True), sp.Symbol("R", positive=True)

SPLIT = Parameter(
    "s", "rational", "any number: the bound holds for each; 4^s about (T - q)/q is good", minimum=0, default=3
)

FLOOR = d / (2 * q) * (1 - attention_gain(T, q, d_e, QUERY))
SPREAD = (q - 2) * s**2
BOUND = d / (32 * q) * SPREAD / (d_e + SPREAD * (3 + 4**s * q / (T - q)))
FOURTH = 16 / d_e**4 * (3 * (q - 2) ** 2 * (d_e**2 + d_e) / 4 - (q - 2) * d_e)
SECOND = 2 * (q - 2) / d_e

FROM_BELOW = Inequality(
    "floor",
    sp.Ge(FLOOR, BOUND),
    says="the infimum of L over alpha and C >= 0 is at least d/(32q) k/(d_e + k (3 + 4^s q/(T - q))), k = (q - 2) s^2",
)
STEPS = (
    SQUARE_OF_THE_RESIDUAL,
    Inequality(
        "best_alpha",
        sp.Ge(d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q), d / (2 * q) * (1 - P**2 / (q * R))),
        says="d/2 (alpha^2 R - 2 alpha P/q + 1/q) >= d/(2q) (1 - P^2/(qR))",
    ),
    Implication(
        "share_at_least",
        (sp.Le(P**2, R * gain),),
        sp.Ge(1 - P**2 / (q * R), 1 - gain / q),
        says="1 - P^2/(qR) >= 1 - gain/q where P^2 <= R gain",
    ),
    Implication(
        "common_denominator",
        (sp.Eq(c * x_1, A), sp.Eq(c**2 * x_2, B)),
        sp.Eq(x_1**2 * B, A**2 * x_2),
        says="p^2 B = A^2 s where N p = A and N^2 s = B",
    ),
    Identity(
        "term",
        (1 - beta * weight) ** 2,
        1 - 2 * beta * weight + beta**2 * weight**2,
        says="(1 - beta w)^2 = 1 - 2 beta w + beta^2 w^2",
    ),
    Identity(
        "best_beta",
        ((q - 2 * beta * A + beta**2 * B) / q).subs(beta, A / B),
        1 - A**2 / (q * B),
        says="(q - 2 beta A + beta^2 B)/q = 1 - A^2/(qB) at beta = A/B",
    ),
    Implication(
        "below_one",
        (sp.Le(weight, least / 2 + (1 - least)),),
        sp.Ge(sp.Abs(1 - weight), least / 2),
        says="|1 - w| >= l/2 where w <= l/2 + 1 - l, l >= 0",
    ),
    Implication(
        "above_one",
        (sp.Le(1, (least / 2 + weight) / (1 + least)),),
        sp.Ge(sp.Abs(1 - weight), least / 2),
        says="|1 - w| >= l/2 where 1 <= (l/2 + w)/(1 + l), l >= 0",
    ),
    Implication(
        "capped_square",
        (sp.Ge(distance, sp.Min(1, sp.Abs(c)) / 2),),
        sp.Ge(distance**2, sp.Min(1, c**2) / 4),
        says="D^2 >= min(1, x^2)/4 where D >= min(1, |x|)/2",
    ),
    Inequality(
        "pair",
        sp.Ge((rate * x_1 - c) ** 2 + (rate * x_2 - c) ** 2, rate**2 * (x_1 - x_2) ** 2 / 2),
        says="(r x_1 - c)^2 + (r x_2 - c)^2 >= r^2 (x_1 - x_2)^2/2",
    ),
    Implication(
        "capped_pair",
        (sp.Le(capped, 1), sp.Le(capped, part + another)),
        sp.Ge(sp.Min(1, part) + sp.Min(1, another), capped),
        says="min(1, F) + min(1, G) >= capped where capped <= 1 and capped <= F + G",
    ),
    Implication(
        "sum_of_the_pairs",
        (sp.Ge(y * part, another), sp.Ge(x_1, part / (4 * q))),
        sp.Ge(x_1, another / (4 * q * y)),
        says="m >= G/(4q k) where m >= S/(4q), k S >= G, as for k = q - 1 pairs of each token",
    ),
    Implication(
        "mean_of_the_pairs",
        (sp.Ge(x_1, part / (8 * y)), sp.Eq(part, y * capped)),
        sp.Ge(x_1, capped / 8),
        says="m >= x/8 where m >= s/(8k), s = k x, as for k = q(q-1)/2 pairs",
    ),
    Implication(
        "equal_sizes",
        (sp.Eq(x_1**2, x_2**2),),
        sp.Eq((x_1 - x_2) * (x_1 + x_2 + c), (x_1 - x_2) * c),
        says="(x_1 - x_2)(x_1 + x_2 + c) = (x_1 - x_2) c for entries of one size",
    ),
    Implication(
        "far_from_one",
        (sp.Le(weight, sp.Rational(1, 2)),),
        sp.Ge((1 - weight) ** 2, sp.Rational(1, 4)),
        says="(1 - w)^2 >= 1/4 where w <= 1/2",
    ),
    Implication(
        "at_most_half",
        (sp.Le(beta, least / 2), sp.Le(least * weight, 1)),
        sp.Le(beta * weight, sp.Rational(1, 2)),
        says="beta w <= 1/2 where beta <= l/2, l w <= 1, as for l = 2^(-r), w <= 2^r",
    ),
    Implication(
        "enough_of_the_others",
        (sp.Ge(beta, least / 2), sp.Ge(x_1, beta**2 * part / q)),
        sp.Ge(x_1, least**2 * part / (4 * q)),
        says="m >= l^2 S/(4q) where m >= beta^2 S/q, beta >= l/2 >= 0",
    ),
    Inequality("capped", sp.Le(Y - Y**2 / 4, sp.Min(1, Y)), says="Y - Y^2/4 <= min(1, Y)"),
    Implication(
        "mean_of_Y",
        (sp.Eq(count, d_e / 2),),
        sp.Eq(rate**2 / 2 * ((2 / d_e) ** 2 * (q - 2) * count), rate**2 * (q - 2) / d_e),
        says="r^2/2 (2/d_e)^2 (q-2) M = r^2 (q-2)/d_e for the mean M = d_e/2",
    ),
    Implication(
        "fourth_in_moments",
        (sp.Eq(count, d_e / 2), sp.Eq(count_squared, d_e / 2 + d_e * (d_e - 1) / 4)),
        sp.Eq((2 / d_e) ** 4 * (3 * (q - 2) ** 2 * count_squared - 2 * (q - 2) * count), FOURTH),
        says="(2/d_e)^4 (3 (q-2)^2 E M^2 - 2 (q-2) E M) = 16/d_e^4 (3 (q-2)^2 (d_e^2+d_e)/4 - (q-2) d_e) for E M = "
        "d_e/2, E M^2 = d_e/2 + d_e (d_e-1)/4",
    ),
    Inequality(
        "fourth",
        sp.Le(FOURTH, 6 * SECOND**2, evaluate=False),
        says="the fourth moment of v_1 - v_2 is at most 6 variances^2",
    ),
    Implication(
        "square_of_Y",
        (sp.Le(second, 6 * SECOND**2),),
        sp.Le((rate**2 / 2) ** 2 * second, 6 * (rate**2 * (q - 2) / d_e) ** 2),
        says="(r^2/2)^2 fourth <= 6 (r^2 (q-2)/d_e)^2 where fourth <= 6 (2 (q-2)/d_e)^2",
    ),
    Implication(
        "half",
        (sp.Le(second, 6 * y**2), sp.Le(y, sp.Rational(1, 3)), sp.Ge(capped, y - second / 4)),
        sp.Ge(capped / 8, y / 16),
        says="capped/8 >= y/16 where capped >= y - second/4, second <= 6 y^2, y <= 1/3",
    ),
    Implication(
        "part",
        (sp.Le(part, 1), sp.Le(least, 1), sp.Le(least, x)),
        sp.Le(part * least, sp.Min(part, x)),
        says="F least <= min(F, x) where F <= 1, least <= 1 and least <= x",
    ),
    Implication(
        "sixteenth",
        (sp.Ge(x_1, part * another * least / 4), sp.Ge(part, sp.Rational(1, 2)), sp.Ge(another, sp.Rational(1, 2))),
        sp.Ge(x_1, least / 16),
        says="m >= least/16 where m >= F G least/4, F >= 1/2, G >= 1/2",
    ),
    *(
        Inequality(
            f"harmonic_{name}", sp.Le(1 / (1 / y + 1 / x + 3), least, evaluate=False), f"1/(1/y + 1/x + 3) <= {name}"
        )
        for name, least in {"y": y, "x": x, "third": sp.Rational(1, 3)}.items()
    ),
    Implication(
        "at_s",
        (sp.Eq(d_e * y, spread), sp.Eq(x * power * q, T - q)),
        sp.Eq(
            d / (2 * q) / 16 / (1 / y + 1 / x + 3), d / (32 * q) * spread / (d_e + spread * (3 + power * q / (T - q)))
        ),
        says="d/(2q) 1/16 1/(1/y + 1/x + 3) = d/(32q) k/(d_e + k (3 + w q/(T-q))) for y = k/d_e, x = (T-q)/(w q)",
    ),
    *sums_of_signs.STEPS,
)
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, ATTEND, SPLIT),
    domain=(sp.Lt(q, T),),
    hypotheses=(*SIGNS_ON_THE_SET, TWO_SELECTED),
    variables=(
        *(A, B, beta, Y, x, y, spread, power, weight, gain, second, capped, part, least),
        *(distance, another, count, count_squared),
        *(x_1, x_2, c, rate, alpha, P, R, share),
        *sums_of_signs.VARIABLES,
    ),
    claims=(FROM_BELOW,),
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "loss",
        "f − STS is the sum of (α p_i − [i ∈ y]/q) x_i, as the query's token adds α p x_query = 0. The p_i do not "
        "depend on X: L, the mean of d/2 times the sum of the squares of these factors, is d/2 (α²R − 2αP/q + 1/q) for "
        "the means P and R of Σ_{i∈y} p_i and Σ p_i²",
        ("gaussian_tokens", "sign_encoding", "zero_token", "on_the_set", "square_of_the_residual"),
        "independent factors",
    ),
    Inference(
        "ratio",
        "with v_i the inner product of e_i and the sum of the selected encodings, r = C/ln 2, A = Σ_{i∈y} 2^{r v_i} "
        "and B the sum of all their squares, 4^{r v_i}: (Σ_{i∈y} p_i)²/Σ p_i² = A²/B, so that P² ≤ R E A²/B and "
        "1 − P²/(qR) ≥ E m with m = 1 − A²/(qB)",
        ("loss", "common_denominator", "share_at_least", "on_the_set"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "squares",
        "m is (1/q) (Σ_{i∈y} (1 − β2^{r v_i})² + β² Σ_{j∉y} 4^{r v_j}) at β = A/B",
        ("ratio", "term", "best_beta"),
        "application",
    ),
    Inference(
        "powers",
        "|1 − 2^x| ≥ l/2 for l = min(1, |x|): for x ≤ 0, 2^x ≤ 2^{−l} ≤ l/2 + 1 − l by the chord from −1 to 0; for "
        "x ≥ 0, 2^x ≥ 2^l, and the chord from −1 to l gives 1 ≤ (l/2 + 2^l)/(1 + l) at 0",
        ("below_one", "above_one"),
        rules.CHORD,
    ),
    Inference(
        "distances",
        "let c be the number with β = A/B = 2^{−c}: each (1 − β2^{r v_i})² is at least min(1, (r v_i − c)²)/4, and m "
        "is at least (1/4q) Σ_{i∈y} min(1, (r v_i − c)²)",
        ("squares", "powers", "capped_square"),
        "application",
    ),
    Inference(
        "pairs",
        "the terms of two tokens i, k add up to at least min(1, r²(v_i − v_k)²/2), and each token is in q − 1 of the "
        "pairs in y: m is at least the sum of these minima over the pairs, divided by 4q(q − 1)",
        ("distances", "pair", "capped_pair", "sum_of_the_pairs", "two_selected"),
        "application",
    ),
    Inference(
        "two",
        "all q(q − 1)/2 pairs have one law: E m ≥ E min(1, Y)/8, with Y = r²(v_1 − v_2)²/2 for two tokens of y",
        ("pairs", "sign_encoding", "two_selected", "mean_of_the_pairs"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "difference",
        "v_1 − v_2 is the inner product of e_1 − e_2 with the sum of e_1 + e_2 and the other q − 2 selected encodings; "
        "in each coordinate e_1 + e_2 contributes 0 to it",
        ("sign_encoding", "equal_sizes"),
        "application",
    ),
    sums_of_signs.SUMS_OF_SIGNS,
    Inference(
        "signs",
        "v_1 − v_2 is 2/d_e times a sum of M(q − 2) independent signs, M the number of coordinates in which e_1 and "
        "e_2 differ: d_e independent events of probability 1/2, so that E M = d_e/2 and E M² = d_e/2 + d_e(d_e − 1)/4. "
        "The second moment of v_1 − v_2 is (2/d_e)² (q − 2) E M, and its fourth is (2/d_e)⁴ times "
        "E[3M²(q − 2)² − 2M(q − 2)]",
        ("difference", "sums_of_signs", "sign_encoding"),
        "independent factors",
    ),
    Inference(
        "capped_mean",
        "with y = E Y = r²(q − 2)/d_e, E Y² ≤ 6y² and min(1, Y) ≥ Y − Y²/4: for y ≤ 1/3 E min(1, Y)/8 is at least y/16",
        ("two", "signs", "mean_of_Y", "fourth_in_moments", "fourth", "square_of_Y", "capped", "half"),
        "linearity of expectation",
    ),
    Inference(
        "selected",
        "min(1, Y) does not fall as |r| grows: for y > 1/3 its mean is at least its mean at the |r| with y = 1/3. So "
        "E m ≥ min(y, 1/3)/16 for all r",
        ("two", "capped_mean"),
        "case distinction",
    ),
    Inference(
        "either",
        "let F be the fraction of the tokens of y with r(v_i − 1) ≤ 0, and S = Σ_{j∉y} 4^{r v_j}: m ≥ (1/4) "
        "min(F, 4^{−r} S/q). If β < 2^{−r}/2, each of these tokens has (1 − β2^{r v_i})² ≥ 1/4; otherwise β²S/q is "
        "enough",
        ("squares", "at_most_half", "far_from_one", "enough_of_the_others"),
        "case distinction",
    ),
    Inference(
        "at_least_one_each",
        "S ≥ T − q if the sum of r v_j over j ∉ y is at least 0",
        ("either",),
        "Jensen's inequality",
    ),
    Inference(
        "flips",
        "if all e_j, j ∉ y, change their signs, so does Σ_{j∉y} r v_j: given the selected encodings, it is at least 0 "
        "with probability 1/2 or more. If e_i, i ∈ y, changes its sign, so does v_i − 1, so that E F ≥ 1/2",
        ("sign_encoding",),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "others",
        "min(F, x) ≥ F min(1, x), and both E F and the probability that Σ_{j∉y} r v_j ≥ 0 are at least 1/2: E m ≥ "
        "min(1, 4^{−r}(T − q)/q)/16",
        ("either", "at_least_one_each", "flips", "part", "sixteenth"),
        "independent factors",
    ),
    Inference(
        "floor",
        "for q = 2 or s = 0 the bound is 0. Otherwise let x = 4^{−s}(T − q)/q and y = s²(q − 2)/d_e. For r < s the "
        "bound in `others` is at least its value at s, min(1, x)/16; for r ≥ s the bound in `selected` is at least its "
        "value at s, min(y, 1/3)/16. So at every C 16 times 1 − P²/(qR) is at least 1/3, x or y, and hence at least "
        "1/(1/y + 1/x + 3)",
        (
            *("loss", "best_alpha", "ratio", "selected", "others", "harmonic_x", "harmonic_y", "harmonic_third"),
            "at_s",
        ),
        "case distinction",
    ),
)  # fmt: skip


def derivation() -> Derivation:
    """Return the steps: the best β, the moments of v_1 − v_2 for signs and on the sphere, the bound solved for d_e."""
    N, k, sigma = sp.symbols("N k sigma", positive=True)
    return Derivation(
        (
            Step(
                "at the best β the sum of squares over q is 1 − A²/(qB)",
                ((q - 2 * beta * A + beta**2 * B) / q).subs(beta, A / B),
                1 - A**2 / (q * B),
            ),
            Step(
                "a further sign ε adds E[6S²ε² + ε⁴] = 6N + 1 to the fourth moment of a sum S of N signs, 3N² − 2N",
                3 * (N + 1) ** 2 - 2 * (N + 1) - (3 * N**2 - 2 * N),
                6 * N + 1,
            ),
            Step(
                "E M = d_e/2, and Var M = d_e/4: the second moment of v_1 − v_2, of N = Mk signs of size 2/d_e",
                4 / d_e**2 * sp.Subs(N, N, k * d_e / 2),
                2 * k / d_e,
            ),
            Step(
                "the fourth, with E M² = d_e/4 + d_e²/4, is below 6 times its square",
                6 * (2 * k / d_e) ** 2 - (2 / d_e) ** 4 * (3 * k**2 * (d_e + d_e**2) / 4 - 2 * k * d_e / 2),
                (12 * k**2 * (d_e - 1) + 16 * k) / d_e**3,
            ),
            Step(
                "on the sphere the fourth moment is below 6 times the square of the same second moment",
                6 * (2 * k / d_e) ** 2 - 3 / (d_e * (d_e + 2)) * (4 + 4 / d_e) * (k**2 + 2 * k * (k - 1) / d_e),
                12 * k**2 * (d_e - 1) / d_e**3 + 24 * k * (d_e + 1) / (d_e**3 * (d_e + 2)),
            ),
            Step(
                "with K = (q−2)s² = k/4 and 4^s = (T−q)/q, where N = 4^s q/(T−q) is 1",
                sp.Subs(k / 4 / (d_e + k / 4 * (3 + N)), N, 1),
                k / (4 * (d_e + k)),
            ),
            Step(
                "the d_e at which the bound, K/(16 (d_e + K (3 + N))) of d/(2q), is a share σ of it",
                sp.Subs(k / (16 * (d_e + k * (3 + N))), d_e, k * (1 / (16 * sigma) - 3 - N)),
                sigma,
            ),
            Step(
                "at σ = 2qε/d and 4^s = (T−q)d/(64q²ε), where N = 4^s q/(T−q), this d_e is K (d/(64qε) − 3)",
                sp.Subs(k * (1 / (16 * sigma) - 3 - N), (sigma, N), (2 * q * eps / d, d / (64 * q * eps))),
                k * (d / (64 * q * eps) - 3),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


dimension_lower_bound = Theorem(
    id="wang2024.dimension_lower_bound",
    title="q ≥ 3: the loss on the set from below, so that for small ε d_e grows at least like (d/ε) log²(T/ε)",
    source=Source("Theorem 2 from below", "derived here", WANG2024, "the paper's constants are not known to us"),
    statement=STATEMENT,
    example={"T": 40, "q": 3, "d": 5, "d_e": 100},
    values={"loss_floor": FLOOR, "loss_bound": BOUND},
    derivation=derivation,
    canaries=(
        _canary(
            "16 and 3 forgotten, attending to Z",
            Inequality("floor", sp.Ge(FLOOR, d / (2 * q) * SPREAD / d_e * (1 - QUERY))),  # pyright: ignore[reportOperatorIssue]
        ),
        _canary("a bound without d_e", Inequality("floor", sp.Ge(FLOOR, d / (32 * q)))),
        _canary("uniform attention is the best", Inequality("floor", sp.Ge(FLOOR, d / (2 * q) * (1 - q / T)))),
    ),
    argument=ARGUMENT,
)
