r"""Layers A_l = a_l Σ^{-1}, B_l = b_l I of pattern (11): the loss f over S, descents and critical points.

A layer takes a column's token x and label y to x − B (X Xᵀ/n) A x and y − (Y Xᵀ/n) A x. After whitening, the tokens are
T(S) times the initial tokens, the examples' labels are w*ᵀ U(S) X and the query's is w*ᵀ V(S) x, with T = U = 1 and
V = 0 initially, and

    T → T − b a s T³,    U → U − a s U T²,    V → V − a s U T²;

f = ∫ (1 + V)² dμ with ∫ s^k dμ = E tr S^k. V has degree at most (3^L − 1)/2: at rational points f is exact, by the
moments of `wishart_means`. If d > n, S has d − n eigenvalues 0, at which V = 0; they add d − n to f. In floats f is
computed by a Gauss rule for the other eigenvalues, without this summand.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theorems.preconditioned_descent.trials.steps import mean_square
from theorems.preconditioned_descent.trials.wishart_means import gauss_rule, least_square, trace_moments
from verify import UndecidedError, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.language.parameters import Instance

Point = Sequence[Any]
"""a_0 … a_{L−1}, b_0 … b_{L−2}: the last layer's rate has no effect."""
Bounds = Sequence[tuple[float, float]]
INFINITY = float("inf")
POSITIVE: Bounds = [(0, INFINITY)] * 3
"""Bounds of a_0, a_1 and b_0."""
MOST_LAYERS = 3
STARTS = {1: 4, 2: 24, 3: 4}
"""Number of starts of descents, by the number of layers."""
TINY = 1e-30
FARTHEST = 1e4
"""Largest coordinate of a critical point: beyond it floats overflow."""
BITS, MOVED = 600, 130
"""Number of bits of the balls; differences in them use moves of 2^−MOVED."""
ENDED = 1e-30
"""Length of a move, relative to a step, at which Newton's method in these balls ends."""
MOST_MOVES = 12
RESOLVED = 1e-20
"""Smallest mean square, averaged over the eigenvalues above 0, that floats resolve: residuals of 10⁻¹⁰ keep six digits
in float64."""


def label(steps: Point, moves: Point, eigenvalue: Any, one: Any) -> Any:
    """Return V(s) for steps a_l and moves b_l a_l; s is a number, array or polynomial, and `one` is 1 of its type."""
    token, seen, own = one, one, one * 0
    for step, move in zip(steps, moves, strict=True):
        attended = eigenvalue * token * token
        token, seen, own = token - move * attended * token, seen - step * attended * seen, own - step * attended * seen
    return own


class Poly:
    """A polynomial in one variable with rational coefficients, the constant one first."""

    def __init__(self, *coefficients: Fraction | int) -> None:
        self.coefficients = coefficients

    def __mul__(self, other: "Poly | Fraction | int") -> "Poly":
        theirs = other.coefficients if isinstance(other, Poly) else (other,)
        found = [Fraction(0)] * (len(self.coefficients) + len(theirs) - 1)
        for i, c in enumerate(self.coefficients):
            for j, e in enumerate(theirs):
                found[i + j] += c * e
        return Poly(*found)

    __rmul__ = __mul__

    def __sub__(self, other: "Poly") -> "Poly":
        size = max(len(self.coefficients), len(other.coefficients))
        one, two = ([*p.coefficients, *[0] * (size - len(p.coefficients))] for p in (self, other))
        return Poly(*(c - e for c, e in zip(one, two, strict=True)))


class Layers:
    """The loss over S at an instance, exact and in floats; the steps are those of whitened data."""

    def __init__(self, layers: int, instance: "Instance") -> None:
        if layers > MOST_LAYERS:
            raise UndefinedError(f"L = {layers}: the loss over S is computed up to L = {MOST_LAYERS}")
        self.n, self.d, self.layers = int(instance["n"]), int(instance["d"]), layers
        self.degree = (3**layers - 1) // 2
        self.moments = trace_moments(2 * self.degree, self.n, self.d)
        self.nodes, self.weights = gauss_rule(self.degree + 1, self.n, self.d)
        self.scale = self.n / (self.n + self.d + 1)
        if least_square(layers, self.n, self.d) < min(self.n, self.d) * RESOLVED:
            raise UndefinedError(
                f"n = {self.n}, d = {self.d}: the least mean square at eigenvalues above 0 is too small for float64"
            )

    def least_without_rates(self, count: int) -> Fraction:
        """Return the least loss of a number of layers with all rates 0: the least over all polynomials of this degree.

        The best polynomial is orthogonal, so its roots are real, and it is a product of factors 1 − a_l s.
        """
        return max(self.d - self.n, 0) + least_square(count, self.n, self.d)

    def own(self, point: Point, eigenvalue: Any, one: Any) -> Any:
        """Return V at a point; the other arguments are those of `label`."""
        steps, rates = point[: self.layers], [*point[self.layers :], 0]
        return label(steps, [step * rate for step, rate in zip(steps, rates, strict=True)], eigenvalue, one)

    def loss(self, point: Point) -> Fraction:
        """Return f, exactly."""
        own = self.own([Fraction(number) for number in point], Poly(0, 1), Poly(1))
        return mean_square((own - Poly(-1)).coefficients, self.moments)

    def value(self, point: "np.ndarray") -> "tuple[float, np.ndarray]":
        """Return f without the share of eigenvalues 0, and its slopes, in floats."""
        return self._value(self.own, point)

    def limit_value(self, point: "np.ndarray") -> "tuple[float, np.ndarray]":
        """Return G at a_1 and p, without the share of eigenvalues 0, and its slopes, in floats.

        G is f of two layers, the first of step 0 and move p = b_0 a_0, the second of step a_1.
        """
        return self._value(lambda pair, *rest: label((0, pair[0]), (pair[1], 0), *rest), point)

    def limit(self, point: Point) -> Fraction:
        """Return G at a_1 and p, exactly."""
        one, move = map(Fraction, point)
        own = label((0, one), (move, 0), Poly(0, 1), Poly(1))
        return mean_square((own - Poly(-1)).coefficients, self.moments)

    def _value(self, own: Callable[..., Any], point: "np.ndarray") -> "tuple[float, np.ndarray]":
        import numpy as np

        columns = point + TINY * 1j * np.eye(len(point))
        # The slope of a polynomial is the imaginary part at an imaginary move, over the move.
        shape = (len(point), len(self.nodes))
        with np.errstate(over="ignore", invalid="ignore"):
            moved = 1 + own([c[:, None] for c in columns.T], self.nodes, np.ones(shape, complex))
            here = moved[0].real
            return float(self.weights @ here**2), 2 * (moved.imag / TINY) @ (self.weights * here)

    def start(self, random: "Generator", spread: float = 1) -> "np.ndarray":
        """Return random steps and rates of either sign."""
        import numpy as np

        steps = 1.5 * self.scale * random.normal(size=self.layers) * spread
        return np.concatenate([steps, random.normal(size=self.layers - 1) * spread])

    def best(self, random: "Generator", bounds: Bounds) -> "np.ndarray":
        """Return the lowest end of descents within bounds, from random starts there."""
        import numpy as np

        drawn = (abs(self.start(random, 10 ** random.uniform(-1, 1))) for _ in range(STARTS[self.layers]))
        ends = [descended(self.value, np.clip(start, *np.array(bounds).T), bounds) for start in drawn]
        return min(ends, key=lambda end: self.value(end)[0])


def descended(value: Callable[..., Any], start: "np.ndarray", bounds: "Bounds | None" = None) -> "np.ndarray":
    """Return the end of a descent of the logarithm of a value; `value` returns it with its slopes."""
    from math import log

    from scipy.optimize import minimize

    def logarithm(point: "np.ndarray") -> "tuple[float, np.ndarray]":
        here, slopes = value(point)
        return log(here), slopes / here

    options = {"maxiter": 300, "ftol": 1e-14, "gtol": 1e-10}
    return minimize(logarithm, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x


def named(point: Point) -> dict[str, Any]:
    """Return a point's numbers in floats, by name."""
    layers = (len(point) + 1) // 2
    names = [f"a_{i}" for i in range(layers)] + [f"b_{i}" for i in range(layers - 1)]
    return dict(zip(names, map(float, point), strict=True))


def tried(layers: Layers, random: "Generator", bounds: "Bounds | None" = None) -> "Iterator[np.ndarray]":
    """Yield random points within bounds and the ends of descents from them, in turn."""
    import numpy as np

    while True:
        start = layers.start(random, 10 ** random.uniform(-1, 0.5))
        start = start if bounds is None else np.clip(start, *np.array(bounds).T)
        yield start
        yield descended(layers.value, start, bounds)


def _curvature(layers: Layers, point: "np.ndarray") -> "np.ndarray":
    """Return the second derivatives, by differences of slopes."""
    import numpy as np

    width = 1e-6 * np.maximum(abs(point), 1e-2)
    slopes = [[layers.value(point + sign * move)[1] for sign in (1, -1)] for move in np.diag(width)]
    return np.array([(up - down) / (2 * w) for (up, down), w in zip(slopes, width, strict=True)])


def critical_points(
    layers: Layers, random: "Generator", margin: "Callable[[np.ndarray], float]"
) -> "Iterator[tuple[np.ndarray, float]]":
    """Yield critical points that a root search finds, each with an estimate of its distance from the true one.

    Newton's last two moves are below 10⁻⁷ of a step, the second at most half the first: the distance is at most twice
    the first. If eigenvalues lie close together, floats show critical points that do not exist: a point whose margin is
    below 0 by more than the distance is searched again in balls of 600 bits.

    Raises UndecidedError if that search does not converge.
    """
    import numpy as np
    from scipy.optimize import root

    while True:
        found = root(lambda point: layers.value(point)[1], layers.start(random), method="hybr").x
        if not abs(found).max() < FARTHEST:
            continue
        moves = []
        for _ in range(2):
            moves.append(np.linalg.lstsq(_curvature(layers, found), layers.value(found)[1])[0])
            found = found - moves[-1]
        first, second = (float(abs(move).max()) / layers.scale for move in moves)
        if not (first <= 1e-7 and second <= first / 2 + 1e-12):
            continue
        distance = layers.scale * (2 * first + 1e-9)
        confirmed = (found, distance) if margin(found) >= -distance else _precise_search(layers, found)
        if confirmed is None:
            raise UndecidedError("a critical point in float64 was not confirmed in more digits")
        yield confirmed


def _precise_search(layers: Layers, start: Point) -> "tuple[np.ndarray, float] | None":
    """Return the last point of Newton's method in balls, and a bound on its distance from the limit; or None.

    The bound is a little more than twice the last move. None means that the method does not converge.
    """
    import flint
    import numpy as np

    with flint.ctx.workprec(BITS):
        moments = flint.arb_mat([[_ball(moment) for moment in layers.moments[1:]]])
        point, before = [flint.arb(float(number)) for number in start], None
        for _ in range(MOST_MOVES):
            slopes, curvature = _precise_derivatives(layers, moments, point)
            try:
                move = flint.arb_mat(curvature).solve(flint.arb_mat([[slope] for slope in slopes])).entries()
            except ZeroDivisionError:
                return None
            point = [(x - dx).mid() for x, dx in zip(point, move, strict=True)]
            last = max(float(abs(dx).upper()) for dx in move)
            if before is not None and last <= min(before / 2, ENDED * layers.scale):
                # Differences have errors of the order of their move's square, and the point is rounded.
                found = np.array([float(x) for x in point])
                return found, 2 * last + ENDED * layers.scale + np.spacing(abs(found).max())
            before = last
    return None


def _precise_derivatives(layers: Layers, moments: Any, point: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
    """Return f's slopes and second derivatives, by differences."""
    import flint

    variable, one = flint.arb_poly([0, 1]), flint.arb_poly([1])

    def at(*moves: tuple[int, int]) -> Any:
        moved = [x + move * sum(sign for i, sign in moves if i == place) for place, x in enumerate(point)]
        square = ((1 + layers.own(moved, variable, one)) ** 2).coeffs()[1:]
        # The constant term, 1 everywhere, has no part in a difference.
        return sum((moments[0, power] * c for power, c in enumerate(square)), flint.arb(0))

    move, size, both = flint.arb(2) ** -MOVED, range(len(point)), (1, -1)
    slopes = [sum(sign * at((i, sign)) for sign in both) / (2 * move) for i in size]
    half = {
        (i, j): sum(one * two * at((i, one), (j, two)) for one in both for two in both) / (2 * move) ** 2
        for i in size
        for j in range(i + 1)
    }
    return slopes, [[half[max(i, j), min(i, j)] for j in size] for i in size]


def _ball(number: Fraction) -> Any:
    import flint

    return flint.arb(flint.fmpq(*number.as_integer_ratio()))
