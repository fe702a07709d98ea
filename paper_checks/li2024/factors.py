"""The reached factor and the best factor of the shifts, compared with families of matrices and with ascents."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import verify
from paper_checks.li2024.shifts import EPS
from theorems.softmax_regression.data_shift import data_shift
from theorems.softmax_regression.weight_shift import weight_shift
from verify import Comparison, Evidence, Verdict, over_instances
from verify.outcomes import as_float

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def _pair(n: int, d: int, R: float, device: str) -> "tuple[Tensor, Tensor]":
    """Return A (n, d) and x (d,) with logits of mean 0 and norm R², two of them equal and above the others.

    If d > 1, the second column of A is R (e_1 − e_2)/√2, which moves the two equal logits apart.
    """
    import torch

    A = torch.zeros(n, d, dtype=torch.float64, device=device)
    A[:, 0], A[:2, 0] = -2 / n, 1 - 2 / n
    A[0, 1], A[1, 1] = 1, -1
    x = torch.zeros(d, dtype=torch.float64, device=device)
    x[0] = R
    return R * A / A.norm(dim=0).clamp(min=1e-300), x


def _row(n: int, d: int, R: float, device: str) -> "tuple[Tensor, Tensor]":
    """Return A (n, d) and x (d,) with one logit above the others, of probability 1/2 if an x of norm ≤ R reaches it."""
    import torch

    A = torch.zeros(n, d, dtype=torch.float64, device=device)
    A[:, 0], A[0, 0] = -1 / n, 1 - 1 / n
    A = R * A / A.norm()
    x = torch.zeros(d, dtype=torch.float64, device=device)
    x[0] = min(R, math.log(n - 1) / float(A[0, 0] - A[1, 0]))
    return A, x


def _slope(A: "Tensor", x: "Tensor") -> "Tensor":
    """Return the largest slope of the prediction in x: the spectral norm of autograd's Jacobian.

    It has the shape () for A (n, d), and (k,) for A (k, n, d).
    """
    import torch

    from numerics.softmax_regression.reference import prediction

    jacobian = torch.func.jacrev(prediction, argnums=1)
    return torch.linalg.matrix_norm(torch.func.vmap(jacobian)(A, x) if A.ndim > 2 else jacobian(A, x), ord=2)


def _reached(*, device: str, full: bool, seed: int) -> Verdict:
    import torch

    verdicts = []
    for n, d, R in (
        *((2, 1, 4), (3, 2, 4), (50, 20, 4), (200, 5, 4), (5, 2, 1), (3, 1, 4), (200, 1, 4), (8, 1, 1000)),
        # Here one row is better than a pair, or its probability stays below 1/2, or both.
        *((10, 2, 1), (1000, 3, 2), (5, 1, 1), (1000, 2, 1)),
    ):
        families = [_row(n, d, R, device), *([_pair(n, d, R, device)] if d > 1 else [])]
        for A, x in families:
            assert float(torch.linalg.matrix_norm(A, ord=2)) <= R * (1 + 1e-12) and float(x.norm()) <= R * (1 + 1e-12)
        found = max(float(_slope(A, x)) for A, x in families)
        claimed = as_float(verify.check(weight_shift, n=n, d=d, R=R).values["reached_factor"])
        # This allows for about n roundings of numbers below R², times R.
        allowed = n * EPS * (R + 1) ** 3
        detail = f"{found:.15g} against {claimed:.15g}"
        verdicts.append(
            (f"n={n} d={d} R={R}", Verdict.when(abs(found - claimed) <= allowed, detail, Evidence.COMPUTED))
        )
    return over_instances(verdicts)


reached_by_a_family = Comparison(
    id="li2024.reached_by_a_family",
    title="Matrices and weights of norm R at which the slope of the prediction equals the stated reached factor",
    theorem="li2024.weight_shift",
    experiment=None,
    compare=_reached,
)

ASCENTS = ((2, 1, 4), (2, 3, 4), (3, 1, 4), (3, 2, 4), (3, 3, 1), (4, 1, 1), (4, 2, 4), (4, 3, 0.5))
STARTS, STEPS = 20, 150


def _ascent(n: int, d: int, R: float, generator: "torch.Generator") -> float:
    """Return the largest slope found by Adam from random A of norm R and x of norm up to R."""
    import torch

    like: dict[str, Any] = {"generator": generator, "device": generator.device, "dtype": torch.float64}
    free = torch.randn(STARTS, n, d, **like).requires_grad_(), torch.randn(STARTS, d, **like).requires_grad_()
    optimizer = torch.optim.Adam(free, lr=0.05)
    best = 0.0
    for _ in range(STEPS):
        # ‖A‖ = R suffices: a longer A with a shorter x has the same logits and a larger slope.
        A = R * free[0] / torch.linalg.matrix_norm(free[0], ord=2, keepdim=True)
        x = R * free[1] / free[1].norm(dim=1, keepdim=True).clamp(min=1)
        slopes = _slope(A, x)
        best = max(best, float(slopes.detach().max()))
        optimizer.zero_grad()
        (-slopes.sum()).backward()
        optimizer.step()
    return best


def _ascended(*, device: str, full: bool, seed: int) -> Verdict:
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    verdicts = []
    for n, d, R in ASCENTS:
        found, values = _ascent(n, d, R, generator), verify.check(weight_shift, n=n, d=d, R=str(R)).values
        most, reached = (as_float(values[name]) for name in ("best_factor_at_most", "reached_factor"))
        # The upper tolerances allow for rounding, the lower one for an ascent that has not ended.
        holds = found <= most * (1 + 1e-9) and reached * (1 - 1e-3) <= found <= reached * (1 + 1e-6)
        detail = f"{found:.9g} found, {reached:.9g} reached, {most:.9g} at most"
        verdicts.append((f"n={n} d={d} R={R}", Verdict.when(holds, detail, Evidence.COMPUTED)))
    return over_instances(verdicts)


reached_by_ascent = Comparison(
    id="li2024.reached_by_ascent",
    title="An ascent over A and x, n = 2 to 4 and d = 1 to 3, finds the stated reached factor, and none larger",
    theorem="li2024.weight_shift",
    experiment=None,
    compare=_ascended,
)


LEVELS = ((3, "1"), (4, "3/2"), (4, "7/10"), (6, "1"), (40, "1"))
"""(n, R): some at which the best factor is known exactly, and some at which it is enclosed."""


def _steepest(n: int, radius: float, generator: "torch.Generator") -> "tuple[float, Tensor]":
    """Return the largest slope of softmax that Adam and L-BFGS find over logits of norm `radius`, and the logits.

    The logits are sorted, the largest first.
    """
    import torch

    from numerics.softmax_regression.reference import prediction

    like: dict[str, Any] = {"device": generator.device, "dtype": torch.float64}
    jacobian = torch.func.vmap(torch.func.jacrev(lambda z: prediction(torch.eye(n, **like), z)))

    def logits(free: "Tensor") -> "Tensor":
        # A constant added to all logits changes no output: their mean is set to 0.
        z = free - free.mean(dim=1, keepdim=True)
        return radius * z / z.norm(dim=1, keepdim=True)

    def slopes(free: "Tensor") -> "Tensor":
        return torch.linalg.matrix_norm(jacobian(logits(free)), ord=2)

    free = torch.randn(8, n, generator=generator, **like)
    # Half of the starts have two logits above the others.
    free[::2, :2] += 3
    optimizer = torch.optim.Adam([free.requires_grad_()], lr=0.1)
    for _ in range(50):
        optimizer.zero_grad()
        (-slopes(free).sum()).backward()
        optimizer.step()
    best = free[slopes(free).argmax()][None].detach().requires_grad_()
    last = torch.optim.LBFGS([best], max_iter=100, tolerance_change=0, line_search_fn="strong_wolfe")

    def loss() -> "Tensor":
        last.zero_grad()
        value = -slopes(best).sum()
        value.backward()
        return value

    last.step(loss)
    return float(slopes(best.detach())[0]), logits(best)[0].detach().sort(descending=True).values


def _levels(*, device: str, full: bool, seed: int) -> Verdict:
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    verdicts = []
    for n, R in LEVELS:
        radius = float(Fraction(R))
        slope, logits = _steepest(n, radius**2, generator)
        found, values = radius * slope, verify.check(data_shift, n=n, d=2, R=R).values
        spread, best = float(logits[2] - logits[-1]), values["best_factor"]
        most, reached = (as_float(values[name]) for name in ("best_factor_at_most", "reached_factor"))
        # An ascent ends near the maximum: an error of ε in its logits changes the factor by order ε² only.
        holds = found <= most * (1 + 1e-9) and found >= reached * (1 - 1e-7) and spread <= 1e-3 * radius**2
        holds = holds and (best is None or abs(found - as_float(best)) <= 1e-7 * found)
        detail = f"{found:.9g} found, {reached:.9g} to {most:.9g}; all but two logits within {spread:.1g}"
        verdicts.append((f"n={n} R={R}", Verdict.when(holds, detail, Evidence.COMPUTED)))
    return over_instances(verdicts)


best_factor_by_ascent = Comparison(
    id="li2024.best_factor_by_ascent",
    title="An ascent over logits finds the best factor, and none larger; all but two of its logits are equal",
    theorem="li2024.best_factor",
    experiment=None,
    compare=_levels,
)
