"""The premises that findings about Wang et al. 2024 share: the task, the layer, the encodings and the experiments."""

from verify import Premise

TASK = Premise("the task: X Gaussian, y a uniformly random q-subset of [T], target the mean of its tokens", "printed")
ASSEMBLY = Premise(
    "the layer put together from Definitions 2 to 5 as f(X, y) = V Z softmax(Zᵀ W z_query), "
    "z_query = (0; the sum of e_i over y), with the population loss ½ E‖f − target‖²",
    "our reading",
)
SETTINGS = Premise("the settings of the experiments: T = 200, q = 3, d = 5, η = 1", "printed")
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
MOMENTS = Premise(
    "the means P and R of the attention on the selected tokens and of its squares, enclosed by moments of the "
    "softmax's denominator, and the least loss over α and C that follows from them",
    "derived here",
)
