"""Trials of claims about the loss of one layer over all P and Q: its minimum, and its stationary points.

A minimiser is compared with other P and Q, in float64. A local minimum and a saddle are decided by exact slopes and
second derivatives: the loss is a polynomial with rational coefficients.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from theorems.preconditioned_descent.trials.one_layer_losses import (
    Data,
    Loss,
    LossOf,
    exact_data,
    float_data,
    linear_loss,
    refuse_many,
    relu_loss,
)
from verify import Trial, UndefinedError

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any]

MOVES, DESCENTS = 36, 3
DRAWS = MOVES + DESCENTS + 1
"""Number of trials of a least loss."""


@dataclass(frozen=True)
class Least:
    """A claim that P = diag(0, 1), Q = −diag(A, 0), A diagonal, have the least loss, with its value.

    With `zero_last_row` the claim is about the Q with a last row 0.
    """

    loss: LossOf
    data: Data
    preconditioner: Sequence[Fraction]
    least: Fraction
    zero_last_row: bool = False

    @cached_property
    def claimed(self) -> tuple["Numbers", "Numbers"]:
        """The last row of the claimed P and the first d columns of the claimed Q."""
        import numpy as np

        columns = np.zeros((self.data.d + 1, self.data.d))
        columns[:-1] = -np.diag([*map(float, self.preconditioner)])
        return np.eye(self.data.d + 1)[-1], columns

    @cached_property
    def scales(self) -> tuple["Numbers", "Numbers"]:
        """Sizes of moves of the entries of p and K that affect the label about as much as the claimed p and K do.

        Coordinate i of a token has size √λ_i, a label √tr Σ.
        """
        import numpy as np

        variances = np.diag(self.data.sigma)
        sizes = np.sqrt([*variances, variances.sum()])
        row, columns = self.claimed
        of_row = np.linalg.norm(sizes * row) / np.sqrt(len(sizes)) / sizes
        of_columns = np.linalg.norm(sizes[:, None] * columns * sizes[:-1]) / np.sqrt(columns.size)
        free = np.arange(len(sizes)) < len(sizes) - self.zero_last_row
        return of_row, of_columns * free[:, None] / (sizes[:, None] * sizes[:-1])

    def at(self, row: "Numbers", columns: "Numbers") -> tuple[float, float]:
        """Return the loss with a bound on its rounding error, which is relative to the same sum of absolute values."""
        import numpy as np

        with np.errstate(over="ignore", invalid="ignore"):
            value = self.loss(self.data, row, columns).value
            size = self.loss(self.data.absolute, abs(row), abs(columns)).value
        if not math.isfinite(value + size):
            raise UndefinedError("the loss is no number in float64")
        return float(value), float(size) * self.data.rounding


def moved(claim: Least, kind: int, random: "Generator") -> tuple[str, "Numbers", "Numbers"]:
    """Return a description, and P's last row and Q's columns: the claimed ones moved, or new ones, and rescaled.

    Kind 0 multiplies the entries of Q, 1 draws P and Q afresh, 2 moves both by a little, and 3 by more.
    """
    (row, columns), (of_row, of_columns) = claim.claimed, claim.scales
    size = 10 ** random.uniform(-3, 0.5)
    in_row, in_columns = random.normal(size=row.shape), random.normal(size=columns.shape)
    gauge = math.exp(random.normal())
    if kind == 0:
        text, columns = "multiples of its entries", columns * (1 + size * in_columns)
    elif kind == 1:
        text, row, columns = "drawn afresh", of_row * in_row, size * of_columns * in_columns
    else:
        size *= 0.1 if kind == 2 else 1
        text, row, columns = "moved", row + size * of_row * in_row, columns + size * of_columns * in_columns
    return text, gauge * row, columns / gauge


def descended(claim: Least, random: "Generator") -> tuple[str, "Numbers", "Numbers"]:
    """Return a description, and the end of at most 40 steps of L-BFGS from a random last row of P and columns of Q."""
    import numpy as np
    from scipy.optimize import minimize

    of_row, of_columns = claim.scales
    size = len(of_row)

    def parts(x: "Numbers") -> tuple["Numbers", "Numbers"]:
        return of_row * x[:size], of_columns * x[size:].reshape(of_columns.shape)

    def loss(x: "Numbers") -> tuple[float, "Numbers"]:
        found = claim.loss(claim.data, *parts(x))
        slopes = np.concatenate((of_row * found.in_row, (of_columns * found.in_columns).ravel()))
        return float(found.value), slopes

    start = random.normal(size=size + of_columns.size)
    with np.errstate(over="ignore", invalid="ignore"):
        end = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 40}).x
    return "descended from a random start", *parts(end)


def least_loss(claim: Least, random: "Generator") -> Iterator[Trial]:
    """Yield trials of a least loss: random moves of all sizes and scales, points drawn afresh, ends of descents.

    The first one compares the loss at the claimed minimiser with the value that the claim names.
    """
    import numpy as np

    value, error = claim.at(*claim.claimed)
    yield Trial(-abs(value - float(claim.least)), error, {"tried": "the claimed minimiser", "loss": value})
    for number in range(MOVES + DESCENTS):
        text, row, columns = moved(claim, number % 4, random) if number < MOVES else descended(claim, random)
        other, its_error = claim.at(row, columns)
        tried = {"tried": text, "last row of P": row.tolist(), "columns of Q": np.transpose(columns).tolist()}
        yield Trial(other - value, error + its_error, tried)


def least_linear_loss(
    n: int, eigenvalues: Sequence[Fraction], preconditioner: Sequence[Fraction], least: Fraction, random: "Generator"
) -> Iterator[Trial]:
    """Yield trials of the claim that Q = −diag(A, 0) has the least loss of one layer of linear attention."""
    refuse_many(len(eigenvalues))
    yield from least_loss(Least(linear_loss, float_data(n, eigenvalues), preconditioner, least), random)


def least_relu_loss(
    d: int, n: int, multiple: Fraction, least: Fraction, random: "Generator", *, zero_last_row: bool
) -> Iterator[Trial]:
    """Yield trials of the claim that Q = −diag(a I, 0) has the least loss of one layer of ReLU attention at Σ = I.

    `multiple` is a. The last row of Q is 0 in all trials, or free.
    """
    refuse_many(d)
    data = float_data(n, [Fraction(1)] * d)
    yield from least_loss(Least(relu_loss, data, [multiple] * d, least, zero_last_row), random)


def zero_slopes(loss: Loss) -> Trial:
    """Return a trial that all slopes vanish."""
    largest = max(map(abs, (*loss.in_row, *loss.in_columns.ravel())))
    return Trial(-largest, 0, {"tried": "slopes", "largest slope": largest})


@dataclass(frozen=True)
class Point:
    """A point in the last row of P and the first d columns of Q, with exact data."""

    data: Data
    row: "Numbers"
    columns: "Numbers"

    @property
    def loss(self) -> Loss:
        """The loss of linear attention, with its slopes."""
        return linear_loss(self.data, self.row, self.columns)

    def _slopes(self, place: int, step: int) -> "Numbers":
        """Return all slopes after the entry at a place is moved by a step."""
        import numpy as np

        entries = np.concatenate((self.row, self.columns.ravel()))
        entries[place] += step
        size = len(self.row)
        loss = linear_loss(self.data, entries[:size], entries[size:].reshape(self.columns.shape))
        return np.concatenate((loss.in_row, loss.in_columns.ravel()))

    def second_derivatives(self) -> "Numbers":
        """Return all second derivatives, in the order of the entries of p and then the entries of K, row by row.

        A slope is a polynomial of degree at most 4 in an entry, for which this central difference is exact.
        """
        import numpy as np

        def along(place: int) -> "Numbers":
            one, two = (self._slopes(place, step) - self._slopes(place, -step) for step in (1, 2))
            return (8 * one - two) / Fraction(12)

        return np.array([along(place) for place in range(len(self.row) + self.columns.size)])


def label_in_columns(n: int, eigenvalues: Sequence[Fraction], place: int, step: Fraction) -> Point:
    """Return P = e_{d+1} e_jᵀ, Q = −a e_{d+1} e_jᵀ for a place j and a step a."""
    import numpy as np

    d = len(eigenvalues)
    row = np.array([Fraction(int(i == place)) for i in range(d + 1)], dtype=object)
    columns = np.array([[-step if (i, j) == (d, place) else Fraction() for j in range(d)] for i in range(d + 1)])
    return Point(exact_data(n, eigenvalues), row, columns)


def pattern(n: int, eigenvalues: Sequence[Fraction], preconditioner: Sequence[Fraction]) -> Point:
    """Return P = diag(0, 1), Q = −diag(A, 0), where A is diagonal with the entries `preconditioner`."""
    import numpy as np

    d = len(eigenvalues)
    row = np.array([Fraction(int(i == d)) for i in range(d + 1)], dtype=object)
    columns = np.array([[-preconditioner[j] if i == j else Fraction() for j in range(d)] for i in range(d + 1)])
    return Point(exact_data(n, eigenvalues), row, columns)


def least_pivot(matrix: "Numbers") -> Fraction:
    """Return the least pivot of a symmetric matrix, which is positive if and only if the matrix is positive definite.

    Pivots are computed up to the first that is not positive. Raises UndefinedError if that pivot is 0.
    """
    rest, pivots = matrix.copy(), list[Fraction]()
    while len(rest) and (not pivots or pivots[-1] > 0):
        pivots.append(rest[0, 0])
        if pivots[-1] == 0:
            raise UndefinedError("the second derivative is singular: it decides nothing")
        rest = rest[1:, 1:] - rest[1:, :1] * rest[:1, 1:] / pivots[-1]
    return min(pivots)


def across(point: Point, place: int) -> "Numbers":
    """Return the second derivative at a point of `label_in_columns`, without p_j, which rescaling keeps at 1.

    Other entries of p whose eigenvalues equal λ_j are left out, too: a rotation keeps them at 0.
    """
    import numpy as np

    sigma = point.data.sigma
    fixed = [i for i in range(point.data.d) if i == place or sigma[i, i] == sigma[place, place]]
    return np.delete(np.delete(point.second_derivatives(), fixed, 0), fixed, 1)


def strict_local_minimum(point: Point, place: int, lower: Point) -> Iterator[Trial]:
    """Yield the conditions for a point of `label_in_columns` to be a strict local minimum that is not global.

    The slopes vanish, the second derivative is positive definite except in directions that do not change the loss, and
    another point has a lower loss.
    """
    yield zero_slopes(point.loss)
    pivot = least_pivot(across(point, place))
    yield Trial(pivot, 0, {"tried": "second derivative", "least pivot": pivot})
    if point.loss.value == lower.loss.value:
        raise UndefinedError("the other point has the same loss: it decides nothing")
    yield Trial(point.loss.value - lower.loss.value, 0, {"tried": "another point", "loss": lower.loss.value})


def saddle(point: Point, place: int) -> Iterator[Trial]:
    """Yield the conditions for a point of `label_in_columns` to be a saddle: zero slopes, curvatures of both signs."""
    yield zero_slopes(point.loss)
    second = across(point, place)
    pivot, largest = least_pivot(second), max(second[i, i] for i in range(len(second)))
    if largest == 0:
        raise UndefinedError("no entry of the second derivative is positive or negative: it decides nothing")
    yield Trial(-pivot, 0, {"tried": "second derivative", "least pivot": pivot})
    yield Trial(largest, 0, {"tried": "second derivative in an entry", "largest": largest})
