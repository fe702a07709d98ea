r"""Means over S = XXᵀ/n, X ∈ R^{d×n} standard Gaussian, by formulas other than those of `theorems.wishart`.

*Traces of powers.* Reflections that fix e_1 make X bidiagonal with independent entries, whose squares along the
diagonals are χ² of ν = n, d − 1, n − 1, d − 2, … degrees of freedom. The law of W = XXᵀ is invariant under rotations,
so that E tr W^k = d E (W^k)_11. This is a sum over the Dyck paths of 2k steps, and ∏ C(c_j + c_{j+1} − 1, c_{j+1}) of
these rise c_j times from height j − 1:

    E tr W^k = d Σ ∏_j C(c_j + c_{j+1} − 1, c_{j+1}) ν_j (ν_j + 2) … (ν_j + 2c_j − 2)   over c_1 + c_2 + … = k, c_j ≥ 1.

*Traces of words.* By Isserlis' theorem, E tr(S F_1 … S F_k) is n^{−k} times a sum over the pairings of the 2k vectors
in the factors S = Σ xxᵀ/n. The term of a pairing is n^g times the traces along the cycles of the F_j, where g is the
number of groups into which the pairs join the factors S.

*Means of polynomials.* If d > n, S has d − n eigenvalues 0. For the min(n, d) others E Σ s^k is ∫ s^k dν, and the Gauss
rule of ν with N nodes is exact up to degree 2N − 1. The zeros are left out, because for d far above n the other
eigenvalues lie close together, and floats would not resolve them beside d − n zeros.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import comb, prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

Cycle = tuple[tuple[int, bool], ...]
"""The factors of a trace by number, each with whether it is transposed."""


def trace_moments(up_to: int, n: int, d: int) -> list[Fraction]:
    """Return E tr S^k for k = 0 … up_to."""

    def freedom(height: int) -> int:
        return n - height // 2 if height % 2 == 0 else d - (height + 1) // 2

    @cache
    def paths(height: int, rises: int, left: int) -> int:
        """Return the sum over the continuations with `rises` rises from this height and `left` from greater heights."""
        chi = prod(freedom(height) + 2 * i for i in range(rises))
        if not left or not chi:
            return 0 if left else chi
        return chi * sum(
            comb(rises + above - 1, above) * paths(height + 1, above, left - above) for above in range(1, left + 1)
        )

    sums = [1, *(sum(paths(0, first, k - first) for first in range(1, k + 1)) for k in range(1, up_to + 1))]
    return [Fraction(d * value, n**k) for k, value in enumerate(sums)]


class Orthogonal(NamedTuple):
    """The monic orthogonal polynomials p_k of ν: the coefficients of their recursion, and h_k = ∫ p_k² dν."""

    alpha: list[Fraction]
    beta: list[Fraction]
    squares: list[Fraction]


def orthogonal_polynomials(count: int, n: int, d: int) -> Orthogonal:
    """Return the orthogonal polynomials of the degrees below `count`, by Chebyshev's algorithm."""
    row, before = [Fraction(min(n, d)), *trace_moments(2 * count - 1, n, d)[1:]], [Fraction(0)] * (2 * count)
    found = Orthogonal([row[1] / row[0]], [row[0]], [row[0]])
    for _ in range(1, count):
        alpha, beta = found.alpha[-1], found.beta[-1]
        # Entry i is the integral of s^(k + i) times the polynomial of the next degree k.
        after = [row[i + 2] - alpha * row[i + 1] - beta * before[i + 2] for i in range(len(row) - 2)]
        found.alpha.append(after[1] / after[0] - row[1] / row[0])
        found.beta.append(after[0] / row[0])
        found.squares.append(after[0])
        row, before = after, row
    return found


def gauss_rule(count: int, n: int, d: int) -> "tuple[np.ndarray, np.ndarray]":
    """Return nodes and positive weights with ∫ g dν = Σ w g(s) for polynomials g of degree below 2 `count`."""
    import numpy as np
    from scipy.linalg import eigh_tridiagonal

    rule = orthogonal_polynomials(count, n, d)
    off = np.sqrt([float(b) for b in rule.beta[1:]])
    nodes, vectors = eigh_tridiagonal([float(a) for a in rule.alpha], off)
    return nodes, min(n, d) * vectors[0] ** 2


def least_square(degree: int, n: int, d: int) -> Fraction:
    """Return the least ∫ r² dν over polynomials r of at most this degree with r(0) = 1."""
    rule = orthogonal_polynomials(degree + 1, n, d)
    before, at_zero, kernel = Fraction(0), Fraction(1), 1 / rule.squares[0]
    for alpha, beta, square in zip(rule.alpha, rule.beta, rule.squares[1:], strict=False):
        before, at_zero = at_zero, -alpha * at_zero - beta * before
        kernel += at_zero**2 / square
    # r = Σ c_k p_k with Σ c_k p_k(0) = 1: by Cauchy-Schwarz Σ c_k² h_k is at least 1/Σ p_k(0)²/h_k.
    return 1 / kernel


def _pairings(ends: tuple[int, ...]) -> Iterator[dict[int, int]]:
    if not ends:
        yield {}
        return
    first, *rest = ends
    for i, other in enumerate(rest):
        for pairing in _pairings((*rest[:i], *rest[i + 1 :])):
            yield {first: other, other: first, **pairing}


def _groups(k: int, pairing: dict[int, int]) -> int:
    """Return the number of groups that a pairing joins the k factors S into; S_j has the ends 2j and 2j + 1."""
    of = list(range(k))
    for one, other in pairing.items():
        joined, kept = of[one // 2], of[other // 2]
        of = [kept if group == joined else group for group in of]
    return len(set(of))


def _cycles(k: int, pairing: dict[int, int]) -> list[Cycle]:
    """Return the cycles of the factors: F_j is between the second end of S_j and the first end of the next S."""
    unseen, found = set(range(k)), []
    while unseen:
        factor, turned, cycle = min(unseen), False, []
        while factor in unseen:
            unseen.remove(factor)
            cycle.append((factor, turned))
            left_at = 2 * factor + 1 if turned else 2 * ((factor + 1) % k)
            place, second = divmod(pairing[left_at], 2)
            factor, turned = (place, False) if second else ((place - 1) % k, True)
        found.append(tuple(cycle))
    return found


@cache
def _words(k: int) -> tuple[Counter[tuple[int, tuple[Cycle, ...]]], frozenset[Cycle]]:
    """Return the number of pairings that have each number of groups and cycles, and the set of all cycles."""
    found = Counter((_groups(k, pairing), tuple(_cycles(k, pairing))) for pairing in _pairings(tuple(range(2 * k))))
    return found, frozenset(cycle for _, cycles in found for cycle in cycles)


def mean_trace(factors: "Sequence[np.ndarray]", n: int) -> Any:
    """Return E tr(S F_1 … S F_k) for matrices, or for stacks of matrices in the last two axes."""
    words, cycles = _words(len(factors))
    traces = {cycle: _trace([factors[j].swapaxes(-1, -2) if t else factors[j] for j, t in cycle]) for cycle in cycles}
    return sum(
        times * float(n) ** (groups - len(factors)) * prod(traces[cycle] for cycle in found)
        for (groups, found), times in words.items()
    )


def _trace(matrices: "list[np.ndarray]") -> Any:
    from functools import reduce

    import numpy as np

    if len(matrices) == 1:
        return np.trace(matrices[0], axis1=-2, axis2=-1)
    return np.einsum("...ij,...ji->...", reduce(np.matmul, matrices[:-1]), matrices[-1])
