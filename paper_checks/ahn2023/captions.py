"""Verdicts on what is read off the figures: "reaches", "falls", "is as printed", "is below", "ends at one of" …

The text's words have no numbers. The levels are ours, and were set after runs had been seen; losses are told from
theory by their standard errors alone. A limit is not verified by a finite run.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from paper_checks.margins import MOST_COMPARISONS, above, decided, ends
from verify import Evidence, Measurement, Outcome, Verdict, agreement, all_of

RESOLUTION = 0.25
"""Of a loss: where chance alone may hide more, agreement with theory is inconclusive."""
FALLEN, KEPT = 0.1, 0.5
"""What the distance of Σ^½ A Σ^½ falls to, and the share of Dist(Σ^-1, I) above which that of A stays."""
NEAR_PRINTED = 0.1
"""Of a printed number: how far the weights of a short training may be off without telling against it."""


def agrees(theory: float, loss: Measurement) -> Verdict:
    """Return whether a measured loss is theory's within its standard error."""
    return agreement(theory, loss, comparisons=MOST_COMPARISONS, resolution=RESOLUTION * theory)


def fallen(whitened: Sequence[Measurement], plain: Sequence[Measurement], inverse: float) -> Verdict:
    """Decide whether the distances of Σ^½ A Σ^½ ended below FALLEN, those of A above KEPT of that of Σ^{-1}.

    They are the largest and the least over layers and runs. A distance is 1 or less, and begins near 1.
    """
    most, least = max(m.value for m in whitened), min(m.value for m in plain)
    detail = f"Σ^½ A Σ^½ ends at {most:.3g} or less, A at {least:.3g} or more, Σ^-1 is at {inverse:.3g}"
    if most <= FALLEN and least >= KEPT * inverse:
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail)
    refuted = most > KEPT or least < FALLEN * inverse
    return Verdict(Outcome.REFUTED if refuted else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)


def as_printed(matrices: Sequence[tuple[float, float]], intervals: Sequence[tuple[Fraction, Fraction]]) -> Verdict:
    """Decide whether the diagonals of some matrices, least and largest, are within what is printed for each.

    Where one is outside by more than NEAR_PRINTED of it, they are not what is printed; where one is outside by less,
    that may be the training's: nothing is decided.
    """
    inside = [low <= least and most <= high for (least, most), (low, high) in zip(matrices, intervals, strict=True)]
    off = max(
        max(float(low) - least, most - float(high)) / float(high)
        for (least, most), (low, high) in zip(matrices, intervals, strict=True)
    )
    detail = "diagonals " + ", ".join(f"{least:.4f} to {most:.4f}" for least, most in matrices)
    outcome = Outcome.REFUTED if off > NEAR_PRINTED else Outcome.VERIFIED if all(inside) else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, f"{detail}: {sum(inside)} of {len(inside)} within what is printed")


def at_one_of(losses: Sequence[Measurement], minima: Sequence[float]) -> Verdict:
    """Decide whether each loss is that of one of some minima, within its standard error."""

    def best(loss: Measurement) -> Verdict:
        order = (Outcome.VERIFIED, Outcome.INCONCLUSIVE, Outcome.REFUTED)
        return min((agrees(least, loss) for least in minima), key=lambda verdict: order.index(verdict.outcome))

    return all_of((f"run {i}", best(loss)) for i, loss in enumerate(losses))


def below_level(least: Sequence[float], level: float) -> Verdict:
    """Decide whether the least losses of some batches are below a level: all of them, none, or some."""
    detail = f"least losses on batches from {min(least):.3g} to {max(least):.3g}, level {level:.3g}"
    outcome = (
        Outcome.REFUTED if min(least) > level else Outcome.VERIFIED if max(least) < level else Outcome.INCONCLUSIVE
    )
    return Verdict(outcome, Evidence.SIMULATED, detail, len(least))


def least_squares_as_said(at: Sequence[float], losses: Sequence[Measurement], d: int) -> Verdict:
    """Hold least squares of least Σ-norm against 0 from d examples on, and d − n for fewer.

    After whitening the error is the part of w ~ N(0, I) outside the span of n Gaussian vectors: d − n in expectation.
    """

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for n, loss in zip(at, losses, strict=True):
            theory = max(d - n, 0)
            yield (
                f"n={n:g}",
                agreement(theory, loss, comparisons=MOST_COMPARISONS, resolution=RESOLUTION * max(theory, 1)),
            )

    return all_of(verdicts())


def falls(losses: Sequence[Measurement]) -> Verdict:
    """Decide whether a loss falls from each point to the next."""
    detail = ", ".join(f"{loss.value:.4g} ({low:.4g} to {high:.4g})" for loss in losses for low, high in [ends(loss)])
    return decided(detail, *(above(before, after) for before, after in pairwise(losses)))
