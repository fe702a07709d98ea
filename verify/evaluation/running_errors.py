"""float64 with a running estimate of its error, over NumPy arrays: the arithmetic of a sweep's fast rows.

Each number is an array with an array of error bounds. An operation propagates the errors of its arguments (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., chapter 3) and adds its own rounding error. A value that is not
known to be defined is NaN. The bounds are themselves rounded, so that they prove nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verify.errors import TheoremError, UndecidedError, UndefinedError

_UNIT = 2.0**-53
_FUNCTION = 8 * _UNIT
"""Relative error of NumPy's exp, log and power: its vectorised loops promise 4 units in the last place."""
_TINY = 2.0**-1020
"""A size slightly above the smallest normal float64, 2^−1022; added to the error of a result that may underflow."""
SAFETY = 2.0
"""Factor of an error bound in every decision; it covers the rounding of the bounds themselves."""
_LARGEST_POWER = 2**30
"""Largest exponent at which rounding of the base hardly changes the error bound of a power."""

Array = np.ndarray | float


@dataclass(frozen=True)
class Estimate:
    """Numbers and bounds of their errors: two float64 arrays of one shape, or scalars."""

    value: Array
    error: Array

    def __neg__(self) -> "Estimate":
        return Estimate(-self.value, self.error)

    def __abs__(self) -> "Estimate":
        return Estimate(np.abs(self.value), self.error)

    def __add__(self, other: "Estimate") -> "Estimate":
        value = self.value + other.value
        return Estimate(value, self.error + other.error + _UNIT * np.abs(value))

    def __sub__(self, other: "Estimate") -> "Estimate":
        return self + -other

    def __mul__(self, other: "Estimate") -> "Estimate":
        value = self.value * other.value
        carried = np.abs(self.value) * other.error + np.abs(other.value) * self.error + self.error * other.error
        return Estimate(value, carried + _UNIT * np.abs(value) + _TINY)

    def __truediv__(self, other: "Estimate") -> "Estimate":
        value = self.value / other.where_positive(np.abs(other.value))
        carried = (self.error + np.abs(value) * other.error) / (np.abs(other.value) - other.error)
        return Estimate(value, carried + _UNIT * np.abs(value) + _TINY)

    def __pow__(self, exponent: int) -> "Estimate":
        if not isinstance(exponent, int) or exponent < 0:
            raise TheoremError(f"{exponent}: not a power that a program writes out")
        if exponent > _LARGEST_POWER:
            return Estimate(self.value * np.nan, self.error * np.nan)
        value = self.value**exponent
        carried = exponent * (np.abs(self.value) + self.error) ** max(0, exponent - 1) * self.error
        return Estimate(value, carried + _FUNCTION * np.abs(value) + _TINY)

    def sign(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the masks of the values > `SAFETY` · error and of those < −`SAFETY` · error; NaN is in neither."""
        room = SAFETY * self.error
        return np.greater(self.value, room), np.less(self.value, -room)

    def where_positive(self, size: Array) -> Array:
        """Return the values, with NaN where `size`, which has the same error bounds, is not known to be positive."""
        return np.where(size > SAFETY * self.error, self.value, np.nan)

    def known(self, relative: float) -> np.ndarray:
        """Return the mask of the finite values with `SAFETY` · error <= `relative` · size; it includes exact zeros."""
        return np.isfinite(self.value) & (SAFETY * self.error <= relative * np.abs(self.value))


class Estimates:
    """The arithmetic of `Estimate`, for programs."""

    name = "float64 with errors"

    def rational(self, numerator: int, denominator: int) -> Estimate:
        """Return the quotient; its error is 0 if the quotient is a float."""
        return self.number(Fraction(numerator, denominator))

    def number(self, value: Fraction | int) -> Estimate:
        """Return a number as an Estimate. Raises UndefinedError beyond float64's range."""
        exact = Fraction(value)
        try:
            near = float(exact)
        except OverflowError:
            raise UndefinedError("a number is beyond float64's range") from None
        return Estimate(near, 0.0 if near == exact else _UNIT * abs(near) + _TINY)

    def beyond(self) -> Estimate:
        """Return the estimate that stands for a number beyond float64's range: NaN."""
        return Estimate(float("nan"), 0.0)

    def numbers(self, values: Sequence[Fraction | int]) -> Estimate:
        """Return n numbers as one Estimate, of arrays of shape (n,). Raises UndefinedError like `number`."""
        made = [self.number(value) for value in values]
        return Estimate(np.array([one.value for one in made]), np.array([one.error for one in made]))

    def sign(self, raw: Estimate) -> int:
        """Raise UndecidedError: an estimate is an array, and primitives, which ask for a sign, are not run on it."""
        raise UndecidedError("estimates have no one sign")

    def exp(self, raw: Estimate) -> Estimate:
        """Return e^x."""
        value = np.exp(raw.value)
        return Estimate(value, _scaled(value, np.expm1(raw.error)))

    def log(self, raw: Estimate) -> Estimate:
        """Return log x, NaN where x is not known to be positive."""
        inside = raw.where_positive(raw.value)
        value = np.log(inside)
        return Estimate(value, -np.log1p(-raw.error / inside) + _FUNCTION * np.abs(value))

    def sqrt(self, raw: Estimate) -> Estimate:
        """Return √x, NaN where x is not known to be positive."""
        value = np.sqrt(raw.where_positive(raw.value))
        return Estimate(value, raw.error / value + _UNIT * value)

    def power(self, base: Estimate, exponent: Estimate) -> Estimate:
        """Return x^y = exp(y log x), NaN where x is not known to be positive."""
        inside = base.where_positive(base.value)
        value = np.power(inside, exponent.value)
        logarithm = np.abs(np.log(inside)) - np.log1p(-base.error / inside)
        moved = np.abs(exponent.value) * -np.log1p(-base.error / inside) + exponent.error * logarithm
        return Estimate(value, _scaled(value, np.expm1(moved)))


def _scaled(value: Array, moved: Array) -> Array:
    """Return the error of a positive value, if errors of the arguments change it by a factor of at most 1 + `moved`.

    A value that underflowed is treated as _TINY, because the factor may be large.
    """
    return np.maximum(value, _TINY) * (moved + _FUNCTION) + _TINY
