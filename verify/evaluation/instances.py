"""Instances: parsing, completion by defaults, hypotheses at an instance, and admissible ranges of other parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import sympy as sp
from sympy.core.relational import Relational

from verify.errors import BeyondReachError, InputError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.values import Values, evaluate_rising, holds, scan_values, symbols_by_name
from verify.language.definedness import rebuilt, substituted, taken_apart
from verify.language.expressions import decided, difference, enclosed_applications
from verify.language.parameters import LONGEST_NUMBER, Instance, Parameter, Value, parse_instance
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import Enclosure, HypothesisResult, Outcome, digit_count, json_numbers, scope, times_text
from verify.printing import text_of
from verify.shown import Result

_DIGITS = 6
"""Number of digits of the sides of a hypothesis that fails, from which the distance past its limit is computed."""
_JUST_PAST = Fraction(201, 200)
"""Largest ratio to the limit that is reported as "just past the limit"."""


class Line(Protocol):
    """A line that is shown in addition to the conditions."""

    def text(self) -> str:
        """Return the line."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the line as a JSON object."""
        ...


@dataclass(frozen=True, repr=False)
class ConditionsResult(Result):
    """The hypotheses of a theorem at a partial instance, and the admissible ranges of the other parameters.

    `extended_ranges` has a line of `verify.search.extended_ranges` for each hypothesis beyond which the claims are
    known to hold, or for which a theorem that would show this cannot be read. `statement` is the theorem's statement,
    for the display.
    """

    theorem: str
    given: Instance
    hypotheses: tuple[HypothesisResult, ...]
    ranges: Mapping[str, str]
    extended_ranges: tuple[Line, ...] = ()
    statement: Statement | None = field(default=None, compare=False)

    @property
    def in_scope(self) -> bool | None:
        """Whether all hypotheses hold; None if none fails, but one lacks a parameter or is undecided."""
        return scope(self.hypotheses)

    @property
    def admissible(self) -> str:
        """The heading of the ranges, which names the hypotheses that fail whatever the missing parameters are."""
        failing = [h.label for h in self.hypotheses if h.status == "fails"]
        return f"admissible, if {' and '.join(failing)} held" if failing else "admissible"

    @property
    def exit_code(self) -> int:
        """The exit code: 0 in scope, 4 out of scope, 3 if the scope is not known."""
        outcomes = {True: Outcome.VERIFIED, False: Outcome.OUT_OF_SCOPE, None: Outcome.INCONCLUSIVE}
        return outcomes[self.in_scope].exit_code

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify conditions --json`, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "given": json_numbers(self.given),
            "hypotheses": [
                {"label": h.label, "kind": h.kind, "statement": h.statement, "status": h.status, "needs": list(h.needs)}
                | json_numbers({"slack": h.slack})
                for h in self.hypotheses
            ],
            "ranges": dict(self.ranges),
            "reaches": [line.to_json() for line in self.extended_ranges],
            "in_scope": self.in_scope,
        }


class Stated(Protocol):
    """An object with an id and a statement, such as a theorem."""

    @property
    def id(self) -> str:
        """The id."""
        ...

    @property
    def statement(self) -> Statement:
        """The statement."""
        ...


def parse(statement: Statement, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the complete instance with the given values.

    A missing word parameter takes its first word, which is the paper's. A missing parameter with a default takes the
    default. Raises InputError for a value that is missing, unknown or outside its domain, and for a default that has no
    rational value.
    """
    paper = {parameter.name: parameter.words[0] for parameter in statement.parameters if parameter.words}
    instance = parse_instance(statement.parameters, paper | dict(given), partial=True)
    if missing := [p.name for p in statement.parameters if p.default is None and p.name not in instance]:
        names = ", ".join(p.name for p in statement.parameters)
        raise InputError(", ".join(missing), "", f"missing; the parameters are {names}")
    check_domain(statement, instance)
    instance = completed(statement, instance)
    # A default must be in the domain as well.
    check_domain(statement, instance)
    return instance


def completed(statement: Statement, instance: Instance, *, scan: bool = False) -> dict[str, Value]:
    """Return an instance with the defaults of missing parameters, exact or, with `scan`, approximate.

    A default that needs a missing value is omitted. Raises InputError if a default has no rational value.
    """
    words = {parameter.name: parameter.words for parameter in statement.parameters if parameter.words}
    whole = dict(instance)
    for parameter in statement.parameters:
        if parameter.default is None or parameter.name in whole:
            continue
        if not {symbol.name for symbol in sp.sympify(parameter.default).free_symbols} <= whole.keys():  # pyright: ignore[reportAttributeAccessIssue]
            continue
        expression = decided(sp.sympify(parameter.default), words, whole)
        try:
            value = _scanned(expression, whole) if scan else evaluate_rising(expression, whole)[0]
        except (UndefinedError, UndecidedError) as error:
            raise InputError(parameter.name, "", f"missing, and it has no default here: {error}") from None
        if not isinstance(value, Fraction):
            raise InputError(
                parameter.name, "", f"missing, and it has no default here: {text_of(expression)} is not rational"
            )
        whole[parameter.name] = parameter.parse(value)
    return {parameter.name: whole[parameter.name] for parameter in statement.parameters if parameter.name in whole}


def _scanned(expression: sp.Expr, values: Instance) -> Fraction:
    """Return an expression's float64 value as a Fraction. Raises UndefinedError if it is not a finite real number."""
    try:
        return Fraction(scan_values((expression,), values)[0])
    except (ArithmeticError, ValueError, TypeError) as error:
        raise UndefinedError(str(error)) from None


def conditions(theorem: Stated, given: Mapping[str, object]) -> ConditionsResult:
    """Evaluate the hypotheses at a partial instance. Raises InputError for a value outside its domain."""
    statement = theorem.statement
    instance = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, instance)
    words = {parameter.name: parameter.words[0] for parameter in statement.parameters if parameter.words}
    try:
        known = completed(statement, words | instance)
    except InputError:
        # A default without a value is left out.
        known = words | instance
    check_domain(statement, known)
    statement = statement.specialised(known)
    results = tuple(with_past(h, evaluate_hypothesis(h, known), known) for h in statement.hypotheses)
    asked = [p for p in statement.parameters if p.name not in instance]
    ranges = {p.name: _range(statement, p, {n: x for n, x in known.items() if n != p.name}) for p in asked}
    return ConditionsResult(theorem.id, instance, results, ranges, statement=theorem.statement)


def check_domain(statement: Statement, instance: Instance) -> None:
    """Raise InputError if the given values break a relation of the domain, or do not decide it."""
    for relation in statement.domain:
        names = symbols_by_name(relation)
        if names.keys() <= instance.keys() and not _kept(relation, instance):
            name = min(relation.lhs.free_symbols or relation.free_symbols, key=str).name  # pyright: ignore[reportAttributeAccessIssue]
            others = ", ".join(f"{other} = {instance[other]}" for other in names if other != name)
            raise InputError(
                name, instance[name], f"must satisfy {text_of(relation)}" + (f" (here {others})" if others else "")
            )


def _kept(relation: Relational, instance: Instance) -> bool:
    """Whether a relation of the domain is decided to hold; False if a side has no value."""
    try:
        return holds(relation, evaluate_rising(Hypothesis("domain", relation).slack, instance, sign=True)[0]) is True
    except (UndefinedError, UndecidedError):
        return False


def hypothesis_result(hypothesis: Hypothesis, *, holds: bool | None, **more: Any) -> HypothesisResult:
    """Return a hypothesis's result; `holds` is None if it is unknown.

    `more` may have `assumed`, `slack`, `needs` and `detail`.
    """
    shown = {"label": hypothesis.label, "kind": hypothesis.kind, "statement": hypothesis.statement}
    return HypothesisResult(**shown, holds=holds, **more)


def evaluate_hypothesis(hypothesis: Hypothesis, instance: Values) -> HypothesisResult:
    """Return whether the hypothesis holds, with its slack.

    A structural hypothesis is assumed or, if a word parameter varies it, holds at the first word only. A relation that
    holds is also assumed at a word that only supposes it. A relation without a value does not hold. If a parameter is
    missing, or the sign of the slack is not decided, `holds` is None.
    """
    if hypothesis.relation is None:
        word = hypothesis.varies
        first = word is None or instance.get(word.name, word.words[0]) == word.words[0]
        return hypothesis_result(hypothesis, holds=first, assumed=word is None)
    needs = tuple(name for name in symbols_by_name(hypothesis.relation) if name not in instance)
    if needs:
        return hypothesis_result(hypothesis, holds=None, needs=needs)
    try:
        slack, _ = evaluate_rising(hypothesis.slack, instance, sign=True)
    except UndefinedError as error:
        return hypothesis_result(hypothesis, holds=False, detail=str(error))
    except (UndecidedError, BeyondReachError) as error:
        return hypothesis_result(hypothesis, holds=None, detail=f"undecided: {error}")
    kept = holds(hypothesis.relation, slack)
    if kept and hypothesis.supposed_at and instance.get(hypothesis.supposed_at[0]) == hypothesis.supposed_at[1]:
        return hypothesis_result(hypothesis, holds=True, assumed=True)
    return hypothesis_result(hypothesis, holds=kept, slack=slack, detail="undecided" if kept is None else "")


def with_past(hypothesis: Hypothesis, result: HypothesisResult, instance: Values) -> HypothesisResult:
    """Return the result with the distance past the limit, if an inequality fails and both its sides are positive."""
    relation = hypothesis.relation
    if result.holds is not False or relation is None or isinstance(relation, sp.Eq):
        return result
    sides: tuple[sp.Expr, sp.Expr] = relation.lts, relation.gts  # pyright: ignore[reportAttributeAccessIssue]
    try:
        small, large = (evaluate_rising(side, instance, digits=_DIGITS)[0] for side in sides)
    except (UndefinedError, UndecidedError, TheoremError):
        return result
    small, large = (side.midpoint if isinstance(side, Enclosure) else side for side in (small, large))
    if small is None or large is None or large <= 0 or small <= large:
        return result
    ratio = Fraction(small) / Fraction(large)
    if ratio <= _JUST_PAST:
        return replace(result, past="just past the limit")
    # A side that has to be large, such as d_e in d_e >= 150, is below its limit.
    below = _limited(relation) == relation.gts  # pyright: ignore[reportAttributeAccessIssue]
    return replace(
        result, past=f"1/{times_text(ratio)} of the limit" if below else f"{times_text(ratio)} times the limit"
    )


def _limited(relation: Relational) -> sp.Basic:
    """Return the limited side: the only side that is a symbol, or the only side with symbols, or the left side."""
    left, right = relation.lhs, relation.rhs
    for stands_out in (lambda side: isinstance(side, sp.Symbol), lambda side: bool(side.free_symbols)):
        if stands_out(left) != stands_out(right):
            return left if stands_out(left) else right
    return left


def _rational(value: Value) -> sp.Expr:
    return sp.Rational(value.numerator, value.denominator) if isinstance(value, int | Fraction) else sp.Symbol(value)


def _range(statement: Statement, parameter: Parameter, instance: Instance) -> str:
    """Return the admissible range of one parameter as text: solved if the others are known, else as relations."""
    if parameter.kind == "word":
        return "one of " + ", ".join(parameter.words)
    if parameter.kind == "rationals":
        return f"{parameter.name} {parameter.requirement}"
    unknown = sp.Symbol(parameter.name, real=True)
    low = parameter.lower
    start = -sp.oo if low is None else _rational(low)
    admissible: sp.Set = sp.Interval(start, sp.oo, left_open=parameter.minimum is None, right_open=True)
    open_relations = []
    relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
    for relation in relations:
        names = symbols_by_name(relation)
        if parameter.name not in names:
            continue
        values = {s: _rational(instance[n]) if n in instance else sp.Symbol(n, real=True) for n, s in names.items()}
        sides = [side.subs(values) for side in relation.args]  # pyright: ignore[reportCallIssue]
        lost = taken_apart(substituted(rebuilt(difference(relation)), values))[1]
        if any(side.has(sp.zoo, sp.nan) for side in sides):
            # A division by zero at the given values: the relation admits nothing.
            admissible = sp.S.EmptySet
        elif any(unknown in part.free_symbols for part in lost):
            # The relation does not hold where a part that cancels has no value: the unsolved relation is shown.
            open_relations.append(text_of(relation))
        elif len([n for n in names if n not in instance]) > 1:
            open_relations.append(_isolated(relation.func(*sides, evaluate=False), unknown))
        elif (solved := _solve(relation, _stricter_ends(relation, sides), unknown)) is None or _too_long(solved):
            open_relations.append(text_of(relation))
        else:
            admissible = admissible.intersect(solved)
    if parameter.kind == "integer":
        admissible = _integers(admissible)
    return " and ".join([_set_text(admissible, parameter), *open_relations])


def _stricter_ends(relation: Relational, sides: list[sp.Expr]) -> list[sp.Expr]:
    """Return the sides of an inequality, with the stricter end in place of a side that a primitive encloses."""
    smaller = 0 if isinstance(relation, sp.StrictLessThan | sp.LessThan) else 1
    evaluated = []
    for i, side in enumerate(sides):
        alone = bool(enclosed_applications(side)) and not side.free_symbols
        try:
            value = evaluate_rising(side, {})[0] if alone and not isinstance(relation, sp.Eq) else None
        except UndefinedError:
            value = None
        if isinstance(value, Enclosure):
            value = value.upper if i == smaller else value.lower
        evaluated.append(side if value is None else _rational(Fraction(value)))
    return evaluated


def _solve(relation: Relational, sides: list[sp.Expr], unknown: sp.Symbol) -> sp.Set | None:
    """Return the set on which a relation of two sides holds; None if SymPy does not find it."""
    try:
        decided = relation.func(*sides)
        if decided in (sp.true, sp.false):
            return sp.S.Reals if decided == sp.true else sp.S.EmptySet
        return sp.solve_univariate_inequality(decided, unknown, relational=False)
    except Exception:
        # SymPy's solvers raise any exception on a relation that they do not support: the unsolved relation is shown.
        return None


def _too_long(admissible: sp.Set) -> bool:
    """Whether a number in a set has more digits than a value may have; the unsolved relation is then shown."""
    return any(max(abs(number.p), number.q) >= LONGEST_NUMBER for number in admissible.atoms(sp.Rational))


def _isolated(relation: Any, unknown: sp.Symbol) -> str:
    """Return the relation's text; if the unknown alone is a side, this side is on the left."""
    turned = relation.reversed if relation.rhs == unknown else relation
    return f"{text_of(turned.lhs)} {turned.rel_op} {text_of(turned.rhs)}"


def _integers(admissible: sp.Set) -> sp.Set:
    parts = []
    for part in _parts(admissible):
        if isinstance(part, sp.Interval):
            low, high = part.start, part.end
            if low.is_finite:
                low = _floor(low) + 1 if part.left_open else -_floor(-low)  # pyright: ignore[reportOperatorIssue]
            if high.is_finite:
                high = -_floor(-high) - 1 if part.right_open else _floor(high)  # pyright: ignore[reportOperatorIssue]
            parts.append(sp.Interval(low, high))
        else:
            parts.append(sp.FiniteSet(*(point for point in part if point.is_integer)))
    return sp.Union(*parts)


def _floor(end: sp.Expr) -> sp.Expr:
    """Return the floor of an end; SymPy's own floor may give up on a root of many digits."""
    # Given numbers have at most 800 digits, so that a root is an integer or further than 10^-900 from any integer.
    return sp.floor(end if end.is_Rational else sp.N(end, 1800))


def _parts(admissible: sp.Set) -> list[Any]:
    return list(admissible.args) if isinstance(admissible, sp.Union) else [] if admissible.is_empty else [admissible]


def _set_text(admissible: sp.Set, parameter: Parameter) -> str:
    name = parameter.name
    texts = []
    for part in _parts(admissible):
        if isinstance(part, sp.Interval):
            low = f"{part.start} {'<' if part.left_open else '<='} " if part.start.is_finite else ""
            high = f" {'<' if part.right_open else '<='} {part.end}" if part.end.is_finite else ""
            texts.append(f"{low}{name}{high}" if low or high else f"any {name}")
        else:
            texts.append(" or ".join(f"{name} = {point}" for point in part))
    integer = ", integer" if parameter.kind == "integer" else ""
    return " or ".join(texts) + integer if texts else f"no value of {name}"


def simplicity(instance: Mapping[str, Value]) -> tuple[int, ...]:
    """Return a sort key that puts readable instances first.

    The key has the number of digits and minus signs, the sum of the absolute values of all numerators and denominators,
    and the sum of the denominators.
    """
    listed = [value if isinstance(value, tuple) else (value,) for value in instance.values()]
    numbers = [Fraction(number) for value in listed for number in value if not isinstance(number, str)]
    sizes = [size for number in numbers for size in (abs(number.numerator), number.denominator)]
    negative = sum(number < 0 for number in numbers)
    return (sum(map(digit_count, sizes)) + negative, sum(sizes), sum(number.denominator for number in numbers))
