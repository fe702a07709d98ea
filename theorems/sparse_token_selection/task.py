r"""The task, the encodings and the layer, as definitions.

Task. X = (x_1 … x_T), x_i ~ N(0, I_d) i.i.d.; y a uniformly random q-subset of [T];
the target is STS_q(X, y) = (1/q) Σ_{i∈y} x_i.

Layer (Definition 4; W merges the key and query matrices, V the value and output matrices). Tokens
z_i = (x_i; e_i), query z_query = (x_query; Σ_{i∈y} e_i) with x_query = 0_d, and

    f(X, y) = V Z softmax(Zᵀ W z_query),   W ∈ R^{(d+d_e)×(d+d_e)},  V ∈ R^{d×(d+d_e)}.

Population loss L = ½ E‖f(X, y) − STS_q(X, y)‖². This combination of the definitions is our reading
of the paper. One-hot encoding (Definition 2): d_e = T and e_i is the i-th unit vector.

The functions below take explicit sizes (small T, any entries). The theorems of this folder keep T and q symbolic.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import sympy as sp

from theorems import rules
from theorems.formal_texts import formal_text_of
from verify import Case, Hypothesis, Inference, Parameter

T, q, d, d_e = sp.symbols("T q d d_e", integer=True, positive=True)
eta, eps = sp.symbols("eta eps", positive=True)
attend = sp.Symbol("attend")
QUERY = Case(attend, 0, 1)
"""1 if the query's token is attended to, else 0."""

LENGTH = Parameter("T", "integer", "number of tokens", minimum=2)
SUBSET_SIZE = Parameter("q", "integer", "number of tokens that the query selects", minimum=1)
TOKEN_DIMENSION = Parameter("d", "integer", "dimension of a token", minimum=1)
STEP_SIZE = Parameter("eta", "rational", "step size of gradient descent", above=0)
ACCURACY = Parameter("eps", "rational", "population loss to be reached", above=0)
ENCODING_DIMENSION = Parameter("d_e", "integer", "dimension of an encoding", minimum=1)
ATTEND = Parameter(
    "attend",
    "word",
    "tokens attended to: Z, or [Z, z_query], with the query's own logit in the softmax",
    words=("tokens", "tokens_and_query"),
)
SUBSET_FITS = sp.Le(q, T)
TWO_SELECTED = Hypothesis("two_selected", sp.Ge(q, 2))

GAUSSIAN_TOKENS = Hypothesis("gaussian_tokens", text="x_i ~ N(0, I_d) i.i.d., y a uniformly random q-subset of [T]")
ONE_HOT = Hypothesis("one_hot", text="one-hot positional encoding: d_e = T, e_i the i-th unit vector")
ZERO_TOKEN = Hypothesis("zero_token", text="x_query = 0_d")
ZERO_QUERY = Hypothesis("zero_query", text="x_query = 0_d; the layer attends to Z, without the query")
SIGN_ENCODING = Hypothesis(
    "sign_encoding",
    text="stochastic encoding: e_1 … e_T with independent fair signs over sqrt(d_e) as entries, drawn afresh at every "
    "forward pass, independently of X and y",
)
SIGNS_ARE_SYMMETRIC = Inference(
    "signs_are_symmetric",
    "independent signs are bounded, and signed permutations of the coordinates preserve their law: Lemma 2 applies to "
    "such encodings",
    ("sign_encoding",),
    rules.SYMMETRY_OF_INDEPENDENT_ENTRIES,
)
"""The inference from independent signs to the hypotheses of Lemma 2."""
ON_THE_SET = Hypothesis("on_the_set", text="V = (alpha I, 0), W = diag(0, C I), C >= 0")
ZERO_INITIALISATION = Hypothesis("zero_initialisation", text="W(0) = 0 and V(0) = 0")
POPULATION_GRADIENT = Hypothesis("population_gradient", text="gradient descent on the population loss, W and V jointly")

ONE_HOT_RUN = (GAUSSIAN_TOKENS, ONE_HOT, ZERO_QUERY, ZERO_INITIALISATION, POPULATION_GRADIENT)
"""The hypotheses on the run of Theorem 1."""
ONE_HOT_RUN_LABELS = tuple(hypothesis.label for hypothesis in ONE_HOT_RUN)
SIGNS_ON_THE_SET = (GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_TOKEN, ON_THE_SET)
"""The hypotheses on a layer on the set of Lemma 2, with C ≥ 0 and independent signs as encodings."""


def one_hot(length: int) -> sp.Matrix:
    """Return the one-hot encodings e_1 … e_T as the columns of a T×T matrix."""
    return sp.eye(length)


def target(tokens: sp.Matrix, subset: Sequence[int]) -> sp.Matrix:
    """Return STS_q(X, y), d×1: the mean of the selected columns of X (d×T); `subset` counts from 0."""
    if not subset:
        raise ValueError("the subset is empty")
    return sum((tokens[:, i] for i in subset), sp.zeros(tokens.rows, 1)) / len(subset)  # pyright: ignore[reportOperatorIssue, reportReturnType]


def softmax(logits: Iterable[sp.Expr]) -> sp.Matrix:
    """Return the softmax of some logits as a column."""
    weights = sp.Matrix([sp.exp(logit) for logit in logits])
    return weights / sum(weights)  # pyright: ignore[reportCallIssue]


def layer(tokens: sp.Matrix, encodings: sp.Matrix, subset: Sequence[int], W: sp.Matrix, V: sp.Matrix) -> sp.Matrix:
    """Return f(X, y), d×1, for X d×T, encodings d_e×T, W (d+d_e)×(d+d_e), V d×(d+d_e). Raises ShapeError otherwise."""
    Z = tokens.col_join(encodings)
    query = sp.zeros(tokens.rows, 1).col_join(sum((encodings[:, i] for i in subset), sp.zeros(encodings.rows, 1)))
    return V * Z * softmax(Z.T * W * query)


formal = partial(formal_text_of, "SparseTokenSelection")
"""Function that returns the formal text of a claim on full matrices."""
NORMAL_MEAN = ("the normal law is a mean with the moments of independent standard normal entries up to degree 3",)
"""The sentence that formal texts on the population loss leave in prose."""
DESCENT_ON_MEANS = (*NORMAL_MEAN, "the gradient of the population loss is the mean of the gradients of the samples")
"""The sentences that formal texts on gradient descent leave in prose."""

MEAN_EXISTS = {"mean_exists": "layer.sign_tables.sign_tables_are_a_mean"}
RUNS_EXIST = {"run_exists": "layer.reduced_dynamics.lemma1_run_exists", **MEAN_EXISTS}
"""The propositions that a normal mean and a run exist, for the formal text of a claim about all means and runs."""
LOSS_ON_THE_SET = {"loss_on_the_set": "layer.reduced_dynamics.lemma1_loss_on_the_set", **MEAN_EXISTS}
"""The propositions on the population loss on the set as a function of α and C."""
