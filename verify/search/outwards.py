"""The values of a parameter outwards from where something ends.

Given are the parts of some ranges that are past it, the values that are tried, and what is said of those that were.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from verify.evaluation.admissible_ranges import Range, Ranges, meet
from verify.language.parameters import Parameter, simplest_between
from verify.outcomes import Trust
from verify.search.results import NOTHING_LEFT, Reach

_DOUBLINGS = 24
"""Values that are tried outwards, each twice as far as the one before, relative to where the hypothesis ends."""
_CLOSING = 5
"""Values that are tried towards the end of a domain, each half as far from it as the one before."""


@dataclass(frozen=True)
class Way:
    """The way outwards from where a hypothesis, or what is shown, ends along a parameter; `strict`: before its end."""

    parameter: Parameter
    end: Fraction
    strict: bool
    upward: bool

    @property
    def start(self) -> Fraction:
        """Where it begins, as the values that it returns, which grow outwards."""
        return self.end if self.upward else -self.end

    def past(self, ranges: Ranges) -> tuple[Range, ...]:
        """Return what of some ranges is past the end, in order, turned so that values grow outwards."""
        start = self.start
        if self.parameter.kind == "integer":
            first = start.__ceil__() if self.strict else start.__floor__() + 1
            beyond = Range(Fraction(first), None)
        else:
            beyond = Range(start, None, low_open=not self.strict)
        parts = meet(ranges if self.upward else tuple(map(_mirrored, ranges)), (beyond,))
        if self.parameter.kind == "integer":
            parts = (part.integers() for part in parts)
        return tuple(sorted((part for part in parts if not part.empty), key=lambda part: (part.low, part.low_open)))

    def value(self, outward: Fraction | int) -> Fraction | int:
        """Return a value of the parameter from one that grows outwards."""
        value = Fraction(outward if self.upward else -outward)
        return int(value) if self.parameter.kind == "integer" and value.denominator == 1 else value

    def covered(self, region: Ranges, domain: Ranges) -> tuple[Range | None, bool]:
        """Return as far as what of a region a domain's part past the end is covered without a gap, and whether all is.

        None where what comes first past the end is not in it.
        """
        parts, far = self.past(region), None
        for place in self.past(domain):
            begins = [p for p in parts if p.low == place.low and p.low_open <= place.low_open]
            if not begins:
                return far, False
            far = max(begins, key=lambda part: (part.high is None, part.high or 0, not part.high_open))
            if (far.high, far.high_open) != (place.high, place.high_open):
                return far, False
        return far, far is not None


def _mirrored(part: Range) -> Range:
    low, high = (None if end is None else -end for end in (part.high, part.low))
    return Range(low, high, part.high_open, part.low_open)


def outwards(way: Way, left: Sequence[Range], given: Fraction | int | None) -> Iterator[Fraction | int]:
    """Yield values of what is left past an end, further and further out, and the given one where it is among them."""
    if not left:
        return
    start, first, last = way.start, left[0].low, left[-1].high
    assert first is not None
    values = _doubled(way, first)
    if last is not None:
        values.add(last)
        if way.parameter.kind != "integer":
            values |= {last - (last - start) / 2**k for k in range(1, _CLOSING)}
    known = None if given is None else Fraction(given if way.upward else -given)
    if known is not None:
        # The given one stands for those beside it.
        values = {value for value in values if abs(value - known) > abs(known) / 50} | {known}
    done: Fraction | None = None
    for value in sorted(values):
        if not any(value in part for part in left) or (value <= start and value not in (known, first)):
            continue
        exact = way.parameter.kind == "integer" or value == known
        short: Fraction = value if exact else _rounded(value, start, done, left)
        if done is None or short > done:
            done = short
            yield way.value(short)


def _doubled(way: Way, first: Fraction) -> set[Fraction]:
    """Return values that are twice as far out each time, of integers from the first that is left."""
    start = way.start
    if way.parameter.kind == "integer":
        return {first + 2**k - 1 for k in range(_DOUBLINGS)}
    if way.end <= 0:
        return {start + Fraction(2) ** k for k in range(-_DOUBLINGS // 2, _DOUBLINGS // 2)}
    values = {start * Fraction(2) ** (k if way.upward else -k) for k in range(1, _DOUBLINGS + 1)}
    if not way.upward:
        # And past 0, where the domain goes there.
        values |= {-start * (2**k - 1) for k in range(_DOUBLINGS // 2)}
    return values


def _rounded(value: Fraction, start: Fraction, done: Fraction | None, left: Sequence[Range]) -> Fraction:
    """Return a number in few digits near to one, past what was before it; the number where there is none."""
    before = start if done is None else max(start, done)
    for near in (abs(value), value - before):
        short = simplest_between(value - near / 100, value + near / 100) if near > 0 else value
        if short > before and any(short in part for part in left):
            return Fraction(short)
    return value


@dataclass
class Tried:
    """The values at which a search has looked for a violation so far, and why it ended."""

    values: list[Fraction | int] = field(default_factory=list)
    verified: list[Fraction | int] = field(default_factory=list)
    trusts: set[Trust] = field(default_factory=set)
    failing: str = ""
    refused: str = ""
    ended: bool = False

    def noted(self, shown: Reach, left: Sequence[Range], seconds: float) -> Reach:
        """Return what is shown, with what was tried, and what is not known."""
        count = len(self.values)
        if not count:
            why = f" where {self.failing}" if self.failing else f": {self.refused}" if self.refused else ""
            return replace(shown, further=f"open beyond: no violation is looked for{why}")
        further = f"further out {self.failing}" if self.failing else "open beyond"
        further = f"further out nothing is checked: {self.refused}" if self.refused else further
        if self.ended:
            # Of integers all may have been tried.
            size = left[0].high - left[0].low + 1 if len(left) == 1 and left[0].high is not None else None  # pyright: ignore[reportOperatorIssue]
            all_tried = all(isinstance(value, int) for value in self.values) and size == count
            further = NOTHING_LEFT if all_tried else f"between these it is open, {NOTHING_LEFT}"
        effort = f"{count} instance{'s' * (count != 1)}, {seconds:.1f} s"
        verified = tuple(self.verified)
        trusts = tuple(sorted(self.trusts))
        return replace(shown, looked=True, verified_at=verified, effort=effort, further=further, verified_trusts=trusts)
