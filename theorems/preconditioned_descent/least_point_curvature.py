r"""Second derivatives over the A_l at Theorem 3's least point, given d, n and L <= 3, along each kind of direction.

At Σ = I, if the query's label is w*ᵀ x at first, it is w*ᵀ K x after L layers, with K = ∏ (I − S A_l), and
f = E tr K Kᵀ. At A_l = a_l I the Hessian of f splits into three kinds of directions A_l → A_l + x_l M, with no mixed
derivatives between two kinds (the docstring of `whole_curvature` has the proof): M = I; M symmetric of trace 0; M
antisymmetric. For each kind the Hessian is one L×L matrix in the x_l. A check certifies, given d and n, that the least
eigenvalue of each matrix is positive. Because these are all kinds, and the gradient vanishes (`theorem3`), the point is
then a strict local minimum over all A_l. The matrices depend on the order of the steps: all orders are checked.

For M = I/√d and every L, d and n the matrix is diagonal. With p(s) = ∏ (1 − a_l s), the entry (l, m) for l ≠ m is a
mean of p times a polynomial of degree at most L without a constant term, to which p is orthogonal; the entry (l, l) is
2 ∫ s² (p/(1 − a_l s))² dμ/d > 0, where ∫ s^k dμ = E tr S^k. For the other kinds `two_layer_curvature` covers L = 2, for
all d and n; for more layers there is no proof for all d and n here.

Source: derived here; Ahn et al. 2023, Theorem 3, looks at first derivatives.
"""

from fractions import Fraction
from functools import lru_cache, partial
from itertools import permutations

import flint
import numpy as np
import sympy as sp

from theorems.canaries import with_changes
from theorems.papers import AHN2023
from theorems.preconditioned_descent.multiples_of_the_inverse import INVERSE_PRIOR
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LAYERS,
    LINEAR_ATTENTION,
    PATTERN,
    L,
    d,
    n,
)
from theorems.preconditioned_descent.two_layer_minimum import PRODUCT, TOTAL, M, a, b, loss, orthogonality
from theorems.preconditioned_descent.whole_curvature import MOST_LAYERS, second_derivatives
from theorems.preconditioned_descent.whole_gradient import least_polynomial, sizes_of
from verify import Derivation, Enclosure, Hypothesis, Inequality, Source, Statement, Step, Theorem, enclosed
from verify.errors import UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import real_roots
from verify.evaluation.arithmetic import balls, positive_definite

KINDS = ("on_set", "symmetric", "antisymmetric")
"""The kinds of directions, in the order of their numbers."""
_BITS = 320
_NARROW, _SMALL = Fraction(1, 10**9), Fraction(1, 1000)


def _matrices(*at: Fraction) -> list[flint.arb_mat]:
    """Return the second derivatives along a kind of direction, a matrix for each order of the steps."""
    *sizes, kind, scale = at
    if kind not in range(len(KINDS)):
        raise UndefinedError(f"kind = {kind}: 0, 1 or 2")
    return [matrices[int(kind)] for matrices in _in_orders(*sizes, scale)]


@lru_cache(maxsize=64)
def _in_orders(L: Fraction, n: Fraction, d: Fraction, scale: Fraction) -> list[tuple[flint.arb_mat, ...]]:
    """Return the matrices of all kinds, for each order of the steps."""
    count, samples, size = sizes_of(L, n, d)
    if count > MOST_LAYERS or size < 2:
        raise UndefinedError(f"L = {count}, d = {size}: L <= {MOST_LAYERS} and d >= 2")
    p = least_polynomial(count, samples, size, Fraction(1), scale)
    roots = real_roots(flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in p])) if scale else []
    if len(roots) < count:
        raise UndefinedError(f"scale = {scale}: must be a number other than 0 at which the {count} steps are real")
    steps = [Enclosure(1 / high, 1 / low) for low, high in roots]
    return [second_derivatives(order, None, size, samples) for order in permutations(steps)]


def _about(matrix: flint.arb_mat) -> float:
    """Return an approximation of the least eigenvalue."""
    return float(np.linalg.eigvalsh([[float(x.mid()) for x in row] for row in matrix.tolist()])[0])


def _enclosed(matrix: flint.arb_mat) -> Enclosure:
    """Enclose the least eigenvalue: the matrix minus low·I is positive definite, and minus high·I it is not."""
    middle = Fraction(_about(matrix))
    away = _NARROW * max(abs(middle), _SMALL)
    found = Enclosure(middle - away, middle + away)
    with balls(_BITS) as arithmetic:
        identity = flint.arb_mat(matrix.nrows(), matrix.nrows(), 1)
        signs = [positive_definite(matrix - identity * arithmetic.number(end)) for end in (found.lower, found.upper)]
    if signs != [True, False]:
        raise UndecidedError(f"a least eigenvalue of about {float(middle):.6g} is not enclosed")
    return found


@lru_cache(maxsize=64)
def _least(*at: Fraction) -> Enclosure:
    ends = [_enclosed(matrix) for matrix in _matrices(*at)]
    return Enclosure(min(end.lower for end in ends), min(end.upper for end in ends))


@lru_cache(maxsize=256)
def _scanned(*at: float) -> float:
    return min(map(_about, _matrices(*(Fraction(x).limit_denominator(10**6) for x in at))))


@enclosed(version=1, scan=_scanned)
def curvature_at_least_point(L: Fraction, n: Fraction, d: Fraction, kind: Fraction, scale: Fraction) -> Enclosure:
    """Enclose the least second derivative of f along A_l → A_l + x_l M, |x| = |M|_F = 1, at A_l = a_l I, pattern (8).

    M is a multiple of I (kind 0), symmetric of trace 0 (kind 1) or antisymmetric (kind 2). p has degree L, p(0) = 1 and
    E tr S^k p(S) = 0 for k = 1 … L. The a_l are scale/root for the roots of p; the result is the least over all orders.
    """
    return _least(L, n, d, kind, scale)


def _definite(kind: int, *, scale: sp.Expr = sp.S.One, above: sp.Expr = sp.S.Zero) -> sp.Rel:
    return sp.Gt(curvature_at_least_point(L, n, d, kind, scale), above, evaluate=False)


ON_SET, SYMMETRIC, ANTISYMMETRIC = CLAIMS = tuple(
    Inequality(
        name,
        _definite(kind),
        f"at Theorem 3's least point, in every order of the a_l, the second derivatives of f along A_l -> A_l + x_l M, "
        f"M {which}, are positive definite in the x_l (at Sigma = I)",
    )
    for kind, (name, which) in enumerate(
        zip(KINDS, ("a multiple of I", "symmetric of trace 0", "antisymmetric"), strict=True)
    )
)
STATEMENT = Statement(
    parameters=(LAYERS, DIMENSION, EXAMPLES),
    hypotheses=(
        LINEAR_ATTENTION,
        PATTERN,
        GAUSSIAN_TOKENS,
        INVERSE_PRIOR,
        Hypothesis("few_layers", sp.Le(L, MOST_LAYERS), f"L <= {MOST_LAYERS}: all orders of the steps are checked"),
        Hypothesis("directions", sp.Ge(d, 2), "d >= 2: with d = 1 every A_l is a multiple of I"),
    ),
    claims=CLAIMS,
)


def derivation() -> Derivation:
    """Return the steps: second derivatives of one layer along I/√d, and of two along I, diagonal at the least point."""
    return Derivation(
        (
            Step(
                "one layer, along M = I/√d",
                sp.Derivative(M[0] - 2 * a * M[1] + a**2 * M[2], (a, 2)) / d,
                2 * (n + d + 1) / n,
            ),
            Step(
                "two layers, along M = I: the mixed second derivative is 4 ∫ s² p dμ",
                sp.Derivative(loss(a, b), a, b),
                4 * orthogonality(2, a + b, a * b),
            ),
            Step("the mixed one is 0 at the least point", orthogonality(2, TOTAL, PRODUCT), sp.S.Zero),
            Step(
                "the second derivative in a is 2 ∫ s² (1 − b s)² dμ",
                sp.Derivative(loss(a, b), (a, 2)),
                2 * (M[2] - 2 * b * M[3] + b**2 * M[4]),
            ),
        )
    )


_changed = partial(with_changes, STATEMENT)

least_point_curvature = Theorem(
    id="ahn2023.least_point_curvature",
    title="Theorem 3's least point, given d and n, L <= 3: positive second derivatives along each kind of directions",
    source=Source("Theorem 3, second derivatives", "derived here", AHN2023),
    statement=STATEMENT,
    example={"L": 3, "d": 5, "n": 20},
    values={f"least_{name}": curvature_at_least_point(L, n, d, kind, 1) for kind, name in enumerate(KINDS)},
    derivation=derivation,
    canaries=(
        _changed("at steps half as long", "on_set", relation=_definite(0, scale=sp.Rational(1, 2))),
        _changed("at steps 3/2 times as long", "symmetric", relation=_definite(1, scale=sp.Rational(3, 2))),
        _changed("at steps twice as long", "antisymmetric", relation=_definite(2, scale=sp.Integer(2))),
        _changed(
            "more than half as curved as one layer", "antisymmetric", relation=_definite(2, above=(n + d + 1) / n)
        ),
    ),
    proof_uses=("ahn2023.theorem3",),
)
