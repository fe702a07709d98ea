"""Experiments with the layer of `reference.py`, one-hot encoding throughout.

W* = diag(0, I_T) and V* = (I_d, 0) are the matrices of the ground truth; P = I - 11^T/T removes the
all-ones direction, in which the logits do not change.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from numerics.sparse_token_selection.reference import (
    Gradient,
    Iterate,
    cosine_similarity,
    cubature_gradient,
    one_hot_encodings,
    sampled_gradient,
    train,
)
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.parameters import Instance

SOURCE = Source("Definitions 2 and 4", "printed", None, "arXiv 2406.06893; put together as in `reference`")

T = Parameter("T", "integer", "number of tokens", minimum=2)
Q = Parameter("q", "integer", "number of tokens that the query selects", minimum=1)
D = Parameter("d", "integer", "dimension of a token", minimum=1)
ETA = Parameter("eta", "rational", "step size", above=0)
STEPS = Parameter("steps", "integer", "steps of gradient descent", minimum=1)


class GroundTruth(NamedTuple):
    """W* (D, D), the same with I - 11^T/T, and V* (d, D); D = d + T."""

    W: Tensor
    W_centred: Tensor
    V: Tensor


def ground_truth(length: int, size: int, device: str = "cpu") -> GroundTruth:
    """Return the matrices of the ground truth, float64."""
    W, W_centred = torch.zeros(2, size + length, size + length, dtype=torch.float64, device=device)
    V = torch.zeros(size, size + length, dtype=torch.float64, device=device)
    W[size:, size:] = one_hot_encodings(length, device=device)
    W_centred[size:, size:] = one_hot_encodings(length, device=device) - 1 / length
    V[:, :size] = torch.eye(size, dtype=torch.float64)
    return GroundTruth(W, W_centred, V)


def _measurement(values: Tensor) -> Measurement:
    """Return the mean of independent values (n,), and its standard error."""
    return Measurement(float(values.mean()), float(values.std(correction=1)) / math.sqrt(len(values)), len(values))


def _gradient(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size = (int(settings[name]) for name in ("T", "q", "d"))
    truth = ground_truth(length, size, device)
    found = sampled_gradient(
        float(settings["W"]) * truth.W,
        float(settings["V"]) * truth.V,
        one_hot_encodings(length, device=device),
        subset,
        batches=int(settings["batches"]),
        batch_size=int(settings["batch_size"]),
        generator=torch.Generator(device).manual_seed(seed),
    ).batches
    positional, token = found.W[:, size:, size:], found.V[:, :, :size]
    diagonal = positional.diagonal(dim1=1, dim2=2).sum(dim=1)
    # The best fit by a I + b 11^T: a is the mean on the diagonal less that off it.
    others = (positional.sum(dim=(1, 2)) - diagonal) / (length * (length - 1))
    return {
        "loss": _measurement(found.loss),
        "gradient_W": _measurement(diagonal / length - others),
        "gradient_V": _measurement(token.diagonal(dim1=1, dim2=2).mean(dim=1)),
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


def _odds(W: Tensor, length: int, subset: int, size: int) -> float:
    """Return the attention on unselected tokens over that on the selected ones, for the first q tokens selected."""
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
        # Cosines begin where a matrix has left zero.
        if iterate.W.any():
            cosines_W.append(float(cosine_similarity(iterate.W, truth.W)))
        if iterate.V.any():
            cosines_V.append(float(cosine_similarity(iterate.V, truth.V)))
    found = {
        "loss": losses[-1],
        "odds_before": _odds(kept[steps - window].W, length, subset, size),
        "odds_after": _odds(kept[steps].W, length, subset, size),
        "cosine_V_least": min(cosines_V),
        "cosine_V_largest": max(cosines_V),
    }
    if losses[steps] > 0:
        # Where tokens are all selected, the loss may become an exact 0.
        found["inverse_loss_slope"] = (1 / losses[steps] - 1 / losses[steps - window]) / window
    if cosines_W:
        found |= {"cosine_W_least": min(cosines_W), "cosine_W_largest": max(cosines_W)}
    level = float(settings["eps"])
    reached = next((step for step, value in enumerate(losses) if value <= level), None)
    if reached is not None:
        found |= {"steps_to_epsilon": reached, "largest_loss_after": max(losses[reached:])}
    return {name: Measurement(float(value)) for name, value in found.items()}


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
    return {name: _measurement(torch.tensor([row[name] for row in rows], dtype=torch.float64)) for name in rows[0]}


def _cosines(run: Iterator[Iterate], truth: GroundTruth, at: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """Yield `name_when`, cosine: of W with I - 11^T/T and with I in the positional block, of V with (I, 0)."""
    for iterate in run:
        for when in (when for when, step in at.items() if step == iterate.step):
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
        Setting(Parameter("middle", "integer", "the step in between that is looked at", minimum=0), 100, 1000),
        Setting(Parameter("runs", "integer", "independent runs", minimum=2), 2, 4),
    ),
    measure=_from_random,
)
