# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Proofs by a chain of derivatives; before each derivative, division by a positive factor removes functions.

If A log u + B is divided by A > 0, the derivative of the quotient has no logarithm. Division removes an arctangent, the
symbol itself, or a polynomial factor in the same way. A derivative that is negative at a test point is left out; of the
others, the simplest comes first.
"""

from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import sympy as sp

from verify.language.heads.scopes import BINDERS
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.facts import Goal, Tree
from verify.provers.deduction.functions.lemmas import Frame, Lemmas, added, told
from verify.provers.deduction.functions.points import Points, points_of, tiny_at
from verify.provers.deduction.limits import CHAIN
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.segments import functions_in


@dataclass
class _Chain:
    """A chain from a start, on one side of it; `left` is the number of slopes that may still be tried."""

    start: sp.Expr
    side: str
    points: Points
    left: int = CHAIN.slopes


@dataclass(frozen=True)
class _Form:
    """A goal's numerator as factor · value; in the frame, the factor is seen to be positive."""

    value: sp.Expr
    factor: sp.Expr
    frame: Frame


class Chains(Lemmas, ABC):
    """Proofs by chains of slopes."""

    def _by_chain(self, scope: Scope, goal: Goal) -> Tree | None:
        """Return a proof by a chain of slopes in a symbol that occurs in an argument of a function."""
        expression = goal.expression
        if scope.bound or goal.relation == "Eq" or expression.atoms(*BINDERS, sp.floor, sp.factorial, sp.binomial):
            return None
        inside = set[sp.Symbol]().union(*(f.free_symbols for f in functions_in(expression)))
        if inside == expression.free_symbols and len(inside) == 1 and _is_tiny_on_both_sides(expression, *inside):
            # The function has zeros on both sides of 0, like some even functions: each side has its own chain.
            (symbol,) = inside
            if all(side is None for _, side in self._sides(scope, symbol, [sp.Integer(0)])):
                return self._from(scope, symbol, sp.Integer(0), None, lambda inner, _: self._by_chain(inner, goal))
        for symbol in sorted(inside, key=lambda s: s.name):
            for start, side in () if symbol.is_integer else self._chain_starts(scope, goal, symbol):
                tree = self._from(scope, symbol, start, side, partial(self._begun, goal, symbol, start))
                if tree is not None:
                    return tree
        return None

    def _begun(self, goal: Goal, symbol: sp.Symbol, start: sp.Expr, scope: Scope, side: str) -> Tree | None:
        points = points_of(scope, symbol, start, self.parameters, self.random)
        if points is None:
            return None
        first = self._along(scope, side, goal, symbol, start, lambda s, g, _: self.short(s, g))
        return first or self._descended(_Chain(start, side, points), scope, goal, symbol, CHAIN.depth)

    def _chain_starts(self, scope: Scope, goal: Goal, symbol: sp.Symbol) -> Iterator[tuple[sp.Expr, str | None]]:
        """Yield starts of a chain, zeros of the goal and of slopes first, each with the side on which the symbol is."""
        symbols = sorted(goal.expression.free_symbols, key=_name)
        starts = [s for s in symbols if s != symbol and self._vanishes(goal.expression.subs(symbol, s))]
        if len(symbols) == 1:
            starts += [*tiny_at(goal.expression, symbol), *self._stationary(scope, goal, symbol)]
        yield from self._sides(scope, symbol, starts)
        yield from ((start, side) for start, side in self._starts(scope, symbol, symbols) if start not in starts)

    def _stationary(self, scope: Scope, goal: Goal, symbol: sp.Symbol) -> Iterator[sp.Expr]:
        """Yield the zeros of slopes a + b f, for an exponential or a logarithm f and numbers a and b."""
        parts = scope.fraction(goal.expression)
        for value in () if parts is None else self._divided(parts[0], symbol).values():
            yield from self._zeros(sp.diff(value, symbol), symbol)

    def _zeros(self, slope: sp.Expr, symbol: sp.Symbol) -> Iterator[sp.Expr]:
        self.atoms.prepare(slope)
        above, _ = self.atoms.fraction(slope)
        for part in sorted((s for s in above.free_symbols if self._moves(s, symbol)), key=_name):
            (linear, rest), meaning = sp.Poly(above, part).all_coeffs()[-2:], self.atoms.meaning[part]
            value = self.atoms.back(sp.cancel(-rest / linear))
            if not value.is_number or sp.degree(above, part) > 1:
                continue
            if meaning == sp.log(symbol):
                yield sp.exp(value)
            elif isinstance(meaning, sp.exp) and meaning.args[0].is_polynomial(symbol) and value.is_positive:
                yield sp.log(value) * symbol / meaning.args[0]

    def _descended(self, chain: _Chain, scope: Scope, goal: Goal, symbol: sp.Symbol, depth: int) -> Tree | None:
        """Return a proof of a goal at a point of a chain, by the goal's factors or by the next slope."""
        self.work.spend(20)
        try:
            self.atoms.prepare(goal.expression)
            parts = scope.fraction(goal.expression)
        except NoAtomError:
            return None
        if parts is None:
            return None
        if parts[0] == 0:
            return None if goal.strict else added()
        frame, left, root, factor = self._without_factors(chain, Frame(scope), parts[0], symbol)
        if goal.strict and root != 1:
            return None
        factor, root = self.atoms.back(factor / parts[1]), None if root == 1 else self.atoms.back(root)
        if left == 1:
            return frame.around(added(told(factor, root=root))) if factor.as_coeff_Mul()[0] > 0 else None
        found = self._form_of(chain, frame, left, symbol, goal, depth)
        if found is None:
            return None
        form, proof = found
        return self._assembled(replace(form, factor=factor * form.factor), root, goal, proof)

    def _form_of(
        self, chain: _Chain, frame: Frame, left: sp.Expr, symbol: sp.Symbol, goal: Goal, depth: int
    ) -> tuple[_Form, Tree] | None:
        """Return a form of the rest of a goal, and its proof: a short one, or by concavity, or by the next slope."""
        if depth < CHAIN.depth:
            value = self.atoms.back(left)
            if (proof := self.short(frame.scope, Goal(value, goal.relation))) is not None:
                return _Form(value, sp.Integer(1), frame), proof
            if (found := self._by_ends(chain, frame, left, symbol, goal)) is not None:
                return found
        for form in self._forms(chain, frame, left, symbol) if depth else []:
            inner = Goal(form.value, goal.relation)
            onward = partial(self._onward, chain, symbol, depth - 1)
            proof = self._along(form.frame.scope, chain.side, inner, symbol, chain.start, onward)
            if proof is not None:
                return form, proof
        return None

    def _by_ends(
        self, chain: _Chain, frame: Frame, left: sp.Expr, symbol: sp.Symbol, goal: Goal
    ) -> tuple[_Form, Tree] | None:
        """Return a form that is concave between two ends, and a proof of the form."""
        for divisor, quotient in self._divided(left, symbol).items():
            sign = chain.points.sign(divisor, symbol)
            value = sign * quotient
            if not (sign and chain.points.may_hold(value, symbol)):
                continue
            curved = chain.points.may_hold(-sp.diff(value, symbol, 2), symbol)
            inner = self.with_sign(frame, sign * divisor) if curved else None
            proof = inner and self._by_concavity(inner.scope, replace(goal, expression=value), symbol, [], 1)
            if inner and proof:
                return _Form(value, sign * divisor, inner), proof
        return None

    def _assembled(self, form: _Form, root: sp.Expr | None, goal: Goal, proof: Tree) -> Tree | None:
        inner = form.frame.with_lemma(form.value, goal.relation, proof)
        return inner and inner.around(added(told(form.factor, [inner.scope.count - 1], root)))

    def _onward(
        self, chain: _Chain, before: sp.Symbol, depth: int, scope: Scope, goal: Goal, point: sp.Symbol | None
    ) -> Tree | None:
        """Return a proof of a goal at a chain's start; if a point is given, of the goal for the next slope there."""
        if point is None:
            return self.prove(scope, goal, 1)
        frame = Frame(scope)
        bounds = [f.expression for f in scope.facts if f.expression is not None and before in f.expression.free_symbols]
        bounds = [b for b in bounds if b.free_symbols == {before} and b.is_polynomial(before)]
        for bound in dict.fromkeys([before, *bounds]):
            here = bound.subs(before, point)
            if chain.points.sign(here, point) > 0:
                frame = self.with_sign(frame, here) or frame
        defined = self.with_value(frame, goal.expression)
        tree = defined and self._descended(chain, defined.scope, goal, point, depth)
        return defined and tree and defined.around(tree)

    def _without_factors(
        self, chain: _Chain, frame: Frame, above: sp.Expr, symbol: sp.Symbol
    ) -> tuple[Frame, sp.Expr, sp.Expr, sp.Expr]:
        """Return a frame, and rest, root and factor of the polynomial rest · root² · factor.

        If rest ≠ 1, then factor > 0.
        """
        number, factors = sp.factor_list(above)  # pyright: ignore[reportAssignmentType]
        left, root, factor = sp.Integer(1), sp.Integer(1), sp.Integer(1)
        most = max((part.count_ops() for part, power in factors if power % 2), default=0)
        for part, power in factors:
            root *= part ** (power // 2)
            if power % 2 == 0:
                continue
            value = self.atoms.back(part)
            sign = chain.points.sign(value, symbol)
            # The sign of the most complicated factor is proved later.
            inner = self.with_sign(frame, sign * value) if sign and part.count_ops() < max(most, 1) else None
            if inner is None:
                left *= part
            else:
                frame, factor, number = inner, factor * sign * part, number * sign
        if left == 1:
            return frame, left, root, factor * number
        return frame, sp.expand(sp.sign(number) * left), root, factor * abs(number)

    def _forms(self, chain: _Chain, frame: Frame, left: sp.Expr, symbol: sp.Symbol) -> list[_Form]:
        """Return forms of a polynomial in atoms, each divided by a positive factor; the simplest slopes come first."""
        found: list[tuple[tuple[int, ...], _Form]] = []
        for divisor, value in self._divided(left, symbol).items():
            sign = chain.points.sign(divisor, symbol)
            if chain.left > 0 and sign and (measure := self._measure(chain, sign * value, symbol)):
                chain.left -= 1
                if (inner := self.with_sign(frame, sign * divisor)) is not None:
                    found.append((measure, _Form(sign * value, sign * divisor, inner)))
        return [form for _, form in sorted(found, key=lambda pair: pair[0])[: CHAIN.branches]]

    def _divided(self, left: sp.Expr, symbol: sp.Symbol) -> dict[sp.Expr, sp.Expr]:
        """Return divisors of a polynomial in atoms, and the quotients."""
        functions = sorted((s for s in left.free_symbols if self._moves(s, symbol)), key=_name)
        if not functions:
            return {sp.Integer(1): self.atoms.back(left)}
        wholes = {sp.Integer(1): sp.Integer(0)}
        for part in [symbol, *functions]:
            polynomial = sp.Poly(left, part)
            if polynomial.degree() == 1:
                number, divisor = polynomial.coeff_monomial(part).primitive()
                wholes.setdefault(divisor, number * part)
        for c, monomial in _terms(left, functions):
            c = c.primitive()[1] if c.has(symbol) else sp.Integer(1)  # noqa: PLW2901
            for divisor in (monomial, c * monomial) if not self.atoms.back(monomial).has(sp.log) else ():
                wholes.setdefault(divisor, sp.Integer(0))
        divided: dict[sp.Expr, sp.Expr] = {}
        for divisor, whole in wholes.items():
            rest = [sp.cancel(c * m / divisor) for c, m in _terms(sp.expand(left - divisor * whole), functions)]
            divided[self.atoms.back(divisor)] = sp.Add(*map(self.atoms.back, [whole, *rest]))
        return divided

    def _moves(self, part: sp.Symbol, symbol: sp.Symbol) -> bool:
        """Whether an atom is a function of a symbol."""
        return part != symbol and symbol in self.atoms.back(part).free_symbols

    def _measure(self, chain: _Chain, value: sp.Expr, symbol: sp.Symbol) -> tuple[int, ...] | None:
        """Return the complexity of a goal's slope; None if it is long, or if the goal or its slope fails at a point."""
        slope = (1 if chain.side == "above" else -1) * sp.diff(value, symbol)
        good = chain.points.may_hold(value, symbol, at_start=True) and chain.points.may_hold(slope, symbol)
        if not good or slope.count_ops() > CHAIN.operations:
            return None
        try:
            self.atoms.prepare(slope)
            above, _ = self.atoms.fraction(slope)
        except NoAtomError:
            return None
        functions = [s for s in above.free_symbols if self._moves(s, symbol)]
        terms = sp.Poly(above, symbol, *functions).monoms()
        least = [min(powers) for powers in zip(*terms, strict=True)]
        terms = [[k - low for k, low in zip(powers, least, strict=True)] for powers in terms]
        used = sum(any(powers[i] for powers in terms) for i in range(1, len(functions) + 1))
        return used, max(powers[0] for powers in terms), max(sum(powers[1:]) for powers in terms), len(terms)


def _is_tiny_on_both_sides(expression: sp.Expr, symbol: sp.Symbol) -> bool:
    return len({number > 0 for number in tiny_at(expression, symbol)}) > 1


def _name(symbol: sp.Symbol) -> tuple[str, int]:
    return symbol.name, getattr(symbol, "dummy_index", 0)


def _terms(polynomial: sp.Expr, functions: Sequence[sp.Symbol]) -> list[tuple[sp.Expr, sp.Expr]]:
    """Return the terms of a polynomial in some symbols: their coefficients and monomials."""
    terms = sp.Poly(polynomial, *functions).terms()
    return [(c, sp.Mul(*map(sp.Pow, functions, powers))) for powers, c in terms]
