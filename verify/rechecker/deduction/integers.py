"""The test whether a value in a deduction is an integer, by its atoms."""

from ..polynomials import Quotient
from .atoms import Atoms


def is_integer(field: Atoms, value: Quotient) -> bool:
    """Whether a value is a polynomial with integer coefficients in integers.

    The integers are integer symbols, floors, factorials, and powers of integers with exponents that are integers ≥ 0.
    """
    keys = {place: key for key, place in field.atoms.items()}
    field.effort.spend(len(keys))
    waiting, seen = [value], set(field.whole)
    while waiting:
        part = waiting.pop()
        if part.number > 1 or part.factors:
            return False
        for place in set[int]().union(*map(field.inside, part.numerator)) - seen:
            seen.add(place)
            key = keys[place]
            if key[0] != "function" or key[1] not in ("floor", "factorial", "power"):
                return False
            if key[1] == "power":
                ((numerator, number, factors),) = key[2]
                waiting.append(Quotient(dict(numerator), number, factors))
        field.effort.spend(len(part.numerator) * len(keys) * 0.1)
    return True
