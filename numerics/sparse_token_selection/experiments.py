"""Experiments with the layer of `reference.py`: one-hot encoding, then the encodings of `stochastic.py`.

W* = diag(0, I_{d_e}) and V* = (I_d, 0) are the matrices of the ground truth. For one-hot encoding d_e = T, and
P = I - 11^T/T removes the all-ones direction, along which a change of W does not change the attention.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.sparse_token_selection.reference import (
    Encodings,
    Gradient,
    Iterate,
    cosine_similarity,
    cubature_gradient,
    one_hot_encodings,
    sampled_gradient,
    train,
)
from numerics.sparse_token_selection.settings import ATTEND, D_E, ETA, STEPS, D, Q, T
from numerics.sparse_token_selection.stochastic import (
    averaged_losses,
    measurement,
    sampled_losses,
    sign_encodings,
    sphere_encodings,
)
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance

SOURCE = Source("Definitions 2 and 4", "printed", None, "arXiv 2406.06893; assembled as in `reference`")


class GroundTruth(NamedTuple):
    """W* (D, D), W* with I - 11^T/T in place of I, and V* (d, D); D = d + T, or d + d_e if d_e is not T."""

    W: Float64[Tensor, "D D"]
    W_centred: Float64[Tensor, "D D"]
    V: Float64[Tensor, "d D"]


def ground_truth(length: int, size: int, device: str = "cpu") -> GroundTruth:
    """Return the matrices of the ground truth, with d = `size` and `length` for T, or for d_e if d_e is not T."""
    W, W_centred = torch.zeros(2, size + length, size + length, dtype=torch.float64, device=device)
    V = torch.zeros(size, size + length, dtype=torch.float64, device=device)
    W[size:, size:] = one_hot_encodings(length, device=device)
    W_centred[size:, size:] = one_hot_encodings(length, device=device) - 1 / length
    V[:, :size] = torch.eye(size, dtype=torch.float64)
    return GroundTruth(W, W_centred, V)


def _gradient(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size = (int(settings[name]) for name in ("T", "q", "d"))
    truth = ground_truth(length, size, device)
    sampled = sampled_gradient(
        float(settings["W"]) * truth.W,
        float(settings["V"]) * truth.V,
        one_hot_encodings(length, device=device),
        subset,
        batches=int(settings["batches"]),
        batch_size=int(settings["batch_size"]),
        generator=torch.Generator(device).manual_seed(seed),
    ).batches
    positional, token = sampled.W[:, size:, size:], sampled.V[:, :, :size]
    diagonal = positional.diagonal(dim1=1, dim2=2).sum(dim=1)
    # In the best fit by a I + b 11^T, a is the mean on the diagonal minus the mean off it.
    others = (positional.sum(dim=(1, 2)) - diagonal) / (length * (length - 1))
    return {
        "loss": measurement(sampled.loss),
        "gradient_W": measurement(diagonal / length - others),
        "gradient_V": measurement(token.diagonal(dim1=1, dim2=2).mean(dim=1)),
    }


one_hot_gradient = Experiment(
    id="wang2024.one_hot_gradient",
    title="Loss, and the gradient along the identity blocks, at multiples of W* and V*, from fresh batches",
    source=SOURCE,
    settings=(
        Setting(T, 20, 200),
        Setting(Q, 3, 3),
        Setting(D, 2, 5),
        Setting(Parameter("W", "rational", "coefficient of the identity in W's positional block"), 2, 2),
        Setting(Parameter("V", "rational", "coefficient of the identity in V's token block"), 1, 1),
        Setting(Parameter("batches", "integer", "independent batches", minimum=2), 64, 64),
        Setting(Parameter("batch_size", "integer", "samples in a batch", minimum=2), 200, 256),
    ),
    measure=_gradient,
)


def _odds(W: Float64[Tensor, "D D"], length: int, subset: int, size: int) -> float:
    """Return the ratio of the attention on all unselected tokens to the attention on the first q, selected tokens."""
    attention = torch.softmax(W[size:, size : size + subset].sum(dim=1), dim=0)
    return float(attention[subset:].sum() / attention[:subset].sum())


def _training(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size, steps, window = (int(settings[name]) for name in ("T", "q", "d", "steps", "window"))
    if window > steps:
        raise InputError("window", window, f"must be at most steps = {steps}")
    truth, encodings = ground_truth(length, size, device), one_hot_encodings(length, device=device)
    run = train(
        torch.zeros_like(truth.W),
        torch.zeros_like(truth.V),
        eta=float(settings["eta"]),
        steps=steps,
        gradient=lambda W, V: cubature_gradient(W, V, encodings, subset),
    )
    losses, cosines_W, cosines_V, kept = [], [], [], {}
    for iterate in run:
        losses.append(float(iterate.loss))
        if not math.isfinite(losses[-1]):
            raise InputError("eta", settings["eta"], f"training diverges: no finite loss at step {iterate.step}")
        if iterate.step in (steps - window, steps):
            kept[iterate.step] = iterate
        # A zero matrix has no cosine.
        if iterate.W.any():
            cosines_W.append(float(cosine_similarity(iterate.W, truth.W)))
        if iterate.V.any():
            cosines_V.append(float(cosine_similarity(iterate.V, truth.V)))
    quantities = {
        "loss": losses[-1],
        "odds_before": _odds(kept[steps - window].W, length, subset, size),
        "odds_after": _odds(kept[steps].W, length, subset, size),
        "cosine_V_least": min(cosines_V),
        "cosine_V_largest": max(cosines_V),
    }
    if losses[steps] > 0:
        # If all tokens are selected, the loss may become exactly 0.
        quantities["inverse_loss_slope"] = (1 / losses[steps] - 1 / losses[steps - window]) / window
    if cosines_W:
        quantities |= {"cosine_W_least": min(cosines_W), "cosine_W_largest": max(cosines_W)}
    level = float(settings["eps"])
    reached = next((step for step, value in enumerate(losses) if value <= level), None)
    if reached is not None:
        quantities |= {"steps_to_epsilon": reached, "largest_loss_after": max(losses[reached:])}
    return {name: Measurement(float(value)) for name, value in quantities.items()}


one_hot_training = Experiment(
    id="wang2024.one_hot_training",
    title="Training from zero by exact population gradients: loss, growth of the inverse loss, odds, cosines",
    source=SOURCE,
    settings=(
        Setting(T, 9, 13),
        Setting(Q, 2, 3),
        Setting(D, 1, 2),
        Setting(ETA, 1, 1),
        Setting(STEPS, 200, 2000),
        Setting(Parameter("window", "integer", "last steps over which the slope is taken", minimum=1), 50, 200),
        Setting(Parameter("eps", "rational", "population loss to be reached", above=0), "1/100", "1/100"),
    ),
    measure=_training,
)


def _from_random(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size, steps, middle = (int(settings[name]) for name in ("T", "q", "d", "steps", "middle"))
    if middle > steps:
        raise InputError("middle", middle, f"must be at most steps = {steps}")
    truth, encodings = ground_truth(length, size, device), one_hot_encodings(length, device=device)
    generator = torch.Generator(device).manual_seed(seed)
    scale, half = float(settings["scale"]), int(settings["batch_size"]) // 2

    def gradient(W: Tensor, V: Tensor) -> Gradient:
        return sampled_gradient(W, V, encodings, subset, batches=2, batch_size=half, generator=generator).mean

    def draw(like: Tensor) -> Tensor:
        return scale * torch.randn(like.shape, generator=generator, dtype=like.dtype, device=device)

    rows = []
    for _ in range(int(settings["runs"])):
        run = train(draw(truth.W), draw(truth.V), eta=float(settings["eta"]), steps=steps, gradient=gradient)
        rows.append(dict(_cosines(run, truth, {"start": 0, "middle": middle, "end": steps})))
    return {name: measurement(torch.tensor([row[name] for row in rows], dtype=torch.float64)) for name in rows[0]}


def _cosines(run: Iterator[Iterate], truth: GroundTruth, steps: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """Yield (`name_when`, cosine) pairs: of W with I - 11^T/T and with I in the positional block, of V with (I, 0)."""
    for iterate in run:
        for when in (when for when, step in steps.items() if step == iterate.step):
            yield f"W_centred_{when}", float(cosine_similarity(iterate.W, truth.W_centred))
            yield f"W_identity_{when}", float(cosine_similarity(iterate.W, truth.W))
            yield f"V_{when}", float(cosine_similarity(iterate.V, truth.V))


one_hot_from_random = Experiment(
    id="wang2024.one_hot_from_random",
    title="Training on fresh batches from entries N(0, scale²): cosines with the ground truth at start, middle and end",
    source=SOURCE,
    settings=(
        Setting(T, 10, 10),
        Setting(Q, 2, 2),
        Setting(D, 2, 2),
        Setting(ETA, 1, 1),
        Setting(Parameter("scale", "rational", "standard deviation of the initial entries", above=0), "1/50", "1/50"),
        Setting(Parameter("batch_size", "integer", "samples in a batch, in two halves", minimum=4), 256, 256),
        Setting(STEPS, 500, 20_000),
        Setting(
            Parameter("middle", "integer", "the intermediate step at which cosines are measured", minimum=0), 100, 1000
        ),
        Setting(Parameter("runs", "integer", "independent runs", minimum=2), 2, 4),
    ),
    measure=_from_random,
)


STOCHASTIC_SOURCE = Source("Definitions 3, 4 and 5", "printed", None, "arXiv 2406.06893; assembled as in `reference`")

T_TEST = Parameter("T_test", "integer", "number of tokens in the test", minimum=1)
Q_TEST = Parameter("q_test", "integer", "number of tokens that the query selects in the test", minimum=1)
ENCODING = Parameter(
    "encoding", "word", "a fresh draw for every sample, or one draw for all", words=("stochastic", "fixed")
)
DISTRIBUTION = Parameter(
    "distribution", "word", "of an encoding: signs ±1/sqrt(d_e), or uniform on the sphere", words=("signs", "sphere")
)
SAMPLES = Parameter("samples", "integer", "fresh samples over which a loss is averaged", minimum=2)


def _lengths(settings: Instance) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return (T, q) in training and in the test."""
    pairs = []
    for length, subset in (("T", "q"), ("T_test", "q_test")):
        if int(settings[subset]) > int(settings[length]):
            raise InputError(subset, settings[subset], f"must be at most {length} = {settings[length]}")
        pairs.append((int(settings[length]), int(settings[subset])))
    return pairs[0], pairs[1]


def _encodings(settings: Instance, generator: torch.Generator) -> tuple[Encodings, Encodings]:
    """Return the encodings in training and in the test; fixed encodings are the first T, or T_test, of one draw."""
    draw = {"signs": sign_encodings, "sphere": sphere_encodings}[str(settings["distribution"])]
    lengths, d_e = (int(settings["T"]), int(settings["T_test"])), int(settings["d_e"])
    if settings["encoding"] == "fixed":
        drawn = draw(1, max(lengths), d_e, generator)[0]
        return drawn[:, : lengths[0]], drawn[:, : lengths[1]]
    return (
        partial(draw, T=lengths[0], d_e=d_e, generator=generator),
        partial(draw, T=lengths[1], d_e=d_e, generator=generator),
    )


def _sampling(settings: Instance, generator: torch.Generator) -> dict[str, Any]:
    return {"samples": int(settings["samples"]), "generator": generator, "attend": str(settings["attend"])}


def _length_generalisation(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    (_, q), (_, q_test) = _lengths(settings)
    truth = ground_truth(int(settings["d_e"]), int(settings["d"]), device)
    W, V = float(settings["C"]) * truth.W, float(settings["alpha"]) * truth.V
    generator = torch.Generator(device).manual_seed(seed)
    seen, unseen = _encodings(settings, generator)
    options = _sampling(settings, generator)
    return {
        "loss": measurement(averaged_losses(W, V, seen, q, **options)),
        "loss_test": measurement(averaged_losses(W, V, unseen, q_test, **options)),
    }


length_generalisation = Experiment(
    id="wang2024.length_generalisation",
    title="Loss at W = C W*, V = alpha V* for two lengths and subset sizes; fixed encodings: for the seed's one draw",
    source=STOCHASTIC_SOURCE,
    settings=(
        Setting(T, 12, 200),
        Setting(Q, 2, 3),
        Setting(D, 2, 5),
        Setting(D_E, 30, 170),
        Setting(T_TEST, 24, 400),
        Setting(Q_TEST, 2, 3),
        Setting(Parameter("alpha", "rational", "coefficient of the identity in V's token block"), 1, 110),
        Setting(Parameter("C", "rational", "coefficient of the identity in W's positional block"), 6, "13/4"),
        Setting(ENCODING, "stochastic", "stochastic"),
        Setting(DISTRIBUTION, "signs", "signs"),
        Setting(ATTEND, "tokens", "tokens_and_query"),
        Setting(SAMPLES, 10_000, 20_000),
    ),
    measure=_length_generalisation,
)


def _trained(
    settings: Instance, encodings: Encodings, subset: int, truth: GroundTruth, generator: torch.Generator
) -> tuple[Float64[Tensor, "D D"], Float64[Tensor, "d D"]]:
    """Return W and V after one training on fresh batches."""
    scale, half, steps = float(settings["scale"]), int(settings["batch_size"]) // 2, int(settings["steps"])
    early = min(int(settings["late"]), steps)

    def gradient(W: Tensor, V: Tensor) -> Gradient:
        return sampled_gradient(
            *(W, V, encodings, subset),
            batches=2,
            batch_size=half,
            generator=generator,
            attend=settings["attend"],
        ).mean

    W, V = (
        scale * torch.randn(like.shape, generator=generator, dtype=like.dtype, device=like.device)
        for like in (truth.W, truth.V)
    )
    for eta, count in (("eta", early), ("eta_late", steps - early)):
        _, W, V, _ = deque(train(W, V, eta=float(settings[eta]), steps=count, gradient=gradient), maxlen=1).pop()
    return W, V


def _pattern(W: Float64[Tensor, "D D"], V: Float64[Tensor, "d D"], truth: GroundTruth) -> dict[str, float]:
    """Return alpha, C, the cosines with V* and W*, and the largest |entry| of V and of W[:, d:] where V* or W* is 0."""
    quantities = {"alpha": (V * truth.V).sum() / truth.V.sum(), "C": (W * truth.W).sum() / truth.W.sum()}
    # A zero matrix has no cosine.
    if V.any():
        quantities["cosine_V"] = cosine_similarity(V, truth.V)
    if W.any():
        quantities["cosine_W"] = cosine_similarity(W, truth.W)
    quantities["off_pattern_V"] = (V * (1 - truth.V)).abs().max()
    # W[:, :d] is multiplied only by x_query = 0: its gradient is 0, and it keeps its initial value.
    quantities["off_pattern_W"] = (W * (1 - truth.W))[:, len(V) :].abs().max()
    return {name: float(value) for name, value in quantities.items()}


def _stochastic_training(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    (_, q), (_, q_test) = _lengths(settings)
    d, d_e = int(settings["d"]), int(settings["d_e"])
    truth, generator = ground_truth(d_e, d, device), torch.Generator(device).manual_seed(seed)
    options = _sampling(settings, generator)
    rows, losses, tests = [], [], []
    for _ in range(int(settings["runs"])):
        seen, unseen = _encodings(settings, generator)
        W, V = _trained(settings, seen, q, truth, generator)
        rows.append(_pattern(W, V, truth))
        losses.append(sampled_losses(W, V, seen, q, **options))
        tests.append(sampled_losses(W, V, unseen, q_test, **options))
    # The standard errors of the losses are over the samples, given the trained matrices; the others are over the runs.
    return {
        "loss": measurement(torch.cat(losses)),
        "loss_test": measurement(torch.cat(tests)),
        **{name: measurement(torch.tensor([row[name] for row in rows], dtype=torch.float64)) for name in rows[0]},
    }


stochastic_training = Experiment(
    id="wang2024.stochastic_training",
    title="Training on fresh batches, encodings fresh or fixed: losses at two lengths, W and V next to W* and V*",
    source=Source(
        "Definitions 3, 4 and 5; the figures' training",
        "printed",
        None,
        "arXiv 2406.06893; assembled as in `reference`; the scale at the start and the number of runs are ours",
    ),
    settings=(
        Setting(T, 8, 200),
        Setting(Q, 2, 3),
        Setting(D, 1, 5),
        Setting(D_E, 16, 170),
        Setting(T_TEST, 12, 400),
        Setting(Q_TEST, 2, 3),
        Setting(ENCODING, "stochastic", "stochastic"),
        Setting(DISTRIBUTION, "signs", "signs"),
        Setting(ATTEND, "tokens_and_query", "tokens_and_query"),
        Setting(Parameter("scale", "rational", "standard deviation of the initial entries", minimum=0), "1/50", "1/50"),
        Setting(ETA, 1, 1),
        Setting(Parameter("eta_late", "rational", "step size from step `late` on", above=0), "1/3", "1/3"),
        Setting(Parameter("late", "integer", "the step at which the step size changes", minimum=0), 1000, 50_000),
        Setting(STEPS, 2000, 100_000),
        Setting(Parameter("batch_size", "integer", "samples in a batch, in two halves", minimum=4), 64, 256),
        Setting(Parameter("runs", "integer", "independent runs", minimum=2), 2, 2),
        Setting(SAMPLES, 10_000, 20_000),
    ),
    measure=_stochastic_training,
)
