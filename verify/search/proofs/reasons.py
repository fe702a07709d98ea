"""Reasons why `prove` leaves a claim open: the attempts of the searches, the open parts, and advice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from verify.language.statement import Statement
from verify.outcomes import assignments_text, count_text, json_numbers
from verify.printing import text_of
from verify.provers.deduction.account.record import Record, record_of
from verify.search.results import ExploreResult

_HEADS = {"positive": "> 0", "nonnegative": ">= 0", "nonzero": "other than 0"}
_OTHER_KINDS = ("constant", "positive", "squares", "cases", "logarithms")
"""The kinds of proof that are tried before a deduction; none of them proves an equation."""
_DEGREES = range(2, 5)
_ENDS = {
    "tried": "all ways that the search knows were tried, with {0} of {1} columns of work",
    "work": "the work was spent: {1} columns",
    "seconds": "the time ran out in the search",
    "refused": "no deduction was looked for: {2}",
}


@dataclass(frozen=True)
class Reasons:
    """Reasons why a clause is open.

    Parameters
    ----------
    kinds
        The kinds of proof that were tried.
    record
        The record of the search for a deduction.
    rewritten
        Hypotheses in a single symbol that are not linear in it, each with the equivalent bounds on the symbol.
    """

    kinds: tuple[str, ...]
    record: Record
    rewritten: Mapping[str, str] = field(default_factory=dict[str, str])

    def lines(self) -> Iterator[str]:
        """Yield the kinds of proof tried, the end of the search, its open parts, and its advice, a line each."""
        record = self.record
        yield f"tried: {', '.join(self.kinds)}{f': {self._effort()}' if record.linear else ''}"
        yield "ended: " + _ENDS[record.ended].format(record.spent, record.limit, record.refused)
        yield from (f"nearest: {part}" for part in record.open_parts())
        if record.fails_at:
            yield f"seems to fail, in float64, at {_floats(record.fails_at)}: no deduction was looked for"
        yield from (f"no value: {of} is not shown to be {_HEADS[need]}" for of, need in record.without_value)
        yield from (f"not used: {text}, which is not shown to have a value" for text in record.unused)
        yield from (f"left out: {text}, with which the statement is too long" for text in record.left_out)
        yield from (f"may help: {text}" for text in self.help())

    def help(self) -> Iterator[str]:
        """Yield changes that may help against the obstacles that the search met; none if the clause seems to fail."""
        record = self.record
        if record.fails_at:
            return
        if record.without_value:
            yield f"a hypothesis, or a domain, by which {record.without_value[0][0]} has that sign"
        if record.unsigned:
            first, names = record.unsigned[0], ", ".join(record.unsigned)
            yield f"the sign of {names} is not known: say `for {first} > 0`, or >= 0, where it is so"
        for relation, bounds in self.rewritten.items():
            yield f"{relation} is not linear: write it as `{bounds}`, from which slopes begin"
        if record.ended == "refused":
            yield "a parameter in place of a long part"
        elif record.ended in ("work", "seconds") or record.open_parts():
            yield "a step for an open part, with multipliers of the step and the hypotheses (`by`)"

    def to_json(self) -> dict[str, Any]:
        """Return the reasons as an object of JSON."""
        record = self.record
        return {
            "tried": list(self.kinds),
            "ended": record.ended,
            "work": record.spent,
            "work_limit": record.limit,
            "ways": {way: count for way, count in record.ways.items() if way},
            "linear_programs": record.linear,
            "most_columns": record.columns,
            "semidefinite_programs": record.squares,
            "open_parts": record.open_parts(),
            "without_value": [{"expression": of, "needs": _HEADS[need]} for of, need in record.without_value],
            "not_used": list(record.unused),
            "left_out": list(record.left_out),
            "without_sign": list(record.unsigned),
            "fails_at": dict(record.fails_at) or None,
            "may_help": list(self.help()),
        }

    def _effort(self) -> str:
        record = self.record
        programs = f"{count_text(record.linear, 'linear program')} of up to {record.columns} columns"
        programs += f", {record.squares} semidefinite" if record.squares else ""
        ways = ", ".join(f"{way} {count}" for way, count in record.ways.items() if way)
        return f"{programs}{f'; ways: {ways}' if ways else ''}"


def reasons_of(statement: Statement, clause: Any, work: int) -> Reasons | None:
    """Return the reasons why no proof of a clause was found with `work`, or None.

    The result is None if no proof was looked for, or one was found. In `statement` and `clause` every choice by a word
    is already decided.
    """
    if clause.relation is None:
        return None
    found = (record_of((clause.relation, statement, work, hypotheses)) for hypotheses in (True, False))
    record = next((each for each in found if each is not None), None)
    if record is None or record.ended == "proved":
        return None
    kinds = () if clause.relation.func.__name__ == "Equality" else _OTHER_KINDS
    relations = [h.relation for h in statement.hypotheses if h.relation is not None]
    bounds = {text_of(relation): found for relation in relations if (found := bounds_of(relation)) is not None}
    return Reasons((*kinds, "deduction"), record, bounds)


def bounds_of(relation: Any) -> str | None:
    """Return, as text, the rational bounds equivalent to an inequality of degree 2 to 4 in one symbol, or None."""
    x, margin = sp.Dummy(real=True), relation.lhs - relation.rhs
    if len(margin.free_symbols) != 1 or relation.func in (sp.Eq, sp.Ne):
        return None
    (symbol,) = margin.free_symbols
    if not margin.is_polynomial(symbol) or sp.degree(margin, symbol) not in _DEGREES:
        return None
    try:
        found = sp.solve_univariate_inequality(relation.xreplace({symbol: x}), x, relational=False)
    except NotImplementedError:
        return None
    if not isinstance(found, sp.Interval) or not all(end.is_Rational or end.is_infinite for end in found.args[:2]):
        return None
    below = "" if found.start.is_infinite else f"{found.start} {'<' if found.left_open else '<='} "
    above = "" if found.end.is_infinite else f" {'<' if found.right_open else '<='} {found.end}"
    return f"{below}{symbol}{above}" if below or above else None


@dataclass(frozen=True)
class Searched:
    """The report of a search that found no counterexample to the claims not proved."""

    found: ExploreResult

    def text(self) -> str:
        """Return, as text, the number of instances searched, and the instance nearest to violating a claim."""
        found = self.found
        least = f"; smallest relative margin {found.smallest_margin:.3g}" if found.smallest_margin is not None else ""
        nearest = f" at {assignments_text(found.nearest)}" if least and found.nearest else ""
        counts = f" ({found.verdicts})" if found.verdicts else ""
        return f"no counterexample in {count_text(found.examples, 'instance')}{counts}{least}{nearest}"

    def to_json(self) -> dict[str, Any]:
        """Return the report as an object of JSON."""
        counts = ("examples", "clean", "undecided", "not_reached", "without_value", "smallest_margin")
        nearest = None if self.found.nearest is None else json_numbers(self.found.nearest)
        return {name: getattr(self.found, name) for name in counts} | {"nearest": nearest}


def _floats(point: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value:.6g}" for name, value in point.items())
