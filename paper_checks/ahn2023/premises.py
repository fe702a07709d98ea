"""The premises that findings about Ahn et al. 2023 share: prompts, patterns, figures and the authors' code."""

from verify import Premise

SETTING = Premise("the prompts, the linear attention with its mask and 1/n, and the loss of section 2", "printed")
PATTERN = Premise("pattern (8): P_l = diag(0, 1), Q_l = −diag(A_l, 0)", "printed")
RISK = Premise("R(w) = (1/2n) Σ_i ⟨w − w*, x_i⟩², as in Lemma 1", "printed")
DATA = Premise("the data of Theorem 3: x ~ N(0, Σ), w* ~ N(0, Σ⁻¹)", "printed")
STANDARD_PRIOR = Premise("the data of Theorem 1: x ~ N(0, Σ), w* ~ N(0, I)", "printed")
STANDARD_DATA = Premise("the data of Theorem 2: x ~ N(0, I), w* ~ N(0, I), A_0 and A_1 symmetric", "printed")
SET = Premise("the set S of Theorem 3: A_l = a_l Σ⁻¹", "printed")
WORDS = Premise("E of products of traces of words in A_0, A_1 and S, exactly", "derived here")
MOMENTS = Premise("E tr S^k of a real Wishart matrix, exactly", "derived here")
FIGURE1 = Premise("Figure 1 and its text: L = 3, d = 5, n = 20, the loss converges “to an almost 0 value”", "printed")
FIGURE2 = Premise("Figure 2's printed matrices, each number rounded to two decimals", "printed")
PATTERN11 = Premise("pattern (11): P_l = diag(B_l, 1), Q_l = −diag(A_l, 0)", "printed")
SET11 = Premise("the set S of Theorem 4: A_l = a_l Σ⁻¹, B_l = b_l I", "printed")
FIGURE3 = Premise(
    "Figure 3: the log loss falls below −6, a natural logarithm: the authors' notebook `rotation demonstration-Adam` "
    "prints losses near 0.0008 at most of its batches from step 4000 on",
    "printed",
)
FIGURES45 = Premise("Figures 4 and 5's printed matrices, each number rounded to two decimals; L = 3, d = 5", "printed")
BATCHES = Premise("batches of 20 000 prompts, drawn again every 100 steps", "printed")
TWENTY = Premise(
    "Figures 3 to 5 are taken at n = 20, as in the authors' code (github.com/chengxiang/LinearTransformer, `rotation "
    "demonstration-Adam`), where the text says n = 10",
    "printed",
)
ORIENTATION = Premise(
    "the authors' code (github.com/chengxiang/LinearTransformer, `linear_transformer.py`) computes Σ_j ⟨z_i, Q z_j⟩ P "
    "z_j: its Q is the transpose of the paper's",
    "printed",
)
COMPARED = Premise(
    "the comparison in the authors' code (github.com/chengxiang/LinearTransformer, `variable_N_exp`, "
    "`variable_L_exp`): gradient descent and least squares leave one of the n examples out, the steps of gradient "
    "descent are equal, the best of at most nine from 0.001 to 0.16 for the sum over the examples",
    "printed",
)
EQUAL_STEPS = Premise("the loss of equal preconditioned steps: E tr (I − aS)^{2L}, S of n − 1 examples", "derived here")
RELU = Premise("the set-up of Theorem 5: one layer of ReLU attention, x_i ~ N(0, I), w* ~ N(0, I)", "printed")
RELU_LOSS = Premise(
    "the loss at any P and Q in closed form, by Gaussian moments (steps of the theorem), compared with "
    "losses on fresh prompts",
    "derived here",
)
