"""Findings about Theorem 1 of Wang et al. 2024: one-hot encodings, step sizes and numbers of steps.

`test_one_hot_findings.py` derives the expected numbers a second time.
"""

from fractions import Fraction

from paper_checks.expected import between, certified
from paper_checks.wang2024.premises import ASSEMBLY, SETTINGS, TASK
from theorems.papers import WANG2024
from verify import Finding, Premise, Weight

ONE_HOT = Premise("Definition 2: one-hot encoding", "printed")
HYPOTHESES = Premise(
    "the hypotheses of Theorem 1: 2 ≤ q < T/4, ε < dT/(100 (T−q) q), η ≤ 1/(20 d²), training from W = 0, V = 0",
    "printed",
)
OTHERS_HOLD = {f"hypotheses.{name}.holds": True for name in ("subset_of_two", "subset_below_quarter", "accuracy")}
"""The expected results of Theorem 1's hypotheses on its parameters, except the hypothesis on the step size."""
FROM_THE_FIRST_STEP = Premise("“stays there” means: at every step from the first with L ≤ ε on", "our reading")
RECURSION = Premise("the two-number recursion of wang2024.lemma1", "derived here")

stays_needs_a_step_size = Finding(
    id="wang2024.stays_needs_a_step_size",
    paper=WANG2024,
    title="Without a limit on the step size, Theorem 1's loss need not stay below ε",
    weight=Weight.NEEDED,
    summary="Theorem 1 states that the loss, once below ε, stays there; at a step size of 5 it rises above ε again, "
    "which is certified.",
    text="At T = 9, q = 2, d = 1, ε = 1/200 every hypothesis of Theorem 1 holds except that on the step size: η = 5 "
    "is a hundred times the bound 1/20. The loss reaches ε at step 102 and is above it again at step 1601. This is "
    "the step in exact arithmetic: beyond η = 2q the approach to zero loss is unstable (wang2024.inverse_loss_rate, "
    "clause lag), and rounding makes a run in float64 leave it sooner. So the second half of the theorem needs a "
    "bound on η; its first half holds here.",
    command="verify check wang2024.theorem1 T=9 q=2 d=1 eta=5 eps=1/200",
    expect={
        "in_scope": False,
        **OTHERS_HOLD,
        # 1/20 − 5.
        "hypotheses.step_size.slack": Fraction(-99, 20),
        **certified("reached", holds=True),
        # The recursion at 200 digits, written out from the softmax.
        "values.steps_to_epsilon": 102,
        **certified("stays", holds=False),
        "clauses.stays.witness.reached_at": 102,
        "clauses.stays.witness.above_at": 1601,
        "clauses.stays.witness.observable": between("0.00660259760832011", "0.00660259760832012"),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, FROM_THE_FIRST_STEP, RECURSION),
)

stays_needs_more_than_stability = Finding(
    id="wang2024.stays_needs_more_than_stability",
    paper=WANG2024,
    title="Theorem 1's loss need not stay below ε even at step sizes at which the end of the run is stable",
    weight=Weight.NEEDED,
    summary="Below η = 2q the approach to zero loss is stable, but the loss need not stay below ε on the way: at T = "
    "1000, q = 2, d = 5000, η = 3.7 it rises to more than eleven times ε = 2, and the rise above ε is certified.",
    text="At T = 1000, q = 2, d = 5000, ε = 2 every hypothesis of Theorem 1 holds except that on the step size: η = "
    "3.7, where the approach to zero loss is stable up to η = 2q = 4 (wang2024.inverse_loss_rate, clause lag). The "
    "loss, 1250 at the start, is below ε at step 169 and above it again from step 170 to step 200, with 23 at step "
    "185. So the second half of the theorem needs a smaller bound on η than stability there gives; the largest that is "
    "known to be enough, 2q(T − 1)/(T − 1 + 6d) (wang2024.one_hot_larger_steps, formal), is 1332/10333, about 0.13.",
    command="verify check wang2024.theorem1 T=1000 q=2 d=5000 eta=37/10 eps=2",
    expect={
        "in_scope": False,
        **OTHERS_HOLD,
        "hypotheses.step_size.holds": False,
        **certified("reached", holds=True),
        # The recursion at 60 digits, written out from the softmax.
        "values.steps_to_epsilon": 169,
        **certified("stays", holds=False),
        "clauses.stays.witness.reached_at": 169,
        "clauses.stays.witness.above_at": 170,
        "clauses.stays.witness.observable": between("2.0078678923657374", "2.0078678923657375"),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, FROM_THE_FIRST_STEP, RECURSION),
)

needless_sizes = Finding(
    id="wang2024.needless_sizes",
    paper=WANG2024,
    title="Theorem 1 needs neither q ≥ 2, nor q < T/4, nor its bound on ε",
    weight=Weight.STRONGER,
    summary="Theorem 1 asks for 2 ≤ q < T/4 and ε < dT/(100 (T−q) q); at its step sizes its conclusion holds for all "
    "q ≤ T and every ε, as Rocq's kernel accepts.",
    text="The loss never rises, and falls below every ε, for all 1 ≤ q ≤ T, d and ε and all "
    "η < 2q(T − 1)/(T − 1 + 6d), which is above Theorem 1's 1/(20 d²). Of its hypotheses on the parameters only that "
    "on the step size remains. At T = 3, q = 2, d = 2, η = 1/80, ε = 1/10, where q > T/4 and ε is above the limit "
    "3/100, the conclusion is also certified.",
    command="verify check wang2024.one_hot_larger_steps T=3 q=2 d=2 eta=1/80 eps=1/10",
    expect={
        "outcome": "verified",
        "in_scope": True,
        "for_all_parameters": "formal",
        "clauses.reached.evidence": "certified",
        "clauses.stays.evidence": "certified",
        "values.largest_step_size": Fraction(4, 7),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, RECURSION),
)

may_never_reach = Finding(
    id="wang2024.may_never_reach",
    paper=WANG2024,
    title="Without a limit on the step size, Theorem 1's loss may never reach ε: the run is trapped around a cycle",
    weight=Weight.NEEDED,
    summary="Theorem 1 states that the loss reaches every small ε; at a step size of 6 the run is trapped around a "
    "cycle and the loss never reaches 1/500, which is certified.",
    text="At T = 9, q = 2, d = 3, ε = 1/500 every hypothesis of Theorem 1 holds except that on the step size: with η "
    "= 6 the run is trapped around a cycle of period two, where the loss is above 0.08, forty times ε. That it stays "
    "there forever is certified by an ellipsoid around the cycle that two steps map into itself. So the first half of "
    "the theorem needs a bound on η too.",
    command="verify check wang2024.theorem1 T=9 q=2 d=3 eta=6 eps=1/500",
    expect={
        "in_scope": False,
        **OTHERS_HOLD,
        # 1/180 − 6.
        "hypotheses.step_size.slack": Fraction(-1079, 180),
        **certified("reached", holds=False),
        "clauses.reached.witness.period": 2,
        # The smaller loss on the cycle is 0.08443…, by a run at 400 digits; the least on a set around it is lower.
        "clauses.reached.witness.lowest": between("0.08", "0.0845"),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, RECURSION),
)

figures_step_size_out_of_scope = Finding(
    id="wang2024.figures_step_size_out_of_scope",
    paper=WANG2024,
    title="At the experiments' sizes and step size, 500 times Theorem 1's limit, the theorem's own layer reaches ε "
    "and stays there",
    weight=Weight.STRONGER,
    summary="Theorem 1 asks for η ≤ 1/500 at the experiments' sizes; at their η = 1 its conclusion is certified for "
    "ε = 1/1000 as well.",
    text="The experiments have T = 200, q = 3, d = 5 and η = 1, with the stochastic encoding and sampled gradients; "
    "Theorem 1 is about one-hot encodings and the population gradient, and asks for η ≤ 1/(20 d²) = 1/500. For that "
    "layer at the experiments' sizes and η = 1, the loss reaches ε = 1/1000 at step 55766 and is certified to "
    "stay there.",
    command="verify check wang2024.theorem1 T=200 q=3 d=5 eta=1 eps=1/1000",
    expect={
        "outcome": "out_of_scope",
        **OTHERS_HOLD,
        "hypotheses.step_size.holds": False,
        # 1/500 − 1.
        "hypotheses.step_size.slack": Fraction(-499, 500),
        "clauses.reached.holds": True,
        "clauses.stays.holds": True,
        "evidence": "certified",
        # The recursion in float64, written out from the softmax; the loss is then below ε by 7·10⁻⁶ ε.
        "values.steps_to_epsilon": 55766,
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, SETTINGS, RECURSION),
)

every_level_at_the_figures_step = Finding(
    id="wang2024.every_level_at_the_figures_step",
    paper=WANG2024,
    title="Theorem 1's conclusion holds for every step size up to 4q²/(5q + 2d), including the experiments' η = 1",
    weight=Weight.STRONGER,
    summary="Theorem 1 asks for η ≤ 1/(20 d²); its conclusion holds up to η = 4q²/(5q + 2d), as Rocq's kernel accepts, "
    "with a bound on the steps, by an argument from proved steps.",
    text="For all T, q and d the loss of the one-hot layer falls at every step if η ≤ 4q²/(5q + 2d), which is 1.44 at "
    "the experiments' q = 3, d = 5, where Theorem 1 asks for η ≤ 1/(20 d²) = 1/500. The first step at which it is at "
    "most ε is bounded for every ε, here by 470 thousand for ε = 1/1000, where the run reaches it at step 55766, which "
    "is certified. For q < T and ε → 0 the number is (T−1)/(4ηε) (wang2024.one_hot_rate), and the bound this divided "
    "by 1 − η(5q + 2d)/(10q²), a number of at least 3/5. The inequalities of the bound on the steps are proved for all "
    "T, q, d and η, and an argument joins them to it. Without a bound on the steps the conclusion holds for larger "
    "ones too (wang2024.larger_steps).",
    command="verify check wang2024.one_hot_descent T=200 q=3 d=5 eta=1 eps=1/1000",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "for_all_parameters": "argued",
        "clauses.stays.for_all_parameters": "formal",
        "values.largest_step_size": Fraction(36, 25),
        # Y = 2500/3, A = 1000/597, k = 10/597 · 13/18: (Y + (7/2)(1 + A) ln(1 + Y) + (30 + 25A) 200/3)/k.
        "values.steps_at_most": between("470182.87133", "470182.87134"),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, SETTINGS, RECURSION),
)

larger_steps = Finding(
    id="wang2024.larger_steps",
    paper=WANG2024,
    title="Theorem 1's conclusion holds for every step size below 2q(T − 1)/(T − 1 + 6d), which tends to 2q as T grows",
    weight=Weight.STRONGER,
    summary="For step sizes η > 2q the approach to zero loss is unstable; for η nearly up to 2q, if T is large, "
    "Theorem 1's conclusion holds, as Rocq's kernel accepts.",
    text="For all T, q and d the loss of the one-hot layer never rises, and falls below every ε, if "
    "η < 2q(T − 1)/(T − 1 + 6d): 1194/229, about 5.21, at the experiments' T = 200, q = 3, d = 5, where Theorem 1 asks "
    "for η ≤ 1/500 and 2q is 6. The curvature is small where the loss is at most that of the start, and no step leaves "
    "that set, which is not convex. The number "
    "of steps is not bounded this way, as it is up to 4q²/(5q + 2d) (wang2024.every_level_at_the_figures_step), which "
    "is larger where T is small. Between the larger of the two and 2q nothing is shown for all sizes: the loss can "
    "rise (wang2024.stays_needs_more_than_stability).",
    command="verify check wang2024.one_hot_larger_steps T=200 q=3 d=5 eta=3 eps=1/1000",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "for_all_parameters": "formal",
        "values.largest_step_size": Fraction(1194, 229),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, SETTINGS, RECURSION),
)

steps_from_both_sides = Finding(
    id="wang2024.steps_from_both_sides",
    paper=WANG2024,
    title="Theorem 1's number of steps has explicit bounds on both sides; the lower one is exact to first order in 1/ε",
    weight=Weight.STRONGER,
    summary="For q < T and η ≤ 4q²/(5q + 2d) no step before (T − 1)/(4ηε) − O(1/√ε), with an explicit remainder, has "
    "a loss of at most ε, by an argument from proved steps.",
    text="For q < T and η ≤ 4q²/(5q + 2d) every step t with L_t ≤ ε has t ≥ (Y − (2A + 3κ/2)√Y − T/(T − q))/κ, with "
    "Y = d/(2qε), A = dT/(q(T − 1)) and κ = 2ηd/(q(T − 1)). Y/κ is (T − 1)/(4ηε), the number of steps to first order "
    "(wang2024.one_hot_rate); an upper bound is 1/(1 − η(5q + 2d)/(10q²)) times that, at most 5/3 of it. At the "
    "experiments' T = 200, q = 3, d = 5, η = 1 and ε = 1/1000 the first step is certified to be 55766, between 43873 "
    "and 470183. C never falls on such a run, and the potential q e^{2C}/(T − q) less a multiple of its logarithm "
    "rises by at most κ a step, up to telescoping terms.",
    command="verify check wang2024.one_hot_steps T=200 q=3 d=5 eta=1 eps=1/1000",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "for_all_parameters": "argued",
        # Y = 2500/3, A = 1000/597, κ = 10/597: (Y − (2A + 15/597) √Y − 200/197)/κ.
        "values.steps_at_least": between("43872.58690", "43872.58691"),
        "values.ratio_for_small_eps": Fraction(18, 13),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, SETTINGS, RECURSION),
)

exact_rate = Finding(
    id="wang2024.exact_rate",
    paper=WANG2024,
    title="With one-hot encoding the inverse loss grows by 4η/(T − 1) per step in the limit, whatever q < T and d",
    weight=Weight.STRONGER,
    summary="Figure 1 shows 1/L growing linearly; with one-hot encoding its slope tends to 4η/(T − 1) along every run "
    "with η ≤ 4q²/(5q + 2d), as Rocq's kernel accepts.",
    text="The figure's caption reads Theorem 1 as: the inverse loss increases linearly, L = O(1/t). With one-hot "
    "encoding and q < T, 1/(t·L_t) tends to 4η/(T − 1) along every run from zero with η ≤ 4q²/(5q + 2d), which "
    "contains Theorem 1's step sizes: at T = 200 and η = 1 to 4/199, for q = 3, d = 5 and all q < T and d with 2d ≤ "
    "q(4q − 5). So the first step "
    "with L ≤ ε is (T − 1)/(4ηε) (1 + o(1)). The same slope holds wherever η < 2q and the loss tends to 0 "
    "(wang2024.inverse_loss_rate, clauses rate and slope).",
    command="verify check wang2024.one_hot_rate T=200 q=3 d=5 eta=1",
    expect={
        "in_scope": True,
        "for_all_parameters": "formal",
        "clauses.slope.claim": "along the run 1/(t L_t) -> 4 eta/(T-1)",
        "clauses.attracts.holds": True,
        "clauses.attracts.evidence": "proved",
        # For small odds r the loss is c r², and C moves by (η/(T−1))·2L, so that dL/dt = −2L·2ηL/(T−1).
        "values.inverse_loss_slope": Fraction(4, 199),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, SETTINGS, RECURSION),
)
