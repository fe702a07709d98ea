# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Roots of squares that contain another root: the root of x + 2 sqrt(x - 1) is 1 + sqrt(x - 1)."""

from abc import ABC, abstractmethod

import sympy as sp

from verify.provers.deduction.facts import Goal, Tree, stated
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.values import Values

_HALF = sp.Rational(1, 2)


class Roots(Values, ABC):
    """Proofs that write roots of squares without the outer root."""

    @abstractmethod
    def prove(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal, None if none was found."""

    @abstractmethod
    def _by_both(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of an equation by two inequalities."""

    def _by_squares(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof with equations that write nested roots without the outer root; None if none was found."""
        inner, lemmas = scope, list[tuple[Goal, Tree]]()
        for root in sorted(_roots(goal.expression), key=sp.default_sort_key):
            square_root = _square_root(root.base)
            for side in () if square_root is None else (square_root, -square_root):
                above, equal = Goal(side, "Ge"), Goal(root - side, "Eq")
                sign = self.prove(inner, above, 0)
                after = sign and inner.with_fact(side, "Ge")
                same = after and self._by_both(after, equal)
                last = after.with_fact(equal.expression, "Eq") if after and same else None
                if sign and same and last:
                    lemmas, inner = [*lemmas, (above, sign), (equal, same)], last
                    break
        tree = (inner.sum(goal, 0) or inner.sum(goal, 1)) if lemmas else None
        for lemma, proof in reversed(lemmas) if tree else ():
            tree = {"rule": "lemma", "relation": stated(lemma), "proof": proof, "then": tree}
        return tree


def _roots(expression: sp.Expr) -> list[sp.Expr]:
    """Return the square roots in an expression that contain another square root."""
    roots = [power for power in expression.atoms(sp.Pow) if power.exp == _HALF]
    return [root for root in roots if any(power.exp == _HALF for power in root.base.atoms(sp.Pow))]


def _square_root(square: sp.Expr) -> sp.Expr | None:
    """Return q with q² = `square`; None if no q is found.

    If `square` contains s = √u for an expression u that is linear in a symbol, the symbol is a polynomial in s. Then q
    is searched for as a polynomial in s.
    """
    for inner in sorted((p for p in square.atoms(sp.Pow) if p.exp == _HALF), key=sp.default_sort_key):
        s = sp.Dummy("s", nonnegative=True)
        for symbol in sorted(inner.base.free_symbols, key=lambda each: each.name):
            slope = sp.diff(inner.base, symbol)
            if not slope.is_Rational or slope == 0:
                continue
            value = symbol + (s**2 - inner.base) / slope
            written = sp.expand(square.xreplace({inner: s}).subs(symbol, value))
            number, factors = sp.factor_list(written)  # pyright: ignore[reportAssignmentType]
            root = sp.sqrt(number)
            if number > 0 and root.is_Rational and all(power % 2 == 0 for _, power in factors):
                return sp.Mul(root, *(f ** (power // 2) for f, power in factors)).expand().xreplace({s: inner})
    return None
