"""The limits of the search for a deduction, and of its linear and semidefinite programs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchLimits:
    """The limits of the search for a proof."""

    operations: int = 60
    """The most operations of a goal, and of a goal with its facts; the longest facts are left out."""
    bits: int = 200
    """The most bits of a number in a goal or fact."""
    power: int = 40
    """The highest power in a goal or fact."""
    depth: int = 4
    """The most nested derivatives, inductions and cases."""
    samples: int = 25
    """The number of points at which a goal is tested before a proof is sought."""
    draws: int = 300
    """The most points that are drawn to find those at which the facts hold."""
    rounding: float = 1e-6
    """A negative margin smaller than this share of a goal's terms may be a rounding error: the goal is still tried."""
    steps: int = 8
    """The number of steps of a recursion at whose states a guess is tested."""
    pairs: int = 4
    """The most exponentials, or logarithms, of which all pairs are combined."""
    wider: int = 6
    """The most facts, with instances of growth, for which products of a higher degree than the goal's are tried."""
    cases: int = 4
    """The most expressions by whose signs cases are distinguished, one expression at a time."""
    squared: int = 2
    """The most square roots that are isolated from the rest of a goal and squared."""
    ordered: int = 3
    """The most symbols of which all orders are distinguished."""


@dataclass(frozen=True)
class ProgramLimits:
    """The limits of linear and semidefinite programs."""

    columns: int = 6000
    """The most columns of a program: with twice as many it takes seconds, and finds hardly more."""
    tried: int = 60_000
    """The most products that are considered for the columns, which takes about a second."""
    monomials: int = 70
    """The most monomials of which sums of two are squared."""
    variables: int = 6
    """The most variables of a semidefinite program."""
    program: int = 500
    """The work that a semidefinite program counts as, in columns."""
    few: int = 2
    """The most symbols of a goal for which products of facts are tried before a semidefinite program."""
    roots: int = 3
    """The most roots in a goal for which products of facts are tried before the roots are isolated."""
    paired: int = 6
    """The most weights whose products of two are used as weights too."""
    fine: int = 4
    """The most variables for which points with coordinates 1/2, 1/3, 2 and 3 are tried as zeros."""
    facts: int = 8
    """The most facts of which products are tried; if there are more, only facts in the goal's symbols are used."""


@dataclass(frozen=True)
class MeanLimits:
    """The limits of proofs that bound terms by weighted means of other terms."""

    parts: int = 60
    """The most terms of one mean, each counted with its integer weight."""
    covers: int = 8
    """The most linear programs for one term; each looks for a mean of other terms."""
    points: int = 3
    """The most points, besides the one with all symbols 1, at which a mean is equal to its terms."""
    terms: int = 60
    """The most terms of a polynomial."""
    work: int = 100
    """The work that a search counts as, in columns, for each term that is to be bounded."""


@dataclass(frozen=True)
class ChainLimits:
    """The limits of a chain of slopes, each the derivative of the one before, divided by a factor."""

    depth: int = 10
    """The most slopes of a chain."""
    slopes: int = 40
    """The most slopes that are tried from one start."""
    branches: int = 3
    """The most divisors that are tried between two slopes; the divisor 1 is counted, too."""
    points: int = 40
    """The number of points at which a slope is computed, to see whether it is negative somewhere."""
    least: int = 5
    """The fewest points at which a slope has to be computed."""
    draws: int = 1000
    """The most points that are drawn to find those at which the facts hold."""
    rounding: float = 1e-9
    """A negative value below this share of a slope's terms may be an error of floats."""
    terms: int = 7
    """The most terms of a slope's numerator for which known inequalities are tried."""
    operations: int = 400
    """The most operations of a slope: with more, the chain has not become simpler."""


@dataclass(frozen=True)
class TransformLimits:
    """The limits of transformations of a goal."""

    factors: int = 6
    """The most factors of a product of logarithms' arguments, and the most terms of a weighted mean."""
    order: int = 4
    """The highest order of a root that is taken of both sides."""


@dataclass(frozen=True)
class BoxLimits:
    """The limits of the halving of a box."""

    symbols: int = 3
    """The most symbols of a goal."""
    depth: int = 12
    """The most halvings along one symbol."""
    parts: int = 3000
    """The most boxes that are tried."""


SEARCH, PROGRAM, MEANS = SearchLimits(), ProgramLimits(), MeanLimits()
CHAIN, TRANSFORM, BOX = ChainLimits(), TransformLimits(), BoxLimits()
