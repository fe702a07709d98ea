"""Clauses of a claim: as data, and their evaluation by the engine at an instance."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import sympy as sp

from verify.arithmetic import FIRST_BITS, LAST_BITS, Exact, balls, enclosure_of_ball, exact_fraction
from verify.compile import compile_program
from verify.dynamics import (
    INTERRUPTED,
    Dynamics,
    Passage,
    Progress,
    first_passage,
)
from verify.errors import NotExactError, TheoremError, UndecidedError, UndefinedError
from verify.identities import carry_out, sample_points, vanishes
from verify.language import RELATIONS, to_data
from verify.outcomes import ClauseResult, Enclosure, Evidence, Outcome

if TYPE_CHECKING:
    from verify.statement import Statement


@dataclass
class Context:
    """What a clause is evaluated in: the statement, the instance, the proof data and the time left."""

    statement: "Statement"
    instance: Mapping[str, Any]
    proofs: Mapping[str, Any]
    deadline: float
    digits: int = 17
    progress: Progress | None = None
    passages: dict[Any, Passage] = field(default_factory=dict)
    interrupted: bool = False

    def value(self, expression: sp.Basic) -> Fraction | Enclosure:
        """Return the value of an expression of the parameters, to the digits asked for."""
        return evaluate_rising(self.statement.expand(expression), self.instance, digits=self.digits)[0]

    def passage(self, dynamics: Dynamics, level: Fraction, last_step: int | None = None) -> Passage:
        """Return the first passage of the level, computed once for all clauses."""
        key = (dynamics, level, last_step)
        if key not in self.passages:
            self.passages[key] = first_passage(
                dynamics, level, self.instance, deadline=self.deadline, last_step=last_step, progress=self.progress
            )
        if self.passages[key].why == INTERRUPTED:
            self.interrupted, self.deadline = True, time.monotonic()
        return self.passages[key]


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


def evaluate_rising(
    expression: sp.Basic, instance: Mapping[str, Any], *, digits: int = 0, sign: bool = False
) -> tuple[Fraction | Enclosure, int | None]:
    """Return a number's exact value, or a ball raised until it has `digits` digits and (`sign`) a decided sign.

    Gives up at 4096 bits with the enclosure it has. Raises UndefinedError where the expression has
    no value. The second result is the number of bits, None when exact.
    """
    expression, names = sp.sympify(expression), _named(expression)
    program = compile_program([expression], tuple(names.values()))
    exact = Exact()
    try:
        arguments = [exact.number(instance[name]) for name in names]
        (raw,) = program.bind(exact)(*arguments)
        return exact_fraction(exact.checked(raw)), None
    except NotExactError:
        pass
    except ZeroDivisionError:
        raise UndefinedError(f"{expression}: division by zero") from None
    bits = max(FIRST_BITS, 4 * digits)
    while True:
        with balls(bits) as ball:
            (raw,) = program.bind(ball)(*(ball.number(instance[name]) for name in names))
            good = raw.is_finite() and raw.rel_accuracy_bits() >= 3.33 * digits
            if sign:
                good = good and bool(raw > 0 or raw < 0)
            if good or 2 * bits > LAST_BITS:
                if not raw.is_finite():
                    raise UndefinedError(f"{expression}: no finite value")
                return enclosure_of_ball(raw), bits
        bits *= 2


def _named(expression: sp.Basic) -> dict[str, sp.Symbol]:
    return {symbol.name: symbol for symbol in sorted(expression.free_symbols, key=str)}  # type: ignore[attr-defined]


def _sign(value: Fraction | Enclosure) -> int | None:
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    assert value.lower is not None and value.upper is not None
    return 1 if value.lower > 0 else -1 if value.upper < 0 else 0 if value.lower == value.upper == 0 else None


@cache
def _vanishes(difference: sp.Expr) -> bool:
    return vanishes(difference)


@dataclass(frozen=True)
class Identity:
    """left = right, for all values of the statement's variables."""

    label: str
    left: sp.Expr
    right: sp.Expr
    says: str = ""

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
        return {"kind": "identity", "label": self.label, "left": to_data(left), "right": to_data(right)}

    def evaluate(self, context: Context) -> ClauseResult:
        """Look for a symbolic zero: for all parameters, else at the instance, else for a point that refutes it."""
        difference = carry_out(context.statement.expand(self.left - self.right))
        try:
            if _vanishes(difference):
                detail = "symbolic zero for all parameters"
                return ClauseResult(self.label, self.text, Outcome.VERIFIED, Evidence.PROVED, Fraction(0), detail)
            here = difference.subs(
                {s: v for n, s in _named(difference).items() if (v := _exact(context, n)) is not None}
            )
            if _vanishes(here):
                detail = "symbolic zero at this instance"
                return ClauseResult(self.label, self.text, Outcome.VERIFIED, Evidence.CERTIFIED, Fraction(0), detail)
        except TheoremError as error:
            why = str(error)
        else:
            why = "no point found at which the two sides differ"
        variables = [s for name, s in _named(difference).items() if name not in context.instance]
        for point in sample_points(variables):
            values = {**context.instance, **{s.name: Fraction(int(v.p), int(v.q)) for s, v in point.items()}}
            try:
                value, bits = evaluate_rising(difference, values, sign=True)
            except (UndefinedError, UndecidedError):
                continue
            if _sign(value):
                witness = {**values, "left_minus_right": value}
                detail = "the two sides differ"
                return ClauseResult(
                    self.label, self.text, Outcome.REFUTED, Evidence.CERTIFIED, value, detail, witness, bits=bits
                )
        return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, detail=why)


def _exact(context: Context, name: str) -> sp.Rational | None:
    value = context.instance.get(name)
    return sp.Rational(value.numerator, value.denominator) if isinstance(value, int | Fraction) else None


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
        return {"kind": "inequality", "label": self.label, "relation": to_data(self.relation)}

    def evaluate(self, context: Context) -> ClauseResult:
        """Decide the sign of the margin, exactly where it is rational, else in balls of rising precision."""
        left, right = self.relation.args
        if isinstance(self.relation, sp.StrictGreaterThan | sp.GreaterThan):
            left, right = right, left
        try:
            margin, bits = evaluate_rising(context.statement.expand(right - left), context.instance, sign=True)
        except UndefinedError as error:
            return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, detail=str(error))
        sign = _sign(margin)
        if isinstance(self.relation, sp.Eq):
            holds = None if sign is None else sign == 0
        else:
            strict = isinstance(self.relation, sp.StrictLessThan | sp.StrictGreaterThan)
            holds = None if sign is None else sign > 0 or (sign == 0 and not strict)
        if holds is None:
            detail = f"the sign of the margin is undecided at {bits} bits"
            return ClauseResult(self.label, self.text, Outcome.INCONCLUSIVE, None, margin, detail, bits=bits)
        outcome = Outcome.VERIFIED if holds else Outcome.REFUTED
        witness = {} if holds else dict(context.instance)
        return ClauseResult(self.label, self.text, outcome, Evidence.CERTIFIED, margin, "", witness, bits=bits)
