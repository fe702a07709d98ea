"""Values with all first and second derivatives, in floats or balls; the integrated square of a recursion's end.

A recursion z' = step(z, θ_l, s), polynomial in all its arguments, has a few unknowns θ_l per layer and ends in an
observable r_L(θ, s), a polynomial in s. For a measure μ with moments m_k = ∫ s^k dμ let

    f(θ) = ∫ r_L(θ, s)² dμ(s).

In floats s runs over the nodes of Gauss's rule for μ, which is exact here; all its weights are positive, so that
nothing cancels. In balls r_L and its derivatives are polynomials in s, and the moments are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import flint
import numpy as np

from verify.errors import UndecidedError
from verify.evaluation.arithmetic import Arithmetic, Ball, Float64, exact_fraction

Unknown = TypeVar("Unknown")
Operand: TypeAlias = "Jet | np.ndarray | flint.arb | float"


class Jet:
    """A value, its slopes (p, …) and second derivatives (p, p, …) in p unknowns, as arrays that broadcast.

    The entries are floats, for a batch of points by nodes, or single polynomials over balls. `second` is None if the
    second derivatives are 0, as those of an unknown; a value that depends on no unknown is a number or a plain array.
    """

    __slots__ = ("second", "slope", "value")
    # NumPy's arrays leave the operations to this class.
    __array_ufunc__ = None

    def __init__(self, value: np.ndarray, slope: np.ndarray, second: np.ndarray | None = None) -> None:
        self.value, self.slope, self.second = value, slope, second

    def __add__(self, other: Operand) -> "Jet":
        if isinstance(other, Jet):
            return Jet(self.value + other.value, self.slope + other.slope, _sum(self.second, other.second))
        return Jet(self.value + other, self.slope, self.second)

    def __neg__(self) -> "Jet":
        return Jet(-self.value, -self.slope, None if self.second is None else -self.second)

    def __sub__(self, other: Operand) -> "Jet":
        return self + (-other)

    def __rsub__(self, other: Operand) -> "Jet":
        return -self + other

    def __mul__(self, other: Operand) -> "Jet":
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.slope * other, None if self.second is None else self.second * other)
        second = self.slope[:, None] * other.slope[None]
        second = second + second.swapaxes(0, 1)
        for one, two in ((self, other), (other, self)):
            if one.second is not None:
                second = second + one.second * two.value
        slope = self.value * other.slope + self.slope * other.value
        return Jet(self.value * other.value, slope, second)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: np.ndarray | flint.arb | float) -> "Jet":
        return self * (1 / other)

    def __pow__(self, power: int) -> "Jet":
        result = self
        for _ in range(power - 1):
            result = result * self
        return result


def _sum(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    return other if one is None else one if other is None else one + other


class Values(NamedTuple):
    """f, its gradient and its second derivatives on a box."""

    value: flint.arb
    gradient: list[flint.arb]
    second: flint.arb_mat


class FloatValues(NamedTuple):
    """f (K,), its gradients (K, p) and its second derivatives (K, p, p) at K points."""

    value: np.ndarray
    gradient: np.ndarray
    second: np.ndarray


class Rule(NamedTuple):
    """Nodes and weights of Gauss's rule for a measure."""

    nodes: np.ndarray
    weights: np.ndarray


def gauss_rule(moments: Sequence[flint.fmpq], count: int) -> Rule:
    """Return the rule with `count` nodes from 2 count exact moments, by Chebyshev's algorithm in rationals.

    Raises UndecidedError if the moments are not those of a measure with at least `count` points.
    """
    before, current = [flint.fmpq(0)] * (2 * count), list(moments[: 2 * count])
    diagonal, beside = [moments[1] / moments[0]], list[flint.fmpq]()
    for k in range(1, count):
        last = beside[-1] if beside else flint.fmpq(0)
        after = [flint.fmpq(0)] * (2 * count)
        for j in range(k, 2 * count - k):
            after[j] = current[j + 1] - diagonal[-1] * current[j] - last * before[j]
        if not after[k] > 0:
            raise UndecidedError(f"the moments are not those of a measure with more than {k} points")
        beside.append(after[k] / current[k - 1])
        diagonal.append(after[k + 1] / after[k] - current[k] / current[k - 1])
        before, current = current, after
    matrix = np.diag([float(exact_fraction(x)) for x in diagonal])
    side = np.sqrt([float(exact_fraction(x)) for x in beside])
    nodes, vectors = np.linalg.eigh(matrix + np.diag(side, 1) + np.diag(side, -1))
    return Rule(nodes, vectors[0] ** 2 * float(exact_fraction(moments[0])))


@dataclass(frozen=True)
class Composed:
    """The recursion at a number of layers: programs of its start, its steps and its end, and the unknowns of f.

    `steps[l](arithmetic)(*state, *unknowns, s)` is the state after layer l, with 0 for entries that the end does not
    depend on; `observable(arithmetic)(*state)` has the end as its one entry. A layer has `each` unknowns. `places` are
    the unknowns that f depends on, each as a layer and a place in the layer. The methods take unknowns in this order.
    """

    start: Callable[[Arithmetic[Any]], tuple[Any, ...]]
    steps: tuple[Callable[[Arithmetic[Any]], Callable[..., tuple[Any, ...]]], ...]
    observable: Callable[[Arithmetic[Any]], Callable[..., tuple[Any, ...]]]
    each: int
    places: tuple[tuple[int, int], ...]

    def end(
        self, arithmetic: Arithmetic[Any], unknowns: Sequence[Unknown], variable: object, nothing: object
    ) -> Unknown:
        """Return the observable at s and at the unknowns that f depends on; all other unknowns are `nothing`.

        Unknowns are jets or polynomials, and so is the observable; s and 0 are of a type that combines with them.
        """
        jets = dict(zip(self.places, unknowns, strict=True))
        state = self.start(arithmetic)
        for layer, step in enumerate(self.steps):
            state = step(arithmetic)(*state, *(jets.get((layer, i), nothing) for i in range(self.each)), variable)
        return self.observable(arithmetic)(*state)[0]

    def at_points(self, arithmetic: Float64, points: np.ndarray, rule: Rule) -> FloatValues:
        """Return f and its derivatives at points (K, p), in floats."""
        p = points.shape[1]
        unknowns = [Jet(points[:, i, None], np.eye(p)[i, :, None, None]) for i in range(p)]
        r = self.end(arithmetic, unknowns, rule.nodes[None], 0.0)
        value = (r.value**2) @ rule.weights
        gradient = 2 * ((r.value * r.slope) @ rule.weights)
        slopes = np.broadcast_to(r.slope, (p, len(points), len(rule.nodes))).transpose(1, 0, 2)
        second = (slopes * rule.weights) @ slopes.transpose(0, 2, 1)
        if r.second is not None:
            second = second + ((r.value * r.second) @ rule.weights).transpose(2, 0, 1)
        return FloatValues(value, gradient.T, 2 * np.broadcast_to(second, (len(points), p, p)))

    def in_balls(self, arithmetic: Ball, point: Sequence[flint.arb], moments: Sequence[flint.arb]) -> Values:
        """Return f and its derivatives on a box, in balls; `moments` are m_0, m_1 and so on."""
        p = len(point)
        unknowns = []
        for i, x in enumerate(point):
            slope = _polynomials((p, 1))
            slope[i, 0] = flint.arb_poly([1])
            unknowns.append(Jet(_polynomials((1,), [x]), slope))
        r = self.end(arithmetic, unknowns, _polynomials((1,), [0, 1]), flint.arb(0))
        value, slopes = r.value[0], r.slope[:, 0]
        second = _polynomials((p, p)) if r.second is None else r.second[:, :, 0]

        def mean(polynomial: flint.arb_poly) -> flint.arb:
            coefficients = polynomial.coeffs()
            assert len(coefficients) <= len(moments)
            return sum((c * m for c, m in zip(coefficients, moments, strict=False)), flint.arb(0))

        rows = [[flint.arb(0)] * p for _ in range(p)]
        for i in range(p):
            for j in range(i + 1):
                rows[i][j] = rows[j][i] = 2 * mean(slopes[i] * slopes[j] + value * second[i, j])
        return Values(mean(value * value), [2 * mean(value * slope) for slope in slopes], flint.arb_mat(rows))

    def degree(self, arithmetic: Ball) -> int:
        """Return the degree of r_L in s at generic unknowns."""
        # The balls have a positive radius, so that no coefficient cancels exactly.
        point = [flint.arb(2 * i + 3, 2**-20) / 7 for i in range(len(self.places))]
        r = self.end(arithmetic, [flint.arb_poly([x]) for x in point], flint.arb_poly([0, 1]), flint.arb_poly([0]))
        # An expression without s and unknowns is a number.
        return r.degree() if isinstance(r, flint.arb_poly) else 0


def _polynomials(shape: tuple[int, ...], coefficients: Sequence[flint.arb | int] = ()) -> np.ndarray:
    """Return an array filled with one polynomial, which NumPy by itself would take for a sequence."""
    made = np.empty(shape, object)
    for place in np.ndindex(shape):
        made[place] = flint.arb_poly(list(coefficients))
    return made
