r"""Theorem 2's argument: a number of dimensions of sign encodings that is enough for a loss, in closed form.

`loss_floor` has the statement and the idea, `enough_dimensions_steps` has the steps, and this file has the formula and
the inferences. In one coordinate the encodings have the entries ε_i/√d_e, ε_i = ±1. The entries of the selected tokens
add up to s/√d_e, with E s² = q and E s⁴ = 3q² − 2q.
"""

import sympy as sp

from theorems import rules
from theorems.sparse_token_selection import sums_of_signs
from theorems.sparse_token_selection.enough_dimensions_steps import (
    LEAST,
    LEAST_WITH_QUERY,
    SPREAD,
    SPREAD_WITH_QUERY,
)
from theorems.sparse_token_selection.task import SIGNS_ARE_SYMMETRIC, T, attend, q
from verify import Case, Inference


def enough(share: sp.Expr) -> sp.Expr:
    """Return a number of dimensions that is enough for a loss of `share` ≤ 1 times the zero predictor's loss."""
    scale, scale_with_query = sp.log(3 * T / (q * sp.sqrt(share))), sp.log(100 * T / (q * share)) / 2
    return Case(  # pyright: ignore[reportReturnType]
        attend,
        (4 * SPREAD / share + LEAST) * scale**2,
        (4 * SPREAD_WITH_QUERY / share + LEAST_WITH_QUERY) * scale_with_query**2,
    )


COMMON = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "any_layer",
        "the infimum of L is at most L at any α and C ≥ 0, which is d/(2q) (qα²R − 2αP + 1) "
        "(loss_in_shares); if the share σ = 2qε/d is 1 or more, L at α = 0 is at most ε (zero_layer): so let σ < 1",
        (
            *("wang2024.lemma2:loss_on_the_set", "signs_are_symmetric", "loss_in_shares", "zero_layer"),
            *("best_value_scale", "on_the_set", "gaussian_tokens", "zero_token"),
        ),
        "case distinction",
    ),
    Inference(
        "coordinates",
        "let u = Σ_y e_i and v_i = e_i·u. v_i and |u|² are sums over the d_e coordinates of ε_i s/d_e and s²/d_e, with "
        "ε_i the token's sign and s the sum of the selected tokens' signs. The coordinates are independent and have "
        "one law: the mean of the exponential of a linear combination of v_i and |u|² is the d_e-th power of the mean "
        "for one coordinate",
        ("sign_encoding",),
        "independent factors",
    ),
    sums_of_signs.SUMS_OF_SIGNS,
    Inference(
        "moments",
        "E s² = q and E s⁴ = 3q² − 2q. The selected tokens' signs are exchangeable, so for one of them E ε_1 s = "
        "E s²/q = 1 and E ε_1 s³ = E s⁴/q = 3q − 2 (third_moment_with_a_sign)",
        ("sign_encoding", "sums_of_signs", "third_moment_with_a_sign"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "exponential",
        "e^x ≤ 1 + x + 3x²/5 for x ≤ 1/2, and e^{−x} ≤ 1 − x + x²/2 for x ≥ 0 (from_the_quotient)",
        ("growth", "from_the_quotient"),
        rules.REMAINDER_OF_THE_EXPONENTIAL,
    ),
    Inference(
        "other_token",
        "the sign ε_j of a token that is not selected is independent of s: given s, by Hoeffding's lemma for X = ε_j/2 "
        "and t = 4Cs/d_e, the mean of e^{2Cε_j s/d_e} is at most e^{2C²s²/d_e²} (exponent_of_the_bound)",
        ("coordinates", "exponent_of_the_bound"),
        rules.HOEFFDING_LEMMA,
    ),
    Inference(
        "decaying",
        "for θ ≥ 0, E e^{−θs²} ≤ 1 − θ E s² + θ² E s⁴/2 ≤ e^{−θq + 3θ²q²/2} (decay)",
        ("moments", "exponential", "decay"),
        "linearity of expectation",
    ),
    Inference(
        "chords",
        "for 0 ≤ t ≤ 1, e^{3t/5} ≤ 1 + 83t/100, e^{2t} ≤ 1 + 7t and e^{4t} ≤ 1 + 54t, as they hold at t = 0 and t = 1",
        ("at_three_fifths", "at_two", "at_four", "at_most_the_chord"),
        rules.CHORD,
    ),
)
ALONE = (
    Inference(
        "denominator",
        "attending to Z, the softmax's denominator is N ≥ Σ_y e^{Cv_i} ≥ q e^{C|u|²/q}. So each p_i is at most "
        "e^{C(v_i − |u|²/q)}/q; for a selected token its part π_i = p_i/S of the attention S = Σ_y p_i has the same "
        "bound (share_at_most)",
        ("on_the_set", "share_at_most"),
        "Jensen's inequality",
    ),
    Inference(
        "loss_in_parts",
        "qΣπ_i² ≥ 1 and (1 − S)² ≤ (T−q) Σ_{j∉y} p_j²: so at α = 1 L is at most d/(2q) times E(qΣπ_i² − 1) + E(1 − S)² "
        "+ qEΣ_{j∉y} p_j² (in_parts)",
        ("any_layer", "in_parts"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "two_means",
        "let M_y be the mean of e^{2C(v_i − |u|²/q)} for a selected token, and M that for another: q²Eπ_i² ≤ M_y and "
        "q²E p_j² ≤ M (share_squared). The tokens of each kind have one law, so qEΣπ_i² ≤ M_y and q²EΣ_{j∉y} p_j² ≤ "
        "(T−q) M, and L is at most d/(2q) times M_y − 1 + T(T−q)/q² M (others_together)",
        ("loss_in_parts", "denominator", "share_squared", "others_together"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "at_this_scale",
        "put C = log(3T/(q√σ)), so that 9T²e^{−2C} = q²σ and C ≥ 1, and f = 4(q−1)(q−2)C²/(qσd_e). Then (q+3)C²/d_e "
        "≤ 1 − f, and so f ≤ 1 and Cq ≤ d_e",
        (
            *("enough_dimensions", "any_layer", "scale", "decay_at_this_scale", "logarithm"),
            *("enough", "at_most_one", "small"),
        ),
        "definition",
    ),
    Inference(
        "selected_mean",
        "2C/d_e (ε_1 s − s²/q) is at most 1/2, and has mean 0 and the second moment σf/d_e: its exponential's mean is "
        "at most 1 + 3σf/(5d_e) ≤ e^{3σf/(5d_e)}, and M_y, the d_e-th power of that mean, at most e^{3σf/5} (power)",
        (
            *("coordinates", "moments", "exponential", "square_of_the_difference", "spread", "largest", "exponent"),
            *("second_moment", "one_plus", "power", "two_means", "at_this_scale"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "other_mean",
        "let z = C/d_e and θ = 2z(1/q − z) ≥ 0, so that θq = 2z(1 − zq) ≤ 2z. One coordinate's mean is at most "
        "E e^{−θs²} (exponent_of_the_square). So M is at most the d_e-th power of e^{−θq + 3θ²q²/2}, and hence at most "
        "e^{−2C + 2(1−f)} (rate_squared for θq, other_exponent, power)",
        (
            *("two_means", "coordinates", "other_token", "exponent_of_the_square", "rate_from_zero", "rate_at_most"),
            *("decaying", "rate_squared", "other_exponent", "power", "at_this_scale"),
        ),
        "independent factors",
    ),
    Inference(
        "alone",
        "as e^{3σf/5} and e^{2(1−f)} are at most their chords, and 9T²e^{−2C} = q²σ, M_y − 1 + T(T−q)/q² M ≤ σ, and so "
        "L ≤ ε",
        (
            *("two_means", "selected_mean", "other_mean", "product_of_exponentials", "at_most_one_in_share", "chords"),
            *("others_at_this_scale", "at_this_scale", "alone_together", "share_of_the_loss"),
        ),
        "application",
    ),
)
WITH_QUERY = (
    Inference(
        "query_denominator",
        "attending to [Z, z_query], with w_i = e^{C(v_i − |u|²)} and X = 1 + Σ w_i, p_i = w_i/X (shifted_share): R ≤ "
        "E Σ w_i², and P ≥ E Σ_y w_i (2 − X), term by term (squared, reciprocal)",
        ("on_the_set", "shifted_share", "squared", "reciprocal"),
        "linearity of expectation",
    ),
    Inference(
        "at_the_best_scale",
        "let a = E w_1, b = E w_1² and r = E w_1(X − 1) for a selected token, and o = E w_j² for another. At α = "
        "1/(qa), L is at most d/(2q) times b/a² − 1 + (T−q)/q o/a² + 2r/a (best_scale)",
        ("any_layer", "query_denominator", "best_scale"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "products",
        "r = E w_1(X − 1) ≤ qb + (T−q) √(bo)",
        ("query_denominator", "at_the_best_scale"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "least_mean",
        "a ≥ e^{−C(q−1)}, as E v_1 = 1 and E|u|² = q",
        ("at_the_best_scale", "coordinates", "moments"),
        "Jensen's inequality",
    ),
    Inference(
        "at_this_scale_with_query",
        "put C = log(100T/(qσ))/2, so that C ≥ 1 and 100T w² = qσ for w = e^{−C}, which is at most 1/10, and f = "
        "4(q−1)(2q−3)C²/(σd_e). Then q(3q+1)C²/(2d_e) ≤ 1 − f, and so f ≤ 1",
        (
            *("enough_dimensions", "any_layer", "scale_with_query", "decay_at_this_scale_with_query"),
            *("logarithm_with_query", "square_of_w", "tenth", "enough", "at_most_one"),
        ),
        "definition",
    ),
    Inference(
        "selected_mean_with_query",
        "2C/d_e (ε_1 s − s²) is at most 0, as s is an integer (below_zero); its mean, −2C(q−1)/d_e, is at least −1/2, "
        "and its variance is σf/d_e. Its difference from its mean is at most 1/2, so that the exponential of this "
        "difference has a mean of at most e^{3σf/(5d_e)}, and the d_e-th power gives b ≤ e^{−2C(q−1) + 3σf/5} (power)",
        (
            *("coordinates", "moments", "exponential", "below_zero", "mean_at_least", "square_of_the_difference"),
            *("spread_with_query", "least_with_query", "second_moment", "small_with_query", "one_plus", "power"),
            *("at_the_best_scale", "at_this_scale_with_query"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "other_mean_with_query",
        "let z = C/d_e and θ = 2z(1 − z), so that 0 ≤ θ ≤ 2z. One coordinate's mean is at most E e^{−θs²} "
        "(exponent_of_the_square). So o is at most the d_e-th power of e^{−θq + 3θ²q²/2}, and hence at most "
        "e^{−2Cq + 4(1−f)} (rate_squared, other_exponent_with_query, power)",
        (
            *("coordinates", "other_token", "exponent_of_the_square", "rate_from_zero_with_query", "rate_at_most"),
            *("decaying", "rate_squared", "other_exponent_with_query", "power", "least_with_query"),
            *("small_with_query", "at_the_best_scale", "at_this_scale_with_query", "selected"),
        ),
        "independent factors",
    ),
    Inference(
        "ratios",
        "b/a² ≤ e^{3σf/5} and b/a ≤ e^{−C(q−1)} e^{3σf/5}, o/a² ≤ w² e^{4(1−f)} (exponents), and "
        "√(bo)/a is at most e^{3σf/10} e^{−Cq + 2(1−f)} (mixed_ratio, root)",
        (
            *("least_mean", "selected_mean_with_query", "other_mean_with_query", "ratio", "half_ratio", "mixed_ratio"),
            *("exponents", "root", "at_this_scale_with_query"),
        ),
        "application",
    ),
    Inference(
        "powers",
        "with n = e^{−C(q−3)}, e^{−C(q−1)} = w²n and e^{3σf/10} e^{−Cq + 2(1−f)} = w³n e^{3σf/10 + 2(1−f)}. As qn ≤ 3, "
        "q e^{−C(q−1)} e^{3σf/5} ≤ 3 (183/100) σ/100. As 3σf/10 + 2(1−f) ≤ 2, T e^{3σf/10} e^{−Cq + 2(1−f)} ≤ "
        "3 (37/5) σ/1000",
        (
            *("at_this_scale_with_query", "any_layer", "weight_in_powers", "mixed_in_powers", "one_plus"),
            *("inverse_at_most", "tangent", "chords", "at_most_one_in_share", "largest_rise", "small_power"),
            *("smaller_power", "mixed_exponent", "at_two", "selected"),
        ),
        "application",
    ),
    Inference(
        "with_query",
        "by r ≤ qb + (T−q)√(bo), these bounds and the chords, b/a² − 1 + (T−q)/q o/a² + 2r/a ≤ σ, and so L ≤ ε",
        (
            *("at_the_best_scale", "products", "rest_in_parts", "ratios", "powers", "others_with_query", "chords"),
            *("with_query_together", "share_of_the_loss", "at_this_scale_with_query", "at_most_one_in_share"),
            "any_layer",
        ),
        "application",
    ),
)
ARGUMENT = (
    *(*COMMON, *ALONE, *WITH_QUERY),
    Inference("floor", "with either attention the infimum is at most ε", ("alone", "with_query"), "case distinction"),
)
