r"""Theorem 1's loss at d = 2 has a local minimum over all P and Q that is not global, for few examples.

Let Σ = diag(λ, ℓ), ℓ ≤ λ, w* ~ N(0, I) and t = tr Σ. The prediction depends on the last row p = (v, β) of P and the
columns q_j = (u_j, τ_j) of Q, j = 1, 2. As in `components`, f = λ F_1 + ℓ F_2 with M_j the symmetric part of u_j vᵀ and

    F_j = E (vᵀS u_j + wᵀS c_j + β τ_j wᵀSw + w_j)²
        = E (tr(S M_j) + β τ_j wᵀSw)² + 1 + 2 λ_j c_jj + Σ_i g_i c_ji²,    c_j = β u_j + τ_j v,

g_i = λ_i ((n + 1) λ_i + t)/n. The point is p = (1, 0, 0), q_1 = (0, 0, −a), q_2 = 0 with a = λ/g_1, Theorem 1's a_1.
At this point the label enters through Q, and not through P. The layer takes a gradient step in the first coordinate
only, and f exceeds its least value by ℓ² a_2, where a_2 = ℓ/g_2.

With v_1 = 1 fixed by scaling, half the second derivative at the point is a weighted sum of squares

    λ³ (n+2)/n (u_11 − κ β)² + (λ ℓ²/n)(u_22 + n β/λ)² + (λ² a² V − n ℓ²) β²/λ + (λ² ℓ/n) u_12² + (λ² ℓ (n+2)/n) u_21²
    + λ g_1 τ_1² + ℓ g_1 (τ_2 + ℓ v_2/g_1)² + (λ a² g_2 − ℓ³/g_1) v_2²,

where κ = a (n t + 2λ)/((n + 2) λ), and V is the mean square of the residual in the regression of wᵀSw on S_11. The
factor of β² is positive if and only if n ℓ² < λ² a² V, which holds for few examples or small ℓ: for n = 1 at every
ℓ ≤ λ, and at ℓ = λ only for n = 1. The factor of v_2² is (λ − ℓ) K, K > 0. At ℓ = λ rotations of the tokens and w*
preserve the law: one of them takes v_2 to 0, and the rest of the sum is positive definite. If λ and ℓ are exchanged, so
that the point is at the smaller eigenvalue, this factor is −(λ − ℓ) K', K' > 0, and for ℓ < λ the point is a saddle.

For any d, by hand, the same point at the largest eigenvalue λ_k is a local minimum if n Σ_{j≠k} λ_j² < λ_k² a_k² V, and
f exceeds its least value there by Σ_{j≠k} λ_j² a_j: each j ≠ k has its own square (u_jj + n β/λ_k)² and its own v_j².
At d = 3 `paper_checks` compares this with quadrature; the statement is for d = 2. With more examples there can be local
minima at β ≠ 0 instead (`paper_checks.ahn2023.label_in_q`).

Source: derived here; Ahn et al. 2023, Theorem 1, is about the global minimum.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.components import GAUSSIAN_TOKENS, ONE_LAYER, curvature, size
from theorems.preconditioned_descent.one_layer import PREDICTION, STANDARD_PRIOR
from theorems.preconditioned_descent.one_layer_loss import ODD_IN_W, QUERY, ROW_BY_COLUMN, square_of_c
from theorems.preconditioned_descent.setting import EXAMPLES, LINEAR_ATTENTION, n, r
from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials, value_of
from theorems.preconditioned_descent.trials.one_layer_minimum import (
    label_in_columns,
    pattern,
    saddle,
    strict_local_minimum,
)
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.word_moments import word_formula
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    Trial,
    matrix as letter,
)

if TYPE_CHECKING:
    from numpy.random import Generator

lam, ell = sp.symbols("largest smaller", positive=True)
LARGEST = Parameter("largest", "rational", "the larger eigenvalue of Sigma", above=0)
SMALLER = Parameter("smaller", "rational", "the smaller eigenvalue of Sigma", above=0)
t, squares = lam + ell, lam**2 + ell**2
g1, g2 = (curvature(x, sp.S.One, t) for x in (lam, ell))
a, a2 = lam / g1, ell / g2
e, v2, beta, u11, u12, u21, u22, tau1, tau2, v1 = DIRECTION = sp.symbols(
    "e v_2 beta u_11 u_12 u_21 u_22 tau_1 tau_2 v_1", real=True
)
LABELS = (n + 2) / n * (t**2 + 2 * squares)
"""E (wᵀSw)²."""
LEFT = LABELS - (n * t + 2 * lam) ** 2 / (n * (n + 2))
"""V, the mean square of the residual of wᵀSw in the regression on S_11."""
SIGMA = sp.diag(lam, ell)


def component(j: int, v: sp.Matrix, beta: sp.Expr, u: sp.Matrix, tau: sp.Expr) -> sp.Expr:
    """Return F_j at P's last row (v, β) and Q's column (u, τ)."""
    M = (u * v.T + v * u.T) / 2
    mean, corner = (SIGMA * M).trace(), beta * tau
    first, second = (beta * u[i] + tau * v[i] for i in range(2))
    even = mean**2 + 2 * (SIGMA * M * SIGMA * M).trace() / n
    even += 2 * corner * (mean * t + 2 * (SIGMA * SIGMA * M).trace() / n) + corner**2 * LABELS
    return even + 1 + 2 * SIGMA[j, j] * (first, second)[j] + g1 * first**2 + g2 * second**2  # pyright: ignore[reportReturnType]


def loss(v: sp.Matrix, beta: sp.Expr, columns: tuple[sp.Matrix, sp.Matrix], last: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return f at P's last row (v, β) and Q's columns (u_j, τ_j)."""
    parts = zip((lam, ell), columns, last, strict=True)
    return sum((eigenvalue * component(j, v, beta, u, tau) for j, (eigenvalue, u, tau) in enumerate(parts)), sp.S.Zero)


_X, _w, _v, _u, _sigma = map(letter, ("X", "w", "V", "U", "Sigma"))
_S = _X * sp.transpose(_X) / n
_read, _label, _odd = sp.symbols("read label odd", real=True)
tau = sp.Symbol("tau", real=True)
ROW, COLUMN = sp.symbols("r_1 r_2", real=True), sp.symbols("k_1 k_2", real=True)
"""The entries of v and of u."""


def _component_mean(j: int) -> GaussianMoment:
    """Return the clause that states that F_j is the mean square of p'Gq_j + w_j, with Σ = diag(λ, ℓ)."""
    unit = letter(f"e_{j + 1}")
    entries = {_v: ROW, _u: COLUMN, unit: tuple(sp.Integer(int(i == j)) for i in range(2))}
    powers = (sp.Integer(1), _sigma, _sigma * _sigma)
    traces = {
        sp.transpose(one) * between * other: sum(
            x * y * eigenvalue**power for x, y, eigenvalue in zip(entries[one], entries[other], (lam, ell), strict=True)
        )
        for i, one in enumerate(entries)
        for other in list(entries)[i:]
        for power, between in enumerate(powers)
    }
    return GaussianMoment(
        f"component_{j + 1}",
        (_read + beta * tau * _label + _odd) ** 2,
        component(j, sp.Matrix(ROW), beta, sp.Matrix(COLUMN), tau),
        {_X: (2, n), **dict.fromkeys((_w, _v, _u, unit), (2, 1)), _sigma: (2, 2)},
        {_X: _sigma, _w: None},
        {
            _read: sp.transpose(_v) * _S * _u,
            _label: sp.transpose(_w) * _S * _w,
            _odd: sp.transpose(_w) * (_S * (beta * _u + tau * _v) + unit),
        },
        {**traces, _sigma: t, _sigma * _sigma: squares},
        says=f"E (v'Su + beta tau w'Sw + w'S(beta u + tau v) + w_{j + 1})^2 is F_{j + 1} at (v, beta) and (u, tau); "
        "Sigma = diag(largest, smaller), v = (r_1, r_2), u = (k_1, k_2)",
    )


COMPONENTS = tuple(map(_component_mean, range(2)))


def near(position: sp.Expr) -> sp.Expr:
    """Return f at the point with τ_1 = −position, moved by e times the other symbols of `DIRECTION`."""
    v = sp.Matrix([1 + e * v1, e * v2])
    columns = sp.Matrix([e * u11, e * u12]), sp.Matrix([e * u21, e * u22])
    return loss(v, e * beta, columns, (e * tau1 - position, e * tau2))


def _slope(position: sp.Expr) -> sp.Expr:
    return sp.diff(near(position), e).subs(e, 0)  # pyright: ignore[reportReturnType]


_KAPPA = a * (n * t + 2 * lam) / ((n + 2) * lam)
_LAST = lam * a**2 * g2 - ell**3 / g1
STATIONARY = Identity("stationary", _slope(a), sp.S.Zero, "all slopes of f vanish at the point")
_WEIGHTED = (
    (lam**3 * (n + 2) / n, u11 - _KAPPA * beta),
    (lam * ell**2 / n, u22 + n * beta / lam),
    ((lam**2 * a**2 * LEFT - n * ell**2) / lam, beta),
    (lam**2 * ell / n, u12),
    (lam**2 * ell * (n + 2) / n, u21),
    (lam * g1, tau1),
    (ell * g1, tau2 + ell * v2 / g1),
)
CURVED = Identity(
    "curved",
    sp.diff(near(a).subs(v1, 0), e, 2).subs(e, 0) / 2,  # pyright: ignore[reportOperatorIssue]
    sp.Add(*(weight * square**2 for weight, square in _WEIGHTED)) + _LAST * v2**2,
    "with v_1 = 1, half the second derivative is h_1 (u_11 - kappa beta)^2 + h_2 (u_22 + n beta/largest)^2 + h_3 "
    "(largest^2 a^2 V - n smaller^2) beta^2 + h_4 u_12^2 + h_5 u_21^2 + h_6 tau_1^2 + h_7 (tau_2 + smaller v_2/g_1)^2 "
    "+ c v_2^2",
)
WEIGHTS = tuple(
    Inequality(f"weight_{index}", sp.Gt(weight, 0, evaluate=False), f"h_{index} > 0")
    for index, (weight, _) in enumerate(_WEIGHTED, 1)
    if index != 3
)
THIRD_WEIGHT = Implication(
    "weight_3",
    (sp.Lt(u12, u11),),
    sp.Gt((u11 - u12) / lam, 0),
    "(x - y)/largest > 0 where y < x: h_3 > 0 where n smaller^2 < largest^2 a^2 V",
)
_EXCHANGE = {lam: ell, ell: lam}
_FACTOR = n * ell * (lam**2 + (n + 3) * lam * ell + ell**2) / (lam * ((n + 2) * lam + ell) ** 2)
_FACTOR_EXCHANGED = _FACTOR.subs(_EXCHANGE, simultaneous=True)
LAST = Identity("c", _LAST, (lam - ell) * _FACTOR, "c = (largest - smaller) K")
LAST_EXCHANGED = Identity(
    "c_exchanged",
    _LAST.subs(_EXCHANGE, simultaneous=True),
    -(lam - ell) * _FACTOR_EXCHANGED,
    "with largest and smaller exchanged, c = -(largest - smaller) K'",
)
PRINTED = tuple(
    Identity(
        f"printed_{name}",
        eigenvalue * (1 - eigenvalue / ((n + 1) * eigenvalue / n + t / n)),
        eigenvalue * (1 - eigenvalue * (eigenvalue / curved)),
        f"Theorem 1's {name} (1 - {name} a), a = 1/((n+1) {name}/n + tr Sigma/n), by a = {name}/g",
    )
    for name, eigenvalue, curved in (("largest", lam, g1), ("smaller", ell, g2))
)
LAST_SIGN = Implication(
    "c_positive", (sp.Lt(ell, lam), sp.Gt(v1, 0)), sp.Gt((lam - ell) * v1, 0), "(largest - smaller) K > 0 where K > 0"
)
EXCHANGED_SIGN = Implication(
    "c_exchanged_negative",
    (sp.Lt(ell, lam), sp.Gt(v1, 0)),
    sp.Lt(-(lam - ell) * v1, 0),
    "-(largest - smaller) K' < 0 where K' > 0",
)
POSITIVE = Inequality("positive", sp.Gt(_FACTOR, 0, evaluate=False), "K > 0")
POSITIVE_EXCHANGED = Inequality("positive_exchanged", sp.Gt(_FACTOR_EXCHANGED, 0, evaluate=False), "K' > 0")
ABOVE = Identity(
    "above",
    near(a).subs(e, 0),
    lam * (1 - lam * a) + ell * (1 - ell * a2) + ell**2 * a2,
    "f there exceeds its least value by smaller^2 a_2, a_2 = 1/((n+1) smaller/n + (largest + smaller)/n)",
)
MORE = Inequality("more", sp.Gt(ell**2 * a2, 0, evaluate=False), "smaller^2 a_2 > 0")
LOCAL = InWords(
    "local",
    "at P = e_3 e_1', Q = -a e_3 e_1' in an eigenbasis of Sigma, a = 1/((n+1) largest/n + (largest + smaller)/n), f "
    "over all P and Q has a local minimum that is not global; it is strict up to rescaling, rotations that preserve "
    "Sigma, and entries that do not affect the prediction",
)
SADDLE = InWords(
    "saddle",
    "if smaller < largest, at P = e_3 e_2', Q = -b e_3 e_2', e_2 the eigenvector of smaller and b = 1/((n+1) smaller/n "
    "+ (largest + smaller)/n), all slopes of f over all P and Q vanish, and it is a saddle",
)
STATEMENT = Statement(
    parameters=(EXAMPLES, LARGEST, SMALLER),
    hypotheses=(
        LINEAR_ATTENTION,
        ONE_LAYER,
        GAUSSIAN_TOKENS,
        STANDARD_PRIOR,
        Hypothesis("two_dimensions", text="d = 2, Sigma has the eigenvalues largest and smaller"),
        Hypothesis("ordered", sp.Le(ell, lam), "smaller <= largest"),
        Hypothesis(
            "few_examples",
            sp.Lt(n * ell**2, lam**2 * a**2 * LEFT),
            "n smaller^2 < largest^2 a^2 V, V = (n+2)/n (t^2 + 2 tr Sigma^2) - (n t + 2 largest)^2/(n (n+2)), where t "
            "is tr Sigma",
        ),
    ),
    variables=(*DIRECTION, r, size, tau, *ROW, *COLUMN, square_of_c),
    claims=(LOCAL, ABOVE, SADDLE),
    steps=(
        *(
            PREDICTION,
            ROW_BY_COLUMN,
            ODD_IN_W,
            QUERY,
            *COMPONENTS,
            STATIONARY,
            CURVED,
            *WEIGHTS,
            THIRD_WEIGHT,
            LAST,
            POSITIVE,
            LAST_SIGN,
        ),
        *(LAST_EXCHANGED, POSITIVE_EXCHANGED, EXCHANGED_SIGN, *PRINTED, MORE),
    ),
)
ARGUMENT = (
    Inference(
        "seen",
        "in an eigenbasis of Σ the prediction depends only on the last row (v, β) of P and the columns (u_j, τ_j) of "
        "Q; the query's token is independent of the rest, so that f is λ_1 F_1 + λ_2 F_2, F_j = E (p'Gq_j + w_j)²",
        ("prediction", "query", "linear_attention", "one_layer", "gaussian_tokens", "two_dimensions"),
        "independent factors",
    ),
    Inference(
        "loss",
        "p'Gq_j is v'Su_j + w'S(β u_j + τ_j v) + β τ_j w'Sw: F_1 and F_2, and so f, are the polynomials of the steps",
        ("seen", "standard_prior", "gaussian_tokens", "row_by_column", "odd_in_w", "component_1", "component_2"),
        "application",
    ),
    Inference(
        "definite",
        "if smaller < largest, at the point with v_1 = 1 all slopes vanish and the second derivatives are positive "
        "definite",
        (
            *("loss", "stationary", "curved", "few_examples", "weight_3", "c", "positive", "c_positive"),
            *(weight.label for weight in WEIGHTS),
        ),
        "nonnegative terms",
    ),
    Inference(
        "definite_in_line",
        "for smaller <= largest, all slopes vanish at the point, and with v_1 = 1 and v_2 = 0 the second derivatives "
        "are positive definite",
        ("loss", "stationary", "curved", "few_examples", "weight_3", *(weight.label for weight in WEIGHTS)),
        "nonnegative terms",
    ),
    Inference(
        "rescaled",
        "near the point v_1 > 0, and P/v_1, Q v_1 has the same f and v_1 = 1",
        ("ahn2023.theorem1:rescaling", "seen"),
        "application",
    ),
    Inference(
        "rotated",
        "if smaller = largest, rotations of the tokens and w* preserve their law: f is the same at P and Q rotated by "
        "them, and near the point one of them takes v_2 to 0",
        ("seen", "gaussian_tokens", "standard_prior", "two_dimensions"),
        rules.INVARIANCE_OF_THE_LAW,
    ),
    Inference(
        "minimum_if_different",
        "if smaller < largest, f is nowhere lower near the point, and higher except at points that differ by rescaling "
        "and by entries that do not affect the prediction",
        ("definite", "rescaled", "seen"),
        rules.SECOND_ORDER_CONDITION,
    ),
    Inference(
        "minimum_if_equal",
        "if smaller = largest, f is nowhere lower near the point, and higher except at points that differ by "
        "rescaling, rotations and entries that do not affect the prediction",
        ("definite_in_line", "rotated", "rescaled", "seen"),
        rules.SECOND_ORDER_CONDITION,
    ),
    Inference(
        "minimum",
        "so the point is a local minimum, strict up to rescaling, rotations if smaller = largest, and entries that do "
        "not affect the prediction",
        ("minimum_if_different", "minimum_if_equal", "ordered"),
        "case distinction",
    ),
    Inference(
        "local",
        "the point is a local minimum, and f there exceeds its least value by smaller² a_2 > 0",
        ("minimum", "loss", "above", "more", *(each.label for each in PRINTED), "ahn2023.theorem1:global"),
        "application",
    ),
    Inference(
        "exchanged",
        "the formulas for the slopes and the second derivative hold for any two positive eigenvalues: with largest and "
        "smaller exchanged, they are the formulas for the point at the smaller eigenvalue",
        ("loss", "stationary", "curved", "weight_6"),
        "application",
    ),
    Inference(
        "saddle",
        "if smaller < largest, the second derivative at that point is negative along v_2 with tau_2 = -largest v_2/g, "
        "where g is g_1 with the eigenvalues exchanged, and positive along tau_1",
        ("exchanged", "c_exchanged", "positive_exchanged", "c_exchanged_negative"),
        rules.INDEFINITE_HESSIAN,
    ),
)


def _local_at(place: int) -> Trials:
    """Return trials of the claim that the point at this eigenvalue is a local minimum that is not global."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        eigenvalues = instance["largest"], instance["smaller"]
        steps = [value_of(step, instance) for step in (a, a2)]
        point = label_in_columns(instance["n"], eigenvalues, place, steps[place])
        return strict_local_minimum(point, place, pattern(instance["n"], eigenvalues, steps))

    return trials


def _saddle_at(step: sp.Expr) -> Trials:
    """Return trials of the claim that the point at the smaller eigenvalue, with this step, is a saddle."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        eigenvalues = instance["largest"], instance["smaller"]
        if eigenvalues[1] >= eigenvalues[0]:
            # The claim is about smaller < largest only.
            return iter(())
        return saddle(label_in_columns(instance["n"], eigenvalues, 1, value_of(step, instance)), 1)

    return trials


def derivation() -> Derivation:
    """Return the steps: the Gaussian moments of the even part, and the loss of the pattern."""
    moments = (word_formula(words, {"M", "I"}) for words in ([["M"], ["I"]], [["I"], ["I"]], [["I", "I"]]))
    # M = e_1 e_1'.
    traces = {("M",): lam, ("I",): t, ("I", "M"): lam**2, ("I", "I"): squares}
    mixed, one, two = (
        sum((c * sp.Mul(*(traces[tuple(sorted(word))] for word in key)) for key, c in moment.items()), sp.S.Zero)
        for moment in moments
    )
    x, y, m = sp.symbols("x y m", real=True)
    pattern = loss(sp.zeros(2, 1), sp.S.One, (sp.Matrix([-x, 0]), sp.Matrix([0, -y])), (sp.S.Zero, sp.S.Zero))
    return Derivation(
        (
            Step("E S_11 tr S = E S_11² + E S_11 E S_22", mixed, lam**2 * (n + 2) / n + lam * ell),
            Step("E (w'Sw)² = E (tr S)² + 2 E tr S²", one + 2 * two, LABELS),
            Step(
                "the loss of pattern (8)",
                pattern,
                sum(z - 2 * z**2 * p + z * g * p**2 for z, g, p in ((lam, g1, x), (ell, g2, y))),
            ),
            Step(
                "few_examples at n = 1: it holds for every smaller <= largest",
                (lam**2 * a**2 * LEFT - n * ell**2).subs(n, 1),
                (6 * lam * (lam**3 - ell**3) + ell * (4 * lam**3 - lam**2 * ell / 3 - ell**3)) / (3 * lam + ell) ** 2,
            ),
            Step(
                "few_examples at smaller = largest: it fails for n = m + 2, and so holds only for n = 1",
                (lam**2 * a**2 * LEFT - n * ell**2).subs(ell, lam).subs(n, m + 2),
                -(lam**2) * (m + 2) * (m**3 + 10 * m**2 + 25 * m + 8) / ((m + 4) * (m + 5) ** 2),
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)

one_layer_local_minimum = Theorem(
    id="ahn2023.one_layer_local_minimum",
    title="One layer over all P and Q: a local minimum that is not global, with the label in Q in place of P",
    source=Source("Theorem 1, other minima", "derived here", AHN2023),
    statement=STATEMENT,
    example={"n": 1, "largest": 1, "smaller": "1/2"},
    values={
        "loss": lam * (1 - lam * a) + ell,
        "least_loss": lam * (1 - lam * a) + ell * (1 - ell * a2),
        "above": ell**2 * a2,
    },
    derivation=derivation,
    canaries=(
        _canary("a step without the trace", replace(STATIONARY, left=_slope(n / ((n + 1) * lam)), says="")),
        _canary("twice as curved", replace(CURVED, right=2 * CURVED.right, says="")),
        _canary("a saddle", replace(LAST, right=-LAST.right, says="")),
        _canary("K <= 0", replace(POSITIVE, relation=sp.Le(*POSITIVE.relation.args, evaluate=False), says="")),
        _canary("a minimum at the smaller eigenvalue", replace(LAST_EXCHANGED, right=-LAST_EXCHANGED.right, says="")),
        _canary("the least value", replace(ABOVE, right=ABOVE.right - ell**2 * a2, says="")),
    ),
    proof_uses=("ahn2023.theorem1",),
    argument=ARGUMENT,
    evaluations={
        "local": Evaluation(
            _local_at(0),
            "at P = e_3 e_2', Q = -b e_3 e_2', e_2 the eigenvector of smaller and b = 1/((n+1) smaller/n + (largest + "
            "smaller)/n), f over all P and Q has a local minimum that is not global; it is strict up to rescaling, "
            "rotations that preserve Sigma, and entries that do not affect the prediction",
            _local_at(1),
        ),
        "saddle": Evaluation(
            _saddle_at(a2),
            "if smaller < largest, at P = e_3 e_2', Q = -b e_3 e_2', e_2 the eigenvector of smaller and "
            "b = 1/((n+2) smaller/n + (largest + smaller)/n), all slopes of f over all P and Q vanish, and it is a "
            "saddle",
            _saddle_at(1 / ((n + 2) / n * ell + t / n)),
        ),
    },
)
