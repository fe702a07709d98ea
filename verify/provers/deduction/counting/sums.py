# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Sums that have a closed form, which is shown by induction and then known."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import sympy as sp
from sympy.concrete.gosper import gosper_sum

from verify.language.heads.scopes import BINDERS
from verify.provers.deduction.counting.invariants import Invariants
from verify.provers.deduction.facts import Goal, Tree, data_of, relation_of
from verify.provers.deduction.scope import Scope


class ClosedForms(Invariants, ABC):
    """With closed forms of sums."""

    @abstractmethod
    def _by_induction(self, scope: Scope, goal: Goal, depth: int, *, alone: bool = False) -> Tree | None:
        """Return a proof by induction over an integer that is an exponent or counts; `alone`, without invariants."""

    def by_closed_forms(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal from closed forms of its sums, where they have such."""
        inner, found = scope, list[tuple[Goal, Tree]]()
        for form in _forms(goal.expression):
            if form.expression not in (goal.expression, -goal.expression):
                tree = self._by_induction(scope, form, depth)
                after = tree and inner.with_fact(form.expression, "Eq")
                if tree and after:
                    found, inner = [*found, (form, tree)], after
        proof = self.prove(inner, goal, 0) if found else None
        for form, tree in reversed(found) if proof else ():
            proof = {"rule": "lemma", "relation": data_of(relation_of(form)), "proof": tree, "then": proof}
        return proof


def _forms(expression: sp.Expr) -> Iterator[Goal]:
    """Yield sums less their closed forms."""
    for series in sorted(expression.atoms(sp.Sum), key=sp.default_sort_key):
        if len(series.limits) > 1 or series.function.has(*BINDERS, sp.exp, sp.log):
            continue
        closed = gosper_sum(series.function, series.limits[0])
        if closed is not None:
            yield Goal(series - sp.factor(closed), "Eq")
