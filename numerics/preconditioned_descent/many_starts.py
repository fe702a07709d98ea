r"""Minima found by descents of the expected loss over all matrices A_l and B_l, from many random starts, for d = 2.

For d = 2 and Σ = I the matrix S = XXᵀ/n of a prompt's examples X is distributed as TTᵀ/n with T = (t_1 0; g t_2). The
entries of T are independent: t_1² is chi-squared with n and t_2² with n − 1 degrees of freedom, and g ~ N(0, 1). The
error is linear in the query x and in w*, so that the expected loss is the mean over S of the sum of the squared errors
over all unit coordinate vectors x and w*. This sum is a polynomial in S of degree 2L, or 3^L − 1 if the B_l move the
tokens. Gauss rules in t_1², t_2² and g integrate it exactly up to rounding.

Two optimisers of SciPy, BFGS and L-BFGS-B, start from the same points: entries N(0, s²), log10 s uniform in [−2, 0].
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64

from numerics.preconditioned_descent.experiments import TRAINED, L, N
from numerics.preconditioned_descent.moment_kernel import mean_gradient
from numerics.preconditioned_descent.reduced import Prompts
from verify import Experiment, InputError, Measurement, Parameter, Running, Setting, Source
from verify.language.parameters import Instance

METHODS: Mapping[str, tuple[str, dict[str, float]]] = {
    "bfgs": ("BFGS", {"gtol": 1e-8, "maxiter": 5000}),
    "lbfgs": ("L-BFGS-B", {"gtol": 1e-8, "ftol": 0.0, "maxcor": 40, "maxiter": 5000, "maxfun": 20_000}),
}
MOST_NODES, MOST_EXAMPLES = 10**5, 300
"""Maximum numbers of nodes and of examples; beyond about 340 examples SciPy's Gauss-Laguerre weights overflow."""
FLAT, SAME, FAR = 1e-5, 1e-6, 1e4
"""A descent ends *at rest* if no entry of the gradient exceeds `FLAT` in absolute value. Losses within a relative
distance `SAME` count as equal. Matrices with an entry above `FAR` in absolute value get an infinite loss.
"""


def exact_prompts(n: int, degree: int) -> Prompts:
    """Return prompts with d = 2 whose mean loss is the expected loss, if the loss is a polynomial of `degree` in S.

    Each query x is scaled by the square root of the quadrature weight times the number of prompts, because the loss is
    a quadratic form in x. Raises InputError for more than 300 examples.
    """
    from scipy.special import roots_genlaguerre, roots_hermitenorm

    if n > MOST_EXAMPLES:
        raise InputError("n", n, f"must be at most {MOST_EXAMPLES}")
    count = _points(degree)
    first, second, below = (
        roots_genlaguerre(count, n / 2 - 1),
        roots_genlaguerre(count, (n - 1) / 2 - 1) if n > 1 else (np.zeros(1), np.ones(1)),
        roots_hermitenorm(degree + 1),
    )
    squares, others, g = (axis.ravel() for axis in np.meshgrid(2 * first[0], 2 * second[0], below[0], indexing="ij"))
    chances = np.einsum("i,j,k->ijk", *(rule[1] / rule[1].sum() for rule in (first, second, below))).ravel()
    corner = np.sqrt(squares) * g
    S = np.array([[squares, corner], [corner, g**2 + others]]) / n
    units = np.eye(2)
    query = [np.outer(units[j], np.sqrt(4 * len(g) * chances)) for j in (0, 1)]
    weights = [np.outer(units[i], np.ones(len(g))) for i in (0, 1)]
    arrays = np.tile(S, 4), np.hstack([weights[0], weights[0], weights[1], weights[1]]), np.hstack(query * 2)
    return Prompts(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))


def _points(degree: int) -> int:
    """Return the number of points of a Gauss rule that is exact for polynomials of this degree."""
    return degree // 2 + 1


def expected_loss(
    L: int, n: int, moving: bool
) -> Callable[[Float64[np.ndarray, "entries"]], tuple[float, Float64[np.ndarray, "entries"]]]:
    """Return the function of the entries of A, and of B if `moving`, that gives the expected loss and its gradient.

    Raises InputError if the loss needs more than 100 000 nodes, or there are more than 300 examples.
    """
    degree = 3**L - 1 if moving else 2 * L
    nodes = _points(degree) ** 2 * (degree + 1)
    if nodes > MOST_NODES:
        raise InputError("L", L, f"must leave at most {MOST_NODES} nodes of quadrature; these layers take {nodes}")
    prompts = exact_prompts(n, degree)

    def loss(entries: Float64[np.ndarray, "entries"]) -> tuple[float, Float64[np.ndarray, "entries"]]:
        if not np.abs(entries).max() <= FAR:
            return np.inf, np.zeros_like(entries)
        matrices = torch.from_numpy(np.ascontiguousarray(entries)).view(-1, L, 2, 2)
        value, slopes = mean_gradient(matrices[0], matrices[1] if moving else None, prompts)
        return float(value), torch.stack(slopes).view(-1).numpy()

    return loss


def end_of(loss: Callable[[Any], tuple[float, Any]], method: str, start: Float64[np.ndarray, "entries"]) -> list[float]:
    """Return the loss at the end of a descent, and the largest absolute entry of the gradient there."""
    from scipy.optimize import minimize

    name, options = METHODS[method]
    found = minimize(loss, start, jac=True, method=name, options=options)
    value, slopes = loss(found.x)
    return [value, float(np.abs(slopes).max())]


def _measure(settings: Instance, *, seed: int, device: str, running: Running) -> Mapping[str, Measurement]:
    del device
    layers, n, starts = (int(settings[name]) for name in ("L", "n", "starts"))
    moving = settings["trained"] == "A_and_B"
    loss, entries = expected_loss(layers, n, moving), (8 if moving else 4) * layers

    run = [layers, n, starts, int(moving), seed]

    def fits(state: Any) -> bool:
        return state["of"] == run and len(state["ends"]) <= 2 * starts

    def state() -> dict[str, Any]:
        return {"of": run, "ends": list(ends)}

    left = running.left("descents", fits) or {"ends": []}
    ends: list[list[float]] = list(left["ends"])
    for k in range(len(ends), 2 * starts):
        random = np.random.default_rng([seed, k // 2])
        start = 10 ** random.uniform(-2, 0) * random.standard_normal(entries)
        with np.errstate(all="ignore"):
            ends.append(end_of(loss, list(METHODS)[k % 2], start))
        running.steps(k + 1, 2 * starts)
        running.keep("descents", state)
    running.keep("descents", state, now=True)
    return _counted(np.array(ends))


def _counted(ends: Float64[np.ndarray, "descents 2"]) -> Mapping[str, Measurement]:
    """Return the lowest loss of all ends, each optimiser's least loss at rest, and its number of ends of each kind.

    The kinds are: at rest with the least loss at rest of both optimisers, at rest with a larger loss, and not at rest.
    """
    at_rest = (ends[:, 1] <= FLAT) & np.isfinite(ends[:, 0])
    least = ends[at_rest, 0].min() if at_rest.any() else np.inf
    found = {"lowest": Measurement(float(ends[:, 0].min()))}
    for i, method in enumerate(METHODS):
        losses, flat = ends[i::2, 0], at_rest[i::2]
        lowest = losses <= (1 + SAME) * least
        found |= {
            f"at_the_least_{method}": Measurement(float((flat & lowest).sum())),
            f"elsewhere_{method}": Measurement(float((flat & ~lowest).sum())),
            f"not_at_rest_{method}": Measurement(float((~flat).sum())),
        }
        if flat.any():
            found[f"least_{method}"] = Measurement(float(losses[flat].min()))
    return found


many_starts = Experiment(
    id="ahn2023.many_starts",
    title="Two optimisers of the expected loss over all A_l, or all A_l and B_l, from random starts, d = 2",
    source=Source("Theorems 2, 3 and 4 over all matrices", "derived here"),
    settings=(
        Setting(TRAINED, "A", "A"),
        Setting(L, 3, 3),
        Setting(N, 20, 20),
        Setting(Parameter("starts", "integer", "random starts of each optimiser", minimum=1), 40, 10_000),
    ),
    measure=_measure,
    resumable=True,
)
