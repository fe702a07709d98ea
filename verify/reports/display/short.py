"""One line about each kind of result: its subject, and the finding."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from verify.outcomes import Enclosure, ForAll, count_text, how_sure, number_text, short_text
from verify.shown import visible

LONGEST = 300
"""Maximum number of characters of a `repr`."""
DIGITS = 10
"""Significant digits of a number that is not written exactly."""
_WORD = 40
"""Maximum number of characters of a value that is not a number."""
_FEW = 6
"""Maximum number of entries of a list, or of labels, that are shown."""


def number(value: Any) -> str:
    """Return a number, or the first entries of a list, as short text for people."""
    if isinstance(value, list | tuple):
        more = ", …" if len(value) > _FEW else ""
        return ", ".join(map(number, value[:_FEW])) + more
    if isinstance(value, int | Fraction | Enclosure):
        return short_text(value, DIGITS)
    return _clipped(number_text(value), _WORD)


def instance(values: Mapping[str, Any]) -> str:
    """Return names and values as a user types them, with few digits."""
    return " ".join(f"{name}={number(value)}" for name, value in values.items())


def fitted(start: str, line: str) -> str:
    """Return a `repr` in angle brackets, without line breaks, cut if it is too long."""
    return start + _clipped(" ".join(visible(line).split()), LONGEST - len(start) - 1) + ">"


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _labels(labels: Iterable[str]) -> str:
    labels = list(labels)
    return ", ".join(labels[:_FEW]) + (", …" if len(labels) > _FEW else "")


def headline(result: Any) -> str:
    """Return the headline of a check: its outcome, the claims' outcome if out of scope, and the evidence.

    Refuted steps are named too: the claims may hold here even if a step does not.
    """
    # The evidence is about the claim: it does not show that the instance is out of scope.
    claim = "" if result.in_scope else f"; the claim there: {result.claim_outcome}"
    evidence = f" ({result.how_sure})" if result.evidence else ""
    steps = "".join(f"; step {label} refuted at {instance(result.instance)}" for label in result.refuted_steps)
    return f"{result.outcome.value.replace('_', ' ')}{claim}{evidence}{steps}"


def _parts(statement: Any) -> str:
    nouns = {"parameters": "parameter", "hypotheses": "hypothesis", "claims": "claim", "steps": "step"}
    parts = [(getattr(statement, plural), noun, plural) for plural, noun in nouns.items()]
    return ", ".join(count_text(len(part), noun, plural) for part, noun, plural in parts if part)


def _theorem(theorem: Any) -> str:
    # A long title is cut, so that the text after it is kept.
    return f"{theorem.id}: {_clipped(theorem.title, 180)}; {_parts(theorem.statement)}"


def _statement(statement: Any) -> str:
    names = _labels(parameter.name for parameter in statement.parameters)
    return f"of {names or 'no parameters'}: {_parts(statement)}; claims {_labels(c.label for c in statement.claims)}"


def _derivation(derivation: Any) -> str:
    counts = ("step", derivation.steps), ("definition", derivation.definitions), ("shorthand", derivation.shorthands)
    return f"of {', '.join(count_text(len(part), noun) for noun, part in counts)}"


def _hypothesis(result: Any) -> str:
    slack = "" if result.slack is None else f"; slack {number(result.slack)}"
    needs = f" {', '.join(result.needs)}" if result.needs else ""
    return f"{result.label} {result.status}{needs}: {_clipped(result.statement, 120)}{slack}"


def _clause(result: Any) -> str:
    margin = "" if result.margin is None else f"; margin {short_text(result.margin, DIGITS)}"
    evidence = f" ({result.how_sure})" if result.evidence else ""
    return f"{result.label} {result.outcome}{evidence}: {_clipped(result.claim, 120)}{margin}"


def _check(result: Any) -> str:
    at = f"{result.theorem} at {instance(result.instance)}"
    known = result.for_all_text(result.for_all_parameters).replace(" parameters", "", 1)
    return f"{at}: {'; '.join(filter(None, (headline(result), known)))}"


def _conditions(result: Any) -> str:
    scope = {True: "in scope", False: "out of scope", None: "not decided yet"}[result.in_scope]
    held = Counter(hypothesis.status for hypothesis in result.hypotheses)
    counts = ", ".join(f"{status} {held[status]}" for status in ("holds", "fails", "needs", "assumed") if held[status])
    return f"{result.theorem} {instance(result.given)}: {scope}; {counts}"


def _prove(result: Any) -> str:
    if result.counterexample is not None:
        return f"{result.theorem}: refuted at {instance(result.counterexample)}"
    known = [clause.for_all_parameters for clause in result.clauses]
    stands = Counter((established.standing, tuple(sorted(established.trusts))) for established in known)
    order = sorted(stands, key=lambda each: (list(ForAll).index(each[0]), each[1]))
    counts = ", ".join(f"{stands[each]} {how_sure(*each)}" for each in order)
    return f"{result.theorem}: {result.for_all_parameters.text()}; clauses: {counts}"


def _explore(result: Any) -> str:
    dropped = f" without {_labels(result.dropped)}" if result.dropped else ""
    effort = f"{count_text(result.examples, 'instance')}, seed {result.seed}"
    if result.counterexample is not None and result.clause is not None:
        sure = how_sure("certified", result.clause.trusts) if result.certified else "not certified"
        found = f"counterexample {instance(result.counterexample)} to {result.clause.label}, {sure}"
        return f"{result.theorem}{dropped}: {found}; {effort}"
    least = "" if result.smallest_margin is None else f"; smallest relative margin {result.smallest_margin:.3g}"
    return f"{result.theorem}{dropped}: {result.headline}{least}; {effort}"


def _need(need: Any) -> str:
    at = "" if need.witness is None else f"; {need.clause} refuted at {instance(need.witness)}"
    return f"{need.label} {need.status}: {_clipped(need.why, 120)}{at}"


def _necessity(result: Any) -> str:
    labels = {
        each: [need.label for need in result.hypotheses if need.status == each] for each in ("needed", "redundant")
    }
    parts = [f"{len(found)} {status} ({_labels(found)})" for status, found in labels.items() if found]
    left = len(result.hypotheses) - sum(map(len, labels.values()))
    return f"{result.theorem}: {', '.join([*parts, *([f'{left} undecided'] if left else [])]) or 'no hypotheses'}"


def _extended_ranges(result: Any) -> str:
    lines = result.extended_ranges
    parts = [count_text(len(lines), "parametric hypothesis", "parametric hypotheses")]
    counts = {
        "shown further": sum(line.established is not None for line in lines),
        "refuted beyond": sum(line.violated is not None and not line.inside for line in lines),
        "refuted where the hypothesis holds": sum(line.inside for line in lines),
    }
    parts += [f"{count} {what}" for what, count in counts.items() if count]
    return f"{result.theorem} at {instance(result.instance)}: {', '.join(parts)}"


def _sweep(result: Any) -> str:
    axes = ", ".join(f"{axis.name} ({len(axis.values)})" for axis in result.grid.axes)
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in result.counts.items() if count)
    done = f"{result.done} of {len(result.grid)} instances"
    return f"{result.theorem.id} {instance(result.given)} over {axes}: {counts or 'nothing'}; {done}"


def _experiment(result: Any) -> str:
    measured = ", ".join(f"{name} = {mean.value:.4g}" for name, mean in list(result.measurements.items())[:_FEW])
    return f"{result.experiment} {instance(result.settings)} seed={result.seed}, {result.device}: {measured}"


def _observation(result: Any) -> str:
    after = f"after {number(result.steps)} steps"
    return f"{result.theorem}: {result.clause}: {count_text(len(result.instances), 'instance')} {after}"


def of_kind(table: Mapping[str, Any], value: object) -> Any:
    """Return a table's entry for the class of a value, or for the nearest base class; None if it has none."""
    return next((table[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in table), None)


LINES: Mapping[str, Callable[[Any], str]] = {
    "Enclosure": number,
    "Theorem": _theorem,
    "TheoremSummary": lambda summary: f"{_theorem(summary.theorem)}; {summary.known}",
    "ExperimentSummary": lambda summary: f"{summary.experiment.id}: {summary.experiment.title}",
    "Statement": _statement,
    "Derivation": _derivation,
    "CheckedStep": lambda step: f"{step.number}. {step.why}",
    "HypothesisResult": _hypothesis,
    "ClauseResult": _clause,
    "CheckResult": _check,
    "ConditionsResult": _conditions,
    "ProveResult": _prove,
    "ExploreResult": _explore,
    "Need": _need,
    "NecessityResult": _necessity,
    "ExtendedRange": lambda line: line.text(),
    "ExtendedRanges": _extended_ranges,
    "SweepResult": _sweep,
    "ExperimentResult": _experiment,
    "Observation": _observation,
}
"""The text that the `repr` of a class shows, by the class's name."""
