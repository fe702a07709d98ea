"""Lemma 2 held against sampled gradients: what they move along the two identity blocks, and what they leave at 0."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import flint
from hypothesis import strategies as st

from paper_checks.margins import MOST_COMPARISONS
from paper_checks.wang2024.claims import often_enough
from paper_checks.wang2024.encodings import Layer, loss_on_the_set
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer
from verify import (
    Comparison,
    Measurement,
    Outcome,
    Verdict,
    agreement,
    all_of,
    chance,
    load_experiment,
    over_drawn,
    student_bound,
)

QUICK, FULL = 6, 40
BATCHES, BATCH_SIZE = 80, 64
BATCHES_IN_FULL = 400
SEEN = 1 / 4
"""Share of a single sample's root mean square that the mean of what should be 0 may not hide by chance."""

Measured = Mapping[str, Measurement]
Bounds = tuple[float, float]


class Drawn(NamedTuple):
    """A layer on the set at the larger C, and the smaller one."""

    layer: Layer
    C_low: Fraction

    def at_the_low_end(self) -> Layer:
        """Return the layer at the smaller C."""
        return self.layer._replace(C=self.C_low)


@st.composite
def layers(draw: st.DrawFn) -> Drawn:
    """Draw a layer and an interval of C in which sampling sees its gradient, and the enclosures are close."""
    length = draw(st.integers(3, 24))
    subset = draw(st.integers(1, min(4, length - 1)))
    low = draw(st.fractions(0, 1, max_denominator=4))
    layer = Layer(
        *(length, subset, draw(st.integers(1, 4)), draw(st.integers(8, 30))),
        draw(st.fractions(Fraction(1, 2), 2, max_denominator=4)),
        low + draw(st.fractions(1, Fraction(3, 2), max_denominator=4)),
        draw(st.sampled_from(["tokens", "tokens_and_query"])),
        draw(st.integers(0, 2**31)),
    )
    return Drawn(layer, low)


def measured(drawn: Drawn, *, device: str, batches: int, distribution: str = "signs") -> Measured:
    """Return what the experiment measures there."""
    layer = drawn.layer
    sizes = {"T": layer.T, "q": layer.q, "d": layer.d, "d_e": layer.d_e, "alpha": layer.alpha, "attend": layer.attend}
    between = {"C_low": drawn.C_low, "C_high": layer.C, "distribution": distribution}
    samples = {"batches": batches, "batch_size": BATCH_SIZE}
    experiment = load_experiment("wang2024.stochastic_gradient")
    return experiment.run(seed=layer.seed, device=device, **sizes, **between, **samples).measurements


def implied(drawn: Drawn) -> dict[str, Bounds]:
    """Return bounds of what the set implies: L(α, C) at the larger C less at the smaller, and d (αR − P/q) there."""
    layer = drawn.layer
    (low, above), (least, most) = loss_on_the_set(layer), loss_on_the_set(drawn.at_the_low_end())
    model = SignAttention(layer.T, layer.q, layer.d_e, layer.attend == "tokens_and_query")
    C = flint.arb(flint.fmpq(layer.C.numerator, layer.C.denominator))
    with flint.ctx.workprec(BITS):
        P, R = outer(*model.selected(C, EFFORTS[2])), outer(*model.squares(C, EFFORTS[2]))
    moved = sorted(layer.alpha * end for end in R)
    slope = tuple(float(layer.d * (own - other / layer.q)) for own, other in zip(moved, reversed(P), strict=True))
    return {"loss_change": (low - most, above - least), "alpha_slope": (slope[0], slope[1])}


def traces(layer: Layer, expected: Mapping[str, Bounds], found: Measured) -> Verdict:
    """Compare the traces of the two identity blocks with what the set implies; half an enclosure's width is rounding.

    What may pass is at most a fifth of d/(2q), the loss of answering nothing, and of its slope; for α > 1, α times it.
    """
    resolution = layer.d / (10 * layer.q) * max(1, layer.alpha)

    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for name, (low, high) in expected.items():
            middle, half = (low + high) / 2, (high - low) / 2 + _rounding(layer)
            allowed = {"rounding": half, "resolution": resolution}
            yield name, agreement(middle, found[name], comparisons=MOST_COMPARISONS, **allowed)

    return replace(all_of(verdicts()), instances=1)


def factors_are_seen(expected: Mapping[str, Bounds], found: Measured) -> bool:
    """Whether a mean of half or twice of what is implied would be refuted, for each of the traces."""

    def seen(name: str, low: float, high: float) -> bool:
        return chance(found[name], MOST_COMPARISONS) + high - low < abs(low + high) / 4

    return all(seen(name, *bounds) for name, bounds in expected.items())


def means(layer: Layer) -> dict[str, int]:
    """Return, of each block that stays 0, how many entries and sums of rows and columns are looked at."""
    d, d_e = layer.d, layer.d_e
    wide, token, positional = (m * n + m + n for m, n in ((d, d_e), (d, d), (d_e, d_e)))
    return {
        "V_positional": wide,
        "V_off_diagonal": token,
        "W_token_rows": wide,
        "W_off_diagonal": positional,
        "W_diagonal_differences": max(1, d_e - 1),
    }


def zeros(layer: Layer, found: Measured) -> Verdict:
    """Hold what is furthest from 0 in each block against 0: a family of all its entries and sums.

    Each of them changes its sign under one of Lemma 2's symmetries, so that its law is symmetric, and by Hoeffding's
    inequality |Σ z_b| > x √(Σ z_b²) over batches b has a chance of at most 2 exp(−x²/2), whatever that law.
    """

    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for name, number in means(layer).items():
            worst, comparisons = found[name], MOST_COMPARISONS * number
            # Where the mean is 0 its standard error is a sample's root mean square over the root of their number.
            share = student_bound(worst.samples, comparisons) / math.sqrt(worst.samples * BATCH_SIZE)
            verdict = agreement(0.0, worst, comparisons=comparisons, rounding=_rounding(layer))
            detail = f"{verdict.detail}; {share:.2f} of a sample's root mean square would be chance"
            hidden = verdict.holds and share > SEEN
            yield name, replace(verdict, outcome=Outcome.INCONCLUSIVE if hidden else verdict.outcome, detail=detail)

    return replace(all_of(verdicts()), instances=1)


def _rounding(layer: Layer) -> float:
    """Bound the rounding of a mean of gradients: of size (1 + |α|)², by some thousand roundings of 10⁻¹⁶."""
    return 1e-12 * float(1 + abs(layer.alpha)) ** 2


def _over_drawn(compare: Callable[[Drawn], Verdict], *, full: bool, seed: int) -> Verdict:
    return over_drawn(layers(), compare, examples=FULL if full else QUICK, seed=seed)


def _gradient(*, device: str, full: bool, seed: int) -> Verdict:
    seen: list[bool] = []

    def compare(drawn: Drawn) -> Verdict:
        found = measured(drawn, device=device, batches=BATCHES_IN_FULL if full else BATCHES)
        expected = implied(drawn)
        seen.append(factors_are_seen(expected, found))
        verdicts = {"traces": traces(drawn.layer, expected, found), "zeros": zeros(drawn.layer, found)}
        return replace(all_of(verdicts.items()), instances=1)

    return often_enough(_over_drawn(compare, full=full, seed=seed), seen, "factors of two are seen")


lemma2_gradient = Comparison(
    id="wang2024.lemma2_gradient",
    title="With sign encodings the full layer's gradient on the set is along the two identity blocks, by P, R and L",
    theorem="wang2024.lemma2",
    experiment="wang2024.stochastic_gradient",
    compare=_gradient,
)


def _on_the_sphere(*, device: str, full: bool, seed: int) -> Verdict:
    def compare(drawn: Drawn) -> Verdict:
        batches = BATCHES_IN_FULL if full else BATCHES
        return zeros(drawn.layer, measured(drawn, device=device, batches=batches, distribution="sphere"))

    return _over_drawn(compare, full=full, seed=seed)


lemma2_gradient_on_the_sphere = Comparison(
    id="wang2024.lemma2_gradient_on_the_sphere",
    title="With encodings on the sphere the full layer's gradient on the set stays in the span of the identity blocks",
    theorem="wang2024.lemma2",
    experiment="wang2024.stochastic_gradient",
    compare=_on_the_sphere,
)
