"""Trials of claims about layers A_l = a_l Σ^{-1}, B_l = b_l I of pattern (11), by the loss of `token_layers`."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from theorems.closed_forms import Values
from theorems.preconditioned_descent.trials.token_layers import (
    INFINITY,
    POSITIVE,
    Bounds,
    Layers,
    critical_points,
    descended,
    label,
    named,
    tried,
)
from verify import Trial, UndecidedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance


FIRST_RATE = 1 / 20
"""Value from which a descent starts a rate that was 0."""
ROOM = 10**8
"""Inverse of the relative error of a descent's end: a descent ends when a step gains less than 10⁻¹⁴ of f, and a
million such steps gain 10⁻⁸. For d > n, f contains the summand d − n, which no layer changes: a violation below
10⁻⁸ (d − n) is not detected."""


def _layers(instance: "Instance") -> int:
    return int(instance.get("L", 2))


def positive_but_one(special: Values) -> "Trials":
    """Return trials of the claim that a point of S is critical, and all other critical points have a_0, a_1, b_0 > 0.

    The claim is about two layers. The trials are the exact slopes at this point, and the critical points that a root
    search from random points finds.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        layers, at = Layers(2, instance), special(instance)
        for i, name in enumerate(named(at)):
            yield Trial(-abs(_exact_slope(layers, at, i)), 0, {**named(at), "slope in": name})

        def away(point: "np.ndarray") -> float:
            return float(abs(point - [float(number) for number in at]).max())

        for point, error in critical_points(layers, random, lambda point: max(float(point.min()), -away(point))):
            yield Trial(0 if away(point) <= error else float(point.min()), error, named(point))

    return trials


def _exact_slope(layers: Layers, at: Sequence[Fraction], place: int) -> Fraction:
    """Return a slope of f, exactly, from values at ±1, ±2, ±3: f has degree at most 6 in each coordinate."""
    weights = {1: Fraction(3, 4), 2: Fraction(-3, 20), 3: Fraction(1, 60)}
    moved = {i: [*at[:place], at[place] + i, *at[place + 1 :]] for i in range(-3, 4)}
    return sum((w * (layers.loss(moved[i]) - layers.loss(moved[-i])) for i, w in weights.items()), Fraction(0))


def least_within(bounds: Bounds) -> "Trials":
    """Return trials of the claim that f of two layers over S attains its least value in bounds of a_0, a_1, b_0.

    The trials are random points and the ends of descents from them. Each is compared with the lowest point known within
    the bounds: at first the end of descents there, then also the points tried.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        layers = Layers(2, instance)
        lowest = layers.loss(layers.best(random, bounds))
        for point in tried(layers, random):
            here = layers.loss(point)
            if all(low <= number <= high for number, (low, high) in zip(point, bounds, strict=True)):
                lowest = min(here, lowest)
            yield Trial(here - lowest, lowest / ROOM, named(point))

    return trials


def between(lower: Callable[[Layers], Fraction]) -> "Trials":
    """Return trials of the claim that the infimum of f over S is between two bounds.

    The infimum is below the least loss of L layers with rates 0, and not below `lower`. The trials are the end of a
    descent from the least point with rates 0, random points, and the ends of descents from these.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        layers = Layers(_layers(instance), instance)
        above, below = layers.least_without_rates(layers.layers), lower(layers)
        at_rest = layers.best(random, [(0, INFINITY)] * layers.layers + [(0, 0)] * (layers.layers - 1))
        best = descended(layers.value, np.where(at_rest == 0, FIRST_RATE, at_rest))
        gained = above - layers.loss(best)
        if 0 >= gained >= -above / ROOM:
            # If d is far above n, the infimum is lower by less than a descent in float64 resolves.
            raise UndecidedError("no lower point was found by a descent in float64")
        yield Trial(gained, 0, named(best))
        for point in chain([best], tried(layers, random)):
            yield Trial(layers.loss(point) - below, 0, named(point))

    return trials


def no_negative_step(rates: bool = False) -> "Trials":
    """Return trials of the claim that at every critical point of f over S no step is negative.

    With `rates` the claim is also about the rates. The trials are the critical points that a root search from random
    points finds.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        layers = Layers(_layers(instance), instance)

        def least(point: "np.ndarray") -> float:
            return float((point if rates else point[: layers.layers]).min())

        for point, error in critical_points(layers, random, least):
            yield Trial(least(point), error, named(point))

    return trials


def valley(factor: Fraction = Fraction(1)) -> "Trials":
    """Return trials of the claim that over a_0 < 0 the infimum of f is `factor` · V.

    V is the least value of G, at a_1, p > 0. G is the limit of f as a_0 → 0 and b_0 = p/a_0. The trials are: G's least
    point found by descents has a_1, p > 0; f is lower at some positive steps and rate; f at this a_1 and p and a_0 =
    −10⁻¹ … −10⁻⁶ times n/(n + d + 1); random points with a_0 < 0, and the ends of descents from these.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        layers = Layers(2, instance)
        starts = [layers.scale * np.array([1, sign * size]) for sign in (1, -1) for size in (0.1, 0.3, 1)]
        low = min(
            (descended(layers.limit_value, start) for start in starts), key=lambda end: layers.limit_value(end)[0]
        )
        place = {"a_1": float(low[0]), "p": float(low[1])}
        least = factor * layers.limit(low)
        yield Trial(float(low.min()), 0, place)
        yield Trial(least - layers.loss(layers.best(random, POSITIVE)), 0, place)
        yield from _approach(layers, low, least)
        for point in tried(layers, random, [(-INFINITY, -1e-9 * layers.scale), *[(-INFINITY, INFINITY)] * 2]):
            yield Trial(layers.loss(point) - least, least / 10**8, named(point))

    return trials


def _approach(layers: Layers, low: "np.ndarray", least: Fraction) -> Iterator[Trial]:
    """Yield trials on the way to a_0 = 0: f is above `least`, and by no more than a bound that tends to 0."""
    import numpy as np

    one, move = map(float, low)
    square = (1 + label((0, one), (move, 0), layers.nodes, np.ones_like(layers.nodes))) ** 2 * layers.weights
    for power in range(1, 7):
        step = -(10.0**-power) * layers.scale
        point = [step, one, move / step]
        above = layers.loss(point) - least
        # (1 − a_0 s)² is 1 − 2a_0 s + a_0² s²; b_0 a_0 is p up to rounding, and G's slope in p is 0 there.
        rise = float(-2 * step * (square @ layers.nodes) + step**2 * (square @ layers.nodes**2))
        yield Trial(above, 0, named(point))
        yield Trial(rise - above, 1e-9 * (rise + float(least)), named(point))
