"""The files of `verify sweep --out`: the rows as CSV and Parquet, the plot and the summary.

The rows are streamed from the store.
"""

import csv
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from verify.installed import lack
from verify.reports.plots.sweep_plots import plotted, why_no_plot
from verify.reports.simulate import report_text, write_files
from verify.runs.sweeps.sweep import SweepResult

_GROUP = 10_000
"""Number of rows in a row group of the Parquet file. The writer keeps at most this many rows in memory."""
TRUTH, NUMBER, TEXT = "bool", "float64", "string"


def columns(result: SweepResult) -> dict[str, str]:
    """Return the type of each column of a sweep's table. Exact numbers are text; a second column has their floats."""
    statement = result.theorem.statement
    kinds: dict[str, str] = {}
    for parameter in statement.parameters:
        kinds[parameter.name] = TEXT
        if parameter.kind in ("integer", "rational"):
            kinds[f"{parameter.name}_float"] = NUMBER
    kinds |= {"in_scope": TRUTH, "outcome": TEXT, "claim": TEXT, "evidence": TEXT, "trusts": TEXT}
    for clause in statement.clauses:
        kinds |= {f"{clause.label}.holds": TRUTH, f"{clause.label}.evidence": TEXT, f"{clause.label}.trusts": TEXT}
        kinds |= {f"{clause.label}.margin": NUMBER, f"{clause.label}.error": NUMBER}
    for name in result.theorem.values:
        kinds |= {f"value.{name}": TEXT, f"value.{name}_float": NUMBER}
    return {**kinds, "detail": TEXT, "error": TEXT, "seconds": NUMBER}


def table(result: SweepResult) -> Iterator[dict[str, object]]:
    """Yield the rows of a sweep's table, with None for a missing entry."""
    names = columns(result)
    for _, row in result.rows():
        flat: dict[str, Any] = dict.fromkeys(names)
        for name, value in row["instance"].items():
            # A list, for example of eigenvalues, has no column of floats.
            flat |= {name: value if name.endswith("_float") else _text(value)} if name in names else {}
        flat |= {name: row[name] for name in ("in_scope", "outcome", "claim", "evidence", "detail", "error", "seconds")}
        flat["trusts"] = ", ".join(row["trusts"]) or None
        for clause in row["clauses"]:
            label = clause["label"]
            flat |= {f"{label}.{part}": clause[part] for part in ("holds", "evidence")}
            flat[f"{label}.trusts"] = ", ".join(clause["trusts"]) or None
            flat |= {f"{label}.{part}": clause.get(f"{part}_float") for part in ("margin", "error")}
        for name in result.theorem.values:
            flat[f"value.{name}"] = _text(row["values"].get(name))
            number = row["values"].get(f"{name}_float")
            flat[f"value.{name}_float"] = number if isinstance(number, float | int) else None
        yield flat


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def write_sweep(result: SweepResult, folder: Path) -> list[Path]:
    """Write THEOREM.sweep.csv, .json, .png (over one or two parameters) and .parquet (with pyarrow) to a folder.

    Each file is written whole or not at all. Raises InputError if a file cannot be written.
    """
    text = report_text(result.to_json())
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": lambda path: _write_csv(result, path),
        ".json": lambda path: path.write_text(text, encoding="utf-8", newline="\n"),
    }
    if not lack("pyarrow"):
        writers[".parquet"] = lambda path: _write_parquet(result, path)
    if not why_no_plot(result):
        writers[".png"] = lambda path: path.write_bytes(plotted(result))
    return write_files(folder, f"{result.theorem.id}.sweep", writers)


def _write_csv(result: SweepResult, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.DictWriter(target, list(columns(result)))
        writer.writeheader()
        writer.writerows(table(result))


def _write_parquet(result: SweepResult, path: Path) -> None:
    # Imported here, because this module must load without pyarrow, which the extra `sweep` installs.
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {TRUTH: pa.bool_(), NUMBER: pa.float64(), TEXT: pa.string()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns(result).items()])
    rows = table(result)
    with parquet.ParquetWriter(path, schema) as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
