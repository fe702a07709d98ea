"""The least mean-square error of the target given y and linear measurements of X, from the definitions.

The rows of A, (m, d T), are the measurements: u = A vec X with vec X = (x_11 .. x_1T, x_21 .. x_dT). Given y, the
target's components are linear in vec X, which is Gaussian, so that the best prediction is the linear regression on u.
No formula for the best measurements is used. Other shapes raise InputError.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numerics.sparse_token_selection.reference import sample_batch
from verify.errors import InputError

MOST_SUBSETS = 200_000
_CHUNK_ELEMENTS = 2**22
_RANK = 1e-9
"""Singular values below this fraction of the largest count as 0: rounding gives about 10⁻¹³, random rows more."""
KINDS = ("gaussian", "sparse", "orthogonal", "quantised", "repeated")


class Descended(NamedTuple):
    """Measurements (m, d T) at which a descent ended, and the mean loss () there."""

    measurements: Float[Tensor, "m dT"]
    loss: Float[Tensor, ""]


def all_subsets(T: int, q: int, *, device: torch.device | str = "cpu") -> Float64[Tensor, "subsets {T}"]:
    """Return the indicators of all q-subsets of T tokens, (C(T, q), T).

    Raises
    ------
    InputError
        If q is not from 1 to T, or there are more than 200 000 subsets.
    """
    _between("q", q, 1, T)
    if math.comb(T, q) > MOST_SUBSETS:
        raise InputError("subsets", math.comb(T, q), f"must be at most {MOST_SUBSETS}")
    members = torch.tensor(list(combinations(range(T), q)), device=device)
    return torch.zeros(len(members), T, dtype=torch.float64, device=device).scatter_(1, members, 1.0)


def sampled_subsets(n: int, T: int, q: int, generator: torch.Generator) -> Float64[Tensor, "{n} {T}"]:
    """Return the indicators of n independent uniformly random q-subsets, (n, T), on the generator's device."""
    return sample_batch(n, T, q, 1, generator)[1]


def target_functionals(subsets: Float[Tensor, "n T"], d: int) -> Float[Tensor, "n {d} {d}*T"]:
    """Return, for each subset (n, T), the d functionals whose values at vec X are the target, (n, d, d T)."""
    _between("d", d, 1)
    if subsets.ndim != 2 or 0 in subsets.shape:
        raise InputError("subsets", tuple(subsets.shape), "must have the shape (n, T) with n, T >= 1")
    weights = subsets / subsets.sum(dim=1, keepdim=True)
    identity = torch.eye(d, dtype=subsets.dtype, device=subsets.device)
    return torch.einsum("kl,nt->nklt", identity, weights).flatten(2)


def conditional_variance(measurements: Float[Tensor, "m dT"], subsets: Float[Tensor, "n T"]) -> Float[Tensor, "n"]:
    """Return, as (n,), the least loss 1/2 E||STS - E(STS | A vec X, y)||^2 for each y of `subsets` (n, T).

    The error in a functional is its part outside the rows' span, and the variance is the squared norm of this part. A
    basis of the span is the singular vectors with singular values above `_RANK` times the largest. Directions that may
    come from rounding are left out; this can only raise the loss.
    """
    d = _dimension(measurements, subsets)
    # The span does not depend on the rows' norms.
    norms = torch.linalg.vector_norm(measurements, dim=1, keepdim=True)
    singular, basis = torch.linalg.svd(measurements / norms.clamp(min=1e-300), full_matrices=False)[1:]
    if len(singular):
        basis = basis[singular > _RANK * singular[0]]
    parts = (
        target_functionals(part, d) for part in subsets.split(max(1, _CHUNK_ELEMENTS // (d * measurements.shape[1])))
    )
    return torch.cat([(part - part @ basis.T @ basis).square().sum(dim=(1, 2)) / 2 for part in parts])


def regression(measurements: Float[Tensor, "m dT"], subsets: Float[Tensor, "n T"]) -> Float[Tensor, "n d m"]:
    """Return, as (n, d, m), the matrix M = Cov(STS, u) Cov(u)^-1 for each y: E(STS | A vec X, y) = M A vec X."""
    d = _dimension(measurements, subsets)
    covariance = measurements @ measurements.T
    return target_functionals(subsets, d) @ measurements.T @ torch.linalg.pinv(covariance, hermitian=True)


def random_measurements(
    kind: str, m: int, T: int, d: int, generator: torch.Generator
) -> Float64[Tensor, "{m} {d}*{T}"]:
    """Return random measurements (m, d T) of a kind.

    gaussian: independent N(0, 1) entries; sparse: each of these is 0 with probability 3/4; orthogonal: rows of a
    uniformly random orthogonal matrix, up to their signs; quantised: independent entries, uniform on -1, 0, 1;
    repeated: Gaussian rows, the second half equal to the first.

    Raises
    ------
    InputError
        If the kind is not one of `KINDS`, T or d is below 1, or m is not from 0 to d T.
    """
    if kind not in KINDS:
        raise InputError("kind", kind, f"must be one of {', '.join(KINDS)}")
    for name, value in (("T", T), ("d", d)):
        _between(name, value, 1)
    _between("m", m, 0, T * d)
    options = {"generator": generator, "device": generator.device}
    gaussian = torch.randn(m, T * d, dtype=torch.float64, **options)
    if kind == "sparse":
        return gaussian * (torch.rand(gaussian.shape, **options) < 1 / 4)
    if kind == "orthogonal":
        return torch.linalg.qr(gaussian.T)[0].T
    if kind == "quantised":
        return torch.randint(-1, 2, gaussian.shape, **options).to(gaussian)
    if kind == "repeated":
        return gaussian[[i % max(1, -(-m // 2)) for i in range(m)]]
    return gaussian


def descend(measurements: Float[Tensor, "m dT"], subsets: Float[Tensor, "n T"], *, steps: int) -> Descended:
    """Minimise the mean loss over the subsets by L-BFGS on all entries of A, in at most `steps` steps.

    Raises
    ------
    InputError
        If the rows are linearly dependent at the start, `steps` is below 1, or shapes do not fit.
    """
    d = _dimension(measurements, subsets)
    _between("steps", steps, 1)
    if len(measurements) and torch.linalg.matrix_rank(measurements) < len(measurements):
        raise InputError("measurements", "", "must have independent rows")
    functionals, A = target_functionals(subsets, d), measurements.detach().clone().requires_grad_()

    def loss() -> Tensor:
        basis = torch.linalg.qr(A.T)[0]
        return (functionals - functionals @ basis @ basis.T).square().sum() / (2 * len(subsets))

    if len(measurements):
        optimizer = torch.optim.LBFGS([A], max_iter=steps, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            optimizer.zero_grad()
            value = loss()
            value.backward()
            return value

        optimizer.step(closure)
    return Descended(A.detach(), loss().detach())


def _dimension(measurements: Float[Tensor, "m dT"], subsets: Float[Tensor, "n T"]) -> int:
    """Return d of measurements (m, d T) for subsets (n, T)."""
    if subsets.ndim != 2 or 0 in subsets.shape:
        raise InputError("subsets", tuple(subsets.shape), "must have the shape (n, T) with n, T >= 1")
    T = subsets.shape[1]
    shape: Sequence[int] = tuple(measurements.shape)
    if len(shape) != 2 or shape[1] < T or shape[1] % T:
        raise InputError("measurements", shape, f"must have the shape (m, d * {T}) with d >= 1")
    if not bool(measurements.isfinite().all()):
        raise InputError("measurements", "", "must be finite")
    return shape[1] // T


def _between(name: str, value: int, least: int, most: int | None = None) -> None:
    if not isinstance(value, int) or value < least or (most is not None and value > most):
        raise InputError(
            name, value, f"must be an integer >= {least}" + (f" and <= {most}" if most is not None else "")
        )
