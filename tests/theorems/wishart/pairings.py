"""Pairings, over which Wick's formula sums; tests of moments enumerate them."""


def pairings(slots):
    """Yield all ways to pair some slots."""
    if not slots:
        yield []
        return
    first, *rest = slots
    for i, partner in enumerate(rest):
        for others in pairings(rest[:i] + rest[i + 1 :]):
            yield [(first, partner), *others]


def classes(size, pairs):
    """Return the number of classes of 0 … size − 1 when the numbers of each pair are identified."""
    label = list(range(size))
    for a, b in pairs:
        label = [label[a] if x == label[b] else x for x in label]
    return len(set(label))
