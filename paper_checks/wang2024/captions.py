"""Verdicts on what a caption says of a curve: "converges to 0", "increases linearly", "tends to 1", "stays above" …

A caption's words have no numbers. The levels, what counts as level, near or settled, are ours, and were set after runs
had been seen. A limit is not verified by a finite run, and refuted only by theory.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from paper_checks.margins import above, decided, ends
from verify import Curve, Evidence, Measurement, Outcome, Verdict


def linear(inverse: Curve) -> Verdict:
    """Decide whether the inverse loss grows over the second half at half of its rate in the first quarter or more."""
    last = len(inverse.at) - 1
    begin, quarter, half, end = (inverse.measured[round(last * share)] for share in (0, 0.25, 0.5, 1))
    span = [inverse.at[round(last * share)] for share in (0, 0.25, 0.5, 1)]
    early = [x / (span[1] - span[0]) for x in above(quarter, begin)]
    late = [x / (span[3] - span[2]) for x in above(end, half)]
    detail = (
        f"{(quarter.value - begin.value) / (span[1] - span[0]):.3g} a step in the first quarter, "
        f"{(end.value - half.value) / (span[3] - span[2]):.3g} in the second half"
    )
    return decided(detail, (late[0] - early[1] / 2, late[1] - early[0] / 2))


def to_one(cosine: Curve) -> Verdict:
    """Decide whether a cosine ends above 0.99, nearer to 1 than in the middle of training."""
    middle, end = cosine.measured[len(cosine.at) // 2], cosine.measured[-1]
    detail = f"{middle.value:.5f} in the middle, {end.value:.5f} at the end"
    return decided(detail, above(end, 0.99), above(end, middle))


def near(theory: list[float], measured: list[Measurement], share: float) -> Verdict:
    """Decide whether measurements are within a share of theory, and say how far they are from it."""
    gaps = [m.value / value - 1 for m, value in zip(measured, theory, strict=True)]
    spread = max(m.standard_error / value for m, value in zip(measured, theory, strict=True))
    margins = []
    for value, found in zip(theory, measured, strict=True):
        low, high = ends(found)
        margins += [(value * (1 + share) - high, value * (1 + share) - low)]
        margins += [(low - value * (1 - share), high - value * (1 - share))]
    detail = f"SGD less population descent, of its loss: {min(gaps):+.2%} to {max(gaps):+.2%}, each ± {spread:.2%}"
    return replace(decided(detail, *margins), instances=len(theory))


def stays_above(curve: Curve, level: float) -> Verdict:
    """Decide whether a loss is above a level at every reading."""
    least = min(curve.measured, key=lambda m: m.value)
    detail = f"at least {least.value:.3g} ± {least.standard_error:.1g}, level {level:.3g}"
    return decided(detail, *(above(measured, level) for measured in curve.measured))


def settled(curve: Curve) -> float:
    """Return the first step from which on the loss is within a fifth of where it ends."""
    end = curve.measured[-1].value
    wild = [i for i, m in enumerate(curve.measured) if abs(m.value / end - 1) > 0.2]
    return curve.at[wild[-1] + 1] if wild else curve.at[0]


def sooner(first: Curve, second: Curve) -> Verdict:
    """Decide whether one loss settles at an earlier reading than another; at the same one, nothing is decided."""
    one, other = settled(first), settled(second)
    outcome = Outcome.VERIFIED if one < other else Outcome.REFUTED if one > other else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, f"settles at step {one:g}, the other at {other:g}")


def rising(curve: Curve) -> Verdict:
    """Decide whether a quantity rises from each point to the next."""
    detail = ", ".join(f"{m.value:.3g} at {at:g}" for at, m in zip(curve.at, curve.measured, strict=True))
    return decided(detail, *(above(after, before) for before, after in pairwise(curve.measured)))


def about_ten_thousand(share: float) -> Outcome:
    """Read "converges after about 10 000 steps" of the share of its way to the end that a loss has made by then.

    Nine tenths is convergence, less than half is none, and the caption's words do not say which of the two is between.
    """
    return Outcome.VERIFIED if share >= 0.9 else Outcome.REFUTED if share < 0.5 else Outcome.INCONCLUSIVE


def second_half(curve: Curve, losses: Mapping[int, float]) -> tuple[list[float], list[Measurement]]:
    """Return theory and measurements from the middle of training on."""
    late = len(curve.at) // 2
    return [losses[int(step)] for step in curve.at[late:]], list(curve.measured[late:])
