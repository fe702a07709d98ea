"""The page of each kind of result, the same for every output format: a heading, lines, tables of text and formulas."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy as sp

from verify.outcomes import short_text
from verify.printing import latex_of, text_of
from verify.reports.display.short import DIGITS, LINES, headline, instance, number, of_kind


class Written(NamedTuple):
    """A formula, as text and in LaTeX."""

    text: str
    latex: str


Cell = str | Written
_NAME = re.compile(r"\w+|[+-]")
"""A name that the printer writes unchanged, as a Greek letter or with an index; or a limit's side, + or -."""


@dataclass(frozen=True)
class Table:
    """A table: its heading, the names of its columns, and its rows, a cell for each column."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Page:
    """A heading, lines of text, the tables that have rows, and a last line, the headline."""

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    headline: str = ""


def page_of(value: Any) -> Page:
    """Return the page that shows a value."""
    if (page := of_kind(_PAGES, value)) is not None:
        return page(value)
    # A value without a page, such as a row of another result, is shown as a line.
    return Page(of_kind(LINES, value)(value))


def _page(title: str, lines: Iterable[str], tables: Iterable[Table], headline: str = "") -> Page:
    kept = tuple(table for table in tables if table.rows)
    return Page(title, tuple(line for line in lines if line), kept, headline)


def _table(heading: str, columns: str, rows: Iterable[Sequence[Cell]]) -> Table:
    return Table(heading, tuple(columns.split(", ")), tuple(map(tuple, rows)))


def formula(*sides: Any, text: str = "") -> Cell:
    """Return an expression, or an equation of two, as a formula; `text`, if given, replaces the formula's plain text.

    If a name in the formula is not a word, text is returned: the printer would read such a name as LaTeX.
    """
    read = [sp.sympify(side) for side in sides]
    said = text or " = ".join(map(text_of, read))
    if not all(_NAME.fullmatch(name) for side in read for name in _names(side)):
        return said
    return Written(said, " = ".join(map(latex_of, read)))


def _names(expression: Any) -> Iterator[str]:
    """Yield the names of the symbols and functions of an expression."""
    for part in sp.preorder_traversal(expression):
        if isinstance(part, sp.Symbol | sp.MatrixSymbol | sp.core.function.AppliedUndef | sp.Function):
            yield getattr(part, "name", None) or type(part).__name__


def _clause(clause: Any) -> Cell:
    """Return a clause: a relation, or an identity without matrices, as a formula; any other clause as its text."""
    if clause.relation is not None:
        return formula(clause.relation, text=clause.text)
    if hasattr(clause, "left") and not clause.uses_matrices:
        return formula(clause.left, clause.right, text=clause.text)
    return clause.text


def _tables(statement: Any) -> list[Table]:
    definitions = ((formula(name), formula(value)) for name, value in statement.definitions.items())
    said = ((h, h.statement) for h in statement.hypotheses)
    hypotheses = ((h.label, text if h.relation is None else formula(h.relation, text=text)) for h, text in said)
    claims, steps = (
        [(clause.label, _clause(clause)) for clause in part] for part in (statement.claims, statement.steps)
    )
    parameters = ((p.name, p.domain, p.meaning) for p in statement.parameters)
    return [
        _table("parameters", "name, value, meaning", parameters),
        _table("domain", "relation", ((formula(relation),) for relation in statement.further_domain)),
        _table("definitions", "name, definition", definitions),
        _table("hypotheses", "label, hypothesis", hypotheses),
        _table("claims", "label, claim", claims),
        _table("steps", "label, step", steps),
    ]


def _statement(statement: Any) -> Page:
    return _page("statement", (), _tables(statement))


def _theorem(theorem: Any) -> Page:
    argument = _argument(theorem.argument)
    uses = f"its proof uses {', '.join(theorem.proof_uses)}" if theorem.proof_uses else ""
    lines = (theorem.title, str(theorem.source), uses)
    return _page(theorem.id, lines, [*_tables(theorem.statement), argument])


def _theorem_summary(summary: Any) -> Page:
    theorem, stands = summary.theorem, summary.standing.clauses
    tables = _tables(theorem.statement)
    claims = ((claim.label, _clause(claim), stands[claim.label].text()) for claim in theorem.statement.claims)
    known = _table("claims", "label, claim, for all parameters", claims)
    recursions = [
        _table(
            f"recursion of {', '.join(labels)}",
            "name, start, next",
            (tuple(map(formula, each)) for each in zip(r.state, r.initial, r.step, strict=True)),
        )
        for r, labels in summary.recursions
    ]
    observables = _table("observable", "name, value", ((r.name, formula(r.observable)) for r, _ in summary.recursions))
    shown = [known if table.heading == known.heading else table for table in tables if table.heading != "steps"]
    uses = f"its proof uses {', '.join(theorem.proof_uses)}" if theorem.proof_uses else ""
    tables = [*shown, *recursions, observables]
    return _page(theorem.id, (theorem.title, str(theorem.source), uses, *summary.prose), tables, summary.known)


def _experiment_summary(summary: Any) -> Page:
    experiment = summary.experiment
    settings = (
        (s.parameter.name, number(s.quick), number(s.full), s.parameter.meaning, s.parameter.domain)
        for s in experiment.settings
    )
    table = _table("settings", "name, default, with --full, meaning, values", settings)
    return _page(experiment.id, (experiment.title, str(experiment.source)), [table])


def _argument(inferences: Iterable[Any]) -> Table:
    rows = (
        (str(i), inference.label, inference.says, ", ".join(inference.uses), inference.named_rule.name)
        for i, inference in enumerate(inferences, 1)
    )
    return _table("argument", "no., label, inference, from, rule", rows)


def _derivation(derivation: Any) -> Page:
    # Only steps that passed their check are shown.
    checked, failed = derivation.holding_steps
    return _page("derivation", (), _steps(derivation, checked), failed and f"does not hold: {failed}")


def _steps(derivation: Any, checked: Iterable[Any]) -> list[Table]:
    notation = _table("notation", "name, stands for", ((formula(n), formula(v)) for n, v in derivation.notation()))
    steps = _table("steps", "no., why, step", ((str(step.number), step.why, _equation(step)) for step in checked))
    return [notation, steps]


def derivation_page(theorem: Any, tell: Callable[[int, int], None] | None = None) -> Page:
    """Return a theorem's derivation, all steps checked; `tell` as in `Derivation.checked_steps`, which may raise."""
    derivation = theorem.made_derivation()
    tables = _steps(derivation, derivation.checked_steps(tell))
    return _page(theorem.id, (theorem.title, str(theorem.source)), tables)


def _equation(step: Any) -> Cell:
    return formula(step.left, step.right)


def _step(step: Any) -> Page:
    return _page(f"step {step.number}", (), [_table("", "why, step", [(step.why, _equation(step))])])


def _hypotheses(result: Any) -> Table:
    """Return the table of a result's hypotheses, as formulas if they are relations and the statement is known."""
    stated = {} if result.statement is None else {h.label: h for h in result.statement.hypotheses}
    rows = []
    for h in result.hypotheses:
        said = stated.get(h.label)
        shown = h.statement if said is None or said.relation is None else formula(said.relation, text=h.statement)
        slack = "" if h.slack is None else number(h.slack)
        beside = f"needs {', '.join(h.needs)}" if h.needs else h.detail
        rows.append((h.status, h.label, shown, ", ".join(filter(None, (slack, h.past, beside)))))
    return _table("hypotheses", "status, label, hypothesis, slack", rows)


def _meanings(result: Any, values: Mapping[str, Any]) -> Table:
    """Return the table of the parameters of a result's statement, with their values and meanings."""
    parameters = () if result.statement is None else result.statement.parameters
    rows = ((p.name, number(values[p.name]) if p.name in values else "-", p.meaning) for p in parameters)
    return _table("parameters", "name, value, meaning", rows)


def _check(result: Any) -> Page:
    stated = {} if result.statement is None else {clause.label: clause for clause in result.statement.clauses}
    rows = {"claim": [], "step": []}
    for c in result.clauses:
        evidence = f" ({c.how_sure})" if c.evidence else ""
        margin = "" if c.margin is None else short_text(c.margin, DIGITS)
        shown = _clause(stated[c.label]) if c.label in stated else c.claim
        known = [c.for_all_parameters.text()] * result.says_for_all
        rows[c.role].append((f"{c.outcome}{evidence}", c.label, shown, margin, *known, c.detail))
    known = f"{result.established_for}, " if result.says_for_all else ""
    values = ((name, "none" if value is None else number(value)) for name, value in result.values.items())
    tables = (
        _meanings(result, result.instance),
        _hypotheses(result),
        *(_table(f"{role}s", f"outcome, label, {role}, margin, {known}detail", found) for role, found in rows.items()),
        _table("values", "name, value", values),
    )
    found = "; ".join(filter(None, (headline(result), result.for_all_text(result.for_all_parameters))))
    return _page(f"{result.theorem} at {instance(result.instance)}", (), tables, found)


def _conditions(result: Any) -> Page:
    scope = {True: "in scope", False: "out of scope", None: "not decided yet"}[result.in_scope]
    ranges = _table(result.admissible, "parameter, range", result.ranges.items())
    tables = (_meanings(result, result.given), _hypotheses(result), ranges, _extended(result.extended_ranges))
    return _page(f"{result.theorem} {instance(result.given)}".rstrip(), (), tables, scope)


def _extended(ranges: Iterable[Any]) -> Table:
    return _table("beyond the hypotheses", "what is known", ((each.text(),) for each in ranges))


def _extended_ranges(result: Any) -> Page:
    effort = f"{result.seconds:.1f} s{', interrupted' if result.interrupted else ''}"
    return _page(f"{result.theorem} at {instance(result.instance)}", (effort,), (_extended(result.extended_ranges),))


def _prove(result: Any) -> Page:
    stated = {} if result.checked.statement is None else {c.label: c for c in result.checked.statement.clauses}
    said = {c.label: _clause(stated[c.label]) if c.label in stated else c.claim for c in result.clauses}
    clauses = (
        (c.role, c.for_all_parameters.text(), result.how(c), c.label, said[c.label], result.detail(c))
        for c in result.clauses
    )
    table = _table("clauses", "role, for all parameters, by, label, clause, detail", clauses)
    at = "" if result.counterexample is None else f"refuted at {instance(result.counterexample)}"
    proofs = (
        _table(f"proof of {label}", "line", [(Written(text.strip(), latex),) for text, latex in lines])
        for label, lines in result.told.items()
    )
    return _page(
        result.theorem, (), (table, *proofs, _argument(result.argument)), at or result.for_all_parameters.text()
    )


def _explore(result: Any) -> Page:
    dropped = f" without {', '.join(result.dropped)}" if result.dropped else ""
    effort = f"{result.examples} instances ({result.verdicts}), {result.seconds:.1f} s, seed {result.seed}"
    sharpness = (
        (b.clause, instance(b.instance), *(number(x) for x in (b.reached, b.claimed, b.ratio)))
        for b in result.sharpness
    )
    table = _table("sharpness", "clause, at, found, claimed, ratio", sharpness)
    if result.counterexample is not None and result.clause is not None:
        c = result.clause
        row = (instance(result.counterexample), c.label, c.claim, c.how_sure, c.detail)
        found = _table("counterexample", "at, label, clause, evidence, detail", [row])
        return _page(f"{result.theorem}{dropped}", (effort,), (found, table), "counterexample found")
    least = "" if result.smallest_margin is None else f"smallest relative margin {result.smallest_margin:.3g}"
    near = f"{least} at {instance(result.nearest)}" if least and result.nearest else least
    return _page(f"{result.theorem}{dropped}", (near, effort), (table,), result.headline)


def _necessity(result: Any) -> Page:
    rows = (
        (n.status, n.label, n.statement, n.why, "" if n.witness is None else instance(n.witness))
        for n in result.hypotheses
    )
    table = _table("hypotheses", "status, label, hypothesis, what is known, violated at", rows)
    return _page(result.theorem, (f"{result.seconds:.1f} s, seed {result.seed}",), (table,))


def _sweep(result: Any) -> Page:
    axes = ((a.name, number(a.values), str(len(a.values)), a.spacing) for a in result.grid.axes)
    scopes = {True: "in scope", False: "out of scope", None: "neither"}
    counts = ((outcome.replace("_", " "), scopes[scope], str(n)) for (scope, outcome), n in result.claims.items())
    evidence = ((str(name), str(count)) for name, count in result.evidence.items())
    tables = (
        _table("over", "parameter, values, number, spacing", axes),
        _table("claims", "outcome, scope, instances", counts),
        _table("evidence", "evidence, instances", evidence),
    )
    done = f"{result.done} of {len(result.grid)} instances"
    return _page(f"{result.theorem.id} {instance(result.given)}".rstrip(), (), tables, done)


def _experiment(result: Any) -> Page:
    means = (
        (name, f"{m.value:.6g}", "none" if m.standard_error is None else f"{m.standard_error:.2g}", str(m.samples))
        for name, m in result.measurements.items()
    )
    curves = ((name, curve.over, str(len(curve.points))) for name, curve in result.curves.items())
    tables = (
        _table("measurements", "name, value, standard error, samples", means),
        _table("curves", "name, over, points", curves),
    )
    effort = f"{result.device}, {result.seconds:.2f} s, seed {result.seed}"
    return _page(f"{result.experiment} {instance(result.settings)}", (), tables, effort)


_ROWS = 20
"""Maximum number of instances of an observation that are shown."""


def _observation(result: Any) -> Page:
    columns = ("at", *(f"after {step}" for step in result.steps))
    numbers = zip(result.instances[:_ROWS], result.values[:_ROWS].tolist(), strict=True)
    rows = tuple((instance(at), *(f"{x:.6g}" for x in row)) for at, row in numbers)
    left = len(result.instances) - len(rows)
    lines = (f"{result.clause}: {result.observable}, in float64, not proved",)
    table = Table("values", columns, rows)
    return _page(result.theorem, lines, (table,), f"and {left} more instances" if left else "")


_PAGES: Mapping[str, Callable[[Any], Page]] = {
    "Theorem": _theorem,
    "TheoremSummary": _theorem_summary,
    "ExperimentSummary": _experiment_summary,
    "Statement": _statement,
    "Derivation": _derivation,
    "CheckedStep": _step,
    "CheckResult": _check,
    "ConditionsResult": _conditions,
    "ProveResult": _prove,
    "ExploreResult": _explore,
    "NecessityResult": _necessity,
    "ExtendedRanges": _extended_ranges,
    "SweepResult": _sweep,
    "ExperimentResult": _experiment,
    "Observation": _observation,
}
