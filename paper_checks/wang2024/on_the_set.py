"""Population gradient descent on the set V = (αI, 0), W = diag(0, C·I) with encodings of random signs, in float64.

With the means P and R of `sign_attention` the loss on the set is L = d/2 (α²R − 2αP/q + 1/q). The distribution of the
signs is invariant under permutations and changes of sign of the d_e coordinates, and the distribution of the tokens
under rotations. So the population gradient is tangent to the set, and a step is

    α ← α − η (αR − P/q),    C ← C − (η/d_e) (d/2) (α² dR/dC − 2 (α/q) dP/dC).

P and R are enclosed at a few C, and the logarithms of the midpoints are interpolated: these are nearly linear in C
where R falls by powers of ten. In the coordinates x = (√d α, √d_e C) a step is x ← x − η ∇L. The Hessian of L in x
gives the rate of convergence to the least loss.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import flint
import numpy as np
from numpy.polynomial import Polynomial

from theorems.sparse_token_selection.attention_gain import ACCURACY, greatest_gain
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, Effort, SignAttention, outer
from verify import InputError


class Grid(NamedTuple):
    """The parameters of an interpolation of P and R in cells of C.

    `nodes` is the number of Chebyshev points in a cell, both ends included, and `cells` the number of cells in an
    interval of length 1. `effort` is the effort of the enclosures at the points. The sum of the last `terms` Chebyshev
    coefficients in absolute value estimates the truncation error.
    """

    nodes: int
    cells: int
    effort: Effort
    terms: int = 1


COARSE = Grid(6, 1, EFFORTS[1])
"""The fast grid: a cell takes a third of a second, and the errors of P and R are about 10⁻⁴."""
CLOSE = Grid(8, 1, EFFORTS[2])
"""The slower grid: a cell takes some seconds, and the errors of P and R are about 10⁻⁵."""
FINE = Grid(10, 4, EFFORTS[-1], terms=2)
"""The grid with narrow enclosures. Its last coefficient is near the rounding error, and may vanish by symmetry, so
the last two are taken."""
_CLOSEST = 60
"""Number of bisections for the C of the least loss."""


class Scales(NamedTuple):
    """Factors of P, R and their slopes. A factor is 1 unless an error is planted."""

    P: float = 1.0
    R: float = 1.0
    P_slope: float = 1.0
    R_slope: float = 1.0


RIGHT = Scales()


class OnTheSet(NamedTuple):
    """α, C and the loss after a number of steps."""

    step: int
    alpha: float
    C: float
    loss: float


class _Cell(NamedTuple):
    """Polynomials for log P and log R in C − (the cell's lower end), and an estimate `off` of their errors."""

    P: Polynomial
    R: Polynomial
    off: float


@dataclass(frozen=True)
class Layer:
    """A layer on T tokens, q of them selected; `query` says whether the query token is attended to.

    A token has d dimensions, and its encoding d_e.
    """

    T: int
    q: int
    d: int
    d_e: int
    query: bool
    grid: Grid = COARSE
    _cells: dict[float, _Cell] = field(default_factory=dict, compare=False, repr=False)

    def means(self, C: float) -> tuple[float, float, float, float]:
        """Return P, R and their slopes at C."""
        cell, found = self._cell(C), []
        x = C - self._place(C)
        # Horner's rule in a loop, without calls to numpy: a step takes some microseconds.
        for polynomial in cell[:2]:
            value = slope = 0.0
            for coefficient in polynomial.coef[::-1]:
                slope = slope * x + value
                value = value * x + coefficient
            mean = math.exp(value)
            found.append((mean, mean * float(slope)))
        return found[0][0], found[1][0], found[0][1], found[1][1]

    def loss(self, alpha: float, C: float, scales: Scales = RIGHT) -> float:
        """Return the loss at a point of the set."""
        P, R = (mean * scale for mean, scale in zip(self.means(C)[:2], scales[:2], strict=True))
        return self.d / 2 * (alpha**2 * R - 2 * alpha * P / self.q + 1 / self.q)

    def step(self, alpha: float, C: float, rate: float, scales: Scales = RIGHT) -> tuple[float, float]:
        """Return the α and C that a step of gradient descent leads to."""
        P, R, P_slope, R_slope = (mean * scale for mean, scale in zip(self.means(C), scales, strict=True))
        by_C = self.d / 2 * (alpha**2 * R_slope - 2 * alpha * P_slope / self.q)
        return alpha - rate * (alpha * R - P / self.q), C - rate * by_C / self.d_e

    def off(self, C: float) -> float:
        """Return an estimate of the relative errors of P and R.

        It is the enclosures' largest relative half-width plus the size of the last Chebyshev coefficients. The
        coefficients fall fast, so the last ones estimate the rest of the series, without bounding it. The absolute
        errors are no larger, since P and R are at most 1.
        """
        return self._cell(C).off

    def error(self, alpha: float, C: float) -> float:
        """Return an estimate of the loss's error."""
        P, R = self.means(C)[:2]
        return self.d / 2 * (alpha**2 * R + 2 * abs(alpha) * P / self.q) * self.off(C)

    def best(self) -> tuple[float, float]:
        """Return the α and C of the least loss on the set: C maximises P²/R, and α = P/(qR).

        Raises InputError if the maximum is not shown to be attained: the loss may then keep falling as C grows.
        """

        def rising(C: float) -> bool:
            P, R, P_slope, R_slope = self.means(C)
            return 2 * P_slope / P > R_slope / R

        found = greatest_gain(self.T, self.q, self.d_e, self.query)
        if not found.attained or found.C is None:
            raise InputError("q", self.q, "must be one for which the least loss is reached at a finite C")
        # The C of the search is near the maximiser, not at it.
        low, high = max(0.0, float(found.C) - 0.5), float(found.C) + 0.5
        assert rising(low) and not rising(high)
        for _ in range(_CLOSEST):
            middle = (low + high) / 2
            low, high = (middle, high) if rising(middle) else (low, middle)
        P, R = self.means(low)[:2]
        return P / (self.q * R), low

    def hessian(self, alpha: float, C: float) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
        """Return the (2, 2) Hessian of the loss in x = (√d α, √d_e C), in which a step is x ← x − η ∇L."""
        cell, x = self._cell(C), C - self._place(C)
        P, R, P_slope, R_slope = self.means(C)
        # (e^f)'' = e^f (f'' + f'²).
        P_bend, R_bend = (
            mean * float(log.deriv(2)(x)) + slope**2 / mean
            for mean, slope, log in ((P, P_slope, cell.P), (R, R_slope, cell.R))
        )
        mixed = math.sqrt(self.d / self.d_e) * (alpha * R_slope - P_slope / self.q)
        by_C = self.d / (2 * self.d_e) * (alpha**2 * R_bend - 2 * alpha * P_bend / self.q)
        return np.array([[R, mixed], [mixed, by_C]])

    def descent(self, alpha: float, C: float, rates: "Iterator[float]") -> Iterator[OnTheSet]:
        """Yield the points of gradient descent from a point of the set, with one step for each rate.

        The descent ends before a step to C < 0: P and R are derived for C ≥ 0 alone.
        """
        yield OnTheSet(0, alpha, C, self.loss(alpha, C))
        for step, rate in enumerate(rates, 1):
            alpha, C = self.step(alpha, C, rate)
            if C < 0:
                return
            yield OnTheSet(step, alpha, C, self.loss(alpha, C))

    def _place(self, C: float) -> float:
        """Return the lower end of the cell that contains C. Raises InputError unless C ≥ 0."""
        if not C >= 0:
            raise InputError("C", C, "must be >= 0: P and R are derived there")
        return math.floor(C * self.grid.cells) / self.grid.cells

    def _cell(self, C: float) -> _Cell:
        place = self._place(C)
        if place not in self._cells:
            self._cells[place] = self._interpolated(place)
        return self._cells[place]

    def _interpolated(self, place: float) -> _Cell:
        model = SignAttention(self.T, self.q, self.d_e, self.query)
        count, length = self.grid.nodes, 1 / self.grid.cells
        nodes = length * (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2
        logarithms, half = [], 0.0
        with flint.ctx.workprec(BITS):
            for node in nodes:
                C = flint.arb(place) + flint.arb(float(node))
                ends = [outer(*mean(C, self.grid.effort)) for mean in (model.selected, model.squares)]
                logarithms.append([math.log((low + high) / 2) for low, high in ends])
                half = max(half, *(float((high - low) / (low + high)) for low, high in ends))
        P, R = (Polynomial.fit(nodes, column, count - 1, domain=[0, length]) for column in np.array(logarithms).T)
        last = max(np.abs(np.polynomial.chebyshev.poly2cheb(f.coef)[-self.grid.terms :]).sum() for f in (P, R))
        return _Cell(P.convert(), R.convert(), half + float(last))

    def floor(self, accuracy: Fraction = ACCURACY) -> tuple[float, float]:
        """Return a lower and an upper bound on the least loss on the set, of relative distance about `accuracy`."""
        gain = greatest_gain(self.T, self.q, self.d_e, self.query, accuracy)
        most = self.d / (2 * self.q)
        return most * float(1 - gain.upper), most * float(1 - gain.lower)


@lru_cache(maxsize=64)
def layer(T: int, q: int, d: int, d_e: int, query: bool, grid: Grid = COARSE) -> Layer:
    """Return the layer of these sizes, cached with its interpolation."""
    return Layer(T, q, d, d_e, query, grid)


def annealed(eta: float, late: float, after: int, steps: int) -> Iterator[float]:
    """Yield the step sizes of a training: `eta`, then `late` from the step `after` on."""
    yield from (eta if step < after else late for step in range(steps))
