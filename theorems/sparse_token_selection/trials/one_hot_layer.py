"""The layer with one-hot encodings and its gradient at whole matrices, and trials of Lemma 1's claims.

The layer is f(X, y) = V Z softmax(Zᵀ W z_query), Z = (X; I_T), z_query = (0; 1_y). At the points of Lemma 1's set the
logits depend on W's positional block alone, so that the loss and each entry of its gradient are polynomials in X of
degree at most 3. Their means over X ~ N(0, 1)^{d×T} are the means over the 2Td matrices with one entry ±√(Td) and
zeros elsewhere, which have the Gaussian moments up to the third. A permutation of the tokens changes neither the law of
X nor such a W, so that the mean of the gradient over y is the mean of one subset's gradient over all permutations.
"""

import math
from collections.abc import Callable, Iterator, Mapping
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
_EPS, _LONGEST, _ENTRIES, _MOST_STEPS = 2.0**-52, 1_000, 450, 3_000


def tokens(T: int, d: int) -> Array:
    """Return the 2Td matrices X, of shape (2Td, d, T), whose moments are the Gaussian ones up to the third."""
    import numpy as np

    ends = math.sqrt(T * d) * np.eye(T * d).reshape(T * d, d, T)
    return np.concatenate([ends, -ends])


def softmax(logits: Array) -> Array:
    """Return the softmax of some logits."""
    import numpy as np

    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def residuals(X: Array, V: Array, p: Array, y: Array, sign: float = -1.0) -> tuple[Array, Array, Array]:
    """Return the attended mean (Xp, p), f, and f − STS; with sign 1 and |X|, |V|, the sums of the terms' sizes."""
    import numpy as np

    attended = np.concatenate([X @ p, np.broadcast_to(p, (len(X), len(p)))], axis=1)
    output = attended @ V.T
    return attended, output, output + sign * (X @ (y / y.sum()))


def slopes(X: Array, V: Array, p: Array, y: Array, sign: float = -1.0) -> tuple[Array, Array]:
    """Return the means over X of a subset's slopes in V, and of the column Σ_k (slope in logit k) z_k.

    The slope in W is this column times z_queryᵀ, and the slope in logit k is p_k ⟨V z_k − f, f − STS⟩. With sign 1 and
    |X|, |V| the sums are of the terms' sizes.
    """
    import numpy as np

    attended, output, residual = residuals(X, V, p, y, sign)
    d = X.shape[1]
    values = V[:, :d] @ X + V[:, d:]
    logits = p * np.einsum("nbk,nb->nk", values + sign * output[:, :, None], residual)
    in_tokens = (logits[:, None, :] * X).sum(axis=(0, 2)) / len(X)
    return residual.T @ attended / len(X), np.concatenate([in_tokens, logits.mean(axis=0)])


def over_subsets(slope_V: Array, column: Array, y: Array) -> tuple[Array, Array]:
    """Return the means of a subset's slopes, in V and in W, over all permutations of the tokens."""
    import numpy as np

    d, T = len(slope_V), len(y)
    V, W = slope_V.copy(), np.zeros((d + T, d + T))
    V[:, d:] = slope_V[:, d:].mean(axis=1, keepdims=True)
    own = column[d:] @ y / T
    beside = (column[d:].sum() * y.sum() / T - own) / max(T - 1, 1)
    W[:d, d:] = column[:d, None] * y.sum() / T
    W[d:, d:] = beside + (own - beside) * np.eye(T)
    return V, W


def on_the_set(T: int, d: int, alpha: float, C: float) -> tuple[Array, Array]:
    """Return V = (α I, 0) and W = diag(0, C(I − 11ᵀ/T))."""
    import numpy as np

    V, W = np.zeros((d, d + T)), np.zeros((d + T, d + T))
    V[:, :d] = alpha * np.eye(d)
    W[d:, d:] = C * (np.eye(T) - 1 / T)
    return V, W


def _sizes(instance: Instance, random: "Generator") -> tuple[int, int, int, Array]:
    """Return T, q, a drawn d <= 3 (smaller if T is large), and a drawn subset as its indicator.

    Raises UndefinedError if T is too large.
    """
    import numpy as np

    T, q = int(instance["T"]), int(instance["q"])
    if T > _LONGEST:
        raise UndefinedError(f"T = {T}: the layer is evaluated for T <= {_LONGEST}")
    y = np.zeros(T)
    y[random.choice(T, q, replace=False)] = 1
    return T, q, int(random.integers(1, 1 + min(3, max(1, _ENTRIES // T)))), y


def _compiled(instance: Instance, *expressions: sp.Expr) -> Callable[[Mapping[str, float]], tuple[float, ...]]:
    """Return expressions, at the instance's T and q, as a function of the values of their other symbols, by name."""
    at = [e.subs({s: sp.Integer(instance[str(s)]) for s in e.free_symbols if str(s) in instance}) for e in expressions]
    names = ["alpha", "C", "d", "eta"]
    by_name = {str(symbol): symbol for e in expressions for symbol in e.free_symbols}
    function = sp.lambdify([by_name.get(name, sp.Symbol(name)) for name in names], at, "math")

    def value(values: Mapping[str, float]) -> tuple[float, ...]:
        return tuple(function(*(values[name] for name in names)))

    return value


def kept(step_alpha: sp.Expr, step_C: sp.Expr) -> "Trials":
    """Return trials of Lemma 1's recursion: a step of gradient descent on whole matrices, from a drawn step of a run.

    d <= 3 and a step size up to 2q are drawn; the trials of earlier steps show that the run from zero is on the set
    until that step.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        recursion = _compiled(instance, step_alpha, step_C)
        while True:
            T, q, d, y = _sizes(instance, random)
            eta, count = 2 * q * random.uniform(0.01, 0.99), int(_MOST_STEPS ** random.uniform(0, 1))
            alpha = C = 0.0
            for _ in range(count):
                alpha, C = recursion({"alpha": alpha, "C": C, "d": d, "eta": eta})
            V, W = on_the_set(T, d, alpha, C)
            X, p = tokens(T, d), softmax(W[d:, d:] @ y)
            slope_V, slope_W = over_subsets(*slopes(X, V, p, y), y)
            next_V, next_W = on_the_set(T, d, *recursion({"alpha": alpha, "C": C, "d": d, "eta": eta}))
            off = max(np.abs(V - eta * slope_V - next_V).max(), np.abs(W - eta * slope_W - next_W).max())
            # Sums have at most 2Td + 4T rounded terms, and an error of at most as many ulps of the sum of their sizes.
            sizes = slopes(np.abs(X), np.abs(V), p, y, 1.0)
            size = eta * max(np.abs(part).max() for part in over_subsets(*sizes, y)) + abs(alpha) + abs(C)
            error = _EPS * (2 * T * d + 4 * T) * size
            yield Trial(-float(off), float(error), {"d": d, "eta": eta, "alpha": alpha, "C": C})

    return trials


def population_loss(closed: sp.Expr) -> "Trials":
    """Return trials of a closed form of the loss on Lemma 1's set, at drawn d, α, C and subsets.

    All subsets have the same loss, by symmetry in the tokens.
    """

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        import numpy as np

        loss = _compiled(instance, closed)
        while True:
            T, _, d, y = _sizes(instance, random)
            alpha, C = 2 * random.standard_normal(), random.uniform(-2, 10)
            V, W = on_the_set(T, d, alpha, C)
            X, p = tokens(T, d), softmax(W[d:, d:] @ y)
            _, _, residual = residuals(X, V, p, y)
            _, _, sizes = residuals(np.abs(X), np.abs(V), p, y, 1.0)
            found, size = (np.square(of).sum() / (2 * len(X)) for of in (residual, sizes))
            (claimed,) = loss({"alpha": alpha, "C": C, "d": d, "eta": 0.0})
            # Sums have at most 2Td² + 4T rounded terms, and an error of at most as many ulps of the sum of their sizes.
            error = _EPS * (2 * T * d**2 + 4 * T) * size
            yield Trial(-abs(found - claimed), float(error), {"d": d, "alpha": alpha, "C": C})

    return trials
