"""The preconditioner of one layer: Theorem 1's matrix, compared with trainings of all entries of P and Q.

The loss is computed from its definition by exact quadrature, for drawn Σ and n. Descent from random entries near the
pattern ends at this matrix, or at a local minimum with the label in Q (`label_in_q`), entry by entry. At the matrix the
loss is the stated minimum and its gradient vanishes; at random P and Q the loss is not lower. The comparisons import
PyTorch and the simulator when they run.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import verify
from paper_checks.ahn2023.label_in_q import labels_in_q
from paper_checks.ahn2023.tensors import ROUNDING, close, covariance
from paper_checks.descents import Settled, settled
from theorems.preconditioned_descent.one_layer import theorem1
from verify import Crossing, Evidence, Verdict, all_of, in_full

SLOPES_ROUNDING = 1e-11
"""Bound on a slope's rounding error: a slope is a weighted mean of numbers up to 10³, each off by 10⁻¹⁶ relatively."""


class OneLayer(NamedTuple):
    """Sizes, the spectrum of Σ, a seed for its eigenvectors and for noise in P and Q, and the size of the noise."""

    d: int
    n: int
    spectrum: tuple[float, ...]
    seed: int
    distance: float


Minimum = tuple[list[float], float]
"""The eigenvalues of A, in the order of Σ's, and the least loss."""
Theory = Callable[[OneLayer], Minimum]


def minimum(drawn: OneLayer) -> Minimum:
    """Return Theorem 1's preconditioner and minimum loss."""
    values = verify.check(theorem1, n=drawn.n, eigenvalues=[Fraction(x) for x in drawn.spectrum]).values
    return [float(a) for a in values["preconditioner"]], float(values["minimum_loss"])


def _scaled(preconditioner: float, loss: float) -> Theory:
    def theory(drawn: OneLayer) -> Minimum:
        matrix, least = minimum(drawn)
        return [preconditioner * a for a in matrix], loss * least

    return theory


def _with(first: Callable[[int], float], second: Callable[[int], float]) -> Theory:
    """Return a theory whose matrix has other coefficients of λ_i and of tr Σ than the right ones, (n + 1)/n and 1/n."""

    def theory(drawn: OneLayer) -> Minimum:
        trace = sum(drawn.spectrum)
        return [1 / (first(drawn.n) * x + second(drawn.n) * trace) for x in drawn.spectrum], minimum(drawn)[1]

    return theory


PLANTED = {
    "1 % in the matrix": _scaled(1.01, 1.0),
    "1 % in the loss": _scaled(1.0, 1.01),
    "1 % in the coefficient of an eigenvalue": _with(lambda n: 1.01 * (n + 1) / n, lambda n: 1 / n),
    "1 % in the coefficient of the trace": _with(lambda n: (n + 1) / n, lambda n: 1.01 / n),
    "1 for (n + 1)/n": _with(lambda _: 1.0, lambda n: 1 / n),
}
SIZES, SIZES_IN_FULL = ((1, 1), (1, 2), (1, 3), (2, 1)), ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (3, 1))


@st.composite
def _one_layer(draw: st.DrawFn, distances: st.SearchStrategy[float]) -> OneLayer:
    d, n = draw(st.sampled_from(SIZES_IN_FULL if in_full() else SIZES))
    spectrum = tuple(draw(st.integers(1, 16)) / 8 for _ in range(d))
    return OneLayer(d, n, spectrum, draw(st.integers(0, 2**31)), draw(distances))


@lru_cache(maxsize=256)
def _trained(drawn: OneLayer, device: str) -> Settled:
    """Return the end of a descent of the exact loss over all entries of P and Q, begun at random near the pattern."""
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient

    size = drawn.d + 1
    sigma, _ = covariance(drawn.spectrum, drawn.seed, device)
    identity = torch.eye(drawn.d, dtype=torch.float64, device=device)

    def loss(entries: np.ndarray) -> tuple[float, np.ndarray]:
        P, Q = torch.from_numpy(entries.reshape(2, 1, size, size).copy()).to(device)
        found = exact_gradient((P, Q), drawn.n, sigma, identity)
        return float(found.loss), torch.cat([found.P.flatten(), found.Q.flatten()]).cpu().numpy()

    # Q at the start scales with the inverse of the spectrum's mean, like Theorem 1's matrix.
    unit = drawn.d / sum(drawn.spectrum)
    start = drawn.distance * np.random.default_rng(drawn.seed).normal(size=(2, size, size))
    start[0, -1, -1] += 1
    start[1, :-1, :-1] -= np.eye(drawn.d) / 2
    start[1] *= unit
    P, Q = settled(loss, start.ravel(), passes=1).point.reshape(2, size, size)
    # γP and Q/γ have the same loss; descent ends sooner if both are of similar size.
    ratio = np.sqrt(np.linalg.norm(Q[:, :-1]) / unit / np.linalg.norm(P[-1]))
    return settled(loss, np.stack([ratio * P, Q / ratio]).ravel())


def _products(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return p_i Q_jk + p_j Q_ik for the last row p of P and the columns of Q that multiply a query's entries.

    Up to its sign the prediction is pᵀ(ZMZᵀ/n)Q (x; 0) with a symmetric matrix ZMZᵀ, so it depends on P and Q through
    these products alone. γP and Q/γ have the same products.
    """
    products = np.einsum("i,jk->ijk", P[-1], Q[:, :-1])
    return products + products.transpose(1, 0, 2)


class Point(NamedTuple):
    """A point where descent can end: its name, the loss, and P and Q, (2, d+1, d+1)."""

    name: str
    loss: float
    matrices: np.ndarray


def _points(drawn: OneLayer, minimum: Minimum, found: np.ndarray) -> list[Point]:
    """Return the points where descent can end, rotated to match `found`, the P and Q where descent ended.

    If the largest eigenvalue is multiple, rotations that keep Σ do not change the loss. So e is taken along the
    projection of P's last row on the eigenspace of this eigenvalue. The sign of e is that of the row's last entry,
    because β ≥ 0 at the points of `labels_in_q`.
    """
    import torch

    from numerics.preconditioned_descent.experiments import random_rotation

    preconditioner, least = minimum
    matrix = np.zeros_like(found)
    matrix[0, -1, -1] = 1
    matrix[1, :-1, :-1] = -covariance(preconditioner, drawn.seed, "cpu")[0].numpy()
    # The rows of the basis are Σ's eigenvectors.
    basis = random_rotation(drawn.d, torch.Generator().manual_seed(drawn.seed)).numpy()
    spectrum, row = np.array(drawn.spectrum), found[0, -1]
    e = basis.T @ ((spectrum == spectrum.max()) * (basis @ row[:-1]))
    e *= (1 if row[-1] >= 0 else -1) / np.linalg.norm(e)
    others = labels_in_q(drawn.n, drawn.spectrum, preconditioner)
    return [
        Point("Theorem 1's matrix", least, matrix),
        *(Point("the label in Q", least + other.above, other.matrices(basis, e)) for other in others),
    ]


def _trained_is(theory: Theory, drawn: OneLayer, device: str) -> Verdict:
    end, size = _trained(drawn, device), drawn.d + 1
    P, Q = found = end.point.reshape(2, size, size)
    points = _points(drawn, theory(drawn), found)
    name, loss, (right_P, right_Q) = min(points, key=lambda point: abs(end.loss - point.loss))
    # In a product, each factor's error is multiplied by the other factor; the slopes at the end bound these errors.
    stretch = 4 * (float(np.abs(P[-1]).max()) + float(np.abs(Q).max()))
    off = float(np.abs(_products(P, Q) - _products(right_P, right_Q)).max())
    verdicts = [
        (
            "entries",
            Verdict.within(off, stretch * end.off(SLOPES_ROUNDING), "an entry of P ⊗ Q is", Evidence.COMPUTED),
        ),
        (name, Verdict.within(abs(end.loss - loss), ROUNDING * loss, "the loss is", Evidence.COMPUTED)),
    ]
    return replace(all_of(verdicts), trainings=1)


one_layer_preconditioner = Crossing(
    id="ahn2023.one_layer_preconditioner",
    title="Trainings of all entries of P and Q from near the pattern end at Theorem 1's matrix, or at a local minimum "
    "with the label in Q, for drawn Σ and n",
    subject="one-layer preconditioner",
    theorem="ahn2023.theorem1",
    exact="ahn2023.theorem1_exact",
    instances=_one_layer(st.sampled_from([0.1, 0.3])),
    held=_trained_is,
    theory=minimum,
    planted=PLANTED,
    sizes=("d", "n"),
)


def _exact(theory: Theory, drawn: OneLayer, device: str) -> Verdict:
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, exact_loss, pattern

    preconditioner, minimum_loss = theory(drawn)
    sigma, _ = covariance(drawn.spectrum, drawn.seed, device)
    # The seed gives this matrix the eigenvectors of Σ.
    rotated, _ = covariance(preconditioner, drawn.seed, device)
    identity = torch.eye(drawn.d, dtype=torch.float64, device=device)
    layers = pattern(rotated[None])
    found = exact_gradient(layers, drawn.n, sigma, identity)
    least = found.loss.new_tensor(minimum_loss)
    generator = torch.Generator(device).manual_seed(drawn.seed)
    noise = [torch.randn(part.shape, generator=generator, dtype=part.dtype, device=device) for part in layers]
    moved = [part + drawn.distance * step for part, step in zip(layers, noise, strict=True)]
    above = float(exact_loss((moved[0], moved[1]), drawn.n, sigma, identity)) - minimum_loss
    return all_of(
        [
            ("loss", close(found.loss, least, "loss")),
            ("slope in P", close(found.P, torch.zeros_like(found.P), "slope", minimum_loss)),
            ("slope in Q", close(found.Q, torch.zeros_like(found.Q), "slope", minimum_loss)),
            ("elsewhere", Verdict.when(above >= -ROUNDING, f"{above:.2e} above the minimum", Evidence.COMPUTED)),
        ]
    )


theorem1_exact = Crossing(
    id="ahn2023.theorem1_exact",
    title="By exact quadrature over all P and Q: the minimum, zero gradient there, nothing lower at random parameters",
    subject="one-layer minimum, loss and slopes",
    theorem="ahn2023.theorem1",
    exact="proved for all parameters",
    instances=_one_layer(st.integers(1, 16).map(lambda k: k / 8)),
    held=_exact,
    theory=minimum,
    planted=PLANTED,
    sizes=("d", "n"),
)
