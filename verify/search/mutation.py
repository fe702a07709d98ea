"""Mutants of a statement: one small change each, to see whether the toolkit refutes them.

A constant becomes one more, one less or twice itself; a relation is flipped; a hypothesis is dropped; two parameters
are swapped; or an index is shifted by one. A mutant is killed if it is refuted. It is equivalent if every clause of it
is proved for all parameters, by proofs that the re-checker accepts, so that there is nothing to refute. Otherwise it
survives. Mutants that are not statements are not counted.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice, zip_longest
from typing import Any, Literal

import sympy as sp

from verify.checking.check import check
from verify.checking.theorem import Theorem
from verify.claims.in_words import in_words
from verify.errors import InputError, NoInstanceError, TheoremError
from verify.language.expressions import Data, from_data, to_data
from verify.language.statement import ClauseData, Hypothesis, Statement, rewritten
from verify.outcomes import Evidence, Outcome, how_sure
from verify.printing import text_of
from verify.search.explore import explore
from verify.search.limits import MUTATION

Fate = Literal["killed", "equivalent", "survived"]
_FLIPPED = {"Le": "Ge", "Ge": "Le", "Lt": "Gt", "Gt": "Lt"}


@dataclass(frozen=True)
class Mutant:
    """A changed statement; `operator` names the change, `part` the changed part, `change` the old and new form."""

    operator: str
    part: str
    change: str
    statement: Statement

    @property
    def label(self) -> str:
        """The change, in one line."""
        return f"{self.part}: {self.operator}: {self.change}"


@dataclass(frozen=True)
class Tried:
    """The fate of a mutant, and the reason."""

    mutant: Mutant
    fate: Fate
    why: str


def mutants(statement: Statement) -> Iterator[Mutant]:
    """Yield the mutants of a statement, all different from it and from each other.

    A mutant with a changed clause has that clause alone, because the others are unchanged. Claims in words are left
    out.
    """
    statement = _evaluated(statement)
    yield from _built(statement, _changes(statement))


def sample(statement: Statement, most: int, seed: int) -> list[Mutant]:
    """Return at most `most` random mutants, taken from the operators in turn.

    The mutants of an operator come in turn from clauses and from the other parts of the statement.
    """
    statement = _evaluated(statement)
    claim = {clause.label for clause in statement.clauses}
    source, groups = random.Random(seed), dict[str, list[_Change]]()
    for change in _changes(statement):
        groups.setdefault(change[0], []).append(change)
    for name, group in groups.items():
        source.shuffle(group)
        parts = ([c for c in group if c[1] in claim], [c for c in group if c[1] not in claim])
        groups[name] = [change for pair in zip_longest(*parts) for change in pair if change is not None]
    # One mutant of each operator in turn; only the mutants that are taken are built.
    longest = max(map(len, groups.values()), default=0)
    in_turn = (group[i] for i in range(longest) for group in groups.values() if i < len(group))
    return list(islice(_built(statement, in_turn), most))


def _evaluated(statement: Statement) -> Statement:
    """Return the statement with all clauses that are not in words as claims, so that steps can be refuted, too."""
    said = in_words(statement)
    return statement.alone(*(clause for clause in statement.clauses if clause.label not in said))


def _built(statement: Statement, changes: "Iterable[_Change]") -> Iterator[Mutant]:
    seen = {statement.digest} | {statement.alone(clause).digest for clause in statement.clauses}
    for operator, part, change, build in changes:
        try:
            mutated = build()
        except (TheoremError, InputError, ZeroDivisionError, ValueError, TypeError):
            # The change gives no statement: equal sides, a relation that became True, or a division by 0.
            continue
        if mutated.digest not in seen:
            seen.add(mutated.digest)
            yield Mutant(operator, part, change, mutated)


def fate(
    theorem: Theorem,
    mutant: Mutant,
    *,
    seconds: float = MUTATION.seconds,
    max_examples: int = MUTATION.max_examples,
    seed: int = 0,
) -> Tried:
    """Check a mutant at the theorem's example within 30 seconds, then search for a counterexample; return its fate.

    `seconds` and `max_examples` limit the search. If the example is not in the mutant's domain, the mutant survives
    without a search.
    """
    variant = replace(theorem.variant(mutant.statement), values={})
    try:
        result = check(variant, theorem.example, seconds=MUTATION.check_seconds)
    except InputError as error:
        return Tried(mutant, "survived", f"the example does not fit it: {error}")
    if result.outcome is Outcome.REFUTED:
        return Tried(mutant, "killed", "refuted at the example")
    open_ = [c.label for c in result.clauses if not (c.holds and c.evidence is Evidence.PROVED)]
    if not open_:
        trusts = sorted({trust for clause in result.clauses for trust in clause.trusts})
        return Tried(mutant, "equivalent", how_sure("proved for all parameters", trusts))
    # Only the clauses that are not proved are searched.
    clauses = tuple(clause for clause in mutant.statement.clauses if clause.label in open_)
    searched = variant.variant(mutant.statement.alone(*clauses))
    try:
        result = explore(searched, {}, seconds=seconds, max_examples=max_examples, seed=seed)
    except (NoInstanceError, InputError) as error:
        return Tried(mutant, "survived", f"not searched: {error}")
    if result.counterexample is not None:
        return Tried(mutant, "killed", f"refuted by instance {result.needed}")
    return Tried(mutant, "survived", f"not refuted in {result.examples} instances")


_Change = tuple[str, str, str, Callable[[], Statement]]
_Part = ClauseData | Hypothesis | sp.Basic


def _changes(statement: Statement) -> Iterator[_Change]:
    for hypothesis in statement.hypotheses:
        if hypothesis.relation is not None or hypothesis.varies is not None:
            kept = tuple(h for h in statement.hypotheses if h is not hypothesis)
            yield "hypothesis dropped", hypothesis.label, "left out", lambda k=kept: replace(statement, hypotheses=k)
    named: list[tuple[str, _Part]] = [(h.label, h) for h in statement.hypotheses]
    named += [(str(name), value) for name, value in statement.definitions.items()]
    named += [(clause.label, clause) for clause in statement.clauses]
    for label, part in named:
        for operator, change, changed in _of_part(part, statement):
            yield operator, label, change, lambda at=label, c=changed: _with_part(statement, at, c())


def _with_part(statement: Statement, label: str, part: _Part) -> Statement:
    """Return the statement with the hypothesis or definition `label` replaced by `part`, or with the clause alone."""
    if isinstance(part, Hypothesis):
        return replace(statement, hypotheses=tuple(part if h.label == label else h for h in statement.hypotheses))
    if isinstance(part, sp.Basic):
        definitions = {name: part if str(name) == label else value for name, value in statement.definitions.items()}
        return replace(statement, definitions=definitions)
    return statement.alone(part)


def _of_part(part: _Part, statement: Statement) -> Iterator[tuple[str, str, Callable[[], _Part]]]:
    """Yield the changes of a clause, hypothesis or expression: the operator, the old and new form, and a builder."""
    expressions: list[sp.Basic] = []
    bound = set() if isinstance(part, Hypothesis | sp.Basic) else part.bound_names()
    rewritten(part, lambda expression: (expressions.append(expression), expression)[1])
    for place, expression in enumerate(expressions):
        try:
            data = to_data(expression)
        except TheoremError:
            continue
        if isinstance(expression, sp.Symbol) and expression.name in bound:
            # A bound name, such as a running index, is not changed.
            continue
        for leaf, with_leaf in _leaves(data):
            for operator, value in _of_leaf(leaf):
                change = f"{_shown(leaf)} -> {_shown(value)}"
                yield operator, change, lambda e=place, w=with_leaf, v=value: _replaced(part, e, w(v))
        if isinstance(data, list) and data[0] in _FLIPPED:
            turned = [_FLIPPED[data[0]], *data[1:]]
            yield "relation flipped", data[0], lambda e=place, d=turned: _replaced(part, e, d)
    if not isinstance(part, Hypothesis | sp.Basic):
        numbers = {s for s in statement.symbols() if s.name in {p.name for p in statement.parameters if not p.words}}
        used = set().union(*(expression.free_symbols for expression in expressions)) if expressions else set()
        for one, other in combinations(sorted(used & numbers, key=str), 2):
            both = {one: other, other: one}
            yield (
                "parameters swapped",
                f"{one}, {other}",
                lambda both=both: _checked(rewritten(part, lambda e: e.xreplace(both))),
            )


def _replaced(part: _Part, place: int, data: Data) -> _Part:
    """Return a part with its expression number `place` replaced."""
    count = -1

    def change(expression: sp.Basic) -> sp.Basic:
        nonlocal count
        count += 1
        return from_data(data) if count == place else expression

    return _checked(rewritten(part, change))


def _checked(part: Any) -> _Part:
    """Return a part after its own checks, which rewriting skips, and without the printed text of the old part."""
    if isinstance(part, sp.Basic):
        return part
    if hasattr(part, "says"):
        return replace(part, says="")
    return replace(part, text="") if getattr(part, "relation", None) is not None else replace(part)


def _of_leaf(leaf: Data) -> Iterator[tuple[str, Data]]:
    match leaf:
        case ["Integer" | "Rational", str(text)]:
            value = Fraction(text)
            for operator, changed in (("one more", value + 1), ("one less", value - 1), ("twice", 2 * value)):
                if changed != value:
                    yield f"constant {operator}", to_data(sp.Rational(changed.numerator, changed.denominator))
        case ["Symbol", str(), *assumptions] if "integer" in assumptions:
            yield "index shifted", ["Add", ["Integer", "1"], leaf]


def _leaves(data: Data) -> Iterator[tuple[Data, Callable[[Data], Data]]]:
    """Yield each number and symbol of an expression, with a function that puts another in its place."""
    if data[0] in ("Integer", "Rational", "Symbol"):
        yield data, lambda other: other
        return
    for i, part in enumerate(data):
        if isinstance(part, list):
            for leaf, with_leaf in _leaves(part):
                yield leaf, lambda other, i=i, inner=with_leaf: [*data[:i], inner(other), *data[i + 1 :]]


def _shown(data: Data) -> str:
    return text_of(from_data(data))
