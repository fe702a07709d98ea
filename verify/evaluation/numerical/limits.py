"""The numbers that bound the numerical search, with the reason for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NumericalLimits:
    """The numbers of the numerical search, for each choice of words."""

    # Number of points that the numerical search may evaluate for each instance that the whole search may try, and the
    # share of the time that it may use.
    points: int = 100
    share: float = 0.25
    # Maximum number of points that are evaluated at once.
    batch: int = 50_000
    # Maximum number of terms of a sum, and of steps of a recursion in an expression; with more, a point has no value.
    terms: int = 300
    # Maximum number of steps of a run, and the number of steps after which decided runs are taken out of the arrays.
    run_steps: int = 512
    run_block: int = 16
    # A run seems to settle above a level under three conditions. Its fall in the last quarter of the steps is at most
    # `slowed` times its fall in the quarter before (for 1/t and 1/t^2 this ratio is larger). It fell by more than the
    # share `moved` of the distance from its start to the level. The limit that a geometric series predicts is above the
    # level by more than the share `moved` of the distance at half time. The margin of such a run is `suspected`.
    slowed: float = 0.1
    moved: float = 1e-3
    suspected: float = -1e-3
    # Factor by which the number of points is divided if a clause is about a recursion.
    dear: int = 5
    # For such a clause: the number of points that are drawn around the best ones at each width, and the widths, which
    # are the standard deviations of the coordinates' changes.
    around: int = 500
    widths: tuple[float, ...] = tuple(4.0**-k for k in range(10))
    # Maximum relative difference at which an unsolved equation holds, and the one above which a claimed equation fails.
    agrees: float = 1e-15
    unequal: float = 1e-9
    # Number that is added to the amount by which a relation fails, because a strict relation may fail by 0.
    least: float = 1e-9
    # Shares of the points for lattices of simple values: a small lattice comes first, since most false statements fail
    # there.
    lattices: tuple[float, ...] = (0.02, 0.4)
    # At most one in this many values on a lattice is far from 1.
    far: int = 6
    # Size of numerators and denominators beyond which numbers with the same number of digits are equally simple.
    long: float = 1e7
    # Largest numerator and denominator of the small fractions on a lattice.
    small: int = 20
    # Ends of the coordinates. `integers`: for an integer, log(1 + distance from its bound), or asinh without a bound.
    # `inside`: for a number between two bounds, the logit of its place. −`towards` and `away`: for a number with one
    # bound, the logarithm of its distance. ±`away`: for a number without bounds, its asinh.
    integers: float = 21
    inside: float = 14
    towards: float = 14
    away: float = 15
    # Standard deviation of the coordinates in the half of the draws that is normal around coordinate 0.
    spread: float = 1.5
    # Maximum number of points evaluated for a claim on all values of variables, at one instance.
    over_variables: int = 20_000
    # Maximum number of points of the first draw, and number of the best points from which descents start.
    first: int = 2000
    starts: int = 8
    # Maximum number of steps of each descent, and the step size of its finite differences.
    steps: int = 60
    difference: float = 1e-7
    # In a descent, margins and the amounts by which relations fail are cut off at `penalty` times the margin's size at
    # the point. This size is taken as at least 1 and at most `largest`. The amounts by which relations fail are added
    # with the weight `weight` times this size.
    penalty: float = 1e6
    largest: float = 1e100
    weight: float = 100
    # Members and generations of the differential evolution.
    members: int = 48
    generations: int = 150
    # Maximum number of choices of words that are tried.
    words: int = 24
    # Maximum number of points that seem to fail and are passed on as suspects, for each clause and batch of points.
    confirmed: int = 8
    # Maximum number of simple values that are tried in place of each number of a suspect or a nearest miss.
    exchanged: int = 150
    # Maximum number of rounds of such exchanges; without a limit, small improvements could go on for long.
    rounds: int = 8
    # The nearest miss is replaced by a simple point near it whose relative margin is larger by at most this.
    as_near: float = 1e-9
    # Maximum number of instances without a value in float64 that are checked rigorously, for each clause, and the
    # seconds for each of them in the first and in the last round.
    silent: int = 12
    silent_seconds: tuple[float, float] = (0.1, 3)
    # A negative relative margin of at most this size may be due to rounding alone.
    rounding: float = 1e-13
    # Relative distances within which a point is made simple, the largest first.
    shares: tuple[float, ...] = (0.5, 0.2, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-13)


NUMERICAL = NumericalLimits()
