"""Losses of gradient descent with one-hot encoding from the softmax's own weights, without Lemma 1's formulas.

A selected token's logit exceeds the others' by C, so that the attention is s on each selected token and o on each
other. With V = (αI, 0) the output is α Σ p_i x_i, and E‖Σ c_i x_i‖² = d Σ c_i² gives

    L = d/2 (q (αs − 1/q)² + (T−q) (αo)²),   ds/dC = s (1 − qs),   do/dC = −qso.

W is C (I − 11ᵀ/T) in its positional block. The squared norm of I − 11ᵀ/T is T − 1, so that dL/dW = g (I − 11ᵀ/T) has
g = dL/dC / (T−1); and dL/dV = (h I, 0) has h = dL/dα / d.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any


def descent_losses(
    T: int, q: int, d: int, rates: Iterable[Any], exp: Callable[[Any], Any] = math.exp, number: Any = float
) -> Iterator[Any]:
    """Yield the loss before each step of gradient descent from zero, and after the last, as values of `number`."""
    alpha, C, T, q, d = (number(value) for value in (0, 0, T, q, d))
    for rate in chain(rates, (0,)):
        s = 1 / (q + (T - q) * exp(-C))
        o = exp(-C) * s
        on, off = alpha * s - 1 / q, alpha * o
        yield d / 2 * (q * on**2 + (T - q) * off**2)
        by_alpha = d * (q * on * s + (T - q) * off * o)
        by_C = d * alpha * (q * on * s * (1 - q * s) - (T - q) * off * q * s * o)
        alpha, C = alpha - rate * by_alpha / d, C - rate * by_C / (T - 1)
