"""Results as Markdown, with tables."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verify.evaluation.instances import ConditionsResult
from verify.outcomes import CheckResult, HypothesisResult, number_text, short_text

_DIGITS = 10


def conditions_markdown(result: ConditionsResult) -> str:
    """Return the hypotheses at a partial instance as a table, and the admissible ranges."""
    lines = [f"# `{result.theorem}`", "", *_instance(result.given), *_hypotheses(result.hypotheses)]
    for title, rows in (
        ("Admissible", list(result.ranges.values())),
        ("Beyond the hypotheses", [line.text() for line in result.reaches]),
    ):
        lines += [f"## {title}", "", *(f"- {plain(row)}" for row in rows), ""] if rows else []
    scope = {True: "In scope.", False: "Out of scope.", None: "Not decided yet."}[result.in_scope]
    return "\n".join([*lines, scope])


def check_markdown(result: CheckResult) -> str:
    """Return a check as tables, its headline last."""
    lines = [f"# `{result.theorem}`", "", *_instance(result.instance), *_hypotheses(result.hypotheses)]
    for role, title in (("claim", "Claims"), ("step", "Steps")):
        of_role = [clause for clause in result.clauses if clause.role == role]
        rows = (
            (clause.outcome, clause.evidence or "", clause.label, clause.claim, _number(clause.margin))
            for clause in of_role
        )
        lines += table(title, ("outcome", "evidence", "label", "says", "margin"), rows) if of_role else []
    values = [(name, number_text(value, result.digits)) for name, value in result.values.items()]
    lines += table("Values", ("name", "value"), values) if values else []
    evidence = f" ({result.evidence})" if result.evidence else ""
    headline = f"**{result.outcome.value.replace('_', ' ')}**{evidence}; for all parameters: {result.for_all.text()}"
    return "\n".join([*lines, headline])


def table(title: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a table under a title."""
    head = tuple(head)
    yield from (f"## {title}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head))
    yield from (f"| {' | '.join(plain(str(cell)) for cell in row)} |" for row in rows)
    yield ""


def plain(text: str) -> str:
    """Return text of which nothing is taken for Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in " ".join(text.split()))


def _number(value: Any) -> str:
    return "" if value is None else short_text(value, _DIGITS)


def _instance(values: Mapping[str, Any]) -> Iterator[str]:
    if values:
        yield plain(", ".join(f"{name} = {number_text(value)}" for name, value in values.items()))
        yield ""


def _hypotheses(results: Iterable[HypothesisResult]) -> Iterator[str]:
    shown = [(h.status, h.label, h.statement, _number(h.slack) or ", ".join(h.needs)) for h in results]
    if shown:
        yield from table("Hypotheses", ("", "label", "says", "slack, or what is needed"), shown)
