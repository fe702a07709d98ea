"""Verdicts: agreement of measurements with theory, bounds on chance deviations, and the worst of several verdicts."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from verify.errors import TheoremError
from verify.outcomes import Evidence, Outcome
from verify.runs.measurements import Measurement

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Drawn = TypeVar("Drawn")


FALSE_ALARM = 1e-6
"""Maximum probability that any of a family of statistical comparisons fails although theory and simulation agree."""


_WORST = (Outcome.REFUTED, Outcome.INCONCLUSIVE, Outcome.VERIFIED)


@dataclass(frozen=True)
class Verdict:
    """The agreement of theory and measurement, its evidence, and the size of the difference.

    By convention the evidence is `computed` for a deterministic float64 computation whose tolerance is derived in a
    comment beside the comparison, else `simulated`. Stronger evidence needs a proof or an enclosure; a comparison is
    neither.

    Parameters
    ----------
    outcome, evidence
        The verdict, and the kind of evidence for it.
    detail
        One line for people.
    instances, trainings
        Numbers of distinct instances and of whole trainings.
    ratio
        The largest deviation divided by the tolerance; None if it was not measured.

    Raises
    ------
    TheoremError
        For an outcome out of scope, and for evidence stronger than `computed`.

    Examples
    --------
    >>> from verify import Evidence, Outcome, Verdict
    >>> Verdict(Outcome.VERIFIED, Evidence.SIMULATED, "within two standard errors", ratio=0.4).ratio
    0.4
    """

    outcome: Outcome
    evidence: Evidence
    detail: str
    instances: int = 1
    trainings: int = 0
    ratio: float | None = None

    def __post_init__(self) -> None:
        if self.outcome not in _WORST:
            raise TheoremError(f"a comparison is verified, refuted or inconclusive, not {self.outcome}")
        if self.evidence not in (Evidence.COMPUTED, Evidence.SIMULATED):
            raise TheoremError(f"a comparison's evidence is computed or simulated, not {self.evidence}")

    @staticmethod
    def when(holds: bool, detail: str, evidence: Evidence) -> "Verdict":
        """Return a verified verdict if `holds`, else a refuted one."""
        return Verdict(Outcome.VERIFIED if holds else Outcome.REFUTED, evidence, detail)

    @staticmethod
    def within(deviation: float, allowed: float, what: str, evidence: Evidence) -> "Verdict":
        """Return a verified verdict if deviation <= allowed < inf, else a refuted one.

        Its ratio is deviation / allowed; inf if allowed <= 0, or if either number is not finite.
        """
        holds = deviation <= allowed < math.inf
        detail = f"{what} off by {deviation:.2e}, allowed {allowed:.2e}"
        ratio = deviation / allowed if math.isfinite(deviation) and 0 < allowed < math.inf else math.inf
        return replace(Verdict.when(holds, detail, evidence), ratio=ratio)

    @property
    def holds(self) -> bool:
        """Whether the verdict is verified."""
        return self.outcome is Outcome.VERIFIED


def student_bound(samples: int, comparisons: int) -> float:
    """Return the bound that |t| of one of several means exceeds by chance with probability FALSE_ALARM / comparisons.

    t has Student's distribution with samples − 1 degrees of freedom. By the union bound the comparisons need not be
    independent.

    Parameters
    ----------
    samples
        Number of independent values of each mean, from 2 on.
    comparisons
        Number of means, from 1 on.

    Returns
    -------
    float
        The bound on |t|.

    Raises
    ------
    TheoremError
        For fewer than two samples or one comparison.

    Examples
    --------
    >>> from verify import student_bound
    >>> student_bound(1000, 1) < student_bound(1000, 10) < student_bound(10, 10)
    True
    """
    if samples < 2 or comparisons < 1:
        raise TheoremError("a bound on t needs at least two samples and one comparison")
    # SciPy is heavy, as is Hypothesis below: both are imported by the functions that use them.
    from scipy import stats

    return float(stats.t.isf(FALSE_ALARM / comparisons / 2, samples - 1))


def chance(measured: Measurement, comparisons: int) -> float:
    """Return the largest deviation of a mean that is attributed to chance, at probability FALSE_ALARM / comparisons.

    Parameters
    ----------
    measured
        The mean, with its standard error.
    comparisons
        Number of comparisons that share FALSE_ALARM.

    Returns
    -------
    float
        The bound on the deviation; inf if the standard error is not known, 0 if it is 0.

    Raises
    ------
    TheoremError
        For fewer than one comparison, if the standard error is known and not 0.

    Examples
    --------
    >>> from verify import Measurement, chance
    >>> chance(Measurement(0.5), 10)
    0.0
    >>> 0.1 < chance(Measurement(0.5, 0.02, 100), 10) < 0.2
    True
    """
    if measured.standard_error is None:
        return math.inf
    return student_bound(measured.samples, comparisons) * measured.standard_error if measured.standard_error else 0.0


def agreement(
    theory: float, measured: Measurement, *, comparisons: int, rounding: float = 0.0, resolution: float = math.inf
) -> Verdict:
    """Decide whether a measurement agrees with theory.

    Parameters
    ----------
    theory, measured
        The claimed value, and the measurement.
    comparisons
        Size of the family of comparisons that shares the probability FALSE_ALARM of a false alarm.
    rounding
        Bound on the rounding error of the difference; it is the whole tolerance if the standard error is 0.
    resolution
        The largest tolerance at which agreement is verified; above it, agreement is inconclusive. A difference beyond
        the tolerance is refuted in any case.

    Returns
    -------
    Verdict
        Verified, refuted or inconclusive, with the ratio of the difference to the tolerance; inconclusive without a
        ratio if the difference or the tolerance is not finite.

    Raises
    ------
    TheoremError
        For fewer than one comparison, if the standard error is known and not 0.

    Examples
    --------
    >>> from verify import Measurement, agreement
    >>> str(agreement(0.5, Measurement(0.51, 0.02, 100), comparisons=10).outcome)
    'verified'
    >>> str(agreement(0.5, Measurement(0.91, 0.02, 100), comparisons=10).outcome)
    'refuted'
    """
    difference = abs(measured.value - theory)
    evidence = Evidence.COMPUTED if measured.standard_error == 0 else Evidence.SIMULATED
    tolerance = chance(measured, comparisons) + rounding
    detail = f"{measured.value:.6g} against {theory:.6g}: difference {difference:.2e}, tolerance {tolerance:.2e}"
    if not (math.isfinite(difference) and math.isfinite(tolerance)):
        return Verdict(Outcome.INCONCLUSIVE, evidence, detail)
    verdict = Verdict.when(difference <= tolerance, detail, evidence)
    if verdict.holds and tolerance > resolution:
        verdict = Verdict(Outcome.INCONCLUSIVE, evidence, f"{detail}, more than {resolution:.2e}")
    return replace(verdict, ratio=difference / tolerance if tolerance else math.inf if difference else 0.0)


def all_of(verdicts: Iterable[tuple[object, Verdict]]) -> Verdict:
    """Return the worst outcome of some named verdicts on one instance, with the first such verdict's name and detail.

    The verdicts are read one by one up to the first refuted one. If all hold, the name and detail are those of the last
    verdict.

    Parameters
    ----------
    verdicts
        Pairs of a name and a verdict.

    Returns
    -------
    Verdict
        The worst outcome, with the verdict's detail after its name; inconclusive without any verdict.

    Examples
    --------
    >>> from verify import Evidence, Outcome, Verdict, all_of
    >>> good = Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "equal")
    >>> bad = Verdict(Outcome.REFUTED, Evidence.COMPUTED, "off by 1")
    >>> print(all_of([("W", good), ("V", bad)]).detail)
    V: off by 1
    """
    seen = _until_refuted(verdicts)
    if not seen:
        return Verdict(Outcome.INCONCLUSIVE, Evidence.SIMULATED, "there is nothing to compare", 0)
    each = [verdict for _, verdict in seen]
    worst = min((verdict.outcome for verdict in each), key=_WORST.index)
    name, speaks = seen[-1] if worst is Outcome.VERIFIED else next(pair for pair in seen if pair[1].outcome is worst)
    ratios = [verdict.ratio for verdict in each if verdict.ratio is not None]
    return Verdict(
        worst,
        Evidence.weakest([verdict.evidence for verdict in each]),
        f"{name}: {speaks.detail}",
        trainings=sum(verdict.trainings for verdict in each),
        ratio=max(ratios, default=None),
    )


def over_instances(verdicts: Iterable[tuple[object, Verdict]]) -> Verdict:
    """Return `all_of` of verdicts that are named by their instances, with the number of distinct instances.

    Parameters
    ----------
    verdicts
        Pairs of an instance and a verdict.

    Returns
    -------
    Verdict
        The worst outcome, with its instance, and the numbers of instances and trainings; inconclusive without any
        verdict.

    Examples
    --------
    >>> from verify import Evidence, Outcome, Verdict, over_instances
    >>> same = Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "equal")
    >>> over_instances((n, same) for n in (1, 2, 3)).instances
    3
    """
    seen = _until_refuted(verdicts)
    return replace(all_of(seen), instances=_distinct(seen))


def _until_refuted(verdicts: Iterable[tuple[object, Verdict]]) -> list[tuple[object, Verdict]]:
    seen: list[tuple[object, Verdict]] = []
    for name, verdict in verdicts:
        seen.append((name, verdict))
        if verdict.outcome is Outcome.REFUTED:
            break
    return seen


class _RefutedError(Exception):
    """Signals a refuted instance to Hypothesis, which then looks for a simpler one."""


def over_drawn(
    strategy: "SearchStrategy[Drawn]",
    compare: Callable[[Drawn], Verdict],
    *,
    examples: int,
    seed: int,
    shrink: bool = True,
) -> Verdict:
    """Compare at instances that a Hypothesis strategy draws.

    Unless an instance is refuted, the verdict is inconclusive if fewer than `examples` instances could be drawn, or if
    the verdict on an instance is inconclusive. Draws should be fast; slow work belongs in `compare`.

    Parameters
    ----------
    strategy
        Draws the instances.
    compare
        `compare(instance)` returns a `Verdict`.
    examples
        Number of instances.
    seed
        Seed of the draws.
    shrink
        Whether a refuted instance is shrunk before it is reported.

    Returns
    -------
    Verdict
        The worst outcome, with its instance.

    Examples
    --------
    >>> from hypothesis import strategies
    >>> from verify import Evidence, Outcome, Verdict, over_drawn
    >>> same = Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "equal")
    >>> str(over_drawn(strategies.integers(1, 9), lambda n: same, examples=5, seed=0).outcome)
    'verified'
    """
    from hypothesis import HealthCheck, Phase, given, seed as seeded, settings
    from hypothesis.errors import Flaky

    from verify.seeded_draws import own_draws

    tried: list[tuple[object, Verdict]] = []

    @seeded(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=(HealthCheck.too_slow,),
    )
    @given(strategy)
    def every(drawn: Drawn) -> None:
        tried.append((drawn, compare(drawn)))
        if tried[-1][1].outcome is Outcome.REFUTED:
            raise _RefutedError

    try:
        with own_draws():
            every()
    except (_RefutedError, Flaky):
        # The last refuted instance is the simplest. Flaky is raised if the same instance passes on CUDA when run again.
        name, refuted = [pair for pair in tried if pair[1].outcome is Outcome.REFUTED][-1]
        return replace(refuted, detail=f"{name}: {refuted.detail}", instances=_distinct(tried))
    if len(tried) < examples:
        evidence = Evidence.weakest([verdict.evidence for _, verdict in tried] or [Evidence.SIMULATED])
        return Verdict(Outcome.INCONCLUSIVE, evidence, f"{len(tried)} of {examples} instances drawn", _distinct(tried))
    return over_instances(tried)


def _distinct(tried: Iterable[tuple[object, Verdict]]) -> int:
    return len({str(name) for name, _ in tried})
