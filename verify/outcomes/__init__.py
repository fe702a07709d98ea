"""Outcomes, evidence and results of checks, and their JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

from verify.outcomes.numbers import (
    DIGITS as DIGITS,
    Enclosure as Enclosure,
    Quantity as Quantity,
    as_float as as_float,
    assignments_text as assignments_text,
    count_text as count_text,
    decimal_text as decimal_text,
    digit_count as digit_count,
    is_shortened as is_shortened,
    json_number as json_number,
    json_numbers as json_numbers,
    number_text as number_text,
    short_text as short_text,
    times_text as times_text,
)
from verify.outcomes.standings import (
    OPEN as OPEN,
    Established as Established,
    ForAll as ForAll,
    Formal as Formal,
    Trust as Trust,
    formal_claims as formal_claims,
    how_sure as how_sure,
)
from verify.shown import Result, Shown, Tabled


class Labelled(Protocol):
    """Anything with a label and a text, used to name the clause that a result belongs to."""

    @property
    def label(self) -> str:
        """Name of the clause."""
        ...

    @property
    def text(self) -> str:
        """The clause in words or symbols."""
        ...


SCHEMA = 1
"""Version of the JSON objects of the command line."""


class Outcome(StrEnum):
    """The outcome of a check: `verified`, `refuted`, `inconclusive` or `out_of_scope`.

    Examples
    --------
    >>> from verify import Outcome
    >>> Outcome("refuted").exit_code
    1
    """

    VERIFIED = "verified"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    OUT_OF_SCOPE = "out_of_scope"

    @property
    def exit_code(self) -> int:
        """The command line's exit code."""
        return {"verified": 0, "refuted": 1, "inconclusive": 3, "out_of_scope": 4}[self.value]


class Evidence(StrEnum):
    """The evidence of an outcome, strongest first: `proved`, `certified`, `computed`, `simulated`.

    `proved`: for all parameters in scope, by a proof that the re-checker accepts. `certified`: at this instance, in
    exact or ball arithmetic. `computed`: not re-checked, such as floating point with an error estimate, or a kind of
    proof that the re-checker does not know. `simulated`: samples, training, or drawn trials of a claim in words.

    Examples
    --------
    >>> from verify import Evidence
    >>> str(Evidence.weakest([Evidence.PROVED, Evidence.COMPUTED]))
    'computed'
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    COMPUTED = "computed"
    SIMULATED = "simulated"

    @staticmethod
    def weakest(evidence: Sequence["Evidence"]) -> "Evidence":
        """Return the weakest of some kinds of evidence."""
        return max(evidence, key=list(Evidence).index)


@dataclass(frozen=True, kw_only=True, repr=False)
class HypothesisResult(Shown):
    """The result of one hypothesis at an instance; `needs` names the parameters whose values are missing.

    If the hypothesis fails, `past` tells how far the instance is past the limit, such as `20 times the limit`.

    `assumed` means that the hypothesis is taken to hold without a test: no parameter varies it, or the instance's word
    only supposes it.
    """

    label: str
    kind: str
    statement: str
    holds: bool | None
    slack: Fraction | Enclosure | None = None
    needs: tuple[str, ...] = ()
    detail: str = ""
    assumed: bool = False
    past: str = ""

    @property
    def status(self) -> str:
        """`holds`, `fails`, `assumed`, or `needs`: missing parameters or, if `needs` is empty, more digits."""
        if self.assumed:
            return "assumed"
        return "needs" if self.holds is None else "holds" if self.holds else "fails"


def scope(hypotheses: Iterable[HypothesisResult]) -> bool | None:
    """Return True when all hypotheses hold or are assumed, False when one fails, else None."""
    held = [hypothesis.holds for hypothesis in hypotheses]
    return False if False in held else None if None in held else True


@dataclass(frozen=True, kw_only=True, repr=False)
class ClauseResult(Shown):
    """The result of one clause at an instance.

    `checking.decide` sets the evidence, by the re-checker's verdict; the clause's own evaluation does not.

    Parameters
    ----------
    label, claim
        Name of the clause, and the clause in words or symbols.
    outcome, evidence
        The verdict, and the kind of evidence that it rests on.
    margin
        The signed margin: positive if an inequality holds strictly.
    detail
        The finding in one line, or the reason why there is none.
    witness
        The values that show a refutation.
    values
        Further numbers that the evaluation found.
    bits
        Precision needed, in bits; None for exact arithmetic.
    proof
        The proof data of the clause in a certificate; None without such data, for example for an undecided clause.
    rechecked, unchecked
        Whether the re-checker accepted the proof, and the reason if it did not.
    trusts
        The trusts (additions of packages to the re-checker's core) that the re-check rests on.
    role
        `claim` or `step`, the role of the clause in its statement.
    draws
        Number of trials that decided the clause if the evidence is simulated (drawn trials or another sample), else 0.
    for_all_parameters
        Standing of the clause for all parameters in scope, in the results of `check` and `prove`; else open.

    Examples
    --------
    >>> import verify
    >>> clause = verify.check("wang2024.stationary_points", T=9, q=2, d=1).clauses[0]
    >>> clause.holds, clause.role
    (True, 'claim')
    """

    label: str
    claim: str
    outcome: Outcome
    evidence: Evidence | None = None
    margin: Quantity | None = None
    detail: str = ""
    witness: Mapping[str, Quantity | str] = field(default_factory=dict)
    values: Mapping[str, Quantity] = field(default_factory=dict)
    bits: int | None = None
    proof: Mapping[str, Any] | None = None
    rechecked: bool = False
    unchecked: str = ""
    role: str = "claim"
    trusts: tuple[Trust, ...] = ()
    draws: int = 0
    for_all_parameters: Established = OPEN

    @classmethod
    def verified(cls, clause: Labelled, proof: Mapping[str, Any] | None, **fields: Any) -> "ClauseResult":
        """Return the result that a clause holds, with its proof if any; `fields` has values of other fields."""
        return cls(label=clause.label, claim=clause.text, outcome=Outcome.VERIFIED, proof=proof, **fields)

    @classmethod
    def refuted(cls, clause: Labelled, proof: Mapping[str, Any] | None, **fields: Any) -> "ClauseResult":
        """Return the result that a clause does not hold, with its proof if any; `witness` shows it."""
        return cls(label=clause.label, claim=clause.text, outcome=Outcome.REFUTED, proof=proof, **fields)

    @classmethod
    def undecided(cls, clause: Labelled, why: str, **fields: Any) -> "ClauseResult":
        """Return the result that a clause is not decided, with the reason."""
        return cls(label=clause.label, claim=clause.text, outcome=Outcome.INCONCLUSIVE, detail=why, **fields)

    @property
    def holds(self) -> bool | None:
        """True, False, or None when the clause is not decided."""
        return {Outcome.VERIFIED: True, Outcome.REFUTED: False}.get(self.outcome)

    @property
    def how_sure(self) -> str:
        """The evidence, with its trusts."""
        return how_sure(self.evidence, self.trusts)

    @property
    def error(self) -> Fraction | None:
        """Bound on the error of the margin's midpoint: 0 if exact, None if an end is unknown or there is no margin."""
        if isinstance(self.margin, Enclosure):
            middle = self.margin.midpoint
            return None if middle is None or self.margin.upper is None else self.margin.upper - middle
        return None if self.margin is None else Fraction(0)


def standings(clauses: Iterable[ClauseResult]) -> dict[str, Established]:
    """Return the standing for all parameters of each clause, by label."""
    return {clause.label: clause.for_all_parameters for clause in clauses}


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckResult(Result, Tabled):
    """The result of checking a theorem at an instance.

    `for_all_parameters` is the claims' standing for all parameters, and `rests_on` the standing of each theorem that
    the proof uses. These standings do not affect the outcome, which the evaluation alone decides. `without` gives the
    reason for each missing value. `rechecked` tells for each value whether the re-checker confirms it, and
    `value_trusts` gives the trusts of that re-check. `scope_confirmed` tells whether the re-checker finds all
    hypotheses to hold; it is None if the re-checker was not asked or did not decide, and `scope_doubt` is the reason.
    `scope_trusts` are the trusts of that verdict. `statement` is the checked statement, for formulas and the meaning of
    parameters in a display.
    """

    theorem: str
    statement_digest: str
    instance: Mapping[str, Any]
    hypotheses: tuple[HypothesisResult, ...]
    clauses: tuple[ClauseResult, ...]
    values: Mapping[str, Any]
    seed: int
    seconds: float
    digits: int = DIGITS
    interrupted: bool = False
    for_all_parameters: Established = OPEN
    rests_on: Mapping[str, Established] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    rechecked: Mapping[str, bool] = field(default_factory=dict)
    value_trusts: Mapping[str, tuple[Trust, ...]] = field(default_factory=dict)
    scope_confirmed: bool | None = True
    scope_doubt: str = ""
    scope_trusts: tuple[Trust, ...] = ()
    statement: Any = field(default=None, compare=False)

    @property
    def in_scope(self) -> bool | None:
        """Whether every hypothesis holds or is assumed; None if one is undecided and none fails."""
        return scope(self.hypotheses)

    @property
    def established_for(self) -> str:
        """The parameters for which the claims are established, as text, with `in scope` at an instance out of scope."""
        return "for all parameters in scope" if self.in_scope is False else "for all parameters"

    @property
    def says_for_all(self) -> bool:
        """Whether texts show a standing for all parameters; out of scope they do not if every claim is open."""
        known = any(claim.for_all_parameters.standing is not ForAll.OPEN for claim in self.claims)
        return known or self.in_scope is not False

    def for_all_text(self, known: "Established", *, briefly: bool = False) -> str:
        """Return a standing for all parameters, as text; "" unless `says_for_all`."""
        return f"{self.established_for}: {known.text(briefly=briefly)}" if self.says_for_all else ""

    @property
    def claims(self) -> tuple[ClauseResult, ...]:
        """The clauses that are claims."""
        return tuple(clause for clause in self.clauses if clause.role == "claim")

    @property
    def refuted_steps(self) -> tuple[str, ...]:
        """The labels of the steps that are refuted in scope. They decide no outcome; conclusions from them are open."""
        steps = (clause for clause in self.clauses if clause.role == "step" and clause.outcome is Outcome.REFUTED)
        return tuple(step.label for step in steps) if self.in_scope else ()

    @property
    def claim_outcome(self) -> Outcome:
        """Refuted if a claim is refuted, verified if all are verified, else inconclusive, in scope or not."""
        outcomes = {claim.outcome for claim in self.claims}
        if Outcome.REFUTED in outcomes:
            return Outcome.REFUTED
        return Outcome.VERIFIED if outcomes == {Outcome.VERIFIED} else Outcome.INCONCLUSIVE

    @property
    def outcome(self) -> Outcome:
        """The headline: the outcome of the check as a whole."""
        if self.in_scope is None:
            return Outcome.INCONCLUSIVE
        if not self.in_scope:
            return Outcome.OUT_OF_SCOPE
        return Outcome.INCONCLUSIVE if self.scope_confirmed is False else self.claim_outcome

    @property
    def evidence(self) -> Evidence | None:
        """The weakest evidence of the claims that decide the headline; None if one of them has no evidence.

        It is `computed` at best if all hypotheses hold and the re-checker did not decide them.
        """
        deciding = [claim.evidence for claim in self._deciding]
        if self.in_scope and self.scope_confirmed is None:
            deciding.append(Evidence.COMPUTED)
        known = [evidence for evidence in deciding if evidence is not None]
        return Evidence.weakest(known) if known and len(known) == len(deciding) else None

    @property
    def _deciding(self) -> list[ClauseResult]:
        return [claim for claim in self.claims if claim.outcome is self.claim_outcome]

    @property
    def trusts(self) -> tuple[Trust, ...]:
        """The trusts of the headline's evidence, including the trusts of the verdict on the hypotheses."""
        if self.evidence not in (Evidence.PROVED, Evidence.CERTIFIED):
            return ()
        scope = self.scope_trusts if self.in_scope else ()
        return tuple(sorted({*scope}.union(*(claim.trusts for claim in self._deciding))))

    @property
    def how_sure(self) -> str:
        """The evidence of the headline, with its trusts."""
        return how_sure(self.evidence, self.trusts)

    @property
    def witness(self) -> Mapping[str, Any] | None:
        """The instance if it refutes the theorem, else None; the verbs accept it as input.

        The result is None out of scope, where nothing refutes the theorem. A clause's own `witness` refutes that
        clause.
        """
        return self.instance if self.outcome is Outcome.REFUTED else None

    @property
    def bits(self) -> int | None:
        """The largest precision that a clause needed."""
        return max((clause.bits for clause in self.clauses if clause.bits), default=None)

    @property
    def detail(self) -> str:
        """The failing or undecided hypotheses, or the findings, and the reason for each missing value, in one line."""
        missing = (f"{name}: {why}" for name, why in self.without.items())
        return "; ".join(part for part in (self._main_detail, *missing) if part)

    @property
    def _main_detail(self) -> str:
        failing = [hypothesis for hypothesis in self.hypotheses if not hypothesis.holds]
        if failing:
            verb = {False: "does not hold", None: "is undecided"}
            return "; ".join(f"{h.label}: {h.statement} {verb[h.holds]} {h.detail}".rstrip() for h in failing)
        if self.in_scope and not self.scope_confirmed:
            return f"the re-checker does not find that all hypotheses hold: {self.scope_doubt or 'one fails'}"
        return "; ".join(f"{clause.label}: {clause.detail}" for clause in self.clauses if clause.detail)

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify check --json`, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "instance": json_numbers(self.instance, self.digits),
            "hypotheses": [
                {"label": h.label, "kind": h.kind, "statement": h.statement, "status": h.status}
                | {"holds": None if h.assumed else h.holds}
                | json_numbers({"slack": h.slack}, self.digits)
                for h in self.hypotheses
            ],
            "in_scope": self.in_scope,
            "clauses": [
                {"label": c.label, "role": c.role, "claim": c.claim, "holds": c.holds, "evidence": c.evidence}
                | {"rechecked": c.rechecked, "trusts": [trust._asdict() for trust in c.trusts]}
                | {"for_all_parameters": c.for_all_parameters.standing}
                | json_numbers({"margin": c.margin, "error": c.error}, self.digits)
                | {"unchecked": c.unchecked, "detail": c.detail, "witness": json_numbers(c.witness, self.digits)}
                for c in self.clauses
            ],
            "outcome": self.outcome,
            "evidence": self.evidence,
            "trusts": [trust._asdict() for trust in self.trusts],
            "refuted_steps": list(self.refuted_steps),
            "for_all_parameters": self.for_all_parameters.standing,
            "for_all_trusts": [trust._asdict() for trust in sorted(self.for_all_parameters.trusts)],
            "inferences_argued": len(self.for_all_parameters.inferences),
            "inferences_own": self.for_all_parameters.own,
            "values": json_numbers(self.values, self.digits),
            "values_rechecked": dict(self.rechecked),
            "value_trusts": {name: [trust._asdict() for trust in known] for name, known in self.value_trusts.items()},
            "detail": self.detail,
            "bits": self.bits,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
        }
