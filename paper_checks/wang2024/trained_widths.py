"""The widths that trained layers and trained nets need for one loss, over the number of tokens.

A layer's width is d + d_e, and a net's width is the number of units of its first layer. The loss is a share of the
zero predictor's, d/(2q).
A layer is trained by population gradient descent from zero on the invariant set with step size 1, every step enclosed;
a net by Adam on fresh samples. The search goes upwards from the least width that the theorems allow for layers on
the set, or for nets. It returns an interval for the least width at which training ends with at most this loss. At
all widths tried below the interval the loss is larger, by its enclosure or by two standard errors of the mean over the
runs; at the upper end it is at most this loss, by the same bounds. Whether the loss falls with every unit or dimension
is not shown.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import verify
from paper_checks.wang2024.descent_in_balls import Sizes
from paper_checks.wang2024.schedule_in_balls import places
from paper_checks.wang2024.separation import KINDS, LENGTHS, SHARE, D, Q, lengths_of, over_lengths
from verify import (
    Curve,
    Enclosure,
    Experiment,
    InputError,
    Measurement,
    Parameter,
    Setting,
    Source,
    load_experiment,
    load_theorem,
)

DESCENT_STEPS = Parameter("descent_steps", "integer", "steps of population descent, of size 1", minimum=1)
NET_STEPS = Parameter("net_steps", "integer", "steps of Adam", minimum=1)
RUNS = Parameter("runs", "integer", "nets trained at each width", minimum=2)
WIDEST = Parameter("widest", "integer", "the largest width that is tried", minimum=1)
HIDDEN = Parameter("hidden", "integer", "units of a net's two other hidden layers", minimum=1)
NET_STEP_SIZE = Parameter("net_eta", "rational", "Adam's step size at the start; it falls to 0", above=0)
_NET = {"depth": 3, "batch": 256, "samples": 50_000}

Interval = tuple[float, float]
"""Bounds on a loss, or on a width."""


def least_width(loss: Callable[[int], Interval], level: float, first: int, widest: int) -> Interval:
    """Return an interval that contains the least width from `first` on at which a loss is at most a level.

    The search tries `first`, then widths that grow by 1, 2, 4, …, up to `widest`; then it halves the interval. Raises
    InputError if the loss at the widest is above the level.
    """
    ends: list[int] = []
    for side in (0, 1):
        low, high, more = first - 1, first, 1
        while loss(high)[side] > level:
            if high >= widest:
                raise InputError("widest", widest, "must be a width at which the loss is reached")
            low, high, more = high, min(high + more, widest), 2 * more
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if loss(middle)[side] > level else (low, middle)
        ends.append(high)
    return float(ends[0]), float(ends[1])


def layer_loss(settings: Mapping[str, object], T: int, query: bool) -> Callable[[int], Interval]:
    """Return the function from a width d + d_e to bounds on the loss after the steps of population descent."""
    q, d, steps = (int(settings[name]) for name in ("q", "d", "descent_steps"))  # type: ignore[call-overload]
    found: dict[int, Interval] = {}

    def loss(width: int) -> Interval:
        if width not in found:
            (end,) = places(Sizes(T, q, d, width - d, query), [Fraction(1)] * steps, {steps})
            found[width] = float(end.loss.lower()), float(end.loss.upper())
        return found[width]

    return loss


def net_loss(settings: Mapping[str, object], T: int, seed: int, device: str) -> Callable[[int], Interval]:
    """Return the function from a width to the mean loss of its trained nets, minus and plus two standard errors."""
    found: dict[int, Interval] = {}
    given = {name: settings[name] for name in ("q", "d", "runs", "hidden")}
    given |= {"T": T, "steps": settings["net_steps"], "eta": settings["net_eta"], **_NET}

    def loss(width: int) -> Interval:
        if width not in found:
            nets = load_experiment("wang2024.fully_connected_nets")
            run = nets.run(device=device, seed=seed, width=width, **given)
            ends = [measured.value for measured in run.measurements.values()]
            mean = sum(ends) / len(ends)
            error = math.sqrt(sum((end - mean) ** 2 for end in ends) / (len(ends) - 1) / len(ends))
            found[width] = mean - 2 * error, mean + 2 * error
        return found[width]

    return loss


def _widths(settings: Mapping[str, object], T: int, seed: int, device: str) -> Iterator[tuple[str, Interval]]:
    theorem, level = load_theorem("wang2024.separation"), Fraction(str(settings["share"])) / 2
    level *= Fraction(str(settings["d"])) / Fraction(str(settings["q"]))
    at = {"T": T, **{name: settings[name] for name in ("q", "d", "share")}}
    for name, attend in KINDS.items():
        values = verify.check(theorem, **at, attend=attend).values
        infimum = values["attention_width"]
        if infimum is None:
            raise InputError("lengths", T, "needs more dimensions than are computed with")
        least, most = (
            (float(infimum.lower), float(infimum.upper))
            if isinstance(infimum, Enclosure)
            else (float(infimum), float(infimum))  # type: ignore[arg-type]
        )
        yield f"{name}_least", (least, most)
        loss = layer_loss(settings, T, attend != "tokens")
        yield name, least_width(loss, float(level), math.ceil(least), int(settings["widest"]))  # type: ignore[call-overload]
    nets = values["fully_connected_width"]  # pyright: ignore[reportPossiblyUnboundVariable]
    least = float(nets)  # type: ignore[arg-type]
    yield "fully_connected_least", (least, least)
    loss = net_loss(settings, T, seed, device)
    yield "fully_connected", least_width(loss, float(level), math.ceil(least), int(settings["widest"]))  # type: ignore[call-overload]


def widths(settings: Mapping[str, object], *, seed: int, device: str) -> dict[str, Curve]:
    """Return the curves of both ends of the intervals for the widths over the lengths.

    Raises InputError unless the lengths are increasing integers above q, and if a loss is not reached.
    """
    lengths = lengths_of(settings)
    found: dict[str, list[Measurement]] = {}
    for length in lengths:
        for name, ends in _widths(settings, length, seed, device):
            for end, value in zip(("from", "to"), ends, strict=True):
                found.setdefault(f"{name}_{end}", []).append(Measurement(value))
    return over_lengths(lengths, found)


trained_widths = Experiment(
    id="wang2024.trained_widths",
    title="Widths for one loss over T, after training: attention with stochastic encoding, d + d_e, and nets",
    source=Source("Separation in width", "derived here"),
    settings=(
        Setting(LENGTHS, (Fraction(12),), (Fraction(12),)),
        Setting(Q, 3, 3),
        Setting(D, 2, 5),
        Setting(SHARE, Fraction(1, 5), Fraction(1, 8)),
        Setting(DESCENT_STEPS, 3000, 100_000),
        Setting(NET_STEPS, 1000, 4000),
        Setting(NET_STEP_SIZE, Fraction(1, 100), Fraction(1, 200)),
        Setting(HIDDEN, 64, 256),
        Setting(RUNS, 2, 4),
        Setting(WIDEST, 400, 1000),
    ),
    measure=widths,
)
