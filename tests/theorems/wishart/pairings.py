"""Pairings, over which Wick's formula sums: the moments' tests go through them."""


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
    """The number of classes that the pairs leave of 0 … size − 1."""
    label = list(range(size))
    for a, b in pairs:
        label = [label[a] if x == label[b] else x for x in label]
    return len(set(label))
