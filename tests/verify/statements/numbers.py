"""Numbers of the evaluator, which are Fractions or mpmath intervals that contain a number; series of such numbers."""

from fractions import Fraction
from math import isqrt
from typing import Any

from mpmath import iv

PRECISIONS = (80, 240, 720)
_LARGEST_EXPONENT, LARGEST_POWER = 2000, 400


class NoValueError(ArithmeticError):
    """The expression has no value here."""


class UnsureError(ArithmeticError):
    """The intervals do not decide, or this evaluator does not support the expression; such a statement is not used."""


def lifted(x: Any) -> Any:
    """Return a number as an interval."""
    return iv.mpf(x.numerator) / iv.mpf(x.denominator) if isinstance(x, Fraction) else x


_ZERO, _ONE = Fraction(0), Fraction(1)


def plus(x: Any, y: Any) -> Any:
    """Return the sum of two numbers."""
    return x + y if type(x) is type(y) else lifted(x) + lifted(y)


def times(x: Any, y: Any) -> Any:
    """Return the product of two numbers."""
    if type(x) is type(y):
        return x * y
    if (isinstance(x, Fraction) and not x) or (isinstance(y, Fraction) and not y):
        return _ZERO
    return lifted(x) * lifted(y)


def sign(x: Any) -> int:
    """Return the sign of a number. Raise UnsureError if its interval does not decide it."""
    if isinstance(x, Fraction):
        return (x.numerator > 0) - (x.numerator < 0)
    if (x > 0) is True:
        return 1
    if (x < 0) is True:
        return -1
    raise UnsureError("an interval around 0")


def inverse(x: Any) -> Any:
    """Return 1/x."""
    if sign(x) == 0:
        raise NoValueError("division by 0")
    return 1 / x


def exponential(x: Any) -> Any:
    """Return exp(x)."""
    if x == 0 and isinstance(x, Fraction):
        return Fraction(1)
    if (abs(lifted(x)) < _LARGEST_EXPONENT) is not True:
        raise UnsureError("a large exponent")
    return iv.exp(lifted(x))


def logarithm(x: Any) -> Any:
    """Return log(x)."""
    if sign(x) <= 0:
        raise NoValueError("the logarithm of what is not positive")
    return Fraction(0) if isinstance(x, Fraction) and x == 1 else iv.log(lifted(x))


def whole_power(x: Any, n: int) -> Any:
    """Return x**n for an integer n."""
    if abs(n) > LARGEST_POWER:
        raise UnsureError("a large power")
    if isinstance(x, Fraction) and (x or n >= 0):
        return x**n
    result, base = _ONE, inverse(x) if n < 0 else x
    for _ in range(abs(n)):
        result = times(result, base)
    return result


def power(x: Any, e: Any) -> Any:
    """Return x**e."""
    if isinstance(e, Fraction) and e.denominator == 1:
        return whole_power(x, int(e))
    if not isinstance(e, Fraction) and sign(x) < 0:
        raise UnsureError("a negative number to a power that may be whole")
    if sign(x) < 0:
        raise NoValueError("a power of a negative number")
    if sign(x) == 0:
        if sign(e) < 0:
            raise NoValueError("a negative power of 0")
        return Fraction(0)
    if isinstance(x, Fraction) and isinstance(e, Fraction):
        if x == 1:
            return x
        roots = tuple(_root(part, e.denominator) for part in (x.numerator, x.denominator))
        if None not in roots:
            return whole_power(Fraction(*roots), e.numerator)
    return exponential(times(e, logarithm(x)))


def _root(n: int, k: int) -> int | None:
    """Return the k-th root of a natural number if the root is natural, else None."""
    guess = isqrt(n) if k == 2 else round(n ** (1 / k)) if n < 10**15 else 0
    return guess if guess**k == n else None


def summed(terms: Any) -> Any:
    """Return the sum of some numbers."""
    total = Fraction(0)
    for term in terms:
        total = plus(total, term)
    return total


def product_of(factors: list[Any]) -> Any:
    """Return the product of some numbers."""
    product = Fraction(1)
    for factor in factors:
        product = times(product, factor)
    return product


def convolved(x: list[Any], y: list[Any]) -> list[Any]:
    """Return the product of two truncated series."""
    return [summed(times(x[i], y[n - i]) for i in range(n + 1)) for n in range(len(x))]


def is_constant(x: list[Any]) -> bool:
    """Whether all terms of a series but the first are 0."""
    return all(isinstance(c, Fraction) and c == 0 for c in x[1:])


def reciprocal(x: list[Any]) -> list[Any]:
    """Return 1 over a series."""
    first = inverse(x[0])
    result = [first]
    for n in range(1, len(x)):
        result.append(times(times(Fraction(-1), first), summed(times(x[i], result[n - i]) for i in range(1, n + 1))))
    return result


def exp_series(x: list[Any]) -> list[Any]:
    """Return the exponential of a series."""
    result = [exponential(x[0])]
    for n in range(1, len(x)):
        result.append(
            times(Fraction(1, n), summed(times(times(Fraction(k), x[k]), result[n - k]) for k in range(1, n + 1)))
        )
    return result


def log_series(x: list[Any]) -> list[Any]:
    """Return the logarithm of a series."""
    result, over = [logarithm(x[0])], inverse(x[0])
    for n in range(1, len(x)):
        rest = summed(times(times(Fraction(-k, n), result[k]), x[n - k]) for k in range(1, n))
        result.append(times(over, plus(x[n], rest)))
    return result


def powered(base: list[Any], exponent: list[Any]) -> list[Any]:
    """Return a series to the power of another series."""
    e = exponent[0]
    if not is_constant(exponent):
        if sign(base[0]) <= 0:
            raise UnsureError("a changing power of what is not positive")
        return exp_series(convolved(exponent, log_series(base)))
    if is_constant(base):
        return [power(base[0], e), *base[1:]]
    if isinstance(e, Fraction) and e.denominator == 1:
        if abs(e) > LARGEST_POWER:
            raise UnsureError("a large power")
        factor = reciprocal(base) if e < 0 else base
        result = [Fraction(1), *[Fraction(0)] * (len(base) - 1)]
        for _ in range(abs(int(e))):
            result = convolved(result, factor)
        return result
    first = power(base[0], e)
    if sign(base[0]) == 0:
        raise UnsureError("the derivative of a power at 0")
    result, over = [first], inverse(base[0])
    for n in range(1, len(base)):
        terms = (
            times(times(plus(times(e, Fraction(k)), Fraction(k - n)), base[k]), result[n - k]) for k in range(1, n + 1)
        )
        result.append(times(times(over, Fraction(1, n)), summed(terms)))
    return result
