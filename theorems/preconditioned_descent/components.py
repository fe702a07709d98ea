r"""Lemmas 2 and 3: the componentwise problems of Theorem 1 are convex and have their minimum at A.

One layer, x ~ N(0, Σ), w* ~ N(0, Ψ), Ψ = diag(ψ_1 … ψ_d), and Σ = diag(λ_1 … λ_d) without loss of generality. The
prediction is − pᵀ G q(x), with p the last row of P, q(x) = Σ_j x_j q_j for the first d columns q_j of Q, and

    G = (1/n) Σ_i z^(i) z^(i)ᵀ = [[S, Sw], [wᵀS, wᵀSw]],

so that f = Σ_j λ_j f_j with f_j = E (tr(G q_j pᵀ) + w_j)². The relaxed problem replaces q_j pᵀ by *any* matrix M. Let
c ∈ R^d be the sum of the last column and the last row of M. Then

    tr(G M) + w_j = (tr(S M_11) + M_22 wᵀSw) + wᵀ(S c + e_j)

is the sum of an even and an odd function of w, so that f_j is the sum of their mean squares. The mean square of the
even part is least, 0, if the even part is 0. The mean square of the odd part is a quadratic function of c with the
second derivatives 2 g_k, g_k = λ_k ((n + 1) λ_k ψ_k + tr(ΣΨ)) / n. So the problem is convex (Lemma 3), and f_j is least
where its slopes vanish (Lemma 2): at c_k = 0 for k ≠ j and c_j = −λ_j ψ_j / g_j. For Ψ = I this c_j is minus the
paper's 1 / ((n+1) λ_j/n + Σ_k λ_k / n).

Source: Ahn et al. 2023, Lemmas 2 and 3, whose wording is not quoted here; the relaxation is the one above.
"""

from dataclasses import replace

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import AHN2023
from theorems.preconditioned_descent.setting import (
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LINEAR_ATTENTION,
    NORMAL_MEAN,
    formal,
    n,
)
from theorems.preconditioned_descent.trials.component_problems import DRAWS, convex, minimised_at
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.word_moments import matrix_formula
from verify import (
    Case,
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    matrix as letter,
)

lam, other, trace = sp.symbols("lambda ell t", positive=True)
size = sp.Symbol("m", integer=True, positive=True)
c, c_other = sp.symbols("c c_k", real=True)

PRIOR = Parameter("prior", "word", "covariance of w*: I, or Sigma^{-1}", words=("identity", "inverse"))
STANDARD_PRIOR = Hypothesis("standard_prior", text="w* ~ N(0, I)", varies=PRIOR)
ONE_LAYER = Hypothesis("one_layer", text="L = 1, all entries of P and Q free")
word = sp.Symbol("prior")


def prior(eigenvalue: sp.Expr) -> sp.Expr:
    """Return the prior's variance along an eigenvector of Sigma."""
    return Case(word, sp.S.One, 1 / eigenvalue)  # pyright: ignore[reportReturnType]


prior_trace = Case(word, trace, size)
"""tr(ΣΨ): the trace of Σ for Ψ = I, and the size d of Σ for Ψ = Σ⁻¹."""


def curvature(eigenvalue: sp.Expr, variance: sp.Expr, mixed: sp.Expr) -> sp.Expr:
    """Return g_k from the eigenvalue λ_k, the variance ψ_k and `mixed`, which is tr(ΣΨ)."""
    return eigenvalue * ((n + 1) * eigenvalue * variance + mixed) / n


def component(
    position: sp.Expr, eigenvalue: sp.Expr = lam, variance: sp.Expr | None = None, mixed: sp.Expr = prior_trace
) -> sp.Expr:
    """Return f_j at c_j = `position`, where all other c_k and the even part are 0."""
    psi = prior(eigenvalue) if variance is None else variance
    return psi + 2 * position * eigenvalue * psi + position**2 * curvature(eigenvalue, psi, mixed)


def preconditioner(eigenvalue: sp.Expr) -> sp.Expr:
    """Return Theorem 1's A along an eigenvector, as printed."""
    return 1 / ((n + 1) / n * eigenvalue + trace / n)


A = preconditioner(lam)
WHOLE = component(c) + c_other**2 * curvature(other, prior(other), prior_trace)
"""f_j with c_j and one other c_k free."""

STATIONARY = Identity(
    "stationary", sp.Subs(sp.Derivative(component(c), c), c, -A), sp.S.Zero, says="the slope in c_j vanishes at -A_j"
)
OTHERS = Identity(
    "others",
    sp.Subs(sp.Derivative(WHOLE, c_other), c_other, 0),
    sp.S.Zero,
    says="the slope in c_k vanishes at 0, k != j",
)
SECOND_DERIVATIVE = Identity(
    "second_derivative",
    sp.Derivative(WHOLE, (c_other, 2)),
    2 * curvature(other, prior(other), prior_trace),
    "the second derivative of f_j in c_k is 2 g_k",
)
CONVEX = Inequality(
    "convex", sp.Gt(curvature(lam, prior(lam), prior_trace), 0, evaluate=False), "the curvature in c_k is positive"
)


MINIMISER = InWords(
    "minimiser",
    "in an eigenbasis of Sigma M = -A_j e_j e_{d+1}', A_j = 1/((n+1) lambda_j/n + tr Sigma/n), minimises "
    "f_j = E (tr(G M) + w_j)^2 over all matrices M, and the slopes vanish there",
)
CONVEX_PROBLEM = InWords(
    "convex_problem",
    "in an eigenbasis of Sigma f_j = E (tr(G M) + w_j)^2 is convex in the matrix M, and strictly so in c, the sum of "
    "its last column and last row",
)
_X, _w, _c, _e, _B, _sigma = map(letter, ("X", "w", "v", "e", "B", "Sigma"))
_S = _X * sp.transpose(_X) / n
_even, _label, _odd = sp.symbols("even label odd", real=True)
corner, along, once, twice = ODD_NAMES = sp.symbols("corner along once twice", real=True)
ODD_PART = GaussianMoment(
    "odd_part",
    (_even + corner * _label + _odd) ** 2 - (_even + corner * _label) ** 2,
    1 + 2 * along + ((n + 1) * twice + trace * once) / n,
    {_X: (size, n), _w: (size, 1), _c: (size, 1), _e: (size, 1), _B: (size, size), _sigma: (size, size)},
    {_X: _sigma, _w: None},
    {
        _even: _S * _B,
        _label: sp.transpose(_w) * _S * _w,
        _odd: sp.transpose(_w) * (_S * _c + _e),
    },
    {
        sp.transpose(_e) * _e: sp.S.One,
        sp.transpose(_e) * _sigma * _c: along,
        sp.transpose(_c) * _sigma * _c: once,
        sp.transpose(_c) * _sigma * _sigma * _c: twice,
        _sigma: trace,
    },
    says="E (tr S B + corner w'Sw + w'(S v + e))^2 exceeds E (tr S B + corner w'Sw)^2 by 1 + 2 e'Sigma v + "
    "((n + 1) v'Sigma^2 v + tr(Sigma) v'Sigma v)/n; e'e = 1, w ~ N(0, I), S is the mean of n squares x x', "
    "x ~ N(0, Sigma)",
)
ALONG_AN_EIGENVECTOR = Identity(
    "along_an_eigenvector",
    ((n + 1) * (lam**2 * c**2) + trace * (lam * c**2)) / n,
    curvature(lam, sp.S.One, trace) * c**2,
    "((n + 1) lambda_k^2 c_k^2 + tr(Sigma) lambda_k c_k^2)/n = g_k c_k^2, g_k = lambda_k ((n + 1) lambda_k + tr Sigma)"
    "/n",
)
QUADRATIC = Inference(
    "quadratic",
    "tr(G M) + w_j is the sum of the even part tr(S M_11) + M_22 w'Sw and the odd part w'(S c + e_j): in an eigenbasis "
    "of Σ, f_j is the mean square of the even part plus 1 + 2 λ_j c_j + Σ_k g_k c_k²",
    ("linear_attention", "one_layer", "gaussian_tokens", "standard_prior", "odd_part", "along_an_eigenvector"),
    rules.TRACE_IN_ENTRIES,
)


def statement(claim: InWords, *clauses: Identity | Inequality, steps: tuple[Identity, ...] = ()) -> Statement:
    """Return a statement about one layer, for all eigenvalues lambda and ell, traces t of Sigma, and sizes m."""
    return Statement(
        parameters=(EXAMPLES, PRIOR),
        hypotheses=(LINEAR_ATTENTION, ONE_LAYER, GAUSSIAN_TOKENS, STANDARD_PRIOR),
        variables=(lam, other, trace, size, c, c_other, *ODD_NAMES),
        claims=(claim, *clauses),
        steps=(ODD_PART, ALONG_AN_EIGENVECTOR, *steps),
    )


def moments() -> tuple[Step, ...]:
    """Return the steps that derive g_k and the best c_j from Gaussian moments, for any d."""
    sigma, psi_matrix = letter("Sigma"), letter("Psi")
    psi, tau = sp.symbols("psi tau", positive=True)
    # A term of E SΨS with letters is a multiple of ΣΨΣ, and one without letters is a multiple of tr(ΣΨ) Σ.
    square = sum(
        coefficient * (sigma * psi_matrix * sigma if letters else sigma * tau)
        for (letters, _), coefficient in matrix_formula(["Psi"], {"Psi"}).items()
    )
    g = curvature(lam, psi, tau)
    return (
        Step(
            "E SΨS by Gaussian integration by parts, τ = tr(ΣΨ)",
            square,
            sigma * psi_matrix * sigma + (sigma * psi_matrix * sigma + tau * sigma) / n,
        ),
        Step("the entry (k, k) is g_k: ΣΨΣ has λ²ψ there, Σ has λ", lam**2 * psi + (lam**2 * psi + tau * lam) / n, g),
        Step(
            "the odd part is least at c_j = −λψ/g",
            component(c, lam, psi, tau),
            g * (c + lam * psi / g) ** 2 + psi - (lam * psi) ** 2 / g,
        ),
        Step("for Ψ = I this c_j is −A_j", lam / curvature(lam, sp.S.One, trace), A),
    )


def _stationary_at(position: sp.Expr) -> Identity:
    return replace(STATIONARY, left=sp.Subs(sp.Derivative(component(c), c), c, position), says="")


LEMMA2 = replace(
    statement(MINIMISER, STATIONARY, OTHERS),
    formal={
        "minimiser": formal(
            NORMAL_MEAN,
            lemma2_minimiser="one_layer.convexity.component_minimum",
            lemma2_slopes="one_layer.convexity.component_slopes",
            covariance_exists="one_layer.component.covariance_exists",
            normal_mean_exists="one_layer.normal_mean.normal_mean_exists",
        )
    },
)
lemma2 = Theorem(
    id="ahn2023.lemma2",
    title="The componentwise problems are minimised at A",
    source=Source("Lemma 2", "recalled", AHN2023, "the componentwise problem; its wording is ours"),
    statement=LEMMA2,
    example={"n": 20},
    derivation=lambda: Derivation(moments()),
    canaries=(
        with_clause(LEMMA2, "n - 1 for n + 1", _stationary_at(-1 / ((n - 1) / n * lam + trace / n))),
        with_clause(LEMMA2, "the trace dropped", _stationary_at(-n / ((n + 1) * lam))),
        with_clause(LEMMA2, "the other sign", _stationary_at(A)),
    ),
    proof_uses=("ahn2023.lemma3",),
    argument=(
        QUADRATIC,
        Inference(
            "slopes",
            "at M = −A_j e_j e_{d+1}' the even part is 0, so that its mean square is least and its slopes vanish; the "
            "slopes of the mean square of the odd part vanish, too",
            ("quadratic", "stationary", "others"),
            rules.SLOPES_AT_A_LEAST_POINT,
        ),
        Inference(
            "minimiser",
            "f_j is convex, so that it is least where its slopes vanish",
            ("slopes", "ahn2023.lemma3:convex_problem"),
            rules.STATIONARY_POINT_OF_A_CONVEX_FUNCTION,
        ),
    ),
    evaluations={
        "minimiser": Evaluation(
            minimised_at(A),
            "in an eigenbasis of Sigma M = -A_j e_j e_{d+1}', A_j = 1/((n+2) lambda_j/n + tr Sigma/n), minimises "
            "f_j = E (tr(G M) + w_j)^2 over all matrices M, and the slopes vanish there",
            minimised_at(1 / ((n + 2) / n * lam + trace / n)),
            DRAWS,
        )
    },
)


def _convex_above(bound: sp.Expr) -> Inequality:
    return replace(CONVEX, relation=sp.Gt(curvature(lam, prior(lam), prior_trace), bound, evaluate=False), says="")


LEMMA3 = replace(
    statement(CONVEX_PROBLEM, CONVEX, steps=(SECOND_DERIVATIVE,)),
    formal={
        "convex_problem": formal(
            NORMAL_MEAN,
            lemma3_convex="one_layer.convexity.component_convex",
            lemma3_strictly="one_layer.convexity.component_strictly_convex",
            covariance_exists="one_layer.component.covariance_exists",
            normal_mean_exists="one_layer.normal_mean.normal_mean_exists",
        )
    },
)
lemma3 = Theorem(
    id="ahn2023.lemma3",
    title="The componentwise problems are convex",
    source=Source("Lemma 3", "recalled", AHN2023, "the componentwise problem; its wording is ours"),
    statement=LEMMA3,
    example={"n": 20},
    derivation=lambda: Derivation(moments()),
    canaries=(
        with_clause(LEMMA3, "n + 2 for n + 1, the trace dropped", _convex_above((n + 2) * lam**2 / n)),
        with_clause(LEMMA3, "above twice the trace's part", _convex_above(2 * lam * trace / n)),
        with_clause(LEMMA3, "a curvature of 1", _convex_above(sp.S.One)),
    ),
    argument=(
        Inference(
            "convex_in_M",
            "f_j is the mean of squares of affine functions of M",
            (),
            rules.CONVEXITY_OF_A_SQUARE,
        ),
        QUADRATIC,
        Inference(
            "convex_problem",
            "the second derivative of f_j in c is diagonal, with the entries 2 g_k, and g_k > 0",
            ("convex_in_M", "quadratic", "second_derivative", "convex"),
            rules.SECOND_DERIVATIVE,
        ),
    ),
    evaluations={
        "convex_problem": Evaluation(
            convex(1),
            "in an eigenbasis of Sigma f_j = E (tr(G M) + w_j)^2 is convex in the matrix M, and strictly so in c, its "
            "last column minus its last row",
            convex(-1),
            DRAWS,
        )
    },
)
