"""The comparisons for Figures 1 to 7, each with a verdict: training from the definitions against theory.

Under `--full` Figures 1 to 5 are trained as in the authors' code (`protocol=code` of `numerics`), with two exceptions:
comparisons at the text's n = 10 train as in the text, and `figure3_ends_at_a_local_minimum` runs the quick training
five times. Figures 6 and 7 are compared as in the text: A_l alone is trained, and descent has its best step sizes on
all examples. Comparisons whose names end in `_in_the_code` treat Figures 6 and 7 as in the authors' code. Quick
trainings of Figures 1 and 2 have the paper's L, d and n, a Σ with eigenvalues from 1 to 1/4, smaller batches and fewer
steps. The other quick trainings have a smaller d, and fewer layers and steps. `captions` has the verdicts on words.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from paper_checks.ahn2023.captions import (
    FINE,
    NEAR_PRINTED,
    agrees,
    as_printed,
    at_one_of,
    ended_below,
    fallen,
    falls,
    found_below,
    least_squares_as_said,
    solved,
)
from paper_checks.ahn2023.predictions import (
    distance_of_inverse,
    equal_steps,
    least_loss,
    local_minima,
    sizes,
    spectrum_of,
)
from paper_checks.ahn2023.printed_layers import least_losses_on_batch
from paper_checks.ahn2023.tensors import covariance
from paper_checks.lazily import lazily
from paper_checks.margins import above, decided, to_zero
from verify import (
    Comparison,
    Evidence,
    ExperimentResult,
    Measurement,
    Outcome,
    Verdict,
    all_of,
    load_experiment,
)

OFF_DIAGONAL = 0.01
"""The largest absolute value of Figure 2's entries off the diagonal."""
printed_layers = lazily("theorems.preconditioned_descent.printed_layers")
PRINTED2 = (("0.42", "0.43"), ("0.69", "0.69"), ("1.69", "1.72"))
"""The diagonals that Figure 2 prints, ascending, without the sign of Q."""
LEVEL3 = math.exp(-6)
"""The level that Figure 3's loss falls below."""

Run = Callable[..., ExperimentResult]


@cache
def trained(figure: str, device: str, full: bool, seed: int, **settings: Any) -> ExperimentResult:
    """Run a figure's experiment once for all of its claims; under `full` the store is used."""
    from verify.reports.simulate import usable_store

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
    protocol: str = "code",
) -> Comparison:
    """Return the comparison of a claim: `read` gets a function that runs the figure's experiment, and `full`.

    The settings are `quick`, or under `full` the settings of `protocol`.
    """

    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        own = {"protocol": protocol} if full else quick or {}
        return read(lambda **settings: trained(figure, device, full, seed, **(own | settings)), full)

    return Comparison(f"ahn2023.{name}", title, theorem, f"ahn2023.figure{figure}", compare)


FIGURE1 = {"runs": 2, "n_test": 200_000, "readings": 5}


def _reaches(run: Run, full: bool) -> Verdict:
    found = run()
    return agrees(least_loss(**sizes(found.settings)), found.measurements["test_loss_given_examples"], FINE)


figure1_reaches_theorem3s_minimum = _reading(
    "figure1_reaches_theorem3s_minimum",
    "Figure 1's training of all entries of all A_l ends at Theorem 3's least loss, within chance and a twentieth of it",
    _reaches,
    figure="1",
    theorem="ahn2023.theorem3",
    quick=FIGURE1,
)


def _whitened(found: ExperimentResult) -> list[str]:
    return [f"whitened_A{i}" for i in range(int(found.settings["L"]))]  # type: ignore[arg-type]


def _to_zero(run: Run, full: bool) -> Verdict:
    found = run()
    # A distance is the sine of the angle with the multiples of I.
    cosines = {
        f"cosine of Σ^½ A_{i} Σ^½ with I": Measurement(math.sqrt(1 - found.measurements[f"{name}_largest"].value ** 2))
        for i, name in enumerate(_whitened(found))
    }
    return to_zero(found.measurements["test_loss"], (least_loss(**sizes(found.settings)),) * 2, cosines)


figure1_loss_to_zero = _reading(
    "figure1_loss_to_zero",
    "Figure 1's text, the loss converges to an almost 0 value, read as 0, against the least loss on S near S",
    _to_zero,
    figure="1",
    theorem="ahn2023.theorem3",
    quick=FIGURE1,
)


def _distances(run: Run, full: bool) -> Verdict:
    found = run()
    names = _whitened(found)
    begun = [found.curves[name].measured[0] for name in names]
    whitened = [found.measurements[f"{name}_largest"] for name in names]
    plain = [found.measurements[f"{name.removeprefix('whitened_')}_least"] for name in names]
    return fallen(begun, whitened, plain, distance_of_inverse(spectrum_of(found.settings)))


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
    intervals = [(Fraction(low) - printed_layers.HALF, Fraction(high) + printed_layers.HALF) for low, high in PRINTED2]
    verdict = as_printed(sorted(_diagonals(found, "A")), intervals)
    off = max(found.measurements[f"{name}_off_diagonal"].value for name in found.heat_maps)
    # In a short training an entry off the diagonal may exceed the printed size by NEAR_PRINTED of the least printed
    # diagonal entry.
    printed, short = OFF_DIAGONAL + float(printed_layers.HALF), NEAR_PRINTED * float(PRINTED2[0][0])
    within = Outcome.VERIFIED if off <= printed else Outcome.REFUTED if off > printed + short else Outcome.INCONCLUSIVE
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
    # `full` keeps two layers, with more runs, because the list of critical points is complete only for two layers.
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
    return found_below([least_losses_on_batch(10, device, seed + i) for i in range(20 if full else 2)], LEVEL3)


figure3_log_loss_at_ten_examples = Comparison(
    id="ahn2023.figure3_log_loss_at_ten_examples",
    title="Figure 3 at n = 10: weights on S lose less than e^-6 on a batch of 20 000, averaging w* and query exactly",
    theorem="ahn2023.theorem4",
    experiment=None,
    compare=_ten_examples,
    devices=("cpu",),
)


def _by_full_alone(name: str, title: str, figure: str, protocol: str, read: Callable[[Run], Verdict]) -> Comparison:
    """Return a comparison that trains for hours with a protocol's settings, only under `full`; else inconclusive."""

    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        if not full:
            return Verdict(Outcome.INCONCLUSIVE, Evidence.SIMULATED, "decided by `--full` alone: trained for hours", 0)
        return read(lambda figure=figure: trained(figure, device, full, seed, protocol=protocol))

    whose = {"code": "as in the authors' code, n = 20", "text": "as in the text, n = 10"}[protocol]
    full_title = f"{title}, {whose}; by `--full` alone"
    return Comparison(f"ahn2023.{name}", full_title, "ahn2023.theorem4", f"ahn2023.figure{figure}", compare)


def _log_loss(run: Run) -> Verdict:
    found = run()
    runs = range(int(found.settings["runs"]))  # type: ignore[arg-type]
    return ended_below([found.measurements[f"test_loss_run{i}"].value for i in runs], LEVEL3)


def _figures_4_and_5(run: Run) -> Verdict:
    A, B = (_diagonals(run(figure), letter) for figure, letter in (("5", "A"), ("4", "B")))
    return as_printed([*A, *B], [printed_layers.interval(name) for name in ("a0", "a1", "a2", "b0", "b1")])


_LOG_LOSS = "Figure 3's log loss on 20 000 unseen prompts ends below −6 in each run, three layers trained"
figure3_log_loss_trained_at_ten = _by_full_alone("figure3_log_loss_trained_at_ten", _LOG_LOSS, "3", "text", _log_loss)
figure3_log_loss_trained_at_twenty = _by_full_alone(
    "figure3_log_loss_trained_at_twenty", _LOG_LOSS, "3", "code", _log_loss
)
_PRINTED45 = "Figures 4 and 5: trained B_l and Σ^½ A_l Σ^½ have the printed diagonals"
figures_4_and_5_trained_weights_are_printed = _by_full_alone(
    "figures_4_and_5_trained_weights_are_printed", _PRINTED45, "5", "code", _figures_4_and_5
)
figures_4_and_5_trained_weights_at_ten = _by_full_alone(
    "figures_4_and_5_trained_weights_at_ten", _PRINTED45, "5", "text", _figures_4_and_5
)

COMPARED = {"n_test": 200_000}
SOLVED = 2000
"""Number of prompts, for each n, on which least squares is solved."""


def _at_each(found: ExperimentResult, along: str, name: str) -> Iterator[tuple[str, Verdict]]:
    """Yield, for each point of a curve, the verdict on whether the loss there is Theorem 3's least loss."""
    curve = found.curves[name]
    for value, loss in zip(curve.points, curve.measured, strict=True):
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
        for i, at in enumerate(curves["gradient_descent"].points):
            large = curves["gradient_descent"].measured[i]
            for name in small:
                loss = curves[name].measured[i]
                yield f"{name} at {at:g}", decided(f"{loss.value:.4g} against {large.value:.4g}", above(large, loss))

    return all_of(verdicts())


def solving_errors_at(spectrum: list[float], n: int, device: str, seed: int) -> list[float]:
    """Return the errors of least squares on some prompts with n examples, in units of the bound on rounding."""
    import torch

    from numerics.preconditioned_descent.predictors import solving_errors
    from numerics.preconditioned_descent.reference import sample

    sigma, inverse = covariance(spectrum, seed, device)
    drawn = sample(SOLVED, n, sigma, inverse, torch.Generator(device).manual_seed(seed))
    return solving_errors(*drawn).tolist()


def _least_squares(run: Run, full: bool) -> Verdict:
    found = run()
    curve, (d, left_out) = found.curves["least_squares_Sigma_norm"], (int(found.settings[x]) for x in ("d", "left_out"))  # type: ignore[arg-type]
    seen = [int(n) - left_out for n in curve.points]
    few = [(n, loss) for n, loss in zip(seen, curve.measured, strict=True) if n < d]
    spectrum, enough = spectrum_of(found.settings), [n for n in seen if n >= d]
    return all_of(
        [
            ("d − n", least_squares_as_said(*zip(*few, strict=True), d)),
            *((f"n={n}", solved(solving_errors_at(spectrum, n, found.device, found.seed))) for n in enough),
        ]
    )


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
    protocol="text",
)
figure6_below_gradient_descent = _reading(
    "figure6_below_gradient_descent",
    "Figure 6: at each n transformer and preconditioned steps are below gradient descent with its best step sizes",
    _below_descent,
    figure="6",
    quick=COMPARED,
    protocol="text",
)
figure6_least_squares = _reading(
    "figure6_least_squares",
    "Figure 6: least squares of least Σ-norm loses d − n with fewer than d examples, and nothing from d on",
    _least_squares,
    figure="6",
    quick=COMPARED,
    protocol="text",
)
figure7_transformer_is_preconditioned_descent = _reading(
    "figure7_transformer_is_preconditioned_descent",
    "Figure 7: at each L the trained transformer and the best Σ^-1-preconditioned steps have Theorem 3's least loss",
    _equal("L"),
    figure="7",
    theorem="ahn2023.theorem3",
    quick=COMPARED,
    protocol="text",
)
figure7_below_gradient_descent = _reading(
    "figure7_below_gradient_descent",
    "Figure 7: at each L transformer and preconditioned steps are below gradient descent with its best step sizes",
    _below_descent,
    figure="7",
    quick=COMPARED,
    protocol="text",
)
figure7_loss_falls_with_layers = _reading(
    "figure7_loss_falls_with_layers",
    "Figure 7: the losses of transformer, gradient descent and preconditioned steps fall with every layer",
    _falls,
    figure="7",
    quick=COMPARED,
    protocol="text",
)

IN_THE_CODE = COMPARED | {"trained": "A_and_B", "left_out": 1, "steps_from": "grid", "n_fit": 5000, "d": 2}


def _equal_steps(along: str) -> Callable[[Run, bool], Verdict]:
    def read(run: Run, full: bool) -> Verdict:
        found = run()
        curve = found.curves["preconditioned_gradient_descent"]
        rows = zip(curve.points, equal_steps(found, along), curve.measured, strict=True)
        return all_of((f"{along}={value:g}", agrees(theory, loss)) for value, theory, loss in rows)

    return read


def _below_the_others(run: Run, full: bool) -> Verdict:
    curves = run().curves

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for name in ("gradient_descent", "preconditioned_gradient_descent"):
            rows = zip(curves[name].points, curves[name].measured, curves["transformer"].measured, strict=True)
            for at, large, loss in rows:
                detail = f"{loss.value:.4g} against {large.value:.4g}"
                yield f"{name} at {at:g}", decided(detail, above(large, loss))

    return all_of(verdicts())


figure6_equal_steps_in_the_code = _reading(
    "figure6_equal_steps_in_the_code",
    "Figure 6 as in the authors' code: equal preconditioned steps on n − 1 examples have the exact loss of these",
    _equal_steps("n"),
    figure="6",
    quick=IN_THE_CODE,
)
figure6_transformer_is_below_in_the_code = _reading(
    "figure6_transformer_is_below_in_the_code",
    "Figure 6 as in the authors' code: at each n the transformer is below both descents, which see n − 1 examples",
    _below_the_others,
    figure="6",
    quick=IN_THE_CODE,
)
figure6_least_squares_in_the_code = _reading(
    "figure6_least_squares_in_the_code",
    "Figure 6 as in the authors' code: least squares loses d − (n − 1) up to n = d, and nothing from d + 1 on",
    _least_squares,
    figure="6",
    quick=IN_THE_CODE,
)
figure7_equal_steps_in_the_code = _reading(
    "figure7_equal_steps_in_the_code",
    "Figure 7 as in the authors' code: equal preconditioned steps on n − 1 examples have the exact loss of these",
    _equal_steps("L"),
    figure="7",
    quick=IN_THE_CODE,
)
figure7_transformer_is_below_in_the_code = _reading(
    "figure7_transformer_is_below_in_the_code",
    "Figure 7 as in the authors' code: at each L the transformer is below both descents, which see n − 1 examples",
    _below_the_others,
    figure="7",
    quick=IN_THE_CODE,
)
