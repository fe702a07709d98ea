"""What is read off Figures 1 to 7, each a comparison with a verdict: training from the definitions against theory.

Quick trainings of Figures 1 and 2 have the paper's L, d and n, with a Σ of eigenvalues from 1 to 1/4, smaller batches
and fewer steps; the others are smaller in every size. The verdicts on words are those of `captions`.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from paper_checks.ahn2023.batches import least_losses_on_batch
from paper_checks.ahn2023.captions import (
    agrees,
    as_printed,
    at_one_of,
    below_level,
    fallen,
    falls,
    least_squares_as_said,
)
from paper_checks.ahn2023.predictions import distance_of_inverse, least_loss, local_minima, sizes, spectrum_of
from paper_checks.margins import above, decided, to_zero
from theorems.preconditioned_descent.printed_layers import HALF
from theorems.preconditioned_descent.printed_layers import interval as printed_by_figures_4_and_5
from verify import (
    Comparison,
    Evidence,
    ExperimentResult,
    Outcome,
    Verdict,
    all_of,
    load_experiment,
)

OFF_DIAGONAL = 0.01
"""What Figure 2's entries off the diagonal are within."""
PRINTED2 = (("0.42", "0.43"), ("0.69", "0.69"), ("1.69", "1.72"))
"""The diagonals that Figure 2 prints, ascending, without the sign of Q."""
LEVEL3 = math.exp(-6)
"""What Figure 3's loss falls below."""

Run = Callable[..., ExperimentResult]


@cache
def trained(figure: str, device: str, full: bool, seed: int, **settings: Any) -> ExperimentResult:
    """Run a figure once for all of its claims; under `full` from the store."""
    from verify.simulate import usable_store

    found = load_experiment(f"ahn2023.figure{figure}")
    return found.run(device=device, full=full, seed=seed, store=usable_store(None) if full else None, **settings)


def _reading(
    name: str,
    title: str,
    read: Callable[[Run, bool], Verdict],
    *,
    figure: str,
    theorem: str | None = None,
    quick: dict[str, Any] | None = None,
) -> Comparison:
    """Return the comparison of a claim: `read` is given what runs a figure, and `full`; `quick` are settings."""

    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        own = {} if full or quick is None else quick
        return read(lambda **settings: trained(figure, device, full, seed, **(own | settings)), full)

    return Comparison(f"ahn2023.{name}", title, theorem, f"ahn2023.figure{figure}", compare)


FIGURE1 = {"runs": 2, "n_test": 200_000, "readings": 5}


def _reaches(run: Run, full: bool) -> Verdict:
    found = run()
    return agrees(least_loss(**sizes(found.settings)), found.measurements["test_loss"])


figure1_reaches_theorem3s_minimum = _reading(
    "figure1_reaches_theorem3s_minimum",
    "Figure 1's training of all entries of all A_l ends at Theorem 3's least loss, within the standard error",
    _reaches,
    figure="1",
    theorem="ahn2023.theorem3",
    quick=FIGURE1,
)


def _to_zero(run: Run, full: bool) -> Verdict:
    found = run()
    return to_zero(found.measurements["test_loss"], (least_loss(**sizes(found.settings)),) * 2)


figure1_loss_to_zero = _reading(
    "figure1_loss_to_zero",
    "Figure 1's text, the loss converges to an almost 0 value, read as 0",
    _to_zero,
    figure="1",
    theorem="ahn2023.theorem3",
    quick=FIGURE1,
)


def _distances(run: Run, full: bool) -> Verdict:
    found = run()
    layers = range(int(found.settings["L"]))  # type: ignore[arg-type]
    whitened = [found.measurements[f"whitened_A{i}_largest"] for i in layers]
    plain = [found.measurements[f"A{i}_least"] for i in layers]
    return fallen(whitened, plain, distance_of_inverse(spectrum_of(found.settings)))


figure1_distances = _reading(
    "figure1_distances",
    "Figure 1: Dist(Σ^½ A_l Σ^½, I) falls to a tenth or less, Dist(A_l, I) does not fall to half of Dist(Σ^-1, I)",
    _distances,
    figure="1",
    theorem="ahn2023.theorem3",
    quick=FIGURE1,
)


def _diagonals(found: ExperimentResult, letter: str) -> list[tuple[float, float]]:
    names = [name for name in found.heat_maps if name.startswith(letter)]
    ends_of = ("least", "largest")
    return [tuple(found.measurements[f"{name}_diagonal_{end}"].value for end in ends_of) for name in names]  # type: ignore[misc]


def _figure2(run: Run, full: bool) -> Verdict:
    found = run()
    intervals = [(Fraction(low) - HALF, Fraction(high) + HALF) for low, high in PRINTED2]
    verdict = as_printed(sorted(_diagonals(found, "A")), intervals)
    off = max(found.measurements[f"{name}_off_diagonal"].value for name in found.heat_maps)
    within = Outcome.VERIFIED if off <= OFF_DIAGONAL + float(HALF) else Outcome.INCONCLUSIVE
    entries = Verdict(within, Evidence.SIMULATED, f"entries off the diagonal up to {off:.4f}")
    return all_of([("off the diagonal", entries), ("on it", verdict)])


figure2_trained_weights_are_printed = _reading(
    "figure2_trained_weights_are_printed",
    "Figure 2: trained Σ^½ A_l Σ^½ as printed, each entry; decided by `--full` alone, quick batches are too small",
    _figure2,
    figure="2",
    theorem="ahn2023.theorem3",
    quick={"readings": FIGURE1["readings"]},
)

FIGURE3 = {"runs": 2, "n_test": 200_000, "readings": 2}


def _local_minimum(run: Run, full: bool) -> Verdict:
    # The list of critical points is complete for two layers: also under `full`, with more runs.
    found = run(**({"runs": 5} if full else {}))
    count = int(found.settings["runs"])  # type: ignore[arg-type]
    return at_one_of(
        [found.measurements[f"test_loss_run{i}"] for i in range(count)], local_minima(**sizes(found.settings))
    )


def _small(*, device: str, full: bool, seed: int) -> Verdict:
    return _local_minimum(lambda **more: trained("3", device, False, seed, **(FIGURE3 | more)), full)


figure3_ends_at_a_local_minimum = Comparison(
    id="ahn2023.figure3_ends_at_a_local_minimum",
    title="Figure 3's training, two layers of pattern (11): each run ends at the loss of a local minimum of Theorem 4",
    theorem="ahn2023.theorem4",
    experiment="ahn2023.figure3",
    compare=_small,
)


def _ten_examples(*, device: str, full: bool, seed: int) -> Verdict:
    return below_level([least_losses_on_batch(10, device, seed + i) for i in range(20 if full else 2)], LEVEL3)


figure3_log_loss_at_ten_examples = Comparison(
    id="ahn2023.figure3_log_loss_at_ten_examples",
    title="Figure 3 at the text's n = 10: on S some weights bring the loss on a batch of 20 000 prompts below e^-6",
    theorem="ahn2023.theorem4",
    experiment=None,
    compare=_ten_examples,
    devices=("cpu",),
)


def _figures_4_and_5(*, device: str, full: bool, seed: int) -> Verdict:
    if not full:
        return Verdict(Outcome.INCONCLUSIVE, Evidence.SIMULATED, "decided by `--full` alone: trained for hours", 0)
    A, B = (
        _diagonals(trained(figure, device, full, seed, n=20), letter) for figure, letter in (("5", "A"), ("4", "B"))
    )
    return as_printed([*A, *B], [printed_by_figures_4_and_5(name) for name in ("a0", "a1", "a2", "b0", "b1")])


figures_4_and_5_trained_weights_are_printed = Comparison(
    id="ahn2023.figures_4_and_5_trained_weights_are_printed",
    title="Figures 4 and 5 at n = 20: trained B_l and Σ^½ A_l Σ^½ have the printed diagonals; by `--full` alone",
    theorem="ahn2023.theorem4",
    experiment="ahn2023.figure5",
    compare=_figures_4_and_5,
)

COMPARED = {"n_test": 200_000}


def _at_each(found: ExperimentResult, along: str, name: str) -> Iterator[tuple[str, Verdict]]:
    """Yield whether a curve is Theorem 3's least loss at each point."""
    curve = found.curves[name]
    for value, loss in zip(curve.at, curve.measured, strict=True):
        yield f"{name} at {along}={value:g}", agrees(least_loss(**sizes(found.settings, **{along: int(value)})), loss)


def _equal(along: str) -> Callable[[Run, bool], Verdict]:
    def read(run: Run, full: bool) -> Verdict:
        names = ("transformer", "preconditioned_gradient_descent")
        return all_of(pair for name in names for pair in _at_each(run(), along, name))

    return read


def _below_descent(run: Run, full: bool) -> Verdict:
    curves = run().curves
    small = ("transformer", "preconditioned_gradient_descent")

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for i, at in enumerate(curves["gradient_descent"].at):
            large = curves["gradient_descent"].measured[i]
            for name in small:
                loss = curves[name].measured[i]
                yield f"{name} at {at:g}", decided(f"{loss.value:.4g} against {large.value:.4g}", above(large, loss))

    return all_of(verdicts())


def _least_squares(run: Run, full: bool) -> Verdict:
    found = run()
    curve = found.curves["least_squares_Sigma_norm"]
    return least_squares_as_said(curve.at, curve.measured, int(found.settings["d"]))  # type: ignore[arg-type]


def _falls(run: Run, full: bool) -> Verdict:
    names = ("transformer", "gradient_descent", "preconditioned_gradient_descent")
    return all_of((name, falls(run().curves[name].measured)) for name in names)


figure6_transformer_is_preconditioned_descent = _reading(
    "figure6_transformer_is_preconditioned_descent",
    "Figure 6: at each n the trained transformer and the best Σ^-1-preconditioned steps have Theorem 3's least loss",
    _equal("n"),
    figure="6",
    theorem="ahn2023.theorem3",
    quick=COMPARED,
)
figure6_below_gradient_descent = _reading(
    "figure6_below_gradient_descent",
    "Figure 6: at each n transformer and preconditioned steps are below gradient descent with its best step sizes",
    _below_descent,
    figure="6",
    quick=COMPARED,
)
figure6_least_squares = _reading(
    "figure6_least_squares",
    "Figure 6: least squares of least Σ-norm loses d − n with fewer than d examples, and nothing from d on",
    _least_squares,
    figure="6",
    quick=COMPARED,
)
figure7_transformer_is_preconditioned_descent = _reading(
    "figure7_transformer_is_preconditioned_descent",
    "Figure 7: at each L the trained transformer and the best Σ^-1-preconditioned steps have Theorem 3's least loss",
    _equal("L"),
    figure="7",
    theorem="ahn2023.theorem3",
    quick=COMPARED,
)
figure7_below_gradient_descent = _reading(
    "figure7_below_gradient_descent",
    "Figure 7: at each L transformer and preconditioned steps are below gradient descent with its best step sizes",
    _below_descent,
    figure="7",
    quick=COMPARED,
)
figure7_loss_falls_with_layers = _reading(
    "figure7_loss_falls_with_layers",
    "Figure 7: the losses of transformer, gradient descent and preconditioned steps fall with every layer",
    _falls,
    figure="7",
    quick=COMPARED,
)
