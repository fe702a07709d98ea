"""The share of gradient descents on Theorem 1's loss over all P and Q that end above the least loss.

The expected loss is Σ_j λ_j F_j, for Σ = diag(λ_1 … λ_d) and w* ~ N(0, I). The theorem `one_layer_local_minimum` has
the F_j, as functions of the last row (v, β) of P and the columns (u_j, τ_j) of Q. Descent starts from small random
entries and has a fixed step size. If its final loss exceeds the least loss by 0.001 or more, and all derivatives are
below 10⁻⁶ in absolute value, the end counts as another stationary point; with larger derivatives the descent counts as
unsettled. Whether such a stationary point is a minimum is not checked.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from verify import Experiment, Measurement, Parameter, Setting, Source

EXAMPLES = Parameter("n", "integer", "number of examples in the prompt", minimum=1)
SPECTRUM = Parameter("spectrum", "rationals", "eigenvalues of Sigma", above=0)
SCALE = Parameter("scale", "rational", "standard deviation of the entries at the start", above=0)
RUNS = Parameter("runs", "integer", "independent descents", minimum=2)
STEPS = 20_000
EXCESS, FLAT = 1e-3, 1e-6


def loss_and_slopes(
    n: int, eigenvalues: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return losses and derivatives at k points: last rows of P, (k, d+1), and first d columns of Q, (k, d+1, d)."""
    lam, t = eigenvalues, eigenvalues.sum()
    g, squares = lam * ((n + 1) * lam + t) / n, (n + 2) / n * (t**2 + 2 * (lam**2).sum())
    v, beta, U, tau = rows[:, :-1], rows[:, -1], columns[:, :-1], columns[:, -1]
    weighted, along = lam[:, None] * U, lam * v
    # M_j is the symmetric part of u_j v'. `mean` is tr ΣM_j, `second` is tr Σ²M_j, (mean² + lengths · length)/2 is tr
    # ΣM_jΣM_j, and `even` is E (tr(SM_j) + βτ_j w'Sw)².
    mean = np.einsum("kij,ki->kj", weighted, v)
    lengths, length = np.einsum("kij,kij->kj", weighted, U), (along * v).sum(1)[:, None]
    second, corner = np.einsum("kij,ki->kj", weighted, along), beta[:, None] * tau
    even = mean**2 * (1 + 1 / n) + lengths * length / n + 2 * corner * (mean * t + 2 * second / n) + corner**2 * squares
    c = beta[:, None, None] * U + tau[:, None] * v[:, :, None]
    odd = 1 + 2 * lam * np.einsum("kjj->kj", c) + np.einsum("i,kij->kj", g, c**2)
    in_mean = lam * 2 * (mean * (1 + 1 / n) + corner * t)
    in_corner = lam * 2 * (mean * t + 2 * second / n + corner * squares)
    in_second, in_c = lam * 4 * corner / n, lam * 2 * g[:, None] * c + np.diag(2 * lam**2)
    in_columns = in_mean[:, None] * along[:, :, None] + 2 * (lam * length / n)[:, None] * weighted
    in_columns += in_second[:, None] * (lam * along)[:, :, None] + beta[:, None, None] * in_c
    in_tau = in_corner * beta[:, None] + np.einsum("kij,ki->kj", in_c, v)
    in_v = np.einsum("kj,kij->ki", in_mean, weighted) + 2 * (lam * lengths / n).sum(1)[:, None] * along
    in_v += np.einsum("kj,kij->ki", in_second, lam[:, None] * weighted) + np.einsum("kij,kj->ki", in_c, tau)
    in_beta = (in_corner * tau).sum(1) + np.einsum("kij,kij->k", in_c, U)
    return (
        (lam * (even + odd)).sum(1),
        np.concatenate([in_v, in_beta[:, None]], axis=1),
        np.concatenate([in_columns, in_tau[:, None]], axis=1),
    )


def ends(n: int, eigenvalues: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the excess over the least loss and the largest |derivative| at the ends of descents from these points."""
    step = 1 / (20 * eigenvalues.sum() ** 2)
    for _ in range(STEPS):
        _, in_rows, in_columns = loss_and_slopes(n, eigenvalues, rows, columns)
        rows, columns = rows - step * in_rows, columns - step * in_columns
    losses, in_rows, in_columns = loss_and_slopes(n, eigenvalues, rows, columns)
    slopes = np.maximum(np.abs(in_rows).max(1), np.abs(in_columns).max((1, 2)))
    return losses - least_loss(n, eigenvalues), slopes


def least_loss(n: int, eigenvalues: np.ndarray) -> float:
    """Return Theorem 1's least loss, Σ_j λ_j (1 − λ_j a_j)."""
    return float((eigenvalues - n * eigenvalues**2 / ((n + 1) * eigenvalues + eigenvalues.sum())).sum())


def measure(settings: Mapping[str, object], *, seed: int, device: str) -> dict[str, Measurement]:
    """Return the share of descents that end at a stationary point above the least loss, and their extreme excesses.

    The share comes with its 95 % interval, and with the share of unsettled descents. If no descent ends there, the
    least and the largest excess are left out.
    """
    from scipy.stats import binomtest

    del device
    n, runs, scale, spectrum = (settings[name] for name in ("n", "runs", "scale", "spectrum"))
    assert isinstance(n, int) and isinstance(runs, int) and isinstance(scale, Fraction | int)
    assert isinstance(spectrum, tuple)
    eigenvalues = np.array([float(each) for each in spectrum])
    d, random = len(eigenvalues), np.random.default_rng(seed)
    rows, columns = random.normal(size=(runs, d + 1)), random.normal(size=(runs, d + 1, d))
    above, slopes = ends(n, eigenvalues, float(scale) * rows, float(scale) * columns)
    others = (above >= EXCESS) & (slopes < FLAT)
    count = int(others.sum())
    interval = binomtest(count, runs).proportion_ci(method="exact")
    found = {
        "other": Measurement(count / runs, float(np.sqrt(count * (runs - count) / runs / (runs - 1) / runs)), runs),
        "other_at_least": Measurement(float(interval.low)),
        "other_at_most": Measurement(float(interval.high)),
        "unsettled": Measurement(float(((above >= EXCESS) & (slopes >= FLAT)).mean())),
    }
    if count:
        found["least_excess"] = Measurement(float(above[others].min()))
        found["largest_excess"] = Measurement(float(above[others].max()))
    return found


descent_ends = Experiment(
    id="ahn2023.descent_ends",
    title="One layer over all P and Q: the stationary points where descent from small entries ends",
    source=Source("Theorem 1, the landscape", "derived here"),
    settings=(
        Setting(EXAMPLES, 20, 20),
        Setting(SPECTRUM, (Fraction(1), Fraction(1)), (Fraction(1), Fraction(1))),
        Setting(SCALE, Fraction(1, 100), Fraction(1, 100)),
        Setting(RUNS, 100, 400),
    ),
    measure=measure,
)
