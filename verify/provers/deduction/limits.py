"""The numbers of the search for a deduction, and of its programs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchLimits:
    """How far the search goes."""

    operations: int = 60
    """The most operations of a goal, and of it and its facts, of which the longest are left out."""
    bits: int = 200
    """The most bits of a number in them."""
    power: int = 40
    """The highest power in them."""
    depth: int = 4
    """The most slopes, inductions and cases in each other."""
    samples: int = 25
    """The points at which a goal is tried before a proof is looked for."""
    draws: int = 300
    """The most points that are drawn to find these, where the facts hold."""
    rounding: float = 1e-6
    """The part of a goal's terms up to which a negative margin may be an error of floats: it refuses no goal."""
    steps: int = 8
    """The steps of a recursion at the states of which a guess is tried."""
    pairs: int = 4
    """The most exponentials, or logarithms, that are put together two by two."""
    wider: int = 6
    """The most facts, with instances of growth, of which products of a higher degree than the goal's are tried."""
    cases: int = 4
    """The most expressions whose signs are told apart, one at a time."""
    squared: int = 2
    """The most square roots that are told from the rest of a goal by squares."""
    ordered: int = 3
    """The most symbols of which all orders are told apart."""


@dataclass(frozen=True)
class ProgramLimits:
    """How far one linear program goes."""

    columns: int = 6000
    """The most columns of a program: with twice as many it takes seconds, and finds hardly more."""
    tried: int = 60_000
    """The most products that are looked at for them: they take about a second."""
    monomials: int = 70
    """The most monomials of which sums of two are squared."""
    variables: int = 6
    """The most variables of a semidefinite program."""
    program: int = 500
    """The work that a semidefinite program counts as, in columns."""
    few: int = 2
    """The most symbols with which products of facts are tried before a semidefinite program."""
    roots: int = 3
    """The most roots with which products of facts are tried before these are told from the rest of a goal."""
    paired: int = 6
    """The most weights of which products of two are weights as well."""
    fine: int = 4
    """The most variables for which points with 1/2, 1/3, 2 and 3 are tried as zeros."""
    facts: int = 8
    """The most facts of which products are tried: of more, only those in the goal's symbols."""


@dataclass(frozen=True)
class MeanLimits:
    """How far terms are covered by means of others."""

    parts: int = 60
    """The most terms of one mean, each counted as often as its weight says."""
    covers: int = 8
    """The most linear programs that look for means of one term, each for other terms that it is a mean of."""
    points: int = 3
    """The most points at which means are equal to their terms, beside that with all symbols 1."""
    terms: int = 60
    """The most terms of a polynomial."""
    work: int = 100
    """The work that a search counts as, in columns, for each term that is to be covered."""


@dataclass(frozen=True)
class ChainLimits:
    """How far a chain of slopes goes."""

    depth: int = 10
    """The most slopes, one of another."""
    slopes: int = 40
    """The most slopes that are looked at in a chain from one start."""
    branches: int = 3
    """The most divisors, or none, that are tried between two slopes."""
    points: int = 40
    """The points at which a slope is computed, to see whether it is negative somewhere."""
    least: int = 5
    """The fewest points at which a slope has to be computed."""
    draws: int = 1000
    """The most points that are drawn to find these, where the facts hold."""
    rounding: float = 1e-9
    """The part of a slope's terms up to which a negative value may be an error of floats."""
    terms: int = 7
    """The most terms of a slope's numerator for which instances of what is known are tried."""
    operations: int = 400
    """The most operations of a slope: a chain has become no simpler where there are more."""


@dataclass(frozen=True)
class TransformLimits:
    """How far a goal is put into another form."""

    factors: int = 6
    """The most factors of a product of what logarithms are of, and the most terms of a weighted mean."""
    order: int = 4
    """The highest root of both sides."""


SEARCH, PROGRAM, MEANS = SearchLimits(), ProgramLimits(), MeanLimits()
CHAIN, TRANSFORM = ChainLimits(), TransformLimits()
