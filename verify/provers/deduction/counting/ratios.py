# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Induction steps in which a power, exponential or factorial is multiplied by a factor; the rest is a lemma."""

from abc import ABC
from collections.abc import Iterator

import sympy as sp

from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.counting.growth import Growth
from verify.provers.deduction.facts import Fact, Goal, Relation, Tree, data_of, stated
from verify.provers.deduction.scope import Scope


class Ratios(Growth, ABC):
    """Proofs of a goal as a multiple of a fact plus a rest without the power or factorial."""

    def by_ratio(self, scope: Scope, after: Goal) -> Tree | None:
        """Return a proof of a goal as a multiple ≥ 0 of the last fact, plus a rest that is a lemma."""
        before = next((fact for fact in reversed(scope.facts) if fact.expression is not None), None)
        if before is None or after.relation == "Eq":
            return None
        try:
            value = self.atoms.of(after.expression)
            ratios = list(self._ratios(before.above / before.below, value))
        except (NoAtomError, sp.PolynomialError):
            return None
        found = (self._by_this(scope, before, ratio, value, after.relation) for ratio in ratios)
        return next((tree for tree in found if tree is not None), None)

    def _by_this(self, scope: Scope, before: Fact, ratio: sp.Expr, value: sp.Expr, relation: Relation) -> Tree | None:
        """Return a proof of a goal, in atoms, as a multiple of a fact plus a rest."""
        try:
            rest = sp.factor(sp.cancel(value - ratio * before.above / before.below))
            parts = before.place, ratio, rest, relation
            return self.with_values(scope, self.atoms.back(rest), 0, lambda inner: self._of_parts(inner, *parts))
        except (NoAtomError, sp.PolynomialError):
            return None

    def _ratios(self, before: sp.Expr, after: sp.Expr) -> Iterator[sp.Expr]:
        """Yield, for each power, exponential or factorial, its leading coefficient in `after` over that in `before`."""
        parts = [sp.fraction(sp.together(each)) for each in (before, after)]
        below = parts[0][1] / parts[1][1]
        seen: list[sp.Expr] = []
        for atom in filter(self._grows, sorted(before.free_symbols, key=str)):
            one, other = (sp.Poly(above, atom) for above, _ in parts)
            if one.degree() > 0 and one.degree() == other.degree():
                ratio = sp.cancel(other.LC() / one.LC() * below)
                if ratio not in seen and not any(map(self._grows, ratio.free_symbols)):
                    seen.append(ratio)
                    yield ratio

    def _grows(self, symbol: sp.Symbol) -> bool:
        """Whether an atom is a power, an exponential or a factorial."""
        return self.atoms.keys.get(symbol, ("",))[0] in ("power", "exp", "factorial")

    def _of_parts(self, scope: Scope, place: int, ratio: sp.Expr, rest: sp.Expr, relation: Relation) -> Tree | None:
        """Return a proof by a fact times a ratio, plus a rest; lemmas show the rest and, if not seen, ratio ≥ 0."""
        parts = scope.positive_fraction(*sp.fraction(rest))
        if parts is None:
            return None
        above, below = sp.fraction(sp.together(ratio))
        number, factors = sp.factor_list(above * below)  # pyright: ignore[reportAssignmentType]
        odd = sp.Mul(number, *(f for f, power in factors if power % 2))
        root = self.atoms.back(sp.Mul(1 / below, *(f ** (power // 2) for f, power in factors)))
        # The lemma leaves out those factors of the rest that are seen to be positive.
        positive = sp.Mul(*(f**k for f, k in sp.factor_list(parts[0])[1] if scope.shown(f, strict=True)))
        scale, left = self.atoms.back(odd), self.atoms.back(sp.expand(sp.cancel(parts[0] / positive)))
        goals = [(Goal(left, relation), 1)]
        if not self._is_seen(scope, scale, "nonnegative"):
            goals.insert(0, (Goal(scale, "Ge"), 0))
        inner, lemmas = scope, list[tuple[Goal, Tree]]()
        for goal, depth in goals:
            tree = self.prove(inner, goal, depth)
            after = tree and inner.with_fact(goal.expression, goal.relation)
            if not tree or after is None:
                return None
            lemmas, inner = [*lemmas, (goal, tree)], after
        terms = [[data_of(scale), [place], data_of(root)]]
        terms.append([data_of(self.atoms.back(positive / parts[1])), [inner.count - 1], None])
        then: Tree = {"rule": "sum", "times": data_of(sp.Integer(1)), "terms": terms}
        for goal, tree in reversed(lemmas):
            then = {"rule": "lemma", "relation": stated(goal), "proof": tree, "then": then}
        return then
