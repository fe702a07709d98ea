r"""Theorem 2: two layers of pattern (8) at Σ = Ψ = I, A_0 and A_1 symmetric: all minimisers are multiples of I.

With A = A_0, B = A_1 the loss is f(A, B) = E tr M Mᵀ, M = (I − B S)(I − A S), a sum of products of traces of words in A
and B for all d and n (`two_layer_loss`).

*Diagonal.* A rotation of A and B together does not change f. So let A be diagonal, with entries x_i, and B = D + O with
D diagonal and O with a zero diagonal. Then f(A, D + O) = f(A, D) + Σ_{i<j} (k(x_i) + k(x_j)) o_ij² with

    k(x) = p_1 (x + l_1 v + l_2)² + p_2 (v + l_3)² + p_3 + p_4 (w − (d − 1) v²),    p_1, p_3, p_4 > 0, p_2 ≥ 0,

where v is the mean of the other x_j and w the sum of their squares, at least (d − 1) v².

So k > 0: replacing B = D + O by D lowers f unless O = 0.

*Multiples of I.* For diagonal A and B, f exceeds its least value f* over multiples of I by a sum of squares with
positive factors, which is 0 only at the best multiples of I (`two_layer_squares`). So f(A, D + O) ≥ f(A, D) ≥ f*: the
least f over all symmetric A and B is f*, and *every* minimiser is a pair of multiples of I, the two steps of Theorem 3
in either order.

The clauses state f's terms in O in traces, for every d. The derivation computes these terms in all entries at d = 2
and 3, and the squares at d = 2.

Source: Ahn et al. 2023, Theorem 2; that all minimisers are multiples of I, and which, is derived here.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.closed_forms import values_of
from theorems.papers import AHN2023
from theorems.preconditioned_descent.multiples_of_the_inverse import k as index
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    LETTERS,
    LINEAR_ATTENTION,
    PATTERN,
    X,
    d,
    n,
    r,
    t,
)
from theorems.preconditioned_descent.trials.two_layers import least_over_symmetric
from theorems.preconditioned_descent.two_layer_loss import (
    LEFT_OF_W,
    LOSS,
    O0,
    O1,
    O2,
    SIZES,
    SQUARES,
    TRACES,
    WITH_O,
    WORDS,
    A,
    B,
    alpha,
    beta,
    gamma,
    in_traces,
    k,
    t1,
    t2,
    v,
    w,
    x,
)
from theorems.preconditioned_descent.two_layer_minimum import LARGE, LEAST, SMALL, TOTAL
from theorems.preconditioned_descent.two_layer_squares import (
    ALPHA,
    BETA,
    DELTA,
    DEVIATIONS,
    FORM,
    G,
    R,
    a,
    at_diagonal,
    b,
    excess,
    in_deviations,
    minors,
)
from theorems.stored_forms import Forms, stored
from theorems.wishart.trace_moments import trace_moment, wishart_trace_moment
from verify import (
    ClauseValue,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    LeastResidual,
    MatrixIdentity,
    Source,
    Statement,
    Step,
    Theorem,
    matrix,
)

TWO_LAYERS = Hypothesis("two_layers", text="L = 2")
SYMMETRIC = Hypothesis("symmetric", text="A_0 and A_1 are symmetric")
STANDARD = Hypothesis("standard", text="x_i ~ N(0, I) i.i.d., w* ~ N(0, I)")

D, off = map(matrix, ("D", "O"))
x_j, o = sp.symbols("x_j o", real=True)
parts = p1, p2, p3, p4 = sp.symbols("q_1:5", real=True)
along_x, along_v = sp.symbols("along_x along_v", real=True)
y_i, z_i, y_j, z_j, q_i, total = sp.symbols("y_i z_i y_j z_j q_i s", real=True)
_U = matrix("U")
_S, _turned_S = r * X * t(X), r * _U * X * t(X) * t(_U)
TURNED = MatrixIdentity(
    "turned_layers",
    (1 - _turned_S * A) * (1 - _turned_S * B) * _U,
    _U * (1 - _S * t(_U) * A * _U) * (1 - _S * t(_U) * B * _U),
    {X: LETTERS[X]} | dict.fromkeys((_U, A, B), (d, d)),
    says="(I - USU'A)(I - USU'B) U = U (I - S U'AU)(I - S U'BU), S = XX'/n, for any U: the error for w*, A, B and the "
    "tokens U X and U x is the error for U'w*, U'AU, U'BU and the tokens X and x",
)
EXPANDED = MatrixIdentity(
    "expanded",
    (D + off) * (D + off),
    D * D + D * off + off * D + off * off,
    dict.fromkeys((D, off), (d, d)),
    says="(D + O)^2 = D^2 + D O + O D + O^2",
)
PAIR_OF_ENTRIES = Identity(
    "pair_of_entries",
    alpha * 2 * o**2 + beta * (x + x_j) * o**2 + gamma * (x**2 + x_j**2) * o**2,
    (k + k.subs(x, x_j)) * o**2,
    "alpha 2 o^2 + beta (x_i + x_j) o^2 + gamma (x_i^2 + x_j^2) o^2 = (k(x_i) + k(x_j)) o^2",
)
K_POSITIVE = Implication(
    "k_positive",
    (sp.Gt(p1, 0), sp.Ge(p2, 0), sp.Gt(p3, 0), sp.Gt(p4, 0), sp.Ge(w, (d - 1) * v**2)),
    sp.Gt(p1 * along_x**2 + p2 * along_v**2 + p3 + p4 * (w - (d - 1) * v**2), 0),
    "p_1 (...)^2 + p_2 (...)^2 + p_3 + p_4 (w - (d-1) v^2) > 0 where p_1, p_3, p_4 > 0, p_2 >= 0 and w >= (d-1) v^2",
)
mean_square, mean, square = sp.symbols("mean_square mean square", real=True)
SPREAD = Implication(
    "sum_of_squares",
    (sp.Ge(mean_square, v**2),),
    sp.Ge((d - 1) * mean_square, (d - 1) * v**2),
    "(d-1) m >= (d-1) v^2 where m >= v^2",
)
OFF_DIAGONAL = Identity(
    "off_diagonal",
    in_traces({**TRACES, **{word: TRACES[word] + o for word, o in WITH_O.items()}}) - in_traces(TRACES),
    alpha * O0 + beta * O1 + gamma * O2,
    "f(A, D + O) - f(A, D) = alpha tr O^2 + beta tr A O^2 + gamma tr A^2 O^2 for A, D diagonal, O with diagonal 0",
)


def _in_entries(size: int) -> Step:
    """Return a step of the derivation: `off_diagonal` written in all entries, at a dimension."""
    entries = {(i, j): sp.Symbol(f"o_{i}{j}", real=True) for i in range(size) for j in range(i)}
    a, b = (sp.symbols(f"{letter}_0:{size}", real=True) for letter in "xy")
    off = sp.Matrix(size, size, lambda i, j: 0 if i == j else entries[max(i, j), min(i, j)])

    def loss(A: sp.Matrix, B: sp.Matrix) -> sp.Expr:
        letters = {"A": A, "B": B}
        return in_traces({word: sp.prod(letters[x] for x in word).trace() for word in WORDS}).subs(d, size)  # pyright: ignore[reportAttributeAccessIssue, reportReturnType]

    A, D = sp.diag(*a), sp.diag(*b)
    at = {t1: A.trace(), t2: (A * A).trace(), d: sp.Integer(size)}
    pairs = ((k.subs({**at, x: a[i]}) + k.subs({**at, x: a[j]})) * o**2 for (i, j), o in entries.items())
    says = f"d = {size}, in entries: f(A, D + O) = f(A, D) + the sum of (k(x_i) + k(x_j)) o_ij² over i < j"
    return Step(says, loss(A, D + off), loss(A, D) + sum(pairs))


COMPLETED = Identity(
    "squares",
    k.subs({t1: x + (d - 1) * v, t2: x**2 + w}),
    SQUARES,
    "k(x) = p_1 (x + l_1 v + l_2)^2 + p_2 (v + l_3)^2 + p_3 + p_4 (w - (d - 1) v^2)",
)
POSITIVE = tuple(
    Inequality(
        name, (sp.Ge if name == "p_2" else sp.Gt)(size, 0, evaluate=False), f"{name} {'>=' if name == 'p_2' else '>'} 0"
    )
    for name, size in SIZES.items()
)
MULTIPLES = LeastResidual(
    "multiples",
    factors=sp.Integer(2),
    moment=wishart_trace_moment(index, n, d),
    index=index,
    says="over A_l = a_l I, f is least where the a_l are the inverse roots of the polynomial of degree 2 that is "
    "orthogonal to s and s^2 in the mean of tr S^k",
)

EXCESS = Identity(
    "excess",
    at_diagonal(),
    LEAST + in_deviations(),
    "for A = a I + diag(y_i), B = b I + diag(z_i), the y_i and the z_i of sum 0, f(A, B) = f* + u'G u + the sum of "
    "c_i'R c_i + mu (b y_i + (delta/mu) a z_i)^2 + nu (y_i - z_i)^2 over i and of (mu/d) (y_i z_j - y_j z_i)^2 over "
    "i < j; u = (a + b - sigma, a b - pi, sum y_j z_j/d), q_i = y_i z_i - sum y_j z_j/d, c_i = (b y_i + q_i, y_i + "
    "z_i, a z_i), delta = 4/n^2",
)


def derived_forms() -> Forms:
    """Return the leading minors of G and of R."""
    both = (("g", G), ("r", R))
    return {f"{name}_{size}": minor for name, matrix in both for size, minor in enumerate(minors(matrix), 1)}


FORMS = stored(derived_forms, d, n)
DEFINITE = tuple(
    Inequality(
        f"{name}_{size}",
        sp.Gt(FORMS[f"{name}_{size}"], 0, evaluate=False),
        f"{name.upper()}'s leading minor of size {size} is > 0",
    )
    for name in ("g", "r")
    for size in (1, 2, 3)
)
FACTORS = tuple(
    Inequality(name, sp.Gt(value, 0, evaluate=False), f"{name} > 0") for name, value in (("mu", ALPHA), ("nu", BETA))
)


def _determinant(matrix: sp.Matrix, size: int) -> sp.Expr:
    """Return the leading minor of size 1, 2 or 3 of a 3×3 matrix, expanded along its first row."""
    rows: list[list[sp.Expr]] = matrix.tolist()
    first, second, third = rows
    minor = lambda i, j: second[i] * third[j] - second[j] * third[i]  # noqa: E731
    if size == 1:
        return first[0]
    if size == 2:
        return first[0] * second[1] - first[1] * second[0]
    return first[0] * minor(1, 2) - first[1] * minor(0, 2) + first[2] * minor(0, 1)


MINORS = tuple(
    Identity(
        f"minor_{name}_{size}",
        _determinant(matrix, size),
        FORMS[f"{name}_{size}"],
        f"{name.upper()}'s leading minor of size {size} as a rational function of d and n",
    )
    for name, matrix in (("g", G), ("r", R))
    for size in (1, 2, 3)
    if (name, size) != ("g", 1)
)
IN_DEVIATIONS = tuple(
    Identity(
        f"entry_of_{word.lower()}",
        (a + y_i) ** word.count("A") * (b + z_i) ** word.count("B"),
        sp.expand((a + y_i) ** word.count("A") * (b + z_i) ** word.count("B")),
        f"an entry of {word} for A = a I + diag(y_i), B = b I + diag(z_i), expanded",
    )
    for word in WORDS
    if len(word) > 1
)
_row = sp.Matrix([[y_i, z_i, q_i]])
_in_c = sp.Matrix([b * y_i + q_i, y_i + z_i, a * z_i])
ENTRY = Identity(
    "entry",
    (_in_c.T * R * _in_c)[0] + ALPHA * (b * y_i + DELTA / ALPHA * a * z_i) ** 2 + BETA * (y_i - z_i) ** 2,
    (_row * FORM * _row.T)[0],
    "c_i'R c_i + mu (b y_i + (delta/mu) a z_i)^2 + nu (y_i - z_i)^2 as a quadratic form in y_i, z_i and q_i",
)
OFF_THE_MEAN = Identity(
    "off_the_mean",
    (y_i * z_i - total / d) ** 2,
    (y_i * z_i) ** 2 - 2 * total / d * (y_i * z_i) + total**2 / d**2,
    "q_i^2 = (y_i z_i - s/d)^2 = (y_i z_i)^2 - 2 s/d y_i z_i + s^2/d^2, s the sum of the y_j z_j",
)
SUM_OFF_THE_MEAN = Implication(
    "sum_off_the_mean",
    (sp.Eq(total, d * mean), sp.Eq(square, DEVIATIONS[2, 2] - 2 * mean * total + d * mean**2)),
    sp.Eq(square, DEVIATIONS[2, 2] - total**2 / d),
    "sum q_i^2 = sum (y_i z_i)^2 - s^2/d where s = d m, sum q_i^2 = sum (y_i z_i)^2 - 2 m s + d m^2",
)
PAIR_OF_PRODUCTS = Identity(
    "pair_of_products",
    (y_i * z_j - y_j * z_i) ** 2,
    y_i**2 * z_j**2 + y_j**2 * z_i**2 - 2 * (y_i * z_i) * (y_j * z_j),
    "(y_i z_j - y_j z_i)^2 = y_i^2 z_j^2 + y_j^2 z_i^2 - 2 y_i z_i y_j z_j",
)
DIAGONAL = InWords("diagonal", "f has a minimiser over symmetric A_0 and A_1 in which both are diagonal")
ALL_MULTIPLES = InWords(
    "all_multiples",
    "f over symmetric A_0 and A_1 is least, with the least value over A_l = a_l I, at the two a_l of `multiples`, in "
    "either order, and nowhere else",
)


def _squares_in_entries(size: int) -> Step:
    """Return a step of the derivation: `excess` written in all entries, at a dimension."""
    first, second = (sp.symbols(f"{letter}_1:{size}", real=True) for letter in "yz")
    y, z = ((*entries, -sum(entries)) for entries in (first, second))
    traces = {
        word: sum(sp.prod({"A": a + y[i], "B": b + z[i]}[c] for c in word) for i in range(size)) for word in WORDS
    }
    along = sum(one * other for one, other in zip(y, z, strict=True))
    rows = sp.Matrix([[one, other, one * other - along / size] for one, other in zip(y, z, strict=True)])
    areas = sum((y[i] * z[j] - y[j] * z[i]) ** 2 for j in range(size) for i in range(j))
    right = (LEAST + excess(along, rows.T * rows, areas)).subs(d, size)
    return Step(f"d = {size}, in entries: f exceeds f* by these squares", in_traces(traces).subs(d, size), right)


STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, TWO_LAYERS, SYMMETRIC, STANDARD),
    variables=(
        *(r, x, v, w, O0, O1, O2, *(TRACES[word] for word in WORDS), a, b, *DEVIATIONS.values()),
        *(x_j, o, *parts, along_x, along_v, y_i, z_i, y_j, z_j, q_i, total, mean_square, mean, square),
    ),
    claims=(DIAGONAL, MULTIPLES, ALL_MULTIPLES),
    steps=(
        *(LEFT_OF_W, LOSS, TURNED, EXPANDED, OFF_DIAGONAL, PAIR_OF_ENTRIES, SPREAD, COMPLETED, *POSITIVE, K_POSITIVE),
        *(*IN_DEVIATIONS, EXCESS, ENTRY, OFF_THE_MEAN, SUM_OFF_THE_MEAN, PAIR_OF_PRODUCTS),
        *(*MINORS, *DEFINITE, *FACTORS),
    ),
)
ARGUMENT = (
    Inference(
        "loss",
        "layer l multiplies the residual w* − v by I − A_l S: the error of the prediction is w*'(I − SA)(I − SB)x, "
        "S = XX'/n, A = A_0, B = A_1, and f is its mean square",
        ("ahn2023.lemma1", "left_of_w", "linear_attention", "pattern", "two_layers", "symmetric", "standard"),
        "definition",
    ),
    Inference(
        "unchanged",
        "f does not change when A and B are conjugated by the same orthogonal matrix",
        ("loss", "standard", "turned_layers"),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "turned",
        "so A may be taken to be diagonal; let B = D + O, with D diagonal and O with diagonal 0",
        ("unchanged", "symmetric"),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "words",
        "A and D are diagonal and O has a zero diagonal, so that words with one O have trace 0: among the traces in f "
        "only those of BB, ABB and AABB change, by tr O², tr AO² and tr A²O²",
        ("turned", "loss", "in_traces", "expanded"),
        rules.TRACE_IN_ENTRIES,
    ),
    Inference(
        "off_the_diagonal",
        "tr A^m O² = Σ_{i<j} (x_i^m + x_j^m) o_ij², and so f(A, D + O) − f(A, D) = Σ_{i<j} (k(x_i) + k(x_j)) o_ij², "
        "for every d",
        ("words", "off_diagonal", "pair_of_entries"),
        rules.TRACE_IN_ENTRIES,
    ),
    Inference(
        "spread",
        "w ≥ (d − 1) v²: v is the mean of the d − 1 other x_j, and w is d − 1 times the mean of their squares",
        ("turned", "sum_of_squares"),
        "Cauchy-Schwarz",
    ),
    Inference(
        "k_is_positive",
        "k > 0, so that f(A, D + O) ≥ f(A, D), with equality only if O = 0",
        ("off_the_diagonal", "spread", "squares", "p_1", "p_2", "p_3", "p_4", "k_positive"),
        "nonnegative terms",
    ),
    Inference(
        "multiples",
        "this is the case L = 2 of Theorem 3 at Σ = I",
        ("ahn2023.theorem3:minimum", "standard", "linear_attention", "pattern", "two_layers"),
        "application",
    ),
    Inference(
        "entries",
        "because Σ y_i = Σ z_i = 0, the traces of words, the sums over i of the squares, and the sum over i < j of "
        "(y_i z_j − y_j z_i)², which is half of the sum over all i and j, are the sums of products of the y_i and z_i "
        "in `excess`",
        (
            *("turned", "loss", "in_traces", *(step.label for step in IN_DEVIATIONS)),
            *("excess", "entry", "off_the_mean", "sum_off_the_mean", "pair_of_products"),
        ),
        rules.TRACE_IN_ENTRIES,
    ),
    Inference(
        "definite",
        "G and R are positive definite",
        (*(step.label for step in MINORS), "g_1", "g_2", "g_3", "r_1", "r_2", "r_3"),
        rules.SYLVESTER_CRITERION,
    ),
    Inference(
        "diagonal_pairs",
        "for diagonal A and B, f ≥ f*; equality requires a + b = σ, a b = π, Σ y_i z_i = 0 and y_i = z_i, so that all "
        "y_i and z_i are 0",
        ("entries", "definite", "mu", "nu"),
        "nonnegative terms",
    ),
    Inference(
        "below",
        "f(A, D + O) ≥ f(A, D) ≥ f*, with equality only if O = 0, A and D are multiples of I, and their steps have the "
        "sum σ and the product π",
        ("k_is_positive", "diagonal_pairs"),
        "nonnegative terms",
    ),
    Inference(
        "all_multiples",
        "f* is attained at A_l = a_l I with the two a_l of `multiples` in either order, and nowhere else",
        ("below", "turned", "multiples", "ahn2023.two_layer_minimum:least"),
        "lower bound attained",
    ),
    Inference("diagonal", "the minimisers are multiples of I, and so diagonal", ("all_multiples",), "definition"),
)


def derivation() -> Derivation:
    """Return the steps: a moment, f over multiples of I, k in entries and in squares, the form at 0."""
    m = [trace_moment([order], n, d) for order in range(5)]
    multiples = in_traces({word: d * a ** word.count("A") * b ** word.count("B") for word in WORDS})
    square = sp.Poly(((1 - a * x) * (1 - b * x)) ** 2, x)
    return Derivation(
        (
            Step("E tr S²", m[2], d * (n + d + 1) / n),
            Step("over multiples of I, f = ∫ p² dμ", multiples, sum(c * m[i] for (i,), c in square.terms())),
            *map(_in_entries, (2, 3)),
            Step("k without a first layer: E (S²)_ii", k.subs({x: 0, t1: 0, t2: 0}), (n + d + 1) / n),
            _squares_in_entries(2),
        )
    )


_canary = partial(with_clause, STATEMENT)

_AT_THE_STEPS = least_over_symmetric(values_of(SMALL, LARGE))
EVALUATIONS = {
    "diagonal": Evaluation(
        _AT_THE_STEPS,
        "f has a minimiser over symmetric A_0 and A_1 in which both are one multiple of I, half the sum of the two a_l",
        least_over_symmetric(values_of(TOTAL / 2, TOTAL / 2)),
        draws=40,
    ),
    "all_multiples": Evaluation(
        _AT_THE_STEPS,
        "f over symmetric A_0 and A_1 is least at the two a_l of `multiples`, the larger times 21/20",
        least_over_symmetric(values_of(SMALL, LARGE, factors=(Fraction(1), Fraction(21, 20)))),
        draws=40,
    ),
}

theorem2 = Theorem(
    id="ahn2023.theorem2",
    title="Two layers of symmetric matrices: all minimisers are multiples of I, at two steps in either order",
    source=Source(
        "Theorem 2",
        "printed",
        AHN2023,
        "a diagonal minimiser exists; that all minimisers are multiples of I, which, and the least loss: derived here",
    ),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={"minimum_loss": ClauseValue("multiples", "minimum"), "a": ClauseValue("multiples", "a")},
    derivation=derivation,
    canaries=(
        _canary("k without tr A", replace(OFF_DIAGONAL, right=OFF_DIAGONAL.right.subs(t1, 0), says="")),
        _canary("twice k", replace(OFF_DIAGONAL, right=2 * OFF_DIAGONAL.right, says="")),
        _canary(
            "a coefficient of x^2 less by (n + 2)/n^3",
            replace(COMPLETED, right=COMPLETED.right - x**2 * (n + 2) / n**3, says=""),
        ),
        _canary("the polynomial of the spectrum itself", replace(MULTIPLES, shift=sp.S.Zero, says="")),
        _canary("a least f larger by 1/n", replace(EXCESS, right=EXCESS.right + 1 / n, says="")),
        _canary("nu (y_i + z_i)^2", replace(EXCESS, right=EXCESS.right + 4 * BETA * DEVIATIONS[1, 1], says="")),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("ahn2023.lemma1", "ahn2023.theorem3", "ahn2023.two_layer_minimum"),
    argument=ARGUMENT,
)
