"""Instances at which a clause seems to fail, or has its least margin: from lattices, draws, and descents.

These suspects come from float64; the search for counterexamples confirms them in rigorous arithmetic.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from verify.evaluation.instances import simplicity
from verify.evaluation.numerical.compiled import Compiled, Scores, compiled
from verify.evaluation.numerical.limits import NUMERICAL
from verify.evaluation.numerical.points import (
    all_values,
    coordinates_of,
    cost,
    drawn,
    lattice,
    simplest_near,
    values_at,
)
from verify.language.parameters import Instance, Value
from verify.language.statement import ClauseData, Statement

Found = tuple[int, dict[str, Value]]
"""A clause's place, and an instance."""
Kept = Callable[[list[list[Fraction]]], list[list[Fraction]]]
"""A filter of points: it returns those that are kept."""


@dataclass(frozen=True)
class Suspect:
    """An instance at which a clause may fail; `silent` if the clause has no value there in float64.

    `point` has the values of the variables, if the clause is claimed for all values of some variables.
    """

    instance: dict[str, Value]
    label: str
    point: Mapping[str, Fraction] = field(default_factory=dict)
    silent: bool = False


def suspects(
    statement: Statement, fixed: Mapping[str, Value], most: int, seed: int, tick: Callable[[], None]
) -> Iterator[Suspect]:
    """Yield instances at which a clause seems to fail, then the nearest misses, and some instances without a value.

    Nothing is yielded if a parameter that is not fixed is a list or has a default, or if no clause can be computed over
    arrays. No new points are drawn once `most` have been evaluated. `tick` is called now and then, and may raise to end
    the search.
    """
    free = [p for p in statement.parameters if p.words and p.name not in fixed]
    choices = [dict(zip((p.name for p in free), words, strict=True)) for words in product(*(p.words for p in free))]
    random.Random(seed).shuffle(choices)  # noqa: S311 -- the order of the words
    for words in choices[: NUMERICAL.words]:
        given = {**fixed, **words}
        named = {p.name: given.get(p.name, p.words[0] if p.words else None) for p in statement.parameters}
        specialised = statement.specialised({n: v for n, v in named.items() if v is not None})
        read = compiled(specialised, given, specialised.clauses, tick)
        if read is not None:
            dear = NUMERICAL.dear if read.runs else 1
            yield from _Numerical(read, most // dear // min(len(choices), NUMERICAL.words), seed, tick).suspects()


def points_against(
    statement: Statement,
    clause: ClauseData,
    instance: Instance,
    tick: Callable[[], None],
    conditions: Sequence[Relational] = (),
) -> Iterator[Mapping[str, Fraction]]:
    """Yield values of a statement's variables at which a clause seems to fail at an instance, then its nearest miss.

    All these points satisfy `conditions`.
    """
    read = compiled(statement, instance, [clause], tick, conditions)
    if read is not None:
        for suspect in _Numerical(read, NUMERICAL.over_variables, 0, tick).suspects():
            yield suspect.point


@dataclass
class _Numerical:
    """The search at one choice of words, with about `most` points, and its findings by each clause's place.

    `best` has the points from which descents start, `nearest` the least relative margin in scope and its point, and
    `silent` points in scope at which the clause has no value in float64.
    """

    read: Compiled
    most: int
    seed: int
    tick: Callable[[], None]
    evaluated: int = 0
    best: dict[int, list[np.ndarray]] = field(default_factory=dict)
    nearest: dict[int, tuple[float, np.ndarray]] = field(default_factory=dict)
    silent: dict[int, list[np.ndarray]] = field(default_factory=dict)

    def suspects(self) -> Iterator[Suspect]:
        """Yield suspects from each method in turn, then nearest misses, then points at which a clause has no value.

        If equations give the values of all parameters, the only point is a suspect for every clause.
        """
        if not self.read.boxes:
            yield from (self._suspect(i, each) for i in range(len(self.read.labels)) for each in self._instances([[]]))
            return
        source = np.random.default_rng(random.Random(self.seed).getrandbits(64))  # noqa: S311 -- of any integer
        ways = (
            self._on_lattices(),
            self._drawn(source, min(NUMERICAL.first, self._left // 2)),
            self._descended(),
            self._evolved(source),
            self._narrowed(source),
            self._rest(source),
            self._near_misses(),
        )
        for way in ways:
            yield from (self._suspect(*found) for found in way)
        yield from (replace(self._suspect(*found), silent=True) for found in self._silent())

    def _suspect(self, clause: int, named: dict[str, Value]) -> Suspect:
        ranging = self.read.variables
        point = {name: Fraction(v) for name, v in named.items() if name in ranging and isinstance(v, int | Fraction)}
        instance = {name: value for name, value in named.items() if name not in ranging}
        return Suspect(instance, self.read.labels[clause], point)

    @property
    def _relations(self) -> list[int]:
        """The places of the clauses that are relations."""
        return [clause for clause in range(len(self.read.labels)) if clause not in self.read.runs]

    @property
    def _left(self) -> int:
        """Number of points that may still be evaluated."""
        return max(0, self.most - self.evaluated)

    def _scores(self, points: np.ndarray) -> Scores:
        self.tick()
        self.evaluated += len(points)
        return self.read.scores(points)

    def _failing(self, scores: Scores, clause: int) -> np.ndarray:
        """Return the places of the points at which a clause seems to fail."""
        relative = scores.relative[:, clause]
        fails = relative <= 0 if self.read.strict[clause] else relative < -NUMERICAL.rounding
        return np.flatnonzero((scores.violation == 0) & fails)

    @property
    def _batch(self) -> int:
        """Number of points evaluated at once; small for recursions, so that little work is lost when the time ends."""
        return NUMERICAL.first if self.read.runs else NUMERICAL.batch

    def _on_lattices(self) -> Iterator[Found]:
        for all_indices, values in lattice(self.read.boxes, self.most):
            columns = [np.array([float(v) for v in each]) for each in values]
            for first in range(0, len(all_indices), self._batch):
                indices = all_indices[first : first + self._batch]
                points = np.stack([column[indices[:, i]] for i, column in enumerate(columns)], axis=1)
                scores = self._scores(points)
                for clause in range(len(self.read.labels)):
                    places = self._failing(scores, clause)
                    exact = ([each[k] for each, k in zip(values, indices[i], strict=True)] for i in places)
                    yield from ((clause, each) for each in islice(self._instances(exact), NUMERICAL.confirmed))
                self._remember(points, scores, exact=True)
        if all_values(self.read.boxes, self.most) is not None:
            # There are no other points.
            self.most = self.evaluated

    def _rest(self, source: np.random.Generator) -> Iterator[Found]:
        while self._left:
            yield from self._drawn(source, min(self._left, self._batch))

    def _drawn(self, source: np.random.Generator, count: int) -> Iterator[Found]:
        if count > 0:
            yield from self._among(values_at(self.read.boxes, drawn(self.read.boxes, count, source)))

    def _narrowed(self, source: np.random.Generator) -> Iterator[Found]:
        """Yield suspects from draws ever closer to the best points; many runs at once cost about as much as one."""
        boxes = self.read.boxes
        ends = np.array([box.ends() for box in boxes])
        for clause in self.read.runs:
            for width in NUMERICAL.widths:
                starts, count = self._starts(clause)[: NUMERICAL.starts], min(NUMERICAL.around, self._left)
                if not starts or not count:
                    break
                around = coordinates_of(boxes, np.array(starts))[source.integers(len(starts), size=count)]
                moved = source.normal(0, width, around.shape) * (source.random(around.shape) < 0.5)
                yield from self._among(values_at(boxes, np.clip(around + moved, ends[:, 0], ends[:, 1])))

    def _among(self, points: np.ndarray) -> Iterator[Found]:
        """Yield, for each clause, simple instances near the points at which it seems to fail, the simplest first."""
        scores = self._scores(points)
        for clause in range(len(self.read.labels)):
            points_failing = _smallest_first(points[self._failing(scores, clause)])[: NUMERICAL.confirmed]
            found = (each for point in points_failing for each in self._made_simple(point, clause))
            yield from sorted(found, key=lambda each: simplicity(each[1]))
        self._remember(points, scores)

    def _remember(self, points: np.ndarray, scores: Scores, *, exact: bool = False) -> None:
        """Keep each clause's best points, by relative and by absolute margin, and the points nearest to the scope."""
        outside = scores.violation > 0
        # If an equation is not solved, only exact points count as points in scope.
        in_scope = exact or not any(isinstance(relation, sp.Eq) for relation in self.read.relations)
        for clause in range(len(self.read.labels)):
            relative, absolute = scores.relative[:, clause], scores.absolute[:, clause]
            for key in (np.where(outside, 2 + scores.violation, relative), np.where(outside, np.inf, absolute)):
                places = np.argsort(key, kind="stable")[: NUMERICAL.starts]
                self.best.setdefault(clause, []).extend(points[i] for i in places if np.isfinite(key[i]))
            inside = np.where(outside, np.inf, relative)
            least = int(np.argmin(inside))
            if in_scope and inside[least] < self.nearest.get(clause, (np.inf,))[0]:
                self.nearest[clause] = float(inside[least]), points[least]
            places = np.flatnonzero(~outside & (relative == np.inf))[: NUMERICAL.first]
            self.silent.setdefault(clause, []).extend(points[places])

    def _near_misses(self) -> Iterator[Found]:
        """Yield, for each clause, a simple instance near its nearest miss, with a margin that is hardly larger."""
        for clause, (least, point) in self.nearest.items():

            def near(points: list[list[Fraction]], clause: int = clause, least: float = least) -> list[list[Fraction]]:
                scores = self._scores(_floats(points))
                good = (scores.violation == 0) & (scores.relative[:, clause] <= least + NUMERICAL.as_near)
                return [points[i] for i in np.flatnonzero(good)]

            yield from ((clause, each) for each in self._simplest(point, near))

    def _silent(self) -> Iterator[Found]:
        """Yield instances at which a clause has no value in float64, of all sizes, the smallest first."""
        for clause, points in self.silent.items():
            ordered = _smallest_first(np.array(points)) if points else []
            few = [ordered[i * len(ordered) // NUMERICAL.silent] for i in range(NUMERICAL.silent) if len(ordered)]
            exact = dict.fromkeys(tuple(self._rounded(point)[0]) for point in few)
            yield from ((clause, instance) for instance in self._instances(map(list, exact)))

    def _rounded(self, point: np.ndarray) -> list[list[Fraction]]:
        """Return points with simple numbers near a point, the simplest first; integers keep their values."""
        boxes = self.read.boxes
        return [
            [Fraction(round(v)) if b.integer else simplest_near(v, share) for v, b in zip(point, boxes, strict=True)]
            for share in NUMERICAL.shares
        ]

    def _instances(self, exact: Iterable[list[Fraction]]) -> Iterator[dict[str, Value]]:
        for values in exact:
            instance = self.read.instance(values)
            if instance is not None:
                yield instance

    def _made_simple(self, point: np.ndarray, clause: int) -> Iterator[Found]:
        """Yield an instance with simple numbers near a failing point, if the clause seems to fail there as well."""

        def failing(points: list[list[Fraction]]) -> list[list[Fraction]]:
            return [points[i] for i in self._failing(self._scores(_floats(points)), clause)]

        yield from ((clause, each) for each in self._simplest(point, failing))

    def _simplest(self, point: np.ndarray, kept: Kept) -> Iterator[dict[str, Value]]:
        """Yield an instance near a point that `kept` keeps; yield nothing if none is found.

        It is the simplest such instance found by rounding. If no clause is about a recursion, its numbers are then
        exchanged for simpler ones, one by one.
        """
        boxes = self.read.boxes
        found = next(iter(kept(self._rounded(point))), None)
        if found is None:
            return
        choices = [box.simple(NUMERICAL.exchanged) for box in boxes]
        for _ in range(0 if self.read.runs else NUMERICAL.rounds):
            before = found
            for i, box in enumerate(boxes):
                others = [v for v in choices[i] if cost(v) < cost(found[i])]
                if not box.integer:
                    closer = (simplest_near(float(found[i]), share) for share in NUMERICAL.shares)
                    others += sorted((v for v in closer if cost(v) < cost(found[i])), key=cost)
                exchanged = [[*found[:i], other, *found[i + 1 :]] for other in others]
                found = next(iter(kept(exchanged)), found) if exchanged else found
            if found == before:
                break
        yield from self._instances([found])

    def _starts(self, clause: int) -> list[np.ndarray]:
        """Return the best points without repetition, by relative and by absolute margin in turn."""
        seen, starts = set[bytes](), list[np.ndarray]()
        for point in self.best.get(clause, ()):
            if point.tobytes() not in seen:
                seen.add(point.tobytes())
                starts.append(point)
        if not starts:
            return []
        scores = self._scores(np.array(starts))
        relative = np.where(scores.violation > 0, 2 + scores.violation, scores.relative[:, clause])
        absolute = np.where(scores.violation > 0, np.inf, scores.absolute[:, clause])
        order = [i for pair in zip(np.argsort(relative), np.argsort(absolute), strict=True) for i in pair]
        return [starts[i] for i in dict.fromkeys(order)]

    def _descended(self) -> Iterator[Found]:
        """Yield the suspects that a quasi-Newton method reaches from the best points; integers keep their values."""
        for clause in self._relations:
            found: list[Found] = []
            for start in self._starts(clause)[: max(1, NUMERICAL.starts // len(self.read.labels))]:
                for end in self._paths(start, clause) if self._left else ():
                    scores = self._scores(end[None])
                    if len(self._failing(scores, clause)):
                        found.extend(self._made_simple(end, clause))
                    self._remember(end[None], scores)
            yield from sorted(found, key=lambda each: simplicity(each[1]))[: NUMERICAL.confirmed]

    def _paths(self, start: np.ndarray, clause: int) -> Iterator[np.ndarray]:
        from scipy.optimize import minimize

        boxes = self.read.boxes
        moving = np.array([not box.integer for box in boxes])
        if not moving.any():
            return
        at = coordinates_of(boxes, start[None])

        def placed(u: np.ndarray) -> np.ndarray:
            coordinates = np.repeat(at, len(u), axis=0)
            coordinates[:, moving] = u
            return np.where(moving, values_at(boxes, coordinates), start)

        ends = [box.ends() for box in boxes if not box.integer]
        for by in ("relative", "absolute"):

            def value_and_slope(u: np.ndarray, by: str = by) -> tuple[float, np.ndarray]:
                steps = np.concatenate([u[None], u[None] + NUMERICAL.difference * np.eye(len(u))])
                scores = self._scores(placed(steps))
                values = getattr(scores, by)[:, clause]
                size = min(max(1.0, abs(float(values[0]))), NUMERICAL.largest) if np.isfinite(values[0]) else 1.0
                most = NUMERICAL.penalty * size
                values = np.minimum(values, most) + NUMERICAL.weight * size * np.minimum(scores.violation, most)
                with np.errstate(over="ignore"):
                    slopes = (values[1:] - values[0]) / NUMERICAL.difference
                return float(values[0]), np.clip(slopes, -NUMERICAL.largest, NUMERICAL.largest)

            found = minimize(
                value_and_slope,
                at[0, moving],
                jac=True,
                method="L-BFGS-B",
                bounds=ends,
                options={"maxiter": NUMERICAL.steps, "maxfun": 1 + self._left // (1 + len(ends))},
            )
            yield placed(found.x[None])[0]

    def _evolved(self, source: np.random.Generator) -> Iterator[Found]:
        """Yield the suspects that differential evolution finds from the best points and from drawn points."""
        from scipy.optimize import differential_evolution

        boxes = self.read.boxes
        for clause in self._relations:
            if self._left < NUMERICAL.members:
                return
            population = drawn(boxes, NUMERICAL.members, source)
            if first := self._starts(clause)[: NUMERICAL.members // 2]:
                population[: len(first)] = coordinates_of(boxes, np.array(first))

            def worth(u: np.ndarray, clause: int = clause) -> np.ndarray:
                scores = self._scores(values_at(boxes, u.T))
                relative = np.minimum(scores.relative[:, clause], 2)
                return np.where(scores.violation > 0, 2 + scores.violation, relative)

            found = differential_evolution(
                worth,
                [box.ends() for box in boxes],
                init=population,
                maxiter=min(NUMERICAL.generations, self._left // NUMERICAL.members),
                polish=False,
                vectorized=True,
                updating="deferred",
                rng=source,
                callback=lambda intermediate_result: intermediate_result.fun < -NUMERICAL.rounding,
            )
            point = values_at(boxes, found.x[None])
            scores = self._scores(point)
            if len(self._failing(scores, clause)):
                yield from self._made_simple(point[0], clause)
            self._remember(point, scores)


def _floats(points: list[list[Fraction]]) -> np.ndarray:
    """Return points as an array."""
    return np.array([[float(value) for value in point] for point in points])


def _smallest_first(points: np.ndarray) -> np.ndarray:
    """Return points sorted by size, the smallest first."""
    return points[np.argsort(np.log1p(np.abs(points)).sum(axis=1), kind="stable")]
