# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs about roots: a root increases with its argument, and a square root is compared by its square."""

from abc import ABC
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import sympy as sp

from verify.provers.deduction.facts import Goal, Relation, Tree, data_of
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import Segments

_ONE = ["Integer", "1"]


class Radicals(Segments, ABC):
    """Proofs about roots."""

    def by_roots(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal with roots; None if the goal has no roots or no proof is found."""
        parts = None if goal.relation == "Eq" else scope.fraction(goal.expression)
        roots = [] if parts is None else self._roots(parts[0])
        if parts is None or not roots:
            return None
        if (tree := self._ordered(scope, goal, roots)) is not None:
            return tree
        kinds = {self.atoms.keys.get(s, ("root",))[0] for s in parts[0].free_symbols}
        if not depth or not kinds <= {"root", "sin", "cos", "log", "exp"}:
            return None
        above = Goal(self.atoms.back(parts[0]), goal.relation)
        inner = scope.with_fact(above.expression, goal.relation)
        then = None if inner is None else inner.sum(goal, 0)
        squared = [root for root in roots if self.atoms.keys[root][2] == 2][: SEARCH.squared] if then else []
        found = (self._squared(scope, above, parts[0], root, depth - 1) for root in squared)
        tree = next((tree for tree in found if tree is not None), None)
        return tree if parts[1] == 1 or not tree or not then else lemma_of(above.expression, goal.relation, tree, then)

    def _roots(self, polynomial: sp.Expr) -> list[sp.Symbol]:
        """Return the roots in a polynomial, the roots of the longest expressions first."""
        roots = [s for s in polynomial.free_symbols if self.atoms.keys.get(s, ("",))[0] == "root"]
        return sorted(roots, key=lambda s: (-self.atoms.meaning[s].count_ops(), str(self.atoms.meaning[s])))

    def _ordered(self, scope: Scope, goal: Goal, roots: Sequence[sp.Symbol]) -> Tree | None:
        """Return a proof by a sum with facts a^(1/n) ≥ b^(1/n), for roots in the goal and a ≥ b."""
        lemmas, inner, absurd = list[tuple[sp.Expr, Tree]](), scope, False
        for large, small in permutations(roots, 2):
            (_, above, order), (_, below, other) = self.atoms.keys[large], self.atoms.keys[small]
            difference = self.atoms.back(large - small)
            after = inner.with_fact(difference, "Ge")
            if order == other and scope.shown(above - below, strict=False) and after:
                lemmas.append((difference, self._order(large, above - below, int(order), inner.count)))
                inner, absurd = after, absurd or scope.shown(small - large, strict=True)
        if not lemmas:
            return None
        if absurd:
            # The facts contradict each other, which proves any goal.
            tree = self._absurd(inner)
        else:
            tree = next((tree for level in (0, 1) if (tree := inner.sum(goal, level)) is not None), None)
        for difference, proof in reversed(lemmas) if tree else ():
            tree = lemma_of(difference, "Ge", proof, tree)
        return tree

    def _order(self, large: sp.Symbol, difference: sp.Expr, order: int, f: int) -> Tree:
        """Return a proof that a root r of order n is at least the nth root s of r^n − `difference`.

        Otherwise s = r + f with the fact f > 0. Then s^n − r^n = Σ C(n, k) f^k r^(n − k) over k ≥ 1 is positive. But
        s^n − r^n = −`difference` ≤ 0.
        """
        powers = [sp.binomial(order, k) * self.atoms.back(large) ** (order - k) for k in range(1, order + 1)]
        terms: list[Any] = [[data_of(power), [f] * (k + 1), None] for k, power in enumerate(powers)]
        terms.append([data_of(self.atoms.back(difference)), [], None])
        return {"rule": "contradiction", "then": {"rule": "sum", "times": _ONE, "terms": terms}}

    def _squared(self, scope: Scope, goal: Goal, above: sp.Expr, root: sp.Symbol, depth: int) -> Tree | None:
        """Return a proof of A √b + B ≥ 0 by A² b ≥ B² for A ≥ 0, and by B ≥ 0 and B² ≥ A² b for A ≤ 0.

        If the goal fails, f = −A √b − B is > 0. But f² + 2 A √b f + A² b − B² = 0, and f² + 2 B f + B² − A² b = 0.
        """
        factor, rest = sp.Poly(above, root).nth(1), sp.Poly(above, root).nth(0)
        base = self.atoms.keys[root][1]
        side = 1 if scope.shown(factor, strict=False) else -1 if scope.shown(-factor, strict=False) else 0
        if not side:
            return None
        wanted = [Goal(self._back(side * (factor**2 * base - rest**2)), goal.relation)]
        if side < 0:
            wanted.insert(0, Goal(self._back(rest), "Ge"))
        proofs, inner = list[Tree](), scope
        for lemma in wanted:
            proof = self.prove(inner, lemma, depth)
            after = proof and inner.with_fact(lemma.expression, lemma.relation)
            if not proof or not after:
                return None
            proofs, inner = [*proofs, proof], after
        f, last = inner.count, inner.count - 1
        twice: Any = [data_of(self.atoms.back(2 * factor * root)), [f], None]
        if side < 0:
            twice = [["Integer", "2"], [f, scope.count], None]
        terms = [[_ONE, [f, f], None], twice, [_ONE, [last], None]]
        tree: Tree = {"rule": "contradiction", "then": {"rule": "sum", "times": _ONE, "terms": terms}}
        for lemma, proof in zip(reversed(wanted), reversed(proofs), strict=True):
            tree = lemma_of(lemma.expression, lemma.relation, proof, tree)
        return tree

    def _back(self, value: sp.Expr) -> sp.Expr:
        """Return an expression in atoms, its roots folded, as one in the statement's own symbols."""
        above, below = self.atoms.folded(value)
        return self.atoms.back(above / below)


def lemma_of(expression: sp.Expr, relation: Relation, proof: Tree, then: Tree) -> Tree:
    """Return a proof that shows the sign of an expression as a lemma, and goes on with `then`."""
    stated = (sp.Gt if relation == "Gt" else sp.Ge)(expression, 0, evaluate=False)
    return {"rule": "lemma", "relation": data_of(stated), "proof": proof, "then": then}
