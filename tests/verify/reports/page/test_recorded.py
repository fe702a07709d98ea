"""The entries of runs are kept for the report, and used only while the sources are the same."""

import subprocess

import pytest

from verify import files
from verify.reports.page import recorded

ONE = {"kind": "comparison", "id": "p.a", "device": "cpu", "full": False, "outcome": "verified"}
OTHER = {"kind": "comparison", "id": "p.b", "device": "cpu", "full": False, "outcome": "refuted"}


def outcomes():
    return {entry["id"]: entry["outcome"] for entry in recorded.recorded()}


def test_the_latest_of_each_thing_is_kept():
    assert recorded.recorded() == []
    recorded.record([ONE, OTHER])
    kept = recorded.record([ONE | {"outcome": "inconclusive"}])
    assert outcomes() == {"p.a": "inconclusive", "p.b": "refuted"} == {e["id"]: e["outcome"] for e in kept}
    assert all(entry["at"].endswith("UTC") for entry in recorded.recorded())


def test_another_device_or_size_is_another_thing():
    more = [ONE, ONE | {"device": "cuda"}, ONE | {"full": True}]
    assert recorded.together([ONE], more) == more and recorded.together(more, [ONE]) == [*more[1:], ONE]


@pytest.mark.parametrize("package", ["verify", "theorems", "numerics", "paper_checks"])
def test_nothing_is_kept_once_a_source_has_changed(monkeypatch, tmp_path, package):
    recorded.record([ONE])
    changed = tmp_path / "changed.py"

    def sources(name):
        (first, path), *others = files.sources(name)
        changed.write_bytes(path.read_bytes() + (b"\n" if name == package else b""))
        return [(first, changed), *others]

    monkeypatch.setattr(recorded, "sources", sources)
    assert recorded.recorded() == []
    changed.unlink()
    monkeypatch.setattr(recorded, "sources", files.sources)
    assert outcomes() == {"p.a": "verified"}


def test_a_damaged_file_is_none(kept):
    recorded.record([ONE])
    path = kept / "remembered" / "ledger.json"
    path.write_text(path.read_text().replace("verified", "refuted"))
    assert recorded.recorded() == []


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """Return the file of entries that a small package ships."""
    package = tmp_path / "shipping"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(recorded, "_packages", lambda: ["shipping", "sys", "no_such_package"])
    return package / recorded.SHIPPED


DATED = [ONE | {"at": "2026-01-02 10:00 UTC"}, OTHER | {"at": "2026-01-03 10:00 UTC"}]


def test_shipped_entries_have_their_day_and_commit(packaged, tmp_path, monkeypatch):
    assert recorded.shipped() == []
    for command in ("init -q", "add .", "-c user.name=a -c user.email=b commit -qm c"):
        subprocess.run(["git", *command.split()], check=True, cwd=tmp_path)
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True, cwd=tmp_path).strip()
    recorded.ship(packaged, DATED)
    assert recorded.shipped() == [
        ONE | {"at": f"2026-01-02, commit {commit}"}, OTHER | {"at": f"2026-01-03, commit {commit}"}
    ]  # fmt: skip
    (tmp_path / "shipping" / "__init__.py").write_text("x = 1\n")
    recorded.ship(packaged, DATED[:1])
    assert [each["at"] for each in recorded.shipped()] == [f"2026-01-02, commit {commit}, changed"]


def test_a_record_outside_of_git_has_no_commit(packaged):
    recorded.ship(packaged, DATED[:1])
    assert recorded.shipped()[0]["at"] == "2026-01-02, commit unknown"


def test_entries_of_another_statement_are_left_out(packaged, monkeypatch):
    found = {"kind": "canary", "id": "wang2024.lemma1", "label": "a", "killed": True, "at": "2026-01-02 10:00 UTC"}
    recorded.ship(packaged, [found, DATED[0]])
    assert len(recorded.shipped()) == 2
    monkeypatch.setattr("verify.checking.standing.pins", lambda: {"wang2024.lemma1": "another"})
    assert [each["id"] for each in recorded.shipped()] == ["p.a"]


@pytest.mark.parametrize("entries", ["1", "[{}]", "[1]", '[{"kind": 1, "id": "a", "at": "b"}]'])
def test_a_damaged_record_is_none(packaged, entries):
    packaged.write_text(f'{{"commit": "c", "statements": {{}}, "entries": {entries}}}')
    assert recorded.shipped() == []
    packaged.write_text("[")
    assert recorded.shipped() == []


def test_the_written_file_does_not_change_the_commit(tmp_path):
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "m"]):
        for name in ("source.py", "record.json"):
            (tmp_path / name).write_text("0", encoding="utf-8")
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    commit = recorded.commit_of(tmp_path)
    (tmp_path / "record.json").write_text("1", encoding="utf-8")
    assert recorded.commit_of(tmp_path, "record.json") == commit and "," not in commit
    assert recorded.commit_of(tmp_path) == f"{commit}, changed"
    (tmp_path / "source.py").write_text("1", encoding="utf-8")
    assert recorded.commit_of(tmp_path, "record.json") == f"{commit}, changed"
