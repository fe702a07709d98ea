"""Comparisons of a theorem's values with an experiment's measurements."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from verify.checking.registry import load
from verify.language.labels import TITLE, refuse_bad_id, refuse_bad_text
from verify.outcomes import Evidence, Outcome
from verify.runs.devices import device_named
from verify.runs.experiments import ExperimentResult
from verify.runs.measurements import Predicted
from verify.runs.verdicts import Verdict


@dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """The result of a comparison.

    Parameters
    ----------
    id, theorem
        Ids of the comparison and of its theorem; `theorem` is None without a theorem.
    outcome, evidence
        Whether theory and measurement agree, and the evidence for this.
    detail
        The finding, in one line.
    instances
        Number of distinct instances.
    device, seed
        The device of the comparison, and the seed of the random numbers.
    seconds
        Duration of the comparison, in seconds.

    Examples
    --------
    >>> from verify import ComparisonResult, Evidence, Outcome
    >>> found = {"outcome": Outcome.VERIFIED, "evidence": Evidence.SIMULATED, "detail": "agree", "instances": 3}
    >>> ComparisonResult(id="user.a", theorem=None, device="cpu", seed=0, seconds=0.1, **found).instances
    3
    """

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
    """A comparison of a theorem's value with a measurement.

    Parameters
    ----------
    id, title
        `paper.name`, and one line on the quantities that agree.
    theorem, experiment
        Ids of the theorem and of the experiment; None for a paper's claim that is no theorem of the library, and for
        simulations without a named experiment.
    compare
        `compare(device=…, full=…, seed=…)`, with the device `cpu` or `cuda`; returns a `Verdict`.
    devices
        The devices on which the comparison can run. If another device is requested, the comparison runs on the
        first of these, and the result says so.

    Raises
    ------
    TheoremError
        For a bad id, and for a title that is not one line of text.

    Examples
    --------
    >>> from verify import Comparison, Evidence, Outcome, Verdict
    >>> def compare(*, device, full, seed):
    ...     return Verdict(Outcome.VERIFIED, Evidence.COMPUTED, "0.5 on both sides")
    >>> half = Comparison("user.half", "both are 0.5", None, None, compare, devices=("cpu",))
    >>> str(half.run(device="cpu", full=False, seed=0).outcome)
    'verified'
    """

    id: str
    title: str
    theorem: str | None
    experiment: str | None
    compare: Callable[..., Verdict]
    devices: tuple[str, ...] = ("cpu", "cuda")

    def __post_init__(self) -> None:
        refuse_bad_id("comparison", self.id)
        refuse_bad_text(f"comparison {self.id}: title", self.title, TITLE)

    def run(self, *, device: str = "auto", full: bool = False, seed: int = 0) -> ComparisonResult:
        """Run the comparison. Raises InputError for a device that is not available."""
        device = device_named(device)
        device = device if device in self.devices else self.devices[0]
        started = time.monotonic()
        verdict = self.compare(device=device, full=full, seed=seed)
        seconds = time.monotonic() - started
        said = {name: getattr(verdict, name) for name in ("outcome", "evidence", "detail", "instances")}
        return ComparisonResult(id=self.id, theorem=self.theorem, **said, device=device, seed=seed, seconds=seconds)


@dataclass(frozen=True)
class Prediction:
    """Theory's prediction for an experiment's curves, drawn over the curves.

    Parameters
    ----------
    id, title
        The experiment's id, and one line on the predicted quantities.
    predict
        `predict(result)` returns named curves with the axes of the result's curves; none if theory says nothing about
        the result's settings.

    Raises
    ------
    TheoremError
        For a bad id, and for a title that is not one line of text.

    Examples
    --------
    >>> from verify import Predicted, Prediction
    >>> flat = Predicted("steps", "loss", (1,), (0,), (0,))
    >>> theory = Prediction("user.flat", "a constant loss", lambda result: {"loss": flat})
    >>> theory.predict(None)["loss"].lower
    (0,)
    """

    id: str
    title: str
    predict: Callable[[ExperimentResult], Mapping[str, Predicted]]

    def __post_init__(self) -> None:
        refuse_bad_id("prediction", self.id)
        refuse_bad_text(f"prediction {self.id}: title", self.title, TITLE)


def load_comparison(reference: str) -> Comparison:
    """Return a comparison.

    Parameters
    ----------
    reference
        The comparison's id.

    Returns
    -------
    Comparison
        The comparison.

    Raises
    ------
    InputError
        If no comparison has this id.

    Examples
    --------
    >>> import verify
    >>> verify.load_comparison("wang2024.lemma1_gradient_at_length").theorem
    'wang2024.lemma1'
    """
    return load("comparison", Comparison, reference)


def load_prediction(reference: str) -> Prediction:
    """Return theory's prediction of an experiment.

    Parameters
    ----------
    reference
        The experiment's id.

    Returns
    -------
    Prediction
        The prediction.

    Raises
    ------
    InputError
        For an experiment without a prediction.

    Examples
    --------
    >>> import verify
    >>> verify.load_prediction(verify.ids("prediction")[0]).id in verify.ids("experiment")
    True
    """
    return load("prediction", Prediction, reference)
