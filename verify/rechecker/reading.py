"""What a certificate is read with: strict and bounded JSON, canonical numbers, and the effort a file may ask for."""

import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd
from typing import NoReturn, TypeAlias

from flint import fmpz

Data: TypeAlias = dict[str, "Data"] | list["Data"] | str | int | None
"""What JSON says here: an object, a list, a string, an integer, true or false, or null."""
MOST_BYTES, DEEPEST, MOST_DIGITS = 64 * 2**20, 200, 20_000
_MOST_MARKS, _MOST_QUOTES = 4_000_000, 6_000_000
_MARKS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_RATIONAL = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?")
LONGEST_WORK = 60e6
"""What one file may cost, in nominal microseconds."""


class Rejected(ValueError):  # noqa: N818
    """A certificate that was understood and does not prove what it claims: one line that names the field."""


class Unknown(Rejected):
    """What this program does not read: a primitive, a kind of clause or a form of expression that it does not know."""


class TooMuchWork(Rejected):
    """A proof that may be one, and asks for more work than it is allowed."""


class Undefined(Rejected):
    """There is no value: a division by zero, or balls that are unbounded at the bits in force."""


class Unreadable(ValueError):  # noqa: N818
    """A file that is no certificate of this format: one line."""


class Effort:
    """The work that is left to a file; what would take more than about a minute is rejected before it is done."""

    def __init__(self, limit: float = LONGEST_WORK) -> None:
        self.left = limit

    def spend(self, microseconds: float) -> None:
        """Take some work off what is left."""
        self.left -= microseconds
        if self.left < 0:
            raise TooMuchWork("the proof asks for more work than a file is allowed (about a minute)")


def work(one: Fraction, other: Fraction) -> float:
    """Return the microseconds that a product of two rationals costs beyond a small one's, nominally."""
    bits = [part.bit_length() for x in (one, other) for part in (x.numerator, x.denominator)]
    return 4 * (max(bits) / 1000) ** 2 + 0.002 * sum(bits)


def shown(value: object) -> str:
    """Return what a file says, on one line and short, for a message."""
    kinds: dict[type, str] = {dict: "an object", list: "a list", bool: str(value).lower(), type(None): "null"}
    text = kinds.get(type(value)) or (ascii(value[:200]) if isinstance(value, str) else ascii(value))
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text)} characters)"


def parse(text: bytes) -> Data:
    """Return the JSON value of a file; its size and nesting are bounded in linear time before it is parsed.

    Raises Unreadable where it is not the JSON that certificates are written in.
    """
    if len(text) > MOST_BYTES:
        raise Unreadable(f"the file has more than {MOST_BYTES} bytes")
    if sum(map(text.count, (b",", b":", b"[", b"]", b"{", b"}"))) > _MOST_MARKS or text.count(b'"') > _MOST_QUOTES:
        raise Unreadable("the file has too many values")
    depth = 0
    for mark in _MARKS.finditer(text):
        first = text[mark.start()]
        depth += (first in b"[{") - (first in b"]}")
        if depth > DEEPEST:
            raise Unreadable(f"lists and objects are nested more than {DEEPEST} deep")
    try:
        value: Data = json.loads(
            text.decode(), object_pairs_hook=_object, parse_int=_small, parse_float=_no_float, parse_constant=_no_float
        )
        # A lone surrogate is no text.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise Unreadable("the file is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"the file is not JSON: {error.msg} at character {error.pos}") from None
    return value


def _object(pairs: list[tuple[str, Data]]) -> dict[str, Data]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise Unreadable(f"the key {shown(twice)} is repeated")
    return made


def _small(digits: str) -> int:
    if len(digits) > 18 or digits == "-0":
        raise Unreadable(f"the number {shown(digits)}: large numbers are written as strings, and 0 without a sign")
    return int(digits)


def _no_float(text: str) -> NoReturn:
    raise Unreadable(f"the number {shown(text)} is not an integer; exact rationals are written as strings")


def entries(value: Data, where: str, names: str, optional: Iterable[str] = ()) -> dict[str, Data]:
    """Return an object that has exactly some keys, separated by spaces here, and at most some more; else Rejected."""
    if type(value) is not dict:
        raise Rejected(f"{where}: {shown(value)} is not an object")
    needed = set(names.split())
    for name in sorted(needed - set(value)):
        raise Rejected(f"{where}.{name}: missing")
    for name in sorted(set(value) - needed - set(optional)):
        raise Rejected(f"{where}: the key {shown(name)} is not known")
    return value


def items(value: Data, where: str, length: Fraction | int | None = None) -> list[Data]:
    """Return a list, of a length. Raises Rejected for anything else."""
    if type(value) is not list:
        raise Rejected(f"{where}: {shown(value)} is not a list")
    if length is not None and len(value) != length:
        raise Rejected(f"{where}: has {len(value)} entries, not {length}")
    return value


def string(value: Data, where: str, among: Sequence[str] | None = None) -> str:
    """Return a string, one of some. Raises Rejected for anything else."""
    if type(value) is not str or (among is not None and value not in among):
        wanted = "a string" if among is None else " or ".join(map(shown, among)) or "anything known"
        raise Rejected(f"{where}: {shown(value)} is not {wanted}")
    return value


def whole(value: Data, where: str, low: int, high: int) -> int:
    """Return a JSON integer between two bounds. Raises Rejected for anything else."""
    if type(value) is not int or not low <= value <= high:
        raise Rejected(f"{where}: {shown(value)} is not an integer from {low} to {high}")
    return value


def rational(value: Data, where: str) -> Fraction:
    """Return the number of a canonical string, "p" or "p/q" in lowest terms.

    Raises Rejected for anything else, and TooMuchWork for more digits than are read.
    """
    parts = _RATIONAL.fullmatch(value) if type(value) is str else None
    if not parts:
        raise Rejected(f'{where}: {shown(value)} is not a rational number "p" or "p/q" in lowest terms')
    if max(len(part or "") for part in parts.groups()) > MOST_DIGITS:
        raise TooMuchWork(f"{where}: a number of more than {MOST_DIGITS} digits")
    # FLINT reads integers of any length; Python refuses those of more than some thousand digits.
    p, q = int(fmpz(parts[1])), int(fmpz(parts[2] or "1"))
    if parts[2] and (q == 1 or gcd(p, q) != 1):
        raise Rejected(f"{where}: {shown(value)} is not in lowest terms")
    return Fraction(p, q)


def rationals(value: Data, where: str, length: Fraction | int | None = None) -> list[Fraction]:
    """Return a list of canonical numbers, of a length. Raises Rejected for anything else."""
    return [rational(item, f"{where}[{i}]") for i, item in enumerate(items(value, where, length))]
