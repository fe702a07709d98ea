"""Verdicts on numbers read off the figures: "reaches", "falls", "is as printed", "is below", "ends at one of" …

The paper gives no numbers for these words. The levels are ours, and were set after runs had been seen. Losses are
compared with theory by their standard errors alone. A finite run does not verify a limit.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from paper_checks.margins import MOST_COMPARISONS, above, decided, ends
from verify import Evidence, Measurement, Outcome, Verdict, agreement, all_of

RESOLUTION = 0.25
"""Agreement with theory is inconclusive if the statistical error of a loss may exceed this share of theory's value."""
FINE = 0.05
"""The same share, for a loss whose mean over w* and the query is exact."""
FALLEN, KEPT = 0.1, 0.5
"""The caption holds if Dist(Σ^½ A Σ^½, I) ≤ FALLEN · (its start) and Dist(A, I) ≥ KEPT · Dist(Σ^{-1}, I)."""
NEAR_PRINTED = 0.1
"""A short training's weights may deviate by this share of a printed number without contradicting it."""


def agrees(theory: float, loss: Measurement, resolution: float = RESOLUTION) -> Verdict:
    """Decide whether a loss agrees with theory; inconclusive if chance may hide more than `resolution` · theory."""
    return agreement(theory, loss, comparisons=MOST_COMPARISONS, resolution=resolution * theory)


def fallen(
    begun: Sequence[Measurement], whitened: Sequence[Measurement], plain: Sequence[Measurement], inverse: float
) -> Verdict:
    """Decide whether max Dist(Σ^½ A Σ^½, I) ≤ FALLEN · start and min Dist(A, I) ≥ KEPT · Dist(Σ^{-1}, I).

    max and min are over layers and runs. `start` is the least over layers of Dist(Σ^½ A Σ^½, I) at the beginning,
    averaged over runs.
    """
    start, most, least = min(m.value for m in begun), max(m.value for m in whitened), min(m.value for m in plain)
    detail = f"Σ^½ A Σ^½ begins at {start:.3g} or more and ends at {most:.3g} or less, A at {least:.3g} or more"
    detail += f", Σ^-1 is at {inverse:.3g}"
    if most <= FALLEN * start and least >= KEPT * inverse:
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail)
    refuted = most > KEPT * start or least < FALLEN * inverse
    return Verdict(Outcome.REFUTED if refuted else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)


def as_printed(matrices: Sequence[tuple[float, float]], intervals: Sequence[tuple[Fraction, Fraction]]) -> Verdict:
    """Decide whether the least and largest diagonal entries of each matrix lie in the interval printed for it.

    The verdict is refuted if an entry is outside by more than NEAR_PRINTED times the interval's upper end. A smaller
    deviation may come from the training, and is inconclusive.
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
    """Decide whether each loss agrees with one of the minima, within its standard error."""

    def best(loss: Measurement) -> Verdict:
        order = (Outcome.VERIFIED, Outcome.INCONCLUSIVE, Outcome.REFUTED)
        return min((agrees(least, loss) for least in minima), key=lambda verdict: order.index(verdict.outcome))

    return all_of((f"run {i}", best(loss)) for i, loss in enumerate(losses))


def found_below(least: Sequence[float], level: float) -> Verdict:
    """Decide whether a search for the least loss finds losses below a level on every batch.

    The search gives upper bounds of the least losses, so the verdict is never refuted.
    """
    detail = f"least losses found on batches from {min(least):.3g} to {max(least):.3g}, level {level:.3g}"
    if max(least) < level:
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail, len(least))
    detail += "; that no weights do better is not shown"
    return Verdict(Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail, len(least))


def ended_below(losses: Sequence[float], level: float) -> Verdict:
    """Decide whether losses at which runs ended are below a level: verified if all are, refuted if none is."""
    detail = f"runs end at {', '.join(f'{loss:.3g}' for loss in losses)}, level {level:.3g}"
    below = [loss < level for loss in losses]
    outcome = Outcome.VERIFIED if all(below) else Outcome.INCONCLUSIVE if any(below) else Outcome.REFUTED
    return Verdict(outcome, Evidence.SIMULATED, detail, len(losses))


def least_squares_as_said(at: Sequence[float], losses: Sequence[Measurement], d: int) -> Verdict:
    """Compare the loss of the least-squares solution of least Σ-norm with d − n, at the numbers n < d in `at`.

    After whitening the error is the part of w ~ N(0, I) outside the span of n Gaussian vectors. Its expected squared
    norm is d − n.
    """

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for n, loss in zip(at, losses, strict=True):
            theory = d - n
            yield (
                f"n={n:g}",
                agreement(theory, loss, comparisons=MOST_COMPARISONS, resolution=RESOLUTION * theory),
            )

    return all_of(verdicts())


def solved(errors: Sequence[float]) -> Verdict:
    """Decide whether errors, in units of the bound on rounding, are at most 1."""
    detail = f"{len(errors)} prompts are solved with errors up to {max(errors):.2g} of what rounding explains"
    return Verdict.when(max(errors) <= 1, detail, Evidence.COMPUTED)


def falls(losses: Sequence[Measurement]) -> Verdict:
    """Decide whether a loss falls from each point to the next."""
    detail = ", ".join(f"{loss.value:.4g} ({low:.4g} to {high:.4g})" for loss in losses for low, high in [ends(loss)])
    return decided(detail, *(above(before, after) for before, after in pairwise(losses)))
