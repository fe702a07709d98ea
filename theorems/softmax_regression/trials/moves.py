r"""Moves of the data or of the weights of softmax regression, and trials of bounds on how far the prediction moves.

f = softmax(Ax) with ‖A‖, ‖x‖ ≤ R. If x or A moves, the target b̃ = b − f' + f gives f the residual that f' has with b:
f − b̃ = f' − b, so that ‖b̃ − b‖ = ‖f' − f‖. Half of the moves drawn are of random matrices and vectors. The others are
steep. A large move takes the logits from R² times one row's unit vector to R² times another's. For a small move two
logits are far above the rest, and the move raises one and lowers the other. At d = 1 a large move of x changes the sign
of two opposite logits ±R²/√2, and a small one is along one row.
"""

from collections.abc import Callable, Iterator
from math import log, sqrt, tanh
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from verify import Trial, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance

LARGEST_RADIUS = 100
"""The largest R with which moves are drawn: small moves of logits up to R² = 10⁴ keep seven digits in float64."""
LARGEST_SIZE = 10**5
SMALL = 0.0099
"""Upper bound on the move of a logit in a small move; it is below the 0.01 of the hypothesis."""


class Move(NamedTuple):
    """A and x before and after."""

    data: "np.ndarray"
    weights: "np.ndarray"
    new_data: "np.ndarray"
    new_weights: "np.ndarray"

    @property
    def size(self) -> float:
        """The norm of the move."""
        import numpy as np

        matrix, vector = self.new_data - self.data, self.new_weights - self.weights
        return float(np.linalg.norm(vector) + (np.linalg.norm(matrix, 2) if matrix.any() else 0))

    def moved(self) -> float:
        """Return ‖f' − f‖."""
        import numpy as np
        from scipy.special import softmax

        return float(np.linalg.norm(softmax(self.new_data @ self.new_weights) - softmax(self.data @ self.weights)))

    def error(self, radius: float) -> float:
        """Return a bound on the error of ‖f' − f‖.

        A logit is a sum of d products, with an error of d 2⁻⁵³ |a_i| |x|. The error of all logits is √d d 2⁻⁵³ R²,
        because the Frobenius norm of A is at most √d R. The Jacobian of softmax at least halves this error. Softmax
        itself and the norm add a few roundings.
        """
        d = len(self.weights)
        return 2.0**-52 * ((d**1.5 + 4) * radius**2 + 16)

    def named(self) -> dict[str, Any]:
        """Return A and x before and after the move, as lists, by name."""
        names = ("A", "x", "new A", "new x")
        return {name: value.tolist() for name, value in zip(names, self, strict=True)}


Draw: TypeAlias = "Callable[[Generator, int, int, float, bool], Move]"
"""A function that draws a move from a generator, n, d, R, and whether all logits move by less than 0.01."""
Pair: TypeAlias = "Callable[[float, int, float], Move]"
"""A function that returns a move of two rows from R, d and the size of the move."""


def read(instance: "Instance") -> tuple[int, int, float]:
    """Return n, d (2 if there is none) and R. Raises UndefinedError if n d > LARGEST_SIZE."""
    n, d, radius = int(instance["n"]), int(instance.get("d", 2)), float(instance["R"])
    if n * d > LARGEST_SIZE:
        raise UndefinedError(f"n d = {n * d}: moves are drawn up to n d = {LARGEST_SIZE}")
    return n, d, radius


def _unit(vector: "np.ndarray") -> "np.ndarray":
    import numpy as np

    return vector / (np.linalg.norm(vector) or 1)


def _two_rows(random: "Generator", n: int) -> "tuple[np.ndarray, np.ndarray]":
    """Return the unit vectors of two random rows."""
    import numpy as np

    first, second = random.choice(n, 2, replace=False)
    return np.eye(1, n, first)[0], np.eye(1, n, second)[0]


def pair_angle(random: "Generator", radius: float) -> float:
    """Return a θ such that logits of norm R², turned from −θ to θ, move by √2 R² sin θ < 0.01 each."""
    return float(min(SMALL / (sqrt(2) * radius**2), 0.5) * random.uniform(0.9, 1))


def pair_directions(random: "Generator", n: int) -> "tuple[np.ndarray, np.ndarray]":
    """Return two unit directions of logits: two rows above the others (0 if n = 2), and the first above the second."""
    first, second = _two_rows(random, n)
    both = first + second
    return _unit(both - both.mean()) if n > 2 else 0 * both, _unit(first - second)


def data_move(random: "Generator", n: int, d: int, radius: float, small: bool) -> Move:
    """Draw a move of A."""
    import numpy as np

    if n > 1 and random.random() < 0.5:
        v = _unit(random.normal(size=d))
        if small:
            (both, apart), angle = pair_directions(random, n), pair_angle(random, radius)
            columns = [radius * (np.cos(angle) * both + sign * np.sin(angle) * apart) for sign in (-1, 1)]
        else:
            columns = [radius * row for row in _two_rows(random, n)]
        before, after = (np.outer(column, v) for column in columns)
        return Move(before, radius * v, after, radius * v)
    before, after = (_of_norm(random, random.normal(size=(n, d)), radius) for _ in "ab")
    x = _of_norm(random, random.normal(size=d), radius)
    if small:
        # A convex combination of matrices of norm at most R has norm at most R.
        most = np.max(abs((after - before) @ x))
        after = before + min(1, SMALL / (most or 1)) * random.uniform() * (after - before)
    return Move(before, x, after, x)


def weight_move(random: "Generator", n: int, d: int, radius: float, small: bool) -> Move:
    """Draw a move of x."""
    import numpy as np

    if n > 1 and random.random() < 0.5:
        return _steep_weight_move(random, n, d, radius, small)
    data = _of_norm(random, random.normal(size=(n, d)), radius)
    before, after = (_of_norm(random, random.normal(size=d), radius) for _ in "ab")
    if small:
        most = np.max(abs(data @ (after - before)))
        after = before + min(1, SMALL / (most or 1)) * random.uniform() * (after - before)
    return Move(data, before, data, after)


def _steep_weight_move(random: "Generator", n: int, d: int, radius: float, small: bool) -> Move:
    import numpy as np

    if d == 1:
        first, second = _two_rows(random, n)
        column = radius * _unit(first - (1 / n if small else second))
        # One row above the others, at probability 1/2 if R² allows it.
        at = min(radius, log(max(n - 1, 1)) / (radius * sqrt(n / (n - 1))))
        move = SMALL * random.uniform(0.5, 1) / radius
        ends = np.array([at, max(at - move, -radius)] if small else [radius, -radius])
        return Move(column[:, None], ends[:1], column[:, None], ends[1:])
    v, other = np.linalg.qr(random.normal(size=(d, 2)))[0].T
    rows = pair_directions(random, n) if small else _two_rows(random, n)
    data = radius * (np.outer(rows[0], v) + np.outer(rows[1], other))
    angle = pair_angle(random, radius)
    turned = [np.cos(angle) * v + sign * np.sin(angle) * other for sign in (-1, 1)] if small else [v, other]
    return Move(data, radius * turned[0], data, radius * turned[1])


def _of_norm(random: "Generator", array: "np.ndarray", radius: float) -> "np.ndarray":
    """Return a matrix or vector scaled to a random norm of at most R; half of the time the norm is R."""
    import numpy as np

    return array * (radius * min(1, random.uniform(0, 2)) / np.linalg.norm(array, 2))


def shift_within(draw: Draw, factor: float = 0.5) -> "Trials":
    """Return trials of the claim that the target shifts by at most `factor` R times the move.

    The claim includes `factor` R ≤ n^1.5 exp(10 R²). The first trial is of this bound. The others are drawn small
    moves, with A and x of norm up to R ≤ 100.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        n, d, radius = read(instance)
        if radius > LARGEST_RADIUS:
            raise UndefinedError(
                f"A and x of norms above {LARGEST_RADIUS} are not drawn, and smaller ones do not test the factor, "
                "which grows with R"
            )
        claimed = 1.5 * log(n) + 10 * radius**2
        yield Trial(claimed - log(factor * radius), 1e-14 * (claimed + abs(log(factor * radius))), {"n": n})
        while True:
            move = draw(random, n, d, radius, True)
            if size := move.size:
                yield Trial(factor * radius - move.moved() / size, move.error(radius) / size, move.named())

    return trials


def predictions_within(draw: Draw, widest: float = 1 / 200) -> "Trials":
    """Return trials of the claim that two predictions are within √2.

    They are within √2 tanh(`widest`) if every logit moves by less than 0.01. The trials are drawn moves, small and
    large ones in turn, with A and x of norm up to min(R, 100).
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        n, d, radius = read(instance)
        radius = min(radius, LARGEST_RADIUS)
        while True:
            for small, most in ((True, sqrt(2) * tanh(widest)), (False, sqrt(2))):
                move = draw(random, n, d, radius, small)
                yield Trial(most - move.moved(), move.error(radius), move.named())

    return trials


def weight_pair(radius: float, d: int, size: float) -> Move:
    """Return the move of x = 0 along the steepest direction of two rows."""
    import numpy as np

    v = np.eye(1, d)[0]
    data = radius * np.outer([sqrt(0.5), -sqrt(0.5)], v)
    return Move(data, 0 * v, data, size * v)


def data_pair(radius: float, d: int, size: float) -> Move:
    """Return the move of A = 0 along the steepest direction of two rows."""
    import numpy as np

    v = np.eye(1, d)[0]
    data = np.outer([sqrt(0.5), -sqrt(0.5)], v)
    return Move(0 * data, radius * v, size * data, radius * v)


def needed_at_two_rows(move: Pair, factor: float = 0.5) -> "Trials":
    """Return trials of the claim that at n = 2 no factor below `factor` R is enough.

    Seven moves are tried, each half as long as the one before.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        _, d, radius = read(instance)
        for power in range(7):
            size = SMALL / radius / 2**power
            drawn = move(radius, d, size)
            # A move of length s moves the prediction by tanh(Rs/√2)/√2, and tanh y ≥ y − y³/3: the relative loss
            # against Rs/2 is at most (Rs)²/6. (Rs)²/4 leaves room for rounding.
            short = (radius * size) ** 2 / 4
            margin = drawn.moved() / size - factor * radius * (1 - short)
            # The logits have norm R s, which takes the place of R² in the bound on the error.
            yield Trial(margin, drawn.error(sqrt(radius * size)) / size, drawn.named())

    return trials
