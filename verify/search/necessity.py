"""The need for each hypothesis of a theorem, found by leaving out one hypothesis at a time.

A hypothesis is needed if a claim is refuted, with a certificate, at an instance that violates the hypothesis and
satisfies all others. It is redundant if every claim is proved for all parameters without it or argued without using it,
or if the others imply it. Otherwise it is undecided, and the result gives the reason, such as the effort of the search.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal

from verify.budget import ended, require_effort, until
from verify.checking.certificates import certificate
from verify.checking.processes.location import Located, loaded, located_for_others
from verify.checking.standing import argued_without
from verify.checking.theorem import Theorem
from verify.claims.inequality import Inequality
from verify.errors import InputError, NoInstanceError, OutOfTimeError
from verify.evaluation.instances import evaluate_hypothesis, parse
from verify.executor import gathered, workers
from verify.language.parameters import Value, simplest_between
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import (
    CheckResult,
    ClauseResult,
    Evidence,
    Outcome,
    Quantity,
    Trust,
    assignments_text,
    count_text,
    how_sure,
    json_numbers,
)
from verify.search.explore import explore
from verify.search.limits import NECESSITY
from verify.search.narrowing import without
from verify.search.results import ExploreResult
from verify.search.simplify import Instance
from verify.search.thresholds import Approach, Relaxed, Threshold, broken, checked, ends, weakened_id
from verify.shown import Result, Shown, Tabled

Status = Literal["needed", "redundant", "undecided"]
_EVERY_CLAIM = "every claim is proved for all parameters without it"


@dataclass(frozen=True, repr=False)
class Need(Shown):
    """The result for one hypothesis.

    Parameters
    ----------
    label, kind, statement
        The hypothesis's label, kind and text.
    status, why
        needed, redundant or undecided; the reason in words, with the effort of a search that found no violation.
    varied
        Whether the hypothesis can be left out: a relation can, a structural hypothesis only if a parameter varies it.
    clause, witness, slack
        The clause that is refuted, the instance, and the hypothesis's slack there.
    thresholds, relaxed
        The values of each parameter between which violations begin, and the relaxed hypothesis; empty and None if
        they were not found.
    certificate
        The certificate of the statement without the hypothesis, None if there is none. If the hypothesis is needed, the
        only clause is `clause`, refuted at the witness. If it is redundant, the clauses are the proved ones, or the
        hypothesis itself.
    trusts
        The certificate's trusts beyond the re-checker's core.
    """

    label: str
    kind: str
    statement: str
    status: Status
    why: str
    varied: bool = True
    clause: str | None = None
    witness: Mapping[str, Value] | None = None
    slack: Quantity | None = None
    thresholds: tuple[Threshold, ...] = ()
    relaxed: Relaxed | None = None
    certificate: Mapping[str, object] | None = None
    trusts: tuple[Trust, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the result as an object of `verify necessity --json`."""
        plain = ("label", "kind", "statement", "status", "why", "varied", "clause")
        return {
            **{name: getattr(self, name) for name in plain},
            "witness": None if self.witness is None else json_numbers(self.witness),
            **json_numbers({"slack": self.slack}),
            "thresholds": [threshold.to_json() for threshold in self.thresholds],
            "relaxed": self.relaxed and self.relaxed.to_json(),
            "trusts": [trust._asdict() for trust in self.trusts],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class NecessityResult(Result, Tabled):
    """The result for each hypothesis of a theorem; after an interrupt, for the hypotheses decided before it."""

    theorem: str
    statement_digest: str
    hypotheses: tuple[Need, ...]
    seconds: float
    seed: int
    interrupted: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify necessity --json`, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "hypotheses": [need.to_json() for need in self.hypotheses],
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "interrupted": self.interrupted,
        }


def necessity(
    theorem: Theorem,
    *,
    seconds: float = NECESSITY.seconds,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> NecessityResult:
    """Decide whether each hypothesis is needed, redundant or undecided.

    Parameters
    ----------
    seconds
        Seconds of search for each hypothesis. Certifying a violation may take the time left, or 0.4 · `seconds` if
        that is longer.
    seed
        Seed of the draws.
    jobs, scheduler
        Number of local processes that decide hypotheses, or the address of a Dask scheduler whose workers do. Each
        process decides one hypothesis at a time.
    tell
        Called as `tell(done, total)` with the progress, in hypotheses.

    Raises
    ------
    InputError
        If `seconds` is not positive, the scheduler does not answer, or other processes cannot load the theorem.
    """
    require_effort(seconds=seconds)
    started, hypotheses = time.monotonic(), theorem.statement.hypotheses
    with workers(jobs, scheduler) as others:
        decided = partial(_decided_by_label, located_for_others(theorem) if others else theorem)
        needs, interrupted = gathered(others, decided, [(h.label, seconds, seed) for h in hypotheses], tell)
    return NecessityResult(
        theorem=theorem.id,
        statement_digest=theorem.statement.digest,
        hypotheses=tuple(needs),
        seconds=time.monotonic() - started,
        seed=seed,
        interrupted=interrupted,
    )


def _decided_by_label(theorem: Theorem | Located, label: str, seconds: float, seed: int) -> tuple[Need, bool]:
    made = loaded(theorem)
    return _decided(made, next(each for each in made.statement.hypotheses if each.label == label), seconds, seed)


def _decided(theorem: Theorem, hypothesis: Hypothesis, seconds: float, seed: int) -> tuple[Need, bool]:
    """Return the result for a hypothesis, and whether Ctrl-C stopped the work on it."""
    deadline = time.monotonic() + seconds
    shown = (hypothesis.label, hypothesis.kind, hypothesis.statement)
    if hypothesis.relation is None and hypothesis.varies is None:
        return Need(*shown, "undecided", "structural: not tested", varied=False), False
    weaker = without(theorem.statement, [hypothesis.label])
    # Steps are left out, because a step and the claims may need different hypotheses.
    statement = weaker.alone(*weaker.claims)
    if proof := shown_without(theorem, statement, hypothesis, deadline):
        return _redundant(shown, *proof), False
    try:
        with until(deadline):
            label, violation, effort = ended(deadline, _beside_the_example, theorem, statement, hypothesis, deadline)
    except OutOfTimeError as error:
        label, violation, effort = "", None, f"beside the example {error}"
    if violation is None:
        # After a violation, the rest of the time is spent on approaching the hypothesis. After an argument, a short
        # search follows, because a certified violation would count for more than prose.
        argued = argued_anyway(theorem, weaker, hypothesis, max(deadline, time.monotonic() + 1))
        left = max(deadline - time.monotonic(), 1.0)
        left = left if argued is None else min(left, NECESSITY.beside_argument)
        label, violation, searched = _searched(theorem, statement, hypothesis, left, seed)
        effort = ", ".join(filter(None, (effort, searched)))
        if violation is None and argued is not None:
            return _redundant(shown, *argued), False
    if violation is None:
        return Need(*shown, "undecided", f"no violation found: {effort}"), False
    approach = Approach(theorem, statement, hypothesis, label, violation, deadline)
    stopped = False
    try:
        with until(deadline):
            ended(deadline, approach.run, seed)
    except OutOfTimeError:
        # The results so far are kept, as after Ctrl-C.
        pass
    except KeyboardInterrupt:
        stopped = True
    return _needed(shown, label, approach, seconds), stopped


def _needed(shown: tuple[str, str, str], label: str, approach: Approach, seconds: float) -> Need:
    if approach.inside is not None:
        return Need(*shown, "undecided", f"{label} is refuted with it as well, at {assignments_text(approach.inside)}")
    result, held, sure = approach.certified(approach.witness, seconds)
    if not sure or held.holds is not False:
        place = assignments_text(approach.witness)
        why = f"{label} seems to fail past the hypothesis, at {place}; this was not certified"
        return Need(*shown, "undecided", why)
    return Need(
        *shown,
        "needed",
        f"without it {label} is refuted, {how_sure(Evidence.CERTIFIED, result.trusts)}",
        True,
        label,
        approach.witness,
        held.slack,
        tuple(approach.thresholds.values()),
        approach.relaxed,
        certificate(approach.weakened, result),
        result.trusts,
    )


def _redundant(
    shown: tuple[str, str, str], why: str, proved: Mapping[str, object] | None, trusts: Iterable[Trust]
) -> Need:
    trusts = tuple(sorted(trusts))
    return Need(*shown, "redundant", how_sure(why, trusts), certificate=proved, trusts=trusts)


def _trusts(clauses: Iterable[ClauseResult]) -> set[Trust]:
    """Return the trusts of proofs for all parameters, without the trusts of the hypotheses at an instance."""
    return {trust for clause in clauses for trust in clause.trusts}


def shown_without(
    theorem: Theorem, statement: Statement, hypothesis: Hypothesis, deadline: float
) -> tuple[str, Mapping[str, object], set[Trust]] | None:
    """Return the reason why a hypothesis is not needed, the proof, and its trusts; None if no proof is found."""
    ways = [(_EVERY_CLAIM, statement)]
    if hypothesis.relation is not None:
        implied = statement.alone(Inequality(hypothesis.label, hypothesis.relation))
        ways.insert(0, ("the others imply it: proved for all parameters", implied))
    for why, claimed in ways:
        variant = replace(theorem.variant(claimed), id=weakened_id(theorem.id, hypothesis.label), values={})
        seconds = min(NECESSITY.check_seconds, deadline - time.monotonic())
        if seconds > 0:
            try:
                result = checked(variant, theorem.example, seconds)
            except InputError:
                # A default of the example takes longer to compute than the time left.
                continue
            if all(clause.evidence is Evidence.PROVED and clause.holds for clause in result.clauses):
                return why, certificate(variant, result), _trusts(result.clauses)
    return None


def argued_anyway(
    theorem: Theorem, weaker: Statement, hypothesis: Hypothesis, deadline: float
) -> tuple[str, Mapping[str, object] | None, set[Trust]] | None:
    """Return the reason why every claim holds without a hypothesis, the proof of the proved part, and the trusts.

    The result is None if there is no argument or no time, if the example has no values in time, or if the argument does
    not establish the claims without the hypothesis. The proof is None if no clause is proved, as when the argument uses
    only other theorems.
    """
    seconds = min(NECESSITY.check_seconds, deadline - time.monotonic())
    if not theorem.argument or seconds <= 0:
        return None
    variant = replace(theorem.variant(weaker), id=weakened_id(theorem.id, hypothesis.label), values={})
    try:
        result = checked(variant, theorem.example, seconds)
    except InputError:
        return None
    shown = tuple(clause for clause in result.clauses if clause.evidence is Evidence.PROVED and clause.holds)
    established = argued_without(theorem, hypothesis.label, {clause.label: clause.trusts for clause in shown})
    if established is None:
        return None
    why, trusts = f"every claim is shown without it: {established.standing}", {*established.trusts, *_trusts(shown)}
    if not shown:
        return why, None, trusts
    proved = weaker.alone(*(clause for clause in weaker.clauses if clause.label in {each.label for each in shown}))
    return why, certificate(variant.variant(proved), replace(result, clauses=shown)), trusts


def _beside_the_example(
    theorem: Theorem, statement: Statement, hypothesis: Hypothesis, deadline: float
) -> tuple[str, Instance | None, str]:
    """Look for a violation past the hypothesis: move the example along each of the hypothesis's parameters in turn.

    Return the refuted clause ("" for none), the instance (None for none), and the effort in words.
    """
    half = time.monotonic() + (deadline - time.monotonic()) / 2
    try:
        with until(half):
            start, tried = parse(theorem.statement, theorem.example), 0
    except InputError as error:
        return "", None, f"the example has no values: {error}"
    variant = replace(theorem.variant(statement), values={})
    for name, end in ends(theorem.statement, hypothesis, start):
        whole = next(p for p in statement.parameters if p.name == name).kind == "integer"
        outward = 1 if Fraction(start[name]) <= end else -1
        for share in NECESSITY.past:
            step = share * abs(end) if end else share
            value = end + outward * (max(1, round(step)) if whole else step)
            nearby = value - step / 10, value + step / 10
            value = (math.floor if outward > 0 else math.ceil)(value) if whole else simplest_between(*nearby)
            seconds = min(NECESSITY.check_seconds, half - time.monotonic())
            if seconds <= 0:
                break
            try:
                result = checked(variant, {**start, name: value}, seconds)
            except InputError:
                continue
            tried += 1
            label = _refuted_past(theorem, hypothesis, result)
            if label:
                return label, dict(result.instance), ""
    return "", None, f"{count_text(tried, 'instance')} beside the example" if tried else ""


def _effort(result: ExploreResult) -> str:
    """Return the effort of a search in words: instances, verdicts unless all are clean, seed, and a timeout."""
    late = result.stopped == "seconds"
    if late and not result.examples:
        return "in the search the time ran out before the first instance"
    verdicts = "" if result.clean == result.examples else f" ({result.verdicts})"
    return f"{count_text(result.examples, 'instance')}{verdicts}, seed {result.seed}" + ", the time ran out" * late


def _refuted_past(theorem: Theorem, hypothesis: Hypothesis, result: CheckResult) -> str:
    """Return the first clause refuted at an instance that violates only this hypothesis; "" if there is none."""
    specialised = theorem.statement.specialise(hypothesis, result.instance)
    refuted = [clause.label for clause in result.clauses if clause.outcome is Outcome.REFUTED]
    past = refuted and result.in_scope and evaluate_hypothesis(specialised, result.instance).holds is False
    return refuted[0] if past else ""


def _searched(
    theorem: Theorem, statement: Statement, hypothesis: Hypothesis, seconds: float, seed: int
) -> tuple[str, Instance | None, str]:
    """Search among instances that violate the hypothesis.

    If the hypothesis is not an inequality, or no such instance is tried, search the statement without the hypothesis.
    The result has the form that `_beside_the_example` describes.
    """
    past, deadline = broken(hypothesis), time.monotonic() + seconds
    within = [] if past is None else [replace(statement, hypotheses=(*statement.hypotheses, past))]
    result, why = None, ""
    for kept in (*within, statement):
        try:
            left = max(deadline - time.monotonic(), NECESSITY.least_seconds)
            result = explore(theorem.variant(kept), {}, seconds=left, seed=seed)
        except NoInstanceError as error:
            why = str(error)
            continue
        if result.interrupted:
            raise KeyboardInterrupt
        if result.examples:
            break
    if result is None:
        return "", None, why
    effort = _effort(result)
    if result.counterexample is None or result.clause is None:
        least = result.smallest_margin
        effort += "" if least is None or least <= 0 else f", smallest relative margin {least:.3g}"
        return "", None, effort
    violation = dict(result.counterexample)
    if evaluate_hypothesis(theorem.statement.specialise(hypothesis, violation), violation).holds is not False:
        return "", None, f"{effort}: {result.clause.label} fails with the hypothesis as well"
    return result.clause.label, violation, effort
