"""The reading of a certificate: strict and bounded JSON, canonical numbers, and the effort that a file may need.

The effort for a file is counted before it is spent, in units that are the same on all machines: work in nominal
microseconds, bytes of new objects, bits of a number. A file that needs more than is allowed is rejected as too large.
"""

import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd
from typing import NoReturn, TypeAlias

from flint import fmpz

Data: TypeAlias = dict[str, "Data"] | list["Data"] | str | int | None
"""The values of JSON here: an object, a list, a string, an integer, true or false, or null."""
MOST_BYTES, DEEPEST, MOST_DIGITS = 64 * 2**20, 200, 20_000
_MOST_MARKS, _MOST_QUOTES = 4_000_000, 6_000_000
_MARKS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_RATIONAL = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?")
NAME, SENTENCE = 100, 4000
"""Maximum number of characters of a name (also of a label or a word), and of a sentence."""
LONGEST_WORK = 60e6
"""Maximum cost of one file, in nominal microseconds."""
MOST_MADE = 2**29
"""Maximum number of bytes of all nodes, polynomials and monomials made for one file, including those no longer used."""


class Rejected(ValueError):  # noqa: N818
    """A certificate that was understood and does not prove its claims; the message is a line that names the field."""


class Unknown(Rejected):
    """A primitive, a kind of clause or a form of expression that this program does not know."""


class TooLarge(Rejected):
    """A file that may be correct, but needs more of a resource than is allowed.

    Parameters
    ----------
    limited
        The resource, such as `work` or `bits of a number`.
    most
        The allowed amount; None for the amount on the machine.
    where
        The place in the file, if it is known.
    """

    def __init__(self, limited: str, most: float | None, where: str = "") -> None:
        self.limited, self.most = limited, None if most is None else int(most)
        more = f"more {limited} than there is" if most is None else f"more than {self.most} {limited}"
        super().__init__(f"too large: {f'{where}: ' if where else ''}{more}")


class Undefined(Rejected):
    """There is no value: a division by zero, or balls that are unbounded at the working precision."""


class Unreadable(ValueError):  # noqa: N818
    """A file that is no certificate of this format; the message is a line."""


class Effort:
    """The work and the bytes that are left for a file; an operation that needs more is rejected before it is done."""

    def __init__(self, work: float = LONGEST_WORK, made: float = MOST_MADE) -> None:
        self.left, self.room = work, made
        self.most = work, made

    def spend(self, microseconds: float) -> None:
        """Subtract some work from the work that is left."""
        self.left -= microseconds
        if self.left < 0:
            raise TooLarge("microseconds of work, nominally", self.most[0])

    def make(self, size: float) -> None:
        """Subtract some bytes from the bytes that are left."""
        self.room -= size
        if self.room < 0:
            raise TooLarge("bytes of new objects", self.most[1])

    def fit(self, size: float) -> None:
        """Check that some bytes are left, without subtracting them."""
        if self.room < size:
            raise TooLarge("bytes of new objects", self.most[1])


def work(one: Fraction, other: Fraction) -> float:
    """Return the nominal microseconds by which a product of two rationals costs more than a product of small ones."""
    bits = [part.bit_length() for x in (one, other) for part in (x.numerator, x.denominator)]
    return 4 * (max(bits) / 1000) ** 2 + 0.002 * sum(bits)


def dot(effort: Effort, left: Iterable[Fraction], right: Iterable[Fraction]) -> Fraction:
    """Return Σ x_i y_i; the cost of each product and of each sum is counted before it is computed."""
    total = Fraction(0)
    for x, y in zip(left, right, strict=True):
        effort.spend(5 + work(x, y))
        product = x * y
        effort.spend(work(total, product))
        total += product
    return total


def bits_of(value: Fraction) -> int:
    """Return the number of bits of a rational's numerator or denominator, whichever is longer."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def shown(value: object) -> str:
    """Return a value of a file as short text on one line, for a message."""
    kinds: dict[type, str] = {dict: "an object", list: "a list", bool: str(value).lower(), type(None): "null"}
    text = kinds.get(type(value)) or (ascii(value[:200]) if isinstance(value, str) else ascii(value))
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text)} characters)"


def parse(text: bytes) -> Data:
    """Return the JSON value of a file; its size and nesting are bounded in linear time before it is parsed.

    Raises Unreadable for text that is not the JSON of certificates, and TooLarge.
    """
    if len(text) > MOST_BYTES:
        raise TooLarge("bytes of a file", MOST_BYTES)
    if sum(map(text.count, (b",", b":", b"[", b"]", b"{", b"}"))) > _MOST_MARKS or text.count(b'"') > _MOST_QUOTES:
        raise TooLarge("commas, colons and brackets, or quotation marks", _MOST_MARKS)
    depth = 0
    for mark in _MARKS.finditer(text):
        first = text[mark.start()]
        depth += (first in b"[{") - (first in b"]}")
        if depth > DEEPEST:
            raise TooLarge("lists and objects in each other", DEEPEST)
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
        seen = set[str]()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise Unreadable(f"the key {shown(twice)} is repeated")
    return made


def _small(digits: str) -> int:
    if len(digits) > 18 or digits == "-0":
        raise Unreadable(f"the number {shown(digits)}: large numbers are written as strings, and 0 without a sign")
    return int(digits)


def _no_float(text: str) -> NoReturn:
    raise Unreadable(f"the number {shown(text)} is not an integer; exact rationals are written as strings")


def entries(value: Data, where: str, names: str, optional: Iterable[str] = ()) -> dict[str, Data]:
    """Return an object with exactly the keys `names`, separated by spaces, and optional ones. Raises Rejected."""
    if type(value) is not dict:
        raise Rejected(f"{where}: {shown(value)} is not an object")
    needed = set(names.split())
    for name in sorted(needed - set(value)):
        raise Rejected(f"{where}.{name}: missing")
    for name in sorted(set(value) - needed - set(optional)):
        raise Rejected(f"{where}: the key {shown(name)} is not known")
    return value


def items(value: Data, where: str, length: Fraction | int | None = None) -> list[Data]:
    """Return a list, of `length` entries if given. Raises Rejected for anything else."""
    if type(value) is not list:
        raise Rejected(f"{where}: {shown(value)} is not a list")
    if length is not None and len(value) != length:
        raise Rejected(f"{where}: has {len(value)} entries, not {length}")
    return value


def string(value: Data, where: str, among: Sequence[str] | None = None) -> str:
    """Return a string, one of `among` if given. Raises Rejected for anything else."""
    if type(value) is not str or (among is not None and value not in among):
        wanted = "a string" if among is None else " or ".join(map(shown, among)) or "anything known"
        raise Rejected(f"{where}: {shown(value)} is not {wanted}")
    return value


def line(value: Data, where: str, most: int = NAME) -> str:
    """Return a string for output beside verdicts: a line of at most `most` printable characters. Raises Unreadable.

    A line break in the string would begin another printed line, such as a second verdict.
    """
    if type(value) is not str or len(value) > most or not value.isprintable():
        raise Unreadable(f"{where}: {shown(value)} is not one line of at most {most} printable characters")
    return value


def plain_label(value: Data, where: str) -> str:
    """Return a label: a line without '.', ':', ';', two spaces or an outer space, which separate a verdict's parts."""
    text = line(value, where)
    if any(each in text for each in ".:;") or text != " ".join(text.split()):
        raise Unreadable(f"{where}: {shown(text)} is no label: it has '.', ':', ';' or two spaces")
    return text


def whole(value: Data, where: str, low: int, high: int) -> int:
    """Return a JSON integer between two bounds. Raises Rejected for anything else."""
    if type(value) is not int or not low <= value <= high:
        raise Rejected(f"{where}: {shown(value)} is not an integer from {low} to {high}")
    return value


def rational(value: Data, where: str) -> Fraction:
    """Return the number of a canonical string, "p" or "p/q" in lowest terms.

    Raises Rejected for anything else, and TooLarge for too many digits.
    """
    parts = _RATIONAL.fullmatch(value) if type(value) is str else None
    if not parts:
        raise Rejected(f'{where}: {shown(value)} is not a rational number "p" or "p/q" in lowest terms')
    if max(len(part or "") for part in parts.groups()) > MOST_DIGITS:
        raise TooLarge("digits of a number", MOST_DIGITS, where)
    # FLINT reads integers of any length; Python refuses integers of more than some thousand digits.
    p, q = int(fmpz(parts[1])), int(fmpz(parts[2] or "1"))
    if parts[2] and (q == 1 or gcd(p, q) != 1):
        raise Rejected(f"{where}: {shown(value)} is not in lowest terms")
    return Fraction(p, q)


def rationals(value: Data, where: str, length: Fraction | int | None = None) -> list[Fraction]:
    """Return a list of canonical numbers, of `length` entries if given. Raises Rejected for anything else."""
    return [rational(item, f"{where}[{i}]") for i, item in enumerate(items(value, where, length))]
