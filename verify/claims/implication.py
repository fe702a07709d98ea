# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""A kind of clause: a relation holds for all values of the variables that satisfy some conditions."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

import sympy as sp
from sympy.core.relational import Relational

from verify.budget import look_at_the_clock, proof_work
from verify.claims.defaults import ClauseDefaults
from verify.claims.inequality import Inequality
from verify.claims.question import Proof, Question
from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.values import symbols_by_name
from verify.language.expressions import refuse_no_relation, to_data
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.language.symbolic_zeros import spread_points
from verify.outcomes import ClauseResult
from verify.printing import text_of
from verify.provers.proof_data import point_proof


@dataclass(frozen=True)
class Implication(ClauseDefaults):
    """A clause: a relation that holds for all values of the variables that satisfy the conditions.

    The clause states one deduction of a proof. The parameters range over their domains, and a proof of the clause may
    use the hypotheses.

    Parameters
    ----------
    label
        The clause's name.
    conditions
        The relations that are assumed, at least one.
    conclusion
        The relation that holds under the conditions.
    says
        The clause in words, printed in place of the relations.

    Raises
    ------
    TheoremError
        If there is no condition, or if a condition or the conclusion is no relation between expressions.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Implication
    >>> m, rho = sp.symbols("m rho", real=True)
    >>> bounded = Implication("bounded", (m > 0, sp.Le(1 - m + m * rho**2, 1)), sp.Le(rho, 1))
    >>> bounded.text
    'rho <= 1 where m > 0, m*rho**2 - m + 1 <= 1'
    """

    quantifies: ClassVar[bool] = True

    label: str
    conditions: tuple[Relational, ...]
    conclusion: Relational
    says: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.conditions, tuple) or not self.conditions:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError(f"clause {self.label}: its conditions must be a tuple of at least one relation")
        for each in (*self.conditions, self.conclusion):
            refuse_no_relation(f"clause {self.label}", each)

    def in_symbols(self) -> str:
        """Return the clause in symbols."""
        return f"{text_of(self.conclusion)} where {', '.join(map(text_of, self.conditions))}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the sides of all relations."""
        for each in (*self.conditions, self.conclusion):
            yield from each.args

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        return {
            "kind": "implication",
            "label": self.label,
            "says": self.says,
            "conditions": [to_data(each) for each in self.conditions],
            "conclusion": to_data(self.conclusion),
        }

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return a deduction from the conditions, or None."""
        from verify.provers.deduction.proofs import deduction_proof

        return deduction_proof(self.conclusion, statement, proof_work(), self.conditions, hypotheses=hypotheses)

    def evaluate(self, question: Question) -> ClauseResult:
        """Decide the clause by a proof for all parameters, or by a point that refutes it.

        The point satisfies the conditions and violates the conclusion.
        """
        shown, doubt = question.proof_for_all()
        if shown is not None:
            return ClauseResult.verified(self, shown, detail="deduced from its conditions, for all parameters")
        for point in chain(question.points or (), self._points(question.statement, question.instance)):
            try:
                against = self._against(question, point)
            except (UndefinedError, UndecidedError):
                continue
            if against is not None:
                return against
        return ClauseResult.undecided(self, "no proof was found from its conditions" + (f": {doubt}" if doubt else ""))

    def _against(self, question: Question, point: Mapping[str, Fraction]) -> ClauseResult | None:
        """Return the refutation at a point if it satisfies all conditions and violates the conclusion, else None."""
        values = {**question.instance, **point}
        *held, (holds, margin, bits) = (
            Inequality(self.label, each).decided(question.statement, values)
            for each in (*self.conditions, self.conclusion)
        )
        if holds is not False or not all(kept for kept, _, _ in held):
            return None
        why, proof = "the margin at a point that satisfies the conditions", point_proof(point, margin, bits)
        return ClauseResult.refuted(self, proof, margin=margin, detail=why, witness=values, bits=bits)

    def _points(self, statement: Statement, instance: Instance) -> Iterator[Mapping[str, Fraction]]:
        """Yield values of the variables: some fixed ones, then those that a search under the conditions finds."""
        from verify.evaluation.numerical.suspects import points_against

        yield from _spread(self._variables(statement, instance))
        alone = self._alone(statement, instance)
        if alone:
            yield from _found(alone)
        elif self._variables(statement, instance):
            concluded = Inequality(self.label, self.conclusion)
            yield from points_against(statement, concluded, instance, look_at_the_clock, self.conditions)

    def _alone(self, statement: Statement, instance: Instance) -> tuple[Relational, ...]:
        """Return the relations with definitions expanded, if only variables, not parameters, occur in them; else ()."""
        expanded = [statement.expand(each) for each in (*self.conditions, self.conclusion)]
        relations = tuple(each for each in expanded if isinstance(each, Relational))
        free = symbols_by_name(sp.Tuple(*relations))
        same = len(relations) == len(expanded) and bool(free) and free.keys().isdisjoint(instance)
        return relations if same else ()

    def _variables(self, statement: Statement, instance: Instance) -> list[sp.Symbol]:
        symbols = symbols_by_name(sp.Tuple(*(statement.expand(side) for side in self.expressions())))
        return [symbol for name, symbol in sorted(symbols.items()) if name not in instance]

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return the conclusion's least relative margin at points that satisfy the conditions; infinity without one."""
        if alone := self._alone(statement, instance):
            return _margin(alone)
        relations = (*self.conditions, self.conclusion)
        return _least(statement, relations, instance, _spread(self._variables(statement, instance)))


def _spread(variables: Sequence[sp.Symbol]) -> Iterator[Mapping[str, Fraction]]:
    for point in spread_points(variables) if variables else [{}]:
        yield {symbol.name: Fraction(int(value.p), int(value.q)) for symbol, value in point.items()}


def _least(
    statement: Statement, relations: Sequence[Relational], instance: Instance, points: Iterable[Mapping[str, Fraction]]
) -> float:
    """Return the last relation's least relative margin at points that satisfy the others; infinity if none does."""
    parts, least = [Inequality("", each) for each in relations], math.inf
    for point in points:
        named: dict[str, Any] = {**instance, **{name: float(value) for name, value in point.items()}}
        *conditions, margin = (part.scan(statement, named) for part in parts)
        least = min(least, margin) if min(conditions) >= 0 else least
    return least


def _bare(relations: Sequence[Relational]) -> Statement:
    """Return a statement without parameters whose only claim is the last of some relations."""
    variables = symbols_by_name(sp.Tuple(*relations))
    concluded = Inequality("alone", relations[-1])
    return Statement((), (concluded,), variables=tuple(variables[name] for name in sorted(variables)))


@lru_cache(maxsize=256)
def _found(relations: tuple[Relational, ...]) -> tuple[Mapping[str, Fraction], ...]:
    """Return the points at which an implication without parameters seems to fail; the result is cached."""
    from verify.evaluation.numerical.suspects import points_against

    statement = _bare(relations)
    return tuple(points_against(statement, statement.claims[0], {}, look_at_the_clock, relations[:-1]))


@lru_cache(maxsize=256)
def _margin(relations: tuple[Relational, ...]) -> float:
    """Return the least relative margin that a search finds for an implication without parameters."""
    statement = _bare(relations)
    return _least(statement, relations, {}, chain(_spread(statement.variables), _found(relations)))
