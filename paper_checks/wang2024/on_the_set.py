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

_NODES = 6
"""Chebyshev's points in a cell of length 1, its ends among them: polynomials of degree 5."""


class OnTheSet(NamedTuple):
    """α, C and the loss after a number of steps."""

    step: int
    alpha: float
    C: float
    loss: float


@dataclass(frozen=True)
class Layer:
    """T tokens of which q are selected, d and d_e dimensions, and whether the query is attended to."""

    T: int
    q: int
    d: int
    d_e: int
    query: bool
    _cells: "dict[int, tuple[Polynomial, Polynomial, float]]" = field(default_factory=dict, compare=False, repr=False)

    def means(self, C: float) -> tuple[float, float, float, float]:
        """Return P, R and their slopes at C."""
        P, R, _ = self._cell(C)
        x = C - self._place(C)
        return float(P(x)), float(R(x)), float(P.deriv()(x)), float(R.deriv()(x))

    def loss(self, alpha: float, C: float) -> float:
        """Return the loss at a point of the set."""
        P, R, _, _ = self.means(C)
        return self.d / 2 * (alpha**2 * R - 2 * alpha * P / self.q + 1 / self.q)

    def error(self, alpha: float, C: float) -> float:
        """Return about how far the loss may be off: the enclosures' half widths, and as much as the last term of P, R.

        The terms of the interpolation fall by more than a factor 2 from one to the next where it is used.
        """
        return self.d / 2 * (alpha**2 + 2 * abs(alpha) / self.q) * self._cell(C)[2]

    def descent(self, alpha: float, C: float, rates: "Iterator[float]") -> Iterator[OnTheSet]:
        """Yield the points of gradient descent from a point of the set, with one step for each rate.

        It ends where it leaves C ≥ 0, beyond which nothing is derived.
        """
        step, loss = 0, self.loss(alpha, C)
        yield OnTheSet(step, alpha, C, loss)
        for rate in rates:
            P, R, P_slope, R_slope = self._evaluated(C)
            by_C = self.d / 2 * (alpha**2 * R_slope - 2 * alpha * P_slope / self.q)
            alpha, C = alpha - rate * (alpha * R - P / self.q), C - rate * by_C / self.d_e
            if C < 0:
                return
            step += 1
            P, R, _, _ = self._evaluated(C)
            yield OnTheSet(step, alpha, C, self.d / 2 * (alpha**2 * R - 2 * alpha * P / self.q + 1 / self.q))

    def _evaluated(self, C: float) -> tuple[float, float, float, float]:
        """Return what `means` does, without numpy: a step is some microseconds."""
        P, R, _ = self._cell(C)
        x = C - self._place(C)
        found = []
        for polynomial in (P, R):
            value = slope = 0.0
            for coefficient in polynomial.coef[::-1]:
                slope = slope * x + value
                value = value * x + coefficient
            found.append((float(value), float(slope)))
        return found[0][0], found[1][0], found[0][1], found[1][1]

    @staticmethod
    def _place(C: float) -> int:
        """Return where the cell begins. Raises InputError where P and R are not derived."""
        if not C >= 0:
            raise InputError("C", C, "must be >= 0: P and R are derived there")
        return math.floor(C)

    def _cell(self, C: float) -> "tuple[Polynomial, Polynomial, float]":
        place = self._place(C)
        if place not in self._cells:
            self._cells[place] = self._interpolated(place)
        return self._cells[place]

    def _interpolated(self, place: int) -> "tuple[Polynomial, Polynomial, float]":
        model = SignAttention(self.T, self.q, self.d_e, self.query)
        nodes = (1 - np.cos(np.pi * np.arange(_NODES) / (_NODES - 1))) / 2
        middles, half = [], 0.0
        with flint.ctx.workprec(BITS):
            for node in nodes:
                C = flint.arb(place) + flint.arb(float(node))
                ends = [outer(*mean(C, EFFORTS[1])) for mean in (model.selected, model.squares)]
                middles.append([float((low + high) / 2) for low, high in ends])
                half = max(half, *(float((high - low) / 2) for low, high in ends))
        P, R = (Polynomial.fit(nodes, column, _NODES - 1, domain=[0, 1]) for column in np.array(middles).T)
        last = max(abs(np.polynomial.chebyshev.poly2cheb(each.coef)[-1]) for each in (P, R))
        return P.convert(), R.convert(), half + float(last)

    def floor(self, accuracy: Fraction = ACCURACY) -> tuple[float, float]:
        """Return bounds of the least loss on the set, about as far apart as the relative accuracy says."""
        gain = greatest_gain(self.T, self.q, self.d_e, self.query, accuracy)
        most = self.d / (2 * self.q)
        return most * float(1 - gain.upper), most * float(1 - gain.lower)


@lru_cache(maxsize=64)
def layer(T: int, q: int, d: int, d_e: int, query: bool) -> Layer:
    """Return a layer whose interpolation is made once."""
    return Layer(T, q, d, d_e, query)


def annealed(eta: float, late: float, after: int, steps: int) -> Iterator[float]:
    """Yield the step sizes of a training: `eta`, then `late` from the step `after` on."""
    yield from (eta if step < after else late for step in range(steps))
