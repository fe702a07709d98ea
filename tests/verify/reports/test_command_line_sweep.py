"""`verify sweep`: its table, its JSON, its files and exit codes, and the inputs that it refuses."""

import json
import sys

import pytest

from tests.verify.command_line import assert_one_line, body_of
from verify.installed import install

BODY = """
mine = theorem_of(Inequality("c", sp.Lt(x, 5)), values={"double": 2 * x})
"""
SCOPED = """
small = Hypothesis("small", sp.Le(x, 2))
statement = Statement(PARAMETERS, (Inequality("c", sp.Lt(x, 3)),), (small,))
mine = Theorem("user.mine", "a title", Source("1", "derived here"), statement, {"x": 1})
"""


@pytest.fixture
def path(theorem_file):
    return theorem_file(BODY)


def test_the_table_counts_outcomes_in_scope_and_not(cli, theorem_file, tmp_path):
    command = ("sweep", theorem_file(SCOPED), "--over", "x=1/2:4:8", "--store", str(tmp_path / "s"), "--certify")
    code, out, err = cli(*command)
    *lines, last = out.splitlines()
    assert (code, err) == (0, "")
    assert lines == [
        "user.mine",
        "over x: 8 values from 1/2 to 4",
        "claim               in scope  out of scope",
        "verified                   4             1",
        "refuted                    0             3",
        # In scope, where x <= 2, the claim x < 3 is proved.
        "evidence: proved 4; certified 4",
    ]
    assert last.startswith("8 of 8 instances, ") and last.endswith("s, seed 0") and "store" not in last
    assert "8 of 8 instances, 8 from the store, " in cli(*command)[1]


def test_json_is_one_object(cli, path, tmp_path):
    store, out = str(tmp_path / "s"), tmp_path / "out"
    code, printed, err = cli(
        "sweep", path, "--over", "x=1/2:8:4:log", "--store", store, "--json", "--out", str(out), "--seed", "3"
    )
    body = body_of(printed)
    assert (code, err, body["schema"], body["seed"], body["store"]) == (0, "", 1, 3, store)
    assert body["over"] == {"x": {"start": "1/2", "stop": 8, "count": 4, "spacing": "log"}}
    assert body["counts"] == {"verified": 3, "refuted": 1} and body["rows"] == body["points"] == 4
    assert sorted(body["files"]) == sorted(
        str(out / f"user.mine.sweep{s}") for s in (".csv", ".json", ".png", ".parquet")
    )
    written = json.loads((out / "user.mine.sweep.json").read_text())
    assert written == {name: value for name, value in body.items() if name != "files"}


def test_without_pyarrow_one_line_says_what_to_install(cli, path, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, out, err = cli("sweep", path, "--over", "x=1:2:2", "--out", str(tmp_path / "out"))
    assert code == 0 and err == f"verify: no Parquet file is written: that needs pyarrow: {install('sweep')}\n"
    assert "user.mine.sweep.csv" in out and "parquet" not in out


def test_several_parameters_and_fixed_ones(cli, tmp_path):
    words = ("--over", "T=9,10", "--over", "eta=5:6:2", "q=2", "d=1", "eps=1/200")
    code, out, _ = cli("sweep", "wang2024.theorem1", *words, "--store", str(tmp_path / "s"))
    assert code == 0 and out.splitlines()[:4] == [
        "wang2024.theorem1  q=2 d=1 eps=1/200",
        "over T: 9,10",
        "over eta: 2 values from 5 to 6",
        "claim           out of scope",
    ]
    assert "refuted                    4" in out and "evidence: certified 4" in out


def test_an_error_of_ours_is_shown_and_is_70(cli, path, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("a slip of ours")

    monkeypatch.setattr("verify.runs.sweeps.workers.checked_row", broken)
    code, out, err = cli("sweep", path, "--over", "x=1:2:2", "--certify", "--store", str(tmp_path / "s"))
    assert (code, err) == (70, "") and "0 of 2 instances" in out
    assert "internal error, please report it, at x=1: RuntimeError: a slip of ours" in out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), ("--over", "missing")),
        (("--over", "x"), ("--over = x", "NAME=START:STOP:COUNT")),
        (("--over", "x=1:2:3", "--over", "x=3"), ("--over = x=3", "given twice")),
        (("--over", "z=1:2:3"), ("--over = z", "is not a parameter")),
        (("--over", "x=1:2:3", "x=1"), ("x = 1", "swept")),
        (("--over", "x=0:2:3:log"), ("x = 0",)),
        (("--over", "x=1:2:3", "--jobs", "0"), ("jobs = 0",)),
        (("--over", "x=1:2:3", "--jobs", "two"), ("--jobs = two",)),
        (("--over", "x=1:2:3", "--seconds", "0"), ("seconds = 0",)),
        (("--over", "x=1:2:3", "--seed", "-1"), ("--seed = -1",)),
        (("--over", "x=1:2:3", "--scheduler", "nonsense://"), ("--scheduler = nonsense://", "must be")),
    ],
)
def test_invalid_arguments_are_a_one_line_error(cli, path, words, parts):
    assert_one_line(cli("sweep", path, *words), *parts)


def test_a_store_or_folder_that_cannot_be_used_is_refused_first(cli, path, tmp_path):
    (tmp_path / "file").write_text("no store")
    assert_one_line(
        cli("sweep", path, "--over", "x=1:2:2", "--store", str(tmp_path / "file")), "--store", "no store of"
    )
    assert_one_line(
        cli("sweep", path, "--over", "x=1:2:2", "--out", str(tmp_path / "file")), "--out", "cannot be written"
    )
