# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
r"""A clause about critical points of f(θ) = ∫ r_L(θ, s)² dμ(s), r_L the end of a recursion with unknowns in each layer.

A recursion z' = step(z, θ_l, s), l = 0 … L − 1, has a few unknowns θ_l in each layer and ends in an observable
r_L(θ, s), polynomial in s; μ is a measure with moments m_k. The clause says that f has a critical point: a zero of its
gradient in all unknowns that f depends on. Such points are searched for in floats and certified in balls
(`critical_points`); a certified point verifies the clause. With `near` and `radius` the point has to lie in a box, and
with `minimum` its second derivatives have to be positive definite. Such a clause is refuted if in the box a slope is
nowhere 0 or, with `minimum`, the second derivatives are nowhere positive definite.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
import sympy as sp

from theorems.preconditioned_descent.stationary_square.critical_points import (
    CriticalPoint,
    certify,
    disjoint,
    newton,
    search,
)
from theorems.preconditioned_descent.stationary_square.elimination import all_found
from theorems.preconditioned_descent.stationary_square.second_derivatives import Composed, Values, gauss_rule
from verify.claims.defaults import ClauseDefaults
from verify.claims.least_residual import no_measure
from verify.claims.question import Question, exact_value
from verify.errors import InputError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import FIRST_BITS, LAST_BITS, Float64, balls, positive_definite
from verify.evaluation.programs import Program, compile_program
from verify.language.assumptions import NATURAL
from verify.language.clause_data import Dynamics
from verify.language.expressions import to_data
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import DIGITS, ClauseResult
from verify.printing import text_of
from verify.provers.proof_data import box_proof, empty_box_proof

MOST_DEGREE = 30
"""Maximum degree of r_L in s, and maximum number of layers; r_L² needs exact moments up to twice this order."""
_STARTS = {1: 64, 2: 128, 3: 1024, 4: 2048}
_MOST_STARTS = 4096
_CERTIFYING = 0.6
"""The share of the time after which the search ends, so that its points can be certified in the rest."""


@dataclass(frozen=True)
class StationarySquare(ClauseDefaults):
    """A clause: f(θ) = ∫ r_L(θ, s)² dμ has a critical point; if `near` is given, one with |θ_i − near_i| ≤ radius.

    Parameters
    ----------
    label
        Its name.
    layers
        L, an integer >= 1.
    recursion
        Its start, its step as an expression of state, unknowns and variable, and the observable r.
    unknowns, variable
        The unknowns of a layer, and s. The step is a polynomial in all of them.
    moment, index
        ∫ s^k dμ as an expression of the parameters and of the symbol `index`, which stands for k.
    near, radius
        The centre and the radius of the box. The centre has one value for each unknown: the values of the first unknown
        in all layers, then the values of the second, and so on. Values of unknowns without effect on f are ignored.
    minimum
        Whether the clause also claims that the second derivatives are positive definite at the point.
    says
        The clause in words.

    Raises
    ------
    TheoremError
        For a step or an observable that is not a polynomial, for a step that uses no unknown, for `near` without
        `radius` or `radius` without `near`, and for `minimum` without `near`.

    Examples
    --------
    >>> import verify
    >>> theorem = verify.load_theorem("ahn2023.theorem4")
    >>> any(isinstance(clause, StationarySquare) for clause in theorem.statement.clauses)
    True
    """

    label: str
    layers: sp.Expr
    recursion: Dynamics
    unknowns: tuple[sp.Symbol, ...]
    variable: sp.Symbol
    moment: sp.Expr
    index: sp.Symbol
    near: tuple[sp.Expr, ...] = ()
    radius: sp.Expr | None = None
    minimum: bool = False
    says: str = ""

    def __post_init__(self) -> None:
        taken = [*self.recursion.state, *self.unknowns, self.variable]
        for expression in (*self.recursion.step, self.recursion.observable):
            if not sp.sympify(expression).is_polynomial(*taken):
                raise TheoremError(
                    f"clause {self.label}: {text_of(expression)} is no polynomial in {', '.join(map(str, taken))}"
                )
        used = set().union(*(sp.sympify(step).free_symbols for step in self.recursion.step))
        if self.unknowns and used.isdisjoint(self.unknowns):
            names = ", ".join(map(str, self.unknowns))
            raise TheoremError(f"clause {self.label}: the step uses no unknown, none of {names}")
        if not self.unknowns or bool(self.near) != (self.radius is not None):
            raise TheoremError(f"clause {self.label}: needs an unknown, and a radius where it has near, and only there")
        if self.minimum and not self.near:
            # Without a box any critical point would verify the clause, and it need not be the claimed minimum.
            raise TheoremError(f"clause {self.label}: a minimum needs near, which says where it is claimed to be")

    def in_symbols(self) -> str:
        """Return the clause in words."""
        square, layers = f"({text_of(self.recursion.observable)})^2", text_of(self.layers)
        claimed = f"the integral of {square} after {layers} layers has a critical point"
        near = f" within {text_of(self.radius)} of {', '.join(map(text_of, self.near))}" if self.near else ""
        return claimed + near + (", with positive definite second derivatives" if self.minimum else "")

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the number of layers, the recursion, the moment and the box."""
        recursion = self.recursion
        box = () if self.radius is None else (*self.near, self.radius)
        parts = (self.layers, *recursion.initial, *recursion.step, recursion.observable, self.moment, *box)
        yield from map(sp.sympify, parts)

    def bound_names(self) -> set[str]:
        """Return the names of the state, the unknowns, the variable and the index."""
        return {symbol.name for symbol in (*self.recursion.state, *self.unknowns, self.variable, self.index)}

    def bound_domains(self, integers: Collection[str], positives: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the assumptions of the index, which is 0, 1, 2 and so on."""
        return {self.index.name: NATURAL}

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        one = {"layers": self.layers, "variable": self.variable, "moment": self.moment, "index": self.index}
        data: dict[str, object] = {name: to_data(sp.sympify(part)) for name, part in one.items()}
        data["unknowns"] = [to_data(symbol) for symbol in self.unknowns]
        if self.radius is not None:
            data |= {"near": [to_data(sp.sympify(x)) for x in self.near], "radius": to_data(sp.sympify(self.radius))}
        data |= {"minimum": self.minimum, "dynamics": self.recursion.to_data()}
        return {"kind": "stationary", "label": self.label, "says": self.text} | data

    def evaluate(self, question: Question) -> ClauseResult:
        """Search for critical points, in the box if there is one; report the certified points, the lowest f first.

        Raises InputError for more layers than exact moments admit.
        """
        problem = _Problem(self, question.statement, question.instance)
        return self._in_box(question, problem) if self.near else self._anywhere(question, problem)

    def _anywhere(self, question: Question, problem: "_Problem") -> ClauseResult:
        started = time.monotonic()
        until = started + _CERTIFYING * (question.budget.end - started)
        starts = _STARTS.get(len(problem.composed.places), _MOST_STARTS)
        seen, tried = search(problem.composed, problem.rule, starts, until)
        certified = (certify(problem.composed, problem.moments, x, DIGITS, question.budget.end) for x in seen)
        points = list(disjoint([point for point in certified if point is not None]))
        points.sort(key=lambda point: Fraction(point.loss.lower or 0))
        complete = all_found(problem.composed, problem.moments, points)
        shown = "which are all" if complete else "which are not shown to be all"
        detail = f"{len(points)} critical points isolated, {shown}; Newton's method from {tried} random starts"
        if tried < starts:
            detail += f" of {starts}: the time ran out"
        if lost := len(seen) - len(points):
            detail += f"; {lost} more in floats alone"
        listed = [self._listed(problem, self._sharpened(question, problem, point)) for point in points]
        values = {"critical_points": listed, "complete": complete}
        if not points:
            return ClauseResult.undecided(self, detail, values=values)
        return self._verified(points[0], detail, values)

    def _sharpened(self, question: Question, problem: "_Problem", point: CriticalPoint) -> CriticalPoint:
        """Return a point to the number of digits that are shown, if that is more than the DIGITS of the search."""
        if question.digits <= DIGITS:
            return point
        sharp = certify(problem.composed, problem.moments, point.centre, question.digits, question.budget.end)
        return sharp or point

    def _verified(self, point: CriticalPoint, detail: str, values: Mapping[str, object]) -> ClauseResult:
        proof = box_proof("stationary", point.centre, point.radius, point.bits)
        return ClauseResult.verified(self, proof, detail=detail, values=values, bits=point.bits)

    def _listed(self, problem: "_Problem", point: CriticalPoint) -> dict[str, object]:
        coordinates = dict(zip(problem.composed.places, point.coordinates(), strict=True))
        layers = range(problem.count)
        listed = {x.name: [coordinates.get((layer, i)) for layer in layers] for i, x in enumerate(self.unknowns)}
        return {**listed, "loss": point.loss, "local_minimum": point.minimum}

    def _in_box(self, question: Question, problem: "_Problem") -> ClauseResult:
        centre, radius = problem.box(self, question.exact)
        start = newton(problem.composed, problem.rule, list(map(float, centre)))
        candidates = [centre] if start is None else [start, centre]
        for candidate in candidates:
            point = certify(problem.composed, problem.moments, candidate, DIGITS, question.budget.end)
            if point is None or (self.minimum and not point.minimum):
                continue
            if all(abs(x - y) + point.radius <= radius for x, y in zip(point.centre, centre, strict=True)):
                shown = self._sharpened(question, problem, point)
                values = {"critical_points": [self._listed(problem, shown)], "complete": False}
                return self._verified(point, "one in the box", values)
        bits = FIRST_BITS
        while radius > 0 and bits <= LAST_BITS:
            why = self._excluded(problem.on_box(centre, radius, bits))
            if why:
                proof, witness = empty_box_proof("not_stationary", bits), dict(question.instance)
                return ClauseResult.refuted(self, proof, detail=why, witness=witness, bits=bits)
            bits *= 2
        return ClauseResult.undecided(self, "neither shown nor excluded")

    def _excluded(self, values: Values) -> str:
        """Return the reason that the box contains no such point; "" if it may contain one."""
        if any(slope > 0 or slope < 0 for slope in values.gradient):
            return "a slope is not 0 anywhere in the box"
        if self.minimum and positive_definite(values.second) is False:
            return "the second derivatives are nowhere in the box positive definite"
        return ""

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return 1 without a box, −1 if no point is found, and otherwise 1 − distance/radius.

        The distance is from the centre of the box to the point that Newton's method finds from this centre; with
        `minimum` a point with a negative second derivative does not count. Raises UndecidedError for too many layers.
        """
        try:
            problem = _Problem(self, statement, instance)
        except InputError as error:
            raise UndecidedError(str(error)) from None
        if not self.near:
            return 1.0
        centre, radius = problem.box(self, lambda part: exact_value(statement, instance, part))
        point = newton(problem.composed, problem.rule, list(map(float, centre)))
        if point is None:
            return -1.0
        values = problem.composed.at_points(Float64(), point[None], problem.rule)
        if self.minimum and np.linalg.eigvalsh(values.second[0])[0] < 0:
            return -1.0
        return 1 - float(np.abs(point - np.array(centre, float)).max()) / float(radius)


class _Problem:
    """The recursion and the moments at an instance. Raises InputError for too many layers."""

    def __init__(self, clause: StationarySquare, statement: Statement, instance: Instance) -> None:
        layers = exact_value(statement, instance, clause.layers)
        if layers.denominator != 1 or layers < 1:
            raise UndefinedError(f"{text_of(clause.layers)} = {layers}: must be an integer >= 1")
        self.count = int(layers)
        self.composed, self.degree = self._grown(clause, _Programs(clause, statement, instance))
        if not self.composed.places:
            raise UndecidedError("nothing after these layers depends on an unknown")
        orders = range(2 * self.degree + 2)
        moments = [exact_value(statement, instance, clause.moment, **{clause.index.name: k}) for k in orders]
        self.moments = [flint.fmpq(m.numerator, m.denominator) for m in moments]
        if why := no_measure(self.moments):
            raise UndecidedError(why)
        self.rule = gauss_rule(self.moments, self.degree + 1)

    def _grown(self, clause: StationarySquare, programs: "_Programs") -> tuple[Composed, int]:
        """Return the recursion and the degree of its end; layers are added one by one, to refuse too many early."""
        layers, degree, composed = 0, 0, programs.composed(1)
        while layers < self.count:
            composed = programs.composed(layers + 1)
            with balls(FIRST_BITS) as arithmetic:
                degree = composed.degree(arithmetic)
            if degree > MOST_DEGREE or layers == MOST_DEGREE:
                reason = (
                    f"one layer more has a polynomial of degree {degree} in {clause.variable}, whose square asks for "
                )
                reason += f"exact moments up to twice that; degrees and layers up to {MOST_DEGREE} are taken"
                raise InputError(text_of(clause.layers), self.count, f"must be <= {layers}: {reason}")
            layers += 1
        return composed, degree

    def box(self, clause: StationarySquare, exact: Callable[[sp.Expr], Fraction]) -> tuple[list[Fraction], Fraction]:
        """Return centre and radius of the clause's box, in the unknowns that count."""
        if len(clause.near) != self.count * self.composed.each:
            raise UndecidedError(f"the box is in {len(clause.near)} unknowns, not {self.count * self.composed.each}")
        centre = [exact(clause.near[i * self.count + layer]) for layer, i in self.composed.places]
        return centre, exact(clause.radius)

    def on_box(self, centre: list[Fraction], radius: Fraction, bits: int) -> Values:
        """Return f and its derivatives on a box, in balls."""
        with balls(bits) as arithmetic:
            side = flint.arb(0, arithmetic.number(radius))
            moments = [flint.arb(m) for m in self.moments]
            middle = [arithmetic.number(x) for x in centre]
            centred = self.composed.in_balls(arithmetic, middle, moments)
            box = self.composed.in_balls(arithmetic, [x + side for x in middle], moments)
            # A slope at x is the slope at the centre plus second derivatives in between times x − centre.
            moved = box.second * flint.arb_mat([[side]] * len(centre))
            return Values(box.value, [slope + moved[i, 0] for i, slope in enumerate(centred.gradient)], box.second)


class _Programs:
    """The compiled recursion, and the unknowns that its end depends on."""

    def __init__(self, clause: StationarySquare, statement: Statement, instance: Instance) -> None:
        recursion, fixed = clause.recursion, dict[sp.Basic, sp.Rational]()
        for symbol in set().union(*(statement.expand(sp.sympify(e)).free_symbols for e in clause.expressions())):
            value = instance.get(symbol.name, "")  # pyright: ignore[reportAttributeAccessIssue]
            if not isinstance(value, str):
                fixed[symbol] = sp.Rational(Fraction(value))  # pyright: ignore[reportCallIssue]

        def at_instance(part: sp.Expr) -> sp.Basic:
            return statement.expand(sp.sympify(part)).xreplace(fixed)

        self.initial, self.steps = list(map(at_instance, recursion.initial)), list(map(at_instance, recursion.step))
        self.end = at_instance(recursion.observable)
        self.state, self.unknowns = recursion.state, clause.unknowns
        self.start = compile_program(self.initial, [])
        self.observable = compile_program([self.end], self.state)
        self.inputs, self.known = [*self.state, *self.unknowns, clause.variable], dict[frozenset[sp.Symbol], Program]()

    def composed(self, layers: int) -> Composed:
        """Return the recursion at a number of layers."""
        places, programs = set(), []
        seen = self.end.free_symbols & set(self.state)
        for layer in reversed(range(layers)):
            programs.append(self._step(frozenset(seen)).bind)
            used = set().union(*(self.steps[self.state.index(symbol)].free_symbols for symbol in seen))
            places |= {(layer, i) for i, unknown in enumerate(self.unknowns) if unknown in used}
            seen = used & set(self.state)
        listed = tuple(sorted(places, key=lambda place: (place[1], place[0])))
        start = lambda arithmetic: self.start.bind(arithmetic)()  # noqa: E731
        return Composed(start, tuple(reversed(programs)), self.observable.bind, len(self.unknowns), listed)

    def _step(self, seen: frozenset[sp.Symbol]) -> Program:
        """Return the program of the state after a layer; entries on which nothing later depends are 0."""
        if seen not in self.known:
            steps = (step if symbol in seen else sp.S.Zero for symbol, step in zip(self.state, self.steps, strict=True))
            self.known[seen] = compile_program(list(steps), self.inputs)
        return self.known[seen]
