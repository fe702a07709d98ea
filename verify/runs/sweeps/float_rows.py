"""Decisions at many instances at once, in float64 with error estimates, for the arrays of a block.

A statement is scanned if each clause is in words, is proved for all parameters, or is an inequality between expressions
of the parameters, and if the reported values are given by expressions. Estimates decide domain, hypotheses, clauses and
values; a domain or a hypothesis that they leave open is decided exactly. An instance at which a clause or a value is
open, or a clause seems false, is left to the exact check.
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
from verify.outcomes import CheckResult, Evidence, Outcome
from verify.runs.sweeps.blocks import Block, Part
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import Effort, Point, trusted


@dataclass
class Scan:
    """A theorem at fixed values of its words, compiled to decide many instances.

    `checked` has the exact checks of one instance in scope and of one instance out of scope: a clause that is proved
    there is proved for all parameters.
    """

    theorem: Theorem
    statement: Statement
    names: tuple[str, ...]
    relations: tuple[Relational, ...]
    slacks: Callable[..., tuple[Any, ...]]
    near: Callable[..., tuple[Any, ...]]
    clauses: tuple[ClauseData, ...]
    values: Mapping[str, Value]
    sides: Callable[..., tuple[Any, ...]]
    checked: dict[bool, CheckResult] = field(default_factory=dict)

    def decide(self, part: Part, at: np.ndarray, effort: Effort, block: Block) -> None:
        """Decide the instances at some places of a part, as far as possible, and enter the decided ones into a block.

        Raises UndefinedError for a fixed number beyond float64's range.
        """
        with np.errstate(all="ignore"):
            inputs = [part.numbers(name, at) for name in self.names]
            scopes = self._scopes(part, at, inputs)
            estimates = [_spread(each, len(at)) for each in self.sides(*inputs)]
            sides = zip(self.clauses, estimates[::2], estimates[1::2], strict=False)
            margins = {clause.label: high - low for clause, low, high in sides}
            values, known = self._values(estimates[2 * len(self.clauses) :], len(at))
            for name, read in values.items():
                block.values.setdefault(name, np.full(len(part), np.nan))[at] = read
                known &= ~np.isinf(read)
            for label, margin in margins.items():
                error = SAFETY * margin.error
                shown = np.isfinite(margin.value) & np.isfinite(error)
                for kept, read in ((block.margins, margin.value), (block.errors, error)):
                    kept.setdefault(label, np.full(len(part), np.nan))[at] = np.where(shown, read, np.nan)
            for in_scope in (True, False):
                here = scopes == in_scope
                if here.any():
                    head = self._head(part.point(int(at[np.argmax(here)])), effort, in_scope=in_scope)
                    proved = {said["label"] for said in head["clauses"] if said["proved"] is not None}
                    for label, margin in margins.items():
                        if label not in proved:
                            here &= margin.sign()[0] & np.isfinite(margin.value) & np.isfinite(SAFETY * margin.error)
                    if len(head["clauses"]) == len(self.statement.clauses):
                        block.kinds[at[here & known]] = len(block.heads)
                        block.heads.append(head | {"truths": [n for n, read in values.items() if read.dtype == bool]})

    def _scopes(self, part: Part, at: np.ndarray, inputs: Sequence[Estimate]) -> np.ndarray:
        """Return 1 for each point in scope, 0 for each point out of scope, and -1 for each point that is no instance.

        The number is -1 too if the estimates leave a point open and a slack is not rational there.
        """
        words = [h.varies for h in self.statement.hypotheses if h.varies]
        point = part.point(int(at[0]))
        papers = all(point.get(word.name, word.words[0]) == word.words[0] for word in words)
        domain = len(self.statement.domain)
        try:
            slacks = self.near(*inputs)
        except UndecidedError:
            # A function is not supported by estimates: all points are decided exactly.
            slacks = [Estimate(np.nan, 0.0)] * len(self.relations)
        signs = [_spread(slack, len(at)).sign() for slack in slacks]
        inside, within = (
            np.all([np.ones(len(at), dtype=bool), *(above for above, _ in some)], axis=0)
            for some in (signs[:domain], signs[domain:])
        )
        outside, beyond = (
            np.any([np.zeros(len(at), dtype=bool), *(below for _, below in some)], axis=0)
            for some in (signs[:domain], signs[domain:])
        )
        found = np.select([outside, inside & (beyond | (not papers)), inside & within], [-1, 0, 1], default=-2)
        for place in np.flatnonzero(found == -2).tolist():
            found[place] = self._scope(part.point(int(at[place])), papers=papers)
        return found

    def _scope(self, point: Point, *, papers: bool) -> int:
        """Return the same number as `_scopes` for one point, decided exactly."""
        exact = Exact()
        try:
            found = self.slacks(*(exact.number(point[name]) for name in self.names))  # type: ignore[arg-type]
            kept = [holds(r, exact_fraction(exact.checked(s))) for r, s in zip(self.relations, found, strict=True)]
        except (NotExactError, UndefinedError, UndecidedError, ZeroDivisionError):
            return -1
        domain = len(self.statement.domain)
        return int(papers and all(kept[domain:])) if all(kept[:domain]) else -1

    def _head(self, point: Point, effort: Effort, *, in_scope: bool) -> dict[str, Any]:
        """Return the parts that rows share in scope or out of it, without clauses that only the exact check decides."""
        if in_scope not in self.checked:
            plain = replace(self.theorem, evaluations={})
            self.checked[in_scope] = check(plain, point, seconds=effort.seconds, seed=effort.seed)
        checked = self.checked[in_scope]
        if checked.interrupted:
            del self.checked[in_scope]
            raise KeyboardInterrupt
        if checked.in_scope is not in_scope or (in_scope and checked.scope_confirmed is not True):
            raise UndecidedError("the exact check does not find this scope")
        proved = {c.label: trusted(c.trusts) for c in checked.clauses if c.evidence is Evidence.PROVED}
        said, scanned = in_words(self.statement), {clause.label for clause in self.clauses}
        own = [Evidence.PROVED if claim.label in proved else Evidence.COMPUTED for claim in checked.claims]
        # Estimates decide domain and hypotheses: the evidence of everything that rests on them is at most `computed`.
        own += [Evidence.COMPUTED] if self.relations else []
        claim = Outcome.INCONCLUSIVE if said else Outcome.VERIFIED
        evidence = None if said else Evidence.weakest(own)
        # As in the exact check, the trusts are those of the claims' proofs and of the scope.
        scope = trusted(checked.scope_trusts) if in_scope else []
        known = {*scope, *(each for claim in checked.claims for each in proved.get(claim.label, ()))}
        return {
            "in_scope": in_scope,
            "outcome": str(claim if in_scope else Outcome.OUT_OF_SCOPE),
            "claim": str(claim),
            "evidence": None if evidence is None else str(evidence),
            "trusts": sorted(known) if evidence is Evidence.PROVED else [],
            "clauses": [
                {"label": c.label, "said": c.label in said, "proved": proved.get(c.label)}
                for c in checked.clauses
                if c.label in {*proved, *said, *scanned}
            ],
            "margins": [clause.label for clause in self.clauses],
        }

    def _values(self, estimates: Sequence[Estimate], count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return each value's truth values or numbers (NaN for none), and a mask of the instances with all known."""
        parts, good = iter(estimates), np.ones(count, dtype=bool)
        read = dict[str, np.ndarray]()
        for name, value in self.values.items():
            if isinstance(value, Relational):
                read[name], known = _held(value, next(parts), next(parts))
            elif isinstance(value, ValueLargest):
                many = [next(parts) for _ in value.expressions]
                # The error of the largest value is at most the largest error.
                largest = Estimate(*np.array([(one.value, one.error) for one in many]).max(axis=0))
                read[name], known = largest.value, largest.known(SWEEP.float_error)
            else:
                read[name], known = _first_applying(_cases(value), parts, count)
            good &= known
        return read, good


def _first_applying(
    cases: Iterable[ValueWhere], parts: Iterator[Estimate], count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the first case whose relations hold, NaN for no case, and a mask of the known numbers."""
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


def _held(relation: Relational, left: Estimate, right: Estimate) -> tuple[np.ndarray, np.ndarray]:
    """Return two masks: a relation surely holds at an instance (never an equality), and its truth there is sure."""
    upward = isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan)
    above, below = (left - right if upward else right - left).sign()
    return (np.zeros_like(above), above | below) if isinstance(relation, sp.Eq) else (above, above | below)


def _spread(part: Estimate, count: int) -> Estimate:
    return Estimate(np.broadcast_to(part.value, count), np.broadcast_to(part.error, count))


def _cases(value: Value) -> tuple[ValueWhere, ...]:
    return value if isinstance(value, tuple) else (value if isinstance(value, ValueWhere) else ValueWhere(value, ()),)


def _value_parts(value: Value) -> list[sp.Basic]:
    """Return a value's expressions in the order in which they are read. Raises TheoremError for another kind."""
    if isinstance(value, Relational):
        return list(value.args)
    if isinstance(value, ValueLargest):
        return list(value.expressions)
    if isinstance(value, sp.Expr | ValueWhere | tuple):
        return [
            part for case in _cases(value) for part in (*(s for r in case.relations for s in r.args), case.expression)
        ]
    raise TheoremError(f"{type(value).__name__}: not a value that is scanned")


class Scans:
    """A theorem's scans, one for each choice of words; compiled code and proofs for all parameters are cached."""

    def __init__(self, theorem: Theorem, effort: Effort) -> None:
        self.theorem, self.effort = theorem, effort
        self._scans: dict[tuple[str, ...], Scan | None] = {}

    def block(self, part: Part) -> Block | None:
        """Return the block of a part of a grid; None if no instance is decided."""
        started, words = time.monotonic(), [axis for axis in part.grid.axes if not axis.is_number]
        block = Block(np.full(len(part), -1, dtype=np.int16))
        chosen = np.array([part.places(axis) for axis in words]).reshape(len(words), len(part))
        _, which = np.unique(chosen, axis=1, return_inverse=True)
        for group in range(which.max() + 1 if words else 1):
            at = np.flatnonzero(which == group) if words else np.arange(len(part))
            try:
                scan = self._scan(part.point(int(at[0])))
                if scan is not None:
                    scan.decide(part, at, self.effort, block)
            except (InputError, TheoremError, ArithmeticError, UndefinedError, UndecidedError):
                # The exact check reports the error, with its instance.
                block.kinds[at] = -1
        if not block.decided:
            return None
        for kept in (block.margins, block.errors, block.values):
            for numbers in kept.values():
                numbers[block.kinds < 0] = np.nan
        labels = [clause.label for clause in self.theorem.statement.clauses if clause.label in block.margins]
        block.margins, block.errors = ({name: kept[name] for name in labels} for kept in (block.margins, block.errors))
        block.values = {name: block.values[name] for name in self.theorem.values}
        block.seconds = round((time.monotonic() - started) / block.decided, 9)
        return block

    def _scan(self, point: Point) -> Scan | None:
        words = tuple(value for value in point.values() if isinstance(value, str))
        if words not in self._scans:
            self._scans[words] = scan_of(self.theorem, point)
        return self._scans[words]


def scan_of(theorem: Theorem, point: Point) -> Scan | None:
    """Return the scan of a theorem at the words of an instance; None if the theorem cannot be scanned."""
    try:
        instance = parse(theorem.statement, point)
    except InputError:
        return None
    if any(parameter.name not in point for parameter in theorem.statement.parameters if not parameter.words):
        # A default is computed for each instance by the exact check.
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
        program = compile_program(sides, symbols, share=False)
        if program.primitives:
            return None
        slacks_program = compile_program(slacks, symbols)
        if slacks_program.primitives:
            return None
        bound = (slacks_program.bind(Exact()), slacks_program.bind(Estimates()), program.bind(Estimates()))
    except (TheoremError, ArithmeticError):
        # Constants are evaluated here: a constant is beyond float64's range, or is not defined.
        return None
    exact, near, sides_at = bound
    return Scan(theorem, statement, tuple(names), tuple(relations), exact, near, clauses, values, sides_at)
