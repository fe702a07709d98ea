"""Comparisons for two layers of pattern (8) with symmetric matrices: the loss in traces, descent over all entries."""

import math
from collections.abc import Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from paper_checks.ahn2023.claims import close
from theorems.preconditioned_descent.two_layer_loss import EXPECTED, WORDS
from theorems.preconditioned_descent.two_layers import theorem2
from theorems.wishart.trace_moments import d, n
from verify import Comparison, Evidence, Verdict, all_of, over_drawn
from verify.outcomes import as_float

QUICK, FULL = 12, 400
"""Drawn instances in a quick run, and under `full`."""
SIZES = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (3, 1))
"""(d, n) at which the product rule has some ten thousand nodes at most."""


class InTraces(NamedTuple):
    """f and its gradients in A_0 and A_1, symmetric matrices."""

    loss: float
    slopes: tuple[np.ndarray, np.ndarray]


@cache
def _coefficients(size: int, examples: int) -> dict[tuple[str, ...], float]:
    return {key: float(c.subs({d: size, n: examples})) for key, c in EXPECTED.items()}


def loss_in_traces(first: np.ndarray, second: np.ndarray, examples: int) -> InTraces:
    """Return f by the theorem's sum of products of traces; the slope of tr W in a letter is what stands around it."""
    letters, size = {"A": first, "B": second}, len(first)

    def product(word: str) -> np.ndarray:
        return reduce(np.matmul, (letters[letter] for letter in word), np.eye(size))

    traces = {word: float(np.trace(product(word))) for word in {"", *WORDS}}
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


def _exact(*, device: str, full: bool, seed: int) -> Verdict:
    def compare(drawn: Drawn) -> Verdict:
        size, examples = drawn.sizes
        first, second = (symmetric(part, size) for part in (drawn.first, drawn.second))
        found = quadrature(first, second, examples, device)
        # What cancels is of the size of the largest products of four entries and four S.
        scale = float((1 + np.abs(first).max()) ** 2 * (1 + np.abs(second).max()) ** 2)
        theory = loss_in_traces(first, second, examples)
        verdicts = [("loss", close(found.loss, found.loss.new_tensor(theory.loss), "loss", scale))]
        for letter, slope, mean in zip("AB", theory.slopes, (found.A + found.A.mT) / 2, strict=True):
            verdicts.append((letter, close(mean, mean.new_tensor(slope), "gradient", scale)))
        return all_of(verdicts)

    return over_drawn(_drawn(), compare, examples=FULL if full else QUICK, seed=seed)


theorem2_exact = Comparison(
    id="ahn2023.theorem2_exact",
    title="By exact quadrature: the loss of two layers with any symmetric matrices is the sum of products of traces",
    theorem="ahn2023.theorem2",
    experiment=None,
    compare=_exact,
)


class End(NamedTuple):
    """Where a descent ended."""

    loss: float
    first: np.ndarray
    second: np.ndarray


def descents(size: int, examples: int, starts: int, seed: int) -> list[End]:
    """Return where descent of the loss in traces over all symmetric A_0 and A_1 ends, from random starts."""
    from scipy.optimize import minimize

    count = size * (size + 1) // 2

    def both(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return symmetric(flat[:count], size), symmetric(flat[count:], size)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        found = loss_in_traces(*both(flat), examples)
        # An entry off the diagonal stands in two places.
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
        values = theorem2.check(d=size, n=examples).values
        least, steps = float(values["minimum_loss"]), [as_float(a) for a in values["a"]]
        for place, end in enumerate(descents(size, examples, 40 if full else 3, seed)):
            means = [float(np.trace(x)) / len(x) for x in (end.first, end.second)]
            off = max(np.abs(x - m * np.eye(len(x))).max() for x, m in zip((end.first, end.second), means, strict=True))
            away = max(abs(x - y) for x, y in zip(sorted(means), steps, strict=True))  # type: ignore[operator]
            # Descent ends at slopes of 10⁻⁹, or where rounding stops it: within 10⁻⁵ where curvatures are above 10⁻³.
            holds = abs(end.loss - least) <= 1e-9 * max(1, least) and max(off, away) <= 1e-5
            detail = f"loss {end.loss:.9g}, over multiples {least:.9g}, {max(off, away):.1e} from the point"
            verdicts.append((f"d={size} n={examples} start {place}", Verdict.of(holds, detail, Evidence.SIMULATED)))
    return all_of(verdicts)


theorem2_random_starts = Comparison(
    id="ahn2023.theorem2_random_starts",
    title="Descent over all symmetric A_0 and A_1 from random starts ends at the best multiples of I",
    theorem="ahn2023.theorem2",
    experiment=None,
    compare=_random_starts,
    devices=("cpu",),
)
