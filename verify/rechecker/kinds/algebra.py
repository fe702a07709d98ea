"""The kinds of proof about polynomials in matrices, and about polynomials p with the least ∫ p² dμ for a measure μ."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from ..fields import Exact, NotExact, evaluate
from ..forms import NATURAL, is_integral
from ..given import Given
from ..nodes import Name, Node, order
from ..polynomials import Quotients, refuse
from ..reading import (
    Data,
    Rejected,
    TooLarge,
    Unknown,
    bits_of,
    dot,
    entries,
    items,
    line,
    rational,
    rationals,
    shown,
    whole,
    work,
)
from ..registry import Checked
from .positivity import positive_in_scope

_MOST_MONOMIALS, _LONGEST_WORD, _LARGEST_MATRIX, _MOST_FACTORS, _HIGHEST_POWER = 10_000, 200, 50, 60, 100
_MONOMIAL, _TURNED, _PART, _MOST_BITS, _MOST_LETTERS = 400, 72, 300, 2**20, 1000
"""Bytes counted for a monomial without its letters, for each letter that is transposed, and for each list that is
searched for letters; most bits of a matrix entry; most letters of a clause."""

Scalar: TypeAlias = tuple[tuple[Name, int], ...]
"""A product of symbols: names with their exponents, sorted."""
Word: TypeAlias = tuple[tuple[str, bool], ...]
"""A product of matrices: letters (their names) in order, and whether each is transposed."""
Matrices: TypeAlias = Mapping[str, Sequence[Sequence[Fraction]]]
Sum: TypeAlias = dict[tuple[Scalar, Word], Fraction]
Length: TypeAlias = tuple[tuple[int, int], ...]
"""A number of rows or columns: a polynomial's terms."""
Shape: TypeAlias = tuple[Length, Length] | None
"""Rows and columns, None for a scalar."""
_ZERO: Data = ["Integer", "0"]
"""The number 0, which has any shape."""


class _Monomials:
    """A reader of a clause's expressions as sums of monomials: a number times scalars times matrices.

    `numbers` has the values of some scalars. If it is given, parameters have their values at the instance as well.
    """

    def __init__(self, given: Given, clause: dict[str, Data], numbers: Mapping[Name, Node] | None = None) -> None:
        self.given, self.shapes, self.numbers = given, dict[str, tuple[Length, Length]](), numbers
        self.hypotheses_used = False
        # The data are kept as long as this reader, so that a part's address identifies the part.
        self._lettered: dict[int, bool] = {}
        self.sizes, self._field = dict[str, list[Node]](), Quotients(given.effort, given.sign_of, refuse, {})
        if len(items(clause["shapes"], "clause.shapes")) > _MOST_LETTERS:
            raise TooLarge("letters", _MOST_LETTERS)
        for i, entry in enumerate(items(clause["shapes"], "clause.shapes")):
            letter, rows, columns = items(entry, f"clause.shapes[{i}]", 3)
            name = self._letter(letter)
            if name is None or any(name in known for known in (self.shapes, *given.introduced)):
                raise Rejected(f"clause.shapes[{i}]: {shown(letter)} is not a matrix symbol, or its name is taken")
            self.sizes[name] = [given.expression(length, f"clause.shapes[{i}]") for length in (rows, columns)]
            first, second = (self._length(node, f"clause.shapes[{i}]: {shown(name)}") for node in self.sizes[name])
            self.shapes[name] = first[0], second[0]
            self.hypotheses_used |= first[1] or second[1]

    def _length(self, node: Node, where: str) -> tuple[Length, bool]:
        """Return a number of rows or columns, as a polynomial's terms, and whether a hypothesis shows that it is ≥ 1.

        Raises Rejected unless the node is a polynomial with integer coefficients in integers, shown to be ≥ 1 in scope.
        """
        given = self.given
        if not is_integral(given.effort, node, given.integers):
            raise Rejected(f"{where}: its rows or columns are no polynomial with integer coefficients in integers")
        if not (positive := positive_in_scope(given, node)).holds:
            raise Rejected(f"{where}: its rows or columns are not shown to be at least 1 in scope")
        here = given.at_instance(node)
        if not here.free and here.number < 1:
            raise Rejected(f"{where}: at the instance its rows or columns are less than 1")
        (value,) = evaluate(given.terms, [node], self._field)
        return tuple(sorted(value.numerator.items())), positive.hypotheses_used

    @staticmethod
    def _letter(data: Data) -> str | None:
        if type(data) is not list or len(data) != 3 or data[0] != "Symbol" or data[2] != "noncommutative":
            return None
        return line(name, "a matrix") if type(name := data[1]) is str and name else None

    def sides(self, clause: dict[str, Data]) -> tuple[Sum, Sum]:
        """Return both sides. Raises Rejected if shapes of matrices do not fit, even in terms that cancel."""
        (left, shape), (right, other) = (self.read(clause[side], f"clause.{side}") for side in ("left", "right"))
        if shape != other and _ZERO not in (clause["left"], clause["right"]):
            raise Rejected("clause: an equality of matrices of different shapes")
        return left, right

    def read(self, data: Data, where: str) -> tuple[Sum, Shape]:
        """Return an expression as a sum of monomials, and its shape. Raises Rejected if it is no such sum."""
        name = self._letter(data)
        if name is not None:
            if name not in self.shapes:
                raise Rejected(f"{where}: the shape of {shown(name)} is not given")
            return {((), ((name, False),)): Fraction(1)}, self.shapes[name]
        if id(data) not in self._lettered:
            self._find_letters(data)
        if type(data) is not list or not self._lettered[id(data)]:
            return self._read_scalar(data, where), None
        head, *rest = data
        if head == "Case":
            return self._chosen(rest, where)
        if head == "transpose" and len(rest) == 1:
            return self._read_transpose(rest[0], where)
        if head == "Add" and rest:
            return self._read_sum(rest, where)
        if head == "Pow" and len(rest) == 2 and type(power := rest[1]) is list and power[:1] == ["Integer"]:
            return self._read_power(rest[0], power, where)
        if head != "Mul" or not rest:
            raise Rejected(f"{where}: {shown(head)} of matrices is outside what this program checks")
        return self._read_product(rest, where)

    def _read_scalar(self, data: Data, where: str) -> Sum:
        node = self.given.expression(data, where)
        if self.numbers is not None and not (node := self.given.at_instance(node, self.numbers)).free:
            node = self._number(node)
        return self._scalar(node)

    def _read_transpose(self, data: Data, where: str) -> tuple[Sum, Shape]:
        turned, shape = self.read(data, where)
        self.given.effort.spend(sum(5 + len(word) for _, word in turned))
        self.given.effort.make(sum(_MONOMIAL + _TURNED * len(word) for _, word in turned))
        total: Sum = {(s, tuple((a, not b) for a, b in reversed(w))): c for (s, w), c in turned.items()}
        return total, shape and (shape[1], shape[0])

    def _read_sum(self, terms: list[Data], where: str) -> tuple[Sum, Shape]:
        parts = [self.read(part, where) for part in terms]
        shapes = {shape for part, (_, shape) in zip(terms, parts, strict=True) if part != _ZERO}
        # A scalar c among square matrices stands for c times the identity.
        of_matrices = {shape for shape in shapes if shape}
        square = all(shape[0] == shape[1] for shape in of_matrices)
        if len(of_matrices) > 1 or (None in shapes and not square):
            raise Rejected(f"{where}: a sum of matrices of different shapes")
        return self._added([total for total, _ in parts]), next(iter(of_matrices), None)

    def _read_power(self, of: Data, exponent: list[Data], where: str) -> tuple[Sum, Shape]:
        times = rational(items(exponent, where, 2)[1], where)
        if not 1 <= times <= _HIGHEST_POWER:
            raise Rejected(f"{where}: a power of a matrix that is not from 1 to {_HIGHEST_POWER}")
        base, shape = self.read(of, where)
        if times > 1 and shape and shape[0] != shape[1]:
            raise Rejected(f"{where}: a product of matrices that do not fit")
        return self._power(base, int(times)), shape

    def _read_product(self, factors: list[Data], where: str) -> tuple[Sum, Shape]:
        total, shape = self.read(factors[0], where)
        for part in factors[1:]:
            factor, after = self.read(part, where)
            if shape and after and shape[1] != after[0]:
                raise Rejected(f"{where}: a product of matrices that do not fit")
            shape = (shape[0], after[1]) if shape and after else shape or after
            total = self._product(total, factor)
        return total, shape

    def _number(self, node: Node) -> Node:
        """Return a scalar's value. Raises Unknown if it is not rational."""
        try:
            return self.given.terms.number(self.given.number(node, None))
        except NotExact as error:
            raise Unknown(f"a scalar among matrices: {error}") from None

    def _find_letters(self, root: Data) -> None:
        """Note for some data, and for each part of the data, whether it contains a letter."""
        waiting = [(root, False)]
        while waiting:
            part, ready = waiting.pop()
            # Only lists contain letters.
            inner = [each for each in part if type(each) is list] if type(part) is list else []
            self.given.effort.spend(2 + 0.1 * len(inner))
            if ready:
                self._lettered[id(part)] = any(self._lettered[id(each)] for each in inner)
            elif self._letter(part) is not None:
                self._lettered[id(part)] = True
            else:
                self.given.effort.make(_PART)
                waiting.append((part, True))
                waiting.extend((each, False) for each in inner)

    def _chosen(self, rest: list[Data], where: str) -> tuple[Sum, Shape]:
        symbol = rest[0] if rest else None
        name = symbol[1] if type(symbol) is list and len(symbol) == 2 and symbol[0] == "Symbol" else None
        if type(name) is not str or name not in self.given.chosen:
            raise Rejected(f"{where}: a Case must begin with a parameter of kind word")
        if len(rest) != 1 + self.given.counts[name]:
            raise Rejected(f"{where}: a Case needs one expression for each word of {shown(name)}")
        choices = [self.read(choice, where) for choice in rest[1:]]
        shapes = {shape for part, (_, shape) in zip(rest[1:], choices, strict=True) if part != _ZERO}
        if len(shapes) > 1:
            raise Rejected(f"{where}: a Case of matrices of different shapes")
        return choices[self.given.chosen[name]][0], next(iter(shapes))

    def _scalar(self, root: Node) -> Sum:
        done: dict[Node, Sum] = {}
        for node in order(self.given.effort, [root]):
            done[node] = self._scalar_part(node, done)
        return done[root]

    def _scalar_part(self, node: Node, done: Mapping[Node, Sum]) -> Sum:
        match node.head:
            case "number":
                return {((), ()): node.number} if node.number else {}
            case "symbol":
                return {(((node.name, 1),), ()): Fraction(1)}
            case "Add":
                return self._added([done[part] for part in node.args])
            case "Mul":
                total: Sum = {((), ()): Fraction(1)}
                for part in node.args:
                    total = self._product(total, done[part])
                return total
            case "Pow" if node.args[1].head == "number" and node.args[1].number.denominator == 1:
                base, power = node.args[0], int(node.args[1].number)
                if power < 0 and base.head == "symbol" and self.given.sign_of(base.name) == "positive":
                    return {(((base.name, power),), ()): Fraction(1)}
                if 0 < power <= _HIGHEST_POWER:
                    return self._power(done[base], power)
            case _:
                pass
        why = f"must be a polynomial in symbols, with powers up to {_HIGHEST_POWER}"
        raise Rejected(f"a scalar among matrices {why}; only a positive symbol may have a negative power")

    def _added(self, parts: Sequence[Sum]) -> Sum:
        total: Sum = {}
        for part in parts:
            self.given.effort.spend(len(part))
            for key, coefficient in part.items():
                self.given.effort.spend(work(total.get(key, coefficient), coefficient))
                total[key] = total.get(key, Fraction(0)) + coefficient
        return {key: coefficient for key, coefficient in total.items() if coefficient}

    def _power(self, base: Sum, power: int) -> Sum:
        total = base
        for _ in range(power - 1):
            self.given.effort.spend(5)
            total = self._product(total, base)
        return total

    def _product(self, left: Sum, right: Sum) -> Sum:
        if len(left) * len(right) > _MOST_MONOMIALS:
            raise TooLarge("monomials of a product", _MOST_MONOMIALS)
        total: Sum = {}
        for (scalars, letters), coefficient in left.items():
            for (more, after), factor in right.items():
                size = len(scalars) + len(more) + len(letters) + len(after)
                self.given.effort.spend(5 + 0.5 * size + work(coefficient, factor))
                self.given.effort.make(_MONOMIAL + 16 * size + (bits_of(coefficient) + bits_of(factor)) / 4)
                exponents = dict(scalars)
                for name, power in more:
                    exponents[name] = exponents.get(name, 0) + power
                if len(letters) + len(after) > _LONGEST_WORD:
                    raise TooLarge("matrices of a product", _LONGEST_WORD)
                if any(abs(power) > _HIGHEST_POWER for power in exponents.values()):
                    raise TooLarge("in an exponent of a scalar", _HIGHEST_POWER)
                key = tuple(sorted(((s, p) for s, p in exponents.items() if p), key=repr)), (*letters, *after)
                product, before = coefficient * factor, total.get(key, Fraction(0))
                self.given.effort.spend(work(before, product))
                total[key] = before + product
        return {key: coefficient for key, coefficient in total.items() if coefficient}


def same_monomials(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`matrix_identity`, verified: expanded, both sides have the same monomials with the same coefficients."""
    return _compared(_Monomials(given, clause), clause, f"{where}: the two sides do not have the same monomials")


def same_monomials_here(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`matrix_identity`, verified: as in `same_monomials`, with the parameters' values at the instance."""
    why = f"{where}: the two sides do not have the same monomials at the instance"
    return _compared(_Monomials(given, clause, {}), clause, why)


def _compared(reader: _Monomials, clause: dict[str, Data], why: str) -> Checked:
    left, right = reader.sides(clause)
    if left != right:
        raise Rejected(why)
    return Checked(True, reader.hypotheses_used)


def matrices(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`matrix_identity`, refuted: at matrices of the instance's sizes the two sides differ in an entry."""
    scalars = entries(proof["scalars"], f"{where}.scalars", "", given.variables)
    values: dict[Name, Fraction] = {**given.values}
    for name, text in scalars.items():
        values[name] = rational(text, f"{where}.scalars.{name}")
        given.keeps_assumptions(name, values[name], f"{where}.scalars.{name}")
    reader = _Monomials(given, clause, {name: given.terms.number(values[name]) for name in scalars})
    stated = entries(proof["matrices"], f"{where}.matrices", "", reader.shapes)
    if missing := sorted(set(reader.shapes) - set(stated)):
        raise Rejected(f"{where}.matrices.{missing[0]}: missing")
    assigned = dict[str, list[list[Fraction]]]()
    for name, sizes in reader.sizes.items():
        place = f"{where}.matrices.{name}"
        rows, columns = (given.number(size, None) for size in sizes)
        if not (1 <= rows <= _LARGEST_MATRIX and 1 <= columns <= _LARGEST_MATRIX):
            raise Rejected(f"{place}: has a side that is not between 1 and {_LARGEST_MATRIX}")
        listed = items(stated[name], place, rows)
        assigned[name] = [rationals(row, f"{place}[{i}]", columns) for i, row in enumerate(listed)]
    sides = reader.sides(clause)
    i, j = (whole(k, f"{where}.place", 0, _LARGEST_MATRIX - 1) for k in items(proof["place"], f"{where}.place", 2))
    difference = rational(proof["difference"], f"{where}.difference")
    left, right = (_entry(given, side, values, assigned, (i, j), f"{where}.place") for side in sides)
    if not difference or left - right != difference:
        raise Rejected(f"{where}.difference: is not left minus right at the place, or is 0")
    return Checked(False, hypotheses_used=False)


def _entry(
    given: Given, side: Sum, values: Mapping[Name, Fraction], assigned: Matrices, place: tuple[int, int], where: str
) -> Fraction:
    total = Fraction(0)
    for (scalars, letters), coefficient in side.items():
        factor = coefficient
        for name, power in scalars:
            if name not in values or (power < 0 and not values[name]):
                raise Rejected(f"{where}: {shown(name)} has no value there")
            given.effort.spend(abs(power) * work(factor, values[name]))
            factor *= values[name] ** power
        if not letters:
            # A multiple of the identity.
            given.effort.spend(work(total, factor))
            total += factor if place[0] == place[1] else 0
            continue
        factors = [list(zip(*assigned[name], strict=True)) if turned else assigned[name] for name, turned in letters]
        if place[0] >= len(factors[0]) or place[1] >= len(factors[-1][0]):
            raise Rejected(f"{where}: is outside the matrices")
        row: Sequence[Fraction] = factors[0][place[0]]
        for matrix in factors[1:]:
            longest = max(map(bits_of, row)) + max(bits_of(entry) for line in matrix for entry in line)
            if longest > _MOST_BITS:
                raise TooLarge("bits of an entry", _MOST_BITS)
            row = [dot(given.effort, row, column) for column in zip(*matrix, strict=True)]
        total = dot(given.effort, (Fraction(1), factor), (total, row[place[1]]))
    return total


def residual(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`residual`: the claim holds if p̃ is orthogonal to s, …, s^L and a minimum, if claimed, is ∫ p̃ dμ; else it fails.

    The proof states p̃(s) = p(scale · s), p as in the clause. This p̃ is ∏(1 − a_l s) at the claimed a_1, …, a_L. The
    moments are of a measure μ, and show ∫ s² r² dμ > 0 for every r ≠ 0 of degree below L. So among the polynomials q of
    degree at most L with q(0) = 1, at most one has the least ∫ q² dμ, namely one orthogonal to s, …, s^L. For it,
    ∫ q² dμ = ∫ q dμ, which is compared with a claimed minimum. If the claim holds, p̃ has L real roots, each in a stated
    interval.
    """
    index = given.new_name(clause["index"], "clause.index", NATURAL)

    def number(key: str) -> Fraction:
        return given.number(given.expression(clause[key], f"clause.{key}"), None)

    count, shift, scale = number("factors"), number("shift"), number("scale")
    if count.denominator != 1 or not 1 <= count <= _MOST_FACTORS or shift.denominator != 1 or not 0 <= shift <= 10:
        raise Rejected(f"{where}: factors are from 1 to {_MOST_FACTORS} and the shift from 0 to 10")
    count, shift = int(count), int(shift)
    moment = given.expression(clause["moment"], "clause.moment", [index])
    orders = range(2 * count + max(shift, 1))
    terms = [given.at_instance(moment, {index: given.terms.number(k)}) for k in orders]
    moments = evaluate(given.terms, terms, Exact(given.effort))
    polynomial = rationals(proof["polynomial"], f"{where}.polynomial")
    if not polynomial or polynomial[0] != 1 or len(polynomial) > count + 1 or not scale:
        raise Rejected(f"{where}.polynomial: is not 1 at 0, has too many terms, or the scale is 0")

    def integral(coefficients: Sequence[Fraction], order: int) -> Fraction:
        return dot(given.effort, coefficients, moments[order : order + len(coefficients)])

    plain = [c / scale**j for j, c in enumerate(polynomial)]
    if any(integral(plain, order) for order in range(shift, shift + count)):
        raise Rejected(f"{where}.polynomial: is not orthogonal as the clause says")
    _one_polynomial(given, moments, count, shift, where)
    intervals = items(proof["roots"], f"{where}.roots")
    other = "minimum" in clause and number("minimum") != integral(polynomial, 0)
    if other or any(integral(polynomial, order) for order in range(1, count + 1)):
        if intervals:
            raise Rejected(f"{where}.roots: must be empty: the claim fails")
        return Checked(False, hypotheses_used=False)
    _isolated(given, polynomial, intervals, count, f"{where}.roots")
    if "minimum" in proof and rational(proof["minimum"], f"{where}.minimum") != integral(polynomial, 0):
        raise Rejected(f"{where}.minimum: is not the least integral")
    return Checked(True, hypotheses_used=False)


def _one_polynomial(given: Given, moments: Sequence[Fraction], count: int, shift: int, where: str) -> None:
    """Check that the moments belong to a measure that determines the polynomial. Raises Rejected if they do not."""
    if not _regular(given, [[moments[j + k] for j in range(1, count + 1)] for k in range(shift, shift + count)]):
        raise Rejected(f"{where}: the clause does not determine the polynomial")
    if not _positive_definite(given, [[moments[i + j + 2] for j in range(count)] for i in range(count)]):
        raise Rejected(f"{where}: the moments are not those of a measure with enough points")
    of_a_measure(given, moments, where)


def of_a_measure(given: Given, moments: Sequence[Fraction], where: str) -> None:
    """Check that there is a measure on the line with the moments m_0, m_1, …. Raises Rejected if there is none.

    The orthogonal polynomials decide this. If all their mean squares are positive, there is a measure. If the
    polynomial of degree k is the first with mean square 0, its k roots are the only points that a measure can have. The
    polynomial must then be orthogonal to every power of s, up to the last moment.
    """
    before, current, last, k = list[Fraction](), [Fraction(1)], Fraction(1), 0

    def mean(polynomial: Sequence[Fraction], order: int) -> Fraction:
        return dot(given.effort, polynomial, moments[order : order + len(polynomial)])

    while 2 * k < len(moments):
        size = mean(current, k)
        if size < 0:
            raise Rejected(f"{where}: no measure has these moments: a square has a mean < 0")
        if not size:
            if any(mean(current, order) for order in range(len(moments) - k)):
                why = "a polynomial has mean square 0, and is not orthogonal to all powers"
                raise Rejected(f"{where}: no measure has these moments: {why}")
            return
        if 2 * k + 1 >= len(moments):
            return
        # p_(k+1) = (s − a) p_k − b p_(k−1), where ∫ s^k p_k dμ = ∫ p_k² dμ.
        given.effort.spend(work(size, last))
        beside = size / last
        along = dot(given.effort, (mean(current, k + 1), mean(before, k)), (1 / size, -1 / last))
        rows = zip([Fraction(0), *current], [*current, Fraction(0)], [*before, Fraction(0), Fraction(0)], strict=True)
        shifted = [dot(given.effort, (Fraction(1), -along, -beside), row) for row in rows]
        before, current, last, k = current, shifted, size, k + 1


def _isolated(given: Given, polynomial: Sequence[Fraction], intervals: list[Data], count: int, where: str) -> None:
    """Check that each of `count` disjoint intervals contains a real root other than 0."""

    def value(x: Fraction) -> Fraction:
        total = Fraction(0)
        for coefficient in reversed(polynomial):
            given.effort.spend(5 + work(total, x))
            total = total * x + coefficient
        return total

    if len(intervals) != count:
        raise Rejected(f"{where}: has {len(intervals)} intervals, not {count}")
    ends = [rationals(interval, f"{where}[{i}]", 2) for i, interval in enumerate(intervals)]
    for i, (low, high) in enumerate(ends):
        crosses = value(low) * value(high) < 0 if low < high else low == high and not value(low)
        if not crosses or low <= 0 <= high:
            raise Rejected(f"{where}[{i}]: is not shown to hold a root other than 0")
    if any(one[1] >= other[0] for one, other in pairwise(ends)):
        raise Rejected(f"{where}: intervals out of order, or that overlap")


def _positive_definite(given: Given, rows: list[list[Fraction]]) -> bool:
    return all(pivot > 0 for pivot in _pivots(given, rows, exchange=False))


def _regular(given: Given, rows: list[list[Fraction]]) -> bool:
    return all(_pivots(given, rows, exchange=True))


def _pivots(given: Given, rows: list[list[Fraction]], *, exchange: bool) -> list[Fraction]:
    """Return the pivots of Gaussian elimination, up to the first that is 0."""
    rows, pivots = [list(row) for row in rows], list[Fraction]()
    for k in range(len(rows)):
        if exchange:
            rows[k:] = sorted(rows[k:], key=lambda row: not row[k])
        pivots.append(rows[k][k])
        if not rows[k][k]:
            break
        for row in rows[k + 1 :]:
            ratio = row[k] / rows[k][k]
            for j in range(k, len(rows)):
                given.effort.spend(2 + work(ratio, rows[k][j]))
                row[j] -= ratio * rows[k][j]
    return pivots
