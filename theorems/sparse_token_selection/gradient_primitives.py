"""Primitives for Lemma 2's statements about the full gradient.

Arguments are exact. The first seven are the same for all primitives: T tokens, q of them selected, of dimension d;
encodings of dimension D; α and C; and the index of the encodings' law in LAWS (len(LAWS) for a law that is not named).
Two more follow. For the gradient off the set: the index of the place in PLACES, and `query`, 1 if the query's token is
attended to, else 0. For the other primitives: `query` and the factor. A primitive raises UndefinedError if there is no
such model or the law is not named. It also raises UndefinedError for too many samples or |C| > LARGEST_C: the value
exists, but is not computed.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import flint

from theorems.sparse_token_selection.full_gradient import (
    LAWS,
    ON_THE_SET,
    ONE,
    PLACES,
    Model,
    Sums,
    Term,
    combined,
    means,
    worth,
)
from theorems.sparse_token_selection.sign_attention import outer
from verify import Enclosure, enclosed
from verify.errors import UndefinedError

BITS, LARGEST_C = 256, 10**4
_SCANNED, _DENOMINATOR = 10, 10**3
Value = Enclosure | Fraction


def _model(
    T: Fraction, q: Fraction, d: Fraction, D: Fraction, law: Fraction, place: Fraction, query: Fraction
) -> Model:
    """Return the model of these sizes. Raises UndefinedError if there is none, or if its law has no name."""
    parts = (T, q, d, D, law, place, query)
    if any(part.denominator != 1 for part in parts) or not 1 <= q <= T or d < 1 or D < 1 or query not in (0, 1):
        raise UndefinedError(f"T = {T}, q = {q}, d = {d}, d_e = {D}, query = {query}: integers with 1 <= q <= T")
    if law == len(LAWS):
        raise UndefinedError("law = any: only the draws of a named law can be gone through")
    if law not in range(len(LAWS)) or place not in PLACES:
        raise UndefinedError(f"law {law}, place {place}: there is no such law or place")
    return Model(int(T), int(q), int(d), int(D), int(law), int(place), bool(query))


def _scale(C: Fraction, model: Model) -> Fraction:
    """Return C/κ. Raises UndefinedError for a C that is out of range."""
    if abs(C) > LARGEST_C:
        raise UndefinedError(f"C = {C}: at most {LARGEST_C} in size")
    return C / model.squared_scale


def _enclosed(value: Any) -> Value:
    return value if isinstance(value, Fraction) else Enclosure(*outer(value, value))


def _gradient(model: Model, alpha: Fraction) -> tuple[Sums, Sums]:
    """Return the gradients in V and W, flat, as sums of products of shares."""
    of = means(model)
    in_V = combined([(alpha, of["V1"]), (Fraction(1), of["V0"])])
    return in_V, combined([(alpha**2, of["W2"]), (alpha, of["W1"])])


def _diagonals(model: Model) -> tuple[list[int], list[int]]:
    """Return the places of the diagonals of the two identity blocks of V and W."""
    d, size = model.d, model.d + model.d_e
    return [i * size + i for i in range(d)], [i * size + i for i in range(d, size)]


def _beyond(sums: Sums, block: Sequence[int]) -> Sums:
    """Return a flat gradient less its part along an identity block, without terms that vanish."""
    less = dict[Term, list[Fraction]]()
    for term, entries in sums.items():
        mean = sum((entries[i] for i in block), Fraction(0)) / len(block)
        less[term] = [x - mean if i in block else x for i, x in enumerate(entries)]
    return combined([(Fraction(1), less)])


@lru_cache(maxsize=256)
def _off_the_set(model: Model, alpha: Fraction, C: Fraction) -> Value:
    d, size, at = model.d, model.d + model.d_e, _scale(C, model)
    in_V, in_W = (_beyond(sums, block) for sums, block in zip(_gradient(model, alpha), _diagonals(model), strict=True))
    with flint.ctx.workprec(BITS):
        squares: list[Any] = []
        for sums, rows in ((in_V, False), (in_W, True)):
            for i, value in enumerate(worth(sums, at)):
                positional = (rows and i // size >= d) + (i % size >= d)
                squares.append(value * value / model.squared_scale**positional)
        return _enclosed(sum(squares[1:], squares[0])) if squares else Fraction(0)


@lru_cache(maxsize=256)
def _less(what: str, model: Model, alpha: Fraction, C: Fraction, factor: Fraction) -> Value:
    """Return the deviation of a quantity from `factor` times its formula in P and R.

    For "loss" this is the loss less `factor` times the formula. For "V" or "W" it is Σ_i (g_i − `factor` · formula)²,
    with g the diagonal of the gradient in the identity block.
    """
    of, q, at, one = means(model), model.q, _scale(C, model), Fraction(1)
    (in_V, in_W), (block_V, block_W) = _gradient(model, alpha), _diagonals(model)
    if what == "loss":
        found = combined([(alpha**2, of["L2"]), (alpha, of["L1"]), (one, of["L0"])])
        formula = combined([(alpha**2, of["R"]), (-2 * alpha / q, of["P"]), (one / q, ONE)])
    elif what == "V":
        found, formula = _entries(in_V, block_V), combined([(alpha, of["R"]), (-one / q, of["P"])])
    else:
        found = combined([(one / model.squared_scale, _entries(in_W, block_W))])
        formula = combined([(alpha**2, of["R'"]), (-2 * alpha / q, of["P'"])])
    entries = 1 if what == "loss" else len(block_V if what == "V" else block_W)
    repeated: Sums = {term: [value] * entries for term, (value,) in formula.items()}
    with flint.ctx.workprec(BITS):
        values = worth(combined([(one, found), (-factor, repeated)]), at) or [Fraction(0)]
        return _enclosed(values[0] if what == "loss" else sum((x * x for x in values[1:]), values[0] * values[0]))


def _entries(sums: Sums, chosen: Sequence[int]) -> Sums:
    return {term: [entries[i] for i in chosen] for term, entries in sums.items()}


def _of(
    what: str, T: Fraction, q: Fraction, d: Fraction, D: Fraction, alpha: Fraction, C: Fraction, *law_and_own: Fraction
) -> Value:
    """Return the value of the primitive `what`; `law_and_own` has the law and the primitive's own two arguments."""
    law, *own = law_and_own
    if what == "off":
        place, query = own
        return _off_the_set(_model(T, q, d, D, law, place, query), alpha, C)
    query, factor = own
    return _less(what, _model(T, q, d, D, law, Fraction(ON_THE_SET), query), alpha, C, factor)


def _scanned(what: str, *at: float) -> float:
    """Return a primitive's value. Raises UndefinedError if there are too many samples for a search."""
    exact = [Fraction(argument).limit_denominator(_DENOMINATOR) for argument in at]
    if exact[0] * (exact[3] + 1) > _SCANNED:
        raise UndefinedError(f"T = {exact[0]}, d_e = {exact[3]}: too many encodings for a search")
    value = _of(what, *exact)
    return float(value.midpoint if isinstance(value, Enclosure) else value)


@enclosed(version=1, scan=partial(_scanned, "off"))
def gradient_off_the_set(*at: Fraction) -> Value:
    """Enclose the squared norm of the gradient without its parts along the two identity blocks."""
    return _of("off", *at)


@enclosed(version=1, scan=partial(_scanned, "loss"))
def loss_less_means(*at: Fraction) -> Value:
    """Enclose L − factor (α²R − 2αP/q + 1/q)."""
    return _of("loss", *at)


@enclosed(version=1, scan=partial(_scanned, "V"))
def value_slopes_less_means(*at: Fraction) -> Value:
    """Enclose Σ_i (g_i − factor (αR − P/q))², g the diagonal of the gradient in V's token block."""
    return _of("V", *at)


@enclosed(version=1, scan=partial(_scanned, "W"))
def logit_slopes_less_means(*at: Fraction) -> Value:
    """Enclose Σ_i (g_i − factor (α²R′ − 2αP′/q))², g the diagonal of the gradient in W's positional block."""
    return _of("W", *at)
