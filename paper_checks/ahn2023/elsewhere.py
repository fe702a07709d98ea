"""What weights that are best for n examples do on other prompts, beside methods that know these.

Exact, by Wishart moments, on prompts of m examples: three kinds of weights that are best for n examples (Theorem 3's
steps, Theorem 4's lowest critical point, and one step for all layers), where the prompts' covariance is `scale` times
Σ, and that of w* its inverse; and Theorem 3's steps for m examples, and Chebyshev's for the limit of the spectrum,
(1 ± √(d/m))², both with the preconditioner that belongs to the prompts. Simulated: as many steps of conjugate
gradients, which are fitted to each prompt. Least squares is left out: it has no error from d examples on.
"""

from collections.abc import Callable, Mapping
from math import cos, pi, sqrt

from paper_checks.ahn2023.multiples_of_the_inverse import minimum, on_multiples
from paper_checks.ahn2023.token_preconditioning import critical_points, on_set
from theorems.papers import AHN2023
from theorems.preconditioned_descent import critical_steps
from verify import Curve, Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance
from verify.outcomes import as_float

OVER, LOSS = "m: examples in the prompts", "mean squared error"
MOST_LAYERS = 3
"""Theorem 4's polynomial for more has a degree of 40 and over."""


def shared_step(L: int, d: int, n: int) -> float:
    """Return the step that is best for n examples where all layers have the same."""
    (point,) = (p for p in critical_steps.critical_points(L, d, n).points if p.multiplicities == (L,))
    return as_float(point.steps[0])  # pyright: ignore[reportReturnType]


def chebyshev(L: int, d: int, m: int) -> list[float]:
    """Return the steps of Chebyshev's polynomial on the limit of the spectrum of S."""
    low, high = (1 - sqrt(d / m)) ** 2, (1 + sqrt(d / m)) ** 2
    return [2 / (low + high + (high - low) * cos(pi * (2 * k + 1) / (2 * L))) for k in range(L)]


def exact_losses(L: int, d: int, n: int, scale: float) -> dict[str, Callable[[int], float]]:
    """Return the exact losses at m examples, by name."""
    steps, point, step = minimum(L, d, n)[0], critical_points(L, d, n)[0], shared_step(L, d, n)
    return {
        "steps_of_theorem_3": lambda m: on_multiples([scale * a for a in steps], d, m).loss,
        "weights_of_theorem_4": lambda m: on_set([scale * a for a in point.a], point.b, d, m).loss,
        "one_step_for_all_layers": lambda m: on_multiples([scale * step] * L, d, m).loss,
        "best_steps_for_m": lambda m: minimum(L, d, m)[1],
        "chebyshev_for_m": lambda m: on_multiples(chebyshev(L, d, m), d, m).loss,
    }


def _measured(settings: Instance, *, seed: int, device: str) -> Mapping[str, Curve]:
    import torch

    from numerics.preconditioned_descent.predictor_figures import whole_numbers
    from numerics.preconditioned_descent.predictors import conjugate_gradients
    from numerics.preconditioned_descent.reduced import draw

    L, d, n, count = (int(settings[name]) for name in ("L", "d", "n", "prompts"))
    tested = whole_numbers(settings, "examples")
    if L > MOST_LAYERS:
        raise InputError("L", L, f"must be at most {MOST_LAYERS}")
    if d in tested:
        raise InputError("examples", d, "must not be d: Chebyshev's interval would end at 0")
    exact = exact_losses(L, d, n, float(settings["scale"]))
    found: dict[str, list[Measurement]] = {name: [] for name in (*exact, "conjugate_gradients")}
    # Conjugate gradients with the prompts' own Σ^{-1} do not depend on Σ.
    identity = torch.eye(d, dtype=torch.float64, device=device)
    for place, m in enumerate(tested):
        for name, loss in exact.items():
            found[name].append(Measurement(loss(m)))
        prompts = draw(count, m, identity, identity, seed, step=place)
        each = (conjugate_gradients(identity, prompts, L) * prompts.query).sum(dim=0).square()
        found["conjugate_gradients"].append(Measurement(float(each.mean()), float(each.std()) / sqrt(count), count))
    points = tuple(map(float, tested))
    return {name: Curve(OVER, LOSS, points, tuple(values), logarithmic=True) for name, values in found.items()}


elsewhere = Experiment(
    id="ahn2023.elsewhere",
    title="Weights that are best for n examples, on prompts of other lengths and covariances",
    source=Source("Theorems 3 and 4", "derived here", AHN2023),
    settings=(
        Setting(Parameter("L", "integer", "number of layers, and of steps", minimum=1), 2, 3),
        Setting(Parameter("d", "integer", "dimension of a token", minimum=1), 5, 5),
        Setting(Parameter("n", "integer", "examples that the weights are best for", minimum=1), 20, 20),
        Setting(
            Parameter("examples", "rationals", "numbers of examples of the prompts, none of them d", minimum=1),
            "10,15,20,25,30,40,57,100,200",
            "10,15,20,25,30,40,57,100,200",
        ),
        Setting(Parameter("scale", "rational", "the prompts' covariance, over that of n examples", above=0), 1, 1),
        Setting(Parameter("prompts", "integer", "prompts for conjugate gradients", minimum=2), 20_000, 200_000),
    ),
    measure=_measured,
)
