"""Ranges of a theorem's claims beyond a hypothesis, at an instance: shown, refuted, and open.

A range is shown if other theorems conclude the claims there, by inferences of `Theorem.extensions` whose hypotheses are
solved exactly, or if the theorem's own argument does not use the hypothesis. A value is refuted if the re-checker
accepts a violation there, with the other parameters as given. The range between the two is reported as open.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp

from verify.budget import require_effort
from verify.checking.argument import Inference, theorem_of
from verify.checking.processes.location import Located, loaded, located_for_others
from verify.checking.standing import argued_without, established_by_extension
from verify.checking.theorem import Theorem, load_theorem
from verify.errors import InputError, UndecidedError
from verify.evaluation.admissible_ranges import Ranges, domain_of, meet, solvable
from verify.evaluation.instances import check_domain, completed, evaluate_hypothesis
from verify.evaluation.values import symbols_by_name
from verify.executor import gathered, workers
from verify.language.parameters import Instance, Parameter, Value, parse_instance
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import CheckResult, Established, Evidence, Outcome
from verify.search.limits import NECESSITY
from verify.search.narrowing import without
from verify.search.results import NOTHING_LEFT, ExtendedRange, ExtendedRanges
from verify.search.thresholds import Approach, Attempts, Ray, checked, values_past


def shown_ranges(theorem: Theorem, given: Mapping[str, Any]) -> tuple[ExtendedRange, ...]:
    """Return the ranges shown beyond each parametric hypothesis at a partial instance; no violation is looked for.

    Raises InputError for a value that cannot be parsed or is outside its domain.
    """
    instance = _instance(theorem.statement, given)
    parametric = (h for h in theorem.statement.hypotheses if h.relation is not None)
    return tuple(_Beyond(theorem, hypothesis, instance).shown() for hypothesis in parametric)


def extended_ranges(
    theorem: Theorem,
    given: Mapping[str, Any],
    *,
    seconds: float = NECESSITY.seconds,
    jobs: int = 1,
    scheduler: str | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> ExtendedRanges:
    """Return the range of the claims beyond each parametric hypothesis, and the nearest violation that is found.

    Parameters
    ----------
    given
        Values of some parameters. A violation is looked for along a parameter if all other parameters have values.
    seconds
        Seconds of search per hypothesis. Certifying a violation may take the time left, or 0.4 · `seconds` if that is
        longer.
    jobs, scheduler
        Number of local processes that search, or the address of a Dask scheduler whose workers do. Each process
        searches beyond one hypothesis at a time.
    tell
        Called as `tell(done, total)` with the progress, in hypotheses.

    Raises
    ------
    InputError
        If `seconds` is not positive, a value cannot be parsed or is outside its domain, the scheduler does not answer,
        or other processes cannot load the theorem.
    """
    require_effort(seconds=seconds)
    started = time.monotonic()
    instance = _instance(theorem.statement, given)
    parametric = [h.label for h in theorem.statement.hypotheses if h.relation is not None]
    with workers(jobs, scheduler) as others:
        beyond = partial(_beyond, located_for_others(theorem) if others else theorem)
        found, interrupted = gathered(others, beyond, [(label, instance, seconds) for label in parametric], tell)
    return ExtendedRanges(
        theorem=theorem.id,
        statement_digest=theorem.statement.digest,
        instance=parse_instance(theorem.statement.parameters, given, partial=True),
        extended_ranges=tuple(found),
        seconds=time.monotonic() - started,
        interrupted=interrupted,
    )


def _beyond(
    theorem: Theorem | Located, label: str, instance: dict[str, Value], seconds: float
) -> tuple[ExtendedRange, bool]:
    """Return the range of the claims beyond a hypothesis, and whether Ctrl-C ended the search for a violation."""
    made = loaded(theorem)
    beyond = _Beyond(made, next(h for h in made.statement.hypotheses if h.label == label), instance)
    shown = beyond.shown()
    try:
        return beyond.with_violation(shown, seconds), False
    except KeyboardInterrupt:
        return replace(shown, further="open beyond: the search was interrupted"), True


def _instance(statement: Statement, given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the given values with the paper's words and, if they can be computed, the defaults."""
    instance = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, instance)
    words = {parameter.name: parameter.words[0] for parameter in statement.parameters if parameter.words}
    try:
        return completed(statement, words | instance)
    except InputError:
        return words | instance


def _along(statement: Statement, hypothesis: Hypothesis, instance: Instance) -> list[Parameter]:
    """Return the numeric parameters of a hypothesis for which all its other parameters are known.

    A parameter that is alone on a side of the relation comes first.
    """
    relation = hypothesis.relation
    assert relation is not None
    alone = {str(side) for side in relation.args if isinstance(side, sp.Symbol)}
    used = symbols_by_name(relation).keys()
    numbers = [p for p in statement.parameters if p.kind in ("integer", "rational") and p.name in used]
    known = [p for p in numbers if used - {p.name} <= instance.keys()]
    return sorted(known, key=lambda p: p.name not in alone)


@dataclass(frozen=True)
class _Region:
    """The region along a parameter in which all claims are shown, with the theorems used, or why it is empty."""

    ranges: Ranges = ()
    established: Established | None = None
    by: tuple[str, ...] = ()
    supposing: tuple[str, ...] = ()
    why: str = ""
    unreadable: bool = False


@dataclass(frozen=True)
class _Supposed:
    """A condition, its statement, the name `by` of the part that needs it, and whether it belongs to a `domain`."""

    by: str
    statement: Statement
    hypothesis: Hypothesis
    domain: bool = False


@dataclass(frozen=True)
class _Beyond:
    """One hypothesis of a theorem at an instance, which may be partial."""

    theorem: Theorem
    hypothesis: Hypothesis
    instance: Instance

    def shown(self) -> ExtendedRange:
        """Return the range shown beyond the hypothesis; no violation is looked for."""
        statement, hypothesis = self.theorem.statement, self.hypothesis
        plain = ExtendedRange(hypothesis.label, hypothesis.statement)
        if isinstance(hypothesis.relation, sp.Eq):
            return replace(plain, why="is an equality")
        numbers = _along(statement, hypothesis, self.instance)
        if not numbers:
            needed = sorted(symbols_by_name(statement.expand(hypothesis.relation)).keys() - self.instance.keys())  # pyright: ignore[reportArgumentType]
            return replace(plain, why=f"needs all but one of {', '.join(needed)}")
        try:
            rays = (self._ray(parameter) for parameter in numbers)
            ray = next((ray for ray in rays if ray is not None), None)
        except UndecidedError as error:
            return replace(plain, why=f"its end at this instance is undecided: {error}")
        if ray is None:
            return replace(plain, why="its end at this instance is not found exactly")
        relation = ("<" if ray.strict else "<=") if ray.upward else (">" if ray.strict else ">=")
        end = ray.value(ray.start)
        at = replace(plain, parameter=ray.parameter.name, relation=relation, end=end)
        value = self.instance.get(ray.parameter.name)
        at = replace(at, given=value if isinstance(value, int | Fraction) else None)
        return self._shown_along(ray, at)

    def _ray(self, parameter: Parameter) -> Ray | None:
        """Return the ray outwards from the hypothesis's end along a parameter; None if no end is found exactly.

        Of several ends, the end nearest to the parameter's given value is taken, or the end nearest to 0 if no value is
        given. Raises UndecidedError.
        """
        relation = self.theorem.statement.specialise(self.hypothesis, self.instance).relation
        others = self._others(parameter)
        domain = domain_of(parameter)
        parts = solvable(relation, parameter.name, frozenset(others)).certified_ranges(others, domain)
        edges = [Ray(parameter, part.high, part.high_open, True) for part in parts or () if part.high is not None]
        edges += [
            Ray(parameter, part.low, part.low_open, False)
            for part in parts or ()
            if part.low is not None and part.low != domain.low
        ]
        value = self.instance.get(parameter.name)
        place = Fraction(value) if isinstance(value, int | Fraction) else Fraction(0)
        return min(edges, key=lambda ray: abs(ray.end - place), default=None)

    def _others(self, parameter: Parameter) -> Instance:
        return {name: x for name, x in self.instance.items() if name != parameter.name}

    def _domain(self, ray: Ray) -> tuple[Ranges | None, str]:
        """Return the theorem's domain along a parameter; None and the reason if it is not solved exactly."""
        statement = self.theorem.statement
        relations = (Hypothesis("domain", relation) for relation in statement.domain)
        supposed = [
            _Supposed("its domain", statement, each, domain=True)
            for each in relations
            if ray.parameter.name in symbols_by_name(each.relation)
        ]
        ranges, _, why = _where(supposed, ray.parameter, self._others(ray.parameter), (domain_of(ray.parameter),))
        return (None, why) if why else (ranges, "")

    def _shown_along(self, ray: Ray, at: ExtendedRange) -> ExtendedRange:
        domain, why = self._domain(ray)
        if domain is None:
            return replace(at, why=why)
        if not ray.past(domain):
            return replace(at, why=NOTHING_LEFT)
        best, furthest, regions = at, None, [self._by_inferences(ray), self._by_own_argument(ray)]
        for region in regions:
            far, whole = ray.covered(meet(region.ranges, domain), domain)
            if region.established is None or far is None:
                continue
            reached = (whole, far.high is None, far.high or 0, not far.high_open)
            if furthest is None or reached > furthest:
                furthest = reached
                to = None if far.high is None else ray.value(far.high)
                best = replace(
                    at, established=region.established, by=region.by, supposing=region.supposing, shown_to=to
                )
                best = replace(best, shown_open=far.high_open, domain_ends=whole and to is not None)
        if best.established is not None:
            return best
        whys = [region.why for region in regions if region.why]
        if any(ray.past(meet(region.ranges, domain)) for region in regions):
            whys.append("the range proved further out does not begin at its end")
        unreadable = any(region.unreadable for region in regions)
        return replace(at, why="; ".join(dict.fromkeys(whys)), unreadable=unreadable)

    def _by_own_argument(self, ray: Ray) -> _Region:
        """Return the region in which all other hypotheses hold, if the theorem's argument does not use the hypothesis.

        The region is empty if the argument uses the hypothesis, or if another hypothesis is not solved exactly.
        """
        theorem = self.theorem
        if not theorem.argument:
            return _Region()
        try:
            established = argued_without(theorem, self.hypothesis.label, {})
        except InputError as error:
            return _Region(why=str(error), unreadable=True)
        if established is None:
            return _Region()
        supposed = [
            _Supposed("its own argument", theorem.statement, h)
            for h in theorem.statement.hypotheses
            if h.label != self.hypothesis.label
        ]
        others = self._others(ray.parameter)
        ranges, open_, why = _where(supposed, ray.parameter, others, (domain_of(ray.parameter),), supposing=True)
        return _Region(why=why) if why else _Region(ranges, established, (), open_)

    def _by_inferences(self, ray: Ray) -> _Region:
        """Return the region in which inferences beyond the hypotheses conclude every claim.

        The region is empty, with the reason, if a claim has no such inference that is shown without the hypothesis.
        """
        region: Ranges = (domain_of(ray.parameter),)
        carriers, by, why, unreadable = list[Established](), list[str](), "", False
        for claim in self.theorem.statement.claims:
            shown = list[_Shown]()
            for extension in self.theorem.extensions:
                if extension.label != claim.label or self.hypothesis.label in extension.uses:
                    continue
                try:
                    established = established_by_extension(self.theorem, extension)
                    if not established.standing.is_shown:
                        why = established.why
                        continue
                    parts, why = self._supposed(extension, ray.parameter)
                except InputError as error:
                    why, unreadable = str(error), True
                    continue
                if parts:
                    shown.append(_Shown(parts, established, tuple(filter(None, map(theorem_of, extension.uses)))))
            if not shown:
                return _Region(why=why, unreadable=unreadable)
            needed = _needed(shown)
            region = meet(region, tuple(part for each in needed for part in each.parts))
            carriers += [each.established for each in needed]
            by += [name for each in needed for name in each.by]
        return _Region(region, Established.by_all(carriers, self.theorem.id), tuple(dict.fromkeys(by)))

    def _supposed(self, extension: Inference, parameter: Parameter) -> tuple[Ranges, str]:
        """Return the region in which all suppositions of an inference hold, and the reason if the region is empty."""
        statement, others = self.theorem.statement, self._others(parameter)
        own = {h.label: h for h in statement.hypotheses if h.label in extension.uses}
        names = list(dict.fromkeys(filter(None, map(theorem_of, extension.uses))))
        supposed = [_Supposed(names[0] if names else "", statement, h) for h in own.values()]
        region: Ranges = (domain_of(parameter),)
        for name in names:
            other = load_theorem(name).statement
            if why := _does_not_fit(other, statement, parameter, others):
                return (), f"{name}: {why}"
            for each in other.parameters:
                region = meet(region, (domain_of(each),)) if each.name == parameter.name else region
            for h in other.hypotheses:
                if h.relation is not None:
                    supposed.append(_Supposed(name, other, h))
                elif h.label not in own or own[h.label].to_data() != h.to_data():
                    return (), f"{name} supposes {h.label}, which is not supposed here"
            domain = (Hypothesis("domain", relation) for relation in other.domain)
            supposed += [_Supposed(name, other, each, domain=True) for each in domain]
        ranges, _, why = _where(supposed, parameter, others, region)
        return ranges, why

    def with_violation(self, shown: ExtendedRange, seconds: float) -> ExtendedRange:
        """Return the shown range, with the nearest violation that is found."""
        if shown.end is None or shown.unlimited or shown.why == NOTHING_LEFT:
            return shown
        name, statement, label = shown.parameter, self.theorem.statement, self.hypothesis.label
        assert name is not None
        if missing := [p.name for p in statement.parameters if p.name not in self.instance and p.name != name]:
            return replace(shown, further=f"open beyond: no violation is looked for without {', '.join(missing)}")
        weaker = without(statement, [label])
        variant = replace(self.theorem.variant(weaker.alone(*weaker.claims)), values={})
        ray = self._after(shown)
        domain, _ = self._domain(ray)
        left = ray.past((domain_of(ray.parameter),) if domain is None else domain)
        started, before, search = time.monotonic(), Fraction(ray.end), Attempts()
        for value in values_past(ray, left, shown.given):
            spare = started + seconds - time.monotonic()
            if spare <= 0:
                break
            try:
                limit = min(NECESSITY.check_seconds, max(spare / 4, 1.0), spare)
                result = checked(variant, {**self.instance, name: value}, limit)
            except InputError as error:
                # A value may be too large, for example.
                search.refused = str(error)
                break
            if not result.in_scope:
                search.failing = _failing(result)
                break
            search.values.append(value)
            refuted = [clause.label for clause in result.clauses if clause.outcome is Outcome.REFUTED]
            if refuted:
                alone, deadline = weaker.alone(*weaker.claims), started + seconds
                nearest = Approach(self.theorem, alone, self.hypothesis, refuted[0], result.instance, deadline)
                threshold = nearest.along(name, before, result.instance)
                found = search.noted(shown, left, time.monotonic() - started)
                return self._nearest(found, nearest, threshold.violated, seconds)
            if result.outcome is Outcome.VERIFIED and result.evidence in (Evidence.CERTIFIED, Evidence.PROVED):
                search.verified.append(value)
                search.trusts |= {*result.trusts}
            before = Fraction(value)
        else:
            search.ended = bool(left) and left[-1].high is not None
        return search.noted(shown, left, time.monotonic() - started)

    def _after(self, shown: ExtendedRange) -> Ray:
        """Return the ray outwards from the shown range."""
        parameter = next(p for p in self.theorem.statement.parameters if p.name == shown.parameter)
        upward = shown.relation in ("<=", "<")
        if shown.established is not None and shown.shown_to is not None:
            return Ray(parameter, Fraction(shown.shown_to), shown.shown_open, upward)
        assert shown.end is not None
        return Ray(parameter, Fraction(shown.end), shown.relation in ("<", ">"), upward)

    def _nearest(
        self, found: ExtendedRange, nearest: Approach, violated: Fraction | int, seconds: float
    ) -> ExtendedRange:
        """Return the range with a certified violation inside the hypothesis if there is one, else with `violated`."""
        if nearest.inside is not None:
            assert found.parameter is not None
            inside = self._certified(found, nearest, nearest.inside[found.parameter], seconds)  # pyright: ignore[reportArgumentType]
            if inside.violated is not None:
                return inside
        return self._certified(found, nearest, violated, seconds)

    def _certified(
        self, found: ExtendedRange, nearest: Approach, violated: Fraction | int, seconds: float
    ) -> ExtendedRange:
        """Return the range with the violation if it is certified, else with its value as `met`."""
        from verify.checking.certificates import certificate

        assert found.parameter is not None
        witness = {**self.instance, found.parameter: violated}
        result, held, sure = nearest.certified(witness, seconds)
        if not sure or held.holds is None:
            return replace(found, met=violated)
        (clause,) = result.clauses
        shown = certificate(nearest.weakened, result)
        return replace(
            found, clause=clause.label, violated=violated, inside=held.holds, certificate=shown, trusts=result.trusts
        )


@dataclass(frozen=True)
class _Shown:
    """The region in which an inference beyond the hypotheses concludes a claim, its standing, and the theorems used."""

    parts: Ranges
    established: Established
    by: tuple[str, ...]

    def within(self, other: "_Shown") -> bool:
        return set(self.parts) <= set(meet(self.parts, other.parts))


def _needed(shown: Sequence[_Shown]) -> list[_Shown]:
    """Return the regions that no other region contains; of equal regions, the first."""

    def needless(place: int) -> bool:
        one = shown[place]
        others = (other for at, other in enumerate(shown) if at < place or (at > place and not other.within(one)))
        return any(one.within(other) for other in others)

    return [each for place, each in enumerate(shown) if not needless(place)]


def _where(
    supposed: Sequence[_Supposed], parameter: Parameter, others: Instance, region: Ranges, *, supposing: bool = False
) -> tuple[Ranges, tuple[str, ...], str]:
    """Return the part of a region in which all suppositions hold, the open suppositions, and why the part is empty.

    With `supposing`, a condition that does not depend on the parameter and is undecided at the instance is open.
    Without it, such a condition makes the part empty.
    """
    open_ = list[str]()
    for each in supposed:
        h = each.hypothesis
        kept = each.statement.specialise(h, others) if h.relation is not None else h
        if kept.relation is None or parameter.name not in symbols_by_name(kept.relation):
            found = evaluate_hypothesis(kept, others)
            if found.holds is None and supposing:
                open_.append(h.label)
            elif found.needs:
                return (), (), f"{each.by} needs {', '.join(found.needs)}"
            elif found.holds is not True and each.domain:
                return (), (), f"{each.by}: outside its domain"
            elif found.holds is not True:
                how = "is undecided" if found.holds is None else "does not hold"
                return (), (), f"{each.by} needs {h.label}, which {how} here"
        elif missing := sorted(symbols_by_name(kept.relation).keys() - others.keys() - {parameter.name}):
            return (), (), f"{each.by} needs {', '.join(missing)}"
        else:
            try:
                solved = solvable(kept.relation, parameter.name, frozenset(others))
                parts = solved.certified_ranges(others, domain_of(parameter))
            except UndecidedError as error:
                return (), (), f"{each.by} is not shown: {h.label} is undecided along {parameter.name}: {error}"
            if parts is None:
                return (), (), f"{each.by} is not shown: {h.label} is not solved exactly along {parameter.name}"
            region = meet(region, parts)
    whole = parameter.kind == "integer"
    region = tuple(part for part in (each.integers() if whole else each for each in region) if not part.empty)
    return region, tuple(open_), ""


def _does_not_fit(other: Statement, statement: Statement, parameter: Parameter, others: Instance) -> str:
    """Return the reason why another statement does not apply to an instance, for any value of `parameter`; else ""."""
    own = {each.name: each for each in statement.parameters}
    for each in other.parameters:
        same = own.get(each.name)
        if same is None or (same.kind, same.words) != (each.kind, each.words):
            return f"this theorem has no parameter {each.name}"
        if each.name == parameter.name or (same.minimum, same.above) == (each.minimum, each.above):
            continue
        if each.name not in others:
            return f"needs {each.name}"
        if others[each.name] not in each:
            return f"{each.name} is outside its domain"
    return ""


def _failing(result: CheckResult) -> str:
    """Return a text that names the hypotheses that do not hold or, if there are none, the undecided ones."""
    fail = [h.label for h in result.hypotheses if h.holds is False]
    if fail:
        return f"{' and '.join(fail)} do{'es' * (len(fail) == 1)} not hold"
    return f"{' and '.join(h.label for h in result.hypotheses if h.holds is None)} is undecided"
