"""Trials of claims on the loss on the set for C ≤ 0, with the means over a sample of sign encodings."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from theorems.sparse_token_selection.trials import value_at
from theorems.sparse_token_selection.trials.sign_encodings import SignSample, Sizes, draw
from verify import Trial
from verify.language.parameters import Instance

if TYPE_CHECKING:
    from numpy.random import Generator

    from verify.claims.in_words import Trials

Array: TypeAlias = "Any"
"""A NumPy array."""
_SIGMAS, _ROUNDING = 6, 1e-12
_SCALES = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0)
"""Values of −C. For larger values only the tokens with the least v_i get attention."""


def _sample(instance: Instance, random: "Generator") -> SignSample:
    T, q, d, D = (int(instance[name]) for name in ("T", "q", "d", "d_e"))  # pyright: ignore[reportArgumentType]
    return draw(Sizes(T, q, d, D, 0.0, instance["attend"] == "tokens_and_query"), random)


def _error(parts: Array) -> float:
    return _SIGMAS * float(parts.std(ddof=1)) / math.sqrt(len(parts)) + _ROUNDING


def _least(sample: SignSample, C: float) -> tuple[float, float, float]:
    """Return the best α at a C, the loss there, and six standard errors of this loss."""
    sizes, shares = sample.sizes, sample.shares(C)
    P, R, _, _ = shares.mean(axis=1)
    alpha = float(P / (sizes.q * R))
    losses = sizes.loss(alpha, *shares[:2])
    return alpha, float(losses.mean()), _error(losses)


def attention(most: sp.Expr) -> "Trials":
    """Return trials of P ≤ `most` at some C ≤ 0."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        sample, bound = _sample(instance, random), value_at(most, instance)
        for scale in _SCALES:
            parts = sample.shares(-scale)[0]
            yield Trial(bound - float(parts.mean()), _error(parts), {"C": -scale, "P": float(parts.mean())})

    return trials


def loss(least: sp.Expr) -> "Trials":
    """Return trials of L ≥ `least` at some C ≤ 0, with the best α of the sample for each."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        sample, bound = _sample(instance, random), value_at(least, instance)
        for scale in _SCALES:
            alpha, found, error = _least(sample, -scale)
            yield Trial(found - bound, error, {"alpha": alpha, "C": -scale, "L": found})

    return trials


def lower(sign: int) -> "Trials":
    """Return trials of: L at C ≤ 0 is at least its least value over C ≥ 0; `sign` = −1 exchanges the two ranges."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        sample = _sample(instance, random)
        grid = [sign * scale for scale in (*_SCALES, *(k / 2 for k in range(1, 25)))]
        least, error, at = min((*_least(sample, C)[1:], C) for C in grid)
        for scale in _SCALES:
            _, found, own = _least(sample, -sign * scale)
            yield Trial(found - least, error + own, {"C": -sign * scale, "L": found, "C of the least": at})

    return trials
