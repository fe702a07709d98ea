r"""Means of products of traces of words in Gaussian second moments, as sums over pairings.

W = Σ_i x_i x_iᵀ with x_1 … x_n i.i.d., x_i ~ N(0, Σ). Integration by parts in the x_i on the left of a trace gives,
with A = M_1 W M_2 … W M_k and a product F of such traces,

    E[tr(W A) F] = n E[tr(Σ A) F] + Σ_{A = P W Q} E[(tr(Σ P) tr(W Q) + tr(W Pᵀ Σ Q)) F]
                   + Σ_{tr(W B) in F} E[tr(W (B + Bᵀ) Σ A) F / tr(W B)],

with a summand for each W in A and each W in F. A trace in F is rotated so that its W comes first. Since
∂W = ∂x xᵀ + x ∂xᵀ, the x_i is paired with either of the two factors of that W; if it is paired with the far factor, the
letters between are transposed.

So the mean is a sum over the pairings of the 2k Gaussian factors. Each pairing leaves a product of traces of words in Σ
and free sums over the n columns. Each W carries an integer, its weight. Two W that are paired share a column: one W is
left, with the sum of their weights. If all weights are 0, only the number of columns is recorded, which is enough for
the moments of W. If all weights are 1 at first, a column's weight is the number of W that share it: the coset type of
the pairing, which the moments of W⁻¹ need.

The trace of a word does not change if the word is rotated or transposed. Each trace is kept in the least of these
forms, and the mean of equal products is computed once. So k equal letters cost much less than the (2k − 1)!! pairings
of 2k Gaussian factors, and k different letters about as much.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import prod
from typing import Any

import sympy as sp

from verify import InputError

Letters = tuple[str, ...]
Traces = tuple[Letters, ...]
"""A product of traces. Each letter of a trace has a Σ before it: ("N", "Mᵀ") is tr(Σ N Σ Mᵀ)."""
Weights = tuple[int, ...]
PairingSum = dict[tuple[Weights, Traces], int]
"""Number of pairings that leave columns of these weights, in ascending order, and these traces."""

MOST_PAIRINGS = 150_000
"""Maximum number of pairings, up to exchanges of equal letters; they take half a minute at most."""
_OPEN = ""
"""The letter of an arbitrary matrix B: E[W M_1 … W] is read off E tr(W M_1 … W B)."""

_Path = tuple[Any, ...]
"""Letters, W, letters, W, …, letters. A W is given by its weight; adjacent letters have a Σ between them.
A trace begins with a W: (w_1, g_1, w_2, g_2 …) is tr(W g_1 W g_2 …)."""


def pairing_sum(words: Sequence[Sequence[str]], symmetric: Collection[str] = (), weight: int = 0) -> PairingSum:
    """Return E ∏ tr(W M_1 W M_2 … W M_k) over the words, each W with the same weight.

    A word is the sequence of the names of M_1 … M_k; "Nᵀ" is the transpose of "N", and N = Nᵀ for the names in
    `symmetric`. Raises InputError without words, for a word without letters, a letter without a name, and more than
    MOST_PAIRINGS pairings.
    """
    return _sum([[_letter(letter, symmetric) for letter in word] for word in words], symmetric, weight)


def chain_sum(letters: Sequence[str], symmetric: Collection[str] = (), weight: int = 0) -> PairingSum:
    """Return E tr(W M_1 W M_2 … M_{k−1} W B) for any B, which `opened` removes; errors as for `pairing_sum`."""
    return _sum([[*(_letter(letter, symmetric) for letter in letters), _OPEN]], symmetric, weight)


def opened(traces: Traces) -> tuple[Letters, Traces]:
    """Split off the trace tr(Z B) with the open letter B: return the letters of Z and the other traces."""
    # B sorts before all names: its trace is the first, and begins with B.
    (_, *letters), *others = traces
    return tuple(letters), tuple(others)


def _transposed(letter: str) -> str:
    """Return the name of a letter's transpose."""
    return letter[:-1] if letter.endswith("ᵀ") else letter + "ᵀ"


def _letter(letter: str, symmetric: Collection[str]) -> str:
    name = letter.rstrip("ᵀ")
    if not name:
        raise InputError("letter", repr(letter), "must have a name")
    return name if name in symmetric or (len(letter) - len(name)) % 2 == 0 else _transposed(name)


def _sum(words: Sequence[Letters | list[str]], symmetric: Collection[str], weight: int) -> PairingSum:
    if not words:
        raise InputError("words", "", "at least one is needed")
    if not all(words):
        raise InputError("word", "", "at least one letter is needed")
    _refuse_many([letter for word in words for letter in word], symmetric)
    traces = (tuple(part for letter in word for part in (weight, (letter,))) for word in words)
    return _by_parts(_state(traces, symmetric), symmetric, {})


def _refuse_many(letters: Sequence[str], symmetric: Collection[str]) -> None:
    pairings = sp.factorial2(2 * len(letters) - 1)
    times = Counter(letter.rstrip("ᵀ") for letter in letters)
    # A letter that is not symmetric occurs as it is or transposed.
    same = prod(sp.factorial(k) if name in symmetric else sp.factorial(k) / 2 ** (k - 1) for name, k in times.items())
    if pairings > MOST_PAIRINGS * same:
        raise InputError(
            "words",
            f"{len(letters)} factors",
            f"have {pairings} pairings, {sp.ceiling(pairings / same)} up to exchanges of equal letters, and at most "
            f"{MOST_PAIRINGS} are admitted",
        )


def _turned_letters(letters: Letters, symmetric: Collection[str]) -> Letters:
    return tuple(letter if letter in symmetric else _transposed(letter) for letter in reversed(letters))


def _turned(path: _Path, symmetric: Collection[str]) -> _Path:
    """Return the transpose of g_1 W g_2 … W g_k."""
    return tuple(_turned_letters(part, symmetric) if i % 2 == 0 else part for i, part in enumerate(path))[::-1]


def _least(trace: _Path, symmetric: Collection[str]) -> _Path:
    """Return the least form of tr(W g_1 W g_2 …), up to rotation and transposition."""
    forms = (trace, (trace[0], *_turned(trace[1:], symmetric)))
    return min(form[i:] + form[:i] for form in forms for i in range(0, len(form), 2))


def _least_letters(letters: Letters, symmetric: Collection[str]) -> Letters:
    """Return the least form of tr(Σ M_1 Σ M_2 …), up to rotation and transposition."""
    forms = (letters, _turned_letters(letters, symmetric))
    return min(form[i:] + form[:i] for form in forms for i in range(len(form)))


def _state(traces: Iterable[_Path], symmetric: Collection[str]) -> tuple[_Path, ...]:
    """Return the product with each trace in its least form, and the traces sorted, the shortest first."""
    return tuple(sorted((_least(trace, symmetric) for trace in traces), key=lambda trace: (len(trace), trace)))


def _joined(left: _Path, right: _Path) -> _Path:
    """Return left Σ right."""
    return (*left[:-1], left[-1] + right[0], *right[1:])


def _by_parts(words: tuple[_Path, ...], symmetric: Collection[str], known: dict[tuple[_Path, ...], PairingSum]) -> Any:
    """Return E ∏ tr(W g_1 W g_2 …) over the words."""
    if not words:
        return {((), ()): 1}
    if words in known:
        return known[words]
    moment: Counter[tuple[Weights, Traces]] = Counter()
    for (columns, traces, others), times in _met(words, symmetric).items():
        for (more, further), count in _by_parts(others, symmetric, known).items():
            moment[tuple(sorted(columns + more)), tuple(sorted(traces + further))] += times * count
    known[words] = moment
    return moment


def _met(words: tuple[_Path, ...], symmetric: Collection[str]) -> Counter[tuple[Weights, Traces, tuple[_Path, ...]]]:
    """Return the terms of one integration by parts, each with its multiplicity.

    A term has the weights of closed columns, the traces without a W, and the traces that still have a W.
    """
    (weight, *path), rest = words[0], words[1:]
    first = tuple(path)
    terms: Counter[tuple[Weights, Traces, tuple[_Path, ...]]] = Counter()

    def add(columns: Weights, closed: _Path | None, *others: _Path) -> None:
        # `closed` is tr(Σ g_1 W g_2 …): either it has no W, or it is rotated to begin with a W.
        traces = ()
        if closed and len(closed) == 1:
            traces = (_least_letters(closed[0], symmetric),)
        elif closed:
            others = ((*closed[1:-1], closed[-1] + closed[0]), *others)
        terms[columns, traces, _state(others, symmetric)] += 1

    add((weight,), first, *rest)
    for i in range(1, len(first), 2):
        left, met, right = first[:i], weight + first[i], first[i + 1 :]
        add((), left, (met, *right), *rest)
        add((), None, (met, *_joined(_turned(left, symmetric), right)), *rest)
    for i, word in enumerate(rest):
        others = rest[:i] + rest[i + 1 :]
        for j in range(0, len(word), 2):
            met, other = weight + word[j], word[j + 1 :] + word[:j]
            add((), None, (met, *_joined(other, first)), *others)
            add((), None, (met, *_joined(_turned(other, symmetric), first)), *others)
    return terms
