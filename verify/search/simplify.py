"""Simplification of instances: values are replaced by simpler ones as long as a condition still holds."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, permutations, product

from verify.errors import InputError
from verify.evaluation.admissible_ranges import Range, Ranges
from verify.evaluation.instances import simplicity
from verify.language.parameters import Parameter, Value, simplest_between
from verify.outcomes import digit_count
from verify.search.limits import EXPLORE
from verify.search.plans import Plan

Instance = dict[str, Value]
_PLAIN = (*map(Fraction, range(6)), *(Fraction(1, q) for q in (2, 3, 4, 5, 10, 100, 1000, 10**4, 10**6)))
"""Numbers that are tried in place of any rational number, if they are simpler."""


def simplest(
    plan: Plan, start: Instance, holds: Callable[[Instance], bool], *, most_trials: int = EXPLORE.simpler
) -> list[Instance]:
    """Return instances that satisfy `holds`, from `start` on, each simpler than the one before.

    The last instance is not improved by any candidate tried. A candidate replaces one or two values. A value drawn
    after a replaced one stays, or moves to the same relative place in its new range, so that an end stays an end. At
    most `most_trials` candidates are tried.
    """
    path, failed = [start], set[tuple[Value, ...]]()

    def improves(candidate: Instance) -> bool:
        if tuple(candidate.values()) in failed:
            return False
        if len(failed) + len(path) > most_trials:
            return False
        if holds(candidate):
            path.append(candidate)
            return True
        failed.add(tuple(candidate.values()))
        return False

    # Small steps come after large steps and changes of two values, so that they do not use up the trials.
    before = 0
    while len(path) > before:
        before = len(path)
        for small in (False, True):
            while any(improves(candidate) for candidate in _candidates(plan, path[-1], small=small)):
                pass
    return path


def _candidates(plan: Plan, instance: Instance, *, small: bool) -> Iterator[Instance]:
    """Yield instances simpler than `instance`; `small` chooses small changes of one value."""
    completed = partial(_completed, plan, instance, cache(lambda parameter: plan.ranges(parameter, instance)))
    free = [name for name in (p.name for p in plan.parameters) if name not in plan.given]
    simpler = smaller_values if small else simpler_values
    choices = {p.name: [v for v in simpler(instance[p.name]) if v in p] for p in plan.parameters}
    for name in free:
        for value in choices[name]:
            yield from completed({name: value})
    if small:
        return
    for one, other in combinations(free, 2):
        for value in choices[one][: EXPLORE.paired]:
            for another in choices[other][: EXPLORE.paired]:
                yield from completed({one: value, other: another})
        pair = {name: value for name in (one, other) if isinstance(value := instance[name], Fraction)}
        for changes in _same_ratios(pair) if len(pair) == 2 else ():
            yield from completed(changes)


def _same_ratios(pair: Mapping[str, Fraction]) -> Iterator[dict[str, Fraction]]:
    """Yield pairs of numbers in about the same ratio; a claim that fails because of the ratio fails there as well."""
    one_by_one = {value.denominator for value in pair.values()}
    for whole in sorted((one_by_one | {math.lcm(*one_by_one)}) - {1}):
        yield {name: value * whole for name, value in pair.items()}
    for one, other in permutations(pair):
        if pair[one] > 1:
            ratio = pair[other] / pair[one]
            for share, sign in product(EXPLORE.distances[1:], (1, -1)):
                yield {one: Fraction(1), other: simplest_between(*sorted((ratio, ratio * (1 + sign * share))))}


def _completed(
    plan: Plan, instance: Instance, ranges: Callable[[Parameter], Ranges], changes: Mapping[str, Value]
) -> Iterator[Instance]:
    """Yield the instances with some values changed that are admitted and simpler than `instance`.

    First, all other values stay. If that instance is not yielded, later values outside their new ranges are moved into
    these ranges. Last, all later values whose ranges changed are moved.
    """
    plain = {**instance, **changes}
    seen, admitted = [plain], simplicity(plain) < simplicity(instance) and plan.admits(plain)
    if admitted:
        yield plain
    for always in (True,) if admitted else (False, True):
        moved = _moved(plan, ranges, plain, changes, always=always)
        if moved is not None and moved not in seen:
            seen.append(moved)
            if simplicity(moved) < simplicity(instance) and plan.admits(moved):
                yield moved


def _moved(
    plan: Plan, ranges: Callable[[Parameter], Ranges], plain: Instance, changes: Mapping[str, Value], *, always: bool
) -> Instance | None:
    """Return the changed instance with later values moved to their new ranges.

    The result is None if a value has no place in its new range, or a default has no value. With `always` every later
    value whose range changed is moved, else only the values outside their new ranges. `ranges` gives the admissible
    values of a parameter before the change.
    """
    moved: Instance = {}
    for parameter in plan.parameters:
        name = parameter.name
        value = plain[name]
        if plan.defaulted(parameter):
            try:
                moved = {**moved, **plan.completed(moved)}
            except InputError:
                return None
            continue
        if not isinstance(value, str | tuple) and name not in plan.given:
            parts = plan.ranges(parameter, moved)
            inside = any(value in part for part in parts)
            if not inside and (name in changes or not parts):
                return None
            if name not in changes and (always or not inside):
                before = next((p for p in ranges(parameter) if value in p), parts[0])
                if before not in parts:
                    value = _placed(value, before, parts[0])
        moved[name] = value
    return moved


def _placed(value: Value, before: Range, after: Range) -> Value:
    """Return a simple value at about the same relative place in another range."""
    assert not isinstance(value, str | tuple)
    if isinstance(value, int):
        if value in (before.low, before.high) and before.low != before.high:
            end = after.low if value == before.low else after.high
            return value if end is None else int(end)
        ends = [end for end in (after.low, after.high) if end is not None]
        return value if value in after or not ends else int(min(ends, key=lambda end: abs(end - value)))
    place = Fraction(1, 2)
    if before.low is not None and before.high is not None and before.high > before.low:
        place = (value - before.low) / (before.high - before.low)
    if before.low and after.low and before.low * after.low > 0 and before.high is after.high is None:
        distance = (value - before.low) * after.low / before.low
        return simplest_between(after.low + distance / 2, after.low + distance * 3 / 2)
    low = after.low if after.low is not None else (after.high or Fraction(0)) - 1
    high = after.high if after.high is not None else low + 1
    if place in (0, 1):
        return high if place else low
    middle = low + place * (high - low)
    reach = min(middle - low, high - middle) / 2
    return simplest_between(middle - reach, middle + reach)


def simpler_values(value: Value) -> Iterator[Value]:
    """Yield values simpler than `value`: smaller integers, or simple numbers and the simplest nearby fractions.

    A list loses an entry, or one entry is replaced by a simpler number.
    """
    if isinstance(value, tuple) and len(value) > 1:
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)))

    def integers(number: int) -> Iterator[int]:
        size = abs(number)
        powers = {10**k for k in range(1, digit_count(size))}
        sizes = sorted({*range(min(size, 12)), *powers, size // 2})
        signs = (1,) if number > 0 else (1, -1)
        return (sign * v for v in sizes if 0 <= v < size for sign in signs if v or sign > 0)

    yield from _exchanged(
        value, integers, lambda number: (*_PLAIN, *(_nearby(number, share) for share in EXPLORE.distances))
    )


def smaller_values(value: Value) -> Iterator[Value]:
    """Yield values that are a little simpler.

    An integer loses a small part of its size, and so does the denominator of a unit fraction. A fraction is replaced by
    the simplest number close to it.
    """

    def integers(number: int) -> Iterator[int]:
        sign = 1 if number > 0 else -1
        return (sign * v for v in _a_little_less(abs(number)) if 0 <= v < abs(number))

    def fractions(number: Fraction) -> Iterator[Fraction]:
        sign, size = (1 if number > 0 else -1), abs(number.numerator)
        if number.denominator == 1:
            yield from (Fraction(sign * v) for v in _a_little_less(size))
        if size == 1:
            yield from (Fraction(sign, v) for v in _a_little_less(number.denominator) if v)
        yield _nearby(number, EXPLORE.small_distance)

    yield from _exchanged(value, integers, fractions)


def _exchanged(
    value: Value, integers: Callable[[int], Iterable[int]], fractions: Callable[[Fraction], Iterable[Fraction]]
) -> Iterator[Value]:
    """Yield replacements of a number, or lists with one entry replaced; a fraction only by simpler fractions."""

    def simpler(number: Fraction) -> Iterator[Fraction]:
        others = dict.fromkeys(fractions(number))
        return (other for other in others if simplicity({"": other}) < simplicity({"": number}))

    if isinstance(value, int):
        yield from integers(value)
    elif isinstance(value, Fraction):
        yield from simpler(value)
    elif isinstance(value, tuple):
        for i, entry in enumerate(value):
            yield from ((*value[:i], other, *value[i + 1 :]) for other in simpler(entry))


def _nearby(value: Fraction, share: Fraction) -> Fraction:
    return simplest_between(value - abs(value) * share, value + abs(value) * share)


def _a_little_less(size: int) -> list[int]:
    """Return a size minus 1, and minus a tenth, a hundredth, … of it: few such steps lead to any smaller size."""
    powers = (10**k for k in range(1, digit_count(size)))
    return sorted({size - size // power for power in powers} | {size - 1})


def neighbours(instance: Instance, share: Fraction, fixed: set[str]) -> Iterator[Instance]:
    """Yield the instances with one number moved up or down by a share of itself, an integer by at least 1."""
    for name, value in instance.items():
        if name in fixed or isinstance(value, str):
            continue
        for factor in (1 - share, 1 + share):
            if isinstance(value, int):
                yield {**instance, name: value + (1 if factor > 1 else -1) * max(1, int(abs(value) * share))}
            elif isinstance(value, Fraction):
                yield {**instance, name: (value * factor).limit_denominator(10**9)}
            else:
                for i, entry in enumerate(value):
                    moved = (entry * factor).limit_denominator(10**9)
                    yield {**instance, name: (*value[:i], moved, *value[i + 1 :])}
