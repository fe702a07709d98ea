# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""Expressions as quotients of polynomials whose atoms are symbols, exponentials, logarithms, roots and powers.

The atoms are those of the re-check of a deduction, so that the same polynomials in them vanish in both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import lcm
from typing import Any, TypeAlias

import sympy as sp

from verify.language.heads.scopes import SERIES, Iterate, outermost

Key: TypeAlias = tuple[str, Any, sp.Expr]
"""The kind of an atom, its argument, and its order or exponent."""
_HYPERBOLIC = (sp.sinh, sp.cosh, sp.tanh)
_PLAIN = (sp.sin, sp.cos, sp.atan, sp.floor, sp.Abs, sp.sign, sp.Max, sp.Min)
_MOST_MORE = 20
"""The largest number of terms, factors or steps that are written out beyond an atom."""
_MOST_POWER = 200
"""Highest power of an atom exp(u/n); the exponential of a larger multiple of u/n is an atom of its own."""


class NoAtomError(Exception):
    """An expression has a part that no atom stands for."""


class _FinerUnitError(NoAtomError):
    """An exponential needs a smaller unit."""


def is_short(k: sp.Expr) -> bool:
    """Whether binomial(n, k) is a polynomial in n that the re-check multiplies out, for all n ≥ 0."""
    return bool(k.is_Integer and 0 <= k <= _MOST_MORE)


@dataclass
class Atoms:
    """The atoms of a search, each a new symbol.

    Parameters
    ----------
    integers
        The least value l of each integer n ≥ 0, by name: u^n is written with the atom u^(n − l).
    symbols
        The atom of each kind, base, and order or exponent.
    keys, meaning
        The inverse map of `symbols`, and each atom in the statement's own symbols.
    counting
        The atoms that are powers of positive integers.
    """

    integers: Mapping[str, int]
    symbols: dict[Key, sp.Dummy] = field(default_factory=dict)
    keys: dict[sp.Symbol, Key] = field(default_factory=dict)
    meaning: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    counting: set[sp.Symbol] = field(default_factory=set)
    _units: dict[sp.Expr, int] = field(default_factory=dict)
    _known: dict[sp.Expr, sp.Expr] = field(default_factory=dict)

    def fraction(self, expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Return numerator and denominator of an expression, in atoms. Raises NoAtomError."""
        return self.folded(self.of(expression))

    def folded(self, value: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Return numerator and denominator of an expression in atoms, with powers of roots below their orders."""
        while True:
            above, below = map(sp.expand, sp.fraction(sp.together(value)))
            parts = [self._folded_once(part) for part in (above, below)]
            if parts == [above, below]:
                return above, below
            value = parts[0] / parts[1]

    def _folded_once(self, polynomial: sp.Expr) -> sp.Expr:
        for atom in polynomial.free_symbols:
            kind, base, order = self.keys.get(atom, ("", None, 0))
            if kind == "root" and sp.degree(polynomial, atom) >= order:
                terms = sp.Poly(polynomial, atom).terms()
                return sp.Add(*(c * base ** (k // order) * atom ** (k % order) for (k,), c in terms))
        return polynomial

    def counts(self, name: str) -> None:
        """Treat a symbol as an integer ≥ 0."""
        self.integers = {**self.integers, name: self.integers.get(name, 0)}

    def prepare(self, *expressions: sp.Expr) -> None:
        """Find the units of all exponentials in some expressions; each finer unit starts the rewriting again."""
        while True:
            try:
                for expression in expressions:
                    self.of(expression)
            except _FinerUnitError:
                self._known.clear()
                continue
            return

    def of(self, expression: sp.Expr) -> sp.Expr:
        """Return an expression in atoms."""
        if expression not in self._known:
            self._known[expression] = self._of(expression)
        return self._known[expression]

    def back(self, expression: sp.Expr) -> sp.Expr:
        """Return an expression in atoms as one in the statement's own symbols."""
        inside = {atom: self.meaning[atom] for atom in expression.free_symbols if atom in self.meaning}
        return expression.xreplace(inside)

    def _of(self, expression: sp.Expr) -> sp.Expr:
        if expression.is_Rational or expression.is_Symbol:
            return expression
        if expression.is_Add or expression.is_Mul:
            return expression.func(*map(self.of, expression.args))
        if expression is sp.E:
            return self._exponential(sp.Integer(1))
        if expression.is_Pow and not isinstance(expression, sp.exp):
            return self._power(*expression.args)
        for kinds, made in self._made.items():
            if isinstance(expression, kinds):
                return made(expression)
        if isinstance(expression, _PLAIN) or expression is sp.pi:
            base = sp.Tuple(*(sp.factor(self.of(argument)) for argument in expression.args))
            return self._atom(expression.func.__name__, base, sp.Integer(1), expression)
        raise NoAtomError(str(expression))

    @property
    def _made(self) -> Mapping[Any, Callable[[sp.Expr], sp.Expr]]:
        return {
            sp.exp: lambda e: self._exponential(self.of(e.args[0])),
            sp.log: lambda e: self._logarithm(self.of(e.args[0]), e),
            _HYPERBOLIC: self._hyperbolic,
            SERIES: self._series,
            Iterate: self._state,
            sp.tan: lambda e: self.of(sp.sin(e.args[0])) / self.of(sp.cos(e.args[0])),
            sp.ceiling: lambda e: -self.of(sp.floor(-e.args[0])),
            sp.factorial: lambda e: self._factorial(e.args[0]),
            sp.binomial: self._binomial,
        }

    def _hyperbolic(self, expression: sp.Expr) -> sp.Expr:
        rises = self.of(sp.exp(expression.args[0]))
        above = {sp.sinh: rises - 1 / rises, sp.cosh: rises + 1 / rises}.get(expression.func, rises**2 - 1)
        return above / (2 if expression.func is not sp.tanh else rises**2 + 1)

    def _binomial(self, expression: sp.Expr) -> sp.Expr:
        n, k = expression.args
        if is_short(k):
            return sp.Mul(*(self.of(n) - i for i in range(k)), sp.Rational(1, sp.factorial(k)))
        return self._factorial(n) / (self._factorial(k) * self._factorial(n - k))

    def apart(self, value: sp.Expr) -> tuple[sp.Expr, int]:
        """Return an integer expression without its constant term, and the constant term.

        Raises NoAtomError if the expression may be no integer, or if it has other terms and its constant is large.
        """
        terms = [term.as_coeff_Mul() for term in sp.Add.make_args(sp.expand(value))]
        if not all(share.is_Integer and (m == 1 or self._counts(m)) for share, m in terms):
            raise NoAtomError(str(value))
        more = sum(int(share) for share, monomial in terms if monomial == 1)
        if abs(more) > _MOST_MORE and len(terms) > 1:
            raise NoAtomError(str(value))
        return sp.expand(value - more), more

    def _factorial(self, value: sp.Expr) -> sp.Expr:
        base, more = self.apart(value)
        if base == 0:
            return sp.factorial(more)
        product = self._atom("factorial", base, sp.Integer(1), sp.factorial(base, evaluate=False))
        for i in range(1, more + 1):
            product *= base + i
        for i in range(-more):
            product /= base - i
        return product

    def _series(self, series: sp.Expr) -> sp.Expr:
        """Return a sum or a product up to L + c: an atom for the part up to L, with c more terms or factors."""
        terms, (symbol, first, last) = outermost(series)
        base, more = self.apart(last)
        join = sp.Add if isinstance(series, sp.Sum) else sp.Mul
        if base == 0:
            if not first.is_Integer or more - int(first) > _MOST_MORE:
                raise NoAtomError(str(series))
            return join(*(self.of(terms.subs(symbol, k)) for k in range(int(first), more + 1)))
        kind = series.func.__name__
        meaning = series.func(terms, (symbol, first, base))
        total = self._atom(kind, sp.Tuple(terms, symbol, self.of(first), base), sp.Integer(1), meaning)
        for i in range(1, more + 1):
            total = join(total, self.of(terms.subs(symbol, base + i)))
        for i in range(-more):
            term = self.of(terms.subs(symbol, base - i))
            total = total - term if join is sp.Add else total / term
        return total

    def _state(self, state: sp.Expr) -> sp.Expr:
        """Return a state after L + c steps: the states after L steps are atoms, and c steps are written out."""
        place, count, bound, start, step = state.args
        base, more = self.apart(count)
        states: list[Any] = list(start)  # pyright: ignore[reportGeneralTypeIssues]
        if base != 0:
            states = [Iterate(sp.Integer(i), base, bound, start, step) for i in range(len(start))]
            if more == 0:
                return self._atom("Iterate", state.xreplace({count: base}), sp.Integer(1), states[int(place)])
        if not 0 <= more <= _MOST_MORE:
            raise NoAtomError(str(state))
        for i in range(more):
            values = dict(zip(bound, [base + i, *states], strict=True))
            states = [part.xreplace(values) for part in step]  # pyright: ignore[reportGeneralTypeIssues]
        return self.of(states[int(place)])

    def _atom(self, kind: str, base: sp.Expr, order: sp.Expr, meaning: sp.Expr) -> sp.Dummy:
        key = kind, sp.factor(base) if kind in ("log", "root", "power") else base, order
        if key not in self.symbols:
            # Each atom has a name of its own: SymPy orders symbols of the same name by their hashes.
            atom = self.symbols[key] = sp.Dummy(f"{kind}{len(self.symbols)}", real=True)
            self.keys[atom], self.meaning[atom] = key, meaning
        return self.symbols[key]

    def _logarithm(self, argument: sp.Expr, meaning: sp.Expr) -> sp.Expr:
        """Return a logarithm in atoms, split into a sum for a product of exponentials or of primes, and for c/u."""
        if argument == 1:
            return sp.Integer(0)
        powers = sp.factor(argument).as_powers_dict()
        powers = {a: k for a, k in powers.items() if self.keys.get(a, ("",))[0] == "exp"}
        if powers:
            rest = sp.cancel(argument / sp.Mul(*map(sp.Pow, powers, powers.values())))
            exponent = sp.Add(*(k * self.keys[a][1] / self.keys[a][2] for a, k in powers.items()))
            return exponent + self._logarithm(rest, sp.log(self.back(rest)))
        parts = _primes(argument)
        if parts and parts != {argument: 1}:
            return sp.Add(*(k * self._logarithm(sp.Integer(u), sp.log(u)) for u, k in parts.items()))
        above, below = map(sp.expand, sp.fraction(sp.together(argument)))
        if above.is_Rational and below.free_symbols:
            content, left = sp.Poly(below, *sorted(below.free_symbols, key=str)).primitive()
            left, share = left.as_expr(), above / content
            return self._logarithm(share, sp.log(share)) - self._logarithm(left, sp.log(self.back(left)))
        return self._atom("log", argument, sp.Integer(1), meaning)

    def _exponential(self, argument: sp.Expr) -> sp.Expr:
        product = sp.Integer(1)
        for term in sp.Add.make_args(self._terms_apart(argument)):
            share, monomial = term.as_coeff_Mul()
            if not share:
                continue
            base, exponent = self._log_in(monomial)
            if share.is_Integer and base is not None:
                product *= self._whole_power(base, share * exponent)
                continue
            if base is not None and exponent == 1:
                root = self._atom("root", base, sp.Integer(share.q), self.back(base) ** sp.Rational(1, share.q))
                product *= root**share.p
                continue
            unit = self._units.setdefault(monomial, 1)
            if unit % share.q:
                self._units[monomial] = lcm(unit, int(share.q))
                raise _FinerUnitError
            power = share * unit
            if abs(power) > _MOST_POWER:
                # Factoring polynomials of such a degree would take hours.
                monomial, unit, power = share * monomial, 1, 1
            atom = self._atom("exp", monomial, sp.Integer(unit), sp.exp(self.back(monomial) / unit))
            product *= atom**power
        return product

    @staticmethod
    def _terms_apart(argument: sp.Expr) -> sp.Expr:
        """Return an exponent as a sum; a quotient by a polynomial in one symbol is split by division with remainder."""
        above, below = sp.fraction(sp.together(argument))
        if len(below.free_symbols) != 1:
            return sp.expand(argument)
        whole, rest = sp.div(above, below, *below.free_symbols)
        return sp.expand(whole) + sp.Add(*(sp.cancel(term / below) for term in sp.Add.make_args(sp.expand(rest))))

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        inner = self.of(base)
        if exponent.is_Integer:
            return inner**exponent
        if exponent.is_Rational:
            order = sp.Integer(exponent.q)
            return self._atom("root", inner, order, base ** (1 / order)) ** exponent.p
        if self.whole(exponent) is not None:
            return self._whole_power(inner, exponent)
        logarithm = self._logarithm(inner, sp.log(base))
        return self._exponential(self.of(exponent) * logarithm)

    def _log_in(self, monomial: sp.Expr) -> tuple[sp.Expr | None, sp.Expr]:
        """Return u and n of a monomial n log u, for a product n of integers ≥ 0; else None and the monomial."""
        for symbol in sorted(monomial.free_symbols, key=str):
            if self.keys.get(symbol, ("",))[0] == "log" and self._counts(monomial / symbol):
                return self.keys[symbol][1], monomial / symbol
        return None, monomial

    def _whole_power(self, inner: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """Return a power whose exponent is a sum of multiples of integers >= 0."""
        parts = self.whole(exponent) or {}
        product = inner ** parts.pop(sp.Integer(1))
        for monomial, times in parts.items() if inner != 1 else ():
            for part, power in self._parts(inner).items():
                product *= self._counted(part, monomial) ** (power * times)
        return product

    def _counted(self, part: sp.Expr, monomial: sp.Expr) -> sp.Expr:
        """Return a factor to the power of an integer minus its least value."""
        least = self._least(monomial)
        kind, exponent, unit = self.keys.get(part, ("", sp.Integer(0), sp.Integer(1)))
        if kind == "exp":
            return self._exponential(exponent * (monomial - least) / unit)
        atom = self._atom("power", part, monomial, sp.Pow(self.back(part), self.back(monomial) - least, evaluate=False))
        if part.is_Integer and part > 0:
            self.counting.add(atom)
        return atom

    def _parts(self, base: sp.Expr) -> dict[sp.Expr, int]:
        """Return the factors of a base and their powers: a number, the atoms, the rest of the numerator, divisors."""
        above, below = self.folded(base)
        if above == 0:
            return {above: 1}
        number, divisors = sp.factor_list(below)  # pyright: ignore[reportAssignmentType]
        symbols = sorted(above.free_symbols, key=lambda s: (s.name, getattr(s, "dummy_index", 0)))
        content, polynomial = sp.Poly(above / number, *symbols or [sp.Dummy()], domain="QQ").primitive()
        low, polynomial = polynomial.terms_gcd()
        parts = {sp.Integer(content.p): 1, sp.Integer(content.q): -1, polynomial.as_expr(): 1}
        parts |= {symbol: power for symbol, power in zip(symbols, low, strict=False) if power}
        for divisor, power in divisors:
            parts[divisor] = parts.get(divisor, 0) - power
        return {part: power for part, power in parts.items() if part != 1 and power}

    def _least(self, monomial: sp.Expr) -> int:
        return 1 if monomial in self.counting else self.integers.get(str(monomial), 0)

    def whole(self, exponent: sp.Expr) -> dict[sp.Expr, int] | None:
        """Return an integer exponent's coefficients of n − l, for each n of least value l, and of 1; else None."""
        parts: dict[sp.Expr, int] = {sp.Integer(1): 0}
        for term in sp.Add.make_args(sp.expand(self.of(exponent))):
            share, monomial = term.as_coeff_Mul()
            if not share.is_Integer or not self._counts(monomial):
                return None
            parts[monomial] = parts.get(monomial, 0) + int(share)
            parts[sp.Integer(1)] += int(share) * self._least(monomial)
        return parts

    def _counts(self, monomial: sp.Expr) -> bool:
        symbols = monomial.free_symbols
        counted = all(symbol.name in self.integers or symbol in self.counting for symbol in symbols)
        return counted and monomial.is_polynomial(*symbols)


def _primes(argument: sp.Expr) -> dict[int, int]:
    """Return the factors of a positive rational and their powers; {} for any other expression.

    The factors are the primes below 100, and the remaining factors of the numerator and the denominator.
    """
    if not argument.is_Rational or argument <= 0:
        return {}
    parts = dict[int, int]()
    for number, sign in ((int(argument.p), 1), (int(argument.q), -1)):
        left = number
        for prime in sp.primerange(100):
            while left % prime == 0:
                left, parts[prime] = left // prime, parts.get(prime, 0) + sign
        if left > 1:
            parts[left] = sign
    return parts
