# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Checks at a place of a deduction: whether expressions have values, which signs are known, how choices are decided."""

import math
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from verify.language.heads.scopes import BINDERS
from verify.language.parameters import Parameter
from verify.language.statement import Statement
from verify.provers.deduction.atoms import Atoms, NoAtomError, is_short
from verify.provers.deduction.facts import Goal, Relation, Tree
from verify.provers.deduction.scope import Scope, Work


class Values:
    """The statement, its atoms and the work of a search."""

    def __init__(self, statement: Statement, work: int) -> None:
        self.statement = statement
        self.parameters = {p.name: p for p in statement.parameters}
        counts = {s.name: self._least(s) for s in statement.symbols() if s.is_integer and s.is_nonnegative}
        self.atoms, self.work = Atoms(counts), Work(work)
        self.random = random.Random(1)  # noqa: S311 -- points at which a goal is tried

    def _least(self, symbol: sp.Symbol) -> int:
        bound = bound_of(self.parameters.get(symbol.name), zero=True)
        return 0 if bound is None else int(bound[0]) if bound[1] == "Ge" else math.floor(bound[0]) + 1

    def begun(
        self, facts: Mapping[int, tuple[sp.Expr, Relation]], about: Collection[sp.Symbol] | None = None
    ) -> tuple[Scope, list[int | str]]:
        """Return the scope with the domain's bounds and the facts that are seen to have values, and a list of both.

        The list has a symbol's name for a bound, and a place for a fact. If `about` is given, only the bounds of its
        symbols are used.
        """
        scope, relations = Scope(self.atoms, self.work), list[int | str]()
        for symbol in sorted(self.statement.symbols(), key=lambda s: s.name):
            if about is not None and symbol not in about:
                continue
            solved = any(relation == "Eq" and symbol in e.free_symbols for e, relation in facts.values())
            bound = bound_of(self.parameters.get(symbol.name), zero=solved or not symbol.is_nonnegative)
            if bound:
                inner = scope.with_fact(symbol - bound[0], bound[1])
                assert inner is not None
                scope, relations = inner, [*relations, symbol.name]
        left = list(facts.items())
        while left:
            waiting = list(left)
            for i, (expression, relation) in waiting:
                inner = self._with_fact(scope, expression, relation)
                if inner is not None:
                    scope, relations = inner, [*relations, i]
                    left.remove((i, (expression, relation)))
            if len(left) == len(waiting):
                break
        return scope, relations

    def _with_fact(self, scope: Scope, expression: sp.Expr, relation: Relation) -> Scope | None:
        """Return the scope with a fact that is seen to have a value, else None."""
        try:
            self.atoms.prepare(expression)
        except NoAtomError:
            return None
        if expression.has(sp.Piecewise) or any(not self._is_seen(scope, *need) for need in self._needs(expression)):
            return None
        return scope.with_fact(expression, relation)

    def _needs(self, expression: sp.Expr) -> Iterator[tuple[sp.Expr, str]]:
        """Yield the parts whose signs an expression needs to have a value, with these signs; inner parts first."""
        for part in computed(expression):
            if isinstance(part, sp.tan):
                yield sp.cos(part.args[0]), "nonzero"
            elif isinstance(part, sp.log):
                yield part.args[0], "positive"
            elif isinstance(part, sp.factorial | sp.binomial):
                yield part.args[-1], "nonnegative"
                less = part.args[1] if isinstance(part, sp.binomial) and not is_short(part.args[1]) else 0
                yield part.args[0] - less, "nonnegative"
            elif part.is_Pow and part.base is not sp.E:
                base, exponent = part.args
                if exponent.is_Rational and not exponent.is_Integer:
                    yield base, "nonnegative" if exponent > 0 else "positive"
                elif (parts := self.atoms.whole(exponent)) is None:
                    yield base, "positive"
                elif min(parts.values()) < 0:
                    yield base, "nonzero"

    def _is_seen(self, scope: Scope, of: sp.Expr, need: str) -> bool:
        try:
            self.atoms.prepare(of)
            inside = self.atoms.of(of)
        except NoAtomError:
            return False
        if need == "nonnegative":
            return scope.shown(inside, strict=False) or scope.shown(inside, strict=True)
        return scope.shown(inside, strict=True) or (need == "nonzero" and scope.shown(-inside, strict=True))

    def _resolved(self, scope: Scope, expression: sp.Expr) -> tuple[sp.Expr, sp.Expr | None, bool]:
        """Return an expression with the decided choices made, and the next choice, if any.

        A choice is an absolute value, a sign, a maximum, a minimum or a piecewise expression. The next choice is given
        by an expression whose sign decides it, and by whether the sign 0 is a case of its own.
        """
        for part in computed(expression):
            if isinstance(part, sp.Abs | sp.sign | sp.Max | sp.Min | sp.Piecewise):
                value, of = self._chosen(scope, part)
                if value is None:
                    return expression, of, isinstance(part, sp.sign | sp.Piecewise)
                return self._resolved(scope, expression.xreplace({part: value}))
        return expression, None, False

    def _chosen(self, scope: Scope, part: sp.Expr) -> tuple[sp.Expr | None, sp.Expr]:
        """Return the value of a choice, None if it is not decided, and the expression whose sign decides the choice."""
        first = part.args[0]
        if isinstance(part, sp.Max | sp.Min):
            of = first - part.args[1]
            side = self._side(scope, of) * (1 if isinstance(part, sp.Max) else -1)
            left = part.func(*(part.args[:1] if side > 0 else part.args[1:2]), *part.args[2:])
            return (left if side else None), of
        if isinstance(part, sp.Abs):
            side = self._side(scope, first)
            return (side * first if side else self._partly(scope, first)), first
        if isinstance(part, sp.sign):
            sign = self._strict_side(scope, first)
            return (None if sign is None else sp.Integer(sign)), first
        value, condition = first  # pyright: ignore[reportGeneralTypeIssues]
        if condition == sp.true:
            return value, value
        of, inner, _ = self._resolved(scope, condition.args[1] - condition.args[0])
        if inner is not None:
            return None, inner
        sign = self._strict_side(scope, of)
        if sign is None:
            return None, of
        signs = {sp.Eq: (0,), sp.Lt: (1,), sp.Le: (0, 1), sp.Gt: (-1,), sp.Ge: (-1, 0)}
        holds = next(sign in signs[kind] for kind in signs if isinstance(condition, kind))
        return (value if holds else sp.Piecewise(*part.args[1:])), of

    def _partly(self, scope: Scope, of: sp.Expr) -> sp.Expr | None:
        """Return |u| with the factors of u of known sign taken out of |·|; None if u has no such factor."""
        factors = [(factor, self._side(scope, factor)) for factor in sp.Mul.make_args(sp.factor_terms(sp.expand(of)))]
        if not any(side for _, side in factors):
            return None
        rest = sp.Abs(sp.Mul(*(factor for factor, side in factors if not side)))
        return sp.Mul(rest, *(side * factor for factor, side in factors if side))

    def _side(self, scope: Scope, of: sp.Expr) -> int:
        if self._is_zero(scope, of):
            return 1
        turns = (1, -1)
        seen = next((turn for turn in turns if self._is_seen(scope, turn * of, "nonnegative")), 0)
        return seen or next((turn for turn in turns if self._is_multiple(scope, turn * of)), 0)

    def _is_multiple(self, scope: Scope, of: sp.Expr) -> bool:
        try:
            return scope.shown_by_facts(self.atoms.of(of))
        except (NoAtomError, sp.PolynomialError):
            return False

    def _is_zero(self, scope: Scope, of: sp.Expr) -> bool:
        try:
            self.atoms.prepare(of)
            return scope.is_zero(self.atoms.of(of))
        except NoAtomError:
            return False

    def _strict_side(self, scope: Scope, of: sp.Expr) -> int | None:
        if self._is_zero(scope, of):
            return 0
        return next((turn for turn in (1, -1) if self._is_seen(scope, turn * of, "positive")), None)

    def _absurd(self, scope: Scope) -> Tree | None:
        """Return a proof of any goal if the facts are shown to contradict each other; else None."""
        tree = scope.sum(Goal(sp.Integer(0), "Gt"), 0)
        return tree and {"rule": "contradiction", "then": tree}

    def _case(self, scope: Scope, of: sp.Expr, relation: Relation) -> Scope | None:
        """Return the scope of a case: its fact is added, and the other facts are read again with this fact known."""
        expression, _, _ = self._resolved(scope, of)
        try:
            self.atoms.prepare(expression)
        except NoAtomError:
            return None
        first = scope.with_fact(expression, relation)
        if first is None:
            return None
        again = replace(first, facts=(), count=0)
        for fact in first.facts:
            while again.count < fact.place:
                again = again.skipped()
            read = None
            if fact.expression is not None:
                read = self._with_fact(again, self._resolved(first, fact.expression)[0], fact.relation)
            again = read or again.skipped()
        return again


def computed(expression: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the parts of an expression, inner ones first, but no parts of sums, products, recursions and pieces."""
    if not isinstance(expression, (*BINDERS, sp.Piecewise)):
        for part in expression.args:
            yield from computed(part)
    yield expression


def bound_of(parameter: Parameter | None, *, zero: bool = False) -> tuple[sp.Rational, Relation] | None:
    """Return the lower bound of a parameter and its relation to this bound; the bound 0 counts only if `zero`."""
    if parameter is None or (parameter.minimum is None and parameter.above is None):
        return None
    bound, relation = (parameter.minimum, "Ge") if parameter.minimum is not None else (parameter.above, "Gt")
    exact = Fraction(bound)  # pyright: ignore[reportArgumentType]
    return None if not exact and not zero else (sp.Rational(exact.numerator, exact.denominator), relation)
