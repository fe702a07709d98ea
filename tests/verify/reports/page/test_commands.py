"""`verify report`, in Python and on the command line, and `pytest --report`."""

import json

import pytest

import verify
from verify.reports.page import contents as gathering


@pytest.fixture(autouse=True)
def asked(monkeypatch, contents):
    """The options of each call that gathers contents; a stand-in returns the contents of the small report."""
    calls = []

    def gathered(**options):
        calls.append(options)
        return contents

    monkeypatch.setattr(gathering, "gathered", gathered)
    return calls


def test_the_command_writes_one_file_and_says_where(cli, tmp_path, asked, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("report", "--out", "new/folder")
    assert (code, out.strip(), err) == (0, "new/folder/report.html", "")
    assert [path.name for path in (tmp_path / "new/folder").iterdir()] == ["report.html"]
    assert asked[0]["full"] is False and asked[0]["store"] is not None and asked[0]["entries"] == ()


def test_the_command_speaks_json_and_takes_full(cli, tmp_path, asked):
    code, out, _ = cli("report", "--out", str(tmp_path), "--full", "--json")
    body = json.loads(out)
    assert code == 0 and body["file"] == str(tmp_path / "report.html") and body["full"] is True
    assert asked[0]["full"] is True


def test_a_folder_that_cannot_be_written_is_one_line_before_anything_is_gathered(cli, tmp_path, asked):
    (tmp_path / "file").write_text("")
    code, out, err = cli("report", "--out", str(tmp_path / "file"))
    assert (code, out) == (2, "") and err.startswith("verify: --out = ") and err.count("\n") == 1 and asked == []


def test_the_verb_returns_the_path(tmp_path, asked):
    entries = [{"kind": "comparison", "id": "p.a"}]
    assert verify.report(tmp_path, entries=entries) == tmp_path / "report.html"
    assert asked == [{"full": False, "store": None, "entries": entries, "tell": None}]
