"""What the checks found about Wang et al. 2024.

Where the expected numbers are from: `test_findings.py` derives them a second time.
"""

from fractions import Fraction

from theorems.papers import WANG2024
from verify import Enclosure, Finding, Premise, Weight

TASK = Premise("the task: X Gaussian, y a uniformly random q-subset of [T], target the mean of its tokens", "printed")
ONE_HOT = Premise("Definition 2: one-hot encoding", "printed")
ASSEMBLY = Premise(
    "the layer put together from Definitions 2 to 5 as f(X, y) = V Z softmax(Zᵀ W z_query), "
    "z_query = (0; the sum of e_i over y), with the population loss ½ E‖f − target‖²",
    "our reading",
)
HYPOTHESES = Premise(
    "the hypotheses of Theorem 1: 2 ≤ q < T/4, ε < dT/(100 (T−q) q), η ≤ 1/(20 d²), training from W = 0, V = 0",
    "printed",
)
FROM_THE_FIRST_STEP = Premise("“stays there” means: at every step from the first with L ≤ ε on", "our reading")
SETTINGS = Premise("the settings of the experiments: T = 200, q = 3, d = 5, η = 1", "printed")
RECURSION = Premise("the two-number recursion of wang2024.lemma1", "derived here")
STOCHASTIC = Premise(
    "Definitions 3 and 5: the stochastic encoding is independent signs ±1/√d_e, drawn afresh for every sample",
    "our reading",
)
FIGURES = Premise(
    "the settings of the experiments: T = 200, q = 3, d = 5, d_e = 170; the figures' layer attends to [Z, z_query]",
    "printed",
)
ON_THE_SET = Premise(
    "the trained layer is V = (αI, 0), W = diag(0, CI), which population gradient descent from zero keeps "
    "(wang2024.lemma2, argued), and C ≥ 0 along it, which is assumed",
    "derived here",
)
TWO_BLOCKS = Premise("Figure 3: after convergence only the two identity blocks of W and V are left", "printed")
GLOBAL_MINIMUM = Premise(
    "Figure 1: the layer with stochastic encoding “converges to the global minimum of 0”, its inverse loss linear",
    "printed",
)
MOMENTS = Premise(
    "the means P and R of the attention on the selected tokens and of its squares, enclosed by moments of the "
    "softmax's denominator, and the least loss over α and C that follows from them",
    "derived here",
)

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
        "hypotheses.subset_of_two.holds": True,
        "hypotheses.subset_below_quarter.holds": True,
        "hypotheses.accuracy.holds": True,
        # 1/20 − 5.
        "hypotheses.step_size.slack": Fraction(-99, 20),
        "clauses.reached.holds": True,
        "clauses.reached.evidence": "certified",
        # The recursion at 200 digits, written out from the softmax.
        "values.steps_to_epsilon": 102,
        "clauses.stays.holds": False,
        "clauses.stays.evidence": "certified",
        "clauses.stays.witness.reached_at": 102,
        "clauses.stays.witness.above_at": 1601,
        "clauses.stays.witness.observable": Enclosure(Fraction("0.00660259760832011"), Fraction("0.00660259760832012")),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, FROM_THE_FIRST_STEP, RECURSION),
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
        "hypotheses.subset_of_two.holds": True,
        "hypotheses.subset_below_quarter.holds": True,
        "hypotheses.accuracy.holds": True,
        # 1/180 − 6.
        "hypotheses.step_size.slack": Fraction(-1079, 180),
        "clauses.reached.holds": False,
        "clauses.reached.evidence": "certified",
        "clauses.reached.witness.period": 2,
        # The smaller loss on the cycle is 0.08443…, by a run at 400 digits; on a set around it, somewhat less.
        "clauses.reached.witness.lowest": Enclosure(Fraction("0.08"), Fraction("0.0845")),
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
        "hypotheses.subset_of_two.holds": True,
        "hypotheses.subset_below_quarter.holds": True,
        "hypotheses.accuracy.holds": True,
        "hypotheses.step_size.holds": False,
        # 1/500 − 1.
        "hypotheses.step_size.slack": Fraction(-499, 500),
        "clauses.reached.holds": True,
        "clauses.stays.holds": True,
        "evidence": "certified",
        # The recursion in float64, written out from the softmax: ε is passed with 7·10⁻⁶ of itself to spare.
        "values.steps_to_epsilon": 55766,
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, SETTINGS, RECURSION),
)

every_level_at_the_figures_step = Finding(
    id="wang2024.every_level_at_the_figures_step",
    paper=WANG2024,
    title="Theorem 1's conclusion holds for every step size up to 4q²/(5q + 2d), including the experiments' η = 1",
    weight=Weight.STRONGER,
    summary="Theorem 1 asks for η ≤ 1/(20 d²); its conclusion holds up to η = 4q²/(5q + 2d), by an argument whose "
    "algebra is proved.",
    text="With q ≥ 2 and T > 4q the loss of the one-hot layer falls at every step for all η ≤ 4q²/(5q + 2d), which "
    "is 1.44 at the experiments' q = 3, d = 5, where Theorem 1 asks for η ≤ 1/(20 d²) = 1/500; it is below any ε "
    "after 10T²(T−1+d)/(3dqη) + 20(T−1+dT/q)/(3ηε) steps, here 5.4 million for ε = 1/1000. That bound is not sharp: "
    "the run reaches ε at step 55766, which is certified. The inequalities are proved for all T, q, d and η, and an "
    "argument joins them to the claim. Above 2q, 6 here, the conclusion may be false "
    "(wang2024.stays_needs_a_step_size); in between it is open.",
    command="verify check wang2024.one_hot_descent T=200 q=3 d=5 eta=1 eps=1/1000",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "for_all_parameters": "argued",
        # 36/25, and 10·40000·204/45 + 20·(199 + 1000/3)·1000/3.
        "values.largest_step_size": Fraction(36, 25),
        "values.steps_at_most": Fraction(16320000 + 31940000, 9),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, HYPOTHESES, SETTINGS, RECURSION),
)

exact_rate = Finding(
    id="wang2024.exact_rate",
    paper=WANG2024,
    title="With one-hot encoding the inverse loss grows by 4η/(T − 1) per step in the limit, for all q and d, if the "
    "run's odds and lag converge",
    weight=Weight.STRONGER,
    summary="Figure 1 shows 1/L growing linearly; with one-hot encoding its slope tends to 4η/(T − 1) if the run's "
    "odds and lag converge, by a proved limit and an argument.",
    text="The figure's caption reads Theorem 1 as: the inverse loss increases linearly, L = O(1/t). Along a one-hot "
    "run on which the odds against the selected tokens and the lag of V tend to their limits, 1/(t·L_t) tends to "
    "4η/(T − 1): at T = 200 and η = 1 to 4/199, for q = 3, d = 5 and all other q and d with η < 2q.",
    command="verify check wang2024.inverse_loss_rate T=200 q=3 d=5 eta=1",
    expect={
        "for_all_parameters": "argued",
        "clauses.rate.claim": "1/L' - 1/L -> 4 eta phi/(T-1) at that h",
        "clauses.rate.holds": True,
        "clauses.rate.evidence": "proved",
        # For small odds r the loss is c r², and C moves by (η/(T−1))·2L, so that dL/dt = −2L·2ηL/(T−1).
        "values.inverse_loss_slope": Fraction(4, 199),
    },
    rests_on=(TASK, ONE_HOT, ASSEMBLY, RECURSION),
)


def _cannot_reach_zero(
    name: str, title: str, summary: str, text: str, attend: str, eps: str, floor: tuple[str, str]
) -> Finding:
    """Return the finding that the least loss on the set is positive at Figure 1's setting, attending to some tokens."""
    return Finding(
        id=f"wang2024.{name}",
        paper=WANG2024,
        title=title,
        weight=Weight.CONTRADICTED,
        summary=summary,
        text=text,
        command=f"verify check wang2024.theorem2 T=200 q=3 d=5 d_e=170 eps={eps} attend={attend}",
        expect={
            "hypotheses.enough_dimensions.holds": False,
            "clauses.floor.holds": False,
            "clauses.floor.evidence": "certified",
            "values.attained": True,
            "values.loss_floor": Enclosure(*map(Fraction, floor)),
        },
        rests_on=(TASK, ASSEMBLY, STOCHASTIC, FIGURES, ON_THE_SET, TWO_BLOCKS, GLOBAL_MINIMUM, MOMENTS),
    )


figure1_cannot_reach_zero = _cannot_reach_zero(
    "figure1_cannot_reach_zero",
    "With independent signs as encodings no layer with C ≥ 0 on gradient descent's invariant set has a loss below "
    "0.35 at Figure 1's setting",
    "Figure 1's caption says that the loss converges to 0; with independent signs as encodings no layer with C ≥ 0 on "
    "gradient descent's invariant set has a loss below 0.35, which is certified.",
    "At T = 200, q = 3, d = 5, d_e = 170, attending to [Z, z_query], the infimum of the population loss over all V = "
    "(αI, 0), W = diag(0, CI), C ≥ 0, is certified to be above 0.35, where the zero predictor has d/(2q) = 5/6. The "
    "encodings' inner products, of size 1/√170, make the selected tokens' shares of the attention differ, and more so "
    "for larger C: the infimum is attained at a finite C. So no run that stays on the set with C ≥ 0 has a loss "
    "that converges to 0 there, and the inverse loss, which stays below 3, does not grow linearly forever. The number "
    "is for independent signs: Definition 3 also admits other distributions and other unit vectors with small inner "
    "products, whose infima are not computed here.",
    *("tokens_and_query", "1/4"),
    # 0.3558 ± 0.0041 by 2·10⁵ sampled encodings at α = 612793/5000, C = 53/16, five standard errors.
    ("0.3517", "0.3599"),
)

figure1_cannot_reach_zero_over_tokens = _cannot_reach_zero(
    "figure1_cannot_reach_zero_over_tokens",
    "Attending to the tokens alone, no layer with C ≥ 0 on the invariant set has a loss below 0.088",
    "Without the query's own token, as in the theorems, no layer with C ≥ 0 on the invariant set has a loss below "
    "0.088 with independent signs as encodings, which is certified.",
    "The same at T = 200, q = 3, d = 5, d_e = 170 without the query's own token, the layer of the theorems: the "
    "infimum of the population loss over all V = (αI, 0), W = diag(0, CI), C ≥ 0, is certified to be above 0.088, a "
    "quarter of that with the query's token, and is attained. This number, too, is for independent signs.",
    *("tokens", "1/100"),
    # 0.08963 ± 0.00072 by 2·10⁵ sampled encodings at α = 58443/40000, C = 77/16, five standard errors.
    ("0.0889", "0.0904"),
)

fewer_selected_at_test = Finding(
    id="wang2024.fewer_selected_at_test",
    paper=WANG2024,
    title="A nearly optimal layer for q = 3, attending to [Z, z_query], is worse than the zero predictor at q_test = 2",
    weight=Weight.FIGURES,
    summary="Figure 4 shows the loss converging at unseen subset sizes; a nearly optimal layer for three selected "
    "tokens is certified to have forty times the zero predictor's loss when two are selected.",
    text="At T = 200, d = 5, d_e = 170 take a nearly optimal layer for q = 3, attending to [Z, z_query], and let two "
    "tokens be selected at test. Its loss is certified to be above 50, forty times the zero predictor's d/(2 q_test) "
    "= 5/4: the query's token takes all but a small share of the attention, for which a large α compensates; with two "
    "selected tokens that share is many times larger, while α stays the same. Figure 4 is about a trained layer, not "
    "an optimal one: at the end of our full run of Figure 1, with α = 41.26 and C = 2.79 where the optimum has 123 "
    "and 3.31, the loss at q_test = 2 is 7.46 ± 0.03, six times the zero predictor's. Attending to Z alone, a nearly "
    "optimal layer for q = 3 has a loss of 0.101 at q_test = 2, 8 % of the zero predictor's (the same command with "
    "attend=tokens).",
    command="verify check wang2024.length_generalization T=200 T_test=200 q=3 q_test=2 d=5 d_e=170 "
    "attend=tokens_and_query",
    expect={
        "hypotheses.near_floor.holds": True,
        "hypotheses.same_subsets.holds": False,
        "clauses.loss.holds": False,
        "clauses.loss.evidence": "certified",
        # 50.44 ± 0.21 by 2·10⁵ sampled encodings at α = 612793/5000, C = 53/16, five standard errors; by 5/4.
        "values.loss_at_test_length": Enclosure(Fraction("50.23"), Fraction("50.65")),
        "values.share_of_answering_nothing": Enclosure(Fraction("40.18"), Fraction("40.52")),
    },
    rests_on=(
        TASK,
        ASSEMBLY,
        STOCHASTIC,
        FIGURES,
        ON_THE_SET,
        TWO_BLOCKS,
        Premise("one run of the figures' schedule, from seed 0, and 4000 sampled encodings at its end", "observed"),
        Premise("Figure 4, bottom: the loss at unseen subset sizes q_test converges", "printed"),
        Premise("that q_test = 2 is among the unseen sizes of Figure 4", "open"),
        MOMENTS,
    ),
)

CAPTION = Premise("Figure 1's caption: the loss converges to the global minimum of 0", "printed")
ENCLOSED = Premise(
    "the least of d/2 (α²R − 2αP/q + 1/q) over α and C, P and R enclosed (theorems.sparse_token_selection."
    "attention_gain)",
    "derived here",
)
NEAR_THE_SET = Premise(
    "that SGD from small random matrices ends near V = (αI, 0), W = diag(0, C·I): seen from the cosines in this run, "
    "not for all runs and sizes",
    "observed",
)

figure1_ends_at_the_least_loss = Finding(
    id="wang2024.figure1_ends_at_the_least_loss",
    paper=WANG2024,
    title="In a small run (T = 16, d_e = 32) Figure 1's loss plateaus at the attainable minimum, 42 % of the zero "
    "predictor's loss",
    weight=Weight.OBSERVED,
    summary="Figure 1's caption says that the loss converges to 0; in a small run of ours it plateaus at the least "
    "loss on the invariant set, as simulated.",
    text="At T = 16, q = 3, d = 2, d_e = 32, attending to [Z, z_query], no α and C have a loss below 0.139, where "
    "the zero predictor has 1/3: that much remains with encodings of this dimension. SGD with the annealed step, "
    "batch 256, reaches it within a few hundred steps, near that set, and stays there; so the inverse loss, which "
    "the caption says increases linearly, levels off. The path follows population gradient descent on α and C "
    "(wang2024.figure1_sgd_is_near_population_descent), which `--out` plots over the simulation.",
    command="verify simulate wang2024.figure1 steps=1200 late=600 readings=3 n_test=10000 --device cpu --seed 0",
    expect={
        # The mean of 10 000 losses whose standard deviation is their mean, 1 % of it, and some per cent for SGD.
        "measurements.loss_end.value": Enclosure(Fraction("0.135"), Fraction("0.152")),
        "measurements.loss_start.value": Enclosure(Fraction("0.32"), Fraction("0.35")),
        "measurements.cosine_W_end.value": Enclosure(Fraction("0.99"), Fraction(1)),
        "measurements.cosine_V_end.value": Enclosure(Fraction("0.99"), Fraction(1)),
        # `test_figures.py` finds the same by minimising the sampled loss over α and C.
        "theory.least_loss_on_the_set.lower.0": Enclosure(Fraction("0.138"), Fraction("0.14")),
        "theory.least_loss_on_the_set.upper.0": Enclosure(Fraction("0.139"), Fraction("0.141")),
    },
    rests_on=(TASK, STOCHASTIC, ASSEMBLY, CAPTION, ENCLOSED, NEAR_THE_SET),
)
