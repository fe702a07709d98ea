"""From a violation towards the hypothesis that it breaks: the nearest one that is found, and where violations begin.

Each step is a check of the clause alone, under the other hypotheses. What is clear of violations is what was looked at,
and no proof.
"""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from verify.checking.check import check
from verify.checking.theorem import WITHOUT, Theorem
from verify.errors import InputError, NoInstanceError, UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import solvable
from verify.evaluation.instances import evaluate_hypothesis
from verify.evaluation.values import evaluate_rising
from verify.language.parameters import Value, simplest_between
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import CheckResult, Enclosure, Outcome, Quantity, is_shortened, json_numbers
from verify.search.explore import MOST_EXAMPLES, explore
from verify.search.plans import domain_of
from verify.search.sharpness import least
from verify.search.simplify import Instance

CHECK_SECONDS = 10
"""For one check on the way; what is not decided by then is no violation."""
_LEAST_SECONDS = 0.1
"""For a check that is begun when the time is over."""
_HALVINGS = 64
"""Of the way from the hypothesis's end to the violation, at most: two integer parameters are less than 2^61 apart."""
_CLOSE = Fraction(1, 100)
"""Relative distance up to which two rationals are not told apart: each halving takes a check."""
_NEARBY = Fraction(1, 10**6)
"""Relative distance at which a simpler one is looked for."""
_ROUNDS = 4
"""Searches at smaller factors, each in half of the time that is left."""
_TIGHT = 1.05
"""Two factors are told apart where their ratio exceeds this."""
_OPPOSITE = {"LessThan": sp.Gt, "StrictLessThan": sp.Ge, "GreaterThan": sp.Lt, "StrictGreaterThan": sp.Le}


@dataclass(frozen=True)
class Threshold:
    """How far past the hypothesis violations begin, along one parameter with the others as at the witness.

    At `end` the hypothesis ends. `clear` is the furthest value past it at which the clause was looked at and not
    refuted, with what it was found to be; None where the nearest violation is next to the end. At `violated` it is
    refuted, certified.
    """

    parameter: str
    end: Fraction | int
    clear: Fraction | int | None
    clear_outcome: str | None
    violated: Fraction | int

    def to_json(self) -> dict[str, object]:
        """Return it as an object of `verify necessity --json`."""
        numbers = {"end": self.end, "clear": self.clear, "violated": self.violated}
        return {"parameter": self.parameter, "clear_outcome": self.clear_outcome, **json_numbers(numbers)}


@dataclass(frozen=True)
class Relaxed:
    """The hypothesis small <= large, relaxed to small <= factor · large, over all instances where large > 0.

    At `violated` there is a certified violation; up to `clear` a search past the hypothesis found none, and so many
    `examples` at which the clause is known to hold (1 and 0: none was made below `violated`, or it missed that).
    """

    clear: Quantity
    violated: Quantity
    examples: int

    def to_json(self) -> dict[str, object]:
        """Return it as an object of `verify necessity --json`."""
        return {**json_numbers({"clear": self.clear, "violated": self.violated}), "examples": self.examples}


def checked(theorem: Theorem, instance: Mapping[str, Value], seconds: float) -> CheckResult:
    """Check at an instance, within so many seconds. Raises KeyboardInterrupt where interrupted, and InputError."""
    result = check(theorem, instance, seconds=seconds)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def ends(statement: Statement, hypothesis: Hypothesis, instance: Mapping[str, Value]) -> Iterator[tuple[str, Fraction]]:
    """Yield the numbers along which a hypothesis ends, and where, nearest to an instance."""
    used = set() if hypothesis.relation is None else {symbol.name for symbol in hypothesis.relation.free_symbols}  # type: ignore[attr-defined]
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
    # Where the domain begins the hypothesis does not end.
    inner = [
        end for part in parts for end in (part.low if part.low != domain.low else None, part.high) if end is not None
    ]
    return min(inner, key=lambda end: abs(end - value), default=None)


def broken(hypothesis: Hypothesis) -> Hypothesis | None:
    """Return the hypothesis that one fails, None where that is not an inequality."""
    relation = hypothesis.relation
    if relation is None or isinstance(relation, sp.Eq):
        return None
    turned = _OPPOSITE[type(relation).__name__](*relation.args, evaluate=False)
    return Hypothesis(f"not {hypothesis.label}", turned)


def weakened_id(theorem_id: str, label: str) -> str:
    """Return what a theorem without one of its hypotheses is called: its own id is that of its own statement."""
    return f"{theorem_id}{WITHOUT}{label}"


class Approach:
    """The way from a violation to the hypothesis: the nearest violation so far, where they begin, by what factor."""

    def __init__(
        self,
        theorem: Theorem,
        statement: Statement,
        hypothesis: Hypothesis,
        label: str,
        violation: Instance,
        deadline: float,
    ) -> None:
        """Begin at a violation of a clause by the statement without the hypothesis."""
        clause = next(clause for clause in statement.clauses if clause.label == label)
        weakened = theorem.variant(statement.alone(clause))
        self.weakened = replace(weakened, id=weakened_id(theorem.id, hypothesis.label), values={})
        self.statement, self.hypothesis, self.deadline = theorem.statement, hypothesis, deadline
        self.witness, self.thresholds = violation, dict[str, Threshold]()
        self.relaxed: Relaxed | None = None
        self.inside: Instance | None = None
        """Where the clause is refuted with the hypothesis, so that it is not this one that is missing."""

    def run(self, seed: int) -> None:
        """Move the witness towards the hypothesis. Raises KeyboardInterrupt; what was found stays."""
        self._approach(seed)
        for name, value in self.witness.items():
            # A search draws the ends of ranges as well, which may be roots to 150 digits: a simpler one may do.
            if isinstance(value, Fraction) and is_shortened(value) and time.monotonic() < self.deadline:
                near = sorted((value * (1 - _NEARBY), value * (1 + _NEARBY)))
                shorter = {**self.witness, name: simplest_between(*near)}
                if not self._holds(shorter) and self._outcome(shorter) is Outcome.REFUTED:
                    self.witness = shorter

    def _approach(self, seed: int) -> None:
        self._along_each(self.witness)
        if (factor := self._factor(self.witness)) is None:
            return
        clear, examples = Fraction(1), 0
        for _ in range(_ROUNDS):
            self.relaxed = Relaxed(clear, factor, examples)
            left = self.deadline - time.monotonic()
            if left <= 0 or _above(factor) < _TIGHT * clear:
                return
            middle = Fraction(math.sqrt(float(clear) * float(_above(factor))))
            tried = simplest_between(middle * Fraction(99, 100), middle * Fraction(101, 100))
            try:
                result = explore(self._within(tried), {}, seconds=left / 2, max_examples=MOST_EXAMPLES, seed=seed)
            except NoInstanceError:
                return
            if result.interrupted:
                raise KeyboardInterrupt
            nearer = None if result.counterexample is None else self._factor(result.counterexample)
            if nearer is not None and _above(nearer) < _above(factor):
                factor = nearer
                # Not known where the witness is moved and that does not end.
                self.relaxed = None
                self._along_each(dict(result.counterexample or {}))
                moved = self._factor(self.witness)
                factor = moved if moved is not None and _above(moved) < _above(factor) else factor
                # A violation below what was clear: the search had missed it.
                clear, examples = (clear, examples) if clear < least(factor) else (Fraction(1), 0)
            elif result.counterexample is None and result.found_clean:
                clear, examples = tried, result.clean
            else:
                return
        self.relaxed = Relaxed(clear, factor, examples)

    def _along_each(self, witness: Instance) -> None:
        self.witness, self.thresholds = witness, {}
        for name, end in ends(self.statement, self.hypothesis, witness):
            # At the witness as it now is: what was found along another parameter moved it.
            nearest = _end(self.statement, self.hypothesis, name, self.witness) or end
            threshold = self.along(name, nearest, self.witness)
            if threshold.violated != self.witness[name]:
                self.thresholds = {}
            self.thresholds[name] = threshold
            self.witness = {**self.witness, name: threshold.violated}

    def along(self, name: str, end: Fraction, witness: Instance) -> Threshold:
        """Return where violations begin along a parameter, between a value without one and the witness."""
        parameter = next(p for p in self.statement.parameters if p.name == name)
        whole = parameter.kind == "integer"
        violated, clear, said, low = Fraction(witness[name]), None, None, end  # type: ignore[arg-type]

        def exact(number: Fraction) -> Fraction | int:
            return int(number) if whole and number.denominator == 1 else number

        at_end = {**witness, name: exact(end)}
        if at_end[name] in parameter and self._holds(at_end) and self._outcome(at_end) is Outcome.REFUTED:
            self.inside = at_end
        for _ in range(_HALVINGS):
            gap = violated - low
            if time.monotonic() > self.deadline:
                break
            if whole:
                middle: Fraction = Fraction(round(low + gap / 2))
                if middle in (low, violated):
                    break
            elif abs(gap) <= _CLOSE * max(abs(violated), abs(low)):
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

    def _holds(self, instance: Mapping[str, Value]) -> bool:
        return evaluate_hypothesis(self.statement.specialise(self.hypothesis, instance), instance).holds is True

    def _outcome(self, instance: Mapping[str, Value]) -> Outcome:
        """Return what the clause is found to be where all other hypotheses hold."""
        try:
            left = max(self.deadline - time.monotonic(), _LEAST_SECONDS)
            return checked(self.weakened, instance, min(CHECK_SECONDS, left)).outcome
        except InputError:
            # Outside a parameter's domain, or too large.
            return Outcome.OUT_OF_SCOPE

    def _factor(self, witness: Mapping[str, Value]) -> Quantity | None:
        """Return by what factor the smaller side exceeds the larger one; None where one is not positive."""
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
        """Return the weakened theorem past the hypothesis, by a factor at most, where the larger side is positive."""
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
