"""The numerical limits of a sweep, with the reason for each."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class SweepLimits:
    """The numerical limits of a sweep."""

    # Default time budget of one instance, in seconds.
    seconds: float = 10
    # Maximum number of points of one axis, and of a whole grid: a day at a tenth of a second each.
    most_points: int = 10**6
    # Maximum relative distance of a point of a logarithmic axis, a simple fraction, from the exact point; the distance
    # is also at most 1/100 of the step.
    point_distance: Fraction = Fraction(1, 10_000)

    # Seconds of work in a chunk: longer chunks are sent less often, and more is lost if a process dies.
    chunk_seconds: float = 2
    # Maximum number of instances of a chunk: the loss if a process dies.
    largest_chunk: int = 4096
    # Maximum factor by which a chunk is larger than the chunk before: the first instances may be quick.
    chunk_growth: int = 8
    # Number of instances whose rows are read at once: no more rows are kept in memory.
    block: int = 500
    # Number of instances of a block of arrays: some 2 MB, and the loss if the process is killed.
    array: int = 2**14

    # Maximum number of internal errors, and of differences, that are shown; all are counted.
    shown: int = 3
    # Relative error up to which the float of a reported value is shown; less accurate values are left to the exact
    # check.
    float_error: float = 1e-9


SWEEP = SweepLimits()
