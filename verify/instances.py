"""Hypothesis strategies for instances that satisfy given relations by construction, not by filtering.

The parameters are drawn one after the other. A relation bounds the last of its parameters, and is
solved for it at the values drawn before; an order is chosen in which no range comes out empty.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from verify.arithmetic import Exact, exact_fraction
from verify.compile import Program, compile_program
from verify.errors import TheoremError
from verify.parameters import LARGEST_INTEGER, Parameter, Value

_ORDERS, _TRIALS = 720, 40
_STRICT = (sp.StrictLessThan, sp.StrictGreaterThan)


@dataclass(frozen=True)
class Range:
    """An interval of admissible values; `None` is no bound, and integer ends are always included."""

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
        """Return the range of the integers in it."""
        low = None if self.low is None else self.low.__floor__() + 1 if self.low_open else self.low.__ceil__()
        high = None if self.high is None else self.high.__ceil__() - 1 if self.high_open else self.high.__floor__()
        return Range(None if low is None else Fraction(low), None if high is None else Fraction(high))

    @property
    def empty(self) -> bool:
        """Whether it contains nothing."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))


@dataclass(frozen=True)
class _Bound:
    """slope·p + constant > 0 (≥ 0 unless strict), both programs of the parameters drawn before p."""

    strict: bool
    names: tuple[str, ...]
    program: Program

    def range(self, drawn: Mapping[str, Value]) -> Range:
        exact = Exact()
        values = [exact.number(drawn[name]) for name in self.names]
        try:
            slope, constant = (exact_fraction(exact.checked(x)) for x in self.program.bind(exact)(*values))
        except ZeroDivisionError:
            return Range(Fraction(1), Fraction(0))
        if slope == 0:
            holds = constant > 0 or (constant == 0 and not self.strict)
            return Range(None, None) if holds else Range(Fraction(1), Fraction(0))
        root = -constant / slope
        return Range(root, None, self.strict) if slope > 0 else Range(None, root, high_open=self.strict)


@dataclass(frozen=True)
class Plan:
    """Parameters in the order in which they are drawn, with the bounds on each."""

    parameters: tuple[Parameter, ...]
    bounds: Mapping[str, tuple[_Bound, ...]]
    given: Mapping[str, Value]

    def range(self, parameter: Parameter, drawn: Mapping[str, Value]) -> Range:
        """Return the admissible range of a parameter at the values drawn before it."""
        low = parameter.minimum if parameter.minimum is not None else parameter.above
        found = Range(None if low is None else Fraction(low), None, low_open=parameter.minimum is None)
        for bound in self.bounds[parameter.name]:
            found = found.meet(bound.range(drawn))
        if parameter.kind == "integer":
            found = found.meet(Range(Fraction(-LARGEST_INTEGER), Fraction(LARGEST_INTEGER))).integers()
        return found

    def instances(self) -> st.SearchStrategy[dict[str, Value]]:
        """Return the strategy; values shrink towards the ends of their ranges and towards simple numbers."""

        @st.composite
        def draw_all(draw: Any) -> dict[str, Value]:
            drawn: dict[str, Value] = {}
            for parameter in self.parameters:
                name = parameter.name
                if name in self.given:
                    drawn[name] = self.given[name]
                elif parameter.kind == "word":
                    drawn[name] = draw(st.sampled_from(parameter.words))
                else:
                    drawn[name] = draw(values(self.range(parameter, drawn), integer=parameter.kind == "integer"))
            return drawn

        return draw_all()


def values(admissible: Range, *, integer: bool) -> st.SearchStrategy[Any]:
    """Return a strategy of one range: its ends, small and simple values near them, and extreme ratios."""
    if admissible.empty:
        return st.nothing()
    if integer:
        assert admissible.low is not None
        low, high = int(admissible.low), int(admissible.high or LARGEST_INTEGER)
        near = [st.integers(low, min(high, low + reach)) for reach in (3, 30, 1000, 10**6)]
        return st.one_of(*near, st.integers(max(low, high - 3), high)) if high < LARGEST_INTEGER else st.one_of(*near)
    low = admissible.low if admissible.low is not None else -(abs(admissible.high or Fraction(0)) + 1) * 2**20
    simple = st.builds(Fraction, st.integers(1, 32), st.integers(1, 16))
    if admissible.high is None:
        parts = [
            st.builds(lambda x: low + x, simple),
            st.builds(lambda k: low + Fraction(2) ** k, st.integers(-30, 30)),
        ]
    else:
        width = admissible.high - low
        parts = [
            st.builds(lambda k: low + width * Fraction(k, 16), st.integers(1, 15)),
            st.builds(lambda k: low + width / 2**k, st.integers(1, 40)),
            st.builds(lambda k: admissible.high - width / 2**k, st.integers(1, 40)),  # type: ignore[operator]
        ]
        if not admissible.high_open:
            parts.insert(0, st.just(admissible.high))
        if admissible.low is not None and not admissible.low_open:
            parts.insert(0, st.just(low))
    return st.one_of(*parts)


def plan(
    parameters: Sequence[Parameter], relations: Sequence[sp.core.relational.Relational], given: Mapping[str, Value]
) -> Plan:
    """Return a plan in which no drawn range was found empty; TheoremError when there is none.

    The parameters that are given come first.
    """
    free = [parameter for parameter in parameters if parameter.name not in given]
    fixed = [parameter for parameter in parameters if parameter.name in given]
    why = "no order of the parameters was found in which every relation can be met"
    for order in islice(permutations(free), _ORDERS):
        try:
            found = _bounded((*fixed, *order), relations, given)
        except TheoremError as error:
            why = str(error)
            continue
        if not any(_dead_end(found, random.Random(seed)) for seed in range(_TRIALS)):
            return found
    raise TheoremError(why)


def _bounded(
    order: Sequence[Parameter], relations: Sequence[sp.core.relational.Relational], given: Mapping[str, Value]
) -> Plan:
    bounds: dict[str, list[_Bound]] = {parameter.name: [] for parameter in order}
    for relation in relations:
        symbols = {symbol.name: symbol for symbol in relation.free_symbols}
        names = [parameter.name for parameter in order if parameter.name in symbols]
        if not names or names[-1] in given:
            continue
        *before, last = names
        bounds[last].append(_bound(relation, symbols, tuple(before), symbols[last]))
    return Plan(tuple(order), {name: tuple(found) for name, found in bounds.items()}, dict(given))


def _bound(relation: Any, symbols: Mapping[str, sp.Symbol], before: tuple[str, ...], last: sp.Symbol) -> _Bound:
    left, right = relation.args
    slack = right - left if isinstance(relation, sp.StrictLessThan | sp.LessThan) else left - right
    numerator, denominator = sp.fraction(sp.together(slack))
    polynomial = sp.Poly(numerator, last)
    if isinstance(relation, sp.Eq) or denominator.has(last) or polynomial.degree() > 1:
        raise TheoremError(f"{relation} cannot be solved for {last}: it is not affine in it")
    slope, constant = (polynomial.coeff_monomial(last**k) / denominator for k in (1, 0))
    program = compile_program([slope, constant], [symbols[name] for name in before])
    return _Bound(isinstance(relation, _STRICT), before, program)


def _dead_end(found: Plan, source: random.Random) -> bool:
    """Whether a random walk through the plan meets an empty range."""
    drawn: dict[str, Value] = dict(found.given)
    for parameter in found.parameters:
        if parameter.name in drawn:
            continue
        if parameter.kind == "word":
            drawn[parameter.name] = source.choice(parameter.words)
            continue
        admissible = found.range(parameter, drawn)
        if admissible.empty:
            return True
        drawn[parameter.name] = _random_value(admissible, source, integer=parameter.kind == "integer")
    return False


def _random_value(admissible: Range, source: random.Random, *, integer: bool) -> Value:
    reach = Fraction(source.choice((1, 10, 1000)))
    low = admissible.low if admissible.low is not None else (admissible.high or Fraction(0)) - reach
    high = admissible.high if admissible.high is not None else low + reach
    if integer:
        return source.randint(int(low), int(min(high, low + reach)))
    return low + (high - low) * Fraction(source.randint(1, 15), 16)
