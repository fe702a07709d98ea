"""Files of a sweep: the table has the rows' values, exactly and as floats, in CSV and in Parquet alike."""

import csv
import json
import math
import sys

import pytest
import sympy as sp

import verify
from verify import Inequality, InputError, Parameter
from verify.reports.formats.sweep_files import columns, write_sweep

x, y = sp.symbols("x y", positive=True)
X, Y = (Parameter(name, "rational", name, above=0) for name in "xy")
MANY = Parameter("many", "rationals", "a list")


@pytest.fixture
def result(make_theorem):
    clause = Inequality("c", sp.Lt(x * y, 5))
    values = {"root": sp.sqrt(x), "large": sp.Gt(x, 2)}
    theorem = make_theorem(clause, parameters=(X, Y, MANY), domain=(sp.Le(y, 8),), values=values)
    return verify.sweep(theorem, {"x": "1/3:3:9", "y": "1:9:3"}, many="1,1/4", certify=True)


def test_the_table_is_the_rows(result, tmp_path):
    files = {path.suffix: path for path in write_sweep(result, tmp_path)}
    assert {path.name for path in files.values()} == {
        f"user.theorem.sweep{s}" for s in (".csv", ".json", ".parquet", ".png")
    }
    with files[".csv"].open(newline="", encoding="utf-8") as source:
        table = list(csv.DictReader(source))
    rows = [row for _, row in result.rows()]
    assert len(table) == len(rows) == 27 and list(table[0]) == list(columns(result))
    for line, row in zip(table, rows, strict=True):
        assert line["x"] == str(row["instance"]["x"]) and float(line["x_float"]) == row["instance"]["x_float"]
        assert line["many"] == '[1, "1/4"]' and line["error"] == row["error"]
        if row["error"]:
            assert line["outcome"] == line["c.holds"] == line["in_scope"] == "" and "must satisfy" in line["error"]
            continue
        assert (line["in_scope"], line["outcome"]) == ("True", row["outcome"])
        (clause,) = row["clauses"]
        assert (line["c.holds"], line["c.evidence"]) == (str(clause["holds"]), "certified")
        assert float(line["c.margin"]) == clause["margin_float"] and float(line["c.error"]) == clause["error_float"]
        assert math.isclose(float(line["value.root_float"]) ** 2, row["instance"]["x_float"])
        assert line["value.large"] == json.dumps(row["values"]["large"]) and line["value.large_float"] == ""
    body = json.loads(files[".json"].read_text())
    assert body["rows"] == 27 and body["schema"] == 1 and files[".png"].read_bytes().startswith(b"\x89PNG")


def test_parquet_holds_the_same_with_types(result, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_sweep(result, tmp_path)
    table = parquet.read_table(tmp_path / "user.theorem.sweep.parquet")
    kinds = {field.name: str(field.type) for field in table.schema}
    assert (kinds["x"], kinds["x_float"], kinds["c.holds"], kinds["in_scope"]) == ("string", "double", "bool", "bool")
    found = table.to_pylist()
    with (tmp_path / "user.theorem.sweep.csv").open(newline="", encoding="utf-8") as source:
        lines = list(csv.DictReader(source))
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in found] == lines


def test_without_pyarrow_there_is_no_parquet_file(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert {path.suffix for path in write_sweep(result, tmp_path)} == {".csv", ".json", ".png"}


def test_a_folder_that_cannot_be_written_is_one_line(result, tmp_path):
    with pytest.raises(InputError, match=r"--out = .* cannot be written"):
        write_sweep(result, tmp_path / "nowhere")
