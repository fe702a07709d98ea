# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Telescoping sums: closed forms by Gosper's method, induction steps by the method of Wilf and Zeilberger."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from verify.language.heads.scopes import outermost
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.facts import Goal, Tree, data_of, stated
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.values import Values

_MOST_DEGREE, _WORK = 5, 100
"""The largest degree of P in a primitive G = P · core, and the work of trying one degree, in columns."""


class Telescoping(Values, ABC):
    """Proofs by telescoping sums; a subclass proves the goals that remain."""

    @abstractmethod
    def prove(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal; None if no proof was found."""

    def _by_telescoping(self, scope: Scope, before: Goal, n: sp.Symbol) -> Tree | None:
        """Return a proof of an equation at n + 1; the scope's last fact is the equation at n.

        The equation is Σ_k F(n, k) = R(n). The proof needs a G with
        F(n + 1, k) − F(n, k) R(n + 1)/R(n) = G(k + 1) − G(k).
        """
        parts = _one_sum(before.expression)
        if before.relation != "Eq" or parts is None or n not in outermost(parts[0])[0].free_symbols:
            return None
        total, share, rest = parts
        term, (k, first, _) = outermost(total)
        if n in first.free_symbols:
            return None
        after, above = term.subs(n, n + 1), share.subs(n, n + 1)
        self.atoms.counts(k.name)
        try:
            ratio = sp.Integer(0) if rest == 0 else self._quotient((rest / share).subs(n, n + 1), rest / share)
            core = _core(term, k).subs(n, n + 1)
            right = self._quotient(after, core) - ratio * (self._quotient(term, core) if ratio else 0)
            primitive = self._primitive(core, right, k)
        except (NoAtomError, sp.PolynomialError, ValueError, ZeroDivisionError):
            return None
        if primitive is None or not self._divides(scope, ratio, sp.cancel(primitive / core)):
            return None
        terms = [(above, scope.count), *([(sp.cancel(above * ratio / share), scope.count - 1)] if ratio else [])]
        summed = [(sp.Integer(1), after), *([(-ratio, term)] if ratio else [])]
        return _telescope(total, primitive, summed, _shares(terms))

    def _by_closed_form(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of a goal with one sum, whose term is a difference G(k + 1) − G(k)."""
        parts = _one_sum(goal.expression)
        if parts is None:
            return None
        total, share, rest = parts
        term, (k, first, last) = outermost(total)
        self.atoms.counts(k.name)
        try:
            core = _core(term, k)
            primitive = self._primitive(core, self._quotient(term, core), k)
        except (NoAtomError, sp.PolynomialError, ValueError, ZeroDivisionError):
            return None
        if primitive is None or not self._divides(scope, sp.cancel(primitive / core)):
            return None
        closed = primitive.subs(k, last + 1) - primitive.subs(k, first)
        if closed.has(sp.zoo, sp.nan, sp.oo):
            return None
        inner = scope.skipped()
        left = rest + share * closed
        closed_goal = Goal(left, goal.relation)
        proof = self.prove(inner, closed_goal, min(depth, 1))
        then = _shares([(share, scope.count), (sp.Integer(1), scope.count + 1)])
        lemma = {"rule": "lemma", "relation": stated(closed_goal), "proof": proof, "then": then}
        return proof and _telescope(total, primitive, [(sp.Integer(1), term)], lemma)

    def _divides(self, scope: Scope, *expressions: sp.Expr) -> bool:
        """Whether every denominator of some expressions is seen to be positive or to be negative."""
        below = [sp.fraction(sp.together(expression))[1] for expression in expressions]
        return all(scope.positive_fraction(sp.Integer(1), self.atoms.of(sp.expand(each))) for each in below)

    def _quotient(self, above: sp.Expr, below: sp.Expr) -> sp.Expr:
        """Return a reduced quotient. Raises NoAtomError if a factorial, a power or a sum does not cancel."""
        self.atoms.prepare(above, below)
        quotient = sp.factor(sp.cancel(sp.together(self.atoms.of(above) / self.atoms.of(below))))
        left = [s for s in quotient.free_symbols if self.atoms.keys.get(s, ("",))[0] in ("factorial", "power", "Sum")]
        if left:
            raise NoAtomError(str(left[0]))
        return self.atoms.back(quotient)

    def _primitive(self, core: sp.Expr, right: sp.Expr, k: sp.Symbol) -> sp.Expr | None:
        """Return G = P · core with G(k + 1) − G(k) = core · right for a polynomial P in k; None if no P was found."""
        along = self._quotient(core.subs(k, k + 1), core)
        symbols = sorted((along.free_symbols | right.free_symbols) - {k}, key=lambda s: s.name)
        field = sp.QQ.frac_field(k, *symbols)
        for degree in range(_MOST_DEGREE + 1):
            self.work.spend(_WORK)
            found = _polynomial(field, field.from_sympy(along), field.from_sympy(right), degree)
            if found is not None:
                share = sp.factor(sp.Add(*(c * k**i for i, c in enumerate(found))))
                return sp.factor(share * core) if core.is_rational_function(k) else share * core
        return None


def _one_sum(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr] | None:
    """Return S, a and b for an expression a S + b whose only sum is S; None for any other expression."""
    sums, here = sorted(expression.atoms(sp.Sum), key=sp.default_sort_key), sp.Dummy("sum")
    if len(sums) != 1:
        return None
    share = sp.diff(expression.xreplace({sums[0]: here}), here)
    return None if share.has(here) or share == 0 else (sums[0], share, expression.xreplace({sums[0]: sp.Integer(0)}))


def _core(term: sp.Expr, k: sp.Symbol) -> sp.Expr:
    """Return the product of the factors of a term that are not polynomials in k."""
    return sp.Mul(*(factor for factor in sp.Mul.make_args(term) if not factor.is_polynomial(k)))


def _shares(terms: Sequence[tuple[sp.Expr, int]]) -> Tree:
    """Return a proof by a sum of multiples of facts."""
    listed = [[data_of(share), [place], None] for share, place in terms]
    return {"rule": "sum", "times": data_of(sp.Integer(1)), "terms": listed}


def _telescope(total: sp.Expr, primitive: sp.Expr, summed: Sequence[tuple[sp.Expr, sp.Expr]], then: Tree) -> Tree:
    """Return a proof with the fact Σ_k Σ c F(k) = G(last + 1) − G(first), where c, F are the pairs in `summed`.

    The re-check needs no facts to see that Σ c F(k) = G(k + 1) − G(k), for the primitive G.
    """
    _, (k, first, last) = outermost(total)
    ends = {"in": data_of(k), "from": data_of(first), "to": data_of(last), "of": data_of(primitive)}
    sums = [[data_of(share), data_of(term)] for share, term in summed]
    return {"rule": "telescope", **ends, "sums": sums, "step": _shares([]), "then": then}


def _polynomial(field: Any, along: Any, right: Any, degree: int) -> Sequence[sp.Expr] | None:
    """Return the coefficients of a P with P(k + 1) · along − P(k) = right; None if no P has at most this degree.

    The symbol k is the first of the field.
    """
    k = field.gens[0]
    columns = [(k + 1) ** i * along - k**i for i in range(degree + 1)] + [right]
    below = field.ring.one if hasattr(field, "ring") else field.field.ring.one
    for column in columns:
        below = below.lcm(column.denom)
    inner = sp.QQ.frac_field(*field.symbols[1:]) if len(field.symbols) > 1 else sp.QQ
    rows: dict[int, list[Any]] = {}
    for j, column in enumerate(columns):
        for powers, c in (column.numer * below.quo(column.denom)).terms():
            row = rows.setdefault(powers[0], [inner.zero] * len(columns))
            value = c if inner is sp.QQ else inner(inner.field.ring({powers[1:]: c}))
            row[j] += value
    reduced, pivots = DomainMatrix(list(rows.values()), (len(rows), len(columns)), inner).rref()
    if degree + 1 in pivots:
        return None
    found = [sp.Integer(0)] * (degree + 1)
    for i, place in enumerate(pivots):
        found[place] = inner.to_sympy(reduced.to_list()[i][degree + 1])
    return found
