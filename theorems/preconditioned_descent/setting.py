r"""The data, the layer and the loss, as definitions.

Prompts. x^(1) … x^(n+1) ∈ R^d i.i.d., w* a random vector, y^(i) = ⟨x^(i), w*⟩, and

    Z_0 = [[x^(1) … x^(n), x^(n+1)], [y^(1) … y^(n), 0]] ∈ R^{(d+1)×(n+1)}.

Layers. Attn_{P,Q}(Z) = P Z M (Zᵀ Q Z) with M = diag(I_n, 0), and Z_{l+1} = Z_l + (1/n) Attn_{P_l,Q_l}(Z_l);
TF_L(Z_0) = −[Z_L]_{d+1,n+1}, and the loss is f = E (TF_L(Z_0) − ⟨w*, x^(n+1)⟩)². With ReLU attention,
Attn_{P,Q}(Z) = P Z M σ(Zᵀ Q Z). Patterns of the parameters: (8) P = diag(0, 1), Q = −diag(A, 0);
(11) P = diag(B, 1), Q = −diag(A, 0).

The mask M lets a column see only the first n columns. So with X, Y the tokens and labels of the examples and z any
column, a layer is

    z ↦ z + (1/n) P (X; Y) (X; Y)ᵀ Q z.

In blocks, P = [[B, b], [pᵀ, β]], Q = [[A, s], [uᵀ, τ]] and z = (x; y). S stands for X Xᵀ/n.

Source: Ahn et al. 2023, section 2.
"""

from functools import partial

import sympy as sp

from theorems.formal_texts import formal_text_of
from verify import Hypothesis, Parameter, matrix

d, n, L = sp.symbols("d n L", integer=True, positive=True)
r = sp.Symbol("r", positive=True)
"""The factor of a layer, 1/n in the definition; another factor only rescales Q."""

DIMENSION = Parameter("d", "integer", "dimension of a token", minimum=1)
EXAMPLES = Parameter("n", "integer", "number of examples in the prompt", minimum=1)
LAYERS = Parameter("L", "integer", "number of layers", minimum=1)

LINEAR_ATTENTION = Hypothesis("linear_attention", text="attention P Z M (Z' Q Z), without softmax")
PATTERN = Hypothesis("pattern", text="P_l = diag(0, 1) and Q_l = -diag(A_l, 0)")
GAUSSIAN_TOKENS = Hypothesis("gaussian_tokens", text="x_i ~ N(0, Sigma) i.i.d., Sigma of full rank")

t = sp.transpose
X, Y, x, y, w = map(matrix, ("X", "Y", "x", "y", "w"))
"""Tokens (d×n) and labels (1×n) of the examples, token (d×1) and label (1×1) of a column, w* (d×1)."""
A, B, b, p, s, u = map(matrix, ("A", "B", "b", "p", "s", "u"))
R, C, K = map(matrix, ("R", "C", "K"))
"""Σ = R Rᵀ; tokens are R x̃ with x̃ of covariance I, and B = R C; labels are w*ᵀ R K x̃, where each layer changes K."""
beta, tau = sp.symbols("beta tau", real=True)
"""The lower right entries β of P and τ of Q."""
SHAPES = {X: (d, n), Y: (sp.S.One, n), x: (d, sp.S.One), y: (sp.S.One, sp.S.One), w: (d, sp.S.One)}
BLOCKS = {A: (d, d), B: (d, d)} | dict.fromkeys((b, p, s, u), (d, sp.S.One))


def seen(token: sp.Expr, label: sp.Expr, last: sp.Expr = s, corner: sp.Expr = tau) -> sp.Expr:
    """Return (X; Y)ᵀ Q z, n×1, for a column z = (token; label); the last column of Q is (last; corner)."""
    return t(X) * (A * token + last * label) + t(Y) * (t(u) * token + corner * label)


def column_after(token: sp.Expr, label: sp.Expr, last: sp.Expr = s, corner: sp.Expr = tau) -> tuple[sp.Expr, sp.Expr]:
    """Return the token (d×1) and the label (1×1) of a column after a layer; arguments as for `seen`."""
    attended = r * seen(token, label, last, corner)
    return token + (B * X + b * Y) * attended, label + (t(p) * X + beta * Y) * attended


def label_after(labels: sp.Expr, label: sp.Expr, token: sp.Expr, preconditioner: sp.Expr) -> sp.Expr:
    """Return a label, or a row of labels, after a layer of pattern (8); `labels` are the examples' labels, 1×n."""
    return label - r * labels * t(X) * preconditioner * token


S = X * t(X) / n
STAR, QUERY = matrix("w_star"), matrix("x_query")
ERROR = sp.Symbol("error", real=True)
LETTERS = {X: (d, n), STAR: (d, sp.S.One), QUERY: (d, sp.S.One)}
NORMAL = dict.fromkeys(LETTERS)
"""The laws of the examples' tokens, w* and the query's token; None means independent standard normal entries."""


def left_of(middle: sp.Expr) -> sp.Expr:
    """Return w*ᵀ M x, where M = `middle` is a polynomial in matrices."""
    return t(STAR) * middle * QUERY


NORMAL_MEAN = (
    "the normal law is a mean with the moments of independent standard normal entries, up to the exponent 4 of each",
    "every Sigma of full rank is U diag(lambda) U' = C C', and C g is N(0, Sigma) for a standard normal g",
)
EQUAL_MEANS = ("the mean under a law gives equal functions equal means",)

formal = partial(formal_text_of, "PreconditionedDescent")
"""Function that returns the formal text of a claim of this area."""
