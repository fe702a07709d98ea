r"""Trials of L equal steps at m and m + 1 examples, by the exact loss E tr (I − aS)^{2L}.

By Lemma 1 each layer multiplies the residual w* − v by I − a Σ^{-1} XXᵀ/m. With w* = Σ^{-1/2} g and X = Σ^{1/2} G, g
and G standard normal, f = E |Σ^{1/2} (w* − v_L)|² = E |(I − aS)^L g|², S = G Gᵀ/m.

The moments E tr S^k are those of a real Wishart matrix, by zonal polynomials: over the partitions κ of k,

    E tr (GGᵀ)^k = 2k Σ_κ ∏' c ∏ (d + c)(m + c) / ∏ h h',    c = 2(j − 1) − (i − 1) at the box in row i and column j,

with h = 2a + l + 1 and h' = 2a + l + 2 if a boxes are to its right and l below it; ∏' leaves out the first box. Reason:
the power sum tr (GGᵀ)^k has the coefficient 2k ∏' c / ∏ h h' on the Jack polynomial J_κ of α = 2, and
E J_κ(GGᵀ) is ∏ (d + c)(m + c).
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import comb, prod
from typing import TYPE_CHECKING

from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials
from verify import Trial

if TYPE_CHECKING:
    from numpy.random import Generator

DRAWS = 40
MOST_LAYERS = 5


def never_rises(more: int) -> Trials:
    """Return trials of the claim f(m + 1) ≤ m/(m + more) f(m), where f(m) is the loss of L equal steps at m examples.

    L is drawn from 1 to 5, and a (m + d + 1)/m from -2 to 4 or, half of the time, from 0 to 2.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        size, examples = instance["d"], instance["m"]
        share = Fraction(examples, examples + more)
        while True:
            step = Fraction(int(random.integers(-200, 401)), 100) * Fraction(examples, examples + size + 1)
            if random.random() < 0.5:
                step = abs(step) / 2
            layers = int(random.integers(1, MOST_LAYERS + 1))
            before, after = (loss(step, layers, size, count) for count in (examples, examples + 1))
            yield Trial(share - after / before, 0, {"a": step, "L": layers})

    return trials


def loss(step: Fraction, layers: int, size: int, examples: int) -> Fraction:
    """Return E tr (I − aS)^{2L}."""
    terms = (comb(2 * layers, k) * (-step) ** k * mean_trace(k, size, examples) for k in range(2 * layers + 1))
    return sum(terms, Fraction())


@lru_cache
def mean_trace(power: int, size: int, examples: int) -> Fraction:
    """Return E tr S^k, k = `power`, S = G Gᵀ/m."""
    if not power:
        return Fraction(size)
    return 2 * power * sum((_term(shape, size, examples) for shape in partitions(power, power)), Fraction())


def partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of a number into parts of at most `largest`, the parts of each in falling order."""
    if not total:
        yield ()
    for first in range(min(total, largest), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


def _term(shape: tuple[int, ...], size: int, examples: int) -> Fraction:
    boxes = [(i, j) for i, row in enumerate(shape) for j in range(row)]
    contents = [2 * j - i for i, j in boxes]
    hooks = 1
    for i, j in boxes:
        hook = 2 * (shape[i] - j - 1) + sum(row > j for row in shape[i + 1 :]) + 1
        hooks *= hook * (hook + 1)
    weights = prod(contents[1:]) * prod((size + c) * (examples + c) for c in contents)
    return Fraction(weights, hooks * examples ** len(boxes))
