# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Instances of known facts about exponentials, logarithms, powers, sines and floors, for the functions in a goal."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TypeAlias

import sympy as sp

from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.scope import Scope
from verify.provers.deduction.values import Values

Made: TypeAlias = Callable[..., sp.Expr]
Needs: TypeAlias = Callable[..., list[tuple[sp.Expr, str]]]


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return sp.Pow(base, exponent, evaluate=False)


GROWTH: Mapping[str, tuple[Needs, Made]] = {
    "exp_from": (lambda u, v: [], lambda u, v: sp.exp(u) - sp.exp(v) * (1 + u - v)),
    "log_from": (
        lambda u, v: [(u, "positive"), (v, "positive")],
        lambda u, v: sp.log(v, evaluate=False) + (u - v) / v - sp.log(u, evaluate=False),
    ),
    "rises": (
        lambda u, v, n: [(u - v, "nonnegative"), (v, "nonnegative")],
        lambda u, v, n: _power(u, n) - _power(v, n),
    ),
    "three_terms": (
        lambda u, n: [(u, "nonnegative")],
        lambda u, n: _power(1 + u, n) - (1 + n * u + n * (n - 1) * u**2 / 2),
    ),
    "integer": (lambda n: [], lambda n: n * (n - 1)),
}
"""Known facts of growth, by name: the signs that the fact needs, and the expression that is >= 0."""


class Instances(Values):
    """Instances of known facts."""

    def _instance(self, scope: Scope, name: str, of: list[sp.Expr]) -> Scope | None:
        """Return the scope with an instance of a known fact; None if a sign or value that it needs is not seen."""
        try:
            self.atoms.prepare(*of)
            u = self.atoms.of(of[0])
            if name == "exp":
                self.atoms.prepare(sp.exp(of[0]))
                return scope.with_atoms(self.atoms.of(sp.exp(of[0])) - 1 - u, "Ge")
            if name == "circle":
                squares = [self.atoms.of(head(of[0])) ** 2 for head in (sp.sin, sp.cos)]
                return scope.with_atoms(sum(squares) - 1, "Eq")
            if name in GROWTH:
                return self._growth(scope, name, of)
            if name in ("sin_sum", "cos_sum"):
                return self._of_a_sum(scope, name, *of)
            if "_" in name:
                head, end = name.split("_")
                return self._bounded(scope, head, end, of[0])
            if name in ("monotone", "tangent"):
                return self._of_powers(scope, name, *of)
            if not all(scope.shown(self.atoms.of(each), strict=True) for each in of):
                return None
            logs = [self._log(each) for each in of]
            if name == "log":
                return scope.with_atoms(u - 1 - logs[0], "Ge")
            return scope.with_atoms(self._log(of[0] * of[1]) - sum(logs), "Eq")
        except NoAtomError:
            return None

    def _growth(self, scope: Scope, name: str, of: list[sp.Expr]) -> Scope | None:
        """Return the scope with an instance of a known fact of growth."""
        needs, value = GROWTH[name]
        fact = value(*of)
        whole = self.atoms.whole(of[-1]) if name in ("rises", "three_terms") else {}
        if whole is None or min(whole.values(), default=0) < 0:
            return None
        if not all(self._is_seen(scope, part, need) for part, need in needs(*of)):
            return None
        self.atoms.prepare(fact)
        return scope.with_atoms(self.atoms.of(fact), "Ge")

    def _of_a_sum(self, scope: Scope, name: str, u: sp.Expr, v: sp.Expr) -> Scope | None:
        """Return the scope with the addition formula of the sine or the cosine."""
        (sin_u, cos_u), (sin_v, cos_v) = ([self.atoms.of(f(each)) for f in (sp.sin, sp.cos)] for each in (u, v))
        if name == "sin_sum":
            value = self.atoms.of(sp.sin(u + v)) - sin_u * cos_v - cos_u * sin_v
        else:
            value = self.atoms.of(sp.cos(u + v)) - cos_u * cos_v + sin_u * sin_v
        return scope.with_atoms(value, "Eq")

    def _bounded(self, scope: Scope, head: str, end: str, of: sp.Expr) -> Scope | None:
        """Return the scope with a bound of a sine, a cosine, an arctangent or a floor."""
        value = self.atoms.of(getattr(sp, head)(of))
        if end in ("positive", "nonnegative"):
            seen = all(self._is_seen(scope, each, end) for each in arcs(head, of))
            return scope.with_atoms(value, "Gt" if end == "positive" else "Ge") if seen else None
        if head == "atan":
            turn = 1 if end == "above" else -1
            return scope.with_atoms(self.atoms.of(sp.pi / 2 - turn * sp.atan(of)), "Gt")
        if head != "floor":
            return scope.with_atoms(1 - value if end == "above" else 1 + value, "Ge")
        above = self.atoms.of(of) - value
        return scope.with_atoms(above, "Ge") if end == "above" else scope.with_atoms(1 - above, "Gt")

    def _log(self, of: sp.Expr) -> sp.Expr:
        """Return a logarithm in atoms."""
        above, below = self.atoms.fraction(of)
        logarithm = sp.log(self.atoms.back(above / below), evaluate=False)
        self.atoms.prepare(logarithm)
        return sp.Integer(0) if above == below else self.atoms.of(logarithm)

    def _of_powers(self, scope: Scope, name: str, u: sp.Expr, v: sp.Expr, n: sp.Expr) -> Scope | None:
        """Return the scope with a fact about powers of two bases ≥ 0."""
        if not all(self._is_seen(scope, base, "nonnegative") for base in (u, v)):
            return None
        powers = [self.atoms.of(base**n) for base in (u, v)]
        difference = self.atoms.of(u) - self.atoms.of(v)
        if name == "monotone":
            return scope.with_atoms((powers[0] - powers[1]) * difference, "Ge")
        parts = self.atoms.whole(n - 1)
        if parts is None or min(parts.values()) < 0:
            return None
        slope = self.atoms.of(n) * self.atoms.of(sp.Pow(u, n - 1, evaluate=False))
        return scope.with_atoms(powers[1] - powers[0] + slope * difference, "Ge")

    def _instances(self, scope: Scope, expression: sp.Expr) -> Iterator[tuple[str, list[sp.Expr]]]:
        """Yield instances of known facts about the functions in an expression."""
        powers = [p for p in expression.atoms(sp.Pow) if not p.exp.is_Rational and p.base is not sp.E]
        powers = sorted((p for p in powers if self.atoms.whole(p.exp) is not None), key=sp.default_sort_key)
        for power in powers[: SEARCH.pairs]:
            yield "tangent", [sp.Integer(1), *power.args]
            for other in powers[: SEARCH.pairs]:
                if other.base != power.base:
                    yield "monotone", [other.base, *power.args]
                    yield "tangent", [other.base, *power.args]
        for exponent, bases in self._powers(scope, expression).items():
            above = (base for base in bases if self._is_seen(scope, base - 1, "nonnegative"))
            yield from (("rises", [base, sp.Integer(1), exponent]) for base in above)
        for part in sorted(expression.atoms(sp.sin, sp.cos, sp.atan, sp.floor), key=sp.default_sort_key):
            head = part.func.__name__
            names = [f"{head}_above", f"{head}_below"]
            if isinstance(part, sp.sin | sp.cos):
                names = ["circle", *(f"{head}_{end}" for head in ("sin", "cos") for end in ("above", "below"))]
            yield from ((name, [part.args[0]]) for name in names)
        yield from self._of_exponentials(scope, expression)
        yield from self._of_logarithms(scope, expression)
        exponents, logarithms = (
            sorted({e.args[0] for e in expression.atoms(kind)}, key=sp.default_sort_key)[: SEARCH.pairs]
            for kind in (sp.exp, sp.log)
        )
        for u, v in product(exponents, logarithms):
            yield "exp", [u - sp.log(v)]
            yield "exp", [sp.log(v) - u]
        facts = sp.Tuple(*(fact.expression for fact in scope.facts if fact.expression is not None))
        supposed = sorted({e.args[0] for e in facts.atoms(sp.log)} - {*logarithms}, key=sp.default_sort_key)
        for u, v in product(logarithms, supposed[: SEARCH.pairs]):
            yield from (("log_from", [*pair]) for pair in ((u, v), (v, u)))
        for u, v in product(exponents, supposed[: SEARCH.pairs]):
            yield from (("exp", [turn * u + sp.log(v)]) for turn in (1, -1))
            yield from (("exp", [turn * u - sp.log(v)]) for turn in (1, -1))

    def _powers(self, scope: Scope, *expressions: sp.Expr) -> dict[sp.Expr, list[sp.Expr]]:
        """Return, for each integer exponent in the expressions, the bases of its powers that are seen to be ≥ 0."""
        inside = set().union(*(self.atoms.of(e).free_symbols for e in expressions))
        keys = sorted((self.atoms.keys[s] for s in inside if s in self.atoms.keys), key=str)
        found: dict[sp.Expr, list[sp.Expr]] = {}
        for kind, base, exponent in keys:
            if kind == "power" and scope.shown(base, strict=False):
                found.setdefault(self.atoms.back(exponent), []).append(self.atoms.back(base))
        return found

    def _of_exponentials(self, scope: Scope, expression: sp.Expr) -> Iterator[tuple[str, list[sp.Expr]]]:
        exponents = sorted({e.args[0] for e in expression.atoms(sp.exp)}, key=sp.default_sort_key)
        exponents += [sp.Integer(1)] if expression.has(sp.E) and not exponents else []
        inside = self.atoms.of(expression).free_symbols
        keys = [self.atoms.keys[s] for s in inside if s in self.atoms.keys]
        single = [self.atoms.back(base / order) for kind, base, order in keys if kind == "exp"]
        exponents += [u for u in sorted(single, key=sp.default_sort_key) if u not in exponents and -u not in exponents]
        if expression.has(sp.exp, sp.E):
            # Powers of positive bases are exponentials, too.
            powers = sorted(expression.atoms(sp.Pow), key=sp.default_sort_key)
            powers = [p for p in powers if p.exp.free_symbols and p.base is not sp.E]
            bases = [p for p in powers if self._is_seen(scope, p.base, "positive")]
            exponents += [p.exp * sp.log(p.base) for p in bases]
            yield from (("log", [p.base]) for p in bases)
        for i, u in enumerate(exponents):
            yield "exp", [u]
            yield "exp", [-u]
            for v in exponents[:i] if len(exponents) <= SEARCH.pairs else ():
                yield "exp", [sp.expand(u - v)]
                yield "exp", [sp.expand(v - u)]

    def _of_logarithms(self, scope: Scope, expression: sp.Expr) -> Iterator[tuple[str, list[sp.Expr]]]:
        logarithms = sorted({e.args[0] for e in expression.atoms(sp.log)}, key=sp.default_sort_key)
        for i, u in enumerate(logarithms):
            yield "log", [u]
            inverse = self._cancelled(1 / u)
            yield "product", [u, inverse]
            yield "log", [inverse]
            for v in logarithms[:i] if len(logarithms) <= SEARCH.pairs else ():
                for ratio, base in ((self._cancelled(u / v), v), (self._cancelled(v / u), u)):
                    yield "product", [ratio, base]
                    yield "log", [ratio]
            yield from self._split(scope, u)

    def _split(self, scope: Scope, u: sp.Expr) -> Iterator[tuple[str, list[sp.Expr]]]:
        """Yield the instances of `product` that write the logarithm of a product as a sum, factor by factor."""
        rest = u
        for base, power in sp.factor(self._cancelled(u)).as_powers_dict().items():
            factor = next((e for e in (base, -base) if self._is_seen(scope, e, "positive")), None)
            if factor is None or not power.is_Integer:
                return
            if power < 0:
                yield "product", [factor, 1 / factor]
            for _ in range(abs(power)):
                one = factor ** sp.sign(power)
                rest = self._cancelled(rest / one)
                if rest != 1:
                    yield "product", [one, rest]

    def _cancelled(self, quotient: sp.Expr) -> sp.Expr:
        """Return a quotient with the common factors of its atoms cancelled."""
        self.atoms.prepare(quotient)
        return self.atoms.back(sp.cancel(self.atoms.of(quotient)))


def arcs(head: str, of: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return an argument's distances from both ends of the arc on which `head`, a sine or a cosine, is positive."""
    above = of if head == "sin" else of + sp.pi / 2
    return above, sp.pi - above
