# ruff: noqa: D102 -- the methods of a field are documented once, in `Field`
"""Proofs by intervals with exact endpoints: an observable that never increases on an invariant box.

Balls are too wide at the bounds of a box. With exact ends, 0·x is 0, and a comparison with an attained bound is
decided. Ends are binary numbers at the working precision, rounded outwards.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from ..balls import ball, cost, measured
from ..fields import Field, evaluate, value_of
from ..given import Given, with_units
from ..nodes import Name, Node, order
from ..polynomials import Exponent, Quotients, admit_all
from ..reading import Data, Effort, Rejected, TooLarge, entries, items, shown, string, whole
from ..registry import Checked
from ..terms import Terms
from .identities import cancelled
from .runs import BITS, Recursion

Interval: TypeAlias = tuple[arb, arb]
Coordinate: TypeAlias = tuple[Node, Node, str]
"""Lower bound, upper bound and chart."""
MOST_CUTS = 100_000


class Intervals(Field[Interval]):
    """The field of intervals; a value that is not finite, or not smooth on an interval, is refused."""

    def __init__(self, effort: Effort, bits: int) -> None:
        self.effort, self.cost = effort, 12 * cost(bits)

    def _kept(self, low: arb, high: arb, weight: float = 1) -> Interval:
        self.effort.spend(weight * self.cost)
        ends = low.lower(), high.upper()
        if not (ends[0].is_finite() and ends[1].is_finite()):
            raise Rejected("an interval is unbounded")
        return ends

    def number(self, value: Fraction) -> Interval:
        enclosed = ball(value)
        return self._kept(enclosed, enclosed)

    def plus(self, left: Interval, right: Interval) -> Interval:
        return self._kept(left[0] + right[0], left[1] + right[1], 0.4)

    def times(self, left: Interval, right: Interval) -> Interval:
        products = [a * b for a in left for b in right]
        low, high = products[0].lower(), products[0].upper()
        for product in products[1:]:
            low, high = min(low, product.lower()), max(high, product.upper())
        return self._kept(low, high)

    def inverse(self, value: Interval) -> Interval:
        if not (value[0] > 0 or value[1] < 0):
            raise Rejected("a division by an interval that contains 0")
        return self._kept(1 / value[1], 1 / value[0])

    def whole_power(self, value: Interval, power: int) -> Interval:
        low, high = measured(value[0] ** power), measured(value[1] ** power)
        if power % 2 or value[0] >= 0:
            return self._kept(low, high)
        if value[1] <= 0:
            return self._kept(high, low)
        return self._kept(arb(0), max(low.upper(), high.upper()))

    def real_power(self, base: Interval, power: Interval | Fraction) -> Interval:
        exponent = self.number(power) if isinstance(power, Fraction) else power
        if isinstance(power, Fraction) and power == Fraction(1, 2) and base[0] > 0:
            return self._kept(base[0].sqrt(), base[1].sqrt(), 2)
        return self.exp(self.times(exponent, self.log(base)))

    def exp(self, value: Interval) -> Interval:
        return self._kept(value[0].exp(), value[1].exp(), 5)

    def log(self, value: Interval) -> Interval:
        if not value[0] > 0:
            raise Rejected("a logarithm or a root of an interval that is not positive")
        return self._kept(value[0].log(), value[1].log(), 5)


class Box:
    """The conditions of the descent lemma, on parts of a box.

    The observable is L, and the step is z' = z − D ∇L(z) with D diagonal and positive. On a box (convex in
    z) that the step maps into itself and where Σ_ij D_i D_j (∂_ij L)² ≤ 4, Taylor's formula along the
    segment from z to z' gives L(z') ≤ L(z) − |D^½∇L|² (1 − ‖D^½ ∇²L D^½‖/2) ≤ L(z).

    A coordinate is a state z, or u = e^{−z}. In the second chart, L, its derivatives and all steps may
    contain z only inside exp(k z + …) with integers k, except that the step of z is a sum with the term
    z. Then u is a variable, u = 0 (z = ∞) is allowed, and z' = z + m gives u' = u e^{−m}. Bounds and
    metric depend on the parameters only. On each part, L, the steps and the Hessian must be finite, with
    no division by 0 and no root of 0.
    """

    def __init__(
        self, given: Given, dynamics: Recursion, metric: Sequence[Node], coordinates: Sequence[Coordinate], bits: int
    ) -> None:
        """Raise Rejected if a condition on the box as a whole, and not on its single parts, does not hold."""
        self.given, self.field = given, Intervals(given.effort, bits)
        terms, names = given.terms, dynamics.names
        far = [name for name, (_, _, chart) in zip(names, coordinates, strict=True) if chart == "exponential"]
        compact: dict[Name, Node] = {name: terms.symbol(("e^-", name)) for name in far}
        self.variables = [compact.get(name, state) for name, state in zip(names, dynamics.state, strict=True)]
        slopes = [terms.slope(dynamics.observable, name) for name in names]
        images, pairs = list[Node](), zip(names, dynamics.state, dynamics.step, metric, slopes, strict=True)
        for name, state, step, scale, slope in pairs:
            move = terms.minus(step, state)
            if not vanishes(given, terms.add((move, terms.mul((scale, slope))))):
                raise Rejected(f"the step of {shown(name)} is not the scaled gradient step of the observable")
            if name in compact:
                turned = terms.negative(_compact(terms, move, compact))
                images.append(terms.mul((compact[name], terms.exp(turned))))
            else:
                images.append(_compact(terms, step, compact))
        norm = _scaled_hessian(terms, names, slopes, metric, compact)
        self.outputs = [*images, norm, _compact(terms, dynamics.observable, compact)]
        self.outputs += [_compact(terms, s, compact) for s in slopes]
        ends = [end for low, high, _ in coordinates for end in (low, high)]
        starts = [
            terms.exp(terms.negative(z)) if name in compact else z
            for name, z in zip(names, dynamics.initial, strict=True)
        ]
        size = len(names)
        values = evaluate(terms, [*ends, *starts, *metric], self.field)
        self.whole = [(values[2 * i][1], values[2 * i + 1][0]) for i in range(size)]
        if not all(low <= high for low, high in self.whole):
            raise Rejected("the box is empty")
        if not all(_within(s, side) for s, side in zip(values[2 * size : 3 * size], self.whole, strict=True)):
            raise Rejected("the initial point is not in the box")
        if not all(low > 0 for low, _ in values[3 * size :]):
            raise Rejected("the metric is not positive")
        if not all(side[0] >= 0 for v, side in zip(self.variables, self.whole, strict=True) if v in compact.values()):
            raise Rejected("an exponential coordinate is negative")
        moving = 0
        for variable in self.variables:
            moving |= variable.free
        parts = order(given.effort, self.outputs)
        fixed = [n for n in parts if not n.free & moving]
        self.fixed: Mapping[Node, Interval] = dict(zip(fixed, evaluate(terms, fixed, self.field), strict=True))
        self.parts = [n for n in parts if n.free & moving and n not in self.variables]
        self.limit = arb(4)

    def refusal(self, part: Sequence[Interval]) -> str:
        """Return the reason why the conditions do not hold on a part of the box; "" if they hold."""
        values = {**self.fixed, **dict(zip(self.variables, part, strict=True))}
        try:
            for node in self.parts:
                values[node] = value_of(self.given.terms, node, self.field, values)
        except TooLarge:
            raise
        except Rejected as error:
            return str(error)
        *images, norm = (values[node] for node in self.outputs[: len(part) + 1])
        if not norm[1] <= self.limit:
            return "the scaled Hessian is not at most 2"
        kept = all(_within(image, side) for image, side in zip(images, self.whole, strict=True))
        return "" if kept else "the step is not shown to stay in the box"


def _scaled_hessian(
    terms: Terms, names: Sequence[Name], slopes: Sequence[Node], metric: Sequence[Node], compact: Mapping[Name, Node]
) -> Node:
    """Return Σ_ij D_i D_j (∂_ij L)² from the slopes of L; each pair (i, j) is computed once."""
    squares: list[Node] = []
    for i, slope in enumerate(slopes):
        for j, name in enumerate(names[: i + 1]):
            curve = _compact(terms, terms.slope(slope, name), compact)
            factors = (terms.number(1 if i == j else 2), metric[i], metric[j], terms.power(curve, 2))
            squares.append(terms.mul(factors))
    return terms.add(squares)


def _within(inner: Interval, outer: Interval) -> bool:
    return bool(outer[0] <= inner[0] and inner[1] <= outer[1])


def vanishes(given: Given, node: Node) -> bool:
    """Whether a node is shown to be 0 wherever it is defined."""
    (node,), _ = cancelled(given, [node])

    def zero(units: dict[Exponent, Fraction]) -> bool:
        field = Quotients(given.effort, given.sign_of, admit_all, units)
        return field.is_zero(evaluate(given.terms, [node], field)[0])

    return with_units(zero)


def _compact(terms: Terms, node: Node, compact: Mapping[Name, Node]) -> Node:
    """Return a node with exp(k z + rest) written as exp(rest) u^(−k), u = e^{−z}."""
    done: dict[Node, Node] = {}
    for part in order(terms.effort, [node]):
        args = [done[a] for a in part.args]
        if part.head == "exp":
            rest, powers = part.args[0], list[Node]()
            for name, u in compact.items():
                times = terms.slope(rest, name)
                if times.head != "number" or times.number.denominator != 1:
                    raise Rejected(f"{shown(name)} occurs in an exponential other than by an integer multiple")
                rest = terms.substitute(rest, {name: terms.zero})
                powers.append(terms.power(u, terms.number(-times.number)))
            # The rest has no state of this chart; other states stay unchanged.
            done[part] = terms.mul((terms.exp(rest), *powers))
        else:
            done[part] = terms.build(part.head, args) if args != list(part.args) else part
    if left := [name for name in terms.names(done[node].free) if name in compact]:
        raise Rejected(f"{shown(left[0])} occurs outside exponentials")
    return done[node]


def halves(part: Sequence[Interval], side: int) -> tuple[list[Interval], list[Interval]]:
    """Cut a part of a box at a side's midpoint, rounded. Raises Rejected if rounding moves it outside the side."""
    low, high = part[side]
    middle = ((low + high) / 2).mid()
    if not low <= middle <= high:
        raise Rejected("a side is too short to be cut at these bits")
    return [*part[:side], (low, middle), *part[side + 1 :]], [*part[:side], (middle, high), *part[side + 1 :]]


def read_box(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str, bits: int) -> Box:
    """Return the box of a descent proof at the working precision, after a check of its conditions as a whole.

    Raises Rejected if a condition does not hold.
    """
    recursion = Recursion(given, clause["dynamics"], where)
    size = len(recursion.state)
    metric = [given.read(d, f"{where}.metric") for d in items(proof["metric"], f"{where}.metric", size)]
    coordinates: list[Coordinate] = []
    for i, data in enumerate(items(proof["coordinates"], f"{where}.coordinates", size)):
        place = f"{where}.coordinates[{i}]"
        entry = entries(data, place, "lower upper chart")
        low, high = (given.read(entry[end], f"{place}.{end}") for end in ("lower", "upper"))
        coordinates.append((low, high, string(entry["chart"], f"{place}.chart", ("identity", "exponential"))))
    return Box(given, recursion, metric, coordinates, bits)


def descent(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`stays`, verified: `reached` ≤ `level`, and the observable never increases on a box, which `cuts` bisects.

    The cuts are in preorder: each is the index of the side that is cut, or −1 for a part on which the conditions hold.
    """
    bits = whole(proof["bits"], f"{where}.bits", *BITS)
    cuts = items(proof["cuts"], f"{where}.cuts")
    if len(cuts) > MOST_CUTS:
        raise TooLarge("cuts", MOST_CUTS, where)
    low, high = (given.expression(clause[name], f"clause.{name}") for name in ("reached", "level"))
    if not given.holds(given.terms.build("Le", (low, high)), where):
        raise Rejected(f"{where}: `reached` is above `level`")
    with ctx.workprec(bits):
        box = read_box(given, clause, proof, where, bits)
        waiting: list[Sequence[Interval]] = [box.whole]
        for i, cut in enumerate(cuts):
            if not waiting:
                raise Rejected(f"{where}.cuts: continues after the box is covered")
            part = waiting.pop()
            if (side := whole(cut, f"{where}.cuts[{i}]", -1, len(box.whole) - 1)) >= 0:
                waiting.extend(reversed(halves(part, side)))
            elif why := box.refusal(part):
                raise Rejected(f"{where}.cuts[{i}]: on this part {why}")
        if waiting:
            raise Rejected(f"{where}.cuts: ends before the box is covered")
    return Checked(True, hypotheses_used=False)
