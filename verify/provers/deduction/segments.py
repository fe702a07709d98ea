# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs along a segment on which a symbol runs: by the slope from one end, and by concavity between two ends."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TypeAlias

import sympy as sp

from verify.language.heads.scopes import BINDERS
from verify.provers.deduction.account.record import told
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.facts import Goal, Relation, Tree, data_of
from verify.provers.deduction.instances import Instances
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.values import computed

Then: TypeAlias = Callable[[Scope], Tree | None]
Onward: TypeAlias = Callable[[Scope, Goal, sp.Symbol | None], Tree | None]
"""A prover of the goal at the start of a segment or, if a point is given, of the goal for the slope at the point."""
TRIVIAL: Tree = {"rule": "sum", "times": ["Integer", "1"], "terms": []}


class Segments(Instances, ABC):
    """Proofs along segments; a subclass proves the goals that remain."""

    @abstractmethod
    def prove(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal, None if none was found."""

    @abstractmethod
    def with_values(self, scope: Scope, expression: sp.Expr, depth: int, then: Then) -> Tree | None:
        """Return the proof by `then`, after the lemmas that an expression needs to have a value; or None."""

    @abstractmethod
    def _is_plausible(self, scope: Scope, goal: Goal) -> bool:
        """Whether a goal holds at all random points at which the facts hold."""

    @told("slope")
    def _by_slope(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof along a segment on which one symbol runs."""
        if goal.expression.atoms(*BINDERS, sp.floor, sp.factorial, sp.binomial):
            return None
        if goal.relation == "Eq":
            return self._by_slope_of_0(scope, goal, depth)
        if goal.expression.has(sp.exp) and (tree := self._numerator(scope, goal, depth)) is not None:
            return tree
        symbols = sorted(goal.expression.free_symbols, key=lambda s: s.name)

        def onward(inner: Scope, left: Goal, _: sp.Symbol | None) -> Tree | None:
            return self.prove(inner, left, depth)

        functions = [s for s in symbols if any(s in f.free_symbols for f in functions_in(goal.expression))]
        for symbol in functions or symbols:
            for start, side in self._starts(scope, symbol, symbols):
                along = partial(self._along, goal=goal, symbol=symbol, start=start, onward=onward)
                tree = self._from(scope, symbol, start, side, along)
                if tree is not None:
                    return tree
            if (tree := self._by_concavity(scope, goal, symbol, symbols, depth)) is not None:
                return tree
        return None if goal.expression.has(sp.exp) else self._numerator(scope, goal, depth)

    def _by_slope_of_0(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of an equation along a segment on which the slope is 0."""

        def onward(inner: Scope, left: Goal, _: sp.Symbol | None) -> Tree | None:
            return self.prove(inner, left, depth)

        symbols = sorted(goal.expression.free_symbols, key=lambda s: s.name)
        for symbol in symbols:
            if self._vanishes(sp.diff(goal.expression, symbol)):
                for start, side in self._starts(scope, symbol, symbols):
                    along = partial(self._along, goal=goal, symbol=symbol, start=start, onward=onward)
                    tree = self._from(scope, symbol, start, side, along)
                    if tree is not None:
                        return tree
        return None

    def _numerator(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof by the goal's numerator, for a goal with a denominator."""
        parts = scope.fraction(goal.expression)
        if parts is None or not parts[1].free_symbols:
            return None
        above = self.atoms.back(parts[0])
        inner = scope.with_fact(above, goal.relation)
        rest = inner and inner.sum(goal, 0)
        lemma = rest and self._by_slope(scope, replace(goal, expression=above), depth)
        if not lemma:
            return None
        relation = (sp.Gt if goal.strict else sp.Ge)(above, 0, evaluate=False)
        return {"rule": "lemma", "relation": data_of(relation), "proof": lemma, "then": rest}

    def _by_concavity(
        self, scope: Scope, goal: Goal, symbol: sp.Symbol, symbols: Sequence[sp.Symbol], depth: int
    ) -> Tree | None:
        """Return a proof on a segment between two bounds of a symbol, on which the goal is concave.

        The bounds are numbers if `symbols` is empty.
        """
        ends = list(self._starts(scope, symbol, symbols))
        low, high = ([start for start, side in ends if side == where] for where in ("above", "below"))
        point = sp.Symbol(f"t_{scope.bound}", real=True)
        along = goal.expression.subs(symbol, point)
        slope = sp.diff(along, point)
        curve = Goal(-sp.diff(slope, point), "Ge")
        for start, end in product(low, high):
            if start.free_symbols | end.free_symbols and not symbols:
                continue
            bounds = [goal.expression.subs(symbol, place) for place in (start, end)]
            if any(bound.has(sp.zoo, sp.nan, sp.oo) for bound in bounds):
                continue
            inside, closed = (self._between(scope, start, end, point, relation) for relation in ("Gt", "Ge"))
            if inside is None or closed is None or not self._is_plausible(inside, curve):
                continue
            trees = [self.prove(scope, replace(goal, expression=bound), depth) for bound in bounds]
            value = all(trees) and self.with_values(closed, along, 1, lambda _: TRIVIAL)
            then = value and self.with_values(inside, slope, 1, lambda inner: self.prove(inner, curve, depth))
            if value and then:
                names = {"in": symbol.name, "as": point.name, "from": data_of(start), "to": data_of(end)}
                return {"rule": "concave", **names, "value": value, "curve": then, "start": trees[0], "end": trees[1]}
        return None

    def _between(
        self, scope: Scope, start: sp.Expr, end: sp.Expr, point: sp.Symbol, relation: Relation
    ) -> Scope | None:
        first = replace(scope, bound=scope.bound + 1).with_fact(point - start, relation)
        return first and first.with_fact(end - point, relation)

    def _starts(
        self, scope: Scope, symbol: sp.Symbol, symbols: Sequence[sp.Symbol]
    ) -> Iterator[tuple[sp.Expr, str | None]]:
        """Yield starts of a segment, each with the symbol's side of the start; None for a side that is not seen."""
        starts: list[sp.Expr] = []
        for fact in scope.facts:
            if fact.expression is None or symbol not in fact.expression.free_symbols or fact.relation == "Eq":
                continue
            slope = sp.diff(fact.expression, symbol)
            if slope.is_Rational and slope != 0:
                starts.append(sp.expand(symbol - fact.expression / slope))
        starts += [*map(sp.Integer, (0, 1, -1)), *(s for s in symbols if s != symbol and s.name.startswith("t_"))]
        for start, side in self._sides(scope, symbol, starts):
            if side is not None or start.is_Rational:
                yield start, side

    def _sides(
        self, scope: Scope, symbol: sp.Symbol, starts: Sequence[sp.Expr]
    ) -> Iterator[tuple[sp.Expr, str | None]]:
        """Yield each start once, with the symbol's side of the start; None for a side that is not seen."""
        for start in dict.fromkeys(starts):
            sides = {"above": symbol - start, "below": start - symbol}
            yield start, next((side for side, e in sides.items() if self._is_seen(scope, e, "nonnegative")), None)

    def _from(
        self,
        scope: Scope,
        symbol: sp.Symbol,
        start: sp.Expr,
        side: str | None,
        onward: Callable[[Scope, str], Tree | None],
    ) -> Tree | None:
        """Return a proof on the symbol's side of a start or, if the side is not seen, on both sides."""
        if side is not None:
            return onward(scope, side)
        sides = [self._case(scope, symbol - start, "Ge"), self._case(scope, start - symbol, "Gt")]
        trees: list[Tree] = []
        for inner, where in zip(sides, ("above", "below"), strict=True):
            tree = inner and onward(inner, where)
            if tree is None:
                return None
            trees.append(tree)
        return {"rule": "cases", "of": data_of(symbol - start), "above": trees[0], "at": None, "below": trees[1]}

    def _along(
        self, scope: Scope, side: str, goal: Goal, symbol: sp.Symbol, start: sp.Expr, onward: Onward
    ) -> Tree | None:
        """Return a proof along the segment from a start to the symbol on the given side; `onward` proves its goals."""
        at_start = _at(goal.expression, symbol, start)
        if at_start is None:
            return None
        turn = 1 if side == "above" else -1
        by_slope = goal.strict and self._vanishes(at_start)
        if by_slope and not self._is_seen(scope, turn * (symbol - start), "positive"):
            return None
        point = sp.Symbol(f"t_{scope.bound}", real=True)
        if point.name in self.parameters:
            return None
        along = goal.expression.subs(symbol, point)
        inside = self._segment(scope, symbol, start, point, turn, "Gt")
        relation: Relation = "Gt" if by_slope else "Eq" if goal.relation == "Eq" else "Ge"
        slope = Goal(turn * sp.diff(along, point), relation)
        if inside is None or not self._is_plausible(inside, slope):
            return None
        first = onward(scope, Goal(at_start, "Ge" if by_slope else goal.relation), None)
        closed = first and self._segment(scope, symbol, start, point, turn, "Ge")
        value = closed and self.with_values(closed, along, 1, lambda _: TRIVIAL)
        then = value and onward(inside, slope, point)
        if not then:
            return None
        return {
            "rule": "slope",
            "in": symbol.name,
            "as": point.name,
            "from": data_of(start),
            "side": side,
            "strict": "slope" if by_slope else "start",
            "value": value,
            "start": first,
            "slope": then,
        }

    def _segment(
        self, scope: Scope, symbol: sp.Symbol, start: sp.Expr, point: sp.Symbol, turn: int, relation: Relation
    ) -> Scope | None:
        first = replace(scope, bound=scope.bound + 1).with_fact(turn * (point - start), relation)
        return first and first.with_fact(turn * (symbol - point), relation)

    def _vanishes(self, expression: sp.Expr) -> bool:
        try:
            self.atoms.prepare(expression)
            return self.atoms.fraction(expression)[0] == 0
        except NoAtomError:
            return False


def _at(expression: sp.Expr, symbol: sp.Symbol, start: sp.Expr) -> sp.Expr | None:
    """Return an expression at a start; None if it has no value there."""
    try:
        value = expression.subs(symbol, start)
    except ValueError:
        # SymPy raises this error for a difference of bounds: atan(1/x) at 0.
        return None
    return None if value.has(sp.zoo, sp.nan, sp.oo, sp.AccumBounds) else value


def functions_in(expression: sp.Expr) -> set[sp.Expr]:
    """Return the functions in an expression, and its powers with exponents that are not integers."""
    return {p for p in computed(expression) if p.is_Function or (p.is_Pow and not p.exp.is_Integer)}
