"""What the checks found about Ahn et al. 2023.

Where the expected numbers are from: `test_findings.py` derives them a second time.
"""

from fractions import Fraction

from paper_checks.ahn2023.premises import (
    BATCHES,
    COMPARED,
    DATA,
    EQUAL_STEPS,
    FIGURE1,
    FIGURE2,
    FIGURE3,
    FIGURES45,
    MOMENTS,
    ORIENTATION,
    PATTERN,
    PATTERN11,
    RELU,
    RELU_LOSS,
    RISK,
    SET,
    SET11,
    SETTING,
    STANDARD_DATA,
    STANDARD_PRIOR,
    TWENTY,
    WORDS,
)
from paper_checks.expected import between, certified
from theorems.papers import AHN2023
from verify import Finding, Weight

lemma1_needs_the_transpose = Finding(
    id="ahn2023.lemma1_needs_the_transpose",
    paper=AHN2023,
    title="Lemma 1 needs the transpose of A_l; as printed it holds only for symmetric A_l",
    weight=Weight.CONTRADICTED,
    summary="Lemma 1 prints A_l where, in the paper's own notation, A_lᵀ is right; a matrix that is not symmetric is "
    "certified to refute the printed form.",
    text="Under pattern (8) a layer is the gradient step w' = w − A_lᵀ∇R(w), for every matrix A_l. The paper prints "
    "A_l, which is the same for symmetric matrices. For other matrices it is false: at d = 2 and n = 2 there is a "
    "matrix at which the query's label after one layer is not that of w − A_l∇R(w). Theorems 1, 2 and 3 use symmetric "
    "matrices, so they are not affected. The authors' code uses the transpose of the paper's Q; for it the printed "
    "lemma holds for every A_l.",
    command="verify check ahn2023.lemma1 d=2 n=2 preconditioner=any",
    expect={
        "outcome": "out_of_scope",
        "hypotheses.symmetric.holds": False,
        "clauses.examples.holds": True,
        "clauses.query.holds": True,
        **certified("query_as_printed", holds=False),
    },
    rests_on=(SETTING, PATTERN, RISK, ORIENTATION),
)

theorem1_has_other_local_minima = Finding(
    id="ahn2023.theorem1_has_other_local_minima",
    paper=AHN2023,
    title="At d = 2 Theorem 1's loss over all P and Q can have a local minimum that is not global",
    weight=Weight.STRONGER,
    summary="Theorem 1 gives a global minimiser over all P and Q; in two dimensions, where one eigenvalue of Σ is "
    "small enough beside the other, the loss also has a local minimum above it, by an argument whose algebra is "
    "proved.",
    text="At d = 2 let Σ have the eigenvalues λ > ℓ. At P = e_3 e_1', Q = −a e_3 e_1', where the label is read by Q "
    "in place of P, the layer takes Theorem 1's step in the first coordinate and none in the second. All slopes "
    "vanish there, and where n ℓ² is below an explicit function of n, λ and ℓ the second derivatives are positive "
    "definite, but for rescaling and what the prediction does not see. The loss exceeds the least by ℓ²/((n+1)ℓ/n + "
    "(λ+ℓ)/n): at n = 1 and eigenvalues 1 and 1/2 it is 17/14, where the least is 39/35. So descent need not end at "
    "Theorem 1's minimiser. The same point with the smaller eigenvalue in place of the larger is a saddle.",
    command="verify check ahn2023.one_layer_local_minimum n=1 largest=1 smaller=1/2",
    expect={
        "hypotheses.few_examples.holds": True,
        "clauses.local.for_all_parameters": "argued",
        "clauses.saddle.for_all_parameters": "argued",
        **{f"clauses.{label}.evidence": "proved" for label in ("above", "stationary", "curved", "c", "c_exchanged")},
        "values.loss": Fraction(17, 14),
        "values.least_loss": Fraction(39, 35),
    },
    rests_on=(SETTING, STANDARD_PRIOR),
)

theorem2_minimisers_are_multiples = Finding(
    id="ahn2023.theorem2_minimisers_are_multiples",
    paper=AHN2023,
    title="Every minimiser of Theorem 2 is a pair of multiples of I, not only some diagonal",
    weight=Weight.STRONGER,
    summary="Theorem 2 states that some minimiser is diagonal; for all d and n every minimiser is a pair of multiples "
    "of I, two known steps in either order, by an argument whose algebra is proved.",
    text="Rotate so that A_0 is diagonal, with entries x_i. Then the loss of two layers exceeds that with only the "
    "diagonal of A_1 by Σ_{i<j} (k(x_i) + k(x_j)) o_ij², where the o_ij are the off-diagonal entries of A_1 and k is "
    "a sum of squares plus a positive number, for all d and n. For diagonal matrices it exceeds the least loss over "
    "multiples of I by another sum of squares, which is 0 at the best multiples of I alone. So the least loss over "
    "all symmetric matrices is that over multiples of I, 1795/4969 at d = 5, n = 20, and no other pair reaches it. "
    "Descent over all symmetric matrices ends there too (comparison ahn2023.theorem2_random_starts).",
    command="verify check ahn2023.theorem2 d=5 n=20",
    expect={
        "clauses.diagonal.for_all_parameters": "argued",
        "clauses.all_multiples.for_all_parameters": "argued",
        **{
            f"clauses.{label}.evidence": "proved"
            for label in (
                *("off_diagonal", "squares", "p_1", "p_2", "p_3", "p_4", "excess"),
                *("g_1", "g_2", "g_3", "r_1", "r_2", "r_3", "mu", "nu"),
            )
        },
        "values.minimum_loss": Fraction(1795, 4969),
    },
    rests_on=(SETTING, PATTERN, STANDARD_DATA, WORDS, MOMENTS),
)

theorem3_is_attained = Finding(
    id="ahn2023.theorem3_is_attained",
    paper=AHN2023,
    title="Theorem 3's infimum is attained at the least loss on S, which is 0.134 at the figures' sizes, not almost 0",
    weight=Weight.STRONGER,
    summary="Theorem 3 leaves open whether its infimum is attained; it is, at the minimiser on S, by an argument, and "
    "the loss there, computed exactly, is 0.134 at the figures' sizes, where the text says “almost 0”.",
    text="On S the loss is ∫ p² dμ with p(s) = ∏(1 − a_l s) and μ the expected spectrum of S = XXᵀ/n. It has one "
    "minimiser, up to the order of the a_l: these are the inverse roots of the orthogonal polynomial of s dμ, which "
    "are real, positive and distinct. There the gradient in all A_l vanishes; at an instance the squares of its "
    "entries are summed exactly, and the sum is 0. At L = 3, d = 5, n = 20 the least loss is 12138645/90852389 = "
    "0.1336…, where the zero predictor has d = 5. Its natural logarithm is −2.01, which is where Figure 1's axis ends: "
    "the loss shown is consistent with that, and not with 0. No three step sizes on S do better, and in every order "
    "of the steps it is a strict local minimum over all A_l: along each of the three kinds of directions that "
    "rotations leave apart (prose) their second derivatives are certified positive definite (`verify check "
    "ahn2023.least_point_curvature L=3 d=5 n=20`).",
    command="verify check ahn2023.theorem3 L=3 d=5 n=20",
    expect={
        "outcome": "verified",
        "clauses.minimum.evidence": "certified",
        "clauses.vanishes.evidence": "certified",
        "for_all_parameters": "argued",
        "values.attained": True,
        "values.minimum_loss": Fraction(12138645, 90852389),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS, FIGURE1),
)

theorem3_at_two_layers = Finding(
    id="ahn2023.theorem3_at_two_layers",
    paper=AHN2023,
    title="With two layers Theorem 3's infimum is attained for every d and n, at a point in closed form",
    weight=Weight.STRONGER,
    summary="With two layers Theorem 3's infimum is attained for every d and n, at steps whose sum and product are "
    "rational, by an argument whose algebra is proved.",
    text="On S the loss is a convex quadratic function of the two steps' sum and product, which at its minimum are "
    "rational functions of d and n and come from two different positive steps. There the gradient over all of A_0 and "
    "A_1 vanishes, as it does at one other point of S, a saddle with two equal steps. The least loss is d (d³(n+1) + "
    "d²(4n+10) + d(7n+17) + 4n+4) over d³(n+1) + d²(n²+5n+10) + d(n³+5n²+17n+17) + n³+10n²+17n+4, which falls like d "
    "(d² + 3d + 4)/n². Over all A_0 and A_1, symmetric or not, the point is a strict local minimum, in either order "
    "of the steps (`ahn2023.two_layer_curvature`). The identities and inequalities behind this are proved for all d "
    "and n; an argument joins them.",
    command="verify check ahn2023.two_layer_minimum d=5 n=20",
    expect={
        "for_all_parameters": "argued",
        "clauses.squares.evidence": "proved",
        "values.minimum_loss": Fraction(1795, 4969),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS),
)

theorem3_at_three_layers = Finding(
    id="ahn2023.theorem3_at_three_layers",
    paper=AHN2023,
    title="With three layers Theorem 3's least loss is in closed form for every d and n, at three different steps",
    weight=Weight.STRONGER,
    summary="With three layers, those of the figures, the least loss over Theorem 3's set is a rational function of d "
    "and n, attained at three different positive steps and never at equal ones, by an argument whose algebra is "
    "proved.",
    text="The loss on S is a positive definite quadratic function of the steps' sum e_1, sum of products of two e_2 "
    "and product e_3. At its minimum these are rational functions of d and n, and the three steps are real, positive "
    "and different for every d and n: three equal steps, as of a looped layer, are never best. At d = 5, n = 20 the "
    "steps are 0.422, 0.689 and 1.714 and the loss is 0.1336, where three equal steps lose more than 0.268 "
    "(`ahn2023.fixed_steps`). With many examples the least loss is (h_6 − h_4²/h_2)/n³ to first order, h_2 = d² + d, "
    "h_4 = 2d³ + 5d² + 5d and h_6 = 5d⁴ + 22d³ + 52d² + 41d, where three steps 1 lose h_6/n³: at d = 5 that is 3.6 "
    "times as much.",
    command="verify check ahn2023.three_layer_minimum d=5 n=20",
    expect={
        "for_all_parameters": "argued",
        **{f"clauses.{label}.evidence": "proved" for label in ("form", "different", "positive_1", "positive_3")},
        "values.minimum_loss": Fraction(12138645, 90852389),
        "values.sum": between("2.8257", "2.8258"),
        "values.product": between("0.4989", "0.4991"),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS),
)

theorem3_over_all_entries = Finding(
    id="ahn2023.theorem3_over_all_entries",
    paper=AHN2023,
    title="With two layers Theorem 3's least point is not critical over all entries of P and Q, for any d and n",
    weight=Weight.STRONGER,
    summary="Theorem 3's gradient is that in the A_l; with two layers the loss has a negative slope in the last entry "
    "of Q_1 at its least point, for all d and n, by an argument whose algebra is proved.",
    text="Let the last diagonal entry of Q_1 be t, which pattern (8) sets to 0: the second layer then also weighs "
    "examples by their labels. At Theorem 3's least point with two layers, in either order of the steps, the loss "
    "falls as t grows from 0. So the point is critical over all A_0 and A_1, as printed, and not over all P and Q. At "
    "d = 5, n = 20 the slope is −0.174 or −14.7, by the order, and the best t takes 0.0020 or 0.0136 off the loss of "
    "0.361. There are slopes in B_0 as well, which Theorem 4 uses. Theorem 4's own best point at L = 2, d = n = 1 also "
    "has a slope in t, by exact quadrature; there are P and Q with a loss of 0.4066, where that point has 0.4069.",
    command="verify check ahn2023.label_attention d=5 n=20",
    expect={
        "outcome": "verified",
        "for_all_parameters": "argued",
        "clauses.smaller_first.evidence": "certified",
        "clauses.larger_first.evidence": "certified",
        **{f"clauses.{label}.evidence": "proved" for label in ("label", "affine", "sum", "both", "rest")},
        "values.slope_smaller_first": between("-0.1745", "-0.1735"),
        "values.slope_larger_first": between("-14.75", "-14.65"),
        "values.gain_smaller_first": between("0.00195", "0.00205"),
        "values.gain_larger_first": between("0.01355", "0.01365"),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS),
)

figure2_is_theorem3s_point = Finding(
    id="ahn2023.figure2_is_theorem3s_point",
    paper=AHN2023,
    title="Theorem 3's exact minimiser agrees with the weights that Figure 2 prints",
    weight=Weight.FIGURES,
    summary="Figure 2 prints trained weights; the exact minimiser of Theorem 3 is certified to agree with them to "
    "the printed digits.",
    text="Figure 2 prints −0.69, −0.42 to −0.43 and −1.69 to −1.72 on the diagonals of Σ^½ A_l Σ^½ (sign as in Q), "
    "after training over all matrices A_l. The exact point at L = 3, d = 5, n = 20 is 0.42240853…, 0.68912608…, "
    "1.71421737…: each lies in the range printed, widened by half a unit of its last digit.",
    command="verify check ahn2023.theorem3 L=3 d=5 n=20",
    expect={
        "clauses.minimum.evidence": "certified",
        "values_rechecked.a": True,
        # Half a unit in the second decimal around what is printed.
        "values.a.0": between("0.415", "0.435"),
        "values.a.1": between("0.685", "0.695"),
        "values.a.2": between("1.685", "1.725"),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS, FIGURE2),
)

theorem4_is_attained = Finding(
    id="ahn2023.theorem4_is_attained",
    paper=AHN2023,
    title="Theorem 4's infimum is attained; at L = 2, d = 5, n = 20 there are seven critical points on S, three of "
    "them local minima",
    weight=Weight.STRONGER,
    summary="Theorem 4 states that the gradient's infimum on S is 0; it is attained for all sizes, by an argument, "
    "and with two layers at the figures' sizes all critical points on S are computed.",
    text="For all L, d and n one point at which the gradient vanishes is rational: a_l = 0 and b_l = −1/2 for "
    "l < L − 1, and a_{L−1} = n/(n + d + 1); at an instance the squares of its entries in all A_l and B_l are summed "
    "exactly, and the sum is 0. For L ≥ 2 it is a saddle, so an infimum of 0 says nothing about minima. "
    "On S the loss is ∫ r_L² dμ with r_{l+1} = r_l (1 − a_l s g_l²) and g_{l+1} = g_l (1 − a_l b_l s g_l²), a "
    "polynomial in the a_l and b_l. At L = 2, d = 5, n = 20 it has exactly seven critical points on S: all real roots "
    "of the gradient, found by resultants, each isolated by Krawczyk's test; the re-checker accepts one of them, and "
    "does not check the list. Three are local minima on S and four are saddles, one with a_0 = 0, where the first "
    "layer does nothing. The losses at the minima are 0.0575, 0.0865 and 0.1023. All three are local minima over all "
    "A_l and B_l as well: the second derivatives, which rotations split into three kinds of directions, are positive "
    "definite in balls (`pytest paper_checks -k whole_curvature`).",
    command="verify check ahn2023.theorem4 L=2 d=5 n=20",
    expect={
        "outcome": "verified",
        "for_all_parameters": "argued",
        "clauses.vanishes.evidence": "certified",
        "clauses.stationary.evidence": "certified",
        "values.complete": True,
        **{f"clauses.{label}.evidence": "proved" for label in ("idle", "last", "strict", "saddle")},
        **{f"values.critical_points.{i}.local_minimum": i in (0, 1, 3) for i in range(7)},
        "values.critical_points.0.loss": between("0.05745", "0.05755"),
        "values.critical_points.1.loss": between("0.08645", "0.08655"),
        "values.critical_points.3.loss": between("0.10225", "0.10235"),
        "values.critical_points.6.a.0": between("-1e-20", "1e-20"),
    },
    rests_on=(SETTING, PATTERN11, DATA, SET11, MOMENTS),
)

theorem4_against_theorem3 = Finding(
    id="ahn2023.theorem4_against_theorem3",
    paper=AHN2023,
    title="Theorem 4's least loss on S is below Theorem 3's with as many layers, and not below Theorem 3's with "
    "(3^L − 1)/2, for every L, d and n",
    weight=Weight.STRONGER,
    summary="For every L ≥ 2, d and n the layers of Theorem 4 do better on S than those of Theorem 3, by an argument, "
    "and never better than (3^L − 1)/2 layers of Theorem 3.",
    text="At Theorem 3's least point with L layers the loss falls as b_0 grows from 0, at the rate 4 (L − 1) a_0 "
    "∫ s p² dμ. The label after L layers of Theorem 4 is a polynomial of degree (3^L − 1)/2 in S, and the least loss "
    "of all such polynomials is Theorem 3's with that many layers. At L = 3, d = n = 1 this bound is "
    "8388608/35102025 = 0.2390; the best critical point that `verify check ahn2023.theorem4` finds there has the loss "
    "0.2513, and Theorem 3 with three layers 16/35 = 0.4571. At d = 5, n = 20 the bound is 0.000286, and the best that "
    "is found 0.000961.",
    command="verify check ahn2023.token_layers_between L=3 d=1 n=1",
    expect={
        "for_all_parameters": "argued",
        "clauses.between.for_all_parameters": "argued",
        "clauses.more_layers.evidence": "certified",
        **{f"clauses.{label}.evidence": "proved" for label in ("moved", "falls")},
        "values.theorem3_loss": Fraction(16, 35),
        "values.lower_bound": Fraction(8388608, 35102025),
    },
    rests_on=(SETTING, PATTERN11, DATA, SET, SET11, MOMENTS),
)

theorem4_at_two_layers = Finding(
    id="ahn2023.theorem4_at_two_layers",
    paper=AHN2023,
    title="With two layers Theorem 4's least loss on S is attained for every d and n; over a_0 < 0 the infimum is "
    "larger, and is not attained",
    weight=Weight.STRONGER,
    summary="Theorem 4 has a vanishing gradient, not a minimum; with two layers the least loss on S is attained for "
    "every d and n, by an argument whose algebra is proved, and one critical point is idle, all others have positive "
    "a_0, a_1, b_0.",
    text="One critical point on S has a_0 = 0, a_1 = n/(n + d + 1), b_0 = −1/2; at all others a_0, a_1 and b_0 are "
    "positive, and f is least at one of these. The least loss is below Theorem 3's with two layers, where all b_l = 0, "
    "and not below Theorem 3's with four. At d = 1, n = 3 the list of critical points is complete (the re-checker does "
    "not check that): the least loss is 0.11107, between 128/1155 = 0.11082 and 8/35 = 0.22857. Over a_0 < 0 the "
    "infimum is V = min ∫ (1 − a_1 s (1 − p s)²)² dμ over a_1 and p, which is attained at a_1, p > 0. There the "
    "loss tends to V along a_0 → 0, b_0 = p/a_0 → −∞, and is above V at every a_0 < 0; V, 0.15399 at d = 1, n = 3, is "
    "above the least loss for every d and n. So descent that stays at a_0 < 0 does not reach the least loss.",
    command="verify check ahn2023.two_layers_of_tokens d=1 n=3",
    expect={
        "for_all_parameters": "argued",
        **{f"clauses.{label}.for_all_parameters": "argued" for label in ("positive", "attained", "between", "valley")},
        **{
            f"clauses.{label}.evidence": "proved"
            for label in ("slope_first", "falls", "at_infinity", "cubic", "idle_slope", "strict")
        },
        "values.complete": True,
        "values.limits_complete": True,
        "values.critical_points.0.loss": between("0.111065", "0.111075"),
        "values.limits.0.loss": between("0.153985", "0.153995"),
        "values.theorem3_two_layers": Fraction(8, 35),
        "values.theorem3_four_layers": Fraction(128, 1155),
    },
    rests_on=(SETTING, PATTERN11, DATA, SET11, MOMENTS),
)

theorem4_at_the_figures_setting = Finding(
    id="ahn2023.theorem4_at_the_figures_setting",
    paper=AHN2023,
    title="The lowest critical point found at L = 3, n = 20 is near the weights printed in Figures 4 and 5, but not "
    "equal",
    weight=Weight.FIGURES,
    summary="Figures 4 and 5 print trained weights; the lowest of the critical points found, as computed, is within "
    "14 % of them, but outside the printed ranges.",
    text="Three layers have many critical points on S at d = 5, n = 20: more than 30 are isolated by Krawczyk's test, "
    "of which the re-checker accepts one, and the four of least loss are local minima on S; that there are no "
    "others is not shown. The lowest loss among them is 0.000961, at a = (0.338, 2.091, 8.568) and b = (0.878, "
    "0.578). Figures 4 and 5 print a = 0.38, 2.38 to 2.42, 9.46 to 9.65 and b = 0.90 to 0.91, 0.56 to 0.57: the "
    "lowest point is within 14 % of these, and none of its five weights is within the printed range.",
    command="verify check ahn2023.theorem4 L=3 d=5 n=20",
    expect={
        "clauses.stationary.holds": True,
        "values.complete": False,
        **{f"values.critical_points.{i}.local_minimum": True for i in range(4)},
        "values.critical_points.30.loss": between(0, 5),
        "values.critical_points.0.loss": between("0.0009605", "0.0009615"),
        "values.critical_points.0.a.0": between("0.3375", "0.3385"),
        "values.critical_points.0.a.1": between("2.0905", "2.0915"),
        "values.critical_points.0.a.2": between("8.5675", "8.5685"),
        "values.critical_points.0.b.0": between("0.8775", "0.8785"),
        "values.critical_points.0.b.1": between("0.5775", "0.5785"),
    },
    rests_on=(SETTING, PATTERN11, DATA, SET11, MOMENTS, FIGURES45, TWENTY),
)

figures_4_and_5_are_not_at_10_examples = Finding(
    id="ahn2023.figures_4_and_5_are_not_at_10_examples",
    paper=AHN2023,
    title="At n = 10, which the text gives, the expected loss at the weights of Figures 4 and 5 is 7 million",
    weight=Weight.FIGURES,
    summary="The text gives n = 10 for Figures 4 and 5, where the expected loss at the printed weights, computed "
    "exactly, is 7 million; the figures fit n = 20.",
    text="At the middles of the printed intervals the expected loss is 7.4·10⁶ at d = 5 and n = 10, where the zero "
    "predictor has 5 and Figure 3's log loss is below −6. Batches of 20 000 prompts do not come near Figure 3 either "
    "(comparison ahn2023.printed_layers_batches). At n = 20 they do, and the weights that are best on them are close "
    "to the printed ones, all five, which is not so at n = 19 or 21 (comparison ahn2023.printed_layers_on_batches): "
    "the figures fit n = 20, which is the authors' code's.",
    command="verify check ahn2023.printed_layers d=5 n=10 a0=0.38 a1=2.4 a2=9.555 b0=0.905 b1=0.565",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "values_rechecked.loss": True,
        "hypotheses.printed_a2.holds": True,
        "values.loss": between(7_400_000, 7_500_000),
    },
    rests_on=(SETTING, PATTERN11, DATA, SET11, MOMENTS, FIGURE3, FIGURES45, BATCHES, TWENTY),
)

figures_4_and_5_are_best_on_batches = Finding(
    id="ahn2023.figures_4_and_5_are_best_on_batches",
    paper=AHN2023,
    title="At the weights of Figures 4 and 5 the expected loss at n = 20 is 0.06, far above Figure 3's e^−6",
    weight=Weight.FIGURES,
    summary="Figure 3 shows log losses below −6; at the printed weights the log of the expected loss is certified to "
    "be −2.8, and in simulations rare prompts explain the difference.",
    text="At the middles of the printed intervals the expected loss at n = 20 is 0.0597, with natural logarithm −2.8. "
    "Figure 3 shows log losses below −6, and so do more than half of the batches of 20 000 fresh prompts (comparison "
    "ahn2023.printed_layers_batches). The two are consistent: r_3² grows like s^26, and prompts whose S has an "
    "eigenvalue above 4, fewer than one in 20 000, carry more than 95 % of the expectation (comparison "
    "ahn2023.printed_layers_rare_prompts). The authors' notebook shows such a batch: it prints losses of 0.0006 at "
    "step 5900, 0.33 at 6000 and 0.002 at 6100 of its first run. The printed weights are close to those at which a "
    "batch of 20 000 has its least loss, as descent from Theorem 4's best point finds it (comparison "
    "ahn2023.printed_layers_on_batches); on the whole printed box no partial derivative of the expected loss is 0.",
    command="verify check ahn2023.printed_layers d=5 n=20 a0=0.38 a1=2.4 a2=9.555 b0=0.905 b1=0.565",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "values_rechecked.log_loss": True,
        "values.loss": between("0.05965", "0.05975"),
        "values.log_loss": between("-2.85", "-2.75"),
    },
    rests_on=(SETTING, PATTERN11, DATA, SET11, MOMENTS, FIGURE3, FIGURES45, BATCHES, TWENTY),
)

figure7_descent_is_held_back = Finding(
    id="ahn2023.figure7_descent_is_held_back",
    paper=AHN2023,
    title="In the authors' code the preconditioned descent of Figures 6 and 7 takes equal steps on n − 1 examples: at "
    "L = 3, n = 20 it loses 0.32, where three different steps on all examples lose 0.13",
    weight=Weight.FIGURES,
    summary="Figures 6 and 7 compare the transformer, which sees n examples, with preconditioned gradient descent, "
    "which in the authors' code sees n − 1 and takes equal steps from a coarse grid; at L = 3 and n = 20 the loss "
    "of these, computed exactly, is 2.4 times that of the best three steps on all examples.",
    text="The transformers of Theorem 3 are preconditioned gradient descent with steps of their own in each layer, on "
    "all n examples; at L = 3, d = 5, n = 20 the least loss of these is 0.1336 (ahn2023.theorem3_is_attained). The "
    "descent of the authors' code leaves one example out, and its steps are equal, the best of a grid: a = 0.76 for "
    "the mean over 19 examples, with an expected loss of 0.3237. The best equal steps on 19 examples lose 0.2965, on "
    "20 examples 0.2683; that every a > 0 loses more than 0.268 on 20 is proved (shared_step of ahn2023.fixed_steps). "
    "With four layers the grid costs more: 0.2609, where the best equal steps on 19 examples lose 0.1850 and the best "
    "different ones on 20 examples 0.0550. So at L = 3 these choices make up 0.19 of the at "
    "most 0.32 by which the transformer is below this descent; the rest is what the B_l bring. Least squares leaves "
    "one out too: up to n = d it loses d − n + 1 instead of d − n. The simulation agrees (comparisons "
    "ahn2023.figure7_equal_steps_in_the_code and ahn2023.figure6_least_squares_in_the_code); with protocol=text all "
    "predictors see all examples, and descent takes its best steps.",
    command="verify simulate ahn2023.figure7 protocol=code layers=3,4 runs=1 steps=1 kept=1 n_test=200000 --device cpu "
    "--seed 0",
    expect={
        # Exactly, from zonal moments: `test_findings.py`.
        "theory.equal_preconditioned_steps.lower.0": between("0.32365", "0.32375"),
        "theory.equal_preconditioned_steps.lower.1": between("0.26085", "0.26095"),
        "measurements.preconditioned_gradient_descent_steps_end.value": between("0.7599", "0.7601"),
        # Six standard errors of 0.004, and of 0.01.
        "measurements.preconditioned_gradient_descent_start.value": between("0.30", "0.35"),
        "measurements.preconditioned_gradient_descent_end.value": between("0.20", "0.32"),
        "measurements.least_squares_Sigma_norm_end.value": 0,
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS, COMPARED, EQUAL_STEPS),
)

theorem5_last_row_is_needless = Finding(
    id="ahn2023.theorem5_last_row_is_needless",
    paper=AHN2023,
    title="Theorem 5 needs no hypothesis on the last row of Q: its minimiser is global over all P and Q",
    weight=Weight.STRONGER,
    summary="Theorem 5 assumes that the last row of Q is 0; its minimiser is global without that, by an argument "
    "whose algebra is proved.",
    text="With any last row of Q the loss of a layer of ReLU attention exceeds d + tr M + κ‖M‖², where M = βA + b qᵀ, "
    "κ = (n − 1)/(4n) + (d + 2)/(2n), by a mean of squares plus a sum of two squares. Its least value is Theorem 5's, "
    "d (1 − a/2) with a = 1/((n − 1)/(2n) + (d + 2)/n): at d = 5 and n = 20, 65/33 with a = 40/33.",
    command="verify check ahn2023.relu_any_last_row d=5 n=20",
    expect={
        "for_all_parameters": "argued",
        "clauses.excess.holds": True,
        "clauses.squares.holds": True,
        "clauses.positive.holds": True,
        # 1/(19/40 + 7/20), and 5 (1 − 20/33).
        "values.a": Fraction(40, 33),
        "values.minimum_loss": Fraction(65, 33),
    },
    rests_on=(RELU, RELU_LOSS),
)

more_examples_can_hurt = Finding(
    id="ahn2023.more_examples_can_hurt",
    paper=AHN2023,
    title="At d = 5 three layers that are best for 20 examples have a loss that rises with every example from 57 on; "
    "with equal steps it never rises",
    weight=Weight.STRONGER,
    summary="At Theorem 3's point for L = 3, d = 5, n = 20 the loss on prompts of m examples is 0.0427 at m = 57 and "
    "rises with every example from there on, which is proved; it tends to 0.0822.",
    text="The theorem's weights are for prompts of n examples. On prompts of m examples their loss is the same "
    "polynomial's integral over another spectrum, exactly. One layer's loss, with the step that is best for n, falls "
    "with every example more, to d((d + 1)/(n + d + 1))² and no further; that of equal steps, as of a looped layer, "
    "never rises, whatever their number and size (argued). With different steps this fails: those that are best "
    "for 20 examples at L = 3 and d = 5 have a loss of 0.1336 at 20 examples, 0.0427 at 57, 0.0487 at 100, and 0.0822 "
    "in the limit, while the least loss at m tends to 0. They are spread over the spectrum of 20 examples, and the "
    "polynomial is not small at 1, where that of many examples is. With fewer examples the loss grows fast: it is 1.53 "
    "at 10 examples, where the zero predictor has 5.",
    command="verify check ahn2023.fixed_steps d=5 n=20 m=100",
    expect={
        **{f"clauses.{label}.evidence": "proved" for label in ("excess", "falls", "floor", "rises", "lost")},
        "clauses.equal_steps.for_all_parameters": "argued",
        "values.one_layer_loss": Fraction(75, 169),
        "values.three_layer_limit": Fraction(678755919076805, 8254156587007321),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS),
)
