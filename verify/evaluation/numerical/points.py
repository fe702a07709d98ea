"""Points of the numerical search: simple points on a lattice, drawn points, and the coordinates for descents."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain, islice, product

import numpy as np

from verify.evaluation.admissible_ranges import Range
from verify.evaluation.instances import simplicity
from verify.evaluation.numerical.limits import NUMERICAL
from verify.language.parameters import simplest_between


@dataclass(frozen=True)
class Box:
    """The values that a parameter may have, by its domain and by the relations without other parameters."""

    range: Range
    integer: bool

    def simple(self, most: int) -> list[Fraction]:
        """Return at most `most` values of the box, the simplest first."""
        plain = _plain_integers() if self.integer else _plain()
        low = self.range.low
        if low is None or low in (0, 1):
            far = [value for value in _FAR if value in self.range and (value.denominator == 1 or not self.integer)]
            far = far[: most // NUMERICAL.far]
            near = (value for value in plain if value in self.range and value not in far)
            return [*far, *islice(near, most - len(far))]
        # Simple distances from the bound are tried as well.
        both = chain.from_iterable((value, low + value) for value in plain)
        inside = dict.fromkeys(value for value in both if value in self.range)
        return sorted(islice(inside, most), key=_height)

    def ends(self) -> tuple[float, float]:
        """Return the least and the largest coordinate."""
        if self.integer:
            return (0.0, NUMERICAL.integers) if self._one_sided else (-NUMERICAL.integers, NUMERICAL.integers)
        if self._bounded:
            return -NUMERICAL.inside, NUMERICAL.inside
        return (-NUMERICAL.towards, NUMERICAL.away) if self._one_sided else (-NUMERICAL.away, NUMERICAL.away)

    @property
    def _bounded(self) -> bool:
        return self.range.low is not None and self.range.high is not None

    @property
    def _one_sided(self) -> bool:
        return self.range.low is not None or self.range.high is not None

    @np.errstate(all="ignore")
    def values(self, u: np.ndarray) -> np.ndarray:
        """Return a parameter's values at coordinates."""
        low, high = (None if end is None else float(end) for end in (self.range.low, self.range.high))
        if low is not None and high is not None and not self.integer:
            return low + (high - low) / (1 + np.exp(-u))
        away = np.expm1(u) if self.integer else np.exp(u)
        values = low + away if low is not None else high - away if high is not None else np.sinh(u)
        return np.clip(np.round(values), low, high) if self.integer else values

    @np.errstate(all="ignore")
    def coordinates(self, values: np.ndarray) -> np.ndarray:
        """Return the coordinates of a parameter's values, clipped to their range."""
        low, high = (None if end is None else float(end) for end in (self.range.low, self.range.high))
        if low is not None and high is not None and not self.integer:
            share = (values - low) / (high - low)
            u = np.log(share / (1 - share))
        elif self.integer:
            u = np.log1p(np.abs(values - (low if low is not None else high if high is not None else 0)))
            u = u if low is not None or high is not None else np.arcsinh(values)
        elif low is not None or high is not None:
            u = np.log(values - low if low is not None else high - values)  # pyright: ignore[reportOptionalOperand]
        else:
            u = np.arcsinh(values)
        return np.clip(np.nan_to_num(u, nan=0.0, posinf=math.inf, neginf=-math.inf), *self.ends())


_FAR = tuple(Fraction(10) ** k * sign for k in (3, -3, 6, -6, 2, -2) for sign in (1, -1))


def lattice(boxes: Sequence[Box], most: int) -> Iterator[tuple[np.ndarray, list[list[Fraction]]]]:
    """Yield lattices of simple values, each as an array of indices of shape (n, parameters) and the values indexed.

    The simplest points come first. If there are at most `most` points in all, the only lattice has all of them. There
    is no lattice if two values for each parameter already make more than `most` points.
    """
    every = all_values(boxes, most)
    for share in NUMERICAL.lattices if every is None else (1,):
        count = max(2, int(min(most * share, NUMERICAL.batch) ** (1 / len(boxes)) + 1e-9))
        values = [box.simple(count) for box in boxes] if every is None else every
        if not all(values) or math.prod(map(len, values)) > most:
            return
        grids = np.meshgrid(*(np.arange(len(each)) for each in values), indexing="ij")
        indices = np.stack([grid.ravel() for grid in grids], axis=1)
        costs = sum(np.array([_size(v) for v in each])[indices[:, i]] for i, each in enumerate(values))
        yield indices[np.argsort(costs, kind="stable")], values


def all_values(boxes: Sequence[Box], most: int) -> list[list[Fraction]] | None:
    """Return all values of each parameter, the simplest first.

    The result is None unless all parameters are integers between two bounds and make at most `most` points.
    """
    bounded = [(b.range.low, b.range.high) for b in boxes if b.integer]
    ends = [(math.ceil(low), math.floor(high)) for low, high in bounded if low is not None and high is not None]
    if len(ends) < len(boxes) or math.prod(high - low + 1 for low, high in ends) > most:
        return None
    return [sorted(map(Fraction, range(low, high + 1)), key=_height) for low, high in ends]


def drawn(boxes: Sequence[Box], count: int, source: np.random.Generator) -> np.ndarray:
    """Return coordinates of drawn points, an array of shape (count, parameters).

    About half of the points are uniform between the coordinates' ends, and the others normal around coordinate 0.
    """
    ends = np.array([box.ends() for box in boxes])
    wide = source.uniform(ends[:, 0], ends[:, 1], (count, len(boxes)))
    near = np.clip(source.normal(0, NUMERICAL.spread, (count, len(boxes))), ends[:, 0], ends[:, 1])
    return np.where(source.random((count, 1)) < 0.5, wide, near)


def values_at(boxes: Sequence[Box], coordinates: np.ndarray) -> np.ndarray:
    """Return the points at coordinates."""
    return np.stack([box.values(coordinates[:, i]) for i, box in enumerate(boxes)], axis=1)


def coordinates_of(boxes: Sequence[Box], points: np.ndarray) -> np.ndarray:
    """Return the coordinates of points."""
    return np.stack([box.coordinates(points[:, i]) for i, box in enumerate(boxes)], axis=1)


def simplest_near(value: float, share: float) -> Fraction:
    """Return the simplest number whose distance from a float is at most `share` times the float's size."""
    exact = Fraction(value)
    reach = abs(exact) * Fraction(share)
    return simplest_between(exact - reach, exact + reach)


@lru_cache(maxsize=2**14)
def cost(value: Fraction) -> tuple[int, ...]:
    """Return a sort key that puts simple numbers first."""
    return simplicity({"": value})


@lru_cache(maxsize=2**14)
def _size(value: Fraction) -> float:
    digits, sizes, below = (min(part, NUMERICAL.long) for part in cost(value))
    return NUMERICAL.long * digits + sizes + below / NUMERICAL.long


def _height(value: Fraction) -> tuple[int, Fraction, bool]:
    """Return a sort key that puts small numerators and denominators first, and each number next to its negative."""
    return abs(value.numerator) + value.denominator, abs(value), value < 0


@cache
def _plain() -> list[Fraction]:
    small = {Fraction(p, q) for p, q in product(range(NUMERICAL.small + 1), range(1, NUMERICAL.small + 1))}
    powers = {Fraction(10) ** k for k in range(-6, 7)}
    near = {1 - power for power in powers} | {1 + power for power in powers}
    sizes = {abs(each) for each in small | powers | near} | set(map(Fraction, range(100)))
    return sorted(sizes | {-size for size in sizes}, key=_height)


@cache
def _plain_integers() -> list[Fraction]:
    sizes = {*range(2000), *(10**k for k in range(4, 7)), *(2**k for k in range(11, 20))}
    return sorted((Fraction(sign * size) for size in sizes for sign in ((1, -1) if size else (1,))), key=_height)
