"""Pairings, over which Wick's formula sums: what the moments' tests go through."""


def pairings(slots):
    """Yield all ways to pair some slots."""
    if not slots:
        yield []
        return
    first, *rest = slots
    for i, partner in enumerate(rest):
        for others in pairings(rest[:i] + rest[i + 1 :]):
            yield [(first, partner), *others]
