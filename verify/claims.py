"""Clauses of a claim: as data, and their evaluation by the engine at an instance."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
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
from verify.evaluation import evaluate_rising, exact_values, holds, scan_values, sign_of, symbols_by_name
from verify.identities import (
    carry_out,
    differentiate,
    put,
    sample_points,
    share_exponentials,
    spread_points,
    zero_with_divisors,
)
from verify.language import RELATIONS, difference, to_data
from verify.outcomes import DIGITS, ClauseResult, Enclosure
from verify.partial import evaluated, needs, rebuilt, taken_apart
from verify.signs import factor_signs, nowhere_zero, positive
from verify.tube_cells import Tube
from verify.tubes import Horizon, enclose_passage

if TYPE_CHECKING:
    from verify.cycles import Cycle
    from verify.statement import Statement


_ROUNDING = 1e-13
"""Two sides that differ by less, in float64 and relative to their size, may be equal."""
_POSITIVE = "no negative coefficient over the bounds, for all parameters"
_FOR_ALL = ("identity", "words", "positive", "squares", "cases", "logarithms")
"""Kinds of proof that show a clause for all parameters."""
MOST_WORK = 60e6
"""What re-checking all that is decided at an instance may cost, in nominal microseconds: as for a certificate."""
_LOOK_FOR_CYCLE = 2000
"""A run that has not reached its level by this step may never do so."""


@dataclass
class Context:
    """What a clause is evaluated in: the statement, the instance, the proof data and the time left.

    `in_scope` says that all hypotheses hold at the instance, so that a proof for all parameters may use
    them; `for_all` are the labels of the clauses of which what is proved is proved for all parameters, and
    not for the instance's words alone, None for all clauses. `shipped` are proofs for all parameters by
    clause, of which the re-checker will say whether they are accepted; `withheld` are clauses whose proofs for all it
    did not accept, and `work` is what all that it checks may cost, in nominal microseconds. What does not look at the
    clock is ended at `late`. Recursions are followed
    until `iterate_until`, so that some time is left for what comes after.
    """

    statement: "Statement"
    instance: Mapping[str, Any]
    proofs: Mapping[str, Any]
    deadline: float
    digits: int = DIGITS
    progress: Progress | None = None
    passages: dict[Any, Any] = field(default_factory=dict)
    iterate_until: float | None = None
    in_scope: bool = False
    for_all: frozenset[str] | None = None
    interrupted: bool = False
    shipped: Mapping[str, Any] = field(default_factory=dict)
    work: float = MOST_WORK
    late: float = math.inf
    withheld: set[str] = field(default_factory=set)

    def withhold(self, label: str, proof: Any) -> bool:
        """Give up a proof for all parameters that is not accepted; return whether another way is left."""
        if label in self.shipped:
            self.shipped = {other: kept for other, kept in self.shipped.items() if other != label}
            return True
        for_all = isinstance(proof, Mapping) and proof.get("kind") in _FOR_ALL and proof.get("scope") != "instance"
        if not for_all or label in self.withheld:
            return False
        self.withheld.add(label)
        return True

    def shipped_proof(self, label: str, *kinds: str) -> Any:
        """Return the proof for all parameters that is shipped of a clause, if it is of one of some kinds, else None."""
        proof = self.shipped.get(label) if self.is_for_all(label) else None
        return proof if isinstance(proof, dict) and proof.get("kind") in kinds else None

    def is_for_all(self, label: str) -> bool:
        """Whether what is proved of a clause is proved for all parameters."""
        return label not in self.withheld and (self.for_all is None or label in self.for_all)

    def value(self, expression: sp.Basic) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters; what is found does not depend on the digits shown."""
        return self._to(expression, DIGITS)

    def shown(self, expression: sp.Basic) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters, to the digits that are shown, where these are more."""
        return self._to(expression, max(DIGITS, self.digits))

    def _to(self, expression: sp.Basic, digits: int) -> Fraction | Enclosure:
        return evaluate_rising(self.statement.expand(expression), self.instance, digits=digits)[0]

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
            return ClauseResult.verified(self, proof, margin=Fraction(0), detail="symbolic zero for all parameters")
        why = "no point found at which the two sides differ"
        everywhere = _sides(self, statement)
        values = exact_values(statement.symbols(), context.instance)
        here = tuple(put(side, values) for side in everywhere)
        for sides, scope, where in (
            (everywhere, "all", "for all parameters"),
            (here, "instance", "at this instance"),
        )[not context.is_for_all(self.label) :]:
            try:
                if _equal(sides, statement):
                    proof = identity_proof(scope, _factors(sides, statement))
                    return ClauseResult.verified(self, proof, margin=Fraction(0), detail=f"symbolic zero {where}")
            except (TheoremError, UndefinedError, UndecidedError) as error:
                why = str(error)
        # The sides have values only where all that they are written with has one, what cancels too.
        written = sp.Tuple(*map(statement.expand, self.expressions())).free_symbols
        free = {symbol for symbol in written if str(symbol) not in context.instance}
        difference = _difference(here)
        for point in sample_points(difference.free_symbols | free):
            try:
                value, bits = evaluate_rising(put(difference, point), {}, sign=True)
            except (TheoremError, UndefinedError, UndecidedError):
                continue
            if sign_of(value):
                named = {symbol.name: Fraction(int(v.p), int(v.q)) for symbol, v in point.items()}
                witness = {**context.instance, **named, "left_minus_right": value}
                proof = point_proof(named, value, bits)
                found = {"margin": value, "detail": "the two sides differ", "witness": witness, "bits": bits}
                return ClauseResult.refuted(self, proof, **found)
        return ClauseResult.undecided(self, why)

    def scan(self, statement: "Statement", instance: Mapping[str, Any]) -> float:
        """Return 1 for a symbolic zero, else minus the largest relative difference at some points."""
        sides = _sides(self, statement)
        try:
            if _equal(sides, statement):
                return 1.0
        except (TheoremError, UndefinedError, UndecidedError):
            pass
        names = symbols_by_name(sp.Tuple(*sides))
        worst = 0.0
        for point in sample_points([symbol for name, symbol in names.items() if name not in instance]):
            values = {**instance, **{symbol.name: float(value) for symbol, value in point.items()}}
            left, right = scan_values(sides, values)
            worst = max(worst, abs(left - right) / (abs(left) + abs(right) or 1.0))
        return -worst if worst > _ROUNDING else _ROUNDING


Sides = tuple[sp.Expr, sp.Expr]


@lru_cache(maxsize=2**12)
def _sides(clause: Identity, statement: "Statement") -> Sides:
    """Return the sides with definitions put in and derivatives carried out."""
    left, right = (differentiate(rebuilt(statement.expand(side))) for side in clause.expressions())
    return left, right


def _difference(sides: Sides) -> sp.Expr:
    """Return left − right, where both have values."""
    return evaluated(sides, sides[0] - sides[1])


@lru_cache(maxsize=2**12)
def _equal(sides: Sides, statement: "Statement") -> bool:
    """Whether two sides are identically equal. Raises UndefinedError where they are, and need not have values."""
    plain = [taken_apart(side)[0] for side in sides]
    zero, divisors = zero_with_divisors(plain[0] - plain[1])
    if zero:
        for divisor in divisors:
            _refuse(nowhere_zero(divisor, statement.parameters, statement.domain), divisor)
        for side in sides:
            for part in needs(side):
                _refuse(has_a_value(part, statement), part)
    return zero


def _refuse(shown: bool, part: sp.Basic) -> None:
    if not shown:
        raise UndefinedError(f"equal where they have values, but {part} may have none, or be divided by and vanish")


def has_a_value(part: sp.Basic, statement: "Statement") -> bool:
    """Whether a part of an expression is shown to have a value everywhere on the domain.

    Raises UndefinedError and UndecidedError where it is a number and has none, or none that is found.
    """
    if not part.free_symbols:
        evaluate_rising(part, {})
        return True
    where = statement.parameters, statement.domain
    try:
        if isinstance(part, sp.Limit):
            return all(nowhere_zero(divisor, *where) for divisor in carry_out(part)[1])
        (argument, *exponent), _ = share_exponentials(list(part.args), numbers=True)
        if isinstance(part, sp.Pow) and exponent[0].is_Integer:
            return nowhere_zero(sp.fraction(sp.together(argument))[0], *where)
        return isinstance(part, sp.Pow | sp.log) and positive(argument, *where)
    except sp.PolynomialError:
        return False


@lru_cache(maxsize=2**12)
def _factors(sides: Sides, statement: "Statement") -> dict[sp.Expr, int | None]:
    """Return what an independent check may divide by, factor by factor, and how each is shown to have no zero.

    Beside the divisors that were met here, in lowest terms, these are the denominators as they are
    written, in the difference and in the sides, but for those inside a limit.
    """
    plain = [taken_apart(side)[0] for side in sides]
    (rational, *shared), meaning = share_exponentials([plain[0] - plain[1], *plain], numbers=True)
    _, met = zero_with_divisors(rational)
    outside = [e.xreplace({limit: sp.Integer(0) for limit in e.atoms(sp.Limit)}) for e in (rational, *shared)]
    written = [power.base for e in outside for power in e.atoms(sp.Pow) if power.exp.is_negative]
    found: dict[sp.Expr, int | None] = {}
    for divisor in (*met, *written):
        numerator = sp.fraction(sp.together(divisor))[0]
        for factor, shift in factor_signs(numerator, statement.parameters, statement.domain).items():
            found[factor.xreplace(meaning)] = shift
    return found


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
            return ClauseResult.undecided(self, str(error))
        if holds is None:
            why = f"the sign of the margin is undecided at {bits} bits"
            return ClauseResult.undecided(self, why, margin=margin, bits=bits)
        proof = margin_proof(margin, bits)
        if not holds:
            return ClauseResult.refuted(self, proof, margin=margin, witness=dict(context.instance), bits=bits)
        shown = self._proof_for_all(context)
        detail = "" if shown is None else _POSITIVE
        return ClauseResult.verified(self, shown or proof, margin=margin, detail=detail, bits=bits)

    def _symbols(self, statement: "Statement") -> dict[str, sp.Symbol]:
        """Return the symbols of both sides by name; the relation itself may become true as definitions are put in."""
        return symbols_by_name(sp.Tuple(*statement.expand(self.relation).args))

    def _decided(
        self, statement: "Statement", values: Mapping[str, Any]
    ) -> tuple[bool | None, Fraction | Enclosure, int | None]:
        """Return whether it holds at some values, None where that is undecided; the margin; the bits."""
        margin, bits = evaluate_rising(self._margin(statement), values, sign=True)
        if isinstance(self.relation, sp.Eq):
            sign = sign_of(margin)
            return None if sign is None else sign == 0, margin, bits
        return holds(self.relation, margin), margin, bits

    def _margin(self, statement: "Statement") -> sp.Expr:
        """Return larger minus smaller side (of an equation right minus left), where both have values."""
        return difference(statement.expand(self.relation))

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
            return ClauseResult.verified(self, shown, detail=_POSITIVE)
        variables = self._symbols(context.statement)
        for point in spread_points([variables[name] for name in quantified]):
            named = {symbol.name: Fraction(int(value.p), int(value.q)) for symbol, value in point.items()}
            try:
                holds, margin, bits = self._decided(context.statement, {**context.instance, **named})
            except (UndefinedError, UndecidedError):
                continue
            if holds is False:
                proof, witness = point_proof(named, margin, bits), {**context.instance, **named}
                found = {"margin": margin, "detail": "the margin at a point", "witness": witness, "bits": bits}
                return ClauseResult.refuted(self, proof, **found)
        return ClauseResult.undecided(self, f"no proof was found for all values of {', '.join(quantified)}")

    def scan(self, statement: "Statement", instance: Mapping[str, Any]) -> float:
        """Return the margin over the sum of the two sides' sizes, the smallest at some values of the variables."""
        sides = statement.expand(self.relation).args
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
