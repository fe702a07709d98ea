# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""A clause that a relation holds wherever some others do, for all values of variables."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

import sympy as sp

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
    """A clause: a relation that holds for all values of the statement's variables for which some conditions do.

    It is one deduction of a proof: the parameters keep their domains, and the hypotheses where the proof uses them.

    Parameters
    ----------
    label
        Its name.
    conditions
        Relations, each supposed where those before it hold.
    conclusion
        The relation that follows.
    says
        The clause in words, which is printed in place of the relations.

    Raises
    ------
    TheoremError
        For no condition, and for what is no relation between expressions.

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
    conditions: tuple[sp.core.relational.Relational, ...]
    conclusion: sp.core.relational.Relational
    says: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.conditions, tuple) or not self.conditions:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError(f"clause {self.label}: its conditions must be a tuple of at least one relation")
        for each in (*self.conditions, self.conclusion):
            refuse_no_relation(f"clause {self.label}", each)

    def in_symbols(self) -> str:
        """Return the relation, and where it holds."""
        return f"{text_of(self.conclusion)} where {', '.join(map(text_of, self.conditions))}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the sides of all relations."""
        for each in (*self.conditions, self.conclusion):
            yield from each.args

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
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
        """Decide it by a proof for all parameters, or by a point that keeps the conditions and not the relation."""
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
        """Return the refutation at a point, None where the point keeps the relation, or not all conditions."""
        values = {**question.instance, **point}
        *held, (holds, margin, bits) = (
            Inequality(self.label, each).decided(question.statement, values)
            for each in (*self.conditions, self.conclusion)
        )
        if holds is not False or not all(kept for kept, _, _ in held):
            return None
        why, proof = "the margin at a point that keeps the conditions", point_proof(point, margin, bits)
        return ClauseResult.refuted(self, proof, margin=margin, detail=why, witness=values, bits=bits)

    def _points(self, statement: Statement, instance: Instance) -> Iterable[Mapping[str, Fraction]]:
        """Return values of the variables: some spread, and those that a search under the conditions finds."""
        alone = self._alone(statement, instance)
        return self._searched(statement, instance) if alone is None else _found(alone)

    def _alone(self, statement: Statement, instance: Instance) -> "_Alone | None":
        """Return what is known of it at all instances, None where a parameter is in it."""
        relations = tuple(map(statement.expand, (*self.conditions, self.conclusion)))
        free = symbols_by_name(sp.Tuple(*relations))
        if not free or not free.keys().isdisjoint(instance):
            return None
        search = lambda: self._searched(statement, instance)  # noqa: E731
        return _Alone(relations, search, lambda points: self._least(statement, instance, points))

    def _searched(self, statement: Statement, instance: Instance) -> Iterator[Mapping[str, Fraction]]:
        from verify.evaluation.numerical.suspects import points_against

        yield from self._spread(statement, instance)
        concluded = Inequality(self.label, self.conclusion)
        if self._variables(statement, instance):
            yield from points_against(statement, concluded, instance, look_at_the_clock, self.conditions)

    def _spread(self, statement: Statement, instance: Instance) -> Iterator[Mapping[str, Fraction]]:
        variables = self._variables(statement, instance)
        for point in spread_points(variables) if variables else [{}]:
            yield {symbol.name: Fraction(int(value.p), int(value.q)) for symbol, value in point.items()}

    def _variables(self, statement: Statement, instance: Instance) -> list[sp.Symbol]:
        symbols = symbols_by_name(sp.Tuple(*(statement.expand(side) for side in self.expressions())))
        return [symbol for name, symbol in sorted(symbols.items()) if name not in instance]

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return the least relative margin at some values that keep the conditions; infinity at none."""
        alone = self._alone(statement, instance)
        return self._least(statement, instance, self._spread(statement, instance)) if alone is None else _margin(alone)

    def _least(self, statement: Statement, instance: Instance, points: Iterable[Mapping[str, Fraction]]) -> float:
        parts = [Inequality(self.label, each) for each in (*self.conditions, self.conclusion)]
        least = math.inf
        for point in points:
            named: dict[str, Any] = {**instance, **{name: float(value) for name, value in point.items()}}
            *conditions, margin = (part.scan(statement, named) for part in parts)
            least = min(least, margin) if min(conditions) >= 0 else least
        return least


@dataclass(frozen=True)
class _Alone:
    """The relations of an implication without parameters, which stands or falls at all instances alike."""

    relations: tuple[sp.Basic, ...]
    search: Callable[[], Iterator[Mapping[str, Fraction]]] = field(compare=False)
    least: Callable[[Iterable[Mapping[str, Fraction]]], float] = field(compare=False)


@lru_cache(maxsize=256)
def _found(alone: _Alone) -> tuple[Mapping[str, Fraction], ...]:
    """Return the points that a search finds, which is made once."""
    return tuple(alone.search())


@lru_cache(maxsize=256)
def _margin(alone: _Alone) -> float:
    """Return the least relative margin at these points."""
    return alone.least(_found(alone))
