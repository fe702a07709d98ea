"""Verdicts on margins that are measured: known between two ends, up to a share of the false alarms that are allowed."""

from verify import Evidence, Measurement, Outcome, Verdict, student_bound

MOST_COMPARISONS = 10**6
"""Upper bound on the statistical comparisons of this folder, by which each one's share of the false alarms is cut."""


def ends(measured: Measurement) -> tuple[float, float]:
    """Return the interval in which the mean lies, but for a share of the false alarms that are allowed."""
    if not measured.standard_error:
        return measured.value, measured.value
    half = student_bound(measured.samples, MOST_COMPARISONS) * measured.standard_error
    return measured.value - half, measured.value + half


def decided(detail: str, *margins: tuple[float, float]) -> Verdict:
    """Return the verdict on margins known between two ends: all positive, one negative, or not decided."""
    if all(low >= 0 for low, _ in margins):
        return Verdict(Outcome.VERIFIED, Evidence.SIMULATED, detail)
    outcome = Outcome.REFUTED if any(high < 0 for _, high in margins) else Outcome.INCONCLUSIVE
    return Verdict(outcome, Evidence.SIMULATED, detail)


def above(large: Measurement, small: Measurement | float) -> tuple[float, float]:
    """Return the ends of the difference of two measurements."""
    low, high = ends(large)
    least, most = ends(small) if isinstance(small, Measurement) else (small, small)
    return low - most, high - least


def to_zero(end: Measurement, floor: tuple[float, float]) -> Verdict:
    """Hold "converges to 0" against the least loss on the set.

    Refuted where that is positive and training ended where theory lets it. Where it ended below, training has left the
    set, and where the bound is 0, nothing is known: the claim is open.
    """
    low, high = ends(end)
    detail = f"ends at {end.value:.4g} (between {low:.4g} and {high:.4g}); least on the set {floor[0]:.4g}"
    refuted = floor[0] > 0 and low > 0 and high >= floor[0]
    return Verdict(Outcome.REFUTED if refuted else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)
