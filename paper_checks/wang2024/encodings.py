"""Stochastic encodings: the loss on the set by moments, and its least value for q = 2, held against sampled layers."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import flint
from hypothesis import strategies as st

from paper_checks.margins import MOST_COMPARISONS
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer
from verify import (
    Comparison,
    Evidence,
    Measurement,
    Outcome,
    Verdict,
    agreement,
    all_of,
    chance,
    load_experiment,
    load_theorem,
    over_drawn,
)

QUICK, FULL = 12, 200
SAMPLES, SAMPLES_IN_FULL = 2000, 20_000
TIES = ((12, 2, 6), (20, 1, 10), (20, 5, 14))
"""(T, d, d_e): few enough dimensions that sampling sees what ties leave."""
SHARP = 60
"""A C at which, in at most 14 dimensions, all but ties is below 10⁻¹² (`beyond_ties`)."""


class Layer(NamedTuple):
    """A layer on the set: sizes, α, C, what it attends to, and a seed."""

    T: int
    q: int
    d: int
    d_e: int
    alpha: Fraction
    C: Fraction
    attend: str
    seed: int


def loss_on_the_set(layer: Layer) -> tuple[float, float]:
    """Return bounds of d/2 (α²R − 2αP/q + 1/q), by the enclosures of P and R."""
    model = SignAttention(layer.T, layer.q, layer.d_e, layer.attend == "tokens_and_query")
    C = flint.arb(flint.fmpq(layer.C.numerator, layer.C.denominator))
    with flint.ctx.workprec(BITS):
        (P, most), (R, above) = outer(*model.selected(C, EFFORTS[2])), outer(*model.squares(C, EFFORTS[2]))
    d, q, alpha = layer.d, layer.q, layer.alpha
    low, high = sorted((alpha * P, alpha * most))
    ends = (alpha**2 * R - 2 * high / q, alpha**2 * above - 2 * low / q)
    return tuple(float(Fraction(d, 2) * (end + Fraction(1, q))) for end in ends)  # type: ignore[return-value]


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    """Draw a layer whose loss sampling can see."""
    length = draw(st.integers(3, 24))
    subset = draw(st.integers(1, min(6, length - 1)))
    return Layer(
        *(length, subset, draw(st.integers(1, 4)), draw(st.integers(4, 40))),
        draw(st.fractions(-1, 3, max_denominator=4)),
        draw(st.fractions(0, 5, max_denominator=4)),
        draw(st.sampled_from(["tokens", "tokens_and_query"])),
        draw(st.integers(0, 2**31)),
    )


def sampled(layer: Layer, device: str, samples: int) -> Any:
    """Return the measured loss of the layer from the definitions."""
    settings = {"T": layer.T, "T_test": layer.T, "q": layer.q, "q_test": layer.q, "d": layer.d, "d_e": layer.d_e}
    scales = {"alpha": layer.alpha, "C": layer.C, "attend": layer.attend, "samples": samples}
    found = load_experiment("wang2024.length_generalisation").run(seed=layer.seed, device=device, **settings, **scales)
    return found.measurements["loss"]


def on_the_set(layer: Layer, measured: Any) -> Verdict:
    """Compare the loss on the set with a measurement; the enclosure's half width counts as rounding."""
    low, high = loss_on_the_set(layer)
    # A tenth of the loss of answering nothing tells P and R from other means.
    resolution = layer.d / (20 * layer.q) + abs(low) / 10
    middle, half = (low + high) / 2, (high - low) / 2 + 1e-12 * (1 + abs(low))
    return agreement(middle, measured, comparisons=MOST_COMPARISONS, rounding=half, resolution=resolution)


def _on_the_set(*, device: str, full: bool, seed: int) -> Verdict:
    samples = SAMPLES_IN_FULL if full else SAMPLES
    return over_drawn(
        layers(),
        lambda layer: on_the_set(layer, sampled(layer, device, samples)),
        examples=FULL if full else QUICK,
        seed=seed,
    )


sign_attention_sampled = Comparison(
    id="wang2024.sign_attention_sampled",
    title="The loss on the set V = αI, W = C·I by moments, attending to Z or [Z, z_query], is that of sampled layers",
    theorem="wang2024.theorem2",
    experiment="wang2024.length_generalisation",
    compare=_on_the_set,
)


def beyond_ties(T: int, d: int, d_e: int, C: float) -> float:
    """Bound what the loss for q = 2 at α = 1 and C, attending to tokens alone, is above its limit for C → ∞.

    Where u is not 0 both selected tokens have its sign, and v_i falls short of v_y, the selected ones', by 4/d_e for
    each coordinate in which e_i has the other one: v_y − v_i is a multiple of 4/d_e. With n tokens at v_y and weights
    x_i ≤ ε = e^{−4C/d_e} of the others, relative to theirs, of sum r and squares' sum s,

        R − P = E (n + s − 2(n + r))/(n + r)² = −E 1/n + E (s + r²/n)/(n + r)²,

    so that the loss d/2 (R − P + 1/2) is above its limit by at most d/2 E(s/n² + r²/n³), and n ≥ 2, s ≤ (T − 2)ε²,
    r ≤ (T − 2)ε.
    """
    return d * T * (T - 2) / 16 * math.exp(-8 * C / d_e)


def ties_are_left(floor: float, measured: Measurement, *, beyond: float) -> Verdict:
    """Compare the infimum with the sampled loss at α = 1 and a C, at most `beyond` above what ties leave."""
    return agreement(floor, measured, comparisons=MOST_COMPARISONS, rounding=beyond, resolution=floor / 4)


def _ties_are_left(*, device: str, full: bool, seed: int) -> Verdict:
    def verdicts() -> Any:
        for T, d, d_e in TIES:
            values = load_theorem("wang2024.two_selected").check(T=T, d=d, d_e=d_e, eps=1).values
            layer = Layer(T, 2, d, d_e, Fraction(1), Fraction(SHARP), "tokens", seed)
            measured = sampled(layer, device, SAMPLES_IN_FULL * (10 if full else 1))
            floor, beyond = float(values["loss_floor"].midpoint), beyond_ties(T, d, d_e, SHARP)
            yield f"T={T} d={d} d_e={d_e}", ties_are_left(floor, measured, beyond=beyond)

    return all_of(verdicts())


two_selected_sampled = Comparison(
    id="wang2024.two_selected_sampled",
    title="For q = 2 the loss of sampled layers at α = 1 and a large C is the infimum, what ties leave",
    theorem="wang2024.two_selected",
    experiment="wang2024.length_generalisation",
    compare=_ties_are_left,
)


FIXED = {"T": 20, "T_test": 40, "q": 3, "d": 2, "d_e": 60, "C": 8}
FIXED_IN_FULL = {"T": 100, "T_test": 200, "q": 3, "d": 5, "d_e": 170, "C": 10}


def one_draw(floor: float, fresh: float, learnt: Any, beyond: Any) -> Verdict:
    """Compare a layer that has learnt one draw with the best one for fresh draws, below at its length, above beyond.

    `floor` is the least loss of the latter at the length, `fresh` what that layer loses at the longer one.
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
    found = load_theorem("wang2024.length_generalization").check(**sizes, q_test=at["q"]).values
    floor, fresh = (float(found[f"loss_at_{length}_length"].midpoint) for length in ("training", "test"))
    return one_draw(floor, fresh, measured["loss"], measured["loss_test"])


one_draw_does_not_generalise = Comparison(
    id="wang2024.one_draw_does_not_generalise",
    title="A layer that has learnt one draw is below the floor of fresh draws at its length, and worse at twice that",
    theorem="wang2024.length_generalization",
    experiment="wang2024.one_fixed_draw",
    compare=_one_draw,
)
