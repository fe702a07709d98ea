r"""Means of products of traces of words in normal matrices, as sums over pairings.

The columns of a normal letter X are independent and N(0, C). By Isserlis' theorem the mean is a sum over the ways to
pair the X. For each pairing, the rows of two paired X are joined through C, and their columns directly. This leaves
closed walks through the other letters, each of which is a trace. A walk without letters counts the rows or the columns
of a normal letter.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import NamedTuple

from verify import TheoremError

MOST_PAIRINGS = 135_135
"""Maximum number of pairings: 13!!, the number that 14 equal letters have. They take some seconds."""

Letter = tuple[str, bool]
"""A name, and whether it is transposed."""
Word = tuple[Letter, ...]
Size = tuple[str, bool]
"""A letter, and whether the size is its number of rows (True) or of columns (False)."""
Left = tuple[tuple[Size, ...], tuple[Word, ...]]
"""The sizes and the traces of a product."""


class Letters(NamedTuple):
    """The symmetric letters, the normal ones with their covariances, and the sizes that are 1."""

    symmetric: frozenset[str]
    normal: tuple[tuple[str, str | None], ...]
    thin: frozenset[Size] = frozenset()

    def turned(self, word: Word) -> Word:
        """Return the transpose of a word."""
        return tuple((name, name not in self.symmetric and not turned) for name, turned in reversed(word))

    def traces(self, word: Word) -> list[Word]:
        """Return traces whose product is the trace of `word`: it is split before each letter that has one row."""
        first = next((i for i, (name, turned) in enumerate(word) if (name, not turned) in self.thin), 0)
        parts: list[Word] = []
        for name, turned in word[first:] + word[:first]:
            if not parts or (name, not turned) in self.thin:
                parts.append(())
            parts[-1] += ((name, turned),)
        return [self.least(part) for part in parts]

    def least(self, word: Word) -> Word:
        """Return the least form of a word up to rotation and transposition, which leave its trace unchanged."""
        word = tuple((name, name not in self.symmetric and turned) for name, turned in word)
        return min(form[i:] + form[:i] for form in (word, self.turned(word)) for i in range(len(word)))


@cache
def mean_of_traces(words: tuple[Word, ...], letters: Letters) -> Mapping[Left, int]:
    """Return the number of pairings that leave each product of sizes and traces.

    Raises TheoremError for more than MOST_PAIRINGS pairings.
    """
    glued, total = _Glued(words, letters), Counter[Left]()
    places = [[i for i, (name, _) in enumerate(glued.slots) if name == letter] for letter, _ in letters.normal]
    # 2k letters have (2k − 1)!! pairings, and an odd number has none.
    if (many := prod(prod(range(1, len(each), 2)) for each in places if len(each) % 2 == 0)) > MOST_PAIRINGS:
        raise TheoremError(f"{len(glued.slots)} normal letters have {many} pairings, and may have {MOST_PAIRINGS}")
    for chosen in product(*(list(_pairings(each)) for each in places)):
        pairs = [pair for each in chosen for pair in each]
        total[glued.left({**dict(pairs), **{other: one for one, other in pairs}})] += 1
    return total


def _pairings(slots: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield all ways to pair some slots."""
    if not slots:
        yield []
    for i in range(1, len(slots)):
        for others in _pairings([*slots[1:i], *slots[i + 1 :]]):
            yield [(slots[0], slots[i]), *others]


class _Glued:
    """The normal letters of some words in order (`slots`), and the letters from each to the next one of its trace."""

    def __init__(self, words: Collection[Word], letters: Letters) -> None:
        self.letters = letters
        self.along: dict[str, Word] = {x: ((name, False),) if name else () for x, name in letters.normal}
        self.slots, self.after, self.following = list[Letter](), list[Word](), list[int]()
        alone = (word for word in words if not any(name in self.along for name, _ in word))
        self.alone = [part for word in alone for part in letters.traces(word)]
        for word in words:
            places = [i for i, (name, _) in enumerate(word) if name in self.along]
            first = len(self.slots)
            for k, place in enumerate(places):
                until = places[(k + 1) % len(places)]
                self.slots.append(word[place])
                self.after.append(word[place + 1 : until] if until > place else word[place + 1 :] + word[:until])
                self.following.append(first + (k + 1) % len(places))
        self.before = {slot: i for i, slot in enumerate(self.following)}

    def left(self, partner: Mapping[int, int]) -> Left:
        """Return the product of sizes and traces that a pairing leaves."""
        sizes, traces, unseen = list[Size](), list[Word](), set(range(len(self.slots)))
        while unseen:
            start = i = min(unseen)
            forward, word = True, list[Letter]()
            while True:
                unseen.discard(i)
                word += self.after[i] if forward else self.letters.turned(self.after[i])
                # Forward, the walk enters the next slot at its left end; backward, slot i at its right end.
                slot = self.following[i] if forward else i
                name, turned = self.slots[slot]
                row = forward != turned
                word += self.along[name] if row else ()
                other = partner[slot]
                forward = row == self.slots[other][1]
                i = other if forward else self.before[other]
                if i == start:
                    break
            if word:
                traces += self.letters.traces(tuple(word))
            else:
                sizes.append((name, row))
        return tuple(sorted(sizes)), tuple(sorted((*traces, *self.alone)))
