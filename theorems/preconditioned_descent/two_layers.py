r"""Theorem 2: two layers of pattern (8) at Σ = Ψ = I, A_0 and A_1 symmetric: a diagonal minimiser, and all commute.

With A = A_0, B = A_1 the loss is f(A, B) = E tr M Mᵀ, M = (I − B S)(I − A S), a sum of products of traces of words in A
and B for all d and n (`two_layer_loss`).

*Diagonal.* A rotation of A and B together leaves f as it is, so let A be diagonal, with entries x_i, and B = D + O with
D diagonal and O with a zero diagonal. Then f(A, D + O) = f(A, D) + Σ_{i<j} (k(x_i) + k(x_j)) o_ij² with

    k(x) = p_1 (x + l_1 v + l_2)² + p_2 (v + l_3)² + p_3 + p_4 (w − (d − 1) v²),    p_1, p_3, p_4 > 0, p_2 ≥ 0,

where v is the mean of the other x_j and w the sum of their squares, at least (d − 1) v².

So k > 0: B without its O is better, strictly unless O = 0. A minimiser exists: f is a convex quadratic function of B,
whose second derivatives E tr[V S (I − A S)(I − S A) S V] are above a positive multiple of |V|² uniformly on bounded
sets of A; and for A = τ U, |U| = 1, τ → ∞ the least f over B grows like τ², as (I − B S) U S vanishes for no B (with S
it would for all multiples of S, and so U S), and the least of its mean square over B is continuous in U. Hence diagonal
minimisers exist, and *every* minimiser is, after one rotation, a pair of diagonal matrices: A_0 and A_1 commute.

The steps have f's terms in O in traces for every d, and in all entries at d = 2 and 3.

*Multiples of I.* Over A_l = a_l I the minimum is that of Theorem 3, a strict local minimum among all symmetric matrices
for all d and n: the second derivatives in symmetric E, F of trace 0 (in A and B) are 2 (q_EE |E|² + 2 q_EF ⟨E, F⟩ +
q_FF |F|²), where q_EE q_FF − q_EF² = U ± V √D for rational U, V and D with U > 0 and U² > V² D. Whether it is the
global one is not proved here for d ≥ 2. Descent over all entries finds nothing lower (`pytest paper_checks -k
symmetric_layers`).

Source: Ahn et al. 2023, Theorem 2; that all minimisers commute, and the rest, are derived here.
"""

from dataclasses import replace
from functools import partial

import sympy as sp

from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.multiples_of_the_inverse import k as index
from theorems.preconditioned_descent.setting import DIMENSION, EXAMPLES, LINEAR_ATTENTION, PATTERN, d, n
from theorems.preconditioned_descent.two_layer_loss import (
    O0,
    O1,
    O2,
    SIZES,
    SQUARES,
    TRACES,
    WITH_O,
    WORDS,
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
from theorems.preconditioned_descent.two_layer_minimum import PRODUCT, TOTAL
from theorems.wishart.trace_moments import trace_moment, wishart_trace_moment
from verify import (
    ClauseValue,
    Derivation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    LeastResidual,
    Source,
    Statement,
    Step,
    Theorem,
)

TWO_LAYERS = Hypothesis("two_layers", text="L = 2")
SYMMETRIC = Hypothesis("symmetric", text="A_0 and A_1 are symmetric")
STANDARD = Hypothesis("standard", text="x_i ~ N(0, I) i.i.d., w* ~ N(0, I)")

OFF_DIAGONAL = Identity(
    "off_diagonal",
    in_traces({**TRACES, **{word: TRACES[word] + o for word, o in WITH_O.items()}}) - in_traces(TRACES),
    alpha * O0 + beta * O1 + gamma * O2,
    "f(A, D + O) - f(A, D) = alpha tr O^2 + beta tr A O^2 + gamma tr A^2 O^2 for A, D diagonal, O with diagonal 0",
)


def _in_entries(size: int) -> Step:
    """Return the same with all entries at a dimension."""
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

DIAGONAL = InWords(
    "diagonal", "f has a minimiser over symmetric A_0 and A_1 in which both are diagonal, and in every one they commute"
)

STRICT = InWords(
    "strict", "in both orders of these two a_l the point is a strict local minimum of f over all symmetric A_0 and A_1"
)

total, apart, layer = sp.symbols("total apart b", real=True)
"""The sum of two steps, the first less the second, and a step of the second layer."""
squared = sp.Symbol("squared")
"""The square of the difference."""


def form(a: sp.Expr, b: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return q_EE, q_EF and q_FF at A = a I, B = b I, in matrices of trace 0."""
    one, mixed, other = sp.symbols("one mixed other")
    traces = {
        "A": d * a,
        "B": d * b,
        "AA": d * a**2 + one,
        "AB": d * a * b + mixed,
        "BB": d * b**2 + other,
        "AAB": d * a**2 * b + b * one + 2 * a * mixed,
        "ABB": d * a * b**2 + a * other + 2 * b * mixed,
        "AABB": d * a**2 * b**2 + b**2 * one + a**2 * other + 4 * a * b * mixed,
    }
    f, nought = in_traces(traces), dict.fromkeys((one, mixed, other), 0)
    slope = [sp.collect(sp.expand(sp.diff(f, symbol).subs(nought)), (a, b)) for symbol in (one, mixed, other)]
    return slope[0], slope[1] / 2, slope[2]


def determinant(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """Return q_EE q_FF − q_EF² at A = a I, B = b I."""
    first, mixed, last = form(a, b)
    return first * last - mixed**2


def _by_parity() -> tuple[sp.Expr, sp.Expr]:
    """Return U and V, functions of the steps' sum and their difference squared: the determinant is U + V apart."""
    in_apart = sp.Poly(sp.expand(determinant((total + apart) / 2, (total - apart) / 2)), apart)
    parts = [sp.S.Zero, sp.S.Zero]
    for (power,), coefficient in in_apart.terms():
        parts[power % 2] += coefficient * squared ** (power // 2)
    return parts[0], parts[1]


EVEN, ODD = _by_parity()
_LEAST = {total: TOTAL, squared: sp.factor(TOTAL**2 - 4 * PRODUCT)}
"""At the least f over multiples."""
AT_LEAST, ODD_AT_LEAST = (sp.factor(part.subs(_LEAST)) for part in (EVEN, ODD))
_CURVED, _SLOPE, _FLAT = sp.Poly(form(sp.S.Zero, layer)[0], layer).all_coeffs()
_LEFT = sp.factor(_FLAT - _SLOPE**2 / (4 * _CURVED))
FIRST = (
    Identity(
        "first",
        form(sp.S.Zero, layer)[0],
        _CURVED * (layer + _SLOPE / (2 * _CURVED)) ** 2 + _LEFT,
        "at A_1 = b I, q_EE = c_1 (b - c_2)^2 + c_3",
    ),
    Inequality("c_1", sp.Gt(_CURVED, 0, evaluate=False), "c_1 > 0"),
    Inequality("c_3", sp.Gt(_LEFT, 0, evaluate=False), "c_3 > 0"),
)
PARTED = Identity(
    "parted",
    determinant((total + apart) / 2, (total - apart) / 2),
    (EVEN + ODD * apart).subs(squared, apart**2),
    "q_EE q_FF - q_EF^2 = U + V apart, U and V functions of the steps' sum and of apart^2, their difference squared",
)
AT_LEAST_POSITIVE = Inequality("even", sp.Gt(AT_LEAST, 0, evaluate=False), "U > 0 where f over multiples is least")
AT_LEAST_LARGER = Inequality(
    "larger",
    sp.Gt(sp.factor(AT_LEAST**2 - ODD_AT_LEAST**2 * _LEAST[squared]), 0, evaluate=False),
    "U^2 > V^2 apart^2 there",
)


STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, TWO_LAYERS, SYMMETRIC, STANDARD),
    variables=(x, v, w, O0, O1, O2, *(TRACES[word] for word in WORDS), total, apart, layer),
    claims=(DIAGONAL, MULTIPLES, STRICT),
    steps=(OFF_DIAGONAL, COMPLETED, *POSITIVE, *FIRST, PARTED, AT_LEAST_POSITIVE, AT_LEAST_LARGER),
)
ARGUMENT = (
    Inference(
        "loss",
        "f = E tr MM', M = (I − BS)(I − AS), S = XX'/n, A = A_0, B = A_1",
        ("ahn2023.lemma1", "linear_attention", "pattern", "two_layers", "symmetric", "standard"),
        "independent factors",
    ),
    Inference(
        "in_traces",
        "that is a sum of products of traces of words in A and B, whose coefficients the steps have",
        ("loss", "standard"),
        "Gaussian moments",
    ),
    Inference(
        "unchanged",
        "f does not change when A and B are conjugated by the same orthogonal matrix",
        ("loss", "standard"),
        "invariance of the law",
    ),
    Inference(
        "turned", "so A may be taken to be diagonal, and B to be D + O", ("unchanged", "symmetric"), "spectral theorem"
    ),
    Inference(
        "words",
        "A and D are diagonal and O has a zero diagonal, so that words with one O have trace 0: of the words of f "
        "only BB, ABB and AABB change, by tr O², tr AO² and tr A²O²",
        ("turned", "in_traces"),
        "substitution",
    ),
    Inference(
        "off_the_diagonal",
        "f(A, D + O) − f(A, D) is the sum of (k(x_i) + k(x_j)) o_ij² over i < j, for every d",
        ("words", "off_diagonal"),
        "substitution",
    ),
    Inference(
        "spread", "w ≥ (d − 1) v²: of the other x_j, the sum of squares and the mean", ("turned",), "Cauchy-Schwarz"
    ),
    Inference(
        "k_is_positive",
        "k > 0, so that B without its O is better, strictly unless O = 0",
        ("off_the_diagonal", "spread", "squares", "p_1", "p_2", "p_3", "p_4"),
        "nonnegative terms",
    ),
    Inference(
        "convex_in_B",
        "f is quadratic in B, with the second derivative 2 E|V S (I − A S)|² ≥ 0 in direction V",
        ("loss",),
        "nonnegative terms",
    ),
    Inference(
        "no_flat_direction",
        "it is 0 only where V S and V S A S, of degrees 1 and 2 in S, vanish almost surely: for V = 0 alone",
        ("convex_in_B", "standard"),
        "identity of polynomials",
    ),
    Inference(
        "bounded_below",
        "on a bounded set of A that is at least c|V|², c > 0",
        ("no_flat_direction",),
        "compactness",
    ),
    Inference(
        "no_cancellation",
        "for symmetric U ≠ 0 no B makes (I − B S) U S vanish almost surely, and V S U S vanishes so only for V = 0",
        ("symmetric", "standard"),
        "identity of polynomials",
    ),
    Inference(
        "grows",
        "f(τU, B)/τ² = E|(I − B S)(U S − I/τ)|², |U| = 1, whose least value over B is continuous in U and 1/τ and "
        "positive at 1/τ = 0: at least c > 0 for large τ",
        ("loss", "no_cancellation", "convex_in_B"),
        "compactness",
    ),
    Inference(
        "exists",
        "f grows beyond all bounds with |A| + |B|, and has a least value",
        ("bounded_below", "grows"),
        "coercivity",
    ),
    Inference(
        "diagonal",
        "turned so that A is diagonal, a minimiser has a B that is diagonal too, so that A_0 and A_1 commute",
        ("k_is_positive", "exists", "turned"),
        "substitution",
    ),
    Inference(
        "multiples",
        "it is the case L = 2 of Theorem 3 at Σ = I",
        ("ahn2023.theorem3:minimum", "standard", "linear_attention", "pattern", "two_layers"),
        "substitution",
    ),
    Inference(
        "second_derivatives",
        "at A = a I, B = b I the second derivative of f is 2 (q_EE |E|² + 2 q_EF ⟨E, F⟩ + q_FF |F|²) in directions E "
        "and F of trace 0, and 0 in one of these and a multiple of I",
        ("in_traces",),
        "substitution",
    ),
    Inference(
        "definite",
        "at the two a_l, in both orders, V times their difference is smaller than U in absolute value, so that "
        "q_EE q_FF > q_EF²",
        ("parted", "even", "larger", "multiples", "ahn2023.two_layer_minimum:least"),
        "square root",
    ),
    Inference(
        "positive",
        "f is quadratic in A, so that q_EE does not depend on a: q_EE > 0 whatever A_1 = b I is",
        ("second_derivatives", "first", "c_1", "c_3"),
        "nonnegative terms",
    ),
    Inference(
        "definite_form",
        "so the second derivatives in directions of trace 0 are positive definite",
        ("second_derivatives", "definite", "positive"),
        "Sylvester's criterion",
    ),
    Inference(
        "strict",
        "all slopes vanish there, and the second derivatives are positive definite in directions of trace 0 and in "
        "multiples of I, which do not mix",
        (
            *("second_derivatives", "definite_form", "standard"),
            *("ahn2023.two_layer_minimum:vanishes", "ahn2023.two_layer_minimum:strict"),
        ),
        "second-order condition",
    ),
)


def derivation() -> Derivation:
    """Return the steps: a moment, f over multiples of I, k in entries and in squares, the form at 0."""
    a, b = sp.symbols("a b", real=True)
    m = [trace_moment([order], n, d) for order in range(5)]
    multiples = in_traces({word: d * a ** word.count("A") * b ** word.count("B") for word in WORDS})
    square = sp.Poly(((1 - a * x) * (1 - b * x)) ** 2, x)
    return Derivation(
        (
            Step("E tr S²", m[2], d * (n + d + 1) / n),
            Step("over multiples of I, f = ∫ p² dμ", multiples, sum(c * m[i] for (i,), c in square.terms())),
            *map(_in_entries, (2, 3)),
            Step("k without a first layer: E (S²)_ii", k.subs({x: 0, t1: 0, t2: 0}), (n + d + 1) / n),
            Step("k as a sum of squares", k.subs({t1: x + (d - 1) * v, t2: x**2 + w}), SQUARES),
            Step("at A = B = 0: q_EE = q_FF", form(sp.S.Zero, sp.S.Zero)[0], (n + d + 1) / n),
            Step("and q_EF", form(sp.S.Zero, sp.S.Zero)[1], 2 * (n + 1) / n + d / n),
        )
    )


_canary = partial(with_clause, STATEMENT)


def _flipped(clause: Inequality) -> Inequality:
    return replace(clause, relation=sp.Lt(*clause.relation.args, evaluate=False), says="")


theorem2 = Theorem(
    id="ahn2023.theorem2",
    title="Two layers: a diagonal minimiser exists, and A_0 and A_1 commute at every minimiser",
    source=Source(
        "Theorem 2",
        "printed",
        AHN2023,
        "a diagonal minimiser exists; that all commute, the least loss over multiples of I, and that it is a strict "
        "local minimum, are derived here",
    ),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={"minimum_loss": ClauseValue("multiples", "minimum"), "a": ClauseValue("multiples", "a")},
    derivation=derivation,
    canaries=(
        _canary("k without tr A", replace(OFF_DIAGONAL, right=OFF_DIAGONAL.right.subs(t1, 0), says="")),
        _canary("twice k", replace(OFF_DIAGONAL, right=2 * OFF_DIAGONAL.right, says="")),
        _canary("a p_1 of n + 3 for n + 4", replace(COMPLETED, right=COMPLETED.right - x**2 * (n + 2) / n**3, says="")),
        _canary("the polynomial of the spectrum itself", replace(MULTIPLES, shift=sp.S.Zero, says="")),
        _canary("a saddle", _flipped(AT_LEAST_LARGER)),
    ),
    proof_uses=("ahn2023.lemma1", "ahn2023.theorem3", "ahn2023.two_layer_minimum"),
    argument=ARGUMENT,
)
