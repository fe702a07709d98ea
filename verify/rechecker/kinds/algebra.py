"""The kinds of proof about polynomials in matrices, and about polynomials of least square against a measure."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from ..fields import Exact, NotExact, evaluate
from ..given import Given
from ..nodes import Name, Node
from ..reading import Data, Rejected, Unknown, entries, items, rational, rationals, shown, whole, work

_MOST_MONOMIALS, _LONGEST_WORD, _LARGEST_MATRIX, _MOST_FACTORS, _HIGHEST_POWER = 10_000, 200, 50, 60, 100

Scalar: TypeAlias = tuple[tuple[Name, int], ...]
"""A product of symbols: names with their exponents, sorted."""
Word: TypeAlias = tuple[tuple[str, bool], ...]
"""Letters in order, and whether each is transposed."""
Matrices: TypeAlias = Mapping[str, Sequence[Sequence[Fraction]]]
Sum: TypeAlias = dict[tuple[Scalar, Word], Fraction]


class _Monomials:
    """Reads a clause's expressions as sums of monomials with products of scalars; `numbers` stand for some of them.

    Where they are given, the parameters have their values at the instance, too.
    """

    def __init__(self, given: Given, clause: dict[str, Data], numbers: Mapping[Name, Node] | None = None) -> None:
        self.given, self.shapes, self.numbers = given, dict[str, tuple[Data, Data]](), numbers
        for i, entry in enumerate(items(clause["shapes"], "clause.shapes")):
            letter, rows, columns = items(entry, f"clause.shapes[{i}]", 3)
            name = self._letter(letter)
            taken = (*self.shapes, *given.parameters, *given.variables, *given.definitions)
            if name is None or name in taken:
                raise Rejected(f"clause.shapes[{i}]: {shown(letter)} is no matrix that is new")
            for length in (rows, columns):
                given.expression(length, f"clause.shapes[{i}]")
            self.shapes[name] = rows, columns

    @staticmethod
    def _letter(data: Data) -> str | None:
        if type(data) is not list or len(data) != 3 or data[0] != "Symbol" or data[2] != "noncommutative":
            return None
        return name if type(name := data[1]) is str and name else None

    def side(self, data: Data, where: str) -> Sum:
        """Return one side, its monomials in shape. Raises Rejected where matrices do not fit together."""
        total = self.read(data, where)
        ends = set[str | None]()
        for _, letters in total:
            shapes = [self.shapes[name][::-1] if turned else self.shapes[name] for name, turned in letters]
            for (_, inner), (outer, _) in pairwise(shapes):
                if inner != outer:
                    raise Rejected(f"{where}: a product of matrices that do not fit")
            ends.add(repr((shapes[0][0], shapes[-1][1])) if shapes else None)
        if len(ends) > 1:
            raise Rejected(f"{where}: a sum of matrices of different shapes")
        return total

    def read(self, data: Data, where: str) -> Sum:
        """Return the sum of an expression's data. Raises Rejected where it is no such sum."""
        name = self._letter(data)
        if name is not None:
            if name not in self.shapes:
                raise Rejected(f"{where}: the shape of {shown(name)} is not given")
            return {((), ((name, False),)): Fraction(1)}
        if type(data) is not list or not self._has_letter(data):
            node = self.given.expression(data, where)
            if self.numbers is not None and not (node := self.given.at_instance(node, self.numbers)).free:
                node = self._number(node)
            return self._scalar(node)
        head, *rest = data
        if head == "Case":
            return self._chosen(rest, where)
        if head == "transpose" and len(rest) == 1:
            turned = self.read(rest[0], where)
            return {(s, tuple((a, not b) for a, b in reversed(w))): c for (s, w), c in turned.items()}
        if head == "Add" and rest:
            return self._added([self.read(part, where) for part in rest])
        if head == "Pow" and len(rest) == 2 and type(power := rest[1]) is list and power[:1] == ["Integer"]:
            times = rational(items(power, where, 2)[1], where)
            if not 1 <= times <= _HIGHEST_POWER:
                raise Rejected(f"{where}: a power of a matrix that is not from 1 to {_HIGHEST_POWER}")
            rest = [rest[0]] * int(times)
        elif head != "Mul" or not rest:
            raise Rejected(f"{where}: {shown(head)} of matrices is outside what this program checks")
        total = self.read(rest[0], where)
        for part in rest[1:]:
            total = self._product(total, self.read(part, where))
        return total

    def _number(self, node: Node) -> Node:
        """Return a scalar's value. Raises Unknown for one that is not rational."""
        try:
            return self.given.terms.number(self.given.number(node, None))
        except NotExact as error:
            raise Unknown(f"a scalar among matrices: {error}") from None

    def _has_letter(self, data: Data) -> bool:
        waiting = [data]
        while waiting:
            part = waiting.pop()
            if type(part) is list:
                if self._letter(part) is not None:
                    return True
                waiting.extend(part)
        return False

    def _chosen(self, rest: list[Data], where: str) -> Sum:
        symbol = rest[0] if rest else None
        name = symbol[1] if type(symbol) is list and len(symbol) == 2 and symbol[0] == "Symbol" else None
        if type(name) is not str or name not in self.given.chosen:
            raise Rejected(f"{where}: a Case without a word of the statement")
        if len(rest) != 1 + self.given.counts[name]:
            raise Rejected(f"{where}: a Case needs one expression for each word of {shown(name)}")
        choices = [self.read(choice, where) for choice in rest[1:]]
        return choices[self.given.chosen[name]]

    def _scalar(self, node: Node) -> Sum:
        match node.head:
            case "number":
                return {((), ()): node.number} if node.number else {}
            case "symbol":
                return {(((node.name, 1),), ()): Fraction(1)}
            case "Add":
                return self._added([self._scalar(part) for part in node.args])
            case "Mul":
                total: Sum = {((), ()): Fraction(1)}
                for part in node.args:
                    total = self._product(total, self._scalar(part))
                return total
            case "Pow" if node.args[1].head == "number" and node.args[1].number.denominator == 1:
                base, power = node.args[0], int(node.args[1].number)
                if power < 0 and base.head == "symbol" and self.given.sign_of(base.name) == "positive":
                    return {(((base.name, power),), ()): Fraction(1)}
                if 0 < power <= _HIGHEST_POWER:
                    total = {((), ()): Fraction(1)}
                    for _ in range(power):
                        total = self._product(total, self._scalar(base))
                    return total
            case _:
                pass
        raise Rejected("a scalar among matrices is no polynomial of symbols, nor divided by a positive one")

    def _added(self, parts: Sequence[Sum]) -> Sum:
        total: Sum = {}
        for part in parts:
            self.given.effort.spend(len(part))
            for key, coefficient in part.items():
                total[key] = total.get(key, Fraction(0)) + coefficient
        return {key: coefficient for key, coefficient in total.items() if coefficient}

    def _product(self, left: Sum, right: Sum) -> Sum:
        if len(left) * len(right) > _MOST_MONOMIALS:
            raise Rejected(f"a product of more than {_MOST_MONOMIALS} monomials")
        total: Sum = {}
        for (scalars, letters), coefficient in left.items():
            for (more, after), factor in right.items():
                size = len(scalars) + len(more) + len(letters) + len(after)
                self.given.effort.spend(5 + 0.5 * size + work(coefficient, factor))
                exponents = dict(scalars)
                for name, power in more:
                    exponents[name] = exponents.get(name, 0) + power
                if len(letters) + len(after) > _LONGEST_WORD:
                    raise Rejected(f"a product of more than {_LONGEST_WORD} matrices")
                if any(abs(power) > _HIGHEST_POWER for power in exponents.values()):
                    raise Rejected(f"a power of a scalar above {_HIGHEST_POWER}")
                key = tuple(sorted(((s, p) for s, p in exponents.items() if p), key=repr)), (*letters, *after)
                total[key] = total.get(key, Fraction(0)) + coefficient * factor
        return {key: coefficient for key, coefficient in total.items() if coefficient}


def same_monomials(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> None:
    """`matrix_identity`, verified: expanded, both sides have the same monomials with the same coefficients."""
    _compare(_Monomials(given, clause), clause, f"{where}: the two sides do not have the same monomials")


def same_monomials_here(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> None:
    """`matrix_identity`, verified: the same with the scalars' values at the instance."""
    why = f"{where}: the two sides do not have the same monomials at the instance"
    _compare(_Monomials(given, clause, {}), clause, why)


def _compare(reader: _Monomials, clause: dict[str, Data], why: str) -> None:
    if reader.side(clause["left"], "clause.left") != reader.side(clause["right"], "clause.right"):
        raise Rejected(why)


def matrices(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> None:
    """`matrix_identity`, refuted: at matrices of the instance's sizes the two sides differ at a place."""
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
    for name, shape in reader.shapes.items():
        place = f"{where}.matrices.{name}"
        rows, columns = (given.number(given.expression(side, place), None) for side in shape)
        if not (1 <= rows <= _LARGEST_MATRIX and 1 <= columns <= _LARGEST_MATRIX):
            raise Rejected(f"{place}: is to be of more than {_LARGEST_MATRIX} rows or columns, or of none")
        listed = items(stated[name], place, rows)
        assigned[name] = [rationals(row, f"{place}[{i}]", columns) for i, row in enumerate(listed)]
    sides = [reader.side(clause[side], f"clause.{side}") for side in ("left", "right")]
    i, j = (whole(k, f"{where}.place", 0, _LARGEST_MATRIX - 1) for k in items(proof["place"], f"{where}.place", 2))
    difference = rational(proof["difference"], f"{where}.difference")
    left, right = (_entry(given, side, values, assigned, (i, j), f"{where}.place") for side in sides)
    if not difference or left - right != difference:
        raise Rejected(f"{where}.difference: is not left minus right at the place, or is 0")


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
            raise Rejected(f"{where}: a scalar has no places")
        factors = [list(zip(*assigned[name], strict=True)) if turned else assigned[name] for name, turned in letters]
        if place[0] >= len(factors[0]) or place[1] >= len(factors[-1][0]):
            raise Rejected(f"{where}: is outside the matrices")
        row: Sequence[Fraction] = factors[0][place[0]]
        for matrix in factors[1:]:
            given.effort.spend(len(row) * len(matrix[0]))
            columns = zip(*matrix, strict=True)
            row = [sum((x * z for x, z in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        total += factor * row[place[1]]
    return total


def residual(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> bool:
    """`residual`: the stated p̃ is ∏(1 − a_l s) at the claimed a_l; orthogonal to s … s^L or not, which decides.

    The moments make ∫ s² r² dμ > 0 for every r ≠ 0 of degree below L, so that at most one p̃ of degree at most L with
    p̃(0) = 1 has the least square, the one that is orthogonal; this is ∫ p̃ dμ, which is held against a claimed
    minimum. Where all is as claimed p̃ has L real roots, each in its interval.
    """
    index = given.new_name(clause["index"], "clause.index")

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
        given.effort.spend(sum(5 + work(c, moments[j + order]) for j, c in enumerate(coefficients)))
        return sum((c * moments[j + order] for j, c in enumerate(coefficients)), Fraction(0))

    plain = [c / scale**j for j, c in enumerate(polynomial)]
    if any(integral(plain, order) for order in range(shift, shift + count)):
        raise Rejected(f"{where}.polynomial: is not orthogonal as the clause says")
    if not _regular(given, [[moments[j + k] for j in range(1, count + 1)] for k in range(shift, shift + count)]):
        raise Rejected(f"{where}: the clause does not determine the polynomial")
    if not _positive_definite(given, [[moments[i + j + 2] for j in range(count)] for i in range(count)]):
        raise Rejected(f"{where}: the moments are not those of a measure with enough points")
    of_a_measure(given, moments, where)
    intervals = items(proof["roots"], f"{where}.roots")
    other = "minimum" in clause and number("minimum") != integral(polynomial, 0)
    if other or any(integral(polynomial, order) for order in range(1, count + 1)):
        if intervals:
            raise Rejected(f"{where}.roots: are not asked for here")
        return False
    _isolated(given, polynomial, intervals, count, f"{where}.roots")
    if "minimum" in proof and rational(proof["minimum"], f"{where}.minimum") != integral(polynomial, 0):
        raise Rejected(f"{where}.minimum: is not the least integral")
    return True


def of_a_measure(given: Given, moments: Sequence[Fraction], where: str) -> None:
    """See that there is a measure on the line with some moments m_0, m_1, …; Rejected where there is none.

    By the orthogonal polynomials of s^k: with mean squares that are all positive there is one. Where one of degree k
    has the mean square 0, and none before, its k roots are all the points that a measure can have, so that it is
    orthogonal to every power: for each order up to the last moment.
    """
    before, current, beside, k = [Fraction(0)], [Fraction(1)], Fraction(0), 0

    def mean(polynomial: Sequence[Fraction], order: int) -> Fraction:
        given.effort.spend(sum(5 + work(c, moments[j + order]) for j, c in enumerate(polynomial)))
        return sum((c * moments[j + order] for j, c in enumerate(polynomial)), Fraction(0))

    last = Fraction(1)
    while 2 * k < len(moments):
        size = mean(current, k)
        if size < 0:
            raise Rejected(f"{where}: no measure has these moments: a square has a mean < 0")
        if not size:
            if any(mean(current, order) for order in range(len(moments) - k)):
                raise Rejected(f"{where}: no measure has these moments: a square has a mean of 0, and its root a mean")
            return
        if 2 * k + 1 >= len(moments):
            return
        # p_(k+1) = (s − a) p_k − b p_(k−1), where ∫ s^k p_k dμ = ∫ p_k² dμ.
        along = mean(current, k + 1) / size
        along -= mean(before, k) / last if k else 0
        beside = size / last if k else Fraction(0)
        shifted = [Fraction(0), *current]
        for j, c in enumerate(current):
            shifted[j] -= along * c
        for j, c in enumerate(before):
            shifted[j] -= beside * c
        before, current, last, k = current, shifted, size, k + 1


def _isolated(given: Given, polynomial: Sequence[Fraction], intervals: list[Data], count: int, where: str) -> None:
    """See that there are as many real roots as the degree can have, none of them 0, each in its interval."""

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
