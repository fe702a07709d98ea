"""The numbers that bound the numerical search, with the reason for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NumericalLimits:
    """The numbers of the numerical search, for each choice of words."""

    # Points that it may evaluate for each instance that the search may try, and the part of its time.
    points: int = 100
    share: float = 0.25
    # Points that are evaluated at once, at most.
    batch: int = 50_000
    # Terms of a sum, and steps of a recursion, beyond which a point has no value here.
    terms: int = 300
    # Maximum number of steps of a run, and the number after which decided runs are left out of the arrays.
    run_steps: int = 512
    run_block: int = 16
    # A run seems to settle if its fall in the last quarter is at most `slowed` times that in the quarter before, which
    # 1/t and 1/t^2 exceed, and it made more than the part `moved` of the way to the level, and more than that is left.
    # The margin of a suspect is `suspected`.
    slowed: float = 0.1
    moved: float = 1e-3
    suspected: float = -1e-3
    # Where a clause is about a recursion, so many times fewer points are evaluated.
    dear: int = 5
    # There, points that are drawn around the best ones, and the standard deviations of their coordinates.
    around: int = 500
    widths: tuple[float, ...] = tuple(4.0**-k for k in range(10))
    # Relative difference up to which an equation that is not solved holds, and beyond which a claimed one fails.
    agrees: float = 1e-15
    unequal: float = 1e-9
    # Added to the amount by which a relation does not hold: a strict one may fail by 0.
    least: float = 1e-9
    # The parts of them that lie on lattices of simple values: a small one first, as most false statements fall there.
    lattices: tuple[float, ...] = (0.02, 0.4)
    # One of so many values on a lattice is far from 1.
    far: int = 6
    # Sizes of numerators and denominators beyond which no number is simpler than another of as many digits.
    long: float = 1e7
    # Numerators and denominators on a lattice.
    small: int = 20
    # Ends of the coordinates: of the logarithm of an integer's distance from its bound, of the logit of a place in
    # an interval, of the logarithm of a distance from a bound, towards it and away, and of the inverse hyperbolic sine.
    integers: float = 21
    inside: float = 14
    towards: float = 14
    away: float = 15
    # Standard deviation of the half of the draws that is near 1, or the middle.
    spread: float = 1.5
    # Maximum number of points evaluated for a claim on all values of variables, at one instance.
    over_variables: int = 20_000
    # Points drawn at first, at most, and the best ones of them from which is descended.
    first: int = 2000
    starts: int = 8
    # Steps of each descent, and the length of its differences.
    steps: int = 60
    difference: float = 1e-7
    # Times the margin, a larger number counts as so large; the largest margin that counts; and the weight of the amount
    # by which relations fail.
    penalty: float = 1e6
    largest: float = 1e100
    weight: float = 100
    # Members and generations of the differential evolution.
    members: int = 48
    generations: int = 150
    # Choices of words that are looked at.
    words: int = 24
    # Points that seem to fail which are confirmed, for each clause and way.
    confirmed: int = 8
    # Simple values that are tried in place of each number of a point that seems to fail.
    exchanged: int = 150
    # Rounds of this: steps that are small could go on for long.
    rounds: int = 8
    # The nearest miss is made simple as long as its relative margin grows by no more than this.
    as_near: float = 1e-9
    # Instances without a value in float64 that are looked at rigorously, for each clause, and the seconds for
    # each, first and last.
    silent: int = 12
    silent_seconds: tuple[float, float] = (0.1, 3)
    # Relative margins above this may be negative by rounding alone.
    rounding: float = 1e-13
    # Relative distances within which a point is made simple, the largest first.
    shares: tuple[float, ...] = (0.5, 0.2, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-13)


NUMERICAL = NumericalLimits()
