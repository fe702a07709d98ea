"""What findings expect of their commands, in short."""

from fractions import Fraction

from verify import Enclosure


def between(lower: str | int, upper: str | int) -> Enclosure:
    """Return the interval between two numbers, written as decimals."""
    return Enclosure(Fraction(lower), Fraction(upper))


def certified(clause: str, *, holds: bool) -> dict[str, bool | str]:
    """Return that it is certified whether a clause holds."""
    return {f"clauses.{clause}.holds": holds, f"clauses.{clause}.evidence": "certified"}
