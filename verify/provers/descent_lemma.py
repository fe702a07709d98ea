"""The descent lemma on an invariant box: a certificate that an observable never increases along a recursion."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Literal

import sympy as sp

from verify.errors import UndecidedError
from verify.evaluation.intervals import FIRST_BITS, LAST_BITS, Interval, intervals
from verify.evaluation.iteration import Values, used_symbols
from verify.evaluation.programs import Program, compile_program
from verify.language.clause_data import Dynamics
from verify.language.symbolic_zeros import vanishes

MOST_BOXES = 1000
"""Maximum number of parts of the box, certified or waiting; with more parts the conditions are left undecided."""


@dataclass(frozen=True)
class Coordinate:
    """A compact coordinate u of a state variable z, with its range: u = z or, for an unbounded z, u = e^{−z}.

    Parameters
    ----------
    lower, upper
        The ends of the range of u, in terms of the parameters.
    chart
        `identity` for u = z, `exponential` for u = e^{−z}.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Coordinate
    >>> Coordinate(sp.Integer(0), sp.Integer(1), "exponential").chart
    'exponential'
    """

    lower: sp.Expr
    upper: sp.Expr
    chart: Literal["identity", "exponential"] = "identity"

    def forward(self, u: sp.Symbol) -> sp.Expr:
        """Return z as a function of u."""
        return u if self.chart == "identity" else -sp.log(u)

    def inverse(self, z: sp.Expr) -> sp.Expr:
        """Return u as a function of z."""
        return z if self.chart == "identity" else sp.exp(-z)


@dataclass(frozen=True)
class Descent:
    """Proof data: the observable L never increases, because the step is z' = z − D ∇L(z) in a box.

    The box is convex in z, the step maps the box into itself, and ‖D^½ ∇²L D^½‖_F ≤ M ≤ 2 on the box. Then Taylor's
    formula along the segment from z to z' gives L(z') ≤ L(z) − |D^½∇L|²(1 − M/2) ≤ L(z).

    Parameters
    ----------
    metric
        The diagonal of D, positive.
    coordinates
        The box, a coordinate for each state variable.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Coordinate, Descent
    >>> eta = sp.Symbol("eta", positive=True)
    >>> Descent((eta,), (Coordinate(sp.Integer(0), sp.Integer(1)),)).metric
    (eta,)
    """

    metric: tuple[sp.Expr, ...]
    coordinates: tuple[Coordinate, ...]


@dataclass(frozen=True)
class DescentResult:
    """Whether the descent lemma's conditions were certified at an instance.

    If the conditions were not certified, `why` is the reason. If `decided`, a condition fails at a point of the box:
    more bits would not help. `boxes` is the number of parts of the box on which the conditions were certified. `cuts`
    is the bisection in preorder, the lower half first: for each part the index of the side that was cut, or −1 if the
    conditions hold on the part.
    """

    holds: bool
    boxes: int
    why: str = ""
    decided: bool = False
    cuts: tuple[int, ...] = ()
    bits: int | None = None


@cache
def _is_gradient_step(dynamics: Dynamics, metric: tuple[sp.Expr, ...]) -> bool:
    return all(
        vanishes(step - z + scale * sp.diff(dynamics.observable, z))
        for step, z, scale in zip(dynamics.step, dynamics.state, metric, strict=True)
    )


@cache
def _descent_program(
    dynamics: Dynamics, proof: Descent, names: frozenset[str]
) -> tuple[list[sp.Symbol], *tuple[Program, ...]]:
    """Return the symbols with fixed values, and three programs for the box.

    The first gives the displacements z' − z of the step, the second the images of the coordinates and
    ‖D^½ ∇²L D^½‖_F². The third gives the ends of the coordinates' ranges, the start in coordinates, and the metric.
    """
    pairs = list(zip(dynamics.state, proof.coordinates, strict=True))
    variables = [sp.Dummy(f"u{i}", positive=True) for i in range(len(pairs))]
    chart = {z: c.forward(u) for u, (z, c) in zip(variables, pairs, strict=True)}
    # If z moves by m, u = e^{−z} becomes e^{−(z + m)} = u e^{−m}; SymPy simplifies this, because m is a symbol.
    moves = [sp.Dummy(real=True) for _ in pairs]
    displacements = [(step - z).subs(chart) for z, step in zip(dynamics.state, dynamics.step, strict=True)]  # pyright: ignore[reportCallIssue]
    images = [
        step.subs(chart) if c.chart == "identity" else c.inverse(chart[z] + move)  # pyright: ignore[reportCallIssue]
        for (z, c), step, move in zip(pairs, dynamics.step, moves, strict=True)
    ]
    hessian = sp.hessian(dynamics.observable, dynamics.state).subs(chart)
    places = product(range(len(pairs)), repeat=2)
    norm = sum((proof.metric[i] * proof.metric[j] * hessian[i, j] ** 2 for i, j in places), sp.Integer(0))
    ends = [end for _, c in pairs for end in (c.lower, c.upper)]
    starts = [c.inverse(z0) for (_, c), z0 in zip(pairs, dynamics.initial, strict=True)]
    bounds = (*ends, *starts, *proof.metric)
    fixed = used_symbols((*displacements, *images, norm, *bounds), names, [*variables, *moves])
    return (
        fixed,
        compile_program(displacements, variables, fixed),
        compile_program((*images, norm), (*variables, *moves), fixed),
        compile_program(bounds, fixed),
    )


def certify_descent(dynamics: Dynamics, proof: Descent, values: Values, *, deadline: float) -> DescentResult:
    """Certify at an instance, by bisection in interval arithmetic, that the observable never increases.

    `deadline` is a time of `time.monotonic()`. Raises UndecidedError if a bound, the start or the metric is not
    enclosed.
    """
    if not _is_gradient_step(dynamics, proof.metric):
        return DescentResult(False, 0, "the step is not the scaled gradient step of the observable")
    bits = FIRST_BITS
    while True:
        result = _certify(dynamics, proof, values, bits, deadline)
        if result.holds or result.decided or 2 * bits > LAST_BITS or time.monotonic() > deadline:
            return result
        bits *= 2


def _certify(dynamics: Dynamics, proof: Descent, values: Values, bits: int, deadline: float) -> DescentResult:
    with intervals(bits) as arithmetic:
        fixed, displacement, image, bounds = _descent_program(dynamics, proof, frozenset(values))
        numbers = [arithmetic.number(values[symbol.name]) for symbol in fixed]
        size = len(dynamics.state)
        outputs = bounds.bind(arithmetic)(*numbers)
        box = tuple(Interval(outputs[2 * i].hi, outputs[2 * i + 1].lo) for i in range(size))
        start, metric = outputs[2 * size : 3 * size], outputs[3 * size :]
        if not all(b.lo <= s.lo and s.hi <= b.hi for b, s in zip(box, start, strict=True)):
            return DescentResult(False, 0, "the initial point is not in the box")
        if not all(m.lo > 0 for m in metric):
            return DescentResult(False, 0, "the metric is not positive")
        moved, mapped = displacement.bind(arithmetic, numbers), image.bind(arithmetic, numbers)
        covered = _cover(lambda *part: mapped(*part, *moved(*part)), box, deadline)
        return replace(covered, bits=bits)


Box = tuple[Interval, ...]


def _cover(program: Callable[..., tuple[Interval, ...]], box: Box, deadline: float) -> DescentResult:
    """Bisect the box until the conditions hold on each part; each cut is of the side that leaves the least violation.

    Give up as soon as the conditions fail at a part's centre, the deadline is over, or there are too many parts.
    """
    limit = 4

    def judge(part: Box) -> tuple[bool, bool, float]:
        """Return whether the conditions hold on the whole part, whether they fail on all of it, and the violation."""
        try:
            *images, norm = program(*part)
        except UndecidedError:
            return False, False, math.inf
        pairs = list(zip(box, images, strict=True))
        on_all = norm.hi <= limit and all(b.lo <= i.lo and i.hi <= b.hi for b, i in pairs)
        on_none = norm.lo > limit or any(i.hi < b.lo or b.hi < i.lo for b, i in pairs)
        # Floats order the cuts only; the decisions above are exact comparisons.
        missed = [norm.hi - limit, *(end for b, i in pairs for end in (b.lo - i.lo, i.hi - b.hi))]
        return on_all, on_none, sum(min(max(float(end), 0.0), 1e300) for end in missed)

    waiting, done, path = [box], 0, []
    while waiting:
        part = waiting.pop()
        if judge(part)[0]:
            done += 1
            path.append(-1)
            continue
        if judge(tuple(_centre(side) for side in part))[1]:
            return DescentResult(False, done, "the conditions fail at a point of the box", decided=True)
        if done + len(waiting) > MOST_BOXES or time.monotonic() > deadline:
            return DescentResult(False, done, f"undecided on {len(waiting) + 1} of the box's parts")
        cuts = [_halves(part, side) for side in range(len(part))]
        missed = [sum(judge(half)[2] for half in halves) for halves in cuts]
        path.append(missed.index(min(missed)))
        waiting.extend(reversed(cuts[path[-1]]))
    return DescentResult(True, done, cuts=tuple(path))


def _centre(side: Interval) -> Interval:
    middle = ((side.lo + side.hi) / 2).mid()
    return Interval(middle, middle)


def _halves(box: Box, side: int) -> tuple[Box, Box]:
    whole = box[side]
    middle = _centre(whole).lo
    lower, upper = Interval(whole.lo, middle), Interval(middle, whole.hi)
    return (*box[:side], lower, *box[side + 1 :]), (*box[:side], upper, *box[side + 1 :])
