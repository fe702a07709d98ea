"""Seeded random draws of instances that satisfy given relations by construction, not by filtering.

The parameters are drawn one after the other. A relation bounds the last of its parameters, and is solved for it at the
values drawn before. The order of the parameters is chosen such that ranges are seldom empty.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import cycle, islice, permutations

from sympy.core.relational import Relational

from verify.errors import InputError, NoInstanceError
from verify.evaluation.admissible_ranges import Range, Ranges, Solvable, domain_of, meet, solvable
from verify.evaluation.values import symbols_by_name
from verify.language.expressions import Case, decided
from verify.language.parameters import LARGEST_INTEGER, Parameter, Value
from verify.printing import text_of
from verify.search.limits import EXPLORE


@dataclass(frozen=True)
class ByWord:
    """A relation that depends on words; it is solved for one of its parameters once the words are drawn."""

    relation: Relational
    unknown: str
    names: frozenset[str]
    words: Mapping[str, tuple[str, ...]]

    @cached_property
    def exact(self) -> bool:
        """Whether the relation is solved by roots of polynomials, at the first word of each parameter."""
        return self._solved_at({name: words[0] for name, words in self.words.items()}).exact

    def _solved_at(self, values: Mapping[str, Value]) -> Solvable:
        return solvable(decided(self.relation, self.words, values), self.unknown, self.names)  # type: ignore[arg-type]

    def ranges(self, values: Mapping[str, Value], within: Range) -> Ranges:
        """Return the part of `within` in which the relation holds, as `Solvable` does."""
        return self._solved_at(values).ranges(values, within)

    def satisfied(self, values: Mapping[str, Value]) -> bool:
        """Whether the relation holds, as `Solvable` does."""
        return self._solved_at(values).satisfied(values)


@dataclass(frozen=True)
class Plan:
    """Parameters in the order in which they are drawn, with the bounds on each.

    Parameters with a default come last and take the default; `completed` adds the missing defaults to an instance.
    """

    parameters: tuple[Parameter, ...]
    bounds: Mapping[str, tuple[Solvable | ByWord, ...]]
    given: Mapping[str, Value]
    completed: Callable[[Mapping[str, Value]], dict[str, Value]] = dict

    def defaulted(self, parameter: Parameter) -> bool:
        """Whether a parameter takes its default."""
        return parameter.default is not None and parameter.name not in self.given

    def ranges(self, parameter: Parameter, drawn: Mapping[str, Value]) -> Ranges:
        """Return the admissible values of a parameter, given the values drawn before, as a union of intervals.

        For a list, these are the admissible values of each entry.
        """
        domain = domain_of(parameter)
        if parameter.kind == "integer":
            domain = domain.meet(Range(Fraction(-LARGEST_INTEGER), Fraction(LARGEST_INTEGER)))
        admissible: Ranges = (domain,)
        for bound in self.bounds[parameter.name]:
            admissible = meet(admissible, bound.ranges(drawn, domain))
        if parameter.kind == "integer":
            admissible = tuple(part for part in (part.integers() for part in admissible) if not part.empty)
        return admissible

    def admits(self, instance: Mapping[str, Value]) -> bool:
        """Whether an instance satisfies the domains and the relations, and has the given values."""
        for parameter in self.parameters:
            value = instance[parameter.name]
            if value != self.given.get(parameter.name, value) or value not in parameter:
                return False
        return all(self._satisfied(parameter, instance) for parameter in self.parameters)

    def _satisfied(self, parameter: Parameter, instance: Mapping[str, Value]) -> bool:
        return all(bound.satisfied(instance) for bound in self.bounds[parameter.name])

    def draw(
        self,
        source: random.Random,
        near: Mapping[str, Value] | None = None,
        rejected: Callable[[Relational | None], None] = lambda relation: None,
    ) -> dict[str, Value] | None:
        """Return a random instance; None at a dead end.

        With an instance `near`, each number is with probability 3/4 the number in `near` or close to it, if admissible.
        At a dead end, `rejected` is called with the relation that leaves no value, or None if no such relation is
        known.
        """

        def number(parameter: Parameter, parts: Ranges) -> Value:
            if parameter.kind == "rationals":
                return tuple(drawn_rational(parts[0], source) for _ in range(source.randint(1, EXPLORE.longest)))
            if near is not None and source.random() < EXPLORE.kept:
                beside = _beside(near[parameter.name], source)
                if any(beside in part for part in parts):
                    return beside
            drawn = drawn_integer if parameter.kind == "integer" else drawn_rational
            return drawn(source.choice(parts), source)

        return self._walk(source.choice, number, rejected)

    def in_general_position(self, source: random.Random) -> Iterator[dict[str, Value]]:
        """Yield instances with each word in turn, away from ends and simple values, which may be special cases."""
        free = [p for p in self.parameters if p.kind == "word" and p.name not in self.given]
        longest = max((len(parameter.words) for parameter in free), default=1)
        first = source.randrange(longest)
        for turn in range(first, first + longest):
            # The integers get different steps, so that few of them are equal.
            steps = cycle(source.sample((2, 3, 4), 3))
            number = partial(_in_general, source=source, steps=steps)
            walks = (
                self._walk(lambda words, turn=turn: words[turn % len(words)], number) for _ in range(EXPLORE.walks)
            )
            yield from islice((walk for walk in walks if walk is not None), 1)

    def simplest_instance(self) -> dict[str, Value] | None:
        """Return the instance with the first word and the simplest value of each parameter; None at a dead end.

        The simplest value is the integer nearest to 0, an end of the range, or a simple number near an end.
        """
        return self._walk(lambda words: words[0], _simplest)

    def leap(self, instance: Mapping[str, Value], name: str, *, up: bool) -> dict[str, Value] | None:
        """Return the instance with one number moved to the end of its range, close to an open end, or far if unbounded.

        The range is taken at the values of earlier parameters. Later parameters keep their values, except defaults.
        The result is None if the value is not a number or cannot be moved.
        """
        parameter = next(parameter for parameter in self.parameters if parameter.name == name)
        value = instance[name]
        if name in self.given or self.defaulted(parameter) or not isinstance(value, (int, Fraction)):
            return None
        part = next((part for part in self.ranges(parameter, instance) if value in part), None)
        if part is None:
            return None
        end, is_open = (part.high, part.high_open) if up else (part.low, part.low_open)
        landed: Value = value + (1 if up else -1) * EXPLORE.far * max(1, abs(value))
        if parameter.kind == "integer":
            assert part.low is not None and part.high is not None
            bounded = end is not None and abs(end) < LARGEST_INTEGER
            landed = int(end) if bounded else max(int(part.low), min(int(part.high), int(landed)))  # type: ignore[arg-type]
        elif end is not None:
            landed = end + (value - end) / EXPLORE.far if is_open else end
        if landed == value or landed not in parameter:
            return None
        moved = {p.name: instance[p.name] for p in self.parameters if not self.defaulted(p)} | {name: landed}
        filled = self._filled(moved)
        return None if filled is None else {each: filled[each] for each in instance}

    def _filled(self, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
        """Return an instance with the defaults of missing parameters; None if a default is not defined."""
        try:
            return self.completed(drawn)
        except InputError:
            return None

    def _walk(
        self,
        word: Callable[[Sequence[str]], str],
        number: Callable[[Parameter, Ranges], Value],
        rejected: Callable[[Relational | None], None] = lambda relation: None,
    ) -> dict[str, Value] | None:
        """Return the instance built from an admissible value of one parameter after the other; None at a dead end."""
        drawn: dict[str, Value] = {}
        for parameter in self.parameters:
            after = self._after(parameter, drawn, word, number)
            if after is None:
                rejected(self._against(parameter, drawn))
                return None
            # An end may have too many digits to be given; between two probes of a bisection a relation may fail.
            if after[parameter.name] not in parameter or not self._satisfied(parameter, after):
                rejected(self._against(parameter, after))
                return None
            drawn = after
        return drawn

    def _after(
        self,
        parameter: Parameter,
        drawn: dict[str, Value],
        word: Callable[[Sequence[str]], str],
        number: Callable[[Parameter, Ranges], Value],
    ) -> dict[str, Value] | None:
        """Return the drawn values with a value of one more parameter; None if no value is left for it."""
        name = parameter.name
        if name in self.given:
            return {**drawn, name: self.given[name]}
        if self.defaulted(parameter):
            return self._filled(drawn)
        if parameter.kind == "word":
            words = [each for each in parameter.words if self._satisfied(parameter, {**drawn, name: each})]
            # A given value or an earlier word may leave no word.
            return {**drawn, name: word(words)} if words else None
        parts = self.ranges(parameter, drawn)
        # The ranges are seldom empty: the order was chosen because the fewest trials met an empty range.
        return {**drawn, name: number(parameter, parts)} if parts else None

    def _against(self, parameter: Parameter, drawn: Mapping[str, Value]) -> Relational | None:
        """Return a relation that alone excludes a parameter's drawn value, or all values; else the last relation."""
        if self.defaulted(parameter) and parameter.name not in drawn:
            return None
        bounds = self.bounds[parameter.name]
        against = [bound for bound in bounds if self._leaves_none(bound, parameter, drawn)] or bounds[-1:]
        return against[0].relation if against else None

    def _leaves_none(self, bound: Solvable | ByWord, parameter: Parameter, drawn: Mapping[str, Value]) -> bool:
        if parameter.name in drawn:
            return not bound.satisfied(drawn)
        if parameter.kind == "word":
            return not any(bound.satisfied({**drawn, parameter.name: each}) for each in parameter.words)
        return not replace(self, bounds={parameter.name: (bound,)}).ranges(parameter, drawn)


def drawn_rational(admissible: Range, source: random.Random) -> Fraction:
    """Return a random number of a range: an end, a small or simple number near it, or one of any order of magnitude."""
    low, high = admissible.low, admissible.high
    if low is None:
        upward = Range(Fraction(0) if high is None else -high, None, low_open=admissible.high_open)
        value = drawn_rational(upward, source)
        return -value if high is not None or source.random() < 0.5 else value
    if high is None:
        steps = [
            lambda: source.randint(1, 9),
            lambda: Fraction(source.randint(1, 32), source.randint(1, 16)),
            lambda: Fraction(2) ** source.randint(-30, 30),
            lambda: Fraction(2) ** source.randint(-30, 30) * source.randint(65, 127) / 64,
        ]
    else:
        # Fractions of the width.
        steps = [
            lambda: Fraction(source.randint(1, 15), 16),
            lambda: Fraction(1, 2 ** source.randint(1, 40)),
            lambda: 1 - Fraction(1, 2 ** source.randint(1, 40)),
        ]
        if not admissible.high_open:
            steps.append(lambda: 1)
    if not admissible.low_open:
        steps.append(lambda: 0)
    return low + (1 if high is None else high - low) * source.choice(steps)()


def drawn_integer(admissible: Range, source: random.Random) -> int:
    """Return a random integer of a bounded range: one near the integer nearest to 0, or a far one."""
    start, up, down = _room(admissible)
    upward = not down or (up > 0 and source.random() < 0.5)
    furthest = up if upward else down
    bounded = abs(start + up if upward else start - down) < LARGEST_INTEGER
    step = _drawn_step(furthest, source, bounded=bounded)
    return start + step if upward else start - step


def _drawn_step(furthest: int, source: random.Random, *, bounded: bool) -> int:
    """Return a random number from 0 to `furthest`: small, of any size, or, if `bounded`, near `furthest`."""
    orders = furthest.bit_length() - 1
    steps = [lambda reach=reach: source.randint(0, min(furthest, reach)) for reach in (3, 30, 1000)]
    if furthest > 3:
        steps.append(lambda: 2 ** source.randint(0, orders))
        steps.append(lambda: min(furthest, source.randint(2**20 + 1, 2**21) * 2 ** source.randint(0, orders) >> 20))
    if bounded:
        steps.append(lambda: source.randint(max(0, furthest - 3), furthest))
    return source.choice(steps)()


def _beside(number: Value, source: random.Random) -> int | Fraction:
    """Return a number unchanged, or moved by a fraction of its size; an integer is moved by at least 1."""
    assert isinstance(number, int | Fraction)
    part = number * Fraction(source.choice((0, 0, 1, -1)), 2 ** source.randint(0, EXPLORE.halvings))
    if isinstance(number, Fraction):
        return (number + part).limit_denominator(10**9)
    return number + (math.floor(part) if part < 0 else math.ceil(part))


_Steps = dict[tuple[tuple[str, ...], int], dict[str, Value] | None]
"""Values after steps of random walks, by the parameters drawn so far and the walk's number; None at a dead end."""


def plan(
    parameters: Sequence[Parameter],
    relations: Sequence[Relational],
    given: Mapping[str, Value],
    *,
    tick: Callable[[], None] = lambda: None,
    completed: Callable[[Mapping[str, Value]], dict[str, Value]] = dict,
) -> Plan:
    """Return the plan whose order has the fewest random walks with an empty range. Raises NoInstanceError if all do.

    Given parameters come first, then words; parameters with a default come last, and `completed` adds the defaults.
    `tick` is called from time to time, and may raise to end the work.
    """
    fixed, free, last = _grouped(parameters, given)
    orders, known = [], {}
    for order in islice(_orders(free), EXPLORE.orders):
        tick()
        orders.append(replace(_bounded((*fixed, *order, *last), relations, given, known), completed=completed))
    # Orders with more relations solved exactly come first; ties keep the order of `_orders`.
    orders.sort(key=_inexact)
    best, fewest = None, EXPLORE.trials
    steps: _Steps = {}
    for order in orders:
        dead_ends = _dead_ends(order, fewest, tick, steps)
        if dead_ends < fewest:
            best, fewest = order, dead_ends
        if not fewest:
            break
    if best is None:
        given_text = "".join(f", with {name} = {value}" for name, value in given.items())
        relations_text = ", ".join(map(text_of, relations))
        raise NoInstanceError(f"no instance was found, by this method, that satisfies {relations_text}{given_text}")
    return best


def quick_plan(
    parameters: Sequence[Parameter],
    relations: Sequence[Relational],
    given: Mapping[str, Value],
    *,
    completed: Callable[[Mapping[str, Value]], dict[str, Value]] = dict,
) -> Plan:
    """Return the plan of the first order with the most relations solved exactly, whatever its dead ends."""
    fixed, free, last = _grouped(parameters, given)
    orders, known = islice(permutations(free), EXPLORE.quick_orders), {}
    plans = [_bounded((*fixed, *order, *last), relations, given, known) for order in orders]
    return replace(min(plans, key=_inexact), completed=completed)


def _orders(free: Sequence[Parameter]) -> Iterator[tuple[Parameter, ...]]:
    """Yield all orders; if there are too many, alternate with orders that end with parameters without a lower bound.

    A relation usually leaves its last parameter a value if that parameter has no lower bound.
    """
    if math.factorial(len(free)) <= EXPLORE.orders:
        yield from permutations(free)
        return
    unbounded = [parameter for parameter in free if domain_of(parameter).low is None]
    bounded = [parameter for parameter in free if parameter not in unbounded]
    last = ((*first, *rest) for first in permutations(bounded) for rest in permutations(unbounded))
    for pair in zip(permutations(free), last, strict=False):
        yield from pair


def _inexact(order: Plan) -> int:
    """Return the number of relations that are solved by bisection."""
    return sum(not bound.exact for bounds in order.bounds.values() for bound in bounds)


def _grouped(parameters: Sequence[Parameter], given: Mapping[str, Value]) -> tuple[list[Parameter], ...]:
    """Return three groups: given parameters and words, drawn parameters, and parameters with a default."""
    fixed = [p for p in parameters if p.name in given or p.kind == "word"]
    fixed.sort(key=lambda p: p.name not in given)
    drawn = [p for p in parameters if p not in fixed]
    return fixed, [p for p in drawn if p.default is None], [p for p in drawn if p.default is not None]


def _bounded(
    order: Sequence[Parameter],
    relations: Sequence[Relational],
    given: Mapping[str, Value],
    known: dict[tuple[str, frozenset[str]], tuple[Solvable | ByWord, ...]],
) -> Plan:
    """Return the plan of one order; `known` caches the bounds on a parameter by the set of earlier ones."""
    bounds: dict[str, tuple[Solvable | ByWord, ...]] = {}
    before: frozenset[str] = frozenset()
    names = frozenset(parameter.name for parameter in order)
    words = {parameter.name: parameter.words for parameter in order if parameter.kind == "word"}
    for parameter in order:
        last, key = parameter.name, (parameter.name, before)
        if key not in known:
            bounded_by = {
                relation: names.intersection(symbols_by_name(relation)) for relation in relations if last not in given
            }
            solved = {
                r: needs - {last} for r, needs in bounded_by.items() if last in needs and needs <= before | {last}
            }
            known[key] = tuple(
                ByWord(relation, last, others, words) if relation.has(Case) else solvable(relation, last, others)
                for relation, others in solved.items()
            )
        bounds[last] = known[key]
        before |= {last}
    return Plan(tuple(order), bounds, dict(given))


def _dead_ends(plan: Plan, fewest: int, tick: Callable[[], None], known: _Steps) -> int:
    """Return the number of random walks that meet an empty range, at most `fewest`; `known` caches their steps."""
    steps = [parameter for parameter in plan.parameters if parameter.name not in plan.given]
    # Lists and defaults are not walked: no relation bounds a list, and no order avoids a dead end at a default.
    steps = [step for step in steps if step.kind != "rationals" and not plan.defaulted(step)]
    walking = {seed: dict(plan.given) for seed in range(EXPLORE.trials)}
    path: tuple[str, ...] = ()
    for step in steps:
        path = (*path, step.name)
        for seed, drawn in list(walking.items()):
            tick()
            if (path, seed) not in known:
                known[path, seed] = _step(plan, step, drawn, random.Random(f"{seed} {path}"))
            after = known[path, seed]
            if after is not None:
                walking[seed] = after
                continue
            del walking[seed]
            if EXPLORE.trials - len(walking) >= fewest:
                return fewest
    return EXPLORE.trials - len(walking)


def _step(plan: Plan, parameter: Parameter, drawn: dict[str, Value], source: random.Random) -> dict[str, Value] | None:
    if parameter.kind == "word":
        return {**drawn, parameter.name: source.choice(parameter.words)}
    parts = plan.ranges(parameter, drawn)
    if not parts:
        return None
    value = _random_value(source.choice(parts), source, integer=parameter.kind == "integer")
    return {**drawn, parameter.name: value}


def _random_value(admissible: Range, source: random.Random, *, integer: bool) -> Value:
    reach = Fraction(source.choice((1, 10, 1000)))
    low = admissible.low if admissible.low is not None else (admissible.high or Fraction(0)) - reach
    high = admissible.high if admissible.high is not None else low + reach
    if integer:
        return source.randint(int(low), int(min(high, low + reach)))
    return low + (high - low) * Fraction(source.randint(1, 15), 16)


def _in_general(parameter: Parameter, parts: Ranges, source: random.Random, steps: Iterator[int]) -> Value:
    """Return a parameter's value in general position."""
    if parameter.kind == "rationals":
        return tuple(_general_value(parts[0], source) for _ in range(source.randint(2, EXPLORE.longest)))
    part = source.choice(parts)
    return _apart(part, next(steps)) if parameter.kind == "integer" else _general_value(part, source)


def _simplest(parameter: Parameter, parts: Ranges) -> Value:
    """Return a parameter's simplest value."""
    value = _simple_value(parts[0], integer=parameter.kind == "integer")
    return (value,) if parameter.kind == "rationals" else value  # type: ignore[return-value]


def _general_value(admissible: Range, source: random.Random) -> Fraction:
    """Return a number of moderate size that is neither an end nor simple."""
    low, high = admissible.low, admissible.high
    step = Fraction(source.randint(17, 97), 31)
    if low is None:
        return source.choice((-1, 1)) * step if high is None else high - step
    return low + step if high is None else low + (high - low) * Fraction(source.randint(7, 30), 37)


def _apart(admissible: Range, step: int) -> int:
    """Return the integer `step` away from the integer nearest to 0, or the last integer of the range on that side."""
    start, up, down = _room(admissible)
    return start + min(step, up) if up >= down else start - min(step, down)


def _simple_value(admissible: Range, *, integer: bool) -> Value:
    """Return an end, the integer that is nearest to 0, or a simple value beside an end."""
    low, high = admissible.low, admissible.high
    if integer:
        return _room(admissible)[0]
    if low is not None and not admissible.low_open:
        return low
    if high is not None and not admissible.high_open:
        return high
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _room(admissible: Range) -> tuple[int, int, int]:
    """Return the integer of a range that is nearest to 0, and the lengths of the range above and below it."""
    assert admissible.low is not None and admissible.high is not None
    low, high = int(admissible.low), int(admissible.high)
    start = max(low, min(high, 0))
    return start, high - start, start - low
