"""Losses of functions of y and of linear measurements of X, and trials of the least loss.

A measurement is a linear combination of the entries x_ib of the tokens; X is T×d here. Measurements are represented by
an orthonormal basis U of their span, Td×m, or of the rest of the space (the orthogonal complement) if that basis has
fewer columns. Given y, the target's component b is ⟨X, u ⊗ e_b⟩ with u = 1_y/q; the part of u ⊗ e_b in the rest
contributes a number that the measurements do not determine.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from verify import Trial
from verify.errors import UndefinedError
from verify.language.parameters import Instance

if TYPE_CHECKING:
    from numpy.random import Generator

    from verify.claims.in_words import Trials

Array: TypeAlias = "Any"
"""A NumPy array."""
_EPS, _MOST_ENTRIES, _MOST_WORK = 2.0**-52, 10**5, 10**9
_SAMPLES, _SIGMAS, _BATCH, _LEAK = 1_000, 6, 64, 0.2
_TRAINING = 2 * 10**9


@dataclass(frozen=True)
class Task:
    """T tokens of dimension d, q of them selected, and m measurements."""

    T: int
    q: int
    d: int
    m: int

    @property
    def entries(self) -> int:
        """The number of entries of X."""
        return self.T * self.d

    @property
    def rest(self) -> bool:
        """Whether a basis spans the unmeasured part."""
        return 2 * self.m > self.entries

    @property
    def columns(self) -> int:
        """The number of columns of a basis."""
        return self.entries - self.m if self.rest else self.m

    @cached_property
    def moments(self) -> tuple[float, float]:
        """E u_i² and E u_i u_j, by the numbers of q-subsets that have one and two given tokens."""
        all_of_them = math.comb(self.T, self.q) * self.q**2
        both = math.comb(self.T - 2, self.q - 2) if self.q >= 2 else 0
        return math.comb(self.T - 1, self.q - 1) / all_of_them, both / all_of_them

    def second_moment(self, U: Array) -> Array:
        """Return (E uuᵀ ⊗ I_d) U."""
        one, two = self.moments
        tokens = U.reshape(self.T, self.d, -1)
        return ((one - two) * tokens + two * tokens.sum(axis=0)).reshape(U.shape)

    def loss(self, U: Array) -> float:
        """Return ½ E ‖f − STS‖² of the best function of y and of the measurements with this basis."""
        within = float((U * self.second_moment(U)).sum())
        return within / 2 if self.rest else (self.entries * self.moments[0] - within) / 2

    def basis(self, columns: Array) -> Array:
        """Return an orthonormal basis of the span of the columns."""
        import numpy as np

        return np.linalg.qr(columns)[0]

    def sums_first(self) -> Array:
        """Return the basis if sums of coordinates over all tokens are measured first, and then orthogonal contrasts."""
        import numpy as np
        from scipy.fft import idct

        places = np.arange(self.m, self.entries) if self.rest else np.arange(self.m)
        # The columns of the orthogonal cosine transform: the first is constant, all others have the sum 0.
        orders, coordinates = np.divmod(places, self.d)
        units = np.zeros((self.T, len(places)))
        units[orders, np.arange(len(places))] = 1
        U = np.zeros((self.T, self.d, len(places)))
        waves: Array = idct(units, axis=0, norm="ortho")
        U[:, coordinates, np.arange(len(places))] = waves
        return U.reshape(self.entries, len(places))

    def drawn(self, random: "Generator") -> Array:
        """Return the basis of a random span."""
        return self.basis(random.standard_normal((self.entries, self.columns)))

    def moved(self, random: "Generator") -> Array:
        """Return the basis of the best span after a random move of its basis vectors, each by about 1e-4 to 1."""
        size = 10 ** random.uniform(-4, 0)
        return self.basis(
            self.sums_first() + size * random.standard_normal((self.entries, self.columns)) / math.sqrt(self.entries)
        )

    def descended(self, random: "Generator") -> Array:
        """Return the basis of a random span after three steps of descent of the loss, of random length."""
        U, step = self.drawn(random), self.T * random.uniform(0, 1)
        for _ in range(3):
            # The largest eigenvalue of the second moment is 1/T; a step moves a basis of the rest away from its
            # eigenvectors, and a basis of the measured part towards them.
            U = self.basis(U - step * self.second_moment(U) if self.rest else U + 30 * step * self.second_moment(U))
        return U

    def sample(self, random: "Generator", count: int) -> tuple[Array, Array]:
        """Return tokens, (count, T, d), and the indicators of subsets, (count, T)."""
        import numpy as np

        y = np.zeros((count, self.T))
        order = random.random((count, self.T)).argpartition(self.q - 1, axis=1)[:, : self.q]
        np.put_along_axis(y, order, 1, axis=1)
        return random.standard_normal((count, self.T, self.d)), y

    def measured(self, U: Array, X: Array) -> Array:
        """Return the part of each X in the span of the measurements."""
        flat = X.reshape(len(X), -1)
        part = (flat @ U) @ U.T
        return ((flat - part) if self.rest else part).reshape(X.shape)

    def target(self, X: Array, y: Array) -> Array:
        """Return the mean of the selected tokens of each X. At the measured part of X it is the best function."""
        import numpy as np

        return np.einsum("nt,ntd->nd", y, X) / self.q


def _task(instance: Instance) -> Task:
    task = Task(*(int(instance[name]) for name in ("T", "q", "d", "m")))
    if task.entries > _MOST_ENTRIES or task.entries * task.columns**2 > _MOST_WORK:
        raise UndefinedError(f"{task.m} measurements of {task.entries} entries are too many to be drawn")
    return task


def _claimed(instance: Instance, few: sp.Expr, many: sp.Expr) -> float:
    """Return the claimed least loss: `few` for m <= d, else `many`."""
    expression = few if instance["m"] <= instance["d"] else many  # pyright: ignore[reportOperatorIssue]
    values = {symbol: sp.Rational(instance[str(symbol)]) for symbol in expression.free_symbols}
    return float(expression.subs(values))  # pyright: ignore[reportArgumentType, reportCallIssue]


def _mean(values: Array) -> tuple[float, float]:
    """Return the mean of independent values, and six standard errors of it."""
    return float(values.mean()), _SIGMAS * float(values.std(ddof=1)) / math.sqrt(len(values))


def _other_function(task: Task, U: Array, random: "Generator") -> Trial:
    """Return a trial: the loss of a random function is at least the loss of the best function, at the same sample."""
    import numpy as np

    X, y = task.sample(random, _SAMPLES)
    seen, target = task.measured(U, X), task.target(X, y)
    best = task.target(seen, y)
    size, stretch = random.uniform(-1, 1) / task.q, random.uniform(0.8, 1.2)
    features = seen.reshape(len(X), -1) @ random.standard_normal((task.entries, task.d)) / math.sqrt(task.T)
    other = stretch * best + size * np.tanh(features + y @ random.standard_normal((task.T, task.d)))
    more, error = _mean((np.square(other - target) - np.square(best - target)).sum(axis=1) / 2)
    return Trial(more, error, {"kind": "another function", "stretch": stretch, "size": size})


def smallest(few: sp.Expr, many: sp.Expr) -> "Trials":
    """Return trials of the least loss: the loss of sums and contrasts equals it, and no other loss tried is below it.

    The best function is tried with random measurements, with the best measurements moved by 1e-4 to 1, and with the
    results of three steps of descent from random measurements. Random functions are tried with the best measurements.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        task, claimed = _task(instance), _claimed(instance, few, many)
        # A loss is a sum of products, one for each entry of the basis, whose sizes add up to at most d/q. The products
        # and the basis are rounded by a few ulps each.
        error = 8 * _EPS * task.entries * task.d / task.q
        yield Trial(-abs(task.loss(task.sums_first()) - claimed), error, {"kind": "sums and contrasts"})
        for kind in cycle((task.drawn, task.moved, task.descended)):
            yield Trial(task.loss(kind(random)) - claimed, error, {"kind": kind.__name__})
            yield _other_function(task, task.sums_first(), random)

    return trials


def nets(few: sp.Expr, many: sp.Expr) -> "Trials":
    """Return trials of the least loss: no net that is tried has a smaller loss.

    Two of three nets have a first layer of leaky ReLU units of X and y, at the best measurements, at moved best ones or
    at random ones, and then the best function of y and these units. Every third net has ReLU units and a linear layer
    that are trained.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        task, claimed = _task(instance), _claimed(instance, few, many)
        if task.rest and task.entries**3 > 2 * _MOST_WORK:
            raise UndefinedError(f"{task.m} units that read {task.entries} entries are too many to be drawn")
        for kind in cycle((_inverted, _inverted, _trained)):
            loss, error = _mean(kind(task, random))
            yield Trial(loss - claimed, error, {"kind": kind.__name__.strip("_"), "loss": loss})

    return trials


def _inverted(task: Task, random: "Generator") -> Array:
    """Return the losses, at a sample, of a net that reads the measurements off m leaky ReLU units of X and y."""
    import numpy as np

    U = (task.sums_first, lambda: task.moved(random), lambda: task.drawn(random))[random.integers(3)]()
    A = np.linalg.qr(U, mode="complete")[0][:, task.columns :] if task.rest else U
    X, y = task.sample(random, _SAMPLES)
    scales, bias = random.uniform(0.5, 2, task.m), y @ random.standard_normal((task.T, task.m))
    into = scales * (X.reshape(len(X), -1) @ A) + bias
    units = np.where(into > 0, into, _LEAK * into)
    measurements = (np.where(units > 0, units, units / _LEAK) - bias) / scales
    return np.square(task.target((measurements @ A.T).reshape(X.shape), y) - task.target(X, y)).sum(axis=1) / 2


def _trained(task: Task, random: "Generator") -> Array:
    """Return the losses, at a new sample, of m ReLU units and a linear layer, trained by Adam."""
    import numpy as np

    width, inputs = task.m, task.entries + task.T
    weights = [
        random.standard_normal((inputs, width)) / math.sqrt(inputs),
        np.zeros(width),
        random.standard_normal((width, task.d)) / math.sqrt(width + 1),
    ]
    first, second = ([np.zeros_like(w) for w in weights] for _ in range(2))
    steps = min(200, int(_TRAINING // (6 * _BATCH * inputs * max(1, width))))
    for step in range(1, steps + 1):
        _, slopes = _net(task, weights, *task.sample(random, _BATCH))
        for k, slope in enumerate(slopes):
            first[k] = first[k] + 0.1 * (slope - first[k])
            second[k] = second[k] + 0.01 * (slope**2 - second[k])
            size = np.sqrt(second[k] / (1 - 0.99**step)) + 1e-8
            weights[k] = weights[k] - 0.01 * first[k] / (1 - 0.9**step) / size
    return _net(task, weights, *task.sample(random, _SAMPLES))[0]


def _net(task: Task, weights: list[Array], X: Array, y: Array) -> tuple[Array, list[Array]]:
    """Return the losses of a net of ReLU units and a linear layer, and the slopes of their mean in its weights."""
    import numpy as np

    W, b, V = weights
    inputs = np.concatenate([X.reshape(len(X), -1), y], axis=1)
    units = np.maximum(inputs @ W + b, 0)
    off = units @ V - task.target(X, y)
    back = (off @ V.T) * (units > 0) / len(X)
    return np.square(off).sum(axis=1) / 2, [inputs.T @ back, back.sum(axis=0), units.T @ off / len(X)]
