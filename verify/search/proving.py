"""A theorem's standing for all parameters, with the gaps, and a counterexample if one is found."""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from verify.budget import proving, require_effort
from verify.checking.argument import Inference
from verify.checking.check import check, check_wrong
from verify.checking.formal.record import Kernel, recorded
from verify.checking.standing import established, established_by_extension, shipped_proofs
from verify.checking.theorem import Theorem
from verify.claims.first_passage import Reaches
from verify.claims.implication import Implication
from verify.claims.in_words import InWords
from verify.errors import InputError, NoInstanceError
from verify.evaluation.iteration import Progress
from verify.outcomes import (
    CheckResult,
    ClauseResult,
    Established,
    Evidence,
    ForAll,
    Outcome,
    assignments_text,
    json_numbers,
    standings,
)
from verify.search.explore import explore
from verify.search.limits import PROVE
from verify.search.proofs.reasons import Reasons, Searched, reasons_of
from verify.search.proofs.words import Evaluated, evaluated
from verify.search.simplify import Instance
from verify.shown import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class ProveResult(Result):
    """A theorem's standing for all parameters.

    Parameters
    ----------
    clauses
        The result of each clause at the theorem's example, with its standing for all parameters.
    for_all_parameters
        The standing of the claims.
    argument, extensions
        The theorem's inferences, and the inferences by which claims hold without some of its hypotheses.
    established_extensions
        The standing of the conclusion of each extension, given everything that the extension supposes.
    counterexample, refuted
        An instance in scope that refutes a claim, and the claim's result there; None if none was found.
    refuted_steps
        The steps that are refuted in scope, each with the instance. Everything that rests on such a step is open.
    checked
        The check at the example, from which a certificate can be written.
    shipped
        Proofs for all parameters that the theorem's package ships, by clause.
    told
        The lines of the proof of each clause whose kind of proof has lines, each as text and in LaTeX.
    explained
        Whether the lines of `told` explain every inference.
    reasons
        For each inequality or equation that is open and not refuted, if a proof of it was looked for: the attempts, the
        open parts and advice.
    searched
        The effort of the search for a counterexample, if it found none; None otherwise, or without a search.
    limit
        The time budget of `prove`, in seconds.
    evaluated
        For each unproved claim in words, the number of instances (the example and drawn ones) at which it is verified;
        None if none was evaluated or a counterexample was found.
    formal_texts
        The propositions for Rocq of each claim with a formal text, by name.
    not_formal
        The reason why a record of Rocq's acceptance does not count, or why Rocq refused a part.
    """

    theorem: str
    statement_digest: str
    clauses: tuple[ClauseResult, ...]
    for_all_parameters: Established
    argument: tuple[Inference, ...]
    extensions: tuple[Inference, ...]
    established_extensions: tuple[Established, ...]
    counterexample: Instance | None
    refuted: ClauseResult | None
    refuted_steps: Mapping[str, Instance]
    checked: CheckResult
    shipped: Mapping[str, Mapping[str, Any]]
    told: Mapping[str, tuple[tuple[str, str], ...]]
    explained: bool
    seconds: float
    reasons: Mapping[str, Reasons] = field(default_factory=dict[str, Reasons])
    searched: Searched | None = None
    limit: float = math.inf
    evaluated: Evaluated | None = None
    formal_texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    not_formal: str = ""

    @property
    def witness(self) -> Instance | None:
        """The counterexample, under the name that every kind of result uses; None without one."""
        return self.counterexample

    @property
    def exit_code(self) -> int:
        """1 for a counterexample, 3 if a claim is only stated or is open, else 0."""
        if self.counterexample is not None:
            return Outcome.REFUTED.exit_code
        return (Outcome.VERIFIED if self.for_all_parameters.standing.is_shown else Outcome.INCONCLUSIVE).exit_code

    @property
    def deductions(self) -> Mapping[str, tuple[str, ...]]:
        """The lines, as text, of the proof of each clause whose kind of proof has lines."""
        return {label: tuple(text for text, _ in lines) for label, lines in self.told.items()}

    @property
    def stopped(self) -> str:
        """The cause of the end: `refuted`, `proved`, `seconds`, `work`, `tried` or `open`.

        `tried`: each search for a deduction ended without a proof or was refused. `open`: there was no such search.
        """
        if self.counterexample is not None:
            return "refuted"
        if self.for_all_parameters.standing.is_shown:
            return "proved"
        ends = {reasons.record.ended for reasons in self.reasons.values()}
        if (
            self.seconds >= self.limit
            or "seconds" in ends
            or (self.searched and self.searched.found.stopped == "seconds")
        ):
            return "seconds"
        return "work" if "work" in ends else "tried" if self.reasons else "open"

    def how(self, clause: ClauseResult) -> str:
        """Return the means that establish a clause: its proof's kind, `argument` or `rocq`; "" if it is not shown."""
        standing = clause.for_all_parameters.standing
        if standing is ForAll.ARGUED:
            return "argument"
        if standing is ForAll.FORMAL:
            return "rocq"
        if standing is not ForAll.PROVED:
            return ""
        found = clause.proof if clause.evidence is Evidence.PROVED else self.shipped.get(clause.label)
        return "" if found is None else str(found["kind"])

    def detail(self, clause: ClauseResult) -> str:
        """Return the reasons why a clause is open; "" for a clause that is shown."""
        established, detail = clause.for_all_parameters, clause.detail
        elsewhere = self.refuted is not None and self.refuted.label == clause.label
        if detail and elsewhere and clause.outcome is Outcome.VERIFIED:
            detail = f"at the example: {detail}"
        return "" if established.standing.is_shown else "; ".join(filter(None, (established.why, detail)))

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify prove --json`, without `schema` and `version`."""
        trusts = self.refuted.trusts if self.refuted else self.for_all_parameters.trusts
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "clauses": [
                {"label": clause.label, "role": clause.role, "claim": clause.claim}
                | {"for_all_parameters": clause.for_all_parameters.standing}
                | {"kind": self.how(clause), "detail": self.detail(clause)}
                | {"lines": [text for text, _ in self.told.get(clause.label, ())]}
                | {"reasons": self.reasons[clause.label].to_json() if clause.label in self.reasons else None}
                | {"trusts": [trust._asdict() for trust in sorted(clause.for_all_parameters.trusts)]}
                | {"formal": clause.for_all_parameters.formal_to_json()}
                | {"propositions": dict(self.formal_texts.get(clause.label, {}))}
                for clause in self.clauses
            ],
            "argument": [_json(inference) | {"status": str(ForAll.ARGUED)} for inference in self.argument],
            "beyond": [
                _json(inference)
                | {"status": established.standing, "detail": established.why}
                | {"trusts": [trust._asdict() for trust in sorted(established.trusts)]}
                for inference, established in zip(self.extensions, self.established_extensions, strict=True)
            ],
            "for_all_parameters": self.for_all_parameters.standing,
            "inferences_argued": len(self.for_all_parameters.inferences),
            "inferences_own": self.for_all_parameters.own,
            "formal": self.for_all_parameters.formal_to_json(),
            "not_formal": self.not_formal,
            "detail": self.for_all_parameters.why,
            "counterexample": None if self.counterexample is None else json_numbers(self.counterexample),
            "clause": self.refuted.label if self.refuted else None,
            "certified": self.refuted is not None and self.refuted.rechecked,
            "trusts": [trust._asdict() for trust in sorted(trusts)],
            "refuted_steps": list(self.refuted_steps),
            "searched": None if self.searched is None else self.searched.to_json(),
            "evaluated": None if self.evaluated is None else dict(self.evaluated.instances),
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
        }


def _json(inference: Inference) -> dict[str, Any]:
    rule = inference.named_rule
    says = {"label": inference.label, "says": inference.says, "from": list(inference.uses)}
    return says | {"rule": rule.name, "kind": rule.kind, "reference": rule.reference}


def _established(theorem: Theorem, extension: Inference) -> Established:
    """Return the standing of an extension's conclusion; open if an inference or theorem that it uses cannot be read."""
    try:
        return established_by_extension(theorem, extension)
    except InputError as error:
        return Established(ForAll.OPEN, why=str(error))


def prove(
    theorem: Theorem,
    *,
    explain: bool = False,
    seconds: float = PROVE.seconds,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> ProveResult:
    """Report the standing of a theorem's claims for all parameters, with their proofs and arguments.

    Proofs are looked for at the theorem's example, but use only its values of the word parameters. The rest of the time
    is spent on a search for a counterexample to the claims that are neither proved nor formal. The search is short if
    no claim is open. `kernel` is a proof assistant's verdict, by default the verdict on record.

    Raises
    ------
    InputError
        If `seconds` is not positive, or the example has no values.
    """
    require_effort(seconds=seconds)
    started = time.monotonic()
    with proving(PROVE.work):
        checked = check(theorem, theorem.example, seconds=PROVE.proving * seconds)
    refuted = next((claim for claim in checked.claims if claim.outcome is Outcome.REFUTED), None)
    # A counterexample also rests on the hypotheses' results: its trusts are those of the whole check.
    refuted = None if refuted is None else replace(refuted, trusts=checked.trusts)
    counterexample = checked.instance if checked.outcome is Outcome.REFUTED else None
    proved = {clause.label: clause.trusts for clause in checked.clauses if clause.evidence is Evidence.PROVED}
    by_clause, for_all = standings(checked.clauses), checked.for_all_parameters
    # An argued claim is searched too, at few instances, because an inference may be wrong.
    doubtful = {claim.label for claim in checked.claims if by_clause[claim.label].standing is not ForAll.PROVED}
    doubtful -= proved.keys()
    most = PROVE.max_examples if for_all.standing is ForAll.OPEN else PROVE.argued_examples
    formal = {label for label, claim in by_clause.items() if claim.standing is ForAll.FORMAL}
    searched = [c for c in theorem.statement.claims if c.label in doubtful - formal and not isinstance(c, InWords)]
    left, seen = seconds - (time.monotonic() - started), None
    if counterexample is None and searched and left > 0 and not checked.interrupted:
        claimed = theorem.variant(theorem.statement.alone(*searched))
        # If no instance in scope is found, open claims stay open.
        with suppress(NoInstanceError):
            found = explore(claimed, {}, seconds=left, max_examples=most, progress=progress)
            counterexample, refuted = found.counterexample, found.clause
            seen = Searched(found) if counterexample is None else None
    steps = dict.fromkeys(checked.refuted_steps, checked.instance)
    left = seconds - (time.monotonic() - started)
    if counterexample is None and not steps and left > 0 and not checked.interrupted:
        steps = _refuted_step(theorem, [step for step in theorem.statement.steps if step.label not in proved], left)
    said = [c for c in theorem.statement.claims if isinstance(c, InWords) and c.label in theorem.evaluations]
    said, stands = [claim for claim in said if claim.label in doubtful], None
    left = min(seconds - (time.monotonic() - started), PROVE.in_words * seconds)
    if counterexample is None and said and left > 0 and not checked.interrupted:
        at_example = {clause.label for clause in checked.clauses if clause.outcome is Outcome.VERIFIED}
        stands = evaluated(theorem, said, at_example, left, progress)
        counterexample, refuted = stands.counterexample, stands.clause
    fallen = {label: f"at {_at(where)}" for label, where in steps.items()}
    fallen |= {refuted.label: f"at {_at(counterexample)}"} if counterexample is not None and refuted else {}
    theorem, refused = _with_sound_evaluations(theorem, stands)
    if fallen or refused or kernel is not None:
        by_clause, for_all = established(theorem, proved, fallen, kernel)
    if not checked.in_scope:
        why = "; ".join(filter(None, (for_all.why, "the example is out of scope")))
        for_all = replace(for_all, why=why)
    return ProveResult(
        theorem=theorem.id,
        statement_digest=theorem.statement.digest,
        clauses=tuple(replace(clause, for_all_parameters=by_clause[clause.label]) for clause in checked.clauses),
        for_all_parameters=for_all,
        argument=theorem.argument,
        extensions=theorem.extensions,
        established_extensions=tuple(_established(theorem, inference) for inference in theorem.extensions),
        counterexample=counterexample,
        refuted=refuted if counterexample is not None else None,
        refuted_steps=steps,
        shipped=shipped_proofs(theorem),
        told=_told(theorem, checked, explain=explain),
        explained=explain,
        checked=checked,
        seconds=time.monotonic() - started,
        reasons=_reasons(theorem, checked, by_clause, fallen),
        searched=seen,
        limit=seconds,
        evaluated=stands if counterexample is None else None,
        formal_texts={label: dict(text.propositions) for label, text in theorem.statement.formal.items()},
        not_formal=(recorded(theorem) if kernel is None else kernel).not_formal,
    )


def _with_sound_evaluations(theorem: Theorem, stands: Evaluated | None) -> tuple[Theorem, bool]:
    """Return a theorem without the evaluations that show nothing, and whether there are such evaluations.

    An evaluation that was tried shows nothing if its claim is verified at no instance, or if the evaluation does not
    refute the claim's wrong variant at the example.
    """
    counted = stands.instances if stands is not None else {}
    sound = {
        label: evaluation
        for label, evaluation in theorem.evaluations.items()
        if label not in counted
        or (counted[label] and check_wrong(theorem, label, theorem.example).outcome is Outcome.REFUTED)
    }
    return replace(theorem, evaluations=sound), len(sound) < len(theorem.evaluations)


def _reasons(
    theorem: Theorem, checked: CheckResult, by_clause: Mapping[str, Established], fallen: Mapping[str, str]
) -> Mapping[str, Reasons]:
    """Return the reasons why each inequality or equation that is open, and not refuted, has no proof."""
    statement = theorem.statement.specialised(checked.instance)
    still = [c for c in statement.clauses if by_clause[c.label].standing is ForAll.OPEN and c.label not in fallen]
    found = ((clause.label, reasons_of(statement, clause, PROVE.work)) for clause in still)
    return {label: reasons for label, reasons in found if reasons is not None}


def _told(theorem: Theorem, checked: CheckResult, *, explain: bool) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return the lines of the proof of each clause whose kind of proof has lines, each as text and in LaTeX."""
    from verify.provers.deduction.text import lines_of
    from verify.provers.slack_text import KINDS
    from verify.rechecker.kinds.deductions import RULES

    rules = {name: (rule.__doc__ or "").partition("\n")[0] for name, (_, rule) in RULES.items()} if explain else None
    proofs = {c.label: dict(c.proof) for c in checked.clauses if c.evidence is Evidence.PROVED and c.proof is not None}
    told = dict[str, tuple[tuple[str, str], ...]]()
    statement = theorem.statement.specialised(checked.instance)
    for clause in statement.clauses:
        proof = proofs.get(clause.label, {})
        if proof.get("kind") in ("deduction", "falls", *KINDS):
            above = statement.expand(clause.above) if isinstance(clause, Reaches) else None
            conditions = clause.conditions if isinstance(clause, Implication) else ()
            told[clause.label] = tuple(lines_of(proof, statement, rules, above, conditions, clause.relation))
    return told


def _refuted_step(theorem: Theorem, steps: Sequence[Any], seconds: float) -> Mapping[str, Instance]:
    """Return a step that is refuted in scope, with the instance; an empty mapping if none is found."""
    if not steps:
        return {}
    with suppress(NoInstanceError):
        claimed = theorem.variant(theorem.statement.alone(*steps))
        found = explore(claimed, {}, seconds=seconds, max_examples=PROVE.max_examples)
        if found.counterexample is not None and found.clause is not None:
            return {found.clause.label: found.counterexample}
    return {}


def _at(instance: Instance) -> str:
    return assignments_text(instance) or "the one instance"
