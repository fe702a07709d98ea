"""How far a theorem's claims hold beyond a hypothesis, at an instance: what is shown, what is refuted, what is open.

Shown: other theorems conclude the claims there, by inferences of `Theorem.beyond`, whose hypotheses are solved exactly.
Refuted: a violation that the re-checker accepts, with the other parameters as given. Neither says more than what
carries it, and what is open between the two is said.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from verify.checking.argument import Inference, theorem_of
from verify.checking.check import check
from verify.checking.loading import load_theorem
from verify.checking.standing import argued_without, carried_beyond
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.evaluation.admissible_ranges import Range, Ranges, meet, solvable
from verify.evaluation.instances import check_domain, completed, evaluate_hypothesis
from verify.evaluation.iteration import Progress
from verify.language.parameters import Instance, Parameter, Value, parse_instance, simplest_between
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import Carried, Evidence, ForAll, Outcome, json_numbers, short_text, times_text
from verify.search.instance_strategies import domain_of
from verify.search.narrowing import without
from verify.search.thresholds import CHECK_SECONDS, Approach, checked
from verify.shown import Result

SECONDS = 60
"""To look for a violation, for each hypothesis, where no other time is given."""
_DOUBLINGS = 24
"""Values that are tried outwards, each twice as far as the one before, relative to where the hypothesis ends."""
_CERTIFYING = 0.4
"""The part of the time that there is, if need be after it, to certify what was found."""


@dataclass(frozen=True)
class Reach:
    """How far the claims hold beyond one hypothesis, along one of its parameters, the others as given.

    Parameters
    ----------
    hypothesis, statement
        Its label, and what it says.
    parameter, relation, end
        Along what, `<=`, `<`, `>=` or `>`, and where it ends at the instance; None where that cannot be told.
    given
        The parameter's own value at the instance, where it has one.
    carried, by
        What carries the claims beyond the end, and the theorems that show them; None where nothing does.
    shown_to, shown_open
        How far: None for without limit; whether the value itself is left out.
    supposing
        Other hypotheses that this rests on, and of which the instance does not tell whether they hold.
    verified_at
        Values past that at which all claims were certified, with the other hypotheses.
    clause, violated
        The claim that is refuted, certified, and at which value nearest to the end; None where none was found.
    looked
        Whether a violation was looked for; `effort` says how, where none was found.
    why
        Why the end, or what is beyond it, is not known.
    certificate
        Of the violation, for `verify recheck`.
    """

    hypothesis: str
    statement: str
    parameter: str | None = None
    relation: str = ""
    end: Fraction | int | None = None
    given: Fraction | int | None = None
    carried: Carried | None = None
    by: tuple[str, ...] = ()
    shown_to: Fraction | int | None = None
    shown_open: bool = False
    supposing: tuple[str, ...] = ()
    verified_at: tuple[Fraction | int, ...] = ()
    clause: str | None = None
    violated: Fraction | int | None = None
    looked: bool = False
    effort: str = ""
    why: str = ""
    certificate: Mapping[str, object] | None = field(default=None, repr=False)

    @property
    def unlimited(self) -> bool:
        """Whether the claims are shown as far as the parameter goes."""
        return self.carried is not None and self.shown_to is None

    def to_json(self) -> dict[str, object]:
        """Return it as an object of `verify necessity --json` and `verify conditions --json`."""
        numbers = {name: getattr(self, name) for name in ("end", "given", "shown_to", "violated")}
        numbers["verified_at"] = list(self.verified_at)
        return {
            **{name: getattr(self, name) for name in ("hypothesis", "statement", "parameter", "relation")},
            **json_numbers(numbers),
            "shown_open": self.shown_open,
            "unlimited": self.unlimited,
            "for_all_parameters": self.carried and self.carried.standing,
            "inferences_argued": len(self.carried.inferences) if self.carried else 0,
            "by": list(self.by),
            "supposing": list(self.supposing),
            **{name: getattr(self, name) for name in ("clause", "looked", "effort", "why")},
        }

    def text(self) -> str:
        """Return it in one line; ratios are to the end of the hypothesis."""
        if self.end is None:
            return f"{self.hypothesis}: {self.statement}; {self.why}"
        known = f"{self.hypothesis}: {self.parameter} {self.relation} {short_text(self.end)}"
        given = "" if self.given is None or self._ratio(self.given) == "" else f", given {self._shown(self.given)}"
        return "; ".join([known + given, *self._parts()])

    def _parts(self) -> Iterator[str]:
        if self.carried is not None:
            by = f" by {', '.join(self.by) or 'its own argument, which does not use it'}"
            how = f"{self.carried.standing}{by}{self.carried.text().removeprefix(self.carried.standing)}"
            how += (
                f", where {', '.join(self.supposing)} hold" + "s" * (len(self.supposing) == 1) if self.supposing else ""
            )
            below = (
                "below " if self.shown_open and self.relation in ("<=", "<") else "above " if self.shown_open else ""
            )
            far = "without limit" if self.shown_to is None else f"up to {below}{self._shown(self.shown_to)}"
            yield f"holds {far}, {how}"
            if self.shown_to is None:
                return
        elif self.why:
            yield self.why
        else:
            yield "nothing is proved beyond it"
        if self.verified_at:
            yield f"all claims certified at {', '.join(self._shown(value) for value in self.verified_at)}"
        if self.violated is not None:
            yield f"{self.clause} refuted at {self._shown(self.violated)}, certified"
            yield "open between" if not self.verified_at else "else open between"
        elif self.looked:
            yield f"no violation found ({self.effort}): open beyond"
        else:
            yield self.effort or "open beyond: `verify necessity` with all values looks for a violation"

    def _shown(self, value: Fraction | int) -> str:
        ratio = self._ratio(value)
        return f"{short_text(value)} ({ratio})" if ratio else short_text(value)

    def _ratio(self, value: Fraction | int) -> str:
        """Return how many times past the end a value is; nothing where it is not past it, or a sign forbids it."""
        assert self.end is not None
        upward = self.relation in ("<=", "<")
        if self.end <= 0 or value <= 0 or (value <= self.end if upward else value >= self.end):
            return ""
        ratio = Fraction(value) / self.end if upward else Fraction(self.end) / value
        return f"{times_text(ratio)} times" + ("" if upward else " below")


@dataclass(frozen=True, kw_only=True, repr=False)
class ReachResult(Result):
    """How far a theorem's claims hold beyond each parametric hypothesis, at an instance, which may be partial."""

    theorem: str
    statement_digest: str
    instance: Instance
    reaches: tuple[Reach, ...]
    seconds: float
    interrupted: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify necessity --json` with values, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "instance": json_numbers(self.instance),
            "reaches": [reach.to_json() for reach in self.reaches],
            "seconds": round(self.seconds, 3),
            "interrupted": self.interrupted,
        }


def reaches(theorem: Theorem, given: Mapping[str, Any]) -> tuple[Reach, ...]:
    """Return what is shown beyond each parametric hypothesis at a partial instance; no violation is looked for.

    Raises InputError for a value that is not understood or outside its domain.
    """
    instance = _instance(theorem.statement, given)
    parametric = (h for h in theorem.statement.hypotheses if h.relation is not None)
    return tuple(_shown(theorem, hypothesis, instance)[0] for hypothesis in parametric)


def reach(
    theorem: Theorem,
    given: Mapping[str, Any],
    *,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> ReachResult:
    """Return how far the claims hold beyond each parametric hypothesis, and the first violation that is found.

    Parameters
    ----------
    given
        Values of some parameters; a violation is looked for where no other one is missing.
    seconds
        Time to look, for each hypothesis; what was found is certified in what is left of it, or in 0.4 of it.
    progress
        Called with the number of instances tried.

    Raises
    ------
    InputError
        For an empty effort, and for a value that is not understood or outside its domain.
    """
    if not seconds > 0:
        raise InputError("seconds", seconds, "must be a number > 0")
    started, found, interrupted = time.monotonic(), list[Reach](), False
    instance = _instance(theorem.statement, given)
    for hypothesis in theorem.statement.hypotheses:
        if hypothesis.relation is None:
            continue
        shown, upward = _shown(theorem, hypothesis, instance)
        try:
            found.append(_with_violation(theorem, hypothesis, instance, shown, upward, seconds, progress))
        except KeyboardInterrupt:
            found.append(shown)
            interrupted = True
            break
    return ReachResult(
        theorem=theorem.id,
        statement_digest=theorem.statement.digest,
        instance=parse_instance(theorem.statement.parameters, given, partial=True),
        reaches=tuple(found),
        seconds=time.monotonic() - started,
        interrupted=interrupted,
    )


def _instance(statement: Statement, given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values with the paper's words and the defaults that they determine."""
    instance = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, instance)
    words = {parameter.name: parameter.words[0] for parameter in statement.parameters if parameter.words}
    try:
        return completed(statement, words | instance)
    except InputError:
        return words | instance


def _names(relation: sp.Basic) -> set[str]:
    return {symbol.name for symbol in relation.free_symbols}  # pyright: ignore[reportAttributeAccessIssue]


def _along(statement: Statement, hypothesis: Hypothesis, instance: Instance) -> list[Parameter]:
    """Return the numbers along which a hypothesis may end, that which stands alone on a side first, known others."""
    relation = hypothesis.relation
    assert relation is not None
    alone = {str(side) for side in relation.args if isinstance(side, sp.Symbol)}
    used = _names(relation)
    numbers = [p for p in statement.parameters if p.kind in ("integer", "rational") and p.name in used]
    known = [p for p in numbers if used - {p.name} <= instance.keys()]
    return sorted(known, key=lambda p: p.name not in alone)


def _shown(theorem: Theorem, hypothesis: Hypothesis, instance: Instance) -> tuple[Reach, bool]:
    """Return what is shown beyond a hypothesis, and whether outwards is upwards."""
    statement = theorem.statement
    plain = Reach(hypothesis.label, hypothesis.statement)
    numbers = _along(statement, hypothesis, instance)
    if not numbers:
        needed = sorted(_names(statement.expand(hypothesis.relation)) - instance.keys())  # pyright: ignore[reportArgumentType]
        return replace(plain, why=f"needs all but one of {', '.join(needed)}"), True
    for parameter in numbers:
        edge = _edge(statement, hypothesis, parameter, instance)
        if edge is not None:
            break
    else:
        return replace(plain, why="its end is not found exactly here"), True
    end, strict, upward = edge
    relation = ("<" if strict else "<=") if upward else (">" if strict else ">=")
    whole = _whole(parameter)
    value = instance.get(parameter.name)
    at = replace(plain, parameter=parameter.name, relation=relation, end=whole(end))
    at = replace(at, given=value if isinstance(value, int | Fraction) else None)
    others = {name: x for name, x in instance.items() if name != parameter.name}
    region, carried, by, why = _region(theorem, hypothesis, parameter, others)
    if carried is None:
        carried, supposing = _by_own_argument(theorem, hypothesis, instance)
        return replace(at, why=why, carried=carried, supposing=supposing), upward
    # The first value past the end is what has to be in it.
    after = end + (1 if upward else -1) if parameter.kind == "integer" else None
    for part in region if upward else map(_mirrored, region):
        start, first = (end, after) if upward else (-end, None if after is None else -after)
        begins = part.low is None or part.low < start or (first is not None and part.low <= first)
        begins = begins or (part.low == start and (not part.low_open or not strict))
        if begins and (part.high is None or part.high > start):
            far = None if part.high is None else whole(part.high if upward else -part.high)
            return replace(at, carried=carried, by=by, shown_to=far, shown_open=part.high_open), upward
    return at, upward


def _by_own_argument(
    theorem: Theorem, hypothesis: Hypothesis, instance: Instance
) -> tuple[Carried | None, tuple[str, ...]]:
    """Return what carries the claims by an argument that does not use a hypothesis, and which others are left open.

    None where one of the others fails, which the argument may use.
    """
    others = [h for h in theorem.statement.hypotheses if h.label != hypothesis.label]
    found = [evaluate_hypothesis(theorem.statement.specialise(other, instance), instance) for other in others]
    if not theorem.argument or any(other.holds is False for other in found):
        return None, ()
    open_ = tuple(other.label for other in found if other.holds is None)
    return argued_without(theorem, hypothesis.label, ()), open_


def _whole(parameter: Parameter) -> Any:
    """Return what makes an int of a number of an integer parameter where it is one."""
    return lambda x: int(x) if parameter.kind == "integer" and Fraction(x).denominator == 1 else x


def _mirrored(part: Range) -> Range:
    low, high = (None if end is None else -end for end in (part.high, part.low))
    return Range(low, high, part.high_open, part.low_open)


def _edge(
    statement: Statement, hypothesis: Hypothesis, parameter: Parameter, instance: Instance
) -> tuple[Fraction, bool, bool] | None:
    """Return where a hypothesis ends along a parameter, whether strictly, and whether outwards is upwards."""
    relation = statement.specialise(hypothesis, instance).relation
    others = {name: value for name, value in instance.items() if name != parameter.name}
    domain = domain_of(parameter)
    parts = solvable(relation, parameter.name, frozenset(others)).certified_ranges(others, domain)
    edges = [(part.high, part.high_open, True) for part in parts or () if part.high is not None]
    edges += [
        (part.low, part.low_open, False) for part in parts or () if part.low is not None and part.low != domain.low
    ]
    value = instance.get(parameter.name)
    place = Fraction(value) if isinstance(value, int | Fraction) else Fraction(0)
    return min(edges, key=lambda edge: abs(edge[0] - place), default=None)


def _region(
    theorem: Theorem, hypothesis: Hypothesis, parameter: Parameter, others: Instance
) -> tuple[Ranges, Carried | None, tuple[str, ...], str]:
    """Return where, along a parameter, inferences beyond the hypotheses conclude every claim, what carries it, by whom.

    None, and why, where a claim has none that does without the hypothesis, or is open.
    """
    region: Ranges = (domain_of(parameter),)
    carriers, by, why = list[Carried](), list[str](), ""
    for claim in theorem.statement.claims:
        reached: list[Range] = []
        for extension in theorem.beyond:
            if extension.label != claim.label or hypothesis.label in extension.uses:
                continue
            carried = carried_beyond(theorem, extension)
            if carried.standing is ForAll.OPEN:
                why = carried.why
                continue
            parts, why = _supposed(theorem, extension, parameter, others)
            if parts:
                reached += parts
                carriers.append(carried)
                by += [name for used in extension.uses if (name := theorem_of(used)) is not None]
        if not reached:
            return (), None, (), why
        region = meet(region, tuple(reached))
    return region, Carried.by_all(carriers), tuple(dict.fromkeys(by)), ""


def _supposed(theorem: Theorem, extension: Inference, parameter: Parameter, others: Instance) -> tuple[Ranges, str]:
    """Return where all holds that an inference beyond a theorem's hypotheses supposes, and why it is nowhere."""
    own = {h.label: h for h in theorem.statement.hypotheses if h.label in extension.uses}
    supposed: list[tuple[Statement, Hypothesis]] = [(theorem.statement, h) for h in own.values()]
    region: Ranges = (domain_of(parameter),)
    for name in dict.fromkeys(filter(None, map(theorem_of, extension.uses))):
        other = load_theorem(name).statement
        if why := _does_not_fit(other, theorem.statement, parameter, others):
            return (), f"{name}: {why}"
        for each in other.parameters:
            region = meet(region, (domain_of(each),)) if each.name == parameter.name else region
        for h in other.hypotheses:
            if h.relation is not None:
                supposed.append((other, h))
            elif h.label not in own or own[h.label].to_data() != h.to_data():
                return (), f"{name} supposes {h.label}, which is not supposed here"
        supposed += [(other, Hypothesis("domain", relation)) for relation in other.domain]
    for statement, each in supposed:
        kept = statement.specialise(each, others) if each.relation is not None else each
        if kept.relation is None or parameter.name not in _names(kept.relation):
            found = evaluate_hypothesis(kept, others)
            if found.needs:
                return (), f"needs {', '.join(found.needs)}"
            if found.holds is not True:
                return (), f"{each.label} of what would show more does not hold here"
        elif missing := sorted(_names(kept.relation) - others.keys() - {parameter.name}):
            return (), f"needs {', '.join(missing)}"
        else:
            solved = solvable(kept.relation, parameter.name, frozenset(others)).certified_ranges(others, region[0])
            region = meet(region, solved or ())
            if not region:
                return (), ""
    return tuple(part.integers() for part in region) if parameter.kind == "integer" else region, ""


def _does_not_fit(other: Statement, statement: Statement, parameter: Parameter, others: Instance) -> str:
    """Return why another statement is not about an instance, with the parameter whatever it is; nothing where it is."""
    own = {each.name: each for each in statement.parameters}
    for each in other.parameters:
        same = own.get(each.name)
        if same is None or (same.kind, same.words) != (each.kind, each.words):
            return f"its parameter {each.name} is none here"
        if each.name == parameter.name or (same.minimum, same.above) == (each.minimum, each.above):
            continue
        if each.name not in others:
            return f"needs {each.name}"
        if others[each.name] not in each:
            return f"{each.name} is outside its domain"
    return ""


def _with_violation(
    theorem: Theorem,
    hypothesis: Hypothesis,
    instance: Instance,
    shown: Reach,
    upward: bool,
    seconds: float,
    progress: Progress | None,
) -> Reach:
    """Return what is shown, with the violation that is nearest to it of those that are found."""
    if shown.end is None or shown.unlimited:
        return shown
    name = shown.parameter
    assert name is not None
    if missing := [p.name for p in theorem.statement.parameters if p.name not in instance and p.name != name]:
        return replace(shown, effort=f"open beyond: no violation is looked for without {', '.join(missing)}")
    weaker = without(theorem.statement, [hypothesis.label])
    variant = replace(theorem.variant(weaker.alone(*weaker.claims)), values={})
    deadline, tried, verified = time.monotonic() + seconds, 0, list[Fraction | int]()
    before = shown.end if shown.shown_to is None or shown.carried is None else shown.shown_to
    for value in _outwards(theorem.statement, name, shown, before, upward):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            result = checked(variant, {**instance, name: value}, min(CHECK_SECONDS, max(left / 4, 1.0), left))
        except InputError:
            # Outside a domain: there is nothing further out.
            break
        tried += 1
        if progress:
            progress(tried)
        if not result.in_scope:
            failing = " and ".join(h.label for h in result.hypotheses if not h.holds)
            return replace(shown, effort=f"open beyond: no violation is looked for where {failing} does not hold")
        refuted = [clause.label for clause in result.clauses if clause.outcome is Outcome.REFUTED]
        if refuted:
            nearest = Approach(theorem, weaker.alone(*weaker.claims), hypothesis, refuted[0], result.instance, deadline)
            threshold = nearest.along(name, Fraction(before), result.instance)
            found = replace(shown, looked=True, verified_at=tuple(verified))
            return _certified(theorem, hypothesis, found, nearest, threshold.violated, instance, seconds)
        if result.outcome is Outcome.VERIFIED and result.evidence in (Evidence.CERTIFIED, Evidence.PROVED):
            verified.append(value)
        before = value
    return replace(shown, looked=True, verified_at=tuple(verified), effort=f"{tried} instances, {seconds:g} s")


def _outwards(
    statement: Statement, name: str, shown: Reach, before: Fraction | int, upward: bool
) -> Iterable[Fraction | int]:
    """Yield values further and further out, first the given one, where it is past what is shown, and what is beside."""
    assert shown.end is not None
    parameter = next(p for p in statement.parameters if p.name == name)
    domain, sign = domain_of(parameter), 1 if upward else -1
    values = list[Fraction]()
    if parameter.kind == "integer":
        values += [Fraction(before) + sign * 2**k for k in range(_DOUBLINGS)]
        if not upward and domain.low is not None:
            values = [value for value in values if value > domain.low] + [domain.low]
    elif before > 0:
        values += [Fraction(before) * Fraction(2) ** (sign * k) for k in range(1, _DOUBLINGS + 1)]
    else:
        values += [Fraction(before) + sign * Fraction(2) ** k for k in range(-_DOUBLINGS // 2, _DOUBLINGS // 2)]
    if shown.given is not None and (shown.given - before) * sign > 0:
        values = sorted({*values, Fraction(shown.given)}, reverse=not upward)
    for value in values:
        if value in domain:
            short = simplest_between(*sorted((value * Fraction(99, 100), value * Fraction(101, 100))))
            yield int(value) if parameter.kind == "integer" else value if value == shown.given else short


def _certified(
    theorem: Theorem,
    hypothesis: Hypothesis,
    found: Reach,
    nearest: Approach,
    violated: Fraction | int,
    instance: Instance,
    seconds: float,
) -> Reach:
    """Return the reach with the violation, where it is certified; else with the effort."""
    from verify.checking.certificates import certificate

    assert found.parameter is not None
    witness = {**instance, found.parameter: violated}
    left = max(_CERTIFYING * seconds, nearest.deadline - time.monotonic())
    result = check(nearest.weakened, witness, seconds=left)
    past = evaluate_hypothesis(theorem.statement.specialise(hypothesis, witness), witness).holds is False
    sure = all(clause.rechecked for clause in result.clauses) and result.scope_confirmed
    if result.outcome is not Outcome.REFUTED or not sure or not past:
        return replace(found, effort=f"one at {short_text(violated)} is not certified")
    (clause,) = result.clauses
    return replace(found, clause=clause.label, violated=violated, certificate=certificate(nearest.weakened, result))
