# ruff: noqa: D102 -- the methods of a field are documented once, in `Field`
"""Rational functions with factored denominators, by sparse polynomials with integer coefficients.

A polynomial is {packed exponents: coefficient}, with 32 bits for each atom. An atom is a symbol, exp(g/n) for a
monomial g divided by a product of factors, or in deductions a function. Distinct atoms are treated as independent: an
expression that is 0 for independent atoms is 0 for the actual ones. A quotient is numerator/(number · Π factors),
reduced by trial division; no greatest common divisor of polynomials is computed, and every division is by a product of
factors that the caller has admitted.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import gcd, lcm
from typing import Literal, NamedTuple, TypeAlias

from .fields import Field
from .nodes import LARGEST_POWER, Name, Node
from .reading import Effort, Rejected, TooLarge, shown

Polynomial: TypeAlias = dict[int, int]
Exponent: TypeAlias = tuple[Literal["exp"], int, tuple[tuple[int, int], ...]]
"""An exponential's argument: a monomial divided by a product of factors."""
Terms: TypeAlias = tuple[tuple[int, int], ...]
"""The terms of a polynomial, or the powers of factors, in order."""
Function: TypeAlias = tuple[Literal["function"], str, tuple[tuple[Terms, int, Terms], ...], tuple[int, ...]]
"""A function of some quotients, with numbers such as an order; only some kinds of proof have such atoms."""
Atom: TypeAlias = tuple[Literal["symbol"], Name] | Exponent | Function
Sign = Literal["positive", "nonnegative", "nonzero", "real", ""]
MOST_TERMS, MOST_ATOMS = 1_000_000, 1000
_WIDTH, _MOST_BITS = 32, 2**20
_FIELD, _ENTRY, _LONGEST_VALUE = (1 << _WIDTH) - 1, 160, 4096
"""The mask of an exponent; bytes of a term without key and coefficient; bits of a divisor's value at a point."""
_CACHED = 2000
"""Number of terms up to which a polynomial fits in a processor's cache."""


_SMALL_POWER = 200
"""If the first exponential of a monomial g is exp(r g) and the numerator of r is at most this, the unit of g (see
`exp`) has the numerator 1."""


class Quotient(NamedTuple):
    """numerator/(number · Π factor^power); `factors` are pairs of a factor's place and its power > 0."""

    numerator: Polynomial
    number: int
    factors: tuple[tuple[int, int], ...]


class FinerUnit(ArithmeticError):  # noqa: N818
    """An exponential needs a smaller unit; the computation is started again with this unit."""


class Quotients(Field[Quotient]):
    """A field of quotients. `sign_of` returns the known sign of a symbol.

    `admits(field, polynomial)` decides whether a polynomial may be a divisor, after known factors and
    atoms that are nowhere zero have been divided out; it returns the polynomial or its negative.
    """

    def __init__(
        self,
        effort: Effort,
        sign_of: Callable[[Name], Sign],
        admits: Callable[["Quotients", Polynomial], Polynomial],
        units: dict[Exponent, Fraction],
    ) -> None:
        self.effort, self.sign_of, self.admits, self.units = effort, sign_of, admits, units
        self.atoms: dict[Atom, int] = {}
        self.signs: list[Sign] = []
        self.factors: list[Polynomial] = []
        self._tops = 0
        """A mask of each exponent's highest bit, which no exponent has: powers stay below 2^30."""

    def number(self, value: Fraction) -> Quotient:
        return Quotient({0: value.numerator} if value else {}, value.denominator, ())

    def symbol(self, node: Node) -> Quotient:
        return self.of_atom(self.place_of(("symbol", node.name), self.sign_of(node.name)))

    @staticmethod
    def of_atom(place: int) -> Quotient:
        """Return the atom at a place."""
        return Quotient({1 << _WIDTH * place: 1}, 1, ())

    @staticmethod
    def power_of(monomial: int, place: int) -> int:
        """Return the exponent of the atom at a place in a monomial."""
        return monomial >> _WIDTH * place & _FIELD

    def place_of(self, key: Atom, sign: Sign) -> int:
        """Return the place of an atom; a new atom gets a place and the sign."""
        if key not in self.atoms:
            if len(self.atoms) >= MOST_ATOMS:
                raise TooLarge("symbols and exponentials of a polynomial", MOST_ATOMS)
            self._tops |= 1 << _WIDTH * len(self.atoms) + _WIDTH - 1
            self.atoms[key] = len(self.atoms)
            self.signs.append(sign)
        return self.atoms[key]

    def is_zero(self, value: Quotient) -> bool:
        return not value.numerator

    def plus(self, left: Quotient, right: Quotient) -> Quotient:
        if not (left.numerator and right.numerator):
            return left if left.numerator else right
        mine, other = dict(left.factors), dict(right.factors)
        common = {f: max(mine.get(f, 0), other.get(f, 0)) for f in mine | other}
        self._fits(left.number.bit_length() + right.number.bit_length())
        number = lcm(left.number, right.number)
        total: Polynomial = {}
        for value, powers in ((left, mine), (right, other)):
            part = value.numerator
            for factor, power in common.items():
                for _ in range(power - powers.get(factor, 0)):
                    part = self._product(part, self.factors[factor])
            scale = number // value.number
            bits = self._bits(part) + scale.bit_length()
            self._fits(bits)
            self.effort.spend(3 + len(part) * (0.2 + self._wide + (bits / 2000) ** 2))
            self._made(len(part), bits)
            for key, coefficient in part.items():
                total[key] = total.get(key, 0) + scale * coefficient
        return self._reduced({k: c for k, c in total.items() if c}, number, common)

    def times(self, left: Quotient, right: Quotient) -> Quotient:
        powers = dict(left.factors)
        for factor, power in right.factors:
            powers[factor] = powers.get(factor, 0) + power
        self._fits(left.number.bit_length() + right.number.bit_length())
        return self._reduced(self._product(left.numerator, right.numerator), left.number * right.number, powers)

    def whole_power(self, value: Quotient, power: int) -> Quotient:
        result = self.number(Fraction(1))
        if power > LARGEST_POWER:
            raise TooLarge("in an exponent", LARGEST_POWER)
        for digit in bin(power)[2:]:
            result = self.times(result, result)
            result = self.times(result, value) if digit == "1" else result
        return result

    def real_power(self, base: Quotient, power: Quotient | Fraction) -> Quotient:
        raise Rejected("a power that is not an integer: not a rational function")

    def log(self, value: Quotient) -> Quotient:
        raise Rejected("a logarithm: not a rational function")

    def exp(self, value: Quotient) -> Quotient:
        """Return exp(Σ r_i g_i) as a product of powers of atoms exp(u_i g_i), positive where g_i is real.

        All factors r_i of g_i so far are multiples of the unit u_i, which is the inverse of an integer unless the first
        numerator is large.
        """
        result = self.number(Fraction(1))
        divisors = [key for factor, _ in value.factors for key in self.factors[factor]]
        self.effort.spend((len(value.numerator) + len(divisors)) * len(self.signs) * (0.3 + self._wide))
        below = set[int]().union(*map(self.inside, divisors))
        for mono, coefficient in sorted(value.numerator.items()):
            key: Exponent = ("exp", mono, value.factors)
            share = Fraction(coefficient, value.number)
            small = abs(share.numerator) <= _SMALL_POWER
            unit = self.units.setdefault(key, Fraction(1, share.denominator) if small else abs(share))
            if (share / unit).denominator > 1:
                above = gcd(unit.numerator * share.denominator, share.numerator * unit.denominator)
                self.units[key] = Fraction(above, unit.denominator * share.denominator)
                raise FinerUnit
            sign: Sign = "positive" if all(self.signs[i] for i in below.union(self.inside(mono))) else "nonzero"
            atom = self.of_atom(self.place_of(key, sign))
            power = int(share / unit)
            raised = self.whole_power(atom, abs(power))
            result = self.times(result, raised if power > 0 else self.inverse(raised))
        return result

    def inverse(self, value: Quotient) -> Quotient:
        """Return 1/value, with the numerator split into admitted factors. Raises Rejected for any other factor."""
        if not value.numerator:
            raise Rejected("there is a division by zero")
        content = gcd(*value.numerator.values())
        rest, powers = self.split({k: c // content for k, c in value.numerator.items()})
        top = {0: rest[0] * value.number}
        for factor, power in value.factors:
            for _ in range(power):
                top = self._product(top, self.factors[factor])
        return self._reduced(top, content, powers)

    def split(self, polynomial: Polynomial) -> tuple[Polynomial, dict[int, int]]:
        """Return ±1 and the powers of the factors of a primitive polynomial; admitted new factors are noted."""
        powers: dict[int, int] = {}
        rest = polynomial
        self.effort.spend(0.1 * len(rest) * (1 + self._wide) * (len(self.signs) + len(self.factors)))
        for place in range(len(self.factors)):
            while len(rest) > 1 or 0 not in rest:
                quotient = self._divided(rest, self.factors[place])
                if quotient is None:
                    break
                rest, powers[place] = quotient, powers.get(place, 0) + 1
        for atom, sign in enumerate(self.signs):
            power = min(self.power_of(key, atom) for key in rest)
            if power and sign in ("positive", "nonzero"):
                rest = {key - (power << _WIDTH * atom): c for key, c in rest.items()}
                powers[self._place({1 << _WIDTH * atom: 1})] = power
        if set(rest) == {0}:
            return rest, powers
        admitted = self.admits(self, rest)
        powers[self._place(admitted)] = 1
        return {0: 1 if admitted == rest else -1}, powers

    def _place(self, factor: Polynomial) -> int:
        if factor in self.factors:
            return self.factors.index(factor)
        self.factors.append(factor)
        return len(self.factors) - 1

    def primitive(self, polynomial: Polynomial) -> Polynomial:
        """Return a polynomial divided by the greatest common divisor of its coefficients."""
        content = gcd(*polynomial.values())
        return {key: c // content for key, c in polynomial.items()}

    def _reduced(self, numerator: Polynomial, number: int, powers: Mapping[int, int]) -> Quotient:
        if not numerator:
            return Quotient({}, 1, ())
        # This is the cost of the greatest common divisor of all coefficients.
        self.effort.spend(3 + len(numerator) * (0.1 + (self._bits(numerator) / 2000) ** 2))
        kept: list[tuple[int, int]] = []
        for factor, power in sorted(powers.items()):
            left = power
            while left and (quotient := self._divided(numerator, self.factors[factor])) is not None:
                numerator, left = quotient, left - 1
            if left:
                kept.append((factor, left))
        common = gcd(number, *numerator.values())
        if common > 1:
            numerator = {key: c // common for key, c in numerator.items()}
        return Quotient(numerator, number // common, tuple(kept))

    def _product(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if len(left) > len(right):
            left, right = right, left
        if not left:
            return {}
        bits = max(self._bits(left), self._bits(right))
        self._fits(2 * bits)
        # Large tables do not fit in a processor's cache.
        pairs, slow = len(left) * len(right), 1 if len(right) < _CACHED else 4
        self.effort.spend(3 + pairs * slow * (0.2 + self._wide + (bits / 1200) ** 2))
        result: Polynomial = {}
        for key, a in left.items():
            before = len(result)
            if before + len(right) > MOST_TERMS:
                raise TooLarge("terms of a polynomial", MOST_TERMS)
            self.effort.fit(len(right) * self._entry(2 * bits))
            for other, b in right.items():
                result[key + other] = result.get(key + other, 0) + a * b
            self._made(len(result) - before, 2 * bits)
        top = self._tops >> 1
        if any(key & top for key in result):
            raise TooLarge("in an exponent", 2**30)
        return {key: c for key, c in result.items() if c}

    @property
    def _wide(self) -> float:
        """Nominal microseconds for a term's key, which has 32 bits for each atom."""
        return 0.02 * len(self.signs)

    @staticmethod
    def _bits(polynomial: Polynomial) -> int:
        """Return the bits of the largest coefficient."""
        return max(map(int.bit_length, polynomial.values()), default=0)

    @staticmethod
    def _fits(bits: int) -> None:
        if bits > _MOST_BITS:
            raise TooLarge("bits of a coefficient", _MOST_BITS)

    def _entry(self, bits: int) -> float:
        """Return the bytes of a term whose coefficient has `bits` bits."""
        return _ENTRY + (_WIDTH * len(self.signs) + bits) / 7.5

    def _made(self, terms: int, bits: int) -> None:
        self.effort.make(terms * self._entry(bits))

    def _divided(self, polynomial: Polynomial, divisor: Polynomial) -> Polynomial | None:
        """Return the quotient if the division by a primitive polynomial is exact, else None.

        The division checks the quotient: the remainder, updated term by term, ends at 0.
        """
        if len(divisor) == 1:
            ((key, sign),) = divisor.items()
            tops = self._tops
            self.effort.spend(1 + len(polynomial) * (0.1 + self._wide))
            if sign not in (1, -1) or any((k | tops) - key & tops != tops for k in polynomial):
                return None
            return {k - key: sign * c for k, c in polynomial.items()}
        if self._filtered(polynomial, divisor):
            return None
        tops, lead, lowest = self._tops, max(divisor), min(divisor)
        if (min(polynomial) | tops) - lowest & tops != tops:
            return None
        self.effort.spend(3 + len(polynomial) * (0.5 + self._wide))
        self._made(len(polynomial), 0)
        longest = self._bits(divisor)
        rest, waiting = dict(polynomial), [-key for key in polynomial]
        heapify(waiting)
        quotient: Polynomial = {}
        while waiting:
            key = -heappop(waiting)
            if not (coefficient := rest.get(key)):
                continue
            if (key | tops) - lead & tops != tops or coefficient % divisor[lead]:
                return None
            shift, scale = key - lead, coefficient // divisor[lead]
            quotient[shift] = scale
            bits = scale.bit_length() + longest
            self._fits(bits)
            self.effort.spend(1 + len(divisor) * (0.5 + self._wide + (bits / 2000) ** 2))
            self._made(1 + len(divisor), bits)
            for other, c in divisor.items():
                place = other + shift
                if place not in rest:
                    heappush(waiting, -place)
                    rest[place] = 0
                rest[place] -= scale * c
        return quotient

    def _filtered(self, polynomial: Polynomial, divisor: Polynomial) -> bool:
        """Whether the values at a point show that the division is not exact."""
        value = abs(self._value(divisor, 0))
        return value > 1 and self._value(polynomial, value) != 0

    def _value(self, polynomial: Polynomial, modulus: int) -> int:
        """Return the value at a fixed point, modulo `modulus`; for modulus 0, the value, or 0 if it is too long."""
        total, longest = 0, max(modulus.bit_length(), _LONGEST_VALUE if not modulus else 0)
        one = 1 + len(self.signs) * (0.3 + self._wide + (longest / 2000) ** 2)
        self.effort.spend(len(polynomial) * (one + (self._bits(polynomial) / 2000) ** 2))
        for key, term in polynomial.items():
            bits = term.bit_length()
            for atom in self.inside(key):
                power, point = self.power_of(key, atom), 1009 + 7 * atom + 2 * atom * atom
                bits += power * point.bit_length()
                if not modulus and bits > _LONGEST_VALUE:
                    return 0
                term = term * pow(point, power, modulus) % modulus if modulus else term * point**power  # noqa: PLW2901
            total += term
        return total % modulus if modulus else total

    def inside(self, key: int) -> list[int]:
        """Return the places of the atoms in a monomial."""
        return [i for i in range(len(self.signs)) if self.power_of(key, i)]

    def is_signed(self) -> bool:
        """Whether no atom can be negative. Then no divisor can be negative if `admit_positive` admits the divisors."""
        return all(sign in ("positive", "nonnegative") for sign in self.signs)

    def one_sign(self, polynomial: Polynomial) -> int:
        """Return 1 or −1 if a polynomial is shown to have this sign everywhere, else 0.

        It is shown if all coefficients have one sign, no atom is negative, and one monomial is positive.
        """
        signs = {c > 0 for c in polynomial.values()}
        kinds = [{self.signs[i] for i in self.inside(key)} for key in polynomial]
        self.effort.spend(len(polynomial) * (1 + len(self.signs)))
        good = len(signs) == 1 and all(kind <= {"positive", "nonnegative"} for kind in kinds)
        return (1 if True in signs else -1) if good and any(kind <= {"positive"} for kind in kinds) else 0


def refuse(field: Quotients, polynomial: Polynomial) -> Polynomial:
    """Admit no new divisor: raise Rejected."""
    inside = set[int]().union(*map(field.inside, polynomial))
    names = [shown(key[1]) if key[0] == "symbol" else "exp" for key, i in field.atoms.items() if i in inside]
    raise Rejected(f"a division by a polynomial in {', '.join(names)} that no listed factor covers")


def admit_all(field: Quotients, polynomial: Polynomial) -> Polynomial:
    """Admit every divisor: for identities between functions that are known to be defined."""
    return polynomial


def admit_positive(field: Quotients, polynomial: Polynomial) -> Polynomial:
    """Admit a polynomial that is shown to have one sign; return it with sign 1. Raises Rejected for any other."""
    sign = field.one_sign(polynomial)
    if not sign:
        raise Rejected("a division by a polynomial that is not shown to have one sign")
    return {key: sign * c for key, c in polynomial.items()}
