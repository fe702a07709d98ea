"""Parameters of a statement: their domains, and the parsing of text into exact values."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Literal, TypeAlias, cast

from verify.errors import InputError, TheoremError, meant
from verify.language.labels import NAME, refuse_bad_name, refuse_bad_text

LARGEST_INTEGER = 10**18
"""Maximum absolute value of an integer parameter; no size in machine learning is larger."""
LARGEST_EXPONENT = 400
"""Maximum absolute decimal exponent. Larger exponents, and texts of more than twice as many characters, are refused."""
MOST_DIGITS = 3 * LARGEST_EXPONENT
LONGEST_NUMBER = 10**MOST_DIGITS
"""Bound on numerators and denominators: parsed text is within it, and numbers from Python code are checked."""
LONGEST_LIST = 1000
"""Maximum number of entries of a list."""

Value: TypeAlias = int | Fraction | str | tuple[Fraction, ...]
Instance: TypeAlias = Mapping[str, Value]

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d+)\s*/\s*(\d+)", re.ASCII)
_KINDS = ("integer", "rational", "real", "rationals", "word")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a statement: its name, its domain and its meaning.

    Parameters
    ----------
    name
        The name that the user types before `=`: letters, digits and _, and no digit first.
    kind
        `integer`, `rational` (a number of any sign, exact at an instance; a proof covers all real numbers; also
        written `real`), `rationals` (one or more numbers, separated by commas, each in the domain) or `word`.
    meaning
        Its meaning, with its unit if it has one.
    minimum, above
        The lower end of the domain: `minimum` is included, `above` excluded; `None` for no end.
    maximum, below
        The upper end of a number's domain: `maximum` is included, `below` excluded; `None` for no end. A statement has
        it as a relation of its `domain`.
    words
        The words that a parameter of kind `word` may take; the first is the paper's.
    default
        The value if none is given: an expression of the parameters without a default. It is no part of the claim.

    Raises
    ------
    TheoremError
        For an invalid name, an unknown kind, words missing or given to another kind, a default or an upper end of a
        parameter of kind `word` or `rationals`, two ends of one side, and an empty domain.

    Examples
    --------
    >>> from verify import Parameter
    >>> Parameter("eta", "rational", "step size", above=0).parse("1/20")
    Fraction(1, 20)
    """

    name: str
    kind: Literal["integer", "rational", "real", "rationals", "word"]
    meaning: str
    minimum: Fraction | int | None = None
    above: Fraction | int | None = None
    words: tuple[str, ...] = ()
    default: object = None
    maximum: Fraction | int | None = None
    below: Fraction | int | None = None

    def __post_init__(self) -> None:
        refuse_bad_name("parameter", self.name)
        refuse_bad_text(f"parameter {self.name}: meaning", self.meaning, empty=True)
        for word in self.words:
            refuse_bad_text(f"parameter {self.name}: word", word, NAME)
        if self.kind not in _KINDS:
            raise TheoremError(
                f"parameter {self.name}: {self.kind!r} is not a kind; {meant(str(self.kind), _KINDS, 'it is one of')}"
            )
        if self.kind == "real":
            object.__setattr__(self, "kind", "rational")
        if (self.kind == "word") != bool(self.words):
            raise TheoremError(f"parameter {self.name}: a word, and only a word, needs the words that it may be")
        if self.default is not None and self.kind in ("word", "rationals"):
            raise TheoremError(f"parameter {self.name}: only a number has a default")
        self._refuse_bad_ends()

    def _refuse_bad_ends(self) -> None:
        """Raise TheoremError for an end of the wrong type or kind, two ends of one side, and an empty domain."""
        for name in ("minimum", "above", "maximum", "below"):
            end = getattr(self, name)
            if end is not None and (isinstance(end, bool) or not isinstance(end, int | Fraction)):
                way = "write an int or a Fraction, such as Fraction(1, 2)"
                raise TheoremError(f"parameter {self.name}: {name} = {end!r} is a {type(end).__name__}; {way}")
        for one, other in (("minimum", "above"), ("maximum", "below")):
            if None not in (getattr(self, one), getattr(self, other)):
                raise TheoremError(f"parameter {self.name}: has {one} and {other}; give one of them")
        if self.upper is None:
            return
        if self.kind in ("word", "rationals"):
            raise TheoremError(f"parameter {self.name}: only a number has an upper end")
        least = self.lower
        closed = self.minimum is not None and self.maximum is not None
        is_empty = least is not None and (least > self.upper or (least == self.upper and not closed))
        if self.kind == "integer" and least is not None:
            first = floor(least) + 1 if self.minimum is None else ceil(least)
            is_empty = first > self.upper or (first == self.upper and self.maximum is None)
        if is_empty:
            raise TheoremError(f"parameter {self.name}: no value is{self._bound}")

    @property
    def lower(self) -> Fraction | int | None:
        """The lower end, which belongs to the domain if it is `minimum`; None for no end."""
        return self.minimum if self.minimum is not None else self.above

    @property
    def upper(self) -> Fraction | int | None:
        """The upper end, which belongs to the domain if it is `maximum`; None for no end."""
        return self.maximum if self.maximum is not None else self.below

    @property
    def requirement(self) -> str:
        """The requirement on a value, in words."""
        if self.kind == "word":
            return f"must be one of {', '.join(self.words)}"
        number = "a number (such as 3, 0.25, 1e-3 or 1/500)"
        nouns = {"integer": "an integer", "rationals": "numbers separated by commas (such as 1,1/4), each"}
        return f"must be {nouns.get(self.kind, number)}{self._bound}"

    @property
    def domain(self) -> str:
        """The values that the parameter may have, in short, such as `integer >= 2`."""
        nouns = {"rational": "number", "rationals": "list of numbers"}
        return " | ".join(self.words) or f"{nouns.get(self.kind, self.kind)}{self._bound}"

    @property
    def _bound(self) -> str:
        ends = ((">=", self.minimum), (">", self.above), ("<=", self.maximum), ("<", self.below))
        return " and".join(f" {sign} {end}" for sign, end in ends if end is not None)

    def parse(self, value: object) -> Value:
        """Return `value` (text, int, Fraction, or a float as its shortest decimal) exactly, or raise InputError."""
        if self.kind == "word":
            if value not in self.words:
                raise InputError(self.name, value, self.requirement)
            return str(value)
        if self.kind == "rationals":
            return self._entries(value)
        number = self._number(value)
        if self.kind == "integer":
            if number.denominator != 1:
                raise InputError(self.name, value, self.requirement)
            if abs(number) > LARGEST_INTEGER:
                raise InputError(self.name, value, "integers are limited to 10^18 in size")
        if self._outside(number):
            raise InputError(self.name, value, self.requirement)
        return int(number) if self.kind == "integer" else number

    def _outside(self, number: Fraction) -> bool:
        """Whether a number is below or above the domain."""
        out = (self.minimum is not None and number < self.minimum) or (self.above is not None and number <= self.above)
        out = out or (self.maximum is not None and number > self.maximum)
        return out or (self.below is not None and number >= self.below)

    def _entries(self, value: object) -> tuple[Fraction, ...]:
        if isinstance(value, str):
            parts: list[object] = [part.strip() for part in value.split(",")]
        else:
            parts = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else [value]
        if not parts or parts == [""]:
            raise InputError(self.name, "", "is empty; " + self.requirement)
        if len(parts) > LONGEST_LIST:
            raise InputError(self.name, f"{len(parts)} entries", f"lists are limited to {LONGEST_LIST} entries")
        if "" in parts:
            raise InputError(self.name, value, f"entry {parts.index('') + 1} is empty; {self.requirement}")  # pyright: ignore[reportUnknownArgumentType]
        numbers = tuple(map(self._number, parts))
        if any(map(self._outside, numbers)):
            raise InputError(self.name, value, self.requirement)  # pyright: ignore[reportUnknownArgumentType]
        return numbers

    def __contains__(self, value: object) -> bool:
        """Whether `value` is in the domain."""
        try:
            self.parse(value)
        except InputError:
            return False
        return True

    def _number(self, value: object) -> Fraction:
        if isinstance(value, bool):
            raise InputError(self.name, value, self.requirement)
        if isinstance(value, int | Fraction):
            if max(abs(value.numerator), value.denominator) >= LONGEST_NUMBER:
                raise InputError(self.name, "a number", f"must have at most {MOST_DIGITS} digits")
            return Fraction(value)
        text = (repr(float(value)) if isinstance(value, float) else str(value)).strip()
        if not text:
            raise InputError(self.name, "", "is empty; " + self.requirement)
        if len(text) > 2 * LARGEST_EXPONENT:
            raise InputError(self.name, text, f"numbers are limited to {2 * LARGEST_EXPONENT} characters")
        if fraction := _FRACTION.fullmatch(text):
            if int(fraction[2]) == 0:
                raise InputError(self.name, text, "the denominator is zero")
            return Fraction(int(fraction[1]), int(fraction[2]))
        decimal = _DECIMAL.fullmatch(text)
        if not decimal:
            comma = ", without a comma after it" if text.endswith(",") else ""
            raise InputError(self.name, text, self.requirement + comma)
        exponent = decimal[3]
        if exponent and abs(int(exponent[1:])) > LARGEST_EXPONENT:
            limit = "integers are limited to 10^18 in size" if self.kind == "integer" else ""
            raise InputError(self.name, text, limit or f"decimal exponents are limited to ±{LARGEST_EXPONENT}")
        return Fraction(text)


def read_assignments(words: Iterable[str]) -> dict[str, str]:
    """Split `name=value` words; a word without `=`, an empty name and a repeated name raise InputError."""
    given: dict[str, str] = {}
    words = list(words)
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            spaced = ", with no spaces around =" if "=" in (before[-1:], after[:1]) else ""
            raise InputError(word, "", f"must have the form name=value{spaced}")
        name = name.strip()
        if name in given:
            raise InputError(name, value, f"is given twice (first as {given[name]})")
        given[name] = value
    return given


def parse_instance(parameters: Sequence[Parameter], given: Mapping[str, object], *, partial: bool) -> dict[str, Value]:
    """Return the instance in the order of the parameters; `partial` lets parameters be absent."""
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in given.items():
        if name not in known:
            raise InputError(
                name, value, f"is not a parameter of this theorem; {meant(name, known, 'its parameters are')}"
            )
    missing = [name for name in known if name not in given]
    if missing and not partial:
        raise InputError(", ".join(missing), "", f"missing; the parameters are {', '.join(known)}")
    return {name: known[name].parse(given[name]) for name in known if name in given}


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high], by the Stern–Brocot tree."""
    if low > high:
        raise InputError("low", low, f"must be <= high = {high}")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = low.__floor__()
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
