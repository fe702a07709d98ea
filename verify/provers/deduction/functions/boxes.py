# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs on a box, which is halved until ball arithmetic shows the goal to be positive on each part."""

from abc import ABC
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import sympy as sp

from verify.evaluation.arithmetic import FIRST_BITS
from verify.evaluation.values import is_positive_in_balls
from verify.language.heads.scopes import BINDERS
from verify.outcomes import Enclosure
from verify.provers.deduction.account.record import told
from verify.provers.deduction.facts import Goal, Tree
from verify.provers.deduction.limits import BOX
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import Segments
from verify.provers.deduction.values import bound_of

Box: TypeAlias = Mapping[sp.Symbol, tuple[Fraction, Fraction]]
"""The least and the largest value of each symbol."""


class _TooManyError(Exception):
    """The allowed number of parts of a box is not enough."""


class Boxes(Segments, ABC):
    """Proofs of goals in which every symbol is bounded by two numbers."""

    @told("boxes")
    def by_boxes(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof on a box by cutting it into parts on which ball arithmetic shows the goal to be positive."""
        if goal.relation == "Eq" or goal.expression.atoms(*BINDERS):
            return None
        symbols = sorted(goal.expression.free_symbols, key=lambda s: s.name)
        if len(symbols) > BOX.symbols or any(symbol.is_integer for symbol in symbols):
            return None
        ends = {symbol: self._ends(scope, symbol) for symbol in symbols}
        box = {symbol: pair for symbol, pair in ends.items() if pair is not None}
        if not box or len(box) < len(ends):
            return None
        try:
            return {"rule": "box", "bits": FIRST_BITS, "cuts": self._cuts(goal.expression, box, [BOX.parts], 0)}
        except _TooManyError:
            return None

    def _ends(self, scope: Scope, symbol: sp.Symbol) -> tuple[Fraction, Fraction] | None:
        """Return the bounds of a symbol from the facts about this symbol alone; None if a bound is not known."""
        bound = bound_of(self.parameters.get(symbol.name), zero=True)
        low, high = [] if bound is None else [bound[0]], list[sp.Rational]()
        for fact in scope.facts:
            if fact.expression is not None and fact.expression.free_symbols == {symbol} and fact.relation != "Eq":
                slope = sp.diff(fact.expression, symbol)
                end = symbol - fact.expression / slope if slope.is_Rational and slope != 0 else None
                end = None if end is None else sp.expand(end)
                if end is not None and end.is_Rational:
                    (low if slope > 0 else high).append(end)
        if not (low and high) or max(low) > min(high):
            return None
        return tuple(Fraction(int(end.p), int(end.q)) for end in (max(low), min(high)))

    def _cuts(self, expression: sp.Expr, box: Box, left: list[int], depth: int) -> list[Any] | None:
        """Return the cuts of a box, None if no cut is needed; `left` has the number of boxes that may still be tried.

        Raises _TooManyError if the boxes that are left, or the halvings along one symbol, are not enough.
        """
        self.work.spend(1)
        left[0] -= 1
        if left[0] < 0:
            raise _TooManyError
        if is_positive_in_balls(expression, {s.name: Enclosure(*ends) for s, ends in box.items()}):
            return None
        if depth >= BOX.depth * len(box):
            raise _TooManyError
        symbol = [*box][depth % len(box)]
        low, high = box[symbol]
        middle = (low + high) / 2
        halves = [{**box, symbol: ends} for ends in ((low, middle), (middle, high))]
        return [symbol.name, str(middle), *(self._cuts(expression, half, left, depth + 1) for half in halves)]
