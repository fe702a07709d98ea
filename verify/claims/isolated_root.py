# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""A clause that isolates a root: some equations have exactly one common root in a box, by Krawczyk's test in balls.

With c the centre, X the box, Y an approximate inverse of the Jacobian at c and

    K(X) = c − Y f(c) + (I − Y J(X)) (X − c),

f has exactly one root in X if K(X) is in the interior of X, and none if K(X) and X are disjoint. A root is
real; if the symbol of an unknown has further assumptions, all points of the box must satisfy them. A critical
point is a root of the gradient.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import sympy as sp

from verify.claims.defaults import ClauseDefaults
from verify.claims.question import Question
from verify.errors import TheoremError
from verify.evaluation.arithmetic import FIRST_BITS, LAST_BITS, Ball, Float64, balls, enclosure_of_ball
from verify.evaluation.programs import Program, compile_program
from verify.evaluation.values import scan_values
from verify.language.expressions import to_data
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Enclosure
from verify.printing import text_of
from verify.provers.proof_data import box_proof, empty_box_proof

_NEWTON_STEPS, _NARROWINGS = 50, 6
_ASSUMED = ("real", "positive", "nonnegative", "nonzero")


@dataclass(frozen=True)
class IsolatedRoot(ClauseDefaults):
    """A clause: equations have exactly one common root with |x_i − centre_i| ≤ radius.

    Parameters
    ----------
    label
        The clause's name.
    equations
        Expressions that are 0 at the root.
    unknowns
        The symbols x_i.
    centre
        A value for each unknown.
    radius
        The half width of the box around the centre.
    says
        The clause in words.

    Raises
    ------
    TheoremError
        If the numbers of equations, unknowns and values of the centre differ, if the box depends on an unknown, and
        if an unknown has a forbidden assumption.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import IsolatedRoot
    >>> x = sp.Symbol("x", real=True)
    >>> IsolatedRoot("root_of_two", (x**2 - 2,), (x,), (sp.Rational(7, 5),), sp.Rational(1, 10)).label
    'root_of_two'
    """

    label: str
    equations: tuple[sp.Expr, ...]
    unknowns: tuple[sp.Symbol, ...]
    centre: tuple[sp.Expr, ...]
    radius: sp.Expr
    says: str = ""

    def __post_init__(self) -> None:
        if not self.unknowns or not len(self.equations) == len(self.unknowns) == len(self.centre):
            raise TheoremError(f"clause {self.label}: needs one equation and one centre for each unknown")
        for symbol in self.unknowns:
            if wrong := [a for a in to_data(symbol)[2:] if a not in _ASSUMED]:
                raise TheoremError(
                    f"clause {self.label}: the unknown {symbol} is assumed to be {wrong[0]}; a root is a real number, "
                    "at most assumed to be positive, nonnegative or nonzero"
                )
        names = {symbol.name for symbol in self.unknowns}
        for expression in (*self.centre, self.radius):
            if used := sorted(s.name for s in sp.sympify(expression).free_symbols if s.name in names):  # pyright: ignore[reportAttributeAccessIssue]
                raise TheoremError(f"clause {self.label}: {text_of(expression)} uses the unknown {used[0]}")

    def in_symbols(self) -> str:
        """Return the clause in symbols."""
        box = ", ".join(
            f"|{x} - ({text_of(c)})| <= {text_of(self.radius)}" for x, c in zip(self.unknowns, self.centre, strict=True)
        )
        return f"exactly one root of {', '.join(map(text_of, self.equations))} with {box}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the equations, the centre and the radius."""
        yield from map(sp.sympify, (*self.equations, *self.centre, self.radius))

    def bound_names(self) -> set[str]:
        """Return the names of the unknowns."""
        return {symbol.name for symbol in self.unknowns}

    def bound_domains(self, integers: Collection[str], positives: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the assumptions of each unknown: an evaluation checks that they hold at every point of the box."""
        return {symbol.name: _ASSUMED for symbol in self.unknowns}

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        lists = {"equations": self.equations, "unknowns": self.unknowns, "centre": self.centre}
        data = {name: [to_data(sp.sympify(item)) for item in items] for name, items in lists.items()}
        return {"kind": "root", "label": self.label, "says": self.says, "radius": to_data(self.radius)} | data

    def evaluate(self, question: Question) -> ClauseResult:
        """Apply Krawczyk's test with rising precision; report the root's coordinates as values."""
        expanded = tuple(question.statement.expand(equation) for equation in self.equations)
        centre, radius = [question.exact(c) for c in self.centre], question.exact(self.radius)
        bits, why = FIRST_BITS, "the radius is not positive"
        while radius > 0 and bits <= LAST_BITS:
            with balls(bits) as arithmetic:
                test = _Krawczyk(expanded, self.unknowns, question.instance, arithmetic)
                box = [flint.arb(arithmetic.number(c), arithmetic.number(radius)) for c in centre]
                image = test.image(box)
                reach = arithmetic.number(radius)
                away = [abs(k - arithmetic.number(c)) for k, c in zip(image or (), centre, strict=bool(image))]
                if wrong := [str(x) for x, c in zip(self.unknowns, centre, strict=True) if not _fits(x, c, radius)]:
                    # SymPy simplified the equation with the assumptions: it may be wrong where they do not hold.
                    return ClauseResult.undecided(
                        self, f"the box has points that the assumptions of {wrong[0]} exclude"
                    )
                if any(distance > reach for distance in away):
                    proof, why = empty_box_proof("no_root", bits), "no root in the box"
                    return ClauseResult.refuted(self, proof, detail=why, witness=dict(question.instance), bits=bits)
                if image is not None and all(distance < reach for distance in away):
                    values = {x.name: e for x, e in zip(self.unknowns, test.narrowed(image), strict=True)}
                    proof = box_proof("root", centre, radius, bits)
                    return ClauseResult.verified(self, proof, detail="Krawczyk's test", values=values, bits=bits)
            why = f"Krawczyk's test was undecided at {bits} bits"
            bits *= 2
        return ClauseResult.undecided(self, why)

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return 1 − distance/radius of the root that Newton's method finds from the centre; −1 if it finds none."""
        *centre, radius = scan_values((*map(sp.sympify, self.centre), sp.sympify(self.radius)), instance)
        equations = tuple(map(statement.expand, self.equations))
        fixed, values, slopes = _programs(equations, self.unknowns, frozenset(instance))
        numbers = [float(instance[symbol.name]) for symbol in fixed]
        value, slope = values.bind(Float64(), numbers), slopes.bind(Float64(), numbers)
        point, start = np.array(centre, float), np.array(centre, float)
        try:
            for _ in range(_NEWTON_STEPS):
                move = _newton_move(value, slope, point)
                point = point - move
                if np.abs(move).max() <= 1e-13 * (1 + np.abs(point).max()):
                    return 1 - float(np.abs(point - start).max()) / radius
        except np.linalg.LinAlgError:
            pass
        return -1.0


def _newton_move(value: Callable[..., Any], slope: Callable[..., Any], point: np.ndarray) -> np.ndarray:
    """Return the step of Newton's method from a point, with the opposite sign."""
    jacobian = np.array(slope(*map(float, point)), float).reshape(len(point), len(point))
    return np.linalg.solve(jacobian, np.array(value(*map(float, point)), float))


def _fits(symbol: sp.Symbol, centre: Fraction, radius: Fraction) -> bool:
    """Whether all values of an unknown in the box satisfy its symbol's assumptions."""
    low, high = centre - radius, centre + radius
    return (
        (not symbol.is_positive or low > 0)
        and (not symbol.is_nonnegative or low >= 0)
        and (not symbol.is_nonzero or low > 0 or high < 0)
    )


@cache
def _programs(
    equations: tuple[sp.Basic, ...], unknowns: tuple[sp.Symbol, ...], names: frozenset[str]
) -> tuple[list[sp.Symbol], Program, Program]:
    free: set[Any] = set().union(*(equation.free_symbols for equation in equations))
    fixed = sorted((s for s in free if s.name in names and s not in unknowns), key=str)
    jacobian = list(sp.Matrix(equations).jacobian(list(unknowns)))
    return fixed, compile_program(equations, unknowns, fixed), compile_program(jacobian, unknowns, fixed)


class _Krawczyk:
    """The equations and their Jacobian at an instance, in balls of one precision."""

    def __init__(
        self, equations: tuple[sp.Basic, ...], unknowns: tuple[sp.Symbol, ...], instance: Instance, arithmetic: Ball
    ) -> None:
        fixed, values, slopes = _programs(equations, unknowns, frozenset(instance))
        numbers = [arithmetic.number(instance[symbol.name]) for symbol in fixed]
        self._value, self._slope = values.bind(arithmetic, numbers), slopes.bind(arithmetic, numbers)
        self._size = len(unknowns)

    def image(self, box: list[flint.arb]) -> list[flint.arb] | None:
        """Return K(X), or None if the Jacobian at the centre has no inverse or an entry of K(X) is not finite."""
        size = self._size
        centre = [side.mid() for side in box]
        column = lambda entries: flint.arb_mat([[x] for x in entries])  # noqa: E731
        try:
            inverse = flint.arb_mat(size, size, list(self._slope(*centre))).inv().mid()
        except ZeroDivisionError:
            return None
        identity = flint.arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        spread = identity - inverse * flint.arb_mat(size, size, list(self._slope(*box)))
        moved = column(centre) - inverse * column(self._value(*centre)) + spread * (column(box) - column(centre))
        image = [moved[i, 0] for i in range(size)]
        return image if all(x.is_finite() for x in image) else None

    def narrowed(self, box: list[flint.arb]) -> list[Enclosure]:
        """Return enclosures of the root's coordinates: the box, narrowed by further images."""
        for _ in range(_NARROWINGS):
            image = self.image(box)
            if image is None or not all(side.contains(x) for side, x in zip(box, image, strict=True)):
                break
            box = image
        return [enclosure_of_ball(side) for side in box]
