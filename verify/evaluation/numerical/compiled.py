# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""A statement's relations and margins over arrays of points, for the numerical search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from verify.errors import NotExactError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import Range, domain_of
from verify.evaluation.arithmetic import Exact, exact_fraction
from verify.evaluation.numerical.arrays import Arrays
from verify.evaluation.numerical.limits import NUMERICAL
from verify.evaluation.numerical.points import Box
from verify.evaluation.numerical.runs import Margins, Points
from verify.evaluation.programs import compile_program
from verify.evaluation.values import symbols_by_name
from verify.language.expressions import STRICT, Magnitude, difference
from verify.language.parameters import Parameter, Value
from verify.language.statement import ClauseData, Statement

_TINY = sp.Rational(1, 10**300)
"""Number that is added to the sum of the sizes of two sides, so that their difference can be divided by the sum."""


@dataclass(frozen=True)
class Scores:
    """The scores of n points.

    `violation`, of shape (n,), is 0 where the relations hold and the values are in their domains, else the sum of the
    amounts by which they fail; for an equation, this amount is relative to the sizes of its sides. `absolute` and
    `relative`, of shape (n, clauses), are each clause's margin, and the margin divided by the sizes of its sides; inf
    stands for no margin.
    """

    violation: np.ndarray
    relative: np.ndarray
    absolute: np.ndarray


@dataclass(frozen=True)
class Compiled:
    """A statement at a choice of words, compiled.

    A point has values of the `free` parameters, in their order. `solved` has the parameters whose exact values
    equations determine, and `given` the numbers among the `fixed` values. `runs` has the margins of the clauses about
    recursions, by place; the other clauses are relations.
    """

    labels: tuple[str, ...]
    strict: tuple[bool, ...]
    free: tuple[Parameter, ...]
    fixed: Mapping[str, Value]
    given: tuple[float, ...]
    solved: tuple[Parameter, ...]
    solve: Callable[..., Any]
    solve_exactly: Callable[..., Any]
    run: Callable[..., Any]
    relations: tuple[Any, ...]
    equations: tuple[bool, ...]
    runs: Mapping[int, Margins]
    boxes: tuple[Box, ...]
    variables: frozenset[str]

    def scores(self, points: np.ndarray) -> Scores:
        """Return the scores of n points, an array of shape (n, free)."""
        count, given = len(points), self.given
        with np.errstate(all="ignore"):
            solved = self.solve(*points.T, *given)
            parts = [np.broadcast_to(np.asarray(each, float), count) for each in self.run(*points.T, *solved, *given)]
            slacks, sides = parts[: len(self.relations)], parts[len(self.relations) :]
            violation = np.zeros(count)
            for relation, slack in zip(self.relations, slacks, strict=True):
                violation = violation + _violated(relation, slack)
            for parameter, values in zip((*self.free, *self.solved), (*points.T, *solved), strict=True):
                violation = violation + _outside(parameter, np.asarray(values, float))
            violation = np.where(np.isfinite(violation), violation, np.inf)
            pairs, named = zip(sides[::2], sides[1::2], strict=True), self._named(points, solved, violation == 0)
            margins = [
                self._along(self.runs[i], named, violation == 0)
                if i in self.runs
                else _margins(*next(pairs), self.equations[i], self.strict[i])
                for i in range(len(self.labels))
            ]
        return Scores(violation, *(np.stack([pair[i] for pair in margins], axis=1) for i in (0, 1)))

    def _named(self, points: np.ndarray, solved: Sequence[Any], where: np.ndarray) -> dict[str, np.ndarray]:
        """Return the values by name at the points where the mask `where` is true."""
        names = (*(p.name for p in (*self.free, *self.solved)), *_numbers(self.fixed))
        columns = (*points.T, *solved, *self.given)
        return {
            name: np.broadcast_to(np.asarray(column, float), where.shape)[where]
            for name, column in zip(names, columns, strict=True)
        }

    def _along(self, margins: Margins, named: Points, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the margins of a clause about a recursion, which is iterated only at the points in scope."""
        relative = np.full(where.shape, np.inf)
        if where.any():
            relative[where] = margins(named)
        return relative, relative

    def instance(self, values: Sequence[Fraction]) -> dict[str, Value] | None:
        """Return the instance of exact values of free parameters; None if a parameter has no value in its domain."""
        exact = Exact()
        try:
            found = self.solve_exactly(*map(exact.number, (*values, *_numbers(self.fixed).values())))
            solved = [exact_fraction(exact.checked(each)) for each in found]
        except (NotExactError, UndefinedError, UndecidedError, ZeroDivisionError, TheoremError):
            return None
        named: dict[str, Value] = dict(self.fixed)
        for parameter, value in zip((*self.free, *self.solved), (*values, *solved), strict=True):
            number = int(value) if parameter.kind == "integer" and value.denominator == 1 else value
            if number not in parameter:
                return None
            named[parameter.name] = number
        return named


def _numbers(fixed: Mapping[str, Value]) -> dict[str, int | Fraction]:
    return {name: value for name, value in fixed.items() if isinstance(value, int | Fraction)}


def _violated(relation: Any, slack: np.ndarray) -> np.ndarray:
    size = np.abs(slack)
    if isinstance(relation, sp.Eq):
        return np.where(size <= NUMERICAL.agrees, 0.0, size)
    kept = slack > 0 if isinstance(relation, STRICT) else slack >= 0
    return np.where(kept, 0.0, NUMERICAL.least + size)


def _outside(parameter: Parameter, values: np.ndarray) -> np.ndarray:
    """Return the distances of values from a parameter's domain, increased by `NUMERICAL.least` outside of it."""
    bound = parameter.lower
    if bound is None:
        return np.zeros(values.shape)
    below = float(bound) - values
    return np.where(below > 0 if parameter.minimum is not None else below >= 0, NUMERICAL.least + below, 0.0)


def _margins(low: np.ndarray, high: np.ndarray, equation: bool, strict: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return relative and absolute margins; the margin of an equation is negative where its sides clearly differ.

    If both sides are 0 and the relation holds, the relative margin is 1, the largest value, because a search from such
    a point would find nothing.
    """
    margin, size = high - low, np.abs(high) + np.abs(low)
    if equation:
        margin = NUMERICAL.unequal * size - np.abs(margin)
    relative = np.where(size > 0, margin / np.where(size > 0, size, 1.0), 0.0 if strict else 1.0)
    good = np.isfinite(relative) & np.isfinite(margin)
    return np.where(good, relative, np.inf), np.where(good, margin, np.inf)


def compiled(
    statement: Statement,
    fixed: Mapping[str, Value],
    clauses: Iterable[ClauseData],
    tick: Callable[[], None],
    conditions: Sequence[Relational] = (),
) -> Compiled | None:
    """Compile the clauses that are about parameters and variables alone; `statement` is specialised to words.

    Points have to satisfy `conditions` besides the domain and the hypotheses. Variables, for all values of which a
    clause is claimed, are treated as free parameters. `tick` is called now and then, and may raise to end an
    evaluation.

    The result is None if there is no such clause, or no parameter or variable to vary; if a parameter that is not
    `fixed` is a list or has a default, or `_as_parameter` refuses a variable; or if an expression is not
    computed over arrays, or has a number beyond float64.
    """
    ranging = [p for p in map(_as_parameter, statement.variables) if p is not None]
    left = [*(p for p in statement.parameters if p.name not in fixed), *ranging]
    if len(ranging) < len(statement.variables):
        return None
    if any(p.kind not in ("integer", "rational") or p.default is not None for p in left):
        return None
    names = {p.name for p in left} | _numbers(fixed).keys()
    over = [c for c in clauses if _is_over_arrays(c) and _used(c, statement) <= names]
    used = set[str]().union(
        *(_used(c, statement) for c in over), *(_names(each.args, statement) for each in conditions)
    )
    idle = {symbol.name for symbol in statement.variables} - used
    left = [p for p in left if p.name not in idle]
    try:
        return _compiled(statement, over, left, fixed, Arrays(tick), conditions) if over and left else None
    except (TheoremError, UndefinedError, UndecidedError, ArithmeticError, ValueError):
        return None


def _as_parameter(variable: sp.Symbol) -> Parameter | None:
    """Return a variable as a parameter with the same kind and lower bound.

    The result is None if the variable has an assumption besides its kind, real or integer, and its sign, > 0 or >= 0.
    """
    above = 0 if variable.is_positive else None
    minimum = 0 if variable.is_nonnegative and above is None else None
    signs = {"positive": True} if above == 0 else {"nonnegative": True} if minimum == 0 else {"real": True}
    known = sp.Symbol(variable.name, **signs, **({"integer": True} if variable.is_integer else {}))
    if not variable.assumptions0.items() <= known.assumptions0.items():
        return None
    kind = "integer" if variable.is_integer else "rational"
    return Parameter(variable.name, kind, "", minimum=minimum, above=above)


def _is_over_arrays(clause: ClauseData) -> bool:
    """Whether a clause is a relation, or of a kind that computes its margins over arrays."""
    return clause.relation is not None or hasattr(clause, "over_arrays")


def _used(clause: ClauseData, statement: Statement) -> set[str]:
    parts = clause.expressions() if clause.relation is None else clause.relation.args
    return _names(parts, statement) - clause.bound_names()


def _names(parts: Iterable[sp.Basic], statement: Statement) -> set[str]:
    return set(symbols_by_name(sp.Tuple(*map(statement.expand, parts))))


def _smaller_first(relation: Any) -> Sequence[Any]:
    return relation.args[::-1] if isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan) else relation.args


def _compiled(
    statement: Statement,
    clauses: Sequence[ClauseData],
    left: Sequence[Parameter],
    fixed: Mapping[str, Value],
    arrays: Arrays,
    conditions: Sequence[Relational],
) -> Compiled:
    supposed = (h.relation for h in statement.hypotheses if h.relation is not None)
    relations: list[Any] = [*statement.domain, *supposed, *conditions]
    slacks = [statement.expand(difference(relation)) for relation in relations]
    related = [clause.relation for clause in clauses if clause.relation is not None]
    sides = [statement.expand(part) for relation in related for part in _smaller_first(relation)]
    symbols = symbols_by_name(sp.Tuple(*slacks, *sides))
    solutions = dict[str, sp.Expr]()
    for relation, slack in [pair for pair in zip(relations, slacks, strict=True) if isinstance(pair[0], sp.Eq)]:
        others = sp.Tuple(*(each for each in slacks if each is not slack))
        left_over = slack.xreplace({symbols[n]: e for n, e in solutions.items()})
        if (found := _solution(left_over, left, symbols, others)) is not None:
            name, value = found
            solutions = {n: e.subs(symbols[name], value) for n, e in solutions.items()} | {name: value}
            place = relations.index(relation)
            del relations[place], slacks[place]
    free, variables = [p for p in left if p.name not in solutions], {symbol.name for symbol in statement.variables}
    solved = [p for p in left if p.name in solutions]
    as_symbol = [symbols.get(p.name, sp.Symbol(p.name)) for p in (*free, *solved)]
    given = [symbols.get(name, sp.Symbol(name)) for name in _numbers(fixed)]
    solving = compile_program([solutions[p.name] for p in solved], [*as_symbol[: len(free)], *given])
    differences = [_relative(r, s, statement) for r, s in zip(relations, slacks, strict=True)]
    program = compile_program([*differences, *sides], [*as_symbol, *given])
    if program.primitives or solving.primitives:
        raise TheoremError("primitives are not run over arrays")
    names = frozenset(symbol.name for symbol in (*as_symbol, *given))
    return Compiled(
        labels=tuple(clause.label for clause in clauses),
        strict=tuple(isinstance(clause.relation, STRICT) for clause in clauses),
        free=tuple(free),
        fixed=fixed,
        given=tuple(map(float, _numbers(fixed).values())),
        solved=tuple(solved),
        solve=solving.bind(arrays),
        solve_exactly=solving.bind(Exact()),
        run=program.bind(arrays),
        relations=tuple(relations),
        equations=tuple(isinstance(clause.relation, sp.Eq) for clause in clauses),
        runs={
            place: clause.over_arrays(statement, names, arrays)  # pyright: ignore[reportAttributeAccessIssue]
            for place, clause in enumerate(clauses)
            if clause.relation is None
        },
        boxes=tuple(_box(p, symbols.get(p.name), relations, slacks) for p in free),
        variables=frozenset(variables),
    )


def _relative(relation: Any, slack: sp.Expr, statement: Statement) -> sp.Expr:
    """Return a relation's slack; the slack of an equation is divided by the sizes of its sides."""
    if not isinstance(relation, sp.Eq):
        return slack
    left, right = (Magnitude(statement.expand(side)) for side in relation.args)
    return slack / (left + right + _TINY)  # pyright: ignore[reportOperatorIssue]


def _box(parameter: Parameter, symbol: sp.Symbol | None, relations: Sequence[Any], slacks: Sequence[Any]) -> Box:
    """Return the box of a parameter, from its domain and from the linear inequalities in this parameter alone."""
    within = domain_of(parameter)
    for relation, slack in zip(relations, slacks, strict=True):
        if slack.free_symbols != {symbol} or isinstance(relation, sp.Eq):
            continue
        slope = sp.diff(slack, symbol)
        if not slope.is_Rational or slope == 0:
            continue
        end, is_open = Fraction(str(-slack.subs(symbol, 0) / slope)), isinstance(relation, STRICT)
        within = within.meet(Range(end, None, low_open=is_open) if slope > 0 else Range(None, end, high_open=is_open))
    for end in (within.low, within.high):
        # `float` raises OverflowError for an end that is beyond float64.
        float(end or 0)
    return Box(within.integers() if parameter.kind == "integer" else within, parameter.kind == "integer")


def _solution(
    slack: Any, left: Sequence[Parameter], symbols: Mapping[str, sp.Symbol], others: sp.Tuple
) -> tuple[str, sp.Expr] | None:
    """Return a parameter in which an equation is linear, and the value that the equation gives it; None without one.

    The factor of an integer must be 1 or −1. A parameter whose factor is a number is preferred, then a parameter that
    is in few other relations; for a · b = 0 and a > 0 the result is b = 0.
    """
    found: list[tuple[bool, int, str, sp.Expr]] = []
    for parameter in reversed(left):
        symbol = symbols.get(parameter.name)
        if symbol is None or not slack.has(symbol):
            continue
        slope = sp.diff(slack, symbol)
        by_number = slope.is_number
        if slope.has(symbol) or slope == 0 or (parameter.kind == "integer" and slope not in (1, -1)):
            continue
        elsewhere = sum(symbol in each.free_symbols for each in others)
        found.append((not by_number, elsewhere, parameter.name, -slack.subs(symbol, 0) / slope))
    return min(found, key=lambda each: each[:2])[2:] if found else None
