"""The arithmetic of deductions: quotients of polynomials in atoms, which are symbols and functions, and their signs.

Its functions are exponentials, logarithms, roots u^(1/q), and powers, with 0⁰ = 1: u^(n − l) for an integer n with the
known least value l ≥ 0, and u^n for a product n of several integers ≥ 0. A base is split into factors u, each with its
own power. A power of a positive integer, such as 2^n, is an integer ≥ 1. Different atoms are treated as independent
variables. An expression is read only if it is shown to have a value: a divisor or its negative must be positive, a
logarithm's argument positive, and a root's argument ≥ 0. The sign of a polynomial is shown if the polynomial is a
multiple of a fact, or term by term from the signs of the atoms and from even powers. Every divisor is positive, so a
quotient has its numerator's sign.
"""

from collections.abc import Mapping
from copy import copy
from fractions import Fraction
from functools import partial, reduce
from math import ceil, floor, gcd

from ..given import Given, Parameter
from ..nodes import Bound, Name, Node, folded
from ..polynomials import Exponent, Polynomial, Quotient, Quotients, Sign
from ..reading import Rejected, TooLarge, shown
from .functions import FunctionAtoms

_PRIMES = [n for n in range(2, 100) if all(n % k for k in range(2, n))]
_SHOWN: tuple[Sign, ...] = ("real", "nonnegative", "positive")


def least(parameter: Parameter | None) -> int | None:
    """Return the least integer of a domain that is bounded from below."""
    if parameter is None or (parameter.minimum is None and parameter.above is None):
        return None
    return ceil(parameter.minimum) if parameter.minimum is not None else floor(parameter.above or 0) + 1


def _admitted(field: Quotients, polynomial: Polynomial) -> Polynomial:
    """Return the divisor or its negative, whichever is shown to be > 0. Raises Rejected if neither is."""
    assert isinstance(field, Atoms)
    for turned in (polynomial, {key: -c for key, c in polynomial.items()}):
        if field.is_shown(turned, strict=True):
            return turned
    raise Rejected("the sign of a divisor is not shown")


def _apart(key: frozenset[tuple[int, int]]) -> tuple[frozenset[tuple[int, int]], int]:
    """Return a polynomial's terms without the constant, and the constant."""
    constant = dict(key).get(0, 0)
    return key - {(0, constant)}, constant


def _may_divide(fact: frozenset[tuple[int, int]]) -> bool:
    """Whether a fact has several terms, or is like −x >= 0; a fact like x >= 0 is noted as the sign of an atom."""
    return len(fact) > 1 or any(key and c < 0 for key, c in fact)


def _sign(given: Given, name: Name) -> Sign:
    sign = given.sign_of(name)
    return sign if sign in ("positive", "nonnegative") else "real"


class Atoms(FunctionAtoms):
    """The field of such quotients in one scope; `known` maps the numerator of a fact to whether the fact is > 0."""

    def __init__(self, given: Given, units: dict[Exponent, Fraction]) -> None:
        super().__init__(given.effort, partial(_sign, given), _admitted, units)
        self.given = given
        self.known: dict[frozenset[tuple[int, int]], bool] = {}
        self.bounds: dict[frozenset[tuple[int, int]], tuple[int, bool]] = {}
        """A map from a fact's terms without its constant to the least constant of the facts with these terms, and to
        whether the fact with this constant is > 0."""
        self.zeros: set[frozenset[tuple[int, int]]] = set()
        self.logarithms: dict[int, Quotient] = {}
        self.roots: dict[int, tuple[Quotient, int]] = {}
        self.whole: dict[int, int] = {}
        self.defined: frozenset[Bound] = frozenset()

    def copied(self) -> "Atoms":
        """Return a field for an inner scope, with the same places of atoms and factors."""
        inner = copy(self)
        inner.atoms, inner.signs, inner.factors = dict(self.atoms), list(self.signs), list(self.factors)
        inner.known, inner.zeros, inner.whole = dict(self.known), set(self.zeros), dict(self.whole)
        inner.bounds = dict(self.bounds)
        inner.logarithms, inner.roots = dict(self.logarithms), dict(self.roots)
        self.effort.spend(5 + 0.1 * (len(self.atoms) + len(self.factors) + len(self.known)))
        return inner

    def symbol(self, node: Node) -> Quotient:
        """Return a symbol; note the least value of an integer's domain, or 0 if that is negative or there is none."""
        value = super().symbol(node)
        if node.name in self.given.integers:
            bound = least(self.given.parameters.get(str(node.name)))
            self.whole[self.atoms["symbol", node.name]] = max(0, bound or 0)
        return value

    def is_zero(self, value: Quotient) -> bool:
        """Whether a value is identically 0.

        The series of a limit drops leading coefficients that are identically 0. It divides by the first other one only
        if the sign of this coefficient is shown.
        """
        return not value.numerator

    def know(self, value: Quotient, *, strict: bool) -> None:
        """Note that a value is ≥ 0, or > 0, and so is its quotient by the positive atoms that divide all its terms."""
        if value.numerator:
            rest = value.numerator
            self.effort.spend(len(rest) * len(self.signs) * 0.1)
            for place, sign in enumerate(self.signs):
                if sign == "positive" and (power := min(self.power_of(key, place) for key in rest)):
                    shift = power * next(iter(self.of_atom(place).numerator))
                    rest = {key - shift: c for key, c in rest.items()}
            for polynomial in (value.numerator, rest)[: 2 if set(rest) - {0} else 1]:
                self._know(polynomial, strict=strict)

    def _know(self, polynomial: Polynomial, *, strict: bool) -> None:
        key = self._key(polynomial)
        self.known[key] = strict or self.known.get(key, False)
        rest, constant = _apart(key)
        bound = (constant, self.known[key])
        self.bounds[rest] = min(self.bounds.get(rest, bound), bound, key=lambda each: (each[0], not each[1]))
        for place, sign in enumerate(self.signs):
            if sign != "positive" and dict(key) == self.of_atom(place).numerator:
                self.signs[place] = "positive" if self.known[key] else "nonnegative"

    def know_zero(self, value: Quotient) -> None:
        """Note that a value is 0."""
        if value.numerator:
            self.zeros.add(self._key(value.numerator))

    def is_known_zero(self, value: Quotient) -> bool:
        """Whether a value is 0, identically or by a fact."""
        turned = {key: -c for key, c in value.numerator.items()}
        return not value.numerator or not self.zeros.isdisjoint(map(self._key, (value.numerator, turned)))

    def _key(self, polynomial: Polynomial) -> frozenset[tuple[int, int]]:
        self.effort.spend(3 + 0.3 * len(polynomial))
        return frozenset(self.primitive(polynomial).items())

    def at_least(self, polynomial: Polynomial, *, strict: bool) -> bool:
        """Whether a polynomial is shown to be ≥ 0, or > 0: as a multiple of a fact plus a constant, or term by term."""
        if not polynomial:
            return not strict
        rest, constant = _apart(self._key(polynomial))
        least_constant, positive = self.bounds.get(rest, (constant + 1, False))
        if constant > least_constant or (constant == least_constant and (positive or not strict)):
            return True
        self.effort.spend(len(polynomial) * (1 + len(self.signs)))
        positive = False
        for monomial, c in polynomial.items():
            signs = [(self.signs[i], self.power_of(monomial, i) % 2) for i in self.inside(monomial)]
            if c < 0 or ("real", 1) in signs:
                return False
            positive |= all(sign == "positive" for sign, _ in signs)
        return positive or not strict

    def ends(self, node: Node) -> tuple[Fraction, Fraction]:
        """Return a symbol's lower and upper bound by the facts. Raises Rejected if the facts do not give both."""
        (unit,) = self.symbol(node).numerator
        alone = [
            (dict(rest)[unit], end) for rest, (end, _) in self.bounds.items() if {key for key, _ in rest} == {unit}
        ]
        bits = sum(c.bit_length() + end.bit_length() for c, end in alone)
        self.effort.spend(1 + sum(map(len, self.bounds)) + (bits / 500) ** 2)
        low = [Fraction(-end, c) for c, end in alone if c > 0]
        low += [Fraction(0)] if self.signs[self.atoms["symbol", node.name]] != "real" else []
        high = [Fraction(-end, c) for c, end in alone if c < 0]
        if not (low and high):
            raise Rejected(f"{shown(node.name)} is not between two numbers, by the facts")
        return max(low), min(high)

    def is_positive(self, value: Quotient) -> bool:
        """Whether a value is shown to be > 0, as a product of positive factors."""
        if not value.numerator:
            return False
        try:
            return self.split(self.primitive(value.numerator))[0] == {0: 1}
        except TooLarge:
            raise
        except Rejected:
            return False

    def is_nonnegative(self, value: Quotient) -> bool:
        """Whether a value is shown to be ≥ 0."""
        return self.is_positive(value) or self.is_shown(value.numerator, strict=False)

    def is_shown(self, polynomial: Polynomial, *, strict: bool) -> bool:
        """Whether a polynomial is shown to be ≥ 0, or > 0, perhaps after division by facts that are ≥ 0, or > 0."""
        left: Polynomial | None = polynomial
        while left is not None:
            if self.at_least(left, strict=strict):
                return True
            primitive = self.primitive(left) if left else {}
            divisors = (fact for fact, positive in self.known.items() if positive or not strict)
            quotients = (self._divided(primitive, dict(fact)) for fact in divisors if primitive and _may_divide(fact))
            left = next((quotient for quotient in quotients if quotient is not None), None)
        return False

    def _function_of(self, kind: str, base: Quotient, more: int, *, needs: Sign = "real") -> int:
        """Return the place of the atom that stands for a function of a base.

        The atom has the sign that is shown for the base, unless it is a logarithm: a logarithm is positive if its
        argument is a number > 1, and of unknown sign otherwise. Raises Rejected if the base is not shown to have the
        sign `needs`.
        """
        good = self.is_positive(base)
        sign: Sign = "positive" if good else "nonnegative" if self.is_nonnegative(base) else "real"
        if _SHOWN.index(sign) < _SHOWN.index(needs):
            raise Rejected(f"the argument of a {kind} is not shown to be {needs}")
        if kind == "log":
            sign = (
                "positive"
                if set(base.numerator) == {0} and base.numerator[0] > base.number and not base.factors
                else "real"
            )
        return self.opaque(kind, [base], (more,), sign)

    def _reduced(self, numerator: Polynomial, number: int, powers: Mapping[int, int]) -> Quotient:
        """Return a reduced quotient in whose numerator u^(1/q) has only powers below q: u replaces its q-th power."""
        value = super()._reduced(numerator, number, powers)
        for place, (base, order) in self.roots.items():
            self.effort.spend(len(value.numerator))
            high = {key: c for key, c in value.numerator.items() if self.power_of(key, place) >= order}
            if high:
                shift = order * next(iter(self.of_atom(place).numerator))
                low = value._replace(numerator={key: c for key, c in value.numerator.items() if key not in high})
                rest = value._replace(numerator={key - shift: c for key, c in high.items()})
                value = self.plus(low, self.times(rest, base))
        return value

    def raised(self, value: Quotient, power: int) -> Quotient:
        """Return a value to an integer power, which may be negative."""
        raised = self.whole_power(value, abs(power))
        return raised if power >= 0 else self.inverse(raised)

    def log(self, value: Quotient) -> Quotient:
        """Return a logarithm: log(e^g u) is g + log u, log(c/u) is log c − log u, and log c a sum over prime factors.

        The logarithm of an integer from 2 on is positive. Raises Rejected if the argument is not shown to be positive.
        """
        if value == self.number(Fraction(1)):
            return self.number(Fraction(0))
        total, rest = self._exponent(value)
        if rest != value:
            return self.plus(total, self.log(rest))
        if parts := self._primes(value):
            return reduce(self.plus, (self.times(self.number(Fraction(k)), self.log(u)) for u, k in parts))
        if value.factors and set(value.numerator) == {0} and value.numerator[0] > 0:
            share = Fraction(value.numerator[0], value.number)
            return self.minus(
                self.log(self.number(share)), self.log(self.times(self.number(share), self.inverse(value)))
            )
        atom = self.of_atom(self._function_of("log", value, 1, needs="positive"))
        self.logarithms[next(iter(atom.numerator))] = value
        return atom

    def _primes(self, value: Quotient) -> list[tuple[Quotient, int]]:
        """Return factors of a positive number p/q, with powers: primes below 100, and the remaining factors of p and q.

        The list is empty for an integer that is such a factor itself, and for a value that is no positive number.
        """
        parts = dict[int, int]()
        if set(value.numerator) == {0} and value.numerator[0] > 0 and not value.factors:
            for number, sign in ((value.numerator[0], 1), (value.number, -1)):
                rest = number
                for prime in _PRIMES:
                    self.effort.spend(1 + rest.bit_length() / 1000)
                    while rest % prime == 0 and rest > prime:
                        self.effort.spend(1 + rest.bit_length() / 500)
                        rest, parts[prime] = rest // prime, parts.get(prime, 0) + sign
                if rest > 1:
                    parts[rest] = parts.get(rest, 0) + sign
        whole = len(parts) == 1 and 1 in parts.values()
        return [] if whole else [(self.number(Fraction(u)), k) for u, k in parts.items()]

    def _exponent(self, value: Quotient) -> tuple[Quotient, Quotient]:
        """Return g and u with value = exp(g) u; exp(g) has the exponentials that divide all terms, or are divisors."""
        keys = {place: key for key, place in self.atoms.items() if key[0] == "exp"}
        self.effort.spend(len(self.atoms) * (1 + len(value.numerator)))
        powers = {place: min((self.power_of(k, place) for k in value.numerator), default=0) for place in keys}
        for factor, power in value.factors:
            for place in self.inside(max(self.factors[factor])) if len(self.factors[factor]) == 1 else ():
                powers[place] = -power
        total, rest = self.number(Fraction(0)), value
        for place, power in powers.items():
            if power and place in keys:
                key = keys[place]
                share = power * self.units[key]
                total = self.plus(total, self._reduced({key[1]: share.numerator}, share.denominator, dict(key[2])))
                rest = self.times(rest, self.raised(self.of_atom(place), -power))
        return total, rest

    def exp(self, value: Quotient) -> Quotient:
        """Return exp of a sum: a product in which exp(k n log u), for an integer k and integers n ≥ 0, is u^(kn).

        The polynomial part of a quotient is split off: exp(n/(n + 1)) is e exp(−1/(n + 1)). For a fraction k alone,
        exp(k log u) is a power of a root.
        """
        result, parts = self.number(Fraction(1)), self._terms_apart(value)
        for part in parts:
            ((key, times),) = part.numerator.items()
            base, exponent = self._log_in(key)
            if base is not None and not part.factors and part.number == 1:
                factor = self.real_power(base, Quotient({exponent: times}, 1, ()))
            elif base is not None and not part.factors and not exponent:
                factor = self.real_power(base, Fraction(times, part.number))
            else:
                factor = super().exp(part)
            result = self.times(result, factor)
        return result

    def _terms_apart(self, value: Quotient) -> list[Quotient]:
        """Return reduced terms whose sum is a quotient: the terms of its polynomial part and of its rest.

        There is a polynomial part only if the divisor is a polynomial in one atom.
        """
        divisor: Polynomial = {0: 1}
        for factor, power in value.factors:
            for _ in range(power):
                divisor = self._product(divisor, self.factors[factor])
        left: Polynomial = dict(value.numerator)
        lead, number, over, parts = max(divisor), value.number, dict(value.factors), list[Quotient]()
        self.effort.spend(len(divisor) * (1 + 0.1 * len(self.signs)))
        divides = len(set[int]().union(*map(self.inside, divisor))) == 1
        while left:
            self.effort.spend(1 + 2 * len(left) + len(divisor))
            key = max(left)
            if not divides or (key | self._tops) - lead & self._tops != self._tops:
                parts.append(super()._reduced({key: left.pop(key)}, number, over))
                continue
            share = Fraction(left[key], divisor[lead])
            parts.append(super()._reduced({key - lead: share.numerator}, number * share.denominator, {}))
            number *= share.denominator
            self._fits(number.bit_length())
            left = {k: c * share.denominator for k, c in left.items()}
            for k, c in self._product(divisor, {key - lead: share.numerator}).items():
                left[k] = left.get(k, 0) - c
            left = {k: c for k, c in left.items() if c}
        return parts

    def _log_in(self, monomial: int) -> tuple[Quotient | None, int]:
        """Return u and n of a monomial n log u, for a product n of integers ≥ 0; None and 0 for any other monomial."""
        for place in self.inside(monomial):
            (atom,) = self.of_atom(place).numerator
            if atom in self.logarithms and self.is_count(monomial - atom):
                return self.logarithms[atom], monomial - atom
        return None, 0

    def real_power(self, base: Quotient, power: Quotient | Fraction) -> Quotient:
        """Return base^power for a fraction as power, for a power made of integers ≥ 0, or for a positive base."""
        if isinstance(power, Fraction):
            if not set(base.numerator) - {0} and not base.factors and base.numerator:
                number = folded(Fraction(base.numerator[0], base.number), power)
                if number is not None:
                    return self.number(number)
            root = self._function_of("root", base, power.denominator, needs="nonnegative")
            self.roots[root] = base, power.denominator
            return self.raised(self.of_atom(root), power.numerator)
        constant = self._constant(power)
        if constant is None:
            return self.exp(self.times(power, self.log(base)))
        if any(times < 0 for key, times in power.numerator.items() if key) and not self.is_positive(base):
            return self._of_difference(base, power)
        result = self.raised(base, constant)
        for key, times in sorted(power.numerator.items()):
            if key:
                result = self.times(result, self.raised(self._counted(base, key), times))
        return result

    def _counted(self, base: Quotient, key: int) -> Quotient:
        """Return base^(n − l), for the integer n that a monomial stands for and its least value l.

        Each factor u of the base gives an atom u^(n − l), but a factor exp(g) gives exp((n − l) g).
        """
        result, less = self.number(Fraction(1)), Fraction(-(self._least(key) or 0))
        for part, times in self.parts(base):
            exponent, rest = self._exponent(part)
            if rest == self.number(Fraction(1)):
                value = self.exp(self.times(exponent, self.plus(Quotient({key: 1}, 1, ()), self.number(less))))
            else:
                place = self._function_of("power", part, key)
                value = self.of_atom(place)
                if part.number == 1 and set(part.numerator) == {0} and part.numerator[0] > 0:
                    # A power of a positive integer is a positive integer.
                    self.whole[place] = 1
            result = self.times(result, self.raised(value, times))
        return result

    def parts(self, base: Quotient) -> list[tuple[Quotient, int]]:
        """Return factors of a quotient and their powers: content, atoms, the rest of the numerator, divisors."""
        if not base.numerator:
            return [(base, 1)]
        content, one = gcd(*base.numerator.values()), self.number(Fraction(1))
        self.effort.spend(len(base.numerator) * (1 + len(self.signs)))
        low = [min(self.power_of(key, i) for key in base.numerator) for i in range(len(self.signs))]
        shift = sum(power * next(iter(self.of_atom(i).numerator)) for i, power in enumerate(low) if power)
        rest = Quotient({key - shift: c // content for key, c in base.numerator.items()}, 1, ())
        parts = [(self.number(Fraction(content)), 1), (self.number(Fraction(base.number)), -1), (rest, 1)]
        parts += [(self.of_atom(i), power) for i, power in enumerate(low) if power]
        parts += [(Quotient(self.factors[factor], 1, ()), -power) for factor, power in base.factors]
        return [(part, power) for part, power in parts if part != one]

    def _of_difference(self, base: Quotient, power: Quotient) -> Quotient:
        """Return u^(m + c) as u^m u^c, for an integer m that is shown to be ≥ 0, such as n − k; u^m is an atom."""
        part, more = self.apart(power)
        if more > 0 and not self._is_count(part):
            part, more = power, 0
        self._refuse_negative(part)
        sign: Sign = "nonnegative" if self.is_nonnegative(base) else "real"
        return self.times(self.raised(base, more), self.of_atom(self.opaque("difference", [base, part], sign=sign)))

    def whole_exponent(self, base: Quotient, power: Quotient) -> Quotient:
        """Return base^power for an integer power ≥ 0. Raises Rejected for any other power."""
        if not self.is_whole(power):
            raise Rejected("an exponent is not shown to be an integer >= 0")
        return self.real_power(base, power)

    def is_whole(self, value: Quotient) -> bool:
        """Whether a value is an integer ≥ 0, by the least values of the integers in it."""
        constant = self._constant(value)
        return constant is not None and constant >= 0 and all(c > 0 for key, c in value.numerator.items() if key)

    def is_count(self, monomial: int) -> bool:
        """Whether a monomial is a product of integers ≥ 0."""
        return self._least(monomial) is not None

    def _constant(self, power: Quotient) -> int | None:
        """Return c + Σ c_i l_i for an exponent c + Σ c_i n_i with integers n_i ≥ l_i ≥ 0; None for any other."""
        leasts = {key: self._least(key) for key in power.numerator}
        if power.number > 1 or power.factors or None in leasts.values():
            return None
        return power.numerator.get(0, 0) + sum(c * (leasts[key] or 0) for key, c in power.numerator.items())

    def _least(self, monomial: int) -> int | None:
        """Return the least value of an integer ≥ 0, or 0 for a product of several; None for any other monomial."""
        inside = self.inside(monomial)
        self.effort.spend(len(self.signs))
        if any(i not in self.whole or self.signs[i] == "real" for i in inside):
            return None
        return sum(self.whole[i] for i in inside if monomial in self.of_atom(i).numerator)

    def refuse_negative(self, *values: Quotient) -> None:
        """Raise Rejected for values that are not shown to be ≥ 0."""
        if not all(map(self.is_nonnegative, values)):
            raise Rejected("a base is not shown to be >= 0")
