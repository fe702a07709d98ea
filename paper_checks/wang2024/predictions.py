"""Theory for the figures' curves: population gradient descent on Lemma 2's invariant set, and the least loss there.

With stochastic encodings the prediction is gradient descent in α and C (`on_the_set`). With one-hot encodings, from
zero and attending to tokens alone, it is Lemma 1's recursion. There is no prediction for fixed encodings, nor for the
path of Adam; the least loss on the set is a bound for Adam too while it stays there.

Training begins at a random point off the set. The prediction begins at the nearest point of the set with α, C ≥ 0,
where P and R are derived. At the paper's sizes and scale 1/50, α rises later in training than predicted: it is 2.1
after 5000 steps, and 7.1 is predicted (`verify simulate wang2024.figure1 --full steps=5000 dtype=float32`). The cause
is the noise of the steps at η = 1, and not the random start. Within 500 steps the noise brings the entries of W[:d, d:]
to 0.025 in root mean square, from a start at 0 as well as from the random one, and keeps them there (0.026 after 3000).
Let a = W[:d, d:] u, with the sum u of the selected encodings. The softmax with the additional logits aᵀx_i gives the
tokens a mean of about a, which adds about q·0.025² = 0.0019 to R ≈ 1/T. So α = P/(qR) settles at 0.7 times its value
without noise: after 500 steps it is 0.70 and 0.71 from the two starts, and 0.95 without noise. The slope of C grows
with α, so C rises later still: it is 0.41 after 3000 steps, and 0.69 is predicted.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from paper_checks.wang2024.on_the_set import COARSE, Grid, Layer, OnTheSet, annealed, layer
from paper_checks.wang2024.recursion import Point, recursion
from verify import ExperimentResult, Predicted, Prediction

_POINTS = 200
"""Number of points of a predicted curve."""


def layer_of(settings: Mapping[str, object], T: int | None = None, q: int | None = None, grid: Grid = COARSE) -> Layer:
    """Return the layer of some settings, at their own length and subset size or at others."""
    T, q = T or int(settings["T"]), q or int(settings["q"])  # type: ignore[arg-type]
    d, d_e = int(settings["d"]), int(settings["d_e"])  # type: ignore[arg-type]
    return layer(T, q, d, d_e, settings["attend"] == "tokens_and_query", grid)


def rates_of(settings: Mapping[str, object]) -> Iterator[float]:
    """Return the step sizes of a training."""
    eta, late = (float(settings[name]) for name in ("eta", "eta_late"))  # type: ignore[arg-type]
    return annealed(eta, late, int(settings["late"]), int(settings["steps"]))  # type: ignore[arg-type]


def stochastic_descent(
    settings: Mapping[str, object], alpha: float = 0.0, C: float = 0.0, grid: Grid = COARSE
) -> list[OnTheSet]:
    """Return the population gradient descent of a training with stochastic encodings; a start below 0 is moved to 0."""
    return list(layer_of(settings, grid=grid).descent(max(alpha, 0.0), max(C, 0.0), rates_of(settings)))


def one_hot_descent(settings: Mapping[str, object]) -> list[OnTheSet]:
    """Return Lemma 1's recursion from zero, with C times 1 − 1/T, the mean on the diagonal of C (I − 11ᵀ/T)."""
    sizes = tuple(int(settings[name]) for name in ("T", "q", "d"))  # type: ignore[arg-type]
    at, found, steps = Point(0.0, 0.0, 0.0), [], {}
    for step, rate in enumerate([*rates_of(settings), 1.0]):
        steps[rate] = steps.get(rate) or recursion((*sizes, rate))  # type: ignore[arg-type]
        following = steps[rate].step(at)
        found.append(OnTheSet(step, at.alpha, at.C * (1 - 1 / sizes[0]), following.loss))
        at = following
    return found


def thinned(points: list[OnTheSet]) -> list[OnTheSet]:
    """Return about _POINTS of the points, with the first and the last."""
    every = max(1, len(points) // _POINTS)
    return [*islice(points, 0, len(points) - 1, every), points[-1]]


def _predict_training(result: ExperimentResult) -> Mapping[str, Predicted]:
    settings, curves = result.settings, result.curves
    found = {}
    one_hot = settings["encoding"] == "one_hot" and settings["attend"] == "tokens" and settings["scale"] == 0
    stochastic = settings["encoding"] == "stochastic"
    if settings["optimizer"] == "sgd" and (one_hot or stochastic):
        alpha, C = (curves[name].measured[0].value for name in ("alpha", "C"))
        points = thinned(one_hot_descent(settings) if one_hot else stochastic_descent(settings, alpha, C))
        at = [float(point.step) for point in points]
        losses = [point.loss for point in points]
        errors = [0.0 if one_hot else layer_of(settings).error(point.alpha, point.C) for point in points]
        found["population_gradient_descent"] = Predicted.line(curves["loss"], at, losses, errors)
        if min(losses) > 0:
            found["1/population_gradient_descent"] = Predicted.line(
                curves["inverse_loss"], at, [1 / loss for loss in losses]
            )
        for name in ("alpha", "C"):
            found[f"{name}_by_population_gradient"] = Predicted.line(
                curves[name], at, [getattr(p, name) for p in points]
            )
    if stochastic:
        lower, upper = layer_of(settings).floor()
        found["least_loss_on_the_set"] = Predicted.level(curves["loss"], lower, upper)
        if lower > 0:
            # At q = T the least loss is 0, because all tokens are selected.
            found["1/least_loss_on_the_set"] = Predicted.level(curves["inverse_loss"], 1 / upper, 1 / lower)
    return found


figure1 = Prediction(
    id="wang2024.figure1",
    title="Population gradient descent on the set, and the least loss there",
    predict=_predict_training,
)


def elsewhere(settings: Mapping[str, object], points: list[OnTheSet], T: int, q: int) -> list[tuple[float, float]]:
    """Return the loss, and its error, of points of a training at another length or subset size."""
    there = layer_of(settings, T, q)
    return [(there.loss(point.alpha, point.C), there.error(point.alpha, point.C)) for point in points]


def _predict_elsewhere(result: ExperimentResult) -> Mapping[str, Predicted]:
    settings = result.settings
    if settings["optimizer"] != "sgd":
        return {}
    points = thinned(stochastic_descent(settings))
    at = [float(point.step) for point in points]
    found = {}
    for name, curve in result.curves.items():
        encoding, _, where = name.partition("_")
        if encoding != "stochastic" or not where[1:].isdecimal():
            continue
        given = {where[0]: int(where[1:])}
        sizes = {"T": int(settings["T"]), "q": int(settings["q"])} | given  # type: ignore[arg-type]
        losses, errors = (list(column) for column in zip(*elsewhere(settings, points, **sizes), strict=True))
        found[f"population_descent_{where}"] = Predicted.line(curve, at, losses, errors)
    if (over := result.curves.get("stochastic_over_q")) is not None:
        ends = [elsewhere(settings, points[-1:], int(settings["T"]), int(q))[0] for q in over.points]  # type: ignore[arg-type]
        found["population_descent_over_q"] = Predicted.line(
            over, list(over.points), *(list(column) for column in zip(*ends, strict=True))
        )
    return found


figure2 = Prediction(
    id="wang2024.figure2",
    title="The loss at other lengths along population gradient descent with stochastic encodings, from zero",
    predict=_predict_elsewhere,
)
figure4 = Prediction(
    id="wang2024.figure4",
    title="The loss at another length and at unseen subset sizes along population gradient descent, from zero",
    predict=_predict_elsewhere,
)


def _predict_least(result: ExperimentResult) -> Mapping[str, Predicted]:
    """Return the least loss over the set at the other length."""
    length = int(result.settings["T_test"])  # type: ignore[arg-type]
    lower, upper = layer_of(result.settings, T=length).floor()
    curve = result.curves[f"stochastic_T{length}"]
    return {f"least_loss_on_the_set_T{length}": Predicted.level(curve, lower, upper)}


figure5 = Prediction(
    id="wang2024.figure5",
    title="The least loss on the set at the other length: Adam's path is not predicted",
    predict=_predict_least,
)
