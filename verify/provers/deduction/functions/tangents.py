# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs about sums of weighted logarithms by log u − log v ≥ 1 − v/u with the same v in all terms.

Examples are relative entropies and the log-sum inequality. If Σ w_i log u_i has a further term −W log v with
W = Σ w_i, then Σ w_i (log u_i − log v) ≥ Σ w_i (1 − v/u_i). For +W log v the same holds with 1/v in place of v. A
term w_i x counts as w_i log e^x.
"""

from abc import ABC
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import sympy as sp

from verify.provers.deduction.account.record import told as noted
from verify.provers.deduction.facts import Goal, Tree
from verify.provers.deduction.functions.lemmas import Frame, Lemmas, added, by_equation, told
from verify.provers.deduction.limits import TRANSFORM
from verify.provers.deduction.scope import Scope

Logs: TypeAlias = list[tuple[sp.Expr, sp.Expr]]
"""Weights of logarithms, and the logarithms' arguments."""


class Tangents(Lemmas, ABC):
    """Proofs by tangents of logarithms."""

    @noted("tangents")
    def by_tangents(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of an inequality between weighted logarithms by their tangents at one point."""
        parts = None if goal.strict or goal.relation == "Eq" else _weighted(goal.expression)
        if parts is None or not 1 < len(parts[0]) <= TRANSFORM.factors:
            return None
        weights, rest = parts
        found = (self._at(scope, goal, *point) for point in _points(scope, weights, rest))
        return next((tree for tree in found if tree is not None), None)

    def _at(
        self, scope: Scope, goal: Goal, point: sp.Expr, logs: Logs, left: sp.Expr, terms: Sequence[Any]
    ) -> Tree | None:
        """Return a proof by tangents at a point, with a rest that is a sum of facts; `terms` are added to the sum."""
        rest = Goal(sp.expand(sp.powsimp(sum(w * (1 - point / u) for w, u in logs) + left)), goal.relation)
        if not self._is_plausible(scope, rest):
            return None
        frame, tangents = self.with_sign(Frame(scope), point), list[Any]()
        for weight, u in logs:
            frame = frame and self.with_sign(frame, weight, "Ge")
            frame = frame and self.with_sign(frame, u)
            frame = frame and self.with_known(frame, "log_from", point, u)
            if frame is None:
                return None
            tangents.append(told(weight, [frame.scope.count - 1]))
        if frame and point.is_Pow and (frame := self.with_known(frame, "product", 1 / point, point)) is not None:
            # The re-check may treat log(1/v) and log v as different atoms.
            tangents.append(told(-sp.Add(*(weight for weight, _ in logs)), [frame.scope.count - 1]))
        if frame is None or (proof := frame.scope.sum(rest, 0)) is None:
            return None
        inner = frame.with_lemma(rest.expression, rest.relation, proof)
        return inner and inner.around(added(*tangents, *terms, told(sp.Integer(1), [inner.scope.count - 1])))


def _weighted(expression: sp.Expr) -> tuple[dict[sp.Expr, sp.Expr], sp.Expr] | None:
    """Return the weight of each logarithm's argument in a sum, and the rest; None if a term has several logarithms."""
    weights, rest = dict[sp.Expr, sp.Expr](), sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(expression, log=False, power_base=False, power_exp=False)):
        logs = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.log)]
        if not logs and not term.has(sp.log):
            rest += term
        elif len(logs) == 1 and not (term / logs[0]).has(sp.log):
            u = logs[0].args[0]
            weights[u] = sp.expand(weights.get(u, 0) + term / logs[0])
        else:
            return None
    return weights, rest


def _points(
    scope: Scope, weights: dict[sp.Expr, sp.Expr], rest: sp.Expr
) -> Iterator[tuple[sp.Expr, Logs, sp.Expr, list[Any]]]:
    """Yield points, each with the logarithms to bound, the rest, and a multiple of an equation among the facts.

    For a logarithm log v and the sum W of the other weights, the point is v if the weight of log v is −W, and 1/v if
    the weight is W; an equation may be needed to show this. The last point is 1.
    """
    for v, weight in weights.items():
        others = [(w, u) for u, w in weights.items() if u != v]
        for turn in (-1, 1):
            equal = by_equation(scope, sp.expand(sum(w for w, _ in others) - turn * weight))
            if equal is not None:
                logs, left = _folded(others, rest)
                more = [told(-turn * factor * sp.log(v), places) for factor, places in equal]
                yield v if turn < 0 else sp.Pow(v, -1), logs, left, more
    logs = [(w, u) for u, w in weights.items()]
    yield sp.Integer(1), logs, rest, []


def _folded(logs: Logs, rest: sp.Expr) -> tuple[Logs, sp.Expr]:
    """Return the logarithms and the rest, with each term w x of the rest moved into the logarithm of weight w."""
    inside = set[sp.Symbol]().union(*(w.free_symbols | u.free_symbols for w, u in logs))
    found, left = list(logs), sp.Add(sp.expand(rest))
    for symbol in sorted(rest.free_symbols - inside, key=lambda s: s.name):
        share = sp.Add(left.coeff(symbol))
        for i, (w, u) in enumerate(found):
            ratio = sp.cancel(share / w)
            if ratio.is_Rational and ratio != 0:
                found[i], left = (w, u * sp.exp(ratio * symbol)), sp.expand(left - share * symbol)
                break
    return found, left
