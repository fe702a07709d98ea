"""The pairings in Wick's formula, which tests of moments enumerate."""


def pairings(slots):
    """Yield all perfect matchings of some slots."""
    if not slots:
        yield []
        return
    first, *rest = slots
    for i, partner in enumerate(rest):
        for others in pairings(rest[:i] + rest[i + 1 :]):
            yield [(first, partner), *others]


def classes(size, pairs):
    """Return the number of classes of 0 … size − 1 after identifying the two numbers of each pair."""
    label = list(range(size))
    for a, b in pairs:
        label = [label[a] if x == label[b] else x for x in label]
    return len(set(label))
