"""Values of the language's functions, sums, products, recursions and pieces at Fractions and mpmath intervals."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, comb, factorial, floor
from typing import Any

from mpmath import iv
from mpmath.libmp import mpf_atan, to_rational

from tests.verify.statements.numbers import (
    NoValueError,
    UnsureError,
    exponential,
    inverse,
    lifted,
    plus,
    product_of,
    sign,
    summed,
    times,
)

MOST_TERMS, _LARGEST = 200, 200
_HALF, _MINUS = Fraction(1, 2), Fraction(-1)


def minus(x: Any, y: Any) -> Any:
    """Return the difference of two numbers."""
    return plus(x, times(_MINUS, y))


def applied(name: str, args: list[Any]) -> Any:
    """Return the value of a function of the language. Raise NoValueError if there is none."""
    if name in ("Max", "Min"):
        return _extreme(args, max if name == "Max" else min)
    if name in ("factorial", "binomial"):
        return _counted(*args)
    return _OF_ONE[name](args[0])


def _extreme(args: list[Any], of: Callable[..., Any]) -> Any:
    if all(isinstance(x, Fraction) for x in args):
        return of(args)
    ends = [_ends(lifted(x)) for x in args]
    return _between(*(of(side) for side in zip(*ends, strict=True)))


def _ends(x: Any) -> tuple[Fraction, Fraction]:
    """Return the ends of an interval."""
    low, high = (Fraction(*map(int, to_rational(end))) for end in x._mpi_)
    return low, high


def _between(low: Fraction, high: Fraction) -> Any:
    """Return an interval that contains the numbers between two."""
    return iv.make_mpf((lifted(low)._mpi_[0], lifted(high)._mpi_[1]))


def whole(x: Any, *, least: int | None = None) -> int:
    """Return an integer as an `int`. Raise NoValueError for a number that is no integer, or is below `least`."""
    if not isinstance(x, Fraction):
        raise UnsureError("an interval where an integer is needed")
    if x.denominator > 1 or (least is not None and x < least):
        raise NoValueError("no integer, where one is needed")
    if abs(x) > _LARGEST:
        raise UnsureError("a large integer")
    return int(x)


def _counted(n: Any, *chosen: Any) -> Fraction:
    """Return a factorial, or a binomial."""
    n = whole(n, least=0)
    if not chosen:
        return Fraction(factorial(n))
    k = whole(chosen[0])
    return Fraction(comb(n, k) if k >= 0 else 0)


def _rounded(to: Callable[[Fraction], int]) -> Callable[[Any], Fraction]:
    def rounded(x: Any) -> Fraction:
        if isinstance(x, Fraction):
            return Fraction(to(x))
        low, high = map(to, _ends(x))
        if low != high:
            raise UnsureError("an interval around an integer")
        return Fraction(low)

    return rounded


def _sign(x: Any) -> Fraction:
    return Fraction(sign(x))


def _smooth(at_zero: int, of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of intervals, made exact at 0."""
    return lambda x: Fraction(at_zero) if isinstance(x, Fraction) and not x else of(lifted(x))


def _atan(x: Any) -> Any:
    """Return the arctangents of an interval's ends, each rounded outwards; the function rises."""
    return iv.make_mpf(tuple(mpf_atan(end, iv.prec, to) for end, to in zip(x._mpi_, "fc", strict=True)))


def _hyperbolic(other: Fraction) -> Callable[[Any], Any]:
    def half_of_two(x: Any) -> Any:
        return times(_HALF, plus(exponential(x), times(other, exponential(times(_MINUS, x)))))

    return half_of_two


_SINH, _COSH = _hyperbolic(_MINUS), _hyperbolic(Fraction(1))
_OF_ONE: Mapping[str, Callable[[Any], Any]] = {
    "abs": abs,
    "sign": _sign,
    "floor": _rounded(floor),
    "ceiling": _rounded(ceil),
    "sin": _smooth(0, iv.sin),
    "cos": _smooth(1, iv.cos),
    "tan": _smooth(0, lambda x: times(iv.sin(x), inverse(iv.cos(x)))),
    "atan": _smooth(0, _atan),
    "sinh": _smooth(0, _SINH),
    "cosh": _smooth(1, _COSH),
    "tanh": _smooth(0, lambda x: times(_SINH(x), inverse(_COSH(x)))),
}
NAMES = (*_OF_ONE, "Max", "Min", "factorial", "binomial")
"""The functions whose values this module computes; `trees` computes the values of the others."""
BINDERS = ("Sum", "Product", "Iterate")


def value_of(node: Any, point: Any) -> Any:
    """Return the value of a tree's node at a point."""
    match node.op:
        case "pi":
            return +iv.pi
        case "call":
            return applied(node.label, [point.value(part) for part in node.parts])
        case "Piecewise":
            return point.value(_piece(node, point))
        case "Iterate":
            return _state(node, point)
    body, *ends = node.parts
    low, high = (whole(point.value(end)) for end in ends)
    if high - low > MOST_TERMS:
        raise UnsureError("many terms")
    terms = [point.with_values(**{node.label: Fraction(k)}).value(body) for k in range(low, high + 1)]
    return summed(terms) if node.op == "Sum" else product_of(terms)


def _piece(node: Any, point: Any) -> Any:
    """Return the first of some pieces whose relation holds; the parts are left, right, value, ..., last value."""
    *pieces, last = node.parts
    for left, right, value, relation in zip(pieces[::3], pieces[1::3], pieces[2::3], node.label, strict=True):
        difference = sign(minus(point.value(left), point.value(right)))
        if difference in {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "==": (0,)}[relation]:
            return value
    return last


def _state(node: Any, point: Any) -> Any:
    """Return a state of a recursion; the parts are the number of steps, the states at the start, and after a step."""
    place, counter, *names = node.label
    count, *parts = node.parts
    steps = whole(point.value(count), least=0)
    states = [point.value(part) for part in parts[: len(names)]]
    for k in range(steps):
        here = point.with_values(**{counter: Fraction(k)}, **dict(zip(names, states, strict=True)))
        states = [here.value(part) for part in parts[len(names) :]]
    return states[place]
