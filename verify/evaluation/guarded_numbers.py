"""Numbers that primitives get: they compute in the engine's arithmetic and cannot be converted to Python numbers."""

from collections.abc import Callable
from fractions import Fraction
from numbers import Real
from typing import Any, NoReturn, TypeVar

from verify.errors import (
    ArithmeticLeftError,
    NotExactError,
    OutOfTimeError,
    PrimitiveError,
    TheoremError,
    UndecidedError,
    UndefinedError,
)
from verify.evaluation.arithmetic import Arithmetic, Raw
from verify.language.expressions import refuse_float
from verify.outcomes import Enclosure

T = TypeVar("T")

_FLOAT_BITS = 53
"""Bits of a float's significand."""
_FEWEST_BITS = 46
"""Minimum number of bits of a numerator that may be a float's: few floats have eight or more zeros at the end."""


class Number:
    """A number of one arithmetic. It combines with ints and with numbers of the same arithmetic only."""

    __slots__ = ("_arithmetic", "_raw")

    def __init__(self, raw: Any, arithmetic: Arithmetic[Any]) -> None:
        self._raw, self._arithmetic = raw, arithmetic

    def _other(self, other: object) -> Any:
        if isinstance(other, Number) and other._arithmetic is self._arithmetic:
            return other._raw
        if isinstance(other, int) and not isinstance(other, bool):
            return self._arithmetic.rational(other, 1)
        raise ArithmeticLeftError(
            f"a {type(other).__name__} was combined with a number of the {self._arithmetic.name} arithmetic; "
            "build constants with arithmetic.rational(p, q)"
        )

    def _new(self, raw: Any) -> "Number":
        return Number(raw, self._arithmetic)

    def __add__(self, other: object) -> "Number":
        return self._new(self._raw + self._other(other))

    def __radd__(self, other: object) -> "Number":
        return self._new(self._other(other) + self._raw)

    def __sub__(self, other: object) -> "Number":
        return self._new(self._raw - self._other(other))

    def __rsub__(self, other: object) -> "Number":
        return self._new(self._other(other) - self._raw)

    def __mul__(self, other: object) -> "Number":
        return self._new(self._raw * self._other(other))

    def __rmul__(self, other: object) -> "Number":
        return self._new(self._other(other) * self._raw)

    def __truediv__(self, other: object) -> "Number":
        return self._new(self._raw / self._other(other))

    def __rtruediv__(self, other: object) -> "Number":
        return self._new(self._other(other) / self._raw)

    def __pow__(self, exponent: int) -> "Number":
        if not isinstance(exponent, int):
            raise ArithmeticLeftError("a number of the engine is raised to integer powers only")
        return self._new(self._raw**exponent)

    def __neg__(self) -> "Number":
        return self._new(-self._raw)

    def __lt__(self, other: object) -> bool:
        return self._arithmetic.sign(self._raw - self._other(other)) < 0

    def __gt__(self, other: object) -> bool:
        return self._arithmetic.sign(self._raw - self._other(other)) > 0

    def __le__(self, other: object) -> bool:
        return self._arithmetic.sign(self._raw - self._other(other)) <= 0

    def __ge__(self, other: object) -> bool:
        return self._arithmetic.sign(self._raw - self._other(other)) >= 0

    def __eq__(self, other: object) -> bool:
        return self._arithmetic.sign(self._raw - self._other(other)) == 0

    __hash__ = None  # type: ignore[assignment]

    def _leave(self, *_: object) -> NoReturn:
        raise ArithmeticLeftError(f"a number of the {self._arithmetic.name} arithmetic was turned into a Python number")

    __float__ = __int__ = __index__ = __complex__ = __bool__ = _leave
    __round__ = __trunc__ = __floor__ = __ceil__ = _leave

    def __repr__(self) -> str:
        return f"<a number of the {self._arithmetic.name} arithmetic>"


class GuardedArithmetic:
    """The view that a primitive has of the arithmetic: exact constants and the elementary functions."""

    def __init__(self, arithmetic: Arithmetic[Any]) -> None:
        self._arithmetic = arithmetic

    def rational(self, numerator: int, denominator: int = 1) -> Number:
        """Return p/q; both must be ints, and not the expansion of a float."""
        if type(numerator) is not int or type(denominator) is not int:
            raise ArithmeticLeftError("rational(p, q) takes two ints")
        refuse_float(numerator, denominator)
        return Number(self._arithmetic.rational(numerator, denominator), self._arithmetic)

    def _apply(self, function: Callable[[Any], Any], number: Number) -> Number:
        if not isinstance(number, Number) or number._arithmetic is not self._arithmetic:
            raise ArithmeticLeftError(
                f"{type(number).__name__}: not a number of the {self._arithmetic.name} arithmetic"
            )
        try:
            return Number(function(number._raw), self._arithmetic)
        except (ValueError, OverflowError) as error:
            # float64's own functions raise such errors outside of their domain, or beyond float64's range.
            if isinstance(error, TheoremError):
                raise
            raise UndefinedError(f"{error}") from None

    def exp(self, number: Number) -> Number:
        """Return e to the number."""
        return self._apply(self._arithmetic.exp, number)

    def log(self, number: Number) -> Number:
        """Return the natural logarithm."""
        return self._apply(self._arithmetic.log, number)

    def sqrt(self, number: Number) -> Number:
        """Return the square root."""
        return self._apply(self._arithmetic.sqrt, number)


_MEANT = (TheoremError, UndefinedError, UndecidedError, NotExactError, OutOfTimeError, ZeroDivisionError)
"""The errors that a primitive may raise: the engine's own, and ZeroDivisionError."""


def run_primitive(name: str, function: Callable[..., T], *arguments: object) -> T:
    """Call a primitive's function. Raises PrimitiveError, with its name, for an exception that is not in `_MEANT`."""
    try:
        return function(*arguments)
    except _MEANT:
        raise
    except (Exception, SystemExit) as error:
        raise PrimitiveError(f"primitive {name} raised {type(error).__name__}: {error}") from error


def call_enclosed(
    name: str, function: Callable[..., Fraction | Enclosure], *arguments: Fraction
) -> Fraction | Enclosure:
    """Call an enclosing function at exact arguments.

    Raises PrimitiveError if the result is neither an exact number nor a bounded Enclosure, or looks like a float.
    """
    result = run_primitive(name, function, *arguments)
    ends = (result.lower, result.upper) if isinstance(result, Enclosure) else (result,)
    if not all(isinstance(end, int | Fraction) and not isinstance(end, bool) for end in ends):
        shown = f"an Enclosure from {ends[0]} to {ends[-1]}" if len(ends) > 1 else f"a {type(result).__name__}"
        point = ", ".join(map(str, arguments))
        raise PrimitiveError(
            f"primitive {name} returned {shown} at {point}, and must return a Fraction or an Enclosure with two exact "
            "ends"
        )
    if ends[0] == ends[-1] and _is_of_a_float(Fraction(ends[0])):  # pyright: ignore[reportCallIssue]
        raise PrimitiveError(f"primitive {name} returned {result}, which looks like a float's expansion; enclose it")
    return result


def _is_of_a_float(value: Fraction) -> bool:
    """Whether a number looks like a float's expansion: a numerator of 46 to 53 bits over a power of two > 2^20."""
    bits = abs(value.numerator).bit_length()
    return value.denominator.bit_count() == 1 and value.denominator > 2**20 and _FEWEST_BITS <= bits <= _FLOAT_BITS


def call_scan(name: str, function: Callable[..., object]) -> Callable[..., Real]:
    """Wrap an enclosed primitive's approximation, in which an ArithmeticError or a ValueError means "no value".

    The wrapped function raises UndefinedError for these, and PrimitiveError for any other error and for a result that
    is not a real number. The errors in `_MEANT` pass unchanged.
    """

    def call(*arguments: float) -> Real:
        try:
            result = run_primitive(name, function, *arguments)
        except PrimitiveError as error:
            if isinstance(error.__cause__, ArithmeticError | ValueError):
                raise UndefinedError(str(error)) from None
            raise
        if not isinstance(result, Real):
            raise PrimitiveError(f"primitive {name}: its scan returned a {type(result).__name__}, not a number")
        return result

    return call


def call_primitive(function: Callable[..., object], arithmetic: Arithmetic[Raw]) -> Callable[..., Raw]:
    """Wrap a primitive's function, which gets guarded numbers and must return a number of this arithmetic.

    The wrapped function takes and returns raw numbers. It raises PrimitiveError if the primitive's function returns
    anything else.
    """
    guarded = GuardedArithmetic(arithmetic)

    def call(*raw: Raw) -> Raw:
        result = run_primitive(function.__name__, function, guarded, *(Number(value, arithmetic) for value in raw))
        if not isinstance(result, Number) or result._arithmetic is not arithmetic:
            raise PrimitiveError(
                f"primitive {function.__name__} returned a {type(result).__name__}, "
                f"not a number of the {arithmetic.name} arithmetic"
            )
        return result._raw

    return call
