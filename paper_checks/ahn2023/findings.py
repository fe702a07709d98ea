"""What the checks found about Ahn et al. 2023.

Where the expected numbers are from: `test_findings.py` derives them a second time.
"""

from fractions import Fraction

from theorems.papers import AHN2023
from verify import Enclosure, Finding, Premise

SETTING = Premise("the prompts, the linear attention with its mask and 1/n, and the loss of section 2", "printed")
PATTERN = Premise("pattern (8): P_l = diag(0, 1), Q_l = −diag(A_l, 0)", "printed")
RISK = Premise("R(w) = (1/2n) Σ_i ⟨w − w*, x_i⟩², as in Lemma 1", "printed")
DATA = Premise("the data of Theorem 3: x ~ N(0, Σ), w* ~ N(0, Σ⁻¹)", "printed")
SET = Premise("the set S of Theorem 3: A_l = a_l Σ⁻¹", "printed")
MOMENTS = Premise("E tr S^k of a real Wishart matrix, exactly", "derived here")
FIGURE1 = Premise("Figure 1 and its text: L = 3, d = 5, n = 20, the loss converges “to an almost 0 value”", "printed")
FIGURE2 = Premise("Figure 2's printed matrices, each number rounded to two decimals", "printed")
RELU = Premise("the set-up of Theorem 5: one layer of ReLU attention, x_i ~ N(0, I), w* ~ N(0, I)", "printed")

RELU_LOSS = Premise(
    "the loss at any P and Q in closed form, by Gaussian moments (in the docstring of the theorem), held against "
    "losses on fresh prompts",
    "derived here",
)

lemma1_needs_the_transpose = Finding(
    id="ahn2023.lemma1_needs_the_transpose",
    paper=AHN2023,
    title="Lemma 1 holds with the transpose of A_l, and as printed for symmetric A_l only",
    text="Under pattern (8) a layer is the gradient step w' = w − A_lᵀ∇R(w), for every matrix A_l. The paper prints "
    "A_l, which is the same for symmetric matrices. For others it is false: at d = 2 and n = 2 there is a matrix at "
    "which the query's label after one layer is not that of w − A_l∇R(w). Theorems 1, 2 and 3 use symmetric "
    "matrices, so that they are not touched.",
    command="verify check ahn2023.lemma1 d=2 n=2 preconditioner=any",
    expect={
        "outcome": "out_of_scope",
        "hypotheses.symmetric.holds": False,
        "clauses.examples.holds": True,
        "clauses.query.holds": True,
        "clauses.query_as_printed.holds": False,
        "clauses.query_as_printed.evidence": "certified",
    },
    rests_on=(SETTING, PATTERN, RISK),
)

theorem3_is_attained = Finding(
    id="ahn2023.theorem3_is_attained",
    paper=AHN2023,
    title="Theorem 3's infimum is attained, at one point of S, where the loss is 0.134 and not almost 0",
    text="On S the loss is ∫ p² dμ with p(s) = ∏(1 − a_l s) and μ the expected spectrum of S = XXᵀ/n. It has one "
    "minimum, up to the order of the a_l: they are the inverse roots of the orthogonal polynomial of s dμ, which are "
    "real, positive and distinct. There the gradient in all A_l vanishes. At L = 3, d = 5, n = 20 the least loss is "
    "12138645/90852389 = 0.1336…, where the zero predictor has d = 5. Its natural logarithm is −2.01, which is where "
    "Figure 1's axis ends: the loss shown is consistent with that, and not with 0. No three step sizes do better.",
    command="verify check ahn2023.theorem3 L=3 d=5 n=20",
    expect={
        "outcome": "verified",
        "evidence": "certified",
        "values.attained": True,
        "values.minimum_loss": Fraction(12138645, 90852389),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS, FIGURE1),
)

figure2_is_theorem3s_point = Finding(
    id="ahn2023.figure2_is_theorem3s_point",
    paper=AHN2023,
    title="Theorem 3's exact point lies within the weights that Figure 2 prints",
    text="Figure 2 prints −0.69, −0.42 to −0.43 and −1.69 to −1.72 on the diagonals of Σ^½ A_l Σ^½ (sign as in Q), "
    "after training over all matrices A_l. The exact point at L = 3, d = 5, n = 20 is 0.42240853…, 0.68912608…, "
    "1.71421737…: each lies in the range printed, widened by half a unit of its last digit.",
    command="verify check ahn2023.theorem3 L=3 d=5 n=20",
    expect={
        # Half a unit in the second decimal around what is printed.
        "values.a.0": Enclosure(Fraction("0.415"), Fraction("0.435")),
        "values.a.1": Enclosure(Fraction("0.685"), Fraction("0.695")),
        "values.a.2": Enclosure(Fraction("1.685"), Fraction("1.725")),
    },
    rests_on=(SETTING, PATTERN, DATA, SET, MOMENTS, FIGURE2),
)

theorem5_last_row_is_needless = Finding(
    id="ahn2023.theorem5_last_row_is_needless",
    paper=AHN2023,
    title="Theorem 5 needs no hypothesis on the last row of Q: its minimiser is global over all P and Q",
    text="With any last row of Q the loss of a layer of ReLU attention exceeds d + tr M + κ‖M‖², where M = βA + b qᵀ, "
    "κ = (n − 1)/(4n) + (d + 2)/(2n), by a mean of squares and a sum of two squares. Its least value is Theorem 5's, "
    "d (1 − a/2) with a = 1/((n − 1)/(2n) + (d + 2)/n): at d = 5 and n = 20, 65/33 with a = 40/33.",
    command="verify check ahn2023.relu_any_last_row d=5 n=20",
    expect={
        "outcome": "verified",
        "evidence": "proved",
        "clauses.excess.holds": True,
        "clauses.squares.holds": True,
        "clauses.positive.holds": True,
        # 1/(19/40 + 7/20), and 5 (1 − 20/33).
        "values.a": Fraction(40, 33),
        "values.minimum_loss": Fraction(65, 33),
    },
    rests_on=(RELU, RELU_LOSS),
)
