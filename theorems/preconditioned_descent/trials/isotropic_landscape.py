"""Trials of the landscape of one layer's loss for Σ = I; the best Q for a last row of P is found from the slopes."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials
from theorems.preconditioned_descent.trials.one_layer_losses import Data, float_data, linear_loss
from verify import Trial, UndefinedError

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any]

LARGEST_MOVE = 0.02
"""Largest standard deviation of a move of an entry of P or Q; the entries are of size 1 or so."""
MOST_DIMENSIONS = 8
"""Largest d at which a best Q is computed, from (d+1)d losses, each of some 3d³ numbers."""


def best_columns(data: Data, row: "Numbers") -> "Numbers":
    """Return the columns of Q that minimise the loss for a last row of P; the slopes of the loss are affine in them.

    Raises UndefinedError if d > MOST_DIMENSIONS.
    """
    import numpy as np

    if data.d > MOST_DIMENSIONS:
        raise UndefinedError(f"d = {data.d}: the best Q is solved for up to d = {MOST_DIMENSIONS}")
    shape = (data.d + 1, data.d)
    at_zero = linear_loss(data, row, np.zeros(shape)).in_columns.ravel()
    units = np.eye(at_zero.size).reshape(-1, *shape)
    second = np.stack([linear_loss(data, row, unit).in_columns.ravel() - at_zero for unit in units])
    return np.linalg.lstsq(second, -at_zero)[0].reshape(shape)


def loss_at(data: Data, row: "Numbers", columns: "Numbers") -> tuple[float, float]:
    """Return the loss with a bound on its rounding error, which is relative to the same sum of absolute values."""
    size = linear_loss(data.absolute, abs(row), abs(columns)).value
    return float(linear_loss(data, row, columns).value), float(size) * data.rounding


def _turning_point(rise: sp.Expr, instance: Instance, *, above: bool) -> float:
    """Return the zero of K (`rise`) nearest to z = `place`, above or below; if none is below, 0.

    Because K > 0 at the place, R has a minimum at the zero below. Raises UndefinedError if no zero is above the place.
    """
    (z,) = (symbol for symbol in rise.free_symbols if str(symbol) == "z")
    known = {symbol: sp.Integer(instance[str(symbol)]) for symbol in rise.free_symbols - {z}}
    place = float(instance["place"])
    found = sp.Poly(rise.xreplace(known), z).nroots(n=30, maxsteps=200)
    zeros = [float(zero) for zero in found if zero.is_real and (zero > place if above else 0 <= zero < place)]
    if above and not zeros:
        raise UndefinedError("K has no zero above the place")
    return min(zeros) if above else max(zeros, default=0.0)


def local_minimum(rise: sp.Expr, excess: Callable[[sp.Expr], sp.Expr], *, above: bool) -> Trials:
    """Return trials of the claim that f has a local minimum at v = e_1 and β² = z, where z is a zero of K.

    This zero is the nearest below the place or, with `above`, above the place. The loss there exceeds the least loss,
    by at most R(place). The trials are these two comparisons, small moves of P and Q, and small moves of P with the
    best Q.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        d, n = int(instance["d"]), int(instance["n"])
        data = float_data(n, [Fraction(1)] * d)
        row = np.eye(d + 1)[0]
        row[-1] = math.sqrt(_turning_point(rise, instance, above=above))
        columns = best_columns(data, row)
        value, error = loss_at(data, row, columns)
        beyond = value - d * (1 - n / (n + d + 1))
        yield Trial(beyond, error, {"tried": "the least loss", "loss": value})
        most = excess(sp.Rational(str(instance["place"])))
        known = {symbol: sp.Integer(instance[str(symbol)]) for symbol in most.free_symbols}
        yield Trial(float(most.xreplace(known)) - beyond, error, {"tried": "R(place)", "loss": value})
        while True:
            size = LARGEST_MOVE * 10 ** random.uniform(-2, 0)
            moved, best = row + size * random.normal(size=row.shape), bool(random.integers(2))
            at = best_columns(data, moved) if best else columns + size * random.normal(size=columns.shape)
            other, its_error = loss_at(data, moved, at)
            tried = {"tried": "moved, the best Q" if best else "moved", "P": moved.tolist(), "Q": at.tolist()}
            yield Trial(other - value, error + its_error, tried)

    return trials


def falls_towards_the_pattern(*, all_rows: bool) -> Trials:
    """Return trials of the claim that no drawn last row (v, β) of P belongs to a local minimum.

    A trial compares the losses at a row and at a moved row, each with its best Q; the moved row has to have the lower
    loss. Rows have v ≠ 0, and are moved to a larger |β|. With `all_rows` half of the rows have v = 0 instead, and all
    entries of these are moved.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        d, n = int(instance["d"]), int(instance["n"])
        data = float_data(n, [Fraction(1)] * d)
        while True:
            row = random.normal(size=d + 1)
            row /= np.linalg.norm(row[:-1])
            row[-1] *= 10 ** random.uniform(-2, 1) / math.sqrt(d)
            moved = row.copy()
            if all_rows and random.integers(2):
                row[:-1] = 0
                moved = row + LARGEST_MOVE * random.normal(size=d + 1)
            else:
                moved[-1] += math.copysign(1e-2 * (1 / d + abs(row[-1])), row[-1])
            value, error = loss_at(data, row, best_columns(data, row))
            other, its_error = loss_at(data, moved, best_columns(data, moved))
            yield Trial(value - other, error + its_error, {"P": row.tolist(), "moved": moved.tolist()})

    return trials
