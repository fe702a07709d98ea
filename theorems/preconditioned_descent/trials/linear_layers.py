"""Trials of claims about layers of linear attention on any prompt: layers as defined, computed in integers.

Entries are integers from -3 to 3, and the entries of Q are multiplied by n, so that Attn/n has integer entries. The
claims are equalities of polynomials in the entries.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from theorems.preconditioned_descent.trials.closed_forms import Instance, Trials
from verify import Trial, UndefinedError

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any]

DRAWS = 30
MOST_LAYERS = 3
MOST_PRODUCTS = 10**6
"""Maximum number of products in a layer, about (d+1)² (n+1)."""
WORK = 10**6
"""Maximum number of products in all trials, which take about a second; but at least two prompts are tried."""
ULP = 2.0**-53


class Layer(NamedTuple):
    """P and Q, (d+1)×(d+1)."""

    P: "Numbers"
    Q: "Numbers"


def layer_after(Z: "Numbers", layer: Layer, n: int, divided: Callable[["Numbers", int], "Numbers"]) -> "Numbers":
    """Return Z + (1/n) P Z M (Zᵀ Q Z), M = diag(I_n, 0), for one prompt or many; `divided` divides by n."""
    import numpy as np

    masked = Z.copy()
    masked[..., -1] = 0
    return Z + divided(layer.P @ (masked @ np.swapaxes(Z, -1, -2)) @ layer.Q @ Z, n)


def runs(Z: "Numbers", layers: Sequence[Layer], n: int) -> Iterator["Numbers"]:
    """Yield Z after each layer, in integers."""
    for layer in layers:
        Z = layer_after(Z, layer, n, lambda numbers, by: numbers // by)
        yield Z


class Draws:
    """The draws for a trial at an instance: Python's integers, which do not overflow."""

    def __init__(self, instance: Instance, random: "Generator") -> None:
        self.d, self.n, self._random = instance["d"], instance["n"], random
        self.products = (self.d + 1) ** 2 * (self.n + 1)
        if self.products > MOST_PRODUCTS:
            raise UndefinedError(f"d = {self.d}, n = {self.n}: layers are run up to (d+1)^2 (n+1) = {MOST_PRODUCTS}")
        self.prompts = max(2, min(DRAWS, WORK // (2 * MOST_LAYERS * self.products)))

    def whole(self, *shape: int) -> "Numbers":
        """Return an array of random integers from -3 to 3."""
        return self._random.integers(-3, 4, size=shape).astype(object)

    def depth(self, least: int = 1) -> int:
        """Return a random number of layers, from `least` to MOST_LAYERS."""
        return int(self._random.integers(least, MOST_LAYERS + 1))

    def order(self, count: int) -> list[int]:
        """Return a random permutation of 0 … count − 1."""
        return [int(place) for place in self._random.permutation(count)]

    def prompt(self, label: int = 0) -> tuple["Numbers", "Numbers", "Numbers"]:
        """Return the tokens (d×(n+1)), w* and Z_0 with this label of the query."""
        import numpy as np

        tokens, target = self.whole(self.d, self.n + 1), self.whole(self.d)
        labels = target @ tokens
        labels[-1] = label
        return tokens, target, np.vstack((tokens, labels))

    def pattern(self, A: "Numbers") -> Layer:
        """Return P = diag(0, 1), Q = −diag(A, 0)."""
        P, Q = self.whole(self.d + 1, self.d + 1) * 0, self.whole(self.d + 1, self.d + 1) * 0
        P[-1, -1] = 1
        Q[:-1, :-1] = -A
        return Layer(P, Q)


def _equal(left: "Numbers", right: "Numbers", tried: dict[str, Any]) -> Trial:
    """Return the exact trial of an equality: minus the largest difference, relative to the largest entry or 1."""
    largest = max(1, *map(abs, left.ravel()), *map(abs, right.ravel()))
    return Trial(-Fraction(max(map(abs, (left - right).ravel()))) / largest, 0, tried)


def _shown(Z: "Numbers", *matrices: "Numbers") -> dict[str, Any]:
    return {"Z_0": Z.tolist(), "matrices": [matrix.tolist() for matrix in matrices]}


def descent_in_every_layer(more: int) -> Trials:
    """Return trials of the claim that layers of pattern (8) are descent on R, preconditioned by A_lᵀ.

    R is the sum of the examples' squared residuals divided by 2 (n + more).

    One trial compares the labels in Z_l with (w* − v_l)ᵀx for the examples and −v_lᵀx for the query; v_l is the iterate
    of this descent from 0, with ∇R summed over the examples.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        draws = Draws(instance, random)
        for _ in range(draws.prompts):
            (tokens, target, Z), depth = draws.prompt(), draws.depth()
            matrices = [draws.n * draws.whole(draws.d, draws.d) for _ in range(depth)]
            if instance["preconditioner"] == "symmetric":
                matrices = [A + A.T for A in matrices]
            examples, iterate = tokens[:, :-1], 0 * target
            after = runs(Z, [draws.pattern(A) for A in matrices], draws.n)
            for number, (A, now) in enumerate(zip(matrices, after, strict=True), 1):
                slope = examples @ ((iterate - target) @ examples) * Fraction(1, draws.n + more)
                iterate = iterate - A.T @ slope
                labels = (target - iterate) @ tokens
                labels[-1] = -iterate @ tokens[:, -1]
                yield _equal(now[-1], labels, {"layer": number, **_shown(Z, *matrices)})

    return trials


def same_in_every_order(*, turned: bool) -> Trials:
    """Return trials of the claim that layers of pattern (8) predict the same in their order and in a random order.

    The instance says whether A_l is any matrix or a multiple a_l K; for multiples, `turned` puts a_0 Kᵀ in place of
    a_0 K. Each trial uses one prompt; if all predictions are the same, so is the loss.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        draws = Draws(instance, random)
        for _ in range(draws.prompts):
            (_, _, Z), depth = draws.prompt(), draws.depth(least=2)
            matrices = [draws.n * draws.whole(draws.d, draws.d) for _ in range(depth)]
            if instance["preconditioners"] == "multiples":
                K, steps = matrices[0], draws.whole(depth)
                matrices = [step * (K.T if turned and not place else K) for place, step in enumerate(steps)]
            order = draws.order(depth)
            first, other = (
                [*runs(Z, [draws.pattern(matrices[place]) for place in places], draws.n)][-1][-1:, -1]
                for places in (range(depth), order)
            )
            yield _equal(first, other, {"order": order, **_shown(Z, *matrices)})

    return trials


def label_is_added(*, corner: bool) -> Trials:
    """Return trials of the claim that c in place of the query's label 0 adds c to its later labels, and no more.

    If the instance says so, the last column of every Q_l is 0, or with `corner` 0 except its corner; otherwise this
    column is drawn like the rest. One trial compares all of Z_l, after a layer.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        draws = Draws(instance, random)
        for _ in range(draws.prompts):
            _, _, Z = draws.prompt()
            layers = [_any_layer(draws, instance["last_column"] == "zero", corner=corner) for _ in range(draws.depth())]
            added = 0 * Z
            added[-1, -1] = int(draws.whole(1)[0]) or 1
            pairs = zip(runs(Z, layers, draws.n), runs(Z + added, layers, draws.n), strict=True)
            for number, (without, filled) in enumerate(pairs, 1):
                shown = _shown(Z, *(matrix for layer in layers for matrix in layer))
                yield _equal(filled, without + added, {"layer": number, "c": int(added[-1, -1]), **shown})

    return trials


def _any_layer(draws: Draws, zero_last_column: bool, *, corner: bool) -> Layer:
    P, Q = draws.whole(draws.d + 1, draws.d + 1), draws.n * draws.whole(draws.d + 1, draws.d + 1)
    if zero_last_column:
        Q[:-1, -1] = 0
        Q[-1, -1] = draws.n if corner else 0
    return Layer(P, Q)


SAMPLES = 10
"""Number of draws of P and Q at which a mean is estimated."""
_PROMPTS, _ENTRIES = 10**4, 2 * 10**6
"""Maximum number of prompts in a sample, and of entries in all its Z."""


def mean_square_of_the_label(filled: Fraction) -> Trials:
    """Return trials of the claim that f is the mean square of the last label with a label filled in.

    This label is `filled` · <w*, x>, in the place of the query's 0. One trial draws one or two layers, and estimates f
    and that mean from the same prompts, with uniform entries of variance 1 in x and 1/d in w*: the claim is about any
    law, and bounded laws have reliable standard errors. The error is 6 standard errors of the mean of the paired
    differences, plus rounding.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        d, n = instance["d"], instance["n"]
        count = min(_PROMPTS, _ENTRIES // ((d + 1) * (n + 1)))
        if count < 100:
            raise UndefinedError(f"d = {d}, n = {n}: a sample of prompts is drawn up to (d+1)(n+1) = {_ENTRIES // 100}")
        for _ in range(SAMPLES):
            layers = [_float_layer(d, instance["last_column"] == "zero", random) for _ in range(random.integers(1, 3))]
            tokens, targets = (math.sqrt(3) * random.uniform(-1, 1, size=(count, d, k)) for k in (n + 1, 1))
            labels = (targets * tokens).sum(1) / math.sqrt(d)
            wanted = labels[:, -1].copy()
            labels[:, -1] = 0
            Z = np.concatenate((tokens, labels[:, None]), axis=1)
            without, size = _last_label(Z, layers, n), abs(wanted)
            labels[:, -1] = float(filled) * wanted
            Z = np.concatenate((tokens, labels[:, None]), axis=1)
            size += _last_label(abs(Z), [Layer(abs(P), abs(Q)) for P, Q in layers], n)
            difference = (-without - wanted) ** 2 - _last_label(Z, layers, n) ** 2
            mean = float(difference.mean())
            error = 6 * float(difference.std()) / math.sqrt(count) + 4 * _roundings(layers, n) * float((size**2).mean())
            yield Trial(-abs(mean), error, {"P and Q": [(P.tolist(), Q.tolist()) for P, Q in layers], "mean": mean})

    return trials


def _float_layer(d: int, zero_last_column: bool, random: "Generator") -> Layer:
    P, Q = random.normal(size=(2, d + 1, d + 1)) / math.sqrt(d + 1)
    if zero_last_column:
        Q[:, -1] = 0
    return Layer(P, Q)


def _last_label(Z: "Numbers", layers: Sequence[Layer], n: int) -> "Numbers":
    """Return the query's label after the layers, for each prompt, in float64."""
    for layer in layers:
        Z = layer_after(Z, layer, n, lambda numbers, by: numbers / by)
    return Z[:, -1, -1]


def _roundings(layers: Sequence[Layer], n: int) -> float:
    """Return the relative error of a sum of positive terms after the layers; terms of a layer have three factors Z."""
    count = len(layers[0].P)
    for _ in layers:
        count = 3 * count + n + 3 * len(layers[0].P) + 5
    return 1.01 * ULP * count
