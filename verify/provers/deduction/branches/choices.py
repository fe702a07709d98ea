# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Facts that bound a choice of two values, and so both values: |u| ≤ v bounds u and −u.

Such facts bound an absolute value or a maximum from above, or a minimum from below.
"""

from abc import ABC
from collections.abc import Sequence

import sympy as sp

from verify.language.heads.scopes import BINDERS
from verify.provers.deduction.branches.radicals import Radicals
from verify.provers.deduction.facts import Fact, Goal, Tree, data_of
from verify.provers.deduction.scope import Scope

_CHOICES = (sp.Abs, sp.Max, sp.Min)


class Choices(Radicals, ABC):
    """Facts that are split into facts without choices."""

    def split(self, scope: Scope) -> tuple[Scope, list[tuple[Goal, Tree]]] | None:
        """Return the scope in which both ends of a fact (see `_ends`) are facts, with their proofs; or None."""
        for fact in scope.facts:
            ends = _ends(fact)
            if not ends or self._are_seen(scope, fact, ends):
                continue
            inner, lemmas = scope, list[tuple[Goal, Tree]]()
            for end in ends:
                goal = Goal(end, fact.relation)
                after, proof = inner.with_fact(end, fact.relation), self._end(inner, goal, ends[0] - ends[1])
                if after is None or proof is None:
                    break
                lemmas, inner = [*lemmas, (goal, proof)], after
            else:
                return inner, lemmas
        return None

    def deciding(self, scope: Scope) -> tuple[sp.Expr, bool] | None:
        """Return the expression that decides a fact's choice, and whether the sign 0 is a case of its own.

        Return None if no fact has a choice. A fact whose ends are seen counts as a fact without a choice.
        """
        for fact in scope.facts:
            of, thrice = self._resolved(scope, fact.expression)[1:] if fact.expression is not None else (None, False)
            if of is not None and not (_ends(fact) and self._are_seen(scope, fact, _ends(fact))):
                return of, thrice
        return None

    def _are_seen(self, scope: Scope, fact: Fact, ends: Sequence[sp.Expr]) -> bool:
        return all(self._is_seen(scope, end, "positive" if fact.relation == "Gt" else "nonnegative") for end in ends)

    def _end(self, scope: Scope, goal: Goal, difference: sp.Expr) -> Tree | None:
        """Return a proof of an end by two cases: the sign of the difference of both ends."""
        of = sp.factor_terms(difference).as_coeff_Mul()[1]
        cases = [self._case(scope, turned, relation) for turned, relation in ((of, "Ge"), (-of, "Gt"))]
        above, below = (case and case.sum(goal, 0) for case in cases)
        if not above or not below:
            return None
        return {"rule": "cases", "of": data_of(of), "above": above, "at": None, "below": below}


def _ends(fact: Fact) -> list[sp.Expr]:
    """Return the two ends of a fact, such as v − u and v + u for the fact v − |u|; [] if it has none."""
    expression = sp.Integer(0) if fact.expression is None else fact.expression
    of = sorted(expression.atoms(*_CHOICES), key=sp.default_sort_key)
    if len(of) != 1 or fact.relation == "Eq" or expression.has(sp.Piecewise, sp.sign):
        return []
    if any(bound.has(of[0]) for bound in expression.atoms(*BINDERS)):
        return []
    values = (of[0].args[0], -of[0].args[0]) if isinstance(of[0], sp.Abs) else of[0].args
    place = sp.Dummy(real=True)
    slope = sp.diff(expression.xreplace({of[0]: place}), place)
    good = slope.is_Rational and (slope > 0 if isinstance(of[0], sp.Min) else slope < 0)
    return [expression.xreplace({of[0]: value}) for value in values] if good and len(values) == 2 else []
