# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs of sums of weighted logarithms by log u − log v ≥ 1 − v/u, for one v: relative entropies, the log-sum bound.

If Σ w_i log u_i has a further term −W log v with W = Σ w_i, then Σ w_i (log u_i − log v) ≥ Σ w_i (1 − v/u_i). So with
+W log v, for 1/v. A term w_i x is w_i log e^x.
"""

from abc import ABC
from collections.abc import Iterator

import sympy as sp

from verify.provers.deduction.account.record import told as noted
from verify.provers.deduction.facts import Goal, Tree
from verify.provers.deduction.functions.lemmas import Frame, Lemmas, added, told
from verify.provers.deduction.limits import TRANSFORM
from verify.provers.deduction.scope import Scope


class Tangents(Lemmas, ABC):
    """Proofs by tangents of logarithms."""

    @noted("tangents")
    def by_tangents(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of an inequality between weighted logarithms by their tangents at one point."""
        parts = None if goal.strict or goal.relation == "Eq" else _weighted(goal.expression)
        if parts is None or not 1 < len(parts[0]) <= TRANSFORM.factors:
            return None
        for logs, point in _points(*parts):
            rest = sp.expand(sp.powsimp(sum(w * (1 - point / u) for w, u in logs) + _left(parts[1], logs)))
            tree = self._at(scope, logs, point, Goal(rest, goal.relation))
            if tree is not None:
                return tree
        return None

    def _at(self, scope: Scope, logs: list[tuple[sp.Expr, sp.Expr]], point: sp.Expr, rest: Goal) -> Tree | None:
        """Return the proof by the tangents at a point, if the rest is shown shortly."""
        if not self._is_plausible(scope, rest):
            return None
        frame: Frame | None = Frame(scope)
        terms = []
        for weight, u in logs:
            frame = frame and self.with_sign(frame, weight, "Ge")
            frame = frame and self.with_sign(frame, u)
            frame = frame and self.with_sign(frame, point)
            frame = frame and self.with_known(frame, "log_from", point, u)
            if frame is None:
                return None
            terms.append(told(weight, [frame.scope.count - 1]))
        proof = self.short(frame.scope, rest)
        inner = proof and frame and frame.with_lemma(rest.expression, rest.relation, proof)
        return inner and inner.around(added(*terms, told(sp.Integer(1), [inner.scope.count - 1])))


def _weighted(expression: sp.Expr) -> tuple[dict[sp.Expr, sp.Expr], sp.Expr] | None:
    """Return the weight of each logarithm's argument in a sum, and the rest; None if a term has several logarithms."""
    weights, rest = dict[sp.Expr, sp.Expr](), sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(expression, log=False, power_base=False, power_exp=False)):
        logs = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.log)]
        if not logs and not term.has(sp.log):
            rest += term
        elif len(logs) == 1 and not (term / logs[0]).has(sp.log) and logs[0].args[0].free_symbols:
            u = logs[0].args[0]
            weights[u] = sp.expand(weights.get(u, 0) + term / logs[0])
        else:
            return None
    return weights, rest


def _points(weights: dict[sp.Expr, sp.Expr], rest: sp.Expr) -> Iterator[tuple[list[tuple[sp.Expr, sp.Expr]], sp.Expr]]:
    """Yield the logarithms with their weights, and a point: 1, or that of a logarithm with the sum of the weights."""
    for v, weight in weights.items():
        others = [(w, u) for u, w in weights.items() if u != v]
        turn = next((turn for turn in (-1, 1) if sp.expand(sum(w for w, _ in others) - turn * weight) == 0), 0)
        if turn:
            yield _folded(others, rest), v if turn < 0 else 1 / v
    yield [(w, u) for u, w in weights.items()], sp.Integer(1)


def _folded(logs: list[tuple[sp.Expr, sp.Expr]], rest: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """Return the logarithms with those terms w x of the rest in them that have the weight w of one of them."""
    inside = set[sp.Symbol]().union(*(w.free_symbols | u.free_symbols for w, u in logs))
    found = list(logs)
    for symbol in sorted(rest.free_symbols - inside, key=lambda s: s.name):
        share = sp.expand(rest).coeff(symbol)
        for i, (w, u) in enumerate(found):
            ratio = sp.cancel(share / w)
            if ratio.is_Rational and ratio != 0:
                found[i] = w, u * sp.exp(ratio * symbol)
                break
    return found


def _left(rest: sp.Expr, logs: list[tuple[sp.Expr, sp.Expr]]) -> sp.Expr:
    """Return the rest without the terms that `_folded` put into logarithms."""
    for w, u in logs:
        for factor in sp.Mul.make_args(u):
            if isinstance(factor, sp.exp):
                rest = rest - w * factor.args[0]
    return sp.expand(rest)
