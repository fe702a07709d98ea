"""Proofs about roots: Krawczyk's test, in balls.

Let c be a point of a box X, and Y any matrix, in practice near the inverse of the Jacobian at c. All roots in X
are in K(X) = c − Y f(c) + (I − Y J(X)) (X − c). X contains at most one root if ‖I − Y J(X)‖ < 1, exactly one if
also K(X) ⊆ X, and none if K(X) and X are disjoint. Symbols that are assumed positive, nonnegative or nonzero must
be so on the whole box.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from flint import arb, arb_mat, ctx

from ..balls import ball, column, cost, inverse, listed
from ..fields import Balls, Exact, NotExact, evaluate
from ..given import Given
from ..reading import Data, Rejected, items, rational, rationals, whole
from ..registry import Checked
from .runs import BITS, MOST_STATES, Program

Number = TypeVar("Number", Fraction, arb)
_ASSUMED = {"real", "positive", "nonnegative", "nonzero"}


class _Equations:
    """The equations of a clause, with their values and slopes, and the clause's box, which is exact if rational."""

    def __init__(self, given: Given, clause: Mapping[str, Data], bits: int, where: str) -> None:
        terms = given.terms
        unknowns = [terms.expression(d, "clause.unknowns") for d in items(clause["unknowns"], "clause.unknowns")]
        size, names = len(unknowns), [node.name for node in unknowns if node.head == "symbol"]
        if not 0 < len(set(names) - {*given.parameters, *given.definitions, *given.variables}) == size <= MOST_STATES:
            raise Rejected(f"clause.unknowns: is not a list of at most {MOST_STATES} new symbols")
        if not all(_ASSUMED.issuperset(terms.assumptions[x]) for x in names):
            raise Rejected(f"clause.unknowns: are real, and at most {', '.join(sorted(_ASSUMED - {'real'}))}")
        equations = [
            given.read(d, "clause.equations", names) for d in items(clause["equations"], "clause.equations", size)
        ]
        box = [given.read(d, "clause.centre") for d in items(clause["centre"], "clause.centre", size)]
        box.append(given.read(clause["radius"], "clause.radius"))
        slopes = [terms.slope(equation, x) for equation in equations for x in names]
        self.assumed = [terms.assumptions[x] for x in names]
        # The centre of the box and, last, its radius.
        self.exact: list[Fraction] | None = None
        try:
            self.exact = evaluate(terms, box, Exact(given.effort))
            *self.centre, self.radius = map(ball, self.exact)
        except NotExact:
            *self.centre, self.radius = evaluate(terms, box, Balls(given.effort, bits))
        self.program, self.where = Program(given, [*equations, *slopes], unknowns, bits), where
        given.effort.spend(4 * (self.program.cost + 20 * size**3 * cost(bits)))
        self.identity = arb_mat([[arb(i == j) for j in range(size)] for i in range(size)])

    def values_on(self, box: Sequence[arb]) -> tuple[arb_mat, arb_mat]:
        """Return the equations' values, a column, and their Jacobian on a box. Raises Rejected if one is unbounded."""
        values, size = self.program(*box), len(box)
        if not all(x.is_finite() for x in values):
            raise Rejected(f"{self.where}: the equations are unbounded on the box")
        return column(values[:size]), arb_mat(size, size, values[size:])

    def contains(self, centre: Sequence[Fraction], radius: Fraction) -> bool:
        """Whether the clause's box contains another box; the comparison is exact if the box is rational."""
        if self.exact is not None:
            return all(abs(x - m) + radius <= self.exact[-1] for x, m in zip(centre, self.exact[:-1], strict=True))
        reach = ball(radius)
        return all(abs(ball(x) - m) + reach <= self.radius for x, m in zip(centre, self.centre, strict=True))

    def fits(self) -> bool:
        """Whether all points of the clause's box satisfy the assumptions of the unknowns."""
        if self.exact is not None:
            return _fits(self.exact, self.assumed)
        return _fits([*self.centre, self.radius], self.assumed)


def _fits(box: Sequence[Number], assumptions: Sequence[tuple[str, ...]]) -> bool:
    for x, assumed in zip(box[:-1], assumptions, strict=True):
        low, high = x - box[-1], x + box[-1]
        right = {"positive": low > 0, "nonnegative": low >= 0, "nonzero": low > 0 or high < 0}
        if not all(right.get(name, True) for name in assumed):
            return False
    return True


def root(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`root`, verified: by Krawczyk's test, a common root is in the stated box, and no other in the clause's box."""
    bits = whole(proof["bits"], f"{where}.bits", *BITS)
    with ctx.workprec(bits):
        equations = _Equations(given, clause, bits, where)
        size = len(equations.centre)
        centre = rationals(proof["centre"], f"{where}.centre", size)
        radius = rational(proof["radius"], f"{where}.radius")
        if radius < 0 or not equations.contains(centre, radius):
            raise Rejected(f"{where}: the stated box is not inside the clause's box")
        if not equations.fits():
            raise Rejected("clause.unknowns: the box has points that a symbol's assumptions exclude")
        start, side = [ball(x) for x in centre], arb(0, ball(radius))
        values, slopes = equations.values_on(start)
        back = inverse(_middle(slopes), where)
        wide = equations.identity - back * equations.values_on(_box(equations))[1]
        if not all(sum((abs(wide[i, j]) for j in range(size)), arb(0)) < 1 for i in range(size)):
            raise Rejected(f"{where}: two roots in the clause's box are not excluded")
        narrow = equations.identity - back * equations.values_on([x + side for x in start])[1]
        moved = narrow * column([side] * size) - back * values
        if not all(abs(x) <= ball(radius) for x in listed(moved)):
            raise Rejected(f"{where}: a root in the stated box is not shown")
    return Checked(True, hypotheses_used=False)


def no_root(given: Given, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`root`, refuted: the image K(X) of the clause's box X is disjoint from X."""
    bits = whole(proof["bits"], f"{where}.bits", *BITS)
    with ctx.workprec(bits):
        equations = _Equations(given, clause, bits, where)
        if not equations.fits():
            raise Rejected("clause.unknowns: the box has points that a symbol's assumptions exclude")
        box = _box(equations)
        start = [x.mid() for x in box]
        values, slopes = equations.values_on(start)
        back = inverse(_middle(slopes), where)
        spread = (equations.identity - back * equations.values_on(box)[1]) * (column(box) - column(start))
        image = listed(column(start) - back * values + spread)
        if not any(abs(x - m) > equations.radius for x, m in zip(image, equations.centre, strict=True)):
            raise Rejected(f"{where}: the clause's box is not shown to hold no root")
    return Checked(False, hypotheses_used=False)


def _box(equations: _Equations) -> list[arb]:
    return [arb(x, equations.radius) for x in equations.centre]


def _middle(matrix: arb_mat) -> arb_mat:
    size = matrix.nrows()
    return arb_mat([[matrix[i, j].mid() for j in range(size)] for i in range(size)])
