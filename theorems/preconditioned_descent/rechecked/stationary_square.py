"""Proofs about critical points of ∫ r_L(θ, s)² dμ, r_L the end of a recursion: Krawczyk's test on the expanded square.

The recursion is carried out in polynomials over the rationals in all unknowns and s; in the square of its end each s^k
is replaced by the k-th moment. So the loss is one polynomial in the unknowns, exactly; those that do not occur in it
do not count. Its first and second derivatives are evaluated term by term in balls.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

from flint import arb, arb_mat, ctx, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from verify.rechecker.balls import ball, column, cost, inverse, listed
from verify.rechecker.reading import (
    Data,
    Rejected,
    TooLarge,
    Unknown,
    entries,
    items,
    rational,
    rationals,
    whole,
    work,
)
from verify.rechecker.registry import Checked

BITS, MOST_NAMES = (64, 8192), 16
_NATURAL = frozenset({"real", "rational", "integer", "nonnegative"})
"""The assumptions that the moment's index may have."""
_MOST_LAYERS, _MOST_DEGREE, _MOST_TERMS, _MOST_POWER = 30, 30, 20_000, 100
_MOST_COEFFICIENT, _TERM = 2**18, 1024
"""Bits of a coefficient, and of a term beside it."""

Powers: TypeAlias = tuple[int, ...]


class _Ring:
    """The field operations for polynomials over the rationals; `values` are those of the symbols and the state."""

    def __init__(self, given: Any, values: Mapping[str, fmpq_mpoly], one: fmpq_mpoly) -> None:
        self.effort, self.values, self.one = given.effort, values, one

    def number(self, value: Fraction) -> fmpq_mpoly:
        return self.one * fmpq(value.numerator, value.denominator)

    def symbol(self, node: Any) -> fmpq_mpoly:
        if node.name not in self.values:
            raise Rejected("a step uses a name that is not a state, an unknown or the variable")
        return self.values[node.name]

    def plus(self, left: fmpq_mpoly, right: fmpq_mpoly) -> fmpq_mpoly:
        bits = self._counted(left, right, len(left) + len(right))
        self.effort.spend(1 + (len(left) + len(right)) * (0.1 + (bits / 2000) ** 2))
        return left + right

    def times(self, left: fmpq_mpoly, right: fmpq_mpoly) -> fmpq_mpoly:
        pairs = len(left) * len(right)
        if pairs > _MOST_TERMS**2 / 100:
            raise TooLarge("products of terms", _MOST_TERMS**2 / 100)
        bits = self._counted(left, right, pairs)
        self.effort.spend(1 + pairs * (0.2 + (bits / 2000) ** 2))
        return left * right

    def _counted(self, left: fmpq_mpoly, right: fmpq_mpoly, terms: int) -> int:
        """Return the bits of the coefficients of a sum or a product, once there is room for so many terms."""
        bits = _bits(left) + _bits(right)
        if bits > _MOST_COEFFICIENT:
            raise TooLarge("bits of a coefficient", _MOST_COEFFICIENT)
        self.effort.fit(terms * (bits + _TERM) / 8)
        self.effort.make((len(left) + len(right)) * (bits + _TERM) / 8)
        return bits

    def inverse(self, *arguments: object) -> NoReturn:
        raise Rejected("a step that divides, or has a power that is no integer, or a function, is no polynomial")

    exp = log = real_power = primitive_value = inverse

    def is_zero(self, value: fmpq_mpoly) -> NoReturn:
        raise Unknown("a limit is outside what a step may have")

    def whole_power(self, value: fmpq_mpoly, power: int) -> fmpq_mpoly:
        if power > _MOST_POWER:
            raise TooLarge("in an exponent", _MOST_POWER)
        result = self.one
        for _ in range(power):
            result = self.times(result, value)
        return result


def _bits(polynomial: fmpq_mpoly) -> int:
    parts = (int(part).bit_length() for c in polynomial.coeffs() for part in (c.p, c.q))
    return max(parts, default=0)


class _Square:
    """The loss of a clause at the instance: a polynomial in the unknowns that count, and its derivatives."""

    def __init__(self, given: Any, clause: Mapping[str, Data], where: str) -> None:
        data = entries(clause["dynamics"], "clause.dynamics", "state initial step observable")
        state = [given.new_name(d, "clause.state") for d in items(data["state"], "clause.state")]
        unknowns = [given.new_name(d, "clause.unknowns") for d in items(clause["unknowns"], "clause.unknowns")]
        variable = given.new_name(clause["variable"], "clause.variable")
        index = given.new_name(clause["index"], "clause.index", _NATURAL)
        known = [*state, *unknowns, variable]
        if len({*known, index}) != len(known) + 1 or not state or not unknowns or len(known) > MOST_NAMES:
            raise Rejected(f"clause: needs at most {MOST_NAMES} names in all, each once")
        layers = given.number(given.expression(clause["layers"], "clause.layers"), None)
        if layers.denominator != 1 or not 1 <= layers <= _MOST_LAYERS:
            raise Rejected(f"clause.layers: is not an integer from 1 to {_MOST_LAYERS}")
        self.given, self.layers, self.each = given, int(layers), len(unknowns)
        initial = [given.read(d, "clause.initial") for d in items(data["initial"], "clause.initial", len(state))]
        step = [given.read(d, "clause.step", known) for d in items(data["step"], "clause.step", len(state))]
        end = given.read(data["observable"], "clause.observable", state)
        ring = fmpq_mpoly_ctx.get([f"t{i}" for i in range(self.each * self.layers)] + ["s"], "lex")
        *letters, s = ring.gens()
        one = ring.constant(1)
        start: list[Fraction] = [given.number(node, None) for node in initial]
        values = {name: one * fmpq(x.numerator, x.denominator) for name, x in zip(state, start, strict=True)}
        for layer in range(self.layers):
            own = {name: letters[i * self.layers + layer] for i, name in enumerate(unknowns)}
            field = _Ring(given, {**values, **own, variable: s}, one)
            # The degree in s cannot be read off before: it is bounded after each layer, so that none grows far.
            values = dict(zip(state, given.evaluated(step, field), strict=True))
            if max((len(value) for value in values.values()), default=0) > _MOST_TERMS:
                raise TooLarge("terms of the recursion's polynomials", _MOST_TERMS)
        field = _Ring(given, values, one)
        (last,) = given.evaluated([end], field)
        square = {tuple(map(int, powers)): c for powers, c in field.times(last, last).to_dict().items()}
        degree = max((powers[-1] for powers in square), default=0)
        if degree > 2 * _MOST_DEGREE:
            raise Rejected(f"the end of the recursion has a degree above {_MOST_DEGREE} in its variable")
        of_order = given.expression(clause["moment"], "clause.moment", [index])
        orders = (given.at_instance(of_order, {index: given.terms.number(k)}) for k in range(degree + 1))
        moments: list[Fraction] = [given.number(order, None) for order in orders]
        _of_a_measure(given, moments, where)
        loss: dict[Powers, Fraction] = {}
        for powers, c in square.items():
            factor, moment = Fraction(int(c.p), int(c.q)), moments[powers[-1]]
            given.effort.spend(2 + 3 * work(factor, moment))
            term = factor * moment
            loss[powers[:-1]] = loss.get(powers[:-1], Fraction(0)) + term
        self.counts = [i for i in range(len(letters)) if any(c and powers[i] for powers, c in loss.items())]
        self.loss = {tuple(powers[i] for i in self.counts): c for powers, c in loss.items() if c}
        if not self.counts:
            raise Rejected(f"{where}: the loss depends on no unknown")

    def values_on(self, box: Sequence[arb], bits: int) -> tuple[arb_mat, arb_mat]:
        """Return the gradient, a column, and the second derivatives on a box, at the bits in force.

        Raises Rejected where one is unbounded.
        """
        size = len(box)
        self.given.effort.spend(len(self.loss) * size * size * 3 * cost(bits))
        highest = max(max(powers) for powers in self.loss)
        self.given.effort.spend(size * highest * cost(bits))
        table = [[arb(1)] for _ in box]
        for column_, x in zip(table, box, strict=True):
            for _ in range(highest):
                column_.append(column_[-1] * x)
        slopes, second = [arb(0)] * size, [[arb(0)] * size for _ in box]
        for powers, coefficient in self.loss.items():
            c = ball(coefficient)
            for i in (i for i in range(size) if powers[i]):
                once = _lowered(powers, i)
                slopes[i] += c * powers[i] * _product(table, once)
                for j in (j for j in range(i + 1) if once[j]):
                    second[i][j] += c * powers[i] * once[j] * _product(table, _lowered(once, j))
        whole_ = [[second[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]
        if not all(x.is_finite() for row in [slopes, *whole_] for x in row):
            raise Rejected("the derivatives are unbounded on the box")
        return column(slopes), arb_mat(whole_)

    def near(self, clause: Mapping[str, Data]) -> tuple[list[Fraction], Fraction] | None:
        """Return centre and radius of the clause's box in the unknowns that count, None where it has none.

        Raises Rejected where the radius is not positive.
        """
        if "near" not in clause:
            return None
        count = self.each * self.layers
        near = items(clause["near"], "clause.near", count)
        centre = [self.given.number(self.given.expression(d, "clause.near"), None) for d in near]
        radius = self.given.number(self.given.expression(clause["radius"], "clause.radius"), None)
        if not radius > 0:
            raise Rejected("clause.radius: is not positive")
        return [centre[i] for i in self.counts], radius


def _of_a_measure(given: Any, moments: Sequence[Fraction], where: str) -> None:
    """See that there is a measure with some moments m_0 … m_2n and more than n points; Rejected else.

    This is so if and only if all pivots of the Hankel matrix (m_(i+j)) are positive.
    """
    size = (len(moments) + 1) // 2
    rows = [[moments[i + j] for j in range(size)] for i in range(size)]
    for k, row in enumerate(rows):
        if not row[k] > 0:
            raise Rejected(f"{where}: no measure of more than {k} points has these moments")
        for other in rows[k + 1 :]:
            given.effort.spend(5 + work(other[k], row[k]))
            ratio = other[k] / row[k]
            for j in range(k, size):
                given.effort.spend(5 + work(ratio, row[j]))
                product = ratio * row[j]
                given.effort.spend(work(other[j], product))
                other[j] -= product


def _lowered(powers: Powers, i: int) -> Powers:
    return (*powers[:i], powers[i] - 1, *powers[i + 1 :])


def _product(table: Sequence[Sequence[arb]], powers: Powers) -> arb:
    result = arb(1)
    for values, power in zip(table, powers, strict=True):
        if power:
            result = result * values[power]
    return result


def _form(clause: Mapping[str, Data]) -> bool:
    """Return whether a minimum is claimed; Rejected for a clause that is not of the form."""
    if type(minimum := clause["minimum"]) is not bool or ("near" in clause) != ("radius" in clause):
        raise Rejected("clause: minimum is true or false, and near and radius go together")
    return minimum


def stationary(given: Any, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`stationary`, verified: exactly one critical point in the stated box, which lies in the clause's, if any.

    With c the centre, H the second derivatives and Y about H(c)^{-1}: ‖I − Y H‖ < 1 on the box, and
    c − Y ∇f(c) + (I − Y H)(X − c) lies in it. Where a minimum is claimed H has positive pivots on the box.
    """
    minimum = _form(clause)
    square = _Square(given, clause, where)
    size = len(square.counts)
    bits = whole(proof["bits"], f"{where}.bits", *BITS)
    centre, radius = rationals(proof["centre"], f"{where}.centre", size), rational(proof["radius"], f"{where}.radius")
    if not radius > 0:
        raise Rejected(f"{where}.radius: is not positive")
    inside = square.near(clause)
    if inside and any(abs(x - y) + radius > inside[1] for x, y in zip(centre, inside[0], strict=True)):
        raise Rejected(f"{where}: the stated box is not inside the clause's box")
    with ctx.workprec(bits):
        start, reach = [ball(x) for x in centre], ball(radius)
        slopes, second = square.values_on(start, bits)
        _, wide = square.values_on([x + arb(0, reach) for x in start], bits)
        back = inverse(arb_mat([[second[i, j].mid() for j in range(size)] for i in range(size)]), where)
        rest = arb_mat([[arb(i == j) for j in range(size)] for i in range(size)]) - back * wide
        if not all(sum((abs(rest[i, j]) for j in range(size)), arb(0)) < 1 for i in range(size)):
            raise Rejected(f"{where}: two critical points in the stated box are not excluded")
        moved = rest * column([arb(0, reach)] * size) - back * slopes
        if not all(abs(x) <= reach for x in listed(moved)):
            raise Rejected(f"{where}: a critical point in the stated box is not shown")
        if minimum and not all(pivot > 0 for pivot in _pivots(wide)):
            raise Rejected(f"{where}: the second derivatives are not shown to be positive definite")
    return Checked(True, hypotheses_used=False)


def not_stationary(given: Any, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`stationary`, refuted: on the clause's box a slope is nowhere 0, or, of a minimum, a pivot or minor < 0."""
    minimum = _form(clause)
    square = _Square(given, clause, where)
    inside = square.near(clause)
    if inside is None:
        raise Rejected(f"{where}: the clause has no box")
    bits = whole(proof["bits"], f"{where}.bits", *BITS)
    with ctx.workprec(bits):
        middle, side = [ball(x) for x in inside[0]], arb(0, ball(inside[1]))
        slopes, _ = square.values_on(middle, bits)
        _, second = square.values_on([x + side for x in middle], bits)
        # A slope at x is that at the centre plus second derivatives in between times x − centre.
        if any(x > 0 or x < 0 for x in listed(slopes + second * column([side] * len(middle)))):
            return Checked(False, hypotheses_used=False)
        places = [(i, j) for i in range(len(middle)) for j in range(i)]
        minors = [second[i, i] * second[j, j] - second[i, j] * second[j, i] for i, j in places]
        if not minimum or not any(x < 0 for x in (*_pivots(second), *minors)):
            raise Rejected(f"{where}: nothing keeps such a point out of the clause's box")
    return Checked(False, hypotheses_used=False)


def _pivots(matrix: arb_mat) -> list[arb]:
    """Return the pivots of elimination, up to the first that may be 0."""
    size = matrix.nrows()
    rows, pivots = [[matrix[i, j] for j in range(size)] for i in range(size)], list[arb]()
    for k, row in enumerate(rows):
        pivots.append(row[k])
        if not (row[k] > 0 or row[k] < 0):
            break
        for other in rows[k + 1 :]:
            ratio = other[k] / row[k]
            for j in range(k, size):
                other[j] = other[j] - ratio * row[j]
    return pivots
