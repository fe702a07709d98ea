"""Admissible ranges: the values of one parameter that satisfy a relation, as a union of intervals.

A relation that is rational in the parameter, with rational coefficients at the other parameters' values, is solved
exactly: the real roots of its numerator and denominator are isolated. Any other inequality is solved by bisection
between probes at which its sign is certified; any other equation is not solved. Between two probes a short interval may
be missed, or a short gap included, so that each draw from such a range is checked. The enclosure of a primitive is
replaced by its approximation (its `scan`); only the confirmation of a counterexample uses the enclosure.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import flint
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from verify.errors import NotExactError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import (
    FIRST_BITS,
    LAST_BITS,
    Exact,
    balls,
    enclosure_of_ball,
    exact_fraction,
    flint_rational,
)
from verify.evaluation.programs import Program, compile_program
from verify.evaluation.values import Values, scan_values, symbols_by_name
from verify.language.definedness import rebuilt
from verify.language.expressions import PRIMITIVES, STRICT, difference, enclosed_applications
from verify.language.parameters import Parameter
from verify.printing import text_of

_ROOT_BITS = (512, 8192)
"""Bits of the enclosures of irrational roots: 512 (about 150 digits), or 8192 if those enclosures overlap."""
_PROBES = 60
"""Number of equal parts into which probes divide a bounded range.

In an unbounded range, the largest distance of a probe from the bound (or from 0 without a bound) is 2^_PROBES.
"""
_HALVINGS = 60
"""Number of bisection steps between two neighbouring probes."""


@dataclass(frozen=True)
class Range:
    """An interval of admissible values; `None` stands for no bound, and an end that is not open is included."""

    low: Fraction | None
    high: Fraction | None
    low_open: bool = False
    high_open: bool = False

    def meet(self, other: "Range") -> "Range":
        """Return the intersection."""
        low, low_open = self.low, self.low_open
        if other.low is not None and (low is None or other.low > low or (other.low == low and other.low_open)):
            low, low_open = other.low, other.low_open
        high, high_open = self.high, self.high_open
        if other.high is not None and (high is None or other.high < high or (other.high == high and other.high_open)):
            high, high_open = other.high, other.high_open
        return Range(low, high, low_open, high_open)

    def integers(self) -> "Range":
        """Return the range from the least to the largest integer in it, both included."""
        low = None if self.low is None else self.low.__floor__() + 1 if self.low_open else self.low.__ceil__()
        high = None if self.high is None else self.high.__ceil__() - 1 if self.high_open else self.high.__floor__()
        return Range(None if low is None else Fraction(low), None if high is None else Fraction(high))

    @property
    def empty(self) -> bool:
        """Whether the range contains no value."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def __contains__(self, value: object) -> bool:
        assert isinstance(value, int | Fraction)
        above = self.low is None or (value > self.low if self.low_open else value >= self.low)
        return above and (self.high is None or (value < self.high if self.high_open else value <= self.high))


def domain_of(parameter: Parameter) -> Range:
    """Return the range of a parameter's domain, without an upper end, which is a relation of the statement's domain."""
    low = parameter.lower
    return Range(None if low is None else Fraction(low), None, low_open=parameter.minimum is None)


Ranges = tuple[Range, ...]


def meet(one: Ranges, other: Ranges) -> Ranges:
    """Return the intersection of two unions of intervals."""
    return tuple(common for a in one for b in other if not (common := a.meet(b)).empty)


@dataclass(frozen=True, eq=False)
class Solvable:
    """A relation, prepared for solving it for one of its parameters at values of the others.

    If the slack is a quotient of polynomials in the parameter, `coefficients` computes the coefficients of the
    numerator, which has degree `degree`, then the coefficients of the denominator, each constant term first. Otherwise,
    or if a coefficient has no value anywhere, `coefficients` is None. `scanned` maps the names of the symbols that
    replace applications of enclosed primitives to these applications.
    """

    relation: Any
    unknown: str
    names: tuple[str, ...]
    coefficients: Program | None
    degree: int
    scanned: Mapping[str, AppliedUndef] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether the relation is solved by roots of polynomials wherever their coefficients are rational."""
        return self.coefficients is not None

    def satisfied(self, values: Values) -> bool:
        """Whether the relation is certified to hold at values, up to approximations of enclosed primitives."""
        return satisfied(self.relation, values)

    def ranges(self, values: Values, within: Range) -> Ranges:
        """Return the part of `within` in which the relation holds (or, by bisection, seems to hold) at `values`."""
        solved = self._by_roots(values, within)
        return self._bisected(values, within) if solved is None else solved

    def certified_ranges(self, values: Values, within: Range) -> Ranges | None:
        """Return the part of `within` in which the relation certainly holds; enclosures of irrational ends are omitted.

        The result is None if the relation is not solved by roots of polynomials or has enclosed primitives.
        """
        return None if self.scanned else self._by_roots(values, within)

    def _by_roots(self, values: Values, within: Range) -> Ranges | None:
        if self.coefficients is None:
            return None
        if self.scanned:
            return self._solved(values, within)
        return _solved_at(self, tuple(values[name] for name in self.names), within)

    def _solved(self, values: Values, within: Range) -> Ranges | None:
        assert self.coefficients is not None
        exact = Exact()
        try:
            values = _with_scans(self.scanned, values)
            bound = self.coefficients.bind(exact)(*(exact.number(values[name]) for name in self.names))
            numbers = [exact_fraction(exact.checked(number)) for number in bound]
        except (ZeroDivisionError, UndefinedError, UndecidedError):
            return ()
        except NotExactError:
            # A coefficient such as log(T) is not rational here.
            return None
        numerator, denominator = numbers[: self.degree + 1], numbers[self.degree + 1 :]
        return meet(_where(numerator, denominator, self.relation), (within,))

    def _bisected(self, values: Values, within: Range) -> Ranges:
        if isinstance(self.relation, sp.Eq):
            return ()
        return tuple(_bracketed(lambda value: satisfied(self.relation, {**values, self.unknown: value}), within))


@lru_cache(maxsize=10_000)
def _solved_at(bound: Solvable, values: tuple[Any, ...], within: Range) -> Ranges | None:
    """Return a relation's ranges at values of its `names`; cached, because a search repeats values."""
    return bound._solved(dict(zip(bound.names, values, strict=True)), within)  # noqa: SLF001


@cache
def solvable(relation: Relational, unknown: str, names: frozenset[str]) -> Solvable:
    """Prepare a relation to be solved for `unknown`; `names` are the parameters that will have values."""
    symbols = symbols_by_name(relation)
    last = symbols.get(unknown, sp.Symbol(unknown))
    written, scanned = _named_scans(relation)
    if any(last in node.free_symbols for node in scanned.values()):
        return Solvable(relation, unknown, tuple(sorted(names & symbols.keys())), None, 0)
    symbols |= {name: sp.Symbol(name) for name in scanned}
    others = tuple(sorted((names | scanned.keys()) & symbols.keys()))
    coefficients, degree, slack = None, 0, rebuilt(difference(written))
    try:
        above, below = (sp.Poly(part, last) for part in sp.fraction(sp.together(slack)))
        for divisor in _divisors(slack):
            if not _divides(divisor, below.as_expr()):
                # The divisor was cancelled, but the relation as written has no value at the divisor's zeros.
                square = sp.Poly(divisor, last) ** 2
                above, below = above * square, below * square
    except sp.PolynomialError:
        pass
    else:
        degree = max(above.degree(), 0)
        expressions = [*reversed(above.all_coeffs()), *reversed(below.all_coeffs())]
        # If a coefficient has no value, the relation has none for any values of the parameters.
        with suppress(UndefinedError):
            coefficients = compile_program(expressions, [symbols[name] for name in others])
    return Solvable(relation, unknown, others, coefficients, degree, scanned)


def _divisors(expression: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the numerators of all divisors in the written form."""
    for power in expression.atoms(sp.Pow):
        if power.exp.is_Rational and power.exp < 0:
            yield sp.fraction(sp.together(power.base))[0]


def _divides(divisor: sp.Expr, polynomial: sp.Expr) -> bool:
    gens = sorted(divisor.free_symbols | polynomial.free_symbols, key=str)
    try:
        return not gens or sp.rem(polynomial, divisor, *gens) == 0
    except sp.PolynomialError:
        return False


def satisfied(relation: Relational, values: Values) -> bool:
    """Whether a relation is certified to hold at values: in exact arithmetic or, if a value is not rational, in balls.

    The result is False if the relation has no value, or if balls of 4096 bits do not decide it. Enclosed primitives
    have their approximate values.
    """
    written, scanned = _named_scans(relation)
    try:
        names, program = _slack_program(written)
        values = _with_scans(scanned, values)
    except (UndefinedError, UndecidedError):
        return False
    kept = operator.eq if isinstance(relation, sp.Eq) else operator.gt if isinstance(relation, STRICT) else operator.ge
    exact = Exact()
    try:
        (raw,) = program.bind(exact)(*(exact.number(values[name]) for name in names))
        return kept(raw, 0)
    except (ZeroDivisionError, UndefinedError):
        return False
    except NotExactError:
        pass
    bits = FIRST_BITS
    while bits <= LAST_BITS:
        # The ball itself is compared: its endpoints, such as those of e^x, may be too long to be written out.
        with balls(bits) as ball:
            try:
                (raw,) = program.bind(ball)(*(ball.number(values[name]) for name in names))
            except (UndecidedError, UndefinedError, ZeroDivisionError):
                raw = None
            if raw is not None and (raw > 0 or raw < 0 or raw == 0):
                return bool(kept(raw, 0))
        bits *= 2
    return False


@cache
def _named_scans(relation: Relational) -> tuple[sp.Basic, Mapping[str, AppliedUndef]]:
    """Return the relation with a symbol for each application of an enclosed primitive, and the symbols' meanings."""
    nodes = [node for node, _ in enclosed_applications(relation)]
    if not nodes:
        return relation, {}
    named = {node: sp.Symbol(f"scanned {i}") for i, node in enumerate(nodes)}
    sides = (side.xreplace(named) for side in relation.args)
    return relation.func(*sides, evaluate=False), {symbol.name: node for node, symbol in named.items()}


def _with_scans(scanned: Mapping[str, AppliedUndef], values: Values) -> Values:
    """Add the approximations of enclosed primitives to the values. Raises UndefinedError if a primitive has none."""
    completed = dict(values)
    for name, node in scanned.items():
        primitive = PRIMITIVES[node.func.__name__]
        arguments = scan_values(node.args, values)
        assert primitive.scan is not None
        try:
            completed[name] = Fraction(primitive.scan(*arguments))
        except (OverflowError, ValueError) as error:
            raise UndefinedError(f"{text_of(node)}: {error}") from None
    return completed


@cache
def _slack_program(relation: sp.Basic) -> tuple[tuple[str, ...], Program]:
    symbols = symbols_by_name(relation)
    return tuple(symbols), compile_program([difference(relation)], tuple(symbols.values()))


def _where(numerator: list[Fraction], denominator: list[Fraction], relation: Relational) -> Ranges:
    """Return the set on which numerator/denominator is > 0, >= 0 or = 0, as the relation says.

    Signs are computed between the roots of numerator · denominator. The enclosures of irrational roots are omitted.
    """
    strict = isinstance(relation, STRICT)
    above, below = (flint.fmpq_poly([flint_rational(c) for c in part]) for part in (numerator, denominator))
    if below == 0:
        return ()
    if above == 0:
        return () if strict else _without(real_roots(below))
    product = above * below
    roots = real_roots(product)
    rational = [(r, flint_rational(r)) for r, s in roots if r == s]
    zeros = [Range(r, r) for r, point in rational if above(point) == 0 and below(point) != 0]
    if isinstance(relation, sp.Eq):
        return tuple(zeros)
    positive = [r for r in _without(roots) if product(flint_rational(_between(r.low, r.high))) > 0]
    return tuple(positive) if strict else _closed(positive, zeros)


def _closed(intervals: list[Range], zeros: list[Range]) -> Ranges:
    """Return open intervals and zeros as one union: a zero closes an interval, joins two, or is an isolated point."""
    joined: list[Range] = []
    for part in sorted([*intervals, *zeros], key=lambda r: (r.low is not None, r.low, r.low_open)):
        last = joined[-1] if joined else None
        if last and part.low == last.high and not (last.high_open and part.low_open):
            joined[-1] = Range(last.low, part.high, last.low_open, part.high_open)
        else:
            joined.append(part)
    return tuple(joined)


def _without(roots: list[tuple[Fraction, Fraction]]) -> Ranges:
    """Return the open intervals of the real line between the enclosures of roots."""
    ends: list[Fraction | None] = [None, *(end for root in roots for end in root), None]
    return tuple(Range(low, high, True, True) for low, high in zip(ends[::2], ends[1::2], strict=True))


def real_roots(polynomial: Any) -> list[tuple[Fraction, Fraction]]:
    """Return the real roots in order, each as (r, r) when it is rational, else as the ends of an enclosure.

    `polynomial` is a `flint.fmpq_poly` other than 0. Raises UndecidedError if enclosures are not disjoint.
    """
    _, factors = polynomial.numer().factor()
    for bits in _ROOT_BITS:
        roots = []
        for factor, _ in factors:
            if factor.degree() == 1:
                root = Fraction(-int(factor[0]), int(factor[1]))
                roots.append((root, root))
            elif factor.degree() > 1:
                with balls(bits):
                    # FLINT gives real roots the imaginary part 0, and other roots an enclosure that excludes 0.
                    real = [enclosure_of_ball(r.real) for r, _ in factor.complex_roots() if r.imag == 0]
                roots += [(Fraction(r.lower), Fraction(r.upper)) for r in real]  # type: ignore[arg-type]
        roots.sort()
        if all(one[1] < other[0] for one, other in pairwise(roots)):
            return roots
    raise UndecidedError("roots that lie too close together")


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _bracketed(holds: Callable[[Fraction], bool], within: Range) -> Iterable[Range]:
    """Yield the parts of `within` on which the relation seems to hold, with ends at which it holds."""
    probes = _probe_points(within)
    known = [(probe, holds(probe)) for probe in probes]
    start = probes[0] if known[0][1] else None
    for (probe, kept), (following, kept_after) in pairwise(known):
        if start is not None and not kept_after:
            yield Range(start, _last(holds, probe, following))
            start = None
        elif kept_after and not kept:
            start = _last(holds, following, probe)
    if start is not None:
        yield Range(start, probes[-1])


def _probe_points(within: Range) -> list[Fraction]:
    if within.low is not None and within.high is not None:
        width = within.high - within.low
        inner = {within.low + width * Fraction(k, _PROBES) for k in range(1, _PROBES)}
        inner |= {within.low + width / 2**k for k in range(6, 41)} | {within.high - width / 2**k for k in range(6, 41)}
        steps = [Fraction(2) ** k for k in range(_PROBES) if 2**k < width]
        inner |= {within.low + step for step in steps} | {within.high - step for step in steps}
    elif within.low is not None:
        inner = {within.low + Fraction(2) ** k for k in range(-40, _PROBES + 1)}
    elif within.high is not None:
        inner = {within.high - Fraction(2) ** k for k in range(-40, _PROBES + 1)}
    else:
        inner = {sign * Fraction(2) ** k for k in range(-40, _PROBES + 1) for sign in (1, -1)} | {Fraction(0)}
    ends = ((within.low, within.low_open), (within.high, within.high_open))
    return sorted(inner.union(end for end, is_open in ends if end is not None and not is_open))


def _last(holds: Callable[[Fraction], bool], inside: Fraction, outside: Fraction) -> Fraction:
    """Return, by bisection, a value at which the relation holds, close to one at which it does not."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
