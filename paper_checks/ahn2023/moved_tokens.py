"""Comparisons for layers that precondition their tokens too: loss and gradient on the set, by exact quadrature."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from hypothesis import strategies as st

from paper_checks.ahn2023.claims import close, covariance
from theorems.preconditioned_descent.preconditioned_tokens import polynomials, rates, s, steps, theorem4
from theorems.wishart.trace_moments import trace_moments
from verify import Comparison, Verdict, all_of, over_drawn
from verify.outcomes import as_float

if TYPE_CHECKING:
    from torch import Tensor

QUICK, FULL = 6, 200
"""Drawn instances in a quick run, and under `full`."""
SIZES = ((1, 1, 1), (1, 1, 3), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 1, 3), (3, 1, 1), (3, 1, 2))
"""(L, d, n) at which the product rule has some thousand nodes at most."""


class OnSet(NamedTuple):
    """f and its slopes in the a_l and in the b_l at A_l = a_l Σ^{-1}, B_l = b_l I."""

    loss: float
    a: list[float]
    b: list[float]


def on_set(a: Sequence[float], b: Sequence[float], d: int, n: int) -> OnSet:
    """Return f = ∫ r_L² dμ and 2 ∫ r_L ∂r_L dμ by Theorem 4's recursion and the exact moments."""
    layers = len(a)
    unknowns = (*steps[:layers], *rates[: layers - 1])
    put = dict(zip(unknowns, map(sp.Rational, (*map(Fraction, a), *map(Fraction, b[: layers - 1]))), strict=True))
    r = polynomials(layers, s)
    moments = trace_moments(3**layers - 1, n, d)

    def mean(expression: sp.Expr) -> float:
        terms = sp.Poly(expression, s).terms()
        return float(sum((Fraction(int(c.p), int(c.q)) * moments[k] for (k,), c in terms), Fraction(0)))

    end = r.xreplace(put)
    slopes = [mean(2 * end * sp.diff(r, x).xreplace(put)) for x in unknowns]
    return OnSet(mean(end**2), slopes[:layers], [*slopes[layers:], 0.0])


class Drawn(NamedTuple):
    """Sizes (L, d, n), the a_l and b_l, the spectrum of Σ, and a seed for its eigenvectors."""

    sizes: tuple[int, int, int]
    a: tuple[float, ...]
    b: tuple[float, ...]
    spectrum: tuple[float, ...]
    seed: int


@st.composite
def _drawn(draw: st.DrawFn) -> Drawn:
    sizes = draw(st.sampled_from(SIZES))
    a, b = (tuple(draw(st.integers(-8, 16)) / 16 for _ in range(sizes[0])) for _ in range(2))
    spectrum = tuple(draw(st.integers(1, 16)) / 8 for _ in range(sizes[1]))
    return Drawn(sizes, a, b, spectrum, draw(st.integers(0, 2**31)))


def tokens_agree(found: Any, theory: OnSet, sigma: "Tensor") -> Verdict:
    """Return whether loss and gradient in all entries of all A_l and B_l are what the moments imply.

    A = Σ^{-1/2} Ã Σ^{-1/2} and B = Σ^{1/2} B̃ Σ^{-1/2}, and the gradients in Ã and B̃ are slope/d · I: in A that is
    slope/d · Σ, and in B slope/d · I.
    """
    import torch

    identity, d = torch.eye(len(sigma)).to(sigma), len(sigma)
    a, b = (found.A.new_tensor(part)[:, None, None] / d for part in (theory.a, theory.b))
    size = max(1.0, theory.loss)
    return all_of(
        [
            ("loss", close(found.loss, found.loss.new_tensor(theory.loss), "loss")),
            ("gradient in A", close(found.A, a * sigma, "gradient", size)),
            ("gradient in B", close(found.B, b * identity, "gradient", size)),
        ]
    )


def _exact_tokens(*, device: str, full: bool, seed: int) -> Verdict:
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    points: dict[tuple[int, int, int], list[dict[str, Any]]] = {}

    def compare(drawn: Drawn) -> Verdict:
        L, d, n = drawn.sizes
        sigma, inverse = covariance(drawn.spectrum, drawn.seed, device)
        identity = torch.eye(d, dtype=torch.float64, device=device)

        def gradient(a: Sequence[float], b: Sequence[float]) -> Any:
            rows = [torch.tensor(part, dtype=torch.float64, device=device)[:, None, None] for part in (a, b)]
            return exact_gradient(pattern(rows[0] * inverse, rows[1] * identity), n, sigma, inverse)

        idle, one = (0.0,) * (L - 1), (n / (n + d + 1),)
        halves = (*(-0.5,) * (L - 1), 0.0)
        found = gradient((*idle, *one), halves)
        verdicts = [("idle layers", close(part, 0 * part, "gradient")) for part in (found.A, found.B)]
        verdicts += [("idle layers", close(found.loss, found.loss.new_tensor(d * (d + 1) / (n + d + 1)), "loss"))]
        verdicts += [("as drawn", tokens_agree(gradient(drawn.a, drawn.b), on_set(drawn.a, drawn.b, d, n), sigma))]
        if L < 3:
            if drawn.sizes not in points:
                points[drawn.sizes] = theorem4.check(L=L, d=d, n=n).values["critical_points"]
            for place, point in enumerate(points[drawn.sizes]):
                a, b = ([0.0 if x is None else as_float(x) for x in point[name]] for name in ("a", "b"))
                found = gradient(a, b)  # type: ignore[arg-type]
                at = f"critical point {place}"
                loss = found.loss.new_tensor(as_float(point["loss"]))
                # A slope is known to rounding times the terms that cancel in it, which grow with the weights.
                size = max(map(abs, (*a, *b))) ** 4  # type: ignore[arg-type, type-var]
                verdicts += [
                    (at, close(found.loss, loss, "loss", size)),
                    (at, close(found.A, 0 * found.A, "gradient in A", size)),
                    (at, close(found.B, 0 * found.B, "gradient in B", size)),
                ]
        return all_of(verdicts)

    return over_drawn(_drawn(), compare, examples=FULL if full else QUICK, seed=seed)


theorem4_exact = Comparison(
    id="ahn2023.theorem4_exact",
    title="By exact quadrature: loss and gradient in all entries of all A_l and B_l on S, zero at the critical points",
    theorem="ahn2023.theorem4",
    experiment=None,
    compare=_exact_tokens,
)
