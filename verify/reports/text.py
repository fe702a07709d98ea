"""Results as text for people."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from verify.checking.derivation import Derivation
from verify.checking.theorem import Theorem
from verify.evaluation.instances import ConditionsResult
from verify.outcomes import (
    CheckResult,
    ClauseResult,
    Evidence,
    ForAll,
    Formal,
    HypothesisResult,
    assignments_text,
    count_text,
    formal_claims,
    how_sure,
    number_text,
    short_text,
    standings,
)
from verify.outcomes.numbers import is_shortened
from verify.printing import latex_of, text_of
from verify.reports.display.layout import WIDTH, fitted, stated_table
from verify.reports.display.short import headline
from verify.reports.necessity_map import instance_text, threshold_lines
from verify.runs.experiments import ExperimentResult
from verify.runs.measurements import Measurement
from verify.runs.sweeps.grids import Axis
from verify.runs.sweeps.rows import OUTCOMES

# These modules load NumPy.
if TYPE_CHECKING:
    from verify.reports.display.summaries import ExperimentSummary, TheoremSummary
    from verify.runs.sweeps.sweep import SweepResult
    from verify.search.necessity import NecessityResult
    from verify.search.proving import ProveResult
    from verify.search.results import ExploreResult, ExtendedRanges
    from verify.search.sharpness import Sharpness


_SHORT = 10
"""Significant digits of numbers beside a result, and the maximum number of listed values of an axis that are shown."""
_MOST_PLACES = 8
"""Maximum number of places after or before the point to which a value and its error are rounded."""
_LONG = 40
"""Maximum number of characters of a value in a table; a longer value is shown only on the line above the table."""
_LINES = 30
"""Maximum number of lines of a deduction that are printed without `--explain`."""
_STOPPED = {"seconds": "; the time is over", "work": "; the work is spent", "tried": "; all that is known was tried"}
_ONE = "the one instance of a statement without parameters"


_WHOLE = "values after “about” are exact with --json"


def _hypotheses(results: Iterable[HypothesisResult], width: int) -> Iterator[str]:
    """Yield the table of hypotheses, each with its slack, distance past the limit, missing parameters and detail."""
    rows = []
    for h in results:
        slack = "" if h.slack is None else short_text(h.slack, _SHORT)
        needs = f"needs {', '.join(h.needs)}" if h.needs else ""
        rows.append((h.status, h.label, h.statement, ", ".join(filter(None, (slack, h.past, needs, h.detail)))))
    if rows:
        yield from stated_table("hypotheses", "slack", rows, width)


def _parameters(statement: Any, values: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield the table of parameters: the value of each, if any, and its meaning."""
    if statement is None or not statement.parameters:
        return
    rows = ((p.name, number_text(values[p.name]) if p.name in values else "-", p) for p in statement.parameters)
    cells = [(name, value if len(value) <= _LONG else "…", p.meaning, "") for name, value, p in rows]
    yield from stated_table("parameters", "", cells, width)


def _whole(*values: Any) -> list[str]:
    """Return the line that says where the exact values are, if a value is shortened."""
    return [_WHOLE] if any(map(is_shortened, values)) else []


def conditions_text(result: ConditionsResult, width: int = WIDTH) -> str:
    """Return the text about the hypotheses at a partial instance, with the scope last."""
    scope = {True: "in scope", False: "out of scope", None: "not decided yet"}[result.in_scope]
    lines = [f"{result.theorem}  {assignments_text(result.given)}".rstrip()]
    lines += [*_parameters(result.statement, result.given, width), *_hypotheses(result.hypotheses, width)]
    if result.ranges:
        lines += [f"{result.admissible}:", *(f"  {text}" for text in result.ranges.values())]
    if result.extended_ranges:
        lines += ["beyond the hypotheses:", *(f"  {line.text()}" for line in result.extended_ranges)]
    lines += _whole(*(h.slack for h in result.hypotheses))
    return fitted([*lines, scope], width)


def theorem_summary_text(summary: "TheoremSummary", width: int = WIDTH) -> str:
    """Return a theorem's summary for people, with the commands that check and prove it."""
    theorem, statement = summary.theorem, summary.theorem.statement
    lines = [theorem.id, theorem.title, str(theorem.source)]
    lines += _rows("parameters", "", ((p.name, p.domain, p.meaning, "") for p in statement.parameters), width)
    further = statement.further_domain
    lines += [f"domain: {', '.join(map(text_of, further))}"] if further else []
    definitions = ((text_of(name), f"= {text_of(value)}", "") for name, value in statement.definitions.items())
    lines += _rows("definitions", "", definitions, width)
    for each, labels in summary.recursions:
        starts = zip(each.state, each.initial, each.step, strict=True)
        state = [(text_of(name), f"from {text_of(start)}; next {text_of(after)}", "") for name, start, after in starts]
        lines += _rows(
            f"recursion of {', '.join(labels)}", "", (*state, (each.title, text_of(each.observable), "")), width
        )
    lines += _rows("hypotheses", "", ((h.label, h.statement, "") for h in statement.hypotheses), width)
    stands = {claim.label: summary.standing.clauses[claim.label].text() for claim in statement.claims}
    claims = ((claim.label, claim.text, stands[claim.label]) for claim in statement.claims)
    lines += _rows("claims", "for all parameters", claims, width)
    lines += [f"its proof uses {', '.join(theorem.proof_uses)}"] if theorem.proof_uses else []
    lines += [summary.known, *summary.prose]
    if summary.reference:
        lines += [f"  verify check {summary.reference} {assignments_text(theorem.example)}".rstrip()]
        lines += [f"  verify prove {summary.reference}"]
    return fitted(lines, width)


def experiment_summary_text(summary: "ExperimentSummary", width: int = WIDTH) -> str:
    """Return an experiment's summary for people, with the command that runs it."""
    experiment = summary.experiment
    settings = [(s.parameter, number_text(s.quick), number_text(s.full)) for s in experiment.settings]
    rows = ((p.name, quick, full, f"{p.meaning} ({p.domain})", "") for p, quick, full in settings)
    lines = [experiment.id, experiment.title, str(experiment.source)]
    heading = "settings: the default, the value with --full, the meaning, and in parentheses the possible values"
    lines += _rows(heading, "", rows, width)
    return fitted([*lines, f"  verify simulate {experiment.id}"], width)


def _rows(title: str, beside: str, rows: Iterable[tuple[str, ...]], width: int) -> list[str]:
    held = list(rows)
    return list(stated_table(title, beside, held, width)) if held else []


def _measured(m: Measurement) -> str:
    if not m.standard_error:
        return f"{m.value:.{_SHORT}g}{' (one sample)' if m.standard_error is None else ''}"
    return f"{with_error(m.value, m.standard_error)} ({m.samples} samples)"


def with_error(value: float, error: float) -> str:
    """Return a value and its nonzero error as text, both rounded to the second digit of the error."""
    places = 1 - math.floor(math.log10(error))
    if abs(places) <= _MOST_PLACES:
        return " ± ".join(f"{round(number, places):.{max(0, places)}f}" for number in (value, error))
    digits = max(2, min(_SHORT, places + 1 + math.floor(math.log10(abs(value) or error))))
    return f"{value:.{digits}g} ± {error:.2g}"


def _row(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)


def experiment_text(result: ExperimentResult, width: int = WIDTH) -> str:
    """Return the results of an experiment, one line for each; a standard error of 0 is not shown."""
    lines = [f"{result.experiment}  {assignments_text(result.settings)}"]
    lines += ["measurements"] if result.measurements else []
    lines += [f"  {name} = {_measured(m)}" for name, m in result.measurements.items()]
    over = None
    for name, curve in result.curves.items():
        if over != (over := (curve.over, curve.points)):
            lines += [f"over {curve.over}: {_row(curve.points)}"]
        lines += [f"  {name} = {_row(m.value for m in curve.measured)}"]
    for name, said in result.theory.items():
        first, *_, last = [(low + high) / 2 for low, high in zip(said.lower, said.upper, strict=True)] * 2
        lines += [f"  theory: {name} = {first:.4g}" + (f" to {last:.4g}" if last != first else "")]
    for name, heat_map in result.heat_maps.items():
        numbers = [number for row in heat_map.values for number in row]
        shape = f"{len(heat_map.values)} x {len(heat_map.values[0])}"
        lines += [f"  {name}: {shape} numbers from {min(numbers):.4g} to {max(numbers):.4g}"]
    stored = ", from the store" if result.from_store else ""
    return fitted([*lines, f"{result.device}, {result.seconds:.2f} s, seed {result.seed}{stored}"], width)


def check_text(result: CheckResult, width: int = WIDTH) -> str:
    """Return the text of a check, with its headline last."""
    lines = [f"{result.theorem}  {assignments_text(result.instance)}".rstrip()]
    lines += [*_parameters(result.statement, result.instance, width), *_hypotheses(result.hypotheses, width)]
    for role, title in (("claim", "claims"), ("step", "steps")):
        of_role = [clause for clause in result.clauses if clause.role == role]
        lines += [title, *(line for clause in of_role for line in _clause(result, clause, width))] if of_role else []
    for name, known in result.rests_on.items():
        lines.append(f"uses {name}, for all parameters: {known.text()}")
    if result.values:
        lines += ["values", *(f"  {name} = {_value(result, name)}" for name in result.values)]
    if unchecked := [name for name, rechecked in result.rechecked.items() if not rechecked]:
        lines.append(f"not re-checked: {', '.join(unchecked)}")
    for trusts in sorted(set(result.value_trusts.values())):
        helped = [name for name, known in result.value_trusts.items() if known == trusts]
        lines.append(f"{how_sure('re-checked', trusts)}: {', '.join(helped)}")
    lines += _whole(*(h.slack for h in result.hypotheses), *(c.margin for c in result.clauses), *result.values.values())
    bits = f", {result.bits} bits" if result.bits else ""
    found = "; ".join(filter(None, (headline(result), result.for_all_text(result.for_all_parameters, briefly=True))))
    lines.append(f"{found}   {result.seconds:.2f} s{bits}, seed {result.seed}")
    return fitted(lines, width)


def _clause(result: CheckResult, clause: ClauseResult, width: int) -> Iterator[str]:
    evidence = f" ({clause.how_sure})" if clause.evidence else ""
    line = f"  {clause.outcome}{evidence}  {clause.label}: {clause.claim}"
    margin = "" if clause.margin is None else f"margin {short_text(clause.margin, _SHORT)}"
    # The margin is written beside the claim if there is room for it, else on its own line.
    beside = margin and len(line) + 3 + len(margin) <= width
    yield f"{line}   {margin}" if beside else line
    yield from [f"      {margin}"] if margin and not beside else []
    known = result.for_all_text(clause.for_all_parameters)
    yield from [f"      {known}"] if known and clause.role == "claim" and clause.evidence is not Evidence.PROVED else []
    yield from [f"      {clause.detail}"] if clause.detail else []
    yield from [f"      not re-checked: {clause.unchecked}"] if clause.unchecked and clause.evidence else []
    yield from [f"      witness {assignments_text(clause.witness)}"] if clause.witness else []


def prove_text(result: "ProveResult", width: int = WIDTH) -> str:
    """Return the standing of each clause of a theorem, its argument, and the headline last."""
    lines = [result.theorem]
    for role, title in (("claim", "claims"), ("step", "steps")):
        of_role = [clause for clause in result.clauses if clause.role == role]
        lines += [title] if of_role else []
        for clause in of_role:
            how = result.how(clause)
            by = f" by {how}" if how not in ("", "argument", "rocq") else ""
            is_refuted = result.refuted is not None and result.refuted.label == clause.label
            standing = "refuted" if is_refuted else f"{clause.for_all_parameters.text()}{by}"
            lines.append(f"  {standing}  {clause.label}: {clause.claim}")
            detail = result.detail(clause)
            lines += [f"      {detail}"] if detail else []
            lines += [f"      {name}: {text}" for name, text in result.formal_texts.get(clause.label, {}).items()]
            told = result.deductions.get(clause.label, ())
            most = len(told) if result.explained else _LINES
            lines += [f"      {line}" for line in told[:most]]
            lines += [f"      … {len(told) - most} lines more: --explain has all"] if len(told) > most else []
            lines += (
                [f"      {line}" for line in result.reasons[clause.label].lines()]
                if clause.label in result.reasons
                else []
            )
    argued = [(inference, "") for inference in result.argument]
    established = (": ".join(filter(None, (known.text(), known.why))) for known in result.established_extensions)
    extended = list(zip(result.extensions, established, strict=True))
    for title, inferences in (
        ("argument", argued),
        ("beyond the hypotheses, under those of the theorems used", extended),
    ):
        lines += [title] if inferences else []
        for number, (inference, standing) in enumerate(inferences, 1):
            rule = inference.named_rule
            lines.append(f"  {number}. {inference.label}: {inference.says}")
            lines += [f"      {standing}"] if standing else []
            lines.append(f"      from {', '.join(inference.uses) or 'the definitions'}; {rule.name} ({rule.reference})")
    if result.counterexample is not None:
        lines.append(f"counterexample  {assignments_text(result.counterexample) or _ONE}")
        if result.refuted is not None:
            lines.append(f"  {result.refuted.label}: refuted ({result.refuted.how_sure})")
    lines += [found.text() for found in (result.searched, result.evaluated) if found is not None]
    lines += [f"in prose: {sentence}" for sentence in Formal.prose(result.for_all_parameters.formal)]
    lines += [f"not formal: {result.not_formal}"] if result.not_formal else []
    missing = f": {result.for_all_parameters.why}" if result.for_all_parameters.why else ""
    vouched = ", not machine-checked" if result.for_all_parameters.standing is ForAll.ARGUED else ""
    formal = formal_claims(standings(result.clauses), (c.label for c in result.clauses if c.role == "claim"))
    stands = f"{result.for_all_parameters.text()}{vouched}{formal}{missing}"
    headline = "refuted" if result.counterexample is not None else stands
    stopped = _STOPPED.get(result.stopped, "")
    return fitted([*lines, f"{headline}{stopped}   {result.seconds:.2f} s"], width)


def _value(result: CheckResult, name: str) -> str:
    why = f": {result.without[name]}" if name in result.without else ""
    return f"{short_text(result.values[name], result.digits)}{why}"


def explore_text(result: "ExploreResult", width: int = WIDTH) -> str:
    """Return the result of a search, with its effort."""
    dropped = f" without {', '.join(result.dropped)}" if result.dropped else ""
    lines = [f"{result.theorem}{dropped}"]
    if result.counterexample is not None and result.clause is not None:
        lines.append(f"counterexample  {assignments_text(result.counterexample) or _ONE}")
        lines.append(f"  {result.clause.label}: {result.clause.claim}")
        why = result.clause.detail or assignments_text(result.clause.witness)
        lines.append(f"  refuted ({result.clause.how_sure}): {why}")
    else:
        lines.append(result.headline)
        if result.smallest_margin is not None:
            nearest = assignments_text(result.nearest or {}) or _ONE
            lines.append(f"smallest relative margin {result.smallest_margin:.3g} at {nearest}")
        lines += [line for bound in result.sharpness for line in _sharpness(bound)]
        lines += [result.dead_ends] if result.dead_ends else []
    if result.settled:
        lines.append(f"not searched: {count_text(len(result.settled), 'step')} that the package's certificate proves")
    if result.in_words:
        looked = f"looked at: {', '.join(result.looked_at)}; " if result.looked_at else ""
        told = [f"{label} (not violated at {count_text(n, 'instance')})" for label, n in result.evaluated.items() if n]
        refuted = result.clause.label if result.clause is not None else ""
        unsearched = [label for label in result.in_words if label != refuted and not result.evaluated.get(label)]
        words = {"in words": told, "in words, and not searched": unsearched}
        said = "; ".join(f"{name}: {', '.join(labels)}" for name, labels in words.items() if labels)
        lines += [looked + said] if said else []
    stopped = {"seconds": ", the time ran out", "interrupted": ", interrupted"}.get(result.stopped, "")
    stopped += ", replayed" if result.replayed else ""
    beside = f", and {result.polished} near the closest" if result.polished else ""
    counts = f" ({result.verdicts})" if result.verdicts else ""
    effort = f"{count_text(result.examples, 'instance')}{counts}{beside}, {result.seconds:.1f} s, seed {result.seed}"
    return fitted([*lines, effort + stopped], width)


def sweep_text(result: "SweepResult", width: int = WIDTH) -> str:
    """Return a sweep's table of outcomes in and out of scope, with the evidence and the effort last."""
    lines = [f"{result.theorem.id}  {assignments_text(result.given)}".rstrip(), *map(_axis, result.grid.axes)]
    scopes = {True: "in scope", False: "out of scope", None: "neither"}
    seen = [scope for scope in scopes if any(scope is in_scope for in_scope, _ in result.claims)]
    if seen:
        lines.append(f"{'claim':14}" + "".join(f"{scopes[scope]:>14}" for scope in seen))
    for name in (name for name in OUTCOMES if any(name == outcome for _, outcome in result.claims)):
        counts = (result.claims.get((scope, name), 0) for scope in seen)
        lines += [f"{name.replace('_', ' '):14}" + "".join(f"{count:14}" for count in counts)]
    order = {name: place for place, name in enumerate((*Evidence, "none"))}
    # Evidence that trusts a package comes after the same evidence that does not.
    known = sorted(result.evidence, key=lambda name: (order[name.partition(",")[0]], name))
    evidence = [f"{name} {result.evidence[name]}" for name in known]
    lines += [f"evidence: {'; '.join(evidence)}"] if evidence else []
    lines += [f"internal error, please report it, at {failure}" for failure in result.failures]
    if result.replaced:
        lines.append(f"rows of the store that did not fit, computed anew: {result.replaced}")
    if result.rechecked is not None:
        again = result.rechecked
        drawn = f"{again.rows}, drawn with seed {again.seed}"
        lines.append(f"rows of the store computed again: {drawn}; {again.differing} of them differ")
        lines += [line for difference in again.differences for line in _difference(difference)]
    done = f"{result.done} of {len(result.grid)} instances"
    done += f", {result.served} from the store" if result.served else ""
    stopped = f", {result.stopped}" if result.stopped else ""
    return fitted([*lines, f"{done}, {result.seconds:.2f} s, seed {result.effort.seed}{stopped}"], width)


def _difference(difference: Mapping[str, Any]) -> Iterator[str]:
    instance = instance_text(difference["instance"])
    for part in difference["differs"]:
        yield f"  at {instance}: {part['what']} was stored as {part['kept']}, and is now {part['found']}"


def _axis(axis: Axis) -> str:
    if axis.spacing == "listed":
        more = ",…" if len(axis.values) > _SHORT else ""
        return f"over {axis.name}: {','.join(number_text(value) for value in axis.values[:_SHORT])}{more}"
    ends = f"from {number_text(axis.values[0])} to {number_text(axis.values[-1])}"
    return f"over {axis.name}: {len(axis.values)} {'' if axis.spacing == 'linear' else 'log-spaced '}values {ends}"


def _sharpness(bound: "Sharpness") -> Iterator[str]:
    yield f"sharpness of {bound.clause} at {assignments_text(bound.instance)}"
    yield f"  found {short_text(bound.reached, _SHORT)}, claimed {short_text(bound.claimed, _SHORT)}"
    yield f"  ratio {short_text(bound.ratio, _SHORT)}"
    if bound.best_proved is not None:
        yield f"  best proved {short_text(bound.best_proved, _SHORT)}"
    if bound.free is not None:
        vacuous = "; the claimed bound is no better here" if bound.vacuous else ""
        yield f"  free {short_text(bound.free, _SHORT)}{vacuous}"
    if bound.bites is not None:
        yield f"  bites where {bound.bites}"


def necessity_text(result: "NecessityResult", width: int = WIDTH) -> str:
    """Return the status of each hypothesis, with the reason and the violation, and the effort last."""
    lines, wide = [result.theorem], max((len(need.label) for need in result.hypotheses), default=0)
    for need in result.hypotheses:
        row = (need.status.ljust(9), need.label.ljust(wide), need.statement, "")
        lines += list(stated_table("", "", [row], width))[1:]
        lines.append(f"             {need.why}")
        if need.witness is not None:
            lines.append(f"             at {assignments_text(need.witness)}")
            lines += [f"             {line}" for line in threshold_lines(need.to_json())]
    interrupted = ", interrupted" if result.interrupted else ""
    return fitted([*lines, f"{result.seconds:.1f} s, seed {result.seed}{interrupted}"], width)


def extended_ranges_text(result: "ExtendedRanges", width: int = WIDTH) -> str:
    """Return a line for each hypothesis: how far beyond it the claims are shown to hold, and the nearest violation."""
    lines = [f"{result.theorem}  {assignments_text(result.instance)}"]
    lines += [f"  {line.text()}" for line in result.extended_ranges] or ["  no hypothesis is a relation"]
    interrupted = ", interrupted" if result.interrupted else ""
    return fitted([*lines, f"{result.seconds:.1f} s{interrupted}"], width)


def derivation_lines(
    theorem: Theorem, tell: Callable[[int, int], None] | None = None, width: int = WIDTH
) -> Iterator[str]:
    """Yield the derivation part by part, each step after its check."""
    derivation = theorem.made_derivation()
    heading = (f"{theorem.id}: {theorem.title}", str(theorem.source))
    yield from (fitted([line], width) for line in (*heading, *notation_lines(derivation)))
    for step in derivation.checked_steps(tell):
        yield fitted(step.lines(), width)


def notation_lines(derivation: Derivation) -> Iterator[str]:
    """Yield the meanings of the names in a derivation."""
    for name, value in derivation.notation():
        yield f"  {text_of(name)} = {text_of(value)}"


def derivation_json(theorem: Theorem, form: str, tell: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Return the derivation as an object, with every step checked; `form` of the expressions is `text` or `latex`."""
    derivation = theorem.made_derivation()
    write = latex_of if form == "latex" else text_of
    return {
        "theorem": theorem.id,
        "format": form,
        "notation": {write(name): write(value) for name, value in derivation.notation()},
        "steps": [
            {"number": step.number, "why": step.why, "left": write(step.left), "right": write(step.right)}
            for step in derivation.checked_steps(tell)
        ],
    }
