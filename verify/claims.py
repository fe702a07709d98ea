"""Clauses of a claim: as data, and their evaluation by the engine at an instance."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import sympy as sp

from verify.certificates import identity_proof, margin_proof, point_proof
from verify.dynamics import (
    INTERRUPTED,
    Dynamics,
    Passage,
    Progress,
    first_passage,
)
from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation import evaluate_rising, holds, scan_values, sign_of, symbols_by_name
from verify.identities import (
    differentiate,
    put,
    sample_points,
    share_exponentials,
    spread_points,
    zero_with_divisors,
)
from verify.language import RELATIONS, to_data
from verify.outcomes import ClauseResult, Enclosure, Evidence, Outcome
from verify.signs import factor_signs, nowhere_zero
from verify.tube_cells import Tube
from verify.tubes import Horizon, enclose_passage

if TYPE_CHECKING:
    from verify.cycles import Cycle
    from verify.statement import Statement


_ROUNDING = 1e-13
"""Two sides that differ by less, in float64 and relative to their size, may be equal."""
_POSITIVE = "no negative coefficient over the bounds, for all parameters"
_LOOK_FOR_CYCLE = 2000
"""A run that has not reached its level by this step may never do so."""


@dataclass
class Context:
    """What a clause is evaluated in: the statement, the instance, the proof data and the time left.

    `in_scope` says that all hypotheses hold at the instance, so that a proof for all parameters may use
    them; `for_all` are the labels of the clauses of which what is proved is proved for all parameters, and
    not for the instance's words alone, None for all clauses. `shipped` are proofs for all parameters by
    clause, of which the re-checker will say whether they are accepted. Recursions are followed until
    `iterate_until`, so that some time is left for what comes after.
    """

    statement: "Statement"
    instance: Mapping[str, Any]
    proofs: Mapping[str, Any]
    deadline: float
    digits: int = 17
    progress: Progress | None = None
    passages: dict[Any, Any] = field(default_factory=dict)
    iterate_until: float | None = None
    in_scope: bool = False
    for_all: frozenset[str] | None = None
    interrupted: bool = False
    shipped: Mapping[str, Any] = field(default_factory=dict)

    def shipped_proof(self, label: str, *kinds: str) -> Any:
        """Return the proof for all parameters that is shipped of a clause, if it is of one of some kinds, else None."""
        proof = self.shipped.get(label) if self.is_for_all(label) else None
        return proof if isinstance(proof, dict) and proof.get("kind") in kinds else None

    def is_for_all(self, label: str) -> bool:
        """Whether what is proved of a clause is proved for all parameters."""
        return self.for_all is None or label in self.for_all

    def value(self, expression: sp.Basic) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters, to the digits asked for."""
        return evaluate_rising(self.statement.expand(expression), self.instance, digits=self.digits)[0]

    def exact(self, expression: sp.Basic) -> Fraction:
        """Return the exact value of an expression; UndefinedError where it is not rational."""
        value = self.value(expression)
        if not isinstance(value, Fraction):
            raise UndefinedError(f"{expression}: a rational value is needed here")
        return value

    def expanded(self, dynamics: Dynamics) -> Dynamics:
        """Return the recursion with the statement's definitions put in."""
        return expanded(self.statement, dynamics)

    def passage(self, dynamics: Dynamics, level: Fraction, last_step: int | None = None) -> Passage:
        """Return the first passage of the level, computed once for all clauses."""
        key = (dynamics, level, last_step)
        if key not in self.passages:
            self.passages[key] = first_passage(
                dynamics,
                level,
                self.instance,
                deadline=self.iterate_until or self.deadline,
                last_step=last_step,
                progress=self.progress,
            )
        if self.passages[key].why == INTERRUPTED:
            self.interrupt()
        return self.passages[key]

    def run(self, dynamics: Dynamics, level: Fraction) -> "Passage | Cycle | Horizon":
        """Return the first passage of the level, a cycle by which it is never reached, or a tube that encloses it."""
        first = self.passage(dynamics, level, _LOOK_FOR_CYCLE)
        if first.reached or first.why in ("time", INTERRUPTED):
            return first
        key = (dynamics, level, "far")
        if key not in self.passages:
            from verify.cycles import avoids

            until = self.iterate_until or self.deadline
            try:
                self.passages[key] = avoids(dynamics, level, self.instance, deadline=until)
                tube = next((p for p in self.proofs.values() if isinstance(p, Tube) and p.slow in dynamics.state), None)
                if tube is not None and self.passages[key] is None:
                    # Half the time is left for the run itself.
                    half = (time.monotonic() + until) / 2
                    here = tube.put(self.statement.expand)
                    self.passages[key] = enclose_passage(
                        dynamics, here, level, self.instance, deadline=half, progress=self.progress
                    )
            except KeyboardInterrupt:
                self.passages[key] = replace(first, why=INTERRUPTED)
        found = self.passages[key]
        if found is not None:
            if isinstance(found, Passage) and found.why == INTERRUPTED:
                self.interrupt()
            return found
        rest = self.passage(dynamics, level)
        # What was looked for in between may have left too little time to come as far again.
        return replace(first, why="time") if rest.why == "time" and rest.step < first.step else rest

    def interrupt(self) -> None:
        """Note Ctrl-C: a moment is left for what does not need a long run."""
        self.interrupted, self.deadline = True, min(self.deadline, time.monotonic() + 1)


@cache
def expanded(statement: "Statement", dynamics: Dynamics) -> Dynamics:
    """Return a recursion with the statement's definitions put in."""
    if not statement.definitions:
        return dynamics
    initial, step = (tuple(map(statement.expand, parts)) for parts in (dynamics.initial, dynamics.step))
    return Dynamics(dynamics.state, initial, step, statement.expand(dynamics.observable))


class Clause(Protocol):
    """One labelled clause of a claim."""

    @property
    def label(self) -> str:
        """Name of the clause."""
        ...

    @property
    def text(self) -> str:
        """The clause in words or symbols."""
        ...

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the expressions of the clause."""
        ...

    def bound_names(self) -> set[str]:
        """Return names that the clause binds itself, such as a recursion's state."""
        ...

    def to_data(self) -> dict[str, Any]:
        """Return what the digest covers."""
        ...

    def evaluate(self, context: Context) -> ClauseResult:
        """Evaluate the clause at the instance of the context."""
        ...

    def scan(self, statement: "Statement", instance: Mapping[str, Any]) -> float:
        """Return the clause's relative margin in float64, for a search: ≤ 0 where it seems to fail."""
        ...


@dataclass(frozen=True)
class Identity:
    """left = right, for all values of the statement's variables."""

    label: str
    left: sp.Expr
    right: sp.Expr
    says: str = ""

    def __post_init__(self) -> None:
        if sp.sympify(self.left) == sp.sympify(self.right):
            raise TheoremError(f"clause {self.label}: both sides are written the same")

    @property
    def text(self) -> str:
        """The clause in symbols."""
        return self.says or f"{self.left} = {self.right}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield both sides."""
        yield from (sp.sympify(self.left), sp.sympify(self.right))

    def bound_names(self) -> set[str]:
        """Return no names."""
        return set()

    def to_data(self) -> dict[str, Any]:
        """Return what the digest covers."""
        left, right = self.expressions()
        sides = {"left": to_data(left), "right": to_data(right)}
        return {"kind": "identity", "label": self.label, "says": self.says, **sides}

    def evaluate(self, context: Context) -> ClauseResult:
        """Look for a symbolic zero: for all parameters, else at the instance, else for a point that refutes it."""
        statement = context.statement
        if (proof := context.shipped_proof(self.label, "identity")) and proof.get("scope") == "all":
            shown = Outcome.VERIFIED, Evidence.PROVED, Fraction(0), "symbolic zero for all parameters"
            return ClauseResult(self.label, self.text, *shown, proof=proof)
        why = "no point found at which the two sides differ"
        everywhere = self._difference(statement)
        values = _exact_values(statement, context.instance)
        here = put(everywhere, values)
        ends = tuple(differentiate(statement.expand(side)) for side in self.expressions())
        for difference, sides, evidence, where in (
            (everywhere, ends, Evidence.PROVED, "for all parameters"),
            (here, tuple(put(end, values) for end in ends), Evidence.CERTIFIED, "at this instance"),
        )[not context.is_for_all(self.label) :]:
            try:
                if _zero_on_domain(difference, statement):
                    for side in sides if evidence is Evidence.CERTIFIED else ():
                        # What cancels in the difference has a value all the same.
                        _refuse_zeros(zero_with_divisors(side)[1], statement)
                    detail = f"symbolic zero {where}"
                    scope = "all" if evidence is Evidence.PROVED else "instance"
                    return ClauseResult(
                        self.label,
                        self.text,
                        Outcome.VERIFIED,
                        evidence,
                        Fraction(0),
                        detail,
                        proof=identity_proof(scope, _factors(difference, sides, statement)),
                    )
            except (TheoremError, UndefinedError) as error:
                why = str(error)
        # The sides have values only where all that they are written with has one, what cancels too.
        written = sp.Tuple(*map(statement.expand, self.expressions())).free_symbols
        free = {symbol for symbol in written if str(symbol) not in context.instance}
        for point in sample_points(here.free_symbols | free):
            try:
                value, bits = evaluate_rising(put(here, point), {}, sign=True)
            except (TheoremError, UndefinedError, UndecidedError):
                continue
            if sign_of(value):
                named = {symbol.name: Fraction(int(v.p), int(v.q)) for symbol, v in point.items()}
                witness = {**context.instance, **named, "left_minus_right": value}
                return ClauseResult(
                    self.label,
                    self.text,
                    Outcome.REFUTED,
                    Evidence.CERTIFIED,
                    value,
                    "the two sides differ",
                    witness,
                    bits=bits,
                    proof=point_proof(named, value, bits),
                )
        return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, detail=why)

    def _difference(self, statement: "Statement") -> sp.Expr:
        return differentiate(statement.expand(self.left - self.right))

    def scan(self, statement: "Statement", instance: Mapping[str, Any]) -> float:
        """Return 1 for a symbolic zero, else minus the largest relative difference at some points."""
        try:
            if _zero_on_domain(self._difference(statement), statement):
                return 1.0
        except (TheoremError, UndefinedError):
            pass
        sides = tuple(differentiate(statement.expand(side)) for side in self.expressions())
        names = symbols_by_name(sp.Tuple(*sides))
        worst = 0.0
        for point in sample_points([symbol for name, symbol in names.items() if name not in instance]):
            values = {**instance, **{symbol.name: float(value) for symbol, value in point.items()}}
            left, right = scan_values(sides, values)
            worst = max(worst, abs(left - right) / (abs(left) + abs(right) or 1.0))
        return -worst if worst > _ROUNDING else _ROUNDING


@cache
def _zero_on_domain(difference: sp.Expr, statement: "Statement") -> bool:
    """Whether it is identically 0, and nothing that was divided by vanishes on the statement's domain."""
    zero, divisors = zero_with_divisors(difference)
    if zero:
        _refuse_zeros(divisors, statement)
    return zero


def _refuse_zeros(divisors: Sequence[sp.Expr], statement: "Statement") -> None:
    for divisor in divisors:
        if not nowhere_zero(divisor, statement.parameters, statement.domain):
            raise UndefinedError(f"equal, but {divisor}, which was divided by, may vanish")


@cache
def _factors(difference: sp.Expr, sides: Sequence[sp.Expr], statement: "Statement") -> dict[sp.Expr, int | None]:
    """Return what an independent check may divide by, factor by factor, and how each is shown to have no zero.

    Beside the divisors that were met here, in lowest terms, these are the denominators as they are
    written, in the difference and in the sides, but for those inside a limit.
    """
    (rational, *shared), meaning = share_exponentials([difference, *sides])
    _, met = zero_with_divisors(rational)
    outside = [e.xreplace({limit: sp.Integer(0) for limit in e.atoms(sp.Limit)}) for e in (rational, *shared)]
    written = [power.base for e in outside for power in e.atoms(sp.Pow) if power.exp.is_negative]
    found: dict[sp.Expr, int | None] = {}
    for divisor in (*met, *written):
        numerator = sp.fraction(sp.together(divisor))[0]
        for factor, shift in factor_signs(numerator, statement.parameters, statement.domain).items():
            found[factor.xreplace(meaning)] = shift
    return found


def _exact_values(statement: "Statement", instance: Mapping[str, Any]) -> dict[sp.Symbol, sp.Rational]:
    symbols = {symbol.name: symbol for symbol in statement.symbols()}
    return {
        symbols[name]: sp.Rational(value.numerator, value.denominator)
        for name, value in instance.items()
        if name in symbols and isinstance(value, int | Fraction)
    }


@dataclass(frozen=True)
class Inequality:
    """A relation (<, <=, >, >=, =) between two expressions of the parameters."""

    label: str
    relation: sp.core.relational.Relational
    says: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.relation, tuple(RELATIONS.values())):
            raise TheoremError(f"clause {self.label}: {self.relation} is not a relation between expressions")

    @property
    def text(self) -> str:
        """The clause in symbols."""
        return self.says or str(self.relation)

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield both sides."""
        yield from self.relation.args

    def bound_names(self) -> set[str]:
        """Return no names."""
        return set()

    def to_data(self) -> dict[str, Any]:
        """Return what the digest covers."""
        return {"kind": "inequality", "label": self.label, "says": self.says, "relation": to_data(self.relation)}

    def evaluate(self, context: Context) -> ClauseResult:
        """Decide the sign of the margin, exactly where it is rational, else in balls of rising precision."""
        quantified = sorted(set(self._symbols(context.statement)) - set(context.instance))
        if quantified:
            return self._for_all(context, quantified)
        try:
            holds, margin, bits = self._decided(context.statement, context.instance)
        except (UndefinedError, UndecidedError) as error:
            return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, detail=str(error))
        if holds is None:
            detail = f"the sign of the margin is undecided at {bits} bits"
            return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, margin, detail, bits=bits)
        outcome = Outcome.VERIFIED if holds else Outcome.REFUTED
        witness = {} if holds else dict(context.instance)
        proof, evidence, detail = margin_proof(margin, bits), Evidence.CERTIFIED, ""
        shown = self._proof_for_all(context) if holds else None
        if shown is not None:
            proof, evidence, detail = shown, Evidence.PROVED, _POSITIVE
        return ClauseResult(self.label, self.text, outcome, evidence, margin, detail, witness, bits=bits, proof=proof)

    def _symbols(self, statement: "Statement") -> dict[str, sp.Symbol]:
        """Return the symbols of both sides by name; the relation itself may become true as definitions are put in."""
        return symbols_by_name(sp.Tuple(*map(statement.expand, self.relation.args)))

    def _decided(
        self, statement: "Statement", values: Mapping[str, Any]
    ) -> tuple[bool | None, Fraction | Enclosure, int | None]:
        """Return whether it holds at some values, None where that is undecided; the margin; the bits."""
        left, right = self.relation.args
        if isinstance(self.relation, sp.StrictGreaterThan | sp.GreaterThan):
            left, right = right, left
        margin, bits = evaluate_rising(statement.expand(right - left), values, sign=True)
        for side in (left, right):
            # What cancels in the margin has a value all the same.
            evaluate_rising(statement.expand(side), values)
        if isinstance(self.relation, sp.Eq):
            sign = sign_of(margin)
            return None if sign is None else sign == 0, margin, bits
        return holds(self.relation, margin), margin, bits

    def _proof_for_all(self, context: Context) -> Any:
        if not context.is_for_all(self.label):
            return None
        from verify.positivity import FOR_ALL, positive_proof

        if context.in_scope and (proof := context.shipped_proof(self.label, *FOR_ALL)):
            return proof
        return positive_proof(self.relation, context.statement, hypotheses=context.in_scope)

    def _for_all(self, context: Context, quantified: list[str]) -> ClauseResult:
        """Decide an inequality for all values of some variables: a proof for all parameters, or a point against it."""
        shown = self._proof_for_all(context)
        if shown is not None:
            return ClauseResult(self.label, self.text, Outcome.VERIFIED, Evidence.PROVED, detail=_POSITIVE, proof=shown)
        variables = self._symbols(context.statement)
        for point in spread_points([variables[name] for name in quantified]):
            named = {symbol.name: Fraction(int(value.p), int(value.q)) for symbol, value in point.items()}
            try:
                holds, margin, bits = self._decided(context.statement, {**context.instance, **named})
            except (UndefinedError, UndecidedError):
                continue
            if holds is False:
                return ClauseResult(
                    self.label,
                    self.text,
                    Outcome.REFUTED,
                    Evidence.CERTIFIED,
                    margin,
                    "the margin at a point",
                    {**context.instance, **named},
                    bits=bits,
                    proof=point_proof(named, margin, bits),
                )
        why = f"no proof was found for all values of {', '.join(quantified)}"
        return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, detail=why)

    def scan(self, statement: "Statement", instance: Mapping[str, Any]) -> float:
        """Return the margin over the sum of the two sides' sizes, the smallest at some values of the variables."""
        sides = tuple(statement.expand(side) for side in self.relation.args)
        variables = [symbol for name, symbol in symbols_by_name(sp.Tuple(*sides)).items() if name not in instance]
        points = spread_points(variables) if variables else [{}]
        named = ({symbol.name: float(value) for symbol, value in point.items()} for point in points)
        return min(self._relative(scan_values(sides, {**instance, **values})) for values in named)

    def _relative(self, sides: tuple[float, ...]) -> float:
        left, right = sides
        size = abs(left) + abs(right) or 1.0
        if isinstance(self.relation, sp.Eq):
            return -abs(right - left) / size
        upward = isinstance(self.relation, sp.StrictGreaterThan | sp.GreaterThan)
        return (left - right if upward else right - left) / size
