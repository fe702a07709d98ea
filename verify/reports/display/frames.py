"""Results as rows: a data frame of pandas or of Polars, if one of them is installed."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from verify.outcomes import as_float, assignments_text
from verify.reports.display.short import of_kind

Row = dict[str, Any]


def rows_of(value: Any) -> list[Row]:
    """Return the rows of a result: clauses of a check, instances of a sweep, hypotheses, or extended ranges."""
    return list(of_kind(_ROWS, value)(value))


def framed(rows: list[Row]) -> Any:
    """Return rows with the same columns as a DataFrame of pandas, else of Polars, else as a list."""
    if find_spec("pandas") is not None:
        return import_module("pandas").DataFrame(rows)
    if find_spec("polars") is not None:
        return import_module("polars").DataFrame(rows, infer_schema_length=None)
    return rows


def _number(value: Any) -> float | None:
    return None if value is None else as_float(value)


def _check(result: Any) -> Iterator[Row]:
    for clause in result.clauses:
        yield {
            "label": clause.label,
            "role": clause.role,
            "claim": clause.claim,
            "outcome": str(clause.outcome),
            "holds": clause.holds,
            "evidence": None if clause.evidence is None else str(clause.evidence),
            "rechecked": clause.rechecked,
            "trusts": ", ".join(map(str, clause.trusts)),
            "for_all_parameters": str(clause.for_all_parameters.standing),
            "margin": _number(clause.margin),
            "error": _number(clause.error),
            "detail": clause.detail,
        }


def _necessity(result: Any) -> Iterator[Row]:
    for need in result.hypotheses:
        plain = ("label", "kind", "statement", "status", "why", "varied", "clause")
        witness = None if need.witness is None else assignments_text(need.witness)
        numbers = {"slack": _number(need.slack), "witness": witness, "trusts": ", ".join(map(str, need.trusts))}
        yield {**{name: getattr(need, name) for name in plain}, **numbers}


def _extended_ranges(result: Any) -> Iterator[Row]:
    numbers = ("end", "given", "shown_to", "violated", "met")
    for line in result.extended_ranges:
        row = {name: value for name, value in line.to_json().items() if not name.endswith("_float")}
        lists = {name: ", ".join(map(str, value)) for name, value in row.items() if isinstance(value, list)}
        lists |= {name: ", ".join(map(str, getattr(line, name))) for name in ("trusts", "verified_trusts")}
        lists |= {"for_all_trusts": ", ".join(map(str, sorted(line.established.trusts))) if line.established else ""}
        standing = None if line.established is None else str(line.established.standing)
        floats = {name: _number(getattr(line, name)) for name in numbers}
        yield {**row, **lists, **floats, "for_all_parameters": standing}


def _sweep(result: Any) -> Iterator[Row]:
    from verify.reports.formats.sweep_files import table

    yield from table(result)


_ROWS: Mapping[str, Callable[[Any], Iterator[Row]]] = {
    "CheckResult": _check,
    "NecessityResult": _necessity,
    "ExtendedRanges": _extended_ranges,
    "SweepResult": _sweep,
}
