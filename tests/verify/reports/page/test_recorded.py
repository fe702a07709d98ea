"""What runs have entered is kept for the report, of the same sources alone."""

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
