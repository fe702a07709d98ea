"""The limits of the search for a deduction, and of its linear and semidefinite programs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchLimits:
    """The limits of the search for a proof."""

    operations: int = 60
    """The maximum number of operations of a goal with its facts; the longest facts are left out."""
    bits: int = 200
    """The maximum number of bits of a number in a goal or fact."""
    power: int = 40
    """The highest power in a goal or fact."""
    depth: int = 4
    """The maximum depth of nested derivatives, inductions and cases."""
    samples: int = 25
    """The number of points at which a goal is tested before a proof is sought."""
    draws: int = 300
    """The maximum number of random points that are tried to find points at which the facts hold."""
    rounding: float = 1e-6
    """A negative margin below this share of a goal's terms, in size, may be a rounding error: the goal is tried."""
    steps: int = 8
    """The number of steps of a recursion at whose states a guess is tested."""
    pairs: int = 4
    """The maximum number of exponentials, or of logarithms, that are combined in pairs."""
    wider: int = 6
    """The maximum number of facts, instances included, for trying products of a higher degree than the goal."""
    cases: int = 4
    """The maximum number of expressions whose signs are tried as cases, one expression at a time."""
    squared: int = 2
    """The maximum number of square roots that are isolated from the rest of a goal and squared."""
    ordered: int = 3
    """The maximum number of symbols for a proof by cases, one for each order of the symbols."""


@dataclass(frozen=True)
class ProgramLimits:
    """The limits of linear and semidefinite programs."""

    columns: int = 6000
    """The maximum number of columns of a program: with twice as many, a program takes seconds and finds hardly more."""
    tried: int = 60_000
    """The maximum number of products that are considered for the columns: considering them takes about a second."""
    monomials: int = 70
    """The maximum number of monomials from which squares of sums of two are formed."""
    variables: int = 6
    """The maximum number of variables of a semidefinite program."""
    program: int = 500
    """The work counted for a semidefinite program, in columns."""
    few: int = 2
    """The maximum number of symbols of a goal for trying products of facts before a semidefinite program."""
    roots: int = 3
    """The maximum number of roots in a goal for trying products of facts before the roots are isolated."""
    paired: int = 6
    """The maximum number of weights for using the products of two weights as weights too."""
    fine: int = 4
    """The maximum number of variables for trying points with coordinates 1/2, 1/3, 2 and 3 as zeros."""
    facts: int = 8
    """The maximum number of facts for trying products of all; with more, only facts in the goal's symbols are used."""


@dataclass(frozen=True)
class MeanLimits:
    """The limits of proofs that bound terms by weighted means of other terms."""

    parts: int = 60
    """The maximum number of terms of one mean, each counted with its integer weight."""
    covers: int = 8
    """The maximum number of linear programs for one term; each searches for a mean of other terms."""
    points: int = 3
    """The maximum number of points, besides (1, …, 1), at which a mean is equal to its terms."""
    terms: int = 60
    """The maximum number of terms of a polynomial."""
    work: int = 100
    """The work counted for a search, in columns, for each term that is to be bounded."""


@dataclass(frozen=True)
class ChainLimits:
    """The limits of a chain of slopes, each the derivative of the previous slope divided by a factor."""

    depth: int = 10
    """The maximum number of slopes of a chain."""
    slopes: int = 40
    """The maximum number of slopes that are tried from one start."""
    branches: int = 3
    """The maximum number of divisors that are tried between two slopes; the divisor 1 is counted, too."""
    points: int = 40
    """The number of points at which a slope is computed to see whether it is negative somewhere."""
    least: int = 5
    """The minimum number of points at which a slope has to be computed."""
    draws: int = 1000
    """The maximum number of random points that are tried to find points at which the facts hold."""
    rounding: float = 1e-9
    """A negative value below this share of a slope's terms, in size, may be a rounding error."""
    terms: int = 7
    """The maximum number of terms of a slope's numerator for trying known inequalities."""
    operations: int = 400
    """The maximum number of operations of a slope: with more, the chain has not become simpler."""


@dataclass(frozen=True)
class TransformLimits:
    """The limits of transformations of a goal."""

    factors: int = 6
    """The maximum number of factors of a product of logarithms' arguments, and of terms of a weighted mean."""
    order: int = 4
    """The highest order of a root that is taken of both sides."""


@dataclass(frozen=True)
class BoxLimits:
    """The limits of the halving of a box."""

    symbols: int = 3
    """The maximum number of symbols of a goal."""
    depth: int = 12
    """The maximum number of halvings along one symbol."""
    parts: int = 3000
    """The maximum number of boxes that are tried."""


SEARCH, PROGRAM, MEANS = SearchLimits(), ProgramLimits(), MeanLimits()
CHAIN, TRANSFORM, BOX = ChainLimits(), TransformLimits(), BoxLimits()
