"""Searches for the values at which violations begin: from a violation towards its hypothesis, or past a shown range.

Each step checks one clause under the other hypotheses. A range is called clear if no violation was found at the points
checked; this is not a proof.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import sympy as sp

from verify.checking.check import check
from verify.checking.theorem import WITHOUT, Theorem
from verify.errors import InputError, NoInstanceError, UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import Range, Ranges, domain_of, meet, solvable
from verify.evaluation.instances import evaluate_hypothesis
from verify.evaluation.values import evaluate_rising, symbols_by_name
from verify.language.parameters import Parameter, Value, simplest_between
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import (
    CheckResult,
    Enclosure,
    HypothesisResult,
    Outcome,
    Quantity,
    Trust,
    is_shortened,
    json_numbers,
)
from verify.search.explore import explore
from verify.search.limits import NECESSITY
from verify.search.results import NOTHING_LEFT, ExtendedRange
from verify.search.sharpness import least
from verify.search.simplify import Instance

_OPPOSITE = {"LessThan": sp.Gt, "StrictLessThan": sp.Ge, "GreaterThan": sp.Lt, "StrictGreaterThan": sp.Le}


@dataclass(frozen=True)
class Threshold:
    """The values of one parameter between which violations begin; the other parameters are as at the witness.

    The hypothesis holds up to `end`. At `violated` the clause is refuted. `clear` is the value nearest to `violated` at
    which a check did not refute the clause, and `clear_outcome` is the outcome there. Both are None if no such value
    was found past the end.
    """

    parameter: str
    end: Fraction | int
    clear: Fraction | int | None
    clear_outcome: str | None
    violated: Fraction | int

    def to_json(self) -> dict[str, object]:
        """Return the threshold as an object of `verify necessity --json`."""
        numbers = {"end": self.end, "clear": self.clear, "violated": self.violated}
        return {"parameter": self.parameter, "clear_outcome": self.clear_outcome, **json_numbers(numbers)}


@dataclass(frozen=True)
class Relaxed:
    """The hypothesis small <= large, relaxed to small <= factor · large, over all instances with large > 0.

    A violation was found at the factor `violated`. A search past the hypothesis, up to the factor `clear`, found no
    violation, and `examples` instances at which the clause is known to hold. Without such a search, `clear` is 1 and
    `examples` is 0.
    """

    clear: Quantity
    violated: Quantity
    examples: int

    def to_json(self) -> dict[str, object]:
        """Return the relaxed hypothesis as an object of `verify necessity --json`."""
        return {**json_numbers({"clear": self.clear, "violated": self.violated}), "examples": self.examples}


def checked(theorem: Theorem, instance: Mapping[str, Value], seconds: float) -> CheckResult:
    """Check a theorem at an instance within `seconds`, and return the result.

    Raises InputError for a bad instance, and KeyboardInterrupt if the check was interrupted.
    """
    result = check(theorem, instance, seconds=seconds)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def ends(statement: Statement, hypothesis: Hypothesis, instance: Mapping[str, Value]) -> Iterator[tuple[str, Fraction]]:
    """Yield each numeric parameter along which a hypothesis ends, with the end nearest to an instance."""
    used = set() if hypothesis.relation is None else symbols_by_name(hypothesis.relation).keys()
    for parameter in statement.parameters:
        if parameter.kind in ("integer", "rational") and parameter.name in used:
            end = _end(statement, hypothesis, parameter.name, instance)
            if end is not None:
                yield parameter.name, end


def _end(statement: Statement, hypothesis: Hypothesis, name: str, instance: Mapping[str, Value]) -> Fraction | None:
    names = frozenset(instance) - {name}
    parameter = next(p for p in statement.parameters if p.name == name)
    domain = domain_of(parameter)
    solved = solvable(statement.specialise(hypothesis, instance).relation, name, names)
    try:
        parts = solved.ranges({other: instance[other] for other in names}, domain)
    except (UndefinedError, UndecidedError, ZeroDivisionError):
        return None
    value = instance[name]
    assert isinstance(value, int | Fraction)
    # The lower end of the domain is not an end of the hypothesis.
    inner = [
        end for part in parts for end in (part.low if part.low != domain.low else None, part.high) if end is not None
    ]
    return min(inner, key=lambda end: abs(end - value), default=None)


def broken(hypothesis: Hypothesis) -> Hypothesis | None:
    """Return the negation of a hypothesis, or None if the hypothesis is not an inequality."""
    relation = hypothesis.relation
    if relation is None or isinstance(relation, sp.Eq):
        return None
    turned = _OPPOSITE[type(relation).__name__](*relation.args, evaluate=False)
    return Hypothesis(f"not {hypothesis.label}", turned)


def weakened_id(theorem_id: str, label: str) -> str:
    """Return the id of a theorem's variant without the hypothesis `label`."""
    return f"{theorem_id}{WITHOUT}{label}"


class Approach:
    """A search from a violation towards a hypothesis: the nearest violation so far, the thresholds and the factor."""

    def __init__(
        self,
        theorem: Theorem,
        statement: Statement,
        hypothesis: Hypothesis,
        label: str,
        violation: Instance,
        deadline: float,
    ) -> None:
        """Begin at a violation of the clause `label`; `statement` is the theorem's statement without the hypothesis."""
        clause = next(clause for clause in statement.clauses if clause.label == label)
        weakened = theorem.variant(statement.alone(clause))
        self.weakened = replace(weakened, id=weakened_id(theorem.id, hypothesis.label), values={})
        self.statement, self.hypothesis, self.deadline = theorem.statement, hypothesis, deadline
        self.witness, self.thresholds = violation, dict[str, Threshold]()
        self.relaxed: Relaxed | None = None
        self.inside: Instance | None = None
        """An instance that refutes the clause although the hypothesis holds: the clause fails under the hypothesis."""

    def run(self, seed: int) -> None:
        """Move the witness towards the hypothesis. Raises KeyboardInterrupt; the results so far are kept."""
        self._approach(seed)
        for name, value in self.witness.items():
            # A search also draws ends of ranges, such as roots to 150 digits. A shorter number may refute as well.
            if isinstance(value, Fraction) and is_shortened(value) and time.monotonic() < self.deadline:
                near = sorted((value * (1 - NECESSITY.nearby), value * (1 + NECESSITY.nearby)))
                shorter = {**self.witness, name: simplest_between(*near)}
                if not self._holds(shorter) and self._outcome(shorter) is Outcome.REFUTED:
                    self.witness = shorter

    def _approach(self, seed: int) -> None:
        self._along_each(self.witness)
        if (factor := self._factor(self.witness)) is None:
            return
        clear, examples = Fraction(1), 0
        for _ in range(NECESSITY.rounds):
            self.relaxed = Relaxed(clear, factor, examples)
            left = self.deadline - time.monotonic()
            if left <= 0 or _above(factor) < NECESSITY.tight * clear:
                return
            middle = Fraction(math.sqrt(float(clear) * float(_above(factor))))
            tried = simplest_between(middle * Fraction(99, 100), middle * Fraction(101, 100))
            try:
                result = explore(self._within(tried), {}, seconds=left / 2, seed=seed)
            except NoInstanceError:
                return
            if result.interrupted:
                raise KeyboardInterrupt
            nearer = None if result.counterexample is None else self._factor(result.counterexample)
            if nearer is not None and _above(nearer) < _above(factor):
                factor = nearer
                # If moving the witness is interrupted, the factor stays unknown.
                self.relaxed = None
                self._along_each(dict(result.counterexample or {}))
                moved = self._factor(self.witness)
                factor = moved if moved is not None and _above(moved) < _above(factor) else factor
                # A search up to `clear` that missed a violation does not count.
                clear, examples = (clear, examples) if clear < least(factor) else (Fraction(1), 0)
            elif result.counterexample is None and result.found_clean:
                clear, examples = tried, result.clean
            else:
                return
        self.relaxed = Relaxed(clear, factor, examples)

    def _along_each(self, witness: Instance) -> None:
        self.witness, self.thresholds = witness, {}
        for name, end in ends(self.statement, self.hypothesis, witness):
            # The end is computed again: the witness may have been moved along another parameter.
            nearest = _end(self.statement, self.hypothesis, name, self.witness) or end
            threshold = self.along(name, nearest, self.witness)
            if threshold.violated != self.witness[name]:
                self.thresholds = {}
            self.thresholds[name] = threshold
            self.witness = {**self.witness, name: threshold.violated}

    def along(self, name: str, end: Fraction, witness: Instance) -> Threshold:
        """Return the threshold of violations along a parameter, by bisection from `end` to the witness."""
        parameter = next(p for p in self.statement.parameters if p.name == name)
        whole = parameter.kind == "integer"
        violated, clear, said, low = Fraction(witness[name]), None, None, end  # type: ignore[arg-type]

        def exact(number: Fraction) -> Fraction | int:
            return int(number) if whole and number.denominator == 1 else number

        at_end = {**witness, name: exact(end)}
        if at_end[name] in parameter and self._holds(at_end) and self._outcome(at_end) is Outcome.REFUTED:
            self.inside = at_end
        for _ in range(NECESSITY.halvings):
            gap = violated - low
            if time.monotonic() > self.deadline:
                break
            if whole:
                middle: Fraction = Fraction(round(low + gap / 2))
                if middle in (low, violated):
                    break
            elif abs(gap) <= NECESSITY.close * max(abs(violated), abs(low)):
                break
            else:
                middle = simplest_between(*sorted((low + 2 * gap / 5, low + 3 * gap / 5)))
            outcome = self._outcome({**witness, name: exact(middle)})
            if outcome is Outcome.REFUTED:
                violated = middle
            else:
                low = clear = middle
                said = str(outcome)
        return Threshold(name, exact(end), None if clear is None else exact(clear), said, exact(violated))

    def certified(self, witness: Instance, seconds: float) -> tuple[CheckResult, HypothesisResult, bool]:
        """Return a check at a violation, the hypothesis's result there, and whether the refutation is certified.

        The check may take until the deadline, or `NECESSITY.certifying` · `seconds` if that is longer.
        """
        left = max(NECESSITY.certifying * seconds, self.deadline - time.monotonic())
        result = check(self.weakened, witness, seconds=left)
        sure = result.outcome is Outcome.REFUTED and all(clause.rechecked for clause in result.clauses)
        return result, self._held(witness), sure and result.scope_confirmed is True

    def _held(self, instance: Mapping[str, Value]) -> HypothesisResult:
        return evaluate_hypothesis(self.statement.specialise(self.hypothesis, instance), instance)

    def _holds(self, instance: Mapping[str, Value]) -> bool:
        return self._held(instance).holds is True

    def _outcome(self, instance: Mapping[str, Value]) -> Outcome:
        """Return the clause's outcome at an instance, under all other hypotheses."""
        try:
            left = max(self.deadline - time.monotonic(), NECESSITY.least_seconds)
            return checked(self.weakened, instance, min(NECESSITY.check_seconds, left)).outcome
        except InputError:
            # A value is outside its parameter's domain, or too large.
            return Outcome.OUT_OF_SCOPE

    def _factor(self, witness: Mapping[str, Value]) -> Quantity | None:
        """Return the ratio small/large for the hypothesis small <= large; None if it is <= 1, or a side is <= 0."""
        relation = self.statement.specialise(self.hypothesis, witness).relation
        if relation is None or isinstance(relation, sp.Eq):
            return None
        try:
            sides = [evaluate_rising(side, witness)[0] for side in (relation.lts, relation.gts)]
            if min(map(least, sides)) <= 0:
                return None
            factor = evaluate_rising(relation.lts / relation.gts, witness)[0]
        except (UndefinedError, UndecidedError):
            return None
        return factor if _above(factor) > 1 else None

    def _within(self, factor: Fraction) -> Theorem:
        """Return the weakened theorem where small <= large fails, but small <= factor · large and large > 0 hold."""
        relation = self.hypothesis.relation
        assert relation is not None
        large, past = sp.Rational(factor.numerator, factor.denominator) * relation.gts, broken(self.hypothesis)  # pyright: ignore[reportAttributeAccessIssue]
        kept = [past, Hypothesis("factor", sp.Le(relation.lts, large, evaluate=False))]  # pyright: ignore[reportAttributeAccessIssue]
        if relation.gts.free_symbols:  # pyright: ignore[reportAttributeAccessIssue]
            kept.append(Hypothesis("positive side", sp.Gt(relation.gts, 0, evaluate=False)))  # pyright: ignore[reportAttributeAccessIssue]
        statement = self.weakened.statement
        return self.weakened.variant(replace(statement, hypotheses=(*statement.hypotheses, *filter(None, kept))))


def _above(value: Quantity) -> Fraction:
    upper = value.upper if isinstance(value, Enclosure) else value
    assert upper is not None
    return Fraction(upper)


@dataclass(frozen=True)
class Ray:
    """The values of a parameter past the end of a hypothesis or of a shown range, with the end itself if `strict`.

    The values are also given as outward values, which grow away from the end: the parameter's value if `upward`, else
    its negative.
    """

    parameter: Parameter
    end: Fraction
    strict: bool
    upward: bool

    @property
    def start(self) -> Fraction:
        """The end, as an outward value."""
        return self.end if self.upward else -self.end

    def past(self, ranges: Ranges) -> tuple[Range, ...]:
        """Return the parts of `ranges` that are past the end, as ranges of outward values, in ascending order."""
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
        """Return the parameter's value at an outward value."""
        value = Fraction(outward if self.upward else -outward)
        return int(value) if self.parameter.kind == "integer" and value.denominator == 1 else value

    def covered(self, region: Ranges, domain: Ranges) -> tuple[Range | None, bool]:
        """Return the last part of a region before its first gap past the end, and whether it has no gap.

        A gap is a part of the domain past the end that is not in the region. The first result is None if a gap begins
        at the end, or if the domain has no value past the end.
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


def values_past(ray: Ray, left: Sequence[Range], given: Fraction | int | None) -> Iterator[Fraction | int]:
    """Yield values in the ranges `left` past an end, from near to far, with the value `given` if it is in them."""
    if not left:
        return
    start, first, last = ray.start, left[0].low, left[-1].high
    assert first is not None
    values = _doubled(ray, first)
    if last is not None:
        values.add(last)
        if ray.parameter.kind != "integer":
            values |= {last - (last - start) / 2**k for k in range(1, NECESSITY.closing)}
    known = None if given is None else Fraction(given if ray.upward else -given)
    if known is not None:
        # The given value replaces the values within 2 % of it.
        values = {value for value in values if abs(value - known) > abs(known) / 50} | {known}
    done: Fraction | None = None
    for value in sorted(values):
        if not any(value in part for part in left) or (value <= start and value not in (known, first)):
            continue
        exact = ray.parameter.kind == "integer" or value == known
        short: Fraction = value if exact else _rounded(value, start, done, left)
        if done is None or short > done:
            done = short
            yield ray.value(short)


def _doubled(ray: Ray, first: Fraction) -> set[Fraction]:
    """Return outward values spaced by powers of 2 from the end; for an integer, from the first value left."""
    start = ray.start
    if ray.parameter.kind == "integer":
        return {first + 2**k - 1 for k in range(NECESSITY.doublings)}
    if ray.end <= 0:
        return {start + Fraction(2) ** k for k in range(-NECESSITY.doublings // 2, NECESSITY.doublings // 2)}
    values = {start * Fraction(2) ** (k if ray.upward else -k) for k in range(1, NECESSITY.doublings + 1)}
    if not ray.upward:
        # The domain may extend to 0 and below.
        values |= {-start * (2**k - 1) for k in range(NECESSITY.doublings // 2)}
    return values


def _rounded(value: Fraction, start: Fraction, done: Fraction | None, left: Sequence[Range]) -> Fraction:
    """Return a number with few digits near `value` that is in `left` and past `start` and `done`, else `value`."""
    before = start if done is None else max(start, done)
    for near in (abs(value), value - before):
        short = simplest_between(value - near / 100, value + near / 100) if near > 0 else value
        if short > before and any(short in part for part in left):
            return Fraction(short)
    return value


@dataclass
class Attempts:
    """The values at which a search has looked for a violation so far, and the reason for its end.

    `verified` are the values with certified claims, and `trusts` the trusts of these claims. The reason is `failing`,
    the other hypotheses that fail, or `refused`, an error; `ended` says that all values were tried up to the domain's
    end.
    """

    values: list[Fraction | int] = field(default_factory=list)
    verified: list[Fraction | int] = field(default_factory=list)
    trusts: set[Trust] = field(default_factory=set)
    failing: str = ""
    refused: str = ""
    ended: bool = False

    def noted(self, shown: ExtendedRange, left: Sequence[Range], seconds: float) -> ExtendedRange:
        """Return the shown range with these attempts and a description of the open part."""
        count = len(self.values)
        if not count:
            why = f" where {self.failing}" if self.failing else f": {self.refused}" if self.refused else ""
            return replace(shown, further=f"open beyond: no violation is looked for{why}")
        further = f"further out {self.failing}" if self.failing else "open beyond"
        further = f"further out nothing is checked: {self.refused}" if self.refused else further
        if self.ended:
            # If every integer in `left` has been tried, nothing between the values is open.
            size = left[0].high - left[0].low + 1 if len(left) == 1 and left[0].high is not None else None  # pyright: ignore[reportOperatorIssue]
            all_tried = all(isinstance(value, int) for value in self.values) and size == count
            further = NOTHING_LEFT if all_tried else f"the range between these values is open, {NOTHING_LEFT}"
        effort = f"{count} instance{'s' * (count != 1)}, {seconds:.1f} s"
        verified = tuple(self.verified)
        trusts = tuple(sorted(self.trusts))
        return replace(shown, looked=True, verified_at=verified, effort=effort, further=further, verified_trusts=trusts)
