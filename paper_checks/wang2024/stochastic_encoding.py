"""Stochastic encoding: the reduced dynamics and Lemma 2, compared with layers simulated from the definitions.

At few tokens and dimensions all signs can be enumerated: whole trainings by exact population gradients are compared,
entry by entry, with descent on the set. At larger sizes the loss on the set, its gradient along the two identity
blocks, the blocks that stay 0, and the least loss for q = 2 are compared with fresh samples.
The comparisons import PyTorch and the simulator when they run.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any, NamedTuple

import flint
import hypothesis
from hypothesis import strategies as st

import verify
from paper_checks.margins import MOST_COMPARISONS, with_more_samples
from paper_checks.wang2024 import on_the_set
from paper_checks.wang2024.on_the_set import OnTheSet, Scales
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer
from verify import (
    Comparison,
    Crossing,
    Evidence,
    Measurement,
    Outcome,
    Verdict,
    agreement,
    all_of,
    in_full,
    load_experiment,
    load_theorem,
    over_instances,
    student_bound,
)

STEPS, STEPS_IN_FULL = 12, 20
CLOSE_ENOUGH = 1e-3
"""Largest error of a point of the path at which a training is still compared with the path."""
SAMPLES, SAMPLES_IN_FULL, ENTRIES_IN_FULL = 2000, 20_000, 2 * 10**7
TIES = ((12, 2, 6), (20, 1, 10), (20, 5, 14))
"""(T, d, d_e) with so few dimensions that sampling resolves the loss from ties with the selected tokens' logits."""
SHARP = 60
"""A C at which, in at most 14 dimensions, the loss exceeds its limit by less than 10⁻¹² (`beyond_ties`)."""
BATCHES, BATCH_SIZE = 80, 64
BATCHES_IN_FULL = 400
SEEN = 1 / 4
"""Largest mean that chance may hide in a number that should be 0, as a share of a single sample's root mean square."""

Measured = Mapping[str, Measurement]
Bounds = tuple[float, float]


class Exactly(NamedTuple):
    """A training from zero over all signs: sizes, the tokens attended to, step size."""

    T: int
    q: int
    d: int
    d_e: int
    attend: str
    eta: float


@st.composite
def trainings(draw: st.DrawFn) -> Exactly:
    """Draw a training whose signs, subsets and points of the cubature can all be enumerated."""
    length, dimension = draw(st.sampled_from(((2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2))))
    subset, attend = draw(st.integers(1, length - 1)), draw(st.sampled_from(["tokens", "tokens_and_query"]))
    # With three of four selected, and the query attended to, C is negative from the start; theory covers only C ≥ 0.
    if subset == 3:
        attend = "tokens"
    return Exactly(*(length, subset, draw(st.integers(1, 2)), dimension, attend), draw(st.sampled_from([1 / 4, 1.0])))


@lru_cache(maxsize=64)
def trained(drawn: Exactly, steps: int, device: str) -> Any:
    """Return the iterates of the full matrices' training by exact population gradients, on the CPU."""
    import torch

    from numerics.sparse_token_selection.reference import cubature_gradient, train
    from numerics.sparse_token_selection.stochastic import enumerated_signs

    signs, total = enumerated_signs(drawn.T, drawn.d_e, device=device), drawn.d + drawn.d_e
    W, V = (torch.zeros(rows, total, dtype=torch.float64, device=device) for rows in (total, drawn.d))
    run = train(
        W,
        V,
        eta=drawn.eta,
        steps=steps,
        gradient=lambda W, V: cubature_gradient(W, V, signs, drawn.q, attend=drawn.attend),
    )
    return [(iterate.W.cpu(), iterate.V.cpu(), float(iterate.loss)) for iterate in run]


def _stretch(at: on_the_set.Layer, point: tuple[float, float], rate: float) -> float:
    """Return the norm of a step's Jacobian in the metric (d, d_e) of the full matrices, by differences."""
    step, scale = 1e-4, (math.sqrt(at.d), math.sqrt(at.d_e))
    rows = []
    for i in range(2):
        ahead = at.step(*(x + step * (i == k) for k, x in enumerate(point)), rate)
        # Forward differences, because C must not be negative.
        rows.append(
            [
                (x - y) / step * scale[k] / scale[i]
                for k, (x, y) in enumerate(zip(ahead, at.step(*point, rate), strict=True))
            ]
        )
    (a, b), (c, e) = rows
    # The largest singular value of a 2 by 2 matrix.
    total, det = a * a + b * b + c * c + e * e, a * e - b * c
    return math.sqrt((total + math.sqrt(max(0.0, total**2 - 4 * det**2))) / 2) * (1 + 1e-2)


def path(drawn: Exactly, scales: Scales, steps: int) -> Iterator[tuple[OnTheSet, float]]:
    """Yield the points of gradient descent on the set from zero, and estimates of their errors.

    log P and log R are taken to be off by δ = `off(C)`, from their enclosures and the last terms of their
    interpolation. Their slopes are then off by at most 648 δ, by Markov's inequality for a polynomial of degree 9 on a
    cell of length 1/4. P and R are at most 1. These errors move a step by η times its coefficients, and later steps
    stretch the move by their Jacobian's norm. Roundings of sums of numbers of size 1 are below 1e-13.
    """
    at = on_the_set.layer(drawn.T, drawn.q, drawn.d, drawn.d_e, drawn.attend == "tokens_and_query", on_the_set.FINE)
    point, off = (0.0, 0.0), 0.0
    for step in range(steps + 1):
        alpha, c = point
        yield OnTheSet(step, alpha, c, at.loss(alpha, c, scales)), off + at.error(alpha, c) + 1e-13
        share = drawn.d / 2 * (alpha**2 + 2 * abs(alpha)) * 648 / drawn.d_e + abs(alpha) + 1
        off = off * max(1.0, _stretch(at, point, drawn.eta)) + drawn.eta * (share * at.off(c) + 1e-13)
        point = at.step(alpha, c, drawn.eta, scales)
        if point[1] < 0:
            return


def _trained_on_the_set(theory: Scales, drawn: Exactly, device: str) -> Verdict:
    import torch

    steps = STEPS_IN_FULL if in_full() else STEPS
    size, verdicts = drawn.d, []
    run, points = trained(drawn, steps, device), list(path(drawn, theory, steps))
    if len(points) <= steps:
        # A path ends when C becomes negative, because theory covers only C ≥ 0; the training's C must be negative too.
        C = float(run[len(points)][0][size:, size:].diagonal().mean())
        verdicts.append(("end", Verdict.within(max(C, 0.0), points[-1][1], "C above 0 is", Evidence.COMPUTED)))
    # The path is compared while its own error is small; that has to be at least half of its steps.
    close = list(takewhile(lambda at: at[1] < CLOSE_ENOUGH, points))
    for (W, V, loss), (point, off) in zip(run, close, strict=False):
        right_W, right_V = torch.zeros_like(W), torch.zeros_like(V)
        right_W[size:, size:].fill_diagonal_(point.C)
        right_V[:, :size].fill_diagonal_(point.alpha)
        worst = max(abs(loss - point.loss), *(float((x - y).abs().max()) for x, y in ((W, right_W), (V, right_V))))
        verdicts.append((f"step {point.step}", Verdict.within(worst, off, "an entry is", Evidence.COMPUTED)))
    verdict, vague = all_of(verdicts), len(close) < len(points) / 2
    outcome = Outcome.INCONCLUSIVE if verdict.holds and vague else verdict.outcome
    return replace(verdict, trainings=1, outcome=outcome)


stochastic_dynamics = Crossing(
    id="wang2024.stochastic_dynamics",
    title="Every entry of every iterate of the training over all signs is on the path of α and C",
    subject="reduced dynamics and W* block, stochastic encoding",
    theorem="wang2024.lemma2",
    exact="test_by_enumeration",
    instances=trainings(),
    held=_trained_on_the_set,
    theory=Scales(),
    planted={f"1 % in {name}": Scales(**{name: 1.01}) for name in Scales._fields}
    | {"R's slope forgotten": Scales(R_slope=0.0), "P's slope with the other sign": Scales(P_slope=-1.0)},
    sizes=("T", "q", "d", "d_e"),
)


class Layer(NamedTuple):
    """A layer on the set: sizes, α, C, the tokens that it attends to, and a seed."""

    T: int
    q: int
    d: int
    d_e: int
    alpha: Fraction
    C: Fraction
    attend: str
    seed: int


@lru_cache(maxsize=256)
def loss_on_the_set(layer: Layer) -> Bounds:
    """Return bounds on d/2 (α²R − 2αP/q + 1/q), by the enclosures of P and R, with more effort if they are wide."""
    model = SignAttention(layer.T, layer.q, layer.d_e, layer.attend == "tokens_and_query")
    C = flint.arb(flint.fmpq(layer.C.numerator, layer.C.denominator))
    d, q, alpha = layer.d, layer.q, layer.alpha
    found = (-math.inf, math.inf)
    for effort in EFFORTS[2:]:
        with flint.ctx.workprec(BITS):
            (P, most), (R, above) = outer(*model.selected(C, effort)), outer(*model.squares(C, effort))
        low, high = sorted((alpha * P, alpha * most))
        ends = (alpha**2 * R - 2 * high / q, alpha**2 * above - 2 * low / q)
        least, largest = (float(Fraction(d, 2) * (end + Fraction(1, q))) for end in ends)
        found = max(found[0], least), min(found[1], largest)
        if found[1] - found[0] < d / (100 * q):
            break
    return found


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    """Draw a layer whose loss is enclosed to a twentieth of the zero predictor's.

    The logits spread by C √(q/d_e) < 2. In full, sizes go up to the paper's T = 200 and d_e = 170.
    """
    length = draw(st.integers(3, 200 if in_full() else 24))
    subset, size = draw(st.integers(1, min(6, length - 1))), draw(st.integers(4, 170 if in_full() else 40))
    layer = Layer(
        *(length, subset, draw(st.integers(1, 4)), size),
        draw(st.fractions(-1, 3, max_denominator=4)),
        draw(st.fractions(0, 5, max_denominator=4).filter(lambda C: C**2 * subset < 4 * size)),
        draw(st.sampled_from(["tokens", "tokens_and_query"])),
        draw(st.integers(0, 2**31)),
    )
    low, high = loss_on_the_set(layer)
    hypothesis.assume(high - low < layer.d / (40 * layer.q))
    return layer


def sampled(layer: Layer, device: str, samples: int) -> Any:
    """Return the measured loss of the layer from the definitions."""
    settings = {"T": layer.T, "T_test": layer.T, "q": layer.q, "q_test": layer.q, "d": layer.d, "d_e": layer.d_e}
    scales = {"alpha": layer.alpha, "C": layer.C, "attend": layer.attend, "samples": samples}
    found = load_experiment("wang2024.length_generalisation").run(seed=layer.seed, device=device, **settings, **scales)
    return found.measurements["loss"]


def on_the_set_is(bounds: Bounds, layer: Layer, measured: Any) -> Verdict:
    """Compare the loss on the set with a measurement; half of the distance between its bounds counts as rounding."""
    low, high = bounds
    # A tenth of the zero predictor's loss distinguishes P and R from other means.
    resolution = layer.d / (20 * layer.q) + abs(low) / 10
    middle, half = (low + high) / 2, (high - low) / 2 + 1e-12 * (1 + abs(low))
    return agreement(middle, measured, comparisons=MOST_COMPARISONS, rounding=half, resolution=resolution)


def _on_the_set(theory: Callable[[Layer], Bounds], layer: Layer, device: str) -> Verdict:
    # A sample of a large layer takes long, and its loss varies little.
    samples = max(SAMPLES, min(SAMPLES_IN_FULL, ENTRIES_IN_FULL // (layer.T * layer.d_e))) if in_full() else SAMPLES
    bounds = theory(layer)
    return with_more_samples(lambda more: on_the_set_is(bounds, layer, sampled(layer, device, more * samples)))


def _times(factor: float, layer: Layer) -> Bounds:
    low, high = loss_on_the_set(layer)
    return factor * low, factor * high


def _other_attention(layer: Layer) -> Bounds:
    other = "tokens" if layer.attend == "tokens_and_query" else "tokens_and_query"
    return loss_on_the_set(layer._replace(attend=other))


loss_of_sampled_layers = Crossing(
    id="wang2024.sign_attention_sampled",
    title="The loss on the set V = αI, W = C·I by moments, attending to Z or [Z, z_query], agrees with the loss of "
    "sampled layers",
    subject="loss on the set, stochastic encoding",
    theorem="wang2024.theorem2",
    exact="test_by_enumeration",
    instances=layers(),
    held=_on_the_set,
    theory=loss_on_the_set,
    # 2000 samples resolve the loss to some tenths.
    planted={"twice the loss": partial(_times, 2.0), "the other attention": _other_attention},
    sizes=("T", "q", "d", "d_e"),
)


def beyond_ties(T: int, d: int, d_e: int, C: float) -> float:
    """Return a bound on the excess of the loss for q = 2 at α = 1 and C, attending to Z, over its limit for C → ∞.

    In a coordinate where u is not 0, both selected tokens have its sign. If e_i has the other sign there, v_i is
    smaller by 4/d_e than v_y, the selected tokens' v: so v_y − v_i is a multiple of 4/d_e. Let n tokens have v_i = v_y.
    The weights of the others relative to theirs are x_i ≤ ε = e^{−4C/d_e}. With their sum r and their squares' sum s,

        R − P = E (n + s − 2(n + r))/(n + r)² = −E 1/n + E (s + r²/n)/(n + r)²,

    so that the loss d/2 (R − P + 1/2) is above its limit by at most d/2 E(s/n² + r²/n³), and n ≥ 2, s ≤ (T − 2)ε²,
    r ≤ (T − 2)ε.
    """
    return d * T * (T - 2) / 16 * math.exp(-8 * C / d_e)


def ties_are_left(floor: float, measured: Measurement, *, beyond: float) -> Verdict:
    """Compare the infimum with the sampled loss at α = 1 and a large C, which is at most `beyond` above the infimum."""
    return agreement(floor, measured, comparisons=MOST_COMPARISONS, rounding=beyond, resolution=floor / 4)


def _ties_are_left(*, device: str, full: bool, seed: int) -> Verdict:
    def verdicts() -> Any:
        for T, d, d_e in TIES:
            values = verify.check(load_theorem("wang2024.two_selected"), T=T, d=d, d_e=d_e, eps=1).values
            layer = Layer(T, 2, d, d_e, Fraction(1), Fraction(SHARP), "tokens", seed)
            measured = sampled(layer, device, SAMPLES_IN_FULL * (10 if full else 1))
            floor, beyond = float(values["loss_floor"].midpoint), beyond_ties(T, d, d_e, SHARP)
            yield f"T={T} d={d} d_e={d_e}", ties_are_left(floor, measured, beyond=beyond)

    return over_instances(verdicts())


two_selected_sampled = Comparison(
    id="wang2024.two_selected_sampled",
    title="For q = 2 the loss of sampled layers at α = 1 and a large C is the infimum, which is due to ties",
    theorem="wang2024.two_selected",
    experiment="wang2024.length_generalisation",
    compare=_ties_are_left,
)


class Between(NamedTuple):
    """A layer on the set at the larger of two C, and the smaller C."""

    layer: Layer
    C_low: Fraction

    def at_the_low_end(self) -> Layer:
        """Return the layer at the smaller C."""
        return self.layer._replace(C=self.C_low)


@st.composite
def between(draw: st.DrawFn) -> Between:
    """Draw a layer and an interval of C in which sampling resolves the gradient, and the enclosures are narrow."""
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
    return Between(layer, low)


def measured(drawn: Between, *, device: str, batches: int, distribution: str = "signs") -> Measured:
    """Return the experiment's measurements at a drawn layer."""
    layer = drawn.layer
    sizes = {"T": layer.T, "q": layer.q, "d": layer.d, "d_e": layer.d_e, "alpha": layer.alpha, "attend": layer.attend}
    between = {"C_low": drawn.C_low, "C_high": layer.C, "distribution": distribution}
    samples = {"batches": batches, "batch_size": BATCH_SIZE}
    experiment = load_experiment("wang2024.stochastic_gradient")
    return experiment.run(seed=layer.seed, device=device, **sizes, **between, **samples).measurements


def implied(drawn: Between) -> dict[str, Bounds]:
    """Return bounds on the change of L from the smaller to the larger C, and on d (αR − P/q) at the larger C."""
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
    """Compare the two identity blocks' traces with theory on the set; half an enclosure's width counts as rounding.

    Agreement is inconclusive if its tolerance is above a fifth of the zero predictor's loss, d/(2q), times max(1, α).
    """
    resolution = layer.d / (10 * layer.q) * max(1, layer.alpha)

    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for name, (low, high) in expected.items():
            middle, half = (low + high) / 2, (high - low) / 2 + _rounding(layer)
            allowed = {"rounding": half, "resolution": resolution}
            yield name, agreement(middle, found[name], comparisons=MOST_COMPARISONS, **allowed)

    return all_of(verdicts())


def means(layer: Layer) -> dict[str, int]:
    """Return, for each block that stays 0, the number of entries and sums of rows and columns that are compared."""
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
    """Compare the entry or sum furthest from 0 in each block with 0, as one of a family of all entries and sums.

    Each of them changes its sign under one of Lemma 2's symmetries, so that its law is symmetric. By Hoeffding's
    inequality |Σ z_b| > x √(Σ z_b²) over batches b then has a chance of at most 2 exp(−x²/2), whatever the law.
    """

    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for name, number in means(layer).items():
            worst, comparisons = found[name], MOST_COMPARISONS * number
            # If the mean is 0, its standard error is a sample's root mean square over the root of the samples' number.
            share = student_bound(worst.samples, comparisons) / math.sqrt(worst.samples * BATCH_SIZE)
            verdict = agreement(0.0, worst, comparisons=comparisons, rounding=_rounding(layer))
            detail = f"{verdict.detail}; {share:.2f} of a sample's root mean square would be chance"
            hidden = verdict.holds and share > SEEN
            yield name, replace(verdict, outcome=Outcome.INCONCLUSIVE if hidden else verdict.outcome, detail=detail)

    return all_of(verdicts())


def _rounding(layer: Layer) -> float:
    """Bound the rounding of a mean of gradients of size (1 + |α|)², with some thousand roundings of 10⁻¹⁶."""
    return 1e-12 * float(1 + abs(layer.alpha)) ** 2


def _gradient(theory: Callable[[Between], dict[str, Bounds]], drawn: Between, device: str) -> Verdict:
    batches = BATCHES_IN_FULL if in_full() else BATCHES

    def decide(more: int) -> Verdict:
        found = measured(drawn, device=device, batches=more * batches)
        return all_of([("traces", traces(drawn.layer, theory(drawn), found)), ("zeros", zeros(drawn.layer, found))])

    return with_more_samples(decide)


def _implied_times(factor: float, drawn: Between) -> dict[str, Bounds]:
    return {
        name: (min(factor * x for x in ends), max(factor * x for x in ends)) for name, ends in implied(drawn).items()
    }


lemma2_gradient = Crossing(
    id="wang2024.lemma2_gradient",
    title="With sign encodings the full layer's gradient on the set is along the two identity blocks, by P, R and L",
    subject="gradient on fresh batches, stochastic encoding",
    theorem="wang2024.lemma2",
    exact="test_by_enumeration",
    instances=between(),
    held=_gradient,
    theory=implied,
    planted={"twice as large": partial(_implied_times, 2.0), "half as large": partial(_implied_times, 0.5)},
)


def _on_the_sphere(theory: None, drawn: Between, device: str) -> Verdict:
    batches = BATCHES_IN_FULL if in_full() else BATCHES
    return zeros(drawn.layer, measured(drawn, device=device, batches=batches, distribution="sphere"))


lemma2_gradient_on_the_sphere = Crossing(
    id="wang2024.lemma2_gradient_on_the_sphere",
    title="With encodings on the sphere the full layer's gradient on the set stays in the span of the identity blocks",
    subject="zero blocks, encodings on the sphere",
    theorem="wang2024.lemma2",
    exact="proved for all parameters",
    instances=between(),
    held=_on_the_sphere,
    theory=None,
)
