"""Experiments with first layers: random or optimised linear measurements, layers that also read y, trained nets."""

from collections.abc import Mapping

import torch

from numerics.sparse_token_selection.fully_connected import (
    ACTIVATIONS,
    DESIGNS,
    READINGS,
    Net,
    decoded_losses,
    initialise,
    net_losses,
    train_net,
)
from numerics.sparse_token_selection.linear_measurements import (
    KINDS,
    Descended,
    all_subsets,
    conditional_variance,
    descend,
    random_measurements,
    sampled_subsets,
)
from numerics.sparse_token_selection.reference import sample_batch
from numerics.sparse_token_selection.settings import D, Q, T
from numerics.sparse_token_selection.stochastic import measurement
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance

SOURCE = Source("Fully-connected nets", "recalled", None, "arXiv 2406.06893; the task is printed, the nets are ours")

M = Parameter("m", "integer", "number of measurements", minimum=0)
KIND = Parameter("kind", "word", "how the measurements are drawn", words=KINDS)
SUBSETS = Parameter("subsets", "integer", "subsets sampled; 0 for the mean over all", minimum=0)
DESCENT_STEPS = Parameter("descent_steps", "integer", "maximum of the steps of L-BFGS on the measurements", minimum=1)
STARTS = Parameter("starts", "integer", "random starts of the descent", minimum=1)
ACTIVATION = Parameter("activation", "word", "activation function of all units", words=tuple(ACTIVATIONS))
DESIGN = Parameter("design", "word", "units for m measurements and y: m + 1, 2m + 1 or m", words=DESIGNS)
SPACING = Parameter("spacing", "rational", "factor of the code of y if design is none_more, else 0", minimum=0)
SAMPLES = Parameter("samples", "integer", "fresh samples over which the loss is averaged", minimum=2)
READS = Parameter("reads", "word", "layer that reads y: the first, with X, or the one after it", words=READINGS)


def _sizes(settings: Instance) -> tuple[int, int, int]:
    length, subset, size = (int(settings[name]) for name in ("T", "q", "d"))
    return length, subset, size


def _random(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size = _sizes(settings)
    generator, count = torch.Generator(device).manual_seed(seed), int(settings["subsets"])
    if count == 1:
        raise InputError("subsets", count, "must be 0, or at least 2 for a standard error")
    measurements = random_measurements(str(settings["kind"]), int(settings["m"]), length, size, generator)
    if count:
        subsets = sampled_subsets(count, length, subset, generator)
        return {"loss": measurement(conditional_variance(measurements, subsets))}
    subsets = all_subsets(length, subset, device=device)
    return {"loss": Measurement(float(conditional_variance(measurements, subsets).mean()))}


random_first_layers = Experiment(
    id="wang2024.random_first_layers",
    title="The least loss when y and random linear measurements of X are known: exact for each y, then averaged over y",
    source=SOURCE,
    settings=(
        Setting(T, 6, 200),
        Setting(Q, 2, 3),
        Setting(D, 2, 5),
        Setting(M, 5, 500),
        Setting(KIND, "gaussian", "gaussian"),
        Setting(SUBSETS, 0, 10_000),
    ),
    measure=_random,
)


def _descended(settings: Instance, starts: int, generator: torch.Generator) -> list[Descended]:
    """Return the ends of `starts` descents from Gaussian measurements, in ascending order of the loss."""
    length, subset, size = _sizes(settings)
    subsets = all_subsets(length, subset, device=generator.device)
    begun = (random_measurements("gaussian", int(settings["m"]), length, size, generator) for _ in range(starts))
    ends = [descend(A, subsets, steps=int(settings["descent_steps"])) for A in begun]
    return sorted(ends, key=lambda end: float(end.loss))


def _optimised(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    ends = _descended(settings, int(settings["starts"]), torch.Generator(device).manual_seed(seed))
    return {"loss": Measurement(float(ends[0].loss)), "loss_highest": Measurement(float(ends[-1].loss))}


optimised_first_layers = Experiment(
    id="wang2024.optimised_first_layers",
    title="Descent over all linear measurements for the least loss that they leave, from random starts",
    source=SOURCE,
    settings=(
        Setting(T, 5, 8),
        Setting(Q, 2, 3),
        Setting(D, 2, 3),
        Setting(M, 4, 10),
        Setting(STARTS, 2, 5),
        Setting(DESCENT_STEPS, 200, 1000),
    ),
    measure=_optimised,
)


def _readings(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size = _sizes(settings)
    generator = torch.Generator(device).manual_seed(seed)
    rows = torch.linalg.qr(_descended(settings, 1, generator)[0].measurements.T)[0].T
    batch = sample_batch(int(settings["samples"]), length, subset, size, generator)
    activation, spacing = str(settings["activation"]), float(settings["spacing"])
    return {"loss": measurement(decoded_losses(str(settings["design"]), activation, rows, *batch, spacing=spacing))}


first_layer_readings = Experiment(
    id="wang2024.first_layer_readings",
    title="The loss on fresh samples of a decoder that sees only the outputs of a first layer, which also reads y",
    source=SOURCE,
    settings=(
        Setting(T, 4, 6),
        Setting(Q, 2, 3),
        Setting(D, 2, 2),
        Setting(Parameter("m", "integer", "number of measurements", minimum=1), 3, 5),
        Setting(DESIGN, "pairs", "pairs"),
        Setting(ACTIVATION, "relu", "relu"),
        Setting(SPACING, 0, 0),
        Setting(SAMPLES, 20_000, 1_000_000),
        Setting(DESCENT_STEPS, 200, 1000),
    ),
    measure=_readings,
)


def _nets(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, subset, size = _sizes(settings)
    generator, measured = torch.Generator(device).manual_seed(seed), {}
    for run in range(int(settings["runs"])):
        net = Net(
            length,
            size,
            **{name: int(settings[name]) for name in ("width", "depth", "hidden")},
            activation=str(settings["activation"]),
            reads=str(settings["reads"]),
        ).to(device)
        initialise(net, generator)
        effort = {"steps": int(settings["steps"]), "batch": int(settings["batch"]), "eta": float(settings["eta"])}
        train_net(net, length, subset, size, **effort, generator=generator)
        with torch.no_grad():
            parts = [10_000] * (int(settings["samples"]) // 10_000) + [int(settings["samples"]) % 10_000]
            losses = [net_losses(net, *sample_batch(n, length, subset, size, generator)) for n in parts if n]
        measured[f"loss_{run}"] = measurement(torch.cat(losses))
    return measured


fully_connected_nets = Experiment(
    id="wang2024.fully_connected_nets",
    title="Fully-connected nets trained by Adam on fresh batches: the loss of each on fresh samples",
    source=SOURCE,
    settings=(
        Setting(T, 4, 8),
        Setting(Q, 2, 3),
        Setting(D, 1, 2),
        Setting(Parameter("width", "integer", "units of the first layer", minimum=1), 2, 8),
        Setting(Parameter("depth", "integer", "hidden layers, the first among them", minimum=1), 3, 3),
        Setting(Parameter("hidden", "integer", "units of the other hidden layers", minimum=1), 32, 256),
        Setting(ACTIVATION, "relu", "relu"),
        Setting(READS, "together", "together"),
        Setting(Parameter("eta", "rational", "Adam's step size at the start; it falls to 0", above=0), "1/50", "1/200"),
        Setting(Parameter("steps", "integer", "steps of Adam", minimum=1), 500, 30_000),
        Setting(Parameter("batch", "integer", "samples in a batch", minimum=1), 128, 1024),
        Setting(Parameter("runs", "integer", "independent runs", minimum=1), 1, 2),
        Setting(SAMPLES, 50_000, 1_000_000),
    ),
    measure=_nets,
)
