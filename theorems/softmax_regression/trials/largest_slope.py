r"""The largest eigenvalue of the softmax Jacobian over a ball of logits, and trials of claims about the best factor.

J = diag(p) − ppᵀ, p = softmax(z), z of norm R² or less. If λ is an eigenvalue, v its unit eigenvector and μ the mean of
v under p, λ has the slopes p_i ((v_i − μ)² − λ) in the logits. Ascents from random logits use them to find larger λ.
"""

from collections.abc import Callable, Iterator
from math import sin, sqrt
from typing import TYPE_CHECKING

from theorems.closed_forms import Values
from theorems.softmax_regression.trials.moves import (
    LARGEST_RADIUS,
    Move,
    data_move,
    pair_directions,
    read,
    weight_move,
)
from verify import Trial, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance

MOST_ROWS = 300
ROUNDED = 1e-12
"""Bound on the error of an eigenvalue of J: at most 300 · 2⁻⁵² ‖J‖ for given J, and rounding of probabilities."""


def largest_eigenvalue(logits: "np.ndarray") -> "tuple[float, np.ndarray]":
    """Return the largest eigenvalue of J and its slopes in the logits."""
    import numpy as np
    from scipy.special import softmax

    p = softmax(logits)
    values, vectors = np.linalg.eigh(np.diag(p) - np.outer(p, p))
    v = vectors[:, -1]
    return float(values[-1]), p * ((v - p @ v) ** 2 - values[-1])


def _read(instance: "Instance") -> tuple[int, int, float]:
    n, d, radius = read(instance)
    if n > MOST_ROWS:
        raise UndefinedError(f"n = {n}: eigenvalues of n x n matrices are computed up to n = {MOST_ROWS}")
    if radius > LARGEST_RADIUS:
        raise UndefinedError(f"R = {instance['R']}: logits of norm R^2 are tried up to R = {LARGEST_RADIUS}")
    return n, d, radius


def _ascended(start: "np.ndarray", radius: float) -> "np.ndarray":
    """Return the end of an ascent over the logits of norm `radius`."""
    import numpy as np
    from scipy.optimize import minimize

    def value(at: "np.ndarray") -> "tuple[float, np.ndarray]":
        size = np.linalg.norm(at)
        eigenvalue, slopes = largest_eigenvalue(radius * at / size)
        return -eigenvalue, -(radius / size) * (slopes - at * (at @ slopes) / size**2)

    end = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 30}).x
    return radius * end / np.linalg.norm(end)


def logits_tried(random: "Generator", n: int, ball: float) -> "Iterator[np.ndarray]":
    """Yield logits of norm `ball` or less: random logits, with up to three raised entries, and the ends of ascents."""
    import numpy as np

    while True:
        logits = random.normal(size=n)
        logits[: random.integers(4)] += random.uniform(0, 10)
        logits *= ball * min(1, random.uniform(0, 2)) / np.linalg.norm(logits)
        yield logits
        yield _ascended(logits, float(np.linalg.norm(logits)))


def three_levels(n: int, ball: float) -> float:
    """Return the largest eigenvalue over logits α ≥ β ≥ γ = … = γ of sum 0 and norm `ball`, by a scan of the angle."""
    import numpy as np
    from scipy.optimize import minimize_scalar

    both, apart = np.r_[1, 1, np.zeros(n - 2)] - 2 / n, np.r_[1, -1, np.zeros(n - 2)] / sqrt(2)
    both /= np.linalg.norm(both)
    # β = γ where (α − β)/2 = (α + β)/2 − γ.
    last = float(np.arctan(np.sqrt(n / (n - 2))))

    def less(angle: float) -> float:
        return -largest_eigenvalue(ball * (np.cos(angle) * both + np.sin(angle) * apart))[0]

    places = np.linspace(0, last, 41)
    best = int(np.argmin([less(angle) for angle in places]))
    around = (places[max(best - 1, 0)], places[min(best + 1, 40)])
    found = minimize_scalar(less, bounds=around, method="bounded", options={"xatol": 1e-9})
    return -min(less(places[best]), float(found.fun))


def one_row_above(n: int, ball: float) -> float:
    """Return the largest eigenvalue at logits of sum 0 and norm `ball` that are equal except for one larger logit."""
    import numpy as np

    row = np.eye(1, n)[0] - 1 / n
    return largest_eigenvalue(ball * row / np.linalg.norm(row))[0]


def largest_at(levels: Callable[[int, float], float]) -> "Trials":
    """Return trials of the claim that the largest eigenvalue over logits of norm R² or less is `levels`(n, R²).

    The trials are random logits, and the ends of ascents from them among logits of the same norm.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        n, _, radius = _read(instance)
        most = levels(n, radius**2)
        for logits in logits_tried(random, n, radius**2):
            yield Trial(most - largest_eigenvalue(logits)[0], ROUNDED, {"logits": logits.tolist()})

    return trials


def best_is(factor: Values, room: Values) -> "Trials":
    """Return trials of the claim that, if `room` ≥ 0, `factor` is enough for both shifts, and no smaller factor is.

    The first trials are small moves between two rows far above the others, which need the whole factor, up to a loss
    that depends on the size of the move. Drawn small moves of the data and of the weights follow.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        (n, d, radius), best = _read(instance), float(factor(instance)[0])
        if (left := room(instance)[0]) < 0:
            raise UndefinedError(
                f"n = {n}, R = {radius:g}: the room is {float(left):.3g} here, and the claim is for 0 or more"
            )
        for most in (1e-2, 1e-3):
            moved = min(most, radius**2 / 10)
            angle = float(np.arcsin(moved / (sqrt(2) * radius**2)))
            rows, v = pair_directions(random, n), np.eye(1, d)[0]
            ends = [radius * np.outer(np.cos(angle) * rows[0] + sign * sin(angle) * rows[1], v) for sign in (-1, 1)]
            move = Move(ends[0], radius * v, ends[1], radius * v)
            # Let m be the move of a logit. The slope is at least 1/cosh(m/2) ≥ 1 − m²/8 times the best, and the two
            # rows are lower by the factor cos θ ≥ 1 − θ²/2, a relative loss of at most √(n/(2(n−2))) m²/(4R²).
            lost = moved**2 * (1 / 8 + 0.31 / radius**2)
            yield Trial(move.moved() / move.size - best * (1 - lost), move.error(radius) / move.size, move.named())
        while True:
            for draw in (data_move, weight_move):
                move = draw(random, n, d, radius, True)
                if size := move.size:
                    yield Trial(best - move.moved() / size, move.error(radius) / size, move.named())

    return trials


def at_most(bounds: Values, factor: float = 1) -> "Trials":
    """Return trials of the claim that `factor` times the bounds on the best factor hold.

    The best factor is R times the largest eigenvalue. `bounds` gives the bound for E ≥ n, the two bounds for E ≤ n, and
    1/E; `best_factor` defines E. The trials are random logits in the ball of radius R², and the ends of ascents from
    them among logits of the same norm.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        n, _, radius = _read(instance)
        one, *two, inverse = map(float, bounds(instance))
        holding = ([one] if n * inverse <= 1 else []) + (two if n * inverse >= 1 else [])
        most = factor * min(holding)
        for logits in logits_tried(random, n, radius**2):
            slope = radius * largest_eigenvalue(logits)[0]
            yield Trial(most - slope, ROUNDED * radius, {"logits": logits.tolist()})

    return trials
