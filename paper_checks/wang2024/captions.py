"""Verdicts on a caption's words about a curve: "converges to 0", "increases linearly", "tends to 1", "stays above" …

The captions give no numbers for these words. The thresholds for "linear", "near" or "settled" are ours, and were set
after runs had been seen. A finite run does not verify a limit. Only theory refutes a limit, for a run to which the
theory applies.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from paper_checks.margins import above, decided, ends
from verify import Curve, Evidence, ExperimentResult, Measurement, Outcome, Verdict

SETTLED = 1 / 5
"""Largest change of a settled loss over the last quarter of training, as a share of the loss at the end."""
LEARNT = 9 / 10
"""Attention has learnt to select if its loss is below this share of the least loss without positions."""


def inconclusive_from_one_draw(verdict: Verdict, result: ExperimentResult) -> Verdict:
    """Return the verdict, but inconclusive if `result` has one run: one draw decides no claim about all draws."""
    if int(result.settings["runs"]) > 1:  # type: ignore[arg-type]
        return verdict
    return replace(
        verdict, outcome=Outcome.INCONCLUSIVE, detail=f"of one draw, where runs= takes more: {verdict.detail}"
    )


def settled(curve: Curve, late_change: Measurement, nothing: float) -> Verdict:
    """Decide whether a loss has settled by the end, at a value below the zero predictor's loss.

    If a loss ends below the zero predictor's but still changes, the claim is open: the loss may settle in a longer run.
    A loss that ends above the zero predictor's refutes the claim, settled or not.
    """
    end, most = curve.measured[-1], max(abs(x) for x in ends(late_change))
    below = above(Measurement(nothing), end)
    detail = f"ends at {end.value:.3g} of {nothing:.3g}, {late_change.value:+.2g} in the last quarter"
    verdict = decided(detail, (below[0], below[1]))
    if verdict.holds and most > SETTLED * end.value:
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, detail=f"{detail}: not known to have settled")
    return verdict


def linear(inverse: Curve) -> Verdict:
    """Decide whether the inverse loss grows in the second half at half or more of its rate in the first quarter."""
    last = len(inverse.points) - 1
    begin, quarter, half, end = (inverse.measured[round(last * share)] for share in (0, 0.25, 0.5, 1))
    span = [inverse.points[round(last * share)] for share in (0, 0.25, 0.5, 1)]
    early = [x / (span[1] - span[0]) for x in above(quarter, begin)]
    late = [x / (span[3] - span[2]) for x in above(end, half)]
    detail = (
        f"{(quarter.value - begin.value) / (span[1] - span[0]):.3g} a step in the first quarter, "
        f"{(end.value - half.value) / (span[3] - span[2]):.3g} in the second half"
    )
    return decided(detail, (late[0] - early[1] / 2, late[1] - early[0] / 2))


def to_one(cosine: Curve) -> Verdict:
    """Decide whether a cosine ends above 0.98, nearer to 1 than after a quarter of training."""
    quarter, end = cosine.measured[round((len(cosine.points) - 1) / 4)], cosine.measured[-1]
    detail = f"{quarter.value:.5f} after a quarter, {end.value:.5f} at the end"
    return decided(detail, above(end, 0.98), above(end, quarter))


def near(theory: list[float], measured: list[Measurement], share: float) -> Verdict:
    """Decide whether measurements are within a relative distance `share` of theory, and state the differences."""
    gaps = [m.value / value - 1 for m, value in zip(measured, theory, strict=True)]
    spread = max((m.standard_error or 0) / value for m, value in zip(measured, theory, strict=True))
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
    detail = f"at least {least.value:.3g} ± {least.standard_error or 0:.1g}, level {level:.3g}"
    return decided(detail, *(above(measured, level) for measured in curve.measured))


def without_positions(d: int, q: int, T: int) -> float:
    """Return the least loss of an answer that ignores positions: the best multiple of the mean of all tokens."""
    return d / 2 * (1 / q - 1 / T)


def sooner(first: Curve, second: Curve, level: float) -> Verdict:
    """Decide whether one loss falls below a level at an earlier reading than another, beyond chance.

    A loss that never falls below is not sooner than any other. The verdict is inconclusive if neither falls below, or
    if both may fall below at the same reading.
    """

    def reading(curve: Curve, end: int) -> float:
        """Return the first step at which the loss is below the level for certain (end 1), or may be (end 0)."""
        found = (at for at, m in zip(curve.points, curve.measured, strict=True) if ends(m)[end] < level)
        return next(found, math.inf)

    one, other = reading(first, 1), reading(second, 1)
    outcome = (
        Outcome.VERIFIED
        if one < reading(second, 0)
        else Outcome.REFUTED
        if other < reading(first, 0)
        else Outcome.INCONCLUSIVE
    )
    said = ["never below" if step == math.inf else f"below from step {step:g} on" for step in (one, other)]
    last = [curve.measured[-1].value for curve in (first, second)]
    detail = f"level {level:.3g}: {said[0]}, the other {said[1]}; they end at {last[0]:.3g} and {last[1]:.3g}"
    return Verdict(outcome, Evidence.SIMULATED, detail)


def rising(rises: Mapping[str, Measurement]) -> Verdict:
    """Decide whether all differences are positive."""
    detail = ", ".join(f"{rise.value:+.2g} ({name})" for name, rise in rises.items())
    return decided(detail, *(ends(rise) for rise in rises.values()))


def on_its_way(share: float, detail: str) -> Verdict:
    """Decide whether the share of a loss's total fall that is reached is between a half and nine tenths."""
    return replace(decided(detail, (share - 0.5, share - 0.5), (0.9 - share, 0.9 - share)), evidence=Evidence.COMPUTED)


def second_half(curve: Curve, losses: Mapping[int, float]) -> tuple[list[float], list[Measurement]]:
    """Return theory and measurements from the middle of training on."""
    late = len(curve.points) // 2
    return [losses[int(step)] for step in curve.points[late:]], list(curve.measured[late:])
