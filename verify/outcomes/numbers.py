"""Numbers that are exact or enclosed: as JSON, as floats, and as text for people."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.errors import TheoremError
from verify.shown import Shown

DIGITS = 17
"""Significant digits of enclosures in JSON and text, unless the user asks for others."""
_LONG_BITS = 8192
"""Bits of a numerator or denominator beyond which a number is shown by an enclosure; 8192 bits are 2467 digits."""
_WHOLE_RATIO = 100
"""Smallest ratio that is shown as a whole number."""
_LARGE_RATIO = 10**6
"""Smallest ratio that is shown in three digits and a power of ten."""
LONG_TEXT = 20
"""Characters beyond which an exact number is shortened in text."""
_POSITIONAL = range(-5, 16)
"""Powers of ten of the leading digit for which a shortened number is shown without an exponent."""
_WIDE = 3
"""Maximum significant digits of the ends of a wide enclosure, which are rounded outward."""


@dataclass(frozen=True, repr=False)
class Enclosure(Shown):
    """A closed interval with exact ends that contains a number.

    Parameters
    ----------
    lower, upper
        The ends, integers or Fractions; None for an end that is not known.

    Raises
    ------
    TheoremError
        For an end that is a float, and for ends in the wrong order.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from verify import Enclosure
    >>> Enclosure(Fraction(1, 3), Fraction(2, 3)).midpoint
    Fraction(1, 2)
    """

    lower: Fraction | int | None
    upper: Fraction | int | None

    def __post_init__(self) -> None:
        for end in (self.lower, self.upper):
            if type(end) not in (int, Fraction, type(None)):
                raise TheoremError(f"enclosure: {end!r} is a {type(end).__name__}, and an end is an exact number")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise TheoremError(f"enclosure: its lower end {self.lower} is above its upper end {self.upper}")

    def __str__(self) -> str:
        return number_text(self)

    @property
    def midpoint(self) -> Fraction | None:
        """The midpoint, when both ends are known."""
        if self.lower is None or self.upper is None:
            return None
        return Fraction(self.lower + self.upper) / 2


Quantity = int | Fraction | Enclosure


def json_numbers(values: Mapping[str, Any], digits: int = DIGITS) -> dict[str, Any]:
    """Return the mapping with exact numbers in JSON form and, for each, its float under `…_float`."""
    result: dict[str, Any] = {}
    for name, value in values.items():
        result[name] = json_number(value, digits)
        if isinstance(value, list | tuple):
            if not any(isinstance(item, Mapping) for item in value):
                result[f"{name}_float"] = [as_float(item) for item in value]
        elif isinstance(value, int | Fraction | Enclosure) and not isinstance(value, bool):
            result[f"{name}_float"] = as_float(value)
    return result


def json_number(value: Any, digits: int = DIGITS) -> Any:
    """Return a number in JSON form: an integer as an int, a Fraction as `"p/q"`, an Enclosure as `{lower, upper}`.

    A very long number is enclosed. Lists and objects are converted entry by entry, and anything else is returned
    unchanged.
    """
    if isinstance(value, Mapping):
        return json_numbers(value, digits)
    if isinstance(value, list | tuple):
        return [json_number(item, digits) for item in value]
    if isinstance(value, int | Fraction) and _is_long(value):
        value = Enclosure(value, value)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    if isinstance(value, Enclosure):
        return {"lower": _end(value.lower, digits, up=False), "upper": _end(value.upper, digits, up=True)}
    return value


def _end(value: Fraction | int | None, digits: int, *, up: bool) -> int | str | None:
    if value is None:
        return None
    exact = Fraction(value)
    whole = exact.denominator == 1 and not _is_long(exact)
    return int(exact) if whole else decimal_text(exact, digits, up=up)


def _is_long(value: int | Fraction) -> bool:
    """Whether a number has too many digits to be read; it is then shown by an enclosure."""
    exact = Fraction(value)
    return max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _LONG_BITS


def decimal_text(value: Fraction, digits: int, *, up: bool) -> str:
    """Return `value` as decimal text, such as `1.25e-3`, rounded up or down to `digits` significant digits."""
    if value == 0:
        return "0"
    exponent = _decimal_exponent(abs(value)) - digits + 1
    scaled = value / Fraction(10) ** exponent
    mantissa = -((-scaled).__floor__()) if up else scaled.__floor__()
    text = str(abs(mantissa))
    exponent += len(text) - 1
    text = text[0] + ("." + text[1:].rstrip("0") if text[1:].rstrip("0") else "")
    sign = "-" if mantissa < 0 else ""
    return f"{sign}{text}e{exponent}" if exponent else f"{sign}{text}"


def _decimal_exponent(value: Fraction) -> int:
    """Return the integer e with 10^e <= value < 10^(e+1), without computing all digits of the number."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    guess = math.floor(bits * math.log10(2)) + 1
    while value < Fraction(10) ** guess:
        guess -= 1
    return guess


def digit_count(size: int) -> int:
    """Return the number of digits of an integer >= 0, without its text, which Python refuses beyond 4300 digits."""
    power = math.floor(size.bit_length() * math.log10(2))
    return max(1, power + (size >= 10**power))


def as_float(value: Quantity) -> float | None:
    """Return the nearest float (an enclosure's midpoint); None when it is unknown or overflows."""
    exact = value.midpoint if isinstance(value, Enclosure) else value
    try:
        return None if exact is None else float(exact)
    except OverflowError:
        return None


def short_text(value: Any, digits: int = 10) -> str:
    """Return a number as short text for people; the JSON output has more digits.

    An exact number of more than 20 characters is rounded down to `digits` digits, after `about`. An enclosure is
    shown with the digits that it decides, rounded outward, as `midpoint ± radius` or, if it decides none, by its ends.
    """
    if isinstance(value, Enclosure):
        return _enclosure_text(value, digits)
    if isinstance(value, Mapping | list | tuple):
        return _collected(value, lambda item: short_text(item, digits))
    if not isinstance(value, int | Fraction) or isinstance(value, bool) or not is_shortened(value):
        return number_text(value, digits)
    return f"about {_rounded(Fraction(value), digits, up=False)}"


def _collected(values: Mapping[str, Any] | Sequence[Any], text: Callable[[Any], str]) -> str:
    """Return the entries of an object or a list, each as `text` writes it; objects in a list are on separate lines."""
    if isinstance(values, Mapping):
        return "; ".join(f"{name} = {text(item)}" for name, item in values.items())
    if any(isinstance(item, Mapping) for item in values):
        return "".join(f"\n    {text(item)}" for item in values)
    separator = ", " if any(isinstance(item, Enclosure) for item in values) else ","
    return separator.join(map(text, values))


def is_shortened(value: Any) -> bool:
    """Whether `short_text` leaves out digits of an exact number, or of one in a list or an object."""
    if isinstance(value, Mapping):
        return any(map(is_shortened, value.values()))
    if isinstance(value, list | tuple):
        return any(map(is_shortened, value))
    if not isinstance(value, int | Fraction) or isinstance(value, bool):
        return False
    # A number with very many digits is not written out.
    return _is_long(value) or len(number_text(value)) > LONG_TEXT


def _enclosure_text(value: Enclosure, digits: int) -> str:
    low, up = value.lower, value.upper
    if low is None or up is None:
        if low is not None:
            return f"at least {_end_text(low, digits, up=False)} (no upper bound known)"
        known = None if up is None else _end_text(up, digits, up=True)
        return "not known on either side" if known is None else f"at most {known} (no lower bound known)"
    if low == up:
        return short_text(low, digits)
    if not any(map(_is_many, (low, up))):
        return f"between {low} and {up}"
    middle, radius = Fraction(low + up) / 2, Fraction(up - low) / 2
    if radius * 10 > abs(middle):
        return (
            f"between {_end_text(low, min(digits, _WIDE), up=False)} and {_end_text(up, min(digits, _WIDE), up=True)}"
        )
    # Two digits of the radius are shown, except digits beyond the number that was asked for.
    unit = max(_decimal_exponent(radius) - 1, _decimal_exponent(abs(middle)) - digits + 1)
    scale = Fraction(10) ** unit
    shown = round(middle / scale)
    around = math.ceil(max(up / scale - shown, shown - low / scale))
    return f"{_decimal(shown, unit)} ± {_decimal(around, unit)}"


def _is_many(end: Fraction | int) -> bool:
    """Whether an end is no integer, or one of too many digits to be read."""
    return Fraction(end).denominator != 1 or is_shortened(end)


def _end_text(end: Fraction | int, digits: int, *, up: bool) -> str:
    return _rounded(Fraction(end), digits, up=up) if _is_many(end) else str(end)


def _rounded(value: Fraction, digits: int, *, up: bool) -> str:
    """Return `value` with `digits` significant digits, rounded up or down; with an exponent if one is needed."""
    if value == 0:
        return "0"
    unit = _decimal_exponent(abs(value)) - digits + 1
    scaled = value / Fraction(10) ** unit
    mantissa = math.ceil(scaled) if up else math.floor(scaled)
    while mantissa and mantissa % 10 == 0:
        mantissa, unit = mantissa // 10, unit + 1
    return _decimal(mantissa, unit)


def _decimal(mantissa: int, unit: int) -> str:
    """Return mantissa · 10^unit with the digits that the mantissa has."""
    sign, figures = "-" if mantissa < 0 else "", str(abs(mantissa))
    leading = unit + len(figures) - 1
    if mantissa == 0:
        return "0"
    if leading not in _POSITIONAL:
        rest = figures[1:]
        return f"{sign}{figures[0]}{'.' if rest else ''}{rest}e{leading}"
    if unit >= 0:
        return f"{sign}{figures}{'0' * unit}"
    figures = figures.rjust(1 - unit, "0")
    return f"{sign}{figures[:unit]}.{figures[unit:]}"


def count_text(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun, such as `1 instance` or `2 instances`; `plural` is for irregular plurals."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def times_text(ratio: Fraction) -> str:
    """Return a ratio to three significant digits; from 100 to 10^6 as a whole number, with spaces between thousands."""
    if round(ratio) >= _LARGE_RATIO:
        unit = Fraction(10) ** (_decimal_exponent(ratio) - 2)
        return decimal_text(round(ratio / unit) * unit, 3, up=False)
    return f"{round(ratio):,}".replace(",", " ") if ratio >= _WHOLE_RATIO else f"{float(ratio):.3g}"


def assignments_text(values: Mapping[str, Any]) -> str:
    """Return names and values as they are typed, as `name=value`."""
    return " ".join(f"{name}={number_text(value)}" for name, value in values.items())


def number_text(value: Any, digits: int = DIGITS) -> str:
    """Return a number for people: exact values in full unless very long, enclosures by their ends, `none` for None."""
    if value is None:
        return "none"
    if isinstance(value, Enclosure):
        lower, upper = _end(value.lower, digits, up=False), _end(value.upper, digits, up=True)
        if lower == upper and lower is not None:
            return str(lower)
        return f"between {'-∞' if lower is None else lower} and {'∞' if upper is None else upper}"
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        shown = json_number(value, digits)
        return str(shown["lower"]) if isinstance(shown, dict) else str(shown)
    if isinstance(value, Mapping | list | tuple):
        return _collected(value, lambda item: number_text(item, digits))
    return str(value)
