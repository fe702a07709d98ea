"""Predictions for the figures' curves: least losses on S, losses of equal steps, and Dist(Σ^{-1}, I).

S is the set of Theorems 3 and 4: every A_l is a multiple of Σ^{-1}, and in Theorem 4 every B_l is a multiple of I.
Training moves all entries of the matrices and may leave S. So the least loss on S is not a lower bound of the loss
after training.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import verify
from paper_checks.lazily import lazily
from theorems.wishart.trace_moments import trace_moments
from verify import ExperimentResult, Predicted, Prediction
from verify.outcomes import as_float

multiples = lazily("theorems.preconditioned_descent.multiples_of_the_inverse")
tokens = lazily("theorems.preconditioned_descent.preconditioned_tokens")
MOST_LAYERS = 3
"""Largest number of layers for which a figure shows local minima of Theorem 4; up to two layers, all are found."""
_SHOWN = 3
"""Largest number of local minima that a figure shows."""


def least_loss(L: int, d: int, n: int) -> float:
    """Return Theorem 3's least loss on S."""
    return as_float(verify.check(multiples.theorem3, L=L, d=d, n=n).values["minimum_loss"])  # pyright: ignore[reportReturnType]


@cache
def local_minima(L: int, d: int, n: int) -> tuple[float, ...]:
    """Return the losses of Theorem 4's local minima on S in ascending order: all for L ≤ 2, those found for L = 3."""
    points = verify.check(tokens.theorem4, L=L, d=d, n=n).values["critical_points"]
    return tuple(as_float(point["loss"]) for point in points if point["local_minimum"])  # pyright: ignore[reportReturnType]


def spectrum_of(settings: Mapping[str, Any]) -> list[float]:
    """Return the eigenvalues of a figure's Σ."""
    from numerics.preconditioned_descent.experiments import eigenvalues

    return eigenvalues(str(settings["spectrum"]), int(settings["d"]), float(settings["least"])).tolist()


def distance_of_inverse(spectrum: Sequence[float]) -> float:
    """Return Dist(Σ^{-1}, I) = √(1 − (tr Σ^{-1})²/(d tr Σ^{-2}))."""
    trace, squares = (sum(x**-power for x in spectrum) for power in (1, 2))
    return math.sqrt(max(0.0, 1 - trace**2 / (len(spectrum) * squares)))


def sizes(settings: Mapping[str, Any], **changed: int) -> dict[str, int]:
    """Return L, d and n of some settings. The numbers in `changed` take precedence; a missing number is 0."""
    return {name: int(changed.get(name, settings.get(name, 0))) for name in ("L", "d", "n")}


def _over_training(result: ExperimentResult) -> Mapping[str, Predicted]:
    least = math.log(least_loss(**sizes(result.settings)))
    away = distance_of_inverse(spectrum_of(result.settings))
    return {
        "Theorem_3's_minimum": Predicted.level(result.curves["log_loss"], least),
        "of_Σ^-1": Predicted.level(result.curves["A0"], away),
    }


figure1 = Prediction(
    id="ahn2023.figure1",
    title="Theorem 3's least loss, and the distance to I of multiples of Σ^-1",
    predict=_over_training,
)


def _moved_tokens(result: ExperimentResult) -> Mapping[str, Predicted]:
    own = sizes(result.settings)
    if own["L"] > MOST_LAYERS:
        return {}
    found = local_minima(**own)[:_SHOWN]
    away = distance_of_inverse(spectrum_of(result.settings))
    levels = {f"local_minimum_{i}_on_S": math.log(loss) for i, loss in enumerate(found, start=1)}
    return {name: Predicted.level(result.curves["log_loss"], level) for name, level in levels.items()} | {
        "of_Σ^-1": Predicted.level(result.curves["A0"], away)
    }


figure3 = Prediction(
    id="ahn2023.figure3",
    title="The lowest local minima of Theorem 4 on S, and the distance to I of multiples of Σ^-1",
    predict=_moved_tokens,
)


def loss_of_equal_steps(L: int, d: int, n: int, a: float) -> float:
    """Return the loss after L steps of one size a on n examples, each step preconditioned by Σ^{-1}.

    It is E tr (I − a XXᵀ/n)^{2L}, where X has n independent standard normal columns. The mean is exact for this a, and
    rounded once.
    """
    moments = trace_moments(2 * L, n, d)
    return float(sum(math.comb(2 * L, k) * Fraction(-a) ** k * moment for k, moment in enumerate(moments)))


def equal_steps(result: ExperimentResult, along: str) -> list[float]:
    """Return `loss_of_equal_steps` at each point of a figure, at the step size that was chosen for it."""
    left_out = int(result.settings["left_out"])  # type: ignore[arg-type]
    curve = result.curves["preconditioned_gradient_descent_steps"]
    points = [sizes(result.settings, **{along: int(value)}) for value in curve.points]
    return [
        loss_of_equal_steps(own["L"], own["d"], own["n"] - left_out, step.value)
        for own, step in zip(points, curve.measured, strict=True)
    ]


def _compared(result: ExperimentResult, along: str) -> dict[str, Predicted]:
    """Return the least loss on S if A_l alone is trained, and the loss of equal steps if a grid gives their size."""
    curve, found = result.curves["transformer"], {}
    if result.settings["trained"] == "A":
        least = [least_loss(**sizes(result.settings, **{along: int(value)})) for value in curve.points]
        found["Theorem_3's_minimum"] = Predicted.line(curve, curve.points, least)
    if result.settings["steps_from"] == "grid":
        exact = equal_steps(result, along)
        found["equal_preconditioned_steps"] = Predicted.line(curve, curve.points, exact)
    return found


def _over_examples(result: ExperimentResult) -> Mapping[str, Predicted]:
    curve, (d, left_out) = result.curves["transformer"], (int(result.settings[name]) for name in ("d", "left_out"))  # type: ignore[arg-type]
    found = _compared(result, "n")
    few = [n for n in curve.points if n - left_out < d]
    if few:
        found["d_-_n"] = Predicted.line(curve, few, [d - n + left_out for n in few])
    return found


def _over_layers(result: ExperimentResult) -> Mapping[str, Predicted]:
    return _compared(result, "L")


figure6 = Prediction(
    id="ahn2023.figure6",
    title="Theorem 3's least loss, which the best preconditioned steps attain too; the loss of equal steps, as in the "
    "authors' code; d − n, the loss of the least-squares solution of least Σ-norm on the n < d examples that it uses",
    predict=_over_examples,
)
figure7 = Prediction(
    id="ahn2023.figure7",
    title="Theorem 3's least loss, which the best preconditioned steps attain too; the loss of equal steps, as in the "
    "authors' code",
    predict=_over_layers,
)
