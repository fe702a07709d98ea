"""Population gradient descent on the set by the figures' schedule: the point where it ends, and its slow direction.

In the coordinates √d α and √d_e C a step of size η is a step of plain gradient descent. Near the minimiser, each step
multiplies the distance from it along an eigenvector of the Hessian by 1 − ηλ, with the eigenvalue λ. So in the slow
direction, of the least λ, the distance falls by a factor e in 1/(ηλ) steps. Nothing is trained: the numbers are
computed from P and R, which are enclosed and interpolated.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from numerics.sparse_token_selection.settings import TRAINING
from paper_checks.wang2024.on_the_set import CLOSE, OnTheSet
from paper_checks.wang2024.predictions import layer_of, rates_of
from verify import Curve, Experiment, InputError, Measurement, Source

NAMES = ("T", "q", "d", "d_e", "attend", "eta", "eta_late", "late", "steps")
READ = (0, 1, 5, 10)
"""Tenths of training at which the loss is read: at the figures' sizes 10 000, 50 000 and 100 000 steps."""


def readings(settings: Mapping[str, object], *, annealed: bool) -> list[OnTheSet]:
    """Return the points of population gradient descent from zero at the tenths of READ.

    Raises InputError if the descent leaves C ≥ 0, where P and R are derived.
    """
    steps, eta = int(settings["steps"]), float(settings["eta"])  # type: ignore[arg-type]
    rates: Iterator[float] = rates_of(settings) if annealed else (eta for _ in range(steps))
    wanted = {steps * tenths // 10 for tenths in READ}
    found = [p for p in layer_of(settings, grid=CLOSE).descent(0.0, 0.0, rates) if p.step in wanted]
    if found[-1].step != steps:
        raise InputError("eta", settings["eta"], "must be one at which population descent stays at C >= 0")
    return found


def measure(settings: Mapping[str, object], *, seed: int, device: str) -> dict[str, Measurement | Curve]:
    """Return the losses, α and C with the annealing and without, the least loss, and the Hessian's eigenvalues there.

    `seed` and `device` are not used. Raises InputError if the least loss is not reached, or if the descent leaves
    C ≥ 0.
    """
    del seed, device
    layer = layer_of(settings, grid=CLOSE)
    alpha, C = layer.best()
    values, vectors = np.linalg.eigh(layer.hessian(alpha, C))
    least = layer.loss(alpha, C)
    numbers = {
        "least_loss": least,
        "alpha_of_the_least": alpha,
        "C_of_the_least": C,
        "computed_error": layer.error(alpha, C),
        "slow_eigenvalue": float(values[0]),
        "fast_eigenvalue": float(values[1]),
        # The squared component along √d α of the unit eigenvector.
        "share_of_alpha_in_the_slow_direction": float(vectors[0, 0] ** 2),
        "steps_of_the_slow_direction": float(1 / (values[0] * float(settings["eta"]))),  # type: ignore[arg-type]
    }
    found: dict[str, Measurement | Curve] = {name: Measurement(number) for name, number in numbers.items()}
    for name in ("annealed", "constant"):
        points = readings(settings, annealed=name == "annealed")
        at = tuple(float(point.step) for point in points)
        for which, quantity in (("loss", "population loss"), ("alpha", "α"), ("C", "C")):
            measured = tuple(Measurement(getattr(point, which)) for point in points)
            found[f"{which}_{name}"] = Curve("step of population descent", quantity, at, measured)
    return found


population_schedule = Experiment(
    id="wang2024.population_schedule",
    title="Population descent by the figures' schedule: where it ends, and the slow direction at the minimiser",
    source=Source("Figure 1", "derived here", None, "arXiv 2406.06893; on the set of wang2024.lemma2, no training"),
    settings=tuple(setting for setting in TRAINING if setting.parameter.name in NAMES),
    measure=measure,
)
