r"""Layers A_l = a_l Σ^{-1} of pattern (8): the loss f as an exact function of the steps, and trials of claims about it.

After whitening, layer l multiplies the residual's polynomial in S by 1 − a_l s, so that f = ∫ ∏ (1 − a_l s)² dμ with
∫ s^k dμ = E tr S^k (`wishart_means`). f is exact at rational steps.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from theorems.closed_forms import ROUNDED, Values
from theorems.preconditioned_descent.trials.wishart_means import gauss_rule, trace_moments
from verify import Trial

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance

Loss = Callable[..., Fraction]


def mean_square(polynomial: Sequence[Fraction], moments: Sequence[Fraction]) -> Fraction:
    """Return ∫ r² dμ for r given by its coefficients, the constant one first."""
    terms = ((c * e, i + j) for i, c in enumerate(polynomial) for j, e in enumerate(polynomial))
    return sum((product * moments[power] for product, power in terms), Fraction(0))


def loss_of_steps(layers: int, instance: "Instance", sign: int = -1) -> Loss:
    """Return f as a function of the steps; with the sign +1, ∫ ∏ (1 + a_l s)² dμ, to bound rounding."""
    moments = trace_moments(2 * layers, int(instance["n"]), int(instance["d"]))

    def loss(*steps: Fraction) -> Fraction:
        residual = [Fraction(1)]
        for step in steps:
            residual = [
                c + sign * step * e for c, e in zip([*residual, Fraction(0)], [Fraction(0), *residual], strict=True)
            ]
        return mean_square(residual, moments)

    return loss


def second_differences(loss: Loss, at: Sequence[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """Return f_aa, f_ab and f_bb at two steps, exactly: f is of degree 2 in each step."""
    a, b = at
    values = {(i, j): loss(a + i, b + j) for i in (-1, 0, 1) for j in (-1, 0, 1)}
    across = values[1, 1] - values[1, -1] - values[-1, 1] + values[-1, -1]
    return (
        values[1, 0] - 2 * values[0, 0] + values[-1, 0],
        across / 4,
        values[0, 1] - 2 * values[0, 0] + values[0, -1],
    )


def slope(loss: Loss, a: Fraction, b: Fraction) -> Fraction:
    """Return f's slope in the first of two steps, exactly."""
    return (loss(a + 1, b) - loss(a - 1, b)) / 2


def equal_pair(instance: "Instance") -> list[Fraction]:
    """Return the two equal steps at which f's slopes vanish: the root of a rising cubic, by bisection."""
    loss = loss_of_steps(2, instance)
    low, high = Fraction(0), Fraction(4)
    while high - low > ROUNDED / 100:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(loss, middle, middle) < 0 else (low, middle)
    return [low, low]


def _descended(random: "Generator", rule: "tuple[np.ndarray, np.ndarray]", layers: int) -> list[Fraction]:
    """Return the steps at which a descent ends, from random steps of either sign."""
    import numpy as np
    from scipy.optimize import minimize

    nodes, weights = rule

    def value(steps: "np.ndarray") -> tuple[float, "np.ndarray"]:
        factors = 1 - np.outer(steps, nodes)
        others = np.array([np.delete(factors, layer, 0).prod(0) for layer in range(layers)])
        residual = factors.prod(0)
        return float(weights @ residual**2), -2 * (others * nodes) @ (weights * residual)

    start = random.normal(size=layers) * 2 * (weights @ nodes) / (weights @ nodes**2)
    return [Fraction(step) for step in minimize(value, start, jac=True, method="L-BFGS-B").x.tolist()]


def least_at_steps(steps: Values, least: Values) -> "Trials":
    """Return trials of the claim that f over S is least at these positive, different steps, with this value.

    The trials are: the steps are positive and differ, the value there, the values at steps moved by random amounts of
    sizes from 10⁻³ to 10 times the largest, and at ends of descents from random steps.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        at, (lowest,) = sorted(steps(instance)), least(instance)
        apart = [at[0], *(b - a for a, b in pairwise(at))]
        # Steps that are not real are missing, and equal ones are 0 apart.
        layers = len(at)
        yield Trial(min(apart) or Fraction(-1), 0, {"steps": at})
        loss, rule = loss_of_steps(layers, instance), gauss_rule(layers + 1, int(instance["n"]), int(instance["d"]))
        # The error of f is at most the sum of the sizes of all terms, times the error of 2·layers rounded steps.
        off = 100 * ROUNDED * loss_of_steps(layers, instance, 1)(*map(abs, at))
        yield Trial(-abs(loss(*at) - lowest), off, {"steps": at})
        while True:
            moves = 10 ** random.uniform(-3, 1) * random.normal(size=layers) * float(at[-1])
            moved = [step + Fraction(float(move)) for step, move in zip(at, moves, strict=True)]
            for tried in (moved, _descended(random, rule, layers)):
                yield Trial(loss(*tried) - lowest, abs(lowest) * ROUNDED, dict(_named(tried)))
        assert np

    return trials


def _named(steps: Sequence[Fraction]) -> Iterator[tuple[str, Any]]:
    return ((f"a_{layer}", step) for layer, step in enumerate(steps))


def strict_at_steps(steps: Values) -> "Trials":
    """Return trials of the claim that at two steps the second derivatives of f over S are positive definite.

    The trials are the second derivative in the first step and the determinant, which decide it.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        at = steps(instance)
        loss, absolute = loss_of_steps(2, instance), loss_of_steps(2, instance, 1)
        in_first, mixed, in_second = second_differences(loss, at)
        # Rounded steps move a second derivative by at most scale · ROUNDED, and the determinant by scale² · ROUNDED.
        scale = 100 * max(map(abs, second_differences(absolute, [abs(step) for step in at])))
        yield Trial(in_first, scale * ROUNDED, {"second derivative": "in the first step"})
        yield Trial(in_first * in_second - mixed**2, scale**2 * ROUNDED, {"second derivative": "determinant"})

    return trials


def saddle_at_equal_steps(equal: Values, steps: Values) -> "Trials":
    """Return trials of the claim that both slopes of f vanish only at the equal pair, a saddle, and the least pair.

    The trials are the slope and the determinant at the equal pair, and the ends of Newton's method from random pairs.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        at = equal(instance)
        loss, absolute = loss_of_steps(2, instance), loss_of_steps(2, instance, 1)
        in_first, mixed, in_second = second_differences(loss, at)
        scale = 100 * max(map(abs, second_differences(absolute, [abs(step) for step in at])))
        yield Trial(-abs(slope(loss, *at)), scale * ROUNDED, {"a": at[0], "b": at[1]})
        yield Trial(mixed**2 - in_first * in_second, scale**2 * ROUNDED, {"a": at[0], "b": at[1]})
        known = [[float(step) for step in pair] for pair in (at, steps(instance), steps(instance)[::-1])]
        yield from _ends_of_newton(random, gauss_rule(3, int(instance["n"]), int(instance["d"])), known)

    return trials


def _ends_of_newton(
    random: "Generator", rule: "tuple[np.ndarray, np.ndarray]", known: Sequence[Sequence[float]]
) -> Iterator[Trial]:
    """Yield, for each critical pair that Newton's method finds, minus its distance from the nearest known pair."""
    import numpy as np

    nodes, weights = rule
    while True:
        pair = random.uniform(-1, 2, 2) * 2 * max(map(max, known))
        for _ in range(100):
            one, other = (1 - step * nodes for step in pair)
            # f = ∫ (1 − a s)² (1 − b s)² dμ, its slopes and second derivatives.
            slopes = -2 * np.array([weights @ (nodes * one * other**2), weights @ (nodes * one**2 * other)])
            mixed = 4 * weights @ (nodes**2 * one * other)
            curvature = 2 * np.array(
                [[weights @ (nodes * other) ** 2, mixed / 2], [mixed / 2, weights @ (nodes * one) ** 2]]
            )
            step = np.linalg.solve(curvature, slopes)
            pair = pair - step
            if abs(step).max() < 1e-13 * abs(pair).max():
                break
        else:
            continue
        # A slope's error is at most 10⁻¹³ times the sum of its absolute terms. The inverse bounds the pair's error.
        bound = 1e-13 * (weights @ (nodes * (1 + abs(pair).max() * nodes) ** 3))
        error = 2 * bound * np.linalg.norm(np.linalg.inv(curvature), 2)
        yield Trial(-min(float(np.linalg.norm(pair - one)) for one in known), error, {"a": pair[0], "b": pair[1]})
