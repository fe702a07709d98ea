# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false
"""A claim in words, which the language cannot express: an argument may establish it, and trials may evaluate it."""

import math
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import sympy as sp

from verify.claims.defaults import ClauseDefaults
from verify.claims.question import Question
from verify.errors import NotExactError, TheoremError, UndecidedError, UndefinedError
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Enclosure, count_text

if TYPE_CHECKING:
    from numpy import random


class Trial(NamedTuple):
    """One trial of a claim in words.

    Parameters
    ----------
    margin
        The signed margin, a float or an exact number: negative if the claim is violated.
    error
        A bound on the margin's error or an estimate of it, finite and at least 0: margin < -error is a violation.
    tried
        The numbers or words that were tried, by name: the witness of a violation.

    Examples
    --------
    >>> from verify import Trial
    >>> Trial(-0.5, 1e-12, {"x": 0.25}).violates
    True
    """

    margin: Fraction | float
    error: Fraction | float = 0
    tried: Mapping[str, Any] = {}

    @property
    def violates(self) -> bool:
        """Whether the claim is violated beyond the error."""
        return self.margin < -self.error

    def witness(self) -> dict[str, Fraction | int | str]:
        """Return the tried values by name: exact numbers as they are, all else as text."""
        return {name: value if isinstance(value, int | Fraction) else str(value) for name, value in self.tried.items()}


Trials: TypeAlias = "Callable[[Instance, random.Generator], Iterator[Trial]]"
"""The trials of a claim at an instance; all their draws are from the generator."""


@dataclass(frozen=True)
class Evaluation:
    """Code that evaluates a claim in words at an instance, and a wrong variant of the claim that the code refutes.

    Parameters
    ----------
    trials
        The trials at an instance. The first trial that violates the claim refutes it; if none does, the claim is
        verified.
    wrong
        A variant of the claim's sentence that is false at the theorem's example.
    wrong_trials
        The trials of the wrong variant, by the same code with another number in it.
    draws
        Number of drawn trials; 0 if nothing is drawn. With drawn trials, the evidence is simulated.
    sampled
        Whether trials that are not drawn are a sample of the claim's cases, such as places on a run. The evidence is
        then simulated; if the trials are all cases at the instance, it is computed.
    limit
        Whether the claim is a limit, or holds eventually. Its trials are then a sample, and a violation leaves the
        claim undecided.

    Raises
    ------
    TheoremError
        For an empty sentence, or a negative number of draws.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from verify import Evaluation, Trial
    >>> def above(least):
    ...     def trials(instance, random):
    ...         while True:
    ...             u = random.uniform(-1, 1)
    ...             yield Trial(u**2 - least, 1e-15, {"u": u})
    ...     return trials
    >>> Evaluation(above(0.0), "u^2 >= 1/2 for all u in [-1, 1]", above(0.5), draws=100).draws
    100
    """

    trials: Trials
    wrong: str
    wrong_trials: Trials
    draws: int = 0
    sampled: bool = False
    limit: bool = False

    def __post_init__(self) -> None:
        if not self.wrong.strip():
            raise TheoremError("evaluation: the wrong variant has no text")
        if self.draws < 0:
            raise TheoremError(f"evaluation: draws {self.draws} must be at least 0")


@dataclass(frozen=True)
class _Seen:
    """The result of some trials: their number, the one with the smallest margin, and one that violates the claim.

    The first trial that violates the claim is the last one, and is then also `smallest`. If no trial violates the
    claim, `within` counts the trials with a negative margin within the error. `ended` is False if the time ran out
    before the last trial.
    """

    count: int = 0
    smallest: Trial | None = None
    violation: Trial | None = None
    ended: bool = True
    within: int = 0

    @property
    def margin(self) -> Enclosure | None:
        """The margin of `smallest` with its error; None without a trial, and if one of the two is not finite."""
        if self.smallest is None or any(_is_float(part) and not math.isfinite(part) for part in self.smallest[:2]):
            return None
        margin, error = Fraction(self.smallest.margin), Fraction(self.smallest.error)
        return Enclosure(margin - error, margin + error)


@dataclass(frozen=True)
class InWords(ClauseDefaults):
    """A claim in one sentence, such as a claim about all functions of a class; it is never a step.

    An argument may establish it. At an instance, the theorem's `Evaluation` for the claim's label evaluates it.

    Parameters
    ----------
    label
        The clause's name.
    says
        The claim.

    Raises
    ------
    TheoremError
        For an empty sentence.

    Examples
    --------
    >>> from verify import InWords
    >>> InWords("nets", "no net of this width has a smaller loss").text
    'no net of this width has a smaller loss'
    """

    quantifies: ClassVar[bool] = True

    label: str
    says: str

    def __post_init__(self) -> None:
        if not self.says.strip():
            raise TheoremError(f"clause {self.label}: has no text")

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield nothing."""
        yield from ()

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        return {"kind": "in_words", "label": self.label, "says": self.says}

    def evaluate(self, question: Question) -> ClauseResult:
        """Return the verdict of the evaluation's trials at the instance; undecided without an evaluation."""
        evaluation = question.evaluations.get(self.label)
        if not isinstance(evaluation, Evaluation):
            return ClauseResult.undecided(self, "in words: no evaluation is given")
        return self._tried(evaluation, question)

    def _tried(self, evaluation: Evaluation, question: Question) -> ClauseResult:
        from numpy.random import default_rng

        # The draws depend on the seed and the claim alone. If `draws` is 0, drawing is an error.
        random: Any = _NoDraws()
        if evaluation.draws:
            random = default_rng([*f"{question.seed} {self.label}: {self.says}".encode()])
        most = min(evaluation.draws, question.most_draws) if evaluation.draws else None
        try:
            with _one_thread():
                seen = _seen(islice(evaluation.trials(question.instance, random), most), question.budget.end)
        except (TheoremError, UndefinedError, UndecidedError, NotExactError, ZeroDivisionError):
            raise
        except (OverflowError, MemoryError) as error:
            # At this instance the trials leave the range of floats, or need more memory than there is.
            raise UndecidedError(f"evaluation of {self.label}: {type(error).__name__}: {error}") from error
        except Exception as error:
            raise TheoremError(f"evaluation of {self.label}: {type(error).__name__}: {error}") from error
        is_sample = evaluation.draws or evaluation.sampled or evaluation.limit
        fields: dict[str, Any] = {"margin": seen.margin, "draws": seen.count if is_sample else 0}
        if seen.violation is not None and evaluation.limit:
            why = f"trial {seen.count} violates it, which does not refute a limit"
            return ClauseResult.undecided(self, why, margin=seen.margin)
        if seen.violation is not None:
            witness = {**question.instance, **seen.violation.witness()}
            why = f"violated at trial {seen.count}"
            return ClauseResult.refuted(self, None, witness=witness, detail=why, **fields)
        if not seen.ended:
            return ClauseResult.undecided(self, f"the time ran out after {seen.count} trials", margin=seen.margin)
        if not seen.count:
            return ClauseResult.undecided(self, "nothing is tried at this instance")
        why = f"no violation in {count_text(seen.count, 'trial')}"
        why += f", {seen.within} of them within the error" if seen.within else ""
        return ClauseResult.verified(self, None, detail=why, **fields)

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return infinity: a search has no margin to compare instances by."""
        return math.inf


def in_words(statement: Statement) -> frozenset[str]:
    """Return the labels of a statement's claims in words."""
    return frozenset(claim.label for claim in statement.claims if isinstance(claim, InWords))


def _is_float(number: Fraction | float) -> bool:
    """Whether a number is a float, which may be infinite or NaN; an exact number may be too large for a float."""
    return not isinstance(number, int | Fraction)


def _seen(trials: Iterator[Trial], end: float) -> _Seen:
    """Read trials until one violates the claim, or the time is over. Raises UndefinedError like `_plain`."""
    count, within, smallest = 0, 0, None
    for count, each in enumerate(trials, 1):
        trial = _plain(each, count)
        within += -trial.error <= trial.margin < 0
        if smallest is None or trial.margin < smallest.margin:
            smallest = trial
        if trial.violates:
            return _Seen(count, trial, trial)
        if time.monotonic() > end:
            return _Seen(count, smallest, ended=next(trials, None) is None, within=within)
    return _Seen(count, smallest, within=within)


def _plain(trial: Trial, number: int) -> Trial:
    """Return a trial whose margin and error are exact or floats. Raises UndefinedError for a NaN or a bad error."""
    margin, error = (part if isinstance(part, int | Fraction) else float(part) for part in trial[:2])
    if _is_float(margin) and math.isnan(margin):
        raise UndefinedError(f"the margin of trial {number} is not a number")
    if not error >= 0 or (_is_float(error) and math.isinf(error)):
        raise UndefinedError(f"the error of trial {number} is {error}, and must be finite and at least 0")
    return Trial(margin, error, trial.tried)


@contextmanager
def _one_thread() -> Generator[None]:
    """Limit BLAS to one thread: several threads add in another order, and wait for busy cores."""
    # NumPy and SciPy each have a BLAS, and a limit applies only to libraries that are loaded already.
    for name in ("numpy", "scipy.linalg"):
        import_module(name)
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> Any:
    """Return the controller of the loaded libraries with threads; further imports of modules need a new one."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _NoDraws:
    """A replacement of the random generator for trials that must not draw: each use raises TheoremError."""

    def __getattr__(self, name: str) -> Any:
        raise TheoremError(f"an evaluation without draws uses random.{name}: say how many trials it draws")
