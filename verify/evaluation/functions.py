"""The functions of the language other than +, *, powers, exp and log, in exact, ball and float64 arithmetic."""

import math
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Generic, NoReturn

import flint

from verify.errors import NotExactError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import Arithmetic, Raw

MOST_TERMS = 100_000
"""Maximum number of terms of a sum or a product, and of steps of a recursion, that are computed in balls."""
_EXACT_TERMS = 10_000
_EXACT_BITS = 2**16
"""Maximum number of terms, and maximum number of bits of an intermediate number, in exact arithmetic."""
_EXACT_FACTORIAL = 5000
_HOLDS: dict[str, Callable[[int], bool]] = {
    "Eq": lambda sign: sign == 0,
    "Lt": lambda sign: sign > 0,
    "Le": lambda sign: sign >= 0,
    "Gt": lambda sign: sign < 0,
    "Ge": lambda sign: sign <= 0,
}
"""The test of each relation on the sign of its right side minus its left side."""


class Functions(Generic[Raw]):
    """The functions that exact, ball and float64 arithmetic share: Piecewise, sums, products and recursions."""

    most = MOST_TERMS

    def __init__(self, arithmetic: Arithmetic[Raw]) -> None:
        self.arithmetic = arithmetic

    def whole(self, raw: Raw) -> int:
        """Return a number as an int. Raises UndefinedError if it is no integer, UndecidedError if this is undecided."""
        raise UndecidedError(f"integers are not recognised in {self.arithmetic.name} arithmetic")

    def sign_of(self, raw: Raw) -> int | None:
        """Return the sign of a number; None if the arithmetic does not decide it."""
        return self.arithmetic.sign(raw)

    def hull(self, one: Raw, other: Raw) -> Raw:
        """Return an enclosure of two numbers. Raises UndecidedError if the arithmetic has none."""
        raise UndecidedError("it is undecided which piece applies")

    def kept(self, raw: Raw) -> Raw:
        """Return an intermediate result. Raises NotExactError if it is too long."""
        return raw

    def _counted(self, count: int, what: str) -> int:
        if count > self.most:
            self._too_many(f"{count} {what}, and at most {self.most} are computed")
        return count

    def _too_many(self, why: str) -> NoReturn:
        raise UndecidedError(why)

    def piecewise(self, *pieces: Any) -> Raw:
        """Return the value of the first piece ((relation, sides), value) whose relation holds, else the last value.

        If relations are undecided, return the hull of all values that may apply.
        """
        *cases, last = pieces
        met: list[Raw] = []
        for (relation, sides), value in cases:
            left, right = sides()
            sign = self.sign_of(right - left)
            if sign is None or _HOLDS[relation](sign):
                met.append(value())
                if sign is not None:
                    break
        else:
            met.append(last())
        return reduce(self.hull, met)

    def sum(self, function: Callable[[Raw], Raw], low: Raw, high: Raw) -> Raw:
        """Return the sum of a function over the integers from `low` to `high`."""
        return self._folded(operator.add, 0, function, low, high)

    def product(self, function: Callable[[Raw], Raw], low: Raw, high: Raw) -> Raw:
        """Return the product of a function over the integers from `low` to `high`."""
        return self._folded(operator.mul, 1, function, low, high)

    def _folded(self, combine: Any, empty: int, function: Callable[[Raw], Raw], low: Raw, high: Raw) -> Raw:
        first, last = self.whole(low), self.whole(high)
        self._counted(last - first + 1, "terms")
        total = self.arithmetic.rational(empty, 1)
        for k in range(first, last + 1):
            total = self.kept(combine(total, function(self.arithmetic.rational(k, 1))))
        return total

    def iterate(self, place: int, count: Raw, start: Sequence[Raw], step: Callable[..., Sequence[Raw]]) -> Raw:
        """Return state number `place` after `count` steps; `step` takes k = 0, 1, … and the states before step k."""
        steps = self.whole(count)
        if steps < 0:
            raise UndefinedError(f"there are no {steps} steps")
        states = tuple(start)
        for k in range(self._counted(steps, "steps")):
            states = tuple(map(self.kept, step(self.arithmetic.rational(k, 1), *states)))
        return states[place]


class _Exact(Functions[flint.fmpq]):
    most = _EXACT_TERMS
    _last: tuple[tuple[int, int], flint.fmpq] = (0, 0), flint.fmpq(1)
    """The binomial (n, k) that was computed last: n and k, and its value."""

    def whole(self, raw: flint.fmpq) -> int:
        if raw.q != 1:
            raise UndefinedError(f"{raw} is no integer")
        return int(raw.p)

    def kept(self, raw: flint.fmpq) -> flint.fmpq:
        if max(raw.p.bit_length(), raw.q.bit_length()) > _EXACT_BITS:
            raise NotExactError("an intermediate number is too long")
        return raw

    def _too_many(self, why: str) -> NoReturn:
        raise NotExactError(why)

    def factorial(self, raw: flint.fmpq) -> flint.fmpq:
        if (n := _natural(self.whole(raw))) > _EXACT_FACTORIAL:
            raise NotExactError(f"the factorial of {n} is too long")
        return flint.fmpq(math.factorial(n))

    def binomial(self, above: flint.fmpq, below: flint.fmpq) -> flint.fmpq:
        n, k = _natural(self.whole(above)), self.whole(below)
        if 0 <= k <= n and min(k, n - k) * n.bit_length() > _EXACT_BITS:
            raise NotExactError("a binomial is too long")
        if not 0 <= k <= n:
            return flint.fmpq(0)
        (of, before), value = self._last
        if (n, k - 1) == (of, before):
            # This is the next term of a sum.
            value = value * (n - before) / k
        else:
            # FLINT's function is faster, and takes numbers below 2^64.
            value = flint.fmpq((flint.fmpz.bin_uiui if n.bit_length() <= 64 else math.comb)(n, k))
        self._last = (n, k), value
        return value


def _natural(n: int) -> int:
    if n < 0:
        raise UndefinedError(f"the factorial of {n}, and a binomial of it, have no value")
    return n


def _at_zero(head: str) -> Callable[[flint.fmpq], flint.fmpq]:
    """Return a function whose value at a rational number is rational only at 0."""

    def function(raw: flint.fmpq) -> flint.fmpq:
        if raw == 0:
            return flint.fmpq(_AT_ZERO[head])
        raise NotExactError(f"{head} of a rational other than 0 is not rational")

    return function


def _no_pi() -> NoReturn:
    raise NotExactError("pi is not rational")


class _Ball(Functions[flint.arb]):
    def whole(self, raw: flint.arb) -> int:
        if not raw.is_exact():
            raise UndecidedError("whether a number is an integer is not decided")
        if not raw.is_integer():
            raise UndefinedError(f"{raw} is no integer")
        return int(raw.unique_fmpz())

    def sign_of(self, raw: flint.arb) -> int | None:
        if not raw.is_finite():
            raise UndecidedError("a comparison has no finite value at these bits")
        return (raw > 0) - (raw < 0) if raw > 0 or raw < 0 or raw == 0 else None

    def hull(self, one: flint.arb, other: flint.arb) -> flint.arb:
        return one.union(other)

    def factorial(self, raw: flint.arb) -> flint.arb:
        return flint.arb(_natural(self.whole(raw)) + 1).gamma()

    def binomial(self, above: flint.arb, below: flint.arb) -> flint.arb:
        n, k = _natural(self.whole(above)), self.whole(below)
        if not 0 <= k <= n:
            return flint.arb(0)
        return flint.arb(n + 1).gamma() / (flint.arb(k + 1).gamma() * flint.arb(n - k + 1).gamma())


class _Float(Functions[float]):
    most = 10_000

    def whole(self, raw: float) -> int:
        if isinstance(raw, float) and raw.is_integer():
            return int(raw)
        raise UndefinedError(f"{raw} is no integer")

    def sign_of(self, raw: float) -> int:
        return self.arithmetic.sign(_real(raw))

    def factorial(self, raw: float) -> float:
        return math.gamma(_natural(self.whole(raw)) + 1)

    def binomial(self, above: float, below: float) -> float:
        n, k = _natural(self.whole(above)), self.whole(below)
        if not 0 <= k <= n:
            return 0.0
        return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1))


def _real(raw: float) -> float:
    """Return a float or an array. Raises UndefinedError for a complex number (a root of a negative number)."""
    if isinstance(raw, complex):
        raise UndefinedError("a part has no real value")
    return raw


def _in_floats(head: str, of_floats: Callable[..., float]) -> Callable[..., float]:
    """Return a function that calls `of_floats` for floats, and NumPy's function for arrays."""

    def function(*raw: float) -> float:
        if all(isinstance(_real(each), float) for each in raw):
            return float(of_floats(*raw))
        import numpy as np

        return getattr(np, _OF_ARRAYS.get(head, head))(*raw)

    return function


_OF_ARRAYS = {"Max": "maximum", "Min": "minimum", "ceiling": "ceil", "atan": "arctan"}
_SMOOTH = ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")
_AT_ZERO = dict.fromkeys(_SMOOTH, 0) | {"cos": 1, "cosh": 1}
_OF_FLOATS: dict[str, Callable[..., float]] = {
    **{head: getattr(math, head) for head in _SMOOTH},
    "Max": max,
    "Min": min,
    "floor": math.floor,
    "ceiling": math.ceil,
    "sign": lambda raw: (raw > 0) - (raw < 0),
}
_ELEMENTARY: dict[str, dict[str, Callable[..., Any]]] = {
    "exact": {
        **{head: _at_zero(head) for head in _SMOOTH},
        "Max": max,
        "Min": min,
        "pi": _no_pi,
        "floor": lambda raw: flint.fmpq(raw.floor()),
        "ceiling": lambda raw: flint.fmpq(raw.ceil()),
        "sign": lambda raw: flint.fmpq((raw > 0) - (raw < 0)),
    },
    "ball": {
        **{head: getattr(flint.arb, head) for head in (*_SMOOTH, "floor", "pi")},
        "ceiling": flint.arb.ceil,
        "sign": flint.arb.sgn,
        "Max": lambda *raw: reduce(flint.arb.max, raw),
        "Min": lambda *raw: reduce(flint.arb.min, raw),
    },
    "float64": {head: _in_floats(head, function) for head, function in _OF_FLOATS.items()} | {"pi": lambda: math.pi},
}
_SHARED: dict[str, type[Functions[Any]]] = {"exact": _Exact, "ball": _Ball, "float64": _Float}


def function_of(head: str, arithmetic: Arithmetic[Any]) -> Callable[..., Any]:
    """Return an arithmetic's own function for a head, or the shared one, or one that raises UndecidedError."""
    if (own := getattr(arithmetic, "head", None)) is not None:
        return own(head)
    if (elementary := _ELEMENTARY.get(arithmetic.name, {}).get(head)) is not None:
        return elementary

    def absent(*_: object) -> NoReturn:
        raise UndecidedError(f"{head} is not computed in {arithmetic.name} arithmetic")

    shared = _SHARED.get(arithmetic.name)
    return absent if shared is None else getattr(shared(arithmetic), head.lower(), absent)


FUNCTIONS = (*_OF_FLOATS, "factorial", "binomial")
"""Heads of the functions whose arguments are computed before the call."""
