"""Recursions whose states are known: by exact iteration for some steps, or by a closed form."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from tests.verify.statements.numbers import PRECISIONS, NoValueError, UnsureError, plus, sign, times
from tests.verify.statements.specimens import Specimen, Values, _other, small, symbols_of, theorem_of
from tests.verify.statements.trees import Point, Tree, exp, iv, kept, log, sqrt, symbol, tree, value_at
from tests.verify.statements.writing import faithful
from verify import ClauseValue, Dynamics, Parameter, Reaches, Statement, Stays

A, P, Z, W, D = map(symbol, "apzwd")
_FAR, _LONG = 40, 2**4000
"""The largest number of steps for which a run is iterated, and the largest size of its numbers."""


@dataclass(frozen=True)
class Run:
    """A recursion of trees, and its definitions."""

    state: tuple[str, ...]
    initial: tuple[Tree, ...]
    step: tuple[Tree, ...]
    observable: Tree
    definitions: dict[str, Tree]

    def observed(self, values: Values, steps: int) -> Iterator[Any]:
        """Yield the observable step by step; the last is None if something has no value."""
        point = Point(values, self.definitions)
        try:
            state = [point.value(start) for start in self.initial]
            for count in range(steps + 1):
                here = point.with_values(**dict(zip(self.state, state, strict=True)))
                if any(isinstance(z, Fraction) and z.denominator * abs(z) > _LONG for z in state):
                    raise UnsureError("numbers too long to be followed")
                yield here.value(self.observable)
                # After the last step no further state is computed.
                state = [here.value(step) for step in self.step] if count < steps else []
        except NoValueError:
            yield None


def passage(run: Run, level: Tree, values: Values, steps: int) -> tuple[str, int]:
    """Return the end of a run of some steps ("reached", "above" or "without a value") and its last step."""
    for bits in PRECISIONS:
        iv.prec = bits
        try:
            bound = value_at(level, values, run.definitions)
            if bound is None:
                return "without a value", 0
            for count, seen in enumerate(run.observed(values, steps)):
                if seen is None:
                    return "without a value", count
                if sign(plus(seen, times(Fraction(-1), bound))) <= 0:
                    return "reached", count
        except UnsureError:
            continue
        return "above", steps
    raise UnsureError("too close to the level")


def recursions(draw: random.Random) -> Specimen:
    """Return a claim that a recursion reaches a level, or stays below it."""
    choices = (_followed, _followed, _singular, _singular, _singular, _contraction, _stays)
    return draw.choice(choices)(draw)


def _specimen(
    draw: random.Random,
    kind: str,
    values: dict[str, Fraction],
    run: Run,
    make: Any,
    truth: Any,
    *,
    steps: Any = None,
    hard: bool = False,
    degenerate: bool = False,
    levels: tuple[Tree, ...] = (),
) -> Specimen:
    used = [
        *run.initial,
        *run.step,
        run.observable,
        *run.definitions.values(),
        *levels,
        *map(symbol, [*values, *run.definitions]),
    ]
    symbols = symbols_of(used, {z: {"real": True} for z in run.state})
    points = []
    for at in (values, {**values, "a": Fraction(0)}, {**values, "p": Fraction(0)}):
        points += [{**at, **dict.fromkeys(run.state, x)} for x in map(Fraction, (-2, -1, 0, 1, 2, 3))]
        points += [{**at, **dict.fromkeys(run.state, x)} for x in list(values.values())]
    write = lambda node: faithful(node, symbols, points, run.definitions)  # noqa: E731
    dynamics = Dynamics(
        tuple(symbols[z] for z in run.state),
        tuple(map(write, run.initial)),
        tuple(map(write, run.step)),
        write(run.observable),
    )
    parameters = {name: Parameter(name, "rational", name) for name in values}
    put = {symbols[name]: write(node) for name, node in run.definitions.items()}
    statement = Statement(tuple(parameters.values()), (make(dynamics, write),), definitions=put)
    reported = {"steps": ClauseValue("c0", "steps")} if steps else {}
    return Specimen(
        "recursions",
        kind,
        theorem_of(statement, reported),
        values,
        {"c0": truth},
        values={"steps": steps} if steps else {},
        degenerate=degenerate or truth(values) is None,
        hard=hard,
        others=(_other(draw, values, parameters),),
    )


def _reaches(level: Tree, within: Tree | None) -> Any:
    return lambda dynamics, write: Reaches("c0", dynamics, write(level), None if within is None else write(within))


def _within(
    draw: random.Random, kind: str, values: dict[str, Fraction], run: Run, level: Tree, within: Tree
) -> Specimen:
    """Return the claim that a level is reached within some steps, which are iterated."""

    def ends(at: Values) -> tuple[str, int]:
        last = value_at(within, at, run.definitions)
        if last is None:
            return "without a value", 0
        last = floor(last)
        return ("above", -1) if last < 0 else passage(run, level, at, last)

    def truth(at: Values) -> bool | None:
        return {"reached": True, "above": False, "without a value": None}[ends(at)[0]]

    def steps(at: Values) -> Any:
        how, count = ends(at)
        return (
            count
            if how == "reached"
            else ("any of", *map(Fraction, range(count, count + 1000)))
            if how == "above"
            else None
        )

    long = max(abs(run_value) for run_value in values.values()) > 10**6
    return _specimen(
        draw,
        kind,
        values,
        run,
        _reaches(level, within),
        truth,
        steps=steps if truth(values) else None,
        hard=long,
        levels=(level, within),
    )


def _followed(draw: random.Random) -> Specimen:
    """Return a claim about a run that is iterated: linear, with two coordinates, logistic, or with an exponential."""
    values = {"a": abs(small(draw, zero=False)) + 2, "p": Fraction(draw.choice((1, 2, 3)), 4)}
    last = draw.randint(0, 12)
    run, top = draw.choice(
        [
            (Run(("z",), (A,), (P * Z,), Z, {}), 12),
            (Run(("z",), (A,), (Z - P,), Z, {}), 20),
            (Run(("z",), (A,), (Z * P + tree(Fraction(1, 3)),), Z**2, {}), 8),
            (Run(("z", "w"), (A, A + 1), (Z / 2 + W / 4, W * P), Z + W, {}), 9),
            (Run(("z", "w"), (A, P), (Z * D, W + 1), Z - W / 8, {"d": 1 - P / 2}), 9),
            (Run(("z",), (P,), (3 * Z * (1 - Z),), 1 - Z, {}), 5),
            (Run(("z",), (A,), (Z / (1 + Z),), Z, {}), 12),
            (Run(("z",), (A,), (Z * exp(-Z / 9),), Z, {}), 9),
            (Run(("z",), (A,), (sqrt(Z + 1) / 2,), Z * 2, {}), 9),
            (Run(("z",), (A,), (-P * Z,), Z, {}), 8),
        ]
    )
    last = min(last, top)
    level = tree(Fraction(draw.randint(-2, 12), draw.choice((2, 3, 8))))
    within: Tree = tree(last) + draw.choice([tree(0), P, tree(0)])
    if draw.random() < 0.05:
        within = tree(-1)
    return _within(draw, "followed", values, run, level, within)


def _singular(draw: random.Random) -> Specimen:
    """Return a claim about a run that may have no value at a step, at its start, or in a cancelling part."""
    values = {"a": Fraction(draw.choice((1, 2, 3, 3, 4))), "p": Fraction(draw.choice((0, 0, 0, 1, 1, 2)))}
    run = draw.choice(
        [
            Run(("z",), (A,), (Z - 1 + 0 / (Z - P),), Z, {}),
            Run(("z",), (A,), (Z - Z / (Z - P),), Z, {}),
            Run(("z",), (A,), (Z - kept((Z - P) * kept(1 / (Z - P))),), Z, {}),
            Run(("z",), (A,), (Z - 1,), Z + kept(kept(1 / (Z - P)) ** 0), {}),
            Run(("z",), (A * D,), (Z / 2,), Z, {"d": 1 / P}),
            Run(("z",), (A * D * P,), (Z / 2,), Z, {"d": 1 / P}),
            Run(("z",), (A,), (Z - D * P,), Z, {"d": 1 / P}),
            Run(("z",), (A,), (Z / 2,), Z * kept(P * kept(1 / P)), {}),
            Run(("z",), (A + 1,), (log(Z),), Z + P, {}),
            Run(("z",), (A,), (Z - 1,), kept(kept(sqrt(Z - P - 1)) ** 2), {}),
            Run(("z",), (A,), (Z - 1 + kept(0 * log(Z - P)),), Z, {}),
            Run(("z", "w"), (A, P), (Z - W / W, W), Z, {}),
            Run(("z", "w"), (A, tree(2)), (Z / 2, W - 1), Z + kept(W * kept(1 / W)) - 1, {}),
            Run(("z", "w"), (A, 1 / P), (Z / 2, W), Z, {}),
            Run(("z",), (kept(exp(kept(log(P - 1)))) + A,), (Z / 3,), Z, {}),
        ]
    )
    level = tree(draw.choice((Fraction(-1), Fraction(-3, 2), Fraction(1, 3), Fraction(1, 2))))
    return _within(draw, "singular", values, run, level, tree(draw.randint(1, 6)))


def _contraction(draw: random.Random) -> Specimen:
    """Return a claim about z → r z + b from above its limit b/(1 − r): a level above the limit is reached."""
    r, b = Fraction(draw.choice((1, 2, 3)), 4), small(draw)
    values = {"a": b / (1 - r) + draw.choice((1, 3)), "p": r}
    end = b / (1 - r)
    level = end + Fraction(draw.choice((-1, -1, 1, 1)), draw.choice((2, 9)))
    run = Run(("z",), (A,), (P * Z + b,), Z, {})

    def truth(at: Values) -> bool | None:
        if at["a"] <= level:
            return True
        if not 0 <= at["p"] < 1:
            raise UnsureError("no contraction")
        low = b / (1 - at["p"])
        return low < level if at["p"] else low <= level

    steps = (lambda at: passage(run, tree(level), at, 200)[1]) if truth(values) else None
    return _specimen(
        draw, "contraction", values, run, _reaches(tree(level), None), truth, steps=steps, levels=(tree(level),)
    )


def _stays(draw: random.Random) -> Specimen:
    """Return a claim that a run stays below a level; either it rises again, or a proof may show that it stays."""
    up = draw.random() < 0.75
    values = {"a": Fraction(draw.randint(3, 6)), "p": Fraction(draw.randint(2, 4))}
    if up:
        # The state may fall first and rise again later.
        run = draw.choice(
            [
                Run(("z", "w"), (A, tree(-1)), (Z + W, W + Fraction(1, 4)), Z, {}),
                Run(("z",), (A,), (-2 * Z,), Z, {}),
                Run(("z",), (A,), (Z * (Z - P),), Z, {}),
            ]
        )
        level = tree(draw.choice((5, 9, 20)))
        reached = tree(draw.choice((1, 2, -1)))
    else:
        run, level, reached = Run(("z",), (A,), (Z / P,), Z, {}), tree(1), tree(1)
    spoil = draw.random() < 0.3
    if spoil:
        values["p"] = Fraction(draw.choice((0, 2)))
        bad = draw.choice([kept(P * kept(1 / P)), kept(kept(1 / P) ** 0)])
        run = Run(run.state, run.initial, run.step, run.observable * bad, {})

    def truth(at: Values) -> bool | None:
        if not up:
            return None if not at["p"] else True if at["p"] > 1 else _unknown()
        how, count = passage(run, reached, at, _FAR)
        if how != "reached":
            return None if how != "above" else _unknown()
        bound = value_at(level, at)
        for i, seen in enumerate(run.observed(at, count + 12)):
            if seen is None:
                return None
            if i >= count and seen > bound:
                return False
            if abs(seen) > 10**60:
                break
        return _unknown()

    make = lambda dynamics, write: Stays("c0", dynamics, write(reached), write(level))  # noqa: E731
    return _specimen(draw, "stays", values, run, make, truth, hard=not up, levels=(level, reached))


def _unknown() -> bool | None:
    raise UnsureError("later steps are not computed")
