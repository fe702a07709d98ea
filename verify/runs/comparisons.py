"""Comparisons: what a theorem says, held against what an experiment measures."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from verify.checking.registry import load
from verify.errors import TheoremError
from verify.outcomes import Evidence, Outcome
from verify.runs.devices import device_named
from verify.runs.experiments import ExperimentResult
from verify.runs.measurements import Measurement, Predicted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Drawn = TypeVar("Drawn")

FALSE_ALARM = 1e-6
"""Chance that any of a family of statistical comparisons fails although theory and simulation agree."""

_WORST = (Outcome.REFUTED, Outcome.INCONCLUSIVE, Outcome.VERIFIED)


@dataclass(frozen=True)
class Verdict:
    """Whether theory and measurement agree, what that rests on, and by how much they differ.

    `computed` is for deterministic float64 whose tolerance is derived in a comment; all else is
    `simulated`. Stronger evidence needs a proof or an enclosure, which a comparison never is.
    `instances` are distinct ones, `trainings` whole trainings, and `ratio` is the largest deviation over what is
    allowed, None where it was not measured.
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
        """Return verified or refuted."""
        return Verdict(Outcome.VERIFIED if holds else Outcome.REFUTED, evidence, detail)

    @staticmethod
    def within(deviation: float, allowed: float, what: str, evidence: Evidence) -> "Verdict":
        """Return whether a deviation is within what is allowed, which is above 0; one that is not finite is refuted."""
        holds = deviation <= allowed < math.inf
        detail = f"{what} off by {deviation:.2e}, allowed {allowed:.2e}"
        ratio = deviation / allowed if math.isfinite(deviation) and 0 < allowed < math.inf else math.inf
        return replace(Verdict.when(holds, detail, evidence), ratio=ratio)

    @property
    def holds(self) -> bool:
        """Whether it is verified."""
        return self.outcome is Outcome.VERIFIED


@dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """A comparison as it ran."""

    id: str
    theorem: str | None
    outcome: Outcome
    evidence: Evidence
    detail: str
    instances: int
    device: str
    seed: int
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """A theorem's value against a measurement.

    Parameters
    ----------
    id, title
        `paper.name`, and one line that says what agrees.
    theorem, experiment
        Ids of the theorem and of the experiment; None where a paper's claim is no theorem of the library, and where it
        simulates without a named experiment.
    compare
        `compare(device=…, full=…, seed=…)`, with the device `cpu` or `cuda`; returns a `Verdict`.
    devices
        Where it can run: asked for another one, it runs on the first of these, and says so.
    """

    id: str
    title: str
    theorem: str | None
    experiment: str | None
    compare: Callable[..., Verdict]
    devices: tuple[str, ...] = ("cpu", "cuda")

    def run(self, *, device: str = "auto", full: bool = False, seed: int = 0) -> ComparisonResult:
        """Compare. Raises InputError for a device that is not there."""
        device = device_named(device)
        device = device if device in self.devices else self.devices[0]
        started = time.monotonic()
        verdict = self.compare(device=device, full=full, seed=seed)
        seconds = time.monotonic() - started
        said = {name: getattr(verdict, name) for name in ("outcome", "evidence", "detail", "instances")}
        return ComparisonResult(id=self.id, theorem=self.theorem, **said, device=device, seed=seed, seconds=seconds)


@dataclass(frozen=True)
class Prediction:
    """What theory says of an experiment's curves, to be drawn over them.

    Parameters
    ----------
    id, title
        The experiment's id, and one line that says what is predicted.
    predict
        `predict(result)`: named curves with the axes of the result's, none where theory has nothing to say of its
        settings.
    """

    id: str
    title: str
    predict: Callable[[ExperimentResult], Mapping[str, Predicted]]


def student_bound(samples: int, comparisons: int) -> float:
    """Return the t that one of `comparisons` means of `samples` values exceeds by chance with its share of FALSE_ALARM.

    Two-sided, Student with samples − 1 degrees of freedom; by the union bound the comparisons need
    not be independent. Raises TheoremError for fewer than two samples or one comparison.
    """
    if samples < 2 or comparisons < 1:
        raise TheoremError("a bound on t needs at least two samples and one comparison")
    # SciPy is heavy, as is Hypothesis below: both are loaded where they are used.
    from scipy import stats

    return float(stats.t.isf(FALSE_ALARM / comparisons / 2, samples - 1))


def chance(measured: Measurement, comparisons: int) -> float:
    """Return how far a mean may be off by chance, `comparisons` sharing FALSE_ALARM; inf where its error is unknown."""
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
        The value claimed, and the one found.
    comparisons
        Size of the family that shares FALSE_ALARM.
    rounding
        Bound on the rounding in the difference; all that is allowed where the standard error is 0.
    resolution
        The largest difference that may pass. Where chance alone could hide more, agreement is
        inconclusive; a difference beyond chance is refuted all the same.
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
    """Return the worst outcome of some named verdicts on one instance, with the name and detail of the first of it.

    The verdicts are asked for one by one, and none after a refuted one. The last speaks where all hold.
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
    """Return what `all_of` does of verdicts on distinct instances, by which they are named."""
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
    """Carries a refuted verdict out of Hypothesis, which looks for a simpler instance."""


def over_drawn(
    strategy: "SearchStrategy[Drawn]",
    compare: Callable[[Drawn], Verdict],
    *,
    examples: int,
    seed: int,
    shrink: bool = True,
) -> Verdict:
    """Compare at instances that a Hypothesis strategy draws from a seed; what fails is shrunk, if so asked, and named.

    Inconclusive where fewer than `examples` instances could be drawn, or one is inconclusive. Draws
    should be cheap; work belongs in `compare`.
    """
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
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
        # The last refuted one is the simplest; flaky where the same instance passed when run again (CUDA).
        name, refuted = [pair for pair in tried if pair[1].outcome is Outcome.REFUTED][-1]
        return replace(refuted, detail=f"{name}: {refuted.detail}", instances=_distinct(tried))
    if len(tried) < examples:
        evidence = Evidence.weakest([verdict.evidence for _, verdict in tried] or [Evidence.SIMULATED])
        return Verdict(Outcome.INCONCLUSIVE, evidence, f"{len(tried)} of {examples} instances drawn", _distinct(tried))
    return over_instances(tried)


def _distinct(tried: Iterable[tuple[object, Verdict]]) -> int:
    return len({str(name) for name, _ in tried})


def load_comparison(reference: str) -> Comparison:
    """Return the comparison of an id. Raises InputError where there is none."""
    return load("comparison", Comparison, reference)


def load_prediction(reference: str) -> Prediction:
    """Return what theory predicts of an experiment, by the experiment's id. Raises InputError where it does not."""
    return load("prediction", Prediction, reference)
