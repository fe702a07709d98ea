"""The command line replaces only files of its own, and a refused command runs nothing."""

import json

import pytest

from tests.verify.command_line import assert_one_line, body_of

MINE = """
import sympy as sp
from pathlib import Path
from verify import *

Path({ran!r}).write_text("ran")
x = sp.Symbol("x", positive=True)
square = Inequality("square", sp.Ge(x**2 + 1, 0, evaluate=False))
mine = Theorem("{id}", "a title", Source("1", "derived here"),
               Statement((Parameter("x", "rational", "a size", above=0),), (square,)), {{"x": 1}})
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Return a function that writes a theorem file in the working folder; the file leaves a trace when it is run."""

    def write(identifier="user.mine"):
        path = tmp_path / "mine.py"
        path.write_text(MINE.format(ran=str(tmp_path / "ran"), id=identifier))
        return path

    monkeypatch.chdir(tmp_path)
    return write


@pytest.mark.parametrize("verb", ["check", "prove"])
def test_a_certificate_replaces_a_certificate_and_nothing_else(cli, mine, tmp_path, verb):
    path, given = mine(), ["x=1"] if verb == "check" else []
    before = path.read_text()
    for other in (str(path), "list.json"):
        (tmp_path / "list.json").write_text('["theirs"]')
        assert_one_line(
            cli(verb, str(path), *given, "--certificate", other), "exists and is not a certificate; not overwritten"
        )
        assert not (tmp_path / "ran").exists()
    assert path.read_text() == before and (tmp_path / "list.json").read_text() == '["theirs"]'
    for _ in range(2):
        assert cli(verb, str(path), *given, "--certificate", "c.json")[0] == 0
        assert cli("recheck", "c.json")[0] == 0
    assert not list(tmp_path.glob("*.part"))


def test_a_store_replaces_nothing(cli, mine, tmp_path):
    path = mine()
    before = path.read_text()
    assert_one_line(cli("sweep", str(path), "--over", "x=1:2:3", "--store", str(path)), "is no store of results")
    assert path.read_text() == before
    for _ in range(2):
        assert cli("sweep", str(path), "--over", "x=1:2:3", "--store", "rows.sqlite")[0] == 0


@pytest.mark.parametrize("theirs", ["user.mine.sweep.json", "user.mine.sweep.csv", "user.mine.sweep.png"])
def test_a_sweeps_files_replace_those_of_a_sweep(cli, mine, tmp_path, theirs):
    out = tmp_path / "out"
    out.mkdir()
    sweep = ("sweep", str(mine()), "--over", "x=1:2:3", "--out", str(out))
    (out / theirs).write_text("theirs")
    assert_one_line(cli(*sweep), theirs, "not overwritten")
    assert (out / theirs).read_text() == "theirs"
    (out / theirs).unlink()
    for _ in range(2):
        assert cli(*sweep)[0] == 0
    assert {"user.mine.sweep.json", "user.mine.sweep.csv"} <= {path.name for path in out.iterdir()}


def test_a_report_replaces_a_report(cli, tmp_path):
    (tmp_path / "report.html").write_text("theirs")
    assert_one_line(cli("report", "--out", str(tmp_path)), "exists and is not a report; not overwritten")
    assert (tmp_path / "report.html").read_text() == "theirs"


def test_an_experiments_files_replace_those_of_one(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ("simulate", "wang2024.one_hot_training", "T=4", "q=1", "steps=5", "window=2", "--device", "cpu")
    (tmp_path / "wang2024.one_hot_training.json").write_text("theirs")
    assert_one_line(cli(*run, "--out", "."), "not overwritten")
    (tmp_path / "wang2024.one_hot_training.json").unlink()
    for _ in range(2):
        assert cli(*run, "--out", ".")[0] == 0


def test_an_id_leads_to_no_other_folder(tmp_path):
    from verify import InputError
    from verify.reports.simulate import write_files

    out = tmp_path / "a" / "out"
    out.mkdir(parents=True)
    with pytest.raises(InputError, match="cannot be part of a file's name"):
        write_files(out, "../../escaped.sweep", {".json": lambda path: path.write_text("{}")})
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "out"]
    (written,) = write_files(out, "user.mine", {".json": lambda path: path.write_text("{}")})
    assert written == out / "user.mine.json"


def test_a_certificate_with_another_id_is_answered_in_a_line(cli, mine, tmp_path):
    assert cli("check", str(mine()), "x=1", "--certificate", "c.json")[0] == 0
    certificate = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps({**certificate, "theorem": "../../escaped"}))
    code, out, err = cli("recheck", "c.json")
    assert (code, out, err.count("\n")) == (2, "", 1) and "is no id" in err


REFUSED = [
    ("check", "--sedonds", "3"),
    ("check", "--x", "3"),
    ("check", "x"),
    ("check", "--digits", "0"),
    ("check", "--seconds", "nan"),
    ("check", "--format", "word"),
    ("prove", "--seconds", "0"),
    ("derive", "--format", "word"),
    ("conditions", "x"),
    ("explore", "--max-examples", "0"),
    ("explore", "--seconds", "-1"),
    ("necessity", "--seconds", "0"),
    ("necessity", "x"),
    ("sweep", "--over", "x"),
    ("sweep", "--over", "x=1:2:3", "--jobs", "0"),
    ("sweep", "--over", "x=1:2:3", "--recheck", "0"),
    ("observe", "--at", "word"),
    ("simulate", "--device", "word"),
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_no_code_is_run_for_what_is_refused(cli, mine, tmp_path, words):
    verb, *options = words
    assert_one_line(cli(verb, str(mine()), *options))
    assert not (tmp_path / "ran").exists()


def test_code_is_run_where_nothing_is_refused(cli, mine, tmp_path):
    code, out, err = cli("check", str(mine()), "x=1", "--json")
    assert (code, err, body_of(out)["outcome"]) == (0, "", "verified") and (tmp_path / "ran").exists()
