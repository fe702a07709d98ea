"""Short forms of the values that findings expect of their commands."""

from fractions import Fraction

from verify import Enclosure


def between(lower: str | int, upper: str | int) -> Enclosure:
    """Return the interval between two numbers, written as decimals."""
    return Enclosure(Fraction(lower), Fraction(upper))


def certified(clause: str, *, holds: bool, trusting: str = "") -> dict[str, bool | str]:
    """Return the results of a clause that is certified to hold or to fail.

    `trusting` names a second computation that the certificate needs.
    """
    return {f"clauses.{clause}.holds": holds, f"clauses.{clause}.evidence": evidence(*filter(None, [trusting]))}


def evidence(*trusting: str) -> str:
    """Return the words for certified evidence that trusts the named second computations, such as `attention/1`."""
    named = ", ".join(f"lemmascope.{each}" for each in trusting)
    return f"certified, trusting {named}" if named else "certified"
