"""Verdicts on margins that are measured: known between two ends, up to a share of the false alarms that are allowed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from verify import Evidence, Measurement, Outcome, Verdict, chance

MOST_COMPARISONS = 10**6
"""Upper bound on the statistical comparisons of this folder, by which each one's share of the false alarms is cut."""
FAMILY = 200
"""Margins that share the false alarm: more than all captions have together."""
NEAR_SET = 0.95
"""The cosine with the ground truth from which on a matrix is near the set on which a floor is derived."""
NEAR_FLOOR = 1 / 2
"""The share of the floor by which a loss near it may be above it."""


def ends(measured: Measurement) -> tuple[float, float]:
    """Return the interval in which the mean lies, but for a share of the false alarms that are allowed."""
    half = chance(measured, FAMILY)
    return measured.value - half, measured.value + half


def decided(detail: str, *margins: tuple[float, float]) -> Verdict:
    """Return the verdict on margins known between two ends: all positive, one negative, or not decided.

    A margin of 0 is neither positive nor negative. Raises ValueError if no margin is given.
    """
    if not margins:
        raise ValueError(f"no margin to decide by: {detail}")
    if all(low > 0 for low, _ in margins):
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail)
    outcome = Outcome.REFUTED if any(high < 0 for _, high in margins) else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, detail)


def with_more_samples(decide: Callable[[int], Verdict]) -> Verdict:
    """Return the verdict of some samples; of four or sixteen times as many if fewer leave it open.

    `decide` is given how many times as many are drawn. Each is a comparison of its own.
    """
    verdict = decide(1)
    for more in (4, 16):
        if verdict.outcome is Outcome.INCONCLUSIVE:
            verdict = decide(more)
    return verdict


def above(large: Measurement, small: Measurement | float) -> tuple[float, float]:
    """Return the ends of the difference of two measurements."""
    low, high = ends(large)
    least, most = ends(small) if isinstance(small, Measurement) else (small, small)
    return low - most, high - least


def to_zero(
    end: Measurement, floor: tuple[float, float], cosines: Mapping[str, Measurement] = MappingProxyType({})
) -> Verdict:
    """Hold "converges to 0" against the least loss on the set on which theory speaks.

    Refuted where that is positive, the trained matrices are near the set, by their cosines with it, and the loss has
    come down near to it and not below. Of a run that is elsewhere theory says nothing, and one that may be at 0 leaves
    the claim open.
    """
    low, high = ends(end)
    least, most = floor
    far = [f"{name} is {found.value:.3g}" for name, found in cosines.items() if not found.value >= NEAR_SET]
    why = (
        "theory leaves 0 open"
        if least <= 0
        else "it may be 0"
        if low <= 0
        else f"not near the set: {', '.join(far)}"
        if far
        else "it is below: training has left the set"
        if high < least
        else "it has not come down near to that"
        if high > (1 + NEAR_FLOOR) * most
        else ""
    )
    said = f"; {why}" if why else ", and training is near"
    detail = f"ends at {end.value:.4g} (between {low:.4g} and {high:.4g}); least on the set {least:.4g}{said}"
    return Verdict(Outcome.INCONCLUSIVE if why else Outcome.REFUTED, Evidence.SIMULATED, detail)
