"""The values that findings expect of their commands, in short."""

from fractions import Fraction

from verify import Enclosure


def between(lower: str | int, upper: str | int) -> Enclosure:
    """Return the interval between two numbers, written as decimals."""
    return Enclosure(Fraction(lower), Fraction(upper))


def certified(clause: str, *, holds: bool, trusting: str = "") -> dict[str, bool | str]:
    """Return that it is certified whether a clause holds, trusting a package's second computations where it does."""
    return {f"clauses.{clause}.holds": holds, f"clauses.{clause}.evidence": evidence(*filter(None, [trusting]))}


def evidence(*trusting: str) -> str:
    """Return evidence that is certified, trusting a package's second computations (`attention/1`) where it does."""
    named = ", ".join(f"lemmascope.{each}" for each in trusting)
    return f"certified, trusting {named}" if named else "certified"
