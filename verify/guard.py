"""Numbers handed to primitives: they compute in the arithmetic that the engine passed, and cannot leave it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from verify.errors import ArithmeticLeftError, TheoremError
from verify.language import refuse_float

if TYPE_CHECKING:
    from verify.arithmetic import Arithmetic


class Number:
    """A number of one arithmetic. It combines with ints and with numbers of the same arithmetic only."""

    __slots__ = ("_arithmetic", "_raw")

    def __init__(self, raw: Any, arithmetic: "Arithmetic") -> None:
        self._raw, self._arithmetic = raw, arithmetic

    def _other(self, other: object) -> Any:
        if isinstance(other, Number) and other._arithmetic is self._arithmetic:
            return other._raw
        if isinstance(other, int) and not isinstance(other, bool):
            return self._arithmetic.rational(other, 1)
        raise ArithmeticLeftError(
            f"a {type(other).__name__} met a number of the {self._arithmetic.name} arithmetic; "
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
    """What a primitive sees of the arithmetic: exact constants and the elementary functions."""

    def __init__(self, arithmetic: "Arithmetic") -> None:
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
        return Number(function(number._raw), self._arithmetic)

    def exp(self, number: Number) -> Number:
        """Return e to the number."""
        return self._apply(self._arithmetic.exp, number)

    def log(self, number: Number) -> Number:
        """Return the natural logarithm."""
        return self._apply(self._arithmetic.log, number)

    def sqrt(self, number: Number) -> Number:
        """Return the square root."""
        return self._apply(self._arithmetic.sqrt, number)


def call_primitive(function: Callable[..., Any], arithmetic: "Arithmetic") -> Callable[..., Any]:
    """Wrap a primitive's function: guarded numbers go in, and only a number of this arithmetic comes out."""
    guarded = GuardedArithmetic(arithmetic)

    def call(*raw: Any) -> Any:
        result = function(guarded, *(Number(value, arithmetic) for value in raw))
        if not isinstance(result, Number) or result._arithmetic is not arithmetic:
            raise TheoremError(
                f"primitive {function.__name__} returned a {type(result).__name__}, "
                f"not a number of the {arithmetic.name} arithmetic"
            )
        return result._raw

    return call
