r"""Theorem 3 with two layers, for every d and n: its least point is a strict local minimum over all A_0 and A_1.

At Σ = I let A_0 = a I + x V and A_1 = b I + y W, with V and W any d×d matrices. With K = (I − S A_0)(I − S A_1),
S = XXᵀ/n and p(S) = (I − aS)(I − bS) the terms of second order of f = E tr K Kᵀ are

    x² E tr V (I − bS)² Vᵀ S² + 2xy (E tr V (I − bS) Wᵀ S² (I − aS) + E tr V S W S p(S)) + y² E tr W Wᵀ S² (I − aS)².

E tr V S^j Wᵀ S^i is a combination of tr V Wᵀ, tr V W and tr V tr W. All three are 0 if V and W are of different kinds:
multiples of I, symmetric of trace 0, antisymmetric. So for each kind, with V = W = M and tr M Mᵀ = 1, there is one
matrix H of second derivatives along (x, y). The inner products of the parts of V and W of these kinds are

    tr V tr W/d,    (tr V Wᵀ + tr V W)/2 − tr V tr W/d,    (tr V Wᵀ − tr V W)/2.

*For each kind* the last entry of H, 2 E tr M Mᵀ S² (I − aS)², is positive because m_2 m_4 > m_3²
(`two_layer_minimum`). The determinant D of H is U + W a, where U and W are now numbers that depend only on σ = a + b
and π = ab; with the steps exchanged, D is U + W b. At the least point σ, π and the following two are rational functions
of d and n:

    D(a, b) + D(b, a) = 2U + σW,    D(a, b) D(b, a) = U² + σUW + πW².

Both are positive for all d and n. So D > 0 in either order, and H is positive definite. For multiples of I this is in
`two_layer_minimum`, which also shows that the gradient over all A_0 and A_1 vanishes. So f has a strict local minimum
there. Over symmetric A_0 and A_1 it is global (`theorem2`); over all A_0 and A_1 this is open. `least_point_curvature`
treats three layers, at instances.

Source: derived here; Ahn et al. 2023, Theorem 3, looks at first derivatives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import sympy as sp
from sympy.polys.fields import FracElement

from theorems import rules
from theorems.canaries import with_clause
from theorems.closed_forms import values_of
from theorems.papers import AHN2023
from theorems.preconditioned_descent.both_orders import STEPS as BOTH_ORDERS, U, W
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR, WHITENED
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LETTERS,
    LINEAR_ATTENTION,
    NORMAL,
    PATTERN,
    S,
    d,
    left_of,
    n,
    r,
)
from theorems.preconditioned_descent.trials.two_layers import positive_definite, strict_minimum
from theorems.preconditioned_descent.two_layer_loss import LEFT_OF_W
from theorems.preconditioned_descent.two_layer_minimum import (
    CURVED,
    DEFINITE,
    FORM_POSITIVE,
    FORM_TIMES_FOURTH,
    FOURTH_POSITIVE,
    LARGE,
    MOMENTS,
    PRODUCT,
    PRODUCT_OF_STEPS,
    SMALL,
    TOTAL,
    TWO_LAYERS,
    M,
    a,
    b,
    c,
    det,
    e,
    form,
    loss,
)
from theorems.stored_forms import Forms, stored
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.word_moments import word_formula, word_moment
from verify import (
    Derivation,
    Evaluation,
    Identity,
    Inequality,
    Inference,
    InWords,
    MatrixIdentity,
    Source,
    Statement,
    Step,
    Theorem,
    matrix,
)

_token, _z = map(matrix, "xz")
WHITENED_TOKEN = replace(
    WHITENED,
    left=WHITENED.left.subs(_token, _z),
    right=WHITENED.right.subs(_token, _z),
    shapes={_z if letter == _token else letter: shape for letter, shape in WHITENED.shapes.items()},
    says=WHITENED.says.replace("R x", "R z").replace("K x", "K z"),
)
KINDS = {"symmetric": 1, "antisymmetric": -1}
"""The kinds of matrices M of trace 0 and tr M Mᵀ = 1, with the sign of Mᵀ = ± M."""
x, y, total, pair = sp.symbols("x y total product", real=True)
PARTS = {name: tuple(sp.Symbol(f"{part}_{name}", real=True) for part in "UW") for name in KINDS}
"""U and W at the least point, of each kind."""
_FRACTIONS = sp.QQ.frac_field(d, n)


@cache
def _mean(counts: tuple[int, ...], sign: int) -> sp.Expr:
    """Return E tr(S M^j S M^k …), at most two M in all."""
    same = sp.Integer(sign)
    traces = {(): d, ("MM",): same, ("M",): sp.S.Zero, ("M", "M"): same, ("M", "Mᵀ"): sp.S.One}
    formula = word_formula([[("I", "M", "MM")[count] for count in counts]], {"I", "MM"})
    kept = (
        coefficient * sp.Mul(*(traces[tuple(sorted(x for x in word if x != "I"))] for word in words))
        for words, coefficient in formula.items()
    )
    return sp.factor(sp.Add(*kept))  # pyright: ignore[reportReturnType]


def second_derivatives(sign: int) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return the second derivatives along M of a kind: in x, in x and y, in y."""

    def apart(i: int, j: int) -> sp.Expr:
        """Return E tr M S^j Mᵀ S^i = ± E tr M S^j M S^i."""
        return M[i] / d if not j else sign * _mean((0,) * (i - 1) + (1,) + (0,) * (j - 1) + (1,), sign)

    in_first = apart(2, 0) - 2 * b * apart(2, 1) + b**2 * apart(2, 2)
    mixed = apart(2, 0) - b * apart(2, 1) - a * apart(3, 0) + a * b * apart(3, 1)
    moved = apart(1, 1) - (a + b) * apart(2, 1) + a * b * apart(3, 1)
    in_second = apart(2, 0) - 2 * a * apart(3, 0) + a**2 * apart(4, 0)
    return 2 * in_first, 2 * (mixed + sign * moved), 2 * in_second


@cache
def determinant(sign: int) -> dict[tuple[int, int], FracElement]:
    """Return D, the determinant of the second derivatives along M of a kind: its coefficients of a^i b^j."""
    one, mixed, other = (sp.Poly(value, a, b, domain=_FRACTIONS) for value in second_derivatives(sign))
    return {powers: _FRACTIONS.from_sympy(c) for powers, c in (one * other - mixed**2).terms()}  # pyright: ignore[reportReturnType]


def _parts(coefficients: Mapping[tuple[int, int], Any], total: Any, pair: Any) -> tuple[Any, Any]:
    """Return U and W, D = U + W a, at σ = a + b and π = a b."""
    # By i − j: a^i b^j is π^min(i, j) times a power of a or of b, where a² = σa − π and b = σ − a.
    reduced = {0: (1, 0), 1: (0, 1), 2: (-pair, total), -1: (total, -1), -2: (total**2 - pair, -total)}
    found = [[c * pair ** min(i, j) * part for part in reduced[i - j]] for (i, j), c in coefficients.items()]
    rest, slope = map(sum, zip(*found, strict=True))
    return rest, slope


BOTH = {"sum": "2U + total W", "product": "U^2 + total U W + product W^2"}
"""The sum and the product of D in both orders of the steps."""


def in_both_orders(which: str, rest: Any, slope: Any, total: Any, pair: Any) -> Any:
    """Return the sum or the product of D(a, b) and D(b, a), from U, W, σ and π."""
    return 2 * rest + total * slope if which == "sum" else rest**2 + total * rest * slope + pair * slope**2


def as_fraction(which: str, sign: int, total: sp.Expr = TOTAL, pair: sp.Expr = PRODUCT) -> sp.Expr:
    """Return `in_both_orders` of a kind as one fraction, at the least point unless σ and π are given."""
    at = [_FRACTIONS.from_sympy(value) for value in (total, pair)]
    return _FRACTIONS.to_sympy(in_both_orders(which, *_parts(determinant(sign), *at), *at))


@cache
def _factored(sign: int) -> dict[tuple[int, int], sp.Expr]:
    return {powers: sp.factor(_FRACTIONS.to_sympy(c)) for powers, c in determinant(sign).items()}  # pyright: ignore[reportReturnType]


OTHER_STEPS = {
    "longer": ("steps of a sum larger by 1/n", TOTAL + 1 / n, PRODUCT),
    "equal": ("equal steps of the same sum", TOTAL, TOTAL**2 / 4),
    "twice": ("steps twice as long", 2 * TOTAL, 4 * PRODUCT),
}
"""Sums and products of steps at which the sum of D in both orders is not positive for all d and n."""


def derived_forms() -> Forms:
    """Return, for each kind, f's second derivatives, the parts of D and its two fractions; and sums at OTHER_STEPS."""
    forms = {f"sum_{key}": as_fraction("sum", 1, *at) for key, (_, *at) in OTHER_STEPS.items()}
    for name, sign in KINDS.items():
        seconds = zip(("in_first", "mixed", "in_second"), second_derivatives(sign), strict=True)
        in_steps, at_least = (_parts(_factored(sign), *at) for at in ((a + b, a * b), (total, pair)))
        parts = {"rest_in_steps": in_steps[0], "slope_in_steps": in_steps[1], "rest": at_least[0], "slope": at_least[1]}
        fractions = {which: as_fraction(which, sign) for which in BOTH}
        each = {**dict(seconds), **parts, **fractions}
        forms |= {f"{key}_{name}": form for key, form in each.items()}
    return forms


FORMS = stored(derived_forms, d, n, a, b, total, pair)


def _forms(name: str, *keys: str) -> tuple[sp.Expr, ...]:
    return tuple(FORMS[f"{key}_{name}"] for key in keys)


def _clauses(name: str) -> dict[str, Any]:
    """Return the clauses about a kind of directions, by their labels without the kind."""
    in_first, mixed, in_second = _forms(name, "in_first", "mixed", "in_second")
    rest, slope = _forms(name, "rest_in_steps", "slope_in_steps")
    clauses = [
        Identity(
            f"determinant_{name}",
            in_first * in_second - mixed**2,
            rest + slope * a,
            "D = H_00 H_11 - H_01^2 is U + W a, U and W symmetric in a and b",
        ),
        Identity(
            f"last_{name}", d * in_second / 2, M[2] - 2 * a * M[3] + a**2 * M[4], "d H_11/2 = m_2 - 2 a m_3 + a^2 m_4"
        ),
    ]
    rest, slope = PARTS[name]
    for which, formula in BOTH.items():
        says, fraction = f"the {which} of D in both orders of the steps", FORMS[f"{which}_{name}"]
        by_parts = in_both_orders(which, rest, slope, total, pair)
        clauses += [
            Identity(
                f"{which}_fraction_{name}",
                by_parts,
                fraction,
                f"{formula} as one fraction, where total and product are those of the least point's steps",
            ),
            Inequality(
                f"{which}_{name}", sp.Gt(fraction, 0, evaluate=False), f"at the least point {formula} > 0: {says}"
            ),
        ]
    return {clause.label.removesuffix(f"_{name}"): clause for clause in clauses}


SYMMETRIC, ANTISYMMETRIC = map(_clauses, KINDS)
_moves = _V, _W = matrix("V_0"), matrix("V_1")
_traces = dict(zip(_moves, sp.symbols("tr_0 tr_1", real=True), strict=True))
_pairs = {(0, 0): sp.symbols("p_00 q_00", real=True), (0, 1): sp.symbols("p_01 q_01", real=True)}
_pairs[1, 1] = sp.symbols("p_11 q_11", real=True)
"""tr V_i V_jᵀ and tr V_i V_j."""
TRACES = (*_traces.values(), *(trace for pair in _pairs.values() for trace in pair))


def _inner_products(i: int, j: int) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return the inner products of V_i's and V_j's parts: multiples of I, symmetric of trace 0, antisymmetric."""
    turned, plain = _pairs[i, j]
    multiples = _traces[_moves[i]] * _traces[_moves[j]] / d
    return multiples, (turned + plain) / 2 - multiples, (turned - plain) / 2


def _second_order() -> sp.Expr:
    """Return the terms of second order in f, from the inner products and the second derivatives of each kind."""
    of_multiples = tuple(sp.expand(sp.diff(loss(a, b), *by)) / d for by in ((a, a), (a, b), (b, b)))
    kinds = (of_multiples, *(_forms(name, "in_first", "mixed", "in_second") for name in KINDS))
    products = [_inner_products(*pair) for pair in ((0, 0), (0, 1), (1, 1))]
    return sp.Add(
        *(
            factor * second * along[kind] / 2
            for kind, seconds in enumerate(kinds)
            for factor, second, along in zip((1, 2, 1), seconds, products, strict=True)
        )
    )


_S = matrix("S")


def _orders(S: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return the terms of (I − S A_0)(I − S A_1), A_0 = a I + V_0, A_1 = b I + V_1, by their order in the moves."""
    first, second = 1 - a * S, 1 - b * S
    return first * second, -S * _V * second - first * S * _W, S * _V * S * _W


MOVED = MatrixIdentity(
    "moved",
    (1 - _S * (a + _V)) * (1 - _S * (b + _W)),
    sum(_orders(_S), sp.S.Zero),
    dict.fromkeys((_S, *_moves), (d, d)),
    "(I - S A_0)(I - S A_1) = K_0 + K_1 + K_2 at A_0 = a I + V_0, A_1 = b I + V_1, K_0 = (I - aS)(I - bS), K_1 = "
    "-S V_0 (I - bS) - (I - aS) S V_1, K_2 = S V_0 S V_1",
)
_by_order, _move = sp.symbols("k_0:3", real=True), sp.Symbol("move", real=True)
BY_ORDER = Identity(
    "by_order",
    sp.Subs(
        sp.Derivative((_by_order[0] + _move * _by_order[1] + _move**2 * _by_order[2]) ** 2 / 2, (_move, 2)), _move, 0
    ),
    _by_order[1] ** 2 + 2 * _by_order[0] * _by_order[2],
    "the square of e_0 + t e_1 + t^2 e_2 has e_1^2 + 2 e_0 e_2 at t^2",
)
_errors = sp.symbols("error_0:3", real=True)
SECOND_ORDER = GaussianMoment(
    "second_order",
    _errors[1] ** 2 + 2 * _errors[0] * _errors[2],
    _second_order(),
    {**LETTERS, **dict.fromkeys(_moves, (d, d))},
    NORMAL,
    dict(zip(_errors, map(left_of, _orders(S)), strict=True)),
    {
        **_traces,
        **{_moves[i] * sp.transpose(_moves[j]): turned for (i, j), (turned, _) in _pairs.items()},
        **{_moves[i] * _moves[j]: plain for (i, j), (_, plain) in _pairs.items()},
    },
    says="with e_i = w*'K_i x, S = XX'/n, and X, w* and x standard normal, E e_1^2 + 2 e_0 e_2 is the sum over three "
    "kinds of directions of (H_00 <V_0, V_0> + 2 H_01 <V_0, V_1> + H_11 <V_1, V_1>)/2, where <V, W> is tr V tr W/d, "
    "(tr V W' + tr V W)/2 - tr V tr W/d or (tr V W' - tr V W)/2; for the first kind H is the Hessian of f(a, b)/d",
)
POSITIVE_DEFINITE = InWords(
    "positive_definite",
    "where f over A_0 = a Sigma^{-1} and A_1 = b Sigma^{-1} is least, at two steps in either order, the second "
    "derivatives of f over all A_0 and A_1 are positive definite",
)
STRICT = InWords("strict", "f has a strict local minimum over all A_0 and A_1 at these two steps, in either order")
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES),
    hypotheses=(LINEAR_ATTENTION, PATTERN, TWO_LAYERS, GAUSSIAN_TOKENS, INVERSE_PRIOR),
    variables=(a, b, c, e, r, *MOMENTS, U, W, det, form, *TRACES, *_by_order, _move),
    definitions={total: TOTAL, pair: PRODUCT}
    | {part: value for name in KINDS for part, value in zip(PARTS[name], _forms(name, "rest", "slope"), strict=True)},
    claims=(POSITIVE_DEFINITE, STRICT),
    steps=(
        *(WHITENED_TOKEN, LEFT_OF_W, MOVED, BY_ORDER, SECOND_ORDER, CURVED, DEFINITE),
        *(FOURTH_POSITIVE, FORM_TIMES_FOURTH, FORM_POSITIVE),
        *(PRODUCT_OF_STEPS, *BOTH_ORDERS),
        *SYMMETRIC.values(),
        *ANTISYMMETRIC.values(),
    ),
)
ARGUMENT = (
    Inference(
        "whitened",
        "let Σ = RRᵀ and x = R x̃: the labels are (Rᵀw*)ᵀ x̃, Rᵀw* has covariance I, and A_l acts on x̃ as Rᵀ A_l R, a "
        "linear bijection that takes a_l Σ^{-1} to a_l I: Σ may be taken to be I",
        ("whitened_label", "linear_attention", "pattern", "gaussian_tokens", "inverse_prior"),
        rules.WHITENING,
    ),
    Inference(
        "second_order_of_f",
        "f is the mean square of w*'(I − S A_0)(I − S A_1)x: at A_0 = a I + V_0, A_1 = b I + V_1 its terms of second "
        "order in V_0 and V_1 are those of `second_order`",
        (
            *("ahn2023.lemma1", "whitened", "left_of_w", "moved", "by_order", "second_order"),
            *("linear_attention", "pattern", "two_layers"),
        ),
        "linearity of expectation",
    ),
    Inference(
        "kinds",
        "the products in `second_order` are the inner products of the parts of V_0 and V_1 that are multiples of I, "
        "symmetric of trace 0, and antisymmetric: the mixed second derivatives between two kinds are 0",
        ("second_order_of_f",),
        rules.SYMMETRIC_AND_ANTISYMMETRIC_PARTS,
    ),
    Inference(
        "multiples",
        "along multiples of I the second derivatives at the least point are positive definite",
        ("whitened", "ahn2023.two_layer_minimum:strict"),
        "application",
    ),
    Inference(
        "last_positive",
        "H_11 > 0 for both of the other kinds",
        (
            *("kinds", "last_symmetric", "last_antisymmetric"),
            *("curved", "definite", "fourth_positive", "form_times_fourth", "form_positive"),
        ),
        "application",
    ),
    *(
        Inference(
            f"both_orders_{name}",
            "at the least point D is U + W a in one order of the steps and U + W b in the other, and both are positive",
            (
                *(f"determinant_{name}", "sum_in_both_orders", "in_both_orders", "both_positive", "product_of_steps"),
                *(f"{which}{part}_{name}" for which in BOTH for part in ("", "_fraction")),
                "ahn2023.two_layer_minimum:least",
            ),
            "application",
        )
        for name in KINDS
    ),
    Inference(
        "positive_definite",
        "every direction is a sum of one of each kind, and the mixed second derivatives between kinds are 0; for each "
        "kind the second derivatives are positive definite, for the last two by H_11 > 0 and D > 0; by `whitened` this "
        "is so at every Σ",
        ("whitened", "kinds", "multiples", "last_positive", *(f"both_orders_{name}" for name in KINDS)),
        rules.SYLVESTER_CRITERION,
    ),
    Inference(
        "strict",
        "at this point the gradient vanishes, and the second derivatives are positive definite",
        ("positive_definite", "ahn2023.two_layer_minimum:vanishes"),
        rules.SECOND_ORDER_CONDITION,
    ),
)


def _in_entries(name: str, entries: Sequence[Sequence[int]]) -> Step:
    """Return the step: f in all entries, along a 2×2 matrix M, up to second order."""
    turn, one = sp.Matrix(entries), sp.eye(2)
    first, second = a * one + x * turn, b * one + y * turn
    terms = ((1, ()), (-1, (first,)), (-1, (second,)), (1, (first, second)))
    exact = sp.S.Zero
    for (sign, left), (other, right) in product(terms, terms):
        # tr(S L_1 S L_2 R_2ᵀ S R_1ᵀ S), rotated to begin with an S.
        after = [matrix.T for matrix in reversed(right)]
        word = [*left[:-1], left[-1] * after[0], *after[1:], one] if left and right else [*left, *after]
        exact += sign * other * (word_moment([word], n, one) if word else 2)
    terms_of_f = sp.Poly(exact, x, y).terms()
    shown = sum(c * x**i * y**j for (i, j), c in terms_of_f if i + j <= 2)
    in_first, mixed, in_second = _forms(name, "in_first", "mixed", "in_second")
    # tr M Mᵀ = 2.
    along_it = (loss(a, b) + in_first * x**2 + 2 * mixed * x * y + in_second * y**2).subs(d, 2)
    return Step(f"d = 2, in entries: f up to the second order along an M that is {name}", shown, along_it)


def derivation() -> Derivation:
    """Return the steps: f in entries at d = 2 along a matrix of each kind; one layer, one example, many examples."""
    in_first, mixed, in_second = second_derivatives(-1)
    return Derivation(
        (
            _in_entries("symmetric", [[1, 0], [0, -1]]),
            _in_entries("antisymmetric", [[0, 1], [-1, 0]]),
            Step("without the second layer H_00 is 2 E tr S²/d", in_first.subs(b, 0), 2 * (n + d + 1) / n),
            Step("without the first layer H_11 is the same", in_second.subs(a, 0), 2 * (n + d + 1) / n),
            Step(
                "one example and M antisymmetric: x'Mx = 0, so that H_00 does not depend on b",
                sp.Subs(in_first, n, 1),
                2 * (d + 2),
            ),
            Step("many examples, S = I: H_00 is 2 (1 − b)²", sp.Limit(in_first, n, sp.oo), 2 * (1 - b) ** 2),
            Step("many examples: H_01 is 0, by M M = −M M'", sp.Limit(mixed, n, sp.oo), sp.S.Zero),
        )
    )


_canary = partial(with_clause, STATEMENT)


def _least(name: str, first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """Return the smaller eigenvalue of H for a kind of direction, at the steps a = `first` and b = `second`."""
    one, mixed, other = _forms(name, "in_first", "mixed", "in_second")
    least = (one + other - sp.sqrt((one - other) ** 2 + 4 * mixed**2)) / 2
    return least.xreplace({a: first, b: second})  # pyright: ignore[reportReturnType]


_PAIR = values_of(SMALL, LARGE)
EVALUATIONS = {
    "positive_definite": Evaluation(
        positive_definite(_PAIR),
        "at two equal steps of the same sum the second derivatives of f over all A_0 and A_1 are positive definite",
        positive_definite(values_of(TOTAL / 2, TOTAL / 2)),
        draws=40,
    ),
    "strict": Evaluation(
        strict_minimum(_PAIR),
        "f has a strict local minimum over all A_0 and A_1 at the smaller step and 21/20 of the larger one",
        strict_minimum(values_of(SMALL, LARGE, factors=(Fraction(1), Fraction(21, 20)))),
        draws=50,
    ),
}

two_layer_curvature = Theorem(
    id="ahn2023.two_layer_curvature",
    title="Theorem 3 with two layers, for every d and n: its least point is a strict local minimum over all A_0, A_1",
    source=Source("Theorem 3, L = 2, second derivatives", "derived here", AHN2023),
    statement=STATEMENT,
    example={"d": 5, "n": 20},
    values={
        f"{name}_{order}": _least(name, *steps)
        for name in KINDS
        for order, steps in (("smaller_first", (SMALL, LARGE)), ("larger_first", (LARGE, SMALL)))
    },
    derivation=derivation,
    canaries=(
        _canary(
            "U + W b in the order of U + W a",
            replace(
                ANTISYMMETRIC["determinant"],
                right=ANTISYMMETRIC["determinant"].right.subs({a: b, b: a}, simultaneous=True),
                says="",
            ),
        ),
        *(
            _canary(says, replace(SYMMETRIC["sum"], relation=sp.Gt(FORMS[f"sum_{key}"], 0, evaluate=False), says=""))
            for key, (says, *_) in OTHER_STEPS.items()
        ),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("ahn2023.lemma1", "ahn2023.two_layer_minimum"),
    argument=ARGUMENT,
)
