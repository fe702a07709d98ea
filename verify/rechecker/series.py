"""Truncated Laurent series with coefficients in a field, for limits."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Generic, Protocol, TypeAlias, TypeVar

from .nodes import Node, order
from .reading import Effort, Rejected, Unknown

V = TypeVar("V")
_LARGEST_POWER = 100
_HYPERBOLIC = ("sinh", "cosh", "tanh")
_COMPOSED = ("exp", "log", "sin", "cos", "tan", *_HYPERBOLIC)


class TooFewTerms(ArithmeticError):  # noqa: N818
    """All known coefficients cancelled."""


class _Computes(Protocol[V]):
    """The operations of a field that series need."""

    effort: Effort

    def number(self, value: Fraction) -> V: ...
    def plus(self, left: V, right: V) -> V: ...
    def times(self, left: V, right: V) -> V: ...
    def inverse(self, value: V) -> V: ...
    def real_power(self, base: V, power: V | Fraction) -> V: ...
    def exp(self, value: V) -> V: ...
    def log(self, value: V) -> V: ...
    def function(self, head: str, args: Sequence[V]) -> V: ...
    def is_zero(self, value: V) -> bool: ...


Laurent: TypeAlias = tuple[int, list[V]]
"""v, and the n coefficients of x^v, x^(v + 1), …: the function is the sum of these terms + O(x^(v + n))."""


class Series(Generic[V]):
    """Series of `count` terms in a symbol around 0, which is positive with `above`; `known` has values of nodes."""

    def __init__(self, field: _Computes[V], symbol: Node, count: int, known: Mapping[Node, V], *, above: bool) -> None:
        self.field, self.symbol, self.count, self.known, self.above = field, symbol, count, known, above
        self.zero = field.number(Fraction(0))

    def expand(self, root: Node) -> Laurent[V]:
        """Return the series of an expression."""
        parts: dict[Node, Laurent[V]] = {}
        for node in order(self.field.effort, [root], lambda n: n in self.known):
            if node in self.known:
                parts[node] = self._of(self.known[node])
            elif node is self.symbol:
                parts[node] = (1, self._of(self.field.number(Fraction(1)))[1])
            elif node.head == "Add":
                parts[node] = self.sum([parts[a] for a in node.args])
            elif node.head == "Mul":
                parts[node] = parts[node.args[0]]
                for argument in node.args[1:]:
                    parts[node] = self.product(parts[node], parts[argument])
            elif node.head == "Pow":
                parts[node] = self._power(node.args[1], *(parts[a] for a in node.args))
            elif node.head in _COMPOSED:
                parts[node] = self.composed(node.head, parts[node.args[0]])
            else:
                raise Unknown(f"a limit of an expression without a series here ({node.head})")
        return parts[root]

    def _power(self, exponent: Node, base: Laurent[V], power: Laurent[V]) -> Laurent[V]:
        if exponent.head != "number":
            return self.composed("exp", self.product(power, self.composed("log", base)))
        number = exponent.number
        return self.power(base, int(number)) if number.denominator == 1 else self.root(base, number)

    def stripped(self, valuation: int, coefficients: list[V]) -> Laurent[V]:
        """Return a series without leading coefficients that are known to be 0."""
        skip = next((i for i, c in enumerate(coefficients) if not self.field.is_zero(c)), len(coefficients))
        return valuation + skip, coefficients[skip:]

    def sum(self, parts: list[Laurent[V]]) -> Laurent[V]:
        """Return the sum of some series."""
        low = min(valuation for valuation, _ in parts)
        known = min(valuation + len(series) for valuation, series in parts) - low
        total = [self.zero] * known
        for valuation, series in parts:
            for i, coefficient in enumerate(series[: max(0, known - (valuation - low))]):
                total[valuation - low + i] = self.field.plus(total[valuation - low + i], coefficient)
        return self.stripped(low, total)

    def convolved(self, left: list[V], right: list[V], k: int, start: int = 0) -> V:
        """Return Σ left_i right_(k − i), from i = start on."""
        total = self.zero
        for i in range(start, k + 1):
            if not (self.field.is_zero(left[i]) or self.field.is_zero(right[k - i])):
                total = self.field.plus(total, self.field.times(left[i], right[k - i]))
        return total

    def product(self, left: Laurent[V], right: Laurent[V]) -> Laurent[V]:
        """Return the product of two series."""
        known = min(len(left[1]), len(right[1]))
        self.field.effort.spend(known * known)
        return self.stripped(left[0] + right[0], [self.convolved(left[1], right[1], k) for k in range(known)])

    def power(self, base: Laurent[V], power: int) -> Laurent[V]:
        """Return a series to a power, an integer other than 0."""
        if abs(power) > _LARGEST_POWER:
            raise Rejected(f"a power of more than {_LARGEST_POWER} in a limit")
        factor = base if power > 0 else self.inverse(base)
        result = factor
        for _ in range(abs(power) - 1):
            result = self.product(result, factor)
        return result

    def inverse(self, series: Laurent[V]) -> Laurent[V]:
        """Return 1 over a series. Raises TooFewTerms if no coefficient is known."""
        valuation, coefficients = series
        if not coefficients:
            raise TooFewTerms
        first = self.field.inverse(coefficients[0])
        minus, result = self.field.times(self.field.number(Fraction(-1)), first), [first]
        for k in range(1, len(coefficients)):
            result.append(self.field.times(self.convolved(coefficients, result, k, 1), minus))
        return -valuation, result

    def composed(self, head: str, series: Laurent[V]) -> Laurent[V]:
        """Return a function of a series c + r without negative powers, by the function's Taylor series at c.

        For log, the series is first divided by c > 0, and the Taylor series is at 1. If r = O(x^k) with k ≥ 1, the
        terms from r^n on are O(x^n).
        """
        if head == "tan":
            return self.product(self.composed("sin", series), self.inverse(self.composed("cos", series)))
        if head in _HYPERBOLIC:
            return self._hyperbolic(head, self.composed("exp", series))
        valuation, coefficients = series
        if valuation < 0 or (head == "log" and valuation):
            raise Unknown(f"a limit of {head} where it has no Taylor series")
        if not coefficients and not valuation:
            raise TooFewTerms
        first = coefficients[0] if not valuation else self.zero
        rest = self.stripped(1, coefficients[1:]) if not valuation else series
        if head == "exp":
            return self.product(self._of(self.field.exp(first)), self._taylor(rest, (1,), factorial=True))
        if head == "log":
            share = self.product(rest, self._of(self.field.inverse(first)))
            return self.sum([self._of(self.field.log(first)), self._taylor(share, (-1, 1), factorial=False)])
        sine, cosine = (self._of(self.field.function(each, [first])) for each in ("sin", "cos"))
        even, odd = (self._taylor(rest, signs, factorial=True) for signs in ((1, 0, -1, 0), (0, 1, 0, -1)))
        if head == "sin":
            return self.sum([self.product(sine, even), self.product(cosine, odd)])
        return self.sum(
            [
                self.product(cosine, even),
                self.product(self._of(self.field.number(Fraction(-1))), self.product(sine, odd)),
            ]
        )

    def _hyperbolic(self, head: str, rises: Laurent[V]) -> Laurent[V]:
        """Return a hyperbolic function from `rises`, the exponential of its argument."""
        falls, half = self.inverse(rises), self._of(self.field.number(Fraction(1, 2)))
        cosh = self.product(half, self.sum([rises, falls]))
        sinh = self.sum([rises, self.product(self._of(self.field.number(Fraction(-1))), cosh)])
        return sinh if head == "sinh" else cosh if head == "cosh" else self.product(sinh, self.inverse(cosh))

    def _of(self, value: V) -> Laurent[V]:
        return self.stripped(0, [value] + [self.zero] * (self.count - 1))

    def _taylor(self, series: Laurent[V], signs: Sequence[int], *, factorial: bool) -> Laurent[V]:
        """Return the first terms of Σ s_k r^k/k! or, from k = 1 on, of Σ s_k r^k/k, for periodic signs s_k."""
        total = self._of(self.zero)
        for k in reversed(range(self.count)):
            below = math.factorial(k) if factorial else k
            share = Fraction(signs[k % len(signs)], below) if below else Fraction(0)
            total = self.sum([self._of(self.field.number(share)), self.product(series, total)])
        return total

    def root(self, base: Laurent[V], exponent: Fraction) -> Laurent[V]:
        """Return c^e x^(v e) (1 + r)^e for a series c x^v (1 + r) with c > 0, integer v e, and v = 0 or x > 0."""
        valuation, coefficients = base
        if not coefficients:
            raise TooFewTerms
        shift = valuation * exponent
        if shift.denominator > 1 or (valuation and not self.above):
            raise Unknown("a limit of a root where it has no series")
        first = coefficients[0]
        ratio = self.product((0, coefficients), self._of(self.field.inverse(first)))
        scaled = self.product(self._of(self.field.number(exponent)), self.composed("log", ratio))
        power = self.product(self._of(self.field.real_power(first, exponent)), self.composed("exp", scaled))
        return power[0] + int(shift), power[1]
