# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs by logarithms, exponentials or roots of both sides of a goal, and by weighted means."""

from abc import ABC
from collections.abc import Callable, Sequence
from math import lcm
from typing import Any

import sympy as sp

from verify.language.heads.scopes import BINDERS
from verify.provers.deduction.facts import Goal, Tree
from verify.provers.deduction.functions.chains import Chains
from verify.provers.deduction.functions.lemmas import Frame, added, by_equation, told
from verify.provers.deduction.limits import TRANSFORM
from verify.provers.deduction.scope import Scope

_ONE = sp.Integer(1)


class Transforms(Chains, ABC):
    """Proofs by other forms of a goal."""

    _inside = False
    """Whether the search is inside another form of a goal, so that no further form is tried."""

    def of_two_powers(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof by another form of a two-term goal, if an exponent is symbolic or a factor `_is_curved`."""
        terms = sp.Add.make_args(goal.expression)
        factors = [factor for term in terms for factor in sp.Mul.make_args(term)]
        raised = any(f.is_Pow and f.base is not sp.E and f.exp.free_symbols for f in factors)
        return (
            self._transformed(scope, goal, depth)
            if len(terms) == 2 and (raised or any(map(_is_curved, factors)))
            else None
        )

    def _transformed(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof by another form of a goal."""
        if self._inside or scope.bound or goal.relation == "Eq" or goal.expression.atoms(*BINDERS):
            return None
        self._inside = True
        try:
            ways: list[Callable[[Scope, Goal, int], Tree | None]] = [
                self._without_logarithms,
                self._by_logarithm,
                self._by_root,
                self._by_base,
                self._by_larger_power,
            ]
            return next((tree for way in ways if (tree := way(scope, goal, depth)) is not None), None)
        finally:
            self._inside = False

    def _shown(self, frame: Frame, expression: sp.Expr, goal: Goal, depth: int) -> tuple[Frame, int] | None:
        """Return a frame with the lemma that an expression has the goal's relation to 0, and the lemma's place."""
        new = Goal(expression, goal.relation)
        if not self._is_plausible(frame.scope, new):
            return None
        proof = self.prove(frame.scope, new, depth)
        inner = proof and frame.with_lemma(expression, goal.relation, proof)
        return (inner, inner.scope.count - 1) if inner else None

    def _by_logarithm(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of A ≥ B > 0, where A or B is c e^u, by L = log A − log B ≥ 0 and A ≥ B (1 + L)."""
        for term in sp.Add.make_args(goal.expression):
            curved = [f for f in sp.Mul.make_args(term) if _is_curved(f)]
            rest = sp.Mul(*(f for f in sp.Mul.make_args(term) if f not in curved))
            turn = -1 if _is_negative(term) else 1
            other = sp.expand(turn * (term - goal.expression))
            frame = self._positive(scope, [other, turn * rest]) if curved else None
            logs = [sp.Add(*map(_log_of, curved)) + sp.log(turn * rest), _log_of(other)][::turn]
            shown = frame and self._shown(frame, logs[0] - logs[1], goal, depth)
            known = shown and self.with_known(shown[0], "exp_from", *logs)
            if shown and known:
                small = other if turn > 0 else -term
                return known.around(added(told(small, [shown[1]]), told(_ONE, [known.scope.count - 1])))
        return None

    def _without_logarithms(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of Σ k log u + B ≥ 0 by Π u^k e^B ≥ 1, with divisors multiplied to the other side."""
        terms = [term.as_coeff_Mul() for term in sp.Add.make_args(goal.expression)]
        logarithms = [(part.args[0], k) for k, part in terms if isinstance(part, sp.log)]
        rest = [k * part for k, part in terms if not isinstance(part, sp.log)]
        times = lcm(*(int(k.q) for _, k in logarithms))
        if not _is_simple(logarithms, rest) or sum(abs(k) * times for _, k in logarithms) > TRANSFORM.factors:
            return None
        above, below = list[sp.Expr](), list[sp.Expr]()
        for u, k in logarithms:
            (above if k > 0 else below).extend([u] * int(abs(k) * times))
        for term in rest:
            negative = _is_negative(term)
            (below if negative else above).append(sp.exp(times * (-term if negative else term)))
        up, down = sp.Mul(*above), sp.Mul(*below)
        frame = self._positive(scope, [*above, *below])
        shown = frame and self._shown(frame, up - down, goal, depth)
        split = shown and self._split_logs(shown[0], above, below, _ONE)
        if not (shown and split):
            return None
        inner, parts = split
        return inner.around({**added(*parts, told(1 / up, [shown[1]])), "times": ["Integer", str(times)]})

    def _positive(self, scope: Scope, expressions: Sequence[sp.Expr]) -> Frame | None:
        """Return a frame in which expressions are seen to be > 0."""
        frame: Frame | None = Frame(scope)
        for expression in expressions:
            frame = frame and self.with_sign(frame, expression)
        return frame

    def _split_logs(
        self, frame: Frame, above: Sequence[sp.Expr], below: Sequence[sp.Expr], weight: sp.Expr
    ) -> tuple[Frame, list[list[Any]]] | None:
        """Return a frame, and terms with the sum w (r − 1 − Σ log f), for weight w and r = Π below/Π above = Π f."""
        # SymPy would combine powers of one base, as in b^(p/(p − 1))/b, but these are different atoms.
        parts = [*((b, b) for b in below), *((a, sp.Pow(a, -1, evaluate=False)) for a in above)]
        rests = [sp.Mul(*(part for _, part in parts[i:]), evaluate=False) for i in range(len(parts))]
        needed: list[tuple[str, tuple[sp.Expr, ...], int]] = [("log", (rests[0],), 1)]
        needed += [("product", (part, rests[i + 1]), 1) for i, (_, part) in enumerate(parts[:-1])]
        needed += [("product", pair, -1) for pair in parts[len(below) :]]
        found, terms = frame, list[list[Any]]()
        for name, of, sign in needed:
            after = self.with_known(found, name, *of)
            if after is None:
                return None
            found, terms = after, [*terms, told(sign * weight, [after.scope.count - 1])]
        return found, terms

    def _by_root(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of P − Q ≥ 0 by (P/Q)^(1/n) ≥ 1, with the factors that are symbols moved to the other side."""
        terms = sp.Add.make_args(goal.expression)
        small = next((-t for t in terms if _is_negative(t)), None)
        if small is None or len(terms) > 2:
            return None
        powers = ((goal.expression + small) / small).as_powers_dict()
        plain = {base: e for base, e in powers.items() if base.is_Symbol}
        orders = {abs(e) for e in powers.values() if e.is_Integer and 1 < abs(e) <= TRANSFORM.order}
        for order in sorted(orders) if plain and all(e.is_Rational for e in powers.values()) else ():
            frame = self._positive(scope, list(powers))
            if frame is None or any(not (e / order).is_Integer for e in plain.values()):
                continue
            first = sp.Mul(*(base ** (e / order) for base, e in powers.items() if base not in plain))
            other = sp.Mul(*(base ** (-e / order) for base, e in plain.items()))
            if (shown := self._shown(frame, first - other, goal, depth)) is not None:
                quotient = sp.Add(*((first / other) ** i for i in range(order)))
                return shown[0].around(added(told(small / other * quotient, [shown[1]])))
        return None

    def _by_base(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of c (e^g − u^n) ≥ 0 by e^(g/n) ≥ u ≥ 0, for an integer n."""
        powers = [p for p in goal.expression.atoms(sp.Pow) if p.base is not sp.E and p.exp.is_integer]
        for power in sorted((p for p in powers if p.exp.free_symbols), key=sp.default_sort_key):
            share: sp.Expr = sp.Mul(-1, goal.expression.coeff(power))
            larger = sp.cancel((goal.expression + share * power) / share) if share != 0 else None
            frame = self.with_sign(Frame(scope), power.base, "Ge") if isinstance(larger, sp.exp) else None
            if larger is None or frame is None:
                continue
            base: sp.Expr = sp.exp(sp.expand(larger.args[0] / power.exp))
            shown = self._shown(frame, sp.Add(base, -power.base), Goal(power, "Ge"), depth)
            known = shown and self.with_known(shown[0], "rises", base, power.base, power.exp)
            if known and not goal.strict and self._is_seen(known.scope, share, "nonnegative"):
                return known.around(added(told(share, [known.scope.count - 1])))
        return None

    def _by_larger_power(self, scope: Scope, goal: Goal, depth: int) -> Tree | None:
        """Return a proof of A − c u^n ≥ 0 by u^n ≤ e^(n (u − 1)) and A − c e^(n (u − 1)) ≥ 0."""
        powers = [p for p in goal.expression.atoms(sp.Pow) if p.base.free_symbols and p.exp.free_symbols]
        for power in sorted(powers, key=sp.default_sort_key):
            place = sp.Dummy()
            slope = sp.diff(goal.expression.xreplace({power: place}), place)
            if slope.has(place) or not _is_negative(slope) or not self._is_seen(scope, -slope, "nonnegative"):
                continue
            larger = sp.exp(sp.expand(power.exp * (power.base - 1)))
            bound = self._shown(Frame(scope), larger - power, Goal(larger - power, "Ge"), depth)
            after = goal.expression.xreplace({power: larger})
            if bound and (shown := self._shown(bound[0], after, goal, depth)) is not None:
                return shown[0].around(added(told(_ONE, [shown[1]]), told(-slope, [bound[1]])))
        return None

    def _by_means(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof of Σ c m ≥ C M by m/M ≥ 1 + log(m/M), if Σ c log m = C log M and Σ c = C.

        Σ c = C may need an equation among the facts.
        """
        terms = [sp.Mul.make_args(term) for term in sp.Add.make_args(goal.expression)]
        weights = {s for term in terms for f in term if f.is_Pow and f.base is not sp.E for s in f.exp.free_symbols}
        parts = [_apart(term, weights) for term in terms]
        small = [(-c, m) for c, m in parts if _is_negative(c)]
        large = [(c, m) for c, m in parts if not _is_negative(c)]
        if goal.strict or not weights or len(small) != 1 or len(large) > TRANSFORM.factors:
            return None
        (total, least), logs = small[0], [c * sp.Add(*map(_log_of, m)) for c, m in large]
        log = sp.Add(*map(_log_of, least))
        if sp.simplify(sp.Add(*logs) - total * log) != 0:
            return None
        rest = by_equation(scope, sp.Add(*(c for c, _ in large)) - total)
        unseen = [c for c, _ in large if not self._is_seen(scope, c, "nonnegative")]
        frame = None if rest is None else self._positive(scope, unseen)
        found = [told(factor * sp.Mul(*least) * (1 - log), places) for factor, places in rest or []]
        for c, factors in large:
            split = frame and self._split_logs(frame, least, factors, c * sp.Mul(*least))
            if not split:
                return None
            frame, found = split[0], [*found, *split[1]]
        return frame and frame.around(added(*found))


def _apart(factors: Sequence[sp.Expr], weights: set[sp.Symbol]) -> tuple[sp.Expr, list[sp.Expr]]:
    """Return the product of the factors whose only symbols are weights, and the list of the other factors."""
    plain = [f for f in factors if f.free_symbols <= weights and not f.has(sp.exp)]
    return sp.Mul(*plain), [f for f in factors if f not in plain]


def _is_negative(term: sp.Expr) -> bool:
    """Whether the number before a term is negative."""
    return bool(term.as_coeff_Mul()[0] < 0)


def _log_of(factor: sp.Expr) -> sp.Expr:
    """Return the logarithm of a factor."""
    if isinstance(factor, sp.exp):
        return factor.args[0]
    return factor.exp * sp.log(factor.base) if factor.is_Pow else sp.log(factor)


def _is_curved(factor: sp.Expr) -> bool:
    """Whether a factor is an exponential of a nonlinear expression, or a power with a symbol in its exponent."""
    if isinstance(factor, sp.exp):
        u = factor.args[0]
        return any(sp.diff(u, s, 2) != 0 for s in u.free_symbols)
    return factor.is_Pow and bool(factor.exp.free_symbols) and not factor.exp.is_integer


def _is_simple(logarithms: Sequence[tuple[sp.Expr, sp.Rational]], rest: Sequence[sp.Expr]) -> bool:
    """Whether a logarithm in a sum contains a symbol, and the rest of the sum is linear.

    The rest has to be empty unless a logarithm contains an exponential.
    """
    linear = all(sp.diff(term, s).is_Rational for term in rest for s in term.free_symbols)
    moving = [u for u, _ in logarithms if u.free_symbols]
    return linear and bool(moving) and (not rest or any(u.has(sp.exp, sp.sinh, sp.cosh) for u in moving))
