r"""Lemma 2: with stochastic encoding, gradient descent from zero stays on V = (α I, 0), W = diag(0, C I).

*The law.* Let the joint law of (e_1 … e_T) be unchanged by e_i → g e_i, for every signed permutation g of the d_e
coordinates (the same g for all tokens). Independent signs, independent ± unit vectors, the uniform law on the sphere
and the Gaussian one are such laws. So are laws under which the tokens' encodings depend on each other, for example the
law of the columns of a random signed permutation matrix. Encodings are drawn anew at every pass, independently of X and
y, and their fourth moments are finite. With z the longest of the z_j, and V and W in a bounded set, a sample's gradient
is at most a constant times (1 + |z|)³ (1 + |z_query|), because shares are in [0, 1]. This bound is integrable, so the
gradient of the mean is the mean of the gradients. No exponential moment is needed.

*Symmetry.* As x_query = 0, the first d columns of W do not matter. For orthogonal h the population loss is unchanged
under V = (V₁, V₂) → (h V₁ hᵀ, h V₂ gᵀ) and W → (h W₁₂ gᵀ, g W₂₂ gᵀ), as X → hX, e → ge changes neither law. At a
common fixed point of these maps, the maps fix the gradient too:

- h = −1: V₂ and W₁₂ have gradient 0; all h: the gradient of V₁ is a multiple of I_d;
- g that flips the i-th sign: the entries (i, j) and (j, i) of W₂₂'s gradient are 0 for j ≠ i; g that exchanges i and
  j: the entries (i, i) and (j, j) are equal, so that the gradient of W₂₂ is a multiple of I_{d_e}.

The maps fix W = 0, V = 0, so population gradient descent from there stays where V₁ = α I, W₂₂ = C I and all else is 0.
(Nothing more follows from e → −e in all tokens and the query: the logits do not change.)

*The steps.* On the set f − STS = Σ_i r_i x_i with r_i = α p_i − 1{i ∈ y}/q, so that with P = E Σ_{i∈y} p_i and
R = E Σ_i p_i² as functions of C

    L = d/2 (α²R − 2αP/q + 1/q),
    α ← α − (η/d) ∂L/∂α = α − η (αR − P/q),
    C ← C − (η/d_e) ∂L/∂C = C − η d/(2 d_e) (α²R′ − 2αP′/q),

as the derivative along I_k is the trace of the gradient, k times its diagonal entry. The query's token, if attended to,
adds nothing to f: its value V z_query is 0.

*At an instance* the claims are evaluated by the gradient in all entries of W and V (`full_gradient`), at the point of
the set with the given α and C, for a named law with few enough draws of encodings to enumerate them. If the first sign
of each e_i is + (`law=first_plus`), the diagonal of W₂₂'s gradient is not constant: the hypothesis is needed. In
`paper_checks` larger sizes, and encodings on the sphere, are compared with sampled gradients.

Source: Wang et al. 2024, Lemma 2, [abs]: W's positional block moves along the identity. The proof is ours, and so is
the observation that it needs only this symmetry and these moments of the law.
"""

from dataclasses import replace
from functools import partial
from itertools import permutations

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.full_gradient import ALL_ONES, FIRST_PLUS, LAWS, ON_THE_SET, POSITIONAL_VALUES
from theorems.sparse_token_selection.gradient_primitives import (
    gradient_off_the_set,
    logit_slopes_less_means,
    loss_less_means,
    value_slopes_less_means,
)
from theorems.sparse_token_selection.task import (
    ATTEND,
    ENCODING_DIMENSION,
    GAUSSIAN_TOKENS,
    LENGTH,
    POPULATION_GRADIENT,
    QUERY,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_INITIALISATION,
    ZERO_TOKEN,
    T,
    d,
    d_e,
    q,
)
from verify import (
    Case,
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    MatrixIdentity,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    matrix,
)

alpha, C, P, R, P_slope, R_slope, share, slope, t = sp.symbols("alpha C P R P_slope R_slope share slope t", real=True)

LAW = Parameter(
    "law",
    "word",
    "law of the encodings: independent entries ±1/sqrt(d_e); independent ± unit vectors; signs, the first of each e_i "
    "being +; `any`: another law, assumed to be preserved by signed permutations; no claim is evaluated for it",
    words=(*LAWS, "any"),
)
VALUE_SCALE = Parameter("alpha", "rational", "V = (alpha I, 0) where claims are evaluated", default=sp.Integer(1))
LOGIT_SCALE = Parameter("C", "rational", "W = diag(0, C I) where claims are evaluated", default=sp.Integer(1))
_law = sp.Symbol("law")
NUMBER = Case(_law, 0, 1, 2, 3)
"""The index of the law in LAWS; `any` has the next index."""

STOCHASTIC_ENCODING = Hypothesis(
    "stochastic_encoding",
    text="e_1 … e_T are drawn afresh at every forward pass, independently of X and y; their fourth moments are finite",
)
SIGNED_PERMUTATIONS = Hypothesis(
    "signed_permutations",
    sp.Eq(Case(_law, 0, 0, 1, 0), 0, evaluate=False),
    text="signed permutations of the coordinates, the same for all tokens, preserve the joint law of e_1 … e_T: they "
    "do for law=signs and law=axes, and do not for law=first_plus; law=any supposes it, and nothing checks it",
    supposed_at=("law", "any"),
)

LOSS = d / 2 * (alpha**2 * R - 2 * alpha * P / q + 1 / q)
MOVED = LOSS.subs({P: P + P_slope * t, R: R + R_slope * t}, simultaneous=True)
SLOPE = sp.Subs(sp.Derivative(MOVED, t), t, 0)

SELECTED_PART = Step(
    "a selected token's term r_i² in Σ r_i², r_i = αp_i − 1/q; over y the last terms add up to 1/q",
    (alpha * share - 1 / q) ** 2,
    alpha**2 * share**2 - 2 * alpha * share / q + 1 / q**2,
)

POINT = (T, q, d, d_e, alpha, C, NUMBER)
KEPT = Inequality(
    "kept",
    sp.Eq(gradient_off_the_set(*POINT, ON_THE_SET, QUERY), 0),
    says="at V = (alpha I, 0), W = diag(0, C I) the gradient in all entries of V and W is a multiple of I in these two "
    "blocks, and 0 elsewhere",
)
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
SQUARE_OF_THE_RESIDUAL = Identity(
    "square_of_the_residual",
    SELECTED_PART.left,
    SELECTED_PART.right,
    says="(alpha p - 1/q)^2 = alpha^2 p^2 - 2 alpha p/q + 1/q^2",
)
OWN_NEGATIVE = Implication(
    "own_negative", (sp.Eq(slope, -slope),), sp.Eq(slope, 0), says="a number that is its own negative is 0"
)
_h, _g, _V1, _V2, _W1, _W2, _X, _E, _u = map(matrix, ("h", "g", "V_1", "V_2", "W_1", "W_2", "X", "E", "u"))
TURNED = MatrixIdentity(
    "turned",
    sp.transpose(_h)
    * ((_V1 * _h * _X + _V2 * _g * _E) * (sp.transpose(_h * _X) * _W1 + sp.transpose(_g * _E) * _W2) * _g * _u),
    (sp.transpose(_h) * _V1 * _h * _X + sp.transpose(_h) * _V2 * _g * _E)
    * (sp.transpose(_X) * (sp.transpose(_h) * _W1 * _g) + sp.transpose(_E) * (sp.transpose(_g) * _W2 * _g))
    * _u,
    {
        **dict.fromkeys((_h, _V1), (d, d)),
        **dict.fromkeys((_V2, _W1), (d, d_e)),
        **dict.fromkeys((_g, _W2), (d_e, d_e)),
        _X: (d, T),
        _E: (d_e, T),
        _u: (d_e, sp.S.One),
    },
    says="without softmax, h' times what the layer makes of tokens h X, encodings g E and the query's g u is what it "
    "makes of X, E and u with h'V_1 h, h'V_2 g, h'W_1 g and g'W_2 g, for any h and g",
)
LOSS_ON_THE_SET = Inequality(
    "loss_on_the_set",
    sp.Eq(loss_less_means(*POINT, QUERY, d / 2), 0),
    says="there the population loss is d/2 (alpha^2 R - 2 alpha P/q + 1/q), where P and R are the means of the sum of "
    "p_i over y and of the sum of all p_i^2",
)
STEPS = Inequality(
    "steps",
    sp.Eq(value_slopes_less_means(*POINT, QUERY, 1) + logit_slopes_less_means(*POINT, QUERY, d / (2 * d_e)), 0),
    says="there the gradient's diagonals are alpha R - P/q and d/(2 d_e) (alpha^2 R' - 2 alpha P'/q), P and R being "
    "functions of C: a step takes eta times these off alpha and C",
)
STATEMENT = Statement(
    parameters=(
        *(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, ATTEND, LAW),
        *(VALUE_SCALE, LOGIT_SCALE),
    ),
    domain=(SUBSET_FITS,),
    hypotheses=(
        *(GAUSSIAN_TOKENS, STOCHASTIC_ENCODING, SIGNED_PERMUTATIONS),
        *(ZERO_TOKEN, ZERO_INITIALISATION, POPULATION_GRADIENT),
    ),
    variables=(P, R, P_slope, R_slope, share, slope, t),
    claims=(KEPT, LOSS_ON_THE_SET, STEPS),
    steps=(TURNED, OWN_NEGATIVE, SQUARE_OF_THE_RESIDUAL, VALUE_STEP, SCALE_STEP),
)
ARGUMENT = (
    Inference(
        "slope_of_the_mean",
        "a sample's gradient is of degree at most 4 in X and the encodings, with coefficients that are bounded because "
        "shares are in [0, 1]: the loss has a gradient, the mean of the samples' gradients",
        ("gaussian_tokens", "stochastic_encoding"),
        rules.DIFFERENTIATION_UNDER_THE_MEAN,
    ),
    Inference(
        "unchanged",
        "for orthogonal h and signed permutations g, X → hX and e → ge, with V₁ → hV₁h', V₂ → hV₂g', W₁₂ → hW₁₂g' and "
        "W₂₂ → gW₂₂g', keep all logits, and multiply f (`turned`) and the target by h: this preserves lengths and "
        "laws, and so the loss",
        ("gaussian_tokens", "stochastic_encoding", "signed_permutations", "zero_token", "turned"),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "fixed",
        "all of these maps fix each point of the set, and so they fix the gradient there",
        ("unchanged", "slope_of_the_mean"),
        rules.SYMMETRIC_CRITICALITY,
    ),
    Inference(
        "query_columns",
        "in W z_query the first d columns of W are multiplied by x_query = 0: the loss does not depend on them, and "
        "its gradient is 0 there",
        ("zero_token",),
        "definition",
    ),
    Inference(
        "off_diagonal_blocks",
        "h = −1 turns V's positional block and W's (token, positional) block into their negatives. It fixes the "
        "gradient, which therefore is 0 in these blocks",
        ("fixed", "own_negative"),
        "application",
    ),
    Inference(
        "multiples",
        "the gradients in V's token block and in W's positional block commute with all h and with all g, so that "
        "they are multiples of I",
        ("fixed",),
        rules.SCHUR_LEMMA,
    ),
    Inference(
        "kept",
        "these are all blocks of V and W: in V's token block and W's positional block the gradient is a multiple of I, "
        "in the others it is 0",
        ("query_columns", "off_diagonal_blocks", "multiples"),
        "case distinction",
    ),
    Inference(
        "stays",
        "zero is in the set, and a step from a point of the set along such a gradient ends in the set: gradient "
        "descent from zero stays there",
        ("kept", "zero_initialisation", "population_gradient"),
        "induction",
    ),
    Inference(
        "for_an_encoding",
        "on the set f − STS is the sum of (α p_i − [i ∈ y]/q) x_i, because the query's token has the value 0: the mean "
        "over X of half its square is d/2 times the sum of the squares of these factors",
        ("gaussian_tokens", "stochastic_encoding", "zero_token"),
        "independent factors",
    ),
    Inference(
        "loss_on_the_set",
        "a factor's square is α²p_i² for i ∉ y, and α²p_i² − 2αp_i/q + 1/q² for the q tokens of y: the mean over y and "
        "the encodings of d/2 times their sum is L = d/2 (α²R − 2αP/q + 1/q)",
        ("for_an_encoding", "square_of_the_residual"),
        "linearity of expectation",
    ),
    Inference(
        "slopes",
        "L's slope in α is the trace of the gradient in V's token block, and L's slope in C is its trace in W's "
        "positional block: the diagonal entries are 1/d and 1/d_e times these slopes",
        ("loss_on_the_set", "multiples"),
        rules.CHAIN_RULE,
    ),
    Inference(
        "steps",
        "a step subtracts η times the gradient from V and W, and on the set this changes α and C alone",
        ("slopes", "value_step", "scale_step", "population_gradient", "stays"),
        "definition",
    ),
)


def mean_entry(matrix: sp.Matrix, i: int, j: int) -> sp.Expr:
    """Return the (i, j) entry of the mean of g M gᵀ over the signed permutations g, for a square M, unevaluated.

    For one g the entry is s_i s_j M[σ(i), σ(j)], with signs s and a permutation σ. Raises ShapeError if M is not
    square.
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
    """Return the steps: the part of a matrix that the symmetry leaves, a term of the loss, and a share's slope."""
    steps = []
    for n in (2, 3):
        entries = sp.Matrix(n, n, sp.symbols(f"m_1:{n + 1}_1:{n + 1}"))
        steps += [
            Step(
                f"d_e = {n}: off the diagonal the mean of g M gᵀ over the signed permutations is 0",
                mean_entry(entries, 0, 1),
                sp.Integer(0),
            ),
            Step(f"d_e = {n}: on the diagonal, tr M / {n}", mean_entry(entries, 0, 0), entries.trace() / n),
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
    title="Stochastic encoding of any law that signed permutations preserve: gradient descent from zero stays on "
    "V = (αI, 0), W = diag(0, CI)",
    source=Source("Lemma 2", "derived here", WANG2024, "the printed statement is not known to us in full"),
    statement=STATEMENT,
    example={"T": 3, "q": 2, "d": 1, "d_e": 2},
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
        _canary(
            "signs with first entry + in each encoding, which signed permutations do not preserve",
            replace(KEPT, relation=sp.Eq(gradient_off_the_set(*POINT[:-1], FIRST_PLUS, ON_THE_SET, QUERY), 0)),
        ),
        _canary(
            "from W = diag(0, C 11ᵀ), too, the gradient is along the identity blocks",
            replace(KEPT, relation=sp.Eq(gradient_off_the_set(*POINT, ALL_ONES, QUERY), 0)),
        ),
        _canary(
            "from a V whose positional block is not 0, too",
            replace(KEPT, relation=sp.Eq(gradient_off_the_set(*POINT, POSITIONAL_VALUES, QUERY), 0)),
        ),
        _canary("a loss without 1/2", replace(LOSS_ON_THE_SET, relation=sp.Eq(loss_less_means(*POINT, QUERY, d), 0))),
        _canary(
            "a step in C along the trace, and not the diagonal",
            replace(STEPS, relation=sp.Eq(logit_slopes_less_means(*POINT, QUERY, d / 2), 0)),
        ),
        _canary("a sign", replace(SCALE_STEP, right=d / (2 * d_e) * (alpha**2 * R_slope + 2 * alpha * P_slope / q))),
    ),
    argument=ARGUMENT,
)
