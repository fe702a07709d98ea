r"""Lemma 2: with stochastic encoding, gradient descent from zero stays on V = (α I, 0), W = diag(0, C I).

*Symmetry.* Let the joint law of (e_1 … e_T) be unchanged by e_i → g e_i, for every signed permutation g of the d_e
coordinates; i.i.d. signs and the uniform law on the sphere are such laws. As x_query = 0 the first d columns of W
do not matter. For orthogonal h the population loss is unchanged under V = (V₁, V₂) → (h V₁ hᵀ, h V₂ gᵀ) and
W → (h W₁₂ gᵀ, g W₂₂ gᵀ), as X → hX, e → ge changes neither law. Its gradient at a fixed point of all these is
fixed by them too:

- h = −1: V₂ and W₁₂ have gradient 0; all h: that of V₁ is a multiple of I_d;
- g that flips the i-th sign: the entries (i, j) and (j, i) of W₂₂'s gradient are 0 for j ≠ i; g that exchanges i and
  j: the entries (i, i) and (j, j) are equal: it is a multiple of I_{d_e}.

W = 0, V = 0 is fixed by them, so population gradient descent from there stays where V₁ = α I, W₂₂ = C I and all else is
0. (By e → −e in all tokens and the query alike nothing more follows: the logits do not change.)

*The steps.* On the set f − STS = Σ_i r_i x_i with r_i = α p_i − 1{i ∈ y}/q, so that with P = E Σ_{i∈y} p_i and
R = E Σ_i p_i² as functions of C

    L = d/2 (α²R − 2αP/q + 1/q),
    α ← α − (η/d) ∂L/∂α = α − η (αR − P/q),
    C ← C − (η/d_e) ∂L/∂C = C − η d/(2 d_e) (α²R′ − 2αP′/q),

as the derivative along a multiple of I_k is the trace of the gradient, k times its diagonal. For V the query's token
changes nothing: its value is 0.

The mean over the signed permutations is a step of the derivation at d_e = 2 and 3; that the set is kept is held against
sampled gradients of the whole matrices.

Source: Wang et al. 2024, Lemma 2, [abs]: W's positional block moves along the identity. The proof is ours.
"""

from dataclasses import replace
from functools import partial
from itertools import permutations

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.task import (
    ENCODING_DIMENSION,
    GAUSSIAN_TOKENS,
    LENGTH,
    POPULATION_GRADIENT,
    SIGN_ENCODING,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_INITIALISATION,
    d,
    d_e,
    q,
)
from verify import Derivation, Hypothesis, Identity, Inference, InWords, Source, Statement, Step, Theorem

alpha, P, R, P_slope, R_slope, share, t = sp.symbols("alpha P R P_slope R_slope share t", real=True)

ZERO_TOKEN = Hypothesis("zero_token", text="x_query = 0_d; the layer attends to Z or to [Z, z_query]")

LOSS = d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q)
MOVED = LOSS.subs({P: P + P_slope * t, R: R + R_slope * t}, simultaneous=True)
SLOPE = sp.Subs(sp.Derivative(MOVED, t), t, 0)

SELECTED_PART = Step(
    "a selected token's part of d/2 Σ r_i², r_i = αp_i − 1/q; over y the last terms add up to 1/q",
    (alpha * share - 1 / q) ** 2,
    alpha**2 * share**2 - 2 * alpha * share / q + 1 / q**2,
)

KEPT = InWords("kept", "gradient descent from zero stays where V = (alpha I, 0) and W = diag(0, C I)")
VALUE_STEP = Identity(
    "value_step",
    sp.Derivative(LOSS, alpha) / d,
    alpha * R - P / q,
    says="(1/d) dL/dalpha = alpha R - P/q for L = d/2 (alpha^2 R - 2 alpha P/q + 1/q)",
)
SCALE_STEP = Identity(
    "scale_step",
    SLOPE / d_e,
    d / (2 * d_e) * (alpha**2 * R_slope - 2 * alpha * P_slope / q),
    says="(1/d_e) dL/dC = d/(2 d_e) (alpha^2 R' - 2 alpha P'/q)",
)
LOSS_ON_THE_SET = InWords(
    "loss_on_the_set",
    "there the population loss is d/2 (alpha^2 R - 2 alpha P/q + 1/q), where P and R are the means of the sum of p_i "
    "over y and of the sum of all p_i^2",
)
STEPS = InWords(
    "steps",
    "a step takes alpha to alpha - eta (alpha R - P/q) and C to C - eta d/(2 d_e) (alpha^2 R' - 2 alpha P'/q), P and "
    "R being functions of C",
)
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION),
    domain=(SUBSET_FITS,),
    hypotheses=(GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_TOKEN, ZERO_INITIALISATION, POPULATION_GRADIENT),
    variables=(alpha, P, R, P_slope, R_slope, t),
    claims=(KEPT, LOSS_ON_THE_SET, STEPS),
    steps=(VALUE_STEP, SCALE_STEP),
)
ARGUMENT = (
    Inference(
        "unchanged",
        "X → hX, e → ge and the same in V and W, for orthogonal h and signed permutations g, preserve the loss",
        ("gaussian_tokens", "sign_encoding", "zero_token"),
        "invariance of the law",
    ),
    Inference(
        "fixed",
        "all of these fix each point of the set, and so the gradient there",
        ("unchanged",),
        "symmetric criticality",
    ),
    Inference(
        "query_columns",
        "x_query = 0 multiplies the first d columns of W, so that the gradient is 0 there",
        ("zero_token",),
        "substitution",
    ),
    Inference(
        "off_diagonal_blocks",
        "h = −1 turns V's positional block and W's (token, positional) block into their negatives, so that the "
        "gradient is 0 there",
        ("fixed",),
        "substitution",
    ),
    Inference(
        "multiples",
        "the gradients in V's token block and in W's positional block commute with all h and with all g, so that "
        "they are multiples of I",
        ("fixed",),
        "Schur's lemma",
    ),
    Inference(
        "kept",
        "zero is in the set, and a step from a point of the set along a gradient of the set's form stays in it",
        ("query_columns", "off_diagonal_blocks", "multiples", "zero_initialisation", "population_gradient"),
        "induction",
    ),
    Inference(
        "loss_on_the_set",
        "on the set f − STS is the sum of (α p_i − [i ∈ y]/q) x_i, the query's token having the value 0: the mean over "
        "the tokens of half its square is d/2 times the sum of the squares of these factors, and over y and the "
        "encodings L = d/2 (α²R − 2αP/q + 1/q), the sums over the T tokens",
        ("gaussian_tokens", "sign_encoding", "zero_token"),
        "independent factors",
    ),
    Inference(
        "slopes",
        "its slope in α or C is the trace of the gradient in that block, d times or d_e times the diagonal",
        ("loss_on_the_set", "multiples"),
        "substitution",
    ),
    Inference(
        "steps",
        "so the steps of α and of C are η times these slopes, divided by d and by d_e",
        ("slopes", "value_step", "scale_step", "population_gradient"),
        "substitution",
    ),
)


def mean_entry(matrix: sp.Matrix, i: int, j: int) -> sp.Expr:
    """Return, written out, the (i, j) entry of the mean of g M gᵀ over the signed permutations g, M square.

    That of one g is s_i s_j M[σ(i), σ(j)], for signs s and a permutation σ. Raises ShapeError for M that is not square.
    """
    if matrix.rows != matrix.cols:
        raise sp.matrices.exceptions.ShapeError(f"{matrix.shape}: the matrix must be square")
    orders = list(permutations(range(matrix.rows)))
    found = sum(matrix[order[i], order[j]] for order in orders) / sp.Integer(len(orders))  # pyright: ignore[reportCallIssue]
    signs = [sp.Symbol(f"s_{k}", real=True) for k in (i, j)]
    found = found * signs[0] * signs[1]
    for sign in dict.fromkeys(signs):
        found = (sp.Subs(found, sign, 1) + sp.Subs(found, sign, -1)) / 2
    return found


def derivation() -> Derivation:
    """Return the steps: what the symmetry leaves of a gradient at d_e = 2 and 3, the loss and its slopes."""
    steps = []
    for n in (2, 3):
        entries = sp.Matrix(n, n, sp.symbols(f"m_1:{n + 1}_1:{n + 1}"))
        steps += [
            Step(
                f"d_e = {n}: off the diagonal the mean of g M gᵀ over the signed permutations is 0",
                mean_entry(entries, 0, 1),
                sp.Integer(0),
            ),
            Step(f"d_e = {n}: on it, it is tr M / {n}", mean_entry(entries, 0, 0), entries.trace() / n),
        ]
    v, C = sp.symbols("v_1:4", real=True), sp.Symbol("C", real=True)
    weights = [sp.exp(C * x) for x in v]
    p = [weight / sum(weights) for weight in weights]
    centre = sum(share * x for share, x in zip(p, v, strict=True))
    return Derivation(
        (
            *steps,
            SELECTED_PART,
            Step(
                "a share's slope in C, here of three tokens, is p_1 (v_1 − v̄)",
                sp.Derivative(p[0], C),
                p[0] * (v[0] - centre),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


lemma2 = Theorem(
    id="wang2024.lemma2",
    title="Stochastic encoding: gradient descent from zero stays on V = (αI, 0), W = diag(0, CI), and its steps",
    source=Source("Lemma 2", "derived here", WANG2024, "the printed statement is not known to us in full"),
    statement=STATEMENT,
    example={"T": 200, "q": 3, "d": 5, "d_e": 170},
    derivation=derivation,
    canaries=(
        _canary(
            "the identity block replaced by the all-ones matrix, whose square norm is d_e^2",
            replace(SCALE_STEP, left=SLOPE / d_e**2),
        ),
        _canary(
            "the trace for the diagonal",
            replace(SCALE_STEP, right=d / 2 * (alpha**2 * R_slope - 2 * alpha * P_slope / q)),
        ),
        _canary("2 forgotten", replace(VALUE_STEP, right=alpha * R - P / (2 * q))),
        _canary("a sign", replace(SCALE_STEP, right=d / (2 * d_e) * (alpha**2 * R_slope + 2 * alpha * P_slope / q))),
    ),
    argument=ARGUMENT,
)
