"""Verdicts on measured margins, which are intervals; each errs with at most its share of the allowed false alarms."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from verify import Evidence, Measurement, Outcome, Verdict, chance

MOST_COMPARISONS = 10**6
"""Upper bound on the number of this folder's statistical comparisons, which share the allowed false alarms."""
FAMILY = 200
"""Number of margins that share the allowed false alarms: all captions together have fewer."""
NEAR_SET = 0.95
"""Least cosine with the ground truth at which a matrix counts as near the set on which a floor is derived."""
NEAR_FLOOR = 1 / 2
"""A loss counts as near the floor if it exceeds the floor by at most this share of the floor."""


def ends(measured: Measurement) -> tuple[float, float]:
    """Return an interval that contains the mean, except with probability FALSE_ALARM / FAMILY."""
    half = chance(measured, FAMILY)
    return measured.value - half, measured.value + half


def decided(detail: str, *margins: tuple[float, float]) -> Verdict:
    """Return the verdict on intervals of margins: verified if all are positive, refuted if one is negative.

    Otherwise it is inconclusive. A margin of 0 is neither positive nor negative. Raises ValueError if no margin is
    given.
    """
    if not margins:
        raise ValueError(f"no margin to decide by: {detail}")
    if all(low > 0 for low, _ in margins):
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail)
    outcome = Outcome.REFUTED if any(high < 0 for _, high in margins) else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, detail)


def with_more_samples(decide: Callable[[int], Verdict]) -> Verdict:
    """Return `decide(1)`; while it is inconclusive, `decide(4)` and then `decide(16)`.

    The argument multiplies the number of samples that are drawn. Each call counts as a separate comparison.
    """
    verdict = decide(1)
    for more in (4, 16):
        if verdict.outcome is Outcome.INCONCLUSIVE:
            verdict = decide(more)
    return verdict


def above(large: Measurement, small: Measurement | float) -> tuple[float, float]:
    """Return the ends of the interval of `large` − `small`."""
    low, high = ends(large)
    least, most = ends(small) if isinstance(small, Measurement) else (small, small)
    return low - most, high - least


def to_zero(
    end: Measurement, floor: tuple[float, float], cosines: Mapping[str, Measurement] = MappingProxyType({})
) -> Verdict:
    """Compare "converges to 0" with `floor`, bounds on the least loss on the set that theory describes.

    The claim is refuted if the floor is positive, the loss at the end is positive, near the floor and not below it, and
    the cosines of the trained matrices with the set show them near it. Otherwise it is left open: theory says nothing
    about a run that ends away from the set.
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
