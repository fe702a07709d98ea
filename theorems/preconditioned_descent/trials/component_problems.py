"""Trials of the componentwise problems: f_j = E (tr(G M) + w_j)² over all matrices M, in an eigenbasis of Σ.

The claims are about all Σ. A trial draws up to four eigenvalues from 1/10 to 10, j and M; the covariance of w* is I, or
Σ^{-1}, as the instance says.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials, value_of
from theorems.preconditioned_descent.trials.one_layer_losses import Data, component_loss, float_data
from verify import Trial

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any]

DRAWS = 60


def minimised_at(position: sp.Expr) -> Trials:
    """Return trials of the claim that f_j is least at M = −A e_j e_{d+1}ᵀ.

    `position` is A, an expression in n, λ_j = lambda and tr Σ = t. Two trials alternate: f_j at a moved M minus the
    claimed least f_j, and minus the size of the slope along that move.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        while True:
            eigenvalues, data = _drawn(instance, random)
            j = int(random.integers(data.d))
            at = value_of(position, {"n": instance["n"], "lambda": eigenvalues[j], "t": sum(eigenvalues)})
            least = np.zeros((data.d + 1, data.d + 1))
            least[j, -1] = -float(at)
            move = 10 ** random.uniform(-2, 1) * random.normal(size=least.shape)
            (here, up, down), error = _losses(data, j, least, least + move, least - move)
            tried = {"eigenvalues": eigenvalues, "j": j, "M": (least + move).tolist()}
            yield Trial(up - here, error, tried)
            # f_j is a quadratic function of M: this is its slope.
            yield Trial(-abs(up - down) / 2, error, tried)

    return trials


def convex(sign: int) -> Trials:
    """Return trials of the claim that f_j is convex in M, and strictly so in c.

    c is M's last column plus `sign` times its last row, without the corner. The mean of f_j at M + N and M − N exceeds
    f_j at M by at least cᵀΣΨΣc, for the c of N and the covariance Ψ of w*. Jensen's inequality gives this modulus of
    strict convexity as a lower bound of E (w*ᵀSc)², because E S = Σ. N has all entries, or only a last column and row,
    or is nearly skew-symmetric.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        number = 0
        while True:
            _, data = _drawn(instance, random)
            j, shape = int(random.integers(data.d)), (data.d + 1, data.d + 1)
            M, N = random.normal(size=shape), random.normal(size=shape)
            if number % 3 == 1:
                N[:-1, :-1] = 0
            if number % 3 == 2:
                N = N - N.T + 10 ** random.uniform(-3, 0) * random.normal(size=shape)
            c = (N[:-1, -1] + sign * N[-1, :-1]) @ data.sigma
            (here, up, down), error = _losses(data, j, M, M + N, M - N)
            # The rule for w* has E w*w*ᵀ = Ψ.
            modulus = data.weights @ (data.targets @ c) ** 2
            bound = data.rounding * (abs(data.weights) @ (abs(data.targets) @ abs(c)) ** 2)
            yield Trial((up + down) / 2 - here - modulus, 2 * error + bound, {"M": M.tolist(), "N": N.tolist()})
            number += 1

    return trials


def _drawn(instance: Instance, random: "Generator") -> tuple[list[Fraction], Data]:
    """Return eigenvalues of Σ, multiples of 1/1000 from 1/10 to 10, and the data."""
    drawn = 10 ** random.uniform(-1, 1, size=random.integers(1, 5))
    eigenvalues = [Fraction(round(1000 * float(value)), 1000) for value in drawn]
    variances = [1 / value for value in eigenvalues] if instance["prior"] == "inverse" else None
    return eigenvalues, float_data(instance["n"], eigenvalues, variances)


def _losses(data: Data, j: int, *matrices: "Numbers") -> tuple[list[float], float]:
    """Return f_j at some matrices, and a bound on the error of a difference of two, from sums of absolute values."""
    sizes = [float(component_loss(data.absolute, j, abs(matrix))) for matrix in matrices]
    return [float(component_loss(data, j, matrix)) for matrix in matrices], 2 * data.rounding * max(sizes)
