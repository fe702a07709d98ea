"""Closeness over training: our readings of the paper's conclusions from its experiment, each a comparison.

The comparisons import PyTorch and the simulator when they run.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import product

import verify
from verify import Comparison, Evidence, Measurement, Outcome, Verdict, load_experiment, over_instances
from verify.outcomes import as_float


@cache
def measured(
    tasks: str, n: int, d: int, steps: int, *, device: str, full: bool, seed: int
) -> Mapping[str, Measurement]:
    """Return the experiment's measurements, taken once for all readings."""
    settings = {"tasks": tasks, "n": n, "d": d, "steps": steps, "readings": 2}
    if not full:
        settings |= QUICK | {"repetitions": REPETITIONS[tasks]}
    return load_experiment("li2024.closeness").run(device=device, full=full, seed=seed, **settings).measurements


QUICK = {"search": 1000, "test": 2000, "sensitivity": 500}
REPETITIONS = {"teacher": 6, "simplex": 3}
"""Numbers of repetitions, by kind of task, that decide the readings at nearly every seed; set after runs were seen."""


PAPERS_SIZES = (*((n, 20) for n in (25, 50, 100, 200)), (50, 5), (50, 10), (50, 40))
"""(n, d) under `full`: the paper's n at d = 20, and other d."""


def _reading(
    name: str,
    title: str,
    read: Callable[[Mapping[str, Measurement]], Verdict],
    *,
    tasks: str = "teacher",
    quick_steps: int = 1000,
    full_sizes: tuple[tuple[int, int], ...] = PAPERS_SIZES,
) -> Comparison:
    """Return the comparison of one reading: at one small size, or under `full` at several, which takes hours."""

    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        sizes = full_sizes if full else ((25, 5),)
        steps = 5000 if full else quick_steps
        given = {"device": device, "full": full, "seed": seed}
        return over_instances((f"{tasks} n={n} d={d}", read(measured(tasks, n, d, steps, **given))) for n, d in sizes)

    return Comparison(f"li2024.{name}", title, "li2024.opposite_moves", "li2024.closeness", compare)


# The paper states its conclusions in words, without numbers. The thresholds for close, aligned and apart below are
# ours. Like the numbers of steps they were set after runs of this experiment had been seen: they record its result and
# do not predict it.


def _decided(detail: str, *margins: tuple[float, float]) -> Verdict:
    """Return the verdict on intervals of margins: verified if all are at least 0, refuted if one is all below 0."""
    if all(low >= 0 for low, _ in margins):
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail)
    outcome = Outcome.REFUTED if any(high < 0 for _, high in margins) else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, detail)


def _less(small: Measurement, large: Measurement | float, share: float = 1.0) -> tuple[float, float]:
    """Return the ends of `share * large - small` as each measurement ranges over its 95 % band."""
    low, high = small.band()
    least, most = large.band() if isinstance(large, Measurement) else (large, large)
    return share * least - high, share * most - low


def losses_close(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether training at least halves the distance of the layer's loss from the gradient step's."""
    start, end, step = (found[name] for name in ("layer_loss_start", "layer_loss_end", "gradient_loss_end"))
    left = (end.value - step.value) / (start.value - step.value)
    detail = (
        f"losses {end.value:.3g} (layer), {step.value:.3g} (gradient step), {start.value:.3g} untrained: "
        f"{left:.0%} of the gap is left"
    )
    # The end has to be within half of the gap from the gradient step's loss, on either side: `above` is the margin to
    # (start + step)/2, and `below` the margin to step − (start − step)/2.
    ends = [(s, g) for s in start.band() for g in step.band()]
    above = [(s + g) / 2 - e for s, g in ends for e in end.band()]
    below = [e - g + (s - g) / 2 for s, g in ends for e in end.band()]
    return _decided(detail, (min(above), max(above)), (min(below), max(below)))


def predictions_close(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether training reduces the predictions' distance to three quarters or less."""
    start, end = (found[f"prediction_difference_{when}"] for when in ("start", "end"))
    detail = f"distance {end.value:.3g} after training, {start.value:.3g} before"
    return _decided(detail, _less(end, start, 0.75))


def cosine_rises(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether the sensitivities' cosine rises from less than 1/4 in absolute value to more than 1/2."""
    start, end = found["cosine_start"], found["cosine_end"]
    detail = f"cosine {start.value:.2f} before training, {end.value:.2f} ± {end.standard_error:.2f} after"
    low, high = start.band()
    least, most = end.band()
    return _decided(detail, (0.25 - high, 0.25 - low), (low + 0.25, high + 0.25), (least - 0.5, most - 0.5))


def sensitivities_close(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether training reduces the sensitivities' difference to nine tenths or less."""
    start, end = (found[f"sensitivity_difference_{when}"] for when in ("start", "end"))
    detail = f"difference {end.value:.3g} after training, {start.value:.3g} before"
    return _decided(detail, _less(end, start, 0.9))


def overtakes(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether the layer's loss ends a tenth or more below the gradient step's, with the two models apart.

    "Apart" means a cosine of at most 0.6, and a distance of the predictions of at least 3/4 of its value at the start.
    """
    end, step, cosine = (found[name] for name in ("layer_loss_end", "gradient_loss_end", "cosine_end"))
    before, after = (found[f"prediction_difference_{when}"] for when in ("start", "end"))
    detail = (
        f"losses {end.value:.3g} (layer), {step.value:.3g} (gradient step); cosine {cosine.value:.2f}; "
        f"distance of the predictions {after.value:.3g} after training, {before.value:.3g} before"
    )
    low, high = _less(after, before, 0.75)
    return _decided(detail, _less(end, step, 0.9), _less(cosine, 0.6), (-high, -low))


SIZES = ((25, 20), (50, 20), (25, 5))
"""(n, d) of the layers with small scores."""


def _small_scores(*, device: str, full: bool, seed: int) -> Verdict:
    """Decide whether layers with W = wI, v = eta/(nw) are as near a gradient step as stated, and nearer as w falls."""
    import torch

    from numerics.softmax_regression.experiments import line_search, sample_tasks
    from numerics.softmax_regression.reference import attention_layer, gradient_step

    theorem = verify.load_theorem("li2024.first_order_layer")
    claims = theorem.variant(theorem.statement.alone(*theorem.statement.claims))
    generator, verdicts = torch.Generator(device).manual_seed(seed), []
    for kind, (n, d) in product(("teacher", "simplex"), SIZES):
        A, b = sample_tasks(kind, 20, n, d, generator)
        eta = round(line_search(A, b))
        step, scores = gradient_step(A, b, eta).detach(), A @ A.mT
        spread = float((scores.amax(dim=-1) - scores.amin(dim=-1)).max())
        beta = float((b.amax(dim=-1) - b.amin(dim=-1)).max())
        apart = []
        for w in (Fraction(1, 100), Fraction(1, 1000), Fraction(1, 10_000)):
            given = {"n": n, "eta": eta, "w": w, "G": Fraction(spread), "beta": Fraction(beta)}
            values = verify.check(claims, **given).values
            W, v = float(w) * torch.eye(d).to(A), torch.tensor(as_float(values["v"])).to(A)
            distance = float((attention_layer(A, b, W, v) - step).norm(dim=1).max())
            apart.append((distance, as_float(values["distance_at_most"])))
        # For small w the distance is nearly proportional to w: at 10⁻⁴ it is about a tenth of its value at 10⁻³.
        holds = all(found <= most for found, most in apart) and 8 <= apart[1][0] / apart[2][0] <= 12
        detail = ", ".join(f"{found:.2g} (at most {most:.2g})" for found, most in apart)
        verdicts.append((f"{kind} n={n} d={d} eta={eta}", Verdict.when(holds, detail, Evidence.COMPUTED)))
    return over_instances(verdicts)


small_scores_are_a_step = Comparison(
    id="li2024.small_scores_are_a_step",
    title="Layers with small scores and the matching v are as near a gradient step as stated, and nearer as they fall",
    theorem="li2024.first_order_layer",
    experiment=None,
    compare=_small_scores,
)

losses_come_close = _reading(
    "losses_come_close",
    "Reading: over training the layer's loss nears the gradient step's (half of the gap or less is left)",
    losses_close,
)
predictions_come_close = _reading(
    "predictions_come_close",
    "Reading: over training the two predictions near each other (three quarters of the distance or less is left)",
    predictions_close,
)
sensitivities_come_close = _reading(
    "sensitivities_come_close",
    "Reading: over training the difference of the two sensitivities falls (nine tenths or less is left)",
    sensitivities_close,
)
sensitivities_align = _reading(
    "sensitivities_align",
    "Reading: over training the cosine of the two sensitivities rises, from below 1/4 to above 1/2",
    cosine_rises,
)
readings_need_a_teacher = _reading(
    "readings_need_a_teacher",
    "On targets that no weights explain, n = 25, the layer overtakes the gradient step, and the two stay apart",
    overtakes,
    tasks="simplex",
    quick_steps=3000,
    full_sizes=((25, 5), (25, 20)),
)
