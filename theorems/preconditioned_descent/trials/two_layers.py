r"""Two layers of pattern (8): the loss over all A_0 and A_1, exact up to rounding, and trials of claims about it.

A layer with A takes the labels w*ᵀ K X to w*ᵀ K (I − S A) X, so that f = E tr Ψ K Σ Kᵀ with K = (I − S A_0)(I − S A_1),
x ~ N(0, Σ), w* ~ N(0, Ψ): a sum of means of traces of words (`wishart_means`). f is of degree 2 in each matrix, and of
degree 4 along a line: differences of five values give its first and second derivatives there exactly.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from theorems.closed_forms import Values
from theorems.preconditioned_descent.trials.wishart_means import mean_trace
from verify import Trial, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance

LARGEST = 24
"""The largest dimension whose means take no more than seconds."""
DESCENTS = 6
"""The largest dimension in which a descent over all entries takes no more than half a second."""
BATCH = 20


class Laws(NamedTuple):
    """A root of Σ, Σ, and Ψ."""

    root: "np.ndarray"
    tokens: "np.ndarray"
    prior: "np.ndarray"


def standard(d: int) -> Laws:
    """Return Σ = Ψ = I."""
    import numpy as np

    return Laws(np.eye(d), np.eye(d), np.eye(d))


def drawn_laws(random: "Generator", d: int) -> Laws:
    """Return a Σ of eigenvalues from 1/2 to 2, and Ψ = Σ^{-1}."""
    import numpy as np

    turn = np.linalg.qr(random.normal(size=(d, d)))[0]
    roots = np.exp2(random.uniform(-0.5, 0.5, d))
    return Laws(*(turn * roots**power @ turn.T for power in (1, 2, -2)))


def loss(first: "np.ndarray", second: "np.ndarray", n: int, laws: Laws, sign: int = -1) -> Any:
    """Return f at A_0 and A_1, or at stacks of them; with the sign +1 all terms are added."""
    root, tokens, prior = laws
    one, end = root @ first @ root, root @ prior @ root

    def across(left: "np.ndarray", right: "np.ndarray") -> "np.ndarray":
        return root @ left @ tokens @ right.swapaxes(-1, -2) @ root

    def alone(matrix: "np.ndarray") -> "np.ndarray":
        return root @ matrix @ tokens @ prior @ root

    def mean(*factors: "np.ndarray") -> Any:
        return mean_trace(factors, n)

    single = mean(alone(first)) + mean(alone(second))
    pairs = mean(across(first, first), end) + mean(across(second, second), end) + 2 * mean(across(first, second), end)
    both = mean(one, alone(second))
    triples = mean(one, across(second, first), end) + mean(one, across(second, second), end)
    quadruple = mean(one, across(second, second), one.swapaxes(-1, -2), end)
    return (prior * tokens).sum() + 2 * sign * (single + triples) + 2 * both + pairs + quadruple


def rounding(first: "np.ndarray", second: "np.ndarray", n: int, laws: Laws) -> Any:
    """Return a bound on the error of `loss`.

    The error of a sum of products, relative to the sum of the absolute terms, is at most 2⁻⁵³ times the number of
    operations that lead to it: at most 20 products of matrices, of d terms each, and a sum of at most 250 words. The
    factor 4 is for the rounding of the given matrices.
    """
    size = len(laws.root)
    absolute = loss(abs(first), abs(second), n, Laws(*map(abs, laws)), sign=1)
    return 4 * (20 * size + 250) * 2.0**-53 * absolute


def _sizes(instance: "Instance") -> tuple[int, int]:
    d, n = int(instance["d"]), int(instance["n"])
    if d > LARGEST:
        raise UndefinedError(f"d = {d}: means over all matrices are computed up to d = {LARGEST}")
    return d, n


def _symmetric(matrices: "np.ndarray") -> "np.ndarray":
    return (matrices + matrices.swapaxes(-1, -2)) / 2


def _drawn_moves(random: "Generator", d: int) -> "np.ndarray":
    """Return symmetric moves of norms from 10⁻³ to 10: in turn full ones, diagonal ones, and multiples of I."""
    import numpy as np

    moves = _symmetric(random.normal(size=(BATCH, d, d)))
    moves[1::3] *= np.eye(d)
    moves[2::3] = random.normal(size=(len(moves[2::3]), 1, 1)) * np.eye(d)
    norms = 10 ** random.uniform(-3, 1, (BATCH, 1, 1))
    return norms * moves / np.linalg.norm(moves, axis=(1, 2), keepdims=True)


def _descended(random: "Generator", d: int, n: int, at: "np.ndarray") -> "np.ndarray":
    """Return the symmetric A_0 and A_1 at which a descent over all their entries ends."""
    import numpy as np
    from scipy.optimize import minimize

    rows, columns = np.triu_indices(d)
    laws = standard(d)

    def matrices(entries: "np.ndarray") -> "np.ndarray":
        found = np.zeros((*entries.shape[:-1], 2, d, d))
        halves = entries.reshape(*entries.shape[:-1], 2, len(rows))
        found[..., rows, columns] = halves
        found[..., columns, rows] = halves
        return found

    def value(entries: "np.ndarray") -> tuple[float, "np.ndarray"]:
        # f has degree 2 in each entry: a central difference of any width is the slope.
        width = float(at[0])
        moved = matrices(entries + width * np.concatenate([np.zeros((1, len(entries))), *_both_ways(len(entries))]))
        values = loss(moved[:, 0], moved[:, 1], n, laws)
        return values[0], (values[1 : len(entries) + 1] - values[len(entries) + 1 :]) / (2 * width)

    start = random.normal(size=2 * len(rows)) * float(at[1])
    return matrices(minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x)


def _both_ways(size: int) -> tuple["np.ndarray", "np.ndarray"]:
    import numpy as np

    return np.eye(size), -np.eye(size)


def least_over_symmetric(steps: Values) -> "Trials":
    """Return trials of the claim that f over symmetric A_0, A_1 is least at a I and b I, in either order, at Σ = Ψ = I.

    `steps` returns a and b. The trials are A_0 and A_1 at distances from 10⁻³ to 10 from these and, for d up to 6, ends
    of descents.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        d, n = _sizes(instance)
        at, laws = np.array([float(step) for step in steps(instance)]), standard(d)
        orders = at[:, None, None] * np.eye(d), at[::-1, None, None] * np.eye(d)
        claimed = [loss(one, other, n, laws) for one, other in orders]
        error = max(rounding(one, other, n, laws) for one, other in orders)
        while True:
            centres = np.where(random.random((BATCH, 1, 1, 1)) < 0.5, *orders)
            first, second = (centres[:, layer] + _drawn_moves(random, d) for layer in (0, 1))
            if d <= DESCENTS:
                first[0], second[0] = _descended(random, d, n, at)
            margins = loss(first, second, n, laws) - max(claimed)
            for pair in zip(margins, rounding(first, second, n, laws) + error, first, second, strict=True):
                yield Trial(float(pair[0]), float(pair[1]), {"A_0": pair[2].tolist(), "A_1": pair[3].tolist()})

    return trials


def _unit(matrices: "np.ndarray") -> "np.ndarray":
    import numpy as np

    return matrices / (np.linalg.norm(matrices) or 1)


def _direction(random: "Generator", d: int) -> "np.ndarray":
    """Return a matrix of norm 1: a multiple of I, a symmetric or antisymmetric one, one with a single entry, or any."""
    import numpy as np

    full = random.normal(size=(d, d))
    entry = np.zeros((d, d))
    entry[random.integers(d), random.integers(d)] = 1
    kinds = [np.eye(d), full + full.T, full - full.T if d > 1 else full, entry, full]
    return _unit(kinds[random.integers(len(kinds))])


Derivative = Callable[["np.ndarray", "np.ndarray"], tuple[float, float]]
"""A function that returns a derivative along a direction (V, W) of (A_0, A_1), with a bound on its error."""


def _along(at: "np.ndarray", n: int, laws: Laws, weights: tuple[float, ...], order: int) -> Derivative:
    """Return the derivative of this order at a Σ^{-1} and b Σ^{-1}, (a, b) = `at`, from values at −2h, −h, 0, h, 2h."""
    import numpy as np

    inverse = laws.prior
    width = float(max(abs(at))) / 4

    def derivative(first: "np.ndarray", second: "np.ndarray") -> tuple[float, float]:
        places = width * np.arange(-2, 3)[:, None, None]
        pairs = at[0] * inverse + places * first, at[1] * inverse + places * second
        value = np.dot(weights, loss(*pairs, n, laws)) / width**order
        error = np.dot(np.abs(weights), rounding(*pairs, n, laws)) / width**order
        return float(value), float(error)

    return derivative


def _slope(at: "np.ndarray", n: int, laws: Laws) -> Derivative:
    return _along(at, n, laws, (1 / 12, -2 / 3, 0, 2 / 3, -1 / 12), 1)


def _curvature(at: "np.ndarray", n: int, laws: Laws) -> Derivative:
    return _along(at, n, laws, (-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12), 2)


def _in_orders(pairs: "Values | tuple[Values, ...]", instance: "Instance") -> "list[np.ndarray]":
    """Return the pairs of steps, each in both orders."""
    import numpy as np

    found = [[float(step) for step in pair(instance)] for pair in (pairs if isinstance(pairs, tuple) else (pairs,))]
    return [np.array(order) for pair in found for order in (pair, pair[::-1])]


def gradient_vanishes(*pairs: Values) -> "Trials":
    """Return trials of the claim that at A_0 = a Σ^{-1}, A_1 = b Σ^{-1} the gradient of f in all A_0 and A_1 is 0.

    The trials are the slopes in random directions, among them single entries, at drawn Σ.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        d, n = _sizes(instance)
        orders = _in_orders(pairs, instance)
        while True:
            for at in orders:
                first, second = _direction(random, d), _direction(random, d)
                slope, error = _slope(at, n, drawn_laws(random, d))(first, second)
                tried = {"a": at[0], "b": at[1], "in A_0": first.tolist(), "in A_1": second.tolist()}
                yield Trial(-abs(slope), error, tried)

    return trials


def positive_definite(steps: Values) -> "Trials":
    """Return trials of the claim that f has positive definite second derivatives at two steps, in either order.

    The second derivatives are over all A_0 and A_1. The trials are their least eigenvalues in the plane of (V, 0) and
    (0, W), for a random V and W = V, Vᵀ or any, at drawn Σ.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        d, n = _sizes(instance)
        orders = _in_orders(steps, instance)
        while True:
            first = _direction(random, d)
            second = (first, first.T, _direction(random, d))[random.integers(3)]
            curvature = _curvature(orders[random.integers(2)], n, drawn_laws(random, d))
            planes = [(first, 0 * first), (0 * first, second), (first, second)]
            (one, e_1), (other, e_2), (both, e_3) = (curvature(*plane) for plane in planes)
            mixed = (both - one - other) / 2
            least = np.linalg.eigvalsh([[one, mixed], [mixed, other]])[0]
            # An eigenvalue moves by no more than the entries' errors together.
            tried = {"V": first.tolist(), "W": second.tolist()}
            yield Trial(float(least), 2 * (e_1 + e_2 + e_3) + 1e-14 * (abs(one) + abs(other)), tried)

    return trials


def strict_minimum(steps: Values) -> "Trials":
    """Return trials of the claim that f, over all A_0 and A_1, has a strict local minimum at two steps in either order.

    The trials are random moves from a Σ^{-1} and b Σ^{-1}, of sizes from 10⁻³ to 1/10 of the larger step, at drawn Σ.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        d, n = _sizes(instance)
        orders = _in_orders(steps, instance)
        while True:
            at, laws = orders[random.integers(2)], drawn_laws(random, d)
            moves = np.stack([_direction(random, d), _direction(random, d)])
            moves *= at.max() * 10 ** random.uniform(-3, -1) * random.normal(size=(2, 1, 1))
            pairs = [
                np.stack([step * laws.prior, step * laws.prior + move]) for step, move in zip(at, moves, strict=True)
            ]
            first, second = pairs
            (here, there), errors = loss(first, second, n, laws), rounding(first, second, n, laws)
            tried = {"move of A_0": moves[0].tolist(), "move of A_1": moves[1].tolist()}
            yield Trial(float(there - here), float(errors.sum()), tried)

    return trials
