"""The findings about Ahn et al. 2023; those about its figures are in `figure_findings`.

`test_findings.py` derives the expected numbers a second time.
"""

from fractions import Fraction

from paper_checks.ahn2023.premises import (
    DATA,
    FIGURE1,
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
    WORDS,
)
from paper_checks.expected import between, certified, evidence
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
    "matrices, so they are not affected. The authors' code uses the transpose of the paper's Q; with the code's Q "
    "the printed lemma holds for every A_l.",
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
    summary="Theorem 1 gives a global minimiser over all P and Q; in two dimensions, with one example, or where one "
    "eigenvalue of Σ is small enough beside the other, the loss also has a local minimum above it, by an argument "
    "from proved steps.",
    text="At d = 2 let Σ have the eigenvalues λ ≥ ℓ. At P = e_3 e_1', Q = −a e_3 e_1', where Q reads the label in "
    "place of P, the layer takes Theorem 1's step in the first coordinate and none in the second. All slopes vanish "
    "there, and where n ℓ² is below an explicit function of n, λ and ℓ the second derivatives are positive definite, "
    "up to rescaling, rotations that preserve Σ, and entries that do not affect the prediction: for n = 1 at every "
    "ℓ ≤ λ, and at ℓ = λ for n = 1 alone. The loss exceeds the least by ℓ²/((n+1)ℓ/n + (λ+ℓ)/n): at n = 1 and "
    "eigenvalues 1 and 1/2 it is 17/14, where the least is 39/35. Where n ℓ² is above that function the point is a "
    "saddle, and at the sizes tried it lies between two local minima (by quadrature, without a proof). For ℓ < λ the "
    "corresponding point for the smaller eigenvalue is a saddle.",
    command="verify check ahn2023.one_layer_local_minimum n=1 largest=1 smaller=1/2",
    expect={
        "hypotheses.few_examples.holds": True,
        "clauses.local.for_all_parameters": "argued",
        "clauses.saddle.for_all_parameters": "argued",
        **{
            f"clauses.{label}.evidence": "proved"
            for label in ("above", "stationary", "curved", "c", "positive", "c_exchanged", "positive_exchanged")
        },
        "values.loss": Fraction(17, 14),
        "values.least_loss": Fraction(39, 35),
    },
    rests_on=(SETTING, STANDARD_PRIOR),
)

theorem2_minimisers_are_multiples = Finding(
    id="ahn2023.theorem2_minimisers_are_multiples",
    paper=AHN2023,
    title="For Σ = I every minimiser of Theorem 2 among symmetric matrices is a pair of multiples of I",
    weight=Weight.STRONGER,
    summary="Theorem 2 states that some minimiser is diagonal; for Σ = I and all d and n every minimiser among "
    "symmetric matrices is a pair of multiples of I whose two factors are known, in either order, by an argument from "
    "proved steps.",
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
        "clauses.minimum.evidence": evidence("wishart/1"),
        "clauses.vanishes.evidence": evidence("layers/1"),
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
    "rational, by an argument from proved steps.",
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
    summary="With three layers, as in the figures, the least loss over Theorem 3's set is a rational function of d "
    "and n, attained at three different positive steps and never at equal ones, by an argument from proved steps.",
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
    summary="Theorem 3's gradient is taken in the A_l alone; with two layers, at the point of Theorem 3's least loss, "
    "the loss has a negative slope in the last entry of Q_1, for all d and n, by an argument from proved steps.",
    text="Let the last diagonal entry of Q_1 be t, which pattern (8) sets to 0: the second layer then also weighs "
    "examples by their labels. At Theorem 3's least point with two layers, in either order of the steps, the loss "
    "falls as t grows from 0. So the point is critical over all A_0 and A_1, as printed, and not over all P and Q. At "
    "d = 5, n = 20 the slope is −0.174 or −14.7, by the order, and the best t takes 0.0020 or 0.0136 off the loss of "
    "0.361. The derivatives in B_0 do not vanish either, which Theorem 4 uses. Theorem 4's own best point at L = 2, "
    "d = n = 1 also has a slope in t, by exact quadrature; there are P and Q with a loss of 0.4066, where that point "
    "has 0.4069.",
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
        "clauses.vanishes.evidence": evidence("layers/1"),
        "clauses.stationary.evidence": evidence("layers/1", "wishart/1"),
        "values.complete": True,
        **{f"clauses.{label}.evidence": "proved" for label in ("idle", "last", "mixed_is_negative", "saddle")},
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
    title="The infimum of Theorem 4's loss on S is below Theorem 3's with as many layers, and not below Theorem 3's "
    "with (3^L − 1)/2, for every L ≥ 2, d and n",
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
        "clauses.more_layers.evidence": evidence("wishart/1"),
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
    summary="Theorem 4 is about a vanishing gradient, not about a minimum; with two layers the least loss on S is "
    "attained for every d and n, by an argument from proved steps; one critical point has an idle layer (a_0 = 0), and "
    "all others have positive a_0, a_1, b_0.",
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
            for label in ("slope_first", "falls", "at_infinity", "cubic", "idle_slope", "factor")
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

theorem5_last_row_is_needless = Finding(
    id="ahn2023.theorem5_last_row_is_needless",
    paper=AHN2023,
    title="Theorem 5 needs no hypothesis on the last row of Q: its minimiser is global over all P and Q",
    weight=Weight.STRONGER,
    summary="Theorem 5 assumes that the last row of Q is 0; its minimiser is global without that, by an argument "
    "from proved steps.",
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
    "never rises, whatever their number and size (argued). With different steps this fails: the steps that are "
    "best for 20 examples at L = 3 and d = 5 have a loss of 0.1336 at 20 examples, 0.0427 at 57, 0.0487 at 100, and "
    "0.0822 in the limit, while the least loss at m tends to 0. They are spread over the spectrum of 20 examples, and "
    "the polynomial is not small at 1, where the spectrum of many examples is concentrated. With fewer examples the "
    "loss grows fast: it is 1.53 at 10 examples, where the zero predictor has 5.",
    command="verify check ahn2023.fixed_steps d=5 n=20 m=100",
    expect={
        **{f"clauses.{label}.evidence": "proved" for label in ("excess", "falls", "floor", "rises", "lost")},
        "clauses.equal_steps.for_all_parameters": "argued",
        "values.one_layer_loss": Fraction(75, 169),
        "values.three_layer_limit": Fraction(678755919076805, 8254156587007321),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS),
)
