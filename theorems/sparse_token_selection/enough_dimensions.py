r"""Theorem 2's argument: a number of dimensions of sign encodings that is enough for a loss, in closed form.

`loss_floor` has the statement and the idea; here are the formula, the steps and the inferences. In one coordinate of
the encodings, of signs ε_i/√d_e, those of the selected tokens add up to s/√d_e, with E s² = q and E s⁴ = 3q² − 2q.
"""

import sympy as sp

from theorems import rules
from theorems.sparse_token_selection.task import QUERY, SIGNS_ARE_SYMMETRIC, T, attend, q
from verify import Case, Identity, Inequality, Inference

C, D, S, X = (sp.Symbol(name, positive=True) for name in ("C", "D", "S", "X"))
more = sp.Symbol("more", nonnegative=True)
squares, x = sp.symbols("squares x", real=True)
VARIABLES = (C, D, S, X, more, squares, x)

FOURTH = 3 * q**2 - 2 * q
"""E s⁴."""
SPREAD, SPREAD_WITH_QUERY = (q - 1) * (q - 2) / q, (q - 1) * (2 * q - 3)
LEAST, LEAST_WITH_QUERY = q + 3, q * (3 * q + 1) / 2
FEWEST_SELECTED = 1 + 2 * QUERY  # pyright: ignore[reportOperatorIssue]


def enough(share: sp.Expr) -> sp.Expr:
    """Return so many dimensions as are enough for a share of the zero predictor's loss, of at most 1."""
    scale, scale_with_query = sp.log(3 * T / (q * sp.sqrt(share))), sp.log(100 * T / (q * share)) / 2
    return Case(  # pyright: ignore[reportReturnType]
        attend,
        (4 * SPREAD / share + LEAST) * scale**2,
        (4 * SPREAD_WITH_QUERY / share + LEAST_WITH_QUERY) * scale_with_query**2,
    )


RATE, RATE_WITH_QUERY = 2 * C / D * (1 / q - C / D), 2 * C / D * (1 - C / D)
"""θ, where e^{−θs²} is left of one coordinate of another token's part."""
HALF, WHOLE = sp.exp(sp.Rational(3, 10)), sp.exp(sp.Rational(3, 5))

_SIX = sp.Integer(6)
STEPS = (
    Identity(
        "in_parts",
        S**2 * squares - 2 * S / q + 1 / q,
        S**2 * (squares - 1 / q) + (1 - S) ** 2 / q,
        says="the sum of (S pi_i - 1/q)^2 over y is S^2 (the sum of pi_i^2, less 1/q) + (1-S)^2/q, the pi_i adding up "
        "to 1",
    ),
    Identity(
        "others_counted",
        (T - q) / q + (T - q) ** 2 / q**2,
        T * (T - q) / q**2,
        says="(T-q)/q + (T-q)^2/q^2 = T (T-q)/q^2",
    ),
    Identity("largest", q / 4 - (x - x**2 / q), (x - q / 2) ** 2 / q, says="q/4 - (x - x^2/q) is a square over q"),
    Identity(
        "spread",
        q - 2 * FOURTH / q / q + FOURTH / q**2,
        SPREAD,
        says="E (e_1 s - s^2/q)^2 = (q-1)(q-2)/q for the sign e_1 of a selected token",
    ),
    Identity(
        "spread_with_query",
        q - 2 * FOURTH / q + FOURTH - (q - 1) ** 2,
        SPREAD_WITH_QUERY,
        says="the variance of e_1 s - s^2 is (q-1)(2q-3)",
    ),
    Inequality(
        "growth",
        sp.Le(4 * sp.exp(sp.Rational(1, 2)) - 6, sp.Rational(3, 5), evaluate=False),
        says="(e^x - 1 - x)/x^2 at x = 1/2, 4 sqrt(e) - 6, is at most 3/5",
    ),
    Inequality(
        "small",
        sp.Le((1 + more) * q, LEAST * (1 + more) ** 2),
        says="C q <= (q+3) C^2 for C = 1 + more",
    ),
    Inequality(
        "small_with_query",
        sp.Le(4 * (1 + more) * (q - 1), LEAST_WITH_QUERY * (1 + more) ** 2),
        says="4 C (q-1) <= q(3q+1)/2 C^2 for C = 1 + more",
    ),
    Identity(
        "decay",
        -D * RATE * q + 6 * C**2 / D,
        -2 * C + (2 * q + 6) * C**2 / D,
        says="-d_e theta q + 6 C^2/d_e = -2C + (2q+6) C^2/d_e for theta = 2C/d_e (1/q - C/d_e)",
    ),
    Identity(
        "decay_with_query",
        -D * RATE_WITH_QUERY * q + 6 * q**2 * C**2 / D,
        -2 * C * q + 2 * q * (3 * q + 1) * C**2 / D,
        says="-d_e theta q + 6 q^2 C^2/d_e = -2Cq + 2q(3q+1) C^2/d_e for theta = 2C/d_e (1 - C/d_e)",
    ),
    Identity("reciprocal", 1 / X - (2 - X), (X - 1) ** 2 / X, says="1/X - (2 - X) is a square over X"),
    Inequality("log_of_three", sp.Ge(sp.log(3), 1, evaluate=False), says="log 3 >= 1"),
    Inequality("log_of_ten", sp.Ge(sp.log(10), 1, evaluate=False), says="log 10 >= 1"),
    Inequality("at_zero", sp.Le(sp.exp(2) / 9, 1, evaluate=False), says="e^2/9 <= 1"),
    Inequality("at_one", sp.Le(WHOLE - 1 + sp.Rational(1, 9), 1, evaluate=False), says="e^(3/5) - 1 + 1/9 <= 1"),
    Inequality(
        "at_zero_with_query",
        sp.Le(sp.exp(4) / 100 + _SIX / 100 + 6 * sp.exp(2) / 1000, 1, evaluate=False),
        says="e^4/100 + 6/100 + 6 e^2/1000 <= 1",
    ),
    Inequality(
        "at_one_with_query",
        sp.Le(WHOLE - 1 + sp.Rational(1, 100) + _SIX / 100 * WHOLE + _SIX / 1000 * HALF, 1, evaluate=False),
        says="e^(3/5) - 1 + 1/100 + 6 e^(3/5)/100 + 6 e^(3/10)/1000 <= 1",
    ),
)

COMMON = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "any_layer",
        "the infimum of L is at most L at any α and C ≥ 0, which is d/(2q) (qα²R − 2αP + 1); at α = 0 it is d/(2q), at "
        "most ε where the share σ = 2qε/d is 1 or more: let σ be less",
        (
            *("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric"),
            *("best_value_scale", "on_the_set", "gaussian_tokens", "zero_token"),
        ),
        "substitution",
    ),
    Inference(
        "coordinates",
        "v_i and |u|² are the sums over the d_e coordinates of ε_i s/d_e and s²/d_e, ε_i the token's sign there and s "
        "the sum of the selected ones: the mean of an exponential of theirs is the d_e-th power of one coordinate's",
        ("sign_encoding",),
        "independent factors",
    ),
    Inference(
        "moments",
        "E s² = q, E s⁴ = 3q² − 2q, and for a selected token E ε_1 s = 1 and E ε_1 s³ = 3q − 2, a q-th of these",
        ("sign_encoding",),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "exponential",
        "e^x ≤ 1 + x + 3x²/5 for x ≤ 1/2, and e^{−x} ≤ 1 − x + x²/2 for x ≥ 0",
        ("growth",),
        rules.REMAINDER_OF_THE_EXPONENTIAL,
    ),
    Inference(
        "other_token",
        "the sign of a token that is not selected is independent of s: of e^{2Cε_j s/d_e} at most e^{2C²s²/d_e²} is "
        "left",
        ("coordinates",),
        rules.HOEFFDING_LEMMA,
    ),
    Inference(
        "decaying",
        "for θ ≥ 0, E e^{−θs²} ≤ 1 − θq + 3θ²q²/2 ≤ e^{−θq + 3θ²q²/2}, with 1 + x ≤ e^x",
        ("moments", "exponential"),
        "linearity of expectation",
    ),
)
ALONE = (
    Inference(
        "denominator",
        "attending to Z, N ≥ Σ_y e^{Cv_i} ≥ q e^{C|u|²/q}: each p_i, and each selected token's share π_i of the "
        "selected ones' attention S, is at most e^{C(v_i − |u|²/q)}/q",
        ("on_the_set",),
        "Jensen's inequality",
    ),
    Inference(
        "loss_in_parts",
        "at α = 1, as qΣπ_i² ≥ 1 and S ≤ 1, L is at most d/(2q) times E(qΣπ_i² − 1) + E(1 − S)² + qEΣ_{j∉y} p_j²",
        ("any_layer", "in_parts"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "two_means",
        "with 1 − S = Σ_{j∉y} p_j this is at most E e^{2C(v_1 − |u|²/q)} − 1 of a selected token plus T(T−q)/q² E "
        "e^{2C(v_j − |u|²/q)} of another",
        ("loss_in_parts", "denominator", "others_counted"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "at_this_scale",
        "put C = log(3T/(q√σ)), so that (T/q)² e^{−2C} = σ/9, and C ≥ 1 as q ≤ T and σ ≤ 1, and f = "
        "4(q−1)(q−2)C²/(qσd_e): f ≤ 1 and (q+3)C²/d_e ≤ 1 − f, so that d_e ≥ (q+3)C²",
        ("enough_dimensions", "log_of_three"),
        "substitution",
    ),
    Inference(
        "selected_mean",
        "as Cq ≤ d_e, 2C/d_e (ε_1 s − s²/q) is at most Cq/(2d_e) ≤ 1/2, and has mean 0: with 1 + x ≤ e^x the selected "
        "token's mean is at most e^{(12/5)(q−1)(q−2)C²/(q d_e)} = e^{3σf/5}",
        ("coordinates", "moments", "exponential", "spread", "largest", "small", "at_this_scale"),
        "linearity of expectation",
    ),
    Inference(
        "other_mean",
        "with θ = 2C/d_e (1/q − C/d_e), from 0 to 2C/(q d_e), the other token's mean is at most e^{−2C + "
        "(2q+6)C²/d_e} ≤ e^{−2C + 2(1−f)}",
        ("other_token", "decaying", "small", "decay", "at_this_scale"),
        "substitution",
    ),
    Inference(
        "alone",
        "so L is at most ε times e^{3f/5} − 1 + e^{2(1−f)}/9, as e^{3σf/5} − 1 ≤ σ(e^{3f/5} − 1); on 0 ≤ f ≤ 1 that "
        "is at most 1, as it is at both ends",
        ("two_means", "selected_mean", "other_mean", "at_zero", "at_one"),
        rules.CHORD,
    ),
)
WITH_QUERY = (
    Inference(
        "query_denominator",
        "attending to [Z, z_query], with w_i = e^{C(v_i − |u|²)} and X = 1 + Σ w_i, p_i = w_i/X: R ≤ E Σ w_i², and "
        "P ≥ E Σ_y w_i (2 − X)",
        ("on_the_set", "reciprocal"),
        "nonnegative terms",
    ),
    Inference(
        "at_the_best_scale",
        "at α = 1/(q E w_1), L is at most d/(2q) times E w_1²/(E w_1)² − 1 + (T−q)/q E w_j²/(E w_1)² + "
        "2 E w_1(X − 1)/E w_1, for a selected token and another",
        ("any_layer", "query_denominator"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "products",
        "E w_1(X − 1) ≤ q E w_1² + (T−q) √(E w_1² E w_j²)",
        ("query_denominator",),
        "Cauchy-Schwarz",
    ),
    Inference(
        "least_mean",
        "E w_1 ≥ e^{−C(q−1)}, as E v_1 = 1 and E|u|² = q",
        ("coordinates", "moments"),
        "Jensen's inequality",
    ),
    Inference(
        "at_this_scale_with_query",
        "put C = log(100T/(qσ))/2, which is at least log 10, and f = 4(q−1)(2q−3)C²/(σd_e): f ≤ 1 and "
        "q(3q+1)C²/(2d_e) ≤ 1 − f",
        ("enough_dimensions", "log_of_ten"),
        "substitution",
    ),
    Inference(
        "selected_mean_with_query",
        "ε_1 s − s² ≤ 0 has mean 1 − q, and 2C(q−1)/d_e ≤ 1/2: E w_1² ≤ e^{−2C(q−1) + 3σf/5}",
        (
            *("coordinates", "moments", "exponential", "spread_with_query", "small_with_query"),
            "at_this_scale_with_query",
        ),
        "linearity of expectation",
    ),
    Inference(
        "other_mean_with_query",
        "with θ = 2C/d_e (1 − C/d_e), from 0 to 2C/d_e, E w_j² ≤ e^{−2Cq + 2q(3q+1)C²/d_e} ≤ e^{−2Cq + 4(1−f)}",
        ("other_token", "decaying", "small_with_query", "decay_with_query", "at_this_scale_with_query"),
        "substitution",
    ),
    Inference(
        "small_powers",
        "as q ≤ T, e^{−2C} = qσ/(100T) ≤ 1/100: q e^{−C(q−1)} ≤ σ q 10^{1−q} ≤ 3σ/100 and T e^{−Cq} ≤ σ q 10^{−q} ≤ "
        "3σ/1000, from q = 3 on",
        ("at_this_scale_with_query", "selected"),
        "induction",
    ),
    Inference(
        "with_query",
        "so L is at most ε times e^{3f/5} − 1 + e^{4(1−f)}/100 + 6e^{3f/5}/100 + 6e^{3f/10 + 2(1−f)}/1000, which is at "
        "most 1 on 0 ≤ f ≤ 1, as it is at both ends",
        (
            *("at_the_best_scale", "products", "least_mean", "selected_mean_with_query", "other_mean_with_query"),
            *("small_powers", "at_zero_with_query", "at_one_with_query"),
        ),
        rules.CHORD,
    ),
)
ARGUMENT = (
    *(*COMMON, *ALONE, *WITH_QUERY),
    Inference("floor", "attending to either, the infimum is at most ε", ("alone", "with_query"), "case distinction"),
)
