"""Layers that precondition their tokens too: trainings of all A_l and B_l, loss and gradient on Theorem 4's set.

The loss is computed from its definition by exact quadrature. The comparisons import PyTorch and the simulator when they
run.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp
from hypothesis import strategies as st

import verify
from paper_checks.ahn2023.multiples_of_the_inverse import SLOPES_ROUNDING, Training, trainings
from paper_checks.ahn2023.tensors import ROUNDING, close, covariance
from paper_checks.descents import Settled, followed, settled
from paper_checks.lazily import lazily
from theorems.wishart.trace_moments import trace_moments
from verify import Crossing, Evidence, Outcome, Verdict, all_of
from verify.outcomes import as_float

moved = lazily("theorems.preconditioned_descent.preconditioned_tokens")
if TYPE_CHECKING:
    from torch import Tensor

SIZES = ((1, 1, 1), (1, 1, 3), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 1, 3), (3, 1, 1), (3, 1, 2))
"""(L, d, n) at which the product rule has at most a few thousand nodes."""


class OnSet(NamedTuple):
    """The loss f and its slopes in the a_l and in the b_l at A_l = a_l Σ^{-1}, B_l = b_l I."""

    loss: float
    a: list[float]
    b: list[float]


def on_set(a: Sequence[float], b: Sequence[float], d: int, n: int) -> OnSet:
    """Return f = ∫ r_L² dμ and its slopes, 2 ∫ r_L ∂r_L dμ, by Theorem 4's recursion for r_L and the exact moments."""
    layers = len(a)
    s, unknowns = moved.s, (*moved.steps[:layers], *moved.rates[: layers - 1])
    put = dict(zip(unknowns, map(sp.Rational, (*map(Fraction, a), *map(Fraction, b[: layers - 1]))), strict=True))
    r = moved.polynomials(layers, s)
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
    """Return whether loss and gradient in all entries of all A_l and B_l are those that the moments imply.

    A = Σ^{-1/2} Ã Σ^{-1/2} and B = Σ^{1/2} B̃ Σ^{-1/2}, and the gradients in Ã and B̃ are slope/d · I. So the gradient
    in A is slope/d · Σ, and the gradient in B is slope/d · I.
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


class Point(NamedTuple):
    """A critical point on S: the a_l, the b_l with 0 for the last, the loss, and whether it is a local minimum on S."""

    a: list[float]
    b: list[float]
    loss: float
    local_minimum: bool


@cache
def critical_points(L: int, d: int, n: int) -> tuple[Point, ...]:
    """Return the critical points on S that the check finds, the one of least loss first."""
    found = verify.check(moved.theorem4, L=L, d=d, n=n).values["critical_points"]

    def floats(row: Any, name: str) -> list[float]:
        return [0.0 if x is None else as_float(x) for x in row[name]]  # pyright: ignore[reportReturnType]

    return tuple(
        Point(floats(row, "a"), floats(row, "b"), as_float(row["loss"]), row["local_minimum"]) for row in found
    )


def _exact_tokens(theory: Callable[..., OnSet], drawn: Drawn, device: str) -> Verdict:
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, pattern

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
    verdicts += [("as drawn", tokens_agree(gradient(drawn.a, drawn.b), theory(drawn.a, drawn.b, d, n), sigma))]
    if L < 3:
        for place, (a, b, least, _) in enumerate(critical_points(L, d, n)):
            found = gradient(a, b)
            at = f"critical point {place}"
            loss = found.loss.new_tensor(least)
            # A slope is off by rounding times the size of the terms that cancel in it, which grow with the weights.
            size = max(map(abs, (*a, *b))) ** 4
            verdicts += [
                (at, close(found.loss, loss, "loss", size)),
                (at, close(found.A, 0 * found.A, "gradient in A", size)),
                (at, close(found.B, 0 * found.B, "gradient in B", size)),
            ]
    return all_of(verdicts)


def _off(**factors: float) -> Callable[..., OnSet]:
    def theory(*given: Any) -> OnSet:
        right = on_set(*given)
        return right._replace(
            **{
                name: factor * right.loss if name == "loss" else [factor * x for x in getattr(right, name)]
                for name, factor in factors.items()
            }
        )

    return theory


theorem4_exact = Crossing(
    id="ahn2023.theorem4_exact",
    title="By exact quadrature: loss and gradient in all entries of all A_l and B_l on S, zero at the critical points",
    subject="loss and gradient on Theorem 4's set",
    theorem="ahn2023.theorem4",
    exact="certified at instances",
    instances=_drawn(),
    held=_exact_tokens,
    theory=on_set,
    planted={f"1e-5 in {name}": _off(**{name: 1 + 1e-5}) for name in ("loss", "a", "b")},
)


TRAINED = ((1, 1, 2), (1, 2, 2), (2, 1, 1), (2, 1, 2), (2, 1, 3), (2, 2, 1))
"""(L, d, n) of trainings by quadrature, which take some seconds each."""


STARTS = 8
"""Maximum number of trainings that are begun: at (2, 1, 1) a tenth of them run away, elsewhere a hundredth or fewer."""
VANISHING = 1e-7
"""Threshold for the largest |slope · weight|, which is at most about 10⁻⁸ at minima, and at least 10⁻⁵ in valleys."""


@lru_cache(maxsize=256)
def _trained(drawn: Training, device: str) -> tuple[Settled | None, int]:
    """Return the end of a descent of the exact loss over all entries of all A_l and B_l, and the number of trainings.

    Trainings start from random entries around Σ^{-1}/2 and I/5. A training counts as run away, and another is begun, if
    its slopes have not vanished where rounding stops it, and `followed` from there at least doubles its weights. In all
    such trainings that were examined the weights kept growing; a minimum at finite weights twice as large would be
    missed. The end is None if all trainings run away. With Σ = I and two layers, trainings ran into two valleys, both
    with losses above the loss of the best minimum:

    - The valley A_0 → 0, B_0 → −∞ of `two_layers_of_tokens`. Of 600 trainings 59 ran into it at d = n = 1, to a loss of
      0.459 (the best is 0.407), one at d = 1, n = 2, to 0.25, and none at d = 1, n = 3. Of 2500 trainings at d = 2,
      n = 1, 16 ran into it, to a loss of 1.25 (the best is 1.20012).
    - A valley off Theorem 4's set, at d = 2, n = 1 alone. Of the 2500 trainings 6 ran into it, to a loss of 1.362844;
      rounding stopped them at weights of 9 to 46. Up to a rotation A_0 → diag(0.2614, 0.4702), A_1 → diag(0, 0.3618),
      and B_0's entry (1, 2) grows without bound. A token's two coordinates then contain the second coordinates of x and
      of S A_0 x, and the share of x's first coordinate vanishes. With this share fixed at ε, the least loss is even in
      ε and grows with ε²: its minimum is at ε = 0, which no finite weights reach.
    """
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    sigma, inverse = covariance(drawn.spectrum, drawn.seed, device)
    units = inverse.cpu().numpy()

    def loss(entries: np.ndarray) -> tuple[float, np.ndarray]:
        A, B = torch.from_numpy(entries.reshape(2, drawn.L, drawn.d, drawn.d).copy()).to(device)
        found = exact_gradient(pattern(A, B), drawn.n, sigma, inverse)
        return float(found.loss), torch.stack([found.A, found.B]).cpu().numpy().ravel()

    def largest(end: Settled) -> float:
        A, B = end.point.reshape(2, drawn.L, drawn.d, drawn.d)
        return max(np.abs(A @ np.linalg.inv(units)).max(), np.abs(B[:-1]).max(initial=0.0))

    source, identity = np.random.default_rng(drawn.seed), np.eye(drawn.d)
    for begun in range(1, STARTS + 1):
        noise = 0.1 * source.normal(size=(2, drawn.L, drawn.d, drawn.d))
        end = settled(loss, np.stack([(identity / 2 + noise[0]) @ units, identity / 5 + noise[1]]).ravel())
        if np.abs(end.slope * end.point).max() < VANISHING:
            return end, begun
        further = followed(loss, end)
        if largest(further) < 2 * largest(end):
            return further, begun
    return None, STARTS


def _trained_is(theory: Callable[[int, int, int], Sequence[Point]], drawn: Training, device: str) -> Verdict:
    end, begun = _trained(drawn, device)
    if end is None:
        return Verdict(Outcome.INCONCLUSIVE, Evidence.COMPUTED, "all trainings run away", trainings=begun)
    A, B = end.point.reshape(2, drawn.L, drawn.d, drawn.d)
    inverse, identity = covariance(drawn.spectrum, drawn.seed, "cpu")[1].numpy(), np.eye(drawn.d)
    allowed, verdicts = end.off(SLOPES_ROUNDING), []
    for point in theory(drawn.L, drawn.d, drawn.n):
        right_A, right_B = (np.array(part)[:, None, None] for part in (point.a, point.b))
        # The last B changes tokens that no later layer reads.
        off = [np.abs(A - right_A * inverse).max(), np.abs(B - right_B * identity)[:-1].max(initial=0.0)]
        if point.local_minimum:
            entries = Verdict.within(float(max(off)), allowed, "an entry of an A_l or B_l is", Evidence.COMPUTED)
            loss = abs(end.loss - point.loss)
            least = Verdict.within(loss, ROUNDING * point.loss, "the loss is", Evidence.COMPUTED)
            verdicts.append(all_of([("entries", entries), ("loss", least)]))
    # A training may end at any of the local minima.
    return replace(min(verdicts, key=lambda each: (not each.holds, each.ratio)), trainings=begun)


def _all_off(**factors: float) -> Callable[[int, int, int], Sequence[Point]]:
    def theory(L: int, d: int, n: int) -> Sequence[Point]:
        return [
            Point(
                [factors.get("a", 1.0) * x for x in point.a],
                [factors.get("b", 1.0) * x for x in point.b],
                factors.get("loss", 1.0) * point.loss,
                point.local_minimum,
            )
            for point in critical_points(L, d, n)
        ]

    return theory


token_preconditioning = Crossing(
    id="ahn2023.token_preconditioning",
    title="Trainings of all entries of all A_l and B_l end at one of the local minima on Theorem 4's set, or run away",
    subject="blocks A_l and B_l",
    theorem="ahn2023.theorem4",
    exact="ahn2023.theorem4_exact",
    instances=trainings(TRAINED, (*TRAINED, (1, 3, 2), (1, 2, 3))),
    held=_trained_is,
    theory=critical_points,
    planted={f"1 % in {name}": _all_off(**{name: 1.01}) for name in ("a", "b", "loss")},
    sizes=("L", "d", "n"),
)
