"""Many instances at once in float64 with error estimates: rows with the evidence `computed`, if these decide them.

A statement is scanned if each clause is an inequality between expressions of the parameters, or proved for all of
them, and its reported values are expressions. Domain and hypotheses are decided exactly, all clauses and values by
estimates. An instance that these leave open, or would refute, is left to the exact check.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from verify.checking.check import check
from verify.checking.reported_values import Value, ValueLargest, ValueWhere
from verify.checking.theorem import Theorem
from verify.claims.float_signs import has_float_sides, smaller_first
from verify.claims.in_words import in_words
from verify.errors import InputError, NotExactError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import Exact, exact_fraction
from verify.evaluation.instances import parse
from verify.evaluation.programs import compile_program
from verify.evaluation.running_errors import SAFETY, Estimate, Estimates
from verify.evaluation.values import holds, symbols_by_name
from verify.language.expressions import enclosed_applications
from verify.language.statement import ClauseData, Hypothesis, Statement
from verify.outcomes import CheckResult, Evidence, Outcome, json_numbers
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import Effort, Point, Row, trusted


@dataclass
class Scan:
    """A theorem at some words, compiled: `rows` of many instances.

    `checked` has, for in scope and out of it, one instance's exact check: a clause proved there is proved for all.
    """

    theorem: Theorem
    statement: Statement
    names: tuple[str, ...]
    relations: tuple[Relational, ...]
    slacks: Callable[..., tuple[Any, ...]]
    clauses: tuple[ClauseData, ...]
    values: Mapping[str, Value]
    sides: Callable[..., tuple[Any, ...]]
    checked: dict[bool, CheckResult] = field(default_factory=dict)

    def rows(self, points: Sequence[Point], effort: Effort) -> list[Row | None]:
        """Return a row for each instance that is decided here, None for the others."""
        started = time.monotonic()
        scopes = [self._scope(point) for point in points]
        rows: list[Row | None] = [None] * len(points)
        for in_scope in (True, False):
            places = [i for i, scope in enumerate(scopes) if scope is in_scope]
            if places:
                chosen = [points[i] for i in places]
                for i, row in zip(places, self._rows_in_scope(chosen, effort, in_scope=in_scope), strict=True):
                    rows[i] = row
        share = (time.monotonic() - started) / max(1, sum(row is not None for row in rows))
        return [row and {**row, "seconds": round(share, 6)} for row in rows]

    def _scope(self, point: Point) -> bool | None:
        """Return whether an instance is in scope, exactly; None for values that are no instance, or not rational."""
        exact = Exact()
        try:
            slacks = self.slacks(*(exact.number(point[name]) for name in self.names))
        except (NotExactError, UndefinedError, UndecidedError, ZeroDivisionError):
            return None
        domain = len(self.statement.domain)
        kept = [holds(r, exact_fraction(exact.checked(s))) for r, s in zip(self.relations, slacks, strict=True)]
        words = (h.varies for h in self.statement.hypotheses if h.varies)
        papers = all(point.get(word.name, word.words[0]) == word.words[0] for word in words)
        return papers and all(kept[domain:]) if all(kept[:domain]) else None

    def _rows_in_scope(self, points: Sequence[Point], effort: Effort, *, in_scope: bool) -> list[Row | None]:
        if in_scope not in self.checked:
            plain = replace(self.theorem, evaluations={})
            self.checked[in_scope] = check(plain, points[0], seconds=effort.seconds, seed=effort.seed)
        checked = self.checked[in_scope]
        if checked.interrupted:
            del self.checked[in_scope]
            raise KeyboardInterrupt
        proved = {c.label: trusted(c.trusts) for c in checked.clauses if c.evidence is Evidence.PROVED}
        said = in_words(self.statement)
        decidable = proved.keys() | said | {clause.label for clause in self.clauses}
        if any(clause.label not in decidable for clause in checked.clauses):
            return [None] * len(points)
        arithmetic = Estimates()
        with np.errstate(all="ignore"):
            try:
                inputs = [arithmetic.numbers([point[name] for point in points]) for name in self.names]
                estimates = [_spread(part, len(points)) for part in self.sides(*inputs)]
            except (UndefinedError, OverflowError, ZeroDivisionError):
                return [None] * len(points)
            sides = zip(self.clauses, estimates[::2], estimates[1::2], strict=False)
            margins = {clause.label: high - low for clause, low, high in sides}
            good = np.ones(len(points), dtype=bool)
            for label, margin in margins.items():
                # This holds of a proved clause too: JSON has no infinity.
                good &= np.isfinite(margin.value) & np.isfinite(SAFETY * margin.error)
                good &= True if label in proved else margin.sign()[0]
            values, known = self._values(estimates[2 * len(self.clauses) :], len(points))
        good = good & known
        own = [Evidence.PROVED if claim.label in proved else Evidence.COMPUTED for claim in checked.claims]
        claim = Outcome.INCONCLUSIVE if said else Outcome.VERIFIED
        evidence = None if said else Evidence.weakest(own)
        outcome = claim if in_scope else Outcome.OUT_OF_SCOPE
        # As the check's own: the trusts of the claims' proofs, and those of the scope.
        scope = trusted(checked.scope_trusts) if in_scope else []
        known = {*scope, *(each for claim in checked.claims for each in proved.get(claim.label, ()))}
        trusts = sorted(known) if evidence is Evidence.PROVED else []
        shared = {"in_scope": in_scope, "outcome": outcome, "claim": claim, "evidence": evidence, "trusts": trusts}
        rows: list[Row | None] = [None] * len(points)
        for i in np.flatnonzero(good).tolist():
            clauses = [
                _IN_WORDS | {"label": c.label}
                if c.label in said
                else _clause(c.label, margins.get(c.label), i, proved.get(c.label))
                for c in checked.clauses
            ]
            shown = {key: value for name in values for key, value in _shown(name, values[name][i]).items()}
            instance = {"instance": json_numbers({p.name: points[i][p.name] for p in self.statement.parameters})}
            rows[i] = {**instance, **shared, "clauses": clauses, "values": shown, "detail": "", "error": ""}
        return rows

    def _values(self, estimates: Sequence[Estimate], count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return each value's truths or numbers, NaN for none, and a mask of the instances at which all are known."""
        parts, good = iter(estimates), np.ones(count, dtype=bool)
        read = dict[str, np.ndarray]()
        for name, value in self.values.items():
            if isinstance(value, Relational):
                read[name], known = _held(value, next(parts), next(parts))
            elif isinstance(value, ValueLargest):
                many = [next(parts) for _ in value.expressions]
                # The largest is known where none of them could be it and is known less well.
                largest = Estimate(*np.array([(one.value, one.error) for one in many]).max(axis=0))
                read[name], known = largest.value, largest.known(SWEEP.float_error)
            else:
                read[name], known = _first_applying(_cases(value), parts, count)
            good &= known
        return read, good


def _first_applying(
    cases: Iterable[ValueWhere], parts: Iterator[Estimate], count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the first case whose relations hold, NaN for none, and a mask of those that are known."""
    numbers, known, taken = np.full(count, np.nan), np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    for case in cases:
        applies = ~taken
        for relation in case.relations:
            held, sure = _held(relation, next(parts), next(parts))
            known &= sure | taken
            applies &= held
        expression = next(parts)
        numbers = np.where(applies, expression.value, numbers)
        known &= ~applies | expression.known(SWEEP.float_error)
        taken |= applies
    return numbers, known


def _shown(name: str, number: np.generic) -> dict[str, bool | float | None]:
    """Return a value as a row has it: a truth, or a number's float alone; nothing for NaN."""
    if isinstance(number, np.bool_):
        return {name: bool(number)}
    return {name: None} if np.isnan(number) else {name: None, f"{name}_float": float(number)}


_IN_WORDS: dict[str, Any] = {
    **dict.fromkeys(("label", "unchecked", "detail"), ""),
    **dict.fromkeys(("holds", "evidence", "margin", "error")),
    "rechecked": False,
    "trusts": [],
    "witness": {},
}
"""The entry of a claim in words in a row, but for its label."""


def _clause(label: str, margin: Estimate | None, i: int, trusts: list[str] | None) -> dict[str, Any]:
    """Return a clause's part of a row; `trusts` are those of a proof of it for all parameters, None without one."""
    proved = trusts is not None
    evidence = Evidence.PROVED if proved else Evidence.COMPUTED
    body: dict[str, Any] = {"label": label, "holds": True, "evidence": evidence, "margin": None, "error": None}
    if margin is None:
        body |= {"margin": 0, "margin_float": 0.0, "error": 0, "error_float": 0.0}
    else:
        body |= {"margin_float": float(margin.value[i]), "error_float": SAFETY * float(margin.error[i])}  # pyright: ignore[reportIndexIssue]
    unchecked = "" if proved else "decided in float64"
    said = {"unchecked": unchecked, "detail": "", "witness": {}}
    return {**body, "rechecked": proved, "trusts": trusts or [], **said}


def _held(relation: Relational, left: Estimate, right: Estimate) -> tuple[np.ndarray, np.ndarray]:
    """Return the masks of rows where a relation holds and where that is sure; an equality never surely holds."""
    upward = isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan)
    above, below = (left - right if upward else right - left).sign()
    return (np.zeros_like(above), above | below) if isinstance(relation, sp.Eq) else (above, above | below)


def _spread(part: Estimate, count: int) -> Estimate:
    return Estimate(np.broadcast_to(part.value, count), np.broadcast_to(part.error, count))


def _cases(value: Value) -> tuple[ValueWhere, ...]:
    return value if isinstance(value, tuple) else (value if isinstance(value, ValueWhere) else ValueWhere(value, ()),)


def _value_parts(value: Value) -> list[sp.Basic]:
    """Return a value's expressions in the order in which they are read. Raises TheoremError for one of another kind."""
    if isinstance(value, Relational):
        return list(value.args)
    if isinstance(value, ValueLargest):
        return list(value.expressions)
    if isinstance(value, sp.Expr | ValueWhere | tuple):
        return [
            part for case in _cases(value) for part in (*(s for r in case.relations for s in r.args), case.expression)
        ]
    raise TheoremError(f"{type(value).__name__}: not a value that is scanned")


def scan_of(theorem: Theorem, point: Point) -> Scan | None:
    """Return the scan of a theorem at the words of an instance; None if it cannot be scanned."""
    try:
        instance = parse(theorem.statement, point)
    except InputError:
        return None
    if any(parameter.name not in point for parameter in theorem.statement.parameters if not parameter.words):
        # A default is worked out for each instance.
        return None
    statement = theorem.statement.specialised(instance)
    numbers = {name for name, value in instance.items() if isinstance(value, int | Fraction)}
    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
    slacks = [statement.expand(Hypothesis("slack", relation).slack) for relation in relations]
    values = {name: statement.specialise(value, instance) for name, value in theorem.values.items()}
    try:
        clauses = tuple(clause for clause in statement.clauses if has_float_sides(clause, statement, numbers))
        sides = [statement.expand(part) for clause in clauses for part in smaller_first(clause)]
        sides += [statement.expand(sp.sympify(part)) for value in values.values() for part in _value_parts(value)]
        names = symbols_by_name(sp.Tuple(*slacks, *sides))
        if not set(names) <= numbers or any(enclosed_applications(part) for part in (*slacks, *sides)):
            return None
        symbols = tuple(names.values())
        program = compile_program(sides, symbols)
        if program.primitives:
            return None
        slacks_at, sides_at = compile_program(slacks, symbols).bind(Exact()), program.bind(Estimates())
    except (TheoremError, ArithmeticError):
        # Constants are evaluated here: one beyond float64, or one that is not defined.
        return None
    return Scan(theorem, statement, tuple(names), tuple(relations), slacks_at, clauses, values, sides_at)
