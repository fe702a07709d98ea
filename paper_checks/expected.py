"""The values that findings expect of their commands, in short."""

from fractions import Fraction

from verify import Enclosure


def between(lower: str | int, upper: str | int) -> Enclosure:
    """Return the interval between two numbers, written as decimals."""
    return Enclosure(Fraction(lower), Fraction(upper))


def certified(clause: str, *, holds: bool, trusting: str = "") -> dict[str, bool | str]:
    """Return that it is certified that a clause holds or fails; `trusting` names a second computation that it needs."""
    return {f"clauses.{clause}.holds": holds, f"clauses.{clause}.evidence": evidence(*filter(None, [trusting]))}


def evidence(*trusting: str) -> str:
    """Return evidence that is certified, trusting the second computations named, such as `attention/1`."""
    named = ", ".join(f"lemmascope.{each}" for each in trusting)
    return f"certified, trusting {named}" if named else "certified"
