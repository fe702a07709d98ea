"""Length generalisation: sampled losses at two lengths, of layers on the set and of a layer that fits one draw.

The comparisons import PyTorch and the simulator when they run.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

import verify
from paper_checks.margins import MOST_COMPARISONS, with_more_samples
from paper_checks.wang2024.stochastic_encoding import SAMPLES, SAMPLES_IN_FULL
from verify import (
    Comparison,
    Crossing,
    Evidence,
    Measurement,
    Outcome,
    Verdict,
    chance,
    in_full,
    load_experiment,
    load_theorem,
)


class Longer(NamedTuple):
    """A layer on the set that attends to Z, and the length at which it is tested."""

    T: int
    T_test: int
    q: int
    d: int
    d_e: int
    alpha: Fraction
    C: Fraction
    seed: int


@st.composite
def longer(draw: st.DrawFn) -> Longer:
    """Draw a layer.

    Up to rounding to 1/4, its α gives each selected token the coefficient 1/q if the selected tokens' logits are C and
    the others' are 0.
    """
    length = draw(st.integers(4, 60 if in_full() else 24))
    subset, C = draw(st.integers(1, min(3, length - 2))), draw(st.fractions(2, 4, max_denominator=2))
    alpha = Fraction(round(4 * (1 + (length - subset) * math.exp(-C) / subset)), 4)
    beyond, dimension, size = (
        draw(st.integers(length + 1, 3 * length)),
        draw(st.integers(1, 3)),
        draw(st.integers(16, 60)),
    )
    return Longer(length, beyond, subset, dimension, size, alpha, C, draw(st.integers(0, 2**31)))


def others(at: Longer) -> float:
    """Return κ = (T_test − q)/(T − q)."""
    return (at.T_test - at.q) / (at.T - at.q)


def factor(at: Longer) -> float:
    """Return κ + c + c², c = (T_test − T)/√(T − q)."""
    c = (at.T_test - at.T) / math.sqrt(at.T - at.q)
    return others(at) + c + c * c


def at_most(times: float, inside: Measurement, beyond: Measurement) -> Verdict:
    """Decide whether the sampled loss at the test length is at most `times` the sampled loss at the training length."""
    off = times * chance(inside, MOST_COMPARISONS) + chance(beyond, MOST_COMPARISONS)
    excess = beyond.value - times * inside.value
    detail = f"{beyond.value:.4g} against {times:.4g} times {inside.value:.4g}"
    outcome = Outcome.REFUTED if excess > off else Outcome.VERIFIED if excess < -off else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, detail, ratio=max(0.0, excess / off))


@cache
def measured(at: Longer, device: str, samples: int) -> tuple[Measurement, Measurement]:
    """Return the losses at both lengths, by samples from the definitions."""
    settings = at._asdict() | {"q_test": at.q, "attend": "tokens", "samples": samples}
    del settings["seed"]
    found = load_experiment("wang2024.length_generalisation").run(seed=at.seed, device=device, **settings).measurements
    return found["loss"], found["loss_test"]


def _longer(theory: Callable[[Longer], float], at: Longer, device: str) -> Verdict:
    samples = SAMPLES_IN_FULL if in_full() else SAMPLES
    return with_more_samples(lambda more: at_most(theory(at), *measured(at, device, more * samples)))


length_bound_sampled = Crossing(
    id="wang2024.length_bound_sampled",
    title="The loss of sampled layers at T_test tokens is at most κ + c + c² times that at T",
    subject="length generalisation",
    theorem="wang2024.length_bound",
    exact="test_the_bound_by_enumeration",
    instances=longer(),
    held=_longer,
    theory=factor,
    planted={"no more than in training": lambda at: 1.0, "κ alone": others},
    sizes=("T", "T_test", "q", "d", "d_e"),
)

FIXED = {"T": 20, "T_test": 40, "q": 3, "d": 2, "d_e": 60, "C": 8}
FIXED_IN_FULL = {"T": 100, "T_test": 200, "q": 3, "d": 5, "d_e": 170, "C": 10}


def one_draw(floor: float, fresh: float, learnt: Any, beyond: Any) -> Verdict:
    """Decide whether a layer that fits one draw is below `floor` at its own length and above `fresh` at the longer one.

    `floor` and `fresh` are the losses on fresh draws, at the shorter and the longer length, of a layer with nearly the
    least such loss at the shorter length.
    """
    off = [chance(measured, MOST_COMPARISONS) for measured in (learnt, beyond)]
    detail = f"{learnt.value:.4g} against the floor {floor:.4g}; beyond {beyond.value:.4g} against {fresh:.4g}"
    if learnt.value - off[0] > floor or beyond.value + off[1] < fresh:
        return Verdict(Outcome.REFUTED, Evidence.SIMULATED, detail)
    surely = learnt.value + off[0] < floor and beyond.value - off[1] > fresh
    return Verdict(Outcome.VERIFIED if surely else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)


def _one_draw(*, device: str, full: bool, seed: int) -> Verdict:
    at = FIXED_IN_FULL if full else FIXED
    measured = load_experiment("wang2024.one_fixed_draw").run(seed=seed, device=device, **at).measurements
    sizes = {name: at[name] for name in ("T", "T_test", "q", "d", "d_e")}
    found = verify.check(load_theorem("wang2024.length_generalization"), **sizes, q_test=at["q"]).values
    floor, fresh = (float(found[f"loss_at_{length}_length"].midpoint) for length in ("training", "test"))
    return one_draw(floor, fresh, measured["loss"], measured["loss_test"])


one_draw_does_not_generalise = Comparison(
    id="wang2024.one_draw_does_not_generalise",
    title="A layer that has learnt one draw is below the floor of fresh draws at its length, and worse at twice that",
    theorem="wang2024.length_generalization",
    experiment="wang2024.one_fixed_draw",
    compare=_one_draw,
)
