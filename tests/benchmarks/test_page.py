"""BENCHMARKS.md shows the measurements, the solvers not measured, and the kind of machine without its name."""

import io
import json
import os
import subprocess
import sys

import pytest

import tests.benchmarks.page
import tests.benchmarks.peers_outside
from tests.benchmarks.page import (
    ROWS,
    file_of,
    is_reached,
    keep,
    kept,
    main,
    names_of,
    number_text,
    page,
    rows_of,
    seconds_text,
    table,
)
from tests.layout import ROOT

RATES = {"copy_bytes": 1e10, "float32_operations": 2e11, "float64_operations": 1e11}


def pair_row(work="sums", **more):
    row = {"kind": "pair", "work": work, "on_device": False, "device": "cpu", "ours": [0.1, 0.2, 0.4], "note": ""}
    row |= {"best": [1.0, 2.0, 12.0], "ratios": [10.0, 10.0, 30.0], "cost": False, "reach": 20, "limit": None}
    return row | {"definition": [3.0, 4.0, 28.0], "ratios_to_definition": [30.0, 20.0, 70.0]} | more


def run(*rows, at="2026-01-01T00:00:00"):
    info = {"node": "a-host", "system": "Linux", "python_version": "3.11.7", "packages": {"numpy": "2.4.6"}}
    info |= {"cpu": {"brand_raw": "A CPU", "count": 2}, "rates": {"cpu": RATES}}
    found = [{"fullname": f"bench_it.py::{row['work']}", "extra_info": row} for row in rows]
    return {"datetime": at, "machine_info": info, "commit_info": {"id": 40 * "a", "dirty": False}, "benchmarks": found}


def page_of(*rows, names=None):
    measured = rows_of(run(*rows))
    return page(measured, names or [row["name"] for row in measured])


def test_a_row_has_medians_the_range_and_what_was_to_be_reached():
    (line,) = [line for line in page_of(pair_row()).splitlines() if line.startswith("| sums")]
    assert line == "| sums | cpu | 200 ms | 2 s | 4 s | 10 | 10–30 | >= 20 | no | 30 | – | 2026-01-01, aaaaaaa |"


def test_a_tree_that_differs_from_its_commit_is_marked():
    changed = run(pair_row()) | {"commit_info": {"id": 40 * "b", "dirty": True}}
    assert [row["commit"] for row in rows_of(changed)] == ["bbbbbbb+"]
    assert [row["commit"] for row in rows_of(changed | {"commit_info": {}})] == ["?"]


def test_the_names_say_what_is_shown():
    text = page_of(pair_row(), pair_row("products"), names=["bench_it.py::new[A]", "bench_it.py::products"])
    assert "| new[A] | | not measured |" + " |" * 9 in text and "| products | cpu |" in text and "sums" not in text
    listed = "bench_it.py::new[A]\nbench_it.py::products\n\n2 tests collected in 1.00s\n"
    assert names_of(listed) == ["bench_it.py::new[A]", "bench_it.py::products"]


def test_a_ratio_that_is_not_reached_says_what_bounds_it():
    text = page_of(pair_row(note="the disk"), pair_row("products", reach=5, note="twice"))
    missed, measured = (text.index(title) for title in ("## What bounds", "## How it was measured"))
    assert missed < text.index("- sums: the disk") < measured < text.index("- products: twice")
    assert "- sums: not known" in page_of(pair_row())


def test_a_cost_is_to_be_no_larger():
    assert is_reached(pair_row(cost=True, ratios=[2.0, 2.5, 9.0], reach=2.5))
    assert not is_reached(pair_row(cost=True, ratios=[2.0, 2.6, 9.0], reach=2.5))
    text = page_of(pair_row(cost=True, ratios=[2, 2.5, 9], reach=2.5, ratios_to_definition=[1, 1, 4]))
    assert "| ours/best 2.5 | 2–9 | <= 2.5 | yes | ours/definition 1 |" in text


def test_rows_not_measured_on_a_device_are_marked():
    text = page_of(pair_row(on_device=True))
    assert "| sums | cuda |" + " not measured |" * 10 in text
    assert page_of(pair_row(on_device=True), pair_row(on_device=True, device="cuda")).count("not measured") == 0


def test_a_row_without_both_peers_is_not_measured():
    old = {name: value for name, value in pair_row(note="old").items() if name not in ("best", "definition")}
    text = page_of(old, pair_row("products", reach=1))
    assert "| sums | cpu |" + " not measured |" * 10 in text and "old" not in text
    assert "bounds the ratios" not in text


def test_a_limit_is_shown_with_how_far_ours_is_from_it():
    text = page_of(pair_row(limit={"name": "three reads", "seconds": 0.1}))
    assert "three reads: 100 ms (ours: 2×)" in text


def test_measuring_one_row_leaves_the_others(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "rows"
    on_a_card = pair_row("products", on_device=True, device="cuda")
    keep(rows_of(run(pair_row(), pair_row("products", on_device=True), on_a_card)), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(before) == {"it_sums_cpu.json", "it_products_cpu.json", "it_products_cuda.json"}
    (tmp_path / "one.json").write_text(json.dumps(run(pair_row(reach=3), at="2026-01-02T00:00:00")))
    monkeypatch.setattr(tests.benchmarks.page, "ROWS", folder)
    monkeypatch.setattr("sys.argv", ["page", str(tmp_path / "one.json")])
    monkeypatch.setattr("sys.stdin", io.StringIO("bench_it.py::sums\nbench_it.py::products\n"))
    main()
    changed = [name for name, text in before.items() if (folder / name).read_bytes() != text]
    assert changed == ["it_sums_cpu.json"] and len(list(folder.iterdir())) == 3
    shown = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [(cells[0], cells[1], cells[7], cells[-1]) for cells in shown[1:]] == [
        ("| sums", "cpu", ">= 3", "2026-01-02, aaaaaaa |"),
        ("| products", "cpu", ">= 20", "2026-01-01, aaaaaaa |"),
        ("| products", "cuda", ">= 20", "2026-01-01, aaaaaaa |"),
    ]


def test_a_row_says_what_measures_it_anew():
    benchmark = run(pair_row())["benchmarks"][0] | {"fullname": "tests/benchmarks/bench_it.py::bench_sums[A-B]"}
    (row,) = rows_of(run() | {"benchmarks": [benchmark]})
    assert row["command"] == 'make bench ARGS="-k bench_sums"' and file_of(row) == "it_sums_a_b_cpu.json"
    benchmark["extra_info"]["device"] = "cuda"
    (row,) = rows_of(run() | {"benchmarks": [benchmark]})
    assert row["command"] == 'make bench DEVICE=cuda ARGS="-k bench_sums"' and file_of(row) == "it_sums_a_b_cuda.json"


def test_the_committed_page_is_that_of_the_committed_rows():
    # pytest-benchmark would disable itself in a child with the environment variables of an xdist worker.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/benchmarks", "-o", "python_files=bench_*.py", "-o",
         "python_functions=bench_*", "-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", "--quiet"],
        cwd=ROOT, env=alone, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert listing.returncode == 0, listing.stdout + listing.stderr
    names, rows = names_of(listing.stdout), kept(ROWS)
    assert {row["name"] for row in rows} <= set(names), "a benchmark is gone, and its row is not"
    assert {path.name for path in ROWS.iterdir()} == {file_of(row) for row in rows}
    assert (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8") == page(rows, names)
    assert all((ROWS.parent / "growth" / row["file"]).exists() for row in rows if row["kind"] == "growth")


def test_statements_of_others_have_a_row_a_family(tmp_path, monkeypatch):
    outcomes = {"sums/a": "proved", "sums/b": "not proved", "others/c": "proved"}
    record = {"command": "ask z3", "z3": "1.2", "outcomes": outcomes}
    (tmp_path / "z3.json").write_text(json.dumps(record), encoding="utf-8")
    outcomes = {"sums/a": "proved", "sums/b": "not expressed", "others/c": "no example"}
    record = {"command": "ask it", "before": "abc", "seconds": 9, "proved": 1, "of": 3, "outcomes": outcomes}
    (tmp_path / "before.json").write_text(json.dumps(record), encoding="utf-8")
    monkeypatch.setattr(tests.benchmarks.peers_outside, "FOLDER", tmp_path)
    row = {"kind": "others", "work": "sums", "on_device": False, "device": "cpu", "true": 4, "proved": 3, "late": 1}
    row |= {"false": 5, "refuted": 2, "characters": [9, 300, 20], "searched": [1, 3, 2], "rechecked": [0.1, 0.2, 0.3]}
    text = page_of(pair_row(), row)
    cells = "sums | 3 of 4 | 1 | 1 | not measured | 2 of 5 | 2 s | 20 | 300 | 200 ms | 1 | 2026-01-01, aaaaaaa"
    assert f"| {cells} |" in text and "z3 1.2: `ask z3`" in text and "cvc5 1" not in text
    assert "tree of commit abc, in which the set was committed, with 9 s for a statement: it proves 1 of the 3" in text
    assert "does not read 1 of them as a line, and finds no example of 1 (`ask it`)." in text
    assert "Statements of others" not in page_of(pair_row())


def test_growth_is_shown_with_its_powers():
    row = {"kind": "growth", "work": "Sums", "axis": "n", "slopes": [1.04, 2.0], "file": "sums.png", "note": "So."}
    text = page_of(row | {"device": "cpu", "lines": [], "on_device": False})
    assert "Sums: over the upper half of n, ours like the power 1.04 and the plain way like the power 2.00. So." in text
    assert "![Sums](tests/benchmarks/growth/sums.png)" in text


def test_the_machine_is_said_once_and_without_its_name():
    text = page_of(pair_row(), pair_row("products"))
    assert text.count("A CPU, 2 cores; Linux, Python 3.11.7; numpy 2.4.6") == 1 and "a-host" not in text
    assert "on cpu a copy moves 10 GB/s, a product does 200 (float32) and 100 (float64) GFlop/s" in text


def test_counts_have_their_unit():
    text = page_of(pair_row(kind="counted", unit="examples", ours=[10], best=[30], definition=[30], ratios=[3.0]))
    assert "| 10 examples | 30 examples | 30 examples | 3 |" in text


def test_the_table_of_a_terminal_is_aligned():
    head, *lines = table([pair_row(), pair_row("a longer name")])
    assert {line.index("cpu") for line in lines} == {head.index("on ")}


@pytest.mark.parametrize(("seconds", "text"), [(12.34, "12.3 s"), (0.5, "500 ms"), (2e-5, "20 µs"), (3e-9, "3 ns")])
def test_times(seconds, text):
    assert seconds_text(seconds) == text


def test_numbers():
    assert [number_text(x) for x in (2.343, 199.6, 123456)] == ["2.34", "200", "1.2e+05"]
