"""The cards, one for each theorem: its statement, its standing, and the attempts to refute it."""

from collections.abc import Iterable, Iterator

from verify.checking.theorem import Theorem
from verify.claims.in_words import in_words
from verify.outcomes import CheckResult, ForAll, Formal, assignments_text, count_text, how_sure, short_text
from verify.reports.display.pages import Table, Written, formula, page_of
from verify.reports.display.short import headline, instance, number
from verify.reports.ledger import Entry, crossing_rows
from verify.reports.necessity_map import known_text
from verify.reports.page import formulas
from verify.reports.page.contents import Contents, Known
from verify.reports.page.elements import Html, Node, anchor, badge, code, details, items, joined, link, table, tag
from verify.reports.page.graph import argument, foundations
from verify.runs.comparisons import Comparison

_DIGITS = 6
_LONG, _LONGEST = 400, 2000
"""Characters of a formula's LaTeX beyond which the formula opens by a click, and beyond which it is shown as text."""


def cards(contents: Contents) -> Html:
    """Return the cards, grouped by paper."""
    parts = []
    for paper in [*contents.papers, None]:
        own = [known for known in contents.theorems if known.theorem.source.paper == paper]
        if own:
            heading = tag("h3", (paper.title or paper.key) if paper else "without a paper")
            parts.append(tag("div", heading, [_card(contents, known) for known in own]))
    return tag("section", tag("h2", "The results, one by one"), parts, id="theorems")


def _card(contents: Contents, known: Known) -> Html:
    theorem = known.theorem
    page = page_of(theorem)
    tables = {shown.heading: shown for shown in page.tables}
    stands = badge(str(known.standing.for_all_parameters.standing), known.standing.for_all_parameters.text())
    head = joined([code(theorem.id), " ", theorem.title, " ", stands])
    return details(
        head,
        tag("p", str(theorem.source), class_="small"),
        tag("p", _headline(known)),
        _claims(known, tables.get("claims")),
        [formulas.table(tables[name]) for name in ("parameters", "domain", "definitions") if name in tables],
        _hypotheses(known),
        _steps(known, tables.get("steps")),
        argument(theorem),
        _margins(known),
        _sharpness(theorem),
        _values(known),
        _canaries(contents, theorem),
        _simulation(contents, theorem),
        _uses(contents, known),
        foundations(contents, known),
        _certificate(known),
        id=anchor("theorem", theorem.id),
        class_="card",
    )


def _headline(known: Known) -> list[Node]:
    stands = known.standing.for_all_parameters
    missing = f": {stands.why}" if stands.why else ""
    said: list[Node] = [f"For all parameters: {stands.text()}{missing}. "]
    besides = Formal.prose(stands.formal)
    if stands.standing is ForAll.FORMAL and besides:
        said += [f"In prose: {'; '.join(besides)}. "]
    if isinstance(known.checked, CheckResult):
        said += [f"At its example, {instance(known.checked.instance)}: {headline(known.checked)}."]
        if stated := sorted(in_words(known.theorem.statement) - known.theorem.evaluations.keys()):
            said += [f" Nothing evaluates {', '.join(stated)} at an instance."]
    else:
        said += [f"Its example was not checked: {known.checked}."]
    return said


def _claims(known: Known, claims: Table | None) -> Html:
    rows = []
    for label, claim in claims.rows if claims else ():
        established = known.standing.clauses[str(label)]
        rows.append(
            [
                str(label),
                joined([formulas.cell(claim), *_formal_text(known.theorem, str(label))]),
                badge(str(established.standing), established.text()),
                _at(known, str(label)),
            ]
        )
    return table(("claim", "statement", "for all parameters", "at the example"), rows, "claims")


def _formal_text(theorem: Theorem, label: str) -> Iterator[Node]:
    """Yield the propositions of a claim for a proof assistant."""
    if label in theorem.statement.formal:
        rows = theorem.statement.formal[label].propositions
        yield details("formal text", [tag("p", code(name), ": ", code(text), class_="small") for name, text in rows])


def _at(known: Known, label: str) -> Node:
    """Return a clause's outcome at the example."""
    if not isinstance(known.checked, CheckResult):
        return "not checked"
    clause = next(clause for clause in known.checked.clauses if clause.label == label)
    if clause.evidence is None:
        return badge(str(clause.outcome))
    return joined([badge(str(clause.outcome)), " ", clause.how_sure])


def _hypotheses(known: Known) -> Html:
    """Return the hypotheses, whether each holds at the example, and whether it is needed."""
    found = {row["label"]: row for row in known.hypotheses.hypotheses}
    status = {h.label: h.status for h in known.checked.hypotheses} if isinstance(known.checked, CheckResult) else {}
    rows = []
    for hypothesis in known.theorem.statement.hypotheses:
        row = found.get(hypothesis.label)
        said = (
            hypothesis.statement
            if hypothesis.relation is None
            else formula(hypothesis.relation, text=hypothesis.statement)
        )
        needed = badge(row["status"]) if row else "not mapped"
        why = tag("span", known_text(row)) if row else known.hypotheses.why
        rows.append([hypothesis.label, formulas.cell(said), status.get(hypothesis.label, ""), needed, why])
    return table(("hypothesis", "statement", "at the example", "needed?", "what is known"), rows, "hypotheses")


def _steps(known: Known, steps: Table | None) -> Html:
    rows = []
    for label, step in steps.rows if steps else ():
        established = known.standing.clauses[str(label)]
        trusting = "".join(f", trusting {trust}" for trust in sorted(established.trusts))
        rows.append([str(label), _folded(step), joined([badge(str(established.standing)), trusting])])
    count = count_text(len(rows), "step")
    return (
        details(f"{count} of the proof", table(("step", "statement", "for all parameters"), rows, "steps"))
        if rows
        else Html("")
    )


def _folded(cell: Node) -> Node:
    """Return a cell: a long formula opens by a click, and a very long formula is shown as text."""
    if not isinstance(cell, Written) or len(cell.latex) <= _LONG:
        return formulas.cell(cell)  # pyright: ignore[reportArgumentType]
    return details("a long formula", code(cell.text) if len(cell.latex) > _LONGEST else formulas.cell(cell))


def _margins(known: Known) -> Html:
    if not isinstance(known.checked, CheckResult):
        return Html("")
    rows = [
        [clause.label, short_text(clause.margin, _DIGITS), clause.how_sure or "-"]
        for clause in known.checked.clauses
        if clause.margin is not None and clause.margin != 0
    ]
    return table(("clause", "margin at the example", "by"), rows, "margins: positive where a clause holds strictly")


def _sharpness(theorem: Theorem) -> Html:
    rows = []
    for label, bound in theorem.bounds.items():
        relation = next(clause for clause in theorem.statement.clauses if clause.label == label).relation
        given = [formulas.cell(formula(side)) if side is not None else "none" for side in (bound.proved, bound.free)]
        rows.append([label, formulas.cell(formula(relation)), *given, bound.along or "-"])
    columns = ("clause", "claimed", "best proved", "trivial bound", "bites along")
    return table(columns, rows, "sharpness: the bound, the best proved one and the trivial one")


def _values(known: Known) -> Html:
    if not isinstance(known.checked, CheckResult):
        return Html("")
    rows = [[code(name), "none" if value is None else _number(value)] for name, value in known.checked.values.items()]
    return table(("value", "at the example"), rows, "values")


def _number(value: object) -> str:
    return number(value) if isinstance(value, list | tuple | bool | str) else short_text(value, _DIGITS)


def _canaries(contents: Contents, theorem: Theorem) -> Html:
    """Return the false variants, and which of them a search refuted."""
    entries = {entry["label"]: entry for entry in contents.entered("canary", theorem.id)}
    rows = []
    for canary in theorem.canaries:
        entry = entries.get(canary.label)
        found = (
            "not run" if entry is None else badge("refuted") if entry["killed"] else badge("survived", "not refuted")
        )
        needed = "" if entry is None or not entry["killed"] else count_text(entry["needed"], "instance")
        rows.append([canary.label, canary.clause, found, needed])
    entries = {canary.label: entries[canary.label] for canary in theorem.canaries if canary.label in entries}
    killed = sum(entry["killed"] for entry in entries.values())
    state = f"{killed} of {len(rows)} refuted{_when(entries.values())}" if entries else "not run (verify report --full)"
    said = table(("change", "clause that must fail", "search", "needed"), rows, "false variants")
    return details(f"Canaries, false variants that a search must refute: {state}", said) if rows else Html("")


def _when(entries: Iterable[Entry]) -> str:
    """Return the earliest time of some entries, as text to append; "" if no entry has a time."""
    at = min((entry["at"] for entry in entries if "at" in entry), default="")
    return f"; run on {at}" if at else ""


def _simulation(contents: Contents, theorem: Theorem) -> Html:
    """Return the table of simulations from the definitions beside the theorem."""
    rows = _compared(contents, [each for each in contents.comparisons if each.theorem == theorem.id])
    crossed = [row for row in crossing_rows(contents.entries) if row["theorem"] == theorem.id]
    for row in crossed:
        worst = row["worst_over_allowed"]
        parts = [count_text(row["draws"], "draw"), count_text(row["trainings"], "training")]
        parts += [] if worst is None else [f"worst deviation {worst:.2g} of the tolerance"]
        parts += [f"{row['caught']} of {row['planted']} planted errors caught"]
        agrees = badge("verified") if row["outcome"] == "verified" else badge("survived", "does not agree")
        parts[-1] += _when(contents.entered("crossing", row["id"]))
        rows.append([row["of"], agrees if row["draws"] else "not run", ", ".join(parts)])
    return table(("simulated", "outcome", "in numbers"), rows, "simulation and theory")


def _compared(contents: Contents, comparisons: Iterable[Comparison]) -> list[list[Node]]:
    """Return a row for each run of each comparison: its subject, the outcome, the numbers; or the command to run it."""
    rows: list[list[Node]] = []
    for comparison in comparisons:
        entries = contents.entered("comparison", comparison.id)
        for entry in entries:
            size = ", the paper's own size" if entry.get("full") else ""
            where = f" ({entry['evidence']}, {entry['device']}{size}{_when([entry])})"
            rows.append([comparison.title, badge(entry["outcome"]), entry["detail"] + where])
        if not entries:
            run = code(f"pytest paper_checks -k {comparison.id.rpartition('.')[2]}")
            rows.append([comparison.title, "not run", run])
    return rows


def compared(contents: Contents, comparisons: Iterable[Comparison]) -> Html:
    """Return the table of some comparisons' verdicts."""
    columns = ("printed claim or figure", "verdict", "in numbers")
    return table(columns, _compared(contents, comparisons), "verdicts")


def _uses(contents: Contents, known: Known) -> Html:
    others = [each.theorem for each in contents.theorems]
    used_by = [other.id for other in others if known.theorem.id in other.proof_uses]
    parts = [
        ("Its proof uses", known.theorem.proof_uses),
        ("Used by", used_by),
        ("Its statement uses", known.theorem.statement_uses),
    ]
    return items(
        joined([f"{said}: ", [joined([", " if i else "", link("theorem", name)]) for i, name in enumerate(names)]])
        for said, names in parts
        if names
    )


def _certificate(known: Known) -> Html:
    theorem = known.theorem
    rows: list[tuple[Node, Node]] = [("statement digest", code(theorem.statement.digest))]
    if known.certificate:
        path, digest = known.certificate
        accepted = how_sure("accepted by the re-checker", known.standing.trusts)
        accepted = f"not accepted: {known.standing.why}" if known.standing.why else accepted
        rows += [("certificate", [code(path), ", SHA-256 ", code(digest)]), ("re-checked", accepted)]
    else:
        rows += [("certificate", known.standing.why or "none")]
    commands = [f"verify check {theorem.id} {assignments_text(theorem.example)}", f"verify prove {theorem.id}"]
    commands += [f"verify derive {theorem.id}"] if theorem.derivation else []
    rows += [("commands", items(map(code, commands)))]
    return details("Certificate, digests and commands", table(("what", "value"), rows, "certificate"))
