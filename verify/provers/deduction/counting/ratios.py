# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Steps of an induction in which a power that a bound contains grows by a factor: the rest is shown without it."""

from abc import ABC
from collections.abc import Iterator

import sympy as sp

from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.counting.growth import Growth
from verify.provers.deduction.facts import Goal, Tree, data_of, stated
from verify.provers.deduction.scope import Scope

_ONE = ["Integer", "1"]


class Ratios(Growth, ABC):
    """With proofs of a goal as a multiple of a fact and a rest, from which powers and exponentials drop out."""

    def by_ratio(self, scope: Scope, after: Goal) -> Tree | None:
        """Return a proof of a goal as a multiple ≥ 0 of the last fact, and what is left of it, as a lemma."""
        before = next((fact for fact in reversed(scope.facts) if fact.expression is not None), None)
        if before is None or after.relation == "Eq":
            return None
        try:
            value = self.atoms.of(after.expression)
            for ratio in self._ratios(before.above / before.below, value):
                rest = sp.cancel(value - ratio * before.above / before.below)
                tree = self._of_parts(
                    scope, before.place, ratio, Goal(self.atoms.back(sp.factor(rest)), after.relation)
                )
                if tree is not None:
                    return tree
        except (NoAtomError, sp.PolynomialError):
            return None
        return None

    def _ratios(self, before: sp.Expr, after: sp.Expr) -> Iterator[sp.Expr]:
        """Yield by what each power or exponential in one value is multiplied in the other."""
        parts = [sp.fraction(sp.together(each)) for each in (before, after)]
        below = parts[0][1] / parts[1][1]
        seen: list[sp.Expr] = []
        for atom in sorted(before.free_symbols, key=str):
            if self.atoms.keys.get(atom, ("",))[0] not in ("power", "exp"):
                continue
            one, other = (sp.Poly(above, atom) for above, _ in parts)
            if one.degree() > 0 and one.degree() == other.degree():
                ratio = sp.cancel(other.LC() / one.LC() * below)
                if atom not in ratio.free_symbols and ratio not in seen:
                    seen.append(ratio)
                    yield ratio

    def _of_parts(self, scope: Scope, place: int, ratio: sp.Expr, rest: Goal) -> Tree | None:
        """Return a proof by a fact times a ratio, and a rest: both, where no square is seen, are lemmas."""
        number, factors = sp.factor_list(ratio)  # pyright: ignore[reportAssignmentType]
        odd = sp.Mul(number, *(f for f, power in factors if power % 2))
        root = self.atoms.back(sp.Mul(*(f ** (power // 2) for f, power in factors)))
        scale, inner, lemmas = Goal(self.atoms.back(odd), "Ge"), scope, list[tuple[Goal, Tree]]()
        for goal in [rest] if self._is_seen(scope, scale.expression, "nonnegative") else [scale, rest]:
            tree = self.prove(inner, goal, 1)
            after = tree and inner.with_fact(goal.expression, goal.relation)
            if not tree or after is None:
                return None
            lemmas, inner = [*lemmas, (goal, tree)], after
        multiple = [data_of(scale.expression), [place], data_of(root)]
        then: Tree = {"rule": "sum", "times": _ONE, "terms": [multiple, [_ONE, [inner.count - 1], None]]}
        for goal, tree in reversed(lemmas):
            then = {"rule": "lemma", "relation": stated(goal), "proof": tree, "then": then}
        return then
