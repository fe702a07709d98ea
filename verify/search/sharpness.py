"""The sharpness of a clause's bound: the bound beside the value found, the best proved bound, and the trivial bound."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from verify.checking.decide import decided
from verify.checking.theorem import Bound, Theorem
from verify.claims.inequality import Inequality
from verify.claims.question import Question
from verify.errors import BeyondReachError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import Range, solvable
from verify.evaluation.values import symbols_by_name
from verify.language.parameters import Value
from verify.language.statement import Statement
from verify.outcomes import Enclosure, Quantity, as_float, is_shortened, json_numbers, short_text
from verify.printing import text_of
from verify.search.plans import Plan


@dataclass(frozen=True)
class Sharpness:
    """The two sides of an inequality at the instance at which a search found them closest.

    The inequality states `reached` ≤ `claimed`, and `ratio` = `reached`/`claimed`; all three are exact numbers or
    enclosures. No bound smaller than ratio · claimed holds at the instance. `best_proved` and `free` are the values of
    the theorem's `Bound` there, None without a bound. `vacuous` says whether `free` ≤ `claimed`. `bites` is the range
    of one parameter in which the claimed bound is smaller than the free one, with the other parameters as at the
    instance.
    """

    clause: str
    instance: Mapping[str, Value]
    claimed: Quantity
    reached: Quantity
    ratio: Quantity
    best_proved: Quantity | None = None
    free: Quantity | None = None
    vacuous: bool | None = None
    bites: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return the sharpness as an object of `verify explore --json`."""
        numbers = {"claimed": self.claimed, "found": self.reached, "ratio": self.ratio}
        numbers |= {"best_proved": self.best_proved, "free": self.free}
        return {
            "clause": self.clause,
            "instance": json_numbers(self.instance),
            **json_numbers(numbers),
            "vacuous": self.vacuous,
            "bites": self.bites,
        }


def sharpness(theorem: Theorem, plan: Plan, nearest: Mapping[str, Mapping[str, Value]]) -> tuple[Sharpness, ...]:
    """Return the sharpness of each clause that bounds one positive quantity by another, at its nearest miss."""
    results = []
    for clause in theorem.statement.clauses:
        if not isinstance(clause.relation, sp.Eq | None) and clause.label in nearest:
            try:
                results.append(_measured(clause.label, theorem, plan, nearest[clause.label]))
            except (BeyondReachError, UndefinedError, UndecidedError, ZeroDivisionError):
                continue
    return tuple(result for result in results if result is not None)


def _measured(label: str, theorem: Theorem, plan: Plan, instance: Mapping[str, Value]) -> Sharpness | None:
    statement = theorem.statement.specialised(instance)
    relation = next(c for c in statement.clauses if c.label == label).relation
    assert relation is not None
    small, large = relation.lts, relation.gts  # pyright: ignore[reportAttributeAccessIssue]
    if symbols_by_name(statement.expand(relation)).keys() - instance.keys():
        # The claim is for all values of some variables: it has no single bound.
        return None
    question = Question(statement, instance)
    claimed, reached = question.value(large), question.value(small)
    if least(claimed) <= 0 or least(reached) <= 0:
        return None
    bound = theorem.bounds.get(label)
    plain = {p.name: instance[p.name] for p in statement.parameters}
    known = {} if bound is None else _held_against(bound, small, large, statement, question, plan)
    return Sharpness(label, plain, claimed, reached, question.value(small / large), **known)


def _held_against(
    bound: Bound, small: sp.Expr, claimed: sp.Expr, statement: Statement, question: Question, plan: Plan
) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if bound.proved is not None:
        known["best_proved"] = question.value(bound.proved)
        proved = Inequality("proved", sp.Le(small, bound.proved, evaluate=False))
        if decided(statement, question.instance, proved).holds is False:
            shown = ", ".join(f"{name} = {value}" for name, value in question.instance.items())
            raise TheoremError(f"bound: the bound given as proved, {text_of(bound.proved)}, does not hold at {shown}")
    if bound.free is not None:
        bites = sp.Lt(claimed, bound.free, evaluate=False)
        known["free"] = question.value(bound.free)
        bite = decided(statement, question.instance, Inequality("bites", bites)).holds
        known["vacuous"] = None if bite is None else not bite
        if bound.along is not None:
            known["bites"] = _range_text(statement.expand(bites), bound.along, question.instance, plan)
    return known


def _range_text(relation: sp.Basic, along: str, instance: Mapping[str, Value], plan: Plan) -> str:
    """Return, as text, the admissible values of a parameter at which the relation holds, with the others as given."""
    parameter = next(p for p in plan.parameters if p.name == along)
    parts = plan.ranges(parameter, instance)
    for each in (relation, *(bound.relation for bounds in plan.bounds.values() for bound in bounds)):
        names = set(map(str, each.free_symbols))
        if along in names or each is relation:
            solved = solvable(each, along, frozenset(names - {along}))
            parts = tuple(part for whole in parts for part in solved.ranges(instance, whole))
    if parameter.kind == "integer":
        parts = tuple(part.integers() for part in parts)
    return " or ".join(_text(part, along) for part in parts if not part.empty) or f"no value of {along}"


def _text(part: Range, name: str) -> str:
    low = "" if part.low is None else f"{_short(part.low)} {'<' if part.low_open else '<='} "
    high = "" if part.high is None else f" {'<' if part.high_open else '<='} {_short(part.high)}"
    return f"{low}{name}{high}"


def _short(end: Fraction) -> str:
    """Return the exact text of an end if it is short, else its value to seven digits."""
    return f"{number:.7g}" if is_shortened(end) and (number := as_float(end)) else short_text(end, 7)


def least(value: Quantity) -> Fraction | int:
    """Return a number itself, or the lower end of an enclosure, which must have one."""
    lower = value.lower if isinstance(value, Enclosure) else value
    assert lower is not None
    return lower
