"""float64 over arrays of points: the arithmetic of the numerical search. It proves nothing.

NaN stands for a missing value. The length of a sum, a product or a recursion may differ between points, up to a limit.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from verify.errors import UndecidedError
from verify.evaluation.numerical.limits import NUMERICAL

_HOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": np.equal,
    "Lt": np.less,
    "Le": np.less_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
}
_HEADS: dict[str, Callable[..., Any]] = {
    **{head: getattr(np, head) for head in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "sign")},
    "atan": np.arctan,
    "ceiling": np.ceil,
    "Max": lambda *parts: _reduced(np.maximum, parts),
    "Min": lambda *parts: _reduced(np.minimum, parts),
    "pi": lambda: np.pi,
}


def _reduced(of_two: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    first, *others = parts
    for other in others:
        first = of_two(first, other)
    return first


class Arrays:
    """The arithmetic of float64 arrays, or scalars, for programs; `tick` is called at each term and step."""

    name = "float64 arrays"

    def __init__(self, tick: Callable[[], None] = lambda: None) -> None:
        self.tick = tick

    exp, log, sqrt, power = (staticmethod(f) for f in (np.exp, np.log, np.sqrt, np.power))

    def rational(self, numerator: int, denominator: int) -> float:
        """Return the quotient. Raises OverflowError if it is beyond float64's range."""
        return numerator / denominator

    def number(self, value: Any) -> Any:
        """Return a number as a float."""
        return float(value)

    def sign(self, raw: Any) -> int:
        """Raise UndecidedError: an array has no single sign."""
        raise UndecidedError("arrays have no one sign")

    def raised(self, base: Any, exponent: int) -> Any:
        """Return a power with an integer exponent."""
        return np.power(np.asarray(base, float), exponent)

    def head(self, name: str) -> Callable[..., Any]:
        """Return the function that computes a head of the language. Raises UndecidedError for a head without one."""
        computed = _HEADS.get(name) or getattr(self, f"_{name.lower()}", None)
        if computed is None:
            raise UndecidedError(f"{name} is not computed over arrays")
        return computed

    def _factorial(self, raw: Any) -> Any:
        from scipy.special import gamma

        return np.where((raw >= 0) & (raw == np.floor(raw)), gamma(raw + 1.0), np.nan)

    def _binomial(self, above: Any, below: Any) -> Any:
        from scipy.special import binom

        above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
        whole = (above >= 0) & (above == np.floor(above)) & (below == np.floor(below))
        inside = whole & (below >= 0) & (below <= above)
        value = np.where(whole, 0.0, np.nan)
        value[inside] = binom(above[inside], below[inside])
        return value

    def _piecewise(self, *pieces: Any) -> Any:
        *cases, last = pieces
        value, left = last(), True
        chosen: list[tuple[Any, Any]] = []
        for (relation, sides), of in cases:
            holds = _HOLDS[relation](*sides())
            chosen.append((left & holds, of()))
            left = left & ~np.asarray(holds)
        for where, of in chosen:
            value = np.where(where, of, value)
        return value

    def _sum(self, function: Callable[[float], Any], low: Any, high: Any) -> Any:
        return self._folded(np.add, 0.0, function, low, high)

    def _product(self, function: Callable[[float], Any], low: Any, high: Any) -> Any:
        return self._folded(np.multiply, 1.0, function, low, high)

    def _iterate(self, place: int, count: Any, start: Sequence[Any], step: Callable[..., Sequence[Any]]) -> Any:
        count = np.asarray(count, float)
        states = tuple(start)
        for k in range(_most(count)):
            self.tick()
            after = step(float(k), *states)
            states = tuple(np.where(k < count, new, old) for new, old in zip(after, states, strict=True))
        known = (count >= 0) & (count <= NUMERICAL.terms) & (count == np.floor(count))
        return np.where(known, states[place], np.nan)

    def _folded(self, combine: Any, empty: float, function: Callable[[float], Any], low: Any, high: Any) -> Any:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        known = (low == np.floor(low)) & (high == np.floor(high)) & (high - low < NUMERICAL.terms)
        total = np.full(low.shape, empty)
        if known.any() and (high - low)[known].max() >= 0:
            for k in range(_most((high - low)[known]) + 1):
                self.tick()
                inside = known & (low + k <= high)
                # The index is NaN at a point that has all its terms: no further binomial is computed there.
                total = np.where(inside, combine(total, function(np.where(inside, low + k, np.nan))), total)
        return np.where(known, total, np.nan)


def _most(count: np.ndarray) -> int:
    """Return the largest number of steps that is at most `NUMERICAL.terms`, as an int >= 0; 0 if there is none."""
    few = count[np.isfinite(count) & (count <= NUMERICAL.terms)]
    return int(few.max()) if few.size and few.max() > 0 else 0
