"""The proof of `divides`: a quotient and a remainder."""

from typing import Any

from verify.rechecker.reading import Rejected, rational
from verify.rechecker.registry import Checked


def division(given: Any, clause: dict[str, Any], proof: dict[str, Any], where: str) -> Checked:
    """`divides`: dividend = quotient · divisor + remainder in integers, 0 ≤ remainder < divisor; 0 means verified."""
    sides = [given.number(given.read(clause[part], f"clause.{part}"), None) for part in ("divisor", "dividend")]
    stated = [rational(proof[part], f"{where}.{part}") for part in ("quotient", "remainder")]
    if any(number.denominator != 1 for number in (*sides, *stated)):
        raise Rejected(f"{where}: a number is no integer")
    (divisor, dividend), (quotient, remainder) = sides, stated
    if not 0 <= remainder < divisor or dividend != quotient * divisor + remainder:
        raise Rejected(f"{where}: is no division of the dividend by the divisor")
    return Checked(remainder == 0, hypotheses_used=False)
