"""Two layers of pattern (8): the loss in traces, ends of descents, the least point, and second derivatives there."""

import math
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from hypothesis import strategies as st

import verify
from paper_checks.ahn2023 import multiples_of_the_inverse as multiples
from paper_checks.ahn2023.tensors import ROUNDING, close, covariance
from paper_checks.lazily import lazily
from theorems.wishart.trace_moments import d, n, trace_moments
from verify import Comparison, Crossing, Evidence, Verdict, all_of, over_instances
from verify.outcomes import as_float

in_traces = lazily("theorems.preconditioned_descent.two_layer_loss")
least_of_two = lazily("theorems.preconditioned_descent.two_layer_minimum")
symmetric_layers = lazily("theorems.preconditioned_descent.two_layers")
curved = lazily("theorems.preconditioned_descent.two_layer_curvature")
SIZES = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (3, 1))
"""(d, n) at which the product rule has at most about ten thousand nodes."""


class InTraces(NamedTuple):
    """The loss f and its gradients in the symmetric matrices A_0 and A_1."""

    loss: float
    slopes: tuple[np.ndarray, np.ndarray]


@cache
def _coefficients(size: int, examples: int) -> dict[tuple[str, ...], float]:
    return {key: float(c.subs({d: size, n: examples})) for key, c in in_traces.EXPECTED.items()}


def loss_in_traces(first: np.ndarray, second: np.ndarray, examples: int) -> InTraces:
    """Return f and its gradients by the theorem's sum of products of traces of words.

    The gradient of tr W in a letter is a sum over the letter's places in the word W: each adds the rest of W, read
    cyclically from that place and symmetrised.
    """
    letters, size = {"A": first, "B": second}, len(first)

    def product(word: str) -> np.ndarray:
        return reduce(np.matmul, (letters[letter] for letter in word), np.eye(size))

    traces = {word: float(np.trace(product(word))) for word in {"", *in_traces.WORDS}}
    total, by_word = 0.0, dict.fromkeys(traces, 0.0)
    for key, c in _coefficients(size, examples).items():
        total += c * math.prod(traces[word] for word in key)
        for place, word in enumerate(key):
            by_word[word] += c * math.prod(traces[other] for other in key[:place] + key[place + 1 :])
    slopes = {letter: np.zeros((size, size)) for letter in letters}
    for word, c in by_word.items():
        for place, letter in enumerate(word):
            around = product(word[place + 1 :] + word[:place])
            slopes[letter] += c * (around + around.T) / 2
    return InTraces(total, (slopes["A"], slopes["B"]))


class Drawn(NamedTuple):
    """Sizes (d, n), and the entries on and above the diagonals of A_0 and A_1."""

    sizes: tuple[int, int]
    first: tuple[float, ...]
    second: tuple[float, ...]


@st.composite
def _drawn(draw: st.DrawFn) -> Drawn:
    sizes = draw(st.sampled_from(SIZES))
    count = sizes[0] * (sizes[0] + 1) // 2
    first, second = (tuple(draw(st.integers(-16, 16)) / 8 for _ in range(count)) for _ in range(2))
    return Drawn(sizes, first, second)


def symmetric(entries: Sequence[float], size: int) -> np.ndarray:
    """Return the symmetric matrix with these entries on and above the diagonal."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = entries
    return matrix + np.triu(matrix, 1).T


def quadrature(first: np.ndarray, second: np.ndarray, examples: int, device: str) -> Any:
    """Return the loss and all its first derivatives, by exact quadrature from the definitions."""
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    identity = torch.eye(len(first), dtype=torch.float64, device=device)
    return exact_gradient(pattern(torch.tensor(np.stack([first, second]), device=device)), examples, identity, identity)


def _exact(theory: Callable[..., InTraces], drawn: Drawn, device: str) -> Verdict:
    size, examples = drawn.sizes
    first, second = (symmetric(part, size) for part in (drawn.first, drawn.second))
    found = quadrature(first, second, examples, device)
    # The terms that cancel are as large as the largest products of four entries of A_0 and A_1 and four S.
    scale = float((1 + np.abs(first).max()) ** 2 * (1 + np.abs(second).max()) ** 2)
    expected = theory(first, second, examples)
    verdicts = [("loss", close(found.loss, found.loss.new_tensor(expected.loss), "loss", scale))]
    for letter, slope, mean in zip("AB", expected.slopes, (found.A + found.A.mT) / 2, strict=True):
        verdicts.append((letter, close(mean, mean.new_tensor(slope), "gradient", scale)))
    return all_of(verdicts)


def _off(loss: float, slopes: float) -> Callable[..., InTraces]:
    def theory(*given: Any) -> InTraces:
        right = loss_in_traces(*given)
        first, second = right.slopes
        return InTraces(loss * right.loss, (slopes * first, slopes * second))

    return theory


theorem2_exact = Crossing(
    id="ahn2023.theorem2_exact",
    title="By exact quadrature: the loss of two layers with any symmetric matrices is the sum of products of traces",
    subject="loss of two layers with symmetric matrices",
    theorem="ahn2023.theorem2",
    exact="proved for all parameters",
    instances=_drawn(),
    held=_exact,
    theory=loss_in_traces,
    planted={"1e-4 in the loss": _off(1 + 1e-4, 1.0), "1e-4 in the slopes": _off(1.0, 1 + 1e-4)},
)


class End(NamedTuple):
    """The end of a descent: the loss, A_0 and A_1."""

    loss: float
    first: np.ndarray
    second: np.ndarray


def descents(size: int, examples: int, starts: int, seed: int) -> list[End]:
    """Return the ends of descents of the loss in traces over all symmetric A_0 and A_1, from random starts."""
    from scipy.optimize import minimize

    count = size * (size + 1) // 2

    def both(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return symmetric(flat[:count], size), symmetric(flat[count:], size)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        found = loss_in_traces(*both(flat), examples)
        # An entry off the diagonal occurs twice in a symmetric matrix.
        each = [(x + np.triu(x, 1))[np.triu_indices(size)] for x in found.slopes]
        return found.loss, np.concatenate(each)

    source, ended = np.random.default_rng(seed), []
    for _ in range(starts):
        found = minimize(loss, source.normal(size=2 * count), jac=True, method="BFGS", options={"gtol": 1e-9})
        ended.append(End(float(found.fun), *both(found.x)))
    return ended


def _random_starts(*, device: str, full: bool, seed: int) -> Verdict:
    verdicts = []
    for size, examples in ((2, 1), (3, 2), (5, 20)):
        values = verify.check(symmetric_layers.theorem2, d=size, n=examples).values
        least, steps = float(values["minimum_loss"]), [as_float(a) for a in values["a"]]
        for place, end in enumerate(descents(size, examples, 40 if full else 3, seed)):
            means = [float(np.trace(x)) / len(x) for x in (end.first, end.second)]
            off = max(np.abs(x - m * np.eye(len(x))).max() for x, m in zip((end.first, end.second), means, strict=True))
            away = max(abs(x - y) for x, y in zip(sorted(means), steps, strict=True))  # type: ignore[operator]
            # Descent ends at slopes of 10⁻⁹, or where rounding stops it. So its end is within 10⁻⁵ of the point if
            # curvatures are above 10⁻³.
            holds = abs(end.loss - least) <= 1e-9 * max(1, least) and max(off, away) <= 1e-5
            detail = f"loss {end.loss:.9g}, over multiples {least:.9g}, {max(off, away):.1e} from the point"
            verdicts.append((f"d={size} n={examples} start {place}", Verdict.when(holds, detail, Evidence.SIMULATED)))
    return over_instances(verdicts)


theorem2_random_starts = Comparison(
    id="ahn2023.theorem2_random_starts",
    title="Descent over all symmetric A_0 and A_1 from random starts ends at the best multiples of I",
    theorem="ahn2023.theorem2",
    experiment=None,
    compare=_random_starts,
    devices=("cpu",),
)


@cache
def best(size: int, examples: int) -> dict[str, Any]:
    """Return the values of the theorem on the least loss of two layers."""
    return verify.check(least_of_two.two_layer_minimum, d=size, n=examples).values  # pyright: ignore[reportReturnType]


def _minimum(theory: Callable[[int, int], dict[str, Any]], drawn: multiples.Drawn, device: str) -> Verdict:
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, exact_loss, pattern

    _, d, n = drawn.sizes
    sigma, inverse = covariance(drawn.spectrum, drawn.seed, device)
    values = theory(d, n)
    m = [float(moment) for moment in trace_moments(4, n, d)]
    # ∫ s (1 − c s)³ dμ = 0 is a cubic equation in c with one real root, because its left side falls with c.
    (equal,) = (root.real for root in np.roots([-m[4], 3 * m[3], -3 * m[2], m[1]]) if abs(root.imag) < 1e-6 * abs(root))

    def layers(*steps: float) -> Any:
        return pattern(torch.tensor(steps, dtype=torch.float64, device=device)[:, None, None] * inverse)

    least = exact_gradient(
        layers(*(as_float(values[name]) for name in ("smaller_step", "larger_step"))), n, sigma, inverse
    )
    saddle = exact_gradient(layers(equal, equal), n, sigma, inverse)
    lower = exact_loss(layers(1.01 * equal, 0.99 * equal), n, sigma, inverse)
    elsewhere = exact_loss(layers(*drawn.steps), n, sigma, inverse)
    nothing = torch.zeros_like(least.A)
    return all_of(
        [
            ("minimum", close(least.loss, least.loss.new_tensor(float(values["minimum_loss"])), "loss")),
            ("stationary", close(least.A, nothing, "gradient", float(least.loss))),
            ("saddle", close(saddle.A, nothing, "gradient", float(saddle.loss))),
            ("apart", Verdict.when(bool(lower < saddle.loss), "equal steps moved apart", Evidence.COMPUTED)),
            (
                "least",
                Verdict.when(bool(elsewhere >= least.loss * (1 - ROUNDING)), "steps drawn", Evidence.COMPUTED),
            ),
        ]
    )


def _moved(name: str) -> Callable[[int, int], dict[str, Any]]:
    return lambda size, examples: best(size, examples) | {name: 1.01 * as_float(best(size, examples)[name])}


two_layer_minimum_exact = Crossing(
    id="ahn2023.two_layer_minimum_exact",
    title="By exact quadrature at two layers: zero gradient at the minimum and at an equal-step saddle; none lower",
    subject="least loss of two layers",
    theorem="ahn2023.two_layer_minimum",
    exact="proved for all parameters",
    instances=multiples.drawn().filter(lambda drawn: drawn.sizes[0] == 2),
    held=_minimum,
    theory=best,
    planted={f"1 % in {name}": _moved(name) for name in ("smaller_step", "larger_step", "minimum_loss")},
)


class Moved(NamedTuple):
    """Sizes (d, n), the steps a and b, and the entries of the directions V of A_0 and W of A_1."""

    sizes: tuple[int, int]
    steps: tuple[float, float]
    first: tuple[float, ...]
    second: tuple[float, ...]


@st.composite
def _moved_ways(draw: st.DrawFn) -> Moved:
    sizes = draw(st.sampled_from(SIZES))
    numbers = st.integers(-16, 16).map(lambda number: number / 8)
    first, second = (tuple(draw(numbers) for _ in range(sizes[0] ** 2)) for _ in range(2))
    return Moved(sizes, (draw(numbers), draw(numbers)), first, second)


@cache
def _curvatures() -> list[Callable[..., tuple[float, float, float]]]:
    """Return second derivatives as functions of (a, b, d, n): along I/√d, symmetric M of trace 0, antisymmetric M."""
    f, at = curved.loss(curved.a, curved.b), (curved.a, curved.b, d, n)
    on_set = tuple(sp.diff(f, *by) / d for by in ((curved.a, 2), (curved.a, curved.b), (curved.b, 2)))
    return [sp.lambdify(at, of) for of in (on_set, *map(curved.second_derivatives, curved.KINDS.values()))]


def kinds(move: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the parts of a matrix: a multiple of I, symmetric of trace 0, antisymmetric."""
    multiple = np.trace(move) / len(move) * np.eye(len(move))
    return multiple, (move + move.T) / 2 - multiple, (move - move.T) / 2


def second_order(drawn: Moved, off: Sequence[float] = (1, 1, 1)) -> np.ndarray:
    """Return the second derivatives of f at A_0 = a I + x V and A_1 = b I + y W: in x, in x and y, in y.

    `off` multiplies the contributions of the three kinds.
    """
    (size, examples), V, W = drawn.sizes, *_directions(drawn)
    found = np.zeros(3)
    for curvatures, one, other, share in zip(_curvatures(), kinds(V), kinds(W), off, strict=True):
        products = np.array([np.vdot(one, one), np.vdot(one, other), np.vdot(other, other)])
        found += share * np.array(curvatures(*drawn.steps, size, examples)) * products
    return found


def _directions(drawn: Moved) -> tuple[np.ndarray, np.ndarray]:
    size = drawn.sizes[0]
    return np.reshape(drawn.first, (size, size)), np.reshape(drawn.second, (size, size))


def _moved_as_said(theory: Callable[[Moved], np.ndarray], drawn: Moved, device: str) -> Verdict:
    import torch

    from numerics.preconditioned_descent.reference import exact_loss, pattern

    size, examples = drawn.sizes
    base = np.array(drawn.steps)[:, None, None] * np.eye(size)
    moves, identity = np.stack(_directions(drawn)), torch.eye(size, dtype=torch.float64, device=device)

    def loss(x: int, y: int) -> float:
        at = base + np.array([x, y])[:, None, None] * moves
        return float(exact_loss(pattern(torch.tensor(at, device=device)), examples, identity, identity))

    # f has degree 2 in x and in y, so that these differences are its derivatives.
    found = (
        loss(1, 0) - 2 * loss(0, 0) + loss(-1, 0),
        (loss(1, 1) - loss(1, -1) - loss(-1, 1) + loss(-1, -1)) / 4,
        loss(0, 1) - 2 * loss(0, 0) + loss(0, -1),
    )
    scale = math.prod(
        float(1 + abs(step) + np.abs(move).sum()) ** 2 for step, move in zip(drawn.steps, moves, strict=True)
    )
    expected = torch.tensor(theory(drawn))
    return close(torch.tensor(found, dtype=expected.dtype), expected, "second derivatives", scale)


def _off_by(place: int) -> Callable[[Moved], np.ndarray]:
    return lambda drawn: second_order(drawn, [1 + 1e-4 * (kind == place) for kind in range(3)])


two_layer_curvature_exact = Crossing(
    id="ahn2023.two_layer_curvature_exact",
    title="By exact quadrature: second derivatives of two layers at multiples of I along any two matrices",
    subject="second derivatives of two layers",
    theorem="ahn2023.two_layer_curvature",
    exact="proved for all parameters",
    instances=_moved_ways(),
    held=_moved_as_said,
    theory=second_order,
    planted={
        f"1e-4 along {name}": _off_by(place)
        for place, name in enumerate(("I", "symmetric matrices", "antisymmetric matrices"))
    },
)
