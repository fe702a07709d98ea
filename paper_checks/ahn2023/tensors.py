"""Helpers of the comparisons: Σ with a given spectrum, and the check that tensors agree up to rounding."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verify import Evidence, Verdict

if TYPE_CHECKING:
    from torch import Tensor

ROUNDING = 1e-9
"""Bound on the relative rounding error of the quadrature: some 10⁵ products of factors below 10³, each off by 10⁻¹⁶."""


def covariance(spectrum: Sequence[float], seed: int, device: str) -> "tuple[Tensor, Tensor]":
    """Return Σ with this spectrum and random eigenvectors, and Σ^{-1}, each (d, d), the same on every device."""
    import torch

    from numerics.preconditioned_descent.experiments import random_rotation

    U = random_rotation(len(spectrum), torch.Generator().manual_seed(seed))
    D = torch.tensor(spectrum, dtype=torch.float64)
    return (U.T @ D.diag() @ U).to(device), (U.T @ (1 / D).diag() @ U).to(device)


def close(found: "Tensor", theory: "Tensor", what: str, scale: float = 1.0) -> Verdict:
    """Decide whether two tensors agree up to rounding, relative to `scale` or, if larger, theory's largest |entry|."""
    worst = float((found - theory).abs().max())
    return Verdict.within(worst, ROUNDING * max(scale, float(theory.abs().max())), f"{what} is", Evidence.COMPUTED)
