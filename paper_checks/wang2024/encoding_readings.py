"""The least loss on the set under several readings of Definition 3, and a verdict on those with fresh encodings.

With one draw of encodings for all samples, gradient descent does not keep the set, and other W may do better. So the
two families of W that are simulated for this reading decide nothing.

The comparison imports PyTorch and the simulator when it runs.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

import verify
from paper_checks.margins import FAMILY, above, decided
from paper_checks.wang2024.on_the_set import CLOSE, layer
from verify import Comparison, Evidence, Measurement, Verdict, agreement, load_experiment, load_theorem, over_instances

SIZES = {"T": 40, "q": 3, "d": 5, "d_e": 34}
FIGURES = {"T": 200, "q": 3, "d": 5, "d_e": 170}
ATTENDS = ("tokens", "tokens_and_query")
POSITIVE = Fraction(1, 100)
"""Share of the zero predictor's loss, d/(2q), that the least loss exceeds in every reading with fresh encodings."""
AFRESH = ("signs", "sphere", "gaussian", "harmonic", "simplices")
"""The readings with fresh encodings. Their laws are invariant under rotations or signed permutations."""
RESOLVED = 0.1
"""Largest statistical error of a loss, as a share of the floor."""


def loss_at(sizes: Mapping[str, int], attend: str, C: float) -> tuple[float, float]:
    """Return the loss with signs at C and the best α there, from the enclosures of P and R, and its error.

    If P and R each have a relative error `off`, the relative error of P²/R is at most 4 `off`.
    """
    on_the_set = layer(**sizes, query=attend == "tokens_and_query", grid=CLOSE)
    P, R, *_ = on_the_set.means(C)
    nothing, gain = sizes["d"] / (2 * sizes["q"]), P**2 / (sizes["q"] * R)
    return nothing * (1 - gain), nothing * gain * 4 * on_the_set.off(C)


def every_reading(
    measured: Mapping[str, Measurement],
    sizes: Mapping[str, int],
    floor: tuple[float, float],
    taken: tuple[float, float],
    bound: float,
) -> Iterable[tuple[str, Verdict]]:
    """Yield verdicts: signs have theory's loss, near the floor; the sphere's loss is above `bound`; all exceed a level.

    The level is POSITIVE times d/(2q). `taken` is theory's loss of signs, with its error, at the samples' best C on
    their grid; the best real C differs.
    """
    nothing = sizes["d"] / (2 * sizes["q"])
    (low, high), (there, off) = floor, taken
    family = {"comparisons": FAMILY, "rounding": off}
    yield "signs", agreement(there, measured["loss_signs"], resolution=RESOLVED * high, **family)
    near = low - off <= there <= (1 + RESOLVED) * high + off
    said = f"at the samples' best C {there:.4g}, the floor between {low:.4g} and {high:.4g}"
    yield "floor", Verdict.when(near, said, Evidence.COMPUTED)
    sphere = measured["loss_sphere"]
    # The bound is far below, so that the verdict only says that the two do not contradict each other.
    yield "sphere", decided(f"{sphere.value:.3g}, the bound far below at {bound:.3g}", above(sphere, bound))
    losses = {name: found for name in AFRESH if (found := measured.get(f"loss_{name}"))}
    detail = ", ".join(f"{name} {found.value:.3g}" for name, found in losses.items())
    yield "positive", decided(detail, *(above(found, float(POSITIVE) * nothing) for found in losses.values()))


def _every_reading(*, device: str, full: bool, seed: int) -> Verdict:
    sizes, samples = (FIGURES, 20_000) if full else (SIZES, 8000)
    floors, bounds = load_theorem("wang2024.theorem2"), load_theorem("wang2024.dimension_lower_bound")
    readings = load_experiment("wang2024.encoding_readings")

    def verdicts() -> Iterable[tuple[str, Verdict]]:
        for attend in ATTENDS:
            found = readings.run(seed=seed, device=device, **sizes, samples=samples, attend=attend).measurements
            floor = verify.check(floors, **sizes, eps=1, attend=attend).values["loss_floor"]
            bound = verify.check(bounds, **sizes, attend=attend).values["loss_bound"]
            taken = loss_at(sizes, attend, found["C_signs"].value)
            ends = float(floor.lower), float(floor.upper)
            for name, verdict in every_reading(found, sizes, ends, taken, float(bound)):
                yield f"{attend}, {name}", verdict

    return over_instances(verdicts())


floor_under_every_reading = Comparison(
    id="wang2024.floor_under_every_reading",
    title="Under each simulated law of encodings drawn afresh the least loss on the set is above 1 % of d/(2q)",
    theorem="wang2024.theorem2",
    experiment="wang2024.encoding_readings",
    compare=_every_reading,
)
