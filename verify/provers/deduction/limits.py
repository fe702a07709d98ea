"""The numbers of the search for a deduction, and of its programs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchLimits:
    """How far the search goes."""

    operations: int = 60
    """Of a goal and all facts: the sums of longer ones are rarely found."""
    bits: int = 200
    """Of a number in them."""
    power: int = 40
    """The highest power in them."""
    depth: int = 4
    """Slopes, inductions and cases in each other."""
    samples: int = 25
    """Points at which a goal is tried before it is to be proved."""
    draws: int = 300
    """Points that are drawn to find so many where the facts hold."""
    rounding: float = 1e-6
    """Of the terms of a goal: a margin below that is an error of floats, or may be."""
    pairs: int = 4
    """Exponentials or logarithms of which each two are put together."""
    cases: int = 4
    """Expressions whose sign is told apart."""
    ordered: int = 3
    """Symbols of which all orders are told apart."""


@dataclass(frozen=True)
class ProgramLimits:
    """How far one linear program goes."""

    columns: int = 6000
    """Of a program: with twice as many it takes seconds, and finds hardly more."""
    monomials: int = 70
    """Whose squares, and squares of whose sums of two, are tried."""
    variables: int = 6
    """Of a semidefinite program."""
    program: int = 2000
    """Columns that one counts as."""
    paired: int = 6
    """Weights of which products of two are weights as well."""
    fine: int = 4
    """Variables up to which more points are looked at for zeros."""
    facts: int = 8
    """Whose products are tried: of more, those alone that are in the goal's symbols."""


SEARCH, PROGRAM = SearchLimits(), ProgramLimits()
