"""Population gradient descent on the set V = (αI, 0), W = diag(0, C·I) with encodings of random signs, in float64.

With P and R of `sign_attention` the loss there is L = d/2 (α²R − 2αP/q + 1/q). The signs' distribution is the same
after any permutation and change of sign of the d_e coordinates, and the tokens' after any rotation, so that the
population gradient is along the set, and a step is

    α' = α − η (αR − P/q),    C' = C − η/d_e · d/2 (α²R' − 2αP'/q).

P and R are enclosed at a few C and interpolated.
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
from theorems.sparse_token_selection.sign_attention import BITS, EFFORTS, SignAttention, outer
from verify import InputError

_NODES, _FINE_NODES = 6, 10
"""Chebyshev's points in a cell, its ends among them: polynomials of degree 5, or 9."""
_FINE_CELLS = 4
"""Cells to a length of 1 where P and R are interpolated finely; otherwise it is one."""


class Scales(NamedTuple):
    """What P, R and their slopes are multiplied by: 1, but where an error is planted."""

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


@dataclass(frozen=True)
class Layer:
    """T tokens of which q are selected, d and d_e dimensions, and whether the query is attended to.

    P and R are interpolated finely where all is small, and their enclosures are narrow at the most effort.
    """

    T: int
    q: int
    d: int
    d_e: int
    query: bool
    fine: bool = False
    _cells: "dict[float, tuple[Polynomial, Polynomial, float]]" = field(default_factory=dict, compare=False, repr=False)

    def means(self, C: float) -> tuple[float, float, float, float]:
        """Return P, R and their slopes at C."""
        cell, found = self._cell(C), []
        x = C - self._place(C)
        # Without numpy: a step is some microseconds.
        for polynomial in cell[:2]:
            value = slope = 0.0
            for coefficient in polynomial.coef[::-1]:
                slope = slope * x + value
                value = value * x + coefficient
            found.append((float(value), float(slope)))
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
        """Return about how far P and R may be off: enclosures' half widths, the interpolation's last term or two.

        The terms fall by more than a factor 2 from one to the next where it is used.
        """
        return self._cell(C)[2]

    def error(self, alpha: float, C: float) -> float:
        """Return about how far the loss may be off."""
        return self.d / 2 * (alpha**2 + 2 * abs(alpha) / self.q) * self.off(C)

    def descent(self, alpha: float, C: float, rates: "Iterator[float]") -> Iterator[OnTheSet]:
        """Yield the points of gradient descent from a point of the set, with one step for each rate.

        It ends where it leaves C ≥ 0, beyond which nothing is derived.
        """
        yield OnTheSet(0, alpha, C, self.loss(alpha, C))
        for step, rate in enumerate(rates, 1):
            alpha, C = self.step(alpha, C, rate)
            if C < 0:
                return
            yield OnTheSet(step, alpha, C, self.loss(alpha, C))

    def _place(self, C: float) -> float:
        """Return where the cell begins. Raises InputError where P and R are not derived."""
        if not C >= 0:
            raise InputError("C", C, "must be >= 0: P and R are derived there")
        cells = _FINE_CELLS if self.fine else 1
        return math.floor(C * cells) / cells

    def _cell(self, C: float) -> "tuple[Polynomial, Polynomial, float]":
        place = self._place(C)
        if place not in self._cells:
            self._cells[place] = self._interpolated(place)
        return self._cells[place]

    def _interpolated(self, place: float) -> "tuple[Polynomial, Polynomial, float]":
        model = SignAttention(self.T, self.q, self.d_e, self.query)
        count, length, effort = (_FINE_NODES, 1 / _FINE_CELLS, EFFORTS[-1]) if self.fine else (_NODES, 1, EFFORTS[1])
        nodes = length * (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2
        middles, half = [], 0.0
        with flint.ctx.workprec(BITS):
            for node in nodes:
                C = flint.arb(place) + flint.arb(float(node))
                ends = [outer(*mean(C, effort)) for mean in (model.selected, model.squares)]
                middles.append([float((low + high) / 2) for low, high in ends])
                half = max(half, *(float((high - low) / 2) for low, high in ends))
        P, R = (Polynomial.fit(nodes, column, count - 1, domain=[0, length]) for column in np.array(middles).T)
        # Finely, the last term is near rounding, and may vanish by symmetry: the last two.
        terms = 2 if self.fine else 1
        last = max(np.abs(np.polynomial.chebyshev.poly2cheb(each.coef)[-terms:]).sum() for each in (P, R))
        return P.convert(), R.convert(), half + float(last)

    def floor(self, accuracy: Fraction = ACCURACY) -> tuple[float, float]:
        """Return bounds of the least loss on the set, about as far apart as the relative accuracy says."""
        gain = greatest_gain(self.T, self.q, self.d_e, self.query, accuracy)
        most = self.d / (2 * self.q)
        return most * float(1 - gain.upper), most * float(1 - gain.lower)


@lru_cache(maxsize=64)
def layer(T: int, q: int, d: int, d_e: int, query: bool, fine: bool = False) -> Layer:
    """Return a layer whose interpolation is made once."""
    return Layer(T, q, d, d_e, query, fine)


def annealed(eta: float, late: float, after: int, steps: int) -> Iterator[float]:
    """Yield the step sizes of a training: `eta`, then `late` from the step `after` on."""
    yield from (eta if step < after else late for step in range(steps))
